#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod capability;
pub mod command;
pub mod fuzz;
pub mod handshake;
pub mod read;
pub mod result;
pub mod write;

/// Largest payload of one packet; a longer message continues in the next.
pub const PAYLOAD_BYTES_MAX: usize = 0xff_ff_ff;
/// Bytes before each payload.
pub const HEADER_BYTES: usize = 4;

#[cfg(test)]
mod tests;
