//! One gate, one thread (and once several): each rule of the README by itself.

use super::*;
use crate::admission::gate::{Arrival, Entry};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::AtomicU64;
use std::task::Wake;

#[test]
fn without_a_limit_nobody_is_counted() {
    let gate = gate(0, 1);
    let admission = AdmissionState::new();
    assert!(gate.ticket(&admission).is_none(), "no ticket, so nothing that is shared can be touched");
    assert_eq!((gate.counts(), admission.place()), (counts(0, 0), Place::Outside));
}

#[test]
fn first_come_first_served_and_newcomers_never_pass() {
    let gate = gate(1, 500);
    let (admission, interrupt) = (AdmissionState::new(), Interrupt::new());
    let first = now(enter(&gate, &admission, &interrupt)).unwrap();
    assert_eq!(admission.place(), Place::Inside(500));
    let waiting = AdmissionState::new();
    let mut second = Box::pin(enter(&gate, &waiting, &interrupt));
    assert!(poll(&mut second).is_none());
    assert_eq!((waiting.place(), gate.counts()), (Place::Queued, counts(1, 1)));
    drop(first);
    let mut third = Box::pin(enter(&gate, &admission, &interrupt));
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
    let (admission, interrupt) = (AdmissionState::new(), Interrupt::new());
    let mut long = now(enter(&gate, &admission, &interrupt)).unwrap();
    for _ in 0..10 {
        long.spend(10);
        assert!(poll(&mut Box::pin(long.come_in(&interrupt))).is_some(), "alone, it goes on");
    }
    let mut point = Box::pin(enter(&gate, &admission, &interrupt));
    assert!(poll(&mut point).is_none());
    long.spend(9);
    assert!(!long.is_due());
    long.spend(1);
    assert!(long.is_due());
    let mut yielding = Box::pin(long.come_in(&interrupt));
    assert!(poll(&mut yielding).is_none());
    drop(poll(&mut point).unwrap().unwrap());
    assert!(poll(&mut yielding).unwrap().is_ok());
}

#[test]
fn long_statements_alternate_in_growing_slices() {
    let gate = gate(1, 10);
    let interrupt = Interrupt::new();
    let admission = AdmissionState::new();
    // Two scans of 10,000 rows, always one inside: turns are counted.
    let turns = AtomicU64::new(0);
    let scan = || async {
        let mut ticket = enter(&gate, &admission, &interrupt).await.unwrap();
        for _ in 0..10_000 {
            ticket.spend(1);
            let mut waited = false;
            let mut entering = Box::pin(ticket.come_in(&interrupt));
            poll_fn(|context| {
                let polled = entering.as_mut().poll(context);
                waited |= polled.is_pending();
                polled
            })
            .await
            .unwrap();
            turns.fetch_add(u64::from(waited), Ordering::Relaxed);
        }
    };
    let mut running = [Box::pin(scan()), Box::pin(scan())];
    let opener = now(enter(&gate, &admission, &interrupt)).unwrap();
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
    let (admission, interrupt) = (AdmissionState::new(), Interrupt::new());
    let mut locker = now(enter(&gate, &admission, &interrupt)).unwrap();
    locker.spend(100);
    locker.step_out();
    let inside = now(enter(&gate, &admission, &interrupt)).unwrap();
    let mut newcomer = Box::pin(enter(&gate, &admission, &interrupt));
    assert!(poll(&mut newcomer).is_none());
    let mut resuming = Box::pin(locker.come_in(&interrupt));
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
    let (admission, interrupt, killed) = (AdmissionState::new(), Interrupt::new(), Interrupt::new());
    let first = now(enter(&gate, &admission, &interrupt)).unwrap();
    let mut second = Box::pin(enter(&gate, &admission, &killed));
    let mut third = Box::pin(enter(&gate, &admission, &interrupt));
    let mut fourth = Box::pin(enter(&gate, &admission, &interrupt));
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
    let settings = settings(1, 5000);
    let gate = Gate::new(settings.clone(), Purpose::Statements);
    let (admission, interrupt) = (AdmissionState::new(), Interrupt::new());
    let first = now(enter(&gate, &admission, &interrupt)).unwrap();
    let mut waiting: Vec<_> = (0..3).map(|_| Box::pin(enter(&gate, &admission, &interrupt))).collect();
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
                let (admission, interrupt) = (AdmissionState::new(), Interrupt::new());
                for round in 0..1000 {
                    let mut ticket = block_on(enter(&gate, &admission, &interrupt)).unwrap();
                    for _ in 0..round % 20 {
                        assert!(inside.fetch_add(1, Ordering::SeqCst) < 2);
                        inside.fetch_sub(1, Ordering::SeqCst);
                        ticket.spend(1);
                        block_on(ticket.come_in(&interrupt)).unwrap();
                    }
                    if round % 7 == 0 {
                        ticket.step_out();
                        block_on(ticket.come_in(&interrupt)).unwrap();
                    }
                }
            });
        }
    });
    assert_eq!(gate.counts(), counts(0, 0));
}

/// A gate whose newcomers sleep, and its settings.
fn sleepy(delay_us: u64, adaptive_max_us: u64) -> (Arc<Settings>, Arc<Gate>) {
    let settings = settings(1, 500);
    settings.thread_sleep_delay_us.store(delay_us, Ordering::Relaxed);
    settings.adaptive_max_sleep_delay_us.store(adaptive_max_us, Ordering::Relaxed);
    let gate = Gate::new(settings.clone(), Purpose::Statements);
    (settings, gate)
}

