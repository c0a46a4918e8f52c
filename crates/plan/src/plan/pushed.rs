//! Conditions on columns of a derived table, asked inside it: `SELECT * FROM (SELECT a, b FROM t) AS d WHERE
//! d.a = 5` reads the rows of t with that a, rather than all of them.
//!
//! A condition goes inside if every column it reads is one of the derived table's that is nothing but a
//! column of a table there, where the query inside keeps each row that passes as it is: no groups, no LIMIT.
//! It stands on the side of outer joins that is kept, so that a row without it has no place in the result.

pub mod whole;

use std::borrow::Cow;

use turnstile_syntax::ast::{
    ColumnName, Expr, JoinKind, Query, QueryBody, Select, SelectItem, TableName, TableRef, WayAdvice,
};
use turnstile_syntax::walk;

use super::block::PlanContext;
use super::from::is_plain_view;
use super::hints::way;
use super::varying;

/// FROM and WHERE of a block.
pub struct Asked<'s> {
    /// FROM
    pub from: Cow<'s, [TableRef]>,
    /// WHERE
    pub condition: Option<Cow<'s, Expr>>,
}

/// FROM and WHERE with conditions put inside.
pub fn inside<'s>(context: &PlanContext<'_>, select: &'s Select) -> Asked<'s> {
    match put_all(context, select) {
        Some((from, condition)) => Asked { from: from.into(), condition: condition.map(Cow::Owned) },
        None => {
            Asked { from: (&select.from).into(), condition: select.condition.as_ref().map(Cow::Borrowed) }
        }
    }
}

fn put_all(context: &PlanContext<'_>, select: &Select) -> Option<(Vec<TableRef>, Option<Expr>)> {
    let asks =
        |alias: &str| way(&select.hints, WayAdvice::Pushdown, alias).unwrap_or(context.ways.asks_inside);
    let condition = select.condition.as_ref()?;
    if !select.from.iter().any(has_derived) {
        return None;
    }
    let mut list = Vec::new();
    walk::conjuncts(condition.clone(), &mut list);
    let alone = matches!(select.from.as_slice(), [TableRef::Derived { .. }]);
    let mut from = select.from.clone();
    let before = list.len();
    list.retain(|one| !from.iter_mut().any(|table| put((context, &asks), table, one, alone)));
    if list.len() == before {
        return None;
    }
    let rest = match list.len() {
        0 => None,
        1 => list.pop(),
        _ => Some(Expr::And(list)),
    };
    Some((from, rest))
}

/// Whether a part of FROM has a derived table.
pub fn has_derived(table: &TableRef) -> bool {
    match table {
        TableRef::Table(_) => false,
        TableRef::Derived { json_table, .. } => json_table.is_none(),
        TableRef::Join(join) => has_derived(&join.left) || has_derived(&join.right),
    }
}

/// Puts a condition into the derived table that it is about; false if it has none here.
fn put(
    (context, asks): (&PlanContext<'_>, &dyn Fn(&str) -> bool),
    table: &mut TableRef,
    condition: &Expr,
    alone: bool,
) -> bool {
    match table {
        TableRef::Table(_) => false,
        TableRef::Derived { query, alias, columns, json_table: None, .. }
            if columns.is_empty() && asks(alias) =>
        {
            let Some(within) = translated(context, condition, query, (alias, alone)) else { return false };
            let QueryBody::Select(inner) = &mut query.body else { return false };
            inner.condition = Some(match inner.condition.take() {
                Some(Expr::And(mut list)) => {
                    list.push(within);
                    Expr::And(list)
                }
                Some(other) => Expr::And(vec![other, within]),
                None => within,
            });
            true
        }
        TableRef::Derived { .. } => false,
        TableRef::Join(join) => {
            let (left, right) = match join.kind {
                JoinKind::Inner | JoinKind::Straight => (true, true),
                JoinKind::Left => (true, false),
                JoinKind::Right => (false, true),
            };
            left && put((context, asks), &mut join.left, condition, false)
                || right && put((context, asks), &mut join.right, condition, false)
        }
    }
}

/// The condition in the words of the query inside.
fn translated(
    context: &PlanContext<'_>,
    condition: &Expr,
    query: &Query,
    (alias, alone): (&str, bool),
) -> Option<Expr> {
    let QueryBody::Select(inner) = &query.body else { return None };
    if !passes_rows(query) || has_query_or_effect(condition) {
        return None;
    }
    let mut found = false;
    let mut moved = condition.clone();
    rename(&mut moved, &mut |name| {
        let here = name.schema.is_none() && name.table.as_deref().map_or(alone, |table| *table == *alias);
        let column = if here { column_of(context, inner, &name.column) } else { None };
        found |= column.is_some();
        column.ok_or(())
    })
    .ok()?;
    found.then_some(moved)
}

/// Whether each row of a query is a row of its tables, whoever reads it.
pub fn passes_rows(query: &Query) -> bool {
    let QueryBody::Select(select) = &query.body else { return false };
    let asks = |item: &SelectItem| matches!(item, SelectItem::Expr { expr, .. } if has_query_or_effect(expr));
    is_plain_view(query)
        && query.with.is_none()
        && query.locking.is_empty()
        && query.into.is_empty()
        && !select.calc_found_rows
        && !varying::query_varies(query)
        && !select.items.iter().any(asks)
}

fn has_query_or_effect(expr: &Expr) -> bool {
    let asks = |one: &Expr| one.is_query() || matches!(one, Expr::UserVariable(_) | Expr::Default(_));
    varying::varies(expr) || walk::any(expr, &asks)
}

fn rename(expr: &mut Expr, to: &mut dyn FnMut(&ColumnName) -> Result<ColumnName, ()>) -> Result<(), ()> {
    if let Expr::Column(name) = expr {
        *name = to(name)?;
        return Ok(());
    }
    walk::children_mut(expr, &mut |child| rename(child, to))
}

/// The column of a table that a column of a query is.
fn column_of(context: &PlanContext<'_>, select: &Select, name: &str) -> Option<ColumnName> {
    let mut found = None;
    for item in &select.items {
        let one = match item {
            SelectItem::Expr { expr, name: known, .. } if known.eq_ignore_ascii_case(name) => match expr {
                Expr::Column(column) => column.clone(),
                _ => return None,
            },
            SelectItem::Expr { .. } => continue,
            SelectItem::Wildcard { .. } => match select.from.as_slice() {
                // A name that the table has not is told of outside.
                [TableRef::Table(factor)]
                    if select.items.len() == 1 && shows(context, &factor.name, name) =>
                {
                    ColumnName {
                        schema: None,
                        table: Some(factor.alias.clone().unwrap_or_else(|| factor.name.table.clone())),
                        column: name.into(),
                    }
                }
                _ => return None,
            },
        };
        if found.replace(one).is_some() {
            return None;
        }
    }
    found
}

/// Whether `*` of a table shows a column of this name.
fn shows(context: &PlanContext<'_>, table: &TableName, column: &str) -> bool {
    if table.schema.is_none() && context.named(&table.table).is_some() {
        return false;
    }
    let Some(schema) = table.schema.as_deref().or(context.schema) else { return false };
    let Ok(found) = context.names.table(schema, &table.table) else { return false };
    found.column_position(column).is_some_and(|at| !found.columns()[at].invisible)
}
