//! The double-write file: every page goes there, synced, before it goes to its place, so that a page torn by
//! a power cut in the middle of its write can be put right.
//!
//! ```text
//!  page 0: | magic u64 | batch u64 | count u32 | crc32c u32 | (page_no u32, page crc32c u32) * count |
//!  page 1..=count: the images
//! ```
//!
//! A batch is: images and header written here, sync, images written in place, sync. The next batch begins
//! only after the second sync, so at a power cut only the batch the header names can be torn in place. Cases:
//!
//! | power cut during | header and images here | in place | restored |
//! |---|---|---|---|
//! | first write or sync | header damaged, or it does not match some image | untouched | nothing |
//! | second write or sync | whole | old, new or torn | pages that are not whole in place |
//! | later | whole | new | nothing |
//!
//! A process that is killed, or whose sync has failed, leaves one more thing: what the next one reads, here
//! and in place, may be in the operating system's cache only. A page that looks whole in place may still be
//! torn by a power cut, once the next batch is written over its copy. So [`DoubleWrite::restore`] believes
//! nothing it reads: it writes the batch again and syncs it, here first and then, page by page, in place,
//! before anything else writes. That is the same batch as before, so the table holds for a power cut during
//! it, and a second kill repeats it. If the batch here is not whole, its pages were not touched in place, and
//! those of the batch before were synced there.

use super::flush::BATCH_PAGES;
use super::pool::page_offset;
use super::storage::opening;
use crate::error::{Error, Result};
use crate::ids::{Lsn, PageNo};
use crate::page::{PAGE_SIZE, PageView, checksum};
use std::sync::Arc;
use turnstile_sys::checksum::crc32c;
use turnstile_sys::disk::{Disk, DiskFile};

/// Name of the double-write file.
pub const DOUBLE_WRITE_FILE: &str = "dblwr.ts";
const MAGIC: u64 = u64::from_le_bytes(*b"TSDBLWR1");
const OFF_BATCH: usize = 8;
const OFF_COUNT: usize = 16;
const OFF_CRC: usize = 20;
const OFF_ENTRIES: usize = 24;
const ENTRY: usize = 8;
const FILE_BYTES: usize = (BATCH_PAGES + 1) * PAGE_SIZE;

const _: () = assert!(OFF_ENTRIES + BATCH_PAGES * ENTRY <= PAGE_SIZE);

/// What [`DoubleWrite::restore`] has found.
#[derive(Default)]
pub(crate) struct Restored {
    /// Pages that were not whole in place.
    pub(crate) pages: Vec<PageNo>,
    /// The newest change to any page of the batch.
    pub(crate) newest: Lsn,
}

/// The file and the one batch being put together in memory.
pub(crate) struct DoubleWrite {
    file: Arc<dyn DiskFile>,
    buffer: Box<[u8]>,
    batch: u64,
    pages: Vec<PageNo>,
}

impl DoubleWrite {
    /// Opens the file, creating and reserving it if need be.
    pub(crate) fn open(disk: &dyn Disk) -> Result<Self> {
        let file = disk.open(DOUBLE_WRITE_FILE, true).map_err(opening)?;
        if file.len().map_err(opening)? < FILE_BYTES as u64 {
            file.allocate(FILE_BYTES as u64)?;
            file.sync().map_err(opening)?;
            disk.sync_dir().map_err(opening)?;
        }
        let buffer = vec![0; FILE_BYTES].into_boxed_slice();
        Ok(DoubleWrite { file, buffer, batch: 0, pages: Vec::with_capacity(BATCH_PAGES) })
    }

    /// Adds a page image to the batch.
    pub(crate) fn stage(&mut self, page_no: PageNo, bytes: &[u8; PAGE_SIZE]) {
        debug_assert!(self.pages.len() < BATCH_PAGES);
        self.pages.push(page_no);
        self.image_mut(self.pages.len()).copy_from_slice(bytes);
    }

    fn image_mut(&mut self, place: usize) -> &mut [u8; PAGE_SIZE] {
        (&mut self.buffer[place * PAGE_SIZE..(place + 1) * PAGE_SIZE])
            .try_into()
            .expect("the slice is one page long")
    }

    /// Makes the staged batch durable here, then in the data file. Pages were staged in ascending order, so
    /// neighbours go out in one write.
    pub(crate) fn write(&mut self, data: &dyn DiskFile) -> std::io::Result<()> {
        let count = self.pages.len();
        self.seal();
        self.file.write_at(&self.buffer[..(count + 1) * PAGE_SIZE], 0)?;
        self.file.sync()?;
        let mut first = 0;
        while first < count {
            let mut end = first + 1;
            while end < count && self.pages[end].0 == self.pages[end - 1].0 + 1 {
                end += 1;
            }
            let bytes = &self.buffer[(first + 1) * PAGE_SIZE..(end + 1) * PAGE_SIZE];
            data.write_at(bytes, page_offset(self.pages[first]))?;
            first = end;
        }
        data.sync()?;
        self.pages.clear();
        Ok(())
    }

