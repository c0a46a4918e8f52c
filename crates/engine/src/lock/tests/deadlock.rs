//! Cycles of every size and kind are found, once, with the right victim, and queues are not walked.

use super::*;
use crate::api::TableLock;
use crate::ids::TableId;
use LockKind::{Gap, InsertIntention, NextKey, Record};
use LockMode::{S, X};

fn key(n: usize) -> [u8; 8] {
    (n as u64).to_be_bytes()
}

/// A wait that may already be over.
fn begin<'a>(wait: Wait<'a>) -> Hand<'a> {
    Hand { wait: Box::pin(wait), wakes: Arc::default() }
}

/// `size` transactions, each holding its own row, each asking for the next one's.
fn ring(size: usize, weights: impl Fn(usize) -> u64) -> (usize, LockStatistics, DeadlockRecord) {
    let table = table();
    let txns: Vec<_> = (0..size).map(|n| TxnLocks::new(n as u64, n as u64)).collect();
    for (n, txn) in txns.iter().enumerate() {
        txn.set_undo_records(weights(n));
        assert_eq!(table.try_acquire(txn, row(&key(n)), X, Record), Grant::New);
    }
    let mut waits: Vec<_> = (0..size)
        .map(|n| begin(table.enqueue(&txns[n], row(&key((n + 1) % size)), X, Record, FOR_LONG)))
        .collect();
    let ended: Vec<_> = waits.iter_mut().map(|wait| wait.poll()).collect();
    let victims: Vec<_> = (0..size).filter(|&n| ended[n] == Some(Outcome::Victim)).collect();
    assert_eq!(victims.len(), 1, "one victim");
    assert_eq!(ended.iter().flatten().count(), 1, "nobody else is touched");
    // The victim rolls back; everybody else finishes in turn.
    let victim = victims[0];
    for step in 0..size {
        let n = (victim + size - step) % size;
        if n != victim {
            assert_eq!(waits[n].poll(), Some(Outcome::Granted));
        }
        table.release_all(&txns[n]);
    }
    drop(waits);
    let record = table.last_deadlock().unwrap();
    assert_eq!(table.statistics().names, 0);
    (victim, table.statistics(), (*record).clone())
}

#[test]
fn rings_of_two_to_a_thousand() {
    for size in [2, 3, 10, 1000] {
        let (victim, statistics, record) = ring(size, |n| if n == size / 2 { 1 } else { 5 });
        assert_eq!(victim, size / 2, "the lightest");
        assert_eq!((statistics.deadlocks, record.members.len()), (1, size));
        assert_eq!(record.members[record.victim].start_sequence, victim as u64);
        for (member, next) in record.members.iter().zip(record.members.iter().cycle().skip(1)) {
            assert_eq!(member.waiting_for.name, next.holds.as_ref().unwrap().name);
        }
        assert!(statistics.edges <= 3 * size as u64, "one edge per waiter: {} for {size}", statistics.edges);
    }
}

#[test]
fn of_equals_the_youngest_is_the_victim() {
    assert_eq!(ring(5, |_| 3).0, 4);
}

#[test]
fn waiters_behind_a_running_holder_cost_no_edge() {
    for holding in [false, true] {
        let table = table();
        let holder = TxnLocks::new(0, 0);
        table.try_acquire(&holder, row(b"hot"), X, Record);
        let txns: Vec<_> = (1..=4000).map(|n| TxnLocks::new(n, n)).collect();
        for (n, txn) in txns.iter().enumerate().filter(|_| holding) {
            table.try_acquire(txn, row(&key(n)), X, Record);
        }
        let mut waits: Vec<_> = txns
            .iter()
            .map(|txn| Hand::begin(table.enqueue(txn, row(b"hot"), X, Record, FOR_LONG)))
            .collect();
        assert_eq!((table.statistics().searches, table.statistics().edges), (0, 0));

        // A real cycle through the far end of the queue costs a handful of edges, not 4,000.
        let last = txns.len() - 1;
        table.try_acquire(&txns[0], row(b"other"), X, Record);
        table.add_on_behalf(&txns[last], row(b"last"), RECORD_X);
        holder.set_undo_records(100);
        let mut closing = begin(table.enqueue(&holder, row(b"last"), X, Record, FOR_LONG));
        assert_eq!((closing.poll(), waits[last].poll()), (None, Some(Outcome::Victim)));
        assert!(table.statistics().edges <= 4, "{} edges", table.statistics().edges);
        assert!(waits[..last].iter_mut().all(|wait| wait.poll().is_none()));
        table.release_all(&txns[last]);
        assert_eq!(closing.poll(), Some(Outcome::Granted));
    }
}

