//! `+ - * / DIV %`, unary minus and the bit operators. Whole numbers stay whole and overflow with 1690; a
//! decimal operand makes the result exact; a double or a string makes it a double; division by zero is NULL
//! and 1365.

use std::borrow::Cow;

use super::{ArithmeticOp, EvalContext, SqlMode};
use turnstile_values::decimal::{Decimal, MAX_SCALE};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::value::{Numeric, Value, to_decimal, to_double, to_numeric, to_text, to_u64_bits};

/// Applies an operator to two values; NULL gives NULL.
pub(super) fn apply(
    op: ArithmeticOp,
    left: &Value,
    right: &Value,
    context: &EvalContext<'_>,
) -> SqlResult<Value> {
    use ArithmeticOp as Op;
    if let (Value::Int(one), Value::Int(other)) = (left, right) {
        let result = match op {
            Op::Add => one.checked_add(*other),
            Op::Subtract => one.checked_sub(*other),
            Op::Multiply => one.checked_mul(*other),
            _ => None,
        };
        if let Some(result) = result {
            return Ok(Value::Int(result));
        }
    }
    if let Some(result) = exact(op, left, right) {
        return Ok(Value::Decimal(result));
    }
    if left.is_null() || right.is_null() {
        let real = matches!(op, Op::Add | Op::Subtract | Op::Multiply | Op::Divide | Op::Modulo);
        // Both operands of a sum of doubles are read, and told of if they are no numbers, before one is found
        // to be NULL.
        for text in [left, right].into_iter().filter(|value| real && value.is_string()) {
            to_double(text, context)?;
        }
        return Ok(Value::Null);
    }
    if op.is_of_bits() {
        return bits(op, to_u64_bits(left, context)?, to_u64_bits(right, context)?);
    }
    let read = |value: &Value| match value {
        text if op == Op::IntegerDivide && text.is_string() => {
            to_decimal(text, context).map(Numeric::Decimal)
        }
        other => to_numeric(other, context),
    };
    let (one, other) = (read(left)?, read(right)?);
    let overflow = |kind: &str| SqlError::value_out_of_range(kind, expression(op, left, right));
    match (&one, &other) {
        (Numeric::Decimal(_) | Numeric::Double(_), _) | (_, Numeric::Decimal(_) | Numeric::Double(_))
            if op == Op::IntegerDivide =>
        {
            whole_quotient(&one, &other, context, &overflow)
        }
        (Numeric::Double(_), _) | (_, Numeric::Double(_)) => {
            doubles(op, as_double(&one), as_double(&other), context, &overflow)
        }
        (Numeric::Decimal(_), _) | (_, Numeric::Decimal(_)) => {
            decimals(op, &as_decimal(&one), &as_decimal(&other), context, &overflow)
        }
        _ if op == Op::Divide => decimals(op, &as_decimal(&one), &as_decimal(&other), context, &overflow),
        _ => integers(op, &one, &other, context, &overflow),
    }
}

/// A sum, difference or product of decimals, or of one and a whole number, that is not too large.
fn exact(op: ArithmeticOp, left: &Value, right: &Value) -> Option<Decimal> {
    let (one, other) = match (left, right) {
        (Value::Decimal(one), Value::Decimal(other)) => (Cow::Borrowed(one), Cow::Borrowed(other)),
        (Value::Decimal(one), Value::Int(other)) => (Cow::Borrowed(one), Cow::Owned(Decimal::from(*other))),
        (Value::Int(one), Value::Decimal(other)) => (Cow::Owned(Decimal::from(*one)), Cow::Borrowed(other)),
        _ => return None,
    };
    match op {
        ArithmeticOp::Add => one.add(&other).ok(),
        ArithmeticOp::Subtract => one.sub(&other).ok(),
        ArithmeticOp::Multiply => one.mul(&other).ok(),
        _ => None,
    }
}

