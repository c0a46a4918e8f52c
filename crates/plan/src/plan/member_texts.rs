//! Texts of set operations. TEXT and BLOB among the members make a column of the least TEXT or BLOB that
//! holds the longest of them, which counts the characters of TEXT, however many bytes each has; a column of
//! numbers beside TEXT or BLOB gives its values as it shows them; and a parameter that is a moment has few
//! digits behind its seconds.

use turnstile_expr::expr::{Call, EvalContext, Expr, Typed};
use turnstile_expr::functions;
use turnstile_syntax::ast::SetOperator;
use turnstile_values::collation::Collation;
use turnstile_values::datetime::Time;
use turnstile_values::error::SqlResult;
use turnstile_values::types::{BlobSize, ColumnType, ExprType};
use turnstile_values::value::{Value, takes_shown};

use super::query::QueryPlan;

/// Makes columns of TEXT and BLOB as long as the members ask for.
pub(super) fn size(kinds: &mut [ExprType], members: &[(SetOperator, QueryPlan)]) {
    for (nth, kind) in kinds.iter_mut().enumerate() {
        let own = |member: &QueryPlan| Some(member.columns().get(nth)?.column_type.clone());
        let some_long = members.iter().filter_map(|(_, member)| own(member)).any(|kind| kind.is_blob());
        let (size, collation) = match &mut kind.column {
            ColumnType::Text { size, collation } => (size, Some(*collation)),
            ColumnType::Blob { size } => (size, None),
            _ => continue,
        };
        if some_long {
            let bytes = members.iter().map(|(_, member)| bytes_of_member(member, nth, collation)).max();
            *size = BlobSize::holding(bytes.unwrap_or(0));
        }
    }
}

/// How many bytes a member's values have at most, in this collation or (None) as they are.
fn bytes_of_member(member: &QueryPlan, nth: usize, collation: Option<Collation>) -> u64 {
    match member {
        QueryPlan::Set(plan) => {
            plan.members.iter().map(|(_, member)| bytes_of_member(member, nth, collation)).max().unwrap_or(0)
        }
        other => other.columns().get(nth).map_or(0, |column| bytes_of(&column.column_type, collation)),
    }
}

fn bytes_of(kind: &ColumnType, collation: Option<Collation>) -> u64 {
    let Some(own) = kind.collation().filter(|_| kind.is_character()) else {
        return u64::from(kind.wire_length());
    };
    let characters = match kind {
        ColumnType::Text { size, .. } => size.max_bytes(),
        other => u64::from(other.text_length()),
    };
    characters.saturating_mul(u64::from(collation.unwrap_or(own).max_char_bytes()))
}

/// A member's value where its column keeps such texts.
pub(super) fn shown(item: Typed, kind: &ColumnType) -> Typed {
    let is_column = matches!(item.expr, Expr::Column(_) | Expr::TimestampColumn(_));
    if is_column && takes_shown(kind) { functions::as_shown(item) } else { item }
}

/// A parameter where its column keeps texts.
pub(super) fn of_parameter(item: Typed, kind: &ColumnType) -> Typed {
    if matches!(item.expr, Expr::Parameter(_)) && kind.is_string() && item.kind.column.is_temporal() {
        let call =
            Call::new("moment of parameter", text_of_moment, vec![item.expr], item.kind.column.clone());
        return Typed { expr: call.into_expr(), kind: item.kind };
    }
    item
}

/// A DATETIME without the digits behind its seconds, a TIME with those that are not 0.
fn text_of_moment(_: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    Ok(match &arguments[0] {
        Value::DateTime(moment) => Value::text(moment.truncate_to(0).to_string()),
        Value::Time(time) => {
            let text = Time { fsp: 6, ..*time }.to_string();
            Value::text(text.trim_end_matches('0').trim_end_matches('.'))
        }
        other => other.clone(),
    })
}
