//! Character sets: their names and how text goes into their bytes and back.
//!
//! Text is UTF-8 inside, whatever its character set says: in values, rows and keys. A character set limits what a column takes
//! and says what its bytes are where bytes are asked for: functions on bytes get them by `functions::in_own_bytes`, clients at the wire.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use crate::collation::Collation;

/// A character set this server has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Charset {
    Dec8,
    Cp850,
    Hp8,
    Koi8r,
    Latin1,
    Latin2,
    Swe7,
    Ascii,
    Hebrew,
    Koi8u,
    Greek,
    Cp1250,
    Latin5,
    Armscii8,
    Utf8mb3,
    Ucs2,
    Cp866,
    Keybcs2,
    Macce,
    Macroman,
    Cp852,
    Latin7,
    Cp1251,
    Utf16,
    Utf16le,
    Cp1256,
    Cp1257,
    Utf32,
    Binary,
    Geostd8,
    Utf8mb4,
}

/// How characters become bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Utf8,
    Bytes,
    /// One byte a character; the place of its 256 code points in the table.
    EightBit(u8),
    Utf16,
    Utf16Le,
    Utf32,
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

#[rustfmt::skip]
const DESCRIPTIONS: &[Description] = &[
    set(Charset::Dec8, "dec8", "DEC West European", 3, 69, 1, Encoding::EightBit(17)),
    set(Charset::Cp850, "cp850", "DOS West European", 4, 80, 1, Encoding::EightBit(13)),
    set(Charset::Hp8, "hp8", "HP West European", 6, 72, 1, Encoding::EightBit(18)),
    set(Charset::Koi8r, "koi8r", "KOI8-R Relcom Russian", 7, 74, 1, Encoding::EightBit(9)),
    set(Charset::Latin1, "latin1", "cp1252 West European", 8, 47, 1, Encoding::EightBit(0)),
    set(Charset::Latin2, "latin2", "ISO 8859-2 Central European", 9, 77, 1, Encoding::EightBit(2)),
    set(Charset::Swe7, "swe7", "7bit Swedish", 10, 82, 1, Encoding::EightBit(19)),
    set(Charset::Ascii, "ascii", "US ASCII", 11, 65, 1, Encoding::EightBit(1)),
    set(Charset::Hebrew, "hebrew", "ISO 8859-8 Hebrew", 16, 71, 1, Encoding::EightBit(12)),
    set(Charset::Koi8u, "koi8u", "KOI8-U Ukrainian", 22, 75, 1, Encoding::EightBit(10)),
    set(Charset::Greek, "greek", "ISO 8859-7 Greek", 25, 70, 1, Encoding::EightBit(11)),
    set(Charset::Cp1250, "cp1250", "Windows Central European", 26, 66, 1, Encoding::EightBit(5)),
    set(Charset::Latin5, "latin5", "ISO 8859-9 Turkish", 30, 78, 1, Encoding::EightBit(3)),
    set(Charset::Armscii8, "armscii8", "ARMSCII-8 Armenian", 32, 64, 1, Encoding::EightBit(20)),
    set(Charset::Utf8mb3, "utf8mb3", "UTF-8 Unicode", 33, 83, 3, Encoding::Utf8),
    set(Charset::Ucs2, "ucs2", "UCS-2 Unicode", 35, 90, 2, Encoding::Utf16),
    set(Charset::Cp866, "cp866", "DOS Russian", 36, 68, 1, Encoding::EightBit(15)),
    set(Charset::Keybcs2, "keybcs2", "DOS Kamenicky Czech-Slovak", 37, 73, 1, Encoding::EightBit(22)),
    set(Charset::Macce, "macce", "Mac Central European", 38, 43, 1, Encoding::EightBit(23)),
    set(Charset::Macroman, "macroman", "Mac West European", 39, 53, 1, Encoding::EightBit(24)),
    set(Charset::Cp852, "cp852", "DOS Central European", 40, 81, 1, Encoding::EightBit(14)),
    set(Charset::Latin7, "latin7", "ISO 8859-13 Baltic", 41, 79, 1, Encoding::EightBit(4)),
    set(Charset::Cp1251, "cp1251", "Windows Cyrillic", 51, 50, 1, Encoding::EightBit(6)),
    set(Charset::Utf16, "utf16", "UTF-16 Unicode", 54, 55, 4, Encoding::Utf16),
    set(Charset::Utf16le, "utf16le", "UTF-16LE Unicode", 56, 62, 4, Encoding::Utf16Le),
    set(Charset::Cp1256, "cp1256", "Windows Arabic", 57, 67, 1, Encoding::EightBit(7)),
    set(Charset::Cp1257, "cp1257", "Windows Baltic", 59, 58, 1, Encoding::EightBit(8)),
    set(Charset::Utf32, "utf32", "UTF-32 Unicode", 60, 61, 4, Encoding::Utf32),
    set(Charset::Binary, "binary", "Binary pseudo charset", 63, 63, 1, Encoding::Bytes),
    set(Charset::Geostd8, "geostd8", "GEOSTD8 Georgian", 92, 93, 1, Encoding::EightBit(21)),
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

    /// True if the bytes of text are those of UTF-8, which it has inside.
    pub fn is_utf8(self) -> bool {
        matches!(self.entry().encoding, Encoding::Utf8 | Encoding::Bytes)
    }

    fn holds(self, character: char) -> bool {
        match self.entry().encoding {
            Encoding::EightBit(_) => self.byte_of(character).is_some(),
            _ => self == Charset::Utf8mb4 || self.entry().most_bytes == 4 || character <= '\u{FFFF}',
        }
    }

    /// The byte offset of the first character that the set lacks.
    pub fn first_missing(self, text: &str) -> Option<usize> {
        match self {
            Charset::Utf8mb4 | Charset::Binary => None,
            _ => text.char_indices().find(|(_, character)| !self.holds(*character)).map(|(at, _)| at),
        }
    }

    /// The text with `?` for what the set lacks.
    pub fn fit(self, text: &str) -> String {
        text.chars().map(|character| if self.holds(character) { character } else { '?' }).collect()
    }

    /// The bytes of a text; `?` for what the set lacks.
    pub fn encode(self, text: &str) -> Vec<u8> {
        let units = || text.encode_utf16();
        match self.entry().encoding {
            Encoding::Utf8 | Encoding::Bytes => text.as_bytes().to_vec(),
            Encoding::EightBit(_) => {
                text.chars().map(|character| self.byte_of(character).unwrap_or(b'?')).collect()
            }
            Encoding::Utf16 if self == Charset::Ucs2 => {
                self.fit(text).encode_utf16().flat_map(u16::to_be_bytes).collect()
            }
            Encoding::Utf16 => units().flat_map(u16::to_be_bytes).collect(),
            Encoding::Utf16Le => units().flat_map(u16::to_le_bytes).collect(),
            Encoding::Utf32 => {
                text.chars().flat_map(|character| u32::from(character).to_be_bytes()).collect()
            }
        }
    }

    /// The text of bytes; `None` if they are none of this set. Bytes that are missing at the front of a whole unit are zero, as in hex
    /// literals.
    pub fn decode(self, bytes: &[u8]) -> Option<String> {
        let width = match self.entry().encoding {
            Encoding::Utf8 | Encoding::Bytes => return std::str::from_utf8(bytes).ok().map(str::to_owned),
            Encoding::EightBit(nth) => {
                let points = &EightBitSet::get(nth).points;
                return bytes.iter().map(|byte| points[usize::from(*byte)]).collect();
            }
            Encoding::Utf32 => 4,
            Encoding::Utf16 | Encoding::Utf16Le => 2,
        };
        let mut whole = vec![0; (width - bytes.len() % width) % width];
        whole.extend_from_slice(bytes);
        if width == 4 {
            let point =
                |unit: &[u8]| char::from_u32(u32::from_be_bytes([unit[0], unit[1], unit[2], unit[3]]));
            return whole.chunks_exact(4).map(point).collect();
        }
        let unit = match self.entry().encoding {
            Encoding::Utf16Le => |unit: &[u8]| u16::from_le_bytes([unit[0], unit[1]]),
            _ => |unit: &[u8]| u16::from_be_bytes([unit[0], unit[1]]),
        };
        let units: Vec<u16> = whole.chunks_exact(2).map(unit).collect();
        String::from_utf16(&units).ok().filter(|text| self.first_missing(text).is_none())
    }
}

