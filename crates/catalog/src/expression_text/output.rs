//! Where canonical text is written to, and what it says of names.

use std::fmt;

use turnstile_syntax::ast::{ColumnName, TableName, quote_name};

/// What stands before the name of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    /// Nothing: an expression of a table's definition.
    Column,
    /// Its table, and the database of that.
    Full,
    /// Its table.
    Short,
}

/// A text that is being written.
pub(super) struct Output {
    text: String,
    names: Names,
}

impl Output {
    pub(super) fn new(names: Names) -> Output {
        Output { text: String::new(), names }
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    pub(super) fn push(&mut self, character: char) {
        self.text.push(character);
    }

    pub(super) fn push_str(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// A name in backticks.
    pub(super) fn name(&mut self, name: &str) {
        self.text.push_str(&quote_name(name));
    }

    pub(super) fn column(&mut self, name: &ColumnName) {
        if self.names != Names::Column {
            let schema = name.schema.iter().filter(|_| self.names == Names::Full);
            for part in schema.chain(&name.table) {
                self.text.push_str(&quote_name(part));
                self.text.push('.');
            }
        }
        self.name(&name.column);
    }

    pub(super) fn table(&mut self, name: &TableName) {
        if let Some(schema) = name.schema.as_deref().filter(|_| self.names == Names::Full) {
            self.name(schema);
            self.push('.');
        }
        self.name(&name.table);
    }

    /// What stands around bytes in hexadecimal.
    pub(super) fn around_bytes(&self, none: bool) -> (&'static str, &'static str) {
        if none || self.names == Names::Column { ("x'", "'") } else { ("0x", "") }
    }

    /// The character set that a string is written with which has none of its own.
    pub(super) fn introducer(&self) -> Option<&'static str> {
        (self.names == Names::Column).then_some("utf8mb4")
    }
}

impl fmt::Write for Output {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.text.push_str(text);
        Ok(())
    }
}
