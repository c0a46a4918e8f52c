//! One operand read in the class of the comparison: years, times of constants, whole numbers, numbers of
//! branches.

use turnstile_syntax::ast::IsTest;
use turnstile_values::error::SqlResult;
use turnstile_values::types::{ColumnType, ExprType};
use turnstile_values::value::{Value, spelt_whole};

use super::super::beside_column::{
    MOMENT_MIN, time_of_literal, time_of_moment, time_of_number, whole_number,
};
use super::super::moment_text::{is_sum, number_said};
use super::super::{Call, EvalContext, Expr, Typed};
use super::{is_column, is_document, is_moment, is_settled, is_time};

pub(super) fn has_parameter(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |one| found |= matches!(one, Expr::Parameter(_)));
    found
}

pub(super) fn gives_year(expr: &Expr) -> bool {
    match expr {
        Expr::Parameter(_) => true,
        Expr::Call(call) if matches!(call.name, "abs" | "ceil" | "ceiling" | "floor") => {
            call.arguments.iter().all(gives_year)
        }
        _ => false,
    }
}

/// A column of times of day.
pub fn is_time_column(typed: &Typed) -> bool {
    is_column(typed) && is_time(&typed.kind.column)
}

/// What a column of times is compared with: of a constant date or moment its time of day, of a constant
/// document the time that it says, of a literal with more digits than the column keeps the time that it
/// keeps.
pub(super) fn as_time_of_constant(column: &ColumnType, typed: Typed) -> Typed {
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
pub(super) fn is_fractional(typed: &Typed) -> bool {
    let kind = &typed.kind.column;
    is_column(typed)
        && kind.is_numeric()
        && !matches!(kind, ColumnType::Int { .. } | ColumnType::Year)
        && !matches!(kind, ColumnType::Bit { .. })
}

/// A column of whole numbers, the years apart.
pub fn is_whole(typed: &Typed) -> bool {
    is_column(typed) && matches!(typed.kind.column, ColumnType::Int { .. })
}

/// A constant beside a column of whole numbers: a text that spells a whole number is that number, all its
/// digits.
pub fn as_whole(typed: Typed) -> Typed {
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
    let typed = crate::expr::misfit::untold(typed);
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
    of_branch_taken(crate::expr::misfit::untold_bytes(typed))
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
