//! The server as a whole: what connections share, start and stop.

use std::io;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use turnstile_sql::database::Database;
use turnstile_sql::error::SqlError;

use crate::hosts::{Hosts, ThreadHandling};
use crate::janitor::Janitor;
use crate::listener::Listeners;
use crate::password_key::PasswordKey;

/// How a server is started.
#[derive(Clone, Debug)]
pub struct Options {
    /// TCP address, if any.
    pub tcp: Option<(String, u16)>,
    /// Unix socket path, if any.
    pub socket: Option<PathBuf>,
    /// `extra_port` on the same host, if any.
    pub extra_port: Option<u16>,
    /// `thread_handling`.
    pub thread_handling: ThreadHandling,
    /// `thread_pool_size`, 0 for all processors but one.
    pub thread_pool_size: usize,
}

/// What the server proves itself with, and reads secrets with.
#[derive(Default)]
pub struct Keys {
    /// Certificate and key, if TLS is on.
    pub tls: Option<Arc<rustls::ServerConfig>>,
    /// The pair that passwords are encrypted with where there is no TLS.
    pub password: Option<PasswordKey>,
}

/// What all connections share.
pub struct Shared {
    /// SQL.
    pub database: Arc<Database>,
    /// Keys.
    pub keys: Keys,
    /// Limits.
    pub options: Options,
    /// Connections that exist, those of `extra_port` aside.
    pub connected: AtomicUsize,
    /// Connections of `extra_port` that exist.
    pub extra_connected: AtomicUsize,
}

impl Shared {
    /// Why a connection must be refused now, if it must. An administrator may be one more than the limit; before it is
    /// known who comes, anybody may be one.
    pub fn refusal(&self, extra: bool, is_administrator: bool) -> Option<SqlError> {
        let (connected, limit) = if extra {
            (&self.extra_connected, "extra_max_connections")
        } else {
            (&self.connected, "max_connections")
        };
        let most = self.limit(limit).saturating_add(u64::from(is_administrator));
        let full = connected.load(Ordering::Relaxed) as u64 > most;
        full.then(|| {
            self.database.status().refused_for_limit();
            SqlError::too_many_connections()
        })
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
        let connected = self.connected.load(Ordering::Relaxed) + self.extra_connected.load(Ordering::Relaxed);
        format!("Uptime: {uptime}  Threads: {connected}")
    }
}

/// A running server.
pub struct Server {
    shared: Arc<Shared>,
    hosts: Arc<Hosts>,
    listeners: Listeners,
    janitor: Janitor,
}

impl Server {
    /// Starts workers and listeners over an open database.
    ///
    /// # Errors
    /// When an address or socket cannot be bound.
    pub fn start(database: Arc<Database>, options: Options, keys: Keys) -> io::Result<Server> {
        let tcp =
            options.tcp.as_ref().map(|(host, port)| TcpListener::bind((host.as_str(), *port))).transpose()?;
        let extra = match (&options.tcp, options.extra_port) {
            (Some((host, _)), Some(port)) => Some(TcpListener::bind((host.as_str(), port))?),
            _ => None,
        };
        let unix = options.socket.as_ref().map(bind_unix).transpose()?;
        // The workers call `turn_end` after each turn from here on.
        database.engine().promise_turns();
        let size = match options.thread_pool_size {
            // One processor is left to the log writer, the flusher, purge and the network's own work. Two workers on
            // two processors that they share with their clients took each other's turns: half the sales of one.
            0 => std::thread::available_parallelism().map_or(1, |count| count.get().saturating_sub(1).max(1)),
            size => size,
        };
        let hosts = Hosts::start(options.thread_handling, size, &database)?;
        database.set_thread_pool(hosts.clone());
        let janitor = Janitor::start(database.clone())?;
        let shared = Arc::new(Shared {
            database,
            keys,
            options,
            connected: AtomicUsize::new(0),
            extra_connected: AtomicUsize::new(0),
        });
        let listeners = Listeners::start([tcp, extra], unix, shared.clone(), hosts.clone())?;
        Ok(Server { shared, hosts, listeners, janitor })
    }

    /// What connections share.
    pub fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Stops accepting, drops the sessions (their open transactions roll back), ends the workers. The caller closes the
    /// engine afterwards.
    pub fn stop(self) {
        self.listeners.stop();
        self.janitor.stop();
        self.hosts.stop();
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
    let listener = UnixListener::bind(path)?;
    // Who may connect is the accounts' affair, whatever the umask.
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777))?;
    Ok(listener)
}
