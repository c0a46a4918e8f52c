//! [`Storage`]: disk, log, pool and space in one bundle, and their life: create, open, checkpoint, close.
//! Also the two waits this room adds to an operation: for a page, and for room in the redo log.

use super::dblwr::DoubleWrite;
use super::flush::{BATCH_PAGES, Flusher};
use super::guard::Pin;
use super::meta;
use super::mtr::Mtr;
use super::pool::{DATA_FILE, Pool};
use super::recover::{self, Recovered};
use super::space::{INDEX_DIRECTORY_PAGE, META_PAGE, Space, UNDO_DIRECTORY_PAGE};
use crate::error::{Error, Result};
use crate::ids::{Lsn, PageNo};
use crate::page::{PAGE_SIZE, PageKind};
use crate::wal::Wal;
use parking_lot::Mutex;
use smallvec::SmallVec;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use turnstile_sys::disk::Disk;

/// The data file is put together under this name and then renamed.
const DATA_FILE_NEW: &str = "data.ts.new";
/// Pages of a new data file.
const FIRST_PAGES: u64 = 64;

/// How storage is opened.
#[derive(Clone, Debug)]
pub struct StorageConfig {
    /// Memory for pages, in bytes.
    pub pool_bytes: u64,
    /// Size of the redo log, in bytes.
    pub redo_capacity_bytes: u64,
    /// Threads that read pages; while reads take long there are up to sixteen times as many. With 0 there is
    /// no flusher thread either, and whoever needs I/O performs it: for deterministic tests.
    pub reader_threads: usize,
    /// Pages in one double-write batch, at most [`BATCH_PAGES`].
    pub batch_pages: usize,
}

impl Default for StorageConfig {
    fn default() -> Self {
        StorageConfig {
            pool_bytes: 128 << 20,
            redo_capacity_bytes: 100 << 20,
            reader_threads: 4,
            batch_pages: BATCH_PAGES,
        }
    }
}

