//! LIKE: `%` any run, `_` one character, an escape character before either. Characters match by collation,
//! one by one.
//!
//! Matching in place goes back to the last `%` only, which costs at most text length times pattern length and
//! is the fastest for most; a byte that is no first letter of what stands behind the `%` is passed over
//! without a look at the pattern ([`super::alike`]). When that has taken [`STEPS_IN_PLACE`], both are folded
//! (equal characters become equal bytes) and what lies between two `%` is found by a linear search, one such
//! run after the other. Only a run with `_` between its letters is still tried place by place where its first
//! letters are; that is noted as work, so KILL ends it. What all this takes is charged.

use std::borrow::Cow;

use memchr::memmem;

use super::fold::Fold;
use super::{Collation, first_character};
use crate::error::SqlResult;
use crate::memory::Held;

/// Steps of matching in place before it is given up.
const STEPS_IN_PLACE: usize = 64 << 10;
/// True if `text` matches `pattern`. `escape` `None` means no escape character. Under `Collation::Binary` the
/// unit is the byte, else the character.
pub fn like(
    collation: Collation,
    text: &[u8],
    pattern: &[u8],
    escape: Option<char>,
    held: &mut Held<'_>,
) -> SqlResult<bool> {
    let collation = collation.of_patterns();
    let step = if collation == Collation::Binary { first_byte } else { first_character };
    let alike = collation.alike();
    let (mut text_at, mut pattern_at) = (0, 0);
    let mut last_any: Option<After> = None;
    let mut steps = 0;
    loop {
        steps += 1;
        match next_element(&pattern[pattern_at..], escape, step) {
            Element::Any(used) => {
                pattern_at += used;
                if pattern_at == pattern.len() {
                    return Ok(true);
                }
                if steps > STEPS_IN_PLACE {
                    return like_long(collation, &text[text_at..], &pattern[pattern_at..], escape, held);
                }
                let first = match next_element(&pattern[pattern_at..], escape, step) {
                    Element::Literal(letter, _) if letter.is_ascii() => Some(letter as u8),
                    _ => None,
                };
                text_at = alike.first(text, text_at, first);
                last_any = Some(After { pattern_at, tried: text_at, first });
                continue;
            }
            Element::End if text_at == text.len() => return Ok(true),
            Element::One(used) if text_at < text.len() => {
                text_at += step(&text[text_at..]).map_or(1, |(_, length)| length);
                pattern_at += used;
                continue;
            }
            Element::Literal(wanted, used) => {
                if let Some((found, length)) = step(&text[text_at..])
                    && alike.are(found, wanted).unwrap_or_else(|| collation.same_character(found, wanted))
                {
                    text_at += length;
                    pattern_at += used;
                    continue;
                }
            }
            _ => {}
        }
        let Some(after) = &mut last_any else { return Ok(false) };
        let Some((_, length)) = step(&text[after.tried..]) else { return Ok(false) };
        if steps > STEPS_IN_PLACE {
            return like_long(collation, &text[after.tried..], &pattern[after.pattern_at..], escape, held);
        }
        after.tried = alike.first(text, after.tried + length, after.first);
        pattern_at = after.pattern_at;
        text_at = after.tried;
    }
}

/// What stands behind the last `%`.
struct After {
    pattern_at: usize,
    /// Where in the text it was tried last.
    tried: usize,
    /// Its first letter, if that is one of ASCII.
    first: Option<u8>,
}

/// Whether a text matches `%` and this pattern.
fn like_long(
    collation: Collation,
    text: &[u8],
    pattern: &[u8],
    escape: Option<char>,
    held: &mut Held<'_>,
) -> SqlResult<bool> {
    let bytes = collation == Collation::Binary;
    let mut fold = Fold::new(collation);
    let folded = if bytes { Cow::Borrowed(text) } else { Cow::Owned(fold.all_held(text, held)?) };
    let (mut rest, mut at) = (&folded[..], 0);
    loop {
        let mut own = held.another();
        let mut run = Run::new(bytes);
        let more = run.read(pattern, &mut at, escape, &mut fold, &mut own)?;
        held.pass(run.parts.len() + run.letters)?;
        if !more {
            return run.ends(rest, &mut own);
        }
        match run.find(rest, &mut own)? {
            Some(end) => rest = &rest[end..],
            None => return Ok(false),
        }
    }
}

type NextChar = fn(&[u8]) -> Option<(char, usize)>;

/// What lies between two `%`: `_` before and behind it, and parts without `_`, folded, with at least one `_`
/// between neighbours.
struct Run {
    step: NextChar,
    /// The unit is the byte.
    bytes: bool,
    before: usize,
    /// With how many `_` stand before each but the first.
    parts: Vec<(usize, Vec<u8>)>,
    behind: usize,
    /// Bytes of all parts.
    letters: usize,
}

