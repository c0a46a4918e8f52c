//! Computing aggregates, one row after another.

mod distinct;
mod saved;
mod texts;

use std::cmp::Ordering;

use super::documents::Document;
use super::{Exec, hash_key, order};
use distinct::Distinct;
use texts::Texts;
use turnstile_expr::expr::AggregateKind;
use turnstile_expr::expr::{EvalContext, Row};
use turnstile_plan::plan::query::Aggregate;
use turnstile_values::collation::Collation;
use turnstile_values::decimal::Decimal;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::memory::{Charge, heap_bytes};
use turnstile_values::types::ColumnType;
use turnstile_values::value::{Value, compare, to_bytes, to_decimal, to_double, to_u64_bits};

/// One aggregate over one group.
pub struct Accumulator {
    state: State,
    seen: Option<Distinct>,
}

enum State {
    Count(u64),
    Whole {
        sum: i128,
        count: u64,
    },
    Exact {
        sum: Decimal,
        count: u64,
    },
    Double {
        sum: f64,
        count: u64,
    },
    Extreme(Value),
    Bits(u64),
    /// Bits of byte strings; None before the first.
    Bytes(Option<Vec<u8>>),
    Texts(Texts),
    Document(Document),
    Spread {
        count: u64,
        mean: f64,
        squares: f64,
    },
}

impl Accumulator {
    /// Nothing seen yet.
    pub fn new(aggregate: &Aggregate) -> Accumulator {
        let state = match aggregate.kind {
            AggregateKind::CountRows | AggregateKind::Count => State::Count(0),
            AggregateKind::Sum | AggregateKind::Average => match &aggregate.result {
                ColumnType::Decimal { .. } => match aggregate.arguments.first().map(|one| &one.kind.column) {
                    Some(kind) if kind.is_integer() => State::Whole { sum: 0, count: 0 },
                    _ => State::Exact { sum: Decimal::ZERO, count: 0 },
                },
                _ => State::Double { sum: 0.0, count: 0 },
            },
            AggregateKind::Min | AggregateKind::Max => State::Extreme(Value::Null),
            AggregateKind::BitAnd | AggregateKind::BitOr | AggregateKind::BitXor
                if aggregate.result.is_binary_string() =>
            {
                State::Bytes(None)
            }
            AggregateKind::BitAnd => State::Bits(u64::MAX),
            AggregateKind::BitOr | AggregateKind::BitXor => State::Bits(0),
            AggregateKind::GroupConcat => State::Texts(Texts::default()),
            AggregateKind::JsonArray => State::Document(Document::array()),
            AggregateKind::JsonObject => State::Document(Document::object()),
            _ => State::Spread { count: 0, mean: 0.0, squares: 0.0 },
        };
        Accumulator { state, seen: aggregate.distinct.then(Distinct::default) }
    }

    /// Adds a row.
    pub fn add(
        &mut self,
        aggregate: &Aggregate,
        row: &dyn Row,
        context: &EvalContext<'_>,
        charge: &mut Charge,
    ) -> SqlResult<()> {
        if aggregate.kind == AggregateKind::CountRows {
            if let State::Count(count) = &mut self.state {
                *count += 1;
            }
            return Ok(());
        }
        if let State::Document(document) = &mut self.state {
            let values = aggregate.arguments.iter().map(|one| one.expr.eval(row, context));
            return document.add(&values.collect::<SqlResult<Vec<Value>>>()?, context, charge);
        }
        if aggregate.arguments.len() > 1 {
            return self.add_several(aggregate, row, context, charge);
        }
        let Some(argument) = aggregate.arguments.first() else { return Ok(()) };
        let value = argument.expr.operand(row, context)?;
        if let (State::Exact { sum, count }, Value::Decimal(number), None) =
            (&mut self.state, &*value, &self.seen)
        {
            *sum = sum.add(number).map_err(|_| SqlError::value_out_of_range("DECIMAL", "sum"))?;
            *count += 1;
            return Ok(());
        }
        let value = value.into_owned();
        if value.is_null() || !self.is_new(std::slice::from_ref(&value), aggregate, context, charge)? {
            return Ok(());
        }
        if let State::Texts(list) = &mut self.state {
            let keys =
                aggregate.order.iter().map(|key| key.expr.eval(row, context)).collect::<SqlResult<_>>()?;
            return list.add(keys, to_bytes(&value).into_owned(), aggregate, context, charge);
        }
        if let State::Extreme(best) = &self.state {
            charge.add(heap_bytes(&value).saturating_sub(heap_bytes(best)))?;
        }
        self.add_value(aggregate.kind, value, aggregate, context)
    }