/// The hot row changes hands again and again while 4,000 wait for it, each with a row of its own: nobody is
/// searched.
#[test]
fn a_hot_row_that_changes_hands_costs_no_search() {
    let table = table();
    let mut sequence = 0;
    let mut begin_one = || -> &'static Arc<TxnLocks> {
        sequence += 1;
        let txn = Box::leak(Box::new(TxnLocks::new(sequence, sequence)));
        table.try_acquire(txn, row(&key(sequence as usize)), X, Record);
        txn
    };
    let mut holder = begin_one();
    table.try_acquire(holder, row(b"hot"), X, Record);
    let mut queue = std::collections::VecDeque::new();
    for turn in 0..6000 {
        let txn = begin_one();
        queue.push_back((txn, Hand::begin(table.enqueue(txn, row(b"hot"), X, Record, FOR_LONG))));
        if turn >= 4000 {
            table.release_all(holder);
            let (next, mut wait) = queue.pop_front().unwrap();
            assert_eq!(wait.poll(), Some(Outcome::Granted));
            holder = next;
        }
    }
    assert_eq!((table.statistics().searches, table.statistics().edges), (0, 0));
}

/// The holder of the hot row waits itself: each of the 4,000 is searched, along two edges, however long the
/// queue.
#[test]
fn behind_a_holder_that_waits_two_edges_are_followed() {
    let table = table();
    let (far, holder) = (TxnLocks::new(1, 1), TxnLocks::new(2, 2));
    table.try_acquire(&far, row(b"far"), X, Record);
    table.try_acquire(&holder, row(b"hot"), X, Record);
    let _held_up = Hand::begin(table.enqueue(&holder, row(b"far"), X, Record, FOR_LONG));
    let txns: Vec<_> = (3..4003).map(|n| TxnLocks::new(n, n)).collect();
    let mut waits = Vec::new();
    for (n, txn) in txns.iter().enumerate() {
        table.try_acquire(txn, row(&key(n)), X, Record);
        waits.push(Hand::begin(table.enqueue(txn, row(b"hot"), X, Record, FOR_LONG)));
    }
    let statistics = table.statistics();
    assert_eq!((statistics.searches, statistics.edges), (4000, 2 * 4000));
}

/// Readers and writers of one row in one queue, each with a row of its own: a few edges each, not the queue.
#[test]
fn a_mixed_queue_costs_a_few_edges_each() {
    let table = table();
    let holder = TxnLocks::new(1, 1);
    table.try_acquire(&holder, row(b"hot"), X, Record);
    let txns: Vec<_> = (2..4002).map(|n| TxnLocks::new(n, n)).collect();
    let mut waits = Vec::new();
    for (n, txn) in txns.iter().enumerate() {
        table.try_acquire(txn, row(&key(n)), X, Record);
        let mode = if n % 3 == 0 { S } else { X };
        waits.push(Hand::begin(table.enqueue(txn, row(b"hot"), mode, Record, FOR_LONG)));
    }
    let statistics = table.statistics();
    assert!(statistics.searches <= 4000 && statistics.edges <= 4 * 4000, "{statistics:?}");
}

