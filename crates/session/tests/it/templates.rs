//! Templates change nothing but the time a statement takes.
//!
//! Every statement runs in two databases that begin alike: in one as it is, so that the second text of a
//! shape makes a template and the later ones use it; in the other with a comment that keeps it out of every
//! cache. What the client gets must be the same to the last bit of the column descriptions, SHOW WARNINGS
//! after it too, and the tables in the end.

use std::fmt::Write;
use std::sync::Arc;

use turnstile_session::expr::SqlMode;
use turnstile_session::lexer::LexOptions;
use turnstile_session::statement_cache::hash;
use turnstile_session::template::Scan;
use turnstile_session::{ColumnMeta, Database, ResultSink, Session, SqlError, Value};

use super::{block_on, database, run, session};

/// Writes down everything a client could see.
#[derive(Default)]
struct Everything(String);

impl ResultSink for Everything {
    fn columns(&mut self, columns: &[ColumnMeta]) -> Result<(), SqlError> {
        columns.iter().for_each(|column| writeln!(self.0, "{column:?}").unwrap());
        Ok(())
    }
    fn row(&mut self, row: &[Value]) -> Result<(), SqlError> {
        writeln!(self.0, "{row:?}").unwrap();
        Ok(())
    }
    fn end(&mut self, warnings: u16, status: u16) {
        writeln!(self.0, "end {warnings} {status:x}").unwrap();
    }
    fn ok(&mut self, affected: u64, id: u64, warnings: u16, info: &str, status: u16) {
        writeln!(self.0, "ok {affected} {id} {warnings} {info} {status:x}").unwrap();
    }
}

fn see(session: &mut Session, text: &str) -> String {
    let mut seen = Everything::default();
    if let Err(error) = block_on(session.query(text.as_bytes(), &mut seen)) {
        writeln!(seen.0, "{error:?}").unwrap();
    }
    seen.0
}

/// A comment keeps a text from having a key, a parenthesis keeps it out of the cache of whole texts.
const UNCACHED: &str = " -- (";

/// Both databases, each with a session.
struct Pair {
    db: Arc<Database>,
    with: Session,
    without: Session,
    count: u32,
}

impl Pair {
    fn new() -> Pair {
        let (db, other) = (database(), database());
        let (mut with, mut without) = (session(&db), session(&other));
        // How many rows values find decides about plans, and so about warnings of rows that are looked at.
        for session in [&mut with, &mut without] {
            run(session, "SET eq_range_index_dive_limit = 1");
        }
        Pair { db, with, without, count: 0 }
    }

    /// Runs a text in both; fails if they differ.
    fn run(&mut self, text: &str) -> String {
        self.count += 1;
        let with = see(&mut self.with, text) + &see(&mut self.with, "SHOW WARNINGS");
        let without =
            see(&mut self.without, &format!("{text}{UNCACHED}")) + &see(&mut self.without, "SHOW WARNINGS");
        // A syntax error shows what it is near to.
        let without = without.replace(UNCACHED, "");
        assert_eq!(with, without, "statement {}: {text}", self.count);
        with
    }

    fn has_template(&self, text: &str) -> bool {
        let settings = self.with.settings();
        let options = LexOptions {
            ansi_quotes: false,
            no_backslash_escapes: settings.sql_mode.has(SqlMode::NO_BACKSLASH_ESCAPES),
        };
        let mut scan = Scan::default();
        scan.read(text.as_bytes(), options, false)
            && matches!(
                self.db.statements().find_template(hash(scan.key()), scan.key(), settings.reading_mode()),
                Some(Some(_))
            )
    }
}

