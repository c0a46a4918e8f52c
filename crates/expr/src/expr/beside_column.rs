//! Constants beside columns of years, dates and times. MySQL stores such a constant into the column before it
//! compares, so that it is the year, the date or the time that the column would keep; what the column would
//! refuse is compared as it is.
//!
//! | column | constant | is |
//! |---|---|---|
//! | YEAR | a date, a moment | its year |
//! | YEAR | a time | the year of today |
//! | YEAR | a number, a text, a document of a number | the year that it means |
//! | TIME | a date, a moment, a document | its time of day |
//! | TIME | a text | the time that all of it says |
//! | DATE, DATETIME, TIMESTAMP | a number | the date that it says |
//!
//! And what MySQL makes of texts that are no constants beside dates that are none: days.

mod number;

use turnstile_values::datetime::{self, Date, DateRules, Time};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::types::{ColumnType, ExprType};
use turnstile_values::value::{
    StoreContext, Value, apply_offset, parse_double_prefix, store, tell_delimiter, to_bytes, to_date_time,
    to_double, to_text, to_time,
};

use super::class::{is_column, is_document, is_settled};
use super::{Call, EvalContext, Expr, ScalarFunction, Typed, Warnings};

pub(crate) use number::day_of_number;
pub use number::{MOMENT_MIN, clock_of_number, whole_number};
pub(super) use number::{
    is_computed, moment_of_literal, moment_of_number, of_moment_in_list, time_of_number,
};

fn read_by(name: &'static str, function: ScalarFunction, typed: Typed, kind: ColumnType) -> Typed {
    let call = Call::new(name, function, vec![typed.expr], kind.clone());
    Typed { expr: call.into_expr(), kind: ExprType { column: kind, ..typed.kind } }
}

/// The last year that a column of years keeps.
const LAST_YEAR: f64 = 2155.0;

/// A constant that a year is compared with.
pub(super) fn in_full(typed: Typed) -> Typed {
    let kind = typed.kind.column.clone();
    let fits = kind.is_numeric() || kind.is_string() || kind.is_temporal() || is_document(&kind);
    if !fits || !is_settled(&typed.expr) {
        return typed;
    }
    let (kind, function): (_, ScalarFunction) = match kind {
        ColumnType::Json => (kind, year_of_document),
        _ if kind.is_temporal() => (ColumnType::BIGINT_UNSIGNED, full_year),
        _ => (kind, full_year),
    };
    read_by("year", function, typed, kind)
}

/// The year that two digits mean, or that a date is in; any other value as it is.
fn full_year(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let value = &arguments[0];
    let text = match value {
        Value::Null => return Ok(Value::Null),
        Value::Date(_) | Value::DateTime(_) | Value::Time(_) => {
            let moment = to_date_time(value, context)?;
            return Ok(moment.map_or(Value::Null, |moment| Value::UInt(u64::from(moment.date().year()))));
        }
        other => other.as_raw_bytes(),
    };
    let (number, complete) = match (value, text) {
        (_, Some(text)) => parse_double_prefix(text),
        // A double loses its fraction, and the last year is one only without any; all else is rounded.
        (Value::Double(number), _) => match (0.0..LAST_YEAR).contains(number) {
            true if *number < 1.0 => return Ok(Value::UInt(0)),
            true => (number.trunc(), true),
            false => return Ok(value.clone()),
        },
        _ => (to_double(value, context)?, true),
    };
    let says_none = !complete && !text.is_some_and(|text| text.trim_ascii_start().starts_with_digit());
    let year = year_meant(number, text.is_some_and(|text| text.len() != 4));
    Ok(match year {
        Some(year) if !says_none => Value::UInt(year),
        _ if complete => value.clone(),
        _ => Value::Double(number),
    })
}

trait StartsWithDigit {
    fn starts_with_digit(&self) -> bool;
}

