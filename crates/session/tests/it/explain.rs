//! EXPLAIN ANALYZE and EXPLAIN FOR CONNECTION: rows and loops of each node, what ends a run, who may ask.

use super::*;

const TABLES: &[&str] = &[
    "CREATE TABLE a (id INT PRIMARY KEY, g INT, n INT, KEY (g))",
    "CREATE TABLE b (id INT PRIMARY KEY, a INT, v INT, KEY (a))",
    "INSERT INTO a VALUES (1,1,1), (2,1,5), (3,2,3), (4,2,9), (5,3,2)",
    "INSERT INTO b VALUES (1,1,10), (2,1,20), (3,2,30), (4,4,40), (5,4,50), (6,9,60)",
    "ANALYZE TABLE a, b",
];

fn tables() -> (Arc<Database>, Session) {
    let db = database();
    let mut session = session(&db);
    TABLES.iter().for_each(|text| _ = run(&mut session, text));
    (db, session)
}

/// An answer whose times are masked.
fn masked(answer: &str) -> String {
    let mut out = String::new();
    for line in answer.replace("\\n", "\n").trim_end().lines() {
        match line.split_once("(actual time=") {
            Some((before, rest)) => {
                let rows = &rest[rest.find(" rows=").unwrap() + 1..];
                writeln!(out, "{before}({rows}").unwrap();
            }
            None => writeln!(out, "{line}").unwrap(),
        }
    }
    out
}

fn analyzed(session: &mut Session, query: &str) -> String {
    masked(&run(session, &format!("EXPLAIN ANALYZE {query}")))
}

#[test]
fn every_node_tells_its_rows_and_loops() {
    let (_db, mut session) = tables();
    run(&mut session, "CREATE VIEW w AS SELECT g, COUNT(*) c FROM a GROUP BY g");
    for (query, tree) in TREES {
        assert_eq!(analyzed(&mut session, query), tree.trim_start_matches('\n'), "{query}");
    }
}

