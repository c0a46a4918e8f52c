//! What an account is not told and does not get: names behind foreign keys and keys, databases that a closer
//! pattern takes away, what a later account of its name holds, another way to prove itself.

use turnstile_session::Session;

use super::rights::{as_user, expect, set_up};

/// What a statement gives, without its last line's end.
fn run(session: &mut Session, text: &str) -> String {
    super::run(session, text).trim_end().to_string()
}

#[test]
fn a_foreign_key_tells_no_names_to_who_may_not_know_them() {
    let (db, mut root) = set_up(&[
        "CREATE DATABASE pa",
        "CREATE DATABASE ch",
        "CREATE TABLE pa.p (id INT PRIMARY KEY, k INT)",
        "CREATE TABLE ch.c (id INT PRIMARY KEY, pid INT, CONSTRAINT fkc FOREIGN KEY (pid) REFERENCES pa.p (id))",
        "CREATE TABLE ch.mid (id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES pa.p (id) ON DELETE CASCADE)",
        "CREATE DATABASE lo",
        "CREATE TABLE lo.low (id INT PRIMARY KEY, CONSTRAINT fkl FOREIGN KEY (id) REFERENCES ch.mid (id))",
        "INSERT INTO pa.p VALUES (1, 1), (2, 2)",
        "INSERT INTO ch.c VALUES (1, 1)",
        "INSERT INTO ch.mid VALUES (2)",
        "INSERT INTO lo.low VALUES (2)",
        "CREATE USER parents, children",
        "GRANT ALL ON pa.* TO parents",
        "GRANT ALL ON ch.* TO children",
    ]);
    let (mut parents, mut children) = (as_user(&db, "parents"), as_user(&db, "children"));
    let referenced = "error 1217 Cannot delete or update a parent row: a foreign key constraint fails";
    let orphan = "error 1216 Cannot add or update a child row: a foreign key constraint fails";
    for text in [
        "DELETE FROM pa.p WHERE id = 1",
        "DELETE FROM pa.p",
        "UPDATE pa.p SET id = 10 WHERE id = 1",
        "INSERT INTO pa.p VALUES (1, 1) ON DUPLICATE KEY UPDATE id = 100",
        "DELETE FROM pa.p WHERE id = 2",
    ] {
        assert_eq!(run(&mut parents, text), referenced, "{text}");
    }
    for text in
        ["INSERT INTO ch.c VALUES (5, 50)", "UPDATE ch.c SET pid = 50", "REPLACE INTO ch.c VALUES (1, 50)"]
    {
        assert_eq!(run(&mut children, text), orphan, "{text}");
    }
    assert_eq!(run(&mut parents, "DELETE IGNORE FROM pa.p WHERE id = 1"), "ok (1 warnings)");
    let noted = run(&mut parents, "SHOW WARNINGS");
    assert!(noted.contains("| 1217 |") && !noted.contains("fkc"), "{noted}");
    // What is held on a column alone tells nothing; any privilege on all of the table does.
    run(&mut root, "GRANT SELECT (id), REFERENCES (id) ON ch.c TO parents");
    assert_eq!(run(&mut parents, "DELETE FROM pa.p WHERE id = 1"), referenced);
    run(&mut root, "GRANT INDEX ON ch.c TO parents");
    expect(&mut parents, "DELETE FROM pa.p WHERE id = 1", 1451, "CONSTRAINT `fkc`");
    run(&mut root, "GRANT SELECT ON ch.* TO parents");
    assert_eq!(
        run(&mut parents, "DELETE FROM pa.p WHERE id = 2"),
        referenced,
        "the end of the cascade is lo.low"
    );
    run(&mut root, "GRANT SELECT ON pa.p TO children");
    expect(&mut children, "INSERT INTO ch.c VALUES (5, 50)", 1452, "CONSTRAINT `fkc`");
}

#[test]
fn columns_of_keys_are_shown_to_who_may_see_them() {
    let (db, _root) = set_up(&[
        "CREATE DATABASE shop",
        "CREATE TABLE shop.k (a INT, b INT, c INT, PRIMARY KEY (a, b), UNIQUE KEY uc (c))",
        "CREATE TABLE shop.kc (x INT, y INT, CONSTRAINT f1 FOREIGN KEY (x, y) REFERENCES shop.k (a, b))",
        "CREATE USER u",
        "GRANT SELECT (a) ON shop.k TO u",
        "GRANT SELECT (y) ON shop.kc TO u",
    ]);
    let mut user = as_user(&db, "u");
    let query = "SELECT TABLE_NAME, CONSTRAINT_NAME, COLUMN_NAME FROM information_schema.KEY_COLUMN_USAGE \
                 WHERE TABLE_SCHEMA = 'shop' ORDER BY 1, 2, 3";
    assert_eq!(run(&mut user, query), "k | PRIMARY | a\nkc | f1 | y");
}

