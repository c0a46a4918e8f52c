//! `EXISTS (SELECT .. FROM b WHERE b.x = a.y)` where no key finds the rows of b: these are read once, and
//! each row of a asks whether its y is among their x, rather than reading b for each. NOT EXISTS is the same
//! question.

use std::collections::BTreeMap;

use turnstile_expr::expr::{CompareOp, Expr, Typed};
use turnstile_values::collation::Collation;
use turnstile_values::sink::ColumnMeta;
use turnstile_values::types::{ColumnType, ExprType};

use super::super::block::Block;
use super::super::finish::tested_columns;
use super::super::query::{
    Filter, JoinStep, QueryPlan, SelectPlan, Source, Subquery, SubqueryKind, each_table,
};
use super::super::scope::Scope;
use super::super::steps::hashable;

/// Rows that ask for less reading is done for than for one look at all rows: the first that matches may come
/// soon.
const ASKING: f64 = 8.0;

/// Takes the queries of EXISTS of a block as lists where that reads less; `rows`: about how many rows ask.
pub fn take_as_lists(block: &mut Block<'_, '_>, rows: f64) {
    if rows < ASKING {
        return;
    }
    let allowed = block.context.ways.joins_queries;
    let (scope, subqueries) = (&block.scope, &mut block.subqueries);
    for subquery in subqueries.iter_mut().filter(|one| one.joins.unwrap_or(allowed) && is_asked_for_each(one))
    {
        let QueryPlan::Select(plan) = &mut subquery.plan else { continue };
        let Some(pairs) = pairs(scope, plan) else { continue };
        let operand = become_list(plan, &pairs);
        subquery.inputs = operand.iter().flat_map(|(expr, _)| expr.columns()).collect();
        subquery.inputs.sort_unstable();
        subquery.inputs.dedup();
        subquery.kind = SubqueryKind::Among { operand };
    }
}

fn is_asked_for_each(subquery: &Subquery) -> bool {
    let QueryPlan::Select(plan) = &subquery.plan else { return false };
    matches!(subquery.kind, SubqueryKind::Exists)
        && !subquery.varies
        && subquery.guards.is_empty()
        && plan.group.is_none()
        && plan.windows.is_empty()
        && plan.having.is_empty()
        && plan.limit.count.is_none()
        && !plan.calc_found_rows
        && !plan.outer.is_empty()
        && plan.steps.first().is_some_and(JoinStep::reads_whole)
}

/// An equality of a column inside with one around.
pub struct Pair {
    /// Place inside.
    inside: usize,
    /// Its type.
    kind: ColumnType,
    /// Place around.
    around: usize,
    collation: Collation,
}

/// The equalities through which alone a query reads what is around it.
pub fn pairs(scope: &Scope<'_>, plan: &mut SelectPlan) -> Option<Vec<Pair>> {
    let mut locks = false;
    each_table(&mut plan.steps, &mut |source, _| locks |= source.locking.is_some());
    // By the place inside: the place around.
    let outer: BTreeMap<usize, usize> = plan.outer.iter().map(|(there, here)| (*here, *there)).collect();
    let asks = plan.subqueries.iter().any(|one| one.inputs.iter().any(|place| outer.contains_key(place)));
    if locks || asks {
        return None;
    }
    let found: Vec<Pair> =
        plain_filters(&plan.steps).filter_map(|filter| pair(scope, plan, filter, &outer)).collect();
    // Whatever else is read of the row around keeps the query what it is.
    let mut rest = Vec::new();
    for step in &mut plan.steps {
        let is_pair = |filter: &mut Filter| pair_places(filter, &outer).is_some();
        if !step.left_join {
            rest.push(step.matching.extract_if(.., is_pair).collect::<Vec<_>>());
        } else {
            rest.push(Vec::new());
        }
        rest.push(step.filters.extract_if(.., is_pair).collect::<Vec<_>>());
    }
    let taken: usize = rest.iter().map(Vec::len).sum();
    let is_free = !tested_columns(plan).iter().any(|place| outer.contains_key(place));
    let all = !found.is_empty() && taken == found.len() && is_free;
    if !all {
        // As it was: their order means nothing.
        let mut rest = rest.into_iter();
        for step in &mut plan.steps {
            step.matching.extend(rest.next().unwrap_or_default());
            step.filters.extend(rest.next().unwrap_or_default());
        }
        return None;
    }
    Some(found)
}

/// Conditions that a row of the query has to pass, whatever its other tables have.
fn plain_filters(steps: &[JoinStep]) -> impl Iterator<Item = &Filter> {
    steps.iter().flat_map(|step| {
        let matching = if step.left_join { &[][..] } else { &step.matching[..] };
        matching.iter().chain(&step.filters)
    })
}

/// The places that an equality compares, the one of the row around last.
fn pair_places(filter: &Filter, outer: &BTreeMap<usize, usize>) -> Option<(usize, usize, Collation)> {
    let Expr::Compare { op: CompareOp::Equal, left, right, collation } = &filter.expr else { return None };
    let (Expr::Column(one), Expr::Column(other)) = (&**left, &**right) else { return None };
    match (outer.contains_key(one), outer.contains_key(other)) {
        (false, true) => Some((*one, *other, *collation)),
        (true, false) => Some((*other, *one, *collation)),
        _ => None,
    }
}

fn pair(
    scope: &Scope<'_>,
    plan: &SelectPlan,
    filter: &Filter,
    outer: &BTreeMap<usize, usize>,
) -> Option<Pair> {
    let (inside, here, collation) = pair_places(filter, outer)?;
    let around = outer.get(&here)?;
    let (_, column) = scope.column_at(*around).filter(|_| scope.is_of_row(*around))?;
    let kind = plan.steps.iter().find_map(|step| match &step.source {
        Source::Table(source) => {
            let at = inside.checked_sub(step.base)?;
            source.table.columns().get(at).map(|column| column.kind.clone())
        }
        _ => None,
    })?;
    let same = |kind: &ColumnType| kind.collation().is_none_or(|own| own == collation);
    let fits = hashable(&kind, &column.kind) && same(&kind) && same(&column.kind);
    fits.then_some(Pair { inside, kind, around: *around, collation })
}

/// Makes the query one of all rows; what these are asked for.
pub fn become_list(plan: &mut SelectPlan, pairs: &[Pair]) -> Vec<(Expr, Collation)> {
    plan.items = pairs
        .iter()
        .map(|pair| Typed { expr: Expr::Column(pair.inside), kind: ExprType::nullable(pair.kind.clone()) })
        .collect();
    plan.columns = pairs.iter().map(|pair| ColumnMeta::computed("", pair.kind.clone(), true)).collect();
    plan.item_subqueries.clear();
    plan.order.clear();
    plan.outer.clear();
    plan.point = None;
    pairs.iter().map(|pair| (Expr::Column(pair.around), pair.collation)).collect()
}
