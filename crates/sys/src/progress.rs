//! A position that only grows, and those who wait until it has reached theirs.
//!
//! ```text
//!   waiter                                  the one who advances
//!   reached >= mine? ── Ready               reached = position
//!     │ no: take the mutex                    │ take the mutex
//!     │ look again                            │ take out every waiter <= position
//!     │ leave (position, waker)               │ release it
//!     └── Pending                             └── wake them, outside the mutex
//! ```
//! The second look and the taking out happen under the same mutex, after the store: a waiter either sees the
//! new position or is seen. Waiters are kept in order of position; new ones nearly always belong at the end.

use crate::sync::Mutex;
use crate::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// The position will never be reached: [`Progress::fail`] was called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed;

/// A growing position with waiters.
#[derive(Debug)]
pub struct Progress {
    reached: AtomicU64,
    failed: AtomicBool,
    /// How many wait; changed only under the mutex, read without it.
    waiting: AtomicUsize,
    waiters: Mutex<Waiters>,
}

#[derive(Debug)]
struct Waiters {
    /// By position, then by arrival.
    queue: VecDeque<Waiter>,
    next_serial: u64,
    /// Kept for its memory.
    spare: Vec<Waker>,
}

#[derive(Debug)]
struct Waiter {
    position: u64,
    serial: u64,
    waker: Waker,
}

impl Progress {
    /// Begins at this position.
    pub fn new(position: u64) -> Self {
        Progress {
            reached: AtomicU64::new(position),
            failed: AtomicBool::new(false),
            waiting: AtomicUsize::new(0),
            waiters: Mutex::new(Waiters { queue: VecDeque::new(), next_serial: 0, spare: Vec::new() }),
        }
    }

    /// The position reached.
    pub fn reached(&self) -> u64 {
        self.reached.load(Ordering::Acquire)
    }

    /// Whether waiting is over for good.
    pub fn has_failed(&self) -> bool {
        self.failed.load(Ordering::SeqCst)
    }

    /// Whether anybody waits.
    pub fn has_waiters(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) > 0
    }

    /// The furthest position anybody waits for.
    pub fn furthest_awaited(&self) -> Option<u64> {
        self.waiters.lock().queue.back().map(|waiter| waiter.position)
    }

    /// Moves on to this position, if it is further, and wakes all who waited for no more. Returns how many.
    pub fn advance_to(&self, position: u64) -> usize {
        self.publish(position);
        self.wake_reached()
    }

    /// The first half of [`Progress::advance_to`]: everybody who looks sees the position; nobody is woken
    /// yet.
    pub fn publish(&self, position: u64) {
        self.reached.fetch_max(position, Ordering::SeqCst);
    }

    /// The second half: wakes all whose position is reached, or all if waiting has failed. Returns how many.
    pub fn wake_reached(&self) -> usize {
        let reached = if self.has_failed() { u64::MAX } else { self.reached() };
        self.wake(reached)
    }

    /// Fails everybody who waits for more than is reached, now and later. The sleeping learn it by
    /// [`Progress::wake_reached`].
    pub fn mark_failed(&self) {
        self.failed.store(true, Ordering::SeqCst);
    }

    /// Fails everybody who waits, now and later, and wakes them.
    pub fn fail(&self) {
        self.mark_failed();
        self.wake_reached();
    }

    fn wake(&self, reached: u64) -> usize {
        let mut wakers = {
            let mut waiters = self.waiters.lock();
            let mut wakers = std::mem::take(&mut waiters.spare);
            while waiters.queue.front().is_some_and(|waiter| waiter.position <= reached)
                && let Some(waiter) = waiters.queue.pop_front()
            {
                wakers.push(waiter.waker);
            }
            self.waiting.store(waiters.queue.len(), Ordering::SeqCst);
            wakers
        };
        let count = wakers.len();
        for waker in wakers.drain(..) {
            waker.wake();
        }
        if count > 0 {
            self.waiters.lock().spare = wakers;
        }
        count
    }

    /// Waits until the position is reached. Dropping the future ends the wait.
    pub fn wait(&self, position: u64) -> Wait<'_> {
        Wait { progress: self, position, serial: None }
    }

    fn state(&self, position: u64) -> Poll<Result<(), Failed>> {
        if self.reached.load(Ordering::SeqCst) >= position {
            Poll::Ready(Ok(()))
        } else if self.has_failed() {
            Poll::Ready(Err(Failed))
        } else {
            Poll::Pending
        }
    }
}

impl Waiters {
    fn find(&self, position: u64, serial: u64) -> Option<usize> {
        self.queue.binary_search_by_key(&(position, serial), |w| (w.position, w.serial)).ok()
    }

    fn add(&mut self, position: u64, waker: Waker) -> u64 {
        let serial = self.next_serial;
        self.next_serial += 1;
        let at = match self.queue.back() {
            Some(last) if last.position > position => {
                self.queue.partition_point(|waiter| waiter.position <= position)
            }
            _ => self.queue.len(),
        };
        self.queue.insert(at, Waiter { position, serial, waker });
        serial
    }
}

/// The future of [`Progress::wait`].
#[derive(Debug)]
#[must_use]
pub struct Wait<'a> {
    progress: &'a Progress,
    position: u64,
    /// Set while it has an entry in the queue, as far as it knows.
    serial: Option<u64>,
}

impl Future for Wait<'_> {
    type Output = Result<(), Failed>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let progress = self.progress;
        if let ready @ Poll::Ready(_) = progress.state(self.position) {
            return ready;
        }
        let mut waiters = progress.waiters.lock();
        if let ready @ Poll::Ready(_) = progress.state(self.position) {
            return ready;
        }
        match self.serial.and_then(|serial| waiters.find(self.position, serial)) {
            Some(at) => waiters.queue[at].waker.clone_from(context.waker()),
            None => self.serial = Some(waiters.add(self.position, context.waker().clone())),
        }
        progress.waiting.store(waiters.queue.len(), Ordering::SeqCst);
        Poll::Pending
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        let Some(serial) = self.serial else { return };
        if self.progress.reached() >= self.position {
            return; // Taken out by the one who advanced, or about to be; a late wake of a finished wait is harmless.
        }
        let mut waiters = self.progress.waiters.lock();
        if let Some(at) = waiters.find(self.position, serial) {
            waiters.queue.remove(at);
            self.progress.waiting.store(waiters.queue.len(), Ordering::SeqCst);
        }
    }
}

#[cfg(test)]
mod tests;
