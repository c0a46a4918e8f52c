//! Texts as documents: RFC 8259, with what MySQL says about a text that is none, and the marked form of rows.

use super::document::{Json, Object};
use super::write::{DECIMAL, MARKED, SIGNED, UNSIGNED, kind_of};
use crate::decimal::Decimal;
use crate::error::SqlError;

/// Arrays and objects inside one another.
pub const MAX_DEPTH: usize = 100;

/// Why a text is no document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Malformed {
    /// It is no JSON.
    Syntax {
        /// What is wrong.
        why: &'static str,
        /// Bytes before the place.
        position: usize,
    },
    /// It is nested deeper than [`MAX_DEPTH`].
    TooDeep,
}

impl Malformed {
    /// Error 3141, of the argument `nth` from 0 of a function, or 3157.
    pub fn of_argument(self, nth: usize, function: &str) -> SqlError {
        match self {
            Malformed::Syntax { why, position } => {
                SqlError::invalid_json_argument(nth + 1, function, why, position)
            }
            Malformed::TooDeep => SqlError::json_too_deep(),
        }
    }

    /// Error 3140, of a column's value, or 3157.
    pub fn of_column(self, column: &str) -> SqlError {
        match self {
            Malformed::Syntax { why, position } => SqlError::invalid_json_text(why, position, column),
            Malformed::TooDeep => SqlError::json_too_deep(),
        }
    }
}

/// A document from its text.
pub fn parse(text: &str) -> Result<Json, Malformed> {
    Reader { text, at: 0, depth: 0, marks: false }.whole()
}

/// A document from what a row or a value holds: marked or plain text.
pub fn parse_kept(text: &str) -> Result<Json, Malformed> {
    let marks = text.as_bytes().first() == Some(&MARKED);
    Reader { text, at: usize::from(marks), depth: 0, marks }.whole()
}

/// The string that a text begins with, and its length with its quotes.
pub fn leading_string(text: &str) -> Result<(String, usize), Malformed> {
    let mut reader = Reader { text, at: 0, depth: 0, marks: false };
    let string = reader.string()?;
    Ok((string, reader.at))
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    marks: bool,
}

type Read<T> = Result<T, Malformed>;

