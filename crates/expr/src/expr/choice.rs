//! From syntax to what gives one of several values: CASE, IF, COALESCE, IFNULL, NULLIF, GREATEST and LEAST.
//! The texts among the values agree on a collation (`mixing`).

mod kind;

use turnstile_syntax::ast;
use turnstile_values::collation::Collation;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::mixing::{Meeting, Purpose};
use turnstile_values::types::{BlobSize, ColumnType, ExprType};
use turnstile_values::value::Value;

use super::build::{Builder, boxed};
use super::class::{coerced, is_moment};
use super::condition::{exactly, gives_hex, read_beside};
use super::infer::{unified_all, unified_type, without_members};
use super::literal::with_numbers_of_hex;
use super::own_digits::{cut_average, with_all_of_averages};
use super::parameter::{Hold, ParameterKind};
use super::{CompareOp, Expr, IsTest, Source, Typed};
use crate::expr::{Use, build, class, condition, is_text, met, offset, open};
use crate::functions::{self, Wanted};

pub use kind::unified_agreed;
pub(super) use kind::{bits_as_number, of_full_width};
use kind::{in_kind, is_member, texts_as_shown, unless, with_agreed, with_long};

/// `CASE` and `IF`, which is called `operation`.
pub(super) fn case(
    builder: &mut Builder<'_>,
    operation: &'static str,
    operand: Option<&ast::Expr>,
    branches: &[(ast::Expr, ast::Expr)],
    otherwise: Option<&ast::Expr>,
) -> SqlResult<Typed> {
    let bound = operand.map(|operand| builder.build(operand)).transpose()?;
    let varying = bound.as_ref().filter(|bound| bound.expr.varies()).map(|bound| bound.expr.clone());
    let whens = match operand.zip(bound) {
        Some((operand, bound)) => {
            let shared = varying.as_ref().map_or(bound.expr, |_| Expr::Operand);
            case_of(builder, operand, Typed { expr: shared, kind: bound.kind }, branches)?
        }
        None => {
            let holds = |(when, _): &(ast::Expr, ast::Expr)| {
                let hold = if operation == "if" { Hold::Pinned } else { Hold::Taken };
                builder.settle_all(&[when], hold, ParameterKind::Int);
                Ok(build::number(builder, when)?.expr)
            };
            branches.iter().map(holds).collect::<SqlResult<_>>()?
        }
    };
    let mut values = Vec::with_capacity(branches.len() + 1);
    for value in branches.iter().map(|(_, then)| then).chain(otherwise) {
        values.push(builder.build(value)?);
    }
    if builder.resolver.derives() {
        let outputs: Vec<&ast::Expr> = branches.iter().map(|(_, then)| then).chain(otherwise).collect();
        open::settle(builder, Hold::Output, &outputs, &values, None);
    }
    let nullable = otherwise.is_none() || values.iter().any(|value| value.kind.nullable);
    let (mut values, kind) = alternatives(builder, operation, values, nullable)?;
    let otherwise = otherwise.and_then(|_| values.pop()).map(Box::new);
    let branches = whens.into_iter().zip(values).collect();
    let case = Expr::Case { branches, otherwise, kind: kind.column.clone() };
    let expr = match varying {
        Some(operand) => Expr::WithOperand { operand: Box::new(operand), of: Box::new(case) },
        None => case,
    };
    Ok(Typed { expr, kind })
}

