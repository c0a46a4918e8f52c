//! Evaluation of bound expressions.

mod choice;
mod list;

use std::borrow::Cow;

use smallvec::SmallVec;
use turnstile_syntax::ast::IsTest;
use turnstile_values::datetime;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::value::{ReadFor, Value, read_moment, to_bool};

use super::predicate::Misfit;
use super::source::in_source;
use super::{Call, CompareOp, Expr, Row, arithmetic, predicate};
use crate::expr::{EvalContext, Held, coerce_value};
use crate::functions::cast_named;
use crate::functions::demand::{Demand, choosing};
use crate::functions::result_bytes::bounded;

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
            Expr::AssignVariable { name, value, kind } => {
                let value = value.eval(row, context)?;
                let value = kind.map_or(Value::Null, |kind| kind.held(value));
                context.session.set_user_variable(name, value.clone(), *kind)?;
                value
            }
            Expr::SystemVariable { scope, name } => context.session.system_variable(*scope, name)?,
            Expr::Arithmetic { op, left, right, source } => {
                let left = left.operand(row, context)?;
                if left.is_null() && op.is_of_bits() {
                    return Ok(Value::Null);
                }
                let _held = context.keep(&left)?;
                arithmetic::apply(*op, &left, &*right.operand(row, context)?, context)
                    .map_err(|error| in_source(error, || Some(source.as_ref()?.text(context))))?
            }
            Expr::Negate { operand, source } => arithmetic::negate(&operand.eval(row, context)?, context)
                .map_err(|error| in_source(error, || Some(source.as_ref()?.text(context))))?,
            Expr::BitNot(operand) => match operand.eval(row, context)? {
                Value::Null => Value::Null,
                value => Value::UInt(!turnstile_values::value::to_u64_bits(&value, context)?),
            },
            Expr::Case { .. } | Expr::WithOperand { .. } | Expr::Coalesce { .. } | Expr::NullIf { .. } => {
                self.eval_choice(row, context)?
            }
            Expr::Operand => row.operand().cloned().unwrap_or(Value::Null),
            Expr::Cast { operand, to, name } => {
                cast_named(&operand.eval(row, context)?, to, name.as_deref(), context)?
            }
            Expr::Coerce { operand, to } => coerce_value(operand.eval(row, context)?, to, context)?,
            Expr::DateArithmetic { .. } | Expr::TimestampDiff { .. } => self.eval_moment(row, context)?,
            Expr::Extract { unit, operand } => {
                crate::functions::extract_part(&operand.eval(row, context)?, *unit, context)?
            }
            Expr::Call(call) => eval_call(call, row, context)?,
            Expr::Benchmark(arguments) => crate::functions::benchmark(arguments, row, context)?,
            Expr::Sleep(_) => return Err(SqlError::not_supported_yet("SLEEP in this place")),
            Expr::Row(parts) => return Err(SqlError::operand_columns(if parts.is_empty() { 2 } else { 1 })),
            _ => Value::truth(self.eval_truth(row, context)?),
        })
    }

    /// The value for one row, where it is in memory already.
    #[inline]
    fn in_place<'v>(&'v self, row: &'v dyn Row, context: &EvalContext<'v>) -> Option<&'v Value> {
        match self {
            Expr::Literal(value) => Some(value),
            Expr::Parameter(position) => context.parameters.get(*position),
            Expr::Column(position) => row.value_in_place(*position),
            Expr::Operand => row.operand(),
            _ => None,
        }
    }

    /// The same if it is a whole number, which takes nobody's memory and cannot fail.
    #[inline]
    fn whole_in_place(&self, row: &dyn Row, context: &EvalContext<'_>) -> Option<i64> {
        match self.in_place(row, context) {
            Some(Value::Int(number)) => Some(*number),
            _ => None,
        }
    }

    /// The value for one row, without a copy where it is in memory already.
    pub fn operand<'v>(&'v self, row: &'v dyn Row, context: &EvalContext<'v>) -> SqlResult<Cow<'v, Value>> {
        match (self.in_place(row, context), self) {
            (Some(value), _) => Ok(Cow::Borrowed(value)),
            (None, Expr::Column(position)) => Ok(Cow::Owned(row.value(*position))),
            _ => self.eval(row, context).map(Cow::Owned),
        }
    }

    /// The truth value for one row: what WHERE asks for. `None` is unknown.
    pub fn eval_truth(&self, row: &dyn Row, context: &EvalContext<'_>) -> SqlResult<Option<bool>> {
        match self {
            Expr::Compare { op, left: one, right: other, collation } => {
                let left = one.operand(row, context)?;
                if left.is_null() && *op != CompareOp::NullSafeEqual {
                    return Ok(None);
                }
                let _held = context.keep(&left)?;
                let right = other.operand(row, context)?;
                if let (Value::Int(one), Value::Int(other)) = (&*left, &*right) {
                    return Ok(Some(op.holds(one.cmp(other))));
                }
                let misfits = |left: bool| if left { Misfit::of(one, other) } else { Misfit::of(other, one) };
                predicate::compare_op(*op, &left, &right, *collation, context, &misfits)
            }
            Expr::And(parts) => {
                let mut result = Some(true);
                for (nth, part) in parts.iter().enumerate() {
                    context.nth_step(nth)?;
                    result = predicate::and(result, part.eval_truth(row, context)?);
                    if result == Some(false) {
                        break;
                    }
                }
                Ok(result)
            }
            Expr::Or(parts) => {
                let mut result = Some(false);
                for (nth, part) in parts.iter().enumerate() {
                    context.nth_step(nth)?;
                    match part.eval_truth(row, context)? {
                        Some(true) => return Ok(Some(true)),
                        None => result = None,
                        Some(false) => {}
                    }
                }
                Ok(result)
            }
            Expr::Xor(left, right) => {
                let Some(left) = left.eval_truth(row, context)? else { return Ok(None) };
                Ok(right.eval_truth(row, context)?.map(|right| left != right))
            }
            Expr::Not(operand) => Ok(operand.eval_truth(row, context)?.map(|truth| !truth)),
            Expr::Is { operand, test: IsTest::Null | IsTest::Unknown, negated } => {
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
            Expr::Between { operand, low, high, negated, .. } => {
                let whole = |part: &Expr| part.whole_in_place(row, context);
                match (whole(operand), whole(low), whole(high)) {
                    // Ranges of a whole-number key, which are read row by row.
                    (Some(operand), Some(low), Some(high)) => {
                        Ok(Some((low..=high).contains(&operand) != *negated))
                    }
                    _ => self.eval_in(row, context),
                }
            }
            Expr::InList { .. } | Expr::InRows { .. } => self.eval_in(row, context),
            Expr::Like { .. } | Expr::Regexp { .. } => self.eval_pattern(row, context),
            other => to_bool(&other.eval(row, context)?, context),
        }
    }

    fn eval_pattern(&self, row: &dyn Row, context: &EvalContext<'_>) -> SqlResult<Option<bool>> {
        match self {
            Expr::Like { operand, pattern, escape, collation, negated } => {
                let operand = operand.eval(row, context)?;
                if operand.is_null() {
                    return Ok(None);
                }
                let mut held = context.held();
                held.add(&operand)?;
                let pattern = pattern.eval(row, context)?;
                held.add(&pattern)?;
                let escape = match escape {
                    Some(escape) => predicate::escape_character(&escape.eval(row, context)?)?,
                    None => None,
                };
                let truth = predicate::like_values(&operand, &pattern, escape, *collation, context)?;
                Ok(truth.map(|truth| truth != *negated))
            }
            Expr::Regexp { operand, pattern, collation, negated } => {
                let pattern = pattern.eval(row, context)?;
                if pattern.is_null() {
                    return Ok(None);
                }
                let mut held = context.held();
                held.add(&pattern)?;
                let operand = operand.eval(row, context)?;
                held.add(&operand)?;
                Ok(predicate::regexp_values(&operand, &pattern, *collation, context)?
                    .map(|truth| truth != *negated))
            }
            _ => Ok(None),
        }
    }

    fn eval_moment(&self, row: &dyn Row, context: &EvalContext<'_>) -> SqlResult<Value> {
        match self {
            Expr::DateArithmetic { date, amount, unit, subtract, source } => {
                let date = date.eval(row, context)?;
                if date.is_null() {
                    return Ok(Value::Null);
                }
                let mut held = context.held();
                held.add(&date)?;
                let amount = amount.eval(row, context)?;
                let source = source.as_deref();
                crate::functions::date_arithmetic((&date, &amount), *unit, *subtract, source, context)
            }
            Expr::TimestampDiff { unit, from, to } => {
                let Some(from) = read_moment(&from.eval(row, context)?, ReadFor::Calendar, context)? else {
                    return Ok(Value::Null);
                };
                let to = read_moment(&to.eval(row, context)?, ReadFor::Calendar, context)?;
                let difference = |to| Value::Int(datetime::timestamp_difference(*unit, from, to));
                Ok(to.map_or(Value::Null, difference))
            }
            _ => Ok(Value::Null),
        }
    }
}

