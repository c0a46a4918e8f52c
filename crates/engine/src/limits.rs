//! Capacities of the redo log, in bytes unless the name says otherwise: its room and its users must agree on
//! them.

/// Least total size of the redo segments. Small, so that simulations go round the ring; a server does not go
/// below 8 MiB.
pub const REDO_CAPACITY_MIN_BYTES: u64 = 1 << 20;
/// Largest redo group, that is all changes of one mini-transaction.
pub const REDO_GROUP_MAX_BYTES: usize = 512 << 10;
/// How full the redo may be before a checkpoint is asked for, in thousandths of its capacity.
pub const REDO_CHECKPOINT_PERMILLE: u64 = 750;
/// How full the redo may be before mini-transactions wait for a checkpoint, in thousandths of its capacity.
pub const REDO_WAIT_PERMILLE: u64 = 900;
