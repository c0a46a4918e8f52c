#![doc = include_str!("txn/README.md")]

pub mod admitted;
pub mod counters;
pub mod dead_undo;
pub mod follow;
pub mod id_range;
pub mod interior_purge;
pub mod kernel;
pub mod lane;
pub mod lanes;
pub mod lock_calls;
pub mod parked;
pub mod purge_crew;
pub mod purge_lag;
pub mod registry;
pub mod spare;
pub mod transaction;
pub mod trees;
pub mod undo_record;
pub mod view;

pub use parked::Parked;
pub use transaction::Txn;
