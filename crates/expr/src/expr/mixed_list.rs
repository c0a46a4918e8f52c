//! The candidates of IN that are not all known beforehand, with dates or times among them.
//!
//! | operand | candidates | compared as |
//! |---|---|---|
//! | a number | dates, times | numbers |
//! | a text | dates or times, and numbers | texts, and numbers |
//! | a text, a date | texts and dates | moments; what says none is the zero date |
//! | a text, a time | texts and times | times; what says none is equal to none |
//! | a date, a column of times | numbers and others | each as what it has in common with the operand |
//! | another time | numbers and dates | numbers, and times |

use turnstile_syntax::ast;
use turnstile_values::error::SqlResult;
use turnstile_values::mixing::Purpose;
use turnstile_values::types::ColumnType;

use super::beside_column::time_of_moment;
use super::build::{Builder, any_nullable, truth};
use super::candidates::{is_date_or_time, is_text, name_of, read_as_moment, read_as_time};
use super::class::{as_double, coerced, is_column, is_moment, is_settled, is_time};
use super::{Expr, Typed};
use crate::expr::{class, condition};

fn is_null(kind: &ColumnType) -> bool {
    *kind == ColumnType::Null
}

/// Turns candidates into what they are compared as; gives the operand as that too.
pub(super) fn mixed_candidates(
    builder: &Builder<'_>,
    written: &ast::Expr,
    operand: Typed,
    candidates: &mut [Typed],
) -> Typed {
    let settled = candidates.iter().all(|one| is_settled(&one.expr));
    let any = |candidates: &[Typed], test: fn(&ColumnType) -> bool| {
        candidates.iter().any(|one| test(&one.kind.column))
    };
    let numbers = any(candidates, ColumnType::is_numeric);
    let kind = &operand.kind.column;
    if kind.is_numeric() {
        let read = candidates.iter_mut().filter(|one| is_moment(&one.kind.column));
        read.for_each(|one| *one = coerced(one.clone(), ColumnType::DOUBLE));
        return operand;
    }
    let moments = any(candidates, is_moment);
    if candidates.len() < 2 || settled && !(is_time(kind) && moments) {
        return operand;
    }
    if numbers {
        if is_text(kind) {
            let read = candidates.iter_mut().filter(|one| is_date_or_time(&one.kind.column));
            read.for_each(|one| *one = class::as_text(builder, one.clone()));
        }
        return operand;
    }
    if !(is_text(kind) || any(candidates, is_text) && is_date_or_time(kind)) {
        return operand;
    }
    if is_moment(kind) || moments {
        let read = candidates.iter_mut().filter(|one| is_text(&one.kind.column));
        let name = if is_time(kind) { name_of(written) } else { None };
        read.for_each(|one| *one = read_as_moment(one.clone(), name.as_deref()));
        return if is_text(&operand.kind.column) { read_as_moment(operand, None) } else { operand };
    }
    if is_text(kind) && !any(candidates, is_time) {
        return operand;
    }
    let read = candidates.iter_mut().filter(|one| is_text(&one.kind.column));
    read.for_each(|one| *one = read_as_time(one.clone()));
    if is_text(kind) { read_as_time(operand) } else { operand }
}

/// The candidates that are numbers, beside the number that the operand is, and the others.
pub(super) fn in_two_lists(
    builder: &Builder<'_>,
    operand: &Typed,
    candidates: Vec<Typed>,
    negated: bool,
) -> SqlResult<Typed> {
    let (numbers, others): (Vec<Typed>, Vec<Typed>) =
        candidates.into_iter().partition(|one| one.kind.column.is_numeric());
    let time = is_time(&operand.kind.column);
    let computed = time && !is_column(operand);
    // A day or a moment beside a column of times and numbers is a text, but a constant moment its time of
    // day. Beside a time that is computed all are times, a day what its text says.
    let read = |one: Typed| match &one.kind.column {
        kind if time && is_text(kind) => read_as_time(one),
        ColumnType::Date if computed => read_as_time(class::as_text(builder, one)),
        kind if computed && is_moment(kind) => time_of_moment(one),
        ColumnType::DateTime { .. } if time && is_settled(&one.expr) => time_of_moment(one),
        kind if time && is_moment(kind) => class::as_text(builder, one),
        _ => one,
    };
    let lists =
        [(as_double(operand.clone()), numbers), (operand.clone(), others.into_iter().map(read).collect())];
    let (mut any, mut nullable) = (Vec::new(), false);
    for (operand, candidates) in lists {
        let parts = std::iter::once(operand).chain(candidates).collect();
        let (parts, collation) = condition::agreed(builder, " IN ", Purpose::Comparison, parts)?;
        nullable |= any_nullable(&parts);
        let mut parts = parts.into_iter().map(|part| part.expr);
        let operand = Box::new(parts.next().expect("the operand is the first"));
        any.push(Expr::InList { operand, list: parts.collect(), collation, negated: false });
    }
    let any = Expr::Or(any);
    Ok(truth(if negated { Expr::Not(Box::new(any)) } else { any }, nullable))
}

/// A date or a time among numbers and others, or among numbers that are not all known beforehand.
pub(super) fn is_of_two_classes(operand: &Typed, candidates: &[Typed]) -> bool {
    let kind = &operand.kind.column;
    let number = |one: &Typed| one.kind.column.is_numeric();
    let moment = |one: &Typed| is_moment(&one.kind.column);
    let fits = is_moment(kind) || is_time(kind) && (is_column(operand) || candidates.iter().any(moment));
    let alike =
        candidates.iter().all(|one| is_settled(&one.expr) && (number(one) || is_null(&one.kind.column)));
    fits && candidates.iter().any(number) && !alike
}
