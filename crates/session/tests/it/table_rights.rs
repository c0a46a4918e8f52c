//! Privileges on tables and columns. What each statement answers was taken from MySQL 9.7, but for JOIN USING
//! and NATURAL JOIN, whose columns MySQL does not ask for.

use super::rights::{as_user, expect, set_up};
/// What is answered, without the end of its last line.
fn run(session: &mut turnstile_session::Session, text: &str) -> String {
    super::run(session, text).trim_end_matches('\n').to_string()
}

const TABLES: &[&str] = &[
    "CREATE DATABASE pr",
    "CREATE TABLE pr.t (a INT PRIMARY KEY, b INT, c INT, KEY(b))",
    "CREATE TABLE pr.u (a INT, x INT, b INT)",
    "CREATE TABLE pr.n (a INT)",
    "CREATE TABLE pr.m (a INT, b INT)",
    "INSERT INTO pr.t VALUES (1,1,1),(2,2,2)",
    "INSERT INTO pr.u VALUES (1,1,1)",
    "CREATE USER q",
    "GRANT SELECT (a), INSERT (a, b), UPDATE (c), REFERENCES (a) ON pr.t TO q",
    "GRANT SELECT, CREATE, INSERT, DELETE ON pr.u TO q",
    "GRANT SELECT(a) ON pr.u TO q",
    "GRANT CREATE, INSERT, REFERENCES ON pr.k TO q",
    "GRANT DELETE ON pr.n TO q",
    "CREATE TABLE pr.v (a INT, y INT)",
    "GRANT SELECT (y), INSERT (y), DELETE ON pr.v TO q",
];

