//! The order of documents as bytes: what compares, sorts and groups documents compares these.
//!
//! `null` comes before numbers, then strings, objects, arrays, `false` and `true`. Numbers compare by value, strings by their bytes,
//! arrays part by part. Of objects only equality means something.

use serde_json::{Number, Value as Json};

/// Ends a text or a list; begins nothing.
const END: u8 = 0;

/// Bytes that compare as documents do.
pub fn key(document: &Json) -> Vec<u8> {
    let mut key = Vec::new();
    append(document, &mut key);
    key
}

/// The same of a document's text, which is one.
pub fn key_of_text(text: &str) -> Vec<u8> {
    super::parse(text).map(|document| key(&document)).unwrap_or_default()
}

fn append(document: &Json, key: &mut Vec<u8>) {
    match document {
        Json::Null => key.push(1),
        Json::Number(number) => {
            key.push(2);
            append_number(number, key);
        }
        Json::String(text) => {
            key.push(3);
            append_text(text, key);
        }
        Json::Object(members) => {
            key.push(4);
            for (name, value) in super::in_order(members) {
                key.push(1);
                append_text(name, key);
                append(value, key);
            }
            key.push(END);
        }
        Json::Array(parts) => {
            key.push(5);
            parts.iter().for_each(|part| append(part, key));
            key.push(END);
        }
        Json::Bool(truth) => key.extend([6, u8::from(*truth)]),
    }
}

/// Zeros are followed by 255, so that the end comes before every longer text.
fn append_text(text: &str, key: &mut Vec<u8>) {
    for byte in text.bytes() {
        key.push(byte);
        if byte == 0 {
            key.push(u8::MAX);
        }
    }
    key.extend([0, END]);
}

/// The nearest double, then the whole number exactly: doubles are too coarse for large ones.
fn append_number(number: &Number, key: &mut Vec<u8>) {
    let double = number.as_f64().unwrap_or(0.0) + 0.0;
    let bits = double.to_bits();
    let ordered = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
    key.extend(ordered.to_be_bytes());
    let whole = match (number.as_i64(), number.as_u64()) {
        (Some(whole), _) => i128::from(whole),
        (None, Some(whole)) => i128::from(whole),
        // A double cannot lie between the whole numbers that are nearest to it: any place among them does that is the same each time.
        (None, None) => double as i128,
    };
    key.extend((whole as u128 ^ 1 << 127).to_be_bytes());
}
