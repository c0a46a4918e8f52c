//! What an aggregate is at, as values of a row in a temporary file, and back.

use turnstile_plan::plan::query::Aggregate;
use turnstile_values::decimal::Decimal;
use turnstile_values::value::Value;

use super::distinct::Distinct;
use super::{Accumulator, State};

impl Accumulator {
    /// Appends the values.
    pub(in super::super) fn save(self, out: &mut Vec<Value>) {
        if let Some(seen) = self.seen {
            out.push(Value::UInt(seen.len() as u64));
            out.extend(seen.into_keys().map(|key| Value::Bytes(key.into())));
        }
        match self.state {
            State::Count(count) | State::Bits(count) => out.push(Value::UInt(count)),
            State::Whole { sum, count } => {
                out.extend([Value::Decimal(Decimal::from_scaled_i128(sum, 0)), Value::UInt(count)]);
            }
            State::Exact { sum, count } => out.extend([Value::Decimal(sum), Value::UInt(count)]),
            State::Double { sum, count } => out.extend([Value::Double(sum), Value::UInt(count)]),
            State::Extreme(value) => out.push(value),
            State::Bytes(bytes) => out.push(bytes.map_or(Value::Null, Value::bytes)),
            State::Texts(texts) => texts.save(out),
            State::Document(document) => document.save(out),
            State::Spread { count, mean, squares } => {
                out.extend([Value::UInt(count), Value::Double(mean), Value::Double(squares)]);
            }
        }
    }

    /// Takes as many values as were saved; None if these were not.
    pub(in super::super) fn restore(
        aggregate: &Aggregate,
        from: &mut dyn Iterator<Item = Value>,
    ) -> Option<Accumulator> {
        let mut new = Accumulator::new(aggregate);
        if aggregate.distinct {
            let count = number(from)?;
            let mut keys = Vec::new();
            for _ in 0..count {
                keys.push(bytes(from)?);
            }
            new.seen = Some(Distinct::of(keys.into_iter()));
        }
        match &mut new.state {
            State::Count(count) | State::Bits(count) => *count = number(from)?,
            State::Whole { sum, count } => {
                let Some(Value::Decimal(saved)) = from.next() else { return None };
                (*sum, *count) = (saved.to_scaled_i128()?, number(from)?);
            }
            State::Exact { sum, count } => {
                let Some(Value::Decimal(saved)) = from.next() else { return None };
                (*sum, *count) = (saved, number(from)?);
            }
            State::Double { sum, count } => (*sum, *count) = (double(from)?, number(from)?),
            State::Extreme(value) => *value = from.next()?,
            State::Bytes(all) => {
                *all = match from.next()? {
                    Value::Bytes(bytes) => Some(bytes.to_vec()),
                    _ => None,
                };
            }
            State::Texts(texts) => texts.restore(aggregate.order.len(), from)?,
            State::Document(document) => document.restore(from)?,
            State::Spread { count, mean, squares } => {
                (*count, *mean, *squares) = (number(from)?, double(from)?, double(from)?);
            }
        }
        Some(new)
    }
}

/// A number that was saved.
pub(in super::super) fn number(from: &mut dyn Iterator<Item = Value>) -> Option<u64> {
    match from.next()? {
        Value::UInt(number) => Some(number),
        _ => None,
    }
}

fn double(from: &mut dyn Iterator<Item = Value>) -> Option<f64> {
    match from.next()? {
        Value::Double(number) => Some(number),
        _ => None,
    }
}

/// Bytes that were saved.
pub(in super::super) fn bytes(from: &mut dyn Iterator<Item = Value>) -> Option<Vec<u8>> {
    match from.next()? {
        Value::Bytes(bytes) => Some(bytes.to_vec()),
        _ => None,
    }
}