    fn seal(&mut self) {
        let count = self.pages.len();
        self.batch += 1;
        self.buffer[..PAGE_SIZE].fill(0);
        self.buffer[..8].copy_from_slice(&MAGIC.to_le_bytes());
        self.buffer[OFF_BATCH..OFF_BATCH + 8].copy_from_slice(&self.batch.to_le_bytes());
        self.buffer[OFF_COUNT..OFF_COUNT + 4].copy_from_slice(&(count as u32).to_le_bytes());
        for place in 1..=count {
            let image = self.image_mut(place);
            checksum::seal(image);
            let crc = checksum::compute(image);
            let entry = OFF_ENTRIES + (place - 1) * ENTRY;
            let page_no = self.pages[place - 1].0;
            self.buffer[entry..entry + 4].copy_from_slice(&page_no.to_le_bytes());
            self.buffer[entry + 4..entry + 8].copy_from_slice(&crc.to_le_bytes());
        }
        let crc = crc32c(&self.buffer[..OFF_ENTRIES + count * ENTRY]);
        self.buffer[OFF_CRC..OFF_CRC + 4].copy_from_slice(&crc.to_le_bytes());
    }

    /// Puts right every page of the last batch that is torn in place, and makes all of the batch durable, see
    /// the top. Run before anything else reads the data file or writes to it.
    pub(crate) fn restore(&mut self, data: &dyn DiskFile) -> Result<Restored> {
        let failed = |error: std::io::Error| Error::Stopped(format!("restoring torn pages: {error}"));
        self.file.read_at(&mut self.buffer, 0).map_err(failed)?;
        let entries = self.whole_batch();
        let mut restored = Restored::default();
        if !entries.is_empty() {
            self.file.write_at(&self.buffer[..(entries.len() + 1) * PAGE_SIZE], 0).map_err(failed)?;
            self.file.sync().map_err(failed)?;
        }
        let data_bytes = data.len().map_err(failed)?;
        let mut in_place = Box::new([0; PAGE_SIZE]);
        for (place, &page_no) in entries.iter().enumerate() {
            let offset = page_offset(page_no);
            let whole = offset + PAGE_SIZE as u64 <= data_bytes
                && data.read_at(&mut in_place[..], offset).is_ok()
                && checksum::matches(&in_place)
                && PageView::from_bytes(&in_place).page_no() == page_no;
            let copy = self.image_mut(place + 1);
            let lsn_of = |image: &[u8; PAGE_SIZE]| PageView::from_bytes(image).lsn();
            // The batch is the last there was, so what is in place cannot be newer. If it were, it would have
            // to stay.
            let newest: &[u8; PAGE_SIZE] =
                if whole && lsn_of(&in_place) > lsn_of(copy) { &in_place } else { copy };
            restored.newest = restored.newest.max(lsn_of(newest));
            data.write_at(newest, offset).map_err(failed)?;
            if !whole {
                restored.pages.push(page_no);
            }
        }
        if let Some(last) = (data_bytes / PAGE_SIZE as u64).checked_sub(1) {
            // The file's length, too, may be one that no sync has made durable. Writing to its end makes it
            // so.
            let offset = last * PAGE_SIZE as u64;
            if data.read_at(&mut in_place[..], offset).is_ok() {
                data.write_at(&in_place[..], offset).map_err(failed)?;
            }
        }
        data.sync().map_err(failed)?;
        Ok(restored)
    }

    /// The pages of the batch that was read, in order; none if any of it is damaged.
    fn whole_batch(&mut self) -> Vec<PageNo> {
        let entries = self.parse_header().unwrap_or_default();
        let whole = entries.iter().enumerate().all(|(place, &(page_no, crc))| {
            let image = self.image_mut(place + 1);
            checksum::matches(image)
                && checksum::compute(image) == crc
                && PageView::from_bytes(image).page_no() == page_no
        });
        if whole { entries.into_iter().map(|(page_no, _)| page_no).collect() } else { Vec::new() }
    }

    fn parse_header(&mut self) -> Option<Vec<(PageNo, u32)>> {
        let u32_at = |buffer: &[u8], off: usize| {
            u32::from_le_bytes([buffer[off], buffer[off + 1], buffer[off + 2], buffer[off + 3]])
        };
        let buffer = &mut self.buffer;
        if buffer[..8] != MAGIC.to_le_bytes() {
            return None;
        }
        let count = u32_at(buffer, OFF_COUNT) as usize;
        let crc = u32_at(buffer, OFF_CRC);
        if count > BATCH_PAGES {
            return None;
        }
        buffer[OFF_CRC..OFF_CRC + 4].fill(0);
        let computed = crc32c(&buffer[..OFF_ENTRIES + count * ENTRY]);
        buffer[OFF_CRC..OFF_CRC + 4].copy_from_slice(&crc.to_le_bytes());
        if computed != crc {
            return None;
        }
        let entry = |nth: usize| OFF_ENTRIES + nth * ENTRY;
        Some((0..count).map(|n| (PageNo(u32_at(buffer, entry(n))), u32_at(buffer, entry(n) + 4))).collect())
    }
}