impl Run {
    fn new(bytes: bool) -> Run {
        let step = if bytes { first_byte } else { first_character };
        Run { step, bytes, before: 0, parts: Vec::new(), behind: 0, letters: 0 }
    }

    /// Reads a run of a pattern from a place on; true if a `%` ended it, and not the pattern.
    fn read(
        &mut self,
        pattern: &[u8],
        at: &mut usize,
        escape: Option<char>,
        fold: &mut Fold,
        held: &mut Held<'_>,
    ) -> SqlResult<bool> {
        loop {
            held.pass(1)?;
            match next_element(&pattern[*at..], escape, self.step) {
                Element::End => return Ok(false),
                Element::Any(used) => {
                    *at += used;
                    return Ok(true);
                }
                Element::One(used) => {
                    *at += used;
                    *(if self.parts.is_empty() { &mut self.before } else { &mut self.behind }) += 1;
                }
                Element::Literal(letter, used) => {
                    *at += used;
                    if self.parts.is_empty() || self.behind > 0 {
                        held.push(&mut self.parts, (std::mem::take(&mut self.behind), Vec::new()))?;
                    }
                    let Some((_, part)) = self.parts.last_mut() else { continue };
                    held.reserve(part, 4)?;
                    let begin = part.len();
                    if self.bytes {
                        part.push(letter as u8);
                    } else {
                        fold.append(letter, part);
                    }
                    self.letters += part.len() - begin;
                }
            }
        }
    }

    /// Bytes of so many characters at the beginning of a text, if it has them.
    fn skip(&self, text: &[u8], characters: usize) -> Option<usize> {
        let mut at = 0;
        for _ in 0..characters {
            at += (self.step)(&text[at..])?.1;
        }
        Some(at)
    }

    /// How many bytes the parts take at the beginning of a text; and how much has been compared to know it.
    fn matches(&self, text: &[u8]) -> (Option<usize>, usize) {
        let (mut at, mut compared) = (0, 0);
        for (ones, part) in &self.parts {
            compared += ones + part.len() + 1;
            let Some(skipped) = self.skip(&text[at..], *ones) else { return (None, compared) };
            at += skipped;
            if !text[at..].starts_with(part) {
                return (None, compared);
            }
            at += part.len();
        }
        (Some(at), compared)
    }

    /// The end of the first place where it matches.
    fn find(&self, text: &[u8], held: &mut Held<'_>) -> SqlResult<Option<usize>> {
        held.pass(self.before + self.behind)?;
        let Some(mut at) = self.skip(text, self.before) else { return Ok(None) };
        loop {
            if let [(_, first), ..] = &self.parts[..] {
                // On to the next place where its first part is.
                let Some(skipped) = memmem::find(&text[at..], first) else { return Ok(None) };
                held.pass(skipped)?;
                at += skipped;
            }
            let (taken, compared) = self.matches(&text[at..]);
            held.pass(compared)?;
            if let Some(taken) = taken {
                // Where there are too few characters behind the first place, there are too few behind each.
                return Ok(self.skip(&text[at + taken..], self.behind).map(|behind| at + taken + behind));
            }
            let Some((_, length)) = (self.step)(&text[at..]) else { return Ok(None) };
            at += length;
        }
    }

    /// Whether a text ends with it.
    fn ends(&self, text: &[u8], held: &mut Held<'_>) -> SqlResult<bool> {
        let bytes = self.bytes;
        let ones: usize = self.parts.iter().map(|(ones, _)| ones).sum();
        let letters = |part: &[u8]| if bytes { part.len() } else { characters(part) };
        let length = self.before
            + self.behind
            + ones
            + self.parts.iter().map(|(_, part)| letters(part)).sum::<usize>();
        held.pass(length)?;
        let mut begin = text.len();
        for _ in 0..length {
            if begin == 0 {
                return Ok(false);
            }
            begin -= 1;
            while !bytes && begin > 0 && text[begin] & 0xC0 == 0x80 {
                begin -= 1;
            }
        }
        let Some(skipped) = self.skip(&text[begin..], self.before) else { return Ok(false) };
        let (taken, compared) = self.matches(&text[begin + skipped..]);
        held.pass(compared)?;
        let Some(taken) = taken else { return Ok(false) };
        let rest = &text[begin + skipped + taken..];
        Ok(self.skip(rest, self.behind) == Some(rest.len()))
    }
}

/// Characters of a folded text.
fn characters(text: &[u8]) -> usize {
    text.iter().filter(|byte| **byte & 0xC0 != 0x80).count()
}

enum Element {
    End,
    Any(usize),
    One(usize),
    Literal(char, usize),
}

