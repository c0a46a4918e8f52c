//! Statements about roles: which there are, who holds them, which are active in a session; and the roles in
//! SHOW GRANTS.

mod active;

use std::collections::{BTreeMap, BTreeSet};

use turnstile_sys::relief;

use super::definers::check_definers;
use super::staged::Staged;
use super::{failed, quoted};
use crate::accounts::{Account, AccountName};
use crate::ast::{RoleChoice, RoleStatement, UserName};
use crate::error::{SqlError, SqlResult};
use crate::session::accounts::{grant, staged};
use crate::session::{Session, rights};
use active::set_role;
pub(crate) use active::{activate_at_login, grants_using, own_grants};

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

/// Runs a statement about roles; all but SET ROLE commit the open transaction first.
pub(super) async fn role_statement(session: &mut Session, statement: &RoleStatement) -> SqlResult<()> {
    if let RoleStatement::Set(choice) = statement {
        return set_role(session, choice);
    }
    session.end_transaction().await?;
    match statement {
        RoleStatement::Create { roles, if_not_exists } => create_roles(session, roles, *if_not_exists).await,
        RoleStatement::Drop { roles, if_exists } => drop_roles(session, roles, *if_exists).await,
        RoleStatement::Grant { roles, users, admin } => grant_roles(session, roles, users, *admin).await,
        RoleStatement::Revoke { .. } => revoke_roles(session, statement).await,
        RoleStatement::SetDefault { choice, users } => set_default_roles(session, choice, users).await,
        RoleStatement::Set(_) => Ok(()),
    }
}

async fn create_roles(session: &mut Session, roles: &[UserName], if_not_exists: bool) -> SqlResult<()> {
    let mut staged = staged::stage(session).await?;
    let mut wrong = Vec::new();
    check_definers(session, &grant::accounts_named(session, roles), "CREATE ROLE")?;
    for name in grant::accounts_named(session, roles) {
        staged::pace(session, &mut staged).await?;
        if name.user.is_empty() {
            return Err(SqlError::operation_failed("CREATE ROLE", "anonymous user"));
        }
        if staged::account_staged(session, &staged, &name).is_some() {
            if if_not_exists {
                rights::note(session, SqlError::authorization_id_exists(quoted(&name)));
            } else {
                wrong.push(quoted(&name));
            }
            continue;
        }
        let mut role = Account::new(name);
        (role.locked, role.expired) = (true, true);
        staged.put(role);
    }
    if wrong.is_empty() {
        staged::keep_staged(session, staged).await
    } else {
        Err(failed("CREATE ROLE", &wrong))
    }
}

/// DROP ROLE: without CREATE USER only accounts that nobody can connect as.
async fn drop_roles(session: &mut Session, roles: &[UserName], if_exists: bool) -> SqlResult<()> {
    let staged = staged::stage(session).await?;
    let names = grant::accounts_named(session, roles);
    let mut found = names.iter().filter_map(|name| staged::account_staged(session, &staged, name));
    if found.any(|account| !account.locked) {
        rights::ask_for_create_user(session)?;
    }
    check_definers(session, &names, "DROP ROLE")?;
    drop_accounts(session, staged, "DROP ROLE", &names, if_exists).await
}

/// Drops accounts, and takes them as roles from who holds them.
pub(super) async fn drop_accounts(
    session: &mut Session,
    mut staged: Staged,
    command: &str,
    names: &[AccountName],
    if_exists: bool,
) -> SqlResult<()> {
    let (mut wrong, mut gone) = (Vec::new(), BTreeSet::new());
    let mandatory = session.database().accounts().mandatory();
    for name in names {
        staged::pace(session, &mut staged).await?;
        if mandatory.contains(name) {
            return Err(SqlError::mandatory_role(name.quoted()));
        }
        match staged::account_to_change(session, &staged, name)? {
            Some(account) => {
                staged.remove(&account.name);
                gone.insert(account.name);
            }
            None if if_exists => rights::note(session, SqlError::unknown_authorization_id(quoted(name))),
            None => wrong.push(quoted(name)),
        }
    }
    if !wrong.is_empty() {
        return Err(failed(command, &wrong));
    }
    staged::stage_loss_of_roles(session, &mut staged, &gone).await?;
    staged::keep_staged(session, staged).await
}

/// Fails unless the account may grant and revoke these roles.
pub(super) fn may_pass_roles(session: &mut Session, roles: &[AccountName]) -> SqlResult<()> {
    if !rights::may_pass_any_role(session) {
        let (own, active) = rights::own_roles(session);
        let accounts = session.database().accounts();
        let another = rights::own_account_still(session).is_none();
        if another || !accounts.may_administer(&own, &active, roles) {
            return Err(SqlError::specific_access_denied("WITH ADMIN, ROLE_ADMIN, SUPER"));
        }
    }
    if session.database().accounts().is_one_guarded(roles) {
        staged::ask_for_system_user(session)?;
    }
    Ok(())
}

