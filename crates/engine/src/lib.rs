//! Turnstile, the storage engine: rooms by rank, page < wal < buffer < btree, admission < lock < txn < row <
//! recovery.

pub mod admission;
pub mod api;
pub mod btree;
pub mod buffer;
mod engine;
pub mod error;
pub mod ids;
pub mod interrupt;
pub mod isolation;
pub mod limits;
pub mod lock;
pub mod page;
pub mod rank;
mod recovery;
mod row;
pub mod session_status;
pub mod settings;
pub mod stats;
pub mod tally;
pub mod txn;
pub mod wal;
pub mod yield_now;

pub use api::*;
pub use engine::Engine;
pub use error::{Error, Result};
pub use row::{RowRun, Scan, UpdateDraft};
pub use txn::counters::CounterSlot;
pub use txn::{Parked, Txn};
