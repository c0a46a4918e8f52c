//! What a column takes of an expression. A column copies another column by the types of both; of what is one
//! of several values it takes the text where that is a date or a time; of a document the number, the moment
//! or the text that its own type asks for. Bytes of a text are those of its character set.

use super::class::{coerced, is_time, text_of_document};
use super::literal::hex_for_column;
use super::{Call, EvalContext, EvalSettings, Expr, Typed, source_of};
use crate::functions::{self, Wanted};
use turnstile_syntax::ast;
use turnstile_values::datetime::{self, DateTime};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::types::{ColumnType, ExprType};
use turnstile_values::value::{Value, apply_offset, shown_value, tell_delimiter, to_bytes, to_text};

/// A value as a column of this type takes it from an expression that was written so.
pub fn given(typed: Typed, written: &ast::Expr, column: &ColumnType, settings: &EvalSettings) -> Typed {
    if column.is_numeric()
        && let Some(number) = hex_for_column(written, column, settings)
    {
        return number;
    }
    if typed.kind.column == ColumnType::Json {
        return of_document(typed, written, column);
    }
    if column.is_binary_string() {
        return functions::in_own_bytes(typed);
    }
    let is_column = is_column(written);
    if is_column && typed.kind.column == ColumnType::Year && column.is_temporal() {
        return as_text(typed);
    }
    if !typed.kind.column.is_temporal() {
        return typed;
    }
    if gives_text(written) && family(&typed.kind.column) != family(column) {
        return as_text(typed);
    }
    match column {
        ColumnType::Json if is_column => as_text(typed),
        ColumnType::Bit { .. } if is_column && typed.kind.column != ColumnType::Date => as_digits(typed),
        ColumnType::Year if is_column && typed.kind.column != ColumnType::Date => as_digits(typed),
        _ => typed,
    }
}

/// What a set operation's column of moments takes of a time that an expression gives as a text: the moment
/// that the text says, or the zero date. None where it takes the time.
pub fn moment_of_text(typed: &Typed, written: &ast::Expr, column: &ColumnType, name: &str) -> Option<Typed> {
    let moments = matches!(column, ColumnType::DateTime { .. } | ColumnType::Timestamp { .. });
    if !moments || !is_time(&typed.kind.column) || !gives_text(written) {
        return None;
    }
    let arguments = vec![as_text(typed.clone()).expr, Expr::Literal(Value::text(name))];
    let call = Call::new("moment of text", moment_said, arguments, column.clone());
    Some(Typed { expr: call.into_expr(), kind: ExprType { column: column.clone(), ..typed.kind.clone() } })
}

fn moment_said(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let [text, name] = arguments else { return Ok(Value::Null) };
    if text.is_null() {
        return Ok(Value::Null);
    }
    // Rows are not counted here.
    const ROW: u64 = 1;
    let written = to_bytes(text);
    let Some(found) = datetime::parse_date_time(&written, context.compared_date_rules()) else {
        let shown = shown_value(text);
        context.warn(SqlError::incorrect_value_for_column("datetime", shown, to_text(name), ROW))?;
        return Ok(Value::DateTime(DateTime::ZERO));
    };
    if found.truncated {
        context.warn(SqlError::data_truncated(to_text(name), ROW))?;
    }
    tell_delimiter(&found, &written, ROW, context);
    Ok(Value::DateTime(apply_offset(found.moment, found.offset_seconds, context)))
}

/// Types of one family take each other's values as they are.
fn family(column: &ColumnType) -> u8 {
    match column {
        ColumnType::Date => 1,
        ColumnType::DateTime { .. } | ColumnType::Timestamp { .. } => 2,
        ColumnType::Time { .. } => 3,
        _ => 0,
    }
}

fn as_text(typed: Typed) -> Typed {
    let column = match typed.kind.column {
        ColumnType::Year => ColumnType::varchar(4),
        ref other => ColumnType::varchar(other.text_length()),
    };
    coerced(typed, column)
}

/// A date or a time as the number of its digits.
fn as_digits(typed: Typed) -> Typed {
    coerced(typed, ColumnType::BIGINT)
}

fn of_document(typed: Typed, written: &ast::Expr, column: &ColumnType) -> Typed {
    let source = source_of(written);
    match column {
        ColumnType::Int { .. } => functions::as_number(typed, Wanted::Integer, source),
        ColumnType::Decimal { .. } => functions::as_number(typed, Wanted::Decimal, source),
        ColumnType::Float { .. } | ColumnType::Double { .. } => {
            functions::as_number(typed, Wanted::Double, source)
        }
        ColumnType::Year if is_column(written) => {
            as_digits(functions::as_number(typed, Wanted::Integer, source))
        }
        ColumnType::Year | ColumnType::Bit { .. } => text_of_document(typed),
        _ => functions::as_given_to(typed, column, source, is_column(written)),
    }
}

/// The value of a sub-query without tables; anything else itself.
fn value_of(expr: &ast::Expr) -> &ast::Expr {
    let ast::Expr::Subquery(query) = expr else { return expr };
    match &query.body {
        ast::QueryBody::Select(select) if select.from.is_empty() => match select.items.as_slice() {
            [ast::SelectItem::Expr { expr, .. }] => value_of(expr),
            _ => expr,
        },
        _ => expr,
    }
}

fn is_column(written: &ast::Expr) -> bool {
    matches!(value_of(written), ast::Expr::Column(_))
}

/// Whether a column takes the text of an expression that is a date or a time: of everything that gives one of
/// several values.
fn gives_text(written: &ast::Expr) -> bool {
    match value_of(written) {
        ast::Expr::Case { .. } | ast::Expr::Subquery(_) => true,
        ast::Expr::Function(call) => matches!(
            &*call.name,
            "if" | "ifnull" | "coalesce" | "nullif" | "greatest" | "least" | "max" | "min" | "any_value"
        ),
        _ => false,
    }
}
