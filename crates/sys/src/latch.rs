//! The latch: a thread's short hold on a page or structure, shared by readers or exclusive to a writer. Never
//! held across a wait of a session: the guards cannot be sent to another thread.
//!
//! ```text
//!   state:  | readers ... | drain parked | woken | queued | writer |
//!
//!   a writer enters in two steps:   claim: sets the writer bit, which keeps everybody else out
//!                                   drain: waits until the readers inside have left
//!   a reader enters unless the writer bit is set
//! ```
//!
//! Only the writer bit keeps anybody out, so whoever cannot enter waits for one thing: that the bit is
//! cleared. It spins for a while, then parks in a queue, first come first served. The drain has a parking
//! place of its own: there is one claimer at a time, and the last reader out wakes it.
//!
//! **Handing on.** A leaving writer wakes the head of the queue and frees the latch: the woken one competes
//! with those that run, and usually loses to them, which is what keeps the latch busy while the woken one is
//! being scheduled. The `woken` bit says that such a one is on its way, and while it is set nobody wakes
//! another. If it loses it goes back to the head of the queue. Competing is bounded: once [`FAIR_EVERY`] has
//! passed since the latch was last handed on in order, a leaving writer gives it to the head directly, a
//! writer alone or all queued readers together.
//!
//! The argument, for progress of both sides:
//! 1. *Nobody is forgotten.* While the queue is not empty, the writer bit is set or the woken bit is: a
//!    thread that queues does so only while the writer bit is set; a writer that leaves and finds no woken
//!    bit wakes somebody; a woken one that enters gives the bit on to the next in the queue, and one that
//!    loses clears it only while the writer bit is set.
//! 2. *A writer waits for a bounded time.* Readers cannot keep it out once it has claimed, and those inside
//!    leave. It claims at the latest when it is the head at a hand-on in order; the queue ahead of it only
//!    shrinks, by one writer or one batch of readers each [`FAIR_EVERY`] plus one hold and one wake-up.
//! 3. *A reader likewise.* It stands in the same queue, and all readers queued at a hand-on in order that
//!    finds a reader at the head are let in together: readers wait for no more writers than were queued
//!    before the first of them.
//!
//! (Letting readers pass in batches between writers is the idea of phase-fair locks: Brandenburg and
//! Anderson, "Spin-based reader-writer synchronization for multiprocessor real-time systems", 2010. Competing
//! with a bound is the idea of eventual fairness, as in WebKit's WTF::Lock.)
//!
//! A thread must not take a shared hold twice: a writer that claims in between would stop the second one for
//! ever.
//!
//! | field | changed by | under |
//! |---|---|---|
//! | writer bit, reader count | anybody, by compare-and-swap or subtraction | nothing |
//! | queued, woken, drain parked | who parks, who wakes, who was woken | the queue's mutex |
//! | queue | the same | the queue's mutex |

mod queue;

use crate::contention::spin;
pub use crate::contention::{LatchClass, Wanted};
use crate::sync::atomic::{AtomicU32, Ordering};
use crate::sync::{Arc, Mutex, MutexGuard};
use queue::{Queue, Side, Waiter};
use std::marker::PhantomData;
use std::panic::Location;

pub use crate::contention::{
    ClassKind, LatchStats, WaitStats, WaitingNow, classes, latch_classes, set_pause_multiplier,
    set_spin_delay, set_spin_rounds, wait_array, waiting_now,
};
pub use queue::FAIR_EVERY;

const WRITER: u32 = 1;
const QUEUED: u32 = 2;
const WOKEN: u32 = 4;
const DRAIN_PARKED: u32 = 8;
const READER: u32 = 16;
const READERS: u32 = !(READER - 1);

static UNCLASSED: LatchClass = LatchClass::new("other");

/// A reader-writer latch without data: it guards what its owner says it guards.
pub struct Latch {
    state: AtomicU32,
    queue: Mutex<Queue>,
    class: &'static LatchClass,
}

impl std::fmt::Debug for Latch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = self.state.load(Ordering::Relaxed);
        f.debug_struct("Latch")
            .field("class", &self.class.name())
            .field("readers", &(state / READER))
            .field("writer", &(state & WRITER != 0))
            .finish()
    }
}

