//! Several threads at once, with purge, rollback and flusher threads running: money moves between accounts,
//! and every consistent view must find all of it.

use super::stage::*;
use crate::api::*;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::txn::Txn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use turnstile_sys::fault_disk::FaultDisk;
use turnstile_sys::rng::Rng;

const ACCOUNTS: u32 = 40;
const OPENING: u32 = 1000;

/// Balance is column `a`, so that every transfer moves two secondary entries as well.
async fn transfer(txn: &mut Txn, table: &TableDef, rng: &mut Rng) -> Result<()> {
    let from = rng.below(u64::from(ACCOUNTS)) as u32;
    let to = (from + 1 + rng.below(u64::from(ACCOUNTS) - 1) as u32) % ACCOUNTS;
    let amount = rng.below(10) as u32;
    let mut taken = 0;
    txn.update(table, &key(from), &mut |old, new| {
        let balance = a_of(old);
        taken = amount.min(balance);
        new.extend_from_slice(&row(balance - taken, from, "after a withdrawal"));
        Change::Replace
    })
    .await?;
    txn.update(table, &key(to), &mut |old, new| {
        new.extend_from_slice(&row(a_of(old) + taken, to, "deposit"));
        Change::Replace
    })
    .await?;
    Ok(())
}

/// Rows that come and go, to keep purge, splits and merges busy.
async fn churn(txn: &mut Txn, table: &TableDef, rng: &mut Rng) -> Result<()> {
    let id = 1000 + rng.below(1500) as u32;
    match txn.insert(table, &key(id), &row(0, id, &"churn".repeat(rng.index(400)))).await {
        Err(Error::DuplicateKey { nth: None, .. }) => txn.delete(table, &key(id)).await.map(drop),
        other => other,
    }
}

fn total(txn: &mut Txn, table: &TableDef, index: ScanIndex) -> (u64, usize) {
    let rows = scan_all(txn, table, spec(index, Read::Consistent));
    let accounts: Vec<_> = rows.iter().filter(|(pk, _)| pk.as_slice() < &key(1000)[..]).collect();
    (accounts.iter().map(|(_, row)| u64::from(a_of(row))).sum(), accounts.len())
}

fn worker(engine: &Arc<Engine>, table: &TableDef, seed: u64, deadlocks: &AtomicU64) {
    let mut rng = Rng::new(seed);
    for _ in 0..250 {
        let isolation = if rng.chance(0.5) { Isolation::RepeatableRead } else { Isolation::ReadCommitted };
        let mut txn = engine.begin(TxnOptions { lock_wait_timeout_ms: 10_000, ..options(isolation) });
        if rng.chance(0.15) {
            let mut txn = begin(engine);
            let expected = (u64::from(ACCOUNTS * OPENING), ACCOUNTS as usize);
            assert_eq!(total(&mut txn, table, ScanIndex::Clustered), expected, "clustered, seed {seed}");
            assert_eq!(total(&mut txn, table, ScanIndex::Secondary(0)), expected, "secondary, seed {seed}");
            continue;
        }
        let outcome = block_on(async {
            for _ in 0..1 + rng.below(3) {
                transfer(&mut txn, table, &mut rng).await?;
                churn(&mut txn, table, &mut rng).await?;
            }
            Ok::<_, Error>(())
        });
        match outcome {
            Ok(()) if rng.chance(0.1) => block_on(txn.rollback()).unwrap(),
            Ok(()) if rng.chance(0.1) => drop(txn),
            Ok(()) => {
                let lsn = txn.commit().unwrap().unwrap();
                if rng.chance(0.1) {
                    block_on(engine.wait_durable(lsn)).unwrap();
                }
            }
            Err(Error::Deadlock) => {
                deadlocks.fetch_add(1, Ordering::Relaxed);
                block_on(txn.rollback()).unwrap();
            }
            Err(error) => panic!("seed {seed}: {error}"),
        }
    }
}

#[test]
fn money_is_neither_made_nor_lost() {
    let seeds = std::env::var("STRESS_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(2);
    for seed in 0..seeds {
        // Odd seeds: a pool that does not hold the table.
        let buffer_pool_bytes = if seed % 2 == 1 { 1 << 20 } else { 4 << 20 };
        let config = Config { buffer_pool_bytes, ..small_config() };
        // Small batches call all of purge's threads; a cap cuts rounds short.
        config.settings.purge_batch_size.store(2 + seed, Ordering::Relaxed);
        config.settings.max_purge_size.store(if seed % 3 == 1 { 40 } else { 0 }, Ordering::Relaxed);
        let engine = Engine::open(Arc::new(FaultDisk::new(seed)), config).unwrap();
        let table = new_table(&engine);
        let mut txn = begin(&engine);
        for id in 0..ACCOUNTS {
            insert(&mut txn, &table, id, &row(OPENING, id, "opening"));
        }
        txn.commit().unwrap();
        // Every other pair of seeds: a view as old as the bank, behind which purge looks while everybody
        // writes.
        let mut old = (seed / 2).is_multiple_of(2).then(|| {
            let mut txn = begin(&engine);
            txn.open_view();
            txn
        });
        let deadlocks = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for nth in 0..4 {
                let (engine, table, deadlocks) = (&engine, &table, &deadlocks);
                scope.spawn(move || worker(engine, table, seed * 100 + nth, deadlocks));
            }
        });
        if let Some(mut txn) = old.take() {
            let rows = contents(&mut txn, &table);
            assert_eq!(rows.len(), ACCOUNTS as usize, "seed {seed}");
            assert!(
                rows.iter().all(|(_, row)| a_of(row) == OPENING),
                "seed {seed}: the old view has changed"
            );
            let looked = txn.kernel.purge.progress.behind.load(Ordering::Relaxed);
            assert!(looked > 0, "seed {seed}: purge has not looked behind the view");
        }
        engine.end_threads();
        engine.roll_back_abandoned().unwrap();
        engine.purge_all().unwrap();
        assert_eq!(engine.active_transactions(), 0);
        assert_eq!(engine.history_list_length(), 0);
        let rows = contents(&mut begin(&engine), &table);
        super::history::nothing_is_left_behind(&engine, &table, rows.len());
        assert_eq!(total(&mut begin(&engine), &table, ScanIndex::Secondary(1)).1, ACCOUNTS as usize);
    }
}
