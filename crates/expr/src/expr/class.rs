//! In which class values are compared, where their types differ. It is settled when an expression is bound:
//! operands that are compared as something else than they are become that here, so that nothing is asked of a
//! row, and a key is not used where its order is not the comparison's.

mod reading;

use turnstile_values::collation::Collation;
use turnstile_values::datetime::{self, DateRules};
use turnstile_values::types::{BlobSize, ColumnType, ExprType};
use turnstile_values::value::{Value, delimiter_warning};

use super::beside_column::{day_of_text, first_of_year, in_full, is_no_time, moment_of_number, time_put_in};
use super::build::Builder;
use super::long_text::read_silently;
use super::misfit::{constants_told_once, told_once};
use super::{CompareOp, Expr, Meeting, SqlMode, Typed, shown_digits};
use crate::expr::offset;
use crate::functions::Wanted;
use reading::{as_time_of_constant, gives_year, has_parameter, is_fractional};
pub(super) use reading::{as_whole, is_time_column, is_whole};
pub use reading::{held_by_branch, of_branch_taken, with_all_digits};

pub(super) fn is_document(kind: &ColumnType) -> bool {
    *kind == ColumnType::Json
}

pub(super) fn is_moment(kind: &ColumnType) -> bool {
    matches!(kind, ColumnType::Date | ColumnType::DateTime { .. } | ColumnType::Timestamp { .. })
}

fn is_text(kind: &ColumnType) -> bool {
    kind.is_string() && !is_document(kind)
}

pub(super) fn is_time(kind: &ColumnType) -> bool {
    matches!(kind, ColumnType::Time { .. })
}

pub(super) fn is_column(typed: &Typed) -> bool {
    matches!(typed.expr, Expr::Column(_) | Expr::TimestampColumn(_))
}

/// The same value in another type.
pub(super) fn coerced(typed: Typed, to: ColumnType) -> Typed {
    let kind = ExprType { column: to.clone(), ..typed.kind };
    Typed { expr: Expr::Coerce { operand: Box::new(typed.expr), to }, kind }
}

/// A document as its text.
pub(super) fn text_of_document(typed: Typed) -> Typed {
    coerced(typed, ColumnType::Text { size: BlobSize::Long, collation: Collation::Utf8mb4Bin })
}

pub(super) fn as_double(typed: Typed) -> Typed {
    let typed = read_silently(typed, Wanted::Double);
    if typed.kind.column.is_numeric() { typed } else { coerced(typed, ColumnType::DOUBLE) }
}

/// Known before the first row, as a constant, a parameter or a variable is.
pub(super) fn is_settled(expr: &Expr) -> bool {
    matches!(expr, Expr::UserVariable(_)) || expr.is_constant()
}

/// A value as the text that it is shown as.
pub(super) fn as_text(builder: &Builder<'_>, typed: Typed) -> Typed {
    let document = is_document(&typed.kind.column);
    let collation = if document { Collation::Utf8mb4Bin } else { builder.settings.connection_collation };
    let length = typed.kind.column.text_length();
    coerced(typed, ColumnType::Varchar { length, collation })
}

/// Two operands of a comparison. A year is compared with the year that two digits mean; a TIME and a text
/// are compared as texts, unless a column meets a constant.
pub(super) fn of_one_class(
    builder: &Builder<'_>,
    op: CompareOp,
    left: Typed,
    right: Typed,
) -> (Typed, Typed) {
    builder.resolver.compare(Meeting::Pair, &[&left, &right]);
    let texts = |time: &Typed, text: &Typed| {
        is_time(&time.kind.column)
            && is_text(&text.kind.column)
            && !(is_column(time) && is_settled(&text.expr) && !is_no_time(text))
    };
    if texts(&left, &right) {
        return (as_text(builder, left), right);
    }
    if texts(&right, &left) {
        let right = as_text(builder, right);
        return (left, right);
    }
    if is_time_column(&left) {
        let right = beside_time(builder, op, &left.kind.column, right);
        return constants_told_once(left, right);
    }
    if is_time_column(&right) {
        let left = beside_time(builder, op, &right.kind.column, left);
        return constants_told_once(left, right);
    }
    let (left, right) = of_years_and_moments(builder, op, left, right);
    let (left, right) = match builder.resolver.is_prepared() && builder.resolver.condition_clause().is_some()
    {
        true if is_fractional(&left) => (left, super::parameter::read_once(right)),
        true if is_fractional(&right) => (super::parameter::read_once(left), right),
        _ => (left, right),
    };
    constants_told_once(left, right)
}