impl Default for Latch {
    fn default() -> Self {
        Self::new()
    }
}

impl Latch {
    /// A free latch of no particular class.
    pub fn new() -> Self {
        Self::of_class(&UNCLASSED)
    }

    /// A free latch whose waits are counted in this class.
    pub fn of_class(class: &'static LatchClass) -> Self {
        class.list();
        Latch { state: AtomicU32::new(0), queue: Mutex::new(Queue::default()), class }
    }

    /// Waits for a shared hold.
    #[inline]
    #[track_caller]
    pub fn lock_shared(&self) {
        if !self.try_lock_shared() {
            self.lock_shared_slow(self.class, Location::caller());
        }
    }

    /// Waits for the exclusive hold.
    #[inline]
    #[track_caller]
    pub fn lock_exclusive(&self) {
        let free = self.state.compare_exchange(0, WRITER, Ordering::Acquire, Ordering::Relaxed);
        if free.is_err() {
            self.lock_exclusive_slow(self.class, Location::caller());
        }
    }

    /// As [`Latch::lock_shared`], counting a wait in another class: what a latch guards may change over its
    /// life.
    #[inline]
    #[track_caller]
    pub fn lock_shared_as(&self, class: impl FnOnce() -> &'static LatchClass) {
        if !self.try_lock_shared() {
            self.lock_shared_slow(class(), Location::caller());
        }
    }

    /// As [`Latch::lock_exclusive`], counting a wait in another class.
    #[inline]
    #[track_caller]
    pub fn lock_exclusive_as(&self, class: impl FnOnce() -> &'static LatchClass) {
        let free = self.state.compare_exchange(0, WRITER, Ordering::Acquire, Ordering::Relaxed);
        if free.is_err() {
            self.lock_exclusive_slow(class(), Location::caller());
        }
    }

    /// Takes a shared hold if that needs no waiting.
    #[must_use]
    #[inline]
    pub fn try_lock_shared(&self) -> bool {
        self.change(|state| (state & WRITER == 0).then(|| state + READER), Ordering::Acquire)
    }

    /// Takes the exclusive hold if that needs no waiting.
    #[must_use]
    #[inline]
    pub fn try_lock_exclusive(&self) -> bool {
        self.change(|state| (state & (WRITER | READERS) == 0).then_some(state | WRITER), Ordering::Acquire)
    }

    /// First step of a writer: keeps everybody else out.
    fn try_claim(&self) -> bool {
        self.change(|state| (state & WRITER == 0).then_some(state | WRITER), Ordering::Acquire)
    }

    fn try_enter(&self, side: Side) -> bool {
        match side {
            Side::Reader => self.try_lock_shared(),
            Side::Writer => self.try_claim(),
        }
    }

    /// Changes the state as long as `next` gives a new one; false once it does not.
    #[inline]
    fn change(&self, next: impl Fn(u32) -> Option<u32>, order: Ordering) -> bool {
        let mut state = self.state.load(Ordering::Relaxed);
        while let Some(wanted) = next(state) {
            match self.state.compare_exchange_weak(state, wanted, order, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(found) => state = found,
            }
        }
        false
    }

    #[cold]
    fn lock_shared_slow(&self, class: &'static LatchClass, place: &'static Location<'static>) {
        let mut rounds = 0;
        let entered =
            spin(&mut rounds, || self.state.load(Ordering::Relaxed) & WRITER == 0 && self.try_lock_shared());
        class.count_spin(Wanted::Shared, rounds);
        if !entered {
            self.enter_by_queue(Side::Reader, class, place);
        }
    }

    #[cold]
    fn lock_exclusive_slow(&self, class: &'static LatchClass, place: &'static Location<'static>) {
        if self.try_lock_exclusive() {
            return;
        }
        let mut rounds = 0;
        if !self.try_claim() && !spin(&mut rounds, || self.try_claim()) {
            self.enter_by_queue(Side::Writer, class, place);
        }
        let drained = || self.state.load(Ordering::Acquire) & READERS == 0;
        let left = drained() || spin(&mut rounds, drained);
        class.count_spin(Wanted::Exclusive, rounds);
        if !left {
            self.park_for_drain(class, place);
        }
    }

