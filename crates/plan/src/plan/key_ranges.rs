//! From the ranges of a plan to bounds in key bytes.
//!
//! All bounds come out as plain byte intervals (`lower <= key < upper`), prefixes included, so that they mean
//! the same on clustered and secondary trees. A value that the column cannot hold makes a range empty or open
//! on one side; a comparison that is not one of the column's own order leaves that part unbounded: ranges may
//! be too wide, never too narrow, because every condition is tested again on the rows.

use std::ops::Bound;

use turnstile_catalog::dictionary::Table;
use turnstile_expr::expr::{EvalContext, Row};
use turnstile_values::collation::literal_front;
use turnstile_values::error::SqlResult;
use turnstile_values::key_codec::{KeyPart, SearchValue, after_prefix, search_value};
use turnstile_values::value::Value;

use super::query::{Access, KeyRange, Operand, Pattern};

/// An interval of keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ByteRange {
    /// First key, included; None for the start of the tree.
    pub lower: Option<Vec<u8>>,
    /// First key behind, excluded; None for the end of the tree.
    pub upper: Option<Vec<u8>>,
    /// It is exactly this one whole key of a unique index without NULLs.
    pub point: bool,
}

impl ByteRange {
    /// For the engine.
    pub fn bounds(&self) -> (Bound<Vec<u8>>, Bound<Vec<u8>>) {
        let lower = self.lower.clone().map_or(Bound::Unbounded, Bound::Included);
        (lower, self.upper.clone().map_or(Bound::Unbounded, Bound::Excluded))
    }

    fn is_empty(&self) -> bool {
        matches!((&self.lower, &self.upper), (Some(lower), Some(upper)) if lower >= upper)
    }
}

/// The ranges of an access for one tuple: ascending, without overlap.
pub fn ranges(
    table: &Table,
    access: &Access,
    row: &dyn Row,
    context: &EvalContext<'_>,
) -> SqlResult<Vec<ByteRange>> {
    let Some(key) = access.key else { return Ok(vec![ByteRange { lower: None, upper: None, point: false }]) };
    let unique = table.keys()[key].unique;
    let mut found = Vec::with_capacity(access.ranges.len());
    for range in &access.ranges {
        let one = one(&table.key_parts[key], unique, range, row, context)?;
        found.extend(one.filter(|range| !range.is_empty()));
    }
    if found.len() > 1 {
        found.sort_by(|a, b| a.lower.cmp(&b.lower));
        merge(&mut found);
    }
    Ok(found)
}

fn merge(ranges: &mut Vec<ByteRange>) {
    let mut merged: Vec<ByteRange> = Vec::with_capacity(ranges.len());
    for range in ranges.drain(..) {
        match merged.last_mut() {
            Some(last) if last.upper.is_none() || range.lower < last.upper => {
                if last.upper.is_some() && (range.upper.is_none() || range.upper > last.upper) {
                    last.upper = range.upper;
                    last.point = false;
                }
            }
            _ => merged.push(range),
        }
    }
    *ranges = merged;
}

fn one(
    parts: &[KeyPart],
    unique: bool,
    range: &KeyRange,
    row: &dyn Row,
    context: &EvalContext<'_>,
) -> SqlResult<Option<ByteRange>> {
    let mut prefix = Vec::new();
    let mut whole = unique && range.equal.len() == parts.len();
    for (operand, part) in range.equal.iter().zip(parts) {
        let value = operand.expr.eval(row, context)?;
        if value.is_null() {
            if !operand.null_safe || !part.nullable {
                return Ok(None);
            }
            part.append(&value, &mut prefix);
            whole = false;
            continue;
        }
        match search_value(&value, &part.kind, operand.collation, context) {
            SearchValue::Exact(value) => {
                part.append(&value, &mut prefix);
                whole &= part.prefix.is_none();
            }
            SearchValue::Unusable => return Ok(Some(starting_with(prefix, false))),
            _ => return Ok(None),
        }
    }
    match parts.get(range.equal.len()) {
        Some(part) if range.lower.is_some() || range.upper.is_some() => {
            between(prefix, part, range, row, context)
        }
        Some(part) if let Some(pattern) = &range.like => begun(prefix, part, pattern, row, context),
        Some(part) if range.present => between(prefix, part, range, row, context),
        _ => Ok(Some(starting_with(prefix, whole))),
    }
}

