//! Decimals with the digits of their values. A type says how many digits a decimal is shown with and read as text with; given to a
//! column of text, to a document or to a variable, a decimal has those of the value that came out: `COALESCE(price, -1)` is `-1`, and a
//! difference, product, quotient or remainder that is zero has none.

use std::sync::Arc;

use super::{ArithmeticOp, Call, EvalContext, Expr, Source, Typed, arithmetic};
use crate::collation::Collation;
use crate::decimal::Decimal;
use crate::error::SqlResult;
use crate::types::ColumnType;
use crate::value::Value;

/// A decimal with the digits of its value; anything else as it is.
pub fn with_own_digits(typed: Typed) -> Typed {
    if !matches!(typed.kind.column, ColumnType::Decimal { .. }) {
        return typed;
    }
    Typed { expr: of_value(typed.expr), kind: typed.kind }
}

fn of_all(exprs: Vec<Expr>) -> Vec<Expr> {
    exprs.into_iter().map(of_value).collect()
}

fn of_value(expr: Expr) -> Expr {
    match expr {
        Expr::Coalesce { arguments, kind: ColumnType::Decimal { .. } } => {
            Expr::Coalesce { arguments: of_all(arguments), kind: ColumnType::Null }
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
            let arguments = of_all(call.arguments.clone());
            let kind = if call.name == "abs" { call.kind.clone() } else { ColumnType::Null };
            Expr::Call(Arc::new(Call { arguments, kind, ..(*call).clone() }))
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
