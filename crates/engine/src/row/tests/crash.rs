//! Random transactions on a disk that forgets what was not synced: after each crash every acknowledged commit
//! is there, nothing half is, the trees are sound and agree.

use super::stage::*;
use crate::api::*;
use crate::btree::verify;
use crate::buffer::{DATA_FILE, DOUBLE_WRITE_FILE, UNDO_DIRECTORY_PAGE, with_pages_blocking};
use crate::engine::Engine;
use crate::error::Error;
use crate::page::{HEADER_SIZE, PAGE_SIZE};
use std::collections::BTreeMap;
use std::sync::Arc;
use turnstile_sys::disk::Disk;
use turnstile_sys::fault_disk::{FaultDisk, FaultKind};
use turnstile_sys::rng::Rng;

/// Undo that has become a page of zeros would end there, and what a loser did stay: the engine does not open.
#[test]
fn lost_undo_is_refused() {
    let first_of_lane = |disk: &FaultDisk| {
        let mut at = [0; 4];
        let place = u64::from(UNDO_DIRECTORY_PAGE.0) * PAGE_SIZE as u64 + HEADER_SIZE as u64;
        disk.open(DATA_FILE, false).unwrap().read_at(&mut at, place).unwrap();
        u32::from_le_bytes(at)
    };
    for zeroed in [|_: &FaultDisk| UNDO_DIRECTORY_PAGE.0, first_of_lane] {
        let (disk, engine, table) = open(23);
        let mut loser = begin(&engine);
        insert(&mut loser, &table, 1, &row(1, 1, "of nobody"));
        engine.checkpoint().unwrap();
        let disk = disk.kill();
        drop((loser, engine));
        let place = u64::from(zeroed(&disk)) * PAGE_SIZE as u64;
        disk.open(DATA_FILE, false).unwrap().write_at(&[0; PAGE_SIZE], place).unwrap();
        disk.open(DOUBLE_WRITE_FILE, false).unwrap().write_at(&[0; 64], 0).unwrap();
        match Engine::open_quiet(Arc::new(disk), small_config()).err() {
            Some(Error::Corrupt { offset, .. }) => assert_eq!(offset, place),
            other => panic!("{other:?}"),
        }
    }
}

type State = BTreeMap<u32, Vec<u8>>;

fn config() -> Config {
    Config { buffer_pool_bytes: 1 << 20, redo_capacity_bytes: 1 << 20, ..Config::default() }
}

fn state_of(engine: &Arc<Engine>, table: &TableDef) -> State {
    contents(&mut begin(engine), table)
        .into_iter()
        .map(|(pk, row)| (u32::from_be_bytes(pk.try_into().unwrap()), row))
        .collect()
}

/// One random transaction on `state`; whether it wants to commit, and the state after it.
fn transaction(
    engine: &Arc<Engine>,
    table: &TableDef,
    rng: &mut Rng,
    state: &State,
) -> Result<(crate::txn::Txn, State), Error> {
    let mut txn = begin(engine);
    let mut after = state.clone();
    for _ in 0..rng.below(12) {
        let id = rng.below(60) as u32;
        let length = if rng.chance(0.05) { 6000 + rng.index(40_000) } else { rng.index(200) };
        let bytes = row(rng.below(9) as u32, 1000 + id, &"c".repeat(length));
        let savepoint = txn.savepoint();
        let before = after.clone();
        let exists = after.contains_key(&id);
        if !exists {
            block_on(txn.insert(table, &key(id), &bytes))?;
            after.insert(id, bytes);
        } else if rng.chance(0.4) {
            block_on(txn.delete(table, &key(id)))?;
            after.remove(&id);
        } else {
            block_on(update(&mut txn, table, id, &bytes))?;
            after.insert(id, bytes);
        }
        if rng.chance(0.1) {
            block_on(txn.rollback_to(savepoint))?;
            after = before;
        }
    }
    Ok((txn, after))
}

/// Runs transactions until `steps` are done or the disk fails. `history` is the last acknowledged state and
/// behind it, in order, what was committed since without an acknowledgement: any of them may survive.
fn run(engine: &Arc<Engine>, table: &TableDef, rng: &mut Rng, history: &mut Vec<State>, steps: u64) {
    for _ in 0..steps {
        let current = history.last().unwrap().clone();
        let Ok((mut txn, after)) = transaction(engine, table, rng, &current) else { return };
        match rng.below(10) {
            0 => {
                if block_on(txn.rollback()).is_err() {
                    return;
                }
            }
            1 => {
                // Running at the crash. It keeps its locks, and who would wait for them waits for ever: the
                // end of this life.
                std::mem::forget(txn);
                return;
            }
            _ => {
                let outcome = txn.commit();
                history.push(after);
                let Ok(lsn) = outcome else { return };
                if rng.chance(0.7)
                    && let Some(lsn) = lsn
                {
                    if block_on(engine.wait_durable(lsn)).is_err() {
                        return;
                    }
                    history.drain(..history.len() - 1);
                }
            }
        }
        let upkeep = match rng.below(12) {
            0 => engine.purge_all().map(drop),
            1 => engine.checkpoint().map(drop),
            _ => Ok(()),
        };
        if upkeep.is_err() {
            return;
        }
    }
}

