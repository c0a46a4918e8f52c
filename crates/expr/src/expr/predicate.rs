//! Comparisons with warnings, three-valued logic, BETWEEN, IN, LIKE and REGEXP.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::{CompareOp, EvalContext, Expr};
use turnstile_values::collation::{Collation, like};
use turnstile_values::datetime;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::regexp::{self, Options};
use turnstile_values::value::{
    Comparison, Value, apply_offset, order_of_doubles, shown_value, tell_delimiter, to_bytes, to_date_time,
    to_double, to_text, to_time,
};

/// Both sides of a comparison; a TIME beside a moment is that time of today.
pub(crate) fn on_one_day<'v>(
    left: &'v Value,
    right: &'v Value,
    context: &EvalContext<'_>,
) -> SqlResult<(Cow<'v, Value>, Cow<'v, Value>)> {
    let today = |time: &Value| {
        Ok::<_, SqlError>(Cow::Owned(to_date_time(time, context)?.map_or(Value::Null, Value::DateTime)))
    };
    Ok(match (left, right) {
        (Value::Time(_), Value::Date(_) | Value::DateTime(_)) => (today(left)?, Cow::Borrowed(right)),
        (Value::Date(_) | Value::DateTime(_), Value::Time(_)) => (Cow::Borrowed(left), today(right)?),
        _ => (Cow::Borrowed(left), Cow::Borrowed(right)),
    })
}

/// Compares two values with warnings for strings that are no numbers, no dates or no times; `None` if either
/// is NULL.
pub fn compare_checked(
    left: &Value,
    right: &Value,
    collation: Collation,
    context: &EvalContext<'_>,
) -> SqlResult<Option<Ordering>> {
    compare_misfits(left, right, collation, context, None)
}

/// What becomes of a text that is no date beside one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Misfit {
    /// It is told of.
    Told,
    /// It is told of by the row, for the date is a parameter.
    OfParameter,
    /// It is a constant, which is refused as no value of the date's type.
    Refused { beside_timestamp: bool },
}

impl Misfit {
    /// Of these two.
    pub(super) fn of(text: &Expr, date: &Expr) -> Misfit {
        match date {
            _ if text.is_constant() => {
                Misfit::Refused { beside_timestamp: matches!(date, Expr::TimestampColumn(_)) }
            }
            Expr::Parameter(_) => Misfit::OfParameter,
            _ => Misfit::Told,
        }
    }
}

/// By whether the text is the left one; None where none is refused.
type Misfits<'r> = Option<&'r dyn Fn(bool) -> Misfit>;

/// The moment that a text says; of one that is none, the zero date, with a warning that it is no such `kind`,
/// in other words where that is in capitals.
pub(super) fn moment_beside(text: &Value, kind: &str, context: &EvalContext<'_>) -> SqlResult<Value> {
    moment_or(text, context, &|text| match kind {
        "DATETIME" => SqlError::incorrect_value("datetime", text),
        kind => SqlError::truncated_wrong_value(kind, text),
    })
}

/// The same with another warning.
fn moment_or(
    text: &Value,
    context: &EvalContext<'_>,
    misfit: &dyn Fn(String) -> SqlError,
) -> SqlResult<Value> {
    if text.is_null() {
        return Ok(Value::Null);
    }
    let written = to_bytes(text);
    Ok(Value::DateTime(match datetime::parse_date_time(&written, context.compared_date_rules()) {
        Some(parsed) => {
            tell_delimiter(&parsed, &written, 1, context);
            apply_offset(parsed.moment, parsed.offset_seconds, context)
        }
        None => {
            context.warn(misfit(shown_value(text)))?;
            datetime::DateTime::ZERO
        }
    }))
}

