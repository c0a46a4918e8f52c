//! The bytes of foreign keys in a table's dictionary row.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use turnstile_engine::ids::{IndexId, TableId};

use super::*;
use turnstile_values::collation::Collation;

fn key() -> ForeignKey {
    ForeignKey {
        name: "c_ibfk_1".into(),
        columns: vec!["a".into(), "b".into()],
        parent_schema: "shop".into(),
        parent: "p".into(),
        parent_columns: vec!["x".into(), "y".into()],
        on_delete: Action::SetNull,
        on_update: Action::NoAction,
    }
}

fn definition(foreign_keys: Vec<ForeignKey>) -> Definition {
    Definition {
        id: TableId(7),
        schema: "shop".into(),
        name: "c".into(),
        columns: Vec::new(),
        keys: Vec::new(),
        foreign_keys,
        checks: Vec::new(),
        clustered: IndexId(9),
        collation: Collation::DEFAULT,
        comment: "".into(),
        auto_increment: 0,
        created: 1,
    }
}

#[test]
fn bytes_come_back() {
    let mut row = Writer::new(7);
    key().encode(&mut row);
    let read = ForeignKey::decode(&mut Reader::new(&row.0, 7).unwrap()).unwrap();
    assert_eq!(read, key());
    // Every cut is noticed.
    for end in 1..row.0.len() {
        assert!(ForeignKey::decode(&mut Reader::new(&row.0[..end], 7).unwrap()).is_err(), "{end}");
    }
}

#[test]
fn a_table_without_constraints_is_written_as_before() {
    let plain = definition(Vec::new());
    assert_eq!(plain.encode()[0], 1);
    assert_eq!(Definition::decode(&plain.encode()).unwrap(), plain);
}

#[test]
fn sections_come_back_and_unknown_ones_are_refused() {
    let table = definition(vec![key()]);
    let mut bytes = table.encode();
    assert_eq!(bytes[0], 2);
    assert_eq!(Definition::decode(&bytes).unwrap(), table);
    bytes.extend([250, 0, 0, 0, 0]);
    assert!(Definition::decode(&bytes).is_err());
}
