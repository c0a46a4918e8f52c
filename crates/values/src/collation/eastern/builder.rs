//! Makes the tables of a language out of the base's and of what the language changes.

use std::sync::OnceLock;

use hashbrown::HashMap;

use super::super::rules::Base;
use super::super::table::{Found, words_of};
use super::super::tailoring::Reader;
use super::{
    BEGINS, COMMON, COUNT_BITS, COUNT_SHIFT, Changes, DERIVED, KANA, KANA_WEIGHTS, LanguageLevel, NO_PAGE,
    PAGES, PLACE_BITS, Range, Sequence, SequenceChange,
};

/// What stands before a weight of the base, if anything, and what it becomes.
pub(super) fn moved(ranges: &[Range], weight: u16) -> [u16; 2] {
    let range = ranges.iter().find(|range| (range[0]..=range[1]).contains(&weight));
    range.map_or([0, weight], |range| [range[3], range[2] + (weight - range[0])])
}

/// True for the first of the two weights that are derived from a code point.
fn is_lead(weight: u16) -> bool {
    (0xFB00..0xFC00).contains(&weight)
}

/// Puts a level together.
pub(super) struct Builder {
    changes: &'static Changes,
    level: usize,
    index: Box<[u16]>,
    pages: Vec<u32>,
    pool: Vec<u16>,
    places: HashMap<Box<[u16]>, u32>,
    /// The lone weights of the ideographs.
    ideographs: HashMap<char, u16>,
}

impl Builder {
    pub(super) fn new(changes: &'static Changes, level: usize) -> Builder {
        let mut ideographs = HashMap::new();
        if level == 0 {
            ideographs.extend(changes.ideographs.chars().zip(changes.first_ideograph..));
        }
        Builder {
            changes,
            level,
            index: vec![NO_PAGE; PAGES].into(),
            pages: Vec::new(),
            pool: Vec::new(),
            places: HashMap::new(),
            ideographs,
        }
    }

    pub(super) fn build(mut self) -> LanguageLevel {
        if self.level == KANA {
            for (text, weight) in self.changes.kana.iter().zip(KANA_WEIGHTS) {
                text.chars().for_each(|character| self.set(character, &[weight]));
            }
        } else {
            self.fill();
        }
        let sequences = self.sequences();
        LanguageLevel {
            index: self.index,
            pages: self.pages,
            pool: self.pool.into(),
            wraps: self.level > 0 && self.changes.sequences.iter().any(|one| one.keeps),
            sequences,
            ranges: self.changes.ranges.clone(),
            kana_only: self.level == KANA,
            level: self.level,
        }
    }

    /// Sets all characters whose weights are not derived.
    fn fill(&mut self) {
        for character in '\0'..=char::MAX {
            let found = Base::Uca900.level(self.level).weights(character);
            let is_derived = match found {
                Found::One(weight) => weight == COMMON[self.level],
                Found::Many(_) => false,
                // Each letter of a syllable may move.
                Found::Derived(..) => self.level > 0 || !('\u{AC00}'..='\u{D7A3}').contains(&character),
            };
            if !is_derived {
                self.set_moved(character, found);
            }
        }
        let changes = self.changes;
        for (character, weight) in std::mem::take(&mut self.ideographs) {
            self.set(character, &[weight]);
        }
        for (level, weights, text) in &changes.exceptions {
            if *level == self.level {
                text.chars().for_each(|character| self.set(character, weights));
            }
        }
    }

    fn set_moved(&mut self, character: char, found: Found) {
        let (one, derived);
        let weights: &[u16] = match found {
            Found::One(weight) => {
                one = [weight];
                &one
            }
            Found::Many(weights) => weights,
            Found::Derived(weights, count) => {
                derived = weights;
                &derived[..usize::from(count)]
            }
        };
        if self.level > 0 {
            return self.set(character, weights);
        }
        let mut new = Vec::new();
        let mut rest = weights;
        while let Some((&weight, after)) = rest.split_first() {
            rest = after;
            if is_lead(weight)
                && let Some((&second, after)) = rest.split_first()
            {
                rest = after;
                match self.ideograph(weight, second) {
                    Some(weight) => new.push(weight),
                    None => new.extend([moved(&self.changes.ranges, weight)[1], second]),
                }
                continue;
            }
            let [before, weight] = moved(&self.changes.ranges, weight);
            new.extend((before > 0).then_some(before).into_iter().chain([weight]));
        }
        self.set(character, &new);
    }

