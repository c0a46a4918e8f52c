//! Values on their way into a document: what each type becomes there, and marks for what was a document
//! already.

use turnstile_values::collation::Collation;
use turnstile_values::error::{ErrorKind, SqlError, SqlResult};
use turnstile_values::json::{self, Json, Kind, Malformed, order};
use turnstile_values::types::{ColumnType, ExprType, IntWidth};
use turnstile_values::value::{Value, to_text};

use super::super::json_arguments::is_given;
use super::super::json_scalar;
use super::{given, parsed};
use crate::expr::{Call, EvalContext, Expr, Held, ScalarFunction, Typed};

/// `true` and `false` as documents: bound, TRUE is the number 1.
pub fn truth(truth: bool) -> Typed {
    let expr = Expr::Literal(Value::text(if truth { "true" } else { "false" }));
    Typed { expr, kind: ExprType::new(ColumnType::Json, false) }
}

/// A call of a function that works on a document, and compares texts as documents do.
pub fn called(name: &'static str, function: ScalarFunction, argument: Typed, kind: ColumnType) -> Typed {
    let call =
        Call::new(name, function, vec![argument.expr], kind.clone()).comparing_in(Collation::Utf8mb4Bin);
    Typed { expr: call.into_expr(), kind: ExprType::new(kind, argument.kind.nullable) }
}

/// A value as a document: a text is a string, TRUE and comparisons are `true` and `false`.
pub fn as_value(typed: Typed) -> Typed {
    if typed.kind.column == ColumnType::Json {
        return typed;
    }
    if let Some(bytes) = json_scalar::of_bytes(&typed) {
        return bytes;
    }
    if is_given(&typed) && typed.kind.column.is_character() {
        return called("json of parameter", of_parameter, typed, ColumnType::Json);
    }
    let typed = crate::expr::with_own_digits(typed);
    let is_truth = json_scalar::tells_truth(&typed.expr)
        || matches!(
            typed.kind.column,
            ColumnType::Int { width: IntWidth::Big, unsigned: false, display: Some(1), zerofill: false }
        ) && !matches!(
            typed.expr,
            Expr::Column(_)
                | Expr::Literal(_)
                | Expr::Case { .. }
                | Expr::Coalesce { .. }
                | Expr::NullIf { .. }
        );
    let function = match typed.kind.column {
        _ if is_truth => of_truth,
        ColumnType::Timestamp { .. } => of_timestamp,
        _ => of_value,
    };
    called("json of value", function, typed, ColumnType::Json)
}

/// A document, or a value as one, as bytes that compare as documents do.
pub fn as_order(typed: Typed) -> Typed {
    let kind = ColumnType::Varbinary { length: u32::MAX };
    called("json order", order_of, as_value(typed), kind)
}

/// A document that rows are sorted by. That arrays and objects have no order in MySQL is told once a
/// statement.
pub fn as_sorted(typed: Typed) -> Typed {
    if typed.kind.column != ColumnType::Json {
        return typed;
    }
    as_order(called("sorted", told_of_parts, typed, ColumnType::Json))
}

fn told_of_parts(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let text = turnstile_values::value::to_bytes(&arguments[0]);
    let has_parts = text.iter().find(|byte| **byte >= b' ').is_some_and(|first| b"[{".contains(first));
    if has_parts && !context.warnings.list().iter().any(|one| one.error.kind() == ErrorKind::Unsupported) {
        context.warn(SqlError::not_supported_by_mysql("sorting of non-scalar JSON values"))?;
    }
    Ok(arguments[0].clone())
}

/// CAST(text AS JSON); anything else is cast as the value it is.
pub(crate) fn cast_as_document(typed: Typed) -> Typed {
    let named = matches!(typed.kind.column, ColumnType::Enum { .. } | ColumnType::Set { .. });
    if is_given(&typed) && typed.kind.column.is_character() {
        return maybe_null(called("cast_as_json", cast_of_parameter, typed, ColumnType::Json));
    }
    if typed.kind.column.is_character() && typed.kind.column != ColumnType::Json && !named {
        return maybe_null(called("cast_as_json", of_text, typed, ColumnType::Json));
    }
    maybe_null(as_value(typed))
}

