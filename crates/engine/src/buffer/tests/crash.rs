//! Power cuts at random moments, against a model that knows every byte.
//!
//! A run makes random mini-transactions over more pages than there are frames, flushes and checkpoints at
//! random, and cuts the power. What comes back must be exactly the mini-transactions whose group ends at or
//! before the end of the recovered log, and that end must not lie before what was synced. Then it goes on
//! from there.

use super::*;
use crate::ids::Lsn;
use crate::page::PageView;
use std::collections::BTreeMap;
use turnstile_sys::fault_disk::{FaultDisk, FaultKind};

type Check = std::result::Result<(), String>;

#[derive(Clone)]
enum Op {
    Alloc,
    Free,
    Write(usize, Vec<u8>),
    Move(usize, usize, usize),
}

/// What the pages must hold: the state up to a known end of the log, and the groups after it.
#[derive(Default)]
struct Model {
    pages: BTreeMap<PageNo, Vec<u8>>,
    log: Vec<(Lsn, Vec<(PageNo, Op)>)>,
    /// Pages in use after the last group of the log.
    used: Vec<PageNo>,
}

impl Model {
    fn apply(pages: &mut BTreeMap<PageNo, Vec<u8>>, page_no: PageNo, op: &Op) {
        match op {
            Op::Alloc => drop(pages.insert(page_no, vec![0; PAGE_SIZE])),
            Op::Free => drop(pages.remove(&page_no)),
            Op::Write(off, bytes) => {
                pages.get_mut(&page_no).unwrap()[*off..off + bytes.len()].copy_from_slice(bytes);
            }
            Op::Move(src, dst, len) => {
                pages.get_mut(&page_no).unwrap().copy_within(*src..src + len, *dst);
            }
        }
    }

    /// Forgets the groups that did not survive and folds in those that did.
    fn settle(&mut self, end: Lsn) {
        for (group_end, ops) in std::mem::take(&mut self.log) {
            if group_end <= end {
                for (page_no, op) in &ops {
                    Self::apply(&mut self.pages, *page_no, op);
                }
            }
        }
        self.used = self.pages.keys().copied().collect();
    }

    /// Notes a group that was committed.
    fn note(&mut self, end: Lsn, ops: Vec<(PageNo, Op)>) {
        for (page_no, op) in &ops {
            match op {
                Op::Alloc => self.used.push(*page_no),
                Op::Free => self.used.retain(|used| used != page_no),
                _ => {}
            }
        }
        self.log.push((end, ops));
    }
}

fn random_change(rng: &mut Rng) -> Op {
    let len = 1 + rng.index(40);
    let off = HEADER_SIZE + rng.index(PAGE_SIZE - HEADER_SIZE - len);
    if rng.chance(0.7) {
        let mut bytes = vec![0; len];
        rng.fill(&mut bytes);
        return Op::Write(off, bytes);
    }
    let len = 1 + rng.index(2000);
    let place = |rng: &mut Rng| HEADER_SIZE + rng.index(PAGE_SIZE - HEADER_SIZE - len);
    Op::Move(place(rng), place(rng), len)
}

/// One random mini-transaction. An error leaves everything as it was.
fn one_group(storage: &Storage, model: &mut Model, rng: &mut Rng, page_target: usize) -> Result<()> {
    storage.reserve_blocking()?;
    let known = &model.used;
    let mut ops = Vec::new();
    let mut mtr = Mtr::begin(storage);
    if known.len() < page_target {
        let page = storage.space.alloc(&mut mtr, PageKind::Undo)?;
        ops.push((mtr.page_no(page), Op::Alloc));
    } else {
        let mut chosen: Vec<PageNo> = (0..=rng.index(3)).map(|_| known[rng.index(known.len())]).collect();
        chosen.sort_unstable();
        chosen.dedup();
        let pins: Vec<Pin<'_>> =
            chosen.iter().map(|page_no| storage.pool.load_blocking(*page_no)).collect::<Result<_>>()?;
        let handles: Vec<PageHandle> = pins.into_iter().map(|pin| mtr.take(pin.write())).collect();
        for _ in 0..=rng.index(4) {
            let nth = rng.index(handles.len());
            let op = random_change(rng);
            match &op {
                Op::Write(off, bytes) => mtr.write(handles[nth], *off, bytes),
                Op::Move(src, dst, len) => mtr.move_bytes(handles[nth], *src, *dst, *len),
                _ => {}
            }
            ops.push((chosen[nth], op));
        }
        if rng.chance(0.05) {
            storage.space.free(&mut mtr, chosen[0]);
            ops.push((chosen[0], Op::Free));
        }
    }
    let end = mtr.commit();
    model.note(end, ops);
    Ok(())
}

