//! Files that are gone, cut off or zeroed while nobody looked: refused with their place, and never written
//! over.

use super::*;

/// A closed database with some pages, and the first of them.
fn closed(name: &str) -> (Scratch, Arc<dyn Disk>, PageNo) {
    let (scratch, disk) = Scratch::new(name);
    let storage = Storage::create(Arc::clone(&disk), &small(0)).unwrap();
    let pages = counter_pages(&storage, 100);
    storage.close().unwrap();
    drop(storage);
    // The last double-write batch would put some of the damage right.
    disk.open(DOUBLE_WRITE_FILE, false).unwrap().write_at(&[0; 64], 0).unwrap();
    (scratch, disk, pages[0])
}

/// What opening says of the page it stumbles over: its place and what is wrong.
fn refusal(disk: &Arc<dyn Disk>) -> (u64, String) {
    match Storage::open(Arc::clone(disk), &small(0)).err() {
        Some(Error::Corrupt { file, offset, what }) if file == DATA_FILE => (offset, what),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_log_without_its_data_file_is_not_written_over() {
    let (_scratch, disk, page_no) = closed("no-data");
    disk.rename(DATA_FILE, "elsewhere").unwrap();
    assert!(refusal(&disk).1.contains("missing"));
    disk.rename("elsewhere", DATA_FILE).unwrap();
    let storage = Storage::open(disk, &small(0)).unwrap();
    storage.pool.load_blocking(page_no).unwrap();
}

#[test]
fn a_creation_that_was_interrupted_is_begun_again() {
    let (_scratch, disk, _) = closed("half-made");
    disk.rename(DATA_FILE, "data.ts.new").unwrap();
    let storage = Storage::open(Arc::clone(&disk), &small(0)).unwrap();
    counter_pages(&storage, 1);
    assert!(disk.exists(DATA_FILE).unwrap());
}

/// Its pages would all be given away a second time.
#[test]
fn a_bitmap_of_zeros_is_refused() {
    let (_scratch, disk, _) = closed("bitmap");
    disk.open(DATA_FILE, false).unwrap().write_at(&[0; PAGE_SIZE], PAGE_SIZE as u64).unwrap();
    let (offset, what) = refusal(&disk);
    assert_eq!(offset, PAGE_SIZE as u64, "{what}");
}

/// What lay behind the end would come back as empty pages.
#[test]
fn a_data_file_that_was_cut_off_is_refused() {
    let (_scratch, disk, _) = closed("cut-off");
    for pages in [90, 2, 1] {
        disk.open(DATA_FILE, false).unwrap().set_len(pages * PAGE_SIZE as u64).unwrap();
        let (offset, what) = refusal(&disk);
        assert!(offset <= pages * PAGE_SIZE as u64, "{what}");
    }
}

/// The same when the pages behind the end are in the log, and recovery writes them anew.
#[test]
fn a_file_cut_off_after_a_crash_is_refused() {
    let (_scratch, disk) = Scratch::new("cut-off-crash");
    let storage = Storage::create(Arc::clone(&disk), &small(0)).unwrap();
    counter_pages(&storage, 100);
    storage.wal.flush_to(storage.wal.current_lsn()).unwrap();
    drop(storage);
    disk.open(DATA_FILE, false).unwrap().set_len(50 * PAGE_SIZE as u64).unwrap();
    assert_eq!(refusal(&disk).0, 50 * PAGE_SIZE as u64);
}

#[test]
fn a_page_of_zeros_says_where_it_is() {
    let (_scratch, disk, page_no) = closed("zeros");
    let place = u64::from(page_no.0) * PAGE_SIZE as u64;
    disk.open(DATA_FILE, false).unwrap().write_at(&[0; PAGE_SIZE], place).unwrap();
    let storage = Storage::open(disk, &small(0)).unwrap();
    assert_eq!(storage.pool.load_blocking(page_no).unwrap().read().page_no(), page_no);
}
