//! Shapes: ascending insertion, long separators, empty leaves, records of the greatest size.

use super::harness::*;
use crate::btree::{CAPACITY, Direction, KEY_BYTES_MAX, Position, RECORD_BYTES_MAX, Tree, verify};
use crate::buffer::Mtr;
use crate::error::Error;
use crate::ids::{IndexId, PageNo};
use crate::page::{PageEdit, RECORD_HEADER, edit};
use std::ops::Bound;
use turnstile_sys::rng::Rng;

#[test]
fn ascending_insertion_fills_pages() {
    let storage = storage();
    let tree = new_tree(&storage, IndexId(1));
    for n in 0..20_000u64 {
        assert!(!put(&tree, &n.to_be_bytes(), &[7; 60]));
    }
    let report = verify(&tree).unwrap();
    let fill = report.leaf_bytes_used as f64 / (report.leaf_pages * CAPACITY) as f64;
    assert!(fill > 0.95, "{fill}");
    assert_eq!(report.records, 20_000);
}

#[test]
fn several_ascending_runs_fill_pages() {
    let storage = storage();
    let tree = new_tree(&storage, IndexId(1));
    for n in 0..3000u64 {
        for run in 0..5u64 {
            let mut key = run.to_be_bytes().to_vec();
            key.extend_from_slice(&n.to_be_bytes());
            assert!(!put(&tree, &key, &[7; 60]));
        }
    }
    let report = verify(&tree).unwrap();
    let fill = report.leaf_bytes_used as f64 / (report.leaf_pages * CAPACITY) as f64;
    assert!(fill > 0.85, "{fill}");
}

#[test]
fn random_insertion_fills_pages_as_a_btree_does() {
    let storage = storage();
    let tree = new_tree(&storage, IndexId(1));
    let mut rng = Rng::new(3);
    for _ in 0..20_000 {
        put(&tree, &rng.next_u64().to_be_bytes(), &[7; 60]);
    }
    let report = verify(&tree).unwrap();
    let fill = report.leaf_bytes_used as f64 / (report.leaf_pages * CAPACITY) as f64;
    assert!((0.6..0.8).contains(&fill), "{fill}");
}

#[test]
fn greatest_keys_and_records_fit() {
    let storage = storage();
    let tree = new_tree(&storage, IndexId(1));
    let mut order: Vec<u8> = (0..60).collect();
    Rng::new(5).shuffle(&mut order);
    for n in &order {
        let mut key = vec![b'k'; KEY_BYTES_MAX - 1];
        key.push(*n);
        put(&tree, &key, b"v");
        verify(&tree).unwrap();
    }
    for n in &order {
        put(&tree, &[*n], &vec![*n; RECORD_BYTES_MAX - RECORD_HEADER - 1]);
        verify(&tree).unwrap();
    }
    assert_eq!(content(&tree).len(), 120);
    for n in &order {
        assert!(remove(&tree, &[*n]));
        verify(&tree).unwrap();
    }
    assert_eq!(content(&tree).len(), 60);
}

#[test]
fn too_long_is_an_error() {
    assert_eq!(Tree::check_record(KEY_BYTES_MAX + 1, 0), Err(Error::KeyTooLong { len: KEY_BYTES_MAX + 1 }));
    assert!(matches!(Tree::check_record(1, RECORD_BYTES_MAX), Err(Error::RowTooLarge { .. })));
    assert_eq!(Tree::check_record(KEY_BYTES_MAX, 4), Ok(()));
}

