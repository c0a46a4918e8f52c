//! The tables of information_schema that hold what else was written at databases, tables, columns and keys. No engine
//! here takes attributes (ENGINE_ATTRIBUTE is refused, SECONDARY_ENGINE_ATTRIBUTE warned of), so each thing has its
//! row, and nothing stands in it.

use std::sync::Arc;

use super::catalog::all_tables;
use super::{Shape, text};
use crate::database::Database;
use crate::dictionary::Table;
use crate::session::SessionState;
use crate::value::Value;

/// Of databases.
pub(super) const SCHEMATA: Shape =
    ("SCHEMATA_EXTENSIONS", &[("CATALOG_NAME", 's'), ("SCHEMA_NAME", 's'), ("OPTIONS", 'S')]);

/// Of tables.
pub(super) const TABLES: Shape = (
    "TABLES_EXTENSIONS",
    &[
        ("TABLE_CATALOG", 's'),
        ("TABLE_SCHEMA", 's'),
        ("TABLE_NAME", 's'),
        ("ENGINE_ATTRIBUTE", 'T'),
        ("SECONDARY_ENGINE_ATTRIBUTE", 'T'),
    ],
);

/// Of columns.
pub(super) const COLUMNS: Shape = (
    "COLUMNS_EXTENSIONS",
    &[
        ("TABLE_CATALOG", 's'),
        ("TABLE_SCHEMA", 's'),
        ("TABLE_NAME", 's'),
        ("COLUMN_NAME", 'S'),
        ("ENGINE_ATTRIBUTE", 'T'),
        ("SECONDARY_ENGINE_ATTRIBUTE", 'T'),
    ],
);

/// Of keys.
pub(super) const CONSTRAINTS: Shape = (
    "TABLE_CONSTRAINTS_EXTENSIONS",
    &[
        ("CONSTRAINT_CATALOG", 's'),
        ("CONSTRAINT_SCHEMA", 's'),
        ("CONSTRAINT_NAME", 's'),
        ("TABLE_NAME", 's'),
        ("ENGINE_ATTRIBUTE", 'T'),
        ("SECONDARY_ENGINE_ATTRIBUTE", 'T'),
    ],
);

/// Of partitions.
pub(super) const PARTITIONS: Shape = (
    "PARTITIONS",
    &[
        ("TABLE_CATALOG", 's'),
        ("TABLE_SCHEMA", 's'),
        ("TABLE_NAME", 's'),
        ("PARTITION_NAME", 'S'),
        ("SUBPARTITION_NAME", 'S'),
        ("PARTITION_ORDINAL_POSITION", 'N'),
        ("SUBPARTITION_ORDINAL_POSITION", 'N'),
        ("PARTITION_METHOD", 'S'),
        ("SUBPARTITION_METHOD", 'S'),
        ("PARTITION_EXPRESSION", 'T'),
        ("SUBPARTITION_EXPRESSION", 'T'),
        ("PARTITION_DESCRIPTION", 'T'),
        ("TABLE_ROWS", 'N'),
        ("AVG_ROW_LENGTH", 'N'),
        ("DATA_LENGTH", 'N'),
        ("MAX_DATA_LENGTH", 'N'),
        ("INDEX_LENGTH", 'N'),
        ("DATA_FREE", 'N'),
        ("CREATE_TIME", 'D'),
        ("UPDATE_TIME", 'D'),
        ("CHECK_TIME", 'D'),
        ("CHECKSUM", 'I'),
        ("PARTITION_COMMENT", 't'),
        ("NODEGROUP", 'S'),
        ("TABLESPACE_NAME", 'S'),
    ],
);

/// Of accounts.
pub(super) const USERS: Shape = ("USER_ATTRIBUTES", &[("USER", 's'), ("HOST", 's'), ("ATTRIBUTE", 'T')]);

type Rows = Vec<Vec<Value>>;

fn bare<'n>(names: impl IntoIterator<Item = &'n str>) -> Vec<Value> {
    let names = names.into_iter().map(text);
    std::iter::once(text("def")).chain(names).chain([Value::Null, Value::Null]).collect()
}

/// Rows of USER_ATTRIBUTES: COMMENT and ATTRIBUTE are refused, so no account has any.
pub(super) fn users(db: &Database, session: &SessionState) -> Rows {
    let accounts = super::server::accounts_seen(db, session).into_iter();
    accounts.map(|one| vec![text(&one.name.user), text(&one.name.host), Value::Null]).collect()
}

/// Rows of SCHEMATA_EXTENSIONS.
pub(super) fn schemata(db: &Database, session: &SessionState) -> Rows {
    let names = super::catalog::schema_names(db, session);
    names.into_iter().map(|name| vec![text("def"), text(&name), text("")]).collect()
}

/// Rows of TABLES_EXTENSIONS.
pub(super) fn tables(db: &Database, session: &SessionState) -> Rows {
    let line = |table: Arc<Table>| bare([&*table.definition.schema, table.name()]);
    all_tables(db, session).into_iter().map(line).collect()
}

/// Rows of COLUMNS_EXTENSIONS.
pub(super) fn columns(db: &Database, session: &SessionState) -> Rows {
    let rights = session.rights();
    let mut rows = Vec::new();
    for table in all_tables(db, session) {
        for column in table.columns() {
            if super::catalog::column_privileges(&rights, &table, column).is_some() {
                rows.push(bare([&*table.definition.schema, table.name(), &*column.name]));
            }
        }
    }
    rows
}

/// Rows of TABLE_CONSTRAINTS_EXTENSIONS.
pub(super) fn constraints(db: &Database, session: &SessionState) -> Rows {
    let mut rows = Vec::new();
    for table in all_tables(db, session) {
        rows.extend(
            table.keys().iter().map(|key| bare([&*table.definition.schema, &*key.name, table.name()])),
        );
    }
    rows
}
