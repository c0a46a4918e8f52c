//! A document changed at a path: set, inserted, appended, removed.

use super::path::{Leg, Path};
use super::{Json, path};

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
    /// JSON_ARRAY_INSERT: a cell before another.
    Before,
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
    if change == Change::Before {
        insert_before(document, path, value);
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
            members.insert(name, value);
        }
        (Some(Json::Array(parts)), Leg::ArrayCell(place)) => match place.from_last() {
            Some(_) => parts.insert(0, value),
            None => parts.push(value),
        },
        (Some(scalar), Leg::ArrayCell(place)) => {
            let before = scalar.take();
            *scalar = Json::Array(match place.from_last() {
                Some(_) => vec![value, before],
                None => vec![before, value],
            });
        }
        _ => {}
    }
}

/// JSON_ARRAY_INSERT; what is no array stays as it is.
fn insert_before(document: &mut Json, path: &Path, value: Json) {
    let Some((Leg::ArrayCell(cell), front)) = path.legs().split_last() else { return };
    if let Some(Json::Array(parts)) = path::find(document, front) {
        let at = match cell.from_last() {
            Some(back) => parts.len().saturating_sub(back + 1),
            None => cell.within(parts.len()).unwrap_or(parts.len()),
        };
        parts.insert(at, value);
    }
}

/// JSON_REMOVE at a path without wildcards.
pub fn remove(document: &mut Json, path: &Path) {
    let Some((last, front)) = path.legs().split_last() else { return };
    match (path::find(document, front), last) {
        (Some(Json::Object(members)), Leg::Member(name)) => {
            members.remove(name);
        }
        (Some(Json::Array(parts)), Leg::ArrayCell(place)) => {
            if let Some(at) = place.within(parts.len()) {
                parts.remove(at);
            }
        }
        _ => {}
    }
}
