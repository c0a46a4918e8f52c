//! For fuzzing: rows and keys from a damaged page, decoded. Statement texts are in `turnstile_syntax::fuzz`.

use std::sync::Arc;

use crate::row_codec::{RowLayout, RowView};
use turnstile_values::collation::Collation;
use turnstile_values::key_codec::{KeyPart, after_prefix, decode_key, encode_key};
use turnstile_values::types::{BlobSize, ColumnType, IntWidth};
use turnstile_values::value::{EnumNames, Value, write_text};

/// One column of each type.
fn kinds() -> Vec<ColumnType> {
    let collation = Collation::by_name("utf8mb4_0900_ai_ci").unwrap_or(Collation::Binary);
    let int = |width, unsigned| ColumnType::Int { width, unsigned, display: None, zerofill: false };
    let names = |multiple| {
        let names = ["a", "b", "c"].map(String::from).to_vec();
        Arc::new(EnumNames { multiple, names })
    };
    vec![
        int(IntWidth::Tiny, false),
        int(IntWidth::Medium, false),
        int(IntWidth::Big, true),
        ColumnType::Decimal { precision: 65, scale: 30, unsigned: false, zerofill: false },
        ColumnType::Decimal { precision: 5, scale: 2, unsigned: false, zerofill: false },
        ColumnType::Float { unsigned: false, digits: None, zerofill: false },
        ColumnType::Double { unsigned: false, digits: Some((10, 2)), zerofill: false },
        ColumnType::Bit { bits: 13 },
        ColumnType::Char { length: 10, collation },
        ColumnType::Varbinary { length: 300 },
        ColumnType::Text { size: BlobSize::Normal, collation },
        ColumnType::Date,
        ColumnType::Time { fsp: 6 },
        ColumnType::DateTime { fsp: 3 },
        ColumnType::Timestamp { fsp: 0 },
        ColumnType::Year,
        ColumnType::Enum { names: names(false), collation },
        ColumnType::Set { names: names(true), collation },
        ColumnType::Json,
    ]
}

/// Reads `data` as a row: every column is read, shown as text and changed.
pub fn fuzz_row(data: &[u8]) {
    let layout = RowLayout::new(kinds().into_iter().map(|kind| (kind, Value::Null)));
    let Ok(view) = RowView::new(&layout, data) else { return };
    let mut text = Vec::new();
    let values = view.values();
    for (nth, value) in values.iter().enumerate() {
        write_text(value, layout.kind(nth), &mut text);
        let _ = (view.string_bytes(nth), view.is_null(nth));
    }
    let mut changed = Vec::new();
    if layout.encode_changed(data, &[(0, Value::Int(1)), (2, Value::Null)], &mut changed).is_ok() {
        let again = RowView::new(&layout, &changed).map(|row| row.get(0));
        assert_eq!(again, Ok(Value::Int(1)), "a changed row shows the change");
    }
}

/// Reads `data` as index keys: the first byte chooses the columns. What decodes must encode to the same
/// bytes, so that a covering read and the row agree.
pub fn fuzz_key(data: &[u8]) {
    let Some((&choice, key)) = data.split_first() else { return };
    let part = |kind| KeyPart { kind, prefix: None, descending: choice & 1 != 0, nullable: choice & 2 != 0 };
    let kinds = kinds();
    let first = usize::from(choice >> 2) % kinds.len();
    let parts: Vec<KeyPart> = kinds.into_iter().skip(first).take(3).map(part).collect();
    if let Some(values) = decode_key(&parts, key) {
        let mut encoded = Vec::new();
        encode_key(&parts, &values, &mut encoded);
        let mut text = Vec::new();
        for (value, part) in values.iter().zip(&parts) {
            write_text(value, &part.kind, &mut text);
        }
    }
    if let Some(next) = after_prefix(key) {
        assert!(next.as_slice() > key, "what follows a prefix is above it");
    }
    let text = Value::bytes(key);
    let mut weights = Vec::new();
    parts[0].append(&text, &mut weights);
}
