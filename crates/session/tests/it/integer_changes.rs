//! The steps of a change of one integer say what the expressions say: every statement runs in two tables that
//! begin alike, in one as it is, in the other in a form that is no such change (`+ 0` behind it, a condition
//! within an OR), and the client must be told the same, warnings too, and find the same rows.

use std::fmt::Write;

use turnstile_session::{ColumnMeta, ResultSink, Session, SqlError, Value};
use turnstile_sys::rng::Rng;

use super::{block_on, database, session};

#[derive(Default)]
struct Told(String);

impl ResultSink for Told {
    fn columns(&mut self, _: &[ColumnMeta]) -> Result<(), SqlError> {
        Ok(())
    }
    fn row(&mut self, row: &[Value]) -> Result<(), SqlError> {
        writeln!(self.0, "{row:?}").unwrap();
        Ok(())
    }
    fn end(&mut self, warnings: u16, _: u16) {
        writeln!(self.0, "end {warnings}").unwrap();
    }
    fn ok(&mut self, affected: u64, _: u64, warnings: u16, info: &str, _: u16) {
        writeln!(self.0, "ok {affected} {warnings} {info}").unwrap();
    }
}

fn told(session: &mut Session, text: &str) -> String {
    let mut told = Told::default();
    if let Err(error) = block_on(session.query(text.as_bytes(), &mut told)) {
        // The expression is shown with the name of its table.
        let shown = format!("{error:?}").replace("`slow`", "`fast`");
        writeln!(told.0, "{shown}").unwrap();
    }
    told.0
}

const COLUMNS: &[(&str, &str, i128, i128)] = &[
    ("a", "TINYINT", -128, 127),
    ("b", "TINYINT UNSIGNED", 0, 255),
    ("c", "SMALLINT", -32768, 32767),
    ("d", "MEDIUMINT UNSIGNED", 0, 16_777_215),
    ("e", "INT", -2_147_483_648, 2_147_483_647),
    ("f", "BIGINT", i64::MIN as i128, i64::MAX as i128),
    ("g", "BIGINT UNSIGNED", 0, u64::MAX as i128),
];

/// A number of the column, mostly near one of its ends.
fn number(rng: &mut Rng, low: i128, high: i128) -> i128 {
    let near = i128::from(rng.below(5));
    match rng.below(4) {
        0 => low + near,
        1 => high - near,
        2 => near.clamp(low, high),
        _ => (i128::from(rng.next_u64()) % (high - low + 1)) + low,
    }
}

#[test]
fn steps_say_what_expressions_say() {
    let (mut rng, db) = (Rng::new(3), database());
    let mut session = session(&db);
    let columns: Vec<String> = COLUMNS.iter().map(|(name, kind, ..)| format!("{name} {kind}")).collect();
    told(&mut session, "CREATE DATABASE d");
    told(&mut session, "USE d");
    for table in ["fast", "slow"] {
        told(&mut session, &format!("CREATE TABLE {table} (id INT PRIMARY KEY, {})", columns.join(", ")));
        told(&mut session, &format!("INSERT INTO {table} (id) VALUES (1)"));
    }
    let mut changed = 0;
    for round in 0..1500 {
        if round % 50 == 0 {
            let modes = ["STRICT_TRANS_TABLES", "", "STRICT_TRANS_TABLES,NO_UNSIGNED_SUBTRACTION"];
            told(&mut session, &format!("SET sql_mode = '{}'", modes[rng.index(3)]));
        }
        let (name, _, low, high) = COLUMNS[rng.index(COLUMNS.len())];
        let start =
            if rng.chance(0.05) { "NULL".to_owned() } else { number(&mut rng, low, high).to_string() };
        let by =
            if rng.chance(0.8) { i128::from(rng.below(4)) } else { number(&mut rng, 0, i64::MAX as i128) };
        let (op, compare) =
            (["+", "-"][rng.index(2)], ["<", "<=", ">", ">=", "=", "<>", "<=>"][rng.index(7)]);
        let bound = if rng.chance(0.5) { number(&mut rng, low, high) } else { low };
        let both = ["fast", "slow"].map(|table| {
            told(&mut session, &format!("UPDATE {table} SET {name} = {start} WHERE id = 1 OR id = 1"));
            let (more, condition) = match table {
                "fast" => ("", format!("{name} {compare} {bound}")),
                _ => (" + 0", format!("({name} {compare} {bound} OR {name} {compare} {bound})")),
            };
            let update =
                format!("UPDATE {table} SET {name} = {name} {op} {by}{more} WHERE id = 1 AND {condition}");
            let mut all = told(&mut session, &update);
            all += &told(&mut session, "SHOW WARNINGS").replace("`slow`", "`fast`");
            all += &told(&mut session, &format!("SELECT * FROM {table}"));
            (update, all)
        });
        let [(update, fast), (_, slow)] = both;
        assert_eq!(fast, slow, "round {round}: {update}");
        changed += usize::from(fast.starts_with("ok 1"));
    }
    assert!((200..1400).contains(&changed), "{changed} rows changed");
}
