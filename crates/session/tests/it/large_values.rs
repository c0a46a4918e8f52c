//! Large values whose working memory is many times as large: what makes it charges it first.

use super::*;

#[test]
fn what_is_made_of_large_values_is_charged() {
    let db = database();
    let mut session = session(&db);
    assert_eq!(run(&mut session, "SET SESSION connection_memory_limit = 8388608"), "ok\n");
    for statement in [
        // A tree.
        "SELECT STATEMENT_DIGEST_TEXT(CONCAT('SELECT ', REPEAT('1,', 50000), '1'))",
        "SELECT STATEMENT_DIGEST(CONCAT('SELECT ', REPEAT('1,', 50000), '1'))",
        // Weights.
        "SELECT DISTINCT REPEAT('a', 1900000) FROM (SELECT 1 AS a) AS t",
        // A literal of a prepared statement, which is in memory several times.
        &format!("PREPARE p FROM 'SELECT \\'{}\\''", "a".repeat(1_900_000)),
    ] {
        let given = run(&mut session, statement);
        assert!(given.starts_with("error 4082 "), "{statement:.100}: {given:.200}");
        assert_eq!(db.memory().used(), 0, "{statement:.100} keeps memory");
    }
    assert_eq!(run(&mut session, "SELECT LENGTH(REPEAT('a', 1900000))"), "1900000\n");
    assert_eq!(run(&mut session, "SELECT 1"), "1\n");
}
