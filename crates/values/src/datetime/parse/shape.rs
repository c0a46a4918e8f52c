//! Whether a text has the shape of a moment, before it is read as one.

use super::super::Date;
use super::{DateRules, parse_date_time, unparted};

/// Whether a text says a day before a time, as all of it.
pub fn says_moment(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    let rules = DateRules { invalid: true, ..DateRules::LENIENT };
    is_shaped_as_moment(text)
        && parse_date_time(text, rules)
            .is_some_and(|parsed| parsed.has_time && !parsed.truncated && parsed.moment.date() != Date::ZERO)
}

/// Whether a text that is read as a time is read as a moment first: 12 characters at least, of digits alone,
/// with a T among them or without, or three numbers and a space behind the third.
pub fn is_shaped_as_moment(text: &[u8]) -> bool {
    text.len() >= 12 && (unparted(text).is_some() || is_parted_by_space(text))
}

/// Whether a text that is as long as a moment is neither that nor a time, since a letter follows its first
/// number.
pub(super) fn begins_no_moment(text: &[u8]) -> bool {
    let (run, number) = first_number(text);
    let parts = |byte: &u8| byte.is_ascii_punctuation() || byte.is_ascii_whitespace();
    text.len() >= 12
        && run > 0
        && number <= PART_MAX
        && text.get(run).is_some_and(|byte| !parts(byte) && !byte.is_ascii_digit())
}

/// How many digits there are at the beginning, and what they say.
fn first_number(text: &[u8]) -> (usize, usize) {
    let run = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let add = |sum: usize, digit: &u8| sum.saturating_mul(10).saturating_add(usize::from(digit - b'0'));
    (run, text[..run].iter().fold(0, add))
}

/// The greatest number among those of a moment; a greater one makes a text none.
const PART_MAX: usize = 999_999;

fn is_parted_by_space(text: &[u8]) -> bool {
    let mut rest = text;
    for nth in 0..3 {
        let (run, number) = first_number(rest);
        rest = &rest[run..];
        let space = if nth == 2 { u8::is_ascii_whitespace } else { |_: &u8| false };
        let parting = rest.iter().take_while(|byte| byte.is_ascii_punctuation() || space(byte)).count();
        if run == 0 || number > PART_MAX || nth < 2 && parting == 0 {
            return false;
        }
        if nth == 2 {
            return rest[..parting].iter().any(u8::is_ascii_whitespace);
        }
        rest = &rest[parting..];
    }
    false
}
