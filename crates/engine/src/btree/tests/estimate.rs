//! Ranges of keys: what is estimated of them, beside what is there.

use super::harness::*;
use crate::btree::records_between;
use crate::ids::IndexId;
use turnstile_sys::rng::Rng;

#[test]
fn ranges_within_a_leaf_are_exact_and_others_nearly_so() {
    let storage = storage();
    let tree = new_tree(&storage, IndexId(1));
    assert_eq!(records_between(&tree, None, None), Some(0));
    let rows = 60_000u64;
    let mut rng = Rng::new(11);
    let mut order: Vec<u64> = (0..rows).collect();
    rng.shuffle(&mut order);
    for n in &order {
        put(&tree, &n.to_be_bytes(), &[7; 40]);
    }
    let between = |low: u64, high: u64| {
        records_between(&tree, Some(&low.to_be_bytes()), Some(&high.to_be_bytes())).unwrap()
    };
    let within = (0..2000).filter(|n| between(*n, n + 3) == 3).count();
    assert!(within > 1900, "{within}");
    assert_eq!(between(700, 700), 0);
    for _ in 0..2000 {
        let low = rng.next_u64() % rows;
        let high = low + rng.next_u64() % (rows - low);
        let (seen, there) = (between(low, high) as f64, (high - low) as f64);
        // Two leaves at the ends, which are as full as leaves are; and a third to either side.
        assert!((seen - there).abs() <= 300.0 + there * 0.4, "{low}..{high}: {seen}");
    }
    let whole = records_between(&tree, None, None).unwrap() as f64;
    assert!((0.6..1.6).contains(&(whole / rows as f64)), "{whole}");
    let tail = records_between(&tree, Some(&(rows - 5000).to_be_bytes()), None).unwrap() as f64;
    assert!((0.5..1.8).contains(&(tail / 5000.0)), "{tail}");
    assert_eq!(records_between(&tree, Some(&rows.to_be_bytes()), None), Some(0));
}

/// Rows that come in order behind each value of a key's first part leave a page there that has just begun:
/// such a page is at both ends of the range of each value.
#[test]
fn pages_that_have_just_begun_are_not_taken_for_all() {
    let storage = storage();
    let tree = new_tree(&storage, IndexId(1));
    let (groups, each) = (10u64, 5000u64);
    let key = |group: u64, nth: u64| [group.to_be_bytes(), nth.to_be_bytes()].concat();
    for nth in 0..each {
        for group in 0..groups {
            put(&tree, &key(group, nth), &[7; 8]);
        }
    }
    for first in 0..groups {
        for last in first + 1..=groups {
            let seen = records_between(&tree, Some(&key(first, 0)), Some(&key(last, 0))).unwrap() as f64;
            let there = ((last - first) * each) as f64;
            assert!((0.7..1.4).contains(&(seen / there)), "{first}..{last}: {seen} of {there}");
        }
    }
}
