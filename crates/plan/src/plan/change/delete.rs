//! Plans of DELETE.

use std::sync::Arc;

use turnstile_catalog::accounts::Privileges;
use turnstile_catalog::dictionary::Table;
use turnstile_syntax::ast::{self, TableRef};
use turnstile_values::error::{SqlError, SqlResult};

use super::super::block::{Block, PlanContext};
use super::super::scope::ScopeTable;
use super::super::{foreign_key, with};
use super::{ChangePlan, ChangeTarget, Rows, plan_rows, read_tables, through};

/// Plans DELETE.
pub fn plan_delete(context: &PlanContext<'_>, delete: &ast::Delete) -> SqlResult<ChangePlan> {
    let context = &context.of_change();
    let Some(with) = &delete.with else { return plan_delete_body(context, delete) };
    let common = with::plan(context, with, None)?;
    plan_delete_body(&PlanContext { common: &common, ..*context }, delete)
}

fn plan_delete_body(context: &PlanContext<'_>, delete: &ast::Delete) -> SqlResult<ChangePlan> {
    let rows = Rows {
        tables: &delete.from,
        condition: delete.condition.as_ref(),
        order_by: &delete.order_by,
        limit: delete.limit.as_ref(),
        hints: &delete.hints,
    };
    check_delete_targets(context, delete)?;
    let (mut block, joined) = read_tables(context, &rows)?;
    let mut targets = Vec::new();
    for nth in 0..block.scope.tables.len() {
        let table = &block.scope.tables[nth];
        let named = |name: &ast::TableName| {
            *name.table == *table.alias
                && name.schema.as_deref().is_none_or(|schema| *schema == *table.schema)
        };
        if delete.targets.is_empty() || delete.targets.iter().any(named) {
            if table.schema.is_empty() {
                return Err(SqlError::non_updatable_table(&table.alias, "DELETE"));
            }
            let (found, base) = deleted(&block, table)?;
            let foreign = foreign_key::of_delete(context.names.dictionary(), &found);
            targets.push(ChangeTarget { foreign, light: true, ..ChangeTarget::of(found, base) });
        }
    }
    if targets.len() < delete.targets.len() {
        return Err(SqlError::unknown_table(&delete.targets[0].table, "MULTI DELETE"));
    }
    let select = plan_rows(&mut block, joined, &rows, &targets)?;
    Ok(ChangePlan::new(select, targets, delete.ignore))
}

/// The table that rows go from, maybe through views, and the place of its first column.
fn deleted(block: &Block<'_, '_>, table: &ScopeTable) -> SqlResult<(Arc<Table>, usize)> {
    let context = block.context;
    if !table.is_view {
        let found = table.stored.clone();
        return Ok((found.map_or_else(|| context.names.table(&table.schema, &table.name), Ok)?, table.base));
    }
    let fixed = || SqlError::non_updatable_table(&table.alias, "DELETE");
    let view = context.names.view(&table.schema, &table.name).ok_or_else(fixed)?;
    if !view.definition.updatable || table.stands_for.is_empty() {
        return Err(fixed());
    }
    let [base] = &block.scope.behind[table.behind.0..table.behind.1] else {
        return Err(SqlError::view_join_not_deletable(&view.definition.schema, &view.definition.name));
    };
    let stored = base.stored.clone().ok_or_else(fixed)?;
    through::note_rows(context, &view, Privileges::DELETE)?;
    Ok((stored, base.base))
}

/// Every table that a DELETE of several names is one of those it reads, by MySQL's rules: a name with a
/// database never means an alias, one without means an alias or a table of the current database. Errors 1046,
/// 1066 and 1109.
fn check_delete_targets(context: &PlanContext<'_>, delete: &ast::Delete) -> SqlResult<()> {
    fn count(tables: &TableRef, fits: &dyn Fn(Option<&ast::TableName>, Option<&str>) -> bool) -> usize {
        match tables {
            TableRef::Table(factor) => usize::from(fits(Some(&factor.name), factor.alias.as_deref())),
            TableRef::Derived { alias, .. } => usize::from(fits(None, Some(alias))),
            TableRef::Join(join) => count(&join.left, fits) + count(&join.right, fits),
        }
    }
    for (nth, target) in delete.targets.iter().enumerate() {
        let current = context.schema;
        let is_same = |other: &ast::TableName| {
            let of = |name: &ast::TableName| name.schema.as_deref().or(current).map(str::to_owned);
            other.table == target.table && of(other) == of(target)
        };
        if delete.targets[..nth].iter().any(is_same) {
            return Err(SqlError::non_unique_table(&target.table));
        }
        let schema = target.schema.as_deref().or(current).ok_or_else(SqlError::no_database_selected)?;
        let fits = |table: Option<&ast::TableName>, alias: Option<&str>| match (alias, table) {
            (Some(alias), _) => target.schema.is_none() && *alias == *target.table,
            (None, Some(table)) => {
                let of = table.schema.as_deref().or(current);
                *table.table == *target.table && of.is_some_and(|of| *of == *schema)
            }
            (None, None) => false,
        };
        match delete.from.iter().map(|tables| count(tables, &fits)).sum() {
            0 => return Err(SqlError::unknown_table(&target.table, "MULTI DELETE")),
            1 => {}
            2.. => return Err(SqlError::non_unique_table(&target.table)),
        }
    }
    Ok(())
}
