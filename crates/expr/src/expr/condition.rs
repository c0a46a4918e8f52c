//! From syntax to bound comparisons: operators, BETWEEN, IN, LIKE and REGEXP. Texts that are compared agree
//! on a collation here (`mixing`).

use turnstile_syntax::ast::{self, BinaryOp};
use turnstile_values::charset::Charset;
use turnstile_values::collation::Collation;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::mixing::{Meeting, Purpose};
use turnstile_values::types::ColumnType;
use turnstile_values::value::Value;

use super::build::{Builder, any_nullable, boxed, truth};
use super::class::{is_moment, is_time, of_branch_taken};
use super::literal::{number_of_hex, with_numbers_of_hex};
use super::long_text::read_silently;
use super::own_digits::with_all_of_average;
use super::parameter::{Hold, ParameterKind};
use super::{CompareOp, Expr, SqlMode, Typed};
use crate::expr::{
    Use, between, build, candidates, class, is_text, met, mixed_list, not_bytes_and_text, offset, open, row,
};
use crate::functions;

impl CompareOp {
    /// The comparison that an operator of the syntax means.
    pub(super) fn of(op: BinaryOp) -> CompareOp {
        match op {
            BinaryOp::NullSafeEqual => CompareOp::NullSafeEqual,
            BinaryOp::NotEqual => CompareOp::NotEqual,
            BinaryOp::Less => CompareOp::Less,
            BinaryOp::LessOrEqual => CompareOp::LessOrEqual,
            BinaryOp::Greater => CompareOp::Greater,
            BinaryOp::GreaterOrEqual => CompareOp::GreaterOrEqual,
            _ => CompareOp::Equal,
        }
    }

    /// What holds when this one does not.
    pub fn opposite(self) -> CompareOp {
        match self {
            CompareOp::Equal | CompareOp::NullSafeEqual => CompareOp::NotEqual,
            CompareOp::NotEqual => CompareOp::Equal,
            CompareOp::Less => CompareOp::GreaterOrEqual,
            CompareOp::LessOrEqual => CompareOp::Greater,
            CompareOp::Greater => CompareOp::LessOrEqual,
            CompareOp::GreaterOrEqual => CompareOp::Less,
        }
    }

    /// As it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            CompareOp::Equal => "=",
            CompareOp::NullSafeEqual => "<=>",
            CompareOp::NotEqual => "<>",
            CompareOp::Less => "<",
            CompareOp::LessOrEqual => "<=",
            CompareOp::Greater => ">",
            CompareOp::GreaterOrEqual => ">=",
        }
    }
}

/// Whether an expression is IF or CASE with hex literals that it may give.
pub(super) fn gives_hex(expr: &ast::Expr) -> bool {
    with_numbers_of_hex(expr).is_some()
}

