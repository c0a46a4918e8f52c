//! An answer as lines of text: what a script keeps of it, and what two servers are compared by.

use turnstile_lab::client::{Client, ClientError};
use turnstile_lab::reply::{Column, Reply};

/// How much of a column's definition belongs to the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The name.
    Names,
    /// Name and type.
    Types,
    /// Name, type and NOT NULL.
    Nulls,
    /// Name, type, length, decimals, NOT NULL and whether it is text.
    Full,
}

impl Detail {
    /// From a script's directive.
    pub fn parse(text: &str) -> Option<Detail> {
        match text {
            "names" => Some(Detail::Names),
            "types" => Some(Detail::Types),
            "nulls" => Some(Detail::Nulls),
            "full" => Some(Detail::Full),
            _ => None,
        }
    }
}

/// Runs a statement and gives its answer as lines; with `sorted`, rows come in the order of their text.
///
/// # Errors
/// When the connection fails.
pub fn ask(
    client: &mut Client,
    statement: &str,
    sorted: bool,
    detail: Detail,
) -> Result<Vec<String>, ClientError> {
    let reply = client.ask(statement)?;
    let mut lines = Vec::new();
    let warnings = match reply {
        Reply::Error { code, state, message } => {
            lines.push(format!("error {code} {state} {}", escaped(message.as_bytes())));
            return Ok(lines);
        }
        Reply::Ok { affected, id, warnings, info } => {
            let mut line = "ok".to_string();
            if affected > 0 {
                line += &format!(" {affected}");
            }
            if id > 0 {
                line += &format!(" id={id}");
            }
            // The text behind a length byte; what it counts is shown below as warnings.
            let info = info.trim_start_matches(|c: char| c.is_control() || !c.is_alphabetic());
            if !info.is_empty() {
                line += &format!(" ({info})");
            }
            lines.push(line);
            warnings
        }
        Reply::Rows { columns, rows, warnings } => {
            let named: Vec<String> = columns.iter().map(|column| heading(column, detail)).collect();
            lines.push(format!("= {}", named.join(", ")));
            let mut texts: Vec<String> = rows.iter().map(|row| row_text(row)).collect();
            if sorted {
                texts.sort();
            }
            lines.extend(texts);
            warnings
        }
    };
    let about_warnings = statement.trim_start().to_ascii_uppercase().starts_with("SHOW ");
    if warnings > 0
        && !about_warnings
        && let Reply::Rows { rows, .. } = client.ask("SHOW WARNINGS")?
    {
        lines.extend(rows.iter().map(|row| warning_text(row)));
    }
    Ok(lines)
}

fn warning_text(row: &[Option<Vec<u8>>]) -> String {
    let part = |at: usize| row.get(at).and_then(|value| value.as_deref()).unwrap_or_default();
    format!("{} {} {}", escaped(part(0)).to_lowercase(), escaped(part(1)), escaped(part(2)))
}

/// A row's values with ` | ` between them.
pub fn row_text(row: &[Option<Vec<u8>>]) -> String {
    let values: Vec<String> = row.iter().map(|value| value_text(value.as_deref())).collect();
    values.join(" | ")
}

fn value_text(value: Option<&[u8]>) -> String {
    match value {
        None => "NULL".into(),
        Some(b"NULL") => "\\NULL".into(),
        Some(bytes) => escaped(bytes),
    }
}

/// Printable text stays; a backslash, control characters and bytes that are not UTF-8 become escapes.
fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\\' => text.push_str("\\\\"),
                '\n' => text.push_str("\\n"),
                c if c.is_control() => c.to_string().bytes().for_each(|b| text += &format!("\\x{b:02x}")),
                c => text.push(c),
            }
        }
        chunk.invalid().iter().for_each(|b| text += &format!("\\x{b:02x}"));
    }
    text
}

const NOT_NULL: u16 = 1;
const UNSIGNED: u16 = 32;
const ENUM: u16 = 256;
const SET: u16 = 2048;
const BINARY_CHARSET: u16 = 63;

fn heading(column: &Column, detail: Detail) -> String {
    let name = escaped(column.name.as_bytes());
    if detail == Detail::Names {
        return name;
    }
    let mut text = format!("{name} {}", kind_name(column));
    if detail == Detail::Full {
        text += &format!("({}", column.length);
        if column.decimals > 0 {
            text += &format!(",{}", column.decimals);
        }
        text.push(')');
    }
    if column.flags & UNSIGNED > 0 {
        text += " UNSIGNED";
    }
    if matches!(detail, Detail::Nulls | Detail::Full) && column.flags & NOT_NULL > 0 {
        text += " NOT NULL";
    }
    text
}

/// A column's type, its digits behind the point if it is a number with a fixed number of these or a time, and
/// NOT NULL.
pub fn type_text(column: &Column) -> String {
    let mut text = kind_name(column).to_string();
    if column.decimals > 0 && column.decimals < 31 {
        text += &format!("({})", column.decimals);
    }
    if column.flags & UNSIGNED > 0 && !matches!(column.kind, 249..=255) {
        text += " UNSIGNED";
    }
    if column.flags & NOT_NULL > 0 {
        text += " NOT NULL";
    }
    text
}

fn kind_name(column: &Column) -> &'static str {
    let text = column.charset != BINARY_CHARSET;
    match column.kind {
        0 | 246 => "DECIMAL",
        1 => "TINYINT",
        2 => "SMALLINT",
        3 => "INT",
        4 => "FLOAT",
        5 => "DOUBLE",
        6 => "NULL",
        7 => "TIMESTAMP",
        8 => "BIGINT",
        9 => "MEDIUMINT",
        10 => "DATE",
        11 => "TIME",
        12 => "DATETIME",
        13 => "YEAR",
        16 => "BIT",
        245 => "JSON",
        247 => "ENUM",
        248 => "SET",
        249..=252 if text => "TEXT",
        249..=252 => "BLOB",
        253 if text => "VARCHAR",
        253 => "VARBINARY",
        254 if column.flags & ENUM > 0 => "ENUM",
        254 if column.flags & SET > 0 => "SET",
        254 if text => "CHAR",
        254 => "BINARY",
        255 => "GEOMETRY",
        _ => "UNKNOWN",
    }
}