/// Keys of texts that a pattern of LIKE can find.
fn begun(
    mut prefix: Vec<u8>,
    part: &KeyPart,
    pattern: &Pattern,
    row: &dyn Row,
    context: &EvalContext<'_>,
) -> SqlResult<Option<ByteRange>> {
    let Pattern { operand, escape } = pattern;
    match operand.expr.eval(row, context)? {
        Value::Null => return Ok(None),
        Value::Str(text) if part.kind.collation() == Some(operand.collation) => {
            let front = literal_front(operand.collation, text.as_bytes(), *escape);
            part.append_front(&front, &mut prefix);
        }
        _ => {}
    }
    Ok(Some(starting_with(prefix, false)))
}

fn starting_with(prefix: Vec<u8>, point: bool) -> ByteRange {
    if prefix.is_empty() {
        return ByteRange { lower: None, upper: None, point: false };
    }
    ByteRange { upper: after_prefix(&prefix), lower: Some(prefix), point }
}

/// One side of a range in the order of values.
enum Side {
    /// Nothing can match.
    Nothing,
    /// No bound.
    Open,
    /// The key of this value; true if keys that begin with it belong to the range.
    At(Vec<u8>, bool),
}

fn side(
    prefix: &[u8],
    part: &KeyPart,
    bound: Option<&(Operand, bool)>,
    is_lower: bool,
    row: &dyn Row,
    context: &EvalContext<'_>,
) -> SqlResult<Side> {
    let Some((operand, or_equal)) = bound else { return Ok(Side::Open) };
    let value = operand.expr.eval(row, context)?;
    if value.is_null() {
        return Ok(Side::Nothing);
    }
    let encode = |value| {
        let mut key = prefix.to_vec();
        part.append(&value, &mut key);
        key
    };
    // With a prefix index several values share a key, so that an excluded bound must let its key in.
    let shared = part.prefix.is_some();
    Ok(match search_value(&value, &part.kind, operand.collation, context) {
        SearchValue::Exact(value) => Side::At(encode(value), *or_equal || shared),
        SearchValue::After(value) => Side::At(encode(value), !is_lower || shared),
        SearchValue::BelowAll if is_lower => Side::Open,
        SearchValue::AboveAll if !is_lower => Side::Open,
        SearchValue::BelowAll | SearchValue::AboveAll => Side::Nothing,
        SearchValue::Unusable => Side::Open,
    })
}

fn between(
    prefix: Vec<u8>,
    part: &KeyPart,
    range: &KeyRange,
    row: &dyn Row,
    context: &EvalContext<'_>,
) -> SqlResult<Option<ByteRange>> {
    let low = side(&prefix, part, range.lower.as_ref(), true, row, context)?;
    let high = side(&prefix, part, range.upper.as_ref(), false, row, context)?;
    // In a descending part the larger values come first.
    let (first, last) = if part.descending { (high, low) } else { (low, high) };
    // Where the values that are not NULL are.
    let mut present = prefix;
    if part.nullable {
        present.push(if part.descending { !1 } else { 1 });
    }
    let lower = match first {
        Side::Nothing => return Ok(None),
        Side::Open => (!present.is_empty()).then(|| present.clone()),
        Side::At(key, true) => Some(key),
        Side::At(key, false) => match after_prefix(&key) {
            Some(key) => Some(key),
            None => return Ok(None),
        },
    };
    let upper = match last {
        Side::Nothing => return Ok(None),
        Side::Open => after_prefix(&present),
        Side::At(key, true) => after_prefix(&key),
        Side::At(key, false) => Some(key),
    };
    Ok(Some(ByteRange { lower, upper, point: false }))
}
