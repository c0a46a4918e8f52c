//! FIELD, which compares its arguments as texts, as exact numbers or as doubles: what all their types have in
//! common.

use crate::expr::{Call, EvalContext, ScalarFunction, Typed};
use turnstile_values::error::SqlResult;
use turnstile_values::types::ColumnType;
use turnstile_values::value::{Value, compare_strings, to_double};

/// FIELD of texts. Among other types it is one of the two below.
pub(super) fn field(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let equal = |one: &Value, other: &Value| {
        context.step()?;
        let bytes = one.stored_len() + other.stored_len();
        context.watched(bytes, || compare_strings(one, other, call.collation).is_eq())
    };
    first_equal(arguments, equal)
}

/// FIELD of exact numbers; whole ones are compared by their 64 bits.
fn field_of_numbers(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let whole = |value: &Value| match value {
        Value::Int(number) => Some(*number),
        Value::UInt(number) => Some(*number as i64),
        _ => None,
    };
    let all_whole = arguments.iter().all(|value| value.is_null() || whole(value).is_some());
    first_equal(arguments, |one, other| match all_whole {
        true => Ok(whole(one) == whole(other)),
        false => Ok(context.compare(one, other, call.collation)?.is_some_and(|order| order.is_eq())),
    })
}

/// FIELD of a mixture: all are read as doubles, one after the other.
fn field_of_doubles(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    if arguments[0].is_null() {
        return Ok(Value::Int(0));
    }
    let wanted = to_double(&arguments[0], context)?;
    first_equal(arguments, |_, other| Ok(to_double(other, context)? == wanted))
}

/// The place of the first of the other arguments that is equal to the first one; 0 if there is none.
fn first_equal(arguments: &[Value], equal: impl Fn(&Value, &Value) -> SqlResult<bool>) -> SqlResult<Value> {
    let wanted = &arguments[0];
    if !wanted.is_null() {
        for (place, candidate) in arguments.iter().enumerate().skip(1) {
            if !candidate.is_null() && equal(wanted, candidate)? {
                return Ok(Value::Int(place as i64));
            }
        }
    }
    Ok(Value::Int(0))
}

/// What FIELD compares its arguments as: None where they are texts or dates, which are compared as texts.
pub(crate) fn field_of(arguments: &[Typed]) -> Option<ScalarFunction> {
    let exact = |kind: &ColumnType| {
        kind.is_integer()
            || matches!(kind, ColumnType::Decimal { .. } | ColumnType::Bit { .. } | ColumnType::Year)
    };
    let number = |kind: &ColumnType| kind.is_numeric() && *kind != ColumnType::Null;
    if arguments.iter().all(|one| exact(&one.kind.column)) {
        return Some(field_of_numbers);
    }
    arguments.iter().any(|one| number(&one.kind.column)).then_some(field_of_doubles as ScalarFunction)
}
