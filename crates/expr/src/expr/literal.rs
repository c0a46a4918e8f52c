//! Literals of the syntax tree as values with types.

use super::{EvalContext, EvalSettings, Expr, SqlMode, Typed};
use turnstile_syntax::ast;
use turnstile_syntax::lexer::literal;
use turnstile_values::charset::is_stray;
use turnstile_values::collation::Collation;
use turnstile_values::datetime::{self, DateRules};
use turnstile_values::decimal::{Decimal, MAX_PRECISION};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::mixing::Traits;
use turnstile_values::types::{ColumnType, ExprType, IntWidth};
use turnstile_values::value::Value;

/// Length that is given for strings not known yet.
const PARAMETER_LENGTH: u32 = 16_383;

fn typed(value: Value, column: ColumnType) -> Typed {
    let traits = match value.as_raw_bytes() {
        Some(bytes) => Traits::literal(bytes),
        None => Traits::of(&column),
    };
    let kind = ExprType::new(column, value.is_null()).with_traits(traits);
    Typed { expr: Expr::Literal(value), kind }
}

fn whole(value: Value, digits: usize, is_of_bytes: bool) -> Typed {
    let unsigned = matches!(value, Value::UInt(_));
    // Ten digits are more than an INT holds.
    let display = Some(if digits == 11 && !is_of_bytes { 12 } else { digits.min(21) as u8 });
    typed(value, ColumnType::Int { width: IntWidth::Big, unsigned, display, zerofill: false })
}

/// Binds a literal. Hex and bit literals are byte strings here; see [`number_of_hex`].
pub(super) fn bind_literal(literal: &ast::Literal, settings: &EvalSettings) -> SqlResult<Typed> {
    let invalid = settings.sql_mode.has(SqlMode::ALLOW_INVALID_DATES);
    let rules = DateRules { invalid, ..DateRules::LENIENT };
    Ok(match literal {
        ast::Literal::Null => typed(Value::Null, ColumnType::Null),
        ast::Literal::Bool(truth) => whole(Value::boolean(*truth), 1, false),
        ast::Literal::Int(number) => {
            let digits = (number.to_string().len() + 1).min(20);
            whole(i64::try_from(*number).map_or(Value::UInt(*number), Value::Int), digits, false)
        }
        ast::Literal::Decimal(text) => {
            let parsed = Decimal::parse_prefix(text.as_bytes());
            let scale = parsed.value.scale();
            // A zero before the point is a digit, as in a table.
            let least = scale + u8::from(text.as_bytes().first().is_some_and(u8::is_ascii_digit));
            let precision = parsed.value.precision().max(least.min(MAX_PRECISION));
            typed(
                Value::Decimal(parsed.value),
                ColumnType::Decimal { precision, scale, unsigned: false, zerofill: false },
            )
        }
        ast::Literal::Double(number) => typed(Value::Double(*number), ColumnType::DOUBLE),
        ast::Literal::String(string) => bind_string(string, settings)?,
        ast::Literal::Hex(bytes) | ast::Literal::Bit(bytes) => {
            typed(Value::bytes(bytes.to_vec()), ColumnType::Varbinary { length: bytes.len() as u32 })
        }
        ast::Literal::Date(text) => match datetime::parse_date_time(text, rules) {
            Some(parsed) if !parsed.has_time && !parsed.truncated => {
                typed(Value::Date(parsed.moment.date()), ColumnType::Date)
            }
            _ => return Err(SqlError::wrong_value("DATE", String::from_utf8_lossy(text))),
        },
        ast::Literal::Time(text) => match datetime::parse_time(text) {
            Some((time, false)) => typed(Value::Time(time), ColumnType::Time { fsp: time.fsp }),
            _ => return Err(SqlError::wrong_value("TIME", String::from_utf8_lossy(text))),
        },
        ast::Literal::Timestamp(text) => match datetime::parse_date_time(text, rules) {
            Some(parsed) if !parsed.truncated => {
                let mut moment = parsed.moment;
                if let Some(offset_seconds) = parsed.offset_seconds {
                    let utc = datetime::TimeZone::fixed(offset_seconds).to_utc(moment);
                    moment = settings.time_zone.from_utc(utc);
                }
                typed(Value::DateTime(moment), ColumnType::DateTime { fsp: moment.fsp })
            }
            _ => return Err(SqlError::wrong_value("DATETIME", String::from_utf8_lossy(text))),
        },
    })
}

