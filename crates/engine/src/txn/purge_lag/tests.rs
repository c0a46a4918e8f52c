//! When statements wait for purge, for how long, and who does not.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Waker};

use super::*;
use crate::api::{Change, Config, Isolation, TableDef, TxnOptions};
use crate::engine::Engine;
use crate::error::Error;
use crate::ids::TableId;
use crate::row::tests::stage::{Columns, block_on, key, row};

#[test]
fn the_delay_follows_the_formula_and_its_cap() {
    let settings = Settings::default();
    let delay = |lag, cap, history| {
        settings.max_purge_lag.store(lag, Ordering::Relaxed);
        settings.max_purge_lag_delay.store(cap, Ordering::Relaxed);
        dml_delay_us(&settings, history)
    };
    assert_eq!(delay(0, 0, 1 << 40), 0, "no lag, no delay");
    assert_eq!(delay(1000, 0, 1000), 0);
    assert_eq!(delay(1000, 0, 1001), 5_010);
    assert_eq!(delay(1000, 0, 2000), 15_000);
    assert_eq!(delay(1000, 7_000, 2000), 7_000);
    assert_eq!(delay(1, 0, u64::MAX), DELAY_US_MAX);
    assert_eq!(delay(u64::MAX, 0, u64::MAX), 0);
}

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn statements_wait_while_history_is_too_long_and_only_before_they_hold_anything() {
    let engine =
        Engine::open_quiet(Arc::new(turnstile_sys::fault_disk::FaultDisk::new(1)), Config::default());
    let engine = engine.unwrap();
    let table = TableDef {
        id: TableId(1),
        clustered: engine.create_index().unwrap(),
        secondaries: Vec::new(),
        keys: Arc::new(Columns),
    };
    let begin = || engine.begin(crate::row::tests::stage::options(Isolation::RepeatableRead));
    let set = |txn: &mut Txn, id: u32, a: u32| {
        block_on(txn.update(&table, &key(id), &mut |_, new| {
            new.extend_from_slice(&row(a, 0, ""));
            Change::Replace
        }))
        .unwrap()
    };
    for id in 0..50 {
        let mut txn = begin();
        block_on(txn.insert(&table, &key(id), &row(0, 0, ""))).unwrap();
        txn.commit().unwrap();
    }
    let mut old = begin();
    old.open_view();
    for id in 0..50 {
        let mut txn = begin();
        set(&mut txn, id, 1);
        txn.commit().unwrap();
    }
    let settings = engine.settings();
    settings.max_purge_lag.store(10, Ordering::Relaxed);
    settings.max_purge_lag_delay.store(20_000, Ordering::Relaxed);
    let mut txn = begin();
    assert_eq!(poll(pin!(txn.wait_for_purge())), Poll::Ready(Ok(())), "purge has not looked yet");
    engine.purge_all().unwrap();
    assert_eq!(engine.history_list_length(), 50);
    assert_eq!(engine.purge_status().dml_delay_us, 20_000);

    let mut txn = begin();
    let begun = Instant::now();
    assert!(poll(pin!(txn.wait_for_purge())).is_pending());
    block_on(txn.wait_for_purge()).unwrap();
    assert!(begun.elapsed() >= Duration::from_micros(20_000));
    assert!(engine.purge_status().dml_delayed_us >= 20_000);
    set(&mut txn, 1, 2);
    assert_eq!(poll(pin!(txn.wait_for_purge())), Poll::Ready(Ok(())), "others would wait with it");
    txn.commit().unwrap();

    let interrupt = Arc::new(crate::interrupt::Interrupt::new());
    let base = crate::row::tests::stage::options(Isolation::RepeatableRead);
    settings.max_purge_lag_delay.store(0, Ordering::Relaxed);
    settings.max_purge_lag.store(1, Ordering::Relaxed);
    engine.purge_all().unwrap();
    let mut txn = engine.begin(TxnOptions { interrupt: interrupt.clone(), ..base });
    let mut wait = pin!(txn.wait_for_purge());
    assert!(poll(wait.as_mut()).is_pending());
    interrupt.kill_query();
    assert_eq!(poll(wait), Poll::Ready(Err(Error::Killed)));

    drop(old);
    engine.purge_all().unwrap();
    assert_eq!((engine.history_list_length(), engine.purge_status().dml_delay_us), (0, 0));
}

#[test]
fn purge_stops_and_resumes() {
    let engine = Engine::open_memory(Config::default()).unwrap();
    engine.stop_purge();
    engine.stop_purge();
    assert!(engine.purge_status().stopped);
    engine.resume_purge();
    let status = engine.purge_status();
    assert_eq!((status.stopped, status.stops, status.resumes), (false, 1, 1));
    engine.close().unwrap();
}
