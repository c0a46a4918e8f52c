//! JSON functions that look for values: JSON_VALUE, JSON_SEARCH, MEMBER OF; and what MySQL's form of a
//! document takes.

use super::json::{given, parsed};
use super::json_arguments::path_text;
use super::{Entry, bigint, entry};
use crate::expr::{Call, EvalContext, Expr, Typed};
use turnstile_values::collation::{Collation, like};
use turnstile_values::datetime::{self, DateRules};
use turnstile_values::error::{ErrorKind, SqlError, SqlResult};
use turnstile_values::json::{self, Json, path::Path, search::Search, size::storage_size};
use turnstile_values::mixing::Derivation;
use turnstile_values::types::{ColumnType, ExprType};
use turnstile_values::value::scalar::to_kind;
use turnstile_values::value::{Value, to_text};

fn document(_: &[Typed]) -> ColumnType {
    ColumnType::Json
}

pub(super) static FUNCTIONS: &[Entry] = &[
    entry("json_search", (3, usize::MAX), json_search, document, 0),
    entry("json_storage_size", (1, 1), json_storage_size, bigint, 0),
    entry("json_storage_free", (1, 1), json_storage_free, bigint, 0),
    entry("member of", (2, 2), member_of, bigint, 0),
];

/// JSON_SEARCH(document, one or all, pattern, escape, paths ...)
fn json_search(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let asked = arguments.iter().enumerate().filter(|(nth, _)| *nth != 3);
    if asked.clone().any(|(_, value)| value.is_null()) {
        return Ok(Value::Null);
    }
    let one = super::json::one_or_all(call, &arguments[1])?;
    let escape = match arguments.get(3) {
        None | Some(Value::Null) => Some('\\'),
        Some(given) => {
            let text = to_text(given);
            let mut characters = text.chars();
            match (characters.next(), characters.next()) {
                (Some(escape), None) => Some(escape),
                (None, _) => Some('\\'),
                _ => return Err(SqlError::wrong_arguments("ESCAPE")),
            }
        }
    };
    let mut held = context.held();
    let document = parsed(call, arguments, 0, &mut held)?;
    let paths = arguments.iter().skip(4).map(|path| Path::parse(&path_text(path)?, &mut held));
    let paths = paths.collect::<SqlResult<Vec<Path>>>()?;
    let pattern = to_text(&arguments[2]);
    let mut matching = held.another();
    let mut wanted = |text: &str| {
        matching.pass(text.len())?;
        like(Collation::Utf8mb4Bin, text.as_bytes(), pattern.as_bytes(), escape, &mut matching.another())
    };
    let mut found = Search { wanted: &mut wanted, one, held: &mut held }.run(&document, &paths)?;
    match found.len() {
        0 => Ok(Value::Null),
        1 => given(&Json::String(found.remove(0)), call, context),
        _ => given(&Json::Array(found.into_iter().map(Json::String).collect()), call, context),
    }
}

fn json_storage_size(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let mut held = context.held();
    let document = parsed(call, arguments, 0, &mut held)?;
    Ok(Value::Int(storage_size(&document, &mut held)? as i64))
}

/// Nothing is freed: a document that is changed is written anew.
fn json_storage_free(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    parsed(call, arguments, 0, &mut context.held()).map(|_| Value::Int(0))
}

/// `value MEMBER OF (array)`: the value is a document already.
fn member_of(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let mut held = context.held();
    let (value, array) = (parsed(call, arguments, 0, &mut held)?, parsed(call, arguments, 1, &mut held)?);
    let parts = array.as_array().map_or(std::slice::from_ref(&array), Vec::as_slice);
    Ok(Value::boolean(json::is_part(&value, parts, &mut held)?))
}

/// JSON_VALUE(document, path RETURNING type ... ON EMPTY ... ON ERROR): `rest` holds the modes and defaults.
pub fn json_value(document: Typed, path: &str, to: ColumnType, rest: Vec<Expr>) -> SqlResult<Typed> {
    Path::check(path)?;
    let mut arguments = vec![document.expr, Expr::Literal(Value::text(path))];
    arguments.extend(rest);
    let collation = to.collation().unwrap_or(Collation::Binary);
    let call = Call::new("json_value", value_at, arguments, to.clone()).comparing_in(collation);
    let mut kind = ExprType::nullable(to);
    if kind.column.is_character() {
        kind.traits.derivation = Derivation::Coercible;
    }
    Ok(Typed { expr: call.into_expr(), kind })
}

