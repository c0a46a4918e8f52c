//! Two and three transactions: who waits, who sees what, at each isolation level.

use super::stage::*;
use crate::api::*;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::txn::Txn;
use std::ops::Bound;
use std::pin::pin;
use std::sync::Arc;

const FOR_UPDATE: Read = Read::Locking { lock: RowLock::Exclusive, wait: LockWait::Wait };
const FOR_SHARE: Read = Read::Locking { lock: RowLock::Shared, wait: LockWait::Wait };

fn filled(seed: u64) -> (Arc<Engine>, TableDef) {
    let (_disk, engine, table) = open(seed);
    let mut txn = begin(&engine);
    for id in [10, 20, 30, 40] {
        insert(&mut txn, &table, id, &row(id, id, "base"));
    }
    txn.commit().unwrap();
    (engine, table)
}

fn locked(txn: &mut Txn, table: &TableDef, id: u32, mode: Read) -> Result<Option<Vec<u8>>> {
    block_on(txn.get(table, &key(id), mode))
}

fn between(low: u32, high: u32, index: ScanIndex, mode: Read) -> ScanSpec {
    ScanSpec {
        lower: Bound::Included(key(low).to_vec()),
        upper: Bound::Included(key(high).to_vec()),
        ..spec(index, mode)
    }
}

async fn lock_range(txn: &mut Txn, table: &TableDef, spec: ScanSpec, wanted: u32) -> Result<Vec<u32>> {
    let mut scan = txn.scan(table, spec);
    let mut found = Vec::new();
    while let Some((_, row)) =
        txn.scan_locked_next(&mut scan, &mut |row| wanted == 0 || a_of(row) == wanted).await?
    {
        found.push(a_of(&row));
    }
    Ok(found)
}

#[test]
fn g0_a_second_writer_waits_and_builds_on_the_first() {
    for isolation in [Isolation::ReadCommitted, Isolation::RepeatableRead] {
        let (engine, table) = filled(11);
        let (mut s1, mut s2) = (engine.begin(options(isolation)), engine.begin(options(isolation)));
        set(&mut s1, &table, 10, &row(11, 10, "one"));
        let mut seen = Vec::new();
        {
            let mut change = |old: &[u8], new: &mut Vec<u8>| {
                seen.push(a_of(old));
                new.extend_from_slice(&row(a_of(old) + 1, 10, "two"));
                Change::Replace
            };
            let mut second = pin!(s2.update(&table, b"\0\0\0\x0a", &mut change));
            assert!(poll_once(second.as_mut()).is_none(), "the row is locked");
            s1.commit().unwrap();
            assert_eq!(poll_once(second.as_mut()).unwrap().unwrap(), Updated::Changed);
        }
        assert_eq!(seen, [11], "evaluated once, on the committed version");
        s2.commit().unwrap();
        assert_eq!(a_of(&get(&mut begin(&engine), &table, 10).unwrap()), 12);
    }
}

#[test]
fn an_update_that_waits_goes_on_from_its_draft() {
    // Row 10 gets another `a` (an entry is to change, a second step) and the unique `b` of a row that is not
    // committed.
    for unique_wait in [false, true] {
        let (engine, table) = filled(111);
        let (mut other, mut s) = (begin(&engine), begin(&engine));
        insert(&mut other, &table, 77, &row(77, 77, "holds b = 77"));
        let wanted = if unique_wait { 77 } else { 10 };
        let mut asked = 0;
        let mut change = |old: &[u8], new: &mut Vec<u8>| {
            asked += 1;
            new.extend_from_slice(&row(a_of(old) + 1, wanted, "new"));
            Change::Replace
        };
        {
            let key = key(10);
            let mut updating = pin!(s.update(&table, &key, &mut change));
            let first = poll_once(updating.as_mut());
            assert_eq!(first.is_none(), unique_wait, "only a value that may come is waited for");
            block_on(other.rollback()).unwrap();
            let outcome = first.or_else(|| poll_once(updating.as_mut()));
            assert_eq!(outcome.unwrap().unwrap(), Updated::Changed);
        }
        assert_eq!(asked, 1, "the caller decides once");
        s.commit().unwrap();
        let mut after = begin(&engine);
        assert_eq!(get(&mut after, &table, 10).unwrap(), row(11, wanted, "new"), "changed once");
        contents(&mut after, &table);
    }
}

