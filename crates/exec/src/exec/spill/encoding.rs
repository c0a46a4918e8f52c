//! Rows as bytes in a temporary file: each value exactly as it is in memory, its text, scale and digits
//! included. What is read back is looked at before it is believed: bytes that no row was written as are an
//! error, never a panic.
//!
//! ```text
//!   row     count of values, values
//!   value   tag, then of:  Int, Time            zigzag number
//!                          UInt, Date, DateTime number
//!                          Double               8 bytes
//!                          Decimal              scale, length and sign, digits
//!                          Str, Bytes, Json     length, bytes
//!                          Enum                 number of its names in the file's list, bits
//!           Time and DateTime end with their digits behind the second
//!   number  7 bits a byte, least first; the top bit says that there are more
//! ```

use std::sync::Arc;

use turnstile_values::datetime::{Date, DateTime, Time};
use turnstile_values::decimal::Decimal;
use turnstile_values::value::{EnumNames, EnumValue, Value};

const NULL: u8 = 0;
const INT: u8 = 1;
const UINT: u8 = 2;
const DOUBLE: u8 = 3;
const DECIMAL: u8 = 4;
const STR: u8 = 5;
const BYTES: u8 = 6;
const DATE: u8 = 7;
const TIME: u8 = 8;
const DATE_TIME: u8 = 9;
const ENUM: u8 = 10;
const JSON: u8 = 11;

/// Of the byte with a decimal's length: below zero.
const NEGATIVE: u8 = 0x80;
/// Most bytes of a decimal's digits.
const DIGIT_BYTES: usize = 32;
/// Most digits behind a second.
const FSP_MAX: u8 = 6;

/// The names of ENUM and SET types that values of a file have.
#[derive(Debug, Default)]
pub(super) struct NameList(Vec<Arc<EnumNames>>);

impl NameList {
    fn number(&mut self, names: &Arc<EnumNames>) -> usize {
        let known = self.0.iter().position(|one| Arc::ptr_eq(one, names));
        known.or_else(|| self.0.iter().position(|one| one == names)).unwrap_or_else(|| {
            self.0.push(names.clone());
            self.0.len() - 1
        })
    }
}

/// Appends a row.
pub(super) fn write_row(row: &[Value], names: &mut NameList, out: &mut Vec<u8>) {
    write_number(row.len() as u64, out);
    row.iter().for_each(|value| write_value(value, names, out));
}

fn write_value(value: &Value, names: &mut NameList, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.push(NULL),
        Value::Int(number) => {
            out.push(INT);
            write_number(zigzag(*number), out);
        }
        Value::UInt(number) => {
            out.push(UINT);
            write_number(*number, out);
        }
        Value::Double(number) => {
            out.push(DOUBLE);
            out.extend_from_slice(&number.to_bits().to_le_bytes());
        }
        Value::Decimal(number) => {
            let digits = number.magnitude_bytes();
            let zeros = digits.iter().take_while(|byte| **byte == 0).count();
            let sign = if number.is_negative() { NEGATIVE } else { 0 };
            out.extend_from_slice(&[DECIMAL, number.scale(), (DIGIT_BYTES - zeros) as u8 | sign]);
            out.extend_from_slice(&digits[zeros..]);
        }
        Value::Str(text) => write_bytes(STR, text.as_bytes(), out),
        Value::Bytes(bytes) => write_bytes(BYTES, bytes, out),
        Value::Json(marked) => write_bytes(JSON, marked.as_bytes(), out),
        Value::Date(date) => {
            out.push(DATE);
            write_number(u64::from(date.packed()), out);
        }
        Value::Time(time) => {
            out.push(TIME);
            write_number(zigzag(time.us), out);
            out.push(time.fsp);
        }
        Value::DateTime(moment) => {
            out.push(DATE_TIME);
            write_number(moment.packed(), out);
            out.push(moment.fsp);
        }
        Value::Enum(chosen) => {
            out.push(ENUM);
            write_number(names.number(&chosen.names) as u64, out);
            write_number(chosen.bits, out);
        }
    }
}

