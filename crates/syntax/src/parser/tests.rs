//! Trees by their printed form, statements by the hundred, errors by their words.
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

mod corpus;
mod errors;
mod hostile;
mod precedence;
mod statements;

use super::*;

fn parse_text(text: &str) -> Statement {
    match parse(text.as_bytes(), ParseOptions::default()) {
        Ok(parsed) => parsed.statement,
        Err(error) => panic!("{text}\n{error}"),
    }
}

fn error_of(text: &str) -> ParseError {
    match parse(text.as_bytes(), ParseOptions::default()) {
        Ok(parsed) => panic!("accepted: {text}\n{:?}", parsed.statement),
        Err(error) => error,
    }
}

/// Words that may be written or left out and mean nothing, where the parser steps over them.
const NOISE: &[&str] = &[
    "Work",
    "Savepoint",
    "Of",
    "Table",
    "Column",
    "Key",
    "Index",
    "Into",
    "Row",
    "Outer",
    "Precision",
    "Enforced",
    "All",
    "Int",
    "Integer",
];

/// What the parser steps over without looking at the result is a word without meaning; everything else is in
/// the tree or handed over as a clause or hint, for which one list says what becomes of it.
#[test]
fn nothing_is_stepped_over_without_a_decision() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/parser");
    let mut unlisted = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|end| end != "rs") || path.ends_with("tests.rs") {
            continue;
        }
        for (number, line) in std::fs::read_to_string(&path).unwrap().lines().enumerate() {
            let line = line.trim();
            let line = line.strip_prefix("let _ = ").unwrap_or(line);
            let eats = ["self.eat(", "parser.eat(", "self.eat_any(", "parser.eat_any("];
            if !eats.iter().any(|start| line.starts_with(start)) || !line.ends_with(';') {
                continue;
            }
            let mut words = line.split("Keyword::").skip(1);
            let listed = |word: &str| {
                let end = word.find(|letter: char| !letter.is_alphanumeric()).unwrap_or(word.len());
                NOISE.contains(&&word[..end])
            };
            if !words.all(listed) {
                unlisted.push(format!("{}:{}: {line}", path.display(), number + 1));
            }
        }
    }
    assert!(unlisted.is_empty(), "stepped over without a decision: {unlisted:#?}");
}

/// A clause that somebody may write, and what is handed over for it.
#[test]
fn clauses_without_a_node_are_handed_over() {
    use crate::ast::Clause as C;
    for (text, clause) in [
        ("SELECT HIGH_PRIORITY 1", C::Priority),
        ("SELECT SQL_BIG_RESULT 1", C::ResultSize),
        ("SELECT SQL_BUFFER_RESULT 1", C::ResultSize),
        ("INSERT LOW_PRIORITY INTO t VALUES (1)", C::Priority),
        ("INSERT DELAYED INTO t VALUES (1)", C::Delayed(false)),
        ("REPLACE DELAYED INTO t VALUES (1)", C::Delayed(true)),
        ("UPDATE LOW_PRIORITY t SET a = 1", C::Priority),
        ("DELETE QUICK FROM t", C::Quick),
        ("DELETE LOW_PRIORITY FROM t", C::Priority),
        ("FLUSH LOCAL TABLES", C::NoBinlog),
        ("ANALYZE NO_WRITE_TO_BINLOG TABLE t", C::NoBinlog),
        ("CHECK TABLE t QUICK", C::Thoroughness),
        ("CHECK TABLE t FOR UPGRADE", C::Thoroughness),
        ("LOCK TABLES t READ LOCAL", C::ReadLocal),
        ("DROP TABLE t CASCADE", C::RestrictOrCascade),
        ("DROP VIEW v RESTRICT", C::RestrictOrCascade),
        ("ALTER TABLE t DROP a RESTRICT", C::RestrictOrCascade),
        ("ALTER TABLE t DISABLE KEYS", C::Keys),
        ("ALTER TABLE t ORDER BY a", C::TableOrder),
        ("CREATE TABLE t (a INT COLUMN_FORMAT FIXED)", C::ColumnFormat),
        ("CREATE TABLE t (a INT STORAGE DISK)", C::ColumnStorage),
        ("CREATE TABLE t (a INT SECONDARY_ENGINE_ATTRIBUTE '{}')", C::SecondaryAttribute),
        ("CREATE TABLE t (a INT, KEY (a) KEY_BLOCK_SIZE 4)", C::KeyBlockSize),
        ("CREATE TABLE t (a INT, KEY (a) USING HASH)", C::HashKey),
        ("CREATE TABLE t (a INT, FOREIGN KEY (a) REFERENCES p (a) MATCH FULL)", C::Match),
        ("SELECT 1 FROM t USE INDEX FOR ORDER BY (a)", C::IndexHintScope),
    ] {
        let parsed =
            parse(text.as_bytes(), ParseOptions::default()).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(parsed.aside.map(|aside| aside.clauses), Some(vec![clause]), "{text}");
    }
}

