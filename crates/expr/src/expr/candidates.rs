//! The candidates of IN whose types differ from the operand's. MySQL reads those that are known beforehand
//! once, as what all of them have in common with the operand, and tells of every one that is no such value,
//! whether or not an earlier one is equal.
//!
//! | operand | candidates | read as |
//! |---|---|---|
//! | a whole number that is no column | texts, dates, doubles | whole numbers |
//! | a text, a DATE, or another date that is no column | texts and dates | dates, moments or times |
//! | a text of IF, CASE or NULLIF | dates, or times | one that is none is unknown |
//! | a text | numbers and dates | the dates as texts |
//! | a DATE | texts and dates, one of them a `?` | moments |
//! | a date, a time | numbers that say moments | dates, times of day |
//! | a year | texts of days, and no numbers | no years |

use turnstile_syntax::ast;
use turnstile_values::datetime::{self, DateRules};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::types::{ColumnType, ExprType};
use turnstile_values::value::{
    Value, apply_offset, parse_integer_prefix, shown_value, tell_delimiter, to_bytes, to_date_time, to_i64,
    to_time,
};

use super::beside_column::of_moment_in_list;
use super::build::Builder;
use super::class::is_settled;
use super::parameter::{among_days, is_given};
use super::predicate::moment_beside;
use super::{Call, EvalContext, Expr, NoRow, NoSession, ScalarFunction, Typed, Warnings};
use crate::expr::class;

/// What texts beside dates are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    Date,
    Moment,
    Time,
}

pub(super) fn is_text(kind: &ColumnType) -> bool {
    kind.is_string() && *kind != ColumnType::Json
}

pub(super) fn is_date_or_time(kind: &ColumnType) -> bool {
    matches!(
        kind,
        ColumnType::Date
            | ColumnType::DateTime { .. }
            | ColumnType::Timestamp { .. }
            | ColumnType::Time { .. }
    )
}

/// A column, or what has a place like one; a variable or a parameter.
fn is_read(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::Column(_)
            | Expr::TimestampColumn(_)
            | Expr::UserVariable(_)
            | Expr::AssignVariable { .. }
            | Expr::Parameter(_)
    )
}

/// Turns candidates into what they are read as; gives the operand as that too.
pub(super) fn candidates_read(
    builder: &Builder<'_>,
    written: &ast::Expr,
    operand: Typed,
    candidates: &mut [Typed],
) -> Typed {
    if candidates.len() < 2 || !candidates.iter().all(|one| is_settled(&one.expr)) {
        return operand;
    }
    let column = &operand.kind.column;
    let moments = reads_moments(&operand, candidates);
    let number = |one: &Typed| one.kind.column.is_numeric() || one.kind.column == ColumnType::Null;
    if is_date_or_time(column) && candidates.iter().all(number) {
        candidates.iter_mut().for_each(|one| *one = of_moment_in_list(column, one.clone()));
    }
    if moments {
        let kind = ColumnType::DateTime { fsp: 6 };
        for one in candidates.iter_mut().filter(|one| is_read_as_moment(&operand, one)) {
            *one = known(builder, called("timestamp", moment_of_number, one.clone(), None, kind.clone()));
        }
        return operand;
    }
    if reads_whole(&operand, candidates) {
        for one in candidates.iter_mut().filter(|one| one.kind.column != ColumnType::Null) {
            *one = known(builder, called("whole", whole, one.clone(), None, ColumnType::BIGINT));
        }
        return operand;
    }
    let text = is_text(&operand.kind.column);
    if text && candidates.iter().any(|one| one.kind.column.is_numeric()) {
        for one in candidates.iter_mut().filter(|one| is_date_or_time(&one.kind.column)) {
            *one = class::as_text(builder, one.clone());
        }
        return operand;
    }
    let Some(reading) = reading(&operand, candidates) else { return operand };
    let name = if text { name_of(written) } else { None };
    let prepared = read_among_days(builder, &operand, candidates);
    for one in candidates.iter_mut().filter(|one| is_text(&one.kind.column)) {
        *one = known(
            builder,
            match reading {
                Reading::Date if prepared => {
                    called("date", moment_or_none, one.clone(), None, ColumnType::DateTime { fsp: 6 })
                }
                Reading::Date if !text => {
                    called("date", date_alone, one.clone(), None, ColumnType::DateTime { fsp: 6 })
                }
                Reading::Date => {
                    called("date", date_or_none, one.clone(), None, ColumnType::DateTime { fsp: 6 })
                }
                _ => read(one.clone(), reading, name.as_deref()),
            },
        );
    }
    match (text, reading) {
        (true, Reading::Moment) => read(operand, reading, name.as_deref()),
        // What a branch gives is unknown if it is no day or time.
        (true, Reading::Date) if is_chosen(&operand.expr) => {
            called("date", date_or_unknown, operand, None, ColumnType::DateTime { fsp: 6 })
        }
        (true, Reading::Time) if is_chosen(&operand.expr) => {
            called("time", time_or_unknown, operand, None, ColumnType::Time { fsp: 6 })
        }
        // A text that is no day or time is equal to none, not even to another such text.
        (true, Reading::Date) => {
            called("date", date_or_never, operand, None, ColumnType::DateTime { fsp: 6 })
        }
        (true, Reading::Time) => called("time", time_or_never, operand, None, ColumnType::Time { fsp: 6 }),
        (false, _) => operand,
    }
}

