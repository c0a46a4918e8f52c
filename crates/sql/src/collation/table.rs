//! Reading of the pinned weight files: two header words, 4352 page numbers, pages of 256 entries, expansion pool.
//! All words are little endian `u16`; see `tables/generate_collations.py` for the writer.

use std::sync::OnceLock;

/// A weight file.
pub(super) struct Table(&'static [u8]);

pub(super) static UCA_900: Table = Table(include_bytes!("uca900.bin"));
pub(super) static GENERAL_CI: Table = Table(include_bytes!("general_ci.bin"));

const HEADER_WORDS: usize = 2;
const INDEX_WORDS: usize = 0x1100;
const NO_PAGE: u16 = 0xFFFF;
const EXPANSION: u16 = 0x8000;

/// Primary weights of one character.
pub(super) enum Primary {
    One(u16),
    Many(Expansion),
}

/// A short run of weights still to be delivered.
#[derive(Default)]
pub(super) struct Expansion {
    weights: [u16; 6],
    at: u8,
    count: u8,
    /// Place and number of words in the pool of an expansion longer than the array.
    pool_at: usize,
    pool_left: u16,
}

impl Expansion {
    fn of(weights: &[u16]) -> Expansion {
        let mut expansion = Expansion::default();
        expansion.weights[..weights.len()].copy_from_slice(weights);
        expansion.count = weights.len() as u8;
        expansion
    }

    pub(super) fn next(&mut self) -> Option<u16> {
        if self.at < self.count {
            self.at += 1;
            return Some(self.weights[usize::from(self.at) - 1]);
        }
        if self.pool_left > 0 {
            self.pool_left -= 1;
            self.pool_at += 1;
            return Some(UCA_900.word(self.pool_at - 1));
        }
        None
    }
}

/// Weights of the ASCII characters, taken out of a weight file once.
pub(super) struct AsciiWeights {
    weights: [u16; 128],
    /// Weight 0 is none at all.
    skips_zero: bool,
}

impl AsciiWeights {
    /// Appends the weights of the ASCII characters that `text` begins with; what is behind them comes back.
    pub(super) fn append<'t>(&self, text: &'t [u8], out: &mut Vec<u8>) -> &'t [u8] {
        let start = out.len();
        out.resize(start + text.len() * 2, 0);
        let room = &mut out[start..];
        let (mut end, mut rest) = (0, text.len());
        for (at, byte) in text.iter().enumerate() {
            let Some(weight) = self.weights.get(usize::from(*byte)) else {
                rest = at;
                break;
            };
            // Written in any case, and kept if it is one: no branch per character.
            room[end] = (*weight >> 8) as u8;
            room[end + 1] = *weight as u8;
            end += if *weight != 0 || !self.skips_zero { 2 } else { 0 };
        }
        out.truncate(start + end);
        &text[rest..]
    }

    /// The first weight of `text` and what is behind its character; None at the end and before a character that is not ASCII.
    pub(super) fn first<'t>(&self, text: &'t [u8]) -> Option<(u16, &'t [u8])> {
        let mut at = 0;
        loop {
            let weight = *self.weights.get(usize::from(*text.get(at)?))?;
            at += 1;
            if weight != 0 || !self.skips_zero {
                return Some((weight, &text[at..]));
            }
        }
    }
}

/// The ASCII weights of UCA 9.0.0 or of general_ci.
pub(super) fn ascii(uca: bool) -> &'static AsciiWeights {
    static ASCII: [OnceLock<AsciiWeights>; 2] = [const { OnceLock::new() }; 2];
    ASCII[usize::from(uca)].get_or_init(|| {
        let weight = |byte: usize| {
            let character = char::from(byte as u8);
            if !uca {
                return GENERAL_CI.general(character);
            }
            match UCA_900.primary(character) {
                Primary::One(weight) => weight,
                Primary::Many(_) => unreachable!("an ASCII character has one weight"),
            }
        };
        AsciiWeights { weights: std::array::from_fn(weight), skips_zero: uca }
    })
}

impl Table {
    fn word(&self, place: usize) -> u16 {
        match self.0.get(place * 2..place * 2 + 2) {
            Some(bytes) => u16::from_le_bytes([bytes[0], bytes[1]]),
            None => 0,
        }
    }

    fn entry(&self, point: u32) -> Option<u16> {
        let page = self.word(HEADER_WORDS + (point >> 8) as usize);
        if page == NO_PAGE {
            return None;
        }
        let start = HEADER_WORDS + INDEX_WORDS + usize::from(page) * 256;
        Some(self.word(start + (point & 0xFF) as usize))
    }

    /// Weight under general_ci.
    pub(super) fn general(&self, character: char) -> u16 {
        let point = u32::from(character);
        if point > 0xFFFF {
            return 0xFFFD;
        }
        self.entry(point).unwrap_or(point as u16)
    }

    /// Primary weights under UCA 9.0.0, implicit weights and Hangul syllables included.
    pub(super) fn primary(&self, character: char) -> Primary {
        let point = u32::from(character);
        match self.entry(point) {
            Some(NO_PAGE) | None => implicit(point),
            Some(weight) if weight < EXPANSION => Primary::One(weight),
            Some(place) => {
                let pool = HEADER_WORDS + INDEX_WORDS + usize::from(self.word(0)) * 256;
                let at = pool + usize::from(place - EXPANSION);
                Primary::Many(Expansion { pool_at: at + 1, pool_left: self.word(at), ..Expansion::default() })
            }
        }
    }
}

/// Derived weights (UTS 10, section 10.1.3) and the decomposition of Hangul syllables into their letters.
fn implicit(point: u32) -> Primary {
    if (0xAC00..=0xD7A3).contains(&point) {
        let syllable = point - 0xAC00;
        let parts = [0x1100 + syllable / 588, 0x1161 + syllable % 588 / 28, 0x11A7 + syllable % 28];
        let count = if parts[2] == 0x11A7 { 2 } else { 3 };
        let mut weights = [0; 3];
        for (weight, part) in weights.iter_mut().zip(parts) {
            *weight = UCA_900.entry(part).unwrap_or(0);
        }
        return Primary::Many(Expansion::of(&weights[..count]));
    }
    let base = match point {
        0x17000..=0x18AFF => {
            return Primary::Many(Expansion::of(&[0xFB00, (point - 0x17000) as u16 | 0x8000]));
        }
        0x4E00..=0x9FD5
        | 0xFA0E
        | 0xFA0F
        | 0xFA11
        | 0xFA13
        | 0xFA14
        | 0xFA1F
        | 0xFA21
        | 0xFA23
        | 0xFA24
        | 0xFA27
        | 0xFA28
        | 0xFA29 => 0xFB40,
        0x3400..=0x4DB5 | 0x20000..=0x2A6D6 | 0x2A700..=0x2B734 | 0x2B740..=0x2B81D | 0x2B820..=0x2CEA1 => {
            0xFB80
        }
        _ => 0xFBC0,
    };
    Primary::Many(Expansion::of(&[base + (point >> 15) as u16, (point & 0x7FFF) as u16 | 0x8000]))
}
