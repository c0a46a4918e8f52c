//! Where a value of any type falls among the values of an indexed column: what range scans need to turn
//! `int_column < 1.5` or `date_column = '2026-01-31'` into key bounds.

use crate::collation::Collation;
use crate::context::EvalContext;
use crate::datetime;
use crate::decimal::Decimal;
use crate::types::ColumnType;
use crate::value::{Value, parse_double_prefix, to_bytes};

/// A search value seen from a column.
#[derive(Debug, Clone, PartialEq)]
pub enum SearchValue {
    /// Exactly this value of the column's type.
    Exact(Value),
    /// Between this value and the column type's next one: no row is equal, the rows up to this value are
    /// smaller.
    After(Value),
    /// Smaller than every value the column can hold.
    BelowAll,
    /// Larger than every value the column can hold.
    AboveAll,
    /// The comparison is not one of the column's own order (a number against a string column, another
    /// collation): the index does not help.
    Unusable,
}

/// Places a value among those of a column. `collation` is the comparison's collation (ignored for numbers and
/// dates). TIMESTAMP columns take session time and give UTC. NULL is `Unusable`; the caller knows that
/// nothing matches it.
pub fn search_value(
    value: &Value,
    kind: &ColumnType,
    collation: Collation,
    context: &EvalContext<'_>,
) -> SearchValue {
    match (kind, value) {
        (_, Value::Null) => SearchValue::Unusable,
        (ColumnType::Int { unsigned: false, .. }, Value::Int(_)) => integer(value, kind),
        (ColumnType::Int { .. } | ColumnType::Year | ColumnType::Bit { .. }, _) => integer(value, kind),
        (ColumnType::Decimal { precision, scale, unsigned, .. }, _) => {
            decimal(value, *precision, *scale, *unsigned)
        }
        (ColumnType::Double { .. } | ColumnType::Float { .. }, _) => double(value, kind),
        (ColumnType::Char { .. } | ColumnType::Varchar { .. } | ColumnType::Text { .. }, Value::Str(_)) => {
            if kind.collation() == Some(collation) {
                SearchValue::Exact(value.clone())
            } else {
                SearchValue::Unusable
            }
        }
        (
            ColumnType::Binary { .. } | ColumnType::Varbinary { .. } | ColumnType::Blob { .. },
            Value::Str(_) | Value::Bytes(_),
        ) => SearchValue::Exact(Value::bytes(to_bytes(value).into_owned())),
        (ColumnType::Date | ColumnType::DateTime { .. } | ColumnType::Timestamp { .. }, _) => {
            moment(value, kind, context)
        }
        (ColumnType::Time { .. }, Value::Time(time)) => SearchValue::Exact(Value::Time(*time)),
        (ColumnType::Time { .. }, Value::Str(text)) => match datetime::parse_time(text.as_bytes()) {
            Some((time, false)) => SearchValue::Exact(Value::Time(time)),
            _ => SearchValue::Unusable,
        },
        _ => SearchValue::Unusable,
    }
}

/// The search value as an exact decimal, if it is one.
fn exact_number(value: &Value) -> Option<Decimal> {
    match value {
        Value::Int(number) => Some(Decimal::from(*number)),
        Value::UInt(number) => Some(Decimal::from(*number)),
        Value::Decimal(number) => Some(number.clone()),
        Value::Double(number) => Decimal::from_f64(*number),
        Value::Str(_) | Value::Bytes(_) => {
            let (number, _) = parse_double_prefix(value.as_raw_bytes().unwrap_or(&[]));
            Decimal::from_f64(number)
        }
        _ => None,
    }
}

