//! What makes texts that have agreed on a collation be of its character set.
//!
//! Text is UTF-8 inside, whatever its set, so most conversions are nothing at all. What is left: bytes that
//! become text, text that becomes the bytes of its set, and the check that a set has all characters of a text
//! it takes.

use crate::expr::{Call, EvalContext, Expr, ScalarFunction, Typed};
use turnstile_values::charset::Charset;
use turnstile_values::collation::Collation;
use turnstile_values::error::{ErrorKind, SqlError, SqlResult};
use turnstile_values::types::{ColumnType, ExprType};
use turnstile_values::value::{Value, shown_misfit, to_text};

use turnstile_values::mixing::{Meeting, Party, Purpose, Repertoire};

/// What a converted text is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// It is compared: text beside bytes is compared by its bytes as it is.
    Comparison,
    /// It becomes part of a result.
    Result,
}

/// A text of the character set that was agreed on; every other value, and text that is of it already, as it
/// is. Error 3854 for a literal that has a character which the set lacks.
pub fn converted(typed: Typed, to: Collation, usage: Use) -> SqlResult<Typed> {
    let kind = &typed.kind.column;
    if !kind.is_string() {
        return Ok(typed);
    }
    let from = kind.collation().unwrap_or(Collation::Binary).set();
    match (from, to.set()) {
        (one, other) if one == other => Ok(typed),
        (one, Charset::Binary) => Ok(match usage {
            Use::Comparison if one.is_utf8() => typed,
            _ => bytes_of(typed, one),
        }),
        (Charset::Binary, _) => as_text(typed, to),
        (_, set) if takes_all(set) || typed.kind.traits.repertoire == Repertoire::Ascii => Ok(typed),
        (_, set) => fitting(typed, from, set),
    }
}

fn takes_all(set: Charset) -> bool {
    matches!(set, Charset::Utf8mb4 | Charset::Utf16 | Charset::Utf16le | Charset::Utf32)
}

fn refused(from: Charset, bytes: &[u8], to: Charset) -> SqlError {
    SqlError::cannot_convert_string(shown_misfit(bytes), from.name(), to.name())
}

/// A call that gives its one argument in another form. `form`: what the function works with.
fn call(
    name: &'static str,
    function: ScalarFunction,
    typed: Typed,
    form: (Collation, ColumnType),
    kind: ColumnType,
) -> Typed {
    let Typed { expr, kind: before } = typed;
    let call = Call::new(name, function, vec![expr], form.1).comparing_in(form.0);
    let kind = ExprType::new(kind, before.nullable).with_traits(before.traits);
    Typed { expr: call.into_expr(), kind }
}

/// Text as the bytes of its set.
pub fn bytes_of(typed: Typed, set: Charset) -> Typed {
    let bytes = ColumnType::Varbinary { length: typed.kind.column.wire_length() };
    if let Expr::Literal(Value::Str(text)) = &typed.expr {
        let value = Value::bytes(set.encode(text));
        let kind = ExprType::new(bytes, typed.kind.nullable).with_traits(typed.kind.traits);
        return Typed { expr: Expr::Literal(value), kind };
    }
    call("bytes", encoded, typed, (set.default_collation(), bytes.clone()), bytes)
}

fn encoded(call: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    Ok(match &arguments[0] {
        value @ (Value::Null | Value::Bytes(_)) => value.clone(),
        other => Value::bytes(call.collation.set().encode(&to_text(other))),
    })
}

/// Bytes as text of a set. Error 3854 for a literal whose bytes are none of it.
fn as_text(typed: Typed, to: Collation) -> SqlResult<Typed> {
    let length = typed.kind.column.wire_length();
    let text = ColumnType::Varchar { length, collation: to };
    if let Expr::Literal(value) = &typed.expr {
        let kind = ExprType::new(text, typed.kind.nullable).with_traits(typed.kind.traits);
        return Ok(Typed { expr: Expr::Literal(decoded_value(value, to)?), kind });
    }
    Ok(call("text_of_bytes", decoded, typed, (to, text.clone()), text))
}

fn decoded_value(value: &Value, to: Collation) -> SqlResult<Value> {
    let Value::Bytes(bytes) = value else { return Ok(value.clone()) };
    match to.set().decode(bytes) {
        Some(text) => Ok(Value::from(text)),
        None => Err(refused(Charset::Binary, bytes, to.set())),
    }
}

fn decoded(call: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    decoded_value(&arguments[0], call.collation)
}

/// Text whose characters a set may lack.
fn fitting(typed: Typed, from: Charset, set: Charset) -> SqlResult<Typed> {
    if let Expr::Literal(value) = &typed.expr {
        fits(value, from, set)?;
        return Ok(typed);
    }
    // The value of a statement's parameter is not known yet: what the set lacks is equal to nothing that is
    // of it.
    if matches!(typed.expr, Expr::Parameter(_)) && typed.kind.nullable {
        return Ok(typed);
    }
    let kind = typed.kind.column.clone();
    Ok(call("fitting", checked, typed, (set.default_collation(), kind.clone()), kind))
}

fn fits(value: &Value, from: Charset, set: Charset) -> SqlResult<()> {
    match value {
        Value::Str(text) if set.first_missing(text).is_some() => Err(refused(from, &from.encode(text), set)),
        _ => Ok(()),
    }
}

fn checked(call: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    let from = call.kind.collation().unwrap_or(Collation::DEFAULT).set();
    fits(&arguments[0], from, call.collation.set())?;
    Ok(arguments[0].clone())
}

/// Whether it is text or bytes, or NULL.
pub fn is_text(typed: &Typed) -> bool {
    typed.kind.column.is_string() || typed.kind.column == ColumnType::Null
}

/// Values that meet, the texts among them converted to what these agree on. Of those that are compared the
/// texts alone meet.
pub fn met(parts: Vec<Typed>, meeting: &Meeting<'_>, usage: Use) -> SqlResult<(Vec<Typed>, Party)> {
    let counts = |part: &&Typed| meeting.purpose == Purpose::Result || is_text(part);
    let agreed = meeting.agree(&parties(parts.iter().filter(counts)));
    // The message names all operands, also those that are no text.
    let agreed = agreed.map_err(|error| match error.kind() {
        ErrorKind::MixedCollations => meeting.refused(&parties(&parts)),
        _ => error,
    })?;
    let parts = parts.into_iter().map(|part| converted(part, agreed.collation, usage));
    Ok((parts.collect::<SqlResult<_>>()?, agreed))
}

/// How expressions meet.
fn parties<'t>(parts: impl IntoIterator<Item = &'t Typed>) -> Vec<Party> {
    parts.into_iter().map(|part| Party::of(&part.kind)).collect()
}
