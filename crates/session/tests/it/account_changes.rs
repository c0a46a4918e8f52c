//! Statements that change accounts: all of them or none, and not the accounts of those who may do more.

use super::rights::{as_user, expect, set_up};
use super::run;

#[test]
fn several_accounts_are_changed_together_or_not_at_all() {
    let (_db, mut root) = set_up(&["CREATE USER q1, q2"]);
    let users = "SELECT GROUP_CONCAT(user ORDER BY user) FROM mysql.user WHERE user LIKE 'q%'";
    for text in [
        "DROP USER q1, nobody",
        "CREATE USER q3, q2",
        "ALTER USER q1 ACCOUNT LOCK, nobody ACCOUNT LOCK",
        "ALTER USER q1, nobody ACCOUNT LOCK",
        "RENAME USER q2 TO q4, nobody TO q5",
        "RENAME USER q2 TO q4, q1 TO q4",
        "GRANT SELECT ON shop.* TO q1, nobody",
    ] {
        assert!(run(&mut root, text).starts_with("error "), "{text}");
        assert_eq!(run(&mut root, users), "q1,q2\n", "{text}");
        assert_eq!(run(&mut root, "SHOW GRANTS FOR q1"), "GRANT USAGE ON *.* TO `q1`@`%`\n", "{text}");
        assert_eq!(
            run(&mut root, "SELECT account_locked FROM mysql.user WHERE user = 'q1'"),
            "N\n",
            "{text}"
        );
    }
    run(&mut root, "GRANT SELECT ON shop.* TO q1");
    expect(&mut root, "REVOKE SELECT ON shop.* FROM q1, q2", 1141, "q2");
    assert!(run(&mut root, "SHOW GRANTS FOR q1").contains("GRANT SELECT ON `shop`.*"));
    assert_eq!(run(&mut root, "RENAME USER q1 TO q9, q2 TO q1, q9 TO q2"), "ok\n");
    assert!(run(&mut root, "SHOW GRANTS FOR q2").contains("GRANT SELECT ON `shop`.*"));
    assert_eq!(run(&mut root, users), "q1,q2\n");
}

/// CREATE USER alone does not make an administrator.
#[test]
fn accounts_of_administrators_are_theirs() {
    let (db, mut root) = set_up(&[
        "CREATE USER adm, app, cu",
        "GRANT ALL ON *.* TO adm WITH GRANT OPTION",
        "GRANT CREATE USER ON *.* TO cu WITH GRANT OPTION",
    ]);
    let mut cu = as_user(&db, "cu");
    for text in [
        "ALTER USER root@localhost IDENTIFIED BY ''",
        "ALTER USER adm IDENTIFIED BY 'q'",
        "ALTER USER app, adm ACCOUNT LOCK",
        "ALTER USER adm ACCOUNT LOCK",
        "SET PASSWORD FOR adm = 'q'",
        "DROP USER root@localhost",
        "DROP USER IF EXISTS app, adm",
        "RENAME USER adm TO adm3",
        "REVOKE CREATE USER ON *.* FROM adm",
        "GRANT CREATE USER ON *.* TO adm",
    ] {
        expect(&mut cu, text, 1227, "SYSTEM_USER");
    }
    for text in
        ["ALTER USER app IDENTIFIED BY 'q'", "RENAME USER app TO app2", "DROP USER app2", "CREATE USER app"]
    {
        assert_eq!(run(&mut cu, text), "ok\n", "{text}");
    }
    let mut adm = as_user(&db, "adm");
    assert_eq!(run(&mut adm, "ALTER USER root@localhost IDENTIFIED BY 'q'"), "ok\n");
    assert_eq!(run(&mut root, "REVOKE SYSTEM_USER ON *.* FROM adm"), "ok\n");
    assert_eq!(run(&mut cu, "ALTER USER adm IDENTIFIED BY 'q'"), "ok\n");
    expect(&mut adm, "ALTER USER root@localhost IDENTIFIED BY ''", 1227, "SYSTEM_USER");
}

#[test]
fn the_next_start_is_prepared_by_who_holds_both_rights() {
    let (db, mut root) = set_up(&["CREATE USER u", "GRANT SYSTEM_VARIABLES_ADMIN ON *.* TO u"]);
    let mut u = as_user(&db, "u");
    let words = "SYSTEM_VARIABLES_ADMIN and PERSIST_RO_VARIABLES_ADMIN";
    expect(&mut u, "SET PERSIST_ONLY innodb_purge_threads = 2", 3630, words);
    run(&mut root, "GRANT PERSIST_RO_VARIABLES_ADMIN ON *.* TO u");
    assert!(!run(&mut u, "SET PERSIST_ONLY innodb_purge_threads = 2").starts_with("error 3630"));
}
