//! Where one text occurs in another under an order by the Unicode collation algorithm: at the first character
//! from which on the weights go on, level by level, as those of the text that is sought. So `ss` is found in
//! `ß`, a letter in front of its accents, and a text without weights anywhere.
//!
//! On each level the weights are searched for in one pass (Knuth, Morris, Pratt); a character is a place if
//! every level has found it.

use super::first_character;
use super::rules::{Level, Rules, Weights};
use crate::error::SqlResult;
use crate::memory::Held;

/// The byte where `needle` first occurs in `text`.
pub(super) fn find(
    rules: &Rules,
    text: &[u8],
    needle: &[u8],
    held: &mut Held<'_>,
) -> SqlResult<Option<usize>> {
    let mut places = Places::new(text, held)?;
    for level in rules.levels() {
        let wanted = all_weights(level, needle, held)?;
        if !wanted.is_empty() && !places.keep(level, text, &wanted, held)? {
            return Ok(None);
        }
    }
    Ok(places.first())
}

fn all_weights(level: &Level, text: &[u8], held: &mut Held<'_>) -> SqlResult<Vec<u16>> {
    let mut all = Vec::new();
    for weight in Weights::new(text, level) {
        held.push(&mut all, weight)?;
    }
    held.pass(text.len())?;
    Ok(all)
}

/// A character of the text.
struct Place {
    at: usize,
    /// It may still be where the text that is sought begins.
    stands: bool,
}

struct Places(Vec<Place>);

impl Places {
    /// All characters.
    fn new(text: &[u8], held: &mut Held<'_>) -> SqlResult<Places> {
        let (mut places, mut at) = (Vec::new(), 0);
        while let Some((_, used)) = first_character(&text[at..]) {
            held.push(&mut places, Place { at, stands: true })?;
            at += used;
        }
        held.pass(text.len())?;
        Ok(Places(places))
    }

    fn first(&self) -> Option<usize> {
        self.0.iter().find(|place| place.stands).map(|place| place.at)
    }

    /// Keeps the places from which on the level's weights are the wanted ones; false if there is none.
    fn keep(&mut self, level: &Level, text: &[u8], wanted: &[u16], held: &mut Held<'_>) -> SqlResult<bool> {
        let mut search = Search::new(wanted, held)?;
        // How many weights are before each place; none for one in the middle of a contraction, which is read
        // otherwise from there on.
        let (mut before, mut nth, mut at) = (Vec::new(), 0, 0);
        while at < text.len() {
            let mut weights = Weights::new(&text[at..], level);
            let end = text.len() - weights.read_one().len();
            while let Some(place) = self.0.get(nth)
                && place.at < end
            {
                held.push(&mut before, (place.at == at).then_some(search.read))?;
                nth += 1;
            }
            for weight in weights.pending() {
                search.step(weight, held)?;
            }
            held.pass(end - at)?;
            at = end;
        }
        let mut found = false;
        for (place, before) in self.0.iter_mut().zip(before) {
            place.stands &= match before {
                Some(count) => search.begins.binary_search(&count).is_ok(),
                None => {
                    held.pass(wanted.len())?;
                    let mut weights = Weights::new(&text[place.at..], level);
                    wanted.iter().all(|weight| weights.next() == Some(*weight))
                }
            };
            found |= place.stands;
        }
        Ok(found)
    }
}

/// A search for weights among weights that come one by one.
struct Search<'w> {
    wanted: &'w [u16],
    /// For each count of matched weights how many of them still match where the next one does not.
    shorter: Vec<usize>,
    matched: usize,
    read: usize,
    /// Before which weight each occurrence begins, in order.
    begins: Vec<usize>,
}

impl<'w> Search<'w> {
    fn new(wanted: &'w [u16], held: &mut Held<'_>) -> SqlResult<Search<'w>> {
        let mut shorter = vec![0];
        let mut matched = 0;
        for weight in wanted.iter().skip(1) {
            while matched > 0 && wanted[matched] != *weight {
                matched = shorter[matched - 1];
            }
            matched += usize::from(wanted[matched] == *weight);
            held.push(&mut shorter, matched)?;
        }
        Ok(Search { wanted, shorter, matched: 0, read: 0, begins: Vec::new() })
    }

    fn step(&mut self, weight: u16, held: &mut Held<'_>) -> SqlResult<()> {
        while self.matched > 0 && self.wanted.get(self.matched) != Some(&weight) {
            self.matched = self.shorter[self.matched - 1];
        }
        self.matched += usize::from(self.wanted[self.matched] == weight);
        self.read += 1;
        if self.matched == self.wanted.len() {
            held.push(&mut self.begins, self.read - self.matched)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]
    use super::*;
    use crate::collation::Collation;
    use turnstile_sys::rng::Rng;

    /// The search finds the first place where each level's weights go on as wanted.
    #[test]
    fn it_finds_what_comparing_at_every_character_finds() {
        let letters =
            ["a", "A", "\u{e1}", "e\u{301}", "ch", "c", "h", "\u{df}", "ss", "\u{ad}", " ", "\u{1F600}"];
        let mut rng = Rng::new(7);
        let mut text = |most: u64| -> String {
            (0..rng.below(most)).map(|_| letters[rng.below(letters.len() as u64) as usize]).collect()
        };
        let named =
            ["utf8mb4_0900_ai_ci", "utf8mb4_0900_as_cs", "utf8mb4_unicode_ci", "utf8mb4_cs_0900_ai_ci"];
        let mut found = 0;
        for collation in named.map(|name| Collation::by_name(name).unwrap()) {
            let rules = collation.rules();
            for _ in 0..2000 {
                let (text, needle) = (text(12), text(4));
                let begins = |at: usize| {
                    rules.levels().iter().all(|level| {
                        let mut weights = Weights::new(&text.as_bytes()[at..], level);
                        Weights::new(needle.as_bytes(), level).all(|weight| weights.next() == Some(weight))
                    })
                };
                let expected = text.char_indices().map(|(at, _)| at).find(|at| begins(*at));
                let place = find(rules, text.as_bytes(), needle.as_bytes(), &mut Held::free());
                assert_eq!(place.unwrap(), expected, "{collation:?} {text:?} {needle:?}");
                found += usize::from(expected.is_some());
            }
        }
        assert!(found > 1000, "{found}");
    }
}
