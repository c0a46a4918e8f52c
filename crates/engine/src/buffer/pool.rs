//! [`Pool`]: a fixed number of frames over the data file. Finding a page in memory, reading it when it is
//! not, making room. Writing pages back is `flush.rs`; which page leaves is `evict.rs`.

use super::counters::Counters;
use super::evict::{Eviction, Evictor};
use super::flush::Flusher;
use super::frame::{Frames, Vacant};
use super::guard::Pin;
use super::load::{Load, LoadWait};
use super::readers::Readers;
use super::table::PageTable;
use crate::error::{Error, Result};
use crate::ids::PageNo;
use crate::page::{PAGE_SIZE, PageView, checksum};
use crate::wal::Wal;
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;
use turnstile_sys::disk::DiskFile;

/// Name of the data file.
pub const DATA_FILE: &str = "data.ts";
/// Fewest frames a pool works with.
pub const FRAMES_MIN: usize = 64;

/// The page is not in memory: load it, and run the operation again from the top.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Miss(pub PageNo);

impl From<Miss> for Error {
    fn from(miss: Miss) -> Self {
        Error::Miss(miss.0)
    }
}

/// The buffer pool.
pub struct Pool {
    pub(crate) frames: Frames,
    table: PageTable,
    evictor: Evictor,
    pub(super) readers: Readers,
    pub(crate) file: Arc<dyn DiskFile>,
    pub(crate) wal: Arc<Wal>,
    pub(crate) flusher: Flusher,
    pub(crate) counters: Counters,
    /// Pins that operations hold across page-read waits, see `with_pages`.
    pub(crate) held_pins: AtomicU32,
    has_threads: AtomicBool,
    room: Mutex<()>,
    room_made: Condvar,
}

impl Pool {
    pub(crate) fn new(frame_count: usize, file: Arc<dyn DiskFile>, wal: Arc<Wal>, flusher: Flusher) -> Self {
        let frame_count = frame_count.max(FRAMES_MIN);
        Pool {
            frames: Frames::new(frame_count),
            table: PageTable::new(frame_count),
            evictor: Evictor::new(frame_count),
            readers: Readers::default(),
            file,
            wal,
            flusher,
            counters: Counters::default(),
            held_pins: AtomicU32::new(0),
            has_threads: AtomicBool::new(false),
            room: Mutex::new(()),
            room_made: Condvar::new(),
        }
    }

    /// Number of frames.
    pub fn frame_count(&self) -> usize {
        self.frames.count()
    }

