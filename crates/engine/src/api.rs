//! The engine's vocabulary towards its users: table descriptions, options, read modes and outcomes.
//!
//! The engine knows bytes only. An index maps memcmp-comparable key bytes to rows that are opaque to it;
//! whoever uses the engine (SQL, or a program that embeds it) encodes columns. The one question the engine
//! must ask back, "which secondary key does this row version have?", is the trait [`RowKeys`].

use std::ops::Bound;
use std::sync::Arc;

use crate::ids::{IndexId, TableId};
use crate::interrupt::Interrupt;
pub use crate::isolation::Isolation;
use crate::session_status::SessionStatus;
pub use crate::settings::{HotRow, QueueRules, Settings};

/// The index whose rows belong to the data dictionary of the layer above. It always exists.
pub const DICTIONARY_INDEX: IndexId = IndexId(1);

/// How a transaction is to run.
#[derive(Clone, Debug)]
pub struct TxnOptions {
    /// Isolation level.
    pub isolation: Isolation,
    /// Refuses writes.
    pub read_only: bool,
    /// One statement that commits by itself: its row locks are short.
    pub autocommit: bool,
    /// Longest wait for one lock in milliseconds.
    pub lock_wait_timeout_ms: u64,
    /// The session's interrupt: a kill reaches the transaction wherever it waits.
    pub interrupt: Arc<Interrupt>,
    /// Whose transaction it is, for monitoring.
    pub status: Arc<SessionStatus>,
}

/// Tells secondary keys of a row; the only thing the engine asks of whoever encoded the row.
pub trait RowKeys: Send + Sync {
    /// Appends to `out` the key bytes of secondary index number `nth` (its position in
    /// [`TableDef::secondaries`]) for `row`, without the primary key that the engine puts behind them.
    /// Returns false if the key contains a NULL, and so is never a duplicate.
    fn secondary_key(&self, nth: usize, row: &[u8], out: &mut Vec<u8>) -> bool;
}

/// One secondary index of a table.
#[derive(Clone, Debug)]
pub struct SecondaryDef {
    /// The tree.
    pub id: IndexId,
    /// No two live rows may have the same key (NULLs excepted).
    pub unique: bool,
}

/// A table as the engine sees it: one clustered tree and its secondary trees.
#[derive(Clone)]
pub struct TableDef {
    /// Names the table in table locks and in reports.
    pub id: TableId,
    /// The tree of the rows, by primary key.
    pub clustered: IndexId,
    /// The secondary trees.
    pub secondaries: Vec<SecondaryDef>,
    /// Computes secondary keys of rows.
    pub keys: Arc<dyn RowKeys>,
}

/// Whether a lock request waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockWait {
    /// Wait up to the transaction's timeout.
    Wait,
    /// Fail at once with `Error::NoWait`.
    NoWait,
    /// Leave out rows that are locked.
    SkipLocked,
}

/// Strength of a row lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RowLock {
    /// Shared.
    Shared,
    /// Exclusive.
    Exclusive,
}

/// How a read sees and claims rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// Through the transaction's read view, without locks.
    Consistent,
    /// The newest committed version, locked.
    Locking {
        /// Strength.
        lock: RowLock,
        /// What to do when it is taken.
        wait: LockWait,
    },
}

/// Table locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableLock {
    /// Intention shared.
    IntentionShared,
    /// Intention exclusive.
    IntentionExclusive,
    /// Shared.
    Shared,
    /// Exclusive.
    Exclusive,
    /// The AUTO_INCREMENT lock.
    AutoIncrement,
}

/// What an update's closure decides about the current version of the row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Leave the row as it is.
    Keep,
    /// Leave it as it is; it is not one that was asked for. READ COMMITTED gives its lock back.
    Refuse,
    /// The closure has put the new row into its output.
    Replace,
    /// Delete the row.
    Delete,
    /// Stop; the closure has kept its own error.
    Abort,
}

/// What became of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Updated {
    /// No such row.
    Missing,
    /// The closure kept the row.
    Kept,
    /// The row has a new version.
    Changed,
    /// The row is deleted.
    Deleted,
    /// The closure aborted.
    Aborted,
}

