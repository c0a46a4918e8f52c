//! System variables: the table of them, the global values, a session's values.
//!
//! A value is kept in normal form (see [`Definition::accept`]): 0 or 1 for a switch, the canonical spelling
//! of a word. A session takes a snapshot of the global values when it begins (one shared pointer) and keeps
//! what it changes itself in a short list beside it. What statements ask for all the time is decoded into
//! [`SessionSettings`].

use std::sync::{Arc, OnceLock};

use parking_lot::RwLock;
use rustc_hash::FxHashMap;
use turnstile_sys::disk::Disk;

use crate::accounts::roles_named;
use turnstile_syntax::parser::Deprecated;
use turnstile_values::collation::Collation;
use turnstile_values::datetime::TimeZone;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::value::Value;

mod effect;
pub mod guide;
mod memory_limits;
pub mod persisted;
pub mod reference;
pub mod right;
mod settings;
mod switches;
pub mod table;

pub use effect::Effect;
pub use memory_limits::set_memory_limits;
pub use persisted::Persisted;
pub use right::Right;
pub use settings::{Priority, SessionSettings, isolation};
pub use table::VARIABLES;

/// Where a variable lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// One value for the server.
    Global,
    /// One per session, without a global default.
    Session,
    /// A global default and one per session.
    Both,
}

/// What values a variable takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// ON or OFF.
    Bool,
    /// A whole number; one outside is cut to the range, with a warning.
    Int {
        /// Least.
        min: i64,
        /// Greatest.
        max: i64,
    },
    /// A whole number from 0 on, likewise.
    UInt {
        /// Least.
        min: u64,
        /// Greatest.
        max: u64,
    },
    /// A number.
    Double {
        /// Least.
        min: f64,
        /// Greatest.
        max: f64,
    },
    /// Any text.
    Text,
    /// Names of accounts, as GRANT takes them.
    Roles,
    /// One of these words, or its number.
    Enum(&'static [&'static str]),
    /// Several of these words, or the sum of their bits.
    Set(&'static [&'static str]),
    /// Flags, each on or off; one that is not named stays as it is.
    Switches(&'static [switches::Switch]),
    /// A character set.
    Charset,
    /// A character set or NULL.
    CharsetOrNull,
    /// A collation.
    Collation,
    /// SYSTEM, UTC or an offset.
    TimeZone,
    /// A storage engine: the one there is, by any of its names.
    Engine,
    /// A language and a country: the one that messages and names of days are in.
    Locale,
}

/// One system variable.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    /// Its name.
    pub name: &'static str,
    /// Where it lives.
    pub scope: Scope,
    /// Who may set it.
    pub right: Right,
    /// What it takes.
    pub kind: Kind,
    /// Its value unless the command line says otherwise.
    pub default: &'static str,
    /// What setting it does.
    pub effect: Effect,
    /// For `--help`.
    pub doc: &'static str,
}

fn index() -> &'static FxHashMap<&'static [u8], usize> {
    static INDEX: OnceLock<FxHashMap<&'static [u8], usize>> = OnceLock::new();
    INDEX.get_or_init(|| {
        let names = VARIABLES.iter().enumerate().map(|(at, one)| (one.name.as_bytes(), at));
        let mut map: FxHashMap<_, _> = names.collect();
        for (old, now) in [
            ("tx_isolation", "transaction_isolation"),
            ("tx_read_only", "transaction_read_only"),
            ("identity", "last_insert_id"),
            ("storage_engine", "default_storage_engine"),
        ] {
            if let Some(at) = map.get(now.as_bytes()).copied() {
                map.insert(old.as_bytes(), at);
            }
        }
        map
    })
}

/// Position of a variable in [`VARIABLES`], by its name in any case.
pub fn find(name: &str) -> Option<usize> {
    // Every SET and every connection asks for some fifty: no allocation.
    let mut lower = [0; 64];
    let lower = lower.get_mut(..name.len())?;
    lower.copy_from_slice(name.as_bytes());
    lower.make_ascii_lowercase();
    index().get(&*lower).copied()
}

fn by_id(id: i128) -> Option<Collation> {
    u16::try_from(id).ok().and_then(Collation::by_id)
}

fn integer(value: &Value) -> Option<i128> {
    match value {
        Value::Int(number) => Some(i128::from(*number)),
        Value::UInt(number) => Some(i128::from(*number)),
        _ => None,
    }
}

