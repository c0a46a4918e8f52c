//! Transaction ids over restarts: whatever was done in a life before, and however it ended, every reader sees
//! what was committed, and an id is used once.

use super::stage::*;
use crate::api::*;
use crate::buffer::{DATA_FILE, Mtr, with_pages_blocking};
use crate::engine::Engine;
use crate::error::Error;
use crate::ids::{IndexId, TxnId};
use std::sync::Arc;
use turnstile_sys::checksum::crc32c;
use turnstile_sys::disk::Disk;
use turnstile_sys::fault_disk::FaultDisk;

const ROWS: u32 = 60;

/// A row whose undo record fills a good part of a page, so that a transaction's header and its last records
/// are on different pages.
fn wide(a: u32, id: u32) -> Vec<u8> {
    row(a, id, &"w".repeat(300))
}

/// Transactions that change nothing, each in another way.
fn change_nothing(engine: &Arc<Engine>, table: &TableDef, times: u32) {
    for nth in 0..times {
        let mut txn = begin_rc(engine);
        let keep = |_: &[u8], _: &mut Vec<u8>| if nth % 2 == 0 { Change::Keep } else { Change::Refuse };
        let id = if nth % 3 == 0 { nth % ROWS } else { 1_000_000 + nth };
        block_on(txn.update(table, &key(id), &mut { keep })).unwrap();
        if nth % 5 == 0 {
            assert!(block_on(txn.insert(table, &key(nth % ROWS), &wide(0, 0))).is_err(), "a duplicate");
        }
        match nth % 4 {
            0 => block_on(txn.rollback()).unwrap(),
            1 => {}
            _ => assert_eq!(txn.commit().unwrap(), None, "nothing was written"),
        }
    }
}

fn change_all(engine: &Arc<Engine>, table: &TableDef, a: u32) {
    let mut txn = begin(engine);
    for id in 0..ROWS {
        set(&mut txn, table, id, &wide(a, id));
    }
    let lsn = txn.commit().unwrap().unwrap();
    block_on(engine.wait_durable(lsn)).unwrap();
}

/// Every way to read the rows shows `a` in each of them.
fn all_readers_see(engine: &Arc<Engine>, table: &TableDef, a: u32) {
    let wanted: Vec<Vec<u8>> = (0..ROWS).map(|id| wide(a, id)).collect();
    let consistent = contents(&mut begin(engine), table);
    assert_eq!(consistent.into_iter().map(|(_, row)| row).collect::<Vec<_>>(), wanted, "a view");
    for (id, wanted) in wanted.iter().enumerate() {
        let read = |mut txn: crate::txn::Txn, mode| block_on(txn.get(table, &key(id as u32), mode)).unwrap();
        let autocommit = TxnOptions { autocommit: true, ..options(Isolation::RepeatableRead) };
        let lock = Read::Locking { lock: RowLock::Exclusive, wait: LockWait::Wait };
        assert_eq!(read(engine.begin(autocommit), Read::Consistent).as_ref(), Some(wanted), "without a view");
        assert_eq!(read(begin(engine), lock).as_ref(), Some(wanted), "FOR UPDATE");
        let dirty = engine.begin(options(Isolation::ReadUncommitted));
        assert_eq!(read(dirty, Read::Consistent).as_ref(), Some(wanted), "uncommitted");
    }
    engine.roll_back_abandoned().unwrap();
}

fn reopen(disk: FaultDisk) -> Arc<Engine> {
    Engine::open_quiet(Arc::new(disk), small_config()).unwrap()
}

#[test]
fn committed_rows_outlive_any_number_of_transactions_that_changed_nothing() {
    for clean in [true, false] {
        let (mut disk, mut engine, table) = open(41);
        let mut txn = begin(&engine);
        for id in 0..ROWS {
            insert(&mut txn, &table, id, &wide(0, id));
        }
        txn.commit().unwrap();
        for life in 1..4 {
            change_nothing(&engine, &table, if life == 1 { 100_000 } else { 500 });
            change_all(&engine, &table, 2 * life);
            engine.purge_all().unwrap();
            all_readers_see(&engine, &table, 2 * life);
            if clean {
                engine.close().unwrap();
                disk = disk.crash();
            } else {
                disk = disk.kill();
            }
            drop(engine);
            engine = reopen(disk.clone());
            all_readers_see(&engine, &table, 2 * life);
            // Work of the new life must not meet what the one before left.
            let mut old = begin(&engine);
            old.open_view();
            change_all(&engine, &table, 2 * life + 1);
            assert_eq!(get(&mut old, &table, 7), Some(wide(2 * life, 7)), "the view is older");
            drop(old);
            all_readers_see(&engine, &table, 2 * life + 1);
            engine.purge_all().unwrap();
        }
    }
}

