//! Roles as tables: `mysql.role_edges` and `mysql.default_roles`, and what information_schema says of the
//! roles of the session's account: those that it holds, directly or by other roles (APPLICABLE_ROLES), those
//! of them that may be handed on, those that are active, and what tables these are good for.

use super::privileges::{grantable, place, set_text};
use super::{row, text};
use turnstile_catalog::accounts::{Account, AccountName, Edge, Privileges, TableRights};
use turnstile_catalog::catalog::Catalog;
use turnstile_catalog::session_state::SessionState;
use turnstile_values::value::{Value, to_text};

type Rows = Vec<Vec<Value>>;

fn yes(truth: bool) -> Value {
    text(if truth { "YES" } else { "NO" })
}

/// Rows of `mysql.role_edges`.
pub(super) fn edges(db: &Catalog) -> Rows {
    let mut rows = Rows::new();
    for account in db.accounts().list() {
        rows.extend(account.roles.iter().map(|(role, admin)| {
            row([
                text(&role.host),
                text(&role.user),
                text(&account.name.host),
                text(&account.name.user),
                text(if *admin { "Y" } else { "N" }),
            ])
        }));
    }
    // In the order of the table's primary key in MySQL.
    rows.sort_by_cached_key(|row| row.iter().map(|cell| to_text(cell).to_string()).collect::<Vec<_>>());
    rows
}

/// Rows of `mysql.default_roles`.
pub(super) fn defaults(db: &Catalog) -> Rows {
    let mut rows = Rows::new();
    for account in db.accounts().list() {
        let AccountName { user, host } = &account.name;
        let line = |role: &AccountName| row([text(host), text(user), text(&role.host), text(&role.user)]);
        rows.extend(account.default_roles.iter().map(line));
    }
    rows
}

/// The account, the roles that are active, whether a role is a default role, whether it is mandatory.
struct Own<'s> {
    db: &'s Catalog,
    name: AccountName,
    active: std::sync::Arc<[AccountName]>,
}

impl Own<'_> {
    fn of<'s>(db: &'s Catalog, session: &SessionState) -> Own<'s> {
        let identity = session.identity.lock();
        Own { db, name: identity.account.clone(), active: identity.active.clone() }
    }

    fn is_default(&self, role: &AccountName) -> Value {
        let own = self.db.accounts().find(&self.name);
        yes(own.is_some_and(|own| own.default_roles.contains(role)))
    }

    fn is_mandatory(&self, role: &AccountName) -> Value {
        yes(self.db.accounts().mandatory().contains(role))
    }

    fn line(&self, edge: &Edge) -> Vec<Value> {
        row([
            text(&self.name.user),
            text(&self.name.host),
            text(&edge.holder.user),
            text(&edge.holder.host),
            text(&edge.role.user),
            text(&edge.role.host),
            yes(edge.admin),
            self.is_default(&edge.role),
            self.is_mandatory(&edge.role),
        ])
    }

    /// Roles that are active and still there, with what they hold on tables.
    fn on_tables<'a>(
        &self,
        accounts: &'a [std::sync::Arc<Account>],
    ) -> impl Iterator<Item = (&'a Account, &'a str, &'a str, &'a TableRights)> {
        let active = self.active.clone();
        accounts.iter().filter(move |account| active.contains(&account.name)).flat_map(|account| {
            let tables = account.tables.iter();
            tables.map(|((schema, table), held)| (&**account, schema.as_str(), table.as_str(), held))
        })
    }
}

/// Rows of APPLICABLE_ROLES.
pub(super) fn applicable(db: &Catalog, session: &SessionState) -> Rows {
    let own = Own::of(db, session);
    db.accounts().edges_from(&own.name).iter().map(|edge| own.line(edge)).collect()
}

/// Rows of ADMINISTRABLE_ROLE_AUTHORIZATIONS.
pub(super) fn administrable(db: &Catalog, session: &SessionState) -> Rows {
    let own = Own::of(db, session);
    let edges = db.accounts().edges_from(&own.name);
    edges.iter().filter(|edge| edge.admin).map(|edge| own.line(edge)).collect()
}

/// Rows of ENABLED_ROLES.
pub(super) fn enabled(db: &Catalog, session: &SessionState) -> Rows {
    let own = Own::of(db, session);
    let line = |role: &AccountName| {
        row([text(&role.user), text(&role.host), own.is_default(role), own.is_mandatory(role)])
    };
    own.active.iter().map(line).collect()
}

/// Who granted, as user and host.
fn grantor(held: &TableRights) -> [Value; 2] {
    let (user, host) = held.grantor.rsplit_once('@').unwrap_or((&held.grantor, ""));
    [text(user), text(host)]
}

/// A line of ROLE_TABLE_GRANTS, or of ROLE_COLUMN_GRANTS with a column.
fn grant_line(
    (role, schema, table, held): (&Account, &str, &str, &TableRights),
    column: Option<&str>,
    what: Privileges,
) -> Vec<Value> {
    let holder = [text(&role.name.user), text(&role.name.host)];
    let given = [set_text(what), grantable(held)];
    grantor(held).into_iter().chain(holder).chain(place(schema, table, column)).chain(given).collect()
}

/// Rows of ROLE_TABLE_GRANTS.
pub(super) fn table_grants(db: &Catalog, session: &SessionState) -> Rows {
    let accounts = db.accounts().list();
    let own = Own::of(db, session);
    let on_tables = own.on_tables(&accounts).filter(|(.., held)| held.whole != Privileges::NONE);
    on_tables.map(|one| grant_line(one, None, one.3.whole)).collect()
}

/// Rows of ROLE_COLUMN_GRANTS.
pub(super) fn column_grants(db: &Catalog, session: &SessionState) -> Rows {
    let accounts = db.accounts().list();
    let own = Own::of(db, session);
    let of = |one: (&Account, &str, &str, &TableRights)| -> Rows {
        one.3.columns().map(|column| grant_line(one, Some(&column.name), column.held)).collect()
    };
    own.on_tables(&accounts).flat_map(of).collect()
}
