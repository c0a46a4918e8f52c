//! The order of latches, checked: in debug builds every thread keeps a stack of the ranks it holds, and
//! taking one that does not lie further down panics, naming both. Release builds compile all of it away.
//! [`RankedMutex`] is the mutex of that order, with a class that counts its waits; `unsafe` here is its door
//! to the value.
//!
//! ```text
//!   held:  2 tree, 3 page, 3 page      take 9 pool shard: fine      take 2 tree: panic "tree (2) under page (3)"
//! ```

use crate::contention::LatchClass;
use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// A place in the order. The list of all ranks belongs to the program that uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rank {
    order: u8,
    name: &'static str,
    nested: bool,
}

impl Rank {
    /// A rank of which a thread holds one at a time.
    pub const fn new(order: u8, name: &'static str) -> Self {
        Rank { order, name, nested: false }
    }

    /// A rank of which a thread may hold several, in an order this check does not know.
    pub const fn nested(order: u8, name: &'static str) -> Self {
        Rank { order, name, nested: true }
    }
}

impl fmt::Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.order)
    }
}

/// Says that this thread holds something of a rank, until dropped. Costs nothing in release builds.
#[derive(Debug)]
#[must_use]
pub struct Held {
    #[cfg(debug_assertions)]
    rank: Rank,
    stay: PhantomData<*const ()>,
}

impl Held {
    /// Call before waiting for it: panics (debug builds) if the order forbids that now.
    pub fn waiting_for(rank: Rank) -> Self {
        #[cfg(debug_assertions)]
        stack::push_checked(rank);
        Self::token(rank)
    }

    /// Call after a successful try: trying is allowed against the order, for it cannot close a cycle of
    /// waiters.
    pub fn after_try(rank: Rank) -> Self {
        #[cfg(debug_assertions)]
        stack::push(rank);
        Self::token(rank)
    }

    fn token(
        #[cfg_attr(not(debug_assertions), expect(unused_variables, reason = "debug only"))] rank: Rank,
    ) -> Self {
        Held {
            #[cfg(debug_assertions)]
            rank,
            stay: PhantomData,
        }
    }
}

#[cfg(debug_assertions)]
impl Drop for Held {
    fn drop(&mut self) {
        stack::pop(self.rank);
    }
}

#[cfg(debug_assertions)]
mod stack {
    use super::Rank;
    use std::cell::RefCell;

    thread_local! {
        static HELD: RefCell<Vec<Rank>> = const { RefCell::new(Vec::new()) };
    }

    pub(super) fn deepest() -> Option<Rank> {
        HELD.with_borrow(|held| held.iter().copied().max_by_key(|rank| rank.order))
    }

    pub(super) fn push_checked(rank: Rank) {
        if let Some(deepest) = deepest() {
            // In a model all threads are one, so what this thread holds says nothing.
            let allowed = cfg!(any(loom, shuttle))
                || deepest.order < rank.order
                || (deepest.order == rank.order && rank.nested);
            assert!(allowed, "latch order: {rank} wanted while {deepest} is held");
        }
        push(rank);
    }

    pub(super) fn push(rank: Rank) {
        HELD.with_borrow_mut(|held| held.push(rank));
    }

    pub(super) fn pop(rank: Rank) {
        // A thread that is ending has no stack any more.
        let _ = HELD.try_with(|held| {
            let mut held = held.borrow_mut();
            if let Some(at) = held.iter().rposition(|entry| *entry == rank) {
                held.remove(at);
            }
        });
    }
}

/// What keeps others out. The latch; in models the checker's own mutex, for the latch has models of its own,
/// and a model of something that uses a mutex is not to explore the inside of the mutex too.
mod rank_lock {
    use crate::contention::LatchClass;

    #[cfg(not(any(loom, shuttle)))]
    mod chosen {
        pub(in super::super) use crate::latch::{
            Latch as RankLock, LatchReadGuard as Shared, LatchWriteGuard as Alone,
        };

        pub(in super::super) fn new(class: &'static super::LatchClass) -> RankLock {
            RankLock::of_class(class)
        }
        #[inline]
        #[track_caller]
        pub(in super::super) fn shared(lock: &RankLock) -> Shared<'_> {
            lock.read()
        }
        #[inline]
        #[track_caller]
        pub(in super::super) fn alone(lock: &RankLock) -> Alone<'_> {
            lock.write()
        }
    }

    #[cfg(any(loom, shuttle))]
    mod chosen {
        pub(in super::super) type RankLock = crate::sync::Mutex<()>;
        pub(in super::super) type Shared<'a> = crate::sync::MutexGuard<'a, ()>;
        pub(in super::super) type Alone<'a> = crate::sync::MutexGuard<'a, ()>;

        pub(in super::super) fn new(_: &'static super::LatchClass) -> RankLock {
            RankLock::new(())
        }
        pub(in super::super) fn shared(lock: &RankLock) -> Shared<'_> {
            lock.lock()
        }
        pub(in super::super) fn alone(lock: &RankLock) -> Alone<'_> {
            lock.lock()
        }
    }

    pub(super) use chosen::*;
}

/// A mutex with a place in the order and a class whose waits are counted: a [`Latch`](crate::latch::Latch)
/// that is only taken exclusively, around a value.
pub struct RankedMutex<T> {
    latch: rank_lock::RankLock,
    #[cfg(debug_assertions)]
    rank: Rank,
    value: UnsafeCell<T>,
}

#[expect(unsafe_code, reason = "the latch gives the value to one thread at a time")]
// SAFETY: the value is reached only through a guard, which holds the latch exclusively, or through
// `&mut self`.
unsafe impl<T: Send> Sync for RankedMutex<T> {}