/// Pages, redo and file space of one data directory.
pub struct Storage {
    /// Where the files are.
    pub disk: Arc<dyn Disk>,
    /// The redo log.
    pub wal: Arc<Wal>,
    /// Pages in memory.
    pub pool: Arc<Pool>,
    /// Which pages of the file are in use.
    pub space: Arc<Space>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Storage {
    /// Creates an empty database: meta page, first bitmap, and the two directory pages, empty. Files of an
    /// interrupted creation are overwritten. Fails if a data file exists.
    pub fn create(disk: Arc<dyn Disk>, config: &StorageConfig) -> Result<Arc<Storage>> {
        if disk.exists(DATA_FILE).map_err(opening)? {
            return Err(Error::Stopped(format!("{DATA_FILE} exists already")));
        }
        {
            let file = disk.open(DATA_FILE_NEW, true).map_err(opening)?;
            file.claim().map_err(opening)?;
            file.set_len(0).map_err(opening)?;
            file.allocate(FIRST_PAGES * PAGE_SIZE as u64)?;
            file.sync().map_err(opening)?;
            // It must be there before the first redo file is: see `open`.
            disk.sync_dir().map_err(opening)?;
            let wal = Wal::create(Arc::clone(&disk), config.redo_capacity_bytes)?;
            let pool = Arc::new(make_pool(&disk, config, file, Arc::clone(&wal))?);
            let space = Arc::new(Space::of_new_file(FIRST_PAGES));
            let storage = Storage { disk: Arc::clone(&disk), wal, pool, space, threads: Mutex::default() };
            storage.format()?;
            storage.checkpoint()?;
            storage.wal.close()?;
        }
        disk.rename(DATA_FILE_NEW, DATA_FILE).map_err(opening)?;
        disk.sync_dir().map_err(opening)?;
        Ok(Self::recover(disk, config)?.0)
    }

    fn format(&self) -> Result<()> {
        let mut mtr = Mtr::begin(self);
        let page = mtr.take(self.pool.pin_fresh(META_PAGE)?.write());
        meta::format(&mut mtr, page);
        self.space.begin_first_group(&mut mtr)?;
        let index = self.space.alloc(&mut mtr, PageKind::TreeLeaf)?;
        let undo = self.space.alloc(&mut mtr, PageKind::UndoDirectory)?;
        assert_eq!((mtr.page_no(index), mtr.page_no(undo)), (INDEX_DIRECTORY_PAGE, UNDO_DIRECTORY_PAGE));
        mtr.commit();
        Ok(())
    }

    /// Opens the database in the directory, recovering it if it was not closed; creates it if there is none.
    /// A log without a data file is one whose data file was lost, unless the file that a creation begins with
    /// is there: creating would write over what is left.
    pub fn open(disk: Arc<dyn Disk>, config: &StorageConfig) -> Result<Arc<Storage>> {
        if disk.exists(DATA_FILE).map_err(opening)? {
            return Ok(Self::recover(disk, config)?.0);
        }
        if Wal::exists(&*disk)? && !disk.exists(DATA_FILE_NEW).map_err(opening)? {
            let what = "the file is missing, though its redo log is there".to_owned();
            return Err(Error::Corrupt { file: DATA_FILE.into(), offset: 0, what });
        }
        Self::create(disk, config)
    }

    /// Opens an existing database: torn pages restored from the double-write file, then redo from the last
    /// checkpoint. Transactions that were active at the crash are for the rooms above to roll back.
    pub fn recover(disk: Arc<dyn Disk>, config: &StorageConfig) -> Result<(Arc<Storage>, Recovered)> {
        let file = disk.open(DATA_FILE, false).map_err(opening)?;
        file.claim().map_err(opening)?;
        // The process that created the files may have been killed before it had synced their names.
        disk.sync_dir().map_err(opening)?;
        let pages = file.len().map_err(opening)? / PAGE_SIZE as u64;
        let mut area = DoubleWrite::open(&*disk)?;
        let restored = area.restore(&*file)?;
        let wal = Wal::open(Arc::clone(&disk), config.redo_capacity_bytes)?;
        if restored.newest > wal.current_lsn() {
            return Err(Error::BeyondLog { lsn: restored.newest, end: wal.current_lsn() });
        }
        let frames = usize::try_from(config.pool_bytes).unwrap_or(usize::MAX) / PAGE_SIZE;
        let pool =
            Arc::new(Pool::new(frames, file, Arc::clone(&wal), Flusher::new(area, config.batch_pages)));
        let mut recovered = recover::replay(&wal, &pool)?;
        recovered.restored_pages = restored.pages;
        meta::check(&pool)?;
        let space = Arc::new(Space::open(&pool, pages)?);
        let storage = Arc::new(Storage { disk, wal, pool, space, threads: Mutex::default() });
        storage.start_threads(config.reader_threads)?;
        Ok((storage, recovered))
    }

    fn start_threads(&self, reader_threads: usize) -> Result<()> {
        if reader_threads == 0 {
            return Ok(());
        }
        let mut threads = self.threads.lock();
        self.pool.set_has_threads(true);
        let pool = Arc::downgrade(&self.pool);
        self.wal.set_pressure_hook(Box::new(move || {
            if let Some(pool) = pool.upgrade() {
                pool.flusher.request(&[]);
            }
        }));
        let named = |name: &str| std::thread::Builder::new().name(name.to_owned());
        self.pool.start_readers(reader_threads).map_err(opening)?;
        let pool = Arc::clone(&self.pool);
        let body = move || abort_on_panic(|| pool.run_flusher());
        threads.push(named("page-flusher").spawn(body).map_err(opening)?);
        let (pool, space) = (Arc::clone(&self.pool), Arc::clone(&self.space));
        let own = self.disk.open(DATA_FILE, false).map_err(opening)?;
        let body = move || abort_on_panic(|| space.run_grower(&pool, &*own));
        threads.push(named("file-grower").spawn(body).map_err(opening)?);
        Ok(())
    }

    /// Writes every page changed so far and moves the checkpoint up to now. Returns the checkpoint.
    pub fn checkpoint(&self) -> Result<Lsn> {
        self.pool.flush_older_than(self.wal.current_lsn())?;
        self.pool.advance_checkpoint()
    }

    /// Ends the threads, writes everything, and leaves a log that needs no recovery. Nothing may be running.
    pub fn close(&self) -> Result<()> {
        self.end_threads();
        self.checkpoint()?;
        self.wal.close()
    }

    fn end_threads(&self) {
        self.pool.end_readers();
        self.pool.flusher.close();
        self.space.close_grower();
        for thread in self.threads.lock().drain(..) {
            // It cannot have panicked: that ends the process.
            drop(thread.join());
        }
        self.pool.set_has_threads(false);
    }

    /// Waits until the redo log has room for an operation. Taken before the operation latches anything;
    /// counts as a log-sync wait. Free when there is room. Nothing else may be awaited between this and the
    /// operation's mini-transactions, see [`with_pages_to_write`].
    pub async fn reserve(&self) -> Result<()> {
        if self.wal.try_reserve()? {
            return Ok(());
        }
        if self.pool.has_threads() { self.wal.reserve().await } else { self.reserve_blocking() }
    }

    /// As [`Storage::reserve`], blocking the thread: for background threads and opening.
    pub fn reserve_blocking(&self) -> Result<()> {
        while !self.wal.try_reserve()? {
            self.checkpoint()?;
        }
        Ok(())
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        self.end_threads();
    }
}

/// Without its I/O threads the pool would leave sessions waiting for ever; a broken invariant ends the
/// process.
pub(super) fn abort_on_panic(body: impl FnOnce()) {
    if std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)).is_err() {
        eprintln!("an I/O thread of the buffer pool panicked; stopping");
        std::process::abort();
    }
}