/// Works until the count is done or the storage stops. Returns the end of the log known to be durable.
fn work(storage: &Storage, model: &mut Model, rng: &mut Rng, groups: usize) -> Lsn {
    let page_target = 60 + rng.index(120);
    for _ in 0..groups {
        let mut outcome = one_group(storage, model, rng, page_target);
        if outcome.is_ok() && rng.chance(0.1) {
            outcome = storage.wal.flush_to(storage.wal.current_lsn());
        }
        if outcome.is_ok() && rng.chance(0.02) {
            outcome = storage.checkpoint().map(drop);
        }
        if outcome.is_ok() && rng.chance(0.05) {
            let some: Vec<u32> = (0..64).filter(|_| rng.chance(0.3)).collect();
            outcome = storage.pool.flush_frames(&some).map(drop);
        }
        if outcome.is_ok() && rng.chance(0.03) {
            outcome = storage.pool.advance_checkpoint().map(drop);
        }
        if outcome.is_err() {
            break;
        }
    }
    storage.wal.flushed_lsn()
}

fn compare(storage: &Storage, model: &Model) -> Check {
    for (page_no, expected) in &model.pages {
        let pin = storage.pool.load_blocking(*page_no).map_err(|error| error.to_string())?;
        let page = pin.read();
        let body = |view: &PageView| view.bytes()[HEADER_SIZE..].to_vec();
        if body(&page) != expected[HEADER_SIZE..] {
            return Err(format!("page {page_no} differs"));
        }
    }
    let (capacity, _) = storage.space.sizes();
    for page_no in (4..capacity).map(PageNo) {
        let used = storage.space.is_allocated(&storage.pool, page_no).map_err(|error| error.to_string())?;
        if used != model.pages.contains_key(&page_no) {
            return Err(format!("page {page_no}: allocated is {used}"));
        }
    }
    Ok(())
}

/// Recovers, now and then with a power cut in the middle of it.
fn recover(
    mut disk: FaultDisk,
    rng: &mut Rng,
) -> std::result::Result<(FaultDisk, Arc<Storage>, Recovered), String> {
    for _ in 0..3 {
        if rng.chance(0.5) {
            disk.fail_from(1 + rng.below(12), FaultKind::InputOutput);
            if let Ok((storage, _)) = Storage::recover(Arc::new(disk.clone()), &small(0)) {
                drop(storage.checkpoint());
            }
            disk.heal();
            disk = disk.crash();
        }
    }
    let (storage, recovered) =
        Storage::recover(Arc::new(disk.clone()), &small(0)).map_err(|error| error.to_string())?;
    if !recovered.damaged.is_empty() {
        return Err(format!("damaged: {:?}", recovered.damaged));
    }
    Ok((disk, storage, recovered))
}

/// A life of several crashes. `lie` plants a sync that does nothing.
fn live(seed: u64, lie: Option<&str>) -> std::result::Result<usize, String> {
    let mut rng = Rng::new(seed);
    let mut disk = FaultDisk::new(seed ^ 0x5eed);
    let mut storage =
        Storage::create(Arc::new(disk.clone()), &small(0)).map_err(|error| error.to_string())?;
    if let Some(name) = lie {
        disk.skip_sync_of(name);
    }
    let mut model = Model::default();
    let mut restored = 0;
    for _ in 0..4 {
        if rng.chance(0.3) {
            disk.fail_from(1 + rng.below(200), FaultKind::InputOutput);
        }
        let groups = 100 + rng.index(400);
        let durable = work(&storage, &mut model, &mut rng, groups);
        let last = storage.wal.current_lsn();
        let after = disk.crash();
        drop(storage);
        let recovered;
        (disk, storage, recovered) = recover(after, &mut rng)?;
        if let Some(name) = lie {
            disk.skip_sync_of(name);
        }
        if recovered.to < durable || recovered.to > last {
            return Err(format!("log ends at {}, synced {durable}, written {last}", recovered.to));
        }
        restored += recovered.restored_pages.len();
        model.settle(recovered.to);
        compare(&storage, &model)?;
    }
    Ok(restored)
}

fn live_many(seeds: std::ops::Range<u64>) {
    let mut restored = 0;
    for seed in seeds {
        restored += live(seed, None).unwrap_or_else(|what| panic!("seed {seed}: {what}"));
    }
    assert!(restored > 0, "no torn page was ever restored: the test does not reach what it is for");
}

#[test]
fn every_synced_group_survives_whole_and_in_order() {
    live_many(0..12);
}

#[test]
#[ignore = "minutes; the same with many seeds"]
fn every_synced_group_survives_many_seeds() {
    live_many(1000..1400);
}

/// The canary: each of these lies must be noticed, or the test above proves nothing.
#[test]
fn a_lying_sync_of_any_file_is_noticed() {
    for name in ["redo", DOUBLE_WRITE_FILE, DATA_FILE] {
        let found = (0..40).any(|seed| {
            std::panic::catch_unwind(|| live(seed, Some(name))).map_or(true, |outcome| outcome.is_err())
        });
        assert!(found, "a lying sync of {name} was not noticed");
    }
}

