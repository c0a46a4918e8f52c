//! What an evaluation may ask of its surroundings: settings, parameters, the session, memory, and a place for
//! warnings.

mod session_view;
mod settings;
mod variable_kind;
mod warnings;

#[cfg(any(test, feature = "testing"))]
pub use crate::memory::begin_steps;
pub use crate::memory::{Held, LARGE_BYTES};
pub use session_view::{KeptLookup, NoSession, RandomSequence, SessionView};
pub use settings::{EvalSettings, SqlMode};
pub use variable_kind::{VariableKind, VariableScope, of_assignment};
pub use warnings::{Warning, WarningLevel, Warnings};

use crate::collation::Collation;
use crate::datetime::{DateRules, DateTime, Time};
use crate::datum::{Value, compare};
use crate::error::{SqlError, SqlResult};
use crate::memory::{Charge, STEPS_NOTED, is_step_noted};
use crate::pulse;

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

impl<'a> EvalContext<'a> {
    /// The same under other settings.
    pub fn under(&self, settings: EvalSettings) -> EvalContext<'a> {
        EvalContext { settings, ..*self }
    }

    /// Charges a value that is kept while another is worked out; for one whose bytes are few there is nothing
    /// to do.
    #[inline]
    pub fn keep(&self, value: &Value) -> SqlResult<Option<Held<'a>>> {
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
    pub fn held(&self) -> Held<'a> {
        Held::nothing(self.session)
    }

    /// The memory of a buffer that is empty yet.
    pub fn charge(&self) -> Charge {
        Charge::on(self.session.memory())
    }

    /// So many bytes were worked through; fails if the statement is to end.
    pub fn work(&self, bytes: usize) -> SqlResult<()> {
        if bytes < LARGE_BYTES { Ok(()) } else { self.session.work(bytes) }
    }

    /// Works on values of so many bytes in code that cannot fail by itself but beats ([`crate::pulse`]);
    /// fails if the statement ended meanwhile.
    #[inline]
    pub fn watched<T>(&self, bytes: usize, work: impl FnOnce() -> T) -> SqlResult<T> {
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
    pub fn compare(
        &self,
        left: &Value,
        right: &Value,
        collation: Collation,
    ) -> SqlResult<Option<std::cmp::Ordering>> {
        self.watched(left.stored_len() + right.stored_len(), || compare(left, right, collation))
    }

    /// One small step of an evaluation is done (a call, a comparison with one entry of a list): many of them
    /// are work too.
    #[inline]
    pub fn step(&self) -> SqlResult<()> {
        if is_step_noted() { self.session.work(LARGE_BYTES) } else { Ok(()) }
    }

    /// A part of a long expression has been worked out, of which so many came before it. What is short pays
    /// nothing.
    #[inline]
    pub fn nth_step(&self, nth: usize) -> SqlResult<()> {
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