/// The same, where `=` and its like refuse a constant that is no date.
fn compare_misfits(
    left: &Value,
    right: &Value,
    collation: Collation,
    context: &EvalContext<'_>,
    misfits: Misfits<'_>,
) -> SqlResult<Option<Ordering>> {
    if let (Value::Int(one), Value::Int(other)) = (left, right) {
        return Ok(Some(one.cmp(other)));
    }
    if left.is_null() || right.is_null() {
        return Ok(None);
    }
    if left.is_string() != right.is_string() {
        match Comparison::of(left, right) {
            Comparison::Doubles => {
                let (one, other) = (to_double(left, context)?, to_double(right, context)?);
                return Ok(Some(order_of_doubles(one, other)));
            }
            Comparison::Moments => {
                let (text, date) = if left.is_string() { (left, right) } else { (right, left) };
                let parsed = datetime::parse_date_time(&to_bytes(text), context.compared_date_rules());
                let misfit = misfits.map(|misfits| misfits(left.is_string()));
                if parsed.is_none()
                    && let Some(Misfit::Refused { beside_timestamp }) = misfit
                {
                    let kind = match date {
                        Value::Date(_) => "DATE",
                        _ if beside_timestamp => "TIMESTAMP",
                        _ => "DATETIME",
                    };
                    return Err(SqlError::wrong_value(kind, to_text(text)));
                }
                let told = |parsed: datetime::Temporal| {
                    parsed.offset_seconds.is_some() || parsed.delimiter.is_some()
                };
                if context.compared_date_rules().invalid || parsed.is_none_or(told) {
                    let kind = match date {
                        Value::Date(_) => "date",
                        _ if misfits.is_some() => "DATETIME",
                        _ => "datetime",
                    };
                    let moment = match misfit {
                        Some(Misfit::OfParameter) => moment_or(text, context, &|text| {
                            let kind = if kind == "date" { kind } else { "datetime" };
                            SqlError::incorrect_value_for_column(kind, text, "?", context.row())
                        })?,
                        _ => moment_beside(text, kind, context)?,
                    };
                    let order = context.compare(&moment, date, collation)?;
                    return Ok(if left.is_string() { order } else { order.map(Ordering::reverse) });
                }
            }
            Comparison::Times if misfits.is_none() => {
                let time = |value: &Value| Ok::<_, SqlError>(to_time(value, context)?.unwrap_or_default());
                return Ok(Some(time(left)?.us.cmp(&time(right)?.us)));
            }
            _ => {}
        }
    } else if matches!(left, Value::Time(_)) != matches!(right, Value::Time(_)) {
        let (left, right) = on_one_day(left, right, context)?;
        return context.compare(&left, &right, collation);
    }
    context.compare(left, right, collation)
}

/// Applies a comparison operator.
pub(super) fn compare_op(
    op: CompareOp,
    left: &Value,
    right: &Value,
    collation: Collation,
    context: &EvalContext<'_>,
    misfits: &dyn Fn(bool) -> Misfit,
) -> SqlResult<Option<bool>> {
    if op == CompareOp::NullSafeEqual && (left.is_null() || right.is_null()) {
        return Ok(Some(left.is_null() && right.is_null()));
    }
    let order = compare_misfits(left, right, collation, context, Some(misfits))?;
    Ok(order.map(|order| op.holds(order)))
}

impl CompareOp {
    /// Whether it holds between two values of this order.
    pub fn holds(self, order: Ordering) -> bool {
        match self {
            CompareOp::Equal | CompareOp::NullSafeEqual => order.is_eq(),
            CompareOp::NotEqual => order.is_ne(),
            CompareOp::Less => order.is_lt(),
            CompareOp::LessOrEqual => order.is_le(),
            CompareOp::Greater => order.is_gt(),
            CompareOp::GreaterOrEqual => order.is_ge(),
        }
    }
}

/// `operand BETWEEN low AND high`: both halves joined by AND.
pub(super) fn between(
    operand: &Value,
    low: &Value,
    high: &Value,
    collation: Collation,
    context: &EvalContext<'_>,
) -> SqlResult<Option<bool>> {
    let above = compare_checked(operand, low, collation, context)?.map(Ordering::is_ge);
    let below = compare_checked(operand, high, collation, context)?.map(Ordering::is_le);
    Ok(and(above, below))
}

/// Three-valued AND.
pub(super) fn and(left: Option<bool>, right: Option<bool>) -> Option<bool> {
    match (left, right) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

/// LIKE of two values.
pub(super) fn like_values(
    operand: &Value,
    pattern: &Value,
    escape: Option<char>,
    collation: Collation,
    context: &EvalContext<'_>,
) -> SqlResult<Option<bool>> {
    if operand.is_null() || pattern.is_null() {
        return Ok(None);
    }
    let binary = matches!(operand, Value::Bytes(_)) || matches!(pattern, Value::Bytes(_));
    let collation = if binary { Collation::Binary } else { collation };
    like(collation, &to_bytes(operand), &to_bytes(pattern), escape, &mut context.held()).map(Some)
}

/// The character that ESCAPE gives; none for an empty text and for NULL. Error 1210 for several.
pub(super) fn escape_character(value: &Value) -> SqlResult<Option<char>> {
    let text = to_text(value);
    let mut characters = text.chars();
    let first = characters.next();
    if characters.next().is_some() { Err(SqlError::wrong_arguments("ESCAPE")) } else { Ok(first) }
}

/// REGEXP of two values.
pub(super) fn regexp_values(
    operand: &Value,
    pattern: &Value,
    collation: Collation,
    context: &EvalContext<'_>,
) -> SqlResult<Option<bool>> {
    if pattern.is_null() {
        return Ok(None);
    }
    let binary = matches!(operand, Value::Bytes(_)) || matches!(pattern, Value::Bytes(_));
    let options = Options { ignores_case: !binary && !collation.is_case_sensitive(), ..Options::default() };
    // A wrong pattern is refused even if there is no text.
    let note = |work| context.session.work(work);
    let pattern = regexp::Pattern::new(&to_text(pattern), options, &note)?;
    if operand.is_null() {
        return Ok(None);
    }
    Ok(Some(pattern.search(&to_text(operand), &note)?.is_match()?))
}
