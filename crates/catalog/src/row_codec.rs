//! The bytes of a row. One row is one payload of the clustered index:
//!
//! ```text
//! [version u8][column count u16][null bitmap][fixed part][end offsets of the variable columns][variable
//! bytes]
//! ```
//! - version: 1, plus bit 7 when end offsets are `u32` instead of `u16`.
//! - column count: columns the row was written with. A table that grew later fills the missing ones with the
//!   default in its layout, so adding a column at the end rewrites nothing.
//! - fixed part: numbers, dates, ENUM and SET, little endian, always present (zeros under NULL), so that a
//!   change of one such column touches its bytes alone.
//! - variable columns are strings; an end offset counts from the start of the variable bytes. A document is
//!   its normal form, or marked text (`json/write.rs`), which begins with the byte 1, as no plain document
//!   does.
//!
//! Reading one column costs no more than finding its place; integers and dates allocate nothing.

mod fixed;
mod integer;

use std::fmt;
use std::sync::Arc;

use turnstile_expr::expr::Row;
use turnstile_values::stored_width::fixed_width;
use turnstile_values::types::ColumnType;
use turnstile_values::value::Value;

use fixed::{read_fixed, write_fixed};
pub use integer::IntegerPlace;

const VERSION: u8 = 1;

const WIDE_OFFSETS: u8 = 0x80;

const HEADER_BYTES: usize = 3;

/// The bytes are not a row of this layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CorruptRow(pub &'static str);

impl fmt::Display for CorruptRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "corrupt row: {}", self.0)
    }
}

impl std::error::Error for CorruptRow {}

/// Where a column lives in every row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Fixed { offset: u32, width: u8 },
    Variable { nth: u16 },
}

#[derive(Debug, Clone)]
struct LayoutColumn {
    kind: ColumnType,
    place: Place,
    default: Value,
}

/// The layout of a table's rows, computed once per table definition.
#[derive(Debug, Clone)]
pub struct RowLayout {
    columns: Vec<LayoutColumn>,
    /// Bytes of the fixed part for rows written with the first `n` columns.
    fixed_bytes: Vec<u32>,
    /// Variable columns among the first `n`.
    variable_count: Vec<u16>,
}

impl RowLayout {
    /// From the column types in order, each with the value that rows written before the column existed show.
    pub fn new(columns: impl IntoIterator<Item = (ColumnType, Value)>) -> RowLayout {
        let mut layout = RowLayout { columns: Vec::new(), fixed_bytes: vec![0], variable_count: vec![0] };
        let (mut fixed, mut variable) = (0u32, 0u16);
        for (kind, default) in columns {
            let place = match fixed_width(&kind) {
                Some(width) => {
                    fixed += u32::from(width);
                    Place::Fixed { offset: fixed - u32::from(width), width }
                }
                None => {
                    variable += 1;
                    Place::Variable { nth: variable - 1 }
                }
            };
            layout.columns.push(LayoutColumn { kind, place, default });
            layout.fixed_bytes.push(fixed);
            layout.variable_count.push(variable);
        }
        layout
    }

    /// Number of columns.
    pub fn column_count(&self) -> usize {
        self.columns.len()
    }

    /// Type of a column.
    pub fn kind(&self, column: usize) -> &ColumnType {
        &self.columns[column].kind
    }

    /// Appends the row of these values (one per column, already converted by
    /// [`turnstile_values::value::store`]) to `out`.
    pub fn encode(&self, values: &[Value], out: &mut Vec<u8>) {
        debug_assert_eq!(values.len(), self.columns.len());
        let count = self.columns.len();
        let start = out.len();
        let variable_bytes: usize = self
            .columns
            .iter()
            .zip(values)
            .filter(|(column, _)| matches!(column.place, Place::Variable { .. }))
            .map(|(_, value)| value.stored_len())
            .sum();
        let wide = variable_bytes > usize::from(u16::MAX);
        out.push(if wide { VERSION | WIDE_OFFSETS } else { VERSION });
        out.extend_from_slice(&(count as u16).to_le_bytes());
        let bitmap = out.len();
        let fixed = bitmap + count.div_ceil(8);
        let offsets = fixed + self.fixed_bytes[count] as usize;
        let offset_bytes = if wide { 4 } else { 2 };
        let data = offsets + usize::from(self.variable_count[count]) * offset_bytes;
        out.resize(data, 0);
        for (position, (column, value)) in self.columns.iter().zip(values).enumerate() {
            if value.is_null() {
                out[bitmap + position / 8] |= 1 << (position % 8);
            }
            match column.place {
                Place::Fixed { offset, width } => {
                    let at = fixed + offset as usize;
                    write_fixed(&column.kind, value, &mut out[at..at + usize::from(width)]);
                }
                Place::Variable { nth } => {
                    out.extend_from_slice(value.stored_bytes().unwrap_or(&[]));
                    let end = (out.len() - data) as u32;
                    let at = offsets + usize::from(nth) * offset_bytes;
                    out[at..at + offset_bytes].copy_from_slice(&end.to_le_bytes()[..offset_bytes]);
                }
            }
        }
        debug_assert!(out.len() > start);
    }

