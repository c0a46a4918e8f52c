//! Values stored into columns of texts, bytes, ENUM and SET.

use std::sync::Arc;

use super::super::{EnumValue, Value, to_bytes, to_double, to_text};
use super::StoreContext;
use super::number::{is_below_zero, whole_number};
use crate::collation::{Collation, trim_spaces};
use crate::error::{SqlError, SqlResult};
use crate::number_text::fitted_double;
use crate::types::ColumnType;

pub(super) fn store_text(
    value: &Value,
    limit: u64,
    limit_in_bytes: bool,
    strip_spaces: bool,
    collation: Collation,
    context: &StoreContext<'_>,
) -> SqlResult<Value> {
    let mut text: Arc<str> = match value {
        // Bytes are taken as the column's own.
        Value::Bytes(bytes) if !collation.set().is_utf8() => match collation.set().decode(bytes) {
            Some(text) => text.into(),
            None => {
                let (text, place) = collation.set().decode_prefix(bytes);
                let bad = shown_misfit(&bytes[place..]);
                context.misfit(SqlError::incorrect_value_for_field(
                    "string",
                    bad,
                    context.column,
                    context.row,
                ))?;
                text.into()
            }
        },
        Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => text.into(),
            Err(error) => {
                let bad = shown_misfit(&bytes[error.valid_up_to()..]);
                context.misfit(SqlError::incorrect_value_for_field(
                    "string",
                    bad,
                    context.column,
                    context.row,
                ))?;
                String::from_utf8_lossy(&bytes[..error.valid_up_to()]).into()
            }
        },
        other => text_of(other, limit, limit_in_bytes, context)?,
    };
    if let Some(place) = collation.set().first_missing(&text) {
        let bad = shown_misfit(&text.as_bytes()[place..]);
        context.misfit(SqlError::incorrect_value_for_field("string", bad, context.column, context.row))?;
        text = collation.set().fit(&text).into();
    }
    let kept = if limit_in_bytes {
        text.char_indices()
            .map(|(at, c)| at + c.len_utf8())
            .take_while(|end| *end as u64 <= limit)
            .last()
            .unwrap_or(0)
    } else if text.len() as u64 <= limit {
        text.len()
    } else {
        text.char_indices().nth(limit as usize).map_or(text.len(), |(at, _)| at)
    };
    let mut result = text;
    if kept < result.len() {
        if result[kept..].bytes().all(|byte| byte == b' ') {
            if !strip_spaces {
                context.note_truncated();
            }
        } else {
            context.too_long()?;
        }
        result = result[..kept].into();
    }
    if strip_spaces && result.ends_with(' ') {
        result = result.trim_end_matches(' ').into();
    }
    Ok(Value::Str(result))
}

/// The text of a value that is none; TEXT keeps a double whole.
fn text_of(value: &Value, limit: u64, whole: bool, context: &StoreContext<'_>) -> SqlResult<Arc<str>> {
    match value {
        Value::Double(number) if !whole => doubled(*number, limit, context),
        other => Ok(to_text(other)),
    }
}

/// A double as a column of so many characters keeps it.
fn doubled(number: f64, limit: u64, context: &StoreContext<'_>) -> SqlResult<Arc<str>> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let (text, tells) = fitted_double(number, limit);
    // A longer text is cut, and warned of, where all texts are.
    if !tells && text.len() <= limit {
        context.too_long()?;
    }
    Ok(text.into())
}

/// The first bytes of what does not fit, as error 1366 shows them.
pub fn shown_misfit(bytes: &[u8]) -> String {
    let one = |byte: &u8| match byte {
        0x20..0x7F => char::from(*byte).to_string(),
        _ => format!("\\x{byte:02X}"),
    };
    let mut shown: String = bytes.iter().take(6).map(one).collect();
    if bytes.len() > 6 {
        shown.push_str("...");
    }
    shown
}

pub(super) fn store_bytes(value: &Value, limit: u64, context: &StoreContext<'_>) -> SqlResult<Vec<u8>> {
    let mut bytes = match value {
        Value::Double(number) => doubled(*number, limit, context)?.as_bytes().to_vec(),
        other => to_bytes(other).into_owned(),
    };
    if bytes.len() as u64 > limit {
        context.too_long()?;
        bytes.truncate(limit as usize);
    }
    Ok(bytes)
}

pub(super) fn store_enum(value: &Value, kind: &ColumnType, context: &StoreContext<'_>) -> SqlResult<Value> {
    let (ColumnType::Enum { names, collation } | ColumnType::Set { names, collation }) = kind else {
        return Ok(Value::Null);
    };
    // What another column of the same members holds is copied, even if it is none of them.
    if let Value::Enum(chosen) = value
        && chosen.names == *names
    {
        return Ok(value.clone());
    }
    let find = |text: &[u8]| {
        let wanted = trim_spaces(text);
        names.names.iter().position(|name| collation.compare(name.as_bytes(), wanted).is_eq())
    };
    let count = names.names.len() as u64;
    let limit = if names.multiple { if count >= 64 { u64::MAX } else { (1 << count) - 1 } } else { count };
    let by_number = |number: i128| u64::try_from(number).ok().filter(|number| *number <= limit);
    let number_in = |text: &[u8]| {
        let (number, complete) = crate::value::parse_integer_prefix(text);
        // Behind the number of a SET not even a space may follow.
        let complete = complete && !(names.multiple && text.last().is_some_and(u8::is_ascii_whitespace));
        by_number(number).filter(|_| complete && !text.is_empty())
    };
    let chosen = |number: i128| match by_number(number) {
        Some(bits) if bits > 0 || names.multiple => (bits, true),
        // A SET keeps the bits that it has.
        _ if names.multiple => (number as u64 & limit, false),
        _ => (0, false),
    };
    // What is chosen, and whether that was all that was said.
    let (bits, whole) = match value {
        // Dates and times are looked for as they are written, and are no numbers of members.
        Value::Str(_)
        | Value::Bytes(_)
        | Value::Enum(_)
        | Value::Json(_)
        | Value::Date(_)
        | Value::DateTime(_)
        | Value::Time(_) => {
            let text = to_bytes(value);
            let found = if names.multiple {
                let said = trim_spaces(&text);
                let members = said.split(|byte| *byte == b',').filter(|_| !text.is_empty());
                members.fold((0, true), |(bits, whole), member| match find(member) {
                    Some(position) => (bits | 1u64 << position, whole),
                    None => (bits, false),
                })
            } else {
                find(&text).map_or((0, false), |position| (position as u64 + 1, true))
            };
            if found == (0, false) { number_in(&text).map_or(found, |bits| (bits, true)) } else { found }
        }
        Value::Double(_) | Value::Decimal(_) => {
            // Fractions are cut off here.
            let number = match value {
                Value::Decimal(number) => {
                    let beyond = if is_below_zero(value) { i128::MIN } else { i128::MAX };
                    number.truncate_places(0).to_scaled_i128().unwrap_or(beyond)
                }
                other => to_double(other, context.eval)?.trunc() as i128,
            };
            // These become whole numbers of 64 bits first.
            chosen(number.clamp(i64::MIN.into(), i64::MAX.into()))
        }
        number => {
            let number = whole_number(number, context)?;
            chosen(number)
        }
    };
    if !whole {
        context.misfit(SqlError::data_truncated(context.column, context.row))?;
    }
    Ok(Value::Enum(EnumValue { names: Arc::clone(names), bits }))
}
