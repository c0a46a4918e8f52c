//! Which functions are aggregates. The executor computes them (`exec/aggregate.rs`); a bound expression has
//! only their places.

use turnstile_syntax::ast::FunctionCall;

/// Aggregate functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the functions")]
pub enum AggregateKind {
    CountRows,
    Count,
    Sum,
    Average,
    Min,
    Max,
    BitAnd,
    BitOr,
    BitXor,
    GroupConcat,
    JsonArray,
    JsonObject,
    StdDevPopulation,
    StdDevSample,
    VariancePopulation,
    VarianceSample,
}

impl AggregateKind {
    /// Whether it computes with numbers, whatever its argument is.
    pub fn reads_numbers(self) -> bool {
        use AggregateKind as A;
        match self {
            A::Sum | A::Average | A::BitAnd | A::BitOr | A::BitXor => true,
            A::StdDevPopulation | A::StdDevSample | A::VariancePopulation | A::VarianceSample => true,
            A::CountRows | A::Count | A::Min | A::Max | A::GroupConcat | A::JsonArray | A::JsonObject => {
                false
            }
        }
    }

    /// Whether it computes with whole numbers as bits.
    pub fn reads_bits(self) -> bool {
        matches!(self, AggregateKind::BitAnd | AggregateKind::BitOr | AggregateKind::BitXor)
    }

    /// The aggregate a call means; `None` for scalar functions and for window functions.
    pub fn of(call: &FunctionCall) -> Option<AggregateKind> {
        if call.schema.is_some() || call.over.is_some() {
            return None;
        }
        Some(match &*call.name {
            "count" if call.star => AggregateKind::CountRows,
            "count" => AggregateKind::Count,
            "sum" => AggregateKind::Sum,
            "avg" => AggregateKind::Average,
            "min" => AggregateKind::Min,
            "max" => AggregateKind::Max,
            "bit_and" => AggregateKind::BitAnd,
            "bit_or" => AggregateKind::BitOr,
            "bit_xor" => AggregateKind::BitXor,
            "group_concat" => AggregateKind::GroupConcat,
            "json_arrayagg" => AggregateKind::JsonArray,
            "json_objectagg" => AggregateKind::JsonObject,
            "std" | "stddev" | "stddev_pop" => AggregateKind::StdDevPopulation,
            "stddev_samp" => AggregateKind::StdDevSample,
            "variance" | "var_pop" => AggregateKind::VariancePopulation,
            "var_samp" => AggregateKind::VarianceSample,
            _ => return None,
        })
    }
}
