//! Character sets: their names and how text goes into their bytes and back.
//!
//! Text is UTF-8 inside, whatever its character set says: in values, rows and keys. A character set limits
//! what a column takes and says what its bytes are where bytes are asked for: functions on bytes get them by
//! `functions::in_own_bytes`, clients at the wire.

mod multi_byte;
#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use crate::error::SqlError;
use multi_byte::MultiByteSet;
pub use multi_byte::{Code, Reader};

/// A character set this server has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names are those of MySQL's sets")]
pub enum Charset {
    Big5,
    Dec8,
    Cp850,
    Hp8,
    Koi8r,
    Latin1,
    Latin2,
    Swe7,
    Ascii,
    Ujis,
    Sjis,
    Hebrew,
    Tis620,
    Euckr,
    Koi8u,
    Gb2312,
    Greek,
    Cp1250,
    Gbk,
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
    Cp932,
    Eucjpms,
    Gb18030,
    Utf8mb4,
}

/// How characters become bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Utf8,
    Bytes,
    /// One byte a character; the place of its 256 code points in the table.
    EightBit(u8),
    /// One to four bytes a character; the place of its table.
    MultiByte(u8),
    Utf16,
    Utf16Le,
    Utf32,
}

pub(crate) struct Description {
    charset: Charset,
    name: &'static str,
    description: &'static str,
    pub(crate) default: u16,
    pub(crate) bin: u16,
    most_bytes: u32,
    encoding: Encoding,
}

