//! Which roles are active in a session, and what SHOW GRANTS says of them.

use super::chosen;
use crate::accounts::{Account, grants};
use crate::ast::{RoleChoice, UserName};
use crate::error::SqlResult;
use crate::session::{Session, rights};
use crate::value::Value;

pub(super) fn set_role(session: &mut Session, choice: &RoleChoice) -> SqlResult<()> {
    let own = session.own_account();
    let accounts = session.database().accounts();
    let held = accounts.held_roles(&own);
    let roles = match choice {
        RoleChoice::Default => {
            let default_roles = accounts.find(&own).map(|account| account.default_roles.clone());
            default_roles.into_iter().flatten().filter(|role| held.contains_key(role)).collect()
        }
        other => chosen(other, &own, &held)?,
    };
    rights::make_active(session, roles.into_iter().collect());
    Ok(())
}

/// The roles of a session that begins.
pub(crate) fn activate_at_login(session: &mut Session) {
    let all = session.database().globals().named("activate_all_roles_on_login") == Value::Int(1);
    let roles = session.database().accounts().roles_at_login(&session.own_account(), all);
    rights::make_active(session, roles.into());
}

/// What SHOW GRANTS says of one's own account: with the roles that are active, and the mandatory ones.
pub(crate) fn own_grants(session: &Session, account: &Account) -> Vec<String> {
    let (own, active) = rights::own_roles(session);
    let accounts = session.database().accounts();
    let whole = accounts.with_roles(&own, &active);
    let roles = accounts.roles_shown(account, &active);
    grants(whole.as_deref().unwrap_or(account), &roles, &accounts.mandatory_roles(&own))
}

/// What SHOW GRANTS FOR says, with these roles. Error 3530 for one that is not held.
pub(crate) fn grants_using(
    session: &Session,
    account: &Account,
    roles: &[UserName],
) -> SqlResult<Vec<String>> {
    let accounts = session.database().accounts();
    let held = accounts.held_roles(&account.name);
    let using = chosen(&RoleChoice::These(roles.to_vec()), &account.name, &held)?;
    let using: Vec<_> = using.into_iter().collect();
    let whole = accounts.with_roles(&account.name, &using);
    let roles = accounts.roles_shown(account, &using);
    Ok(grants(whole.as_deref().unwrap_or(account), &roles, &[]))
}