impl StartsWithDigit for [u8] {
    fn starts_with_digit(&self) -> bool {
        self.first().is_some_and(u8::is_ascii_digit)
    }
}

/// The year that a number means; a zero only means one where its text is not of four digits.
fn year_meant(number: f64, zero_is_one: bool) -> Option<u64> {
    match number.round() {
        0.0 if zero_is_one => Some(2000),
        year @ 1.0..=69.0 => Some(2000 + year as u64),
        year @ 70.0..=99.0 => Some(1900 + year as u64),
        year @ 1901.0..=LAST_YEAR => Some(year as u64),
        _ => None,
    }
}

fn year_of_document(_: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    let document = &arguments[0];
    let (number, complete) = parse_double_prefix(&to_bytes(document));
    Ok(match year_meant(number, false) {
        Some(year) if complete && !document.is_null() => Value::text(year.to_string()),
        _ => document.clone(),
    })
}

/// A year as the moment before its first day.
pub(super) fn first_of_year(typed: Typed) -> Typed {
    read_by("first of year", moment_before, typed, ColumnType::Date)
}

fn moment_before(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    if arguments[0].is_null() {
        return Ok(Value::Null);
    }
    Ok(Value::Date(Date::from_parts(to_double(&arguments[0], context)? as u32, 0, 0)))
}

/// A year as its first day, which it is among moments of which one is given.
pub(super) fn first_day_of_year(year: Expr) -> Expr {
    let first = |_: &Call, arguments: &[Value], context: &EvalContext<'_>| match &arguments[0] {
        Value::Null => Ok(Value::Null),
        year => Ok(Value::Date(Date::from_parts(to_double(year, context)? as u32, 1, 1))),
    };
    Call::new("first day of year", first, vec![year], ColumnType::Date).into_expr()
}

/// The operands of STRCMP, which compares texts: a constant beside a column is what the column would keep of
/// it, except a text beside a date or a moment. Error 1525 for a literal text that is none.
pub(super) fn kept_texts(mut parts: Vec<Typed>) -> SqlResult<Vec<Typed>> {
    if parts.len() != 2 {
        return Ok(parts);
    }
    for at in [1, 0] {
        let (one, other) = (&parts[1 - at], &parts[at]);
        let kind = one.kind.column.clone();
        let text = other.kind.column.is_string() && !is_document(&other.kind.column);
        if let (Expr::Literal(value), true) = (&other.expr, text && one.kind.column.is_temporal())
            && !matches!(kind, ColumnType::Time { .. } | ColumnType::Year)
            && !value.is_null()
            && datetime::parse_date_time(&to_bytes(value), DateRules::LENIENT).is_none()
        {
            let name = match kind {
                ColumnType::Date => "DATE",
                ColumnType::Timestamp { .. } => "TIMESTAMP",
                _ => "DATETIME",
            };
            return Err(SqlError::wrong_value(name, to_text(value)));
        }
        let known = is_settled(&other.expr) && !matches!(other.expr, Expr::UserVariable(_));
        let converts = match &kind {
            ColumnType::Time { .. } | ColumnType::Year => text || other.kind.column.is_numeric(),
            ColumnType::Date => other.kind.column.is_numeric() || matches!(other.expr, Expr::Parameter(_)),
            _ => false,
        };
        if known && converts && is_column(one) {
            parts[at] = read_by("kept by column", kept, other.clone(), kind);
            break;
        }
    }
    Ok(parts)
}

fn kept(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let value = &arguments[0];
    if value.is_null() {
        return Ok(Value::Null);
    }
    let warnings = Warnings::new();
    let eval = EvalContext { warnings: &warnings, ..*context };
    let place = StoreContext { column: "", row: 1, nullable: true, strict: true, eval: &eval };
    Ok(store(value, &call.kind, &place).unwrap_or_else(|_| value.clone()))
}

