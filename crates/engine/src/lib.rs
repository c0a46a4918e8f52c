//! Turnstile, the storage engine: rooms by rank, page < wal < buffer < btree, admission < lock < txn < row < recovery.

pub mod api;
pub mod btree;
pub mod buffer;
pub mod error;
pub mod ids;
pub mod interrupt;
pub mod limits;
pub mod lock;
mod memory;
pub mod page;
pub mod rank;
pub mod wal;

pub use api::*;
pub use error::{Error, Result};
pub use memory::{Engine, Scan, Txn};
