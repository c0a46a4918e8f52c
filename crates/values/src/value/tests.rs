//! Storing values into columns, and the text forms of numbers.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use std::sync::Arc;

use super::*;
use crate::collation::Collation;
use crate::context::{EvalContext, EvalSettings, NoSession, SqlMode, Warnings};
use crate::datetime::DateTime;
use crate::types::{BlobSize, ColumnType, IntWidth};

fn stored(value: Value, kind: &ColumnType, strict: bool, sql_mode: SqlMode) -> String {
    let warnings = Warnings::new();
    let settings = EvalSettings { sql_mode, ..EvalSettings::default() };
    let eval = EvalContext { settings, parameters: &[], session: &NoSession, warnings: &warnings };
    let context = StoreContext { column: "c", row: 1, nullable: false, strict, eval: &eval };
    match store(&value, kind, &context) {
        Err(error) => format!("ERROR {}", error.code),
        Ok(value) => {
            let mut out = Vec::new();
            write_text(&value, kind, &mut out);
            let text = String::from_utf8_lossy(&out).into_owned();
            match warnings.list().first() {
                Some(warning) => format!("{text} #{}", warning.error.code),
                None => text,
            }
        }
    }
}

#[test]
fn strict_and_lenient_stores() {
    let tiny = ColumnType::int(IntWidth::Tiny, false);
    let utiny = ColumnType::int(IntWidth::Tiny, true);
    let money = ColumnType::Decimal { precision: 5, scale: 2, unsigned: false, zerofill: false };
    let name = ColumnType::varchar(3);
    let fixed = ColumnType::Char { length: 3, collation: Collation::DEFAULT };
    let text = |text: &str| Value::text(text);
    let cases: Vec<(Value, &ColumnType, &str, &str)> = vec![
        (Value::Int(127), &tiny, "127", "127"),
        (Value::Int(128), &tiny, "ERROR 1264", "127 #1264"),
        (Value::Int(-1), &utiny, "ERROR 1264", "0 #1264"),
        (text("12"), &tiny, "12", "12"),
        (text("12x"), &tiny, "ERROR 1265", "12 #1265"),
        (text("x"), &tiny, "ERROR 1366", "0 #1366"),
        (text("1.5"), &tiny, "2", "2"),
        (Value::Double(2.5), &tiny, "2", "2"),
        (Value::Null, &tiny, "ERROR 1048", "0 #1048"),
        (text("1.005"), &money, "1.01 #1265", "1.01 #1265"),
        (text("1000"), &money, "ERROR 1264", "999.99 #1264"),
        (text("abc"), &name, "abc", "abc"),
        (text("abcd"), &name, "ERROR 1406", "abc #1265"),
        (text("abc  "), &name, "abc #1265", "abc #1265"),
        (text("äöü"), &name, "äöü", "äöü"),
        (text("ab "), &fixed, "ab", "ab"),
        (text("abc   "), &fixed, "abc", "abc"),
        (Value::Int(12345), &name, "ERROR 1406", "123 #1265"),
        (Value::bytes(vec![0xFF]), &name, "ERROR 1366", " #1366"),
        (text("2026-01-31"), &ColumnType::Date, "2026-01-31", "2026-01-31"),
        (text("2026-02-30"), &ColumnType::Date, "ERROR 1292", "0000-00-00 #1264"),
        (text("0000-00-00"), &ColumnType::Date, "ERROR 1292", "0000-00-00 #1264"),
        (
            text("2026-01-31 23:59:59.6"),
            &ColumnType::DateTime { fsp: 0 },
            "2026-02-01 00:00:00",
            "2026-02-01 00:00:00",
        ),
        (text("2040-01-01"), &ColumnType::Timestamp { fsp: 0 }, "ERROR 1292", "0000-00-00 00:00:00 #1264"),
        (text("10:11:12.345"), &ColumnType::Time { fsp: 2 }, "10:11:12.35", "10:11:12.35"),
        (text("839:00:00"), &ColumnType::Time { fsp: 0 }, "ERROR 1292", "838:59:59 #1264"),
        (Value::Int(70), &ColumnType::Year, "1970", "1970"),
        (Value::Int(1800), &ColumnType::Year, "ERROR 1264", "0000 #1264"),
        (Value::Int(9), &ColumnType::Bit { bits: 3 }, "ERROR 1406", "\u{7} #1406"),
        (text("abcd"), &ColumnType::Varbinary { length: 2 }, "ERROR 1406", "ab #1265"),
    ];
    for (value, kind, strict, lenient) in cases {
        assert_eq!(stored(value.clone(), kind, true, SqlMode::DEFAULT), strict, "strict {value:?} {kind}");
        assert_eq!(stored(value.clone(), kind, false, SqlMode::DEFAULT), lenient, "lenient {value:?} {kind}");
    }
    let zero = stored(Value::text("2026-00-00"), &ColumnType::Date, true, SqlMode::STRICT_TRANS_TABLES);
    assert_eq!(zero, "2026-00-00");
    let long = "x".repeat(256);
    assert_eq!(
        stored(
            Value::text(long),
            &ColumnType::Text { size: BlobSize::Tiny, collation: Collation::DEFAULT },
            true,
            SqlMode::DEFAULT
        ),
        "ERROR 1406"
    );
}

