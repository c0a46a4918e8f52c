//! Random operations against a `BTreeMap`, on records so large that a leaf holds a handful.

use super::harness::*;
use crate::btree::{Direction, Successor, Tree, verify};
use crate::ids::IndexId;
use std::collections::BTreeMap;
use std::ops::Bound;
use turnstile_sys::rng::Rng;

/// How a seed draws keys and lengths.
struct Swarm {
    key_len_max: u64,
    value_len_max: u64,
    distinct: u64,
    insert: f64,
    ascending: bool,
}

impl Swarm {
    fn draw(rng: &mut Rng) -> Swarm {
        Swarm {
            key_len_max: [4, 40, 900, 2500][rng.below(4) as usize],
            value_len_max: [10, 300, 3000, 5000][rng.below(4) as usize],
            distinct: [20, 200, 3000][rng.below(3) as usize],
            insert: [0.35, 0.5, 0.7][rng.below(3) as usize],
            ascending: rng.chance(0.2),
        }
    }

    fn key(&self, rng: &mut Rng, step: u64) -> Vec<u8> {
        let n = if self.ascending { step % self.distinct } else { rng.below(self.distinct) };
        // The length depends on the number only, so that keys repeat; long keys share long prefixes.
        let len = n.wrapping_mul(0x9E37_79B9_7F4A_7C15) % self.key_len_max;
        let mut key = vec![b'a' + (n % 3) as u8; len as usize];
        key.extend_from_slice(&n.to_be_bytes()[5..]);
        key
    }
}

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

fn check_scan(tree: &Tree, model: &Model, bound: Bound<&[u8]>, direction: Direction) {
    let got = run(tree.storage(), || {
        Ok(tree
            .seek(bound, direction)?
            .map(|leaf| (leaf.key().to_vec(), leaf.record(leaf.slot()).value.to_vec())))
    });
    let expected = match direction {
        Direction::Forward => model.range::<[u8], _>((bound, Bound::Unbounded)).next(),
        Direction::Reverse => model.range::<[u8], _>((Bound::Unbounded, bound)).next_back(),
    };
    assert_eq!(got.as_ref().map(|(k, v)| (k, v)), expected);
}

fn check_successor(tree: &Tree, model: &Model, key: &[u8]) {
    let got = run(tree.storage(), || {
        let leaf = tree.leaf_for_write(key)?;
        let from = leaf.position().slot() + usize::from(leaf.position().is_found());
        Ok(match tree.successor_at(leaf.view(), from)? {
            Successor::Here(slot) => Some(leaf.record(slot).key.to_vec()),
            Successor::Right(right) => Some(right.key().to_vec()),
            Successor::Supremum => None,
        })
    });
    let expected = model.range::<[u8], _>((Bound::Excluded(key), Bound::Unbounded)).next();
    assert_eq!(got.as_ref(), expected.map(|(key, _)| key));
}

fn check_everything(tree: &Tree, model: &Model) {
    let report = verify(tree).unwrap();
    assert_eq!(report.records, model.len() as u64);
    assert!(content(tree).iter().map(|(k, v)| (k, v)).eq(model.iter()));
    // The whole way back, seek by seek.
    let mut bound = Bound::Unbounded;
    let mut last;
    for expected in model.iter().rev() {
        let found =
            run(tree.storage(), || Ok(tree.seek(bound, Direction::Reverse)?.map(|leaf| leaf.key().to_vec())));
        last = found.unwrap();
        assert_eq!(&last, expected.0);
        bound = Bound::Excluded(last.as_slice());
    }
    assert!(run(tree.storage(), || Ok(tree.seek(bound, Direction::Reverse)?.is_none())));
}

fn run_seed(seed: u64, steps: u64, hints: bool) {
    let mut rng = Rng::new(seed);
    // A third of the seeds with so few frames that pages come and go all the time.
    let storage = if seed % 3 == 1 { storage_of(64) } else { storage() };
    let before = pages_used(&storage);
    let tree = new_tree(&storage, IndexId(7));
    tree.adaptive_hash.set_enabled(hints);
    let swarm = Swarm::draw(&mut rng);
    let mut model = Model::new();
    for step in 0..steps {
        let key = swarm.key(&mut rng, step);
        if rng.chance(swarm.insert) {
            let value = value_for(&key, step, rng.below(swarm.value_len_max) as usize);
            assert_eq!(put(&tree, &key, &value), model.insert(key.clone(), value).is_some());
        } else {
            assert_eq!(remove(&tree, &key), model.remove(&key).is_some());
        }
        let probe = swarm.key(&mut rng, rng_step(step));
        assert_eq!(get(&tree, &probe), model.get(&probe).cloned());
        let bound = match step % 3 {
            0 => Bound::Included(probe.as_slice()),
            1 => Bound::Excluded(probe.as_slice()),
            _ => Bound::Unbounded,
        };
        check_scan(&tree, &model, bound, Direction::Forward);
        check_scan(&tree, &model, bound, Direction::Reverse);
        check_successor(&tree, &model, &probe);
        if step % 97 == 0 {
            verify(&tree).unwrap();
        }
        if step % 499 == 0 {
            check_everything(&tree, &model);
        }
    }
    check_everything(&tree, &model);
    let report = verify(&tree).unwrap();
    assert_eq!(pages_used(&storage) - before, report.pages.len(), "pages are neither lost nor shared");
    while let Some(key) = model.pop_last().map(|(key, _)| key) {
        assert!(remove(&tree, &key));
    }
    let report = verify(&tree).unwrap();
    assert_eq!((report.pages.len(), report.records), (1, 0), "an empty tree is its root");
}

fn rng_step(step: u64) -> u64 {
    step.wrapping_mul(31)
}

#[test]
fn agrees_with_a_btree_map() {
    for seed in seeds(8) {
        let outcome = std::panic::catch_unwind(|| run_seed(seed, 1500, false));
        assert!(outcome.is_ok(), "seed {seed}");
    }
}

#[test]
fn agrees_with_a_btree_map_by_hints() {
    for seed in seeds(8) {
        let outcome = std::panic::catch_unwind(|| run_seed(seed, 1500, true));
        assert!(outcome.is_ok(), "seed {seed}");
    }
}
