//! Conversions between classes of values inside expressions. Strings give their longest numeric prefix and a
//! warning 1292 when something is left over; dates give the number their digits spell. NULL is the caller's
//! business: every function here reads it as zero or the empty string.

use crate::context::EvalContext;
use crate::datetime::{self, DAY_US, DateTime, Time};
use crate::datum::{Value, shown, shown_value, temporal_decimal, to_bytes, to_text};
use crate::decimal::Decimal;
use crate::error::{SqlError, SqlResult};
use crate::number_text::{parse_double_prefix, parse_integer_prefix};

/// A value as arithmetic sees it.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the names are those of the types within")]
pub enum Numeric {
    Int(i64),
    UInt(u64),
    Decimal(Decimal),
    Double(f64),
}

fn warn_truncated(context: &EvalContext<'_>, kind: &str, value: &Value) -> SqlResult<()> {
    context.warn(SqlError::truncated_wrong_value(kind, shown_value(value)))
}

/// As a number of the class arithmetic uses: strings are doubles, dates whole numbers or decimals.
pub fn to_numeric(value: &Value, context: &EvalContext<'_>) -> SqlResult<Numeric> {
    Ok(match value {
        Value::Null => Numeric::Int(0),
        Value::Int(number) => Numeric::Int(*number),
        Value::UInt(number) => Numeric::UInt(*number),
        Value::Double(number) => Numeric::Double(*number),
        Value::Decimal(number) => Numeric::Decimal(number.clone()),
        Value::Str(_) | Value::Bytes(_) => Numeric::Double(to_double(value, context)?),
        Value::Date(date) => Numeric::Int(date.to_number()),
        Value::Time(time) if time.fsp == 0 => Numeric::Int(time.to_number()),
        Value::DateTime(moment) if moment.fsp == 0 => Numeric::Int(moment.to_number()),
        Value::Time(_) | Value::DateTime(_) => Numeric::Decimal(to_decimal(value, context)?),
        Value::Enum(chosen) => Numeric::Double(chosen.bits as f64),
        Value::Json(_) => Numeric::Double(to_double(value, context)?),
    })
}

/// As a double.
pub fn to_double(value: &Value, context: &EvalContext<'_>) -> SqlResult<f64> {
    Ok(match value {
        Value::Null => 0.0,
        Value::Int(number) => *number as f64,
        Value::UInt(number) => *number as f64,
        Value::Double(number) => *number,
        Value::Decimal(number) => number.to_f64(),
        Value::Str(_) | Value::Bytes(_) => {
            let text = value.as_raw_bytes().unwrap_or(&[]);
            let (number, complete) = parse_double_prefix(text);
            if !complete && !text.iter().all(u8::is_ascii_whitespace) {
                warn_truncated(context, "DOUBLE", value)?;
            }
            number
        }
        Value::Date(date) => date.to_number() as f64,
        Value::Time(_) | Value::DateTime(_) => temporal_decimal(value).to_f64(),
        Value::Enum(chosen) => chosen.bits as f64,
        Value::Json(_) => to_double(&Value::Str(to_text(value)), context)?,
    })
}

/// As an exact decimal.
pub fn to_decimal(value: &Value, context: &EvalContext<'_>) -> SqlResult<Decimal> {
    Ok(match value {
        Value::Null => Decimal::ZERO,
        Value::Int(number) => Decimal::from(*number),
        Value::UInt(number) => Decimal::from(*number),
        Value::Double(number) => Decimal::nearest(*number),
        Value::Decimal(number) => number.clone(),
        Value::Str(_) | Value::Bytes(_) => {
            let text = value.as_raw_bytes().unwrap_or(&[]);
            let parsed = Decimal::parse_prefix(text);
            if parsed.beyond && parsed.overflow && parsed.mantissa < parsed.consumed {
                context.warn(SqlError::truncated_wrong_value("DECIMAL", shown(&text[..parsed.mantissa])))?;
            }
            if parsed.beyond
                || parsed.consumed == 0
                || !text[parsed.consumed..].iter().all(u8::is_ascii_whitespace)
            {
                warn_truncated(context, "DECIMAL", value)?;
            }
            parsed.value
        }
        Value::Date(date) => Decimal::from(date.to_number()),
        Value::Time(_) | Value::DateTime(_) => temporal_decimal(value),
        Value::Enum(chosen) => Decimal::from(chosen.bits),
        Value::Json(_) => to_decimal(&Value::Str(to_text(value)), context)?,
    })
}

fn rounded(number: f64) -> f64 {
    number.round_ties_even()
}

