//! LIKE: `%` any run, `_` one character, an escape character before either. Characters match by collation, one by
//! one. Backtracks only to the last `%`, so the cost is at most text length times pattern length.

use super::{Collation, first_character};

/// True if `text` matches `pattern`. `escape` `None` means no escape character. Under `Collation::Binary` the unit is
/// the byte, else the character.
pub fn like(collation: Collation, text: &[u8], pattern: &[u8], escape: Option<char>) -> bool {
    let step = if collation == Collation::Binary { first_byte } else { first_character };
    let (mut text_at, mut pattern_at) = (0, 0);
    let mut last_any: Option<(usize, usize)> = None;
    loop {
        match next_element(&pattern[pattern_at..], escape, step) {
            Element::Any(used) => {
                pattern_at += used;
                if pattern_at == pattern.len() {
                    return true;
                }
                last_any = Some((pattern_at, text_at));
                continue;
            }
            Element::End if text_at == text.len() => return true,
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
        let Some((after_any, tried)) = last_any else { return false };
        let Some((_, length)) = step(&text[tried..]) else { return false };
        last_any = Some((after_any, tried + length));
        pattern_at = after_any;
        text_at = tried + length;
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
