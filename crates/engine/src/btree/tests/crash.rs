//! Power cuts at random points: what comes back is the state after some prefix of the completed row changes,
//! and the tree is whole.

use super::harness::*;
use crate::btree::{DropProgress, IndexDirectory, IndexState, Tree, verify};
use crate::buffer::Storage;
use crate::ids::{IndexId, Lsn};
use std::collections::BTreeMap;
use std::sync::Arc;
use turnstile_sys::fault_disk::FaultDisk;
use turnstile_sys::rng::Rng;

/// So few that pages are evicted, and therefore written, all the time.
const FRAMES: usize = 64;
/// Pages that belong to no tree: meta, bitmap, undo directory.
const FIXED_PAGES: usize = 3;

type Model = BTreeMap<Vec<u8>, Vec<u8>>;
/// A row change with the LSN that makes it durable: the new value, or `None` for a removal.
type Change = (Lsn, Vec<u8>, Option<Vec<u8>>);

fn apply(model: &mut Model, key: &[u8], value: Option<&Vec<u8>>) {
    match value {
        Some(value) => drop(model.insert(key.to_vec(), value.clone())),
        None => drop(model.remove(key)),
    }
}

/// Random row changes, log syncs and checkpoints.
fn work(rng: &mut Rng, storage: &Storage, tree: &Tree, insert: f64) -> Vec<Change> {
    let mut changes = Vec::new();
    for _ in 0..50 + rng.below(500) {
        let n = rng.below(600);
        let mut key = vec![b'k'; (n % 7 * 60) as usize];
        key.extend_from_slice(&n.to_be_bytes());
        if rng.chance(insert) {
            let value = value_for(&key, rng.next_u64(), rng.below(4000) as usize);
            changes.push((put_logged(tree, &key, &value).1, key, Some(value)));
        } else if let Some(lsn) = remove_logged(tree, &key) {
            changes.push((lsn, key, None));
        }
        if rng.chance(0.01) {
            storage.wal.flush_to(storage.wal.current_lsn()).unwrap();
        }
        if rng.chance(0.005) {
            storage.checkpoint().unwrap();
        }
    }
    changes
}

/// Cuts the power, opens what is left, and answers how far the log had come.
fn crash(storage: Arc<Storage>, disk: &mut FaultDisk) -> (Arc<Storage>, IndexDirectory, Lsn) {
    let durable = storage.wal.flushed_lsn();
    let survivors = disk.crash();
    drop(storage);
    *disk = survivors.clone();
    let (storage, recovered) = Storage::recover(Arc::new(survivors), &config_of(FRAMES)).unwrap();
    assert!(recovered.to >= durable, "what was synced is there");
    assert_eq!(recovered.damaged, []);
    let directory = directory_of(&storage);
    (storage, directory, recovered.to)
}

fn check_space(storage: &Storage, directory: &IndexDirectory, trees: &[&Tree]) {
    let mut pages = verify(directory.tree()).unwrap().pages;
    for tree in trees {
        pages.extend(verify(tree).unwrap().pages);
    }
    assert_eq!(pages_used(storage), pages.len() + FIXED_PAGES, "no page is lost");
}

fn run_seed(seed: u64) {
    let mut rng = Rng::new(seed);
    let mut disk = FaultDisk::new(seed);
    let mut storage = Storage::create(Arc::new(disk.clone()), &config_of(FRAMES)).unwrap();
    let mut directory = directory_of(&storage);
    let (index, lsn) = run(&storage, || directory.create());
    storage.wal.flush_to(lsn).unwrap();
    let mut model = Model::new();
    for _ in 0..3 {
        let tree = run(&storage, || directory.get(index));
        let insert = if rng.chance(0.7) { 0.7 } else { 0.25 };
        let changes = work(&mut rng, &storage, &tree, insert);
        drop(tree);
        let end;
        (storage, directory, end) = crash(storage, &mut disk);
        for (_, key, value) in changes.iter().filter(|(lsn, ..)| *lsn <= end) {
            apply(&mut model, key, value.as_ref());
        }
        let tree = run(&storage, || directory.get(index));
        assert!(content(&tree).iter().map(|(k, v)| (k, v)).eq(model.iter()));
        check_space(&storage, &directory, &[&tree]);
    }
    drop_with_crashes(&mut rng, storage, directory, &mut disk, index);
}

/// Drops the index, with power cuts between the steps.
fn drop_with_crashes(
    rng: &mut Rng,
    mut storage: Arc<Storage>,
    mut directory: IndexDirectory,
    disk: &mut FaultDisk,
    index: IndexId,
) {
    loop {
        let state = run(&storage, || directory.list());
        match state.as_slice() {
            [] => break,
            [(found, IndexState::Live)] => {
                assert_eq!(*found, index);
                run(&storage, || directory.start_drop(index));
            }
            [(found, IndexState::Dropping)] => assert_eq!(*found, index),
            more => panic!("{more:?}"),
        }
        for _ in 0..rng.below(60) {
            if run(&storage, || directory.drop_step(index, None)) == DropProgress::Done {
                break;
            }
        }
        if rng.chance(0.6) {
            storage.wal.flush_to(storage.wal.current_lsn()).unwrap();
        }
        (storage, directory, _) = crash(storage, disk);
    }
    check_space(&storage, &directory, &[]);
}

#[test]
fn a_power_cut_leaves_a_prefix() {
    for seed in seeds(5) {
        let outcome = std::panic::catch_unwind(|| run_seed(seed));
        assert!(outcome.is_ok(), "seed {seed}");
    }
}