fn expression(op: ArithmeticOp, left: &Value, right: &Value) -> String {
    let quoted = |value: &Value| {
        if value.is_string() { format!("'{}'", to_text(value)) } else { to_text(value).to_string() }
    };
    format!("({} {} {})", quoted(left), symbol(op), quoted(right))
}

fn symbol(op: ArithmeticOp) -> &'static str {
    match op {
        ArithmeticOp::Add => "+",
        ArithmeticOp::Subtract => "-",
        ArithmeticOp::Multiply => "*",
        ArithmeticOp::Divide => "/",
        ArithmeticOp::IntegerDivide => "DIV",
        ArithmeticOp::Modulo => "%",
        ArithmeticOp::BitAnd => "&",
        ArithmeticOp::BitOr => "|",
        ArithmeticOp::BitXor => "^",
        ArithmeticOp::ShiftLeft => "<<",
        ArithmeticOp::ShiftRight => ">>",
    }
}

fn as_double(number: &Numeric) -> f64 {
    match number {
        Numeric::Int(number) => *number as f64,
        Numeric::UInt(number) => *number as f64,
        Numeric::Decimal(number) => number.to_f64(),
        Numeric::Double(number) => *number,
    }
}

fn as_decimal(number: &Numeric) -> Decimal {
    match number {
        Numeric::Int(number) => Decimal::from(*number),
        Numeric::UInt(number) => Decimal::from(*number),
        Numeric::Decimal(number) => number.clone(),
        Numeric::Double(number) => {
            Decimal::from_f64(*number).unwrap_or_else(|| Decimal::beyond(*number < 0.0))
        }
    }
}

fn as_wide(number: &Numeric) -> (i128, bool) {
    match number {
        Numeric::Int(number) => (i128::from(*number), false),
        Numeric::UInt(number) => (i128::from(*number), true),
        _ => (0, false),
    }
}

fn integers(
    op: ArithmeticOp,
    left: &Numeric,
    right: &Numeric,
    context: &EvalContext<'_>,
    overflow: &dyn Fn(&str) -> SqlError,
) -> SqlResult<Value> {
    let ((one, one_unsigned), (other, other_unsigned)) = (as_wide(left), as_wide(right));
    let mut unsigned = one_unsigned || other_unsigned;
    let result = match op {
        ArithmeticOp::Add => one + other,
        ArithmeticOp::Subtract => {
            unsigned &= !context.settings.sql_mode.has(SqlMode::NO_UNSIGNED_SUBTRACTION);
            one - other
        }
        // Two numbers of 64 bits without sign can give one that even 128 bits with sign do not hold.
        ArithmeticOp::Multiply => one.checked_mul(other).unwrap_or(i128::MAX),
        _ if other == 0 => {
            context.division_by_zero()?;
            return Ok(Value::Null);
        }
        ArithmeticOp::IntegerDivide => one / other,
        _ => {
            unsigned = one_unsigned;
            one % other
        }
    };
    if unsigned {
        return u64::try_from(result).map(Value::UInt).map_err(|_| overflow("BIGINT UNSIGNED"));
    }
    i64::try_from(result).map(Value::Int).map_err(|_| overflow("BIGINT"))
}

fn decimals(
    op: ArithmeticOp,
    left: &Decimal,
    right: &Decimal,
    context: &EvalContext<'_>,
    overflow: &dyn Fn(&str) -> SqlError,
) -> SqlResult<Value> {
    let checked = match op {
        ArithmeticOp::Add => left.add(right),
        ArithmeticOp::Subtract => left.sub(right),
        ArithmeticOp::Multiply => left.mul(right),
        _ if right.is_zero() => {
            context.division_by_zero()?;
            return Ok(Value::Null);
        }
        ArithmeticOp::Divide => {
            let more = context.settings.division_digits;
            let quotient = left.div(right, more).unwrap_or(Ok(Decimal::ZERO));
            quotient.map(|quotient| quotient.round_to((left.scale() + more).min(MAX_SCALE)))
        }
        _ => Ok(left.rem(right).unwrap_or(Decimal::ZERO)),
    };
    checked.map(Value::Decimal).map_err(|_| overflow("DECIMAL"))
}

