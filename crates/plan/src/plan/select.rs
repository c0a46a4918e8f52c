//! SELECT: from syntax to [`SelectPlan`].
//!
//! Order of work: tables into the scope; conditions bound and steps made; GROUP BY; select list; HAVING;
//! ORDER BY; then one pass over everything bound tells which columns each table must deliver, and with that
//! whether an index covers them and whether it can deliver the order.

mod item;
mod view;

use turnstile_engine::{LockWait, RowLock};
use turnstile_expr::expr::{Expr, Hold, ParameterKind};
use turnstile_syntax::ast::{self, Limit, LockStrength, LockingClause, OrderItem};
use turnstile_syntax::walk;
use turnstile_values::collation::Collation;
use turnstile_values::error::{SqlError, SqlResult};

use super::block::{Block, PlanContext};
use super::from::joined_by::JoinedBy;
use super::inner::exists;
use super::point::PointShape;
use super::pushed::whole::Wanted;
use super::query::{Filter, GroupPlan, JoinStep, LimitPlan, SelectPlan};
use super::scope::{AggregateUse, Outside};
use super::steps::{Condition, Locking, Planned, StepPlanner, join_queries};
use super::trace;
use super::windows::WindowPlan;
use super::{
    alternatives, distinct, finish, from, grouping, hints, last_row, names, pushed, rollup, windows,
};

pub use item::Item;
pub(super) use item::expand;
use item::{bind_items, keep_digits, meta};
pub use view::{View, view};

/// What of a query surrounds its SELECT block.
#[derive(Clone, Copy)]
pub struct Around<'q> {
    /// ORDER BY
    pub order_by: &'q [OrderItem],
    /// LIMIT
    pub limit: Option<&'q Limit>,
    /// FOR UPDATE and the like
    pub locking: &'q [LockingClause],
}

/// Plans a SELECT block.
pub fn plan(
    context: &PlanContext<'_>,
    select: &ast::Select,
    around: Around<'_>,
    parent: Option<Outside<'_>>,
) -> SqlResult<SelectPlan> {
    let Some(trace) = context.trace else { return plan_block(context, select, around, parent) };
    trace.begin();
    let planned = plan_block(context, select, around, parent);
    trace.end();
    planned
}

fn plan_block(
    context: &PlanContext<'_>,
    select: &ast::Select,
    around: Around<'_>,
    parent: Option<Outside<'_>>,
) -> SqlResult<SelectPlan> {
    windows::check_count(select, around.order_by)?;
    let asked = pushed::inside(context, select);
    let mut block = begun(context, select, asked.condition.as_deref(), parent);
    let mut joined = from::read(&mut block, &asked.from)?;
    let given = std::mem::take(&mut joined.order);
    let items = expand(&block, &select.items)?;
    names::note_aliases(&block, &items);
    let asked = (asked.condition.as_deref(), around.locking);
    let Front { preconditions, steps, keys, rows } = front(&mut block, select, asked, joined, &items)?;
    block.scope.aggregates.set(AggregateUse::Allowed);
    let mut bound = bind_items(&mut block, &items)?;
    windows::check_named(&mut block)?;
    keep_digits(&block, select, around, !keys.is_empty(), &mut bound);
    let condition = names::having(&block, select, &items)?;
    let having = condition.iter().map(|one| block.filter(one, "having clause")).collect::<SqlResult<_>>()?;
    let (order_by, mut order) = names::order_keys(&mut block, around.order_by, &items, &mut bound)?;
    if select.distinct && context.full_group_by {
        distinct::check(&block, &order_by, &items)?;
    }
    order.extend(rollup::order(&block.rollup, &keys));
    let grouped = !keys.is_empty() || !block.aggregates.is_empty();
    let windows = block.windows.take_planned();
    let in_order = !grouped && windows.is_empty() && takes_order(context, select, around);
    order.extend(given.into_iter().filter(|_| in_order));
    let clauses = grouping::Clauses { items: &items, having: condition.as_ref(), order_by: &order_by };
    if grouped && context.full_group_by {
        grouping::check(&block, select, &clauses, !keys.is_empty())?;
    }
    let dependences = dependences(&block, select, &items);
    let group = grouped.then(|| group_plan(&mut block, keys));
    let columns = items.iter().zip(&bound).map(|(item, typed)| meta(&block.scope, item, typed)).collect();
    exists::take_as_lists(&mut block, rows);
    let results = bound.iter().map(|item| &item.expr).chain(order.iter().map(|key| &key.expr));
    let results = results.chain(windows.iter().flat_map(WindowPlan::exprs));
    let item_subqueries = block.subqueries_for(results.flat_map(Expr::columns).collect());
    let limit = limit_plan(&mut block, around.limit)?;
    let mut plan = SelectPlan {
        width: 0,
        dependences,
        steps,
        preconditions,
        extremes: Vec::new(),
        subqueries: std::mem::take(&mut block.subqueries),
        group,
        windows,
        having,
        items: bound,
        item_subqueries,
        columns,
        distinct: select.distinct,
        order,
        in_order: false,
        limit,
        calc_found_rows: select.calc_found_rows,
        outer: block.scope.outer_places(),
        rows,
        light: false,
        point: None,
    };
    plan.rows = rows_given(&plan, context);
    complete(&block, &mut plan);
    Ok(plan)
}