/// The comparisons of `CASE operand WHEN ..`. Each part is bound once: parts may hold such expressions
/// again.
fn case_of(
    builder: &mut Builder<'_>,
    operand: &ast::Expr,
    bound: Typed,
    branches: &[(ast::Expr, ast::Expr)],
) -> SqlResult<Vec<Expr>> {
    let whens = branches.iter().map(|(when, _)| condition::hex_beside(builder, when, &bound));
    let whens = whens.collect::<SqlResult<Vec<_>>>()?;
    if bound.kind.column == ColumnType::Json {
        // CASE compares a document as its text.
        let text = ColumnType::Text { size: BlobSize::Long, collation: Collation::Utf8mb4Bin };
        let kind = ExprType { column: text, ..bound.kind.clone() };
        let document = Typed { kind, expr: bound.expr.clone() };
        // Beside a number it is the number that it says.
        let number = match whens.iter().any(|when| when.kind.column.is_numeric()) {
            true => number_of(builder, operand, bound, Wanted::Double)?,
            false => bound,
        };
        let equal = |when: Typed| {
            let beside = if when.kind.column.is_numeric() { &number } else { &document };
            Ok(condition::compare_typed(builder, CompareOp::Equal, beside.clone(), when)?.expr)
        };
        return whens.into_iter().map(equal).collect();
    }
    if builder.resolver.derives() {
        let written: Vec<&ast::Expr> =
            std::iter::once(operand).chain(branches.iter().map(|one| &one.0)).collect();
        let bound: Vec<Typed> = std::iter::once(&bound).chain(&whens).cloned().collect();
        open::settle(builder, Hold::Beside, &written, &bound, Some(ParameterKind::Text));
    }
    let mut parts = vec![bound.clone()];
    for when in whens.iter().cloned() {
        // A text is compared with a date as with a text.
        let as_text = when.kind.column.is_temporal() && parts[0].kind.column.is_string();
        let beside_moment =
            parts[0].kind.column.is_temporal() && !matches!(parts[0].kind.column, ColumnType::Time { .. });
        parts.push(match (as_text, beside_moment) {
            (true, _) => class::as_text(builder, when),
            (_, true) => {
                super::parameter::compared(class::told_moment(builder, offset::offset_dropped(builder, when)))
            }
            _ => when,
        });
    }
    if parts.iter().any(|part| part.kind.column.is_numeric()) {
        let equal = |((written, _), when): (&(ast::Expr, ast::Expr), Typed)| {
            // A date beside a number is a number, even beside a constant.
            let bound = (bound.clone(), when);
            let alike = match gives_hex(written) && !gives_hex(operand) {
                true => read_beside(written, bound),
                false => condition::beside_one_another(builder, (operand, written), bound)?,
            };
            let (one, other) = match alike {
                (one, other) if is_moment(&one.kind.column) && other.kind.column.is_numeric() => {
                    (coerced(one, ColumnType::DOUBLE), other)
                }
                (one, other) if is_moment(&other.kind.column) && one.kind.column.is_numeric() => {
                    (one, coerced(other, ColumnType::DOUBLE))
                }
                alike => alike,
            };
            Ok(condition::compare_alike(builder, CompareOp::Equal, one, other)?.expr)
        };
        return branches.iter().zip(whens).map(equal).collect();
    }
    let (parts, collation) = condition::agreed(builder, "case", Purpose::Comparison, parts)?;
    let mut parts = parts.into_iter().map(boxed);
    let operand = parts.next().expect("the operand is the first");
    // As a list of one, which refuses no text that is no date.
    let equal = |right: Box<Expr>| {
        let (operand, list) = (operand.clone(), vec![*right]);
        Expr::InList { operand, list, collation, negated: false }
    };
    Ok(parts.map(equal).collect())
}

/// An operand that is bound, as a number. It is bound anew only if a hex literal in it becomes a number.
fn number_of(builder: &mut Builder<'_>, expr: &ast::Expr, typed: Typed, wanted: Wanted) -> SqlResult<Typed> {
    let has_hex = build::hex_number(builder, expr)?.is_some() || with_numbers_of_hex(expr).is_some();
    if has_hex {
        build::number_for(builder, expr, wanted)
    } else {
        Ok(build::bound_as_number(builder, expr, typed, wanted))
    }
}