/// A crash anywhere in the creation leaves either nothing, to be created again, or a whole database.
#[test]
fn creation_can_be_cut_anywhere() {
    for nth in 1..60 {
        let disk = FaultDisk::new(nth);
        disk.fail_from(nth, FaultKind::InputOutput);
        drop(Storage::create(Arc::new(disk.clone()), &small(0)));
        disk.heal();
        let storage = Storage::open(Arc::new(disk.crash()), &small(0)).unwrap();
        assert_eq!(counter_pages(&storage, 1)[0], PageNo(4), "cut at operation {nth}");
    }
}

/// A device that fills up: `DiskFull` from alloc, before any change; everything else goes on, and room given
/// back is used again.
#[test]
fn a_full_disk_is_reported_by_alloc_and_nothing_else_minds() {
    let disk = FaultDisk::new(1);
    let storage = Storage::create(Arc::new(disk.clone()), &small(0)).unwrap();
    let pages = counter_pages(&storage, 50);
    disk.set_capacity(disk.used() + 100 * PAGE_SIZE);
    let mut more = Vec::new();
    let error = loop {
        let mut mtr = Mtr::begin(&storage);
        match storage.space.alloc(&mut mtr, PageKind::Undo) {
            Ok(page) => more.push(mtr.page_no(page)),
            Err(error) => {
                assert!(!mtr.has_changes());
                break error;
            }
        }
        mtr.commit();
        storage.checkpoint().unwrap();
    };
    assert_eq!(error, Error::DiskFull);
    assert!(more.len() >= 100, "only {} pages came out of the room for 100", more.len());
    for page in pages.iter().chain(&more) {
        with_pages_blocking(&storage, || add_one(&storage, *page)).unwrap();
    }
    storage.checkpoint().unwrap();
    let mut mtr = Mtr::begin(&storage);
    storage.space.free(&mut mtr, more[7]);
    mtr.commit();
    assert_eq!(counter_pages(&storage, 1)[0], more[7]);
    storage.close().unwrap();
}

/// After a failed write of a page nothing is acknowledged, and reads go on.
#[test]
fn a_failed_page_write_stops_the_log() {
    let disk = FaultDisk::new(1);
    let storage = Storage::create(Arc::new(disk.clone()), &small(0)).unwrap();
    let page = counter_pages(&storage, 1)[0];
    storage.wal.flush_to(storage.wal.current_lsn()).unwrap();
    disk.fail_from(1, FaultKind::InputOutput);
    assert!(matches!(storage.checkpoint(), Err(Error::Stopped(_))));
    disk.heal();
    add_one(&storage, page).unwrap();
    assert!(matches!(storage.wal.flush_to(storage.wal.current_lsn()), Err(Error::Stopped(_))));
    assert!(storage.checkpoint().is_err());
    assert_eq!(counter(&storage, page), 1);
}

/// One thread's changes: end of the group, page, place in it, value.
type ThreadLog = Vec<(Lsn, PageNo, usize, u64)>;

fn write_until_cut(storage: &Storage, pages: &[PageNo], thread: u64, cut: &AtomicU64) -> ThreadLog {
    let mut rng = Rng::new(thread);
    let mut log = ThreadLog::new();
    let place = HEADER_SIZE + 8 * thread as usize;
    while cut.load(Ordering::Relaxed) == 0 {
        let page_no = pages[rng.index(pages.len())];
        let written = block_on(with_pages_to_write(storage, || {
            let mut mtr = Mtr::begin(storage);
            let page = mtr.take(storage.pool.try_pin(page_no)?.write());
            let value = mtr.page(page).u64_at(place) + 1;
            mtr.write(page, place, &value.to_le_bytes());
            // Far away on the same page, so that a torn page cannot look whole.
            mtr.write(page, PAGE_SIZE - 64 + 8 * thread as usize, &value.to_le_bytes());
            Ok((mtr.commit(), value))
        }));
        let Ok((end, value)) = written else { break };
        log.push((end, page_no, place, value));
        if rng.chance(0.01) && storage.wal.flush_to(end).is_err() {
            break;
        }
    }
    log
}

