//! Numeric functions.

macro_rules! real_functions {
    ($($name:ident = $function:expr;)*) => {
        $(fn $name(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
            real(arguments, context, $function)
        })*
    };
}

mod base;
mod real;

use turnstile_values::decimal::Decimal;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::types::{ColumnType, IntWidth};
use turnstile_values::value::{
    Numeric, Value, parse_integer_prefix, to_bytes, to_double, to_i64, to_numeric, to_u64_bits,
};

use super::extreme::{greatest, least};
use super::{Entry, MANY, NUMBERS, VOLATILE, bigint, double, entry, text_of, unified};
use crate::expr::{Call, EvalContext, RandomSequence, Typed};

pub(crate) use base::CONV_OF_BITS;
use base::{bin, conv, oct};
use real::{atan, ln, log, log2, log10, power, real};

pub(super) static FUNCTIONS: &[Entry] = &[
    entry("abs", (1, 1), abs, absolute, NUMBERS),
    entry("ceil", (1, 1), ceiling, whole, NUMBERS),
    entry("ceiling", (1, 1), ceiling, whole, NUMBERS),
    entry("floor", (1, 1), floor, whole, NUMBERS),
    entry("round", (1, 2), round, rounded, NUMBERS),
    entry("truncate", (2, 2), truncate, truncated, NUMBERS),
    entry("mod", (2, 2), modulo, modulo_type, NUMBERS),
    entry("pow", (2, 2), power, double, NUMBERS),
    entry("power", (2, 2), power, double, NUMBERS),
    entry("sqrt", (1, 1), sqrt, double, NUMBERS),
    entry("exp", (1, 1), exp, double, NUMBERS),
    entry("ln", (1, 1), ln, double, NUMBERS),
    entry("log", (1, 2), log, double, NUMBERS),
    entry("log2", (1, 1), log2, double, NUMBERS),
    entry("log10", (1, 1), log10, double, NUMBERS),
    entry("sign", (1, 1), sign, bigint, NUMBERS),
    entry("rand", (0, 1), rand, double, VOLATILE),
    entry("pi", (0, 0), pi, pi_type, 0),
    entry("sin", (1, 1), sin, double, NUMBERS),
    entry("cos", (1, 1), cos, double, NUMBERS),
    entry("tan", (1, 1), tan, double, NUMBERS),
    entry("cot", (1, 1), cot, double, NUMBERS),
    entry("asin", (1, 1), asin, double, NUMBERS),
    entry("acos", (1, 1), acos, double, NUMBERS),
    entry("atan", (1, 2), atan, double, NUMBERS),
    entry("atan2", (1, 2), atan, double, NUMBERS),
    entry("radians", (1, 1), radians, double, NUMBERS),
    entry("degrees", (1, 1), degrees, double, NUMBERS),
    entry("greatest", (2, MANY), greatest, unified, 0),
    entry("least", (2, MANY), least, unified, 0),
    entry("bit_count", (1, 1), bit_count, bigint, NUMBERS),
    entry("conv", (3, 3), conv, text_of::<65>, 0),
    entry("bin", (1, 1), bin, text_of::<65>, NUMBERS),
    entry("oct", (1, 1), oct, text_of::<65>, NUMBERS),
    entry("interval", (2, MANY), interval, bigint, NUMBERS),
];

/// Whole numbers stay whole, decimals decimal, everything else is a double.
fn like_number(arguments: &[Typed]) -> ColumnType {
    match arguments.first().map(|first| &first.kind.column) {
        Some(kind @ ColumnType::Decimal { .. }) => kind.clone(),
        Some(kind) if kind.is_integer() => ColumnType::int(IntWidth::Big, kind.is_unsigned()),
        _ => ColumnType::DOUBLE,
    }
}

/// ABS: a whole number has the digits that its argument has.
fn absolute(arguments: &[Typed]) -> ColumnType {
    match (like_number(arguments), arguments.first()) {
        (ColumnType::Int { width, unsigned, .. }, Some(first)) => {
            let display = u8::try_from(first.kind.column.wire_length()).ok();
            ColumnType::Int { width, unsigned, display, zerofill: false }
        }
        (_, Some(first)) if first.kind.column.is_temporal() || first.kind.column == ColumnType::Null => {
            crate::expr::moment_as_real(&first.kind.column)
        }
        // A hex literal.
        (_, Some(Typed { expr: crate::expr::Expr::Literal(_), kind }))
            if matches!(kind.column, ColumnType::Double { digits: Some((_, 0)), .. }) =>
        {
            kind.column.clone()
        }
        (kind, first) => match first.map(|first| &first.kind.column) {
            Some(ColumnType::Float { digits: Some((_, scale)), .. }) => crate::expr::double_of_scale(*scale),
            Some(ColumnType::Double { digits: Some((_, scale)), .. }) => crate::expr::double_of_scale(*scale),
            _ => kind,
        },
    }
}

