//! In which class values are compared, where their types differ. It is settled when an expression is bound:
//! operands that are compared as something else than they are become that here, so that nothing is asked of a
//! row, and a key is not used where its order is not the comparison's.

use turnstile_syntax::ast::IsTest;
use turnstile_values::collation::Collation;
use turnstile_values::datetime::{self, DateRules};
use turnstile_values::error::SqlResult;
use turnstile_values::types::{BlobSize, ColumnType, ExprType};
use turnstile_values::value::{Value, delimiter_warning, spelt_whole};

use super::beside_column::{
    MOMENT_MIN, day_of_text, first_of_year, in_full, is_no_time, moment_of_number, time_of_literal,
    time_of_moment, time_of_number, time_put_in, whole_number,
};
use super::build::Builder;
use super::long_text::read_silently;
use super::misfit::{constants_told_once, told_once};
use super::moment_text::{is_sum, number_said};
use super::{Call, CompareOp, EvalContext, Expr, Meeting, SqlMode, Typed, shown_digits};
use crate::expr::offset;
use crate::functions::Wanted;

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

fn has_parameter(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |one| found |= matches!(one, Expr::Parameter(_)));
    found
}

fn gives_year(expr: &Expr) -> bool {
    match expr {
        Expr::Parameter(_) => true,
        Expr::Call(call) if matches!(call.name, "abs" | "ceil" | "ceiling" | "floor") => {
            call.arguments.iter().all(gives_year)
        }
        _ => false,
    }
}

pub(super) fn is_time_column(typed: &Typed) -> bool {
    is_column(typed) && is_time(&typed.kind.column)
}

/// What a column of times is compared with: of a constant date or moment its time of day, of a constant
/// document the time that it says, of a literal with more digits than the column keeps the time that it
/// keeps.
fn as_time_of_constant(column: &ColumnType, typed: Typed) -> Typed {
    let moment = is_moment(&typed.kind.column) || is_document(&typed.kind.column);
    if let Expr::Literal(Value::Str(_) | Value::Decimal(_) | Value::Double(_)) = &typed.expr
        && let (read, ColumnType::Time { fsp }) = (time_of_literal(typed.clone()), column)
        && let Expr::Literal(Value::Time(said)) = read.expr
        && said.round_to(*fsp).us != said.us
    {
        return Typed { expr: Expr::Literal(Value::Time(said.round_to(*fsp))), ..read };
    }
    match &typed.expr {
        Expr::Literal(value) if whole_number(value).is_some_and(|whole| whole >= MOMENT_MIN) => {
            time_of_literal(typed)
        }
        expr if moment && is_settled(expr) => time_of_moment(typed),
        _ => time_of_number(typed),
    }
}

/// A column of DECIMALs or of inexact numbers.
fn is_fractional(typed: &Typed) -> bool {
    let kind = &typed.kind.column;
    is_column(typed)
        && kind.is_numeric()
        && !matches!(kind, ColumnType::Int { .. } | ColumnType::Year)
        && !matches!(kind, ColumnType::Bit { .. })
}

pub(super) fn is_whole(typed: &Typed) -> bool {
    is_column(typed) && matches!(typed.kind.column, ColumnType::Int { .. })
}

/// A constant beside a column of whole numbers: a text that spells a whole number is that number, all its
/// digits.
pub(super) fn as_whole(typed: Typed) -> Typed {
    if !typed.kind.column.is_character() || is_document(&typed.kind.column) || !is_settled(&typed.expr) {
        return typed;
    }
    if let Expr::Literal(value) = &typed.expr {
        return match spelt_whole(value) {
            Some(number) => {
                Typed { expr: Expr::Literal(number), kind: ExprType::not_null(ColumnType::BIGINT) }
            }
            None => typed,
        };
    }
    let call = Call::new("round", whole_if_spelt, vec![typed.expr], typed.kind.column.clone());
    Typed { expr: call.into_expr(), kind: typed.kind }
}

