//! Roles: what is held by one counts wherever rights are asked for, and no longer than it is held; what is
//! granted is there after a power cut; two statements that change accounts at the same time do not undo each
//! other.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use turnstile_sys::fault_disk::FaultDisk;

use super::rights::{expect, set_up};
use super::*;

/// What a role is given, a statement that needs it, and the error without it.
const PLACES: &[(&str, &str, u16)] = &[
    ("SELECT ON *.*", "SELECT * FROM shop.t", 1142),
    ("SELECT ON shop.*", "SELECT * FROM shop.t", 1142),
    ("SELECT ON `sh%`.*", "SELECT * FROM shop.t", 1142),
    ("SELECT ON shop.t", "SELECT * FROM shop.t", 1142),
    ("SELECT (a) ON shop.t", "SELECT a FROM shop.t", 1142),
    ("INSERT (a) ON shop.t", "INSERT INTO shop.t (a) VALUES (9)", 1142),
    ("UPDATE (b), SELECT (a) ON shop.t", "UPDATE shop.t SET b = 1 WHERE a = 1", 1142),
    ("DELETE ON shop.t", "DELETE FROM shop.t", 1142),
    ("SELECT, LOCK TABLES ON shop.*", "SELECT * FROM shop.t FOR UPDATE", 1142),
    ("CREATE ON shop.x", "CREATE TABLE shop.x (a INT)", 1142),
    ("CREATE ON more.*", "CREATE DATABASE more", 1044),
    ("DROP ON shop.t", "TRUNCATE shop.t", 1142),
    ("ALTER ON shop.t", "ALTER TABLE shop.t ADD c INT", 1142),
    ("INDEX ON shop.t", "CREATE INDEX k ON shop.t (b)", 1142),
    ("CREATE, REFERENCES ON shop.*", "CREATE TABLE shop.c (a INT, FOREIGN KEY (a) REFERENCES t (a))", 1142),
    ("SELECT, LOCK TABLES ON shop.*", "LOCK TABLES shop.t READ", 1044),
    ("SELECT ON shop.t", "USE shop", 1044),
    ("SELECT ON shop.t", "SHOW COLUMNS FROM shop.t", 1142),
    ("INSERT ON shop.t", "SHOW CREATE TABLE shop.t", 1142),
    ("SELECT, INSERT ON shop.t", "ANALYZE TABLE shop.t", 1142),
    ("PROCESS ON *.*", "SHOW ENGINE INNODB STATUS", 1227),
    ("PROCESS ON *.*", "SELECT COUNT(*) FROM information_schema.innodb_trx", 1227),
    ("RELOAD ON *.*", "FLUSH PRIVILEGES", 1227),
    ("CREATE USER ON *.*", "CREATE USER another", 1227),
    ("CREATE ROLE ON *.*", "CREATE ROLE another", 1227),
    ("DROP ROLE ON *.*", "DROP ROLE spare", 1227),
    ("ROLE_ADMIN ON *.*", "GRANT spare TO u", 1227),
    ("SYSTEM_VARIABLES_ADMIN ON *.*", "SET GLOBAL max_connections = 77", 1227),
    ("SUPER ON *.*", "SET GLOBAL max_connections = 77", 1227),
    ("SELECT ON mysql.*", "SHOW GRANTS FOR root@localhost", 1142),
    ("SELECT ON mysql.user", "SELECT COUNT(*) FROM mysql.user", 1142),
    ("REPLICATION CLIENT ON *.*", "SHOW BINARY LOG STATUS", 1227),
];

const SHOP: [&str; 5] = [
    "CREATE DATABASE shop",
    "CREATE TABLE shop.t (a INT PRIMARY KEY, b INT)",
    "INSERT INTO shop.t VALUES (1, 1), (2, 2)",
    "CREATE ROLE r, inner_r, spare",
    "CREATE USER u",
];

/// How the role comes to count, and how it no longer does. The session is open all the time.
const WAYS: &[(&[&str], &str, &[&str])] = &[
    (&["GRANT r TO u"], "SET ROLE r", &["REVOKE r FROM u"]),
    (&["GRANT r TO u"], "SET ROLE ALL", &["DROP ROLE r"]),
    (&["GRANT r TO u"], "SET ROLE r", &["DROP ROLE r", "CREATE ROLE r", "GRANT ALL ON *.* TO r"]),
    (&["GRANT r TO inner_r", "GRANT inner_r TO u"], "SET ROLE inner_r", &["REVOKE r FROM inner_r"]),
    (&["GRANT r TO inner_r", "GRANT inner_r TO u"], "SET ROLE inner_r", &["DROP ROLE inner_r"]),
    (&["SET GLOBAL mandatory_roles = 'r'"], "SET ROLE r", &["SET GLOBAL mandatory_roles = ''"]),
    (&["GRANT r TO u"], "SET ROLE r", &["RENAME USER u TO v"]),
    (&["GRANT r TO u"], "SET ROLE r", &["DROP USER u"]),
];

