//! Encodings, digests, UUIDs and IPv4 addresses.

use std::fmt::Write;

use ring::digest as sha;

use super::result_bytes::{Grown, ResultBytes, build_text};
use super::written::refused;
use super::{Entry, VOLATILE, digest, entry, text_of, unsigned};
use crate::expr::{Call, EvalContext, Expr};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::value::{Value, to_bool, to_bytes, to_i64, to_text};

pub(super) static FUNCTIONS: &[Entry] = &[
    entry("hex", (1, 1), hex, super::hex_type, 0),
    entry("unhex", (1, 1), unhex, super::unhex_type, 0),
    entry("to_base64", (1, 1), to_base64, super::base64_type, 0),
    entry("from_base64", (1, 1), from_base64, super::from_base64_type, 0),
    entry("md5", (1, 1), md5, text_of::<32>, 0),
    entry("sha", (1, 1), sha1, text_of::<40>, 0),
    entry("sha1", (1, 1), sha1, text_of::<40>, 0),
    entry("sha2", (2, 2), sha2, super::sha2_type, 0),
    entry("crc32", (1, 1), crc32, super::unsigned_short, 0),
    entry("inet_aton", (1, 1), inet_aton, unsigned, 0),
    entry("inet_ntoa", (1, 1), inet_ntoa, text_of::<31>, 0),
    entry("uuid", (0, 0), uuid, text_of::<36>, VOLATILE),
    entry("uuid_to_bin", (1, 2), uuid_to_bin, super::bytes_of::<16>, 0),
    entry("bin_to_uuid", (1, 2), bin_to_uuid, text_of::<36>, 0),
    entry("is_uuid", (1, 1), is_uuid, super::truth, 0),
];

const HEX: &[u8; 16] = b"0123456789ABCDEF";

pub(super) fn hex_text(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        let written = write!(text, "{byte:02x}");
        debug_assert!(written.is_ok());
    }
    text
}

fn hex(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let number = match &arguments[0] {
        Value::Double(number) => Some(whole_of(*number, call, context)?),
        decimal @ Value::Decimal(_) => Some(to_i64(decimal, context)?),
        Value::Int(number) => Some(*number),
        Value::UInt(number) => Some(*number as i64),
        _ => None,
    };
    if let Some(number) = number {
        return Ok(Value::from(format!("{number:X}")));
    }
    build_text(call.name, context, |out| {
        let bytes = to_bytes(&arguments[0]);
        out.reserve(bytes.len().saturating_mul(2))?;
        bytes
            .iter()
            .try_for_each(|byte| out.push(&[HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]))
    })
}

/// A double as a whole number. One that no BIGINT holds is cut if it is kept or written as it is, and refused
/// if it is computed.
fn whole_of(number: f64, call: &Call, context: &EvalContext<'_>) -> SqlResult<i64> {
    const BEYOND: f64 = 9_223_372_036_854_775_808.0;
    if (-BEYOND..BEYOND).contains(&number) {
        return Ok(number.round_ties_even() as i64);
    }
    match &call.arguments[0] {
        Expr::Column(_) => {
            context.warn(SqlError::truncated_wrong_value("INTEGER", to_text(&Value::Double(number))))?;
        }
        Expr::Literal(_) => {}
        _ => {
            let source = call.sources.as_ref().and_then(|sources| sources.first());
            let shown = source.map(|source| source.text(context)).unwrap_or_default();
            return Err(SqlError::value_out_of_range("BIGINT", shown));
        }
    }
    Ok(number as i64)
}

fn hex_bytes(text: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).map(|digit| digit as u8);
    let (first, pairs) = text.split_at(text.len() % 2);
    let mut bytes: Vec<u8> = first.iter().map(digit).collect::<Option<_>>()?;
    for pair in pairs.chunks_exact(2) {
        bytes.push(digit(&pair[0])? << 4 | digit(&pair[1])?);
    }
    Some(bytes)
}

