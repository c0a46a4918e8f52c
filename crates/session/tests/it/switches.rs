//! Every system variable keeps the promise that its entry in the table makes, and those that refuse or allow
//! statements do.

use turnstile_session::accounts::AccountName;
use turnstile_session::session::{Session, SessionInit};
use turnstile_session::variables::{Definition, Effect, Kind, Scope, VARIABLES};

use super::{database, run, session};

/// A value that a variable takes and that is not its default, as SQL.
fn other_value(one: &Definition) -> String {
    let default = one.parse(one.default).map(|value| one.show(&value)).unwrap_or_default();
    let number = |low: u64, high: u64| {
        let now: u64 = default.parse().unwrap();
        if now < high { now + 1 } else { low }.to_string()
    };
    match one.kind {
        Kind::Bool => if default == "ON" { "OFF" } else { "ON" }.into(),
        Kind::Int { min, max } => {
            let now: i64 = default.parse().unwrap();
            if now < max { now + 1 } else { min }.to_string()
        }
        Kind::UInt { min, max } => number(min, max),
        Kind::Double { .. } => "3.5".into(),
        Kind::Enum(words) => format!("'{}'", words.iter().find(|word| **word != default).unwrap()),
        Kind::Set(_) => "''".into(),
        Kind::Switches(flags) => {
            let (name, on) = match one.effect {
                Effect::Live(_) => flags
                    .iter()
                    .find(|flag| flag.vain.is_none())
                    .map(|flag| (flag.name, !flag.default))
                    .unwrap(),
                _ => flags.iter().find_map(|flag| Some((flag.name, flag.vain?))).unwrap(),
            };
            format!("'{name}={}'", if on { "on" } else { "off" })
        }
        Kind::Charset | Kind::CharsetOrNull => "'latin1'".into(),
        Kind::Collation => "'latin1_swedish_ci'".into(),
        Kind::TimeZone => "'+01:00'".into(),
        Kind::Text | Kind::Roles | Kind::Engine | Kind::Locale => "'another'".into(),
    }
}

#[test]
fn every_variable_that_can_be_set_does_something_or_says_that_it_does_not() {
    let db = database();
    let mut session = session(&db);
    for one in VARIABLES {
        let global = one.scope == Scope::Global || one.is_fixed_in_sessions();
        let scope = if global { "GLOBAL" } else { "SESSION" };
        let set = format!("SET {scope} {} = {}", one.name, other_value(one));
        let said = run(&mut session, &set);
        let warnings = run(&mut session, "SHOW WARNINGS");
        let again = run(&mut session, &format!("SET {scope} {} = DEFAULT", one.name));
        // MySQL says of some, whenever they are set, that they will go.
        let quiet = if one.deprecation().is_some() { "ok (1 warnings)\n" } else { "ok\n" };
        match one.effect {
            Effect::Live(_) => assert!(!warnings.contains(" 1235 "), "{set}: {warnings}"),
            Effect::Inert("*") => {
                assert_eq!(said, quiet, "{set}");
                assert!(!warnings.contains(" 1235 "), "{set}: {warnings}");
            }
            Effect::Inert(_) => {
                assert!(
                    warnings.contains("| 1235 |") && warnings.contains(one.name),
                    "{set}: {said}{warnings}"
                );
                if one.has_no_default() {
                    assert!(again.starts_with("error 1230 "), "{}: {again}", one.name);
                    continue;
                }
                assert_eq!(again, quiet, "{}", one.name);
                let warnings = run(&mut session, "SHOW WARNINGS");
                assert!(!warnings.contains(" 1235 "), "{} to its default: {warnings}", one.name);
            }
            Effect::One => {
                let code = match one.kind {
                    Kind::Engine => "error 1286 ",
                    Kind::Locale => "error 1649 ",
                    _ => "error 1231 ",
                };
                let refused = said.starts_with(code) || matches!(one.kind, Kind::Int { .. });
                assert!(refused, "{set}: {said}");
                assert_eq!(again, quiet, "{}", one.name);
            }
            Effect::Fixed | Effect::Only | Effect::Start(_) => {
                assert!(said.starts_with("error 1238 "), "{set}: {said}");
            }
        }
    }
}

fn session_of(db: &std::sync::Arc<turnstile_session::database::Database>, user: &str) -> Session {
    let init = SessionInit {
        connection_id: db.registry().next_id(),
        user: user.into(),
        host: "localhost".into(),
        account: AccountName::new(user, "%"),
        database: Some("test".into()),
        collation: 255,
        found_rows: false,
        multi_statements: true,
    };
    Session::new(db.clone(), init).unwrap()
}

