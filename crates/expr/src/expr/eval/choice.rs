//! What gives one of several values: CASE, IF, COALESCE and NULLIF.

use turnstile_values::decimal::Decimal;
use turnstile_values::error::SqlResult;
use turnstile_values::types::ColumnType;
use turnstile_values::value::Value;

use super::super::predicate::Misfit;
use super::super::{CompareOp, Expr, Row, predicate};
use crate::expr::{EvalContext, coerce_value};

/// The value of the branch that was taken; a decimal keeps the digits it has.
fn branch_value(value: Value, kind: &ColumnType, context: &EvalContext<'_>) -> SqlResult<Value> {
    match (&value, kind) {
        (Value::Decimal(number), ColumnType::Decimal { scale, .. }) if number.scale() <= *scale => Ok(value),
        (Value::Int(number), ColumnType::Decimal { .. }) => Ok(Value::Decimal(Decimal::from(*number))),
        (Value::UInt(number), ColumnType::Decimal { .. }) => Ok(Value::Decimal(Decimal::from(*number))),
        _ => coerce_value(value, kind, context),
    }
}

/// A row while a CASE compares its operand.
struct Comparing<'r> {
    row: &'r dyn Row,
    operand: Value,
}

impl Row for Comparing<'_> {
    fn value(&self, position: usize) -> Value {
        self.row.value(position)
    }

    fn value_in_place(&self, position: usize) -> Option<&Value> {
        self.row.value_in_place(position)
    }

    fn operand(&self) -> Option<&Value> {
        Some(&self.operand)
    }
}

impl Expr {
    pub(super) fn eval_choice(&self, row: &dyn Row, context: &EvalContext<'_>) -> SqlResult<Value> {
        match self {
            Expr::Case { branches, otherwise, kind } => {
                for (nth, (when, then)) in branches.iter().enumerate() {
                    context.nth_step(nth)?;
                    if when.eval_truth(row, context)? == Some(true) {
                        return branch_value(then.eval(row, context)?, kind, context);
                    }
                }
                match otherwise {
                    Some(otherwise) => branch_value(otherwise.eval(row, context)?, kind, context),
                    None => Ok(Value::Null),
                }
            }
            Expr::WithOperand { operand, of } => {
                let operand = operand.eval(row, context)?;
                let mut held = context.held();
                held.add(&operand)?;
                of.eval(&Comparing { row, operand }, context)
            }
            Expr::Coalesce { arguments, kind } => {
                for (nth, argument) in arguments.iter().enumerate() {
                    context.nth_step(nth)?;
                    let value = argument.eval(row, context)?;
                    if !value.is_null() {
                        return coerce_value(value, kind, context);
                    }
                }
                Ok(Value::Null)
            }
            Expr::NullIf { left: one, right: other, collation } => {
                let left = one.eval(row, context)?;
                if left.is_null() {
                    return Ok(Value::Null);
                }
                let _held = context.keep(&left)?;
                let right = other.eval(row, context)?;
                let misfits = |left: bool| if left { Misfit::of(one, other) } else { Misfit::of(other, one) };
                let equal =
                    predicate::compare_op(CompareOp::Equal, &left, &right, *collation, context, &misfits)?;
                match equal {
                    Some(true) => Ok(Value::Null),
                    // The manual of MySQL says that the first argument is evaluated once more then.
                    _ if one.varies() => {
                        context.step()?;
                        one.eval(row, context)
                    }
                    _ => Ok(left),
                }
            }
            _ => Ok(Value::Null),
        }
    }
}
