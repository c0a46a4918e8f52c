//! Changes through views.
//!
//! UPDATE and DELETE read a view as every query does: it is merged into the statement's block, and what is
//! assigned to one of its columns goes to the column of a table that this stands for. INSERT goes to a view
//! of one table, maybe through others: the new row has that table's columns under the view's names.
//!
//! WITH CHECK OPTION asks conditions of views of every new row ([`Flat::checked`]). They are in the words of
//! the table, and join its CHECK constraints for the time of the statement.

use std::sync::Arc;

use turnstile_catalog::accounts::Privileges;
use turnstile_catalog::dictionary::check::{self, BoundCheck, ViewCheck};
use turnstile_catalog::dictionary::{Table, View};
use turnstile_syntax::ast::{CheckOption, ColumnName, Expr, Name, Query, Select, SelectItem, TableRef};
use turnstile_syntax::walk;
use turnstile_values::error::{SqlError, SqlResult};

use super::super::block::PlanContext;
use super::super::from::merged;
use super::super::from::view::within;
use super::super::uses::Uses;

/// A view of one table, taken down to that table.
pub struct Flat {
    /// The table.
    pub table: Arc<Table>,
    /// The view's columns: name, and value in the words of the table.
    columns: Vec<(Name, Expr)>,
    /// Conditions of the view and all views under it.
    all: Vec<Expr>,
    /// Those of them that a new row must meet.
    pub checked: Vec<Expr>,
}

impl Flat {
    /// The table's column that each of the view's is; None for one that is computed.
    pub fn stored(&self) -> Places {
        let stored = |value: &Expr| match value {
            Expr::Column(name) => self.table.column_position(&name.column),
            _ => None,
        };
        self.columns.iter().map(|(name, value)| (name.clone(), stored(value))).collect()
    }
}

/// The block of a view through which rows are changed.
fn block<'q>(view: &View, query: &'q Query, operation: &str) -> SqlResult<&'q Select> {
    let fixed = || SqlError::non_updatable_table(&view.definition.name, operation);
    if !view.definition.updatable {
        return Err(fixed());
    }
    merged::block_of(query).ok_or_else(fixed)
}

/// What a name of a kept query means: database and table.
fn named(table: &TableRef) -> Option<(&str, &str, &str)> {
    let TableRef::Table(factor) = table else { return None };
    let known = factor.alias.as_ref().unwrap_or(&factor.name.table);
    Some((factor.name.schema.as_deref()?, &factor.name.table, known))
}

/// A view taken down to its one table; None if it reads several, or something else than tables.
pub fn flat(context: &PlanContext<'_>, view: &View, operation: &str) -> SqlResult<Option<Flat>> {
    within(context, view, |context, query| {
        let select = block(view, query, operation)?;
        let [table] = select.from.as_slice() else { return Ok(None) };
        let Some((schema, name, _)) = named(table) else { return Ok(None) };
        let inner = match context.names.find(schema, name) {
            Some(table) => {
                let (all, checked) = (Vec::new(), Vec::new());
                Flat { table, columns: Vec::new(), all, checked }
            }
            None => {
                let missing = || context.names.missing(schema, name);
                let view = context.names.view(schema, name).ok_or_else(missing)?;
                let Some(inner) = flat(context, &view, operation)? else { return Ok(None) };
                inner
            }
        };
        of_inner(view, select, inner).map(Some)
    })
}

