//! Calls of functions: the name is looked up, the arguments are bound as that function reads them.

use turnstile_syntax::ast::{self, UnaryOp};
use turnstile_values::collation::Collation;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::types::{ColumnType, ExprType};
use turnstile_values::value::{Value, parse_integer_prefix, shown};

use super::super::class::with_all_digits;
use super::super::literal::{as_absolute, as_real, number_of_hex, rounds_hex};
use super::super::long_text::read_silently;
use super::super::own_digits::{self, with_all_of_average};
use super::super::{CompareOp, Expr, Source, Typed};
use super::wanted::number_for;
use super::{Builder, boxed, truth, truth_type};
use crate::expr::{choice, field, open};
use crate::functions::{self, Wanted};

pub(super) fn function(builder: &mut Builder<'_>, call: &ast::FunctionCall) -> SqlResult<Typed> {
    if call.over.is_some() {
        return builder.resolver.window(call);
    }
    if crate::expr::AggregateKind::of(call).is_some() {
        return builder.resolver.aggregate(call);
    }
    let count = |wanted: usize| {
        if call.arguments.len() == wanted {
            Ok(())
        } else {
            Err(SqlError::wrong_parameter_count(call.written()))
        }
    };
    match &*call.name {
        "if" => {
            count(3)?;
            let branch = (call.arguments[0].clone(), call.arguments[1].clone());
            choice::case(builder, "if", None, std::slice::from_ref(&branch), Some(&call.arguments[2]))
        }
        "ifnull" | "coalesce" => {
            if call.name.as_ref() == "ifnull" {
                count(2)?;
            }
            choice::coalesce(builder, &call.name, &call.arguments)
        }
        "nullif" => {
            count(2)?;
            choice::null_if(builder, &call.arguments[0], &call.arguments[1])
        }
        "grouping" => builder.resolver.grouping(call),
        // Its value is that of the first row of a group; only what ONLY_FULL_GROUP_BY refuses is
        // different.
        "any_value" => {
            count(1)?;
            let mut typed =
                crate::expr::infer::without_members(with_all_digits(builder.build(&call.arguments[0])?));
            typed.kind.column = crate::expr::infer::signed(typed.kind.column);
            Ok(typed)
        }
        "isnull" => {
            count(1)?;
            let operand = boxed(builder.build(&call.arguments[0])?);
            Ok(truth(Expr::Is { operand, test: ast::IsTest::Null, negated: false }, false))
        }
        "sleep" => {
            count(1)?;
            builder.settle_argument("sleep", 0, &call.arguments[0]);
            let expr = Expr::Sleep(boxed(builder.build(&call.arguments[0])?));
            Ok(Typed { expr, kind: truth_type(false) })
        }
        "benchmark" => {
            count(2)?;
            builder.settle_argument("benchmark", 0, &call.arguments[0]);
            let arguments = builder.build_all(&call.arguments)?.into_iter().map(|one| one.expr).collect();
            Ok(Typed { expr: Expr::Benchmark(arguments), kind: functions::benchmark_type() })
        }
        "name_const" => {
            count(2).and_then(|()| named_constant(builder, &call.arguments[0], &call.arguments[1]))
        }
        "get_lock" => count(2).and(Err(SqlError::not_supported_yet("GET_LOCK in this place"))),
        name => tabled(builder, name, call),
    }
}

/// A function of the table.
fn tabled(builder: &mut Builder<'_>, name: &str, call: &ast::FunctionCall) -> SqlResult<Typed> {
    if matches!(name, "greatest" | "least") {
        return choice::extreme(builder, call);
    }
    // What TRIM takes away is no argument of these.
    if matches!(name, "ltrim" | "rtrim") && call.arguments.len() != 1 {
        return Err(SqlError::wrong_parameter_count(call.written()));
    }
    let (mut arguments, field) = match name {
        "field" => field::field(builder, &call.arguments)?,
        _ => (arguments(builder, name, &call.arguments)?, None),
    };
    if name == "strcmp" {
        arguments = crate::expr::beside_column::kept_texts(arguments)?;
    }
    if matches!(name, "field" | "format" | "interval") {
        arguments = arguments.into_iter().map(with_all_of_average).collect();
    }
    open::settle_arguments(builder, name, &call.arguments, &arguments);
    let bits = name == "conv"
        && (call.arguments.first().is_some_and(|one| number_of_hex(one).is_some())
            || arguments.first().is_some_and(functions::is_bits));
    let of_average = matches!(name, "round" | "truncate") && own_digits::take_average(&mut arguments);
    let digits_by_row = of_average
        || matches!(name, "round" | "truncate")
            && arguments.get(1).is_some_and(|places| !matches!(places.expr, Expr::Literal(_)));
    let bound = functions::bind_function(name, arguments, builder.settings);
    let mut typed = bound.map_err(|error| builder.resolver.unbound(error, call))?;
    let other = if bits { Some(functions::CONV_OF_BITS) } else { field };
    if let (Some(function), Expr::Call(bound)) = (other, &mut typed.expr)
        && let Some(bound) = std::sync::Arc::get_mut(bound)
    {
        bound.function = function;
    }
    if functions::tells_of_arguments(name)
        && let Expr::Call(bound) = &mut typed.expr
        && let Some(bound) = std::sync::Arc::get_mut(bound)
    {
        let sources = call.arguments.iter().map(|one| Source::of(one, &*builder.resolver));
        bound.sources = Some(sources.collect());
    }
    if digits_by_row && let to @ ColumnType::Decimal { .. } = typed.kind.column.clone() {
        typed.expr = Expr::Coerce { operand: Box::new(typed.expr), to };
    }
    Ok(typed)
}