const TABLE: &str = "CREATE TABLE t (
    id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, i INT, u BIGINT UNSIGNED, s SMALLINT NOT NULL DEFAULT 3,
    d DECIMAL(10,2), f DOUBLE, c CHAR(10), v VARCHAR(20), g VARCHAR(20) COLLATE utf8mb4_bin, b VARBINARY(10),
    da DATE, dt DATETIME, ts TIMESTAMP NULL, ti TIME, y YEAR, e ENUM('a','b','x'), st SET('a','b','x'), bi BIT(8), x TEXT,
    KEY (i), UNIQUE KEY (v), KEY (d, i), KEY (c(3)), KEY (da), KEY (e), KEY (u, f))";

const COLUMNS: [&str; 19] =
    ["id", "i", "u", "s", "d", "f", "c", "v", "g", "b", "da", "dt", "ts", "ti", "y", "e", "st", "bi", "x"];

/// Literals of every kind, those that no template takes too.
const LITERALS: [&str; 50] = [
    "0",
    "1",
    "2",
    "3",
    "5",
    "7",
    "-1",
    "-3",
    "12",
    "100",
    "255",
    "256",
    "40000",
    "-40000",
    "2147483648",
    "999999999999999999",
    "9223372036854775807",
    "18446744073709551615",
    "99999999999999999999",
    "007",
    "1.5",
    "-2.50",
    ".5",
    "1e2",
    "1e400",
    "0x41",
    "x'4142'",
    "b'101'",
    "NULL",
    "TRUE",
    "''",
    "' '",
    "'a'",
    "'A'",
    "'b '",
    "'x'",
    "'abc'",
    "'1'",
    "'-3'",
    "'1x'",
    "'12.5'",
    "'O''Brien'",
    "'back\\\\slash'",
    "'100%'",
    "'a,b'",
    "'2024-02-29'",
    "'2024-02-30'",
    "'2024-02-29 12:30:00'",
    "'ÄÖ'",
    "'a string that is longer than twenty'",
];