/// Queries and their trees.
const TREES: &[(&str, &str)] = &[
    (
        "SELECT * FROM a",
        r"
-> Table scan on a  (rows=5) (rows=5 loops=1)
",
    ),
    (
        "SELECT * FROM a WHERE id = 33",
        r"
-> Filter  (rows=0 loops=1)
    -> Single-row index lookup on a using PRIMARY (id = 33)  (rows=1) (rows=0 loops=1)
",
    ),
    (
        "SELECT COUNT(*) FROM a WHERE n > 2",
        r"
-> Aggregate  (rows=1 loops=1)
    -> Filter  (rows=3 loops=1)
        -> Table scan on a  (rows=5) (rows=5 loops=1)
",
    ),
    (
        "SELECT COUNT(*) FROM a",
        r"
-> Aggregate  (rows=1 loops=1)
    -> Covering index scan on a using g  (rows=5) (rows=5 loops=1)
",
    ),
    (
        "SELECT * FROM a WHERE g = 1 AND n > 2 FOR UPDATE",
        r"
-> Filter  (rows=1 loops=1)
    -> Index lookup on a using g (g = 1)  (rows=2) (rows=2 loops=1)
",
    ),
    (
        "SELECT * FROM a JOIN b ON b.a = a.id WHERE b.v > 10",
        r"
-> Nested loop inner join  (rows=4 loops=1)
    -> Filter  (rows=5 loops=1)
        -> Table scan on b  (rows=6) (rows=6 loops=1)
    -> Filter  (rows=0.8 loops=5)
        -> Single-row index lookup on a using PRIMARY (id = b.a)  (rows=1) (rows=0.8 loops=5)
",
    ),
    (
        "SELECT * FROM a LEFT JOIN b ON b.a = a.id AND b.v > 10 WHERE a.n > 2",
        r"
-> Nested loop left join  (rows=4 loops=1)
    -> Filter  (rows=3 loops=1)
        -> Table scan on a  (rows=5) (rows=5 loops=1)
    -> Filter  (rows=1 loops=3)
        -> Index lookup on b using a (a = a.id)  (rows=2) (rows=1 loops=3)
",
    ),
    (
        "SELECT * FROM a LEFT JOIN b ON b.a = a.id WHERE b.id IS NULL",
        r"
-> Filter  (rows=2 loops=1)
    -> Left hash join  (rows=7 loops=1)
        -> Table scan on a  (rows=5) (rows=5 loops=1)
        -> Hash  (rows=1 loops=5)
            -> Table scan on b  (rows=6) (rows=6 loops=1)
",
    ),
    (
        "SELECT * FROM a, b",
        r"
-> Nested loop inner join  (rows=30 loops=1)
    -> Table scan on a  (rows=5) (rows=5 loops=1)
    -> Rows kept in memory  (rows=6 loops=5)
        -> Table scan on b  (rows=6) (rows=6 loops=1)
",
    ),
    (
        "SELECT * FROM a LEFT JOIN (b JOIN b c ON c.id = b.id) ON b.a = a.id",
        r"
-> Nested loop left join  (rows=7 loops=1)
    -> Table scan on a  (rows=5) (rows=5 loops=1)
    -> Nested loop inner join  (rows=1 loops=5)
        -> Filter  (rows=1 loops=5)
            -> Index lookup on b using a (a = a.id)  (rows=2) (rows=1 loops=5)
        -> Filter  (rows=1 loops=5)
            -> Single-row index lookup on c using PRIMARY (id = b.id)  (rows=1) (rows=1 loops=5)
",
    ),
    (
        "SELECT n, COUNT(*) FROM a GROUP BY n HAVING n > 2 ORDER BY n LIMIT 1",
        r"
-> Limit: 1 row(s)  (rows=1 loops=1)
    -> Sort: a.n  (rows=1 loops=1)
        -> Filter  (rows=3 loops=1)
            -> Aggregate using temporary table  (rows=5 loops=1)
                -> Table scan on a  (rows=5) (rows=5 loops=1)
",
    ),
    (
        "SELECT DISTINCT g FROM a ORDER BY g",
        r"
-> Temporary table with deduplication  (rows=3 loops=1)
    -> Covering index scan on a using g  (rows=5) (rows=5 loops=1)
",
    ),
    (
        "SELECT * FROM a ORDER BY n DESC LIMIT 2, 1",
        r"
-> Limit/Offset: 1/2 row(s)  (rows=1 loops=1)
    -> Sort: a.n DESC  (rows=3 loops=1)
        -> Table scan on a  (rows=5) (rows=5 loops=1)
",
    ),
    (
        "SELECT * FROM a LIMIT 2 OFFSET 1",
        r"
-> Limit/Offset: 2/1 row(s)  (rows=2 loops=1)
    -> Table scan on a  (rows=5) (rows=3 loops=1)
",
    ),
    (
        "SELECT * FROM a LIMIT 0",
        r"
-> Limit: 0 row(s)  (rows=0 loops=1)
    -> Table scan on a  (rows=5) (never executed)
",
    ),
    (
        "SELECT id, (SELECT SUM(v) FROM b WHERE b.a = a.id) FROM a",
        r"
-> Covering index scan on a using g  (rows=5) (rows=5 loops=1)
-> Select #2 (subquery; dependent)
    -> Aggregate  (rows=1 loops=5)
        -> Filter  (rows=1 loops=5)
            -> Index lookup on b using a  (rows=2) (rows=1 loops=5)
",
    ),
    (
        "SELECT * FROM a WHERE n > (SELECT MIN(v) / 10 FROM b)",
        r"
-> Filter  (rows=4 loops=1)
    -> Table scan on a  (rows=5) (rows=5 loops=1)
-> Select #2 (subquery; run only once)
    -> Aggregate  (rows=1 loops=1)
        -> Table scan on b  (rows=6) (rows=6 loops=1)
",
    ),
    (
        "SELECT * FROM a WHERE n = 77 AND id > (SELECT COUNT(*) FROM b WHERE b.v > a.n)",
        r"
-> Filter  (rows=0 loops=1)
    -> Table scan on a  (rows=5) (rows=5 loops=1)
-> Select #2 (subquery; dependent)
    -> Aggregate  (never executed)
        -> Filter  (never executed)
            -> Table scan on b  (rows=6) (never executed)
",
    ),
    (
        "SELECT * FROM w JOIN b ON b.id = w.c",
        r"
-> Nested loop inner join  (rows=3 loops=1)
    -> Table scan on w  (rows=3 loops=1)
        -> Materialize  (rows=1.5) (rows=3 loops=1)
            -> Group aggregate  (rows=3 loops=1)
                -> Covering index scan on a using g  (rows=5) (rows=5 loops=1)
    -> Filter  (rows=1 loops=3)
        -> Single-row index lookup on b using PRIMARY  (rows=1) (rows=1 loops=3)
",
    ),
    (
        "SELECT * FROM a, LATERAL (SELECT MAX(v) FROM b WHERE b.a = a.id) l",
        r"
-> Nested loop inner join  (rows=5 loops=1)
    -> Table scan on a  (rows=5) (rows=5 loops=1)
    -> Table scan on l  (rows=1 loops=5)
        -> Materialize (again for each row)  (rows=1) (rows=1 loops=5)
            -> Aggregate  (rows=1 loops=5)
                -> Filter  (rows=1 loops=5)
                    -> Index lookup on b using a  (rows=2) (rows=1 loops=5)
",
    ),
    (
        "WITH c AS (SELECT g, COUNT(*) k FROM a GROUP BY g) SELECT * FROM c x, c y",
        r"
-> Nested loop inner join  (rows=9 loops=1)
    -> Table scan on x  (rows=1.5) (rows=3 loops=1)
    -> Table scan on y  (rows=1.5) (rows=3 loops=3)
-> Materialize CTE c  (rows=1.5) (rows=3 loops=1)
    -> Group aggregate  (rows=3 loops=1)
        -> Covering index scan on a using g  (rows=5) (rows=5 loops=1)
",
    ),
    (
        "WITH RECURSIVE r AS (SELECT 1 i UNION ALL SELECT i + 1 FROM r WHERE i < 3) SELECT * FROM r",
        r"
-> Table scan on r  (rows=1000) (rows=3 loops=1)
-> Materialize recursive CTE r  (rows=1000) (rows=3 loops=1)
    -> Rows fetched before execution  (rows=1) (rows=1 loops=1)
    -> Repeat until convergence
        -> Filter  (rows=0.667 loops=3)
            -> Scan new records on r  (rows=1 loops=3)
",
    ),
    (
        "SELECT id FROM a UNION SELECT id FROM b ORDER BY id LIMIT 3",
        r"
-> Limit: 3 row(s)  (rows=3 loops=1)
    -> Sort  (rows=6 loops=1)
        -> Union materialize with deduplication  (rows=6 loops=1)
            -> Covering index scan on a using g  (rows=5) (rows=5 loops=1)
            -> Covering index scan on b using a  (rows=6) (rows=6 loops=1)
",
    ),
    (
        "SELECT id, ROW_NUMBER() OVER (ORDER BY n) FROM a",
        r"
-> Window aggregate  (rows=5 loops=1)
    -> Table scan on a  (rows=5) (rows=5 loops=1)
",
    ),
    (
        "SELECT 1",
        r"
-> Rows fetched before execution  (rows=1) (rows=1 loops=1)
",
    ),
    (
        "SELECT 1 WHERE FALSE",
        r"
-> Rows fetched before execution  (rows=1) (rows=0 loops=1)
",
    ),
    (
        "VALUES ROW(1), ROW(2)",
        r"
-> Rows fetched before execution  (rows=2) (rows=2 loops=1)
",
    ),
];

