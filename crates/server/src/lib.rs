//! Turnstile, the server: sockets, logins, TLS, and the connections whose statements the sessions run.
#![forbid(unsafe_code)]

mod auth;
pub mod connection;
mod cursor;
mod deadline;
pub mod hosts;
mod identity;
mod janitor;
pub mod listener;
mod log;
pub mod options;
pub mod password_key;
pub mod peer;
pub mod serve;
pub mod server;
pub mod shared;
mod signals;
mod sink;
pub mod stream;
mod tls;
pub mod visits;
