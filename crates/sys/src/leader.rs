//! One works for all: of many threads that need the same thing done, one does it, the others wait and find it done.

use crate::sync::{Condvar, Mutex, wait_on};

/// At most one thread works at a time.
#[derive(Debug)]
pub struct Leader {
    busy: Mutex<bool>,
    free: Condvar,
}

impl Default for Leader {
    fn default() -> Self {
        Self::new()
    }
}

impl Leader {
    /// Nobody works.
    pub fn new() -> Self {
        Leader { busy: Mutex::new(false), free: Condvar::new() }
    }

    /// Runs `work` as the only one, unless `done` holds by the time it is this thread's turn; then `None`.
    pub fn run_unless<R>(&self, done: impl Fn() -> bool, work: impl FnOnce() -> R) -> Option<R> {
        {
            let mut busy = self.busy.lock();
            loop {
                if done() {
                    return None;
                }
                if !*busy {
                    break;
                }
                busy = wait_on(&self.free, busy);
            }
            *busy = true;
        }
        // Given back even if `work` panics, or everybody else would wait for ever.
        let _turn = Turn { leader: self };
        Some(work())
    }
}

struct Turn<'a> {
    leader: &'a Leader,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *self.leader.busy.lock() = false;
        self.leader.free.notify_all();
    }
}

#[cfg(test)]
mod tests;
