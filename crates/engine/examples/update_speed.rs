//! How long the engine's part of a hot-row UPDATE takes: one thread, one row, autocommit, no wait for the
//! log, on files in the directory for temporary files.
//!
//! `cargo run --release -p turnstile-engine --example update_speed [updates] [old view: 0 or 1]`

use std::future::Future;
use std::ops::Bound;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use turnstile_sys::disk::RealDisk;

use turnstile_engine::interrupt::Interrupt;
use turnstile_engine::{
    Change, Config, Engine, Isolation, Read, RowKeys, ScanIndex, ScanSpec, TableDef, TxnOptions, Visit,
};

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

/// Nanoseconds this thread has spent on a CPU: what counts on a machine that is busy with other things too.
fn cpu_ns() -> u64 {
    let line = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    line.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0)
}

/// Inserts rows, a thousand per transaction, and walks over them.
fn load_and_count(
    engine: &Arc<Engine>,
    table: &TableDef,
    options: &TxnOptions,
    rows: u64,
) -> turnstile_engine::Result<()> {
    let begun = cpu_ns();
    for first in (0..rows).step_by(1000) {
        let mut txn = engine.begin(options.clone());
        for id in first..(first + 1000).min(rows) {
            now(txn.insert(table, &(id + 1000).to_be_bytes(), &[7; 190]))?;
        }
        txn.commit()?;
    }
    println!("insert: {} CPU ns each", (cpu_ns() - begun) / rows.max(1));
    let mut txn = engine.begin(options.clone());
    let spec = ScanSpec {
        index: ScanIndex::Clustered,
        lower: Bound::Unbounded,
        upper: Bound::Unbounded,
        reverse: false,
        mode: Read::Consistent,
        fetch_row: true,
    };
    let mut scan = txn.scan(table, spec);
    let mut count = 0u64;
    let begun = cpu_ns();
    while now(txn.scan_batch(&mut scan, &mut |_, _, _| {
        count += 1;
        Visit::Continue
    }))? {}
    println!("scan: {} CPU ns for each of {count} rows", (cpu_ns() - begun) / count.max(1));
    Ok(())
}

fn main() -> turnstile_engine::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let updates: u64 = arguments.next().and_then(|word| word.parse().ok()).unwrap_or(1_000_000);
    let old_view = arguments.next().is_some_and(|word| word == "1");
    let directory = std::env::temp_dir().join(format!("update-speed-{}", std::process::id()));
    let disk =
        RealDisk::open(&directory).map_err(|error| turnstile_engine::Error::Stopped(error.to_string()))?;
    let engine = Engine::open(Arc::new(disk), Config::default())?;
    let table = TableDef {
        id: turnstile_engine::ids::TableId(1),
        clustered: engine.create_index()?,
        secondaries: Vec::new(),
        keys: Arc::new(NoKeys),
    };
    let options = TxnOptions {
        isolation: Isolation::RepeatableRead,
        read_only: false,
        autocommit: true,
        lock_wait_timeout_ms: 50_000,
        interrupt: Arc::new(Interrupt::new()),
        status: Default::default(),
    };
    let key = 1u32.to_be_bytes();
    let mut txn = engine.begin(options.clone());
    now(txn.insert(&table, &key, &[7; 150]))?;
    txn.commit()?;
    let mut reader = engine.begin(options.clone());
    if old_view {
        reader.open_view();
    }
    let mut last = None;
    let begun = cpu_ns();
    for n in 0..updates {
        let mut txn = engine.begin(options.clone());
        now(txn.update(&table, &key, &mut |old, new| {
            new.extend_from_slice(old);
            new[..8].copy_from_slice(&n.to_le_bytes());
            Change::Replace
        }))?;
        last = txn.commit()?;
    }
    println!("update + commit: {} CPU ns each", (cpu_ns() - begun) / updates.max(1));
    let begun = cpu_ns();
    for _ in 0..updates {
        let mut txn = engine.begin(options.clone());
        now(txn.get_with(&table, &key, &mut |_| ()))?;
        txn.commit()?;
    }
    println!("get: {} CPU ns each", (cpu_ns() - begun) / updates.max(1));
    load_and_count(&engine, &table, &options, updates)?;
    let row = now(reader.get(&table, &key, Read::Consistent))?;
    println!("the reader sees {:?}, history {}", row.map(|row| row[0]), engine.history_list_length());
    drop(reader);
    if let Some(lsn) = last {
        now(engine.wait_durable(lsn))?;
    }
    engine.close()?;
    // What stays behind is a few files in the directory for temporary files.
    drop(std::fs::remove_dir_all(directory));
    Ok(())
}
