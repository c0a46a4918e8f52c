//! One or two transactions: what is written is read, rolled back, kept, and found again after reopening.

use super::stage::*;
use crate::api::*;
use crate::engine::Engine;
use crate::error::Error;
use crate::txn::Txn;
use std::ops::Bound;
use std::sync::Arc;

fn sends<T: Send>(value: T) -> T {
    value
}

#[test]
fn futures_are_send() {
    let (_disk, engine, table) = open(1);
    let mut txn = begin(&engine);
    drop(sends(txn.insert(&table, b"k", b"12345678")));
    drop(sends(txn.update(&table, b"k", &mut |_, _| Change::Keep)));
    drop(sends(txn.get(&table, b"k", Read::Consistent)));
    let mut scan = txn.scan(&table, spec(ScanIndex::Clustered, Read::Consistent));
    drop(sends(txn.scan_batch(&mut scan, &mut |_, _, _| Visit::Continue)));
    drop(sends(txn.scan_locked_next(&mut scan, &mut |_| true)));
    drop(sends(txn.rollback()));
    drop(sends(engine.wait_durable(crate::ids::Lsn(0))));
    drop(sends(engine.build_secondary(&table, 0)));
}

#[test]
fn rows_come_back_after_commit_and_reopen() {
    let (disk, engine, table) = open(2);
    let mut txn = begin(&engine);
    for id in 0..500 {
        insert(&mut txn, &table, id, &row(id % 10, id, "first"));
    }
    let lsn = txn.commit().unwrap().unwrap();
    block_on(engine.wait_durable(lsn)).unwrap();
    let mut reader = begin(&engine);
    assert_eq!(contents(&mut reader, &table).len(), 500);
    drop(reader);
    engine.close().unwrap();
    drop(engine);
    let engine = Engine::open_quiet(Arc::new(disk), small_config()).unwrap();
    let mut reader = begin(&engine);
    let rows = contents(&mut reader, &table);
    assert_eq!(rows.len(), 500);
    assert_eq!(rows[7].1, row(7, 7, "first"));
}

#[test]
fn what_is_read_at_once_has_nothing_to_wait_for() {
    let (disk, engine, table) = open(5);
    let mut txn = begin(&engine);
    for id in 0..500 {
        insert(&mut txn, &table, id, &row(id % 10, id, "first"));
    }
    let lsn = txn.commit().unwrap().unwrap();
    block_on(engine.wait_durable(lsn)).unwrap();
    engine.close().unwrap();
    drop(engine);
    let engine = Engine::open_quiet(Arc::new(disk), small_config()).unwrap();
    let mut reader = begin(&engine);
    let mut shown = Vec::new();
    let mut show = |bytes: &[u8]| shown.push(bytes.to_vec());
    // Its page is not in memory: nothing is shown, and the read that waits for the page shows it once.
    assert_eq!(reader.get_now(&table, &key(300), &mut show).unwrap(), None);
    assert!(block_on(reader.get_with(&table, &key(300), &mut show)).unwrap());
    // Now it is.
    assert_eq!(reader.get_now(&table, &key(300), &mut show).unwrap(), Some(true));
    assert_eq!(shown, [row(0, 300, "first"), row(0, 300, "first")]);
    assert!(!block_on(reader.get_with(&table, &key(500), &mut |_| ())).unwrap());
    assert_eq!(reader.get_now(&table, &key(500), &mut |_| ()).unwrap(), Some(false));
}

