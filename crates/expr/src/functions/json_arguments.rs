//! What the arguments of JSON functions are by where they stand: documents, values that become documents,
//! paths, names of members. Bytes are no text of any of them (3144). A `?` that stands for a document is read
//! as CAST reads it, so bytes that it is given are a value; a `?` that is given a number, a date or a time is
//! none of characters, so it names no path and no member.

use super::json::{as_value, called, cast_as_document, told_as};
use crate::expr::{Call, EvalContext, Expr, Typed};
use turnstile_values::collation::Collation;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::types::{ColumnType, ExprType};
use turnstile_values::value::{Value, to_text};

/// Whether an argument is meant as a value, not as a document, a path or a word.
pub(crate) fn takes_value(name: &str, nth: usize) -> bool {
    match name {
        "json_array" => true,
        "member of" => nth == 0,
        "json_object" => nth % 2 == 1,
        "json_set" | "json_insert" | "json_replace" | "json_array_append" | "json_array_insert" => {
            nth >= 2 && nth.is_multiple_of(2)
        }
        _ => false,
    }
}

/// The arguments of a call as its function takes them.
pub(super) fn arguments(name: &str, arguments: Vec<Typed>) -> SqlResult<Vec<Typed>> {
    let odd = match name {
        "json_object" => !arguments.len().is_multiple_of(2),
        "json_set" | "json_insert" | "json_replace" | "json_array_append" | "json_array_insert" => {
            arguments.len().is_multiple_of(2)
        }
        _ => false,
    };
    if odd {
        return Err(SqlError::wrong_parameter_count(name));
    }
    let told = told_as(name, arguments.len());
    let one = |(nth, typed): (usize, Typed)| match takes_value(name, nth) {
        true => as_value(typed),
        false if takes_document(name, nth) && !may_be_document(&typed.kind.column) => {
            no_document(told, nth, typed)
        }
        false if is_document_of_cast(name, nth) && is_given(&typed) && typed.kind.column.is_character() => {
            cast_as_document(typed)
        }
        false if takes_path(name, nth) => as_characters(typed),
        false => typed,
    };
    Ok(arguments.into_iter().enumerate().map(one).collect())
}

/// Arguments that are documents, or the text of one.
fn takes_document(name: &str, nth: usize) -> bool {
    match name {
        "json_merge" | "json_merge_patch" | "json_merge_preserve" => true,
        "json_contains" | "json_overlaps" => nth < 2,
        "json_keys" | "json_length" | "json_extract" | "json_depth" | "json_set" | "json_insert"
        | "json_replace" | "json_remove" | "json_array_append" | "json_array_insert" | "json_type"
        | "json_contains_path" | "json_search" => nth == 0,
        _ => false,
    }
}

fn may_be_document(kind: &ColumnType) -> bool {
    kind.is_string() || *kind == ColumnType::Null
}

/// What can be no document by its type is refused wherever it is read, NULL as well.
fn no_document(name: &str, nth: usize, typed: Typed) -> Typed {
    let arguments = vec![typed.expr, Expr::int(nth as i64 + 1), Expr::Literal(Value::text(name))];
    let call = Call::new("no document", refuse_document, arguments, ColumnType::Json);
    let call = call.comparing_in(Collation::Utf8mb4Bin);
    Typed { expr: call.into_expr(), kind: ExprType::new(ColumnType::Json, true) }
}

fn refuse_document(_: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    let nth = if let Value::Int(nth) = arguments[1] { nth as usize } else { 1 };
    Err(SqlError::invalid_json_type(nth, to_text(&arguments[2])))
}

/// Arguments that are paths, or names of members.
fn takes_path(name: &str, nth: usize) -> bool {
    match name {
        "json_extract" | "json_remove" => nth >= 1,
        "json_length" | "json_keys" => nth == 1,
        "json_contains" => nth == 2,
        "json_contains_path" => nth >= 2,
        "json_search" => nth >= 4,
        "json_object" => nth.is_multiple_of(2),
        "json_set" | "json_insert" | "json_replace" | "json_array_append" | "json_array_insert" => {
            !nth.is_multiple_of(2)
        }
        _ => false,
    }
}

/// Arguments that a `?` stands in as a document, which its text is cast to.
pub(super) fn is_document_of_cast(name: &str, nth: usize) -> bool {
    match name {
        "json_contains" => nth == 0,
        "json_valid" | "json_pretty" | "json_storage_size" | "json_storage_free" => nth == 0,
        "member of" => nth == 1,
        name => takes_document(name, nth),
    }
}

/// Whether it is a `?` of a prepared statement; those that stand for a literal are never NULL.
pub(super) fn is_given(typed: &Typed) -> bool {
    typed.kind.nullable && matches!(typed.expr, Expr::Parameter(_))
}

/// A path or a name: bits, and a `?` that is given what is no text, are bytes.
pub fn as_characters(typed: Typed) -> Typed {
    let column = &typed.kind.column;
    let of_value = !column.is_string() && !matches!(column, ColumnType::Decimal { .. } | ColumnType::Null);
    match matches!(column, ColumnType::Bit { .. }) || is_given(&typed) && of_value {
        true => called("bytes of value", bytes_of_value, typed, ColumnType::Varbinary { length: 0 }),
        false => typed,
    }
}

fn bytes_of_value(_: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    Ok(match &arguments[0] {
        Value::Null => Value::Null,
        other => Value::bytes(to_text(other).as_bytes()),
    })
}

/// The characters of a path. Error 3144 for bytes.
pub(super) fn path_text(value: &Value) -> SqlResult<std::sync::Arc<str>> {
    match value {
        Value::Bytes(_) => Err(SqlError::json_of_binary()),
        other => Ok(to_text(other)),
    }
}