    /// The same once more, to go on from while its result is taken; None for what is a list.
    pub fn copy(&self) -> Option<Accumulator> {
        let state = match &self.state {
            State::Count(count) => State::Count(*count),
            State::Whole { sum, count } => State::Whole { sum: *sum, count: *count },
            State::Exact { sum, count } => State::Exact { sum: sum.clone(), count: *count },
            State::Double { sum, count } => State::Double { sum: *sum, count: *count },
            State::Extreme(value) => State::Extreme(value.clone()),
            State::Bits(bits) => State::Bits(*bits),
            State::Bytes(bytes) => State::Bytes(bytes.clone()),
            State::Spread { count, mean, squares } => {
                State::Spread { count: *count, mean: *mean, squares: *squares }
            }
            State::Texts(_) | State::Document(_) => return None,
        };
        self.seen.is_none().then_some(Accumulator { state, seen: None })
    }

    /// Whether there is a copy of it: it is no list.
    pub fn has_copy(&self) -> bool {
        self.seen.is_none() && !matches!(self.state, State::Texts(_) | State::Document(_))
    }

    /// Whether rows can be taken back as if they had never been added.
    pub fn takes_back(&self) -> bool {
        matches!(self.state, State::Count(_) | State::Whole { .. } | State::Exact { .. })
    }

    /// Takes back a row that was added.
    pub fn take_back(
        &mut self,
        aggregate: &Aggregate,
        row: &dyn Row,
        context: &EvalContext<'_>,
    ) -> SqlResult<()> {
        let value = match aggregate.arguments.first() {
            Some(argument) => argument.expr.eval(row, context)?,
            None => Value::Int(1),
        };
        if value.is_null() {
            return Ok(());
        }
        match &mut self.state {
            State::Count(count) => *count -= 1,
            State::Whole { sum, count } => {
                *sum -= whole(value, context)?;
                *count -= 1;
            }
            State::Exact { sum, count } => {
                let number = to_decimal(&value, context)?;
                *sum = sum.sub(&number).map_err(|_| SqlError::value_out_of_range("DECIMAL", "sum"))?;
                *count -= 1;
            }
            _ => {}
        }
        Ok(())
    }

    /// So many rows more for COUNT(*).
    pub fn count_more(&mut self, rows: u64) {
        if let State::Count(count) = &mut self.state {
            *count += rows;
        }
    }

    fn is_new(
        &mut self,
        values: &[Value],
        aggregate: &Aggregate,
        context: &EvalContext<'_>,
        charge: &mut Charge,
    ) -> SqlResult<bool> {
        let Some(seen) = &mut self.seen else { return Ok(true) };
        let mut key = Vec::new();
        for (value, argument) in values.iter().zip(&aggregate.arguments) {
            hash_key::append_of(value, &argument.kind.column, aggregate.collation, context, &mut key)?;
        }
        // What is only counted needs no value.
        let counts = matches!(self.state, State::Count(_));
        let values = if counts { &[Value::Null] } else { values };
        seen.takes(&key, values, charge)
    }

    /// Some of the different values that it has seen are in a file.
    pub(super) fn has_shed(&self) -> bool {
        self.seen.as_ref().is_some_and(Distinct::is_away)
    }

    /// Puts the different values that it has seen into a file, and gives back what they hold. Those of
    /// GROUP_CONCAT stay, whose texts are wanted in the order in which they come.
    pub(super) async fn shed(&mut self, exec: &mut Exec<'_>, charge: &mut Charge) -> SqlResult<()> {
        match &mut self.seen {
            Some(seen) if !matches!(self.state, State::Texts(_)) => seen.shed(exec, charge).await,
            _ => Ok(()),
        }
    }