fn bind_string(string: &ast::StringLiteral, settings: &EvalSettings) -> SqlResult<Typed> {
    let collation = match &string.introducer {
        None => settings.connection_collation,
        Some(charset) => {
            Collation::default_of_charset(charset).ok_or_else(|| SqlError::unknown_character_set(charset))?
        }
    };
    if collation == Collation::Binary {
        let length = string.bytes.len() as u32;
        return Ok(typed(Value::bytes(string.bytes.to_vec()), ColumnType::Varbinary { length }));
    }
    if string.introducer.is_some() && !collation.set().is_utf8() {
        let set = collation.set();
        let text = set.decode(&string.bytes).ok_or_else(|| set.misfit(&string.bytes))?;
        let length = text.chars().count() as u32;
        return Ok(typed(Value::from(text), ColumnType::Varchar { length, collation }));
    }
    if string.introducer.is_none()
        && let Some(bytes) = strays(&string.bytes, settings)
    {
        let length = bytes.len() as u32;
        return Ok(typed(Value::bytes(bytes), ColumnType::Varbinary { length }));
    }
    match std::str::from_utf8(&string.bytes) {
        Ok(text) => {
            let length = text.chars().count() as u32;
            Ok(typed(Value::text(text), ColumnType::Varchar { length, collation }))
        }
        Err(_) if string.introducer.is_some() => Err(collation.set().misfit(&string.bytes)),
        Err(_) => {
            // Kept as bytes: storing it into a character column reports 1366 with the column's name.
            let length = string.bytes.len() as u32;
            Ok(typed(Value::bytes(string.bytes.to_vec()), ColumnType::Varbinary { length }))
        }
    }
}

/// The value of one of [`ast::LiteralRows`], as `bind_literal` gives it for the same literal in a tree.
pub fn literal_value(
    (kind, text): (ast::LiteralKind, &[u8]),
    escapes: bool,
    settings: &EvalSettings,
) -> Value {
    let number = || Value::Int(literal::integer(text).map_or(0, |number| number as i64));
    match kind {
        ast::LiteralKind::Null => Value::Null,
        ast::LiteralKind::Integer => number(),
        ast::LiteralKind::NegativeInteger => match number() {
            Value::Int(number) => Value::Int(-number),
            other => other,
        },
        ast::LiteralKind::String => match literal::plain_text(text, escapes) {
            Some(plain) => string_value(plain, settings),
            None => string_value(&literal::unquote(text, escapes), settings),
        },
    }
}

/// The bytes of a string as the client sent them, if some are none of its character set.
fn strays(text: &[u8], settings: &EvalSettings) -> Option<Vec<u8>> {
    let set = settings.client_set?;
    let text = std::str::from_utf8(text).ok().filter(|text| text.contains(is_stray))?;
    Some(set.sent_bytes(text))
}

/// A string that is no valid UTF-8 stays bytes: storing it into a character column reports 1366 with the
/// column's name.
fn string_value(bytes: &[u8], settings: &EvalSettings) -> Value {
    let collation = settings.connection_collation;
    if let Some(bytes) = strays(bytes, settings) {
        return Value::bytes(bytes);
    }
    match std::str::from_utf8(bytes) {
        Ok(text) if collation != Collation::Binary => Value::text(text),
        _ => Value::bytes(bytes),
    }
}

/// A parameter that stands for a whole number or a string: typed as the literal is, but for the length, which
/// only result columns would show. With `in_place` it is that literal again.
pub fn literal_parameter(at: usize, context: &EvalContext<'_>, in_place: bool) -> Option<Typed> {
    let value = context.parameters.get(at)?;
    let kind = match value {
        Value::Int(_) => {
            ColumnType::Int { width: IntWidth::Big, unsigned: false, display: Some(20), zerofill: false }
        }
        Value::Str(_) => {
            let collation = context.settings.connection_collation;
            ColumnType::Varchar { length: PARAMETER_LENGTH, collation }
        }
        Value::Bytes(_) => ColumnType::Varbinary { length: PARAMETER_LENGTH },
        _ => return None,
    };
    let traits = value.as_raw_bytes().map_or_else(|| Traits::of(&kind), Traits::literal);
    let expr = if in_place { Expr::Literal(value.clone()) } else { Expr::Parameter(at) };
    Some(Typed { expr, kind: ExprType::new(kind, false).with_traits(traits) })
}

/// IF or CASE with the hex literals that it may give as numbers: what it is where a number is wanted. None
/// where there are none.
pub(super) fn with_numbers_of_hex(expr: &ast::Expr) -> Option<ast::Expr> {
    let chooses = match expr {
        ast::Expr::Case { .. } => true,
        ast::Expr::Function(call) => &*call.name == "if",
        _ => false,
    };
    if !chooses {
        return None;
    }
    let mut changed = expr.clone();
    numbers_in_branches(&mut changed).then_some(changed)
}

fn numbers_in_branches(expr: &mut ast::Expr) -> bool {
    let mut found = false;
    let mut branch = |branch: &mut ast::Expr| match number_of_hex(branch).map(|typed| typed.expr) {
        Some(Expr::Literal(Value::UInt(number))) => {
            *branch = ast::Expr::Literal(ast::Literal::Int(number));
            found = true;
        }
        Some(Expr::Literal(Value::Int(number))) => {
            let positive = ast::Expr::Literal(ast::Literal::Int(number.unsigned_abs()));
            *branch = match number < 0 {
                true => ast::Expr::Unary { op: ast::UnaryOp::Negate, operand: Box::new(positive) },
                false => positive,
            };
            found = true;
        }
        _ => found |= numbers_in_branches(branch),
    };
    match expr {
        ast::Expr::Case { branches, otherwise, .. } => {
            branches.iter_mut().for_each(|(_, then)| branch(then));
            otherwise.iter_mut().for_each(|otherwise| branch(otherwise));
        }
        ast::Expr::Function(call) if &*call.name == "if" => {
            call.arguments.iter_mut().skip(1).for_each(branch);
        }
        _ => {}
    }
    found
}

