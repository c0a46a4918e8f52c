//! One level of a collation: the weights of a text, one after another.

use std::cmp::Ordering;

use super::super::first_character;
use super::super::multi_byte::bytes_found;
use super::super::table::{self, Found};
use super::super::tailoring::Tailoring;
use super::{Base, Source, WEIGHT_WORK};
use crate::charset::eight_bit_weight;
use crate::pulse::Pace;

/// Stands in the table of ASCII weights for a character that does not weigh one number whatever follows it.
const NOT_PLAIN: u16 = 0xFFFF;

/// One level's weights.
pub struct Level {
    pub(super) source: Source,
    pub(super) ascii: [u16; 128],
    /// Weight 0 in the table is none at all.
    pub(super) skips_zero: bool,
    /// A character's weight may depend on the ones before it.
    pub(super) contracts: bool,
}

impl Level {
    pub(super) fn new(source: Source) -> Level {
        let contracts = match source {
            Source::Tailored(_, tailoring, _) => tailoring.has_contractions(),
            Source::Eastern(language) => language.looks_around(),
            _ => false,
        };
        let skips_zero = match source {
            Source::Table(table) => !std::ptr::eq(table, &table::GENERAL_CI),
            Source::Tailored(_, tailoring, _) => tailoring.base != Base::General,
            Source::Eastern(_) => true,
            Source::EightBit(..) | Source::MultiByte(..) | Source::Encoded(_) => false,
        };
        let mut level = Level { source, ascii: [NOT_PLAIN; 128], skips_zero, contracts };
        level.ascii = std::array::from_fn(|byte| level.plain_weight(byte as u8));
        level
    }

    /// The weight of an ASCII character if it has at most one, whatever follows.
    fn plain_weight(&self, byte: u8) -> u16 {
        let character = char::from(byte);
        let begins = match self.source {
            Source::Tailored(_, tailoring, _) => tailoring.begins_contraction(character),
            Source::Eastern(language) => language.begins_sequence(character),
            _ => false,
        };
        if begins {
            return NOT_PLAIN;
        }
        let mut weights =
            Weights { text: &[], level: self, pending: Pending::new(self.find(character, &[byte])) };
        match (weights.next(), weights.next()) {
            (None, _) if self.skips_zero => 0,
            (Some(0), _) if self.skips_zero => NOT_PLAIN,
            (Some(weight), None) => weight,
            _ => NOT_PLAIN,
        }
    }

    /// The weights of the first character or contraction of `text`, which begins with `character`; the
    /// tailoring and level that move them; the bytes it takes.
    fn find(&self, character: char, text: &[u8]) -> (Found, Option<Moving>, usize) {
        let length = character.len_utf8();
        match self.source {
            Source::Table(table) => (table.weights(character), None, length),
            Source::Tailored(table, tailoring, level) => match tailoring.find(character, text) {
                Some((levels, length)) => (Found::Many(levels[level]), None, length),
                None => (table.weights(character), Some((tailoring, level)), length),
            },
            Source::Eastern(language) => {
                let (found, length) = language.find(character, text);
                (found, None, length)
            }
            Source::EightBit(charset, nth) => {
                let Some(byte) = charset.byte_of(character) else {
                    return (missing(character), None, length);
                };
                let weight = eight_bit_weight(nth, byte);
                let weights = [weight & 0xFF, weight >> 8, 0, 0];
                (Found::Derived(weights, if weight > 0xFF { 2 } else { 1 }), None, length)
            }
            Source::MultiByte(charset, order) => {
                (order.weights(charset, character).unwrap_or_else(|| missing(character)), None, length)
            }
            Source::Encoded(charset) => {
                let found = charset
                    .code_of(character)
                    .map_or_else(|| missing(character), |code| bytes_found(code.bytes()));
                (found, None, length)
            }
        }
    }

    /// The weight of an ASCII character that has one, whatever follows.
    #[inline]
    pub(super) fn simple(&self, byte: Option<&u8>) -> Option<u16> {
        let weight = *self.ascii.get(usize::from(*byte?))?;
        (weight != NOT_PLAIN && (weight != 0 || !self.skips_zero)).then_some(weight)
    }

    /// The weights of a text whose last character says how the mark at its beginning weighs.
    pub(super) fn wrapped<'t>(&'t self, text: &'t [u8]) -> Option<Weights<'t>> {
        let Source::Eastern(language) = self.source else { return None };
        let (found, length) = language.wrapped(text)?;
        Some(Weights { text: &text[length..], level: self, pending: Pending::new((found, None, length)) })
    }

