//! Character sets: their names and how text goes into their bytes and back.
//!
//! Text is UTF-8 inside, whatever its character set says: in values, rows and keys. A character set limits what a column takes
//! and says what its bytes are where bytes are asked for.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use crate::collation::Collation;

/// A character set this server has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Charset {
    Latin1,
    Ascii,
    Utf8mb3,
    Binary,
    Utf8mb4,
}

/// How characters become bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Utf8,
    Bytes,
    /// One byte a character; the place of its 256 code points in the table.
    EightBit(u8),
}

struct Description {
    charset: Charset,
    name: &'static str,
    description: &'static str,
    default: u16,
    bin: u16,
    most_bytes: u32,
    encoding: Encoding,
}

const DESCRIPTIONS: &[Description] = &[
    set(Charset::Latin1, "latin1", "cp1252 West European", 8, 47, 1, Encoding::EightBit(0)),
    set(Charset::Ascii, "ascii", "US ASCII", 11, 65, 1, Encoding::EightBit(1)),
    set(Charset::Utf8mb3, "utf8mb3", "UTF-8 Unicode", 33, 83, 3, Encoding::Utf8),
    set(Charset::Binary, "binary", "Binary pseudo charset", 63, 63, 1, Encoding::Bytes),
    set(Charset::Utf8mb4, "utf8mb4", "UTF-8 Unicode", 255, 46, 4, Encoding::Utf8),
];

const fn set(
    charset: Charset,
    name: &'static str,
    description: &'static str,
    default: u16,
    bin: u16,
    most_bytes: u32,
    encoding: Encoding,
) -> Description {
    Description { charset, name, description, default, bin, most_bytes, encoding }
}

impl Charset {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Charset> {
        DESCRIPTIONS.iter().map(|entry| entry.charset)
    }

    fn entry(self) -> &'static Description {
        &DESCRIPTIONS[self as usize]
    }

    /// By name, any case; `utf8` means `utf8mb3`.
    pub fn by_name(name: &str) -> Option<Charset> {
        let name = if name.eq_ignore_ascii_case("utf8") { "utf8mb3" } else { name };
        DESCRIPTIONS.iter().find(|entry| entry.name.eq_ignore_ascii_case(name)).map(|entry| entry.charset)
    }

    /// Name as in SHOW CHARACTER SET.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// What SHOW CHARACTER SET says of it.
    pub fn description(self) -> &'static str {
        self.entry().description
    }

    /// Most bytes of a character.
    pub fn max_char_bytes(self) -> u32 {
        self.entry().most_bytes
    }

    /// The collation of text that names none.
    pub fn default_collation(self) -> Collation {
        Collation::by_id(self.entry().default).unwrap_or(Collation::Binary)
    }

    /// The collation by code.
    pub fn bin_collation(self) -> Collation {
        Collation::by_id(self.entry().bin).unwrap_or(Collation::Binary)
    }

    /// The byte of a character in an 8-bit set; `None` if the set lacks it.
    pub fn byte_of(self, character: char) -> Option<u8> {
        let Encoding::EightBit(nth) = self.entry().encoding else { return None };
        if character.is_ascii() && usize::from(nth) < 2 {
            return Some(character as u8);
        }
        EightBitSet::get(nth).bytes.get(&character).copied()
    }
}

/// One 8-bit set.
struct EightBitSet {
    bytes: FxHashMap<char, u8>,
}

/// 8-bit sets in the table; the weights of their collations lie behind them.
const EIGHT_BIT_SETS: usize = 25;

static EIGHT_BIT: &[u8] = include_bytes!("collation/eight_bit.bin");

fn eight_bit_word(at: usize) -> u16 {
    u16::from_le_bytes([EIGHT_BIT[at * 2], EIGHT_BIT[at * 2 + 1]])
}

/// The weight of a byte under an 8-bit collation: the low byte, and in the high one a second weight where there is one.
pub(crate) fn eight_bit_weight(collation: u8, byte: u8) -> u16 {
    eight_bit_word((EIGHT_BIT_SETS + usize::from(collation)) * 256 + usize::from(byte))
}

impl EightBitSet {
    fn get(nth: u8) -> &'static EightBitSet {
        static SETS: [OnceLock<EightBitSet>; EIGHT_BIT_SETS] = [const { OnceLock::new() }; EIGHT_BIT_SETS];
        SETS[usize::from(nth)].get_or_init(|| {
            let mut bytes = FxHashMap::default();
            for byte in (0..=255u8).rev() {
                let point = eight_bit_word(usize::from(nth) * 256 + usize::from(byte));
                if point != 0xFFFF
                    && let Some(character) = char::from_u32(point.into())
                {
                    bytes.insert(character, byte);
                }
            }
            EightBitSet { bytes }
        })
    }
}
