//! Collations: how strings compare, and the bytes that stand for a string in an index key.
//!
//! The tables are pinned files beside this module (`general_ci.bin`, `uca900.bin`, written by
//! `tables/generate_collations.py`), because an index written with one order must never be read with another.
//! `uca900.bin` holds the primary weights of UCA 9.0.0's default table for single code points; contractions of that
//! table (Thai and Lao vowel reordering, some Indic sequences) are not applied. The older `unicode_ci` and `unicode_520_ci`
//! collations use the same weights, so they order characters that came later, or moved, as 9.0.0 does.
//!
//! `general_ci.bin` gives each character of the first plane one weight: its base letter in upper case, by Unicode 3.2.
//!
//! PAD SPACE collations ignore trailing spaces. Between a string and its continuation with characters below the
//! space (control characters) the shorter one sorts first here, in comparisons and in keys alike.
//! Character sets other than utf8mb4 are names only: text is UTF-8 inside, and `latin1_swedish_ci` sorts as
//! `utf8mb4_general_ci` does.

mod like;
mod table;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;

pub use like::like;
use table::{GENERAL_CI, UCA_900};

/// A collation this server knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Collation {
    Binary,
    Utf8mb4Bin,
    Utf8mb4GeneralCi,
    Utf8mb40900AiCi,
    Utf8mb40900Bin,
    Utf8mb4UnicodeCi,
    Utf8mb3GeneralCi,
    Utf8mb3Bin,
    Latin1SwedishCi,
    Latin1Bin,
    AsciiGeneralCi,
    AsciiBin,
    Utf8mb4Unicode520Ci,
    Utf8mb3UnicodeCi,
}

/// How a collation orders characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    Bytes,
    General,
    Uca,
}

struct Description {
    collation: Collation,
    name: &'static str,
    charset: &'static str,
    id: u16,
    order: Order,
    pad_space: bool,
    is_default: bool,
}

const DESCRIPTIONS: &[Description] = &[
    describe(Collation::Binary, "binary", "binary", 63, Order::Bytes, false, true),
    describe(Collation::Utf8mb4Bin, "utf8mb4_bin", "utf8mb4", 46, Order::Bytes, true, false),
    describe(Collation::Utf8mb4GeneralCi, "utf8mb4_general_ci", "utf8mb4", 45, Order::General, true, false),
    describe(Collation::Utf8mb40900AiCi, "utf8mb4_0900_ai_ci", "utf8mb4", 255, Order::Uca, false, true),
    describe(Collation::Utf8mb40900Bin, "utf8mb4_0900_bin", "utf8mb4", 309, Order::Bytes, false, false),
    describe(Collation::Utf8mb4UnicodeCi, "utf8mb4_unicode_ci", "utf8mb4", 224, Order::Uca, true, false),
    describe(Collation::Utf8mb3GeneralCi, "utf8mb3_general_ci", "utf8mb3", 33, Order::General, true, true),
    describe(Collation::Utf8mb3Bin, "utf8mb3_bin", "utf8mb3", 83, Order::Bytes, true, false),
    describe(Collation::Latin1SwedishCi, "latin1_swedish_ci", "latin1", 8, Order::General, true, true),
    describe(Collation::Latin1Bin, "latin1_bin", "latin1", 47, Order::Bytes, true, false),
    describe(Collation::AsciiGeneralCi, "ascii_general_ci", "ascii", 11, Order::General, true, true),
    describe(Collation::AsciiBin, "ascii_bin", "ascii", 65, Order::Bytes, true, false),
    describe(
        Collation::Utf8mb4Unicode520Ci,
        "utf8mb4_unicode_520_ci",
        "utf8mb4",
        246,
        Order::Uca,
        true,
        false,
    ),
    describe(Collation::Utf8mb3UnicodeCi, "utf8mb3_unicode_ci", "utf8mb3", 192, Order::Uca, true, false),
];

const fn describe(
    collation: Collation,
    name: &'static str,
    charset: &'static str,
    id: u16,
    order: Order,
    pad_space: bool,
    is_default: bool,
) -> Description {
    Description { collation, name, charset, id, order, pad_space, is_default }
}

