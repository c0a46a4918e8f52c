//! The page table: page number to frame. A hash table chained through the frames themselves.
//!
//! Lookups take no latch: they follow the chain as a hint, pin the frame and then check that it still holds
//! the page. A lookup that finds nothing asks again under the shard's mutex, which every change holds. The
//! shard also lists the reads under way, so that a page is never read twice at once.

use super::frame::{Frames, NO_FRAME};
use super::load::Load;
use crate::ids::PageNo;
use crate::rank;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use turnstile_sys::ranked::{RankedGuard, RankedMutex};

const SHARDS: usize = 64;
/// A chain may be changing under a lookup; after this many steps it asks the shard instead.
const HINT_STEPS_MAX: usize = 16;

/// What one shard's mutex protects besides its chains.
#[derive(Default)]
pub(crate) struct Shard {
    /// Reads under way.
    pub(crate) loading: FxHashMap<PageNo, Arc<Load>>,
}

#[repr(align(64))]
struct PaddedShard(RankedMutex<Shard>);

pub(crate) struct PageTable {
    buckets: Box<[AtomicU32]>,
    shards: Box<[PaddedShard]>,
}

impl PageTable {
    pub(crate) fn new(frame_count: usize) -> Self {
        let count = (frame_count * 2).next_power_of_two().max(SHARDS);
        PageTable {
            buckets: (0..count).map(|_| AtomicU32::new(NO_FRAME)).collect(),
            shards: (0..SHARDS)
                .map(|_| PaddedShard(RankedMutex::new(rank::POOL_SHARD, &rank::PAGE_HASH, Shard::default())))
                .collect(),
        }
    }

    /// Neighbouring pages go to neighbouring buckets of different shards: page numbers are dense, so this is
    /// as good as hashing and kinder to the cache.
    #[inline]
    fn bucket(&self, page_no: PageNo) -> usize {
        page_no.0 as usize & (self.buckets.len() - 1)
    }

    pub(crate) fn shard(&self, page_no: PageNo) -> RankedGuard<'_, Shard> {
        self.shards[page_no.0 as usize % SHARDS].0.lock()
    }

    /// Pins the page if it is found. False negatives happen; then ask [`PageTable::pin`] under the shard.
    #[inline]
    pub(crate) fn pin_by_hint(&self, frames: &Frames, page_no: PageNo) -> Option<u32> {
        let mut index = self.buckets[self.bucket(page_no)].load(Ordering::Acquire);
        for _ in 0..HINT_STEPS_MAX {
            if index == NO_FRAME {
                return None;
            }
            let frame = frames.get(index);
            if frame.page_no() == page_no {
                if !frame.pin_if_resident() {
                    return None;
                }
                if frame.page_no() == page_no {
                    return Some(index);
                }
                frame.unpin();
                return None;
            }
            index = frame.chain.load(Ordering::Acquire);
        }
        None
    }

    /// Pins the page if it is in the table. What is in the table is resident.
    pub(crate) fn pin(
        &self,
        _shard: &RankedGuard<'_, Shard>,
        frames: &Frames,
        page_no: PageNo,
    ) -> Option<u32> {
        let mut index = self.buckets[self.bucket(page_no)].load(Ordering::Acquire);
        while index != NO_FRAME {
            let frame = frames.get(index);
            if frame.page_no() == page_no {
                return frame.pin_if_resident().then_some(index);
            }
            index = frame.chain.load(Ordering::Acquire);
        }
        None
    }

    /// Whether the page is in the table.
    pub(crate) fn contains(&self, _shard: &RankedGuard<'_, Shard>, frames: &Frames, page_no: PageNo) -> bool {
        let mut index = self.buckets[self.bucket(page_no)].load(Ordering::Acquire);
        while index != NO_FRAME && frames.get(index).page_no() != page_no {
            index = frames.get(index).chain.load(Ordering::Acquire);
        }
        index != NO_FRAME
    }

    /// Adds an installed frame.
    pub(crate) fn insert(
        &self,
        _shard: &RankedGuard<'_, Shard>,
        frames: &Frames,
        page_no: PageNo,
        index: u32,
    ) {
        let bucket = &self.buckets[self.bucket(page_no)];
        frames.get(index).chain.store(bucket.load(Ordering::Acquire), Ordering::Release);
        bucket.store(index, Ordering::Release);
    }

    /// Takes a vacated frame out.
    pub(crate) fn remove(
        &self,
        _shard: &RankedGuard<'_, Shard>,
        frames: &Frames,
        page_no: PageNo,
        index: u32,
    ) {
        let mut link = &self.buckets[self.bucket(page_no)];
        loop {
            let at = link.load(Ordering::Acquire);
            if at == NO_FRAME {
                debug_assert!(false, "frame {index} of page {page_no} is not in its chain");
                return;
            }
            let frame = frames.get(at);
            if at == index {
                link.store(frame.chain.load(Ordering::Acquire), Ordering::Release);
                return;
            }
            link = &frame.chain;
        }
    }
}
