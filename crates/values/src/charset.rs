//! Character sets: their names and how text goes into their bytes and back.
//!
//! Text is UTF-8 inside, whatever its character set says: in values, rows and keys. A character set limits
//! what a column takes and says what its bytes are where bytes are asked for: functions on bytes get them by
//! `functions::in_own_bytes`, clients at the wire.

mod description;
mod eight_bit;
mod multi_byte;

use crate::error::SqlError;
use description::DESCRIPTIONS;
pub(crate) use description::Description;
use eight_bit::EightBitSet;
pub use eight_bit::eight_bit_weight;
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

#[cfg(test)]
mod tests;