#[test]
fn a_transaction_that_changes_nothing_gets_no_id_and_no_undo() {
    let (_disk, engine, table) = open(42);
    let mut txn = begin(&engine);
    for id in 0..ROWS {
        insert(&mut txn, &table, id, &wide(0, id));
    }
    txn.commit().unwrap();
    let (next, status) = (engine.next_txn_id(), engine.purge_status());
    change_nothing(&engine, &table, 3_000);
    assert_eq!(engine.next_txn_id(), next, "ids were used");
    let after = engine.purge_status();
    assert_eq!((after.lanes, after.undo_pages_in_use), (status.lanes, status.undo_pages_in_use));
}

/// Whoever waits for a row has no id and no lane: a queue of any length leaves no undo pages behind.
#[test]
fn waiters_make_no_undo_pages() {
    const WAITERS: usize = 200;
    let (_disk, engine, table) = open(43);
    fill(&engine, &table, 2);
    let before = engine.purge_status();
    let mut holder = begin(&engine);
    set(&mut holder, &table, 1, &row(1, 1, "held"));
    let mut waiters: Vec<_> = (0..WAITERS).map(|_| begin(&engine)).collect();
    let mut waits: Vec<_> = waiters
        .iter_mut()
        .map(|txn| {
            let (table, bytes) = (table.clone(), row(2, 1, "changed"));
            Box::pin(async move {
                update(txn, &table, 1, &bytes).await.unwrap();
                txn.commit().unwrap();
            })
        })
        .collect();
    assert!(waits.iter_mut().all(|wait| poll_once(wait.as_mut()).is_none()), "all wait");
    let during = engine.purge_status();
    assert_eq!(during.lanes, before.lanes.max(1), "the holder's alone");
    holder.commit().unwrap();
    for wait in &mut waits {
        block_on(wait);
    }
    let after = engine.purge_status();
    assert_eq!(after.lanes, during.lanes, "one after the other, in one lane");
}

/// Ids run through a range and over its end as if there were none.
#[test]
fn a_range_that_is_used_up_is_followed_by_the_next() {
    for ids_ahead in [1, 2, 3, 1 << 16] {
        let disk = FaultDisk::new(44);
        let config = || Config { txn_ids_ahead: ids_ahead, ..small_config() };
        let engine = Engine::open_quiet(Arc::new(disk.clone()), config()).unwrap();
        let table = bare(&new_table(&engine));
        let mut ids = Vec::new();
        let mut commit = |engine: &Arc<Engine>, id: u32| {
            let mut txn = begin(engine);
            insert(&mut txn, &table, id, &row(1, id, "text"));
            ids.push(txn.id().unwrap());
            let lsn = txn.commit().unwrap().unwrap();
            block_on(engine.wait_durable(lsn)).unwrap();
        };
        (0..10).for_each(|id| commit(&engine, id));
        let next = engine.next_txn_id();
        let disk = disk.crash();
        drop(engine);
        let engine = Engine::open_quiet(Arc::new(disk), config()).unwrap();
        assert!(engine.next_txn_id() >= next, "{} and {next}", engine.next_txn_id());
        assert!(engine.next_txn_id().0 <= next.0 + ids_ahead, "more was skipped than one range");
        (10..20).for_each(|id| commit(&engine, id));
        assert!(ids.is_sorted() && ids.windows(2).all(|pair| pair[0] != pair[1]), "{ids:?}");
        assert_eq!(contents(&mut begin(&engine), &table).len(), 20);
    }
}

/// Gives the record with `key` in a tree to another transaction, behind everybody's back.
fn forge_writer(engine: &Arc<Engine>, index: IndexId, key: &[u8], writer: TxnId) {
    let (storage, kernel) = (engine.storage(), begin(engine).kernel.clone());
    with_pages_blocking(storage, || {
        let tree = kernel.tree(index)?;
        let leaf = tree.leaf_for_write(key)?;
        let slot = leaf.position().slot();
        let mut value = leaf.record(slot).value.to_vec();
        value[..6].copy_from_slice(&writer.0.to_le_bytes()[..6]);
        let mut mtr = Mtr::begin(storage);
        leaf.enter(&mut mtr).replace(&mut mtr, slot, &value);
        mtr.commit();
        Ok(())
    })
    .unwrap();
}