/// NAME_CONST(name, value): the value, which has to be a literal; the parser has taken its name for the
/// heading.
fn named_constant(builder: &mut Builder<'_>, name: &ast::Expr, value: &ast::Expr) -> SqlResult<Typed> {
    let name = builder.build(name)?;
    let is_literal = |expr: &ast::Expr| {
        let moment = |literal: &ast::Literal| {
            matches!(literal, ast::Literal::Date(_) | ast::Literal::Time(_) | ast::Literal::Timestamp(_))
        };
        matches!(expr, ast::Expr::Literal(literal) if !moment(literal))
            || matches!(expr, ast::Expr::Unary { op: UnaryOp::Negate, operand } if matches!(**operand, ast::Expr::Literal(_)))
    };
    let of_value = match value {
        ast::Expr::Collate { operand, .. } => is_literal(operand),
        other => is_literal(other),
    };
    match name.expr {
        Expr::Literal(Value::Null) => Err(SqlError::name_const_reserved()),
        Expr::Literal(_) if of_value => {
            let mut typed = builder.build(value)?;
            typed.kind.nullable = true;
            Ok(typed)
        }
        _ => Err(SqlError::wrong_arguments("NAME_CONST")),
    }
}

/// Binds the arguments of an ordinary function.
pub fn arguments(builder: &mut Builder<'_>, name: &str, parts: &[ast::Expr]) -> SqlResult<Vec<Typed>> {
    let numeric = functions::takes_numbers(name);
    let mut arguments = Vec::new();
    for (nth, argument) in parts.iter().enumerate() {
        if let ast::Expr::Literal(ast::Literal::Bool(value)) = argument
            && functions::takes_document(name, nth)
        {
            arguments.push(functions::truth_document(*value));
            continue;
        }
        if argument.is_query()
            && !matches!(argument, ast::Expr::Subquery(_))
            && functions::takes_document(name, nth)
        {
            arguments.push(functions::truth_as_document(builder.build(argument)?));
            continue;
        }
        let bits = nth == 0 && functions::writes_digits(name) && number_of_hex(argument).is_some();
        let mut bound = match functions::wanted_number(name, nth, numeric || bits) {
            _ if open::counts_given_bits(name, argument) => open::given_bits(builder, argument)?,
            Some(wanted) if numeric || bits => {
                if let Some(number) = number_of_hex(argument).filter(|_| rounds_hex(name, nth)) {
                    arguments.push(if name == "abs" { as_absolute(number) } else { as_real(number) });
                    continue;
                }
                let number = with_all_digits(number_for(builder, argument, wanted)?);
                // These give a number of as many digits as they take.
                let rounds = matches!(name, "abs" | "round" | "truncate");
                let exact = matches!(name, "floor" | "ceil" | "ceiling" | "mod" | "sign");
                match (rounds, exact) {
                    (true, _) => number,
                    (_, true) => with_all_of_average(number),
                    _ => own_digits::as_double_of_average(number),
                }
            }
            Some(wanted) => number_for(builder, argument, wanted)?,
            None => crate::expr::choice::of_full_width(builder.build(argument)?, builder.resolver),
        };
        if functions::reads_count_twice(name, nth, arguments.first().map(|first: &Typed| &first.kind.column))
            && let Expr::Literal(Value::Str(text)) = &bound.expr
        {
            let (number, whole) = parse_integer_prefix(text.as_bytes());
            if !whole || i64::try_from(number).is_err() && u64::try_from(number).is_err() {
                builder.resolver.warn(SqlError::truncated_wrong_value("INTEGER", shown(text.as_bytes())));
            }
        }
        if let Some(wanted) = functions::temporal_argument(name, nth) {
            let document = (name == "unix_timestamp" && bound.kind.column == ColumnType::Json)
                .then(|| bound.expr.clone());
            bound = functions::as_temporal(bound, wanted, source_of(argument));
            if let Some(document) = document {
                bound = functions::or_beginning(bound, document);
            }
        }
        arguments.push(bound);
    }
    Ok(arguments)
}

/// What a warning about a document calls the expression it comes from.
pub(crate) fn source_of(expr: &ast::Expr) -> &str {
    match expr {
        ast::Expr::Column(name) => &name.column,
        ast::Expr::Cast { .. } => "cast_as_json",
        ast::Expr::Function(call) => &call.name,
        _ => "",
    }
}

/// A document as a condition: true unless it is the number 0. Anything else is its own condition, a long text
/// the number it begins with.
pub fn document_holds(typed: Typed) -> Typed {
    if typed.kind.column != ColumnType::Json {
        return read_silently(typed, Wanted::Double);
    }
    let nullable = typed.kind.nullable;
    let zero = Typed { expr: Expr::int(0), kind: ExprType::not_null(ColumnType::BIGINT) };
    let (left, right) = (boxed(functions::as_order(typed)), boxed(functions::as_order(zero)));
    truth(Expr::Compare { op: CompareOp::NotEqual, left, right, collation: Collation::Binary }, nullable)
}
