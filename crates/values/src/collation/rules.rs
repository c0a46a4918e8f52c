//! The weights of a collation's characters, level by level, and how strings compare and become keys by them.
//! Rules are put together at a collation's first use out of its table, its tailoring or its character set.

mod level;

use std::cmp::Ordering;
use std::sync::OnceLock;

use super::eastern::{Eastern, LanguageLevel};
use super::multi_byte::CodeOrder;
use super::table::{self, Table};
use super::tailoring::Tailoring;
use super::whole::Whole;
use super::{catalog, trim_spaces};
use crate::charset::Charset;
use crate::pulse::Pace;

pub(super) use level::{Level, Weights};

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

    /// Appends bytes that the keys of all strings which begin with `text`, character by character, begin
    /// with. None are appended where a character weighs by what stands behind it.
    pub(super) fn append_front(&self, text: &[u8], out: &mut Vec<u8>) {
        let level = &self.levels[0];
        if level.contracts {
            return;
        }
        // How a space is marked depends on what follows it.
        for weight in Weights::new(text, level).take_while(|weight| Some(*weight) != self.pad) {
            self.append_weight(weight, out);
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
        self.levels.iter().all(|level| match (left, right) {
            // Two plain ASCII characters, as most are.
            ([one], [other])
                if let (Some(one), Some(other)) = (level.simple(Some(one)), level.simple(Some(other))) =>
            {
                one == other
            }
            _ => Weights::new(left, level).eq(Weights::new(right, level)),
        })
    }
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
