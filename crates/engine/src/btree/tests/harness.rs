//! What the tests share: a storage in memory, and row changes as the rooms above make them.

use crate::btree::{Tree, WalkState};
use crate::buffer::{Mtr, Storage};
use crate::error::{Error, Result};
use crate::ids::IndexId;
use crate::page::{PageKind, edit};
use std::ops::ControlFlow;
use std::sync::Arc;
use turnstile_sys::rng::Rng;

pub fn storage() -> Arc<Storage> {
    let s = Storage::for_tests(6000); if let Ok(n) = std::env::var("MISS") { s.pool.miss_in.store(n.parse().unwrap(), std::sync::atomic::Ordering::Relaxed); }
    Arc::new(s)
}

/// Pages of the file that are taken.
pub fn pages_used(storage: &Storage) -> usize {
    storage.space.used()
}

/// Runs an operation as often as pages are missing.
pub fn run<T>(storage: &Storage, mut operation: impl FnMut() -> Result<T>) -> T {
    loop {
        match operation() {
            Ok(value) => return value,
            Err(Error::Miss(page)) => drop(storage.pool.load_blocking(page).unwrap()),
            Err(error) => panic!("{error}"),
        }
    }
}

/// A tree outside any directory.
pub fn new_tree(storage: &Arc<Storage>, index: IndexId) -> Tree {
    let root = run(storage, || {
        let mut mtr = Mtr::begin(storage);
        let (root, handle) = storage.space.alloc(&mut mtr, PageKind::TreeLeaf)?;
        edit::set_index_id(&mut mtr.edit(handle), index);
        mtr.commit();
        Ok(root)
    });
    Tree::open(Arc::clone(storage), index, root)
}

/// Inserts or replaces; answers whether the key was there.
pub fn put(tree: &Tree, key: &[u8], value: &[u8]) -> bool {
    let storage = tree.storage();
    loop {
        let leaf = run(storage, || tree.leaf_for_write(key));
        let position = leaf.position();
        let fits = if position.is_found() {
            leaf.fits_replace(position.slot(), value.len())
        } else {
            leaf.fits_insert(key.len(), value.len())
        };
        if !fits {
            drop(leaf);
            run(storage, || tree.make_room(key, value.len()));
            continue;
        }
        let mut mtr = Mtr::begin(storage);
        let edit = leaf.enter(&mut mtr);
        if position.is_found() {
            edit.replace(&mut mtr, position.slot(), value);
        } else {
            edit.insert(&mut mtr, position.slot(), key, value, 0);
        }
        mtr.commit();
        return position.is_found();
    }
}

/// Removes; answers whether the key was there.
pub fn remove(tree: &Tree, key: &[u8]) -> bool {
    let storage = tree.storage();
    let leaf = run(storage, || tree.leaf_for_write(key));
    let position = leaf.position();
    if !position.is_found() {
        return false;
    }
    let mut mtr = Mtr::begin(storage);
    let edit = leaf.enter(&mut mtr);
    edit.remove(&mut mtr, position.slot());
    let sparse = edit.wants_shrink(&mtr);
    mtr.commit();
    if sparse {
        run(storage, || tree.shrink(key));
    }
    true
}

pub fn get(tree: &Tree, key: &[u8]) -> Option<Vec<u8>> {
    run(tree.storage(), || {
        let (leaf, position) = tree.find(key)?;
        Ok(position.is_found().then(|| leaf.record(position.slot()).value.to_vec()))
    })
}

/// Everything, ascending.
pub fn content(tree: &Tree) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut all = Vec::new();
    let mut state = WalkState::default();
    while !run(tree.storage(), || {
        tree.walk(&mut state, |record| {
            all.push((record.key.to_vec(), record.value.to_vec()));
            ControlFlow::Continue(())
        })
    }) {}
    all
}

/// A value that shows which key it belongs to.
pub fn value_for(key: &[u8], version: u64, len: usize) -> Vec<u8> {
    let mut value = version.to_le_bytes().to_vec();
    value.extend(key.iter().copied().cycle().take(if key.is_empty() { 0 } else { len }));
    value
}

pub fn shuffle<T>(rng: &mut Rng, items: &mut [T]) {
    for at in (1..items.len()).rev() {
        items.swap(at, rng.below(at as u64 + 1) as usize);
    }
}
