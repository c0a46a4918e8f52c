//! Settings that hold for a whole statement.

use crate::charset::Charset;
use crate::collation::Collation;
use crate::datetime::{DateTime, TimeZone};

/// The bits of `sql_mode` that change what expressions and stores do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct SqlMode(pub u32);

#[allow(missing_docs, reason = "the constants are MySQL's modes")]
impl SqlMode {
    pub const STRICT_TRANS_TABLES: SqlMode = SqlMode(1);
    pub const STRICT_ALL_TABLES: SqlMode = SqlMode(1 << 1);
    pub const NO_ZERO_IN_DATE: SqlMode = SqlMode(1 << 2);
    pub const NO_ZERO_DATE: SqlMode = SqlMode(1 << 3);
    pub const ERROR_FOR_DIVISION_BY_ZERO: SqlMode = SqlMode(1 << 4);
    pub const ONLY_FULL_GROUP_BY: SqlMode = SqlMode(1 << 5);
    pub const NO_ENGINE_SUBSTITUTION: SqlMode = SqlMode(1 << 6);
    pub const PIPES_AS_CONCAT: SqlMode = SqlMode(1 << 7);
    pub const ANSI_QUOTES: SqlMode = SqlMode(1 << 8);
    pub const IGNORE_SPACE: SqlMode = SqlMode(1 << 9);
    pub const NO_UNSIGNED_SUBTRACTION: SqlMode = SqlMode(1 << 10);
    pub const NO_AUTO_VALUE_ON_ZERO: SqlMode = SqlMode(1 << 11);
    pub const NO_BACKSLASH_ESCAPES: SqlMode = SqlMode(1 << 12);
    pub const HIGH_NOT_PRECEDENCE: SqlMode = SqlMode(1 << 13);
    pub const REAL_AS_FLOAT: SqlMode = SqlMode(1 << 14);
    pub const ALLOW_INVALID_DATES: SqlMode = SqlMode(1 << 15);
    pub const PAD_CHAR_TO_FULL_LENGTH: SqlMode = SqlMode(1 << 16);
    pub const TIME_TRUNCATE_FRACTIONAL: SqlMode = SqlMode(1 << 17);
    pub const NO_DIR_IN_CREATE: SqlMode = SqlMode(1 << 18);
    /// MySQL 8's default.
    pub const DEFAULT: SqlMode = SqlMode(1 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 6);

    /// True if any bit of `other` is set.
    pub fn has(self, other: SqlMode) -> bool {
        self.0 & other.0 != 0
    }

    /// STRICT_TRANS_TABLES or STRICT_ALL_TABLES.
    pub fn is_strict(self) -> bool {
        self.0 & 3 != 0
    }
}

impl std::ops::BitOr for SqlMode {
    type Output = SqlMode;
    fn bitor(self, other: SqlMode) -> SqlMode {
        SqlMode(self.0 | other.0)
    }
}

/// Settings fixed for one statement.
#[derive(Debug, Clone, Copy)]
pub struct EvalSettings {
    /// `sql_mode`.
    pub sql_mode: SqlMode,
    /// `time_zone`.
    pub time_zone: TimeZone,
    /// When the statement began, microseconds since 1970: NOW() of the whole statement.
    pub statement_start_us: i64,
    /// `collation_connection`.
    pub connection_collation: Collation,
    /// `character_set_client`, if statements come in other bytes than those of UTF-8.
    pub client_set: Option<Charset>,
    /// `max_allowed_packet`, bytes; no result string may be longer.
    pub result_bytes_max: u64,
    /// `group_concat_max_len`, bytes.
    pub group_concat_bytes_max: u64,
    /// `cte_max_recursion_depth`, rounds.
    pub recursion_rounds_max: u64,
    /// `default_week_format`.
    pub default_week_format: u8,
    /// `div_precision_increment`: digits that a division adds.
    pub division_digits: u8,
    /// True inside INSERT, UPDATE, DELETE under strict mode without IGNORE: what is a warning in SELECT is an
    /// error.
    pub strict_change: bool,
    /// `sql_auto_is_null`
    pub null_finds_last: bool,
}

impl Default for EvalSettings {
    fn default() -> Self {
        EvalSettings {
            sql_mode: SqlMode::DEFAULT,
            time_zone: TimeZone::UTC,
            statement_start_us: 0,
            connection_collation: Collation::DEFAULT,
            client_set: None,
            result_bytes_max: 64 << 20,
            group_concat_bytes_max: 1024,
            recursion_rounds_max: 1000,
            default_week_format: 0,
            division_digits: crate::decimal::DIVISION_SCALE,
            strict_change: false,
            null_finds_last: false,
        }
    }
}

impl EvalSettings {
    /// When the statement began, UTC.
    pub fn statement_start_utc(&self) -> DateTime {
        DateTime::from_unix_us(self.statement_start_us, 6).unwrap_or(DateTime::ZERO)
    }
}
