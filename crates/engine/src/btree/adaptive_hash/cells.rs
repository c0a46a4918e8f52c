//! The cells: one 64-bit word per hint, eight to a cache line, changed by compare-and-swap only.
//!
//! ```text
//!   hash of (index, key):  | tag 24 | ............ | line 32 |
//!   cell:                  | tag 24 | taken 1 | used 1 | frame 26 | slot 12 |          0 = empty
//! ```
//!
//! `used` is set by a hit and cleared by a newcomer that looks for a place: a hint that nobody used since the
//! last look goes first (CLOCK, one hand per line, which starts where the newcomer's hash says). A word is a
//! whole hint, so there is nothing to tear.

use turnstile_sys::sync::atomic::{AtomicU64, Ordering};

/// Cells of one cache line.
const WAYS: usize = 8;
/// Bytes of one line.
const LINE_BYTES: usize = 64;

const SLOT_BITS: u32 = 12;
const FRAME_BITS: u32 = 26;
const USED: u64 = 1 << (SLOT_BITS + FRAME_BITS);
/// What must agree for a cell to speak of a key: tag and `taken`.
const NAME_SHIFT: u32 = SLOT_BITS + FRAME_BITS + 1;
const PLACE: u64 = USED - 1;

const _: () = assert!(NAME_SHIFT + 1 + 24 == u64::BITS);

/// Where a key was seen: a frame of the pool and a slot of its page. To be verified, never to be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hint {
    /// Frame of the pool.
    pub frame: u32,
    /// Slot of the page.
    pub slot: usize,
}

impl Hint {
    /// The hint as bits; `None` if the pool is so large or the page so full that it cannot be told in a cell.
    fn pack(self) -> Option<u64> {
        let fits = self.frame < 1 << FRAME_BITS && self.slot < 1 << SLOT_BITS;
        fits.then_some(u64::from(self.frame) << SLOT_BITS | self.slot as u64)
    }

    fn unpack(cell: u64) -> Hint {
        let place = cell & PLACE;
        Hint { frame: (place >> SLOT_BITS) as u32, slot: (place & ((1 << SLOT_BITS) - 1)) as usize }
    }
}

/// A cell that speaks of a key, as it was read.
#[derive(Clone, Copy)]
pub(crate) struct Found<'c> {
    cell: &'c AtomicU64,
    read: u64,
}

impl Found<'_> {
    /// What it says.
    #[inline]
    pub fn hint(&self) -> Hint {
        Hint::unpack(self.read)
    }

    /// Notes that the hint was right. Writes only if no hit has done so since a newcomer came by.
    #[inline]
    pub fn note_use(&self) {
        if self.read & USED == 0 {
            // Refused if the cell has changed meanwhile: then there is nothing to note.
            let _ =
                self.cell.compare_exchange(self.read, self.read | USED, Ordering::Relaxed, Ordering::Relaxed);
        }
    }
}

/// What became of a hint that was to be remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Learned {
    /// It has a cell that was empty.
    Added,
    /// It has the cell of another key.
    Replaced,
    /// The key's cell says something else than before.
    Updated,
    /// The key's cell says so already.
    Known,
    /// Somebody else changed the cell at the same moment, or the hint does not fit a cell.
    Skipped,
}

#[repr(align(64))]
struct Line([AtomicU64; WAYS]);

impl Line {
    fn new() -> Line {
        Line(std::array::from_fn(|_| AtomicU64::new(0)))
    }
}

/// All cells, in lines; a part is a run of lines.
pub(crate) struct Cells {
    lines: Box<[Line]>,
    lines_per_part: usize,
}

/// Exchanges a cell's word if it is still the one that was read.
fn exchange(cell: &AtomicU64, read: u64, new: u64) -> bool {
    cell.compare_exchange(read, new, Ordering::Relaxed, Ordering::Relaxed).is_ok()
}

impl Cells {
    /// Empty cells: `bytes` of them, rounded up to a line per part.
    pub fn new(bytes: usize, parts: usize) -> Cells {
        let lines_per_part = (bytes / LINE_BYTES).div_ceil(parts).max(1);
        Cells { lines: (0..lines_per_part * parts).map(|_| Line::new()).collect(), lines_per_part }
    }

