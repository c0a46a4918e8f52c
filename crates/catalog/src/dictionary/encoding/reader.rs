//! Reads the bytes of a dictionary row; damage is an error, never a panic.

use std::sync::Arc;

use turnstile_values::collation::Collation;
use turnstile_values::datetime::{Date, DateTime, Time};
use turnstile_values::decimal::Decimal;
use turnstile_values::types::{BlobSize, ColumnType, IntWidth};
use turnstile_values::value::{EnumNames, EnumValue, Value};

use super::{COLLATION_EDITION, Damaged, Read};

/// Takes a row apart.
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Opens a row of this format.
    pub fn new(bytes: &'a [u8], format: u8) -> Read<Reader<'a>> {
        let mut reader = Reader(bytes);
        if reader.u8()? == format { Ok(reader) } else { Err(Damaged) }
    }
    /// Opens the bytes of a section, which have no format of their own.
    pub fn section(bytes: &'a [u8]) -> Reader<'a> {
        Reader(bytes)
    }
    /// Nothing is left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    fn take(&mut self, count: usize) -> Read<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(Damaged)?;
        self.0 = rest;
        Ok(taken)
    }
    /// One byte.
    pub fn u8(&mut self) -> Read<u8> {
        Ok(self.take(1)?[0])
    }
    /// One byte, 0 or 1.
    pub fn bool(&mut self) -> Read<bool> {
        Ok(self.u8()? != 0)
    }
    /// Four bytes.
    pub fn u32(&mut self) -> Read<u32> {
        let mut word = [0; 4];
        word.copy_from_slice(self.take(4)?);
        Ok(u32::from_le_bytes(word))
    }
    /// Eight bytes.
    pub fn u64(&mut self) -> Read<u64> {
        let mut word = [0; 8];
        word.copy_from_slice(self.take(8)?);
        Ok(u64::from_le_bytes(word))
    }
    /// A length and so many bytes.
    pub fn bytes(&mut self) -> Read<&'a [u8]> {
        let count = self.u32()? as usize;
        self.take(count)
    }
    /// A length and so many bytes of UTF-8.
    pub fn text(&mut self) -> Read<&'a str> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Damaged)
    }
    /// A count and so many entries.
    pub fn list<T>(&mut self, mut one: impl FnMut(&mut Reader<'a>) -> Read<T>) -> Read<Vec<T>> {
        let count = self.u32()?;
        (0..count).map(|_| one(self)).collect()
    }
    /// The id of a collation whose keys are in the order that it has now.
    pub fn collation(&mut self) -> Read<Collation> {
        let number = self.u32()?;
        let collation = Collation::by_id(number as u16).ok_or(Damaged)?;
        match number >> 16 {
            COLLATION_EDITION => Ok(collation),
            0 if !collation.pads_space() => Ok(collation),
            _ => Err(Damaged),
        }
    }

    /// A tag and what the type needs.
    pub fn column_type(&mut self) -> Read<ColumnType> {
        Ok(match self.u8()? {
            0 => ColumnType::Null,
            1 => self.int_type()?,
            2 => {
                let (precision, scale, (unsigned, zerofill)) = (self.u8()?, self.u8()?, self.sign()?);
                ColumnType::Decimal { precision, scale, unsigned, zerofill }
            }
            3 => {
                let ((unsigned, zerofill), digits) = (self.sign()?, self.digits()?);
                ColumnType::Float { unsigned, digits, zerofill }
            }
            4 => {
                let ((unsigned, zerofill), digits) = (self.sign()?, self.digits()?);
                ColumnType::Double { unsigned, digits, zerofill }
            }
            5 => ColumnType::Bit { bits: self.u8()? },
            6 => ColumnType::Char { length: self.u32()?, collation: self.collation()? },
            7 => ColumnType::Varchar { length: self.u32()?, collation: self.collation()? },
            8 => ColumnType::Text { size: self.blob_size()?, collation: self.collation()? },
            9 => ColumnType::Binary { length: self.u32()? },
            10 => ColumnType::Varbinary { length: self.u32()? },
            11 => ColumnType::Blob { size: self.blob_size()? },
            12 => ColumnType::Date,
            13 => ColumnType::Time { fsp: self.u8()? },
            14 => ColumnType::DateTime { fsp: self.u8()? },
            15 => ColumnType::Timestamp { fsp: self.u8()? },
            16 => ColumnType::Year,
            17 => {
                let (names, collation) = self.members(false)?;
                ColumnType::Enum { names, collation }
            }
            18 => {
                let (names, collation) = self.members(true)?;
                ColumnType::Set { names, collation }
            }
            19 => ColumnType::Json,
            _ => return Err(Damaged),
        })
    }

    fn int_type(&mut self) -> Read<ColumnType> {
        let width = match self.u8()? {
            1 => IntWidth::Tiny,
            2 => IntWidth::Small,
            3 => IntWidth::Medium,
            4 => IntWidth::Int,
            8 => IntWidth::Big,
            _ => return Err(Damaged),
        };
        let (unsigned, zerofill) = (self.bool()?, self.bool()?);
        let (shown, digits) = (self.bool()?, self.u8()?);
        Ok(ColumnType::Int { width, unsigned, display: shown.then_some(digits), zerofill })
    }

    /// Whether numbers are unsigned, and filled with zeros: see [`sign`].
    fn sign(&mut self) -> Read<(bool, bool)> {
        match self.u8()? {
            sign @ 0..=3 => Ok((sign & 1 > 0, sign & 2 > 0)),
            _ => Err(Damaged),
        }
    }

    fn digits(&mut self) -> Read<Option<(u8, u8)>> {
        let (given, m, d) = (self.bool()?, self.u8()?, self.u8()?);
        Ok(given.then_some((m, d)))
    }

    fn blob_size(&mut self) -> Read<BlobSize> {
        let sizes = [BlobSize::Tiny, BlobSize::Normal, BlobSize::Medium, BlobSize::Long];
        sizes.get(self.u32()? as usize).copied().ok_or(Damaged)
    }

    fn members(&mut self, multiple: bool) -> Read<(Arc<EnumNames>, Collation)> {
        let collation = self.collation()?;
        let names = self.list(|row| row.text().map(String::from))?;
        Ok((Arc::new(EnumNames { multiple, names }), collation))
    }

    /// A value of a column of this type.
    pub fn value(&mut self, kind: &ColumnType) -> Read<Value> {
        Ok(match self.u8()? {
            0 => Value::Null,
            1 => Value::Int(self.u64()? as i64),
            2 => Value::UInt(self.u64()?),
            3 => Value::Double(f64::from_bits(self.u64()?)),
            4 => {
                let (negative, scale) = (self.bool()?, self.u8()?);
                Value::Decimal(Decimal::from_magnitude_bytes(negative, scale, self.take(32)?))
            }
            5 => Value::text(self.text()?),
            6 => Value::bytes(self.bytes()?),
            7 => Value::Date(Date::from_packed(self.u64()? as u32)),
            8 => Value::Time(Time { us: self.u64()? as i64, fsp: self.u8()? }),
            9 => {
                let packed = self.u64()?;
                Value::DateTime(DateTime::from_packed(packed, self.u8()?))
            }
            11 => Value::Json(self.text()?.into()),
            10 => match kind {
                ColumnType::Enum { names, .. } | ColumnType::Set { names, .. } => {
                    Value::Enum(EnumValue { names: names.clone(), bits: self.u64()? })
                }
                _ => return Err(Damaged),
            },
            _ => return Err(Damaged),
        })
    }
}
