//! Index keys: bytes whose memcmp order is the order of the values.
//!
//! | type | bytes of a part |
//! |---|---|
//! | any nullable column | `0x00` for NULL, else `0x01` and the value |
//! | integers | big endian in the column's width, sign bit flipped |
//! | FLOAT, DOUBLE | IEEE bits, sign flipped, all bits flipped when negative |
//! | DECIMAL | magnitude in the column's width, top bit set; complemented when negative |
//! | DATE, DATETIME, TIMESTAMP (UTC), TIME | packed form, big endian, TIME with flipped sign |
//! | YEAR, BIT, ENUM, SET | unsigned, big endian |
//! | strings | collation weights, each `0x00` followed by `0xFF`, ended by `0x00 0x00` |
//!
//! A descending part is complemented. Parts follow one another without separators: every part ends where its
//! type says, so a key of the first parts is a byte prefix of the keys that begin with the same values.

mod search;
#[cfg(test)]
mod tests;

pub use search::{SearchValue, search_value};

use crate::collation::Collation;
use crate::datetime::{Date, DateTime, Time};
use crate::stored_width::{decimal_width, fixed_width, read_decimal, write_decimal};
use crate::types::ColumnType;
use crate::value::Value;
use smallvec::SmallVec;

/// A key that needs no memory of its own if it is as short as that of one integer.
pub type ShortKey = SmallVec<[u8; 16]>;

/// One column of an index.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyPart {
    /// The column's type.
    pub kind: ColumnType,
    /// Characters (bytes for binary strings) that count, for prefix indexes.
    pub prefix: Option<u32>,
    /// DESC.
    pub descending: bool,
    /// False for NOT NULL columns, which carry no NULL marker.
    pub nullable: bool,
}

impl KeyPart {
    /// An ascending part over the whole column.
    pub fn whole(kind: ColumnType, nullable: bool) -> KeyPart {
        KeyPart { kind, prefix: None, descending: false, nullable }
    }

    /// Appends a value (of the column's type) to a key. Returns false if it was NULL.
    pub fn append(&self, value: &Value, out: &mut Vec<u8>) -> bool {
        let start = out.len();
        let present = !value.is_null();
        if self.nullable {
            out.push(u8::from(present));
        }
        if present {
            append_value(&self.kind, self.prefix, value, out);
        }
        if self.descending {
            for byte in &mut out[start..] {
                *byte = !*byte;
            }
        }
        present
    }

    /// The key that is one integer of this part's column; None if the value is none.
    pub fn of_integer(&self, value: &Value) -> Option<ShortKey> {
        let width = key_width(&self.kind).unwrap_or(8).min(8);
        let bytes = match value {
            Value::Int(number) => (*number as u64 ^ sign_bit(width)).to_be_bytes(),
            Value::UInt(number) => number.to_be_bytes(),
            _ => return None,
        };
        let mut key = ShortKey::new();
        if self.nullable {
            key.push(1);
        }
        key.extend_from_slice(&bytes[8 - width..]);
        if self.descending {
            key.iter_mut().for_each(|byte| *byte = !*byte);
        }
        Some(key)
    }

    /// Appends what keys of texts begin with that LIKE finds by `text%`: perhaps nothing but that they are no
    /// NULL.
    pub fn append_front(&self, text: &[u8], out: &mut Vec<u8>) {
        let start = out.len();
        if self.nullable {
            out.push(1);
        }
        let collation = self.kind.collation().unwrap_or(Collation::Binary);
        let text = self.prefix.map_or(text, |count| leading(text, count as usize, collation));
        let mut front = Vec::new();
        collation.append_front(text, &mut front);
        append_escaped(&front, out);
        if self.descending {
            out[start..].iter_mut().for_each(|byte| *byte = !*byte);
        }
    }

    /// True if [`Self::take`] gives the value back: everything but strings, DESC included.
    pub fn is_decodable(&self) -> bool {
        fixed_width(&self.kind).is_some()
    }

