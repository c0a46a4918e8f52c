//! CRC-32C of bytes, the checksum of pages, log groups and control blocks.
//!
//! Long runs of bytes are the `crc32c` crate's, which works three lanes at a time. A statement writes two
//! groups of some sixty bytes, and there the crate's splitting by alignment costs more than the sum itself
//! (flash sale, callgrind: 570 of 14,700 instructions a statement), so bytes up to `SHORT` are taken eight at
//! a time where they lie.
//!
//! Why `unsafe`: a function that uses the processor's CRC instruction may only be called after asking whether
//! it has it.

/// Bytes up to which one lane is enough.
const SHORT: usize = 256;

/// The checksum of these bytes.
#[inline]
pub fn crc32c(bytes: &[u8]) -> u32 {
    crc32c_append(0, bytes)
}

/// The checksum of bytes of which the first part, whose checksum is `before`, is followed by these.
#[inline]
pub fn crc32c_append(before: u32, bytes: &[u8]) -> u32 {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if bytes.len() <= SHORT && std::arch::is_x86_feature_detected!("sse4.2") {
        // SAFETY: the processor has the instruction.
        #[allow(unsafe_code, reason = "the instruction has no safe form")]
        return unsafe { short(before, bytes) };
    }
    crc32c::crc32c_append(before, bytes)
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[target_feature(enable = "sse4.2")]
fn short(before: u32, bytes: &[u8]) -> u32 {
    use std::arch::x86_64::{_mm_crc32_u8, _mm_crc32_u32, _mm_crc32_u64};
    let (words, rest) = bytes.as_chunks::<8>();
    let wide =
        words.iter().fold(u64::from(!before), |sum, word| _mm_crc32_u64(sum, u64::from_le_bytes(*word)));
    // The upper half of the wide sum is always zero.
    let (halves, rest) = rest.as_chunks::<4>();
    let sum = halves.iter().fold(wide as u32, |sum, half| _mm_crc32_u32(sum, u32::from_le_bytes(*half)));
    !rest.iter().fold(sum, |sum, byte| _mm_crc32_u8(sum, *byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn known_sums() {
        assert_eq!(crc32c(b""), 0);
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
    }

    /// Every length around the border and every alignment: the same as the crate's, and the same in two
    /// parts.
    #[test]
    fn short_and_long_agree() {
        let mut rng = Rng::new(1);
        let bytes: Vec<u8> = (0..SHORT + 40).map(|_| rng.next_u64() as u8).collect();
        for from in 0..9 {
            for to in from..bytes.len() {
                let part = &bytes[from..to];
                assert_eq!(crc32c(part), crc32c::crc32c(part), "{from}..{to}");
                let (head, tail) = part.split_at(rng.next_u64() as usize % (part.len() + 1));
                assert_eq!(crc32c_append(crc32c(head), tail), crc32c(part), "{from}..{to}");
            }
        }
    }
}
