//! The gate: who waits for whom.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use turnstile_engine::interrupt::Interrupt;
use turnstile_sys::block_on::block_on;

use super::*;

fn patience(waits: &GateWaits, ms: u64) -> Patience<'_> {
    let deadline = Deadline::after(Duration::from_millis(ms), Arc::new(Interrupt::new()));
    Patience::new(waits, std::iter::empty(), deadline)
}

fn try_shared(gate: &Arc<Gate>, mode: Mode) -> Option<Hold> {
    gate.try_enter(mode, false)
}

#[test]
fn exclusive_waits_for_holders_and_turns_newcomers_away() {
    let (gate, waits) = (Arc::new(Gate::default()), GateWaits::default());
    for mode in [Mode::Read, Mode::Write] {
        let holder = try_shared(&gate, mode).unwrap();
        let mut context = Context::from_waker(Waker::noop());
        let mut limit = patience(&waits, 60_000);
        let mut ddl = pin!(gate.lock(Mode::Exclusive, &mut limit));
        assert!(ddl.as_mut().poll(&mut context).is_pending());
        assert!(try_shared(&gate, mode).is_none());
        drop(holder);
        let Poll::Ready(Ok(hold)) = ddl.as_mut().poll(&mut context) else { panic!("still waiting") };
        assert!(try_shared(&gate, mode).is_none());
        drop(hold);
        assert!(try_shared(&gate, mode).is_some());
    }
    assert_eq!(waits.count(), 0, "nobody is written down who does not wait");
}

#[test]
fn a_wait_ends_with_its_time() {
    let (gate, waits) = (Arc::new(Gate::default()), GateWaits::default());
    let _reader = try_shared(&gate, Mode::Read).unwrap();
    let mut context = Context::from_waker(Waker::noop());
    let mut limit = patience(&waits, 0);
    let mut ddl = pin!(gate.lock(Mode::Exclusive, &mut limit));
    let Poll::Ready(Err(error)) = ddl.as_mut().poll(&mut context) else { panic!("no error") };
    assert_eq!(error.code, 1205);
    assert!(try_shared(&gate, Mode::Read).is_some(), "a DDL that gave up leaves the gate open");
}

#[test]
fn read_locks_share_with_readers_and_wait_for_writers() {
    let (gate, waits) = (Arc::new(Gate::default()), GateWaits::default());
    let _reader = try_shared(&gate, Mode::Read).unwrap();
    let writer = try_shared(&gate, Mode::Write).unwrap();
    let mut context = Context::from_waker(Waker::noop());
    let (mut one, mut two) = (patience(&waits, 60_000), patience(&waits, 60_000));
    let mut first = pin!(gate.lock(Mode::ReadLock, &mut one));
    let mut second = pin!(gate.lock(Mode::ReadLock, &mut two));
    assert!(first.as_mut().poll(&mut context).is_pending());
    assert!(second.as_mut().poll(&mut context).is_pending());
    assert!(try_shared(&gate, Mode::Write).is_none(), "an announced read lock turns writers away");
    assert!(try_shared(&gate, Mode::Read).is_some());
    drop(writer);
    let Poll::Ready(Ok(first)) = first.as_mut().poll(&mut context) else { panic!("still waiting") };
    let Poll::Ready(Ok(second)) = second.as_mut().poll(&mut context) else { panic!("still waiting") };
    drop(first);
    assert!(try_shared(&gate, Mode::Write).is_none());
    drop(second);
    assert!(try_shared(&gate, Mode::Write).is_some());
}

#[test]
fn who_reads_may_write_before_an_announced_ddl_but_not_under_a_read_lock() {
    let (gate, waits) = (Arc::new(Gate::default()), GateWaits::default());
    let reader = try_shared(&gate, Mode::Read).unwrap();
    let mut context = Context::from_waker(Waker::noop());
    {
        let mut limit = patience(&waits, 60_000);
        let mut ddl = pin!(gate.lock(Mode::Exclusive, &mut limit));
        assert!(ddl.as_mut().poll(&mut context).is_pending());
        let writer = gate.try_enter(Mode::Write, true).unwrap();
        drop(reader);
        assert!(ddl.as_mut().poll(&mut context).is_pending(), "it writes still");
        drop(writer);
        assert!(ddl.as_mut().poll(&mut context).is_ready());
    }
    let _reader = try_shared(&gate, Mode::Read).unwrap();
    let mut limit = patience(&waits, 60_000);
    let mut locked = pin!(gate.lock(Mode::ReadLock, &mut limit));
    assert!(locked.as_mut().poll(&mut context).is_ready());
    // The hold is in the output that was dropped with the poll.
    assert!(gate.try_enter(Mode::Write, true).is_some());
}

/// Writers and read lockers on threads: never both inside, and each gets in.
#[test]
fn threads_exclude_each_other() {
    use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
    let (gate, waits) = (Arc::new(Gate::default()), GateWaits::default());
    // Writers count up, read locks look; a read lock that sees a writer inside has failed.
    let (writing, locked) = (AtomicI64::new(0), AtomicI64::new(0));
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (gate, waits, writing, locked) = (&gate, &waits, &writing, &locked);
            scope.spawn(move || {
                for _ in 0..2_000 {
                    let mut patience = patience(waits, 60_000);
                    if thread % 2 == 0 {
                        let hold = block_on(gate.enter(Mode::Write, false, &mut patience)).unwrap();
                        writing.fetch_add(1, SeqCst);
                        assert_eq!(locked.load(SeqCst), 0);
                        writing.fetch_sub(1, SeqCst);
                        drop(hold);
                    } else {
                        let mode = if thread == 1 { Mode::ReadLock } else { Mode::Exclusive };
                        let hold = block_on(gate.lock(mode, &mut patience)).unwrap();
                        assert_eq!(locked.fetch_add(1, SeqCst), 0, "one is exclusive, so they are never two");
                        assert_eq!(writing.load(SeqCst), 0);
                        locked.fetch_sub(1, SeqCst);
                        drop(hold);
                    }
                }
            });
        }
    });
    assert_eq!(gate.word.load(SeqCst), 0);
    assert_eq!(waits.count(), 0);
}
