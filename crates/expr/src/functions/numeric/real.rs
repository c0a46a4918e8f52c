//! Functions of doubles: powers, logarithms, angles.

use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::value::{Value, to_double, to_text};

use crate::expr::{Call, EvalContext};

/// A double function of one argument; results that are no number are NULL.
pub(super) fn real(
    arguments: &[Value],
    context: &EvalContext<'_>,
    function: fn(f64) -> f64,
) -> SqlResult<Value> {
    null_guard!(arguments);
    let result = function(to_double(&arguments[0], context)?);
    if result.is_nan() {
        return Ok(Value::Null);
    }
    if result.is_infinite() {
        return Err(SqlError::value_out_of_range("DOUBLE", to_text(&arguments[0])));
    }
    Ok(Value::Double(result))
}

/// Two doubles, read one after the other until one is NULL.
fn two_doubles(arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Option<(f64, f64)>> {
    if arguments[0].is_null() {
        return Ok(None);
    }
    let first = to_double(&arguments[0], context)?;
    if arguments[1].is_null() { Ok(None) } else { Ok(Some((first, to_double(&arguments[1], context)?))) }
}

pub(super) fn power(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let Some((base, exponent)) = two_doubles(arguments, context)? else { return Ok(Value::Null) };
    let result = base.powf(exponent);
    if !result.is_finite() {
        let text = format!("pow({},{})", to_text(&arguments[0]), to_text(&arguments[1]));
        return Err(SqlError::value_out_of_range("DOUBLE", text));
    }
    Ok(Value::Double(result))
}

fn logarithm(value: &Value, context: &EvalContext<'_>, function: fn(f64) -> f64) -> SqlResult<Value> {
    let number = to_double(value, context)?;
    if number <= 0.0 {
        context.warn(SqlError::invalid_logarithm())?;
        return Ok(Value::Null);
    }
    Ok(Value::Double(function(number)))
}

pub(super) fn ln(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    logarithm(&arguments[0], context, f64::ln)
}

pub(super) fn log2(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    logarithm(&arguments[0], context, f64::log2)
}

pub(super) fn log10(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    logarithm(&arguments[0], context, f64::log10)
}

pub(super) fn log(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    if arguments[0].is_null() {
        return Ok(Value::Null);
    }
    let Some(number) = arguments.get(1) else { return logarithm(&arguments[0], context, f64::ln) };
    let Value::Double(base) = logarithm(&arguments[0], context, f64::ln)? else { return Ok(Value::Null) };
    if number.is_null() {
        return Ok(Value::Null);
    }
    let Value::Double(number) = logarithm(number, context, f64::ln)? else { return Ok(Value::Null) };
    if base == 0.0 {
        context.warn(SqlError::invalid_logarithm())?;
        return Ok(Value::Null);
    }
    Ok(Value::Double(number / base))
}

pub(super) fn atan(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    if arguments.len() == 1 {
        null_guard!(arguments);
        return Ok(Value::Double(to_double(&arguments[0], context)?.atan()));
    }
    Ok(two_doubles(arguments, context)?.map_or(Value::Null, |(one, other)| Value::Double(one.atan2(other))))
}
