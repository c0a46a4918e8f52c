//! Threads at once: nobody is lost, nobody shares what is exclusive, every deadlock among real threads ends;
//! and a small measurement of the path without a wait.

use super::*;
use LockKind::{NextKey, Record};
use LockMode::{S, X};
use std::sync::atomic::AtomicI64;
use std::time::Instant;
use turnstile_sys::rng::Rng;

const THREADS: u64 = 4;
const KEYS: [&[u8]; 3] = [b"0", b"1", b"2"];

/// -1 while written, else the number of readers; a violation panics.
#[derive(Default)]
struct Guarded(AtomicI64);

impl Guarded {
    fn visit(&self, mode: LockMode, work: impl FnOnce()) {
        let (enter, leave) = if mode == X { (-1, 1) } else { (1, -1) };
        let before = self.0.fetch_add(enter, Ordering::SeqCst);
        assert!(if mode == X { before == 0 } else { before >= 0 }, "{mode:?} beside {before}");
        work();
        self.0.fetch_add(leave, Ordering::SeqCst);
    }
}

fn in_threads(work: impl Fn(u64) + Sync) {
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let work = &work;
            scope.spawn(move || work(thread));
        }
    });
}

/// What a transaction is said to hold is never less than what the table takes for it, also where the slabs
/// have just grown.
#[test]
fn memory_of_locks_is_counted_in_full() {
    let (table, txn) = (table(), TxnLocks::new(1, 1));
    let empty = table.memory_bytes();
    for key in 0..200_000u64 {
        table.try_acquire(&txn, row(&key.to_be_bytes()), X, Record);
        if key > 2000 && key.is_multiple_of(500) {
            let taken = (table.memory_bytes() - empty) as u64 + txn.lock_totals().names as u64 * 8;
            assert!(taken <= txn.held_bytes(), "{key}: {taken} bytes, counted {}", txn.held_bytes());
        }
    }
    assert!(txn.held_bytes() <= 200_000 * 512, "{} bytes are far too many", txn.held_bytes());
    let long = [1u8; 3000];
    let before = txn.held_bytes();
    table.try_acquire(&txn, row(&long), X, Record);
    assert!(txn.held_bytes() >= before + 3000, "a long key counts");
    table.release_one(&txn, row(&long), X, Record);
    assert_eq!(txn.held_bytes(), before);
    table.release_all(&txn);
    assert_eq!(txn.held_bytes(), 0);
}

#[test]
fn one_hot_row_short_and_long_locks_mixed() {
    let table = table();
    let hot = Guarded::default();
    let done = AtomicUsize::new(0);
    in_threads(|thread| {
        let mut rng = Rng::new(thread);
        for n in 0..4_000 {
            let txn = TxnLocks::new(n, thread);
            txn.set_transient(rng.chance(0.8));
            let mode = if rng.chance(0.7) { X } else { S };
            let granted = block_on(table.acquire(&txn, row(b"hot"), mode, Record, FOR_LONG)).unwrap();
            assert_eq!(granted, Grant::New);
            hot.visit(mode, || (0..rng.below(200)).for_each(|_| std::hint::spin_loop()));
            table.release_all(&txn);
            done.fetch_add(1, Ordering::Relaxed);
        }
    });
    let statistics = table.statistics();
    assert_eq!(done.load(Ordering::Relaxed), THREADS as usize * 4_000);
    assert_eq!((statistics.names, statistics.current_waits, statistics.timeouts), (0, 0, 0));
    assert_eq!(statistics.created, statistics.removed);
    assert_eq!(statistics.tables_created, statistics.tables_removed);
}

#[test]
fn several_rows_with_deadlocks_timeouts_and_kills() {
    let table = table();
    let guarded: Vec<Guarded> = KEYS.iter().map(|_| Guarded::default()).collect();
    let sequence = AtomicUsize::new(0);
    in_threads(|thread| {
        let mut rng = Rng::new(100 + thread);
        let mut finished = 0;
        while finished < 1_000 {
            let txn = TxnLocks::new(sequence.fetch_add(1, Ordering::Relaxed) as u64, thread);
            let interrupt = crate::interrupt::Interrupt::new();
            let timeout =
                if rng.chance(0.05) { Duration::from_micros(rng.below(300)) } else { FOR_LONG.timeout };
            let patience = Patience { timeout, interrupt: Some(&interrupt) };
            let mut alive = true;
            let mut held: Vec<(usize, LockMode)> = Vec::new();
            for _ in 0..1 + rng.below(3) {
                let key = rng.below(3) as usize;
                let mode = if rng.chance(0.5) { X } else { S };
                if rng.chance(0.02) {
                    interrupt.kill_query();
                }
                alive = block_on(table.acquire(&txn, row(KEYS[key]), mode, NextKey, patience)).is_ok();
                if !alive {
                    break;
                }
                held.push((key, mode));
            }
            for (key, guard) in guarded.iter().enumerate().filter(|_| alive) {
                if held.contains(&(key, X)) {
                    guard.visit(X, || ());
                } else if held.contains(&(key, S)) {
                    guard.visit(S, || ());
                }
            }
            finished += u64::from(alive);
            table.release_all(&txn);
        }
    });
    let statistics = table.statistics();
    assert_eq!((statistics.names, statistics.current_waits), (0, 0), "{statistics:?}");
    assert_eq!(statistics.created, statistics.removed);
    assert_eq!(statistics.tables_created, statistics.tables_removed);
}

