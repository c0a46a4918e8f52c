//! Changes to a slotted page, each expressed as a few byte writes and moves, so that redo is exactly those.
//! Who performs and logs them is the [`PageEdit`] behind it (a mini-transaction, or an array in a test).
//!
//! Every function that can lack room says so before its first change: [`PageFull`] means nothing happened.

use super::header::*;
use super::view::{PageView, RECORD_HEADER, SLOT_SIZE, record_size};
use crate::ids::{IndexId, PageNo};
use smallvec::SmallVec;
use std::ops::Range;

/// The two physical operations every page change is made of.
pub trait PageEdit {
    /// The page as it stands now.
    fn view(&self) -> &PageView;
    /// Overwrites bytes at `off`.
    fn write(&mut self, off: usize, bytes: &[u8]);
    /// Moves `len` bytes inside the page; the ranges may overlap.
    fn move_bytes(&mut self, src: usize, dst: usize, len: usize);
}

/// The page has no room, not even after a compaction. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageFull;

/// Sets the left sibling.
pub fn set_prev<E: PageEdit + ?Sized>(page: &mut E, prev: PageNo) {
    page.write(OFF_PREV, &prev.0.to_le_bytes());
}

/// Sets the right sibling, or the next page of a chain.
pub fn set_next<E: PageEdit + ?Sized>(page: &mut E, next: PageNo) {
    page.write(OFF_NEXT, &next.0.to_le_bytes());
}

/// Sets the height above the leaves.
pub fn set_level<E: PageEdit + ?Sized>(page: &mut E, level: u8) {
    page.write(OFF_LEVEL, &[level]);
}

/// Makes the page one of another kind and leaves the rest as it is.
pub fn set_kind<E: PageEdit + ?Sized>(page: &mut E, kind: PageKind) {
    page.write(OFF_KIND, &[kind as u8]);
}

/// Sets the index the page belongs to.
pub fn set_index_id<E: PageEdit + ?Sized>(page: &mut E, index: IndexId) {
    page.write(OFF_INDEX, &index.0.to_le_bytes());
}

/// Writes slot count, heap top and garbage, which lie side by side.
fn set_heap<E: PageEdit + ?Sized>(page: &mut E, slots: usize, heap_top: usize, garbage: usize) {
    let mut bytes = [0; 6];
    bytes[0..2].copy_from_slice(&short(slots).to_le_bytes());
    bytes[2..4].copy_from_slice(&short(heap_top).to_le_bytes());
    bytes[4..6].copy_from_slice(&short(garbage).to_le_bytes());
    write_changed(page, OFF_SLOT_COUNT, &bytes);
}

fn short(value: usize) -> u16 {
    u16::try_from(value).expect("positions and counts on a page are below 16384")
}

/// Writes only the stretch that differs from what is there.
fn write_changed<E: PageEdit + ?Sized>(page: &mut E, off: usize, bytes: &[u8]) {
    let old = &page.view().bytes()[off..off + bytes.len()];
    let Some(first) = old.iter().zip(bytes).position(|(a, b)| a != b) else { return };
    let last = old.iter().zip(bytes).rposition(|(a, b)| a != b).unwrap_or(first);
    page.write(off + first, &bytes[first..=last]);
}

fn encode_record(flags: u8, key: &[u8], value: &[u8]) -> SmallVec<[u8; 512]> {
    let mut out = SmallVec::with_capacity(record_size(key.len(), value.len()));
    out.push(flags);
    out.extend_from_slice(&short(key.len()).to_le_bytes());
    out.extend_from_slice(&short(value.len()).to_le_bytes());
    out.extend_from_slice(key);
    out.extend_from_slice(value);
    out
}

/// Inserts a record so that it becomes `slot`; the caller has searched, so order is kept.
pub fn insert<E: PageEdit + ?Sized>(
    page: &mut E,
    slot: usize,
    flags: u8,
    key: &[u8],
    value: &[u8],
) -> Result<(), PageFull> {
    if !page.view().fits(key.len(), value.len()) {
        return Err(PageFull);
    }
    let size = record_size(key.len(), value.len());
    if page.view().contiguous_free() < size + SLOT_SIZE {
        compact(page);
    }
    let (count, top, garbage) = heap(page);
    debug_assert!(slot <= count);
    page.write(top, &encode_record(flags, key, value));
    let tail = PAGE_SIZE - SLOT_SIZE * count;
    if slot < count {
        page.move_bytes(tail, tail - SLOT_SIZE, SLOT_SIZE * (count - slot));
    }
    page.write(PageView::slot_position(slot), &short(top).to_le_bytes());
    set_heap(page, count + 1, top + size, garbage);
    Ok(())
}

