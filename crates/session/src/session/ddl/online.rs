//! ALGORITHM and LOCK of a change of a table: whether the change can be made so.
//!
//! A table is held alone while it is changed, so nobody reads or writes it meanwhile; what differs is for how
//! long. A change of the dictionary takes a moment, and nobody notices: that is INSTANT, and any LOCK.
//! Filling an index or looking at the rows is INPLACE, copying the rows COPY, and both keep readers and
//! writers out for as long as they take.

use crate::ast::{AlterAction, Online};
use crate::error::{SqlError, SqlResult};
use crate::stored_width::fixed_width;
use crate::types::ColumnType;

/// What a change of a table takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// The dictionary alone.
    Nothing,
    /// The dictionary alone, for a change that is INPLACE in MySQL and not INSTANT: statements that ask for
    /// the one or the other get the same answer here.
    Dictionary,
    /// Foreign keys are added, and the rows are looked at for their parents.
    ForeignKeys,
    /// The rows are copied because they lose their primary key.
    WithoutPrimary,
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

/// Whether this word was given.
pub fn is(word: &Option<Box<str>>, name: &str) -> bool {
    word.as_deref().is_some_and(|word| word.eq_ignore_ascii_case(name))
}

/// Fails if the change cannot be made as asked for (1845, 1846).
pub fn check(online: &Online, needs: &Needs) -> SqlResult<()> {
    let no = |what: &str, instead: &str| Err(SqlError::alter_not_possible(what, instead));
    let because =
        |what: &str, why: &str, instead: &str| Err(SqlError::alter_not_supported_reason(what, why, instead));
    let copies = is(&online.algorithm, "COPY");
    match needs {
        Needs::ForeignKeys if is(&online.algorithm, "INSTANT") || is(&online.algorithm, "INPLACE") => {
            let asked = if is(&online.algorithm, "INSTANT") { "INSTANT" } else { "INPLACE" };
            let instead = if asked == "INSTANT" { "ALGORITHM=COPY/INPLACE" } else { "ALGORITHM=COPY" };
            let why = "Adding foreign keys needs foreign_key_checks=OFF";
            return because(&format!("ALGORITHM={asked}"), why, instead);
        }
        Needs::WithoutPrimary if is(&online.algorithm, "INSTANT") || is(&online.algorithm, "INPLACE") => {
            let asked =
                if is(&online.algorithm, "INSTANT") { "ALGORITHM=INSTANT" } else { "ALGORITHM=INPLACE" };
            let why = "Dropping a primary key is not allowed without also adding a new primary key";
            return because(asked, why, "ALGORITHM=COPY");
        }
        Needs::Look | Needs::Dictionary if is(&online.algorithm, "INSTANT") => {
            return no("ALGORITHM=INSTANT", "ALGORITHM=COPY/INPLACE");
        }
        Needs::Copy if is(&online.algorithm, "INSTANT") => return no("ALGORITHM=INSTANT", "ALGORITHM=COPY"),
        Needs::Copy if is(&online.algorithm, "INPLACE") => return no("ALGORITHM=INPLACE", "ALGORITHM=COPY"),
        Needs::Conversion if is(&online.algorithm, "INSTANT") => {
            let why = "Need to rebuild the table to change column type";
            return because("ALGORITHM=INSTANT", why, "ALGORITHM=COPY/INPLACE");
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
        Needs::Nothing | Needs::Dictionary => Ok(()),
        Needs::ForeignKeys if lock == "LOCK=NONE" => {
            because(lock, "Adding foreign keys needs foreign_key_checks=OFF", "LOCK=SHARED")
        }
        Needs::Conversion if lock == "LOCK=NONE" => {
            because(lock, "Cannot change column type INPLACE", "LOCK=SHARED")
        }
        Needs::Look | Needs::ForeignKeys => no(lock, "LOCK=EXCLUSIVE"),
        Needs::Copy | Needs::Conversion | Needs::WithoutPrimary => {
            because(lock, "COPY algorithm requires a lock", "LOCK=EXCLUSIVE")
        }
    }
}

/// Error 1845 for a lock that a change of nothing but the table's name does without.
pub fn check_rename(online: &Online) -> SqlResult<()> {
    if is(&online.lock, "NONE") || is(&online.lock, "SHARED") {
        return Err(SqlError::alter_not_possible("LOCK=NONE/SHARED", "LOCK=EXCLUSIVE"));
    }
    Ok(())
}

/// Whether a change of the dictionary alone is INPLACE in MySQL.
pub fn is_in_place(action: &AlterAction) -> bool {
    match action {
        AlterAction::DropKey(_)
        | AlterAction::DropForeignKey(_)
        | AlterAction::RenameKey { .. }
        | AlterAction::SetKeyVisibility { .. }
        | AlterAction::Option(_) => true,
        AlterAction::AddColumn { .. }
        | AlterAction::DropColumn(_)
        | AlterAction::ChangeColumn { .. }
        | AlterAction::RenameColumn { .. }
        | AlterAction::SetDefault { .. }
        | AlterAction::AddKey(_)
        | AlterAction::AddCheck(_)
        | AlterAction::DropPrimaryKey
        | AlterAction::DropCheck(_)
        | AlterAction::DropConstraint(_)
        | AlterAction::EnforceConstraint { .. }
        | AlterAction::Rename(_)
        | AlterAction::ConvertCharset { .. }
        | AlterAction::EnableKeys(_)
        | AlterAction::Validation(_)
        | AlterAction::Order
        | AlterAction::Force => false,
    }
}

/// Whether values of a column keep their bytes, in rows and in keys, when it gets another type: a longer
/// VARCHAR within MySQL's class of length bytes, members added behind those of an ENUM or a SET.
pub fn keeps_rows(old: &ColumnType, new: &ColumnType) -> bool {
    use ColumnType as C;
    let same_width = fixed_width(old) == fixed_width(new);
    // Up to 255 bytes MySQL keeps a length in one byte, beyond in two.
    let longer = |old: u64, new: u64| old <= new && (new <= 255 || old > 255);
    match (old, new) {
        (old, new) if old == new => true,
        (C::Varchar { length: old, collation: one }, C::Varchar { length: new, collation: other }) => {
            let bytes = |length: u32| u64::from(length) * u64::from(one.max_char_bytes());
            one == other && longer(bytes(*old), bytes(*new))
        }
        (C::Varbinary { length: old }, C::Varbinary { length: new }) => {
            longer(u64::from(*old), u64::from(*new))
        }
        (C::Enum { names: old, collation: one }, C::Enum { names: new, collation: other })
        | (C::Set { names: old, collation: one }, C::Set { names: new, collation: other }) => {
            one == other && new.names.starts_with(&old.names) && same_width
        }
        _ => false,
    }
}
