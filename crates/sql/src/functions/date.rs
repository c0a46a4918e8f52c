//! Date and time functions.

use super::result_bytes::build_text;
use super::{Entry, VOLATILE, bigint, date, entry, text_short};
use crate::ast::IntervalUnit;
use crate::collation::Collation;
use crate::datetime::{
    self, Date, DateTime, SECOND_US, Time, add_interval, day_of_week, day_of_year, week_number,
};
use crate::decimal::Decimal;
use crate::error::{SqlError, SqlResult};
use crate::expr::{Call, EvalContext, Expr, SqlMode, Typed};
use crate::types::ColumnType;
use crate::value::{Value, to_bytes, to_date_time, to_decimal, to_i64, to_text, to_time};

pub(super) static FUNCTIONS: &[Entry] = &[
    entry("now", (0, 1), now, moment_with_digits, 0),
    entry("sysdate", (0, 1), sysdate, moment_with_digits, VOLATILE),
    entry("curdate", (0, 0), curdate, date, 0),
    entry("curtime", (0, 1), curtime, time_with_digits, 0),
    entry("utc_timestamp", (0, 1), utc_timestamp, moment_with_digits, 0),
    entry("utc_date", (0, 0), utc_date, date, 0),
    entry("utc_time", (0, 1), utc_time, time_with_digits, 0),
    entry("unix_timestamp", (0, 1), unix_timestamp, unix_type, 0),
    entry("from_unixtime", (1, 2), from_unixtime, from_unixtime_type, 0),
    entry("date", (1, 1), date_of, date, 0),
    entry("time", (1, 1), time_of, time_like_first, 0),
    entry("timestamp", (1, 2), timestamp, moment_like_first, 0),
    entry("year", (1, 1), year, bigint, 0),
    entry("quarter", (1, 1), quarter, bigint, 0),
    entry("month", (1, 1), month, bigint, 0),
    entry("day", (1, 1), day, bigint, 0),
    entry("dayofmonth", (1, 1), day, bigint, 0),
    entry("hour", (1, 1), hour, bigint, 0),
    entry("minute", (1, 1), minute, bigint, 0),
    entry("second", (1, 1), second, bigint, 0),
    entry("microsecond", (1, 1), microsecond, bigint, 0),
    entry("dayofweek", (1, 1), dayofweek, bigint, 0),
    entry("weekday", (1, 1), weekday, bigint, 0),
    entry("dayofyear", (1, 1), dayofyear, bigint, 0),
    entry("week", (1, 2), week, bigint, 0),
    entry("weekofyear", (1, 1), weekofyear, bigint, 0),
    entry("yearweek", (1, 2), yearweek, bigint, 0),
    entry("dayname", (1, 1), dayname, text_short, 0),
    entry("monthname", (1, 1), monthname, text_short, 0),
    entry("last_day", (1, 1), last_day, date, 0),
    entry("datediff", (2, 2), datediff, bigint, 0),
    entry("timediff", (2, 2), timediff, time_like_first, 0),
    entry("addtime", (2, 2), addtime, addtime_type, 0),
    entry("subtime", (2, 2), subtime, addtime_type, 0),
    entry("date_format", (2, 2), date_format, text_short, 0),
    entry("time_format", (2, 2), time_format, text_short, 0),
    entry("str_to_date", (2, 2), str_to_date, str_to_date_type, 0),
    entry("makedate", (2, 2), makedate, date, 0),
    entry("maketime", (3, 3), maketime, time_like_last, 0),
    entry("sec_to_time", (1, 1), sec_to_time, time_like_first, 0),
    entry("time_to_sec", (1, 1), time_to_sec, bigint, 0),
    entry("to_days", (1, 1), to_days, bigint, 0),
    entry("to_seconds", (1, 1), to_seconds, bigint, 0),
    entry("from_days", (1, 1), from_days, date, 0),
    entry("convert_tz", (3, 3), convert_tz, moment_like_first, 0),
    entry("period_add", (2, 2), period_add, bigint, 0),
    entry("period_diff", (2, 2), period_diff, bigint, 0),
];

