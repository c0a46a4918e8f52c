//! [`PageView`]: 16 KiB seen as a page. Reading only: header fields, and for slotted pages the records.
//!
//! ```text
//!  0        40                    heap_top                          16384
//!  | header | record record record | free ................ | s2 s1 s0 |
//!                                                            slot array, sorted by key, growing down
//!  record: | flags u8 | key_len u16 | value_len u16 | key | value |
//! ```
//!
//! A view does not check on each access that offsets are sane: [`PageView::check`] does it once, when the
//! page is read from disk, and every change afterwards goes through `page::edit`, which keeps it true.

use super::header::*;
use crate::ids::{IndexId, Lsn, PageNo};

/// Bytes in front of the key of every record: flags and the two lengths.
pub const RECORD_HEADER: usize = 5;
/// Bytes of one entry of the slot array.
pub const SLOT_SIZE: usize = 2;
/// Record flag: the row is deleted and waits for purge.
pub const DELETE_MARK: u8 = 1;

/// One page, as bytes. Obtained from a latch guard, or from a page image by [`PageView::from_bytes`].
#[repr(transparent)]
pub struct PageView {
    bytes: [u8; PAGE_SIZE],
}

/// One record of a slotted page, borrowed from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'p> {
    /// Flag bits; bit 0 is [`DELETE_MARK`].
    pub flags: u8,
    /// The key, in memcmp order.
    pub key: &'p [u8],
    /// The value.
    pub value: &'p [u8],
}

/// Bytes a record takes in the heap, without its slot.
pub fn record_size(key_len: usize, value_len: usize) -> usize {
    RECORD_HEADER + key_len + value_len
}

/// The first eight bytes as a number that compares as they do; a shorter key counts as followed by zeros, so
/// equal numbers decide nothing.
#[inline]
fn prefix_of(key: &[u8]) -> u64 {
    match key.first_chunk::<8>() {
        Some(bytes) => u64::from_be_bytes(*bytes),
        None => {
            key.iter().fold(0, |prefix, byte| prefix << 8 | u64::from(*byte)) << (8 * (8 - key.len())).min(63)
        }
    }
}

impl PageView {
    /// Sees a page image as a page.
    #[expect(unsafe_code, reason = "a reference to the bytes becomes a reference to the transparent wrapper")]
    pub fn from_bytes(bytes: &[u8; PAGE_SIZE]) -> &PageView {
        // SAFETY: `PageView` is `repr(transparent)` over `[u8; PAGE_SIZE]`: same size, alignment and
        // validity.
        unsafe { &*std::ptr::from_ref(bytes).cast::<PageView>() }
    }

    /// The whole page, header included.
    #[inline]
    pub fn bytes(&self) -> &[u8; PAGE_SIZE] {
        &self.bytes
    }

    #[inline]
    fn u16_at(&self, off: usize) -> usize {
        usize::from(u16::from_le_bytes([self.bytes[off], self.bytes[off + 1]]))
    }

    /// A little-endian `u32` anywhere on the page, for rooms with a layout of their own.
    #[inline]
    pub fn u32_at(&self, off: usize) -> u32 {
        let b = &self.bytes[off..off + 4];
        u32::from_le_bytes([b[0], b[1], b[2], b[3]])
    }

