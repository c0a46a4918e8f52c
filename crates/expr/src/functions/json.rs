//! JSON functions. A document is passed as its text: an argument that is meant as a document is parsed,
//! whatever its type; one that is meant as a value becomes a document when the call is bound ([`as_value`]),
//! so that a text is a string and a number a number. What MySQL's manual says of each is done by
//! [`turnstile_values::json`].

use super::json_arguments::{is_given, path_text};
use super::result_bytes::build_text;
use super::{Entry, bigint, entry, json_scalar, text_long};
use crate::expr::{Call, EvalContext, Expr, Held, ScalarFunction, Typed};
use turnstile_values::collation::Collation;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::json::{self, Change, Json, Kind, Malformed, Object, order, path::Path};
use turnstile_values::types::{ColumnType, ExprType, IntWidth};
use turnstile_values::value::{Value, to_text};

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

/// `true` and `false` as documents: bound, TRUE is the number 1.
pub fn truth(truth: bool) -> Typed {
    let expr = Expr::Literal(Value::text(if truth { "true" } else { "false" }));
    Typed { expr, kind: ExprType::new(ColumnType::Json, false) }
}

pub(super) fn called(
    name: &'static str,
    function: ScalarFunction,
    argument: Typed,
    kind: ColumnType,
) -> Typed {
    let call =
        Call::new(name, function, vec![argument.expr], kind.clone()).comparing_in(Collation::Utf8mb4Bin);
    Typed { expr: call.into_expr(), kind: ExprType::new(kind, argument.kind.nullable) }
}

/// A value as a document: a text is a string, TRUE and comparisons are `true` and `false`.
pub fn as_value(typed: Typed) -> Typed {
    if typed.kind.column == ColumnType::Json {
        return typed;
    }
    if let Some(bytes) = json_scalar::of_bytes(&typed) {
        return bytes;
    }
    if is_given(&typed) && typed.kind.column.is_character() {
        return called("json of parameter", of_parameter, typed, ColumnType::Json);
    }
    let typed = crate::expr::with_own_digits(typed);
    let is_truth = json_scalar::tells_truth(&typed.expr)
        || matches!(
            typed.kind.column,
            ColumnType::Int { width: IntWidth::Big, unsigned: false, display: Some(1), zerofill: false }
        ) && !matches!(
            typed.expr,
            Expr::Column(_)
                | Expr::Literal(_)
                | Expr::Case { .. }
                | Expr::Coalesce { .. }
                | Expr::NullIf { .. }
        );
    let function = match typed.kind.column {
        _ if is_truth => of_truth,
        ColumnType::Timestamp { .. } => of_timestamp,
        _ => of_value,
    };
    called("json of value", function, typed, ColumnType::Json)
}

/// A document, or a value as one, as bytes that compare as documents do.
pub fn as_order(typed: Typed) -> Typed {
    let kind = ColumnType::Varbinary { length: u32::MAX };
    called("json order", order_of, as_value(typed), kind)
}

/// A document that rows are sorted by. That arrays and objects have no order in MySQL is told once a
/// statement.
pub fn as_sorted(typed: Typed) -> Typed {
    if typed.kind.column != ColumnType::Json {
        return typed;
    }
    as_order(called("sorted", told_of_parts, typed, ColumnType::Json))
}

fn told_of_parts(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let text = turnstile_values::value::to_bytes(&arguments[0]);
    let has_parts = text.iter().find(|byte| **byte >= b' ').is_some_and(|first| b"[{".contains(first));
    if has_parts && !context.warnings.list().iter().any(|one| one.error.code == 1235) {
        context.warn(SqlError::not_supported_by_mysql("sorting of non-scalar JSON values"))?;
    }
    Ok(arguments[0].clone())
}

/// CAST(text AS JSON); anything else is cast as the value it is.
pub(crate) fn cast_as_document(typed: Typed) -> Typed {
    let named = matches!(typed.kind.column, ColumnType::Enum { .. } | ColumnType::Set { .. });
    if is_given(&typed) && typed.kind.column.is_character() {
        return maybe_null(called("cast_as_json", cast_of_parameter, typed, ColumnType::Json));
    }
    if typed.kind.column.is_character() && typed.kind.column != ColumnType::Json && !named {
        return maybe_null(called("cast_as_json", of_text, typed, ColumnType::Json));
    }
    maybe_null(as_value(typed))
}

