//! Frames: the memory slots that hold pages, and the words that say who may touch them.
//!
//! | field | written by | read by |
//! |---|---|---|
//! | `pins` | `turnstile_sys::pin_count`; the evictor alone takes a frame, the installer alone settles it |
//! everyone |
//! | `page_no` | the owner of the frame while it is vacant (not resident) | everyone; trust it only with a
//! pin |
//! | `chain` | the holder of the page table shard | lookups, as a hint |
//! | `heat` | anyone, without care for lost updates | the evictor |
//! | `kind` | who installs the frame, or holds its exclusive latch | waits for the latch, to count in its
//! class |
//! | `oldest` | set under the exclusive latch; cleared by the flusher, under the shared latch | checkpoint |
//! | `flushing` | the flusher | checkpoint |
//! | `latch` | guards | guards |
//! | page bytes | holder of the exclusive latch, or the owner of the vacant frame | holder of a latch |
//!
//! Laws: a pinned resident frame keeps its page. A pin taken on a frame that turns out not to be resident, or
//! to hold another page, promises nothing and is dropped at once. A vacant frame has one owner, its
//! [`Vacant`].
//!
//! The order of `oldest` and `flushing` matters to the checkpoint: the flusher sets `flushing` before it
//! clears `oldest`, and the checkpoint reads `oldest` before `flushing`, so a page is seen in at least one of
//! them until it is on disk.

use crate::ids::{Lsn, PageNo};
use crate::page::{PAGE_SIZE, PageKind};
use crate::rank;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use turnstile_sys::latch::{Latch, LatchClass};
use turnstile_sys::pin_count::PinCount;

/// "No frame" in chains.
pub(crate) const NO_FRAME: u32 = u32::MAX;
/// Value of `oldest` and `flushing` on a clean frame.
const CLEAN: u64 = u64::MAX;
const HEAT_MAX: u8 = 3;

/// The control words of one frame. Its bytes live in [`Frames`].
#[repr(align(64))]
pub(crate) struct Frame {
    pins: PinCount,
    page_no: AtomicU32,
    pub(crate) chain: AtomicU32,
    heat: AtomicU8,
    kind: AtomicU8,
    oldest: AtomicU64,
    flushing: AtomicU64,
    pub(crate) latch: Latch,
}

impl Frame {
    fn new() -> Self {
        Frame {
            pins: PinCount::new(),
            page_no: AtomicU32::new(0),
            chain: AtomicU32::new(NO_FRAME),
            heat: AtomicU8::new(0),
            kind: AtomicU8::new(0),
            oldest: AtomicU64::new(CLEAN),
            flushing: AtomicU64::new(CLEAN),
            latch: Latch::of_class(&rank::PAGE_OTHER),
        }
    }

    #[inline]
    pub(crate) fn page_no(&self) -> PageNo {
        PageNo(self.page_no.load(Ordering::Relaxed))
    }

    /// Pins the frame if it is resident; whether it holds the right page is then for the caller to check.
    #[inline]
    pub(crate) fn pin_if_resident(&self) -> bool {
        self.pins.try_pin()
    }

    /// Adds a pin to one that the caller holds.
    #[inline]
    pub(crate) fn pin_again(&self) {
        self.pins.pin_again();
    }

    #[inline]
    pub(crate) fn unpin(&self) {
        self.pins.unpin();
    }

    pub(crate) fn pin_count(&self) -> u32 {
        self.pins.pins()
    }

    /// Remembers a use, for the evictor.
    #[inline]
    pub(crate) fn warm(&self) {
        let heat = self.heat.load(Ordering::Relaxed);
        if heat < HEAT_MAX {
            self.heat.store(heat + 1, Ordering::Relaxed);
        }
    }

    pub(crate) fn heat(&self) -> u8 {
        self.heat.load(Ordering::Relaxed)
    }

    pub(crate) fn set_heat(&self, heat: u8) {
        self.heat.store(heat, Ordering::Relaxed);
    }

    /// Remembers what the page is, for those who wait for its latch.
    pub(crate) fn set_kind(&self, kind: PageKind) {
        self.kind.store(kind as u8, Ordering::Relaxed);
    }

