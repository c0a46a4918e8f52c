//! What `sql_safe_updates` lets through beyond the rows that a key finds here. MySQL makes ranges of
//! conditions that leave out next to nothing (`<>`, NOT IN, IS NOT NULL) and calls the change safe; here they
//! are tested row by row. It also finds rows by what a sub-query gives (IN, = ANY, EXISTS), where here each
//! row asks the sub-query.

use turnstile_catalog::dictionary::{Part, Table};
use turnstile_expr::expr::{CompareOp, Expr};
use turnstile_syntax::ast::IsTest;
use turnstile_values::value::Value;

use super::query::{Filter, JoinStep, QueryPlan, SelectPlan, Source, Subquery, SubqueryKind};

/// Longest list whose NOT IN is made ranges.
const LIST_MAX: usize = 1000;

/// Whether what is tested on a table's rows makes a range of one of its keys.
pub(super) fn makes_range(step: &JoinStep) -> bool {
    let Source::Table(source) = &step.source else { return false };
    let finder = Finder { table: &source.table, base: step.base };
    let tested = step.filters.iter().chain(&step.matching);
    tested.into_iter().any(|filter| !finder.bounded(&filter.expr, true).is_empty())
}

/// Whether a row of a step's table is one that a sub-query gives the key of.
pub(super) fn is_found_by_query(select: &SelectPlan, step: &JoinStep) -> bool {
    let Source::Table(source) = &step.source else { return false };
    let finder = Finder { table: &source.table, base: step.base };
    let met = select.steps.iter().filter(|step| !step.left_join);
    let mut met = met.flat_map(|step| step.filters.iter().chain(&step.matching));
    met.any(|filter| {
        finder.asks(&select.subqueries, &filter.expr, true) || finder.is_joined_with(select, &filter.expr)
    })
}

/// The places of a query of IN that is joined, by whether it groups.
fn joined_places(select: &SelectPlan, grouped: bool) -> impl Iterator<Item = usize> {
    let places = move |step: &JoinStep| match &step.source {
        Source::Distinct(query) => {
            let groups = matches!(&**query, QueryPlan::Select(plan) if plan.group.is_some());
            (groups == grouped).then_some(step.base..step.base + step.columns)
        }
        _ => None,
    };
    select.steps.iter().filter_map(places).flatten()
}

/// Whether a step's table is found by keys that groups of a query give: MySQL goes through the table for
/// these, and calls that unsafe.
pub(super) fn is_found_by_groups(select: &SelectPlan, step: &JoinStep) -> bool {
    let Source::Table(source) = &step.source else { return false };
    let grouped = |place: usize| joined_places(select, true).any(|one| one == place);
    let first = source.access.ranges.first();
    first.is_some_and(|range| range.equal.iter().any(|one| one.expr.columns().into_iter().any(grouped)))
}

struct Finder<'a> {
    table: &'a Table,
    base: usize,
}

