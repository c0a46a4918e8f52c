//! Sub-queries that gave more rows than one: error 1242 once an expression reads their value, and not before.

use std::cell::Cell;

use turnstile_expr::expr::{Expr, Row};
use turnstile_plan::plan::query::{SelectPlan, Subquery};
use turnstile_plan::plan::windows::WindowPlan;
use turnstile_values::error::SqlResult;
use turnstile_values::value::Value;

use super::Exec;

/// Error 1242 if a condition reads a sub-query that ran before the first row and gave several.
pub(super) fn refuse_failed_conditions(exec: &Exec<'_>, plan: &SelectPlan) -> SqlResult<()> {
    if !exec.has_failures() {
        return Ok(());
    }
    let tested = turnstile_plan::plan::tested_columns(plan);
    for subquery in plan.subqueries.iter().filter(|one| !one.correlated) {
        if let Some(error) = exec.failure(subquery)
            && tested.range(subquery.places()).next().is_some()
        {
            return Err(error.clone());
        }
    }
    Ok(())
}

/// Error 1242 if the select list or the order asks for a sub-query that gave several rows.
pub(super) fn refuse_failed_items(exec: &Exec<'_>, plan: &SelectPlan, tuple: &[Value]) -> SqlResult<()> {
    let exprs = plan.items.iter().map(|item| &item.expr).chain(plan.order.iter().map(|key| &key.expr));
    let exprs = exprs.chain(plan.windows.iter().flat_map(WindowPlan::exprs));
    refuse_failed(exec, &plan.subqueries, exprs, tuple)
}

/// The same for what rows are grouped by and aggregates are fed.
pub(super) fn refuse_failed_groups(exec: &Exec<'_>, plan: &SelectPlan, tuple: &[Value]) -> SqlResult<()> {
    let Some(group) = &plan.group else { return Ok(()) };
    let fed = group.aggregates.iter().flat_map(|one| {
        one.arguments.iter().map(|typed| &typed.expr).chain(one.order.iter().map(|key| &key.expr))
    });
    let exprs = group.keys.iter().map(|(key, _)| key).chain(fed);
    refuse_failed(exec, &plan.subqueries, exprs, tuple)
}

/// The error of a sub-query that failed, if one of these expressions asks for its value in this tuple.
pub(super) fn refuse_failed<'x>(
    exec: &Exec<'_>,
    subqueries: &[Subquery],
    exprs: impl Iterator<Item = &'x Expr>,
    tuple: &[Value],
) -> SqlResult<()> {
    if !exec.has_failures() {
        return Ok(());
    }
    let error = |one: &Subquery| exec.failure(one);
    let failed = subqueries.iter().filter(|one| error(one).is_some());
    let row =
        Watched { tuple, places: failed.clone().map(Subquery::places).collect(), seen: Cell::new(None) };
    for expr in exprs {
        let value = expr.eval(&row, exec.eval);
        if let Some(at) = row.seen.get() {
            let which = failed.clone().find(|one| one.places().contains(&at));
            return which.and_then(error).map_or(Ok(()), |error| Err(error.clone()));
        }
        value?;
    }
    Ok(())
}

/// A tuple that notes whether one of some places is read.
struct Watched<'f> {
    tuple: &'f [Value],
    places: Vec<std::ops::Range<usize>>,
    seen: Cell<Option<usize>>,
}

impl Row for Watched<'_> {
    fn value(&self, position: usize) -> Value {
        if self.places.iter().any(|places| places.contains(&position)) {
            self.seen.set(Some(position));
        }
        self.tuple.get(position).cloned().unwrap_or_default()
    }
}
