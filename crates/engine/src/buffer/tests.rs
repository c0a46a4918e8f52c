//! Tests of the room as a whole: create, change, reopen, evict, recover.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use super::*;
use crate::error::{Error, Result};
use crate::ids::PageNo;
use crate::page::{HEADER_SIZE, PAGE_SIZE, PageKind, edit};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use turnstile_sys::disk::{Disk, RealDisk};
use turnstile_sys::fault_disk::FaultDisk;
use turnstile_sys::pausing_disk::{Paused, PausingDisk};
use turnstile_sys::rng::Rng;

mod crash;
mod lost;
mod restart;
mod speed;

/// A directory of its own, removed at the end.
struct Scratch(std::path::PathBuf);

impl Scratch {
    fn new(name: &str) -> (Self, Arc<dyn Disk>) {
        let dir = std::env::temp_dir().join(format!("turnstile-buffer-{name}-{}", std::process::id()));
        drop(std::fs::remove_dir_all(&dir));
        let disk = Arc::new(RealDisk::open(&dir).unwrap());
        (Scratch(dir), disk)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

fn small(reader_threads: usize) -> StorageConfig {
    StorageConfig {
        pool_bytes: 64 * PAGE_SIZE as u64,
        redo_capacity_bytes: 4 << 20,
        reader_threads,
        ..StorageConfig::default()
    }
}

/// Runs a future on this thread, which sleeps while it waits.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(std::thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Unpark(std::thread::current())).into();
    let mut context = std::task::Context::from_waker(&waker);
    let mut future = std::pin::pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            std::task::Poll::Ready(output) => return output,
            std::task::Poll::Pending => std::thread::park(),
        }
    }
}

/// Allocates pages that hold one counter each.
fn counter_pages(storage: &Storage, count: usize) -> Vec<PageNo> {
    (0..count)
        .map(|_| {
            storage.reserve_blocking().unwrap();
            let mut mtr = Mtr::begin(storage);
            let page = storage.space.alloc(&mut mtr, PageKind::Undo).unwrap();
            let page_no = mtr.page_no(page);
            mtr.commit();
            page_no
        })
        .collect()
}

fn add_one(storage: &Storage, page_no: PageNo) -> Result<u64> {
    let guard = storage.pool.try_pin(page_no)?.write();
    let mut mtr = Mtr::begin(storage);
    let page = mtr.take(guard);
    let value = mtr.page(page).u64_at(HEADER_SIZE) + 1;
    mtr.write(page, HEADER_SIZE, &value.to_le_bytes());
    mtr.write(page, HEADER_SIZE + 8, &[value as u8; 2000]);
    mtr.commit();
    Ok(value)
}

fn counter(storage: &Storage, page_no: PageNo) -> u64 {
    with_pages_blocking(storage, || Ok(storage.pool.try_pin(page_no)?.read().u64_at(HEADER_SIZE))).unwrap()
}

#[test]
fn pages_survive_a_clean_close_and_a_missing_one() {
    let (_scratch, disk) = Scratch::new("reopen");
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
    drop(storage);
    let (storage, recovered) = Storage::recover(disk, &small(2)).unwrap();
    assert_eq!(recovered.groups, 0);
    assert_eq!(storage.pool.try_pin(page_no).unwrap_err(), Miss(page_no));
    assert_eq!(storage.pool.load_blocking(page_no).unwrap().read().key(0), b"key");
    storage.close().unwrap();
}

/// Four threads add to random counters on four times as many pages as there are frames, some through async
/// waits, while the redo log goes round several times. Then every counter is right, and still right after a
/// reopen.
#[test]
fn four_times_the_pool_is_worked_through() {
    let (_scratch, disk) = Scratch::new("eviction");
    let mut config = small(2);
    config.redo_capacity_bytes = crate::limits::REDO_CAPACITY_MIN_BYTES;
    let storage = Storage::create(Arc::clone(&disk), &config).unwrap();
    let pages = counter_pages(&storage, 256);
    let expected: Vec<AtomicU64> = pages.iter().map(|_| AtomicU64::new(0)).collect();
    let most_dirty = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let (storage, pages, expected, most_dirty) = (&storage, &pages, &expected, &most_dirty);
            scope.spawn(move || {
                let mut rng = Rng::new(seed);
                for _ in 0..3000 {
                    let nth = rng.below(pages.len() as u64) as usize;
                    block_on(with_pages_to_write(storage, || add_one(storage, pages[nth]))).unwrap();
                    expected[nth].fetch_add(1, Ordering::Relaxed);
                    most_dirty.fetch_max(storage.pool.counters().dirty_frames, Ordering::Relaxed);
                }
            });
        }
    });
    let check = |storage: &Storage| {
        for (page_no, expected) in pages.iter().zip(&expected) {
            assert_eq!(counter(storage, *page_no), expected.load(Ordering::Relaxed), "page {page_no}");
        }
    };
    check(&storage);
    assert!(most_dirty.load(Ordering::Relaxed) > 0, "changed pages are counted");
    storage.checkpoint().unwrap();
    let walked = storage.pool.frames.iter().filter(|(_, frame)| frame.is_dirty()).count() as i64;
    assert_eq!((storage.pool.counters.dirty_balance(), walked), (0, 0), "and every one of them became clean");
    let counts = storage.pool.counters();
    assert!(storage.wal.current_lsn().0 > 2 * config.redo_capacity_bytes);
    assert!(counts.evictions > 1000 && counts.writes > 0, "{counts:?}");
    storage.close().unwrap();
    drop(storage);
    let (storage, recovered) = Storage::recover(disk, &config).unwrap();
    assert_eq!(recovered.groups, 0);
    check(&storage);
    storage.close().unwrap();
}

