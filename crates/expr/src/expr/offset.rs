//! Texts with an offset from UTC beside dates. MySQL reads a constant text beside a date once, and then not
//! its offset. Only a literal beside a column of moments in a condition is kept as the column would keep it:
//! as the moment in the session's time zone.

use turnstile_values::datetime::{self, DateRules, DateTime};
use turnstile_values::error::SqlResult;
use turnstile_values::types::{ColumnType, ExprType};
use turnstile_values::value::{Value, apply_offset};

use super::build::Builder;
use super::class::{is_column, is_document, is_settled};
use super::{Call, EvalContext, Expr, Typed};

/// Sign, hours, colon and minutes.
const OFFSET_BYTES: usize = 6;

/// A constant beside a date, compared by an operator.
pub(super) fn offset_beside(builder: &Builder<'_>, moment: &Typed, other: Typed) -> Typed {
    let kept = matches!(moment.kind.column, ColumnType::DateTime { .. } | ColumnType::Timestamp { .. })
        && is_of_table(builder, moment)
        && builder.resolver.condition_clause().is_some()
        && matches!(other.expr, Expr::Literal(_) | Expr::Parameter(_));
    if kept { other } else { offset_dropped(builder, other) }
}

fn is_of_table(builder: &Builder<'_>, typed: &Typed) -> bool {
    match typed.expr {
        Expr::Column(at) | Expr::TimestampColumn(at) => builder.resolver.is_stored(at),
        _ => false,
    }
}

/// A constant text beside dates without its offset.
pub(super) fn offset_dropped(builder: &Builder<'_>, typed: Typed) -> Typed {
    let kind = &typed.kind.column;
    if !kind.is_character() || is_document(kind) {
        return typed;
    }
    match &typed.expr {
        Expr::Literal(value) => match cut(value) {
            Some(value) => Typed { expr: Expr::Literal(value), kind: typed.kind },
            None => typed,
        },
        Expr::Parameter(_) if builder.resolver.is_prepared() => typed,
        expr if is_settled(expr) => {
            let call =
                Call::new("without offset", without_offset, vec![typed.expr], typed.kind.column.clone());
            Typed { expr: call.into_expr(), kind: typed.kind }
        }
        _ => typed,
    }
}

/// Constant texts among which a column of moments is looked for, as moments: they are told of before any row
/// is read.
pub(super) fn told_before(column: &Typed, candidates: Vec<Typed>) -> Vec<Typed> {
    let told = is_column(column)
        && matches!(column.kind.column, ColumnType::DateTime { .. } | ColumnType::Timestamp { .. })
        && candidates.iter().all(|one| is_settled(&one.expr))
        && candidates.iter().all(|one| one.kind.column.is_character() || one.kind.column == ColumnType::Null);
    if !told {
        return candidates;
    }
    let read = |one: Typed| {
        if one.kind.column == ColumnType::Null {
            return one;
        }
        let kind = ColumnType::DateTime { fsp: 6 };
        let call = Call::new("moment of constant", silent_moment, vec![one.expr], kind.clone());
        Typed { expr: call.into_expr(), kind: ExprType { column: kind, ..one.kind } }
    };
    candidates.into_iter().map(read).collect()
}

/// The moment that a text says; of one that says none, the zero date.
fn silent_moment(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let Some(text) = arguments[0].as_raw_bytes() else { return Ok(arguments[0].clone()) };
    let found = datetime::parse_date_time(text, context.compared_date_rules());
    let moment = |found: datetime::Temporal| apply_offset(found.moment, found.offset_seconds, context);
    Ok(Value::DateTime(found.map_or(DateTime::ZERO, moment)))
}

fn without_offset(_: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    Ok(cut(&arguments[0]).unwrap_or_else(|| arguments[0].clone()))
}

/// A text of a moment with an offset, without that.
fn cut(value: &Value) -> Option<Value> {
    let text = value.as_raw_bytes()?.trim_ascii_end();
    let found = datetime::parse_date_time(text, DateRules::LENIENT)?;
    found.offset_seconds?;
    let moment = text.get(..text.len().checked_sub(OFFSET_BYTES)?)?;
    Some(Value::text(std::str::from_utf8(moment).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_offset_is_cut_off() {
        let cut = |text: &str| cut(&Value::text(text));
        assert_eq!(cut("2020-01-01 10:11:12-01:00"), Some(Value::text("2020-01-01 10:11:12")));
        assert_eq!(cut("2020-01-01 10:11:12.5+14:00 "), Some(Value::text("2020-01-01 10:11:12.5")));
        assert_eq!(cut("2020-01-01 10:11:12"), None);
        assert_eq!(cut("2020-01-01"), None);
        assert_eq!(cut("abc"), None);
    }
}