/// Operands of a comparison in which hex literals are what they are beside one another.
pub(super) fn read_beside(right: &ast::Expr, (mut one, mut other): (Typed, Typed)) -> (Typed, Typed) {
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

/// A call of SLEEP.
fn is_sleep(expr: &ast::Expr) -> bool {
    matches!(expr, ast::Expr::Function(call) if &*call.name == "sleep" && call.schema.is_none())
}

/// IS NULL, IS TRUE and their kin.
pub(super) fn is_test(
    builder: &mut Builder<'_>,
    operand: &ast::Expr,
    test: ast::IsTest,
    negated: bool,
) -> SqlResult<Typed> {
    if is_sleep(operand) && test == ast::IsTest::Null && !negated {
        // It is never NULL, and nobody waits to learn that.
        let _ = builder.build(operand)?;
        return Ok(truth(Expr::int(0), false));
    }
    let truth_test = matches!(test, ast::IsTest::True | ast::IsTest::False);
    let operand =
        if truth_test { build::condition(builder, operand)? } else { build::plain(builder, operand)? };
    let operand = Box::new(operand.expr);
    Ok(truth(Expr::Is { operand, test, negated }, false))
}

/// `left op right`, of values or of rows.
pub(super) fn comparison(
    builder: &mut Builder<'_>,
    op: CompareOp,
    left: &ast::Expr,
    right: &ast::Expr,
) -> SqlResult<Typed> {
    if let Some(rows) = row::row_comparison(builder, op, left, right)? {
        return Ok(rows);
    }
    let (one, other) = compared(builder, left, right)?;
    compare_typed(builder, op, one, other)
}

/// Two operands of a comparison, bound: a hex literal beside a number is a number.
pub(super) fn compared(
    builder: &mut Builder<'_>,
    left: &ast::Expr,
    right: &ast::Expr,
) -> SqlResult<(Typed, Typed)> {
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
pub(super) fn hex_beside(builder: &mut Builder<'_>, expr: &ast::Expr, other: &Typed) -> SqlResult<Typed> {
    let chosen = if other.kind.column.is_numeric() { with_numbers_of_hex(expr) } else { None };
    builder.build(chosen.as_ref().unwrap_or(expr))
}

/// The same of operands that are bound.
pub(super) fn beside_one_another(
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
pub(super) fn compare_typed(
    builder: &Builder<'_>,
    op: CompareOp,
    left: Typed,
    right: Typed,
) -> SqlResult<Typed> {
    let (left, right) = class::of_one_class(builder, op, left, right);
    compare_alike(builder, op, left, right)
}

/// The same of operands that are of one class, or are not made one.
pub(super) fn compare_alike(
    builder: &Builder<'_>,
    op: CompareOp,
    left: Typed,
    right: Typed,
) -> SqlResult<Typed> {
    if op == CompareOp::NullSafeEqual
        && builder.resolver.is_prepared()
        && let Some(equal) = super::open::equal_to_moment(&left, &right)
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
pub(super) fn agreed(
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
fn texts_beside_moments(builder: &Builder<'_>, operation: &'static str, parts: &[&Typed]) -> SqlResult<()> {
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
pub(super) fn like_others(builder: &Builder<'_>, mut parts: Vec<Typed>) -> Vec<Typed> {
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

/// A sign or NOT. `NOT (a <> b)` is `a = b`, which tells what a `?` beside a year is.
pub(super) fn unary_turned(
    builder: &mut Builder<'_>,
    op: ast::UnaryOp,
    operand: &ast::Expr,
) -> SqlResult<Typed> {
    match (op, operand) {
        (ast::UnaryOp::Not, ast::Expr::Binary { op: ast::BinaryOp::NotEqual, left, right })
            if builder.resolver.is_prepared() =>
        {
            comparison(builder, CompareOp::Equal, left, right)
        }
        _ => build::unary(builder, op, operand),
    }
}

/// BETWEEN, IN, LIKE and REGEXP.
pub(super) fn predicate(builder: &mut Builder<'_>, expr: &ast::Expr) -> SqlResult<Typed> {
    match expr {
        ast::Expr::Between { operand, low, high, negated } => {
            between(builder, &[&**operand, &**low, &**high], *negated)
        }
        ast::Expr::InList { operand, list, negated } => in_list(builder, operand, list, *negated),
        ast::Expr::Like { operand, pattern, escape, negated } => {
            like(builder, operand, pattern, escape.as_deref(), *negated)
        }
        ast::Expr::Regexp { operand, pattern, negated } => {
            let parts = [operand, pattern].map(|part| builder.build(part).map(functions::as_shown));
            let parts = parts.into_iter().collect::<SqlResult<Vec<_>>>()?;
            not_bytes_and_text("regexp_like", &parts)?;
            let (parts, collation) = agreed(builder, "regexp_like", Purpose::Comparison, parts)?;
            let nullable = any_nullable(&parts);
            let [operand, pattern] = exactly(parts).map(boxed);
            Ok(truth(Expr::Regexp { operand, pattern, collation, negated: *negated }, nullable))
        }
        _ => Err(SqlError::not_supported_yet("this predicate")),
    }
}

fn between(builder: &mut Builder<'_>, parts: &[&ast::Expr], negated: bool) -> SqlResult<Typed> {
    let bound = build::build_alike(builder, parts)?;
    open::settle(builder, Hold::Bounds, parts, &bound, Some(ParameterKind::Text));
    // MySQL makes BETWEEN of one value twice a comparison with it.
    if let [_, low @ ast::Expr::Literal(_), high] = parts
        && low == high
        && bound[0].kind.column.is_temporal()
        && !bound[1].kind.column.is_numeric()
    {
        let [operand, low, _] = exactly(bound);
        let op = if negated { CompareOp::NotEqual } else { CompareOp::Equal };
        return compare_typed(builder, op, operand, low);
    }
    if let Some((operand, low)) = between::between_same(builder, parts, &bound) {
        let op = if negated { CompareOp::NotEqual } else { CompareOp::Equal };
        return compare_typed(builder, op, operand, low);
    }
    let bound = bound.into_iter().map(super::parameter::as_bound).collect();
    let bound = between::given_between_moments(builder, bound);
    builder.resolver.compare(super::Meeting::Between, &bound.iter().collect::<Vec<_>>());
    let moments = bound.iter().any(|one| is_moment(&one.kind.column));
    texts_beside_moments(builder, "between", &bound.iter().collect::<Vec<_>>())?;
    let bound = match moments {
        true => bound.into_iter().map(|one| offset::offset_dropped(builder, one)).collect(),
        false => bound,
    };
    if let Some(expr) = super::between_moments::bound(parts, &bound) {
        let expr = if negated { Expr::Not(Box::new(expr)) } else { expr };
        return Ok(truth(expr, true));
    }
    let bound = between::between_class(builder, parts, bound);
    let bound = bound.into_iter().map(with_all_of_average).collect();
    let (bound, collation) = agreed(builder, "between", Purpose::Comparison, bound)?;
    let nullable = any_nullable(&bound);
    let [operand, low, high] = exactly(bound).map(boxed);
    Ok(truth(Expr::Between { operand, low, high, collation, negated }, nullable))
}

fn like(
    builder: &mut Builder<'_>,
    operand: &ast::Expr,
    pattern: &ast::Expr,
    escape: Option<&ast::Expr>,
    negated: bool,
) -> SqlResult<Typed> {
    let mut parts = vec![functions::as_shown(builder.build(operand)?), builder.build(pattern)?];
    if let Some(escape) = escape {
        let escape = builder.build(escape)?;
        if let Expr::Literal(value) = &escape.expr {
            super::predicate::escape_character(value)?;
        }
        parts.push(escape);
    }
    let (mut parts, collation) = agreed(builder, "like", Purpose::Comparison, parts)?;
    let escape = if parts.len() > 2 { parts.pop() } else { None };
    if escape.as_ref().is_some_and(|escape| !escape.expr.is_constant()) {
        return Err(SqlError::wrong_arguments("ESCAPE"));
    }
    let escape = match escape {
        Some(escape) => Some(boxed(escape)),
        None if builder.settings.sql_mode.has(SqlMode::NO_BACKSLASH_ESCAPES) => None,
        None => Some(Box::new(Expr::Literal(Value::text("\\")))),
    };
    let nullable = any_nullable(&parts);
    let [operand, pattern] = exactly(parts).map(boxed);
    Ok(truth(Expr::Like { operand, pattern, escape, collation, negated }, nullable))
}

/// A hex literal among numbers and others: beside each number it is a number, beside each other value
/// bytes.
fn hex_in_list(
    builder: &mut Builder<'_>,
    operand: &ast::Expr,
    list: &[ast::Expr],
    negated: bool,
) -> SqlResult<Option<Typed>> {
    let kinds = builder.build_all(list)?;
    let number = |one: &Typed| one.kind.column.is_numeric();
    let text = |one: &Typed| one.kind.column.is_string() && one.kind.column != ColumnType::Json;
    let moment = |one: &Typed| one.kind.column.is_temporal();
    if !(kinds.iter().any(number)
        && kinds.iter().any(|one| text(one) || moment(one))
        && kinds.iter().all(|one| number(one) || text(one) || moment(one)))
    {
        return Ok(None);
    }
    let mut equal = Vec::with_capacity(list.len());
    for (candidate, kind) in list.iter().zip(&kinds) {
        // A list of one would refuse a text that is no date.
        let alike = [candidate.clone(), candidate.clone()];
        equal.push(match moment(kind) {
            true => in_list(builder, operand, &alike, false)?.expr,
            false => comparison(builder, CompareOp::Equal, operand, candidate)?.expr,
        });
    }
    let any = Expr::Or(equal);
    Ok(Some(truth(if negated { Expr::Not(Box::new(any)) } else { any }, true)))
}

fn in_list(
    builder: &mut Builder<'_>,
    operand: &ast::Expr,
    list: &[ast::Expr],
    negated: bool,
) -> SqlResult<Typed> {
    if let Some(rows) = row::row_in_list(builder, operand, list, negated)? {
        return Ok(rows);
    }
    if let [only] = list {
        let Typed { expr, kind } = comparison(builder, CompareOp::Equal, operand, only)?;
        let expr = if negated { Expr::Not(Box::new(expr)) } else { expr };
        return Ok(Typed { expr, kind });
    }
    let written = operand;
    if number_of_hex(operand).is_some()
        && let Some(one_by_one) = hex_in_list(builder, operand, list, negated)?
    {
        return Ok(one_by_one);
    }
    let operand = if number_of_hex(operand).is_some() {
        let parts: Vec<&ast::Expr> = std::iter::once(operand).chain(list).collect();
        build::build_alike(builder, &parts)?.swap_remove(0)
    } else {
        builder.build(operand)?
    };
    let numeric = operand.kind.column.is_numeric();
    let mut parts = Vec::with_capacity(list.len() + 1);
    for candidate in list {
        parts.push(if numeric { build::plain(builder, candidate)? } else { builder.build(candidate)? });
    }
    if builder.resolver.derives() {
        let written: Vec<&ast::Expr> = std::iter::once(written).chain(list).collect();
        let bound: Vec<Typed> = std::iter::once(&operand).chain(&parts).cloned().collect();
        open::settle(builder, Hold::Beside, &written, &bound, Some(ParameterKind::Text));
    }
    let is_document = |part: &Typed| part.kind.column == ColumnType::Json;
    if is_document(&operand) || parts.iter().any(is_document) {
        parts.insert(0, operand);
        parts = parts.into_iter().map(functions::as_order).collect();
    } else {
        let operands = std::iter::once(&operand).chain(&parts).collect::<Vec<_>>();
        builder.resolver.compare(super::Meeting::List, &operands);
        texts_beside_moments(builder, " IN ", &operands)?;
        if is_moment(&operand.kind.column) && operand.kind.column != ColumnType::Date {
            parts = parts.into_iter().map(|one| offset::offset_dropped(builder, one)).collect();
            parts = super::offset::told_before(&operand, parts);
        }
        super::candidates::without_days(&operand, &mut parts);
        if parts.len() > 1 && parts.iter().all(|part| part.expr.is_constant()) {
            parts = parts.into_iter().map(super::parameter::in_list).collect();
        }
        let operand = class::in_class(operand, &mut parts);
        let operand = candidates::candidates_read(builder, written, operand, &mut parts);
        let operand = mixed_list::mixed_candidates(builder, written, operand, &mut parts);
        if super::mixed_list::is_of_two_classes(&operand, &parts) {
            return mixed_list::in_two_lists(builder, &operand, parts, negated);
        }
        parts.insert(0, operand);
    }
    let parts = parts.into_iter().map(with_all_of_average).collect();
    // Beside a number all are numbers.
    let purpose = if numeric { Purpose::Operator } else { Purpose::Comparison };
    let (parts, collation) = agreed(builder, " IN ", purpose, parts)?;
    let nullable = any_nullable(&parts);
    let mut parts = parts.into_iter().map(|part| part.expr);
    let operand = Box::new(parts.next().expect("the operand is the first"));
    Ok(truth(Expr::InList { operand, list: parts.collect(), collation, negated }, nullable))
}

/// As many as were put in.
pub(super) fn exactly<const COUNT: usize>(parts: Vec<Typed>) -> [Typed; COUNT] {
    <[Typed; COUNT]>::try_from(parts).expect("as many come out as were put in")
}

/// If one operand is a document, both as what orders documents.
fn as_documents(left: Typed, right: Typed) -> (Typed, Typed) {
    let is_document = |typed: &Typed| typed.kind.column == ColumnType::Json;
    if is_document(&left) || is_document(&right) {
        return (functions::as_order(left), functions::as_order(right));
    }
    (left, right)
}
