#![doc = include_str!("lock/README.md")]
#![forbid(unsafe_code)]

mod deadlock;
mod grant;
mod hand_on;
mod hot_rows;
mod inherit;
mod mode;
mod name;
mod owner;
mod precedence;
mod queue;
mod shard;
mod snapshot;
mod statistics;
mod table;
mod wait;

pub use deadlock::{DeadlockMember, DeadlockRecord, set_blind_wait};
pub use hand_on::Follow;
pub use hot_rows::{HotRowReport, RowHolder};
pub use mode::{LockKind, LockMode};
pub use name::{LockName, OwnedName};
pub use owner::{LockCount, TxnLocks};
pub use snapshot::{LOCK_BYTES, LockId, LockInfo, LockShape, LockSnapshot, LockWaitInfo};
pub use statistics::LockStatistics;
pub use table::{DeadlockBroken, DeadlockHook, Grant, LockTable};
pub use wait::{Outcome, Patience, Wait, Waiter};

#[cfg(test)]
mod tests;
