//! Statements nested as deeply as the parser lets them be: each answers or is refused, on a stack as large as
//! that of a server's worker.

use super::*;

/// As `STACK_BYTES` of the server's pool.
const STACK_BYTES: usize = if cfg!(debug_assertions) { 16 << 20 } else { 4 << 20 };

/// One way to nest: what opens a level, the innermost part, what closes a level.
struct Shape {
    before: &'static str,
    open: &'static str,
    inner: &'static str,
    close: &'static str,
    after: &'static str,
}

const fn shape(open: &'static str, inner: &'static str, close: &'static str) -> Shape {
    Shape { before: "SELECT ", open, inner, close, after: "" }
}

const fn tables(open: &'static str, inner: &'static str, close: &'static str) -> Shape {
    Shape { before: "SELECT COUNT(*) FROM ", open, inner, close, after: "" }
}

const fn query(open: &'static str, inner: &'static str, close: &'static str) -> Shape {
    Shape { before: "", open, inner, close, after: "" }
}

const SHAPES: &[Shape] = &[
    shape("(", "1", ")"),
    shape("-", "1", ""),
    shape("- ", "t", ""),
    shape("NOT ", "1", ""),
    shape("ABS(", "1", ")"),
    shape("CONCAT('a', ", "1", ")"),
    shape("CAST(", "1", " AS CHAR)"),
    shape("1 + (", "1", ")"),
    shape("", "1", " + 1"),
    shape("", "1", " = 1"),
    shape("", "'a'", " COLLATE utf8mb4_bin"),
    shape("CASE WHEN ", "1", " THEN 1 END"),
    shape("CASE 1 WHEN ", "1", " THEN 1 ELSE 2 END"),
    shape("IF(1, ", "1", ", 2)"),
    // Beside a number, a hex literal that is chosen is a number: nothing is planned twice for that.
    shape("3 = IF(1, ", "0x1", ", 0x3)"),
    shape("(IF(1, ", "0x1", ", 0x2) = 3)"),
    shape("CASE WHEN 1 = CASE WHEN 1 = 1 THEN ", "0x1", " ELSE 0x3 END THEN 0x1 ELSE 0x2 END"),
    shape("CASE 1 WHEN IF(1, ", "0x1", ", 0x3) THEN 0x1 ELSE 0x2 END"),
    shape("COALESCE(NULL, ", "1", ")"),
    shape("1 IN (", "1", ", 2)"),
    shape("JSON_ARRAY(", "1", ")"),
    shape("GREATEST(1, ", "1", ")"),
    shape("(1, 2) = (1, ", "2", ")"),
    shape("1 BETWEEN 0 AND ", "1", ""),
    shape("'2024-01-01' + INTERVAL ", "1", " DAY"),
    shape("@a := ", "1", ""),
    shape("SUM(1) OVER (ORDER BY ", "1", ")"),
    shape("(SELECT SUM(1) OVER (ORDER BY ", "1", "))"),
    shape("(SELECT ", "1", ")"),
    shape("(SELECT i + ", "1", " FROM n)"),
    shape("(SELECT MAX(i) FROM n WHERE i < ", "5", ")"),
    shape("EXISTS (SELECT 1 WHERE ", "1", ")"),
    shape("EXISTS (SELECT 1 FROM n WHERE i = ", "1", ")"),
    shape("1 IN (SELECT i FROM n WHERE i = ", "1", ")"),
    shape("1 = ANY (SELECT ", "1", ")"),
    shape("(WITH a AS (SELECT 1) SELECT ", "1", ")"),
    shape("(WITH a AS (SELECT ", "1", " AS x) SELECT x FROM a)"),
    tables("(SELECT * FROM ", "n", ") AS d"),
    tables("(SELECT * FROM n WHERE i IN (SELECT d.i FROM ", "n AS d", " AS e)) AS d"),
    tables("(SELECT DISTINCT d.i FROM ", "n AS d", ") AS d"),
    tables("(SELECT i, COUNT(*) FROM ", "n", " GROUP BY i) AS d"),
    tables("(SELECT d.i FROM n JOIN ", "n AS d", " USING (i)) AS d"),
    tables("(SELECT 1 AS i UNION SELECT i FROM ", "n", ") AS d"),
    tables("(SELECT i FROM ", "n", " LIMIT 5) AS d"),
    tables("LATERAL (SELECT * FROM ", "n", ") AS d"),
    tables("(", "n", ")"),
    tables("n AS a NATURAL JOIN (", "n", ")"),
    tables("(n AS a NATURAL LEFT JOIN ", "n", ")"),
    query("(", "SELECT 1", ")"),
    query("(", "SELECT 1", " LIMIT 1)"),
    query("(", "SELECT 1", " UNION SELECT 2)"),
    query("(", "SELECT 1", " ORDER BY 1 LIMIT 5) UNION ALL SELECT 1"),
    query("WITH a AS (", "SELECT 1 AS x", ") SELECT x FROM a"),
    query("WITH RECURSIVE a AS (", "SELECT 1 AS x", ") SELECT x FROM a"),
    query("WITH a AS (SELECT 1 AS x UNION ", "SELECT 1 AS x", ") SELECT x FROM a"),
    query("SELECT 1 UNION (", "SELECT 1", ")"),
    Shape {
        before: "SELECT COUNT(*) FROM n WHERE ",
        open: "i = 1 OR (i = 2 AND ",
        inner: "i = 3",
        close: ")",
        after: "",
    },
    Shape {
        before: "UPDATE n SET k = ",
        open: "(SELECT MAX(d.i) FROM (SELECT 1 AS i WHERE 1 IN (",
        inner: "1",
        close: ")) AS d)",
        after: " WHERE i = 1",
    },
    Shape {
        before: "DELETE FROM n WHERE i < 0 AND ",
        open: "EXISTS (SELECT 1 WHERE ",
        inner: "1",
        close: ")",
        after: "",
    },
    Shape {
        before: "SELECT * FROM JSON_TABLE('1', '$' COLUMNS (",
        open: "NESTED PATH '$' COLUMNS (",
        inner: "a INT PATH '$'",
        close: ")",
        after: ")) AS j",
    },
    Shape { before: "SELECT JSON_EXTRACT('", open: "[", inner: "1", close: "]", after: "', '$')" },
];

