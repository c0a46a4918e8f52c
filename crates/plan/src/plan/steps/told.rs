//! What histograms tell of a condition: the share of rows that a comparison of a column with a value lets
//! through, if the value is known while the statement is planned.
//!
//! A plan keeps what it was told ([`Told`]), and is not run for values for which that would be far off
//! (`plan/fits.rs`).

use std::sync::Arc;

use turnstile_catalog::dictionary::Table;
use turnstile_catalog::dictionary::histogram::Histogram;
use turnstile_expr::expr::{CompareOp, EvalContext, Expr, NoRow};
use turnstile_syntax::ast::IsTest;
use turnstile_values::collation::Collation;
use turnstile_values::context::Warnings;
use turnstile_values::key_codec::{SearchValue, search_value};
use turnstile_values::pulse;
use turnstile_values::types::ColumnType;
use turnstile_values::value::{EnumValue, Value};

use super::super::facts::mirrored;
use super::super::query::{Operand, Told};
use super::selectivity::{Known, selectivity};

/// The least share that is believed.
const LEAST: f64 = 0.001;

/// Values of a list that are looked for.
const LIST_MAX: usize = 1000;

/// The share of rows that passes a condition; None where no histogram tells.
pub(super) fn share(condition: &Expr, known: Known<'_>) -> Option<f64> {
    of_condition(condition, known).map(|(share, _)| share.clamp(LEAST, 1.0))
}

/// Whether a histogram tells anything of a condition or of its parts.
pub(super) fn is_told(condition: &Expr, known: Known<'_>) -> bool {
    match condition {
        Expr::And(list) | Expr::Or(list) => list.iter().any(|one| is_told(one, known)),
        other => of_condition(other, known).is_some(),
    }
}

/// The column at a place, if the place is of this table.
fn column_of(table: &Arc<Table>, base: usize) -> impl Fn(usize) -> Option<(Arc<Table>, usize)> {
    move |place: usize| {
        let column = place.checked_sub(base).filter(|at| *at < table.columns().len())?;
        Some((table.clone(), column))
    }
}

/// What histograms of a table tell of conditions on its columns, which begin at `base`.
pub fn told<'c>(
    table: &Arc<Table>,
    base: usize,
    conditions: impl Iterator<Item = &'c Expr>,
    eval: &EvalContext<'_>,
) -> Vec<Told> {
    if table.counters.histograms.is_empty() {
        return Vec::new();
    }
    let column = column_of(table, base);
    let known = Known { column: &column, eval };
    let told = conditions.filter(|condition| is_told(condition, known));
    told.map(|one| Told { condition: one.clone(), share: selectivity(one, known) }).collect()
}

/// The share that a condition would be told now.
pub fn told_now(table: &Arc<Table>, base: usize, told: &Told, eval: &EvalContext<'_>) -> f64 {
    selectivity(&told.condition, Known { column: &column_of(table, base), eval })
}

/// The share, and that of the rows for which the condition is not NULL.
fn of_condition(condition: &Expr, known: Known<'_>) -> Option<(f64, f64)> {
    let (share, all) = match condition {
        Expr::Compare { op, left, right, collation } => {
            let one = comparison(*op, left, right, *collation, known);
            return one.or_else(|| comparison(mirrored(*op), right, left, *collation, known));
        }
        Expr::Between { operand, low, high, collation, negated } => {
            let (histogram, kind) = histogram(operand, known)?;
            let low = place(low, &kind, *collation, known)?;
            let high = place(high, &kind, *collation, known)?;
            let within = histogram.below(&high, true)? - histogram.below(&low, false)?;
            negate(within.max(0.0), histogram.not_null(), *negated)
        }
        Expr::InList { operand, list, collation, negated } if list.len() <= LIST_MAX => {
            let (histogram, kind) = histogram(operand, known)?;
            let mut within = 0.0;
            for one in list {
                if pulse::step().is_err() {
                    return None;
                }
                within += histogram.equal(&place(one, &kind, *collation, known)?)?;
            }
            negate(within.min(histogram.not_null()), histogram.not_null(), *negated)
        }
        Expr::Is { operand, test: IsTest::Null, negated } => {
            negate(histogram(operand, known)?.0.nulls, 1.0, *negated)
        }
        Expr::Not(operand) => {
            let (share, all) = of_condition(operand, known)?;
            negate(share, all, true)
        }
        _ => return None,
    };
    Some((share, all))
}

fn negate(share: f64, all: f64, negated: bool) -> (f64, f64) {
    (if negated { (all - share).max(0.0) } else { share }, all)
}

fn comparison(
    op: CompareOp,
    column: &Expr,
    value: &Expr,
    collation: Collation,
    known: Known<'_>,
) -> Option<(f64, f64)> {
    let (histogram, kind) = histogram(column, known)?;
    let all = histogram.not_null();
    if op == CompareOp::NullSafeEqual && value_of(value, known)?.is_null() {
        return Some((histogram.nulls, 1.0));
    }
    let value = place(value, &kind, collation, known)?;
    let is_member = matches!(kind, ColumnType::Enum { .. } | ColumnType::Set { .. });
    let share = match op {
        CompareOp::Equal | CompareOp::NullSafeEqual => histogram.equal(&value)?,
        CompareOp::NotEqual => (all - histogram.equal(&value)?).max(0.0),
        // Members are compared as texts, which is not their order.
        _ if is_member => return None,
        CompareOp::Less => histogram.below(&value, false)?,
        CompareOp::LessOrEqual => histogram.below(&value, true)?,
        CompareOp::Greater => histogram.above(&value, false)?,
        CompareOp::GreaterOrEqual => histogram.above(&value, true)?,
    };
    Some((share, if op == CompareOp::NullSafeEqual { 1.0 } else { all }))
}

fn histogram(expr: &Expr, known: Known<'_>) -> Option<(Arc<Histogram>, ColumnType)> {
    let (Expr::Column(place) | Expr::TimestampColumn(place)) = expr else { return None };
    let (table, column) = (known.column)(*place)?;
    let histogram = table.histogram(column)?;
    Some((histogram, table.columns()[column].kind.clone()))
}

/// What an expression is now; None if that is known only when the statement runs. What is wrong with it is
/// told then.
fn value_of(expr: &Expr, known: Known<'_>) -> Option<Value> {
    if !Operand::is_known_expr(expr) {
        return None;
    }
    let unheard = Warnings::new();
    expr.eval(&NoRow, &EvalContext { warnings: &unheard, ..*known.eval }).ok()
}

/// Where a value falls among those of a column; None for NULL, which nothing is compared with.
fn place(expr: &Expr, kind: &ColumnType, collation: Collation, known: Known<'_>) -> Option<SearchValue> {
    let value = value_of(expr, known)?;
    let unheard = Warnings::new();
    let eval = EvalContext { warnings: &unheard, ..*known.eval };
    let found = match (kind, &value) {
        (_, Value::Null) => return None,
        (ColumnType::Enum { names, collation: own }, Value::Str(text)) => {
            let at =
                names.names.iter().position(|name| own.compare(name.as_bytes(), text.as_bytes()).is_eq());
            let bits = at.map_or(0, |at| at as u64 + 1);
            SearchValue::Exact(Value::Enum(EnumValue { bits, names: names.clone() }))
        }
        (ColumnType::Enum { names, .. } | ColumnType::Set { names, .. }, Value::Int(number)) => {
            let bits = u64::try_from(*number).ok()?;
            SearchValue::Exact(Value::Enum(EnumValue { bits, names: names.clone() }))
        }
        _ => search_value(&value, kind, collation, &eval),
    };
    (found != SearchValue::Unusable).then_some(found)
}
