//! Documents: parsing, the normal form that columns keep, and what can be done to a document.
//!
//! A document is a text in values and in rows: the normal form, with members ordered by the length of their
//! names and then by their bytes, the last of members of one name, `, ` and `: ` between parts. It is a
//! [`Value::Str`](crate::value::Value::Str) if the text says all of it, and marked text in a
//! [`Value::Json`](crate::value::Value::Json) if it holds a scalar whose kind a text does not tell: DECIMAL,
//! an unsigned number that BIGINT would hold, a date, bytes ([`write`](mod@write) describes the marks).
//! Whoever looks into a document parses it ([`read`]) and writes it again. What it takes in memory is charged
//! where it grows: neither a document nor a copy, a key or a text of one is to be had without a `Held`, which
//! looks for KILL as well. SQL NULL is no document; the document `null` is one.

mod change;
pub mod document;
pub mod order;
pub mod path;
pub mod read;
pub mod search;
pub mod size;
pub mod write;

use crate::error::{SqlError, SqlResult};
use crate::memory::Held;
pub use change::{Change, change, remove};
pub use document::{Json, Kind, Object};
pub use read::{MAX_DEPTH, Malformed};
pub use read::{check, parse, parse_kept};
use std::collections::HashSet;
pub use write::write;
pub use write::{append, append_marked, append_pretty, append_quoted, without_marks};

/// The bytes in `base64:typeN:...`.
pub fn bytes_of_opaque(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("base64:type")?.split_once(':')?.1.trim_end_matches('=');
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let mut bytes = Vec::with_capacity(digits.len() / 4 * 3 + 2);
    for group in digits.as_bytes().chunks(4) {
        let bits = group.iter().try_fold(0u32, |bits, byte| Some(bits << 6 | u32::from(digit(*byte)?)))?;
        let aligned = (bits << (6 * (4 - group.len()))).to_be_bytes();
        bytes.extend(&aligned[1..group.len()]);
    }
    Some(bytes)
}

/// JSON_UNQUOTE of a text: what a string says, and any other document as it is written.
pub fn unquote(text: &str, held: &mut Held<'_>) -> SqlResult<String> {
    if text.len() < 2 || !text.starts_with('"') || !text.ends_with('"') {
        return Ok(text.into());
    }
    match parse(text, held).map_err(|error| error.of_argument(0, "json_unquote"))? {
        Json::String(inside) => Ok(inside),
        _ => Ok(text.into()),
    }
}

/// The longest name of a member that a column holds.
pub const NAME_MAX_BYTES: usize = u16::MAX as usize;

/// Error 3151 for a document with a longer one.
pub fn check_names(document: &Json) -> SqlResult<()> {
    match document {
        Json::Array(parts) => parts.iter().try_for_each(check_names),
        Json::Object(members) => members.iter().try_for_each(|(name, value)| {
            if name.len() > NAME_MAX_BYTES {
                return Err(SqlError::json_name_too_long());
            }
            check_names(value)
        }),
        _ => Ok(()),
    }
}

