//! The tables that a block joins, with their conditions bound, before their order is known.
//!
//! An outer join whose optional side must have a partner (`LEFT JOIN b ... WHERE b.x = 1` is false where `b`
//! is missing) is an inner one; one of several tables is then taken apart, so that these are ordered with the
//! others. What an outer join of several tables asks of its partners is asked inside it, where keys can serve
//! it.

use std::collections::HashSet;

use turnstile_expr::expr::{CompareOp, Expr};
use turnstile_syntax::ast::IsTest;
use turnstile_values::error::SqlResult;

use super::super::block::Block;
use super::super::from::{Pending, PendingKind};
use super::super::query::Partners;
use super::Condition;

/// A source of a join that waits for its step.
pub(super) struct Part {
    /// What it is; its `Group` has no members left.
    pub kind: PendingKind,
    /// Of a group: what it joins.
    pub members: Vec<Part>,
    /// Of a group: conditions among its members.
    pub within: Vec<Condition>,
    /// Right side of an outer join, or a query that is asked whether it has a row: it has conditions of its
    /// own.
    pub left_join: bool,
    /// Which of its rows count.
    pub partners: Partners,
    /// What makes a partner, of an outer join.
    pub on: Vec<Condition>,
    /// Its places in the tuple.
    pub places: Vec<usize>,
}

impl Part {
    /// Binds the conditions of a source, those within it first: of several faults the one that stands deeper
    /// is told.
    pub fn bind(block: &mut Block<'_, '_>, pending: Pending) -> SqlResult<Part> {
        let Pending { kind, left_join, partners, on } = pending;
        let (kind, members, conditions) = match kind {
            PendingKind::Group { members, conditions } => {
                (PendingKind::Group { members: Vec::new(), conditions: Vec::new() }, members, conditions)
            }
            other => (other, Vec::new(), Vec::new()),
        };
        let within =
            conditions.into_iter().map(|one| Condition::bind_on(block, one)).collect::<SqlResult<_>>()?;
        let on = on.into_iter().map(|one| Condition::bind_on(block, one)).collect::<SqlResult<_>>()?;
        let members = members.into_iter().map(|one| Part::bind(block, one)).collect::<SqlResult<Vec<_>>>()?;
        let places = match &kind {
            PendingKind::Table { nth, .. }
            | PendingKind::Derived { nth, .. }
            | PendingKind::Distinct { nth, .. }
            | PendingKind::Expanded { nth, .. }
            | PendingKind::Common { nth, .. }
            | PendingKind::Virtual { nth, .. } => block.scope.table(*nth).places().collect(),
            PendingKind::Group { .. } => members.iter().flat_map(|member| member.places.clone()).collect(),
        };
        Ok(Part { kind, members, within, left_join, partners, on, places })
    }

    /// It reads what stands before it: it cannot be moved.
    pub fn is_lateral(&self) -> bool {
        match &self.kind {
            PendingKind::Derived { plan, .. } => !plan.outer().is_empty(),
            PendingKind::Expanded { .. } => true,
            _ => self.members.iter().any(Part::is_lateral),
        }
    }
}

/// How many outer joins there are.
pub fn outer_joins(parts: &[Part]) -> usize {
    let own = |part: &Part| usize::from(part.left_join && part.partners == Partners::All);
    parts.iter().map(|part| own(part) + outer_joins(&part.members)).sum()
}

/// Makes inner joins of outer ones as far as the conditions allow.
pub(super) fn simplify(mut parts: Vec<Part>, conditions: &mut Vec<Condition>) -> Vec<Part> {
    loop {
        let needed = |part: &Part| {
            let places: HashSet<usize> = part.places.iter().copied().collect();
            conditions.iter().any(|one| one.filter.subqueries.is_empty() && needs(&one.filter.expr, &places))
        };
        let outer = |part: &Part| part.left_join && part.partners == Partners::All;
        let Some(nth) = parts.iter().position(|part| outer(part) && needed(part)) else { break };
        let mut part = parts.remove(nth);
        conditions.append(&mut part.on);
        if part.members.is_empty() {
            part.left_join = false;
            parts.insert(nth, part);
        } else {
            conditions.append(&mut part.within);
            parts.splice(nth..nth, part.members);
        }
    }
    for part in parts.iter_mut().filter(|part| !part.members.is_empty()) {
        part.within.append(&mut part.on);
        let members = std::mem::take(&mut part.members);
        part.members = simplify(members, &mut part.within);
    }
    parts
}

/// A condition is never true where all these places are NULL.
pub(super) fn needs(condition: &Expr, places: &HashSet<usize>) -> bool {
    match condition {
        Expr::And(list) => list.iter().any(|one| needs(one, places)),
        Expr::Or(list) => list.iter().all(|one| needs(one, places)),
        Expr::Compare { op, left, right, .. } => {
            *op != CompareOp::NullSafeEqual && (is_null(left, places) || is_null(right, places))
        }
        Expr::Between { operand, low, high, negated, .. } => {
            is_null(operand, places) || !negated && (is_null(low, places) || is_null(high, places))
        }
        Expr::InList { operand, .. } => is_null(operand, places),
        Expr::Like { operand, .. } | Expr::Regexp { operand, .. } => is_null(operand, places),
        Expr::Is { operand, test: IsTest::Null, negated: true } => is_null(operand, places),
        other => is_null(other, places),
    }
}

/// An expression is NULL where all these places are.
fn is_null(expr: &Expr, places: &HashSet<usize>) -> bool {
    match expr {
        Expr::Column(at) | Expr::TimestampColumn(at) => places.contains(at),
        Expr::Arithmetic { left, right, .. } => is_null(left, places) || is_null(right, places),
        Expr::Negate { operand, .. } => is_null(operand, places),
        _ => false,
    }
}
