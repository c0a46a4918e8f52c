//! The session variables that every statement asks for, decoded once per change.

use turnstile_engine::Isolation;

use super::SessionVariables;
use super::switches::{Tracing, Ways};
use super::table::{ISOLATION_LEVELS, SQL_MODES};
use turnstile_expr::expr::SqlMode;
use turnstile_values::charset::Charset;
use turnstile_values::collation::Collation;
use turnstile_values::datetime::TimeZone;
use turnstile_values::value::Value;

/// What the combined modes stand for: adds the parts to a set of positions in [`SQL_MODES`].
pub(super) fn expand_modes(mut chosen: u64) -> u64 {
    let bit = |name: &str| SQL_MODES.iter().position(|mode| *mode == name).map_or(0, |at| 1 << at);
    let all = |names: &[&str]| names.iter().map(|name| bit(name)).fold(0, |all, one: u64| all | one);
    if chosen & bit("ANSI") != 0 {
        chosen |=
            all(&["REAL_AS_FLOAT", "PIPES_AS_CONCAT", "ANSI_QUOTES", "IGNORE_SPACE", "ONLY_FULL_GROUP_BY"]);
    }
    if chosen & bit("TRADITIONAL") != 0 {
        chosen |= all(&["STRICT_TRANS_TABLES", "STRICT_ALL_TABLES", "NO_ZERO_IN_DATE", "NO_ZERO_DATE"]);
        chosen |= all(&["ERROR_FOR_DIVISION_BY_ZERO", "NO_ENGINE_SUBSTITUTION"]);
    }
    chosen
}

fn mode_named(name: &str) -> SqlMode {
    match name {
        "REAL_AS_FLOAT" => SqlMode::REAL_AS_FLOAT,
        "PIPES_AS_CONCAT" => SqlMode::PIPES_AS_CONCAT,
        "ANSI_QUOTES" => SqlMode::ANSI_QUOTES,
        "IGNORE_SPACE" => SqlMode::IGNORE_SPACE,
        "ONLY_FULL_GROUP_BY" => SqlMode::ONLY_FULL_GROUP_BY,
        "NO_UNSIGNED_SUBTRACTION" => SqlMode::NO_UNSIGNED_SUBTRACTION,
        "NO_DIR_IN_CREATE" => SqlMode::NO_DIR_IN_CREATE,
        "NO_AUTO_VALUE_ON_ZERO" => SqlMode::NO_AUTO_VALUE_ON_ZERO,
        "NO_BACKSLASH_ESCAPES" => SqlMode::NO_BACKSLASH_ESCAPES,
        "STRICT_TRANS_TABLES" => SqlMode::STRICT_TRANS_TABLES,
        "STRICT_ALL_TABLES" => SqlMode::STRICT_ALL_TABLES,
        "NO_ZERO_IN_DATE" => SqlMode::NO_ZERO_IN_DATE,
        "NO_ZERO_DATE" => SqlMode::NO_ZERO_DATE,
        "ALLOW_INVALID_DATES" => SqlMode::ALLOW_INVALID_DATES,
        "ERROR_FOR_DIVISION_BY_ZERO" => SqlMode::ERROR_FOR_DIVISION_BY_ZERO,
        "HIGH_NOT_PRECEDENCE" => SqlMode::HIGH_NOT_PRECEDENCE,
        "NO_ENGINE_SUBSTITUTION" => SqlMode::NO_ENGINE_SUBSTITUTION,
        "PAD_CHAR_TO_FULL_LENGTH" => SqlMode::PAD_CHAR_TO_FULL_LENGTH,
        "TIME_TRUNCATE_FRACTIONAL" => SqlMode::TIME_TRUNCATE_FRACTIONAL,
        _ => SqlMode::default(),
    }
}

/// `thread_pool_priority`: whether a session goes before others on its worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// While its transaction holds locks.
    Auto,
    /// Always.
    High,
    /// Never.
    Low,
}

/// Bytes of rows that may be in memory before they go to a file.
#[derive(Clone, Copy, Debug)]
pub struct Buffers {
    /// `sort_buffer_size`
    pub sort: u64,
    /// `join_buffer_size`
    pub join: u64,
    /// `tmp_table_size`
    pub table: u64,
}

impl Buffers {
    fn decode(number: &dyn Fn(&str) -> u64) -> Buffers {
        Buffers {
            sort: number("sort_buffer_size"),
            join: number("join_buffer_size"),
            table: number("tmp_table_size"),
        }
    }
}

