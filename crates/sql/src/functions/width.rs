//! How many digits the whole numbers of functions have at most, as they are announced: what keeps such a number, and what computes with
//! it, goes by that.

use crate::ast::{IntervalUnit, IntervalUnit as U};
use crate::expr::Typed;
use crate::types::{ColumnType, IntWidth};

use super::string_type;

/// Digits and sign of a number of which nothing else is known.
const ANY: u8 = 21;

/// The result of a function with its digits, where it is a whole number of which the function itself does not say them.
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
pub(crate) fn any_whole(unsigned: bool) -> ColumnType {
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
