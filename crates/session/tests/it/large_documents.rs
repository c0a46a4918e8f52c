//! Documents whose trees are larger than what a session may hold: whatever reads one ends with error 4082 and
//! gives everything back.

use super::*;

/// 80 KB of text, and a tree of megabytes.
const LARGE: &str = "CONCAT('[', REPEAT('[1],', 20000), '1]')";

/// A row whose document has a tree that is larger than what the session may hold now.
fn stage() -> (Arc<Database>, Session) {
    let db = database();
    let mut session = session(&db);
    for statement in [
        "CREATE TABLE d (id INT PRIMARY KEY AUTO_INCREMENT, j JSON, m DATE, n INT)",
        &format!("INSERT INTO d (j) VALUES ({LARGE}), ({LARGE}), ('1')"),
        // Marked: the text alone does not tell that it is a DECIMAL.
        "INSERT INTO d (j) SELECT JSON_ARRAY_APPEND(j, '$', 1.5) FROM d WHERE id = 1",
        "CREATE TABLE t (id INT PRIMARY KEY, s LONGTEXT)",
        &format!("INSERT INTO t VALUES (1, {LARGE})"),
        &format!("SET @large = {LARGE}, @path = CONCAT('$', REPEAT('[0]', 30000))"),
        "SET @many = CONCAT('[', REPEAT('\"a\",', 4000), '1]'), @none = CONCAT(REPEAT('[', 90), REPEAT('1,', 20000), '[')",
        "SET SESSION connection_memory_limit = 2097152",
    ] {
        let given = run(&mut session, statement);
        assert!(given.starts_with("ok"), "{statement}: {given:.200}");
    }
    (db, session)
}

fn refused(db: &Database, session: &mut Session, statement: &str) {
    let given = run(session, statement);
    let last = given.lines().last().unwrap_or_default();
    assert!(last.starts_with("error 4082 "), "{statement:.200}: {last:.200}");
    assert_eq!(db.memory().used(), 0, "{statement:.200} keeps memory");
}

#[test]
fn every_function_on_a_large_document_is_charged() {
    let (db, mut session) = stage();
    for call in [
        "JSON_TYPE(@large)",
        "JSON_DEPTH(@large)",
        "JSON_LENGTH(@large)",
        "JSON_LENGTH(@large, '$[0]')",
        "JSON_KEYS(@large)",
        "JSON_EXTRACT(@large, '$[0]')",
        "JSON_EXTRACT('[1]', @path)",
        "JSON_EXTRACT(@many, '$**[0]', '$**[0]', '$**[0]', '$**[0]', '$**[0]', '$**[0]', '$**[0]', '$**[0]', '$**[0]')",
        "JSON_EXTRACT(@many, '$', '$', '$', '$', '$', '$', '$', '$', '$', '$')",
        "JSON_CONTAINS(@large, '1')",
        "JSON_CONTAINS('1', @large)",
        "JSON_CONTAINS_PATH(@large, 'one', '$[0]')",
        "JSON_OVERLAPS(@large, '1')",
        "JSON_OVERLAPS('1', @large)",
        "JSON_SET(@large, '$[0]', 1)",
        "JSON_SET('[1]', '$[0]', CAST(@large AS JSON))",
        "JSON_INSERT(@large, '$[0]', 1)",
        "JSON_REPLACE(@large, '$[0]', 1)",
        "JSON_ARRAY_APPEND(@large, '$[0]', 1)",
        "JSON_ARRAY_INSERT(@large, '$[0]', 1)",
        "JSON_REMOVE(@large, '$[0]')",
        "JSON_MERGE_PATCH(@large, '1')",
        "JSON_MERGE_PRESERVE('1', @large)",
        "JSON_PRETTY(@large)",
        "JSON_SEARCH(@large, 'all', '1')",
        "JSON_SEARCH(CONCAT('{\"', REPEAT('n', 2000), '\": ', @many, '}'), 'all', 'a')",
        "JSON_STORAGE_SIZE(@large)",
        "JSON_STORAGE_FREE(@large)",
        "JSON_VALUE(@large, '$[0]')",
        "JSON_VALUE('[1]', '$[0]') = JSON_VALUE(@large, '$[0]' NULL ON ERROR)",
        "1 MEMBER OF (@large)",
        "CAST(@large AS JSON)",
        "JSON_UNQUOTE(CAST(@large AS JSON))",
        "JSON_ARRAY(CAST(@large AS JSON))",
        "JSON_OBJECT('a', CAST(@large AS JSON))",
    ] {
        refused(&db, &mut session, &format!("SELECT {call}"));
    }
    // It makes no document.
    assert_eq!(run(&mut session, "SELECT JSON_VALID(@large), JSON_VALID(@none)"), "1 | 0\n");
    refused(&db, &mut session, "DO JSON_LENGTH(@large)");
    refused(&db, &mut session, "SET @a = JSON_LENGTH(@large)");
    assert_eq!(run(&mut session, "SELECT 1"), "1\n");
}

