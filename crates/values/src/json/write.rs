//! Documents as text: the normal form, with or without marks, and JSON_PRETTY's.
//!
//! The *marked* form is what a value and a row hold if the plain text does not say all: the byte 1, then the
//! normal form with one more byte before each scalar whose kind its text does not tell. Bytes below 32 occur
//! nowhere else in the normal form, which escapes them, so the plain text is the marked one without them
//! ([`without_marks`]).

use std::borrow::Cow;
use std::fmt::{self, Write};

use super::document::{Json, Kind, Object};
use crate::error::{SqlError, SqlResult};
use crate::memory::Held;
use crate::number_text::format_double;

/// The first byte of a marked document.
pub const MARKED: u8 = 1;

/// Marks before numbers.
pub(super) const DECIMAL: u8 = 2;
pub(super) const UNSIGNED: u8 = 3;
pub(super) const SIGNED: u8 = 11;

/// The mark before a scalar that is shown as a string.
pub fn mark_of(kind: Kind) -> u8 {
    match kind {
        Kind::Date => 4,
        Kind::Time => 5,
        Kind::DateTime => 6,
        Kind::Timestamp => 7,
        Kind::Bytes => 8,
    }
}

/// What a mark before a string says.
pub(super) fn kind_of(mark: u8) -> Option<Kind> {
    [Kind::Date, Kind::Time, Kind::DateTime, Kind::Timestamp, Kind::Bytes]
        .into_iter()
        .find(|kind| mark_of(*kind) == mark)
}

/// The plain text of a marked one.
pub fn without_marks(text: &str) -> String {
    text.chars().filter(|letter| *letter >= ' ').collect()
}

/// A text under way, charged while it grows, together with the value that becomes of it.
struct Charged<'h, 'c> {
    out: String,
    held: &'h mut Held<'c>,
    ended: Option<SqlError>,
}

impl Write for Charged<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let length = self.out.len() + text.len();
        if length > self.out.capacity() {
            let room = length.max(self.out.capacity() * 2).max(LEAST_ROOM) - self.out.len();
            if let Err(error) = self.held.grow_piece(room * 2) {
                self.ended = Some(error);
                return Err(fmt::Error);
            }
            self.out.reserve_exact(room);
        }
        self.out.push_str(text);
        Ok(())
    }
}

/// A text that grows has at least this room.
const LEAST_ROOM: usize = 32;

/// The text that something writes.
fn charged(held: &mut Held<'_>, fill: impl FnOnce(&mut dyn Write) -> fmt::Result) -> SqlResult<String> {
    let mut charged = Charged { out: String::new(), held, ended: None };
    let written = fill(&mut charged);
    match charged.ended {
        Some(error) => Err(error),
        None => {
            debug_assert!(written.is_ok(), "a text takes everything");
            Ok(charged.out)
        }
    }
}

/// The normal form.
pub fn write(document: &Json, held: &mut Held<'_>) -> SqlResult<String> {
    charged(held, |out| append(document, out))
}

/// The normal form with marks and with the byte before it that says so.
pub fn write_marked(document: &Json, held: &mut Held<'_>) -> SqlResult<String> {
    charged(held, |out| {
        out.write_char(char::from(MARKED))?;
        append_marked(document, out)
    })
}

/// Appends the normal form; an error is `out`'s.
pub fn append(document: &Json, out: &mut dyn Write) -> fmt::Result {
    Writer { out, marks: false, pretty: false }.any(document, 0)
}

/// Appends the normal form with marks, but not the first byte; an error is `out`'s.
pub fn append_marked(document: &Json, out: &mut dyn Write) -> fmt::Result {
    Writer { out, marks: true, pretty: false }.any(document, 0)
}

/// Appends a document as JSON_PRETTY shows it; an error is `out`'s.
pub fn append_pretty(document: &Json, out: &mut dyn Write) -> fmt::Result {
    Writer { out, marks: false, pretty: true }.any(document, 0)
}

struct Writer<'o> {
    out: &'o mut dyn Write,
    marks: bool,
    pretty: bool,
}