    /// The weight of the ideograph that two weights were derived from, where it has it within others.
    fn ideograph(&self, lead: u16, second: u16) -> Option<u16> {
        let point = u32::from(lead & 0x3F) << 15 | u32::from(second & 0x7FFF);
        let character = char::from_u32(point).filter(|_| self.changes.inside)?;
        self.ideographs.get(&character).copied()
    }

    fn set(&mut self, character: char, weights: &[u16]) {
        let entry = self.entry(weights);
        *self.place(character) = entry;
    }

    fn place(&mut self, character: char) -> &mut u32 {
        let point = u32::from(character) as usize;
        let page = &mut self.index[point >> 8];
        if *page == NO_PAGE {
            *page = (self.pages.len() >> 8) as u16;
            self.pages.resize(self.pages.len() + 256, DERIVED);
        }
        &mut self.pages[usize::from(*page) << 8 | point & 0xFF]
    }

    fn entry(&mut self, weights: &[u16]) -> u32 {
        let place = match weights {
            [only] => u32::from(*only),
            _ => match self.places.get(weights) {
                Some(place) => *place,
                None => {
                    let place = self.pool.len() as u32;
                    self.pool.extend_from_slice(weights);
                    self.places.insert(weights.into(), place);
                    place
                }
            },
        };
        (weights.len() as u32) << COUNT_SHIFT | place
    }

    /// The weights of a character, which has an entry then.
    fn weights_set(&mut self, character: char) -> Vec<u16> {
        if *self.place(character) == DERIVED {
            let common = [COMMON[self.level]];
            self.set(character, if self.level == KANA { &[] } else { &common });
        }
        let entry = *self.place(character);
        let place = (entry & PLACE_BITS) as usize;
        match (entry >> COUNT_SHIFT & COUNT_BITS) as usize {
            1 => vec![place as u16],
            count => self.pool[place..place + count].to_vec(),
        }
    }

    fn sequences(&mut self) -> HashMap<char, Vec<Sequence>> {
        let changes = self.changes;
        let mut sequences: HashMap<char, Vec<Sequence>> = HashMap::new();
        for change in &changes.sequences {
            for head in change.heads.chars() {
                let own = self.weights_set(head);
                // A mark is of the kind of the kana that it repeats, and weighs 0 behind a small one that has
                // no kind.
                let weights = match self.level {
                    KANA if own.is_empty() => vec![0],
                    KANA => own.clone(),
                    level => change.weights[level].to_vec(),
                };
                let tail = change.keeps.then(|| self.entry(&weights));
                let whole = if change.keeps { [own, weights].concat() } else { weights };
                let whole = self.entry(&whole);
                sequences.entry(head).or_default().push(Sequence { rest: change.rest.clone(), whole, tail });
            }
        }
        for (head, list) in &mut sequences {
            list.sort_by_key(|one| std::cmp::Reverse(one.rest.len()));
            *self.place(*head) |= BEGINS;
        }
        sequences
    }
}

/// The file, read.
pub(super) fn changes() -> &'static [Changes; 2] {
    static ALL: OnceLock<[Changes; 2]> = OnceLock::new();
    ALL.get_or_init(|| {
        // Lives as long as the process, as the tables in the binary do: weights are slices of it.
        let words: &'static [u16] = Box::leak(words_of(include_bytes!("../eastern.bin")));
        let mut reader = Reader { rest: words };
        std::array::from_fn(|_| reader.changes())
    })
}

impl Reader {
    fn text(&mut self) -> String {
        String::from_utf16_lossy(self.counted())
    }

    fn changes(&mut self) -> Changes {
        Changes {
            ranges: (0..self.word()).map(|_| std::array::from_fn(|_| self.word())).collect(),
            first_ideograph: self.word(),
            inside: self.word() == 1,
            ideographs: self.text(),
            exceptions: (0..self.word())
                .map(|_| (usize::from(self.word()), self.counted(), self.text()))
                .collect(),
            sequences: (0..self.word()).map(|_| self.sequence()).collect(),
            kana: [self.text(), self.text()],
        }
    }

    fn sequence(&mut self) -> SequenceChange {
        SequenceChange {
            heads: self.text(),
            rest: self.text(),
            keeps: self.word() == 1,
            weights: std::array::from_fn(|_| self.counted()),
        }
    }
}