/// Whether a parameter is among the candidates of a date; those that do not fit are read as days then.
fn read_among_days(builder: &Builder<'_>, operand: &Typed, candidates: &mut [Typed]) -> bool {
    let days = operand.kind.column == ColumnType::Date && builder.resolver.is_prepared();
    let prepared = days && candidates.iter().any(|one| is_given(&one.expr));
    if prepared {
        candidates.iter_mut().for_each(|one| *one = among_days(one.clone()));
    }
    prepared
}

/// What is worked out of a literal, with what there is to tell of it; as it is, if it cannot be.
fn known(builder: &Builder<'_>, typed: Typed) -> Typed {
    let Expr::Call(call) = &typed.expr else { return typed };
    if !matches!(call.arguments.first(), Some(Expr::Literal(_))) {
        return typed;
    }
    let warnings = Warnings::new();
    let settings = *builder.settings;
    let context = EvalContext { settings, parameters: &[], session: &NoSession, warnings: &warnings };
    match typed.expr.eval(&NoRow, &context) {
        Ok(value) => {
            warnings.list().into_iter().for_each(|one| builder.resolver.warn(one.error));
            Typed { expr: Expr::Literal(value), kind: typed.kind }
        }
        Err(_) => typed,
    }
}

/// One of several values, or none, as IF, CASE and NULLIF give.
fn is_chosen(expr: &Expr) -> bool {
    match expr {
        Expr::Case { .. } | Expr::NullIf { .. } => true,
        Expr::WithOperand { of, .. } => is_chosen(of),
        _ => false,
    }
}

/// Texts of days among constant texts and dates that a year is one of are none.
pub(super) fn without_days(operand: &Typed, candidates: &mut [Typed]) {
    let known = |one: &Typed| is_settled(&one.expr) && !one.kind.column.is_numeric();
    if operand.kind.column == ColumnType::Year && candidates.iter().all(known) {
        candidates.iter_mut().filter(|one| says_day(one)).for_each(|one| *one = no_year());
    }
}

/// A literal text of a day, which among texts and dates is no year.
fn says_day(typed: &Typed) -> bool {
    match &typed.expr {
        Expr::Literal(Value::Str(text)) => {
            text.contains('-') && datetime::parse_date_time(text.as_bytes(), DateRules::LENIENT).is_some()
        }
        _ => false,
    }
}

/// What no year is equal to.
fn no_year() -> Typed {
    Typed { expr: Expr::int(-1), kind: ExprType::not_null(ColumnType::BIGINT) }
}

/// A moment that is no column, among numbers.
fn reads_moments(operand: &Typed, candidates: &[Typed]) -> bool {
    let moment = matches!(operand.kind.column, ColumnType::Date | ColumnType::DateTime { .. });
    let number = |kind: &ColumnType| kind.is_numeric() || *kind == ColumnType::Null;
    moment && !is_read(&operand.expr) && candidates.iter().all(|one| number(&one.kind.column))
}

/// A DATETIME reads all numbers as moments, a DATE only doubles.
fn is_read_as_moment(operand: &Typed, candidate: &Typed) -> bool {
    let double = matches!(candidate.kind.column, ColumnType::Double { .. } | ColumnType::Float { .. });
    candidate.kind.column.is_numeric() && (double || operand.kind.column != ColumnType::Date)
}

