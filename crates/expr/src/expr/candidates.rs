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

mod read;

use turnstile_syntax::ast;
use turnstile_values::datetime::{self, DateRules};
use turnstile_values::types::{ColumnType, ExprType};
use turnstile_values::value::Value;

use super::beside_column::{is_computed, of_moment_in_list};
use super::build::Builder;
use super::class::is_settled;
use super::parameter::{among_days, is_given};
use super::{EvalContext, Expr, NoRow, NoSession, Typed, Warnings};
use crate::expr::class;
use read::{
    called, date_alone, date_or_never, date_or_none, date_or_unknown, moment_of_number, moment_or_none, read,
    time_or_never, time_or_unknown, whole,
};
pub(super) use read::{name_of, read_as_moment, read_as_time};

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

/// A number that is worked out of literals, as that number. One that cannot be, or has something to tell
/// of, stays as it is.
pub(super) fn worked_out(builder: &Builder<'_>, typed: Typed) -> Typed {
    let mut plain = typed.kind.column.is_numeric() && is_computed(&typed.expr);
    typed.expr.walk(&mut |one| {
        plain &= matches!(one, Expr::Literal(_) | Expr::Negate { .. } | Expr::Arithmetic { .. });
    });
    if !plain {
        return typed;
    }
    let warnings = Warnings::new();
    let settings = *builder.settings;
    let context = EvalContext { settings, parameters: &[], session: &NoSession, warnings: &warnings };
    match typed.expr.eval(&NoRow, &context) {
        Ok(value) if warnings.list().is_empty() => Typed { expr: Expr::Literal(value), kind: typed.kind },
        _ => typed,
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