fn integer(value: &Value, kind: &ColumnType) -> SearchValue {
    let (low, high) = match kind {
        ColumnType::Int { width, unsigned: false, .. } => {
            let (low, high) = width.signed_range();
            (i128::from(low), i128::from(high))
        }
        ColumnType::Int { width, .. } => (0, i128::from(width.unsigned_max())),
        _ => (0, i128::from(u64::MAX)),
    };
    let (floor, exact) = match value {
        Value::Int(number) => (i128::from(*number), true),
        Value::UInt(number) => (i128::from(*number), true),
        other => {
            let Some(number) = exact_number(other) else { return SearchValue::Unusable };
            let floor = number.floor();
            let exact = floor == number;
            match floor.round_to(0).to_scaled_i128() {
                Some(floor) => (floor, exact),
                None if number.is_negative() => return SearchValue::BelowAll,
                None => return SearchValue::AboveAll,
            }
        }
    };
    if floor < low {
        return SearchValue::BelowAll;
    }
    if floor > high {
        return SearchValue::AboveAll;
    }
    let signed = matches!(kind, ColumnType::Int { unsigned: false, .. });
    let value = if signed { Value::Int(floor as i64) } else { Value::UInt(floor as u64) };
    if exact { SearchValue::Exact(value) } else { SearchValue::After(value) }
}

fn decimal(value: &Value, precision: u8, scale: u8, unsigned: bool) -> SearchValue {
    // A string or double is compared as a double, which is not the column's exact order.
    let (Value::Int(_) | Value::UInt(_) | Value::Decimal(_)) = value else { return SearchValue::Unusable };
    let Some(number) = exact_number(value) else { return SearchValue::Unusable };
    let largest = Decimal::max_value(precision, scale);
    if number > largest {
        return SearchValue::AboveAll;
    }
    if number < largest.negate() || unsigned && number.is_negative() {
        return SearchValue::BelowAll;
    }
    let mut floor = number.truncate_places(i64::from(scale)).round_to(scale);
    if floor == number {
        return SearchValue::Exact(Value::Decimal(floor));
    }
    if number.is_negative() {
        let unit = Decimal::from_scaled_i128(1, scale);
        floor = match floor.sub(&unit) {
            Ok(below) => below,
            Err(_) => return SearchValue::BelowAll,
        };
        if floor < largest.negate() {
            return SearchValue::BelowAll;
        }
    }
    SearchValue::After(Value::Decimal(floor))
}

fn double(value: &Value, kind: &ColumnType) -> SearchValue {
    let number = match value {
        Value::Int(number) => *number as f64,
        Value::UInt(number) => *number as f64,
        Value::Double(number) => *number,
        Value::Decimal(number) => number.to_f64(),
        Value::Str(_) | Value::Bytes(_) => parse_double_prefix(value.as_raw_bytes().unwrap_or(&[])).0,
        _ => return SearchValue::Unusable,
    };
    if matches!(kind, ColumnType::Float { .. }) && f64::from(number as f32) != number {
        return SearchValue::Unusable;
    }
    SearchValue::Exact(Value::Double(number))
}

fn moment(value: &Value, kind: &ColumnType, context: &EvalContext<'_>) -> SearchValue {
    let found = match value {
        Value::DateTime(moment) => Some(*moment),
        Value::Date(date) => Some(date.at_midnight()),
        Value::Str(text) => match datetime::parse_date_time(text.as_bytes(), context.date_rules()) {
            Some(parsed) if parsed.offset_seconds.is_none() => Some(parsed.moment),
            _ => None,
        },
        Value::Int(number) => {
            datetime::parse_number(*number, context.date_rules()).map(|parsed| parsed.moment)
        }
        _ => None,
    };
    let Some(mut found) = found else { return SearchValue::Unusable };
    if let ColumnType::Timestamp { .. } = kind {
        found = context.settings.time_zone.to_utc(found);
    }
    if let ColumnType::Date = kind {
        let day = Value::Date(found.date());
        return if found.time_of_day_us() == 0 { SearchValue::Exact(day) } else { SearchValue::After(day) };
    }
    SearchValue::Exact(Value::DateTime(found))
}
