//! One pass over a text: its key and its literals' values. Cheap enough to be tried on every text that the
//! cache of whole texts does not know.

use crate::lexer::{LexOptions, is_digit, is_word, literal};
use turnstile_values::value::Value;

use super::LITERALS_MAX;

/// In a key: here stood a whole number.
const NUMBER: u8 = 1;
/// In a key: here stood a string of ASCII characters.
const STRING: u8 = 2;
/// In a key: here stood another string, which not every character set can hold.
const WIDE_STRING: u8 = 3;
/// Whole numbers of so many digits fit an `i64` with either sign.
const DIGITS_MAX: usize = 18;

/// What the last text was split into. Kept by a session, so that no text needs new memory.
#[derive(Default)]
pub struct Scan {
    key: Vec<u8>,
    values: Vec<Value>,
}

/// The text has no key.
struct NoKey;

/// What a word says about the literals behind it.
enum Clause {
    /// They are taken out.
    Values,
    /// They stay.
    Fixed,
    /// They stay to the end of the text: `ON DUPLICATE KEY UPDATE a = VALUES(a) + 1`.
    FixedToTheEnd,
    Same,
}

impl Clause {
    fn of(word: &[u8]) -> Clause {
        const VALUES: [&[u8]; 4] = [b"WHERE", b"SET", b"VALUES", b"VALUE"];
        const FIXED: [&[u8]; 12] = [
            b"SELECT",
            b"LIMIT",
            b"ORDER",
            b"GROUP",
            b"HAVING",
            b"INTERVAL",
            b"FOR",
            b"INTO",
            b"FROM",
            b"AS",
            b"OFFSET",
            b"LOCK",
        ];
        let is = |known: &&[u8]| known.eq_ignore_ascii_case(word);
        match word.len() {
            2..=8 if VALUES.iter().any(is) => Clause::Values,
            2..=8 if FIXED.iter().any(is) => Clause::Fixed,
            2 if word.eq_ignore_ascii_case(b"ON") => Clause::FixedToTheEnd,
            _ => Clause::Same,
        }
    }
}

/// A scan on its way.
struct Reader<'s, 't> {
    text: &'t [u8],
    at: usize,
    /// Everything before it is in the key.
    copied: usize,
    /// Literals are taken out here.
    takes: bool,
    /// None is any more.
    closed: bool,
    options: LexOptions,
    /// Strings are byte strings: the connection's collation is `binary`.
    bytes: bool,
    scan: &'s mut Scan,
}

impl Scan {
    /// The key of the text read last.
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// The values of its literals, in order, without their signs.
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    /// The same, to be signed.
    pub fn values_mut(&mut self) -> &mut [Value] {
        &mut self.values
    }

    /// Lets go of the values; the memory for the next ones is kept.
    pub fn clear(&mut self) {
        self.values.clear();
    }

    /// Reads a text; false if it has no key. `bytes`: strings become byte strings.
    pub fn read(&mut self, text: &[u8], options: LexOptions, bytes: bool) -> bool {
        self.key.clear();
        self.values.clear();
        let mut reader =
            Reader { text, at: 0, copied: 0, takes: false, closed: false, options, bytes, scan: self };
        reader.run().is_ok()
    }

    /// The key with `?` for the marks.
    pub(super) fn marked_text(&self) -> Vec<u8> {
        self.key
            .iter()
            .map(|byte| if matches!(*byte, NUMBER | STRING | WIDE_STRING) { b'?' } else { *byte })
            .collect()
    }
}

