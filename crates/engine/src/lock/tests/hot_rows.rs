//! The sampler of rows that are fought for: who is named, with which numbers, and for how long.

use super::*;
use crate::ids::TxnId;
use crate::lock::hot_rows::HALF_LIFE;
use LockKind::{Record, Successor};
use LockMode::{S, X};
use std::time::Instant;

/// Locks a row for a moment.
fn visit(table: &LockTable, key: &[u8], mode: LockMode) {
    let txn = TxnLocks::new(1, 1);
    assert_eq!(table.try_acquire(&txn, row(key), mode, Record), Grant::New);
    table.release_all(&txn);
}

fn names(rows: &[HotRowReport]) -> Vec<Vec<u8>> {
    rows.iter()
        .map(|row| match row.name.name() {
            LockName::Row { index, key } => {
                assert_eq!(index, INDEX);
                key.to_vec()
            }
            other => panic!("{other:?} is no row"),
        })
        .collect()
}

#[test]
fn a_row_that_is_locked_again_and_again_is_named_among_many() {
    let table = table();
    for n in 0..40_000_u32 {
        let key = if n % 4 == 0 { 7 } else { n };
        visit(&table, &key.to_be_bytes(), X);
    }
    let rows = HotRowReport::of(&table);
    assert_eq!(names(&rows), [7_u32.to_be_bytes()]);
    let hot = &rows[0];
    // All of it within less than the second that rates are taken over at least, unless the machine is slow.
    assert!(hot.grants_per_second > 500.0 && hot.grants_per_second < 12_000.0, "{hot:?}");
    assert_eq!((hot.waiting, hot.queue_p50, hot.queue_p99, hot.handed_on), (0, 0, 0, 0));
    assert_eq!((hot.waits_per_second, hot.wait_us_p50, hot.wait_us_p99), (0.0, None, None));
    assert_eq!(hot.holder, None);
}

#[test]
fn rows_that_are_all_locked_alike_are_not_hot() {
    for rows in [100_u32, 600, 5_000] {
        let table = table();
        let mut next = 1_u32;
        for _ in 0..60_000 {
            next = next.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            visit(&table, &((next >> 8) % rows).to_be_bytes(), X);
        }
        assert!(HotRowReport::of(&table).is_empty(), "of {rows} rows: {:?}", HotRowReport::of(&table));
    }
}

#[test]
fn readers_and_tables_do_not_count() {
    let table = table();
    for n in 0..2_000 {
        visit(&table, b"k", S);
        let txn = TxnLocks::new(n, 1);
        let lock = crate::api::TableLock::IntentionExclusive;
        assert_eq!(table.try_acquire_table(&txn, crate::ids::TableId(1), lock), Grant::New);
        table.release_all(&txn);
    }
    assert!(HotRowReport::of(&table).is_empty());
}

#[test]
fn rows_locked_in_turn_are_all_met() {
    let table = table();
    for n in 0..8_000_u32 {
        visit(&table, &(n % 4).to_be_bytes(), X);
    }
    let rows = HotRowReport::of(&table);
    assert_eq!(rows.len(), 4);
    let (most, least) = (rows[0].grants_per_second, rows[3].grants_per_second);
    assert!(most < 3.0 * least, "{rows:?}");
}

#[test]
fn a_row_that_was_hot_is_forgotten() {
    let table = table();
    for _ in 0..4_000 {
        visit(&table, b"k", X);
    }
    let now = Instant::now();
    let rate =
        |after: Duration| HotRowReport::of_at(&table, now + after).first().map(|row| row.grants_per_second);
    let first = rate(Duration::ZERO).unwrap();
    // Over one whole life and a half of its weight.
    let later = rate(HALF_LIFE).unwrap();
    assert!(later < first && later > first / 20.0, "{first} {later}");
    assert_eq!(rate(HALF_LIFE * 10), None);
    assert_eq!(rate(HALF_LIFE * 5_000), None);
    // Another row has its place at once.
    for _ in 0..4_000 {
        visit(&table, b"other", X);
    }
    assert_eq!(
        names(&HotRowReport::of_at(&table, now + HALF_LIFE * 5_001)).len(),
        0,
        "events are in the past by then"
    );
}

#[test]
fn who_waits_and_who_holds_is_told() {
    let table = table();
    let txns: Vec<_> = (0..201).map(|n| TxnLocks::new(n + 1, n + 1)).collect();
    txns[0].set_txn_id(TxnId(77));
    assert_eq!(table.try_acquire(&txns[0], row(b"k"), X, Record), Grant::New);
    let mut waits: Vec<_> =
        txns[1..].iter().map(|txn| Hand::begin(table.enqueue(txn, row(b"k"), X, Record, FOR_LONG))).collect();
    let rows = HotRowReport::of(&table);
    assert_eq!(names(&rows), [b"k"]);
    let holder = RowHolder { txn_id: Some(TxnId(77)), start_sequence: 1, session: 1 };
    assert_eq!((rows[0].waiting, rows[0].holder), (200, Some(holder)));
    assert!(rows[0].waits_per_second > 100.0 && rows[0].waits_per_second < 300.0, "{rows:?}");
    for n in 0..200 {
        table.release_all(&txns[n]);
        assert_eq!(waits[n].poll(), Some(Outcome::Granted));
    }
    let rows = HotRowReport::of(&table);
    let hot = &rows[0];
    assert_eq!((hot.waiting, hot.holder.map(|holder| holder.session)), (0, Some(201)));
    assert!(hot.queue_p50 > 20 && hot.queue_p50 < 180 && hot.queue_p99 >= hot.queue_p50, "{hot:?}");
    assert!(hot.wait_us_p50.is_some() && hot.wait_us_p50 <= hot.wait_us_p99, "{hot:?}");
    table.release_all(&txns[200]);
    assert_eq!(HotRowReport::of(&table)[0].holder, None);
}

#[test]
fn who_has_handed_it_on_is_counted() {
    let settings = Settings::default();
    settings.hot_row.on.store(true, Ordering::Relaxed);
    let table = LockTable::new(Arc::new(settings));
    let txns: Vec<_> = (0..40).map(|n| TxnLocks::new(n + 1, n + 1)).collect();
    assert_eq!(table.try_acquire(&txns[0], row(b"k"), X, Successor), Grant::New);
    for pair in txns.windows(2) {
        let mut wait = Hand::begin(table.enqueue(&pair[1], row(b"k"), X, Successor, FOR_LONG));
        pair[0].note_change(row(b"k"), Some(true));
        table.rest(&pair[0]);
        assert_eq!(wait.poll(), Some(Outcome::Granted));
    }
    let rows = HotRowReport::of(&table);
    assert_eq!((names(&rows), rows[0].handed_on), (vec![b"k".to_vec()], 39));
    assert_eq!(rows[0].holder.map(|holder| holder.session), Some(40));
    for txn in &txns {
        table.release_all(txn);
    }
    assert_eq!(table.statistics().names, 0);
}

#[test]
fn a_long_key_is_kept_in_part() {
    let table = table();
    let key = [3_u8; 2_000];
    for _ in 0..400 {
        visit(&table, &key, X);
    }
    assert_eq!(names(&HotRowReport::of(&table)), [vec![3_u8; 256]]);
}
