//! Waits, polled by hand: order, hand-off, invitation, timeout, kill, inheritance.

use super::*;
use crate::api::TableLock;
use crate::ids::TableId;
use crate::interrupt::Interrupt;
use LockKind::{Gap, InsertIntention, NextKey, Record};
use LockMode::{S, X};
use turnstile_sys::handoff;

#[test]
fn fifo_hand_off_wakes_once() {
    let table = table();
    let txns: Vec<_> = (0..4).map(|n| TxnLocks::new(n, n)).collect();
    assert_eq!(table.try_acquire(&txns[0], row(b"k"), X, Record), Grant::New);
    let mut waits: Vec<_> =
        txns[1..].iter().map(|txn| Hand::begin(table.enqueue(txn, row(b"k"), X, Record, FOR_LONG))).collect();
    for n in 0..3 {
        table.release_all(&txns[n]);
        assert_eq!(waits[n].wakes(), 1);
        let late = TxnLocks::new(9, 9);
        assert_eq!(table.try_acquire(&late, row(b"k"), X, Record), Grant::Conflict, "handed over, not free");
        assert!(waits[n + 1..].iter_mut().all(|wait| wait.wakes() == 0 && wait.poll().is_none()));
        assert_eq!(waits[n].poll(), Some(Outcome::Granted));
    }
    drop(waits);
    table.release_all(&txns[3]);
    let statistics = table.statistics();
    assert_eq!((statistics.names, statistics.current_waits, statistics.row_waits), (0, 0, 3));
    assert_eq!(statistics.created, statistics.removed);
    assert_eq!(statistics.tables_created, statistics.tables_removed);
}

#[test]
fn holds_on_rows_and_on_tables_are_counted_apart() {
    let (table, txn) = (table(), TxnLocks::new(1, 1));
    let counts = || {
        let now = table.statistics();
        (now.created, now.removed, now.tables_created, now.tables_removed)
    };
    assert_eq!(table.try_acquire(&txn, row(b"k"), X, Record), Grant::New);
    assert_eq!(counts(), (1, 0, 0, 0));
    for lock in [TableLock::IntentionExclusive, TableLock::Exclusive] {
        assert_eq!(table.try_acquire_table(&txn, TableId(1), lock), Grant::New);
        assert_eq!(counts(), (1, 0, 1, 0), "a stronger lock on the same table is the same hold");
    }
    assert_eq!(table.try_acquire_table(&txn, TableId(2), TableLock::AutoIncrement), Grant::New);
    assert_eq!(counts(), (1, 0, 2, 0));
    table.release_all(&txn);
    assert_eq!(counts(), (1, 1, 2, 2));
}

#[test]
fn a_newcomer_waits_behind_an_earlier_conflicting_waiter() {
    let table = table();
    let (reader, writer, late) = (TxnLocks::new(1, 1), TxnLocks::new(2, 2), TxnLocks::new(3, 3));
    assert_eq!(table.try_acquire(&reader, row(b"k"), S, Record), Grant::New);
    let mut writing = Hand::begin(table.enqueue(&writer, row(b"k"), X, Record, FOR_LONG));
    assert_eq!(table.try_acquire(&late, row(b"k"), S, Record), Grant::Conflict);
    assert_eq!(table.try_acquire(&late, row(b"k"), S, Gap), Grant::New, "a gap waits for nobody");
    let mut reading = Hand::begin(table.enqueue(&late, row(b"k"), S, Record, FOR_LONG));
    table.release_all(&reader);
    assert_eq!((writing.poll(), reading.poll()), (Some(Outcome::Granted), None));
    table.release_all(&writer);
    assert_eq!(reading.poll(), Some(Outcome::Granted));
}

