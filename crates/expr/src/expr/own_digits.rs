//! Decimals with the digits of their values. A type says how many digits a decimal is shown with and read as
//! text with; given to a column of text, to a document or to a variable, a decimal has those of the value
//! that came out: `COALESCE(price, -1)` is `-1`, and a difference, product, quotient or remainder that is
//! zero has none.
//!
//! A quotient has as many digits as its operands' values ask for, at most those of its type:
//! `COALESCE(whole, 1.0000000000) / 7` has nine. AVG has the digits that its division gives, mostly nine or
//! eighteen; whatever computes with it, compares it or keeps it takes all of these, and they are cut to its
//! type's where it is shown and where an operator, COALESCE or GREATEST gives a result of them.

use std::sync::Arc;

use super::{ArithmeticOp, Call, EvalContext, Expr, Source, Typed, arithmetic, coerce_value};
use crate::functions::demand::Demand;
use turnstile_values::collation::Collation;
use turnstile_values::decimal::Decimal;
use turnstile_values::error::SqlResult;
use turnstile_values::types::ColumnType;
use turnstile_values::value::Value;

/// A decimal with the digits of its value; anything else as it is.
pub fn with_own_digits(typed: Typed) -> Typed {
    if !matches!(typed.kind.column, ColumnType::Decimal { .. }) {
        return typed;
    }
    Typed { expr: of_value(typed.expr), kind: typed.kind }
}

/// What is kept in a place of the tuple with the digits of its value, as it is shown: with those of its type.
pub fn shown_as_type(place: Typed) -> Typed {
    if !matches!(place.kind.column, ColumnType::Decimal { .. }) {
        return place;
    }
    Typed { expr: called(OF_TYPE, of_type, vec![place.expr], &place.kind.column), kind: place.kind }
}

/// The same of an average, which has guard digits too.
pub fn shown_average(place: Typed) -> Typed {
    if !matches!(place.kind.column, ColumnType::Decimal { .. }) {
        return place;
    }
    Typed { expr: called(AVERAGE, of_average, vec![place.expr], &place.kind.column), kind: place.kind }
}

/// A value that is read as a double: of an average, the nearest one.
pub(super) fn as_double_of_average(typed: Typed) -> Typed {
    match exceeds(&typed.expr) {
        true => Typed { expr: guarded(of_value(typed.expr)), kind: typed.kind },
        false => typed,
    }
}

/// The value of an average with its guard digits.
fn guarded(expr: Expr) -> Expr {
    match expr {
        Expr::Call(call) if call.name == UNGUARDED => call.arguments[0].clone(),
        Expr::Case { branches, otherwise, kind } => Expr::Case {
            branches: branches.into_iter().map(|(when, then)| (when, guarded(then))).collect(),
            otherwise: otherwise.map(|otherwise| Box::new(guarded(*otherwise))),
            kind,
        },
        Expr::NullIf { left, right, collation } => {
            Expr::NullIf { left: Box::new(guarded(*left)), right, collation }
        }
        other => other,
    }
}

/// An average among values of which COALESCE gives one, with the digits of what it gives.
pub(super) fn cut_average(typed: Typed, kind: &ColumnType) -> Expr {
    let decimal = matches!(kind, ColumnType::Decimal { .. });
    if decimal && exceeds(&typed.expr) {
        called(CUT, cut, vec![of_value(typed.expr)], kind)
    } else {
        typed.expr
    }
}

/// Averages among the arguments of GREATEST or LEAST with all their digits, and whether there are some.
pub(super) fn with_all_of_averages(arguments: Vec<Typed>) -> (Vec<Typed>, bool) {
    let some = arguments.iter().any(|one| exceeds(&one.expr));
    (arguments.into_iter().map(with_all_of_average).collect(), some)
}

/// A value that is compared, computed with or kept: an average has all the digits of its division.
pub fn with_all_of_average(typed: Typed) -> Typed {
    match exceeds(&typed.expr) {
        true => Typed { expr: of_value(typed.expr), kind: typed.kind },
        false => typed,
    }
}

/// Makes the first argument of ROUND or TRUNCATE an average with all its digits, if it is one. None is kept
/// behind those of its type.
pub(super) fn take_average(arguments: &mut [Typed]) -> bool {
    let Some(first) = arguments.first_mut().filter(|first| exceeds(&first.expr)) else { return false };
    let scale = i64::from(first.kind.column.wire_decimals());
    *first = with_all_of_average(first.clone());
    if let Some(Typed { expr: Expr::Literal(Value::Int(places)), .. }) = arguments.get_mut(1) {
        *places = (*places).min(scale);
    }
    true
}

/// Whether the value of a decimal may have more or fewer digits than its type.
pub fn varies(typed: &Typed) -> bool {
    matches!(typed.kind.column, ColumnType::Decimal { .. }) && differs(&typed.expr)
}

