//! Deadlines for waits: one thread, started by the first deadline, sleeps until the earliest and wakes what
//! is due.
//!
//! Deadlines are kept in an ordered map, not in a heap with lazy deletion: nearly every lock wait ends long
//! before its timeout, and 100,000 waits a second with a timeout of 50 s would leave five million dead
//! entries in a heap. Setting and dropping a deadline cost one short mutex each; the thread is signalled only
//! if the new deadline is the earliest. A waker may fire a moment after its guard was dropped: a waker is a
//! hint, and its task looks at the clock itself.

use parking_lot::{Condvar, Mutex};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::task::Waker;
use std::time::Instant;

/// Wakes tasks at deadlines.
#[derive(Debug, Default)]
pub struct Timer {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    pending: Mutex<Pending>,
    earlier: Condvar,
}

#[derive(Debug, Default)]
struct Pending {
    /// By deadline, then by order of setting.
    deadlines: BTreeMap<(Instant, u64), Waker>,
    sequence: u64,
    running: bool,
    closed: bool,
}

/// A deadline that is set; dropping it takes it back.
#[derive(Debug)]
#[must_use = "dropping the guard takes the deadline back"]
pub struct TimerGuard {
    shared: Arc<Shared>,
    key: (Instant, u64),
}

impl Timer {
    /// A timer of its own; its thread starts with the first deadline and ends when the timer is dropped.
    pub fn new() -> Self {
        Self::default()
    }

    /// The process's timer.
    pub fn global() -> &'static Timer {
        static GLOBAL: OnceLock<Timer> = OnceLock::new();
        GLOBAL.get_or_init(Timer::new)
    }

    /// Wakes `waker` at `deadline` or a little later, never earlier. A deadline in the past fires at once.
    pub fn wake_at(&self, deadline: Instant, waker: Waker) -> TimerGuard {
        let mut pending = self.shared.pending.lock();
        pending.sequence += 1;
        let key = (deadline, pending.sequence);
        pending.deadlines.insert(key, waker);
        let start = !pending.running;
        pending.running = true;
        let is_first = pending.deadlines.first_key_value().is_some_and(|(first, _)| *first == key);
        drop(pending);
        if start {
            let shared = self.shared.clone();
            std::thread::Builder::new()
                .name("timer".into())
                .spawn(move || shared.run())
                .expect("a thread can be started while the process starts its first wait");
        } else if is_first {
            self.shared.earlier.notify_one();
        }
        TimerGuard { shared: self.shared.clone(), key }
    }

    /// Number of deadlines set and not yet due.
    pub fn pending(&self) -> usize {
        self.shared.pending.lock().deadlines.len()
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        self.shared.pending.lock().closed = true;
        self.shared.earlier.notify_one();
    }
}

impl Drop for TimerGuard {
    fn drop(&mut self) {
        // The waker is dropped after the mutex: its drop runs code of another crate.
        let _waker = self.shared.pending.lock().deadlines.remove(&self.key);
    }
}

impl Shared {
    fn run(&self) {
        let mut due: Vec<Waker> = Vec::new();
        let mut pending = self.pending.lock();
        while !pending.closed {
            let now = Instant::now();
            while let Some(first) = pending.deadlines.first_entry()
                && first.key().0 <= now
            {
                due.push(first.remove());
            }
            if !due.is_empty() {
                drop(pending);
                due.drain(..).for_each(Waker::wake);
                pending = self.pending.lock();
                continue;
            }
            match pending.deadlines.first_key_value().map(|(key, _)| key.0) {
                Some(first) => {
                    self.earlier.wait_until(&mut pending, first);
                }
                None => self.earlier.wait(&mut pending),
            }
        }
    }
}

#[cfg(test)]
mod tests;