/// Among 4,000 who wait for the hot row two close a cycle by rows of their own: found at once, and the crowd
/// stands.
#[test]
fn a_cycle_planted_among_four_thousand_waiters_is_broken_at_once() {
    let table = table();
    let holder = TxnLocks::new(1, 1);
    table.try_acquire(&holder, row(b"hot"), X, Record);
    let txns: Vec<_> = (2..4002).map(|n| TxnLocks::new(n, n)).collect();
    let mut waits: Vec<_> = txns
        .iter()
        .enumerate()
        .map(|(n, txn)| {
            table.try_acquire(txn, row(&key(n)), X, Record);
            Hand::begin(table.enqueue(txn, row(b"hot"), X, Record, FOR_LONG))
        })
        .collect();
    let (one, two) = (TxnLocks::new(5000, 5000), TxnLocks::new(5001, 5001));
    table.try_acquire(&one, row(b"left"), X, Record);
    table.try_acquire(&two, row(b"right"), X, Record);
    let mut first = Hand::begin(table.enqueue(&one, row(b"right"), X, Record, FOR_LONG));
    let mut second = begin(table.enqueue(&two, row(b"left"), X, Record, FOR_LONG));
    assert_eq!((first.poll(), second.poll()), (None, Some(Outcome::Victim)));
    assert!(waits.iter_mut().all(|wait| wait.poll().is_none()));
    assert_eq!((table.statistics().searches, table.statistics().edges), (1, 2));
}

#[test]
fn timeouts_are_counted_for_rows_gaps_and_tables() {
    let table = table();
    let (holder, other) = (TxnLocks::new(1, 1), TxnLocks::new(2, 2));
    table.try_acquire(&holder, row(b"k"), X, NextKey);
    table.try_acquire_table(&holder, TableId(1), TableLock::Exclusive);
    let at_once = Patience { timeout: Duration::ZERO, interrupt: None };
    for nth in 1..=3 {
        let mut wait = begin(match nth {
            1 => table.enqueue(&other, row(b"k"), S, Record, at_once),
            2 => table.enqueue(&other, row(b"k"), X, InsertIntention, at_once),
            _ => table.enqueue_table(&other, TableId(1), TableLock::AutoIncrement, at_once),
        });
        assert_eq!((wait.poll(), table.statistics().timeouts), (Some(Outcome::TimedOut), nth));
    }
    assert_eq!((table.statistics().row_waits, table.statistics().table_waits), (2, 1));
    assert_eq!(other.lock_count(), 0);
}

#[test]
fn a_cycle_through_any_of_several_readers_is_found_at_once() {
    for nth in 0..5 {
        let table = table();
        let readers: Vec<_> = (0..5).map(|n| TxnLocks::new(n, n)).collect();
        let writer = TxnLocks::new(9, 9);
        writer.set_undo_records(50);
        readers
            .iter()
            .for_each(|reader| assert_eq!(table.try_acquire(reader, row(b"r"), S, Record), Grant::New));
        table.try_acquire(&writer, row(b"w"), X, Record);
        let mut reading = Hand::begin(table.enqueue(&readers[nth], row(b"w"), S, Record, FOR_LONG));
        let mut writing = Hand::begin(table.enqueue(&writer, row(b"r"), X, Record, FOR_LONG));
        assert_eq!(reading.poll(), Some(Outcome::Victim), "though the other four readers are idle");
        readers.iter().for_each(|reader| table.release_all(reader));
        assert_eq!(writing.poll(), Some(Outcome::Granted));
    }
}

#[test]
fn one_wait_that_closes_two_cycles_breaks_both() {
    let table = table();
    let (first, second, writer) = (TxnLocks::new(1, 1), TxnLocks::new(2, 2), TxnLocks::new(3, 3));
    writer.set_undo_records(50);
    table.try_acquire(&first, row(b"r"), S, Record);
    table.try_acquire(&second, row(b"r"), S, Record);
    table.try_acquire(&writer, row(b"w"), X, Record);
    let mut one = Hand::begin(table.enqueue(&first, row(b"w"), S, Record, FOR_LONG));
    let mut two = Hand::begin(table.enqueue(&second, row(b"w"), S, Record, FOR_LONG));
    let _writing = Hand::begin(table.enqueue(&writer, row(b"r"), X, Record, FOR_LONG));
    assert_eq!((one.poll(), two.poll()), (Some(Outcome::Victim), Some(Outcome::Victim)));
    assert_eq!(table.statistics().deadlocks, 2);
}

