//! Aggregate functions: which calls are one, and what type they give.

use turnstile_expr::expr::{
    Expr, ParameterKind, Typed, decimal_shape, of_branch_taken, read_silently, varies, with_own_digits,
};
use turnstile_expr::expr::{Use, met};
use turnstile_expr::functions::Wanted;
use turnstile_expr::functions::any_whole;
use turnstile_syntax::ast::{self, FunctionCall};
use turnstile_values::collation::Collation;
use turnstile_values::decimal::{MAX_PRECISION, MAX_SCALE};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::mixing::{Derivation, Meeting, Party, Purpose};
use turnstile_values::types::{BlobSize, ColumnType, ExprType};
use turnstile_values::value::Value;

use super::block::Block;
use super::query::{Aggregate, OrderKey};
use turnstile_expr::expr::AggregateKind;

/// Whether a call is an aggregate.
pub fn is_aggregate(call: &FunctionCall) -> bool {
    AggregateKind::of(call).is_some()
}

/// Whether a call says that any row's value of its argument will do.
pub fn takes_any(call: &FunctionCall) -> bool {
    call.schema.is_none() && &*call.name == "any_value"
}

/// The arguments of JSON_ARRAYAGG and JSON_OBJECTAGG: the last is a value that becomes a part of the
/// document, what stands before it a name.
fn into_documents(kind: AggregateKind, arguments: &mut Vec<Typed>, call: &FunctionCall) -> SqlResult<()> {
    let count = if kind == AggregateKind::JsonArray { 1 } else { 2 };
    if arguments.len() != count {
        return Err(SqlError::wrong_parameter_count(&call.name));
    }
    let value = arguments.pop().map(|value| match call.arguments.last() {
        Some(ast::Expr::Literal(ast::Literal::Bool(truth))) => {
            turnstile_expr::functions::truth_document(*truth)
        }
        _ => turnstile_expr::functions::as_document(value),
    });
    let name = arguments.pop().map(turnstile_expr::functions::as_characters);
    arguments.extend(name.into_iter().chain(value));
    Ok(())
}

/// Binds an aggregate; its place is not set yet.
pub fn build(block: &mut Block<'_, '_>, call: &FunctionCall) -> SqlResult<(Aggregate, ExprType)> {
    let kind = AggregateKind::of(call).ok_or_else(SqlError::invalid_group_function_use)?;
    let clause = block.scope.clause.get();
    // What an aggregate computes with: hex literals are numbers for a sum, a FLOAT is its text in
    // GROUP_CONCAT.
    let fed = match kind {
        AggregateKind::GroupConcat => {
            Some(ColumnType::Text { size: BlobSize::Long, collation: Collation::DEFAULT })
        }
        AggregateKind::Count | AggregateKind::CountRows | AggregateKind::Min | AggregateKind::Max => None,
        AggregateKind::JsonArray | AggregateKind::JsonObject => None,
        kind if kind.reads_bits() => Some(ColumnType::BIGINT),
        _ => Some(ColumnType::DOUBLE),
    };
    settle(block, kind, &call.arguments);
    let bound = call.arguments.iter().map(|one| match &fed {
        Some(fed) => block.bind_for(one, fed, clause),
        None => block.bind(one, clause),
    });
    // What becomes a part of a document has its own digits.
    let digits = match kind {
        AggregateKind::JsonArray | AggregateKind::JsonObject => turnstile_expr::expr::with_own_digits,
        _ => turnstile_expr::expr::with_all_digits,
    };
    let mut arguments = bound.map(|one| one.map(digits)).collect::<SqlResult<Vec<_>>>()?;
    if matches!(kind, AggregateKind::JsonArray | AggregateKind::JsonObject) {
        into_documents(kind, &mut arguments, call)?;
    }
    let several = matches!(kind, AggregateKind::GroupConcat | AggregateKind::JsonObject)
        || kind == AggregateKind::Count && call.distinct;
    if !call.star && (arguments.is_empty() || arguments.len() > 1 && !several) {
        return Err(SqlError::wrong_parameter_count(&call.name));
    }
    let order = call.order_by.iter().map(|item| {
        let expr = match &item.expr {
            ast::Expr::Literal(ast::Literal::Int(place)) => usize::try_from(*place)
                .ok()
                .and_then(|place| call.arguments.get(place.checked_sub(1)?))
                .ok_or_else(|| SqlError::unknown_column(place, "order clause"))?,
            other => other,
        };
        let typed = turnstile_expr::functions::in_order(block.bind(expr, clause)?);
        let collation = typed.kind.column.collation().unwrap_or(Collation::Binary);
        Ok(OrderKey { expr: typed.expr, descending: item.descending, collation })
    });
    let order = order.collect::<SqlResult<Vec<_>>>()?;
    let (first, result) = typed_result(kind, &mut arguments, block)?;
    let own_digits = takes_own_digits(kind, call.distinct, &mut arguments);
    let separator = call.separator.as_deref().unwrap_or(b",");
    let aggregate = Aggregate {
        position: 0,
        kind,
        distinct: call.distinct && !matches!(kind, AggregateKind::Min | AggregateKind::Max),
        collation: first.collation().unwrap_or(Collation::Binary),
        arguments,
        result: result.column.clone(),
        own_digits,
        kept_scale: None,
        separator: separator.into(),
        order,
    };
    Ok((aggregate, result))
}

