//! System variables: the table of them, the global values, a session's values.
//!
//! A value is kept in normal form (see [`Definition::accept`]): 0 or 1 for a switch, the canonical spelling
//! of a word. A session takes a snapshot of the global values when it begins (one shared pointer) and keeps
//! what it changes itself in a short list beside it. What statements ask for all the time is decoded into
//! [`SessionSettings`].

mod accept;
mod effect;
pub mod guide;
mod memory_limits;
pub mod persisted;
pub mod reference;
pub mod right;
mod settings;
mod switches;
pub mod table;
mod values;

use accept::{integer, word};
pub use effect::Effect;
pub use memory_limits::set_memory_limits;
pub use persisted::Persisted;
pub use right::Right;
use rustc_hash::FxHashMap;
pub use settings::{Priority, SessionSettings, isolation};
use std::sync::OnceLock;
pub use switches::{Merges, Tracing, Ways};
pub use table::VARIABLES;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::value::Value;
pub use values::{Configured, Globals, SessionVariables};

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

#[cfg(test)]
mod tests;
