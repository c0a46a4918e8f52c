//! The log's own thread: sleeps until somebody asks for a sync, or, in the modes that sync once a second, for
//! that long. It starts when first needed, so that a single-threaded simulation never has one.

use super::FlushMode;
use super::shared::Shared;
use crate::ids::Lsn;
use std::sync::Arc;
use std::time::{Duration, Instant};
use turnstile_sys::sync::thread::{Builder, JoinHandle};
use turnstile_sys::sync::{Condvar, Mutex, wait_on, wait_on_until};

const PERIOD: Duration = Duration::from_secs(1);

pub(super) struct LogThread {
    requests: Arc<Requests>,
    shared: Arc<Shared>,
    handle: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct Requests {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Furthest position anybody asked for.
    asked: Lsn,
    /// Something was asked since the thread last looked.
    woken: bool,
    sleeping: bool,
    ending: bool,
}

impl LogThread {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        LogThread { requests: Arc::default(), shared, handle: Mutex::new(None) }
    }

    pub(super) fn ensure_running(&self) {
        let mut handle = self.handle.lock();
        if handle.is_some() {
            return;
        }
        let (requests, shared) = (Arc::clone(&self.requests), Arc::clone(&self.shared));
        let thread = Builder::new().name("log-writer".into()).spawn(move || run(&requests, &shared));
        match thread {
            Ok(thread) => *handle = Some(thread),
            Err(cause) => {
                let _ = self.shared.stop(&format!("the log writer's thread cannot start: {cause}"));
            }
        }
    }

    /// Has the thread sync up to this position.
    pub(super) fn ask(&self, lsn: Lsn) {
        let mut state = self.requests.state.lock();
        state.asked = state.asked.max(lsn);
        state.woken = true;
        if state.sleeping {
            state.sleeping = false;
            drop(state);
            self.requests.changed.notify_one();
        }
    }

    /// Ends the thread and waits for it.
    pub(super) fn end(&self) {
        self.requests.state.lock().ending = true;
        self.requests.changed.notify_one();
        if let Some(handle) = self.handle.lock().take() {
            // It panics only if the log is broken, and then it has stopped already.
            let _ = handle.join();
        }
    }
}

fn run(requests: &Requests, shared: &Shared) {
    let mut next_period = Instant::now() + PERIOD;
    while let Some(asked) = sleep(requests, shared, next_period) {
        // A failure has stopped the log and told everybody who waits; there is nobody else to tell.
        let _ = shared.flush_to(asked);
        if Instant::now() >= next_period {
            next_period = Instant::now() + PERIOD;
            if shared.flush_mode() != FlushMode::Sync {
                let _ = shared.flush_to(shared.buffer.end());
            }
        }
    }
}

/// Sleeps until asked or due. `None` when the thread is to end.
fn sleep(requests: &Requests, shared: &Shared, next_period: Instant) -> Option<Lsn> {
    let mut state = requests.state.lock();
    loop {
        if state.ending {
            return None;
        }
        let periodic = shared.flush_mode() != FlushMode::Sync;
        if state.woken || (periodic && Instant::now() >= next_period) {
            state.woken = false;
            return Some(state.asked);
        }
        state.sleeping = true;
        state = if periodic {
            wait_on_until(&requests.changed, state, next_period)
        } else {
            wait_on(&requests.changed, state)
        };
        state.sleeping = false;
    }
}
