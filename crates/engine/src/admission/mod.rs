#![doc = include_str!("README.md")]
#![forbid(unsafe_code)]

mod gate;
mod nap;
mod ticket;

pub use gate::{Gate, GateCounts, Purpose};
pub use ticket::{Place, Standing, Ticket};

#[cfg(test)]
mod tests;
