//! What can be changed while the engine runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

/// Settings that can be changed while the engine runs, under the names MySQL users know.
#[derive(Debug)]
pub struct Settings {
    /// `innodb_flush_log_at_trx_commit`: 0, 1 or 2.
    pub flush_log_at_trx_commit: AtomicU8,
    /// `innodb_deadlock_detect`.
    pub deadlock_detect: AtomicBool,
    /// `innodb_print_all_deadlocks`.
    pub print_all_deadlocks: AtomicBool,
    /// `innodb_purge_batch_size`: undo records that a purge thread goes through in one lane before it turns
    /// to the next.
    pub purge_batch_size: AtomicU64,
    /// `innodb_max_purge_size`: most undo records of one purge round, all threads together; 0 for no cap.
    pub max_purge_size: AtomicU64,
    /// `innodb_max_purge_lag`: history length from which statements that change rows are delayed; 0 for
    /// never.
    pub max_purge_lag: AtomicU64,
    /// `innodb_max_purge_lag_delay`: longest such delay in microseconds; 0 for the engine's own limit.
    pub max_purge_lag_delay: AtomicU64,
    /// `innodb_thread_concurrency`: 0 for no limit.
    pub thread_concurrency: AtomicU64,
    /// `innodb_concurrency_tickets`.
    pub concurrency_tickets: AtomicU64,
    /// `innodb_thread_sleep_delay`, in microseconds.
    pub thread_sleep_delay_us: AtomicU64,
    /// `innodb_adaptive_max_sleep_delay`, in microseconds.
    pub adaptive_max_sleep_delay_us: AtomicU64,
    /// `innodb_commit_concurrency`: 0 for no limit.
    pub commit_concurrency: AtomicU64,
    /// Hand-on of hot rows before commit.
    pub hot_row: Arc<HotRow>,
    /// Queues for locks.
    pub queues: QueueRules,
}

impl Settings {
    /// After how long a wait for a lock looks whether it gives way: while nobody searches for deadlocks.
    pub fn blind_wait(&self) -> Option<Duration> {
        let every = self.queues.blind_wait_ms.load(Ordering::Relaxed);
        (every > 0 && !self.deadlock_detect.load(Ordering::Relaxed)).then(|| Duration::from_millis(every))
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            flush_log_at_trx_commit: AtomicU8::new(1),
            deadlock_detect: AtomicBool::new(true),
            print_all_deadlocks: AtomicBool::new(false),
            purge_batch_size: AtomicU64::new(300),
            max_purge_size: AtomicU64::new(0),
            max_purge_lag: AtomicU64::new(0),
            max_purge_lag_delay: AtomicU64::new(0),
            thread_concurrency: AtomicU64::new(0),
            concurrency_tickets: AtomicU64::new(5000),
            thread_sleep_delay_us: AtomicU64::new(0),
            adaptive_max_sleep_delay_us: AtomicU64::new(150_000),
            commit_concurrency: AtomicU64::new(0),
            hot_row: Arc::default(),
            queues: QueueRules::default(),
        }
    }
}

/// Whether rows are handed on before commit, and within which bounds. Live.
#[derive(Debug)]
pub struct HotRow {
    /// `turnstile_hot_row` is not OFF.
    pub on: AtomicBool,
    /// It is HINT_ONLY: of statements that say so.
    pub hint_only: AtomicBool,
    /// `turnstile_hot_row_min_waiters`: who waits for a row, if it is to count as hot.
    pub min_waiters: AtomicU64,
    /// `turnstile_hot_row_group_cap`: most transactions that a row is handed on by before the first of them
    /// has ended.
    pub group_cap: AtomicU64,
    /// `turnstile_hot_row_patience_ms`: how long a transaction that is to commit waits for those before it;
    /// then the first of them is rolled back, and who comes after it.
    pub patience_ms: AtomicU64,
}

impl HotRow {
    /// Whether rows are handed on.
    pub fn is_on(&self) -> bool {
        self.on.load(Ordering::Relaxed)
    }
}

impl Default for HotRow {
    fn default() -> Self {
        HotRow {
            on: AtomicBool::new(false),
            hint_only: AtomicBool::new(false),
            min_waiters: AtomicU64::new(1),
            group_cap: AtomicU64::new(1024),
            patience_ms: AtomicU64::new(5_000),
        }
    }
}

/// Who waits for a lock, in which order, and for how long at most. Live.
#[derive(Debug)]
pub struct QueueRules {
    /// `turnstile_hot_row_queue_cap`: most transactions that wait for one row; 0 for no limit.
    pub cap: AtomicU64,
    /// `turnstile_lock_queue_skips`: how many transactions that others wait for go before the oldest one that
    /// waits; 0 for first come, first served.
    pub skips: AtomicU64,
    /// `turnstile_blind_wait_ms`: how long, without deadlock detection, a transaction that others wait for
    /// waits behind an older one that waits, too; 0 for the lock wait timeout.
    pub blind_wait_ms: AtomicU64,
}

impl Default for QueueRules {
    fn default() -> Self {
        QueueRules {
            cap: AtomicU64::new(0),
            skips: AtomicU64::new(SKIPS),
            blind_wait_ms: AtomicU64::new(BLIND_WAIT_MS),
        }
    }
}

/// Default of `turnstile_lock_queue_skips`.
const SKIPS: u64 = 16;
/// Default of `turnstile_blind_wait_ms`.
const BLIND_WAIT_MS: u64 = 10;
