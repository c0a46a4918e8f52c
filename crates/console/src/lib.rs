#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod account;
pub mod address;
mod connections;
pub mod console;
mod guard;
mod guesses;
mod metrics;
mod patience;
mod request;
mod response;
mod routes;
mod site;
mod visitor;

pub use address::Settings;
pub use console::Console;