#[test]
fn g1_aborted_and_intermediate_versions_are_not_read() {
    let (engine, table) = filled(12);
    let (mut writer, mut rc, mut rr) = (begin(&engine), begin_rc(&engine), begin(&engine));
    set(&mut writer, &table, 10, &row(1, 10, "intermediate"));
    assert_eq!(a_of(&get(&mut rc, &table, 10).unwrap()), 10);
    assert_eq!(a_of(&get(&mut rr, &table, 10).unwrap()), 10);
    set(&mut writer, &table, 10, &row(2, 10, "final"));
    let mut dirty = engine.begin(options(Isolation::ReadUncommitted));
    assert_eq!(a_of(&get(&mut dirty, &table, 10).unwrap()), 2);
    rc.start_statement(1000);
    assert_eq!(a_of(&get(&mut rc, &table, 10).unwrap()), 10);
    writer.commit().unwrap();
    rc.start_statement(1000);
    rr.start_statement(1000);
    assert_eq!(a_of(&get(&mut rc, &table, 10).unwrap()), 2, "a fresh view per statement");
    assert_eq!(a_of(&get(&mut rr, &table, 10).unwrap()), 10, "one view per transaction");
}

#[test]
fn a_lost_update_is_lost_only_by_plain_reads() {
    let (engine, table) = filled(13);
    let (mut s1, mut s2) = (begin(&engine), begin(&engine));
    assert_eq!(a_of(&get(&mut s1, &table, 10).unwrap()), 10);
    assert_eq!(a_of(&get(&mut s2, &table, 10).unwrap()), 10);
    set(&mut s1, &table, 10, &row(11, 10, ""));
    s1.commit().unwrap();
    assert_eq!(a_of(&get(&mut s2, &table, 10).unwrap()), 10, "its view stands");
    let mut current = 0;
    block_on(s2.update(&table, &key(10), &mut |old, _| {
        current = a_of(old);
        Change::Keep
    }))
    .unwrap();
    assert_eq!(current, 11, "an update reads the current version");
}

#[test]
fn write_skew_is_possible_with_plain_reads_and_a_deadlock_with_shared_locks() {
    let (engine, table) = filled(14);
    let (mut s1, mut s2) = (begin(&engine), begin(&engine));
    assert!(locked(&mut s1, &table, 20, FOR_SHARE).unwrap().is_some());
    assert!(locked(&mut s2, &table, 10, FOR_SHARE).unwrap().is_some());
    let bytes = row(0, 10, "");
    let mut first = pin!(update(&mut s1, &table, 10, &bytes));
    assert!(poll_once(first.as_mut()).is_none());
    let other = row(0, 20, "");
    let mut second = Box::pin(update(&mut s2, &table, 20, &other));
    let second_outcome = poll_once(second.as_mut());
    drop(second);
    match second_outcome {
        Some(outcome) => {
            assert_eq!(outcome.unwrap_err(), Error::Deadlock);
            block_on(s2.rollback()).unwrap();
            assert_eq!(poll_once(first.as_mut()).unwrap().unwrap(), Updated::Changed);
        }
        None => assert_eq!(poll_once(first.as_mut()).unwrap().unwrap_err(), Error::Deadlock),
    }
}

#[test]
fn phantoms_are_kept_out_under_repeatable_read_only() {
    for (isolation, waits) in [(Isolation::RepeatableRead, true), (Isolation::ReadCommitted, false)] {
        for index in [ScanIndex::Clustered, ScanIndex::Secondary(0)] {
            for reverse in [false, true] {
                let (engine, table) = filled(15);
                let mut s1 = engine.begin(options(isolation));
                let range = ScanSpec { reverse, ..between(15, 35, index, FOR_UPDATE) };
                let mut found = block_on(lock_range(&mut s1, &table, range, 0)).unwrap();
                found.sort_unstable();
                assert_eq!(found, [20, 30]);
                for id in [15, 25, 33] {
                    let mut s2 = begin(&engine);
                    let bytes = row(id, id, "phantom");
                    let id_key = key(id);
                    let mut insertion = Box::pin(s2.insert(&table, &id_key, &bytes));
                    let outcome = poll_once(insertion.as_mut());
                    assert_eq!(outcome.is_none(), waits, "{isolation:?} {index:?} {reverse} {id}");
                    drop(insertion);
                    block_on(s2.rollback()).unwrap();
                }
                let mut s3 = begin(&engine);
                insert(&mut s3, &table, 50, &row(50, 50, "outside"));
                s3.commit().unwrap();
            }
        }
    }
}

#[test]
fn an_insertion_waits_for_a_gap_and_then_goes_on() {
    let (engine, table) = filled(16);
    let (mut s1, mut s2) = (begin(&engine), begin(&engine));
    assert_eq!(locked(&mut s1, &table, 25, FOR_UPDATE).unwrap(), None);
    let bytes = row(1, 1, "");
    {
        let id = key(26);
        let mut insertion = pin!(s2.insert(&table, &id, &bytes));
        assert!(poll_once(insertion.as_mut()).is_none(), "the gap before 30 is locked");
        s1.commit().unwrap();
        poll_once(insertion.as_mut()).unwrap().unwrap();
    }
    s2.commit().unwrap();
    let (mut s1, mut s2) = (begin_rc(&engine), begin_rc(&engine));
    assert_eq!(locked(&mut s1, &table, 35, FOR_UPDATE).unwrap(), None);
    insert(&mut s2, &table, 35, &row(2, 2, "nothing is locked under read committed"));
}

