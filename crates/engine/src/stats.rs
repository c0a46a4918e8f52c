//! Counters of the transaction and row rooms. Relaxed atomics; nobody decides anything by them.

use crate::tally::SharedRowCounts;
use std::sync::atomic::AtomicU64;

/// What the engine has done since it was opened.
#[derive(Debug, Default)]
pub struct Stats {
    /// What transactions of no session have done: an embedding program, or work of the server's own. Those of
    /// sessions are counted on their statuses.
    pub rows: SharedRowCounts,
    /// Transactions whose undo purge has dropped.
    pub purged_transactions: AtomicU64,
    /// Rows and entries that purge has removed.
    pub purged_records: AtomicU64,
    /// Older versions that readers have looked at.
    pub versions_walked: AtomicU64,
    /// Undo pages freed.
    pub undo_pages_freed: AtomicU64,
}
