#![doc = include_str!("adaptive_hash/README.md")]

mod cells;

#[cfg(test)]
pub(crate) use cells::{Cells, Learned};
pub(crate) use cells::{Found, Hint};

use crate::buffer::{LANES, lane};
use crate::ids::IndexId;
use crate::page::PAGE_SIZE;
#[cfg(not(test))]
use cells::{Cells, Learned};
use std::sync::atomic::AtomicU64 as StdAtomicU64;
use std::sync::{Arc, OnceLock};
use turnstile_sys::sync::atomic::{AtomicBool, AtomicU8, Ordering, fence};

/// Most parts the cells can be cut into.
pub const PARTS_MAX: usize = 512;
/// Parts, unless the configuration says otherwise.
pub const PARTS_DEFAULT: usize = 8;
/// The cells take this part of the pool's bytes: one cell per 128 bytes of pages.
const POOL_SHARE: usize = 16;
/// Fewest bytes of cells.
const BYTES_MIN: usize = 64 * 1024;
/// More bytes of cells than this are made and emptied by a thread of their own, so that nobody's statement
/// waits for it.
const INLINE_BYTES_MAX: usize = 1 << 20;

/// Deliberate mistakes, to see the tests find them. Only tests set one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Mistake {
    /// None.
    None,
    /// A hint's slot is believed without a look at its key.
    BelieveSlot,
    /// Any page is taken for a leaf of the tree.
    BelievePage,
    /// A leaf that is freed keeps looking like a leaf.
    KeepFreedLeaf,
    /// A hint learned while the switch goes off is not taken back.
    KeepLateHint,
}

/// What each thread counts on a line of its own.
#[derive(Default)]
#[repr(align(64))]
struct Lane {
    hits: StdAtomicU64,
    descents: StdAtomicU64,
    stale: StdAtomicU64,
    busy: StdAtomicU64,
}

/// What a part has been taught.
#[derive(Default)]
#[repr(align(64))]
struct PartCounters {
    added: StdAtomicU64,
    removed: StdAtomicU64,
    updated: StdAtomicU64,
    skipped: StdAtomicU64,
}

/// One part, for a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AdaptiveHashPart {
    /// Cells it has.
    pub cells: u64,
    /// Cells that are not empty.
    pub entries: u64,
}

/// A snapshot. Totals since the engine was opened, but for those said to be of the moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AdaptiveHashCounts {
    /// Whether it is switched on, at the moment.
    pub enabled: bool,
    /// Its parts, at the moment. Their cells are 0 until it is switched on for the first time.
    pub parts: Vec<AdaptiveHashPart>,
    /// Bytes its cells take, at the moment.
    pub memory_bytes: u64,
    /// Searches that a hint answered.
    pub hash_searches: u64,
    /// Searches from the root, of trees of more than one page, while it was on.
    pub non_hash_searches: u64,
    /// Hints that were out of date.
    pub stale_hints: u64,
    /// Hints that were not followed because that would have meant waiting for the page.
    pub busy_pages: u64,
    /// Hints added.
    pub rows_added: u64,
    /// Hints removed, by newcomers or by switching off.
    pub rows_removed: u64,
    /// Hints that were given another place.
    pub rows_updated: u64,
    /// Hints not added because somebody else changed the same cell at that moment.
    pub rows_skipped: u64,
}

/// The adaptive hash index of an engine: hints where keys were last seen, for all trees.
pub struct AdaptiveHash {
    on: AtomicBool,
    bytes: usize,
    cells: OnceLock<Cells>,
    parts: Box<[PartCounters]>,
    lanes: [Lane; LANES],
    mistake: AtomicU8,
}

impl AdaptiveHash {
    /// Switched off and without cells, for a pool of that many frames.
    pub fn new(frames: usize, parts: usize) -> Arc<AdaptiveHash> {
        Arc::new(AdaptiveHash {
            on: AtomicBool::new(false),
            bytes: (frames * PAGE_SIZE / POOL_SHARE).max(BYTES_MIN),
            cells: OnceLock::new(),
            parts: (0..parts.clamp(1, PARTS_MAX)).map(|_| PartCounters::default()).collect(),
            lanes: Default::default(),
            mistake: AtomicU8::new(Mistake::None as u8),
        })
    }

