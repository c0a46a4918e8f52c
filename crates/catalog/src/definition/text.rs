//! SHOW CREATE TABLE.

use std::fmt::Write;

use super::foreign_key;
use crate::dictionary::{Column, DefaultValue, Key, Table};
use crate::expression_text::{expression_text, quoted};
use turnstile_syntax::ast::quote_name;
use turnstile_values::collation::Collation;
use turnstile_values::types::ColumnType;
use turnstile_values::value::{Value, write_text};

/// A text in quotes, as defaults and comments are shown.
pub fn quote_text(text: &str) -> String {
    quoted(text, "''")
}

/// An expression as information_schema shows it: escaped as in a string, as in MySQL.
pub fn escaped_text(expr: &turnstile_syntax::ast::Expr) -> String {
    expression_text(expr).replace('\\', "\\\\").replace('\'', "\\'")
}

/// A value as the column sends it.
fn in_column(value: &Value, column: &Column) -> Vec<u8> {
    let mut text = Vec::new();
    write_text(value, &column.kind, &mut text);
    text
}

/// The default of a column as information_schema shows it; None for NULL or none.
pub fn default_text(column: &Column) -> Option<String> {
    match &column.default {
        DefaultValue::None | DefaultValue::Value(Value::Null) => None,
        DefaultValue::Generated(..) | DefaultValue::KeyPart(_) => None,
        DefaultValue::Value(Value::UInt(bits)) if matches!(column.kind, ColumnType::Bit { .. }) => {
            Some(format!("b'{bits:b}'"))
        }
        DefaultValue::Value(Value::Bytes(bytes)) if !bytes.is_empty() => {
            // MySQL keeps this text as one that ends at its first zero byte.
            let shown = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
            Some(shown.iter().fold("0x".into(), |text, byte| text + &format!("{byte:02X}")))
        }
        DefaultValue::Value(value) => Some(String::from_utf8_lossy(&in_column(value, column)).into_owned()),
        DefaultValue::Now(0) => Some("CURRENT_TIMESTAMP".into()),
        DefaultValue::Now(digits) => Some(format!("CURRENT_TIMESTAMP({digits})")),
        DefaultValue::Computed(expr) => Some(escaped_text(expr)),
    }
}

fn default_clause(column: &Column) -> String {
    match &column.default {
        DefaultValue::None | DefaultValue::Generated(..) | DefaultValue::KeyPart(_) => String::new(),
        DefaultValue::Value(Value::Null) if column.kind.is_blob() && column.kind != ColumnType::Json => {
            String::new()
        }
        DefaultValue::Value(Value::Null) => " DEFAULT NULL".into(),
        DefaultValue::Now(_) => format!(" DEFAULT {}", default_text(column).unwrap_or_default()),
        DefaultValue::Computed(expr) => format!(" DEFAULT ({})", expression_text(expr)),
        DefaultValue::Value(_) if matches!(column.kind, ColumnType::Bit { .. }) => {
            format!(" DEFAULT {}", default_text(column).unwrap_or_default())
        }
        DefaultValue::Value(value) => match std::str::from_utf8(&in_column(value, column)) {
            Ok(text) => format!(" DEFAULT {}", quote_text(text)),
            Err(_) => in_column(value, column)
                .iter()
                .fold(" DEFAULT 0x".into(), |text, byte| text + &format!("{byte:02X}")),
        },
    }
}

fn column_line(column: &Column, table: Collation) -> String {
    let mut line = format!("  {} {}", quote_name(&column.name), column.kind);
    if let Some(collation) = column.kind.shown_collation() {
        if collation != table {
            let _ = write!(line, " CHARACTER SET {}", collation.charset());
        }
        // MySQL 8 names the default of utf8mb4 too, because older versions had another default.
        if !collation.is_default() || (collation != table && collation.charset() == "utf8mb4") {
            let _ = write!(line, " COLLATE {}", collation.name());
        }
    }
    if let Some((expr, stored)) = column.generation() {
        let kind = if stored { "STORED" } else { "VIRTUAL" };
        let _ = write!(line, " GENERATED ALWAYS AS ({}) {kind}", expression_text(expr));
    }
    if !column.nullable {
        line.push_str(" NOT NULL");
    } else if matches!(column.kind, ColumnType::Timestamp { .. }) {
        line.push_str(" NULL");
    }
    line.push_str(&default_clause(column));
    match column.on_update {
        Some(0) => line.push_str(" ON UPDATE CURRENT_TIMESTAMP"),
        Some(digits) => {
            let _ = write!(line, " ON UPDATE CURRENT_TIMESTAMP({digits})");
        }
        None => {}
    }
    if column.auto_increment {
        line.push_str(" AUTO_INCREMENT");
    }
    if !column.comment.is_empty() {
        let _ = write!(line, " COMMENT {}", quote_text(&column.comment));
    }
    if column.invisible {
        line.push_str(" /*!80023 INVISIBLE */");
    }
    line
}

fn key_line(key: &Key, table: &Table) -> String {
    let parts: Vec<String> = key
        .parts
        .iter()
        .map(|part| {
            let prefix = part.prefix.map(|count| format!("({count})")).unwrap_or_default();
            let order = if part.descending { " DESC" } else { "" };
            let column = &table.columns()[part.column];
            let read = match column.key_part() {
                Some(expr) => format!("({})", expression_text(expr)),
                None => quote_name(&column.name),
            };
            format!("{read}{prefix}{order}")
        })
        .collect();
    let kind = match (key.primary, key.unique) {
        (true, _) => "PRIMARY KEY".to_string(),
        (false, true) => format!("UNIQUE KEY {}", quote_name(&key.name)),
        (false, false) => format!("KEY {}", quote_name(&key.name)),
    };
    let mut line = format!("  {kind} ({})", parts.join(","));
    if !key.comment.is_empty() {
        let _ = write!(line, " COMMENT {}", quote_text(&key.comment));
    }
    if !key.visible {
        line.push_str(" /*!80000 INVISIBLE */");
    }
    line
}

/// The statement that would make the table.
pub fn create_table_text(table: &Table) -> String {
    let definition = &table.definition;
    let mut lines: Vec<String> =
        table.named_columns().iter().map(|column| column_line(column, definition.collation)).collect();
    lines.extend(table.keys().iter().map(|key| key_line(key, table)));
    let mut foreign: Vec<_> = definition.foreign_keys.iter().collect();
    foreign.sort_by_key(|key| &key.name);
    lines.extend(foreign.iter().map(|key| format!("  {}", foreign_key::line(key, &definition.schema))));
    lines.extend(definition.checks.iter().map(super::check::line));
    let next = table
        .counters
        .auto_increment
        .load(std::sync::atomic::Ordering::Relaxed)
        .max(definition.auto_increment);
    let automatic = if table.auto_column.is_some() && next > 1 {
        format!(" AUTO_INCREMENT={next}")
    } else {
        String::new()
    };
    let collation = definition.collation;
    let collate = if collation.is_default() && collation.charset() != "utf8mb4" {
        String::new()
    } else {
        format!(" COLLATE={}", collation.name())
    };
    let comment = if definition.comment.is_empty() {
        String::new()
    } else {
        format!(" COMMENT={}", quote_text(&definition.comment))
    };
    format!(
        "CREATE {}TABLE {} (\n{}\n) ENGINE=InnoDB{automatic} DEFAULT CHARSET={}{collate}{comment}",
        if table.temporary { "TEMPORARY " } else { "" },
        quote_name(&definition.name),
        lines.join(",\n"),
        collation.charset()
    )
}
