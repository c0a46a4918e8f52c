//! A field of a row that is made for people who look at the server: a session, a lock, a counter. Such rows
//! are made often and read once, so their fields stay where they lie and no memory is asked for:
//! [`crate::sink::ResultSink::cells`] writes them straight into the answer. Where a condition, a join or a
//! sort needs values, [`Cell::to_value`] makes them.

use crate::datum::Value;
pub use crate::digits::Digits;
use crate::error::SqlResult;

/// A field, borrowed.
#[derive(Clone, Copy, Debug)]
pub enum Cell<'c> {
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
pub type Lines<'l> = dyn FnMut(&[Cell<'_>]) -> SqlResult<()> + 'l;

impl<'c> Cell<'c> {
    /// A text, or NULL.
    pub fn optional(text: Option<&'c str>) -> Cell<'c> {
        text.map_or(Cell::Null, Cell::Text)
    }

    /// The value it is.
    pub fn to_value(self) -> Value {
        match self {
            Cell::Null => Value::Null,
            Cell::Int(number) => Value::Int(number),
            Cell::UInt(number) => Value::UInt(number),
            Cell::Digits(number) => Value::from(number.to_string()),
            Cell::Text(text) => Value::from(text),
            Cell::Bytes(text) => Value::from(&*String::from_utf8_lossy(text)),
            Cell::Value(value) => value.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Cell;
    use crate::datum::Value;

    #[test]
    fn a_number_in_a_column_of_texts_is_a_text() {
        assert_eq!(Cell::Digits(10).to_value(), Value::from("10"));
        assert_eq!(Cell::UInt(10).to_value(), Value::UInt(10));
        assert_eq!(Cell::optional(None).to_value(), Value::Null);
        assert_eq!(Cell::Bytes(b"a\xff").to_value(), Value::from("a\u{fffd}"));
        assert_eq!(Cell::Value(&Value::Double(0.5)).to_value(), Value::Double(0.5));
    }
}
