//! Storing a value into a column: conversion to the column's type with MySQL's checks. In strict mode what
//! does not fit is an error; otherwise (and under IGNORE) it is clamped or cut, with a warning.

use std::sync::Arc;

use super::{EnumValue, Value, parse_double_prefix, to_bytes, to_date_time, to_decimal, to_double, to_text};
use crate::collation::{Collation, trim_spaces};
use crate::context::{EvalContext, SqlMode, WarningLevel};
use crate::datetime::{DateRules, DateTime, Time};
use crate::datum::shown_value;
use crate::decimal::Decimal;
use crate::error::{SqlError, SqlResult};
use crate::number_text::fitted_double;
use crate::types::{ColumnType, IntWidth};

mod temporal;

use temporal::{store_date, store_moment, store_time};

/// Where a value goes.
#[derive(Clone, Copy)]
pub struct StoreContext<'a> {
    /// Column name for messages.
    pub column: &'a str,
    /// Row number of the statement, from 1, for messages.
    pub row: u64,
    /// NULL is allowed.
    pub nullable: bool,
    /// Misfits are errors: strict mode and no IGNORE.
    pub strict: bool,
    /// Settings and the place for warnings.
    pub eval: &'a EvalContext<'a>,
}

impl StoreContext<'_> {
    /// An error in strict mode, else a warning.
    fn misfit(&self, error: SqlError) -> SqlResult<()> {
        if self.strict {
            return Err(error);
        }
        self.eval.warnings.push(WarningLevel::Warning, error);
        Ok(())
    }

    fn out_of_range(&self) -> SqlResult<()> {
        self.misfit(SqlError::out_of_range_column(self.column, self.row))
    }

    /// An error in strict mode, and otherwise truncated.
    fn too_long(&self) -> SqlResult<()> {
        self.misfit(if self.strict {
            SqlError::data_too_long(self.column, self.row)
        } else {
            SqlError::data_truncated(self.column, self.row)
        })
    }

    fn note_truncated(&self) {
        self.eval.warnings.push(WarningLevel::Note, SqlError::data_truncated(self.column, self.row));
    }

    fn incorrect(&self, kind: &str, value: &Value) -> SqlError {
        SqlError::incorrect_value_for_field(kind, shown_value(value), self.column, self.row)
    }

    /// What is no moment of this kind: named in strict mode, otherwise told as truncated or as out of range.
    fn misfit_moment(&self, kind: &str, value: &Value, out_of_range: bool) -> SqlResult<()> {
        self.misfit(if self.strict {
            SqlError::incorrect_value_for_column(kind, shown_value(value), self.column, self.row)
        } else if out_of_range {
            SqlError::out_of_range_column(self.column, self.row)
        } else {
            SqlError::data_truncated(self.column, self.row)
        })
    }

    fn date_rules(&self) -> DateRules {
        let mode = self.eval.settings.sql_mode;
        DateRules {
            zero_in_date: !mode.has(SqlMode::NO_ZERO_IN_DATE),
            zero_date: !mode.has(SqlMode::NO_ZERO_DATE),
            invalid: mode.has(SqlMode::ALLOW_INVALID_DATES),
        }
    }
}

