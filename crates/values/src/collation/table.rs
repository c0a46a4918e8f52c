//! Reading of the pinned weight files, whose layout `tables/generate_collations.py` describes: for each code
//! point the weights it has on one level.

use std::sync::OnceLock;

/// A weight file.
pub(super) struct Table {
    bytes: &'static [u8],
    words: OnceLock<Box<[u16]>>,
}

const HEADER_WORDS: usize = 3;
const INDEX_WORDS: usize = 0x1100;
/// No page, or an entry that the file's rule decides.
const NONE: u16 = 0xFFFF;
const IN_POOL: u16 = 0x8000;

const RULE_GENERAL: u16 = 0;
const RULE_UCA_400: u16 = 1;
const RULE_UCA_900: u16 = 3;
const RULE_SECONDARY: u16 = 4;
const RULE_TERTIARY: u16 = 5;

/// The weights of a character or contraction.
#[derive(Clone, Copy)]
pub(super) enum Found {
    One(u16),
    Many(&'static [u16]),
    /// Derived ones: so many of the array.
    Derived([u16; 4], u8),
}

macro_rules! tables {
    ($($name:ident $file:literal;)*) => {
        $(pub(super) static $name: Table = Table { bytes: include_bytes!($file), words: OnceLock::new() };)*
    };
}

tables! {
    GENERAL_CI "general_ci.bin";
    UCA_400 "uca400.bin";
    UCA_520 "uca520.bin";
    UCA_900 "uca900.bin";
    UCA_900_SECONDARY "uca900_secondary.bin";
    UCA_900_TERTIARY "uca900_tertiary.bin";
}

/// The little endian words of a file.
pub(super) fn words_of(bytes: &[u8]) -> Box<[u16]> {
    bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect()
}

impl Table {
    fn words(&'static self) -> &'static [u16] {
        self.words.get_or_init(|| words_of(self.bytes))
    }

    /// The weights of a character.
    pub(super) fn weights(&'static self, character: char) -> Found {
        let words = self.words();
        let point = u32::from(character);
        let page = words[HEADER_WORDS + (point >> 8) as usize];
        let place = HEADER_WORDS + INDEX_WORDS + usize::from(page) * 256 + (point & 0xFF) as usize;
        match if page == NONE { NONE } else { words[place] } {
            NONE => self.derived(words[2], point),
            0 => Found::Many(&[]),
            weight if weight < IN_POOL => Found::One(weight),
            place => {
                let pool = HEADER_WORDS + INDEX_WORDS + usize::from(words[0]) * 256;
                let at = pool + usize::from(place - IN_POOL);
                Found::Many(&words[at + 1..at + 1 + usize::from(words[at])])
            }
        }
    }

    /// What a character without an entry weighs: derived weights (UTS 10, section 10.1.3), and under UCA
    /// 9.0.0 the letters of a Hangul syllable.
    fn derived(&'static self, rule: u16, point: u32) -> Found {
        let syllable = (0xAC00..=0xD7A3).contains(&point) && rule >= RULE_UCA_900;
        match rule {
            RULE_GENERAL if point > 0xFFFF => Found::One(0xFFFD),
            RULE_GENERAL => Found::One(point as u16),
            RULE_UCA_400 if point > 0xFFFF => Found::One(0xFFFD),
            // MySQL counts the syllables of the last page as compatibility characters.
            RULE_TERTIARY if syllable && point >= 0xD700 => {
                Found::Derived([3; 4], if (point - 0xAC00).is_multiple_of(28) { 2 } else { 3 })
            }
            _ if syllable => self.letters(point - 0xAC00),
            RULE_SECONDARY => Found::One(0x20),
            RULE_TERTIARY => Found::One(2),
            _ => {
                let modern = rule == RULE_UCA_900;
                if modern && (0x17000..=0x18AFF).contains(&point) {
                    return Found::Derived([0xFB00, (point - 0x17000) as u16 | 0x8000, 0, 0], 2);
                }
                let base = ideograph_base(point, modern);
                Found::Derived([base + (point >> 15) as u16, (point & 0x7FFF) as u16 | 0x8000, 0, 0], 2)
            }
        }
    }

    fn letters(&'static self, syllable: u32) -> Found {
        let parts = [0x1100 + syllable / 588, 0x1161 + syllable % 588 / 28, 0x11A7 + syllable % 28];
        let mut weights = [0; 4];
        for (weight, part) in weights.iter_mut().zip(parts) {
            if let Some(Found::One(found)) = char::from_u32(part).map(|letter| self.weights(letter)) {
                *weight = found;
            }
        }
        Found::Derived(weights, if parts[2] == 0x11A7 { 2 } else { 3 })
    }
}

fn ideograph_base(point: u32, modern: bool) -> u16 {
    match point {
        0x4E00..=0x9FA5 => 0xFB40,
        0x9FA6..=0x9FD5 if modern => 0xFB40,
        0xFA0E | 0xFA0F | 0xFA11 | 0xFA13 | 0xFA14 | 0xFA1F | 0xFA21 | 0xFA23 | 0xFA24 | 0xFA27 | 0xFA28
        | 0xFA29 => 0xFB40,
        0x3400..=0x4DB5 => 0xFB80,
        0x20000..=0x2A6D6 | 0x2A700..=0x2B734 | 0x2B740..=0x2B81D | 0x2B820..=0x2CEA1 if modern => 0xFB80,
        _ => 0xFBC0,
    }
}
