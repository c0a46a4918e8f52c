//! The gate: N slots, two queues of places, one short mutex that is never touched while the limit is 0.

use super::nap::{Nap, NapDelay};
use super::ticket::{AdmissionState, Ticket, Waiting};
use crate::rank;
use crate::settings::Settings;
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use turnstile_sys::park::WaitCell;
use turnstile_sys::ranked::RankedMutex;
use turnstile_sys::sync::atomic::{AtomicBool, AtomicU64, Ordering};

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
    /// Those who sleep before they queue.
    napping: Vec<Arc<WaitCell<()>>>,
}

/// How many run and how many wait ("N queries inside InnoDB, N queries in queue").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GateCounts {
    /// Statements that hold a slot.
    pub inside: u64,
    /// Statements that wait for one.
    pub queued: u64,
    /// Statements that sleep before they queue.
    pub sleeping: u64,
}

/// What is admitted, and so which setting is the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Statements: `innodb_thread_concurrency`.
    Statements,
    /// Commits of transactions that have written: `innodb_commit_concurrency`.
    Commits,
}

/// Admits statements to the engine, or commits to the log.
#[derive(Debug)]
pub struct Gate {
    settings: Arc<Settings>,
    purpose: Purpose,
    state: RankedMutex<State>,
    waiting: AtomicU64,
    fresh: AtomicU64,
    delay: NapDelay,
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

/// What came of an arrival.
pub(super) enum Arrival {
    /// It has a slot.
    In,
    /// It is to sleep, and then to arrive again.
    Nap(Nap),
    /// It has a place in a queue.
    Queued(Waiting),
}

type Admitted = SmallVec<[Arc<QueuedPlace>; 2]>;

impl Gate {
    /// An open gate; limits are read from the settings, live.
    pub fn new(settings: Arc<Settings>, purpose: Purpose) -> Arc<Self> {
        let delay = NapDelay::new(&settings);
        Arc::new(Gate {
            settings,
            purpose,
            state: RankedMutex::new(rank::LEAF, &rank::ADMISSION, State::default()),
            waiting: AtomicU64::new(0),
            fresh: AtomicU64::new(0),
            delay,
        })
    }

    /// The limit as it is set now; 0 for none.
    #[inline]
    pub fn limit(&self) -> u64 {
        let limit = match self.purpose {
            Purpose::Statements => &self.settings.thread_concurrency,
            Purpose::Commits => &self.settings.commit_concurrency,
        };
        limit.load(std::sync::atomic::Ordering::Relaxed)
    }
    /// `innodb_concurrency_tickets`.
    pub(super) fn budget(&self) -> u64 {
        self.settings.concurrency_tickets.load(std::sync::atomic::Ordering::Relaxed).max(1)
    }
    pub(super) fn waiting(&self) -> u64 {
        self.waiting.load(Ordering::Relaxed)
    }
    pub(super) fn fresh_waiting(&self) -> u64 {
        self.fresh.load(Ordering::Relaxed)
    }

    /// A ticket for a statement that begins now, still outside. `None` while there is no limit: one relaxed
    /// load.
    #[inline]
    pub fn ticket(self: &Arc<Self>, admission: &Arc<AdmissionState>) -> Option<Ticket> {
        (self.limit() != 0).then(|| Ticket::new(self.clone(), admission.clone()))
    }

    /// Takes a slot or a place in a queue, or tells how long to sleep first (never one who is `rested` or
    /// returns).
    pub(super) fn arrive(self: &Arc<Self>, entry: Entry, rested: bool) -> Arrival {
        let limit = self.limit();
        let mut state = self.state.lock();
        let nobody_before =
            state.returning.is_empty() && (entry == Entry::Returning || state.queue.is_empty());
        if limit == 0 || nobody_before && state.inside < limit {
            state.inside += 1;
            if state.queue.is_empty() {
                self.delay.shrink(&self.settings);
            }
            return Arrival::In;
        }
        let may_sleep = self.purpose == Purpose::Statements && entry != Entry::Returning;
        if may_sleep
            && !rested
            && let Some(delay) = self.nap_delay()
        {
            let cell = Arc::new(WaitCell::new());
            state.napping.push(cell.clone());
            return Arrival::Nap(Nap::new(self.clone(), cell, delay));
        }
        let place = Arc::new(QueuedPlace {
            cell: WaitCell::new(),
            admitted: AtomicBool::new(false),
            fresh: entry != Entry::Yielded,
        });
        match entry {
            Entry::Returning => state.returning.push_back(place.clone()),
            Entry::Newcomer | Entry::Yielded => {
                if !state.queue.is_empty() {
                    self.delay.grow(&self.settings);
                }
                state.queue.push_back(place.clone());
            }
        }
        self.publish(&state, place.fresh, 1);
        Arrival::Queued(Waiting { gate: self.clone(), place: Some(place) })
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

    /// To be called after the limit was set: lets go all that it allows now, and ends naps.
    pub fn limit_changed(&self) {
        let mut state = self.state.lock();
        let admitted = self.admit(&mut state);
        let napping = std::mem::take(&mut state.napping);
        drop(state);
        wake(admitted);
        for nap in napping {
            nap.complete(());
        }
    }

    /// To be called after `innodb_thread_sleep_delay` was set: the adapted delay begins from it, and naps
    /// end.
    pub fn sleep_delay_changed(&self) {
        self.delay.reset(&self.settings);
        self.limit_changed();
    }

    /// How long somebody who finds the gate full now would sleep.
    pub fn nap_delay(&self) -> Option<Duration> {
        self.delay.get(&self.settings)
    }

    /// Has slept.
    pub(super) fn end_nap(&self, cell: &Arc<WaitCell<()>>) {
        self.state.lock().napping.retain(|other| !Arc::ptr_eq(other, cell));
    }

    /// The counts now.
    pub fn counts(&self) -> GateCounts {
        let state = self.state.lock();
        GateCounts {
            inside: state.inside,
            queued: (state.returning.len() + state.queue.len()) as u64,
            sleeping: state.napping.len() as u64,
        }
    }

    /// Gives free slots to those who wait; the caller wakes them once the mutex is free.
    fn admit(&self, state: &mut State) -> Admitted {
        let limit = self.limit();
        let mut admitted = Admitted::new();
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

fn wake(admitted: Admitted) {
    for place in admitted {
        place.cell.complete(());
    }
}