    /// Adds the values that were put into a file, each once.
    pub(super) async fn gather(&mut self, exec: &mut Exec<'_>, aggregate: &Aggregate) -> SqlResult<()> {
        let Some(seen) = self.seen.take_if(|seen| seen.is_away()) else { return Ok(()) };
        let Some(mut reading) = seen.read(exec).await? else { return Ok(()) };
        while let Some(values) = reading.next(exec).await? {
            if let Some(value) = values.into_iter().next() {
                self.add_value(aggregate.kind, value, aggregate, exec.eval)?;
            }
        }
        Ok(())
    }

    /// COUNT(DISTINCT a, b) and GROUP_CONCAT(a, b).
    fn add_several(
        &mut self,
        aggregate: &Aggregate,
        row: &dyn Row,
        context: &EvalContext<'_>,
        charge: &mut Charge,
    ) -> SqlResult<()> {
        let values: Vec<Value> =
            aggregate.arguments.iter().map(|one| one.expr.eval(row, context)).collect::<SqlResult<_>>()?;
        if values.iter().any(Value::is_null) || !self.is_new(&values, aggregate, context, charge)? {
            return Ok(());
        }
        match &mut self.state {
            State::Count(count) => *count += 1,
            State::Texts(list) => {
                let keys = aggregate
                    .order
                    .iter()
                    .map(|key| key.expr.eval(row, context))
                    .collect::<SqlResult<_>>()?;
                let parts: Vec<_> = values.iter().map(to_bytes).collect();
                let text = parts.concat();
                list.add(keys, text, aggregate, context, charge)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn add_value(
        &mut self,
        kind: AggregateKind,
        value: Value,
        aggregate: &Aggregate,
        context: &EvalContext<'_>,
    ) -> SqlResult<()> {
        match &mut self.state {
            State::Count(count) => *count += 1,
            State::Whole { sum, count } => {
                *sum += whole(value, context)?;
                *count += 1;
            }
            State::Exact { sum, count } => {
                let number = to_decimal(&value, context)?;
                *sum = sum.add(&number).map_err(|_| SqlError::value_out_of_range("DECIMAL", "sum"))?;
                *count += 1;
            }
            State::Double { sum, count } => {
                *sum += to_double(&value, context)?;
                *count += 1;
            }
            State::Extreme(best) if aggregate.result == ColumnType::Json => {
                let held = &mut context.held();
                let own = turnstile_expr::functions::document_order(&value, held)?;
                let wanted = if kind == AggregateKind::Min { Ordering::Less } else { Ordering::Greater };
                if best.is_null()
                    || own.cmp(&turnstile_expr::functions::document_order(best, held)?) == wanted
                {
                    *best = value;
                }
            }
            State::Extreme(best) => {
                let wanted = if kind == AggregateKind::Min { Ordering::Less } else { Ordering::Greater };
                let bytes = value.stored_len() + best.stored_len();
                let order = || compare_extremes(&value, best, aggregate.collation);
                if best.is_null() || context.watched(bytes, order)? == wanted {
                    *best = value;
                }
            }
            State::Bits(bits) => {
                let more = to_u64_bits(&value, context)?;
                match kind {
                    AggregateKind::BitAnd => *bits &= more,
                    AggregateKind::BitOr => *bits |= more,
                    _ => *bits ^= more,
                }
            }
            State::Bytes(all) => add_bytes(kind, all, &to_bytes(&value))?,
            // Welford's method: stable in one pass.
            State::Spread { count, mean, squares } => {
                let number = to_double(&value, context)?;
                *count += 1;
                let difference = number - *mean;
                *mean += difference / *count as f64;
                *squares += difference * (number - *mean);
            }
            State::Texts(_) | State::Document(_) => {}
        }
        Ok(())
    }

    /// The result.
    pub fn result(self, aggregate: &Aggregate, context: &EvalContext<'_>) -> SqlResult<Value> {
        let divides = aggregate.kind == AggregateKind::Average;
        let average = divides.then_some(context.settings.division_digits);
        Ok(match self.state {
            State::Count(count) => Value::Int(count as i64),
            State::Whole { count: 0, .. }
            | State::Exact { count: 0, .. }
            | State::Double { count: 0, .. } => Value::Null,
            State::Whole { sum, count } => exact(&Decimal::from_scaled_i128(sum, 0), count, average)?,
            State::Exact { sum, count } => match aggregate.kept_scale {
                Some(scale) if sum.scale() != scale => exact(&sum.round_to(scale), count, average)?,
                _ => exact(&sum, count, average)?,
            },
            State::Double { sum, count } => Value::Double(if divides { sum / count as f64 } else { sum }),
            State::Extreme(value) => match (value, aggregate.kept_scale) {
                (Value::Decimal(number), Some(scale)) => Value::Decimal(number.round_to(scale)),
                (value, _) => value,
            },
            State::Bits(bits) => Value::UInt(bits),
            State::Bytes(bytes) => Value::bytes(bytes.unwrap_or_else(|| {
                let none = if aggregate.kind == AggregateKind::BitAnd { 0xFF } else { 0 };
                vec![none; aggregate.result.text_length() as usize]
            })),
            State::Texts(list) => list.result(aggregate, context)?,
            State::Document(document) => {
                let array = aggregate.kind == AggregateKind::JsonArray;
                document.result(if array { "json_arrayagg" } else { "json_objectagg" }, context)?
            }
            State::Spread { count, squares, .. } => spread(aggregate.kind, count, squares),
        })
    }
}

fn whole(value: Value, context: &EvalContext<'_>) -> SqlResult<i128> {
    Ok(match value {
        Value::Int(number) => i128::from(number),
        Value::UInt(number) => i128::from(number),
        other => i128::from(turnstile_values::value::to_i64(&other, context)?),
    })
}

/// BIT_AND, BIT_OR and BIT_XOR of byte strings, which have to be equally long.
fn add_bytes(kind: AggregateKind, all: &mut Option<Vec<u8>>, more: &[u8]) -> SqlResult<()> {
    let Some(all) = all else {
        *all = Some(more.to_vec());
        return Ok(());
    };
    if all.len() != more.len() {
        return Err(SqlError::bit_operands_of_unequal_length());
    }
    for (byte, more) in all.iter_mut().zip(more) {
        match kind {
            AggregateKind::BitAnd => *byte &= more,
            AggregateKind::BitOr => *byte |= more,
            _ => *byte ^= more,
        }
    }
    Ok(())
}

/// A sum, or with the digits that a division adds and more, an average.
fn exact(sum: &Decimal, count: u64, average: Option<u8>) -> SqlResult<Value> {
    let Some(more) = average else { return Ok(Value::Decimal(sum.clone())) };
    match sum.average(count, more) {
        Some(Ok(quotient)) => Ok(Value::Decimal(quotient)),
        Some(Err(_)) => Err(SqlError::value_out_of_range("DECIMAL", "avg")),
        None => Ok(Value::Null),
    }
}

fn spread(kind: AggregateKind, count: u64, squares: f64) -> Value {
    let sample = matches!(kind, AggregateKind::StdDevSample | AggregateKind::VarianceSample);
    let divisor = if sample { count.saturating_sub(1) } else { count };
    if divisor == 0 {
        return Value::Null;
    }
    let variance = squares / divisor as f64;
    let root = matches!(kind, AggregateKind::StdDevPopulation | AggregateKind::StdDevSample);
    Value::Double(if root { variance.sqrt() } else { variance })
}

/// How MIN and MAX compare: as ORDER BY does, but members of an ENUM or SET by their texts.
fn compare_extremes(one: &Value, other: &Value, collation: Collation) -> Ordering {
    match (one, other) {
        (Value::Enum(_), Value::Enum(_)) => compare(one, other, collation).unwrap_or(Ordering::Equal),
        _ => order::compare_values(one, other, collation),
    }
}
