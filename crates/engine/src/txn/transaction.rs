//! A transaction: what it holds, how it begins, ends and is abandoned. The verbs on rows are in the row room.
//!
//! ```text
//!   begin ---- first change: id, lane ---> writes ----> commit: reserve number, mark in the lane, leave the set,
//!     |                                      |                  release locks; the caller waits for the log
//!     +---- reads: view, locks               +--------> rollback: undo newest first, mark, leave, release
//! ```
//! A change that is all its transaction does has reserved and marked already ([`Txn::has_ended`]): of the
//! commit the rest is left, and nothing takes it back.
//!
//! The order at commit is what makes early release safe: whoever sees this transaction's rows, or gets its
//! locks, commits at a later LSN, so it is never acknowledged before this one is durable.

use std::sync::Arc;

use smallvec::SmallVec;
use turnstile_sys::known::Known;

use crate::admission::Ticket;
use crate::api::{Isolation, Savepoint, TxnOptions};
use crate::buffer::with_pages_blocking;
use crate::error::{Error, Result};
use crate::ids::{Lsn, RollPtr, TxnId};

use super::counters::Carried;
use super::dead_undo::CutOff;
use super::kernel::{Kernel, Orphan};
use super::lane::LaneHold;
use super::lock_calls::TxnLockState;
use super::trees::Trees;
use super::undo_record::{NEEDS_PURGE, TxnState};
use super::view::{ReadView, Sight};

/// A transaction. Dropping one that has not ended hands it to the background, which rolls it back.
pub struct Txn {
    pub(crate) kernel: Known<Kernel>,
    pub(crate) trees: Trees,
    pub(crate) options: TxnOptions,
    pub(crate) id: TxnId,
    pub(crate) hold: Option<LaneHold>,
    /// Undo records that stand; the unit of [`Savepoint`].
    pub(crate) records: u64,
    pub(crate) view: Option<Arc<ReadView>>,
    /// Undo records that the write under way cuts off from its row.
    pub(crate) cut_off: SmallVec<[CutOff; 4]>,
    pub(crate) locks: TxnLockState,
    /// A counter's number that the next change makes durable.
    pub(crate) carried: Option<Carried>,
    /// The statement's ticket, if the number of statements inside is limited.
    pub(crate) ticket: Option<Ticket>,
    /// The statement's reads are all of one moment, also when one alone would need no view.
    pub(crate) one_moment: bool,
    /// Whether its statement is one for hot rows; None if it does not say.
    pub(crate) hot_row: Option<bool>,
}

impl Txn {
    pub(crate) fn new(kernel: Arc<Kernel>, options: TxnOptions) -> Self {
        let locks = TxnLockState::new(&options);
        Txn {
            kernel: Arc::new(kernel),
            trees: Trees::default(),
            options,
            id: TxnId(0),
            hold: None,
            records: 0,
            view: None,
            cut_off: SmallVec::new(),
            locks,
            carried: None,
            ticket: None,
            one_moment: false,
            hot_row: None,
        }
    }

    /// Its id, once it has written.
    pub fn id(&self) -> Option<TxnId> {
        (self.id.0 != 0).then_some(self.id)
    }

    /// Whether it may hold somebody up: it has written, or asked for a lock.
    pub fn holds_locks(&self) -> bool {
        self.hold.is_some() || self.locks.has_any()
    }

    /// Its options.
    pub fn options(&self) -> &TxnOptions {
        &self.options
    }

    /// Begins a statement: READ COMMITTED gets a fresh read view. Not needed for the first one.
    pub fn start_statement(&mut self, lock_wait_timeout_ms: u64) {
        self.options.lock_wait_timeout_ms = lock_wait_timeout_ms;
        self.one_moment = false;
        self.order().stop_resting();
        if self.options.isolation <= Isolation::ReadCommitted {
            self.view = None;
            self.options.status.set_view(0, 0);
        }
    }

    /// Whether its reads see the changes of `id`: always, before a view is open.
    pub fn sees_changes_of(&self, id: TxnId) -> bool {
        self.view.as_ref().is_none_or(|cut| cut.sees(id))
    }

    /// The statement that begins reads more than once, and all of it is to be of one moment: that of its
    /// first read, which comes after a wait for admission.
    pub fn pin_snapshot(&mut self) {
        self.one_moment = true;
    }

    /// Takes the read view now (START TRANSACTION WITH CONSISTENT SNAPSHOT).
    pub fn open_view(&mut self) {
        if self.view.is_none() {
            let cut = self.kernel.registry.open_view();
            self.options.status.set_view(cut.low_water, cut.high_water);
            self.view = Some(cut);
        }
    }

    /// What a consistent read sees now. The view is opened if need be; it also keeps purge away while READ
    /// UNCOMMITTED follows a chain of overflow pages.
    pub(crate) fn sight(&mut self) -> Sight {
        self.open_view();
        match (&self.view, self.options.isolation) {
            (Some(cut), isolation) if isolation != Isolation::ReadUncommitted => {
                Sight::View(cut.clone(), self.id)
            }
            _ => Sight::Newest,
        }
    }

