//! Turnstile, the server: sockets, the MySQL protocol, sessions and their scheduler. Of all this the model
//! checker sees the scheduler only, which knows neither SQL nor the protocol.
#![forbid(unsafe_code)]

#[cfg(not(shuttle))]
mod auth;
#[cfg(not(shuttle))]
pub mod connection;
#[cfg(not(shuttle))]
mod cursor;
#[cfg(not(shuttle))]
mod deadline;
#[cfg(not(shuttle))]
pub mod hosts;
#[cfg(not(shuttle))]
mod identity;
#[cfg(not(shuttle))]
mod janitor;
#[cfg(not(shuttle))]
pub mod listener;
#[cfg(not(shuttle))]
mod log;
#[cfg(not(shuttle))]
pub mod options;
#[cfg(not(shuttle))]
pub mod password_key;
#[cfg(not(shuttle))]
pub mod peer;
pub mod scheduler;
#[cfg(not(shuttle))]
pub mod serve;
#[cfg(not(shuttle))]
pub mod server;
#[cfg(not(shuttle))]
pub mod shared;
#[cfg(not(shuttle))]
mod signals;
#[cfg(not(shuttle))]
mod sink;
#[cfg(not(shuttle))]
pub mod stream;
#[cfg(not(shuttle))]
mod tls;
#[cfg(not(shuttle))]
pub mod wire;
