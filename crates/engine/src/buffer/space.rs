//! File space: which pages of the data file are in use, and growing the file.
//!
//! ```text
//!  page 0 meta | 1 bitmap of group 0 | 2 index directory | 3 undo directory | 4.. free use
//!  group g covers GROUP_PAGES pages from 1 + g * GROUP_PAGES; its first page is its bitmap, bit i is its page i
//! ```
//!
//! A bitmap page is pinned for ever once it is known, so taking and freeing pages never meets a miss. One
//! mutex, the space latch, is held by a mini-transaction from its first alloc or free until it commits: it
//! ranks below every tree and undo page latch, so an operation takes those first.
//!
//! Growing means writing zeros and syncing them, so a thread of its own does it ahead of need
//! ([`Space::run_grower`]), while no latch is held: it makes the file longer, and then takes the latch to
//! say so. Only if pages run out meanwhile an operation waits for it, or grows the file itself, under its
//! latches.

use super::mtr::{Mtr, PageHandle};
use super::pool::{Pool, damaged};
use crate::error::{Error, Result};
use crate::ids::PageNo;
use crate::page::{HEADER_SIZE, PAGE_SIZE, PageKind, PageView};
use crate::rank;
use parking_lot::{Condvar, Mutex};
use std::time::{Duration, Instant};
use turnstile_sys::disk::{AllocateError, DiskFile};
use turnstile_sys::ranked::{RankedGuard, RankedMutex};

/// Page 0: magic number and format version.
pub const META_PAGE: PageNo = PageNo(0);
/// Root of the index directory, which is the tree of index 0; an empty leaf after `Storage::create`.
pub const INDEX_DIRECTORY_PAGE: PageNo = PageNo(2);
/// First page of the undo directory; kind `UndoDirectory`, zeros after `Storage::create`.
pub const UNDO_DIRECTORY_PAGE: PageNo = PageNo(3);

/// Bytes of a bitmap page that hold bits.
const BITMAP_BYTES: usize = 16320;
/// Pages covered by one bitmap page (just under 2 GiB).
pub(crate) const GROUP_PAGES: u32 = BITMAP_BYTES as u32 * 8;
/// The file grows by an eighth, within these bounds, in pages.
const GROWTH_MIN: u32 = 64;
const GROWTH_MAX: u32 = 4096;

const _: () = assert!(HEADER_SIZE + BITMAP_BYTES <= PAGE_SIZE && BITMAP_BYTES.is_multiple_of(8));

/// The file is grown ahead when less than this part of what it grows by is unused.
const GROW_AHEAD: u32 = 2;
/// A device that was full is not asked for more sooner.
const FULL_PAUSE: Duration = Duration::from_secs(1);

/// What the space latch protects.
pub(crate) struct SpaceState {
    /// Pages the file has room for.
    capacity: u32,
    /// Groups whose bitmap page is initialised.
    groups: u32,
    /// Unused pages below `capacity` in initialised groups.
    free: u32,
    /// Where the next search begins.
    rover: u32,
}

impl SpaceState {
    fn of_file(pages: u64) -> Self {
        SpaceState { capacity: u32::try_from(pages).unwrap_or(u32::MAX), groups: 0, free: 0, rover: 0 }
    }

    /// The file has room for so many pages now.
    fn adopt(&mut self, capacity: u32) {
        let known_end = bitmap_page(self.groups).0;
        let usable = |end: u32| end.min(known_end);
        self.free += usable(capacity) - usable(self.capacity);
        self.capacity = capacity;
    }

    /// Whether it is time to grow the file ahead of need. The last group's bitmap is the operation's that
    /// comes to need it.
    fn is_short(&self) -> bool {
        self.free < growth(self.capacity) / GROW_AHEAD && bitmap_page(self.groups).0 >= self.capacity
    }
}

/// Pages that a file of this many grows by.
fn growth(capacity: u32) -> u32 {
    (capacity / 8).clamp(GROWTH_MIN, GROWTH_MAX)
}

/// The space latch, held by a mini-transaction.
pub(crate) type SpaceLatch<'e> = RankedGuard<'e, SpaceState>;

/// Allocation of pages in the data file.
pub struct Space {
    state: RankedMutex<SpaceState>,
    /// Pages the file has room for and that are durable, which the space latch's `capacity` may not know yet.
    /// Held while the file grows. Below the space latch: who holds it never waits for that.
    file: Mutex<u32>,
    grower: Grower,
}

/// The thread that grows the file, as those see it who take pages.
#[derive(Default)]
struct Grower {
    request: Mutex<GrowRequest>,
    asked: Condvar,
}

#[derive(Default)]
struct GrowRequest {
    wanted: bool,
    closing: bool,
}