#[test]
fn readers_are_granted_together() {
    let table = table();
    let txns: Vec<_> = (0..5).map(|n| TxnLocks::new(n, n)).collect();
    table.try_acquire(&txns[0], row(b"k"), X, Record);
    let mut waits: Vec<_> = [S, S, X, S]
        .iter()
        .zip(&txns[1..])
        .map(|(mode, txn)| Hand::begin(table.enqueue(txn, row(b"k"), *mode, NextKey, FOR_LONG)))
        .collect();
    table.release_all(&txns[0]);
    let polled: Vec<_> = waits.iter_mut().map(Hand::poll).collect();
    assert_eq!(polled, [Some(Outcome::Granted), Some(Outcome::Granted), None, None]);
}

#[test]
fn an_upgrade_goes_before_those_who_wait_for_it() {
    let table = table();
    let (first, second, third) = (TxnLocks::new(1, 1), TxnLocks::new(2, 2), TxnLocks::new(3, 3));
    table.try_acquire(&first, row(b"k"), S, Record);
    table.try_acquire(&second, row(b"k"), S, Record);
    let mut waiting = Hand::begin(table.enqueue(&third, row(b"k"), X, Record, FOR_LONG));
    let mut upgrading = Hand::begin(table.enqueue(&first, row(b"k"), X, Record, FOR_LONG));
    table.release_all(&second);
    assert_eq!((upgrading.poll(), waiting.poll()), (Some(Outcome::Granted), None));
    assert_eq!(table.statistics().deadlocks, 0);
    table.release_all(&first);
    assert_eq!(waiting.poll(), Some(Outcome::Granted));
}

#[test]
fn a_transient_release_invites_and_lets_short_newcomers_pass_for_a_while() {
    let table = table();
    let (holder, waiter) = (TxnLocks::new(1, 1), TxnLocks::new(2, 2));
    holder.set_transient(true);
    table.try_acquire(&holder, row(b"k"), X, Record);
    let started = std::time::Instant::now();
    let mut waiting = Hand::begin(table.enqueue(&waiter, row(b"k"), X, Record, FOR_LONG));
    table.release_all(&holder);
    assert_eq!(waiting.wakes(), 1, "woken to try");
    let slow = TxnLocks::new(3, 3);
    assert_eq!(table.try_acquire(&slow, row(b"k"), X, Record), Grant::Conflict, "only a short lock may pass");
    let mut passed = 0;
    loop {
        let quick = TxnLocks::new(4, 4);
        quick.set_transient(true);
        if table.try_acquire(&quick, row(b"k"), X, Record) == Grant::Conflict {
            break;
        }
        passed += 1;
        table.release_all(&quick);
    }
    assert!(passed == 256 || passed < 256 && started.elapsed().as_micros() >= 1000, "passed {passed} times");
    assert_eq!(waiting.wakes(), 1, "awake since the invitation, it needs no second wake-up");
    assert_eq!(waiting.poll(), Some(Outcome::Granted), "the lock was handed over");
}

#[test]
fn a_thread_with_places_hands_a_short_lock_on_in_order_until_they_run_out() {
    let table = table();
    let txns: Vec<_> = (0..4).map(|n| TxnLocks::new(n, n)).collect();
    txns.iter().for_each(|txn| txn.set_transient(true));
    table.try_acquire(&txns[0], row(b"k"), X, Record);
    let mut waits: Vec<_> =
        txns[1..].iter().map(|txn| Hand::begin(table.enqueue(txn, row(b"k"), X, Record, FOR_LONG))).collect();
    handoff::open(2);
    for n in 0..2 {
        table.release_all(&txns[n]);
        assert_eq!((waits[n].wakes(), waits[n].handed()), (1, 1), "to be run by this thread");
        let late = TxnLocks::new(9, 9);
        late.set_transient(true);
        assert_eq!(table.try_acquire(&late, row(b"k"), X, Record), Grant::Conflict, "nobody passes");
        assert_eq!(waits[n].poll(), Some(Outcome::Granted));
        assert!(waits[n + 1..].iter().all(|wait| wait.wakes() == 0), "the others sleep");
    }
    assert!(!handoff::has_place());
    table.release_all(&txns[2]);
    assert_eq!((waits[2].wakes(), waits[2].handed()), (1, 0), "invited, to come on its own thread");
    let quick = TxnLocks::new(9, 9);
    quick.set_transient(true);
    assert_eq!(table.try_acquire(&quick, row(b"k"), X, Record), Grant::New, "the lock is free meanwhile");
    table.release_all(&quick);
    assert_eq!(waits[2].poll(), Some(Outcome::Granted));
}

