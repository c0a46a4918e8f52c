//! The MySQL client/server protocol, version 4.1: bytes to commands and results to bytes. No sockets in here.
//!
//! Source for every layout: "MySQL Client/Server Protocol" in the MySQL internals documentation. A packet on
//! the wire is `[payload length u24][sequence u8][payload]`; a payload of 2^24 - 1 bytes or more continues in
//! further packets.

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