#[test]
fn own_insertions_split_a_locked_gap() {
    let (engine, table) = filled(17);
    let mut s1 = begin(&engine);
    assert_eq!(
        block_on(lock_range(&mut s1, &table, between(11, 29, ScanIndex::Clustered, FOR_UPDATE), 0)).unwrap(),
        [20]
    );
    insert(&mut s1, &table, 25, &row(25, 25, "mine"));
    for id in [23, 27] {
        let mut s2 = begin(&engine);
        let (id, bytes) = (key(id), row(id, id, ""));
        let mut insertion = Box::pin(s2.insert(&table, &id, &bytes));
        assert!(poll_once(insertion.as_mut()).is_none(), "both halves are locked");
    }
}

#[test]
fn unique_values_are_waited_for() {
    for commit in [true, false] {
        let (engine, table) = filled(18);
        let (mut s1, mut s2) = (begin(&engine), begin(&engine));
        insert(&mut s1, &table, 1, &row(1, 500, ""));
        let bytes = row(2, 500, "");
        let id = key(2);
        let mut insertion = pin!(s2.insert(&table, &id, &bytes));
        assert!(poll_once(insertion.as_mut()).is_none());
        if commit {
            s1.commit().unwrap();
            let error = poll_once(insertion.as_mut()).unwrap().unwrap_err();
            assert!(matches!(error, Error::DuplicateKey { nth: Some(1), .. }), "{error}");
        } else {
            block_on(s1.rollback()).unwrap();
            poll_once(insertion.as_mut()).unwrap().unwrap();
        }
    }
}

#[test]
fn a_primary_key_is_waited_for() {
    for commit in [true, false] {
        let (engine, table) = filled(19);
        let (mut s1, mut s2) = (begin(&engine), begin(&engine));
        assert!(block_on(s1.delete(&table, &key(20))).unwrap());
        let bytes = row(2, 500, "");
        let id = key(20);
        let mut insertion = pin!(s2.insert(&table, &id, &bytes));
        assert!(poll_once(insertion.as_mut()).is_none());
        if commit {
            s1.commit().unwrap();
            poll_once(insertion.as_mut()).unwrap().unwrap();
        } else {
            block_on(s1.rollback()).unwrap();
            let error = poll_once(insertion.as_mut()).unwrap().unwrap_err();
            assert!(matches!(error, Error::DuplicateKey { nth: None, .. }), "{error}");
        }
    }
}

#[test]
fn read_committed_locks_only_what_it_wants() {
    let (engine, table) = filled(20);
    let mut s1 = begin_rc(&engine);
    let all = spec(ScanIndex::Clustered, FOR_UPDATE);
    assert_eq!(block_on(lock_range(&mut s1, &table, all.clone(), 20)).unwrap(), [20]);
    let mut s2 = begin_rc(&engine);
    set(&mut s2, &table, 10, &row(10, 11, "not locked by the scan"));
    // 20 is locked by s1, 10 by s2; a scan that wants neither passes both.
    let mut s3 = begin_rc(&engine);
    assert_eq!(block_on(lock_range(&mut s3, &table, all.clone(), 40)).unwrap(), [40]);
    let mut s4 = begin_rc(&engine);
    let mut waiting = Box::pin(lock_range(&mut s4, &table, all.clone(), 20));
    assert!(poll_once(waiting.as_mut()).is_none(), "a row it wants is waited for");
    s1.commit().unwrap();
    assert_eq!(poll_once(waiting.as_mut()).unwrap().unwrap(), [20]);
    drop(waiting);
    let by_secondary = spec(ScanIndex::Secondary(0), FOR_UPDATE);
    s4.commit().unwrap();
    s3.commit().unwrap();
    let mut s5 = begin_rc(&engine);
    assert_eq!(
        block_on(lock_range(
            &mut s5,
            &table,
            ScanSpec { lower: Bound::Included(key(30).to_vec()), ..by_secondary },
            30
        ))
        .unwrap(),
        [30]
    );
    let mut s6 = begin_rc(&engine);
    set(&mut s6, &table, 40, &row(41, 40, "unlocked again"));
}

