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

use std::collections::HashSet;
use std::fmt::{self, Write};

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
    let written = append(document, &mut out);
    debug_assert!(written.is_ok(), "a text takes everything");
    out
}

/// Appends the normal form; an error is `out`'s.
pub fn append(document: &Json, out: &mut dyn Write) -> fmt::Result {
    match document {
        Json::Array(parts) => {
            out.write_char('[')?;
            for (nth, part) in parts.iter().enumerate() {
                out.write_str(if nth > 0 { ", " } else { "" })?;
                append(part, out)?;
            }
            out.write_char(']')
        }
        Json::Object(members) => {
            out.write_char('{')?;
            for (nth, (name, value)) in in_order(members).into_iter().enumerate() {
                out.write_str(if nth > 0 { ", " } else { "" })?;
                append_quoted(name, out)?;
                out.write_str(": ")?;
                append(value, out)?;
            }
            out.write_char('}')
        }
        Json::String(text) => append_quoted(text, out),
        scalar => write!(out, "{scalar}"),
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

/// Members by the length of their names, then by their bytes.
pub fn in_order(members: &Map<String, Json>) -> Vec<(&str, &Json)> {
    let mut sorted: Vec<(&str, &Json)> = members.iter().map(|(name, value)| (name.as_str(), value)).collect();
    sorted.sort_by(|(one, _), (other, _)| (one.len(), one).cmp(&(other.len(), other)));
    sorted
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

/// Notes bytes worked through; fails if the statement is to end.
pub type Work<'w> = dyn FnMut(usize) -> SqlResult<()> + 'w;

/// JSON_CONTAINS: an array contains each of its parts and any selection of them, an object any selection of its members.
pub fn contains(target: &Json, candidate: &Json, work: &mut Work<'_>) -> SqlResult<bool> {
    match (target, candidate) {
        (Json::Array(parts), Json::Array(wanted)) => contains_all(parts, wanted, work),
        (Json::Array(parts), one) => contains_all(parts, std::slice::from_ref(one), work),
        (Json::Object(members), Json::Object(wanted)) => {
            for (name, value) in wanted {
                let Some(member) = members.get(name) else { return Ok(false) };
                if !contains(member, value, work)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (one, other) => Ok(order::key(one) == order::key(other)),
    }
}

/// Whether each of the wanted is contained in some part. Scalars, which can be many on both sides, are looked up.
fn contains_all(parts: &[Json], wanted: &[Json], work: &mut Work<'_>) -> SqlResult<bool> {
    let is_scalar = |one: &Json| !one.is_array() && !one.is_object();
    let mut scalars = HashSet::new();
    if wanted.iter().any(is_scalar) {
        let mut open: Vec<&Json> = parts.iter().collect();
        while let Some(part) = open.pop() {
            match part {
                Json::Array(inside) => open.extend(inside),
                Json::Object(_) => {}
                scalar => {
                    scalars.insert(order::key(scalar));
                }
            }
        }
    }
    'wanted: for one in wanted {
        if is_scalar(one) {
            if scalars.contains(&order::key(one)) {
                continue;
            }
            return Ok(false);
        }
        work(size_of_val(parts))?;
        for part in parts {
            if contains(part, one, work)? {
                continue 'wanted;
            }
        }
        return Ok(false);
    }
    Ok(true)
}

/// JSON_OVERLAPS: arrays with a part in common, objects with a member in common, a scalar that is a part of an array.
pub fn overlaps(one: &Json, other: &Json) -> bool {
    let equal = |one: &Json, other: &Json| order::key(one) == order::key(other);
    match (one, other) {
        (Json::Array(parts), Json::Array(others)) => {
            let keys: HashSet<Vec<u8>> = parts.iter().map(order::key).collect();
            others.iter().any(|other| keys.contains(&order::key(other)))
        }
        (Json::Array(parts), scalar) | (scalar, Json::Array(parts)) => {
            let key = order::key(scalar);
            parts.iter().any(|part| order::key(part) == key)
        }
        (Json::Object(members), Json::Object(others)) => {
            members.iter().any(|(name, value)| others.get(name).is_some_and(|other| equal(value, other)))
        }
        (one, other) => equal(one, other),
    }
}

/// Appends a document as JSON_PRETTY shows it; an error is `out`'s.
pub fn append_pretty(document: &Json, indent: usize, out: &mut dyn Write) -> fmt::Result {
    let line = |out: &mut dyn Write, indent: usize| {
        out.write_char('\n')?;
        (0..indent).try_for_each(|_| out.write_str("  "))
    };
    match document {
        Json::Array(parts) if !parts.is_empty() => {
            out.write_char('[')?;
            for (nth, part) in parts.iter().enumerate() {
                out.write_str(if nth > 0 { "," } else { "" })?;
                line(out, indent + 1)?;
                append_pretty(part, indent + 1, out)?;
            }
            line(out, indent)?;
            out.write_char(']')
        }
        Json::Object(members) if !members.is_empty() => {
            out.write_char('{')?;
            for (nth, (name, value)) in in_order(members).into_iter().enumerate() {
                out.write_str(if nth > 0 { "," } else { "" })?;
                line(out, indent + 1)?;
                append_quoted(name, out)?;
                out.write_str(": ")?;
                append_pretty(value, indent + 1, out)?;
            }
            line(out, indent)?;
            out.write_char('}')
        }
        other => append(other, out),
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
