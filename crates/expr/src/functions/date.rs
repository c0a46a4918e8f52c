//! Functions of dates and moments; those of times of day are in `clock.rs`, INTERVAL and EXTRACT in
//! `interval.rs`.

macro_rules! date_parts {
    ($($name:ident $purpose:ident $function:expr;)*) => {
        $(fn $name(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
            let of: fn(Date) -> u32 = $function;
            let date = read_date(&arguments[0], ReadFor::$purpose, context)?;
            Ok(date.map_or(Value::Null, |date| Value::Int(i64::from(of(date)))))
        })*
    };
}

mod now;
mod result_type;

use turnstile_values::datetime::{self, Date, DateTime, SECOND_US, day_of_week, day_of_year, week_number};
use turnstile_values::decimal::Decimal;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::types::ColumnType;
use turnstile_values::value::{
    ReadFor, Value, read_date, read_moment, to_bytes, to_decimal, to_i64, to_text, to_time,
};

use super::result_bytes::build_text;
use super::written::written;
use super::{Entry, NUMBERS, VOLATILE, bigint, date, entry, text_of};
use crate::expr::{Call, EvalContext, SqlMode};
use now::{curdate, curtime, now, sysdate, utc_date, utc_time, utc_timestamp};
pub(super) use result_type::{clock_fraction, moment_and_time, number_fraction, with_digits_of};
use result_type::{
    from_unixtime_type, moment_like_first, moment_with_digits, str_to_date_type, time_with_digits, unix_type,
    year_type,
};

pub(super) static FUNCTIONS: &[Entry] = &[
    entry("now", (0, 1), now, moment_with_digits, 0),
    entry("sysdate", (0, 1), sysdate, moment_with_digits, VOLATILE),
    entry("curdate", (0, 0), curdate, date, 0),
    entry("curtime", (0, 1), curtime, time_with_digits, 0),
    entry("utc_timestamp", (0, 1), utc_timestamp, moment_with_digits, 0),
    entry("utc_date", (0, 0), utc_date, date, 0),
    entry("utc_time", (0, 1), utc_time, time_with_digits, 0),
    entry("unix_timestamp", (0, 1), unix_timestamp, unix_type, 0),
    entry("from_unixtime", (1, 2), from_unixtime, from_unixtime_type, NUMBERS),
    entry("date", (1, 1), date_of, date, 0),
    entry("timestamp", (1, 2), timestamp, moment_and_time, 0),
    entry("year", (1, 1), year, year_type, 0),
    entry("quarter", (1, 1), quarter, bigint, 0),
    entry("month", (1, 1), month, bigint, 0),
    entry("day", (1, 1), day, bigint, 0),
    entry("dayofmonth", (1, 1), day, bigint, 0),
    entry("dayofweek", (1, 1), dayofweek, bigint, 0),
    entry("weekday", (1, 1), weekday, bigint, 0),
    entry("dayofyear", (1, 1), dayofyear, bigint, 0),
    entry("week", (1, 2), week, bigint, 0),
    entry("weekofyear", (1, 1), weekofyear, bigint, 0),
    entry("yearweek", (1, 2), yearweek, bigint, 0),
    entry("dayname", (1, 1), dayname, text_of::<9>, 0),
    entry("monthname", (1, 1), monthname, text_of::<9>, 0),
    entry("last_day", (1, 1), last_day, date, 0),
    entry("datediff", (2, 2), datediff, bigint, 0),
    entry("date_format", (2, 2), date_format, super::width::formatted_moment, 0),
    entry("str_to_date", (2, 2), str_to_date, str_to_date_type, 0),
    entry("makedate", (2, 2), makedate, date, NUMBERS),
    entry("to_days", (1, 1), to_days, bigint, 0),
    entry("to_seconds", (1, 1), to_seconds, bigint, 0),
    entry("from_days", (1, 1), from_days, date, NUMBERS),
    entry("convert_tz", (3, 3), convert_tz, moment_like_first, 0),
    entry("period_add", (2, 2), period_add, bigint, NUMBERS),
    entry("period_diff", (2, 2), period_diff, bigint, NUMBERS),
];

