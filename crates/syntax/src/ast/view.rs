//! Views: queries that a name in FROM can mean.

use super::{Name, Query, TableName, UserName};

/// What becomes of a view of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ViewChange {
    /// CREATE VIEW: there must be none.
    Create,
    /// CREATE OR REPLACE VIEW
    Replace,
    /// CREATE VIEW IF NOT EXISTS: it stays.
    Keep,
    /// ALTER VIEW: there must be one, and what is not written stays as it was.
    Alter,
}

/// ALGORITHM
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum ViewAlgorithm {
    /// UNDEFINED: merged into the reader where that can be.
    #[default]
    Undefined,
    /// MERGE: the same, and a warning where it never can be.
    Merge,
    /// TEMPTABLE: read as a whole.
    Temptable,
}

impl ViewAlgorithm {
    /// SQL's word.
    pub fn word(self) -> &'static str {
        match self {
            ViewAlgorithm::Undefined => "UNDEFINED",
            ViewAlgorithm::Merge => "MERGE",
            ViewAlgorithm::Temptable => "TEMPTABLE",
        }
    }
}

/// WITH CHECK OPTION: which conditions a row must meet that is written through a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CheckOption {
    /// LOCAL: the view's own, and those of views under it that have an option of their own.
    Local,
    /// CASCADED: the view's own and those of all views under it.
    Cascaded,
}

/// CREATE VIEW and ALTER VIEW.
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct CreateView {
    /// What becomes of one of the same name.
    pub change: ViewChange,
    /// ALGORITHM, when written.
    pub algorithm: Option<ViewAlgorithm>,
    /// DEFINER, when written.
    pub definer: Option<UserName>,
    /// SQL SECURITY, when written: true for INVOKER.
    pub invoker: Option<bool>,
    /// Its name.
    pub name: TableName,
    /// Names of its columns; empty for those of its query.
    pub columns: Vec<Name>,
    /// Its query.
    pub query: Box<Query>,
    /// WITH CHECK OPTION
    pub check: Option<CheckOption>,
}
