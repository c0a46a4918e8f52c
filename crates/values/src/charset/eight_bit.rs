//! Sets of one byte a character: which character each byte is, and its weights.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use super::multi_byte;

/// One 8-bit set.
pub(super) struct EightBitSet {
    pub(super) bytes: FxHashMap<char, u8>,
    pub(super) points: [Option<char>; 256],
}

/// 8-bit sets in the table; the weights of their collations lie behind them.
const EIGHT_BIT_SETS: usize = 25;

static EIGHT_BIT: &[u8] = include_bytes!("../collation/eight_bit.bin");

fn eight_bit_word(at: usize) -> u16 {
    u16::from_le_bytes([EIGHT_BIT[at * 2], EIGHT_BIT[at * 2 + 1]])
}

/// The weight of a byte under an 8-bit collation: the low byte, and in the high one a second weight where
/// there is one.
pub fn eight_bit_weight(collation: u8, byte: u8) -> u16 {
    eight_bit_word((EIGHT_BIT_SETS + usize::from(collation)) * 256 + usize::from(byte))
}

impl EightBitSet {
    pub(super) fn get(nth: u8) -> &'static EightBitSet {
        static SETS: [OnceLock<EightBitSet>; EIGHT_BIT_SETS] = [const { OnceLock::new() }; EIGHT_BIT_SETS];
        SETS[usize::from(nth)].get_or_init(|| {
            let mut bytes = FxHashMap::default();
            let mut points = [None; 256];
            for byte in (0..=255u8).rev() {
                let point = eight_bit_word(usize::from(nth) * 256 + usize::from(byte));
                let Some(character) = char::from_u32(point.into()).filter(|_| point != 0xFFFF) else {
                    continue;
                };
                if character != char::REPLACEMENT_CHARACTER {
                    bytes.insert(character, byte);
                    points[usize::from(byte)] = Some(character);
                    continue;
                }
                // A byte that stands for nothing comes back as the same byte; the mark itself is written as
                // the last of them.
                bytes.entry(character).or_insert(byte);
                points[usize::from(byte)] = char::from_u32(multi_byte::PRIVATE + u32::from(byte));
                bytes.extend(points[usize::from(byte)].map(|private| (private, byte)));
            }
            EightBitSet { bytes, points }
        })
    }
}