/// NULL, and warning 6527 about a result that its type cannot hold.
pub(super) fn out_of_range(
    call: &Call,
    kind: &str,
    arguments: &[Value],
    context: &EvalContext<'_>,
) -> SqlResult<Value> {
    let mut expression = match super::text_of_call(call, context) {
        Some(text) => return told_out_of_range(kind, text, context),
        None => format!("{}(", call.name),
    };
    for (nth, (expr, value)) in call.arguments.iter().zip(arguments).enumerate() {
        expression.push_str(if nth == 0 { "" } else { "," });
        expression.push_str(&written(expr, value));
    }
    expression.push(')');
    told_out_of_range(kind, expression, context)
}

fn told_out_of_range(kind: &str, expression: String, context: &EvalContext<'_>) -> SqlResult<Value> {
    context.warn(SqlError::temporal_out_of_range(kind, expression))?;
    Ok(Value::Null)
}

fn unix_timestamp(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let Some(argument) = arguments.first() else {
        return Ok(Value::Int(context.settings.statement_start_us / SECOND_US));
    };
    if argument.is_null() {
        return Ok(Value::Null);
    }
    // What is no moment counts as the beginning.
    let local = read_moment(argument, ReadFor::Parts, context)?.filter(|local| !local.date().has_zero_part());
    let us = local.map_or(0, |local| context.settings.time_zone.to_utc(local).to_unix_us());
    // 3001-01-18 23:59:59 is the last moment MySQL 8 counts.
    let us = if (0..32_536_771_200 * SECOND_US).contains(&us) { us } else { 0 };
    let ColumnType::Decimal { scale, .. } = call.kind else { return Ok(Value::Int(us / SECOND_US)) };
    Ok(Value::Decimal(Decimal::from_scaled_i128(i128::from(us), 6).round_to(scale)))
}

fn from_unixtime(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let seconds = to_decimal(&arguments[0], context)?;
    let fsp = seconds.scale().min(6);
    let us = seconds.round_to(6).to_scaled_i128().and_then(|us| i64::try_from(us).ok());
    let Some(us) = us.filter(|us| (0..32_536_771_200 * SECOND_US).contains(us)) else {
        return Ok(Value::Null);
    };
    let Some(utc) = DateTime::from_unix_us(us, fsp) else { return Ok(Value::Null) };
    let local = context.settings.time_zone.from_utc(utc);
    match arguments.get(1) {
        Some(pattern) => formatted(local, None, pattern, call, context),
        None => Ok(with_digits_of(call, Value::DateTime(local))),
    }
}

/// A moment, or a time (its hours, and whether it is negative), as a pattern says.
pub(super) fn formatted(
    moment: DateTime,
    time: Option<(u32, bool)>,
    pattern: &Value,
    call: &Call,
    context: &EvalContext<'_>,
) -> SqlResult<Value> {
    if to_bytes(pattern).is_empty() {
        return Ok(Value::Null);
    }
    let mut is_null = false;
    let text = build_text(call.name, context, |out| {
        out.push(if time.is_some_and(|(_, negative)| negative) { b"-" } else { b"" })?;
        let hours = time.map(|(hours, _)| hours);
        is_null = datetime::format_by_pattern(moment, hours, &to_text(pattern), out).is_none();
        out.refused()
    })?;
    Ok(if is_null { Value::Null } else { text })
}

fn date_of(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    Ok(read_date(&arguments[0], ReadFor::Keeping, context)?.map_or(Value::Null, Value::Date))
}

fn timestamp(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let Some(moment) = read_moment(&arguments[0], ReadFor::Keeping, context)? else { return Ok(Value::Null) };
    let Some(added) = arguments.get(1) else { return Ok(with_digits_of(call, Value::DateTime(moment))) };
    let Some(added) = to_time(added, context)? else { return Ok(Value::Null) };
    if moment.date().has_zero_part() {
        return Ok(Value::Null);
    }
    match DateTime::from_linear_us(moment.to_linear_us() + added.us, 0) {
        Some(sum) => Ok(with_digits_of(call, Value::DateTime(sum))),
        None => out_of_range(call, "DATETIME", arguments, context),
    }
}