#[test]
fn nowait_and_skip_locked() {
    let (engine, table) = filled(21);
    let mut s1 = begin(&engine);
    set(&mut s1, &table, 20, &row(21, 20, ""));
    let mut s2 = begin(&engine);
    let nowait = Read::Locking { lock: RowLock::Shared, wait: LockWait::NoWait };
    assert_eq!(locked(&mut s2, &table, 20, nowait).unwrap_err(), Error::NoWait);
    let skip = Read::Locking { lock: RowLock::Exclusive, wait: LockWait::SkipLocked };
    for index in [ScanIndex::Clustered, ScanIndex::Secondary(0)] {
        assert_eq!(block_on(lock_range(&mut s2, &table, spec(index, skip), 0)).unwrap(), [10, 30, 40]);
    }
    assert_eq!(locked(&mut s2, &table, 20, skip).unwrap(), None);
}

#[test]
fn a_locking_scan_by_secondary_waits_for_a_row_on_the_move() {
    for commit in [true, false] {
        let (engine, table) = filled(22);
        let mut s1 = begin(&engine);
        set(&mut s1, &table, 20, &row(200, 20, "moves from 20 to 200"));
        let mut s2 = begin(&engine);
        let mut scan =
            Box::pin(lock_range(&mut s2, &table, between(15, 25, ScanIndex::Secondary(0), FOR_UPDATE), 0));
        assert!(poll_once(scan.as_mut()).is_none(), "whether 20 is in the range is not decided");
        if commit {
            s1.commit().unwrap();
            assert_eq!(poll_once(scan.as_mut()).unwrap().unwrap(), []);
        } else {
            block_on(s1.rollback()).unwrap();
            assert_eq!(poll_once(scan.as_mut()).unwrap().unwrap(), [20]);
        }
    }
}

#[test]
fn waits_time_out_and_can_be_killed() {
    let (engine, table) = filled(23);
    let mut s1 = begin(&engine);
    set(&mut s1, &table, 20, &row(21, 20, ""));
    let mut s2 = engine.begin(TxnOptions { lock_wait_timeout_ms: 20, ..options(Isolation::RepeatableRead) });
    set(&mut s2, &table, 10, &row(1, 10, ""));
    let savepoint = s2.savepoint();
    let bytes = row(0, 20, "");
    assert_eq!(block_on(update(&mut s2, &table, 20, &bytes)).unwrap_err(), Error::LockWaitTimeout);
    block_on(s2.rollback_to(savepoint)).unwrap();
    let interrupt = s2.options().interrupt.clone();
    s2.start_statement(60_000);
    {
        let mut waiting = pin!(update(&mut s2, &table, 20, &bytes));
        assert!(poll_once(waiting.as_mut()).is_none());
        interrupt.kill_query();
        assert_eq!(poll_once(waiting.as_mut()).unwrap().unwrap_err(), Error::Killed);
    }
    interrupt.clear_query();
    s2.commit().unwrap();
    s1.commit().unwrap();
    assert_eq!(a_of(&get(&mut begin(&engine), &table, 10).unwrap()), 1);
}

#[test]
fn read_only_transactions_cannot_write() {
    let (engine, table) = filled(24);
    let mut txn = engine.begin(TxnOptions { read_only: true, ..options(Isolation::RepeatableRead) });
    assert_eq!(block_on(txn.delete(&table, &key(10))).unwrap_err(), Error::ReadOnly);
    assert!(get(&mut txn, &table, 10).is_some());
    assert_eq!(txn.commit().unwrap(), None);
    assert_eq!(txn.options().status.rows().deleted.get(), 0);
}

/// A record lock becomes a gap lock when purge removes its row. Its owner counts among the owners of gaps as
/// long as it holds the gap, and no longer: otherwise every insertion of the rest of the life looks to the
/// right.
#[test]
fn who_inherits_a_gap_counts_until_its_end() {
    let (_disk, engine, table) = open(77);
    let table = bare(&table);
    fill(&engine, &table, 4);
    for _ in 0..3 {
        let mut txn = begin(&engine);
        block_on(txn.delete(&table, &key(2))).unwrap();
        txn.commit().unwrap();
        let mut holder = begin(&engine);
        let lock = Read::Locking { lock: RowLock::Exclusive, wait: LockWait::Wait };
        assert_eq!(
            block_on(holder.get(&table, &key(2), lock)).unwrap(),
            None,
            "its deleted record is locked"
        );
        assert!(!engine.locks().has_gap_owners(), "a record, no gap");
        engine.purge_all().unwrap();
        assert!(engine.locks().has_gap_owners(), "the gap that the record has become");
        let mut other = begin(&engine);
        let bytes = row(0, 2, "again");
        {
            let key = key(2);
            let mut insert = std::pin::pin!(other.insert(&table, &key, &bytes));
            assert!(poll_once(insert.as_mut()).is_none(), "it waits for the gap");
            holder.commit().unwrap();
            block_on(insert).unwrap();
        }
        other.commit().unwrap();
        assert!(!engine.locks().has_gap_owners(), "everybody has ended");
    }
}