/// Statements that are allowed, denied a table (1142, with the command and the table), or a column (1143,
/// with the column too).
const STATEMENTS: &[(&str, &str)] = &[
    ("SELECT a FROM t", ""),
    ("SELECT b FROM t", "SELECT b t"),
    ("SELECT b, nosuch FROM t", "SELECT b t"),
    ("SELECT nosuch FROM t", "SELECT nosuch t"),
    ("SELECT a FROM t WHERE b=1", "SELECT b t"),
    ("SELECT * FROM t", "SELECT t"),
    ("SELECT t.* FROM t", "SELECT t"),
    ("TABLE t", "SELECT t"),
    ("INSERT INTO v VALUES (1, 2)", "INSERT a v"),
    ("SELECT * FROM v", "SELECT a v"),
    ("DELETE v FROM v JOIN u ON 1", ""),
    ("DELETE n FROM n JOIN u ON 1", "SELECT n"),
    ("SELECT COUNT(*) FROM t", ""),
    ("SELECT 1 FROM t", ""),
    ("SELECT EXISTS(SELECT * FROM t)", ""),
    ("SELECT EXISTS(SELECT b FROM t)", "SELECT b t"),
    ("SELECT COUNT(b) FROM t", "SELECT b t"),
    ("SELECT a AS b FROM t ORDER BY b", ""),
    ("SELECT a FROM t ORDER BY b", "SELECT b t"),
    ("SELECT a AS b FROM t GROUP BY b", "SELECT b t"),
    ("SELECT a AS b FROM t HAVING b", ""),
    ("SELECT t.a FROM t JOIN u USING (b)", "SELECT b t"),
    ("SELECT t.a FROM t NATURAL JOIN u", "SELECT b t"),
    ("SELECT u.a FROM u JOIN t USING (a)", ""),
    // MySQL names the table here, and not the column.
    ("SELECT * FROM u JOIN t USING (a)", "SELECT b t"),
    ("SELECT u.a FROM u JOIN t ON t.b=u.b", "SELECT b t"),
    ("SELECT 1 FROM n", "SELECT n"),
    ("SELECT 1 FROM nosuchtable", "SELECT nosuchtable"),
    ("SELECT GROUP_CONCAT(a ORDER BY b) FROM t", "SELECT b t"),
    ("SELECT a FROM t UNION SELECT b FROM t", "SELECT b t"),
    ("SELECT x FROM u WHERE EXISTS (SELECT 1 FROM t WHERE t.b=u.x)", "SELECT b t"),
    ("SELECT x FROM u WHERE EXISTS (SELECT 1 FROM t WHERE t.a=u.x)", ""),
    ("SELECT x FROM u WHERE x IN (SELECT b FROM t)", "SELECT b t"),
    ("WITH w AS (SELECT b FROM t) SELECT b FROM w", "SELECT b t"),
    ("SELECT d.b FROM (SELECT b FROM t) d", "SELECT b t"),
    ("SELECT d.a FROM (SELECT a FROM t) d", ""),
    ("DO (SELECT b FROM t)", "SELECT b t"),
    ("SET @x = (SELECT b FROM t LIMIT 1)", "SELECT b t"),
    ("PREPARE s FROM 'SELECT b FROM t'", "SELECT b t"),
    ("EXPLAIN SELECT b FROM t", "SELECT b t"),
    ("INSERT INTO t VALUES (3,3,3)", "INSERT t"),
    ("INSERT INTO t () VALUES ()", "INSERT t"),
    ("INSERT INTO t (a,b) VALUES (3,3)", ""),
    ("INSERT INTO t (a,c) VALUES (4,3)", "INSERT c t"),
    ("INSERT INTO t SET c=7", "INSERT c t"),
    ("INSERT INTO t (a,b) VALUES (4,b+1)", "SELECT b t"),
    ("INSERT INTO t (a,b) VALUES (4,a+1)", ""),
    ("INSERT INTO t (a,b) VALUES (5,DEFAULT(b))", "SELECT b t"),
    ("INSERT INTO t (a) VALUES (3) ON DUPLICATE KEY UPDATE c=1", ""),
    ("INSERT INTO t (a) VALUES (3) ON DUPLICATE KEY UPDATE b=1", "UPDATE b t"),
    ("INSERT INTO t (a) VALUES (3) ON DUPLICATE KEY UPDATE c=b", "SELECT b t"),
    ("INSERT INTO t (a) VALUES (3) ON DUPLICATE KEY UPDATE c=VALUES(b)", "SELECT b t"),
    ("INSERT INTO t (a) VALUES (3) AS w ON DUPLICATE KEY UPDATE c=w.a", ""),
    ("INSERT INTO t (a,b) VALUES (3,4) AS w(x,y) ON DUPLICATE KEY UPDATE c=y", "SELECT b t"),
    ("INSERT INTO t (a,b) VALUES (3,4) AS w(x,y) ON DUPLICATE KEY UPDATE c=x", ""),
    ("INSERT INTO u (a,x) SELECT a, 1 FROM t", ""),
    ("INSERT INTO u (a,x) SELECT a, b FROM t", "SELECT b t"),
    ("INSERT INTO t (a) SELECT a FROM u ON DUPLICATE KEY UPDATE c=t.b", "SELECT b t"),
    ("REPLACE INTO t (a) VALUES (1)", "DELETE t"),
    ("REPLACE INTO u VALUES (1,1,1)", ""),
    ("UPDATE t SET c=1", ""),
    ("UPDATE t SET b=1", "UPDATE b t"),
    ("UPDATE t SET c=b", "SELECT b t"),
    ("UPDATE t SET c=a", ""),
    ("UPDATE t SET c=1 WHERE b=1", "SELECT b t"),
    ("UPDATE t SET c=1 ORDER BY b", "SELECT b t"),
    ("UPDATE t, u SET t.c=1 WHERE t.a=u.a", ""),
    ("UPDATE t, u SET t.b=1 WHERE t.a=u.a", "UPDATE b t"),
    ("UPDATE t, u SET u.x=1 WHERE t.a=u.a", "UPDATE x u"),
    ("UPDATE u SET x=1", "UPDATE u"),
    ("DELETE FROM t", "DELETE t"),
    ("DELETE FROM u WHERE a=99", ""),
    ("DELETE FROM n", ""),
    ("DELETE FROM n WHERE a=1", "SELECT a n"),
    ("DELETE u FROM t JOIN u ON t.a=u.a WHERE t.b=99", "SELECT b t"),
    ("SELECT a FROM t FOR UPDATE", ""),
    ("CREATE TABLE k (a INT, FOREIGN KEY (a) REFERENCES t(a))", "REFERENCES pr.t"),
    ("CREATE TABLE k LIKE n", "SELECT n"),
    ("CREATE TABLE k AS SELECT b FROM t", "SELECT b t"),
    ("CREATE TABLE k2 AS SELECT a FROM t", "INSERT, CREATE k2"),
    ("CREATE TABLE k AS SELECT a FROM t", ""),
    ("ALTER TABLE t ADD d INT", "ALTER t"),
    ("CREATE INDEX i ON t (b)", "INDEX t"),
    ("TRUNCATE t", "DROP t"),
    ("DROP TABLE k", "DROP k"),
    ("SHOW COLUMNS FROM n", ""),
    ("SHOW COLUMNS FROM m", "SELECT m"),
    ("SHOW CREATE TABLE n", ""),
    ("SHOW CREATE TABLE t", "SHOW t"),
    ("CHECK TABLE m", "SELECT m"),
];

