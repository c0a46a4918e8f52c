//! Every number that the status views show, read at one moment: SHOW STATUS, INNODB_METRICS and the rates of
//! SHOW ENGINE INNODB STATUS all start from it. Reading it takes each lock shard's mutex for a few
//! instructions, nothing else.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use turnstile_engine::buffer::PoolCounts;
use turnstile_engine::lock::LockStatistics;
use turnstile_engine::tally::RowTotals;
use turnstile_engine::wal::WalStats;
use turnstile_engine::{Engine, PurgeStatus};

/// Numbers of the engine at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// When.
    pub at: Instant,
    /// What transactions have done, those of all sessions and of nobody.
    pub rows: RowTotals,
    /// Transactions that purge has been through.
    pub purged_transactions: u64,
    /// Rows and entries that purge has removed.
    pub purged_records: u64,
    /// Undo pages freed.
    pub undo_pages_freed: u64,
    /// Purge.
    pub purge: PurgeStatus,
    /// Ended transactions that purge has not been through.
    pub history: u64,
    /// Transactions that have written and not ended.
    pub active: u64,
    /// Open read views.
    pub views: u64,
    /// The adaptive hash index.
    pub hash: HashSample,
    /// The lock table.
    pub locks: LockStatistics,
    /// The buffer pool.
    pub pool: PoolCounts,
    /// The log.
    pub log: WalStats,
}

/// Counts of the adaptive hash index.
#[derive(Clone, Copy, Debug)]
pub struct HashSample {
    /// Searches that it answered.
    pub searches: u64,
    /// Searches that went down the tree while it was on.
    pub tree_searches: u64,
    /// Hints added.
    pub rows_added: u64,
    /// Hints removed.
    pub rows_removed: u64,
    /// Hints given another place.
    pub rows_updated: u64,
}

impl Sample {
    /// Reads everything; `rows`: see [`Catalog::rows`](turnstile_catalog::catalog::Catalog::rows).
    pub fn take(engine: &Engine, rows: RowTotals) -> Sample {
        let stats = engine.stats();
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let hash = engine.adaptive_hash().counts();
        Sample {
            at: Instant::now(),
            rows,
            purged_transactions: read(&stats.purged_transactions),
            purged_records: read(&stats.purged_records),
            undo_pages_freed: read(&stats.undo_pages_freed),
            purge: engine.purge_status(),
            history: engine.history_list_length(),
            active: engine.active_transactions() as u64,
            views: engine.read_views() as u64,
            hash: HashSample {
                searches: hash.hash_searches,
                tree_searches: hash.non_hash_searches,
                rows_added: hash.rows_added,
                rows_removed: hash.rows_removed,
                rows_updated: hash.rows_updated,
            },
            locks: engine.locks().statistics(),
            pool: engine.storage().pool.counters(),
            log: engine.storage().wal.stats(),
        }
    }

    /// Milliseconds waited for row locks.
    pub fn lock_wait_ms(&self) -> u64 {
        self.locks.wait_us_total / 1000
    }

    /// The average wait for a row lock in milliseconds.
    pub fn lock_wait_ms_average(&self) -> u64 {
        self.lock_wait_ms() / self.locks.row_waits.max(1)
    }
}
