//! Tests of the room: a model test against `BTreeMap`, threads, the directory, overflow chains, and crashes.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

mod adaptive_hash;
#[cfg(shuttle)]
mod adaptive_hash_shuttle;
mod crash;
mod directory;
mod estimate;
mod harness;
mod model;
mod overflow;
mod speed;
mod structure;
mod threads;