async fn grant_roles(
    session: &mut Session,
    roles: &[UserName],
    users: &[UserName],
    admin: bool,
) -> SqlResult<()> {
    let mut staged = staged::stage(session).await?;
    let roles = grant::accounts_named(session, roles);
    may_pass_roles(session, &roles)?;
    let users = grant::accounts_named(session, users);
    for name in roles.iter().chain(&users) {
        staged::pace(session, &mut staged).await?;
        if staged::account_staged(session, &staged, name).is_none() {
            return Err(SqlError::no_such_authorization_id(name.quoted()));
        }
    }
    for user in &users {
        staged::pace(session, &mut staged).await?;
        stage_roles(session, &mut staged, user, &roles, admin)?;
    }
    staged::keep_staged(session, staged).await
}

/// More roles for an account. Error 4027 if one of them holds the account.
fn stage_roles(
    session: &mut Session,
    staged: &mut Staged,
    user: &AccountName,
    roles: &[AccountName],
    admin: bool,
) -> SqlResult<()> {
    find_no_loop(session, staged, roles, user)?;
    let found = staged::account_to_change(session, staged, user)?;
    let mut account = found.ok_or_else(|| SqlError::no_such_authorization_id(user.quoted()))?;
    for role in roles {
        *account.roles.entry(role.clone()).or_default() |= admin;
    }
    staged.put(account);
    Ok(())
}

/// Error 4027 if one of these roles is an account, or holds it, directly or not. All accounts hold the
/// mandatory roles.
fn find_no_loop(
    session: &Session,
    staged: &Staged,
    roles: &[AccountName],
    holder: &AccountName,
) -> SqlResult<()> {
    let mandatory = session.database().accounts().mandatory();
    // What a role before has led to leads nowhere.
    let mut seen = BTreeSet::new();
    for role in roles {
        let mut next = vec![role.clone()];
        while let Some(name) = next.pop() {
            if name == *holder {
                return Err(SqlError::role_loop(holder.quoted(), role.quoted()));
            }
            if let Some(account) = staged::account_staged(session, staged, &name)
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
    session: &mut Session,
    staged: &Staged,
    account: &mut Account,
    roles: &[UserName],
) -> SqlResult<()> {
    let roles = grant::accounts_named(session, roles);
    for role in &roles {
        if staged::account_staged(session, staged, role).is_none() {
            return Err(SqlError::unknown_authorization_id(role.quoted()));
        }
        find_no_loop(session, staged, std::slice::from_ref(role), &account.name)?;
    }
    may_pass_roles(session, &roles)?;
    for role in roles {
        account.roles.entry(role.clone()).or_default();
        account.default_roles.insert(role);
    }
    Ok(())
}

async fn revoke_roles(session: &mut Session, revoke: &RoleStatement) -> SqlResult<()> {
    let RoleStatement::Revoke { roles, users, if_exists, ignore_unknown_user } = revoke else {
        return Ok(());
    };
    let mut staged = staged::stage(session).await?;
    let roles = grant::accounts_named(session, roles);
    may_pass_roles(session, &roles)?;
    let mandatory = session.database().accounts().mandatory();
    let mut there = BTreeSet::new();
    for role in roles {
        staged::pace(session, &mut staged).await?;
        if staged::account_staged(session, &staged, &role).is_none() {
            grant::refuse_or_warn(session, SqlError::no_such_authorization_id(role.quoted()), *if_exists)?;
        } else if mandatory.contains(&role) {
            return Err(SqlError::mandatory_role(role.quoted()));
        } else {
            there.insert(role);
        }
    }
    for user in grant::accounts_named(session, users) {
        staged::pace(session, &mut staged).await?;
        let Some(mut account) = staged::account_to_change(session, &staged, &user)? else {
            if *ignore_unknown_user {
                rights::warn(session, SqlError::unknown_authorization_id(&user.user));
            } else {
                grant::refuse_or_warn(
                    session,
                    SqlError::no_such_authorization_id(user.quoted()),
                    *if_exists,
                )?;
            }
            continue;
        };
        account.lose_roles(&there);
        staged.put(account);
    }
    staged::keep_staged(session, staged).await
}

async fn set_default_roles(session: &mut Session, choice: &RoleChoice, users: &[UserName]) -> SqlResult<()> {
    let mut staged = staged::stage(session).await?;
    for user in grant::accounts_named(session, users) {
        staged::pace(session, &mut staged).await?;
        let found = staged::account_to_change(session, &staged, &user)?;
        let roles = chosen(choice, &user, &session.database().accounts().held_roles(&user))?;
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
    staged::keep_staged(session, staged).await
}