/// Converts a value to the column's type, ready for the row and key encodings. TIMESTAMP values come out in
/// UTC.
pub fn store(value: &Value, kind: &ColumnType, context: &StoreContext<'_>) -> SqlResult<Value> {
    match (value, kind) {
        (Value::Null, _) => {
            if context.nullable {
                return Ok(Value::Null);
            }
            context.misfit(SqlError::column_cannot_be_null(context.column))?;
            return store(&zero_of(kind), kind, &StoreContext { strict: false, ..*context });
        }
        // The two classes of the hot path.
        (Value::Int(number), ColumnType::Int { width, unsigned: false, .. }) => {
            let (low, high) = width.signed_range();
            if (low..=high).contains(number) {
                return Ok(Value::Int(*number));
            }
        }
        (Value::Str(text), ColumnType::Varchar { length, collation })
            if text.len() <= *length as usize && collation.takes_any_text() =>
        {
            return Ok(value.clone());
        }
        _ => {}
    }
    if let (Value::Json(marked), true) = (value, kind.is_temporal()) {
        if matches!(kind, ColumnType::DateTime { .. } | ColumnType::Timestamp { .. })
            && let Some(day) = super::document::day_of_text(marked, context.eval)?
        {
            context.misfit_moment("datetime", &Value::Date(day), false)?;
            return Ok(zero_of(kind));
        }
        return store(&super::document::unquoted(marked, context.eval)?, kind, context);
    }
    match kind {
        ColumnType::Null => Ok(Value::Null),
        ColumnType::Int { width, unsigned, .. } => store_integer(value, *width, *unsigned, context),
        ColumnType::Year => store_year(value, context),
        ColumnType::Bit { bits } => store_bits(value, *bits, context),
        ColumnType::Decimal { precision, scale, unsigned, .. } => {
            store_decimal(value, *precision, *scale, *unsigned, context)
        }
        ColumnType::Float { unsigned, digits, .. } => store_double(value, true, *unsigned, *digits, context),
        ColumnType::Double { unsigned, digits, .. } => {
            store_double(value, false, *unsigned, *digits, context)
        }
        ColumnType::Char { length, collation } | ColumnType::Varchar { length, collation } => {
            let char_type = matches!(kind, ColumnType::Char { .. });
            store_text(value, u64::from(*length), false, char_type, *collation, context)
        }
        ColumnType::Text { size, collation } => {
            store_text(value, size.max_bytes(), true, false, *collation, context)
        }
        ColumnType::Binary { length } => {
            let mut bytes = store_bytes(value, u64::from(*length), context)?;
            bytes.resize(*length as usize, 0);
            Ok(Value::bytes(bytes))
        }
        ColumnType::Varbinary { length } => {
            Ok(Value::bytes(store_bytes(value, u64::from(*length), context)?))
        }
        ColumnType::Blob { size } => Ok(Value::bytes(store_bytes(value, size.max_bytes(), context)?)),
        ColumnType::Date => store_date(value, context),
        ColumnType::DateTime { fsp } => store_moment(value, *fsp, false, context),
        ColumnType::Timestamp { fsp } => store_moment(value, *fsp, true, context),
        ColumnType::Time { fsp } => store_time(value, *fsp, context),
        ColumnType::Enum { .. } | ColumnType::Set { .. } => store_enum(value, kind, context),
        ColumnType::Json => super::document::store(value, context),
    }
}

/// The implicit default of a NOT NULL column outside strict mode.
pub fn zero_of(kind: &ColumnType) -> Value {
    match kind {
        ColumnType::Json => Value::text("null"),
        ColumnType::Date | ColumnType::DateTime { .. } | ColumnType::Timestamp { .. } => {
            Value::DateTime(DateTime::ZERO)
        }
        ColumnType::Time { .. } => Value::Time(Time::default()),
        ColumnType::Enum { .. } => Value::UInt(1),
        _ if kind.is_string() => Value::text(""),
        _ => Value::Int(0),
    }
}

/// The value as a whole number wide enough for every integer type, with rounding.
fn whole_number(value: &Value, context: &StoreContext<'_>) -> SqlResult<i128> {
    let (number, trouble) = rounded_number(value, context)?;
    trouble.map_or(Ok(()), |error| context.misfit(error))?;
    Ok(number)
}

/// The same, and what is wrong with a text that is no number to its end.
fn rounded_number(value: &Value, context: &StoreContext<'_>) -> SqlResult<(i128, Option<SqlError>)> {
    let number = match value {
        Value::Int(number) => i128::from(*number),
        Value::UInt(number) => i128::from(*number),
        Value::Double(number) => {
            if number.is_nan() {
                context.out_of_range()?;
            }
            number.round_ties_even() as i128
        }
        Value::Str(_) | Value::Bytes(_) => {
            let text = value.as_raw_bytes().unwrap_or(&[]);
            let parsed = Decimal::parse_prefix(text);
            let rest = &text[parsed.consumed..];
            let trouble = if parsed.consumed == 0 {
                Some(context.incorrect("integer", value))
            } else if !without_empty_exponent(rest).iter().all(u8::is_ascii_whitespace) {
                Some(SqlError::data_truncated(context.column, context.row))
            } else {
                None
            };
            return Ok((decimal_to_i128(&parsed.value), trouble));
        }
        other => {
            // A moment is rounded by its clock before it becomes digits: half past the last second is the
            // next minute.
            let whole = whole_seconds(other, context);
            decimal_to_i128(&to_decimal(whole.as_ref().unwrap_or(other), context.eval)?)
        }
    };
    Ok((number, None))
}

