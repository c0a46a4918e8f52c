//! Queries that each row asks, as joins: `EXISTS (SELECT .. FROM u WHERE u.x = t.y)` and `IN` of such a query
//! are *semi joins*, a row goes on with the first partner that it finds; `NOT EXISTS`, and `NOT IN` where
//! nothing can be NULL, are *anti joins*, a row goes on if it finds none.
//!
//! ```text
//!   t: ... AND NOT EXISTS (SELECT 1 FROM u WHERE u.x = t.y AND u.z > 3)
//!   t, then u, looked up by x or hashed, with u.x = t.y AND u.z > 3: partners None
//! ```
//! The query's table gets places in the tuple of the block around, and its conditions speak of these. It is
//! done for queries of one table that a key, or a hashed equality, leads to: else each row would go through
//! all of them, while the query by itself ends with the first row that it finds.

use std::collections::{BTreeMap, HashSet};

use turnstile_expr::expr::{CompareOp, Expr};
use turnstile_values::collation::Collation;

use super::super::block::Block;
use super::super::from::{On, Pending, PendingKind};
use super::super::inner::no_query;
use super::super::query::{
    Filter, JoinStep, Partners, QueryPlan, SelectPlan, Source, Subquery, SubqueryKind, placed_at,
};
use super::super::repeats::stays_the_same;
use super::super::scope::{ScopeTable, TableId};
use super::{Condition, hash, part};

/// The query that a condition is a question to, and the partner that a row must have.
pub(super) struct Asked {
    /// Its number.
    pub nth: usize,
    /// The partner.
    pub partners: Partners,
}

impl Asked {
    /// How the question is written, for the trace.
    pub(super) fn written(&self, block: &Block<'_, '_>) -> &'static str {
        match block.subqueries[self.nth].kind {
            SubqueryKind::Exists => "EXISTS (SELECT)",
            _ => "IN (SELECT)",
        }
    }

    /// What becomes of it.
    pub(super) fn becomes(&self) -> &'static str {
        if self.partners == Partners::None { "antijoin" } else { "semijoin" }
    }
}

/// What a condition asks, if a join can answer.
pub(super) fn asked(block: &Block<'_, '_>, conditions: &[Condition], at: usize) -> Option<Asked> {
    let condition = &conditions[at].filter.expr;
    let (place, negated) = match condition {
        Expr::Column(place) => (*place, false),
        Expr::Not(inner) => match &**inner {
            Expr::Column(place) => (*place, true),
            _ => return None,
        },
        _ => return None,
    };
    let nth = placed_at(&block.subqueries, place)?;
    let subquery = &block.subqueries[nth];
    let QueryPlan::Select(select) = &subquery.plan else { return None };
    let allowed = subquery.joins.unwrap_or(block.context.ways.joins_queries);
    if !allowed
        || subquery.varies
        || !subquery.guards.is_empty()
        || is_read_elsewhere(block, conditions, at, place)
    {
        return None;
    }
    let (partners, operand) = match (&subquery.kind, negated) {
        (SubqueryKind::Exists, negated) => {
            if select.outer.is_empty() {
                return None;
            }
            (if negated { Partners::None } else { Partners::First }, &[][..])
        }
        (SubqueryKind::In { operand, negated: inner }, _) if *inner || negated => {
            // NOT (a NOT IN ..) is what IN is.
            if *inner && negated {
                return None;
            }
            (Partners::None, operand.as_slice())
        }
        (SubqueryKind::In { operand, .. }, _) => {
            if select.outer.is_empty() {
                return None;
            }
            (Partners::First, operand.as_slice())
        }
        _ => return None,
    };
    let [step] = select.steps.as_slice() else { return None };
    let fits = is_plain(block, select, step)
        && operand.iter().zip(&select.items).all(|(one, item)| is_pair(block, step, one, &item.expr))
        && (partners == Partners::First
            || operand.is_empty()
            || is_certain(block, conditions, select, operand))
        && (leads(block, step, select) || !operand.is_empty() && block.context.ways.hashes);
    (fits && (partners == Partners::None || block.context.ways.first_matches))
        .then_some(Asked { nth, partners })
}

/// Something else reads whether the query has rows.
pub(super) fn is_read_elsewhere(
    block: &Block<'_, '_>,
    conditions: &[Condition],
    at: usize,
    place: usize,
) -> bool {
    let others = conditions.iter().enumerate().filter(|(nth, _)| *nth != at);
    others.into_iter().any(|(_, one)| one.filter.expr.columns().contains(&place))
        || block.subqueries.iter().any(|one| one.inputs.contains(&place))
}

/// Rows of one table that pass conditions, and nothing besides.
fn is_plain(block: &Block<'_, '_>, select: &SelectPlan, step: &JoinStep) -> bool {
    let limited = select.limit.count.is_some() || select.limit.offset.is_some();
    let Source::Table(source) = &step.source else { return false };
    let own = step.base..step.base + step.columns;
    let around: BTreeMap<usize, usize> = select.outer.iter().map(|(there, here)| (*here, *there)).collect();
    let known = |at: usize| {
        own.contains(&at)
            || around.get(&at).is_some_and(|there| placed_at(&block.subqueries, *there).is_none())
    };
    let conditions = select.preconditions.iter().chain(&step.matching).chain(&step.filters);
    !limited
        && !select.calc_found_rows
        && select.group.is_none()
        && select.windows.is_empty()
        && select.having.is_empty()
        && select.subqueries.is_empty()
        && source.locking.is_none()
        && !step.left_join
        && stays_the_same(select)
        && conditions
            .into_iter()
            .all(|one| one.subqueries.is_empty() && one.expr.columns().into_iter().all(known))
}