    /// Appends to `out` the row `old` with some columns changed (position, new value). Copies and patches
    /// when only fixed columns change, rebuilds otherwise.
    pub fn encode_changed(
        &self,
        old: &[u8],
        changes: &[(usize, Value)],
        out: &mut Vec<u8>,
    ) -> Result<(), CorruptRow> {
        let view = RowView::new(self, old)?;
        let patchable = view.column_count == self.columns.len()
            && changes.iter().all(|(column, _)| matches!(self.columns[*column].place, Place::Fixed { .. }));
        if !patchable {
            let mut values: Vec<Value> = (0..self.columns.len()).map(|column| view.get(column)).collect();
            for (column, value) in changes {
                values[*column] = value.clone();
            }
            self.encode(&values, out);
            return Ok(());
        }
        let start = out.len();
        out.extend_from_slice(old);
        for (position, value) in changes {
            let column = &self.columns[*position];
            let bit = 1 << (position % 8);
            let byte = &mut out[start + HEADER_BYTES + position / 8];
            *byte = if value.is_null() { *byte | bit } else { *byte & !bit };
            if let Place::Fixed { offset, width } = column.place {
                let at = start + view.fixed_start() + offset as usize;
                write_fixed(&column.kind, value, &mut out[at..at + usize::from(width)]);
            }
        }
        Ok(())
    }
}

/// A row being read in place.
#[derive(Debug, Clone, Copy)]
pub struct RowView<'a> {
    layout: &'a RowLayout,
    bytes: &'a [u8],
    column_count: usize,
    wide: bool,
    data: usize,
}

impl<'a> RowView<'a> {
    /// Opens a row; checks version and lengths, not every column.
    pub fn new(layout: &'a RowLayout, bytes: &'a [u8]) -> Result<RowView<'a>, CorruptRow> {
        let header = bytes.get(..HEADER_BYTES).ok_or(CorruptRow("shorter than its header"))?;
        if header[0] & !WIDE_OFFSETS != VERSION {
            return Err(CorruptRow("unknown version"));
        }
        let column_count = usize::from(u16::from_le_bytes([header[1], header[2]]));
        if column_count > layout.columns.len() {
            return Err(CorruptRow("more columns than the table"));
        }
        let wide = header[0] & WIDE_OFFSETS != 0;
        let variable = usize::from(layout.variable_count[column_count]);
        let data = HEADER_BYTES
            + column_count.div_ceil(8)
            + layout.fixed_bytes[column_count] as usize
            + variable * if wide { 4 } else { 2 };
        let view = RowView { layout, bytes, column_count, wide, data };
        if bytes.len() < data || (variable > 0 && data + view.end_offset(variable - 1) > bytes.len()) {
            return Err(CorruptRow("shorter than its columns"));
        }
        Ok(view)
    }

    fn fixed_start(&self) -> usize {
        HEADER_BYTES + self.column_count.div_ceil(8)
    }

    fn end_offset(&self, nth: usize) -> usize {
        let table = self.fixed_start() + self.layout.fixed_bytes[self.column_count] as usize;
        let width = if self.wide { 4 } else { 2 };
        let mut word = [0; 4];
        word[..width].copy_from_slice(&self.bytes[table + nth * width..table + (nth + 1) * width]);
        u32::from_le_bytes(word) as usize
    }

    /// The encoded row.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// True if the column is NULL.
    pub fn is_null(&self, column: usize) -> bool {
        if column >= self.column_count {
            return self.layout.columns.get(column).is_none_or(|column| column.default.is_null());
        }
        self.bytes[HEADER_BYTES + column / 8] >> (column % 8) & 1 == 1
    }

    /// Bytes of a string column; `None` for NULL and for columns that are not strings.
    pub fn string_bytes(&self, column: usize) -> Option<&'a [u8]> {
        if self.is_null(column) {
            return None;
        }
        if column >= self.column_count {
            return self.layout.columns[column].default.stored_bytes();
        }
        match self.layout.columns[column].place {
            Place::Variable { nth } => {
                let nth = usize::from(nth);
                let start = if nth == 0 { 0 } else { self.end_offset(nth - 1) };
                self.bytes.get(self.data + start..self.data + self.end_offset(nth))
            }
            Place::Fixed { .. } => None,
        }
    }

    /// Value of a column; NULL for a position the table does not have.
    pub fn get(&self, column: usize) -> Value {
        let Some(definition) = self.layout.columns.get(column) else { return Value::Null };
        if column >= self.column_count {
            return definition.default.clone();
        }
        if self.is_null(column) {
            return Value::Null;
        }
        match definition.place {
            Place::Fixed { offset, width } => {
                let at = self.fixed_start() + offset as usize;
                read_fixed(&definition.kind, &self.bytes[at..at + usize::from(width)])
            }
            Place::Variable { .. } => {
                let bytes = self.string_bytes(column).unwrap_or(&[]);
                if definition.kind.is_binary_string() {
                    return Value::Bytes(Arc::from(bytes));
                }
                match std::str::from_utf8(bytes) {
                    Ok(text) if is_marked(&definition.kind, text) => Value::Json(Arc::from(text)),
                    Ok(text) => Value::Str(Arc::from(text)),
                    Err(_) => Value::Bytes(Arc::from(bytes)),
                }
            }
        }
    }

    /// Columns of the table, whether this row was written with all of them or not.
    pub fn layout_columns(&self) -> usize {
        self.layout.columns.len()
    }

    /// The column is a TIMESTAMP, stored in UTC.
    pub fn is_timestamp(&self, column: usize) -> bool {
        matches!(self.layout.columns.get(column).map(|one| &one.kind), Some(ColumnType::Timestamp { .. }))
    }

    /// All values in order.
    pub fn values(&self) -> Vec<Value> {
        (0..self.layout.columns.len()).map(|column| self.get(column)).collect()
    }
}

impl Row for RowView<'_> {
    fn value(&self, position: usize) -> Value {
        self.get(position)
    }
}

/// Whether a document was stored as marked text.
fn is_marked(kind: &ColumnType, text: &str) -> bool {
    text.as_bytes().first() == Some(&turnstile_values::json::write::MARKED) && *kind == ColumnType::Json
}

#[cfg(test)]
mod tests;
