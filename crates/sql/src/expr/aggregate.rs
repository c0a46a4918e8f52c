//! Aggregate functions: what they are called, what they yield, and accumulators that take one row at a time.
//!
//! The executor evaluates the arguments of a call per row (for GROUP_CONCAT followed by its ORDER BY keys), gives them
//! to the group's [`Accumulator`], and reads the result once at the end. NULL arguments count for nothing.

use std::cmp::Ordering;

use hashbrown::HashSet;

use super::EvalContext;
use crate::ast::FunctionCall;
use crate::collation::Collation;
use crate::decimal::Decimal;
use crate::error::{SqlError, SqlResult};
use crate::types::{BlobSize, ColumnType, ExprType};
use crate::value::{
    Numeric, Value, append_group_key, compare, to_decimal, to_double, to_numeric, to_text, to_u64_bits,
};

/// Which aggregate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum AggregateKind {
    CountRows,
    Count,
    Sum,
    Average,
    Minimum,
    Maximum,
    GroupConcat,
    BitAnd,
    BitOr,
    BitXor,
    StandardDeviation,
    SampleDeviation,
    Variance,
    SampleVariance,
    AnyValue,
}

impl AggregateKind {
    /// The aggregate a call means; `None` for scalar functions.
    pub fn of(call: &FunctionCall) -> Option<AggregateKind> {
        if call.schema.is_some() {
            return None;
        }
        Some(match &*call.name {
            "count" if call.star => AggregateKind::CountRows,
            "count" => AggregateKind::Count,
            "sum" => AggregateKind::Sum,
            "avg" => AggregateKind::Average,
            "min" => AggregateKind::Minimum,
            "max" => AggregateKind::Maximum,
            "group_concat" => AggregateKind::GroupConcat,
            "bit_and" => AggregateKind::BitAnd,
            "bit_or" => AggregateKind::BitOr,
            "bit_xor" => AggregateKind::BitXor,
            "std" | "stddev" | "stddev_pop" => AggregateKind::StandardDeviation,
            "stddev_samp" => AggregateKind::SampleDeviation,
            "variance" | "var_pop" => AggregateKind::Variance,
            "var_samp" => AggregateKind::SampleVariance,
            "any_value" => AggregateKind::AnyValue,
            _ => return None,
        })
    }
}

/// One aggregate of a query.
#[derive(Debug, Clone)]
pub struct AggregateSpec {
    /// Which one.
    pub kind: AggregateKind,
    /// DISTINCT.
    pub distinct: bool,
    /// Number of arguments proper; further values given per row are ORDER BY keys of GROUP_CONCAT.
    pub argument_count: usize,
    /// Collation for MIN, MAX, DISTINCT and ordering.
    pub collation: Collation,
    /// GROUP_CONCAT's ORDER BY: true for DESC, one per key.
    pub descending: Vec<bool>,
    /// GROUP_CONCAT's separator.
    pub separator: String,
    /// What it yields, from [`aggregate_type`].
    pub result: ColumnType,
}

/// Result type of an aggregate over arguments of these types.
pub fn aggregate_type(kind: AggregateKind, arguments: &[ExprType]) -> ExprType {
    let first = arguments.first().map_or(ColumnType::Null, |first| first.column.clone());
    let exact = first.is_integer() || matches!(first, ColumnType::Decimal { .. } | ColumnType::Null);
    let (precision, scale) = match &first {
        ColumnType::Decimal { precision, scale, .. } => (*precision, *scale),
        ColumnType::Int { width, .. } => match width.bytes() {
            1 => (3, 0),
            2 => (5, 0),
            3 => (8, 0),
            4 => (10, 0),
            _ => (19, 0),
        },
        _ => (20, 0),
    };
    let decimal = |precision: u8, scale: u8| ColumnType::Decimal {
        precision: precision.min(65),
        scale: scale.min(30),
        unsigned: false,
    };
    match kind {
        AggregateKind::CountRows | AggregateKind::Count => ExprType::not_null(ColumnType::BIGINT),
        AggregateKind::BitAnd | AggregateKind::BitOr | AggregateKind::BitXor => {
            ExprType::not_null(ColumnType::BIGINT_UNSIGNED)
        }
        AggregateKind::Sum if exact => ExprType::nullable(decimal(precision.saturating_add(22), scale)),
        AggregateKind::Average if exact => {
            ExprType::nullable(decimal(precision.saturating_add(4), scale + 4))
        }
        AggregateKind::Minimum | AggregateKind::Maximum | AggregateKind::AnyValue => {
            ExprType::nullable(first)
        }
        AggregateKind::GroupConcat => {
            let collation = first.collation().unwrap_or(Collation::DEFAULT);
            ExprType::nullable(ColumnType::Text { size: BlobSize::Normal, collation })
        }
        _ => ExprType::nullable(ColumnType::DOUBLE),
    }
}

