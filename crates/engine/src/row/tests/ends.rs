//! A change that is all its transaction does commits it in the same mini-transaction: what others see between
//! the change and `commit`, what a crash leaves, and which changes are not of this kind.

use std::sync::Arc;

use super::stage::*;
use crate::api::*;
use crate::engine::Engine;
use crate::row::UpdateDraft;
use crate::txn::Txn;

/// Changes the text of row `id` by a draft that may end its transaction.
fn change(txn: &mut Txn, table: &TableDef, id: u32, new: &[u8]) -> Updated {
    let mut draft = UpdateDraft::that_ends(true);
    let mut replace = |_: &[u8], out: &mut Vec<u8>| {
        out.clear();
        out.extend_from_slice(new);
        Change::Replace
    };
    match txn.update_now(table, &key(id), &mut replace, &mut draft).unwrap() {
        Some(updated) => updated,
        None => block_on(txn.update_waiting(table, &key(id), &mut replace, draft)).unwrap(),
    }
}

fn stage(seed: u64) -> (turnstile_sys::fault_disk::FaultDisk, Arc<Engine>, TableDef) {
    let (disk, engine, table) = open(seed);
    let mut txn = begin(&engine);
    for id in 0..3 {
        insert(&mut txn, &table, id, &row(id, id, "first"));
    }
    let lsn = txn.commit().unwrap().unwrap();
    block_on(engine.wait_durable(lsn)).unwrap();
    (disk, engine, table)
}

#[test]
fn it_is_in_the_log_with_its_change_and_seen_after_commit() {
    let (disk, engine, table) = stage(41);
    let mut txn = begin(&engine);
    let before = engine.storage().wal.current_lsn();
    assert_eq!(change(&mut txn, &table, 1, &row(1, 1, "second")), Updated::Changed);
    assert!(txn.has_ended());
    let written = engine.storage().wal.current_lsn();
    assert_eq!(get(&mut begin(&engine), &table, 1), Some(row(1, 1, "first")), "not committed yet");
    let lsn = txn.commit().unwrap().unwrap();
    assert_eq!((lsn, engine.storage().wal.current_lsn()), (written, written), "the commit writes nothing");
    assert!(lsn > before && !txn.has_ended());
    assert_eq!(get(&mut begin(&engine), &table, 1), Some(row(1, 1, "second")));
    assert_eq!(engine.active_transactions(), 0);
    block_on(engine.wait_durable(lsn)).unwrap();
    let disk = disk.crash();
    drop((txn, engine));
    let engine = Engine::open_quiet(Arc::new(disk), small_config()).unwrap();
    assert_eq!(get(&mut begin(&engine), &table, 1), Some(row(1, 1, "second")));
    engine.purge_all().unwrap();
    assert_eq!(engine.history_list_length(), 0);
}

#[test]
fn whoever_vanishes_behind_it_has_committed() {
    let (_disk, engine, table) = stage(42);
    let mut txn = begin(&engine);
    change(&mut txn, &table, 1, &row(1, 1, "second"));
    assert!(txn.has_ended());
    drop(txn);
    assert_eq!(engine.active_transactions(), 0, "nothing is left to the background");
    let mut next = begin(&engine);
    assert_eq!(get(&mut next, &table, 1), Some(row(1, 1, "second")));
    assert_eq!(change(&mut next, &table, 1, &row(1, 1, "third")), Updated::Changed, "its lock is free");
    next.commit().unwrap();
}

#[test]
fn a_deleted_row_is_purged() {
    let (_disk, engine, table) = stage(43);
    let table = bare(&table);
    let mut txn = begin(&engine);
    let mut draft = UpdateDraft::that_ends(true);
    let deleted = txn.update_now(&table, &key(2), &mut |_, _| Change::Delete, &mut draft).unwrap();
    assert_eq!((deleted, txn.has_ended()), (Some(Updated::Deleted), true));
    txn.commit().unwrap();
    engine.purge_all().unwrap();
    assert_eq!((get(&mut begin(&engine), &table, 2), engine.history_list_length()), (None, 0));
}

#[test]
fn what_is_more_than_one_change_ends_by_itself() {
    let (_disk, engine, table) = stage(44);
    // It moves an entry of a secondary key.
    let mut txn = begin(&engine);
    change(&mut txn, &table, 1, &row(9, 1, "second"));
    assert!(!txn.has_ended());
    block_on(txn.rollback()).unwrap();
    // Something came before.
    insert(&mut txn, &table, 7, &row(7, 7, "new"));
    change(&mut txn, &table, 1, &row(1, 1, "second"));
    assert!(!txn.has_ended());
    block_on(txn.rollback()).unwrap();
    // It changes nothing.
    let mut draft = UpdateDraft::that_ends(true);
    let kept = txn.update_now(&table, &key(1), &mut |_, _| Change::Keep, &mut draft).unwrap();
    assert_eq!((kept, txn.has_ended()), (Some(Updated::Kept), false));
    assert_eq!(txn.commit().unwrap(), None);
    // Nobody has asked for it.
    let mut draft = UpdateDraft::default();
    txn.update_now(&table, &key(1), &mut |_, _| Change::Delete, &mut draft).unwrap();
    assert!(!txn.has_ended());
    block_on(txn.rollback()).unwrap();
    assert_eq!(get(&mut txn, &table, 1), Some(row(1, 1, "first")));
}

/// Two threads that write in turn, never at the same time, have a lane each and keep it.
#[test]
fn a_thread_keeps_its_lane() {
    let (_disk, engine, table) = stage(45);
    let lane_of = |txn: &Txn| txn.hold.as_ref().map(|hold| hold.lane().number);
    let turn = std::sync::Mutex::new(());
    let used = std::thread::scope(|scope| {
        let write = |id: u32| {
            let (engine, table, turn) = (&engine, &table, &turn);
            scope.spawn(move || {
                let mut used = std::collections::BTreeSet::new();
                for _ in 0..50 {
                    let _one = turn.lock().unwrap();
                    let mut txn = begin(engine);
                    change(&mut txn, table, id, &row(id, id, "new"));
                    used.extend(lane_of(&txn));
                    txn.commit().unwrap();
                    std::thread::yield_now();
                }
                used
            })
        };
        let both = [write(0), write(1)];
        both.map(|thread| thread.join().unwrap())
    });
    assert!(used.iter().all(|lanes| lanes.len() == 1), "{used:?}");
    assert!(used[0].is_disjoint(&used[1]), "{used:?}");
}