/// Completes a plan, and notes what makes it fit for shorter ways.
fn complete(block: &Block<'_, '_>, plan: &mut SelectPlan) {
    finish::extremes::read_ends(block, plan);
    finish::finish(plan, block.context);
    plan.width = block.scope.width();
    plan.light = plan.takes_rows_lightly();
    plan.point = PointShape::of_select(plan);
}

/// What determines what among a block's columns. The statement itself is at depth 1; nobody groups its
/// result.
fn dependences(block: &Block<'_, '_>, select: &ast::Select, items: &[Item]) -> Vec<grouping::Dependence> {
    let inner = block.context.depth > 1 && block.context.full_group_by;
    if inner { grouping::dependences(block, select, items) } else { Vec::new() }
}

/// Whether rows that pass come in the order of the view that they are read from: where somebody sees it.
fn takes_order(context: &PlanContext<'_>, select: &ast::Select, around: Around<'_>) -> bool {
    let is_seen = context.depth == 1 || around.limit.is_some();
    is_seen && !select.distinct && around.order_by.is_empty()
}

/// The block of a SELECT before anything is read.
fn begun<'a, 'p>(
    context: &'a PlanContext<'a>,
    select: &ast::Select,
    condition: Option<&ast::Expr>,
    parent: Option<Outside<'p>>,
) -> Block<'a, 'p>
where
    'a: 'p,
{
    let mut block = Block::new(context, parent);
    // What ROLLUP takes out of a row could stand in it under several names.
    block.merges_views = !select.with_rollup;
    block.merges_unasked = context.ways.merges_derived;
    block.merges = block.merges_views && !context.changes;
    block.hints = select.hints.clone();
    block.joined_by = JoinedBy::of(context, select);
    block.wanted = Wanted::of(select, condition);
    block.windows.named = select.windows.clone();
    block.takes_windows = true;
    block
}

/// Everything before the select list.
struct Front {
    preconditions: Vec<Filter>,
    steps: Vec<JoinStep>,
    /// GROUP BY
    keys: Vec<(Expr, Collation)>,
    /// Rows that come out of the last step, about.
    rows: f64,
}

fn front(
    block: &mut Block<'_, '_>,
    select: &ast::Select,
    asked: (Option<&ast::Expr>, &[LockingClause]),
    joined: from::Joined,
    items: &[Item],
) -> SqlResult<Front> {
    let first = rows_and_keys(block, select, asked, joined, items);
    items_told_first(block, items, first)
}

fn items_told_first<T>(block: &mut Block<'_, '_>, items: &[Item], first: SqlResult<T>) -> SqlResult<T> {
    if first.is_err() && !block.scope.is_awaited() {
        // What is wrong with the select list is told first.
        block.scope.aggregates.set(AggregateUse::Allowed);
        block.scope.sight.set(None);
        bind_items(block, items)?;
    }
    first
}

fn rows_and_keys(
    block: &mut Block<'_, '_>,
    select: &ast::Select,
    (asked, locking): (Option<&ast::Expr>, &[LockingClause]),
    joined: from::Joined,
    items: &[Item],
) -> SqlResult<Front> {
    trace::condition(block.context.trace, asked);
    let mut conditions = conditions(block, asked, joined.conditions)?;
    let locking = Locking::of(block, locks(block, locking)?);
    let straight = select.straight_join || joined.straight || hints::is_fixed(&select.hints);
    let tables = join_queries(block, joined.tables, &mut conditions)?;
    let planned = StepPlanner::new(block, locking, straight).plan(tables, conditions)?;
    let Planned { fixed: preconditions, steps, rows } = planned;
    Ok(Front { preconditions, steps, keys: names::group_keys(block, select, items)?, rows })
}

