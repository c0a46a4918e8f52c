//! Tailorings: what a language's collation changes of its base, read out of `tailorings.bin` (layout:
//! `tables/generate_collations.py`).

use std::sync::OnceLock;

use hashbrown::HashMap;

use super::rules::Base;
use super::table::words_of;

/// Weights of the three levels.
pub(super) type Levels = [&'static [u16]; 3];

/// One language's changes.
pub(super) struct Tailoring {
    pub base: Base,
    /// Ranges of primary weights that move as a whole: first, last, new first.
    ranges: Vec<[u16; 3]>,
    /// Tertiary weights that change wherever they occur.
    tertiary: Vec<(u16, u16)>,
    singles: HashMap<char, Levels>,
    /// By first character, the longest ones first.
    contractions: HashMap<char, Vec<(String, Levels)>>,
}

impl Tailoring {
    /// The tailoring at a place in the file.
    pub(super) fn get(nth: u8) -> &'static Tailoring {
        static ALL: OnceLock<Vec<Tailoring>> = OnceLock::new();
        let all = ALL.get_or_init(|| {
            // Lives as long as the process, as the tables in the binary do: weights are slices of it.
            let words: &'static [u16] = Box::leak(words_of(include_bytes!("tailorings.bin")));
            let mut reader = Reader { rest: words };
            (0..reader.word()).map(|_| read(&mut reader)).collect()
        });
        &all[usize::from(nth)]
    }

    /// The weights of the text's first character, or of the contraction the text begins with, and its bytes;
    /// `None` if the base decides.
    pub(super) fn find(&self, character: char, text: &[u8]) -> Option<(Levels, usize)> {
        if let Some(list) = self.contractions.get(&character)
            && let Some((whole, levels)) = list.iter().find(|(whole, _)| text.starts_with(whole.as_bytes()))
        {
            return Some((*levels, whole.len()));
        }
        self.singles.get(&character).map(|levels| (*levels, character.len_utf8()))
    }

    /// True if a contraction begins with the character.
    pub(super) fn begins_contraction(&self, character: char) -> bool {
        self.contractions.contains_key(&character)
    }

    /// True if there are sequences that weigh otherwise than their characters.
    pub(super) fn has_contractions(&self) -> bool {
        !self.contractions.is_empty()
    }

    /// A weight of the base as this tailoring has it.
    pub(super) fn moved(&self, level: usize, weight: u16) -> u16 {
        match level {
            0 => self
                .ranges
                .iter()
                .find(|range| (range[0]..=range[1]).contains(&weight))
                .map_or(weight, |range| range[2] + (weight - range[0])),
            2 => self.tertiary.iter().find(|pair| pair.0 == weight).map_or(weight, |pair| pair.1),
            _ => weight,
        }
    }
}

/// Reads one number after another out of a table's file.
pub(super) struct Reader {
    /// What is still to be read.
    pub(super) rest: &'static [u16],
}

impl Reader {
    pub(super) fn word(&mut self) -> u16 {
        self.words(1)[0]
    }

    pub(super) fn words(&mut self, count: usize) -> &'static [u16] {
        let (taken, rest) = self.rest.split_at(count);
        self.rest = rest;
        taken
    }

    /// Numbers, as many as the first says.
    pub(super) fn counted(&mut self) -> &'static [u16] {
        let count = self.word();
        self.words(usize::from(count))
    }
}

fn read(reader: &mut Reader) -> Tailoring {
    let base = Base::of_rule(reader.word());
    let levels = usize::from(reader.word());
    let ranges = (0..reader.word()).map(|_| std::array::from_fn(|_| reader.word())).collect();
    let tertiary = (0..reader.word()).map(|_| (reader.word(), reader.word())).collect();
    let mut tailoring =
        Tailoring { base, ranges, tertiary, singles: HashMap::new(), contractions: HashMap::new() };
    for _ in 0..reader.word() {
        let text = String::from_utf16_lossy(reader.counted());
        let mut weights: Levels = [&[]; 3];
        for level in &mut weights[..levels] {
            *level = reader.counted();
        }
        let mut characters = text.chars();
        match (characters.next(), characters.next()) {
            (Some(only), None) => _ = tailoring.singles.insert(only, weights),
            (Some(first), Some(_)) => tailoring.contractions.entry(first).or_default().push((text, weights)),
            (None, _) => {}
        }
    }
    for list in tailoring.contractions.values_mut() {
        list.sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
    }
    tailoring
}