#[test]
fn columns_are_asked_for_wherever_they_are_used() {
    let (db, _root) = set_up(TABLES);
    let mut q = as_user(&db, "q");
    assert!(!run(&mut q, "USE pr").starts_with("error"));
    for (text, wanted) in STATEMENTS {
        // Twice: the second time with what is kept of the statement.
        for _ in 0..2 {
            let given = run(&mut q, text);
            let parts: Vec<&str> = wanted.rsplitn(3, ' ').collect();
            let words = match parts.as_slice() {
                [] | [""] => {
                    let repeated = given.contains("1062") || given.contains("1050");
                    assert!(!given.starts_with("error") || repeated, "{text}: {given}");
                    continue;
                }
                [table, column, command] if !command.ends_with(',') => {
                    format!(
                        "1143 {command} command denied to user 'q'@'10.0.0.7' for column '{column}' in table '{table}'"
                    )
                }
                [table, command @ ..] => {
                    let command: Vec<&str> = command.iter().rev().copied().collect();
                    format!(
                        "1142 {} command denied to user 'q'@'10.0.0.7' for table '{table}'",
                        command.join(" ")
                    )
                }
            };
            assert!(given.contains(&words), "{text}: {given}");
        }
    }
}

#[test]
fn only_what_may_be_used_is_seen() {
    let (db, _root) = set_up(TABLES);
    let mut q = as_user(&db, "q");
    run(&mut q, "USE pr");
    assert_eq!(run(&mut q, "SHOW TABLES"), "n\nt\nu\nv");
    assert!(run(&mut q, "SHOW DATABASES").contains("pr"));
    let columns = "SELECT TABLE_NAME, COLUMN_NAME, PRIVILEGES FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'pr' \
                   ORDER BY 1, 2";
    let shown = "t | a | select,insert,references\nt | b | insert\nt | c | update\nu | a | select,insert\n\
                 u | b | select,insert\nu | x | select,insert\nv | y | select,insert";
    assert_eq!(run(&mut q, columns), shown);
    assert_eq!(run(&mut q, "SHOW COLUMNS FROM n"), "");
    expect(&mut q, "USE mysql", 1044, "mysql");
    let tables = "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'pr' ORDER BY 1";
    assert_eq!(run(&mut q, tables), "n\nt\nu\nv");
}

#[test]
fn a_kept_plan_notices_that_a_column_is_taken_away() {
    let (db, mut root) = set_up(TABLES);
    let mut q = as_user(&db, "q");
    run(&mut q, "USE pr");
    run(&mut q, "PREPARE s FROM 'SELECT a FROM t WHERE a = 1'");
    for _ in 0..3 {
        assert_eq!(run(&mut q, "EXECUTE s"), "1");
        assert_eq!(run(&mut q, "SELECT a FROM t WHERE a = 1"), "1");
    }
    run(&mut root, "REVOKE SELECT (a) ON pr.t FROM q");
    expect(&mut q, "EXECUTE s", 1142, "SELECT command denied");
    expect(&mut q, "SELECT a FROM t WHERE a = 1", 1142, "SELECT command denied");
    run(&mut root, "GRANT SELECT (c) ON pr.t TO q");
    expect(&mut q, "EXECUTE s", 1143, "column 'a' in table 't'");
    expect(&mut q, "SELECT a FROM t WHERE a = 1", 1143, "column 'a' in table 't'");
    run(&mut root, "GRANT SELECT ON pr.t TO q");
    assert_eq!(run(&mut q, "EXECUTE s"), "1");
}