/// An operator with a result of this type. Over operands whose values may have other digits than their types
/// it computes with all of these, and cuts the result.
pub(super) fn computed(
    op: ArithmeticOp,
    (left, right): (Typed, Typed),
    kind: &ColumnType,
    source: Option<Box<Source>>,
) -> Expr {
    let decimal = matches!(kind, ColumnType::Decimal { .. });
    let other = if op == ArithmeticOp::Divide && decimal {
        varies(&left) || varies(&right)
    } else {
        exceeds(&left.expr) || exceeds(&right.expr)
    };
    if !other || op.is_of_bits() {
        let (left, right) = (Box::new(left.expr), Box::new(right.expr));
        return Expr::Arithmetic { op, left, right, source };
    }
    let doubles = matches!(kind, ColumnType::Double { .. });
    let read = |typed: Typed| if doubles { as_double_of_average(typed).expr } else { of_value(typed.expr) };
    let (left, right) = (read(left), read(right));
    let result = if op == ArithmeticOp::Divide && decimal {
        let call = Call {
            name: QUOTIENT,
            function: quotient_of_values,
            arguments: vec![left, right],
            collation: Collation::Binary,
            kind: kind.clone(),
            deterministic: true,
            demand: Demand::All,
            sources: source.map(|source| [*source].into()),
        };
        Expr::Call(Arc::new(call))
    } else {
        Expr::Arithmetic { op, left: Box::new(left), right: Box::new(right), source }
    };
    if decimal { Expr::Coerce { operand: Box::new(result), to: kind.clone() } } else { result }
}

/// Names of calls that stand for a step of computing, not for a function.
const OF_TYPE: &str = "digits of type";
const AVERAGE: &str = "average";
const UNGUARDED: &str = "digits of average";
const QUOTIENT: &str = "quotient of values";
const CUT: &str = "cut digits";

fn called(
    name: &'static str,
    function: super::ScalarFunction,
    arguments: Vec<Expr>,
    kind: &ColumnType,
) -> Expr {
    let (kind, collation) = (kind.clone(), Collation::Binary);
    Expr::Call(Arc::new(Call {
        name,
        function,
        arguments,
        collation,
        kind,
        deterministic: true,
        demand: Demand::All,
        sources: None,
    }))
}

fn of_type(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    coerce_value(arguments[0].clone(), &call.kind, context)
}

fn of_average(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    coerce_value(unguarded(call, arguments, context)?, &call.kind, context)
}

fn unguarded(_: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    Ok(match arguments[0].clone() {
        Value::Decimal(number) => Value::Decimal(number.without_guard()),
        other => other,
    })
}

fn cut(call: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    Ok(match (&arguments[0], &call.kind) {
        (Value::Decimal(number), ColumnType::Decimal { scale, .. }) if number.scale() > *scale => {
            Value::Decimal(number.round_to(*scale))
        }
        (other, _) => other.clone(),
    })
}

fn quotient_of_values(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let ColumnType::Decimal { scale, .. } = call.kind else { return Ok(Value::Null) };
    arithmetic::quotient(&arguments[0], &arguments[1], scale, context)
}

/// Whether the value may have more digits than its type: an average, or one of several values that are given
/// as they are.
fn exceeds(expr: &Expr) -> bool {
    match expr {
        Expr::Call(call) => matches!(call.name, OF_TYPE | AVERAGE),
        Expr::Case { branches, otherwise, kind: ColumnType::Decimal { .. } } => {
            branches.iter().map(|(_, then)| then).chain(otherwise.as_deref()).any(exceeds)
        }
        Expr::NullIf { left, .. } => exceeds(left),
        Expr::Coerce { operand, to: ColumnType::Decimal { .. } } => {
            matches!(**operand, Expr::Case { .. } | Expr::NullIf { .. }) && exceeds(operand)
        }
        _ => false,
    }
}

fn differs(expr: &Expr) -> bool {
    match expr {
        Expr::Coalesce { kind: ColumnType::Decimal { .. }, .. }
        | Expr::Case { kind: ColumnType::Decimal { .. }, .. } => true,
        Expr::NullIf { left, .. } => differs(left),
        Expr::Negate { operand, .. } => differs(operand),
        Expr::Coerce { operand, to: ColumnType::Decimal { .. } } => keeps_digits(operand) || differs(operand),
        Expr::Arithmetic { left, right, .. } => differs(left) || differs(right),
        Expr::Call(call) => match call.name {
            OF_TYPE | AVERAGE | QUOTIENT | "greatest" | "least" => true,
            "abs" => call.arguments.iter().any(differs),
            _ => false,
        },
        _ => false,
    }
}

