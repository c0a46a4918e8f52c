//! One wait: a value in a queue, a cell that is completed once, a future that looks at clock and interrupt.
//!
//! Who takes the waiter out of the queue decides how the wait ends, and the queue is under the shard's mutex;
//! so grant, timeout, kill and deadlock cannot all win, and the cell is completed exactly once. The future
//! never decides by itself: when the clock or the interrupt says stop, it asks the table to take it out, and
//! believes what the cell says.

use super::mode::Want;
use super::owner::TxnLocks;
use super::table::LockTable;
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};
use turnstile_sys::park::WaitCell;
use turnstile_sys::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use turnstile_sys::timer::{Timer, TimerGuard};

/// How a lock wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The lock is held.
    Granted,
    /// Chosen to break a deadlock: the transaction is to be rolled back.
    Victim,
    /// The lock wait timeout passed: the statement is to be rolled back.
    TimedOut,
    /// KILL, or the waiting session went away.
    Killed,
    /// It did not wait: the queue is full.
    Refused,
}

impl Outcome {
    /// The outcome as the caller's error.
    pub fn into_result(self) -> Result<()> {
        match self {
            Outcome::Granted => Ok(()),
            Outcome::Victim => Err(Error::Deadlock),
            Outcome::TimedOut => Err(Error::LockWaitTimeout),
            Outcome::Killed => Err(Error::Killed),
            Outcome::Refused => Err(Error::LockQueueFull),
        }
    }
}

/// How long a session is prepared to wait, and what else may end the wait.
#[derive(Clone, Copy, Debug)]
pub struct Patience<'a> {
    /// `innodb_lock_wait_timeout`.
    pub timeout: Duration,
    /// The session's interrupt.
    pub interrupt: Option<&'a Interrupt>,
}

/// Passed over this often, a waiter is handed the lock.
pub(super) const PASSED_MAX: u32 = 256;
/// This long after its first invitation, a waiter is handed the lock.
pub(super) const PATIENT_FOR_US: u64 = 1_000;
const NEVER: u64 = u64::MAX;

/// A place in a queue. All that changes, but for the cell, changes under the shard's mutex.
#[derive(Debug)]
pub struct Waiter {
    pub(super) cell: WaitCell<Outcome>,
    pub(super) queued: AtomicBool,
    pub(super) converting: AtomicBool,
    /// Woken to take a free lock for itself, and not come yet.
    pub(super) invited: AtomicBool,
    /// When it was first invited, in microseconds of waiting.
    pub(super) first_invited_us: AtomicU64,
    pub(super) passed: AtomicU32,
    /// It will hold the lock only for a moment, so it too may pass others.
    pub(super) short: bool,
    /// Granted to be run by the thread that granted it, which has reserved a place
    /// ([`turnstile_sys::handoff`]).
    pub(super) handed: AtomicBool,
    /// It was put before those who waited already ([`mod@super::precedence`]).
    pub(super) first: bool,
    /// How many were put before it.
    pub(super) skipped: AtomicU64,
    /// Its transaction has handed a row on, and counts among the predecessors that wait.
    pub(super) has_successors: AtomicBool,
    pub(super) shard: u32,
    pub(super) node: u32,
    pub(super) arrival: u64,
    pub(super) want: Want,
    pub(super) is_table: bool,
    pub(super) since: Instant,
}

impl Waiter {
    pub(super) fn new(shard: u32, node: u32, arrival: u64, want: Want, is_table: bool, short: bool) -> Self {
        Waiter {
            cell: WaitCell::new(),
            queued: AtomicBool::new(true),
            converting: AtomicBool::new(false),
            invited: AtomicBool::new(false),
            first_invited_us: AtomicU64::new(NEVER),
            passed: AtomicU32::new(0),
            short,
            handed: AtomicBool::new(false),
            first: false,
            skipped: AtomicU64::new(0),
            has_successors: AtomicBool::new(false),
            shard,
            node,
            arrival,
            want,
            is_table,
            since: Instant::now(),
        }
    }

    fn waited_us(&self, now: Instant) -> u64 {
        now.saturating_duration_since(self.since).as_micros() as u64
    }

    pub(super) fn note_invitation(&self, now: Instant) {
        if self.first_invited_us.load(Ordering::Relaxed) == NEVER {
            self.first_invited_us.store(self.waited_us(now), Ordering::Relaxed);
        }
    }

