//! What the pool counts. Lookups are counted per thread group, on lines of their own, because they happen on
//! every page access.

use super::pool::Pool;
use std::cell::Cell;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};

/// Lines that threads count on; more threads share them.
pub(crate) const LANES: usize = 16;

#[derive(Default)]
#[repr(align(64))]
struct Lane(AtomicU64);

#[derive(Default)]
pub(crate) struct Counters {
    lookups: [Lane; LANES],
    reads: AtomicU64,
    writes: AtomicU64,
    evictions: AtomicU64,
    clean_waits: AtomicU64,
    batches: AtomicU64,
    checkpoints: AtomicU64,
    /// Frames with changes of their own, and frames whose copy is being written. Looking at all frames would
    /// take the longer the larger the pool is, and tools ask often.
    dirty: AtomicI64,
}

/// A snapshot of the pool's counters. Totals since the start, but for the first three.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolCounts {
    /// Frames in the pool.
    pub frames: u64,
    /// Frames that hold no page.
    pub free_frames: u64,
    /// Frames whose page is newer than the data file; one that is changed while it is written counts twice
    /// for so long.
    pub dirty_frames: u64,
    /// Page lookups.
    pub lookups: u64,
    /// Pages read from the data file.
    pub reads: u64,
    /// Pages written to the data file.
    pub writes: u64,
    /// Pages that left memory for another.
    pub evictions: u64,
    /// Times somebody found nothing clean to evict and waited for the flusher.
    pub clean_waits: u64,
    /// Double-write batches.
    pub batches: u64,
    /// Times the checkpoint moved.
    pub checkpoints: u64,
}

thread_local! {
    static LANE: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// The line of this thread.
#[inline]
pub(crate) fn lane() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    LANE.with(|lane| {
        if lane.get() == usize::MAX {
            lane.set(NEXT.fetch_add(1, Ordering::Relaxed) % LANES);
        }
        lane.get()
    })
}

impl Counters {
    #[inline]
    pub(crate) fn count_lookup(&self) {
        self.lookups[lane()].0.fetch_add(1, Ordering::Relaxed);
    }
    pub(crate) fn count_read(&self) {
        self.reads.fetch_add(1, Ordering::Relaxed);
    }
    pub(crate) fn count_eviction(&self) {
        self.evictions.fetch_add(1, Ordering::Relaxed);
    }
    pub(crate) fn has_evicted(&self) -> bool {
        self.evictions.load(Ordering::Relaxed) > 0
    }
    pub(crate) fn count_clean_wait(&self) {
        self.clean_waits.fetch_add(1, Ordering::Relaxed);
    }
    pub(crate) fn count_batch(&self, pages: usize) {
        self.writes.fetch_add(pages as u64, Ordering::Relaxed);
        self.batches.fetch_add(1, Ordering::Relaxed);
    }
    /// So many frames were clean and are not any more, or the other way round. A frame of a page that is
    /// changed all the time comes here once for each time it is written.
    pub(crate) fn count_dirty(&self, change: i64) {
        self.dirty.fetch_add(change, Ordering::Relaxed);
    }
    /// As it is counted, for tests: the public figure is never under 0.
    #[cfg(test)]
    pub(crate) fn dirty_balance(&self) -> i64 {
        self.dirty.load(Ordering::Relaxed)
    }
    pub(crate) fn count_checkpoint(&self) {
        self.checkpoints.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn snapshot(&self, pool: &Pool) -> PoolCounts {
        PoolCounts {
            frames: pool.frames.count() as u64,
            free_frames: pool.next_victims(0).1 as u64,
            dirty_frames: self.dirty.load(Ordering::Relaxed).max(0) as u64,
            lookups: self.lookups.iter().map(|lane| lane.0.load(Ordering::Relaxed)).sum(),
            reads: self.reads.load(Ordering::Relaxed),
            writes: self.writes.load(Ordering::Relaxed),
            evictions: self.evictions.load(Ordering::Relaxed),
            clean_waits: self.clean_waits.load(Ordering::Relaxed),
            batches: self.batches.load(Ordering::Relaxed),
            checkpoints: self.checkpoints.load(Ordering::Relaxed),
        }
    }
}
