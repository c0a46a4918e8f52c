//! Bytes of dictionary rows: little-endian numbers, strings with a `u32` length before them, lists with a
//! `u32` count. Every row begins with the number of its format; a reader refuses one it does not know.

mod reader;

use turnstile_values::collation::Collation;
use turnstile_values::types::ColumnType;
use turnstile_values::value::{EnumNames, Value};

pub use reader::Reader;

/// The bytes do not make sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Damaged;

/// Changes when keys of a collation are written in another order than before. In edition 0 the PAD SPACE
/// collations had no mark behind spaces and some had the order of others; its keys of the other collations
/// are the same.
const COLLATION_EDITION: u32 = 1;

type Read<T> = Result<T, Damaged>;

/// Builds a row.
#[derive(Default)]
pub struct Writer(pub Vec<u8>);

/// How numbers are signed, in a byte: 1 they are unsigned, 2 they are filled with zeros.
fn sign(unsigned: bool, zerofill: bool) -> u8 {
    u8::from(unsigned) | u8::from(zerofill) << 1
}

impl Writer {
    /// A row of this format.
    pub fn new(format: u8) -> Writer {
        Writer(vec![format])
    }
    /// One byte.
    pub fn u8(&mut self, number: u8) {
        self.0.push(number);
    }
    /// One byte, 0 or 1.
    pub fn bool(&mut self, flag: bool) {
        self.0.push(u8::from(flag));
    }
    /// Four bytes.
    pub fn u32(&mut self, number: u32) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }
    /// Eight bytes.
    pub fn u64(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }
    /// A length and so many bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.u32(bytes.len() as u32);
        self.0.extend_from_slice(bytes);
    }
    /// A length and so many bytes of UTF-8.
    pub fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }
    /// A count and so many entries.
    pub fn list<T>(&mut self, list: &[T], mut one: impl FnMut(&mut Writer, &T)) {
        self.u32(list.len() as u32);
        list.iter().for_each(|item| one(self, item));
    }
    /// The id of a collation and the edition of its order.
    pub fn collation(&mut self, collation: Collation) {
        self.u32(u32::from(collation.id()) | COLLATION_EDITION << 16);
    }

    /// A tag and what the type needs.
    pub fn column_type(&mut self, kind: &ColumnType) {
        let digits = |digits: &Option<(u8, u8)>| digits.map_or([0, 0, 0], |(m, d)| [1, m, d]);
        match kind {
            ColumnType::Null => self.u8(0),
            ColumnType::Int { width, unsigned, display, zerofill } => {
                self.0.extend([1, width.bytes() as u8, u8::from(*unsigned), u8::from(*zerofill)]);
                self.0.extend(display.map_or([0, 0], |width| [1, width]));
            }
            ColumnType::Decimal { precision, scale, unsigned, zerofill } => {
                self.0.extend([2, *precision, *scale, sign(*unsigned, *zerofill)]);
            }
            ColumnType::Float { unsigned, digits: d, zerofill } => {
                self.0.extend([3, sign(*unsigned, *zerofill)]);
                self.0.extend(digits(d));
            }
            ColumnType::Double { unsigned, digits: d, zerofill } => {
                self.0.extend([4, sign(*unsigned, *zerofill)]);
                self.0.extend(digits(d));
            }
            ColumnType::Bit { bits } => self.0.extend([5, *bits]),
            ColumnType::Char { length, collation } => self.characters(6, *length, *collation),
            ColumnType::Varchar { length, collation } => self.characters(7, *length, *collation),
            ColumnType::Text { size, collation } => self.characters(8, *size as u32, *collation),
            ColumnType::Binary { length } => self.sized(9, *length),
            ColumnType::Varbinary { length } => self.sized(10, *length),
            ColumnType::Blob { size } => self.sized(11, *size as u32),
            ColumnType::Date => self.u8(12),
            ColumnType::Time { fsp } => self.0.extend([13, *fsp]),
            ColumnType::DateTime { fsp } => self.0.extend([14, *fsp]),
            ColumnType::Timestamp { fsp } => self.0.extend([15, *fsp]),
            ColumnType::Year => self.u8(16),
            ColumnType::Enum { names, collation } => self.members(17, names, *collation),
            ColumnType::Set { names, collation } => self.members(18, names, *collation),
            ColumnType::Json => self.u8(19),
        }
    }

    fn sized(&mut self, tag: u8, size: u32) {
        self.u8(tag);
        self.u32(size);
    }

    fn characters(&mut self, tag: u8, size: u32, collation: Collation) {
        self.sized(tag, size);
        self.collation(collation);
    }

    fn members(&mut self, tag: u8, names: &EnumNames, collation: Collation) {
        self.u8(tag);
        self.collation(collation);
        self.list(&names.names, |row, name| row.text(name));
    }

    /// A value of a column of a known type.
    pub fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.u8(0),
            Value::Int(number) => self.number(1, *number as u64),
            Value::UInt(number) => self.number(2, *number),
            Value::Double(number) => self.number(3, number.to_bits()),
            Value::Decimal(number) => {
                self.0.extend([4, u8::from(number.is_negative()), number.scale()]);
                self.0.extend(number.magnitude_bytes());
            }
            Value::Str(text) => {
                self.u8(5);
                self.text(text);
            }
            Value::Bytes(bytes) => {
                self.u8(6);
                self.bytes(bytes);
            }
            Value::Date(date) => self.number(7, u64::from(date.packed())),
            Value::Time(time) => {
                self.number(8, time.us as u64);
                self.u8(time.fsp);
            }
            Value::DateTime(moment) => {
                self.number(9, moment.packed());
                self.u8(moment.fsp);
            }
            Value::Enum(chosen) => self.number(10, chosen.bits),
            Value::Json(marked) => {
                self.u8(11);
                self.text(marked);
            }
        }
    }

    fn number(&mut self, tag: u8, number: u64) {
        self.u8(tag);
        self.u64(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnstile_values::types::IntWidth;

    #[test]
    fn numbers_come_back_with_their_sign_and_their_zeros() {
        for (unsigned, zerofill) in [(false, false), (true, false), (true, true)] {
            let kinds = [
                ColumnType::Decimal { precision: 8, scale: 3, unsigned, zerofill },
                ColumnType::Float { unsigned, digits: Some((8, 2)), zerofill },
                ColumnType::Double { unsigned, digits: None, zerofill },
                ColumnType::Int { width: IntWidth::Int, unsigned, display: Some(6), zerofill },
            ];
            for kind in kinds {
                let mut row = Writer::new(1);
                row.column_type(&kind);
                let read = Reader::new(&row.0, 1).and_then(|mut row| row.column_type());
                assert_eq!(read, Ok(kind));
            }
        }
    }
}