fn next_element(pattern: &[u8], escape: Option<char>, step: fn(&[u8]) -> Option<(char, usize)>) -> Element {
    let Some((character, length)) = step(pattern) else { return Element::End };
    if Some(character) == escape {
        if let Some((literal, more)) = step(&pattern[length..]) {
            return Element::Literal(literal, length + more);
        }
        return Element::Literal(character, length);
    }
    match character {
        '%' => Element::Any(length),
        '_' => Element::One(length),
        literal => Element::Literal(literal, length),
    }
}

/// The characters that a pattern begins with before its first `%` or `_`.
pub fn literal_front(collation: Collation, pattern: &[u8], escape: Option<char>) -> Vec<u8> {
    let step = if collation == Collation::Binary { first_byte } else { first_character };
    let mut front = Vec::new();
    let mut rest = pattern;
    while let Element::Literal(literal, used) = next_element(rest, escape, step) {
        if collation == Collation::Binary {
            front.push(literal as u8);
        } else {
            front.extend_from_slice(literal.encode_utf8(&mut [0; 4]).as_bytes());
        }
        rest = &rest[used..];
    }
    front
}

fn first_byte(text: &[u8]) -> Option<(char, usize)> {
    text.first().map(|byte| (char::from(*byte), 1))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]
    use std::sync::Arc;

    use super::*;
    use crate::memory::{Account, ServerMemory};
    use turnstile_sys::rng::Rng;

    /// Matching in place and matching by runs agree.
    #[test]
    fn long_patterns_match_what_short_ones_do() {
        let letters = ['a', 'A', 'b', '\u{e1}', '\u{e4}', ' '];
        let mut rng = Rng::new(12);
        let mut seen = [0; 2];
        for round in 0..20_000 {
            let mut draw = |most: u64, of: &[char]| -> String {
                (0..rng.below(most)).map(|_| of[rng.below(of.len() as u64) as usize]).collect()
            };
            let text = draw(9, &letters);
            let pattern = draw(6, &['a', 'b', '%', '_', '\u{e1}', '%', '\\']);
            let collation = [Collation::DEFAULT, Collation::Utf8mb4Bin, Collation::Binary][round % 3];
            let whole = format!("%{pattern}");
            let (text, whole) = (text.as_bytes(), whole.as_bytes());
            let expected = like(collation, text, whole, Some('\\'), &mut Held::free()).unwrap();
            let found =
                like_long(collation, text, pattern.as_bytes(), Some('\\'), &mut Held::free()).unwrap();
            assert_eq!(
                found,
                expected,
                "{collation:?} {:?} LIKE {:?}",
                String::from_utf8_lossy(text),
                pattern
            );
            seen[usize::from(found)] += 1;
        }
        assert!(seen.iter().all(|count| *count > 1000), "{seen:?}");
    }

    #[test]
    fn a_long_match_is_linear_and_one_that_is_not_can_be_ended() {
        let text = "a".repeat(4 << 20);
        let pattern = format!("%{}b%", "a".repeat(1 << 20));
        assert!(
            !like(Collation::DEFAULT, text.as_bytes(), pattern.as_bytes(), None, &mut Held::free()).unwrap()
        );
        // `_` before and behind letters costs nothing.
        let pattern = format!("%{0}b{0}%", "_".repeat(1 << 20));
        assert!(
            !like(Collation::DEFAULT, text.as_bytes(), pattern.as_bytes(), None, &mut Held::free()).unwrap()
        );
        let pattern = format!("%{0}a{0}%{0}a{0}", "_".repeat(1 << 19));
        assert!(
            like(Collation::DEFAULT, text.as_bytes(), pattern.as_bytes(), None, &mut Held::free()).unwrap()
        );
        for between in ["a_".repeat(1 << 18), format!("a{}", "_".repeat(1 << 20))] {
            let pattern = format!("%{between}b%");
            let mut held = Held::free_for(64 << 20);
            let result = like(Collation::DEFAULT, text.as_bytes(), pattern.as_bytes(), None, &mut held);
            assert_eq!(result.unwrap_err().code, 1317);
        }
    }

    /// A pattern takes many times its text if it is read as a whole.
    #[test]
    fn patterns_of_many_runs_need_little_memory() {
        let account: &'static Account = Box::leak(Box::new(Account::new(Arc::new(ServerMemory::default()))));
        account.set_limit(4 << 20);
        let text = "a".repeat(1 << 20);
        let pattern = "%a_a".repeat(1 << 17);
        let mut held = Held::within(account);
        assert!(like(Collation::DEFAULT, text.as_bytes(), pattern.as_bytes(), None, &mut held).unwrap());
        let pattern = format!("%{}b", "a_".repeat(1 << 18));
        let refused = like(Collation::DEFAULT, text.as_bytes(), pattern.as_bytes(), None, &mut held);
        assert_eq!(refused.unwrap_err().code, 4082);
    }
}
