//! Normal forms of system variables.
#![allow(clippy::unwrap_used)]
use super::*;

#[test]
fn every_default_is_accepted_by_its_own_definition() {
    for one in VARIABLES {
        assert!(one.parse(one.default).is_ok(), "{}", one.name);
        assert!(find(&one.name.to_uppercase()).is_some());
    }
}

#[test]
fn normal_forms() {
    let accept = |name: &str, value: Value| VARIABLES[find(name).unwrap()].accept(&value);
    assert_eq!(accept("autocommit", Value::text("off")).unwrap().0, Value::Int(0));
    assert_eq!(accept("autocommit", Value::Int(2)).unwrap_err().code, 1231);
    assert_eq!(accept("max_connections", Value::text("7")).unwrap_err().code, 1232);
    assert_eq!(accept("max_connections", Value::Int(0)).unwrap(), (Value::UInt(1), true));
    assert_eq!(
        accept("transaction_isolation", Value::text("read-committed")).unwrap().0,
        Value::text("READ-COMMITTED")
    );
    assert_eq!(accept("transaction_isolation", Value::Int(3)).unwrap().0, Value::text("SERIALIZABLE"));
    assert_eq!(
        accept("sql_mode", Value::text("no_zero_date, ANSI_QUOTES")).unwrap().0,
        Value::text("ANSI_QUOTES,NO_ZERO_DATE")
    );
    assert_eq!(
        VARIABLES[find("innodb_buffer_pool_size").unwrap()].parse("2G").unwrap(),
        Value::UInt(2 << 30)
    );
}
