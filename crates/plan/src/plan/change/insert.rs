//! Plans of INSERT and REPLACE.

use std::collections::HashMap;
use std::sync::Arc;

use turnstile_catalog::accounts::Privileges;
use turnstile_catalog::accounts::Privileges as P;
use turnstile_catalog::dictionary::check::BoundCheck;
use turnstile_catalog::dictionary::{Table, View};
use turnstile_expr::expr::Expr;
use turnstile_syntax::ast;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::types::ColumnType;

use super::super::block::{Block, PlanContext};
use super::super::scope::{NO_NAME, ScopeTable};
use super::super::{foreign_key, insert_select};
use super::through::Places;
use super::{InsertPlan, InsertSource, assigned_value, assignments, assigns_lightly, target_table, through};

/// Plans INSERT and REPLACE.
pub fn plan_insert(context: &PlanContext<'_>, insert: &ast::Insert) -> SqlResult<InsertPlan> {
    plan_rows(&context.of_change(), insert)
}

fn plan_rows(context: &PlanContext<'_>, insert: &ast::Insert) -> SqlResult<InsertPlan> {
    let InsertTarget { table, names, targets, visible } = InsertTarget::find(context, insert)?;
    let mut block = Block::new(context, None);
    block.changes_one_table = true;
    let base = block.scope.reserve(table.columns().len());
    block.scope.add(named(ScopeTable::of(&table, &insert.table.table, base), names.as_ref()))?;
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
        block.scope.add(aliased_row(&table, alias, new_base, (&targets, names.as_ref()))?)?;
    }
    let on_duplicate = assignments(&mut block, &insert.on_duplicate, &table, base)?;
    let read = on_duplicate.iter().filter_map(|(_, value)| value.as_ref()).flat_map(Expr::columns);
    let duplicate_subqueries = block.subqueries_for(read.collect());
    insert_select::refuse_target_by_name(&block.subqueries, &table, &insert.table.table)?;
    let assigned = table.may_change(on_duplicate.iter().map(|(column, _)| *column));
    let foreign = foreign_key::of_insert(context.names.dictionary(), &table, insert.replace, &assigned);
    Ok(InsertPlan {
        targets,
        source,
        conversions,
        replace: insert.replace,
        visible,
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

/// What an INSERT fills.
struct InsertTarget {
    table: Arc<Table>,
    /// What a view calls the table's columns.
    names: Option<ViewNames>,
    /// Columns that are given, in order.
    targets: Vec<usize>,
    /// Of REPLACE: what rows a view has.
    visible: Vec<BoundCheck>,
}

/// A table under a view's names.
struct ViewNames {
    schema: Box<str>,
    name: Box<str>,
    /// By column of the table; None for one that the view has not.
    columns: Vec<Option<Box<str>>>,
}

/// The table as the statement names it: a column that a view has not goes by no name.
fn named(mut table: ScopeTable, names: Option<&ViewNames>) -> ScopeTable {
    let Some(names) = names else { return table };
    (table.schema, table.name, table.stored) = (names.schema.clone(), names.name.clone(), None);
    for (column, name) in table.columns.iter_mut().zip(&names.columns) {
        column.hidden = name.is_none();
        column.name = name.clone().unwrap_or_else(|| NO_NAME.into());
    }
    table.row_id = None;
    table
}

impl InsertTarget {
    fn find(context: &PlanContext<'_>, insert: &ast::Insert) -> SqlResult<InsertTarget> {
        let schema = insert.table.schema.as_deref().or(context.schema);
        let view = schema.and_then(|schema| {
            let is_table = context.names.find(schema, &insert.table.table).is_some();
            if is_table { None } else { context.names.view(schema, &insert.table.table) }
        });
        match view {
            Some(view) => InsertTarget::of_view(context, &view, insert),
            None => {
                let table = target_table(context, &insert.table)?;
                let targets = targets(&table, &insert.columns)?;
                Ok(InsertTarget { table, names: None, targets, visible: Vec::new() })
            }
        }
    }

    fn of_view(context: &PlanContext<'_>, view: &View, insert: &ast::Insert) -> SqlResult<InsertTarget> {
        let definition = &view.definition;
        let fixed = || SqlError::not_insertable_table(&insert.table.table);
        if !definition.updatable {
            return Err(fixed());
        }
        let flat = through::flat(context, view, "INSERT")?;
        let several = flat.is_none();
        if several && insert.columns.is_empty() {
            return Err(SqlError::view_join_without_columns(&definition.schema, &definition.name));
        }
        if several && insert.replace {
            return Err(SqlError::view_join_not_deletable(&definition.schema, &definition.name));
        }
        let visible = match &flat {
            Some(flat) if insert.replace => through::visible(flat, view)?,
            _ => Vec::new(),
        };
        let (table, places, checks) = match flat {
            Some(flat) => (flat.table.clone(), flat.stored(), flat.checked),
            None => through::one_of_several(context, view, &insert.columns)?,
        };
        let given = given(&places, &insert.columns)?;
        let targets = targets_through(&places, &given, insert.columns.is_empty().then(fixed))?;
        let mut columns: Vec<Option<Box<str>>> = vec![None; table.columns().len()];
        for (name, column) in &places {
            // Each of its columns is one of the table's, and no two the same.
            match column {
                None if several => {}
                Some(at) if columns[*at].is_none() => columns[*at] = Some(name.clone()),
                _ => return Err(fixed()),
            }
        }
        let updates = if insert.on_duplicate.is_empty() { P::NONE } else { P::UPDATE.with(P::SELECT) };
        let stored = (0..places.len()).filter(|at| places[*at].1.is_some());
        let noted = if updates == P::NONE { given } else { stored.collect() };
        for at in noted {
            through::follow(context, view, at, ("INSERT", P::INSERT.with(updates)))?;
        }
        if insert.replace {
            through::note_rows(context, view, P::DELETE)?;
        }
        let table = through::checked(table, &checks, view)?;
        let (schema, name) = (definition.schema.clone(), definition.name.clone());
        Ok(InsertTarget { table, names: Some(ViewNames { schema, name, columns }), targets, visible })
    }
}

/// Which of a view's columns are given, by position.
fn given(places: &Places, names: &[ast::Name]) -> SqlResult<Vec<usize>> {
    if names.is_empty() {
        return Ok((0..places.len()).collect());
    }
    let place = |name: &ast::Name| {
        let found = places.iter().position(|(known, _)| known.eq_ignore_ascii_case(name));
        found.ok_or_else(|| SqlError::unknown_column(name, "field list"))
    };
    names.iter().map(place).collect()
}

/// The table's columns for these. `all`: the error where all are given and two of them are the same.
fn targets_through(places: &Places, given: &[usize], all: Option<SqlError>) -> SqlResult<Vec<usize>> {
    let mut targets = Vec::with_capacity(given.len());
    for at in given {
        let (name, column) = &places[*at];
        let column = column.ok_or_else(|| SqlError::column_not_updatable(name))?;
        if targets.contains(&column) {
            return Err(all.unwrap_or_else(|| SqlError::field_specified_twice(name)));
        }
        targets.push(column);
    }
    Ok(targets)
}

/// Fails unless there are as many values as columns, and each of these may be given one.
fn check_values(count: usize, targets: &[usize], table: &Table) -> SqlResult<()> {
    if count != targets.len() {
        return Err(SqlError::wrong_value_count_on_row(1));
    }
    targets.iter().try_for_each(|column| table.check_takes_value(*column))
}

/// The new row by the names that `AS alias (a, b)` gives it: as many as columns are given values, each once.
fn aliased_row(
    table: &Arc<Table>,
    alias: &ast::RowAlias,
    base: usize,
    (targets, names): (&[usize], Option<&ViewNames>),
) -> SqlResult<ScopeTable> {
    if !alias.columns.is_empty() && alias.columns.len() != targets.len() {
        return Err(SqlError::view_columns_mismatch());
    }
    let mut given = HashMap::with_capacity(alias.columns.len());
    if let Some(first) = alias.columns.iter().find_map(|name| given.insert(name.to_lowercase(), name)) {
        return Err(SqlError::duplicate_column(first));
    }
    let mut row = named(ScopeTable::of(table, &alias.table, base), names);
    row.own_names = row.columns.iter().map(|column| column.name.clone()).collect();
    for (column, name) in targets.iter().zip(&alias.columns) {
        row.columns[*column].name = name.clone();
    }
    Ok(row)
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
