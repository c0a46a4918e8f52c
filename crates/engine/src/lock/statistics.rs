//! Counters of the lock room. Waits are counted in shared atomics (a wait costs far more); locks made and
//! dropped are plain numbers under each shard's mutex, so the path without a wait counts for free.

use super::wait::{Outcome, Waiter};
use std::sync::atomic::{AtomicU64, Ordering};

/// Live counters.
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub row_waits: AtomicU64,
    pub table_waits: AtomicU64,
    pub current_waits: AtomicU64,
    pub wait_us_total: AtomicU64,
    pub wait_us_max: AtomicU64,
    pub deadlocks: AtomicU64,
    pub timeouts: AtomicU64,
    pub kills: AtomicU64,
    pub refused: AtomicU64,
    pub gave_way: AtomicU64,
    pub searches: AtomicU64,
    pub edges: AtomicU64,
    pub handed_on: AtomicU64,
    pub followed: AtomicU64,
    pub following: AtomicU64,
    pub doomed: AtomicU64,
    pub impatience: AtomicU64,
    /// Transactions that wait for a lock and have handed a row on: only through one of them can a cycle go
    /// that has an edge of the order of commits.
    pub waiting_predecessors: AtomicU64,
}

impl Counters {
    /// Counts a wait that begins.
    pub fn began(&self, waiter: &Waiter) {
        let waits = if waiter.is_table { &self.table_waits } else { &self.row_waits };
        waits.fetch_add(1, Ordering::Relaxed);
        self.current_waits.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a wait that has ended, and how long it lasted.
    pub fn ended(&self, waiter: &Waiter, outcome: Outcome) {
        let waited_us = waiter.since.elapsed().as_micros() as u64;
        self.current_waits.fetch_sub(1, Ordering::Relaxed);
        if waiter.has_successors.load(Ordering::Relaxed) {
            self.waiting_predecessors.fetch_sub(1, Ordering::SeqCst);
        }
        self.wait_us_total.fetch_add(waited_us, Ordering::Relaxed);
        self.wait_us_max.fetch_max(waited_us, Ordering::Relaxed);
        match outcome {
            Outcome::Granted => 0,
            Outcome::Victim => self.deadlocks.fetch_add(1, Ordering::Relaxed),
            Outcome::TimedOut => self.timeouts.fetch_add(1, Ordering::Relaxed),
            Outcome::Killed => self.kills.fetch_add(1, Ordering::Relaxed),
            // It has not begun.
            Outcome::Refused => 0,
        };
    }
}

/// The counters at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LockStatistics {
    /// Waits for row locks, ever (`Innodb_row_lock_waits`).
    pub row_waits: u64,
    /// Waits for table locks, ever.
    pub table_waits: u64,
    /// Waits now (`Innodb_row_lock_current_waits`).
    pub current_waits: u64,
    /// Microseconds waited, all waits that have ended (`Innodb_row_lock_time`).
    pub wait_us_total: u64,
    /// The longest.
    pub wait_us_max: u64,
    /// Deadlocks broken (`Innodb_deadlocks`).
    pub deadlocks: u64,
    /// Waits ended by the lock wait timeout.
    pub timeouts: u64,
    /// Waits ended by KILL or because the session went away.
    pub kills: u64,
    /// Requests that did not wait because as many did as may.
    pub refused: u64,
    /// Waits ended without detection: others waited for the waiter, and it for an older one that waited.
    pub gave_way: u64,
    /// Deadlock searches that went beyond the waiter's own blockers.
    pub searches: u64,
    /// Edges looked at by all searches.
    pub edges: u64,
    /// Rows handed on before commit, ever.
    pub handed_on: u64,
    /// Commits that waited for a predecessor's, ever.
    pub followed: u64,
    /// Transactions that wait to commit now.
    pub following: u64,
    /// Transactions that were told to roll back because a predecessor had to, ever.
    pub doomed: u64,
    /// Transactions rolled back because those behind them had waited for too long, ever.
    pub impatience: u64,
    /// Holds on rows and gaps made, ever.
    pub created: u64,
    /// Holds on rows and gaps dropped, ever; `created - removed` are held now.
    pub removed: u64,
    /// Holds on tables made, ever.
    pub tables_created: u64,
    /// Holds on tables dropped, ever.
    pub tables_removed: u64,
    /// Names locked or waited for now.
    pub names: u64,
}
