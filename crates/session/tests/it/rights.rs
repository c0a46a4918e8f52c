//! Who may do what: every kind of statement as an account without rights, and open sessions of accounts that
//! are gone.

mod kinds;

use std::sync::Arc;

use turnstile_session::accounts::AccountName;
use turnstile_session::{Database, Session, SessionInit};

use super::{database, run, session};
use kinds::DENIED;

/// A session of `user@%`, from a host of its own.
pub fn as_user(db: &Arc<Database>, user: &str) -> Session {
    let init = SessionInit {
        connection_id: db.registry().next_id(),
        user: user.into(),
        host: "10.0.0.7:4000".into(),
        account: AccountName::new(user, "%"),
        database: None,
        collation: 255,
        found_rows: false,
        multi_statements: false,
    };
    Session::new(db.clone(), init).unwrap()
}

pub fn expect(session: &mut Session, text: &str, code: u16, words: &str) {
    let given = run(session, text);
    assert!(given.starts_with(&format!("error {code} ")) && given.contains(words), "{text}: {given}");
}

pub fn set_up(texts: &[&str]) -> (Arc<Database>, Session) {
    let db = database();
    let mut root = session(&db);
    for text in texts {
        let given = run(&mut root, text);
        assert!(!given.starts_with("error"), "{text}: {given}");
    }
    (db, root)
}

const TABLES: [&str; 5] = [
    "CREATE DATABASE shop",
    "CREATE TABLE shop.t (a INT PRIMARY KEY, b INT)",
    "INSERT INTO shop.t VALUES (1, 1), (2, 2)",
    "CREATE TABLE shop.s (a INT PRIMARY KEY, b INT)",
    "CREATE USER u",
];

/// What an account could do, its open sessions cannot do once it is gone, whether they have done it before or
/// not.
#[test]
fn an_account_that_is_gone_may_do_nothing() {
    for gone in ["DROP USER u", "RENAME USER u TO v", "REVOKE ALL PRIVILEGES, GRANT OPTION FROM u"] {
        let (db, mut root) = set_up(&TABLES);
        assert_eq!(run(&mut root, "GRANT ALL ON *.* TO u WITH GRANT OPTION"), "ok\n");
        let mut user = as_user(&db, "u");
        let points = [
            ("SELECT b FROM shop.t WHERE a = 1", "1\n"),
            ("UPDATE shop.t SET b = 1 WHERE a = 1", "ok (Rows matched: 1  Changed: 0  Warnings: 0)\n"),
        ];
        for (text, answer) in points {
            for _ in 0..20 {
                assert_eq!(run(&mut user, text), answer);
            }
            let name = text.split(' ').next().unwrap();
            assert_eq!(
                run(&mut user, &format!("PREPARE {name}_it FROM '{text}'")),
                "ok (Statement prepared)\n"
            );
        }
        let given = run(&mut root, gone);
        assert_eq!(given, "ok\n", "{gone}");
        for (text, _) in points {
            expect(&mut user, text, 1142, "denied");
            let name = text.split(' ').next().unwrap();
            expect(&mut user, &format!("EXECUTE {name}_it"), 1142, "denied");
        }
        for (text, code) in DENIED.iter().filter(|(text, _)| !text.starts_with("KILL")) {
            expect(&mut user, text, *code, "denied");
        }
        assert_eq!(run(&mut user, "SELECT 1"), "1\n");
        if gone.starts_with("REVOKE") {
            continue;
        }
        expect(&mut user, "SHOW GRANTS", 1141, "no such grant");
        expect(&mut user, "SET PASSWORD = 'x'", 1133, "matching row");
        expect(&mut user, "ALTER USER CURRENT_USER() IDENTIFIED BY 'x'", 1396, "failed");
    }
}

