//! Who goes first, who is refused, who gives way: polled by hand.

use super::*;
use LockKind::{NextKey, Record};
use LockMode::{S, X};

fn table_with(skips: u64, cap: u64) -> LockTable {
    let settings = Settings::default();
    settings.queues.skips.store(skips, Ordering::Relaxed);
    settings.queues.cap.store(cap, Ordering::Relaxed);
    LockTable::new(Arc::new(settings))
}

/// A transaction that holds a row for which another one waits.
fn wanted<'a>(
    table: &'a LockTable,
    number: u64,
    names: &'a [Vec<u8>],
    by: &'a Arc<TxnLocks>,
) -> (Arc<TxnLocks>, Hand<'a>) {
    let txn = TxnLocks::new(number, number);
    assert_eq!(table.try_acquire(&txn, row(&names[number as usize]), X, Record), Grant::New);
    let waits = Hand::begin(table.enqueue(by, row(&names[number as usize]), X, Record, FOR_LONG));
    assert!(txn.is_waited_for());
    (txn, waits)
}

fn names() -> Vec<Vec<u8>> {
    (0..20u8).map(|number| vec![b'n', number]).collect()
}

#[test]
fn who_is_waited_for_goes_before_those_who_are_not() {
    let (table, names) = (table_with(16, 0), names());
    let (holder, light, other) = (TxnLocks::new(100, 1), TxnLocks::new(101, 2), TxnLocks::new(102, 3));
    assert_eq!(table.try_acquire(&holder, row(b"k"), X, Record), Grant::New);
    let mut light_waits = Hand::begin(table.enqueue(&light, row(b"k"), X, Record, FOR_LONG));
    let (heavy, mut others_wait) = wanted(&table, 1, &names, &other);
    let mut heavy_waits = Hand::begin(table.enqueue(&heavy, row(b"k"), X, Record, FOR_LONG));
    table.release_all(&holder);
    assert_eq!((heavy_waits.poll(), light_waits.poll()), (Some(Outcome::Granted), None));
    drop(heavy_waits);
    table.release_all(&heavy);
    assert_eq!((light_waits.poll(), others_wait.poll()), (Some(Outcome::Granted), Some(Outcome::Granted)));
}

#[test]
fn the_oldest_is_skipped_so_often_and_no_more_and_the_skippers_keep_their_order() {
    let (table, names) = (table_with(3, 0), names());
    let holder = TxnLocks::new(100, 100);
    let lights: Vec<_> = (101..103).map(|number| TxnLocks::new(number, number)).collect();
    let behind: Vec<_> = (201..206).map(|number| TxnLocks::new(number, number)).collect();
    assert_eq!(table.try_acquire(&holder, row(b"k"), X, Record), Grant::New);
    let heavies: Vec<_> =
        (0..5).map(|number| wanted(&table, number, &names, &behind[number as usize])).collect();
    let mut light_waits: Vec<_> =
        lights.iter().map(|txn| Hand::begin(table.enqueue(txn, row(b"k"), X, Record, FOR_LONG))).collect();
    let mut heavy_waits: Vec<_> = heavies
        .iter()
        .map(|(txn, _)| Hand::begin(table.enqueue(txn, row(b"k"), X, Record, FOR_LONG)))
        .collect();
    let mut order: Vec<usize> = Vec::new();
    let mut last = holder.clone();
    for _ in 0..7 {
        table.release_all(&last);
        let all = heavy_waits.iter_mut().chain(&mut light_waits).enumerate();
        let granted: Vec<usize> = all.filter_map(|(at, wait)| wait.poll().map(|_| at)).collect();
        let next = granted.into_iter().find(|at| !order.contains(at)).unwrap();
        last = heavies.iter().map(|(txn, _)| txn).chain(&lights).nth(next).unwrap().clone();
        order.push(next);
    }
    assert_eq!(order, [0, 1, 2, 5, 6, 3, 4], "three go before the first that came, nobody else");
}

