//! The wait cell: completed once, woken once; under loom every interleaving of one waiter and two completers.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use super::WaitCell;
use crate::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn counting() -> (std::sync::Arc<Count>, Waker) {
    let count = std::sync::Arc::new(Count(AtomicUsize::new(0)));
    (count.clone(), Waker::from(count))
}

#[cfg(not(any(loom, shuttle)))]
mod plain {
    use super::*;

    #[test]
    fn first_reason_wins_and_wakes_once() {
        let cell = WaitCell::new();
        let (count, waker) = counting();
        let mut context = Context::from_waker(&waker);
        assert_eq!(cell.poll_wait(&mut context), Poll::Pending);
        assert!(cell.complete(1));
        assert!(!cell.complete(2));
        assert_eq!(count.0.load(Ordering::SeqCst), 1);
        assert_eq!(cell.poll_wait(&mut context), Poll::Ready(1));
        assert_eq!(cell.reason(), Some(1));
    }

    #[test]
    fn nudge_wakes_without_deciding() {
        let cell = WaitCell::<u8>::new();
        let (count, waker) = counting();
        let mut context = Context::from_waker(&waker);
        cell.nudge();
        assert_eq!(cell.poll_wait(&mut context), Poll::Pending);
        cell.nudge();
        cell.nudge();
        assert_eq!(count.0.load(Ordering::SeqCst), 1, "the second nudge finds no waker: the waiter is awake");
        assert_eq!(cell.poll_wait(&mut context), Poll::Pending);
    }

    #[test]
    fn threads_complete_what_others_await() {
        for _ in 0..200 {
            let cell = Arc::new(WaitCell::new());
            let theirs = cell.clone();
            let completer = std::thread::spawn(move || theirs.complete(7));
            let thread = std::thread::current();
            struct Unpark(std::thread::Thread);
            impl Wake for Unpark {
                fn wake(self: std::sync::Arc<Self>) {
                    self.0.unpark();
                }
            }
            let waker = Waker::from(std::sync::Arc::new(Unpark(thread)));
            let mut context = Context::from_waker(&waker);
            let reason = loop {
                match cell.poll_wait(&mut context) {
                    Poll::Ready(reason) => break reason,
                    Poll::Pending => std::thread::park(),
                }
            };
            assert_eq!(reason, 7);
            assert!(completer.join().unwrap());
        }
    }
}

#[cfg(loom)]
#[test]
fn loom_one_waiter_two_completers() {
    loom::model(|| {
        let cell = Arc::new(WaitCell::new());
        let completers: Vec<_> = (1..=2u8)
            .map(|reason| {
                let cell = cell.clone();
                crate::sync::thread::spawn(move || cell.complete(reason))
            })
            .collect();
        let (count, waker) = counting();
        let mut context = Context::from_waker(&waker);
        let early = cell.poll_wait(&mut context);
        let winners =
            completers.into_iter().filter(|_| true).map(|c| c.join().unwrap()).filter(|won| *won).count();
        assert_eq!(winners, 1);
        match early {
            Poll::Ready(_) => assert_eq!(count.0.load(Ordering::SeqCst), 0),
            Poll::Pending => {
                assert_eq!(count.0.load(Ordering::SeqCst), 1, "a waiter that slept is woken once")
            }
        }
        assert!(cell.poll_wait(&mut context).is_ready());
    });
}
