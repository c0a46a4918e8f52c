//! JSON_ARRAYAGG and JSON_OBJECTAGG: the document of a group while its rows come.
//!
//! Arguments that are values are documents already when they come here (`functions::as_document`); SQL NULL becomes
//! `null`. Of several members of one name the last stays.

use std::collections::BTreeMap;

use crate::error::{SqlError, SqlResult};
use crate::expr::EvalContext;
use crate::functions::marked;
use crate::json::{self, write::MARKED};
use crate::memory::{Charge, dropping};
use crate::value::{Value, to_text};

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
}

/// They may be dropped anywhere, however many they are.
#[derive(Default)]
struct Members(BTreeMap<(usize, String), String>);

impl Drop for Members {
    fn drop(&mut self) {
        dropping(self.0.len());
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
    pub fn add(&mut self, values: &[Value], charge: &mut Charge) -> SqlResult<()> {
        let part = values.last().map(|value| self.part(value)).unwrap_or_default();
        match (&mut self.parts, values) {
            (Parts::Array(text), [_]) => {
                charge.add(part.len() + 2)?;
                text.push_str(if text.is_empty() { "[" } else { ", " });
                text.push_str(&part);
            }
            (Parts::Object(members), [name, _]) => {
                if name.is_null() {
                    return Err(SqlError::json_member_name_null());
                }
                if matches!(name, Value::Bytes(_)) {
                    return Err(SqlError::json_of_binary());
                }
                let name = to_text(name).to_string();
                charge.add(name.len() + part.len() + MEMBER_OVERHEAD)?;
                members.0.insert((name.len(), name), part);
            }
            _ => {}
        }
        Ok(())
    }

    /// The whole document; NULL if no row has come or it is too long (warning 1301).
    pub fn result(self, name: &str, context: &EvalContext<'_>) -> SqlResult<Value> {
        let text = match self.parts {
            Parts::Array(text) if text.is_empty() => return Ok(Value::Null),
            Parts::Array(text) => text + "]",
            Parts::Object(members) if members.0.is_empty() => return Ok(Value::Null),
            Parts::Object(mut members) => {
                let mut text = String::new();
                while let Some(((_, name), value)) = members.0.pop_first() {
                    context.step()?;
                    text.push_str(if text.is_empty() { "{" } else { ", " });
                    let written = json::append_quoted(&name, &mut text);
                    debug_assert!(written.is_ok(), "a text takes everything");
                    text.push_str(": ");
                    text.push_str(&value);
                }
                text + "}"
            }
        };
        let first: &[u8] = if self.marked { &[MARKED] } else { &[] };
        let value = crate::functions::build_text(name, context, |out| {
            out.push(first)?;
            out.push(text.as_bytes())
        })?;
        Ok(if self.marked { marked(value) } else { value })
    }
}