#[test]
fn every_statement_on_a_large_document_is_charged() {
    let (db, mut session) = stage();
    for statement in [
        "SELECT COUNT(*) FROM JSON_TABLE(@large, '$[*]' COLUMNS (a INT PATH '$')) AS x",
        "SELECT COUNT(*) FROM JSON_TABLE(@large, '$' COLUMNS (a INT PATH '$[0]')) AS x",
        "SELECT COUNT(*) FROM d, JSON_TABLE(d.j, '$' COLUMNS (a INT PATH '$[0]')) AS x",
        "INSERT INTO d (j) VALUES (@large)",
        "INSERT INTO d (j) SELECT s FROM t",
        "REPLACE INTO d (id, j) VALUES (7, @large)",
        "INSERT INTO d (id, j) VALUES (3, '2') ON DUPLICATE KEY UPDATE j = @large",
        "UPDATE d SET j = @large WHERE id = 3",
        "UPDATE d SET j = JSON_SET(j, '$', 1) WHERE id = 1",
        "UPDATE d, t SET d.j = t.s WHERE d.id = 3",
        "UPDATE d SET m = j WHERE id = 4",
        "INSERT INTO d (m) SELECT j FROM d WHERE id = 4",
        "SELECT id FROM d ORDER BY j",
        "SELECT COUNT(*) FROM d GROUP BY j",
        "SELECT j, COUNT(*) FROM d GROUP BY j WITH ROLLUP",
        "SELECT DISTINCT j FROM d",
        "SELECT COUNT(DISTINCT j) FROM d",
        "SELECT MAX(j) FROM d",
        "SELECT MIN(j) FROM d",
        "SELECT j FROM d UNION SELECT j FROM d",
        "SELECT j FROM d EXCEPT SELECT j FROM d WHERE id = 3",
        "SELECT id FROM d WHERE j = CAST('1' AS JSON)",
        "SELECT id FROM d WHERE j > 1",
        "SELECT id FROM d WHERE j IN (CAST('1' AS JSON), CAST('2' AS JSON))",
        "SELECT COUNT(*) FROM d a JOIN d b ON a.j = b.j",
        "SELECT SUM(j) FROM d",
        "SELECT j + 1 FROM d",
        "SELECT YEAR(j) FROM d",
        "SELECT CAST(j AS DATE) FROM d WHERE id = 4",
        "SELECT CAST(j AS SIGNED) FROM d WHERE id = 4",
        "SELECT JSON_ARRAYAGG(JSON_EXTRACT(j, '$')) FROM d",
        "SELECT JSON_OBJECTAGG(id, JSON_EXTRACT(j, '$')) FROM d",
        "SELECT IF(j, 1, 2) FROM d",
        "DELETE FROM d WHERE JSON_LENGTH(j) > 5",
        "DELETE FROM d WHERE j = CAST('1' AS JSON)",
        "WITH RECURSIVE w AS (SELECT j, 1 AS n FROM d UNION SELECT j, n + 1 FROM w WHERE n < 3) SELECT COUNT(*) FROM w",
        "CREATE TABLE c AS SELECT CAST(s AS JSON) AS j FROM t",
        "ALTER TABLE t MODIFY s JSON",
        "ALTER TABLE d ADD g INT AS (JSON_LENGTH(j)) STORED",
        "ALTER TABLE d ADD CHECK (JSON_LENGTH(j) > 0)",
        "SELECT JSON_LENGTH(j) FROM d",
        "SELECT * FROM t WHERE JSON_LENGTH(s) > 1",
        "SELECT id FROM t WHERE id = 1 AND JSON_LENGTH(s) > 1",
    ] {
        refused(&db, &mut session, statement);
    }
    // What is prepared, with a parameter.
    assert_eq!(run(&mut session, "PREPARE p FROM 'SELECT JSON_LENGTH(?)'"), "ok (Statement prepared)\n");
    refused(&db, &mut session, "EXECUTE p USING @large");
    assert_eq!(
        run(&mut session, "PREPARE p FROM 'INSERT INTO d (j) VALUES (?)'"),
        "ok (Statement prepared)\n"
    );
    refused(&db, &mut session, "EXECUTE p USING @large");
    // What a definition works out.
    for definition in [
        "j JSON, s LONGTEXT, CHECK (JSON_LENGTH(s) > 0)",
        "s LONGTEXT, g INT AS (JSON_LENGTH(s)) STORED",
        "s LONGTEXT, j JSON DEFAULT (CAST(s AS JSON))",
    ] {
        assert_eq!(run(&mut session, &format!("CREATE TABLE x ({definition})")), "ok\n");
        refused(&db, &mut session, "INSERT INTO x (s) VALUES (@large)");
        assert_eq!(run(&mut session, "DROP TABLE x"), "ok\n");
    }
    assert_eq!(run(&mut session, "SELECT COUNT(*) FROM d"), "4\n");
}

/// A row of JSON_TABLE with many columns holds a copy of the document for each.
#[test]
fn a_wide_row_of_documents_is_charged() {
    let (db, mut session) = stage();
    let columns: Vec<String> = (0..100).map(|nth| format!("c{nth} JSON PATH '$'")).collect();
    let statement = format!(
        "SELECT COUNT(*) FROM JSON_TABLE(CONCAT('\"', REPEAT('a', 60000), '\"'), '$' COLUMNS ({})) AS x",
        columns.join(",")
    );
    refused(&db, &mut session, &statement);
    let steps = "[0]".repeat(60_000);
    for statement in [
        format!("SELECT * FROM JSON_TABLE('[1]', '${steps}' COLUMNS (a INT PATH '$')) AS x"),
        format!("SELECT * FROM JSON_TABLE('[1]', '$' COLUMNS (a INT PATH '${steps}')) AS x"),
        format!(
            "SELECT * FROM JSON_TABLE('[1]', '$' COLUMNS (a JSON PATH '$.a' DEFAULT '[{}1]' ON EMPTY)) AS x",
            "[1],".repeat(30_000)
        ),
        format!("SELECT JSON_VALUE('[1]', '${steps}')"),
    ] {
        refused(&db, &mut session, &statement);
    }
}
