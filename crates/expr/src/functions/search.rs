//! Finding one text in another in linear time, under any collation.
//!
//! Byte order: the substring search of `memchr`, which is linear in the worst case (two-way). Text is UTF-8,
//! so a match of bytes begins at a character. Where characters have several weights or none, weights are
//! searched for (`collation/occurrence.rs`). Other texts compare character by character; both are folded
//! first: every character becomes the first one met that counts as the same. Folded texts are UTF-8 again,
//! and equal characters are equal bytes. Short texts are compared in place, which is faster for them.

use memchr::memmem;

use crate::expr::{EvalContext, Held};
use turnstile_values::collation::{Collation, Fold, first_character};
use turnstile_values::error::SqlResult;

/// Up to so many comparisons of characters texts are not folded.
const IN_PLACE_COMPARISONS: usize = 4096;

/// Bytes that are worked through between two looks for KILL.
const PIECE_BYTES: usize = 1 << 20;

/// A text in pieces of whole characters, one look for KILL for each: what goes through a long text goes
/// through these.
pub fn pieces<'t>(text: &'t str, context: &EvalContext<'_>) -> impl Iterator<Item = SqlResult<&'t str>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (piece, more) = rest.split_at(rest.floor_char_boundary(PIECE_BYTES));
        rest = more;
        (!piece.is_empty()).then(|| context.work(piece.len()).map(|()| piece))
    })
}

/// Where `needle` first occurs in `text`, in bytes from its beginning.
pub fn find(
    collation: Collation,
    text: &[u8],
    needle: &[u8],
    held: &mut Held<'_>,
) -> SqlResult<Option<usize>> {
    if needle.is_empty() {
        return Ok(Some(0));
    }
    if collation.is_binary_order() {
        return Ok(memmem::find(text, needle));
    }
    if let Some(found) = collation.find_by_weights(text, needle, held)? {
        return Ok(found);
    }
    find_by_characters(collation, text, needle, held)
}

fn find_by_characters(
    collation: Collation,
    text: &[u8],
    needle: &[u8],
    held: &mut Held<'_>,
) -> SqlResult<Option<usize>> {
    if text.len().saturating_mul(needle.len()) <= IN_PLACE_COMPARISONS {
        return Ok(find_in_place(collation, text, needle));
    }
    let mut fold = Fold::new(collation);
    let needle = fold.all_held(needle, held)?;
    let folded = fold.all_held(text, held)?;
    let Some(at) = memmem::find(&folded, &needle) else { return Ok(None) };
    held.pass(folded.len())?;
    // The fold changes lengths, not the number of characters.
    let before = characters(&folded[..at]);
    Ok(Some(nth_character(text, before)))
}

fn find_in_place(collation: Collation, text: &[u8], needle: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        if begins(collation, &text[at..], needle) {
            return Some(at);
        }
        at += first_character(&text[at..])?.1;
    }
}

/// True if `text` begins with what is the same as `needle`.
fn begins(collation: Collation, text: &[u8], needle: &[u8]) -> bool {
    let (mut at, mut rest) = (0, needle);
    while let Some((wanted, length)) = first_character(rest) {
        let Some((found, taken)) = first_character(&text[at..]) else { return false };
        if !collation.same_character(found, wanted) {
            return false;
        }
        at += taken;
        rest = &rest[length..];
    }
    true
}

/// Characters of a text.
pub fn characters(text: &[u8]) -> usize {
    match std::str::from_utf8(text) {
        Ok(text) => text.chars().count(),
        Err(_) => {
            let (mut count, mut rest) = (0, text);
            while let Some((_, length)) = first_character(rest) {
                count += 1;
                rest = &rest[length..];
            }
            count
        }
    }
}

/// The byte where the character of this number (from 0) begins; the length of the text for those behind it.
pub(crate) fn nth_character(text: &[u8], number: usize) -> usize {
    let mut at = 0;
    for _ in 0..number {
        match text.get(at) {
            Some(byte) if byte.is_ascii() => at += 1,
            _ => match first_character(&text[at..]) {
                Some((_, length)) => at += length,
                None => break,
            },
        }
    }
    at
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]
    use super::*;
    use turnstile_sys::rng::Rng;

    /// Folding and comparing in place find the same.
    #[test]
    fn folded_texts_are_found_where_compared_ones_are() {
        let letters = [
            'a',
            'A',
            '\u{e1}',
            'b',
            ' ',
            '\u{df}',
            's',
            '\u{0}',
            '\u{a0}',
            '\u{416}',
            '\u{436}',
            '\u{1F600}',
        ];
        let mut rng = Rng::new(11);
        let mut text = |most: u64| -> String {
            let length = rng.below(most);
            (0..length).map(|_| letters[rng.below(letters.len() as u64) as usize]).collect()
        };
        for collation in Collation::all().filter(|collation| !collation.is_binary_order()) {
            for _ in 0..300 {
                let (text, needle) = (text(30), text(4));
                let expected = find_in_place(collation, text.as_bytes(), needle.as_bytes());
                let mut fold = Fold::new(collation);
                let (folded, wanted) = (fold.all(text.as_bytes()), fold.all(needle.as_bytes()));
                let at = memmem::find(&folded, &wanted).map(|at| characters(&folded[..at]));
                let place = expected.map(|at| characters(&text.as_bytes()[..at]));
                assert_eq!(at, place, "{collation:?} {text:?} {needle:?}");
            }
        }
    }

    #[test]
    fn a_long_search_is_linear_and_finds_what_is_there() {
        let mut free = Held::free();
        let (mut text, needle) = ("a".repeat(1 << 20), "A".repeat(1 << 19) + "b");
        assert_eq!(find(Collation::DEFAULT, text.as_bytes(), needle.as_bytes(), &mut free).unwrap(), None);
        assert_eq!(
            find(Collation::Binary, text.as_bytes(), needle.to_lowercase().as_bytes(), &mut free).unwrap(),
            None
        );
        text.push_str("\u{e1}B");
        let found = find(Collation::DEFAULT, text.as_bytes(), needle.as_bytes(), &mut free).unwrap();
        assert_eq!(found, Some((1 << 19) + 1));
    }
}