/// Shapes: `$` is a literal, `%` a column. Whether all of a shape's texts with numbers and strings get
/// templates.
const SHAPES: [(&str, bool); 58] = [
    ("SELECT * FROM t WHERE id = $", true),
    ("SELECT id, i FROM t WHERE $ = id", true),
    ("SELECT id, % FROM t WHERE % = $ ORDER BY id", true),
    ("SELECT id FROM t WHERE % <=> $ ORDER BY id DESC", true),
    ("SELECT id FROM t WHERE % <> $ ORDER BY 1", true),
    ("SELECT id FROM t WHERE % > $ AND % <= $ ORDER BY id", true),
    ("SELECT id, % FROM t WHERE % BETWEEN $ AND $ ORDER BY id", true),
    ("SELECT id FROM t WHERE % NOT BETWEEN $ AND $ ORDER BY id LIMIT 3", true),
    ("SELECT id FROM t WHERE % IN ($, $, $) ORDER BY id", true),
    ("SELECT id FROM t WHERE % NOT IN ($, $) ORDER BY id", true),
    ("SELECT id FROM t WHERE % LIKE $ ORDER BY id", true),
    ("SELECT id FROM t WHERE NOT (% = $ OR % < $) ORDER BY id LIMIT 2, 3", true),
    ("SELECT id FROM t WHERE i + $ > $ AND i * $ <= $ ORDER BY id", false),
    ("SELECT id FROM t WHERE $ = $ AND id < $ ORDER BY id", true),
    ("SELECT COUNT(*), SUM(i), MIN(%), MAX(%), AVG(i) FROM t WHERE % >= $", true),
    ("SELECT DISTINCT % FROM t WHERE i + 0 > $ ORDER BY 1", true),
    ("SELECT i, COUNT(*) FROM t WHERE % < $ GROUP BY i HAVING COUNT(*) > 0 ORDER BY i", true),
    ("SELECT %, COUNT(*) AS n FROM t WHERE id > $ GROUP BY 1 ORDER BY n DESC, 1", true),
    ("SELECT 1, 'x', $, id FROM t WHERE id = $", false),
    ("SELECT $ AS a, % FROM t WHERE id = $", false),
    ("SELECT id FROM t WHERE % = $ FOR UPDATE", true),
    ("SELECT id FROM t WHERE % = $ LOCK IN SHARE MODE", true),
    ("SELECT SQL_CALC_FOUND_ROWS id FROM t WHERE i > $ LIMIT 1", true),
    ("SELECT id FROM test.t AS q WHERE q.% = $ ORDER BY q.id", true),
    ("SELECT id FROM t WHERE % = -$", false),
    ("SELECT id FROM t WHERE % = - $ ORDER BY id", false),
    ("SELECT id FROM t WHERE % IS NULL AND id > $ ORDER BY id", true),
    ("SELECT id FROM t WHERE (%, %) IN (($, $), ($, $)) ORDER BY id", false),
    ("SELECT id FROM t WHERE % = $ COLLATE utf8mb4_bin", false),
    ("SELECT id FROM t WHERE % = CAST($ AS SIGNED)", false),
    ("SELECT id FROM t WHERE id IN (SELECT id FROM t WHERE i = $) AND s = $ ORDER BY id", false),
    ("SELECT q.id FROM t AS q JOIN t AS r ON q.id = r.i WHERE r.id = $", false),
    ("SELECT id FROM t WHERE da > '2024-01-01' + INTERVAL $ DAY ORDER BY id", false),
    ("SELECT id FROM t WHERE id = $ UNION SELECT $", false),
    ("SELECT id FROM t WHERE %", false),
    ("SELECT id FROM t WHERE $", false),
    ("SELECT nothing FROM t WHERE id = $", false),
    ("SELECT id FROM missing WHERE id = $", false),
    ("SELECT i FROM t WHERE SUM(i) > $", false),
    ("SELECT %, id FROM t WHERE i = $ ORDER BY id LIMIT $", false),
    ("UPDATE t SET % = $ WHERE id = $", true),
    ("UPDATE t SET i = i + $ WHERE id = $", false),
    ("UPDATE t SET s = s - $, % = $ WHERE id = $ AND s > $", false),
    ("UPDATE t SET u = u - $ WHERE i = $", false),
    ("UPDATE t SET d = d * $, f = f + $ WHERE % = $", false),
    ("UPDATE t SET % = DEFAULT WHERE id = $", true),
    ("UPDATE IGNORE t SET % = $ WHERE id BETWEEN $ AND $", true),
    ("UPDATE t SET % = $ WHERE % = $ ORDER BY id LIMIT 2", true),
    ("INSERT INTO t (i, %) VALUES ($, $)", true),
    ("INSERT INTO t (id, %) VALUES ($, $)", true),
    ("INSERT IGNORE INTO t (%, v) VALUES ($, $), ($, $)", true),
    ("INSERT INTO t (id, i, v) VALUES ($, $, $) ON DUPLICATE KEY UPDATE i = VALUES(i) + 1, s = s + 1", true),
    ("INSERT INTO t SET i = $, % = $", true),
    ("INSERT INTO t (i, s) VALUES ($, $ + $)", false),
    ("INSERT INTO t (i) VALUES ($, $)", false),
    ("REPLACE INTO t (id, i, v) VALUES ($, $, $)", true),
    ("DELETE FROM t WHERE id = $", true),
    ("DELETE FROM t WHERE % = $ AND id > $ ORDER BY id LIMIT 1", true),
];

/// xorshift: the same texts at every run.
struct Random(u64);

impl Random {
    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        list[(self.0 >> 11) as usize % list.len()]
    }

    /// A text of a shape with these columns; `kinds` are the literals to choose from.
    fn text(&mut self, shape: &str, columns: &[&str], kinds: &[&str]) -> String {
        let mut columns = columns.iter();
        let mut text = String::new();
        for character in shape.chars() {
            match character {
                '$' => text.push_str(self.pick(kinds)),
                '%' => text.push_str(columns.next().unwrap()),
                other => text.push(other),
            }
        }
        text
    }
}

