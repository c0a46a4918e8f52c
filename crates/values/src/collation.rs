//! Collations: how strings compare, and the bytes that stand for a string in an index key.
//!
//! Each collation has its own order, the one MySQL has under that name (`catalog.rs`); a name that is not
//! there is refused. The tables are pinned files beside this module, written by
//! `tables/generate_collations.py`, `generate_multi_byte.py` and `generate_eastern.py`, because an index
//! written with one order must never be read with another. `utf8mb4_unicode_ci` weighs by UCA 4.0.0,
//! `unicode_520_ci` by 5.2.0, the `0900` family by 9.0.0 with one (`ai_ci`), two (`as_ci`) or three (`as_cs`)
//! levels; languages are tailorings of 4.0.0 and 9.0.0, Japanese and Chinese (`eastern.rs`) larger ones;
//! `general_ci` gives each character of the first plane one weight; 8-bit sets have a weight for each byte;
//! in Chinese, Japanese and Korean sets a character weighs bytes, mostly those of its code (`multi_byte.rs`);
//! Thai and Czech texts weigh as wholes (`whole.rs`).
//!
//! PAD SPACE collations compare as if spaces went on for ever behind the end of each string: trailing spaces
//! do not count, and a control character sorts before the end.

mod alike;
mod catalog;
mod eastern;
mod fold;
mod like;
mod multi_byte;
mod occurrence;
mod rules;
mod shown;
mod table;
mod tailoring;
#[cfg(test)]
mod tests;
mod whole;

use std::cmp::Ordering;

use crate::charset::Charset;
use crate::error::SqlResult;
use crate::memory::Held;
pub use fold::Fold;
pub use like::{like, literal_front};
use rules::{Base, Order, Rules};
pub use shown::Weighing;

/// A collation this server knows, by MySQL's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Collation(u16);

impl Charset {
    /// The collation of text that names none.
    pub fn default_collation(self) -> Collation {
        Collation::by_id(self.entry().default).unwrap_or(Collation::Binary)
    }

    /// The collation by code.
    pub fn bin_collation(self) -> Collation {
        Collation::by_id(self.entry().bin).unwrap_or(Collation::Binary)
    }
}

#[allow(missing_docs, non_upper_case_globals, reason = "the constants are the collations of MySQL's names")]
impl Collation {
    pub const Binary: Collation = Collation(63);
    pub const Utf8mb4Bin: Collation = Collation(46);
    pub const Utf8mb4GeneralCi: Collation = Collation(45);
    pub const Utf8mb40900AiCi: Collation = Collation(255);
    pub const Utf8mb3GeneralCi: Collation = Collation(33);
    pub const Utf8mb3Bin: Collation = Collation(83);
}

impl Collation {
    /// The server's default, `utf8mb4_0900_ai_ci`.
    pub const DEFAULT: Collation = Collation::Utf8mb40900AiCi;

    /// All collations by number.
    pub fn all() -> impl Iterator<Item = Collation> {
        catalog::all()
    }

