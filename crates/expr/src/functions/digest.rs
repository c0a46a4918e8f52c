//! Checksums and digests: CRC-32 (IEEE 802.3), MD5 (RFC 1321), SHA-224 (FIPS 180-4); the other SHAs come from
//! `ring`.

use turnstile_values::error::SqlResult;

/// Notes bytes worked through; fails if the statement is to end.
type Work<'w> = dyn FnMut(usize) -> SqlResult<()> + 'w;

/// Blocks of 64 bytes between two notes of work.
const BLOCKS_NOTED: usize = 16 << 10;

/// CRC-32 of the bytes, reflected polynomial 0xEDB88320.
pub fn crc32(bytes: &[u8]) -> u32 {
    let mut sum = u32::MAX;
    for byte in bytes {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = if sum & 1 == 1 { sum >> 1 ^ 0xEDB8_8320 } else { sum >> 1 };
        }
    }
    !sum
}

const SHIFTS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];

/// MD5 of the bytes.
pub(super) fn md5(bytes: &[u8], work: &mut Work<'_>) -> SqlResult<[u8; 16]> {
    let mut message = bytes.to_vec();
    message.push(0x80);
    while message.len() % 64 != 56 {
        message.push(0);
    }
    message.extend_from_slice(&(bytes.len() as u64 * 8).to_le_bytes());
    let mut state: [u32; 4] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476];
    for (nth, block) in message.chunks_exact(64).enumerate() {
        if nth % BLOCKS_NOTED == BLOCKS_NOTED - 1 {
            work(BLOCKS_NOTED * 64)?;
        }
        let mut words = [0u32; 16];
        for (word, part) in words.iter_mut().zip(block.chunks_exact(4)) {
            *word = u32::from_le_bytes([part[0], part[1], part[2], part[3]]);
        }
        let [mut a, mut b, mut c, mut d] = state;
        for step in 0..64 {
            let (mixed, place) = match step / 16 {
                0 => (b & c | !b & d, step),
                1 => (d & b | !d & c, (5 * step + 1) % 16),
                2 => (b ^ c ^ d, (3 * step + 5) % 16),
                _ => (c ^ (b | !d), 7 * step % 16),
            };
            // The constants are floor(2^32 * |sin(step + 1)|).
            let constant = (((step + 1) as f64).sin().abs() * 4_294_967_296.0) as u32;
            let sum = a.wrapping_add(mixed).wrapping_add(constant).wrapping_add(words[place]);
            (a, d, c) = (d, c, b);
            b = b.wrapping_add(sum.rotate_left(SHIFTS[step / 16][step % 4]));
        }
        for (total, part) in state.iter_mut().zip([a, b, c, d]) {
            *total = total.wrapping_add(part);
        }
    }
    let mut digest = [0; 16];
    for (out, word) in digest.chunks_exact_mut(4).zip(state) {
        out.copy_from_slice(&word.to_le_bytes());
    }
    Ok(digest)
}

/// SHA-224 of the bytes: SHA-256 with another beginning, cut.
pub(super) fn sha224(bytes: &[u8], work: &mut Work<'_>) -> SqlResult<[u8; 28]> {
    let mut message = bytes.to_vec();
    message.push(0x80);
    while message.len() % 64 != 56 {
        message.push(0);
    }
    message.extend_from_slice(&(bytes.len() as u64 * 8).to_be_bytes());
    let constants = cube_roots();
    // The second 32 bits of the fractions of the square roots of the ninth to the sixteenth prime.
    let mut state: [u32; 8] = [
        0xC105_9ED8,
        0x367C_D507,
        0x3070_DD17,
        0xF70E_5939,
        0xFFC0_0B31,
        0x6858_1511,
        0x64F9_8FA7,
        0xBEFA_4FA4,
    ];
    for (nth, block) in message.chunks_exact(64).enumerate() {
        if nth % BLOCKS_NOTED == BLOCKS_NOTED - 1 {
            work(BLOCKS_NOTED * 64)?;
        }
        let mut words = [0u32; 64];
        for (word, part) in words.iter_mut().zip(block.chunks_exact(4)) {
            *word = u32::from_be_bytes([part[0], part[1], part[2], part[3]]);
        }
        for at in 16..64 {
            let (early, late) = (words[at - 15], words[at - 2]);
            let low = early.rotate_right(7) ^ early.rotate_right(18) ^ early >> 3;
            let high = late.rotate_right(17) ^ late.rotate_right(19) ^ late >> 10;
            words[at] = words[at - 16].wrapping_add(low).wrapping_add(words[at - 7]).wrapping_add(high);
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
        for at in 0..64 {
            let turned = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let chosen = e & f ^ !e & g;
            let first = [turned, chosen, constants[at], words[at]].into_iter().fold(h, u32::wrapping_add);
            let turned = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
            let most = a & b ^ a & c ^ b & c;
            (h, g, f, e) = (g, f, e, d.wrapping_add(first));
            (d, c, b, a) = (c, b, a, first.wrapping_add(turned).wrapping_add(most));
        }
        for (total, part) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *total = total.wrapping_add(part);
        }
    }
    let mut digest = [0; 28];
    for (out, word) in digest.chunks_exact_mut(4).zip(state) {
        out.copy_from_slice(&word.to_be_bytes());
    }
    Ok(digest)
}

/// The first 32 bits of the fractions of the cube roots of the first 64 primes.
fn cube_roots() -> [u32; 64] {
    let primes = (2u32..).filter(|number| (2..*number).all(|divisor| number % divisor != 0));
    let mut constants = [0; 64];
    for (constant, prime) in constants.iter_mut().zip(primes) {
        *constant = (f64::from(prime).cbrt().fract() * 4_294_967_296.0) as u32;
    }
    constants
}
