//! JSON_SEARCH: the paths of strings inside a document.

use std::collections::{HashMap, HashSet};

use super::document::Json;
use super::path::{Path, is_plain_name};
use super::write::append_quoted;
use crate::error::SqlResult;

/// Looks through a document, or what paths lead to, for strings.
pub struct Search<'s> {
    /// Whether a string is looked for.
    pub wanted: &'s mut dyn FnMut(&str) -> SqlResult<bool>,
    /// The first place is enough.
    pub one: bool,
}

impl Search<'_> {
    /// Paths of the places, in order, each once.
    pub fn run(&mut self, document: &Json, paths: &[Path]) -> SqlResult<Vec<String>> {
        let mut found = Vec::new();
        let starts: Vec<&Json> = paths.iter().flat_map(|path| path.select(document)).collect();
        if paths.is_empty() {
            self.walk(document, &mut String::from("$"), &mut found)?;
            return Ok(found);
        }
        let mut places = Places {
            wanted: starts.iter().map(|start| std::ptr::from_ref(*start)).collect(),
            found: HashMap::new(),
        };
        places.walk(document, &mut String::from("$"));
        let mut seen = HashSet::new();
        for start in starts {
            let place = std::ptr::from_ref(start);
            let Some(path) = places.found.get(&place).filter(|_| seen.insert(place)) else { continue };
            self.walk(start, &mut path.clone(), &mut found)?;
            if self.one && !found.is_empty() {
                break;
            }
        }
        // A place may lie in several of those that paths lead to.
        let mut told = HashSet::new();
        found.retain(|path| told.insert(path.clone()));
        Ok(found)
    }

    fn walk(&mut self, document: &Json, path: &mut String, found: &mut Vec<String>) -> SqlResult<()> {
        if self.one && !found.is_empty() {
            return Ok(());
        }
        if let Json::String(text) = document {
            if (self.wanted)(text)? {
                found.push(path.clone());
            }
            return Ok(());
        }
        let mut result = Ok(());
        each_part(document, path, &mut |part, path| {
            if result.is_ok() {
                result = self.walk(part, path, found);
            }
        });
        result
    }
}

/// Where parts of a document lie.
struct Places {
    wanted: HashSet<*const Json>,
    found: HashMap<*const Json, String>,
}

impl Places {
    fn walk(&mut self, document: &Json, path: &mut String) {
        let place = std::ptr::from_ref(document);
        if self.wanted.contains(&place) {
            self.found.insert(place, path.clone());
        }
        each_part(document, path, &mut |part, path| self.walk(part, path));
    }
}

/// Visits the parts of an array or an object with their paths.
fn each_part(document: &Json, path: &mut String, visit: &mut dyn FnMut(&Json, &mut String)) {
    let length = path.len();
    match document {
        Json::Array(parts) => {
            for (nth, part) in parts.iter().enumerate() {
                path.push_str(&format!("[{nth}]"));
                visit(part, path);
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
                visit(part, path);
                path.truncate(length);
            }
        }
        _ => {}
    }
}
