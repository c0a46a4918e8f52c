//! Plans of INSERT and REPLACE.

use std::sync::Arc;

use turnstile_catalog::accounts::Privileges;
use turnstile_catalog::dictionary::Table;
use turnstile_expr::expr::Expr;
use turnstile_syntax::ast;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::types::ColumnType;

use super::super::block::{Block, PlanContext};
use super::super::scope::ScopeTable;
use super::super::{foreign_key, insert_select};
use super::{InsertPlan, InsertSource, assigned_value, assignments, assigns_lightly, target_table};

/// Plans INSERT and REPLACE.
pub fn plan_insert(context: &PlanContext<'_>, insert: &ast::Insert) -> SqlResult<InsertPlan> {
    plan_unmerged(&context.without_merging(), insert)
}

fn plan_unmerged(context: &PlanContext<'_>, insert: &ast::Insert) -> SqlResult<InsertPlan> {
    let table = target_table(context, &insert.table)?;
    let targets = targets(&table, &insert.columns)?;
    let mut block = Block::new(context, None);
    block.changes_one_table = true;
    let base = block.scope.reserve(table.columns().len());
    block.scope.add(ScopeTable::of(&table, &insert.table.table, base))?;
    block.target = Some(table.clone());
    for at in &targets {
        block.scope.note_use(0, *at, Privileges::INSERT, insert.columns.is_empty());
    }
    let new_base = block.scope.reserve(table.columns().len());
    let (mut given, mut conversions) = (Vec::new(), Vec::new());
    let source = match &insert.source {
        ast::InsertSource::Query(query) => {
            let columns: Vec<&ColumnType> = targets.iter().map(|at| &table.columns()[*at].kind).collect();
            block.settle_selected(query, &columns, false);
            let mut plan = crate::plan::plan_query(context, query, None)?;
            check_values(plan.columns().len(), &targets, &table)?;
            if let Some((wider, tables)) = insert_select::with_tables(context, query, insert, targets.len())?
            {
                (plan, given) = (wider, tables);
            }
            conversions =
                insert_select::into_columns((&mut plan, query), &context.eval.settings, &targets, &table);
            InsertSource::Query(plan)
        }
        ast::InsertSource::Literals(rows) => {
            check_values(rows.width(), &targets, &table)?;
            InsertSource::Literals(rows.clone())
        }
        ast::InsertSource::Rows(rows) => {
            InsertSource::Rows(bind_rows(&mut block, &table, rows, &targets, insert)?)
        }
    };
    let row_subqueries = insert_select::of_rows(&mut block, &table, &source);
    let references = insert_select::references(&block, &source, &targets, &table);
    block.inserted_base = Some(new_base);
    let source_base = block.scope.width();
    for mut table in given {
        table.base = block.scope.reserve(table.columns.len());
        block.scope.add(table)?;
    }
    if let Some(alias) = &insert.row_alias {
        block.scope.add(aliased_row(&table, alias, new_base, &targets))?;
    }
    let on_duplicate = assignments(&mut block, &insert.on_duplicate, &table, base)?;
    let read = on_duplicate.iter().filter_map(|(_, value)| value.as_ref()).flat_map(Expr::columns);
    let duplicate_subqueries = block.subqueries_for(read.collect());
    insert_select::refuse_target_by_name(&block.subqueries, &table, &insert.table.table)?;
    let assigned = table.may_change(on_duplicate.iter().map(|(column, _)| *column));
    let foreign = foreign_key::of_insert(context.dictionary, &table, insert.replace, &assigned);
    Ok(InsertPlan {
        targets,
        source,
        conversions,
        replace: insert.replace,
        ignore: insert.ignore,
        light: assigns_lightly(&table, &on_duplicate),
        on_duplicate,
        width: block.scope.width(),
        subqueries: std::mem::take(&mut block.subqueries),
        row_subqueries,
        references,
        duplicate_subqueries,
        source_base,
        table,
        foreign,
    })
}

/// Fails unless there are as many values as columns, and each of these may be given one.
fn check_values(count: usize, targets: &[usize], table: &Table) -> SqlResult<()> {
    if count != targets.len() {
        return Err(SqlError::wrong_value_count_on_row(1));
    }
    targets.iter().try_for_each(|column| table.check_takes_value(*column))
}

/// The new row by the names that `AS alias (a, b)` gives it.
fn aliased_row(table: &Arc<Table>, alias: &ast::RowAlias, base: usize, targets: &[usize]) -> ScopeTable {
    let mut row = ScopeTable::of(table, &alias.table, base);
    row.own_names = row.columns.iter().map(|column| column.name.clone()).collect();
    for (column, name) in targets.iter().zip(&alias.columns) {
        row.columns[*column].name = name.clone();
    }
    row
}

pub(super) fn targets(table: &Table, names: &[ast::Name]) -> SqlResult<Vec<usize>> {
    if names.is_empty() {
        return Ok((0..table.columns().len()).filter(|at| !table.columns()[*at].invisible).collect());
    }
    let mut targets = Vec::with_capacity(names.len());
    for name in names {
        let at = table.column_position(name).ok_or_else(|| SqlError::unknown_column(name, "field list"))?;
        if targets.contains(&at) {
            return Err(SqlError::field_specified_twice(name));
        }
        targets.push(at);
    }
    Ok(targets)
}

fn bind_rows(
    block: &mut Block<'_, '_>,
    table: &Table,
    rows: &[Vec<ast::Expr>],
    targets: &[usize],
    insert: &ast::Insert,
) -> SqlResult<Vec<Vec<Option<Expr>>>> {
    let mut bound = Vec::with_capacity(rows.len());
    for (nth, row) in rows.iter().enumerate() {
        // `()` gives every column its default.
        let defaults = row.is_empty() && insert.columns.is_empty();
        if row.len() != targets.len() && !defaults {
            return Err(SqlError::wrong_value_count_on_row(nth + 1));
        }
        let mut values = Vec::with_capacity(targets.len());
        for (expr, column) in row.iter().zip(targets) {
            let value = assigned_value(block, expr, &table.columns()[*column].kind)?;
            value.iter().try_for_each(|_| table.check_takes_value(*column))?;
            values.push(value);
        }
        values.resize(targets.len(), None);
        bound.push(values);
    }
    Ok(bound)
}
