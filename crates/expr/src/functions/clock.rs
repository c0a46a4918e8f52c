//! Functions of times of day and of spans of time.

use super::date::{
    clock_fraction, formatted, moment_and_time, number_fraction, out_of_range, with_digits_of,
};
use super::{Entry, NUMBERS, bigint, entry};
use crate::expr::{Call, EvalContext, Expr, Typed};
use turnstile_values::collation::Collation;
use turnstile_values::datetime::{Date, DateTime, SECOND_US, TIME_MAX_US, Time};
use turnstile_values::decimal::Decimal;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::types::{ColumnType, ExprType};
use turnstile_values::value::{
    MomentOrTime, Value, read_moment_or_time, to_bytes, to_date_time, to_decimal, to_i64, to_text, to_time,
};

pub(super) static FUNCTIONS: &[Entry] = &[
    entry("time", (1, 1), time_of, time_like_first, 0),
    entry("hour", (1, 1), hour, bigint, 0),
    entry("minute", (1, 1), minute, bigint, 0),
    entry("second", (1, 1), second, bigint, 0),
    entry("microsecond", (1, 1), microsecond, bigint, 0),
    entry("timediff", (2, 2), timediff, time_like_first, 0),
    entry("addtime", (2, 2), addtime, addtime_type, 0),
    entry("subtime", (2, 2), subtime, addtime_type, 0),
    entry("time_format", (2, 2), time_format, super::width::formatted_moment, 0),
    entry("maketime", (3, 3), maketime, maketime_type, NUMBERS),
    entry("sec_to_time", (1, 1), sec_to_time, time_of_number, NUMBERS),
    entry("time_to_sec", (1, 1), time_to_sec, bigint, 0),
];

fn time_like_first(arguments: &[Typed]) -> ColumnType {
    ColumnType::Time { fsp: arguments.iter().map(clock_fraction).max().unwrap_or(0) }
}

fn maketime_type(arguments: &[Typed]) -> ColumnType {
    time_of_number(&arguments[2..])
}

fn time_of_number(arguments: &[Typed]) -> ColumnType {
    ColumnType::Time { fsp: number_fraction(arguments) }
}

fn addtime_type(arguments: &[Typed]) -> ColumnType {
    match arguments.first().map(|first| &first.kind.column) {
        Some(ColumnType::DateTime { .. } | ColumnType::Timestamp { .. } | ColumnType::Date) => {
            moment_and_time(arguments)
        }
        Some(ColumnType::Time { .. }) => time_like_first(arguments),
        _ => ColumnType::Char { length: 29, collation: Collation::DEFAULT },
    }
}

