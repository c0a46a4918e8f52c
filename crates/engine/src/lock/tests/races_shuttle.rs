//! Random schedules over grant, kill, timeout, drop and deadlock search. Run with
//! `RUSTFLAGS="--cfg shuttle" cargo test -p turnstile-engine --lib lock::tests::races_shuttle`.

use super::*;
use crate::api::TableLock;
use crate::ids::TableId;
use crate::interrupt::Interrupt;
use LockKind::{Gap, InsertIntention, Record};
use LockMode::X;
use shuttle::future::block_on;
use shuttle::rand::Rng;
use shuttle::thread;

fn check(rounds: usize, test: impl Fn() + Send + Sync + 'static) {
    shuttle::check_random(test, rounds);
}

/// A coin that shuttle tosses, so that a schedule replays.
fn flip() -> bool {
    shuttle::rand::thread_rng().gen_bool(0.5)
}

fn assert_idle(table: &LockTable) {
    let statistics = table.statistics();
    assert_eq!((statistics.names, statistics.current_waits), (0, 0), "{statistics:?}");
    assert_eq!(statistics.created, statistics.removed);
    assert_eq!(statistics.tables_created, statistics.tables_removed);
}

/// One holder releases, short or not, while two waiters are killed, time out, vanish or wait.
#[test]
fn grant_kill_timeout_and_drop() {
    check(2_000, || {
        let table = Arc::new(table());
        let holder = TxnLocks::new(0, 0);
        holder.set_transient(flip());
        table.try_acquire(&holder, row(b"k"), X, Record);
        let interrupts: Vec<_> = (0..2).map(|_| Arc::new(Interrupt::new())).collect();
        let waiters: Vec<_> = interrupts
            .iter()
            .map(|interrupt| {
                let (table, interrupt) = (table.clone(), interrupt.clone());
                let (timed, vanishing) = (flip(), flip());
                thread::spawn(move || {
                    let txn = TxnLocks::new(1, 1);
                    txn.set_transient(true);
                    let timeout = if timed { Duration::ZERO } else { FOR_LONG.timeout };
                    let patience = Patience { timeout, interrupt: Some(&interrupt) };
                    let mut wait = Box::pin(table.enqueue(&txn, row(b"k"), X, Record, patience));
                    if vanishing {
                        let _ = wait.as_mut().poll(&mut Context::from_waker(TaskWaker::noop()));
                        drop(wait);
                    } else {
                        let outcome = block_on(wait);
                        assert_eq!(txn.lock_count(), u32::from(outcome == Outcome::Granted));
                    }
                    table.release_all(&txn);
                })
            })
            .collect();
        let killer = {
            let interrupt = interrupts[0].clone();
            thread::spawn(move || interrupt.kill_query())
        };
        table.release_all(&holder);
        waiters.into_iter().chain([killer]).for_each(|thread| thread.join().unwrap());
        assert_idle(&table);
    });
}

/// Three transactions in a ring: if the search missed a cycle, shuttle would report that nobody can go on.
#[test]
fn rings_are_always_broken() {
    check(2_000, || {
        let table = Arc::new(table());
        let threads: Vec<_> = (0..3u8)
            .map(|n| {
                let table = table.clone();
                thread::spawn(move || {
                    let txn = TxnLocks::new(u64::from(n), u64::from(n));
                    let (first, second) = ([n], [(n + 1) % 3]);
                    let mut outcome = Outcome::Granted;
                    for key in [&first, &second] {
                        if outcome == Outcome::Granted {
                            outcome = block_on(table.enqueue(&txn, row(key), X, Record, FOR_LONG));
                        }
                    }
                    table.release_all(&txn);
                    outcome
                })
            })
            .collect();
        let outcomes: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        let victims = outcomes.iter().filter(|outcome| **outcome == Outcome::Victim).count();
        assert!(
            victims <= 1
                && outcomes.iter().filter(|outcome| **outcome == Outcome::Granted).count() == 3 - victims
        );
        assert_eq!(table.statistics().deadlocks, victims as u64);
        assert_idle(&table);
    });
}