    /// Switches it on or off. Off, it is not asked any more when this returns, and soon it is empty. Nobody
    /// waits, neither here nor elsewhere.
    pub fn set_enabled(self: &Arc<Self>, on: bool) {
        if self.on.swap(on, Ordering::SeqCst) == on {
            return;
        }
        let work = move |this: &AdaptiveHash| {
            if on {
                this.make_cells();
            } else {
                this.empty();
            }
        };
        let small = self.bytes <= INLINE_BYTES_MAX || (on && self.cells.get().is_some());
        if !small {
            let this = Arc::clone(self);
            let name = "adaptive-hash".to_owned();
            if std::thread::Builder::new().name(name).spawn(move || work(&this)).is_ok() {
                return;
            }
        }
        work(self);
    }

    fn make_cells(&self) -> &Cells {
        self.cells.get_or_init(|| Cells::new(self.bytes, self.parts.len()))
    }

    /// Empties the cells, unless it has been switched on again meanwhile.
    fn empty(&self) {
        let Some(cells) = self.cells.get() else { return };
        // Pairs with the fence in `learn`: a hint is seen here, or its learner sees that it is off.
        fence(Ordering::SeqCst);
        for (part, counters) in self.parts.iter().enumerate() {
            if self.on.load(Ordering::Relaxed) {
                return;
            }
            counters.removed.fetch_add(cells.clear(part), Ordering::Relaxed);
        }
    }

    /// Whether it is switched on.
    pub fn is_enabled(&self) -> bool {
        self.on.load(Ordering::Relaxed)
    }

    /// The cells to ask, while it is on.
    #[inline]
    pub(crate) fn asked(&self) -> Option<Asked<'_>> {
        if !self.on.load(Ordering::Relaxed) {
            return None;
        }
        self.cells.get().map(|cells| Asked { hash: self, cells })
    }

    /// Makes a deliberate mistake from now on.
    #[cfg(test)]
    pub(crate) fn make_mistake(&self, mistake: Mistake) {
        self.mistake.store(mistake as u8, Ordering::Relaxed);
    }

    /// Cells that are not empty, counted one by one.
    #[cfg(all(test, shuttle))]
    pub(crate) fn taken_cells(&self) -> usize {
        self.cells.get().map_or(0, Cells::taken)
    }

    /// Whether this mistake is to be made: never, but in tests.
    #[inline]
    pub(crate) fn makes(&self, mistake: Mistake) -> bool {
        cfg!(test) && self.mistake.load(Ordering::Relaxed) == mistake as u8
    }

    /// What it has done so far.
    pub fn counts(&self) -> AdaptiveHashCounts {
        let cells_per_part = self.cells.get().map_or(0, Cells::per_part);
        let of_lanes = |counter: fn(&Lane) -> &StdAtomicU64| {
            self.lanes.iter().map(|lane| counter(lane).load(Ordering::Relaxed)).sum()
        };
        let of_parts = |counter: fn(&PartCounters) -> &StdAtomicU64| {
            self.parts.iter().map(|part| counter(part).load(Ordering::Relaxed)).sum()
        };
        let entries = |part: &PartCounters| {
            // Removals first, so that one between the two looks does not make the difference negative.
            let removed = part.removed.load(Ordering::Relaxed);
            part.added.load(Ordering::Relaxed).saturating_sub(removed)
        };
        AdaptiveHashCounts {
            enabled: self.is_enabled(),
            parts: self
                .parts
                .iter()
                .map(|part| AdaptiveHashPart { cells: cells_per_part as u64, entries: entries(part) })
                .collect(),
            memory_bytes: (cells_per_part * self.parts.len() * size_of::<u64>()) as u64,
            hash_searches: of_lanes(|lane| &lane.hits),
            non_hash_searches: of_lanes(|lane| &lane.descents),
            stale_hints: of_lanes(|lane| &lane.stale),
            busy_pages: of_lanes(|lane| &lane.busy),
            rows_added: of_parts(|part| &part.added),
            rows_removed: of_parts(|part| &part.removed),
            rows_updated: of_parts(|part| &part.updated),
            rows_skipped: of_parts(|part| &part.skipped),
        }
    }
}