    /// Number of cells of each part.
    pub fn per_part(&self) -> usize {
        self.lines_per_part * WAYS
    }

    /// The part that has the cells for this hash.
    pub fn part_of(&self, hash: u64) -> usize {
        self.line_no(hash) / self.lines_per_part
    }

    #[inline]
    fn line_no(&self, hash: u64) -> usize {
        ((u64::from(hash as u32) * self.lines.len() as u64) >> 32) as usize
    }

    #[inline]
    fn line(&self, hash: u64) -> &Line {
        &self.lines[self.line_no(hash)]
    }

    /// Tag and `taken` of a cell that speaks of this hash; not 0.
    #[inline]
    fn name_of(hash: u64) -> u64 {
        hash >> 40 << 1 | 1
    }

    /// The cell that speaks of this hash, if there is one.
    #[inline]
    pub fn find(&self, hash: u64) -> Option<Found<'_>> {
        let name = Self::name_of(hash);
        self.line(hash).0.iter().find_map(|cell| {
            let read = cell.load(Ordering::Relaxed);
            (read >> NAME_SHIFT == name).then_some(Found { cell, read })
        })
    }

    /// Remembers a hint for this hash. The second value is the cell and the word put into it, to be taken
    /// back by [`Cells::forget`].
    pub fn learn(&self, hash: u64, hint: Hint) -> (Learned, Option<Found<'_>>) {
        let Some(place) = hint.pack() else { return (Learned::Skipped, None) };
        let name = Self::name_of(hash) << NAME_SHIFT;
        let put = |cell, read: u64, new: u64, outcome| {
            if exchange(cell, read, new) {
                (outcome, Some(Found { cell, read: new }))
            } else {
                (Learned::Skipped, None)
            }
        };
        if let Some(Found { cell, read }) = self.find(hash) {
            if read & PLACE == place {
                return (Learned::Known, None);
            }
            return put(cell, read, read & !PLACE | place, Learned::Updated);
        }
        let line = &self.line(hash).0;
        if let Some(cell) = line.iter().find(|cell| cell.load(Ordering::Relaxed) == 0) {
            return put(cell, 0, name | place, Learned::Added);
        }
        let start = (hash >> 32) as usize % WAYS;
        // Two rounds: the first may only clear marks.
        for way in start..start + 2 * WAYS {
            let cell = &line[way % WAYS];
            let read = cell.load(Ordering::Relaxed);
            if read & USED == 0 {
                let outcome = if read == 0 { Learned::Added } else { Learned::Replaced };
                return put(cell, read, name | place, outcome);
            }
            exchange(cell, read, read & !USED);
        }
        (Learned::Skipped, None)
    }

    /// Takes back what `learn` has just put there, unless it has been changed since. Whether the cell is
    /// empty now by our doing.
    pub fn forget(&self, put: Found<'_>) -> bool {
        let mut read = put.read;
        loop {
            match put.cell.compare_exchange(read, 0, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return true,
                // A hit has marked it in the meantime: it is still ours.
                Err(now) if now & !USED == put.read & !USED => read = now,
                Err(_) => return false,
            }
        }
    }

    /// Cells that are not empty, counted one by one.
    #[cfg(all(test, shuttle))]
    pub fn taken(&self) -> usize {
        let cells = self.lines.iter().flat_map(|line| line.0.iter());
        cells.filter(|cell| cell.load(Ordering::Relaxed) != 0).count()
    }

    /// Empties the cells of a part; answers how many were not empty.
    pub fn clear(&self, part: usize) -> u64 {
        let lines = &self.lines[part * self.lines_per_part..(part + 1) * self.lines_per_part];
        let cells = lines.iter().flat_map(|line| line.0.iter());
        cells.filter(|cell| cell.load(Ordering::Relaxed) != 0 && cell.swap(0, Ordering::Relaxed) != 0).count()
            as u64
    }
}