#[derive(Debug)]
enum State {
    Count(i64),
    Total { whole: i128, decimal: Option<Decimal>, double: Option<f64>, count: i64 },
    Best(Value),
    Bits(u64),
    Spread { count: f64, mean: f64, squares: f64 },
    Texts(Vec<(Vec<Value>, String)>),
}

/// The running state of one aggregate in one group.
#[derive(Debug)]
pub struct Accumulator {
    state: State,
    seen: Option<HashSet<Vec<u8>>>,
}

impl Accumulator {
    /// An empty group.
    pub fn new(spec: &AggregateSpec) -> Accumulator {
        let state = match spec.kind {
            AggregateKind::CountRows | AggregateKind::Count => State::Count(0),
            AggregateKind::Sum | AggregateKind::Average => {
                State::Total { whole: 0, decimal: None, double: None, count: 0 }
            }
            AggregateKind::Minimum | AggregateKind::Maximum | AggregateKind::AnyValue => {
                State::Best(Value::Null)
            }
            AggregateKind::BitAnd => State::Bits(u64::MAX),
            AggregateKind::BitOr | AggregateKind::BitXor => State::Bits(0),
            AggregateKind::GroupConcat => State::Texts(Vec::new()),
            _ => State::Spread { count: 0.0, mean: 0.0, squares: 0.0 },
        };
        let seen = (spec.distinct && spec.kind != AggregateKind::CountRows).then(HashSet::new);
        Accumulator { state, seen }
    }

    /// Takes one row's argument values.
    pub fn add(
        &mut self,
        spec: &AggregateSpec,
        values: &[Value],
        context: &EvalContext<'_>,
    ) -> SqlResult<()> {
        let arguments = &values[..spec.argument_count.min(values.len())];
        if spec.kind != AggregateKind::CountRows
            && spec.kind != AggregateKind::AnyValue
            && arguments.iter().any(Value::is_null)
        {
            return Ok(());
        }
        if let Some(seen) = &mut self.seen {
            let mut key = Vec::new();
            for argument in arguments {
                append_group_key(argument, spec.collation, &mut key);
            }
            if !seen.insert(key) {
                return Ok(());
            }
        }
        match &mut self.state {
            State::Count(count) => *count += 1,
            State::Total { whole, decimal, double, count } => {
                *count += 1;
                add_total(whole, decimal, double, &arguments[0], context)?;
            }
            State::Best(best) => {
                let wanted = match spec.kind {
                    AggregateKind::Minimum => Ordering::Less,
                    AggregateKind::Maximum => Ordering::Greater,
                    _ => Ordering::Equal,
                };
                let better = best.is_null() || compare(&arguments[0], best, spec.collation) == Some(wanted);
                if better && (best.is_null() || wanted != Ordering::Equal) {
                    *best = arguments[0].clone();
                }
            }
            State::Bits(bits) => {
                let own = to_u64_bits(&arguments[0], context)?;
                match spec.kind {
                    AggregateKind::BitAnd => *bits &= own,
                    AggregateKind::BitOr => *bits |= own,
                    _ => *bits ^= own,
                }
            }
            State::Spread { count, mean, squares } => {
                // Welford's running mean and sum of squared differences.
                let number = to_double(&arguments[0], context)?;
                *count += 1.0;
                let before = number - *mean;
                *mean += before / *count;
                *squares += before * (number - *mean);
            }
            State::Texts(texts) => {
                let text: String = arguments.iter().map(|argument| to_text(argument).to_string()).collect();
                texts.push((values[arguments.len()..].to_vec(), text));
            }
        }
        Ok(())
    }

