//! How many bytes the values of a type take in rows and keys, and the bytes of a DECIMAL there.

use crate::decimal::Decimal;
use crate::types::ColumnType;

/// Bytes a DECIMAL of this precision takes: sign bit and magnitude.
pub fn decimal_width(precision: u8) -> usize {
    // log2(10) = 3.3219281; one bit for the sign.
    (usize::from(precision) * 33_220 / 10_000 + 2).div_ceil(8)
}

/// Bytes of a fixed-width type; `None` for strings.
pub fn fixed_width(kind: &ColumnType) -> Option<u8> {
    Some(match kind {
        ColumnType::Null => 0,
        ColumnType::Int { width, .. } => width.bytes() as u8,
        ColumnType::Decimal { precision, .. } => decimal_width(*precision) as u8,
        ColumnType::Float { .. } => 4,
        ColumnType::Double { .. } | ColumnType::DateTime { .. } | ColumnType::Timestamp { .. } => 8,
        ColumnType::Time { .. } => 6,
        ColumnType::Bit { bits } => bits.div_ceil(8),
        ColumnType::Date => 3,
        ColumnType::Year => 2,
        ColumnType::Enum { names, .. } => {
            if names.names.len() < 256 {
                1
            } else {
                2
            }
        }
        ColumnType::Set { names, .. } => match names.names.len().div_ceil(8) {
            bytes @ 0..=4 => bytes.max(1) as u8,
            _ => 8,
        },
        ColumnType::Char { .. }
        | ColumnType::Varchar { .. }
        | ColumnType::Text { .. }
        | ColumnType::Binary { .. }
        | ColumnType::Varbinary { .. }
        | ColumnType::Blob { .. }
        | ColumnType::Json => return None,
    })
}

/// Big endian magnitude with the sign in the top bit.
pub fn write_decimal(number: &Decimal, out: &mut [u8]) {
    let magnitude = number.magnitude_bytes();
    let width = out.len();
    out.copy_from_slice(&magnitude[32 - width..]);
    if number.is_negative() {
        out[0] |= 0x80;
    }
}

/// A number of `scale` digits behind the point from what [`write_decimal`] wrote.
pub fn read_decimal(bytes: &[u8], scale: u8) -> Decimal {
    let mut magnitude = [0; 32];
    let magnitude = &mut magnitude[..bytes.len()];
    magnitude.copy_from_slice(bytes);
    let negative = magnitude[0] & 0x80 != 0;
    magnitude[0] &= 0x7F;
    Decimal::from_magnitude_bytes(negative, scale, magnitude)
}
