//! Who somebody is, by the accounts of the SQL port: the same rows, the same check, the same refusals. The
//! password comes in clear, so an account that asks for TLS cannot be used here, and with
//! `require_secure_transport` none.

use std::net::IpAddr;

use turnstile_catalog::accounts::{AccountId, AccountName};
use turnstile_observe::status::Observed;
use turnstile_values::error::SqlError;

use crate::metrics::number;

/// An account, as somebody has proved to be its owner.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Owner {
    /// The user as typed.
    pub user: String,
    /// Where from.
    pub peer: IpAddr,
    /// The account that fits.
    pub account: AccountName,
    /// Its number: another account of the same name is another.
    id: AccountId,
}

/// Checks a password. Takes as long for a name without an account as for one with.
///
/// # Errors
/// Those of the SQL port: 1045 for a wrong name or password, 3118 locked, 1820 or 1862 expired, 3159 where
/// all must be secure.
pub fn prove(db: &Observed, peer: IpAddr, user: &str, password: &str) -> Result<Owner, SqlError> {
    let (accounts, peer) = (db.accounts(), peer.to_canonical());
    let host = peer.to_string();
    if number(&db.globals().named("require_secure_transport")) != Some(0.0) {
        return Err(SqlError::insecure_transport());
    }
    let account = accounts.authenticate(user, &host);
    let account =
        account.or_else(|| if peer.is_loopback() { accounts.authenticate(user, "localhost") } else { None });
    let is_known = account.is_some();
    let account = account.unwrap_or_else(|| accounts.stand_in(user));
    let is_right = match (password.is_empty(), account.is_open()) {
        (true, is_open) => is_open,
        (false, false) => account.check_clear(password.as_bytes()),
        (false, true) => {
            accounts.waste_time_on(password.as_bytes());
            false
        }
    };
    if !is_known || !is_right || account.require_tls {
        let used = if password.is_empty() { "NO" } else { "YES" };
        return Err(SqlError::access_denied(user, &host, used));
    }
    if account.locked {
        return Err(SqlError::account_locked(user, &host));
    }
    if account.expired {
        return Err(SqlError::password_expired());
    }
    Ok(Owner { user: user.to_string(), peer, account: account.name.clone(), id: account.id })
}

/// Whether the account is still there and open to its owner.
pub fn is_still(db: &Observed, owner: &Owner) -> bool {
    let now = db.accounts().find(&owner.account);
    now.is_some_and(|now| now.id == owner.id && !now.locked && !now.expired)
}
