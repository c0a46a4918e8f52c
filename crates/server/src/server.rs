//! The server as a whole: what connections share, start and stop.

use std::io;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use turnstile_engine::Engine;
use turnstile_sql::database::Database;
use turnstile_sql::error::SqlError;

use crate::listener::Listeners;
use crate::scheduler::{Host, Pool};

/// How a server is started.
#[derive(Clone, Debug)]
pub struct Options {
    /// TCP address, if any.
    pub tcp: Option<(String, u16)>,
    /// Unix socket path, if any.
    pub socket: Option<PathBuf>,
    /// `thread_pool_size`.
    pub thread_pool_size: usize,
}

/// What all connections share.
pub struct Shared {
    /// SQL.
    pub database: Arc<Database>,
    /// Certificate and key, if TLS is on.
    pub tls: Option<Arc<rustls::ServerConfig>>,
    /// Limits.
    pub options: Options,
    /// Connections that exist.
    pub connected: AtomicUsize,
}

impl Shared {
    /// Why a new connection must be refused, if it must.
    pub fn refusal(&self) -> Option<SqlError> {
        let full = self.connected.load(Ordering::Relaxed) as u64 > self.limit("max_connections");
        full.then(|| SqlError::new(1040, b"08004", "Too many connections"))
    }

    /// A global variable that is a count or a size, as it stands now; 0 if there is no such variable.
    pub fn limit(&self, name: &str) -> u64 {
        match self.database.globals().named(name) {
            turnstile_sql::value::Value::Int(limit) => limit.max(0) as u64,
            turnstile_sql::value::Value::UInt(limit) => limit,
            _ => 0,
        }
    }

    /// The line of COM_STATISTICS.
    pub fn statistics_line(&self) -> String {
        let uptime = self.database.registry().now_us() / 1_000_000;
        format!("Uptime: {uptime}  Threads: {}", self.connected.load(Ordering::Relaxed))
    }
}

struct EngineHost(Arc<Engine>);

impl Host for EngineHost {
    fn turn_end(&self) {
        self.0.turn_end();
    }
}

/// A running server.
pub struct Server {
    shared: Arc<Shared>,
    pool: Arc<Pool>,
    listeners: Listeners,
}

impl Server {
    /// Starts workers and listeners over an open database.
    ///
    /// # Errors
    /// When an address or socket cannot be bound.
    pub fn start(
        database: Arc<Database>,
        options: Options,
        tls: Option<Arc<rustls::ServerConfig>>,
    ) -> io::Result<Server> {
        let tcp =
            options.tcp.as_ref().map(|(host, port)| TcpListener::bind((host.as_str(), *port))).transpose()?;
        let unix = options.socket.as_ref().map(bind_unix).transpose()?;
        // The workers call `turn_end` after each turn from here on.
        database.engine().promise_turns();
        let host = Arc::new(EngineHost(database.engine().clone()));
        let pool = Arc::new(Pool::start(options.thread_pool_size, host)?);
        let connected = AtomicUsize::new(0);
        let shared = Arc::new(Shared { database, tls, options, connected });
        let listeners = Listeners::start(tcp, unix, shared.clone(), pool.clone())?;
        Ok(Server { shared, pool, listeners })
    }

    /// What connections share.
    pub fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Stops accepting, drops the sessions (their open transactions roll back), ends the workers. The caller closes the
    /// engine afterwards.
    pub fn stop(self) {
        self.listeners.stop();
        self.pool.stop();
        if let Some(path) = &self.shared.options.socket {
            // Somebody else may have removed it already.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// A socket file that nobody listens on any more is left over from a crash: replace it.
fn bind_unix(path: &PathBuf) -> io::Result<UnixListener> {
    if std::os::unix::net::UnixStream::connect(path).is_err() {
        let _ = std::fs::remove_file(path);
    }
    UnixListener::bind(path)
}
