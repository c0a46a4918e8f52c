//! `a IN (SELECT b ...)` as a join: the different rows of the query are one more table, so that they find
//! rows of the others by keys, or are looked up by them, whichever reads less.

use turnstile_expr::expr::{CompareOp, Expr};
use turnstile_values::collation::Collation;
use turnstile_values::error::SqlResult;
use turnstile_values::mixing::Traits;

use super::super::block::Block;
use super::super::from::{Pending, PendingKind};
use super::super::inner::no_query;
use super::super::query::{Filter, Partners, QueryPlan, SelectPlan, Subquery, SubqueryKind, placed_at};
use super::super::scope::{ScopeColumn, ScopeTable, TableId};
use super::super::seen::Seen;
use super::{Condition, asked, hash, listed, traced};

/// Makes tables of the queries of IN that conditions ask for: those that read nothing around them, and give
/// what can be hashed.
pub fn join_queries(
    block: &mut Block<'_, '_>,
    mut tables: Vec<Pending>,
    conditions: &mut Vec<Condition>,
) -> SqlResult<Vec<Pending>> {
    let plain = !block.context.changes;
    if tables.is_empty() {
        return Ok(tables);
    }
    let mut joined = Vec::new();
    let (mut nth, mut any) = (0, false);
    while nth < conditions.len() {
        if let Some(query) = asked(block, conditions, nth) {
            conditions.remove(nth);
            traced::joined(block.context.trace, "IN (SELECT)", "semijoin");
            tables.push(join(block, query, &mut joined)?);
        } else if plain && let Some(query) = asked::asked(block, conditions, nth) {
            let condition = conditions.remove(nth);
            if listed::listed(block, &tables, conditions, &query) {
                traced::joined(block.context.trace, "EXISTS (SELECT)", "semijoin");
                tables.push(join(block, query.nth, &mut joined)?);
                any = true;
                continue;
            }
            drop(condition);
            traced::joined(block.context.trace, query.written(block), query.becomes());
            tables.extend(asked::join(block, query));
        } else {
            nth += 1;
            continue;
        }
        any = true;
    }
    if any {
        // Whoever asks for the same query elsewhere gets one of its own.
        block.seen_subqueries = Seen::default();
    }
    conditions.append(&mut joined);
    Ok(tables)
}

/// The query that a condition is nothing but a question to, if it can be joined.
fn asked(block: &Block<'_, '_>, conditions: &[Condition], at: usize) -> Option<usize> {
    let Expr::Column(place) = &conditions[at].filter.expr else { return None };
    let nth = placed_at(&block.subqueries, *place)
        .filter(|_| !asked::is_read_elsewhere(block, conditions, at, *place))?;
    let Subquery { kind: SubqueryKind::In { operand, negated: false }, plan, guards, .. } =
        &block.subqueries[nth]
    else {
        return None;
    };
    let QueryPlan::Select(select) = plan else { return None };
    let fits = |(operand, item): (&(Expr, Collation), _)| {
        let (Expr::Column(at), collation) = operand else { return false };
        let item: &turnstile_values::sink::ColumnMeta = item;
        let column = block.scope.column_at(*at).filter(|_| block.scope.is_of_row(*at));
        let Some((_, column)) = column else { return false };
        hash::hashable(&column.kind, &item.column_type)
            && column.kind.collation().is_none_or(|own| own == *collation)
    };
    let joins = block.subqueries[nth].joins.unwrap_or(block.context.ways.joins_queries)
        && block.subqueries[nth].is_same_for_all()
        && guards.is_empty()
        && is_plain(select)
        && operand.iter().zip(select.columns.iter()).all(fits);
    joins.then_some(nth)
}

/// Nothing but its different rows matters.
fn is_plain(select: &SelectPlan) -> bool {
    let limited = select.limit.count.is_some() || select.limit.offset.is_some();
    !limited && !select.calc_found_rows && !select.steps.is_empty()
}

fn join(block: &mut Block<'_, '_>, nth: usize, conditions: &mut Vec<Condition>) -> SqlResult<Pending> {
    let subquery = &mut block.subqueries[nth];
    let plan = std::mem::replace(&mut subquery.plan, no_query());
    let kind = std::mem::replace(&mut subquery.kind, SubqueryKind::Value(Expr::Literal(Default::default())));
    let (QueryPlan::Select(mut select), SubqueryKind::In { operand, .. }) = (plan, kind) else {
        return Err(turnstile_values::error::SqlError::not_supported_yet("this sub-query"));
    };
    select.distinct = true;
    select.order.clear();
    select.point = None;
    let columns = select.columns.iter().map(|column| ScopeColumn {
        name: "".into(),
        kind: column.column_type.clone(),
        nullable: true,
        traits: Traits::of(&column.column_type),
        flags: 0,
        hidden: true,
    });
    let columns: Vec<ScopeColumn> = columns.collect();
    let base = block.scope.reserve(columns.len());
    let at = TableId::Named(block.scope.tables.len());
    let alias = format!("<subquery{}>", nth + 2).into();
    block.scope.add(ScopeTable { alias, columns, base, ..ScopeTable::default() })?;
    for (column, (operand, collation)) in operand.into_iter().enumerate() {
        let right = Box::new(Expr::Column(base + column));
        let expr = Expr::Compare { op: CompareOp::Equal, left: Box::new(operand), right, collation };
        let reads = block.reads(&expr);
        conditions.push(Condition { filter: Filter { expr, subqueries: Vec::new() }, reads });
    }
    let plan = Box::new(QueryPlan::Select(select));
    let kind = PendingKind::Distinct { nth: at, plan };
    Ok(Pending { kind, left_join: false, partners: Partners::All, on: Vec::new() })
}
