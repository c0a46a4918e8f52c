//! Sums of a text and a span of time where a number is wanted. What ADDTIME, SUBTIME, DATE_ADD and DATE_SUB
//! give of a text is shown as a text, and counts as the moment or the time that it says: '01:02:04' is 10204.

use super::{Call, EvalContext, Expr, Typed};
use turnstile_values::datetime::{self, DateRules};
use turnstile_values::error::SqlResult;
use turnstile_values::types::ColumnType;
use turnstile_values::value::{Value, to_decimal, to_double};

/// Whether an expression, whose type is a text's, is such a sum.
pub(super) fn is_sum(expr: &Expr) -> bool {
    match expr {
        Expr::Call(call) => matches!(call.name, "addtime" | "subtime") && call.kind.is_character(),
        Expr::DateArithmetic { .. } => true,
        _ => false,
    }
}

/// The number that such a sum says.
pub(super) fn number_said(expr: Expr) -> Expr {
    Call::new(NUMBER_SAID, number, vec![expr], ColumnType::DOUBLE).into_expr()
}

/// The same with all its digits, where more than a double has are wanted or a half is rounded up.
pub(super) fn with_all_digits(typed: Typed) -> Typed {
    Typed { expr: in_all_digits(typed.expr), kind: typed.kind }
}

fn in_all_digits(expr: Expr) -> Expr {
    match expr {
        Expr::Call(call) if call.name == NUMBER_SAID => {
            Call::new(NUMBER_SAID, exact, call.arguments.to_vec(), ColumnType::DOUBLE).into_expr()
        }
        Expr::Case { branches, otherwise, kind } => {
            let exact = |(when, then)| (when, in_all_digits(then));
            let branches: Vec<(Expr, Expr)> = branches.into_iter().map(exact).collect();
            let otherwise = otherwise.map(|otherwise| Box::new(in_all_digits(*otherwise)));
            let is_said = |expr: &Expr| matches!(expr, Expr::Call(call) if call.name == NUMBER_SAID);
            let some_said =
                branches.iter().any(|(_, then)| is_said(then)) || otherwise.as_deref().is_some_and(is_said);
            // A double has not all of them.
            let kind = if some_said { ColumnType::Null } else { kind };
            Expr::Case { branches, otherwise, kind }
        }
        other => other,
    }
}

const NUMBER_SAID: &str = "number of a sum";

fn number(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    if arguments[0].is_null() {
        return Ok(Value::Null);
    }
    Ok(Value::Double(to_double(&said(&arguments[0]), context)?))
}

fn exact(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    if arguments[0].is_null() {
        return Ok(Value::Null);
    }
    Ok(Value::Decimal(to_decimal(&said(&arguments[0]), context)?))
}

/// The moment, the day or the time that a text says. A sign may stand before a time; a day has a dash behind
/// its year.
fn said(sum: &Value) -> Value {
    let Value::Str(text) = sum else { return sum.clone() };
    let text = text.as_bytes();
    let read = if text.iter().skip(1).any(|byte| *byte == b'-') {
        let rules = DateRules { invalid: true, ..DateRules::LENIENT };
        datetime::parse_date_time(text, rules).map(|found| match found.has_time {
            true => Value::DateTime(found.moment),
            false => Value::Date(found.moment.date()),
        })
    } else {
        datetime::parse_time(text).map(|(time, _)| Value::Time(time))
    };
    read.unwrap_or_else(|| sum.clone())
}