/// A moment or a time without a fraction; None for what has none.
fn whole_seconds(value: &Value, context: &StoreContext<'_>) -> Option<Value> {
    match value {
        Value::Time(time) => Some(Value::Time(context.eval.time_to(*time, 0))),
        Value::DateTime(moment) => context.eval.moment_to(*moment, 0).map(Value::DateTime),
        _ => None,
    }
}

fn decimal_to_i128(number: &Decimal) -> i128 {
    let rounded = number.round_to(0);
    rounded.to_scaled_i128().unwrap_or(if rounded.is_negative() { i128::MIN } else { i128::MAX })
}

fn store_integer(
    value: &Value,
    width: IntWidth,
    unsigned: bool,
    context: &StoreContext<'_>,
) -> SqlResult<Value> {
    let (number, trouble) = rounded_number(value, context)?;
    let (low, high) = if unsigned {
        (0, i128::from(width.unsigned_max()))
    } else {
        let (low, high) = width.signed_range();
        (i128::from(low), i128::from(high))
    };
    let clamped = number.clamp(low, high);
    // A decimal becomes a whole number of 64 bits first, and is told of twice if the column has fewer.
    let (least, most) =
        if unsigned { (i128::MIN, u64::MAX.into()) } else { (i64::MIN.into(), i64::MAX.into()) };
    let is_narrow = matches!(value, Value::Decimal(_)) && width != IntWidth::Big;
    if is_narrow && !(least..=most).contains(&number) {
        context.out_of_range()?;
    }
    // That it is too large is told in place of what follows the number.
    if clamped != number || unsigned && is_below_zero(value) {
        context.out_of_range()?;
    } else if let Some(error) = trouble {
        context.misfit(error)?;
    }
    Ok(if unsigned { Value::UInt(clamped as u64) } else { Value::Int(clamped as i64) })
}

/// What follows a number, less an exponent without digits, which counts as part of a whole number.
fn without_empty_exponent(rest: &[u8]) -> &[u8] {
    match rest {
        [b'e' | b'E', b'+' | b'-', rest @ ..] | [b'e' | b'E', rest @ ..] => rest,
        _ => rest,
    }
}

/// A decimal below zero is out of range where nothing is, also one that is rounded to zero.
fn is_below_zero(value: &Value) -> bool {
    matches!(value, Value::Decimal(number) if number.is_negative())
}

fn store_year(value: &Value, context: &StoreContext<'_>) -> SqlResult<Value> {
    let mut trouble = None;
    let number = match value {
        // A moment has a year of its own.
        Value::Date(_) | Value::DateTime(_) | Value::Time(_) => {
            to_date_time(value, context.eval)?.map_or(0, |moment| i128::from(moment.date().year()))
        }
        Value::Double(number) => number.trunc() as i128,
        _ if is_below_zero(value) => -1,
        _ => {
            let (number, error) = rounded_number(value, context)?;
            trouble = error;
            number
        }
    };
    // A decimal becomes a whole number of 64 bits first, and is told of twice.
    if matches!(value, Value::Decimal(_)) && number > i64::MAX.into() {
        context.out_of_range()?;
    }
    // '0' and '00' are the year 2000; 0, '0000' and what is no number are none.
    let two_digits = value.is_string() && {
        let text = to_bytes(value);
        text.len() != 4 && Decimal::parse_prefix(&text).consumed > 0
    };
    let year = match number {
        0 if two_digits => 2000,
        0 => 0,
        1..=69 => 2000 + number,
        70..=99 => 1900 + number,
        1901..=2155 => number,
        _ => {
            context.out_of_range()?;
            return Ok(Value::UInt(0));
        }
    };
    // That it is out of range is told in place of what follows the number.
    trouble.map_or(Ok(()), |error| context.misfit(error))?;
    Ok(Value::UInt(year as u64))
}

