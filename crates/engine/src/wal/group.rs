//! The bytes of one group: a header of 12 bytes, then the body, which this room never looks into.
//!
//! ```text
//!  0          4        8               12
//!  | len      | crc32c | incarnation    | body, len bytes ...
//!    bit 31: mark
//! ```
//!
//! The checksum covers the body, then the group's LSN, the length field and the incarnation. The LSN in it is
//! why stale bytes of an earlier round of the ring never pass; the incarnation is why bytes of an earlier
//! life of the engine that lie behind that life's recovered end never pass. A **mark** is written by the log
//! itself: its body is the LSN up to which the stream was synced when it was appended.

use crate::ids::Lsn;
use turnstile_sys::checksum::crc32c_append;

/// Bytes of a group's header.
pub const GROUP_HEADER: usize = 12;
/// Bytes of a whole mark.
pub(super) const MARK_SIZE: usize = GROUP_HEADER + 8;
/// Set in the length field of a mark.
pub(super) const MARK_FLAG: u32 = 1 << 31;

/// A header read back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    pub(super) length_field: u32,
    pub(super) crc: u32,
    pub(super) incarnation: u32,
}

impl Header {
    pub(super) fn decode(bytes: &[u8; GROUP_HEADER]) -> Self {
        let [a, b, c, d, e, f, g, h, i, j, k, l] = *bytes;
        Header {
            length_field: u32::from_le_bytes([a, b, c, d]),
            crc: u32::from_le_bytes([e, f, g, h]),
            incarnation: u32::from_le_bytes([i, j, k, l]),
        }
    }

    pub(super) fn is_mark(self) -> bool {
        self.length_field & MARK_FLAG != 0
    }

    pub(super) fn body_len(self) -> usize {
        (self.length_field & !MARK_FLAG) as usize
    }
}

/// The header of a group that begins at `start`, given its body's checksum, which needs no place and so no
/// mutex.
pub(super) fn header(start: Lsn, length_field: u32, incarnation: u32, body_crc: u32) -> [u8; GROUP_HEADER] {
    let crc = finish_crc(body_crc, start, length_field, incarnation);
    let mut bytes = [0; GROUP_HEADER];
    bytes[..4].copy_from_slice(&length_field.to_le_bytes());
    bytes[4..8].copy_from_slice(&crc.to_le_bytes());
    bytes[8..].copy_from_slice(&incarnation.to_le_bytes());
    bytes
}

/// The checksum of a group from that of its body.
pub(super) fn finish_crc(body_crc: u32, start: Lsn, length_field: u32, incarnation: u32) -> u32 {
    let mut place = [0; 16];
    place[..8].copy_from_slice(&start.0.to_le_bytes());
    place[8..12].copy_from_slice(&length_field.to_le_bytes());
    place[12..].copy_from_slice(&incarnation.to_le_bytes());
    crc32c_append(body_crc, &place)
}
