//! Statistics as bytes, and different values counted in leaves made by hand.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use turnstile_values::key_codec::{KeyPart, encode_key};
use turnstile_values::types::{ColumnType, IntWidth};
use turnstile_values::value::Value;

use super::gather::distinct;
use super::*;

fn parts() -> Vec<KeyPart> {
    let int = ColumnType::Int { width: IntWidth::Int, unsigned: false, display: None, zerofill: false };
    let text =
        ColumnType::Varchar { length: 10, collation: turnstile_values::collation::Collation::Utf8mb4Bin };
    vec![KeyPart::whole(int, true), KeyPart { descending: true, ..KeyPart::whole(text, true) }]
}

fn key(number: Option<i64>, text: Option<&str>) -> Vec<u8> {
    let mut key = Vec::new();
    let values = [number.map_or(Value::Null, Value::Int), text.map_or(Value::Null, Value::text)];
    encode_key(&parts(), &values, &mut key);
    // What follows is the primary key, which is no part of this one.
    key.push(7);
    key
}

#[test]
fn values_of_leaves_that_are_all_known_are_counted() {
    let leaves = vec![
        vec![key(None, None), key(None, Some("b")), key(None, Some("a"))],
        vec![key(None, Some("a")), key(Some(1), Some("\0")), key(Some(1), Some("\0"))],
        vec![],
        vec![key(Some(2), Some("x")), key(Some(2), Some(""))],
    ];
    assert_eq!(distinct(&parts(), &leaves, 8, true), [3, 6]);
    assert_eq!(distinct(&parts(), &[], 0, true), [0, 0]);
}

#[test]
fn values_of_other_leaves_are_estimated() {
    // Each pair of a leaf differs in the second part, and each leaf has a value of the first of its own.
    let leaf = |number| (0..100).rev().map(|n| key(Some(number), Some(&format!("{n:03}")))).collect();
    let leaves: Vec<Vec<_>> = (0..20).map(leaf).collect();
    let found = distinct(&parts(), &leaves, 1_000_000, false);
    assert_eq!(found[0], 20, "as many as were seen");
    assert!((999_000..=1_000_000).contains(&found[1]), "{found:?}");
}

#[test]
fn a_row_gives_back_what_was_written() {
    let key = KeyStatistics { index: IndexId(9), pages: 3, leaves: 2, distinct: vec![4, 5], sampled: 1 };
    let known = TableStatistics {
        tree: IndexId(8),
        rows: 10,
        pages: 20,
        keys: vec![key],
        columns: vec![3, 0],
        gathered: 30,
    };
    let row = known.encode();
    assert_eq!(TableStatistics::decode(&row).ok().as_ref(), Some(&known));
    assert!(TableStatistics::decode(&row[..row.len() - 1]).is_err());
    assert_eq!(known.rows_per_value(IndexId(9), 1, 10.0), Some(2.5));
    assert_eq!(known.rows_per_value(IndexId(9), 3, 10.0), None);
    assert_eq!(known.rows_per_value(IndexId(7), 1, 10.0), None);
    assert_eq!((known.distinct(0), known.distinct(1), known.distinct(2)), (Some(3), None, None));
    assert!(TableStatistics::is_outdated(&[1, 0]) && !TableStatistics::is_outdated(&row));
}

#[test]
fn a_tenth_is_told_once() {
    let kept = KeptStatistics::default();
    assert!(!kept.changed(200));
    assert!(kept.changed(1) && !kept.changed(5000), "somebody has been asked");
    kept.begin();
    let known = TableStatistics {
        tree: IndexId(8),
        rows: 10_000,
        pages: 1,
        keys: Vec::new(),
        columns: Vec::new(),
        gathered: 0,
    };
    kept.set(Arc::new(known));
    assert!(!kept.changed(1000));
    assert!(kept.changed(1));
}
