//! ALGORITHM and LOCK of a change of a table: whether the change can be made so.
//!
//! A table is held alone while it is changed, so nobody reads or writes it meanwhile; what differs is for how long. A change of
//! the dictionary takes a moment, and nobody notices: that is INSTANT, and any LOCK. Filling an index or looking at the rows is
//! INPLACE, copying the rows COPY, and both keep readers and writers out for as long as they take.

use crate::ast::Online;
use crate::error::{SqlError, SqlResult};

/// What a change of a table takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// The dictionary alone.
    Nothing,
    /// All rows are read, for a new index or a constraint.
    Look,
    /// All rows are copied.
    Copy,
    /// All rows are copied because a column changes its type.
    Conversion,
}

/// Fails for words that are none of MySQL's, and those that exclude each other.
pub fn check_words(online: &Online) -> SqlResult<()> {
    if let Some(word) = &online.algorithm
        && !["INSTANT", "INPLACE", "COPY"].iter().any(|known| known.eq_ignore_ascii_case(word))
    {
        return Err(SqlError::unknown_alter_algorithm(word));
    }
    let Some(word) = &online.lock else { return Ok(()) };
    if !["NONE", "SHARED", "EXCLUSIVE"].iter().any(|known| known.eq_ignore_ascii_case(word)) {
        return Err(SqlError::unknown_alter_lock(word));
    }
    if is(&online.algorithm, "INSTANT") {
        return Err(SqlError::wrong_usage("ALGORITHM=INSTANT", "LOCK=NONE/SHARED/EXCLUSIVE"));
    }
    Ok(())
}

fn is(word: &Option<Box<str>>, name: &str) -> bool {
    word.as_deref().is_some_and(|word| word.eq_ignore_ascii_case(name))
}

/// Fails if the change cannot be made as asked for (1845, 1846).
pub fn check(online: &Online, needs: &Needs) -> SqlResult<()> {
    let no = |what: &str, instead: &str| Err(SqlError::alter_not_possible(what, instead));
    let because =
        |what: &str, why: &str, instead: &str| Err(SqlError::alter_not_supported_reason(what, why, instead));
    let copies = is(&online.algorithm, "COPY");
    match needs {
        Needs::Look if is(&online.algorithm, "INSTANT") => {
            return no("ALGORITHM=INSTANT", "ALGORITHM=COPY/INPLACE");
        }
        Needs::Copy if is(&online.algorithm, "INSTANT") => return no("ALGORITHM=INSTANT", "ALGORITHM=COPY"),
        Needs::Copy if is(&online.algorithm, "INPLACE") => return no("ALGORITHM=INPLACE", "ALGORITHM=COPY"),
        Needs::Conversion if is(&online.algorithm, "INSTANT") => {
            let why = "Need to rebuild the table to change column type";
            return because("ALGORITHM=INSTANT", why, "ALGORITHM=COPY");
        }
        Needs::Conversion if is(&online.algorithm, "INPLACE") => {
            return because("ALGORITHM=INPLACE", "Cannot change column type INPLACE", "ALGORITHM=COPY");
        }
        _ => {}
    }
    let lock = match &online.lock {
        Some(_) if is(&online.lock, "EXCLUSIVE") => return Ok(()),
        Some(_) if is(&online.lock, "NONE") => "LOCK=NONE",
        Some(_) => "LOCK=SHARED",
        None => return Ok(()),
    };
    match needs {
        _ if copies && lock == "LOCK=NONE" => because(lock, "COPY algorithm requires a lock", "LOCK=SHARED"),
        Needs::Nothing => Ok(()),
        Needs::Look => no(lock, "LOCK=EXCLUSIVE"),
        Needs::Copy | Needs::Conversion => because(lock, "COPY algorithm requires a lock", "LOCK=EXCLUSIVE"),
    }
}