fn make_pool(
    disk: &Arc<dyn Disk>,
    config: &StorageConfig,
    file: Arc<dyn turnstile_sys::disk::DiskFile>,
    wal: Arc<Wal>,
) -> Result<Pool> {
    let area = DoubleWrite::open(&**disk)?;
    let frames = usize::try_from(config.pool_bytes).unwrap_or(usize::MAX) / PAGE_SIZE;
    Ok(Pool::new(frames, file, wal, Flusher::new(area, config.batch_pages)))
}

pub(super) fn opening(error: std::io::Error) -> Error {
    Error::Stopped(format!("opening the data directory: {error}"))
}

/// Pins held across page-read waits, with their count given back however the operation ends.
struct HeldPins<'e> {
    pool: &'e Pool,
    pins: SmallVec<[Pin<'e>; HELD_PINS_MAX]>,
}

/// Pages one operation keeps in memory while it waits for the next.
const HELD_PINS_MAX: usize = 4;

impl<'e> HeldPins<'e> {
    fn new(pool: &'e Pool) -> Self {
        HeldPins { pool, pins: SmallVec::new() }
    }

    /// Keeps the pin if the pool can afford it: operations that wait may together hold a quarter of the
    /// frames.
    fn hold(&mut self, pin: Pin<'e>) {
        if self.pins.len() == HELD_PINS_MAX {
            self.pins.remove(0);
            self.pool.held_pins.fetch_sub(1, Ordering::Relaxed);
        }
        let held = self.pool.held_pins.fetch_add(1, Ordering::Relaxed);
        if held as usize >= self.pool.frame_count() / 4 && !self.pins.is_empty() {
            self.pool.held_pins.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        self.pins.push(pin);
    }
}

impl Drop for HeldPins<'_> {
    fn drop(&mut self) {
        self.pool.held_pins.fetch_sub(self.pins.len() as u32, Ordering::Relaxed);
    }
}

fn missed<T>(outcome: Result<T>) -> Result<Result<T>, PageNo> {
    match outcome {
        Err(Error::Miss(page_no)) => Err(page_no),
        other => Ok(other),
    }
}

/// Runs a synchronous operation; whenever it ends in `Error::Miss`, awaits that page and runs it again from
/// the top. The operation must have changed nothing when it reports a miss. The pages waited for stay pinned
/// until it is through, so it makes progress however small the pool.
pub async fn with_pages<T>(storage: &Storage, mut operation: impl FnMut() -> Result<T>) -> Result<T> {
    let page_no = match missed(operation()) {
        Ok(outcome) => return outcome,
        Err(page_no) => page_no,
    };
    let mut held = HeldPins::new(&storage.pool);
    held.hold(storage.pool.load(page_no).await?);
    loop {
        let page_no = match missed(operation()) {
            Ok(outcome) => return outcome,
            Err(page_no) => page_no,
        };
        held.hold(storage.pool.load(page_no).await?);
    }
}

/// As [`with_pages`], for an operation that writes: before every attempt it waits for room in the redo log,
/// so that what is written past the limit is bounded by the threads, not by the sessions.
pub async fn with_pages_to_write<T>(
    storage: &Storage,
    mut operation: impl FnMut() -> Result<T>,
) -> Result<T> {
    storage.reserve().await?;
    let page_no = match missed(operation()) {
        Ok(outcome) => return outcome,
        Err(page_no) => page_no,
    };
    let mut held = HeldPins::new(&storage.pool);
    held.hold(storage.pool.load(page_no).await?);
    loop {
        storage.reserve().await?;
        let page_no = match missed(operation()) {
            Ok(outcome) => return outcome,
            Err(page_no) => page_no,
        };
        held.hold(storage.pool.load(page_no).await?);
    }
}

/// As [`with_pages`], blocking the thread: for background threads, recovery and structure changes.
pub fn with_pages_blocking<T>(storage: &Storage, mut operation: impl FnMut() -> Result<T>) -> Result<T> {
    let mut held = HeldPins::new(&storage.pool);
    loop {
        match missed(operation()) {
            Ok(outcome) => return outcome,
            Err(page_no) => held.hold(storage.pool.load_blocking(page_no)?),
        }
    }
}
