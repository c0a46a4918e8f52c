//! A column of FLOAT(M,D) or DOUBLE(M,D) beside an exact number: the two are compared by the digits that the
//! column shows. Beside a constant the column stays as it is, so that its keys are used: the constant becomes
//! a double that stands among the stored numbers where its digits stand among the shown ones.

use super::class::{coerced, is_column, is_settled};
use super::{Call, EvalContext, Expr, Typed};
use turnstile_values::decimal::Decimal;
use turnstile_values::error::SqlResult;
use turnstile_values::types::{ColumnType, ExprType};
use turnstile_values::value::{Value, rounded_to_scale};

/// Digits of the widest FLOAT(M,D) whose values are compared by the digits that it shows.
const DIGITS_MAX: u8 = 60;

/// How a column keeps numbers of so many digits behind the point.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Kept {
    single: bool,
    scale: u8,
}

fn kept(kind: &ColumnType) -> Option<Kept> {
    let (single, digits) = match kind {
        ColumnType::Float { digits, .. } => (true, digits),
        ColumnType::Double { digits, .. } => (false, digits),
        _ => return None,
    };
    let (whole, scale) = (*digits)?;
    (whole <= DIGITS_MAX).then_some(Kept { single, scale })
}

fn is_exact(kind: &ColumnType) -> bool {
    matches!(kind, ColumnType::Int { .. } | ColumnType::Decimal { .. })
}

/// Two operands of a comparison, compared by the digits that they show where one of them shows so many.
pub(super) fn beside(left: Typed, right: Typed) -> (Typed, Typed) {
    match (kept(&left.kind.column), kept(&right.kind.column)) {
        (None, None) => (left, right),
        // What is kept in one way has the order of what is shown.
        (Some(one), Some(other)) if one == other => (left, right),
        (Some(form), None) if is_column(&left) && is_settled(&right.expr) => {
            let right = among_stored(right, form);
            (left, right)
        }
        (None, Some(form)) if is_column(&right) && is_settled(&left.expr) => {
            (among_stored(left, form), right)
        }
        (one, other) => {
            let digits = |kept: Option<Kept>, typed: &Typed| kept.is_some() || is_exact(&typed.kind.column);
            if digits(one, &left) && digits(other, &right) {
                (as_digits(left), as_digits(right))
            } else {
                (left, right)
            }
        }
    }
}

/// A bound of BETWEEN, where `operand` is what it bounds.
pub(super) fn bound_of(operand: &Typed, bound: Typed) -> Typed {
    match kept(&operand.kind.column) {
        Some(form) if is_column(operand) && is_settled(&bound.expr) => among_stored(bound, form),
        _ => bound,
    }
}

fn as_digits(typed: Typed) -> Typed {
    match typed.kind.column {
        ColumnType::Float { digits: Some((precision, scale)), .. }
        | ColumnType::Double { digits: Some((precision, scale)), .. } => {
            let precision = precision.max(1);
            coerced(typed, ColumnType::Decimal { precision, scale, unsigned: false, zerofill: false })
        }
        _ => typed,
    }
}

/// A settled number: a DECIMAL becomes the double that stands for it. Whole numbers are kept exactly as they
/// are.
fn among_stored(typed: Typed, form: Kept) -> Typed {
    if !matches!(typed.kind.column, ColumnType::Decimal { .. }) {
        return typed;
    }
    let kind = ExprType { column: ColumnType::DOUBLE, ..typed.kind };
    if let Expr::Literal(Value::Decimal(number)) = &typed.expr {
        return Typed { expr: Expr::Literal(Value::Double(stand_in(number, form))), kind };
    }
    let arguments =
        vec![typed.expr, Expr::int(i64::from(form.scale)), Expr::Literal(Value::boolean(form.single))];
    let call = Call::new("digits", stand_in_of, arguments, ColumnType::DOUBLE);
    Typed { expr: call.into_expr(), kind }
}

fn stand_in_of(_: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    Ok(match arguments {
        [Value::Decimal(number), Value::Int(scale), single] => {
            let form =
                Kept { scale: u8::try_from(*scale).unwrap_or(0), single: *single == Value::boolean(true) };
            Value::Double(stand_in(number, form))
        }
        _ => arguments[0].clone(),
    })
}

/// The stored number nearest to an exact one, if that shows its digits; otherwise one that lies beside it on
/// the side where the exact number lies, and that no column keeps.
fn stand_in(exact: &Decimal, form: Kept) -> f64 {
    let rounded = rounded_to_scale(exact.to_f64(), form.scale);
    let near = if form.single { f64::from(rounded as f32) } else { rounded };
    let Some(shown) = Decimal::from_f64(near).map(|shown| shown.round_to(form.scale)) else {
        return exact.to_f64();
    };
    match shown.cmp(exact) {
        std::cmp::Ordering::Equal => near,
        std::cmp::Ordering::Less => near.next_up(),
        std::cmp::Ordering::Greater => near.next_down(),
    }
}