impl<T: fmt::Debug> fmt::Debug for RankedMutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RankedMutex").field("latch", &self.latch).finish_non_exhaustive()
    }
}

impl<T> RankedMutex<T> {
    /// A free mutex of this rank and class.
    pub fn new(rank: Rank, class: &'static LatchClass, value: T) -> Self {
        #[cfg(not(debug_assertions))]
        let _ = rank;
        RankedMutex {
            latch: rank_lock::new(class),
            #[cfg(debug_assertions)]
            rank,
            value: UnsafeCell::new(value),
        }
    }

    #[inline]
    fn held(&self) -> Held {
        #[cfg(debug_assertions)]
        return Held::waiting_for(self.rank);
        #[cfg(not(debug_assertions))]
        Held { stay: PhantomData }
    }

    /// Waits for the mutex.
    #[inline]
    #[track_caller]
    pub fn lock(&self) -> RankedGuard<'_, T> {
        let held = self.held();
        RankedGuard { value: &self.value, _latched: rank_lock::alone(&self.latch), _held: held }
    }

    /// The value, for who has the mutex to itself.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }
}

/// The mutex is held until this is dropped.
#[must_use]
pub struct RankedGuard<'a, T> {
    value: &'a UnsafeCell<T>,
    _latched: rank_lock::Alone<'a>,
    _held: Held,
}

impl<T: fmt::Debug> fmt::Debug for RankedGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl<T> Deref for RankedGuard<'_, T> {
    type Target = T;

    #[inline]
    #[expect(unsafe_code, reason = "the guard is the exclusive hold")]
    fn deref(&self) -> &T {
        // SAFETY: this guard has the latch exclusively, and `&mut` through it needs the guard mutably.
        unsafe { &*self.value.get() }
    }
}

impl<T> DerefMut for RankedGuard<'_, T> {
    #[inline]
    #[expect(unsafe_code, reason = "the guard is the exclusive hold")]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this guard has the latch exclusively and is borrowed mutably.
        unsafe { &mut *self.value.get() }
    }
}

/// As [`RankedMutex`], for many readers or one writer. A thread must not take a shared hold twice.
pub struct RankedRwLock<T> {
    inner: RankedMutex<T>,
}

#[expect(unsafe_code, reason = "the latch gives the value to readers, or to one writer")]
// SAFETY: the value is reached only through guards: shared ones give `&T` to many threads, the exclusive one
// `&mut T` to one.
unsafe impl<T: Send + Sync> Sync for RankedRwLock<T> {}

impl<T> fmt::Debug for RankedRwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RankedRwLock").field("latch", &self.inner.latch).finish_non_exhaustive()
    }
}

impl<T> RankedRwLock<T> {
    /// A free lock of this rank and class.
    pub fn new(rank: Rank, class: &'static LatchClass, value: T) -> Self {
        RankedRwLock { inner: RankedMutex::new(rank, class, value) }
    }

    /// Waits for a shared hold.
    #[inline]
    #[track_caller]
    pub fn read(&self) -> RankedReadGuard<'_, T> {
        let held = self.inner.held();
        RankedReadGuard {
            value: &self.inner.value,
            _latched: rank_lock::shared(&self.inner.latch),
            _held: held,
        }
    }

    /// Waits for the exclusive hold.
    #[inline]
    #[track_caller]
    pub fn write(&self) -> RankedGuard<'_, T> {
        self.inner.lock()
    }
}

/// A shared hold, until dropped.
#[must_use]
pub struct RankedReadGuard<'a, T> {
    value: &'a UnsafeCell<T>,
    _latched: rank_lock::Shared<'a>,
    _held: Held,
}

impl<T> Deref for RankedReadGuard<'_, T> {
    type Target = T;

    #[inline]
    #[expect(unsafe_code, reason = "the guard is a shared hold")]
    fn deref(&self) -> &T {
        // SAFETY: while this guard has the latch shared, no guard has it exclusively.
        unsafe { &*self.value.get() }
    }
}

#[cfg(test)]
#[cfg(all(debug_assertions, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    const OUTER: Rank = Rank::new(1, "outer");
    const MIDDLE: Rank = Rank::nested(2, "middle");
    const INNER: Rank = Rank::new(3, "inner");

    #[test]
    fn a_lock_lets_readers_together() {
        static CLASS: LatchClass = LatchClass::new("test of ranked locks");
        let shared = RankedRwLock::new(Rank::nested(1, "shared"), &CLASS, 1);
        let (first, second) = (shared.read(), shared.read());
        assert_eq!(*first + *second, 2);
        drop((first, second));
        *shared.write() += 1;
        assert_eq!(*shared.read(), 2);
    }

    #[test]
    fn downwards_and_nested_is_fine() {
        static CLASS: LatchClass = LatchClass::mutexes("test of ranks");
        let (outer, inner) = (RankedMutex::new(OUTER, &CLASS, 1), RankedMutex::new(INNER, &CLASS, 2));
        let _outer = outer.lock();
        let first = Held::waiting_for(MIDDLE);
        let _second = Held::waiting_for(MIDDLE);
        drop(first);
        *inner.lock() += 1;
        let _inner = inner.lock();
        let _tried = Held::after_try(OUTER);
    }

    #[test]
    #[should_panic(expected = "latch order: outer (1) wanted while inner (3) is held")]
    fn upwards_panics() {
        let _inner = Held::waiting_for(INNER);
        let _outer = Held::waiting_for(OUTER);
    }

    #[test]
    #[should_panic(expected = "latch order: inner (3) wanted while inner (3) is held")]
    fn the_same_again_panics() {
        let _first = Held::waiting_for(INNER);
        let _second = Held::waiting_for(INNER);
    }
}