#[test]
fn with_a_delay_who_finds_the_gate_full_sleeps_before_it_queues() {
    let (_, gate) = sleepy(1, 0);
    let (admission, waiting, interrupt) = (AdmissionState::new(), AdmissionState::new(), Interrupt::new());
    let first = now(enter(&gate, &admission, &interrupt)).unwrap();
    let mut second = Box::pin(enter(&gate, &waiting, &interrupt));
    assert!(poll(&mut second).is_none());
    let slept = waiting.place() == Place::Sleeping;
    assert!(slept || waiting.place() == Place::Queued, "a microsecond may be over already");
    while waiting.place() == Place::Sleeping {
        assert!(poll(&mut second).is_none());
    }
    assert_eq!((waiting.place(), gate.counts()), (Place::Queued, counts(1, 1)));
    drop(first);
    assert!(poll(&mut second).unwrap().is_ok());
}

#[test]
fn who_returns_from_a_lock_wait_does_not_sleep() {
    let (_, gate) = sleepy(1_000_000, 0);
    let (admission, interrupt) = (AdmissionState::new(), Interrupt::new());
    let mut locker = now(enter(&gate, &admission, &interrupt)).unwrap();
    locker.step_out();
    let inside = now(enter(&gate, &AdmissionState::new(), &interrupt)).unwrap();
    let mut resuming = Box::pin(locker.come_in(&interrupt));
    assert!(poll(&mut resuming).is_none());
    assert_eq!(admission.place(), Place::Queued);
    drop(inside);
    assert!(poll(&mut resuming).unwrap().is_ok());
}

#[test]
fn sleepers_are_woken_killed_and_forgotten() {
    let (settings, gate) = sleepy(1_000_000, 0);
    let (admission, interrupt, killed) = (AdmissionState::new(), Interrupt::new(), Interrupt::new());
    let first = now(enter(&gate, &AdmissionState::new(), &interrupt)).unwrap();
    let mut stays = Box::pin(enter(&gate, &admission, &interrupt));
    let mut dies = Box::pin(enter(&gate, &admission, &killed));
    let mut goes = Box::pin(enter(&gate, &admission, &interrupt));
    assert!(poll(&mut stays).is_none() && poll(&mut dies).is_none() && poll(&mut goes).is_none());
    assert_eq!(gate.counts(), GateCounts { inside: 1, queued: 0, sleeping: 3 });
    killed.kill_query();
    assert_eq!(poll(&mut dies).unwrap().unwrap_err(), Error::Killed);
    drop(goes);
    assert_eq!((gate.counts().sleeping, admission.place()), (1, Place::Outside));
    settings.thread_concurrency.store(0, Ordering::Relaxed);
    gate.limit_changed();
    assert!(poll(&mut stays).unwrap().is_ok(), "no limit: the sleep is over");
    drop(first);
    assert_eq!(gate.counts(), counts(0, 0));
}

#[test]
fn the_delay_follows_the_load() {
    let (settings, gate) = sleepy(1_000, 1_500);
    let us = || gate.nap_delay().map_or(0, |delay| delay.as_micros());
    let (admission, interrupt) = (AdmissionState::new(), Interrupt::new());
    let first = now(enter(&gate, &admission, &interrupt)).unwrap();
    assert_eq!(us(), 500, "it entered and nobody queued");
    let queue = |rested| match gate.arrive(Entry::Newcomer, rested) {
        Arrival::Queued(place) => Some(place),
        _ => None,
    };
    let second = queue(true);
    assert_eq!(us(), 500, "alone in the queue");
    let others: Vec<_> = (0..20).map(|_| queue(true)).collect();
    assert_eq!(us(), 1_500, "the bound");
    drop((others, second, first));
    settings.adaptive_max_sleep_delay_us.store(0, Ordering::Relaxed);
    assert_eq!(us(), 1_000, "as it is set");
    settings.thread_sleep_delay_us.store(0, Ordering::Relaxed);
    gate.sleep_delay_changed();
    assert!(gate.nap_delay().is_none() && queue(false).is_none(), "off, and the slot is free");
}

#[test]
fn commits_have_a_gate_of_their_own() {
    let settings = settings(1, 1);
    settings.thread_sleep_delay_us.store(1_000_000, Ordering::Relaxed);
    let gate = Gate::new(settings.clone(), Purpose::Commits);
    let (admission, interrupt) = (AdmissionState::new(), Interrupt::new());
    assert!(gate.ticket(&admission).is_none());
    settings.commit_concurrency.store(1, Ordering::Relaxed);
    let first = now(enter(&gate, &admission, &interrupt)).unwrap();
    let mut second = Box::pin(enter(&gate, &admission, &interrupt));
    assert!(poll(&mut second).is_none());
    assert_eq!(gate.counts(), counts(1, 1), "it queues at once: commits do not sleep");
    drop(first);
    assert!(poll(&mut second).unwrap().is_ok());
}

#[test]
fn the_words_that_tools_look_for() {
    assert_eq!(Place::Inside(383).to_string(), "thread declared inside InnoDB 383");
    assert_eq!(Place::Queued.to_string(), "waiting in InnoDB queue");
    assert_eq!(Place::Sleeping.to_string(), "sleeping before joining InnoDB queue");
    assert_eq!((Place::Outside.to_string().as_str(), Place::Queued.tickets()), ("", 0));
}
