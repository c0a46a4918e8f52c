//! The gate: N slots, two queues of places, one short mutex that is never touched while the limit is 0.

use super::ticket::{Standing, Ticket, Waiting};
use crate::api::Settings;
use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::rank;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use turnstile_sys::park::WaitCell;
use turnstile_sys::ranked::RankedMutex;

/// One who waits for a slot.
#[derive(Debug)]
pub(super) struct QueuedPlace {
    pub cell: WaitCell<()>,
    /// It has a slot; set under the gate's mutex, before the cell is completed outside it.
    pub admitted: AtomicBool,
    /// Short, or back from a lock wait: those inside make way for it after one budget.
    pub fresh: bool,
}

#[derive(Debug, Default)]
struct State {
    inside: u64,
    returning: VecDeque<Arc<QueuedPlace>>,
    queue: VecDeque<Arc<QueuedPlace>>,
}

/// How many run and how many wait ("queries inside InnoDB, queries in queue").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GateCounts {
    /// Statements that hold a slot.
    pub inside: u64,
    /// Statements that wait for one.
    pub queued: u64,
}

/// Admits statements to the engine.
#[derive(Debug)]
pub struct Gate {
    settings: Arc<Settings>,
    state: RankedMutex<State>,
    waiting: AtomicU64,
    fresh: AtomicU64,
}

/// How to queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// A new statement.
    Newcomer,
    /// A statement that used up its budget.
    Yielded,
    /// A statement back from a lock wait.
    Returning,
}

impl Gate {
    /// An open gate; limits are read from the settings, live.
    pub fn new(settings: Arc<Settings>) -> Arc<Self> {
        Arc::new(Gate {
            settings,
            state: RankedMutex::new(rank::LEAF, &rank::ADMISSION, State::default()),
            waiting: AtomicU64::new(0),
            fresh: AtomicU64::new(0),
        })
    }

    /// `innodb_thread_concurrency`.
    pub(super) fn limit(&self) -> u64 {
        self.settings.thread_concurrency.load(Ordering::Relaxed)
    }
    /// `innodb_concurrency_tickets`.
    pub(super) fn budget(&self) -> u64 {
        self.settings.concurrency_tickets.load(Ordering::Relaxed).max(1)
    }
    pub(super) fn waiting(&self) -> u64 {
        self.waiting.load(Ordering::Relaxed)
    }
    pub(super) fn fresh_waiting(&self) -> u64 {
        self.fresh.load(Ordering::Relaxed)
    }

    /// Admits a statement, when its turn comes. `Err(Killed)` if the session is killed first.
    pub async fn enter(self: &Arc<Self>, standing: &Arc<Standing>, interrupt: &Interrupt) -> Result<Ticket> {
        if self.limit() == 0 {
            return Ok(Ticket::uncounted());
        }
        let mut ticket = Ticket::counted(self.clone(), standing.clone());
        ticket.take_slot(Entry::Newcomer, interrupt).await?;
        Ok(ticket)
    }

    /// Takes a slot or a place in a queue.
    pub(super) fn arrive(self: &Arc<Self>, entry: Entry) -> Option<Waiting> {
        let limit = self.limit();
        let mut state = self.state.lock();
        let nobody_before =
            state.returning.is_empty() && (entry == Entry::Returning || state.queue.is_empty());
        if limit == 0 || nobody_before && state.inside < limit {
            state.inside += 1;
            return None;
        }
        let place = Arc::new(QueuedPlace {
            cell: WaitCell::new(),
            admitted: AtomicBool::new(false),
            fresh: entry != Entry::Yielded,
        });
        match entry {
            Entry::Returning => state.returning.push_back(place.clone()),
            Entry::Newcomer | Entry::Yielded => state.queue.push_back(place.clone()),
        }
        self.publish(&state, place.fresh, 1);
        Some(Waiting { gate: self.clone(), place: Some(place) })
    }

    /// Gives a slot back and lets the next go.
    pub(super) fn leave(&self) {
        let mut state = self.state.lock();
        state.inside -= 1;
        let admitted = self.admit(&mut state);
        drop(state);
        wake(admitted);
    }

    /// A wait is over before its turn came, or just as it came.
    pub(super) fn abandon(&self, place: &Arc<QueuedPlace>) {
        let mut state = self.state.lock();
        if place.admitted.load(Ordering::Relaxed) {
            drop(state);
            return self.leave();
        }
        state.returning.retain(|other| !Arc::ptr_eq(other, place));
        state.queue.retain(|other| !Arc::ptr_eq(other, place));
        self.publish(&state, place.fresh, -1);
    }

    /// To be called after `innodb_thread_concurrency` was set.
    pub fn limit_changed(&self) {
        let mut state = self.state.lock();
        let admitted = self.admit(&mut state);
        drop(state);
        wake(admitted);
    }

    /// The counts now.
    pub fn counts(&self) -> GateCounts {
        GateCounts { inside: self.state.lock().inside, queued: self.waiting() }
    }

    /// Gives free slots to those who wait; the caller wakes them once the mutex is free.
    fn admit(&self, state: &mut State) -> Vec<Arc<QueuedPlace>> {
        let limit = self.limit();
        let mut admitted = Vec::new();
        while limit == 0 || state.inside < limit {
            let Some(place) = state.returning.pop_front().or_else(|| state.queue.pop_front()) else { break };
            state.inside += 1;
            place.admitted.store(true, Ordering::Relaxed);
            self.publish(state, place.fresh, -1);
            admitted.push(place);
        }
        admitted
    }

    fn publish(&self, state: &State, fresh: bool, change: i64) {
        self.waiting.store((state.returning.len() + state.queue.len()) as u64, Ordering::Relaxed);
        if fresh {
            // Under the mutex, so load and store do not race.
            let fresh = self.fresh.load(Ordering::Relaxed);
            self.fresh.store(fresh.wrapping_add_signed(change), Ordering::Relaxed);
        }
    }
}

fn wake(admitted: Vec<Arc<QueuedPlace>>) {
    for place in admitted {
        place.cell.complete(());
    }
}
