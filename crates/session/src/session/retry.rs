//! Statements that are begun again within the server (`turnstile_statement_retries`): an autocommitted change
//! that was chosen as a deadlock's victim, or rolled back with its group at a hot row. Its client, told 1213,
//! could do no more than send it again.
//!
//! It is begun again only if nobody can tell: it was its own transaction, so nothing was promised before it;
//! it changes rows, so nothing of an answer is written; all that it has done is taken back; and it has done
//! nothing that no rollback takes back ([`SessionState::effects`]: a user variable, LAST_INSERT_ID(value), a
//! lock of GET_LOCK, SLEEP). What is left of a try is gaps in AUTO_INCREMENT, as of every failed statement.
//! Before a try it holds nothing and pauses for a millisecond, and then for longer: whoever was in its way is
//! only just invited to what it has given up, and it would be there first again.
//! The next try is planned, asks for rights and takes its metadata locks as the first did. Whoever kills the
//! statement ends its tries.
//!
//! [`SessionState::effects`]: crate::session_state::SessionState::effects

use std::pin::Pin;
use std::time::Duration;

use super::{Session, transaction};
use crate::ast::Statement;
use crate::error::{ErrorKind, SqlError};
use crate::timeout::sleep;

/// The pause before the first try that is not the first; each is twice as long as the one before it.
const PAUSE: Duration = Duration::from_millis(1);
/// It doubles so often.
const DOUBLINGS_MAX: u64 = 6;

/// The tries of a statement that begins.
pub(super) struct Tries {
    /// It is its own transaction.
    alone: bool,
    /// How often it has begun again.
    number: u64,
    /// As they stood before it.
    effects: u64,
    next: transaction::NextTxn,
}

impl Tries {
    /// A statement begins.
    #[inline]
    pub fn begin(session: &Session) -> Tries {
        Tries {
            alone: session.open.is_none() && session.settings.autocommit,
            number: 0,
            effects: session.state.effects(),
            next: session.next_txn,
        }
    }

    /// Whether a statement that has failed is to be begun again: the session stands as before it then, and
    /// this is what it waits for.
    #[cold]
    pub fn again(
        &mut self,
        session: &mut Session,
        statement: &Statement,
        error: &SqlError,
    ) -> Option<Pin<Box<dyn Future<Output = bool> + Send>>> {
        let changes = matches!(statement, Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_));
        let may = self.alone
            && changes
            && error.kind() == ErrorKind::Deadlock
            && self.number < session.settings.statement_retries
            && session.open.is_none()
            && session.state.effects() == self.effects
            && !session.interrupt.is_query_killed();
        may.then(|| {
            session.entry.counts.retries.add(1);
            session.next_txn = self.next;
            session.state.warnings.clear();
            session.state.begin_sequences();
            let pause = PAUSE * (1 << self.number.min(DOUBLINGS_MAX));
            self.number += 1;
            // A kill that comes meanwhile ends it, and then the try.
            Box::pin(sleep(pause, session.interrupt.clone())) as _
        })
    }
}
