//! CAST and CONVERT: what fits is converted, what does not is cut or clamped with a warning, never an error
//! of its own.

use std::sync::Arc;

use super::result_bytes::build;
use crate::expr::{EvalContext, EvalSettings};
use turnstile_syntax::ast::CastType;
use turnstile_values::collation::Collation;
use turnstile_values::decimal::Decimal;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::types::ColumnType;
use turnstile_values::value::{
    ReadFor, Value, parse_integer_prefix, read_date, read_moment, to_bytes, to_decimal, to_double, to_i64,
    to_text, to_time, to_u64_bits,
};

fn digits(given: Option<u64>, default: u8, most: u8) -> SqlResult<u8> {
    match given {
        None => Ok(default),
        Some(given) if given <= u64::from(most) => Ok(given as u8),
        Some(given) => Err(SqlError::too_big_precision(given, "CAST", most)),
    }
}

/// Most bytes of a VARCHAR; longer text is a TEXT.
const VARCHAR_BYTES_MAX: u32 = 65_535;

/// A value as text of which nothing is cut.
pub(crate) fn text_of_any_length(from: &ColumnType, collation: Collation) -> ColumnType {
    let length = from.text_length();
    match length.saturating_mul(collation.max_char_bytes()) {
        0..=VARCHAR_BYTES_MAX => ColumnType::Varchar { length, collation },
        _ => ColumnType::Text { size: turnstile_values::types::BlobSize::Long, collation },
    }
}

/// The type a CAST gives.
pub fn cast_target(target: &CastType, from: &ColumnType, settings: &EvalSettings) -> SqlResult<ColumnType> {
    if let CastType::Char { length: Some(length), .. } | CastType::Binary(Some(length)) = target
        && u32::try_from(*length).is_err()
    {
        return Err(SqlError::too_big_display_width("cast as char", u32::MAX));
    }
    let length = |given: &Option<u64>| match given {
        Some(given) => u32::try_from(*given).unwrap_or(u32::MAX),
        None => from.text_length(),
    };
    Ok(match target {
        CastType::Binary(Some(given)) => {
            ColumnType::Binary { length: u32::try_from(*given).unwrap_or(u32::MAX) }
        }
        CastType::Binary(None) => super::bytes_type(super::bytes_of_text(from)),
        CastType::Char { length: given, charset } => {
            let collation = match charset {
                None => settings.connection_collation,
                Some(charset) => Collation::default_of_charset(charset)
                    .ok_or_else(|| SqlError::unknown_character_set(charset))?,
            };
            if collation == Collation::Binary {
                let bytes = if given.is_some() { length(given) } else { super::bytes_of_text(from) };
                return Ok(super::bytes_type(bytes));
            }
            match given {
                None => text_of_any_length(from, collation),
                _ => ColumnType::Varchar { length: length(given), collation },
            }
        }
        CastType::Signed => super::any_whole(false),
        CastType::Unsigned => super::any_whole(true),
        CastType::Date => ColumnType::Date,
        CastType::Time(fsp) => ColumnType::Time { fsp: digits(*fsp, 0, 6)? },
        CastType::DateTime(fsp) => ColumnType::DateTime { fsp: digits(*fsp, 0, 6)? },
        CastType::Year => ColumnType::Year,
        CastType::Decimal { precision, scale } => {
            if let Some(scale) = scale.filter(|scale| *scale > 30) {
                return Err(SqlError::too_big_scale(scale, "CAST", 30));
            }
            let (precision, scale) = (digits(*precision, 10, 65)?, digits(*scale, 0, 30)?);
            let precision = if precision == 0 { 10 } else { precision };
            if scale > precision {
                return Err(SqlError::scale_over_precision(""));
            }
            ColumnType::Decimal { precision, scale, unsigned: false, zerofill: false }
        }
        CastType::Float(bits @ Some(54..)) => return digits(*bits, 0, 53).map(|_| ColumnType::DOUBLE),
        CastType::Float(Some(bits)) if *bits > 24 => ColumnType::DOUBLE,
        CastType::Float(_) => ColumnType::Float { unsigned: false, digits: None, zerofill: false },
        CastType::Double => ColumnType::DOUBLE,
        CastType::Json => ColumnType::Json,
    })
}