fn heap<E: PageEdit + ?Sized>(page: &E) -> (usize, usize, usize) {
    let view = page.view();
    (view.slot_count(), view.heap_top(), view.garbage())
}

/// Removes the record of `slot`; its bytes become garbage.
pub fn remove<E: PageEdit + ?Sized>(page: &mut E, slot: usize) {
    let (count, mut top, mut garbage) = heap(page);
    let (off, len) = (page.view().record_offset(slot), page.view().record_len(slot));
    let tail = PAGE_SIZE - SLOT_SIZE * count;
    if slot + 1 < count {
        page.move_bytes(tail, tail + SLOT_SIZE, SLOT_SIZE * (count - slot - 1));
    }
    if count == 1 {
        (top, garbage) = (HEADER_SIZE, 0);
    } else if off + len == top {
        top = off;
    } else {
        garbage += len;
    }
    set_heap(page, count - 1, top, garbage);
}

/// Sets the flags of `slot`.
pub fn set_flags<E: PageEdit + ?Sized>(page: &mut E, slot: usize, flags: u8) {
    let off = page.view().record_offset(slot);
    write_changed(page, off, &[flags]);
}

/// Gives `slot` a new value. A value of the old length costs one write of the bytes that differ; a shorter
/// one leaves garbage; a longer one moves the record, compacting the page if it must.
pub fn replace_value<E: PageEdit + ?Sized>(page: &mut E, slot: usize, value: &[u8]) -> Result<(), PageFull> {
    let old_len = page.view().value(slot).len();
    let value_off = page.view().value_offset(slot);
    if value.len() == old_len {
        write_changed(page, value_off, value);
        return Ok(());
    }
    if !page.view().fits_value(slot, value.len()) {
        return Err(PageFull);
    }
    let off = page.view().record_offset(slot);
    let (count, top, garbage) = heap(page);
    let last = value_off + old_len == top;
    let grows = value.len().saturating_sub(old_len);
    if value.len() < old_len || (last && grows <= page.view().contiguous_free()) {
        page.write(off + 3, &short(value.len()).to_le_bytes());
        page.write(value_off, value);
        if last {
            set_heap(page, count, value_off + value.len(), garbage);
        } else {
            set_heap(page, count, top, garbage + old_len - value.len());
        }
        return Ok(());
    }
    let record = page.view().record(slot);
    let bytes = encode_record(record.flags, record.key, value);
    if page.view().contiguous_free() >= bytes.len() {
        let old_size = page.view().record_len(slot);
        page.write(top, &bytes);
        page.write(PageView::slot_position(slot), &short(top).to_le_bytes());
        set_heap(page, count, top + bytes.len(), garbage + old_size);
        return Ok(());
    }
    let (flags, key) = (record.flags, SmallVec::<[u8; 256]>::from_slice(record.key));
    remove(page, slot);
    insert(page, slot, flags, &key, value)
}

/// Closes the gaps in the heap. Logged as moves of whole runs of records plus the new slot array, which is
/// far smaller than the page.
pub fn compact<E: PageEdit + ?Sized>(page: &mut E) {
    let (count, _, _) = heap(page);
    let mut order: Vec<(usize, usize, usize)> = (0..count)
        .map(|slot| (page.view().record_offset(slot), page.view().record_len(slot), slot))
        .collect();
    order.sort_unstable();
    let mut slots = vec![0u8; SLOT_SIZE * count];
    let mut top = HEADER_SIZE;
    let mut next = 0;
    while next < order.len() {
        let start = order[next].0;
        let mut end = start;
        while next < order.len() && order[next].0 == end {
            let (off, len, slot) = order[next];
            let position = SLOT_SIZE * (count - slot - 1);
            slots[position..position + 2].copy_from_slice(&short(top + off - start).to_le_bytes());
            end += len;
            next += 1;
        }
        if start != top {
            page.move_bytes(start, top, end - start);
        }
        top += end - start;
    }
    write_changed(page, PAGE_SIZE - SLOT_SIZE * count, &slots);
    set_heap(page, count, top, 0);
}