#[test]
fn update_delete_and_reinsert() {
    let (_disk, engine, table) = open(3);
    let mut txn = begin(&engine);
    insert(&mut txn, &table, 1, &row(1, 1, "one"));
    insert(&mut txn, &table, 2, &row(2, 2, "two"));
    assert_eq!(set(&mut txn, &table, 1, &row(5, 6, "a longer text than before")), Updated::Changed);
    assert_eq!(set(&mut txn, &table, 9, &row(0, 0, "")), Updated::Missing);
    assert!(block_on(txn.delete(&table, &key(2))).unwrap());
    assert!(!block_on(txn.delete(&table, &key(2))).unwrap());
    insert(&mut txn, &table, 2, &row(8, 2, "again"));
    txn.commit().unwrap();
    let mut reader = begin(&engine);
    let rows = contents(&mut reader, &table);
    assert_eq!(
        rows,
        vec![
            (key(1).to_vec(), row(5, 6, "a longer text than before")),
            (key(2).to_vec(), row(8, 2, "again")),
        ]
    );
    drop(reader);
    engine.purge_all().unwrap();
    assert_eq!(contents(&mut begin(&engine), &table).len(), 2);
    assert_eq!(engine.history_list_length(), 0);
}

#[test]
fn rollback_restores_everything() {
    let (_disk, engine, table) = open(4);
    let mut txn = begin(&engine);
    for id in 0..50 {
        insert(&mut txn, &table, id, &row(id, id, "base"));
    }
    txn.commit().unwrap();
    let before = contents(&mut begin(&engine), &table);
    let mut txn = begin(&engine);
    for id in 0..50 {
        match id % 3 {
            0 => drop(set(&mut txn, &table, id, &row(id + 100, id + 100, &"long ".repeat(50)))),
            1 => assert!(block_on(txn.delete(&table, &key(id))).unwrap()),
            _ => insert(&mut txn, &table, id + 1000, &row(id, id + 1000, "new")),
        }
    }
    insert(&mut txn, &table, 1, &row(77, 78, "over a deleted one"));
    assert_ne!(contents(&mut txn, &table), before, "it sees its own changes");
    block_on(txn.rollback()).unwrap();
    assert_eq!(contents(&mut begin(&engine), &table), before);
    engine.purge_all().unwrap();
    assert_eq!(contents(&mut begin(&engine), &table), before);
}

#[test]
fn savepoints_take_back_a_part() {
    let (_disk, engine, table) = open(5);
    let mut txn = begin(&engine);
    insert(&mut txn, &table, 1, &row(1, 1, "kept"));
    let savepoint = txn.savepoint();
    insert(&mut txn, &table, 2, &row(2, 2, "gone"));
    set(&mut txn, &table, 1, &row(9, 9, "gone"));
    block_on(txn.rollback_to(savepoint)).unwrap();
    insert(&mut txn, &table, 3, &row(2, 2, "unique value is free again"));
    txn.commit().unwrap();
    let rows = contents(&mut begin(&engine), &table);
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0].1, row(1, 1, "kept"));
    engine.purge_all().unwrap();
    assert_eq!(contents(&mut begin(&engine), &table), rows);
}

#[test]
fn duplicates_are_refused() {
    let (_disk, engine, table) = open(6);
    let mut txn = begin(&engine);
    insert(&mut txn, &table, 1, &row(1, 10, ""));
    let error = block_on(txn.insert(&table, &key(1), &row(3, 11, ""))).unwrap_err();
    assert_eq!(error, Error::DuplicateKey { index: table.clustered, nth: None, pk: key(1).to_vec() });
    let error = block_on(txn.insert(&table, &key(2), &row(3, 10, ""))).unwrap_err();
    assert_eq!(
        error,
        Error::DuplicateKey { index: table.secondaries[1].id, nth: Some(1), pk: key(1).to_vec() }
    );
    insert(&mut txn, &table, 3, &row(1, NULL, ""));
    insert(&mut txn, &table, 4, &row(1, NULL, ""));
    let error = block_on(update(&mut txn, &table, 3, &row(1, 10, ""))).unwrap_err();
    assert!(matches!(error, Error::DuplicateKey { nth: Some(1), .. }));
    assert_eq!(set(&mut txn, &table, 1, &row(2, 10, "same value, same row")), Updated::Changed);
    txn.commit().unwrap();
    assert_eq!(contents(&mut begin(&engine), &table).len(), 3);
}

