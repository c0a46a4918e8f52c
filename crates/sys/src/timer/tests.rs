//! Deadlines fire in order, not early, and not once their guard is gone.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use super::Timer;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::{Wake, Waker};
use std::time::{Duration, Instant};

struct Report(parking_lot::Mutex<Sender<(u32, Instant)>>, u32);

impl Wake for Report {
    fn wake(self: Arc<Self>) {
        let _ = self.0.lock().send((self.1, Instant::now()));
    }
}

fn reporter() -> (impl Fn(u32) -> Waker, Receiver<(u32, Instant)>) {
    let (sender, receiver) = channel();
    (move |n| Waker::from(Arc::new(Report(parking_lot::Mutex::new(sender.clone()), n))), receiver)
}

#[test]
fn fires_in_order_and_never_early() {
    let timer = Timer::new();
    let (waker, fired) = reporter();
    let start = Instant::now();
    let late = timer.wake_at(start + Duration::from_millis(12), waker(2));
    let early = timer.wake_at(start + Duration::from_millis(4), waker(1));
    for expected in 1..=2 {
        let (n, at) = fired.recv_timeout(Duration::from_secs(5)).unwrap();
        assert_eq!(n, expected);
        assert!(at >= start + Duration::from_millis(if n == 1 { 4 } else { 12 }));
    }
    drop((late, early));
    assert_eq!(timer.pending(), 0);
}

#[test]
fn a_dropped_guard_takes_its_deadline_back() {
    let timer = Timer::new();
    let (waker, fired) = reporter();
    let now = Instant::now();
    drop(timer.wake_at(now + Duration::from_millis(1), waker(1)));
    let guards: Vec<_> = (0..1000).map(|_| timer.wake_at(now + Duration::from_secs(50), waker(9))).collect();
    assert_eq!(timer.pending(), 1000);
    drop(guards);
    assert_eq!(timer.pending(), 0);
    let _guard = timer.wake_at(now, waker(2));
    let seen: Vec<u32> = std::iter::once(fired.recv_timeout(Duration::from_secs(5)).unwrap().0).collect();
    assert!(seen == [2] || seen == [1], "a waker already due may still fire");
}