#[test]
fn the_most_specific_pattern_counts_alone() {
    let (db, mut root) = set_up(&[
        "CREATE DATABASE shop",
        "CREATE TABLE shop.t (a INT)",
        "CREATE USER u",
        "CREATE ROLE r",
        "GRANT SELECT ON `s%`.* TO u",
        "GRANT INSERT ON `sh__`.* TO u",
    ]);
    let mut user = as_user(&db, "u");
    expect(&mut user, "SELECT * FROM shop.t", 1142, "SELECT command denied");
    assert_eq!(run(&mut user, "INSERT INTO shop.t VALUES (1)"), "ok 1");
    run(&mut root, "GRANT UPDATE ON shop.* TO u");
    expect(&mut user, "INSERT INTO shop.t VALUES (1)", 1142, "INSERT command denied");
    run(&mut root, "REVOKE UPDATE ON shop.* FROM u");
    assert_eq!(run(&mut user, "INSERT INTO shop.t VALUES (1)"), "ok 1");
    // Of two that are as specific the first by name counts.
    run(&mut root, "GRANT DELETE ON `sh%`.* TO u");
    expect(&mut user, "INSERT INTO shop.t VALUES (1)", 1142, "INSERT command denied");
    run(&mut root, "REVOKE DELETE ON `sh%`.* FROM u");
    // Patterns of roles are among them.
    run(&mut root, "GRANT UPDATE ON shop.* TO r");
    run(&mut root, "GRANT r TO u");
    assert_eq!(run(&mut user, "SET ROLE r"), "ok");
    assert!(run(&mut user, "UPDATE shop.t SET a = 2").starts_with("ok 2"));
    expect(&mut user, "INSERT INTO shop.t VALUES (1)", 1142, "INSERT command denied");
}

#[test]
fn a_session_does_not_get_what_a_later_account_of_its_name_holds() {
    let (db, mut root) = set_up(&[
        "CREATE DATABASE shop",
        "CREATE TABLE shop.t (a INT)",
        "CREATE USER u, w",
        "CREATE ROLE r",
        "GRANT SELECT ON shop.t TO u",
    ]);
    let (mut user, mut renamed) = (as_user(&db, "u"), as_user(&db, "w"));
    assert_eq!(run(&mut user, "SELECT * FROM shop.t"), "");
    for text in [
        "DROP USER u",
        "RENAME USER w TO x",
        "CREATE USER u, w",
        "GRANT ALL ON *.* TO u, w",
        "GRANT r TO u WITH ADMIN OPTION",
    ] {
        assert!(run(&mut root, text).starts_with("ok"), "{text}");
    }
    for session in [&mut user, &mut renamed] {
        expect(session, "SELECT * FROM shop.t", 1142, "SELECT command denied");
        expect(session, "CREATE DATABASE other", 1044, "");
        expect(session, "SET PASSWORD = 'stolen'", 1044, "");
        expect(session, "ALTER USER USER() IDENTIFIED BY 'stolen'", 1227, "CREATE USER");
        expect(session, "SHOW GRANTS", 1142, "");
        expect(session, "GRANT r TO x", 1227, "ROLE_ADMIN");
        expect(session, "SET DEFAULT ROLE r TO u", 1227, "CREATE USER");
    }
    assert_eq!(run(&mut as_user(&db, "u"), "SELECT * FROM shop.t"), "");
}

#[test]
fn how_one_proves_oneself_is_an_administrators_to_change() {
    let (db, _root) = set_up(&["CREATE USER u"]);
    let mut user = as_user(&db, "u");
    for text in [
        "ALTER USER u IDENTIFIED WITH mysql_native_password BY 'p'",
        "ALTER USER u IDENTIFIED WITH caching_sha2_password",
        "ALTER USER USER() IDENTIFIED WITH caching_sha2_password BY 'p'",
        "ALTER USER u IDENTIFIED WITH caching_sha2_password AS ''",
    ] {
        expect(&mut user, text, 1227, "CREATE USER");
    }
    assert_eq!(run(&mut user, "ALTER USER u IDENTIFIED BY 'p'"), "ok");
}

#[test]
fn a_role_that_is_granted_keeps_its_name() {
    let (_db, mut root) = set_up(&["CREATE USER u", "CREATE ROLE r, q", "GRANT r TO u"]);
    for text in ["RENAME USER r TO s", "RENAME USER q TO r", "RENAME USER u TO r"] {
        expect(&mut root, text, 3532, "Renaming of a role identifier is forbidden");
    }
}