#[test]
fn enums_and_sets() {
    let names = |multiple, names: &[&str]| {
        Arc::new(EnumNames { multiple, names: names.iter().map(|name| (*name).into()).collect() })
    };
    let size = ColumnType::Enum { names: names(false, &["small", "large"]), collation: Collation::DEFAULT };
    let flags = ColumnType::Set { names: names(true, &["a", "b", "c"]), collation: Collation::DEFAULT };
    assert_eq!(stored(Value::text("LARGE"), &size, true, SqlMode::DEFAULT), "large");
    assert_eq!(stored(Value::Int(1), &size, true, SqlMode::DEFAULT), "small");
    assert_eq!(stored(Value::text("huge"), &size, true, SqlMode::DEFAULT), "ERROR 1265");
    assert_eq!(stored(Value::text("c,a"), &flags, true, SqlMode::DEFAULT), "a,c");
    assert_eq!(stored(Value::Int(8), &flags, true, SqlMode::DEFAULT), "ERROR 1265");
    assert_eq!(size.to_string(), "enum('small','large')");
}

#[test]
fn doubles_print_as_mysql_prints_them() {
    let cases = [
        (0.1 + 0.2, "0.30000000000000004"),
        (1e15, "1e15"),
        (123456789012345.0, "123456789012345"),
        (1e-15, "0.000000000000001"),
        (1.5e-16, "1.5e-16"),
        (-2.5, "-2.5"),
        (f64::MAX, "1.7976931348623157e308"),
    ];
    for (number, expected) in cases {
        assert_eq!(format_double(number), expected);
    }
    assert_eq!(format_float(1.1), "1.1");
    assert_eq!(format_float(16_777_216.0), "16777200");
}

#[test]
fn what_is_written_digit_by_digit_is_what_formatting_gives() {
    let text = |value: &Value, kind: &ColumnType| {
        let mut out = b">".to_vec();
        write_text(value, kind, &mut out);
        String::from_utf8(out).unwrap()
    };
    let double = ColumnType::Double { unsigned: false, digits: None, zerofill: false };
    for number in [0.0, -0.0, 1.0, -1.0, 7.0, 1e14, 999_999_999_999_999.0, 1e15, 1e300, 0.5, 12.25, 1e-20] {
        assert_eq!(text(&Value::Double(number), &double), format!(">{}", format_double(number)));
    }
    for number in [i64::MIN, -1, 0, 1, 10, i64::MAX] {
        assert_eq!(text(&Value::Int(number), &ColumnType::BIGINT), format!(">{number}"));
    }
    for seconds in [-62_135_596_800, 0, 951_782_399, 1_700_000_000, 253_402_300_799] {
        for (micros, fsp) in [(0, 0), (120_000, 0), (120_000, 3)] {
            let moment = DateTime::from_unix_us(seconds * 1_000_000 + micros, 6).unwrap();
            let mut shown = moment;
            shown.fsp = fsp;
            assert_eq!(text(&Value::DateTime(moment), &ColumnType::DateTime { fsp }), format!(">{shown}"));
        }
    }
}

