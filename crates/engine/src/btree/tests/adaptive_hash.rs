//! Hints: the cells as such, searches by hints against a `BTreeMap` while the tree changes under them,
//! planted mistakes that this must find, and an index that is dropped under its hints.

use super::harness::*;
use crate::btree::adaptive_hash::{AdaptiveHash, Cells, Hint, Learned, Mistake, hash_of};
use crate::btree::{Direction, DropProgress, Tree, WalkState};
use crate::error::Error;
use crate::ids::IndexId;
use std::collections::BTreeMap;
use std::ops::{Bound, ControlFlow};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use turnstile_sys::rng::Rng;

fn hint_of(cells: &Cells, hash: u64) -> Option<Hint> {
    cells.find(hash).map(|found| found.hint())
}

#[test]
fn a_cell_keeps_the_largest_hint() {
    let cells = Cells::new(64, 1);
    let hash = u64::MAX;
    let largest = Hint { frame: (1 << 26) - 1, slot: (1 << 12) - 1 };
    assert_eq!(cells.learn(hash, largest).0, Learned::Added);
    assert_eq!(hint_of(&cells, hash), Some(largest));
    assert_eq!(cells.learn(hash, largest).0, Learned::Known);
    let nothing = Hint { frame: 0, slot: 0 };
    assert_eq!(cells.learn(0, nothing).0, Learned::Added);
    assert_eq!(hint_of(&cells, 0), Some(nothing));
    assert_eq!(
        cells.learn(1 << 40, Hint { frame: 1 << 26, slot: 0 }).0,
        Learned::Skipped,
        "too far for a cell"
    );
    assert_eq!(cells.clear(0), 2);
    assert_eq!(hint_of(&cells, hash), None);
}

/// A line of eight: the newcomer takes the place of a hint that was not used.
#[test]
fn unused_hints_go_first() {
    let cells = Cells::new(64, 1);
    let hash_no = |n: u64| n << 40 | (n % 8) << 32;
    for n in 0..8 {
        assert_eq!(cells.learn(hash_no(n), Hint { frame: n as u32, slot: 0 }).0, Learned::Added);
    }
    for n in (0..8).filter(|n| *n != 5) {
        cells.find(hash_no(n)).unwrap().note_use();
    }
    assert_eq!(cells.learn(hash_no(9), Hint { frame: 9, slot: 9 }).0, Learned::Replaced);
    assert_eq!(hint_of(&cells, hash_no(5)), None);
    for n in [0, 1, 2, 3, 4, 6, 7, 9] {
        assert!(hint_of(&cells, hash_no(n)).is_some(), "{n}");
    }
    // All used: somebody has to go all the same.
    (0..10).filter_map(|n| cells.find(hash_no(n))).for_each(|found| found.note_use());
    assert_eq!(cells.learn(hash_no(10), Hint { frame: 10, slot: 10 }).0, Learned::Replaced);
}

#[test]
fn hashes_of_near_keys_are_far_apart() {
    let mut tags = std::collections::HashSet::new();
    let mut lines = vec![0u32; 1024];
    for n in 0..100_000u64 {
        for key in [&n.to_be_bytes()[..], &n.to_be_bytes()[4..], &[&[0; 9][..], &n.to_be_bytes()].concat()] {
            let hash = hash_of(IndexId(3), key);
            tags.insert(hash);
            lines[(((hash & 0xFFFF_FFFF) * 1024) >> 32) as usize] += 1;
        }
    }
    assert_eq!(tags.len(), 300_000);
    assert!(lines.iter().all(|&count| (200..400).contains(&count)), "300,000 into 1,024 lines");
    assert_ne!(hash_of(IndexId(1), b"k"), hash_of(IndexId(2), b"k"));
    assert_ne!(hash_of(IndexId(1), b"k"), hash_of(IndexId(1), b"k\0"));
}

/// Two trees with the same keys and different values, in a pool that holds a part of them, and what they
/// should say.
struct World {
    trees: [Tree; 2],
    models: [BTreeMap<Vec<u8>, Vec<u8>>; 2],
    hash: Arc<AdaptiveHash>,
    rng: Rng,
    distinct: u64,
}

impl World {
    fn new(seed: u64) -> World {
        let storage = storage_of(64);
        let hash = AdaptiveHash::new(64, 3);
        let trees = [1, 2].map(|id| {
            let root = new_tree(&storage, IndexId(id)).root();
            Tree::open(storage.clone(), IndexId(id), root, hash.clone())
        });
        hash.set_enabled(true);
        World { trees, models: Default::default(), hash, rng: Rng::new(seed), distinct: 400 }
    }

    fn key(&mut self) -> Vec<u8> {
        self.rng.below(self.distinct).to_be_bytes()[5..].to_vec()
    }