fn of_years_and_moments(builder: &Builder<'_>, op: CompareOp, left: Typed, right: Typed) -> (Typed, Typed) {
    if is_moment(&left.kind.column) {
        return beside_moment(builder, left, right);
    }
    if is_moment(&right.kind.column) {
        let (right, left) = beside_moment(builder, right, left);
        return (left, right);
    }
    if is_whole(&left) {
        return (left, as_whole(right));
    }
    if is_whole(&right) {
        return (as_whole(left), right);
    }
    // What a year is to be equal to where rows are looked for is put into its column before it is
    // compared.
    if is_year(builder, &left) {
        return (
            left,
            if is_put_in(builder, op, &right) { in_full(right) } else { year_said(builder, right) },
        );
    }
    if is_year(builder, &right) {
        return (if is_put_in(builder, op, &left) { in_full(left) } else { year_said(builder, left) }, right);
    }
    shown_digits::beside(left, right)
}

/// A constant that a column of times is compared with. What a `?` gives is put into the column where rows
/// are to be equal to it; a date that it gives is that day's midnight beside the times of today.
fn beside_time(builder: &Builder<'_>, op: CompareOp, column: &ColumnType, typed: Typed) -> Typed {
    if !builder.resolver.is_prepared() || !matches!(typed.expr, Expr::Parameter(_)) {
        return as_time_of_constant(column, typed);
    }
    let sought = op == CompareOp::Equal && builder.resolver.condition_clause().is_some();
    match &typed.kind.column {
        ColumnType::Date => typed,
        ColumnType::Time { .. } | ColumnType::DateTime { .. } if sought => time_put_in(column, typed),
        kind if sought && is_text(kind) => time_put_in(column, typed),
        _ => as_time_of_constant(column, typed),
    }
}

/// Whether what a year is compared with is put into its column first. Of what a `?` gives only what is to
/// be equal where rows are read, and is of the year's type: the `?` itself, or one without its sign or
/// its fraction.
fn is_put_in(builder: &Builder<'_>, op: CompareOp, typed: &Typed) -> bool {
    let clause = builder.resolver.condition_clause();
    let equal = matches!(op, CompareOp::Equal | CompareOp::NotEqual) && clause.is_some();
    if !equal || !is_given(builder, &typed.expr) {
        return equal;
    }
    let whole = matches!(typed.kind.column, ColumnType::Year | ColumnType::Int { .. });
    op == CompareOp::Equal && clause != Some("having clause") && whole && gives_year(&typed.expr)
}

/// Whether a `?` or a variable gives it.
fn is_given(builder: &Builder<'_>, expr: &Expr) -> bool {
    let prepared = builder.resolver.is_prepared();
    let mut given = false;
    expr.walk(&mut |one| {
        given |= matches!(one, Expr::UserVariable(_)) || prepared && matches!(one, Expr::Parameter(_));
    });
    given
}

/// A date and what it is compared with. A constant number beside a column of dates is the date that it
/// says; any other number is compared with the number that the date is. A year that is no constant is the
/// moment before its first day.
fn beside_moment(builder: &Builder<'_>, moment: Typed, other: Typed) -> (Typed, Typed) {
    let settled = is_settled(&other.expr);
    if is_year(builder, &other) && is_settled(&moment.expr) {
        // The year of what a `?` gives is not known when the statement is resolved.
        return match builder.resolver.is_prepared() && has_parameter(&moment.expr) {
            true => (coerced(moment, ColumnType::DOUBLE), other),
            false => (in_full(moment), other),
        };
    }
    if other.kind.column == ColumnType::Year && !settled {
        return (moment, first_of_year(other));
    }
    if other.kind.column.is_numeric() {
        return match is_column(&moment) && is_known(builder, &other.expr) {
            true => (moment.clone(), moment_of_number(&moment.kind.column, other)),
            false => (coerced(moment, ColumnType::DOUBLE), other),
        };
    }
    let changes = !settled && !is_settled(&moment.expr);
    if changes
        && builder.resolver.reads_days()
        && moment.kind.column == ColumnType::Date
        && is_text(&other.kind.column)
    {
        return (moment, day_of_text(other));
    }
    let other = offset::offset_beside(builder, &moment, other);
    (moment, super::parameter::compared(told_moment(builder, given_moment(builder, other))))
}

