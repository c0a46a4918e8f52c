//! What an expression may ask of its surroundings: settings, parameters, the session, and a place for warnings.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use parking_lot::Mutex;
use turnstile_engine::interrupt::Interrupt;

use crate::ast::VariableScope;
use crate::charset::Charset;
use crate::collation::Collation;
use crate::datetime::{DateRules, DateTime, Time, TimeZone};
use crate::error::{SqlError, SqlResult};
use crate::expr::{Lookup, VariableKind};
use crate::memory::{Account, Charge};
use crate::pulse;
use crate::value::{Value, compare};

/// The bits of `sql_mode` that change what expressions and stores do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct SqlMode(pub u32);

#[allow(missing_docs)]
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

/// Severity of a warning as SHOW WARNINGS prints it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum WarningLevel {
    Note,
    Warning,
    Error,
}

/// One line of SHOW WARNINGS.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Warning {
    pub level: WarningLevel,
    pub error: SqlError,
}

/// The diagnostics area of a statement: counts all, keeps the first `max_error_count`.
#[derive(Debug)]
pub struct Warnings {
    count: AtomicU32,
    /// Errors among them.
    errors: AtomicU32,
    /// What `@@warning_count` and `@@error_count` say: how many there were when the statement that runs began.
    before: AtomicU32,
    errors_before: AtomicU32,
    /// `max_error_count`
    kept_max: AtomicU32,
    /// `sql_notes` is OFF.
    without_notes: AtomicBool,
    /// Rows that the client has been given, and rows that are held back to be sorted behind them.
    given: AtomicU32,
    held: AtomicU32,
    list: Mutex<Vec<Warning>>,
}

impl Default for Warnings {
    fn default() -> Warnings {
        Warnings {
            count: AtomicU32::new(0),
            errors: AtomicU32::new(0),
            before: AtomicU32::new(0),
            errors_before: AtomicU32::new(0),
            kept_max: AtomicU32::new(Self::KEPT_MAX),
            without_notes: AtomicBool::new(false),
            given: AtomicU32::new(0),
            held: AtomicU32::new(0),
            list: Mutex::default(),
        }
    }
}

impl Warnings {
    /// Most warnings kept unless `max_error_count` says otherwise.
    pub const KEPT_MAX: u32 = 1024;

    /// An empty area.
    pub fn new() -> Warnings {
        Warnings::default()
    }

    /// Follows `max_error_count` and `sql_notes`.
    pub fn set_limits(&self, kept_max: u64, notes: bool) {
        self.kept_max.store(u32::try_from(kept_max).unwrap_or(u32::MAX), Ordering::Relaxed);
        self.without_notes.store(!notes, Ordering::Relaxed);
    }

    /// Adds one line.
    pub fn push(&self, level: WarningLevel, error: SqlError) {
        if level == WarningLevel::Note && self.without_notes.load(Ordering::Relaxed) {
            return;
        }
        self.count.fetch_add(1, Ordering::Relaxed);
        if level == WarningLevel::Error {
            self.errors.fetch_add(1, Ordering::Relaxed);
        }
        let mut list = self.list.lock();
        if list.len() < self.kept_max.load(Ordering::Relaxed) as usize {
            list.push(Warning { level, error });
        }
    }

    /// Number of warnings raised, kept or not; what OK and EOF packets carry (capped at 65535).
    pub fn count(&self) -> u16 {
        self.count.load(Ordering::Relaxed).min(65_535) as u16
    }

    /// The kept lines.
    pub fn list(&self) -> Vec<Warning> {
        if self.count() == 0 { Vec::new() } else { self.list.lock().clone() }
    }

    /// Takes back those lines that were given after so many and have this number.
    pub fn take_back(&self, after: u16, code: u16) {
        let mut list = self.list.lock();
        let all = list.len();
        let mut at = 0;
        list.retain(|warning| {
            at += 1;
            let stays = at <= usize::from(after) || warning.error.code != code;
            if !stays && warning.level == WarningLevel::Error {
                self.errors.fetch_sub(1, Ordering::Relaxed);
            }
            stays
        });
        self.count.fetch_sub((all - list.len()) as u32, Ordering::Relaxed);
    }

