//! Letters that ignoring case makes several letters of (Unicode's full case folding): `ß` is `ss`, `ﬁ` is
//! `fi`. As in ICU, a string of letters in a pattern matches what has the same letters when both are folded;
//! a lone letter that folds to one matches one letter.

use std::sync::OnceLock;

/// Chains of letters with overlapping foldings are cut behind so many letters: what folds across a cut is not
/// found.
const CHAIN_LETTERS: usize = 16;
/// All letters that fold to several are below.
const BEYOND: u32 = 0xFB18;

/// What a letter becomes when case is ignored.
fn folded(letter: char) -> impl Iterator<Item = char> {
    letter.to_lowercase().flat_map(char::to_uppercase).flat_map(char::to_lowercase)
}

/// Whether two letters differ by case at most.
pub(super) fn same(one: char, other: char) -> bool {
    one == other || folded(one).eq(folded(other))
}

/// Letters that fold to the same several letters.
struct Unit {
    folded: Vec<char>,
    letters: String,
}

fn units() -> &'static [Unit] {
    static UNITS: OnceLock<Vec<Unit>> = OnceLock::new();
    UNITS.get_or_init(|| {
        let mut units: Vec<Unit> = Vec::new();
        for letter in (0x80..BEYOND).filter_map(char::from_u32) {
            let several: Vec<char> = folded(letter).collect();
            if several.len() < 2 {
                continue;
            }
            match units.iter_mut().find(|unit| unit.folded == several) {
                Some(unit) => unit.letters.push(letter),
                None => units.push(Unit { folded: several, letters: letter.to_string() }),
            }
        }
        units
    })
}

/// Appends to a pattern what matches a string of letters when case is ignored.
pub(super) fn append(run: &[char], out: &mut String) {
    let mut letters = Vec::with_capacity(run.len());
    for letter in run {
        match folded(*letter).count() {
            1 => letters.push(*letter),
            _ => letters.extend(folded(*letter)),
        }
    }
    if letters.len() == 1 {
        return Run::append_letter(letters[0], out);
    }
    // Letters are compared folded, and kept as they stand where they fold to one: the library ignores their
    // case.
    let plain: Vec<char> = letters.iter().map(|letter| folded(*letter).next().unwrap_or(*letter)).collect();
    let mut places = Vec::new();
    for at in 0..plain.len() {
        for unit in units().iter().filter(|unit| plain[at..].starts_with(&unit.folded)) {
            places.push((at, at + unit.folded.len(), &*unit.letters));
        }
    }
    let run = Run { letters, places };
    let (mut begin, mut end) = (0, 0);
    for at in 0..run.letters.len() {
        end = run
            .places
            .iter()
            .filter(|place| place.0 == at)
            .map(|place| place.1)
            .fold(end.max(at + 1), usize::max);
        if end == at + 1 || at + 1 - begin == CHAIN_LETTERS {
            run.append_chain(begin, at + 1, out);
            (begin, end) = (at + 1, at + 1);
        }
    }
}

struct Run<'u> {
    letters: Vec<char>,
    /// Where letters stand that one letter may fold to: begin, end, and which one.
    places: Vec<(usize, usize, &'u str)>,
}

impl Run<'_> {
    fn append_letter(letter: char, out: &mut String) {
        out.push_str(&regex::escape(letter.encode_utf8(&mut [0; 4])));
    }

    /// What stands between two places. A letter that folds across the middle splits it; so the pattern grows
    /// with the square of the letters only.
    fn append_chain(&self, begin: usize, end: usize, out: &mut String) {
        if end - begin < 2 {
            return self.letters[begin..end].iter().for_each(|letter| Run::append_letter(*letter, out));
        }
        let middle = begin.midpoint(end);
        out.push_str("(?:");
        self.append_chain(begin, middle, out);
        self.append_chain(middle, end, out);
        let across = |place: &&(usize, usize, &str)| {
            begin <= place.0 && place.0 < middle && middle < place.1 && place.1 <= end
        };
        for (from, to, letters) in self.places.iter().filter(across) {
            out.push('|');
            self.append_chain(begin, *from, out);
            out.push('[');
            out.push_str(letters);
            out.push(']');
            self.append_chain(*to, end, out);
        }
        out.push(')');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_letters_fold_to_several_as_unicode_has() {
        let letters = || (0..0x0011_0000).filter_map(char::from_u32);
        assert_eq!(letters().filter(|letter| folded(*letter).count() > 1).count(), 104);
        assert_eq!(units().iter().map(|unit| unit.letters.chars().count()).sum::<usize>(), 104);
    }

    #[test]
    fn long_chains_stay_small() {
        let mut out = String::new();
        append(&vec!['s'; 4096], &mut out);
        assert!(out.len() < 4096 * 256, "{}", out.len());
    }
}