fn time_of(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let time = to_time(&arguments[0], context)?;
    Ok(time.map_or(Value::Null, |time| with_digits_of(call, Value::Time(time))))
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

/// A time that may be beyond what TIME holds: the nearest that it does, with warning 1292.
fn clamped(us: i64, call: &Call, context: &EvalContext<'_>) -> SqlResult<Value> {
    let ColumnType::Time { fsp } = call.kind else { return Ok(Value::Null) };
    if us.unsigned_abs() > TIME_MAX_US.unsigned_abs() {
        context.warn(SqlError::truncated_wrong_value("time", Time { us, fsp }))?;
    }
    Ok(Value::Time(Time::clamped(us, fsp)))
}

fn timediff(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let Some(left) = read_moment_or_time(&arguments[0], context)? else { return Ok(Value::Null) };
    let Some(right) = read_moment_or_time(&arguments[1], context)? else { return Ok(Value::Null) };
    match (left, right) {
        (MomentOrTime::Moment(left), MomentOrTime::Moment(right)) => {
            clamped(left.to_linear_us() - right.to_linear_us(), call, context)
        }
        (MomentOrTime::Time(left), MomentOrTime::Time(right)) => clamped(left.us - right.us, call, context),
        _ => Ok(Value::Null),
    }
}

/// What ADDTIME and SUBTIME give: of a text a text, with a fraction if there is one.
fn shifted(call: &Call, value: Value) -> Value {
    let digits = |us: i64| if us % SECOND_US == 0 { 0 } else { 6 };
    match (value, &call.kind) {
        (Value::DateTime(moment), ColumnType::Char { .. }) => {
            let fsp = digits(i64::from(moment.microsecond()));
            Value::from(DateTime::from_packed(moment.packed(), fsp).to_string())
        }
        (Value::Time(time), ColumnType::Char { .. }) => {
            Value::from(Time { fsp: digits(time.us), ..time }.to_string())
        }
        (value, _) => with_digits_of(call, value),
    }
}

fn shift_time(call: &Call, arguments: &[Value], context: &EvalContext<'_>, sign: i64) -> SqlResult<Value> {
    null_guard!(arguments);
    let Some(added) = to_time(&arguments[1], context)? else { return Ok(Value::Null) };
    let added = sign * added.us;
    let sum = match read_moment_or_time(&arguments[0], context)? {
        Some(MomentOrTime::Moment(moment)) if !moment.date().is_valid() => {
            if !matches!(arguments[0], Value::Date(_) | Value::DateTime(_)) {
                let refused = match &arguments[0] {
                    number @ (Value::Int(_) | Value::UInt(_)) => {
                        SqlError::incorrect_value("datetime", to_text(number))
                    }
                    other => SqlError::truncated_wrong_value("date", to_text(other)),
                };
                context.warn(refused)?;
            }
            return Ok(Value::Null);
        }
        Some(MomentOrTime::Moment(moment)) => {
            match DateTime::from_linear_us(moment.to_linear_us() + added, 0) {
                Some(sum) => Value::DateTime(sum),
                None if added < 0 => return Ok(Value::Null),
                None => return out_of_range(call, "DATETIME", arguments, context),
            }
        }
        Some(MomentOrTime::Time(time)) => {
            let us = time.us + added;
            if us.unsigned_abs() > TIME_MAX_US.unsigned_abs() {
                let nothing = out_of_range(call, "TIME", arguments, context)?;
                // Of a text it is the nearest that there is.
                if matches!(call.kind, ColumnType::Time { .. }) {
                    return Ok(nothing);
                }
            }
            Value::Time(Time::clamped(us, 0))
        }
        None => return Ok(Value::Null),
    };
    Ok(shifted(call, sum))
}

/// What ADDTIME or SUBTIME gives as a text, where a day or a moment is read: a time is one of today.
pub(super) fn sum_of_today(typed: Typed, moment: bool) -> Typed {
    let is_sum = |call: &Call| matches!(call.name, "addtime" | "subtime");
    if !typed.kind.column.is_character() || !matches!(&typed.expr, Expr::Call(call) if is_sum(call)) {
        return typed;
    }
    let function = if moment { moment_of_today } else { day_of_today };
    let kind = ColumnType::DateTime { fsp: 6 };
    let call = Call::new(SUM_OF_TODAY, function, vec![typed.expr], kind.clone());
    Typed { expr: call.into_expr(), kind: ExprType { column: kind, ..typed.kind } }
}

const SUM_OF_TODAY: &str = "sum of today";

pub(super) fn is_sum_of_today(typed: &Typed) -> bool {
    text_of_sum(&typed.expr).is_some()
}

/// The text that such a sum is as it is shown.
pub(super) fn text_of_sum(expr: &Expr) -> Option<&Expr> {
    match expr {
        Expr::Call(call) if call.name == SUM_OF_TODAY => call.arguments.first(),
        _ => None,
    }
}

/// A text without a day is a time.
fn time_said(value: &Value, context: &EvalContext<'_>) -> SqlResult<Option<Time>> {
    let text = to_bytes(value);
    let day = text.iter().skip(1).any(|byte| *byte == b'-');
    if value.is_null() || day { Ok(None) } else { to_time(value, context) }
}

fn moment_of_today(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let said = time_said(&arguments[0], context)?;
    let moment = to_date_time(&said.map_or_else(|| arguments[0].clone(), Value::Time), context)?;
    Ok(moment.map_or(Value::Null, Value::DateTime))
}

/// The day of a time is worked out by who asks for it: that of a negative time is today.
fn day_of_today(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    match time_said(&arguments[0], context)? {
        Some(time) => Ok(Value::Time(time)),
        None => Ok(to_date_time(&arguments[0], context)?.map_or(Value::Null, Value::DateTime)),
    }
}

fn addtime(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    shift_time(call, arguments, context, 1)
}

fn subtime(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    shift_time(call, arguments, context, -1)
}

fn time_format(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let time = match read_moment_or_time(&arguments[0], context)? {
        Some(MomentOrTime::Moment(moment)) => moment.time(),
        Some(MomentOrTime::Time(time)) => time,
        None => return Ok(Value::Null),
    };
    let (hour, minute, second, us) = time.parts();
    let moment = DateTime::from_parts(Date::ZERO, hour % 24, minute, second, us, 6);
    formatted(moment, Some((hour, time.us < 0)), &arguments[1], call, context)
}

/// Seconds as microseconds, as near as 64 bits come.
fn us_of(seconds: &Decimal) -> i64 {
    let us = seconds.round_to(6).to_scaled_i128();
    let far = if seconds.is_negative() { i64::MIN } else { i64::MAX };
    us.and_then(|us| i64::try_from(us).ok()).unwrap_or(far)
}

fn maketime(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let hour = match &arguments[0] {
        Value::UInt(hour) => i64::try_from(*hour).unwrap_or(i64::MAX),
        other => to_i64(other, context)?,
    };
    let minute = to_i64(&arguments[1], context)?;
    let seconds = to_decimal(&arguments[2], context)?;
    let us = us_of(&seconds);
    if !(0..60).contains(&minute) || !(0..60 * SECOND_US).contains(&us) {
        return Ok(Value::Null);
    }
    let hours = hour.saturating_abs();
    let magnitude = (hours.min(10_000) * 3600 + minute * 60) * SECOND_US + us;
    if magnitude > TIME_MAX_US {
        let pad = if us < 10 * SECOND_US { "0" } else { "" };
        context
            .warn(SqlError::truncated_wrong_value("time", format!("{hours}:{minute:02}:{pad}{seconds}")))?;
    }
    let us = if hour < 0 { -magnitude } else { magnitude };
    Ok(with_digits_of(call, Value::Time(Time::clamped(us, 6))))
}

fn sec_to_time(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let seconds = to_decimal(&arguments[0], context)?;
    let us = us_of(&seconds);
    if us.unsigned_abs() > TIME_MAX_US.unsigned_abs() {
        context.warn(SqlError::truncated_wrong_value("time", seconds))?;
    }
    Ok(with_digits_of(call, Value::Time(Time::clamped(us, 6))))
}

fn time_to_sec(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    Ok(to_time(&arguments[0], context)?.map_or(Value::Null, |time| Value::Int(time.us / SECOND_US)))
}