impl Writer<'_> {
    fn mark(&mut self, mark: u8) -> fmt::Result {
        if self.marks { self.out.write_char(char::from(mark)) } else { Ok(()) }
    }

    fn line(&mut self, indent: usize) -> fmt::Result {
        self.out.write_char('\n')?;
        (0..indent).try_for_each(|_| self.out.write_str("  "))
    }

    /// What stands before a part.
    fn before(&mut self, nth: usize, indent: usize) -> fmt::Result {
        match (self.pretty, nth) {
            (false, 0) => Ok(()),
            (false, _) => self.out.write_str(", "),
            (true, 0) => self.line(indent + 1),
            (true, _) => {
                self.out.write_char(',')?;
                self.line(indent + 1)
            }
        }
    }

    fn after(&mut self, parts: usize, indent: usize) -> fmt::Result {
        if self.pretty && parts > 0 { self.line(indent) } else { Ok(()) }
    }

    fn any(&mut self, document: &Json, indent: usize) -> fmt::Result {
        match document {
            Json::Null => self.out.write_str("null"),
            Json::Bool(truth) => self.out.write_str(if *truth { "true" } else { "false" }),
            Json::Int(number) => {
                if document.kind_is_untold() {
                    self.mark(SIGNED)?;
                }
                write!(self.out, "{number}")
            }
            Json::UInt(number) => {
                if document.kind_is_untold() {
                    self.mark(UNSIGNED)?;
                }
                write!(self.out, "{number}")
            }
            Json::Double(number) => {
                let text = format_double(*number);
                self.out.write_str(&text)?;
                self.out.write_str(if text.contains(['.', 'e']) { "" } else { ".0" })
            }
            Json::Decimal(number) => {
                self.mark(DECIMAL)?;
                write!(self.out, "{number}")
            }
            Json::String(text) => append_quoted(text, self.out),
            Json::Opaque(kind, text) => {
                self.mark(mark_of(*kind))?;
                append_quoted(text, self.out)
            }
            Json::Array(parts) => self.array(parts, indent),
            Json::Object(members) => self.object(members, indent),
        }
    }

    fn array(&mut self, parts: &[Json], indent: usize) -> fmt::Result {
        self.out.write_char('[')?;
        for (nth, part) in parts.iter().enumerate() {
            self.before(nth, indent)?;
            self.any(part, indent + 1)?;
        }
        self.after(parts.len(), indent)?;
        self.out.write_char(']')
    }

    fn object(&mut self, members: &Object, indent: usize) -> fmt::Result {
        self.out.write_char('{')?;
        for (nth, (name, value)) in members.iter().enumerate() {
            self.before(nth, indent)?;
            append_quoted(name, self.out)?;
            self.out.write_str(": ")?;
            self.any(value, indent + 1)?;
        }
        self.after(members.len(), indent)?;
        self.out.write_char('}')
    }
}

/// Appends a text as a JSON string; an error is `out`'s.
pub fn append_quoted(text: &str, out: &mut dyn Write) -> fmt::Result {
    out.write_char('"')?;
    let mut rest = text;
    while let Some(at) = rest.find(|letter: char| letter < ' ' || matches!(letter, '"' | '\\')) {
        out.write_str(&rest[..at])?;
        match rest.as_bytes()[at] {
            b'\n' => out.write_str("\\n")?,
            b'\r' => out.write_str("\\r")?,
            b'\t' => out.write_str("\\t")?,
            8 => out.write_str("\\b")?,
            12 => out.write_str("\\f")?,
            quoted @ (b'"' | b'\\') => {
                out.write_char('\\')?;
                out.write_char(char::from(quoted))?;
            }
            control => write!(out, "\\u{control:04x}")?,
        }
        rest = &rest[at + 1..];
    }
    out.write_str(rest)?;
    out.write_char('"')
}

/// The text that a scalar stands for: of a string without quotes, anything else as it is written.
pub fn unquoted<'d>(document: &'d Json, held: &mut Held<'_>) -> SqlResult<Cow<'d, str>> {
    Ok(match document {
        Json::String(text) | Json::Opaque(_, text) => Cow::Borrowed(text),
        other => Cow::Owned(write(other, held)?),
    })
}
