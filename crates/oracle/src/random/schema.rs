//! Random tables: a few rows of few values each, many of them NULL, with and without keys.

use turnstile_sys::rng::Rng;

/// What a column or an expression holds. Kinds are mixed on purpose now and then, but rarely: MySQL's rules for mixed types are
/// exact, and most statements that people write do not mix them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Integers of all sizes and DECIMAL.
    Number,
    /// FLOAT is left out: its text is no exact value.
    Double,
    /// CHAR, VARCHAR and ENUM.
    Text,
    /// DATE and DATETIME.
    Date,
}

/// A column.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
    /// Its type as SQL.
    pub sql: &'static str,
}

/// A table with its rows, as literals.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Its columns; the first is `id`, unique in the table.
    pub columns: Vec<Column>,
    /// Literals, a row each.
    pub rows: Vec<Vec<String>>,
    create: String,
}

/// The tables of one seed.
#[derive(Clone, Debug)]
pub struct Schema {
    /// The tables.
    pub tables: Vec<Table>,
}

const TYPES: &[(&str, Kind)] = &[
    ("INT", Kind::Number),
    ("INT", Kind::Number),
    ("TINYINT", Kind::Number),
    ("BIGINT", Kind::Number),
    ("INT UNSIGNED", Kind::Number),
    ("BIGINT UNSIGNED", Kind::Number),
    ("DECIMAL(8,2)", Kind::Number),
    ("DECIMAL(20,6)", Kind::Number),
    ("DOUBLE", Kind::Double),
    ("VARCHAR(12)", Kind::Text),
    ("VARCHAR(12)", Kind::Text),
    ("CHAR(8)", Kind::Text),
    ("VARCHAR(12) COLLATE utf8mb4_bin", Kind::Text),
    ("VARCHAR(12) COLLATE utf8mb4_general_ci", Kind::Text),
    ("ENUM('red','green','Blue')", Kind::Text),
    ("DATE", Kind::Date),
    ("DATETIME", Kind::Date),
];

const TEXTS: &[&str] =
    &["'a'", "'A'", "'ab'", "'b '", "''", "'12'", "'1.5'", "'zebra'", "'Ä'", "'x_y'", "'a%'", "'0'"];
const DATES: &[&str] = &["'2024-02-29'", "'2023-12-31'", "'2024-01-01'", "'1999-07-15'", "'2024-02-28'"];
const MOMENTS: &[&str] =
    &["'2024-02-29 00:00:00'", "'2023-12-31 23:59:59'", "'2024-01-01 12:30:00'", "'1999-07-15 06:07:08'"];

impl Schema {
    /// Three or four tables; in most schemas all texts are of one collation.
    pub fn make(rng: &mut Rng) -> Schema {
        let count = 3 + rng.below(2) as usize;
        let mixed = rng.below(4) == 0;
        Schema { tables: (0..count).map(|nth| table(rng, nth, mixed)).collect() }
    }

    /// The statements that make it, in a database that is empty.
    pub fn statements(&self) -> Vec<String> {
        let mut statements = Vec::new();
        for table in &self.tables {
            statements.push(table.create.clone());
            if !table.rows.is_empty() {
                let rows: Vec<String> =
                    table.rows.iter().map(|row| format!("({})", row.join(", "))).collect();
                statements.push(format!("INSERT INTO {} VALUES {}", table.name, rows.join(", ")));
            }
        }
        statements
    }
}

fn table(rng: &mut Rng, nth: usize, mixed: bool) -> Table {
    let mut columns = vec![Column { name: "id".into(), kind: Kind::Number, sql: "INT NOT NULL" }];
    for at in 0..2 + rng.below(4) {
        let (mut sql, kind) = TYPES[rng.below(TYPES.len() as u64) as usize];
        if !mixed && sql.contains("COLLATE") {
            sql = "VARCHAR(20)";
        }
        columns.push(Column { name: format!("c{at}"), kind, sql });
    }
    let mut parts: Vec<String> =
        columns.iter().map(|column| format!("{} {}", column.name, column.sql)).collect();
    match rng.below(4) {
        0 => {}
        1 => parts.push("UNIQUE KEY (id)".into()),
        _ => parts.push("PRIMARY KEY (id)".into()),
    }
    for _ in 0..rng.below(3) {
        let one = rng.below(columns.len() as u64) as usize;
        let two = rng.below(columns.len() as u64) as usize;
        let both = one != two && rng.below(2) == 0;
        let second = if both { format!(", {}", columns[two].name) } else { String::new() };
        parts.push(format!("KEY ({}{second})", columns[one].name));
    }
    let name = format!("t{nth}");
    let create = format!("CREATE TABLE {name} ({})", parts.join(", "));
    let mut rows = Vec::new();
    let size = [0, 1, 3, 6, 8, 12][rng.below(6) as usize];
    for id in 0..size {
        let mut row = vec![(id + 1).to_string()];
        row.extend(columns[1..].iter().map(|column| value(rng, column)));
        rows.push(row);
    }
    Table { name, columns, rows, create }
}

fn value(rng: &mut Rng, column: &Column) -> String {
    if rng.below(4) == 0 {
        return "NULL".into();
    }
    let mut one_of = |values: &[&str]| values[rng.below(values.len() as u64) as usize].to_string();
    let unsigned = column.sql.ends_with("UNSIGNED");
    match column.kind {
        Kind::Number if column.sql.starts_with("DECIMAL") => {
            one_of(&["0.00", "1.50", "2.25", "-1.50", "10.01", "100.00", "0.33"])
        }
        Kind::Number if unsigned => one_of(&["0", "1", "2", "3", "7", "100"]),
        Kind::Number => one_of(&["0", "1", "2", "3", "-1", "7", "100"]),
        Kind::Double => one_of(&["0", "0.5", "1", "-2.25", "1e3", "3.75"]),
        Kind::Text if column.sql.starts_with("ENUM") => one_of(&["'red'", "'green'", "'Blue'"]),
        Kind::Text => one_of(&TEXTS.iter().filter(|text| text.len() <= 10).copied().collect::<Vec<_>>()),
        Kind::Date if column.sql == "DATE" => one_of(DATES),
        Kind::Date => one_of(MOMENTS),
    }
}

/// A literal of a kind, of the values that columns hold or near them.
pub fn literal(rng: &mut Rng, kind: Kind) -> String {
    let of: &[&str] = match kind {
        Kind::Number => &["0", "1", "2", "3", "-1", "7", "1.50", "100", "2.25"],
        Kind::Double => &["0.5e0", "1e0", "-2.25e0", "1e3"],
        Kind::Text => TEXTS,
        Kind::Date => {
            &["DATE'2024-02-29'", "DATE'2024-01-01'", "TIMESTAMP'2023-12-31 23:59:59'", "DATE'1999-07-15'"]
        }
    };
    of[rng.below(of.len() as u64) as usize].to_string()
}
