//! Locks that users name: who holds them, who waits, and that nothing is left behind.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use turnstile_engine::interrupt::Interrupt;

use super::*;
use crate::mdl::deadlock::MetadataWaits;
use crate::timeout::Deadline;
use turnstile_values::memory::Charge;

fn patience<'w>(waits: &'w MetadataWaits, seconds: u64, held: &HeldLocks) -> Patience<'w> {
    let deadline = Deadline::after(Duration::from_secs(seconds), Arc::new(Interrupt::new()));
    Patience::new(waits, held.holds(), deadline)
}

fn poll<T>(future: &mut Pin<&mut impl Future<Output = T>>) -> Option<T> {
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => Some(done),
        Poll::Pending => None,
    }
}

fn take(
    locks: &Arc<UserLocks>,
    waits: &MetadataWaits,
    name: &str,
    connection: u64,
    held: &mut HeldLocks,
) -> bool {
    let mut limit = patience(waits, 0, held);
    let lock = poll(&mut pin!(locks.acquire(name, connection, &mut limit))).unwrap().unwrap();
    lock.map(|lock| held.keep(lock, Charge::default())).is_some()
}

#[test]
fn one_holds_it_and_the_next_gets_it() {
    let (locks, waits) = (Arc::new(UserLocks::default()), MetadataWaits::default());
    let (mut one, mut other) = (HeldLocks::default(), HeldLocks::default());
    assert!(take(&locks, &waits, "a", 1, &mut one));
    assert_eq!(locks.owner("a"), Some(1));
    assert!(!take(&locks, &waits, "a", 2, &mut other), "no time to wait");
    let mut limit = patience(&waits, 60, &other);
    let mut waiting = pin!(locks.acquire("a", 2, &mut limit));
    assert!(poll(&mut waiting).is_none());
    assert!(one.release("a"));
    other.keep(poll(&mut waiting).unwrap().unwrap().unwrap(), Charge::default());
    assert_eq!(locks.owner("a"), Some(2));
    assert!(!one.release("a"), "it is another's now");
    drop(other);
    assert_eq!(locks.owner("a"), None);
    assert!(locks.by_name.lock().is_empty(), "a name that nobody uses is forgotten");
}

#[test]
fn who_came_first_gets_it_first() {
    let (locks, waits) = (Arc::new(UserLocks::default()), MetadataWaits::default());
    let mut held: Vec<_> = (0..4).map(|_| HeldLocks::default()).collect();
    assert!(take(&locks, &waits, "a", 1, &mut held[0]));
    let nobody = HeldLocks::default();
    let mut limits: Vec<_> = (0..3).map(|_| patience(&waits, 60, &nobody)).collect();
    let [second, third, fourth] = &mut limits[..] else { panic!() };
    let mut second = Box::pin(locks.acquire("a", 2, second));
    let mut third = pin!(locks.acquire("a", 3, third));
    let mut fourth = pin!(locks.acquire("a", 4, fourth));
    assert!(poll(&mut second.as_mut()).is_none());
    assert!(poll(&mut third).is_none() && poll(&mut fourth).is_none());
    held[0].release_all();
    // The lock is free, and the last in line runs first.
    assert!(poll(&mut fourth).is_none() && poll(&mut third).is_none(), "it is another's turn");
    // The first in line gives up: the next one's turn.
    drop(second);
    assert!(poll(&mut fourth).is_none());
    held[2].keep(poll(&mut third).unwrap().unwrap().unwrap(), Charge::default());
    assert!(poll(&mut fourth).is_none());
    held[2].release_all();
    held[3].keep(poll(&mut fourth).unwrap().unwrap().unwrap(), Charge::default());
    assert_eq!(locks.owner("a"), Some(4));
    held[3].release_all();
    assert!(locks.by_name.lock().is_empty());
}

