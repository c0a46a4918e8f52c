//! What becomes a key, and which texts become templates. That both ways give the same is shown in
//! `tests/it/templates.rs`.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use super::{Scan, Template};
use crate::parser::{ParseOptions, parse};
use turnstile_values::value::Value;

fn options() -> ParseOptions {
    ParseOptions { parameters: false, ..ParseOptions::default() }
}

/// The key with `#` and `$` for numbers and strings, then the values; `-` if there is no key.
fn read(text: &str) -> String {
    let mut scan = Scan::default();
    if !scan.read(text.as_bytes(), options().lex_options(), false) {
        return "-".into();
    }
    let key = String::from_utf8(scan.key().to_vec()).unwrap().replace('\u{1}', "#").replace('\u{2}', "$");
    let values = scan.values().iter().map(|value| match value {
        Value::Int(number) => format!(" {number}"),
        Value::Str(text) => format!(" '{text}'"),
        other => format!(" {other:?}"),
    });
    key + " |" + &values.collect::<String>()
}

fn has_template(text: &str) -> bool {
    let mut scan = Scan::default();
    let parsed = parse(text.as_bytes(), options()).unwrap();
    scan.read(text.as_bytes(), options().lex_options(), false)
        && Template::of(&parsed.statement, &scan, options()).is_some()
}

#[test]
fn literals_leave_marks() {
    for (text, expected) in [
        ("SELECT c FROM t WHERE id=501", "SELECT c FROM t WHERE id=# | 501"),
        ("select 1 from t where a = 'x' and b=2", "select 1 from t where a = $ and b=# | 'x' 2"),
        ("UPDATE t SET k=k+1 WHERE id=1 LIMIT 3", "UPDATE t SET k=k+# WHERE id=# LIMIT 3 | 1 1"),
        (
            "INSERT INTO t5 (a) VALUES (1,'a''b','c\\'d', -7)",
            "INSERT INTO t5 (a) VALUES (#,$,$, -#) | 1 'a'b' 'c'd' 7",
        ),
        ("SELECT a FROM t WHERE a=1 ORDER BY 1, a+2", "SELECT a FROM t WHERE a=# ORDER BY 1, a+2 | 1"),
        // Other types stay: decimals, floats, hex, bits, more digits than an i64 has for sure.
        (
            "SELECT a FROM t WHERE a=1.5 AND b=.5 AND c=1e5 AND d=0x1F AND e=0b1 AND f=1234567890123456789",
            "SELECT a FROM t WHERE a=1.5 AND b=.5 AND c=1e5 AND d=0x1F AND e=0b1 AND f=1234567890123456789 |",
        ),
        (
            "SELECT a FROM t WHERE t.1=2 AND `w'h`=3 AND 4a=5",
            "SELECT a FROM t WHERE t.1=# AND `w'h`=# AND 4a=# | 2 3 5",
        ),
    ] {
        assert_eq!(read(text), expected);
    }
}

#[test]
fn some_texts_have_no_key() {
    for text in [
        "SELECT a FROM t WHERE a=1 -- x",
        "SELECT a FROM t WHERE a=1 # x",
        "SELECT a FROM t WHERE a/*1*/=1",
        "SELECT a FROM t WHERE a=@x",
        "SELECT a FROM t WHERE a=\"x\"",
        "SELECT a FROM t WHERE a=?",
        "SELECT a FROM t WHERE a=1; SELECT 2",
        "SELECT a FROM t WHERE a=x'41'",
        "SELECT a FROM t WHERE a=_latin1'41'",
        "SELECT a FROM t WHERE a=N'41'",
        "SELECT a FROM t WHERE a='open",
        "SELECT a FROM t WHERE a='open\\'",
        "SELECT a FROM t WHERE a=1e+5",
        "SELECT a FROM t WHERE a='\u{1}'",
        "SELECT '\u{2}' FROM t WHERE a=1",
        "SELECT `\u{1}` FROM t WHERE a=1",
        "SELECT a FROM t WHERE a=\u{1}",
    ] {
        assert_eq!(read(text), "-", "{text}");
    }
}

#[test]
fn shapes_that_become_templates() {
    for text in [
        "SELECT c FROM sbtest1 WHERE id=501",
        "SELECT c FROM sbtest1 WHERE id BETWEEN 1 AND 100",
        "SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN 1 AND 100",
        "SELECT c FROM sbtest1 WHERE id BETWEEN 1 AND 100 ORDER BY c",
        "SELECT DISTINCT c FROM sbtest1 WHERE id BETWEEN 1 AND 100 ORDER BY c",
        "UPDATE sbtest1 SET k=k+1 WHERE id=1",
        "UPDATE sbtest1 SET c='x' WHERE id=1",
        "DELETE FROM sbtest1 WHERE id=1",
        "INSERT INTO sbtest1 (id, k, c, pad) VALUES (1, 2, 'c', 'p')",
        "UPDATE t SET stock = stock - 1 WHERE id = 1 AND stock > 3",
        "SELECT 7, 'x', a FROM t WHERE a IN (1, -2, 'x') LIMIT 5",
        "SELECT COUNT(*) FROM t WHERE a <=> 5 OR NOT (b LIKE 'x%' AND k - 3 >= 1)",
        "INSERT INTO t (a, b) VALUES (-1, 'x'), (DEFAULT, NULL) ON DUPLICATE KEY UPDATE b = VALUES(b)",
    ] {
        assert!(has_template(text), "{text}");
    }
}

#[test]
fn shapes_that_do_not() {
    for text in [
        "SELECT a FROM t, u WHERE t.a=1",
        "SELECT a FROM t JOIN u ON t.a=u.a WHERE t.a=1",
        "SELECT a FROM (SELECT 1 AS a) AS d WHERE a=1",
        "SELECT a FROM t WHERE a=(SELECT 1)",
        "SELECT a FROM t WHERE a IN (SELECT b FROM u WHERE c=1)",
        "SELECT a FROM t WHERE a=1 UNION SELECT 2",
        "SELECT a FROM t WHERE a=ABS(5)",
        "SELECT NOW() FROM t WHERE a=5",
        "SELECT a FROM t WHERE d=DATE '2020-01-01'",
        "SELECT a FROM t WHERE d=TIMESTAMP '2020-01-01 00:00:00'",
        "SELECT a FROM t WHERE a='x' 'y'",
        "SELECT a FROM t WHERE a=b'1'",
        "SELECT a FROM t WHERE a='x' COLLATE utf8mb4_bin",
        "SELECT a FROM t WHERE CASE a WHEN 1 THEN 2 END",
        "SELECT a FROM t WHERE 5",
        "SELECT a FROM t WHERE a=-'5'",
        "SELECT a FROM t WHERE a=- -5",
        "SELECT a FROM t WHERE a=6/4",
        "UPDATE t SET a=a/3 WHERE b=1",
        "UPDATE t SET a=b+'3' WHERE b=1",
        "INSERT INTO t SELECT a FROM t WHERE a=1",
        "INSERT INTO t VALUES (1) AS new ON DUPLICATE KEY UPDATE a = new.a",
        "SELECT a FROM t WHERE a=1 GROUP BY b WITH ROLLUP",
    ] {
        assert!(!has_template(text), "{text}");
    }
}