impl Reader<'_, '_> {
    fn run(&mut self) -> Result<(), NoKey> {
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                _ if is_digit(byte) => self.number()?,
                _ if is_word(byte) => self.word(),
                b'\'' => self.string()?,
                b'`' => self.quoted_name()?,
                b'"' | b'@' | b';' | b'?' | b'#' | b'\\' | b'{' | 0..=8 => return Err(NoKey),
                b'/' if self.text[self.at..].starts_with(b"/*+") => self.hints()?,
                b'-' | b'/' if self.begins_comment(byte) => return Err(NoKey),
                _ => self.at += 1,
            }
        }
        self.copy_to(self.text.len());
        Ok(())
    }

    /// At a comment of hints: it stays in the key as it is, whatever it says.
    fn hints(&mut self) -> Result<(), NoKey> {
        let inside = &self.text[self.at + 3..];
        let length = inside.windows(2).position(|two| two == b"*/").ok_or(NoKey)?;
        if inside[..length].iter().any(|byte| *byte <= 8) {
            return Err(NoKey);
        }
        self.at += length + 5;
        Ok(())
    }

    fn begins_comment(&self, byte: u8) -> bool {
        matches!((byte, self.text.get(self.at + 1)), (b'-', Some(b'-')) | (b'/', Some(b'*')))
    }

    fn copy_to(&mut self, end: usize) {
        self.scan.key.extend_from_slice(&self.text[self.copied..end]);
        self.copied = end;
    }

    /// Puts a mark in place of the bytes from `start` to here.
    fn take(&mut self, start: usize, mark: u8, value: Value) -> Result<(), NoKey> {
        if self.scan.values.len() >= LITERALS_MAX {
            return Err(NoKey);
        }
        self.copy_to(start);
        self.scan.key.push(mark);
        self.scan.values.push(value);
        self.copied = self.at;
        Ok(())
    }

    fn word_end(&self) -> usize {
        let rest = &self.text[self.at..];
        self.at + rest.iter().position(|byte| !is_word(*byte)).unwrap_or(rest.len())
    }

    fn word(&mut self) {
        let end = self.word_end();
        match Clause::of(&self.text[self.at..end]) {
            Clause::Values => self.takes = !self.closed,
            Clause::Fixed => self.takes = false,
            Clause::FixedToTheEnd => (self.takes, self.closed) = (false, true),
            Clause::Same => {}
        }
        self.at = end;
    }

    /// At a digit that begins a word.
    fn number(&mut self) -> Result<(), NoKey> {
        let start = self.at;
        let end = self.word_end();
        self.at = end;
        let digits = &self.text[start..end];
        let after_dot = start > 0 && self.text[start - 1] == b'.';
        let whole = digits.iter().all(|byte| is_digit(*byte));
        if !whole && digits.last().is_some_and(|byte| byte.eq_ignore_ascii_case(&b'e')) {
            // Perhaps the first half of `1e+5`.
            return Err(NoKey);
        }
        let stays = !self.takes
            || !whole
            || after_dot
            || digits.len() > DIGITS_MAX
            || self.text.get(end) == Some(&b'.');
        if stays {
            return Ok(());
        }
        let number = digits.iter().fold(0i64, |sum, digit| sum * 10 + i64::from(digit - b'0'));
        self.take(start, NUMBER, Value::Int(number))
    }

    /// At an opening quote.
    fn string(&mut self) -> Result<(), NoKey> {
        let start = self.at;
        if start > 0 && is_word(self.text[start - 1]) {
            return Err(NoKey);
        }
        let escapes = !self.options.no_backslash_escapes;
        let mut plain = true;
        self.at += 1;
        loop {
            let byte = *self.text.get(self.at).ok_or(NoKey)?;
            self.at += 1;
            match byte {
                b'\'' if self.text.get(self.at) == Some(&b'\'') => {
                    plain = false;
                    self.at += 1;
                }
                b'\'' => break,
                b'\\' if escapes => {
                    plain = false;
                    self.at += 1;
                }
                NUMBER | STRING | WIDE_STRING => return Err(NoKey),
                _ => {}
            }
        }
        if !self.takes {
            return Ok(());
        }
        let span = &self.text[start..self.at];
        let resolved;
        let bytes = if plain {
            &span[1..span.len() - 1]
        } else {
            resolved = literal::unquote(span, escapes);
            &resolved
        };
        let value = match std::str::from_utf8(bytes) {
            Ok(_) if self.bytes => Value::bytes(bytes),
            Ok(text) => Value::text(text),
            Err(_) => return Err(NoKey),
        };
        self.take(start, if bytes.is_ascii() { STRING } else { WIDE_STRING }, value)
    }

    fn quoted_name(&mut self) -> Result<(), NoKey> {
        let inside = &self.text[self.at + 1..];
        let length = inside.iter().position(|byte| *byte == b'`').ok_or(NoKey)?;
        if inside[..length].iter().any(|byte| *byte <= 8) {
            return Err(NoKey);
        }
        self.at += length + 2;
        Ok(())
    }
}
