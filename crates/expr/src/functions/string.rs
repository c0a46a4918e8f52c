//! String functions. Positions and lengths count characters; byte strings count bytes.

mod character;
mod part;

use turnstile_values::collation::{to_lower, to_turkish_lower, to_turkish_upper, to_upper};
use turnstile_values::error::SqlResult;
use turnstile_values::pulse::Pace;
use turnstile_values::value::{Value, to_bytes, to_i64, to_text};

use super::result_bytes::{Grown, ResultBytes, build, build_text};
use super::search::{self, characters, nth_character};
use super::{Entry, MANY, bigint, entry, text_like_first, text_long, text_sum};
use crate::expr::{Call, EvalContext};
use character::{ascii, char_decoded, char_of, ord, quote, soundex, strcmp};
use part::{
    insert, instr, left, locate, pad_left, pad_right, replace, right, substring, substring_index, trim,
    trim_left, trim_right,
};

pub(super) static FUNCTIONS: &[Entry] = &[
    entry("concat", (1, MANY), concat, text_sum, 0),
    entry("concat_ws", (2, MANY), concat_ws, super::width::separated, 0),
    entry("length", (1, 1), length, bigint, 0),
    entry("octet_length", (1, 1), length, bigint, 0),
    entry("bit_length", (1, 1), bit_length, bigint, 0),
    entry("char_length", (1, 1), char_length, bigint, 0),
    entry("character_length", (1, 1), char_length, bigint, 0),
    entry("substring", (2, 3), substring, super::width::part_behind, 0),
    entry("left", (2, 2), left, super::part_type, 0),
    entry("right", (2, 2), right, super::part_type, 0),
    entry("trim", (1, 2), trim, text_like_first, 0),
    entry("ltrim", (1, 2), trim_left, text_like_first, 0),
    entry("rtrim", (1, 2), trim_right, text_like_first, 0),
    entry("upper", (1, 1), upper, text_like_first, 0),
    entry("ucase", (1, 1), upper, text_like_first, 0),
    entry("lower", (1, 1), lower, text_like_first, 0),
    entry("lcase", (1, 1), lower, text_like_first, 0),
    entry("replace", (3, 3), replace, super::replaced_type, 0),
    entry("repeat", (2, 2), repeat, super::repeated_type, 0),
    entry("reverse", (1, 1), reverse, text_like_first, 0),
    entry("instr", (2, 2), instr, bigint, 0),
    entry("locate", (2, 3), locate, bigint, 0),
    entry("lpad", (3, 3), pad_left, super::padded_type, 0),
    entry("rpad", (3, 3), pad_right, super::padded_type, 0),
    entry("space", (1, 1), space, super::spaces_type, 0),
    entry("field", (2, MANY), super::field::field, bigint, 0),
    entry("elt", (2, MANY), elt, super::width::longest, 0),
    entry("find_in_set", (2, 2), find_in_set, bigint, 0),
    entry("make_set", (2, MANY), make_set, super::width::listed, 0),
    entry("format", (2, 3), super::number_format::format_number, super::width::formatted, 0),
    entry("ascii", (1, 1), ascii, bigint, 0),
    entry("ord", (1, 1), ord, bigint, 0),
    entry("char", (1, MANY), char_of, super::width::bytes_of_codes, super::NUMBERS),
    entry("char using utf16", (1, MANY), char_decoded, text_long, super::NUMBERS),
    entry("char using utf32", (1, MANY), char_decoded, text_long, super::NUMBERS),
    entry("char using latin1", (1, MANY), char_decoded, text_long, super::NUMBERS),
    entry("quote", (1, 1), quote, super::quoted_type, 0),
    entry("strcmp", (2, 2), strcmp, bigint, 0),
    entry("substring_index", (3, 3), substring_index, text_like_first, 0),
    entry("insert", (4, 4), insert, super::inserted_type, 0),
    entry("soundex", (1, 1), soundex, text_like_first, 0),
];

/// A string result of the class of the given argument.
fn like(model: &Value, bytes: Vec<u8>) -> Value {
    if matches!(model, Value::Bytes(_)) {
        return Value::bytes(bytes);
    }
    match String::from_utf8(bytes) {
        Ok(text) => Value::Str(text.into()),
        Err(error) => Value::bytes(error.into_bytes()),
    }
}

fn is_binary(arguments: &[Value]) -> bool {
    arguments.iter().any(|argument| matches!(argument, Value::Bytes(_)))
}