    /// Where the transaction stands.
    pub fn savepoint(&self) -> Savepoint {
        Savepoint(self.records)
    }

    /// Whether its change has committed it ([`crate::UpdateDraft::that_ends`]). Its locks are held until
    /// [`Txn::commit`], which cannot fail then.
    #[inline]
    pub fn has_ended(&self) -> bool {
        self.hold.as_ref().is_some_and(|hold| hold.ended().is_some())
    }

    /// Commits: the commit record gets its LSN and locks are released. The client is answered after the
    /// engine's `wait_durable`. None if nothing was written. `GroupRolledBack`, and nothing has happened, if
    /// it comes after somebody who has not ended: see [`super::follow::Order::follow`].
    pub fn commit(&mut self) -> Result<Option<Lsn>> {
        self.end(TxnState::Committed)
    }

    /// Marks the transaction's end in its lane, leaves the active set, releases the locks: the one place for
    /// it.
    pub(crate) fn end(&mut self, state: TxnState) -> Result<Option<Lsn>> {
        turnstile_sys::trail!();
        let state = if self.has_ended() { TxnState::Committed } else { state };
        if state == TxnState::Committed && self.order().must_follow() {
            return Err(Error::GroupRolledBack);
        }
        match (self.carried.is_some(), state) {
            (true, TxnState::Committed) => self.deliver_counter()?,
            // The number of a row that was refused is used up all the same; that nobody has it is no reason
            // to keep the locks.
            (true, TxnState::RolledBack) => drop(self.deliver_counter()),
            _ => {}
        }
        self.carried = None;
        let kernel = &self.kernel;
        if let Some(hold) = &mut self.hold
            && state == TxnState::RolledBack
        {
            hold.add_flags(NEEDS_PURGE);
        }
        let lsn = kernel.end_writer(self.id, &mut self.hold, state)?;
        self.locks.release_all(kernel);
        self.options.status.end();
        self.view = None;
        self.id = TxnId(0);
        self.records = 0;
        let counts = self.options.status.rows();
        let ended = match (state, lsn) {
            (TxnState::Committed, Some(_)) => &counts.commits,
            (TxnState::Committed, None) => &counts.read_only_commits,
            _ => &counts.rollbacks,
        };
        ended.add(1);
        Ok(lsn)
    }
}

/// Whether a locking read must claim gaps.
pub(crate) fn locks_gaps(txn: &Txn) -> bool {
    txn.options.isolation >= Isolation::RepeatableRead
}

/// Whether the change that is about to be written may end it: there is none before it, and nobody's commit
/// comes before its own.
#[inline]
pub(crate) fn may_end(txn: &Txn) -> bool {
    !txn.hold.as_ref().is_some_and(LaneHold::has_header) && !txn.locks.in_chain()
}

/// To those who look at sessions it is over.
pub(super) fn tell_end(txn: &Txn) {
    txn.options.status.end_if_open();
    if txn.options.status.connection() == 0 {
        txn.kernel.stats.rows.take_over(txn.options.status.rows());
    }
}

impl Drop for Txn {
    fn drop(&mut self) {
        tell_end(self);
        match self.hold.take() {
            Some(hold) if hold.ended().is_some() => {
                // Its end is in the log; what is left writes nothing and cannot fail.
                drop(self.kernel.end_writer(self.id, &mut Some(hold), TxnState::Committed));
                self.locks.release_all(&self.kernel);
            }
            Some(hold) if hold.has_header() => {
                let locks = TxnLockState::taken_over(self.locks.take());
                self.kernel.abandon(Box::new(Orphan { id: self.id, hold, locks }));
            }
            hold => {
                if let Some(hold) = hold {
                    self.kernel.registry.leave(self.id, None);
                    self.kernel.lanes.release(hold);
                }
                self.locks.release_all(&self.kernel);
            }
        }
    }
}

impl Kernel {
    /// Ends a writing transaction in its lane and in the active set, and takes its hold; without a hold there
    /// is nothing to end. On an error the hold stays and nothing has changed.
    pub(crate) fn end_writer(
        &self,
        id: TxnId,
        hold: &mut Option<LaneHold>,
        state: TxnState,
    ) -> Result<Option<Lsn>> {
        let Some(writer) = hold else { return Ok(None) };
        let (mut number, mut lsn) = (None, None);
        if let Some((reserved, end)) = writer.ended() {
            (number, lsn) = (Some(reserved), Some(end));
        } else if writer.has_header() {
            let reserved = self.registry.reserve();
            let ended = with_pages_blocking(&self.storage, || writer.end(&self.storage, state, reserved));
            lsn = Some(ended.inspect_err(|_| self.registry.cancel(reserved))?);
            number = Some(reserved);
            debug_assert!(state == TxnState::Committed || writer.newest() == RollPtr(0));
        }
        // Purge tells a transaction that is not yet counted in its lane by its being active still.
        if let Some(hold) = hold.take() {
            self.lanes.release(hold);
        }
        self.registry.leave(id, number);
        Ok(lsn)
    }
}
