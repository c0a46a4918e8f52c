//! Computing aggregates, one row after another.

use std::collections::HashSet;

use super::{hash_key, order};
use crate::decimal::Decimal;
use crate::error::{SqlError, SqlResult};
use crate::expr::{EvalContext, Row};
use crate::plan::query::{Aggregate, AggregateKind};
use crate::types::ColumnType;
use crate::value::{Value, to_decimal, to_double, to_text, to_u64_bits};

/// One aggregate over one group.
pub struct Accumulator {
    state: State,
    seen: Option<HashSet<Vec<u8>>>,
}

enum State {
    Count(u64),
    Whole { sum: i128, count: u64 },
    Exact { sum: Decimal, count: u64 },
    Double { sum: f64, count: u64 },
    Extreme(Value),
    Any(Option<Value>),
    Bits(u64),
    Texts(Vec<(Vec<Value>, String)>),
    Spread { count: u64, mean: f64, squares: f64 },
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
            AggregateKind::AnyValue => State::Any(None),
            AggregateKind::BitAnd => State::Bits(u64::MAX),
            AggregateKind::BitOr | AggregateKind::BitXor => State::Bits(0),
            AggregateKind::GroupConcat => State::Texts(Vec::new()),
            _ => State::Spread { count: 0, mean: 0.0, squares: 0.0 },
        };
        Accumulator { state, seen: aggregate.distinct.then(HashSet::new) }
    }

    /// Adds a row.
    pub fn add(&mut self, aggregate: &Aggregate, row: &dyn Row, context: &EvalContext<'_>) -> SqlResult<()> {
        if aggregate.kind == AggregateKind::CountRows {
            if let State::Count(count) = &mut self.state {
                *count += 1;
            }
            return Ok(());
        }
        if aggregate.arguments.len() > 1 {
            return self.add_several(aggregate, row, context);
        }
        let Some(argument) = aggregate.arguments.first() else { return Ok(()) };
        let value = argument.expr.eval(row, context)?;
        if let State::Any(kept @ None) = &mut self.state {
            *kept = Some(value);
            return Ok(());
        }
        if value.is_null() || !self.is_new(std::slice::from_ref(&value), aggregate) {
            return Ok(());
        }
        if let State::Texts(list) = &mut self.state {
            let keys =
                aggregate.order.iter().map(|key| key.expr.eval(row, context)).collect::<SqlResult<_>>()?;
            list.push((keys, to_text(&value).to_string()));
            return Ok(());
        }
        self.add_value(aggregate.kind, value, aggregate, context)
    }

    /// So many rows more for COUNT(*).
    pub fn count_more(&mut self, rows: u64) {
        if let State::Count(count) = &mut self.state {
            *count += rows;
        }
    }

    fn is_new(&mut self, values: &[Value], aggregate: &Aggregate) -> bool {
        let Some(seen) = &mut self.seen else { return true };
        let mut key = Vec::new();
        for (value, argument) in values.iter().zip(&aggregate.arguments) {
            hash_key::append(
                value,
                argument.kind.column.collation().unwrap_or(aggregate.collation),
                &mut key,
            );
        }
        seen.insert(key)
    }

    /// COUNT(DISTINCT a, b) and GROUP_CONCAT(a, b).
    fn add_several(
        &mut self,
        aggregate: &Aggregate,
        row: &dyn Row,
        context: &EvalContext<'_>,
    ) -> SqlResult<()> {
        let values: Vec<Value> =
            aggregate.arguments.iter().map(|one| one.expr.eval(row, context)).collect::<SqlResult<_>>()?;
        if values.iter().any(Value::is_null) || !self.is_new(&values, aggregate) {
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
                list.push((keys, values.iter().map(|value| to_text(value).to_string()).collect()));
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
                *sum += match value {
                    Value::Int(number) => i128::from(number),
                    Value::UInt(number) => i128::from(number),
                    other => i128::from(crate::value::to_i64(&other, context)?),
                };
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
            State::Extreme(best) => {
                let wanted = if kind == AggregateKind::Min {
                    std::cmp::Ordering::Less
                } else {
                    std::cmp::Ordering::Greater
                };
                if best.is_null() || order::compare_values(&value, best, aggregate.collation) == wanted {
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
            // Welford's method: stable in one pass.
            State::Spread { count, mean, squares } => {
                let number = to_double(&value, context)?;
                *count += 1;
                let difference = number - *mean;
                *mean += difference / *count as f64;
                *squares += difference * (number - *mean);
            }
            State::Any(_) | State::Texts(_) => {}
        }
        Ok(())
    }

    /// The result.
    pub fn result(self, aggregate: &Aggregate, context: &EvalContext<'_>) -> SqlResult<Value> {
        let average = aggregate.kind == AggregateKind::Average;
        Ok(match self.state {
            State::Count(count) => Value::Int(count as i64),
            State::Whole { count: 0, .. }
            | State::Exact { count: 0, .. }
            | State::Double { count: 0, .. } => Value::Null,
            State::Whole { sum, count } => {
                exact(&Decimal::from_scaled_i128(sum, 0), count, average, aggregate)?
            }
            State::Exact { sum, count } => exact(&sum, count, average, aggregate)?,
            State::Double { sum, count } => Value::Double(if average { sum / count as f64 } else { sum }),
            State::Extreme(value) => value,
            State::Any(value) => value.unwrap_or_default(),
            State::Bits(bits) => Value::UInt(bits),
            State::Texts(list) => concatenate(list, aggregate, context),
            State::Spread { count, squares, .. } => spread(aggregate.kind, count, squares),
        })
    }
}

fn exact(sum: &Decimal, count: u64, average: bool, aggregate: &Aggregate) -> SqlResult<Value> {
    if !average {
        return Ok(Value::Decimal(sum.clone()));
    }
    let scale = match aggregate.result {
        ColumnType::Decimal { scale, .. } => scale,
        _ => 4,
    };
    match sum.div(&Decimal::from(count)) {
        Some(Ok(quotient)) => Ok(Value::Decimal(quotient.round_to(scale))),
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

fn concatenate(
    mut list: Vec<(Vec<Value>, String)>,
    aggregate: &Aggregate,
    context: &EvalContext<'_>,
) -> Value {
    if list.is_empty() {
        return Value::Null;
    }
    if !aggregate.order.is_empty() {
        let directions: Vec<_> = aggregate.order.iter().map(|key| (key.descending, key.collation)).collect();
        list.sort_by(|a, b| order::compare_keys(&a.0, &b.0, &directions));
    }
    let texts: Vec<String> = list.into_iter().map(|(_, text)| text).collect();
    let mut all = texts.join(&aggregate.separator);
    let most = context.settings.group_concat_bytes_max as usize;
    if all.len() > most {
        let mut end = most;
        while !all.is_char_boundary(end) {
            end -= 1;
        }
        all.truncate(end);
        context.note(SqlError::new(1260, b"HY000", "Row 1 was cut by GROUP_CONCAT()"));
    }
    Value::text(all)
}
