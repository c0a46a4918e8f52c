//! Reading a page that is not in memory: one read, any number of waiters, each woken once.
//!
//! The first to miss a page registers a [`Load`] in the page table's shard; others find it there and join.
//! Who performs the read depends on who came first: a session queues it for the reader threads and awaits; a
//! background thread reads itself. Every waiter that is still there when the read ends is given a pin of its
//! own, counted before the page can be seen by the evictor, so a page cannot leave between arrival and use.
//!
//! Order: shard mutex, then the load's mutex.

use super::guard::Pin;
use super::pool::Pool;
use crate::error::Result;
use parking_lot::{Condvar, Mutex};
use std::future::Future;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// One read under way.
pub(crate) struct Load {
    state: Mutex<LoadState>,
    ended: Condvar,
}

#[derive(Default)]
struct LoadState {
    outcome: Option<Result<u32>>,
    /// One entry per waiter that has not gone away; `None` inside until it gives a waker.
    waiters: Vec<Option<Waker>>,
    /// Waiters to be given a pin.
    waiting: u32,
}

impl Load {
    pub(crate) fn new() -> Self {
        Load { state: Mutex::default(), ended: Condvar::new() }
    }

    /// Joins as a waiter, before the read has ended (the shard is held). Returns the waiter's place.
    pub(crate) fn join(&self) -> usize {
        let mut state = self.state.lock();
        state.waiters.push(None);
        state.waiting += 1;
        state.waiters.len() - 1
    }

    /// Waiters that will be given a pin. Called with the shard held, so nobody can join; who leaves from now
    /// on finds the outcome and drops the pin.
    pub(crate) fn finish(&self, install: impl FnOnce(u32) -> Result<u32>) -> Vec<Option<Waker>> {
        let mut state = self.state.lock();
        let outcome = install(state.waiting);
        state.outcome = Some(outcome);
        self.ended.notify_all();
        std::mem::take(&mut state.waiters)
    }

    /// Blocks the thread until the read has ended; consumes the caller's place.
    pub(crate) fn wait_blocking(&self) -> Result<u32> {
        let mut state = self.state.lock();
        loop {
            match &state.outcome {
                Some(outcome) => return outcome.clone(),
                None => self.ended.wait(&mut state),
            }
        }
    }
}

/// Awaits the end of a read; resolves to a pin.
pub(crate) struct LoadWait<'p> {
    pub(crate) pool: &'p Pool,
    pub(crate) load: Arc<Load>,
    pub(crate) place: usize,
    pub(crate) taken: bool,
}

impl<'p> Future for LoadWait<'p> {
    type Output = Result<Pin<'p>>;

    fn poll(mut self: std::pin::Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let load = Arc::clone(&self.load);
        let mut state = load.state.lock();
        match &state.outcome {
            Some(outcome) => {
                self.taken = true;
                let outcome = outcome.clone();
                Poll::Ready(outcome.map(|index| Pin::adopt(&self.pool.frames, index)))
            }
            None => {
                let place = &mut state.waiters[self.place];
                match place {
                    Some(waker) if waker.will_wake(context.waker()) => {}
                    _ => *place = Some(context.waker().clone()),
                }
                Poll::Pending
            }
        }
    }
}

impl Drop for LoadWait<'_> {
    fn drop(&mut self) {
        if self.taken {
            return;
        }
        let mut state = self.load.state.lock();
        match &state.outcome {
            None => {
                state.waiting -= 1;
                let place = self.place;
                state.waiters[place] = None;
            }
            Some(Ok(index)) => drop(Pin::adopt(&self.pool.frames, *index)),
            Some(Err(_)) => {}
        }
    }
}
