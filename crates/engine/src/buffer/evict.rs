//! Which page leaves when a frame is needed: S3-FIFO (Yang, Zhang, Qiu, Yue, Vigfusson: "FIFO queues are all
//! you need for cache eviction", SOSP 2023), adapted to pins and dirty pages.
//!
//! ```text
//!   read ──> small (a tenth) ──used twice──> main ──unused──> out
//!                 │                           ^ └─used─┘ goes round again, cooler
//!                 └──unused──> out, number remembered in ghost ──read again──> main
//! ```
//!
//! A scan's pages are used once, fall out of the small queue and never touch the main one. A hit costs one
//! relaxed store of the frame's heat and no queue at all, which is why this and not an LRU list.

use super::frame::{Frames, Vacant};
use super::table::PageTable;
use crate::ids::PageNo;
use crate::rank;
use rustc_hash::FxHashSet;
use std::collections::VecDeque;
use turnstile_sys::ranked::RankedMutex;

/// Heat a page needs in the small queue to be moved to the main queue. Its first use is the one it was read
/// for.
const HEAT_TO_STAY: u8 = 2;

#[derive(Default)]
struct Queues {
    free: Vec<u32>,
    small: VecDeque<u32>,
    main: VecDeque<u32>,
    ghost: VecDeque<PageNo>,
    ghost_set: FxHashSet<PageNo>,
}

pub(crate) struct Evictor {
    queues: RankedMutex<Queues>,
    small_target: usize,
    ghost_max: usize,
}

/// What came of looking for a frame.
pub(crate) enum Eviction<'p> {
    /// A frame to use; `evicted` tells whether a page had to leave for it.
    Frame { vacant: Vacant<'p>, evicted: bool },
    /// Everything met was pinned or dirty; the dirty ones met, in the order they should be written.
    NothingClean(Vec<u32>),
}

impl Evictor {
    pub(crate) fn new(frame_count: usize) -> Self {
        let free = (0u32..).take(frame_count).collect::<Vec<_>>().into_iter().rev().collect();
        let queues = Queues { free, ..Queues::default() };
        Evictor {
            queues: RankedMutex::new(rank::POOL_LIST, &rank::POOL_LISTS, queues),
            small_target: (frame_count / 10).max(1),
            ghost_max: frame_count,
        }
    }

    /// Puts a freshly installed frame into its queue.
    pub(crate) fn enter(&self, index: u32, page_no: PageNo) {
        let mut queues = self.queues.lock();
        if queues.ghost_set.remove(&page_no) {
            queues.main.push_back(index);
        } else {
            queues.small.push_back(index);
        }
    }

    /// Takes back a vacant frame that was not used after all.
    pub(crate) fn give_back(&self, vacant: Vacant<'_>) {
        self.queues.lock().free.push(vacant.index());
    }

    /// Finds a frame: a free one, else by evicting a clean page.
    pub(crate) fn take<'p>(&self, frames: &'p Frames, table: &PageTable) -> Eviction<'p> {
        let mut queues = self.queues.lock();
        if let Some(index) = queues.free.pop() {
            return Eviction::Frame { vacant: Vacant::new(frames, index), evicted: false };
        }
        let mut dirty = Vec::new();
        // A page in main goes round at most as often as its heat allows, so this many steps see everything.
        let steps_max = 4 * (queues.small.len() + queues.main.len());
        let mut busy_small = 0;
        for _ in 0..steps_max {
            let from_small = queues.small.len() > busy_small
                && (queues.small.len() > self.small_target || queues.main.is_empty() || busy_small > 0);
            let popped = if from_small { queues.small.pop_front() } else { queues.main.pop_front() };
            let Some(index) = popped.or_else(|| queues.small.pop_front()) else { break };
            let frame = frames.get(index);
            let heat = frame.heat();
            if from_small && heat >= HEAT_TO_STAY {
                frame.set_heat(0);
                queues.main.push_back(index);
                continue;
            }
            if !from_small && heat > 0 {
                frame.set_heat(heat - 1);
                queues.main.push_back(index);
                continue;
            }
            let page_no = frame.page_no();
            if evict(frames, table, index) {
                if from_small {
                    queues.remember(page_no, self.ghost_max);
                }
                return Eviction::Frame { vacant: Vacant::new(frames, index), evicted: true };
            }
            if frame.is_dirty() && !frame.is_flushing() && dirty.len() < super::flush::BATCH_PAGES {
                dirty.push(index);
            }
            if from_small {
                busy_small += 1;
                queues.small.push_back(index);
            } else {
                queues.main.push_back(index);
            }
            if dirty.len() >= super::flush::BATCH_PAGES {
                break;
            }
        }
        dirty.sort_unstable();
        dirty.dedup();
        Eviction::NothingClean(dirty)
    }

    /// The frames that will be looked at next, and how many are free: the flusher cleans these ahead of need.
    pub(crate) fn next_victims(&self, count: usize) -> (Vec<u32>, usize) {
        let queues = self.queues.lock();
        let victims =
            queues.small.iter().take(count).chain(queues.main.iter().take(count)).copied().collect();
        (victims, queues.free.len())
    }
}

impl Queues {
    fn remember(&mut self, page_no: PageNo, ghost_max: usize) {
        if self.ghost_set.insert(page_no) {
            self.ghost.push_back(page_no);
        }
        while self.ghost.len() > ghost_max {
            if let Some(old) = self.ghost.pop_front() {
                self.ghost_set.remove(&old);
            }
        }
    }
}

fn evict(frames: &Frames, table: &PageTable, index: u32) -> bool {
    let frame = frames.get(index);
    if frame.pin_count() > 0 || frame.is_dirty() {
        return false;
    }
    let page_no = frame.page_no();
    let shard = table.shard(page_no);
    if !frame.try_vacate() {
        return false;
    }
    table.remove(&shard, frames, page_no, index);
    true
}