/// Whoever is next is woken when the one before it leaves the line, with the lock or without.
#[test]
fn the_next_in_line_is_woken() {
    struct Rung(std::sync::atomic::AtomicU64);
    impl std::task::Wake for Rung {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let (locks, waits) = (Arc::new(UserLocks::default()), MetadataWaits::default());
    let mut holder = HeldLocks::default();
    assert!(take(&locks, &waits, "a", 1, &mut holder));
    let nobody = HeldLocks::default();
    let (mut first_limit, mut next_limit) = (patience(&waits, 60, &nobody), patience(&waits, 60, &nobody));
    let mut first = Box::pin(locks.acquire("a", 2, &mut first_limit));
    let mut next = pin!(locks.acquire("a", 3, &mut next_limit));
    assert!(poll(&mut first.as_mut()).is_none());
    holder.release_all();
    // It looks after the release and before the first in line has run.
    let rung = Arc::new(Rung(std::sync::atomic::AtomicU64::new(0)));
    let waker = Waker::from(rung.clone());
    assert!(next.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    drop(first);
    assert_eq!(rung.0.load(Ordering::SeqCst), 1, "the lock is free, and nobody else will wake it");
    assert!(poll(&mut next).unwrap().unwrap().is_some());
}

#[test]
fn as_often_as_it_was_taken() {
    let (locks, waits) = (Arc::new(UserLocks::default()), MetadataWaits::default());
    let mut held = HeldLocks::default();
    assert!(!held.take_again("a"));
    assert!(take(&locks, &waits, "a", 1, &mut held) && take(&locks, &waits, "b", 1, &mut held));
    assert!(held.take_again("a"));
    assert!(held.release("a"));
    assert_eq!(locks.owner("a"), Some(1));
    assert_eq!(held.release_all(), 2);
    assert!(locks.by_name.lock().is_empty());
}

#[test]
fn a_wait_that_ends_leaves_nothing() {
    let (locks, waits) = (Arc::new(UserLocks::default()), MetadataWaits::default());
    let mut held = HeldLocks::default();
    assert!(take(&locks, &waits, "a", 1, &mut held));
    {
        let mut limit = patience(&waits, 60, &HeldLocks::default());
        let mut waiting = pin!(locks.acquire("a", 2, &mut limit));
        assert!(poll(&mut waiting).is_none());
        held.release_all();
        assert_eq!(locks.by_name.lock().len(), 1, "somebody waits still");
    }
    assert!(locks.by_name.lock().is_empty());
    assert_eq!(waits.count(), 0);
}

#[test]
fn a_cycle_costs_one_wait_and_no_lock() {
    let (locks, waits) = (Arc::new(UserLocks::default()), MetadataWaits::default());
    let (mut one, mut other) = (HeldLocks::default(), HeldLocks::default());
    assert!(take(&locks, &waits, "a", 1, &mut one) && take(&locks, &waits, "b", 2, &mut other));
    let mut first_limit = patience(&waits, 60, &one);
    let mut first = pin!(locks.acquire("b", 1, &mut first_limit));
    assert!(poll(&mut first).is_none());
    let mut second_limit = patience(&waits, 60, &other);
    let mut second = pin!(locks.acquire("a", 2, &mut second_limit));
    assert_eq!(poll(&mut second).unwrap().unwrap_err().code, 3058);
    assert_eq!(locks.owner("b"), Some(2), "who gives up keeps what it holds");
    assert!(poll(&mut first).is_none());
    other.release_all();
    assert!(poll(&mut first).unwrap().unwrap().is_some());
}

#[test]
fn names() {
    assert_eq!(&*UserLocks::name_of(&Value::text("Migration")).unwrap(), "migration");
    assert_eq!(&*UserLocks::name_of(&Value::Int(5)).unwrap(), "5");
    let long = "x".repeat(64);
    assert!(UserLocks::name_of(&Value::text(&*long)).is_ok());
    for wrong in [Value::Null, Value::text("")] {
        assert_eq!(UserLocks::name_of(&wrong).unwrap_err().code, 3057);
    }
    assert_eq!(UserLocks::name_of(&Value::text(&*"x".repeat(65))).unwrap_err().code, 4163);
}