/// The same through a row, a gap, a table or the AUTO_INCREMENT lock, as the coin falls, and with a waiter
/// who holds nothing that anybody wants. Somebody may be killed meanwhile: then there may be no victim, but
/// nobody hangs.
#[test]
fn mixed_rings_are_always_broken() {
    check(3_000, || {
        let table = Arc::new(table());
        let kinds: [u8; 3] = std::array::from_fn(|_| 2 * u8::from(flip()) + u8::from(flip()));
        let killed = flip();
        let interrupts: Vec<_> = (0..4).map(|_| Arc::new(Interrupt::new())).collect();
        let txns: Vec<_> = (0..4).map(|n| TxnLocks::new(n, n)).collect();
        for n in 0..3u8 {
            let txn = &txns[n as usize];
            match kinds[n as usize] {
                0 => table.try_acquire(txn, row(&[n]), X, Record),
                1 => table.try_acquire(txn, row(&[n]), X, Gap),
                2 => table.try_acquire_table(txn, TableId(n.into()), TableLock::Exclusive),
                _ => table.try_acquire_table(txn, TableId(n.into()), TableLock::AutoIncrement),
            };
        }
        let wait = move |table: Arc<LockTable>, txn: Arc<TxnLocks>, interrupt: Arc<Interrupt>, place: u8| {
            thread::spawn(move || {
                let patience = Patience { interrupt: Some(&interrupt), ..FOR_LONG };
                let id = TableId(place.into());
                let outcome = block_on(match kinds[place as usize] {
                    0 => table.enqueue(&txn, row(&[place]), X, Record, patience),
                    1 => table.enqueue(&txn, row(&[place]), X, InsertIntention, patience),
                    2 => table.enqueue_table(&txn, id, TableLock::IntentionShared, patience),
                    _ => table.enqueue_table(&txn, id, TableLock::AutoIncrement, patience),
                });
                table.release_all(&txn);
                outcome
            })
        };
        let threads: Vec<_> = (0..4u8)
            .map(|n| {
                let (txn, interrupt) = (txns[n as usize].clone(), interrupts[n as usize].clone());
                wait(table.clone(), txn, interrupt, (n + 1) % 3)
            })
            .collect();
        if killed {
            interrupts[1].kill_query();
        }
        let outcomes: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        let count = |wanted| outcomes.iter().filter(|outcome| **outcome == wanted).count();
        assert!(count(Outcome::Victim) <= 1, "{kinds:?} {outcomes:?}");
        assert!(killed || count(Outcome::Killed) == 0, "{outcomes:?}");
        assert_eq!(outcomes[3], Outcome::Granted, "who is in no cycle gets its lock");
        assert_eq!(table.statistics().deadlocks, count(Outcome::Victim) as u64);
        assert_idle(&table);
    });
}

/// Detection is switched on while a cycle closes: either the last wait sees the switch or the switch sees
/// the wait.
#[test]
fn the_switch_and_a_closing_cycle_meet() {
    check(3_000, || {
        let table = Arc::new(table());
        table.set_detection(false);
        let txns: Vec<_> = (0..2).map(|n| TxnLocks::new(n, n)).collect();
        for (n, txn) in (0u8..).zip(&txns) {
            table.try_acquire(txn, row(&[n]), X, Record);
        }
        let threads: Vec<_> = (0..2u8)
            .map(|n| {
                let (table, txn) = (table.clone(), txns[n as usize].clone());
                thread::spawn(move || {
                    let outcome = block_on(table.enqueue(&txn, row(&[1 - n]), X, Record, FOR_LONG));
                    table.release_all(&txn);
                    outcome
                })
            })
            .collect();
        table.set_detection(true);
        let outcomes: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        let victims = outcomes.iter().filter(|outcome| **outcome == Outcome::Victim).count();
        assert_eq!((victims as u64, victims <= 1), (table.statistics().deadlocks, true));
        assert_idle(&table);
    });
}

