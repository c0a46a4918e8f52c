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
mod search;
mod server;
mod string;
#[cfg(test)]
mod tests;
mod weight;
mod width;
mod written;

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
pub use server::benchmark;
pub(crate) use server::benchmark_type;
pub use width::any_whole;
pub(crate) use width::extracted;
pub(crate) use written::{tells_of_arguments, text_of_call};

use crate::expr::{
    Call, EvalContext, EvalSettings, Expr, NoRow, NoSession, ScalarFunction, Typed, Warnings, unified_extreme,
};
use turnstile_syntax::ast::FunctionCall;
use turnstile_syntax::parser::native;
use turnstile_values::charset::Charset;
use turnstile_values::collation::Collation;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::types::{BlobSize, ColumnType, ExprType, IntWidth};
use turnstile_values::value::Value;

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
    match (error.code, call.schema.as_deref().or(database)) {
        (1305, Some(database)) if native::is_word(call.written().as_bytes()) => {
            SqlError::function_name_is_a_word(format!("{database}.{}", call.written()))
        }
        (1305, None) => SqlError::function_does_not_exist(call.written()),
        (1305, Some(database)) => SqlError::function_does_not_exist(format!("{database}.{}", call.written())),
        (1582, _) => SqlError::wrong_parameter_count(call.written()),
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

/// Functions that work on the bytes of their first argument.
const BYTES_OF_FIRST: &[&str] = &[
    "length",
    "octet_length",
    "bit_length",
    "hex",
    "ascii",
    "ord",
    "md5",
    "sha",
    "sha1",
    "sha2",
    "crc32",
    "to_base64",
    "compress",
    "aes_encrypt",
];

/// Functions that write the digits of a number, which they read from text too.
pub(crate) fn writes_digits(name: &str) -> bool {
    matches!(name, "conv" | "bin" | "oct")
}

/// True for what is of type BIT, whose number is another thing than its text.
pub(crate) fn is_bits(typed: &Typed) -> bool {
    matches!(typed.kind.column, ColumnType::Bit { .. })
}

fn is_multi_byte(typed: &Typed) -> bool {
    typed.kind.column.collation().is_some_and(|own| own.set().is_multi_byte())
}

/// Text of a character set whose bytes are not those of UTF-8 as these bytes; every other operand as it is.
pub fn in_own_bytes(typed: Typed) -> Typed {
    let Some(collation) = typed.kind.column.collation().filter(|one| !one.set().is_utf8()) else {
        return typed;
    };
    crate::expr::bytes_of(typed, collation.set())
}

/// Text that is to be of another character set: codes without a character of its own are `?` there, as in
/// MySQL.
pub(crate) fn in_other_set(typed: Typed, other: Collation) -> Typed {
    let Some(collation) = typed.kind.column.collation().filter(|own| own.set() != other.set()) else {
        return typed;
    };
    if collation.set().unknown_elsewhere().is_none() {
        return typed;
    }
    let column = typed.kind.column.clone();
    let call = Call::new("text", known_elsewhere, vec![typed.expr], column).comparing_in(collation);
    Typed { expr: call.into_expr(), kind: typed.kind }
}

/// A CHAR column's value with its spaces (PAD_CHAR_TO_FULL_LENGTH).
pub fn padded(typed: Typed, length: u32) -> Typed {
    let arguments = vec![typed.expr, Expr::int(i64::from(length))];
    let call = Call::new("rpad", with_spaces, arguments, typed.kind.column.clone());
    let call = call.comparing_in(Collation::DEFAULT);
    Typed { expr: call.into_expr(), kind: typed.kind }
}

fn with_spaces(_: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    let (Value::Str(text), Value::Int(length)) = (&arguments[0], &arguments[1]) else {
        return Ok(arguments[0].clone());
    };
    let missing = usize::try_from(*length).unwrap_or(0).saturating_sub(text.chars().count());
    Ok(Value::from(format!("{text}{}", " ".repeat(missing))))
}

fn known_elsewhere(call: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    match (&arguments[0], call.collation.set().unknown_elsewhere()) {
        (Value::Str(text), Some(unknown)) if text.chars().any(Charset::is_private) => {
            let known = |character| if Charset::is_private(character) { unknown } else { character };
            Ok(Value::from(text.chars().map(known).collect::<String>()))
        }
        (value, _) => Ok(value.clone()),
    }
}

/// A FLOAT, YEAR, BIT or ZEROFILL operand as the text its column shows; every other value knows its own text.
pub fn as_shown(typed: Typed) -> Typed {
    if !turnstile_values::value::is_shown_by_column(&typed.kind.column) {
        return typed;
    }
    let length = typed.kind.column.text_length();
    if is_computed_float(&typed) {
        let column = ColumnType::varchar(ColumnType::DOUBLE.text_length());
        let expr = Expr::Coerce { operand: Box::new(typed.expr), to: column.clone() };
        return Typed { expr, kind: ExprType { column, ..typed.kind } };
    }
    let column = match typed.kind.column {
        ColumnType::Bit { bits } => ColumnType::Varbinary { length: u32::from(bits) },
        _ => ColumnType::varchar(length),
    };
    let call = Call::new("text", shown, vec![typed.expr], typed.kind.column).comparing_in(Collation::DEFAULT);
    let kind = ExprType { column, nullable: typed.kind.nullable, traits: typed.kind.traits };
    Typed { expr: call.into_expr(), kind }
}

/// A FLOAT that one of several values is: its text has the digits of a double.
fn is_computed_float(typed: &Typed) -> bool {
    let chosen = match &typed.expr {
        Expr::Coalesce { .. } => true,
        Expr::Call(call) => matches!(call.name, "greatest" | "least"),
        _ => false,
    };
    chosen && matches!(typed.kind.column, ColumnType::Float { digits: None, .. })
}

fn shown(call: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    if matches!(call.kind, ColumnType::Bit { .. }) {
        let mut bytes = Vec::new();
        turnstile_values::value::write_text(&arguments[0], &call.kind, &mut bytes);
        return Ok(Value::bytes(bytes));
    }
    Ok(Value::from(turnstile_values::value::column_text(&arguments[0], &call.kind)))
}

/// Which arguments of a function are read as text.
fn text_arguments(entry: &Entry) -> std::ops::Range<usize> {
    match entry.name {
        "field" | "format" | "char" | "space" | "hex" | "inet_ntoa" => 0..0,
        "elt" | "make_set" => 1..usize::MAX,
        "left" | "right" | "substring" | "lpad" | "rpad" | "insert" | "repeat" | "sha2" | "conv" => 0..1,
        "bin" | "oct" => 0..1,
        "locate" | "substring_index" => 0..2,
        "regexp_like" | "regexp_replace" | "regexp_substr" | "regexp_instr" => 0..2,
        _ if string::FUNCTIONS.iter().chain(encode::FUNCTIONS).any(|one| one.name == entry.name) => {
            0..usize::MAX
        }
        _ => 0..0,
    }
}

// Result types.

fn bigint(_: &[Typed]) -> ColumnType {
    ColumnType::BIGINT
}
fn unsigned(_: &[Typed]) -> ColumnType {
    ColumnType::BIGINT_UNSIGNED
}
fn double(_: &[Typed]) -> ColumnType {
    ColumnType::DOUBLE
}
fn date(_: &[Typed]) -> ColumnType {
    ColumnType::Date
}

/// LEFT, RIGHT, SUBSTRING: as long as is asked for, and no longer than the first argument.
fn part_type(arguments: &[Typed]) -> ColumnType {
    let Some(first) = arguments.first().filter(|first| first.kind.column != ColumnType::Null) else {
        return text_like_first(arguments);
    };
    let whole = first.kind.column.text_length();
    let wanted = arguments.get(1..).and_then(|rest| rest.last()).and_then(|count| known_length(&count.expr));
    let wanted = wanted.map_or(whole, |wanted| u32::try_from(wanted.max(0)).unwrap_or(u32::MAX));
    string_type(whole.min(wanted), arguments)
}

/// Text as long as the first argument.
fn text_like_first(arguments: &[Typed]) -> ColumnType {
    if arguments.first().is_some_and(|first| first.kind.column == ColumnType::Null) {
        return ColumnType::Varbinary { length: 0 };
    }
    string_type(arguments.first().map_or(0, |first| first.kind.column.text_length()), arguments)
}

/// The same where NULL is no bytes either.
fn text_always(arguments: &[Typed]) -> ColumnType {
    match text_like_first(arguments) {
        ColumnType::Varbinary { length: 0 } => ColumnType::varchar(0),
        kind => kind,
    }
}

/// Text as long as all arguments together.
fn text_sum(arguments: &[Typed]) -> ColumnType {
    let length = arguments.iter().fold(0u32, |sum, part| sum.saturating_add(part.kind.column.text_length()));
    string_type(length, arguments)
}

/// An argument that is a length and known before there are rows; None where it is not known, or negative.
fn literal_length(arguments: &[Typed], place: usize) -> Option<u32> {
    u32::try_from(known_length(&arguments.get(place)?.expr)?).ok()
}

/// The whole number that a constant gives; None if it is NULL or not known yet.
fn known_length(expr: &Expr) -> Option<i64> {
    known(
        expr,
        |value, context| {
            if value.is_null() { None } else { turnstile_values::value::to_i64(value, context).ok() }
        },
    )
}

/// Whether a condition is known to hold for no row before there are rows.
pub fn is_never(expr: &Expr) -> bool {
    let holds = known(expr, |value, context| {
        turnstile_values::value::to_bool(value, context).ok().map(|truth| truth == Some(true))
    });
    holds == Some(false)
}

/// What is made of the value of a constant; None if it is not known yet.
fn known<T>(expr: &Expr, of: impl Fn(&Value, &EvalContext<'_>) -> Option<T>) -> Option<T> {
    let open = |part: &Expr| matches!(part, Expr::Parameter(_) | Expr::SystemVariable { .. });
    let mut known = expr.is_constant();
    expr.walk(&mut |part| known &= !open(part));
    let (settings, warnings) = (EvalSettings::default(), Warnings::new());
    let context = EvalContext { settings, parameters: &[], session: &NoSession, warnings: &warnings };
    let value = known.then(|| expr.eval(&NoRow, &context).ok()).flatten();
    value.and_then(|value| of(&value, &context))
}

/// Bytes of a value's text: of bits, one for each of them.
pub(crate) fn bytes_of_text(kind: &ColumnType) -> u32 {
    kind.text_length().saturating_mul(kind.collation().map_or(1, Collation::max_char_bytes))
}

/// Bytes of an argument's text.
fn text_bytes(arguments: &[Typed]) -> u32 {
    let Some(first) = arguments.first() else { return 0 };
    bytes_of_text(&first.kind.column)
}

/// HEX: two characters a byte, and always text.
fn hex_type(arguments: &[Typed]) -> ColumnType {
    if arguments.first().is_some_and(|first| first.kind.column.is_numeric()) {
        return ColumnType::varchar(16);
    }
    string_type(text_bytes(arguments).saturating_mul(2), &[])
}

/// TO_BASE64: four characters for three bytes, and a line break after 76.
fn base64_type(arguments: &[Typed]) -> ColumnType {
    let characters = text_bytes(arguments).div_ceil(3).saturating_mul(4);
    string_type(characters.saturating_add(characters.saturating_sub(1) / 76), &[])
}

/// QUOTE: every character may get a backslash, and there are two quotes.
fn quoted_type(arguments: &[Typed]) -> ColumnType {
    let length = arguments.first().map_or(0, |first| first.kind.column.text_length());
    string_type(length.saturating_mul(2).saturating_add(2), &[])
}

/// JSON_QUOTE: a character may become an escape of six.
fn json_quoted_type(arguments: &[Typed]) -> ColumnType {
    let length = arguments.first().map_or(0, |first| first.kind.column.text_length());
    string_type(length.saturating_mul(6).saturating_add(2), &[])
}

/// SHA2: as many hex digits as the wanted hash has.
fn sha2_type(arguments: &[Typed]) -> ColumnType {
    ColumnType::varchar(match literal_length(arguments, 1) {
        Some(224) => 56,
        Some(0 | 256) => 64,
        Some(384) => 96,
        _ => 128,
    })
}

/// REPLACE: each occurrence may become longer.
fn replaced_type(arguments: &[Typed]) -> ColumnType {
    let length = |at: usize| arguments.get(at).map_or(0, |one: &Typed| one.kind.column.text_length());
    let (text, from, to) = (length(0), length(1), length(2));
    let more = match text.checked_div(from) {
        Some(times) => times.saturating_mul(to.saturating_sub(from)),
        None => text.saturating_mul(to),
    };
    string_type(text.saturating_add(more), arguments)
}

/// REPEAT: the text so many times.
fn repeated_type(arguments: &[Typed]) -> ColumnType {
    let length = arguments.first().map_or(0, |first| first.kind.column.text_length());
    string_type(
        literal_length(arguments, 1).map_or(u32::MAX, |times| length.saturating_mul(times)),
        arguments,
    )
}

/// LPAD, RPAD: as long as is asked for; bytes if the first is no text at all.
fn padded_type(arguments: &[Typed]) -> ColumnType {
    let length = literal_length(arguments, 1).unwrap_or(u32::MAX);
    match arguments.first() {
        Some(first) if first.kind.column == ColumnType::Null => bytes_type(length),
        _ => string_type(length, arguments),
    }
}

/// SPACE: nothing of a constant that is negative or NULL.
fn spaces_type(arguments: &[Typed]) -> ColumnType {
    let settled = arguments
        .first()
        .is_some_and(|count| count.expr.is_constant() && !matches!(count.expr, Expr::Parameter(_)));
    string_type(literal_length(arguments, 0).unwrap_or(if settled { 0 } else { u32::MAX }), &[])
}

/// INSERT: both texts, bytes if the first is no text at all.
fn inserted_type(arguments: &[Typed]) -> ColumnType {
    match arguments.first() {
        Some(first) if first.kind.column == ColumnType::Null => text_like_first(arguments),
        _ => {
            let length = |at: usize| arguments.get(at).map_or(0, |one: &Typed| one.kind.column.text_length());
            string_type(length(0).saturating_add(length(3)), arguments)
        }
    }
}

/// EXPORT_SET: 64 of the longer text, and what is between them.
fn export_set_type(arguments: &[Typed]) -> ColumnType {
    let length = |at: usize| arguments.get(at).map_or(1, |one: &Typed| one.kind.column.text_length());
    let longer = length(1).max(length(2));
    string_type(longer.saturating_mul(64).saturating_add(length(3).saturating_mul(63)), arguments)
}

/// Text of unknown length.
fn text_long(arguments: &[Typed]) -> ColumnType {
    string_type(u32::MAX, arguments)
}

/// Whether: one digit.
fn truth(_: &[Typed]) -> ColumnType {
    ColumnType::Int { width: IntWidth::Big, unsigned: false, display: Some(1), zerofill: false }
}

/// A length of at most 32 bits.
fn unsigned_length(_: &[Typed]) -> ColumnType {
    ColumnType::Int { width: IntWidth::Big, unsigned: false, display: Some(10), zerofill: false }
}

/// A number of 32 bits without sign.
fn unsigned_short(_: &[Typed]) -> ColumnType {
    ColumnType::Int { width: IntWidth::Big, unsigned: true, display: Some(10), zerofill: false }
}

/// Text of exactly so many characters.
fn text_of<const LENGTH: u32>(_: &[Typed]) -> ColumnType {
    ColumnType::varchar(LENGTH)
}

/// So many bytes.
fn bytes_of<const LENGTH: u32>(_: &[Typed]) -> ColumnType {
    ColumnType::Varbinary { length: LENGTH }
}

/// FROM_BASE64: three bytes of four characters.
fn from_base64_type(arguments: &[Typed]) -> ColumnType {
    bytes_type(text_bytes(arguments) / 4 * 3)
}

/// UNHEX: a byte of two digits.
fn unhex_type(arguments: &[Typed]) -> ColumnType {
    bytes_type(text_bytes(arguments).div_ceil(2))
}

pub(crate) fn bytes_type(length: u32) -> ColumnType {
    if length > 65_535 { ColumnType::Blob { size: BlobSize::Long } } else { ColumnType::Varbinary { length } }
}

/// Short text.
fn text_short(_: &[Typed]) -> ColumnType {
    ColumnType::varchar(64)
}

fn unified(arguments: &[Typed]) -> ColumnType {
    unified_extreme(arguments)
}

fn string_type(length: u32, arguments: &[Typed]) -> ColumnType {
    if arguments.iter().any(|argument| argument.kind.column.is_binary_string()) {
        return if length > 65_535 {
            ColumnType::Blob { size: BlobSize::Long }
        } else {
            ColumnType::Varbinary { length }
        };
    }
    if length > 16_383 {
        return ColumnType::Text { size: BlobSize::Long, collation: Collation::DEFAULT };
    }
    ColumnType::varchar(length)
}
