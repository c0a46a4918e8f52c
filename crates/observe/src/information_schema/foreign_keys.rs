//! Foreign keys as tables: REFERENTIAL_CONSTRAINTS, INNODB_FOREIGN, INNODB_FOREIGN_COLS, and their lines in
//! KEY_COLUMN_USAGE and TABLE_CONSTRAINTS.

use std::sync::Arc;

use super::catalog::may_see_column;
use super::{count, row, text};
use turnstile_catalog::accounts::Rights;
use turnstile_catalog::catalog::Catalog;
use turnstile_catalog::dictionary::{Action, ForeignKey, Table};
use turnstile_values::value::Value;

type Rows = Vec<Vec<Value>>;

fn each(tables: &[Arc<Table>]) -> impl Iterator<Item = (&Arc<Table>, &ForeignKey)> {
    tables.iter().flat_map(|table| table.definition.foreign_keys.iter().map(move |key| (table, key)))
}

/// Rows of REFERENTIAL_CONSTRAINTS.
pub(super) fn referential_constraints(db: &Catalog, tables: &[Arc<Table>]) -> Rows {
    let line = |(table, key): (&Arc<Table>, &ForeignKey)| {
        let parent = db.dictionary().find(&key.parent_schema, &key.parent);
        let unique = parent.and_then(|parent| {
            let found = &parent.keys()[key.parent_key(&parent.definition)?];
            found.unique.then(|| text(&found.name))
        });
        row([
            text("def"),
            text(&table.definition.schema),
            text(&key.name),
            text("def"),
            text(&key.parent_schema),
            unique.unwrap_or_default(),
            text("NONE"),
            text(key.on_update.text()),
            text(key.on_delete.text()),
            text(table.name()),
            text(&key.parent),
        ])
    };
    each(tables).map(line).collect()
}

/// A line of KEY_COLUMN_USAGE: a column of a key, by name and place, and what it refers to.
pub(super) fn key_column(
    (table, key): (&Arc<Table>, &str),
    (column, nth): (&str, usize),
    parent: Option<(&ForeignKey, &str)>,
) -> Vec<Value> {
    let schema = || text(&table.definition.schema);
    let (name, column, place) = (text(key), text(column), count(nth + 1));
    let [parent_place, parent_schema, parent_table, parent_column] = match parent {
        None => [const { Value::Null }; 4],
        Some((key, column)) => [count(nth + 1), text(&key.parent_schema), text(&key.parent), text(column)],
    };
    row([
        text("def"),
        schema(),
        name,
        text("def"),
        schema(),
        text(table.name()),
        column,
        place,
        parent_place,
        parent_schema,
        parent_table,
        parent_column,
    ])
}

/// Lines of KEY_COLUMN_USAGE: of the columns that an account may see.
pub(super) fn key_columns(tables: &[Arc<Table>], rights: &Rights) -> Rows {
    let line = |(table, key): (&Arc<Table>, &ForeignKey), nth: usize| {
        key_column((table, &key.name), (&key.columns[nth], nth), Some((key, &key.parent_columns[nth])))
    };
    let seen = |(table, key): (&Arc<Table>, &ForeignKey), nth: usize| {
        may_see_column(rights, table, &key.columns[nth]).then(|| line((table, key), nth))
    };
    each(tables).flat_map(|one| (0..one.1.columns.len()).filter_map(move |nth| seen(one, nth))).collect()
}

/// Lines of TABLE_CONSTRAINTS.
pub(super) fn constraints(tables: &[Arc<Table>]) -> Rows {
    let line = |(table, key): (&Arc<Table>, &ForeignKey)| {
        let schema = || text(&table.definition.schema);
        let name = text(&key.name);
        row([text("def"), schema(), name, schema(), text(table.name()), text("FOREIGN KEY"), text("YES")])
    };
    each(tables).map(line).collect()
}

fn id(table: &Table, key: &ForeignKey) -> Value {
    text(format!("{}/{}", table.definition.schema, key.name))
}

/// InnoDB's bits for what a foreign key does.
fn bits(key: &ForeignKey) -> u64 {
    let of = |action: Action, shift: u32| match action {
        Action::Cascade => 1 << shift,
        Action::SetNull => 2 << shift,
        Action::NoAction => 16 << (shift / 2),
        Action::Restrict => 0,
    };
    of(key.on_delete, 0) | of(key.on_update, 2)
}

/// Rows of INNODB_FOREIGN.
pub(super) fn innodb_foreign(tables: &[Arc<Table>]) -> Rows {
    let line = |(table, key): (&Arc<Table>, &ForeignKey)| {
        row([
            id(table, key),
            text(format!("{}/{}", table.definition.schema, table.name())),
            text(format!("{}/{}", key.parent_schema, key.parent)),
            Value::Int(key.columns.len() as i64),
            Value::UInt(bits(key)),
        ])
    };
    each(tables).map(line).collect()
}

/// Rows of INNODB_FOREIGN_COLS.
pub(super) fn innodb_foreign_columns(tables: &[Arc<Table>]) -> Rows {
    let line = |(table, key): (&Arc<Table>, &ForeignKey), nth: usize| {
        row([id(table, key), text(&key.columns[nth]), text(&key.parent_columns[nth]), count(nth + 1)])
    };
    each(tables).flat_map(|one| (0..one.1.columns.len()).map(move |nth| line(one, nth))).collect()
}
