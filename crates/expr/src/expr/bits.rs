//! Bit operators on byte strings: `& | ^ ~ << >>` of bytes give bytes, as long as their operands.
//!
//! Hex and bit literals are numbers, unless the other operand is bytes and no literal.

use turnstile_syntax::ast;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::types::{ColumnType, ExprType};
use turnstile_values::value::{Value, to_bytes, to_u64_bits};

use super::build::{Builder, boxed};
use super::literal::number_of_hex;
use super::{ArithmeticOp, Call, EvalContext, Expr, ScalarFunction, Typed};

fn is_bytes(typed: &Typed) -> bool {
    typed.kind.column.is_binary_string()
}

fn called(name: &'static str, function: ScalarFunction, operands: Vec<Typed>, length: u32) -> Typed {
    let nullable = operands.iter().any(|one| one.kind.nullable);
    let column = crate::functions::bytes_type(length);
    let arguments = operands.into_iter().map(|one| one.expr).collect();
    let call = Call::new(name, function, arguments, column.clone());
    Typed { expr: call.into_expr(), kind: ExprType::new(column, nullable) }
}

/// Two operands of a bit operator as the bytes that they are; the operands again where they are numbers.
pub(super) fn bits_of_bytes(
    builder: &mut Builder<'_>,
    op: ArithmeticOp,
    written: [&ast::Expr; 2],
    bound: [Typed; 2],
) -> SqlResult<Result<Typed, [Typed; 2]>> {
    let length = bound.iter().map(|one| one.kind.column.text_length()).max().unwrap_or(0);
    let pair: (&'static str, ScalarFunction) = match op {
        ArithmeticOp::BitAnd => ("&", all_set),
        ArithmeticOp::BitOr => ("|", any_set),
        ArithmeticOp::BitXor => ("^", one_set),
        ArithmeticOp::ShiftLeft | ArithmeticOp::ShiftRight if is_bytes(&bound[0]) => {
            let left = op == ArithmeticOp::ShiftLeft;
            let function: ScalarFunction = if left { shifted_left } else { shifted_right };
            let length = bound[0].kind.column.text_length();
            return Ok(Ok(called(if left { "<<" } else { ">>" }, function, bound.into(), length)));
        }
        _ => return Ok(Err(bound)),
    };
    let fits = |at: usize| {
        let literal = number_of_hex(written[at]).is_some() || bound[at].kind.column == ColumnType::Null;
        is_bytes(&bound[at]) || literal
    };
    if !bound.iter().any(is_bytes) || !fits(0) || !fits(1) {
        return Ok(Err(bound));
    }
    let mut operands = Vec::with_capacity(2);
    for (one, typed) in written.into_iter().zip(bound) {
        operands.push(if number_of_hex(one).is_some() { builder.build(one)? } else { typed });
    }
    Ok(Ok(called(pair.0, pair.1, operands, length)))
}

/// `~operand` of bytes; the operand again if it is a number.
pub(super) fn bytes_inverted(operand: Typed) -> Result<Typed, Box<Expr>> {
    if !is_bytes(&operand) {
        return Err(boxed(operand));
    }
    let length = operand.kind.column.text_length();
    Ok(called("~", inverted, vec![operand], length))
}

fn bytewise(arguments: &[Value], combined: fn(u8, u8) -> u8) -> SqlResult<Value> {
    let [left, right] = arguments else { return Ok(Value::Null) };
    if left.is_null() || right.is_null() {
        return Ok(Value::Null);
    }
    let (left, right) = (to_bytes(left), to_bytes(right));
    if left.len() != right.len() {
        return Err(SqlError::bit_operands_of_unequal_length());
    }
    let bytes = left.iter().zip(right.iter()).map(|(one, other)| combined(*one, *other));
    Ok(Value::bytes(bytes.collect::<Vec<u8>>()))
}

fn all_set(_: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    bytewise(arguments, |one, other| one & other)
}

fn any_set(_: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    bytewise(arguments, |one, other| one | other)
}

fn one_set(_: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    bytewise(arguments, |one, other| one ^ other)
}

fn inverted(_: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    match &arguments[0] {
        Value::Null => Ok(Value::Null),
        value => Ok(Value::bytes(to_bytes(value).iter().map(|byte| !byte).collect::<Vec<u8>>())),
    }
}

/// Bytes and how many whole bytes and bits they are shifted by; all of them fall out if there are not so
/// many.
fn shifted(
    arguments: &[Value],
    context: &EvalContext<'_>,
    shift: impl Fn(&[u8], usize, u32) -> Vec<u8>,
) -> SqlResult<Value> {
    let [bytes, count] = arguments else { return Ok(Value::Null) };
    if bytes.is_null() || count.is_null() {
        return Ok(Value::Null);
    }
    let (bytes, count) = (to_bytes(bytes), to_u64_bits(count, context)?);
    Ok(Value::bytes(match usize::try_from(count / 8) {
        Ok(whole) if whole < bytes.len() => shift(&bytes, whole, (count % 8) as u32),
        _ => vec![0; bytes.len()],
    }))
}

fn shifted_left(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    shifted(arguments, context, |bytes, whole, bits| {
        let at = |place: usize| u16::from(bytes.get(place).copied().unwrap_or(0));
        let byte = |place: usize| ((at(place + whole) << 8 | at(place + whole + 1)) << bits >> 8) as u8;
        (0..bytes.len()).map(byte).collect()
    })
}

fn shifted_right(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    shifted(arguments, context, |bytes, whole, bits| {
        let at = |place: Option<usize>| {
            place.and_then(|place| bytes.get(place)).map_or(0, |byte| u16::from(*byte))
        };
        let byte = |place: usize| {
            let from = place.checked_sub(whole);
            ((at(from.and_then(|from| from.checked_sub(1))) << 8 | at(from)) >> bits) as u8
        };
        (0..bytes.len()).map(byte).collect()
    })
}
