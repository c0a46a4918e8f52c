//! What the adaptive hash index costs and saves: searches of trees of one, two and three levels, with it on
//! and off in turn, on one or more threads, in a pool that holds all pages, and reads of rows through a
//! transaction.
//!
//! `cargo run --release -p turnstile-engine --example adaptive_hash_speed [threads] [rounds] [share]`, where
//! the share of the pages that the pool holds is 1, or 4 for a quarter.

use std::future::Future;
use std::hint::black_box;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

use turnstile_engine::btree::{IndexDirectory, Tree};
use turnstile_engine::buffer::with_pages_blocking;
use turnstile_engine::ids::TableId;
use turnstile_engine::interrupt::Interrupt;
use turnstile_engine::{Config, Engine, Isolation, RowKeys, TableDef, TxnOptions};

struct NoKeys;
impl RowKeys for NoKeys {
    fn secondary_key(&self, _nth: usize, _row: &[u8], _out: &mut Vec<u8>) -> bool {
        false
    }
}

fn now<F: Future>(future: F) -> F::Output {
    let mut context = Context::from_waker(Waker::noop());
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        std::thread::yield_now();
    }
}

/// Nanoseconds this thread has spent on a CPU.
fn cpu_ns() -> u64 {
    let line = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    line.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0)
}

/// A cheap stream of numbers that look random.
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

fn options() -> TxnOptions {
    TxnOptions {
        isolation: Isolation::RepeatableRead,
        read_only: false,
        autocommit: true,
        lock_wait_timeout_ms: 50_000,
        interrupt: Arc::new(Interrupt::new()),
        status: Default::default(),
    }
}

struct Trial {
    engine: Arc<Engine>,
    table: TableDef,
    rows: u64,
}

impl Trial {
    fn new(rows: u64, pool_bytes: u64) -> turnstile_engine::Result<Trial> {
        let config = Config { buffer_pool_bytes: pool_bytes, ..Config::default() };
        let engine = Engine::open_memory(config)?;
        let table = TableDef {
            id: TableId(1),
            clustered: engine.create_index()?,
            secondaries: vec![],
            keys: Arc::new(NoKeys),
        };
        for first in (0..rows).step_by(1000) {
            let mut txn = engine.begin(options());
            for id in first..(first + 1000).min(rows) {
                now(txn.insert(&table, &id.to_be_bytes(), &[7; 90]))?;
            }
            txn.commit()?;
        }
        engine.purge_all()?;
        Ok(Trial { engine, table, rows })
    }

    /// A handle of our own on the tree, good for reading.
    fn tree(&self) -> turnstile_engine::Result<Arc<Tree>> {
        let directory =
            IndexDirectory::open(self.engine.storage().clone(), self.engine.adaptive_hash().clone());
        with_pages_blocking(self.engine.storage(), || directory.get(self.table.clustered))
    }

    /// CPU nanoseconds per lookup: of a row by a transaction of its own, or of the tree alone.
    fn lookups(&self, threads: usize, count: u64, hot: bool, whole: bool) -> u64 {
        let spent = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for thread in 0..threads as u64 {
                let spent = &spent;
                scope.spawn(move || {
                    let mut state = 0x9E37_79B9_7F4A_7C15 ^ (thread + 1) << 20;
                    let begun = cpu_ns();
                    let tree = self.tree().expect("the index exists");
                    for _ in 0..count {
                        let id = if hot { self.rows / 3 } else { next(&mut state) % self.rows };
                        let key = id.to_be_bytes();
                        if whole {
                            let mut txn = self.engine.begin(options());
                            let mut seen = 0;
                            let found = now(txn.get_with(&self.table, &key, &mut |row| seen = row[0]));
                            assert!(found.is_ok_and(|found| found) && seen == 7);
                        } else {
                            let (leaf, position) = tree.find(&key).expect("in memory");
                            black_box(leaf.record(position.slot()).value[20]);
                        }
                    }
                    spent.fetch_add(cpu_ns() - begun, Ordering::Relaxed);
                });
            }
        });
        spent.into_inner() / (count * threads as u64)
    }
}

fn main() -> turnstile_engine::Result<()> {
    let mut arguments = std::env::args().skip(1).filter_map(|word| word.parse::<u64>().ok());
    let threads = arguments.next().unwrap_or(1) as usize;
    let rounds = arguments.next().unwrap_or(4);
    let share = arguments.next().unwrap_or(1);
    println!("{threads} threads, CPU ns per lookup, off/on in turn; the last pair counts");
    for rows in [100, 10_000, 300_000] {
        let pool = if share == 1 { 128 << 20 } else { (rows * 130 / share).max(8 << 20) };
        let trial = Trial::new(rows, pool)?;
        let hash = trial.engine.adaptive_hash().clone();
        for (name, hot, whole) in [
            ("tree, one hot key", true, false),
            ("tree, random keys", false, false),
            ("row, one hot key", true, true),
            ("row, random keys", false, true),
        ] {
            if share > 1 && !whole {
                continue;
            }
            let count = if share > 1 { 100_000 } else { 400_000 };
            let mut line = format!("{rows} rows, {name}:");
            for _ in 0..rounds {
                hash.set_enabled(false);
                let off = trial.lookups(threads, count, hot, whole);
                hash.set_enabled(true);
                // Learn first; what is measured is the state that lasts.
                trial.lookups(threads, if hot { 1000 } else { rows * 4 }, hot, whole);
                let on = trial.lookups(threads, count, hot, whole);
                line += &format!(" {off}/{on}");
            }
            println!("{line}");
        }
        let counts = hash.counts();
        println!(
            "  hits {} descents {} stale {} busy {} added {} removed {} cells {} KiB",
            counts.hash_searches,
            counts.non_hash_searches,
            counts.stale_hints,
            counts.busy_pages,
            counts.rows_added,
            counts.rows_removed,
            counts.memory_bytes >> 10
        );
    }
    Ok(())
}