    /// Waves of insertions and removals: leaves fill, split, empty, merge, and their pages go over to the
    /// other tree.
    fn write(&mut self, step: u64) {
        let key = self.key();
        for at in 0..2 {
            let insert = if (step / 300 + at as u64).is_multiple_of(2) { 0.8 } else { 0.2 };
            if self.rng.chance(insert) {
                let value = value_for(&key, step * 2 + at as u64, self.rng.below(4000) as usize);
                put(&self.trees[at], &key, &value);
                self.models[at].insert(key.clone(), value);
            } else {
                remove(&self.trees[at], &key);
                self.models[at].remove(&key);
            }
        }
    }

    /// Looks up a key and what follows it, in both trees; answers how often they disagree with the models.
    fn read(&mut self) -> u64 {
        let key = self.key();
        let mut wrong = 0;
        for (tree, model) in self.trees.iter().zip(&self.models) {
            wrong += u64::from(get(tree, &key) != model.get(&key).cloned());
            for bound in [Bound::Included(key.as_slice()), Bound::Excluded(key.as_slice())] {
                let found = run(tree.storage(), || {
                    Ok(tree.seek(bound, Direction::Forward)?.map(|leaf| leaf.key().to_vec()))
                });
                let expected = model.range::<[u8], _>((bound, Bound::Unbounded)).next();
                wrong += u64::from(found.as_ref() != expected.map(|(key, _)| key));
            }
        }
        wrong
    }
}

/// Disagreements of a run in which this mistake is made. Only reads are led astray by it, so that the trees
/// stay trees.
fn disagreements(seed: u64, mistake: Mistake) -> u64 {
    let mut world = World::new(seed);
    let mut wrong = 0;
    for step in 0..2500 {
        let keeps = mistake == Mistake::KeepFreedLeaf;
        world.hash.make_mistake(if keeps { mistake } else { Mistake::None });
        world.write(step);
        world.hash.make_mistake(mistake);
        wrong += (0..6).map(|_| world.read()).sum::<u64>();
        if wrong > 0 {
            break;
        }
    }
    if mistake == Mistake::None {
        let counts = world.hash.counts();
        assert!(
            counts.hash_searches > 5000 && counts.stale_hints > 500,
            "hints were put to the test: {counts:?}"
        );
    }
    wrong
}

#[test]
fn searches_by_hints_agree_with_a_btree_map() {
    for seed in seeds(3) {
        assert_eq!(disagreements(seed, Mistake::None), 0, "seed {seed}");
    }
}

#[test]
fn a_slot_believed_without_its_key_is_found_out() {
    assert!((0..3).any(|seed| disagreements(seed, Mistake::BelieveSlot) > 0));
}

#[test]
fn a_page_believed_without_its_header_is_found_out() {
    // The walk on from a leaf of the other tree may also be refused as damage.
    let found_out = |seed| {
        std::panic::catch_unwind(|| disagreements(seed, Mistake::BelievePage)).map_or(true, |wrong| wrong > 0)
    };
    assert!((0..3).any(found_out));
}

#[test]
fn a_freed_leaf_that_looks_like_one_is_found_out() {
    assert!((0..3).any(|seed| disagreements(seed, Mistake::KeepFreedLeaf) > 0));
}

/// A tree of one page is left alone; a larger one gets hints after a while, and its answers are counted.
#[test]
fn hints_are_made_for_trees_that_are_searched() {
    let storage = storage();
    let tree = new_tree(&storage, IndexId(1));
    let hash = tree.adaptive_hash.clone();
    hash.set_enabled(true);
    put(&tree, b"a", b"1");
    (0..1000).for_each(|_| assert!(get(&tree, b"a").is_some()));
    let small = hash.counts();
    assert_eq!((small.hash_searches, small.non_hash_searches, small.rows_added), (0, 0, 0));

    hash.set_enabled(false);
    (0..3000u64).for_each(|n| assert!(!put(&tree, &n.to_be_bytes(), &[7; 100])));
    assert_eq!(hash.counts().rows_added, 0, "off");
    hash.set_enabled(true);
    (0..200).for_each(|_| assert!(get(&tree, &5u64.to_be_bytes()).is_some()));
    let counts = hash.counts();
    assert_eq!((counts.rows_added, counts.rows_removed), (1, 0), "{counts:?}");
    // After 64 searches from the root the tree is worth hints; the next one leaves the first.
    assert_eq!((counts.hash_searches, counts.non_hash_searches), (135, 65), "{counts:?}");
    assert_eq!(counts.parts.iter().map(|part| part.entries).sum::<u64>(), 1);
    assert_eq!(counts.memory_bytes, counts.parts.iter().map(|part| part.cells * 8).sum::<u64>());

    // Records that come before it move its slot, not its leaf.
    put(&tree, &[0, 0, 0, 0, 0, 0, 0, 0, 1], b"in between");
    assert!(get(&tree, &5u64.to_be_bytes()).is_some());
    assert_eq!(hash.counts().rows_updated, 1);
    hash.set_enabled(false);
    let counts = hash.counts();
    assert_eq!(
        (counts.enabled, counts.rows_added, counts.rows_removed),
        (false, 2, 2),
        "the insertion left one, too"
    );
}

