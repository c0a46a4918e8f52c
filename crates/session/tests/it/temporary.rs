//! Temporary tables: seen by their session alone, whatever plans are kept for others; what an account without
//! rights may do with them and with what they hide; their trees, which go with them.

use turnstile_sys::fault_disk::{FaultDisk, FaultKind};

use super::definitions_crash::{start, trees};
use super::rights::{as_user, expect, set_up};
use super::*;

fn ok(session: &mut Session, text: &str) {
    let given = run(session, text);
    assert!(!given.contains("error"), "{text}: {given}");
}

#[test]
fn others_keep_their_tables_and_their_plans() {
    let (db, mut one) =
        set_up(&["CREATE TABLE t (a INT PRIMARY KEY, b INT)", "INSERT INTO t VALUES (1, 10), (2, 20)"]);
    let mut other = session(&db);
    let texts = ["SELECT * FROM t", "SELECT b FROM t WHERE a = 1", "SELECT b FROM test.t WHERE a = 2"];
    let before: Vec<String> = texts.iter().map(|text| run(&mut one, text)).collect();
    // Kept by their text, and by their template with other literals.
    for _ in 0..5 {
        texts.iter().zip(&before).for_each(|(text, before)| assert_eq!(run(&mut other, text), *before));
        run(&mut other, "SELECT b FROM t WHERE a = 7");
    }
    ok(&mut one, "PREPARE p FROM 'SELECT b FROM t WHERE a = ?'");
    ok(&mut one, "SET @a = 1");
    assert_eq!(run(&mut one, "EXECUTE p USING @a"), "10\n");
    ok(&mut one, "CREATE TEMPORARY TABLE t (b CHAR(9), a INT PRIMARY KEY)");
    ok(&mut one, "INSERT INTO t VALUES ('own', 1)");
    for _ in 0..5 {
        assert_eq!(run(&mut one, texts[0]), "own | 1\n");
        assert_eq!(run(&mut one, texts[1]), "own\n");
        assert_eq!(run(&mut one, texts[2]), "");
        assert_eq!(run(&mut one, "EXECUTE p USING @a"), "own\n");
        texts.iter().zip(&before).for_each(|(text, before)| assert_eq!(run(&mut other, text), *before));
    }
    ok(&mut one, "UPDATE t SET a = a + 1");
    ok(&mut one, "DROP TEMPORARY TABLE t");
    assert_eq!(run(&mut one, "EXECUTE p USING @a"), "10\n");
    texts.iter().zip(&before).for_each(|(text, before)| assert_eq!(run(&mut one, text), *before));
}

