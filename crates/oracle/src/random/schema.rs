//! Random tables: a few rows of few values each, many of them NULL, with and without keys and generated
//! columns.

use turnstile_sys::rng::Rng;

/// What a column or an expression holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers of all sizes, DECIMAL, YEAR and BIT.
    Number,
    /// FLOAT and DOUBLE, of values that both hold exactly.
    Double,
    /// CHAR, VARCHAR, TEXT, ENUM and SET.
    Text,
    /// DATE, DATETIME and TIMESTAMP.
    Date,
    /// TIME.
    Time,
    /// Bytes.
    Bytes,
    /// Documents.
    Json,
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
    /// Behind its type: what it is generated from.
    pub generated: Option<String>,
}

/// A table with its rows, as literals.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Its columns; the first is `id`, unique in the table. Generated ones are last.
    pub columns: Vec<Column>,
    /// Literals of the columns that are not generated, a row each.
    pub rows: Vec<Vec<String>>,
    create: String,
}

impl Table {
    /// Names of the columns that are not generated.
    pub fn given(&self) -> Vec<String> {
        self.columns.iter().filter(|c| c.generated.is_none()).map(|c| c.name.clone()).collect()
    }
}

/// The tables of one seed.
#[derive(Clone, Debug)]
pub struct Schema {
    /// The tables.
    pub tables: Vec<Table>,
}

const INTEGERS: &[&str] = &["0", "1", "2", "3", "-1", "7", "100"];
const COUNTS: &[&str] = &["0", "1", "2", "3", "7", "100"];
const DECIMALS: &[&str] = &["0.00", "1.50", "2.25", "-1.50", "10.01", "100.00", "0.33"];
const FRACTIONS: &[&str] = &["0", "0.5", "0.25", "-0.125", "0.999"];
const DOUBLES: &[&str] = &["0", "0.5", "1", "-2.25", "1e3", "3.75"];
const WORDS: &[&str] =
    &["'a'", "'A'", "'ab'", "'b '", "''", "'12'", "'1.5'", "'zebra'", "'x_y'", "'a%'", "'0'"];
const TEXTS: &[&str] =
    &["'a'", "'A'", "'ab'", "'b '", "''", "'12'", "'1.5'", "'zebra'", "'Ä'", "'x_y'", "'a%'", "'0'"];
const DATES: &[&str] = &["'2024-02-29'", "'2023-12-31'", "'2024-01-01'", "'1999-07-15'", "'2024-02-28'"];
const MOMENTS: &[&str] = &[
    "'2024-02-29 00:00:00'",
    "'2023-12-31 23:59:59'",
    "'2024-01-01 12:30:00'",
    "'1999-07-15 06:07:08.25'",
    "'2024-02-28 23:59:59.5'",
];
const TIMES: &[&str] = &["'00:00:00'", "'12:30:00'", "'-01:02:03'", "'100:00:00.5'", "'23:59:59.999'"];
const BYTES: &[&str] = &["'a'", "'A'", "x'4142'", "''", "'12'", "'ab'"];
const DOCUMENTS: &[&str] =
    &["'1'", "'\"a\"'", "'[1, 2, \"x\"]'", "'{\"a\": 1, \"b\": [3]}'", "'null'", "'1.5'", "'true'", "'{}'"];

