//! Orders that weigh a text as a whole: Thai, which reads vowels behind the consonants they stand before and
//! tone marks last, and the two Czech ones, which go through a text several times. The Czech weights are in
//! `czech.bin` (layout: `tables/generate_multi_byte.py`).

use crate::charset::Charset;
use crate::pulse::Pace;

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whole {
    Thai,
    /// latin2_czech_cs.
    CzechLatin2,
    /// cp1250_czech_cs.
    CzechCp1250,
}

static CZECH: &[u8] = include_bytes!("czech.bin");
/// What counts as one letter, behind the 256 bytes.
const DIGRAPHS: [&[u8]; 3] = [b"ch", b"Ch", b"CH"];
/// Weights in a table: of the bytes and of the digraphs.
const WEIGHED: usize = 256 + DIGRAPHS.len();
/// Stands before the UTF-8 bytes of a character that the set lacks.
const MISSING: u8 = 0xFF;
/// Ends a word's pass where another word follows; the weight of a space in the later passes.
const NEXT_WORD: u8 = 2;
/// Bytes that are moved in the time that one is read.
const MOVED_BYTES: usize = 16;
/// What finding a letter takes, in plain bytes.
const LETTER_WORK: usize = 8;
/// Ends a pass behind the last word.
const LAST_WORD: u8 = 1;

impl Whole {
    /// True if texts compare as if spaces went on behind the end of their weights.
    pub(super) fn pads(self) -> bool {
        self == Whole::Thai
    }

    /// The weights of a text (UTF-8), trailing spaces included.
    pub(super) fn weights(self, text: &[u8]) -> Vec<u8> {
        let set = match self {
            Whole::Thai => Charset::Tis620,
            Whole::CzechLatin2 => Charset::Latin2,
            Whole::CzechCp1250 => Charset::Cp1250,
        };
        let mut bytes = Vec::with_capacity(text.len());
        for character in String::from_utf8_lossy(text).chars() {
            match set.byte_of(character) {
                Some(byte) => bytes.push(byte),
                None => {
                    bytes.push(MISSING);
                    bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                }
            }
        }
        match self {
            Whole::Thai => thai(bytes),
            Whole::CzechLatin2 => four_passes(&bytes),
            Whole::CzechCp1250 => two_passes(&bytes),
        }
    }
}

/// Thai text in the order it is compared in. A vowel before a consonant changes places with it. A tone mark
/// or its like is taken out and becomes the last byte: a number that is the smaller the more letters are
/// before it. The place it leaves at the end of what is still to be read keeps the byte it had, and a later
/// mark takes the last byte again.
fn thai(mut text: Vec<u8>) -> Vec<u8> {
    let is_consonant = |byte: u8| matches!(byte, 0xA1..=0xCE);
    let end = text.len();
    let (mut at, mut left, mut bias) = (0, end, 248u8);
    let mut pace = Pace::default();
    while left > 0 && pace.passes(LETTER_WORK) {
        let byte = text[at];
        if byte < 0x80 || is_consonant(byte) {
            bias = bias.wrapping_sub(8);
        }
        let mark = match byte {
            0xEC => Some(1),
            0xE7 => Some(2),
            0xE8..=0xEB => Some(byte - 0xE8 + 3),
            _ => None,
        };
        if let Some(mark) = mark {
            // All that is behind moves, for each mark.
            if !pace.passes(left / MOVED_BYTES) {
                break;
            }
            text.copy_within(at + 1..at + left, at);
            text[end - 1] = bias.wrapping_add(mark);
            left -= 1;
        } else if matches!(byte, 0xE0..=0xE4) && left > 1 && is_consonant(text[at + 1]) {
            text.swap(at, at + 1);
            at += 2;
            left -= 2;
        } else {
            text[at] = byte.to_ascii_lowercase();
            at += 1;
            left -= 1;
        }
    }
    text
}

/// The places in a table of the letters of a text.
fn letters(text: &[u8]) -> impl Iterator<Item = usize> {
    let mut rest = text;
    let mut pace = Pace::default();
    std::iter::from_fn(move || {
        if !pace.passes(LETTER_WORK) {
            return None;
        }
        let digraph = DIGRAPHS.iter().position(|digraph| rest.starts_with(digraph));
        let (place, length) = match digraph {
            Some(nth) => (256 + nth, 2),
            None => (usize::from(*rest.first()?), 1),
        };
        rest = &rest[length..];
        Some(place)
    })
}

/// First the letters, then what tells equal letters apart.
fn two_passes(text: &[u8]) -> Vec<u8> {
    let pass = |nth: usize| letters(text).map(move |place| CZECH[place * 2 + nth]);
    pass(0).chain(pass(1)).collect()
}

/// Word by word the letters and their accents, then of the whole text the case, then everything with signs.
/// Spaces at the end do not count, and several in a row count as one until the last pass.
fn four_passes(text: &[u8]) -> Vec<u8> {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t');
    let text = super::trim_spaces(text);
    let weight = |place: usize, pass: usize| {
        let weight = CZECH[WEIGHED * 2 + place * 4 + pass];
        (weight != 0).then_some(weight)
    };
    let mut words: Vec<&[u8]> = Vec::new();
    let mut begin = 0;
    for at in 0..text.len() {
        if is_space(&text[at]) {
            if at == 0 || !is_space(&text[at - 1]) {
                words.push(&text[begin..at]);
            }
            begin = at + 1;
        }
    }
    words.push(&text[begin..]);
    let last = words.len() - 1;
    let mut out = Vec::with_capacity(text.len() * 4 + 4);
    for (nth, word) in words.iter().enumerate() {
        for pass in 0..2 {
            out.extend(letters(word).filter_map(|place| weight(place, pass)));
            out.push(if nth == last { LAST_WORD } else { NEXT_WORD });
        }
    }
    for (nth, word) in words.iter().enumerate() {
        out.extend(letters(word).filter_map(|place| weight(place, 2)));
        out.push(if nth == last { LAST_WORD } else { NEXT_WORD });
    }
    for place in letters(text) {
        let space = u8::try_from(place).is_ok_and(|byte| is_space(&byte));
        out.extend(if space { Some(NEXT_WORD) } else { weight(place, 3) });
    }
    out.push(0);
    out
}