/// The conditions of inner joins and of WHERE.
fn conditions(
    block: &mut Block<'_, '_>,
    asked: Option<&ast::Expr>,
    joins: Vec<from::On>,
) -> SqlResult<Vec<Condition>> {
    let mut conditions = Vec::new();
    let mut list = Vec::new();
    if let Some(condition) = asked {
        walk::conjuncts(last_row::meant(block, condition)?, &mut list);
    }
    let list = alternatives::take_out(list);
    for one in joins {
        let bound = Condition::bind_on(block, one);
        if bound.is_err() && !block.scope.is_awaited() {
            // What is wrong with WHERE is told first.
            block.scope.sight.set(None);
            for one in &list {
                Condition::bind(block, one, "where clause")?;
            }
        }
        conditions.push(bound?);
    }
    for one in &list {
        conditions.push(Condition::bind(block, one, "where clause")?);
    }
    Ok(conditions)
}

/// Groups for each row that goes into them.
const GROUPED: f64 = 0.3;

/// About how many rows a block gives, by how many its steps make.
fn rows_given(plan: &SelectPlan, context: &PlanContext<'_>) -> f64 {
    let grouped = match &plan.group {
        Some(group) if group.implicit => 1.0,
        Some(_) => (plan.rows * GROUPED).max(1.0),
        None => plan.rows,
    };
    grouped.min(plan.limit.rows(context.eval))
}

/// What is done with rows of one group.
fn group_plan(block: &mut Block<'_, '_>, keys: Vec<(Expr, Collation)>) -> GroupPlan {
    let aggregates = std::mem::take(&mut block.aggregates);
    let mut read: Vec<usize> = keys.iter().flat_map(|(expr, _)| expr.columns()).collect();
    for aggregate in &aggregates {
        read.extend(aggregate.arguments.iter().flat_map(|argument| argument.expr.columns()));
        read.extend(aggregate.order.iter().flat_map(|key| key.expr.columns()));
    }
    let subqueries = block.subqueries_for(read);
    let rollup = rollup::plan(std::mem::take(&mut block.rollup));
    let (implicit, together) = (keys.is_empty(), false);
    GroupPlan { implicit, keys, aggregates, subqueries, rollup, together }
}

/// Which tables FOR UPDATE and FOR SHARE lock, by position in the scope.
fn locks(block: &Block<'_, '_>, clauses: &[LockingClause]) -> SqlResult<Vec<Option<(RowLock, LockWait)>>> {
    let default = block.context.lock_of_reads();
    let mut locks = vec![default; block.scope.tables.len()];
    for clause in clauses {
        let lock = match clause.strength {
            LockStrength::Share => RowLock::Shared,
            LockStrength::Update => RowLock::Exclusive,
        };
        let wait = match clause.wait {
            ast::LockWait::Wait => LockWait::Wait,
            ast::LockWait::NoWait => LockWait::NoWait,
            ast::LockWait::SkipLocked => LockWait::SkipLocked,
        };
        for wanted in &clause.tables {
            if !block.scope.tables.iter().any(|table| *table.alias == *wanted.table) {
                return Err(SqlError::unresolved_in_locking_clause(&wanted.table));
            }
        }
        for (slot, table) in locks.iter_mut().zip(&block.scope.tables) {
            if clause.tables.is_empty() || clause.tables.iter().any(|wanted| *wanted.table == *table.alias) {
                *slot = Some((lock, wait));
            }
        }
    }
    Ok(locks)
}

/// Plans LIMIT.
pub fn limit_plan(block: &mut Block<'_, '_>, limit: Option<&Limit>) -> SqlResult<LimitPlan> {
    let Some(limit) = limit else { return Ok(LimitPlan { count: None, offset: None }) };
    for one in std::iter::once(&limit.count).chain(&limit.offset) {
        if let (ast::Expr::Parameter(at), Some(derivation)) = (one, block.context.parameters.derivation()) {
            derivation.note(*at, Hold::Count, ParameterKind::Int);
        }
    }
    let count = block.bind(&limit.count, "limit clause")?.expr;
    let offset = limit.offset.as_ref().map(|offset| block.bind(offset, "limit clause")).transpose()?;
    Ok(LimitPlan { count: Some(count), offset: offset.map(|typed| typed.expr) })
}
