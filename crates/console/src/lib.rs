#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod account;
pub mod address;
mod connections;
pub mod console;
mod guard;
mod guesses;
mod host;
mod logins;
mod metrics;
mod page;
mod patience;
mod request;
mod response;
mod routes;
mod sampler;
mod samples;
mod site;
mod switches;
mod visitor;

pub use account::Owner;
pub use address::Settings;
pub use console::Console;
pub use host::{Host, Visit};