impl Collation {
    /// The server's default, `utf8mb4_0900_ai_ci`.
    pub const DEFAULT: Collation = Collation::Utf8mb40900AiCi;

    /// All collations in the order of their definition.
    pub fn all() -> impl Iterator<Item = Collation> {
        DESCRIPTIONS.iter().map(|description| description.collation)
    }

    fn description(self) -> &'static Description {
        &DESCRIPTIONS[self as usize]
    }

    /// By name, any case; the old `utf8_` prefix means `utf8mb3_`.
    pub fn by_name(name: &str) -> Option<Collation> {
        let name = name.to_ascii_lowercase();
        let name = name.strip_prefix("utf8_").map_or(name.clone(), |rest| format!("utf8mb3_{rest}"));
        DESCRIPTIONS.iter().find(|entry| entry.name == name).map(|entry| entry.collation)
    }

    /// By the number used on the wire. Numbers of collations that are not implemented map to the nearest relative of
    /// the same character set, so that a client's greeting is never refused for it; `None` for other character sets.
    pub fn by_id(id: u16) -> Option<Collation> {
        match id {
            256..=308 | 310..=323 => return Some(Collation::Utf8mb40900AiCi),
            225..=245 | 247 => return Some(Collation::Utf8mb4UnicodeCi),
            193..=215 | 223 | 76 => return Some(Collation::Utf8mb3GeneralCi),
            5 | 15 | 31 | 48 | 49 | 94 => return Some(Collation::Latin1SwedishCi),
            _ => {}
        }
        DESCRIPTIONS.iter().find(|entry| entry.id == id).map(|entry| entry.collation)
    }

    /// The default collation of a character set; `utf8` means `utf8mb3`.
    pub fn default_of_charset(charset: &str) -> Option<Collation> {
        let charset = charset.to_ascii_lowercase();
        let charset = if charset == "utf8" { "utf8mb3" } else { charset.as_str() };
        DESCRIPTIONS
            .iter()
            .find(|entry| entry.charset == charset && entry.is_default)
            .map(|entry| entry.collation)
    }

    /// The `_bin` collation of this collation's character set.
    pub fn binary_of_charset(self) -> Collation {
        match self.charset() {
            "utf8mb4" => Collation::Utf8mb4Bin,
            "utf8mb3" => Collation::Utf8mb3Bin,
            "latin1" => Collation::Latin1Bin,
            "ascii" => Collation::AsciiBin,
            _ => Collation::Binary,
        }
    }

    /// Name as in SHOW COLLATION.
    pub fn name(self) -> &'static str {
        self.description().name
    }

    /// Name of the character set.
    pub fn charset(self) -> &'static str {
        self.description().charset
    }

    /// Number on the wire.
    pub fn id(self) -> u16 {
        self.description().id
    }

    /// True if it is the default of its character set.
    pub fn is_default(self) -> bool {
        self.description().is_default
    }

    /// True if trailing spaces do not count.
    pub fn pads_space(self) -> bool {
        self.description().pad_space
    }

    /// True for `binary` and the `_bin` collations: weights are the bytes.
    pub fn is_binary_order(self) -> bool {
        self.description().order == Order::Bytes
    }

    /// Most bytes one character takes in the announced character set.
    pub fn max_char_bytes(self) -> u32 {
        match self.charset() {
            "utf8mb4" => 4,
            "utf8mb3" => 3,
            _ => 1,
        }
    }

    fn significant(self, text: &[u8]) -> &[u8] {
        if self.pads_space() { trim_spaces(text) } else { text }
    }

    /// Compares two strings (UTF-8; bytes for `binary`).
    pub fn compare(self, left: &[u8], right: &[u8]) -> Ordering {
        let (left, right) = (self.significant(left), self.significant(right));
        if left == right {
            return Ordering::Equal;
        }
        match self.description().order {
            Order::Bytes => left.cmp(right),
            Order::General => compare_weights(left, right, false),
            Order::Uca => compare_weights(left, right, true),
        }
    }

    /// Appends bytes whose memcmp order is the collation's order; equal strings give equal bytes. No terminator.
    pub fn append_weights(self, text: &[u8], out: &mut Vec<u8>) {
        let text = self.significant(text);
        match self.description().order {
            Order::Bytes => out.extend_from_slice(text),
            order => {
                let uca = order == Order::Uca;
                let rest = table::ascii(uca).append(text, out);
                for weight in Weights::new(rest, uca) {
                    out.extend_from_slice(&weight.to_be_bytes());
                }
            }
        }
    }

    /// True if the two characters count as the same (LIKE, INSTR, REPLACE work character by character).
    pub fn same_character(self, left: char, right: char) -> bool {
        if left == right {
            return true;
        }
        match self.description().order {
            Order::Bytes => false,
            Order::General => GENERAL_CI.general(left) == GENERAL_CI.general(right),
            Order::Uca => {
                let (mut one, mut other) = ([0; 4], [0; 4]);
                let one = left.encode_utf8(&mut one).as_bytes();
                let other = right.encode_utf8(&mut other).as_bytes();
                Weights::new(one, true).eq(Weights::new(other, true))
            }
        }
    }
}

