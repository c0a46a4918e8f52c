//! Numeric functions.

use super::extreme::{greatest, least};
use super::{Entry, MANY, NUMBERS, VOLATILE, bigint, double, entry, text_of, unified};
use crate::expr::{Call, EvalContext, RandomSequence, ScalarFunction, Typed};
use turnstile_values::decimal::Decimal;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::types::{ColumnType, IntWidth};
use turnstile_values::value::{
    Numeric, Value, parse_integer_prefix, to_bytes, to_double, to_i64, to_numeric, to_text, to_u64_bits,
};

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

/// A double function of one argument; results that are no number are NULL.
fn real(arguments: &[Value], context: &EvalContext<'_>, function: fn(f64) -> f64) -> SqlResult<Value> {
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

macro_rules! real_functions {
    ($($name:ident = $function:expr;)*) => {
        $(fn $name(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
            real(arguments, context, $function)
        })*
    };
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

/// Two doubles, read one after the other until one is NULL.
fn two_doubles(arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Option<(f64, f64)>> {
    if arguments[0].is_null() {
        return Ok(None);
    }
    let first = to_double(&arguments[0], context)?;
    if arguments[1].is_null() { Ok(None) } else { Ok(Some((first, to_double(&arguments[1], context)?))) }
}

fn power(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let Some((base, exponent)) = two_doubles(arguments, context)? else { return Ok(Value::Null) };
    let result = base.powf(exponent);
    if !result.is_finite() {
        let text = format!("pow({},{})", to_text(&arguments[0]), to_text(&arguments[1]));
        return Err(SqlError::value_out_of_range("DOUBLE", text));
    }
    Ok(Value::Double(result))
}

fn invalid_logarithm() -> SqlError {
    SqlError::new(3020, b"2201E", "Invalid argument for logarithm")
}

fn logarithm(value: &Value, context: &EvalContext<'_>, function: fn(f64) -> f64) -> SqlResult<Value> {
    let number = to_double(value, context)?;
    if number <= 0.0 {
        context.warn(invalid_logarithm())?;
        return Ok(Value::Null);
    }
    Ok(Value::Double(function(number)))
}

fn ln(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    logarithm(&arguments[0], context, f64::ln)
}

fn log2(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    logarithm(&arguments[0], context, f64::log2)
}

fn log10(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    logarithm(&arguments[0], context, f64::log10)
}

fn log(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
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
        context.warn(invalid_logarithm())?;
        return Ok(Value::Null);
    }
    Ok(Value::Double(number / base))
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

fn atan(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    if arguments.len() == 1 {
        null_guard!(arguments);
        return Ok(Value::Double(to_double(&arguments[0], context)?.atan()));
    }
    Ok(two_doubles(arguments, context)?.map_or(Value::Null, |(one, other)| Value::Double(one.atan2(other))))
}

fn bit_count(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    if let Value::Bytes(bytes) = &arguments[0] {
        return Ok(Value::Int(bytes.iter().map(|byte| i64::from(byte.count_ones())).sum()));
    }
    Ok(Value::Int(i64::from(to_u64_bits(&arguments[0], context)?.count_ones())))
}

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

fn conv(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
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

fn bin(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    in_base_of_ten(&arguments[0], 2, context)
}

fn oct(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    in_base_of_ten(&arguments[0], 8, context)
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
