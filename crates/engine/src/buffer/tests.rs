//! Tests of the room as a whole: create, change, reopen, evict, recover.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::page::{PageKind, edit};
use std::sync::Arc;
use turnstile_sys::disk::{Disk, RealDisk};

fn scratch(name: &str) -> Arc<dyn Disk> {
    let dir = std::env::temp_dir().join(format!("turnstile-buffer-{name}-{}", std::process::id()));
    drop(std::fs::remove_dir_all(&dir));
    Arc::new(RealDisk::open(&dir).unwrap())
}

fn small(reader_threads: usize) -> StorageConfig {
    StorageConfig { pool_bytes: 64 * 16384, redo_capacity_bytes: 16 << 20, reader_threads }
}

#[test]
fn pages_survive_a_clean_close_and_a_missing_one() {
    let disk = scratch("reopen");
    let storage = Storage::create(Arc::clone(&disk), &small(0)).unwrap();
    let mut mtr = Mtr::begin(&storage);
    let leaf = storage.space.alloc(&mut mtr, PageKind::TreeLeaf).unwrap();
    let page_no = mtr.page_no(leaf);
    assert_eq!(page_no.0, 4);
    edit::insert(&mut mtr.edit(leaf), 0, 0, b"key", b"value").unwrap();
    let end = mtr.commit();
    storage.wal.flush_to(end).unwrap();
    drop(storage);
    let (storage, recovered) = Storage::recover(Arc::clone(&disk), &small(0)).unwrap();
    assert_eq!(recovered.groups, 1);
    assert_eq!(storage.pool.try_pin(page_no).unwrap().read().value(0), b"value");
    storage.close().unwrap();
    let (storage, recovered) = Storage::recover(disk, &small(2)).unwrap();
    assert_eq!(recovered.groups, 0);
    assert_eq!(storage.pool.try_pin(page_no).unwrap_err(), Miss(page_no));
    assert_eq!(storage.pool.load_blocking(page_no).unwrap().read().key(0), b"key");
    storage.close().unwrap();
}
