//! The weights of a collation's characters, level by level, and how strings compare and become keys by them.
//! Rules are put together at a collation's first use out of its table, its tailoring or its character set.

use std::cmp::Ordering;
use std::sync::OnceLock;

use super::eastern::{Eastern, LanguageLevel};
use super::multi_byte::{CodeOrder, bytes_found};
use super::table::{self, Found, Table};
use super::tailoring::Tailoring;
use super::whole::Whole;
use super::{catalog, first_character, trim_spaces};
use crate::charset::{Charset, eight_bit_weight};
use crate::pulse::Pace;

/// A table that other orders build on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Base {
    General,
    Uca400,
    Uca520,
    Uca900,
}

impl Base {
    /// By the number in a file's header.
    pub(super) fn of_rule(rule: u16) -> Base {
        match rule {
            0 => Base::General,
            1 => Base::Uca400,
            2 => Base::Uca520,
            _ => Base::Uca900,
        }
    }

    /// The table of a level.
    pub(super) fn level(self, level: usize) -> &'static Table {
        match (self, level) {
            (Base::General, _) => &table::GENERAL_CI,
            (Base::Uca400, _) => &table::UCA_400,
            (Base::Uca520, _) => &table::UCA_520,
            (Base::Uca900, 0) => &table::UCA_900,
            (Base::Uca900, 1) => &table::UCA_900_SECONDARY,
            (Base::Uca900, _) => &table::UCA_900_TERTIARY,
        }
    }
}

/// How a collation orders characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// By UTF-8 bytes, which is by code point.
    Bytes,
    /// By the bytes in the character set.
    Encoded,
    /// By the weights of a table, so many levels of them.
    Table(Base, u8),
    /// By the weights of a tailoring and its base.
    Tailored(u8, u8),
    /// By the weights of Japanese or Chinese, so many levels of them.
    Eastern(Eastern, u8),
    /// By a weight for each byte of an 8-bit set.
    EightBit(u8),
    /// By the weights of the codes of a set of several bytes.
    MultiByte(u8),
    /// As a whole.
    Whole(Whole),
}

impl Order {
    /// The table it builds on.
    pub(super) fn base(self) -> Option<Base> {
        match self {
            Order::Table(base, _) => Some(base),
            Order::Tailored(nth, _) => Some(Tailoring::get(nth).base),
            Order::Eastern(..) => Some(Base::Uca900),
            Order::Bytes | Order::Encoded | Order::EightBit(_) | Order::MultiByte(_) | Order::Whole(_) => {
                None
            }
        }
    }
}

