//! INTERVAL arithmetic and EXTRACT.

use crate::expr::{EvalContext, Source};
use turnstile_syntax::ast::{IntervalUnit, IntervalUnit as U};
use turnstile_values::collation::Collation;
use turnstile_values::datetime::{self, SECOND_US, Time, add_interval};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::types::ColumnType;
use turnstile_values::value::{MomentOrTime, ReadFor, Value, read_clock, read_moment, to_bytes, to_i64};

/// Places of microseconds.
const MICROSECOND_PLACES: u8 = 6;

/// Result type of `date + INTERVAL n unit`.
pub(crate) fn date_arithmetic_type(kind: &ColumnType, amount: &ColumnType, unit: IntervalUnit) -> ColumnType {
    let microseconds = matches!(
        unit,
        IntervalUnit::Microsecond
            | IntervalUnit::SecondMicrosecond
            | IntervalUnit::MinuteMicrosecond
            | IntervalUnit::HourMicrosecond
            | IntervalUnit::DayMicrosecond
    );
    // Seconds have the places that their number has.
    let places = match unit {
        _ if microseconds => MICROSECOND_PLACES,
        IntervalUnit::Second => amount.fixed_scale().min(MICROSECOND_PLACES),
        _ => 0,
    };
    match kind {
        ColumnType::Date if datetime::is_date_unit(unit) => ColumnType::Date,
        ColumnType::Date => ColumnType::DateTime { fsp: places },
        ColumnType::DateTime { fsp } | ColumnType::Timestamp { fsp } => {
            ColumnType::DateTime { fsp: places.max(*fsp) }
        }
        ColumnType::Time { fsp } if keeps_time(unit) => ColumnType::Time { fsp: places.max(*fsp) },
        ColumnType::Time { fsp } => ColumnType::DateTime { fsp: places.max(*fsp) },
        _ => ColumnType::Char { length: 29, collation: Collation::DEFAULT },
    }
}

/// Whether a time to which so much is added stays one: a unit with days in it makes it a moment of today.
fn keeps_time(unit: IntervalUnit) -> bool {
    let of_days = matches!(unit, U::DayHour | U::DayMinute | U::DaySecond | U::DayMicrosecond);
    !of_days && !datetime::is_date_unit(unit)
}

/// Longest time, in microseconds.
const TIME_MAX_US: i64 = (838 * 3600 + 59 * 60 + 59) * SECOND_US;

/// `date +- INTERVAL amount unit`. A text date gives a text, as long as it needs to be. What is beyond the
/// range of DATE and TIME is told of with the text of the expression.
pub(crate) fn date_arithmetic(
    (date, amount): (&Value, &Value),
    unit: IntervalUnit,
    subtract: bool,
    source: Option<&Source>,
    context: &EvalContext<'_>,
) -> SqlResult<Value> {
    let out_of_range = |kind: &str| {
        let text = source.map_or_else(String::new, |source| source.text(context));
        context.warn(SqlError::temporal_out_of_range(kind, text))?;
        Ok(Value::Null)
    };
    if date.is_null() {
        return Ok(Value::Null);
    }
    let Some(mut interval) = turnstile_values::value::interval_from_value(amount, unit, context)? else {
        if !amount.is_null() {
            context.warn(SqlError::datetime_overflow("datetime"))?;
        }
        return Ok(Value::Null);
    };
    if subtract {
        interval = interval.negated();
    }
    let has_fraction = interval.us % SECOND_US != 0;
    if let Value::Time(time) = date
        && keeps_time(unit)
    {
        let fsp = if has_fraction { 6 } else { time.fsp };
        let us = time.us.saturating_add(interval.us);
        return if us.unsigned_abs() > TIME_MAX_US.unsigned_abs() {
            out_of_range("TIME")
        } else {
            Ok(Value::Time(Time { us, fsp }))
        };
    }
    let Some(moment) = read_moment(date, ReadFor::Calendar, context)? else { return Ok(Value::Null) };
    let only_date = datetime::is_date_unit(unit);
    let Some(mut result) = add_interval(moment, interval) else {
        if matches!(date, Value::Date(_)) && only_date {
            return out_of_range("DATE");
        }
        context.warn(SqlError::datetime_overflow("datetime"))?;
        return Ok(Value::Null);
    };
    if has_fraction {
        result.fsp = 6;
    }
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
                result.fsp = if result.microsecond() == 0 { 0 } else { 6 };
                Value::from(result.to_string())
            }
        }
    })
}

/// True for parts that a time has, too.
pub(crate) fn is_clock_unit(unit: IntervalUnit) -> bool {
    !matches!(unit, U::Year | U::Quarter | U::Month | U::Week | U::Day | U::YearMonth)
}

/// EXTRACT(unit FROM value).
pub(crate) fn extract_part(value: &Value, unit: IntervalUnit, context: &EvalContext<'_>) -> SqlResult<Value> {
    if is_clock_unit(unit) {
        return Ok(match read_clock(value, context)? {
            Some(MomentOrTime::Moment(moment)) => Value::Int(datetime::extract(unit, moment)),
            // A time has no days but hours.
            Some(MomentOrTime::Time(time)) => Value::Int(datetime::extract_clock(unit, time, 0)),
            None => Value::Null,
        });
    }
    Ok(match read_moment(value, ReadFor::Parts, context)? {
        Some(moment) if unit == U::Week && moment.date().has_zero_part() => Value::Null,
        Some(moment) => Value::Int(datetime::extract(unit, moment)),
        None => Value::Null,
    })
}