fn reads_whole(operand: &Typed, candidates: &[Typed]) -> bool {
    let other = |kind: &ColumnType| {
        is_text(kind)
            || is_date_or_time(kind)
            || matches!(kind, ColumnType::Double { .. } | ColumnType::Float { .. } | ColumnType::Null)
    };
    matches!(operand.kind.column, ColumnType::Int { .. })
        && !is_read(&operand.expr)
        && candidates.iter().all(|one| other(&one.kind.column))
        && candidates.iter().any(|one| one.kind.column != ColumnType::Null)
}

/// What texts among dates are; None if there are no dates, or other values too.
fn reading(operand: &Typed, candidates: &[Typed]) -> Option<Reading> {
    let kinds = || std::iter::once(operand).chain(candidates).map(|one| &one.kind.column);
    let fits = |kind: &ColumnType| is_text(kind) || is_date_or_time(kind) || *kind == ColumnType::Null;
    let of_moments = is_date_or_time(&operand.kind.column) && operand.kind.column != ColumnType::Date;
    if of_moments && is_read(&operand.expr) || !kinds().all(fits) {
        return None;
    }
    let any = |test: fn(&ColumnType) -> bool| kinds().any(test);
    let date = any(|kind| *kind == ColumnType::Date);
    let time = any(|kind| matches!(kind, ColumnType::Time { .. }));
    let moment = any(|kind| matches!(kind, ColumnType::DateTime { .. } | ColumnType::Timestamp { .. }));
    match (date, time, moment) {
        _ if operand.kind.column == ColumnType::Date => Some(Reading::Date),
        (false, false, false) => None,
        (true, false, false) => Some(Reading::Date),
        (false, true, false) => Some(Reading::Time),
        _ => Some(Reading::Moment),
    }
}

/// What a warning calls the column that a text was meant for.
pub(super) fn name_of(written: &ast::Expr) -> Option<String> {
    match written {
        ast::Expr::Column(name) => Some(name.column.to_string()),
        ast::Expr::Literal(ast::Literal::String(text)) => {
            Some(String::from_utf8_lossy(&text.bytes).into_owned())
        }
        _ => None,
    }
}

fn called(
    name: &'static str,
    function: ScalarFunction,
    operand: Typed,
    column: Option<&str>,
    kind: ColumnType,
) -> Typed {
    let column = column.map_or(Value::Null, Value::text);
    let call = Call::new(name, function, vec![operand.expr, Expr::Literal(column)], kind.clone());
    Typed { expr: call.into_expr(), kind: ExprType { column: kind, ..operand.kind } }
}

fn read(text: Typed, reading: Reading, name: Option<&str>) -> Typed {
    match reading {
        Reading::Date => called("date", date, text, None, ColumnType::DateTime { fsp: 6 }),
        Reading::Moment => called("timestamp", moment, text, name, ColumnType::DateTime { fsp: 6 }),
        Reading::Time => called("time", time, text, None, ColumnType::Time { fsp: 6 }),
    }
}

/// A text among dates that are not all known beforehand: the moment that it says, or the zero date.
pub(super) fn read_as_moment(text: Typed, name: Option<&str>) -> Typed {
    read(text, Reading::Moment, name)
}

/// A text among times that are not all known beforehand: the time that it says, or one that is equal to none.
pub(super) fn read_as_time(text: Typed) -> Typed {
    called("time", time_or_never, text, None, ColumnType::Time { fsp: 6 })
}

fn whole(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let value = &arguments[0];
    let Some(text) = value.as_raw_bytes().filter(|_| !value.is_null()) else {
        return Ok(if value.is_null() { Value::Null } else { Value::Int(to_i64(value, context)?) });
    };
    let (number, complete) = parse_integer_prefix(text);
    if !complete {
        context.warn(SqlError::truncated_wrong_value("INTEGER", shown_value(value)))?;
    }
    let signed = i64::try_from(number).map(Value::Int);
    Ok(signed.unwrap_or(if number < 0 {
        Value::Int(i64::MIN)
    } else {
        Value::UInt(u64::try_from(number).unwrap_or(u64::MAX))
    }))
}

/// A number as a moment; one that is none is equal to no moment.
fn moment_of_number(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let found = to_date_time(&arguments[0], context)?;
    Ok(Value::DateTime(found.unwrap_or_else(never)))
}

/// What no text says, and no candidate is.
fn never() -> datetime::DateTime {
    const HOURS: u32 = 24;
    datetime::DateTime::from_parts(datetime::Date::from_parts(9999, 12, 31), HOURS, 0, 0, 0, 6)
}

