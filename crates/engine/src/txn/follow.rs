//! A transaction and the order of commits: rows handed on before commit, waiting for predecessors, being
//! rolled back with them. The rules are the lock room's (`lock/hand_on.rs`); here is when a transaction
//! rests, follows, and takes its rows back.

use crate::error::{Error, Result};
use crate::ids::IndexId;
use crate::lock::{LockKind, LockName, TxnLocks};
use crate::session_status::WaitingFor;

use super::kernel::Orphan;
use super::transaction::Txn;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A transaction's place in the order of commits.
#[derive(Clone, Copy)]
pub struct Order<'t>(&'t Txn);

impl std::fmt::Debug for Order<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Order").field(&self.0.locks).finish()
    }
}

impl Txn {
    /// Its place in the order of commits: rows handed on before commit, by it and to it.
    #[inline]
    pub fn order(&self) -> Order<'_> {
        Order(self)
    }
}

/// Says of the statement that begins whether it takes a row that is handed on, and hands its own on; None: as
/// `turnstile_hot_row` says.
#[inline]
pub fn choose_hot_row(txn: &mut Txn, hot_row: Option<bool>) {
    txn.hot_row = hot_row;
}

impl Order<'_> {
    /// The statement is over and the client is to speak: rows that others want may be handed on until
    /// [`Txn::start_statement`]. Nothing that this transaction has changed is lost by it, but a rollback has
    /// to wait for those who got them.
    #[inline]
    pub fn rest(self) {
        if self.0.locks.in_chain()
            && let Some(locks) = self.0.locks.known()
        {
            self.0.kernel.locks.rest(locks);
        }
    }

    /// Whether it must be rolled back as a whole, because a transaction that it comes after was.
    #[inline]
    pub fn is_doomed(self) -> bool {
        self.0.locks.in_chain() && self.0.locks.known().is_some_and(|locks| locks.is_doomed())
    }

    /// Whether [`Order::follow`] must come before the commit.
    #[inline]
    pub fn must_follow(self) -> bool {
        self.0.locks.in_chain()
            && self.0.locks.known().is_some_and(|locks| locks.follows() || locks.is_doomed())
    }

    /// Waits until it may commit: until all have committed on whose changes it builds.
    /// `GroupRolledBack`: one of them was rolled back, and so must this be. `Killed` leaves it as it was.
    pub async fn follow(self) -> Result<()> {
        if !self.must_follow() {
            return Ok(());
        }
        let Some(locks) = self.0.locks.known().cloned() else { return Ok(()) };
        self.0.locks.set_waiting(true);
        let note = self.0.options.status.waits(WaitingFor::Predecessors);
        self.0.kernel.locks.rest(&locks);
        let followed = self.0.kernel.locks.follow(&locks, &self.0.options.interrupt).await;
        if followed.is_err() {
            locks.stop_resting();
        }
        drop(note);
        self.0.locks.set_waiting(false);
        followed
    }

    /// Its rows are its own while a statement runs.
    #[inline]
    pub(crate) fn stop_resting(self) {
        if self.0.locks.in_chain()
            && let Some(locks) = self.0.locks.known()
        {
            locks.stop_resting();
        }
    }

    /// A row was locked for a change: if somebody handed it on, that one comes first from now on.
    #[inline]
    pub(crate) fn note_predecessor(self) -> Result<()> {
        let follows = self.0.locks.known().is_some_and(|locks| locks.follows());
        if follows && !self.0.locks.enter_chain(&self.0.options.interrupt) {
            return Err(Error::GroupRolledBack);
        }
        Ok(())
    }

    /// Whether its statement is one of those that rows are handed on by and to.
    #[inline]
    fn takes_part(self) -> bool {
        let rules = &self.0.kernel.settings.hot_row;
        rules.is_on() && self.0.hot_row.unwrap_or_else(|| !rules.hint_only.load(Ordering::Relaxed))
    }

    /// How a row is locked that is to be changed.
    #[inline]
    pub(crate) fn lock_kind(self) -> LockKind {
        if self.takes_part() { LockKind::Successor } else { LockKind::Record }
    }

    /// Whether changes are noted for hand-on: a statement alone is over before anybody could be handed its
    /// row, unless it has to follow. Once a row is noted all that is done to it must be.
    #[inline]
    pub(crate) fn notes_changes(self) -> bool {
        self.0.locks.in_chain() || !self.0.options.autocommit && self.takes_part()
    }

    /// See [`TxnLocks::note_change`].
    pub(crate) fn note_change(self, index: IndexId, key: &[u8], only: Option<bool>) {
        let only = if self.takes_part() { only } else { only.filter(|only| !only) };
        if only == Some(true) {
            self.0.locks.enter_chain(&self.0.options.interrupt);
        }
        if self.0.locks.in_chain()
            && let Some(locks) = self.0.locks.known()
        {
            locks.note_change(LockName::row(index, key), only);
        }
    }

    pub(crate) fn has_handed_on(self, index: IndexId, key: &[u8]) -> bool {
        let Some(locks) = self.0.locks.known().filter(|_| self.0.locks.in_chain()) else { return false };
        self.0.kernel.locks.is_handed_by(locks, LockName::row(index, key))
    }

    /// Before records behind the first `records` are taken back: waits until rows that were handed on since
    /// are this transaction's again.
    pub(crate) async fn reclaim(self, records: u64) {
        if !self.0.locks.in_chain() {
            return;
        }
        let Some(locks) = self.0.locks.known() else { return };
        if !self.0.kernel.locks.reclaim(locks, records) {
            let _note = self.0.options.status.waits(WaitingFor::Successors);
            self.0.kernel.locks.reclaimed(locks).await;
        }
    }
}

impl Orphan {
    /// As [`Txn::reclaim`], for all of it; false: not yet.
    pub(crate) fn reclaim(&self, kernel: &super::kernel::Kernel) -> bool {
        let locks: Option<&Arc<TxnLocks>> = self.locks.known();
        locks.is_none_or(|locks| kernel.locks.reclaim(locks, 0))
    }
}