#[test]
fn hints_are_read_as_far_as_they_are_right() {
    let hints = |text: &str| {
        let parsed = parse(text.as_bytes(), ParseOptions::default()).unwrap();
        parsed.aside.map(|aside| aside.hints).unwrap_or_default()
    };
    assert_eq!(
        hints("SELECT /*+ MAX_EXECUTION_TIME(5) set_var(sort_buffer_size = 1M) MRR(t a, b) */ 1"),
        [
            Hint::MaxExecutionTime(5, true),
            Hint::SetVariable("sort_buffer_size".into(), "1M".into()),
            Hint::Advice("MRR".into(), "t a, b".into()),
        ]
    );
    let unresolved = |name: &str| Hint::Unresolved(name.into(), "INDEX".into());
    assert_eq!(
        hints("SELECT /*+ INDEX(t a) */ 1 FROM u WHERE 1 IN (SELECT /*+ INDEX(u) INDEX(v) */ 1 FROM v)"),
        [
            Hint::Heeded,
            unresolved("`t`@`select#1`"),
            unresolved("`t`@`select#1` `a`"),
            Hint::Heeded,
            Hint::Heeded,
            unresolved("`u`@`select#2`"),
        ]
    );
    assert_eq!(
        hints("SELECT /*+ NO_MERGE(@b v) NO_MERGE(@c v) */ (SELECT /*+ QB_NAME(b) */ 1 FROM v)"),
        [
            Hint::Heeded,
            Hint::Heeded,
            Hint::BlockName("b".into()),
            Hint::NoBlock("`c`".into(), "NO_MERGE".into()),
        ]
    );
    let wrong =
        |near: &str| Hint::Wrong(format!("Optimizer hint syntax error near '{near}' at line 1").into());
    assert_eq!(hints("SELECT /*+ QB_NAME(a) bogus */ 1"), [Hint::BlockName("a".into()), wrong("bogus */ 1")]);
    assert_eq!(hints("SELECT /*+ */ 1"), [wrong("*/ 1")]);
    assert_eq!(hints("SELECT /*+ max_execution_time(-5) */ 1"), [wrong("-5) */ 1")]);
    assert_eq!(hints("DELETE /*+ SET_VAR(sql_mode='') */ FROM t"), [wrong("'') */ FROM t")]);
    assert_eq!(
        hints("SELECT 1 UNION SELECT /*+ MAX_EXECUTION_TIME(5) */ 1"),
        [Hint::MaxExecutionTime(5, false)]
    );
    let with = "WITH c AS (SELECT /*+ MAX_EXECUTION_TIME(1) */ 1), d AS (SELECT 1) \
                SELECT /*+ MAX_EXECUTION_TIME(5) */ * FROM c, (SELECT /*+ MAX_EXECUTION_TIME(7) */ 1) e";
    assert_eq!(
        hints(with),
        [Hint::MaxExecutionTime(1, false), Hint::MaxExecutionTime(5, true), Hint::MaxExecutionTime(7, false)]
    );
    assert_eq!(hints("SELECT DISTINCT /*+ bogus */ 1"), []);
    assert_eq!(hints("SELECT /* plain */ 1"), []);
}

/// A statement's tree takes no more than is asked for it.
#[test]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn trees_take_what_is_asked_for_them() {
    let cases = [
        ("SELECT ", "a,", "1"),
        ("SELECT ", "'x',", "1"),
        ("SELECT ", "CASE WHEN 1 THEN 1 END,", "1"),
        ("SELECT 1 IN (", "1,", "1)"),
        ("", "SELECT 1 UNION ", "SELECT 1"),
        ("SELECT ", "EXISTS(SELECT 1),", "1"),
        ("CREATE TABLE t (", "a INT,", "a INT)"),
        ("ALTER TABLE t ", "DROP a,", "DROP b"),
        ("INSERT INTO t VALUES ", "(1),", "(1)"),
        ("INSERT INTO t VALUES ", "(1,1+1),", "(1,1)"),
    ];
    for (head, unit, tail) in cases {
        let text = format!("{head}{}{tail}", unit.repeat(100_000));
        turnstile_sys::heap::give_back();
        let before = turnstile_sys::heap::resident_bytes();
        let mut asked = 0;
        let mut meter = |bytes: usize| {
            asked += bytes as u64;
            Ok(())
        };
        let parsed = parse_metered(text.as_bytes(), 0, ParseOptions::default(), &mut meter).unwrap();
        let taken = turnstile_sys::heap::resident_bytes().saturating_sub(before);
        drop(parsed);
        // Other tests of the process take memory meanwhile.
        assert!(taken < asked + (24 << 20), "{unit}: {taken} of {asked} bytes");
        assert!(asked >= text.len() as u64, "{unit}: {asked} for {} bytes", text.len());
    }
}

#[test]
fn who_meters_may_end_a_statement() {
    let text = format!("SELECT {}1", "1,".repeat(100_000));
    let mut left = 1 << 20;
    let mut meter = |bytes: usize| {
        left -= bytes.min(left);
        if left == 0 { Err(SqlError::query_interrupted()) } else { Ok(()) }
    };
    let refused = parse_metered(text.as_bytes(), 0, ParseOptions::default(), &mut meter);
    assert_eq!(refused.unwrap_err().code, 1317);
}

/// LIKE and WHERE narrow lists; what is no list, or one that MySQL does not narrow, takes neither.
#[test]
fn show_is_narrowed_where_it_can_be() {
    let reads = |text: &str| parse(text.as_bytes(), ParseOptions::default()).is_ok();
    for list in [
        "DATABASES",
        "TABLES",
        "COLUMNS FROM t",
        "VARIABLES",
        "STATUS",
        "COLLATION",
        "TABLE STATUS",
        "EVENTS",
    ] {
        assert!(reads(&format!("SHOW {list} LIKE 'a%'")) && reads(&format!("SHOW {list} WHERE 1")), "{list}");
    }
    assert!(reads("SHOW INDEX FROM t WHERE 1") && !reads("SHOW INDEX FROM t LIKE 'a'"));
    for other in
        ["PROCESSLIST", "GRANTS", "WARNINGS", "CREATE TABLE t", "ENGINES", "PLUGINS", "ENGINE INNODB STATUS"]
    {
        assert!(reads(&format!("SHOW {other}")), "{other}");
        assert!(
            !reads(&format!("SHOW {other} LIKE 'a%'")) && !reads(&format!("SHOW {other} WHERE 1")),
            "{other}"
        );
    }
}
