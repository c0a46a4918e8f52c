//! The latch: a thread's short hold on a page or structure, shared by readers or exclusive to a writer. Never held across
//! a wait of a session: the guards cannot be sent to another thread.
//!
//! ```text
//!   state:  | readers ... | readers parked | writers parked | writer |
//!
//!   free, no writer parked ──read──> readers 1..n ──last leaves──> free; one parked writer woken
//!   free ──write──> writer ──leaves──> all parked readers are in at once (granted), else free and one writer woken
//! ```
//!
//! Whoever cannot enter spins for a while, then parks. Writers make progress: a reader does not enter past a parked writer.
//! Readers are treated fairly: a leaving writer lets in all readers that are parked at that moment, before any other
//! writer. So writers and batches of readers take turns, the idea of phase-fair locks (Brandenburg and Anderson,
//! "Spin-based reader-writer synchronization for multiprocessor real-time systems", 2010). Among writers, and between a
//! writer and spinning newcomers, there is no order: an awake thread may enter before a woken one.
//!
//! A thread must not take a shared hold twice: a writer that parks in between would stop the second one for ever.
//!
//! | field | changed by | under |
//! |---|---|---|
//! | writer bit, reader count | anybody, by compare-and-swap or subtraction | nothing |
//! | parked bits | who parks, who grants, a woken writer | the queue's mutex |
//! | queue | the same | the queue's mutex |

use crate::sync::atomic::{AtomicU32, Ordering};
use crate::sync::{Condvar, Mutex, spin_loop, wait_on};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU32 as StdAtomicU32, AtomicU64 as StdAtomicU64};
use std::time::Instant;

const WRITER: u32 = 1;
const WRITERS_PARKED: u32 = 2;
const READERS_PARKED: u32 = 4;
const READER: u32 = 8;
const READERS: u32 = !(READER - 1);

/// How often a thread looks again before it parks, by default. A look is some tens of nanoseconds.
pub const SPIN_ROUNDS_DEFAULT: u32 = 60;

/// Longest pause between two looks, in processor pauses.
const PAUSES_MAX: u32 = 16;

/// A setting, not part of the protocol, so the model checkers need not see it.
static SPIN_ROUNDS: StdAtomicU32 = StdAtomicU32::new(SPIN_ROUNDS_DEFAULT);

/// Sets how often threads look before they park, for all latches, from now on.
pub fn set_spin_rounds(rounds: u32) {
    SPIN_ROUNDS.store(rounds, Ordering::Relaxed);
}

/// Latches of one purpose, and how contended they are. Counts only those that could not enter at once.
#[derive(Debug)]
pub struct LatchClass {
    name: &'static str,
    shared_waits: StdAtomicU64,
    exclusive_waits: StdAtomicU64,
    spin_rounds: StdAtomicU64,
    parks: StdAtomicU64,
    wait_us: StdAtomicU64,
}

/// What a class has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LatchStats {
    /// Shared holds that had to wait.
    pub shared_waits: u64,
    /// Exclusive holds that had to wait.
    pub exclusive_waits: u64,
    /// Looks while spinning.
    pub spin_rounds: u64,
    /// Waits that parked the thread.
    pub parks: u64,
    /// Time spent parked.
    pub wait_us: u64,
}