/// `COALESCE` and `IFNULL`.
pub(super) fn coalesce(
    builder: &mut Builder<'_>,
    operation: &str,
    arguments: &[ast::Expr],
) -> SqlResult<Typed> {
    let operation = if operation == "ifnull" { "ifnull" } else { "coalesce" };
    let written: Vec<&ast::Expr> = arguments.iter().collect();
    let arguments = builder.build_all(arguments)?;
    if arguments.is_empty() {
        return Err(SqlError::wrong_parameter_count("COALESCE"));
    }
    open::settle(builder, Hold::Output, &written, &arguments, None);
    let nullable = arguments.iter().all(|argument| argument.kind.nullable);
    let (arguments, mut kind) = alternatives(builder, operation, arguments, nullable)?;
    if arguments.len() > 1 {
        kind.column = bits_as_number(kind.column);
    }
    Ok(Typed { expr: Expr::Coalesce { arguments, kind: kind.column.clone() }, kind })
}

/// `NULLIF`: the first value, unless it is equal to the second.
pub(super) fn null_if(builder: &mut Builder<'_>, left: &ast::Expr, right: &ast::Expr) -> SqlResult<Typed> {
    let written = (left, right);
    let left = builder.build(left)?;
    let right =
        if left.kind.column.is_numeric() { build::plain(builder, right)? } else { builder.build(right)? };
    let [left, right] = exactly(condition::like_others(builder, vec![left, right]));
    if builder.resolver.derives() {
        open::settle(builder, Hold::Output, &[written.0, written.1], &[left.clone(), right.clone()], None);
    }
    let mut kind = ExprType { nullable: true, ..left.kind.clone() };
    let is_document = |typed: &Typed| typed.kind.column == ColumnType::Json;
    let hex = super::literal::number_of_hex(written.0).filter(|_| right.kind.column.is_numeric());
    let as_number = is_moment(&left.kind.column) && right.kind.column.is_numeric();
    // A constant that is no number is told of once for all rows.
    let told = matches!(left.expr, Expr::Literal(Value::Str(_))) && right.kind.column.is_numeric();
    // A constant beside a column of times or years is compared as what the column would keep of it.
    let kept = class::is_column(&right)
        && matches!(right.kind.column, ColumnType::Time { .. } | ColumnType::Year)
        && class::is_settled(&left.expr);
    if hex.is_some() || as_number || told || kept || is_document(&left) != is_document(&right) {
        // What is compared with a document is none as the value that is given; a hex literal is a number
        // beside one, and so is most often a date.
        let (one, other) = match hex {
            Some(number) => (number, right),
            None if told => (super::misfit::told_once(left.clone()), right),
            None => condition::beside_one_another(builder, written, (left.clone(), right))?,
        };
        let equal = condition::compare_typed(builder, CompareOp::Equal, one, other)?;
        return Ok(unless(equal.expr, left, kind));
    }
    // The first value is given as it is: only what it is compared with may become something else.
    let right = class::of_one_class(builder, CompareOp::Equal, left.clone(), right).1;
    let parts = vec![left, right];
    // A literal takes on the collation that it is compared by.
    let follows = parts.iter().all(is_text) && matches!(parts[0].expr, Expr::Literal(_));
    let (parts, collation) = condition::agreed(builder, "nullif", Purpose::Operator, parts)?;
    if follows && kind.column.is_character() {
        kind.column = match collation {
            Collation::Binary => ColumnType::Varbinary { length: kind.column.wire_length() },
            collation => kind.column.with_collation(collation),
        };
    }
    let [left, right] = exactly(parts).map(boxed);
    if !is_member(&kind.column) {
        return Ok(without_members(Typed { expr: Expr::NullIf { left, right, collation }, kind }));
    }
    let given = Typed { expr: (*left).clone(), kind: kind.clone() };
    let operand = Box::new(Expr::NullIf { left, right, collation });
    Ok(unless(Expr::Is { operand, test: IsTest::Null, negated: false }, given, kind))
}

