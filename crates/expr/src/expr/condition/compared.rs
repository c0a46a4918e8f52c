//! Two operands that are compared: what each is read as, and the collation they agree on.

use turnstile_syntax::ast;
use turnstile_values::charset::Charset;
use turnstile_values::collation::Collation;
use turnstile_values::error::SqlResult;
use turnstile_values::mixing::{Meeting, Purpose};
use turnstile_values::types::ColumnType;

use super::super::build::{Builder, boxed, truth};
use super::super::class::{is_moment, is_time, of_branch_taken};
use super::super::literal::with_numbers_of_hex;
use super::super::long_text::read_silently;
use super::super::own_digits::with_all_of_average;
use super::super::parameter::{Hold, ParameterKind};
use super::super::{CompareOp, Expr, Typed};
use super::exactly;
use crate::expr::{Use, build, class, is_text, met, open};
use crate::functions;

/// Whether an expression is IF or CASE with hex literals that it may give.
pub fn gives_hex(expr: &ast::Expr) -> bool {
    with_numbers_of_hex(expr).is_some()
}

/// Operands of a comparison in which hex literals are what they are beside one another.
pub fn read_beside(right: &ast::Expr, (mut one, mut other): (Typed, Typed)) -> (Typed, Typed) {
    if let ast::Expr::Literal(ast::Literal::Bool(value)) = right
        && one.kind.column == ColumnType::Json
    {
        other = functions::truth_document(*value);
    }
    if one.kind.column.is_numeric() {
        other = read_silently(of_branch_taken(other), functions::Wanted::Double);
    } else if other.kind.column.is_numeric() {
        one = read_silently(of_branch_taken(one), functions::Wanted::Double);
    }
    (one, other)
}

/// Two operands of a comparison, bound: a hex literal beside a number is a number.
pub fn compared(builder: &mut Builder<'_>, left: &ast::Expr, right: &ast::Expr) -> SqlResult<(Typed, Typed)> {
    let bound = match (gives_hex(left), gives_hex(right)) {
        (false, true) => {
            let one = builder.build(left)?;
            let other = hex_beside(builder, right, &one)?;
            [one, other]
        }
        (true, false) => match builder.build(right) {
            Ok(other) => [hex_beside(builder, left, &other)?, other],
            // What is wrong with the first is told first.
            Err(error) => return Err(builder.build(left).err().unwrap_or(error)),
        },
        _ => [builder.build(left)?, builder.build(right)?],
    };
    open::settle(builder, Hold::Beside, &[left, right], &bound, Some(ParameterKind::Text));
    let [one, other] = bound;
    if gives_hex(left) != gives_hex(right) {
        return Ok(read_beside(right, (one, other)));
    }
    beside_one_another(builder, (left, right), (one, other))
}

/// Binds what may give hex literals beside an operand that is bound: once, for such expressions nest.
pub fn hex_beside(builder: &mut Builder<'_>, expr: &ast::Expr, other: &Typed) -> SqlResult<Typed> {
    let chosen = if other.kind.column.is_numeric() { with_numbers_of_hex(expr) } else { None };
    builder.build(chosen.as_ref().unwrap_or(expr))
}

/// The same of operands that are bound.
pub fn beside_one_another(
    builder: &mut Builder<'_>,
    (left, right): (&ast::Expr, &ast::Expr),
    (mut one, mut other): (Typed, Typed),
) -> SqlResult<(Typed, Typed)> {
    if one.kind.column.is_numeric()
        && let Some(number) = build::hex_number(builder, right)?
    {
        other = number;
    } else if other.kind.column.is_numeric()
        && let Some(number) = build::hex_number(builder, left)?
    {
        one = number;
    }
    // As texts both are hex literals still.
    if one.kind.column.is_numeric()
        && !other.kind.column.is_numeric()
        && let Some(chosen) = with_numbers_of_hex(right)
    {
        other = builder.build(&chosen)?;
    } else if other.kind.column.is_numeric()
        && !one.kind.column.is_numeric()
        && let Some(chosen) = with_numbers_of_hex(left)
    {
        one = builder.build(&chosen)?;
    }
    Ok(read_beside(right, (one, other)))
}