/// A value is written a page at a time, and each page waits for room in the redo: rows of several times its
/// size go through it, and a chain that is given up in the middle is free again.
#[test]
fn rows_larger_than_the_redo_go_through_it() {
    let disk = turnstile_sys::fault_disk::FaultDisk::new(21);
    let config = Config { redo_capacity_bytes: 1 << 20, ..small_config() };
    let engine = Engine::open_quiet(Arc::new(disk.clone()), config).unwrap();
    let table = new_table(&engine);
    let long = |n: u32| row(n, n, &"long".repeat(1_000_000));
    let mut txn = begin(&engine);
    insert(&mut txn, &table, 1, &long(1));
    set(&mut txn, &table, 1, &long(2));
    txn.commit().unwrap();
    assert_eq!(get(&mut begin(&engine), &table, 1).unwrap(), long(2));
    let taken = || engine.storage().space.sizes().0 - engine.storage().space.sizes().1;
    let before = taken();
    let mut txn = begin(&engine);
    disk.set_capacity(disk.used() + (1 << 20));
    assert!(matches!(block_on(txn.insert(&table, &key(2), &long(3))), Err(Error::DiskFull)));
    assert!(taken() <= before + 1, "one for undo, none of the chain");
}

#[test]
fn long_rows_live_in_chains() {
    let (_disk, engine, table) = open(7);
    let long = |n: usize, c: char| row(1, n as u32, &c.to_string().repeat(n));
    let used = || engine.storage().space.sizes();
    let mut txn = begin(&engine);
    insert(&mut txn, &table, 1, &long(100_000, 'a'));
    txn.commit().unwrap();
    let mut old = begin(&engine);
    assert_eq!(get(&mut old, &table, 1).unwrap(), long(100_000, 'a'));
    let mut txn = begin(&engine);
    set(&mut txn, &table, 1, &long(200_000, 'b'));
    assert_eq!(get(&mut txn, &table, 1).unwrap(), long(200_000, 'b'));
    txn.commit().unwrap();
    engine.purge_all().unwrap();
    assert_eq!(get(&mut old, &table, 1).unwrap(), long(100_000, 'a'), "purge keeps what a view needs");
    drop(old);
    engine.purge_all().unwrap();
    let (pages, free) = used();
    let mut txn = begin(&engine);
    set(&mut txn, &table, 1, &long(300_000, 'c'));
    block_on(txn.rollback()).unwrap();
    engine.purge_all().unwrap();
    let (pages_after, free_after) = used();
    assert_eq!(pages - free, pages_after - free_after, "the chain of the undone version is free again");
    assert_eq!(contents(&mut begin(&engine), &table), vec![(key(1).to_vec(), long(200_000, 'b'))]);
    let mut txn = begin(&engine);
    assert!(block_on(txn.delete(&table, &key(1))).unwrap());
    txn.commit().unwrap();
    engine.purge_all().unwrap();
    let (pages_end, free_end) = used();
    assert!(pages_end - free_end < pages - free - 10);
}

