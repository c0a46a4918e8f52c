//! One integer column in rows that have all columns of their table: read and written where it lies, without
//! opening the row.

use turnstile_values::types::ColumnType;

use super::fixed::{read_signed, write_low};
use super::{HEADER_BYTES, Place, RowLayout, VERSION, WIDE_OFFSETS};

/// Where an integer column lies in a row of all columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IntegerPlace {
    /// Columns of such a row.
    columns: u16,
    null_byte: usize,
    null_mask: u8,
    at: usize,
    width: usize,
    /// Least and greatest value of the column, as far as 64 bits with a sign hold them.
    range: (i64, i64),
    unsigned: bool,
}

impl RowLayout {
    /// The place of a column; None if it is no integer.
    pub fn integer_place(&self, column: usize) -> Option<IntegerPlace> {
        let definition = self.columns.get(column)?;
        let (ColumnType::Int { width: size, unsigned, .. }, Place::Fixed { offset, width }) =
            (&definition.kind, definition.place)
        else {
            return None;
        };
        let range = match unsigned {
            true => (0, i64::try_from(size.unsigned_max()).unwrap_or(i64::MAX)),
            false => size.signed_range(),
        };
        Some(IntegerPlace {
            columns: u16::try_from(self.columns.len()).ok()?,
            null_byte: HEADER_BYTES + column / 8,
            null_mask: 1 << (column % 8),
            at: HEADER_BYTES + self.columns.len().div_ceil(8) + offset as usize,
            width: usize::from(width),
            range,
            unsigned: *unsigned,
        })
    }
}

impl IntegerPlace {
    /// The column's value. None, and the row is to be opened: it is NULL, has not all columns, is no row, or
    /// holds a number beyond 64 bits with a sign.
    #[inline]
    pub fn read(&self, row: &[u8]) -> Option<i64> {
        let [version, low, high, ..] = *row else { return None };
        let whole = version & !WIDE_OFFSETS == VERSION && u16::from_le_bytes([low, high]) == self.columns;
        if !whole || row.get(self.null_byte)? & self.null_mask != 0 {
            return None;
        }
        let bytes = row.get(self.at..self.at + self.width)?;
        if !self.unsigned {
            return Some(read_signed(bytes));
        }
        let mut word = [0; 8];
        word[..self.width].copy_from_slice(bytes);
        i64::try_from(u64::from_le_bytes(word)).ok()
    }

    /// Whether the column can hold the number.
    #[inline]
    pub fn holds(&self, number: i64) -> bool {
        (self.range.0..=self.range.1).contains(&number)
    }

    /// Puts a number that the column can hold into a row that [`IntegerPlace::read`] could read.
    #[inline]
    pub fn write(&self, row: &mut [u8], number: i64) {
        debug_assert!(self.holds(number));
        if let Some(bytes) = row.get_mut(self.at..self.at + self.width) {
            write_low(number as u64, bytes);
        }
    }
}