/// JSON_CONTAINS: an array contains each of its parts and any selection of them, an object any selection of
/// its members.
pub fn contains(target: &Json, candidate: &Json, held: &mut Held<'_>) -> SqlResult<bool> {
    match (target, candidate) {
        (Json::Array(parts), Json::Array(wanted)) => contains_all(parts, wanted, held),
        (Json::Array(parts), one) => contains_all(parts, std::slice::from_ref(one), held),
        (Json::Object(members), Json::Object(wanted)) => {
            for (name, value) in wanted.iter() {
                let Some(member) = members.get(name) else { return Ok(false) };
                held.pass(name.len() + size_of::<Json>())?;
                if !contains(member, value, held)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (one, other) => equal(one, other, held),
    }
}

/// Whether two documents are one. What their keys take is given back at once: it is much for strings only,
/// which are compared as they are.
fn equal(one: &Json, other: &Json, held: &mut Held<'_>) -> SqlResult<bool> {
    if let (Json::String(text), Json::String(wanted)) = (one, other) {
        held.pass(text.len().min(wanted.len()))?;
        return Ok(text == wanted);
    }
    let mut held = held.another();
    Ok(order::key(one, &mut held)? == order::key(other, &mut held)?)
}

/// What a key takes in a set of keys that has room to grow, besides its bytes.
const KEY_BYTES: usize = 4 * size_of::<Vec<u8>>();

/// Whether each of the wanted is contained in some part. Scalars, which can be many on both sides, are looked
/// up.
fn contains_all(parts: &[Json], wanted: &[Json], held: &mut Held<'_>) -> SqlResult<bool> {
    let is_scalar = Json::is_scalar;
    let mut held = held.another();
    let held = &mut held;
    let mut scalars = HashSet::new();
    if wanted.iter().any(is_scalar) {
        held.grow_piece(size_of_val(parts) / size_of::<Json>() * size_of::<&Json>())?;
        let mut open: Vec<&Json> = parts.iter().collect();
        while let Some(part) = open.pop() {
            match part {
                Json::Array(inside) => inside.iter().try_for_each(|one| held.push(&mut open, one))?,
                Json::Object(_) => {}
                scalar => {
                    held.grow(KEY_BYTES)?;
                    scalars.insert(order::key(scalar, held)?);
                }
            }
        }
    }
    'wanted: for one in wanted {
        if is_scalar(one) {
            if scalars.contains(&order::key(one, &mut held.another())?) {
                held.pass(size_of::<Json>())?;
                continue;
            }
            return Ok(false);
        }
        for part in parts {
            held.pass(size_of::<Json>())?;
            if contains(part, one, held)? {
                continue 'wanted;
            }
        }
        return Ok(false);
    }
    Ok(true)
}

/// JSON_OVERLAPS: arrays with a part in common, objects with a member in common, a scalar that is a part of
/// an array.
pub fn overlaps(one: &Json, other: &Json, held: &mut Held<'_>) -> SqlResult<bool> {
    match (one, other) {
        (Json::Array(parts), Json::Array(others)) => {
            let mut keys = HashSet::new();
            for part in parts {
                held.grow(KEY_BYTES)?;
                keys.insert(order::key(part, held)?);
            }
            for other in others {
                held.pass(size_of::<Json>())?;
                if keys.contains(&order::key(other, &mut held.another())?) {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        (Json::Array(parts), one) | (one, Json::Array(parts)) => is_part(one, parts, held),
        (Json::Object(members), Json::Object(others)) => {
            for (name, value) in members.iter() {
                held.pass(name.len() + size_of::<Json>())?;
                if let Some(other) = others.get(name)
                    && equal(value, other, held)?
                {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        (one, other) => equal(one, other, held),
    }
}

/// Whether a document is one of these.
pub fn is_part(one: &Json, parts: &[Json], held: &mut Held<'_>) -> SqlResult<bool> {
    let key = order::key(one, held)?;
    for part in parts {
        held.pass(size_of::<Json>())?;
        if order::key(part, &mut held.another())? == key {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Members of both in order; `both` decides of a name that both have, `added` of one that only the other has.
fn united(
    one: Object,
    other: Object,
    held: &mut Held<'_>,
    both: fn(Json, Json, &mut Held<'_>) -> SqlResult<Option<Json>>,
    added: fn(Json, &mut Held<'_>) -> SqlResult<Option<Json>>,
) -> SqlResult<Object> {
    let most = one.len() + other.len();
    held.grow_piece(most.saturating_mul(size_of::<(Box<str>, Json)>()))?;
    let mut out = Vec::with_capacity(most);
    let mut others = other.into_members().into_iter().peekable();
    let rank = |name: &str, other: &str| (name.len(), name).cmp(&(other.len(), other));
    let mut add = |name: Box<str>, value: Option<Json>| out.extend(value.map(|value| (name, value)));
    for (name, value) in one.into_members() {
        while let Some((before, more)) = others.next_if(|(other, _)| rank(other, &name).is_lt()) {
            add(before, added(more, held)?);
        }
        held.pass(name.len() + size_of::<Json>())?;
        match others.next_if(|(other, _)| *other == name) {
            Some((_, more)) => add(name, both(value, more, held)?),
            None => add(name, Some(value)),
        }
    }
    for (name, more) in others {
        add(name, added(more, held)?);
    }
    Ok(Object::new(out))
}

/// JSON_MERGE_PATCH, as RFC 7396 has it.
pub fn merge_patch(target: Json, patch: Json, held: &mut Held<'_>) -> SqlResult<Json> {
    let Json::Object(changes) = patch else { return Ok(patch) };
    let members = match target {
        Json::Object(members) => members,
        _ => Object::default(),
    };
    let both = |before, change, held: &mut Held<'_>| match change {
        Json::Null => Ok(None),
        change => merge_patch(before, change, held).map(Some),
    };
    let added = |change, held: &mut Held<'_>| match change {
        Json::Null => Ok(None),
        change => merge_patch(Json::Null, change, held).map(Some),
    };
    Ok(Json::Object(united(members, changes, held, both, added)?))
}

/// JSON_MERGE_PRESERVE: arrays are joined, objects united member by member, anything else becomes an array
/// first.
pub fn merge_preserve(one: Json, other: Json, held: &mut Held<'_>) -> SqlResult<Json> {
    match (one, other) {
        (Json::Object(members), Json::Object(others)) => {
            let both = |one, other, held: &mut Held<'_>| merge_preserve(one, other, held).map(Some);
            let added = |one, _: &mut Held<'_>| Ok(Some(one));
            Ok(Json::Object(united(members, others, held, both, added)?))
        }
        (one, other) => {
            let list = |document| match document {
                Json::Array(parts) => parts,
                other => vec![other],
            };
            let (mut parts, more) = (list(one), list(other));
            let length = parts.len() + more.len();
            if length > parts.capacity() {
                let room = length.max(parts.capacity().saturating_mul(2)) - parts.len();
                held.grow_piece(room.saturating_mul(size_of::<Json>()))?;
                parts.reserve_exact(room);
            }
            held.pass(size_of_val(more.as_slice()))?;
            parts.extend(more);
            Ok(Json::Array(parts))
        }
    }
}

#[cfg(test)]
mod tests;
