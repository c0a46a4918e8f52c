//! From syntax to bound comparisons: operators, BETWEEN, IN, LIKE and REGEXP. Texts that are compared agree
//! on a collation here (`mixing`).

mod compared;
mod list;

use turnstile_syntax::ast::{self, BinaryOp};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::mixing::Purpose;
use turnstile_values::value::Value;

use super::build::{Builder, any_nullable, boxed, truth};
use super::class::is_moment;
use super::own_digits::with_all_of_average;
use super::parameter::{Hold, ParameterKind};
use super::{CompareOp, Expr, SqlMode, Typed};
use crate::expr::{between, build, not_bytes_and_text, offset, open, row};
use crate::functions;
use compared::texts_beside_moments;
pub(super) use compared::{
    agreed, beside_one_another, compare_alike, compare_typed, compared, gives_hex, hex_beside, like_others,
    read_beside,
};
use list::in_list;

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
        if truth_test { build::bind_condition(builder, operand)? } else { build::plain(builder, operand)? };
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
            between_bounds(builder, &[&**operand, &**low, &**high], *negated)
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

fn between_bounds(builder: &mut Builder<'_>, parts: &[&ast::Expr], negated: bool) -> SqlResult<Typed> {
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

/// As many as were put in.
pub(super) fn exactly<const COUNT: usize>(parts: Vec<Typed>) -> [Typed; COUNT] {
    <[Typed; COUNT]>::try_from(parts).expect("as many come out as were put in")
}
