//! Conditions asked inside a query that is read as a whole: `SELECT * FROM (SELECT a, COUNT(*) FROM t GROUP
//! BY a) AS d WHERE d.a = 5` groups the rows of t with that a, rather than all of them.
//!
//! A condition goes inside if it compares one column with constants, and that column is nothing but a column
//! of a table there: one that is grouped by, where there are groups, and one that each window is partitioned
//! by, where there are windows. All rows of a group, or of a partition, are equal in it, so the condition
//! takes these as a whole. It is asked outside as well, which costs little and keeps what an
//! outer join makes of it.

use std::borrow::Cow;

use turnstile_syntax::ast::{
    ColumnName, Expr, IsTest, Name, Over, Query, QueryBody, Select, SelectItem, TableRef, WayAdvice,
};
use turnstile_syntax::walk;

use super::super::block::Block;
use super::super::scope::is_aggregated;
use super::super::varying;

/// WHERE of a block, for the tables that it reads as a whole.
#[derive(Default)]
pub struct Wanted {
    /// Its parts.
    list: Vec<Expr>,
    /// The block reads one table, so that every plain name is one of its columns.
    alone: bool,
}

impl Wanted {
    /// Of a block with this WHERE.
    pub fn of(select: &Select, condition: Option<&Expr>) -> Wanted {
        let mut list = Vec::new();
        condition.into_iter().for_each(|one| add_compared(one, &mut list));
        let alone = matches!(select.from.as_slice(), [TableRef::Table(_) | TableRef::Derived { .. }]);
        Wanted { list, alone }
    }
}

fn add_compared(condition: &Expr, into: &mut Vec<Expr>) {
    match condition {
        Expr::And(list) => list.iter().for_each(|one| add_compared(one, into)),
        one if compared(one).is_some() => into.push(one.clone()),
        _ => {}
    }
}

fn asks_inside(block: &Block<'_, '_>, alias: &str) -> bool {
    block.takes(WayAdvice::Pushdown, alias, block.context.ways.asks_inside)
}

/// A query with what the block asks of its rows. `names`: other names of its columns.
pub fn narrowed<'q>(block: &Block<'_, '_>, query: &'q Query, alias: &str, names: &[Name]) -> Cow<'q, Query> {
    let wanted = &block.wanted;
    if block.reads_optional || wanted.list.is_empty() || !asks_inside(block, alias) {
        return Cow::Borrowed(query);
    }
    let QueryBody::Select(select) = &query.body else { return Cow::Borrowed(query) };
    if !takes_conditions(query, select) {
        return Cow::Borrowed(query);
    }
    let within = |one: &Expr| {
        let name = compared(one)?;
        let meant = match &name.table {
            Some(table) => **table == *alias && name.schema.is_none(),
            None => wanted.alone,
        };
        let inner = if meant { stored(query, select, names, &name.column)? } else { return None };
        let mut moved = one.clone();
        replace(&mut moved, inner);
        Some(moved)
    };
    let mut list: Vec<Expr> = wanted.list.iter().filter_map(within).collect();
    if list.is_empty() {
        return Cow::Borrowed(query);
    }
    let mut narrowed = (**select).clone();
    if let Some(own) = narrowed.condition.take() {
        walk::conjuncts(own, &mut list);
    }
    narrowed.condition = if list.len() == 1 { list.pop() } else { Some(Expr::And(list)) };
    Cow::Owned(Query { body: QueryBody::Select(Box::new(narrowed)), ..query.clone() })
}

/// The column that a condition compares with constants, if it does nothing else.
fn compared(condition: &Expr) -> Option<&ColumnName> {
    match condition {
        Expr::Binary { op, left, right } if op.is_comparison() && is_constant(right) => named(left),
        Expr::Binary { op, left, right } if op.is_comparison() && is_constant(left) => named(right),
        Expr::InList { operand, list, .. } if list.iter().all(is_constant) => named(operand),
        Expr::Between { operand, low, high, .. } if is_constant(low) && is_constant(high) => named(operand),
        Expr::Is { operand, test: IsTest::Null, .. } => named(operand),
        _ => None,
    }
}