    /// Parks until it is let in, or woken and faster than the others. A writer has then claimed, not drained.
    fn enter_by_queue(&self, side: Side, class: &'static LatchClass, place: &'static Location<'static>) {
        let waiter = Arc::new(Waiter::new(side));
        let mut queue = self.queue.lock();
        if !self.queue_up(side, QUEUED, 0) {
            return;
        }
        queue.push_back(&waiter);
        loop {
            drop(queue);
            let parked = class.park(side.wanted(), place);
            let granted = waiter.sleep();
            drop(parked);
            if granted {
                return;
            }
            let mut rounds = 0;
            let mut entered = self.try_enter(side) || spin(&mut rounds, || self.try_enter(side));
            class.count_spin(side.wanted(), rounds);
            queue = self.queue.lock();
            let last = queue.came();
            // Whoever is last of those woken has the woken bit to give on or to clear.
            if !entered {
                let clear = if last { WOKEN } else { 0 };
                entered = !self.queue_up(side, QUEUED, clear);
            }
            if entered {
                return if last {
                    self.give_on(queue, side)
                };
            }
            queue.push_front(&waiter);
        }
    }

    /// With the queue's mutex: either the latch is entered now (false), or the writer bit was seen together
    /// with setting `set` and clearing `clear` (true).
    fn queue_up(&self, side: Side, set: u32, clear: u32) -> bool {
        loop {
            if self.change(|state| (state & WRITER != 0).then_some((state | set) & !clear), Ordering::Relaxed)
            {
                return true;
            }
            if self.try_enter(side) {
                return false;
            }
        }
    }

    /// The last of those woken has entered. A writer wakes others when it leaves; a reader, who may leave
    /// unnoticed among others, wakes the next now. If nobody is woken, the bits are cleared.
    fn give_on(&self, mut queue: MutexGuard<'_, Queue>, side: Side) {
        let woken = if side == Side::Reader { queue.pop_to_compete() } else { Vec::new() };
        let clear = if woken.is_empty() { WOKEN } else { 0 } | if queue.is_empty() { QUEUED } else { 0 };
        if clear != 0 {
            self.state.fetch_and(!clear, Ordering::Relaxed);
        }
        drop(queue);
        woken.iter().for_each(|waiter| waiter.wake(false));
    }

    fn park_for_drain(&self, class: &'static LatchClass, place: &'static Location<'static>) {
        let waiter = Arc::new(Waiter::new(Side::Writer));
        let mut queue = self.queue.lock();
        // Either the readers are gone, or the last of them sees the bit.
        let stays = |state: u32| (state & READERS != 0).then_some(state | DRAIN_PARKED);
        if !self.change(stays, Ordering::Acquire) {
            // The failing look was relaxed; this one sees all that the readers did.
            let _ = self.state.load(Ordering::Acquire);
            return;
        }
        queue.drainer = Some(Arc::clone(&waiter));
        drop(queue);
        let _parked = class.park(Wanted::Exclusive, place);
        waiter.sleep();
    }

    /// Gives a shared hold back.
    ///
    /// # Safety
    /// The caller has a shared hold and gives it up by this call.
    #[expect(unsafe_code, reason = "releasing a hold that is not held would let two writers in")]
    #[inline]
    pub unsafe fn unlock_shared(&self) {
        let before = self.state.fetch_sub(READER, Ordering::Release);
        debug_assert!(before & READERS != 0, "a shared hold is released that nobody has");
        if before & (READERS | DRAIN_PARKED) == READER | DRAIN_PARKED {
            self.wake_drainer();
        }
    }

    /// Gives the exclusive hold back.
    ///
    /// # Safety
    /// The caller has the exclusive hold and gives it up by this call.
    #[expect(unsafe_code, reason = "releasing a hold that is not held would let two writers in")]
    #[inline]
    pub unsafe fn unlock_exclusive(&self) {
        debug_assert!(self.state.load(Ordering::Relaxed) & WRITER != 0, "nobody has the exclusive hold");
        let alone = self.state.compare_exchange(WRITER, 0, Ordering::Release, Ordering::Relaxed);
        if alone.is_err() {
            self.unlock_exclusive_slow();
        }
    }

