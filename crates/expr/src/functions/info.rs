//! Functions that report on the session and on values.

use super::{Entry, VOLATILE, bigint, entry, text_of, text_short, unsigned};
use crate::expr::{Call, EvalContext};
use turnstile_values::error::SqlResult;
use turnstile_values::value::{Value, to_u64_bits};

pub(super) static FUNCTIONS: &[Entry] = &[
    entry("database", (0, 0), database, text_short, 0),
    entry("user", (0, 0), user, text_of::<288>, 0),
    entry("session_user", (0, 0), user, text_of::<288>, 0),
    entry("system_user", (0, 0), user, text_of::<288>, 0),
    entry("current_user", (0, 0), current_user, text_of::<288>, 0),
    entry("current_role", (0, 0), current_role, text_short, 0),
    entry("version", (0, 0), version, text_short, 0),
    entry("connection_id", (0, 0), connection_id, unsigned, 0),
    entry("last_insert_id", (0, 1), last_insert_id, unsigned, VOLATILE),
    entry("row_count", (0, 0), row_count, bigint, 0),
    entry("found_rows", (0, 0), found_rows, bigint, 0),
    entry("release_lock", (1, 1), release_lock, bigint, VOLATILE),
    entry("release_all_locks", (0, 0), release_all_locks, unsigned, VOLATILE),
    entry("is_free_lock", (1, 1), is_free_lock, bigint, VOLATILE),
    entry("is_used_lock", (1, 1), is_used_lock, unsigned, VOLATILE),
    entry("load_file", (1, 1), load_file, super::compress::long_bytes, 0),
    entry("charset", (1, 1), of_expression, text_short, 0),
    entry("collation", (1, 1), of_expression, text_short, 0),
    entry("coercibility", (1, 1), of_expression, bigint, 0),
];

fn release_lock(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    Ok(context.session.release_user_lock(&arguments[0])?.map_or(Value::Null, Value::boolean))
}

fn release_all_locks(_: &Call, _: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    Ok(Value::UInt(context.session.release_user_locks()))
}

fn is_free_lock(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    Ok(Value::boolean(context.session.user_lock_owner(&arguments[0])?.is_none()))
}

fn is_used_lock(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    Ok(context.session.user_lock_owner(&arguments[0])?.map_or(Value::Null, Value::UInt))
}

/// LOAD_FILE: no account may read files of the server.
fn load_file(_: &Call, _: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    Ok(Value::Null)
}

fn database(_: &Call, _: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    Ok(context.session.database().map_or(Value::Null, Value::from))
}

fn user(_: &Call, _: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    Ok(Value::from(context.session.user()))
}

fn current_user(_: &Call, _: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    Ok(Value::from(context.session.current_user()))
}

fn current_role(_: &Call, _: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    Ok(Value::from(context.session.current_role()))
}

fn version(_: &Call, _: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    Ok(Value::from(context.session.version()))
}

fn connection_id(_: &Call, _: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    Ok(Value::UInt(context.session.connection_id()))
}

fn last_insert_id(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let Some(id) = arguments.first() else { return Ok(Value::UInt(context.session.last_insert_id())) };
    if id.is_null() {
        context.session.set_last_insert_id(0);
        return Ok(Value::Null);
    }
    let id = to_u64_bits(id, context)?;
    context.session.set_last_insert_id(id);
    Ok(Value::UInt(id))
}

fn row_count(_: &Call, _: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    Ok(Value::Int(context.session.row_count()))
}

fn found_rows(_: &Call, _: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    Ok(Value::UInt(context.session.found_rows()))
}

/// CHARSET, COLLATION and COERCIBILITY: what a call is bound with is the answer.
fn of_expression(_: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    Ok(arguments[0].clone())
}
