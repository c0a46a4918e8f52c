//! JSON documents: parsing, the normal form that columns keep, and what can be done to a document.
//!
//! A document is a text in memory and in rows: the normal form, with members ordered by the length of their names and then by their
//! bytes, the last of members of one name, `, ` and `: ` between parts. So equal documents have equal texts, but for numbers written
//! in two ways. Whoever looks into a document parses it ([`parse`]) and writes it again ([`write()`]). SQL NULL is no document; the
//! document `null` is one.
//!
//! Numbers are 64-bit integers or doubles. Dates and times are kept as strings.

pub mod order;
pub mod path;

use serde_json::{Map, Value as Json};

use crate::error::{SqlError, SqlResult};
use path::{Leg, Path};

/// Why a text is no document.
#[derive(Debug)]
pub struct Malformed {
    /// What is wrong.
    pub why: String,
    /// Bytes before the place.
    pub position: usize,
}

/// A document from its text.
pub fn parse(text: &str) -> Result<Json, Malformed> {
    serde_json::from_str(text).map_err(|error| {
        let line = text.split_inclusive('\n').take(error.line().saturating_sub(1));
        let position = line.map(str::len).sum::<usize>() + error.column().saturating_sub(1);
        let why = error.to_string();
        let why = why.rsplit_once(" at line").map_or(why.as_str(), |(why, _)| why);
        Malformed { why: format!("Invalid value: {why}."), position: position.min(text.len()) }
    })
}

/// A document that an argument of a function is; error 3141.
pub fn parse_argument(text: &str, nth: usize, function: &str) -> SqlResult<Json> {
    parse(text).map_err(|error| SqlError::invalid_json_argument(nth + 1, function, error.why, error.position))
}

/// The normal form.
pub fn write(document: &Json) -> String {
    let mut out = String::new();
    append(document, &mut out);
    out
}

fn append(document: &Json, out: &mut String) {
    match document {
        Json::Array(parts) => {
            out.push('[');
            for (nth, part) in parts.iter().enumerate() {
                out.push_str(if nth > 0 { ", " } else { "" });
                append(part, out);
            }
            out.push(']');
        }
        Json::Object(members) => {
            out.push('{');
            for (nth, (name, value)) in in_order(members).into_iter().enumerate() {
                out.push_str(if nth > 0 { ", " } else { "" });
                out.push_str(&quote(name));
                out.push_str(": ");
                append(value, out);
            }
            out.push('}');
        }
        Json::String(text) => out.push_str(&quote(text)),
        scalar => out.push_str(&scalar.to_string()),
    }
}

/// Members by the length of their names, then by their bytes.
pub fn in_order(members: &Map<String, Json>) -> Vec<(&str, &Json)> {
    let mut sorted: Vec<(&str, &Json)> = members.iter().map(|(name, value)| (name.as_str(), value)).collect();
    sorted.sort_by(|(one, _), (other, _)| (one.len(), one).cmp(&(other.len(), other)));
    sorted
}

/// A text as a JSON string.
pub fn quote(text: &str) -> String {
    Json::from(text).to_string()
}

/// JSON_UNQUOTE: the text of a string, and any other document as it is written.
pub fn unquote(text: &str) -> SqlResult<String> {
    if text.len() < 2 || !text.starts_with('"') || !text.ends_with('"') {
        return Ok(text.into());
    }
    match parse_argument(text, 0, "json_unquote")? {
        Json::String(inside) => Ok(inside),
        _ => Ok(text.into()),
    }
}

/// JSON_TYPE.
pub fn type_name(document: &Json) -> &'static str {
    match document {
        Json::Null => "NULL",
        Json::Bool(_) => "BOOLEAN",
        Json::Number(number) if number.is_f64() => "DOUBLE",
        Json::Number(number) if number.is_i64() => "INTEGER",
        Json::Number(_) => "UNSIGNED INTEGER",
        Json::String(_) => "STRING",
        Json::Array(_) => "ARRAY",
        Json::Object(_) => "OBJECT",
    }
}

/// JSON_LENGTH.
pub fn length(document: &Json) -> usize {
    match document {
        Json::Array(parts) => parts.len(),
        Json::Object(members) => members.len(),
        _ => 1,
    }
}

/// JSON_DEPTH.
pub fn depth(document: &Json) -> usize {
    let inside = match document {
        Json::Array(parts) => parts.iter().map(depth).max(),
        Json::Object(members) => members.values().map(depth).max(),
        _ => None,
    };
    1 + inside.unwrap_or(0)
}

