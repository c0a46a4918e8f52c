//! Normal forms of system variables.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]
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

#[test]
fn no_name_twice() {
    let mut seen = std::collections::BTreeSet::new();
    for one in VARIABLES {
        assert!(seen.insert(one.name), "{} is in the table twice", one.name);
    }
}

/// What is said to work is read by the file that the table names; what is said to change nothing is decoded
/// nowhere.
#[test]
fn every_variable_that_works_has_its_reader() {
    let crates = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let decoded = std::fs::read_to_string(format!("{crates}/catalog/src/variables/settings.rs")).unwrap();
    for one in VARIABLES {
        let quoted = format!("\"{}\"", one.name);
        match one.effect.reader() {
            Some(reader) => {
                let text = std::fs::read_to_string(format!("{crates}/{reader}"));
                let text = text.unwrap_or_else(|_| panic!("{}: {reader} does not exist", one.name));
                assert!(text.contains(&quoted), "{}: {reader} does not read it", one.name);
            }
            None => assert!(!decoded.contains(&quoted), "{}: read, and said to do nothing", one.name),
        }
    }
}

#[test]
fn options_take_what_is_so_and_say_what_is_not() {
    let globals = Globals::default();
    let configure = |name: &str, value: &str| globals.configure(name, value).map_err(|error| error.code);
    assert_eq!(configure("gtid_mode", "off"), Ok(Configured::Taken));
    assert_eq!(configure("gtid-mode", "ON"), Err(1231));
    assert_eq!(configure("log_bin", "ON"), Err(1231));
    assert_eq!(configure("innodb_doublewrite", "OFF"), Ok(Configured::NotTaken));
    assert_eq!(globals.named("innodb_doublewrite"), Value::text("ON"));
    assert_eq!(configure("read_buffer_size", "1M"), Ok(Configured::WithoutEffect));
    assert_eq!(configure("max_connections", "0"), Ok(Configured::Cut));
    assert_eq!(configure("max_connections", "7"), Ok(Configured::Taken));
}

/// The same room has both words: a variable without a session's value is nobody's to set for a session.
#[test]
fn rights_fit_scopes() {
    for one in VARIABLES {
        let global = matches!(one.right, Right::Admin | Right::Roles);
        assert_eq!(global, one.scope == Scope::Global, "{}", one.name);
    }
}