#[test]
fn only_the_end_of_a_transaction_and_only_short_waiters_are_handed_it() {
    let table = table();
    let (holder, long, short) = (TxnLocks::new(1, 1), TxnLocks::new(2, 2), TxnLocks::new(3, 3));
    short.set_transient(true);
    table.try_acquire(&holder, row(b"k"), X, Record);
    table.try_acquire(&holder, row(b"l"), X, Record);
    let mut long = Hand::begin(table.enqueue(&long, row(b"k"), X, Record, FOR_LONG));
    let mut short = Hand::begin(table.enqueue(&short, row(b"l"), X, Record, FOR_LONG));
    handoff::open(8);
    table.release_one(&holder, row(b"l"), X, Record);
    assert_eq!(
        (short.handed(), short.poll()),
        (0, Some(Outcome::Granted)),
        "its statement may go on for long"
    );
    table.release_all(&holder);
    assert_eq!(
        (long.handed(), long.poll()),
        (0, Some(Outcome::Granted)),
        "its transaction may go on for long"
    );
    handoff::open(0);
}

#[test]
fn an_invited_waiter_takes_the_lock_itself_or_waits_on() {
    let table = table();
    let (holder, waiter, quick) = (TxnLocks::new(1, 1), TxnLocks::new(2, 2), TxnLocks::new(3, 3));
    holder.set_transient(true);
    quick.set_transient(true);
    table.try_acquire(&holder, row(b"k"), X, Record);
    waiter.set_transient(true);
    let mut waiting = Hand::begin(table.enqueue(&waiter, row(b"k"), X, Record, FOR_LONG));
    assert!(!waiter.is_transient(), "who waits does not run");
    table.release_all(&holder);
    if table.try_acquire(&quick, row(b"k"), X, Record) == Grant::New {
        assert_eq!(waiting.poll(), None, "somebody came between");
        table.release_all(&quick);
    }
    assert_eq!(waiting.poll(), Some(Outcome::Granted));
    assert!(waiter.is_transient());
    assert_eq!(table.try_acquire(&TxnLocks::new(4, 4), row(b"k"), X, Record), Grant::Conflict);
    table.release_all(&waiter);
    assert_eq!(table.statistics().names, 0);
}

#[test]
fn an_invited_waiter_that_leaves_passes_the_lock_on() {
    let table = table();
    let txns: Vec<_> = (0..3).map(|n| TxnLocks::new(n, n)).collect();
    txns[0].set_transient(true);
    table.try_acquire(&txns[0], row(b"k"), X, Record);
    let first = Hand::begin(table.enqueue(&txns[1], row(b"k"), X, Record, FOR_LONG));
    let mut second = Hand::begin(table.enqueue(&txns[2], row(b"k"), X, Record, FOR_LONG));
    table.release_all(&txns[0]);
    assert_eq!(second.wakes(), 0);
    drop(first);
    assert_eq!((second.wakes(), second.poll()), (1, Some(Outcome::Granted)));
}

