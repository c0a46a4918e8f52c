//! Comparison of two values: strings by collation, whole numbers and decimals exactly, anything with a double
//! or a string among numbers as doubles, dates with strings as dates.

use std::cmp::Ordering;

use super::{EnumValue, Value, to_bytes};
use crate::collation::Collation;
use crate::datetime::{self, DateRules, DateTime};
use crate::decimal::Decimal;
use crate::number_text::parse_double_prefix;

/// What kind of comparison two values call for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// Bytes or characters.
    Strings,
    /// Exact numbers.
    Exact,
    /// Doubles.
    Doubles,
    /// Moments.
    Moments,
    /// Times of day or spans.
    Times,
}

impl Comparison {
    /// The rule for two non-NULL values.
    pub fn of(left: &Value, right: &Value) -> Comparison {
        use Value as V;
        match (left, right) {
            _ if left.is_string() && right.is_string() => Comparison::Strings,
            (V::Time(_), V::Time(_)) => Comparison::Times,
            (V::Time(_), other) | (other, V::Time(_)) if other.is_string() => Comparison::Times,
            (V::Time(_), _) | (_, V::Time(_)) => Comparison::Doubles,
            _ if left.is_temporal() || right.is_temporal() => Comparison::Moments,
            (
                V::Int(_) | V::UInt(_) | V::Decimal(_) | V::Enum(_),
                V::Int(_) | V::UInt(_) | V::Decimal(_) | V::Enum(_),
            ) => Comparison::Exact,
            _ => Comparison::Doubles,
        }
    }
}

/// Compares two values; `None` if either is NULL. Strings that are no number or date where one is needed
/// count as their prefix, silently.
pub fn compare(left: &Value, right: &Value, collation: Collation) -> Option<Ordering> {
    match (left, right) {
        (Value::Null, _) | (_, Value::Null) => return None,
        (Value::Int(one), Value::Int(other)) => return Some(one.cmp(other)),
        (Value::Str(one), Value::Str(other)) => {
            return Some(collation.compare(one.as_bytes(), other.as_bytes()));
        }
        (Value::Date(one), Value::Date(other)) => return Some(one.cmp(other)),
        (Value::DateTime(one), Value::DateTime(other)) => return Some(one.cmp(other)),
        _ => {}
    }
    Some(match Comparison::of(left, right) {
        Comparison::Strings => compare_strings(left, right, collation),
        Comparison::Exact => compare_exact(left, right),
        Comparison::Doubles => compare_doubles(left, right),
        Comparison::Times => match (quiet_time(left), quiet_time(right)) {
            (Some(one), Some(other)) => one.cmp(&other),
            _ => compare_strings(left, right, collation),
        },
        Comparison::Moments => match (quiet_moment(left), quiet_moment(right)) {
            (Some(one), Some(other)) => one.cmp(&other),
            _ if left.is_string() || right.is_string() => compare_strings(left, right, collation),
            _ => compare_doubles(left, right),
        },
    })
}

/// Compares text forms; byte strings make it a byte comparison.
pub fn compare_strings(left: &Value, right: &Value, collation: Collation) -> Ordering {
    let binary = matches!(left, Value::Bytes(_)) || matches!(right, Value::Bytes(_));
    let collation = if binary { Collation::Binary } else { collation };
    collation.compare(&to_bytes(left), &to_bytes(right))
}

/// `<=>`.
pub fn equal_null_safe(left: &Value, right: &Value, collation: Collation) -> bool {
    match (left.is_null(), right.is_null()) {
        (true, true) => true,
        (false, false) => compare(left, right, collation) == Some(Ordering::Equal),
        _ => false,
    }
}

fn whole(value: &Value) -> Option<i128> {
    match value {
        Value::Int(number) => Some(i128::from(*number)),
        Value::UInt(number) | Value::Enum(EnumValue { bits: number, .. }) => Some(i128::from(*number)),
        _ => None,
    }
}

fn exact(value: &Value) -> Decimal {
    match value {
        Value::Decimal(number) => number.clone(),
        Value::Int(number) => Decimal::from(*number),
        Value::UInt(number) => Decimal::from(*number),
        Value::Enum(chosen) => Decimal::from(chosen.bits),
        _ => Decimal::ZERO,
    }
}

fn compare_exact(left: &Value, right: &Value) -> Ordering {
    match (whole(left), whole(right)) {
        (Some(one), Some(other)) => one.cmp(&other),
        _ => exact(left).cmp(&exact(right)),
    }
}