/// What CAST says of its documents.
fn maybe_null(typed: Typed) -> Typed {
    Typed { kind: ExprType { nullable: true, ..typed.kind }, ..typed }
}

fn value_of(value: &Value, held: &mut Held<'_>) -> SqlResult<Json> {
    Ok(match value {
        Value::Null => Json::Null,
        Value::Int(number) => Json::Int(*number),
        Value::UInt(number) => Json::UInt(*number),
        Value::Double(number) if number.is_finite() => Json::Double(*number),
        Value::Double(_) => Json::Null,
        Value::Decimal(number) => Json::Decimal(number.clone()),
        Value::DateTime(moment) => {
            let mut moment = *moment;
            moment.fsp = 6;
            Json::Opaque(Kind::DateTime, to_text(&Value::DateTime(moment)).to_string())
        }
        Value::Time(time) => {
            let mut time = *time;
            time.fsp = 6;
            Json::Opaque(Kind::Time, to_text(&Value::Time(time)).to_string())
        }
        Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Json::String(text.into()),
            Err(_) => return Err(SqlError::json_of_binary()),
        },
        Value::Date(_) => Json::Opaque(Kind::Date, to_text(value).to_string()),
        Value::Str(_) | Value::Enum(_) => Json::String(to_text(value).to_string()),
        Value::Json(marked) => kept(marked, held)?,
    })
}

fn of_value(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    given(&value_of(&arguments[0], &mut context.held())?, call, context)
}

fn of_timestamp(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let document = match value_of(&arguments[0], &mut context.held())? {
        Json::Opaque(_, text) => Json::Opaque(Kind::Timestamp, text),
        other => other,
    };
    given(&document, call, context)
}

fn of_truth(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    Ok(match &arguments[0] {
        Value::Int(0) => Value::text("false"),
        Value::Int(1) => Value::text("true"),
        Value::Null => Value::Null,
        other => given(&value_of(other, &mut context.held())?, call, context)?,
    })
}

fn of_text(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let mut held = context.held();
    given(&parsed(call, arguments, 0, &mut held)?, call, context)
}

/// A value that is given to a `?`: what it is shows when it comes.
fn of_parameter(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    match &arguments[0] {
        Value::Bytes(bytes) => json_scalar::document_of_bytes(call, bytes, context),
        _ => of_value(call, arguments, context),
    }
}

fn cast_of_parameter(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    match &arguments[0] {
        Value::Bytes(bytes) => json_scalar::document_of_bytes(call, bytes, context),
        _ => of_text(call, arguments, context),
    }
}

fn order_of(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let mut held = context.held();
    let document = parsed(call, arguments, 0, &mut held)?;
    Ok(Value::bytes(order::key(&document, &mut held)?))
}

/// Marked text as the value it is.
pub fn marked(text: Value) -> Value {
    match text {
        Value::Str(text) => Value::Json(text),
        other => other,
    }
}

/// The document of marked text. What a row keeps was written by [`given`].
pub(super) fn kept(marked: &str, held: &mut Held<'_>) -> SqlResult<Json> {
    json::parse_kept(marked, held).map_err(|error| error.of_argument(0, "cast_as_json"))
}

/// The document that a value is; `null` for what is none.
pub fn kept_or_null(value: &Value, held: &mut Held<'_>) -> SqlResult<Json> {
    match value {
        Value::Json(marked) => json::parse_kept(marked, held),
        other => json::parse(&to_text(other), held),
    }
    .or_else(Malformed::or_null)
}

/// Bytes that order a value that is a document.
pub fn document_order(value: &Value, held: &mut Held<'_>) -> SqlResult<Vec<u8>> {
    let document = kept_or_null(value, held)?;
    order::key(&document, held)
}