impl Grower {
    #[cold]
    fn ask(&self) {
        let mut request = self.request.lock();
        if !std::mem::replace(&mut request.wanted, true) {
            self.asked.notify_one();
        }
    }

    /// Waits until it is asked; false when it is to end.
    fn next(&self) -> bool {
        let mut request = self.request.lock();
        while !request.wanted && !request.closing {
            self.asked.wait(&mut request);
        }
        request.wanted = false;
        !request.closing
    }

    /// Waits a while, whoever asks meanwhile, but not longer than until it is to end.
    fn pause(&self) {
        let until = Instant::now() + FULL_PAUSE;
        let mut request = self.request.lock();
        while !request.closing && !self.asked.wait_until(&mut request, until).timed_out() {}
    }
}

fn bitmap_page(group: u32) -> PageNo {
    PageNo(1 + group * GROUP_PAGES)
}

fn group_of(page_no: PageNo) -> u32 {
    (page_no.0 - 1) / GROUP_PAGES
}

/// Byte position in the bitmap page and mask of a page's bit.
fn bit_of(page_no: PageNo) -> (usize, u8) {
    let bit = (page_no.0 - 1) % GROUP_PAGES;
    (HEADER_SIZE + bit as usize / 8, 1 << (bit % 8))
}

/// First page at or after bit `from` of this group that is unused, below `capacity`.
fn find_unused(bitmap: &PageView, group: u32, from: u32, capacity: u32) -> Option<PageNo> {
    let first = bitmap_page(group).0;
    let mut bit = from;
    while bit < GROUP_PAGES && first + bit < capacity {
        let word = bitmap.u64_at(HEADER_SIZE + (bit / 64) as usize * 8);
        let unused = !word & (u64::MAX << (bit % 64));
        if unused == 0 {
            bit = (bit / 64 + 1) * 64;
            continue;
        }
        let found = first + bit / 64 * 64 + unused.trailing_zeros();
        return (found < capacity && found - first < GROUP_PAGES).then_some(PageNo(found));
    }
    None
}

/// Unused pages of the group that begins at `first` and has this bitmap. An error if one in use lies at or
/// behind the end of the file.
fn count_unused(bitmap: &PageView, first: u32, capacity: u32) -> Result<u32> {
    let mut unused = 0;
    for page in first..first + GROUP_PAGES {
        let (off, mask) = bit_of(PageNo(page));
        let used = bitmap.bytes()[off] & mask != 0;
        if used && page >= capacity {
            let what =
                format!("is in use, but the file ends before it, behind page {}", capacity.saturating_sub(1));
            return Err(damaged(PageNo(page), what));
        }
        unused += u32::from(!used && page < capacity);
    }
    Ok(unused)
}

/// Whether no page from this one on was ever written.
fn is_untouched(pool: &Pool, from: PageNo, capacity: u32) -> Result<bool> {
    for page in from.0..capacity {
        let page = pool.load_blocking(PageNo(page))?.read();
        if page.kind() != Some(PageKind::Empty) || page.lsn().0 != 0 {
            return Ok(false);
        }
    }
    Ok(true)
}

impl Space {
    /// Takes note of a file that was just made and holds no page yet.
    pub(crate) fn of_new_file(pages: u64) -> Self {
        Self::of(SpaceState::of_file(pages))
    }

    /// Reads the bitmaps of an existing file, which had room for so many pages before recovery wrote to it. A
    /// bitmap that is lost would give pages away that are in use, and a file that was cut off would be taken
    /// for one that was never longer: both are refused.
    pub(crate) fn open(pool: &Pool, pages: u64) -> Result<Self> {
        let mut state = SpaceState::of_file(pages);
        while bitmap_page(state.groups).0 < state.capacity || state.groups == 0 {
            let page_no = bitmap_page(state.groups);
            let pin = pool.load_blocking(page_no)?;
            let bitmap = pin.clone().read();
            match bitmap.kind() {
                Some(PageKind::Bitmap) => {}
                // The file grew, and then the power went before the bitmap was in the log.
                Some(PageKind::Empty) if state.groups > 0 && is_untouched(pool, page_no, state.capacity)? => {
                    break;
                }
                _ => return Err(damaged(page_no, "is not the bitmap of the pages behind it".into())),
            }
            state.free += count_unused(&bitmap, page_no.0, state.capacity)?;
            drop(bitmap);
            pin.keep_for_ever();
            state.groups += 1;
        }
        Ok(Self::of(state))
    }

    fn of(state: SpaceState) -> Self {
        let file = Mutex::new(state.capacity);
        Space {
            state: RankedMutex::new(rank::SPACE, &rank::FILE_SPACE, state),
            file,
            grower: Grower::default(),
        }
    }

    fn latch<'m, 'e>(&'e self, mtr: &'m mut Mtr<'e>) -> &'m mut SpaceLatch<'e> {
        mtr.space.get_or_insert_with(|| self.state.lock())
    }

