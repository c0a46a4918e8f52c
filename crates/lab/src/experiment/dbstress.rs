//! dbSTRESS: objects with their section and zone, and twenty lines of history for each, joined with their
//! kind.
//!
//! READ is SELECT1, one object with its lookups by key, and SELECT2, its history ordered by date. WRITE
//! changes one line of history. Nothing is thought about in between. Statements are prepared, as dbSTRESS's
//! own clients do.

use crate::client::{Client, ClientError};
use crate::clients::{Parameter, Steps};
use crate::dice::dice;
use crate::hot_row::use_database;

/// Lines of history of an object.
pub const LINES: u64 = 20;

const TABLES: [(&str, &str); 5] = [
    ("ZONE", "CREATE TABLE ZONE (REF char(2) NOT NULL PRIMARY KEY, NAME char(40) NOT NULL) ENGINE=InnoDB"),
    (
        "SECTION",
        "CREATE TABLE SECTION (REF char(2) NOT NULL PRIMARY KEY, REF_ZONE char(2) NOT NULL, NAME char(40) NOT NULL) ENGINE=InnoDB",
    ),
    ("STAT", "CREATE TABLE STAT (REF char(3) NOT NULL PRIMARY KEY, NAME char(40) NOT NULL) ENGINE=InnoDB"),
    (
        "OBJECT",
        "CREATE TABLE OBJECT (REF char(10) NOT NULL PRIMARY KEY, REF_SECTION char(2) NOT NULL, NAME varchar(100) NOT NULL, NOTE varchar(100) NOT NULL) ENGINE=InnoDB",
    ),
    (
        "HISTORY",
        "CREATE TABLE HISTORY (REF_OBJECT char(10) NOT NULL, HORDER int NOT NULL, REF_STAT char(3) NOT NULL, BEGIN_DATE char(12) NOT NULL, END_DATE char(12) NOT NULL, NOTE varchar(100) NOT NULL, PRIMARY KEY (REF_OBJECT, HORDER)) ENGINE=InnoDB",
    ),
];

const SELECT1: &str = "SELECT o.REF, o.NAME, o.NOTE, s.NAME, z.NAME FROM OBJECT o \
    JOIN SECTION s ON s.REF = o.REF_SECTION JOIN ZONE z ON z.REF = s.REF_ZONE WHERE o.REF = ?";
const SELECT2: &str = "SELECT h.REF_STAT, t.NAME, h.HORDER, h.BEGIN_DATE, h.END_DATE, h.NOTE FROM HISTORY h \
    JOIN STAT t ON t.REF = h.REF_STAT WHERE h.REF_OBJECT = ? ORDER BY h.BEGIN_DATE";
const UPDATE: &str = "UPDATE HISTORY SET END_DATE = ?, NOTE = ? WHERE REF_OBJECT = ? AND HORDER = ?";
const POINT: &str = "SELECT NAME FROM OBJECT WHERE REF = ?";

/// Rows that one READ transaction brings.
pub const ROWS_A_READ: u64 = 1 + LINES;

/// What the sessions do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    /// One object by key and nothing else.
    Point,
    /// READ transactions.
    ReadOnly,
    /// READ and WRITE in turn.
    ReadWrite,
}

impl Mix {
    /// Its name in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Mix::Point => "point select",
            Mix::ReadOnly => "read-only",
            Mix::ReadWrite => "read-write",
        }
    }

    /// The statements of one transaction. What is written names the `era`, so that no run repeats another's
    /// values: a row set to what it is does not count as affected.
    pub fn script(self, connection: usize, turn: u64, objects: u64, era: u128, steps: &mut Steps) {
        let object = reference(dice(connection, turn, 4) % objects);
        let key = [Parameter::Text(&object)];
        match self {
            Mix::Point => steps.execute(3, &key),
            Mix::ReadWrite if turn % 2 == 1 => {
                let line = dice(connection, turn, 5) % LINES;
                let note = format!("changed by {connection} in turn {turn} of {era}");
                let date = format!("{turn:012}");
                steps.execute(
                    2,
                    &[
                        Parameter::Text(&date),
                        Parameter::Text(&note),
                        Parameter::Text(&object),
                        Parameter::Number(line as i64),
                    ],
                );
            }
            Mix::ReadOnly | Mix::ReadWrite => {
                steps.execute(0, &key);
                steps.execute(1, &key);
            }
        }
    }
}

/// The statements that the scripts execute by index.
pub fn prepared() -> Vec<String> {
    [SELECT1, SELECT2, UPDATE, POINT].map(String::from).to_vec()
}

fn reference(object: u64) -> String {
    format!("{object:010}")
}

/// Makes the tables with so many objects, unless they are there.
///
/// # Errors
/// Any [`ClientError`].
pub fn prepare(client: &mut Client, objects: u64, label: &str) -> Result<(), ClientError> {
    use_database(client)?;
    let there = client.number("SELECT COUNT(*) FROM HISTORY");
    if there.is_ok_and(|there| there as u64 == objects * LINES) {
        return Ok(());
    }
    for (name, create) in TABLES {
        client.query(&format!("DROP TABLE IF EXISTS {name}"))?;
        client.query(create)?;
    }
    let list =
        |count: usize, row: &dyn Fn(usize) -> String| (0..count).map(row).collect::<Vec<_>>().join(",");
    let zones = list(10, &|n| format!("('{n:02}','zone {n}')"));
    client.query(&format!("INSERT INTO ZONE VALUES {zones}"))?;
    let sections = list(100, &|n| format!("('{n:02}','{:02}','section {n}')", n / 10));
    client.query(&format!("INSERT INTO SECTION VALUES {sections}"))?;
    let kinds = list(1000, &|n| format!("('{n:03}','kind {n}')"));
    client.query(&format!("INSERT INTO STAT VALUES {kinds}"))?;
    for from in (0..objects).step_by(50) {
        if from % 10_000 == 0 {
            eprintln!("{label}: loading, {from} of {objects} objects");
        }
        let several = from..(from + 50).min(objects);
        let rows = several
            .clone()
            .map(|n| format!("('{}','{:02}','object {n}','{}')", reference(n), n % 100, filler(n)));
        client.query(&format!("INSERT INTO OBJECT VALUES {}", rows.collect::<Vec<_>>().join(",")))?;
        let rows = several.flat_map(|n| {
            (0..LINES).map(move |line| {
                let dice = dice(line as usize, n, 6);
                let (kind, date) = (dice % 1000, dice % 1_000_000_000_000);
                format!(
                    "('{}',{line},'{kind:03}','{date:012}','000000000000','{}')",
                    reference(n),
                    filler(dice)
                )
            })
        });
        client.query(&format!("INSERT INTO HISTORY VALUES {}", rows.collect::<Vec<_>>().join(",")))?;
    }
    Ok(())
}

fn filler(seed: u64) -> String {
    format!("{seed:020} and some words so that a row is as long as rows are")
}
