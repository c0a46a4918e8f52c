//! Waiters are woken when their position is reached, in one pass, and never missed.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use super::*;
use std::task::Wake;

/// Counts wakes; models of the checker use its own atomics.
#[derive(Default)]
struct WakeCount(std::sync::atomic::AtomicUsize);

impl Wake for WakeCount {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    }
}

impl WakeCount {
    fn count(&self) -> usize {
        self.0.load(std::sync::atomic::Ordering::SeqCst)
    }
}

fn poll(wait: &mut Wait<'_>, wakes: &std::sync::Arc<WakeCount>) -> Poll<Result<(), Failed>> {
    let waker = Waker::from(std::sync::Arc::clone(wakes));
    Pin::new(wait).poll(&mut Context::from_waker(&waker))
}

#[test]
#[cfg(not(any(loom, shuttle)))]
fn those_who_are_covered_are_woken() {
    let progress = Progress::new(10);
    let wakes: [std::sync::Arc<WakeCount>; 3] = Default::default();
    let (mut far, mut near, mut same) = (progress.wait(30), progress.wait(20), progress.wait(20));
    assert!(poll(&mut far, &wakes[0]).is_pending());
    assert!(poll(&mut near, &wakes[1]).is_pending());
    assert!(poll(&mut same, &wakes[2]).is_pending());
    assert_eq!(progress.furthest_awaited(), Some(30));
    assert_eq!(progress.advance_to(19), 0);
    assert_eq!(progress.advance_to(25), 2);
    assert_eq!(wakes.each_ref().map(|b| b.count()), [0, 1, 1]);
    assert_eq!(poll(&mut near, &wakes[1]), Poll::Ready(Ok(())));
    progress.fail();
    assert_eq!(poll(&mut far, &wakes[0]), Poll::Ready(Err(Failed)));
    assert_eq!(poll(&mut progress.wait(25), &wakes[0]), Poll::Ready(Ok(())));
    assert!(!progress.has_waiters());
}

#[test]
#[cfg(not(any(loom, shuttle)))]
fn a_dropped_wait_leaves_the_queue() {
    let progress = Progress::new(0);
    let wakes = std::sync::Arc::new(WakeCount::default());
    let (mut kept, mut dropped) = (progress.wait(5), progress.wait(5));
    assert!(poll(&mut dropped, &wakes).is_pending() && poll(&mut kept, &wakes).is_pending());
    drop(dropped);
    assert!(progress.has_waiters());
    assert_eq!(progress.advance_to(5), 1);
    assert!(!progress.has_waiters());
}

#[test]
#[cfg(loom)]
fn loom_progress_waiter_is_never_missed() {
    loom::model(|| {
        let progress = crate::sync::Arc::new(Progress::new(0));
        let other = crate::sync::Arc::clone(&progress);
        let advancing = crate::sync::thread::spawn(move || other.advance_to(1));
        let wakes = std::sync::Arc::new(WakeCount::default());
        let mut wait = progress.wait(1);
        let pending = poll(&mut wait, &wakes).is_pending();
        advancing.join().unwrap();
        assert_eq!(wakes.count(), usize::from(pending), "pending means woken, ready means not");
        assert_eq!(poll(&mut wait, &wakes), Poll::Ready(Ok(())));
    });
}