#[test]
fn variables_that_a_session_begins_with_are_not_set_for_it() {
    let (_db, mut root) = set_up(&[]);
    for name in ["max_allowed_packet", "max_user_connections", "net_buffer_length"] {
        for value in ["4096", "DEFAULT"] {
            expect(&mut root, &format!("SET SESSION {name} = {value}"), 1621, "is read-only. Use SET GLOBAL");
        }
    }
}

#[test]
fn privileges_that_no_table_can_have_name_no_tables() {
    let (db, mut root) = set_up(&[
        "CREATE DATABASE shop",
        "CREATE TABLE shop.p (a INT PRIMARY KEY)",
        "CREATE TABLE shop.t (a INT PRIMARY KEY, b INT UNIQUE, CHECK (a > 0), FOREIGN KEY (b) REFERENCES p (a))",
        "CREATE USER u",
    ]);
    let mut user = as_user(&db, "u");
    let lists = ["TABLES", "STATISTICS", "TABLE_CONSTRAINTS", "KEY_COLUMN_USAGE", "COLUMNS"];
    let none =
        ["CREATE TEMPORARY TABLES", "LOCK TABLES", "EXECUTE", "CREATE ROUTINE", "ALTER ROUTINE", "EVENT"];
    for privilege in none {
        for level in ["shop.*", "*.*"] {
            run(&mut root, &format!("GRANT {privilege} ON {level} TO u"));
            for text in
                ["DESC shop.t", "SHOW INDEX FROM shop.t", "SHOW CREATE TABLE shop.t", "CHECK TABLE shop.t"]
            {
                expect(&mut user, text, 1142, "");
            }
            assert_eq!(run(&mut user, "SHOW TABLES FROM shop"), "", "{privilege}");
            for list in lists {
                let text =
                    format!("SELECT COUNT(*) FROM information_schema.{list} WHERE TABLE_SCHEMA = 'shop'");
                assert_eq!(run(&mut user, &text), "0", "{privilege} on {level}: {list}");
            }
            run(&mut root, &format!("REVOKE {privilege} ON {level} FROM u"));
        }
    }
    // INSERT on the database names the tables. How one is built is told to who holds SELECT, or anything on
    // the table itself.
    run(&mut root, "GRANT INSERT ON shop.* TO u");
    assert_eq!(run(&mut user, "SHOW TABLES FROM shop"), "p\nt");
    for text in ["DESC shop.t", "SHOW INDEX FROM shop.t", "CHECK TABLE shop.t"] {
        expect(&mut user, text, 1142, "SELECT command denied");
    }
    run(&mut root, "GRANT TRIGGER ON shop.t TO u");
    assert_eq!(run(&mut user, "CHECK TABLE shop.t"), "shop.t | check | status | OK");
}

#[test]
fn creating_accounts_does_not_show_what_others_hold() {
    let (db, _root) = set_up(&["CREATE USER u", "GRANT CREATE USER ON *.* TO u"]);
    let names = "SELECT DISTINCT GRANTEE FROM information_schema.USER_PRIVILEGES";
    assert_eq!(run(&mut as_user(&db, "u"), names), "'u'@'%'");
}

#[test]
fn everything_is_taken_away_by_who_may_change_accounts() {
    let (db, mut root) = set_up(&[
        "CREATE USER changes, passes, other",
        "GRANT CREATE USER ON *.* TO changes",
        "GRANT SELECT ON *.* TO passes WITH GRANT OPTION",
        "GRANT SELECT, INSERT ON *.* TO other",
    ]);
    let (mut changes, mut passes) = (as_user(&db, "changes"), as_user(&db, "passes"));
    let asked = "(at least one of) the CREATE USER privilege(s)";
    for text in ["REVOKE ALL ON *.* FROM other", "REVOKE ALL PRIVILEGES ON *.* FROM nobody"] {
        expect(&mut passes, text, 1227, asked);
    }
    expect(&mut changes, "REVOKE SELECT ON *.* FROM other", 1045, "Access denied");
    let held = "GRANT SELECT, INSERT ON *.* TO `other`@`%`";
    assert_eq!(run(&mut root, "SHOW GRANTS FOR other"), held);
    assert_eq!(run(&mut changes, "REVOKE ALL ON *.* FROM other"), "ok");
    assert_eq!(run(&mut root, "SHOW GRANTS FOR other"), "GRANT USAGE ON *.* TO `other`@`%`");
}

#[test]
fn lacking_privileges_are_listed_as_in_mysql() {
    let (db, _root) =
        set_up(&["CREATE DATABASE shop", "CREATE TABLE shop.t (a INT)", "CREATE USER u, other"]);
    let listed = "SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, GRANT, REFERENCES, INDEX, ALTER, CREATE VIEW, \
                  SHOW VIEW, TRIGGER command denied";
    expect(&mut as_user(&db, "u"), "REVOKE ALL ON shop.t FROM other", 1142, listed);
}
