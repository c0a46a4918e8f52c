//! Normalised texts.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use super::*;

fn text(sql: &str) -> String {
    digest(sql.as_bytes(), LexOptions { ansi_quotes: false, no_backslash_escapes: false }).text
}

#[test]
fn literals_go_and_layout_is_uniform() {
    let cases = [
        ("select  c from sbtest1 where id=5", "SELECT `c` FROM `sbtest1` WHERE `id` = ?"),
        ("select c from `t` where id in (1, 2,3)", "SELECT `c` FROM `t` WHERE `id` IN (...)"),
        ("select c from t where id in (1)", "SELECT `c` FROM `t` WHERE `id` IN (...)"),
        ("insert into t values (1,'a'),(-2,'b'), (3,NULL)", "INSERT INTO `t` VALUES (...) /* , ... */"),
        ("insert into t (a) values (1),(2)", "INSERT INTO `t` ( `a` ) VALUES (?) /* , ... */"),
        ("select count(*) -- x\n from t", "SELECT `count` ( * ) FROM `t`"),
        ("select a - 1, -1", "SELECT `a` - ?, ..."),
        ("select @@session.sql_mode", "SELECT @@`session` . `sql_mode`"),
        ("select a is not null", "SELECT `a` IS NOT NULL"),
        ("update t set k=k+1 where id=?; select 2", "UPDATE `t` SET `k` = `k` + ? WHERE `id` = ?"),
    ];
    for (sql, expected) in cases {
        assert_eq!(text(sql), expected, "{sql}");
    }
}

#[test]
fn same_shape_same_hash() {
    let hash = |sql: &str| {
        digest(sql.as_bytes(), LexOptions { ansi_quotes: false, no_backslash_escapes: false }).hash
    };
    assert_eq!(hash("SELECT 1 FROM t WHERE a='x'"), hash("select /* c */ 2 from `t` where a = \"it's\""));
    assert_ne!(hash("SELECT 1 FROM t"), hash("SELECT 1 FROM u"));
}

#[test]
fn long_texts_are_cut() {
    let sql = format!("SELECT {}", vec!["abcdefgh"; 1000].join("+"));
    let digest = text(&sql);
    assert!(digest.len() <= TEXT_MAX + 3 && digest.ends_with("..."));
    assert!(text("select 'unterminated").ends_with("..."));
}
