//! A transaction's statement and the admission gate: entering before the first row, making way when its
//! tickets are used up, stepping out for waits.
//!
//! The ticket is here, in the transaction, because the waits for row locks are: whoever waits for a lock has
//! given its slot back before its thread does anything else. With `innodb_thread_concurrency` = 0 there is no
//! ticket and every call is one test of a field of the session's own.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use crate::admission::Ticket;
use crate::error::Result;
use crate::session_status::Operation;

use super::transaction::Txn;

/// Runs a wait of unknown length without a slot, if it has to wait at all. The statement comes in again
/// before its next row.
pub(crate) async fn outside<F: Future>(ticket: &mut Option<Ticket>, wait: F) -> F::Output {
    let mut wait = pin!(wait);
    poll_fn(|context| {
        let polled = wait.as_mut().poll(context);
        if let (Poll::Pending, Some(ticket)) = (&polled, ticket.as_mut()) {
            ticket.step_out();
        }
        polled
    })
    .await
}

impl Txn {
    /// A statement on rows begins. If the number of statements inside is limited it is counted from its first
    /// row until [`Txn::leave_engine`]; if not, also a limit that is set later does not count it.
    #[inline]
    pub fn begin_statement(&mut self, operation: Operation) {
        self.ticket = self.kernel.gate.ticket(self.options.status.admission());
        self.options.status.note(operation);
    }

    /// The statement has seen and written its last row: its slot is for somebody else. Commit and rollback
    /// come after it.
    #[inline]
    pub fn leave_engine(&mut self) {
        self.ticket = None;
        self.options.status.note(Operation::None);
    }

    /// Whether [`Txn::come_in`] must come before the next row.
    #[inline]
    pub(crate) fn admission_is_due(&self) -> bool {
        self.ticket.as_ref().is_some_and(Ticket::is_due)
    }

    /// Pays for rows.
    #[inline]
    pub(crate) fn spend(&mut self, rows: u64) {
        if let Some(ticket) = &mut self.ticket {
            ticket.spend(rows);
        }
    }

    /// Enters the engine, or makes way, as the ticket says. Locks are not short meanwhile. `Err(Killed)`
    /// leaves it outside.
    pub(crate) async fn come_in(&mut self) -> Result<()> {
        let Some(ticket) = &mut self.ticket else { return Ok(()) };
        let mut entering = pin!(ticket.come_in(&self.options.interrupt));
        let locks = &self.locks;
        let mut waited = false;
        let outcome = poll_fn(|context| {
            let polled = entering.as_mut().poll(context);
            if polled.is_pending() && !std::mem::replace(&mut waited, true) {
                locks.set_waiting(true);
            }
            polled
        })
        .await;
        if waited {
            self.locks.set_waiting(false);
        }
        outcome
    }

    /// Awaits something that is not the engine's (a client that reads slowly, SLEEP) without a slot.
    pub async fn outside<F: Future>(&mut self, wait: F) -> F::Output {
        outside(&mut self.ticket, wait).await
    }

    /// Waits until the redo log has room, without a slot.
    pub(crate) async fn reserve_log(&mut self) -> Result<()> {
        let storage = &self.kernel.storage;
        if storage.wal.try_reserve()? {
            return Ok(());
        }
        Box::pin(outside(&mut self.ticket, storage.reserve())).await
    }

    /// A place among the commits under way, if their number is limited (`innodb_commit_concurrency`) and this
    /// one writes to the log; to be kept until the log is as durable as is asked. Nothing ends this wait but
    /// its turn; locks are held meanwhile.
    pub async fn commit_turn(&mut self) -> Option<Ticket> {
        self.hold.as_ref()?;
        let admission = Default::default();
        let mut ticket = self.kernel.commit_gate.ticket(&admission)?;
        self.locks.set_waiting(true);
        let entered = ticket.come_in(&Default::default()).await;
        self.locks.set_waiting(false);
        debug_assert!(entered.is_ok(), "an interrupt that nobody knows is not raised");
        Some(ticket)
    }
}
