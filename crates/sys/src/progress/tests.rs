//! Waiters are woken when their position is reached, in one pass, and never missed.
#![allow(clippy::unwrap_used)]

use super::*;
use std::task::Wake;

/// Counts wakes; models of the checker use its own atomics.
#[derive(Default)]
struct Bell(std::sync::atomic::AtomicUsize);

impl Wake for Bell {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    }
}

impl Bell {
    fn rings(&self) -> usize {
        self.0.load(std::sync::atomic::Ordering::SeqCst)
    }
}

fn poll(wait: &mut Wait<'_>, bell: &std::sync::Arc<Bell>) -> Poll<Result<(), Failed>> {
    let waker = Waker::from(std::sync::Arc::clone(bell));
    Pin::new(wait).poll(&mut Context::from_waker(&waker))
}

#[test]
#[cfg(not(any(loom, shuttle)))]
fn those_who_are_covered_are_woken() {
    let progress = Progress::new(10);
    let bells: [std::sync::Arc<Bell>; 3] = Default::default();
    let (mut far, mut near, mut same) = (progress.wait(30), progress.wait(20), progress.wait(20));
    assert!(poll(&mut far, &bells[0]).is_pending());
    assert!(poll(&mut near, &bells[1]).is_pending());
    assert!(poll(&mut same, &bells[2]).is_pending());
    assert_eq!(progress.furthest_awaited(), Some(30));
    assert_eq!(progress.advance_to(19), 0);
    assert_eq!(progress.advance_to(25), 2);
    assert_eq!(bells.each_ref().map(|b| b.rings()), [0, 1, 1]);
    assert_eq!(poll(&mut near, &bells[1]), Poll::Ready(Ok(())));
    progress.fail();
    assert_eq!(poll(&mut far, &bells[0]), Poll::Ready(Err(Failed)));
    assert_eq!(poll(&mut progress.wait(25), &bells[0]), Poll::Ready(Ok(())));
    assert!(!progress.has_waiters());
}

#[test]
#[cfg(not(any(loom, shuttle)))]
fn a_dropped_wait_leaves_the_queue() {
    let progress = Progress::new(0);
    let bell = std::sync::Arc::new(Bell::default());
    let (mut kept, mut dropped) = (progress.wait(5), progress.wait(5));
    assert!(poll(&mut dropped, &bell).is_pending() && poll(&mut kept, &bell).is_pending());
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
        let bell = std::sync::Arc::new(Bell::default());
        let mut wait = progress.wait(1);
        let pending = poll(&mut wait, &bell).is_pending();
        advancing.join().unwrap();
        assert_eq!(bell.rings(), usize::from(pending), "pending means woken, ready means not");
        assert_eq!(poll(&mut wait, &bell), Poll::Ready(Ok(())));
    });
}
