//! The redo stream on disk: a ring of files of equal size. A byte's LSN fixes its place for ever, so segments
//! need no header and no renaming; a segment is reused by writing over it.
//!
//! ```text
//!   file   = redo.{1 + (lsn / segment_bytes) % segment_count}
//!   offset = lsn % segment_bytes
//! ```

use super::open::failed;
use crate::error::Result;
use crate::ids::Lsn;
use std::io;
use std::sync::Arc;
use turnstile_sys::disk::{Disk, DiskFile};

/// Writes end at a multiple of this many bytes, filled up with zeros: the operating system then never has to
/// read a block of a recycled segment before it can change it.
pub(super) const BLOCK: u64 = 4096;

/// Shape of the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Geometry {
    pub(super) segment_bytes: u64,
    pub(super) segment_count: u32,
}

impl Geometry {
    /// The shape for a total size: eight segments.
    pub(super) fn of_capacity(capacity_bytes: u64) -> Self {
        let segment_count = 8;
        let segment_bytes = (capacity_bytes / segment_count).max(BLOCK) / BLOCK * BLOCK;
        Geometry { segment_bytes, segment_count: segment_count as u32 }
    }

    pub(super) fn total_bytes(self) -> u64 {
        self.segment_bytes * u64::from(self.segment_count)
    }

    /// How much of the stream may lie between the checkpoint and its end. Both ends lie somewhere in a block
    /// that must not be shared, so two blocks are lost.
    pub(super) fn usable_bytes(self) -> u64 {
        self.total_bytes() - 2 * BLOCK
    }

    fn place(self, lsn: u64) -> (usize, u64) {
        let nth = (lsn / self.segment_bytes) % u64::from(self.segment_count);
        (nth as usize, lsn % self.segment_bytes)
    }
}

pub(super) fn segment_name(nth: usize) -> String {
    format!("redo.{:06}", nth + 1)
}

/// The open segment files.
pub(super) struct Segments {
    geometry: Geometry,
    files: Vec<Arc<dyn DiskFile>>,
    /// Which were written since their last sync.
    unsynced: Vec<bool>,
}

impl Segments {
    /// Makes all segments anew, zero-filled and synced; old ones of whatever size are overwritten or removed.
    pub(super) fn create(disk: &dyn Disk, geometry: Geometry) -> Result<Self> {
        let failed = |cause: io::Error| failed(&cause);
        for name in disk.list().map_err(failed)? {
            if name.strip_prefix("redo.").is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit())) {
                disk.remove(&name).map_err(failed)?;
            }
        }
        for nth in 0..geometry.segment_count as usize {
            let file = disk.open(&segment_name(nth), true).map_err(failed)?;
            file.set_len(0).map_err(failed)?;
            file.allocate(geometry.segment_bytes)?;
            file.sync().map_err(failed)?;
        }
        disk.sync_dir().map_err(failed)?;
        Self::open(disk, geometry).map_err(failed)
    }

    /// Opens the segments, which must all be there in full length.
    pub(super) fn open(disk: &dyn Disk, geometry: Geometry) -> io::Result<Self> {
        let mut files = Vec::new();
        for nth in 0..geometry.segment_count as usize {
            let name = segment_name(nth);
            let file = disk
                .open(&name, false)
                .map_err(|cause| io::Error::new(cause.kind(), format!("{name}: {cause}")))?;
            let len = file.len()?;
            if len != geometry.segment_bytes {
                let what = format!("{name} has {len} bytes, expected {}", geometry.segment_bytes);
                return Err(io::Error::new(io::ErrorKind::InvalidData, what));
            }
            files.push(file);
        }
        Ok(Segments { geometry, unsynced: vec![false; files.len()], files })
    }

    pub(super) fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// File name and offset of a position, for messages.
    pub(super) fn describe(&self, lsn: Lsn) -> (String, u64) {
        let (nth, offset) = self.geometry.place(lsn.0);
        (segment_name(nth), offset)
    }

    /// Writes the bytes at this position, across segments if need be.
    pub(super) fn write(&mut self, start: u64, bytes: &[u8]) -> io::Result<()> {
        let geometry = self.geometry;
        for (nth, offset, range) in pieces(geometry, start, bytes.len()) {
            self.unsynced[nth] = true;
            self.files[nth].write_at(&bytes[range], offset)?;
        }
        Ok(())
    }

    /// Fills the buffer from this position.
    pub(super) fn read(&self, start: u64, buffer: &mut [u8]) -> io::Result<()> {
        for (nth, offset, range) in pieces(self.geometry, start, buffer.len()) {
            self.files[nth].read_at(&mut buffer[range], offset)?;
        }
        Ok(())
    }

    /// Makes all writes so far durable.
    pub(super) fn sync(&mut self) -> io::Result<()> {
        for (file, unsynced) in self.files.iter().zip(&mut self.unsynced) {
            if *unsynced {
                file.sync()?;
                *unsynced = false;
            }
        }
        Ok(())
    }

    /// Writes what is read in this range once more. After a failed sync the operating system may show bytes
    /// that it will never write by itself.
    pub(super) fn write_again(&mut self, from: u64, to: u64) -> io::Result<()> {
        let mut at = from / BLOCK * BLOCK;
        let mut bytes = Vec::new();
        while at < to {
            let size = (to - at).min(1 << 20);
            bytes.resize(size as usize, 0);
            self.read(at, &mut bytes)?;
            self.write(at, &bytes)?;
            at += size;
        }
        Ok(())
    }

    /// Syncs every segment: what an earlier process wrote may still be in the operating system's memory.
    pub(super) fn sync_all(&mut self) -> io::Result<()> {
        self.unsynced.fill(true);
        self.sync()
    }
}

/// Cuts a range of the stream at segment ends: (segment, offset in it, range of the caller's bytes).
fn pieces(
    geometry: Geometry,
    start: u64,
    len: usize,
) -> impl Iterator<Item = (usize, u64, std::ops::Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        if done == len {
            return None;
        }
        let (nth, offset) = geometry.place(start + done as u64);
        let room = geometry.segment_bytes - offset;
        let size = usize::try_from(room).map_or(len - done, |room| room.min(len - done));
        let range = done..done + size;
        done += size;
        Some((nth, offset, range))
    })
}
