//! A statement's ticket: its slot, its budget, and where it stands for those who look.

use super::gate::{Entry, Gate, QueuedPlace};
use crate::error::Result;
use crate::interrupt::Interrupt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// Most budgets in one slice.
const SLICE_MAX: u64 = 64;

/// Where a session stands with the gate (the states of SHOW ENGINE INNODB STATUS).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Not in the engine, or not counted.
    Outside,
    /// "thread declared inside InnoDB n", with n tickets left.
    Inside(u64),
    /// "waiting in InnoDB queue".
    Queued,
}

/// One per session; read by whoever looks.
#[derive(Debug, Default)]
pub struct Standing {
    place: AtomicU8,
    tickets: AtomicU64,
}

impl Standing {
    /// Of a session that is outside.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }
    /// Where the session stands.
    pub fn place(&self) -> Place {
        match self.place.load(Ordering::Relaxed) {
            0 => Place::Outside,
            1 => Place::Inside(self.tickets.load(Ordering::Relaxed)),
            _ => Place::Queued,
        }
    }
    fn set(&self, place: Place) {
        let (code, tickets) = match place {
            Place::Outside => (0, 0),
            Place::Inside(tickets) => (1, tickets),
            Place::Queued => (2, 0),
        };
        self.tickets.store(tickets, Ordering::Relaxed);
        self.place.store(code, Ordering::Relaxed);
    }
}

/// The right of one statement to run, and its budget of rows. Dropping it gives the slot back.
#[derive(Debug)]
#[must_use = "dropping the ticket leaves the engine"]
pub struct Ticket {
    /// `None` if the statement began without a limit.
    counted: Option<Counted>,
}

#[derive(Debug)]
struct Counted {
    gate: Arc<Gate>,
    standing: Arc<Standing>,
    has_slot: bool,
    /// Rows left in this budget.
    left: u64,
    /// Budgets in a slice, and left of this one.
    slice: u64,
    slice_left: u64,
}

impl Ticket {
    pub(super) fn uncounted() -> Self {
        Ticket { counted: None }
    }

    pub(super) fn counted(gate: Arc<Gate>, standing: Arc<Standing>) -> Self {
        let counted = Counted { gate, standing, has_slot: false, left: 0, slice: 1, slice_left: 1 };
        Ticket { counted: Some(counted) }
    }

    /// Pays for rows just fetched. True: the statement must make way with [`Ticket::yield_turn`] before it goes on.
    pub fn spend(&mut self, rows: u64) -> bool {
        let Some(counted) = &mut self.counted else { return false };
        counted.left = counted.left.saturating_sub(rows);
        if counted.left > 0 {
            counted.standing.tickets.store(counted.left, Ordering::Relaxed);
            return false;
        }
        counted.used_up()
    }

    /// Tickets left; 0 if the statement is not counted.
    pub fn tickets_left(&self) -> u64 {
        self.counted.as_ref().map_or(0, |counted| counted.left)
    }

    /// Gives the slot to the next and queues again at the end. `Err(Killed)` leaves the statement without a slot.
    pub async fn yield_turn(&mut self, interrupt: &Interrupt) -> Result<()> {
        let Some(counted) = &mut self.counted else { return Ok(()) };
        counted.slice = if counted.gate.fresh_waiting() > 0 { 1 } else { SLICE_MAX.min(counted.slice * 2) };
        self.give_back();
        self.take_slot(Entry::Yielded, interrupt).await
    }

    /// Gives the slot back for a lock wait (or any wait at the client's mercy). The budget stays.
    pub fn give_back(&mut self) {
        if let Some(counted) = &mut self.counted {
            counted.give_back();
        }
    }

    /// Takes a slot again after [`Ticket::give_back`], before all newcomers.
    pub async fn resume(&mut self, interrupt: &Interrupt) -> Result<()> {
        self.take_slot(Entry::Returning, interrupt).await
    }

    pub(super) async fn take_slot(&mut self, entry: Entry, interrupt: &Interrupt) -> Result<()> {
        let Some(counted) = &mut self.counted else { return Ok(()) };
        if counted.has_slot {
            return Ok(());
        }
        if let Some(mut waiting) = counted.gate.arrive(entry) {
            counted.standing.set(Place::Queued);
            let admitted = waiting.wait(interrupt).await;
            drop(waiting);
            if let Err(killed) = admitted {
                counted.standing.set(Place::Outside);
                return Err(killed);
            }
        }
        counted.has_slot = true;
        if entry != Entry::Returning || counted.left == 0 {
            counted.left = counted.gate.budget();
            counted.slice_left = counted.slice;
        }
        counted.standing.set(Place::Inside(counted.left));
        Ok(())
    }
}

impl Counted {
    /// A budget is used up: whether somebody else should run now.
    fn used_up(&mut self) -> bool {
        let only_long_ones_wait = self.gate.fresh_waiting() == 0;
        if only_long_ones_wait && (self.gate.waiting() == 0 || self.slice_left > 1) {
            self.slice_left = self.slice_left.saturating_sub(1).max(1);
            self.left = self.gate.budget();
            return false;
        }
        true
    }

    fn give_back(&mut self) {
        if std::mem::take(&mut self.has_slot) {
            self.standing.set(Place::Outside);
            self.gate.leave();
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.give_back();
    }
}

/// A place in a queue of the gate; dropping it before its turn leaves the queue, dropping it with a slot unseen passes it on.
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