/// A lock added on behalf of a transaction that is about to wait, by one who is about to wait for it.
#[test]
fn locks_added_on_behalf_meet_waits() {
    check(2_000, || {
        let table = Arc::new(table());
        let (writer, other) = (TxnLocks::new(1, 1), TxnLocks::new(2, 2));
        table.try_acquire(&other, row(b"a"), X, Record);
        let writing = {
            let (table, writer) = (table.clone(), writer.clone());
            thread::spawn(move || {
                let outcome = block_on(table.enqueue(&writer, row(b"a"), X, Record, FOR_LONG));
                table.release_all(&writer);
                outcome
            })
        };
        let mut outcome = Outcome::Granted;
        if table.add_on_behalf(&writer, row(b"mine"), RECORD_X) {
            outcome = block_on(table.enqueue(&other, row(b"mine"), X, Record, FOR_LONG));
        }
        table.release_all(&other);
        let outcomes = [outcome, writing.join().unwrap()];
        assert!(outcomes.contains(&Outcome::Granted), "{outcomes:?}");
        assert_idle(&table);
    });
}

/// Who has changed each of two rows and not ended, oldest first: what the versions of a row would be.
type Versions = [shuttle::sync::Mutex<Vec<u64>>; 2];

/// One transaction over rows that are handed on: changes rows in an order that the coin says, rests in
/// between, commits or rolls back. Versions are pushed under the lock, and leave at the front with a commit,
/// at the back with a rollback: anything else is a broken order.
fn buyer(table: &LockTable, txn: &Arc<TxnLocks>, interrupt: &Arc<Interrupt>, versions: &Versions) {
    let patience = Patience { interrupt: Some(interrupt), ..FOR_LONG };
    let number = txn.session();
    let first = usize::from(flip());
    let mut changed = Vec::new();
    let mut lost = false;
    for key in if flip() { vec![first, 1 - first] } else { vec![first] } {
        txn.stop_resting();
        let name = [key as u8];
        let outcome = block_on(table.enqueue(txn, row(&name), X, LockKind::Successor, patience));
        txn.set_interrupt(interrupt);
        lost = outcome != Outcome::Granted || txn.is_doomed();
        if lost {
            break;
        }
        versions[key].lock().unwrap().push(number);
        changed.push(key);
        txn.set_undo_records(changed.len() as u64);
        txn.note_change(row(&name), Some(true));
        table.rest(txn);
        thread::yield_now();
    }
    let commits = !lost && flip() && {
        table.rest(txn);
        block_on(table.follow(txn, interrupt)).is_ok()
    };
    if commits {
        for &key in &changed {
            let ended = versions[key].lock().unwrap().remove(0);
            assert_eq!(ended, number, "it commits before one that it comes after");
        }
    } else {
        if !table.reclaim(txn, 0) {
            block_on(table.reclaimed(txn));
        }
        for &key in changed.iter().rev() {
            let undone = versions[key].lock().unwrap().pop();
            assert_eq!(undone, Some(number), "it takes back what another one has built upon");
        }
    }
    table.release_all(txn);
}

/// Rows handed on before commit: the order of commits and of rollbacks, and nobody waits for ever.
#[test]
fn rows_handed_on_keep_their_order() {
    check(5_000, || {
        let table = Arc::new(table());
        let rules = &table.settings.hot_row;
        rules.on.store(true, Ordering::Relaxed);
        rules.patience_ms.store(100_000_000, Ordering::Relaxed);
        let versions: Arc<Versions> = Arc::default();
        let threads: Vec<_> = (0..3)
            .map(|n| {
                let (table, versions) = (table.clone(), versions.clone());
                thread::spawn(move || {
                    let (txn, interrupt) = (TxnLocks::new(n, n), Arc::new(Interrupt::new()));
                    buyer(&table, &txn, &interrupt, &versions);
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert!(versions.iter().all(|row| row.lock().unwrap().is_empty()));
        assert_idle(&table);
    });
}
