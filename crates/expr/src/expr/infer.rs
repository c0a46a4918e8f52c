//! Result types: of operators, and the common type of alternatives (CASE, COALESCE, UNION, GREATEST).

mod unified;

use std::sync::Arc;

use turnstile_syntax::ast::BinaryOp;
use turnstile_values::decimal::{MAX_PRECISION, MAX_SCALE};
use turnstile_values::error::SqlResult;
use turnstile_values::types::{ColumnType, IntWidth};
use turnstile_values::value::{Value, to_bytes, to_date_time, to_decimal, to_double, to_text, to_time};

use super::{ArithmeticOp, EvalContext, Typed};

pub(super) use unified::unified_all;
pub(crate) use unified::{double_of_scale, unified_extreme};
pub use unified::{signed, unified_type};

/// Precision and scale of a type seen as a decimal.
pub fn decimal_shape(kind: &ColumnType) -> (u8, u8) {
    match kind {
        ColumnType::Decimal { precision, scale, .. } => (*precision, *scale),
        ColumnType::Int { width, display, unsigned, .. } => match width {
            IntWidth::Tiny => (3, 0),
            IntWidth::Small => (5, 0),
            IntWidth::Medium => (8, 0),
            IntWidth::Int => (10, 0),
            // The announced width has a place for the sign.
            IntWidth::Big => match display {
                None => (19 + u8::from(*unsigned), 0),
                Some(digits) => ((digits.saturating_sub(u8::from(!unsigned))).clamp(1, MAX_PRECISION), 0),
            },
        },
        ColumnType::Year => (4, 0),
        ColumnType::Bit { bits } => (*bits, 0),
        ColumnType::Date => (8, 0),
        ColumnType::Time { fsp } => (7 + fsp, *fsp),
        ColumnType::DateTime { fsp } | ColumnType::Timestamp { fsp } => (14 + fsp, *fsp),
        _ => (20, 0),
    }
}

/// The type of what is computed with or made one of several values: a literal of ten digits, which is
/// announced as longer than an INT, has no more digits than it shows.
pub fn counted(typed: &Typed) -> ColumnType {
    match (&typed.expr, &typed.kind.column) {
        (
            super::Expr::Literal(_),
            ColumnType::Int { width: IntWidth::Big, unsigned: false, display: Some(12), zerofill },
        ) => {
            ColumnType::Int { width: IntWidth::Big, unsigned: false, display: Some(11), zerofill: *zerofill }
        }
        (_, kind) => kind.clone(),
    }
}

/// DECIMAL of this many digits before and after the point, cut to what a DECIMAL may have.
fn decimal(integer_digits: u8, scale: u8, unsigned: bool) -> ColumnType {
    let scale = scale.min(MAX_SCALE);
    let precision = integer_digits.saturating_add(scale).clamp(1, MAX_PRECISION);
    ColumnType::Decimal { precision, scale, unsigned, zerofill: false }
}

fn is_double_class(kind: &ColumnType) -> bool {
    matches!(kind, ColumnType::Double { .. } | ColumnType::Float { .. }) || kind.is_string()
}

fn is_decimal_class(kind: &ColumnType) -> bool {
    match kind {
        ColumnType::Decimal { .. } => true,
        ColumnType::Time { fsp } | ColumnType::DateTime { fsp } | ColumnType::Timestamp { fsp } => *fsp > 0,
        _ => false,
    }
}

/// An integer of so many digits.
fn integer(digits: u8, unsigned: bool) -> ColumnType {
    let display = Some(digits.min(MAX_PRECISION) + u8::from(!unsigned));
    ColumnType::Int { width: IntWidth::Big, unsigned, display, zerofill: false }
}

/// All digits of a number, and those behind the point, if it has a fixed number of these.
fn fixed_digits(kind: &ColumnType) -> Option<(u8, u8)> {
    match kind {
        ColumnType::Float { digits, .. } | ColumnType::Double { digits, .. } => *digits,
        kind if kind.is_numeric() => Some(decimal_shape(kind)),
        _ => None,
    }
}

