//! Statements about roles: which there are, who holds them, which are active in a session; and the roles in
//! SHOW GRANTS.

use std::collections::{BTreeMap, BTreeSet};

use turnstile_sys::relief;

use super::staged::Staged;
use super::{failed, quoted};
use crate::accounts::{Account, AccountName, grants};
use crate::ast::{RoleChoice, RoleStatement, UserName};
use crate::error::{SqlError, SqlResult};
use crate::session::Session;
use crate::value::Value;

type Roles = BTreeMap<AccountName, bool>;

/// The roles of a choice, out of those that are held. Error 3530 for one that is not.
fn chosen(choice: &RoleChoice, holder: &AccountName, held: &Roles) -> SqlResult<BTreeSet<AccountName>> {
    let named = |list: &[UserName]| -> BTreeSet<AccountName> {
        list.iter().map(|role| AccountName::new(&role.user, &role.host)).collect()
    };
    let all = || held.keys().cloned().collect::<BTreeSet<_>>();
    Ok(match choice {
        RoleChoice::None | RoleChoice::Default => BTreeSet::new(),
        RoleChoice::All => all(),
        RoleChoice::AllExcept(list) => &all() - &named(list),
        RoleChoice::These(list) => {
            let wanted = named(list);
            match wanted.iter().find(|role| !held.contains_key(*role)) {
                Some(role) => return Err(SqlError::role_not_granted(role.quoted(), holder.quoted())),
                None => wanted,
            }
        }
    })
}

impl Session {
    /// Runs a statement about roles; all but SET ROLE commit the open transaction first.
    pub(super) async fn role_statement(&mut self, statement: &RoleStatement) -> SqlResult<()> {
        if let RoleStatement::Set(choice) = statement {
            return self.set_role(choice);
        }
        self.end_transaction().await?;
        match statement {
            RoleStatement::Create { roles, if_not_exists } => self.create_roles(roles, *if_not_exists).await,
            RoleStatement::Drop { roles, if_exists } => self.drop_roles(roles, *if_exists).await,
            RoleStatement::Grant { roles, users, admin } => self.grant_roles(roles, users, *admin).await,
            RoleStatement::Revoke { .. } => self.revoke_roles(statement).await,
            RoleStatement::SetDefault { choice, users } => self.set_default_roles(choice, users).await,
            RoleStatement::Set(_) => Ok(()),
        }
    }

    async fn create_roles(&mut self, roles: &[UserName], if_not_exists: bool) -> SqlResult<()> {
        let mut staged = self.stage().await?;
        let mut wrong = Vec::new();
        for name in self.accounts_named(roles) {
            self.pace(&mut staged).await?;
            if name.user.is_empty() {
                return Err(SqlError::operation_failed("CREATE ROLE", "anonymous user"));
            }
            if self.account_staged(&staged, &name).is_some() {
                if if_not_exists {
                    self.note(SqlError::authorization_id_exists(quoted(&name)));
                } else {
                    wrong.push(quoted(&name));
                }
                continue;
            }
            let mut role = Account::new(name);
            (role.locked, role.expired) = (true, true);
            staged.put(role);
        }
        if wrong.is_empty() { self.keep_staged(staged).await } else { Err(failed("CREATE ROLE", &wrong)) }
    }

    /// DROP ROLE: without CREATE USER only accounts that nobody can connect as.
    async fn drop_roles(&mut self, roles: &[UserName], if_exists: bool) -> SqlResult<()> {
        let staged = self.stage().await?;
        let names = self.accounts_named(roles);
        let mut found = names.iter().filter_map(|name| self.account_staged(&staged, name));
        if found.any(|account| !account.locked) {
            self.ask_for_create_user()?;
        }
        self.drop_accounts(staged, "DROP ROLE", &names, if_exists).await
    }

