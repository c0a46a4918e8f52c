//! The accounts that one statement changes: staged first, then made durable in one transaction and seen together, or not at all.
//!
//! Staging is the only way to change an account, so that one place asks whether it may be: an account that holds SYSTEM_USER is changed
//! by those who hold it too. Else whoever may create accounts could take over every other.

use std::collections::BTreeMap;

use super::{Account, AccountName, Privileges};
use crate::dictionary::{RowKind, row_key, write_rows};
use crate::error::{SqlError, SqlResult};
use crate::session::Session;

/// Accounts as they will be; None: gone.
#[derive(Debug, Default)]
pub(super) struct Staged(BTreeMap<AccountName, Option<Account>>);

impl Staged {
    /// An account as it will be.
    pub(super) fn put(&mut self, account: Account) {
        self.0.insert(account.name.clone(), Some(account));
    }

    /// An account that goes.
    pub(super) fn remove(&mut self, name: &AccountName) {
        self.0.insert(name.clone(), None);
    }
}

impl Session {
    /// An account to be changed, with what is staged already; None if there is none. Error 1227.
    pub(super) fn account_to_change(
        &mut self,
        staged: &Staged,
        name: &AccountName,
    ) -> SqlResult<Option<Account>> {
        let found = match staged.0.get(name) {
            Some(change) => change.clone(),
            None => self.database().accounts().find(name).map(|account| (*account).clone()),
        };
        let guarded = found.as_ref().is_some_and(|account| account.global.has(Privileges::SYSTEM_USER));
        if guarded && !self.is_system_user() {
            return Err(SqlError::specific_access_denied("SYSTEM_USER"));
        }
        Ok(found)
    }

    /// Makes what is staged durable, and then seen.
    pub(super) async fn keep_staged(&mut self, staged: Staged) -> SqlResult<()> {
        let row = |(name, change): (&AccountName, &Option<Account>)| {
            let key = row_key(RowKind::Account, &Account::row_name(name));
            (key, change.as_ref().map(Account::encode))
        };
        let rows: Vec<_> = staged.0.iter().map(row).collect();
        if rows.is_empty() {
            return Ok(());
        }
        write_rows(self.database().engine(), &rows).await?;
        self.database().accounts().change(staged.0);
        Ok(())
    }
}