/// Makes a COUNT of what is never NULL one of rows, and tells whether it did: nobody evaluates its argument,
/// which then fails with no error and warns of nothing. A column of a table does neither, and stays; so does
/// a constant with a moment, whose texts MySQL reads before.
pub fn counts_all(aggregate: &mut Aggregate, is_column: &dyn Fn(usize) -> bool) -> bool {
    let [argument] = &aggregate.arguments[..] else { return false };
    let read = match &argument.expr {
        Expr::Column(at) | Expr::TimestampColumn(at) => is_column(*at),
        other => other.is_constant() && has_moment(other),
    };
    if aggregate.kind != AggregateKind::Count || aggregate.distinct || argument.kind.nullable || read {
        return false;
    }
    aggregate.kind = AggregateKind::CountRows;
    aggregate.arguments.clear();
    true
}

fn has_moment(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |one| {
        found |= matches!(one, Expr::Literal(Value::Date(_) | Value::DateTime(_) | Value::Time(_)));
    });
    found
}

/// What the `?` are that an aggregate is fed.
fn settle(block: &mut Block<'_, '_>, kind: AggregateKind, arguments: &[ast::Expr]) {
    let is = match kind {
        AggregateKind::Sum | AggregateKind::Average => ParameterKind::Double,
        kind if kind.reads_bits() => ParameterKind::FewBytes,
        kind if kind.reads_numbers() => ParameterKind::Decimal,
        _ => ParameterKind::Text,
    };
    block.settle(&arguments.iter().collect::<Vec<_>>(), is);
}

/// Gives an aggregate of numbers the digits of its argument's values, and tells whether its own value may
/// have other ones than its type.
fn takes_own_digits(kind: AggregateKind, distinct: bool, arguments: &mut [Typed]) -> bool {
    let smallest = matches!(kind, AggregateKind::Min | AggregateKind::Max);
    let exact = smallest || matches!(kind, AggregateKind::Sum | AggregateKind::Average);
    let varying = arguments.first_mut().filter(|first| exact && !distinct && varies(first));
    if let Some(first) = varying {
        *first = with_own_digits(first.clone());
        return true;
    }
    kind == AggregateKind::Average
}

/// The types of the first argument and of the result; what GROUP_CONCAT joins agrees on a collation.
fn typed_result(
    kind: AggregateKind,
    arguments: &mut Vec<Typed>,
    block: &Block<'_, '_>,
) -> SqlResult<(ColumnType, ExprType)> {
    let settings = &block.context.eval.settings;
    let connection = settings.connection_collation;
    if kind.reads_numbers() {
        let wanted = if kind.reads_bits() { Wanted::Integer } else { Wanted::Double };
        let read = |typed| read_silently(of_branch_taken(typed), wanted);
        *arguments = std::mem::take(arguments).into_iter().map(read).collect();
    }
    let counted = |one: &Typed| ExprType { column: turnstile_expr::expr::counted(one), ..one.kind.clone() };
    let first = arguments.first().map_or(ExprType::nullable(ColumnType::BIGINT), counted);
    // NULL that is no literal is no bytes at all, and so is what is made of it.
    if kind.reads_bits()
        && first.column == ColumnType::Null
        && arguments.first().is_some_and(|one| !matches!(one.expr, turnstile_expr::expr::Expr::Literal(_)))
    {
        let none = ColumnType::Varbinary { length: 0 };
        return Ok((none.clone(), ExprType::not_null(none)));
    }
    if kind != AggregateKind::GroupConcat {
        let open = arguments.iter().any(|one| is_open_beside_bits(block, one));
        let result = result_type(kind, &first, (settings.division_digits, open))?;
        return Ok((first.column, result));
    }
    let meeting = Meeting { operation: "group_concat", purpose: Purpose::Result, connection };
    let (converted, agreed) = met(std::mem::take(arguments), &meeting, Use::Result)?;
    *arguments = converted;
    Ok((first.column, concatenated(arguments, agreed, connection)))
}

