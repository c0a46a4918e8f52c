//! Order of encodings is order of values, for random values of every type.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use std::cmp::Ordering;

use super::*;
use crate::context::{EvalContext, EvalSettings, NoSession, Warnings};
use crate::decimal::Decimal;
use crate::types::IntWidth;
use crate::value::compare;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 ^ self.0 >> 31
    }

    fn value(&mut self, kind: &ColumnType) -> Value {
        let bits = self.next() >> (self.next() % 60);
        match kind {
            ColumnType::Int { width, unsigned: true, .. } => Value::UInt(bits & width.unsigned_max()),
            ColumnType::Int { width, .. } => {
                let (low, high) = width.signed_range();
                Value::Int(((bits as i64) * if self.next() & 1 == 0 { 1 } else { -1 }).clamp(low, high))
            }
            ColumnType::Double { .. } => {
                Value::Double(bits as f64 / 1e6 * if self.next() & 1 == 0 { 1.0 } else { -1.0 } + 0.0)
            }
            ColumnType::Float { .. } => Value::Double(f64::from((bits % 1000) as f32 - 500.0)),
            ColumnType::Decimal { scale, .. } => {
                let digits = i128::from(bits % 10_000_000_000) * if self.next() & 1 == 0 { 1 } else { -1 };
                Value::Decimal(Decimal::from_scaled_i128(digits, *scale))
            }
            ColumnType::Date => Value::Date(Date::from_days(1 + (bits % 3_000_000) as i64).unwrap()),
            ColumnType::DateTime { .. } => {
                Value::DateTime(DateTime::from_unix_us(bits as i64 % 1_000_000_000_000, 6).unwrap())
            }
            ColumnType::Time { .. } => Value::Time(Time { us: (bits % 1_000_000) as i64 - 500_000, fsp: 6 }),
            _ => {
                let alphabet = ["a", "A", "b", "ä", "z", " ", "\0", "日", "ß", "1", "\u{1}"];
                let text: String =
                    (0..bits % 6).map(|_| alphabet[self.next() as usize % alphabet.len()]).collect();
                if kind.is_binary_string() { Value::bytes(text.into_bytes()) } else { Value::text(text) }
            }
        }
    }
}

#[test]
fn order_of_keys_is_order_of_values() {
    let kinds = [
        ColumnType::int(IntWidth::Tiny, false),
        ColumnType::int(IntWidth::Medium, false),
        ColumnType::BIGINT,
        ColumnType::BIGINT_UNSIGNED,
        ColumnType::DOUBLE,
        ColumnType::Float { unsigned: false, digits: None, zerofill: false },
        ColumnType::Decimal { precision: 12, scale: 2, unsigned: false, zerofill: false },
        ColumnType::Decimal { precision: 65, scale: 30, unsigned: false, zerofill: false },
        ColumnType::Date,
        ColumnType::DateTime { fsp: 6 },
        ColumnType::Time { fsp: 6 },
        ColumnType::varchar(20),
        ColumnType::Varchar { length: 20, collation: Collation::Utf8mb4GeneralCi },
        ColumnType::Varchar { length: 20, collation: Collation::Utf8mb4Bin },
        ColumnType::Varbinary { length: 20 },
    ];
    let mut random = Random(42);
    for kind in kinds {
        let collation = kind.collation().unwrap_or(Collation::Binary);
        let tail = KeyPart::whole(ColumnType::BIGINT, false);
        for _ in 0..3000 {
            let (left, right) = (random.value(&kind), random.value(&kind));
            let order = compare(&left, &right, collation).unwrap();
            for descending in [false, true] {
                let part = KeyPart { kind: kind.clone(), prefix: None, descending, nullable: descending };
                let (mut one, mut other) = (Vec::new(), Vec::new());
                part.append(&left, &mut one);
                part.append(&right, &mut other);
                // A following part must not disturb the order of the first.
                tail.append(&random.value(&ColumnType::BIGINT), &mut one);
                tail.append(&random.value(&ColumnType::BIGINT), &mut other);
                let wanted = if descending { order.reverse() } else { order };
                if order != Ordering::Equal {
                    assert_eq!(one.cmp(&other), wanted, "{left:?} {right:?} {kind}");
                } else {
                    assert_eq!(one[..one.len() - 8], other[..other.len() - 8], "{left:?} {right:?} {kind}");
                }
                if part.is_decodable() {
                    assert_eq!(part.take(&mut one.as_slice()), Some(left.clone()), "{kind}");
                }
            }
        }
    }
}

#[test]
fn null_sorts_first_and_prefixes_cut_characters() {
    let part = KeyPart::whole(ColumnType::INT, true);
    let (mut null, mut low) = (Vec::new(), Vec::new());
    assert!(!part.append(&Value::Null, &mut null));
    assert!(part.append(&Value::Int(i64::from(i32::MIN)), &mut low));
    assert!(null < low);
    let part = KeyPart { prefix: Some(2), ..KeyPart::whole(ColumnType::varchar(9), false) };
    let (mut one, mut other) = (Vec::new(), Vec::new());
    part.append(&Value::text("äbc"), &mut one);
    part.append(&Value::text("äbd"), &mut other);
    assert_eq!(one, other);
    assert_eq!(after_prefix(&[1, 0xFF]), Some(vec![2]));
    assert_eq!(after_prefix(&[0xFF]), None);
}

#[test]
fn search_values() {
    let warnings = Warnings::new();
    let context = EvalContext {
        settings: EvalSettings::default(),
        parameters: &[],
        session: &NoSession,
        warnings: &warnings,
    };
    let find = |value: Value, kind: &ColumnType| search_value(&value, kind, Collation::DEFAULT, &context);
    let tiny = ColumnType::int(IntWidth::Tiny, false);
    assert_eq!(find(Value::Int(5), &tiny), SearchValue::Exact(Value::Int(5)));
    assert_eq!(find(Value::Int(500), &tiny), SearchValue::AboveAll);
    assert_eq!(find(Value::text("-1.5"), &tiny), SearchValue::After(Value::Int(-2)));
    assert_eq!(find(Value::Int(-1), &ColumnType::BIGINT_UNSIGNED), SearchValue::BelowAll);
    assert_eq!(find(Value::Int(5), &ColumnType::varchar(3)), SearchValue::Unusable);
    let day = Value::Date(Date::from_parts(2026, 1, 31));
    assert_eq!(find(Value::text("2026-01-31"), &ColumnType::Date), SearchValue::Exact(day.clone()));
    assert_eq!(find(Value::text("2026-01-31 10:00:00"), &ColumnType::Date), SearchValue::After(day));
}

#[test]
fn a_short_key_is_the_key() {
    let mut random = Random(7);
    for width in [IntWidth::Tiny, IntWidth::Small, IntWidth::Medium, IntWidth::Int, IntWidth::Big] {
        for bits in 0..8 {
            let (unsigned, descending, nullable) = (bits & 1 != 0, bits & 2 != 0, bits & 4 != 0);
            let kind = ColumnType::Int { width, unsigned, display: None, zerofill: false };
            let part = KeyPart { descending, ..KeyPart::whole(kind.clone(), nullable) };
            for _ in 0..50 {
                let (value, mut key) = (random.value(&kind), Vec::new());
                assert!(part.append(&value, &mut key));
                assert_eq!(part.of_integer(&value).unwrap()[..], key[..], "{kind:?} {value:?}");
            }
            assert_eq!(part.of_integer(&Value::Null), None);
        }
    }
}
