//! CREATE USER and the like, SET PASSWORD. GRANT and REVOKE are in `grant.rs`.

mod grant;
mod role_statements;
mod staged;

use std::collections::BTreeSet;

use super::Session;
use crate::accounts::{Account, AccountName, Plugin};
use crate::ast::{Authentication, Statement, UserName, UserSpec, UserStatement};
use crate::error::{SqlError, SqlResult};

pub(super) fn failed(command: &str, names: &[String]) -> SqlError {
    SqlError::operation_failed(command, names.join(","))
}

pub(super) fn quoted(name: &AccountName) -> String {
    format!("'{}'@'{}'", name.user, name.host)
}

impl Session {
    pub(super) fn account_named(&self, name: &UserName) -> AccountName {
        if name.is_current() { self.own_account() } else { AccountName::new(&name.user, &name.host) }
    }

    /// Runs a statement about accounts; it commits the open transaction first.
    pub(crate) async fn account_statement(&mut self, statement: &Statement) -> SqlResult<()> {
        if !matches!(statement, Statement::Role(_)) {
            self.end_transaction().await?;
        }
        match statement {
            Statement::User(user) => self.create_or_alter(user).await,
            Statement::DropUser { users, if_exists } => self.drop_users(users, *if_exists).await,
            Statement::RenameUser(pairs) => self.rename_users(pairs).await,
            Statement::Grant(grant) => self.grant(grant).await,
            Statement::Revoke(revoke) => self.revoke(revoke).await,
            Statement::Role(role) => self.role_statement(role).await,
            _ => Err(SqlError::not_supported_yet("this account statement")),
        }
    }

    async fn create_or_alter(&mut self, user: &UserStatement) -> SqlResult<()> {
        let command = if user.alter { "ALTER USER" } else { "CREATE USER" };
        let (mut staged, mut wrong) = (self.stage().await?, Vec::new());
        for spec in &user.users {
            self.pace(&mut staged).await?;
            let name = self.account_named(&spec.name);
            let found = self.account_to_change(&staged, &name)?;
            if found.is_some() != user.alter {
                match user.if_exists_clause {
                    false => wrong.push(quoted(&name)),
                    true if user.alter => self.note(SqlError::unknown_authorization_id(quoted(&name))),
                    true => self.note(SqlError::authorization_id_exists(quoted(&name))),
                }
                continue;
            }
            let mut account = found.unwrap_or_else(|| Account::new(name));
            self.check_replaced(&account, spec.replaces.as_deref())?;
            set_authentication(&mut account, spec)?;
            account.locked = user.lock.unwrap_or(account.locked);
            account.require_tls = user.require_tls.unwrap_or(account.require_tls);
            if let Some(most) = user.user_connections_max {
                account.user_connections_max = u32::try_from(most).unwrap_or(u32::MAX);
            }
            account.expired |= user.password_expired;
            self.stage_default_roles(&staged, &mut account, &user.default_roles)?;
            staged.put(account);
        }
        if wrong.is_empty() { self.keep_staged(staged).await } else { Err(failed(command, &wrong)) }
    }

    async fn drop_users(&mut self, users: &[UserName], if_exists: bool) -> SqlResult<()> {
        let staged = self.stage().await?;
        let names = self.accounts_named(users);
        self.drop_accounts(staged, "DROP USER", &names, if_exists).await
    }

    async fn rename_users(&mut self, pairs: &[(UserName, UserName)]) -> SqlResult<()> {
        let mut staged = self.stage().await?;
        // A role that somebody holds is not renamed, so this stays as it is.
        let (held, mut gone) = (self.held_by_somebody(&mut staged).await?, BTreeSet::new());
        for (old, new) in pairs {
            self.pace(&mut staged).await?;
            let (old, new) = (self.account_named(old), self.account_named(new));
            let found = self.account_to_change(&staged, &old)?;
            let taken = self.account_to_change(&staged, &new)?;
            if found.is_some() && [&old, &new].iter().any(|one| held.contains(*one)) {
                return Err(SqlError::rename_role());
            }
            let (Some(mut account), None) = (found, taken) else {
                return Err(failed("RENAME USER", &[quoted(&old)]));
            };
            if self.database().accounts().mandatory().contains(&old) {
                return Err(SqlError::rename_role());
            }
            staged.remove(&old);
            account.name = new;
            staged.put(account);
            gone.insert(old);
        }
        self.stage_loss_of_roles(&mut staged, &gone).await?;
        self.keep_staged(staged).await
    }

    /// SET PASSWORD
    pub(crate) async fn set_password(
        &mut self,
        user: Option<&UserName>,
        password: &[u8],
        replaces: Option<&[u8]>,
    ) -> SqlResult<()> {
        let name = user.map_or_else(|| self.own_account(), |name| self.account_named(name));
        self.commit_before().await?;
        let mut staged = self.stage().await?;
        let missing = || SqlError::new(1133, b"42000", "Can't find any matching row in the user table");
        let mut account = self.account_to_change(&staged, &name)?.ok_or_else(missing)?;
        self.check_replaced(&account, replaces)?;
        account.set_password(password);
        staged.put(account);
        self.keep_staged(staged).await
    }

    /// REPLACE names the password that a session's own account has: errors 3891 and 3893.
    fn check_replaced(&self, account: &Account, replaces: Option<&[u8]>) -> SqlResult<()> {
        match replaces {
            Some(_) if account.name != self.own_account() => Err(SqlError::password_replaces_unasked()),
            Some(present) if !account.check_clear(present) => Err(SqlError::password_replaced_is_wrong()),
            _ => Ok(()),
        }
    }
}

fn set_authentication(account: &mut Account, spec: &UserSpec) -> SqlResult<()> {
    if let Some(name) = &spec.plugin {
        account.plugin = Plugin::named(name)
            .ok_or_else(|| SqlError::new(1524, b"HY000", format!("Plugin '{name}' is not loaded")))?;
        if spec.authentication.is_none() {
            account.secret.clear();
        }
    }
    match &spec.authentication {
        None => {}
        Some(Authentication::Password(password)) => account.set_password(password),
        Some(Authentication::Hash(hash)) => account.secret = hash.to_vec(),
        Some(Authentication::Random) => return Err(SqlError::not_supported_yet("BY RANDOM PASSWORD")),
    }
    Ok(())
}