date_parts! {
    year Parts Date::year;
    quarter Parts |date| date.month().div_ceil(3);
    month Parts Date::month;
    day Parts Date::day;
    dayofweek Calendar |date| (day_of_week(date) + 1) % 7 + 1;
    weekday Calendar day_of_week;
    dayofyear Calendar day_of_year;
    weekofyear Calendar |date| week_number(date, 3);
}

/// How a week is numbered.
enum Weeks {
    Mode(u32),
    /// The mode is NULL: there is no number.
    Unknown,
    /// The mode is negative: mode 0, of the date's own year.
    OfYear,
}

impl Weeks {
    fn of(arguments: &[Value], default: u8, context: &EvalContext<'_>) -> SqlResult<Weeks> {
        Ok(match arguments.get(1) {
            Some(Value::Null) => Weeks::Unknown,
            // Its lower 32 bits count, with their sign.
            Some(mode) => match to_i64(mode, context)? as i32 {
                ..0 => Weeks::OfYear,
                mode => Weeks::Mode(mode as u32 & 7),
            },
            None => Weeks::Mode(u32::from(default)),
        })
    }
}

fn week(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let weeks = Weeks::of(arguments, context.settings.default_week_format, context)?;
    real_date(&arguments[0], context, |date| {
        Value::Int(match weeks {
            Weeks::Mode(mode) => i64::from(week_number(date, mode)),
            Weeks::OfYear => i64::from(week_number(date, 0)),
            Weeks::Unknown => 0,
        })
    })
}

fn yearweek(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let weeks = Weeks::of(arguments, 0, context)?;
    real_date(&arguments[0], context, |date| {
        Value::Int(match weeks {
            Weeks::Mode(mode) => i64::from(datetime::year_week(date, mode)),
            Weeks::OfYear => i64::from(date.year()) * 100 + i64::from(week_number(date, 0)),
            Weeks::Unknown => 0,
        })
    })
}

/// Applies a function to a day of the calendar; what is none gives NULL.
fn real_date(value: &Value, context: &EvalContext<'_>, function: impl Fn(Date) -> Value) -> SqlResult<Value> {
    Ok(read_date(value, ReadFor::Calendar, context)?.map_or(Value::Null, function))
}

fn dayname(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    real_date(&arguments[0], context, |date| Value::text(datetime::day_name(day_of_week(date))))
}

fn monthname(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let date = read_date(&arguments[0], ReadFor::Parts, context)?;
    Ok(date.and_then(|date| datetime::month_name(date.month())).map_or(Value::Null, Value::text))
}

fn last_day(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let Some(date) = read_date(&arguments[0], ReadFor::Parts, context)? else { return Ok(Value::Null) };
    if date.month() == 0 {
        context.warn(SqlError::truncated_wrong_value("date", date))?;
        return Ok(Value::Null);
    }
    let last = datetime::days_in_month(date.year(), date.month());
    Ok(Value::Date(Date::from_parts(date.year(), date.month(), last)))
}

fn datediff(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let Some(left) = read_date(&arguments[0], ReadFor::Days, context)? else { return Ok(Value::Null) };
    let Some(right) = read_date(&arguments[1], ReadFor::Days, context)? else { return Ok(Value::Null) };
    Ok(Value::Int(left.to_days() - right.to_days()))
}

fn date_format(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let moment = read_moment(&arguments[0], ReadFor::Parts, context)?;
    let moment = moment.filter(|_| !arguments[1].is_null());
    moment.map_or(Ok(Value::Null), |moment| formatted(moment, None, &arguments[1], call, context))
}

