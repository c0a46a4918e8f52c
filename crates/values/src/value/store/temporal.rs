//! Dates, moments and times on their way into columns.

use super::{StoreContext, shown_value, whole_seconds};
use crate::context::WarningLevel;
use crate::datetime::{self, DateRules, DateTime, Time};
use crate::error::{SqlError, SqlResult};
use crate::value::convert::apply_offset;
use crate::value::{Value, tell_delimiter, to_bytes, to_date_time, to_decimal, to_double, to_time};

/// Parses a moment under the rules of `sql_mode`; a misfit gives the zero date.
fn parse_moment(
    value: &Value,
    kind: &str,
    rules: DateRules,
    context: &StoreContext<'_>,
) -> SqlResult<DateTime> {
    let moment = match value {
        Value::DateTime(moment) => Some(*moment),
        Value::Date(date) => Some(date.at_midnight()),
        Value::Time(_) => to_date_time(value, context.eval)?,
        Value::Str(_) | Value::Bytes(_) | Value::Enum(_) | Value::Json(_) => {
            let text = to_bytes(value);
            let parsed = datetime::parse_date_time(&text, rules);
            if let Some(found) = parsed {
                if found.truncated {
                    context.misfit_moment(kind, value, false)?;
                }
                tell_delimiter(&found, &text, context.row, context.eval);
            }
            parsed.map(|found| apply_offset(found.moment, found.offset_seconds, context.eval))
        }
        number => {
            let exact = to_decimal(number, context.eval)?;
            let whole = exact.truncate_places(0).to_i64();
            match whole.and_then(|whole| datetime::parse_number(whole, rules)) {
                Some(found) if exact.scale() > 0 && found.has_time => to_date_time(number, context.eval)?,
                Some(found) => {
                    // A day has no fraction.
                    if exact != exact.truncate_places(0) {
                        context.misfit_moment(kind, value, found.moment == DateTime::ZERO)?;
                    }
                    Some(found.moment)
                }
                None => None,
            }
        }
    };
    match moment.filter(|moment| rules.allow(moment.date())) {
        Some(moment) => Ok(moment),
        None => {
            let beyond = moment.is_some() || says_no_day(value, context)? || is_beyond(value, context)?;
            context.misfit_moment(kind, value, beyond)?;
            Ok(DateTime::ZERO)
        }
    }
}

/// Zero, and numbers below: there is no such day, whatever the mode.
fn says_no_day(value: &Value, context: &StoreContext<'_>) -> SqlResult<bool> {
    Ok(match value {
        Value::Str(_) | Value::Bytes(_) | Value::Enum(_) | Value::Json(_) => {
            let text = to_bytes(value);
            !text.is_empty() && text.len() < 5 && text.iter().all(|digit| *digit == b'0')
        }
        Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Double(_) => {
            let number = to_decimal(value, context.eval)?;
            number.is_negative() || number.truncate_places(0).is_zero()
        }
        _ => false,
    })
}

/// A text whose parts are those of a moment, on a day that is none, as the 30th of February; a number with
/// more digits than any moment.
fn is_beyond(value: &Value, context: &StoreContext<'_>) -> SqlResult<bool> {
    if value.is_string() {
        let rules = DateRules { invalid: true, ..DateRules::LENIENT };
        return Ok(datetime::parse_date_time(&to_bytes(value), rules).is_some());
    }
    Ok(!value.is_temporal() && to_double(value, context.eval)? > MOMENT_MAX)
}

/// The largest number that may be a moment.
const MOMENT_MAX: f64 = 99_999_999_999_999.0;

pub(super) fn store_date(value: &Value, context: &StoreContext<'_>) -> SqlResult<Value> {
    let written = parse_moment(value, "date", context.date_rules(), context)?;
    let moment = context.eval.moment_to(written, 0).unwrap_or(written);
    if moment.time_of_day_us() != 0 {
        note_lost_part("date", value, context);
    }
    Ok(Value::Date(moment.date()))
}

/// Tells that a day does not keep the time, or a time the day: strict mode names the moment, without its
/// fraction.
fn note_lost_part(kind: &str, value: &Value, context: &StoreContext<'_>) {
    if !context.strict {
        return context.note_truncated();
    }
    let said = match value {
        Value::Time(time) => Some(Value::Time(time.truncate_to(0))),
        Value::DateTime(_) => whole_seconds(value, context),
        _ => None,
    };
    let said = shown_value(said.as_ref().unwrap_or(value));
    let error = SqlError::incorrect_value_for_column(kind, said, context.column, context.row);
    context.eval.warnings.push(WarningLevel::Note, error);
}

pub(super) fn store_moment(
    value: &Value,
    fsp: u8,
    timestamp: bool,
    context: &StoreContext<'_>,
) -> SqlResult<Value> {
    let exact = if timestamp { written_in_utc(value, context) } else { None };
    let moment = match exact {
        Some(utc) => utc,
        None => {
            let mut rules = context.date_rules();
            // What counts seconds has a place for whole dates only.
            rules.zero_in_date &= !timestamp;
            parse_moment(value, "datetime", rules, context)?
        }
    };
    let Some(mut rounded) = context.eval.moment_to(moment, fsp) else {
        context.misfit_moment("datetime", value, true)?;
        return Ok(Value::DateTime(DateTime::ZERO));
    };
    if timestamp && rounded != DateTime::ZERO {
        let zone = context.eval.settings.time_zone;
        if exact.is_none() && zone.skips(rounded) {
            context.misfit(match context.strict {
                true => SqlError::incorrect_value_for_column(
                    "datetime",
                    shown_value(value),
                    context.column,
                    context.row,
                ),
                false => SqlError::invalid_timestamp(context.column, context.row),
            })?;
        }
        if exact.is_none() {
            rounded = zone.to_utc(rounded);
        }
        // 1970-01-01 00:00:01 to 2038-01-19 03:14:07.999999.
        let seconds = rounded.to_unix_us().div_euclid(datetime::SECOND_US);
        if !(1..=i64::from(i32::MAX)).contains(&seconds) {
            context.misfit_moment("datetime", value, true)?;
            return Ok(Value::DateTime(DateTime::ZERO));
        }
    }
    rounded.fsp = fsp;
    Ok(Value::DateTime(rounded))
}

