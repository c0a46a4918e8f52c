//! The metadata lock: who waits for whom.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use turnstile_engine::interrupt::Interrupt;
use turnstile_sys::block_on::block_on;

use super::*;

fn patience(waits: &MetadataWaits, ms: u64) -> Patience<'_> {
    let deadline = Deadline::after(Duration::from_millis(ms), Arc::new(Interrupt::new()));
    Patience::new(waits, std::iter::empty(), deadline)
}

fn try_shared(mdl: &Arc<MetadataLock>, mode: Mode) -> Option<Hold> {
    mdl.try_enter(mode, false)
}

#[test]
fn exclusive_waits_for_holders_and_turns_newcomers_away() {
    let (mdl, waits) = (Arc::new(MetadataLock::default()), MetadataWaits::default());
    for mode in [Mode::Read, Mode::Write] {
        let holder = try_shared(&mdl, mode).unwrap();
        let mut context = Context::from_waker(Waker::noop());
        let mut limit = patience(&waits, 60_000);
        let mut ddl = pin!(mdl.lock(Mode::Exclusive, &mut limit));
        assert!(ddl.as_mut().poll(&mut context).is_pending());
        assert!(try_shared(&mdl, mode).is_none());
        drop(holder);
        let Poll::Ready(Ok(hold)) = ddl.as_mut().poll(&mut context) else { panic!("still waiting") };
        assert!(try_shared(&mdl, mode).is_none());
        drop(hold);
        assert!(try_shared(&mdl, mode).is_some());
    }
    assert_eq!(waits.count(), 0, "nobody is written down who does not wait");
}

#[test]
fn exclusive_without_waiting_takes_what_nobody_has() {
    let mdl = Arc::new(MetadataLock::default());
    for mode in [Mode::Read, Mode::Write] {
        let holder = try_shared(&mdl, mode).unwrap();
        assert!(mdl.try_lock().is_none());
        // The attempt has left nothing behind.
        assert!(try_shared(&mdl, mode).is_some());
        drop(holder);
    }
    let hold = mdl.try_lock().unwrap();
    assert!(mdl.try_lock().is_none());
    assert!(try_shared(&mdl, Mode::Read).is_none());
    drop(hold);
    assert!(try_shared(&mdl, Mode::Read).is_some());
}

#[test]
fn a_wait_ends_with_its_time() {
    let (mdl, waits) = (Arc::new(MetadataLock::default()), MetadataWaits::default());
    let _reader = try_shared(&mdl, Mode::Read).unwrap();
    let mut context = Context::from_waker(Waker::noop());
    let mut limit = patience(&waits, 0);
    let mut ddl = pin!(mdl.lock(Mode::Exclusive, &mut limit));
    let Poll::Ready(Err(error)) = ddl.as_mut().poll(&mut context) else { panic!("no error") };
    assert_eq!(error.code, 1205);
    assert!(try_shared(&mdl, Mode::Read).is_some(), "a DDL that gave up leaves the metadata lock open");
}

#[test]
fn read_locks_share_with_readers_and_wait_for_writers() {
    let (mdl, waits) = (Arc::new(MetadataLock::default()), MetadataWaits::default());
    let _reader = try_shared(&mdl, Mode::Read).unwrap();
    let writer = try_shared(&mdl, Mode::Write).unwrap();
    let mut context = Context::from_waker(Waker::noop());
    let (mut one, mut two) = (patience(&waits, 60_000), patience(&waits, 60_000));
    let mut first = pin!(mdl.lock(Mode::ReadLock, &mut one));
    let mut second = pin!(mdl.lock(Mode::ReadLock, &mut two));
    assert!(first.as_mut().poll(&mut context).is_pending());
    assert!(second.as_mut().poll(&mut context).is_pending());
    assert!(try_shared(&mdl, Mode::Write).is_none(), "an announced read lock turns writers away");
    assert!(try_shared(&mdl, Mode::Read).is_some());
    drop(writer);
    let Poll::Ready(Ok(first)) = first.as_mut().poll(&mut context) else { panic!("still waiting") };
    let Poll::Ready(Ok(second)) = second.as_mut().poll(&mut context) else { panic!("still waiting") };
    drop(first);
    assert!(try_shared(&mdl, Mode::Write).is_none());
    drop(second);
    assert!(try_shared(&mdl, Mode::Write).is_some());
}

#[test]
fn who_reads_may_write_before_an_announced_ddl_but_not_under_a_read_lock() {
    let (mdl, waits) = (Arc::new(MetadataLock::default()), MetadataWaits::default());
    let reader = try_shared(&mdl, Mode::Read).unwrap();
    let mut context = Context::from_waker(Waker::noop());
    {
        let mut limit = patience(&waits, 60_000);
        let mut ddl = pin!(mdl.lock(Mode::Exclusive, &mut limit));
        assert!(ddl.as_mut().poll(&mut context).is_pending());
        let writer = mdl.try_enter(Mode::Write, true).unwrap();
        drop(reader);
        assert!(ddl.as_mut().poll(&mut context).is_pending(), "it writes still");
        drop(writer);
        assert!(ddl.as_mut().poll(&mut context).is_ready());
    }
    let _reader = try_shared(&mdl, Mode::Read).unwrap();
    let mut limit = patience(&waits, 60_000);
    let mut locked = pin!(mdl.lock(Mode::ReadLock, &mut limit));
    assert!(locked.as_mut().poll(&mut context).is_ready());
    // The hold is in the output that was dropped with the poll.
    assert!(mdl.try_enter(Mode::Write, true).is_some());
}

/// Writers and read lockers on threads: never both inside, and each gets in.
#[test]
fn threads_exclude_each_other() {
    use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
    let (mdl, waits) = (Arc::new(MetadataLock::default()), MetadataWaits::default());
    // Writers count up, read locks look; a read lock that sees a writer inside has failed.
    let (writing, locked) = (AtomicI64::new(0), AtomicI64::new(0));
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (mdl, waits, writing, locked) = (&mdl, &waits, &writing, &locked);
            scope.spawn(move || {
                for _ in 0..2_000 {
                    let mut patience = patience(waits, 60_000);
                    if thread % 2 == 0 {
                        let hold = block_on(mdl.enter(Mode::Write, false, &mut patience)).unwrap();
                        writing.fetch_add(1, SeqCst);
                        assert_eq!(locked.load(SeqCst), 0);
                        writing.fetch_sub(1, SeqCst);
                        drop(hold);
                    } else {
                        let mode = if thread == 1 { Mode::ReadLock } else { Mode::Exclusive };
                        let hold = block_on(mdl.lock(mode, &mut patience)).unwrap();
                        assert_eq!(locked.fetch_add(1, SeqCst), 0, "one is exclusive, so they are never two");
                        assert_eq!(writing.load(SeqCst), 0);
                        locked.fetch_sub(1, SeqCst);
                        drop(hold);
                    }
                }
            });
        }
    });
    assert_eq!(mdl.word.load(SeqCst), 0);
    assert_eq!(waits.count(), 0);
}