/// Whether MySQL knows a number when it resolves the statement: no variable, and nothing that is made of
/// a `?`, which is a date where it stands beside one alone.
fn is_known(builder: &Builder<'_>, expr: &Expr) -> bool {
    expr.is_constant() && !(builder.resolver.is_prepared() && has_parameter(expr))
}

/// Whether it is a year as a table keeps it: MAX(y) and YEAR(d) are numbers, and two digits beside them
/// no year.
pub(super) fn is_year(builder: &Builder<'_>, typed: &Typed) -> bool {
    match typed.expr {
        Expr::Column(at) => typed.kind.column == ColumnType::Year && builder.resolver.is_stored(at),
        _ => false,
    }
}

/// What is beside a year; what a `?` or a variable gives has all its digits.
pub(super) fn year_said(builder: &Builder<'_>, typed: Typed) -> Typed {
    if is_given(builder, &typed.expr) { typed } else { in_full(typed) }
}

/// A text parameter beside a date: the date that it says, or NULL with a warning.
pub(super) fn given_moment(builder: &Builder<'_>, typed: Typed) -> Typed {
    let is_text = matches!(typed.expr, Expr::Parameter(_)) && typed.kind.column.is_string();
    if is_text && builder.resolver.is_prepared() {
        coerced(typed, ColumnType::DateTime { fsp: 6 })
    } else {
        typed
    }
}

/// A literal beside a date: one with a deprecated delimiter is read, and told of, once for all rows.
pub(super) fn told_moment(builder: &Builder<'_>, typed: Typed) -> Typed {
    let Expr::Literal(Value::Str(text)) = &typed.expr else { return typed };
    let rules = DateRules { invalid: false, ..DateRules::LENIENT };
    let found = datetime::parse_date_time(text.as_bytes(), rules);
    let Some(found) = found.filter(|found| found.delimiter.is_some() && found.offset_seconds.is_none())
    else {
        return typed;
    };
    // Of what is no date only that is told.
    if found.moment.date().has_zero_part() && builder.settings.sql_mode.has(SqlMode::NO_ZERO_IN_DATE) {
        return typed;
    }
    if let Some(warning) = delimiter_warning(&found, text.as_bytes(), 1) {
        builder.resolver.warn(warning);
    }
    let column = ColumnType::DateTime { fsp: found.moment.fsp };
    Typed { expr: Expr::Literal(Value::DateTime(found.moment)), kind: ExprType::new(column, false) }
}

/// The operand of IN with several candidates: beside numbers only, a text is one number. Beside a column
/// of whole numbers, texts that spell one are that; a long list finds them by their keys all the same.
pub(super) fn in_class(operand: Typed, candidates: &mut [Typed]) -> Typed {
    // MySQL reads candidates of one type once.
    let texts = candidates.len() < super::LOOKED_UP_MIN
        && candidates.iter().all(|one| one.kind.column.is_character() && is_settled(&one.expr));
    let whole = is_whole(&operand);
    if whole {
        let short = candidates.len() < super::LOOKED_UP_MIN;
        for candidate in candidates.iter_mut().filter(|one| short || matches!(one.expr, Expr::Literal(_))) {
            *candidate = as_whole(candidate.clone());
        }
    }
    if texts && is_column(&operand) && operand.kind.column.is_numeric() {
        candidates.iter_mut().for_each(|one| *one = told_once(one.clone()));
    }
    if whole {
        return operand;
    }
    let kind = &operand.kind.column;
    let number = |typed: &Typed| typed.kind.column.is_numeric() || typed.kind.column == ColumnType::Null;
    let text = kind.is_string() && !is_document(kind);
    if text && candidates.iter().all(number) { as_double(of_branch_taken(operand)) } else { operand }
}
