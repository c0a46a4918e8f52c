//! The sessions of a group and its ready lists. Only the thread that holds the leader lock is in here.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::events::Socket;
use super::readiness::Readiness;
use super::task::{TaskWaker, take_woken};

/// A worker with one busy client whose last sleep was shorter than this looks for work for so long before it
/// sleeps again: a client that answers at once is not made to wait for a thread to wake up.
pub const LINGER: Duration = Duration::from_micros(50);
/// A worker has one busy client if so many turns in a row had one event. With several, some other client
/// needs the processor.
const LONE_TURNS: u32 = 32;

/// A place in the slab.
pub struct TaskSlot {
    pub handle: Arc<TaskWaker>,
    pub socket: Socket,
    pub readiness: Arc<Readiness>,
}

/// Sessions and ready lists of a group.
#[derive(Default)]
pub struct Core {
    pub slots: Vec<Option<TaskSlot>>,
    pub free: Vec<u32>,
    /// Ready, not yet sorted by priority.
    pub ready: Vec<u32>,
    pub high: VecDeque<u32>,
    pub low: VecDeque<u32>,
    /// Statements that yielded; one of them runs in each turn.
    pub yielded: VecDeque<u32>,
    /// Since when low ones have been made to wait for high ones.
    pub low_since: Option<Instant>,
    /// The last sleep was shorter than [`LINGER`].
    pub slept_shortly: bool,
    /// Turns in a row that had one event.
    pub lone_turns: u32,
    /// The host wants another end of a turn before the thread sleeps.
    pub owes_turn_end: bool,
    /// The last turn ran a slice of a long statement.
    pub ran_long: bool,
}

impl Core {
    /// Collects what this thread has woken; `next` is polled from here on.
    pub fn take_woken(&mut self, next: u32) {
        take_woken(&mut self.ready, &mut self.yielded, next);
    }

    /// Whether the worker may look once more before it sleeps: its last sleep was short, and turn after turn
    /// has had one event.
    pub fn may_linger(&self) -> bool {
        self.slept_shortly && self.lone_turns >= LONE_TURNS
    }

    /// Somebody of this turn has not been polled yet.
    pub fn has_queue(&self) -> bool {
        !self.high.is_empty() || !self.low.is_empty()
    }

    /// Nobody is to be polled, in this turn or the next.
    pub fn is_idle(&self) -> bool {
        self.ready.is_empty() && self.high.is_empty() && self.low.is_empty() && self.yielded.is_empty()
    }

    /// Moves what is ready behind those of its priority.
    pub fn sort(&mut self) {
        let Core { ready, slots, high, low, .. } = self;
        for index in ready.drain(..) {
            let slot = slots.get(index as usize).and_then(Option::as_ref);
            if slot.is_some_and(|slot| slot.readiness.goes_first()) {
                high.push_back(index);
            } else {
                low.push_back(index);
            }
        }
    }

    /// Whether low ones may run now: nobody went before them in this turn, or they have waited long enough.
    pub fn low_may_run(&mut self, high_ran: bool, kickup: Duration) -> bool {
        if self.low.is_empty() {
            return false;
        }
        if high_ran && self.low_since.get_or_insert_with(Instant::now).elapsed() < kickup {
            return false;
        }
        self.low_since = None;
        true
    }
}