#[test]
fn grants_are_shown_and_revoked_as_mysql_does() {
    let (db, mut root) = set_up(TABLES);
    let own = "GRANT SELECT (`a`), INSERT (`a`, `b`), UPDATE (`c`), REFERENCES (`a`) ON `pr`.`t` TO `q`@`%`";
    assert!(run(&mut root, "SHOW GRANTS FOR q").contains(own));
    expect(
        &mut root,
        "REVOKE SELECT (b) ON pr.t FROM q",
        1147,
        "no such grant defined for user 'q' on host '%' on table 't'",
    );
    expect(&mut root, "REVOKE SELECT (a), DROP ON pr.t FROM q", 1147, "table 't'");
    expect(&mut root, "REVOKE SELECT ON pr.zzz FROM q", 1147, "table 'zzz'");
    expect(&mut root, "REVOKE SELECT ON pr.* FROM q", 1141, "on host '%'");
    expect(&mut root, "GRANT SELECT ON pr.nosuch TO q", 1146, "'pr.nosuch'");
    expect(&mut root, "GRANT SELECT (nosuch) ON pr.t TO q", 1054, "Unknown column 'nosuch' in 't'");
    expect(&mut root, "GRANT DROP (a) ON pr.t TO q", 1064, "near '(a) ON pr.t TO q'");
    expect(&mut root, "GRANT RELOAD ON pr.t TO q", 1144, "Illegal GRANT");
    expect(&mut root, "GRANT SELECT (a) ON pr.* TO q", 1144, "Illegal GRANT");
    expect(&mut root, "GRANT SELECT ON pr.t TO nobody", 1410, "");
    run(&mut root, "REVOKE SELECT ON pr.t FROM q");
    let rest = "GRANT INSERT (`a`, `b`), UPDATE (`c`), REFERENCES (`a`) ON `pr`.`t` TO `q`@`%`";
    assert!(run(&mut root, "SHOW GRANTS FOR q").contains(rest));
    // They belong to the name: a table that comes again has them, one that is renamed leaves them behind.
    run(&mut root, "DROP TABLE pr.t");
    assert!(run(&mut root, "SHOW GRANTS FOR q").contains(rest));
    run(&mut root, "RENAME TABLE pr.u TO pr.t");
    let mut q = as_user(&db, "q");
    run(&mut q, "USE pr");
    expect(&mut q, "SELECT a FROM t", 1142, "SELECT command denied");
    run(&mut root, "REVOKE ALL PRIVILEGES, GRANT OPTION FROM q");
    assert_eq!(run(&mut root, "SHOW GRANTS FOR q"), "GRANT USAGE ON *.* TO `q`@`%`");
}

#[test]
fn who_may_pass_on_some_columns_passes_on_these() {
    let (db, mut root) = set_up(TABLES);
    for text in
        ["CREATE USER w", "CREATE USER x", "GRANT SELECT (a), INSERT (b) ON pr.t TO w WITH GRANT OPTION"]
    {
        run(&mut root, text);
    }
    let mut w = as_user(&db, "w");
    assert!(!run(&mut w, "GRANT SELECT (a) ON pr.t TO x").starts_with("error"));
    expect(
        &mut w,
        "GRANT SELECT (c) ON pr.t TO x",
        1143,
        "SELECT command denied to user 'w'@'10.0.0.7' for column 'c'",
    );
    expect(&mut w, "GRANT SELECT ON pr.t TO x", 1142, "SELECT command denied");
    expect(&mut w, "GRANT DELETE ON pr.t TO x", 1142, "DELETE command denied");
    expect(&mut w, "GRANT SELECT ON pr.u TO x", 1142, "SELECT, GRANT command denied");
    let mut x = as_user(&db, "x");
    expect(&mut x, "GRANT SELECT (a) ON pr.t TO w", 1142, "GRANT command denied");
    assert_eq!(
        run(&mut root, "SHOW GRANTS FOR x"),
        "GRANT USAGE ON *.* TO `x`@`%`\nGRANT SELECT (`a`) ON `pr`.`t` TO `x`@`%`"
    );
}

#[test]
fn tables_of_privileges_show_them() {
    let (db, mut root) = set_up(TABLES);
    let tables = "SELECT Host, Db, User, Table_name, Grantor, Table_priv, Column_priv FROM mysql.tables_priv ORDER BY Table_name";
    let shown = "% | pr | q | k | root@localhost | Insert,Create,References | \n% | pr | q | n | root@localhost | Delete | \n\
                 % | pr | q | t | root@localhost |  | Select,Insert,Update,References\n\
                 % | pr | q | u | root@localhost | Select,Insert,Delete,Create | Select\n\
                 % | pr | q | v | root@localhost | Delete | Select,Insert";
    assert_eq!(run(&mut root, tables), shown);
    let columns = "SELECT Table_name, Column_name, Column_priv FROM mysql.columns_priv ORDER BY 1, 2";
    let shown = "t | a | Select,Insert,References\nt | b | Insert\nt | c | Update\nu | a | Select\nv | y | Select,Insert";
    assert_eq!(run(&mut root, columns), shown);
    let mut q = as_user(&db, "q");
    let own = "SELECT TABLE_NAME, COLUMN_NAME, PRIVILEGE_TYPE FROM information_schema.COLUMN_PRIVILEGES ORDER BY 1, 2, 3";
    let shown = "t | a | INSERT\nt | a | REFERENCES\nt | a | SELECT\nt | b | INSERT\nt | c | UPDATE\nu | a | SELECT\nv | y | INSERT\nv | y | SELECT";
    assert_eq!(run(&mut q, own), shown);
    let own = "SELECT TABLE_NAME, PRIVILEGE_TYPE, IS_GRANTABLE FROM information_schema.TABLE_PRIVILEGES ORDER BY 1, 2";
    assert!(
        run(&mut q, own)
            .starts_with("k | CREATE | NO\nk | INSERT | NO\nk | REFERENCES | NO\nn | DELETE | NO")
    );
}
