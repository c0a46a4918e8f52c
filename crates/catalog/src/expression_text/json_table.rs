//! Writes JSON_TABLE's path and columns, and the types of these.

use std::fmt::Write;

use turnstile_syntax::ast::{ColumnType, JsonTable, JsonTableColumn, OnMissing, Text, TypeKind};

use super::output::Output;
use super::quote_in_expression;

fn quoted(text: &Text) -> String {
    quote_in_expression(&String::from_utf8_lossy(text))
}

/// `'path' columns (...)`
pub(super) fn write_json_table(table: &JsonTable, out: &mut Output) {
    out.push_str(&quoted(&table.path));
    out.push_str(" columns (");
    for (nth, column) in table.columns.iter().enumerate() {
        if nth > 0 {
            out.push_str(", ");
        }
        write_column(column, out);
    }
    out.push(')');
}

fn write_column(column: &JsonTableColumn, out: &mut Output) {
    match column {
        JsonTableColumn::Ordinality(name) => {
            out.name(name);
            out.push_str(" for ordinality");
        }
        JsonTableColumn::Path { name, kind, path, exists, empty, error } => {
            out.name(name);
            let word = if *exists { "exists path" } else { "path" };
            let _ = write!(out, " {} {word} {}", type_text(kind), quoted(path));
            for (missing, on) in [(empty, "empty"), (error, "error")] {
                let _ = match missing {
                    OnMissing::Null => Ok(()),
                    OnMissing::Error => write!(out, " error on {on}"),
                    OnMissing::Default(text) => write!(out, " default {} on {on}", quoted(text)),
                };
            }
        }
        JsonTableColumn::Nested(inner) => {
            out.push_str("nested path ");
            write_json_table(inner, out);
        }
    }
}

/// A type as it is written.
fn type_text(kind: &ColumnType) -> String {
    let mut text = word(kind.kind).to_string();
    if !kind.values.is_empty() {
        let values: Vec<String> = kind.values.iter().map(quoted).collect();
        let _ = write!(text, "({})", values.join(","));
    }
    match (kind.length, kind.decimals) {
        (Some(length), Some(decimals)) => {
            let _ = write!(text, "({length},{decimals})");
        }
        (Some(length), None) => {
            let _ = write!(text, "({length})");
        }
        (None, _) => {}
    }
    let words = [(kind.unsigned, " unsigned"), (kind.zerofill, " zerofill")];
    words.iter().filter(|(is_so, _)| *is_so).for_each(|(_, word)| text.push_str(word));
    for (name, attribute) in [(&kind.charset, "character set"), (&kind.collation, "collate")] {
        if let Some(name) = name {
            let _ = write!(text, " {attribute} {name}");
        }
    }
    if kind.binary_collation {
        text.push_str(" binary");
    }
    text
}

fn word(kind: TypeKind) -> &'static str {
    match kind {
        TypeKind::Bit => "bit",
        TypeKind::TinyInt => "tinyint",
        TypeKind::SmallInt => "smallint",
        TypeKind::MediumInt => "mediumint",
        TypeKind::Int => "int",
        TypeKind::BigInt => "bigint",
        TypeKind::Decimal => "decimal",
        TypeKind::Float => "float",
        TypeKind::Double => "double",
        TypeKind::Date => "date",
        TypeKind::Time => "time",
        TypeKind::DateTime => "datetime",
        TypeKind::Timestamp => "timestamp",
        TypeKind::Year => "year",
        TypeKind::Char => "char",
        TypeKind::VarChar => "varchar",
        TypeKind::Binary => "binary",
        TypeKind::VarBinary => "varbinary",
        TypeKind::TinyText => "tinytext",
        TypeKind::Text => "text",
        TypeKind::MediumText => "mediumtext",
        TypeKind::LongText => "longtext",
        TypeKind::TinyBlob => "tinyblob",
        TypeKind::Blob => "blob",
        TypeKind::MediumBlob => "mediumblob",
        TypeKind::LongBlob => "longblob",
        TypeKind::Enum => "enum",
        TypeKind::Set => "set",
        TypeKind::Json => "json",
    }
}
