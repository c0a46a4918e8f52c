//! The values of variables: those of the server, and what a session has changed for itself.

use std::sync::{Arc, OnceLock};

use parking_lot::RwLock;
use turnstile_sys::disk::Disk;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::value::Value;

use super::{Persisted, VARIABLES, find};

/// What became of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Configured {
    /// It is the variable's value now.
    Taken,
    /// It was outside the range and is cut to it.
    Cut,
    /// It is kept and shown, and changes nothing.
    WithoutEffect,
    /// The variable reports a fact that an option does not change.
    NotTaken,
}

/// The global values.
#[derive(Debug)]
pub struct Globals {
    values: RwLock<Arc<Vec<Value>>>,
    persisted: OnceLock<Persisted>,
}

impl Default for Globals {
    fn default() -> Self {
        // A default that its own definition refuses is a mistake in the table; the text is then kept as it
        // stands.
        let values =
            VARIABLES.iter().map(|one| one.parse(one.default).unwrap_or_else(|_| Value::text(one.default)));
        Globals { values: RwLock::new(Arc::new(values.collect())), persisted: OnceLock::new() }
    }
}

impl Globals {
    /// All values as they are now.
    pub fn snapshot(&self) -> Arc<Vec<Value>> {
        self.values.read().clone()
    }

    /// One value; NULL for a position that does not exist.
    pub fn get(&self, at: usize) -> Value {
        self.values.read().get(at).cloned().unwrap_or_default()
    }

    /// One value by name.
    pub fn named(&self, name: &str) -> Value {
        find(name).map_or(Value::Null, |at| self.get(at))
    }

    /// Sets a value in normal form.
    pub fn set(&self, at: usize, value: Value) {
        if let Some(slot) = Arc::make_mut(&mut *self.values.write()).get_mut(at) {
            *slot = value;
        }
    }

    /// Sets a value from the command line, before the server is open.
    pub fn configure(&self, name: &str, text: &str) -> SqlResult<Configured> {
        let at = find(&name.replace('-', "_")).ok_or_else(|| SqlError::unknown_system_variable(name))?;
        let definition = &VARIABLES[at];
        let (value, cut) = definition.parse_option(text)?;
        definition.check_possible(&value)?;
        if !definition.takes_option(&value) {
            return Ok(Configured::NotTaken);
        }
        let empty = definition.promises_nothing(None, &value).is_some();
        self.set(at, value);
        Ok(match (cut, empty) {
            (true, _) => Configured::Cut,
            (_, true) => Configured::WithoutEffect,
            _ => Configured::Taken,
        })
    }

    /// Reads what SET PERSIST has kept on this disk, gives it to the globals unless `persisted_globals_load`
    /// is OFF, and keeps there what is persisted from now on. To be called after options were read, before
    /// the server is open. What comes back are warnings.
    ///
    /// # Errors
    /// A text for the log if the file cannot be read or holds a value that is refused.
    pub fn load_persisted(&self, disk: Arc<dyn Disk>) -> Result<Vec<String>, String> {
        let load = self.named("persisted_globals_load") != Value::Int(0);
        let warnings = match Persisted::read(disk) {
            Ok(persisted) => {
                let warnings = if load { persisted.apply(self)? } else { Vec::new() };
                let _ = self.persisted.set(persisted);
                warnings
            }
            Err(error) if load => return Err(error),
            Err(error) => vec![error],
        };
        Ok(warnings)
    }

    /// What SET PERSIST keeps, if there is a place for it.
    pub fn persisted(&self) -> Option<&Persisted> {
        self.persisted.get()
    }
}

/// A session's values.
#[derive(Clone, Debug)]
pub struct SessionVariables {
    base: Arc<Vec<Value>>,
    own: Vec<(usize, Value)>,
}

impl SessionVariables {
    /// As the globals are now.
    pub fn new(globals: &Globals) -> SessionVariables {
        SessionVariables { base: globals.snapshot(), own: Vec::new() }
    }

    /// One value.
    pub fn get(&self, at: usize) -> Value {
        let own = self.own.iter().find(|(own, _)| *own == at).map(|(_, value)| value);
        own.or_else(|| self.base.get(at)).cloned().unwrap_or_default()
    }

    /// One value by name.
    pub fn named(&self, name: &str) -> Value {
        find(name).map_or(Value::Null, |at| self.get(at))
    }

    /// Sets a value in normal form.
    pub fn set(&mut self, at: usize, value: Value) {
        match self.own.iter_mut().find(|(own, _)| *own == at) {
            Some((_, slot)) => *slot = value,
            None => self.own.push((at, value)),
        }
    }
}