/// A number as option files write it: digits, perhaps with K, M, G, T, P or E.
fn sized(text: &str) -> Option<i128> {
    let (digits, shift) = match text.as_bytes().last()?.to_ascii_uppercase() {
        b'K' => (&text[..text.len() - 1], 10),
        b'M' => (&text[..text.len() - 1], 20),
        b'G' => (&text[..text.len() - 1], 30),
        b'T' => (&text[..text.len() - 1], 40),
        b'P' => (&text[..text.len() - 1], 50),
        b'E' => (&text[..text.len() - 1], 60),
        _ => (text, 0),
    };
    digits.parse::<i128>().ok()?.checked_mul(1 << shift)
}

/// A number that is not whole by its type.
fn is_fraction(value: &Value) -> bool {
    matches!(value, Value::Double(_) | Value::Decimal(_))
}

fn word(value: &Value) -> Option<String> {
    match value {
        Value::Str(text) => Some(text.to_string()),
        Value::Bytes(bytes) => String::from_utf8(bytes.to_vec()).ok(),
        Value::Enum(member) => Some(member.text()),
        _ => None,
    }
}

impl Definition {
    /// Whether a session has its value from when it begins, and nobody sets it for the session (1621).
    #[must_use]
    pub fn is_fixed_in_sessions(&self) -> bool {
        matches!(self.name, "max_allowed_packet" | "max_user_connections" | "net_buffer_length")
    }

    /// Whether DEFAULT means nothing for it (1230): it says what the next statement or the last one did.
    #[must_use]
    pub fn has_no_default(&self) -> bool {
        matches!(self.name, "identity" | "insert_id" | "last_insert_id" | "rand_seed1" | "rand_seed2")
    }

    /// Whether MySQL says of it, whenever it is set or read, that it will go.
    #[must_use]
    pub fn is_deprecated(&self) -> bool {
        const NAMES: &[&str] = &[
            "binlog_format",
            "log_bin_trust_function_creators",
            "max_length_for_sort_data",
            "profiling",
            "profiling_history_size",
            "query_prealloc_size",
            "transaction_prealloc_size",
        ];
        NAMES.contains(&self.name)
    }

    /// What MySQL says whenever it is read.
    #[must_use]
    pub fn deprecated_when_read(&self) -> Option<SqlError> {
        self.is_deprecated().then(|| SqlError::deprecated_variable(self.name))
    }

    /// What MySQL says whenever it is set.
    #[must_use]
    pub fn deprecation(&self) -> Option<SqlError> {
        match self.name {
            _ if self.is_deprecated() => self.deprecated_when_read(),
            "character_set_database" | "collation_database" | "default_collation_for_utf8mb4" => {
                Some(SqlError::deprecated_update(self.name))
            }
            _ => None,
        }
    }

    /// A text, or the digits of a number that stands for one.
    fn name_or_number(&self, value: &Value) -> SqlResult<String> {
        let number = || integer(value).map(|number| number.to_string());
        word(value).or_else(number).ok_or_else(|| self.wrong_type())
    }

    fn wrong_value(&self, value: &Value) -> SqlError {
        let text = match (integer(value), word(value), value) {
            (Some(number), _, _) => number.to_string(),
            (_, Some(text), _) => text,
            (_, _, Value::Null) => "NULL".into(),
            (_, _, other) => format!("{other:?}"),
        };
        SqlError::wrong_value_for_variable(self.name, text)
    }

    fn wrong_type(&self) -> SqlError {
        SqlError::wrong_type_for_variable(self.name)
    }

    /// Refuses a fraction for a choice, and NULL for a name.
    fn check_class(&self, value: &Value) -> SqlResult<()> {
        match self.kind {
            Kind::Bool | Kind::Enum(_) | Kind::Set(_) | Kind::Switches(_) if is_fraction(value) => {
                Err(self.wrong_type())
            }
            Kind::Charset | Kind::Collation | Kind::TimeZone | Kind::Engine | Kind::Locale
                if value.is_null() =>
            {
                Err(self.wrong_value(value))
            }
            _ => Ok(()),
        }
    }

