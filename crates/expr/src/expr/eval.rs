//! Evaluation of bound expressions.

use std::borrow::Cow;

use smallvec::{SmallVec, smallvec};

use super::predicate::Misfit;
use super::source::in_source;
use super::{Call, CompareOp, Expr, Row, arithmetic, predicate};
use crate::expr::{EvalContext, Held, coerce_value};
use crate::functions::cast_named;
use crate::functions::demand::{Demand, choosing};
use crate::functions::result_bytes::bounded;
use turnstile_syntax::ast::IsTest;
use turnstile_values::collation::Collation;
use turnstile_values::datetime;
use turnstile_values::decimal::Decimal;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::lookup::{Candidates, LOOKED_UP_MIN, Lookup};
use turnstile_values::types::ColumnType;
use turnstile_values::value::{ReadFor, Value, read_moment, to_bool};

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
    fn operand<'v>(&'v self, row: &'v dyn Row, context: &EvalContext<'v>) -> SqlResult<Cow<'v, Value>> {
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

    fn eval_in(&self, row: &dyn Row, context: &EvalContext<'_>) -> SqlResult<Option<bool>> {
        let found = match self {
            Expr::Between { operand, low, high, collation, negated } => {
                let mut held = context.held();
                let operand = operand.operand(row, context)?;
                if operand.is_null() {
                    return Ok(None);
                }
                held.add(&*operand)?;
                let low = low.operand(row, context)?;
                held.add(&*low)?;
                let high = high.operand(row, context)?;
                let truth = predicate::between(&operand, &low, &high, *collation, context)?;
                (truth, negated)
            }
            Expr::InList { operand, list, collation, negated } => {
                let operand = operand.eval(row, context)?;
                if operand.is_null() {
                    for candidate in list.iter().filter(|candidate| !matches!(candidate, Expr::Literal(_))) {
                        context.step()?;
                        candidate.eval(row, context)?;
                    }
                    return Ok(None);
                }
                let mut held = context.held();
                held.add(&operand)?;
                let compare = |nth: usize| {
                    let candidate = list[nth].eval(row, context)?;
                    let order = predicate::compare_checked(&operand, &candidate, *collation, context)?;
                    Ok(order.map(std::cmp::Ordering::is_eq))
                };
                let candidate = |nth: usize| constant(&list[nth], context).map(|value| smallvec![value]);
                (self.find_in(&[&operand], *collation, list.len(), candidate, compare, context)?, negated)
            }
            Expr::InRows { operand, list, collation, negated } => {
                let operand =
                    operand.iter().map(|part| part.eval(row, context)).collect::<SqlResult<Vec<_>>>()?;
                let mut held = context.held();
                operand.iter().try_for_each(|part| held.add(part))?;
                let compare = |nth: usize| {
                    let mut all = Some(true);
                    for (left, right) in operand.iter().zip(&list[nth]) {
                        let right = right.eval(row, context)?;
                        let order = predicate::compare_checked(left, &right, *collation, context)?;
                        all = predicate::and(all, order.map(std::cmp::Ordering::is_eq));
                    }
                    Ok(all)
                };
                let candidate = |nth: usize| list[nth].iter().map(|part| constant(part, context)).collect();
                let parts: Candidates<'_> = operand.iter().collect();
                (self.find_in(&parts, *collation, list.len(), candidate, compare, context)?, negated)
            }
            _ => return Ok(None),
        };
        Ok(found.0.map(|truth| truth != *found.1))
    }

    /// Three-valued: whether one of so many candidates is equal to the operands. Many are looked up.
    fn find_in<'v>(
        &self,
        operands: &[&Value],
        collation: Collation,
        count: usize,
        candidate: impl Fn(usize) -> Option<Candidates<'v>>,
        mut compare: impl FnMut(usize) -> SqlResult<Option<bool>>,
        context: &EvalContext<'_>,
    ) -> SqlResult<Option<bool>> {
        if count >= LOOKED_UP_MIN && context.session.keeps_lookups() {
            let place = std::ptr::from_ref(self) as usize;
            let collations: SmallVec<[Collation; 4]> = operands.iter().map(|_| collation).collect();
            // What is kept at the place of an IN is its list.
            let kept = context.session.lookup(place).and_then(|kept| kept.downcast::<Lookup>().ok());
            let lookup = match kept {
                Some(lookup) => lookup,
                None => {
                    let lookup = Lookup::build(operands, &collations, count, candidate, context)?;
                    let lookup = std::sync::Arc::new(lookup);
                    context.session.keep_lookup(place, lookup.clone());
                    lookup
                }
            };
            if lookup.fits(operands) {
                return lookup.contains(operands, &collations, context, compare);
            }
        }
        let mut unknown = false;
        for nth in 0..count {
            context.step()?;
            match compare(nth)? {
                Some(true) => return Ok(Some(true)),
                None => unknown = true,
                Some(false) => {}
            }
        }
        Ok(if unknown { None } else { Some(false) })
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

    fn eval_choice(&self, row: &dyn Row, context: &EvalContext<'_>) -> SqlResult<Value> {
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