fn named(expr: &Expr) -> Option<&ColumnName> {
    if let Expr::Column(name) = expr { Some(name) } else { None }
}

fn is_constant(expr: &Expr) -> bool {
    match expr {
        Expr::Literal(_) | Expr::Parameter(_) => true,
        Expr::Unary { operand, .. } => matches!(**operand, Expr::Literal(_)),
        _ => false,
    }
}

fn replace(condition: &mut Expr, name: &ColumnName) {
    if let Expr::Column(own) = condition {
        *own = name.clone();
        return;
    }
    let renamed: Result<(), ()> = walk::children_mut(condition, &mut |child| {
        replace(child, name);
        Ok(())
    });
    debug_assert!(renamed.is_ok(), "nothing fails here");
}

/// Whether fewer rows in its tables mean nothing but fewer rows of a query's result.
fn takes_conditions(query: &Query, select: &Select) -> bool {
    let told = |item: &SelectItem| match item {
        SelectItem::Expr { expr, .. } => walk::any(expr, &|one| matches!(one, Expr::UserVariable(_))),
        SelectItem::Wildcard { .. } => true,
    };
    let aggregated = |item: &SelectItem| matches!(item, SelectItem::Expr { expr, .. } if is_aggregated(expr));
    let grouped = !select.group_by.is_empty();
    query.limit.is_none()
        && query.locking.is_empty()
        && query.into.is_empty()
        && !select.calc_found_rows
        && !select.with_rollup
        && select.windows.is_empty()
        && !select.from.is_empty()
        && !select.items.iter().any(told)
        && (grouped || select.having.is_none() && !select.items.iter().any(aggregated))
        && !varying::query_varies(query)
}

/// Whether each window of a query is partitioned by a key that passes a test.
fn windows_by(query: &Query, select: &Select, is_key: &dyn Fn(&Expr) -> bool) -> bool {
    let by_key = |over: &Over| match over {
        Over::Window(window) => window.base.is_none() && window.partition.iter().any(is_key),
        Over::Named(_) => false,
    };
    let other = |expr: &Expr| {
        walk::any(expr, &|one| match one {
            Expr::Function(call) => call.over.as_deref().is_some_and(|over| !by_key(over)),
            _ => false,
        })
    };
    let items = select.items.iter().filter_map(|item| match item {
        SelectItem::Expr { expr, .. } => Some(expr),
        SelectItem::Wildcard { .. } => None,
    });
    !items.chain(query.order_by.iter().map(|item| &item.expr)).any(other)
}

/// The column of a table that a column of the query is, if conditions on it take whole groups and partitions.
fn stored<'s>(query: &Query, select: &'s Select, names: &[Name], wanted: &str) -> Option<&'s ColumnName> {
    let mut found = None;
    for (nth, item) in select.items.iter().enumerate() {
        let SelectItem::Expr { expr, name, .. } = item else { return None };
        if names.get(nth).unwrap_or(name).eq_ignore_ascii_case(wanted) {
            let Expr::Column(column) = expr else { return None };
            found = Some(column);
        }
    }
    let column = found?;
    let is_key = |key: &Expr| match key {
        Expr::Column(key) => {
            key.column.eq_ignore_ascii_case(&column.column) && same_table(select, key, column)
        }
        _ => false,
    };
    let groups = select.group_by.is_empty() || select.group_by.iter().any(|key| is_key(&key.expr));
    (groups && windows_by(query, select, &is_key)).then_some(column)
}

/// Whether two names are of one table, whichever way each is written.
fn same_table(select: &Select, one: &ColumnName, other: &ColumnName) -> bool {
    let single = matches!(select.from.as_slice(), [TableRef::Table(_)]);
    one.table == other.table || single && (one.table.is_none() || other.table.is_none())
}
