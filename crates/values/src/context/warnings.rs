//! Warnings that a statement raises, and the list of them that SHOW WARNINGS gives.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use parking_lot::Mutex;

use crate::error::{ErrorKind, SqlError};

/// Severity of a warning as SHOW WARNINGS prints it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it all")]
pub enum WarningLevel {
    Note,
    Warning,
    Error,
}

/// One line of SHOW WARNINGS.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it all")]
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
    /// What `@@warning_count` and `@@error_count` say: how many there were when the statement that runs
    /// began.
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

    /// Takes back those lines of a kind that were given after so many.
    pub fn take_back(&self, after: u16, kind: ErrorKind) {
        let mut list = self.list.lock();
        let all = list.len();
        let mut at = 0;
        list.retain(|warning| {
            at += 1;
            let stays = at <= usize::from(after) || warning.error.kind() != kind;
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

    /// Tells lines in other words that were given after so many; `words` has none for what stays as it is.
    pub fn restate(&self, after: u16, words: &dyn Fn(&SqlError) -> Option<SqlError>) {
        for warning in self.list.lock().iter_mut().skip(usize::from(after)) {
            if let Some(error) = words(&warning.error) {
                warning.error = error;
            }
        }
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
