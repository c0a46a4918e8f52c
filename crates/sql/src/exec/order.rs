//! Comparing rows for ORDER BY: NULL is below everything.

use std::cmp::Ordering;

use crate::collation::Collation;
use crate::value::{Value, compare};

/// Direction and collation of one key.
pub type Direction = (bool, Collation);

/// Compares two values.
pub fn compare_values(left: &Value, right: &Value, collation: Collation) -> Ordering {
    match (left.is_null(), right.is_null()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (false, false) => compare(left, right, collation).unwrap_or(Ordering::Equal),
    }
}

/// Compares two lists of keys.
pub fn compare_keys(left: &[Value], right: &[Value], directions: &[Direction]) -> Ordering {
    for ((one, other), (descending, collation)) in left.iter().zip(right).zip(directions) {
        let order = compare_values(one, other, *collation);
        let order = if *descending { order.reverse() } else { order };
        if order != Ordering::Equal {
            return order;
        }
    }
    Ordering::Equal
}
