//! The 40 bytes every page begins with, and the numbers that fix the shape of a page.
//!
//! ```text
//!  0        4        8               16 17 18    20    22    24       28       32       36       40
//!  | crc32c | page   | page_lsn      |k |l |slots|heap |garb | prev   | next   | index  | unused |
//! ```
//!
//! All numbers are little endian. `docs/format.md` is the reference.

/// Bytes in a page, on disk and in memory.
pub const PAGE_SIZE: usize = 16 * 1024;
/// Bytes of the header; the body of a page begins here.
pub const HEADER_SIZE: usize = 40;

pub(crate) const OFF_CHECKSUM: usize = 0;
pub(crate) const OFF_PAGE_NO: usize = 4;
pub(crate) const OFF_LSN: usize = 8;
pub(crate) const OFF_KIND: usize = 16;
pub(crate) const OFF_LEVEL: usize = 17;
pub(crate) const OFF_SLOT_COUNT: usize = 18;
pub(crate) const OFF_PREV: usize = 24;
pub(crate) const OFF_NEXT: usize = 28;
pub(crate) const OFF_INDEX: usize = 32;

/// What a page is for. The number is the byte on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum PageKind {
    /// Holds nothing: a page of zeros, allocated and never initialised; or a leaf that was freed with records
    /// still on it.
    Empty = 0,
    /// Page 0 of the data file: magic number and format version.
    Meta = 1,
    /// Allocation bitmap.
    Bitmap = 2,
    /// Leaf of a B+tree.
    TreeLeaf = 3,
    /// Inner node of a B+tree.
    TreeInner = 4,
    /// One link in the chain of a long value.
    Overflow = 5,
    /// Undo records.
    Undo = 6,
    /// The list of undo lanes.
    UndoDirectory = 7,
    /// The list of indexes and their roots.
    IndexDirectory = 8,
    /// Durable counters.
    Counters = 9,
}

impl PageKind {
    /// The kind a byte stands for, or `None` when no format version knows it.
    pub fn from_byte(byte: u8) -> Option<Self> {
        Some(match byte {
            0 => Self::Empty,
            1 => Self::Meta,
            2 => Self::Bitmap,
            3 => Self::TreeLeaf,
            4 => Self::TreeInner,
            5 => Self::Overflow,
            6 => Self::Undo,
            7 => Self::UndoDirectory,
            8 => Self::IndexDirectory,
            9 => Self::Counters,
            _ => return None,
        })
    }

    /// Whether pages of this kind hold records under a slot array.
    pub fn is_slotted(self) -> bool {
        matches!(self, Self::TreeLeaf | Self::TreeInner | Self::IndexDirectory)
    }
}
