//! Derived tables and queries of WITH that pass the rows of their tables on as they are: their tables join
//! those of the block around, and their conditions its conditions, so that keys serve what both ask.
//!
//! ```text
//! SELECT .. FROM s JOIN (SELECT a AS x, b + 1 AS y FROM t WHERE b > 5) AS d ON d.x = s.x
//!     tuple | s.x | t.a t.b | d.x d.y |      d.x stands for t.a; d.y holds the value of t.b + 1
//!     joins   s,    t: t.b > 5 AND t.a = s.x
//! ```
//!
//! The block inside is bound as every block is, by names of its own, but its places lie in the tuple of the
//! block around (`Scope::is_spliced`). The derived table stays in the scope for names, types and what the
//! client is told; a name of its column means the place that this stands for.
//!
//! Its ORDER BY is that of the block around where this has one table and asks for no order, groups or
//! DISTINCT; else it means nothing.

use std::sync::Arc;

use turnstile_catalog::dictionary;
use turnstile_expr::expr::Expr;
use turnstile_syntax::ast::{self, Query, QueryBody, Select, SelectItem, TableFactor, TableRef};
use turnstile_syntax::walk;
use turnstile_values::error::SqlResult;

use super::super::block::{Block, PlanContext};
use super::super::inner::no_query;
use super::super::query::SubqueryKind;
use super::super::scope::{Outside, Reach, ScopeTable, TableId};
use super::super::select::{self, View};
use super::super::steps::Condition;
use super::super::trace;
use super::super::{pushed, with};
use super::joined_by::JoinedBy;
use super::{Joined, On, Pending, PendingKind, nameless};

/// Tables that one block joins, MySQL's limit.
const TABLES_MAX: usize = 61;

/// Queries around one that is merged. A nest that is deeper is planned query by query, which takes less of
/// the stack.
const DEPTH_MAX: u32 = 16;

/// What is to be merged.
pub struct Merging<'q> {
    /// The query.
    pub query: &'q Query,
    /// The name of its rows.
    pub alias: &'q str,
    /// Other names of its columns.
    pub names: &'q [ast::Name],
    /// Which names of the blocks around it sees.
    pub reach: Reach,
}

/// The block of a query that passes rows on: each of its rows is one of its tables' rows, as it is read.
pub fn block_of(query: &Query) -> Option<&Select> {
    let QueryBody::Select(select) = &query.body else { return None };
    let mut plain = true;
    select.from.iter().for_each(|table| each(table, &mut |one| plain &= !is_lateral(one)));
    plain &= !query.order_by.iter().any(|item| walk::any(&item.expr, &ast::Expr::is_query));
    (plain && pushed::passes_rows(query) && !select.straight_join).then_some(select)
}

fn is_lateral(table: &TableRef) -> bool {
    matches!(table, TableRef::Derived { lateral: true, .. } | TableRef::Derived { json_table: Some(_), .. })
}

/// Every table of a part of FROM.
pub fn each<'q>(table: &'q TableRef, visit: &mut dyn FnMut(&'q TableRef)) {
    match table {
        TableRef::Join(join) => {
            each(&join.left, visit);
            each(&join.right, visit);
        }
        one => visit(one),
    }
}

/// How many tables a query reads in FROM, those of the queries there too.
pub fn tables_of(context: &PlanContext<'_>, query: &Query) -> usize {
    let QueryBody::Select(select) = &query.body else { return 1 };
    let mut count = 0;
    let mut add = |table: &TableRef| {
        count += match table {
            // More are as good as these.
            _ if count > TABLES_MAX => 0,
            TableRef::Derived { query, json_table: None, .. } => tables_of(context, query),
            TableRef::Table(factor) => match common(context, factor) {
                Some(named) => named.tables,
                None => view_of(context, factor).and_then(|view| tables_of_view(context, &view)).unwrap_or(1),
            },
            _ => 1,
        };
    };
    select.from.iter().for_each(|table| each(table, &mut add));
    count
}

/// The query of WITH that a name in FROM means.
fn common<'a>(context: &PlanContext<'a>, factor: &TableFactor) -> Option<&'a with::Named> {
    if factor.name.schema.is_none() { context.named(&factor.name.table) } else { None }
}

/// The view that it means.
fn view_of(context: &PlanContext<'_>, factor: &TableFactor) -> Option<Arc<dictionary::View>> {
    context.names.view(factor.name.schema.as_deref().or(context.schema)?, &factor.name.table)
}

/// How many tables a view reads; None for one that lies too deep, or in itself.
fn tables_of_view(context: &PlanContext<'_>, view: &dictionary::View) -> Option<usize> {
    let counted = |context: &PlanContext<'_>, query: &Query| Ok(tables_of(context, query));
    super::view::within(context, view, counted).ok()
}