#[test]
fn nothing_is_changed_by_a_change_that_is_analyzed() {
    let (_db, mut session) = tables();
    let before = run(&mut session, "SELECT * FROM a");
    for (text, tree) in [
        ("UPDATE a SET n = 1", "-> <not executable by iterator executor>\n"),
        ("DELETE FROM a WHERE id = 1", "-> <not executable by iterator executor>\n"),
        ("INSERT INTO a VALUES (9, 9, 9)", "-> Insert into a\n    -> Rows fetched before execution\n"),
        ("REPLACE INTO a VALUES (1, 9, 9)", "-> Replace into a\n    -> Rows fetched before execution\n"),
        (
            "INSERT INTO a SELECT id + 100, g, n FROM a FORCE INDEX (PRIMARY)",
            "-> Insert into a\n    -> Table scan on a  (rows=5) (rows=5 loops=1)\n",
        ),
    ] {
        assert_eq!(analyzed(&mut session, text), tree, "{text}");
    }
    for text in ["UPDATE a JOIN b ON b.a = a.id SET a.n = 77", "DELETE a FROM a JOIN b ON b.a = a.id"] {
        let given = analyzed(&mut session, text);
        assert!(given.contains("-> Nested loop inner join  (rows=5 loops=1)"), "{given}");
    }
    assert_eq!(run(&mut session, "SELECT * FROM a"), before);
    run(&mut session, "START TRANSACTION READ ONLY");
    let refused = run(&mut session, "EXPLAIN ANALYZE UPDATE a JOIN b ON b.a = a.id SET a.n = 77");
    assert!(refused.starts_with("error 1792 "), "{refused}");
}