#[test]
fn without_skips_it_is_first_come_first_served() {
    let (table, names) = (table_with(0, 0), names());
    let (holder, light, other) = (TxnLocks::new(100, 1), TxnLocks::new(101, 2), TxnLocks::new(102, 3));
    assert_eq!(table.try_acquire(&holder, row(b"k"), X, Record), Grant::New);
    let mut light_waits = Hand::begin(table.enqueue(&light, row(b"k"), X, Record, FOR_LONG));
    let (heavy, _others_wait) = wanted(&table, 1, &names, &other);
    let mut heavy_waits = Hand::begin(table.enqueue(&heavy, row(b"k"), X, Record, FOR_LONG));
    table.release_all(&holder);
    assert_eq!((heavy_waits.poll(), light_waits.poll()), (None, Some(Outcome::Granted)));
}

#[test]
fn a_cycle_through_a_reader_that_was_skipped_is_found() {
    let (table, names) = (table_with(16, 0), names());
    let (holder, reader, other) = (TxnLocks::new(100, 1), TxnLocks::new(101, 2), TxnLocks::new(102, 3));
    // The oldest, so that it is no victim.
    let writer = TxnLocks::new(0, 4);
    assert_eq!(table.try_acquire(&reader, row(b"r"), X, Record), Grant::New);
    assert_eq!(table.try_acquire(&holder, row(b"k"), X, Record), Grant::New);
    let _writing = Hand::begin(table.enqueue(&writer, row(b"k"), X, NextKey, FOR_LONG));
    let mut reading = Hand::begin(table.enqueue(&reader, row(b"k"), S, NextKey, FOR_LONG));
    let (heavy, _others_wait) = wanted(&table, 1, &names, &other);
    let mut heavy_waits = Hand::begin(table.enqueue(&heavy, row(b"k"), X, NextKey, FOR_LONG));
    // The reader now waits behind the heavy one, which is about to wait for the reader's row.
    table.release_all(&holder);
    assert_eq!((heavy_waits.poll(), reading.poll()), (Some(Outcome::Granted), None));
    drop(heavy_waits);
    let waits = Hand::begin_or_end(table.enqueue(&heavy, row(b"r"), X, Record, FOR_LONG));
    let ends = [waits, reading.poll()];
    assert_eq!(ends.iter().flatten().count(), 1, "one of the two is the victim: {ends:?}");
    assert_eq!(table.statistics().deadlocks, 1);
}

#[test]
fn a_full_queue_refuses_whoever_has_no_part_of_the_row() {
    let table = table_with(16, 2);
    let txns: Vec<_> = (0..4).map(|number| TxnLocks::new(number, number)).collect();
    assert_eq!(table.try_acquire(&txns[0], row(b"k"), S, Record), Grant::New);
    let _first = Hand::begin(table.enqueue(&txns[1], row(b"k"), X, Record, FOR_LONG));
    let second = Hand::begin(table.enqueue(&txns[2], row(b"k"), X, Record, FOR_LONG));
    let refused = Hand::begin_or_end(table.enqueue(&txns[3], row(b"k"), X, Record, FOR_LONG));
    assert_eq!(refused, Some(Outcome::Refused));
    assert!(!txns[3].is_waiting());
    let error = block_on(table.acquire(&txns[3], row(b"k"), X, Record, FOR_LONG)).unwrap_err();
    assert_eq!(error, crate::Error::LockQueueFull);
    drop(second);
    let _second = Hand::begin(table.enqueue(&txns[3], row(b"k"), X, Record, FOR_LONG));
    // Its own upgrade is what the others wait for.
    assert_eq!(
        Hand::begin_or_end(table.enqueue(&txns[0], row(b"k"), X, Record, FOR_LONG)),
        Some(Outcome::Granted)
    );
    let statistics = table.statistics();
    assert_eq!((statistics.refused, statistics.current_waits), (2, 2));
}