/// Where a level's weights come from.
#[derive(Clone, Copy)]
enum Source {
    Table(&'static Table),
    Tailored(&'static Table, &'static Tailoring, usize),
    Eastern(&'static LanguageLevel),
    EightBit(Charset, u8),
    MultiByte(Charset, &'static CodeOrder),
    Encoded(Charset),
}

/// What reading a character and its weight takes, in plain bytes.
const WEIGHT_WORK: usize = 8;

/// Stands in the table of ASCII weights for a character that does not weigh one number whatever follows it.
const NOT_PLAIN: u16 = 0xFFFF;

/// One level's weights.
pub(super) struct Level {
    source: Source,
    ascii: [u16; 128],
    /// Weight 0 in the table is none at all.
    skips_zero: bool,
    /// A character's weight may depend on the ones before it.
    contracts: bool,
}

/// All that a collation's comparisons need.
pub(super) struct Rules {
    levels: Vec<Level>,
    /// The weight that stands behind the end of a string, for PAD SPACE.
    pad: Option<u16>,
    /// ASCII characters above the space weigh more than it, or nothing.
    plain_above_space: bool,
    /// Keys have one byte a weight.
    narrow: bool,
}

impl Rules {
    /// The rules of a collation that is not by UTF-8 bytes.
    pub(super) fn of(id: u16, order: Order, charset: Charset, pads: bool) -> &'static Rules {
        static ALL: [OnceLock<Rules>; catalog::NUMBERS] = [const { OnceLock::new() }; catalog::NUMBERS];
        ALL[usize::from(id)].get_or_init(|| Rules::new(order, charset, pads))
    }

    fn new(order: Order, charset: Charset, pads: bool) -> Rules {
        let levels: Vec<Level> = match order {
            Order::Table(base, levels) => {
                (0..usize::from(levels)).map(|nth| Level::new(Source::Table(base.level(nth)))).collect()
            }
            Order::Tailored(nth, levels) => {
                let tailoring = Tailoring::get(nth);
                let level = |nth| Level::new(Source::Tailored(tailoring.base.level(nth), tailoring, nth));
                (0..usize::from(levels)).map(level).collect()
            }
            Order::Eastern(language, levels) => {
                let level = |nth| Level::new(Source::Eastern(LanguageLevel::get(language, nth)));
                (0..usize::from(levels)).map(level).collect()
            }
            Order::EightBit(nth) => vec![Level::new(Source::EightBit(charset, nth))],
            Order::MultiByte(nth) => vec![Level::new(Source::MultiByte(charset, CodeOrder::get(nth)))],
            Order::Encoded | Order::Bytes | Order::Whole(_) => vec![Level::new(Source::Encoded(charset))],
        };
        let narrow = matches!(order, Order::EightBit(_) | Order::MultiByte(_) | Order::Encoded);
        let space = levels[0].ascii[usize::from(b' ')];
        let above = levels[0].ascii[0x21..].iter().all(|weight| *weight == 0 || *weight > space);
        Rules { levels, pad: pads.then_some(space), plain_above_space: above, narrow }
    }

    /// The levels, the one that counts most first.
    pub(super) fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// True if each character of the text has one weight of its own, whatever stands around it.
    pub(super) fn weighs_each(&self, text: &[u8]) -> bool {
        !self.levels[0].skips_zero || text.iter().all(|byte| self.levels[0].simple(Some(byte)).is_some())
    }

    /// Compares two strings; trailing spaces are off already where they do not count.
    pub(super) fn compare(&self, left: &[u8], right: &[u8]) -> Ordering {
        self.levels
            .iter()
            .map(|level| level.compare(left, right, self.pad))
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }

    /// Appends a key: bytes in the order of the strings, the same for equal ones. Levels stand behind one
    /// another with a weight 0 between them. Under PAD SPACE each space has a mark behind it that says
    /// whether what follows the run of spaces is below (1) or above (3) a space, and at the end stands a
    /// space marked 2: the spaces that go on for ever.
    pub(super) fn append_key(&self, text: &[u8], out: &mut Vec<u8>) {
        if let Some(space) = self.pad {
            return self.append_padded(text, space, out);
        }
        for (nth, level) in self.levels.iter().enumerate() {
            if nth > 0 {
                out.extend_from_slice(&[0, 0]);
            }
            self.append_level(level, text, out);
        }
    }

    /// Appends the weights as WEIGHT_STRING shows them: no fourth level of a text without kana.
    pub(super) fn append_shown(&self, text: &[u8], out: &mut Vec<u8>) {
        for (nth, level) in self.levels.iter().enumerate() {
            if nth == 3 && !Weights::new(text, level).any(|weight| weight > 0) {
                break;
            }
            if nth > 0 {
                out.extend_from_slice(&[0, 0]);
            }
            let from = out.len();
            self.append_level(level, text, out);
            if let Source::MultiByte(_, order) = level.source {
                order.drop_ties(out, from);
            }
        }
    }

    fn append_level(&self, level: &Level, text: &[u8], out: &mut Vec<u8>) {
        let rest = if self.narrow { text } else { level.append_ascii(text, out) };
        let weights = level.wrapped(text).unwrap_or_else(|| Weights::new(rest, level));
        let mut pace = Pace::default();
        for weight in weights {
            self.append_weight(weight, out);
            if !pace.passes(WEIGHT_WORK) {
                return;
            }
        }
    }

    fn append_weight(&self, weight: u16, out: &mut Vec<u8>) {
        match self.narrow {
            true => out.push(weight as u8),
            false => out.extend_from_slice(&weight.to_be_bytes()),
        }
    }

    fn append_padded(&self, text: &[u8], space: u16, out: &mut Vec<u8>) {
        let level = &self.levels[0];
        let simple = self.plain_above_space && text.iter().all(|byte| (0x21..0x80).contains(byte));
        if simple {
            self.append_level(level, text, out);
        } else {
            let (mut spaces, mut pace) = (0, Pace::default());
            for weight in Weights::new(text, level) {
                if !pace.passes(WEIGHT_WORK) {
                    return;
                }
                if weight == space {
                    spaces += 1;
                    continue;
                }
                for _ in 0..std::mem::take(&mut spaces) {
                    self.append_weight(space, out);
                    out.push(if weight < space { 1 } else { 3 });
                }
                self.append_weight(weight, out);
            }
        }
        self.append_weight(space, out);
        out.push(2);
    }

    /// True if the two texts have the same weights on every level.
    pub(super) fn same(&self, left: &[u8], right: &[u8]) -> bool {
        self.levels.iter().all(|level| Weights::new(left, level).eq(Weights::new(right, level)))
    }
}

impl Level {
    fn new(source: Source) -> Level {
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
    fn simple(&self, byte: Option<&u8>) -> Option<u16> {
        let weight = *self.ascii.get(usize::from(*byte?))?;
        (weight != NOT_PLAIN && (weight != 0 || !self.skips_zero)).then_some(weight)
    }

    /// The weights of a text whose last character says how the mark at its beginning weighs.
    fn wrapped<'t>(&'t self, text: &'t [u8]) -> Option<Weights<'t>> {
        let Source::Eastern(language) = self.source else { return None };
        let (found, length) = language.wrapped(text)?;
        Some(Weights { text: &text[length..], level: self, pending: Pending::new((found, None, length)) })
    }

    /// Appends the weights of the plain ASCII characters that `text` begins with; what is behind them comes
    /// back.
    fn append_ascii<'t>(&self, text: &'t [u8], out: &mut Vec<u8>) -> &'t [u8] {
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
    fn compare(&self, mut left: &[u8], mut right: &[u8], pad: Option<u16>) -> Ordering {
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
pub(super) struct Weights<'a> {
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
    pub(super) fn new(text: &'a [u8], level: &'a Level) -> Weights<'a> {
        Weights { text, level, pending: Pending::new((Found::Many(&[]), None, 0)) }
    }

    /// Goes on to the next character or contraction; the text behind it comes back.
    pub(super) fn read_one(&mut self) -> &'a [u8] {
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
    pub(super) fn pending(&mut self) -> impl Iterator<Item = u16> {
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

/// Compares by bytes with spaces behind the end of the shorter text.
pub(super) fn compare_padded_bytes(left: &[u8], right: &[u8]) -> Ordering {
    let shared = left.len().min(right.len());
    left[..shared].cmp(&right[..shared]).then_with(|| {
        let space = |rest: &[u8]| rest.iter().map(|byte| byte.cmp(&b' ')).find(|order| order.is_ne());
        match left.len() > shared {
            true => space(&left[shared..]).unwrap_or(Ordering::Equal),
            false => space(&right[shared..]).map_or(Ordering::Equal, Ordering::reverse),
        }
    })
}

/// The key of a PAD SPACE collation by UTF-8 bytes; see [`Rules::append_key`].
pub(super) fn append_padded_bytes(text: &[u8], out: &mut Vec<u8>) {
    let mut rest = trim_spaces(text);
    while let Some(at) = rest.iter().position(|byte| *byte == b' ') {
        out.extend_from_slice(&rest[..at]);
        let spaces = rest[at..].iter().take_while(|byte| **byte == b' ').count();
        rest = &rest[at + spaces..];
        let mark = if rest.first().is_some_and(|byte| *byte < b' ') { 1 } else { 3 };
        (0..spaces).for_each(|_| out.extend_from_slice(&[b' ', mark]));
    }
    out.extend_from_slice(rest);
    out.extend_from_slice(&[b' ', 2]);
}