fn is_taken(literal: &&&str) -> bool {
    let digits = literal.trim_start_matches('-');
    let number = digits.len() <= 18 && digits.bytes().all(|byte| byte.is_ascii_digit());
    !literal.is_empty() && (number || literal.starts_with('\''))
}

fn fill(pair: &mut Pair, random: &mut Random) {
    pair.run(TABLE);
    for nth in 1..40 {
        let quoted = |text: String| format!("'{text}'");
        let values = [
            (nth % 7).to_string(),
            (nth * 3).to_string(),
            format!("{}.{:02}", nth % 5, nth),
            quoted(["a", "A", "b", "abc", "x"][nth % 5].into()),
            quoted(format!("{}{nth}", ["a", "Ä", "", "-"][nth % 4])),
            quoted(format!("2024-02-{:02}", nth % 29 + 1)),
            random.pick(&["'a'", "'b'", "NULL", "'x'"]).into(),
        ];
        pair.run(&format!("INSERT INTO t (i, u, d, c, v, da, e) VALUES ({})", values.join(", ")));
    }
}

/// Runs texts of all shapes; how many ran through a template.
fn all_shapes(pair: &mut Pair, random: &mut Random, rounds: usize) -> u32 {
    let taken: Vec<&str> = LITERALS.iter().filter(is_taken).copied().collect();
    let numbers: Vec<&str> =
        taken.iter().filter(|one| one.bytes().all(|b| b.is_ascii_digit())).copied().collect();
    let strings: Vec<&str> =
        taken.iter().filter(|one| one.starts_with('\'') && one.is_ascii()).copied().collect();
    let mut served = 0;
    for round in 0..rounds {
        for (shape, sure) in SHAPES {
            let columns: Vec<&str> = (0..4).map(|_| random.pick(&COLUMNS)).collect();
            // Of one key: numbers only, or strings of ASCII characters only. Then whatever comes.
            for kinds in [&numbers, &strings] {
                for nth in 0..4 {
                    let text = random.text(shape, &columns, kinds);
                    let known = pair.has_template(&text);
                    served += u32::from(known);
                    let seen = pair.run(&text);
                    let planned = !seen.contains("SqlError { code: 10") && !seen.contains("code: 1110");
                    assert!(
                        known || nth < 3 || !sure || !planned,
                        "round {round}: no template for {text}\n{seen}"
                    );
                }
            }
            for _ in 0..4 {
                let text = random.text(shape, &columns, &LITERALS);
                served += u32::from(pair.has_template(&text));
                pair.run(&text);
            }
        }
        pair.run("SELECT * FROM t ORDER BY id");
        pair.run("INSERT IGNORE INTO t (id, i) VALUES (1, 1), (2, 2), (3, 3), (5, 5), (7, 7), (12, 12)");
    }
    served
}

#[test]
fn a_template_gives_what_the_text_gives() {
    let mut pair = Pair::new();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    pair.run("SET timestamp = 1700000000");
    fill(&mut pair, &mut random);
    let mut served = all_shapes(&mut pair, &mut random, 3);
    for setting in [
        "SET sql_mode = ''",
        "SET sql_mode = 'NO_BACKSLASH_ESCAPES,STRICT_ALL_TABLES'",
        "SET sql_mode = 'NO_ZERO_DATE,TRADITIONAL'",
        "SET NAMES binary",
        "SET NAMES latin1",
        "SET NAMES utf8mb4 COLLATE utf8mb4_bin",
        "SET time_zone = '+05:00'",
        "SET autocommit = 0",
        "SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE",
    ] {
        pair.run(setting);
        served += all_shapes(&mut pair, &mut random, 1);
        pair.run("COMMIT");
    }
    assert!(served > 2000, "only {served} of {} statements came from templates", pair.count);
}