#[test]
fn an_account_does_with_its_own_tables_what_it_likes() {
    let (db, mut root) = set_up(&[
        "CREATE DATABASE shop",
        "CREATE TABLE shop.hidden (a INT PRIMARY KEY, b INT)",
        "INSERT INTO shop.hidden VALUES (1, 10)",
        "CREATE VIEW shop.v AS SELECT a, b FROM shop.hidden",
        "CREATE USER u",
        "GRANT CREATE TEMPORARY TABLES ON shop.* TO u",
    ]);
    let mut user = as_user(&db, "u");
    ok(&mut user, "USE shop");
    expect(&mut user, "SELECT * FROM hidden", 1142, "SELECT command denied");
    for text in [
        "CREATE TEMPORARY TABLE hidden (a INT PRIMARY KEY, b INT)",
        "CREATE TEMPORARY TABLE v (a INT)",
        "INSERT INTO hidden VALUES (1, 1), (2, 2)",
        "REPLACE INTO hidden VALUES (2, 3)",
        "UPDATE hidden SET b = b + 1 WHERE a = 1",
        "DELETE FROM hidden WHERE a = 2",
        "SELECT * FROM hidden FOR UPDATE",
        "ALTER TABLE hidden ADD c INT",
        "CREATE INDEX k ON hidden (c)",
        "DROP INDEX k ON hidden",
        "SHOW CREATE TABLE hidden",
        "SHOW COLUMNS FROM hidden",
        "DESCRIBE hidden",
        "EXPLAIN SELECT * FROM hidden",
        "SHOW INDEX FROM hidden",
        "ANALYZE TABLE hidden",
        "CHECK TABLE hidden",
        "CHECKSUM TABLE hidden",
        "CREATE TEMPORARY TABLE like_it LIKE hidden",
        "CREATE TEMPORARY TABLE of_it AS SELECT * FROM hidden",
        "TRUNCATE TABLE of_it",
        "DROP TABLE like_it",
    ] {
        ok(&mut user, text);
    }
    assert_eq!(run(&mut user, "SELECT * FROM hidden"), "1 | 2 | NULL\n");
    // What they hide is not theirs, and nothing is told of it.
    for (text, code) in [
        ("RENAME TABLE hidden TO mine", 1142),
        ("CREATE TABLE like_it LIKE hidden", 1142),
        ("CREATE TABLE hidden (a INT)", 1142),
        ("CREATE VIEW hidden AS SELECT 1", 1142),
        ("DROP VIEW v", 1142),
        ("SHOW CREATE VIEW v", 1347),
        ("ALTER TABLE hidden RENAME TO v", 1142),
        ("CREATE TEMPORARY TABLE test.t (a INT)", 1044),
        ("CREATE TEMPORARY TABLE x LIKE mysql.user", 1142),
        ("CREATE TEMPORARY TABLE x SELECT * FROM mysql.user", 1142),
        ("CREATE TEMPORARY TABLE information_schema.x (a INT)", 1044),
        ("LOCK TABLES hidden WRITE", 1044),
    ] {
        let given = run(&mut user, text);
        assert!(given.starts_with(&format!("error {code} ")), "{text}: {given}");
    }
    ok(&mut user, "DROP TEMPORARY TABLE hidden, v");
    expect(&mut user, "SELECT * FROM hidden", 1142, "SELECT command denied");
    // A view goes on reading what everybody has, with its own rights.
    ok(&mut root, "GRANT SELECT ON shop.v TO u");
    ok(&mut user, "CREATE TEMPORARY TABLE hidden (a INT)");
    assert_eq!(run(&mut user, "SELECT * FROM v"), "1 | 10\n");
    ok(&mut root, "REVOKE SELECT ON shop.v FROM u");
    expect(&mut user, "SELECT * FROM v", 1142, "SELECT command denied");
    assert_eq!(run(&mut root, "SELECT * FROM shop.hidden"), "1 | 10\n");
}

#[test]
fn foreign_keys_mean_the_tables_of_everybody() {
    let (_db, mut root) = set_up(&[
        "CREATE TABLE parent (a INT PRIMARY KEY)",
        "CREATE TABLE child (a INT, FOREIGN KEY (a) REFERENCES parent (a) ON DELETE CASCADE)",
        "INSERT INTO parent VALUES (1)",
        "INSERT INTO child VALUES (1)",
        "CREATE TEMPORARY TABLE parent (a INT PRIMARY KEY)",
        "INSERT INTO parent VALUES (1), (2)",
        "DELETE FROM parent WHERE a = 1",
    ]);
    assert_eq!(run(&mut root, "SELECT * FROM child"), "1\n");
    expect(&mut root, "INSERT INTO child VALUES (2)", 1452, "foreign key");
    ok(&mut root, "INSERT INTO child VALUES (1)");
    ok(&mut root, "TRUNCATE TABLE parent");
    ok(&mut root, "DROP TABLE parent");
    ok(&mut root, "CREATE TEMPORARY TABLE child (a INT)");
    ok(&mut root, "INSERT INTO child VALUES (99)");
}