    /// Pins a page that is in memory. No I/O, no latch on a hit.
    #[inline]
    pub fn try_pin(&self, page_no: PageNo) -> Result<Pin<'_>, Miss> {
        self.counters.count_lookup();
        match self.table.pin_by_hint(&self.frames, page_no) {
            Some(index) => {
                self.frames.get(index).warm();
                Ok(Pin::adopt(&self.frames, index))
            }
            None => self.try_pin_slow(page_no),
        }
    }

    /// Pins whatever page a frame holds now, if it holds one: for who remembers the frame of a page and, once
    /// it has the latch, makes sure that the page is still what it was (README, rule 6). Not counted as a
    /// lookup.
    #[inline]
    pub(crate) fn try_pin_frame(&self, index: u32) -> Option<Pin<'_>> {
        if index as usize >= self.frames.count() {
            return None;
        }
        let frame = self.frames.get(index);
        if !frame.pin_if_resident() {
            return None;
        }
        Some(Pin::adopt(&self.frames, index))
    }

    /// Remembers a use of a frame that was pinned by [`Pool::try_pin_frame`] and held the page that was
    /// wanted. A frame that held another page must not be taken for a used one: the evictor would find
    /// nothing but used frames.
    #[inline]
    pub(crate) fn warm_frame(&self, index: u32) {
        self.frames.get(index).warm();
    }

    #[cold]
    fn try_pin_slow(&self, page_no: PageNo) -> Result<Pin<'_>, Miss> {
        let shard = self.table.shard(page_no);
        match self.table.pin(&shard, &self.frames, page_no) {
            Some(index) => {
                self.frames.get(index).warm();
                Ok(Pin::adopt(&self.frames, index))
            }
            None => Err(Miss(page_no)),
        }
    }

    /// Brings a page into memory: the page-read wait. Resolves to a pin, so the page is still there when the
    /// operation runs again. A page that was allocated but never written loads as kind `Empty`.
    pub async fn load(&self, page_no: PageNo) -> Result<Pin<'_>> {
        let (load, place, first) = match self.join_load(page_no) {
            Ok(pin) => return Ok(pin),
            Err(joined) => joined,
        };
        let wait = LoadWait { pool: self, load: Arc::clone(&load), place, taken: false };
        if first && let Err(load) = self.readers.push(page_no, load) {
            self.perform(page_no, &load);
        }
        wait.await
    }

    /// As [`Pool::load`], blocking the thread: for background threads, recovery and opening.
    pub fn load_blocking(&self, page_no: PageNo) -> Result<Pin<'_>> {
        let (load, _place, first) = match self.join_load(page_no) {
            Ok(pin) => return Ok(pin),
            Err(joined) => joined,
        };
        if first {
            self.perform(page_no, &load);
        }
        load.wait_blocking().map(|index| Pin::adopt(&self.frames, index))
    }

    /// Starts reading a page that will be wanted soon, if it is not in memory, and does not wait.
    pub fn prefetch(&self, page_no: PageNo) {
        if !self.has_threads() {
            return;
        }
        let mut shard = self.table.shard(page_no);
        if self.table.contains(&shard, &self.frames, page_no) || shard.loading.contains_key(&page_no) {
            return;
        }
        let load = Arc::new(Load::new());
        shard.loading.insert(page_no, Arc::clone(&load));
        drop(shard);
        if let Err(load) = self.readers.push(page_no, load) {
            self.perform(page_no, &load);
        }
    }

    /// Pins a page that is in memory by now, or becomes a waiter of its read; the flag tells whether the
    /// caller started that read and must see to it that it is performed.
    fn join_load(&self, page_no: PageNo) -> Result<Pin<'_>, (Arc<Load>, usize, bool)> {
        let mut shard = self.table.shard(page_no);
        if let Some(index) = self.table.pin(&shard, &self.frames, page_no) {
            return Ok(Pin::adopt(&self.frames, index));
        }
        if let Some(load) = shard.loading.get(&page_no) {
            let load = Arc::clone(load);
            let place = load.join();
            return Err((load, place, false));
        }
        let load = Arc::new(Load::new());
        let place = load.join();
        shard.loading.insert(page_no, Arc::clone(&load));
        Err((load, place, true))
    }

    /// Reads a page for which a load is registered, and tells its waiters.
    pub(super) fn perform(&self, page_no: PageNo, load: &Load) {
        let read = self.read_into_vacant(page_no);
        let mut shard = self.table.shard(page_no);
        shard.loading.remove(&page_no);
        let mut entered = None;
        let wakers = load.finish(|waiting| {
            let index = read?.index();
            self.frames.get(index).install(page_no, waiting);
            self.table.insert(&shard, &self.frames, page_no, index);
            entered = Some(index);
            Ok(index)
        });
        drop(shard);
        if let Some(index) = entered {
            self.evictor.enter(index, page_no);
        }
        for waker in wakers.into_iter().flatten() {
            waker.wake();
        }
    }

    fn read_into_vacant(&self, page_no: PageNo) -> Result<Vacant<'_>> {
        let mut vacant = self.acquire_frame()?;
        self.counters.count_read();
        let bytes = vacant.bytes_mut();
        let read = self.file.read_at(bytes, page_offset(page_no));
        let outcome = match read {
            Ok(()) => verify(bytes, page_no).and_then(|()| self.check_lsn(bytes)),
            Err(error) => Err(damaged(page_no, format!("cannot be read: {error}"))),
        };
        match outcome {
            Ok(()) => {
                // One that was never written has no number of its own; who takes it for something else shall
                // say where it is.
                bytes[4..8].copy_from_slice(&page_no.0.to_le_bytes());
                if let Some(kind) = PageView::from_bytes(bytes).kind() {
                    self.frames.get(vacant.index()).set_kind(kind);
                }
                Ok(vacant)
            }
            Err(error) => {
                self.evictor.give_back(vacant);
                Err(error)
            }
        }
    }

    /// No page is on disk before the redo that explains it, so one that is newer than the log is not
    /// explained by this log.
    fn check_lsn(&self, bytes: &[u8; PAGE_SIZE]) -> Result<()> {
        let (lsn, end) = (PageView::from_bytes(bytes).lsn(), self.wal.current_lsn());
        if lsn > end { Err(Error::BeyondLog { lsn, end }) } else { Ok(()) }
    }

    /// Pins a page whose content does not matter because it is about to be initialised: no read. Blocks only
    /// if every frame is dirty or pinned.
    pub(crate) fn pin_fresh(&self, page_no: PageNo) -> Result<Pin<'_>> {
        loop {
            {
                let shard = self.table.shard(page_no);
                if let Some(index) = self.table.pin(&shard, &self.frames, page_no) {
                    return Ok(Pin::adopt(&self.frames, index));
                }
                if let Some(load) = shard.loading.get(&page_no).cloned() {
                    // Somebody reads it under a number that is no longer theirs; its outcome does not matter.
                    load.join();
                    drop(shard);
                    if let Ok(index) = load.wait_blocking() {
                        return Ok(Pin::adopt(&self.frames, index));
                    }
                    continue;
                }
            }
            let mut vacant = self.acquire_frame()?;
            let shard = self.table.shard(page_no);
            let raced = self.table.pin(&shard, &self.frames, page_no);
            if raced.is_some() || shard.loading.contains_key(&page_no) {
                drop(shard);
                self.evictor.give_back(vacant);
                if let Some(index) = raced {
                    return Ok(Pin::adopt(&self.frames, index));
                }
                continue;
            }
            vacant.bytes_mut().fill(0);
            let index = vacant.index();
            self.frames.get(index).install(page_no, 1);
            self.table.insert(&shard, &self.frames, page_no, index);
            drop(shard);
            self.evictor.enter(index, page_no);
            return Ok(Pin::adopt(&self.frames, index));
        }
    }

    /// A frame to fill. Waits for the flusher when nothing clean is left.
    fn acquire_frame(&self) -> Result<Vacant<'_>> {
        const TRIES_MAX: u32 = 10_000;
        for _ in 0..TRIES_MAX {
            match self.evictor.take(&self.frames, &self.table) {
                Eviction::Frame { vacant, evicted } => {
                    if evicted {
                        self.counters.count_eviction();
                    }
                    return Ok(vacant);
                }
                Eviction::NothingClean(dirty) => {
                    self.counters.count_clean_wait();
                    self.make_clean(&dirty)?;
                }
            }
        }
        Err(Error::Stopped("the buffer pool is too small: every page in it is in use".into()))
    }

    fn make_clean(&self, dirty: &[u32]) -> Result<()> {
        if !self.has_threads.load(Ordering::Acquire) {
            if self.flush_frames(dirty)? == 0 {
                std::thread::yield_now();
            }
            return Ok(());
        }
        self.flusher.check_stopped()?;
        self.flusher.request(dirty);
        let mut room = self.room.lock();
        self.room_made.wait_for(&mut room, Duration::from_millis(1));
        Ok(())
    }

    /// The flusher has cleaned frames.
    pub(crate) fn announce_room(&self) {
        drop(self.room.lock());
        self.room_made.notify_all();
    }

    /// The frames the evictor would look at next, and the number of free ones.
    pub(crate) fn next_victims(&self, count: usize) -> (Vec<u32>, usize) {
        self.evictor.next_victims(count)
    }

    pub(crate) fn set_has_threads(&self, has_threads: bool) {
        self.has_threads.store(has_threads, Ordering::Release);
    }

    pub(crate) fn has_threads(&self) -> bool {
        self.has_threads.load(Ordering::Acquire)
    }

    /// Whether a page ever had to leave for another.
    pub(crate) fn has_evicted(&self) -> bool {
        self.counters.has_evicted()
    }

    /// What the pool has counted so far.
    pub fn counters(&self) -> super::PoolCounts {
        self.counters.snapshot(self)
    }
}

/// Where a page lies in the data file.
pub(crate) fn page_offset(page_no: PageNo) -> u64 {
    u64::from(page_no.0) * PAGE_SIZE as u64
}

pub(crate) fn damaged(page_no: PageNo, what: String) -> Error {
    Error::Corrupt {
        file: DATA_FILE.into(),
        offset: page_offset(page_no),
        what: format!("page {page_no} {what}"),
    }
}

/// Whether an image read from disk is the page it should be. All zeros is a page never written.
pub(crate) fn verify(bytes: &[u8; PAGE_SIZE], page_no: PageNo) -> Result<()> {
    if !checksum::matches(bytes) {
        if bytes.iter().all(|&byte| byte == 0) {
            return Ok(());
        }
        return Err(damaged(page_no, "has a wrong checksum".into()));
    }
    let view = PageView::from_bytes(bytes);
    if view.page_no() != page_no {
        return Err(damaged(page_no, format!("says it is page {}", view.page_no())));
    }
    view.check().map_err(|what| damaged(page_no, format!("is malformed: {what}")))
}
