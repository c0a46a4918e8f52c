//! The order of latches, checked: in debug builds every thread keeps a stack of the ranks it holds, and taking one that
//! does not lie further down panics, naming both. Release builds compile all of it away.
//!
//! ```text
//!   held:  2 tree, 3 page, 3 page      take 9 pool shard: fine      take 2 tree: panic "tree (2) under page (3)"
//! ```

use crate::sync::{Mutex, MutexGuard};
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

    /// Call after a successful try: trying is allowed against the order, for it cannot close a circle of waiters.
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

/// Panics (debug builds) if this thread holds anything ranked: for places that may wait long.
pub fn assert_nothing_held(place: &str) {
    #[cfg(debug_assertions)]
    if let Some(held) = stack::deepest() {
        panic!("{place} while {held} is held");
    }
    #[cfg(not(debug_assertions))]
    let _ = place;
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
            let allowed = deepest.order < rank.order || (deepest.order == rank.order && rank.nested);
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

/// A mutex with a place in the order.
#[derive(Debug)]
pub struct RankedMutex<T> {
    rank: Rank,
    inner: Mutex<T>,
}

impl<T> RankedMutex<T> {
    /// A free mutex of this rank.
    pub fn new(rank: Rank, value: T) -> Self {
        RankedMutex { rank, inner: Mutex::new(value) }
    }

    /// Waits for the mutex.
    pub fn lock(&self) -> RankedGuard<'_, T> {
        let held = Held::waiting_for(self.rank);
        RankedGuard { inner: self.inner.lock(), _held: held }
    }
}

/// The mutex is held until this is dropped.
#[derive(Debug)]
pub struct RankedGuard<'a, T> {
    inner: MutexGuard<'a, T>,
    _held: Held,
}

impl<T> Deref for RankedGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.inner
    }
}

impl<T> DerefMut for RankedGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.inner
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
    fn downwards_and_nested_is_fine() {
        let (outer, inner) = (RankedMutex::new(OUTER, 1), RankedMutex::new(INNER, 2));
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

    #[test]
    #[should_panic(expected = "a wait while inner (3) is held")]
    fn waiting_with_something_in_hand_panics() {
        let _inner = Held::waiting_for(INNER);
        assert_nothing_held("a wait");
    }
}
