//! FIELD with hex literals among its arguments: texts among texts, and numbers beside a number.

use turnstile_syntax::ast;
use turnstile_values::error::SqlResult;
use turnstile_values::types::{ColumnType, ExprType};
use turnstile_values::value::Value;

use super::build::Builder;
use super::literal::{number_of_hex, with_numbers_of_hex};
use super::{Expr, ScalarFunction, Typed};
use crate::expr::build;
use crate::functions::{self, Wanted};

/// The arguments of FIELD, and what compares them if they are no texts. What may give hex literals is a
/// text by itself, and numbers beside a number: it is bound last, since bound twice calls within calls
/// would take twice as long a level.
pub(super) fn field(
    builder: &mut Builder<'_>,
    parts: &[ast::Expr],
) -> SqlResult<(Vec<Typed>, Option<ScalarFunction>)> {
    let gives_hex = |one: &ast::Expr| number_of_hex(one).is_some() || with_numbers_of_hex(one).is_some();
    let mut bound = Vec::with_capacity(parts.len());
    for one in parts {
        let alone = std::slice::from_ref(one);
        bound.push(if gives_hex(one) { None } else { build::arguments(builder, "field", alone)?.pop() });
    }
    let mut known: Vec<Typed> = bound.iter().flatten().cloned().collect();
    if known.len() < parts.len() {
        let text = ExprType::not_null(ColumnType::varchar(0));
        known.push(Typed { expr: Expr::Literal(Value::text("")), kind: text });
    }
    let field = functions::field_of(&known);
    let mut arguments = Vec::with_capacity(parts.len());
    for (one, typed) in parts.iter().zip(bound) {
        arguments.push(match (typed, field) {
            (Some(typed), Some(_)) => build::bound_as_number(builder, one, typed, Wanted::Double),
            (Some(typed), None) => typed,
            (None, Some(_)) => build::number(builder, one)?,
            (None, None) => build::arguments(builder, "field", std::slice::from_ref(one))?.swap_remove(0),
        });
    }
    Ok((arguments, field))
}
