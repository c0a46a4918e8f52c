//! Purge and versions: nothing is left behind, and a hot row's chain stays short.

use super::stage::*;
use crate::api::*;
use crate::btree::{WalkState, verify};
use crate::buffer::with_pages_blocking;
use crate::engine::Engine;
use crate::txn::undo_record::{Item, UndoKind, item_at, place};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Every tree is sound and has exactly `rows` records: no marked row or entry has stayed.
pub fn nothing_is_left_behind(engine: &Arc<Engine>, table: &TableDef, rows: usize) {
    let trees = std::iter::once(table.clustered).chain(table.secondaries.iter().map(|def| def.id));
    let kernel = &begin(engine).kernel;
    for index in trees {
        let tree = with_pages_blocking(&kernel.storage, || kernel.tree(index)).unwrap();
        with_pages_blocking(&kernel.storage, || verify(&tree)).unwrap();
        let mut count = 0;
        let mut state = WalkState::default();
        with_pages_blocking(&kernel.storage, || {
            tree.walk(&mut state, |record| {
                assert_eq!(record.flags, 0, "index {index}");
                count += 1;
                ControlFlow::Continue(())
            })
        })
        .unwrap();
        assert_eq!(count, rows, "index {index}");
    }
}

/// Versions behind the newest one.
fn chain_length(engine: &Arc<Engine>, table: &TableDef, id: u32) -> usize {
    let kernel = &begin(engine).kernel;
    let tree = kernel.tree(table.clustered).unwrap();
    let (leaf, position) = tree.find(&key(id)).unwrap();
    let mut at = super::super::value::RowValue::decode(leaf.record(position.slot()).value).unwrap().roll_ptr;
    let mut length = 0;
    while at.0 != 0 {
        let page = kernel.storage.pool.load_blocking(place(at).0).unwrap().read();
        let (Item::Record(record), _) = item_at(&page, place(at).1).unwrap() else { panic!("not a record") };
        let UndoKind::Update { old_value, .. } = record.kind else { break };
        at = super::super::value::RowValue::decode(old_value).unwrap().roll_ptr;
        length += 1;
    }
    length
}

#[test]
fn a_hot_rows_chain_stays_short_under_an_old_view() {
    let (_disk, engine, table) = open(30);
    let table = bare(&table);
    let mut txn = begin(&engine);
    insert(&mut txn, &table, 1, &row(0, 0, ""));
    txn.commit().unwrap();
    let mut old = begin(&engine);
    assert_eq!(a_of(&get(&mut old, &table, 1).unwrap()), 0);
    let mut middle = None;
    for n in 1..=3000 {
        let mut txn = begin(&engine);
        set(&mut txn, &table, 1, &row(n, 0, ""));
        txn.commit().unwrap();
        if n == 1000 {
            let mut txn = begin(&engine);
            get(&mut txn, &table, 1);
            middle = Some(txn);
        }
    }
    engine.purge_all().unwrap();
    assert!(engine.history_list_length() < 700, "{}", engine.history_list_length());
    assert!(engine.stats().undo_pages_freed.load(std::sync::atomic::Ordering::Relaxed) > 10);
    assert!(chain_length(&engine, &table, 1) <= 6, "{}", chain_length(&engine, &table, 1));
    assert_eq!(a_of(&get(&mut old, &table, 1).unwrap()), 0);
    assert_eq!(a_of(&get(middle.as_mut().unwrap(), &table, 1).unwrap()), 1000);
    assert_eq!(a_of(&get(&mut begin(&engine), &table, 1).unwrap()), 3000);
    drop((old, middle));
    engine.purge_all().unwrap();
    assert_eq!(engine.history_list_length(), 0);
}

#[test]
fn many_writers_at_once_have_a_lane_each() {
    let (disk, engine, table) = open(33);
    let table = bare(&table);
    let writers: Vec<_> = (0..4200)
        .map(|id| {
            let mut txn = begin(&engine);
            insert(&mut txn, &table, id, &row(id, id, ""));
            txn
        })
        .collect();
    let lsn = engine.storage().wal.current_lsn();
    block_on(engine.wait_durable(lsn)).unwrap();
    let disk = disk.crash();
    drop(writers);
    let engine = Engine::open_quiet(Arc::new(disk), small_config()).unwrap();
    assert_eq!(engine.losers(), 4200);
    assert_eq!(contents(&mut begin(&engine), &table).len(), 0);
    engine.purge_all().unwrap();
    nothing_is_left_behind(&engine, &table, 0);
    let mut txn = begin(&engine);
    insert(&mut txn, &table, 1, &row(1, 1, ""));
    txn.commit().unwrap();
}

#[test]
fn undo_needs_no_new_pages_while_purge_keeps_up() {
    let (_disk, engine, table) = open(31);
    let table = bare(&table);
    let mut txn = begin(&engine);
    insert(&mut txn, &table, 1, &row(0, 0, ""));
    txn.commit().unwrap();
    engine.purge_all().unwrap();
    let (pages, free) = engine.storage().space.sizes();
    for n in 1..=2000 {
        let mut txn = begin(&engine);
        set(&mut txn, &table, 1, &row(n, 0, ""));
        txn.commit().unwrap();
        if n % 50 == 0 {
            engine.purge_all().unwrap();
        }
    }
    assert_eq!(engine.storage().space.sizes(), (pages, free));
}

#[test]
fn deleting_everything_gives_the_pages_back() {
    let (_disk, engine, table) = open(32);
    let (pages, free) = engine.storage().space.sizes();
    let mut txn = begin(&engine);
    for id in 0..3000 {
        insert(&mut txn, &table, id, &row(id % 7, id, &"text ".repeat(20)));
    }
    txn.commit().unwrap();
    let mut old = begin(&engine);
    assert_eq!(contents(&mut old, &table).len(), 3000);
    let mut txn = begin(&engine);
    for id in 0..3000 {
        assert!(block_on(txn.delete(&table, &key(id))).unwrap());
    }
    txn.commit().unwrap();
    engine.purge_all().unwrap();
    assert_eq!(contents(&mut old, &table).len(), 3000, "the old view still has them");
    assert_eq!(engine.history_list_length(), 1);
    drop(old);
    engine.purge_all().unwrap();
    nothing_is_left_behind(&engine, &table, 0);
    let (pages_after, free_after) = engine.storage().space.sizes();
    assert!(pages_after - free_after <= pages - free + 6, "{} {}", pages_after - free_after, pages - free);
}
