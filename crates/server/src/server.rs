//! The server as a whole: start and stop.

use std::io;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use turnstile_session::database::Database;

use crate::hosts::Hosts;
use crate::janitor::Janitor;
use crate::listener::Listeners;
pub use crate::shared::{Keys, Options, Shared};

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
            // One processor is left to the log writer, the flusher, purge and the network's own work. Two
            // workers on two processors that they share with their clients took each other's turns: half the
            // sales of one.
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

    /// Stops accepting, drops the sessions (their open transactions roll back), ends the workers. The caller
    /// closes the engine afterwards.
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