fn store_bits(value: &Value, bits: u8, context: &StoreContext<'_>) -> SqlResult<Value> {
    let largest = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
    let mut has_more = false;
    let number = match value {
        Value::Str(_) | Value::Bytes(_) | Value::Date(_) | Value::DateTime(_) | Value::Time(_) => {
            let bytes = to_bytes(value);
            let significant = &bytes[bytes.iter().take_while(|byte| **byte == 0).count()..];
            has_more = significant.len() > 8;
            significant.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
        }
        Value::Int(number) => *number as u64,
        Value::Double(number) => number.trunc() as i64 as u64,
        other if is_below_zero(other) => {
            context.out_of_range()?;
            0
        }
        other => {
            let number = whole_number(other, context)?;
            // A decimal becomes a whole number of 64 bits first, and is told of twice.
            if number > i128::from(u64::MAX) {
                context.out_of_range()?;
            }
            number.clamp(0, i128::from(u64::MAX)) as u64
        }
    };
    if number > largest || has_more {
        // The mode alone says what it is called: IGNORE makes a warning of either.
        let is_long = context.eval.settings.sql_mode.is_strict();
        context.misfit(match is_long {
            true => SqlError::data_too_long(context.column, context.row),
            false => SqlError::out_of_range_column(context.column, context.row),
        })?;
        return Ok(Value::UInt(largest));
    }
    Ok(Value::UInt(number))
}

fn store_decimal(
    value: &Value,
    precision: u8,
    scale: u8,
    unsigned: bool,
    context: &StoreContext<'_>,
) -> SqlResult<Value> {
    // It has more digits before the point than any DECIMAL.
    let mut overflows = false;
    let number = match value {
        Value::Str(_) | Value::Bytes(_) => {
            let text = value.as_raw_bytes().unwrap_or(&[]);
            let parsed = Decimal::parse_prefix(text);
            let garbage = !text[parsed.consumed..].iter().all(u8::is_ascii_whitespace);
            overflows = parsed.overflow;
            if parsed.consumed == 0 || context.strict && (garbage || parsed.beyond) {
                context.misfit(context.incorrect("decimal", value))?;
            } else if !overflows && (garbage || parsed.rounded && parsed.value.is_zero()) {
                context.note_truncated();
            }
            parsed.value
        }
        Value::Double(number) => {
            overflows = Decimal::from_f64(*number).is_none();
            to_decimal(value, context.eval)?
        }
        other => to_decimal(other, context.eval)?,
    };
    if unsigned && number.is_negative() {
        context.out_of_range()?;
        return Ok(Value::Decimal(Decimal::ZERO.round_to(scale)));
    }
    match number.fit(precision, scale) {
        Ok(fitted) if !overflows => {
            if fitted != number {
                context.note_truncated();
            }
            Ok(Value::Decimal(fitted))
        }
        _ => {
            context.out_of_range()?;
            let largest = Decimal::max_value(precision, scale);
            Ok(Value::Decimal(if number.is_negative() { largest.negate() } else { largest }))
        }
    }
}

/// A number as FLOAT(M,D) and DOUBLE(M,D) round it: its fraction alone, half to even.
pub fn rounded_to_scale(number: f64, scale: u8) -> f64 {
    let unit = 10f64.powi(i32::from(scale));
    let rounded = number.floor() + ((number - number.floor()) * unit).round_ties_even() / unit;
    if rounded.is_finite() { rounded } else { number }
}