    /// Appends the weights of the plain ASCII characters that `text` begins with; what is behind them comes
    /// back.
    pub(super) fn append_ascii<'t>(&self, text: &'t [u8], out: &mut Vec<u8>) -> &'t [u8] {
        let start = out.len();
        out.resize(start + text.len() * 2, 0);
        let room = &mut out[start..];
        let weighed = text.iter().zip(room.chunks_exact_mut(2));
        // As long as every character has a weight, each has its place and there is nothing to count.
        let (mut rest, mut end) = (text.len(), 0);
        for (at, (byte, place)) in weighed.enumerate() {
            let Some(weight) = self.simple(Some(byte)) else {
                (rest, end) = (at, at * 2);
                break;
            };
            place.copy_from_slice(&weight.to_be_bytes());
        }
        if rest == text.len() {
            return &[];
        }
        for (at, byte) in text.iter().enumerate().skip(rest) {
            rest = at;
            let weight = match self.ascii.get(usize::from(*byte)) {
                Some(&weight) if weight != NOT_PLAIN => weight,
                _ => break,
            };
            rest = at + 1;
            // Written in any case, and kept if it is one: no branch per character.
            room[end] = (weight >> 8) as u8;
            room[end + 1] = weight as u8;
            end += if weight != 0 || !self.skips_zero { 2 } else { 0 };
        }
        out.truncate(start + end);
        &text[rest..]
    }

    /// The first weight of `text` and what is behind its character; None at the end and before a character
    /// that is not plain ASCII.
    fn first<'t>(&self, text: &'t [u8]) -> Option<(u16, &'t [u8])> {
        let mut at = 0;
        loop {
            let weight = *self.ascii.get(usize::from(*text.get(at)?))?;
            at += 1;
            if weight == NOT_PLAIN {
                return None;
            }
            if weight != 0 || !self.skips_zero {
                return Some((weight, &text[at..]));
            }
        }
    }

    /// Compares by this level's weights. Most text is ASCII, whose characters have one weight or none each,
    /// whatever their neighbours: as far as both texts are, a table of 128 weights decides.
    pub(super) fn compare(&self, mut left: &[u8], mut right: &[u8], pad: Option<u16>) -> Ordering {
        if !self.contracts {
            let same =
                left.iter().zip(right).take_while(|(one, other)| one == other && one.is_ascii()).count();
            (left, right) = (&left[same..], &right[same..]);
            // Most often the characters there decide.
            if let (Some(one), Some(other)) = (self.simple(left.first()), self.simple(right.first()))
                && one != other
            {
                return one.cmp(&other);
            }
        } else if self.wrapped(left).is_some() || self.wrapped(right).is_some() {
            let whole = |text| self.wrapped(text).unwrap_or_else(|| Weights::new(text, self));
            return whole(left).cmp(whole(right));
        }
        if left == right {
            return Ordering::Equal;
        }
        let mut pace = Pace::default();
        while let (Some((one, left_after)), Some((other, right_after))) =
            (self.first(left), self.first(right))
        {
            if one != other || !pace.passes(1) {
                return one.cmp(&other);
            }
            (left, right) = (left_after, right_after);
        }
        let (mut left, mut right) = (Weights::new(left, self), Weights::new(right, self));
        loop {
            let (one, other) = match (left.next(), right.next()) {
                (None, None) => return Ordering::Equal,
                // Without padding nothing is below everything.
                (one, other) => (one.or(pad), other.or(pad)),
            };
            if one != other || !pace.passes(WEIGHT_WORK) {
                return one.cmp(&other);
            }
        }
    }
}

/// Weights of a string on one level, in order; ignorable characters give none.
pub struct Weights<'a> {
    text: &'a [u8],
    level: &'a Level,
    pending: Pending,
}

/// Weights of one character still to be delivered.
struct Pending {
    many: &'static [u16],
    derived: [u16; 4],
    at: u8,
    count: u8,
    moving: Option<Moving>,
}

/// A tailoring that moves weights of its base, and the level.
type Moving = (&'static Tailoring, usize);

impl Pending {
    fn new((found, moving, _): (Found, Option<Moving>, usize)) -> Pending {
        let (many, derived, count): (&'static [u16], _, _) = match found {
            Found::One(weight) => (&[], [weight, 0, 0, 0], 1),
            Found::Many(many) => (many, [0; 4], 0),
            Found::Derived(weights, count) => (&[], weights, count),
        };
        Pending { many, derived, at: 0, count, moving }
    }

    fn next(&mut self) -> Option<u16> {
        let weight = if self.at < self.count {
            self.at += 1;
            self.derived[usize::from(self.at) - 1]
        } else {
            let (first, rest) = self.many.split_first()?;
            self.many = rest;
            *first
        };
        Some(self.moving.map_or(weight, |(tailoring, level)| tailoring.moved(level, weight)))
    }
}

impl<'a> Weights<'a> {
    pub(crate) fn new(text: &'a [u8], level: &'a Level) -> Weights<'a> {
        Weights { text, level, pending: Pending::new((Found::Many(&[]), None, 0)) }
    }

    /// Goes on to the next character or contraction; the text behind it comes back.
    pub(crate) fn read_one(&mut self) -> &'a [u8] {
        if let Some((character, length)) = first_character(self.text) {
            let found = self.level.find(character, self.text);
            // An invalid byte counts as a character longer than itself.
            let used = if character == '\u{FFFD}' { length } else { found.2 };
            self.text = &self.text[used..];
            self.pending = Pending::new(found);
        }
        self.text
    }

    /// The weights of the character that was read last.
    pub(crate) fn pending(&mut self) -> impl Iterator<Item = u16> {
        std::iter::from_fn(|| self.pending.next())
    }
}

impl Iterator for Weights<'_> {
    type Item = u16;

    fn next(&mut self) -> Option<u16> {
        loop {
            if let Some(weight) = self.pending.next() {
                return Some(weight);
            }
            if self.text.is_empty() {
                return None;
            }
            self.read_one();
        }
    }
}

/// Weights of a character that the 8-bit set lacks, which a text to compare with may have: above all others,
/// and like those of no text of the set.
fn missing(character: char) -> Found {
    let point = u32::from(character);
    Found::Derived([0x1FF, 0x100 | (point >> 8) as u16, 0x100 | (point & 0xFF) as u16, 0], 3)
}
