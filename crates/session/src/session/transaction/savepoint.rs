//! Savepoints of a transaction.

use turnstile_engine::Savepoint;

use super::super::Session;
use super::enter;
use crate::error::{SqlError, SqlResult};
use crate::memory::Charge;

/// A savepoint that the client has named.
pub(super) struct NamedSavepoint {
    name: Box<str>,
    at: Savepoint,
    _charge: Charge,
}

/// SAVEPOINT
pub fn savepoint(session: &mut Session, name: &str) -> SqlResult<()> {
    let mut charge = session.charge();
    charge.add(size_of::<NamedSavepoint>() + name.len())?;
    charge.settle()?;
    // Outside a transaction a savepoint is gone with its statement.
    let Some(open) = session.open.as_mut() else {
        if !session.settings.autocommit {
            enter(session);
            return savepoint(session, name);
        }
        return Ok(());
    };
    if !open.holds.is_empty() {
        session.entry.counts.savepoints.add(1);
    }
    open.savepoints.retain(|known| !known.name.eq_ignore_ascii_case(name));
    open.savepoints.push(NamedSavepoint { name: name.into(), at: open.txn.savepoint(), _charge: charge });
    Ok(())
}

fn find_savepoint(session: &Session, name: &str) -> SqlResult<usize> {
    let found = session
        .open
        .as_ref()
        .and_then(|open| open.savepoints.iter().position(|known| known.name.eq_ignore_ascii_case(name)));
    found.ok_or_else(|| SqlError::does_not_exist("SAVEPOINT", name))
}

/// ROLLBACK TO SAVEPOINT
pub async fn rollback_to(session: &mut Session, name: &str) -> SqlResult<()> {
    let at = find_savepoint(session, name)?;
    if let Some(open) = &mut session.open {
        open.savepoints.truncate(at + 1);
        open.txn.rollback_to(open.savepoints[at].at).await?;
        if !open.holds.is_empty() {
            session.entry.counts.savepoint_rollbacks.add(1);
        }
        let own = open.own;
        own.warn(session);
    }
    Ok(())
}

/// RELEASE SAVEPOINT
pub fn release_savepoint(session: &mut Session, name: &str) -> SqlResult<()> {
    let at = find_savepoint(session, name)?;
    if let Some(open) = &mut session.open {
        open.savepoints.truncate(at);
    }
    Ok(())
}
