//! Bytes that are equal exactly if values are: for GROUP BY, DISTINCT and hash joins. Not ordered, never
//! stored.

use turnstile_expr::expr::EvalContext;
use turnstile_values::collation::Collation;
use turnstile_values::error::SqlResult;
use turnstile_values::types::ColumnType;
use turnstile_values::value::{Value, to_bytes};

/// Appends the key of a value.
pub fn append(value: &Value, collation: Collation, out: &mut Vec<u8>) {
    let number = |tag: u8, bits: i128, out: &mut Vec<u8>| {
        out.push(tag);
        out.extend_from_slice(&bits.to_le_bytes());
    };
    match value {
        Value::Null => out.push(0),
        Value::Int(one) => number(1, i128::from(*one), out),
        Value::UInt(one) => number(1, i128::from(*one), out),
        Value::Double(one) => {
            out.push(2);
            out.extend_from_slice(&(one + 0.0).to_bits().to_le_bytes());
        }
        Value::Decimal(one) => {
            out.push(3);
            // Equal decimals of different scale agree once trailing zeros are gone; the text form shows them
            // all.
            let text = one.to_string();
            let trimmed =
                if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
            out.extend_from_slice(trimmed.as_bytes());
            out.push(0);
        }
        Value::Str(text) => weights(text.as_bytes(), collation, out),
        Value::Bytes(bytes) => weights(bytes, Collation::Binary, out),
        Value::Date(date) => number(5, i128::from(date.packed()), out),
        Value::Time(time) => number(6, i128::from(time.us), out),
        Value::DateTime(moment) => number(7, i128::from(moment.packed()), out),
        Value::Json(_) => weights(&to_bytes(value), collation, out),
        Value::Enum(chosen) => number(8, i128::from(chosen.bits), out),
    }
}

/// Appends the key of a value of this type: of a document what orders documents. `collation` is for what has
/// none.
pub fn append_of(
    value: &Value,
    kind: &ColumnType,
    collation: Collation,
    context: &EvalContext<'_>,
    out: &mut Vec<u8>,
) -> SqlResult<()> {
    if *kind == ColumnType::Json && !value.is_null() {
        let mut held = context.held();
        let order = turnstile_expr::functions::document_order(value, &mut held)?;
        held.grow_piece(order.len() * 2)?;
        weights(&order, Collation::Binary, out);
        return Ok(());
    }
    append_held(value, kind.collation().unwrap_or(collation), context, out)
}

/// What the key of a text takes while it grows: weights of two bytes for each, in room that doubles.
const KEY_COPIES: usize = 4;

/// Appends the key of a value; whether there is memory for that of a large one is asked first. Who keeps the
/// key charges it.
pub fn append_held(
    value: &Value,
    collation: Collation,
    context: &EvalContext<'_>,
    out: &mut Vec<u8>,
) -> SqlResult<()> {
    let bytes = value.stored_len();
    if bytes == 0 {
        append(value, collation, out);
        return Ok(());
    }
    let mut held = context.held();
    held.grow(bytes.saturating_mul(KEY_COPIES))?;
    context.watched(bytes, || append(value, collation, out))
}

/// A key's room stays for the next one unless it is large.
const KEPT_BYTES: usize = 1 << 20;

/// Empties a key.
pub fn clear(key: &mut Vec<u8>) {
    key.clear();
    key.shrink_to(KEPT_BYTES);
}

fn weights(text: &[u8], collation: Collation, out: &mut Vec<u8>) {
    out.push(4);
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    collation.append_weights(text, out);
    let length = (out.len() - at - 4) as u32;
    out[at..at + 4].copy_from_slice(&length.to_le_bytes());
}
