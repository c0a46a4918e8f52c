//! The tables of information_schema that hold what else was written at databases, tables, columns and keys.
//! No engine here takes attributes (ENGINE_ATTRIBUTE is refused, SECONDARY_ENGINE_ATTRIBUTE warned of), so
//! each thing has its row, and nothing stands in it.

use std::sync::Arc;

use super::catalog::all_tables;
use super::sought::Sought;
use super::text;
use turnstile_catalog::catalog::Catalog;
use turnstile_catalog::dictionary::Table;
use turnstile_catalog::session_state::SessionState;
use turnstile_values::value::Value;

type Rows = Vec<Vec<Value>>;

fn bare<'n>(names: impl IntoIterator<Item = &'n str>) -> Vec<Value> {
    let names = names.into_iter().map(text);
    std::iter::once(text("def")).chain(names).chain([Value::Null, Value::Null]).collect()
}

/// Rows of USER_ATTRIBUTES: COMMENT and ATTRIBUTE are refused, so no account has any.
pub(super) fn users(db: &Catalog, session: &SessionState) -> Rows {
    let accounts = super::server::accounts_seen(db, session).into_iter();
    accounts.map(|one| vec![text(&one.name.user), text(&one.name.host), Value::Null]).collect()
}

/// Rows of SCHEMATA_EXTENSIONS.
pub(super) fn schemata(db: &Catalog, session: &SessionState) -> Rows {
    let names = super::catalog::schema_names(db, session);
    names.into_iter().map(|name| vec![text("def"), text(&name), text("")]).collect()
}

/// Rows of TABLES_EXTENSIONS.
pub(super) fn tables(db: &Catalog, session: &SessionState) -> Rows {
    let line = |table: Arc<Table>| bare([&*table.definition.schema, table.name()]);
    all_tables(db, session, &Sought::ALL).into_iter().map(line).collect()
}

/// Rows of COLUMNS_EXTENSIONS.
pub(super) fn columns(db: &Catalog, session: &SessionState) -> Rows {
    let rights = session.rights();
    let mut rows = Vec::new();
    for table in all_tables(db, session, &Sought::ALL) {
        for column in table.named_columns() {
            if super::catalog::column_privileges(&rights, &table, column).is_some() {
                rows.push(bare([&*table.definition.schema, table.name(), &*column.name]));
            }
        }
    }
    rows
}

/// Rows of TABLE_CONSTRAINTS_EXTENSIONS.
pub(super) fn constraints(db: &Catalog, session: &SessionState) -> Rows {
    let mut rows = Vec::new();
    for table in all_tables(db, session, &Sought::ALL) {
        rows.extend(
            table.keys().iter().map(|key| bare([&*table.definition.schema, &*key.name, table.name()])),
        );
    }
    rows
}
