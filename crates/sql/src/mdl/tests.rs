//! The gate: who waits for whom.
#![allow(clippy::unwrap_used)]
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use turnstile_engine::interrupt::Interrupt;

use super::*;

fn deadline(ms: u64) -> Deadline {
    Deadline::after(Duration::from_millis(ms), Arc::new(Interrupt::new()))
}

#[test]
fn exclusive_waits_for_holders_and_turns_newcomers_away() {
    let gate = Arc::new(Gate::default());
    let reader = gate.try_shared().unwrap();
    let mut context = Context::from_waker(Waker::noop());
    let mut limit = deadline(60_000);
    let mut ddl = pin!(gate.exclusive(&mut limit));
    assert!(ddl.as_mut().poll(&mut context).is_pending());
    assert!(gate.try_shared().is_none());
    drop(reader);
    let Poll::Ready(Ok(hold)) = ddl.as_mut().poll(&mut context) else { panic!("still waiting") };
    assert!(gate.try_shared().is_none());
    drop(hold);
    assert!(gate.try_shared().is_some());
}

#[test]
fn a_wait_ends_with_its_time() {
    let gate = Arc::new(Gate::default());
    let _reader = gate.try_shared().unwrap();
    let mut context = Context::from_waker(Waker::noop());
    let mut limit = deadline(0);
    let mut ddl = pin!(gate.exclusive(&mut limit));
    let Poll::Ready(Err(error)) = ddl.as_mut().poll(&mut context) else { panic!("no error") };
    assert_eq!(error.code, 1205);
    assert!(gate.try_shared().is_some(), "a DDL that gave up leaves the gate open");
}
