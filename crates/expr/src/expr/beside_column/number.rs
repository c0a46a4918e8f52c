//! Numbers beside columns of dates and times: the day or the time that their digits say.

use turnstile_values::datetime::{self, Date, DateRules, DateTime, Time};
use turnstile_values::error::SqlResult;
use turnstile_values::types::{ColumnType, ExprType};
use turnstile_values::value::Value;

use super::super::{Call, EvalContext, Expr, Typed};
use super::{read_by, today};

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
pub fn of_moment_in_list(operand: &ColumnType, typed: Typed) -> Typed {
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
        ColumnType::Date => Some(of_column(moment_said(value, false)?, operand).0),
        ColumnType::DateTime { .. } | ColumnType::Timestamp { .. } if is_real(value) => {
            Some(of_column(moment_said(value, false)?, operand).0)
        }
        _ => None,
    }
}

fn is_real(value: &Value) -> bool {
    matches!(value, Value::Double(_) | Value::Decimal(_))
}

/// Whether it is worked out of literals alone: MySQL does so before it looks at rows. What a variable or a
/// `?` gives it does not know then.
pub fn is_computed(expr: &Expr) -> bool {
    let mut open = false;
    expr.walk(&mut |one| open |= matches!(one, Expr::Parameter(_)));
    expr.is_constant() && !open && !matches!(expr, Expr::Literal(_))
}

/// A number that is worked out beside a column of times: the time of day of the moment that it says in full.
pub fn time_of_number(typed: Typed) -> Typed {
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
/// `zero_parts`: whether a month or a day may be zero.
pub fn moment_of_literal(column: &ColumnType, typed: Typed, zero_parts: bool) -> Typed {
    let Expr::Literal(value) = &typed.expr else { return typed };
    if matches!(value, Value::Time(_)) {
        return read_by("today", today, typed, column.clone());
    }
    let Some(moment) = moment_said(value, zero_parts) else { return typed };
    let (value, column) = of_column(moment, column);
    Typed { expr: Expr::Literal(value), kind: ExprType::not_null(column) }
}

/// A constant number beside a column of dates or moments: the one that it says, or as it is.
pub fn moment_of_number(column: &ColumnType, typed: Typed) -> Typed {
    if matches!(typed.expr, Expr::Literal(_)) {
        return moment_of_literal(column, typed, false);
    }
    let column = of_column(DateTime::ZERO, column).1;
    let call = Call::new("moment of number", number_read, vec![typed.expr], column);
    Typed { expr: call.into_expr(), kind: typed.kind }
}

fn number_read(call: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    let number = &arguments[0];
    Ok(moment_said(number, false).map_or_else(|| number.clone(), |moment| of_column(moment, &call.kind).0))
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
fn moment_said(value: &Value, zero_parts: bool) -> Option<DateTime> {
    let rules = DateRules { zero_in_date: zero_parts, ..DateRules::LENIENT };
    match value {
        Value::DateTime(moment) => Some(*moment),
        Value::Date(date) => Some(date.at_midnight()),
        Value::Str(text) => {
            let parsed = datetime::parse_date_time(text.as_bytes(), rules);
            parsed
                .filter(|found| !found.truncated && found.offset_seconds.is_none())
                .map(|found| found.moment)
        }
        number => whole_and_micros(number).and_then(|(whole, micros)| {
            let found = datetime::parse_number(whole, DateRules { invalid: true, ..rules })?;
            // What stands behind the point of a day alone is no part of it.
            let micros = if found.has_time { micros } else { 0 };
            let at = found.moment;
            Some(DateTime::from_parts(at.date(), at.hour(), at.minute(), at.second(), micros, 6))
        }),
    }
}
