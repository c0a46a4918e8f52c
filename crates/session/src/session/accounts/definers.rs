//! Accounts that views are read for. Who drops one takes its views from their readers, and who makes an
//! account of its name gives them its rights: both take SUPER, and are told of it even so.

use super::super::Session;
use super::quoted;
use crate::accounts::{AccountName, Privileges as P};
use crate::error::{SqlError, SqlResult};
use crate::session::rights;

/// Error 4006 if one of these accounts is a definer, or warning 4005 for who may define in the name of
/// others.
pub(super) fn check_definers(session: &Session, names: &[AccountName], operation: &str) -> SqlResult<()> {
    let definers = session.database().dictionary().definers();
    if definers.is_empty() {
        return Ok(());
    }
    for name in names {
        if !definers.iter().any(|one| *one.user == *name.user && *one.host == *name.host) {
            continue;
        }
        if !session.state.rights().may(P::SUPER, None) {
            return Err(SqlError::account_is_definer(operation, quoted(name)));
        }
        rights::warn(session, SqlError::account_was_definer(quoted(name)));
    }
    Ok(())
}