/// Columns of every type, at the ends of what may be declared.
fn every_kind() -> Vec<ColumnType> {
    let names = |multiple| {
        Arc::new(EnumNames {
            multiple,
            names: (0..64).map(|nth| format!("n{nth}").as_str().into()).collect(),
        })
    };
    let collation = Collation::DEFAULT;
    let mut kinds =
        vec![ColumnType::Date, ColumnType::Year, ColumnType::Json, ColumnType::Varbinary { length: 3 }];
    kinds.extend([ColumnType::Binary { length: 255 }, ColumnType::Blob { size: BlobSize::Tiny }]);
    kinds.extend([1, 8, 63, 64].map(|bits| ColumnType::Bit { bits }));
    kinds.push(ColumnType::Enum { names: names(false), collation });
    kinds.push(ColumnType::Set { names: names(true), collation });
    for length in [0, 1, 255] {
        kinds.push(ColumnType::Char { length, collation });
        kinds.push(ColumnType::Varchar { length, collation });
    }
    for fsp in [0, 3, 6] {
        kinds.push(ColumnType::Time { fsp });
        kinds.push(ColumnType::DateTime { fsp });
        kinds.push(ColumnType::Timestamp { fsp });
    }
    for unsigned in [false, true] {
        for width in [IntWidth::Tiny, IntWidth::Small, IntWidth::Medium, IntWidth::Int, IntWidth::Big] {
            kinds.push(ColumnType::int(width, unsigned));
        }
        for (precision, scale) in [(1, 0), (1, 1), (30, 30), (65, 0), (65, 30)] {
            kinds.push(ColumnType::Decimal { precision, scale, unsigned, zerofill: false });
            let digits = Some((precision, scale));
            kinds.push(ColumnType::Double { unsigned, digits, zerofill: false });
            kinds.push(ColumnType::Float { unsigned, digits, zerofill: false });
        }
        kinds.push(ColumnType::Double { unsigned, digits: None, zerofill: false });
        kinds.push(ColumnType::Float { unsigned, digits: None, zerofill: false });
    }
    kinds
}

#[test]
fn no_value_is_too_extreme_to_store() {
    let mut values = vec![Value::Null, Value::bytes(vec![0xFF; 9]), Value::bytes(vec![0; 900])];
    values.extend([i64::MIN, -1, 0, 70, i64::MAX].map(Value::Int));
    values.extend([1 << 63, u64::MAX].map(Value::UInt));
    values.extend([0.0, -0.0, 0.5, 1e308, -1e308, 5e-324, f64::MAX, 9.3e18, -1e19].map(Value::Double));
    let numbers =
        ["0", "1", "9999", "4294967295", "4294967296", "18446744073709551616", "-9223372036854775809"];
    let long = [&*"9".repeat(700), &*"0".repeat(700), "1e308", "1e-308", "1e99999999999999999999", "é"];
    let shapes = [
        "N",
        "-N",
        ".N",
        "N.N",
        "1eN",
        "N N",
        "N N:N:N.N",
        "N:N:N.N",
        "-N:1",
        "N-N-N",
        "1-1-N",
        "2026-01-01 N:N:N.N",
    ];
    let more = ["2026-01-01 1:1:1.N", "2026-01-01 1:1:1+N", "20260101TN", "[N]", "{\"a\": N}", "N,N"];
    for number in numbers.iter().chain(&long) {
        values.extend(shapes.iter().chain(&more).map(|shape| Value::text(shape.replace('N', number))));
        let parsed = crate::decimal::Decimal::parse_prefix(number.as_bytes());
        values.push(Value::Decimal(parsed.value));
    }
    let moments = values.iter().filter_map(Value::as_raw_bytes);
    let rules = crate::datetime::DateRules { invalid: true, ..crate::datetime::DateRules::LENIENT };
    let moments: Vec<_> = moments.filter_map(|text| crate::datetime::parse_date_time(text, rules)).collect();
    values.extend(moments.iter().map(|found| Value::DateTime(found.moment)));
    for (value, kind) in
        values.iter().flat_map(|value| every_kind().into_iter().map(move |kind| (value, kind)))
    {
        for strict in [true, false] {
            let found = std::panic::catch_unwind(|| stored(value.clone(), &kind, strict, SqlMode::DEFAULT));
            assert!(found.is_ok(), "{value:?} into {kind}");
        }
    }
}
