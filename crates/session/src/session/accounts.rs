//! CREATE USER and the like, SET PASSWORD. GRANT and REVOKE are in `grant.rs`.

mod definers;
mod grant;
pub(super) mod role_statements;
mod staged;

use std::collections::BTreeSet;

use super::Session;
use crate::accounts::{Account, AccountName, Plugin};
use crate::ast::{Authentication, Statement, UserName, UserSpec, UserStatement};
use crate::error::{SqlError, SqlResult};
use crate::session::{ddl, rights};
use definers::check_definers;

pub(super) fn failed(command: &str, names: &[String]) -> SqlError {
    SqlError::operation_failed(command, names.join(","))
}

pub(super) fn quoted(name: &AccountName) -> String {
    format!("'{}'@'{}'", name.user, name.host)
}

pub(super) fn account_named(session: &Session, name: &UserName) -> AccountName {
    if name.is_current() { session.own_account() } else { AccountName::new(&name.user, &name.host) }
}

/// Runs a statement about accounts; it commits the open transaction first.
pub(crate) async fn account_statement(session: &mut Session, statement: &Statement) -> SqlResult<()> {
    if !matches!(statement, Statement::Role(_)) {
        session.end_transaction().await?;
    }
    match statement {
        Statement::User(user) => create_or_alter(session, user).await,
        Statement::DropUser { users, if_exists } => drop_users(session, users, *if_exists).await,
        Statement::RenameUser(pairs) => rename_users(session, pairs).await,
        Statement::Grant(grant) => grant::grant(session, grant).await,
        Statement::Revoke(revoke) => grant::revoke(session, revoke).await,
        Statement::Role(role) => role_statements::role_statement(session, role).await,
        _ => Err(SqlError::not_supported_yet("this account statement")),
    }
}

async fn create_or_alter(session: &mut Session, user: &UserStatement) -> SqlResult<()> {
    let command = if user.alter { "ALTER USER" } else { "CREATE USER" };
    if !user.alter {
        let names: Vec<_> = user.users.iter().map(|spec| account_named(session, &spec.name)).collect();
        check_definers(session, &names, command)?;
    }
    let (mut staged, mut wrong) = (staged::stage(session).await?, Vec::new());
    for spec in &user.users {
        staged::pace(session, &mut staged).await?;
        let name = account_named(session, &spec.name);
        let found = staged::account_to_change(session, &staged, &name)?;
        if found.is_some() != user.alter {
            match user.if_exists_clause {
                false => wrong.push(quoted(&name)),
                true if user.alter => {
                    rights::note(session, SqlError::unknown_authorization_id(quoted(&name)))
                }
                true => rights::note(session, SqlError::authorization_id_exists(quoted(&name))),
            }
            continue;
        }
        let mut account = found.unwrap_or_else(|| Account::new(name));
        check_replaced(session, &account, spec.replaces.as_deref())?;
        set_authentication(&mut account, spec)?;
        account.locked = user.lock.unwrap_or(account.locked);
        account.require_tls = user.require_tls.unwrap_or(account.require_tls);
        if let Some(most) = user.user_connections_max {
            account.user_connections_max = u32::try_from(most).unwrap_or(u32::MAX);
        }
        account.expired |= user.password_expired;
        role_statements::stage_default_roles(session, &staged, &mut account, &user.default_roles)?;
        staged.put(account);
    }
    if wrong.is_empty() { staged::keep_staged(session, staged).await } else { Err(failed(command, &wrong)) }
}

async fn drop_users(session: &mut Session, users: &[UserName], if_exists: bool) -> SqlResult<()> {
    let staged = staged::stage(session).await?;
    let names = grant::accounts_named(session, users);
    check_definers(session, &names, "DROP USER")?;
    role_statements::drop_accounts(session, staged, "DROP USER", &names, if_exists).await
}

async fn rename_users(session: &mut Session, pairs: &[(UserName, UserName)]) -> SqlResult<()> {
    let names = pairs.iter().flat_map(|(old, new)| [old, new]).map(|name| account_named(session, name));
    check_definers(session, &names.collect::<Vec<_>>(), "RENAME USER")?;
    let mut staged = staged::stage(session).await?;
    // A role that somebody holds is not renamed, so this stays as it is.
    let (held, mut gone) = (staged::held_by_somebody(session, &mut staged).await?, BTreeSet::new());
    for (old, new) in pairs {
        staged::pace(session, &mut staged).await?;
        let (old, new) = (account_named(session, old), account_named(session, new));
        let found = staged::account_to_change(session, &staged, &old)?;
        let taken = staged::account_to_change(session, &staged, &new)?;
        if found.is_some() && [&old, &new].iter().any(|one| held.contains(*one)) {
            return Err(SqlError::rename_role());
        }
        let (Some(mut account), None) = (found, taken) else {
            return Err(failed("RENAME USER", &[quoted(&old)]));
        };
        if session.database().accounts().mandatory().contains(&old) {
            return Err(SqlError::rename_role());
        }
        staged.remove(&old);
        account.name = new;
        staged.put(account);
        gone.insert(old);
    }
    staged::stage_loss_of_roles(session, &mut staged, &gone).await?;
    staged::keep_staged(session, staged).await
}

/// SET PASSWORD
pub(crate) async fn set_password(
    session: &mut Session,
    user: Option<&UserName>,
    password: &[u8],
    replaces: Option<&[u8]>,
) -> SqlResult<()> {
    let name = user.map_or_else(|| session.own_account(), |name| account_named(session, name));
    ddl::commit_before(session).await?;
    let mut staged = staged::stage(session).await?;
    let mut account =
        staged::account_to_change(session, &staged, &name)?.ok_or_else(SqlError::password_no_match)?;
    check_replaced(session, &account, replaces)?;
    account.set_password(password);
    staged.put(account);
    staged::keep_staged(session, staged).await
}

/// REPLACE names the password that a session's own account has: errors 3891 and 3893.
fn check_replaced(session: &Session, account: &Account, replaces: Option<&[u8]>) -> SqlResult<()> {
    match replaces {
        Some(_) if account.name != session.own_account() => Err(SqlError::password_replaces_unasked()),
        Some(present) if !account.check_clear(present) => Err(SqlError::password_replaced_is_wrong()),
        _ => Ok(()),
    }
}

fn set_authentication(account: &mut Account, spec: &UserSpec) -> SqlResult<()> {
    if let Some(name) = &spec.plugin {
        account.plugin = Plugin::named(name).ok_or_else(|| SqlError::plugin_not_loaded(name))?;
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