    /// The result of the group.
    pub fn finish(self, spec: &AggregateSpec, context: &EvalContext<'_>) -> SqlResult<Value> {
        Ok(match self.state {
            State::Count(count) => Value::Int(count),
            State::Total { count: 0, .. } => Value::Null,
            State::Total { whole, decimal, double, count } => total(spec, whole, decimal, double, count)?,
            State::Best(best) => best,
            State::Bits(bits) => Value::UInt(bits),
            State::Spread { count, squares, .. } => {
                let sample =
                    matches!(spec.kind, AggregateKind::SampleDeviation | AggregateKind::SampleVariance);
                let divisor = if sample { count - 1.0 } else { count };
                if divisor <= 0.0 {
                    return Ok(Value::Null);
                }
                let variance = squares / divisor;
                let root =
                    matches!(spec.kind, AggregateKind::StandardDeviation | AggregateKind::SampleDeviation);
                Value::Double(if root { variance.sqrt() } else { variance })
            }
            State::Texts(texts) => concatenate(spec, texts, context)?,
        })
    }
}

fn add_total(
    whole: &mut i128,
    decimal: &mut Option<Decimal>,
    double: &mut Option<f64>,
    value: &Value,
    context: &EvalContext<'_>,
) -> SqlResult<()> {
    match to_numeric(value, context)? {
        Numeric::Int(number) => *whole += i128::from(number),
        Numeric::UInt(number) => *whole += i128::from(number),
        Numeric::Double(number) => *double = Some(double.unwrap_or(0.0) + number),
        Numeric::Decimal(_) => {
            let number = to_decimal(value, context)?;
            *decimal = Some(match decimal.take() {
                None => number,
                Some(sum) => sum.add(&number).map_err(|_| SqlError::value_out_of_range("DECIMAL", "sum"))?,
            });
        }
    }
    Ok(())
}

fn total(
    spec: &AggregateSpec,
    whole: i128,
    decimal: Option<Decimal>,
    double: Option<f64>,
    count: i64,
) -> SqlResult<Value> {
    let overflow = |_| SqlError::value_out_of_range("DECIMAL", "sum");
    let mut exact = Decimal::from_scaled_i128(whole, 0);
    if let Some(decimal) = decimal {
        exact = exact.add(&decimal).map_err(overflow)?;
    }
    if let Some(double) = double {
        let sum = double + exact.to_f64();
        return Ok(Value::Double(if spec.kind == AggregateKind::Average { sum / count as f64 } else { sum }));
    }
    if matches!(spec.result, ColumnType::Double { .. }) {
        let sum = exact.to_f64();
        return Ok(Value::Double(if spec.kind == AggregateKind::Average { sum / count as f64 } else { sum }));
    }
    if spec.kind == AggregateKind::Average {
        exact = exact.div(&Decimal::from(count)).unwrap_or(Ok(Decimal::ZERO)).map_err(overflow)?;
    }
    if let ColumnType::Decimal { scale, .. } = spec.result {
        exact = exact.round_to(scale);
    }
    Ok(Value::Decimal(exact))
}

fn concatenate(
    spec: &AggregateSpec,
    mut texts: Vec<(Vec<Value>, String)>,
    context: &EvalContext<'_>,
) -> SqlResult<Value> {
    if texts.is_empty() {
        return Ok(Value::Null);
    }
    texts.sort_by(|(left, _), (right, _)| {
        for (place, descending) in spec.descending.iter().enumerate() {
            let (Some(one), Some(other)) = (left.get(place), right.get(place)) else { break };
            // NULLs come first.
            let order =
                compare(one, other, spec.collation).unwrap_or_else(|| other.is_null().cmp(&one.is_null()));
            let order = if *descending { order.reverse() } else { order };
            if order.is_ne() {
                return order;
            }
        }
        Ordering::Equal
    });
    let limit = usize::try_from(context.settings.group_concat_bytes_max).unwrap_or(usize::MAX);
    let mut result = String::new();
    for (place, (_, text)) in texts.iter().enumerate() {
        if place > 0 {
            result.push_str(&spec.separator);
        }
        result.push_str(text);
        if result.len() > limit {
            let mut end = limit;
            while !result.is_char_boundary(end) {
                end -= 1;
            }
            result.truncate(end);
            context.warn(SqlError::group_concat_cut(place + 1))?;
            break;
        }
    }
    Ok(Value::from(result))
}