/// An exact quotient with as many digits as its operands' values ask for, at most so many behind the point.
pub(super) fn quotient(
    left: &Value,
    right: &Value,
    scale: u8,
    context: &EvalContext<'_>,
) -> SqlResult<Value> {
    if left.is_null() || right.is_null() {
        return Ok(Value::Null);
    }
    let (one, other) = (to_decimal(left, context)?, to_decimal(right, context)?);
    let Some(quotient) = one.div(&other, context.settings.division_digits) else {
        context.division_by_zero()?;
        return Ok(Value::Null);
    };
    let quotient = quotient.map_err(|_| {
        SqlError::value_out_of_range("DECIMAL", expression(ArithmeticOp::Divide, left, right))
    })?;
    Ok(Value::Decimal(match quotient {
        zero if zero.is_zero() => Decimal::ZERO,
        long if long.scale() > scale => long.round_to(scale),
        short => short,
    }))
}

/// DIV where an operand is no whole number: exact all the same.
fn whole_quotient(
    left: &Numeric,
    right: &Numeric,
    context: &EvalContext<'_>,
    overflow: &dyn Fn(&str) -> SqlError,
) -> SqlResult<Value> {
    let Some(whole) = as_decimal(left).div_integer(&as_decimal(right)) else {
        context.division_by_zero()?;
        return Ok(Value::Null);
    };
    if matches!(left, Numeric::UInt(_)) || matches!(right, Numeric::UInt(_)) {
        return whole.to_u64().map(Value::UInt).ok_or_else(|| overflow("BIGINT UNSIGNED"));
    }
    whole.to_i64().map(Value::Int).ok_or_else(|| overflow("BIGINT"))
}

fn doubles(
    op: ArithmeticOp,
    left: f64,
    right: f64,
    context: &EvalContext<'_>,
    overflow: &dyn Fn(&str) -> SqlError,
) -> SqlResult<Value> {
    let result = match op {
        ArithmeticOp::Add => left + right,
        ArithmeticOp::Subtract => left - right,
        ArithmeticOp::Multiply => left * right,
        _ if right == 0.0 => {
            context.division_by_zero()?;
            return Ok(Value::Null);
        }
        ArithmeticOp::Divide => left / right,
        _ => left % right,
    };
    if result.is_finite() { Ok(Value::Double(result)) } else { Err(overflow("DOUBLE")) }
}

fn bits(op: ArithmeticOp, left: u64, right: u64) -> SqlResult<Value> {
    let shift = u32::try_from(right).unwrap_or(u32::MAX);
    Ok(Value::UInt(match op {
        ArithmeticOp::BitAnd => left & right,
        ArithmeticOp::BitOr => left | right,
        ArithmeticOp::BitXor => left ^ right,
        ArithmeticOp::ShiftLeft => left.checked_shl(shift).unwrap_or(0),
        _ => left.checked_shr(shift).unwrap_or(0),
    }))
}

/// Unary minus.
pub(super) fn negate(value: &Value, context: &EvalContext<'_>) -> SqlResult<Value> {
    if value.is_null() {
        return Ok(Value::Null);
    }
    let overflow = || SqlError::value_out_of_range("BIGINT", format!("-({})", to_text(value)));
    Ok(match to_numeric(value, context)? {
        Numeric::Int(number) => Value::Int(number.checked_neg().ok_or_else(overflow)?),
        Numeric::UInt(number) if number == 1 << 63 => Value::Int(i64::MIN),
        Numeric::UInt(number) => Value::Int(-i64::try_from(number).map_err(|_| overflow())?),
        Numeric::Decimal(number) => Value::Decimal(number.negate()),
        Numeric::Double(number) => Value::Double(-number),
    })
}