#[test]
fn sessions_that_vanish_pass_their_turn_on() {
    let table = table();
    let hot = Guarded::default();
    in_threads(|thread| {
        let mut rng = Rng::new(200 + thread);
        for n in 0..2_000 {
            let txn = TxnLocks::new(n, thread);
            txn.set_transient(rng.chance(0.5));
            let mut wait = Box::pin(table.enqueue(&txn, row(b"hot"), X, Record, FOR_LONG));
            if rng.chance(0.3) {
                let polled = wait.as_mut().poll(&mut Context::from_waker(TaskWaker::noop()));
                drop(wait);
                if polled.is_ready() {
                    hot.visit(X, || ());
                }
            } else {
                assert_eq!(block_on(wait), Outcome::Granted);
                hot.visit(X, || ());
            }
            table.release_all(&txn);
        }
    });
    assert_eq!(table.statistics().names, 0);
}

/// Measures; run it alone and optimised: `cargo test --release -p turnstile-engine --lib
/// lock::tests::stress::measure -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn measure() {
    let table = table();
    let mut txn = TxnLocks::new(0, 0);
    let rounds = 2_000_000u64;
    for (label, rows) in [("one row", 1u64), ("eight rows", 8)] {
        let begun = Instant::now();
        for n in 0..rounds / rows {
            for key in 0..rows {
                table.try_acquire(&txn, row(&(n * rows + key).to_be_bytes()), X, Record);
            }
            table.release_all(&txn);
            txn.recycle(n, 0).unwrap();
        }
        println!("{label}: {} ns per lock and release", begun.elapsed().as_nanos() as u64 / rounds);
    }
    let begun = Instant::now();
    for key in 0..1_000_000u64 {
        table.try_acquire(&txn, row(&key.to_be_bytes()), X, Record);
    }
    println!("a million rows: {} ns per lock", begun.elapsed().as_nanos() / 1_000_000);
    println!("{} bytes per held row", table.memory_bytes() / 1_000_000);
    let begun = Instant::now();
    table.release_all(&txn);
    println!("a million rows: {} ns per release", begun.elapsed().as_nanos() / 1_000_000);
    let holder = TxnLocks::new(1, 1);
    table.try_acquire(&holder, row(b"hot"), X, Record);
    let waiters: Vec<_> = (0..4_000).map(|n| TxnLocks::new(n, n)).collect();
    for txn in &waiters {
        table.try_acquire(txn, row(&txn.start_sequence().to_be_bytes()), X, Record);
    }
    let begun = Instant::now();
    let mut waits: Vec<_> =
        waiters.iter().map(|txn| Hand::begin(table.enqueue(txn, row(b"hot"), X, Record, FOR_LONG))).collect();
    println!("4000 waiters: {} ns per wait begun", begun.elapsed().as_nanos() / 4000);
    let begun = Instant::now();
    table.release_all(&holder);
    for (wait, txn) in waits.iter_mut().zip(&waiters) {
        assert_eq!(wait.poll(), Some(Outcome::Granted));
        table.release_all(txn);
    }
    println!("4000 waiters: {} ns per hand-off", begun.elapsed().as_nanos() / 4000);
}

/// Two workers with 500 sessions each, all after one row; a worker runs all its ready sessions and then
/// sleeps for the sync of the turn, so a lock handed to one of its sessions meanwhile would stand still.
#[test]
#[ignore = "a measurement"]
fn measure_two_workers_on_one_row() {
    let table = table();
    let statements = AtomicUsize::new(0);
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for worker in 0..2 {
            let (table, statements) = (&table, &statements);
            scope.spawn(move || run_worker(table, statements, worker, begun));
        }
    });
    let seconds = begun.elapsed().as_secs_f64();
    println!("{:.0} statements a second", statements.load(Ordering::Relaxed) as f64 / seconds);
    println!("{:?}", table.statistics());
}

/// Pushes its session on the worker's ready list.
struct Ready(std::sync::mpsc::Sender<usize>, usize);

impl Wake for Ready {
    fn wake(self: Arc<Self>) {
        let _ = self.0.send(self.1);
    }
}

fn run_worker(table: &LockTable, statements: &AtomicUsize, worker: u64, begun: Instant) {
    let (sender, ready) = std::sync::mpsc::channel();
    let statement = |n: u64| async move {
        let txn = TxnLocks::new(n, worker);
        txn.set_transient(true);
        table.acquire(&txn, row(b"hot"), X, Record, FOR_LONG).await.unwrap();
        (0..100).for_each(|_| std::hint::spin_loop());
        table.release_all(&txn);
        statements.fetch_add(1, Ordering::Relaxed);
    };
    let mut sessions: Vec<_> = (0..500).map(|n| Box::pin(statement(n))).collect();
    let wakers: Vec<_> = (0..500).map(|n| TaskWaker::from(Arc::new(Ready(sender.clone(), n)))).collect();
    (0..500).for_each(|n| sender.send(n).unwrap());
    while begun.elapsed() < Duration::from_secs(1) {
        let turn: Vec<usize> = ready.try_iter().collect();
        let mut finished = Vec::new();
        for n in turn {
            if sessions[n].as_mut().poll(&mut Context::from_waker(&wakers[n])).is_ready() {
                sessions[n] = Box::pin(statement(n as u64));
                finished.push(n);
            }
        }
        std::thread::sleep(Duration::from_micros(90));
        finished.into_iter().for_each(|n| sender.send(n).unwrap());
    }
}