impl Charset {
    /// The text of bytes that a client sends; `?` for what is none of this set.
    pub fn decode_lossy(self, bytes: &[u8]) -> String {
        match self.entry().encoding {
            Encoding::EightBit(nth) => {
                let points = &EightBitSet::get(nth).points;
                bytes.iter().map(|byte| points[usize::from(*byte)].unwrap_or('?')).collect()
            }
            _ => self.decode(bytes).unwrap_or_else(|| String::from_utf8_lossy(bytes).into_owned()),
        }
    }

    /// True if statements may come in this set: ASCII characters are their own bytes.
    pub fn serves_clients(self) -> bool {
        !matches!(self.entry().encoding, Encoding::Utf32 | Encoding::Utf16 | Encoding::Utf16Le)
    }
}

/// One 8-bit set.
struct EightBitSet {
    bytes: FxHashMap<char, u8>,
    points: [Option<char>; 256],
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
            let mut points = [None; 256];
            for byte in (0..=255u8).rev() {
                let point = eight_bit_word(usize::from(nth) * 256 + usize::from(byte));
                if point != 0xFFFF
                    && let Some(character) = char::from_u32(point.into())
                {
                    bytes.insert(character, byte);
                    points[usize::from(byte)] = Some(character);
                }
            }
            EightBitSet { bytes, points }
        })
    }
}
