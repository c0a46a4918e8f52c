//! JSON functions. A document is passed as its text: an argument that is meant as a document is parsed,
//! whatever its type; one that is meant as a value becomes a document when the call is bound ([`as_value`]),
//! so that a text is a string and a number a number. What MySQL's manual says of each is done by
//! [`turnstile_values::json`].

mod change;
mod part;

use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::json::{self, Json, Malformed, Object, path::Path};
use turnstile_values::types::ColumnType;
use turnstile_values::value::{Value, to_text};

use super::json_arguments::path_text;
use super::result_bytes::build_text;
use super::{Entry, bigint, entry, text_long};
use crate::expr::{Call, EvalContext, Held, Typed};
use change::{json_change, json_merge, json_merge_patch, json_pretty, json_remove};
pub(crate) use part::cast_as_document;
use part::kept;
pub use part::{as_order, as_sorted, as_value, document_order, marked, truth};
pub(super) use part::{called, kept_or_null};

const MANY: usize = usize::MAX;

fn document(_: &[Typed]) -> ColumnType {
    ColumnType::Json
}

pub(super) static FUNCTIONS: &[Entry] = &[
    entry("json_array", (0, MANY), json_array, document, 0),
    entry("json_object", (0, MANY), json_object, document, 0),
    entry("json_quote", (1, 1), json_quote, super::json_quoted_type, 0),
    entry("json_unquote", (1, 1), json_unquote, super::text_always, 0),
    entry("json_valid", (1, 1), json_valid, bigint, 0),
    entry("json_type", (1, 1), json_type, super::text_of::<17>, 0),
    entry("json_depth", (1, 1), json_depth, bigint, 0),
    entry("json_length", (1, 2), json_length, bigint, 0),
    entry("json_keys", (1, 2), json_keys, document, 0),
    entry("json_extract", (2, MANY), json_extract, document, 0),
    entry("json_contains", (2, 3), json_contains, bigint, 0),
    entry("json_contains_path", (3, MANY), json_contains_path, bigint, 0),
    entry("json_overlaps", (2, 2), json_overlaps, bigint, 0),
    entry("json_set", (3, MANY), json_change, document, 0),
    entry("json_insert", (3, MANY), json_change, document, 0),
    entry("json_replace", (3, MANY), json_change, document, 0),
    entry("json_array_append", (3, MANY), json_change, document, 0),
    entry("json_array_insert", (3, MANY), json_change, document, 0),
    entry("json_remove", (2, MANY), json_remove, document, 0),
    entry("json_merge_patch", (2, MANY), json_merge_patch, document, 0),
    entry("json_merge", (2, MANY), json_merge, document, 0),
    entry("json_merge_preserve", (2, MANY), json_merge, document, 0),
    entry("json_pretty", (1, 1), json_pretty, text_long, 0),
];

/// A document as a value; error 3157 if it is nested too deep.
pub(super) fn given(document: &Json, call: &Call, context: &EvalContext<'_>) -> SqlResult<Value> {
    if document.nesting() > json::MAX_DEPTH {
        return Err(SqlError::json_too_deep());
    }
    let plain = document.is_plain();
    let text = build_text(call.name, context, |out| {
        let written = if plain {
            json::append(document, out)
        } else {
            out.push(&[json::write::MARKED])?;
            json::append_marked(document, out)
        };
        out.refused()?;
        debug_assert!(written.is_ok());
        Ok(())
    })?;
    Ok(if plain { text } else { marked(text) })
}

/// An argument that is a document.
pub(super) fn parsed(call: &Call, arguments: &[Value], nth: usize, held: &mut Held<'_>) -> SqlResult<Json> {
    let name = || told_as(call.name, arguments.len());
    match &arguments[nth] {
        Value::Str(text) => json::parse(text, held).map_err(|error| error.of_argument(nth, name())),
        Value::Json(marked) => kept(marked, held),
        value @ Value::Enum(_) => {
            json::parse(&to_text(value), held).map_err(|error| error.of_argument(nth, name()))
        }
        Value::Bytes(_) => Err(SqlError::json_of_binary()),
        _ => Err(SqlError::invalid_json_type(nth + 1, name())),
    }
}

/// The function that an error about a document names: JSON_LENGTH at a path is that of what JSON_EXTRACT
/// finds there.
pub(super) fn told_as(name: &str, arguments: usize) -> &str {
    match name {
        "json_merge" => "json_merge_preserve",
        "json_length" if arguments > 1 => "json_extract",
        name => name,
    }
}

fn json_array(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let mut held = context.held();
    let parts =
        arguments.iter().map(|one| document_or_null(one, &mut held)).collect::<SqlResult<Vec<Json>>>()?;
    given(&Json::Array(parts), call, context)
}

/// A value argument, which is a document already; SQL NULL becomes `null`.
fn document_or_null(value: &Value, held: &mut Held<'_>) -> SqlResult<Json> {
    match value {
        Value::Null => Ok(Json::Null),
        Value::Json(marked) => kept(marked, held),
        value => json::parse(&to_text(value), held).map_err(|error| error.of_argument(0, "json_array")),
    }
}

fn json_object(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let mut members = Vec::new();
    let mut held = context.held();
    for pair in arguments.chunks_exact(2) {
        if pair[0].is_null() {
            return Err(SqlError::json_member_name_null());
        }
        if matches!(pair[0], Value::Bytes(_)) {
            return Err(SqlError::json_of_binary());
        }
        members.push((Box::from(&*to_text(&pair[0])), document_or_null(&pair[1], &mut held)?));
    }
    given(&Json::Object(Object::new(members)), call, context)
}

