//! Which plain reads of a statement lock what they read. What a statement writes must follow from what is
//! committed when it writes, so the sub-queries of a change, and the query whose rows it inserts, take shared
//! locks and see the newest rows, as in InnoDB; a SELECT reads its snapshot. Otherwise two sessions that look
//! whether something is free both find it free.
//!
//! | statement | its plain reads lock from |
//! |---|---|
//! | SELECT | SERIALIZABLE on, unless it is a transaction of its own |
//! | INSERT ... SELECT, REPLACE ... SELECT, CREATE TABLE ... SELECT, UPDATE of one table | REPEATABLE READ on
//! |
//! | INSERT ... VALUES, DELETE, UPDATE of several tables, SET, DO | always |

use turnstile_engine::Isolation;

use super::Session;
use crate::reads_lock::ReadsLock;

/// Whether plain reads lock in the transaction that is open, or about to be.
#[inline]
pub(super) fn locks_reads(session: &Session, from: ReadsLock) -> bool {
    let isolation =
        || session.open.as_ref().map_or(session.settings.isolation, |open| open.txn.options().isolation);
    match from {
        ReadsLock::Always => true,
        ReadsLock::RepeatableRead => {
            matches!(isolation(), Isolation::RepeatableRead | Isolation::Serializable)
        }
        ReadsLock::Serializable => {
            session.open.as_ref().is_some_and(|open| !open.autocommit)
                && isolation() == Isolation::Serializable
        }
    }
}
