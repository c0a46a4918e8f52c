//! Rows read back as they were written, change in place, and grow columns.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use turnstile_values::collation::Collation;
use turnstile_values::datetime::{Date, DateTime, Time};
use turnstile_values::decimal::Decimal;
use turnstile_values::types::{BlobSize, IntWidth};
use turnstile_values::value::{EnumNames, EnumValue};

use super::*;

fn layout() -> (RowLayout, Vec<Value>) {
    let names = Arc::new(EnumNames { multiple: false, names: vec!["x".into(), "y".into()] });
    let columns = vec![
        (ColumnType::int(IntWidth::Tiny, false), Value::Int(-5)),
        (ColumnType::int(IntWidth::Medium, true), Value::UInt(0xFFFFFF)),
        (ColumnType::varchar(10), Value::text("häy")),
        (ColumnType::BIGINT, Value::Int(i64::MIN)),
        (ColumnType::Decimal { precision: 65, scale: 30, unsigned: false, zerofill: false }, {
            Value::Decimal(Decimal::parse(&format!("-{}.{}", "9".repeat(35), "1".repeat(30))).unwrap())
        }),
        (ColumnType::Blob { size: BlobSize::Normal }, Value::bytes(vec![0, 255, 1])),
        (
            ColumnType::Float { unsigned: false, digits: None, zerofill: false },
            Value::Double(f64::from(1.5f32)),
        ),
        (ColumnType::Date, Value::Date(Date::from_parts(9999, 12, 31))),
        (ColumnType::Time { fsp: 6 }, Value::Time(Time { us: -3_020_399_000_000, fsp: 6 })),
        (
            ColumnType::DateTime { fsp: 0 },
            Value::DateTime(DateTime::from_parts(Date::from_parts(2026, 1, 2), 3, 4, 5, 0, 0)),
        ),
        (
            ColumnType::Enum { names: Arc::clone(&names), collation: Collation::DEFAULT },
            Value::Enum(EnumValue { names, bits: 2 }),
        ),
        (
            ColumnType::Decimal { precision: 10, scale: 2, unsigned: false, zerofill: false },
            Value::Decimal(Decimal::parse("-99999999.99").unwrap()),
        ),
    ];
    let values = columns.iter().map(|(_, value)| value.clone()).collect();
    (RowLayout::new(columns.into_iter().map(|(kind, _)| (kind, Value::Null))), values)
}

#[test]
fn round_trip() {
    let (layout, values) = layout();
    let mut bytes = Vec::new();
    layout.encode(&values, &mut bytes);
    assert_eq!(RowView::new(&layout, &bytes).unwrap().values(), values);
    let nulls = vec![Value::Null; values.len()];
    let mut bytes = Vec::new();
    layout.encode(&nulls, &mut bytes);
    assert_eq!(RowView::new(&layout, &bytes).unwrap().values(), nulls);
}

#[test]
fn documents_keep_their_kinds_and_old_rows_stay_readable() {
    let layout = RowLayout::new([(ColumnType::Json, Value::Null), (ColumnType::varchar(9), Value::Null)]);
    let marked = Value::Json("\u{1}[\u{2}1.50, \u{4}\"2020-01-02\"]".into());
    // A text that begins with the byte 1 is marked in no other column.
    let values = vec![marked.clone(), Value::text("\u{1}a")];
    let mut bytes = Vec::new();
    layout.encode(&values, &mut bytes);
    assert_eq!(RowView::new(&layout, &bytes).unwrap().values(), values);
    assert_eq!(&*turnstile_values::value::to_text(&marked), "[1.50, \"2020-01-02\"]");
    // What rows held before there were marks.
    let values = vec![Value::text("{\"a\": 5000000000}"), Value::Null];
    let mut bytes = Vec::new();
    layout.encode(&values, &mut bytes);
    assert_eq!(RowView::new(&layout, &bytes).unwrap().values(), values);
}

#[test]
fn long_strings_use_wide_offsets() {
    let layout = RowLayout::new([
        (ColumnType::Blob { size: BlobSize::Long }, Value::Null),
        (ColumnType::INT, Value::Null),
    ]);
    let values = vec![Value::bytes(vec![7; 100_000]), Value::Int(3)];
    let mut bytes = Vec::new();
    layout.encode(&values, &mut bytes);
    assert_eq!(RowView::new(&layout, &bytes).unwrap().values(), values);
}

#[test]
fn changing_a_fixed_column_touches_only_its_bytes() {
    let (layout, mut values) = layout();
    let (mut old, mut new, mut rebuilt) = (Vec::new(), Vec::new(), Vec::new());
    layout.encode(&values, &mut old);
    layout.encode_changed(&old, &[(3, Value::Int(i64::MIN + 1))], &mut new).unwrap();
    assert_eq!(old.iter().zip(&new).filter(|(a, b)| a != b).count(), 1);
    layout.encode_changed(&old, &[(0, Value::Null), (2, Value::text("longer text"))], &mut rebuilt).unwrap();
    values[0] = Value::Null;
    values[2] = Value::text("longer text");
    assert_eq!(RowView::new(&layout, &rebuilt).unwrap().values(), values);
    let mut nulled = Vec::new();
    layout.encode_changed(&old, &[(3, Value::Null)], &mut nulled).unwrap();
    assert!(RowView::new(&layout, &nulled).unwrap().is_null(3));
}

#[test]
fn rows_written_before_a_column_was_added() {
    let old_layout = RowLayout::new([(ColumnType::INT, Value::Null), (ColumnType::varchar(5), Value::Null)]);
    let new_layout = RowLayout::new([
        (ColumnType::INT, Value::Null),
        (ColumnType::varchar(5), Value::Null),
        (ColumnType::INT, Value::Int(42)),
        (ColumnType::varchar(5), Value::text("new")),
    ]);
    let mut bytes = Vec::new();
    old_layout.encode(&[Value::Int(1), Value::text("a")], &mut bytes);
    let expected = vec![Value::Int(1), Value::text("a"), Value::Int(42), Value::text("new")];
    assert_eq!(RowView::new(&new_layout, &bytes).unwrap().values(), expected);
    let mut changed = Vec::new();
    new_layout.encode_changed(&bytes, &[(0, Value::Int(2))], &mut changed).unwrap();
    assert_eq!(RowView::new(&new_layout, &changed).unwrap().get(3), Value::text("new"));
}

#[test]
fn damaged_rows_are_refused() {
    let (layout, values) = layout();
    let mut bytes = Vec::new();
    layout.encode(&values, &mut bytes);
    for length in 0..bytes.len() {
        assert!(RowView::new(&layout, &bytes[..length]).is_err(), "length {length}");
    }
    bytes[0] = 9;
    assert!(RowView::new(&layout, &bytes).is_err());
}