    /// Whether it has been passed over enough: from now on a free lock is handed to it, not offered.
    pub(super) fn is_overdue(&self, now: Instant) -> bool {
        let first_us = self.first_invited_us.load(Ordering::Relaxed);
        self.passed.load(Ordering::Relaxed) >= PASSED_MAX
            || first_us != NEVER && self.waited_us(now) >= first_us + PATIENT_FOR_US
    }
}

/// The wait as a future. Dropping it leaves the queue. It holds no thread, and of mutexes only the shard's
/// for moments.
#[derive(Debug)]
#[must_use = "a wait does nothing until it is awaited, and leaves the queue when dropped"]
pub struct Wait<'a> {
    pub(super) table: &'a LockTable,
    pub(super) txn: &'a TxnLocks,
    /// `None` once the wait has ended, or if the lock was free after all.
    pub(super) waiter: Option<Arc<Waiter>>,
    /// How it ended.
    pub(super) outcome: Outcome,
    pub(super) patience: Patience<'a>,
    pub(super) was_transient: bool,
    pub(super) timer: Option<(TimerGuard, Waker, Instant)>,
    /// When it last looked whether it is to give way.
    pub(super) looked: Option<Instant>,
}

impl Wait<'_> {
    fn finish(&mut self, outcome: Outcome) -> Poll<Outcome> {
        self.waiter = None;
        self.outcome = outcome;
        self.timer = None;
        self.txn.set_transient(self.was_transient);
        Poll::Ready(outcome)
    }

    /// The reason to stop, if clock or interrupt have one; else both will wake the task.
    fn reason_to_stop(&mut self, deadline: Option<Instant>, context: &mut Context<'_>) -> Option<Outcome> {
        if self.patience.interrupt.is_some_and(|interrupt| interrupt.poll_killed(context).is_ready()) {
            return Some(Outcome::Killed);
        }
        let now = Instant::now();
        if deadline.is_some_and(|deadline| now >= deadline) {
            return Some(Outcome::TimedOut);
        }
        let look = self.next_look(now);
        if look.is_some_and(|look| now >= look) {
            self.looked = Some(now);
            let waiter = self.waiter.as_ref()?;
            if waiter.gives_way(&self.table.shard(waiter.shard)) {
                return Some(Outcome::Victim);
            }
        }
        // A deadline beyond the end of time never comes.
        let deadline = [deadline, self.next_look(now)].into_iter().flatten().min()?;
        let armed = |(_, waker, at): &(TimerGuard, Waker, Instant)| {
            *at == deadline && waker.will_wake(context.waker())
        };
        if !self.timer.as_ref().is_some_and(armed) {
            let waker = context.waker().clone();
            self.timer = Some((Timer::global().wake_at(deadline, waker.clone()), waker, deadline));
        }
        None
    }

    /// When it is to look whether it gives way: while nobody searches for cycles, and others wait for it.
    fn next_look(&self, now: Instant) -> Option<Instant> {
        let every = self.table.settings.blind_wait().filter(|_| self.txn.is_waited_for())?;
        let since = self.looked.or_else(|| self.waiter.as_ref().map(|waiter| waiter.since));
        since.unwrap_or(now).checked_add(every)
    }
}

impl Future for Wait<'_> {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome> {
        let Some(waiter) = self.waiter.clone() else { return Poll::Ready(self.outcome) };
        // The waker is left first; whatever is looked at afterwards cannot change unseen.
        if let Poll::Ready(outcome) = waiter.cell.poll_wait(context) {
            return self.finish(outcome);
        }
        if waiter.invited.load(Ordering::SeqCst) {
            self.table.accept_invitation(&waiter);
        }
        let deadline = waiter.since.checked_add(self.patience.timeout);
        if waiter.cell.reason().is_none()
            && let Some(reason) = self.reason_to_stop(deadline, context)
        {
            let ended = self.table.cancel(&waiter, reason);
            if ended && reason == Outcome::Victim {
                self.table.counters.gave_way.fetch_add(1, Ordering::Relaxed);
            }
        }
        // If somebody else took the waiter out a moment ago and has not filled the cell yet, its wake-up is
        // to come.
        match waiter.cell.reason() {
            Some(outcome) => self.finish(outcome),
            None => Poll::Pending,
        }
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        if let Some(waiter) = self.waiter.take() {
            self.table.cancel(&waiter, Outcome::Killed);
        }
    }
}