/// Type of `left op right`; a quotient has so many `division_digits` more than what is divided.
pub(crate) fn arithmetic_type(
    op: ArithmeticOp,
    left: &ColumnType,
    right: &ColumnType,
    division_digits: u8,
) -> ColumnType {
    use ArithmeticOp as Op;
    let unsigned = left.is_unsigned() || right.is_unsigned();
    // A remainder has the sign of what is divided; other exact results can be negative if an operand can.
    let exact_unsigned = match op {
        Op::Modulo => left.is_unsigned(),
        _ => left.is_unsigned() && right.is_unsigned(),
    };
    match op {
        Op::BitAnd | Op::BitOr | Op::BitXor | Op::ShiftLeft | Op::ShiftRight => {
            return crate::functions::any_whole(true);
        }
        Op::IntegerDivide => return integer_quotient(left, right, unsigned),
        _ => {}
    }
    if *left == ColumnType::Null || *right == ColumnType::Null {
        return with_null(op, left, right, division_digits);
    }
    if is_double_class(left) || is_double_class(right) {
        let unsigned = op == Op::Modulo && left.is_unsigned();
        let more = if op == Op::Divide { division_digits } else { 0 };
        let digits = fixed_digits(left).zip(fixed_digits(right)).map(|(left, right)| {
            let scale = left.1.max(right.1).saturating_add(more);
            (left.0.saturating_sub(left.1).max(right.0.saturating_sub(right.1)).saturating_add(scale), scale)
        });
        return ColumnType::Double { unsigned, digits, zerofill: false };
    }
    let ((left_precision, left_scale), (right_precision, right_scale)) =
        (decimal_shape(left), decimal_shape(right));
    let (left_whole, right_whole) =
        (left_precision.saturating_sub(left_scale), right_precision.saturating_sub(right_scale));
    let exact = is_decimal_class(left) || is_decimal_class(right);
    match op {
        Op::Divide => {
            let scale = (left_scale + division_digits).min(MAX_SCALE);
            decimal(
                left_precision.saturating_add(right_scale).saturating_sub(left_scale),
                scale,
                exact_unsigned,
            )
        }
        Op::Multiply if exact => decimal(left_whole + right_whole, left_scale + right_scale, exact_unsigned),
        Op::Modulo if exact => {
            let scale = left_scale.max(right_scale);
            let digits = left_precision.max(right_precision) + u8::from(exact_unsigned);
            decimal(digits.saturating_sub(scale), scale, exact_unsigned)
        }
        _ if exact => decimal(left_whole.max(right_whole) + 1, left_scale.max(right_scale), exact_unsigned),
        Op::Modulo => {
            let digits = left_precision.max(right_precision) + u8::from(exact_unsigned);
            integer(digits, exact_unsigned)
        }
        Op::Multiply => integer(left_precision.saturating_add(right_precision), unsigned),
        _ => integer(left_precision.max(right_precision) + 1, unsigned),
    }
}

/// Digits of an integer division's result at most, without sign.
const QUOTIENT_DIGITS_MAX: u32 = 21;

/// DIV: the digits before the point of what is divided, and those behind the point of the divisor.
fn integer_quotient(left: &ColumnType, right: &ColumnType, unsigned: bool) -> ColumnType {
    let whole = match left {
        ColumnType::Null => 0,
        ColumnType::Float { digits: None, .. } => left.wire_length(),
        kind if is_double_class(kind) && fixed_digits(kind).is_none() => match kind {
            ColumnType::Double { .. } => QUOTIENT_DIGITS_MAX,
            text => text.text_length(),
        },
        kind => {
            let (total, scale) = fixed_digits(kind).unwrap_or_else(|| decimal_shape(kind));
            u32::from(total.saturating_sub(scale))
        }
    };
    let digits = whole.saturating_add(u32::from(right.fixed_scale())).min(QUOTIENT_DIGITS_MAX);
    let display = Some(digits as u8 + u8::from(!unsigned));
    ColumnType::Int { width: IntWidth::Big, unsigned, display, zerofill: false }
}

/// Digits, sign and point of a double that shows `scale` places.
const fn double_length(scale: u8) -> u8 {
    17 + scale
}

/// A result that is always NULL: a double with as many places as the result of numbers would have.
fn with_null(op: ArithmeticOp, left: &ColumnType, right: &ColumnType, division_digits: u8) -> ColumnType {
    let scale = match op {
        ArithmeticOp::Divide => left.fixed_scale().max(right.fixed_scale()).saturating_add(division_digits),
        ArithmeticOp::Multiply => left.fixed_scale().saturating_add(right.fixed_scale()),
        _ => left.fixed_scale().max(right.fixed_scale()),
    };
    if scale > MAX_SCALE {
        return ColumnType::DOUBLE;
    }
    let length = match op {
        ArithmeticOp::Divide => left.wire_length().saturating_add(u32::from(division_digits)),
        _ => left.wire_length().max(right.wire_length()),
    };
    let length = u8::try_from(length).unwrap_or(u8::MAX).clamp(scale.max(1), double_length(scale));
    ColumnType::Double { unsigned: false, digits: Some((length, scale)), zerofill: false }
}

