//! An INSERT of many rows, whose literals stay text and whose rows go to the engine in runs, does what the
//! same rows do one way or another: read as a tree, and inserted one at a time.

use std::fmt::Write;

use turnstile_session::Session;

use super::{database, run, session};

/// Columns that take the same literals differently.
const COLUMNS: &str = "id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, n SMALLINT, v VARCHAR(6), c CHAR(5) CHARACTER SET latin1, \
    b VARBINARY(4), d DECIMAL(6,2), t DATETIME, x TEXT";

/// Rows of every kind of literal that stays text; some fit no column.
fn rows(count: usize, wild: bool) -> Vec<String> {
    let texts =
        ["'plain'", "''", "'it''s'", r"'a\nb'", r"'\\'", "'end  '", "NULL", "'zwölf'", "'12.5'", "77", "-3"];
    let wilder = ["'far too long for it'", "99999", "-99999", "'2026-02-30'", "'2026-01-31 10:11:12'", "'x'"];
    let mut pool: Vec<&str> = texts.to_vec();
    if wild {
        pool.extend(wilder);
    }
    let pick = |row: usize, column: usize| pool[(row * 7 + column * 5 + row / 11) % pool.len()];
    let number =
        |row: usize| if row.is_multiple_of(9) { "NULL".to_string() } else { format!("{}", row as i64 - 50) };
    (0..count)
        .map(|row| {
            let moment = if wild { pick(row, 6) } else { "'2026-01-31 10:11:12'" };
            let whole = if wild { pick(row, 1).to_string() } else { number(row) };
            let decimal = if wild { pick(row, 5).to_string() } else { number(row) };
            let (v, c, b, x) = (pick(row, 2), pick(row, 3), pick(row, 4), pick(row, 7));
            let b = if wild { b } else { "'ab'" };
            format!("({whole}, {v}, {c}, {b}, {decimal}, {moment}, {x})")
        })
        .collect()
}

fn insert(table: &str, rows: &[String]) -> String {
    format!("INSERT INTO {table} (n, v, c, b, d, t, x) VALUES {}", rows.join(", "))
}

/// Everything that can be seen of a table and of the statement before.
fn seen(session: &mut Session, table: &str, outcome: &str) -> String {
    let mut all = outcome.replace(table, "TABLE");
    for text in ["SHOW COUNT(*) WARNINGS", "SHOW WARNINGS", "SELECT LAST_INSERT_ID()"] {
        all += &run(session, text);
    }
    write!(all, "{}", run(session, &format!("SELECT * FROM {table} ORDER BY id"))).unwrap();
    all
}

/// The same rows three ways: text and runs; a tree and runs; text and one at a time (the table has a second
/// key).
fn three_ways(session: &mut Session, rows: &[String]) -> [String; 3] {
    for table in ["quick", "trees", "slow"] {
        run(session, &format!("DROP TABLE IF EXISTS {table}"));
        run(session, &format!("CREATE TABLE {table} ({COLUMNS})"));
    }
    run(session, "CREATE INDEX second ON slow (n)");
    let mut tree = rows.to_vec();
    let last = tree.last_mut().unwrap();
    *last = last.replacen('(', "(0 + ", 1);
    ["quick", "trees", "slow"].map(|table| {
        let given = if table == "trees" { &tree } else { rows };
        let outcome = run(session, &insert(table, given));
        seen(session, table, &outcome)
    })
}

#[test]
fn many_rows_are_the_same_three_ways() {
    let db = database();
    let mut session = session(&db);
    let rows = rows(700, false);
    let text = insert("quick", &rows);
    assert!(text.len() > 40_000);
    let [quick, trees, slow] = three_ways(&mut session, &rows);
    assert!(quick.contains("700"), "{}", &quick[..200]);
    assert_eq!(quick, trees);
    assert_eq!(quick, slow);
}

#[test]
fn misfits_warn_the_same_three_ways() {
    let db = database();
    let mut session = session(&db);
    run(&mut session, "SET sql_mode = '', max_error_count = 2000");
    let mut wild = rows(600, true);
    // `0 +` is before a number only.
    wild.push(rows(2, false)[1].clone());
    let [quick, trees, slow] = three_ways(&mut session, &wild);
    assert!(quick.contains("1265") || quick.contains("1366"), "{}", &quick[..400]);
    assert_eq!(quick, trees);
    assert_eq!(quick, slow);
    run(&mut session, "SET sql_mode = 'NO_BACKSLASH_ESCAPES'");
    let [quick, trees, slow] = three_ways(&mut session, &wild);
    assert_eq!(quick, trees);
    assert_eq!(quick, slow);
}

#[test]
fn a_row_that_fails_takes_all_with_it() {
    let db = database();
    let mut session = session(&db);
    run(&mut session, &format!("CREATE TABLE quick ({COLUMNS})"));
    let mut all = rows(500, false);
    let again = |all: &[String]| {
        let with_id = all.iter().enumerate().map(|(at, row)| row.replacen('(', &format!("({}, ", at + 1), 1));
        format!("INSERT INTO quick VALUES {}", with_id.collect::<Vec<_>>().join(", "))
    };
    let duplicate = again(&all).replacen("(321, ", "(200, ", 1);
    assert_eq!(
        run(&mut session, &duplicate).trim(),
        "error 1062 Duplicate entry '200' for key 'quick.PRIMARY'"
    );
    assert_eq!(run(&mut session, "SELECT COUNT(*) FROM quick").trim(), "0");
    // So far behind the duplicate that runs have gone to the engine between.
    let many = again(&rows(4000, false)).replacen("(2900, ", "(1300, ", 1);
    let error = run(&mut session, &many);
    assert_eq!(error.trim(), "error 1062 Duplicate entry '1300' for key 'quick.PRIMARY'");
    assert_eq!(run(&mut session, "SELECT COUNT(*) FROM quick").trim(), "0");
    all[432] = "(1, 'longer than six', NULL, NULL, NULL, NULL, NULL)".to_string();
    let long = run(&mut session, &again(&all));
    assert!(long.starts_with("error 1406") && long.contains("at row 433"), "{long}");
    // The row before it that is a duplicate comes first.
    let both = run(&mut session, &again(&all).replacen("(400, ", "(399, ", 1));
    assert!(both.starts_with("error 1062"), "{both}");
    assert_eq!(run(&mut session, "SELECT COUNT(*) FROM quick").trim(), "0");
    all[432] = "(1, 2)".to_string();
    let narrow = run(&mut session, &again(&all));
    assert!(narrow.starts_with("error 1136") && narrow.contains("at row 433"), "{narrow}");
    let wide = insert("quick", &rows(500, false)).replacen("(n, v,", "(v,", 1);
    assert!(run(&mut session, &wide).starts_with("error 1136"));
}