/// The adaptive hash index while it is on.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    hash: &'a AdaptiveHash,
    cells: &'a Cells,
}

impl<'a> Asked<'a> {
    /// What is known about a key.
    #[inline]
    pub fn find(self, hash: u64) -> Option<Found<'a>> {
        self.cells.find(hash)
    }

    /// Whether this deliberate mistake is to be made.
    #[inline]
    pub fn makes(self, mistake: Mistake) -> bool {
        self.hash.makes(mistake)
    }

    /// Remembers where a key was seen.
    pub fn learn(self, hash: u64, hint: Hint) {
        let (learned, put) = self.cells.learn(hash, hint);
        let counters = &self.hash.parts[self.cells.part_of(hash)];
        let (added, removed) = match learned {
            Learned::Known => return,
            Learned::Added => (1, 0),
            Learned::Replaced => (1, 1),
            Learned::Updated => {
                counters.updated.fetch_add(1, Ordering::Relaxed);
                (0, 0)
            }
            Learned::Skipped => {
                counters.skipped.fetch_add(1, Ordering::Relaxed);
                (0, 0)
            }
        };
        if added + removed > 0 {
            counters.added.fetch_add(added, Ordering::Relaxed);
            counters.removed.fetch_add(removed, Ordering::Relaxed);
        }
        let Some(put) = put else { return };
        // Pairs with the fence in `empty`.
        fence(Ordering::SeqCst);
        if !self.hash.on.load(Ordering::Relaxed)
            && !self.makes(Mistake::KeepLateHint)
            && self.cells.forget(put)
        {
            counters.removed.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[inline]
    fn lane(self) -> &'a Lane {
        &self.hash.lanes[lane()]
    }

    /// A hint answered a search.
    #[inline]
    pub fn count_hit(self) {
        self.lane().hits.fetch_add(1, Ordering::Relaxed);
    }

    /// A search went from the root.
    #[inline]
    pub fn count_descent(self) {
        self.lane().descents.fetch_add(1, Ordering::Relaxed);
    }

    /// A hint was out of date.
    #[cold]
    pub fn count_stale(self) {
        self.lane().stale.fetch_add(1, Ordering::Relaxed);
    }

    /// A hint was right, perhaps, but its page could not be latched at once.
    #[cold]
    pub fn count_busy(self) {
        self.lane().busy.fetch_add(1, Ordering::Relaxed);
    }
}

/// Multiplies to 128 bits and folds the halves: every bit of the operands reaches the middle of the product.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// The hash of a key of an index: folded multiplication, eight bytes at a time, after the idea of wyhash
/// (Wang Yi, 2019).
#[inline]
pub(crate) fn hash_of(index: IndexId, key: &[u8]) -> u64 {
    const A: u64 = 0xA076_1D64_78BD_642F;
    const B: u64 = 0xE703_7ED1_A0B4_28DB;
    let word = |bytes: &[u8]| u64::from_le_bytes(bytes.first_chunk().copied().unwrap_or_default());
    let mut hash = fold(u64::from(index.0) ^ A, key.len() as u64 ^ B);
    let mut rest = key;
    while rest.len() > 8 {
        hash = fold(hash ^ word(rest), B);
        rest = &rest[8..];
    }
    let tail = if rest.len() == 8 {
        word(rest)
    } else {
        rest.iter().fold(0, |tail, &byte| tail << 8 | u64::from(byte))
    };
    fold(fold(hash ^ tail, B), A)
}