/// CAST(value AS kind).
pub fn cast(value: &Value, kind: &ColumnType, context: &EvalContext<'_>) -> SqlResult<Value> {
    cast_named(value, kind, None, context)
}

/// CAST(value AS kind) as a result column of this name, if it is one.
pub(crate) fn cast_named(
    value: &Value,
    kind: &ColumnType,
    name: Option<&str>,
    context: &EvalContext<'_>,
) -> SqlResult<Value> {
    if value.is_null() {
        return Ok(Value::Null);
    }
    // A number beyond BIGINT is read as the negative one of the same bits where a date is wanted.
    if let Value::UInt(bits @ 0x8000_0000_0000_0000..) = value
        && (kind.is_temporal() || *kind == ColumnType::Year)
    {
        return cast(&Value::Int(*bits as i64), kind, context);
    }
    Ok(match kind {
        ColumnType::Int { unsigned: false, .. } => cast_signed(value, context)?,
        ColumnType::Int { .. } => Value::UInt(cast_unsigned(value, context)?),
        ColumnType::Decimal { precision, scale, .. } => {
            Value::Decimal(cast_decimal(value, (*precision, *scale), name, context)?)
        }
        ColumnType::Float { .. } => cast_float(value, name, context)?,
        ColumnType::Double { .. } => Value::Double(to_double(value, context)?),
        ColumnType::Year => cast_year(value, context)?,
        ColumnType::Date => read_date(value, ReadFor::Keeping, context)?.map_or(Value::Null, Value::Date),
        ColumnType::DateTime { fsp } => {
            let moment = read_moment(value, ReadFor::Keeping, context)?;
            moment.and_then(|moment| context.moment_to(moment, *fsp)).map_or(Value::Null, Value::DateTime)
        }
        ColumnType::Time { fsp } => {
            to_time(value, context)?.map_or(Value::Null, |time| Value::Time(context.time_to(time, *fsp)))
        }
        ColumnType::Binary { length } => cast_binary(value, *length, context)?,
        kind if kind.is_binary_string() => Value::Bytes(Arc::from(to_bytes(value).as_ref())),
        ColumnType::Varchar { length, collation } => {
            let set = collation.set();
            let mut text = match value {
                // Bytes are taken as the character set's own.
                Value::Bytes(bytes) => match set.decode(bytes) {
                    Some(text) => text.into(),
                    None => {
                        context.warn(set.misfit(bytes))?;
                        if context.settings.sql_mode.is_strict() {
                            return Ok(Value::Null);
                        }
                        set.decode_prefix(bytes).0.into()
                    }
                },
                other => to_text(other),
            };
            if set.first_missing(&text).is_some() {
                text = set.fit(&text).into();
            }
            match text.char_indices().nth(*length as usize) {
                Some((end, _)) => {
                    // MySQL's warning counts bytes.
                    cut_warning(true, "CHAR", set.encode(&text[..end]).len() as u32, value, context)?;
                    Value::text(&text[..end])
                }
                None => Value::Str(text),
            }
        }
        _ => crate::expr::coerce_value(value.clone(), kind, context)?,
    })
}

/// CAST(value AS BINARY(length)): cut, or filled up with zeros.
fn cast_binary(value: &Value, length: u32, context: &EvalContext<'_>) -> SqlResult<Value> {
    let bytes = to_bytes(value);
    if bytes.len() > length as usize {
        let shown = turnstile_values::value::shown_bytes(&bytes);
        context.warn(SqlError::truncated_wrong_value(format!("BINARY({length})"), shown))?;
    }
    let kept = &bytes[..bytes.len().min(length as usize)];
    let built = build("cast_as_binary", context, |out| {
        out.push(kept)?;
        out.push_repeated(b"\0", u64::from(length) - kept.len() as u64)
    })?;
    Ok(built.map_or(Value::Null, Value::bytes))
}

fn cut_warning(
    cut: bool,
    kind: &str,
    length: u32,
    value: &Value,
    context: &EvalContext<'_>,
) -> SqlResult<()> {
    if !cut {
        return Ok(());
    }
    context.warn(SqlError::truncated_wrong_value(format!("{kind}({length})"), to_text(value)))
}