#[test]
fn read_only_is_for_the_tables_of_everybody() {
    let (db, mut root) = set_up(&["CREATE TABLE t (a INT)", "CREATE USER u", "GRANT ALL ON test.* TO u"]);
    let mut user = as_user(&db, "u");
    ok(&mut user, "USE test");
    ok(&mut user, "CREATE TEMPORARY TABLE own (a INT)");
    ok(&mut user, "START TRANSACTION READ ONLY");
    ok(&mut user, "INSERT INTO own VALUES (1)");
    expect(&mut user, "INSERT INTO t VALUES (1)", 1792, "READ ONLY");
    expect(&mut user, "CREATE TEMPORARY TABLE more (a INT)", 1792, "READ ONLY");
    expect(&mut user, "DROP TEMPORARY TABLE own", 1792, "READ ONLY");
    ok(&mut user, "ROLLBACK");
    assert_eq!(run(&mut user, "SELECT * FROM own"), "");
    ok(&mut user, "BEGIN");
    ok(&mut user, "INSERT INTO t VALUES (1)");
    ok(&mut root, "SET GLOBAL read_only = ON");
    ok(&mut user, "INSERT INTO own VALUES (2)");
    expect(&mut user, "COMMIT", 1290, "--read-only");
    ok(&mut user, "BEGIN");
    ok(&mut user, "INSERT INTO own VALUES (3)");
    ok(&mut user, "UPDATE own SET a = a + 1");
    ok(&mut user, "COMMIT");
    ok(&mut user, "CREATE TEMPORARY TABLE more AS SELECT * FROM own");
    expect(&mut user, "INSERT INTO t VALUES (1)", 1290, "--read-only");
    expect(&mut user, "DELETE own, t FROM own JOIN t", 1290, "--read-only");
    expect(&mut user, "CREATE TABLE more (a INT)", 1290, "--read-only");
    ok(&mut user, "DROP TEMPORARY TABLE own");
    assert_eq!(run(&mut user, "SELECT * FROM more"), "4\n");
    assert_eq!(run(&mut root, "SELECT * FROM t"), "");
}

#[test]
fn their_trees_go_with_them() {
    let (db, mut root) = set_up(&["CREATE TABLE t (a INT PRIMARY KEY)", "INSERT INTO t VALUES (1)"]);
    let known = trees(&db).1;
    for text in [
        "CREATE TEMPORARY TABLE own (a INT PRIMARY KEY, b INT, KEY (b))",
        "INSERT INTO own VALUES (1, 1), (2, 2)",
        "CREATE TEMPORARY TABLE more LIKE own",
        "TRUNCATE TABLE more",
        "ALTER TABLE own ADD c INT, ADD KEY (c), RENAME TO renamed",
        "BEGIN",
        "INSERT INTO t VALUES (2)",
        "INSERT INTO more VALUES (5, 5)",
        "DROP TEMPORARY TABLE more",
        "CREATE TEMPORARY TABLE more (a INT)",
        "INSERT INTO more VALUES (6)",
    ] {
        ok(&mut root, text);
    }
    expect(
        &mut root,
        "CREATE TEMPORARY TABLE bad AS SELECT 1 AS a UNION ALL SELECT a + CAST('x' AS JSON) FROM t",
        3141,
        "JSON",
    );
    assert_eq!(run(&mut root, "ROLLBACK"), "ok (2 warnings)\n");
    assert_eq!(run(&mut root, "SELECT * FROM t"), "1\n");
    assert_eq!(run(&mut root, "SELECT * FROM more"), "");
    // `renamed` has three, `more` one.
    assert_eq!(trees(&db).0.len(), known.len() + 4);
    ok(&mut root, "BEGIN");
    ok(&mut root, "INSERT INTO renamed VALUES (7, 7, 7)");
    ok(&mut root, "DROP TEMPORARY TABLE renamed");
    block_on(root.finish());
    drop(root);
    assert_eq!(trees(&db).0, known);
    let mut again = session(&db);
    ok(&mut again, "CREATE TEMPORARY TABLE own (a INT)");
    block_on(again.reset()).unwrap();
    expect(&mut again, "SELECT * FROM own", 1146, "doesn't exist");
    ok(&mut again, "CREATE TEMPORARY TABLE own (a INT)");
    drop(again);
    assert_eq!(trees(&db).0, known);
}

