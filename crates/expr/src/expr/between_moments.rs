//! BETWEEN among texts, dates and times that are not all dates. Each bound is compared with the operand
//! apart, both read as moments; what is none is the zero date, with a warning that calls it by the value
//! beside it.

use std::cmp::Ordering;

use super::{Call, EvalContext, Expr, Typed};
use turnstile_syntax::ast;
use turnstile_values::collation::Collation;
use turnstile_values::datetime::{self, DateTime};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::types::ColumnType;
use turnstile_values::value::{Value, apply_offset, shown_value, tell_delimiter, to_bytes, to_date_time};

fn is_moment(kind: &ColumnType) -> bool {
    matches!(kind, ColumnType::Date | ColumnType::DateTime { .. } | ColumnType::Timestamp { .. })
}

fn is_text(kind: &ColumnType) -> bool {
    kind.is_string() && *kind != ColumnType::Json
}

/// The comparison of a text with two bounds of which one is a date and the other a text or a time; None for
/// any other.
pub(super) fn bound(parts: &[&ast::Expr], operands: &[Typed]) -> Option<Expr> {
    let kinds = || operands[1..].iter().map(|one| &one.kind.column);
    let hex = parts.first().is_some_and(|part| super::literal::number_of_hex(part).is_some());
    let other = |kind: &ColumnType| is_text(kind) || matches!(kind, ColumnType::Time { .. });
    let document = operands[0].kind.column == ColumnType::Json;
    let fits = (is_text(&operands[0].kind.column) || document)
        && kinds().any(is_moment)
        && kinds().all(|kind| is_moment(kind) || other(kind));
    if !fits || hex && kinds().all(is_moment) {
        return None;
    }
    // A constant between two of one kind is read once, and what is no moment is no news.
    let date = |kind: &ColumnType| *kind == ColumnType::Date;
    let alike = kinds().all(is_moment) && (kinds().all(date) || !kinds().any(date));
    let silent = alike && super::class::is_settled(&operands[0].expr);
    let silent = Expr::Literal(Value::boolean(silent));
    // Between constants the text of a time is no date; otherwise a time is that time of today.
    let today = !operands[1..].iter().all(|one| super::class::is_settled(&one.expr));
    let today = Expr::Literal(Value::boolean(today));
    // What is compared with bytes has no name, nor has a date beside constant bytes.
    let bytes = |one: &Typed| one.kind.column.is_binary_string() && one.expr.is_constant();
    let nameless = super::class::is_settled(&operands[0].expr) && operands.iter().any(bytes);
    let names = parts.iter().zip(operands).enumerate().map(|(nth, (part, one))| {
        let nameless = bytes(one) || nameless && nth > 0 && one.kind.column.is_temporal();
        let name = name_of(part).map_or(Value::Null, Value::from);
        Expr::Literal(if nameless { Value::bytes(*b"") } else { name })
    });
    let arguments = operands.iter().map(|one| one.expr.clone()).chain(names).chain([silent, today]).collect();
    Some(Call::new("between", between, arguments, ColumnType::BIGINT).into_expr())
}

/// The name of a parameter, beside which a text is no date where it is a date.
const PARAMETER: &str = "?";

/// What a warning calls a value.
fn name_of(written: &ast::Expr) -> Option<String> {
    use ast::Literal as L;
    match written {
        ast::Expr::Column(name) => Some(name.column.to_string()),
        ast::Expr::Literal(L::String(text)) => Some(String::from_utf8_lossy(&text.bytes).into_owned()),
        ast::Expr::Literal(L::Date(text) | L::Time(text) | L::Timestamp(text)) => {
            Some(String::from_utf8_lossy(text).into_owned())
        }
        ast::Expr::Cast { operand, .. } => name_of(operand),
        ast::Expr::Parameter(_) => Some(PARAMETER.into()),
        _ => None,
    }
}

fn between(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let [operand, low, high, own, low_name, high_name, silent, today] = arguments else {
        return Ok(Value::Null);
    };
    let today = *today == Value::boolean(true);
    let silent = *silent == Value::boolean(true);
    let order = |bound: &Value, name: &Value| {
        let left = moment(operand, (bound, name), silent, context)?;
        let right = match bound {
            Value::Time(_) if today => to_date_time(bound, context)?.map_or(Value::Null, Value::DateTime),
            _ => moment(bound, (operand, own), silent, context)?,
        };
        context.compare(&left, &right, Collation::Binary)
    };
    let above = order(low, low_name)?.map(Ordering::is_ge);
    let below = order(high, high_name)?.map(Ordering::is_le);
    Ok(super::predicate::and(above, below).map_or(Value::Null, Value::boolean))
}

/// The moment that a value says; `beside`: what it is compared with, and how a warning calls that.
fn moment(
    value: &Value,
    (beside, name): (&Value, &Value),
    silent: bool,
    context: &EvalContext<'_>,
) -> SqlResult<Value> {
    if matches!(value, Value::Null | Value::Date(_) | Value::DateTime(_)) {
        return Ok(value.clone());
    }
    let text = to_bytes(value);
    let found = match value {
        // The text of a time is no date.
        Value::Time(_) => None,
        _ => datetime::parse_date_time(&text, context.compared_date_rules()),
    };
    Ok(Value::DateTime(match found {
        Some(found) => {
            tell_delimiter(&found, &text, 1, context);
            apply_offset(found.moment, found.offset_seconds, context)
        }
        None if silent => DateTime::ZERO,
        None => {
            let shown = shown_value(value);
            context.warn(match name {
                Value::Str(name) => {
                    let day = matches!(beside, Value::Date(_)) && &**name == PARAMETER;
                    let kind = if day { "date" } else { "datetime" };
                    SqlError::incorrect_value_for_column(kind, shown, name, context.row())
                }
                Value::Bytes(_) => {
                    let kind = if matches!(beside, Value::Date(_)) { "date" } else { "datetime" };
                    SqlError::truncated_wrong_value(kind, shown)
                }
                _ => SqlError::incorrect_value("datetime", shown),
            })?;
            DateTime::ZERO
        }
    }))
}
