//! Privileges on tables and columns as tables: `mysql.tables_priv` and `mysql.columns_priv`, and
//! TABLE_PRIVILEGES and COLUMN_PRIVILEGES of information_schema, which show what the account may know.

use super::server::accounts_seen;
use super::text;
use turnstile_catalog::accounts::privileges::PRIVILEGES_LIST;
use turnstile_catalog::accounts::{Account, Privileges, TableRights};
use turnstile_catalog::catalog::Catalog;
use turnstile_catalog::session_state::SessionState;
use turnstile_values::datetime::DateTime;
use turnstile_values::value::Value;

type Rows = Vec<Vec<Value>>;

/// As the columns of type SET in `tables_priv` and `columns_priv` list them.
pub(super) fn set_text(held: Privileges) -> Value {
    const NAMES: &[(Privileges, &str)] = &[
        (Privileges::SELECT, "Select"),
        (Privileges::INSERT, "Insert"),
        (Privileges::UPDATE, "Update"),
        (Privileges::DELETE, "Delete"),
        (Privileges::CREATE, "Create"),
        (Privileges::DROP, "Drop"),
        (Privileges::GRANT_OPTION, "Grant"),
        (Privileges::REFERENCES, "References"),
        (Privileges::INDEX, "Index"),
        (Privileges::ALTER, "Alter"),
        (Privileges::CREATE_VIEW, "Create View"),
        (Privileges::SHOW_VIEW, "Show view"),
        (Privileges::TRIGGER, "Trigger"),
    ];
    let names = NAMES.iter().filter(|(one, _)| held.has(*one)).map(|(_, name)| *name);
    text(names.collect::<Vec<_>>().join(","))
}

fn moment(rights: &TableRights) -> Value {
    let us = i64::try_from(rights.granted).unwrap_or(0).saturating_mul(1_000_000);
    DateTime::from_unix_us(us, 0).map_or(Value::Null, Value::DateTime)
}

/// Every account's tables.
fn each(accounts: &[std::sync::Arc<Account>]) -> impl Iterator<Item = (&Account, &str, &str, &TableRights)> {
    accounts.iter().flat_map(|account| {
        account
            .tables
            .iter()
            .map(|((schema, table), rights)| (&**account, schema.as_str(), table.as_str(), rights))
    })
}

/// What lines of `mysql.tables_priv` and `mysql.columns_priv` begin with.
fn holder(account: &Account, schema: &str, table: &str) -> [Value; 4] {
    [text(&account.name.host), text(schema), text(&account.name.user), text(table)]
}

/// Catalog, database, table and column as the tables of information_schema name them.
pub(super) fn place(schema: &str, table: &str, column: Option<&str>) -> impl Iterator<Item = Value> {
    [text("def"), text(schema), text(table)].into_iter().chain(column.map(text))
}

/// Rows of `mysql.tables_priv`.
pub(super) fn of_tables(db: &Catalog) -> Rows {
    let line = |(account, schema, table, rights): (&Account, &str, &str, &TableRights)| {
        let granted = [text(&rights.grantor), moment(rights)];
        let held = [set_text(rights.whole), set_text(rights.on_some_column())];
        holder(account, schema, table).into_iter().chain(granted).chain(held).collect()
    };
    each(&db.accounts().list()).map(line).collect()
}

/// Rows of `mysql.columns_priv`.
pub(super) fn of_columns(db: &Catalog) -> Rows {
    let mut rows = Rows::new();
    for (account, schema, table, rights) in each(&db.accounts().list()) {
        rows.extend(rights.columns().map(|column| {
            let held = [text(&column.name), moment(rights), set_text(column.held)];
            holder(account, schema, table).into_iter().chain(held).collect()
        }));
    }
    rows
}

fn names(held: Privileges) -> impl Iterator<Item = &'static str> {
    let known = PRIVILEGES_LIST.iter().filter(move |(_, one, _)| held.has(*one));
    known.filter(|(_, one, _)| *one != Privileges::GRANT_OPTION).map(|(name, _, _)| *name)
}

pub(super) fn grantable(rights: &TableRights) -> Value {
    text(if rights.whole.has(Privileges::GRANT_OPTION) { "YES" } else { "NO" })
}

fn grantee(account: &Account) -> Value {
    text(format!("'{}'@'{}'", account.name.user, account.name.host))
}

/// A line of TABLE_PRIVILEGES or COLUMN_PRIVILEGES.
fn privilege_line(
    account: &Account,
    place: impl Iterator<Item = Value>,
    name: &str,
    rights: &TableRights,
) -> Vec<Value> {
    [grantee(account)].into_iter().chain(place).chain([text(name), grantable(rights)]).collect()
}

/// Rows of TABLE_PRIVILEGES.
pub(super) fn table_privileges(db: &Catalog, session: &SessionState) -> Rows {
    let mut rows = Rows::new();
    for (account, schema, table, rights) in each(&accounts_seen(db, session)) {
        let held: Vec<&str> = names(rights.whole).collect();
        let held = match (held.is_empty(), rights.whole) {
            (true, Privileges::NONE) => continue,
            (true, _) => vec!["USAGE"],
            (false, _) => held,
        };
        rows.extend(
            held.into_iter().map(|name| privilege_line(account, place(schema, table, None), name, rights)),
        );
    }
    rows
}

/// Rows of COLUMN_PRIVILEGES.
pub(super) fn column_privileges(db: &Catalog, session: &SessionState) -> Rows {
    let mut rows = Rows::new();
    for (account, schema, table, rights) in each(&accounts_seen(db, session)) {
        for name in names(rights.on_some_column()) {
            let held = Privileges::named(name).unwrap_or_default();
            let columns = rights.columns().filter(|column| column.held.has(held));
            rows.extend(columns.map(|column| {
                privilege_line(account, place(schema, table, Some(&column.name)), name, rights)
            }));
        }
    }
    rows
}