/// Decoded session variables.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the fields are the variables of the same names")]
pub struct SessionSettings {
    pub autocommit: bool,
    pub isolation: Isolation,
    pub read_only: bool,
    /// Longest wait for a row lock in milliseconds.
    pub row_lock_wait_ms: u64,
    /// Longest wait for a metadata lock in seconds.
    pub metadata_wait_s: u64,
    pub sql_mode: SqlMode,
    pub time_zone: TimeZone,
    pub collation_connection: Collation,
    /// The character set of statements where it is not UTF-8.
    pub client_set: Option<Charset>,
    /// The collation that results are announced with; none where each column's own set is sent.
    pub results: Option<Collation>,
    pub max_allowed_packet: u64,
    pub default_week_format: u8,
    /// `div_precision_increment`
    pub division_digits: u8,
    pub auto_increment_increment: u64,
    pub auto_increment_offset: u64,
    pub sql_safe_updates: bool,
    /// `optimizer_switch`
    pub ways: Ways,
    /// `optimizer_trace` and its kin.
    pub tracing: Tracing,
    /// Ranges of a key are counted in its tree if they are fewer (`eq_range_index_dive_limit`).
    pub dive_limit: usize,
    pub sql_select_limit: u64,
    pub group_concat_max_len: u64,
    pub connection_memory_limit: u64,
    pub buffers: Buffers,
    pub cte_max_recursion_depth: u64,
    pub max_error_count: u64,
    pub sql_notes: bool,
    /// `long_query_time` in microseconds.
    pub long_query_us: u64,
    /// `sql_log_off`
    pub log_off: bool,
    /// `sql_require_primary_key`
    pub require_primary_key: bool,
    /// `sql_auto_is_null`
    pub auto_is_null: bool,
    /// Statements mean something else than what is planned and kept for all sessions.
    pub plans_anew: bool,
    /// `timestamp` in microseconds since 1970 when it is set.
    pub fixed_now_us: Option<i64>,
    /// `thread_pool_priority`
    pub priority: Priority,
    /// Longest idle time of the connection in seconds.
    pub wait_timeout_s: u64,
    /// Longest pause within a message of the client in seconds.
    pub net_read_timeout_s: u64,
    /// Longest time in seconds that a client may take to accept more of an answer.
    pub net_write_timeout_s: u64,
    /// `max_execution_time`, 0 for no limit.
    pub max_execution_ms: u64,
    pub chain: bool,
    pub release: bool,
    /// `foreign_key_checks`
    pub foreign_key_checks: bool,
    /// `turnstile_statement_retries`
    pub statement_retries: u64,
    /// `turnstile_read_durable`
    pub read_durable: bool,
    /// `restrict_fk_on_non_standard_key`
    pub standard_foreign_keys: bool,
}

/// An isolation level by its name in the variable.
pub fn isolation(name: &str) -> Isolation {
    match ISOLATION_LEVELS.iter().position(|level| *level == name) {
        Some(0) => Isolation::ReadUncommitted,
        Some(1) => Isolation::ReadCommitted,
        Some(3) => Isolation::Serializable,
        _ => Isolation::RepeatableRead,
    }
}

/// Whether plans depend on a variable that kept ones know nothing of.
fn plans_anew(on: &dyn Fn(&str) -> bool, number: &dyn Fn(&str) -> u64, ways: Ways) -> bool {
    on("sql_auto_is_null")
        || ways != Ways::default()
        || number("sql_select_limit") != u64::MAX
        || number("div_precision_increment") != u64::from(turnstile_values::decimal::DIVISION_SCALE)
}

impl SessionSettings {
    /// What a text means depends on: `sql_mode`, and in bits of its own the client's character set, of whose
    /// bytes a string behind an introducer is made. Texts are kept by it.
    pub fn reading_mode(&self) -> SqlMode {
        const CLIENT_SET_SHIFT: u32 = 24;
        self.client_set
            .map_or(self.sql_mode, |set| self.sql_mode | SqlMode((set as u32 + 1) << CLIENT_SET_SHIFT))
    }