    /// Brings a value into normal form. The flag says that it was cut to the range.
    pub fn accept(&self, value: &Value) -> SqlResult<(Value, bool)> {
        let plain = |value| Ok((value, false));
        self.check_class(value)?;
        match self.kind {
            Kind::Bool => match (integer(value), word(value).map(|w| w.to_ascii_uppercase()).as_deref()) {
                (Some(number @ 0..=1), _) => plain(Value::Int(number as i64)),
                (_, Some("ON")) => plain(Value::Int(1)),
                (_, Some("OFF")) => plain(Value::Int(0)),
                _ => Err(self.wrong_value(value)),
            },
            Kind::Int { min, max } => {
                let number = integer(value).ok_or_else(|| self.wrong_type())?;
                let cut = number.clamp(i128::from(min), i128::from(max));
                Ok((Value::Int(cut as i64), cut != number))
            }
            Kind::UInt { min, max } => {
                let number = integer(value).ok_or_else(|| self.wrong_type())?;
                let cut = number.clamp(i128::from(min), i128::from(max));
                Ok((Value::UInt(cut as u64), cut != number))
            }
            Kind::Double { min, max } => {
                let number = match value {
                    Value::Double(number) => *number,
                    Value::Decimal(number) => number.to_f64(),
                    other => integer(other).ok_or_else(|| self.wrong_type())? as f64,
                };
                let cut = number.clamp(min, max);
                Ok((Value::Double(cut), cut != number))
            }
            Kind::Locale => plain(self.locale(value)?),
            Kind::Text => match value {
                Value::Null => plain(Value::text("")),
                other => plain(Value::text(word(other).ok_or_else(|| self.wrong_type())?)),
            },
            Kind::Roles => plain(self.names_of_roles(value)?),
            Kind::Enum(words) => plain(self.one_of(words, value)?),
            Kind::Set(words) => plain(self.some_of(words, value)?),
            Kind::Switches(flags) => plain(self.switched(flags, None, value)?),
            Kind::CharsetOrNull if value.is_null() => plain(Value::Null),
            Kind::Charset | Kind::CharsetOrNull => plain(self.charset(value)?),
            Kind::Collation => plain(self.collation(value)?),
            Kind::TimeZone => {
                let name = word(value).ok_or_else(|| self.wrong_type())?;
                plain(Value::from(TimeZone::spelled(&name)?))
            }
            Kind::Engine => {
                let name = word(value).ok_or_else(|| self.wrong_type())?;
                if !crate::definition::is_own_engine(&name) {
                    return Err(SqlError::unknown_storage_engine(&name));
                }
                plain(Value::text("InnoDB"))
            }
        }
    }

    fn locale(&self, value: &Value) -> SqlResult<Value> {
        let name = self.name_or_number(value)?;
        let known = name.eq_ignore_ascii_case("en_US") || integer(value) == Some(0);
        if known { Ok(Value::text("en_US")) } else { Err(SqlError::unknown_locale(name)) }
    }

    /// A character set by its name, or by the number of one of its collations.
    fn charset(&self, value: &Value) -> SqlResult<Value> {
        let name = self.name_or_number(value)?;
        let found = match integer(value) {
            Some(id) => by_id(id),
            None => Collation::default_of_charset(&name.to_ascii_lowercase()),
        };
        if self.name == "character_set_client" && found.is_some_and(|one| !one.set().serves_clients()) {
            return Err(SqlError::wrong_value_for_variable(self.name, name));
        }
        Ok(Value::text(found.ok_or_else(|| SqlError::unknown_character_set(&name))?.charset()))
    }

    fn collation(&self, value: &Value) -> SqlResult<Value> {
        let name = self.name_or_number(value)?;
        let found = integer(value).map_or_else(|| Collation::by_name(&name.to_ascii_lowercase()), by_id);
        Ok(Value::text(found.ok_or_else(|| SqlError::unknown_collation(&name))?.name()))
    }

    /// Likewise, over the value that there is.
    pub fn accept_over(&self, before: &Value, value: &Value) -> SqlResult<(Value, bool)> {
        match self.kind {
            Kind::Switches(flags) if !is_fraction(value) => {
                Ok((self.switched(flags, Some(before), value)?, false))
            }
            _ => self.accept(value),
        }
    }

