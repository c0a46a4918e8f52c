//! Functions that give another document: with members set, removed or merged, or written over several lines.

use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::json::{self, Change, Json, path::Path};
use turnstile_values::value::Value;

use super::super::json_arguments::path_text;
use super::super::result_bytes::build_text;
use super::{document_or_null, given, parsed};
use crate::expr::{Call, EvalContext};

/// JSON_SET and its like: document, then paths and values in turn. A NULL document or path gives NULL; a NULL
/// value is `null`.
pub(super) fn json_change(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let change = match call.name {
        "json_insert" => Change::Insert,
        "json_replace" => Change::Replace,
        "json_array_append" => Change::Append,
        "json_array_insert" => Change::Before,
        _ => Change::Set,
    };
    if arguments[0].is_null() || arguments[1..].chunks_exact(2).any(|pair| pair[0].is_null()) {
        return Ok(Value::Null);
    }
    let mut held = context.held();
    let mut document = parsed(call, arguments, 0, &mut held)?;
    for pair in arguments[1..].chunks_exact(2) {
        let path = Path::parse_single(&path_text(&pair[0])?, &mut held)?;
        if change == Change::Before && !path.is_of_cell() {
            return Err(SqlError::json_path_no_cell());
        }
        context.work(document.length().saturating_mul(size_of::<Json>()))?;
        json::change(&mut document, &path, document_or_null(&pair[1], &mut held)?, change);
    }
    given(&document, call, context)
}

pub(super) fn json_remove(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let mut held = context.held();
    let mut document = parsed(call, arguments, 0, &mut held)?;
    for path in &arguments[1..] {
        let path = Path::parse_single(&path_text(path)?, &mut held)?;
        context.work(document.length().saturating_mul(size_of::<Json>()))?;
        if path.legs().is_empty() {
            return Err(SqlError::json_path_not_allowed());
        }
        json::remove(&mut document, &path);
    }
    given(&document, call, context)
}

/// JSON_MERGE_PATCH: what a NULL is patched with is known again only if it is no object.
pub(super) fn json_merge_patch(
    call: &Call,
    arguments: &[Value],
    context: &EvalContext<'_>,
) -> SqlResult<Value> {
    let mut merged = None;
    let mut held = context.held();
    for (nth, argument) in arguments.iter().enumerate() {
        let patch = if argument.is_null() { None } else { Some(parsed(call, arguments, nth, &mut held)?) };
        merged = match (merged, patch) {
            (_, None) => None,
            (before, Some(patch)) if nth == 0 || !matches!(patch, Json::Object(_)) => {
                drop(before);
                Some(patch)
            }
            (None, Some(_)) => None,
            // What it makes is no more than what it is made of.
            (Some(before), Some(patch)) => Some(json::merge_patch(before, patch, &mut held.another())?),
        };
    }
    merged.map_or(Ok(Value::Null), |document| given(&document, call, context))
}

pub(super) fn json_merge(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let mut held = context.held();
    let mut merged = parsed(call, arguments, 0, &mut held)?;
    for nth in 1..arguments.len() {
        let more = parsed(call, arguments, nth, &mut held)?;
        merged = json::merge_preserve(merged, more, &mut held.another())?;
    }
    given(&merged, call, context)
}

pub(super) fn json_pretty(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let mut held = context.held();
    let document = parsed(call, arguments, 0, &mut held)?;
    build_text(call.name, context, |out| {
        let written = json::append_pretty(&document, out);
        out.refused()?;
        debug_assert!(written.is_ok());
        Ok(())
    })
}
