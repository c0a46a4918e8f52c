//! JSON_SEARCH: the paths of strings inside a document.

use std::collections::{HashMap, HashSet};

use super::document::Json;
use super::path::{Path, is_plain_name};
use super::write::append_quoted;
use crate::error::SqlResult;
use crate::memory::Held;

/// Looks through a document, or what paths lead to, for strings.
pub struct Search<'s, 'c> {
    /// Whether a string is looked for.
    pub wanted: &'s mut dyn FnMut(&str) -> SqlResult<bool>,
    /// The first place is enough.
    pub one: bool,
    /// What is found is charged to it.
    pub held: &'s mut Held<'c>,
}

/// What a place takes in a map of places that has room to grow.
const PLACE_BYTES: usize = 4 * size_of::<(*const Json, String)>();

impl Search<'_, '_> {
    /// Paths of the places, in order, each once.
    pub fn run(&mut self, document: &Json, paths: &[Path]) -> SqlResult<Vec<String>> {
        let mut found = Vec::new();
        let mut starts = Vec::new();
        for path in paths {
            for start in path.select(document, self.held)? {
                self.held.push(&mut starts, start)?;
            }
        }
        if paths.is_empty() {
            self.walk(document, &mut String::from("$"), &mut found)?;
            return Ok(found);
        }
        self.held.grow(starts.len().saturating_mul(PLACE_BYTES))?;
        let mut places = Places {
            wanted: starts.iter().map(|start| std::ptr::from_ref(*start)).collect(),
            found: HashMap::new(),
            held: &mut *self.held,
        };
        places.walk(document, &mut String::from("$"))?;
        let Places { found: mut paths_of, .. } = places;
        let mut seen = HashSet::new();
        for start in starts {
            let place = std::ptr::from_ref(start);
            let Some(mut path) = paths_of.remove(&place).filter(|_| seen.insert(place)) else { continue };
            self.walk(start, &mut path, &mut found)?;
            if self.one && !found.is_empty() {
                break;
            }
        }
        // A place may lie in several of those that paths lead to.
        let mut told = HashSet::with_capacity(found.len());
        let once: Vec<bool> = found.iter().map(|path| told.insert(path.as_str())).collect();
        let mut once = once.into_iter();
        found.retain(|_| once.next() == Some(true));
        Ok(found)
    }

    fn walk(&mut self, document: &Json, path: &mut String, found: &mut Vec<String>) -> SqlResult<()> {
        if self.one && !found.is_empty() {
            return Ok(());
        }
        if let Json::String(text) = document {
            if (self.wanted)(text)? {
                self.held.grow(path.len().saturating_add(PLACE_BYTES))?;
                found.push(path.clone());
            }
            return Ok(());
        }
        self.held.pass(size_of::<Json>())?;
        each_part(document, path, &mut |part, path| self.walk(part, path, found))
    }
}

/// Where parts of a document lie.
struct Places<'h, 'c> {
    wanted: HashSet<*const Json>,
    found: HashMap<*const Json, String>,
    held: &'h mut Held<'c>,
}

impl Places<'_, '_> {
    fn walk(&mut self, document: &Json, path: &mut String) -> SqlResult<()> {
        let place = std::ptr::from_ref(document);
        if self.wanted.contains(&place) {
            self.held.grow(path.len().saturating_add(PLACE_BYTES))?;
            self.found.insert(place, path.clone());
        }
        self.held.pass(size_of::<Json>())?;
        each_part(document, path, &mut |part, path| self.walk(part, path))
    }
}

/// Visits the parts of an array or an object with their paths.
fn each_part(
    document: &Json,
    path: &mut String,
    visit: &mut dyn FnMut(&Json, &mut String) -> SqlResult<()>,
) -> SqlResult<()> {
    let length = path.len();
    match document {
        Json::Array(parts) => {
            for (nth, part) in parts.iter().enumerate() {
                path.push_str(&format!("[{nth}]"));
                visit(part, path)?;
                path.truncate(length);
            }
        }
        Json::Object(members) => {
            for (name, part) in members.iter() {
                path.push('.');
                if is_plain_name(name) {
                    path.push_str(name);
                } else {
                    let written = append_quoted(name, path);
                    debug_assert!(written.is_ok(), "a text takes everything");
                }
                visit(part, path)?;
                path.truncate(length);
            }
        }
        _ => {}
    }
    Ok(())
}