    /// Drops accounts, and takes them as roles from who holds them.
    pub(super) async fn drop_accounts(
        &mut self,
        mut staged: Staged,
        command: &str,
        names: &[AccountName],
        if_exists: bool,
    ) -> SqlResult<()> {
        let (mut wrong, mut gone) = (Vec::new(), BTreeSet::new());
        let mandatory = self.database().accounts().mandatory();
        for name in names {
            self.pace(&mut staged).await?;
            if mandatory.contains(name) {
                return Err(SqlError::mandatory_role(name.quoted()));
            }
            match self.account_to_change(&staged, name)? {
                Some(account) => {
                    staged.remove(&account.name);
                    gone.insert(account.name);
                }
                None if if_exists => self.note(SqlError::unknown_authorization_id(quoted(name))),
                None => wrong.push(quoted(name)),
            }
        }
        if !wrong.is_empty() {
            return Err(failed(command, &wrong));
        }
        self.stage_loss_of_roles(&mut staged, &gone).await?;
        self.keep_staged(staged).await
    }

    /// Fails unless the account may grant and revoke these roles.
    pub(super) fn may_pass_roles(&mut self, roles: &[AccountName]) -> SqlResult<()> {
        if !self.may_pass_any_role() {
            let (own, active) = self.own_roles();
            let accounts = self.database().accounts();
            let another = self.own_account_still().is_none();
            if another || !accounts.may_administer(&own, &active, roles) {
                return Err(SqlError::specific_access_denied("WITH ADMIN, ROLE_ADMIN, SUPER"));
            }
        }
        if self.database().accounts().is_one_guarded(roles) {
            self.ask_for_system_user()?;
        }
        Ok(())
    }

    async fn grant_roles(&mut self, roles: &[UserName], users: &[UserName], admin: bool) -> SqlResult<()> {
        let mut staged = self.stage().await?;
        let roles = self.accounts_named(roles);
        self.may_pass_roles(&roles)?;
        let users = self.accounts_named(users);
        for name in roles.iter().chain(&users) {
            self.pace(&mut staged).await?;
            if self.account_staged(&staged, name).is_none() {
                return Err(SqlError::no_such_authorization_id(name.quoted()));
            }
        }
        for user in &users {
            self.pace(&mut staged).await?;
            self.stage_roles(&mut staged, user, &roles, admin)?;
        }
        self.keep_staged(staged).await
    }

    /// More roles for an account. Error 4027 if one of them holds the account.
    fn stage_roles(
        &mut self,
        staged: &mut Staged,
        user: &AccountName,
        roles: &[AccountName],
        admin: bool,
    ) -> SqlResult<()> {
        self.find_no_loop(staged, roles, user)?;
        let found = self.account_to_change(staged, user)?;
        let mut account = found.ok_or_else(|| SqlError::no_such_authorization_id(user.quoted()))?;
        for role in roles {
            *account.roles.entry(role.clone()).or_default() |= admin;
        }
        staged.put(account);
        Ok(())
    }

    /// Error 4027 if one of these roles is an account, or holds it, directly or not. All accounts hold the
    /// mandatory roles.
    fn find_no_loop(&self, staged: &Staged, roles: &[AccountName], holder: &AccountName) -> SqlResult<()> {
        let mandatory = self.database().accounts().mandatory();
        // What a role before has led to leads nowhere.
        let mut seen = BTreeSet::new();
        for role in roles {
            let mut next = vec![role.clone()];
            while let Some(name) = next.pop() {
                if name == *holder {
                    return Err(SqlError::role_loop(holder.quoted(), role.quoted()));
                }
                if let Some(account) = self.account_staged(staged, &name)
                    && seen.insert(name)
                {
                    let held = account.roles.keys().chain(&*mandatory);
                    next.extend(held.filter(|held| !seen.contains(held)).cloned());
                }
                relief::worked();
            }
        }
        Ok(())
    }

    /// The default roles of an account that is made, which are granted to it.
    pub(super) fn stage_default_roles(
        &mut self,
        staged: &Staged,
        account: &mut Account,
        roles: &[UserName],
    ) -> SqlResult<()> {
        let roles = self.accounts_named(roles);
        for role in &roles {
            if self.account_staged(staged, role).is_none() {
                return Err(SqlError::unknown_authorization_id(role.quoted()));
            }
            self.find_no_loop(staged, std::slice::from_ref(role), &account.name)?;
        }
        self.may_pass_roles(&roles)?;
        for role in roles {
            account.roles.entry(role.clone()).or_default();
            account.default_roles.insert(role);
        }
        Ok(())
    }