/// MOD's type is that of the operator.
fn modulo_type(arguments: &[Typed]) -> ColumnType {
    let [left, right] = arguments else { return ColumnType::DOUBLE };
    let modulo = crate::expr::ArithmeticOp::Modulo;
    crate::expr::arithmetic_type(modulo, &left.kind.column, &right.kind.column, 0)
}

/// An argument as a function computes with it: what is announced as a double is one.
fn number_for(call: &Call, value: &Value, context: &EvalContext<'_>) -> SqlResult<Numeric> {
    match call.kind {
        ColumnType::Double { .. } => to_double(value, context).map(Numeric::Double),
        _ => to_numeric(value, context),
    }
}

fn whole(arguments: &[Typed]) -> ColumnType {
    match like_number(arguments) {
        ColumnType::Decimal { precision, scale, .. } => {
            if precision.saturating_sub(scale) > 17 {
                ColumnType::Decimal {
                    precision: precision.saturating_sub(scale) + 1,
                    scale: 0,
                    unsigned: false,
                    zerofill: false,
                }
            } else {
                ColumnType::BIGINT
            }
        }
        other => other,
    }
}

/// TRUNCATE: no digit is carried over.
fn truncated(arguments: &[Typed]) -> ColumnType {
    match rounded(arguments) {
        ColumnType::Decimal { precision, scale, unsigned, zerofill } => ColumnType::Decimal {
            precision: precision.saturating_sub(1).max(scale).max(1),
            scale,
            unsigned,
            zerofill,
        },
        kind => kind,
    }
}

fn rounded(arguments: &[Typed]) -> ColumnType {
    let kind = like_number(arguments);
    let ColumnType::Decimal { precision, scale, .. } = kind else { return kind };
    let places = match arguments.get(1).map(|places| &places.expr) {
        None => 0,
        Some(crate::expr::Expr::Literal(places)) => match places {
            Value::Int(places) => *places,
            Value::UInt(_) => i64::from(scale),
            Value::Decimal(places) => places.to_i64().unwrap_or(0),
            Value::Double(places) => *places as i64,
            other => parse_integer_prefix(&to_bytes(other)).0.clamp(-99, 99) as i64,
        },
        Some(_) => i64::from(scale),
    };
    // Digits that the number does not have are not made up.
    let places = places.clamp(0, i64::from(scale)) as u8;
    let precision = (precision.saturating_sub(scale) + places + 1).min(65);
    ColumnType::Decimal { precision, scale: places, unsigned: false, zerofill: false }
}

fn pi_type(_: &[Typed]) -> ColumnType {
    ColumnType::Double { unsigned: false, digits: Some((8, 6)), zerofill: false }
}

fn abs(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    Ok(match number_for(call, &arguments[0], context)? {
        Numeric::Int(number) => Value::Int(
            number
                .checked_abs()
                .ok_or_else(|| SqlError::value_out_of_range("BIGINT", format!("abs({number})")))?,
        ),
        Numeric::UInt(number) => Value::UInt(number),
        Numeric::Decimal(number) => Value::Decimal(number.abs()),
        Numeric::Double(number) => Value::Double(number.abs()),
    })
}

fn whole_value(
    call: &Call,
    arguments: &[Value],
    context: &EvalContext<'_>,
    decimal: fn(&Decimal) -> Decimal,
    double: fn(f64) -> f64,
) -> SqlResult<Value> {
    null_guard!(arguments);
    Ok(match number_for(call, &arguments[0], context)? {
        Numeric::Int(number) => Value::Int(number),
        Numeric::UInt(number) => Value::UInt(number),
        Numeric::Decimal(number) => {
            let whole = decimal(&number);
            match whole.to_i64() {
                Some(whole) if number.integer_digits() <= 17 => Value::Int(whole),
                // What is computed with a parameter can have more digits than its type says.
                None if matches!(call.kind, ColumnType::Int { .. }) => {
                    context.warn(SqlError::truncated_wrong_value("DECIMAL", whole.to_string()))?;
                    Value::Int(if number.is_negative() { i64::MIN } else { i64::MAX })
                }
                _ => Value::Decimal(whole),
            }
        }
        Numeric::Double(number) => Value::Double(double(number)),
    })
}

fn ceiling(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    whole_value(call, arguments, context, Decimal::ceiling, f64::ceil)
}

