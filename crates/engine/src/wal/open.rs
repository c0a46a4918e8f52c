//! Making a log, and opening one: find the end, make sure of it, begin a new life behind it.

use super::control::{Control, ControlFile};
use super::scan::Reader;
use super::segments::{Geometry, Segments};
use super::shared::Shared;
use super::{FIRST_LSN, Wal};
use crate::error::{Error, Result};
use crate::ids::Lsn;
use crate::limits::REDO_CAPACITY_MIN_BYTES;
use std::io;
use std::sync::Arc;
use turnstile_sys::disk::Disk;

pub(super) fn failed(cause: &io::Error) -> Error {
    Error::Stopped(format!("the redo files cannot be written: {cause}"))
}

impl Wal {
    /// Makes the redo files of a new database, removing any that are there. `capacity_bytes` is the total
    /// size of the segments, at least [`REDO_CAPACITY_MIN_BYTES`].
    pub fn create(disk: Arc<dyn Disk>, capacity_bytes: u64) -> Result<Arc<Wal>> {
        Self::create_sized(disk, capacity_bytes.max(REDO_CAPACITY_MIN_BYTES))
    }

    pub(super) fn create_sized(disk: Arc<dyn Disk>, capacity_bytes: u64) -> Result<Arc<Wal>> {
        let geometry = Geometry::of_capacity(capacity_bytes);
        let start = Control {
            sequence: 0,
            checkpoint: FIRST_LSN,
            synced: FIRST_LSN,
            incarnation_min: 1,
            incarnation: 1,
            segment_bytes: geometry.segment_bytes,
            segment_count: geometry.segment_count,
            rebuilding: false,
        };
        let segments = Segments::create(&*disk, geometry)?;
        let control = ControlFile::create(&*disk, start)?;
        disk.sync_dir().map_err(|e| failed(&e))?;
        Ok(Wal::start(Shared::new(segments, control, FIRST_LSN), disk))
    }

    /// Whether there are redo files.
    pub fn exists(disk: &dyn Disk) -> Result<bool> {
        disk.exists(super::control::CONTROL_FILE).map_err(|e| failed(&e))
    }

    /// Opens the log of a database and finds its end; [`Wal::reader`] then gives what recovery must apply. A
    /// capacity other than that of the files takes effect if there is nothing to recover, else at the next
    /// open after a clean end.
    pub fn open(disk: Arc<dyn Disk>, capacity_bytes: u64) -> Result<Arc<Wal>> {
        Self::open_sized(disk, capacity_bytes.max(REDO_CAPACITY_MIN_BYTES))
    }

    pub(super) fn open_sized(disk: Arc<dyn Disk>, capacity_bytes: u64) -> Result<Arc<Wal>> {
        let mut control = ControlFile::open(&*disk)?;
        control.write_again().map_err(|e| failed(&e))?;
        let found = control.current();
        let wanted = Geometry::of_capacity(capacity_bytes);
        let (segments, end, incarnation) = if found.rebuilding {
            (rebuild(&*disk, &mut control)?, found.checkpoint, found.incarnation)
        } else {
            let mut reader = Reader::open(&*disk)?;
            while reader.next_group()?.is_some() {}
            let (end, incarnation) = (reader.position(), reader.incarnation());
            let synced = reader.known_synced();
            let mut segments = reader.into_segments();
            segments.write_again(synced.0.min(end.0), end.0).map_err(|e| failed(&e))?;
            if end == found.checkpoint && segments.geometry() != wanted {
                drop(segments);
                let shape = Control {
                    rebuilding: true,
                    segment_bytes: wanted.segment_bytes,
                    segment_count: wanted.segment_count,
                    ..control.current()
                };
                control.write(shape).map_err(|e| failed(&e))?;
                (rebuild(&*disk, &mut control)?, end, incarnation)
            } else {
                (segments, end, incarnation)
            }
        };
        begin_life(disk, segments, control, end, incarnation)
    }
}

/// Makes the segments in the shape the control file says. Repeated by the next open if it is interrupted.
fn rebuild(disk: &dyn Disk, control: &mut ControlFile) -> Result<Segments> {
    let shape = control.current();
    let geometry = Geometry { segment_bytes: shape.segment_bytes, segment_count: shape.segment_count };
    let segments = Segments::create(disk, geometry)?;
    control.write(Control { rebuilding: false, ..shape }).map_err(|e| failed(&e))?;
    Ok(segments)
}

/// Syncs what was found and takes the next incarnation, durably, before anything is appended under it.
fn begin_life(
    disk: Arc<dyn Disk>,
    mut segments: Segments,
    mut control: ControlFile,
    end: Lsn,
    incarnation: u32,
) -> Result<Arc<Wal>> {
    segments.sync_all().map_err(|e| failed(&e))?;
    let before = control.current();
    let next = before.incarnation.max(incarnation).checked_add(1).ok_or_else(|| Error::Corrupt {
        file: super::control::CONTROL_FILE.into(),
        offset: 0,
        what: "the incarnation number is used up".into(),
    })?;
    let synced = Lsn(before.synced.0.max(end.0));
    control.write(Control { incarnation: next, synced, ..before }).map_err(|e| failed(&e))?;
    Ok(Wal::start(Shared::new(segments, control, end), disk))
}
