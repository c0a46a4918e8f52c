//! The built-in scalar functions: one table of names, argument counts, code and result types.
//!
//! Functions are given values: `demand` says which arguments are evaluated. Those that compute in between
//! (IF, CASE, COALESCE, IFNULL, NULLIF) are nodes of the expression tree; aggregates and SLEEP are the
//! executor's. Unless a function says otherwise, a NULL argument makes its result NULL: such functions open
//! with `null_guard!`.

/// Returns NULL from a function if any argument is NULL.
macro_rules! null_guard {
    ($arguments:expr) => {
        if $arguments.iter().any(turnstile_values::value::Value::is_null) {
            return Ok(turnstile_values::value::Value::Null);
        }
    };
}

mod address;
mod argument_kind;
mod casting;
mod cipher;
mod clock;
mod compress;
mod date;
pub(crate) mod demand;
mod digest;
mod encode;
pub mod extreme;
mod field;
mod info;
mod interval;
mod json;
mod json_arguments;
mod json_scalar;
mod json_value;
mod nullable;
mod number_format;
mod numeric;
mod regexp;
pub(crate) mod result_bytes;
mod result_type;
mod search;
mod server;
mod shown;
mod string;
mod weight;
mod width;
mod written;

use crate::expr::{Call, EvalContext, EvalSettings, ScalarFunction, Typed};
pub(crate) use argument_kind::{amount_kind, argument_kind, summand_kind};
pub use casting::{cast, cast_target};
pub(crate) use casting::{cast_named, text_of_any_length};
pub use digest::crc32;
pub(crate) use field::field_of;
pub(crate) use interval::{date_arithmetic, date_arithmetic_type, extract_part, is_clock_unit};
pub(crate) use json::cast_as_document;
pub use json::{
    as_order, as_sorted, as_value as as_document, document_order, marked, truth as truth_document,
};
pub use json_arguments::as_characters;
pub(crate) use json_arguments::takes_value as takes_document;
pub use json_scalar::{DATE, TIME, Wanted, as_number};
pub(crate) use json_scalar::{
    JSON_AS_TEXT, MOMENT, as_given_to, as_summand, as_temporal, of_truth as truth_as_document, or_beginning,
    reads_count_twice, reads_document, temporal_argument, text_as_number, wanted_amount, wanted_number,
};
pub use json_value::json_value;
pub(crate) use numeric::CONV_OF_BITS;
pub use result_bytes::{build_text, text as text_of_bytes};
pub use result_type::is_never;
use result_type::{
    base64_type, bigint, bytes_of, date, double, export_set_type, from_base64_type, hex_type, inserted_type,
    json_quoted_type, known, known_length, literal_length, padded_type, part_type, quoted_type,
    repeated_type, replaced_type, sha2_type, spaces_type, string_type, text_always, text_bytes,
    text_like_first, text_long, text_of, text_short, text_sum, truth, unhex_type, unified, unsigned,
    unsigned_length, unsigned_short,
};
pub(crate) use result_type::{bytes_of_text, bytes_type};
pub use server::benchmark;
pub(crate) use server::benchmark_type;
use shown::{BYTES_OF_FIRST, is_multi_byte, text_arguments};
pub use shown::{as_shown, in_own_bytes, padded};
pub(crate) use shown::{in_other_set, is_bits, writes_digits};
use turnstile_syntax::ast::FunctionCall;
use turnstile_syntax::parser::native;
use turnstile_values::error::{ErrorKind, SqlError, SqlResult};
use turnstile_values::types::{ColumnType, ExprType};
pub use width::any_whole;
pub(crate) use width::extracted;
pub(crate) use written::{tells_of_arguments, text_of_call};

/// One function of the table.
pub(crate) struct Entry {
    name: &'static str,
    least: usize,
    most: usize,
    function: ScalarFunction,
    result: fn(&[Typed]) -> ColumnType,
    traits: u8,
}

/// Changes between rows.
const VOLATILE: u8 = 2;

/// Hex literals among the arguments are numbers.
const NUMBERS: u8 = 4;

const fn entry(
    name: &'static str,
    arguments: (usize, usize),
    function: ScalarFunction,
    result: fn(&[Typed]) -> ColumnType,
    traits: u8,
) -> Entry {
    Entry { name, least: arguments.0, most: arguments.1, function, result, traits }
}

const MANY: usize = usize::MAX;

fn tables() -> impl Iterator<Item = &'static Entry> {
    string::FUNCTIONS
        .iter()
        .chain(numeric::FUNCTIONS)
        .chain(date::FUNCTIONS)
        .chain(clock::FUNCTIONS)
        .chain(encode::FUNCTIONS)
        .chain(info::FUNCTIONS)
        .chain(regexp::FUNCTIONS)
        .chain(address::FUNCTIONS)
        .chain(json::FUNCTIONS)
        .chain(json_value::FUNCTIONS)
        .chain(weight::FUNCTIONS)
        .chain(cipher::FUNCTIONS)
        .chain(compress::FUNCTIONS)
        .chain(server::FUNCTIONS)
}

