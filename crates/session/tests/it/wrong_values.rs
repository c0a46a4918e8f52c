//! Every system variable refuses wrong values with MySQL's error, and a refused SET changes nothing: driven
//! by the table of variables, so a new one is tested from its first day.

use turnstile_session::Session;
use turnstile_session::variables::{Definition, Kind, Scope, VARIABLES};

use super::{database, run, session};

/// All global values, and the session's.
fn values(session: &mut Session) -> (String, String) {
    (run(session, "SHOW GLOBAL VARIABLES"), run(session, "SHOW SESSION VARIABLES"))
}

/// Values of the wrong kind with the error that each gives.
fn wrong_values(definition: &Definition) -> &'static [(&'static str, u16)] {
    match definition.kind {
        Kind::Bool => &[
            ("'maybe'", 1231),
            ("'1'", 1231),
            ("2", 1231),
            ("-1", 1231),
            ("1.5", 1232),
            ("1e0", 1232),
            ("NULL", 1231),
        ],
        Kind::Int { .. } | Kind::UInt { .. } => {
            &[("'many'", 1232), ("'7'", 1232), ("1.5", 1232), ("1e0", 1232), ("NULL", 1232), ("ON", 1232)]
        }
        Kind::Double { .. } => &[("'many'", 1232), ("NULL", 1232)],
        Kind::Enum(_) => &[("'no such word'", 1231), ("99", 1231), ("-1", 1231), ("1.5", 1232)],
        Kind::Set(_) | Kind::Switches(_) => &[("'no such word'", 1231), ("-1", 1231), ("1.5", 1232)],
        Kind::Charset | Kind::CharsetOrNull => &[("'no_such_set'", 1115), ("0", 1115), ("1.5", 1232)],
        Kind::Collation => &[("'no_such_collation'", 1273), ("-1", 1273), ("1.5", 1232)],
        Kind::TimeZone => &[("'Nowhere/Land'", 1298), ("1", 1232)],
        Kind::Engine => &[("'NoSuch'", 1286), ("1", 1232)],
        Kind::Locale => &[("'xx_YY'", 1649), ("-1", 1649), ("NULL", 1231), ("1.5", 1232)],
        Kind::Text => &[("1.5", 1232), ("7", 1232)],
        Kind::Roles => &[("1.5", 1232), ("'a@'", 1231), ("'a,,b'", 1231)],
    }
}

fn expect(session: &mut Session, statement: &str, code: u16) {
    let found = run(session, statement);
    assert!(found.starts_with(&format!("error {code} ")), "{statement}: {found} in place of {code}");
}

#[test]
fn wrong_values_are_refused_and_change_nothing() {
    let db = database();
    let mut session = session(&db);
    let before = values(&mut session);
    for definition in VARIABLES {
        let name = definition.name;
        if !definition.effect.is_dynamic() {
            let of_session = if definition.is_set_globally_in_mysql() { 1229 } else { 1238 };
            expect(&mut session, &format!("SET GLOBAL {name} = DEFAULT"), 1238);
            expect(&mut session, &format!("SET SESSION {name} = DEFAULT"), of_session);
            continue;
        }
        let right = match definition.scope {
            Scope::Global => {
                expect(&mut session, &format!("SET SESSION {name} = DEFAULT"), 1229);
                expect(&mut session, &format!("SET {name} = DEFAULT"), 1229);
                "GLOBAL"
            }
            Scope::Session => {
                expect(&mut session, &format!("SET GLOBAL {name} = DEFAULT"), 1228);
                "SESSION"
            }
            Scope::Both => "GLOBAL",
        };
        for (value, code) in wrong_values(definition) {
            expect(&mut session, &format!("SET {right} {name} = {value}"), *code);
            if definition.scope == Scope::Both {
                expect(&mut session, &format!("SET SESSION {name} = {value}"), *code);
            }
        }
    }
    expect(&mut session, "SET GLOBAL innodb_no_such_switch = 1", 1193);
    expect(&mut session, "SELECT @@innodb_no_such_switch", 1193);
    assert!(values(&mut session) == before, "a refused SET changed something");
}

/// One wrong item of several, and none is set; not the engine's copy either.
#[test]
fn a_set_of_several_is_all_or_nothing() {
    let db = database();
    let mut session = session(&db);
    run(&mut session, "SET @before = 1");
    let before = values(&mut session);
    for wrong in [
        "GLOBAL innodb_lock_wait_timeout = 'long'",
        "SESSION innodb_deadlock_detect = ON",
        "GLOBAL innodb_rollback_on_timeout = ON",
        "no_such = 1",
    ] {
        let text =
            format!("SET @before = 2, GLOBAL innodb_deadlock_detect = OFF, SESSION autocommit = 0, {wrong}");
        assert!(run(&mut session, &text).starts_with("error "), "{text}");
    }
    assert!(values(&mut session) == before);
    assert_eq!(run(&mut session, "SELECT @before"), "1\n");
    let detects = &db.engine().settings().deadlock_detect;
    assert!(detects.load(std::sync::atomic::Ordering::Relaxed));
}

/// A number outside the range is cut to it with warning 1292, or refused with 1231 in strict mode, as in
/// MySQL.
#[test]
fn numbers_outside_the_range() {
    let db = database();
    let mut session = session(&db);
    assert_eq!(run(&mut session, "SET GLOBAL innodb_lock_wait_timeout = 0"), "ok (1 warnings)\n");
    assert_eq!(
        run(&mut session, "SHOW WARNINGS"),
        "Warning | 1292 | Truncated incorrect innodb_lock_wait_timeout value: '0'\n"
    );
    assert_eq!(run(&mut session, "SELECT @@global.innodb_lock_wait_timeout"), "1\n");
    run(&mut session, "SET sql_mode = 'STRICT_ALL_TABLES'");
    expect(&mut session, "SET GLOBAL innodb_lock_wait_timeout = 0", 1231);
    expect(&mut session, "SET innodb_lock_wait_timeout = 1073741825", 1231);
    assert_eq!(
        run(&mut session, "SELECT @@global.innodb_lock_wait_timeout, @@innodb_lock_wait_timeout"),
        "1 | 50\n"
    );
}

/// Only who may change the server changes it.
#[test]
fn a_plain_account_cannot_flip_switches() {
    let db = database();
    let mut root = session(&db);
    run(&mut root, "CREATE USER plain@localhost");
    let init = turnstile_session::SessionInit {
        connection_id: db.registry().next_id(),
        user: "plain".into(),
        host: "localhost".into(),
        account: turnstile_session::accounts::AccountName::new("plain", "localhost"),
        database: None,
        collation: 255,
        found_rows: false,
        multi_statements: false,
    };
    let mut plain = Session::new(db.clone(), init).unwrap();
    expect(&mut plain, "SET GLOBAL innodb_deadlock_detect = OFF", 1227);
    assert_eq!(run(&mut plain, "SELECT @@innodb_deadlock_detect"), "1\n");
    assert_eq!(run(&mut plain, "SET innodb_lock_wait_timeout = 5"), "ok\n");
}
