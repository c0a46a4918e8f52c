//! Threads on one tree: writers on their own and on common keys, readers both ways, verified while they run
//! and at the end.

use super::harness::*;
use crate::btree::adaptive_hash::AdaptiveHash;
use crate::btree::{Direction, Tree, verify};
use crate::buffer::{Storage, StorageConfig};
use crate::ids::IndexId;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use turnstile_sys::fault_disk::FaultDisk;
use turnstile_sys::rng::Rng;

const WRITERS: u64 = 4;

/// Keys of all writers interleave, so that they meet in the same leaves.
fn own_key(writer: u64, n: u64) -> [u8; 9] {
    let mut key = [0; 9];
    key[..8].copy_from_slice(&(n * WRITERS + writer).to_be_bytes());
    key
}

fn write_randomly(tree: &Tree, writer: u64, keys: u64, rounds: u64) -> Vec<Option<Vec<u8>>> {
    let seed = 100 + writer;
    let mut rng = Rng::new(seed);
    let mut mine = vec![None; keys as usize];
    for round in 0..rounds {
        let n = rng.below(keys);
        let key = own_key(writer, n);
        // Waves: the tree grows, then shrinks to little, and again.
        let insert = if round / 500 % 2 == 0 { 0.8 } else { 0.2 };
        let slot = &mut mine[n as usize];
        if rng.chance(insert) {
            let value = value_for(&key, round, rng.below(2500) as usize);
            assert_eq!(put(tree, &key, &value), slot.is_some(), "seed {seed}");
            *slot = Some(value);
        } else {
            assert_eq!(remove(tree, &key), slot.take().is_some(), "seed {seed}");
        }
        if rng.chance(0.2) {
            // Common keys: whoever comes last wins, nothing is asserted but that the tree survives.
            let common = [0xFF, rng.below(40) as u8];
            if rng.chance(0.5) {
                put(tree, &common, &vec![1; rng.below(3000) as usize]);
            } else {
                remove(tree, &common);
            }
        }
        assert_eq!(&get(tree, &key), &mine[n as usize], "seed {seed}");
    }
    mine
}

/// Scans in both directions while writers work: keys must ascend (descend) strictly, and the fixed key must
/// be met.
fn scan_until(tree: &Tree, stop: &AtomicBool, direction: Direction) {
    while !stop.load(Ordering::Relaxed) {
        let mut met_fixed = false;
        let mut last: Option<Vec<u8>> = None;
        loop {
            let bound = last.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
            let found = run(tree.storage(), || {
                let Some(leaf) = tree.seek(bound, direction)? else { return Ok(None) };
                // The rest of the leaf in one go, as scans do it.
                let slots: Vec<usize> = match direction {
                    Direction::Forward => (leaf.slot()..leaf.slot_count()).collect(),
                    Direction::Reverse => (0..=leaf.slot()).rev().collect(),
                };
                Ok(Some(slots.iter().map(|slot| leaf.record(*slot).key.to_vec()).collect::<Vec<_>>()))
            });
            let Some(keys) = found else { break };
            for key in keys {
                met_fixed |= key == FIXED;
                if let Some(last) = &last {
                    assert!(if direction == Direction::Forward { key > *last } else { key < *last });
                }
                last = Some(key);
            }
        }
        assert!(met_fixed, "a key that nobody touches is met by every scan");
    }
}

const FIXED: [u8; 8] = 300u64.to_be_bytes();

#[test]
fn writers_and_scanners() {
    stress(&storage(), 150, 2000);
}

/// With so few frames that every descent may miss, and the flusher and readers at work.
#[test]
fn writers_and_scanners_in_a_small_pool() {
    let config = StorageConfig { reader_threads: 2, ..config_of(64) };
    let storage = Storage::create(Arc::new(FaultDisk::new(1)), &config).unwrap();
    stress(&storage, 500, 1000);
    storage.close().unwrap();
}

/// The same with hints, switched on and off all the time.
#[test]
fn writers_and_scanners_by_hints() {
    let storage = storage();
    stress_with(&storage, 150, 2000, true);
}

#[test]
fn writers_and_scanners_by_hints_in_a_small_pool() {
    let config = StorageConfig { reader_threads: 2, ..config_of(64) };
    let storage = Storage::create(Arc::new(FaultDisk::new(1)), &config).unwrap();
    stress_with(&storage, 500, 1000, true);
    storage.close().unwrap();
}

/// Off for a moment after every thousand hits.
fn switch_until(hash: &Arc<AdaptiveHash>, stop: &AtomicBool) -> u64 {
    let mut rounds = 0;
    while !stop.load(Ordering::Relaxed) {
        hash.set_enabled(true);
        let from = hash.counts().hash_searches;
        while hash.counts().hash_searches < from + 1000 && !stop.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
        hash.set_enabled(false);
        rounds += 1;
    }
    rounds
}

fn stress(storage: &Arc<Storage>, keys: u64, rounds: u64) {
    stress_with(storage, keys, rounds, false);
}

fn stress_with(storage: &Arc<Storage>, keys: u64, rounds: u64, hints: bool) {
    let tree = Arc::new(new_tree(storage, IndexId(1)));
    put(&tree, &FIXED, b"here");
    let stop = AtomicBool::new(false);
    let written = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|w| {
                let tree = &tree;
                scope.spawn(move || write_randomly(tree, w, keys, rounds))
            })
            .collect();
        let scanners = [Direction::Forward, Direction::Reverse];
        for direction in scanners {
            let (tree, stop) = (&tree, &stop);
            scope.spawn(move || scan_until(tree, stop, direction));
        }
        let verifier = scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                verify(&tree).unwrap();
                std::thread::yield_now();
            }
        });
        let switcher = hints.then(|| scope.spawn(|| switch_until(&tree.adaptive_hash, &stop)));
        let written: Vec<_> = writers.into_iter().map(|writer| writer.join()).collect();
        stop.store(true, Ordering::Relaxed);
        verifier.join().unwrap();
        if let Some(switcher) = switcher {
            assert!(switcher.join().unwrap() > 2, "hints were used between switches");
            let counts = tree.adaptive_hash.counts();
            assert_eq!(counts.rows_added, counts.rows_removed, "off is empty: {counts:?}");
        }
        written.into_iter().map(|outcome| outcome.unwrap()).collect::<Vec<_>>()
    });
    verify(&tree).unwrap();
    let mut expected: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    for (writer, mine) in written.into_iter().enumerate() {
        for (n, value) in mine.into_iter().enumerate() {
            expected.extend(value.map(|value| (own_key(writer as u64, n as u64).to_vec(), value)));
        }
    }
    expected.push((FIXED.to_vec(), b"here".to_vec()));
    expected.sort();
    let found: Vec<_> = content(&tree).into_iter().filter(|(key, _)| key[0] != 0xFF).collect();
    assert!(found == expected);
    let counters = tree.counters();
    assert!(counters.splits.load(Ordering::Relaxed) > 50 && counters.merges.load(Ordering::Relaxed) > 10);
}