/// Types with what they hold; some come more often than others.
const TYPES: &[(&str, Kind, &[&str])] = &[
    ("INT", Kind::Number, INTEGERS),
    ("INT", Kind::Number, INTEGERS),
    ("TINYINT", Kind::Number, INTEGERS),
    ("SMALLINT UNSIGNED", Kind::Number, COUNTS),
    ("MEDIUMINT", Kind::Number, INTEGERS),
    ("BIGINT", Kind::Number, INTEGERS),
    ("INT UNSIGNED", Kind::Number, COUNTS),
    ("BIGINT UNSIGNED", Kind::Number, COUNTS),
    ("DECIMAL(8,2)", Kind::Number, DECIMALS),
    ("DECIMAL(8,2)", Kind::Number, DECIMALS),
    ("DECIMAL(20,6)", Kind::Number, DECIMALS),
    ("DECIMAL(5,0)", Kind::Number, INTEGERS),
    ("DECIMAL(30,10) UNSIGNED", Kind::Number, COUNTS),
    ("DECIMAL(3,3)", Kind::Number, FRACTIONS),
    ("YEAR", Kind::Number, &["2024", "1999", "2155", "1901"]),
    ("BIT(8)", Kind::Number, COUNTS),
    ("BIT(1)", Kind::Number, &["0", "1"]),
    ("DOUBLE", Kind::Double, DOUBLES),
    ("FLOAT", Kind::Double, DOUBLES),
    ("VARCHAR(12)", Kind::Text, TEXTS),
    ("VARCHAR(12)", Kind::Text, TEXTS),
    ("VARCHAR(12)", Kind::Text, TEXTS),
    ("CHAR(8)", Kind::Text, TEXTS),
    ("TEXT", Kind::Text, TEXTS),
    ("VARCHAR(12) COLLATE utf8mb4_bin", Kind::Text, TEXTS),
    ("VARCHAR(12) COLLATE utf8mb4_general_ci", Kind::Text, TEXTS),
    ("VARCHAR(12) COLLATE utf8mb4_unicode_ci", Kind::Text, TEXTS),
    ("VARCHAR(12) COLLATE utf8mb4_0900_as_cs", Kind::Text, TEXTS),
    ("VARCHAR(12) CHARACTER SET latin1", Kind::Text, WORDS),
    ("ENUM('red','green','Blue')", Kind::Text, &["'red'", "'green'", "'Blue'"]),
    ("SET('a','b','c')", Kind::Text, &["'a'", "'a,c'", "''", "'b,c'"]),
    ("DATE", Kind::Date, DATES),
    ("DATE", Kind::Date, DATES),
    ("DATETIME", Kind::Date, MOMENTS),
    ("DATETIME(3)", Kind::Date, MOMENTS),
    ("TIMESTAMP NULL", Kind::Date, MOMENTS),
    ("TIMESTAMP(6) NULL", Kind::Date, MOMENTS),
    ("TIME", Kind::Time, TIMES),
    ("TIME(2)", Kind::Time, TIMES),
    ("VARBINARY(12)", Kind::Bytes, BYTES),
    ("BINARY(3)", Kind::Bytes, BYTES),
    ("JSON", Kind::Json, DOCUMENTS),
];

/// What a generated column of a kind is computed from a column of this kind by; `{}` is the column.
const GENERATED: &[(Kind, &str, Kind, &str)] = &[
    (Kind::Number, "BIGINT", Kind::Number, "{} + 1"),
    (Kind::Number, "DECIMAL(30,4)", Kind::Number, "{} * 1.5"),
    (Kind::Number, "VARCHAR(40)", Kind::Text, "CONCAT({}, '-')"),
    (Kind::Number, "INT", Kind::Number, "COALESCE({}, -5)"),
    (Kind::Text, "VARCHAR(60)", Kind::Text, "UPPER({})"),
    (Kind::Text, "INT", Kind::Number, "CHAR_LENGTH({})"),
    (Kind::Text, "VARCHAR(60)", Kind::Text, "IF({} > 'b', NULL, {})"),
    (Kind::Date, "INT", Kind::Number, "YEAR({})"),
    (Kind::Date, "DATE", Kind::Date, "LAST_DAY({})"),
    (Kind::Double, "DOUBLE", Kind::Double, "{} / 2"),
    (Kind::Time, "INT", Kind::Number, "HOUR({})"),
    (Kind::Json, "VARCHAR(40)", Kind::Text, "JSON_UNQUOTE(JSON_EXTRACT({}, '$.a'))"),
    (Kind::Bytes, "VARCHAR(40)", Kind::Text, "HEX({})"),
];

impl Schema {
    /// Whether some table has a column of this name, without its alias, that is an ENUM or a SET.
    pub fn has_members(&self, name: &str) -> bool {
        let column = name.split_once('.').map_or(name, |(_, column)| column);
        let with_members =
            |c: &Column| c.name == column && (c.sql.starts_with("ENUM") || c.sql.starts_with("SET"));
        self.tables.iter().any(|table| table.columns.iter().any(with_members))
    }

