//! Turnstile, the server: sockets, the MySQL protocol, sessions and their scheduler.
#![forbid(unsafe_code)]

pub mod scheduler;
pub mod stream;
pub mod wire;
