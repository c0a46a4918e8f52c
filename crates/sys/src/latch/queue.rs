//! Who waits for a latch, in order of arrival, and how each of them sleeps and is woken.

use crate::contention::Wanted;
use crate::sync::atomic::{AtomicU32, Ordering};
use crate::sync::{Arc, Sleeper};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// At most this long the queue loses to those that run, before the latch is handed on in order.
pub const FAIR_EVERY: Duration = Duration::from_millis(1);

/// Readers woken at once to compete; those let in by a hand-on in order are not limited.
const COMPETE_MAX: usize = 4;

/// What a waiter wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Reader,
    Writer,
}

impl Side {
    pub(super) fn wanted(self) -> Wanted {
        match self {
            Side::Reader => Wanted::Shared,
            Side::Writer => Wanted::Exclusive,
        }
    }
}

const ASLEEP: u32 = 0;
const COMPETE: u32 = 1;
const GRANTED: u32 = 2;

/// A thread that sleeps, or is about to.
#[derive(Debug)]
pub(super) struct Waiter {
    side: Side,
    told: AtomicU32,
    sleeper: Sleeper,
}

impl Waiter {
    pub(super) fn new(side: Side) -> Self {
        Waiter { side, told: AtomicU32::new(ASLEEP), sleeper: Sleeper::default() }
    }

    pub(super) fn side(&self) -> Side {
        self.side
    }

    /// Sleeps until woken; true if the hold was given to it.
    pub(super) fn sleep(&self) -> bool {
        loop {
            match self.told.load(Ordering::Acquire) {
                ASLEEP => self.sleeper.sleep(),
                told => return told == GRANTED,
            }
        }
    }

    /// Ends the sleep. Called outside the queue's mutex, once for each time it was taken out of the queue.
    pub(super) fn wake(&self, granted: bool) {
        self.told.store(if granted { GRANTED } else { COMPETE }, Ordering::Release);
        self.sleeper.rouse();
    }
}

/// The queue of one latch.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: VecDeque<Arc<Waiter>>,
    /// Woken to compete, and not back.
    competing: usize,
    /// The writer that has claimed the latch and sleeps until the readers inside have left.
    pub(super) drainer: Option<Arc<Waiter>>,
    /// When the latch was last handed on in order, or began to have a queue.
    fair_at: Option<Instant>,
}

impl Queue {
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(super) fn push_back(&mut self, waiter: &Arc<Waiter>) {
        if self.waiting.is_empty() && self.competing == 0 {
            self.fair_at = None;
        }
        self.waiting.push_back(Arc::clone(waiter));
    }

    /// One that competed and lost: nobody but itself has a hand on it, so it may forget what it was told.
    pub(super) fn push_front(&mut self, waiter: &Arc<Waiter>) {
        waiter.told.store(ASLEEP, Ordering::Relaxed);
        self.waiting.push_front(Arc::clone(waiter));
    }

    /// One that was woken to compete is back; true if it was the last.
    pub(super) fn came(&mut self) -> bool {
        self.competing -= 1;
        self.competing == 0
    }

    /// Whom to let in directly, if it is time: the writer at the head, or all readers.
    pub(super) fn pop_in_order(&mut self) -> Vec<Arc<Waiter>> {
        // A model has no time to pass: it tries both ways of handing on, depending on who waits.
        let now = Instant::now();
        let due = if cfg!(any(loom, shuttle)) {
            self.waiting.len() > 1
        } else {
            now.duration_since(*self.fair_at.get_or_insert(now)) >= FAIR_EVERY
        };
        if !due {
            return Vec::new();
        }
        self.fair_at = Some(now);
        match self.waiting.front().map(|first| first.side) {
            Some(Side::Reader) => self.pop_readers(usize::MAX),
            _ => self.waiting.pop_front().into_iter().collect(),
        }
    }

    /// Whom to wake to compete: the writer at the head, or some readers.
    pub(super) fn pop_to_compete(&mut self) -> Vec<Arc<Waiter>> {
        let woken = match self.waiting.front().map(|first| first.side) {
            Some(Side::Reader) => self.pop_readers(COMPETE_MAX),
            _ => self.waiting.pop_front().into_iter().collect::<Vec<_>>(),
        };
        self.competing += woken.len();
        woken
    }

    fn pop_readers(&mut self, max: usize) -> Vec<Arc<Waiter>> {
        let mut readers = Vec::new();
        self.waiting.retain(|waiter| {
            let taken = waiter.side == Side::Reader && readers.len() < max;
            if taken {
                readers.push(Arc::clone(waiter));
            }
            !taken
        });
        readers
    }
}