impl Reader<'_> {
    /// The next byte, 0 at the end.
    fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    fn error_at<T>(&self, why: &'static str, position: usize) -> Read<T> {
        Err(Malformed::Syntax { why, position })
    }

    fn error<T>(&self, why: &'static str) -> Read<T> {
        self.error_at(why, self.at)
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == byte && self.at < self.text.len();
        self.at += usize::from(found);
        found
    }

    fn skip_spaces(&mut self) {
        while matches!(self.peek(), b' ' | b'\n' | b'\r' | b'\t') {
            self.at += 1;
        }
    }

    fn whole(mut self) -> Read<Json> {
        self.skip_spaces();
        if self.at == self.text.len() {
            return self.error("The document is empty.");
        }
        let document = self.value()?;
        self.skip_spaces();
        if self.at < self.text.len() {
            return self.error("The document root must not be followed by other values.");
        }
        Ok(document)
    }

    fn value(&mut self) -> Read<Json> {
        match self.peek() {
            b'"' => Ok(Json::String(self.string()?)),
            b'{' => self.nested(Self::object),
            b'[' => self.nested(Self::array),
            b'n' => self.word("null", Json::Null),
            b't' => self.word("true", Json::Bool(true)),
            b'f' => self.word("false", Json::Bool(false)),
            mark @ 1..32 if self.marks => self.marked(mark),
            _ => self.number(),
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Read<Json>) -> Read<Json> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Malformed::TooDeep);
        }
        self.at += 1;
        let document = read(self)?;
        self.depth -= 1;
        Ok(document)
    }

    fn marked(&mut self, mark: u8) -> Read<Json> {
        self.at += 1;
        if let Some(kind) = kind_of(mark) {
            if self.peek() != b'"' {
                return self.error("Invalid value.");
            }
            return Ok(Json::Opaque(kind, self.string()?));
        }
        let digits = self.text[self.at..].bytes();
        let length = digits.take_while(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'-')).count();
        let number = &self.text[self.at..self.at + length];
        let read = match mark {
            UNSIGNED => number.parse().ok().map(Json::UInt),
            SIGNED => number.parse().ok().map(Json::Int),
            DECIMAL => {
                let parsed = Decimal::parse_prefix(number.as_bytes());
                (length > 0 && parsed.consumed == length).then_some(Json::Decimal(parsed.value))
            }
            _ => None,
        };
        let Some(read) = read else { return self.error("Invalid value.") };
        self.at += length;
        Ok(read)
    }

    fn word(&mut self, word: &str, document: Json) -> Read<Json> {
        for byte in word.bytes() {
            if !self.eat(byte) {
                return self.error("Invalid value.");
            }
        }
        Ok(document)
    }

    fn array(&mut self) -> Read<Json> {
        let mut parts = Vec::new();
        self.skip_spaces();
        if self.eat(b']') {
            return Ok(Json::Array(parts));
        }
        loop {
            parts.push(self.value()?);
            self.skip_spaces();
            if self.eat(b',') {
                self.skip_spaces();
            } else if self.eat(b']') {
                return Ok(Json::Array(parts));
            } else {
                return self.error("Missing a comma or ']' after an array element.");
            }
        }
    }

    fn object(&mut self) -> Read<Json> {
        let mut members = Vec::new();
        self.skip_spaces();
        if self.eat(b'}') {
            return Ok(Json::Object(Object::default()));
        }
        loop {
            if self.peek() != b'"' {
                return self.error("Missing a name for object member.");
            }
            let name = self.string()?;
            self.skip_spaces();
            if !self.eat(b':') {
                return self.error("Missing a colon after a name of object member.");
            }
            self.skip_spaces();
            members.push((name.into_boxed_str(), self.value()?));
            self.skip_spaces();
            if self.eat(b',') {
                self.skip_spaces();
            } else if self.eat(b'}') {
                return Ok(Json::Object(Object::new(members)));
            } else {
                return self.error("Missing a comma or '}' after an object member.");
            }
        }
    }

    /// A string; its first quote is next.
    fn string(&mut self) -> Read<String> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = &self.text.as_bytes()[self.at..];
            let Some(plain) = rest.iter().position(|byte| *byte < b' ' || matches!(byte, b'"' | b'\\'))
            else {
                return self.error_at("Missing a closing quotation mark in string.", self.text.len());
            };
            out.push_str(&self.text[self.at..self.at + plain]);
            self.at += plain;
            match self.peek() {
                b'"' => {
                    self.at += 1;
                    return Ok(out);
                }
                b'\\' => out.push(self.escape()?),
                0 => return self.error("Missing a closing quotation mark in string."),
                _ => return self.error("Invalid encoding in string."),
            }
        }
    }

    fn escape(&mut self) -> Read<char> {
        const PAIR: &str = "The surrogate pair in string is invalid.";
        let start = self.at;
        self.at += 1;
        let letter = match self.peek() {
            plain @ (b'"' | b'\\' | b'/') => char::from(plain),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                self.at += 1;
                let first = self.hex(start)?;
                let code = if matches!(first, 0xD800..=0xDFFF) {
                    if !self.eat(b'\\') || !self.eat(b'u') {
                        return self.error_at(PAIR, start);
                    }
                    let second = self.hex(start)?;
                    if !matches!(second, 0xDC00..=0xDFFF) || first >= 0xDC00 {
                        return self.error_at(PAIR, start);
                    }
                    0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00)
                } else {
                    first
                };
                return match char::from_u32(code) {
                    Some(letter) => Ok(letter),
                    None => self.error_at(PAIR, start),
                };
            }
            _ => return self.error_at("Invalid escape character in string.", start),
        };
        self.at += 1;
        Ok(letter)
    }

    fn hex(&mut self, start: usize) -> Read<u32> {
        let mut code = 0;
        for _ in 0..4 {
            let Some(digit) = char::from(self.peek()).to_digit(16) else {
                return self.error_at("Incorrect hex digit after \\u escape in string.", start);
            };
            code = code * 16 + digit;
            self.at += 1;
        }
        Ok(code)
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        self.at - start
    }

    fn number(&mut self) -> Read<Json> {
        let start = self.at;
        let negative = self.eat(b'-');
        // A zero ends the whole part.
        if !self.eat(b'0') && self.digits() == 0 {
            return self.error("Invalid value.");
        }
        let mut whole = true;
        if self.eat(b'.') {
            whole = false;
            if self.digits() == 0 {
                return self.error("Miss fraction part in number.");
            }
        }
        if self.eat(b'e') || self.eat(b'E') {
            whole = false;
            let _sign = self.eat(b'+') || self.eat(b'-');
            if self.digits() == 0 {
                return self.error("Miss exponent in number.");
            }
        }
        let text = &self.text[start..self.at];
        if whole {
            if let (false, Ok(number)) = (negative, text.parse()) {
                return Ok(Json::of_digits(number));
            }
            if let Ok(number) = text.parse() {
                return Ok(Json::Int(number));
            }
        }
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Json::Double(number)),
            _ => self.error_at("Number too big to be stored in double.", start),
        }
    }
}