/// A comparison of two bound operands.
pub fn compare_typed(builder: &Builder<'_>, op: CompareOp, left: Typed, right: Typed) -> SqlResult<Typed> {
    let (left, right) = class::of_one_class(builder, op, left, right);
    compare_alike(builder, op, left, right)
}

/// The same of operands that are of one class, or are not made one.
pub fn compare_alike(builder: &Builder<'_>, op: CompareOp, left: Typed, right: Typed) -> SqlResult<Typed> {
    if op == CompareOp::NullSafeEqual
        && builder.resolver.is_prepared()
        && let Some(equal) = crate::expr::open::equal_to_moment(&left, &right)
    {
        return Ok(truth(equal, false));
    }
    let nullable = op != CompareOp::NullSafeEqual && (left.kind.nullable || right.kind.nullable);
    let (left, right) = as_documents(with_all_of_average(left), with_all_of_average(right));
    let (parts, collation) = agreed(builder, op.symbol(), Purpose::Operator, vec![left, right])?;
    let [left, right] = exactly(parts);
    Ok(truth(Expr::Compare { op, left: boxed(left), right: boxed(right), collation }, nullable))
}

/// Values that are compared with one another: the texts among them converted to the collation that these
/// agree on.
pub fn agreed(
    builder: &Builder<'_>,
    operation: &'static str,
    purpose: Purpose,
    parts: Vec<Typed>,
) -> SqlResult<(Vec<Typed>, Collation)> {
    let parts = if operation == "like" { parts } else { like_others(builder, parts) };
    let texts = parts.iter().filter(|part| is_text(part)).count();
    // Beside a number or a date a text is no text.
    if purpose == Purpose::Operator && texts < parts.len() {
        let collation = parts.iter().find_map(|part| part.kind.column.collation());
        return Ok((parts, collation.unwrap_or(Collation::Binary)));
    }
    let meeting = Meeting { operation, purpose, connection: builder.settings.connection_collation };
    let (parts, agreed) = met(parts, &meeting, Use::Comparison)?;
    Ok((parts, agreed.collation))
}

/// Texts that are read as dates or times, for there is one among them, agree on a collation all the same.
pub(super) fn texts_beside_moments(
    builder: &Builder<'_>,
    operation: &'static str,
    parts: &[&Typed],
) -> SqlResult<()> {
    let any = |test: fn(&ColumnType) -> bool| parts.iter().any(|one| test(&one.kind.column));
    let moments = any(|kind| is_moment(kind) || is_time(kind));
    let apart = any(|kind| *kind == ColumnType::Json)
        || match operation {
            "between" => any(ColumnType::is_numeric),
            _ => parts[0].kind.column.is_numeric(),
        };
    if !moments || apart || parts.iter().filter(|one| is_text(one)).count() < 2 {
        return Ok(());
    }
    agreed(builder, operation, Purpose::Comparison, parts.iter().map(|one| (*one).clone()).collect())
        .map(drop)
}

/// Texts for which `?` stands hold on to the collation that the first other text holds on to, as that
/// text does.
pub fn like_others(builder: &Builder<'_>, mut parts: Vec<Typed>) -> Vec<Typed> {
    let open = |one: &Typed| matches!(one.expr, Expr::Parameter(_)) && one.kind.column.is_character();
    if !builder.resolver.is_prepared() || !parts.iter().any(open) {
        return parts;
    }
    let Some(other) = parts.iter().find(|one| !open(one) && one.kind.column.is_character()).cloned() else {
        return parts;
    };
    let Some(collation) = other.kind.column.collation() else { return parts };
    for part in parts.iter_mut().filter(|one| open(one)) {
        let own = part.kind.column.collation().map(Collation::set);
        if collation.set() == Charset::Utf8mb4 || own == Some(collation.set()) {
            part.kind.column = part.kind.column.clone().with_collation(collation);
            part.kind.traits = other.kind.traits;
        }
    }
    parts
}

/// If one operand is a document, both as what orders documents.
fn as_documents(left: Typed, right: Typed) -> (Typed, Typed) {
    let is_document = |typed: &Typed| typed.kind.column == ColumnType::Json;
    if is_document(&left) || is_document(&right) {
        return (functions::as_order(left), functions::as_order(right));
    }
    (left, right)
}
