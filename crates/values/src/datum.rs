//! One SQL value in memory. A value knows its storage class, not its column: widths, collations and
//! display rules live in [`crate::types::ColumnType`]. Cloning never copies string bytes.
//!
//! ```text
//! Null | Int | UInt | Double | Decimal | Str (utf-8) | Bytes | Date | Time | DateTime | Enum | Json
//! ```
//! TIMESTAMP columns store UTC; expressions see them already turned into the session's time zone.

mod compare;
mod display;
mod text;

use std::sync::Arc;

pub use compare::{
    Comparison, append_group_key, compare, compare_strings, equal_null_safe, order_of_doubles,
};
pub use display::{
    between_columns, column_text, in_own_bytes, into_column, is_shown_by_column, takes_shown, write_text,
};
pub use text::{shown, shown_bytes, shown_value, spelt_whole, temporal_decimal, to_bytes, to_text};

use crate::datetime::{Date, DateTime, Time};
use crate::decimal::Decimal;
use crate::memory::{Many, PIECE_OVERHEAD, Weighed};
pub use crate::types::EnumNames;

/// Rows that are kept.
pub type Rows = Many<Vec<Value>>;

/// A SQL value. 32 bytes or less; clones are cheap.
#[derive(Debug, Clone, Default)]
pub enum Value {
    /// SQL NULL.
    #[default]
    Null,
    /// Signed integers of every width, and TRUE/FALSE.
    Int(i64),
    /// Unsigned integers, BIT and YEAR.
    UInt(u64),
    /// DOUBLE and FLOAT (a FLOAT column's value is an `f32` widened).
    Double(f64),
    /// Exact decimal.
    Decimal(Decimal),
    /// Character string; always valid UTF-8.
    Str(Arc<str>),
    /// Byte string.
    Bytes(Arc<[u8]>),
    /// DATE.
    Date(Date),
    /// TIME, signed.
    Time(Time),
    /// DATETIME, or TIMESTAMP in the zone of whoever holds it.
    DateTime(DateTime),
    /// ENUM or SET member(s).
    Enum(EnumValue),
    /// A document whose plain text does not say all of it, as marked text ([`crate::json`]). Every other
    /// document is a string.
    Json(Arc<str>),
}

/// An ENUM (`bits` = 1-based index, 0 = the error value) or SET (`bits` = bitmap) value with the names of its
/// type.
#[derive(Debug, Clone)]
pub struct EnumValue {
    /// Member names of the column's type.
    pub names: Arc<EnumNames>,
    /// Index or bitmap.
    pub bits: u64,
}

impl EnumValue {
    /// The value as its text: the member, or the comma separated members of a SET.
    pub fn text(&self) -> String {
        if self.names.multiple {
            let mut text = String::new();
            for (bit, name) in self.names.names.iter().enumerate().take(64) {
                if self.bits >> bit & 1 == 1 {
                    if !text.is_empty() {
                        text.push(',');
                    }
                    text.push_str(name);
                }
            }
            return text;
        }
        let index = self.bits as usize;
        if index == 0 { String::new() } else { self.names.names.get(index - 1).cloned().unwrap_or_default() }
    }
}

impl Value {
    /// A string value from anything that can become a shared string.
    pub fn text(text: impl Into<Arc<str>>) -> Value {
        Value::Str(text.into())
    }

    /// A byte string value.
    pub fn bytes(bytes: impl Into<Arc<[u8]>>) -> Value {
        Value::Bytes(bytes.into())
    }

    /// 1 or 0.
    pub fn boolean(truth: bool) -> Value {
        Value::Int(i64::from(truth))
    }

    /// `Some(true)` is 1, `Some(false)` 0, `None` NULL.
    pub fn truth(truth: Option<bool>) -> Value {
        truth.map_or(Value::Null, Value::boolean)
    }

    /// True for SQL NULL.
    #[inline]
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// True for character and byte strings and ENUM/SET.
    pub fn is_string(&self) -> bool {
        matches!(self, Value::Str(_) | Value::Bytes(_) | Value::Enum(_) | Value::Json(_))
    }

    /// True for DATE, TIME and DATETIME.
    pub fn is_temporal(&self) -> bool {
        matches!(self, Value::Date(_) | Value::Time(_) | Value::DateTime(_))
    }

    /// What a row keeps of a string or a document; `None` for the others.
    pub fn stored_bytes(&self) -> Option<&[u8]> {
        match self {
            Value::Json(marked) => Some(marked.as_bytes()),
            other => other.as_raw_bytes(),
        }
    }

    /// Length of what a row keeps of a string or a document; 0 for the others.
    #[inline]
    pub fn stored_len(&self) -> usize {
        match self {
            Value::Str(text) => text.len(),
            Value::Bytes(bytes) => bytes.len(),
            Value::Json(marked) => marked.len(),
            _ => 0,
        }
    }

    /// Bytes of a string-like value without conversion; `None` for the others.
    pub fn as_raw_bytes(&self) -> Option<&[u8]> {
        match self {
            Value::Str(text) => Some(text.as_bytes()),
            Value::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Value::Int(value)
    }
}
impl From<u64> for Value {
    fn from(value: u64) -> Self {
        Value::UInt(value)
    }
}
impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Value::Double(value)
    }
}
impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Value::Str(value.into())
    }
}
impl From<String> for Value {
    fn from(value: String) -> Self {
        Value::Str(value.into())
    }
}
impl From<Decimal> for Value {
    fn from(value: Decimal) -> Self {
        Value::Decimal(value)
    }
}

/// Structural equality for tests and plan caches: same class and same content, not SQL equality.
impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Value::Null, Value::Null) => true,
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::UInt(a), Value::UInt(b)) => a == b,
            (Value::Double(a), Value::Double(b)) => a.to_bits() == b.to_bits(),
            (Value::Decimal(a), Value::Decimal(b)) => a == b && a.scale() == b.scale(),
            (Value::Str(a), Value::Str(b)) => a == b,
            (Value::Bytes(a), Value::Bytes(b)) => a == b,
            (Value::Date(a), Value::Date(b)) => a == b,
            (Value::Time(a), Value::Time(b)) => a == b,
            (Value::DateTime(a), Value::DateTime(b)) => a == b,
            (Value::Json(a), Value::Json(b)) => a == b,
            (Value::Enum(a), Value::Enum(b)) => a.bits == b.bits && a.names == b.names,
            _ => false,
        }
    }
}

impl Weighed for Value {
    fn heap_bytes(&self) -> usize {
        match self {
            Value::Str(text) => text.len() + PIECE_OVERHEAD,
            Value::Bytes(bytes) => bytes.len() + PIECE_OVERHEAD,
            Value::Json(marked) => marked.len() + PIECE_OVERHEAD,
            _ => 0,
        }
    }

    #[inline]
    fn stored_len(&self) -> usize {
        Value::stored_len(self)
    }
}
