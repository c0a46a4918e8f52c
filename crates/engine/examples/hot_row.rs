//! What one hot-row UPDATE costs inside the engine: one thread, `group` transactions a sync, figures per transaction.
//!
//! ```text
//! cargo run --release -p turnstile-engine --example hot_row \[GROUP\] \[ROUNDS\]
//! ```

use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use turnstile_engine::ids::TableId;
use turnstile_engine::interrupt::Interrupt;
use turnstile_engine::{Change, Config, Engine, Isolation, RowKeys, TableDef, TxnOptions};
use turnstile_sys::disk::RealDisk;

struct NoSecondaries;

impl RowKeys for NoSecondaries {
    fn secondary_key(&self, _nth: usize, _row: &[u8], _out: &mut Vec<u8>) -> bool {
        false
    }
}

/// In memory and without contention nothing waits, so one poll is enough.
fn now<F: Future>(future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it waits"),
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let group: u64 = arguments.next().map_or(Ok(100), |text| text.parse())?;
    let rounds: u64 = arguments.next().map_or(Ok(2000), |text| text.parse())?;
    let folder = std::env::temp_dir().join(format!("turnstile-hot-row-{}", std::process::id()));
    let engine = Engine::open(Arc::new(RealDisk::open(&folder)?), Config::default())?;
    let index = engine.create_index()?;
    let table =
        TableDef { id: TableId(1), clustered: index, secondaries: Vec::new(), keys: Arc::new(NoSecondaries) };
    let options = TxnOptions {
        isolation: Isolation::ReadCommitted,
        read_only: false,
        autocommit: true,
        lock_wait_timeout_ms: 50_000,
        interrupt: Arc::new(Interrupt::new()),
    };
    let key = 1u32.to_be_bytes();
    let mut txn = engine.begin(options.clone());
    now(txn.insert(&table, &key, &[0; 12]))?;
    let mut last = txn.commit()?;
    let (mut inside, begin) = (0, Instant::now());
    for _ in 0..rounds {
        let turn = Instant::now();
        for _ in 0..group {
            let mut txn = engine.begin(options.clone());
            now(txn.update(&table, &key, &mut |old, new| {
                new.extend_from_slice(old);
                new[11] = new[11].wrapping_add(1);
                Change::Replace
            }))?;
            last = txn.commit()?;
        }
        inside += turn.elapsed().as_nanos();
        if let Some(lsn) = last {
            engine.storage().wal.flush_to(lsn)?;
        }
    }
    let total = u128::from(group * rounds);
    println!(
        "{} ns a transaction inside, {} ns with its share of the sync",
        inside / total,
        begin.elapsed().as_nanos() / total
    );
    engine.close()?;
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}
