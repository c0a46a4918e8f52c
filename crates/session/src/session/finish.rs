//! Hints that finish the transaction with its last statement, so that a hot row is not locked while a COMMIT
//! is on its way: what they say of the statement that runs, and the end of its transaction.
//!
//! - COMMIT_ON_SUCCESS: the statement succeeds, and the transaction is committed before its client is told.
//!   The statement is answered with the commit's error if that fails.
//! - ROLLBACK_ON_FAIL: the statement fails, whatever with, and the whole transaction is rolled back before
//!   its client is told.
//! - TARGET_AFFECT_ROW(n): a change of another number of rows fails with error 7532 and is undone as any
//!   statement that fails; so ROLLBACK_ON_FAIL holds for it, too. What counts is rows that are different now,
//!   as UPDATE tells a client without CLIENT_FOUND_ROWS: a row that was met and left as it was does not,
//!   whatever the client counts.
//! - HOT_ROW, NO_HOT_ROW: whether rows are handed on to and by the change before commit; the others above say
//!   HOT_ROW, too, which matters where `turnstile_hot_row` is HINT_ONLY.
//!
//! Both ends are those of COMMIT and ROLLBACK, `completion_type` included. They hold for the statement that a
//! client sends, not for parts of one. Without a transaction there is nothing to finish: an autocommitted
//! statement ends as ever.

use super::statement::Outcome;
use super::{Session, transaction};
use crate::ast::{Completion, Statement};
use crate::error::{SqlError, SqlResult};
use crate::parser::Finishing;

/// What a statement says of its transaction's end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Finish {
    commits: bool,
    rolls_back: bool,
    /// How many rows it is to change.
    rows: Option<u64>,
    /// It is one for hot rows, or not.
    hot_row: Option<bool>,
    /// It began in a transaction.
    within: bool,
}

impl Finish {
    /// A statement begins whose hints are read next; `within`: in an open transaction.
    pub fn begin(&mut self, within: bool) {
        *self = Finish { within, ..Finish::default() };
    }

    /// A hint of the statement; `first`: behind its first word. Heeded, or a warning.
    pub fn note(&mut self, what: Finishing, first: bool, statement: &Statement) -> SqlResult<()> {
        let changes = matches!(statement, Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_));
        let finishes = first && (changes || matches!(statement, Statement::Select(_)));
        let known = match what {
            Finishing::Rows(_) | Finishing::HotRow(_) if !first || !changes => {
                return Err(SqlError::change_hint_not_here(what.name()));
            }
            Finishing::HotRow(hot) if self.hot_row.is_none() => {
                self.hot_row = Some(hot);
                false
            }
            Finishing::HotRow(_) => true,
            _ if !finishes => return Err(SqlError::finishing_not_here(what.name())),
            Finishing::Commit => std::mem::replace(&mut self.commits, true),
            Finishing::RollBack => std::mem::replace(&mut self.rolls_back, true),
            Finishing::Rows(rows) if self.rows.is_none() => {
                self.rows = Some(rows);
                false
            }
            Finishing::Rows(_) => true,
        };
        if known { Err(SqlError::conflicting_hint(what.shown())) } else { Ok(()) }
    }

    /// Whether it is one that hot rows are handed on by and to; None if it does not say.
    #[inline]
    pub fn hot_row(&self) -> Option<bool> {
        let finishes = self.ends_something() || self.rows.is_some();
        self.hot_row.or_else(|| finishes.then_some(true))
    }

    /// Whether the transaction may end with the statement.
    pub fn ends_something(&self) -> bool {
        self.commits || self.rolls_back
    }

    /// Whether [`Finish::check`] may refuse what a change did.
    #[inline]
    pub fn may_refuse(&self) -> bool {
        self.rows.is_some()
    }

    /// What a change did, if that is what it is to do.
    #[inline]
    pub fn check(&self, outcome: Outcome) -> SqlResult<Outcome> {
        match self.rows {
            Some(asked) if outcome.changed != asked => {
                Err(SqlError::other_rows_than_target(outcome.changed, asked))
            }
            _ => Ok(outcome),
        }
    }
}

/// Ends the transaction behind its last statement.
pub(super) async fn end(
    session: &mut Session,
    finish: Finish,
    outcome: SqlResult<Outcome>,
) -> SqlResult<Outcome> {
    let open = session.open.as_ref().is_some_and(|open| !open.autocommit);
    match outcome {
        Ok(outcome) if finish.commits && open => {
            transaction::complete(session, true, Completion::default()).await?;
            Ok(outcome)
        }
        // A victim's transaction is gone, and the next one of `completion_type` still to begin.
        Err(error) if finish.rolls_back && (open || finish.within) => {
            // The client is told why the statement failed; a rollback that fails is the engine's to repair.
            let _ = transaction::complete(session, false, Completion::default()).await;
            Err(error)
        }
        outcome => outcome,
    }
}
