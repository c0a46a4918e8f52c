//! What SET PERSIST keeps: the file `mysqld-auto.cnf` of the data directory, in the layout MySQL 8 gives it.
//!
//! ```text
//!   { "Version": 2,
//!     "mysql_dynamic_variables": { "max_connections": { "Value": "500",
//!         "Metadata": { "Host": ..., "User": ..., "Timestamp": us } } },
//!     "mysql_static_variables":  { "innodb_purge_threads": { ... } } }
//! ```
//! Promise: whoever is told that a change is kept finds it after a crash, and a crash at any moment leaves
//! the whole file as it was before or after one change. The new file is written beside the old one under
//! [`TEMPORARY`], synced, renamed over it, and the directory is synced. A temporary file left by a failure is
//! removed first, not written again: after a failed sync nothing is known about its bytes. Only if the
//! directory's own sync fails may the disk hold the change that was refused.
//!
//! The values win over option files and the command line, as in MySQL: they are what an administrator of the
//! running server asked for last. `persisted_globals_load=OFF` starts without them, also from a file that
//! cannot be read.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Map, Value as Json, json};
use turnstile_sys::disk::Disk;

use super::{Globals, Kind, VARIABLES, find};
use turnstile_values::value::Value;

/// The file.
pub const FILE: &str = "mysqld-auto.cnf";
/// The file that is to replace it.
pub const TEMPORARY: &str = "mysqld-auto.cnf.new";
/// A longer file is not ours.
const FILE_BYTES_MAX: u64 = 16 << 20;
const DYNAMIC: &str = "mysql_dynamic_variables";
const STATIC: &str = "mysql_static_variables";
/// MySQL keeps variables here that it needs early; read, never written.
const EARLY: &str = "mysql_dynamic_parse_early_variables";

/// A variable that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// As SHOW VARIABLES writes it.
    pub value: String,
    /// When it was set, in microseconds since 1970.
    pub set_us: u64,
    /// Who set it.
    pub user: String,
    /// From where.
    pub host: String,
}

/// One change of what is kept.
#[derive(Clone, Debug)]
pub enum Change {
    /// SET PERSIST and SET PERSIST_ONLY.
    Keep(String, Entry),
    /// RESET PERSIST of one variable.
    Forget(String),
    /// RESET PERSIST.
    ForgetAll,
}

/// What is kept, and where.
pub struct Persisted {
    disk: Arc<dyn Disk>,
    /// Held over the write, so that two changes cannot lose each other.
    entries: Mutex<BTreeMap<String, Entry>>,
}

impl std::fmt::Debug for Persisted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Persisted").field("entries", &self.entries.lock()).finish_non_exhaustive()
    }
}

impl Persisted {
    /// Reads the file; none means that nothing is kept.
    ///
    /// # Errors
    /// A text for the log if the file cannot be read or is not what SET PERSIST writes.
    pub fn read(disk: Arc<dyn Disk>) -> Result<Persisted, String> {
        let text = read_text(&*disk).map_err(|error| format!("{FILE}: {error}"))?;
        let entries = if text.is_empty() { BTreeMap::new() } else { parse(&text)? };
        Ok(Persisted { disk, entries: Mutex::new(entries) })
    }

    /// Gives the globals the values that are kept. What comes back are warnings: variables this server does
    /// not know stay in the file.
    ///
    /// # Errors
    /// A text for the log if a value is refused by its variable.
    pub fn apply(&self, globals: &Globals) -> Result<Vec<String>, String> {
        let mut warnings = Vec::new();
        for (name, entry) in &*self.entries.lock() {
            let Some(at) = find(name) else {
                warnings.push(format!(
                    "currently unknown variable '{name}' was read from the persisted config file"
                ));
                continue;
            };
            let definition = &VARIABLES[at];
            let value = if definition.kind == Kind::CharsetOrNull && entry.value.is_empty() {
                Value::Null
            } else {
                definition.parse(&entry.value).map_err(|error| format!("{FILE}: {}", error.message))?
            };
            globals.set(at, value);
        }
        Ok(warnings)
    }

