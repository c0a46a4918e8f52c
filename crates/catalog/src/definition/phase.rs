//! In which order the faults of a definition are told.
//!
//! MySQL looks at a definition in phases: at names and attributes while it reads the text, at the table's
//! name, at columns, at keys, and so on. Of several faults it tells the first of the first phase. A
//! definition is worked out whole here, every fault is noted with its phase, and [`Faults`] keeps the one
//! that is to be told; what is made of a definition after a fault is never used.

use turnstile_values::error::{ErrorKind, SqlError, SqlResult};

/// When MySQL finds a fault. The order of the variants is the order of the phases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// What the grammar itself refuses.
    Text,
    /// Character sets and collations that there are not.
    Names,
    /// The name of the table.
    Table,
    /// A column's name, type and clauses, each by itself.
    Attributes,
    /// Options of the table.
    Options,
    /// What CHECK constraints must not contain.
    Conditions,
    /// The columns that they name.
    ConditionColumns,
    /// The comment of the table; that its name is free was looked at before.
    Comment,
    /// Columns beside each other, and what depends on lengths and character sets.
    Columns,
    /// A second AUTO_INCREMENT column.
    Automatic,
    /// Keys, each with those before it.
    Keys,
    /// An AUTO_INCREMENT column that begins no key.
    AutomaticKey,
    /// Foreign keys and what they refer to.
    ForeignKeys,
    /// The width of a row.
    Width,
    /// Defaults that do not fit.
    Defaults,
    /// Names of CHECK constraints.
    ConditionNames,
    /// Columns that generated columns read.
    Generated,
    /// Columns that defaults read.
    Computed,
    /// CHECK constraints over an AUTO_INCREMENT column.
    ConditionAutomatic,
    /// Rules about the table as a whole.
    Whole,
    /// What the engine cannot do.
    Engine,
}

impl Phase {
    /// Of a column's fault, as it is worked out.
    fn of_column(error: &SqlError) -> Phase {
        match error.kind() {
            ErrorKind::RefusedWidth => Phase::Text,
            ErrorKind::UnknownCharset => Phase::Names,
            ErrorKind::RefusedColumn => Phase::Columns,
            _ => Phase::Attributes,
        }
    }

    /// Of an option's fault.
    fn of_option(error: &SqlError) -> Phase {
        match error.kind() {
            ErrorKind::UnknownCharset => Phase::Names,
            ErrorKind::RefusedOption => Phase::Engine,
            _ => Phase::Options,
        }
    }

    /// Of a CHECK constraint's fault.
    fn of_check(error: &SqlError) -> Phase {
        match error.kind() {
            ErrorKind::CheckOfAutoIncrement => Phase::ConditionAutomatic,
            ErrorKind::CheckOfColumn => Phase::ConditionColumns,
            ErrorKind::CheckName => Phase::ConditionNames,
            _ => Phase::Conditions,
        }
    }
}

/// The fault that is to be told, of those noted so far.
#[derive(Debug, Default)]
pub struct Faults(Option<(Phase, SqlError)>);

impl Faults {
    /// Notes a fault. Of those of one phase the first stays.
    pub fn note(&mut self, phase: Phase, error: SqlError) {
        if self.0.as_ref().is_none_or(|(known, _)| phase < *known) {
            self.0 = Some((phase, error));
        }
    }

    /// The result, or None with its error noted.
    pub fn take<T>(&mut self, phase: Phase, result: SqlResult<T>) -> Option<T> {
        result.map_err(|error| self.note(phase, error)).ok()
    }

    /// Likewise, of working out a column.
    pub fn take_column<T>(&mut self, result: SqlResult<T>) -> Option<T> {
        result.map_err(|error| self.note(Phase::of_column(&error), error)).ok()
    }

    /// Likewise, of an option.
    pub fn take_option<T>(&mut self, result: SqlResult<T>) -> Option<T> {
        result.map_err(|error| self.note(Phase::of_option(&error), error)).ok()
    }

    /// Likewise, of a CHECK constraint.
    pub fn take_check<T>(&mut self, result: SqlResult<T>) -> Option<T> {
        result.map_err(|error| self.note(Phase::of_check(&error), error)).ok()
    }

    /// Fails if a fault of an earlier phase than this was noted.
    ///
    /// # Errors
    /// That fault.
    pub fn before(&mut self, phase: Phase) -> SqlResult<()> {
        match self.0.take_if(|(known, _)| *known < phase) {
            Some((_, error)) => Err(error),
            None => Ok(()),
        }
    }

    /// Fails if any fault was noted.
    ///
    /// # Errors
    /// The fault that is to be told.
    pub fn end(self) -> SqlResult<()> {
        self.0.map_or(Ok(()), |(_, error)| Err(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_fault_of_the_first_phase_is_told() {
        let mut faults = Faults::default();
        faults.note(Phase::Keys, SqlError::key_column_missing("a"));
        faults.note(Phase::Columns, SqlError::duplicate_column("b"));
        faults.note(Phase::Columns, SqlError::duplicate_column("c"));
        faults.note(Phase::Whole, SqlError::too_many_columns());
        assert!(faults.before(Phase::Columns).is_ok());
        assert_eq!(faults.end().map_err(|error| error.message), Err("Duplicate column name 'b'".into()));
    }
}
