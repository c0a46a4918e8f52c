//! The order of documents as bytes: what compares, sorts and groups documents compares these.
//!
//! By kind first: `null`, numbers, strings, objects, arrays, truths, dates, times, moments, bytes. Numbers
//! compare by their exact values, a double that is no whole number by the shortest decimal that reads back as
//! it; strings by their bytes, arrays part by part. Objects compare by how many members they have, then
//! member by member.

use super::document::{Json, Kind, type_of_bytes};
use crate::datetime;
use crate::error::SqlResult;
use crate::memory::Held;

/// Ends a text or a list; begins nothing.
const END: u8 = 0;

/// Bytes that compare as documents do; they are charged while they grow.
pub fn key(document: &Json, held: &mut Held<'_>) -> SqlResult<Vec<u8>> {
    let mut key = Vec::new();
    append(document, &mut key, held)?;
    held.pass(key.len())?;
    Ok(key)
}

/// The longest key of a number, and more than what begins and ends a text.
const SCALAR_MAX_BYTES: usize = 128;

fn append(document: &Json, key: &mut Vec<u8>, held: &mut Held<'_>) -> SqlResult<()> {
    let length = match document {
        // Each byte may be a zero.
        Json::String(text) | Json::Opaque(_, text) => text.len() * 2,
        _ => 0,
    };
    held.reserve(key, length + SCALAR_MAX_BYTES)?;
    match document {
        Json::Null => key.push(1),
        Json::Int(number) => append_whole(i128::from(*number), key),
        Json::UInt(number) => append_whole(i128::from(*number), key),
        Json::Double(number) => append_double(*number, key),
        Json::Decimal(number) => append_plain_decimal(&number.to_string(), key),
        Json::String(text) => {
            key.push(3);
            append_text(text, key);
        }
        Json::Object(members) => {
            key.push(4);
            key.extend((members.len() as u64).to_be_bytes());
            for (name, value) in members.iter() {
                held.reserve(key, name.len() * 2 + SCALAR_MAX_BYTES)?;
                append_text(name, key);
                append(value, key, held)?;
            }
        }
        Json::Array(parts) => {
            key.push(5);
            parts.iter().try_for_each(|part| append(part, key, held))?;
            held.reserve(key, 1)?;
            key.push(END);
        }
        Json::Bool(truth) => key.extend([6, u8::from(*truth)]),
        Json::Opaque(kind, text) => append_opaque(*kind, text, key),
    }
    held.pass(size_of::<Json>())
}

fn append_opaque(kind: Kind, text: &str, key: &mut Vec<u8>) {
    match kind {
        Kind::Date => key.push(7),
        Kind::Time => {
            key.push(8);
            let us = datetime::parse_time(text.as_bytes()).map_or(0, |(time, _)| time.us);
            key.extend((us as u64 ^ 1 << 63).to_be_bytes());
            return;
        }
        Kind::DateTime | Kind::Timestamp => key.push(9),
        Kind::Bytes => {
            key.push(match type_of_bytes(text) {
                Some(16) => 11,
                Some(15 | 249..=254) => 12,
                _ => 10,
            });
            let bytes = super::bytes_of_opaque(text).unwrap_or_default();
            append_bytes(&bytes, key);
            return;
        }
    }
    append_text(text, key);
}

fn append_text(text: &str, key: &mut Vec<u8>) {
    append_bytes(text.as_bytes(), key);
}

/// Zeros are followed by 255, so that the end comes before every longer text.
fn append_bytes(bytes: &[u8], key: &mut Vec<u8>) {
    for byte in bytes {
        key.push(*byte);
        if *byte == 0 {
            key.push(u8::MAX);
        }
    }
    key.extend([0, END]);
}

fn append_whole(number: i128, key: &mut Vec<u8>) {
    append_plain_decimal(&number.to_string(), key);
}

fn append_double(number: f64, key: &mut Vec<u8>) {
    if number.fract() == 0.0 && number.abs() < 1e19 {
        return append_whole(number as i128, key);
    }
    let text = format!("{number:e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).collect();
    append_number(number < 0.0, exponent.parse::<i32>().unwrap_or(0) + 1, &digits, key);
}

/// `-12.340`
fn append_plain_decimal(text: &str, key: &mut Vec<u8>) {
    let magnitude = text.trim_start_matches('-');
    let (whole, fraction) = magnitude.split_once('.').unwrap_or((magnitude, ""));
    let whole = whole.trim_start_matches('0');
    let digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
    let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
    let point = whole.len() as i32 - zeros as i32;
    append_number(text.starts_with('-'), point, &digits[zeros..], key);
}

/// A number `0.DIGITS * 10^point` whose first digit is no zero; without digits it is 0.
fn append_number(negative: bool, point: i32, digits: &[u8], key: &mut Vec<u8>) {
    key.push(2);
    let used = digits.iter().rposition(|digit| *digit != b'0').map_or(0, |last| last + 1);
    if used == 0 {
        key.push(1);
        return;
    }
    key.push(if negative { 0 } else { 2 });
    let start = key.len();
    // Doubles have exponents of three digits, decimals of two.
    key.extend(((point + (1 << 14)) as u16).to_be_bytes());
    key.extend(&digits[..used]);
    key.push(END);
    if negative {
        key[start..].iter_mut().for_each(|byte| *byte = !*byte);
    }
}