#[test]
fn a_right_by_a_role_counts_everywhere_while_the_role_is_held() {
    let every = PLACES.iter().enumerate().flat_map(|(at, place)| {
        // Every place by the first way, and every way at some places.
        WAYS.iter()
            .enumerate()
            .filter(move |(way, _)| *way == 0 || at % WAYS.len() == *way)
            .map(move |(_, way)| (place, way))
    });
    for ((given, text, code), (comes, activates, goes)) in every {
        let (db, mut root) = set_up(&SHOP);
        let mut user = as_user(&db, "u");
        let what = format!("{text} by {given}, {comes:?}, {goes:?}");
        run(&mut user, "SET autocommit = 0");
        let is_denied = |user: &mut Session, when: &str| {
            let answer = run(user, text);
            assert!(answer.starts_with(&format!("error {code} ")), "{what}, {when}: {answer}");
        };
        is_denied(&mut user, "before");
        for statement in
            [format!("GRANT {given} TO r")].iter().map(String::as_str).chain(comes.iter().copied())
        {
            assert_eq!(run(&mut root, statement), "ok\n", "{what}: {statement}");
        }
        is_denied(&mut user, "held, not active");
        assert_eq!(run(&mut user, activates), "ok\n", "{what}");
        let answer = run(&mut user, text);
        assert!(!answer.starts_with("error"), "{what}: {answer}");
        run(&mut user, "ROLLBACK");
        run(&mut user, "UNLOCK TABLES");
        for statement in *goes {
            assert_eq!(run(&mut root, statement), "ok\n", "{what}: {statement}");
        }
        // Another answer than that of a missing right would mean that it was let in.
        is_denied(&mut user, "no longer held");
        run(&mut user, "SET ROLE ALL");
        is_denied(&mut user, "no longer held, after SET ROLE");
    }
}

#[test]
fn roles_are_there_after_the_power_is_cut() {
    let disk = FaultDisk::new(7);
    let start = |disk: &FaultDisk| {
        let config = Config { buffer_pool_bytes: 1 << 20, redo_capacity_bytes: 1 << 20, ..Config::default() };
        let engine = Engine::open_quiet(Arc::new(disk.clone()), config).unwrap();
        block_on(Database::open(engine)).unwrap()
    };
    let db = start(&disk);
    let mut root = session(&db);
    for statement in [
        "CREATE ROLE r, 'it''s \"a`role'@'10.%', gone",
        "GRANT PROCESS ON *.* TO r",
        "CREATE USER u DEFAULT ROLE r",
        "GRANT 'it''s \"a`role'@'10.%', gone TO r WITH ADMIN OPTION",
        "GRANT CREATE ROLE, ROLE_ADMIN ON *.* TO u",
        "DROP ROLE gone",
    ] {
        assert_eq!(run(&mut root, statement), "ok\n", "{statement}");
    }
    let before: Vec<_> = LOOKS.iter().map(|look| run(&mut root, look)).collect();
    assert!(before.iter().all(|text| !text.is_empty()), "{before:?}");
    drop((root, db));
    let db = start(&disk.crash());
    let mut root = session(&db);
    let after: Vec<_> = LOOKS.iter().map(|look| run(&mut root, look)).collect();
    assert_eq!(before, after);
    let mut user = as_user(&db, "u");
    assert_eq!(run(&mut user, "SELECT CURRENT_ROLE()"), "`r`@`%`\n");
    assert!(!run(&mut user, "SHOW ENGINE INNODB STATUS").starts_with("error"));
}

const LOOKS: [&str; 5] = [
    "SELECT * FROM mysql.role_edges",
    "SELECT * FROM mysql.default_roles",
    "SHOW GRANTS FOR u USING r",
    "SHOW GRANTS FOR r",
    "SHOW CREATE USER u",
];

