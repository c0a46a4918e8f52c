//! What setting a variable does here: the promise that the table makes for each of them, and that SET, the
//! command line and the reference page keep.

use super::switches::is_vain;
use super::{Definition, Kind};
use turnstile_values::error::SqlError;
use turnstile_values::value::Value;

/// Global variables that SET changes in MySQL and only the start of the server here: as in MySQL, that a
/// session has no such value is told first.
const SET_GLOBALLY_IN_MYSQL: &[&str] = &[
    "authentication_policy",
    "automatic_sp_privileges",
    "check_proxy_users",
    "default_password_lifetime",
    "delay_key_write",
    "flush",
    "innodb_buffer_pool_size",
    "innodb_default_row_format",
    "innodb_doublewrite",
    "innodb_file_per_table",
    "innodb_redo_log_capacity",
    "innodb_stats_persistent",
    "ssl_ca",
    "ssl_capath",
    "ssl_cert",
    "ssl_cipher",
    "ssl_key",
    "tls_version",
];

/// What a variable does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It works, and SET changes it. The file that reads it, below `crates`.
    Live(&'static str),
    /// It works, and only the start of the server sets it. The file that reads it, below `crates`.
    Start(&'static str),
    /// It reports a fact. SET is refused (1238); an option that says otherwise is not taken, and the log says
    /// so.
    Fixed,
    /// A choice that MySQL has and this server has not: its default says what is so here, and is accepted;
    /// any other value is refused (1231), at start too.
    One,
    /// Likewise, and only the start of the server could have set it.
    Only,
    /// It is kept and shown and changes nothing. A value other than the default is accepted with a warning,
    /// unless it is among these (separated by commas; `*`: any), which promise nothing that is not so.
    Inert(&'static str),
}

impl Effect {
    /// Whether SET may change it.
    pub fn is_dynamic(self) -> bool {
        matches!(self, Effect::Live(_) | Effect::One | Effect::Inert(_))
    }

    /// The file that reads it, below `crates`.
    pub fn reader(self) -> Option<&'static str> {
        match self {
            Effect::Live(reader) | Effect::Start(reader) => Some(reader),
            _ => None,
        }
    }

    /// As the reference page calls it.
    pub fn name(self) -> &'static str {
        match self {
            Effect::Live(_) => "live",
            Effect::Start(_) => "at start",
            Effect::Fixed => "fixed",
            Effect::One | Effect::Only => "one value",
            Effect::Inert(_) => "no effect",
        }
    }
}

impl Definition {
    /// Whether SET GLOBAL changes it in MySQL, though only the start of the server does here.
    pub fn is_set_globally_in_mysql(&self) -> bool {
        SET_GLOBALLY_IN_MYSQL.contains(&self.name)
    }

    /// Whether a value in normal form says what the server does anyway.
    fn is_so(&self, value: &Value) -> bool {
        let default = self.parse(self.default).map(|value| self.show(&value)).unwrap_or_default();
        let shown = self.show(value);
        let quiet = match self.effect {
            Effect::Inert(quiet) => quiet,
            _ => "",
        };
        shown.eq_ignore_ascii_case(&default)
            || quiet == "*"
            || !quiet.is_empty()
                && quiet.split(',').filter_map(|one| self.parse(one).ok()).any(|one| one == *value)
    }

    /// Fails if this server cannot do what a value in normal form asks for.
    ///
    /// # Errors
    /// 1231
    pub fn check_possible(&self, value: &Value) -> Result<(), SqlError> {
        match self.effect {
            Effect::One | Effect::Only if !self.is_so(value) => {
                Err(SqlError::wrong_value_for_variable(self.name, self.show(value)))
            }
            _ => Ok(()),
        }
    }

    /// The warning for a value in normal form that is kept and changes nothing. `before`: the value that it
    /// takes the place of.
    pub fn promises_nothing(&self, before: Option<&Value>, value: &Value) -> Option<SqlError> {
        let empty = match self.kind {
            Kind::Switches(flags) => is_vain(flags, before, value),
            _ => matches!(self.effect, Effect::Inert(_)) && !self.is_so(value),
        };
        empty.then(|| SqlError::variable_without_effect(self.name))
    }

    /// Whether an option may give it this value: a fact stays what it is.
    pub fn takes_option(&self, value: &Value) -> bool {
        self.effect != Effect::Fixed || self.is_so(value)
    }
}