#[test]
fn what_is_read_for_update_is_locked() {
    let (db, mut one) = tables();
    let mut other = session(&db);
    run(&mut one, "BEGIN");
    analyzed(&mut one, "SELECT * FROM a WHERE id = 1 FOR UPDATE");
    let refused = run(&mut other, "SELECT * FROM a WHERE id = 1 FOR UPDATE NOWAIT");
    assert!(refused.starts_with("error 3572 "), "{refused}");
    run(&mut one, "ROLLBACK");
    analyzed(&mut one, "SELECT * FROM a WHERE id = 1 FOR UPDATE");
    assert_eq!(run(&mut other, "SELECT n FROM a WHERE id = 1 FOR UPDATE NOWAIT"), "1\n");
}

#[test]
fn forms_that_are_not_there_are_refused_behind_what_is_missing() {
    let (_db, mut session) = tables();
    for (text, error) in [
        ("FORMAT=JSON SELECT 1", "error 6412 "),
        ("FORMAT=TRADITIONAL SELECT 1", "error 1235 "),
        ("FORMAT=TRADITIONAL SELECT * FROM nosuch", "error 1146 "),
        ("FORMAT=JSON SELECT * FROM nosuch", "error 1146 "),
        ("FOR CONNECTION 1", "error 1235 "),
        ("a", "error 1064 "),
        ("SELECT (SELECT id FROM a)", "error 1242 "),
    ] {
        let given = run(&mut session, &format!("EXPLAIN ANALYZE {text}"));
        assert!(given.starts_with(error), "{text}: {given}");
    }
    // The open transaction is not ended by what is refused.
    assert_eq!(run(&mut session, "SELECT COUNT(*) FROM a"), "5\n");
}

#[test]
fn it_is_prepared_like_its_statement() {
    let (_db, mut session) = tables();
    run(&mut session, "PREPARE p FROM 'EXPLAIN ANALYZE SELECT n FROM a WHERE id > ?'");
    run(&mut session, "SET @id = 3");
    for _ in 0..3 {
        let given = masked(&run(&mut session, "EXECUTE p USING @id"));
        assert!(given.starts_with("-> Filter  (rows=2 loops=1)\n"), "{given}");
    }
    let refused = run(&mut session, "PREPARE p FROM 'EXPLAIN FOR CONNECTION 1'");
    assert!(refused.starts_with("error 1295 "), "{refused}");
}

/// Runs a statement on a thread of its own and returns when it sleeps; the thread gives the session and the
/// answer back.
fn running(mut session: Session, text: &'static str) -> std::thread::JoinHandle<(Session, String)> {
    let db = session.database().clone();
    let before = db.status().sleeps();
    let thread = std::thread::spawn(move || {
        let answer = run(&mut session, text);
        (session, answer)
    });
    while db.status().sleeps() == before {
        std::thread::yield_now();
    }
    thread
}

fn kill(db: &Arc<Database>, id: u64) {
    db.registry().find(id).unwrap().interrupt.kill_query();
}

