//! How MySQL writes an argument into an error message: as it stands in the statement.

use crate::error::{SqlError, SqlResult};
use crate::expr::{Call, EvalContext, Expr};
use crate::value::{Value, shown, to_bytes, to_text};

/// A constant as it is written. Of what is worked out, the value.
pub(super) fn written(expr: &Expr, value: &Value) -> String {
    let number = |text: &str| match text.strip_prefix('-') {
        Some(digits) if matches!(expr, Expr::Literal(_)) => format!("-({digits})"),
        _ => text.to_owned(),
    };
    match value {
        Value::Null => "NULL".into(),
        Value::Bytes(bytes) if matches!(expr, Expr::Literal(_)) => {
            bytes.iter().fold(String::from("0x"), |text, byte| format!("{text}{byte:02x}"))
        }
        Value::Str(_) | Value::Bytes(_) => format!("'{}'", shown(&to_bytes(value))),
        other => number(&to_text(other)),
    }
}

/// NULL, and warning 1411 about an argument that a function cannot use.
pub(super) fn refused(
    call: &Call,
    kind: &str,
    at: usize,
    value: &Value,
    context: &EvalContext<'_>,
) -> SqlResult<Value> {
    context.warn(SqlError::wrong_value_for_type(kind, written(&call.arguments[at], value), call.name))?;
    Ok(Value::Null)
}
