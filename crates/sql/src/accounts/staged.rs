//! The accounts that one statement changes: staged first, then made durable in one transaction and seen together, or
//! not at all.
//!
//! Staging is the only way to change an account, and a stage holds the gate of all accounts from its beginning to its
//! end: what a statement has read nobody else changes before it has written. So one place asks whether an account may
//! be changed: one that holds SYSTEM_USER is changed by those who hold it too. Else whoever may create accounts could
//! take over every other.

use std::collections::{BTreeMap, BTreeSet};

use super::{Account, AccountName};
use crate::dictionary::{RowKind, row_key, write_rows};
use crate::error::{SqlError, SqlResult};
use crate::mdl::{Hold, Mode};
use crate::session::Session;

/// Accounts as they will be; None: gone.
#[derive(Debug)]
pub(super) struct Staged {
    changes: BTreeMap<AccountName, Option<Account>>,
    _gate: Hold,
}

impl Staged {
    /// An account as it will be.
    pub(super) fn put(&mut self, account: Account) {
        self.changes.insert(account.name.clone(), Some(account));
    }

    /// An account that goes.
    pub(super) fn remove(&mut self, name: &AccountName) {
        self.changes.insert(name.clone(), None);
    }
}

impl Session {
    /// Begins to change accounts, once nobody else does.
    pub(super) async fn stage(&mut self) -> SqlResult<Staged> {
        let db = self.database().clone();
        let gate = db.accounts().gate.lock(Mode::Exclusive, &mut self.gate_patience()).await?;
        Ok(Staged { changes: BTreeMap::new(), _gate: gate })
    }

    /// An account as it will be, for reading; None if there is none.
    pub(super) fn account_staged(&self, staged: &Staged, name: &AccountName) -> Option<Account> {
        match staged.changes.get(name) {
            Some(change) => change.clone(),
            None => self.database().accounts().find(name).map(|account| (*account).clone()),
        }
    }

    /// An account to be changed, with what is staged already; None if there is none. Error 1227.
    pub(super) fn account_to_change(
        &mut self,
        staged: &Staged,
        name: &AccountName,
    ) -> SqlResult<Option<Account>> {
        let found = self.account_staged(staged, name);
        let guarded = found.as_ref().is_some_and(|account| self.database().accounts().is_guarded(account));
        // Who holds SYSTEM_USER by a role that is not active changes the own account all the same.
        if guarded && *name != self.own_account() {
            self.ask_for_system_user()?;
        }
        Ok(found)
    }

    /// Fails unless SYSTEM_USER is held.
    pub(super) fn ask_for_system_user(&mut self) -> SqlResult<()> {
        match self.is_system_user() {
            true => Ok(()),
            false => Err(SqlError::specific_access_denied("SYSTEM_USER")),
        }
    }

    /// The names of all accounts, those that are staged among them.
    fn names_staged(&self, staged: &Staged) -> BTreeSet<AccountName> {
        let known = self.database().accounts().list();
        known.iter().map(|account| &account.name).chain(staged.changes.keys()).cloned().collect()
    }

    /// Whether an account is held as a role by somebody.
    pub(super) fn is_role_of_somebody(&self, staged: &Staged, role: &AccountName) -> bool {
        let holds = |name: &AccountName| {
            self.account_staged(staged, name).is_some_and(|account| account.roles.contains_key(role))
        };
        self.names_staged(staged).iter().any(holds)
    }

    /// Takes a role that goes from all accounts that hold it, whoever they are.
    pub(super) fn stage_loss_of_role(&self, staged: &mut Staged, role: &AccountName) {
        for holder in self.names_staged(staged) {
            if let Some(mut account) = self.account_staged(staged, &holder)
                && account.lose_role(role)
            {
                staged.put(account);
            }
        }
    }

    /// Makes what is staged durable, and then seen.
    pub(super) async fn keep_staged(&mut self, staged: Staged) -> SqlResult<()> {
        let row = |(name, change): (&AccountName, &Option<Account>)| {
            let key = row_key(RowKind::Account, &Account::row_name(name));
            (key, change.as_ref().map(Account::encode))
        };
        let rows: Vec<_> = staged.changes.iter().map(row).collect();
        if rows.is_empty() {
            return Ok(());
        }
        write_rows(self.database().engine(), &rows).await?;
        self.database().accounts().change(staged.changes);
        Ok(())
    }
}