    /// Three or four tables; in most schemas all texts are of one collation.
    pub fn make(rng: &mut Rng) -> Schema {
        let count = 3 + rng.index(2);
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
                let given = table.given().join(", ");
                statements.push(format!("INSERT INTO {} ({given}) VALUES {}", table.name, rows.join(", ")));
            }
        }
        statements
    }
}

fn generated(rng: &mut Rng, columns: &[Column], at: u64) -> Option<Column> {
    let of = &columns[rng.index(columns.len())];
    let fit: Vec<_> = GENERATED.iter().filter(|(from, ..)| *from == of.kind).collect();
    let (_, sql, kind, expression) = fit.get(rng.index(fit.len().max(1)))?;
    let storage = if rng.below(2) == 0 { "VIRTUAL" } else { "STORED" };
    let text = format!(" AS ({}) {storage}", expression.replace("{}", &of.name));
    Some(Column { name: format!("g{at}"), kind: *kind, sql, generated: Some(text) })
}

fn key_part(column: &Column) -> Option<String> {
    match column.sql {
        "JSON" => None,
        "TEXT" => Some(format!("{}(3)", column.name)),
        _ => Some(column.name.clone()),
    }
}

fn table(rng: &mut Rng, nth: usize, mixed: bool) -> Table {
    let id = Column { name: "id".into(), kind: Kind::Number, sql: "INT NOT NULL", generated: None };
    let mut columns = vec![id];
    let mut values: Vec<&[&str]> = vec![&[]];
    for at in 0..2 + rng.below(4) {
        let (mut sql, kind, of) = TYPES[rng.index(TYPES.len())];
        if !mixed && (sql.contains("COLLATE") || sql.contains("latin1")) {
            sql = "VARCHAR(20)";
        }
        columns.push(Column { name: format!("c{at}"), kind, sql, generated: None });
        values.push(of);
    }
    let given = columns.len();
    for at in 0..rng.below(3) {
        columns.extend(generated(rng, &columns[1..given], at));
    }
    let described = |column: &Column| {
        format!("{} {}{}", column.name, column.sql, column.generated.as_deref().unwrap_or(""))
    };
    let mut parts: Vec<String> = columns.iter().map(described).collect();
    match rng.below(4) {
        0 => {}
        1 => parts.push("UNIQUE KEY (id)".into()),
        _ => parts.push("PRIMARY KEY (id)".into()),
    }
    for _ in 0..rng.below(3) {
        let one = rng.index(columns.len());
        let two = rng.index(columns.len());
        let both = one != two && rng.below(2) == 0;
        let Some(first) = key_part(&columns[one]) else { continue };
        let second = key_part(&columns[two]).filter(|_| both).map(|second| format!(", {second}"));
        parts.push(format!("KEY ({first}{})", second.unwrap_or_default()));
    }
    let name = format!("t{nth}");
    let create = format!("CREATE TABLE {name} ({})", parts.join(", "));
    let mut rows = Vec::new();
    let size = [0, 1, 3, 6, 8, 12][rng.index(6)];
    for id in 0..size {
        let mut row = vec![(id + 1).to_string()];
        row.extend(values[1..].iter().map(|of| one_of(rng, of)));
        rows.push(row);
    }
    Table { name, columns, rows, create }
}

fn one_of(rng: &mut Rng, of: &[&str]) -> String {
    if rng.below(4) == 0 { "NULL".into() } else { of[rng.index(of.len())].to_string() }
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
        Kind::Time => &["TIME'12:30:00'", "TIME'-01:02:03'", "TIME'00:00:00.50'"],
        Kind::Bytes => &["x'61'", "x'4142'", "_binary'ab'"],
        Kind::Json => &["CAST('1' AS JSON)", "CAST('[1, 2]' AS JSON)", "CAST('{\"a\": 1}' AS JSON)"],
    };
    of[rng.index(of.len())].to_string()
}