#[test]
fn two_upgrades_of_a_shared_lock() {
    let table = table();
    let (old, young) = (TxnLocks::new(1, 1), TxnLocks::new(2, 2));
    table.try_acquire(&old, row(b"k"), S, Record);
    table.try_acquire(&young, row(b"k"), S, Record);
    let mut first = Hand::begin(table.enqueue(&old, row(b"k"), X, Record, FOR_LONG));
    let mut second = begin(table.enqueue(&young, row(b"k"), X, Record, FOR_LONG));
    assert_eq!(second.poll(), Some(Outcome::Victim));
    table.release_all(&young);
    assert_eq!(first.poll(), Some(Outcome::Granted));
}

#[test]
fn two_inserts_into_a_gap_both_have_locked() {
    let table = table();
    let (old, young) = (TxnLocks::new(1, 1), TxnLocks::new(2, 2));
    let supremum = LockName::Supremum(INDEX);
    table.try_acquire(&old, supremum, X, NextKey);
    table.try_acquire(&young, supremum, X, Gap);
    let mut first = Hand::begin(table.enqueue(&old, supremum, X, InsertIntention, FOR_LONG));
    let mut second = begin(table.enqueue(&young, supremum, X, InsertIntention, FOR_LONG));
    assert_eq!(second.poll(), Some(Outcome::Victim));
    table.release_all(&young);
    assert_eq!(first.poll(), Some(Outcome::Granted));
}

#[test]
fn through_a_waiter_that_holds_nothing_here() {
    // The reader waits only for its place behind the writer; the writer for the first reader; that one for
    // the last.
    let table = table();
    let (first, writer, last) = (TxnLocks::new(1, 1), TxnLocks::new(2, 2), TxnLocks::new(3, 3));
    table.try_acquire(&first, row(b"r"), S, Record);
    table.try_acquire(&last, row(b"z"), X, Record);
    let mut writing = Hand::begin(table.enqueue(&writer, row(b"r"), X, Record, FOR_LONG));
    let mut reading = Hand::begin(table.enqueue(&last, row(b"r"), S, Record, FOR_LONG));
    first.set_undo_records(9);
    last.set_undo_records(9);
    let mut closing = begin(table.enqueue(&first, row(b"z"), S, Record, FOR_LONG));
    assert_eq!(writing.poll(), Some(Outcome::Victim));
    assert_eq!((reading.poll(), closing.poll()), (Some(Outcome::Granted), None));
}

#[test]
fn an_insert_behind_a_waiting_next_key_request() {
    let table = table();
    let (holder, scanner, inserter) = (TxnLocks::new(1, 1), TxnLocks::new(2, 2), TxnLocks::new(3, 3));
    table.try_acquire(&holder, row(b"k"), X, Record);
    table.try_acquire(&inserter, row(b"z"), X, Record);
    let mut scanning = Hand::begin(table.enqueue(&scanner, row(b"k"), X, NextKey, FOR_LONG));
    let mut inserting = Hand::begin(table.enqueue(&inserter, row(b"k"), X, InsertIntention, FOR_LONG));
    holder.set_undo_records(9);
    inserter.set_undo_records(9);
    let mut closing = begin(table.enqueue(&holder, row(b"z"), X, Record, FOR_LONG));
    assert_eq!(scanning.poll(), Some(Outcome::Victim));
    assert_eq!((inserting.poll(), closing.poll()), (Some(Outcome::Granted), None));
}