fn write_bytes(tag: u8, bytes: &[u8], out: &mut Vec<u8>) {
    out.push(tag);
    write_number(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

fn zigzag(number: i64) -> u64 {
    (number << 1 ^ number >> 63) as u64
}

fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

/// Appends a number.
pub(super) fn write_number(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes a row off the front; None if there is none that could have been written.
pub(super) fn read_row(from: &mut &[u8], names: &NameList) -> Option<Vec<Value>> {
    let count = usize::try_from(read_number(from)?).ok()?;
    // A value has a byte at least.
    if count > from.len() {
        return None;
    }
    (0..count).map(|_| read_value(from, names)).collect()
}

fn read_value(from: &mut &[u8], names: &NameList) -> Option<Value> {
    Some(match read_byte(from)? {
        NULL => Value::Null,
        INT => Value::Int(unzigzag(read_number(from)?)),
        UINT => Value::UInt(read_number(from)?),
        DOUBLE => {
            let (bits, rest) = from.split_first_chunk::<8>()?;
            *from = rest;
            Value::Double(f64::from_bits(u64::from_le_bytes(*bits)))
        }
        DECIMAL => {
            let (scale, length) = (read_byte(from)?, read_byte(from)?);
            let digits = take(from, usize::from(length & !NEGATIVE))?;
            if digits.len() > DIGIT_BYTES {
                return None;
            }
            Value::Decimal(Decimal::from_magnitude_bytes(length & NEGATIVE != 0, scale, digits))
        }
        STR => Value::Str(read_text(from)?.into()),
        BYTES => Value::Bytes(read_bytes(from)?.into()),
        JSON => Value::Json(read_text(from)?.into()),
        DATE => Value::Date(Date::from_packed(u32::try_from(read_number(from)?).ok()?)),
        TIME => Value::Time(Time { us: unzigzag(read_number(from)?), fsp: read_fsp(from)? }),
        DATE_TIME => {
            let packed = read_number(from)?;
            Value::DateTime(DateTime::from_packed(packed, read_fsp(from)?))
        }
        ENUM => {
            let names = names.0.get(usize::try_from(read_number(from)?).ok()?)?.clone();
            Value::Enum(EnumValue { names, bits: read_number(from)? })
        }
        _ => return None,
    })
}

fn read_fsp(from: &mut &[u8]) -> Option<u8> {
    read_byte(from).filter(|fsp| *fsp <= FSP_MAX)
}

fn read_byte(from: &mut &[u8]) -> Option<u8> {
    let (byte, rest) = from.split_first()?;
    *from = rest;
    Some(*byte)
}

fn take<'b>(from: &mut &'b [u8], count: usize) -> Option<&'b [u8]> {
    let (taken, rest) = from.split_at_checked(count)?;
    *from = rest;
    Some(taken)
}

fn read_bytes<'b>(from: &mut &'b [u8]) -> Option<&'b [u8]> {
    let length = usize::try_from(read_number(from)?).ok()?;
    take(from, length)
}

fn read_text<'b>(from: &mut &'b [u8]) -> Option<&'b str> {
    std::str::from_utf8(read_bytes(from)?).ok()
}