/// Builds a string of the class of the given argument.
fn build_like(
    model: &Value,
    call: &Call,
    context: &EvalContext<'_>,
    fill: impl FnOnce(&mut ResultBytes<'_>) -> Grown,
) -> SqlResult<Value> {
    Ok(build(call.name, context, fill)?.map_or(Value::Null, |bytes| like(model, bytes)))
}

/// Builds a string of parts: bytes if one of them is.
pub(super) fn build_of(
    parts: &[Value],
    call: &Call,
    context: &EvalContext<'_>,
    fill: impl FnOnce(&mut ResultBytes<'_>) -> Grown,
) -> SqlResult<Value> {
    let model = if is_binary(parts) { Value::bytes([]) } else { Value::Null };
    build_like(&model, call, context, fill)
}

/// Characters of a string; bytes of byte strings.
fn count_of(value: &Value, bytes: &[u8]) -> usize {
    if matches!(value, Value::Bytes(_)) { bytes.len() } else { characters(bytes) }
}

/// The byte where the character of this number (from 0) begins, or the end.
fn place_of(value: &Value, bytes: &[u8], number: usize) -> usize {
    if matches!(value, Value::Bytes(_)) { number.min(bytes.len()) } else { nth_character(bytes, number) }
}

fn concat(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    build_of(arguments, call, context, |out| {
        arguments.iter().try_for_each(|argument| out.push(&to_bytes(argument)))
    })
}

fn concat_ws(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    if arguments[0].is_null() {
        return Ok(Value::Null);
    }
    let separator = to_bytes(&arguments[0]);
    build_of(arguments, call, context, |out| {
        for (nth, part) in arguments[1..].iter().filter(|part| !part.is_null()).enumerate() {
            out.push(if nth > 0 { &separator } else { b"" })?;
            out.push(&to_bytes(part))?;
        }
        Ok(())
    })
}

fn length(_: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    Ok(Value::Int(to_bytes(&arguments[0]).len() as i64))
}

fn bit_length(_: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    Ok(Value::Int(to_bytes(&arguments[0]).len() as i64 * 8))
}

fn char_length(_: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let bytes = to_bytes(&arguments[0]);
    Ok(Value::Int(count_of(&arguments[0], &bytes) as i64))
}

/// A count of characters or a place among them: one beyond all numbers with a sign is the largest.
fn to_count(value: &Value, context: &EvalContext<'_>) -> SqlResult<i64> {
    match value {
        Value::UInt(number) => Ok(i64::try_from(*number).unwrap_or(i64::MAX)),
        other => to_i64(other, context),
    }
}

/// A text piece by piece.
fn mapped(text: &str, map: fn(&str) -> String, context: &EvalContext<'_>) -> SqlResult<Value> {
    let mut whole = String::new();
    for piece in search::pieces(text, context) {
        whole.push_str(&map(piece?));
    }
    Ok(Value::from(whole))
}

fn upper(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    Ok(match &arguments[0] {
        Value::Bytes(_) => arguments[0].clone(),
        other if call.collation.is_turkish() => mapped(&to_text(other), to_turkish_upper, context)?,
        other => mapped(&to_text(other), to_upper, context)?,
    })
}

fn lower(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    Ok(match &arguments[0] {
        Value::Bytes(_) => arguments[0].clone(),
        other if call.collation.is_turkish() => mapped(&to_text(other), to_turkish_lower, context)?,
        other => mapped(&to_text(other), to_lower, context)?,
    })
}

fn repeat(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let bytes = to_bytes(&arguments[0]);
    let count = to_count(&arguments[1], context)?.max(0) as u64;
    build_like(&arguments[0], call, context, |out| out.push_repeated(&bytes, count))
}

fn reversed(text: &str, context: &EvalContext<'_>) -> SqlResult<Value> {
    let pieces = search::pieces(text, context).collect::<SqlResult<Vec<&str>>>()?;
    let mut whole = String::new();
    for piece in pieces.iter().rev() {
        context.work(piece.len())?;
        whole.extend(piece.chars().rev());
    }
    Ok(Value::from(whole))
}

fn reverse(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    Ok(match &arguments[0] {
        Value::Bytes(bytes) => Value::bytes(bytes.iter().rev().copied().collect::<Vec<u8>>()),
        other => reversed(&to_text(other), context)?,
    })
}

fn space(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let count = to_count(&arguments[0], context)?.max(0) as u64;
    build_text(call.name, context, |out| out.push_repeated(b" ", count))
}

fn elt(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    if arguments[0].is_null() {
        return Ok(Value::Null);
    }
    let place = to_count(&arguments[0], context)?;
    let chosen =
        usize::try_from(place).ok().filter(|place| *place > 0).and_then(|place| arguments.get(place));
    Ok(match chosen {
        None | Some(Value::Null) => Value::Null,
        Some(value @ (Value::Str(_) | Value::Bytes(_))) => value.clone(),
        Some(value) => Value::Str(to_text(value)),
    })
}

/// What comparing with a member of a list takes besides its bytes, as bytes.
const MEMBER_STEP: usize = 32;

fn find_in_set(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let (wanted, list) = (to_bytes(&arguments[0]), to_bytes(&arguments[1]));
    if list.is_empty() {
        return Ok(Value::Int(0));
    }
    let mut pace = Pace::default();
    let is_wanted = |member: &[u8]| {
        !pace.passes(member.len() + wanted.len() + MEMBER_STEP)
            || call.collation.compare(member, &wanted).is_eq()
    };
    let place = context
        .watched(wanted.len() + list.len(), || list.split(|byte| *byte == b',').position(is_wanted))?;
    Ok(Value::Int(place.map_or(0, |place| place as i64 + 1)))
}

fn make_set(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    if arguments[0].is_null() {
        return Ok(Value::Null);
    }
    let bits = to_i64(&arguments[0], context)? as u64;
    let chosen = arguments[1..]
        .iter()
        .enumerate()
        .filter(|(bit, part)| *bit < 64 && bits >> bit & 1 == 1 && !part.is_null());
    build_of(&arguments[1..], call, context, |out| {
        for (nth, (_, part)) in chosen.enumerate() {
            out.push(if nth > 0 { b"," } else { b"" })?;
            out.push(&to_bytes(part))?;
        }
        Ok(())
    })
}
