//! Which functions may give NULL although none of their arguments is: what result columns say of themselves,
//! and the columns that CREATE TABLE ... SELECT makes.

use super::Typed;
use crate::expr::{EvalSettings, Expr};

/// Functions that have no value for some values.
const OF_ANY_VALUE: &[&str] = &[
    "acos",
    "addtime",
    "aes_decrypt",
    "asin",
    "atan",
    "atan2",
    "bin",
    "bin_to_uuid",
    "conv",
    "convert_tz",
    "cos",
    "cot",
    "database",
    "date",
    "date_format",
    "datediff",
    "day",
    "dayname",
    "dayofmonth",
    "dayofweek",
    "dayofyear",
    "elt",
    "exp",
    "format_pico_time",
    "from_base64",
    "from_days",
    "from_unixtime",
    "get_format",
    "hour",
    "inet6_aton",
    "inet6_ntoa",
    "inet_aton",
    "inet_ntoa",
    "is_free_lock",
    "is_used_lock",
    "is_uuid",
    "last_day",
    "ln",
    "load_file",
    "log",
    "log10",
    "log2",
    "makedate",
    "maketime",
    "microsecond",
    "minute",
    "mod",
    "month",
    "monthname",
    "oct",
    "pow",
    "power",
    "quarter",
    "regexp_replace",
    "regexp_substr",
    "release_lock",
    "sec_to_time",
    "second",
    "sha2",
    "sin",
    "sqrt",
    "str_to_date",
    "subtime",
    "tan",
    "time",
    "time_format",
    "time_to_sec",
    "timediff",
    "timestamp",
    "to_days",
    "to_seconds",
    "uncompress",
    "unhex",
    "uuid_to_bin",
    "validate_password_strength",
    "week",
    "weekday",
    "weekofyear",
    "weight_string",
    "year",
    "yearweek",
];

/// Functions on documents that have a value for every value.
const OF_DOCUMENTS: &[&str] = &["json_overlaps", "json_pretty", "json_storage_free"];

/// Functions with texts that MySQL does not take for too long.
const SHORT_ENOUGH: &[&str] = &["version", "greatest", "least", "make_set"];

/// Whether a function's text may be NULL for being too long. In strict mode every text that is made may.
pub fn may_be_too_long(name: &str, settings: &EvalSettings) -> bool {
    settings.sql_mode.is_strict() && !SHORT_ENOUGH.contains(&name)
}

/// Whether a function's result may be NULL.
pub fn may_be_null(name: &str, arguments: &[Typed]) -> bool {
    let of_nothing = arguments.iter().any(|one| one.kind.nullable);
    let counted = |at: usize| arguments.get(at).is_some_and(|one| !matches!(one.expr, Expr::Literal(_)));
    match name {
        "interval" | "char" | "coercibility" | "field" => false,
        "concat_ws" => arguments.first().is_some_and(|one| one.kind.nullable),
        "lpad" | "rpad" | "repeat" => of_nothing || counted(1),
        "space" => of_nothing || counted(0),
        name if name.starts_with("json_") && !OF_DOCUMENTS.contains(&name) => true,
        name => of_nothing || OF_ANY_VALUE.contains(&name),
    }
}
