//! The page checksum: crc32c over everything behind the checksum field itself. It is computed when a page is
//! copied out to be written, and verified when it is read, so in memory the field is stale.

use super::header::{OFF_CHECKSUM, OFF_PAGE_NO, PAGE_SIZE};
use turnstile_sys::checksum::crc32c;

/// The checksum that belongs to these bytes.
pub fn compute(bytes: &[u8; PAGE_SIZE]) -> u32 {
    crc32c(&bytes[OFF_PAGE_NO..])
}

/// Writes the checksum into the page image.
pub fn seal(bytes: &mut [u8; PAGE_SIZE]) {
    let crc = compute(bytes);
    bytes[OFF_CHECKSUM..OFF_CHECKSUM + 4].copy_from_slice(&crc.to_le_bytes());
}

/// Whether the stored checksum matches the bytes.
pub fn matches(bytes: &[u8; PAGE_SIZE]) -> bool {
    bytes[OFF_CHECKSUM..OFF_CHECKSUM + 4] == compute(bytes).to_le_bytes()
}