/// A row by an id that was never handed out would be hidden from every reader: all of them say that it is
/// damaged.
#[test]
fn a_row_of_the_future_is_refused_by_everybody() {
    let (_disk, engine, table) = open(45);
    fill(&engine, &table, 5);
    let refused = |outcome: crate::error::Result<()>, who: &str| {
        assert!(matches!(outcome, Err(Error::Corrupt { .. })), "{who}: {outcome:?}");
    };
    forge_writer(&engine, table.clustered, &key(3), TxnId(1 << 40));
    for isolation in [Isolation::ReadUncommitted, Isolation::ReadCommitted, Isolation::RepeatableRead] {
        let mut txn = engine.begin(options(isolation));
        refused(block_on(txn.get(&table, &key(3), Read::Consistent)).map(drop), "a read");
        let mut scan = txn.scan(&table, spec(ScanIndex::Clustered, Read::Consistent));
        refused(block_on(txn.scan_batch(&mut scan, &mut |_, _, _| Visit::Continue)).map(drop), "a scan");
    }
    let lock = Read::Locking { lock: RowLock::Shared, wait: LockWait::Wait };
    refused(block_on(begin(&engine).get(&table, &key(3), lock)).map(drop), "a locking read");
    let mut txn = begin(&engine);
    let mut scan = txn.scan(&table, spec(ScanIndex::Clustered, lock));
    let mut last = Ok(());
    while last.is_ok() {
        last = match block_on(txn.scan_locked_next(&mut scan, &mut |_| true)) {
            Ok(Some(_)) => Ok(()),
            Ok(None) => break,
            Err(error) => Err(error),
        };
    }
    refused(last, "a locking scan");
    drop((scan, txn));
    refused(block_on(update(&mut begin(&engine), &table, 3, &row(1, 3, "new"))).map(drop), "an update");
    refused(block_on(begin(&engine).delete(&table, &key(3))).map(drop), "a delete");
    refused(block_on(begin(&engine).insert(&bare(&table), &key(3), &row(1, 9, "new"))), "an insertion");
    refused(engine.verify_index(table.clustered).map(drop), "CHECK TABLE");
    refused(block_on(engine.build_secondary(&table, 0)), "CREATE INDEX");
    let entry = [&0u32.to_be_bytes()[..], &key(2)].concat();
    forge_writer(&engine, table.secondaries[0].id, &entry, TxnId(1 << 40));
    let mut txn = begin(&engine);
    let mut scan = txn.scan(&table, spec(ScanIndex::Secondary(0), Read::Consistent));
    refused(
        block_on(txn.scan_batch(&mut scan, &mut |_, _, _| Visit::Continue)).map(drop),
        "a secondary scan",
    );
}

/// The mark is what restart believes; undo that contradicts it is damage, not a hint.
#[test]
fn a_mark_that_has_fallen_is_refused() {
    let (disk, engine, table) = open(46);
    fill(&engine, &table, 5);
    engine.storage().raise_id_mark(TxnId(1)).unwrap();
    engine.close().unwrap();
    drop(engine);
    match Engine::open_quiet(Arc::new(disk.crash()), small_config()).err() {
        Some(Error::Corrupt { what, .. }) => assert!(what.contains("ids are said to end before 1"), "{what}"),
        other => panic!("{other:?}"),
    }
}

/// The format without a mark is refused in words, not read as one whose ids begin at 1.
#[test]
fn a_directory_of_the_first_format_is_refused() {
    let (disk, engine, _table) = open(47);
    engine.close().unwrap();
    drop(engine);
    let file = disk.open(DATA_FILE, false).unwrap();
    let mut page = vec![0; crate::page::PAGE_SIZE];
    file.read_at(&mut page, 0).unwrap();
    let at = crate::page::HEADER_SIZE;
    assert_eq!(&page[at..at + 8], b"TSTILE02");
    page[at..at + 8].copy_from_slice(b"TSTILE01");
    let checksum = crc32c(&page[4..]);
    page[..4].copy_from_slice(&checksum.to_le_bytes());
    file.write_at(&page, 0).unwrap();
    match Engine::open_quiet(Arc::new(disk), small_config()).err() {
        Some(Error::Corrupt { what, .. }) => assert!(what.contains("format version 1"), "{what}"),
        other => panic!("{other:?}"),
    }
}