    /// Warnings, and errors among them, of the statement before the one that runs.
    pub fn before(&self) -> (u16, u64) {
        let count = self.before.load(Ordering::Relaxed).min(65_535) as u16;
        (count, u64::from(self.errors_before.load(Ordering::Relaxed)))
    }

    /// Number of errors raised, kept or not.
    pub fn errors(&self) -> u64 {
        u64::from(self.errors.load(Ordering::Relaxed))
    }

    /// The client has been given another row. One thread at a time runs a statement.
    #[inline]
    pub fn note_given(&self) {
        self.given.store(self.given.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    /// So many rows are held back before the one that is worked out.
    pub fn note_held(&self, rows: usize) {
        self.held.store(rows as u32, Ordering::Relaxed);
    }

    /// Rows are collected before the client is given any: each is called the first.
    pub fn note_collected(&self) {
        self.held.store(0u32.wrapping_sub(self.given.load(Ordering::Relaxed)), Ordering::Relaxed);
    }

    /// The number of the row that is worked out, as warnings call it.
    pub fn row(&self) -> u64 {
        1 + u64::from(self.given.load(Ordering::Relaxed).wrapping_add(self.held.load(Ordering::Relaxed)))
    }

    /// Forgets everything but how much there was; free when nothing was raised lately.
    pub fn clear(&self) {
        self.given.store(0, Ordering::Relaxed);
        self.held.store(0, Ordering::Relaxed);
        let count = self.count.load(Ordering::Relaxed);
        if count != 0 || self.before.load(Ordering::Relaxed) != 0 {
            self.before.store(count, Ordering::Relaxed);
            self.errors_before.store(self.errors() as u32, Ordering::Relaxed);
            self.count.store(0, Ordering::Relaxed);
            self.errors.store(0, Ordering::Relaxed);
            self.list.lock().clear();
        }
    }
}

/// RAND(seed): MySQL's published generator, two linear congruential states of 30 bits.
#[derive(Debug, Clone, Copy)]
pub struct RandomSequence {
    first: u64,
    second: u64,
}

impl RandomSequence {
    const MODULUS: u64 = 0x3FFF_FFFF;

    /// The sequence that a seed begins.
    pub fn new(seed: u32) -> RandomSequence {
        RandomSequence {
            first: u64::from(seed.wrapping_mul(0x10001).wrapping_add(55_555_555)) % Self::MODULUS,
            second: u64::from(seed.wrapping_mul(0x1000_0001)) % Self::MODULUS,
        }
    }

    /// Its next number, 0 <= x < 1.
    pub fn next_number(&mut self) -> f64 {
        self.first = (self.first * 3 + self.second) % Self::MODULUS;
        self.second = (self.first + self.second + 33) % Self::MODULUS;
        self.first as f64 / Self::MODULUS as f64
    }
}

/// Session facts that functions report. Implemented by the session; tests use [`NoSession`].
#[allow(missing_docs)]
pub trait SessionView: Sync {
    /// Current database.
    fn database(&self) -> Option<String>;
    /// `user@host` as the client gave it.
    fn user(&self) -> String;
    /// `user@host` of the account that matched.
    fn current_user(&self) -> String;
    /// CURRENT_ROLE()
    fn current_role(&self) -> String {
        "NONE".into()
    }
    fn connection_id(&self) -> u64;
    fn version(&self) -> String;
    fn last_insert_id(&self) -> u64;
    /// LAST_INSERT_ID(expr).
    fn set_last_insert_id(&self, id: u64);
    fn row_count(&self) -> i64;
    fn found_rows(&self) -> u64;
    fn user_variable(&self, name: &str) -> Value;
    /// What kind of value a user variable holds.
    fn user_variable_kind(&self, _name: &str) -> VariableKind {
        VariableKind::Unset
    }
    /// Assigns a value, and a kind unless the variable keeps its own. Errors 4081 and 4082: the value is too much for
    /// the session's memory.
    fn set_user_variable(&self, name: &str, value: Value, kind: Option<VariableKind>) -> SqlResult<()>;
    fn system_variable(&self, scope: VariableScope, name: &str) -> SqlResult<Value>;
    /// RELEASE_LOCK: whether the session held it; `None` if nobody does. Error 3057.
    fn release_user_lock(&self, name: &Value) -> SqlResult<Option<bool>>;
    /// RELEASE_ALL_LOCKS: how many there were.
    fn release_user_locks(&self) -> u64;
    /// Connection id of who holds a lock that users have named. Error 3057.
    fn user_lock_owner(&self, name: &Value) -> SqlResult<Option<u64>>;
    /// Next number of the session's generator, 0 <= x < 1.
    fn random(&self) -> f64;
    /// An evaluation has worked through so many bytes: fails if the statement is to end (KILL), and lets the executor
    /// know when it is time to give way.
    fn work(&self, _bytes: usize) -> SqlResult<()> {
        Ok(())
    }
    /// Where KILL is seen by work on long values.
    fn interrupt(&self) -> Option<&Arc<Interrupt>> {
        None
    }
    /// Whether lists of IN are prepared: a plan is running, whose expressions stay where they are.
    fn keeps_lookups(&self) -> bool {
        false
    }
    /// The list of an IN that was prepared for looking up during this statement, by the place of its expression.
    fn lookup(&self, _place: usize) -> Option<Arc<Lookup>> {
        None
    }
    /// Keeps one until the statement ends.
    fn keep_lookup(&self, _place: usize, _lookup: &Arc<Lookup>) {}
    /// True if a warning of a place was given during this statement.
    fn was_told(&self, _place: usize) -> bool {
        false
    }
    /// Notes that it was.
    fn note_told(&self, _place: usize) {}
    /// What the session's statements hold in memory.
    fn memory(&self) -> Option<&Arc<Account>> {
        None
    }
    /// Next number of the sequence of the RAND(seed) at a place of the statement; `begin` is that sequence where it
    /// begins.
    fn random_in_sequence(&self, place: usize, begin: RandomSequence) -> f64;
}

/// A session that knows nothing.
pub struct NoSession;

impl SessionView for NoSession {
    #[cfg(test)]
    fn work(&self, bytes: usize) -> SqlResult<()> {
        LEFT.set(LEFT.get().saturating_sub(bytes));
        if LEFT.get() == 0 { Err(SqlError::query_interrupted()) } else { Ok(()) }
    }
    fn database(&self) -> Option<String> {
        None
    }
    fn user(&self) -> String {
        "root@localhost".into()
    }
    fn current_user(&self) -> String {
        "root@%".into()
    }
    fn connection_id(&self) -> u64 {
        1
    }
    fn version(&self) -> String {
        "8.4.0".into()
    }
    fn last_insert_id(&self) -> u64 {
        0
    }
    fn set_last_insert_id(&self, _id: u64) {}
    fn row_count(&self) -> i64 {
        -1
    }
    fn found_rows(&self) -> u64 {
        0
    }
    fn user_variable(&self, _name: &str) -> Value {
        Value::Null
    }
    fn set_user_variable(&self, _name: &str, _value: Value, _kind: Option<VariableKind>) -> SqlResult<()> {
        Ok(())
    }
    fn system_variable(&self, _scope: VariableScope, name: &str) -> SqlResult<Value> {
        Err(SqlError::unknown_system_variable(name))
    }
    fn release_user_lock(&self, _name: &Value) -> SqlResult<Option<bool>> {
        Ok(None)
    }
    fn release_user_locks(&self) -> u64 {
        0
    }
    fn user_lock_owner(&self, _name: &Value) -> SqlResult<Option<u64>> {
        Ok(None)
    }
    fn random(&self) -> f64 {
        0.5
    }
    fn random_in_sequence(&self, _place: usize, mut begin: RandomSequence) -> f64 {
        begin.next_number()
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
    /// True inside INSERT, UPDATE, DELETE under strict mode without IGNORE: what is a warning in SELECT is an error.
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

/// Everything around an expression while it is evaluated. `Sync`, cheap to build per statement.
pub struct EvalContext<'a> {
    /// Settings of the statement.
    pub settings: EvalSettings,
    /// Values of `?`.
    pub parameters: &'a [Value],
    /// The session.
    pub session: &'a dyn SessionView,
    /// Where warnings go.
    pub warnings: &'a Warnings,
}

/// Values of this length count: as work, and as memory while an evaluation goes on.
pub(super) const LARGE_BYTES: usize = 16 << 10;

/// Steps between two looks for KILL; so many take about as long as working through [`LARGE_BYTES`].
const STEPS_NOTED: u32 = 256;

thread_local! {
    /// Steps of evaluations on this thread. Whose they were does not matter.
    static STEPS: Cell<u32> = const { Cell::new(0) };
}

/// A large argument, and what functions make of it that do not build their result piece by piece.
const ARGUMENT_COPIES: usize = 2;

/// What an evaluation keeps while it works out more, or what a row's values hold until they are passed on. It is also
/// what a function that builds many small parts (a document, places in it) takes its memory from and notes its work on.
pub(crate) struct Held<'c> {
    account: Option<&'c Account>,
    session: &'c dyn SessionView,
    bytes: u64,
    /// Kept, but still too little to be charged.
    pending: usize,
    /// Worked through, but still too little to be noted.
    unnoted: usize,
}

/// What a new piece of memory takes besides what is in it.
const PIECE_OVERHEAD: usize = 16;

impl<'c> Held<'c> {
    /// Keeps a value.
    #[inline]
    pub(crate) fn add(&mut self, value: &Value) -> SqlResult<()> {
        let bytes = value.stored_len();
        if bytes < LARGE_BYTES { Ok(()) } else { self.add_bytes(bytes) }
    }

    /// Keeps an argument of a call, and what the call makes of it while it works.
    #[inline]
    pub(crate) fn add_argument(&mut self, value: &Value) -> SqlResult<()> {
        let bytes = value.stored_len();
        if bytes < LARGE_BYTES { Ok(()) } else { self.add_bytes(bytes.saturating_mul(ARGUMENT_COPIES)) }
    }

    /// Keeps so many bytes more, one small part after another: they are charged, and count as worked through, once they
    /// are many.
    #[inline]
    pub(crate) fn grow(&mut self, bytes: usize) -> SqlResult<()> {
        self.pending = self.pending.saturating_add(bytes);
        if self.pending < LARGE_BYTES {
            return Ok(());
        }
        let bytes = std::mem::take(&mut self.pending);
        self.add_bytes(bytes)
    }

    /// Keeps a piece of memory of its own.
    #[inline]
    pub(crate) fn grow_piece(&mut self, bytes: usize) -> SqlResult<()> {
        self.grow(bytes + PIECE_OVERHEAD)
    }

    /// Makes room for so many bytes more, and charges it.
    pub(crate) fn reserve(&mut self, bytes: &mut Vec<u8>, more: usize) -> SqlResult<()> {
        let length = bytes.len().saturating_add(more);
        if length > bytes.capacity() {
            let room = length.max(bytes.capacity().saturating_mul(2)) - bytes.len();
            self.grow_piece(room)?;
            bytes.reserve_exact(room);
        }
        Ok(())
    }

    /// Appends to a list, whose room is charged before it grows.
    #[inline]
    pub(crate) fn push<T>(&mut self, list: &mut Vec<T>, one: T) -> SqlResult<()> {
        if list.len() == list.capacity() {
            let more = list.len().max(4);
            self.grow_piece(more.saturating_mul(size_of::<T>()))?;
            list.reserve_exact(more);
        }
        list.push(one);
        Ok(())
    }

    /// A part of the same evaluation that gives back earlier what it keeps.
    pub(crate) fn another(&self) -> Held<'c> {
        Held { account: self.account, session: self.session, bytes: 0, pending: 0, unnoted: 0 }
    }

    /// So many bytes were worked through, without keeping anything: fails if the statement is to end.
    #[inline]
    pub(crate) fn pass(&mut self, bytes: usize) -> SqlResult<()> {
        self.unnoted = self.unnoted.saturating_add(bytes);
        if self.unnoted < LARGE_BYTES {
            return Ok(());
        }
        self.session.work(std::mem::take(&mut self.unnoted))
    }

    /// Keeps so many bytes, and counts them as worked through.
    pub(crate) fn add_bytes(&mut self, bytes: usize) -> SqlResult<()> {
        self.session.work(bytes)?;
        if self.account.is_none() {
            self.account = self.session.memory().map(|account| &**account);
        }
        if let Some(account) = self.account {
            account.charge(bytes as u64)?;
            self.bytes += bytes as u64;
        }
        Ok(())
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        if let Some(account) = self.account.filter(|_| self.bytes > 0) {
            account.release(self.bytes);
        }
    }
}

#[cfg(test)]
thread_local! {
    /// Work that is done before sessions of tests are killed.
    static LEFT: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// Counts steps from the beginning: whether one looks for KILL does not hang on what was evaluated before.
#[cfg(test)]
pub(crate) fn begin_steps() {
    STEPS.with(|cell| cell.set(1));
}

#[cfg(test)]
impl Held<'static> {
    /// Without an account.
    pub(crate) fn free() -> Held<'static> {
        Held::free_for(usize::MAX)
    }

