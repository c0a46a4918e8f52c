//! String functions. Positions and lengths count characters; byte strings count bytes.

use super::result_bytes::{Grown, ResultBytes, Stop, build, build_text};
use super::search::{self, characters, nth_character};
use super::{Entry, MANY, bigint, entry, text_like_first, text_long, text_sum};
use crate::expr::{Call, EvalContext};
use turnstile_values::collation::{
    Collation, first_character, to_lower, to_turkish_lower, to_turkish_upper, to_upper,
};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::pulse::Pace;
use turnstile_values::value::{Value, compare_strings, shown_misfit, to_bytes, to_i64, to_text};

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

fn substring(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let bytes = to_bytes(&arguments[0]);
    let position = to_count(&arguments[1], context)?;
    let wanted = match arguments.get(2) {
        Some(wanted) => to_count(wanted, context)?,
        None => i64::MAX,
    };
    let start = match position {
        ..0 => (count_of(&arguments[0], &bytes) as i64).saturating_add(position),
        _ => position - 1,
    };
    if start < 0 || wanted <= 0 {
        return Ok(like(&arguments[0], Vec::new()));
    }
    let begin = place_of(&arguments[0], &bytes, start as usize);
    let end = begin + place_of(&arguments[0], &bytes[begin..], wanted as usize);
    Ok(like(&arguments[0], bytes[begin..end].to_vec()))
}

fn left(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let bytes = to_bytes(&arguments[0]);
    let wanted = usize::try_from(to_count(&arguments[1], context)?.max(0)).unwrap_or(usize::MAX);
    Ok(like(&arguments[0], bytes[..place_of(&arguments[0], &bytes, wanted)].to_vec()))
}

fn right(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let bytes = to_bytes(&arguments[0]);
    let count = count_of(&arguments[0], &bytes);
    let wanted = to_count(&arguments[1], context)?.clamp(0, count as i64) as usize;
    Ok(like(&arguments[0], bytes[place_of(&arguments[0], &bytes, count - wanted)..].to_vec()))
}

fn trim_ends(arguments: &[Value], leading: bool, trailing: bool) -> SqlResult<Value> {
    null_guard!(arguments);
    let bytes = to_bytes(&arguments[0]);
    let remove = arguments.get(1).map_or(std::borrow::Cow::Borrowed(&b" "[..]), to_bytes);
    let mut kept = &bytes[..];
    if !remove.is_empty() {
        while leading && kept.starts_with(&remove) {
            kept = &kept[remove.len()..];
        }
        while trailing && kept.ends_with(&remove) {
            kept = &kept[..kept.len() - remove.len()];
        }
    }
    Ok(like(&arguments[0], kept.to_vec()))
}

fn trim(_: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    trim_ends(arguments, true, true)
}

fn trim_left(_: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    trim_ends(arguments, true, false)
}

