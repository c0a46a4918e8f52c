//! What the tests share: a storage in memory, and row changes as the rooms above make them.

use crate::btree::{Tree, WalkState};
use crate::buffer::{Mtr, Storage, StorageConfig, with_pages_blocking};
use crate::error::Result;
use crate::ids::IndexId;
use crate::page::{PAGE_SIZE, PageKind, edit};
use std::ops::{ControlFlow, Deref};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use turnstile_sys::disk::RealDisk;

/// A storage in a directory of its own, which goes with it.
pub struct Scratch {
    storage: Arc<Storage>,
    directory: PathBuf,
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.directory));
    }
}

impl Deref for Scratch {
    type Target = Arc<Storage>;
    fn deref(&self) -> &Arc<Storage> {
        &self.storage
    }
}

/// A new storage with that many page frames.
pub fn storage_of(frames: usize) -> Scratch {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let directory = std::env::temp_dir().join(format!("turnstile-btree-{}-{number}", std::process::id()));
    drop(std::fs::remove_dir_all(&directory));
    let disk = Arc::new(RealDisk::open(&directory).unwrap());
    let config = StorageConfig {
        pool_bytes: (frames * PAGE_SIZE) as u64,
        redo_capacity_bytes: 1 << 30,
        reader_threads: 0,
    };
    Scratch { storage: Storage::create(disk, &config).unwrap(), directory }
}

/// A new storage that keeps everything the tests put into it.
pub fn storage() -> Scratch {
    storage_of(6000)
}

/// Pages of the file that are taken.
pub fn pages_used(storage: &Storage) -> usize {
    let (capacity, free) = storage.space.sizes();
    (capacity - free) as usize
}

/// Runs an operation as often as pages are missing.
pub fn run<T>(storage: &Storage, operation: impl FnMut() -> Result<T>) -> T {
    storage.reserve_blocking().unwrap();
    with_pages_blocking(storage, operation).unwrap()
}

/// A tree outside any directory.
pub fn new_tree(storage: &Arc<Storage>, index: IndexId) -> Tree {
    let root = run(storage, || {
        let mut mtr = Mtr::begin(storage);
        let handle = storage.space.alloc(&mut mtr, PageKind::TreeLeaf)?;
        let root = mtr.page_no(handle);
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