fn quiet_double(value: &Value) -> f64 {
    match value {
        Value::Null => 0.0,
        Value::Int(number) => *number as f64,
        Value::UInt(number) => *number as f64,
        Value::Double(number) => *number,
        Value::Decimal(number) => number.to_f64(),
        Value::Str(_) | Value::Bytes(_) => parse_double_prefix(value.as_raw_bytes().unwrap_or(&[])).0,
        Value::Enum(chosen) => chosen.bits as f64,
        Value::Json(_) => parse_double_prefix(&to_bytes(value)).0,
        Value::Date(date) => date.to_number() as f64,
        Value::Time(time) => {
            let us = f64::from(time.parts().3) / 1e6;
            time.to_number() as f64 + if time.us < 0 { -us } else { us }
        }
        Value::DateTime(moment) => moment.to_number() as f64 + f64::from(moment.microsecond()) / 1e6,
    }
}

fn compare_doubles(left: &Value, right: &Value) -> Ordering {
    order_of_doubles(quiet_double(left), quiet_double(right))
}

/// Orders doubles. What is no number, which only a client's parameter can be, is less than all numbers and
/// equal to none.
pub fn order_of_doubles(left: f64, right: f64) -> Ordering {
    left.partial_cmp(&right).unwrap_or_else(|| right.is_nan().cmp(&left.is_nan()))
}

/// A number may say a day that its month does not have.
const OF_NUMBERS: DateRules = DateRules { invalid: true, zero_in_date: false, ..DateRules::LENIENT };

fn quiet_moment(value: &Value) -> Option<DateTime> {
    match value {
        Value::DateTime(moment) => Some(*moment),
        Value::Date(date) => Some(date.at_midnight()),
        Value::Str(_) | Value::Bytes(_) | Value::Enum(_) | Value::Json(_) => {
            datetime::parse_date_time(&to_bytes(value), DateRules::LENIENT).map(|parsed| parsed.moment)
        }
        Value::Int(number) => datetime::parse_number(*number, OF_NUMBERS).map(|parsed| parsed.moment),
        Value::UInt(number) => {
            datetime::parse_number(i64::try_from(*number).ok()?, OF_NUMBERS).map(|parsed| parsed.moment)
        }
        _ => None,
    }
}

fn quiet_time(value: &Value) -> Option<i64> {
    match value {
        Value::Time(time) => Some(time.us),
        other => datetime::parse_time(&to_bytes(other)).map(|(time, _)| time.us),
    }
}

/// Appends bytes that are equal for values that GROUP BY, DISTINCT and hash joins must treat as one. Not an
/// order.
pub fn append_group_key(value: &Value, collation: Collation, out: &mut Vec<u8>) {
    let mut whole_number = |number: i128| {
        out.push(1);
        out.extend_from_slice(&number.to_le_bytes());
    };
    match value {
        Value::Null => out.push(0),
        Value::Int(number) => whole_number(i128::from(*number)),
        Value::UInt(number) => whole_number(i128::from(*number)),
        Value::Enum(chosen) => whole_number(i128::from(chosen.bits)),
        Value::Decimal(number) => {
            let text = number.to_string();
            let text =
                if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
            match text.parse() {
                Ok(number) => whole_number(number),
                Err(_) => {
                    out.push(2);
                    out.extend_from_slice(text.as_bytes());
                    out.push(0);
                }
            }
        }
        Value::Double(number) => {
            out.push(3);
            out.extend_from_slice(&(number + 0.0).to_bits().to_le_bytes());
        }
        Value::Date(date) => {
            out.push(4);
            out.extend_from_slice(&date.at_midnight().packed().to_le_bytes());
        }
        Value::DateTime(moment) => {
            out.push(4);
            out.extend_from_slice(&moment.packed().to_le_bytes());
        }
        Value::Time(time) => {
            out.push(5);
            out.extend_from_slice(&time.us.to_le_bytes());
        }
        Value::Str(text) => {
            out.push(6);
            append_counted(out, |out| collation.append_weights(text.as_bytes(), out));
        }
        Value::Json(_) => {
            out.push(6);
            append_counted(out, |out| collation.append_weights(&to_bytes(value), out));
        }
        Value::Bytes(bytes) => {
            out.push(7);
            append_counted(out, |out| out.extend_from_slice(bytes));
        }
    }
}

fn append_counted(out: &mut Vec<u8>, append: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    append(out);
    let count = (out.len() - start - 4) as u32;
    out[start..start + 4].copy_from_slice(&count.to_le_bytes());
}
