//! Which plain reads of a statement lock what they read, by what the statement is.

use crate::ast::{InsertSource, Statement, TableRef};

/// The lowest isolation level at which a statement's plain reads lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadsLock {
    /// SERIALIZABLE, in a transaction of several statements.
    Serializable,
    /// REPEATABLE READ.
    RepeatableRead,
    /// Any.
    Always,
}

impl ReadsLock {
    /// That of a statement.
    pub fn of(statement: &Statement) -> ReadsLock {
        match statement {
            Statement::Insert(insert) => match insert.source {
                InsertSource::Query(_) => ReadsLock::RepeatableRead,
                InsertSource::Rows(_) | InsertSource::Literals(_) => ReadsLock::Always,
            },
            Statement::Update(update) => match update.tables[..] {
                [TableRef::Table(_)] => ReadsLock::RepeatableRead,
                _ => ReadsLock::Always,
            },
            Statement::Delete(_) => ReadsLock::Always,
            _ => ReadsLock::Serializable,
        }
    }
}
