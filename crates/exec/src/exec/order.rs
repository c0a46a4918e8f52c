//! Comparing rows for ORDER BY: NULL is below everything, and members of one ENUM or SET go by their numbers,
//! where operators compare their texts.

use std::cmp::Ordering;

use turnstile_plan::plan::query::OrderKey;
use turnstile_values::collation::Collation;
use turnstile_values::value::{Value, compare};

/// Direction and collation of one key.
pub type Direction = (bool, Collation);

/// Those of ORDER BY.
pub fn directions(keys: &[OrderKey]) -> Vec<Direction> {
    keys.iter().map(|key| (key.descending, key.collation)).collect()
}

/// Compares two values.
#[inline]
pub fn compare_values(left: &Value, right: &Value, collation: Collation) -> Ordering {
    match (left, right) {
        (Value::Str(one), Value::Str(other)) => collation.compare(one.as_bytes(), other.as_bytes()),
        (Value::Int(one), Value::Int(other)) => one.cmp(other),
        (Value::Null, Value::Null) => Ordering::Equal,
        (Value::Null, _) => Ordering::Less,
        (_, Value::Null) => Ordering::Greater,
        (Value::Enum(one), Value::Enum(other)) if one.names == other.names => one.bits.cmp(&other.bits),
        _ => compare(left, right, collation).unwrap_or(Ordering::Equal),
    }
}

/// Compares two lists of keys, as many as there are directions.
pub fn compare_keys(left: &[Value], right: &[Value], directions: &[Direction]) -> Ordering {
    for (nth, (descending, collation)) in directions.iter().enumerate() {
        let (Some(one), Some(other)) = (left.get(nth), right.get(nth)) else { break };
        let order = compare_values(one, other, *collation);
        if order != Ordering::Equal {
            return if *descending { order.reverse() } else { order };
        }
    }
    Ordering::Equal
}