/// Rights that come and go hold at once in open sessions, in texts that are kept with their plans too.
#[test]
fn rights_hold_from_the_next_statement_on() {
    let (db, mut root) = set_up(&TABLES);
    let mut user = as_user(&db, "u");
    let text = "UPDATE shop.t SET b = 1 WHERE a = 1";
    for _ in 0..3 {
        expect(&mut user, text, 1142, "UPDATE command denied to user 'u'@'10.0.0.7' for table 't'");
        run(&mut root, "GRANT UPDATE ON shop.* TO u");
        for _ in 0..5 {
            expect(
                &mut user,
                text,
                1143,
                "SELECT command denied to user 'u'@'10.0.0.7' for column 'a' in table 't'",
            );
        }
        run(&mut root, "GRANT SELECT ON shop.* TO u");
        for _ in 0..5 {
            assert!(run(&mut user, text).starts_with("ok"), "{text}");
        }
        run(&mut root, "REVOKE ALL ON shop.* FROM u");
    }
}

/// Nobody passes on what is not held, nor for more databases than it is held for.
#[test]
fn nobody_grants_what_is_not_held() {
    let (db, mut root) = set_up(&TABLES);
    run(&mut root, "CREATE USER v");
    run(&mut root, "GRANT SELECT ON shop.* TO u WITH GRANT OPTION");
    run(&mut root, "GRANT ALL ON `a_`.* TO u WITH GRANT OPTION");
    let mut user = as_user(&db, "u");
    for text in [
        "GRANT INSERT ON shop.* TO v",
        "GRANT ALL ON shop.* TO v",
        "GRANT SELECT, INSERT ON shop.* TO u",
        "GRANT SELECT ON other.* TO v",
        "GRANT SELECT ON `%`.* TO v",
        "GRANT SELECT ON `sho_`.* TO v",
        "GRANT SELECT ON `a%`.* TO v",
        "REVOKE INSERT ON shop.* FROM v",
    ] {
        expect(&mut user, text, 1044, "Access denied for user 'u'@'%' to database");
    }
    for text in ["GRANT SELECT ON *.* TO v", "GRANT CREATE USER ON *.* TO u", "GRANT USAGE ON *.* TO v"] {
        expect(&mut user, text, 1045, "Access denied for user 'u'@'%' (using password: NO)");
    }
    for text in [
        "GRANT SELECT ON shop.* TO v",
        "GRANT GRANT OPTION ON shop.* TO v",
        "GRANT SELECT ON `a_`.* TO v",
        "GRANT SELECT ON ab.* TO v",
        "REVOKE SELECT ON shop.* FROM v",
    ] {
        assert_eq!(run(&mut user, text), "ok\n", "{text}");
    }
    expect(&mut user, "GRANT SELECT ON shop.* TO nobody", 1410, "not allowed to create a user");
}

/// A statement, the number of its error (0 for none) and words of it.
type Expected = (&'static str, u16, &'static str);