#[test]
fn through_rows_tables_and_auto_increment() {
    let table = table();
    let txns: Vec<_> = (0..3).map(|n| TxnLocks::new(n, n)).collect();
    table.try_acquire(&txns[0], row(b"k"), X, Record);
    table.try_acquire_table(&txns[1], TableId(1), TableLock::IntentionExclusive);
    table.try_acquire_table(&txns[2], TableId(2), TableLock::AutoIncrement);
    let _one = Hand::begin(table.enqueue_table(&txns[0], TableId(1), TableLock::Exclusive, FOR_LONG));
    let _two = Hand::begin(table.enqueue_table(&txns[1], TableId(2), TableLock::AutoIncrement, FOR_LONG));
    let mut three = begin(table.enqueue(&txns[2], row(b"k"), S, Record, FOR_LONG));
    assert_eq!(three.poll(), Some(Outcome::Victim));
    let record = table.last_deadlock().unwrap();
    let mut waited: Vec<_> = record.members.iter().map(|m| m.waiting_for.shapes[0].label()).collect();
    waited.sort_unstable();
    assert_eq!(waited, ["AUTO_INC", "S,REC_NOT_GAP", "X"]);
}

#[test]
fn a_lock_inherited_by_a_waiting_transaction_may_close_a_cycle() {
    let table = table();
    let (scanner, other, inserter) = (TxnLocks::new(1, 1), TxnLocks::new(2, 2), TxnLocks::new(3, 3));
    table.try_acquire(&scanner, row(b"k"), S, Gap);
    table.try_acquire(&other, row(b"m"), S, Gap);
    table.try_acquire(&inserter, row(b"z"), X, Record);
    let mut inserting = Hand::begin(table.enqueue(&inserter, row(b"m"), X, InsertIntention, FOR_LONG));
    let mut scanning = Hand::begin(table.enqueue(&scanner, row(b"z"), S, Record, FOR_LONG));
    assert_eq!(table.statistics().deadlocks, 0);
    scanner.set_undo_records(9);
    table.inherit_on_remove(row(b"k"), row(b"m"));
    assert_eq!((inserting.poll(), scanning.poll()), (Some(Outcome::Victim), None));
}

#[test]
fn a_lock_added_on_behalf_counts_as_held() {
    let table = table();
    let (writer, other) = (TxnLocks::new(1, 1), TxnLocks::new(2, 2));
    table.try_acquire(&other, row(b"a"), X, Record);
    let _waiting = Hand::begin(table.enqueue(&writer, row(b"a"), X, Record, FOR_LONG));
    // The writer has asked for nothing that it got: what it holds was added while it slept.
    assert!(table.add_on_behalf(&writer, row(b"mine"), RECORD_X));
    let mut closing = begin(table.enqueue(&other, row(b"mine"), S, Record, FOR_LONG));
    assert_eq!(closing.poll(), Some(Outcome::Victim));
}

#[test]
fn the_switch_is_live_and_switching_on_finds_what_closed_meanwhile() {
    let table = table();
    table.set_detection(false);
    let txns: Vec<_> = (0..2).map(|n| TxnLocks::new(n, n)).collect();
    table.try_acquire(&txns[0], row(b"0"), X, Record);
    table.try_acquire(&txns[1], row(b"1"), X, Record);
    let mut zero = Hand::begin(table.enqueue(&txns[0], row(b"1"), X, Record, FOR_LONG));
    let mut one = Hand::begin(table.enqueue(&txns[1], row(b"0"), X, Record, FOR_LONG));
    assert_eq!(table.statistics().searches, 0);
    let told = Arc::new(AtomicUsize::new(0));
    let counter = told.clone();
    assert!(table.set_deadlock_hook(Box::new(move |record| {
        let (counter, members) = (counter.clone(), record.members.len());
        Box::new(move || {
            counter.fetch_add(members, Ordering::SeqCst);
        })
    })));
    table.set_detection(true);
    assert_eq!((zero.poll(), one.poll()), (None, Some(Outcome::Victim)));
    assert_eq!((table.statistics().deadlocks, told.load(Ordering::SeqCst)), (1, 2));
}
