//! How MySQL writes an argument into an error message: as it stands in the statement.

use crate::expr::{Call, EvalContext, Expr, printed_name};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::value::{Value, shown, to_bytes, to_text};

/// More bytes of a literal than any message shows.
const SHOWN_BYTES: usize = 512;

/// A constant as it is written. Of what is worked out, the value.
pub(super) fn written(expr: &Expr, value: &Value) -> String {
    let number = |text: &str| match text.strip_prefix('-') {
        Some(digits) if matches!(expr, Expr::Literal(_)) => format!("-({digits})"),
        _ => text.to_owned(),
    };
    match value {
        Value::Null => "NULL".into(),
        Value::Bytes(bytes) if matches!(expr, Expr::Literal(_)) => bytes
            .iter()
            .take(SHOWN_BYTES)
            .fold(String::from("0x"), |text, byte| text + &format!("{byte:02x}")),
        Value::Str(_) | Value::Bytes(_) => format!("'{}'", shown(&to_bytes(value))),
        other => number(&to_text(other)),
    }
}

/// A call as it stands in the statement, where its arguments are known.
pub(crate) fn text_of_call(call: &Call, context: &EvalContext<'_>) -> Option<String> {
    let sources = call.sources.as_ref()?;
    if let ("digits" | "hex", [whole]) = (call.name, &sources[..]) {
        return Some(whole.text(context));
    }
    let mut text = format!("{}(", printed_name(call.name));
    for (nth, source) in sources.iter().enumerate() {
        text.push_str(if nth == 0 { "" } else { "," });
        text.push_str(&source.text(context));
    }
    let whole = matches!(call.name, "round" | "truncate") && sources.len() == 1;
    text.push_str(if whole { ",0)" } else { ")" });
    Some(text)
}

/// Whether messages of a function show its arguments as they stand in the statement.
pub(crate) fn tells_of_arguments(name: &str) -> bool {
    const TELLING: &[&str] = &[
        "abs",
        "round",
        "truncate",
        "exp",
        "cot",
        "pow",
        "power",
        "degrees",
        "mod",
        "from_days",
        "addtime",
        "subtime",
        "timestamp",
        "inet_aton",
        "inet6_aton",
        "inet_ntoa",
        "inet6_ntoa",
        "hex",
        "unhex",
        "from_base64",
    ];
    TELLING.contains(&name)
}

/// NULL, and warning 1411 about an argument that a function cannot use.
pub(super) fn refused(
    call: &Call,
    kind: &str,
    at: usize,
    value: &Value,
    context: &EvalContext<'_>,
) -> SqlResult<Value> {
    let source = call.sources.as_ref().and_then(|sources| sources.get(at));
    let text = source.map_or_else(|| written(&call.arguments[at], value), |source| source.text(context));
    context.warn(SqlError::wrong_value_for_type(kind, text, call.name))?;
    Ok(Value::Null)
}