/// Leaves that nobody shrank stay behind empty; scans pass over them and `shrink` frees them.
#[test]
fn scans_pass_over_empty_leaves() {
    let storage = storage();
    let tree = new_tree(&storage, IndexId(1));
    for n in 0..200u8 {
        put(&tree, &[n], &[n; 1000]);
    }
    for n in 20..180u8 {
        let leaf = tree.leaf_for_write(&[n]).unwrap();
        let Position::Found(slot) = leaf.position() else { panic!("{n} is there") };
        let mut mtr = Mtr::begin(&storage);
        leaf.enter(&mut mtr).remove(&mut mtr, slot);
        mtr.commit();
    }
    assert!(verify(&tree).unwrap().empty_leaves > 3);
    let next = tree.seek(Bound::Excluded(&[19]), Direction::Forward).unwrap().unwrap();
    assert_eq!(next.key(), [180]);
    drop(next);
    let held = tree.seek_holding(Bound::Excluded(&[19])).unwrap();
    assert_eq!(held.unwrap_or_else(|_| panic!("180 is there")).key(), [180]);
    let last = tree.seek(Bound::Excluded(&[180]), Direction::Reverse).unwrap().unwrap();
    assert_eq!(last.key(), [19]);
    drop(last);
    assert!(tree.seek_holding(Bound::Excluded(&[199])).unwrap().is_err());
    for n in 20..180u8 {
        tree.shrink(&[n]).unwrap();
    }
    let report = verify(&tree).unwrap();
    assert_eq!((report.empty_leaves, report.records), (0, 40));
}

#[test]
fn space_of_removed_records_is_reused() {
    let storage = storage();
    let tree = new_tree(&storage, IndexId(1));
    let mut highest = 0;
    for round in 0..50u64 {
        for n in 0..300u64 {
            put(&tree, &(n * 7 % 300).to_be_bytes(), &[round as u8; 500]);
        }
        if round == 1 {
            highest = pages_used(&storage);
        }
        assert!(round < 2 || pages_used(&storage) <= highest + 2, "round {round}");
        for n in 0..300u64 {
            assert!(remove(&tree, &n.to_be_bytes()));
        }
        assert_eq!(verify(&tree).unwrap().pages.len(), 1);
    }
}

/// The canary of all the other tests: each kind of damage is found.
#[test]
fn verify_finds_damage() {
    type Damage = fn(&mut dyn PageEdit);
    let leaf_damages: [(&str, Damage); 4] = [
        ("right link", |page| edit::set_next(page, PageNo(0))),
        ("left link", |page| edit::set_prev(page, PageNo(0))),
        ("below the separator", |page| edit::insert(page, 0, 0, &[0], b"").unwrap()),
        ("not below the next", |page| {
            let count = page.view().slot_count();
            edit::insert(page, count, 0, &[255; 9], b"").unwrap();
        }),
    ];
    let root_damages: [(&str, Damage); 4] = [
        ("two places", |page| {
            let child = page.view().value(1).to_vec();
            edit::replace_value(page, 2, &child).unwrap();
        }),
        ("level", |page| edit::set_level(page, 2)),
        ("belongs to index 9", |page| edit::set_index_id(page, IndexId(9))),
        ("first entry", |page| edit::remove(page, 0)),
    ];
    let damages = leaf_damages
        .map(|damage| (false, damage))
        .into_iter()
        .chain(root_damages.map(|damage| (true, damage)));
    for (at_root, (what, damage)) in damages {
        let storage = storage();
        let tree = new_tree(&storage, IndexId(1));
        for n in 0..2000u64 {
            put(&tree, &n.to_be_bytes(), &[7; 100]);
        }
        verify(&tree).unwrap();
        let (middle, _) = tree.find(&1000u64.to_be_bytes()).unwrap();
        let page = if at_root { tree.root() } else { middle.view().page_no() };
        drop(middle);
        let mut mtr = Mtr::begin(&storage);
        let handle = mtr.take(storage.pool.try_pin(page).unwrap().write());
        damage(&mut mtr.edit(handle));
        mtr.commit();
        let Err(Error::Corrupt { what: found, .. }) = verify(&tree) else { panic!("{what} was not found") };
        assert!(found.contains(what), "planted: {what}; found: {found}");
    }
}