/// A view over what its table comes to.
fn of_inner(view: &View, select: &Select, inner: Flat) -> SqlResult<Flat> {
    let is_base = inner.columns.is_empty();
    let written = |expr: &Expr| {
        let mut expr = expr.clone();
        substitute(&mut expr, &|name| {
            let plain = ColumnName { schema: None, table: None, column: name.column.clone() };
            if is_base {
                return Some(Expr::Column(plain));
            }
            let known = inner.columns.iter().find(|(known, _)| known.eq_ignore_ascii_case(&name.column));
            known.map(|(_, value)| value.clone())
        })?;
        Ok::<Expr, SqlError>(expr)
    };
    let mut columns = Vec::with_capacity(select.items.len());
    for (item, column) in select.items.iter().zip(&view.definition.columns) {
        if let SelectItem::Expr { expr, .. } = item {
            columns.push((column.name.clone(), written(expr)?));
        }
    }
    let own = select.condition.as_ref().map(written).transpose()?;
    let (mut all, mut checked) = (inner.all, inner.checked);
    match view.definition.check {
        None => {}
        Some(CheckOption::Local) => checked.extend(own.clone()),
        Some(CheckOption::Cascaded) => checked = all.iter().cloned().chain(own.clone()).collect(),
    }
    all.extend(own);
    Ok(Flat { table: inner.table, columns, all, checked })
}

fn substitute(expr: &mut Expr, value: &dyn Fn(&ColumnName) -> Option<Expr>) -> SqlResult<()> {
    if let Expr::Column(name) = expr {
        let missing = SqlError::unknown_column(&name.column, "field list");
        *expr = value(name).ok_or(missing)?;
        return Ok(());
    }
    walk::children_mut(expr, &mut |child| substitute(child, value))
}

/// A table whose rows must meet what views ask of new ones; `named`: the view of the statement.
pub fn checked(table: Arc<Table>, checks: &[Expr], named: &View) -> SqlResult<Arc<Table>> {
    if checks.is_empty() {
        return Ok(table);
    }
    if checks.iter().any(|one| walk::any(one, &Expr::is_query)) {
        return Err(SqlError::not_supported_yet("WITH CHECK OPTION of a view that asks queries"));
    }
    let view = ViewCheck { schema: named.definition.schema.clone(), name: named.definition.name.clone() };
    table.with_checks(checks, &view).map(Arc::new)
}

/// Fails for a view with a CHECK OPTION that could not be held: that of a view of several tables, or whose
/// conditions ask queries.
pub fn check_option_holds(context: &PlanContext<'_>, view: &View) -> SqlResult<()> {
    if view.definition.check.is_none() {
        return Ok(());
    }
    let flat = flat(context, view, "UPDATE")?.ok_or_else(check_of_several)?;
    checked(flat.table, &flat.checked, view).map(drop)
}

fn check_of_several() -> SqlError {
    SqlError::not_supported_yet("WITH CHECK OPTION of a view of several tables")
}

/// The conditions that rows of a view meet, over its table: all of them, option or not.
pub fn visible(flat: &Flat, view: &View) -> SqlResult<Vec<BoundCheck>> {
    if flat.all.iter().any(|one| walk::any(one, &Expr::is_query)) {
        return Err(SqlError::not_supported_yet("REPLACE through a view that asks queries"));
    }
    let named = ViewCheck { schema: view.definition.schema.clone(), name: view.definition.name.clone() };
    flat.all.iter().map(|one| check::bind_of_view(one, &flat.table.definition, &named)).collect()
}

/// Where a column of a view is stored.
pub struct Followed {
    /// What views on the way ask of new rows.
    pub checks: Vec<Expr>,
    /// Database and name of the table.
    table: (Name, Name),
    /// The table's column.
    column: Name,
    /// What the table, and the views on the way, go by: another table, or the same one once more, has others.
    path: Vec<Name>,
}