/// What is put before a statement.
const AROUND: &[&str] = &[
    "",
    "EXPLAIN ",
    "EXPLAIN FORMAT=JSON ",
    "EXPLAIN ANALYZE ",
    "CREATE TABLE made AS ",
    "CREATE OR REPLACE VIEW seen AS ",
    "INSERT INTO copy (t) ",
];

fn is_sound(given: &str) -> bool {
    !given.contains("error 1815") && !given.contains("error 1105")
}

pub(super) fn on_a_workers_stack(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(test);
    thread.expect("a thread").join().expect("no panic");
}

#[test]
fn what_is_nested_deeply_is_answered_or_refused() {
    on_a_workers_stack(|| {
        let db = database();
        let mut session = session(&db);
        run(&mut session, "CREATE TABLE n (i INT PRIMARY KEY, k INT)");
        run(&mut session, "INSERT INTO n VALUES (1, 1), (2, 2)");
        run(&mut session, "CREATE TABLE copy (t LONGTEXT)");
        for Shape { before, open, inner, close, after } in SHAPES {
            for depth in [1, 40, 62, 63, 80, 99, 130, 198, 5000] {
                let text = format!("{before}{}{inner}{}{after}", open.repeat(depth), close.repeat(depth));
                let around = if [62, 99, 198].contains(&depth) { AROUND } else { &AROUND[..1] };
                for around in around {
                    let given = run(&mut session, &format!("{around}{text}"));
                    assert!(is_sound(&given), "{around}{before}{open}{inner}{close}: {depth}: {given:.200}");
                    run(&mut session, "DROP TABLE IF EXISTS made");
                    run(&mut session, "SELECT * FROM seen");
                }
                run(&mut session, &format!("SET @text = '{}'", text.replace('\'', "''")));
                run(&mut session, "PREPARE s FROM @text");
                run(&mut session, "EXECUTE s");
            }
            assert_eq!(run(&mut session, "SELECT COUNT(*) FROM n"), "2\n", "{before}{open}");
        }
    });
}

#[test]
fn as_many_queries_within_each_other_as_in_mysql() {
    on_a_workers_stack(|| {
        let db = database();
        let mut session = session(&db);
        let nested = |depth: usize| format!("SELECT {}1{}", "(SELECT ".repeat(depth), ")".repeat(depth));
        assert_eq!(run(&mut session, &nested(63)), "1\n");
        assert_eq!(run(&mut session, &nested(64)), "error 1473 Too high level of nesting for select\n");
        let derived = |depth: usize| {
            format!(
                "SELECT * FROM {}(SELECT 1 AS a) AS d{}",
                "(SELECT * FROM ".repeat(depth),
                ") AS d".repeat(depth)
            )
        };
        assert_eq!(run(&mut session, &derived(62)), "1\n");
        assert_eq!(run(&mut session, &derived(63)), "error 1473 Too high level of nesting for select\n");
        // Queries beside each other are not within each other.
        assert_eq!(run(&mut session, &format!("SELECT 1{}", " UNION SELECT 1".repeat(100))), "1\n");
        assert_eq!(run(&mut session, &format!("SELECT 1{}", " + (SELECT 1)".repeat(90))), "91\n");
    });
}