#[test]
fn a_template_keeps_the_hints_that_finish_a_transaction() {
    let mut pair = Pair::new();
    pair.run("CREATE TABLE stock (id INT PRIMARY KEY, c INT NOT NULL)");
    pair.run("INSERT INTO stock VALUES (1, 3), (2, 3), (3, 0)");
    let shapes = [
        "UPDATE /*+ COMMIT_ON_SUCCESS ROLLBACK_ON_FAIL TARGET_AFFECT_ROW(1) */ stock SET c = c - 1 WHERE id = # AND c > 0",
        "UPDATE COMMIT_ON_SUCCESS ROLLBACK_ON_FAIL TARGET_AFFECT_ROW 1 stock SET c = c + 1 WHERE id = #",
        "UPDATE /*+ ROLLBACK_ON_FAIL TARGET_AFFECT_ROW(1) */ stock SET c = c + 1 WHERE id = #",
        "DELETE COMMIT_ON_SUCCESS FROM stock WHERE id = # AND c > 100",
        "INSERT /*+ ROLLBACK_ON_FAIL */ INTO stock VALUES (#, 4)",
        "SELECT /*+ COMMIT_ON_SUCCESS */ c FROM stock WHERE id = #",
        "SELECT /*+ TARGET_AFFECT_ROW(1) */ c FROM stock WHERE id = #",
    ];
    for shape in shapes {
        for id in [1, 2, 3, 4, 1, 2, 3, 4] {
            pair.run("BEGIN");
            pair.run("UPDATE stock SET c = c + 1 WHERE id = 2");
            // The flags of a transaction are among what is compared.
            pair.run(&shape.replace('#', &id.to_string()));
            pair.run("ROLLBACK");
            pair.run("SELECT * FROM stock");
        }
        assert!(pair.has_template(&shape.replace('#', "9")), "{shape}");
    }
    // Those that say something of the plan or the time are read each time.
    for id in 1..4 {
        pair.run(&format!("SELECT /*+ MAX_EXECUTION_TIME(100000) */ c FROM stock WHERE id = {id}"));
    }
    assert!(!pair.has_template("SELECT /*+ MAX_EXECUTION_TIME(100000) */ c FROM stock WHERE id = 9"));
}

#[test]
fn a_point_change_is_the_same_with_parameters() {
    let mut pair = Pair::new();
    pair.run("SET sql_mode = ''");
    for kind in ["TINYINT", "INT UNSIGNED", "BIGINT", "DECIMAL(5,1)", "CHAR(4)"] {
        pair.run(&format!("CREATE TABLE p (id {kind} PRIMARY KEY, n INT)"));
        pair.run("INSERT INTO p VALUES (0, 0), (1, 10), (2, 20), (100, 30)");
        for value in ["1", "-1", "0", "2", "300", "-129", "4294967296", "'1'", "'1x'", "'zero'", "100"] {
            for other in ["1", "2", "'2'"] {
                pair.run(&format!("UPDATE p SET n = n + 1 WHERE id = {value}"));
                pair.run(&format!("UPDATE p SET n = n + 100 WHERE {value} = id AND n > {other}"));
                pair.run(&format!("UPDATE p SET n = n + 1000 WHERE id = {value} AND id = {other}"));
                pair.run(&format!("DELETE FROM p WHERE id = {value} AND n = {other}"));
                pair.run("SELECT * FROM p ORDER BY id");
            }
        }
        pair.run("DROP TABLE p");
    }
}

