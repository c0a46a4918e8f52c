//! The order of commits as a session meets it: waiting for those whose changes it builds on, being rolled
//! back with them, also between two statements, and telling its client.
//!
//! A client learns of it once, as error 1213: in answer to the commit that waited, to the statement that
//! ran, or, if the session waited for its client, to whatever that sends next. Only a ROLLBACK is answered
//! as ever: it asks for what has happened.

use super::super::Session;
use crate::error::{ErrorKind, SqlError, SqlResult};

/// Waits until the open transaction may commit. If it may not any more it is rolled back.
pub(super) async fn follow(session: &mut Session) -> SqlResult<()> {
    let Some(open) = &mut session.open else { return Ok(()) };
    let Err(error) = open.txn.order().follow().await else { return Ok(()) };
    super::rollback(session).await?;
    Err(error.into())
}

impl Session {
    /// Whether the transaction that it has open must be rolled back: then [`Session::give_up`], if the
    /// client is not just sending a statement.
    #[inline]
    pub fn must_give_up(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.txn.order().is_doomed())
    }

    /// Rolls the open transaction back while the client says nothing; its next statement is told.
    pub async fn give_up(&mut self) {
        self.gave_up = true;
        // If that fails, it is done in the background.
        if super::rollback(self).await.is_err() {
            super::close(self);
        }
    }

    /// Whether the client has still to be told that its transaction was rolled back.
    #[inline]
    pub(in crate::session) fn owes_bad_news(&self) -> bool {
        self.gave_up || self.must_give_up()
    }

    /// A statement has failed. If its client is told thereby that its transaction is rolled back, it is, and
    /// nothing is left to be told: also where the statement had not come as far as the transaction.
    #[cold]
    pub(in crate::session) async fn failed(&mut self, error: SqlError) -> SqlError {
        if error.kind() == ErrorKind::Deadlock && self.must_give_up() {
            self.give_up().await;
            self.gave_up = false;
        }
        error
    }

    /// Rolls back what has to be, and has the statement fail that the client has sent, unless it is ROLLBACK.
    #[cold]
    pub(in crate::session) async fn tell(&mut self, text: &[u8]) -> SqlResult<()> {
        if self.must_give_up() {
            self.give_up().await;
        }
        self.gave_up = false;
        if asks_for_rollback(text) { Ok(()) } else { Err(SqlError::group_rolled_back()) }
    }
}

/// Whether a statement is ROLLBACK of the whole transaction.
fn asks_for_rollback(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    let text = text.strip_suffix(b";").unwrap_or(text).trim_ascii();
    let mut words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    words.next().is_some_and(|word| word.eq_ignore_ascii_case(b"rollback"))
        && words.all(|word| word.eq_ignore_ascii_case(b"work"))
}

#[cfg(test)]
mod tests {
    use super::asks_for_rollback;

    #[test]
    fn only_a_rollback_of_all_is_one() {
        for text in ["ROLLBACK", " rollback ;", "Rollback Work", "rollback\n\twork;"] {
            assert!(asks_for_rollback(text.as_bytes()), "{text}");
        }
        for text in ["", "COMMIT", "ROLLBACK TO a", "rollback and chain", "rollbackwork", "BEGIN; ROLLBACK"] {
            assert!(!asks_for_rollback(text.as_bytes()), "{text}");
        }
    }
}