/// What is behind an outer join is NULL without a partner: that holds for columns of its tables, and for
/// nothing that is computed of them.
fn may_be_missing(context: &PlanContext<'_>, select: &Select) -> bool {
    let column = |item: &SelectItem| match item {
        SelectItem::Expr { expr, .. } => matches!(expr, ast::Expr::Column(_)),
        SelectItem::Wildcard { .. } => true,
    };
    let mut stored = true;
    let mut is_stored = |table: &TableRef| {
        let named =
            |factor: &TableFactor| common(context, factor).is_some() || view_of(context, factor).is_some();
        stored &= matches!(table, TableRef::Table(factor) if !named(factor));
    };
    select.from.iter().for_each(|table| each(table, &mut is_stored));
    let asks = |one: &ast::Expr| walk::any(one, &ast::Expr::is_query);
    // What a query gives must not lie between the tables, whose places are NULL where they are missing.
    let asks = select.condition.iter().any(asks) || select.from.iter().any(|table| joins_by(table, &asks));
    stored && !asks && select.items.iter().all(column)
}

/// Whether a condition of a join in a part of FROM is such.
fn joins_by(table: &TableRef, test: &dyn Fn(&ast::Expr) -> bool) -> bool {
    let TableRef::Join(join) = table else { return false };
    let own = matches!(&join.condition, ast::JoinCondition::On(condition) if test(condition));
    own || joins_by(&join.left, test) || joins_by(&join.right, test)
}

/// Merges a query into the block. None if it has to be read as a whole.
pub fn merge(
    block: &mut Block<'_, '_>,
    context: &PlanContext<'_>,
    wanted: &Merging<'_>,
) -> SqlResult<Option<Joined>> {
    let is_view = wanted.reach == Reach::Nothing;
    let merges = if is_view { block.merges_views } else { block.merges };
    let asked = || block.takes(ast::WayAdvice::Merge, wanted.alias, block.merges_unasked);
    let Some(select) = block_of(wanted.query).filter(|_| merges && asked()) else {
        return Ok(None);
    };
    let known = block.scope.tables.len() + block.scope.behind.len();
    let fits = known + tables_of(context, wanted.query) < TABLES_MAX;
    let deep = context.depth > DEPTH_MAX;
    let hashed = block.joined_by.has_computed(&select.items, wanted.names);
    if !fits || deep || hashed || block.reads_optional && !may_be_missing(context, select) {
        return Ok(None);
    }
    let clause = block.scope.clause.get();
    let bound = bind(block, context, wanted, select);
    block.scope.clause.set(clause);
    let Some((mut view, tables, mut subqueries)) = bound? else { return Ok(None) };
    let before = block.subqueries.len();
    view.conditions.iter_mut().for_each(|one| one.move_subqueries(before));
    view.tables.iter_mut().for_each(|one| move_subqueries(one, before));
    let first = block.scope.behind.len();
    block.scope.behind.extend(tables);
    block.subqueries.append(&mut subqueries);
    let mut columns = with::named_columns(&view.columns, None, wanted.names)?;
    for (column, (meta, item)) in columns.iter_mut().zip(view.columns.iter().zip(&view.items)) {
        column.flags = meta.flags;
        column.kind = meta.column_type.clone();
        if !matches!(item.expr, Expr::Column(_) | Expr::TimestampColumn(_)) {
            column.kind = super::super::block::settled(&column.kind);
        }
    }
    nameless(block, wanted.alias, columns, view.facts)?;
    let base = block.scope.tables.last().map_or(0, |table| table.base);
    let mut stands_for = Vec::with_capacity(view.items.len());
    let computed = view.items.iter().map(|item| is_little(&item.expr).then(|| item.clone())).collect();
    for (nth, item) in view.items.into_iter().enumerate() {
        stands_for.push(match item.expr {
            Expr::Column(place) | Expr::TimestampColumn(place) => place,
            computed => {
                block.push_subquery(base + nth, 1, SubqueryKind::Value(computed), no_query());
                base + nth
            }
        });
    }
    let shown = (base..base + stands_for.len()).collect();
    if let Some(table) = block.scope.tables.last_mut() {
        table.stands_for = stands_for;
        table.behind = (first, block.scope.behind.len());
        table.computed = computed;
        table.keeps_names = true;
    }
    let mut joined = Joined { tables: view.tables, columns: shown, ..Joined::default() };
    joined.tables.iter_mut().for_each(|one| move_behind(one, first));
    joined.conditions = view.conditions.into_iter().map(On::Bound).collect();
    joined.straight = view.straight;
    joined.order = view.order;
    trace::merged(block.context.trace, wanted.alias);
    Ok(Some(joined))
}

