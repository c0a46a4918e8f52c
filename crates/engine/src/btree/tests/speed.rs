//! Measurements of the paths every statement takes. Run with tiny counts as a test, so that they never rot;
//! for numbers:
//! `cargo test --release -p turnstile-engine --lib btree::tests::speed -- --ignored --nocapture`.

use super::harness::*;
use crate::btree::{Direction, WalkState, verify};
use crate::buffer::Mtr;
use crate::ids::IndexId;
use std::hint::black_box;
use std::ops::{Bound, ControlFlow};
use std::time::Instant;
use turnstile_sys::rng::Rng;

fn measure(records: u64, rounds: u64) {
    let storage = storage_of(4096);
    let tree = new_tree(&storage, IndexId(1));
    let key_of = |n: u64| (n.wrapping_mul(0x9E37_79B9) % records).to_be_bytes();
    for n in 0..records {
        put(&tree, &n.to_be_bytes(), &[1; 100]);
    }
    let report = verify(&tree).unwrap();
    let each = |name: &str, rounds: u64, mut work: Box<dyn FnMut(u64) + '_>| {
        let start = Instant::now();
        (0..rounds).for_each(&mut work);
        println!("  {name}: {} ns", start.elapsed().as_nanos() as u64 / rounds.max(1));
    };
    println!("{records} records, {} levels, {} leaves", report.levels, report.leaf_pages);
    let mut rng = Rng::new(1);
    each(
        "find, random",
        rounds,
        Box::new(|_| {
            let (leaf, position) = tree.find(&rng.below(records).to_be_bytes()).unwrap();
            assert!(position.is_found());
            black_box(leaf.record(position.slot()).value[0]);
        }),
    );
    each(
        "find, hot",
        rounds,
        Box::new(|_| {
            let (leaf, position) = tree.find(&key_of(1)).unwrap();
            black_box(leaf.record(position.slot()).value[0]);
        }),
    );
    each(
        "update in place, random",
        rounds,
        Box::new(|n| {
            let leaf = tree.leaf_for_write(&key_of(n)).unwrap();
            let slot = leaf.position().slot();
            let mut value = [0; 100];
            value.copy_from_slice(leaf.record(slot).value);
            value[..8].copy_from_slice(&n.to_le_bytes());
            let mut mtr = Mtr::begin(&storage);
            let edit = leaf.enter(&mut mtr);
            edit.replace(&mut mtr, slot, &value);
            mtr.commit();
        }),
    );
    each(
        "seek forward",
        rounds,
        Box::new(|n| {
            let key = key_of(n);
            black_box(tree.seek(Bound::Included(&key), Direction::Forward).unwrap().is_some());
        }),
    );
    each(
        "seek reverse",
        rounds,
        Box::new(|n| {
            let key = key_of(n);
            black_box(tree.seek(Bound::Excluded(&key), Direction::Reverse).unwrap().is_some());
        }),
    );
    let start = Instant::now();
    let mut sum = 0u64;
    let end = tree.walk(&mut WalkState::default(), |record| {
        sum += u64::from(record.value[9]) + record.key.len() as u64;
        ControlFlow::Continue(())
    });
    assert!(end.unwrap());
    println!("  walk: {:.1} ns a record ({sum})", start.elapsed().as_nanos() as f64 / records as f64);
}

#[test]
fn the_measurement_runs() {
    measure(500, 20);
}

#[test]
#[ignore = "a measurement, not a check"]
fn lookups_and_scans() {
    for records in [100, 10_000, 300_000] {
        measure(records, 1_000_000);
    }
}