impl Finder<'_> {
    /// Columns that begin a key and are in a range if a condition holds (or, if not `holds`, fails).
    fn bounded(&self, condition: &Expr, holds: bool) -> Vec<usize> {
        match (condition, holds) {
            (Expr::And(list), true) | (Expr::Or(list), false) => {
                list.iter().flat_map(|one| self.bounded(one, holds)).collect()
            }
            (Expr::And(list), false) | (Expr::Or(list), true) => self.in_each(list, holds),
            (Expr::Not(operand), _) => self.bounded(operand, !holds),
            (Expr::Compare { op: CompareOp::NullSafeEqual, .. }, false) => Vec::new(),
            (Expr::Compare { left, right, .. }, _) => {
                let one = self.compared(left, std::slice::from_ref(&**right));
                one.or_else(|| self.compared(right, std::slice::from_ref(&**left))).into_iter().collect()
            }
            (Expr::Between { operand, low, high, .. }, _) => {
                let ends = [(**low).clone(), (**high).clone()];
                self.compared(operand, &ends).into_iter().collect()
            }
            (Expr::InList { operand, list, negated, .. }, _) => {
                let short = *negated != holds || list.len() <= LIST_MAX;
                self.compared(operand, list).filter(|_| short).into_iter().collect()
            }
            (Expr::InRows { operand, list, negated, .. }, _) if *negated != holds => operand
                .iter()
                .enumerate()
                .filter_map(|(at, one)| {
                    self.compared(one, &list.iter().map(|row| row[at].clone()).collect::<Vec<_>>())
                })
                .collect(),
            (Expr::Is { operand, test: IsTest::Null, negated }, _) => {
                let nullable = |column: &usize| *negated != holds || self.table.columns()[*column].nullable;
                self.column(operand).filter(nullable).into_iter().collect()
            }
            // It differs from 0, or is 0.
            (Expr::Column(_), _) => {
                self.column(condition).filter(|at| !self.is_text(*at)).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    /// The columns that all of several conditions bound.
    fn in_each(&self, list: &[Expr], holds: bool) -> Vec<usize> {
        let mut all = list.iter().map(|one| self.bounded(one, holds));
        let first = all.next().unwrap_or_default();
        all.fold(first, |common, next| common.into_iter().filter(|one| next.contains(one)).collect())
    }

    /// The column, if it begins a key and is compared with constants that its order applies to.
    fn compared(&self, column: &Expr, with: &[Expr]) -> Option<usize> {
        let column = self.column(column)?;
        let kind = &self.table.columns()[column].kind;
        let fits = |one: &Expr| match one {
            Expr::Literal(Value::Null) => true,
            Expr::Literal(Value::Str(_)) if kind.is_string() => true,
            // An integer differs from every number that is none.
            Expr::Literal(Value::Decimal(_) | Value::Double(_)) if kind.is_integer() => false,
            other => !kind.is_string() && other.is_constant(),
        };
        with.iter().all(fits).then_some(column)
    }

    fn is_text(&self, column: usize) -> bool {
        self.table.columns()[column].kind.is_string()
    }

    /// Whether a condition holds (or, if not `holds`, fails) for rows that a sub-query gives the key of.
    fn asks(&self, subqueries: &[Subquery], condition: &Expr, holds: bool) -> bool {
        match condition {
            Expr::Column(at) => {
                subqueries.iter().any(|one| one.position == *at && self.gives_key(one, holds))
            }
            Expr::Not(operand) => self.asks(subqueries, operand, !holds),
            Expr::Is { operand, test: IsTest::True, negated: false } if holds => {
                self.asks(subqueries, operand, true)
            }
            _ => false,
        }
    }

    /// Whether a condition joins a column that begins a key with a query of IN.
    fn is_joined_with(&self, select: &SelectPlan, condition: &Expr) -> bool {
        let Expr::Compare { op: CompareOp::Equal, left, right, .. } = condition else { return false };
        let gives = |expr: &Expr| match expr {
            Expr::Column(place) => joined_places(select, false).any(|one| one == *place),
            _ => false,
        };
        self.column(left).is_some() && gives(right) || self.column(right).is_some() && gives(left)
    }

    /// Whether a sub-query's rows equal a column that begins a key, if it is true (or, if not `holds`,
    /// false).
    fn gives_key(&self, subquery: &Subquery, holds: bool) -> bool {
        // MySQL does not join what is grouped or put together.
        let QueryPlan::Select(plan) = &subquery.plan else { return false };
        if plan.group.is_some() {
            return false;
        }
        match &subquery.kind {
            SubqueryKind::In { operand, negated } if *negated != holds => {
                operand.iter().any(|(expr, _)| self.column(expr).is_some())
            }
            SubqueryKind::Quantified { operand, op: CompareOp::Equal, all: false, .. } if holds => {
                self.column(operand).is_some()
            }
            SubqueryKind::Exists if holds => self.is_joined(plan),
            _ => false,
        }
    }

    /// Whether a query's rows are those that equal such a column of the query around.
    fn is_joined(&self, plan: &SelectPlan) -> bool {
        let around = |expr: &Expr| match expr {
            Expr::Column(at) => plan
                .outer
                .iter()
                .any(|(there, here)| here == at && self.column(&Expr::Column(*there)).is_some()),
            _ => false,
        };
        let equals = |filter: &Filter| match &filter.expr {
            Expr::Compare { op: CompareOp::Equal, left, right, .. } => around(left) || around(right),
            _ => false,
        };
        plan.steps.iter().filter(|step| !step.left_join).any(|step| {
            let finds = match &step.source {
                Source::Table(source) => source
                    .access
                    .ranges
                    .first()
                    .is_some_and(|range| range.equal.iter().any(|one| around(&one.expr))),
                _ => false,
            };
            finds || step.filters.iter().chain(&step.matching).any(equals)
        })
    }

    /// The column, if it begins a key.
    fn column(&self, expr: &Expr) -> Option<usize> {
        let (Expr::Column(at) | Expr::TimestampColumn(at)) = expr else { return None };
        let column = at.checked_sub(self.base).filter(|at| *at < self.table.columns().len())?;
        let begins = |part: &Part| part.column == column;
        let keys = self.table.keys();
        keys.iter().any(|key| key.visible && key.parts.first().is_some_and(begins)).then_some(column)
    }
}
