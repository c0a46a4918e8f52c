//! For fuzzing: a log with arbitrary bytes in its segments, read back and opened.

use super::control::{Control, ControlFile};
use super::group::{self, GROUP_HEADER, MARK_FLAG};
use super::scan::Reader;
use super::segments::{BLOCK, Geometry, Segments};
use super::{FIRST_LSN, Wal};
use crate::error::Result;
use crate::ids::Lsn;
use std::sync::Arc;
use turnstile_sys::checksum::crc32c;
use turnstile_sys::fault_disk::FaultDisk;

const GEOMETRY: Geometry = Geometry { segment_bytes: BLOCK, segment_count: 8 };

/// Gives the groups that `bytes` seem to hold, one behind the other, the checksum they need, while `repairs`
/// lasts.
fn seal_groups(bytes: &mut [u8], mut repairs: u32) {
    let mut at = 0;
    while repairs > 0 && at + GROUP_HEADER < bytes.len() {
        let length_field = u32::from_le_bytes([bytes[at], bytes[at + 1], 0, bytes[at + 3] & 0x80]);
        let len = (length_field & !MARK_FLAG) as usize;
        let Some(body) = bytes.get(at + GROUP_HEADER..at + GROUP_HEADER + len) else { return };
        let body_crc = crc32c(body);
        let start = Lsn(FIRST_LSN.0 + at as u64);
        let header = group::header(start, length_field, u32::from(bytes[at + 8]), body_crc);
        bytes[at..at + GROUP_HEADER].copy_from_slice(&header);
        at += GROUP_HEADER + len;
        repairs -= 1;
    }
}

/// A disk with the bytes of `data` where recovery begins; the first byte says how much of it is made valid,
/// the second how far the control file says the stream was synced.
fn disk_of(data: &[u8]) -> Option<Arc<FaultDisk>> {
    let (&[repairs, synced], rest) = data.split_first_chunk::<2>()?;
    let disk = Arc::new(FaultDisk::new(0));
    let mut segments = Segments::create(&*disk, GEOMETRY).ok()?;
    let control = Control {
        sequence: 0,
        checkpoint: FIRST_LSN,
        synced: Lsn(FIRST_LSN.0 + u64::from(synced)),
        incarnation_min: 1,
        incarnation: 1,
        segment_bytes: GEOMETRY.segment_bytes,
        segment_count: GEOMETRY.segment_count,
        rebuilding: false,
    };
    ControlFile::create(&*disk, control).ok()?;
    let mut bytes = rest[..rest.len().min(GEOMETRY.usable_bytes() as usize)].to_vec();
    seal_groups(&mut bytes, u32::from(repairs));
    segments.write(FIRST_LSN.0, &bytes).ok()?;
    Some(disk)
}

/// Groups read, and where the log ends.
fn read_all(mut reader: Reader) -> Result<(usize, Lsn)> {
    let mut count = 0;
    let mut last = FIRST_LSN;
    while let Some(group) = reader.next_group()? {
        assert!(group.start >= last && group.end > group.start, "groups follow one another");
        last = group.end;
        count += 1;
    }
    Ok((count, reader.position()))
}

/// Reads the log from its checkpoint, then (for every fourth input, as it is slow) opens it and appends: what
/// was read before must be read again.
pub fn fuzz_log(data: &[u8]) {
    let Some(disk) = disk_of(data) else { return };
    let Ok((count, end)) = Reader::open(&*disk).and_then(read_all) else { return };
    if !data[0].is_multiple_of(4) {
        return;
    }
    let opened = Wal::open_sized(Arc::clone(&disk) as _, GEOMETRY.total_bytes());
    let Ok(wal) = opened else { return };
    let again = wal.reader().and_then(read_all);
    assert_eq!(again.map_err(|error| error.to_string()), Ok((count, end)), "opening loses nothing");
    if wal.age() + 64 < wal.capacity() {
        let (start, _) = wal.append(b"one more");
        assert!(start >= end, "the log goes on behind its end");
    }
}
