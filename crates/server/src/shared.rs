//! What all connections share: the database, the keys, the limits.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use turnstile_session::database::Database;
use turnstile_session::error::SqlError;

use crate::hosts::ThreadHandling;
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
    /// Why a connection must be refused now, if it must. An administrator may be one more than the limit;
    /// before it is known who comes, anybody may be one.
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
            turnstile_session::value::Value::Int(limit) => limit.max(0) as u64,
            turnstile_session::value::Value::UInt(limit) => limit,
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
