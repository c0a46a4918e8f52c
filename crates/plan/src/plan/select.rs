//! SELECT: from syntax to [`SelectPlan`].
//!
//! Order of work: tables into the scope; conditions bound and steps made; GROUP BY; select list; HAVING;
//! ORDER BY; then one pass over everything bound tells which columns each table must deliver, and with that
//! whether an index covers them and whether it can deliver the order.

use turnstile_engine::{LockWait, RowLock};

use turnstile_catalog::accounts::Privileges;
use turnstile_expr::expr::{Expr, Hold, ParameterKind, Typed};
use turnstile_syntax::ast::{self, ColumnName, Limit, LockStrength, LockingClause, OrderItem, SelectItem};
use turnstile_syntax::walk;
use turnstile_values::collation::Collation;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::sink::{ColumnMeta, KeptPacket, Origin};
use turnstile_values::types::{ColumnType, ExprType, column_flag};

use super::block::{Block, PlanContext};
use super::point::PointShape;
use super::query::{Filter, GroupPlan, LimitPlan, SelectPlan, Step};
use super::scope::{AggregateUse, Outside, Scope};
use super::steps::{Condition, StepPlanner};
use super::{distinct, finish, from, grouping, last_row, names, rollup};

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
    parent: Option<Outside<'_>>,
) -> SqlResult<SelectPlan> {
    let mut block = Block::new(context, parent);
    let joined = from::read(&mut block, &select.from)?;
    let items = expand(&block, &select.items)?;
    names::note_aliases(&block, &items);
    let first = rows_and_keys(&mut block, select, around.locking, joined, &items);
    if first.is_err() && !block.scope.is_awaited() {
        // What is wrong with the select list is told first.
        block.scope.aggregates.set(AggregateUse::Allowed);
        block.scope.sight.set(None);
        bind_items(&mut block, &items)?;
    }
    let Front { preconditions, steps, keys } = first?;
    block.scope.aggregates.set(AggregateUse::Allowed);
    let mut bound = bind_items(&mut block, &items)?;
    keep_digits(&block, select, around, !keys.is_empty(), &mut bound);
    let condition = names::having(&block, select, &items)?;
    let having = match &condition {
        Some(condition) => vec![block.filter(condition, "having clause")?],
        None => Vec::new(),
    };
    let (order_by, mut order) = names::order_keys(&mut block, around.order_by, &items, &mut bound)?;
    if select.distinct && context.full_group_by {
        distinct::check(&block, &order_by, &items)?;
    }
    let collations: Vec<Collation> = keys.iter().map(|(_, collation)| *collation).collect();
    order.extend(rollup::order(&block.rollup, &collations));
    let grouped = !keys.is_empty() || !block.aggregates.is_empty();
    if grouped && context.full_group_by {
        let clauses = grouping::Clauses { items: &items, having: condition.as_ref(), order_by: &order_by };
        grouping::check(&block, select, &clauses, !keys.is_empty())?;
    }
    // The statement itself is at depth 1; nobody groups its result.
    let inner = context.depth > 1 && context.full_group_by;
    let dependences = if inner { grouping::dependences(&block, select, &items) } else { Vec::new() };
    let group = grouped.then(|| group_plan(&mut block, keys));
    let columns = items.iter().zip(&bound).map(|(item, typed)| meta(&block.scope, item, typed)).collect();
    let results = bound.iter().map(|item| &item.expr).chain(order.iter().map(|key| &key.expr));
    let item_subqueries = block.subqueries_for(results.flat_map(Expr::columns).collect());
    let limit = limit_plan(&mut block, around.limit)?;
    let mut plan = SelectPlan {
        width: 0,
        dependences,
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
        light: false,
        point: None,
    };
    finish::finish(&mut plan);
    plan.width = block.scope.width();
    plan.light = plan.takes_rows_lightly();
    plan.point = PointShape::of_select(&plan);
    Ok(plan)
}

/// Everything before the select list.
struct Front {
    preconditions: Vec<Filter>,
    steps: Vec<Step>,
    /// GROUP BY
    keys: Vec<(Expr, Collation)>,
}