/// An update by a hint changes the row that a descent finds.
#[test]
fn writers_use_hints_too() {
    let storage = storage();
    let tree = new_tree(&storage, IndexId(1));
    (0..3000u64).for_each(|n| assert!(!put(&tree, &n.to_be_bytes(), &[7; 100])));
    tree.adaptive_hash.set_enabled(true);
    for round in 0..300u64 {
        assert!(put(&tree, &7u64.to_be_bytes(), &round.to_be_bytes()));
    }
    assert!(tree.adaptive_hash.counts().hash_searches > 200);
    tree.adaptive_hash.set_enabled(false);
    assert_eq!(get(&tree, &7u64.to_be_bytes()), Some(299u64.to_be_bytes().to_vec()));
}

/// Large ones are made and emptied by a thread of their own; nobody has to wait for that.
#[test]
fn a_large_one_is_switched_behind_the_back() {
    let storage = storage();
    let root = new_tree(&storage, IndexId(1)).root();
    let hash = AdaptiveHash::new(100_000, 8);
    let tree = Tree::open(storage, IndexId(1), root, hash.clone());
    (0..3000u64).for_each(|n| assert!(!put(&tree, &n.to_be_bytes(), &[7; 100])));
    for _ in 0..3 {
        hash.set_enabled(true);
        while hash.counts().parts.iter().all(|part| part.entries == 0) {
            (0..100u64).for_each(|n| assert!(get(&tree, &n.to_be_bytes()).is_some()));
        }
        hash.set_enabled(false);
        let before = hash.counts().hash_searches;
        while hash.counts().parts.iter().any(|part| part.entries > 0) {
            (0..100u64).for_each(|n| assert!(get(&tree, &n.to_be_bytes()).is_some()));
        }
        assert_eq!(hash.counts().hash_searches, before, "off is off at once");
    }
}

/// A hint whose page is latched by a writer is not waited for.
#[test]
fn a_busy_page_is_not_waited_for() {
    let storage = storage();
    let tree = new_tree(&storage, IndexId(1));
    (0..3000u64).for_each(|n| assert!(!put(&tree, &n.to_be_bytes(), &[7; 100])));
    tree.adaptive_hash.set_enabled(true);
    let key = 7u64.to_be_bytes();
    (0..100).for_each(|_| assert!(get(&tree, &key).is_some()));
    let leaf = tree.leaf_for_write(&key).unwrap();
    let frame = leaf.frame_index();
    let latch = |pin: crate::buffer::Pin<'_>| pin.try_read().is_ok();
    assert!(!latch(storage.pool.try_pin_frame(frame).unwrap()));
    let waits = std::thread::scope(|scope| {
        let reader = scope.spawn(|| get(&tree, &key));
        while tree.adaptive_hash.counts().busy_pages == 0 {
            std::thread::yield_now();
        }
        drop(leaf);
        reader.join().unwrap()
    });
    assert!(waits.is_some());
}

/// Readers follow hints while the index is dropped and its pages go to a new one with the same keys. They
/// find the old row or are told that the index is gone.
#[test]
fn an_index_dropped_under_its_hints() {
    let storage = storage_of(200);
    let directory = directory_of(&storage);
    let hash = directory.adaptive_hash().clone();
    hash.set_enabled(true);
    let mut before = None;
    for round in 0..6u8 {
        let (index, _) = run(&storage, || directory.create());
        let tree = run(&storage, || directory.get(index));
        let keys = 0..1500u64;
        keys.clone().for_each(|n| assert!(!put(&tree, &n.to_be_bytes(), &[round; 200])));
        keys.clone().for_each(|n| assert_eq!(get(&tree, &n.to_be_bytes()), Some(vec![round; 200])));
        let begun = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut rng = Rng::new(u64::from(round));
                loop {
                    let key = rng.below(1500).to_be_bytes();
                    let found = crate::buffer::with_pages_blocking(&storage, || {
                        let (leaf, position) = tree.find(&key)?;
                        assert!(position.is_found());
                        Ok(leaf.record(position.slot()).value[0])
                    });
                    begun.store(true, Ordering::Relaxed);
                    match found {
                        Ok(value) => assert_eq!(value, round),
                        Err(Error::NoSuchIndex(_)) => return,
                        Err(error) => panic!("{error}"),
                    }
                }
            });
            while !begun.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            run(&storage, || directory.start_drop(index));
            while run(&storage, || directory.drop_step(index, None)) == DropProgress::More {}
            reader.join().unwrap();
        });
        let after: Arc<Tree> = before.replace(tree.clone()).unwrap_or(tree);
        let mut state = WalkState::default();
        let gone = after.walk(&mut state, |_| ControlFlow::Continue(()));
        assert!(matches!(gone, Err(Error::NoSuchIndex(_) | Error::Miss(_))));
    }
    assert!(hash.counts().hash_searches > 1000);
}