    /// Reads this part from the front of a key and moves past it; `None` if the part is not decodable or the
    /// key too short.
    pub fn take(&self, key: &mut &[u8]) -> Option<Value> {
        let width = key_width(&self.kind)?;
        let flip = if self.descending { 0xFF } else { 0 };
        if self.nullable {
            let marker = *key.first()? ^ flip;
            *key = &key[1..];
            if marker == 0 {
                return Some(Value::Null);
            }
        }
        let mut bytes = [0; 32];
        let bytes = &mut bytes[..width];
        bytes.copy_from_slice(key.get(..width)?);
        bytes.iter_mut().for_each(|byte| *byte ^= flip);
        *key = &key[width..];
        Some(read_value(&self.kind, bytes))
    }
}

impl KeyPart {
    /// Moves past this part at the front of a key; false if the key is too short.
    pub fn skip(&self, key: &mut &[u8]) -> bool {
        let flip = if self.descending { 0xFF } else { 0 };
        if self.nullable {
            let Some((marker, rest)) = key.split_first() else { return false };
            *key = rest;
            if marker ^ flip == 0 {
                return true;
            }
        }
        let end = match key_width(&self.kind) {
            Some(width) => Some(width),
            // A zero is followed by 0xFF within a text, and by another zero at its end.
            None => {
                let mut at = 0;
                loop {
                    match key.get(at..at + 2) {
                        Some([zero, next]) if zero ^ flip == 0 && next ^ flip == 0 => break Some(at + 2),
                        Some([zero, _]) if zero ^ flip == 0 => at += 2,
                        Some(_) => at += 1,
                        None => break None,
                    }
                }
            }
        };
        let Some(rest) = end.and_then(|end| key.get(end..)) else { return false };
        *key = rest;
        true
    }
}

/// Appends all parts; returns false if any value was NULL.
pub fn encode_key<'v>(
    parts: &[KeyPart],
    values: impl IntoIterator<Item = &'v Value>,
    out: &mut Vec<u8>,
) -> bool {
    let mut complete = true;
    for (part, value) in parts.iter().zip(values) {
        complete &= part.append(value, out);
    }
    complete
}

/// Decodes the first parts of a key; `None` unless all of them are decodable.
pub fn decode_key(parts: &[KeyPart], mut key: &[u8]) -> Option<Vec<Value>> {
    parts.iter().map(|part| part.take(&mut key)).collect()
}

/// The smallest key above every key that starts with `prefix`; `None` if there is none (all bytes 0xFF).
pub fn after_prefix(prefix: &[u8]) -> Option<Vec<u8>> {
    let kept = prefix.iter().rposition(|byte| *byte != 0xFF)?;
    let mut key = prefix[..=kept].to_vec();
    key[kept] += 1;
    Some(key)
}

/// Key bytes of a fixed-width type.
fn key_width(kind: &ColumnType) -> Option<usize> {
    fixed_width(kind).map(usize::from)
}

fn append_big_endian(bits: u64, width: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(&bits.to_be_bytes()[8 - width..]);
}

/// The sign of an integer of this many bytes: turned over, signed numbers compare as bytes do.
fn sign_bit(width: usize) -> u64 {
    1 << (width.max(1) * 8 - 1)
}

fn append_value(kind: &ColumnType, prefix: Option<u32>, value: &Value, out: &mut Vec<u8>) {
    let width = key_width(kind).unwrap_or(8).min(8);
    let sign = sign_bit(width);
    match value {
        Value::Int(number) => append_big_endian(*number as u64 ^ sign, width, out),
        Value::UInt(number) => append_big_endian(*number, width, out),
        Value::Double(number) if matches!(kind, ColumnType::Float { .. }) => {
            let bits = (*number as f32 + 0.0).to_bits();
            let bits = if bits >> 31 == 1 { !bits } else { bits | 1 << 31 };
            out.extend_from_slice(&bits.to_be_bytes());
        }
        Value::Double(number) => {
            let bits = (*number + 0.0).to_bits();
            let bits = if bits >> 63 == 1 { !bits } else { bits | 1 << 63 };
            out.extend_from_slice(&bits.to_be_bytes());
        }
        Value::Decimal(number) => {
            let ColumnType::Decimal { precision, scale, .. } = kind else { return };
            let number = number.round_to(*scale);
            let start = out.len();
            out.resize(start + decimal_width(*precision), 0);
            write_decimal(&number.abs(), &mut out[start..]);
            out[start] |= 0x80;
            if number.is_negative() {
                out[start..].iter_mut().for_each(|byte| *byte = !*byte);
            }
        }
        Value::Date(date) => append_big_endian(u64::from(date.packed()), width, out),
        Value::DateTime(moment) => append_big_endian(moment.packed(), width, out),
        Value::Time(time) => append_big_endian(time.us as u64 ^ sign, width, out),
        Value::Enum(chosen) => append_big_endian(chosen.bits, width, out),
        Value::Str(text) => append_string(kind, prefix, text.as_bytes(), out),
        Value::Bytes(bytes) => append_string(kind, prefix, bytes, out),
        Value::Json(_) => append_string(kind, prefix, &crate::value::to_bytes(value), out),
        Value::Null => {}
    }
}

