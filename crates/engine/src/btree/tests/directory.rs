//! The index directory: creating, listing, dropping in steps, ids that never come back.

use super::harness::*;
use crate::btree::overflow::ChainWriter;
use crate::btree::{DropProgress, IndexState, Tree, WalkState, verify};
use crate::error::Error;
use crate::ids::{IndexId, PageNo};
use std::ops::ControlFlow;
use turnstile_sys::rng::Rng;

#[test]
fn create_list_drop() {
    let storage = storage();
    let directory = directory_of(&storage);
    let before = pages_used(&storage);
    let ids: Vec<IndexId> = (0..5).map(|_| run(&storage, || directory.create()).0).collect();
    assert_eq!(ids, (1..=5).map(IndexId).collect::<Vec<_>>());
    for id in &ids {
        let tree = run(&storage, || directory.get(*id));
        for n in 0..400u64 {
            put(&tree, &n.to_be_bytes(), &[1; 600]);
        }
        verify(&tree).unwrap();
    }
    let held = run(&storage, || directory.get(IndexId(5)));
    run(&storage, || directory.start_drop(IndexId(5)));
    assert_eq!(run(&storage, || directory.list())[4], (IndexId(5), IndexState::Dropping));
    assert!(matches!(directory.get(IndexId(5)), Err(Error::NoSuchIndex(_))));
    assert!(matches!(held.find(b"x"), Err(Error::NoSuchIndex(_))));
    while run(&storage, || directory.drop_step(IndexId(5), None)) == DropProgress::More {}
    assert_eq!(run(&storage, || directory.list()).len(), 4);
    // Reopened, it still knows that 5 was used.
    let directory = directory_of(&storage);
    assert_eq!(run(&storage, || directory.create()).0, IndexId(6));
    for id in [1, 2, 3, 4, 6].map(IndexId) {
        run(&storage, || directory.start_drop(id));
        while run(&storage, || directory.drop_step(id, None)) == DropProgress::More {}
    }
    assert_eq!(run(&storage, || directory.list()), []);
    assert_eq!(pages_used(&storage), before);
    assert!(matches!(directory.start_drop(IndexId(6)), Err(Error::NoSuchIndex(_))));
}

#[test]
fn a_drop_goes_on_after_a_restart_at_any_step() {
    let storage = storage();
    let before = pages_used(&storage);
    let mut directory = directory_of(&storage);
    let (id, _) = run(&storage, || directory.create());
    let tree = run(&storage, || directory.get(id));
    let mut rng = Rng::new(9);
    for n in 0..300u64 {
        // Long keys make three levels; every tenth value is a chain.
        let mut key = vec![b'k'; 1500];
        key.extend_from_slice(&(n * 77 % 300).to_be_bytes());
        let mut value = vec![0];
        if n % 10 == 0 {
            let long = vec![5; 40_000 + rng.below(400_000) as usize];
            let first = write_chain(&storage, &mut ChainWriter::new(id, &long));
            value = [&[1], first.0.to_le_bytes().as_slice()].concat();
        }
        put(&tree, &key, &value);
    }
    assert!(verify(&tree).unwrap().levels >= 3);
    drop(tree);
    run(&storage, || directory.start_drop(id));
    let chain_of =
        |value: &[u8]| (value[0] == 1).then(|| PageNo(u32::from_le_bytes(value[1..].try_into().unwrap())));
    let mut steps = 0;
    while run(&storage, || directory.drop_step(id, Some(&chain_of))) == DropProgress::More {
        directory = directory_of(&storage);
        steps += 1;
    }
    assert!(steps > 50);
    assert_eq!(pages_used(&storage), before, "every page of the tree and its chains is free");
}

#[test]
fn many_indexes() {
    let storage = storage();
    let directory = directory_of(&storage);
    for _ in 0..2500 {
        run(&storage, || directory.create());
    }
    let report = verify(directory.tree()).unwrap();
    assert!(report.levels == 2 && report.records == 2500);
    assert_eq!(run(&storage, || directory.list()).len(), 2500);
}

/// Sessions that are in the tree when it is dropped get "no such index" sooner or later, and never another
/// index's records.
#[test]
fn an_index_is_dropped_under_its_users() {
    let storage = storage();
    let directory = directory_of(&storage);
    let before = pages_used(&storage);
    for round in 0..8u8 {
        let (id, _) = run(&storage, || directory.create());
        let tree = run(&storage, || directory.get(id));
        for n in 0..200u64 {
            put(&tree, &n.to_be_bytes(), &[round; 600]);
        }
        std::thread::scope(|scope| {
            for user in 0..2u64 {
                let tree = &tree;
                scope.spawn(move || use_until_gone(tree, round, user));
            }
            run(&storage, || directory.start_drop(id));
            while run(&storage, || directory.drop_step(id, None)) == DropProgress::More {}
            // Another index takes the pages at once.
            let (next, _) = run(&storage, || directory.create());
            let other = run(&storage, || directory.get(next));
            for n in 0..200u64 {
                put(&other, &n.to_be_bytes(), &[99; 600]);
            }
            verify(&other).unwrap();
            run(&storage, || directory.start_drop(next));
            while run(&storage, || directory.drop_step(next, None)) == DropProgress::More {}
        });
    }
    assert_eq!(pages_used(&storage), before);
}

fn use_until_gone(tree: &Tree, round: u8, user: u64) {
    let mut rng = Rng::new(user);
    loop {
        let key = rng.below(200).to_be_bytes();
        let outcome = if user == 0 {
            let mut wrong = 0;
            tree.walk(&mut WalkState::default(), |record| {
                wrong += u32::from(record.value[0] != round);
                ControlFlow::Continue(())
            })
            .map(|_| assert_eq!(wrong, 0))
        } else {
            tree.leaf_for_write(&key).and_then(|leaf| {
                // While the left edge is taken away, a key may be missing, but what is there is ours.
                assert!(leaf.found().is_none_or(|record| record.value[0] == round));
                drop(leaf);
                tree.shrink(&key)
            })
        };
        match outcome {
            Ok(()) | Err(Error::Miss(_)) => {}
            Err(Error::NoSuchIndex(_)) => return,
            Err(error) => panic!("{error}"),
        }
    }
}
