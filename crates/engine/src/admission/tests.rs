//! The gate, polled by hand and under threads: limit, order, budgets, slices, kills.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::api::Settings;
use crate::error::Error;
use crate::interrupt::Interrupt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Wake, Waker};

fn gate(limit: u64, tickets: u64) -> Arc<Gate> {
    let settings = Settings::default();
    settings.thread_concurrency.store(limit, Ordering::Relaxed);
    settings.concurrency_tickets.store(tickets, Ordering::Relaxed);
    Gate::new(Arc::new(settings))
}

fn poll<F: Future>(future: &mut Pin<Box<F>>) -> Option<F::Output> {
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

fn now<F: Future>(future: F) -> F::Output {
    poll(&mut Box::pin(future)).expect("no wait expected")
}

fn counts(inside: u64, queued: u64) -> GateCounts {
    GateCounts { inside, queued }
}

#[test]
fn without_a_limit_nobody_is_counted() {
    let gate = gate(0, 1);
    let standing = Standing::new();
    let interrupt = Interrupt::new();
    let mut ticket = now(gate.enter(&standing, &interrupt)).unwrap();
    assert!((0..100).all(|_| !ticket.spend(1000)));
    assert_eq!((gate.counts(), standing.place()), (counts(0, 0), Place::Outside));
}

#[test]
fn first_come_first_served_and_newcomers_never_pass() {
    let gate = gate(1, 500);
    let (standing, interrupt) = (Standing::new(), Interrupt::new());
    let first = now(gate.enter(&standing, &interrupt)).unwrap();
    assert_eq!(standing.place(), Place::Inside(500));
    let waiting = Standing::new();
    let mut second = Box::pin(gate.enter(&waiting, &interrupt));
    assert!(poll(&mut second).is_none());
    assert_eq!((waiting.place(), gate.counts()), (Place::Queued, counts(1, 1)));
    drop(first);
    let mut third = Box::pin(gate.enter(&standing, &interrupt));
    assert!(poll(&mut third).is_none(), "the slot is the second's, though it has not run yet");
    let second = poll(&mut second).unwrap().unwrap();
    assert_eq!(waiting.place(), Place::Inside(500));
    drop(second);
    assert!(poll(&mut third).unwrap().is_ok());
    assert_eq!(gate.counts(), counts(0, 0));
}

#[test]
fn a_fresh_waiter_is_let_in_after_one_budget() {
    let gate = gate(1, 10);
    let (standing, interrupt) = (Standing::new(), Interrupt::new());
    let mut long = now(gate.enter(&standing, &interrupt)).unwrap();
    assert!((0..10).all(|_| !long.spend(10)), "alone, it goes on");
    let mut point = Box::pin(gate.enter(&standing, &interrupt));
    assert!(poll(&mut point).is_none());
    assert!((0..9).all(|_| !long.spend(1)));
    assert!(long.spend(1));
    let mut yielding = Box::pin(long.yield_turn(&interrupt));
    assert!(poll(&mut yielding).is_none());
    drop(poll(&mut point).unwrap().unwrap());
    assert!(poll(&mut yielding).unwrap().is_ok());
}

#[test]
fn long_statements_alternate_in_growing_slices() {
    let gate = gate(1, 10);
    let interrupt = Interrupt::new();
    let standing = Standing::new();
    // Two scans of 10,000 rows, always one inside: turns are counted.
    let turns = AtomicU64::new(0);
    let scan = || async {
        let mut ticket = gate.enter(&standing, &interrupt).await.unwrap();
        for _ in 0..10_000 {
            if ticket.spend(1) {
                turns.fetch_add(1, Ordering::Relaxed);
                ticket.yield_turn(&interrupt).await.unwrap();
            }
        }
    };
    let mut running = [Box::pin(scan()), Box::pin(scan())];
    let opener = now(gate.enter(&standing, &interrupt)).unwrap();
    assert!(running.iter_mut().all(|scan| poll(scan).is_none()));
    drop(opener);
    let mut done = [false; 2];
    while !done.iter().all(|done| *done) {
        for n in 0..2 {
            done[n] = done[n] || poll(&mut running[n]).is_some();
        }
    }
    let turns = turns.load(Ordering::Relaxed);
    assert!((10..60).contains(&turns), "{turns} turns, not 2,000");
    drop(running);
    assert_eq!(gate.counts(), counts(0, 0));
}

#[test]
fn back_from_a_lock_wait_before_all_newcomers() {
    let gate = gate(1, 500);
    let (standing, interrupt) = (Standing::new(), Interrupt::new());
    let mut locker = now(gate.enter(&standing, &interrupt)).unwrap();
    locker.spend(100);
    locker.give_back();
    let inside = now(gate.enter(&standing, &interrupt)).unwrap();
    let mut newcomer = Box::pin(gate.enter(&standing, &interrupt));
    assert!(poll(&mut newcomer).is_none());
    let mut resuming = Box::pin(locker.resume(&interrupt));
    assert!(poll(&mut resuming).is_none());
    drop(inside);
    assert!(poll(&mut newcomer).is_none());
    assert!(poll(&mut resuming).unwrap().is_ok());
    drop(resuming);
    assert_eq!(locker.tickets_left(), 400, "the budget stayed");
    drop(locker);
    assert!(poll(&mut newcomer).unwrap().is_ok());
}

#[test]
fn kills_and_vanished_sessions_lose_no_slot() {
    let gate = gate(1, 500);
    let (standing, interrupt, killed) = (Standing::new(), Interrupt::new(), Interrupt::new());
    let first = now(gate.enter(&standing, &interrupt)).unwrap();
    let mut second = Box::pin(gate.enter(&standing, &killed));
    let mut third = Box::pin(gate.enter(&standing, &interrupt));
    let mut fourth = Box::pin(gate.enter(&standing, &interrupt));
    assert!(poll(&mut second).is_none() && poll(&mut third).is_none() && poll(&mut fourth).is_none());
    killed.kill_query();
    assert_eq!(poll(&mut second).unwrap().unwrap_err(), Error::Killed);
    drop(first);
    drop(third);
    assert!(poll(&mut fourth).unwrap().is_ok(), "the third had the slot and passed it on");
    assert_eq!(gate.counts(), counts(0, 0));
}

#[test]
fn the_limit_is_live() {
    let settings = Arc::new(Settings::default());
    settings.thread_concurrency.store(1, Ordering::Relaxed);
    let gate = Gate::new(settings.clone());
    let (standing, interrupt) = (Standing::new(), Interrupt::new());
    let first = now(gate.enter(&standing, &interrupt)).unwrap();
    let mut waiting: Vec<_> = (0..3).map(|_| Box::pin(gate.enter(&standing, &interrupt))).collect();
    assert!(waiting.iter_mut().all(|waiting| poll(waiting).is_none()));
    settings.thread_concurrency.store(2, Ordering::Relaxed);
    gate.limit_changed();
    assert_eq!(gate.counts(), counts(2, 2));
    settings.thread_concurrency.store(0, Ordering::Relaxed);
    gate.limit_changed();
    assert!(waiting.iter_mut().all(|waiting| poll(waiting).is_some()));
    drop(first);
    assert_eq!(gate.counts(), counts(0, 0));
}

#[test]
fn threads_never_exceed_the_limit() {
    struct Unpark(std::thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    fn block_on<F: Future>(future: F) -> F::Output {
        let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
        let mut future = pin!(future);
        loop {
            match future.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(output) => return output,
                Poll::Pending => std::thread::park(),
            }
        }
    }
    let gate = gate(2, 5);
    let inside = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let (standing, interrupt) = (Standing::new(), Interrupt::new());
                for round in 0..1000 {
                    let mut ticket = block_on(gate.enter(&standing, &interrupt)).unwrap();
                    for _ in 0..round % 20 {
                        assert!(inside.fetch_add(1, Ordering::SeqCst) < 2);
                        inside.fetch_sub(1, Ordering::SeqCst);
                        if ticket.spend(1) {
                            block_on(ticket.yield_turn(&interrupt)).unwrap();
                        }
                    }
                    if round % 7 == 0 {
                        ticket.give_back();
                        block_on(ticket.resume(&interrupt)).unwrap();
                    }
                }
            });
        }
    });
    assert_eq!(gate.counts(), counts(0, 0));
}
