//! `SET col = col ± number WHERE col compares number ...` over integer columns: the flash sale's change, as a
//! few steps over the row's bytes instead of a walk through expressions.
//!
//! The steps answer only where they say what the expressions would say: a NULL, a row of an older shape, a
//! result beyond the column or the type, a parameter that is no whole number leave it to the expressions.

use smallvec::SmallVec;
use turnstile_catalog::dictionary::Table;
use turnstile_catalog::row_codec::IntegerPlace;
use turnstile_expr::expr::{ArithmeticOp, CompareOp, EvalContext, Expr};
use turnstile_values::value::Value;

use super::change::ChangeTarget;
use super::point::conditions;
use super::query::JoinStep;

/// A whole number that a statement names.
#[derive(Debug, Clone, Copy)]
enum Number {
    Literal(i64),
    Parameter(usize),
}

impl Number {
    fn of(expr: &Expr) -> Option<Number> {
        match expr {
            Expr::Literal(Value::Int(number)) => Some(Number::Literal(*number)),
            Expr::Parameter(position) => Some(Number::Parameter(*position)),
            _ => None,
        }
    }

    #[inline]
    fn value(self, context: &EvalContext<'_>) -> Option<i64> {
        match self {
            Number::Literal(number) => Some(number),
            Number::Parameter(position) => match context.parameters.get(position)? {
                Value::Int(number) => Some(*number),
                _ => None,
            },
        }
    }
}

/// The steps.
#[derive(Debug, Clone)]
pub struct IntegerChange {
    place: IntegerPlace,
    subtract: bool,
    number: Number,
    conditions: SmallVec<[(IntegerPlace, CompareOp, Number); 2]>,
}

/// What the steps say of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntegerOutcome {
    /// A condition does not hold.
    Refused,
    /// The row keeps its values.
    Kept,
    /// The new row was appended.
    Replaced,
}

impl IntegerChange {
    /// The steps of a change of one table, if it is of this kind and nothing else comes with it: no other
    /// column that changes by itself, and no CHECK.
    pub fn of(step: &JoinStep, target: &ChangeTarget) -> Option<IntegerChange> {
        let table = &target.table;
        let [(column, Some(Expr::Arithmetic { op, left, right, .. }))] = target.assignments.as_deref()?
        else {
            return None;
        };
        let subtract = match op {
            ArithmeticOp::Add => false,
            ArithmeticOp::Subtract => true,
            _ => return None,
        };
        let by_itself = table.columns().iter().any(|column| column.on_update.is_some());
        if by_itself || !table.generated.is_empty() || !table.checks.is_empty() {
            return None;
        }
        if !matches!(**left, Expr::Column(at) if at == target.base + column) {
            return None;
        }
        Some(IntegerChange {
            place: table.layout.integer_place(*column)?,
            subtract,
            number: Number::of(right)?,
            conditions: conditions(step)
                .map(|filter| condition(table, step.base, &filter.expr))
                .collect::<Option<_>>()?,
        })
    }

    /// Looks at a row and appends the new one. None: it is for the expressions to say; nothing was appended.
    #[inline]
    pub fn run(&self, old: &[u8], new: &mut Vec<u8>, context: &EvalContext<'_>) -> Option<IntegerOutcome> {
        for (place, op, number) in &self.conditions {
            if !op.holds(place.read(old)?.cmp(&number.value(context)?)) {
                return Some(IntegerOutcome::Refused);
            }
        }
        let (value, number) = (self.place.read(old)?, self.number.value(context)?);
        let changed = if self.subtract { value.checked_sub(number) } else { value.checked_add(number) }?;
        if !self.place.holds(changed) {
            return None;
        }
        if changed == value {
            return Some(IntegerOutcome::Kept);
        }
        let start = new.len();
        new.extend_from_slice(old);
        self.place.write(&mut new[start..], changed);
        Some(IntegerOutcome::Replaced)
    }
}

fn condition(table: &Table, base: usize, expr: &Expr) -> Option<(IntegerPlace, CompareOp, Number)> {
    let Expr::Compare { op, left, right, .. } = expr else { return None };
    let Expr::Column(at) = **left else { return None };
    let place = table.layout.integer_place(at.checked_sub(base)?)?;
    Some((place, *op, Number::of(right)?))
}