    /// What MySQL says of a value that it takes.
    pub fn warning_of(&self, accepted: &Value) -> Option<SqlError> {
        let text = turnstile_values::value::to_text(accepted);
        match self.name {
            "restrict_fk_on_non_standard_key" if *text == *"0" || *text == *"OFF" => {
                Some(SqlError::non_standard_foreign_keys())
            }
            "restrict_fk_on_non_standard_key" => Some(SqlError::deprecated_alone(self.name)),
            _ => None,
        }
    }

    /// The old character set that a value of this variable names.
    pub fn deprecated_name(&self, given: &Value, accepted: &Value) -> Option<Deprecated> {
        let name =
            turnstile_values::value::to_text(if matches!(given, Value::Str(_)) { given } else { accepted });
        match self.kind {
            Kind::Charset | Kind::CharsetOrNull => Deprecated::of_charset(&name),
            Kind::Collation => Deprecated::of_collation(&name),
            _ => None,
        }
    }

    fn names_of_roles(&self, value: &Value) -> SqlResult<Value> {
        let list = if value.is_null() { Some(String::new()) } else { word(value) };
        let list = list.ok_or_else(|| self.wrong_type())?;
        match roles_named(&list) {
            Some(_) => Ok(Value::text(list)),
            None => Err(self.wrong_value(value)),
        }
    }

    fn one_of(&self, words: &[&'static str], value: &Value) -> SqlResult<Value> {
        let found = match (integer(value), word(value)) {
            (Some(number), _) => usize::try_from(number).ok().and_then(|at| words.get(at)),
            (_, Some(text)) => words.iter().find(|one| one.eq_ignore_ascii_case(&text)),
            _ => None,
        };
        found.map(|one| Value::text(*one)).ok_or_else(|| self.wrong_value(value))
    }

    fn some_of(&self, words: &[&'static str], value: &Value) -> SqlResult<Value> {
        let mut chosen = 0u64;
        match (integer(value), word(value)) {
            (Some(number), _) if (0..1 << words.len()).contains(&number) => chosen = number as u64,
            (None, Some(text)) => {
                for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
                    let at = words.iter().position(|one| one.eq_ignore_ascii_case(part));
                    chosen |= 1 << at.ok_or_else(|| SqlError::wrong_value_for_variable(self.name, part))?;
                }
            }
            _ => return Err(self.wrong_value(value)),
        }
        if self.name == "sql_mode" {
            chosen = settings::expand_modes(chosen);
        }
        let names = words.iter().enumerate().filter(|(bit, _)| chosen >> bit & 1 == 1).map(|(_, name)| *name);
        Ok(Value::text(names.collect::<Vec<_>>().join(",")))
    }

    /// Reads a value from the command line or an option file.
    pub fn parse(&self, text: &str) -> SqlResult<Value> {
        Ok(self.parse_option(text)?.0)
    }

    /// Likewise; the flag says that it was cut to the range.
    pub fn parse_option(&self, text: &str) -> SqlResult<(Value, bool)> {
        let value = match self.kind {
            Kind::Int { .. } | Kind::UInt { .. } => {
                let number = sized(text.trim()).ok_or_else(|| self.wrong_type())?;
                let low = i64::try_from(number.max(i128::from(i64::MIN)));
                let far = number < i128::from(i64::MIN) || number > i128::from(u64::MAX);
                let near =
                    low.map_or_else(|_| Value::UInt(number.min(i128::from(u64::MAX)) as u64), Value::Int);
                let (value, cut) = self.accept(&near)?;
                return Ok((value, cut || far));
            }
            Kind::Double { .. } => Value::Double(text.trim().parse().map_err(|_| self.wrong_type())?),
            // Options have more words for a switch than SET.
            Kind::Bool => match text.to_ascii_uppercase().as_str() {
                "TRUE" | "YES" | "1" => Value::Int(1),
                "FALSE" | "NO" | "0" => Value::Int(0),
                _ => Value::text(text),
            },
            _ => Value::text(text),
        };
        self.accept(&value)
    }

    /// The value as SHOW VARIABLES writes it.
    pub fn show(&self, value: &Value) -> String {
        match (self.kind, value) {
            (Kind::Bool, Value::Int(on)) => if *on == 0 { "OFF" } else { "ON" }.into(),
            (_, Value::Double(number)) => format!("{number:.6}"),
            (_, Value::Null) => String::new(),
            (_, other) => integer(other).map(|n| n.to_string()).or_else(|| word(other)).unwrap_or_default(),
        }
    }
}

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

#[cfg(test)]
mod tests;