    /// A little-endian `u64` anywhere on the page, for rooms with a layout of their own.
    #[inline]
    pub fn u64_at(&self, off: usize) -> u64 {
        let b = &self.bytes[off..off + 8];
        u64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]])
    }

    /// The page's own number, as stored in it.
    #[inline]
    pub fn page_no(&self) -> PageNo {
        PageNo(self.u32_at(OFF_PAGE_NO))
    }

    /// End of the last redo group that changed this page.
    #[inline]
    pub fn lsn(&self) -> Lsn {
        Lsn(self.u64_at(OFF_LSN))
    }

    /// What the page is for; `None` for a byte this version does not know.
    #[inline]
    pub fn kind(&self) -> Option<PageKind> {
        PageKind::from_byte(self.bytes[OFF_KIND])
    }

    /// Height above the leaves; leaves have level 0.
    #[inline]
    pub fn level(&self) -> u8 {
        self.bytes[OFF_LEVEL]
    }

    /// Number of records.
    #[inline]
    pub fn slot_count(&self) -> usize {
        self.u16_at(OFF_SLOT_COUNT)
    }

    /// First byte behind the record heap.
    #[inline]
    pub fn heap_top(&self) -> usize {
        self.u16_at(OFF_SLOT_COUNT + 2)
    }

    /// Bytes of the heap that belong to no record.
    #[inline]
    pub fn garbage(&self) -> usize {
        self.u16_at(OFF_SLOT_COUNT + 4)
    }

    /// Left sibling; page 0 means none.
    #[inline]
    pub fn prev(&self) -> PageNo {
        PageNo(self.u32_at(OFF_PREV))
    }

    /// Right sibling, or next page of a chain; page 0 means none.
    #[inline]
    pub fn next(&self) -> PageNo {
        PageNo(self.u32_at(OFF_NEXT))
    }

    /// The index this page belongs to.
    #[inline]
    pub fn index_id(&self) -> IndexId {
        IndexId(self.u32_at(OFF_INDEX))
    }

    /// Where in the page the entry of `slot` lies.
    #[inline]
    pub(crate) fn slot_position(slot: usize) -> usize {
        PAGE_SIZE - SLOT_SIZE * (slot + 1)
    }

    /// Where in the page the record of `slot` begins.
    #[inline]
    pub fn record_offset(&self, slot: usize) -> usize {
        debug_assert!(slot < self.slot_count());
        self.u16_at(Self::slot_position(slot))
    }

    /// The record of `slot`.
    #[inline]
    pub fn record(&self, slot: usize) -> Record<'_> {
        let off = self.record_offset(slot);
        let key_len = self.u16_at(off + 1);
        let value_len = self.u16_at(off + 3);
        let body = &self.bytes[off + RECORD_HEADER..off + RECORD_HEADER + key_len + value_len];
        let (key, value) = body.split_at(key_len);
        Record { flags: self.bytes[off], key, value }
    }

    /// The key of `slot`.
    #[inline]
    pub fn key(&self, slot: usize) -> &[u8] {
        let off = self.record_offset(slot);
        &self.bytes[off + RECORD_HEADER..off + RECORD_HEADER + self.u16_at(off + 1)]
    }

    /// The value of `slot`.
    #[inline]
    pub fn value(&self, slot: usize) -> &[u8] {
        self.record(slot).value
    }

    /// Where in the page the value of `slot` begins.
    #[inline]
    pub fn value_offset(&self, slot: usize) -> usize {
        let off = self.record_offset(slot);
        off + RECORD_HEADER + self.u16_at(off + 1)
    }

    /// The flags of `slot`.
    #[inline]
    pub fn flags(&self, slot: usize) -> u8 {
        self.bytes[self.record_offset(slot)]
    }

    /// Bytes the record of `slot` takes in the heap.
    #[inline]
    pub fn record_len(&self, slot: usize) -> usize {
        let off = self.record_offset(slot);
        record_size(self.u16_at(off + 1), self.u16_at(off + 3))
    }

    /// Binary search: `Ok(slot)` of the key, or `Err(slot)` where it would be inserted.
    pub fn search(&self, key: &[u8]) -> Result<usize, usize> {
        // Most comparisons are decided by the first eight bytes, as one number.
        let prefix = prefix_of(key);
        let (mut low, mut high) = (0, self.slot_count());
        while low < high {
            let middle = (low + high) / 2;
            let candidate = self.key(middle);
            match prefix_of(candidate).cmp(&prefix).then_with(|| candidate.cmp(key)) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Ok(middle),
            }
        }
        Err(low)
    }

    /// Bytes between the heap and the slot array.
    #[inline]
    pub fn contiguous_free(&self) -> usize {
        (PAGE_SIZE - SLOT_SIZE * self.slot_count()).saturating_sub(self.heap_top())
    }

    /// Bytes that a compaction would make available, the contiguous ones included.
    #[inline]
    pub fn total_free(&self) -> usize {
        self.contiguous_free() + self.garbage()
    }

    /// Bytes used by records and their slots.
    pub fn used(&self) -> usize {
        PAGE_SIZE - HEADER_SIZE - self.total_free()
    }

    /// Whether `edit::insert` of such a record would succeed, after a compaction if need be.
    pub fn fits(&self, key_len: usize, value_len: usize) -> bool {
        record_size(key_len, value_len) + SLOT_SIZE <= self.total_free()
    }

    /// Whether `edit::replace_value` with a value of this length would succeed.
    pub fn fits_value(&self, slot: usize, value_len: usize) -> bool {
        record_size(self.key(slot).len(), value_len) <= self.total_free() + self.record_len(slot)
    }

    /// Checks that every offset and length stays inside the page, that the heap's bytes add up, and that keys
    /// ascend strictly. Pages that are not slotted pass. The error is the sentence for the log.
    pub fn check(&self) -> Result<(), &'static str> {
        let Some(kind) = self.kind() else { return Err("unknown page kind") };
        if !kind.is_slotted() {
            return Ok(());
        }
        let (count, top) = (self.slot_count(), self.heap_top());
        if count > (PAGE_SIZE - HEADER_SIZE) / SLOT_SIZE || top < HEADER_SIZE {
            return Err("slot count or heap top out of range");
        }
        if top > PAGE_SIZE - SLOT_SIZE * count {
            return Err("heap and slot array overlap");
        }
        let mut live = 0;
        for slot in 0..count {
            let off = self.u16_at(Self::slot_position(slot));
            if off < HEADER_SIZE || off + RECORD_HEADER > top {
                return Err("slot points outside the heap");
            }
            let size = record_size(self.u16_at(off + 1), self.u16_at(off + 3));
            if off + size > top {
                return Err("record reaches outside the heap");
            }
            live += size;
            if slot > 0 && self.key(slot - 1) >= self.key(slot) {
                return Err("keys are not in order");
            }
        }
        if live + self.garbage() != top - HEADER_SIZE {
            return Err("heap bytes do not add up");
        }
        Ok(())
    }
}

impl std::fmt::Debug for PageView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "PageView {{ no: {:?}, lsn: {:?}, kind: {:?}, level: {}, slots: {}, heap_top: {}, garbage: {} }}",
            self.page_no(),
            self.lsn(),
            self.kind(),
            self.level(),
            self.slot_count(),
            self.heap_top(),
            self.garbage()
        )
    }
}