    /// Makes all the changes durable, or none.
    ///
    /// # Errors
    /// Of the disk; what is kept then stays as it was.
    pub fn change(&self, changes: Vec<Change>) -> io::Result<()> {
        let mut entries = self.entries.lock();
        let mut next = entries.clone();
        for change in changes {
            match change {
                Change::Keep(name, entry) => drop(next.insert(name, entry)),
                Change::Forget(name) => drop(next.remove(&name)),
                Change::ForgetAll => next.clear(),
            }
        }
        if next != *entries {
            self.write(&text_of(&next))?;
            *entries = next;
        }
        Ok(())
    }

    fn write(&self, text: &str) -> io::Result<()> {
        if self.disk.exists(TEMPORARY)? {
            self.disk.remove(TEMPORARY)?;
        }
        let file = self.disk.open(TEMPORARY, true)?;
        file.write_at(text.as_bytes(), 0)?;
        file.sync()?;
        self.disk.rename(TEMPORARY, FILE)?;
        self.disk.sync_dir()
    }

    /// Whether a variable is kept.
    pub fn has(&self, name: &str) -> bool {
        self.entries.lock().contains_key(name)
    }

    /// All that is kept, by name.
    pub fn entries(&self) -> Vec<(String, Entry)> {
        self.entries.lock().iter().map(|(name, entry)| (name.clone(), entry.clone())).collect()
    }
}

fn read_text(disk: &dyn Disk) -> io::Result<String> {
    if !disk.exists(FILE)? {
        return Ok(String::new());
    }
    let file = disk.open(FILE, false)?;
    let wrong = |what| io::Error::new(io::ErrorKind::InvalidData, what);
    let length = file.len()?;
    if length > FILE_BYTES_MAX {
        return Err(wrong("the file is too long"));
    }
    let mut bytes = vec![0; length as usize];
    file.read_at(&mut bytes, 0)?;
    String::from_utf8(bytes).map_err(|_| wrong("the file is not UTF-8"))
}

fn parse(text: &str) -> Result<BTreeMap<String, Entry>, String> {
    let wrong = || {
        format!(
            "{FILE} is not what SET PERSIST writes; correct it, remove it, or start with --persisted-globals-load=OFF"
        )
    };
    let root: Json = serde_json::from_str(text).map_err(|error| format!("{} ({error})", wrong()))?;
    let root = root.as_object().ok_or_else(wrong)?;
    let mut entries = BTreeMap::new();
    for group in [EARLY, DYNAMIC, STATIC] {
        let Some(group) = root.get(group) else { continue };
        for (name, one) in group.as_object().ok_or_else(wrong)? {
            let value = one.get("Value").and_then(Json::as_str).ok_or_else(wrong)?.to_string();
            let about = |key: &str| one.get("Metadata").and_then(|about| about.get(key));
            let text = |key| about(key).and_then(Json::as_str).unwrap_or_default().to_string();
            let set_us = about("Timestamp").and_then(Json::as_u64).unwrap_or_default();
            let entry = Entry { value, set_us, user: text("User"), host: text("Host") };
            entries.insert(name.clone(), entry);
        }
    }
    Ok(entries)
}

fn text_of(entries: &BTreeMap<String, Entry>) -> String {
    let (mut moving, mut fixed) = (Map::new(), Map::new());
    for (name, entry) in entries {
        let about = json!({ "Host": entry.host, "User": entry.user, "Timestamp": entry.set_us });
        let is_fixed = find(name).is_some_and(|at| !VARIABLES[at].effect.is_dynamic());
        let group = if is_fixed { &mut fixed } else { &mut moving };
        group.insert(name.clone(), json!({ "Value": entry.value, "Metadata": about }));
    }
    format!("{:#}\n", json!({ "Version": 2, DYNAMIC: moving, STATIC: fixed }))
}

#[cfg(test)]
mod tests;
