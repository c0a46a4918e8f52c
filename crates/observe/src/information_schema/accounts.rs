//! Tables of the `mysql` database that administration tools read at their start: `user` and `db`, computed
//! from the accounts, and those about what does not exist here (routines, proxies), empty. Roles are in
//! `roles.rs`. Privileges of tables and columns are in `privileges.rs`. `time_zone` and its kin are filled by
//! `zones.rs`. They cannot be written: accounts change by CREATE USER, GRANT and their like.

use super::{row, text};
use turnstile_catalog::accounts::privileges::PRIVILEGES_LIST;
use turnstile_catalog::accounts::{Account, Privileges};
use turnstile_catalog::catalog::Catalog;
use turnstile_catalog::virtual_table::VirtualTable;
use turnstile_values::value::Value;

/// The privilege behind a column whose name ends in `_priv`; None for one that does not exist here.
fn privilege(column: &str) -> Option<Privileges> {
    let name = column.strip_suffix("_priv")?;
    Some(match name {
        "Grant" => Privileges::GRANT_OPTION,
        "Show_db" => Privileges::SHOW_DATABASES,
        "Create_tmp_table" => Privileges::CREATE_TEMPORARY_TABLES,
        "Repl_slave" => Privileges::REPLICATION_SLAVE,
        "Repl_client" => Privileges::REPLICATION_CLIENT,
        other => return Privileges::named(&other.to_ascii_uppercase().replace('_', " ")),
    })
}

fn granted(column: &str, held: Privileges) -> Value {
    text(if privilege(column).is_some_and(|wanted| held.has(wanted)) { "Y" } else { "N" })
}

fn yes(truth: bool) -> Value {
    text(if truth { "Y" } else { "N" })
}

/// Rows of `mysql.user`.
pub(super) fn users(db: &Catalog) -> Vec<Vec<Value>> {
    let accounts = db.accounts().list();
    let line = |account: &Account| {
        VirtualTable::MysqlUser.column_names().map(|name| user_cell(account, name)).collect()
    };
    accounts.iter().map(|account| line(account)).collect()
}

fn user_cell(account: &Account, column: &str) -> Value {
    match column {
        "Host" => text(&account.name.host),
        "User" => text(&account.name.user),
        "ssl_type" => text(if account.require_tls { "ANY" } else { "" }),
        "ssl_cipher" | "x509_issuer" | "x509_subject" => text(""),
        "max_questions" | "max_updates" | "max_connections" => Value::UInt(0),
        "max_user_connections" => Value::UInt(account.user_connections_max.into()),
        "plugin" => text(account.plugin.name()),
        "authentication_string" => text(String::from_utf8_lossy(&account.secret)),
        "password_expired" => yes(account.expired),
        "account_locked" => yes(account.locked),
        name if name.ends_with("_priv") => granted(name, account.global),
        _ => Value::Null,
    }
}

/// Rows of `mysql.db`.
pub(super) fn databases(db: &Catalog) -> Vec<Vec<Value>> {
    let mut rows = Vec::new();
    for account in db.accounts().list() {
        for (schema, held) in &account.databases {
            let cell = |name: &str| match name {
                "Host" => text(&account.name.host),
                "Db" => text(schema),
                "User" => text(&account.name.user),
                name => granted(name, *held),
            };
            rows.push(VirtualTable::MysqlDb.column_names().map(cell).collect());
        }
    }
    rows
}

/// Rows of `mysql.global_grants`.
pub(super) fn global_grants(db: &Catalog) -> Vec<Vec<Value>> {
    let mut rows = Vec::new();
    for account in db.accounts().list() {
        let dynamic = |one: Privileges| Privileges::DYNAMIC.has(one) && account.global.has(one);
        let held = PRIVILEGES_LIST.iter().filter(|(_, one, _)| dynamic(*one));
        rows.extend(held.map(|(name, one, _)| {
            let option = yes(account.global.has(one.handed_on()));
            row([text(&account.name.user), text(&account.name.host), text(name), option])
        }));
    }
    rows
}