fn rows_and_keys(
    block: &mut Block<'_, '_>,
    select: &ast::Select,
    locking: &[LockingClause],
    joined: from::Joined,
    items: &[Item],
) -> SqlResult<Front> {
    let mut conditions = Vec::new();
    let mut list = Vec::new();
    if let Some(condition) = &select.condition {
        walk::conjuncts(last_row::meant(block, condition)?, &mut list);
    }
    for one in &joined.conditions {
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
    let locking = locks(block, locking)?;
    let straight = select.straight_join || joined.straight;
    let (preconditions, steps) =
        StepPlanner::new(block, locking, straight).plan(joined.tables, conditions)?;
    Ok(Front { preconditions, steps, keys: names::group_keys(block, select, items)? })
}

fn bind_items(block: &mut Block<'_, '_>, items: &[Item]) -> SqlResult<Vec<Typed>> {
    let mut bound = Vec::with_capacity(items.len());
    for (nth, item) in items.iter().enumerate() {
        block.scope.items_bound.set(nth);
        let mut typed = block.bind(&item.expr, "field list")?;
        if rollup::meaning(block, &item.expr).is_some() {
            typed = rollup::shown(typed);
        }
        if let Expr::Cast { to: ColumnType::Decimal { .. }, name, .. } = &mut typed.expr {
            *name = Some(item.name.clone());
        }
        bound.push(typed);
    }
    block.scope.items_bound.set(items.len());
    Ok(bound)
}

/// Values that are kept before they are shown have all digits of their types: those of DISTINCT, of groups,
/// and of joined rows that are sorted.
fn keep_digits(
    block: &Block<'_, '_>,
    select: &ast::Select,
    around: Around<'_>,
    groups: bool,
    items: &mut [Typed],
) {
    let all = select.distinct || block.scope.tables.len() > 1 && !around.order_by.is_empty();
    let summed = |typed: &Typed| {
        let read = typed.expr.columns();
        block.aggregates.iter().any(|aggregate| read.contains(&aggregate.position))
    };
    for item in items {
        if all || groups && !summed(item) {
            *item = turnstile_expr::expr::with_all_digits(item.clone());
        }
    }
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
    GroupPlan { implicit: keys.is_empty(), keys, aggregates, subqueries, rollup, first_row_only: false }
}

/// The select list with `*` written out.
fn expand(block: &Block<'_, '_>, items: &[SelectItem]) -> SqlResult<Vec<Item>> {
    let mut all = Vec::new();
    for item in items {
        match item {
            SelectItem::Expr { expr, name, aliased } => {
                let own = if *aliased { None } else { kept_name(block, expr) };
                let name = own.unwrap_or_else(|| name.clone());
                all.push(Item { expr: expr.clone(), name, aliased: *aliased });
            }
            SelectItem::Wildcard { schema, table } => {
                for (nth, at) in block.scope.wildcard(schema.as_deref(), table.as_deref())? {
                    block.scope.note_use(nth, at, Privileges::SELECT, true);
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

/// The name that a table which keeps its names gives to this column.
fn kept_name(block: &Block<'_, '_>, expr: &ast::Expr) -> Option<Box<str>> {
    let ast::Expr::Column(column) = expr else { return None };
    if !block.scope.tables.iter().any(|table| table.keeps_names) {
        return None;
    }
    let found = block.scope.find_here(column).ok().flatten()?;
    let (table, column) = block.scope.column_at(found.position)?;
    table.keeps_names.then(|| column.name.clone())
}

/// Which tables FOR UPDATE and FOR SHARE lock, by position in the scope.
fn locks(block: &Block<'_, '_>, clauses: &[LockingClause]) -> SqlResult<Vec<Option<(RowLock, LockWait)>>> {
    let default = block.context.locks_reads.then_some((RowLock::Shared, LockWait::Wait));
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

/// Bytes that are announced as if they were a number without sign: a hex literal, and what is one, and the
/// bits of bytes.
fn is_of_unsigned_bytes(expr: &ast::Expr) -> bool {
    match expr {
        ast::Expr::Literal(ast::Literal::Hex(_)) => true,
        ast::Expr::Function(call) => match (&*call.name, call.arguments.first()) {
            ("bit_and" | "bit_or" | "bit_xor", _) => true,
            ("nullif" | "min" | "max", Some(first)) => is_of_unsigned_bytes(first),
            _ => false,
        },
        _ => false,
    }
}

/// Describes a result column to the client.
fn meta(scope: &Scope<'_>, item: &Item, typed: &Typed) -> ColumnMeta {
    let ExprType { column, nullable, traits } = &typed.kind;
    let place = match (&typed.expr, &item.expr) {
        (Expr::Column(at) | Expr::TimestampColumn(at), ast::Expr::Column(_)) => scope.column_at(*at),
        _ => None,
    };
    let Some((table, one)) = place else {
        let column = column.clone().unfilled();
        let unsigned = column.is_binary_string() && is_of_unsigned_bytes(&item.expr);
        let meta = ColumnMeta::computed(&item.name, column, *nullable).with_traits(*traits);
        let flags = if unsigned { meta.flags | column_flag::UNSIGNED } else { meta.flags };
        return ColumnMeta { flags, ..meta };
    };
    // A NULL that a derived table keeps is shown as the column that keeps it.
    let column = match column {
        ColumnType::Null if !table.keeps_names => &ColumnType::Varbinary { length: 0 },
        own => own,
    };
    let loosened = scope.loosened.borrow().iter().any(|place| table.places().contains(place));
    ColumnMeta {
        schema: table.schema.clone(),
        table: table.alias.clone(),
        org_table: table.name.clone(),
        name: item.name.clone(),
        org_name: one.name.clone(),
        origin: Origin::Column,
        column_type: column.clone(),
        traits: *traits,
        flags: if *nullable || loosened { one.flags & !column_flag::NOT_NULL } else { one.flags },
        packet: KeptPacket::default(),
    }
}