/// What CAST says of its documents.
fn maybe_null(typed: Typed) -> Typed {
    Typed { kind: ExprType { nullable: true, ..typed.kind }, ..typed }
}

fn value_of(value: &Value, held: &mut Held<'_>) -> SqlResult<Json> {
    Ok(match value {
        Value::Null => Json::Null,
        Value::Int(number) => Json::Int(*number),
        Value::UInt(number) => Json::UInt(*number),
        Value::Double(number) if number.is_finite() => Json::Double(*number),
        Value::Double(_) => Json::Null,
        Value::Decimal(number) => Json::Decimal(number.clone()),
        Value::DateTime(moment) => {
            let mut moment = *moment;
            moment.fsp = 6;
            Json::Opaque(Kind::DateTime, to_text(&Value::DateTime(moment)).to_string())
        }
        Value::Time(time) => {
            let mut time = *time;
            time.fsp = 6;
            Json::Opaque(Kind::Time, to_text(&Value::Time(time)).to_string())
        }
        Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Json::String(text.into()),
            Err(_) => return Err(SqlError::json_of_binary()),
        },
        Value::Date(_) => Json::Opaque(Kind::Date, to_text(value).to_string()),
        Value::Str(_) | Value::Enum(_) => Json::String(to_text(value).to_string()),
        Value::Json(marked) => kept(marked, held)?,
    })
}

fn of_value(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    given(&value_of(&arguments[0], &mut context.held())?, call, context)
}

fn of_timestamp(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let document = match value_of(&arguments[0], &mut context.held())? {
        Json::Opaque(_, text) => Json::Opaque(Kind::Timestamp, text),
        other => other,
    };
    given(&document, call, context)
}

fn of_truth(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    Ok(match &arguments[0] {
        Value::Int(0) => Value::text("false"),
        Value::Int(1) => Value::text("true"),
        Value::Null => Value::Null,
        other => given(&value_of(other, &mut context.held())?, call, context)?,
    })
}

fn of_text(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let mut held = context.held();
    given(&parsed(call, arguments, 0, &mut held)?, call, context)
}

/// A value that is given to a `?`: what it is shows when it comes.
fn of_parameter(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    match &arguments[0] {
        Value::Bytes(bytes) => json_scalar::document_of_bytes(call, bytes, context),
        _ => of_value(call, arguments, context),
    }
}

fn cast_of_parameter(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    match &arguments[0] {
        Value::Bytes(bytes) => json_scalar::document_of_bytes(call, bytes, context),
        _ => of_text(call, arguments, context),
    }
}

fn order_of(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let mut held = context.held();
    let document = parsed(call, arguments, 0, &mut held)?;
    Ok(Value::bytes(order::key(&document, &mut held)?))
}

/// Marked text as the value it is.
pub fn marked(text: Value) -> Value {
    match text {
        Value::Str(text) => Value::Json(text),
        other => other,
    }
}

/// The document of marked text. What a row keeps was written by [`given`].
fn kept(marked: &str, held: &mut Held<'_>) -> SqlResult<Json> {
    json::parse_kept(marked, held).map_err(|error| error.of_argument(0, "cast_as_json"))
}

/// The document that a value is; `null` for what is none.
pub(super) fn kept_or_null(value: &Value, held: &mut Held<'_>) -> SqlResult<Json> {
    match value {
        Value::Json(marked) => json::parse_kept(marked, held),
        other => json::parse(&to_text(other), held),
    }
    .or_else(Malformed::or_null)
}

/// Bytes that order a value that is a document.
pub fn document_order(value: &Value, held: &mut Held<'_>) -> SqlResult<Vec<u8>> {
    let document = kept_or_null(value, held)?;
    order::key(&document, held)
}

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

/// JSON_SET and its like: document, then paths and values in turn. A NULL document or path gives NULL; a NULL
/// value is `null`.
fn json_change(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
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

fn json_remove(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
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
fn json_merge_patch(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
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

fn json_merge(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let mut held = context.held();
    let mut merged = parsed(call, arguments, 0, &mut held)?;
    for nth in 1..arguments.len() {
        let more = parsed(call, arguments, nth, &mut held)?;
        merged = json::merge_preserve(merged, more, &mut held.another())?;
    }
    given(&merged, call, context)
}

fn json_pretty(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
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
