//! SELECT: from syntax to [`SelectPlan`].
//!
//! Order of work: tables into the scope; conditions bound and steps made; GROUP BY; select list; HAVING; ORDER BY; then
//! one pass over everything bound tells which columns each table must deliver, and with that whether an index covers them
//! and whether it can deliver the order.

use turnstile_engine::{LockWait, RowLock};

use crate::ast::{self, ColumnName, Limit, LockStrength, LockingClause, OrderItem, SelectItem};
use crate::collation::Collation;
use crate::error::{SqlError, SqlResult};
use crate::expr::{Expr, Typed};
use crate::sink::ColumnMeta;
use crate::types::{ExprType, column_flag};

use super::block::{Block, PlanContext};
use super::point::PointShape;
use super::query::{Filter, GroupPlan, LimitPlan, OrderKey, SelectPlan};
use super::scope::Scope;
use super::steps::{Condition, StepPlanner};
use super::{finish, from, grouping, walk};

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

/// An entry of the select list after `*` is expanded.
pub struct Item {
    /// As written.
    pub expr: ast::Expr,
    /// Its name in the result.
    pub name: Box<str>,
    /// The name is an alias.
    pub aliased: bool,
}

/// Plans a SELECT block.
pub fn plan(
    context: &PlanContext<'_>,
    select: &ast::Select,
    around: Around<'_>,
    parent: Option<&Scope<'_>>,
) -> SqlResult<SelectPlan> {
    if select.with_rollup {
        return Err(SqlError::not_supported_yet("WITH ROLLUP"));
    }
    let mut block = Block::new(context, parent);
    let joined = from::read(&mut block, &select.from)?;
    let items = expand(&block, &select.items)?;
    let mut conditions = Vec::new();
    for one in &joined.conditions {
        conditions.push(Condition::bind(&mut block, one, "on clause")?);
    }
    let mut list = Vec::new();
    select.condition.iter().for_each(|one| walk::conjuncts(one.clone(), &mut list));
    for one in &list {
        conditions.push(Condition::bind(&mut block, one, "where clause")?);
    }
    let locking = locks(&block, around.locking)?;
    let straight = select.straight_join || joined.straight;
    let (preconditions, steps) =
        StepPlanner::new(&mut block, locking, straight).plan(joined.tables, conditions)?;

    let keys = group_keys(&mut block, select, &items)?;
    block.aggregates_allowed = true;
    let bound =
        items.iter().map(|item| block.bind(&item.expr, "field list")).collect::<SqlResult<Vec<_>>>()?;
    let having = having(&mut block, select, &items)?;
    let order = order_keys(&mut block, around.order_by, &items)?;
    let grouped = !keys.is_empty() || !block.aggregates.is_empty();
    if grouped && context.full_group_by {
        grouping::check(&block, select, &items, around.order_by, !keys.is_empty())?;
    }
    let group = grouped.then(|| GroupPlan {
        implicit: keys.is_empty(),
        keys,
        aggregates: std::mem::take(&mut block.aggregates),
        first_row_only: false,
    });
    let columns = items.iter().zip(&bound).map(|(item, typed)| meta(&block.scope, item, typed)).collect();
    let mut item_subqueries: Vec<usize> =
        bound.iter().flat_map(|item| block.subqueries_of(&item.expr)).collect();
    item_subqueries.extend(order.iter().flat_map(|key| block.subqueries_of(&key.expr)));
    item_subqueries.sort_unstable();
    item_subqueries.dedup();
    let limit = limit_plan(&mut block, around.limit)?;
    let mut plan = SelectPlan {
        width: 0,
        steps,
        preconditions,
        subqueries: std::mem::take(&mut block.subqueries),
        group,
        having,
        items: bound,
        item_subqueries,
        columns,
        distinct: select.distinct,
        order,
        limit,
        calc_found_rows: select.calc_found_rows,
        outer: block.scope.outer_places(),
        point: None,
    };
    finish::finish(&mut plan);
    plan.width = block.scope.width();
    plan.point = PointShape::of_select(&plan);
    Ok(plan)
}

