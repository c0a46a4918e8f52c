//! Hints that finish a transaction: what a session script cannot say.

use turnstile_session::Session;
use turnstile_session::session::SessionInit;

use super::{block_on, database, root, run, session};

#[test]
fn what_counts_is_changed_rows_whatever_the_client_counts() {
    let db = database();
    let mut found = Session::new(db.clone(), SessionInit { found_rows: true, ..root(&db) }).unwrap();
    run(&mut found, "CREATE TABLE t (id INT PRIMARY KEY, c INT)");
    run(&mut found, "INSERT INTO t VALUES (1, 1)");
    let told = "ok 1 (Rows matched: 1  Changed: 0  Warnings: 0)\n";
    assert_eq!(run(&mut found, "UPDATE t SET c = 1 WHERE id = 1"), told);
    assert_eq!(run(&mut found, "UPDATE /*+ TARGET_AFFECT_ROW(0) */ t SET c = 1 WHERE id = 1"), told);
    assert!(run(&mut found, "UPDATE /*+ TARGET_AFFECT_ROW(1) */ t SET c = 1 WHERE id = 1").contains("7532"));
    // The general path, and a row that ON DUPLICATE KEY UPDATE leaves as it was.
    assert!(run(&mut found, "UPDATE /*+ TARGET_AFFECT_ROW(1) */ t SET c = 1 WHERE c = 1").contains("7532"));
    let insert = |hint: &str| format!("INSERT {hint} INTO t VALUES (1, 1) ON DUPLICATE KEY UPDATE c = 1");
    assert_eq!(run(&mut found, &insert("")), "ok 1\n");
    assert_eq!(run(&mut found, &insert("/*+ TARGET_AFFECT_ROW(0) */")), "ok 1\n");
    assert!(run(&mut found, &insert("/*+ TARGET_AFFECT_ROW(1) */")).contains("7532"));
    let mut changed = session(&db);
    assert_eq!(run(&mut changed, &insert("/*+ TARGET_AFFECT_ROW(0) */")), "ok\n");
}

#[test]
fn several_statements_in_one_text_and_prepared_ones_finish_theirs() {
    let db = database();
    let (mut one, mut other) = (session(&db), session(&db));
    run(&mut one, "CREATE TABLE t (id INT PRIMARY KEY, c INT)");
    let sale = "BEGIN; INSERT INTO t VALUES (1, 1); \
                UPDATE /*+ COMMIT_ON_SUCCESS ROLLBACK_ON_FAIL TARGET_AFFECT_ROW(1) */ t SET c = 2 WHERE id = 1; \
                SELECT 1";
    run(&mut one, sale);
    assert_eq!(run(&mut other, "SELECT c FROM t"), "2\n");
    // The text ends with the statement that fails.
    let sold_out = "BEGIN; INSERT INTO t VALUES (2, 1); \
                    UPDATE /*+ COMMIT_ON_SUCCESS ROLLBACK_ON_FAIL TARGET_AFFECT_ROW(1) */ t SET c = 2 WHERE id = 9; \
                    SELECT 1";
    assert!(run(&mut one, sold_out).contains("7532"));
    assert_eq!(run(&mut one, "COMMIT"), "ok\n");
    assert_eq!(run(&mut other, "SELECT id FROM t"), "1\n");
    let text =
        b"UPDATE /*+ COMMIT_ON_SUCCESS ROLLBACK_ON_FAIL TARGET_AFFECT_ROW(1) */ t SET c = ? WHERE id = ?";
    let prepared = block_on(one.prepare(text)).unwrap();
    for (turn, id) in [(3, 1), (4, 1), (5, 9), (6, 1)] {
        run(&mut one, "BEGIN");
        run(&mut one, &format!("INSERT INTO t VALUES ({}, 0)", turn + 10));
        let mut out = super::Text::default();
        let params = [turnstile_session::Value::Int(turn), turnstile_session::Value::Int(id)];
        let done = block_on(one.execute(prepared.id, &params, &mut out));
        assert_eq!(done.is_ok(), id == 1);
        assert_eq!(one.status_flags() & turnstile_session::sink::status_flag::IN_TRANSACTION, 0);
    }
    assert_eq!(run(&mut other, "SELECT id, c FROM t ORDER BY id"), "1 | 6\n13 | 0\n14 | 0\n16 | 0\n");
}
