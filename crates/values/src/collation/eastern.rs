//! The Japanese and Chinese orders of UCA 9.0.0: weights of all levels, made at first use out of the base's
//! tables and of what `eastern.bin` changes of them (layout: `tables/generate_eastern.py`).

mod builder;

use std::sync::OnceLock;

use hashbrown::HashMap;

use super::rules::Base;
use super::table::Found;
use builder::{Builder, changes, moved};

/// A language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Eastern {
    /// Kana behind Latin, then the ideographs of the national standard, then other scripts. A length or
    /// iteration mark weighs as the kana before it says. Hiragana and katakana differ on a fourth level.
    Japanese,
    /// Ideographs by their reading in front of all letters.
    Chinese,
}

/// Levels of a language: the base's three, and the Japanese one of kana.
const LEVELS: usize = 4;

const BASE_LEVELS: usize = 3;

const KANA: usize = 3;

/// The weight that the base derives for each code point on the levels behind the first.
const COMMON: [u16; LEVELS] = [0, 0x20, 2, 0];

/// The entry of a character whose weights are derived from its code point.
const DERIVED: u32 = u32::MAX;

/// Marks an entry of a character that sequences begin with.
const BEGINS: u32 = 1 << 31;

const COUNT_SHIFT: u32 = 24;

const COUNT_BITS: u32 = 0x3F;

const PLACE_BITS: u32 = (1 << COUNT_SHIFT) - 1;

const PAGES: usize = 0x1100;

const NO_PAGE: u16 = 0xFFFF;

/// One level's weights of one language.
pub(super) struct LanguageLevel {
    /// A page for each 256 code points.
    index: Box<[u16]>,
    /// For each code point of a page the count of its weights and their place in the pool; a lone weight is
    /// its own place.
    pages: Vec<u32>,
    pool: Box<[u16]>,
    /// Sequences by their first character, the longest ones first.
    sequences: HashMap<char, Vec<Sequence>>,
    ranges: Vec<Range>,
    /// On later levels a mark that the text begins with weighs as the text's last character says, as in
    /// MySQL.
    wraps: bool,
    /// Only kana have weights.
    kana_only: bool,
    level: usize,
}

/// Characters behind a first one.
struct Sequence {
    rest: String,
    /// The entry of the whole.
    whole: u32,
    /// The entry of what is behind the first character, where that keeps its own.
    tail: Option<u32>,
}

/// Weights of the base that move: first, last, new first, and what stands before each.
type Range = [u16; 4];

/// What the file says of one language.
struct Changes {
    ranges: Vec<Range>,
    first_ideograph: u16,
    inside: bool,
    ideographs: String,
    exceptions: Vec<(usize, &'static [u16], String)>,
    sequences: Vec<SequenceChange>,
    /// Hiragana and katakana.
    kana: [String; 2],
}

/// Sequences of any of the heads and the same rest.
struct SequenceChange {
    heads: String,
    rest: String,
    keeps: bool,
    weights: [&'static [u16]; BASE_LEVELS],
}

/// The fourth level's weights of hiragana and katakana.
const KANA_WEIGHTS: [u16; 2] = [2, 8];

impl LanguageLevel {
    /// A language's weights on a level.
    pub(super) fn get(language: Eastern, level: usize) -> &'static LanguageLevel {
        static ALL: [[OnceLock<LanguageLevel>; LEVELS]; 2] =
            [const { [const { OnceLock::new() }; LEVELS] }; 2];
        let level = level.min(LEVELS - 1);
        ALL[language as usize][level]
            .get_or_init(|| Builder::new(&changes()[language as usize], level).build())
    }

    /// The weights of the text's first character, or of the sequence the text begins with, and its bytes.
    pub(super) fn find(&'static self, character: char, text: &[u8]) -> (Found, usize) {
        let length = character.len_utf8();
        let entry = self.entry(character);
        if entry == DERIVED {
            return (self.derived(character), length);
        }
        if entry & BEGINS != 0
            && let Some(sequence) = self.sequence(character, text.get(length..).unwrap_or_default())
        {
            return (self.found(sequence.whole), length + sequence.rest.len());
        }
        (self.found(entry), length)
    }

    /// The weights of the mark a text begins with, and its bytes, if the text's last character says how it
    /// weighs here.
    pub(super) fn wrapped(&'static self, text: &[u8]) -> Option<(Found, usize)> {
        if !self.wraps || text.first() != Some(&0xE3) {
            return None;
        }
        let last = text.iter().rposition(|byte| byte & 0xC0 != 0x80)?;
        let (last, _) = super::first_character(&text[last..])?;
        let sequence = self.sequence(last, text)?;
        sequence.tail.map(|tail| (self.found(tail), sequence.rest.len()))
    }

    /// True if sequences begin with the character.
    pub(super) fn begins_sequence(&self, character: char) -> bool {
        self.sequences.contains_key(&character)
    }

    /// True if a text's ASCII beginning may not be skipped: sequences begin with ASCII characters, or the
    /// whole text decides.
    pub(super) fn looks_around(&self) -> bool {
        self.wraps || self.sequences.keys().any(char::is_ascii)
    }

    fn sequence(&self, first: char, behind: &[u8]) -> Option<&Sequence> {
        self.sequences.get(&first)?.iter().find(|one| behind.starts_with(one.rest.as_bytes()))
    }

    fn entry(&self, character: char) -> u32 {
        let point = u32::from(character) as usize;
        match self.index[point >> 8] {
            NO_PAGE => DERIVED,
            page => self.pages[usize::from(page) << 8 | point & 0xFF],
        }
    }

    fn found(&'static self, entry: u32) -> Found {
        let place = (entry & PLACE_BITS) as usize;
        match (entry >> COUNT_SHIFT & COUNT_BITS) as usize {
            1 => Found::One(place as u16),
            count => Found::Many(&self.pool[place..place + count]),
        }
    }

    /// What the base derives, with its lead moved.
    fn derived(&self, character: char) -> Found {
        if self.kana_only {
            return Found::Many(&[]);
        }
        match Base::Uca900.level(self.level).weights(character) {
            Found::Derived(mut weights, count) if self.level == 0 => {
                weights[0] = moved(&self.ranges, weights[0])[1];
                Found::Derived(weights, count)
            }
            found => found,
        }
    }
}