#[test]
fn timeout_and_kill_end_a_wait_for_one_reason() {
    let table = table();
    let (holder, waiter, behind) = (TxnLocks::new(1, 1), TxnLocks::new(2, 2), TxnLocks::new(3, 3));
    table.try_acquire(&holder, row(b"k"), S, Record);
    let at_once = Patience { timeout: Duration::ZERO, interrupt: None };
    let mut timed = Box::pin(table.enqueue(&waiter, row(b"k"), X, Record, at_once));
    let mut context = Context::from_waker(TaskWaker::noop());
    assert_eq!(timed.as_mut().poll(&mut context), Poll::Ready(Outcome::TimedOut));

    let interrupt = Interrupt::new();
    let patience = Patience { timeout: Duration::from_secs(50), interrupt: Some(&interrupt) };
    let mut killed = Hand::begin(table.enqueue(&waiter, row(b"k"), X, Record, patience));
    let mut reading = Hand::begin(table.enqueue(&behind, row(b"k"), S, Record, FOR_LONG));
    interrupt.kill_query();
    assert_eq!(killed.wakes(), 1);
    assert_eq!(killed.poll(), Some(Outcome::Killed));
    assert_eq!(reading.poll(), Some(Outcome::Granted), "who waited behind the killed one goes on");
    let statistics = table.statistics();
    assert_eq!((statistics.timeouts, statistics.kills, statistics.current_waits), (1, 1, 0));
}

#[test]
fn a_grant_that_came_first_beats_a_kill() {
    let table = table();
    let (holder, waiter) = (TxnLocks::new(1, 1), TxnLocks::new(2, 2));
    let interrupt = Interrupt::new();
    table.try_acquire(&holder, row(b"k"), X, Record);
    let patience = Patience { timeout: Duration::from_secs(50), interrupt: Some(&interrupt) };
    let mut waiting = Hand::begin(table.enqueue(&waiter, row(b"k"), X, Record, patience));
    table.release_all(&holder);
    interrupt.kill_query();
    assert_eq!(waiting.poll(), Some(Outcome::Granted));
}

#[test]
fn the_timer_ends_a_wait() {
    let table = table();
    let (holder, waiter) = (TxnLocks::new(1, 1), TxnLocks::new(2, 2));
    table.try_acquire(&holder, row(b"k"), X, Record);
    let patience = Patience { timeout: Duration::from_millis(5), interrupt: None };
    let begun = std::time::Instant::now();
    assert_eq!(block_on(table.enqueue(&waiter, row(b"k"), X, Record, patience)), Outcome::TimedOut);
    assert!(begun.elapsed() >= Duration::from_millis(5));
    let error = block_on(table.acquire(&waiter, row(b"k"), X, Record, patience));
    assert_eq!(error, Err(crate::Error::LockWaitTimeout));
}

#[test]
fn insert_waits_for_gaps_of_others_only() {
    let table = table();
    let (first, second) = (TxnLocks::new(1, 1), TxnLocks::new(2, 2));
    table.try_acquire(&first, row(b"m"), X, Gap);
    table.try_acquire(&second, row(b"m"), S, Gap);
    let mut inserting = Hand::begin(table.enqueue(&second, row(b"m"), X, InsertIntention, FOR_LONG));
    table.release_all(&first);
    assert_eq!(inserting.poll(), Some(Outcome::Granted));
    assert_eq!(table.try_acquire(&first_again(), row(b"m"), X, InsertIntention), Grant::Conflict);
    table.release_all(&second);
    assert_eq!(table.statistics().names, 0);
}

fn first_again() -> Arc<TxnLocks> {
    TxnLocks::new(3, 3)
}

#[test]
fn gaps_split_and_merge() {
    let table = table();
    let (scanner, writer) = (TxnLocks::new(1, 1), TxnLocks::new(2, 2));
    table.try_acquire(&scanner, row(b"m"), S, NextKey);
    table.inherit_on_insert(row(b"k"), row(b"m"));
    assert_eq!(table.try_acquire(&writer, row(b"k"), X, InsertIntention), Grant::Conflict);
    assert_eq!(table.try_acquire(&writer, row(b"k"), X, Record), Grant::New, "only the gap was inherited");
    table.inherit_on_remove(row(b"m"), row(b"t"));
    assert_eq!(table.try_acquire(&writer, row(b"t"), X, InsertIntention), Grant::Conflict);
    let committed = TxnLocks::new(3, 3);
    committed.set_skip_gaps(true);
    table.try_acquire(&committed, row(b"x"), X, Record);
    table.inherit_on_remove(row(b"x"), row(b"z"));
    assert_eq!(table.try_acquire(&writer, row(b"z"), X, InsertIntention), Grant::New);
    table.release_all(&scanner);
    assert_eq!(table.try_acquire(&writer, row(b"t"), X, InsertIntention), Grant::New);
}