fn soundness(engine: &Arc<Engine>, table: &TableDef) {
    let kernel = &begin(engine).kernel;
    for index in std::iter::once(table.clustered).chain(table.secondaries.iter().map(|def| def.id)) {
        let tree = with_pages_blocking(&kernel.storage, || kernel.tree(index)).unwrap();
        with_pages_blocking(&kernel.storage, || verify(&tree)).unwrap();
    }
}

fn one_life_after_another(seed: u64) {
    let mut rng = Rng::new(seed);
    let mut disk = FaultDisk::new(seed);
    let engine = Engine::open_quiet(Arc::new(disk.clone()), config()).unwrap();
    let table = new_table(&engine);
    let mut history = vec![State::new()];
    let mut engine = engine;
    for life in 0..4 {
        if rng.chance(0.5) {
            let kind = if rng.chance(0.5) { FaultKind::InputOutput } else { FaultKind::NoSpace };
            disk.fail_from(1 + rng.below(60), kind);
        }
        let steps = 5 + rng.below(40);
        run(&engine, &table, &mut rng, &mut history, steps);
        disk = disk.crash();
        drop(engine);
        engine = Engine::open_quiet(Arc::new(disk.clone()), config()).unwrap();
        soundness(&engine, &table);
        let found = state_of(&engine, &table);
        assert!(
            history.contains(&found),
            "seed {seed} life {life}: {} rows found, {} in the last acknowledged state, {} states",
            found.len(),
            history[0].len(),
            history.len()
        );
        engine.purge_all().unwrap();
        assert_eq!(state_of(&engine, &table), found, "seed {seed} life {life} after purge");
        super::history::nothing_is_left_behind(&engine, &table, found.len());
        history = vec![found];
    }
}

#[test]
fn a_skipped_sync_is_noticed() {
    let found = (0..40).any(|seed| {
        let disk = FaultDisk::new(seed);
        let engine = Engine::open_quiet(Arc::new(disk.clone()), config()).unwrap();
        let table = new_table(&engine);
        disk.skip_sync_of("redo");
        let mut txn = begin(&engine);
        insert(&mut txn, &table, 1, &row(1, 1, "acknowledged"));
        let lsn = txn.commit().unwrap().unwrap();
        block_on(engine.wait_durable(lsn)).unwrap();
        let disk = disk.crash();
        Engine::open_quiet(Arc::new(disk), config())
            .map_or(true, |engine| get(&mut begin(&engine), &table, 1).is_none())
    });
    assert!(found, "the disk is too kind");
}

#[test]
fn a_full_disk_fails_the_statement_and_the_engine_goes_on() {
    let (disk, engine, table) = open(90);
    let mut txn = begin(&engine);
    insert(&mut txn, &table, 1, &row(1, 1, "kept"));
    txn.commit().unwrap();
    disk.set_capacity(disk.used() + (1 << 20));
    let mut txn = begin(&engine);
    insert(&mut txn, &table, 2, &row(2, 2, "before"));
    let mut id = 10;
    let error = loop {
        let savepoint = txn.savepoint();
        match block_on(txn.insert(&table, &key(id), &row(id, id, &"x".repeat(100_000)))) {
            Ok(()) => id += 1,
            Err(error) => {
                block_on(txn.rollback_to(savepoint)).unwrap();
                break error;
            }
        }
    };
    assert_eq!(error, Error::DiskFull);
    assert!(id > 11);
    assert_eq!(contents(&mut begin(&engine), &table).len(), 1, "reads go on");
    set(&mut txn, &table, 1, &row(3, 3, "small changes go on"));
    let lsn = txn.commit().unwrap().unwrap();
    block_on(engine.wait_durable(lsn)).unwrap();
    disk.set_capacity(1 << 30);
    let mut txn = begin(&engine);
    insert(&mut txn, &table, 9000, &row(9, 9, &"y".repeat(100_000)));
    txn.commit().unwrap();
    assert_eq!(contents(&mut begin(&engine), &table).len(), 3 + id as usize - 10);
}

#[test]
fn a_failed_sync_ends_acknowledgements() {
    let (disk, engine, table) = open(91);
    disk.fail_from(1, FaultKind::InputOutput);
    let mut txn = begin(&engine);
    insert(&mut txn, &table, 1, &row(1, 1, ""));
    let lsn = txn.commit().unwrap().unwrap();
    assert!(matches!(block_on(engine.wait_durable(lsn)), Err(Error::Stopped(_))));
    let error = block_on(begin(&engine).insert(&table, &key(2), &row(2, 2, ""))).unwrap_err();
    assert!(matches!(error, Error::Stopped(_)), "{error}");
    assert!(block_on(begin(&engine).get(&table, &key(3), Read::Consistent)).is_ok(), "reads go on");
}

#[test]
fn acknowledged_commits_survive_and_nothing_else_does() {
    let seeds = std::env::var("CRASH_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(4);
    for seed in 0..seeds {
        one_life_after_another(seed);
    }
}