fn str_to_date(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let (text, pattern) = (to_text(&arguments[0]), to_text(&arguments[1]));
    let parsed = datetime::parse_by_pattern(&text, &pattern)
        .and_then(|(parts, rest)| Some((parts.moment()?, parts, rest)));
    let mode = context.settings.sql_mode;
    let rules = datetime::DateRules {
        zero_in_date: !mode.has(SqlMode::NO_ZERO_IN_DATE),
        zero_date: !mode.has(SqlMode::NO_ZERO_DATE),
        invalid: mode.has(SqlMode::ALLOW_INVALID_DATES),
    };
    let Some((moment, parts, rest)) =
        parsed.filter(|(moment, parts, _)| !parts.has_date || rules.allow(moment.date()))
    else {
        context.warn(SqlError::wrong_value_for_type("datetime", text, call.name))?;
        return Ok(Value::Null);
    };
    if rest {
        let kind = match (parts.has_date, parts.has_time) {
            (true, false) => "date",
            (false, true) => "time",
            _ => "datetime",
        };
        context.warn(SqlError::truncated_wrong_value(kind, &text))?;
    }
    Ok(match (parts.has_date, parts.has_time) {
        (true, false) => Value::Date(moment.date()),
        (false, true) => Value::Time(moment.time()),
        _ => Value::DateTime(moment),
    })
}

fn makedate(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let (year, day) = (to_i64(&arguments[0], context)?, to_i64(&arguments[1], context)?);
    let year = match year {
        0..=69 => year + 2000,
        70..=99 => year + 1900,
        _ => year,
    };
    if day < 1 || !(0..=9999).contains(&year) {
        return Ok(Value::Null);
    }
    let first = Date::from_parts(year as u32, 1, 1).to_days();
    Ok(first.checked_add(day - 1).and_then(Date::from_days).map_or(Value::Null, Value::Date))
}

fn to_days(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let date = read_date(&arguments[0], ReadFor::Days, context)?;
    Ok(date.map_or(Value::Null, |date| Value::Int(date.to_days())))
}

fn to_seconds(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let moment = read_moment(&arguments[0], ReadFor::Calendar, context)?;
    Ok(moment.map_or(Value::Null, |moment| Value::Int(moment.to_linear_us() / SECOND_US)))
}

fn from_days(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let days = match &arguments[0] {
        Value::UInt(days) => i64::try_from(*days).unwrap_or(i64::MAX),
        other => to_i64(other, context)?,
    };
    Date::from_days(days)
        .map_or_else(|| out_of_range(call, "DATE", arguments, context), |date| Ok(Value::Date(date)))
}

/// CONVERT_TZ: NULL for zones not known; a moment before 1970 or after 3001-01-18 stays as it is.
fn convert_tz(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let zone = |value: &Value| datetime::TimeZone::parse(&to_text(value)).ok();
    let (Some(from), Some(to)) = (zone(&arguments[1]), zone(&arguments[2])) else { return Ok(Value::Null) };
    let Some(moment) = read_moment(&arguments[0], ReadFor::Calendar, context)? else {
        return Ok(Value::Null);
    };
    let utc = from.to_utc(moment);
    let held = 1..32_536_771_200;
    let seconds = utc.to_unix_us().div_euclid(SECOND_US);
    let local = if held.contains(&seconds) { to.from_utc(utc) } else { moment };
    Ok(with_digits_of(call, Value::DateTime(local)))
}

/// Months of a period YYMM or YYYYMM; 1210 for what is none.
fn months_of_period(period: i64, function: &str) -> SqlResult<i64> {
    let (year, month) = (period / 100, period % 100);
    if period <= 0 || !(1..=12).contains(&month) {
        return Err(SqlError::wrong_arguments(function));
    }
    let year = match year {
        0..=69 => year + 2000,
        70..=99 => year + 1900,
        _ => year,
    };
    Ok(year * 12 + month - 1)
}

fn period_add(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let (period, added) = (to_i64(&arguments[0], context)?, to_i64(&arguments[1], context)?);
    // Beyond 64 bits it begins again, as in MySQL.
    let months = (months_of_period(period, call.name)? as u64).wrapping_add(added as u64);
    Ok(Value::Int((months / 12).wrapping_mul(100).wrapping_add(months % 12 + 1) as i64))
}

fn period_diff(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let (left, right) = (to_i64(&arguments[0], context)?, to_i64(&arguments[1], context)?);
    Ok(Value::Int(months_of_period(left, call.name)? - months_of_period(right, call.name)?))
}