#[test]
fn what_was_done_until_kill_is_the_answer() {
    let (db, other) = tables();
    let id = other.id();
    let thread = running(other, "EXPLAIN ANALYZE SELECT id FROM a WHERE n > 1 AND SLEEP(1000) = 0");
    kill(&db, id);
    let (mut other, answer) = thread.join().unwrap();
    assert!(masked(&answer).contains("-> Table scan on a  (rows=5) (rows=5 loops=1)"), "{answer}");
    assert!(answer.contains("(1 warnings)"), "{answer}");
    assert_eq!(run(&mut other, "SHOW WARNINGS"), "Warning | 1317 | Query execution was interrupted\n");
    let limited = "EXPLAIN ANALYZE SELECT /*+ MAX_EXECUTION_TIME(10) */ id, SLEEP(1000) FROM a";
    assert!(run(&mut other, limited).contains("Covering index scan on a using g"));
    assert_eq!(run(&mut other, "SHOW WARNINGS"), "Warning | 1317 | Query execution was interrupted\n");
    assert_eq!(run(&mut other, "SELECT COUNT(*) FROM a"), "5\n");
    other.interrupt().kill_connection();
    assert!(run(&mut other, "EXPLAIN ANALYZE SELECT * FROM a").starts_with("error 1317 "));
}

#[test]
fn it_needs_the_rights_of_its_query() {
    let (db, mut root) = tables();
    run(&mut root, "CREATE USER u");
    let mut user = as_user(&db, "u");
    let text = "EXPLAIN ANALYZE SELECT n FROM test.a";
    assert!(run(&mut user, text).starts_with("error 1142 SELECT command denied"));
    run(&mut root, "GRANT SELECT (id) ON test.a TO u");
    assert!(run(&mut user, text).starts_with("error 1143 SELECT command denied"));
    run(&mut root, "GRANT SELECT (n) ON test.a TO u");
    assert!(run(&mut user, text).starts_with("-> Table scan on a"));
    let change = "EXPLAIN ANALYZE UPDATE test.a x JOIN test.a y ON x.id = y.n SET x.n = 1";
    let refused = run(&mut user, change);
    assert!(refused.starts_with("error 114"), "{refused}");
}

#[test]
fn a_statement_of_another_connection_is_explained() {
    let (db, mut root) = tables();
    run(&mut root, "CREATE USER u, v");
    run(&mut root, "GRANT SELECT ON test.* TO u");
    run(&mut root, "GRANT SELECT, PROCESS ON *.* TO v");
    let mut other = as_user(&db, "u");
    run(&mut other, "USE test");
    run(&mut other, "SET sql_mode = 'ANSI_QUOTES'");
    let id = other.id();
    let text = format!("EXPLAIN FOR CONNECTION {id}");
    // Nothing runs: nothing is told, and of nothing.
    assert_eq!(run(&mut as_user(&db, "v"), &text), "ok\n");
    let thread = running(other, r#"SELECT "n" FROM a WHERE SLEEP(1000) = 0 AND id IN (1, 3)"#);
    let mut sessions = [&mut root, &mut as_user(&db, "u")];
    for session in &mut sessions {
        run(session, "CREATE DATABASE own");
        let given = run(session, &text);
        assert!(given.starts_with("1 | SIMPLE | a | NULL | range | PRIMARY | PRIMARY | 4 |"), "{given}");
        let tree = text.replace("EXPLAIN", "EXPLAIN FORMAT=TREE");
        assert!(run(session, &tree).contains("Index range scan on a using PRIMARY"));
        // It is itself again.
        assert_eq!(run(session, "SELECT \"n\", @@sql_mode LIKE '%ANSI%'"), "n | 0\n");
    }
    let refused = run(&mut as_user(&db, "v"), &text);
    assert!(
        refused.starts_with("error 1045 Access denied for user 'v'@'%' (using password: NO)"),
        "{refused}"
    );
    kill(&db, id);
    let (other, _) = thread.join().unwrap();
    let thread = running(other, "DO SLEEP(1000)");
    assert!(run(&mut root, &text).starts_with("error 3012 "));
    assert!(run(&mut as_user(&db, "v"), &text).starts_with("error 3012 "));
    kill(&db, id);
    thread.join().unwrap();
    assert_eq!(run(&mut root, "EXPLAIN FOR CONNECTION 999999"), "error 1094 Unknown thread id: 999999\n");
    let own = format!("EXPLAIN FOR CONNECTION {}", root.id());
    assert!(run(&mut root, &own).starts_with("error 3012 "));
}