    /// Every value was made from an entry of the catalog.
    fn entry(self) -> &'static catalog::Entry {
        catalog::find(self.0).expect("a collation comes from the catalog")
    }

    /// By name, any case; the old `utf8_` prefix means `utf8mb3_`.
    pub fn by_name(name: &str) -> Option<Collation> {
        let name = name.to_ascii_lowercase();
        let name = name.strip_prefix("utf8_").map_or(name.clone(), |rest| format!("utf8mb3_{rest}"));
        Collation::all().find(|one| one.name() == name)
    }

    /// By the number used on the wire and in the dictionary.
    pub fn by_id(id: u16) -> Option<Collation> {
        catalog::find(id).map(|entry| Collation(entry.id))
    }

    /// The default collation of a character set; `utf8` means `utf8mb3`.
    pub fn default_of_charset(charset: &str) -> Option<Collation> {
        Charset::by_name(charset).map(Charset::default_collation)
    }

    /// The `_bin` collation of this collation's character set.
    pub fn binary_of_charset(self) -> Collation {
        self.set().bin_collation()
    }

    /// Name as in SHOW COLLATION.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// The character set.
    pub fn set(self) -> Charset {
        self.entry().charset
    }

    /// Name of the character set.
    pub fn charset(self) -> &'static str {
        self.set().name()
    }

    /// Number on the wire.
    pub fn id(self) -> u16 {
        self.0
    }

    /// True if it is the default of its character set.
    pub fn is_default(self) -> bool {
        self.set().default_collation() == self
    }

    /// True if trailing spaces do not count.
    pub fn pads_space(self) -> bool {
        !matches!(self.0, 63 | 255..)
    }

    /// True for the collations of utf8mb4, whose columns take every text.
    pub const fn takes_any_text(self) -> bool {
        matches!(self.0, 45 | 46 | 224..=247 | 255..)
    }

    /// True for `binary` and the `_bin` collations: weights are the bytes.
    pub fn is_binary_order(self) -> bool {
        matches!(self.entry().order, Order::Bytes | Order::Encoded)
    }

    /// True if letters that differ in case only are different.
    pub fn is_case_sensitive(self) -> bool {
        self.is_binary_order() || self.name().ends_with("_cs") || self.name().ends_with("_cs_ks")
    }

    /// Memory a sort takes for a byte of text, as SHOW COLLATION says it.
    pub fn sort_length(self) -> u8 {
        self.entry().sort_length
    }

    /// Most bytes one character takes in the announced character set.
    pub fn max_char_bytes(self) -> u32 {
        self.set().max_char_bytes()
    }

    fn rules(self) -> &'static Rules {
        let entry = self.entry();
        Rules::of(entry.id, entry.order, entry.charset, self.pads_space())
    }

    fn is_by_utf8(self) -> bool {
        self.entry().order == Order::Bytes
    }

    fn significant(self, text: &[u8]) -> &[u8] {
        if self.pads_space() { trim_spaces(text) } else { text }
    }

    /// Compares two strings (UTF-8; bytes for `binary`).
    pub fn compare(self, left: &[u8], right: &[u8]) -> Ordering {
        let pads = self.pads_space();
        let order = self.entry().order;
        if let Order::Whole(whole) = order
            && whole.pads()
        {
            // A mark moves behind the spaces at the end.
            return rules::compare_padded_bytes(&whole.weights(left), &whole.weights(right));
        }
        let (left, right) = if pads { (trim_spaces(left), trim_spaces(right)) } else { (left, right) };
        match order {
            Order::Bytes if pads => rules::compare_padded_bytes(left, right),
            Order::Bytes => left.cmp(right),
            Order::Whole(_) if left == right => Ordering::Equal,
            Order::Whole(whole) => whole.weights(left).cmp(&whole.weights(right)),
            _ => self.rules().compare(left, right),
        }
    }

    /// Appends bytes whose memcmp order is the collation's order; equal strings give equal bytes. No
    /// terminator.
    pub fn append_weights(self, text: &[u8], out: &mut Vec<u8>) {
        match self.entry().order {
            Order::Bytes if self.pads_space() => rules::append_padded_bytes(text, out),
            Order::Bytes => out.extend_from_slice(text),
            Order::Whole(whole) if whole.pads() => {
                rules::append_padded_bytes(&whole.weights(text), out);
            }
            Order::Whole(whole) => out.extend_from_slice(&whole.weights(self.significant(text))),
            _ => self.rules().append_key(self.significant(text), out),
        }
    }

    /// Appends bytes that the weights of all strings which LIKE finds by `text%` begin with: as many as are
    /// sure.
    pub fn append_front(self, text: &[u8], out: &mut Vec<u8>) {
        let end = text.iter().position(|byte| *byte == b' ').filter(|_| self.pads_space());
        let text = &text[..end.unwrap_or(text.len())];
        match self.entry().order {
            Order::Bytes => out.extend_from_slice(text),
            Order::Whole(_) | Order::Eastern(..) => {}
            _ => self.rules().append_front(text, out),
        }
    }

    /// True for characters that LIKE and its kin, as in MySQL, take as they are, whatever they weigh: those
    /// of several bytes in the older sets of them, and those that a table of the first plane lacks.
    pub fn takes_as_it_is(self, character: char) -> bool {
        !character.is_ascii()
            && (self.set().is_multi_byte() && self.set() != Charset::Gb18030
                || character > '\u{FFFF}' && self.entry().order.base() == Some(Base::Uca400))
    }

    /// Where `needle` first occurs in `text` by weights, under an order in which characters do not weigh one
    /// by one; the outer None where the characters of both do.
    pub fn find_by_weights(
        self,
        text: &[u8],
        needle: &[u8],
        held: &mut Held<'_>,
    ) -> SqlResult<Option<Option<usize>>> {
        if matches!(self.entry().order, Order::Whole(_)) {
            return Ok(None);
        }
        let rules = self.rules();
        if rules.weighs_each(text) && rules.weighs_each(needle) {
            return Ok(None);
        }
        occurrence::find(rules, text, needle, held).map(Some)
    }

    /// True if the dotted and the dotless i are two letters in either case.
    pub fn is_turkish(self) -> bool {
        self.name().ends_with("_turkish_ci")
    }

    /// The collation that LIKE matches by: on three levels, so hiragana match katakana even where a fourth
    /// level tells them apart.
    fn of_patterns(self) -> Collation {
        if self.0 == 304 { Collation(303) } else { self }
    }

    /// True if the two characters count as the same (LIKE, INSTR, REPLACE work character by character).
    pub fn same_character(self, left: char, right: char) -> bool {
        if left == right {
            return true;
        }
        if self.is_by_utf8() {
            return false;
        }
        if self.takes_as_it_is(left) || self.takes_as_it_is(right) {
            return false;
        }
        let (mut one, mut other) = ([0; 4], [0; 4]);
        if let Order::Whole(whole) = self.entry().order {
            let weights = |letter: char| whole.weights(letter.encode_utf8(&mut [0; 4]).as_bytes());
            return weights(left) == weights(right);
        }
        self.rules().same(left.encode_utf8(&mut one).as_bytes(), right.encode_utf8(&mut other).as_bytes())
    }
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
    let lower = |character| match character {
        // Its small letter has a combining dot of its own, which takes a second character.
        '\u{130}' => 'i',
        other => single(other, other.to_lowercase()),
    };
    text.chars().map(lower).collect()
}

/// Upper case of Turkish: the small dotted i keeps its dot.
pub fn to_turkish_upper(text: &str) -> String {
    to_upper(&text.replace('i', "\u{130}"))
}

/// Lower case of Turkish: the dotless I stays without a dot.
pub fn to_turkish_lower(text: &str) -> String {
    to_lower(&text.replace('I', "\u{131}"))
}

fn single(original: char, mut mapped: impl Iterator<Item = char>) -> char {
    match (mapped.next(), mapped.next()) {
        (Some(character), None) => character,
        _ => original,
    }
}

/// Decodes the character at the start of `text`; an invalid byte counts as U+FFFD of length 1.
pub fn first_character(text: &[u8]) -> Option<(char, usize)> {
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
