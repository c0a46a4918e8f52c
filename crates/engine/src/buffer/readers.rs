//! The threads that read pages for sessions, and the queue in front of them. A thread reads one page at a
//! time and waits for the disk meanwhile, so the number of threads is the depth of reads the disk is given.
//!
//! ```text
//!   push ──> [ requests ] ──pop──> reader ──> disk        1 .. least: always there
//!                 │ somebody waits, nobody is idle, and reads take long: one more
//!                 v
//!             reader ──────────────────────> disk          up to most; ends after a while without work
//! ```
//!
//! Both who queues a read and who takes one look whether there is to be one more: while all threads wait for
//! the disk only the first can, and of many that come at once only the second starts them one after another.
//!
//! `innodb_read_io_threads` is `least`; `most` is sixteen times as many. Where pages come from the operating
//! system's cache reads are short and more threads would only take processors from the sessions: so only
//! reads that take [`SLOW_US`] on the average call for more.

use super::load::Load;
use super::pool::Pool;
use super::storage::abort_on_panic;
use crate::ids::PageNo;
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// Threads for each of those that are always there.
const MOST_FOR_EACH: usize = 16;
/// Reads that take longer, on a moving average, wait for a disk.
const SLOW_US: u64 = 40;
/// A thread beyond the least ends after so long without a request.
const IDLE_MAX: Duration = Duration::from_secs(10);
/// A reader calls little.
const STACK_BYTES: usize = 512 << 10;

/// A page to read, and who waits for it.
type Request = (PageNo, Arc<Load>);

/// The queue, and the threads that serve it.
pub(crate) struct Readers {
    state: Mutex<State>,
    arrived: Condvar,
    /// Moving average of what a read takes; as if slow until some were made.
    read_us: AtomicU64,
}

#[derive(Default)]
struct State {
    requests: VecDeque<Request>,
    open: bool,
    least: usize,
    /// Threads that there are, and those of them that wait for a request.
    running: usize,
    idle: usize,
    threads: Vec<JoinHandle<()>>,
    /// For the threads that are still to be started.
    pool: Weak<Pool>,
}

impl Default for Readers {
    fn default() -> Self {
        Readers { state: Mutex::default(), arrived: Condvar::new(), read_us: AtomicU64::new(2 * SLOW_US) }
    }
}

impl Readers {
    /// Queues a read. Gives the request back when the threads are gone.
    pub(crate) fn push(&self, page_no: PageNo, load: Arc<Load>) -> Result<(), Arc<Load>> {
        let mut state = self.state.lock();
        if !state.open {
            return Err(load);
        }
        state.requests.push_back((page_no, load));
        let more = self.wants_more(&state).then(|| state.pool.upgrade()).flatten();
        state.running += usize::from(more.is_some());
        drop(state);
        self.arrived.notify_one();
        if let Some(pool) = more {
            // If the system gives no thread the ones that there are go on.
            let _ = pool.start_reader();
        }
        Ok(())
    }

    /// The next read to perform, and whether one more thread is to be started for those behind it. None: the
    /// thread, which is no longer counted, ends.
    fn pop(&self) -> Option<(Request, bool)> {
        let mut state = self.state.lock();
        loop {
            if let Some(request) = state.requests.pop_front() {
                let more = self.wants_more(&state);
                state.running += usize::from(more);
                return Some((request, more));
            }
            let spare = state.running > state.least;
            let waits = state.open && {
                state.idle += 1;
                let late = spare && self.arrived.wait_for(&mut state, IDLE_MAX).timed_out();
                if !spare {
                    self.arrived.wait(&mut state);
                }
                state.idle -= 1;
                !late || !state.requests.is_empty() || state.running <= state.least
            };
            if !waits {
                state.running -= 1;
                return None;
            }
        }
    }

    fn wants_more(&self, state: &State) -> bool {
        state.open
            && !state.requests.is_empty()
            && state.idle == 0
            && state.running < state.least * MOST_FOR_EACH
            && self.read_us.load(Ordering::Relaxed) > SLOW_US
    }

    /// A read has taken so long. Each counts a sixteenth; a lost update does no harm.
    fn note(&self, took: Duration) {
        let us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX).min(1_000_000);
        let average = self.read_us.load(Ordering::Relaxed);
        self.read_us.store((average * 15 + us).div_ceil(16), Ordering::Relaxed);
    }

    /// Threads that there are now.
    #[cfg(test)]
    pub(super) fn running(&self) -> usize {
        self.state.lock().running
    }
}

impl Pool {
    /// Starts the threads that are always there.
    pub(crate) fn start_readers(self: &Arc<Self>, least: usize) -> std::io::Result<()> {
        let mut state = self.readers.state.lock();
        (state.open, state.least, state.running) = (true, least, least);
        state.pool = Arc::downgrade(self);
        drop(state);
        (0..least).try_for_each(|_| self.start_reader())
    }

    /// Starts a thread that is counted already.
    fn start_reader(self: &Arc<Self>) -> std::io::Result<()> {
        let pool = Arc::clone(self);
        let builder = Builder::new().name("page-reader".to_owned()).stack_size(STACK_BYTES);
        let started = builder.spawn(move || abort_on_panic(|| pool.serve_reads()));
        let mut state = self.readers.state.lock();
        match started {
            Ok(thread) => {
                state.threads.retain(|one| !one.is_finished());
                state.threads.push(thread);
                Ok(())
            }
            Err(error) => {
                state.running -= 1;
                Err(error)
            }
        }
    }

    fn serve_reads(self: &Arc<Self>) {
        while let Some(((page_no, load), more)) = self.readers.pop() {
            if more {
                // If the system gives no thread the ones that there are go on.
                let _ = self.start_reader();
            }
            let began = Instant::now();
            self.perform(page_no, &load);
            self.readers.note(began.elapsed());
        }
    }

    /// Lets the threads end, when nothing is queued any more, and waits for that. Later reads are performed
    /// by whoever asks.
    pub(crate) fn end_readers(&self) {
        loop {
            let mut state = self.readers.state.lock();
            state.open = false;
            let threads = std::mem::take(&mut state.threads);
            let (running, none) = (state.running, threads.is_empty());
            drop(state);
            self.readers.arrived.notify_all();
            for thread in threads {
                // It cannot have panicked: that ends the process.
                drop(thread.join());
            }
            if running == 0 && none {
                return;
            }
            // One that was being started is noted soon.
            std::thread::yield_now();
        }
    }
}