#[test]
fn scans_honour_bounds_and_direction() {
    let (_disk, engine, table) = open(8);
    let mut txn = begin(&engine);
    for id in 0..1000 {
        insert(&mut txn, &table, id, &row(id / 10, id, "some text to fill leaves with"));
    }
    txn.commit().unwrap();
    let mut txn = begin(&engine);
    let ids = |rows: Vec<(Vec<u8>, Vec<u8>)>| -> Vec<u32> {
        rows.iter().map(|(pk, _)| u32::from_be_bytes(pk.as_slice().try_into().unwrap())).collect()
    };
    let base = spec(ScanIndex::Clustered, Read::Consistent);
    let range = ScanSpec {
        lower: Bound::Excluded(key(100).to_vec()),
        upper: Bound::Included(key(900).to_vec()),
        ..base.clone()
    };
    assert_eq!(ids(scan_all(&mut txn, &table, range.clone())), (101..=900).collect::<Vec<_>>());
    let reverse = ScanSpec { reverse: true, ..range };
    assert_eq!(ids(scan_all(&mut txn, &table, reverse)), (101..=900).rev().collect::<Vec<_>>());
    let prefix = |lower: Bound<u32>, upper: Bound<u32>, reverse| ScanSpec {
        index: ScanIndex::Secondary(0),
        lower: lower.map(|v| v.to_be_bytes().to_vec()),
        upper: upper.map(|v| v.to_be_bytes().to_vec()),
        reverse,
        ..base.clone()
    };
    let equal = prefix(Bound::Included(5), Bound::Included(5), false);
    assert_eq!(ids(scan_all(&mut txn, &table, equal)), (50..60).collect::<Vec<_>>());
    let equal = prefix(Bound::Included(5), Bound::Included(5), true);
    assert_eq!(ids(scan_all(&mut txn, &table, equal)), (50..60).rev().collect::<Vec<_>>());
    let open = prefix(Bound::Excluded(5), Bound::Excluded(8), false);
    assert_eq!(ids(scan_all(&mut txn, &table, open)), (60..80).collect::<Vec<_>>());
}

#[test]
fn dropped_transactions_are_rolled_back() {
    let (_disk, engine, table) = open(9);
    let mut txn: Txn = begin(&engine);
    insert(&mut txn, &table, 1, &row(1, 1, ""));
    drop(txn);
    assert_eq!(contents(&mut begin(&engine), &table).len(), 0);
    engine.roll_back_abandoned().unwrap();
    let mut txn = begin(&engine);
    insert(&mut txn, &table, 1, &row(2, 1, "the key is free and unlocked"));
    txn.commit().unwrap();
    assert_eq!(contents(&mut begin(&engine), &table).len(), 1);
}

#[test]
fn a_secondary_tree_can_be_built_later() {
    let (_disk, engine, table) = open(11);
    let bare = bare(&table);
    let mut txn = begin(&engine);
    for id in 0..3000 {
        let length = if id % 500 == 0 { 9000 } else { 20 };
        insert(&mut txn, &bare, id, &row(id % 13, if id % 7 == 0 { NULL } else { id }, &"b".repeat(length)));
    }
    assert!(block_on(txn.delete(&bare, &key(77))).unwrap());
    txn.commit().unwrap();
    block_on(engine.build_secondary(&table, 0)).unwrap();
    block_on(engine.build_secondary(&table, 1)).unwrap();
    assert_eq!(contents(&mut begin(&engine), &table).len(), 2999);
    let mut txn = begin(&engine);
    set(&mut txn, &bare, 2, &row(1, 1, "now twice"));
    txn.commit().unwrap();
    let again = SecondaryDef { id: engine.create_index().unwrap(), unique: true };
    let table = TableDef { secondaries: vec![table.secondaries[0].clone(), again], ..table };
    let error = block_on(engine.build_secondary(&table, 1)).unwrap_err();
    assert!(matches!(error, Error::DuplicateKey { nth: Some(1), .. }), "{error}");
}

#[test]
fn indexes_can_be_dropped() {
    let (_disk, engine, table) = open(10);
    let mut txn = begin(&engine);
    for id in 0..2000 {
        insert(&mut txn, &table, id, &row(id, id, &"x".repeat(if id % 100 == 0 { 20_000 } else { 100 })));
    }
    txn.commit().unwrap();
    engine.purge_all().unwrap();
    for index in [table.clustered, table.secondaries[0].id, table.secondaries[1].id] {
        engine.drop_index(index).unwrap();
    }
    assert_eq!(engine.indexes(), vec![DICTIONARY_INDEX]);
    let (pages, free) = engine.storage().space.sizes();
    assert!(pages - free < 20, "{pages} {free}");
    assert!(matches!(
        block_on(begin(&engine).get(&table, &key(1), Read::Consistent)),
        Err(Error::NoSuchIndex(_))
    ));
}
