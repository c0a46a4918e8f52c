//! Turnstile, the server: sockets, the MySQL protocol, sessions and their scheduler.
#![forbid(unsafe_code)]

mod auth;
pub mod connection;
mod deadline;
pub mod hosts;
mod janitor;
pub mod listener;
mod log;
pub mod options;
pub mod scheduler;
pub mod serve;
pub mod server;
mod sink;
pub mod stream;
mod tls;
pub mod wire;
