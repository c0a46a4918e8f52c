//! Evaluation of bound expressions.

use std::borrow::Cow;

use smallvec::SmallVec;

use super::{Expr, Row, arithmetic, predicate};
use crate::ast::IsTest;
use crate::datetime;
use crate::error::{SqlError, SqlResult};
use crate::expr::{EvalContext, coerce_value};
use crate::functions::cast;
use crate::value::{Value, to_bool, to_date_time, to_text};

impl Expr {
    /// The value for one row.
    pub fn eval(&self, row: &dyn Row, context: &EvalContext<'_>) -> SqlResult<Value> {
        Ok(match self {
            Expr::Literal(value) => value.clone(),
            Expr::Column(position) => row.value(*position),
            Expr::TimestampColumn(position) => match row.value(*position) {
                Value::DateTime(moment) => Value::DateTime(context.settings.time_zone.from_utc(moment)),
                other => other,
            },
            Expr::Parameter(position) => context
                .parameters
                .get(*position)
                .cloned()
                .ok_or_else(|| SqlError::wrong_arguments("EXECUTE"))?,
            Expr::UserVariable(name) => context.session.user_variable(name),
            Expr::AssignVariable { name, value } => {
                let value = value.eval(row, context)?;
                context.session.set_user_variable(name, value.clone());
                value
            }
            Expr::SystemVariable { scope, name } => context.session.system_variable(*scope, name)?,
            Expr::Arithmetic { op, left, right } => {
                let left = left.eval(row, context)?;
                arithmetic::apply(*op, &left, &right.eval(row, context)?, context)?
            }
            Expr::Negate(operand) => arithmetic::negate(&operand.eval(row, context)?, context)?,
            Expr::BitNot(operand) => match operand.eval(row, context)? {
                Value::Null => Value::Null,
                value => Value::UInt(!crate::value::to_u64_bits(&value, context)?),
            },
            Expr::Case { .. } | Expr::Coalesce { .. } | Expr::NullIf { .. } => {
                self.eval_choice(row, context)?
            }
            Expr::Cast { operand, to } => cast(&operand.eval(row, context)?, to, context)?,
            Expr::Coerce { operand, to } => coerce_value(operand.eval(row, context)?, to, context)?,
            Expr::DateArithmetic { date, amount, unit, subtract } => {
                let date = date.eval(row, context)?;
                let amount = amount.eval(row, context)?;
                crate::functions::date_arithmetic(&date, &amount, *unit, *subtract, context)?
            }
            Expr::TimestampDiff { unit, from, to } => {
                let from = to_date_time(&from.eval(row, context)?, context)?;
                let to = to_date_time(&to.eval(row, context)?, context)?;
                match (from, to) {
                    (Some(from), Some(to)) if !from.date().has_zero_part() && !to.date().has_zero_part() => {
                        Value::Int(datetime::timestamp_difference(*unit, from, to))
                    }
                    _ => Value::Null,
                }
            }
            Expr::Extract { unit, operand } => {
                crate::functions::extract_part(&operand.eval(row, context)?, *unit, context)?
            }
            Expr::Call(call) => {
                let mut arguments: SmallVec<[Value; 4]> = SmallVec::new();
                for argument in &call.arguments {
                    arguments.push(argument.eval(row, context)?);
                }
                (call.function)(call, &arguments, context)?
            }
            Expr::Sleep(_) => return Err(SqlError::not_supported_yet("SLEEP in this place")),
            Expr::Row(parts) => return Err(SqlError::operand_columns(if parts.is_empty() { 2 } else { 1 })),
            _ => Value::truth(self.eval_truth(row, context)?),
        })
    }

    /// The value for one row, without a copy where it is in memory already.
    fn operand<'v>(&'v self, row: &'v dyn Row, context: &'v EvalContext<'_>) -> SqlResult<Cow<'v, Value>> {
        let in_place = match self {
            Expr::Literal(value) => Some(value),
            Expr::Parameter(position) => context.parameters.get(*position),
            Expr::Column(position) => row.value_in_place(*position),
            _ => None,
        };
        match in_place {
            Some(value) => Ok(Cow::Borrowed(value)),
            None => self.eval(row, context).map(Cow::Owned),
        }
    }

