//! Histograms of values made by hand: their buckets, the shares that they tell, their rows.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use std::sync::Arc;

use turnstile_engine::ids::IndexId;
use turnstile_values::collation::Collation;
use turnstile_values::key_codec::SearchValue;

use super::super::table::{Counters, DefaultValue, Definition};
use super::*;
use turnstile_values::memory::Charge;

fn table(kind: ColumnType) -> Table {
    let column = Column {
        name: "a".into(),
        kind,
        nullable: true,
        default: DefaultValue::Value(Value::Null),
        on_update: None,
        auto_increment: false,
        comment: "".into(),
        invisible: false,
    };
    let definition = Definition {
        id: TableId(7),
        schema: "s".into(),
        name: "t".into(),
        columns: vec![column],
        keys: Vec::new(),
        foreign_keys: Vec::new(),
        checks: Vec::new(),
        clustered: IndexId(9),
        collation: Collation::DEFAULT,
        comment: "".into(),
        auto_increment: 0,
        created: 1,
    };
    Table::new(definition, Arc::default(), Counters::fresh())
}

fn made(table: &Table, values: &[Value], buckets: u32, rows: u64) -> Histogram {
    let wanted = [Wanted { column: 0, buckets, automatic: false }];
    let mut collector = Collector::new(table, &wanted, Charge::on(None));
    for value in values {
        let mut row = Vec::new();
        table.layout.encode(std::slice::from_ref(value), &mut row);
        collector.note(table, &row).unwrap();
    }
    collector.finish(table, rows, 5).pop().unwrap()
}

fn numbers(all: impl Iterator<Item = i64>) -> Vec<Value> {
    all.map(Value::Int).collect()
}

fn near(share: Option<f64>, wanted: f64) {
    assert!((share.unwrap() - wanted).abs() < 1e-9, "{share:?} is not {wanted}");
}

fn at(number: i64) -> SearchValue {
    SearchValue::Exact(Value::Int(number))
}

#[test]
fn few_values_have_a_bucket_each() {
    let mut values = numbers([3, 1, 3, 3].into_iter());
    values.push(Value::Null);
    let known = made(&table(ColumnType::BIGINT), &values, 2, 5);
    assert!(known.singleton);
    assert_eq!(known.buckets.len(), 2);
    near(Some(known.nulls), 0.2);
    near(known.equal(&at(3)), 0.6);
    near(known.equal(&at(2)), 0.0);
    near(known.below(&at(3), false), 0.2);
    near(known.below(&at(3), true), 0.8);
    near(known.above(&at(1), false), 0.6);
    near(known.above(&at(2), true), 0.6);
    near(known.below(&SearchValue::After(Value::Int(1)), false), 0.2);
    near(known.above(&SearchValue::After(Value::Int(1)), true), 0.6);
    near(known.above(&SearchValue::BelowAll, false), 0.8);
    near(known.below(&SearchValue::AboveAll, false), 0.8);
    assert_eq!(known.equal(&SearchValue::Unusable), None);
}

#[test]
fn an_empty_table_has_no_buckets() {
    let known = made(&table(ColumnType::BIGINT), &[], 100, 0);
    assert!(known.singleton && known.buckets.is_empty());
    near(known.equal(&at(1)), 0.0);
    near(known.below(&at(1), true), 0.0);
    near(Some(known.nulls), 0.0);
    let nulls = made(&table(ColumnType::BIGINT), &[Value::Null], 100, 1);
    near(Some(nulls.nulls), 1.0);
}

#[test]
fn many_values_share_buckets_of_the_same_height() {
    let known = made(&table(ColumnType::BIGINT), &numbers(0..1000), 10, 1000);
    assert!(!known.singleton);
    assert_eq!(known.buckets.len(), 10);
    assert!(known.buckets.iter().all(|bucket| bucket.distinct == 100));
    near(known.equal(&at(512)), 0.001);
    near(known.below(&at(250), false), 0.25);
    near(known.below(&at(250), true), 0.251);
    near(known.above(&at(250), false), 0.749);
    near(known.above(&at(999), false), 0.0);
    near(known.below(&at(-1), true), 0.0);
    near(known.above(&at(-1), true), 1.0);
}

/// A value that half of the rows have is alone in its bucket.
#[test]
fn a_frequent_value_stands_alone() {
    let values = numbers((0..1000).map(|nth| if nth % 2 == 0 { 77 } else { nth }));
    let known = made(&table(ColumnType::BIGINT), &values, 8, 1000);
    assert!(known.buckets.len() <= 8);
    let alone = known.buckets.iter().find(|one| one.lower == one.upper).unwrap();
    assert_eq!(alone.lower.value, Value::Int(77));
    assert!(known.equal(&at(77)).unwrap() > 0.5);
    assert!(known.equal(&at(501)).unwrap() < 0.01);
}

/// Whatever is asked, shares lie between 0 and 1 and grow with the value.
#[test]
fn shares_grow_with_the_value() {
    for buckets in [1, 2, 7, 100] {
        let values = numbers((0..500).map(|nth| nth * nth % 311));
        let known = made(&table(ColumnType::BIGINT), &values, buckets, 500);
        let mut last = 0.0;
        for number in -3..320 {
            let below = known.below(&at(number), false).unwrap();
            let and_equal = known.below(&at(number), true).unwrap();
            assert!(last <= below + 1e-9 && below <= and_equal + 1e-9, "{buckets} buckets at {number}");
            assert!((0.0..=1.0 + 1e-9).contains(&and_equal));
            near(known.above(&at(number), true), known.below(&SearchValue::AboveAll, true).unwrap() - below);
            last = and_equal;
        }
    }
}

#[test]
fn texts_count_by_their_beginning_and_lie_between_their_ends() {
    let kind = ColumnType::Varchar { length: 100, collation: Collation::Utf8mb4Bin };
    let long = |end: &str| Value::text(format!("{}{end}", "x".repeat(50)));
    let known = made(&table(kind.clone()), &[long("a"), long("b")], 100, 2);
    assert_eq!(known.buckets.len(), 1);
    near(known.equal(&SearchValue::Exact(long("c"))), 1.0);
    let letters: Vec<Value> = ('a'..='z').map(|letter| Value::text(letter.to_string())).collect();
    let known = made(&table(kind), &letters, 1, 26);
    let below = known.below(&SearchValue::Exact(Value::text("n")), false).unwrap();
    assert!((0.4..0.6).contains(&below), "{below}");
}

#[test]
fn of_some_rows_more_values_are_reckoned_than_were_met() {
    let known = made(&table(ColumnType::BIGINT), &numbers((0..1000).map(|nth| nth * 10)), 4, 10_000);
    near(Some(known.sampled), 0.1);
    assert!(known.buckets.iter().all(|bucket| bucket.distinct == 2500));
}

#[test]
fn a_row_comes_back() {
    let kind = ColumnType::Varchar { length: 100, collation: Collation::Utf8mb4Bin };
    let texts: Vec<Value> = ["b", "a", "c"].into_iter().map(Value::text).collect();
    for known in [
        made(&table(ColumnType::BIGINT), &numbers(0..500), 10, 800),
        made(&table(ColumnType::BIGINT), &numbers(0..5), 10, 5),
        made(&table(kind), &texts, 2, 3),
    ] {
        let row = known.encode();
        assert_eq!(Histogram::decode(&row).unwrap(), known);
        for end in 0..row.len() {
            assert!(Histogram::decode(&row[..end]).is_err(), "{end} bytes are not enough");
        }
    }
}