    /// Where waits for the latch are counted.
    pub(crate) fn class(&self) -> &'static LatchClass {
        match PageKind::from_byte(self.kind.load(Ordering::Relaxed)) {
            Some(PageKind::TreeLeaf) => &rank::PAGE_LEAF,
            Some(PageKind::TreeInner) => &rank::PAGE_INNER,
            Some(PageKind::Undo | PageKind::UndoDirectory) => &rank::PAGE_UNDO,
            Some(PageKind::Bitmap) => &rank::PAGE_MAP,
            _ => &rank::PAGE_OTHER,
        }
    }

    /// Makes an owned vacant frame visible under this page number, with `pins` pins.
    pub(crate) fn install(&self, page_no: PageNo, pins: u32) {
        self.page_no.store(page_no.0, Ordering::Relaxed);
        self.heat.store(0, Ordering::Relaxed);
        self.pins.settle(pins);
    }

    /// Takes a resident, clean, unpinned frame away from its page. The caller holds the page table shard and
    /// owns the frame if this returns true.
    pub(crate) fn try_vacate(&self) -> bool {
        if self.is_dirty() || !self.pins.try_take() {
            return false;
        }
        // A writer may have dirtied it between the look and the taking; none can any more.
        if self.is_dirty() {
            self.pins.settle(0);
            return false;
        }
        true
    }

    pub(crate) fn is_dirty(&self) -> bool {
        self.oldest.load(Ordering::Acquire) != CLEAN || self.flushing.load(Ordering::Acquire) != CLEAN
    }

    /// Marks the frame dirty since `lsn` unless it is already; true if it was clean. Exclusive latch held.
    pub(crate) fn mark_dirty(&self, lsn: Lsn) -> bool {
        if self.oldest.load(Ordering::Relaxed) != CLEAN {
            return false;
        }
        self.oldest.store(lsn.0, Ordering::Release);
        true
    }

    /// LSN before which this frame's changes are all on disk, or `None` when the frame is clean.
    pub(crate) fn oldest_lsn(&self) -> Option<Lsn> {
        let oldest = self.oldest.load(Ordering::Acquire);
        let lsn = oldest.min(self.flushing.load(Ordering::Acquire));
        (lsn != CLEAN).then_some(Lsn(lsn))
    }

    /// The flusher has copied the page: from here until `flush_end` it counts as being written. Shared latch
    /// held. False if there was nothing to write.
    pub(crate) fn flush_begin(&self) -> bool {
        let oldest = self.oldest.load(Ordering::Acquire);
        if oldest == CLEAN {
            return false;
        }
        self.flushing.store(oldest, Ordering::Release);
        self.oldest.store(CLEAN, Ordering::Release);
        true
    }

    /// The copy is durable in place.
    pub(crate) fn flush_end(&self) {
        self.flushing.store(CLEAN, Ordering::Release);
    }

    /// Whether a write of this frame is under way.
    pub(crate) fn is_flushing(&self) -> bool {
        self.flushing.load(Ordering::Acquire) != CLEAN
    }
}

/// All frames and their page memory, allocated once and aligned to the page size.
pub(crate) struct Frames {
    frames: Box<[Frame]>,
    memory: Memory,
}

struct Memory {
    allocation: *mut u8,
    layout: Layout,
    first_page: *mut u8,
}

/// The largest alignment for which the standard library asks the operating system for zeroed memory; beyond
/// it, it writes the zeros itself, and a pool of gigabytes is resident before its first page is read.
const LAZY_ALIGN: usize = 16;

impl Frames {
    #[expect(unsafe_code, reason = "one aligned, lazily zeroed allocation for all pages")]
    pub(crate) fn new(count: usize) -> Self {
        assert!(count > 0 && count < NO_FRAME as usize);
        let layout = Layout::from_size_align((count + 1) * PAGE_SIZE, LAZY_ALIGN)
            .expect("the pool fits the address space");
        // SAFETY: the layout is not empty. A large zeroed allocation without a big alignment is mapped
        // lazily, so the alignment to 16 KiB is made by hand from the spare page.
        let allocation = unsafe { alloc_zeroed(layout) };
        if allocation.is_null() {
            std::alloc::handle_alloc_error(layout);
        }
        let offset = allocation.align_offset(PAGE_SIZE);
        assert!(offset <= PAGE_SIZE);
        let first_page = allocation.wrapping_add(offset);
        let frames = (0..count).map(|_| Frame::new()).collect();
        Frames { frames, memory: Memory { allocation, layout, first_page } }
    }

    #[inline]
    pub(crate) fn count(&self) -> usize {
        self.frames.len()
    }

    #[inline]
    pub(crate) fn get(&self, index: u32) -> &Frame {
        &self.frames[index as usize]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &Frame)> {
        (0u32..).zip(self.frames.iter())
    }

    /// Where the bytes of a frame lie. Dereferencing needs the latch, or ownership of the vacant frame.
    #[inline]
    pub(crate) fn page(&self, index: u32) -> *mut [u8; PAGE_SIZE] {
        debug_assert!((index as usize) < self.frames.len());
        self.memory.first_page.wrapping_add(index as usize * PAGE_SIZE).cast()
    }
}

#[expect(unsafe_code, reason = "the page memory is shared under the frame protocol")]
// SAFETY: the pointers are to memory owned by this value; the bytes are reached only through latch guards and
// `Vacant`, which give shared-or-exclusive access as the table at the top of this file says.
unsafe impl Send for Memory {}
#[expect(unsafe_code, reason = "the page memory is shared under the frame protocol")]
// SAFETY: as for `Send`.
unsafe impl Sync for Memory {}

impl Drop for Memory {
    #[expect(unsafe_code, reason = "frees the page memory")]
    fn drop(&mut self) {
        // SAFETY: allocated in `Frames::new` with this layout; `Frames` is gone, and with it every guard.
        unsafe { dealloc(self.allocation, self.layout) }
    }
}

/// Sole owner of a frame that holds no page. Ends in `install`, or goes back to the free list.
pub(crate) struct Vacant<'p> {
    frames: &'p Frames,
    index: u32,
}

impl<'p> Vacant<'p> {
    /// Called by the evictor for a frame it has just vacated or taken from the free list.
    pub(super) fn new(frames: &'p Frames, index: u32) -> Self {
        Vacant { frames, index }
    }

    pub(crate) fn index(&self) -> u32 {
        self.index
    }

    #[expect(unsafe_code, reason = "exclusive access by ownership of the vacant frame")]
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8; PAGE_SIZE] {
        // SAFETY: the frame is not resident, so no guard exists (guards need a valid pin), and one `Vacant`
        // exists per vacant frame, borrowed mutably here.
        unsafe { &mut *self.frames.page(self.index) }
    }
}