/// GROUP_CONCAT of texts that have agreed.
fn concatenated(arguments: &[Typed], agreed: Party, connection: Collation) -> ExprType {
    let size = BlobSize::Normal;
    let bytes = arguments.iter().any(|one| one.kind.column.is_binary_string())
        || arguments.iter().all(|one| one.kind.column == ColumnType::Null);
    let column = match agreed.collation {
        Collation::Binary if bytes => ColumnType::Blob { size },
        Collation::Binary => ColumnType::Text { size, collation: connection },
        collation => ColumnType::Text { size, collation },
    };
    ExprType::nullable(column).with_traits(agreed.traits)
}

/// Whether it is sought yet what a `?` in it is, which a BIT column beside it makes a number.
fn is_open_beside_bits(block: &Block<'_, '_>, typed: &Typed) -> bool {
    let mut holds = false;
    typed.expr.walk(&mut |one| holds |= matches!(one, Expr::Parameter(_)));
    let is_bits = |at: usize| {
        block.scope.column_at(at).is_some_and(|(_, column)| matches!(column.kind, ColumnType::Bit { .. }))
    };
    holds && block.context.parameters.derivation().is_some() && typed.expr.columns().into_iter().any(is_bits)
}

fn result_type(
    kind: AggregateKind,
    of: &ExprType,
    (division_digits, open): (u8, bool),
) -> SqlResult<ExprType> {
    let argument = &of.column;
    let smallest = matches!(kind, AggregateKind::Min | AggregateKind::Max);
    if smallest && of.traits.derivation == Derivation::None {
        let operation = if kind == AggregateKind::Min { "min" } else { "max" };
        let meeting = Meeting { operation, purpose: Purpose::Comparison, connection: Collation::DEFAULT };
        return Err(meeting.refused(&[Party::of(of), Party::of(of)]));
    }
    Ok(match kind {
        AggregateKind::CountRows | AggregateKind::Count => ExprType::not_null(any_whole(false)),
        AggregateKind::BitAnd | AggregateKind::BitOr | AggregateKind::BitXor
            if argument.is_binary_string() =>
        {
            if argument.text_length() > BIT_BYTES_MAX && !open {
                return Err(SqlError::bit_aggregate_too_long());
            }
            ExprType::not_null(ColumnType::Varbinary { length: argument.text_length() })
        }
        AggregateKind::BitAnd | AggregateKind::BitOr | AggregateKind::BitXor => {
            ExprType::not_null(any_whole(true))
        }
        AggregateKind::Sum => ExprType::nullable(sum_type(argument, 22, 0)),
        AggregateKind::Average => ExprType::nullable(sum_type(argument, division_digits, division_digits)),
        AggregateKind::JsonArray | AggregateKind::JsonObject => ExprType::nullable(ColumnType::Json),
        AggregateKind::Min | AggregateKind::Max => {
            ExprType::nullable(argument.clone().unfilled()).with_traits(of.traits)
        }
        AggregateKind::GroupConcat
        | AggregateKind::StdDevPopulation
        | AggregateKind::StdDevSample
        | AggregateKind::VariancePopulation
        | AggregateKind::VarianceSample => ExprType::nullable(ColumnType::DOUBLE),
    })
}

/// Longest byte string whose bits are aggregated.
const BIT_BYTES_MAX: u32 = 511;

/// Digits of a double, its sign and its point.
const DOUBLE_DIGITS: u8 = 17;

/// A double that shows so many places.
fn double_of_places(scale: u8) -> ColumnType {
    ColumnType::Double { unsigned: false, digits: Some((DOUBLE_DIGITS + scale, scale)), zerofill: false }
}

/// SUM and AVG: exact numbers stay exact and grow, everything else is a double.
fn sum_type(argument: &ColumnType, more_digits: u8, more_scale: u8) -> ColumnType {
    let (precision, scale) = match argument {
        ColumnType::Decimal { precision, scale, .. } => (*precision, *scale),
        ColumnType::Float { digits, .. } | ColumnType::Double { digits, .. } => {
            let scale = digits.map(|(_, scale)| scale + more_scale);
            return scale.map_or(ColumnType::DOUBLE, double_of_places);
        }
        ColumnType::Null => return double_of_places(more_scale),
        kind if kind.is_integer() || kind.is_temporal() => decimal_shape(kind),
        _ => return ColumnType::DOUBLE,
    };
    ColumnType::Decimal {
        precision: (precision + more_digits).min(MAX_PRECISION),
        scale: (scale + more_scale).min(MAX_SCALE),
        unsigned: false,
        zerofill: false,
    }
}