/// Follows a column of a view to the table that it is stored in, and notes that it is used so, for whose
/// rights each view goes by.
pub fn follow(
    context: &PlanContext<'_>,
    view: &View,
    at: usize,
    (operation, wanted): (&str, Privileges),
) -> SqlResult<Followed> {
    let own = flat(context, view, operation)?.map(|flat| flat.checked);
    // It was made over one table, and what it reads has since become a view of several.
    if own.is_none() && view.definition.check.is_some() {
        return Err(check_of_several());
    }
    let column = view.definition.columns.get(at).map_or("", |column| &column.name);
    let fixed = || SqlError::column_not_updatable(column);
    let mut followed = within(context, view, |context, query| {
        let select = block(view, query, operation)?;
        let Some(SelectItem::Expr { expr: Expr::Column(name), .. }) = select.items.get(at) else {
            return Err(fixed());
        };
        let mut found = None;
        let mut look = |table| {
            let meant = |(_, _, known): &(&str, &str, &str)| name.table.as_deref() == Some(known);
            found = found.or(named(table).filter(meant));
        };
        select.from.iter().for_each(|table| merged::each(table, &mut look));
        let (schema, table, known) = found.ok_or_else(fixed)?;
        context.uses.note((schema, table), &name.column, wanted, false);
        let Some(inner) = context.names.view(schema, table) else {
            let (column, path) = (name.column.clone(), vec![known.into()]);
            return Ok(Followed { checks: Vec::new(), table: (schema.into(), table.into()), column, path });
        };
        let same = |one: &turnstile_catalog::dictionary::Column| one.name.eq_ignore_ascii_case(&name.column);
        let at = inner.definition.columns.iter().position(same).ok_or_else(fixed)?;
        let mut followed = follow(context, &inner, at, (operation, wanted))?;
        followed.path.push(known.into());
        Ok(followed)
    })?;
    if let Some(checked) = own {
        followed.checks = checked;
    }
    Ok(followed)
}

/// A view's columns, each with the column of the table that it is; None where it is none of that table's.
pub type Places = Vec<(Name, Option<usize>)>;

/// Of a view of several tables that one which columns of these names are stored in. Error 1393 if they are in
/// several, 1471 if one of the view's columns is computed.
pub fn one_of_several(
    context: &PlanContext<'_>,
    view: &View,
    given: &[Name],
) -> SqlResult<(Arc<Table>, Places, Vec<Expr>)> {
    let definition = &view.definition;
    let columns = definition.columns.iter().enumerate();
    // What is used of it is noted when it is known.
    let uses = Uses::default();
    let unnoted = PlanContext { uses: &uses, ..*context };
    let follow_one = |(at, _)| follow(&unnoted, view, at, ("INSERT", Privileges::INSERT));
    let fixed = |_| SqlError::not_insertable_table(&definition.name);
    let all = columns.map(follow_one).collect::<SqlResult<Vec<_>>>().map_err(fixed)?;
    let names = || definition.columns.iter().map(|column| &column.name).zip(&all);
    let is_given = |name: &Name| given.iter().any(|one| one.eq_ignore_ascii_case(name));
    let mut wanted = names().filter(|(name, _)| is_given(name)).map(|(_, followed)| followed);
    let unknown = || SqlError::unknown_column(given.first().map_or("", |name| name), "field list");
    let first = wanted.next().ok_or_else(unknown)?;
    if wanted.any(|other| other.path != first.path) {
        return Err(SqlError::view_of_several_tables(&definition.schema, &definition.name));
    }
    let table = context.names.of_everybody().table(&first.table.0, &first.table.1)?;
    let place = |(name, followed): (&Name, &Followed)| {
        let own = followed.path == first.path;
        (name.clone(), own.then(|| table.column_position(&followed.column)).flatten())
    };
    let places = names().map(place).collect();
    Ok((table, places, first.checks.clone()))
}

/// Notes that rows of the one table of a view are used so, for whose rights each view goes by.
pub fn note_rows(context: &PlanContext<'_>, view: &View, wanted: Privileges) -> SqlResult<()> {
    within(context, view, |context, query| {
        let select = block(view, query, "DELETE")?;
        if let [table] = select.from.as_slice()
            && let Some((schema, table, _)) = named(table)
        {
            context.uses.note_table((schema, table), wanted);
            if let Some(inner) = context.names.view(schema, table) {
                note_rows(context, &inner, wanted)?;
            }
        }
        Ok(())
    })
}