    #[cold]
    fn wake_drainer(&self) {
        let mut queue = self.queue.lock();
        let drainer = queue.drainer.take();
        self.state.fetch_and(!DRAIN_PARKED, Ordering::Acquire);
        drop(queue);
        if let Some(waiter) = drainer {
            waiter.wake(true);
        }
    }

    #[cold]
    fn unlock_exclusive_slow(&self) {
        let nobody_to_wake = |state: u32| state & (QUEUED | WOKEN) != QUEUED;
        if self.change(|state| nobody_to_wake(state).then_some(state & !WRITER), Ordering::Release) {
            return;
        }
        let mut queue = self.queue.lock();
        // The woken bit was clear, so it stays so while this thread has the mutex, and nobody enters while
        // the writer bit is set: the stores below have no competition.
        let granted = queue.pop_in_order();
        let woken = if granted.first().is_some_and(|first| first.side() == Side::Writer) {
            Vec::new()
        } else {
            queue.pop_to_compete()
        };
        let mut next = match granted.first().map(|first| first.side()) {
            Some(Side::Writer) => WRITER,
            Some(Side::Reader) => READER * granted.len() as u32,
            None => 0,
        };
        next |= if queue.is_empty() { 0 } else { QUEUED };
        next |= if woken.is_empty() { 0 } else { WOKEN };
        self.state.store(next, Ordering::Release);
        drop(queue);
        granted.iter().for_each(|waiter| waiter.wake(true));
        woken.iter().for_each(|waiter| waiter.wake(false));
    }

    /// Waits for a shared hold and returns it as a guard.
    #[inline]
    #[track_caller]
    pub fn read(&self) -> LatchReadGuard<'_> {
        self.lock_shared();
        LatchReadGuard { latch: self, stay: PhantomData }
    }

    /// Waits for the exclusive hold and returns it as a guard.
    #[inline]
    #[track_caller]
    pub fn write(&self) -> LatchWriteGuard<'_> {
        self.lock_exclusive();
        LatchWriteGuard { latch: self, stay: PhantomData }
    }

    /// A shared hold as a guard, if that needs no waiting.
    #[inline]
    pub fn try_read(&self) -> Option<LatchReadGuard<'_>> {
        self.try_lock_shared().then(|| LatchReadGuard { latch: self, stay: PhantomData })
    }

    /// The exclusive hold as a guard, if that needs no waiting.
    #[inline]
    pub fn try_write(&self) -> Option<LatchWriteGuard<'_>> {
        self.try_lock_exclusive().then(|| LatchWriteGuard { latch: self, stay: PhantomData })
    }
}

/// A raw pointer is neither `Send` nor `Sync`; so is what contains this.
type StayOnThread = PhantomData<*const ()>;

/// A shared hold, given back when dropped.
#[derive(Debug)]
#[must_use]
pub struct LatchReadGuard<'a> {
    latch: &'a Latch,
    stay: StayOnThread,
}

impl Drop for LatchReadGuard<'_> {
    #[inline]
    #[expect(unsafe_code, reason = "gives back the hold this guard stands for")]
    fn drop(&mut self) {
        // SAFETY: a guard is made only after its hold was taken, and is dropped once.
        unsafe { self.latch.unlock_shared() }
    }
}

/// The exclusive hold, given back when dropped.
#[derive(Debug)]
#[must_use]
pub struct LatchWriteGuard<'a> {
    latch: &'a Latch,
    stay: StayOnThread,
}

impl Drop for LatchWriteGuard<'_> {
    #[inline]
    #[expect(unsafe_code, reason = "gives back the hold this guard stands for")]
    fn drop(&mut self) {
        // SAFETY: a guard is made only after its hold was taken, and is dropped once.
        unsafe { self.latch.unlock_exclusive() }
    }
}

#[cfg(test)]
mod tests;
