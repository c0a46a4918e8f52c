//! How many digits the whole numbers of functions have at most, as they are announced: what keeps such a
//! number, and what computes with it, goes by that.

use crate::expr::{Expr, Typed};
use turnstile_syntax::ast::{IntervalUnit, IntervalUnit as U};
use turnstile_values::types::{ColumnType, IntWidth};

use super::string_type;

/// Digits and sign of a number of which nothing else is known.
const ANY: u8 = 21;

/// The result of a function with its digits, where it is a whole number of which the function itself does not
/// say them.
pub(super) fn with_digits(name: &str, kind: ColumnType) -> ColumnType {
    let ColumnType::Int { width: IntWidth::Big, unsigned, display: None, zerofill: false } = kind else {
        return kind;
    };
    let digits = match name {
        "regexp_like" | "json_overlaps" | "member of" | "release_lock" | "is_free_lock" => 1,
        "strcmp" | "dayofweek" | "quarter" | "weekday" | "interval" => 2,
        "day" | "dayofmonth" | "minute" | "month" | "second" | "week" | "weekofyear" => 3,
        "ascii" | "dayofyear" | "hour" => 4,
        "yearweek" => 7,
        "to_days" => 8,
        "datediff" => 9,
        "time_to_sec" | "coercibility" => 10,
        "bit_length" | "char_length" | "character_length" | "length" | "octet_length" | "find_in_set"
        | "instr" | "locate" | "position" | "field" => 11,
        _ => ANY,
    };
    ColumnType::Int { width: IntWidth::Big, unsigned, display: Some(digits), zerofill: false }
}

/// What EXTRACT of a unit gives.
pub(crate) fn extracted(unit: IntervalUnit) -> ColumnType {
    let digits = match unit {
        U::Quarter => 2,
        U::Month | U::Week | U::Day | U::Minute | U::Second => 3,
        U::Hour => 4,
        U::Year | U::MinuteSecond => 5,
        U::HourMinute => 6,
        U::Microsecond | U::YearMonth => 7,
        U::HourSecond => 8,
        U::DayHour | U::SecondMicrosecond => 9,
        U::DayMinute | U::MinuteMicrosecond => 11,
        U::DaySecond => 13,
        U::HourMicrosecond => 14,
        U::DayMicrosecond => 20,
    };
    ColumnType::Int { width: IntWidth::Big, unsigned: false, display: Some(digits), zerofill: false }
}

/// A number of which nothing else is known.
pub fn any_whole(unsigned: bool) -> ColumnType {
    ColumnType::Int { width: IntWidth::Big, unsigned, display: Some(ANY), zerofill: false }
}

fn length(typed: &Typed) -> u32 {
    typed.kind.column.text_length()
}

fn sum(arguments: &[Typed]) -> u32 {
    arguments.iter().fold(0, |sum: u32, one| sum.saturating_add(length(one)))
}

/// CONCAT_WS: the texts, and the first between them.
pub(super) fn separated(arguments: &[Typed]) -> ColumnType {
    let Some((separator, texts)) = arguments.split_first() else { return ColumnType::Null };
    let between = length(separator).saturating_mul(texts.len() as u32 - 1);
    string_type(sum(texts).saturating_add(between), arguments)
}

/// ELT: the longest of the texts.
pub(super) fn longest(arguments: &[Typed]) -> ColumnType {
    let texts = &arguments[1..];
    string_type(texts.iter().map(length).max().unwrap_or(0), texts)
}

/// MAKE_SET: the texts, and commas between them.
pub(super) fn listed(arguments: &[Typed]) -> ColumnType {
    let texts = &arguments[1..];
    string_type(sum(texts).saturating_add(texts.len() as u32 - 1), texts)
}

/// FORMAT: the number, a separator for three digits, and thirty places.
pub(super) fn formatted(arguments: &[Typed]) -> ColumnType {
    let digits = arguments.first().map_or(0, length);
    string_type(digits.saturating_add(digits / 3).saturating_add(32), &[])
}

/// CHAR: a code is four bytes at most.
pub(super) fn bytes_of_codes(arguments: &[Typed]) -> ColumnType {
    super::bytes_type(u32::try_from(arguments.len()).unwrap_or(u32::MAX).saturating_mul(4))
}

/// SUBSTRING: what is behind the place, or before it from the end, and no more than is asked for. A place
/// that is not known may be the first.
pub(super) fn part_behind(arguments: &[Typed]) -> ColumnType {
    let Some(first) = arguments.first().filter(|first| first.kind.column != ColumnType::Null) else {
        return super::text_like_first(arguments);
    };
    let whole = length(first);
    let known = |at: usize| arguments.get(at).and_then(|one: &Typed| super::known_length(&one.expr));
    let behind = match known(1) {
        None => whole,
        Some(0) => 0,
        Some(place) if place > 0 => whole.saturating_sub(u32::try_from(place - 1).unwrap_or(u32::MAX)),
        Some(place) => match u32::try_from(place.unsigned_abs()) {
            Ok(back) if back <= whole => back,
            _ => 0,
        },
    };
    let wanted = known(2).map_or(behind, |wanted| u32::try_from(wanted.max(0)).unwrap_or(u32::MAX));
    string_type(behind.min(wanted), arguments)
}

/// DATE_FORMAT and its kin: what a known format writes at most; ten characters for each of one that is not
/// known.
pub(super) fn formatted_moment(arguments: &[Typed]) -> ColumnType {
    let Some(format) = arguments.get(1) else { return ColumnType::varchar(0) };
    let written = match &format.expr {
        Expr::Literal(value) => value.as_raw_bytes().map(format_length),
        _ => None,
    };
    string_type(written.unwrap_or_else(|| length(format).saturating_mul(10)), &[])
}

/// Characters that a format's signs write at most.
fn format_length(format: &[u8]) -> u32 {
    let mut characters: u32 = 0;
    let mut bytes = format.iter();
    while let Some(byte) = bytes.next() {
        let more = match (byte, bytes.as_slice().first()) {
            (b'%', Some(sign)) => {
                bytes.next();
                match sign {
                    b'M' | b'W' => 64,
                    b'a' | b'b' => 32,
                    b'r' => 11,
                    b'T' => 8,
                    b'H' | b'k' => 7,
                    b'f' => 6,
                    b'D' | b'Y' | b'x' | b'X' => 4,
                    b'j' => 3,
                    b'c' | b'd' | b'e' | b'h' | b'i' | b'I' | b'l' | b'm' | b'p' | b's' | b'S' | b'u'
                    | b'U' | b'v' | b'V' | b'y' => 2,
                    _ => 1,
                }
            }
            _ => 1,
        };
        characters = characters.saturating_add(more);
    }
    characters
}