fn append_string(kind: &ColumnType, prefix: Option<u32>, bytes: &[u8], out: &mut Vec<u8>) {
    let collation = kind.collation().unwrap_or(Collation::Binary);
    let bytes = match prefix {
        Some(count) => leading(bytes, count as usize, collation),
        None => bytes,
    };
    let start = out.len();
    collation.append_weights(bytes, out);
    if out[start..].contains(&0) {
        let weights = out.split_off(start);
        append_escaped(&weights, out);
    }
    out.extend_from_slice(&[0, 0]);
}

/// Weights with what tells a zero from the end.
fn append_escaped(weights: &[u8], out: &mut Vec<u8>) {
    for byte in weights {
        out.push(*byte);
        if *byte == 0 {
            out.push(0xFF);
        }
    }
}

/// The first `count` characters (bytes for `binary`).
fn leading(bytes: &[u8], count: usize, collation: Collation) -> &[u8] {
    if collation == Collation::Binary {
        return &bytes[..bytes.len().min(count)];
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => text.char_indices().nth(count).map_or(bytes, |(end, _)| &bytes[..end]),
        Err(_) => &bytes[..bytes.len().min(count)],
    }
}

fn read_value(kind: &ColumnType, bytes: &[u8]) -> Value {
    if let ColumnType::Decimal { scale, .. } = kind {
        let mut bytes = bytes.to_vec();
        let negative = bytes[0] & 0x80 == 0;
        if negative {
            bytes.iter_mut().for_each(|byte| *byte = !*byte);
        }
        bytes[0] &= 0x7F;
        let number = read_decimal(&bytes, *scale);
        return Value::Decimal(if negative { number.negate() } else { number });
    }
    let mut word = [0; 8];
    word[8 - bytes.len()..].copy_from_slice(bytes);
    let bits = u64::from_be_bytes(word);
    let shift = 64 - bytes.len() as u32 * 8;
    let signed = || ((bits ^ 1 << (bytes.len() * 8 - 1)) << shift) as i64 >> shift;
    match kind {
        ColumnType::Int { unsigned: false, .. } => Value::Int(signed()),
        ColumnType::Int { .. } | ColumnType::Bit { .. } | ColumnType::Year => Value::UInt(bits),
        ColumnType::Float { .. } => {
            let bits = bits as u32;
            let bits = if bits >> 31 == 1 { bits ^ 1 << 31 } else { !bits };
            Value::Double(f64::from(f32::from_bits(bits)))
        }
        ColumnType::Double { .. } => {
            Value::Double(f64::from_bits(if bits >> 63 == 1 { bits ^ 1 << 63 } else { !bits }))
        }
        ColumnType::Date => Value::Date(Date::from_packed(bits as u32)),
        ColumnType::DateTime { fsp } | ColumnType::Timestamp { fsp } => {
            Value::DateTime(DateTime::from_packed(bits, *fsp))
        }
        ColumnType::Time { fsp } => Value::Time(Time { us: signed(), fsp: *fsp }),
        ColumnType::Enum { names, .. } | ColumnType::Set { names, .. } => {
            Value::Enum(crate::value::EnumValue { names: names.clone(), bits })
        }
        _ => Value::Null,
    }
}