    /// Decodes.
    pub fn decode(variables: &SessionVariables) -> SessionSettings {
        let ways = Ways::of(&variables.named("optimizer_switch"));
        let on = |name: &str| matches!(variables.named(name), Value::Int(1));
        let number = |name: &str| match variables.named(name) {
            Value::UInt(number) => number,
            Value::Int(number) => number as u64,
            _ => 0,
        };
        let text = |name| text_of(&variables.named(name));
        let tracing = tracing(variables, &number);
        let completion = text("completion_type");
        SessionSettings {
            autocommit: on("autocommit"),
            isolation: isolation(&text("transaction_isolation")),
            read_only: on("transaction_read_only"),
            row_lock_wait_ms: row_lock_wait_ms(&number),
            metadata_wait_s: number("lock_wait_timeout"),
            sql_mode: text("sql_mode")
                .split(',')
                .map(mode_named)
                .fold(SqlMode::default(), |all, one| all | one),
            time_zone: TimeZone::parse(&text("time_zone")).unwrap_or(TimeZone::UTC),
            collation_connection: Collation::by_name(&text("collation_connection"))
                .unwrap_or(Collation::DEFAULT),
            client_set: Charset::by_name(&text("character_set_client")).filter(|set| !set.is_utf8()),
            results: Charset::by_name(&text("character_set_results"))
                .filter(|set| *set != Charset::Binary)
                .map(Charset::default_collation),
            max_allowed_packet: number("max_allowed_packet"),
            default_week_format: number("default_week_format") as u8,
            division_digits: number("div_precision_increment") as u8,
            auto_increment_increment: number("auto_increment_increment").max(1),
            auto_increment_offset: number("auto_increment_offset").max(1),
            sql_safe_updates: on("sql_safe_updates"),
            ways,
            tracing,
            dive_limit: dive_limit(number("eq_range_index_dive_limit")),
            sql_select_limit: number("sql_select_limit"),
            group_concat_max_len: number("group_concat_max_len"),
            connection_memory_limit: number("connection_memory_limit"),
            buffers: Buffers::decode(&number),
            cte_max_recursion_depth: number("cte_max_recursion_depth"),
            max_error_count: number("max_error_count"),
            sql_notes: on("sql_notes"),
            long_query_us: match variables.named("long_query_time") {
                Value::Double(seconds) => (seconds * 1e6) as u64,
                _ => u64::MAX,
            },
            log_off: on("sql_log_off"),
            require_primary_key: on("sql_require_primary_key"),
            auto_is_null: on("sql_auto_is_null"),
            plans_anew: tracing.enabled || plans_anew(&on, &number, ways),
            fixed_now_us: moment_us(&variables.named("timestamp")),
            priority: match &*text("thread_pool_priority") {
                "high" => Priority::High,
                "low" => Priority::Low,
                _ => Priority::Auto,
            },
            wait_timeout_s: number("wait_timeout"),
            net_read_timeout_s: number("net_read_timeout"),
            net_write_timeout_s: number("net_write_timeout"),
            max_execution_ms: number("max_execution_time"),
            chain: completion == "CHAIN",
            release: completion == "RELEASE",
            foreign_key_checks: on("foreign_key_checks"),
            statement_retries: number("turnstile_statement_retries"),
            read_durable: on("turnstile_read_durable"),
            standard_foreign_keys: on("restrict_fk_on_non_standard_key"),
        }
    }
}

fn tracing(variables: &SessionVariables, number: &dyn Fn(&str) -> u64) -> Tracing {
    Tracing::of(
        &variables.named("optimizer_trace"),
        &variables.named("optimizer_trace_features"),
        number("optimizer_trace_offset") as i64,
        number("optimizer_trace_limit"),
        number("optimizer_trace_max_mem_size"),
    )
}

/// How long a row's lock is waited for.
fn row_lock_wait_ms(number: &dyn Fn(&str) -> u64) -> u64 {
    match number("turnstile_lock_wait_timeout_ms") {
        0 => number("innodb_lock_wait_timeout").saturating_mul(1000),
        precise => precise,
    }
}

/// A moment in seconds; none for 0.
fn moment_us(value: &Value) -> Option<i64> {
    match value {
        Value::Double(seconds) if *seconds > 0.0 => Some((*seconds * 1e6) as i64),
        _ => None,
    }
}

/// 0 stands for no limit.
fn dive_limit(number: u64) -> usize {
    if number == 0 { usize::MAX } else { usize::try_from(number).unwrap_or(usize::MAX) }
}

fn text_of(value: &Value) -> String {
    match value {
        Value::Str(text) => text.to_string(),
        _ => String::new(),
    }
}