/// The values of which an operation gives one, cut to the digits of its type.
fn of_all(exprs: Vec<Expr>, kind: &ColumnType) -> Vec<Expr> {
    let of = |expr| match exceeds(&expr) {
        true => called(CUT, cut, vec![of_value(expr)], kind),
        false => of_value(expr),
    };
    exprs.into_iter().map(of).collect()
}

fn of_value(expr: Expr) -> Expr {
    match expr {
        Expr::Coalesce { arguments, kind: kind @ ColumnType::Decimal { .. } } => {
            Expr::Coalesce { arguments: of_all(arguments, &kind), kind: ColumnType::Null }
        }
        Expr::Case { branches, otherwise, kind: ColumnType::Decimal { .. } } => Expr::Case {
            branches: branches.into_iter().map(|(when, then)| (when, of_value(then))).collect(),
            otherwise: otherwise.map(|otherwise| Box::new(of_value(*otherwise))),
            kind: ColumnType::Null,
        },
        Expr::NullIf { left, right, collation } => {
            Expr::NullIf { left: Box::new(of_value(*left)), right, collation }
        }
        Expr::Coerce { operand, to: ColumnType::Decimal { .. } } if keeps_digits(&operand) => {
            of_value(*operand)
        }
        Expr::Coerce { operand, to: to @ ColumnType::Decimal { .. } } if differs(&operand) => {
            match *operand {
                Expr::Call(call) if call.name == QUOTIENT => Expr::Call(call),
                operand => called(CUT, cut, vec![of_value(operand)], &to),
            }
        }
        // Its own type cuts the digits of an average, and no other one.
        Expr::Negate { operand, source } if exceeds(&operand) => Expr::Negate { operand, source },
        Expr::Negate { operand, source } => Expr::Negate { operand: Box::new(of_value(*operand)), source },
        Expr::Arithmetic { op, left, right, source }
            if !op.is_of_bits() && op != ArithmeticOp::IntegerDivide =>
        {
            // A quotient has as many digits as its dividend's type asks for.
            let deep = op != ArithmeticOp::Divide;
            let operand = |one: Box<Expr>| if deep { of_value(*one) } else { *one };
            let arguments = vec![operand(left), operand(right)];
            result_of(op, arguments, source)
        }
        Expr::Call(call) if matches!(call.name, "greatest" | "least" | "abs") => {
            let arguments = of_all(call.arguments.clone(), &call.kind);
            let kind = if call.name == "abs" { call.kind.clone() } else { ColumnType::Null };
            Expr::Call(Arc::new(Call { arguments, kind, ..(*call).clone() }))
        }
        Expr::Call(call) if call.name == OF_TYPE => call.arguments[0].clone(),
        Expr::Call(call) if call.name == AVERAGE => {
            called(UNGUARDED, unguarded, call.arguments.clone(), &call.kind)
        }
        other => other,
    }
}

/// Whether an expression whose value is brought to its type's digits has digits of its own.
fn keeps_digits(expr: &Expr) -> bool {
    match expr {
        Expr::Case { .. } | Expr::NullIf { .. } => true,
        Expr::Call(call) => matches!(call.name, "round" | "truncate"),
        _ => false,
    }
}

fn result_of(op: ArithmeticOp, arguments: Vec<Expr>, source: Option<Box<Source>>) -> Expr {
    let function = match op {
        ArithmeticOp::Add => sum,
        ArithmeticOp::Subtract => difference,
        ArithmeticOp::Multiply => product,
        ArithmeticOp::Divide => quotient,
        _ => remainder,
    };
    let call = Call {
        name: "digits",
        function,
        arguments,
        collation: Collation::Binary,
        kind: ColumnType::Null,
        deterministic: true,
        demand: Demand::All,
        // That of the whole, which is no call.
        sources: source.map(|source| [*source].into()),
    };
    Expr::Call(Arc::new(call))
}

fn bare(op: ArithmeticOp, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let zero = |value: &Value| matches!(value, Value::Decimal(number) if number.is_zero());
    let value = arithmetic::apply(op, &arguments[0], &arguments[1], context)?;
    // Zeros are added digit by digit; other sums that are zero are differences.
    let sum_of_zeros =
        op == ArithmeticOp::Add && arguments.iter().all(|one| zero(one) || *one == Value::Int(0));
    Ok(if zero(&value) && !sum_of_zeros { Value::Decimal(Decimal::ZERO) } else { value })
}

fn sum(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    bare(ArithmeticOp::Add, arguments, context)
}

fn difference(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    bare(ArithmeticOp::Subtract, arguments, context)
}

fn product(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    bare(ArithmeticOp::Multiply, arguments, context)
}

fn quotient(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    bare(ArithmeticOp::Divide, arguments, context)
}

fn remainder(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    bare(ArithmeticOp::Modulo, arguments, context)
}