/// `GREATEST` and `LEAST`.
pub(super) fn extreme(builder: &mut Builder<'_>, call: &ast::FunctionCall) -> SqlResult<Typed> {
    let is_document = |one: &Typed| one.kind.column == ColumnType::Json;
    let mut arguments = builder.build_all(&call.arguments)?;
    if arguments.iter().any(is_document) {
        builder.resolver.warn(SqlError::extreme_documents());
        let text = |one: Typed| if is_document(&one) { class::as_text(builder, one) } else { one };
        arguments = arguments.into_iter().map(text).collect();
    }
    open::settle_arguments(builder, &call.name, &call.arguments, &arguments);
    if arguments.iter().any(is_document) {
        builder.resolver.warn(SqlError::extreme_documents());
    }
    let moment = moment_compared_with(builder, call, &arguments);
    let (arguments, averages) = with_all_of_averages(arguments);
    let has_long = arguments.iter().any(|one| one.kind.column.is_blob());
    let arguments = texts_as_shown(arguments);
    let mut typed = functions::bind_function(&call.name, arguments, builder.settings)
        .map_err(|error| builder.resolver.unbound(error, call))?;
    if let (Some(moment), Expr::Call(bound)) = (moment, &mut typed.expr)
        && let Some(bound) = std::sync::Arc::get_mut(bound)
    {
        bound.sources = Some([moment].into());
    }
    if averages && let to @ ColumnType::Decimal { .. } = typed.kind.column.clone() {
        typed.expr = Expr::Coerce { operand: Box::new(typed.expr), to };
    }
    typed.kind.column = with_long(bits_as_number(typed.kind.column), has_long);
    // The greatest of documents is a text.
    let document = is_document(&typed);
    Ok(if document { super::class::text_of_document(typed) } else { typed })
}

/// The text of the moment with which GREATEST and LEAST compare texts: the first DATETIME, or else the
/// first TIMESTAMP.
fn moment_compared_with(
    builder: &Builder<'_>,
    call: &ast::FunctionCall,
    arguments: &[Typed],
) -> Option<Source> {
    let first = |test: fn(&ColumnType) -> bool| arguments.iter().position(|one| test(&one.kind.column));
    let at = first(|kind| matches!(kind, ColumnType::DateTime { .. }))
        .or_else(|| first(|kind| matches!(kind, ColumnType::Timestamp { .. })))?;
    arguments.iter().any(|one| one.kind.column.is_string()).then_some(())?;
    Some(Source::named(&call.arguments[at], &*builder.resolver))
}

/// Values of which one is given, as values of their common type.
fn alternatives(
    builder: &Builder<'_>,
    operation: &'static str,
    values: Vec<Typed>,
    nullable: bool,
) -> SqlResult<(Vec<Expr>, ExprType)> {
    let mut kind = unified_all(&values);
    // IFNULL keeps the digits before the point that its values have.
    if operation == "ifnull" && matches!(kind, ColumnType::Double { digits: Some(_), .. }) {
        kind = unified_type(&values[0].kind.column, &values[1].kind.column);
    }
    if !kind.is_string() {
        let whole = matches!(operation, "coalesce" | "ifnull");
        let exprs = values.into_iter().map(|value| match whole && kind.is_numeric() {
            true => cut_average(Typed { expr: in_kind(value.clone(), &kind), ..value }, &kind),
            false => in_kind(value, &kind),
        });
        let exprs = exprs.collect();
        return Ok((exprs, ExprType::new(kind, nullable)));
    }
    let meeting =
        Meeting { operation, purpose: Purpose::Result, connection: builder.settings.connection_collation };
    let values = values.into_iter().map(|value| of_full_width(value, &*builder.resolver)).collect();
    let (values, agreed) = met(values, &meeting, Use::Result)?;
    let kind = with_agreed(with_long(unified_all(&values), kind.is_blob()), agreed, nullable);
    let shown = |value| in_kind(functions::as_shown(value), &kind.column);
    let shown = values.into_iter().map(shown).collect();
    Ok((shown, kind))
}
