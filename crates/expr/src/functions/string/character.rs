//! Functions of single characters and their codes, and those that write or compare texts character by
//! character.

use turnstile_values::collation::{first_character, to_upper};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::value::{Value, compare_strings, shown_misfit, to_bytes, to_i64, to_text};

use super::super::result_bytes::build_text;
use super::super::search;
use super::is_binary;
use crate::expr::{Call, EvalContext};

pub(super) fn ascii(_: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    Ok(Value::Int(to_bytes(&arguments[0]).first().map_or(0, |byte| i64::from(*byte))))
}

pub(super) fn ord(call: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
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

pub(super) fn char_of(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    Ok(Value::bytes(char_bytes(arguments, context)?))
}

/// CHAR(... USING charset) where the character set's bytes have to be read: missing leading bytes are zeros,
/// what is no text is NULL.
pub(super) fn char_decoded(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
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

pub(super) fn quote(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
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

pub(super) fn strcmp(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let bytes = arguments[0].stored_len() + arguments[1].stored_len();
    let compare = || compare_strings(&arguments[0], &arguments[1], call.collation);
    Ok(Value::Int(context.watched(bytes, compare)? as i64))
}

pub(super) fn soundex(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
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