fn literal_digits(arguments: &[Typed], place: usize) -> u8 {
    match arguments.get(place).map(|argument| &argument.expr) {
        Some(Expr::Literal(Value::Int(digits))) => (*digits).clamp(0, 6) as u8,
        _ => 0,
    }
}

fn moment_with_digits(arguments: &[Typed]) -> ColumnType {
    ColumnType::DateTime { fsp: literal_digits(arguments, 0) }
}

fn time_with_digits(arguments: &[Typed]) -> ColumnType {
    ColumnType::Time { fsp: literal_digits(arguments, 0) }
}

fn fraction_of(kind: &ColumnType) -> u8 {
    match kind {
        ColumnType::Time { fsp } | ColumnType::DateTime { fsp } | ColumnType::Timestamp { fsp } => *fsp,
        ColumnType::Decimal { scale, .. } => (*scale).min(6),
        ColumnType::Double { .. } | ColumnType::Float { .. } => 6,
        kind if kind.is_string() => 6,
        _ => 0,
    }
}

fn first_fraction(arguments: &[Typed]) -> u8 {
    arguments.first().map_or(0, |first| match &first.expr {
        Expr::Literal(Value::Str(text)) => {
            text.rsplit_once('.').map_or(0, |(_, fraction)| fraction.len().min(6) as u8)
        }
        _ => fraction_of(&first.kind.column),
    })
}

fn time_like_first(arguments: &[Typed]) -> ColumnType {
    let fsp = (0..arguments.len()).map(|place| first_fraction(&arguments[place..])).max().unwrap_or(0);
    ColumnType::Time { fsp }
}

fn time_like_last(arguments: &[Typed]) -> ColumnType {
    time_like_first(&arguments[2..])
}

fn moment_like_first(arguments: &[Typed]) -> ColumnType {
    let fsp = (0..arguments.len()).map(|place| first_fraction(&arguments[place..])).max().unwrap_or(0);
    ColumnType::DateTime { fsp }
}

fn unix_type(arguments: &[Typed]) -> ColumnType {
    match arguments.first() {
        Some(_) if first_fraction(arguments) > 0 => {
            let scale = first_fraction(arguments);
            ColumnType::Decimal { precision: 11 + scale, scale, unsigned: false }
        }
        _ => super::bigint(arguments),
    }
}

fn from_unixtime_type(arguments: &[Typed]) -> ColumnType {
    if arguments.len() == 2 { text_short(arguments) } else { moment_like_first(arguments) }
}

fn addtime_type(arguments: &[Typed]) -> ColumnType {
    match arguments.first().map(|first| &first.kind.column) {
        Some(ColumnType::DateTime { .. } | ColumnType::Timestamp { .. } | ColumnType::Date) => {
            moment_like_first(arguments)
        }
        Some(ColumnType::Time { .. }) => time_like_first(arguments),
        _ => ColumnType::Char { length: 29, collation: Collation::DEFAULT },
    }
}