/// Parts of an expression that is worked out where its name stands, rather than once for a row. Names of
/// names of expressions grow no further.
const LITTLE: usize = 16;

/// Whether an expression is computed of columns, by little.
fn is_little(expr: &Expr) -> bool {
    let (mut parts, mut reads) = (0, false);
    expr.walk(&mut |one| {
        parts += 1;
        reads |= matches!(one, Expr::Column(_) | Expr::TimestampColumn(_));
    });
    reads && parts > 1 && parts <= LITTLE
}

/// What the block inside comes to: its view, its tables, its sub-queries.
type Bound = (View, Vec<ScopeTable>, Vec<super::super::query::Subquery>);

fn bind(
    block: &Block<'_, '_>,
    context: &PlanContext<'_>,
    wanted: &Merging<'_>,
    select: &Select,
) -> SqlResult<Option<Bound>> {
    let context = &PlanContext { depth: context.depth + 1, ..*context };
    let mut inner = Block::new(context, Some(Outside { scope: &block.scope, reach: wanted.reach }));
    inner.hints = select.hints.clone();
    inner.scope.is_spliced = true;
    (inner.merges, inner.merges_views) = (block.merges, block.merges_views);
    inner.merges_unasked = block.merges_unasked;
    inner.joined_by = JoinedBy::of(context, select).with(&block.joined_by, &select.items, wanted.names);
    let Some(mut view) = select::view(&mut inner, (select, &wanted.query.order_by), block.reads_optional)?
    else {
        return Ok(None);
    };
    let mut places = Vec::with_capacity(inner.scope.tables.len());
    let mut tables = std::mem::take(&mut inner.scope.behind);
    for table in std::mem::take(&mut inner.scope.tables) {
        places.push(tables.len());
        if table.stands_for.is_empty() {
            tables.push(table);
        }
    }
    view.tables.iter_mut().for_each(|one| unname(one, &places));
    Ok(Some((view, tables, std::mem::take(&mut inner.subqueries))))
}

/// Every table that waits.
fn each_waiting(pending: &mut Pending, visit: &mut dyn FnMut(&mut TableId)) {
    match &mut pending.kind {
        PendingKind::Table { nth, .. }
        | PendingKind::Derived { nth, .. }
        | PendingKind::Distinct { nth, .. }
        | PendingKind::Expanded { nth, .. }
        | PendingKind::Common { nth, .. }
        | PendingKind::Virtual { nth, .. } => visit(nth),
        PendingKind::Group { members, .. } => {
            members.iter_mut().for_each(|member| each_waiting(member, visit));
        }
    }
}

/// No name means the tables of the block inside any more.
fn unname(pending: &mut Pending, places: &[usize]) {
    each_waiting(pending, &mut |id| {
        if let TableId::Named(nth) = *id {
            *id = TableId::Behind(places[nth]);
        }
    });
}

/// They stand behind those that stood there before.
fn move_behind(pending: &mut Pending, first: usize) {
    each_waiting(pending, &mut |id| {
        if let TableId::Behind(nth) = id {
            *nth += first;
        }
    });
}

/// The same for the conditions of outer joins.
fn move_subqueries(pending: &mut Pending, before: usize) {
    let moved = |on: &mut On| {
        if let On::Bound(condition) = on {
            condition.move_subqueries(before);
        }
    };
    pending.on.iter_mut().for_each(moved);
    if let PendingKind::Group { members, conditions } = &mut pending.kind {
        conditions.iter_mut().for_each(moved);
        members.iter_mut().for_each(|member| move_subqueries(member, before));
    }
}

/// Binds the conditions of outer joins where their names are known.
pub fn bind_waiting(block: &mut Block<'_, '_>, pending: &mut Pending) -> SqlResult<()> {
    let bound = |block: &mut Block<'_, '_>, list: &mut Vec<On>| -> SqlResult<()> {
        let bound = std::mem::take(list).into_iter().map(|one| Condition::bind_on(block, one));
        *list = bound.map(|one| one.map(On::Bound)).collect::<SqlResult<_>>()?;
        Ok(())
    };
    if let PendingKind::Group { conditions, .. } = &mut pending.kind {
        bound(block, conditions)?;
    }
    bound(block, &mut pending.on)?;
    if let PendingKind::Group { members, .. } = &mut pending.kind {
        members.iter_mut().try_for_each(|member| bind_waiting(block, member))?;
    }
    Ok(())
}