/// Appends copies of the records `range` of `source` behind the last record of the page: the helper of split
/// and merge. The keys must be above those already there. One write of record bytes, one of slots.
pub fn append_records<E: PageEdit + ?Sized>(
    page: &mut E,
    source: &PageView,
    range: Range<usize>,
) -> Result<(), PageFull> {
    let bytes: usize = range.clone().map(|slot| source.record_len(slot)).sum();
    if bytes + SLOT_SIZE * range.len() > page.view().total_free() {
        return Err(PageFull);
    }
    if range.is_empty() {
        return Ok(());
    }
    if bytes + SLOT_SIZE * range.len() > page.view().contiguous_free() {
        compact(page);
    }
    let (count, mut top, garbage) = heap(page);
    let start = top;
    let mut heap_bytes = Vec::with_capacity(bytes);
    let mut slots = vec![0u8; SLOT_SIZE * range.len()];
    for (nth, slot) in range.clone().enumerate() {
        let (off, len) = (source.record_offset(slot), source.record_len(slot));
        heap_bytes.extend_from_slice(&source.bytes()[off..off + len]);
        let position = SLOT_SIZE * (range.len() - nth - 1);
        slots[position..position + 2].copy_from_slice(&short(top).to_le_bytes());
        top += len;
    }
    page.write(start, &heap_bytes);
    page.write(PAGE_SIZE - SLOT_SIZE * (count + range.len()), &slots);
    set_heap(page, count + range.len(), top, garbage);
    Ok(())
}

/// A record to be appended: its key, and its value in two parts.
pub type NewRecord<'r> = (&'r [u8], [&'r [u8]; 2]);

/// Appends new records behind the last one. The keys ascend and are above those already there, and
/// `contiguous_free` has room for [`record_size`] and [`SLOT_SIZE`] of each. One write of record bytes, one
/// of slots, however many they are.
pub fn append<'r, E: PageEdit + ?Sized>(page: &mut E, records: impl Iterator<Item = NewRecord<'r>>) {
    let (count, start, garbage) = heap(page);
    let mut bytes = Vec::with_capacity(page.view().contiguous_free());
    let mut offsets: SmallVec<[u16; 256]> = SmallVec::new();
    for (key, [head, tail]) in records {
        offsets.push(short(start + bytes.len()));
        bytes.push(0);
        bytes.extend_from_slice(&short(key.len()).to_le_bytes());
        bytes.extend_from_slice(&short(head.len() + tail.len()).to_le_bytes());
        bytes.extend_from_slice(key);
        bytes.extend_from_slice(head);
        bytes.extend_from_slice(tail);
    }
    let slots: SmallVec<[u8; 512]> = offsets.iter().rev().flat_map(|offset| offset.to_le_bytes()).collect();
    debug_assert!(bytes.len() + slots.len() <= page.view().contiguous_free());
    page.write(start, &bytes);
    page.write(PAGE_SIZE - SLOT_SIZE * (count + offsets.len()), &slots);
    set_heap(page, count + offsets.len(), start + bytes.len(), garbage);
}

/// Drops every record from `first` on: what a split leaves on the left page.
pub fn truncate<E: PageEdit + ?Sized>(page: &mut E, first: usize) {
    let (count, top, garbage) = heap(page);
    if first == 0 {
        set_heap(page, 0, HEADER_SIZE, 0);
        return;
    }
    let dropped: usize = (first..count).map(|slot| page.view().record_len(slot)).sum();
    set_heap(page, first.min(count), top, garbage + dropped);
}

/// The header of a fresh page, as `Init` redo leaves it: everything zero but number, kind and heap top.
pub fn init_bytes(bytes: &mut [u8; PAGE_SIZE], page_no: PageNo, kind: PageKind) {
    bytes.fill(0);
    bytes[OFF_PAGE_NO..OFF_PAGE_NO + 4].copy_from_slice(&page_no.0.to_le_bytes());
    bytes[OFF_KIND] = kind as u8;
    let top = OFF_SLOT_COUNT + 2;
    bytes[top..top + 2].copy_from_slice(&short(HEADER_SIZE).to_le_bytes());
}

/// Stamps the page LSN into an image.
pub fn set_lsn(bytes: &mut [u8; PAGE_SIZE], lsn: crate::ids::Lsn) {
    bytes[OFF_LSN..OFF_LSN + 8].copy_from_slice(&lsn.0.to_le_bytes());
}

const _: () = assert!(PAGE_SIZE <= u16::MAX as usize && HEADER_SIZE + RECORD_HEADER < PAGE_SIZE);
