//! What one process leaves to the next, and what neither may take for granted: names and lengths that no sync
//! has made durable, a log that does not belong to the data, another process in the same directory, a sync
//! that says the disk is full.

use super::*;
use crate::ids::Lsn;
use turnstile_sys::disk::LOCK_FILE;
use turnstile_sys::fault_disk::{FaultDisk, FaultKind};

/// Adds one to a page, durably.
fn add_one_durably(storage: &Storage, page: PageNo) -> Result<()> {
    with_pages_blocking(storage, || add_one(storage, page))?;
    storage.wal.flush_to(storage.wal.current_lsn())
}

/// The process is killed anywhere in the creation; the next one works, and only then the power goes.
#[test]
fn what_was_committed_after_a_killed_creation_survives_a_power_cut() {
    for nth in 1..60 {
        for seed in 0..4 {
            let disk = FaultDisk::new(seed * 100 + nth);
            disk.fail_at(nth, FaultKind::Killed);
            drop(Storage::open(Arc::new(disk.clone()), &small(0)));
            let disk = disk.kill();
            let storage = Storage::open(Arc::new(disk.clone()), &small(0)).unwrap();
            let page = counter_pages(&storage, 1)[0];
            add_one_durably(&storage, page).unwrap();
            let disk = disk.crash();
            drop(storage);
            let storage = Storage::open(Arc::new(disk), &small(0)).unwrap();
            assert_eq!(counter(&storage, page), 1, "killed at operation {nth}, seed {seed}");
        }
    }
}

/// The process dies, or its sync fails, while the data file grows; the next one uses the new pages, and then
/// the power goes.
#[test]
fn pages_of_a_file_that_has_just_grown_survive() {
    for (nth, kind) in [
        (1, FaultKind::Killed),
        (2, FaultKind::Killed),
        (2, FaultKind::InputOutput),
        (2, FaultKind::NoSpaceAtSync),
    ] {
        for seed in 0..20 {
            let disk = FaultDisk::new(seed);
            let storage = Storage::create(Arc::new(disk.clone()), &small(0)).unwrap();
            let (_, free) = storage.space.sizes();
            counter_pages(&storage, free as usize);
            storage.checkpoint().unwrap();
            disk.fail_at(nth, kind);
            let mut mtr = Mtr::begin(&storage);
            let grown = storage.space.alloc(&mut mtr, PageKind::Undo);
            assert!(matches!(grown, Err(Error::Stopped(_))), "{kind:?}");
            drop(mtr);
            let disk = disk.kill();
            drop(storage);
            let storage = Storage::open(Arc::new(disk.clone()), &small(0)).unwrap();
            let page = counter_pages(&storage, 1)[0];
            add_one_durably(&storage, page).unwrap();
            let disk = disk.crash();
            drop(storage);
            let storage = Storage::open(Arc::new(disk), &small(0)).unwrap();
            assert_eq!(counter(&storage, page), 1, "{kind:?} in operation {nth}, seed {seed}");
        }
    }
}

/// Want of space at a sync is a failed sync: nothing is tried again, and nothing is acknowledged from then
/// on.
#[test]
fn a_sync_that_lacks_space_stops_everything() {
    let disk = FaultDisk::new(1);
    let storage = Storage::create(Arc::new(disk.clone()), &small(0)).unwrap();
    let pages = counter_pages(&storage, storage.space.sizes().1 as usize);
    storage.wal.flush_to(storage.wal.current_lsn()).unwrap();
    disk.fail_at(2, FaultKind::NoSpaceAtSync);
    let mut mtr = Mtr::begin(&storage);
    let syncs = disk.counts().syncs;
    let error = storage.space.alloc(&mut mtr, PageKind::Undo).unwrap_err();
    assert!(matches!(&error, Error::Stopped(why) if why.contains("growing the data file")), "{error}");
    assert_eq!(disk.counts().syncs, syncs + 1, "it was synced again");
    drop(mtr);
    assert!(matches!(add_one_durably(&storage, pages[0]), Err(Error::Stopped(_))));
}

/// The same of the thread that grows the file ahead of need, by a handle of its own.
#[test]
fn growing_ahead_that_fails_stops_everything() {
    for kind in [FaultKind::InputOutput, FaultKind::NoSpaceAtSync] {
        let disk = FaultDisk::new(1);
        let storage = Storage::create(Arc::new(disk.clone()), &small(0)).unwrap();
        // Behind half of them the thread is asked.
        let pages = counter_pages(&storage, storage.space.sizes().1 as usize - 10);
        storage.wal.flush_to(storage.wal.current_lsn()).unwrap();
        let own = disk.open(DATA_FILE, false).unwrap();
        disk.fail_at(2, kind);
        storage.space.run_grower(&storage.pool, &*own);
        assert!(matches!(add_one_durably(&storage, pages[0]), Err(Error::Stopped(_))), "{kind:?}");
    }
}