/// Errors 3064 and 3144 for what is no text.
fn wants_text(call: &Call, value: &Value) -> SqlResult<()> {
    match value {
        Value::Str(_) | Value::Enum(_) => Ok(()),
        Value::Bytes(_) => Err(SqlError::json_of_binary()),
        _ => Err(SqlError::json_argument_type(1, call.name)),
    }
}

fn json_quote(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    wants_text(call, &arguments[0])?;
    build_text(call.name, context, |out| {
        let written = json::append_quoted(&to_text(&arguments[0]), out);
        out.refused()?;
        debug_assert!(written.is_ok());
        Ok(())
    })
}

fn json_unquote(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let mut held = context.held();
    Ok(match &arguments[0] {
        Value::Json(marked) => {
            let document = kept(marked, &mut held)?;
            Value::text(&*json::write::unquoted(&document, &mut held)?)
        }
        other => {
            wants_text(call, other)?;
            Value::from(json::unquote(&to_text(other), &mut held)?)
        }
    })
}

fn json_valid(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let valid = match &arguments[0] {
        Value::Str(text) => match json::check(text, Some(&mut context.held())) {
            Err(Malformed::Syntax { .. }) => false,
            read => read.map(|()| true).map_err(|error| error.of_argument(0, "json_valid"))?,
        },
        other => matches!(other, Value::Json(_)),
    };
    Ok(Value::boolean(valid))
}

fn json_type(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    Ok(Value::text(parsed(call, arguments, 0, &mut context.held())?.type_name()))
}

fn json_depth(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    Ok(Value::Int(parsed(call, arguments, 0, &mut context.held())?.depth() as i64))
}

/// The document of the first argument, or what the path in the second leads to.
fn at_path(call: &Call, arguments: &[Value], held: &mut Held<'_>) -> SqlResult<Option<Json>> {
    let mut document = parsed(call, arguments, 0, held)?;
    let Some(path) = arguments.get(1) else { return Ok(Some(document)) };
    let path = Path::parse_single(&path_text(path)?, held)?;
    held.pass(size_of_val(path.legs()))?;
    Ok(json::path::find(&mut document, path.legs()).map(Json::take))
}

fn json_length(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let mut held = context.held();
    Ok(at_path(call, arguments, &mut held)?.map_or(Value::Null, |found| Value::Int(found.length() as i64)))
}

fn json_keys(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let mut held = context.held();
    Ok(match at_path(call, arguments, &mut held)? {
        Some(Json::Object(members)) => {
            let names = members.into_members().into_iter().map(|(name, _)| Json::String(name.into()));
            given(&Json::Array(names.collect()), call, context)?
        }
        _ => Value::Null,
    })
}

/// JSON_EXTRACT: what one plain path leads to, or an array of all that several paths or wildcards do.
fn json_extract(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let mut held = context.held();
    let document = parsed(call, arguments, 0, &mut held)?;
    let paths = arguments[1..].iter().map(|path| Path::parse(&path_text(path)?, &mut held));
    let paths = paths.collect::<SqlResult<Vec<Path>>>()?;
    let mut found = Vec::new();
    for path in &paths {
        for one in path.select(&document, &mut held)? {
            held.push(&mut found, one)?;
        }
    }
    if found.is_empty() {
        return Ok(Value::Null);
    }
    if let [path] = &paths[..]
        && !path.is_wild()
    {
        return given(found[0], call, context);
    }
    given(&Json::list_of(found.into_iter(), &mut held)?, call, context)
}

fn json_contains(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let mut held = context.held();
    let (target, candidate) =
        (parsed(call, arguments, 0, &mut held)?, parsed(call, arguments, 1, &mut held)?);
    let Some(path) = arguments.get(2) else {
        return Ok(Value::boolean(json::contains(&target, &candidate, &mut held)?));
    };
    let path = Path::parse_single(&path_text(path)?, &mut held)?;
    let found = path.select(&target, &mut held)?;
    let Some(found) = found.first() else { return Ok(Value::Null) };
    Ok(Value::boolean(json::contains(found, &candidate, &mut held)?))
}

/// Whether it is the word `one` and not `all`; error 3154.
pub(super) fn one_or_all(call: &Call, word: &Value) -> SqlResult<bool> {
    match to_text(word).to_ascii_lowercase().as_str() {
        "one" => Ok(true),
        "all" => Ok(false),
        _ => Err(SqlError::json_one_or_all(call.name)),
    }
}

fn json_contains_path(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let held = &mut context.held();
    let document = parsed(call, arguments, 0, held)?;
    let all = !one_or_all(call, &arguments[1])?;
    let leads = |path: &Value| {
        let held = &mut held.another();
        Ok(!Path::parse(&path_text(path)?, held)?.select(&document, held)?.is_empty())
    };
    let found = arguments[2..].iter().map(leads).collect::<SqlResult<Vec<bool>>>()?;
    Ok(Value::boolean(if all { !found.contains(&false) } else { found.contains(&true) }))
}

fn json_overlaps(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let mut held = context.held();
    let (one, other) = (parsed(call, arguments, 0, &mut held)?, parsed(call, arguments, 1, &mut held)?);
    Ok(Value::boolean(json::overlaps(&one, &other, &mut held)?))
}