fn store_double(
    value: &Value,
    single: bool,
    unsigned: bool,
    digits: Option<(u8, u8)>,
    context: &StoreContext<'_>,
) -> SqlResult<Value> {
    let mut number = match value {
        Value::Str(_) | Value::Bytes(_) => {
            let (number, complete) = parse_double_prefix(value.as_raw_bytes().unwrap_or(&[]));
            if !complete && number.abs() == f64::MAX {
                context.out_of_range()?;
            } else if !complete {
                context.misfit(context.incorrect(if single { "FLOAT" } else { "DOUBLE" }, value))?;
            }
            number
        }
        other => to_double(other, context.eval)?,
    };
    if unsigned && number < 0.0 {
        // Before it is rounded: what rounds to zero is below it all the same.
        context.out_of_range()?;
        return Ok(Value::Double(0.0));
    }
    let mut limit = if single { f64::from(f32::MAX) } else { f64::MAX };
    if let Some((total, scale)) = digits {
        let unit = 10f64.powi(i32::from(scale));
        number = rounded_to_scale(number, scale);
        limit = limit.min(10f64.powi(i32::from(total) - i32::from(scale)) - 1.0 / unit);
    }
    let low = if unsigned { 0.0 } else { -limit };
    if !(low..=limit).contains(&number) {
        context.out_of_range()?;
        number = if number.is_nan() { 0.0 } else { number.clamp(low, limit) };
    }
    Ok(Value::Double(if single { f64::from(number as f32) } else { number }))
}

fn store_text(
    value: &Value,
    limit: u64,
    limit_in_bytes: bool,
    strip_spaces: bool,
    collation: Collation,
    context: &StoreContext<'_>,
) -> SqlResult<Value> {
    let mut text: Arc<str> = match value {
        // Bytes are taken as the column's own.
        Value::Bytes(bytes) if !collation.set().is_utf8() => match collation.set().decode(bytes) {
            Some(text) => text.into(),
            None => {
                let (text, place) = collation.set().decode_prefix(bytes);
                let bad = shown_misfit(&bytes[place..]);
                context.misfit(SqlError::incorrect_value_for_field(
                    "string",
                    bad,
                    context.column,
                    context.row,
                ))?;
                text.into()
            }
        },
        Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => text.into(),
            Err(error) => {
                let bad = shown_misfit(&bytes[error.valid_up_to()..]);
                context.misfit(SqlError::incorrect_value_for_field(
                    "string",
                    bad,
                    context.column,
                    context.row,
                ))?;
                String::from_utf8_lossy(&bytes[..error.valid_up_to()]).into()
            }
        },
        other => text_of(other, limit, limit_in_bytes, context)?,
    };
    if let Some(place) = collation.set().first_missing(&text) {
        let bad = shown_misfit(&text.as_bytes()[place..]);
        context.misfit(SqlError::incorrect_value_for_field("string", bad, context.column, context.row))?;
        text = collation.set().fit(&text).into();
    }
    let kept = if limit_in_bytes {
        text.char_indices()
            .map(|(at, c)| at + c.len_utf8())
            .take_while(|end| *end as u64 <= limit)
            .last()
            .unwrap_or(0)
    } else if text.len() as u64 <= limit {
        text.len()
    } else {
        text.char_indices().nth(limit as usize).map_or(text.len(), |(at, _)| at)
    };
    let mut result = text;
    if kept < result.len() {
        if result[kept..].bytes().all(|byte| byte == b' ') {
            if !strip_spaces {
                context.note_truncated();
            }
        } else {
            context.too_long()?;
        }
        result = result[..kept].into();
    }
    if strip_spaces && result.ends_with(' ') {
        result = result.trim_end_matches(' ').into();
    }
    Ok(Value::Str(result))
}

/// The text of a value that is none; TEXT keeps a double whole.
fn text_of(value: &Value, limit: u64, whole: bool, context: &StoreContext<'_>) -> SqlResult<Arc<str>> {
    match value {
        Value::Double(number) if !whole => doubled(*number, limit, context),
        other => Ok(to_text(other)),
    }
}

/// A double as a column of so many characters keeps it.
fn doubled(number: f64, limit: u64, context: &StoreContext<'_>) -> SqlResult<Arc<str>> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let (text, tells) = fitted_double(number, limit);
    // A longer text is cut, and warned of, where all texts are.
    if !tells && text.len() <= limit {
        context.too_long()?;
    }
    Ok(text.into())
}