/// Compares by weights. Most text is ASCII, whose characters have one weight or none each, whatever their neighbours: as far as
/// both texts are, a table of 128 weights decides.
fn compare_weights(left: &[u8], right: &[u8], uca: bool) -> Ordering {
    let same = left.iter().zip(right).take_while(|(one, other)| one == other && one.is_ascii()).count();
    let (mut left, mut right) = (&left[same..], &right[same..]);
    let weights = table::ascii(uca);
    while let (Some((one, left_after)), Some((other, right_after))) =
        (weights.first(left), weights.first(right))
    {
        if one != other {
            return one.cmp(&other);
        }
        (left, right) = (left_after, right_after);
    }
    Weights::new(left, uca).cmp(Weights::new(right, uca))
}

/// `text` without trailing spaces.
pub fn trim_spaces(text: &[u8]) -> &[u8] {
    let kept = text.iter().rposition(|byte| *byte != b' ').map_or(0, |position| position + 1);
    &text[..kept]
}

/// Upper case, one character for one character.
pub fn to_upper(text: &str) -> String {
    text.chars().map(|character| single(character, character.to_uppercase())).collect()
}

/// Lower case, one character for one character.
pub fn to_lower(text: &str) -> String {
    text.chars().map(|character| single(character, character.to_lowercase())).collect()
}

fn single(original: char, mut mapped: impl Iterator<Item = char>) -> char {
    match (mapped.next(), mapped.next()) {
        (Some(character), None) => character,
        _ => original,
    }
}

/// Decodes the character at the start of `text`; an invalid byte counts as U+FFFD of length 1.
pub(crate) fn first_character(text: &[u8]) -> Option<(char, usize)> {
    let first = *text.first()?;
    if first < 0x80 {
        return Some((char::from(first), 1));
    }
    let length = match first {
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => return Some(('\u{FFFD}', 1)),
    };
    match text
        .get(..length)
        .and_then(|bytes| std::str::from_utf8(bytes).ok())
        .and_then(|text| text.chars().next())
    {
        Some(character) => Some((character, length)),
        None => Some(('\u{FFFD}', 1)),
    }
}

/// Weights of a string, in order; ignorable characters give none.
struct Weights<'a> {
    text: &'a [u8],
    uca: bool,
    pending: table::Expansion,
}

impl<'a> Weights<'a> {
    fn new(text: &'a [u8], uca: bool) -> Weights<'a> {
        Weights { text, uca, pending: table::Expansion::default() }
    }
}

impl Iterator for Weights<'_> {
    type Item = u16;

    fn next(&mut self) -> Option<u16> {
        loop {
            if let Some(weight) = self.pending.next() {
                return Some(weight);
            }
            let (character, length) = first_character(self.text)?;
            self.text = &self.text[length..];
            if !self.uca {
                return Some(GENERAL_CI.general(character));
            }
            match UCA_900.primary(character) {
                table::Primary::One(0) => {}
                table::Primary::One(weight) => return Some(weight),
                table::Primary::Many(expansion) => self.pending = expansion,
            }
        }
    }
}
