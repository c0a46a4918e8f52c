//! Turnstile, the laboratory: workloads, drivers and reports; it speaks only the wire.
//!
//! A run leaves a JSON file with its manifest beside the table it prints; a number without a manifest is not quoted.
#![forbid(unsafe_code)]

pub mod bench;
pub mod client;
pub mod demo;
pub mod flash_sale;
pub mod fleet;
pub mod manifest;
pub mod process;
pub mod progress;
