//! Values stored into columns of numbers, years and bits.

use super::super::{Value, parse_double_prefix, to_bytes, to_date_time, to_decimal, to_double};
use super::StoreContext;
use crate::decimal::Decimal;
use crate::error::{SqlError, SqlResult};
use crate::types::IntWidth;

/// The value as a whole number wide enough for every integer type, with rounding.
pub(super) fn whole_number(value: &Value, context: &StoreContext<'_>) -> SqlResult<i128> {
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
pub(super) fn whole_seconds(value: &Value, context: &StoreContext<'_>) -> Option<Value> {
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

pub(super) fn store_integer(
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
pub(super) fn is_below_zero(value: &Value) -> bool {
    matches!(value, Value::Decimal(number) if number.is_negative())
}

pub(super) fn store_year(value: &Value, context: &StoreContext<'_>) -> SqlResult<Value> {
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

pub(super) fn store_bits(value: &Value, bits: u8, context: &StoreContext<'_>) -> SqlResult<Value> {
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

pub(super) fn store_decimal(
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

pub(super) fn store_double(
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