/// A scan over much more than the pool does not push out the pages in use.
#[test]
fn a_scan_leaves_the_working_set_in_memory() {
    let (_scratch, disk) = Scratch::new("scan");
    let storage = Storage::create(disk, &small(0)).unwrap();
    let pages = counter_pages(&storage, 400);
    let hot = &pages[..20];
    for _ in 0..4 {
        for page in hot {
            counter(&storage, *page);
        }
    }
    for page in &pages[20..] {
        counter(&storage, *page);
    }
    let kept = hot.iter().filter(|page| storage.pool.try_pin(**page).is_ok()).count();
    assert!(kept >= 19, "only {kept} of 20 hot pages survived the scan");
}

#[test]
fn pages_are_reused_after_being_freed_and_never_given_twice() {
    let (_scratch, disk) = Scratch::new("space");
    let storage = Storage::create(Arc::clone(&disk), &small(0)).unwrap();
    let mut rng = Rng::new(3);
    let mut used = std::collections::BTreeSet::new();
    for _ in 0..2000 {
        let mut mtr = Mtr::begin(&storage);
        if used.len() < 200 && rng.chance(0.6) || used.is_empty() {
            let page = storage.space.alloc(&mut mtr, PageKind::Undo).unwrap();
            assert!(used.insert(mtr.page_no(page)));
        } else {
            let nth = rng.below(used.len() as u64) as usize;
            let page_no = *used.iter().nth(nth).unwrap();
            used.remove(&page_no);
            storage.space.free(&mut mtr, page_no);
        }
        mtr.commit();
    }
    let (capacity, free) = storage.space.sizes();
    assert_eq!((capacity - free) as usize, used.len() + 4);
    assert!(capacity <= 64 + 64 * 4, "freed pages were not reused: {capacity}");
    storage.close().unwrap();
    drop(storage);
    let (storage, _) = Storage::recover(disk, &small(0)).unwrap();
    assert_eq!(storage.space.sizes(), (capacity, free));
    for page_no in &used {
        assert!(storage.space.is_allocated(&storage.pool, *page_no).unwrap());
    }
}

#[test]
fn a_damaged_page_is_refused_with_its_place_and_the_rest_works() {
    let (_scratch, disk) = Scratch::new("damage");
    let storage = Storage::create(Arc::clone(&disk), &small(0)).unwrap();
    let pages = counter_pages(&storage, 2);
    storage.close().unwrap();
    drop(storage);
    let file = disk.open(DATA_FILE, false).unwrap();
    let offset = u64::from(pages[0].0) * PAGE_SIZE as u64;
    file.write_at(b"x", offset + 5000).unwrap();
    // The last double-write batch would put it right.
    disk.open(DOUBLE_WRITE_FILE, false).unwrap().write_at(&[0; 64], 0).unwrap();
    let (storage, _) = Storage::recover(disk, &small(2)).unwrap();
    for _ in 0..2 {
        match block_on(storage.pool.load(pages[0])).unwrap_err() {
            Error::Corrupt { file, offset: at, .. } => assert_eq!((file.as_str(), at), (DATA_FILE, offset)),
            other => panic!("{other:?}"),
        }
    }
    add_one(&storage, block_on(storage.pool.load(pages[1])).unwrap().page_no()).unwrap();
    storage.close().unwrap();
}

