#![doc = include_str!("admission/README.md")]
#![forbid(unsafe_code)]

mod gate;
mod nap;
mod ticket;

pub use gate::{Gate, GateCounts, Purpose};
pub use ticket::{AdmissionState, Place, Ticket};

#[cfg(test)]
mod tests;
