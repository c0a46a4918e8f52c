//! Which share of rows a condition lets through that no key has counted.
//!
//! Where a column has a histogram ([`told`](super::told)) it tells; else the number of different values does,
//! or a guess.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use turnstile_catalog::dictionary::Table;
use turnstile_expr::expr::{CompareOp, EvalContext, Expr};
use turnstile_syntax::ast::IsTest;

use super::told;

/// Different values of a column of which nothing is known.
const UNKNOWN_VALUES: f64 = 10.0;

const RANGE: f64 = 1.0 / 3.0;
const BETWEEN: f64 = 1.0 / 9.0;
const PATTERN: f64 = 0.2;
const NULL: f64 = 0.1;
const OTHER: f64 = 0.5;

/// What there is to be known of the columns of a statement and of its values.
#[derive(Clone, Copy)]
pub(super) struct Known<'k> {
    /// The table that a place of the tuple belongs to, and the column of it.
    pub column: &'k dyn Fn(usize) -> Option<(Arc<Table>, usize)>,
    /// Values that the statement has now.
    pub eval: &'k EvalContext<'k>,
}

impl Known<'_> {
    fn distinct(self, place: usize) -> Option<f64> {
        let (table, column) = (self.column)(place)?;
        distinct(&table, column)
    }
}

/// The share.
pub(super) fn selectivity(condition: &Expr, known: Known<'_>) -> f64 {
    if let Some(share) = told::share(condition, known) {
        return share;
    }
    match condition {
        Expr::And(list) => list.iter().map(|one| selectivity(one, known)).product(),
        // Of alternatives that have nothing to do with each other.
        Expr::Or(list) => 1.0 - list.iter().map(|one| 1.0 - selectivity(one, known)).product::<f64>(),
        Expr::Not(operand) => 1.0 - selectivity(operand, known) / 2.0,
        Expr::Compare { op: CompareOp::Equal | CompareOp::NullSafeEqual, left, right, .. } => {
            let both = values(left, known).into_iter().chain(values(right, known));
            1.0 / both.reduce(f64::max).unwrap_or(UNKNOWN_VALUES).max(1.0)
        }
        Expr::Compare { op: CompareOp::NotEqual, .. } => 1.0 - NULL,
        Expr::Compare { .. } => RANGE,
        Expr::Between { negated, .. } => negate(BETWEEN, *negated),
        Expr::InList { operand, list, negated, .. } => {
            let one = 1.0 / values(operand, known).unwrap_or(UNKNOWN_VALUES).max(1.0);
            negate((one * list.len() as f64).min(OTHER), *negated)
        }
        Expr::InRows { list, negated, .. } => {
            negate((list.len() as f64 / (UNKNOWN_VALUES * UNKNOWN_VALUES)).min(OTHER), *negated)
        }
        Expr::Like { negated, .. } | Expr::Regexp { negated, .. } => negate(PATTERN, *negated),
        Expr::Is { test: IsTest::Null, negated, .. } => negate(NULL, *negated),
        Expr::Literal(_) => 1.0,
        _ => OTHER,
    }
}

fn negate(share: f64, negated: bool) -> f64 {
    if negated { 1.0 - share } else { share }
}

fn values(expr: &Expr, known: Known<'_>) -> Option<f64> {
    match expr {
        Expr::Column(place) | Expr::TimestampColumn(place) => known.distinct(*place),
        _ => None,
    }
}

/// Different values of a column, where a key begins with it or statistics tell.
fn distinct(table: &Table, column: usize) -> Option<f64> {
    let rows = table.counters.rows.load(Ordering::Relaxed).max(1) as f64;
    let known = table.counters.statistics.known();
    let of_key =
        table.keys().iter().filter(|key| key.parts.first().is_some_and(|part| part.column == column));
    let counted = of_key.map(|key| {
        if key.unique && key.parts.len() == 1 {
            return Some(rows);
        }
        let each = known.as_ref()?.rows_per_value(key.index, 1, rows)?;
        Some(rows / each)
    });
    let seen = known.as_ref().and_then(|known| Some(known.distinct(column)? as f64));
    counted.flatten().chain(seen).reduce(f64::max)
}
