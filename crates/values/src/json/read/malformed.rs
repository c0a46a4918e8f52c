//! Why a text is no document, and which of MySQL's errors that is.

use super::super::document::Json;
use crate::error::{SqlError, SqlResult};

/// Why a text is no document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Malformed {
    /// It is no JSON.
    Syntax {
        /// What is wrong.
        why: &'static str,
        /// Bytes before the place.
        position: usize,
    },
    /// It is nested deeper than [`MAX_DEPTH`](super::MAX_DEPTH).
    TooDeep,
    /// Nobody knows: the statement ends, because it is killed or has no memory for it.
    Ended(Box<SqlError>),
}

impl From<SqlError> for Malformed {
    fn from(error: SqlError) -> Malformed {
        Malformed::Ended(Box::new(error))
    }
}

impl Malformed {
    /// `null` in place of the document, unless nobody knows whether it is one.
    pub fn or_null(self) -> SqlResult<Json> {
        if let Malformed::Ended(error) = self { Err(*error) } else { Ok(Json::Null) }
    }

    /// Error 3141, of the argument `nth` from 0 of a function, or 3157.
    pub fn of_argument(self, nth: usize, function: &str) -> SqlError {
        match self {
            Malformed::Syntax { why, position } => {
                SqlError::invalid_json_argument(nth + 1, function, why, position)
            }
            Malformed::TooDeep => SqlError::json_too_deep(),
            Malformed::Ended(error) => *error,
        }
    }

    /// Error 3140, of a column's value, or 3157.
    pub fn of_column(self, column: &str) -> SqlError {
        match self {
            Malformed::Syntax { why, position } => SqlError::invalid_json_text(why, position, column),
            Malformed::TooDeep => SqlError::json_too_deep(),
            Malformed::Ended(error) => *error,
        }
    }
}
