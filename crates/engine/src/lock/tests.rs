//! Tests of the lock room, by theme. Futures are polled by hand, so an interleaving is a sequence of lines;
//! nothing sleeps to "make sure".
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]
#![cfg_attr(shuttle, allow(dead_code, reason = "the models use a part of it"))]

#[cfg(not(shuttle))]
mod deadlock;
#[cfg(not(shuttle))]
mod graph;
#[cfg(not(shuttle))]
mod hand_on;
#[cfg(not(shuttle))]
mod hot_rows;
#[cfg(not(shuttle))]
mod matrix;
#[cfg(not(shuttle))]
mod model;
#[cfg(not(shuttle))]
mod precedence;
#[cfg(shuttle)]
mod races_shuttle;
#[cfg(not(shuttle))]
mod stress;
#[cfg(not(shuttle))]
mod waiting;

use super::mode::RECORD_X;
use super::*;
use crate::ids::IndexId;
use crate::settings::Settings;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker as TaskWaker};
use std::time::Duration;

const INDEX: IndexId = IndexId(7);
const FOR_LONG: Patience<'static> = Patience { timeout: Duration::from_secs(50), interrupt: None };

fn table() -> LockTable {
    LockTable::new(Arc::new(Settings::default()))
}

fn row(key: &[u8]) -> LockName<'_> {
    LockName::row(INDEX, key)
}

#[derive(Default)]
struct Wakes {
    all: AtomicUsize,
    /// Those that were to run on the waking thread.
    handed: AtomicUsize,
}

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.all.fetch_add(1, Ordering::SeqCst);
        self.handed.fetch_add(usize::from(turnstile_sys::handoff::is_handed()), Ordering::SeqCst);
    }
}

/// A wait polled by hand, and how often it was woken.
struct Hand<'a> {
    wait: Pin<Box<Wait<'a>>>,
    wakes: Arc<Wakes>,
}

impl<'a> Hand<'a> {
    /// Begins the wait: polled once.
    fn begin(wait: Wait<'a>) -> Self {
        let mut hand = Hand { wait: Box::pin(wait), wakes: Arc::default() };
        assert_eq!(hand.poll(), None, "expected to wait");
        hand
    }
    /// Begins the wait, and says how it ended if it has, which leaves the queue otherwise.
    fn begin_or_end(wait: Wait<'a>) -> Option<Outcome> {
        Hand { wait: Box::pin(wait), wakes: Arc::default() }.poll()
    }
    fn poll(&mut self) -> Option<Outcome> {
        let waker = TaskWaker::from(self.wakes.clone());
        match self.wait.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(outcome) => Some(outcome),
            Poll::Pending => None,
        }
    }
    fn wakes(&self) -> usize {
        self.wakes.all.load(Ordering::SeqCst)
    }
    fn handed(&self) -> usize {
        self.wakes.handed.load(Ordering::SeqCst)
    }
}

/// Runs a future on this thread, parked while it waits.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(std::thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = TaskWaker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = std::pin::pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        std::thread::park();
    }
}
