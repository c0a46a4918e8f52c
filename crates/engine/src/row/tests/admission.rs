//! Statements and the admission gate: what is held and what is given back while a statement is outside.

use super::stage::*;
use crate::admission::{AdmissionState, Place};
use crate::api::*;
use crate::error::Error;
use crate::session_status::{Operation, SessionStatus};
use std::sync::Arc;
use std::sync::atomic::Ordering;

fn limited(limit: u64, tickets: u64) -> (Arc<crate::Engine>, TableDef) {
    let (_disk, engine, table) = open(1);
    let table = bare(&table);
    let mut txn = begin(&engine);
    (0..20).for_each(|id| insert(&mut txn, &table, id, b"old"));
    txn.commit().unwrap();
    engine.settings().concurrency_tickets.store(tickets, Ordering::Relaxed);
    engine.settings().thread_concurrency.store(limit, Ordering::Relaxed);
    (engine, table)
}

#[test]
fn a_range_update_that_is_sent_out_keeps_its_row_locks() {
    let (engine, table) = limited(1, 5);
    let quiet = crate::interrupt::Interrupt::new();
    let mut house = engine.gate().ticket(&AdmissionState::new()).unwrap();
    block_on(house.come_in(&quiet)).unwrap();
    let status = Arc::new(SessionStatus::new(1));
    let mut long = engine.begin(TxnOptions { status: status.clone(), ..options(Isolation::RepeatableRead) });
    long.begin_statement(Operation::UpdatingOrDeleting);
    let mut range = Box::pin(async {
        for id in 0..20 {
            update(&mut long, &table, id, b"new").await.unwrap();
        }
    });
    assert!(poll_once(range.as_mut()).is_none());
    house.spend(5);
    let mut back = Box::pin(house.come_in(&quiet));
    assert!(poll_once(back.as_mut()).is_none(), "the range UPDATE is before it");
    assert!(poll_once(range.as_mut()).is_none(), "five rows, then it makes way");
    assert!(poll_once(back.as_mut()).is_some());
    drop(back);
    assert_eq!(status.admission().place(), Place::Queued);
    let mut other = begin(&engine);
    let mode = Read::Locking { lock: RowLock::Shared, wait: LockWait::NoWait };
    assert_eq!(
        block_on(other.get(&table, &key(4), mode)),
        Err(Error::NoWait),
        "sent out, and the row is still its"
    );
    assert!(block_on(other.get(&table, &key(5), mode)).unwrap().is_some());
    other.commit().unwrap();
    drop(house);
    assert!(poll_once(range.as_mut()).is_some());
}

#[test]
fn every_verb_pays_and_none_without_a_limit() {
    let (engine, table) = limited(1, 100);
    let status = Arc::new(SessionStatus::new(1));
    let mut txn = engine.begin(TxnOptions { status: status.clone(), ..options(Isolation::RepeatableRead) });
    txn.begin_statement(Operation::FetchingRows);
    assert_eq!(status.admission().place(), Place::Outside, "it enters with its first row");
    let left = || status.admission().place().tickets();
    get(&mut txn, &table, 1);
    assert_eq!((left(), status.activity().as_str()), (99, "fetching rows, thread declared inside InnoDB 99"));
    set(&mut txn, &table, 1, b"new");
    insert(&mut txn, &table, 30, b"new");
    assert_eq!(left(), 97);
    let spec = ScanSpec {
        index: ScanIndex::Clustered,
        lower: std::ops::Bound::Unbounded,
        upper: std::ops::Bound::Unbounded,
        reverse: false,
        mode: Read::Consistent,
        fetch_row: true,
    };
    let mut scan = txn.scan(&table, spec);
    while block_on(txn.scan_batch(&mut scan, &mut |_, _, _| Visit::Continue)).unwrap() {}
    assert!((75..=76).contains(&left()), "21 rows, and at most one for finding the end");
    txn.leave_engine();
    assert_eq!((engine.gate().counts().inside, status.activity().as_str()), (0, ""));
    engine.settings().thread_concurrency.store(0, Ordering::Relaxed);
    txn.begin_statement(Operation::FetchingRows);
    assert!(!txn.admission_is_due(), "no ticket, nothing to ask the gate");
    txn.commit().unwrap();
}
