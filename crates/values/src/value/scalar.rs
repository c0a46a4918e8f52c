//! Documents as values of a type: what JSON_VALUE gives and what JSON_TABLE's columns hold.

use crate::context::{EvalContext, Held};
use crate::datetime::{self, DateRules};
use crate::error::SqlResult;
use crate::json::document::{Json, Kind};
use crate::json::write::{unquoted, write, write_marked};
use crate::types::ColumnType;
use crate::value::{StoreContext, Value, parse_double_prefix, store};

/// Why a document is no value of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Misfit {
    /// It is of another kind, and so it cannot be cast to what this calls the type.
    Kind(&'static str),
    /// It is too large or too long.
    Range,
}

/// The value that holds a document.
fn kept_value(document: &Json, held: &mut Held<'_>) -> SqlResult<Value> {
    if document.is_plain() {
        return Ok(Value::from(write(document, held)?));
    }
    Ok(Value::Json(write_marked(document, held)?.into()))
}

/// The same for a column of JSON_TABLE, which takes digits for moments.
pub fn to_column(
    document: &Json,
    kind: &ColumnType,
    context: &EvalContext<'_>,
) -> SqlResult<Result<Value, Misfit>> {
    let value = match document {
        _ if !kind.is_temporal() => return to_kind(document, kind, context),
        Json::Int(_) | Json::UInt(_) | Json::Double(_) | Json::Decimal(_) => match whole(document) {
            Ok(number) => number,
            Err(misfit) => return Ok(Err(misfit)),
        },
        _ => return to_kind(document, kind, context),
    };
    stored(&value, kind, context)
}

/// A moment stays as it is written: only a column of a table turns it to UTC.
fn stored(value: &Value, kind: &ColumnType, context: &EvalContext<'_>) -> SqlResult<Result<Value, Misfit>> {
    let kind = match kind {
        ColumnType::Timestamp { fsp } => &ColumnType::DateTime { fsp: *fsp },
        other => other,
    };
    let place = StoreContext { column: "", row: 1, nullable: true, strict: true, eval: context };
    match store(value, kind, &place) {
        Err(error) if error.ends_statement() => Err(error),
        stored => Ok(stored.map_err(|_| Misfit::Range)),
    }
}

/// A document as a value of this type; `null` is NULL.
pub fn to_kind(
    document: &Json,
    kind: &ColumnType,
    context: &EvalContext<'_>,
) -> SqlResult<Result<Value, Misfit>> {
    if matches!(document, Json::Null) {
        return Ok(Ok(Value::Null));
    }
    let mut held = context.held();
    let value = match kind {
        ColumnType::Json => return Ok(Ok(kept_value(document, &mut held)?)),
        ColumnType::Int { .. } | ColumnType::Year | ColumnType::Bit { .. } => whole(document),
        ColumnType::Decimal { precision, scale, .. } => {
            return Ok(decimal(document).and_then(|number| {
                number.fit(*precision, *scale).map(Value::Decimal).map_err(|_| Misfit::Range)
            }));
        }
        ColumnType::Float { .. } | ColumnType::Double { .. } => double(document),
        ColumnType::Date => moment(document, "DATE"),
        ColumnType::DateTime { .. } | ColumnType::Timestamp { .. } => moment(document, "DATETIME/TIMESTAMP"),
        ColumnType::Time { .. } => time(document),
        _ if kind.is_binary_string() => Ok(Value::bytes(unquoted(document, &mut held)?.as_bytes())),
        _ => Ok(Value::text(&*unquoted(document, &mut held)?)),
    };
    value.map_or_else(|misfit| Ok(Err(misfit)), |value| stored(&value, kind, context))
}

fn whole(document: &Json) -> Result<Value, Misfit> {
    Ok(match document {
        Json::Bool(truth) => Value::boolean(*truth),
        Json::Int(number) => Value::Int(*number),
        Json::UInt(number) => Value::UInt(*number),
        Json::Double(number) => Value::Double(*number),
        Json::Decimal(number) => Value::Decimal(number.clone()),
        Json::String(text) => match (text.trim().parse::<i64>(), text.trim().parse::<u64>()) {
            (Ok(number), _) => Value::Int(number),
            (Err(_), Ok(number)) => Value::UInt(number),
            _ => return Err(Misfit::Kind("INTEGER")),
        },
        _ => return Err(Misfit::Kind("INTEGER")),
    })
}

fn decimal(document: &Json) -> Result<crate::decimal::Decimal, Misfit> {
    use crate::decimal::Decimal;
    let text = match document {
        Json::Decimal(number) => return Ok(number.clone()),
        Json::Bool(truth) => return Ok(Decimal::from(i64::from(*truth))),
        Json::Int(number) => return Ok(Decimal::from(*number)),
        Json::UInt(number) => return Ok(Decimal::from(*number)),
        Json::Double(number) => return Decimal::from_f64(*number).ok_or(Misfit::Range),
        Json::String(text) => text.trim(),
        _ => return Err(Misfit::Kind("DECIMAL")),
    };
    let parsed = Decimal::parse_prefix(text.as_bytes());
    if parsed.overflow {
        return Err(Misfit::Range);
    }
    if text.is_empty() || parsed.consumed < text.len() {
        return Err(Misfit::Kind("DECIMAL"));
    }
    Ok(parsed.value)
}

fn double(document: &Json) -> Result<Value, Misfit> {
    Ok(Value::Double(match document {
        Json::Bool(truth) => f64::from(u8::from(*truth)),
        Json::Int(number) => *number as f64,
        Json::UInt(number) => *number as f64,
        Json::Double(number) => *number,
        Json::Decimal(number) => number.to_f64(),
        Json::String(text) => match parse_double_prefix(text.as_bytes()) {
            (number, true) => number,
            _ => return Err(Misfit::Kind("DOUBLE")),
        },
        _ => return Err(Misfit::Kind("DOUBLE")),
    }))
}

fn moment(document: &Json, name: &'static str) -> Result<Value, Misfit> {
    match document {
        Json::String(text) | Json::Opaque(Kind::Date | Kind::DateTime | Kind::Timestamp, text) => {
            match datetime::parse_date_time(text.as_bytes(), DateRules::LENIENT) {
                Some(parsed) if name == "DATE" => Ok(Value::Date(parsed.moment.date())),
                Some(parsed) if parsed.offset_seconds.is_none() => Ok(Value::DateTime(parsed.moment)),
                Some(_) => Ok(Value::text(&**text)),
                None => Err(Misfit::Kind(name)),
            }
        }
        _ => Err(Misfit::Kind(name)),
    }
}

fn time(document: &Json) -> Result<Value, Misfit> {
    match document {
        Json::String(text) | Json::Opaque(Kind::Time | Kind::DateTime | Kind::Timestamp, text) => {
            match datetime::parse_time(text.as_bytes()) {
                Some((time, false)) => Ok(Value::Time(time)),
                _ => Err(Misfit::Kind("TIME")),
            }
        }
        _ => Err(Misfit::Kind("TIME")),
    }
}