    async fn revoke_roles(&mut self, revoke: &RoleStatement) -> SqlResult<()> {
        let RoleStatement::Revoke { roles, users, if_exists, ignore_unknown_user } = revoke else {
            return Ok(());
        };
        let mut staged = self.stage().await?;
        let roles = self.accounts_named(roles);
        self.may_pass_roles(&roles)?;
        let mandatory = self.database().accounts().mandatory();
        let mut there = BTreeSet::new();
        for role in roles {
            self.pace(&mut staged).await?;
            if self.account_staged(&staged, &role).is_none() {
                self.refuse_or_warn(SqlError::no_such_authorization_id(role.quoted()), *if_exists)?;
            } else if mandatory.contains(&role) {
                return Err(SqlError::mandatory_role(role.quoted()));
            } else {
                there.insert(role);
            }
        }
        for user in self.accounts_named(users) {
            self.pace(&mut staged).await?;
            let Some(mut account) = self.account_to_change(&staged, &user)? else {
                if *ignore_unknown_user {
                    self.warn(SqlError::unknown_authorization_id(&user.user));
                } else {
                    self.refuse_or_warn(SqlError::no_such_authorization_id(user.quoted()), *if_exists)?;
                }
                continue;
            };
            account.lose_roles(&there);
            staged.put(account);
        }
        self.keep_staged(staged).await
    }

    async fn set_default_roles(&mut self, choice: &RoleChoice, users: &[UserName]) -> SqlResult<()> {
        let mut staged = self.stage().await?;
        for user in self.accounts_named(users) {
            self.pace(&mut staged).await?;
            let found = self.account_to_change(&staged, &user)?;
            let roles = chosen(choice, &user, &self.database().accounts().held_roles(&user))?;
            match found {
                Some(mut account) => {
                    account.default_roles = roles;
                    staged.put(account);
                }
                // As in MySQL: there is nothing to take away.
                None if *choice == RoleChoice::None => {}
                None => return Err(SqlError::no_such_authorization_id(user.quoted())),
            }
        }
        self.keep_staged(staged).await
    }

    fn set_role(&mut self, choice: &RoleChoice) -> SqlResult<()> {
        let own = self.own_account();
        let accounts = self.database().accounts();
        let held = accounts.held_roles(&own);
        let roles = match choice {
            RoleChoice::Default => {
                let default_roles = accounts.find(&own).map(|account| account.default_roles.clone());
                default_roles.into_iter().flatten().filter(|role| held.contains_key(role)).collect()
            }
            other => chosen(other, &own, &held)?,
        };
        self.make_active(roles.into_iter().collect());
        Ok(())
    }

    /// The roles of a session that begins.
    pub(crate) fn activate_at_login(&mut self) {
        let all = self.database().globals().named("activate_all_roles_on_login") == Value::Int(1);
        let roles = self.database().accounts().roles_at_login(&self.own_account(), all);
        self.make_active(roles.into());
    }

    /// What SHOW GRANTS says of one's own account: with the roles that are active, and the mandatory ones.
    pub(crate) fn own_grants(&self, account: &Account) -> Vec<String> {
        let (own, active) = self.own_roles();
        let accounts = self.database().accounts();
        let whole = accounts.with_roles(&own, &active);
        let roles = accounts.roles_shown(account, &active);
        grants(whole.as_deref().unwrap_or(account), &roles, &accounts.mandatory_roles(&own))
    }

    /// What SHOW GRANTS FOR says, with these roles. Error 3530 for one that is not held.
    pub(crate) fn grants_using(&self, account: &Account, roles: &[UserName]) -> SqlResult<Vec<String>> {
        let accounts = self.database().accounts();
        let held = accounts.held_roles(&account.name);
        let using = chosen(&RoleChoice::These(roles.to_vec()), &account.name, &held)?;
        let using: Vec<_> = using.into_iter().collect();
        let whole = accounts.with_roles(&account.name, &using);
        let roles = accounts.roles_shown(account, &using);
        Ok(grants(whole.as_deref().unwrap_or(account), &roles, &[]))
    }
}