/// What a scan's visitor wants next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit {
    /// The next row.
    Continue,
    /// No more rows.
    Stop,
}

/// Which tree a scan walks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanIndex {
    /// The clustered tree.
    Clustered,
    /// The secondary tree with this position in [`TableDef::secondaries`].
    Secondary(usize),
}

/// A range of an index to walk.
#[derive(Clone, Debug)]
pub struct ScanSpec {
    /// The tree.
    pub index: ScanIndex,
    /// Lower bound in key bytes. On a secondary tree bounds are prefixes of `secondary key ++ primary key`:
    /// an `Included` or `Excluded` bound speaks of every entry that begins with it.
    pub lower: Bound<Vec<u8>>,
    /// Upper bound, likewise.
    pub upper: Bound<Vec<u8>>,
    /// Descending.
    pub reverse: bool,
    /// How rows are seen and claimed.
    pub mode: Read,
    /// On a secondary tree: also fetch the row (else the visitor gets an empty row).
    pub fetch_row: bool,
}

impl ScanSpec {
    /// Every row of an index, upwards, as the transaction's view sees it.
    #[must_use]
    pub fn all(index: ScanIndex) -> Self {
        let (lower, upper) = (Bound::Unbounded, Bound::Unbounded);
        ScanSpec { index, lower, upper, reverse: false, mode: Read::Consistent, fetch_row: true }
    }
}

/// A point in a transaction to which a statement or the user can roll back: the count of its undo records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Savepoint(pub u64);

/// What purge is doing, for monitoring; counts since the engine was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PurgeStatus {
    /// A round is under way.
    pub running: bool,
    /// Purge was stopped and not resumed.
    pub stopped: bool,
    /// Transactions with a smaller id have been offered to purge: "Purge done for trx's n:o".
    pub limit: u64,
    /// Rounds: `purge_invoked`.
    pub rounds: u64,
    /// Undo pages gone through: `purge_undo_log_pages`.
    pub undo_pages: u64,
    /// Undo records gone through.
    pub undo_records: u64,
    /// Delete-marked rows and entries removed: `purge_del_mark_records`.
    pub marked_records: u64,
    /// Other records with something to do: `purge_upd_exist_or_extern_records`.
    pub other_records: u64,
    /// What a statement that changes rows is to wait now, in microseconds: `purge_dml_delay_usec`.
    pub dml_delay_us: u64,
    /// Microseconds that statements have waited.
    pub dml_delayed_us: u64,
    /// `purge_stop_count`.
    pub stops: u64,
    /// `purge_resume_count`.
    pub resumes: u64,
    /// Undo lanes there are.
    pub lanes: u64,
    /// Undo pages in them.
    pub undo_pages_in_use: u64,
}

/// How an engine is opened.
#[derive(Clone, Debug)]
pub struct Config {
    /// `innodb_buffer_pool_size` in bytes.
    pub buffer_pool_bytes: u64,
    /// `innodb_redo_log_capacity` in bytes.
    pub redo_capacity_bytes: u64,
    /// Pages written at a time, after their copies in the double-write file.
    pub doublewrite_pages: usize,
    /// `innodb_adaptive_hash_index_parts`.
    pub adaptive_hash_parts: usize,
    /// `innodb_purge_threads`.
    pub purge_threads: usize,
    /// `innodb_read_io_threads`: threads that read pages, and a sixteenth of how many there are at most.
    pub read_threads: usize,
    /// Transaction ids that one raise of the durable mark covers. A start skips what the life before left of
    /// them.
    pub txn_ids_ahead: u64,
    /// Live settings.
    pub settings: Arc<Settings>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            buffer_pool_bytes: 128 << 20,
            redo_capacity_bytes: 100 << 20,
            doublewrite_pages: crate::buffer::BATCH_PAGES,
            adaptive_hash_parts: crate::btree::adaptive_hash::PARTS_DEFAULT,
            purge_threads: 4,
            read_threads: 4,
            txn_ids_ahead: 1 << 16,
            settings: Arc::new(Settings::default()),
        }
    }
}