#[test]
fn a_template_follows_definitions_and_the_current_database() {
    let mut pair = Pair::new();
    for text in [
        "CREATE TABLE a (id INT PRIMARY KEY, n INT)",
        "CREATE DATABASE other",
        "CREATE TABLE other.a (id CHAR(5), n CHAR(9))",
    ] {
        pair.run(text);
    }
    pair.run("INSERT INTO a VALUES (1, 10), (2, 20), (3, 30), (10, 7)");
    pair.run("INSERT INTO other.a VALUES ('1', 'one'), ('1x', 'more'), ('2', 'two')");
    let look = |pair: &mut Pair| {
        (1..5).for_each(|id| drop(pair.run(&format!("SELECT id, n FROM a WHERE id = {id} ORDER BY n"))));
        (1..5).for_each(|id| drop(pair.run(&format!("SELECT * FROM a WHERE id IN ({id}, 3)"))));
    };
    for text in [
        "SELECT 'nothing'",
        "USE other",
        "USE test",
        "ALTER TABLE a ADD COLUMN more INT DEFAULT 4",
        "CREATE INDEX n ON a (n)",
        "ALTER TABLE a MODIFY id CHAR(3)",
        "DROP TABLE a",
        "CREATE TABLE a (n INT)",
        "ALTER TABLE a ADD id DECIMAL(5,2) DEFAULT 2",
    ] {
        pair.run(text);
        look(&mut pair);
    }
    assert!(pair.has_template("SELECT id, n FROM a WHERE id = 77 ORDER BY n"));
}

/// A TIMESTAMP literal with an offset means another moment in every time zone; its text may come from any
/// session.
#[test]
fn a_whole_text_is_planned_for_the_time_zone() {
    let mut pair = Pair::new();
    pair.run("CREATE TABLE t (id INT, at DATETIME)");
    pair.run("INSERT INTO t VALUES (0, '2024-01-01 00:00:00'), (2, '2024-01-01 02:00:00')");
    for zone in ["+00:00", "+02:00", "+00:00"] {
        pair.run(&format!("SET time_zone = '{zone}'"));
        for _ in 0..3 {
            let seen = pair.run("SELECT id FROM t WHERE at = TIMESTAMP'2024-01-01 00:00:00+00:00'");
            assert!(seen.contains(if zone == "+02:00" { "[Int(2)]" } else { "[Int(0)]" }), "{seen}");
        }
    }
}

#[test]
fn prepared_statements_are_not_templates() {
    let db = database();
    let mut session = session(&db);
    run(&mut session, "CREATE TABLE t (id INT PRIMARY KEY, c CHAR(20))");
    run(&mut session, "INSERT INTO t VALUES (1, 'one'), (2, 'two')");
    let describe = |session: &mut Session| {
        let prepared = block_on(session.prepare(b"SELECT c, ? FROM t WHERE id = ?")).unwrap();
        let mut seen = Everything::default();
        let params = [Value::from("x"), Value::from("1 and a half")];
        block_on(session.execute(prepared.id, &params, &mut seen)).unwrap();
        format!("{:?} {:?} {}", prepared.params, prepared.columns, seen.0)
    };
    let before = describe(&mut session);
    for id in 0..5 {
        run(&mut session, &format!("SELECT c FROM t WHERE id = {id}"));
    }
    assert_eq!(describe(&mut session), before);
    assert!(run(&mut session, "SELECT c FROM t WHERE id = ?").starts_with("error 1064 "));
}

#[test]
fn a_text_that_stays_the_same_is_found_whole_in_the_end() {
    let db = database();
    let mut session = session(&db);
    run(&mut session, "CREATE TABLE t (id INT PRIMARY KEY, n INT)");
    let mode = session.settings().sql_mode;
    let hot = "UPDATE t SET n = n - 1 WHERE id = 1 AND n > 3";
    for id in 2..5 {
        run(&mut session, &format!("UPDATE t SET n = n - 1 WHERE id = {id} AND n > 3"));
    }
    // One session looks, and counts the text, once in sixteen; fifteen times is often.
    let is_kept = || db.statements().find(hash(hot.as_bytes()), hot.as_bytes(), mode).is_some();
    for _ in 0..14 * 16 {
        run(&mut session, hot);
        assert!(!is_kept());
    }
    for _ in 0..16 {
        run(&mut session, hot);
    }
    assert!(is_kept());
}