/// A statement is stopped wherever it waits, and another one changes the same account meanwhile.
#[test]
fn changes_of_the_same_account_at_the_same_time_are_all_kept() {
    let (db, mut root) = set_up(&["CREATE USER u", "CREATE ROLE r1, r2", "GRANT PROCESS ON *.* TO u"]);
    let mut other = session(&db);
    let pairs = [
        ("GRANT SELECT ON a.* TO u", "GRANT INSERT ON b.* TO u"),
        ("GRANT SELECT ON c.* TO u", "REVOKE PROCESS ON *.* FROM u"),
        ("GRANT r1 TO r2", "GRANT r2 TO r1"),
    ];
    for (one, two) in pairs {
        let (mut first, mut second) = (Text::default(), Text::default());
        {
            let mut one = pin!(root.query(one.as_bytes(), &mut first));
            let mut two = pin!(other.query(two.as_bytes(), &mut second));
            let (mut one_ended, mut two_ended) = (None, None);
            let cx = &mut Context::from_waker(Waker::noop());
            while one_ended.is_none() || two_ended.is_none() {
                if one_ended.is_none()
                    && let Poll::Ready(result) = one.as_mut().poll(cx)
                {
                    one_ended = Some(result);
                }
                if two_ended.is_none()
                    && let Poll::Ready(result) = two.as_mut().poll(cx)
                {
                    two_ended = Some(result);
                }
            }
        }
    }
    let grants = run(&mut root, "SHOW GRANTS FOR u");
    for line in
        ["GRANT USAGE ON *.*", "GRANT SELECT ON `a`.*", "GRANT INSERT ON `b`.*", "GRANT SELECT ON `c`.*"]
    {
        assert!(grants.contains(line), "{line}: {grants}");
    }
    assert_eq!(run(&mut root, "SELECT COUNT(*) FROM mysql.role_edges"), "1\n", "two edges would be a cycle");
}

#[test]
fn sessions_of_who_holds_system_user_are_ended_by_their_like() {
    let (db, mut root) = set_up(&[
        "CREATE USER u, killer, helper",
        "CREATE ROLE r",
        "GRANT SYSTEM_USER ON *.* TO r",
        "GRANT r TO u, helper",
        "GRANT CONNECTION_ADMIN ON *.* TO killer, helper",
        "CREATE USER plain",
    ]);
    let kill = |by: &mut Session, whom: &Session| run(by, &format!("KILL QUERY {}", whom.id()));
    let (mut u, mut killer, mut helper) = (as_user(&db, "u"), as_user(&db, "killer"), as_user(&db, "helper"));
    let mut plain = as_user(&db, "plain");
    let denied =
        |answer: String| assert!(answer.starts_with("error 1095 You are not owner of thread"), "{answer}");
    denied(kill(&mut plain, &u));
    denied(kill(&mut killer, &root));
    assert_eq!(kill(&mut killer, &u), "ok\n", "the role is not active");
    run(&mut u, "DO 1");
    assert_eq!(run(&mut u, "SET ROLE r"), "ok\n");
    denied(kill(&mut killer, &u));
    denied(kill(&mut helper, &u));
    assert_eq!(run(&mut helper, "SET ROLE r"), "ok\n");
    assert_eq!(kill(&mut helper, &u), "ok\n");
    assert_eq!(kill(&mut helper, &root), "ok\n");
    run(&mut root, "DO 1");
    assert_eq!(run(&mut root, "REVOKE r FROM u"), "ok\n");
    assert_eq!(kill(&mut killer, &u), "ok\n", "the role is no longer held");
}

/// A role with SYSTEM_USER, or what leads to one, is neither taken nor given by who does not have it; nor
/// does it become everybody's.
#[test]
fn system_user_by_a_role_is_not_to_be_had_by_a_detour() {
    let (db, mut root) = set_up(&[
        "CREATE USER boss, clerk",
        "CREATE ROLE r, inner_r, m",
        "GRANT SYSTEM_USER ON *.* TO inner_r",
        "GRANT inner_r TO r",
        "GRANT r TO boss",
        "GRANT CREATE USER, ROLE_ADMIN, SYSTEM_VARIABLES_ADMIN ON *.* TO clerk",
        "SET GLOBAL mandatory_roles = 'm'",
    ]);
    let mut clerk = as_user(&db, "clerk");
    for text in [
        "GRANT r TO clerk",
        "GRANT inner_r TO clerk",
        "CREATE USER front DEFAULT ROLE r",
        "ALTER USER boss IDENTIFIED BY 'x'",
        "SET PASSWORD FOR boss = 'x'",
        "DROP USER boss",
        "RENAME USER boss TO away",
        "DROP ROLE r",
        "REVOKE inner_r FROM r",
        "SET DEFAULT ROLE ALL TO boss",
        "ALTER USER r ACCOUNT UNLOCK",
    ] {
        expect(&mut clerk, text, 1227, "SYSTEM_USER");
    }
    expect(&mut clerk, "SET GLOBAL mandatory_roles = 'r'", 3880, "r");
    expect(&mut root, "GRANT SYSTEM_USER ON *.* TO m", 3897, "m");
    // A mandatory role that has come to hold it counts for nobody.
    assert_eq!(run(&mut root, "SET GLOBAL mandatory_roles = 'late'"), "ok\n");
    assert_eq!(run(&mut root, "CREATE ROLE late"), "ok\n");
    assert_eq!(run(&mut clerk, "SET ROLE late"), "ok\n");
    assert_eq!(run(&mut root, "SET GLOBAL mandatory_roles = ''"), "ok\n");
    assert_eq!(run(&mut root, "GRANT SYSTEM_USER ON *.* TO late"), "ok\n");
    expect(&mut root, "SET GLOBAL mandatory_roles = 'late'", 3880, "late");
    expect(&mut clerk, "SET ROLE late", 3530, "late");
}