impl LatchClass {
    /// A class; make it a `static`.
    pub const fn new(name: &'static str) -> Self {
        LatchClass {
            name,
            shared_waits: StdAtomicU64::new(0),
            exclusive_waits: StdAtomicU64::new(0),
            spin_rounds: StdAtomicU64::new(0),
            parks: StdAtomicU64::new(0),
            wait_us: StdAtomicU64::new(0),
        }
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What it has seen so far.
    pub fn stats(&self) -> LatchStats {
        let read = |counter: &StdAtomicU64| counter.load(Ordering::Relaxed);
        LatchStats {
            shared_waits: read(&self.shared_waits),
            exclusive_waits: read(&self.exclusive_waits),
            spin_rounds: read(&self.spin_rounds),
            parks: read(&self.parks),
            wait_us: read(&self.wait_us),
        }
    }
}

static UNCLASSED: LatchClass = LatchClass::new("other");

/// A reader-writer latch without data: it guards what its owner says it guards.
pub struct Latch {
    state: AtomicU32,
    queue: Mutex<Queue>,
    readers_wake: Condvar,
    writers_wake: Condvar,
    class: &'static LatchClass,
}

#[derive(Debug, Default)]
struct Queue {
    readers: u32,
    writers: u32,
    /// Grows when the parked readers are granted the latch.
    grants: u32,
}

impl std::fmt::Debug for Latch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = self.state.load(Ordering::Relaxed);
        f.debug_struct("Latch")
            .field("class", &self.class.name)
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
        Latch {
            state: AtomicU32::new(0),
            queue: Mutex::new(Queue::default()),
            readers_wake: Condvar::new(),
            writers_wake: Condvar::new(),
            class,
        }
    }

    /// Waits for a shared hold.
    #[inline]
    pub fn lock_shared(&self) {
        if !self.try_lock_shared() {
            self.lock_shared_slow();
        }
    }

    /// Waits for the exclusive hold.
    #[inline]
    pub fn lock_exclusive(&self) {
        let free = self.state.compare_exchange(0, WRITER, Ordering::Acquire, Ordering::Relaxed);
        if free.is_err() {
            self.lock_exclusive_slow();
        }
    }

    /// Takes a shared hold if that needs no waiting. Refused, too, while a writer is parked.
    #[must_use]
    #[inline]
    pub fn try_lock_shared(&self) -> bool {
        self.change(
            |state| (state & (WRITER | WRITERS_PARKED) == 0).then(|| state + READER),
            Ordering::Acquire,
        )
    }

    /// Takes the exclusive hold if that needs no waiting.
    #[must_use]
    #[inline]
    pub fn try_lock_exclusive(&self) -> bool {
        self.change(|state| (state & (WRITER | READERS) == 0).then_some(state | WRITER), Ordering::Acquire)
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

    /// Looks again and again for a while, with growing pauses.
    fn spin(&self, enter: impl Fn() -> bool) -> bool {
        // A model has no time to pass, only interleavings: spinning would add none and cost all.
        let rounds = if cfg!(any(loom, shuttle)) { 0 } else { SPIN_ROUNDS.load(Ordering::Relaxed) };
        for round in 0..rounds {
            (0..(1 << round.min(4)).min(PAUSES_MAX)).for_each(|_| spin_loop());
            if enter() {
                self.class.spin_rounds.fetch_add(u64::from(round) + 1, Ordering::Relaxed);
                return true;
            }
        }
        self.class.spin_rounds.fetch_add(u64::from(rounds), Ordering::Relaxed);
        false
    }

    #[cold]
    fn lock_shared_slow(&self) {
        self.class.shared_waits.fetch_add(1, Ordering::Relaxed);
        if self.spin(|| self.try_lock_shared()) {
            return;
        }
        let mut queue = self.queue.lock();
        // Either the latch is entered now, or whoever keeps us out sees the bit when it leaves: a writer that holds it
        // then, or one that is parked, whose turn to hold it will come.
        let kept_out = |state: u32| state & (WRITER | WRITERS_PARKED) != 0;
        while !self.change(|state| kept_out(state).then_some(state | READERS_PARKED), Ordering::Relaxed) {
            if self.try_lock_shared() {
                return;
            }
        }
        let parked = self.parked();
        queue.readers += 1;
        let before = queue.grants;
        while queue.grants == before {
            queue = wait_on(&self.readers_wake, queue);
        }
        drop(parked);
    }

    #[cold]
    fn lock_exclusive_slow(&self) {
        if self.try_lock_exclusive() {
            return;
        }
        self.class.exclusive_waits.fetch_add(1, Ordering::Relaxed);
        if self.spin(|| self.try_lock_exclusive()) {
            return;
        }
        let mut queue = self.queue.lock();
        queue.writers += 1;
        self.state.fetch_or(WRITERS_PARKED, Ordering::Relaxed);
        let parked = self.parked();
        // Whoever leaves after the bit was set takes the mutex and wakes us; who left before is seen to be gone.
        while !self.try_lock_exclusive() {
            queue = wait_on(&self.writers_wake, queue);
        }
        drop(parked);
        queue.writers -= 1;
        if queue.writers == 0 {
            self.state.fetch_and(!WRITERS_PARKED, Ordering::Relaxed);
        }
    }

    fn parked(&self) -> Parked {
        self.class.parks.fetch_add(1, Ordering::Relaxed);
        Parked { since: Instant::now(), class: self.class }
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
        if before & READERS == READER && before & WRITERS_PARKED != 0 {
            self.wake_a_writer();
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
    fn wake_a_writer(&self) {
        let queue = self.queue.lock();
        if queue.writers > 0 {
            self.writers_wake.notify_one();
        }
    }

    #[cold]
    fn unlock_exclusive_slow(&self) {
        let mut queue = self.queue.lock();
        // The parked bits change only under the mutex and nobody enters while the writer bit is set, so nothing but this
        // changes the state between here and the store.
        if queue.readers > 0 {
            let granted = std::mem::take(&mut queue.readers) * READER;
            let writers = self.state.load(Ordering::Relaxed) & WRITERS_PARKED;
            self.state.store(granted | writers, Ordering::Release);
            queue.grants = queue.grants.wrapping_add(1);
            self.readers_wake.notify_all();
        } else {
            self.state.fetch_and(!WRITER, Ordering::Release);
            if queue.writers > 0 {
                self.writers_wake.notify_one();
            }
        }
    }

    /// Waits for a shared hold and returns it as a guard.
    pub fn read(&self) -> LatchReadGuard<'_> {
        self.lock_shared();
        LatchReadGuard { latch: self, stay: PhantomData }
    }

    /// Waits for the exclusive hold and returns it as a guard.
    pub fn write(&self) -> LatchWriteGuard<'_> {
        self.lock_exclusive();
        LatchWriteGuard { latch: self, stay: PhantomData }
    }

    /// A shared hold as a guard, if that needs no waiting.
    pub fn try_read(&self) -> Option<LatchReadGuard<'_>> {
        self.try_lock_shared().then(|| LatchReadGuard { latch: self, stay: PhantomData })
    }

    /// The exclusive hold as a guard, if that needs no waiting.
    pub fn try_write(&self) -> Option<LatchWriteGuard<'_>> {
        self.try_lock_exclusive().then(|| LatchWriteGuard { latch: self, stay: PhantomData })
    }
}

/// A thread is parked, until dropped: counts the time.
struct Parked {
    since: Instant,
    class: &'static LatchClass,
}

impl Drop for Parked {
    fn drop(&mut self) {
        let us = u64::try_from(self.since.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.class.wait_us.fetch_add(us, Ordering::Relaxed);
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
    #[expect(unsafe_code, reason = "gives back the hold this guard stands for")]
    fn drop(&mut self) {
        // SAFETY: a guard is made only after its hold was taken, and is dropped once.
        unsafe { self.latch.unlock_exclusive() }
    }
}

#[cfg(test)]
mod tests;