#[test]
fn a_lock_is_added_on_behalf_once_and_not_after_the_end() {
    let table = table();
    let (writer, reader) = (TxnLocks::new(1, 1), TxnLocks::new(2, 2));
    assert!(table.add_on_behalf(&writer, row(b"k"), RECORD_X));
    assert!(table.add_on_behalf(&writer, row(b"k"), RECORD_X));
    assert_eq!(writer.lock_count(), 1);
    let mut reading = Hand::begin(table.enqueue(&reader, row(b"k"), S, Record, FOR_LONG));
    table.release_all(&writer);
    assert_eq!(reading.poll(), Some(Outcome::Granted));
    assert!(!table.add_on_behalf(&writer, row(b"other"), RECORD_X));
    table.release_all(&reader);
    assert_eq!(table.statistics().names, 0);
}

#[test]
fn releasing_one_lock_keeps_the_rest() {
    let table = table();
    let (txn, other) = (TxnLocks::new(1, 1), TxnLocks::new(2, 2));
    table.try_acquire(&txn, row(b"a"), S, Record);
    assert_eq!(table.try_acquire(&txn, row(b"a"), X, Record), Grant::New);
    assert_eq!(table.try_acquire(&txn, row(b"b"), X, Record), Grant::New);
    let mut waiting = Hand::begin(table.enqueue(&other, row(b"a"), S, Record, FOR_LONG));
    table.release_one(&txn, row(b"a"), X, Record);
    assert_eq!(waiting.poll(), Some(Outcome::Granted), "the S lock from before stays, and S goes with S");
    assert_eq!(table.try_acquire(&other, row(b"a"), X, Record), Grant::Conflict);
    table.release_one(&txn, row(b"b"), X, Record);
    assert_eq!(txn.lock_count(), 1);
    table.release_all(&txn);
    assert_eq!(other.lock_count(), 1);
}

#[test]
fn the_snapshot_tells_who_waits_for_whom() {
    let table = table();
    let (holder, waiter) = (TxnLocks::new(1, 10), TxnLocks::new(2, 20));
    table.try_acquire(&holder, row(b"k"), X, NextKey);
    let _waiting = Hand::begin(table.enqueue(&waiter, row(b"k"), S, Record, FOR_LONG));
    let snapshot = table.snapshot();
    let mut seen: Vec<_> =
        snapshot.locks.iter().map(|l| (l.session, l.shapes[0].label(), l.waited.is_some())).collect();
    seen.sort_unstable();
    assert_eq!(seen, [(10, "X", false), (20, "S,REC_NOT_GAP", true)]);
    assert_eq!(snapshot.waits.len(), 1);
    assert_eq!((snapshot.waits[0].requesting.transaction, snapshot.waits[0].blocking.transaction), (2, 1));
    assert_eq!(snapshot.locks[0].name.name(), row(b"k"));
}

#[test]
fn recycled_locks_begin_empty() {
    let table = table();
    let mut txn = TxnLocks::new(1, 1);
    table.try_acquire(&txn, row(b"k"), X, Record);
    table.release_all(&txn);
    txn.recycle(2, 0).unwrap();
    assert_eq!((txn.start_sequence(), txn.undo_records()), (2, 0));
    assert_eq!(table.try_acquire(&txn, row(b"k"), X, Record), Grant::New);
}