    /// Killed after so much work of this thread.
    pub(crate) fn free_for(work: usize) -> Held<'static> {
        LEFT.set(work);
        Held { account: None, session: &NoSession, bytes: 0, pending: 0, unnoted: 0 }
    }

    /// With an account that holds so much.
    pub(crate) fn within(account: &'static Account) -> Held<'static> {
        Held { account: Some(account), ..Held::free() }
    }
}

impl<'a> EvalContext<'a> {
    /// Charges a value that is kept while another is worked out; for one whose bytes are few there is nothing to do.
    #[inline]
    pub(crate) fn keep(&self, value: &Value) -> SqlResult<Option<Held<'a>>> {
        let bytes = value.stored_len();
        if bytes < LARGE_BYTES { Ok(None) } else { self.keep_bytes(bytes).map(Some) }
    }

    #[cold]
    fn keep_bytes(&self, bytes: usize) -> SqlResult<Held<'a>> {
        let mut held = self.held();
        held.add_bytes(bytes)?;
        Ok(held)
    }

    /// Nothing kept yet.
    pub(crate) fn held(&self) -> Held<'a> {
        Held { account: None, session: self.session, bytes: 0, pending: 0, unnoted: 0 }
    }

    /// The memory of a buffer that is empty yet.
    pub(crate) fn charge(&self) -> Charge {
        Charge::on(self.session.memory())
    }

    /// So many bytes were worked through; fails if the statement is to end.
    pub(crate) fn work(&self, bytes: usize) -> SqlResult<()> {
        if bytes < LARGE_BYTES { Ok(()) } else { self.session.work(bytes) }
    }

    /// Works on values of so many bytes in code that cannot fail by itself but beats ([`crate::pulse`]); fails if the
    /// statement ended meanwhile.
    #[inline]
    pub(crate) fn watched<T>(&self, bytes: usize, work: impl FnOnce() -> T) -> SqlResult<T> {
        if bytes < LARGE_BYTES { Ok(work()) } else { self.watched_long(bytes, work) }
    }

    #[cold]
    fn watched_long<T>(&self, bytes: usize, work: impl FnOnce() -> T) -> SqlResult<T> {
        self.session.work(bytes.min(LARGE_BYTES))?;
        match self.session.interrupt() {
            Some(interrupt) => pulse::watched(interrupt.clone(), work),
            None => Ok(work()),
        }
    }

    /// Compares two values that may be long.
    #[inline]
    pub(crate) fn compare(
        &self,
        left: &Value,
        right: &Value,
        collation: Collation,
    ) -> SqlResult<Option<std::cmp::Ordering>> {
        self.watched(left.stored_len() + right.stored_len(), || compare(left, right, collation))
    }

    /// One small step of an evaluation is done (a call, a comparison with one entry of a list): many of them are work
    /// too.
    #[inline]
    pub(crate) fn step(&self) -> SqlResult<()> {
        let steps = STEPS.with(|cell| cell.replace(cell.get().wrapping_add(1)));
        if steps.is_multiple_of(STEPS_NOTED) { self.session.work(LARGE_BYTES) } else { Ok(()) }
    }

    /// A part of a long expression has been worked out, of which so many came before it. What is short pays nothing.
    #[inline]
    pub(crate) fn nth_step(&self, nth: usize) -> SqlResult<()> {
        if (nth + 1).is_multiple_of(STEPS_NOTED as usize) { self.session.work(LARGE_BYTES) } else { Ok(()) }
    }

    /// Raises a conversion warning; under strict data changes it is the statement's error instead.
    pub fn warn(&self, error: SqlError) -> SqlResult<()> {
        if self.settings.strict_change {
            return Err(error);
        }
        self.warnings.push(WarningLevel::Warning, error);
        Ok(())
    }

    /// The dates that comparisons and functions take.
    pub fn date_rules(&self) -> DateRules {
        DateRules { invalid: self.settings.sql_mode.has(SqlMode::ALLOW_INVALID_DATES), ..DateRules::LENIENT }
    }

    /// The same of a text that is compared with a date: zeros are none where the mode says so.
    pub fn compared_date_rules(&self) -> DateRules {
        let mode = self.settings.sql_mode;
        DateRules {
            zero_in_date: !mode.has(SqlMode::NO_ZERO_IN_DATE),
            zero_date: !mode.has(SqlMode::NO_ZERO_DATE),
            ..self.date_rules()
        }
    }

    /// A moment with so many digits of its second: rounded, or cut where the mode says so.
    pub fn moment_to(&self, moment: DateTime, fsp: u8) -> Option<DateTime> {
        if self.settings.sql_mode.has(SqlMode::TIME_TRUNCATE_FRACTIONAL) {
            return Some(moment.truncate_to(fsp));
        }
        moment.round_to(fsp)
    }

    /// The same of a TIME.
    pub fn time_to(&self, time: Time, fsp: u8) -> Time {
        if self.settings.sql_mode.has(SqlMode::TIME_TRUNCATE_FRACTIONAL) {
            return time.truncate_to(fsp);
        }
        time.round_to(fsp)
    }

    /// The number of the row that is worked out, as warnings call it.
    pub fn row(&self) -> u64 {
        self.warnings.row()
    }

    /// Raises a warning that never becomes an error.
    pub fn note(&self, error: SqlError) {
        self.warnings.push(WarningLevel::Warning, error);
    }

    /// Division by zero: silent, a warning, or an error, as `sql_mode` says.
    pub fn division_by_zero(&self) -> SqlResult<()> {
        if self.settings.sql_mode.has(SqlMode::ERROR_FOR_DIVISION_BY_ZERO) {
            return self.warn(SqlError::division_by_zero());
        }
        Ok(())
    }

    /// NOW() in the session's zone with microseconds.
    pub fn now(&self) -> DateTime {
        self.settings.time_zone.from_utc(self.settings.statement_start_utc())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_begins_mysqls_sequence() {
        let mut sequence = RandomSequence::new(3);
        assert_eq!(sequence.next_number(), 0.9057697559760601);
        assert_eq!(sequence.next_number(), 0.37307905813034536);
        assert_eq!(sequence.next_number(), 0.14808605345719125);
    }

    #[test]
    fn strict_changes_turn_warnings_into_errors() {
        let warnings = Warnings::new();
        let mut context = EvalContext {
            settings: EvalSettings::default(),
            parameters: &[],
            session: &NoSession,
            warnings: &warnings,
        };
        assert!(context.division_by_zero().is_ok());
        assert_eq!(warnings.count(), 1);
        context.settings.strict_change = true;
        assert!(context.division_by_zero().is_err());
        warnings.clear();
        assert!(warnings.list().is_empty());
    }
}