/// Waiters of one page share one read; one that goes away early leaves no pin behind.
#[test]
fn loads_are_shared_and_abandoned_ones_leave_nothing() {
    let (_scratch, disk) = Scratch::new("shared");
    let storage = Storage::create(Arc::clone(&disk), &small(0)).unwrap();
    let page = counter_pages(&storage, 1)[0];
    storage.close().unwrap();
    drop(storage);
    let (storage, _) = Storage::recover(disk, &small(1)).unwrap();
    let before = storage.pool.counters().reads;
    std::thread::scope(|scope| {
        for nth in 0..8 {
            let storage = &storage;
            scope.spawn(move || {
                let mut load = std::pin::pin!(storage.pool.load(page));
                let waker = std::task::Waker::noop();
                if nth % 2 == 0 {
                    drop(load.as_mut().poll(&mut std::task::Context::from_waker(waker)));
                } else {
                    drop(block_on(load).unwrap());
                }
            });
        }
    });
    assert_eq!(storage.pool.counters().reads, before + 1);
    let pin = block_on(storage.pool.load(page)).unwrap();
    assert_eq!(pin.frame().pin_count(), 1);
    drop(pin);
    storage.pool.prefetch(UNDO_DIRECTORY_PAGE);
    storage.pool.prefetch(UNDO_DIRECTORY_PAGE);
    assert_eq!(block_on(storage.pool.load(UNDO_DIRECTORY_PAGE)).unwrap().frame().pin_count(), 1);
    assert_eq!(storage.pool.counters().reads, before + 2);
}

/// As many reads are on their way as sessions wait for, up to sixteen for each thread that is always there;
/// the threads end with the pool.
#[test]
fn many_pages_are_read_at_once() {
    let disk = PausingDisk::new(Arc::new(FaultDisk::new(7)));
    let storage = Storage::create(Arc::new(disk.clone()), &small(0)).unwrap();
    let pages = counter_pages(&storage, 50);
    storage.close().unwrap();
    drop(storage);
    let (storage, _) = Storage::recover(Arc::new(disk.clone()), &small(2)).unwrap();
    disk.pause(Paused::Reads, DATA_FILE);
    std::thread::scope(|scope| {
        for (nth, page) in pages.iter().enumerate() {
            let storage = &storage;
            scope.spawn(move || drop(block_on(storage.pool.load(*page)).unwrap()));
            // Some one by one, while all threads wait for the disk, the others at once.
            if nth < 16 {
                disk.wait_until_paused(nth + 1);
            }
        }
        disk.wait_until_paused(32);
        std::thread::sleep(std::time::Duration::from_millis(20));
        assert_eq!((disk.paused(), storage.pool.readers.running()), (32, 32));
        disk.resume();
    });
    storage.close().unwrap();
    assert_eq!(storage.pool.readers.running(), 0);
}

/// The file grows while nobody holds a latch for it: pages are given out meanwhile, until there are none.
#[test]
fn the_file_grows_ahead_of_need() {
    let disk = PausingDisk::new(Arc::new(FaultDisk::new(8)));
    let storage = Storage::create(Arc::new(disk.clone()), &small(1)).unwrap();
    let (capacity, free) = storage.space.sizes();
    disk.pause(Paused::Growth, DATA_FILE);
    // The thread that grows the file is asked when half a step is left, and waits for the disk now.
    counter_pages(&storage, free as usize - 31);
    disk.wait_until_paused(1);
    counter_pages(&storage, 31);
    assert_eq!(storage.space.sizes(), (capacity, 0));
    std::thread::scope(|scope| {
        // Whoever needs one more waits for the growth under way and begins no other.
        let storage = &storage;
        let more = scope.spawn(move || counter_pages(storage, 1));
        std::thread::sleep(std::time::Duration::from_millis(20));
        assert!(!more.is_finished());
        disk.resume();
        more.join().unwrap();
    });
    let (grown, left) = storage.space.sizes();
    assert!(grown > capacity && left > 0, "{grown} pages, {left} unused");
    storage.close().unwrap();
    drop(storage);
    let (storage, _) = Storage::recover(Arc::new(disk), &small(1)).unwrap();
    assert_eq!(storage.space.sizes().0 % 64, 0);
}

/// Batches of one page find a page that is not latched, however many are: or a pool of dirty pages, some of
/// them latched by whoever wants one more, would be taken for too small.
#[test]
fn a_small_batch_looks_past_latched_pages() {
    let config = StorageConfig { batch_pages: 1, ..small(0) };
    let storage = Storage::create(Arc::new(FaultDisk::new(9)), &config).unwrap();
    let pages = counter_pages(&storage, 3);
    let frame_of = |page: &PageNo| {
        let found = storage.pool.frames.iter().find(|(_, frame)| frame.page_no() == *page);
        found.map(|(index, _)| index).unwrap()
    };
    let candidates: Vec<u32> = pages.iter().map(frame_of).collect();
    let latched = pages[..2].iter().map(|page| storage.pool.try_pin(*page).unwrap().write());
    let latched: Vec<_> = latched.collect();
    assert_eq!(storage.pool.flush_frames(&candidates).unwrap(), 1);
    assert!(!storage.pool.frames.get(candidates[2]).is_dirty());
    drop(latched);
    assert_eq!(storage.pool.flush_frames(&candidates).unwrap(), 1, "one at a time");
}