/// What an account gets that has these privileges on `shop`.
const OF_ROWS: &[(&str, &[Expected])] = &[
    (
        "UPDATE",
        &[
            ("UPDATE shop.t SET b = 1", 0, ""),
            ("UPDATE shop.t SET b = DEFAULT", 0, ""),
            ("UPDATE shop.t SET b = 1 LIMIT 1", 0, ""),
            ("UPDATE shop.t, shop.s SET t.b = 1", 0, ""),
            (
                "UPDATE shop.t SET b = a",
                1143,
                "SELECT command denied to user 'u'@'10.0.0.7' for column 'a' in table 't'",
            ),
            ("UPDATE shop.t SET b = b", 1143, "column 'b' in table 't'"),
            ("UPDATE shop.t SET b = DEFAULT(b)", 1143, "column 'b' in table 't'"),
            ("UPDATE shop.t SET b = 1 WHERE a = 1", 1143, "column 'a' in table 't'"),
            ("UPDATE shop.t SET b = 1 ORDER BY a", 1143, "column 'a' in table 't'"),
            ("UPDATE shop.t AS x SET b = x.a", 1143, "column 'a' in table 't'"),
            ("UPDATE shop.t JOIN shop.s USING (a) SET t.b = 1", 1143, "column 'a' in table 't'"),
            ("UPDATE shop.t SET b = (SELECT 1 FROM shop.s LIMIT 1)", 1142, "SELECT command denied"),
            (
                "UPDATE shop.t SET b = 1 ORDER BY (SELECT 1 FROM shop.s LIMIT 1)",
                1142,
                "SELECT command denied",
            ),
            ("EXPLAIN UPDATE shop.t SET b = a", 1143, "column 'a' in table 't'"),
            ("PREPARE x FROM 'UPDATE shop.t SET b = a'", 1143, "column 'a' in table 't'"),
            ("INSERT INTO shop.t VALUES (1, 1) ON DUPLICATE KEY UPDATE b = 2", 1142, "INSERT command denied"),
            ("SHOW CREATE TABLE shop.t", 0, ""),
            ("SHOW TABLES FROM shop", 0, ""),
            ("SELECT COUNT(*) FROM shop.t", 1142, "SELECT command denied"),
        ],
    ),
    (
        "DELETE",
        &[
            ("DELETE FROM shop.t WHERE a = 1", 1143, "column 'a' in table 't'"),
            ("DELETE FROM shop.t ORDER BY a LIMIT 1", 1143, "column 'a' in table 't'"),
            ("DELETE FROM shop.t ORDER BY (SELECT 1 FROM shop.s LIMIT 1)", 1142, "SELECT command denied"),
            ("DELETE FROM shop.t", 0, ""),
        ],
    ),
    (
        "INSERT",
        &[
            ("INSERT INTO shop.t VALUES (8, 8)", 0, ""),
            ("INSERT INTO shop.t SET a = 7, b = a", 1143, "column 'a' in table 't'"),
            ("INSERT INTO shop.t VALUES (8, 8) ON DUPLICATE KEY UPDATE b = 1", 1142, "UPDATE command denied"),
            ("INSERT INTO shop.t SELECT 5, 5", 0, ""),
            (
                "INSERT INTO shop.t SELECT * FROM shop.s",
                1142,
                "SELECT command denied to user 'u'@'10.0.0.7' for table 's'",
            ),
            ("REPLACE INTO shop.t VALUES (8, 8)", 1142, ": DELETE command denied"),
            ("CREATE TABLE shop.x SELECT 1", 1142, ": CREATE command denied"),
        ],
    ),
    (
        "INSERT, UPDATE",
        &[
            ("INSERT INTO shop.t VALUES (1, 1) ON DUPLICATE KEY UPDATE b = 3", 0, ""),
            (
                "INSERT INTO shop.t VALUES (1, 1) ON DUPLICATE KEY UPDATE b = VALUES(b)",
                1143,
                "column 'b' in table 't'",
            ),
            (
                "INSERT INTO shop.t VALUES (1, 1) ON DUPLICATE KEY UPDATE b = b + 1",
                1143,
                "column 'b' in table 't'",
            ),
            (
                "INSERT INTO shop.t VALUES (1, 1) AS new ON DUPLICATE KEY UPDATE b = new.b",
                1143,
                "column 'b' in table 't'",
            ),
        ],
    ),
    (
        "SELECT",
        &[
            (
                "SELECT a FROM shop.t FOR UPDATE",
                1142,
                "SELECT with locking clause command denied to user 'u'@'10.0.0.7' for table 't'",
            ),
            ("SELECT * FROM (SELECT a FROM shop.t FOR UPDATE) AS x", 1142, "SELECT with locking clause"),
            (
                "SELECT t.a FROM shop.t JOIN shop.s USING (a) FOR UPDATE OF t",
                1142,
                "SELECT with locking clause",
            ),
            ("SELECT a FROM shop.t FOR SHARE", 0, ""),
            ("SELECT a FROM shop.t LOCK IN SHARE MODE", 0, ""),
            (
                "UPDATE shop.t JOIN shop.s SET t.b = 1 WHERE t.a = s.a",
                1143,
                "UPDATE command denied to user 'u'@'10.0.0.7' for column 'b' in table 't'",
            ),
            ("REPLACE INTO shop.t VALUES (1, 1)", 1142, ": INSERT, DELETE command denied"),
            ("CREATE TABLE shop.x SELECT * FROM shop.t", 1142, "INSERT, CREATE command denied"),
            ("ALTER TABLE shop.t RENAME shop.y", 1142, "DROP, ALTER command denied"),
            ("ANALYZE TABLE shop.t", 1142, ": INSERT command denied"),
            ("REPAIR TABLE shop.t", 1142, ": INSERT command denied"),
            ("OPTIMIZE TABLE shop.t", 1142, ": INSERT command denied"),
            ("CHECK TABLE shop.t", 0, ""),
            ("CHECKSUM TABLE shop.t", 0, ""),
            ("LOCK TABLES shop.t READ", 1044, "database 'shop'"),
            ("SHOW TABLES FROM test", 1044, "database 'test'"),
        ],
    ),
    ("SELECT, LOCK TABLES", &[("SELECT a FROM shop.t FOR UPDATE", 0, "")]),
    (
        "ALTER",
        &[
            ("ALTER TABLE shop.t ADD c INT", 0, ""),
            ("ALTER TABLE shop.t ADD INDEX (b)", 0, ""),
            ("ALTER TABLE shop.t RENAME shop.y", 1142, ": DROP command denied"),
            ("RENAME TABLE shop.t TO shop.y", 1142, ": DROP command denied"),
            ("CREATE INDEX i ON shop.t (b)", 1142, "INDEX command denied"),
            (
                "ALTER TABLE shop.t ADD FOREIGN KEY (b) REFERENCES shop.s (a)",
                1142,
                "REFERENCES command denied",
            ),
            ("CREATE DATABASE shop", 1044, "database 'shop'"),
        ],
    ),
];