/// The first bytes of what does not fit, as error 1366 shows them.
pub fn shown_misfit(bytes: &[u8]) -> String {
    let one = |byte: &u8| match byte {
        0x20..0x7F => char::from(*byte).to_string(),
        _ => format!("\\x{byte:02X}"),
    };
    let mut shown: String = bytes.iter().take(6).map(one).collect();
    if bytes.len() > 6 {
        shown.push_str("...");
    }
    shown
}

fn store_bytes(value: &Value, limit: u64, context: &StoreContext<'_>) -> SqlResult<Vec<u8>> {
    let mut bytes = match value {
        Value::Double(number) => doubled(*number, limit, context)?.as_bytes().to_vec(),
        other => to_bytes(other).into_owned(),
    };
    if bytes.len() as u64 > limit {
        context.too_long()?;
        bytes.truncate(limit as usize);
    }
    Ok(bytes)
}

fn store_enum(value: &Value, kind: &ColumnType, context: &StoreContext<'_>) -> SqlResult<Value> {
    let (ColumnType::Enum { names, collation } | ColumnType::Set { names, collation }) = kind else {
        return Ok(Value::Null);
    };
    // What another column of the same members holds is copied, even if it is none of them.
    if let Value::Enum(chosen) = value
        && chosen.names == *names
    {
        return Ok(value.clone());
    }
    let find = |text: &[u8]| {
        let wanted = trim_spaces(text);
        names.names.iter().position(|name| collation.compare(name.as_bytes(), wanted).is_eq())
    };
    let count = names.names.len() as u64;
    let limit = if names.multiple { if count >= 64 { u64::MAX } else { (1 << count) - 1 } } else { count };
    let by_number = |number: i128| u64::try_from(number).ok().filter(|number| *number <= limit);
    let number_in = |text: &[u8]| {
        let (number, complete) = super::parse_integer_prefix(text);
        // Behind the number of a SET not even a space may follow.
        let complete = complete && !(names.multiple && text.last().is_some_and(u8::is_ascii_whitespace));
        by_number(number).filter(|_| complete && !text.is_empty())
    };
    let chosen = |number: i128| match by_number(number) {
        Some(bits) if bits > 0 || names.multiple => (bits, true),
        // A SET keeps the bits that it has.
        _ if names.multiple => (number as u64 & limit, false),
        _ => (0, false),
    };
    // What is chosen, and whether that was all that was said.
    let (bits, whole) = match value {
        // Dates and times are looked for as they are written, and are no numbers of members.
        Value::Str(_)
        | Value::Bytes(_)
        | Value::Enum(_)
        | Value::Json(_)
        | Value::Date(_)
        | Value::DateTime(_)
        | Value::Time(_) => {
            let text = to_bytes(value);
            let found = if names.multiple {
                let said = trim_spaces(&text);
                let members = said.split(|byte| *byte == b',').filter(|_| !text.is_empty());
                members.fold((0, true), |(bits, whole), member| match find(member) {
                    Some(position) => (bits | 1u64 << position, whole),
                    None => (bits, false),
                })
            } else {
                find(&text).map_or((0, false), |position| (position as u64 + 1, true))
            };
            if found == (0, false) { number_in(&text).map_or(found, |bits| (bits, true)) } else { found }
        }
        Value::Double(_) | Value::Decimal(_) => {
            // Fractions are cut off here.
            let number = match value {
                Value::Decimal(number) => {
                    let beyond = if is_below_zero(value) { i128::MIN } else { i128::MAX };
                    number.truncate_places(0).to_scaled_i128().unwrap_or(beyond)
                }
                other => to_double(other, context.eval)?.trunc() as i128,
            };
            // These become whole numbers of 64 bits first.
            chosen(number.clamp(i64::MIN.into(), i64::MAX.into()))
        }
        number => {
            let number = whole_number(number, context)?;
            chosen(number)
        }
    };
    if !whole {
        context.misfit(SqlError::data_truncated(context.column, context.row))?;
    }
    Ok(Value::Enum(EnumValue { names: Arc::clone(names), bits }))
}