#[test]
fn read_only_refuses_what_changes_something() {
    let db = database();
    let mut root = session(&db);
    for statement in [
        "CREATE TABLE t (id INT PRIMARY KEY, v INT)",
        "INSERT INTO t VALUES (1, 1)",
        "CREATE USER 'clerk'@'%'",
        "GRANT ALL ON test.* TO 'clerk'@'%'",
    ] {
        assert!(run(&mut root, statement).starts_with("ok"), "{statement}");
    }
    let mut clerk = session_of(&db, "clerk");
    run(&mut clerk, "PREPARE change_it FROM 'UPDATE t SET v = 2 WHERE id = 1'");
    run(&mut clerk, "UPDATE t SET v = v + 1 WHERE id = 1");
    run(&mut clerk, "BEGIN");
    run(&mut clerk, "INSERT INTO t VALUES (2, 2)");
    assert_eq!(run(&mut root, "SET GLOBAL read_only = 1"), "ok\n");
    let refused = |found: String, switch: &str| {
        let text = format!(
            "error 1290 The MySQL server is running with the --{switch} option so it cannot execute this statement\n"
        );
        assert_eq!(found, text);
    };
    refused(run(&mut clerk, "COMMIT"), "read-only");
    assert_eq!(run(&mut clerk, "SELECT COUNT(*) FROM t"), "1\n");
    for statement in [
        "INSERT INTO t VALUES (3, 3)",
        "REPLACE INTO t VALUES (1, 3)",
        "UPDATE t SET v = v + 1 WHERE id = 1",
        "DELETE FROM t",
        "SELECT * FROM t FOR UPDATE",
        "EXECUTE change_it",
        "EXPLAIN DELETE FROM t",
        "CREATE TABLE u (id INT)",
        "ALTER TABLE t ADD w INT",
        "CREATE INDEX v ON t (v)",
        "DROP TABLE t",
        "TRUNCATE t",
        "RENAME TABLE t TO u",
        "CREATE DATABASE other",
        "ANALYZE TABLE t",
        "OPTIMIZE TABLE t",
        "LOCK TABLES t WRITE",
        "START TRANSACTION READ WRITE",
        "SET PASSWORD = 'x'",
    ] {
        refused(run(&mut clerk, statement), "read-only");
    }
    assert!(run(&mut clerk, "CREATE USER x").starts_with("error 1227 "));
    for statement in
        ["SELECT * FROM t", "CHECK TABLE t", "LOCK TABLES t READ", "UNLOCK TABLES", "BEGIN", "COMMIT", "DO 1"]
    {
        assert!(!run(&mut clerk, statement).starts_with("error"), "{statement}");
    }
    assert_eq!(run(&mut root, "INSERT INTO t VALUES (3, 3)"), "ok 1\n");
    assert_eq!(run(&mut root, "SET GLOBAL super_read_only = 1"), "ok\n");
    refused(run(&mut root, "INSERT INTO t VALUES (4, 4)"), "super-read-only");
    refused(run(&mut root, "CREATE USER x"), "super-read-only");
    run(&mut root, "SET GLOBAL read_only = 0");
    assert_eq!(run(&mut root, "SELECT @@super_read_only"), "0\n");
    assert!(run(&mut clerk, "INSERT INTO t VALUES (4, 4)").starts_with("ok"));
    run(&mut root, "SET GLOBAL super_read_only = 1");
    assert_eq!(run(&mut root, "SELECT @@read_only"), "1\n");
    run(&mut root, "SET GLOBAL read_only = 0; BEGIN; INSERT INTO t VALUES (5, 5)");
    assert!(run(&mut root, "SET GLOBAL read_only = 1").starts_with("error 1192 "));
}

/// The general log has what clients send and no passwords, the slow log what took long; neither has anything
/// when it is off.
#[test]
fn statements_are_logged_as_the_switches_say() {
    let folder = std::env::temp_dir().join(format!("turnstile-switches-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let db = database();
    let mut root = session(&db);
    let general = folder.join("general.log");
    let slow = folder.join("slow.log");
    assert!(run(&mut root, "SET GLOBAL general_log = 1").starts_with("error 1231 "), "no place to write to");
    assert!(
        run(&mut root, "SET GLOBAL general_log_file = '/no/such/folder/x.log'").starts_with("error 1231 ")
    );
    assert!(run(&mut root, "SET GLOBAL log_output = 'TABLE'").starts_with("error 1231 "));
    assert_eq!(run(&mut root, &format!("SET GLOBAL general_log_file = '{}'", general.display())), "ok\n");
    assert_eq!(run(&mut root, &format!("SET GLOBAL slow_query_log_file = '{}'", slow.display())), "ok\n");
    run(&mut root, "SELECT 'before'");
    run(&mut root, "SET GLOBAL general_log = 1, GLOBAL slow_query_log = 1");
    run(&mut root, "SELECT 'between'");
    run(&mut root, "CREATE USER 'k'@'%' IDENTIFIED BY 'geheim'");
    run(&mut root, "SET long_query_time = 0");
    run(&mut root, "SELECT 'slow' UNION SELECT 'er'");
    run(&mut root, "SET long_query_time = 10, sql_log_off = 1");
    run(&mut root, "SELECT 'hidden'");
    run(&mut root, "SET sql_log_off = 0");
    run(&mut root, "SET GLOBAL log_output = 'NONE'");
    run(&mut root, "SELECT 'nowhere'");
    run(&mut root, "SET GLOBAL log_output = 'FILE'");
    run(&mut root, "SET GLOBAL general_log = 0, GLOBAL slow_query_log = 0");
    run(&mut root, "SELECT 'after'");
    let read = |path| std::fs::read_to_string(path).unwrap();
    let (general, slow) = (read(&general), read(&slow));
    for (text, count) in [
        ("'between'", 1),
        ("'before'", 0),
        ("'after'", 0),
        ("'hidden'", 0),
        ("'nowhere'", 0),
        ("geheim", 0),
        ("<secret>", 1),
    ] {
        assert_eq!(general.matches(text).count(), count, "{text} in {general}");
    }
    assert!(general.lines().all(|line| line.contains("Z\t")), "{general}");
    assert!(slow.contains("Rows_sent: 2\nuse test;\nSET timestamp="), "{slow}");
    assert!(slow.contains("\nSELECT 'slow' UNION SELECT 'er';\n") && !slow.contains("'between'"), "{slow}");
    let counted = run(&mut root, "SHOW GLOBAL STATUS LIKE 'Slow_queries'");
    assert_ne!(counted, "Slow_queries | 0\n");
    std::fs::remove_dir_all(&folder).unwrap();
}
