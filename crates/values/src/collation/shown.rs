//! The weights as WEIGHT_STRING shows them: those of the text, cut and filled up as the call says.

use super::rules::Base::{General, Uca900};
use super::rules::Order;
use super::tailoring::Tailoring;
use super::whole::Whole;
use super::{Collation, first_character};
use crate::charset::Charset;

/// What a call of WEIGHT_STRING says besides the text.
pub struct Weighing {
    /// Characters to which text is cut, or under PAD SPACE filled up; 0: as many as it has.
    pub characters: u64,
    /// Bytes that the result has at most.
    pub bytes: u64,
    /// Whether the result is filled up to them.
    pub fills_up: bool,
}

/// How a collation writes a character's weights.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// As bytes, which nothing fills up but zeros.
    Bytes,
    /// As the bytes of the character set.
    Narrow,
    /// As code points of so many bytes.
    Points(usize),
    /// As words of the weight table.
    Words,
    /// As the weights of the whole.
    Whole(Whole),
}

/// Characters of an ideograph's or a letter's expansion under UCA 9.0.0.
const MODERN_WEIGHTS: u64 = 8;

impl Collation {
    fn shape(self) -> Shape {
        match self.entry().order {
            Order::Bytes if !self.pads_space() => Shape::Bytes,
            Order::Bytes if matches!(self.set(), Charset::Ucs2 | Charset::Utf8mb3) => Shape::Points(2),
            Order::Bytes => Shape::Points(3),
            Order::Encoded | Order::EightBit(_) | Order::MultiByte(_) => Shape::Narrow,
            Order::Table(..) | Order::Tailored(..) | Order::Eastern(..) => Shape::Words,
            Order::Whole(whole) => Shape::Whole(whole),
        }
    }

    /// The most bytes that the weights of a text of so many bytes take.
    pub fn shown_bytes_max(self, bytes: u64) -> u64 {
        let characters = bytes.div_ceil(u64::from(self.max_char_bytes()));
        let (base, levels) = match self.entry().order {
            Order::Table(base, levels) => (base, levels),
            Order::Tailored(nth, levels) => (Tailoring::get(nth).base, levels),
            Order::Eastern(_, levels) => (Uca900, levels),
            Order::Bytes | Order::Encoded | Order::EightBit(_) | Order::MultiByte(_) | Order::Whole(_) => {
                return match self.shape() {
                    Shape::Points(width) => characters.saturating_mul(width as u64),
                    _ => bytes.saturating_mul(u64::from(self.sort_length()).max(1)),
                };
            }
        };
        match base {
            General => characters.saturating_mul(2),
            Uca900 => {
                let levels = u64::from(levels);
                characters
                    .saturating_mul(MODERN_WEIGHTS * levels)
                    .saturating_add(levels - 1)
                    .saturating_mul(2)
            }
            _ => bytes.saturating_mul(u64::from(self.sort_length())),
        }
    }

    /// How many characters a text has; bytes under `binary`.
    pub fn characters(self, text: &[u8]) -> usize {
        match self {
            Collation::Binary => text.len(),
            _ => {
                std::iter::successors(Some(text), |rest| Some(&rest[first_character(rest)?.1..])).count() - 1
            }
        }
    }

    /// The place behind so many characters.
    fn place_of(self, text: &[u8], characters: u64) -> usize {
        let most = usize::try_from(characters).unwrap_or(usize::MAX).min(text.len());
        if self == Collation::Binary {
            return most;
        }
        let mut at = 0;
        for _ in 0..most {
            let Some((_, length)) = first_character(&text[at..]) else { break };
            at += length;
        }
        at
    }

    /// Appends what WEIGHT_STRING shows of a text.
    pub fn append_weighed(self, text: &[u8], weighing: &Weighing, out: &mut Vec<u8>) {
        let start = out.len();
        let most = usize::try_from(weighing.bytes).unwrap_or(usize::MAX);
        let mut text = text;
        let mut missing = 0;
        if weighing.characters > 0 {
            text = &text[..self.place_of(text, weighing.characters)];
            missing = weighing.characters.saturating_sub(self.characters(text) as u64);
        }
        self.append_shown_weights(text, out);
        let space = self.shown_space();
        let pads = match self.shape() {
            Shape::Bytes => false,
            Shape::Whole(whole) => whole.pads(),
            _ => self.pads_space(),
        };
        if pads {
            let room = most.saturating_sub(out.len() - start).div_ceil(space.len());
            let more = room.min(usize::try_from(missing).unwrap_or(usize::MAX));
            (0..more).for_each(|_| out.extend_from_slice(&space));
        }
        if weighing.fills_up {
            while out.len() - start < most {
                out.extend_from_slice(&space);
            }
        }
        out.truncate(start.saturating_add(most));
    }

    /// What stands for a space that the text lacks.
    fn shown_space(self) -> Vec<u8> {
        let mut space = Vec::new();
        match self.shape() {
            Shape::Narrow => space.push(b' '),
            Shape::Whole(whole) => space.push(if whole.pads() { b' ' } else { 0 }),
            Shape::Words if self.pads_space() => self.append_shown_weights(b" ", &mut space),
            Shape::Points(_) => self.append_shown_weights(b" ", &mut space),
            Shape::Bytes | Shape::Words => space.push(0),
        }
        space
    }

    /// Appends the weights of a text, uncut.
    pub(super) fn append_shown_weights(self, text: &[u8], out: &mut Vec<u8>) {
        match self.shape() {
            Shape::Bytes => out.extend_from_slice(text),
            Shape::Whole(whole) => out.extend_from_slice(&whole.weights(text)),
            Shape::Narrow | Shape::Words => self.rules().append_shown(text, out),
            Shape::Points(width) => {
                let mut rest = text;
                while let Some((character, length)) = first_character(rest) {
                    let point = u32::from(character).to_be_bytes();
                    out.extend_from_slice(&point[4 - width..]);
                    rest = &rest[length..];
                }
            }
        }
    }
}