/// The UTC moment of a text that says its offset: exact also where the session's clock shows a reading twice.
fn written_in_utc(value: &Value, context: &StoreContext<'_>) -> Option<DateTime> {
    let (Value::Str(_) | Value::Bytes(_)) = value else { return None };
    let parsed = datetime::parse_date_time(&to_bytes(value), context.date_rules())?;
    Some(datetime::TimeZone::fixed(parsed.offset_seconds?).to_utc(parsed.moment))
}

pub(super) fn store_time(value: &Value, fsp: u8, context: &StoreContext<'_>) -> SqlResult<Value> {
    let time = match value {
        Value::Str(_) | Value::Bytes(_) | Value::Enum(_) => clock_of_text(value, context)?,
        Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Double(_) => {
            clock_of_number(value, context)?
        }
        other => to_time(other, context.eval)?.unwrap_or_default(),
    };
    Ok(Value::Time(context.eval.time_to(time, fsp)))
}

fn clock_of_text(value: &Value, context: &StoreContext<'_>) -> SqlResult<Time> {
    let text = to_bytes(value);
    match datetime::parse_time(&text) {
        Some((time, false)) => {
            if text.first() == Some(&b' ') {
                let shown = shown_value(value);
                context.eval.note(SqlError::superfluous_delimiter(" ", 0, shown, context.row));
            }
            // The day of a moment is not kept.
            if has_day(&text) {
                note_lost_part("time", value, context);
            }
            Ok(time)
        }
        _ if has_exponent(&text) => Ok(Time::default()),
        // What says nothing is midnight.
        None if [&b""[..], b"-", b"."].contains(&text.trim_ascii()) => Ok(Time::default()),
        other => {
            let clamped = other.is_some_and(|(time, _)| time.us.abs() == datetime::TIME_MAX_US);
            let is_clock = other.is_none() && says_clock(&text);
            context.misfit_moment("time", value, clamped || is_clock)?;
            Ok(other.map_or(Time::default(), |(time, _)| time))
        }
    }
}

/// Whether a text that is no time has numbers where a time has them, none of which needs more than 32 bits.
fn says_clock(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let whole = text.split(|byte| *byte == b'.').next().unwrap_or_default();
    let fits = |number: &[u8]| {
        let value = number.iter().try_fold(0u32, |sum, digit| {
            sum.checked_mul(10)?.checked_add(u32::from(digit.wrapping_sub(b'0')))
        });
        value.is_some()
    };
    let mut numbers = whole.split(|byte| !byte.is_ascii_digit());
    text.first().is_some_and(u8::is_ascii_digit) && numbers.all(fits)
}

/// Whether what is read as a time says a day as well.
fn has_day(text: &[u8]) -> bool {
    let day = |text| Some(datetime::parse_date_time(text, DateRules::LENIENT)?.moment.date());
    datetime::is_shaped_as_moment(text) && day(text).is_some_and(|day| day != DateTime::ZERO.date())
}

/// Whether a text is a number with an exponent, which MySQL gives up on without a word.
fn has_exponent(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let exponent = match &text[digits..] {
        [b'e' | b'E', b'+' | b'-', digit, ..] | [b'e' | b'E', digit, ..] => digit.is_ascii_digit(),
        _ => false,
    };
    digits > 0 && exponent
}

/// The least number that is read as a day and a time.
const LEAST_MOMENT: i64 = 10_000_000_000;

/// The largest number that is read as a time: 838:59:59.
const TIME_MAX_NUMBER: i64 = 8_385_959;

fn clock_of_number(value: &Value, context: &StoreContext<'_>) -> SqlResult<Time> {
    let number = to_decimal(value, context.eval)?;
    let whole = number.truncate_places(0).to_i64();
    let moment = whole.filter(|whole| *whole >= LEAST_MOMENT);
    if let Some(found) = moment.and_then(|whole| datetime::parse_number(whole, DateRules::LENIENT)) {
        note_lost_part("time", value, context);
        let fine = if number.scale() > 0 { to_date_time(value, context.eval)? } else { None };
        let moment = fine.unwrap_or(found.moment);
        return Ok(Time::clamped(moment.time_of_day_us(), moment.fsp));
    }
    match datetime::parse_time(&to_bytes(value)) {
        Some((time, false)) => Ok(time),
        _ => {
            context.misfit_moment("time", value, true)?;
            let beyond = whole.is_none_or(|whole| whole.unsigned_abs() > TIME_MAX_NUMBER as u64);
            let most = if number.is_negative() { -datetime::TIME_MAX_US } else { datetime::TIME_MAX_US };
            Ok(if beyond { Time::clamped(most, 0) } else { Time::default() })
        }
    }
}
