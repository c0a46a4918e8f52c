//! LIKE: `%` any run, `_` one character, an escape character before either. Characters match by collation, one by
//! one.
//!
//! Matching in place goes back to the last `%` only, which costs at most text length times pattern length and is the fastest for most. When
//! that has taken [`STEPS_IN_PLACE`], both are folded (equal characters become equal bytes) and what lies between two `%` is found by a
//! linear search. Only a run that contains `_` is still tried place by place, by its longest part without; that is noted as work, so
//! KILL ends it.

use memchr::memmem;

use super::fold::Fold;
use super::{Collation, first_character};
use crate::error::SqlResult;

/// Steps of matching in place before it is given up.
const STEPS_IN_PLACE: usize = 64 << 10;
/// Bytes compared between two notes of work.
const NOTED_BYTES: usize = 1 << 20;

/// Notes bytes worked through; fails if the statement is to end.
pub type Work<'w> = dyn FnMut(usize) -> SqlResult<()> + 'w;

/// True if `text` matches `pattern`. `escape` `None` means no escape character. Under `Collation::Binary` the unit is
/// the byte, else the character.
pub fn like(
    collation: Collation,
    text: &[u8],
    pattern: &[u8],
    escape: Option<char>,
    work: &mut Work<'_>,
) -> SqlResult<bool> {
    let step = if collation == Collation::Binary { first_byte } else { first_character };
    let (mut text_at, mut pattern_at) = (0, 0);
    let mut last_any: Option<(usize, usize)> = None;
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
                    return like_long(collation, &text[text_at..], &pattern[pattern_at..], escape, work);
                }
                last_any = Some((pattern_at, text_at));
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
                    && collation.same_character(found, wanted)
                {
                    text_at += length;
                    pattern_at += used;
                    continue;
                }
            }
            _ => {}
        }
        let Some((after_any, tried)) = last_any else { return Ok(false) };
        let Some((_, length)) = step(&text[tried..]) else { return Ok(false) };
        if steps > STEPS_IN_PLACE {
            return like_long(collation, &text[tried..], &pattern[after_any..], escape, work);
        }
        last_any = Some((after_any, tried + length));
        pattern_at = after_any;
        text_at = tried + length;
    }
}

/// What lies between two `%`: parts without `_`, folded, with one `_` between neighbours.
#[derive(Default)]
struct Run {
    parts: Vec<Vec<u8>>,
}

/// Whether a text matches `%` and this pattern.
fn like_long(
    collation: Collation,
    text: &[u8],
    pattern: &[u8],
    escape: Option<char>,
    work: &mut Work<'_>,
) -> SqlResult<bool> {
    let bytes = collation == Collation::Binary;
    let step = if bytes { first_byte } else { first_character };
    let mut fold = Fold::new(collation);
    let mut runs = vec![Run { parts: vec![Vec::new()] }];
    let mut at = 0;
    loop {
        let run = runs.last_mut().map(|run| &mut run.parts).expect("there is one from the beginning");
        let part = run.last_mut().expect("a run has a part from the beginning");
        match next_element(&pattern[at..], escape, step) {
            Element::End => break,
            Element::Any(used) => {
                at += used;
                runs.push(Run { parts: vec![Vec::new()] });
            }
            Element::One(used) => {
                at += used;
                run.push(Vec::new());
            }
            Element::Literal(letter, used) => {
                at += used;
                if bytes { part.push(letter as u8) } else { fold.append(letter, part) }
            }
        }
    }
    let folded = if bytes { text.to_vec() } else { fold.all_noted(text, work)? };
    let last = runs.pop().expect("there is one from the beginning");
    let mut rest = &folded[..];
    for run in &runs {
        match run.find(rest, step, work)? {
            Some(end) => rest = &rest[end..],
            None => return Ok(false),
        }
    }
    // The last run stands at the end.
    let length = last.length(step);
    let mut begin = rest.len();
    for _ in 0..length {
        if begin == 0 {
            return Ok(false);
        }
        begin -= 1;
        while !bytes && begin > 0 && rest[begin] & 0xC0 == 0x80 {
            begin -= 1;
        }
    }
    Ok(last.matches(&rest[begin..], step) == Some(rest.len() - begin))
}

type Step = fn(&[u8]) -> Option<(char, usize)>;

impl Run {
    /// In characters.
    fn length(&self, step: Step) -> usize {
        let count = |part: &Vec<u8>| {
            let (mut count, mut rest) = (0, &part[..]);
            while let Some((_, length)) = step(rest) {
                count += 1;
                rest = &rest[length..];
            }
            count
        };
        self.parts.iter().map(count).sum::<usize>() + self.parts.len() - 1
    }

    /// How many bytes it takes at the beginning of a text.
    fn matches(&self, text: &[u8], step: Step) -> Option<usize> {
        let mut at = 0;
        for (nth, part) in self.parts.iter().enumerate() {
            if nth > 0 {
                at += step(&text[at..])?.1;
            }
            at += text[at..].starts_with(part).then_some(part.len())?;
        }
        Some(at)
    }

    /// The end of the first place where it matches.
    fn find(&self, text: &[u8], step: Step, work: &mut Work<'_>) -> SqlResult<Option<usize>> {
        if let [part] = &self.parts[..] {
            return Ok(memmem::find(text, part).map(|at| at + part.len()));
        }
        let own: usize = self.parts.iter().map(Vec::len).sum();
        let (mut at, mut compared) = (0, 0);
        loop {
            if let Some(taken) = self.matches(&text[at..], step) {
                return Ok(Some(at + taken));
            }
            compared += own + 1;
            if compared >= NOTED_BYTES {
                work(std::mem::take(&mut compared))?;
            }
            let Some((_, length)) = step(&text[at..]) else { return Ok(None) };
            at += length;
            // On to the next place where its first part is.
            match memmem::find(&text[at..], &self.parts[0]) {
                Some(skipped) => at += skipped,
                None => return Ok(None),
            }
        }
    }
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

fn first_byte(text: &[u8]) -> Option<(char, usize)> {
    text.first().map(|byte| (char::from(*byte), 1))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use turnstile_sys::rng::Rng;

    fn free(_: usize) -> SqlResult<()> {
        Ok(())
    }

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
            let expected = like(collation, text, whole, Some('\\'), &mut free).unwrap();
            let found = like_long(collation, text, pattern.as_bytes(), Some('\\'), &mut free).unwrap();
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
        assert!(!like(Collation::DEFAULT, text.as_bytes(), pattern.as_bytes(), None, &mut free).unwrap());
        let pattern = format!("%{}b%", "a_".repeat(1 << 18));
        let mut noted = 0;
        let mut work = |bytes: usize| {
            noted += bytes;
            if noted > 64 << 20 { Err(crate::error::SqlError::query_interrupted()) } else { Ok(()) }
        };
        let result = like(Collation::DEFAULT, text.as_bytes(), pattern.as_bytes(), None, &mut work);
        assert_eq!(result.unwrap_err().code, 1317);
    }
}
