//! A field of a row that is made for people who look at the server: a session, a lock, a counter. Such rows
//! are made often and read once, so their fields stay where they lie and no memory is asked for:
//! [`crate::sink::ResultSink::cells`] writes them straight into the answer. Where a condition, a join or a
//! sort needs values, [`Cell::to_value`] makes them.

use crate::error::SqlResult;
use crate::value::Value;

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

/// Room for the digits of any number.
const DIGITS_MAX: usize = 20;

/// The decimal digits of a number: what `to_string` gives, without asking for memory and without the
/// machinery of formatting, which is most of the work in a report of a thousand lines.
#[derive(Clone, Copy, Debug)]
pub struct Digits {
    bytes: [u8; DIGITS_MAX],
    from: usize,
}

/// The numbers below 100 in two digits each.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut number = 0;
    while number < 100 {
        pairs[number as usize] = [b'0' + number / 10, b'0' + number % 10];
        number += 1;
    }
    pairs
};

impl Digits {
    /// Of a number.
    pub fn of(mut number: u64) -> Digits {
        let mut digits = Digits { bytes: [b'0'; DIGITS_MAX], from: DIGITS_MAX };
        while number >= 10 {
            let pair = PAIRS[(number % 100) as usize];
            number /= 100;
            digits.from -= 2;
            digits.bytes[digits.from..digits.from + 2].copy_from_slice(&pair);
        }
        if number > 0 || digits.from == DIGITS_MAX {
            digits.from -= 1;
            digits.bytes[digits.from] = b'0' + number as u8;
        }
        digits
    }

    /// As bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[self.from..]
    }

    /// As a text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::{Cell, Digits};
    use crate::value::Value;

    #[test]
    fn digits_are_those_of_to_string() {
        let mut numbers = vec![0, 1, 9, 10, 11, 99, 100, u64::MAX - 1, u64::MAX];
        numbers.extend((0..20).map(|power| 10u64.pow(power)));
        numbers.extend((1..20).map(|power| 10u64.pow(power) - 1));
        for number in numbers {
            assert_eq!(Digits::of(number).as_str(), number.to_string());
            assert_eq!(Digits::of(number).as_bytes(), number.to_string().as_bytes());
        }
    }

    #[test]
    fn a_number_in_a_column_of_texts_is_a_text() {
        assert_eq!(Cell::Digits(10).to_value(), Value::from("10"));
        assert_eq!(Cell::UInt(10).to_value(), Value::UInt(10));
        assert_eq!(Cell::optional(None).to_value(), Value::Null);
        assert_eq!(Cell::Bytes(b"a\xff").to_value(), Value::from("a\u{fffd}"));
        assert_eq!(Cell::Value(&Value::Double(0.5)).to_value(), Value::Double(0.5));
    }
}