fn unhex(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    match hex_bytes(&to_bytes(&arguments[0])) {
        Some(bytes) => Ok(Value::bytes(bytes)),
        None => refused(call, "string", 0, &arguments[0], context),
    }
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn to_base64(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let bytes = to_bytes(&arguments[0]);
    build_text(call.name, context, |out| {
        for (count, group) in bytes.chunks(3).enumerate() {
            out.push(if count > 0 && count.is_multiple_of(19) { b"\n" } else { b"" })?;
            out.push(&base64_digits(group))?;
        }
        Ok(())
    })
}

/// Four digits for three bytes or fewer.
fn base64_digits(group: &[u8]) -> [u8; 4] {
    let bits = group.iter().fold(0u32, |sum, byte| sum << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
    let mut digits = [b'='; 4];
    for (place, digit) in digits.iter_mut().enumerate().take(group.len() + 1) {
        *digit = BASE64[(bits >> (18 - 6 * place) & 63) as usize];
    }
    digits
}

/// Appends bytes in base64, all in one line.
pub(super) fn base64_line(bytes: &[u8], out: &mut ResultBytes<'_>) -> Grown {
    bytes.chunks(3).try_for_each(|group| out.push(&base64_digits(group)))
}

fn from_base64(_: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let text: Vec<u8> =
        to_bytes(&arguments[0]).iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    if !text.len().is_multiple_of(4) {
        return Ok(Value::Null);
    }
    let mut bytes = Vec::new();
    let mut ended = false;
    for group in text.chunks_exact(4) {
        let padding = group.iter().rev().take_while(|byte| **byte == b'=').count();
        if ended || padding > 2 {
            return Ok(Value::Null);
        }
        ended = padding > 0;
        let mut bits = 0u32;
        for byte in &group[..4 - padding.min(2)] {
            let Some(digit) = BASE64.iter().position(|known| known == byte) else { return Ok(Value::Null) };
            bits = bits << 6 | digit as u32;
        }
        bits <<= 6 * padding.min(2);
        bytes.extend_from_slice(&bits.to_be_bytes()[1..4 - padding.min(2)]);
    }
    Ok(Value::bytes(bytes))
}

fn md5(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let sum = digest::md5(&to_bytes(&arguments[0]), &mut |bytes| context.work(bytes))?;
    Ok(Value::from(hex_text(&sum)))
}

/// Bytes digested between two looks for KILL.
const PIECE_BYTES: usize = 1 << 20;

/// A digest by `ring`, piece by piece.
fn digested(algorithm: &'static sha::Algorithm, bytes: &[u8], context: &EvalContext<'_>) -> SqlResult<Value> {
    let mut sum = sha::Context::new(algorithm);
    for piece in bytes.chunks(PIECE_BYTES) {
        context.work(piece.len())?;
        sum.update(piece);
    }
    Ok(Value::from(hex_text(sum.finish().as_ref())))
}

fn sha1(_: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    digested(&sha::SHA1_FOR_LEGACY_USE_ONLY, &to_bytes(&arguments[0]), context)
}

fn sha2(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let bits = if arguments[1].is_null() { -1 } else { to_i64(&arguments[1], context)? };
    let algorithm = match bits {
        0 | 256 => &sha::SHA256,
        384 => &sha::SHA384,
        512 => &sha::SHA512,
        224 => &sha::SHA256,
        _ => {
            let constant = matches!(call.arguments[1], Expr::Literal(_));
            if !constant {
                null_guard!(arguments);
            }
            context.note(SqlError::wrong_native_parameters(call.name));
            return Ok(Value::Null);
        }
    };
    null_guard!(arguments);
    if bits == 224 {
        let sum = digest::sha224(&to_bytes(&arguments[0]), &mut |bytes| context.work(bytes))?;
        return Ok(Value::from(hex_text(&sum)));
    }
    digested(algorithm, &to_bytes(&arguments[0]), context)
}

fn crc32(_: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    Ok(Value::UInt(u64::from(digest::crc32(&to_bytes(&arguments[0])))))
}

fn inet_aton(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let text = to_text(&arguments[0]);
    // A number that is left out is zero, but for the last one.
    let number = |part: &str| match part {
        "" => Some(0),
        digits => digits
            .bytes()
            .all(|byte| byte.is_ascii_digit())
            .then(|| digits.parse::<u8>().ok())?
            .map(u64::from),
    };
    let parts: Option<Vec<u64>> = text.split('.').map(number).collect();
    let ends_in_digit = text.ends_with(|last: char| last.is_ascii_digit());
    let Some(parts) = parts.filter(|parts| parts.len() <= 4 && ends_in_digit) else {
        return refused(call, "string", 0, &arguments[0], context);
    };
    // a.b is a.0.0.b, a.b.c is a.b.0.c.
    let (last, front) = parts.split_last().map_or((0, &[][..]), |(last, front)| (*last, front));
    let number = front.iter().enumerate().fold(0, |sum, (place, part)| sum | part << (24 - 8 * place));
    Ok(Value::UInt(number | last))
}

fn inet_ntoa(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    let Ok(number) = u32::try_from(to_i64(&arguments[0], context)?) else {
        return refused(call, "integer", 0, &arguments[0], context);
    };
    Ok(Value::from(std::net::Ipv4Addr::from(number).to_string()))
}

fn uuid_text(bytes: &[u8; 16]) -> String {
    let text = hex_text(bytes);
    format!("{}-{}-{}-{}-{}", &text[..8], &text[8..12], &text[12..16], &text[16..20], &text[20..])
}

/// A version 1 UUID: time, then a clock sequence and node drawn from the session's generator.
fn uuid(_: &Call, _: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    // 100 ns units since 1582-10-15.
    let time = (since.as_nanos() / 100) as u64 + 0x01B2_1DD2_1381_4000;
    let random = (context.session.random() * 281_474_976_710_656.0) as u64;
    let sequence = (context.session.random() * 16_384.0) as u16;
    let mut bytes = [0; 16];
    bytes[..4].copy_from_slice(&(time as u32).to_be_bytes());
    bytes[4..6].copy_from_slice(&((time >> 32) as u16).to_be_bytes());
    bytes[6..8].copy_from_slice(&((time >> 48) as u16 & 0x0FFF | 0x1000).to_be_bytes());
    bytes[8..10].copy_from_slice(&(sequence | 0x8000).to_be_bytes());
    bytes[10..].copy_from_slice(&(random | 1 << 40).to_be_bytes()[2..]);
    Ok(Value::from(uuid_text(&bytes)))
}

fn parse_uuid(text: &[u8]) -> Option<[u8; 16]> {
    let text = match text.len() {
        38 => text.strip_prefix(b"{")?.strip_suffix(b"}")?,
        _ => text,
    };
    let digits: Vec<u8> = match text.len() {
        32 => text.to_vec(),
        36 if [8, 13, 18, 23].iter().all(|at| text[*at] == b'-') => {
            text.iter().copied().filter(|byte| *byte != b'-').collect()
        }
        _ => return None,
    };
    hex_bytes(&digits)?.try_into().ok()
}

fn uuid_to_bin(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments[..1]);
    let text = to_bytes(&arguments[0]);
    let Some(mut bytes) = parse_uuid(&text) else {
        return Err(SqlError::wrong_value_for_type("string", String::from_utf8_lossy(&text), call.name));
    };
    if arguments.get(1).map_or(Ok(None), |swap| to_bool(swap, context))? == Some(true) {
        bytes = [&bytes[6..8], &bytes[4..6], &bytes[..4], &bytes[8..]].concat().try_into().unwrap_or(bytes);
    }
    Ok(Value::bytes(bytes))
}

fn bin_to_uuid(call: &Call, arguments: &[Value], context: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments[..1]);
    let bytes = to_bytes(&arguments[0]);
    let Ok(mut bytes) = <[u8; 16]>::try_from(&bytes[..]) else {
        return Err(SqlError::wrong_value_for_type("string", String::from_utf8_lossy(&bytes), call.name));
    };
    if arguments.get(1).map_or(Ok(None), |swap| to_bool(swap, context))? == Some(true) {
        bytes = [&bytes[4..8], &bytes[2..4], &bytes[..2], &bytes[8..]].concat().try_into().unwrap_or(bytes);
    }
    Ok(Value::from(uuid_text(&bytes)))
}

fn is_uuid(_: &Call, arguments: &[Value], _: &EvalContext<'_>) -> SqlResult<Value> {
    null_guard!(arguments);
    Ok(Value::boolean(parse_uuid(&to_bytes(&arguments[0])).is_some()))
}
