//! Types of moments, and how many digits behind the seconds a result has.

use std::borrow::Cow;

use turnstile_values::datetime::{self, DateTime, Time};
use turnstile_values::types::ColumnType;
use turnstile_values::value::{Value, to_bytes};

use super::super::json_scalar::is_document_read;
use crate::expr::{Call, Expr, Typed};

pub(super) fn year_type(_: &[Typed]) -> ColumnType {
    ColumnType::Year
}

fn literal_digits(arguments: &[Typed], place: usize) -> u8 {
    match arguments.get(place).map(|argument| &argument.expr) {
        Some(Expr::Literal(Value::Int(digits))) => (*digits).clamp(0, 6) as u8,
        _ => 0,
    }
}

pub(super) fn moment_with_digits(arguments: &[Typed]) -> ColumnType {
    ColumnType::DateTime { fsp: literal_digits(arguments, 0) }
}

pub(super) fn time_with_digits(arguments: &[Typed]) -> ColumnType {
    ColumnType::Time { fsp: literal_digits(arguments, 0) }
}

/// Digits behind the point of a type's values, where it is read as a time.
fn fraction_of(kind: &ColumnType) -> u8 {
    match kind {
        ColumnType::Time { fsp } | ColumnType::DateTime { fsp } | ColumnType::Timestamp { fsp } => *fsp,
        ColumnType::Decimal { scale, .. } => (*scale).min(6),
        ColumnType::Double { .. } | ColumnType::Float { .. } => 6,
        kind if kind.is_string() => 6,
        _ => 0,
    }
}

/// The text of a constant, which tells its digits.
fn constant_text(argument: &Typed) -> Option<Cow<'_, [u8]>> {
    let sum = crate::functions::clock::text_of_sum(&argument.expr);
    match sum.unwrap_or(&argument.expr) {
        Expr::Literal(value @ (Value::Str(_) | Value::Bytes(_))) => Some(to_bytes(value)),
        Expr::Literal(_) => None,
        // A document is not looked into.
        Expr::Call(call) if is_document_read(call.name) => None,
        computed if sum.is_some() || argument.kind.column.is_character() => {
            crate::functions::known(computed, |value, _| {
                value.as_raw_bytes().map(|text| Cow::Owned(text.to_vec()))
            })
        }
        _ => None,
    }
}

/// Digits behind the point of an argument that is read as a moment.
fn moment_fraction(argument: &Typed) -> u8 {
    let Some(text) = constant_text(argument) else { return fraction_of(&argument.kind.column) };
    let rules = datetime::DateRules { invalid: true, ..datetime::DateRules::LENIENT };
    datetime::parse_date_time(&text, rules).map_or(6, |found| found.moment.fsp)
}

/// The same of one that is read as a time.
pub fn clock_fraction(argument: &Typed) -> u8 {
    let Some(text) = constant_text(argument) else { return fraction_of(&argument.kind.column) };
    match datetime::parse_time(&text) {
        Some((time, truncated)) if !truncated || time.fsp > 0 => time.fsp,
        other => match moment_fraction(argument) {
            6 => other.map_or(6, |(time, _)| time.fsp),
            digits => digits,
        },
    }
}

/// The same where it is read as a number.
pub fn number_fraction(arguments: &[Typed]) -> u8 {
    arguments.first().map_or(0, |first| fraction_of(&first.kind.column))
}

/// A moment or a time with as many digits as its type has.
pub fn with_digits_of(call: &Call, value: Value) -> Value {
    match (value, &call.kind) {
        (Value::DateTime(moment), ColumnType::DateTime { fsp }) => {
            Value::DateTime(DateTime::from_packed(moment.packed(), *fsp))
        }
        (Value::Time(time), ColumnType::Time { fsp }) => Value::Time(Time { fsp: *fsp, ..time }),
        (value, _) => value,
    }
}

/// A moment, and a time that is added to it.
pub fn moment_and_time(arguments: &[Typed]) -> ColumnType {
    let first = arguments.first().map_or(0, moment_fraction);
    ColumnType::DateTime { fsp: first.max(arguments.get(1).map_or(0, clock_fraction)) }
}

pub(super) fn moment_like_first(arguments: &[Typed]) -> ColumnType {
    ColumnType::DateTime { fsp: arguments.first().map_or(0, moment_fraction) }
}

pub(super) fn unix_type(arguments: &[Typed]) -> ColumnType {
    match arguments.first().map_or(0, moment_fraction) {
        0 => crate::functions::bigint(arguments),
        scale => ColumnType::Decimal { precision: 11 + scale, scale, unsigned: false, zerofill: false },
    }
}

pub(super) fn from_unixtime_type(arguments: &[Typed]) -> ColumnType {
    if arguments.len() == 2 {
        return crate::functions::width::formatted_moment(arguments);
    }
    ColumnType::DateTime { fsp: number_fraction(arguments) }
}

pub(super) fn str_to_date_type(arguments: &[Typed]) -> ColumnType {
    let Some(Expr::Literal(Value::Str(pattern))) = arguments.get(1).map(|pattern| &pattern.expr) else {
        return ColumnType::DateTime { fsp: 6 };
    };
    let has = |specifiers: &str| {
        pattern.as_bytes().windows(2).any(|pair| pair[0] == b'%' && specifiers.as_bytes().contains(&pair[1]))
    };
    let fsp = if has("f") { 6 } else { 0 };
    match (has("YymcMbdeDjWawUuVvXx"), has("HkhIlisSfprT")) {
        (true, false) => ColumnType::Date,
        (false, true) => ColumnType::Time { fsp },
        _ => ColumnType::DateTime { fsp },
    }
}