#[test]
fn rows_columns_and_definitions() {
    for (held, texts) in OF_ROWS {
        let (db, mut root) = set_up(&TABLES);
        assert_eq!(run(&mut root, &format!("GRANT {held} ON shop.* TO u")), "ok\n");
        let mut user = as_user(&db, "u");
        for (text, code, words) in *texts {
            if *code == 0 {
                let given = run(&mut user, text);
                assert!(!given.starts_with("error"), "{held}: {text}: {given}");
            } else {
                let words = words.replace(": ", &format!("error {code} "));
                expect(&mut user, text, *code, &words);
            }
        }
    }
}

/// Clauses of accounts work or are refused, and what they say is shown.
#[test]
fn clauses_of_accounts() {
    let (db, mut root) = set_up(&TABLES);
    for (text, code) in [
        ("CREATE USER v REQUIRE X509", 1235),
        ("ALTER USER u REQUIRE ISSUER 'x' AND SUBJECT 'y'", 1235),
        ("ALTER USER u REQUIRE CIPHER 'x'", 1235),
        ("ALTER USER u WITH MAX_QUERIES_PER_HOUR 5", 1235),
        ("ALTER USER u WITH MAX_USER_CONNECTIONS 1 MAX_UPDATES_PER_HOUR 5", 1235),
        ("ALTER USER u WITH MAX_CONNECTIONS_PER_HOUR 5", 1235),
        ("ALTER USER u PASSWORD EXPIRE INTERVAL 5 DAY", 1235),
        ("ALTER USER u PASSWORD HISTORY 3", 1235),
        ("ALTER USER u PASSWORD REUSE INTERVAL 3 DAY", 1235),
        ("ALTER USER u PASSWORD REQUIRE CURRENT", 1235),
        ("ALTER USER u FAILED_LOGIN_ATTEMPTS 3", 1235),
        ("ALTER USER u PASSWORD_LOCK_TIME UNBOUNDED", 1235),
        ("ALTER USER u COMMENT 'x'", 1235),
        ("ALTER USER u ATTRIBUTE '{}'", 1235),
        ("GRANT SELECT ON shop.* TO u IDENTIFIED BY 'x'", 1064),
        ("GRANT SELECT ON shop.* TO u REQUIRE SSL", 1064),
        ("GRANT SELECT ON shop.* TO u WITH MAX_USER_CONNECTIONS 1", 1064),
    ] {
        expect(&mut root, text, code, "");
    }
    let shown = |root: &mut Session| {
        let given = run(root, "SHOW CREATE USER u");
        given.split_once(" REQUIRE ").map(|(_, rest)| rest.to_string()).unwrap()
    };
    let history =
        "PASSWORD HISTORY DEFAULT PASSWORD REUSE INTERVAL DEFAULT PASSWORD REQUIRE CURRENT DEFAULT\n";
    assert_eq!(shown(&mut root), format!("NONE PASSWORD EXPIRE DEFAULT ACCOUNT UNLOCK {history}"));
    let text = "ALTER USER u REQUIRE SSL WITH MAX_USER_CONNECTIONS 2 MAX_QUERIES_PER_HOUR 0 PASSWORD EXPIRE NEVER \
                PASSWORD EXPIRE PASSWORD HISTORY DEFAULT PASSWORD REUSE INTERVAL 0 DAY PASSWORD REQUIRE CURRENT OPTIONAL \
                FAILED_LOGIN_ATTEMPTS 0 PASSWORD_LOCK_TIME 0 ACCOUNT LOCK";
    assert_eq!(run(&mut root, text), "ok\n");
    let all = format!("SSL WITH MAX_USER_CONNECTIONS 2 PASSWORD EXPIRE ACCOUNT LOCK {history}");
    assert_eq!(shown(&mut root), all);
    let columns = "SELECT max_user_connections, password_expired, ssl_type FROM mysql.user WHERE user = 'u'";
    assert_eq!(run(&mut root, columns), "2 | Y | ANY\n");
    // A new password ends the expiry.
    assert_eq!(run(&mut root, "ALTER USER u IDENTIFIED BY 'one' ACCOUNT UNLOCK"), "ok\n");
    assert_eq!(run(&mut root, columns), "2 | N | ANY\n");
    let mut user = as_user(&db, "u");
    assert_eq!(user.own_connections_max(), 2);
    expect(
        &mut user,
        "ALTER USER USER() IDENTIFIED BY 'two' REPLACE 'wrong'",
        3891,
        "Incorrect current password",
    );
    assert_eq!(run(&mut user, "ALTER USER USER() IDENTIFIED BY 'two' REPLACE 'one'"), "ok\n");
    expect(&mut user, "ALTER USER USER() WITH MAX_USER_CONNECTIONS 0", 1227, "CREATE USER");
    assert!(run(&mut root, "SHOW CREATE USER u").contains(" AS '$A$005$"));
    run(&mut root, "ALTER USER u IDENTIFIED WITH caching_sha2_password AS 0x2441243030352401");
    run(&mut root, "SET print_identified_with_as_hex = ON");
    assert!(run(&mut root, "SHOW CREATE USER u").contains(" AS 0x2441243030352401 REQUIRE"));
}

/// A refusal names the host that the client has come from, or the account's, and the privilege, as MySQL
/// does.
#[test]
fn refusals_name_what_mysql_names() {
    let (db, _root) = set_up(&TABLES);
    let mut u = as_user(&db, "u");
    expect(&mut u, "SHOW CREATE DATABASE shop", 1044, "'u'@'10.0.0.7' to database 'shop'");
    expect(&mut u, "SHOW CREATE DATABASE nowhere", 1044, "'u'@'10.0.0.7' to database 'nowhere'");
    expect(&mut u, "SHOW TABLES FROM shop", 1044, "'u'@'%' to database 'shop'");
    expect(&mut u, "UPDATE shop.t, shop.s SET t.b = 1", 1142, "SELECT command denied to user 'u'@'10.0.0.7'");
    assert!(run(&mut u, "ALTER USER CURRENT_USER() DEFAULT ROLE ALL").starts_with("ok"));
}