/// A text that differs from row to row beside a date that does: its day, without the time. What says no day
/// stays as it is.
pub(super) fn day_of_text(typed: Typed) -> Typed {
    let kind = typed.kind.column.clone();
    read_by("day of text", day_said, typed, kind)
}

fn day_said(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let value = &arguments[0];
    if value.is_null() {
        return Ok(Value::Null);
    }
    let written = to_bytes(value);
    let Some(found) = datetime::parse_date_time(&written, context.compared_date_rules()) else {
        return Ok(value.clone());
    };
    tell_delimiter(&found, &written, 1, context);
    Ok(Value::Date(apply_offset(found.moment, found.offset_seconds, context).date()))
}

/// Whether it is a literal text that says no time, or more than one.
pub(super) fn is_no_time(typed: &Typed) -> bool {
    match &typed.expr {
        Expr::Literal(value) => value.as_raw_bytes().is_some_and(|text| time_said(text).is_none()),
        _ => false,
    }
}

fn time_said(text: &[u8]) -> Option<Time> {
    // A date before the time, which a column of times would drop.
    if text.contains(&b'T') && text.contains(&b'-') {
        return None;
    }
    datetime::parse_time(text).filter(|(_, truncated)| !truncated).map(|(time, _)| time)
}

/// The time of day of a date or a moment; the time that a document says, or none at all.
pub(super) fn time_of_moment(typed: Typed) -> Typed {
    let function = if is_document(&typed.kind.column) { time_of_document } else { time_of_day };
    read_by("time of day", function, typed, ColumnType::Time { fsp: 6 })
}

/// A time that is put into a column before it is compared: with the digits that the column keeps.
pub(super) fn time_put_in(column: &ColumnType, typed: Typed) -> Typed {
    read_by("time of column", time_kept, typed, column.clone())
}

fn time_kept(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let fsp = if let ColumnType::Time { fsp } = call.kind { fsp } else { 0 };
    let time = to_time(&arguments[0], context)?;
    Ok(time.map_or(Value::Null, |time| Value::Time(context.time_to(time, fsp))))
}

fn time_of_day(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    if arguments[0].is_null() {
        return Ok(Value::Null);
    }
    Ok(Value::Time(to_time(&arguments[0], context)?.unwrap_or_default()))
}

fn time_of_document(_: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    if arguments[0].is_null() {
        return Ok(Value::Null);
    }
    let text = to_bytes(&arguments[0]);
    let said = text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\""));
    let time = said.filter(|text| text.contains(&b':')).and_then(datetime::parse_time);
    Ok(Value::Time(time.map_or_else(Time::default, |(time, _)| time)))
}

/// A constant beside a column of times among several values: a moment's time of day, the time that a literal
/// says; anything else as it is.
pub(super) fn time_of_literal(typed: Typed) -> Typed {
    let kind = &typed.kind.column;
    let time = ColumnType::Time { fsp: 6 };
    match &typed.expr {
        _ if is_document(kind) && is_settled(&typed.expr) => time_of_moment(typed),
        Expr::Literal(Value::Date(_) | Value::DateTime(_)) => time_of_moment(typed),
        Expr::Literal(value @ (Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Double(_))) => {
            match clock_of_number(value) {
                Some(found) => {
                    Typed { expr: Expr::Literal(Value::Time(found)), kind: ExprType::not_null(time) }
                }
                None => typed,
            }
        }
        Expr::Literal(value) if kind.is_string() => match value.as_raw_bytes().and_then(time_said) {
            Some(found) => Typed { expr: Expr::Literal(Value::Time(found)), kind: ExprType::not_null(time) },
            None => typed,
        },
        _ => typed,
    }
}

/// A time of today, and its day alone beside a column of dates.
pub(super) fn today(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let moment = to_date_time(&arguments[0], context)?;
    Ok(moment.map_or(Value::Null, |moment| match call.kind {
        ColumnType::Date => Value::Date(moment.date()),
        _ => Value::DateTime(moment),
    }))
}
