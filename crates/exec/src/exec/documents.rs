//! JSON_ARRAYAGG and JSON_OBJECTAGG: the document of a group while its rows come.
//!
//! Arguments that are values are documents already when they come here (`functions::as_document`); SQL NULL
//! becomes `null`. Of several members of one name the last stays. What has grown beyond `max_allowed_packet`
//! is no result any more, and is not kept.

use std::collections::BTreeMap;

use turnstile_expr::expr::EvalContext;
use turnstile_expr::functions::marked;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::json::{self, write::MARKED};
use turnstile_values::memory::{Charge, dropping};
use turnstile_values::value::{Value, to_text};

/// A document under way, and whether a part of it is marked.
pub struct Document {
    parts: Parts,
    marked: bool,
}

/// What there is so far; it is empty as long as no row has come.
enum Parts {
    /// The parts so far, as the text of an array without its end.
    Array(String),
    /// Members by the length of their names, then by their bytes: the order of the normal form.
    Object(Members),
    /// It would be longer than `max_allowed_packet`.
    TooLong,
}

/// They may be dropped anywhere, however many they are.
#[derive(Default)]
struct Members {
    by_name: BTreeMap<(usize, String), String>,
    /// Bytes of their text at least.
    bytes: usize,
}

impl Drop for Members {
    fn drop(&mut self) {
        dropping(self.by_name.len());
    }
}

/// What a member takes besides its texts.
const MEMBER_OVERHEAD: usize = 2 * size_of::<String>() + 2 * size_of::<usize>();

impl Document {
    /// JSON_ARRAYAGG's.
    pub fn array() -> Document {
        Document { parts: Parts::Array(String::new()), marked: false }
    }

    /// JSON_OBJECTAGG's.
    pub fn object() -> Document {
        Document { parts: Parts::Object(Members::default()), marked: false }
    }

    /// A value as a part of a document.
    fn part(&mut self, value: &Value) -> String {
        match value {
            Value::Null => "null".into(),
            Value::Json(marked) => {
                self.marked = true;
                marked.trim_start_matches(char::from(MARKED)).into()
            }
            other => to_text(other).to_string(),
        }
    }

    /// Adds a row: the part, or name and value of a member. Error 3158 for a name that is NULL.
    pub fn add(&mut self, values: &[Value], context: &EvalContext<'_>, charge: &mut Charge) -> SqlResult<()> {
        let part = values.last().map(|value| self.part(value)).unwrap_or_default();
        let bytes = match (&mut self.parts, values) {
            (Parts::Array(text), [_]) => {
                make_room(text, part.len() + BETWEEN, charge)?;
                text.push_str(if text.is_empty() { "[" } else { ", " });
                text.push_str(&part);
                text.len()
            }
            (parts, [name, _]) => {
                if name.is_null() {
                    return Err(SqlError::json_member_name_null());
                }
                if matches!(name, Value::Bytes(_)) {
                    return Err(SqlError::json_of_binary());
                }
                let Parts::Object(members) = parts else { return Ok(()) };
                members.add(to_text(name).to_string(), part, charge)?;
                members.bytes
            }
            _ => 0,
        };
        if bytes as u64 > context.settings.result_bytes_max {
            self.parts = Parts::TooLong;
        }
        Ok(())
    }

    /// Appends all of it as values.
    pub(super) fn save(self, out: &mut Vec<Value>) {
        out.push(Value::UInt(u64::from(self.marked)));
        match self.parts {
            Parts::Array(text) => out.push(Value::from(text)),
            Parts::TooLong => out.push(Value::Null),
            Parts::Object(mut members) => {
                out.push(Value::UInt(members.by_name.len() as u64));
                while let Some(((_, name), part)) = members.by_name.pop_first() {
                    out.extend([Value::from(name), Value::from(part)]);
                }
            }
        }
    }

    /// Takes back what was saved.
    pub(super) fn restore(&mut self, from: &mut dyn Iterator<Item = Value>) -> Option<()> {
        self.marked = matches!(from.next()?, Value::UInt(1));
        match (&mut self.parts, from.next()?) {
            (parts, Value::Null) => *parts = Parts::TooLong,
            (Parts::Array(all), Value::Str(text)) => all.push_str(&text),
            (Parts::Object(members), Value::UInt(count)) => {
                for _ in 0..count {
                    let (Value::Str(name), Value::Str(part)) = (from.next()?, from.next()?) else {
                        return None;
                    };
                    members.add(name.to_string(), part.to_string(), &mut Charge::default()).ok()?;
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// The whole document; NULL if no row has come or it is too long (warning 1301).
    pub fn result(self, name: &str, context: &EvalContext<'_>) -> SqlResult<Value> {
        let is_empty = match &self.parts {
            Parts::Array(text) => text.is_empty(),
            Parts::Object(members) => members.by_name.is_empty(),
            Parts::TooLong => false,
        };
        if is_empty {
            return Ok(Value::Null);
        }
        let marked_parts = self.marked;
        let value = turnstile_expr::functions::build_text(name, context, |out| {
            out.push(if marked_parts { &[MARKED] } else { &[] })?;
            match self.parts {
                Parts::Array(text) => {
                    out.reserve(text.len() + 1)?;
                    out.push(text.as_bytes())?;
                    out.push(b"]")
                }
                Parts::Object(mut members) => {
                    let mut before: &[u8] = b"{";
                    while let Some(((_, name), value)) = members.by_name.pop_first() {
                        context.step()?;
                        out.push(std::mem::replace(&mut before, b", "))?;
                        if json::append_quoted(&name, out).is_err() {
                            return out.refused();
                        }
                        out.push(b": ")?;
                        out.push(value.as_bytes())?;
                    }
                    out.push(b"}")
                }
                Parts::TooLong => out.fits(u64::MAX),
            }
        })?;
        Ok(if marked_parts { marked(value) } else { value })
    }
}

impl Members {
    fn add(&mut self, name: String, part: String, charge: &mut Charge) -> SqlResult<()> {
        let text = |name: usize, part: usize| name + part + BETWEEN + NAMED;
        let (length, bytes) = (name.len(), text(name.len(), part.len()));
        charge.add(bytes + MEMBER_OVERHEAD)?;
        self.bytes += bytes;
        if let Some(replaced) = self.by_name.insert((length, name), part) {
            self.bytes -= text(length, replaced.len());
            charge.subtract(text(length, replaced.len()) + MEMBER_OVERHEAD);
        }
        Ok(())
    }
}

/// What stands between parts.
const BETWEEN: usize = ", ".len();
/// What stands about a name.
const NAMED: usize = "\"\": ".len();

/// The text is about to grow: it doubles, and its room is charged.
fn make_room(text: &mut String, more: usize, charge: &mut Charge) -> SqlResult<()> {
    let (wanted, room) = (text.len() + more, text.capacity());
    if wanted > room {
        let wanted = wanted.max(room * 2);
        charge.add(wanted - room)?;
        text.reserve_exact(wanted - text.len());
    }
    Ok(())
}