/// Why there is no value.
enum Trouble {
    Missing,
    Failed(SqlError),
}

fn type_name(kind: &ColumnType) -> &'static str {
    match kind {
        ColumnType::Int { unsigned: true, .. } => "UNSIGNED",
        ColumnType::Int { .. } => "SIGNED",
        ColumnType::Decimal { .. } => "DECIMAL",
        ColumnType::Float { .. } => "FLOAT",
        ColumnType::Double { .. } => "DOUBLE",
        ColumnType::Date => "DATE",
        ColumnType::Time { .. } => "TIME",
        ColumnType::DateTime { .. } => "DATETIME",
        ColumnType::Year => "YEAR",
        _ => "STRING",
    }
}

fn value_at(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    if arguments[0].is_null() {
        return Ok(Value::Null);
    }
    let trouble = match found_at(call, arguments, context)? {
        Ok(value) => return Ok(value),
        Err(trouble) => trouble,
    };
    let (mode, default) = match trouble {
        Trouble::Missing => (&arguments[2], &arguments[3]),
        Trouble::Failed(_) => (&arguments[4], &arguments[5]),
    };
    match (&*to_text(mode), trouble) {
        ("error", Trouble::Missing) => Err(SqlError::missing_json_value(call.name)),
        ("error", Trouble::Failed(error)) => Err(error),
        (mode, trouble) => {
            if let Trouble::Failed(error) = trouble
                && error.kind() == ErrorKind::JsonText
            {
                context.warn(error)?;
            }
            if mode == "default" { default_of(call, default, context) } else { Ok(Value::Null) }
        }
    }
}

fn found_at(
    call: &Call,
    arguments: &[Value],
    context: &EvalContext<'_>,
) -> SqlResult<Result<Value, Trouble>> {
    let mut held = context.held();
    let document = match parsed(call, arguments, 0, &mut held) {
        Ok(document) => document,
        // A text that is none is an error of the value.
        Err(error) if error.kind() == ErrorKind::JsonType || error.ends_statement() => return Err(error),
        Err(error) => return Ok(Err(Trouble::Failed(error))),
    };
    let path = Path::parse(&to_text(&arguments[1]), &mut held)?;
    let found = path.select(&document, &mut held)?;
    let [found] = found[..] else {
        return Ok(Err(match found.len() {
            0 => Trouble::Missing,
            _ => Trouble::Failed(SqlError::multiple_json_values(call.name)),
        }));
    };
    if matches!(found, Json::Null) {
        return Ok(Ok(Value::Null));
    }
    let out_of_range = || Trouble::Failed(SqlError::value_out_of_range(type_name(&call.kind), call.name));
    // A text that says a day alone is no moment.
    if let (ColumnType::DateTime { .. }, Json::String(text)) = (&call.kind, found)
        && datetime::parse_date_time(text.as_bytes(), DateRules::LENIENT).is_some_and(|one| !one.has_time)
    {
        return Ok(Err(out_of_range()));
    }
    // Digits of a second that the type does not have are cut, not rounded.
    let (fine, digits) = match call.kind {
        ColumnType::DateTime { fsp } => (ColumnType::DateTime { fsp: 6 }, fsp),
        ColumnType::Time { fsp } => (ColumnType::Time { fsp: 6 }, fsp),
        _ => (call.kind.clone(), 0),
    };
    Ok(match to_kind(found, &fine, context)? {
        Ok(Value::DateTime(moment)) => Ok(Value::DateTime(moment.truncate_to(digits))),
        Ok(Value::Time(mut time)) => {
            time.us -= time.us % 10_i64.pow(6 - u32::from(digits));
            time.fsp = digits;
            Ok(Value::Time(time))
        }
        other => other.map_err(|_| out_of_range()),
    })
}

/// A literal after DEFAULT as a value of the type.
fn default_of(call: &Call, default: &Value, context: &EvalContext<'_>) -> SqlResult<Value> {
    let document = match default {
        Value::Int(number) => Json::Int(*number),
        Value::UInt(number) => Json::UInt(*number),
        Value::Double(number) => Json::Double(*number),
        Value::Decimal(number) => Json::Decimal(number.clone()),
        Value::Null => return Ok(Value::Null),
        other => Json::String(to_text(other).to_string()),
    };
    let kind = type_name(&call.kind);
    to_kind(&document, &call.kind, context)?
        .map_err(|_| SqlError::truncated_wrong_value(kind, to_text(default)))
}
