//! One works for all: of many threads that need the same thing done, one does it, the others wait and find it
//! done.

use crate::sync::{Condvar, Mutex, wait_on};

/// At most one thread works at a time. Who finds somebody at work may wait ([`Leader::run_unless`]) or leave
/// the work to it ([`Leader::lead_or_leave`]): then it is the worker's duty to ask [`Leader::take_left`] when
/// it is done, and to see to it that the work is done once more.
#[derive(Debug)]
pub struct Leader {
    state: Mutex<State>,
    free: Condvar,
}

#[derive(Debug, Default)]
struct State {
    busy: bool,
    /// Somebody has left work to the present leader.
    left: bool,
}

/// What became of [`Leader::lead_or_leave`].
#[derive(Debug, PartialEq, Eq)]
pub enum Lead<R> {
    /// Nothing was to be done.
    Done,
    /// Somebody is at work, and will hear of it.
    Left,
    /// The work was done here.
    Led(R),
}

impl Default for Leader {
    fn default() -> Self {
        Self::new()
    }
}

impl Leader {
    /// Nobody works.
    pub fn new() -> Self {
        Leader { state: Mutex::default(), free: Condvar::new() }
    }

    /// Runs `work` as the only one, unless `done` holds by the time it is this thread's turn; then `None`.
    pub fn run_unless<R>(&self, done: impl Fn() -> bool, work: impl FnOnce() -> R) -> Option<R> {
        {
            let mut state = self.state.lock();
            loop {
                if done() {
                    return None;
                }
                if !state.busy {
                    break;
                }
                state = wait_on(&self.free, state);
            }
            *state = State { busy: true, left: false };
        }
        Some(self.lead(work))
    }

    /// Runs `work` as the only one, unless `done` holds already, or leaves it to whoever is at work.
    pub fn lead_or_leave<R>(&self, done: impl Fn() -> bool, work: impl FnOnce() -> R) -> Lead<R> {
        {
            let mut state = self.state.lock();
            if done() {
                return Lead::Done;
            }
            if state.busy {
                state.left = true;
                return Lead::Left;
            }
            // What was left so far is part of the work that begins.
            *state = State { busy: true, left: false };
        }
        Lead::Led(self.lead(work))
    }

    fn lead<R>(&self, work: impl FnOnce() -> R) -> R {
        // Given back even if `work` panics, or everybody else would wait for ever.
        let _turn = Turn { leader: self };
        work()
    }

    /// Whether work was left to the last leader and nobody is at it yet; who is told has the duty now.
    pub fn take_left(&self) -> bool {
        let mut state = self.state.lock();
        !state.busy && std::mem::take(&mut state.left)
    }
}

struct Turn<'a> {
    leader: &'a Leader,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.leader.state.lock().busy = false;
        self.leader.free.notify_all();
    }
}

#[cfg(test)]
mod tests;
