//! Columns of TEXT and BLOB where a number is wanted. Of any other text that is no number to its end a
//! warning is given, which strict mode makes an error of where rows are changed; these columns are read
//! without a word, as in MySQL.

use super::{Call, EvalContext, Expr, Typed};
use crate::functions::Wanted;
use turnstile_values::error::SqlResult;
use turnstile_values::types::{ColumnType, ExprType};
use turnstile_values::value::{Value, parse_double_prefix, parse_integer_prefix};

/// A column of TEXT or BLOB as the number that it begins with; anything else as it is.
pub fn read_silently(typed: Typed, wanted: Wanted) -> Typed {
    let long = match typed.kind.column {
        ColumnType::Text { .. } => true,
        // Bit operators read bytes as bytes.
        ColumnType::Blob { .. } => wanted == Wanted::Double,
        _ => false,
    };
    if !long || !matches!(typed.expr, Expr::Column(_)) {
        return typed;
    }
    let (name, column) = match wanted {
        Wanted::Double => ("long text as double", ColumnType::DOUBLE),
        Wanted::Integer => ("long text as integer", ColumnType::BIGINT),
        Wanted::Decimal => return typed,
    };
    let call = Call::new(name, number, vec![typed.expr], column.clone());
    Typed { expr: call.into_expr(), kind: ExprType::new(column, typed.kind.nullable) }
}

fn number(call: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    let Some(text) = arguments[0].as_raw_bytes() else { return Ok(Value::Null) };
    Ok(match call.kind {
        ColumnType::Double { .. } => Value::Double(parse_double_prefix(text).0),
        _ => {
            let whole = parse_integer_prefix(text).0;
            Value::Int(whole.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64)
        }
    })
}