fn cast_signed(value: &Value, context: &EvalContext<'_>) -> SqlResult<Value> {
    if let Some(text) = value.as_raw_bytes() {
        let (number, _) = parse_integer_prefix(text);
        if number > i128::from(i64::MAX) {
            // Read as unsigned and reinterpreted, as MySQL does.
            context.warn(SqlError::truncated_wrong_value(
                "INTEGER",
                turnstile_values::value::shown_value(value),
            ))?;
            return Ok(Value::Int(number.min(i128::from(u64::MAX)) as u64 as i64));
        }
    }
    Ok(Value::Int(to_i64(value, context)?))
}

fn cast_unsigned(value: &Value, context: &EvalContext<'_>) -> SqlResult<u64> {
    match value {
        Value::Decimal(number) if number.is_negative() => {
            let whole = number.to_i64();
            if whole.is_none() {
                context.warn(SqlError::truncated_wrong_value("DECIMAL", number))?;
            }
            Ok(whole.unwrap_or(i64::MIN) as u64)
        }
        Value::Decimal(number) => match number.to_u64() {
            Some(whole) => Ok(whole),
            None => {
                context.warn(SqlError::truncated_wrong_value("DECIMAL", number))?;
                Ok(u64::MAX)
            }
        },
        Value::Str(_) | Value::Bytes(_) => {
            let bits = to_u64_bits(value, context)?;
            if parse_integer_prefix(value.as_raw_bytes().unwrap_or(&[])).0 < 0 {
                context.warn(SqlError::cast_to_complement("unsigned", "negative integer", "positive"))?;
            }
            Ok(bits)
        }
        other => to_u64_bits(other, context),
    }
}

/// CAST(value AS DECIMAL(precision, scale)); the largest one with a warning for what has more digits.
fn cast_decimal(
    value: &Value,
    (precision, scale): (u8, u8),
    name: Option<&str>,
    context: &EvalContext<'_>,
) -> SqlResult<Decimal> {
    let number = to_decimal(value, context)?;
    let overflows = value.as_raw_bytes().is_some_and(|text| Decimal::parse_prefix(text).overflow);
    match number.fit(precision, scale) {
        Ok(number) if !overflows => Ok(number),
        _ => {
            context.warn(SqlError::out_of_range_column(name.unwrap_or("(null)"), 1))?;
            let largest = Decimal::max_value(precision, scale);
            Ok(if number.is_negative() { largest.negate() } else { largest })
        }
    }
}

/// CAST(value AS FLOAT); error 1690 for what no FLOAT holds.
fn cast_float(value: &Value, name: Option<&str>, context: &EvalContext<'_>) -> SqlResult<Value> {
    let number = to_double(value, context)? as f32;
    if !number.is_finite() {
        return Err(SqlError::value_out_of_range("DOUBLE", name.unwrap_or("cast")));
    }
    Ok(Value::Double(f64::from(number)))
}

/// CAST(value AS YEAR): a number, shown without leading zeros.
fn cast_year(value: &Value, context: &EvalContext<'_>) -> SqlResult<Value> {
    let number = match value {
        Value::Date(date) => i64::from(date.year()),
        Value::DateTime(moment) => i64::from(moment.date().year()),
        Value::Time(_) => i64::from(context.now().date().year()),
        Value::Str(_) | Value::Bytes(_) => {
            let text = to_bytes(value);
            let (number, complete) = parse_integer_prefix(&text);
            if !text.trim_ascii_start().first().is_some_and(u8::is_ascii_digit) {
                context.warn(SqlError::wrong_value("YEAR", turnstile_values::value::shown_value(value)))?;
                return Ok(Value::Null);
            }
            if !complete {
                context.warn(SqlError::truncated_wrong_value(
                    "YEAR",
                    turnstile_values::value::shown_value(value),
                ))?;
            }
            i64::try_from(number).unwrap_or(i64::MAX)
        }
        other => to_i64(other, context)?,
    };
    Ok(match number {
        0 if !value.is_string() => Value::Int(0),
        0..=69 => Value::Int(2000 + number),
        70..=99 => Value::Int(1900 + number),
        1901..=2155 => Value::Int(number),
        _ => {
            let text = if value.is_string() { to_text(value) } else { number.to_string().into() };
            context.warn(SqlError::truncated_wrong_value("YEAR", text))?;
            Value::Null
        }
    })
}