/// Columns whose equality a hash, or a key, tells.
fn is_pair(block: &Block<'_, '_>, step: &JoinStep, operand: &(Expr, Collation), item: &Expr) -> bool {
    let ((Expr::Column(at), collation), Expr::Column(inside)) = (operand, item) else { return false };
    let Some((_, column)) = block.scope.column_at(*at).filter(|_| block.scope.is_of_row(*at)) else {
        return false;
    };
    let Some(kind) = kind_inside(step, *inside) else { return false };
    let same =
        |kind: &turnstile_values::types::ColumnType| kind.collation().is_none_or(|own| own == *collation);
    hash::hashable(&column.kind, &kind) && same(&column.kind) && same(&kind)
}

fn kind_inside(step: &JoinStep, place: usize) -> Option<turnstile_values::types::ColumnType> {
    let Source::Table(source) = &step.source else { return None };
    let column = place.checked_sub(step.base)?;
    source.table.columns().get(column).map(|column| column.kind.clone())
}

/// Neither side of NOT IN can be NULL, so that it is true exactly where no row is equal.
fn is_certain(
    block: &Block<'_, '_>,
    conditions: &[Condition],
    select: &SelectPlan,
    operand: &[(Expr, Collation)],
) -> bool {
    let needed = |place: usize, filters: &[&Filter]| {
        let places = HashSet::from([place]);
        filters.iter().any(|one| one.subqueries.is_empty() && part::needs(&one.expr, &places))
    };
    let around: Vec<&Filter> = conditions.iter().map(|one| &one.filter).collect();
    let within: Vec<&Filter> = select.steps[0].matching.iter().chain(&select.steps[0].filters).collect();
    let step = &select.steps[0];
    let Source::Table(source) = &step.source else { return false };
    operand.iter().zip(&select.items).all(|((expr, _), item)| {
        let (Expr::Column(at), Expr::Column(inside)) = (expr, &item.expr) else { return false };
        let Some((table, column)) = block.scope.column_at(*at) else { return false };
        let outside = !column.nullable && !table.optional || needed(*at, &around);
        let Some(stored) = inside.checked_sub(step.base).and_then(|at| source.table.columns().get(at)) else {
            return false;
        };
        outside && (!stored.nullable || needed(*inside, &within))
    })
}

/// A key finds the rows of the query, or an equality with what is around it.
fn leads(block: &Block<'_, '_>, step: &JoinStep, select: &SelectPlan) -> bool {
    let Source::Table(source) = &step.source else { return false };
    let own = step.base..step.base + step.columns;
    let equal = |one: &Filter| {
        let Expr::Compare { op: CompareOp::Equal, left, right, collation } = &one.expr else { return false };
        let (Expr::Column(left), Expr::Column(right)) = (&**left, &**right) else { return false };
        let (inside, here) = if own.contains(left) { (*left, *right) } else { (*right, *left) };
        let there = select.outer.iter().find(|(_, at)| *at == here).map(|(there, _)| *there);
        there.is_some_and(|there| {
            is_pair(block, step, &(Expr::Column(there), *collation), &Expr::Column(inside))
        })
    };
    !source.access.is_full() || block.context.ways.hashes && step.matching.iter().any(equal)
}

/// Makes a table of the query.
pub(super) fn join(block: &mut Block<'_, '_>, asked: Asked) -> Option<Pending> {
    let Asked { nth, partners } = asked;
    let subquery: &mut Subquery = &mut block.subqueries[nth];
    let plan = std::mem::replace(&mut subquery.plan, no_query());
    let kind = std::mem::replace(&mut subquery.kind, SubqueryKind::Value(Expr::Literal(Default::default())));
    subquery.inputs.clear();
    subquery.reads.clear();
    subquery.correlated = false;
    let QueryPlan::Select(mut select) = plan else { return None };
    let step = select.steps.pop()?;
    let Source::Table(source) = step.source else { return None };
    let id = TableId::Behind(block.scope.behind.len());
    let base = block.scope.width();
    let table = ScopeTable::of(&source.table, &step.alias, base);
    block.scope.reserve(table.places().len());
    block.scope.behind.push(table);
    let around: BTreeMap<usize, usize> = select.outer.iter().map(|(there, here)| (*here, *there)).collect();
    let own = step.base..step.base + step.columns;
    let moved = |at: usize| match around.get(&at) {
        Some(there) => *there,
        None if own.contains(&at) => base + (at - step.base),
        None => at,
    };
    let mut exprs: Vec<Expr> = Vec::new();
    if let SubqueryKind::In { operand, .. } = kind {
        for ((operand, collation), item) in operand.into_iter().zip(&select.items) {
            let right = Box::new(item.expr.clone().moved(&moved));
            exprs.push(Expr::Compare { op: CompareOp::Equal, left: Box::new(operand), right, collation });
        }
    }
    let conditions = select.preconditions.into_iter().chain(step.matching).chain(step.filters);
    exprs.extend(conditions.map(|one| one.expr.moved(&moved)));
    let on = exprs.into_iter().map(|expr| {
        let reads = block.reads(&expr);
        On::Bound(Condition { filter: Filter { expr, subqueries: Vec::new() }, reads })
    });
    let on = on.collect();
    let kind = PendingKind::Table { nth: id, table: source.table, forbidden: source.forbidden };
    Some(Pending { kind, left_join: true, partners, on })
}