    /// The truth value for one row: what WHERE asks for. `None` is unknown.
    pub fn eval_truth(&self, row: &dyn Row, context: &EvalContext<'_>) -> SqlResult<Option<bool>> {
        match self {
            Expr::Compare { op, left, right, collation } => {
                let (left, right) = (left.operand(row, context)?, right.operand(row, context)?);
                predicate::compare_op(*op, &left, &right, *collation, context)
            }
            Expr::And(parts) => {
                let mut result = Some(true);
                for part in parts {
                    result = predicate::and(result, part.eval_truth(row, context)?);
                    if result == Some(false) {
                        break;
                    }
                }
                Ok(result)
            }
            Expr::Or(parts) => {
                let mut result = Some(false);
                for part in parts {
                    match part.eval_truth(row, context)? {
                        Some(true) => return Ok(Some(true)),
                        None => result = None,
                        Some(false) => {}
                    }
                }
                Ok(result)
            }
            Expr::Xor(left, right) => {
                let left = left.eval_truth(row, context)?;
                let right = right.eval_truth(row, context)?;
                Ok(left.zip(right).map(|(one, other)| one != other))
            }
            Expr::Not(operand) => Ok(operand.eval_truth(row, context)?.map(|truth| !truth)),
            Expr::Is { operand, test: IsTest::Null, negated } => {
                Ok(Some(operand.eval(row, context)?.is_null() != *negated))
            }
            Expr::Is { operand, test, negated } => {
                let wanted = match test {
                    IsTest::True => Some(true),
                    IsTest::False => Some(false),
                    _ => None,
                };
                Ok(Some((operand.eval_truth(row, context)? == wanted) != *negated))
            }
            Expr::Between { operand, low, high, collation, negated } => {
                let (operand, low) = (operand.operand(row, context)?, low.operand(row, context)?);
                let high = high.operand(row, context)?;
                let truth = predicate::between(&operand, &low, &high, *collation, context)?;
                Ok(truth.map(|truth| truth != *negated))
            }
            Expr::InList { .. } | Expr::InRows { .. } => self.eval_in(row, context),
            Expr::Like { operand, pattern, escape, collation, negated } => {
                let (operand, pattern) = (operand.eval(row, context)?, pattern.eval(row, context)?);
                let escape = match escape {
                    Some(escape) => to_text(&escape.eval(row, context)?).chars().next(),
                    None => None,
                };
                Ok(predicate::like_values(&operand, &pattern, escape, *collation)
                    .map(|truth| truth != *negated))
            }
            Expr::Regexp { operand, pattern, collation, negated } => {
                let (operand, pattern) = (operand.eval(row, context)?, pattern.eval(row, context)?);
                Ok(predicate::regexp_values(&operand, &pattern, *collation)?.map(|truth| truth != *negated))
            }
            other => to_bool(&other.eval(row, context)?, context),
        }
    }

    fn eval_in(&self, row: &dyn Row, context: &EvalContext<'_>) -> SqlResult<Option<bool>> {
        let mut unknown = false;
        match self {
            Expr::InList { operand, list, collation, negated } => {
                let operand = operand.eval(row, context)?;
                if operand.is_null() {
                    return Ok(None);
                }
                for candidate in list {
                    let candidate = candidate.eval(row, context)?;
                    match predicate::compare_checked(&operand, &candidate, *collation, context)? {
                        Some(order) if order.is_eq() => return Ok(Some(!*negated)),
                        None => unknown = true,
                        _ => {}
                    }
                }
                Ok(if unknown { None } else { Some(*negated) })
            }
            Expr::InRows { operand, list, collation, negated } => {
                let operand =
                    operand.iter().map(|part| part.eval(row, context)).collect::<SqlResult<Vec<_>>>()?;
                for candidate in list {
                    let mut all = Some(true);
                    for (left, right) in operand.iter().zip(candidate) {
                        let order = predicate::compare_checked(
                            left,
                            &right.eval(row, context)?,
                            *collation,
                            context,
                        )?;
                        all = predicate::and(all, order.map(std::cmp::Ordering::is_eq));
                    }
                    match all {
                        Some(true) => return Ok(Some(!*negated)),
                        None => unknown = true,
                        Some(false) => {}
                    }
                }
                Ok(if unknown { None } else { Some(*negated) })
            }
            _ => Ok(None),
        }
    }

    fn eval_choice(&self, row: &dyn Row, context: &EvalContext<'_>) -> SqlResult<Value> {
        match self {
            Expr::Case { branches, otherwise, kind } => {
                for (when, then) in branches {
                    if when.eval_truth(row, context)? == Some(true) {
                        return coerce_value(then.eval(row, context)?, kind, context);
                    }
                }
                match otherwise {
                    Some(otherwise) => coerce_value(otherwise.eval(row, context)?, kind, context),
                    None => Ok(Value::Null),
                }
            }
            Expr::Coalesce { arguments, kind } => {
                for argument in arguments {
                    let value = argument.eval(row, context)?;
                    if !value.is_null() {
                        return coerce_value(value, kind, context);
                    }
                }
                Ok(Value::Null)
            }
            Expr::NullIf { left, right, collation } => {
                let left = left.eval(row, context)?;
                let right = right.eval(row, context)?;
                let equal = predicate::compare_checked(&left, &right, *collation, context)?;
                Ok(if equal.is_some_and(std::cmp::Ordering::is_eq) { Value::Null } else { left })
            }
            _ => Ok(Value::Null),
        }
    }
}
