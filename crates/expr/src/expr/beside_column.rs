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

use super::class::{is_column, is_document, is_settled};
use super::{Call, EvalContext, Expr, ScalarFunction, Typed, Warnings};
use turnstile_values::datetime::{self, Date, DateRules, DateTime, Time};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::types::{ColumnType, ExprType};
use turnstile_values::value::{
    StoreContext, Value, apply_offset, parse_double_prefix, store, tell_delimiter, to_bytes, to_date_time,
    to_double, to_text, to_time,
};

fn read_by(name: &'static str, function: ScalarFunction, typed: Typed, kind: ColumnType) -> Typed {
    let call = Call::new(name, function, vec![typed.expr], kind.clone());
    Typed { expr: call.into_expr(), kind: ExprType { column: kind, ..typed.kind } }
}

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
    let (number, complete) = match text {
        Some(text) => parse_double_prefix(text),
        None => (to_double(value, context)?, true),
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
        year @ 1901.0..=2155.0 => Some(year as u64),
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
            let name = if kind == ColumnType::Date { "DATE" } else { "DATETIME" };
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

/// The least number that says a date and a time in full; smaller ones are times of day beside a time.
pub const MOMENT_MIN: i64 = 10_000_000_000;

/// What stands before the point of a number.
pub fn whole_number(value: &Value) -> Option<i64> {
    whole_and_micros(value).map(|(whole, _)| whole)
}

/// What stands before the point of a number, and the six digits behind it.
fn whole_and_micros(value: &Value) -> Option<(i64, u32)> {
    match value {
        Value::Int(number) => Some((*number, 0)),
        Value::UInt(number) => Some((i64::try_from(*number).ok()?, 0)),
        Value::Decimal(number) => {
            let scaled = number.truncate_places(6).round_to(6).to_scaled_i128()?;
            let micros = (scaled % 1_000_000).unsigned_abs() as u32;
            Some((i64::try_from(scaled / 1_000_000).ok()?, micros))
        }
        Value::Double(number) if number.abs() < 1e15 => {
            Some((number.trunc() as i64, (number.fract().abs() * 1e6) as u32))
        }
        _ => None,
    }
}

/// The day that a number says, a month or a day of zero among them.
pub(crate) fn day_of_number(value: &Value) -> Option<Date> {
    let number = match value {
        Value::Decimal(number) => Value::Double(number.to_f64().trunc()),
        Value::Double(number) => Value::Double(number.trunc()),
        other => other.clone(),
    };
    match whole_number(&number)? {
        // The year 2000 in two digits.
        short @ 0..=100 => Some(Date::from_parts(2000, short as u32 / 100, short as u32 % 100)),
        long => datetime::parse_number(long, DateRules::LENIENT).map(|found| found.moment.date()),
    }
}

/// A number among the numbers that a date or a time is one of: one that says a moment in full is that date or
/// time of day, and so is one with a fraction beside a date. Beside a moment each is the one that it says.
pub(super) fn of_moment_in_list(operand: &ColumnType, typed: Typed) -> Typed {
    if let Expr::Literal(value) = &typed.expr {
        let Some(value) = said_in_list(operand, value) else { return typed };
        let column = of_column(DateTime::ZERO, operand).1;
        return Typed { expr: Expr::Literal(value), kind: ExprType::not_null(column) };
    }
    if !is_computed(&typed.expr) || !typed.kind.column.is_numeric() {
        return typed;
    }
    let call = Call::new("one of numbers", read_in_list, vec![typed.expr], operand.clone());
    Typed { expr: call.into_expr(), kind: typed.kind }
}

fn read_in_list(call: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    Ok(said_in_list(&call.kind, &arguments[0]).unwrap_or_else(|| arguments[0].clone()))
}

fn said_in_list(operand: &ColumnType, value: &Value) -> Option<Value> {
    let (whole, micros) = whole_and_micros(value)?;
    let full = whole >= MOMENT_MIN;
    match operand {
        ColumnType::Time { .. } if full => Some(Value::Time(clock_of_number(value)?)),
        ColumnType::Date if !full && micros == 0 => None,
        ColumnType::Date => Some(of_column(moment_said(value)?, operand).0),
        ColumnType::DateTime { .. } | ColumnType::Timestamp { .. } if is_real(value) => {
            Some(of_column(moment_said(value)?, operand).0)
        }
        _ => None,
    }
}

fn is_real(value: &Value) -> bool {
    matches!(value, Value::Double(_) | Value::Decimal(_))
}

/// Whether it is worked out of literals alone: MySQL does so before it looks at rows. What a variable or a
/// `?` gives it does not know then.
pub(super) fn is_computed(expr: &Expr) -> bool {
    let mut open = false;
    expr.walk(&mut |one| open |= matches!(one, Expr::Parameter(_)));
    expr.is_constant() && !open && !matches!(expr, Expr::Literal(_))
}

/// A number that is worked out beside a column of times: the time of day of the moment that it says in full.
pub(super) fn time_of_number(typed: Typed) -> Typed {
    if !is_computed(&typed.expr) || !typed.kind.column.is_numeric() {
        return typed;
    }
    let call = Call::new("time of number", read_in_list, vec![typed.expr], ColumnType::Time { fsp: 6 });
    Typed { expr: call.into_expr(), kind: typed.kind }
}

/// The time that a number says; of one that says a moment, its time of day.
pub fn clock_of_number(value: &Value) -> Option<Time> {
    let (number, micros) = whole_and_micros(value)?;
    if number >= MOMENT_MIN {
        let rules = DateRules { invalid: true, ..DateRules::LENIENT };
        let said = datetime::parse_number(number, rules)?.moment.time();
        return Some(Time { us: said.us + i64::from(micros), fsp: 6 });
    }
    let (hour, minute, second) = (number.abs() / 10_000, number.abs() / 100 % 100, number.abs() % 100);
    if minute > 59 || second > 59 || hour > 838 {
        return None;
    }
    let us = (hour * 3600 + minute * 60 + second) * datetime::SECOND_US + i64::from(micros);
    let is_negative = matches!(value, Value::Decimal(number) if number.is_negative())
        || matches!(value, Value::Double(number) if number.is_sign_negative())
        || number < 0;
    Some(Time { us: if is_negative { -us } else { us }, fsp: 6 })
}

/// A literal beside a column of dates or moments among numbers: the one that it says, or as it is.
pub(super) fn moment_of_literal(column: &ColumnType, typed: Typed) -> Typed {
    let Expr::Literal(value) = &typed.expr else { return typed };
    if matches!(value, Value::Time(_)) {
        return read_by("today", today, typed, column.clone());
    }
    let Some(moment) = moment_said(value) else { return typed };
    let (value, column) = of_column(moment, column);
    Typed { expr: Expr::Literal(value), kind: ExprType::not_null(column) }
}

/// A constant number beside a column of dates or moments: the one that it says, or as it is.
pub(super) fn moment_of_number(column: &ColumnType, typed: Typed) -> Typed {
    if matches!(typed.expr, Expr::Literal(_)) {
        return moment_of_literal(column, typed);
    }
    let column = of_column(DateTime::ZERO, column).1;
    let call = Call::new("moment of number", number_read, vec![typed.expr], column);
    Typed { expr: call.into_expr(), kind: typed.kind }
}

fn number_read(call: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    let number = &arguments[0];
    Ok(moment_said(number).map_or_else(|| number.clone(), |moment| of_column(moment, &call.kind).0))
}

/// A moment as a column keeps it.
fn of_column(moment: DateTime, column: &ColumnType) -> (Value, ColumnType) {
    match column {
        ColumnType::Date => (Value::Date(moment.date()), ColumnType::Date),
        ColumnType::Time { .. } => (Value::Time(moment.time()), ColumnType::Time { fsp: 6 }),
        _ => (Value::DateTime(moment), ColumnType::DateTime { fsp: 6 }),
    }
}

/// The moment that a value says.
fn moment_said(value: &Value) -> Option<DateTime> {
    let rules = DateRules { invalid: true, zero_in_date: false, ..DateRules::LENIENT };
    match value {
        Value::DateTime(moment) => Some(*moment),
        Value::Date(date) => Some(date.at_midnight()),
        Value::Str(text) => {
            let parsed = datetime::parse_date_time(text.as_bytes(), DateRules::LENIENT);
            parsed
                .filter(|found| !found.truncated && found.offset_seconds.is_none())
                .map(|found| found.moment)
        }
        number => whole_and_micros(number).and_then(|(whole, micros)| {
            let found = datetime::parse_number(whole, rules)?;
            // What stands behind the point of a day alone is no part of it.
            let micros = if found.has_time { micros } else { 0 };
            let at = found.moment;
            Some(DateTime::from_parts(at.date(), at.hour(), at.minute(), at.second(), micros, 6))
        }),
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
