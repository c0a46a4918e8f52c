//! SHOW GRANTS and SHOW CREATE USER.

use std::sync::Arc;

use super::super::Session;
use super::table::{Table, text};
use crate::accounts::AccountName;
use crate::ast;
use crate::error::{SqlError, SqlResult};
use crate::session::accounts::role_statements;
use crate::value::Value;

fn account_of(session: &Session, user: Option<&ast::UserName>) -> SqlResult<Arc<crate::accounts::Account>> {
    let name = match user {
        Some(user) if !user.is_current() => crate::accounts::AccountName::new(&user.user, &user.host),
        _ => session.own_account(),
    };
    let missing = || SqlError::nonexisting_grant(&name.user, &name.host);
    session.db.accounts().find(&name).ok_or_else(missing)
}

pub(super) fn grants(
    session: &Session,
    user: Option<&ast::UserName>,
    roles: &[ast::UserName],
) -> SqlResult<Table> {
    let account = account_of(session, user)?;
    let mut table = Table::new(&[(&*format!("Grants for {}", account.name.text()), 't')]);
    let own = user.is_none_or(ast::UserName::is_current) && roles.is_empty();
    let lines = if own {
        role_statements::own_grants(session, &account)
    } else {
        role_statements::grants_using(session, &account, roles)?
    };
    lines.into_iter().for_each(|line| table.push(vec![text(line)]));
    Ok(table)
}

/// AS and a stored hash: its text, or, if `print_identified_with_as_hex` says so and it has unprintable
/// bytes, its digits.
fn secret_text(session: &Session, secret: &[u8]) -> SqlResult<String> {
    use crate::expr::SessionView;
    if secret.is_empty() {
        return Ok(String::new());
    }
    let hexadecimal =
        session.state.system_variable(ast::VariableScope::Default, "print_identified_with_as_hex")?;
    if hexadecimal == Value::Int(1) && secret.iter().any(|byte| !(b' '..=b'~').contains(byte)) {
        let digits: String = secret.iter().map(|byte| format!("{byte:02X}")).collect();
        return Ok(format!(" AS 0x{digits}"));
    }
    Ok(format!(" AS '{}'", String::from_utf8_lossy(secret).replace('\'', "''")))
}

pub(super) fn create_user_text(session: &Session, user: &ast::UserName) -> SqlResult<Table> {
    let account = account_of(session, Some(user)).map_err(|_| {
        SqlError::operation_failed("SHOW CREATE USER", format!("'{}'@'{}'", user.user, user.host))
    })?;
    let default_roles: Vec<String> = account.default_roles.iter().map(AccountName::quoted).collect();
    let default_roles = match default_roles.is_empty() {
        true => String::new(),
        false => format!(" DEFAULT ROLE {}", default_roles.join(",")),
    };
    let name = account.name.quoted();
    let limits = match account.user_connections_max {
        0 => String::new(),
        most => format!(" WITH MAX_USER_CONNECTIONS {most}"),
    };
    let line = format!(
        "CREATE USER {name} IDENTIFIED WITH '{}'{}{default_roles} REQUIRE {}{limits} PASSWORD EXPIRE{} ACCOUNT {} PASSWORD HISTORY DEFAULT \
         PASSWORD REUSE INTERVAL DEFAULT PASSWORD REQUIRE CURRENT DEFAULT",
        account.plugin.name(),
        secret_text(session, &account.secret)?,
        if account.require_tls { "SSL" } else { "NONE" },
        if account.expired { "" } else { " DEFAULT" },
        if account.locked { "LOCK" } else { "UNLOCK" },
    );
    let mut table = Table::new(&[(&*format!("CREATE USER for {}", account.name.text()), 't')]);
    table.push(vec![text(line)]);
    Ok(table)
}
