//! Rows inserted in runs: the same as one at a time, for readers, for waiters, after a rollback and after a
//! crash.

use super::stage::*;
use crate::api::*;
use crate::engine::Engine;
use crate::error::Error;
use crate::row::RowRun;
use crate::txn::Txn;
use std::pin::pin;
use std::sync::Arc;

fn run_of(ids: impl Iterator<Item = u32>) -> RowRun {
    let mut run = RowRun::default();
    for id in ids {
        run.push(&key(id), &row(id % 7, id, "a row of a run, as long as others of its kind are"));
    }
    run
}

/// How many runs, and how many rows one at a time, it took.
fn insert_all(txn: &mut Txn, table: &TableDef, run: &RowRun) -> (usize, usize) {
    let (mut at, mut runs, mut single) = (0, 0, 0);
    while at < run.len() {
        let inserted = txn.try_insert_run(table, run, at).unwrap();
        if inserted == 0 {
            let (key, row) = run.get(at);
            block_on(txn.insert(table, key, row)).unwrap();
            single += 1;
            at += 1;
        } else {
            runs += 1;
            at += inserted;
        }
    }
    (runs, single)
}

fn ids(engine: &Arc<Engine>, table: &TableDef) -> Vec<u32> {
    let rows = contents(&mut begin(engine), table);
    rows.iter().map(|(key, _)| u32::from_be_bytes(key[..4].try_into().unwrap())).collect()
}

#[test]
fn rows_of_a_run_are_rows() {
    let (_disk, engine, table) = open(101);
    let table = bare(&table);
    let mut txn = begin(&engine);
    let (runs, single) = insert_all(&mut txn, &table, &run_of(0..3000));
    assert!(runs > 5 && runs < 60 && single == 0, "{runs} runs, {single} rows alone");
    assert_eq!(ids(&engine, &table), Vec::<u32>::new(), "nobody sees them yet");
    assert_eq!(
        get(&mut txn, &table, 1234).unwrap(),
        run_of(1234..1235).get(0).1,
        "but the transaction itself"
    );
    txn.commit().unwrap();
    assert_eq!(ids(&engine, &table), (0..3000).collect::<Vec<_>>());
    crate::btree::verify(&begin(&engine).kernel.tree(table.clustered).unwrap()).unwrap();
    engine.purge_all().unwrap();
    assert_eq!(engine.history_list_length(), 0);
}

#[test]
fn a_run_stops_where_a_row_is_not_behind_the_last() {
    let (_disk, engine, table) = open(102);
    let table = bare(&table);
    let mut txn = begin(&engine);
    insert(&mut txn, &table, 50, &row(1, 1, "first"));
    assert_eq!(txn.try_insert_run(&table, &run_of(40..45), 0).unwrap(), 0, "in front of a record");
    assert_eq!(txn.try_insert_run(&table, &run_of(50..55), 0).unwrap(), 0, "a duplicate");
    assert_eq!(txn.try_insert_run(&table, &run_of([60, 61, 62, 62, 63].into_iter()), 0).unwrap(), 3);
    let error = block_on(txn.insert(&table, &key(62), b"12345678")).unwrap_err();
    assert!(matches!(error, Error::DuplicateKey { nth: None, .. }));
    let mut long = RowRun::default();
    long.push(&key(70), &row(0, 0, "short"));
    long.push(&key(71), &row(0, 0, &"long".repeat(3000)));
    assert_eq!(txn.try_insert_run(&table, &long, 0).unwrap(), 1, "a chain is not for a run");
    assert_eq!(txn.try_insert_run(&table, &long, 1).unwrap(), 0);
    txn.commit().unwrap();
    assert_eq!(ids(&engine, &table), [50, 60, 61, 62, 70]);
}

#[test]
fn somebody_elses_lock_and_gap_end_a_run() {
    let (_disk, engine, table) = open(103);
    let table = bare(&table);
    fill(&engine, &table, 10);
    let mut holder = begin(&engine);
    let mode = Read::Locking { lock: RowLock::Exclusive, wait: LockWait::Wait };
    insert(&mut holder, &table, 103, &row(1, 1, "held"));
    let mut txn = begin(&engine);
    assert_eq!(txn.try_insert_run(&table, &run_of(100..110), 0).unwrap(), 0, "100 comes before 103");
    assert_eq!(txn.try_insert_run(&table, &run_of(103..110), 0).unwrap(), 0, "103 is locked");
    assert_eq!(txn.try_insert_run(&table, &run_of(104..110), 0).unwrap(), 6);
    // A row of the run is waited for like any other.
    let mut other = begin_rc(&engine);
    {
        let wanted = key(107);
        let mut read = pin!(other.get(&table, &wanted, mode));
        assert!(poll_once(read.as_mut()).is_none(), "the row is locked");
        txn.commit().unwrap();
        assert!(block_on(read).unwrap().is_some());
    }
    block_on(other.rollback()).unwrap();
    // Whoever locks the gap behind the last row keeps runs out of it.
    let mut reader = begin(&engine);
    assert!(block_on(reader.get(&table, &key(500), mode)).unwrap().is_none());
    assert_eq!(begin(&engine).try_insert_run(&table, &run_of(600..610), 0).unwrap(), 0);
    block_on(reader.rollback()).unwrap();
    assert_eq!(begin(&engine).try_insert_run(&table, &run_of(600..610), 0).unwrap(), 10);
}

#[test]
fn a_table_with_secondary_keys_takes_no_runs() {
    let (_disk, engine, table) = open(104);
    assert_eq!(begin(&engine).try_insert_run(&table, &run_of(0..5), 0).unwrap(), 0);
}

#[test]
fn rollback_takes_a_run_back_row_by_row() {
    let (_disk, engine, table) = open(105);
    let table = bare(&table);
    let mut txn = begin(&engine);
    insert_all(&mut txn, &table, &run_of(0..300));
    let savepoint = txn.savepoint();
    insert_all(&mut txn, &table, &run_of(300..900));
    block_on(txn.rollback_to(savepoint)).unwrap();
    // The marked rows are there still; a run over them goes one by one.
    let (_, single) = insert_all(&mut txn, &table, &run_of(300..310));
    assert_eq!(single, 10);
    txn.commit().unwrap();
    assert_eq!(ids(&engine, &table), (0..310).collect::<Vec<_>>());
    let mut txn = begin(&engine);
    insert_all(&mut txn, &table, &run_of(1000..2000));
    block_on(txn.rollback()).unwrap();
    engine.purge_all().unwrap();
    assert_eq!(ids(&engine, &table), (0..310).collect::<Vec<_>>());
}

#[test]
fn restart_takes_an_unfinished_run_back() {
    let (disk, engine, table) = open(106);
    let table = bare(&table);
    let mut txn = begin(&engine);
    insert_all(&mut txn, &table, &run_of(0..400));
    let lsn = txn.commit().unwrap().unwrap();
    let mut loser = begin(&engine);
    insert_all(&mut loser, &table, &run_of(400..1000));
    let mut last = begin(&engine);
    insert(&mut last, &table, 5000, &row(1, 1, "behind the loser's"));
    let last = last.commit().unwrap().unwrap();
    block_on(engine.wait_durable(lsn.max(last))).unwrap();
    let disk = disk.crash();
    // It keeps its locks: the end of this life.
    std::mem::forget(loser);
    drop(engine);
    let engine = Engine::open_quiet(Arc::new(disk), small_config()).unwrap();
    let mut expected: Vec<u32> = (0..400).collect();
    expected.push(5000);
    assert_eq!(ids(&engine, &table), expected);
}
