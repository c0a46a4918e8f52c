//! Bound expressions: trees whose names are resolved to row positions and whose comparisons know their
//! collation.
//!
//! ```text
//! ast::Expr --build (resolver: names -> positions, types)--> Typed { expr, kind } --eval(row, context)-->
//! Value
//! ```
//! Rules: evaluation never blocks and never touches tables. What needs a wait (SLEEP, subqueries, aggregates)
//! is computed by the executor and read here as a column beyond the table's own, or, for SLEEP, as a marker
//! node the executor looks for. A tree is immutable and may be evaluated by many sessions at once.

mod aggregate;
mod alike;
mod arithmetic;
mod beside_column;
mod between;
mod between_moments;
mod bits;
mod build;
mod candidates;
mod choice;
mod class;
mod compared_constant;
mod condition;
mod conversion;
mod converted;
mod eval;
mod field;
mod given;
mod infer;
mod literal;
mod long_text;
mod misfit;
mod mixed_list;
mod moment_text;
mod offset;
mod open;
mod own_digits;
mod parameter;
mod predicate;
mod row;
mod shown_digits;
mod source;
mod texts_of_functions;
mod tree;

pub use aggregate::AggregateKind;
pub use alike::Likeness;
pub(crate) use beside_column::day_of_number;
pub use beside_column::{MOMENT_MIN, clock_of_number, whole_number};
pub(crate) use build::source_of;
pub use build::truth_type;
pub use build::{Builder, Resolver, bind, bind_for, bind_given, document_holds};
pub use choice::unified_agreed;
pub use class::{held_by_branch, of_branch_taken, with_all_digits};
pub use compared_constant::{ComparedConstant, Meeting, compared_constants};
pub use converted::{Use, bytes_of, converted, is_text, met};
pub use given::{given, moment_of_text};
pub(crate) use infer::{arithmetic_type, double_of_scale, moment_as_real, unified_extreme};
pub use infer::{coerce_value, unified_type};
pub use infer::{counted, decimal_shape, signed};
pub use literal::{literal_parameter, literal_value};
pub use long_text::read_silently;
pub use own_digits::{shown_as_type, shown_average, varies, with_all_of_average, with_own_digits};
pub use parameter::misfit_of_parameter;
pub use parameter::{Hold, MICROS_SCALE, ParameterKind};
pub use predicate::compare_checked;
pub(crate) use predicate::on_one_day;
pub use source::Source;
pub use source::printed_name;
pub(crate) use texts_of_functions::not_bytes_and_text;
pub(crate) use texts_of_functions::settle;
use turnstile_syntax::ast::IsTest;
pub use turnstile_values::context::Held;
#[cfg(test)]
pub use turnstile_values::context::begin_steps;
pub use turnstile_values::context::{
    EvalContext, EvalSettings, NoSession, RandomSequence, SessionView, SqlMode, VariableKind, Warning,
    WarningLevel, Warnings,
};
pub use turnstile_values::lookup::LOOKED_UP_MIN;
pub use turnstile_values::lookup::Lookup;
use turnstile_values::types::ExprType;
use turnstile_values::value::Value;

pub use tree::{ArithmeticOp, Call, CompareOp, Expr, ScalarFunction};

/// Where column values come from while an expression is evaluated.
pub trait Row {
    /// Value of the column at a position; TIMESTAMP values in UTC as stored.
    fn value(&self, position: usize) -> Value;

    /// The same without a copy, where the row has its values in memory.
    fn value_in_place(&self, _position: usize) -> Option<&Value> {
        None
    }

    /// What the operand of the innermost CASE around is, while its comparisons are made.
    fn operand(&self) -> Option<&Value> {
        None
    }
}

impl Row for [Value] {
    fn value(&self, position: usize) -> Value {
        self.get(position).cloned().unwrap_or(Value::Null)
    }
}

impl Row for Vec<Value> {
    fn value(&self, position: usize) -> Value {
        self.as_slice().value(position)
    }
}

/// The row of an expression without columns.
pub struct NoRow;

impl Row for NoRow {
    fn value(&self, _position: usize) -> Value {
        Value::Null
    }
}

/// An expression with the type of its result.
#[derive(Debug, Clone)]
pub struct Typed {
    /// The tree.
    pub expr: Expr,
    /// What it yields.
    pub kind: ExprType,
}

#[cfg(test)]
mod tests;
