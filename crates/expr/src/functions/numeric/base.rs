//! Whole numbers in another base: CONV, BIN and OCT.

use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::value::{Value, parse_integer_prefix, to_bytes, to_i64, to_u64_bits};

use crate::expr::{Call, EvalContext, ScalarFunction};

fn in_base(mut number: u64, base: u64) -> String {
    let mut digits = Vec::new();
    loop {
        digits
            .push(char::from_digit((number % base) as u32, base as u32).unwrap_or('0').to_ascii_uppercase());
        number /= base;
        if number == 0 {
            return digits.iter().rev().collect();
        }
    }
}

fn convert_base(text: &[u8], from: i64, to: i64) -> Option<String> {
    let (base, target) = (from.unsigned_abs(), to.unsigned_abs());
    if !(2..=36).contains(&base) || !(2..=36).contains(&target) {
        return None;
    }
    let text = text.trim_ascii();
    let negative = text.first() == Some(&b'-');
    let mut number = 0u64;
    for byte in &text[usize::from(negative)..] {
        let Some(digit) = char::from(*byte).to_digit(base as u32) else { break };
        number =
            number.checked_mul(base).and_then(|sum| sum.checked_add(u64::from(digit))).unwrap_or(u64::MAX);
    }
    let number = if negative { number.wrapping_neg() } else { number };
    if to < 0 && (number as i64) < 0 {
        return Some(format!("-{}", in_base((number as i64).unsigned_abs(), target)));
    }
    Some(in_base(number, target))
}

pub(super) fn conv(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let (from, to) = (to_i64(&arguments[1], context)?, to_i64(&arguments[2], context)?);
    let text = to_bytes(&arguments[0]);
    if text.is_empty() {
        return Ok(Value::Null);
    }
    let base = |base: i64| (2..=36).contains(&base.unsigned_abs());
    if !(base(from) && base(to)) {
        return Ok(Value::Null);
    }
    let digit = |byte: &u8| char::from(*byte).is_digit(from.unsigned_abs().clamp(2, 36) as u32);
    let unsigned = text.trim_ascii_start();
    let unsigned = unsigned.strip_prefix(b"-").or(unsigned.strip_prefix(b"+")).unwrap_or(unsigned);
    if !unsigned.first().is_some_and(digit) {
        context.warn(SqlError::truncated_wrong_value(
            "DECIMAL",
            turnstile_values::value::shown_value(&arguments[0]),
        ))?;
    }
    Ok(convert_base(&text, from, to).map_or(Value::Null, Value::from))
}

/// CONV of a hex or a bit literal or a BIT, which is a number in no base.
pub(crate) const CONV_OF_BITS: ScalarFunction = conv_of_bits;

fn conv_of_bits(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let (from, to) = (to_i64(&arguments[1], context)?, to_i64(&arguments[2], context)?);
    if !(2..=36).contains(&from.unsigned_abs()) {
        return Ok(Value::Null);
    }
    let number = to_u64_bits(&arguments[0], context)?.to_string();
    Ok(convert_base(number.as_bytes(), 10, to).map_or(Value::Null, Value::from))
}

/// What BIN and OCT write: whole numbers as they are, of everything else the whole number its text begins
/// with, as CONV from base 10.
fn in_base_of_ten(value: &Value, base: u64, context: &EvalContext<'_>) -> SqlResult<Value> {
    let number = match value {
        Value::Int(_) | Value::UInt(_) => to_u64_bits(value, context)?,
        other => {
            let text = to_bytes(other);
            if text.is_empty() {
                return Ok(Value::Null);
            }
            let (number, _) = parse_integer_prefix(&text);
            let clamped = number.clamp(i128::from(i64::MIN), i128::from(u64::MAX));
            let begins = text.trim_ascii_start();
            let begins = begins.strip_prefix(b"-").or(begins.strip_prefix(b"+")).unwrap_or(begins);
            if clamped != number || !begins.first().is_some_and(u8::is_ascii_digit) {
                context.warn(SqlError::truncated_wrong_value(
                    "DECIMAL",
                    turnstile_values::value::shown(&text),
                ))?;
            }
            clamped as u64
        }
    };
    Ok(Value::from(in_base(number, base)))
}

pub(super) fn bin(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    in_base_of_ten(&arguments[0], 2, context)
}

pub(super) fn oct(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    in_base_of_ten(&arguments[0], 8, context)
}
