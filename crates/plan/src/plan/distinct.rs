//! ORDER BY of a DISTINCT block: it may not read columns that are not selected.

use turnstile_syntax::ast;
use turnstile_syntax::walk;
use turnstile_values::error::{SqlError, SqlResult};

use super::aggregate;
use super::block::Block;
use super::same::Alike;
use super::select::Item;

/// Error 3065: rows that DISTINCT makes one could be sorted by either's value. `order` has aliases and
/// positions replaced.
pub fn check(block: &Block<'_, '_>, order: &[ast::Expr], items: &[Item]) -> SqlResult<()> {
    let items = Alike::of(block, items.iter().map(|item| &item.expr));
    for (nth, expr) in order.iter().enumerate() {
        if let Some(column) = unselected(block, expr, &items) {
            return Err(SqlError::order_by_distinct(nth + 1, column));
        }
    }
    Ok(())
}

/// A column that is read outside aggregates and is no entry, as `schema.table.column`.
fn unselected(block: &Block<'_, '_>, expr: &ast::Expr, items: &Alike) -> Option<String> {
    if items.have(block, expr) {
        return None;
    }
    match expr {
        ast::Expr::Column(name) => {
            let found = block.scope.find_here(name).ok().flatten()?;
            let (table, column) = block.scope.column_at(found.position)?;
            return Some(format!("{}.{}.{}", table.schema, table.alias, column.name));
        }
        ast::Expr::Function(call)
            if aggregate::is_aggregate(call) || aggregate::takes_any(call) || call.over.is_some() =>
        {
            return None;
        }
        _ => {}
    }
    let mut found = None;
    walk::children(expr, &mut |child| {
        if found.is_none() {
            found = unselected(block, child, items);
        }
    });
    found
}