fn find(name: &str) -> Option<&'static Entry> {
    tables().find(|entry| entry.name == name)
}

/// Functions on text whose cost is that of reading their arguments once, and whose result is no longer than
/// these.
const LIGHT_ON_TEXT: &[&str] = &[
    "concat",
    "concat_ws",
    "length",
    "octet_length",
    "bit_length",
    "char_length",
    "character_length",
    "substring",
    "left",
    "right",
    "trim",
    "ltrim",
    "rtrim",
    "upper",
    "ucase",
    "lower",
    "lcase",
    "field",
    "elt",
    "ascii",
    "ord",
    "strcmp",
    // An operand as its column shows it, and in the bytes of its own set.
    "text",
    "bytes",
];

/// Whether a call costs no more than a small multiple of what its arguments are long, so that it may be
/// worked out while a page is latched. What is not named here is taken for heavy.
pub fn is_light(name: &str) -> bool {
    let tables = [numeric::FUNCTIONS, date::FUNCTIONS, clock::FUNCTIONS, info::FUNCTIONS, address::FUNCTIONS];
    LIGHT_ON_TEXT.contains(&name) || tables.iter().any(|table| table.iter().any(|entry| entry.name == name))
}

/// Names of all functions of the table.
pub fn function_names() -> impl Iterator<Item = &'static str> {
    tables().map(|entry| entry.name)
}

/// True if hex literals among the arguments of this function are numbers.
pub(crate) fn takes_numbers(name: &str) -> bool {
    find(name).is_some_and(|entry| entry.traits & NUMBERS != 0)
}

/// The error of a call that cannot be bound, with the function's name as it was written.
pub fn as_written(error: SqlError, call: &FunctionCall, database: Option<&str>) -> SqlError {
    match (error.kind(), call.schema.as_deref().or(database)) {
        (ErrorKind::UnknownFunction, Some(database)) if native::is_word(call.written().as_bytes()) => {
            SqlError::function_name_is_a_word(format!("{database}.{}", call.written()))
        }
        (ErrorKind::UnknownFunction, None) => SqlError::function_does_not_exist(call.written()),
        (ErrorKind::UnknownFunction, Some(database)) => {
            SqlError::function_does_not_exist(format!("{database}.{}", call.written()))
        }
        (ErrorKind::WrongParameterCount, _) => SqlError::wrong_parameter_count(call.written()),
        _ => error,
    }
}

/// Binds a call by name. Errors 1305 for unknown functions and 1582 for a wrong number of arguments.
pub fn bind_function(name: &str, arguments: Vec<Typed>, settings: &EvalSettings) -> SqlResult<Typed> {
    let Some(entry) = find(name) else {
        return Err(SqlError::function_does_not_exist(name));
    };
    if arguments.len() < entry.least || arguments.len() > entry.most {
        return Err(SqlError::wrong_parameter_count(entry.name));
    }
    let arguments = json_arguments::arguments(entry.name, arguments)?;
    let arguments = json_scalar::plain_outside(entry.name, arguments);
    let text = text_arguments(entry);
    let bytes = BYTES_OF_FIRST.contains(&entry.name);
    let read = |(nth, typed)| match text.contains(&nth) {
        // Characters of several bytes are told apart before they are bytes.
        _ if nth == 0 && entry.name == "ord" && is_multi_byte(&typed) => typed,
        // The digits of bits are those of their number.
        _ if nth == 0 && writes_digits(entry.name) && is_bits(&typed) => typed,
        _ if nth == 0 && bytes => in_own_bytes(if text.contains(&nth) { as_shown(typed) } else { typed }),
        true => as_shown(typed),
        false => typed,
    };
    let arguments: Vec<Typed> = arguments.into_iter().enumerate().map(read).collect();
    let settled = crate::expr::settle(entry.name, arguments, settings.connection_collation)?;
    let (arguments, collation) = (settled.arguments, settled.collation);
    let own = width::with_digits(entry.name, (entry.result)(&arguments));
    let kind = settled.result.of(own, settings.connection_collation);
    let nullable = nullable::may_be_null(entry.name, &arguments)
        || kind.column.is_string() && nullable::may_be_too_long(entry.name, settings);
    let demand = demand::of(entry.name, &arguments);
    let call = Call {
        name: entry.name,
        function: entry.function,
        arguments: arguments.into_iter().map(|argument| argument.expr).collect(),
        collation,
        kind: kind.column.clone(),
        deterministic: entry.traits & VOLATILE == 0,
        demand,
        sources: None,
    };
    Ok(Typed { expr: call.into_expr(), kind: ExprType { nullable, ..kind } })
}

/// What rows are sorted by: of a document what orders documents.
pub fn in_order(typed: Typed) -> Typed {
    if typed.kind.column == ColumnType::Json { as_order(typed) } else { typed }
}

#[cfg(test)]
mod tests;
