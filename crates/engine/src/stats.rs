//! Counters of the transaction and row rooms. Relaxed atomics; nobody decides anything by them.

use std::sync::atomic::AtomicU64;

/// What the engine has done since it was opened.
#[derive(Debug, Default)]
pub struct Stats {
    /// Rows seen by reads.
    pub rows_read: AtomicU64,
    /// Rows inserted.
    pub rows_inserted: AtomicU64,
    /// Rows updated.
    pub rows_updated: AtomicU64,
    /// Rows deleted.
    pub rows_deleted: AtomicU64,
    /// Transactions committed that had written.
    pub commits: AtomicU64,
    /// Transactions committed that had not.
    pub read_only_commits: AtomicU64,
    /// Transactions rolled back.
    pub rollbacks: AtomicU64,
    /// Rollbacks to a savepoint or of a statement, in a transaction that keeps earlier changes.
    pub partial_rollbacks: AtomicU64,
    /// Transactions whose undo purge has dropped.
    pub purged_transactions: AtomicU64,
    /// Rows and entries that purge has removed.
    pub purged_records: AtomicU64,
    /// Older versions that readers have looked at.
    pub versions_walked: AtomicU64,
    /// Undo pages freed.
    pub undo_pages_freed: AtomicU64,
}
