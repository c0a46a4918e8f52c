//! The row verbs through the engine's own interface. Transactions are polled by hand where they wait for each
//! other.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

mod admission;
mod basics;
mod build;
mod crash;
mod ends;
mod history;
mod ids;
mod insert_run;
mod interior_purge;
mod locking;
mod model;
pub(crate) mod stage;
mod stress;
mod versions;