/// They count among what a session keeps: many of them end at its limit, and can go on when some are gone.
#[test]
fn a_session_has_no_more_of_them_than_its_memory_holds() {
    let (_db, mut root) = set_up(&["SET SESSION connection_memory_limit = 2097152"]);
    let columns = (0..100).map(|nth| format!("c{nth} INT")).collect::<Vec<_>>().join(", ");
    let create = |nth: usize| format!("CREATE TEMPORARY TABLE t{nth} ({columns})");
    let refused = (0..2000).find(|nth| run(&mut root, &create(*nth)).starts_with("error 4082"));
    let refused = refused.expect("a limit is reached");
    assert!(refused > 5, "{refused}");
    expect(&mut root, &create(refused), 4082, "memory");
    ok(&mut root, "DROP TEMPORARY TABLE t0, t1, t2");
    ok(&mut root, &create(0));
    ok(&mut root, "ALTER TABLE t0 RENAME TO other");
    ok(&mut root, "TRUNCATE TABLE other");
}

/// Whatever a temporary table is doing when the power goes: after the restart there is none, nor any tree of
/// one, and the tables of everybody are whole. Nothing is synced for temporary tables, but for a table of
/// everybody between them.
#[test]
fn nothing_is_left_of_them_after_the_power_went() {
    let script = [
        "CREATE TEMPORARY TABLE own (a INT PRIMARY KEY AUTO_INCREMENT, b INT, KEY (b))",
        "INSERT INTO own (b) SELECT a FROM t",
        "UPDATE own SET b = b + 1",
        "CREATE TEMPORARY TABLE copy AS SELECT * FROM own",
        "DROP TEMPORARY TABLE own",
        "BEGIN; INSERT INTO copy VALUES (9, 9); UPDATE t SET a = a + 100; DROP TEMPORARY TABLE copy; \
         CREATE TEMPORARY TABLE copy (a INT); INSERT INTO copy VALUES (1); ROLLBACK",
        "ALTER TABLE copy ADD KEY (a)",
        "TRUNCATE TABLE copy",
        "DROP TABLE copy",
    ];
    let prepared = |seed| {
        let disk = FaultDisk::new(seed);
        let (_, mut session) = start(&disk);
        ok(&mut session, "CREATE TABLE t (a INT PRIMARY KEY)");
        ok(&mut session, "INSERT INTO t VALUES (1), (2), (3)");
        ok(&mut session, "CREATE TABLE steps (n INT PRIMARY KEY)");
        disk.crash()
    };
    let mut nth = 1;
    loop {
        let disk = prepared(nth);
        let (_db, mut session) = start(&disk);
        disk.fail_from(nth, FaultKind::InputOutput);
        let mut steps = 0;
        let mut step = |text: &&str| {
            let ran = !run(&mut session, text).contains("error");
            let noted =
                ran && run(&mut session, &format!("INSERT INTO steps VALUES ({steps})")).starts_with("ok");
            steps += u64::from(noted);
            noted
        };
        let done = script.iter().all(&mut step);
        drop(session);
        let (db, mut session) = start(&disk.crash());
        let (there, named) = trees(&db);
        assert_eq!(there, named, "cut at operation {nth}");
        assert_eq!(run(&mut session, "SELECT * FROM t"), "1\n2\n3\n", "cut at operation {nth}");
        for table in ["t", "steps"] {
            let checked = run(&mut session, &format!("CHECK TABLE {table}"));
            assert!(checked.contains("status | OK"), "cut at operation {nth}: {checked}");
        }
        let found: u64 = run(&mut session, "SELECT COUNT(*) FROM steps").trim().parse().unwrap();
        assert!(found >= steps, "cut at operation {nth}: {found} of {steps}");
        if done {
            break;
        }
        nth += 1;
    }
    assert!(nth > 10, "{nth}");
}
