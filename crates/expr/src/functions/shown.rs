//! Arguments that a function takes as they are shown: the digits of a number, the zeros of ZEROFILL, the
//! bytes of a text in another character set.

use turnstile_values::charset::Charset;
use turnstile_values::collation::Collation;
use turnstile_values::error::SqlResult;
use turnstile_values::types::{ColumnType, ExprType};
use turnstile_values::value::Value;

use super::{Entry, encode, string};
use crate::expr::{Call, EvalContext, Expr, Typed};

/// Functions that work on the bytes of their first argument.
pub(super) const BYTES_OF_FIRST: &[&str] = &[
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

pub(super) fn is_multi_byte(typed: &Typed) -> bool {
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
    // The length is that of a CHAR column.
    let width = usize::from(u8::try_from(*length).unwrap_or_default());
    Ok(Value::from(format!("{text:<width$}")))
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

pub(super) fn shown(call: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    if matches!(call.kind, ColumnType::Bit { .. }) {
        let mut bytes = Vec::new();
        turnstile_values::value::write_text(&arguments[0], &call.kind, &mut bytes);
        return Ok(Value::bytes(bytes));
    }
    Ok(Value::from(turnstile_values::value::column_text(&arguments[0], &call.kind)))
}

/// Which arguments of a function are read as text.
pub(super) fn text_arguments(entry: &Entry) -> std::ops::Range<usize> {
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