/// Writers, page readers and the flusher at full speed over a small pool; then the power goes. What comes
/// back is a prefix of the log, on every page, for every writer.
#[test]
fn threads_at_full_speed_and_a_power_cut() {
    for seed in 0..3 {
        let disk = FaultDisk::new(seed);
        let storage = Storage::create(Arc::new(disk.clone()), &small(2)).unwrap();
        let pages = counter_pages(&storage, 200);
        let cut = AtomicU64::new(0);
        let (mut logs, mut durable) = (Vec::new(), Lsn(0));
        let mut after = None;
        std::thread::scope(|scope| {
            let (storage, pages, cut) = (&storage, &pages, &cut);
            let writers: Vec<_> = (0..3)
                .map(|thread| scope.spawn(move || write_until_cut(storage, pages, thread, cut)))
                .collect();
            while storage.pool.counters().writes < 2000 {
                std::thread::yield_now();
            }
            durable = storage.wal.flushed_lsn();
            after = Some(disk.crash());
            cut.store(1, Ordering::Relaxed);
            logs.extend(writers.into_iter().flat_map(|writer| writer.join().unwrap()));
        });
        drop(storage);
        let (storage, recovered) = Storage::recover(Arc::new(after.unwrap()), &small(0)).unwrap();
        assert!(recovered.damaged.is_empty() && recovered.to >= durable, "seed {seed}: {recovered:?}");
        logs.sort_unstable();
        let mut expected = BTreeMap::new();
        for (_, page_no, place, value) in logs.into_iter().filter(|(end, ..)| *end <= recovered.to) {
            expected.insert((page_no, place), value);
        }
        for ((page_no, place), value) in expected {
            let page = storage.pool.load_blocking(page_no).unwrap().read();
            assert_eq!(page.u64_at(place), value, "seed {seed} page {page_no}");
            assert_eq!(
                page.u64_at(PAGE_SIZE - 64 + place - HEADER_SIZE),
                value,
                "seed {seed} page {page_no}"
            );
        }
    }
}

/// A sync of the data file fails, the process is started again, and only then the power goes: what the
/// restarted process read from the operating system's cache was never on the disk.
#[test]
fn a_restart_after_a_failed_sync_writes_its_pages_again() {
    for seed in 0..20 {
        let disk = FaultDisk::new(seed);
        let storage = Storage::create(Arc::new(disk.clone()), &small(0)).unwrap();
        let page = counter_pages(&storage, 1)[0];
        storage.checkpoint().unwrap();
        add_one(&storage, page).unwrap();
        storage.wal.flush_to(storage.wal.current_lsn()).unwrap();
        // Double write, its sync, the page in place; then the sync that fails.
        disk.fail_at(4, FaultKind::InputOutput);
        assert!(storage.checkpoint().is_err());
        let disk = disk.kill();
        drop(storage);
        let (storage, _) = Storage::recover(Arc::new(disk.clone()), &small(0)).unwrap();
        storage.checkpoint().unwrap();
        let disk = disk.crash();
        drop(storage);
        let (storage, _) = Storage::recover(Arc::new(disk), &small(0)).unwrap();
        assert_eq!(counter(&storage, page), 1, "seed {seed}");
    }
}

/// A process dies in the middle of a batch: some of its pages are whole, but only in the operating system's
/// cache. The next process writes its first batch, of other pages, over the copies, and before it has synced
/// the data file the power goes.
#[test]
fn a_batch_cut_by_a_kill_is_on_disk_before_its_copies_are_written_over() {
    // Of each batch: copies written, copies synced, pages written, pages synced.
    for (killed_in, cut_in) in [(3, 3), (3, 4), (4, 3), (4, 4), (7, 4), (8, 4)] {
        for seed in 0..12 {
            let config = StorageConfig { batch_pages: 4, ..small(0) };
            let disk = FaultDisk::new(seed);
            let storage = Storage::create(Arc::new(disk.clone()), &config).unwrap();
            let pages = counter_pages(&storage, 20);
            storage.checkpoint().unwrap();
            for page in &pages {
                with_pages_blocking(&storage, || add_one(&storage, *page)).unwrap();
            }
            storage.wal.flush_to(storage.wal.current_lsn()).unwrap();
            disk.fail_at(killed_in, FaultKind::Killed);
            storage.checkpoint().unwrap_err();
            let disk = disk.kill();
            drop(storage);
            let (storage, _) = Storage::recover(Arc::new(disk.clone()), &config).unwrap();
            // The last pages first: the batch that was cut has no part in this one.
            let frames = (0..storage.pool.frame_count() as u32).rev();
            let dirty: Vec<u32> = frames.filter(|&at| storage.pool.frames.get(at).is_dirty()).collect();
            disk.fail_at(cut_in, FaultKind::Killed);
            storage.pool.flush_frames(&dirty).unwrap_err();
            let disk = disk.crash();
            drop(storage);
            let (storage, recovered) = Storage::recover(Arc::new(disk), &config).unwrap();
            assert_eq!(recovered.damaged, [], "seed {seed}, killed in {killed_in}, cut in {cut_in}");
            for page in &pages {
                assert_eq!(
                    counter(&storage, *page),
                    1,
                    "seed {seed}, killed in {killed_in}, cut in {cut_in}"
                );
            }
        }
    }
}