/// A hex or bit literal read as a number, as numeric context wants it.
pub(crate) fn number_of_hex(literal: &ast::Expr) -> Option<Typed> {
    let ast::Expr::Literal(ast::Literal::Hex(bytes) | ast::Literal::Bit(bytes)) = literal else {
        return None;
    };
    let number = bytes.iter().rev().take(8).rev().fold(0u64, |sum, byte| sum << 8 | u64::from(*byte));
    let value = match literal {
        // The number of a bit literal has a sign.
        ast::Expr::Literal(ast::Literal::Bit(_)) => Value::Int(number as i64),
        _ => Value::UInt(number),
    };
    let signed = usize::from(matches!(value, Value::Int(_)));
    Some(whole(value, DIGITS_OF_BYTES[bytes.len().min(8)] + signed, true))
}

/// A hex or bit literal as a column of numbers takes it. More than eight bytes are beyond every whole number,
/// whatever bytes they are, and so is what has the highest of 64 bits set where numbers have signs.
pub(super) fn hex_for_column(
    literal: &ast::Expr,
    kind: &ColumnType,
    settings: &EvalSettings,
) -> Option<Typed> {
    let ast::Expr::Literal(ast::Literal::Hex(bytes) | ast::Literal::Bit(bytes)) = literal else {
        return None;
    };
    let number = number_of_hex(literal)?;
    let is_bits = matches!(kind, ColumnType::Bit { .. });
    let has_sign = !is_bits && !kind.is_unsigned();
    let is_high = bytes.len() == 8 && bytes.first().is_some_and(|byte| *byte > 0x7F);
    if bytes.len() <= 8 && !(has_sign && is_high) {
        return (!is_bits).then_some(number);
    }
    let value = match kind {
        ColumnType::Bit { bits: 64.. } | ColumnType::Int { width: IntWidth::Big, unsigned: true, .. } => {
            Value::Decimal(Decimal::parse_prefix(b"18446744073709551616").value)
        }
        ColumnType::Bit { .. } | ColumnType::Int { .. } | ColumnType::Year => Value::UInt(u64::MAX),
        // These hold larger numbers: a strict change is refused, another takes the largest whole number.
        _ if settings.sql_mode.is_strict() => Value::Double(f64::INFINITY),
        _ if has_sign => Value::Int(i64::MAX),
        _ => Value::UInt(u64::MAX),
    };
    Some(Typed { expr: Expr::Literal(value), kind: number.kind })
}

/// Digits of the greatest number in so many bytes.
const DIGITS_OF_BYTES: [usize; 9] = [1, 3, 5, 8, 10, 13, 15, 17, 20];

/// The number of a hex literal behind a sign, or where a function rounds it: a double.
pub(super) fn as_real(number: Typed) -> Typed {
    let value = match number.expr {
        Expr::Literal(Value::UInt(value)) => value as f64,
        Expr::Literal(Value::Int(value)) => value as f64,
        _ => return number,
    };
    let kind = ExprType { column: ColumnType::DOUBLE, ..number.kind };
    Typed { expr: Expr::Literal(Value::Double(value)), kind }
}

/// Functions for which a hex literal is no whole number.
pub(super) fn rounds_hex(name: &str, nth: usize) -> bool {
    nth == 0 && matches!(name, "abs" | "round" | "truncate" | "floor" | "ceil" | "ceiling")
}

/// The number of a hex literal whose sign ABS drops.
pub(super) fn as_absolute(number: Typed) -> Typed {
    let unsigned = number.kind.column.is_unsigned();
    let mut real = as_real(number);
    real.kind.column = match super::moment_as_real(&ColumnType::Null) {
        ColumnType::Double { digits, .. } => ColumnType::Double { unsigned, digits, zerofill: false },
        other => other,
    };
    real
}

/// The type of a whole number with a sign before it.
pub(super) fn negated_integer(kind: &ColumnType) -> ColumnType {
    let display = u8::try_from(kind.wire_length() + u32::from(kind.is_unsigned())).ok();
    ColumnType::Int { width: IntWidth::Big, unsigned: false, display, zerofill: false }
}

/// A negative literal that is negated again, or one that no BIGINT holds: a decimal.
pub(super) fn negated_literal(operand: &Typed) -> Option<Typed> {
    let number = match &operand.expr {
        Expr::Literal(Value::Int(number)) if *number < 0 => Decimal::from(*number),
        Expr::Literal(Value::UInt(number)) if *number > 1 << 63 => Decimal::from(*number),
        _ => return None,
    };
    let precision = number.precision().max(1);
    let column = ColumnType::Decimal { precision, scale: 0, unsigned: false, zerofill: false };
    let expr = Expr::Literal(Value::Decimal(number.negate()));
    Some(Typed { expr, kind: ExprType::new(column, false) })
}
