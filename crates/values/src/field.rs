//! A field of a row that is made for monitoring at the server: a session, a lock, a counter. Such rows
//! are made often and read once, so their fields stay where they lie and no memory is asked for:
//! [`crate::sink::ResultSink::fields`] writes them straight into the answer. Where a condition, a join or a
//! sort needs values, [`FieldRef::to_value`] makes them.

use crate::datum::Value;
pub use crate::digits::Digits;
use crate::error::SqlResult;

/// A field, borrowed.
#[derive(Clone, Copy, Debug)]
pub enum FieldRef<'c> {
    /// SQL NULL.
    Null,
    /// A signed number.
    Int(i64),
    /// A number.
    UInt(u64),
    /// A number in a column of texts.
    Digits(u64),
    /// A text.
    Text(&'c str),
    /// A text in UTF-8 that lies about as bytes.
    Bytes(&'c [u8]),
    /// Anything else.
    Value(&'c Value),
}

/// Takes rows, one at a time.
pub type RowWriter<'l> = dyn FnMut(&[FieldRef<'_>]) -> SqlResult<()> + 'l;

impl<'c> FieldRef<'c> {
    /// A text, or NULL.
    pub fn optional(text: Option<&'c str>) -> FieldRef<'c> {
        text.map_or(FieldRef::Null, FieldRef::Text)
    }

    /// The value it is.
    pub fn to_value(self) -> Value {
        match self {
            FieldRef::Null => Value::Null,
            FieldRef::Int(number) => Value::Int(number),
            FieldRef::UInt(number) => Value::UInt(number),
            FieldRef::Digits(number) => Value::from(number.to_string()),
            FieldRef::Text(text) => Value::from(text),
            FieldRef::Bytes(text) => Value::from(&*String::from_utf8_lossy(text)),
            FieldRef::Value(value) => value.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::FieldRef;
    use crate::datum::Value;

    #[test]
    fn a_number_in_a_column_of_texts_is_a_text() {
        assert_eq!(FieldRef::Digits(10).to_value(), Value::from("10"));
        assert_eq!(FieldRef::UInt(10).to_value(), Value::UInt(10));
        assert_eq!(FieldRef::optional(None).to_value(), Value::Null);
        assert_eq!(FieldRef::Bytes(b"a\xff").to_value(), Value::from("a\u{fffd}"));
        assert_eq!(FieldRef::Value(&Value::Double(0.5)).to_value(), Value::Double(0.5));
    }
}
