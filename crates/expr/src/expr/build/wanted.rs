//! Expressions bound for a place that wants a number, a moment, or what a column holds.

use turnstile_syntax::ast;
use turnstile_values::error::SqlResult;
use turnstile_values::types::{ColumnType, ExprType};
use turnstile_values::value::Value;

use super::super::literal::{number_of_hex, with_numbers_of_hex};
use super::super::long_text::read_silently;
use super::super::misfit::untold_text;
use super::super::{Expr, IsTest, Typed};
use super::call::source_of;
use super::{Builder, boxed};
use crate::expr::class;
use crate::functions::{self, Wanted};

/// A hex literal as the number that it is among numbers, also one that NULLIF gives.
pub fn hex_number(builder: &mut Builder<'_>, expr: &ast::Expr) -> SqlResult<Option<Typed>> {
    if let ast::Expr::Function(call) = expr
        && &*call.name == "nullif"
        && let [first, _] = call.arguments.as_slice()
        && let Some(number) = hex_number(builder, first)?
    {
        let operand = boxed(builder.build(expr)?);
        let absent = Expr::Is { operand, test: IsTest::Null, negated: false };
        let kind = ExprType { nullable: true, ..number.kind.clone() };
        let expr = Expr::Case {
            branches: vec![(absent, Expr::Literal(Value::Null))],
            otherwise: Some(boxed(number)),
            kind: kind.column.clone(),
        };
        return Ok(Some(Typed { expr, kind }));
    }
    Ok(number_of_hex(expr))
}

/// Binds what is no operand of arithmetic: hex literals are numbers here, documents documents.
pub fn plain(builder: &mut Builder<'_>, expr: &ast::Expr) -> SqlResult<Typed> {
    match hex_number(builder, expr)? {
        Some(number) => Ok(number),
        None => builder.build(expr),
    }
}

/// Binds an operand of arithmetic: hex literals are numbers here, documents doubles.
pub fn number(builder: &mut Builder<'_>, expr: &ast::Expr) -> SqlResult<Typed> {
    number_for(builder, expr, Wanted::Double)
}

/// The same; what is no number by itself becomes one of the wanted kind.
pub fn number_for(builder: &mut Builder<'_>, expr: &ast::Expr, wanted: Wanted) -> SqlResult<Typed> {
    if let Some(number) = hex_number(builder, expr)? {
        return Ok(number);
    }
    if let Some(chosen) = with_numbers_of_hex(expr) {
        let typed = crate::expr::class::of_branch_taken(builder.build(&chosen)?);
        return Ok(crate::expr::class::coerced(typed, ColumnType::DOUBLE));
    }
    let typed = builder.build(expr)?;
    Ok(bound_as_number(builder, expr, typed, wanted))
}

/// The same of an operand that is bound.
pub fn bound_as_number(builder: &Builder<'_>, expr: &ast::Expr, typed: Typed, wanted: Wanted) -> Typed {
    let typed = crate::expr::choice::of_full_width(typed, builder.resolver);
    let mut typed = crate::expr::class::of_branch_taken(typed);
    if wanted != Wanted::Double {
        typed = crate::expr::moment_text::with_all_digits(typed);
    }
    if let ast::Expr::Function(call) = expr
        && matches!(&*call.name, "max" | "min" | "any_value")
    {
        typed = untold_text(typed);
    }
    if matches!(typed.expr, Expr::Column(at) if !builder.resolver.is_kept(at)) {
        return functions::as_number(typed, wanted, source_of(expr));
    }
    read_silently(functions::as_number(typed, wanted, source_of(expr)), wanted)
}

/// Binds what is cast to a whole number: of a text, the one that it begins with.
pub fn whole_number(builder: &mut Builder<'_>, expr: &ast::Expr) -> SqlResult<Typed> {
    if let Some(number) = hex_number(builder, expr)? {
        return Ok(number);
    }
    let typed = builder.build(expr)?;
    let typed =
        if typed.kind.column.is_string() { typed } else { crate::expr::class::of_branch_taken(typed) };
    Ok(functions::as_number(typed, Wanted::Integer, source_of(expr)))
}

/// Binds what is read as a date or a time: documents are its text.
pub fn temporal(builder: &mut Builder<'_>, expr: &ast::Expr, wanted: &'static str) -> SqlResult<Typed> {
    Ok(functions::as_temporal(builder.build(expr)?, wanted, source_of(expr)))
}

/// Binds a value for a column of this type: hex literals are numbers for numeric columns.
pub(super) fn build_for(builder: &mut Builder<'_>, expr: &ast::Expr, kind: &ColumnType) -> SqlResult<Typed> {
    if kind.is_numeric() && !matches!(kind, ColumnType::Bit { .. }) {
        if let Some(number) = number_of_hex(expr) {
            return Ok(number);
        }
        let typed = crate::expr::choice::of_full_width(builder.build(expr)?, builder.resolver);
        let wanted = match kind {
            ColumnType::Float { .. } | ColumnType::Double { .. } => Wanted::Double,
            ColumnType::Decimal { .. } => Wanted::Decimal,
            // A year is read from the document's text.
            ColumnType::Year if typed.kind.column == ColumnType::Json => {
                return Ok(class::as_text(builder, typed));
            }
            _ => Wanted::Integer,
        };
        Ok(functions::as_number(typed, wanted, source_of(expr)))
    } else {
        let typed = functions::as_given_to(builder.build(expr)?, kind, source_of(expr), false);
        Ok(if turnstile_values::value::takes_shown(kind) { functions::as_shown(typed) } else { typed })
    }
}
