//! Errors in groups, by what those who meet one do about it: the only place outside the table of errors that
//! knows their numbers. Code asks [`SqlError::kind`] and never compares numbers (`tidy` holds that).

use super::SqlError;

/// What an error is to the code that meets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The transaction is the victim of a cycle: it is rolled back, and its client may begin again.
    Deadlock,
    /// A lock was not granted in time: the statement is rolled back, the transaction if a variable says so.
    LockWaitTimeout,
    /// KILL, or a time limit that tells so itself.
    Interrupted,
    /// The statement ends whatever its values are: the server stops, or time, memory, stack or temporary
    /// files are used up.
    Ended,
    /// The disk has no room, which is told as a table that is full.
    DiskFull,
    /// Named by MySQL, and absent here or there.
    Unsupported,
    /// A fault that has no number of its own.
    Unknown,
    /// A name needs a database and there is none.
    NoDatabase,
    /// A column that is not there: the name may mean something else, or is told with another place.
    UnknownColumn,
    /// A function that is not there: told with the name as it was written.
    UnknownFunction,
    /// A table, view or database that is not there.
    UnknownTable,
    /// A right on a table, column or routine that is not held.
    NoRight,
    /// A function with too few or too many arguments: as above.
    WrongParameterCount,
    /// An aggregate where none may stand.
    InvalidGroupUse,
    /// A number beyond its type: told with the text of the expression.
    OutOfRange,
    /// NULL for a column that has none.
    Null,
    /// A text that a column has no room for.
    TooLong,
    /// A value that is cut, or read as far as it makes sense.
    Truncated,
    /// A value that a column's type does not reach.
    OutOfColumn,
    /// A document's value that is no number or moment where one is wanted.
    JsonValue,
    /// A scalar subquery has more than one row: an error only where its value is used.
    SubqueryRows,
    /// A CHECK constraint is false: IGNORE makes a warning of it.
    BrokenCheck,
    /// A foreign key stands against a change: as above.
    BrokenForeignKey,
    /// Collations that do not meet: told with all operands.
    MixedCollations,
    /// A DECIMAL with too many decimals: told with what is cast.
    TooBigScale,
    /// A DECIMAL with too many digits: as above.
    TooBigPrecision,
    /// A text that is no document: JSON_VALUE has a clause for it.
    JsonText,
    /// A value that cannot be a document, whatever its text is.
    JsonType,
    /// A default that does not fit its column.
    InvalidDefault,
    /// A default that a rule is against, and not its value.
    RefusedDefault,
    /// A character set or collation that nobody knows.
    UnknownCharset,
    /// A width that is refused while the text is read.
    RefusedWidth,
    /// A column whose name or type is refused.
    RefusedColumn,
    /// A table option that the engine lacks.
    RefusedOption,
    /// A CHECK over an AUTO_INCREMENT column.
    CheckOfAutoIncrement,
    /// A CHECK over columns that are not there.
    CheckOfColumn,
    /// A CHECK whose name is refused.
    CheckName,
    /// Told as it is.
    Other,
}

impl SqlError {
    /// The group of this error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self.code {
            1213 => ErrorKind::Deadlock,
            1205 => ErrorKind::LockWaitTimeout,
            1317 => ErrorKind::Interrupted,
            1..=3 | 1037 | 1038 | 1041 | 1053 | 1436 | 1473 | 3024 | 4081 | 4082 => ErrorKind::Ended,
            1021 => ErrorKind::DiskFull,
            1235 => ErrorKind::Unsupported,
            1105 => ErrorKind::Unknown,
            1046 => ErrorKind::NoDatabase,
            1054 => ErrorKind::UnknownColumn,
            1305 => ErrorKind::UnknownFunction,
            1049 | 1146 => ErrorKind::UnknownTable,
            1142 | 1143 | 1370 => ErrorKind::NoRight,
            1582 => ErrorKind::WrongParameterCount,
            1111 => ErrorKind::InvalidGroupUse,
            1690 => ErrorKind::OutOfRange,
            1048 => ErrorKind::Null,
            1406 => ErrorKind::TooLong,
            1265 | 1292 | 1366 => ErrorKind::Truncated,
            1264 => ErrorKind::OutOfColumn,
            3156 => ErrorKind::JsonValue,
            1242 => ErrorKind::SubqueryRows,
            1369 | 3819 => ErrorKind::BrokenCheck,
            1216 | 1217 | 1451 | 1452 => ErrorKind::BrokenForeignKey,
            1267 | 1270 => ErrorKind::MixedCollations,
            1425 => ErrorKind::TooBigScale,
            1426 => ErrorKind::TooBigPrecision,
            3141 => ErrorKind::JsonText,
            3144 | 3146 => ErrorKind::JsonType,
            1067 => ErrorKind::InvalidDefault,
            1101 | 3593 | 3767..=3773 => ErrorKind::RefusedDefault,
            _ => self.kind_in_definition(),
        }
    }

    /// The groups that only definitions of tables tell apart.
    fn kind_in_definition(&self) -> ErrorKind {
        match self.code {
            1115 | 1273 => ErrorKind::UnknownCharset,
            1818 => ErrorKind::RefusedWidth,
            1060 | 1074 | 1097 | 1166 | 1291 | 1367 | 1629 => ErrorKind::RefusedColumn,
            1031 => ErrorKind::RefusedOption,
            3818 => ErrorKind::CheckOfAutoIncrement,
            3820 => ErrorKind::CheckOfColumn,
            1059 | 3822 => ErrorKind::CheckName,
            _ => ErrorKind::Other,
        }
    }

    /// Whether the statement ends because somebody wants it to or because there is nothing to go on with,
    /// whatever its values are: nothing that is said about a value takes its place.
    #[must_use]
    pub fn ends_statement(&self) -> bool {
        matches!(self.kind(), ErrorKind::Interrupted | ErrorKind::Ended)
    }
}