    /// Makes sure that the next `pages` calls of `alloc` in this mini-transaction find room in the file.
    /// Fails with `DiskFull` before anything changed.
    pub fn reserve<'e>(&'e self, mtr: &mut Mtr<'e>, pages: u32) -> Result<()> {
        let pool = &mtr.storage().pool;
        let state = self.latch(mtr);
        // One more for each bitmap page that growing may need.
        if state.free > pages {
            return Ok(());
        }
        if bitmap_page(state.groups).0 >= state.capacity {
            self.grow(pool, state, pages + 1)?;
        }
        let groups = state.groups;
        if bitmap_page(groups).0 < state.capacity {
            self.begin_group(mtr, groups)?;
        }
        self.reserve(mtr, pages)
    }

    /// Initialises the bitmap page of a group the file has just grown into.
    fn begin_group<'e>(&'e self, mtr: &mut Mtr<'e>, group: u32) -> Result<()> {
        let page_no = bitmap_page(group);
        let pin = mtr.storage().pool.pin_fresh(page_no)?;
        pin.clone().keep_for_ever();
        let handle = mtr.take(pin.write());
        mtr.init(handle, PageKind::Bitmap);
        mtr.write(handle, HEADER_SIZE, &[1]);
        let state = self.latch(mtr);
        let covered = (state.capacity - page_no.0).min(GROUP_PAGES);
        state.free += covered - 1;
        state.groups += 1;
        Ok(())
    }

    /// Sets up the bitmap of group 0 in a new file.
    pub(super) fn begin_first_group<'e>(&'e self, mtr: &mut Mtr<'e>) -> Result<()> {
        self.begin_group(mtr, 0)
    }

    /// Takes an unused page, initialised to `kind`, write-latched by the mini-transaction. `DiskFull` comes
    /// before anything changed. An operation that takes several pages, or has changed something already,
    /// calls `reserve` first; then this cannot fail for want of space.
    pub fn alloc<'e>(&'e self, mtr: &mut Mtr<'e>, kind: PageKind) -> Result<PageHandle> {
        if self.latch(mtr).free == 0 {
            self.reserve(mtr, 1)?;
        }
        let storage = mtr.storage();
        let (page_no, bitmap) = self.find(mtr)?;
        let pin = storage.pool.pin_fresh(page_no)?;
        let guard = pin.write();
        let (off, mask) = bit_of(page_no);
        let byte = mtr.page(bitmap).bytes()[off] | mask;
        mtr.write(bitmap, off, &[byte]);
        let state = self.latch(mtr);
        state.free -= 1;
        state.rover = page_no.0;
        if state.is_short() {
            self.grower.ask();
        }
        let handle = mtr.take(guard);
        mtr.init(handle, kind);
        Ok(handle)
    }

    /// An unused page and its latched bitmap page. There is one: `free` is above zero.
    fn find<'e>(&'e self, mtr: &mut Mtr<'e>) -> Result<(PageNo, PageHandle)> {
        let state = self.latch(mtr);
        let (groups, capacity, rover) = (state.groups, state.capacity, state.rover.max(1));
        let start = group_of(PageNo(rover)).min(groups.saturating_sub(1));
        // The starting group is looked at twice: from the rover on, and at last from its beginning.
        for step in 0..=groups {
            let group = (start + step) % groups.max(1);
            let from = if step == 0 { (rover - 1) % GROUP_PAGES } else { 0 };
            let bitmap = self.bitmap(mtr, group)?;
            if let Some(page_no) = find_unused(mtr.page(bitmap), group, from, capacity) {
                return Ok((page_no, bitmap));
            }
        }
        Err(Error::Stopped("the allocation bitmaps do not match their count of free pages".into()))
    }

    fn bitmap<'e>(&'e self, mtr: &mut Mtr<'e>, group: u32) -> Result<PageHandle> {
        let page_no = bitmap_page(group);
        if let Some(handle) = mtr.find(page_no) {
            return Ok(handle);
        }
        let guard = mtr.storage().pool.try_pin(page_no)?.write();
        Ok(mtr.take(guard))
    }

    /// Gives a page back. The caller has unlinked it, holds its write latch or knows that nobody can reach
    /// it, and does not use it again in this mini-transaction. Bitmap pages stay in memory, so this cannot
    /// fail.
    pub fn free<'e>(&'e self, mtr: &mut Mtr<'e>, page_no: PageNo) {
        assert!(page_no > UNDO_DIRECTORY_PAGE, "pages with a fixed place are never freed");
        self.latch(mtr);
        let bitmap = self.bitmap(mtr, group_of(page_no)).expect("bitmap pages stay pinned");
        let (off, mask) = bit_of(page_no);
        let byte = mtr.page(bitmap).bytes()[off];
        assert!(byte & mask != 0, "page {page_no} is freed twice");
        mtr.write(bitmap, off, &[byte & !mask]);
        let state = self.latch(mtr);
        state.free += 1;
        state.rover = state.rover.min(page_no.0);
    }

    /// Whether a page is in use. For verification; takes the space latch.
    pub fn is_allocated(&self, pool: &Pool, page_no: PageNo) -> Result<bool> {
        if page_no == META_PAGE {
            return Ok(true);
        }
        let state = self.state.lock();
        if page_no.0 >= state.capacity || group_of(page_no) >= state.groups {
            return Ok(false);
        }
        let bitmap = pool.try_pin(bitmap_page(group_of(page_no)))?.read();
        let (off, mask) = bit_of(page_no);
        Ok(bitmap.bytes()[off] & mask != 0)
    }

    /// Pages the file has room for, and how many of them are unused.
    pub fn sizes(&self) -> (u32, u32) {
        let state = self.state.lock();
        (state.capacity, state.free)
    }
}