fn str_to_date_type(arguments: &[Typed]) -> ColumnType {
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

fn digits_argument(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<u8> {
    let digits = match arguments.first() {
        Some(digits) => to_i64(digits, context)?,
        None => 0,
    };
    if !(0..=6).contains(&digits) {
        return Err(SqlError::too_big_precision(digits, call.name, 6));
    }
    Ok(digits as u8)
}

fn now(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let digits = digits_argument(call, arguments, context)?;
    Ok(Value::DateTime(context.now().truncate_to(digits)))
}

fn sysdate(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let digits = digits_argument(call, arguments, context)?;
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let utc = DateTime::from_unix_us(since.as_micros() as i64, 6).unwrap_or(DateTime::ZERO);
    Ok(Value::DateTime(context.settings.time_zone.from_utc(utc).truncate_to(digits)))
}

fn curdate(_: &Call, _: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    Ok(Value::Date(context.now().date()))
}

fn curtime(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let digits = digits_argument(call, arguments, context)?;
    Ok(Value::Time(context.now().truncate_to(digits).time()))
}

fn utc_timestamp(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let digits = digits_argument(call, arguments, context)?;
    Ok(Value::DateTime(context.settings.statement_start_utc().truncate_to(digits)))
}

fn utc_date(_: &Call, _: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    Ok(Value::Date(context.settings.statement_start_utc().date()))
}

fn utc_time(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let digits = digits_argument(call, arguments, context)?;
    Ok(Value::Time(context.settings.statement_start_utc().truncate_to(digits).time()))
}

fn unix_timestamp(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let Some(argument) = arguments.first() else {
        return Ok(Value::Int(context.settings.statement_start_us / SECOND_US));
    };
    let Some(local) = to_date_time(argument, context)? else { return Ok(Value::Null) };
    if local.date().has_zero_part() {
        return Ok(Value::Int(0));
    }
    let us = context.settings.time_zone.to_utc(local).to_unix_us();
    // 3001-01-18 23:59:59 is the last moment MySQL 8 counts.
    let us = if (0..32_536_771_200 * SECOND_US).contains(&us) { us } else { 0 };
    if local.fsp == 0 {
        return Ok(Value::Int(us / SECOND_US));
    }
    Ok(Value::Decimal(Decimal::from_scaled_i128(i128::from(us), 6).round_to(local.fsp)))
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
        None => Ok(Value::DateTime(local)),
    }
}

/// A moment, or a time (its hours, and whether it is negative), as a pattern says.
fn formatted(
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

/// A moment, where text that spells the zero date is none under NO_ZERO_DATE. What is a date already may be zero.
fn written_moment(value: &Value, context: &EvalContext<'_>) -> SqlResult<Option<DateTime>> {
    if value.is_string() { read_moment(value, context) } else { to_date_time(value, context) }
}

/// The same for a number, too.
pub(super) fn read_moment(value: &Value, context: &EvalContext<'_>) -> SqlResult<Option<DateTime>> {
    let moment = to_date_time(value, context)?;
    let written = !matches!(value, Value::Date(_) | Value::DateTime(_) | Value::Time(_));
    let refused = written && context.settings.sql_mode.has(SqlMode::NO_ZERO_DATE);
    if refused && moment.is_some_and(|moment| moment.date() == Date::ZERO) {
        context.warn(SqlError::incorrect_value("datetime", to_text(value)))?;
        return Ok(None);
    }
    Ok(moment)
}

fn date_of(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    Ok(read_moment(&arguments[0], context)?.map_or(Value::Null, |moment| Value::Date(moment.date())))
}

fn time_of(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    Ok(to_time(&arguments[0], context)?.map_or(Value::Null, Value::Time))
}

fn timestamp(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let Some(moment) = read_moment(&arguments[0], context)? else { return Ok(Value::Null) };
    let Some(added) = arguments.get(1) else { return Ok(Value::DateTime(moment)) };
    let Some(added) = to_time(added, context)? else { return Ok(Value::Null) };
    Ok(add_us(moment, added.us, moment.fsp.max(added.fsp)))
}

fn add_us(moment: DateTime, us: i64, fsp: u8) -> Value {
    if moment.date().has_zero_part() {
        return Value::Null;
    }
    DateTime::from_linear_us(moment.to_linear_us() + us, fsp).map_or(Value::Null, Value::DateTime)
}

/// A number taken from a date; `real` refuses dates with zero parts.
fn part(arguments: &[Value], context: &EvalContext<'_>, real: bool, of: fn(Date) -> u32) -> SqlResult<Value> {
    let moment = written_moment(&arguments[0], context)?;
    Ok(match moment {
        Some(moment) if !(real && moment.date().has_zero_part()) => Value::Int(i64::from(of(moment.date()))),
        _ => Value::Null,
    })
}

macro_rules! date_parts {
    ($($name:ident $real:literal $function:expr;)*) => {
        $(fn $name(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
            part(arguments, context, $real, $function)
        })*
    };
}

date_parts! {
    year false Date::year;
    quarter false |date| date.month().div_ceil(3);
    month false Date::month;
    day false Date::day;
    dayofweek true |date| (day_of_week(date) + 1) % 7 + 1;
    weekday true day_of_week;
    dayofyear true day_of_year;
    weekofyear true |date| week_number(date, 3);
}

macro_rules! time_parts {
    ($($name:ident $place:tt;)*) => {
        $(fn $name(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
            Ok(to_time(&arguments[0], context)?.map_or(Value::Null, |time| Value::Int(i64::from(time.parts().$place))))
        })*
    };
}

time_parts! {
    hour 0;
    minute 1;
    second 2;
    microsecond 3;
}

fn week_argument(arguments: &[Value], default: u8, context: &EvalContext<'_>) -> SqlResult<u32> {
    match arguments.get(1) {
        Some(mode) => Ok(to_i64(mode, context)? as u32 & 7),
        None => Ok(u32::from(default)),
    }
}

fn week(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let mode = week_argument(arguments, context.settings.default_week_format, context)?;
    real_date(&arguments[0], context, |date| Value::Int(i64::from(week_number(date, mode))))
}

fn yearweek(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let mode = week_argument(arguments, 0, context)?;
    real_date(&arguments[0], context, |date| Value::Int(i64::from(datetime::year_week(date, mode))))
}

/// Applies a function to a day of the calendar; zero dates and what is no date give NULL.
fn real_date(value: &Value, context: &EvalContext<'_>, function: impl Fn(Date) -> Value) -> SqlResult<Value> {
    Ok(match to_date_time(value, context)? {
        Some(moment) if !moment.date().has_zero_part() => function(moment.date()),
        _ => Value::Null,
    })
}

fn dayname(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    real_date(&arguments[0], context, |date| Value::text(datetime::day_name(day_of_week(date))))
}

fn monthname(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let moment = to_date_time(&arguments[0], context)?;
    Ok(moment.and_then(|moment| datetime::month_name(moment.date().month())).map_or(Value::Null, Value::text))
}

fn last_day(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let moment = to_date_time(&arguments[0], context)?;
    Ok(match moment.map(DateTime::date) {
        Some(date) if date.month() > 0 => {
            let last = datetime::days_in_month(date.year(), date.month());
            Value::Date(Date::from_parts(date.year(), date.month(), last))
        }
        _ => Value::Null,
    })
}

fn datediff(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let (left, right) = (to_date_time(&arguments[0], context)?, to_date_time(&arguments[1], context)?);
    Ok(match (left, right) {
        (Some(left), Some(right)) if !left.date().has_zero_part() && !right.date().has_zero_part() => {
            Value::Int(left.date().to_days() - right.date().to_days())
        }
        _ => Value::Null,
    })
}

/// A value as a moment if it looks like one, else as a time.
enum MomentOrTime {
    Moment(DateTime),
    Time(Time),
}

fn moment_or_time(value: &Value, context: &EvalContext<'_>) -> SqlResult<Option<MomentOrTime>> {
    let is_moment = match value {
        Value::DateTime(_) | Value::Date(_) => true,
        Value::Str(text) => text.trim_start().get(1..).is_some_and(|rest| rest.contains('-')),
        _ => false,
    };
    Ok(if is_moment {
        to_date_time(value, context)?.map(MomentOrTime::Moment)
    } else {
        to_time(value, context)?.map(MomentOrTime::Time)
    })
}

fn timediff(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let (left, right) = (moment_or_time(&arguments[0], context)?, moment_or_time(&arguments[1], context)?);
    Ok(match (left, right) {
        (Some(MomentOrTime::Moment(left)), Some(MomentOrTime::Moment(right))) => {
            Value::Time(Time::clamped(left.to_linear_us() - right.to_linear_us(), left.fsp.max(right.fsp)))
        }
        (Some(MomentOrTime::Time(left)), Some(MomentOrTime::Time(right))) => {
            Value::Time(Time::clamped(left.us - right.us, left.fsp.max(right.fsp)))
        }
        _ => Value::Null,
    })
}

fn shift_time(arguments: &[Value], context: &EvalContext<'_>, sign: i64) -> SqlResult<Value> {
    null_guard!(arguments);
    let Some(added) = to_time(&arguments[1], context)? else { return Ok(Value::Null) };
    Ok(match moment_or_time(&arguments[0], context)? {
        Some(MomentOrTime::Moment(moment)) => add_us(moment, sign * added.us, moment.fsp.max(added.fsp)),
        Some(MomentOrTime::Time(time)) => {
            Value::Time(Time::clamped(time.us + sign * added.us, time.fsp.max(added.fsp)))
        }
        None => Value::Null,
    })
}

fn addtime(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    shift_time(arguments, context, 1)
}

fn subtime(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    shift_time(arguments, context, -1)
}

fn date_format(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let moment = written_moment(&arguments[0], context)?;
    moment.map_or(Ok(Value::Null), |moment| formatted(moment, None, &arguments[1], call, context))
}

fn time_format(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let Some(time) = to_time(&arguments[0], context)? else { return Ok(Value::Null) };
    let (hour, minute, second, us) = time.parts();
    let moment = DateTime::from_parts(Date::ZERO, hour % 24, minute, second, us, 6);
    formatted(moment, Some((hour, time.us < 0)), &arguments[1], call, context)
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
        context.warn(SqlError::truncated_wrong_value("datetime", &text))?;
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

fn maketime(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let (hour, minute) = (to_i64(&arguments[0], context)?, to_i64(&arguments[1], context)?);
    let seconds = to_decimal(&arguments[2], context)?;
    let us = seconds.round_to(6).to_scaled_i128().unwrap_or(-1) as i64;
    if !(0..60).contains(&minute) || !(0..60 * SECOND_US).contains(&us) {
        return Ok(Value::Null);
    }
    let magnitude = (hour.saturating_abs().min(10_000) * 3600 + minute * 60) * SECOND_US + us;
    let us = if hour < 0 { -magnitude } else { magnitude };
    Ok(Value::Time(Time::clamped(us, seconds.scale().min(6))))
}

fn sec_to_time(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let seconds = to_decimal(&arguments[0], context)?;
    let fsp = seconds.scale().min(6);
    let us = seconds.round_to(6).to_scaled_i128().unwrap_or(i128::MAX);
    let us = us.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64;
    Ok(Value::Time(Time::clamped(us, fsp)))
}

fn time_to_sec(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    Ok(to_time(&arguments[0], context)?.map_or(Value::Null, |time| Value::Int(time.us / SECOND_US)))
}

fn to_days(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    real_date(&arguments[0], context, |date| Value::Int(date.to_days()))
}

fn to_seconds(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let moment = to_date_time(&arguments[0], context)?;
    Ok(match moment {
        Some(moment) if !moment.date().has_zero_part() => Value::Int(moment.to_linear_us() / SECOND_US),
        _ => Value::Null,
    })
}

fn from_days(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let days = to_i64(&arguments[0], context)?;
    Ok(Value::Date(if days < 366 { Date::ZERO } else { Date::from_days(days).unwrap_or(Date::ZERO) }))
}

/// CONVERT_TZ: NULL for zones not known; a moment before 1970 or after 3001-01-18 stays as it is.
fn convert_tz(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let zone = |value: &Value| datetime::TimeZone::parse(&to_text(value)).ok();
    let (Some(from), Some(to)) = (zone(&arguments[1]), zone(&arguments[2])) else { return Ok(Value::Null) };
    let Some(moment) = to_date_time(&arguments[0], context)? else { return Ok(Value::Null) };
    if moment.date().has_zero_part() {
        return Ok(Value::Null);
    }
    let utc = from.to_utc(moment);
    let held = 1..32_536_771_200;
    let seconds = utc.to_unix_us().div_euclid(SECOND_US);
    Ok(Value::DateTime(if held.contains(&seconds) { to.from_utc(utc) } else { moment }))
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
    let months = months_of_period(period, call.name)?.saturating_add(added);
    Ok(Value::Int(months.div_euclid(12).saturating_mul(100).saturating_add(months.rem_euclid(12) + 1)))
}

fn period_diff(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let (left, right) = (to_i64(&arguments[0], context)?, to_i64(&arguments[1], context)?);
    Ok(Value::Int(months_of_period(left, call.name)? - months_of_period(right, call.name)?))
}

/// Result type of `date + INTERVAL n unit`.
pub(crate) fn date_arithmetic_type(kind: &ColumnType, unit: IntervalUnit) -> ColumnType {
    let microseconds = matches!(
        unit,
        IntervalUnit::Microsecond
            | IntervalUnit::SecondMicrosecond
            | IntervalUnit::MinuteMicrosecond
            | IntervalUnit::HourMicrosecond
            | IntervalUnit::DayMicrosecond
    );
    match kind {
        ColumnType::Date if datetime::is_date_unit(unit) => ColumnType::Date,
        ColumnType::Date => ColumnType::DateTime { fsp: if microseconds { 6 } else { 0 } },
        ColumnType::DateTime { fsp } | ColumnType::Timestamp { fsp } => {
            ColumnType::DateTime { fsp: if microseconds { 6 } else { *fsp } }
        }
        ColumnType::Time { fsp } if !datetime::is_date_unit(unit) => {
            ColumnType::Time { fsp: if microseconds { 6 } else { *fsp } }
        }
        ColumnType::Time { fsp } => ColumnType::DateTime { fsp: *fsp },
        _ => ColumnType::varchar(29),
    }
}

/// `date +- INTERVAL amount unit`. A text date gives a text, as long as it needs to be.
pub(crate) fn date_arithmetic(
    date: &Value,
    amount: &Value,
    unit: IntervalUnit,
    subtract: bool,
    context: &EvalContext<'_>,
) -> SqlResult<Value> {
    if date.is_null() {
        return Ok(Value::Null);
    }
    let Some(mut interval) = datetime::interval_from_value(amount, unit, context)? else {
        return Ok(Value::Null);
    };
    if subtract {
        interval = interval.negated();
    }
    let has_fraction = interval.us % SECOND_US != 0;
    if let Value::Time(time) = date
        && !datetime::is_date_unit(unit)
    {
        let fsp = if has_fraction { 6 } else { time.fsp };
        return Ok(Value::Time(Time::clamped(time.us.saturating_add(interval.us), fsp)));
    }
    let Some(moment) = to_date_time(date, context)? else { return Ok(Value::Null) };
    // From a day that is none nothing is counted.
    if !datetime::DateRules::LENIENT.allow(moment.date()) || moment.date() == Date::ZERO {
        if date.is_string() {
            context.warn(SqlError::incorrect_value("datetime", to_text(date)))?;
        }
        return Ok(Value::Null);
    }
    let Some(mut result) = add_interval(moment, interval) else {
        context.warn(SqlError::datetime_overflow("datetime"))?;
        return Ok(Value::Null);
    };
    if has_fraction {
        result.fsp = 6;
    }
    let only_date = datetime::is_date_unit(unit);
    Ok(match date {
        Value::Date(_) if only_date => Value::Date(result.date()),
        Value::Date(_) | Value::DateTime(_) | Value::Time(_) => Value::DateTime(result),
        other => {
            let text = to_bytes(other);
            let parsed = datetime::parse_date_time(&text, context.date_rules());
            let had_time = parsed.is_some_and(|parsed| parsed.has_time);
            let had_time = had_time || !other.is_string() && to_i64(other, context)? > 99_991_231;
            if only_date && !had_time {
                Value::from(result.date().to_string())
            } else {
                Value::from(result.to_string())
            }
        }
    })
}

/// EXTRACT(unit FROM value).
pub(crate) fn extract_part(value: &Value, unit: IntervalUnit, context: &EvalContext<'_>) -> SqlResult<Value> {
    use IntervalUnit as U;
    let clock_only = matches!(
        unit,
        U::Hour
            | U::Minute
            | U::Second
            | U::Microsecond
            | U::SecondMicrosecond
            | U::MinuteMicrosecond
            | U::MinuteSecond
            | U::HourMicrosecond
            | U::HourSecond
            | U::HourMinute
    );
    if clock_only {
        return Ok(match to_time(value, context)? {
            Some(time) => Value::Int(datetime::extract_clock(unit, time, 0)),
            None => Value::Null,
        });
    }
    let day_with_clock = matches!(unit, U::DayMicrosecond | U::DaySecond | U::DayMinute | U::DayHour);
    if let Value::Time(time) = value
        && day_with_clock
    {
        return Ok(Value::Int(datetime::extract_clock(unit, *time, 0)));
    }
    Ok(match to_date_time(value, context)? {
        Some(moment) if unit == U::Week && moment.date().has_zero_part() => Value::Null,
        Some(moment) => Value::Int(datetime::extract(unit, moment)),
        None => Value::Null,
    })
}