fn floor(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    whole_value(call, arguments, context, Decimal::floor, f64::floor)
}

fn to_places(call: &Call, arguments: &[Value], context: &EvalContext<'_>, cut: bool) -> SqlResult<Value> {
    if arguments[0].is_null() {
        return Ok(Value::Null);
    }
    // The number is read, and told of, even if it has no places.
    let number = number_for(call, &arguments[0], context)?;
    null_guard!(arguments);
    let places = match arguments.get(1) {
        // More places than any number has.
        Some(Value::UInt(places)) => i64::try_from(*places).unwrap_or(i64::MAX),
        Some(places) => to_i64(places, context)?,
        None => 0,
    };
    let adjust =
        |number: &Decimal| if cut { number.truncate_places(places) } else { number.round_places(places) };
    let overflow = |kind: &str, number: &dyn std::fmt::Display| {
        SqlError::value_out_of_range(kind, format!("{}({number},{places})", call.name))
    };
    Ok(match number {
        Numeric::Int(number) if places >= 0 => Value::Int(number),
        Numeric::UInt(number) if places >= 0 => Value::UInt(number),
        Numeric::Int(number) => {
            let whole = adjust(&Decimal::from(number)).to_i64();
            Value::Int(whole.ok_or_else(|| overflow("BIGINT", &number))?)
        }
        Numeric::UInt(number) => {
            let whole = adjust(&Decimal::from(number)).to_u64();
            Value::UInt(whole.ok_or_else(|| overflow("BIGINT UNSIGNED", &number))?)
        }
        Numeric::Decimal(number) if places >= i64::from(number.scale()) => Value::Decimal(number),
        Numeric::Decimal(number) => Value::Decimal(adjust(&number)),
        Numeric::Double(number) => Value::Double(round_double(number, places, cut)),
    })
}

pub(super) fn round_double(number: f64, places: i64, cut: bool) -> f64 {
    let unit = 10f64.powi(places.unsigned_abs().min(310) as i32);
    let apply = |number: f64| if cut { number.trunc() } else { number.round_ties_even() };
    let scaled = if places < 0 { number / unit } else { number * unit };
    if !scaled.is_finite() || !unit.is_finite() {
        return if places < 0 { 0.0 } else { number };
    }
    let adjusted = apply(scaled);
    if places < 0 { adjusted * unit } else { adjusted / unit }
}

fn round(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    to_places(call, arguments, context, false)
}

fn truncate(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    to_places(call, arguments, context, true)
}

fn modulo(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let expr = crate::expr::Expr::Arithmetic {
        op: crate::expr::ArithmeticOp::Modulo,
        left: Box::new(crate::expr::Expr::Literal(arguments[0].clone())),
        right: Box::new(crate::expr::Expr::Literal(arguments[1].clone())),
        source: None,
    };
    expr.eval(&crate::expr::NoRow, context)
}

real_functions! {
    sqrt = f64::sqrt;
    exp = f64::exp;
    sin = f64::sin;
    cos = f64::cos;
    tan = f64::tan;
    cot = |angle| 1.0 / angle.tan();
    asin = f64::asin;
    acos = f64::acos;
    radians = f64::to_radians;
    degrees = f64::to_degrees;
}

fn sign(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let number = to_double(&arguments[0], context)?;
    Ok(Value::Int(i64::from(number > 0.0) - i64::from(number < 0.0)))
}

fn rand(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let Some(seed) = arguments.first() else { return Ok(Value::Double(context.session.random())) };
    let mut sequence = RandomSequence::new(to_i64(seed, context)? as u32);
    // A seed that is the same for all rows begins one sequence in a statement; any other begins one in each
    // row.
    if call.arguments[0].is_constant() {
        let place = std::ptr::from_ref(call) as usize;
        return Ok(Value::Double(context.session.random_in_sequence(place, sequence)));
    }
    Ok(Value::Double(sequence.next_number()))
}

fn pi(_: &Call, _: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    Ok(Value::Double(std::f64::consts::PI))
}

fn bit_count(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    if let Value::Bytes(bytes) = &arguments[0] {
        return Ok(Value::Int(bytes.iter().map(|byte| i64::from(byte.count_ones())).sum()));
    }
    Ok(Value::Int(i64::from(to_u64_bits(&arguments[0], context)?.count_ones())))
}

fn interval(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    if arguments[0].is_null() {
        return Ok(Value::Int(-1));
    }
    let number = to_double(&arguments[0], context)?;
    let mut place = 0;
    for bound in &arguments[1..] {
        if !bound.is_null() && to_double(bound, context)? > number {
            break;
        }
        place += 1;
    }
    Ok(Value::Int(place))
}