/// JSON_CONTAINS: an array contains each of its parts and any selection of them, an object any selection of its members.
pub fn contains(target: &Json, candidate: &Json) -> bool {
    match (target, candidate) {
        (Json::Array(parts), Json::Array(wanted)) => {
            wanted.iter().all(|one| parts.iter().any(|part| contains(part, one)))
        }
        (Json::Array(parts), one) => parts.iter().any(|part| contains(part, one)),
        (Json::Object(members), Json::Object(wanted)) => {
            wanted.iter().all(|(name, value)| members.get(name).is_some_and(|member| contains(member, value)))
        }
        (one, other) => order::key(one) == order::key(other),
    }
}

/// JSON_OVERLAPS: arrays with a part in common, objects with a member in common, a scalar that is a part of an array.
pub fn overlaps(one: &Json, other: &Json) -> bool {
    let equal = |one: &Json, other: &Json| order::key(one) == order::key(other);
    match (one, other) {
        (Json::Array(parts), Json::Array(others)) => {
            parts.iter().any(|part| others.iter().any(|other| equal(part, other)))
        }
        (Json::Array(parts), scalar) | (scalar, Json::Array(parts)) => {
            parts.iter().any(|part| equal(part, scalar))
        }
        (Json::Object(members), Json::Object(others)) => {
            members.iter().any(|(name, value)| others.get(name).is_some_and(|other| equal(value, other)))
        }
        (one, other) => equal(one, other),
    }
}

/// JSON_MERGE_PATCH, as RFC 7396 has it.
pub fn merge_patch(target: Json, patch: Json) -> Json {
    let Json::Object(changes) = patch else { return patch };
    let mut members = match target {
        Json::Object(members) => members,
        _ => Map::new(),
    };
    for (name, change) in changes {
        if change.is_null() {
            members.remove(&name);
        } else {
            let before = members.get_mut(&name).map_or(Json::Null, Json::take);
            members.insert(name, merge_patch(before, change));
        }
    }
    Json::Object(members)
}

/// JSON_MERGE_PRESERVE: arrays are joined, objects united member by member, anything else becomes an array first.
pub fn merge_preserve(one: Json, other: Json) -> Json {
    match (one, other) {
        (Json::Object(mut members), Json::Object(others)) => {
            for (name, value) in others {
                let merged = match members.get_mut(&name).map(Json::take) {
                    Some(before) => merge_preserve(before, value),
                    None => value,
                };
                members.insert(name, merged);
            }
            Json::Object(members)
        }
        (one, other) => {
            let list = |document| match document {
                Json::Array(parts) => parts,
                other => vec![other],
            };
            let mut parts = list(one);
            parts.extend(list(other));
            Json::Array(parts)
        }
    }
}

/// What a change does where its path leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// JSON_SET
    Set,
    /// JSON_INSERT: only what is not there.
    Insert,
    /// JSON_REPLACE: only what is there.
    Replace,
    /// JSON_ARRAY_APPEND
    Append,
}

/// Changes a document at a path without wildcards. A path that leads nowhere changes nothing.
pub fn change(document: &mut Json, path: &Path, value: Json, change: Change) {
    if change == Change::Append {
        if let Some(place) = path::find(document, path.legs()) {
            match place {
                Json::Array(parts) => parts.push(value),
                other => *other = Json::Array(vec![other.take(), value]),
            }
        }
        return;
    }
    if let Some(place) = path::find(document, path.legs()) {
        if change != Change::Insert {
            *place = value;
        }
        return;
    }
    let Some((last, front)) = path.legs().split_last() else { return };
    if change == Change::Replace {
        return;
    }
    match (path::find(document, front), last) {
        (Some(Json::Object(members)), Leg::Member(name)) => {
            members.insert(name.to_string(), value);
        }
        (Some(Json::Array(parts)), Leg::Cell(place)) => match place.from_last() {
            Some(_) => parts.insert(0, value),
            None => parts.push(value),
        },
        (Some(scalar), Leg::Cell(place)) => {
            let before = scalar.take();
            *scalar = Json::Array(match place.from_last() {
                Some(_) => vec![value, before],
                None => vec![before, value],
            });
        }
        _ => {}
    }
}

/// JSON_REMOVE at a path without wildcards.
pub fn remove(document: &mut Json, path: &Path) {
    let Some((last, front)) = path.legs().split_last() else { return };
    match (path::find(document, front), last) {
        (Some(Json::Object(members)), Leg::Member(name)) => {
            members.shift_remove(&**name);
        }
        (Some(Json::Array(parts)), Leg::Cell(place)) => {
            if let Some(at) = place.within(parts.len()) {
                parts.remove(at);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