fn whole_if_spelt(_: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    Ok(spelt_whole(&arguments[0]).unwrap_or_else(|| arguments[0].clone()))
}

/// IF and CASE read as a number: that of the branch that was taken, which for a date or a member of an ENUM
/// is not the number its text begins with. So is that of a sum of a text and a time.
pub fn of_branch_taken(typed: Typed) -> Typed {
    let typed = super::misfit::untold(typed);
    let column = &typed.kind.column;
    if !(column.is_string() || column.is_temporal()) || *column == ColumnType::Json {
        return typed;
    }
    if !has_moments(&typed.expr, column) {
        return typed;
    }
    let own = column.clone();
    let column = if own.is_temporal() { own.clone() } else { ColumnType::DOUBLE };
    Typed { expr: as_numbers(typed.expr, &own), kind: ExprType { column, ..typed.kind } }
}

/// The same of a condition: it holds by that number.
pub fn held_by_branch(typed: Typed) -> Typed {
    of_branch_taken(super::misfit::untold_bytes(typed))
}

/// Whether some branch of CASE is a date, a time or a member of an ENUM or SET among values of other types.
fn has_moments(expr: &Expr, own: &ColumnType) -> bool {
    match expr {
        Expr::Case { branches, otherwise, kind } => {
            let is_moment = |expr: &Expr| match expr {
                Expr::Coerce { to, .. } if to == kind => true,
                other => has_moments(other, kind),
            };
            branches.iter().map(|(_, then)| then).chain(otherwise.as_deref()).any(is_moment)
        }
        Expr::NullIf { left, .. } => has_moments(left, own),
        other => own.is_character() && is_sum(other),
    }
}

/// `own`: the type of the value.
fn as_numbers(expr: Expr, own: &ColumnType) -> Expr {
    match expr {
        Expr::Case { branches, otherwise, kind } => {
            let own = |expr: Expr| match expr {
                Expr::Coerce { operand, to } if to == kind => as_numbers(*operand, &ColumnType::Null),
                other => as_numbers(other, &kind),
            };
            // A date is the number that it says wherever it is computed with.
            let read_as = if kind.is_temporal() { ColumnType::Null } else { ColumnType::DOUBLE };
            let branches = branches.into_iter().map(|(when, then)| (when, own(then))).collect();
            let otherwise = otherwise.map(|otherwise| Box::new(own(*otherwise)));
            Expr::Case { branches, otherwise, kind: read_as }
        }
        // The sum is compared as the text that it is.
        Expr::NullIf { left, right, collation } if own.is_character() && is_sum(&left) => {
            let given = number_said((*left).clone());
            let operand = Box::new(Expr::NullIf { left, right, collation });
            let absent = Expr::Is { operand, test: IsTest::Null, negated: false };
            let branches = vec![(absent, Expr::Literal(Value::Null))];
            Expr::Case { branches, otherwise: Some(Box::new(given)), kind: ColumnType::DOUBLE }
        }
        Expr::NullIf { left, right, collation } => {
            Expr::NullIf { left: Box::new(as_numbers(*left, own)), right, collation }
        }
        sum if own.is_character() && is_sum(&sum) => number_said(sum),
        other => other,
    }
}

/// A decimal of CASE has the digits of the branch that was taken, unless something keeps it or computes with
/// it: then it has those of its type.
pub fn with_all_digits(typed: Typed) -> Typed {
    if !has_own_digits(&typed.expr) || !matches!(typed.kind.column, ColumnType::Decimal { .. }) {
        return typed;
    }
    let to = typed.kind.column.clone();
    Typed { expr: Expr::Coerce { operand: Box::new(typed.expr), to }, kind: typed.kind }
}

fn has_own_digits(expr: &Expr) -> bool {
    match expr {
        Expr::Case { .. } | Expr::Parameter(_) | Expr::UserVariable(_) => true,
        Expr::NullIf { left, .. } => has_own_digits(left),
        _ => false,
    }
}
