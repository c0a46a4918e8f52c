//! A statement's ticket: its slot, its budget, and where it stands for monitoring.

use super::gate::{Arrival, Entry, Gate, QueuedPlace};
use crate::error::Result;
use crate::interrupt::Interrupt;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// Most budgets in one slice.
const SLICE_MAX: u64 = 64;

/// Where a session stands with the gate. Shown ([`fmt::Display`]) in the words of SHOW ENGINE INNODB STATUS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Not in the engine, or not counted.
    Outside,
    /// "thread declared inside InnoDB n", with n tickets left.
    Inside(u64),
    /// "waiting in InnoDB queue".
    Queued,
    /// "sleeping before joining InnoDB queue".
    Sleeping,
}

impl Place {
    /// Tickets left: `trx_concurrency_tickets`.
    pub fn tickets(self) -> u64 {
        if let Place::Inside(tickets) = self { tickets } else { 0 }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Outside => Ok(()),
            Place::Inside(tickets) => write!(out, "thread declared inside InnoDB {tickets}"),
            Place::Queued => out.write_str("waiting in InnoDB queue"),
            Place::Sleeping => out.write_str("sleeping before joining InnoDB queue"),
        }
    }
}

/// One per session; read by whoever looks.
#[derive(Debug, Default)]
pub struct AdmissionState {
    place: AtomicU8,
    tickets: AtomicU64,
}

impl AdmissionState {
    /// Of a session that is outside.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }
    /// Where the session stands.
    pub fn place(&self) -> Place {
        match self.place.load(Ordering::Relaxed) {
            0 => Place::Outside,
            1 => Place::Inside(self.tickets.load(Ordering::Relaxed)),
            2 => Place::Queued,
            _ => Place::Sleeping,
        }
    }
    fn set(&self, place: Place) {
        let code = match place {
            Place::Outside => 0,
            Place::Inside(_) => 1,
            Place::Queued => 2,
            Place::Sleeping => 3,
        };
        self.tickets.store(place.tickets(), Ordering::Relaxed);
        self.place.store(code, Ordering::Relaxed);
    }
}

/// The right of one statement to run, and its budget of rows. It begins outside; dropping it gives the slot
/// back.
#[derive(Debug)]
#[must_use = "dropping the ticket leaves the engine"]
pub struct Ticket {
    gate: Arc<Gate>,
    admission: Arc<AdmissionState>,
    has_slot: bool,
    /// How it will queue when it next comes in.
    entry: Entry,
    /// Rows left in this budget.
    left: u64,
    /// Budgets in a slice, and left of this one.
    slice: u64,
    slice_left: u64,
}

impl Ticket {
    pub(super) fn new(gate: Arc<Gate>, admission: Arc<AdmissionState>) -> Self {
        let entry = Entry::Newcomer;
        Ticket { gate, admission, has_slot: false, entry, left: 0, slice: 1, slice_left: 1 }
    }

    /// Whether [`Ticket::come_in`] has to be called before the next row: the statement is outside, or its
    /// budget is used up.
    #[inline]
    pub fn is_due(&self) -> bool {
        self.left == 0 || !self.has_slot
    }

    /// Pays for rows just fetched or written.
    #[inline]
    pub fn spend(&mut self, rows: u64) {
        self.left = self.left.saturating_sub(rows);
        if self.has_slot {
            self.admission.tickets.store(self.left, Ordering::Relaxed);
        }
    }

    /// Tickets left.
    pub fn tickets_left(&self) -> u64 {
        self.left
    }

    /// Enters when its turn comes; with the budget used up, first makes way if somebody else should run now.
    /// `Err(Killed)` leaves the statement outside.
    pub async fn come_in(&mut self, interrupt: &Interrupt) -> Result<()> {
        if self.has_slot {
            if self.left > 0 || self.goes_on() {
                return Ok(());
            }
            self.slice = if self.gate.fresh_waiting() > 0 { 1 } else { SLICE_MAX.min(self.slice * 2) };
            self.give_back(Entry::Yielded);
        }
        self.take_slot(interrupt).await
    }

    /// Gives the slot back for a lock wait, or any wait at the client's mercy. The budget stays;
    /// [`Ticket::come_in`] takes a slot again, before all newcomers.
    pub fn step_out(&mut self) {
        self.give_back(Entry::Returning);
    }

    /// The budget is used up. True: nobody should run in this statement's place, and it has a new budget.
    fn goes_on(&mut self) -> bool {
        let only_long_ones_wait = self.gate.fresh_waiting() == 0;
        let goes_on = only_long_ones_wait && (self.gate.waiting() == 0 || self.slice_left > 1);
        if goes_on {
            self.slice_left = self.slice_left.saturating_sub(1).max(1);
            self.left = self.gate.budget();
            self.admission.tickets.store(self.left, Ordering::Relaxed);
        }
        goes_on
    }

    async fn take_slot(&mut self, interrupt: &Interrupt) -> Result<()> {
        let mut rested = false;
        loop {
            match self.gate.arrive(self.entry, rested) {
                Arrival::In => break,
                Arrival::Nap(nap) => {
                    self.admission.set(Place::Sleeping);
                    interrupt.interruptible(nap).await?;
                    rested = true;
                }
                Arrival::Queued(mut waiting) => {
                    self.admission.set(Place::Queued);
                    waiting.wait(interrupt).await?;
                    break;
                }
            }
        }
        self.has_slot = true;
        if self.entry != Entry::Returning || self.left == 0 {
            self.left = self.gate.budget();
            self.slice_left = self.slice;
        }
        self.admission.set(Place::Inside(self.left));
        Ok(())
    }

    fn give_back(&mut self, entry: Entry) {
        if std::mem::take(&mut self.has_slot) {
            self.entry = entry;
            self.admission.set(Place::Outside);
            self.gate.leave();
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.admission.set(Place::Outside);
        if self.has_slot {
            self.gate.leave();
        }
    }
}

/// A place in a queue of the gate; dropping it before its turn leaves the queue, dropping it with a slot
/// unseen passes it on.
#[derive(Debug)]
pub(super) struct Waiting {
    pub gate: Arc<Gate>,
    pub place: Option<Arc<QueuedPlace>>,
}

impl Waiting {
    async fn wait(&mut self, interrupt: &Interrupt) -> Result<()> {
        if let Some(place) = &self.place {
            interrupt.interruptible(place.cell.wait()).await?;
        }
        self.place = None;
        Ok(())
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(place) = self.place.take() {
            self.gate.abandon(&place);
        }
    }
}
