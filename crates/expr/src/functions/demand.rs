//! Which of its arguments a call evaluates, and in which order: as MySQL has it, since an argument that is
//! not evaluated warns of nothing, fails with no error and assigns nothing.

use crate::expr::{EvalContext, Expr, Typed};
use turnstile_values::error::SqlResult;
use turnstile_values::value::{Value, to_i64};

/// What a call asks of its arguments.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Demand {
    /// All of them, from the left.
    All,
    /// One after the other until one is NULL, which the result is then too. Those of the list come first, in
    /// its order; the others follow from the left.
    UntilNull(&'static [usize]),
    /// This one, and then the others, which count as NULL if it is.
    Unless(usize),
    /// All but the first, and the first unless one of these is NULL.
    FirstAtLast,
    /// The first as a number, and those that it chooses: the others count as NULL.
    Chosen(fn(u64, usize) -> bool),
}

/// Functions that are NULL as soon as an argument is, from the left.
const FROM_THE_LEFT: &[&str] = &["concat", "conv", "greatest", "least", "maketime", "replace", "substring"];

/// Functions whose first argument settles the result when it is NULL.
const FIRST_SETTLES: &[&str] = &[
    "addtime",
    "aes_decrypt",
    "aes_encrypt",
    "atan",
    "atan2",
    "bin_to_uuid",
    "concat_ws",
    "date_format",
    "field",
    "find_in_set",
    "from_unixtime",
    "instr",
    "interval",
    "json_array_append",
    "json_array_insert",
    "json_contains",
    "json_contains_path",
    "json_extract",
    "json_insert",
    "json_keys",
    "json_length",
    "json_merge",
    "json_merge_preserve",
    "json_overlaps",
    "json_remove",
    "json_replace",
    "json_search",
    "json_set",
    "left",
    "log",
    "period_add",
    "period_diff",
    "pow",
    "power",
    "repeat",
    "right",
    "round",
    "str_to_date",
    "strcmp",
    "subtime",
    "time_format",
    "timediff",
    "timestamp",
    "trim",
    "truncate",
    "uuid_to_bin",
    "week",
    "yearweek",
];

/// Functions that look at their constants when a statement is planned, for how long the result may be:
/// constants fail and warn there.
const PLANNED_WITH_CONSTANTS: &[&str] = &[
    "convert_tz",
    "instr",
    "left",
    "locate",
    "lpad",
    "repeat",
    "replace",
    "right",
    "rpad",
    "str_to_date",
    "substring",
];

/// What a function of this name asks of its arguments.
pub(super) fn of(name: &str, arguments: &[Typed]) -> Demand {
    let computed = |typed: &Typed| !matches!(typed.expr, Expr::Literal(_)) && typed.expr.is_constant();
    match (name, arguments.len()) {
        (_, 0 | 1) => Demand::All,
        (name, _) if PLANNED_WITH_CONSTANTS.contains(&name) && arguments.iter().any(computed) => Demand::All,
        ("regexp_like" | "regexp_instr" | "regexp_replace" | "regexp_substr", _) => Demand::FirstAtLast,
        ("export_set", _) => Demand::UntilNull(&[0, 1, 2, 4, 3]),
        ("elt", _) => Demand::Chosen(|place, nth| place == nth as u64),
        ("make_set", _) => Demand::Chosen(|bits, nth| nth <= 64 && bits >> (nth - 1) & 1 == 1),
        ("locate" | "makedate", _) => Demand::UntilNull(&[1, 0]),
        ("format", _) => Demand::Unless(1),
        ("lpad" | "rpad" | "substring_index", _) => Demand::UntilNull(&[0, 2, 1]),
        ("convert_tz", _) => Demand::UntilNull(&[1, 2, 0]),
        ("insert", 4) if computed(&arguments[3]) => Demand::All,
        ("insert", _) => Demand::UntilNull(&[0, 3, 1, 2]),
        (name, _) if FROM_THE_LEFT.contains(&name) => Demand::UntilNull(&[]),
        (name, _) if FIRST_SETTLES.contains(&name) => Demand::Unless(0),
        _ => Demand::All,
    }
}

/// The number by which a first argument chooses, as that argument and as its bits. NULL chooses nothing.
pub(crate) fn choosing(first: Value, context: &EvalContext<'_>) -> SqlResult<(Value, u64)> {
    Ok(match first {
        Value::Null => (Value::Null, 0),
        Value::UInt(number) => (Value::UInt(number), number),
        other => {
            let number = to_i64(&other, context)?;
            (Value::Int(number), number as u64)
        }
    })
}