fn having(block: &mut Block<'_, '_>, select: &ast::Select, items: &[Item]) -> SqlResult<Vec<Filter>> {
    let Some(condition) = &select.having else { return Ok(Vec::new()) };
    let condition = having_condition(block, condition, select, items);
    Ok(vec![block.filter(&condition, "having clause")?])
}

/// The select list with `*` written out.
fn expand(block: &Block<'_, '_>, items: &[SelectItem]) -> SqlResult<Vec<Item>> {
    let mut all = Vec::new();
    for item in items {
        match item {
            SelectItem::Expr { expr, name, aliased } => {
                all.push(Item { expr: expr.clone(), name: name.clone(), aliased: *aliased });
            }
            SelectItem::Wildcard { schema, table } => {
                for (nth, at) in block.scope.wildcard(schema.as_deref(), table.as_deref())? {
                    let table = &block.scope.tables[nth];
                    let name = table.columns[at].name.clone();
                    let column = ColumnName {
                        schema: (!table.schema.is_empty()).then(|| table.schema.clone()),
                        table: Some(table.alias.clone()),
                        column: name.clone(),
                    };
                    all.push(Item { expr: ast::Expr::Column(column), name, aliased: false });
                }
            }
        }
    }
    Ok(all)
}

/// Which tables FOR UPDATE and FOR SHARE lock, by position in the scope.
fn locks(block: &Block<'_, '_>, clauses: &[LockingClause]) -> SqlResult<Vec<Option<(RowLock, LockWait)>>> {
    let default = block.context.serializable.then_some((RowLock::Shared, LockWait::Wait));
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
                return Err(SqlError::new(
                    3568,
                    b"HY000",
                    format!("Unresolved table name `{}` in locking clause.", wanted.table),
                ));
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

fn group_keys(
    block: &mut Block<'_, '_>,
    select: &ast::Select,
    items: &[Item],
) -> SqlResult<Vec<(Expr, Collation)>> {
    let mut keys = Vec::new();
    for item in &select.group_by {
        let expr = positional(&item.expr, items, "group statement")?;
        let expr = with_aliases(block, &expr, items, false);
        if walk::any(
            &expr,
            &|one| matches!(one, ast::Expr::Function(call) if super::aggregate::is_aggregate(call)),
        ) {
            return Err(SqlError::invalid_group_function_use());
        }
        let typed = block.bind(&expr, "group statement")?;
        keys.push((typed.expr, typed.kind.column.collation().unwrap_or(Collation::Binary)));
    }
    Ok(keys)
}

fn order_keys(block: &mut Block<'_, '_>, order: &[OrderItem], items: &[Item]) -> SqlResult<Vec<OrderKey>> {
    let mut keys = Vec::new();
    for item in order {
        let expr = positional(&item.expr, items, "order clause")?;
        let expr = with_aliases(block, &expr, items, true);
        let typed = crate::functions::in_order(block.bind(&expr, "order clause")?);
        if typed.expr.is_constant() && typed.expr.columns().is_empty() {
            continue;
        }
        let collation = typed.kind.column.collation().unwrap_or(Collation::Binary);
        keys.push(OrderKey { expr: typed.expr, descending: item.descending, collation });
    }
    Ok(keys)
}

/// A whole number stands for an entry of the select list.
fn positional(expr: &ast::Expr, items: &[Item], place: &'static str) -> SqlResult<ast::Expr> {
    let ast::Expr::Literal(ast::Literal::Int(position)) = expr else { return Ok(expr.clone()) };
    let item = usize::try_from(*position).ok().and_then(|at| items.get(at.checked_sub(1)?));
    item.map(|item| item.expr.clone()).ok_or_else(|| SqlError::unknown_column(position, place))
}

/// Replaces aliases of the select list by what they stand for. Where a name could also be a column, `alias_first` decides.
fn with_aliases(block: &Block<'_, '_>, expr: &ast::Expr, items: &[Item], alias_first: bool) -> ast::Expr {
    let mut expr = expr.clone();
    let top = matches!(expr, ast::Expr::Column(_));
    replace_aliases(block, &mut expr, items, alias_first && top, alias_first);
    expr
}

/// HAVING with aliases replaced: a name is a key of GROUP BY if there is such a key, else an alias, else a column.
fn having_condition(
    block: &Block<'_, '_>,
    condition: &ast::Expr,
    select: &ast::Select,
    items: &[Item],
) -> ast::Expr {
    let is_key = |name: &ColumnName| {
        let same = |item: &OrderItem| matches!(&item.expr, ast::Expr::Column(key) if key.column.eq_ignore_ascii_case(&name.column));
        name.table.is_none() && select.group_by.iter().any(same)
    };
    let mut condition = condition.clone();
    prefer_aliases(&mut condition, items, &is_key);
    replace_aliases(block, &mut condition, items, false, true);
    condition
}

fn prefer_aliases(expr: &mut ast::Expr, items: &[Item], is_key: &dyn Fn(&ColumnName) -> bool) {
    match expr {
        ast::Expr::Column(name) if name.table.is_none() && !is_key(name) => {
            let named = |item: &&Item| item.aliased && item.name.eq_ignore_ascii_case(&name.column);
            if let Some(item) = items.iter().find(named) {
                *expr = item.expr.clone();
            }
            return;
        }
        ast::Expr::Function(call) if super::aggregate::is_aggregate(call) => return,
        _ => {}
    }
    let done: Result<(), std::convert::Infallible> = walk::children_mut(expr, &mut |child| {
        prefer_aliases(child, items, is_key);
        Ok(())
    });
    let Ok(()) = done;
}

fn replace_aliases(
    block: &Block<'_, '_>,
    expr: &mut ast::Expr,
    items: &[Item],
    first: bool,
    aggregate: bool,
) {
    if let ast::Expr::Column(name) = expr {
        let ColumnName { table: None, column, .. } = name else { return };
        let found = items.iter().find(|item| item.aliased && item.name.eq_ignore_ascii_case(column));
        let is_column = || matches!(block.scope.find_here(name), Ok(Some(_)) | Err(_));
        if let Some(item) = found
            && (first || !is_column())
        {
            *expr = item.expr.clone();
        }
        return;
    }
    if let ast::Expr::Function(call) = expr
        && super::aggregate::is_aggregate(call)
        && aggregate
    {
        return;
    }
    let done: Result<(), std::convert::Infallible> = walk::children_mut(expr, &mut |child| {
        replace_aliases(block, child, items, false, aggregate);
        Ok(())
    });
    let Ok(()) = done;
}

/// Plans LIMIT.
pub fn limit_plan(block: &mut Block<'_, '_>, limit: Option<&Limit>) -> SqlResult<LimitPlan> {
    let Some(limit) = limit else { return Ok(LimitPlan { count: None, offset: None }) };
    let count = block.bind(&limit.count, "limit clause")?.expr;
    let offset = limit.offset.as_ref().map(|offset| block.bind(offset, "limit clause")).transpose()?;
    Ok(LimitPlan { count: Some(count), offset: offset.map(|typed| typed.expr) })
}

/// Describes a result column to the client.
fn meta(scope: &Scope<'_>, item: &Item, typed: &Typed) -> ColumnMeta {
    let ExprType { column, nullable } = &typed.kind;
    let place = match (&typed.expr, &item.expr) {
        (Expr::Column(at) | Expr::TimestampColumn(at), ast::Expr::Column(_)) => scope.column_at(*at),
        _ => None,
    };
    let Some((table, one)) = place else {
        return ColumnMeta::computed(&item.name, column.clone(), *nullable);
    };
    ColumnMeta {
        schema: table.schema.clone(),
        table: table.alias.clone(),
        org_table: table.name.clone(),
        name: item.name.clone(),
        org_name: one.name.clone(),
        column_type: column.clone(),
        flags: if *nullable { one.flags & !column_flag::NOT_NULL } else { one.flags },
    }
}