#[test]
fn a_change_of_user_and_activation_of_all_roles() {
    let (db, mut root) = set_up(&[
        "CREATE USER u, v",
        "CREATE ROLE a, b, m",
        "GRANT a, b TO u",
        "GRANT SELECT ON test.* TO a",
        "GRANT a TO v",
        "SET DEFAULT ROLE a TO v",
        "SET GLOBAL activate_all_roles_on_login = ON",
    ]);
    let mut user = as_user(&db, "u");
    assert_eq!(run(&mut user, "SELECT CURRENT_ROLE()"), "`a`@`%`,`b`@`%`\n");
    block_on(user.reset()).unwrap();
    assert_eq!(run(&mut user, "SELECT CURRENT_ROLE()"), "`a`@`%`,`b`@`%`\n", "a reset keeps them");
    assert_eq!(run(&mut root, "SET GLOBAL activate_all_roles_on_login = OFF"), "ok\n");
    let init = |user: &str, database: Option<&str>| SessionInit {
        connection_id: 0,
        user: user.into(),
        host: "10.0.0.7".into(),
        account: AccountName::new(user, "%"),
        database: database.map(Into::into),
        collation: 255,
        found_rows: false,
        multi_statements: false,
    };
    // The database of a login is asked for with the roles that the login brings.
    block_on(user.change_user(init("v", Some("test")))).unwrap();
    assert_eq!(run(&mut user, "SELECT CURRENT_ROLE(), DATABASE()"), "`a`@`%` | test\n");
    block_on(user.change_user(init("u", None))).unwrap();
    assert_eq!(run(&mut user, "SELECT CURRENT_ROLE()"), "NONE\n");
    assert_eq!(block_on(user.change_user(init("u", Some("test")))).unwrap_err().code, 1044);
}

/// Renaming takes a holder's roles along, and nothing of a role stays with anybody when it goes, in whatever
/// order a statement names them.
#[test]
fn edges_lead_to_accounts_that_are_there() {
    let (_db, mut root) = set_up(&[
        "CREATE USER u, v",
        "CREATE ROLE a, b",
        "GRANT a TO u WITH ADMIN OPTION",
        "GRANT a, b TO v",
        "SET DEFAULT ROLE ALL TO u, v",
    ]);
    let edges = "SELECT CONCAT(from_user, '>', to_user, with_admin_option) FROM mysql.role_edges";
    assert_eq!(run(&mut root, edges), "a>uY\na>vN\nb>vN\n");
    expect(&mut root, "RENAME USER a TO c", 3532, "forbidden");
    expect(&mut root, "RENAME USER u TO x, a TO c", 3532, "forbidden");
    assert_eq!(run(&mut root, "RENAME USER u TO x, x TO u, v TO `a'%b`"), "ok\n");
    assert_eq!(run(&mut root, edges), "a>a'%bN\na>uY\nb>a'%bN\n");
    assert_eq!(run(&mut root, "DROP USER u, a"), "ok\n");
    assert_eq!(run(&mut root, edges), "b>a'%bN\n");
    assert_eq!(run(&mut root, "SELECT default_role_user FROM mysql.default_roles"), "b\n");
    assert_eq!(
        run(&mut root, "SHOW GRANTS FOR 'a''%b'"),
        "GRANT USAGE ON *.* TO `a'%b`@`%`\nGRANT `b`@`%` TO `a'%b`@`%`\n"
    );
}
