//! What the tests share: a storage in memory, and row changes as the rooms above make them.

use crate::btree::adaptive_hash::AdaptiveHash;
use crate::btree::overflow::ChainWriter;
use crate::btree::{IndexDirectory, Tree, WalkState};
use crate::buffer::{Mtr, Storage, StorageConfig, with_pages_blocking};
use crate::error::Result;
use crate::ids::{IndexId, Lsn, PageNo};
use crate::page::{PAGE_SIZE, PageKind, edit};
use std::ops::ControlFlow;
use std::sync::Arc;
use turnstile_sys::fault_disk::FaultDisk;

/// How the tests open a storage: nothing happens behind their back.
pub fn config_of(frames: usize) -> StorageConfig {
    StorageConfig {
        pool_bytes: (frames * PAGE_SIZE) as u64,
        redo_capacity_bytes: if frames > 1000 { 64 << 20 } else { 4 << 20 },
        reader_threads: 0,
        ..StorageConfig::default()
    }
}

/// A new storage with that many page frames, on a disk in memory.
pub fn storage_of(frames: usize) -> Arc<Storage> {
    Storage::create(Arc::new(FaultDisk::new(1)), &config_of(frames)).unwrap()
}

/// The seeds of a random test: a few by default, as many as `TURNSTILE_SEEDS` says for a long run.
pub fn seeds(few: u64) -> std::ops::Range<u64> {
    0..std::env::var("TURNSTILE_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(few)
}

/// A new storage that keeps everything the tests put into it.
pub fn storage() -> Arc<Storage> {
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

/// Writes a chain, making room in the redo whenever the writer asks for it.
pub fn write_chain(storage: &Storage, writer: &mut ChainWriter<'_>) -> PageNo {
    loop {
        if let Some(first) = run(storage, || writer.write(storage)) {
            return first;
        }
    }
}

/// The adaptive hash index of the tests is that of a small pool, so that it is switched by the caller, not by
/// a thread.
const HINT_FRAMES: usize = 64;

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
    let hash = AdaptiveHash::new(HINT_FRAMES, 2);
    Tree::open(Arc::clone(storage), index, root, hash)
}

/// The directory of a storage.
pub fn directory_of(storage: &Arc<Storage>) -> IndexDirectory {
    IndexDirectory::open(Arc::clone(storage), AdaptiveHash::new(HINT_FRAMES, 2))
}

/// Inserts or replaces; answers whether the key was there.
pub fn put(tree: &Tree, key: &[u8], value: &[u8]) -> bool {
    put_logged(tree, key, value).0
}

/// As `put`, with the LSN of the change.
pub fn put_logged(tree: &Tree, key: &[u8], value: &[u8]) -> (bool, Lsn) {
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
        return (position.is_found(), mtr.commit());
    }
}

/// Removes; answers whether the key was there.
pub fn remove(tree: &Tree, key: &[u8]) -> bool {
    remove_logged(tree, key).is_some()
}

/// As `remove`, with the LSN of the change if there was one.
pub fn remove_logged(tree: &Tree, key: &[u8]) -> Option<Lsn> {
    let storage = tree.storage();
    let leaf = run(storage, || tree.leaf_for_write(key));
    let position = leaf.position();
    if !position.is_found() {
        return None;
    }
    let mut mtr = Mtr::begin(storage);
    let edit = leaf.enter(&mut mtr);
    edit.remove(&mut mtr, position.slot());
    let sparse = edit.wants_shrink(&mtr);
    let lsn = mtr.commit();
    if sparse {
        run(storage, || tree.shrink(key));
    }
    Some(lsn)
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