#[rustfmt::skip]
const DESCRIPTIONS: &[Description] = &[
    set(Charset::Big5, "big5", "Big5 Traditional Chinese", 1, 84, 2, Encoding::MultiByte(1)),
    set(Charset::Dec8, "dec8", "DEC West European", 3, 69, 1, Encoding::EightBit(17)),
    set(Charset::Cp850, "cp850", "DOS West European", 4, 80, 1, Encoding::EightBit(13)),
    set(Charset::Hp8, "hp8", "HP West European", 6, 72, 1, Encoding::EightBit(18)),
    set(Charset::Koi8r, "koi8r", "KOI8-R Relcom Russian", 7, 74, 1, Encoding::EightBit(9)),
    set(Charset::Latin1, "latin1", "cp1252 West European", 8, 47, 1, Encoding::EightBit(0)),
    set(Charset::Latin2, "latin2", "ISO 8859-2 Central European", 9, 77, 1, Encoding::EightBit(2)),
    set(Charset::Swe7, "swe7", "7bit Swedish", 10, 82, 1, Encoding::EightBit(19)),
    set(Charset::Ascii, "ascii", "US ASCII", 11, 65, 1, Encoding::EightBit(1)),
    set(Charset::Ujis, "ujis", "EUC-JP Japanese", 12, 91, 3, Encoding::MultiByte(3)),
    set(Charset::Sjis, "sjis", "Shift-JIS Japanese", 13, 88, 2, Encoding::MultiByte(6)),
    set(Charset::Hebrew, "hebrew", "ISO 8859-8 Hebrew", 16, 71, 1, Encoding::EightBit(12)),
    set(Charset::Tis620, "tis620", "TIS620 Thai", 18, 89, 1, Encoding::EightBit(16)),
    set(Charset::Euckr, "euckr", "EUC-KR Korean", 19, 85, 2, Encoding::MultiByte(4)),
    set(Charset::Koi8u, "koi8u", "KOI8-U Ukrainian", 22, 75, 1, Encoding::EightBit(10)),
    set(Charset::Gb2312, "gb2312", "GB2312 Simplified Chinese", 24, 86, 2, Encoding::MultiByte(5)),
    set(Charset::Greek, "greek", "ISO 8859-7 Greek", 25, 70, 1, Encoding::EightBit(11)),
    set(Charset::Cp1250, "cp1250", "Windows Central European", 26, 66, 1, Encoding::EightBit(5)),
    set(Charset::Gbk, "gbk", "GBK Simplified Chinese", 28, 87, 2, Encoding::MultiByte(0)),
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
    set(Charset::Cp932, "cp932", "SJIS for Windows Japanese", 95, 96, 2, Encoding::MultiByte(2)),
    set(Charset::Eucjpms, "eucjpms", "UJIS for Windows Japanese", 97, 98, 3, Encoding::MultiByte(7)),
    set(Charset::Gb18030, "gb18030", "China National Standard GB18030", 248, 249, 4, Encoding::MultiByte(8)),
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

    pub(crate) fn entry(self) -> &'static Description {
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

    /// True for the sets that MySQL warns of.
    pub fn is_deprecated(self) -> bool {
        use Charset::{Dec8, Hp8, Macce, Macroman, Ucs2, Utf8mb3};
        matches!(self, Dec8 | Hp8 | Macce | Macroman | Ucs2 | Utf8mb3)
    }

    /// What SHOW CHARACTER SET says of it.
    pub fn description(self) -> &'static str {
        self.entry().description
    }

    /// Most bytes of a character.
    pub fn max_char_bytes(self) -> u32 {
        self.entry().most_bytes
    }

    /// The byte of a character in an 8-bit set; `None` if the set lacks it.
    pub fn byte_of(self, character: char) -> Option<u8> {
        let Encoding::EightBit(nth) = self.entry().encoding else { return None };
        if character.is_ascii() && usize::from(nth) < 2 {
            return Some(character as u8);
        }
        EightBitSet::get(nth).bytes.get(&character).copied()
    }

    /// The bytes of a character in a set of one to four bytes a character; `None` if the set lacks it.
    pub fn code_of(self, character: char) -> Option<Code> {
        match self.entry().encoding {
            Encoding::MultiByte(nth) => MultiByteSet::get(nth).code_of(character),
            _ => self.byte_of(character).map(Code::single),
        }
    }

    /// True if a character has up to four bytes which say where it ends.
    pub fn is_multi_byte(self) -> bool {
        matches!(self.entry().encoding, Encoding::MultiByte(_))
    }

    /// What stands for its codes without a character in other sets; `None` if it has no such codes.
    pub fn unknown_elsewhere(self) -> Option<char> {
        match self {
            Charset::Tis620 => Some(char::REPLACEMENT_CHARACTER),
            Charset::Gb18030 => None,
            _ => self.is_multi_byte().then_some('?'),
        }
    }

    /// True for the characters that stand for codes without one.
    pub fn is_private(character: char) -> bool {
        (multi_byte::PRIVATE..multi_byte::PRIVATE + 0x1_0000).contains(&u32::from(character))
    }

    /// True if the bytes of text are those of UTF-8, which it has inside.
    pub fn is_utf8(self) -> bool {
        matches!(self.entry().encoding, Encoding::Utf8 | Encoding::Bytes)
    }

    fn holds(self, character: char) -> bool {
        match self.entry().encoding {
            Encoding::EightBit(_) | Encoding::MultiByte(_) => self.code_of(character).is_some(),
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
            Encoding::MultiByte(nth) => {
                let set = MultiByteSet::get(nth);
                let mut bytes = Vec::with_capacity(text.len());
                for character in text.chars() {
                    bytes.extend_from_slice(set.code_of(character).unwrap_or(Code::single(b'?')).bytes());
                }
                bytes
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

    /// The text of bytes; `None` if they are none of this set. Bytes that are missing at the front of a whole
    /// unit are zero, as in hex literals.
    pub fn decode(self, bytes: &[u8]) -> Option<String> {
        let width = match self.entry().encoding {
            Encoding::Utf8 | Encoding::Bytes => return std::str::from_utf8(bytes).ok().map(str::to_owned),
            Encoding::EightBit(nth) => {
                let points = &EightBitSet::get(nth).points;
                return bytes.iter().map(|byte| points[usize::from(*byte)]).collect();
            }
            Encoding::MultiByte(nth) => return text_of(MultiByteSet::get(nth), bytes, None),
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
    fn unit_bytes(self) -> usize {
        match self.entry().encoding {
            Encoding::Utf32 => 4,
            Encoding::Utf16 | Encoding::Utf16Le => 2,
            _ => 1,
        }
    }

    /// The text that bytes begin with and the place of the first that are none of this set.
    pub fn decode_prefix(self, bytes: &[u8]) -> (String, usize) {
        let mut text = String::new();
        let mut at = 0;
        while at < bytes.len() {
            let (unit, most) = (self.unit_bytes(), self.entry().most_bytes as usize);
            let character = (unit..=most.min(bytes.len() - at)).step_by(unit).find_map(|length| {
                let character = self.decode(&bytes[at..at + length])?;
                Some((character, length))
            });
            let Some((character, length)) = character else { break };
            text.push_str(&character);
            at += length;
        }
        (text, at)
    }

    /// The error that bytes are none of this set: it shows three of those that are not.
    pub fn misfit(self, bytes: &[u8]) -> SqlError {
        use std::fmt::Write;
        let (_, place) = self.decode_prefix(bytes);
        let mut shown = String::new();
        for byte in bytes[place..].iter().take(3) {
            let written = write!(shown, "{byte:02X}");
            debug_assert!(written.is_ok());
        }
        SqlError::invalid_character_string(self.name(), shown)
    }

    /// The text of bytes that a client sends; `?` for what is none of this set.
    pub fn decode_lossy(self, bytes: &[u8]) -> String {
        self.decode_with(bytes, |_| '?', |_, _| true)
    }

    /// A statement that a client sends. Bytes that are none of this set are kept as strays: a literal with
    /// one of them is bytes. So are bytes that stand for a character of ASCII without being it (`'` is FF in
    /// armscii8): they are no part of the grammar.
    pub fn decode_statement(self, bytes: &[u8]) -> String {
        let stray = |byte: u8| char::from_u32(STRAYS + u32::from(byte)).unwrap_or('?');
        self.decode_with(bytes, stray, |byte, point| byte.is_ascii() || !point.is_ascii())
    }

    fn decode_with(
        self,
        bytes: &[u8],
        stray: impl Fn(u8) -> char,
        takes: impl Fn(u8, char) -> bool,
    ) -> String {
        match self.entry().encoding {
            Encoding::EightBit(nth) => {
                let points = &EightBitSet::get(nth).points;
                let point = |byte: &u8| points[usize::from(*byte)].filter(|point| takes(*byte, *point));
                bytes.iter().map(|byte| point(byte).unwrap_or_else(|| stray(*byte))).collect()
            }
            Encoding::MultiByte(nth) => {
                text_of(MultiByteSet::get(nth), bytes, Some(&stray)).unwrap_or_default()
            }
            _ => self.decode(bytes).unwrap_or_else(|| String::from_utf8_lossy(bytes).into_owned()),
        }
    }

    /// The bytes that a part of a statement came as: see [`Charset::decode_statement`].
    pub fn sent_bytes(self, text: &str) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(text.len());
        for part in text.split_inclusive(is_stray) {
            let plain = part.trim_end_matches(is_stray);
            bytes.extend_from_slice(&self.encode(plain));
            bytes.extend(part[plain.len()..].chars().map(|stray| (u32::from(stray) - STRAYS) as u8));
        }
        bytes
    }

    /// True if statements may come in this set: ASCII characters are their own bytes.
    pub fn serves_clients(self) -> bool {
        !matches!(self.entry().encoding, Encoding::Utf32 | Encoding::Utf16 | Encoding::Utf16Le)
    }
}

/// The last 256 characters of Unicode, of private use, stand for bytes in a statement that are none of its
/// character set.
const STRAYS: u32 = 0x0010_FF00;

/// True for a byte of a statement that was none of its character set.
pub fn is_stray(character: char) -> bool {
    u32::from(character) >= STRAYS
}

/// The text of bytes of several for a character. A byte that begins none is the replacement, and without one
/// there is no text.
fn text_of(set: &MultiByteSet, bytes: &[u8], replacement: Option<&dyn Fn(u8) -> char>) -> Option<String> {
    let mut text = String::with_capacity(bytes.len());
    let mut rest = bytes;
    while !rest.is_empty() {
        let (character, length) = set.first(rest).or(replacement.map(|mark| (mark(rest[0]), 1)))?;
        text.push(character);
        rest = &rest[length..];
    }
    Some(text)
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

/// The weight of a byte under an 8-bit collation: the low byte, and in the high one a second weight where
/// there is one.
pub fn eight_bit_weight(collation: u8, byte: u8) -> u16 {
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
