//! Texts as documents: RFC 8259, with what MySQL says about a text that is none, and the marked form of rows.
//!
//! A document in memory takes many times its text, so there is no way to one without a `Held` that it is
//! charged to, part by part, and that looks for KILL. What only has to know whether a text is a document
//! makes none (`check`).

mod malformed;

use super::document::{Json, Object};
use super::write::{DECIMAL, MARKED, SIGNED, UNSIGNED, kind_of};
use crate::decimal::Decimal;
use crate::memory::Held;

pub use malformed::Malformed;

/// Arrays and objects inside one another.
pub const MAX_DEPTH: usize = 100;

/// A document from its text.
pub fn parse(text: &str, held: &mut Held<'_>) -> Result<Json, Malformed> {
    Reader { text, at: 0, depth: 0, marks: false, keeps: true, held: Some(held) }.whole()
}

/// A document from what a row or a value holds: marked or plain text.
pub fn parse_kept(text: &str, held: &mut Held<'_>) -> Result<Json, Malformed> {
    let marks = text.as_bytes().first() == Some(&MARKED);
    Reader { text, at: usize::from(marks), depth: 0, marks, keeps: true, held: Some(held) }.whole()
}

/// Whether a text is a document. It makes none, so it needs no memory; with `held` it looks for KILL.
pub fn check(text: &str, held: Option<&mut Held<'_>>) -> Result<(), Malformed> {
    Reader { text, at: 0, depth: 0, marks: false, keeps: false, held }.whole().map(drop)
}

/// The string that a text begins with, which is empty without `held`, and its length with its quotes.
pub fn leading_string(text: &str, held: Option<&mut Held<'_>>) -> Result<(String, usize), Malformed> {
    let mut reader = Reader { text, at: 0, depth: 0, marks: false, keeps: held.is_some(), held };
    let string = reader.string()?;
    Ok((string, reader.at))
}

struct Reader<'t, 'h, 'c> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    depth: usize,
    marks: bool,
    /// Parts are kept; otherwise they are read and left, and there is no document in the end.
    keeps: bool,
    /// What the document is charged to.
    held: Option<&'h mut Held<'c>>,
}

type Read<T> = Result<T, Malformed>;

impl<'t> Reader<'t, '_, '_> {
    /// So many bytes were read.
    fn pass(&mut self, bytes: usize) -> Read<()> {
        self.held.as_mut().map_or(Ok(()), |held| Ok(held.pass(bytes)?))
    }

    /// A part of an array or an object has been read.
    fn keep<T>(&mut self, parts: &mut Vec<T>, part: T) -> Read<()> {
        self.pass(size_of::<T>())?;
        match &mut self.held {
            Some(held) if self.keeps => Ok(held.push(parts, part)?),
            _ => Ok(()),
        }
    }

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
            let part = self.value()?;
            self.keep(&mut parts, part)?;
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
            let value = self.value()?;
            self.keep(&mut members, (name.into_boxed_str(), value))?;
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
            let text = self.text;
            self.append(&mut out, &text[self.at..self.at + plain])?;
            self.at += plain;
            match self.peek() {
                b'"' => {
                    self.at += 1;
                    return Ok(out);
                }
                b'\\' => {
                    let letter = self.escape()?;
                    self.append(&mut out, letter.encode_utf8(&mut [0; 4]))?;
                }
                0 => return self.error("Missing a closing quotation mark in string."),
                _ => return self.error("Invalid encoding in string."),
            }
        }
    }

    /// Appends to a string, whose room is charged before it grows. One without escapes is as long at once as
    /// it will be.
    fn append(&mut self, out: &mut String, more: &str) -> Read<()> {
        self.pass(more.len())?;
        let Some(held) = self.held.as_mut().filter(|_| self.keeps) else { return Ok(()) };
        let length = out.len() + more.len();
        if length > out.capacity() {
            let room = length.max(out.capacity() * 2) - out.len();
            held.grow_piece(room)?;
            out.reserve_exact(room);
        }
        out.push_str(more);
        Ok(())
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