/// Two transactions that each hold what the other wants, without detection.
fn blind_cycle(blind_wait_ms: u64) -> (Vec<Outcome>, Duration) {
    let settings = Settings::default();
    settings.deadlock_detect.store(false, Ordering::Relaxed);
    settings.queues.blind_wait_ms.store(blind_wait_ms, Ordering::Relaxed);
    let table = LockTable::new(Arc::new(settings));
    let (old, young) = (TxnLocks::new(1, 1), TxnLocks::new(2, 2));
    assert_eq!(table.try_acquire(&old, row(b"a"), X, Record), Grant::New);
    assert_eq!(table.try_acquire(&young, row(b"b"), X, Record), Grant::New);
    let began = std::time::Instant::now();
    let patience = Patience { timeout: Duration::from_millis(400), interrupt: None };
    let outcomes = std::thread::scope(|threads| {
        let one = threads.spawn(|| {
            let outcome = block_on(table.enqueue(&old, row(b"b"), X, Record, patience));
            table.release_all(&old);
            outcome
        });
        let other = threads.spawn(|| {
            let outcome = block_on(table.enqueue(&young, row(b"a"), X, Record, patience));
            table.release_all(&young);
            outcome
        });
        vec![one.join().unwrap(), other.join().unwrap()]
    });
    (outcomes, began.elapsed())
}

#[test]
fn without_detection_the_younger_of_a_cycle_gives_way() {
    let (outcomes, _) = blind_cycle(5);
    assert_eq!(outcomes, [Outcome::Granted, Outcome::Victim]);
}

#[test]
fn without_detection_and_without_giving_way_a_cycle_lasts_until_the_timeout() {
    let (outcomes, took) = blind_cycle(0);
    assert!(outcomes.contains(&Outcome::TimedOut), "{outcomes:?}");
    assert!(took >= Duration::from_millis(400), "{took:?}");
}

#[test]
fn nobody_gives_way_behind_one_who_runs() {
    let settings = Settings::default();
    settings.deadlock_detect.store(false, Ordering::Relaxed);
    settings.queues.blind_wait_ms.store(1, Ordering::Relaxed);
    let table = LockTable::new(Arc::new(settings));
    let (old, young, third) = (TxnLocks::new(1, 1), TxnLocks::new(2, 2), TxnLocks::new(3, 3));
    assert_eq!(table.try_acquire(&old, row(b"a"), X, Record), Grant::New);
    assert_eq!(table.try_acquire(&young, row(b"b"), X, Record), Grant::New);
    let _third = Hand::begin(table.enqueue(&third, row(b"b"), X, Record, FOR_LONG));
    let patience = Patience { timeout: Duration::from_millis(50), interrupt: None };
    let outcome = block_on(table.enqueue(&young, row(b"a"), X, Record, patience));
    assert_eq!(outcome, Outcome::TimedOut);
    assert_eq!(table.statistics().gave_way, 0);
}

#[test]
fn a_cycle_that_is_there_already_heeds_a_new_blind_wait() {
    let settings = Settings::default();
    settings.deadlock_detect.store(false, Ordering::Relaxed);
    settings.queues.blind_wait_ms.store(0, Ordering::Relaxed);
    let table = LockTable::new(Arc::new(settings));
    let (old, young) = (TxnLocks::new(1, 1), TxnLocks::new(2, 2));
    assert_eq!(table.try_acquire(&old, row(b"a"), X, Record), Grant::New);
    assert_eq!(table.try_acquire(&young, row(b"b"), X, Record), Grant::New);
    std::thread::scope(|threads| {
        let one = threads.spawn(|| block_on(table.enqueue(&old, row(b"b"), X, Record, FOR_LONG)));
        let other = threads.spawn(|| {
            let outcome = block_on(table.enqueue(&young, row(b"a"), X, Record, FOR_LONG));
            table.release_all(&young);
            outcome
        });
        while !old.is_waiting() || !young.is_waiting() {
            std::thread::yield_now();
        }
        set_blind_wait(&table, 1);
        assert_eq!((one.join().unwrap(), other.join().unwrap()), (Outcome::Granted, Outcome::Victim));
    });
}
