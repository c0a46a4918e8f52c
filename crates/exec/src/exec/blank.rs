//! The one row of a block with aggregates, no GROUP BY and no rows. As in MySQL a scalar sub-query that is an
//! entry of the select list and reads the block is NULL there and does not run; inside an expression it runs
//! as ever.

use turnstile_expr::expr::Expr;
use turnstile_plan::plan::query::{QueryPlan, SelectPlan, Subquery, SubqueryKind};

/// Whether a sub-query has nothing to read when its block has no rows. One without FROM is no query to MySQL
/// but its expression.
fn falls_silent(subquery: &Subquery) -> bool {
    let reads = !matches!(&subquery.plan, QueryPlan::Select(plan) if plan.steps.is_empty());
    matches!(subquery.kind, SubqueryKind::Scalar) && subquery.correlated && reads
}

/// The sub-query that an entry of the select list is.
fn entry(plan: &SelectPlan, expr: &Expr) -> Option<usize> {
    let Expr::Column(position) = expr else { return None };
    plan.subqueries.iter().position(|one| one.position == *position && falls_silent(one))
}

/// Entries of the select list, by position, that are NULL.
pub fn silent_items(plan: &SelectPlan) -> Vec<usize> {
    (0..plan.items.len()).filter(|nth| entry(plan, &plan.items[*nth].expr).is_some()).collect()
}

/// Sub-queries of the select list that something still reads.
pub fn still_read(plan: &SelectPlan) -> Vec<usize> {
    let silent: Vec<usize> = plan.items.iter().filter_map(|item| entry(plan, &item.expr)).collect();
    if silent.is_empty() {
        return plan.item_subqueries.clone();
    }
    let items = plan.items.iter().map(|item| &item.expr).filter(|expr| entry(plan, expr).is_none());
    let others =
        items.chain(plan.order.iter().map(|key| &key.expr)).chain(plan.having.iter().map(|one| &one.expr));
    let mut read: Vec<usize> = others.flat_map(Expr::columns).collect();
    for subquery in &plan.subqueries {
        read.extend(&subquery.inputs);
    }
    let is_read = |nth: &usize| {
        !silent.contains(nth) || plan.subqueries[*nth].places().any(|place| read.contains(&place))
    };
    plan.item_subqueries.iter().copied().filter(is_read).collect()
}