/// A moment, or NULL, as the double that its sign or size is.
pub(crate) fn moment_as_real(kind: &ColumnType) -> ColumnType {
    let scale = kind.fixed_scale();
    ColumnType::Double { unsigned: false, digits: Some((double_length(scale), scale)), zerofill: false }
}

/// A whole number that is one of several ones is announced with the digits of the longest.
fn announced<'t>(all: ColumnType, parts: impl Iterator<Item = &'t Typed>) -> ColumnType {
    let ColumnType::Int { width: IntWidth::Big, unsigned, display: None, zerofill } = all else { return all };
    let digits = parts.map(|part| part.kind.column.wire_length()).max();
    let display = digits.and_then(|digits| u8::try_from(digits).ok()).filter(|digits| *digits != 20);
    ColumnType::Int { width: IntWidth::Big, unsigned, display, zerofill }
}

/// What an operation makes of a type: members of ENUM and SET become texts, which sort as texts. Only a
/// column, MIN and MAX have members.
fn text_of_members(kind: &ColumnType) -> ColumnType {
    match kind {
        ColumnType::Enum { collation, .. } | ColumnType::Set { collation, .. } => {
            ColumnType::Varchar { length: kind.text_length(), collation: *collation }
        }
        other => other.clone().unfilled(),
    }
}

/// The value of an operation that gives one of its arguments as it is.
pub(super) fn without_members(typed: Typed) -> Typed {
    let to = text_of_members(&typed.kind.column);
    if to == typed.kind.column {
        return typed;
    }
    let kind = super::ExprType { column: to.clone(), ..typed.kind };
    Typed { expr: super::Expr::Coerce { operand: Box::new(typed.expr), to }, kind }
}

/// Turns a value into the class of `kind` without range checks: what alternatives and result columns need.
pub fn coerce_value(value: Value, kind: &ColumnType, context: &EvalContext<'_>) -> SqlResult<Value> {
    use ColumnType as T;
    Ok(match (&value, kind) {
        (Value::Null, _)
        | (_, T::Null)
        | (Value::Int(_) | Value::UInt(_), T::Int { .. } | T::Bit { .. } | T::Year)
        | (Value::Double(_), T::Double { .. } | T::Float { .. })
        | (Value::Date(_), T::Date)
        | (Value::Enum(_), T::Enum { .. } | T::Set { .. }) => value,
        (Value::Str(_), _) if kind.is_character() => value,
        (Value::Json(_), T::Json) => value,
        (Value::Bytes(_), _) if kind.is_string() => value,
        (Value::Decimal(number), T::Decimal { scale, .. }) if number.scale() == *scale => value,
        (_, T::Decimal { scale, .. }) => Value::Decimal(to_decimal(&value, context)?.round_to(*scale)),
        (_, T::Double { .. } | T::Float { .. }) => Value::Double(to_double(&value, context)?),
        (_, T::DateTime { fsp } | T::Timestamp { fsp }) => match to_date_time(&value, context)? {
            Some(mut moment) => {
                moment.fsp = *fsp;
                Value::DateTime(moment)
            }
            None => Value::Null,
        },
        (_, T::Date) => {
            to_date_time(&value, context)?.map_or(Value::Null, |moment| Value::Date(moment.date()))
        }
        (_, T::Time { fsp }) => match to_time(&value, context)? {
            Some(mut time) => {
                time.fsp = *fsp;
                Value::Time(time)
            }
            None => Value::Null,
        },
        (_, T::Int { .. } | T::Bit { .. } | T::Year) => {
            Value::Int(turnstile_values::value::to_i64(&value, context)?)
        }
        _ if kind.is_binary_string() => Value::Bytes(Arc::from(to_bytes(&value).as_ref())),
        _ => Value::Str(to_text(&value)),
    })
}

/// The arithmetic of an operator; None if it has none.
pub(super) fn arithmetic_op(op: BinaryOp) -> Option<ArithmeticOp> {
    Some(match op {
        BinaryOp::Add => ArithmeticOp::Add,
        BinaryOp::Subtract => ArithmeticOp::Subtract,
        BinaryOp::Multiply => ArithmeticOp::Multiply,
        BinaryOp::Divide => ArithmeticOp::Divide,
        BinaryOp::IntegerDivide => ArithmeticOp::IntegerDivide,
        BinaryOp::Modulo => ArithmeticOp::Modulo,
        BinaryOp::BitAnd => ArithmeticOp::BitAnd,
        BinaryOp::BitOr => ArithmeticOp::BitOr,
        BinaryOp::BitXor => ArithmeticOp::BitXor,
        BinaryOp::ShiftLeft => ArithmeticOp::ShiftLeft,
        BinaryOp::ShiftRight => ArithmeticOp::ShiftRight,
        _ => return None,
    })
}