fn date_or_never(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    date_or(never(), &arguments[0], context)
}

fn date_or_unknown(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let text = &arguments[0];
    if text.is_null() {
        return Ok(Value::Null);
    }
    let written = to_bytes(text);
    let Some(found) = datetime::parse_date_time(&written, DateRules::LENIENT) else {
        context.warn(SqlError::truncated_wrong_value("date", shown_value(text)))?;
        return Ok(Value::Null);
    };
    tell_delimiter(&found, &written, 1, context);
    Ok(Value::DateTime(apply_offset(found.moment, found.offset_seconds, context)))
}

fn time_or_unknown(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    match &arguments[0] {
        Value::Null => Ok(Value::Null),
        text => Ok(to_time(text, context)?.map_or(Value::Null, Value::Time)),
    }
}

/// A candidate that is no date, which differs from an operand that is none.
fn date_or_none(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let none = datetime::DateTime::from_parts(never().date(), 24, 1, 0, 0, 6);
    date_or(none, &arguments[0], context)
}

/// A candidate beside dates: a time of day, an offset or what follows the date is told of, and what is no
/// date is equal to none.
fn date_alone(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let text = &arguments[0];
    if text.is_null() {
        return Ok(Value::Null);
    }
    let written = to_bytes(text);
    let tell = || context.warn(SqlError::truncated_wrong_value("date", shown_value(text)));
    // A month or a day of zero is found in columns of any mode; the zero date is none where the mode refuses
    // it.
    let rules =
        datetime::DateRules { zero_date: context.compared_date_rules().zero_date, ..context.date_rules() };
    let Some(parsed) = datetime::parse_date_time(&written, rules) else {
        tell()?;
        return Ok(Value::DateTime(never()));
    };
    tell_delimiter(&parsed, &written, 1, context);
    let moment = apply_offset(parsed.moment, parsed.offset_seconds, context);
    if parsed.truncated || parsed.offset_seconds.is_some() || moment != moment.date().at_midnight() {
        tell()?;
    }
    Ok(Value::DateTime(moment))
}

/// A candidate beside dates among which is a parameter, which is a moment: so are the others. A day that no
/// month has is told of by nobody.
fn moment_or_none(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let text = &arguments[0];
    if text.is_null() {
        return Ok(Value::Null);
    }
    let written = to_bytes(text);
    let parsed = datetime::parse_date_time(&written, DateRules { invalid: true, ..DateRules::LENIENT });
    let truncated = || SqlError::truncated_wrong_value("date", shown_value(text));
    let Some(parsed) = parsed else {
        context.warn(truncated())?;
        return Ok(Value::DateTime(never()));
    };
    if parsed.truncated {
        context.warn(truncated())?;
    }
    Ok(Value::DateTime(apply_offset(parsed.moment, parsed.offset_seconds, context)))
}

fn date_or(none: datetime::DateTime, text: &Value, context: &EvalContext<'_>) -> SqlResult<Value> {
    let found = moment_beside(text, "date", context)?;
    let is_date = datetime::parse_date_time(&to_bytes(text), context.compared_date_rules()).is_some();
    Ok(if is_date || text.is_null() { found } else { Value::DateTime(none) })
}

fn time_or_never(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    if arguments[0].is_null() {
        return Ok(Value::Null);
    }
    let beyond = datetime::Time { us: datetime::TIME_MAX_US + 1, fsp: 6 };
    Ok(Value::Time(to_time(&arguments[0], context)?.unwrap_or(beyond)))
}

fn date(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    moment_beside(&arguments[0], "date", context)
}

fn moment(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let [text, Value::Str(name)] = arguments else {
        return moment_beside(&arguments[0], "datetime", context);
    };
    if text.is_null() {
        return Ok(Value::Null);
    }
    let written = to_bytes(text);
    Ok(Value::DateTime(match datetime::parse_date_time(&written, context.compared_date_rules()) {
        Some(parsed) => {
            tell_delimiter(&parsed, &written, 1, context);
            apply_offset(parsed.moment, parsed.offset_seconds, context)
        }
        None => {
            context.warn(SqlError::incorrect_value_for_column("datetime", shown_value(text), name, 1))?;
            datetime::DateTime::ZERO
        }
    }))
}

fn time(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    match &arguments[0] {
        Value::Null => Ok(Value::Null),
        text => Ok(Value::Time(to_time(text, context)?.unwrap_or_default())),
    }
}