/// Every sync of a batch, and the log's: the first failure is the last sync there is.
#[test]
fn no_failed_sync_is_repeated() {
    for kind in [FaultKind::InputOutput, FaultKind::NoSpaceAtSync] {
        for nth in 1..12 {
            let disk = FaultDisk::new(nth);
            let storage = Storage::create(Arc::new(disk.clone()), &small(0)).unwrap();
            let page = counter_pages(&storage, 1)[0];
            disk.fail_at(nth, kind);
            if storage.checkpoint().is_ok() {
                continue;
            }
            let operations = disk.counts().operations;
            assert!(matches!(add_one_durably(&storage, page), Err(Error::Stopped(_))), "{kind:?} {nth}");
            assert!(matches!(storage.checkpoint(), Err(Error::Stopped(_))), "{kind:?} {nth}");
            assert!(storage.close().is_err());
            assert_eq!(disk.counts().operations, operations, "{kind:?} {nth}: the disk was used again");
        }
    }
}

#[test]
fn a_second_opener_is_turned_away_without_the_lock_file() {
    let (scratch, disk) = Scratch::new("claim");
    let storage = Storage::open(disk, &small(0)).unwrap();
    std::fs::remove_file(scratch.0.join(LOCK_FILE)).unwrap();
    let second: Arc<dyn Disk> = Arc::new(RealDisk::open(&scratch.0).unwrap());
    let error = Storage::open(Arc::clone(&second), &small(0)).err().unwrap().to_string();
    assert!(error.contains("data.ts is in use by another process"), "{error}");
    storage.close().unwrap();
    drop(storage);
    Storage::open(second, &small(0)).unwrap();
}

/// Two take the same empty directory.
#[test]
fn a_second_creator_is_turned_away_without_the_lock_file() {
    let (scratch, disk) = Scratch::new("creators");
    let being_made = disk.open("data.ts.new", true).unwrap();
    being_made.claim().unwrap();
    std::fs::remove_file(scratch.0.join(LOCK_FILE)).unwrap();
    let second: Arc<dyn Disk> = Arc::new(RealDisk::open(&scratch.0).unwrap());
    let error = Storage::open(second, &small(0)).err().unwrap().to_string();
    assert!(error.contains("data.ts.new is in use by another process"), "{error}");
}

/// The names and bytes of a disk's files.
fn copy_of(from: &FaultDisk, part: &str) -> Vec<(String, Vec<u8>)> {
    let copy = |name: String| {
        let file = from.open(&name, false).unwrap();
        let mut bytes = vec![0; file.len().unwrap() as usize];
        file.read_at(&mut bytes, 0).unwrap();
        (name, bytes)
    };
    from.list().unwrap().into_iter().filter(|name| name.starts_with(part)).map(copy).collect()
}

fn put_back(disk: &FaultDisk, files: &[(String, Vec<u8>)]) {
    for (name, bytes) in files {
        disk.open(name, true).unwrap().write_at(bytes, 0).unwrap();
    }
}

/// The log files of an earlier day beside today's data: opening refuses, whether or not redo names the pages.
#[test]
fn a_log_that_is_older_than_the_data_is_refused_at_opening() {
    for with_copies in [true, false] {
        let disk = FaultDisk::new(1);
        let storage = Storage::create(Arc::new(disk.clone()), &small(0)).unwrap();
        let page = counter_pages(&storage, 1)[0];
        storage.checkpoint().unwrap();
        add_one_durably(&storage, page).unwrap();
        let (log, copies) = (copy_of(&disk, "redo"), copy_of(&disk, DOUBLE_WRITE_FILE));
        for _ in 0..10 {
            add_one_durably(&storage, page).unwrap();
        }
        storage.close().unwrap();
        drop(storage);
        put_back(&disk, &log);
        if !with_copies {
            put_back(&disk, &copies);
        }
        let error = Storage::open(Arc::new(disk), &small(0)).err().unwrap();
        assert!(matches!(error, Error::BeyondLog { lsn, end } if lsn > end), "{error}");
    }
}

/// A page that is newer than the log and that neither redo nor the last batch names is refused when it is
/// read; others are not.
#[test]
fn a_page_that_is_newer_than_the_log_is_refused_when_it_is_read() {
    let disk = FaultDisk::new(1);
    let storage = Storage::create(Arc::new(disk.clone()), &small(0)).unwrap();
    let pages = counter_pages(&storage, 2);
    storage.close().unwrap();
    drop(storage);
    let file = disk.open(DATA_FILE, false).unwrap();
    let mut bytes = Box::new([0; PAGE_SIZE]);
    let offset = pages[0].0 as u64 * PAGE_SIZE as u64;
    file.read_at(&mut bytes[..], offset).unwrap();
    edit::set_lsn(&mut bytes, Lsn(1 << 40));
    crate::page::checksum::seal(&mut bytes);
    file.write_at(&bytes[..], offset).unwrap();
    // The last batch holds the page, too; it is one that never was.
    disk.open(DOUBLE_WRITE_FILE, false).unwrap().write_at(&[0; 64], 0).unwrap();
    let storage = Storage::open(Arc::new(disk), &small(0)).unwrap();
    let error = storage.pool.load_blocking(pages[0]).err().unwrap();
    assert!(error.to_string().contains("the redo log ends at"), "{error}");
    assert_eq!(counter(&storage, pages[1]), 0);
}