/// As a signed integer: numbers round, out of range clamps. Strings give their integer prefix; one between
/// the greatest number with a sign and the greatest without is the negative number of the same bits, as in
/// MySQL, and so is all that is beyond.
pub fn to_i64(value: &Value, context: &EvalContext<'_>) -> SqlResult<i64> {
    Ok(match value {
        Value::Int(number) => *number,
        Value::UInt(number) => *number as i64,
        Value::Double(number) => rounded(*number) as i64,
        Value::Decimal(number) => match number.to_i64() {
            Some(whole) => whole,
            None => {
                warn_truncated(context, "DECIMAL", value)?;
                if number.is_negative() { i64::MIN } else { i64::MAX }
            }
        },
        Value::Str(_) | Value::Bytes(_) => {
            let text = value.as_raw_bytes().unwrap_or(&[]);
            let (number, complete) = parse_integer_prefix(text);
            let clamped = number.clamp(i128::from(i64::MIN), i128::from(u64::MAX));
            if !complete || clamped != number {
                warn_truncated(context, "INTEGER", value)?;
            }
            clamped as i64
        }
        Value::Time(time) => context.time_to(*time, 0).to_number(),
        Value::DateTime(moment) => context.moment_to(*moment, 0).unwrap_or(*moment).to_number(),
        Value::Date(date) => date.to_number(),
        Value::Enum(chosen) => chosen.bits as i64,
        Value::Json(_) => to_i64(&Value::Str(to_text(value)), context)?,
        Value::Null => 0,
    })
}

/// As 64 bits for bit operators: those of the signed integer.
pub fn to_u64_bits(value: &Value, context: &EvalContext<'_>) -> SqlResult<u64> {
    Ok(to_i64(value, context)? as u64)
}

/// As a condition; `None` for NULL.
pub fn to_bool(value: &Value, context: &EvalContext<'_>) -> SqlResult<Option<bool>> {
    Ok(Some(match value {
        Value::Null => return Ok(None),
        Value::Int(number) => *number != 0,
        Value::UInt(number) => *number != 0,
        Value::Decimal(number) => !number.is_zero(),
        other => to_double(other, context)? != 0.0,
    }))
}

/// As a moment; `None` and a warning for what is no date. TIME counts from today.
pub fn to_date_time(value: &Value, context: &EvalContext<'_>) -> SqlResult<Option<DateTime>> {
    let parsed = match value {
        Value::Null => return Ok(None),
        Value::DateTime(moment) => return Ok(Some(*moment)),
        Value::Date(date) => return Ok(Some(date.at_midnight())),
        Value::Time(time) => {
            let today = context.now().date().to_days() * DAY_US;
            return Ok(DateTime::from_linear_us(today + time.us, time.fsp));
        }
        Value::Str(_) | Value::Bytes(_) | Value::Enum(_) | Value::Json(_) => {
            let text = to_bytes(value);
            let parsed = datetime::parse_date_time(&text, context.date_rules());
            if let Some(found) = parsed
                && found.truncated
            {
                warn_truncated(context, "datetime", value)?;
            }
            parsed.map(|found| apply_offset(found.moment, found.offset_seconds, context))
        }
        number => number_to_date_time(number, context)?,
    };
    if parsed.is_none() {
        context.warn(SqlError::incorrect_value("datetime", shown_value(value)))?;
    }
    Ok(parsed)
}

/// A moment written with a UTC offset, in the session's zone.
pub fn apply_offset(moment: DateTime, offset: Option<i32>, context: &EvalContext<'_>) -> DateTime {
    match offset {
        None => moment,
        Some(offset_seconds) => {
            let utc = datetime::TimeZone::fixed(offset_seconds).to_utc(moment);
            context.settings.time_zone.from_utc(utc)
        }
    }
}

fn number_to_date_time(value: &Value, context: &EvalContext<'_>) -> SqlResult<Option<DateTime>> {
    let exact = to_decimal(value, context)?;
    let whole = exact.truncate_places(0).to_i64();
    let Some(parsed) = whole.and_then(|whole| datetime::parse_number(whole, context.date_rules())) else {
        return Ok(None);
    };
    // A day has no fraction.
    if exact.scale() == 0 || !parsed.has_time {
        return Ok(Some(parsed.moment));
    }
    let fraction = exact.sub(&exact.truncate_places(0)).unwrap_or(Decimal::ZERO).round_to(6);
    let us = fraction.to_scaled_i128().unwrap_or(0) as i64;
    let linear = parsed.moment.to_linear_us() + us;
    Ok(DateTime::from_linear_us(linear, exact.scale().min(6)))
}

/// As a TIME; `None` and a warning for what is no time. A datetime gives its time of day.
pub fn to_time(value: &Value, context: &EvalContext<'_>) -> SqlResult<Option<Time>> {
    let parsed = match value {
        Value::Null => return Ok(None),
        Value::Time(time) => return Ok(Some(*time)),
        Value::DateTime(moment) => return Ok(Some(moment.time())),
        Value::Date(_) => return Ok(Some(Time::default())),
        Value::Str(_) | Value::Bytes(_) | Value::Enum(_) | Value::Json(_) => {
            datetime::parse_time(&to_bytes(value))
        }
        number => super::moment::number_as_time(number, context)?.map(|time| (time, false)),
    };
    match parsed {
        Some((time, truncated)) => {
            if truncated {
                warn_truncated(context, "time", value)?;
            }
            if let Some(text) = value.as_raw_bytes()
                && datetime::is_shaped_as_moment(text)
                && let Some(found) = datetime::parse_date_time(text, context.date_rules())
            {
                super::tell_delimiter(&found, text, 1, context);
                if found.offset_seconds.is_some() {
                    return Ok(Some(super::apply_offset(found.moment, found.offset_seconds, context).time()));
                }
            }
            Ok(Some(time))
        }
        None => {
            warn_truncated(context, "time", value)?;
            Ok(None)
        }
    }
}