/// Calls a function with its arguments, which it holds while it works.
fn eval_call(call: &Call, row: &dyn Row, context: &EvalContext<'_>) -> SqlResult<Value> {
    let mut held = context.held();
    let Some(arguments) = eval_arguments(call, row, &mut held, context)? else { return Ok(Value::Null) };
    context.step()?;
    let value = (call.function)(call, &arguments, context)
        .map_err(|error| in_source(error, || crate::functions::text_of_call(call, context)))?;
    bounded(value, call, context)
}

type Arguments = SmallVec<[Value; 4]>;

/// The arguments that the call asks for; `None` if one that is NULL settles that the result is.
fn eval_arguments(
    call: &Call,
    row: &dyn Row,
    held: &mut Held<'_>,
    context: &EvalContext<'_>,
) -> SqlResult<Option<Arguments>> {
    let mut arguments = Arguments::new();
    let mut eval = |nth: usize| {
        context.nth_step(nth)?;
        let value = call.arguments[nth].eval(row, context)?;
        held.add_argument(&value)?;
        SqlResult::Ok(value)
    };
    let count = call.arguments.len();
    match call.demand {
        Demand::All => {
            for nth in 0..count {
                arguments.push(eval(nth)?);
            }
        }
        Demand::UntilNull(first) => {
            arguments.resize(count, Value::Null);
            let first = first.iter().copied().filter(|nth| *nth < count);
            for nth in first.clone().chain((0..count).filter(|nth| !first.clone().any(|other| other == *nth)))
            {
                arguments[nth] = eval(nth)?;
                if arguments[nth].is_null() {
                    return Ok(None);
                }
            }
        }
        Demand::Unless(one) => {
            arguments.resize(count, Value::Null);
            arguments[one] = eval(one)?;
            if !arguments[one].is_null() {
                for nth in (0..count).filter(|nth| *nth != one) {
                    arguments[nth] = eval(nth)?;
                }
            }
        }
        Demand::FirstAtLast => {
            arguments.push(Value::Null);
            for nth in 1..count {
                arguments.push(eval(nth)?);
            }
            if !arguments[1..].iter().any(Value::is_null) {
                arguments[0] = eval(0)?;
            }
        }
        Demand::Chosen(chooses) => {
            let (first, number) = choosing(eval(0)?, context)?;
            arguments.push(first);
            for nth in 1..count {
                context.nth_step(nth)?;
                arguments.push(if chooses(number, nth) { eval(nth)? } else { Value::Null });
            }
        }
    }
    Ok(Some(arguments))
}

/// The value of an expression that is the same for all rows of a statement.
fn constant<'v>(expr: &'v Expr, context: &EvalContext<'v>) -> Option<&'v Value> {
    match expr {
        Expr::Literal(value) => Some(value),
        Expr::Parameter(position) => context.parameters.get(*position),
        _ => None,
    }
}
