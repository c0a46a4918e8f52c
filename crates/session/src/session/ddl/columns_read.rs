//! The column of a stored table that a name in a query means, as far as it follows from the query's own
//! tables.

use crate::ast::{ColumnName, Query, QueryBody, TableFactor, TableRef};
use crate::dictionary::{Column, TableNames};

/// The column of one of the tables that a query names in FROM; None if it is one of a derived table, of WITH
/// or of a query around.
pub(super) fn find(
    names: TableNames<'_>,
    current: Option<&str>,
    query: &Query,
    name: &ColumnName,
) -> Option<Column> {
    let QueryBody::Select(select) = &query.body else { return None };
    let mut tables = Vec::new();
    let plain = query.with.is_none() && select.from.iter().all(|one| collect(one, &mut tables));
    let fits = |table: &&TableFactor| {
        let alias = table.alias.as_ref().unwrap_or(&table.name.table);
        name.table.as_ref().is_none_or(|wanted| wanted == alias)
    };
    let mut found = tables.into_iter().filter(fits).filter_map(|table| {
        let table = names.find(table.name.schema.as_deref().or(current)?, &table.name.table)?;
        let at = table.column_position(&name.column)?;
        Some(table.columns()[at].clone())
    });
    if plain { found.next_back() } else { None }
}

/// The tables of a FROM; false if there are others than stored ones.
fn collect<'q>(from: &'q TableRef, tables: &mut Vec<&'q TableFactor>) -> bool {
    match from {
        TableRef::Table(table) => {
            tables.push(table);
            true
        }
        TableRef::Derived { .. } => false,
        TableRef::Join(join) => collect(&join.left, tables) && collect(&join.right, tables),
    }
}