impl Space {
    /// Lets the file grow by at least `pages`, under the space latch; really reserves the bytes.
    fn grow(&self, pool: &Pool, state: &mut SpaceState, pages: u32) -> Result<()> {
        let mut file = self.file.lock();
        if *file > state.capacity {
            // The grower has just done it.
            state.adopt(*file);
            return Ok(());
        }
        let wish = growth(state.capacity);
        // When the device is nearly full a smaller step may still fit.
        for growth in [wish, GROWTH_MIN.min(wish), 8, 1].map(|growth| growth.max(pages)) {
            let Some(capacity) = state.capacity.checked_add(growth) else { return Err(Error::DiskFull) };
            if lengthen(pool, &*pool.file, capacity)? {
                *file = capacity;
                state.adopt(capacity);
                return Ok(());
            }
        }
        Err(Error::DiskFull)
    }

    /// Body of the thread that grows the file ahead of need, by a handle of its own: so a sync that fails is
    /// told to it and to whoever syncs pages. Ends when the pool closes, or growing fails, which stops the
    /// engine.
    pub(super) fn run_grower(&self, pool: &Pool, own: &dyn DiskFile) {
        while self.grower.next() {
            match self.grow_ahead(pool, own) {
                Ok(true) => {}
                Ok(false) => self.grower.pause(),
                Err(_) => return,
            }
        }
    }

    /// Grows the file by one step, if it is still short. False: the device has no room for that.
    fn grow_ahead(&self, pool: &Pool, own: &dyn DiskFile) -> Result<bool> {
        pool.flusher.check_stopped()?;
        let known = {
            let state = self.state.lock();
            if !state.is_short() {
                return Ok(true);
            }
            state.capacity
        };
        {
            let mut file = self.file.lock();
            if *file == known {
                let Some(longer) = known.checked_add(growth(known)) else { return Ok(false) };
                if !lengthen(pool, own, longer)? {
                    return Ok(false);
                }
                *file = longer;
            }
        }
        let mut state = self.state.lock();
        let durable = *self.file.lock();
        if durable > state.capacity {
            state.adopt(durable);
        }
        Ok(true)
    }

    /// Ends the thread that grows the file.
    pub(super) fn close_grower(&self) {
        self.grower.request.lock().closing = true;
        self.grower.asked.notify_all();
    }
}

/// Makes the file durable room for so many pages. False, and nothing has changed: the device is full.
fn lengthen(pool: &Pool, file: &dyn DiskFile, capacity: u32) -> Result<bool> {
    match file.allocate(u64::from(capacity) * PAGE_SIZE as u64) {
        // Whatever the reason, want of space among them: a sync that has failed is not tried again.
        Ok(()) => file.sync().map(|()| true).map_err(|error| stop_growing(pool, &error)),
        Err(AllocateError::Full(_)) => Ok(false),
        Err(AllocateError::Failed(error)) => Err(stop_growing(pool, &error)),
    }
}

fn stop_growing(pool: &Pool, error: &std::io::Error) -> Error {
    let why = format!("growing the data file: {error}");
    pool.stop(why.clone());
    Error::Stopped(why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_ends_no_pause_and_who_closes_does() {
        let grower = Grower::default();
        std::thread::scope(|scope| {
            let pause = scope.spawn(|| {
                let begun = Instant::now();
                grower.pause();
                begun.elapsed()
            });
            while !pause.is_finished() {
                grower.request.lock().wanted = false;
                grower.ask();
                std::thread::sleep(Duration::from_millis(5));
            }
            assert!(pause.join().is_ok_and(|took| took >= FULL_PAUSE));
        });
        grower.request.lock().closing = true;
        grower.pause();
        assert!(!grower.next());
    }
}