/// Takes a number off the front.
pub(super) fn read_number(from: &mut &[u8]) -> Option<u64> {
    let (mut number, mut shift) = (0u64, 0);
    loop {
        let byte = read_byte(from)?;
        let bits = u64::from(byte & 0x7F);
        if shift == 63 && bits > 1 {
            return None;
        }
        number |= bits << shift;
        if byte < 0x80 {
            return Some(number);
        }
        shift += 7;
        if shift > 63 {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]
    use turnstile_sys::rng::Rng;

    use super::*;

    fn text(rng: &mut Rng) -> String {
        let length = if rng.below(50) == 0 { 300 } else { rng.below(9) };
        (0..length).map(|_| ['a', ' ', 'ß', '日', '\0', '🦀', 'Z'][rng.below(7) as usize]).collect()
    }

    fn value(rng: &mut Rng, names: &[Arc<EnumNames>]) -> Value {
        let wide = rng.next_u64() >> rng.below(64);
        match rng.below(13) {
            0 => Value::Null,
            1 => Value::Int(wide as i64),
            2 => Value::Int((wide as i64).wrapping_neg()),
            3 => Value::UInt(wide),
            4 => Value::Double(f64::from_bits(rng.next_u64())),
            5 => {
                let digits: Vec<u8> = (0..rng.below(31)).map(|_| rng.next_u64() as u8).collect();
                let negative = rng.below(2) == 0;
                Value::Decimal(Decimal::from_magnitude_bytes(negative, rng.below(31) as u8, &digits))
            }
            6 => Value::Str(text(rng).into()),
            7 => Value::Bytes((0..rng.below(9)).map(|_| rng.next_u64() as u8).collect()),
            8 => Value::Date(Date::from_packed(wide as u32)),
            9 => Value::Time(Time { us: wide as i64, fsp: rng.below(7) as u8 }),
            10 => Value::DateTime(DateTime::from_packed(wide, rng.below(7) as u8)),
            11 => Value::Json(text(rng).into()),
            _ => Value::Enum(EnumValue {
                names: names[rng.below(names.len() as u64) as usize].clone(),
                bits: wide,
            }),
        }
    }

    /// Digits behind the second do not count when moments are compared, here they do.
    fn exactly(value: &Value) -> String {
        match value {
            Value::Double(number) => format!("{:x}", number.to_bits()),
            Value::Decimal(number) => format!("{number} {}", number.scale()),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn rows_come_back_as_they_were() {
        let seed = 0x5711;
        let mut rng = Rng::new(seed);
        let names: Vec<Arc<EnumNames>> = (0..3)
            .map(|nth| Arc::new(EnumNames { multiple: nth == 1, names: vec![format!("n{nth}"), "x".into()] }))
            .collect();
        for round in 0..5000 {
            let mut list = NameList::default();
            let rows: Vec<Vec<Value>> = (0..rng.below(4))
                .map(|_| (0..rng.below(8)).map(|_| value(&mut rng, &names)).collect())
                .collect();
            let mut bytes = Vec::new();
            rows.iter().for_each(|row| write_row(row, &mut list, &mut bytes));
            let mut from = bytes.as_slice();
            for row in &rows {
                let read = read_row(&mut from, &list).unwrap();
                let show = |row: &[Value]| row.iter().map(exactly).collect::<Vec<_>>();
                assert_eq!(show(&read), show(row), "seed {seed}, round {round}");
            }
            assert!(from.is_empty() && list.0.len() <= names.len());
        }
    }

    #[test]
    fn what_was_never_written_is_no_row() {
        let mut rng = Rng::new(0x5712);
        let names = [Arc::new(EnumNames { multiple: false, names: vec!["a".into()] })];
        let mut whole = 0;
        for _ in 0..20_000 {
            let mut list = NameList::default();
            let row: Vec<Value> = (0..rng.below(6)).map(|_| value(&mut rng, &names)).collect();
            let mut bytes = Vec::new();
            write_row(&row, &mut list, &mut bytes);
            let cut = rng.below(bytes.len() as u64) as usize;
            assert!(read_row(&mut &bytes[..cut], &list).is_none(), "{row:?} cut at {cut}");
            let at = rng.below(bytes.len() as u64) as usize;
            bytes[at] = rng.next_u64() as u8;
            whole += usize::from(read_row(&mut bytes.as_slice(), &list).is_some());
        }
        assert!(whole > 0, "some bytes may be any");
        for number in [0, 1, 127, 128, u64::MAX, 1 << 63] {
            let mut bytes = Vec::new();
            write_number(number, &mut bytes);
            assert_eq!(read_number(&mut bytes.as_slice()), Some(number));
        }
        assert_eq!(read_number(&mut [0xFF; 10].as_slice()), None);
        assert_eq!(read_number(&mut [0x80; 11].as_slice()), None);
    }
}