fn trim_right(_: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    trim_ends(arguments, false, true)
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

fn replace(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let (text, from, to) = (to_bytes(&arguments[0]), to_bytes(&arguments[1]), to_bytes(&arguments[2]));
    if from.is_empty() {
        return Ok(arguments[0].clone());
    }
    build_like(&arguments[0], call, context, |out| {
        let mut copied = 0;
        for at in memchr::memmem::find_iter(&text, &from) {
            out.push(&text[copied..at])?;
            out.push(&to)?;
            copied = at + from.len();
        }
        out.push(&text[copied..])
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

/// Character position (from 1) of `needle` in `text` from character `from` (from 1); 0 if absent.
fn position_of(
    call: &Call,
    text: &Value,
    needle: &Value,
    from: i64,
    context: &EvalContext<'_>,
) -> SqlResult<i64> {
    let (haystack, wanted) = (to_bytes(text), to_bytes(needle));
    let binary = matches!(text, Value::Bytes(_));
    let collation = if binary { Collation::Binary } else { call.collation };
    let Ok(before) = usize::try_from(from.saturating_sub(1)) else { return Ok(0) };
    let begin = place_of(text, &haystack, before);
    if begin == haystack.len() && before > count_of(text, &haystack) {
        return Ok(0);
    }
    let found = search::find(collation, &haystack[begin..], &wanted, &mut context.held())?;
    Ok(found.map_or(0, |at| from + count_of(text, &haystack[begin..begin + at]) as i64))
}

fn instr(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    Ok(Value::Int(position_of(call, &arguments[0], &arguments[1], 1, context)?))
}

fn locate(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let from = match arguments.get(2) {
        Some(from) => to_count(from, context)?,
        None => 1,
    };
    Ok(Value::Int(position_of(call, &arguments[1], &arguments[0], from, context)?))
}

fn pad(call: &Call, arguments: &[Value], context: &EvalContext<'_>, left: bool) -> SqlResult<Value> {
    null_guard!(arguments);
    let (bytes, filler) = (to_bytes(&arguments[0]), to_bytes(&arguments[2]));
    let Ok(wanted) = u64::try_from(to_count(&arguments[1], context)?) else { return Ok(Value::Null) };
    let count = count_of(&arguments[0], &bytes) as u64;
    if wanted <= count {
        let end = place_of(&arguments[0], &bytes, wanted as usize);
        return Ok(like(&arguments[0], bytes[..end].to_vec()));
    }
    build_like(&arguments[0], call, context, |out| {
        // As many bytes as so many characters can take.
        let bytes_each =
            if matches!(arguments[0], Value::Bytes(_)) { 1 } else { call.collation.max_char_bytes() };
        if wanted.saturating_mul(u64::from(bytes_each)) > context.settings.result_bytes_max {
            return Err(Stop::TooLong);
        }
        let filler_count = count_of(&arguments[2], &filler) as u64;
        if filler_count == 0 {
            return out.push(&bytes);
        }
        let missing = wanted - count;
        out.push(if left { b"" } else { &bytes })?;
        out.push_repeated(&filler, missing / filler_count)?;
        let rest = place_of(&arguments[2], &filler, (missing % filler_count) as usize);
        out.push(&filler[..rest])?;
        out.push(if left { &bytes } else { b"" })
    })
}

fn pad_left(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    pad(call, arguments, context, true)
}

fn pad_right(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    pad(call, arguments, context, false)
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

fn ascii(_: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    Ok(Value::Int(to_bytes(&arguments[0]).first().map_or(0, |byte| i64::from(*byte))))
}

fn ord(call: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    if let (Value::Str(text), set) = (&arguments[0], call.collation.set())
        && set.is_multi_byte()
    {
        let code = text.chars().next().and_then(|first| set.code_of(first));
        let number = |code: turnstile_values::charset::Code| {
            code.bytes().iter().fold(0, |sum, byte| sum << 8 | i64::from(*byte))
        };
        return Ok(Value::Int(code.map_or(0, number)));
    }
    let bytes = to_bytes(&arguments[0]);
    let length =
        if is_binary(arguments) { 1 } else { first_character(&bytes).map_or(0, |(_, length)| length) };
    let length = length.min(bytes.len());
    Ok(Value::Int(bytes[..length].iter().fold(0, |sum, byte| sum << 8 | i64::from(*byte))))
}

fn char_of(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    Ok(Value::bytes(char_bytes(arguments, context)?))
}

/// CHAR(... USING charset) where the character set's bytes have to be read: missing leading bytes are zeros,
/// what is no text is NULL.
fn char_decoded(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let mut bytes = char_bytes(arguments, context)?;
    let width = match call.name {
        "char using utf32" => 4,
        "char using utf16" => 2,
        _ => 1,
    };
    if !bytes.len().is_multiple_of(width) {
        let missing = width - bytes.len() % width;
        bytes.splice(0..0, std::iter::repeat_n(0, missing));
    }
    let text = match width {
        4 => {
            let code = |four: &[u8]| char::from_u32(u32::from_be_bytes([four[0], four[1], four[2], four[3]]));
            bytes.chunks_exact(4).map(code).collect()
        }
        2 => {
            let units: Vec<u16> =
                bytes.chunks_exact(2).map(|two| u16::from_be_bytes([two[0], two[1]])).collect();
            String::from_utf16(&units).ok()
        }
        _ => Some(bytes.iter().map(|byte| char::from(*byte)).collect()),
    };
    Ok(text.map_or(Value::Null, Value::from))
}

fn char_bytes(arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Vec<u8>> {
    let mut bytes = Vec::new();
    for argument in arguments.iter().filter(|argument| !argument.is_null()) {
        let code = to_i64(argument, context)? as u32;
        let kept = 4 - (code.leading_zeros() / 8).min(3) as usize;
        bytes.extend_from_slice(&code.to_be_bytes()[4 - kept..]);
    }
    Ok(bytes)
}

fn quote(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    if arguments[0].is_null() {
        return Ok(Value::text("NULL"));
    }
    if let Value::Bytes(bytes) = &arguments[0]
        && std::str::from_utf8(bytes).is_err()
    {
        return Err(SqlError::cannot_convert_string(
            shown_misfit(bytes),
            "binary",
            context.settings.connection_collation.set().name(),
        ));
    }
    build_text(call.name, context, |out| {
        out.push(b"'")?;
        for character in to_text(&arguments[0]).chars() {
            match character {
                '\'' | '\\' => out.push(&[b'\\', character as u8])?,
                '\0' => out.push(b"\\0")?,
                '\u{1A}' => out.push(b"\\Z")?,
                other => out.push_char(other)?,
            }
        }
        out.push(b"'")
    })
}

fn strcmp(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let bytes = arguments[0].stored_len() + arguments[1].stored_len();
    let compare = || compare_strings(&arguments[0], &arguments[1], call.collation);
    Ok(Value::Int(context.watched(bytes, compare)? as i64))
}

fn substring_index(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let (text, delimiter) = (to_bytes(&arguments[0]), to_bytes(&arguments[1]));
    let count = to_count(&arguments[2], context)?;
    if delimiter.is_empty() || count == 0 {
        return Ok(like(&arguments[0], Vec::new()));
    }
    let wanted = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX);
    // From the right, matches are those that a search from the left finds.
    let all = || memchr::memmem::find_iter(&text, &delimiter[..]);
    let kept = if count > 0 {
        all().nth(wanted - 1).map_or(&text[..], |at| &text[..at])
    } else {
        let found = all().count();
        let place = found.checked_sub(wanted).and_then(|nth| all().nth(nth));
        place.map_or(&text[..], |at| &text[at + delimiter.len()..])
    };
    Ok(like(&arguments[0], kept.to_vec()))
}

fn insert(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let bytes = to_bytes(&arguments[0]);
    let (position, replaced) = (to_count(&arguments[1], context)?, to_count(&arguments[2], context)?);
    let Ok(start @ 1..) = usize::try_from(position) else { return Ok(arguments[0].clone()) };
    let begin = place_of(&arguments[0], &bytes, start - 1);
    if begin == bytes.len() {
        return Ok(arguments[0].clone());
    }
    let length = usize::try_from(replaced).unwrap_or(usize::MAX);
    let end = begin + place_of(&arguments[0], &bytes[begin..], length);
    build_like(&arguments[0], call, context, |out| {
        out.push(&bytes[..begin])?;
        out.push(&to_bytes(&arguments[3]))?;
        out.push(&bytes[end..])
    })
}

fn soundex(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let code = |character: char| match character {
        'B' | 'F' | 'P' | 'V' => Some('1'),
        'C' | 'G' | 'J' | 'K' | 'Q' | 'S' | 'X' | 'Z' => Some('2'),
        'D' | 'T' => Some('3'),
        'L' => Some('4'),
        'M' | 'N' => Some('5'),
        'R' => Some('6'),
        _ => None,
    };
    let mut result = String::new();
    let mut last = None;
    let text = match &arguments[0] {
        // Of bytes only those count that are letters by themselves.
        Value::Bytes(bytes) => bytes
            .iter()
            .filter(|byte| byte.is_ascii())
            .map(|byte| char::from(*byte))
            .collect::<String>()
            .into(),
        other => to_text(other),
    };
    for piece in search::pieces(&text, context) {
        let upper = to_upper(piece?);
        for letter in upper.chars().filter(|character| character.is_alphabetic()) {
            let own = code(letter);
            if result.is_empty() {
                result.push(letter);
                last = own;
                continue;
            }
            if own.is_some() && own != last {
                result.extend(own);
            }
            if own.is_some() || !matches!(letter, 'H' | 'W') {
                last = own.or(last.filter(|_| !matches!(letter, 'A' | 'E' | 'I' | 'O' | 'U' | 'Y')));
            }
        }
    }
    if result.is_empty() {
        return Ok(Value::text(""));
    }
    for _ in result.chars().take(4).count()..4 {
        result.push('0');
    }
    Ok(Value::from(result))
}
