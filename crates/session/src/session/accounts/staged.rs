//! The accounts that one statement changes: staged first, then made durable in one transaction and seen
//! together, or not at all.
//!
//! Staging is the only way to change an account, and a stage holds the metadata lock of all accounts from its
//! beginning to its end: what a statement has read nobody else changes before it has written. So one place
//! asks whether an account may be changed: one that holds SYSTEM_USER is changed by those who hold it too.
//! Else whoever may create accounts could take over every other.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::accounts::{Account, AccountName, Changing};
use crate::dictionary::{RowKind, row_key, write_rows};
use crate::error::{SqlError, SqlResult};
use crate::session::{Session, rights, transaction};
use turnstile_engine::yield_now::Slice;

/// Names between two looks at the clock.
const NAMES_AT_ONCE: usize = 16;

/// Accounts as they will be; None: gone.
pub(super) struct Staged {
    changes: BTreeMap<AccountName, Option<Arc<Account>>>,
    slice: Slice,
    paced: usize,
    changing: Changing,
}

impl Staged {
    /// An account as it will be.
    pub(super) fn put(&mut self, account: Account) {
        self.changes.insert(account.name.clone(), Some(Arc::new(account)));
    }

    /// An account that goes.
    pub(super) fn remove(&mut self, name: &AccountName) {
        self.changes.insert(name.clone(), None);
    }
}

/// Begins to change accounts, once nobody else does.
pub(super) async fn stage(session: &mut Session) -> SqlResult<Staged> {
    let db = session.database().clone();
    let changing = db.accounts().begin_change(&mut transaction::metadata_patience(session)).await?;
    Ok(Staged { changes: BTreeMap::new(), slice: Slice::default(), paced: 0, changing })
}

/// Between the names of a statement, of which there may be tens of thousands.
pub(super) async fn pace(session: &Session, staged: &mut Staged) -> SqlResult<()> {
    staged.paced += 1;
    if staged.paced.is_multiple_of(NAMES_AT_ONCE) {
        session.interrupt().check()?;
        staged.slice.breathe().await;
    }
    Ok(())
}

/// An account as it will be, for reading; None if there is none.
pub(super) fn account_staged(session: &Session, staged: &Staged, name: &AccountName) -> Option<Arc<Account>> {
    match staged.changes.get(name) {
        Some(change) => change.clone(),
        None => session.database().accounts().find(name),
    }
}

/// An account to be changed, with what is staged already; None if there is none. Error 1227.
pub(super) fn account_to_change(
    session: &mut Session,
    staged: &Staged,
    name: &AccountName,
) -> SqlResult<Option<Account>> {
    let found = account_staged(session, staged, name);
    let guarded = found.as_ref().is_some_and(|account| session.database().accounts().is_guarded(account));
    // Who holds SYSTEM_USER by a role that is not active changes the own account all the same.
    if guarded && *name != session.own_account() {
        ask_for_system_user(session)?;
    }
    Ok(found.as_deref().cloned())
}

/// Fails unless SYSTEM_USER is held.
pub(super) fn ask_for_system_user(session: &mut Session) -> SqlResult<()> {
    match rights::is_system_user(session) {
        true => Ok(()),
        false => Err(SqlError::specific_access_denied("SYSTEM_USER")),
    }
}

/// All accounts as they will be.
fn all_staged(session: &Session, staged: &Staged) -> Vec<Arc<Account>> {
    let known = session.database().accounts().list();
    let unchanged = known.into_iter().filter(|account| !staged.changes.contains_key(&account.name));
    unchanged.chain(staged.changes.values().flatten().cloned()).collect()
}

/// The accounts that somebody holds as roles.
pub(super) async fn held_by_somebody(
    session: &Session,
    staged: &mut Staged,
) -> SqlResult<BTreeSet<AccountName>> {
    let mut held = BTreeSet::new();
    for account in all_staged(session, staged) {
        pace(session, staged).await?;
        held.extend(account.roles.keys().cloned());
    }
    Ok(held)
}

/// Takes roles that go from all accounts that hold them, whoever they are.
pub(super) async fn stage_loss_of_roles(
    session: &Session,
    staged: &mut Staged,
    roles: &BTreeSet<AccountName>,
) -> SqlResult<()> {
    for holder in all_staged(session, staged) {
        pace(session, staged).await?;
        if holder.holds_any(roles) {
            let mut holder = (*holder).clone();
            holder.lose_roles(roles);
            staged.put(holder);
        }
    }
    Ok(())
}

/// Makes what is staged durable, and then seen.
pub(super) async fn keep_staged(session: &mut Session, mut staged: Staged) -> SqlResult<()> {
    let mut rows = Vec::with_capacity(staged.changes.len());
    let changes: Vec<_> = staged.changes.iter().map(|(name, now)| (name.clone(), now.clone())).collect();
    for (name, change) in changes {
        pace(session, &mut staged).await?;
        let key = row_key(RowKind::Account, &Account::row_name(&name));
        rows.push((key, change.map(|account| account.encode())));
    }
    if rows.is_empty() {
        return Ok(());
    }
    write_rows(session.database().engine(), &rows).await?;
    session.database().accounts().change(staged.changing, staged.changes);
    Ok(())
}
