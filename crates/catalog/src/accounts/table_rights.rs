//! What an account holds on one table: privileges on all of it, and privileges on single columns of it. They
//! hold for a name: they are there before the table is made, stay when it is dropped, and do not follow it
//! when it is renamed, as in MySQL.

use std::collections::BTreeMap;

use super::Privileges;
use crate::dictionary::encoding::{Damaged, Reader, Writer};

/// Privileges on one table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableRights {
    /// On all of it.
    pub whole: Privileges,
    /// On single columns, by their names in lower case.
    columns: BTreeMap<String, ColumnRights>,
    /// The account that granted last, as `user@host`.
    pub grantor: String,
    /// When that was, in seconds since 1970.
    pub granted: u64,
}

/// Privileges on one column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnRights {
    /// Its name as GRANT spelled it.
    pub name: String,
    /// What is held.
    pub held: Privileges,
}

/// A database and a table.
pub type TableKey = (String, String);

impl TableRights {
    /// What is held on one column besides what is held on all.
    pub fn on_column(&self, name: &str) -> Privileges {
        self.columns.get(&name.to_lowercase()).map_or(Privileges::NONE, |column| column.held)
    }

    /// What is held on at least one column alone.
    pub fn on_some_column(&self) -> Privileges {
        self.columns.values().fold(Privileges::NONE, |all, column| all.with(column.held))
    }

    /// What is held on the table or on at least one of its columns.
    pub fn somewhere(&self) -> Privileges {
        self.whole.with(self.on_some_column())
    }

    /// The columns on which something is held, by name.
    pub fn columns(&self) -> impl Iterator<Item = &ColumnRights> {
        self.columns.values()
    }

    /// Whether nothing is held.
    pub fn is_empty(&self) -> bool {
        self.somewhere() == Privileges::NONE
    }

    /// Adds a privilege on a column.
    pub fn grant_column(&mut self, name: &str, added: Privileges) {
        let column = self.columns.entry(name.to_lowercase()).or_default();
        if column.name.is_empty() {
            column.name = name.to_string();
        }
        column.held = column.held.with(added);
    }

    /// Takes privileges on a column away.
    pub fn revoke_column(&mut self, name: &str, gone: Privileges) {
        if let Some(column) = self.columns.get_mut(&name.to_lowercase()) {
            column.held = column.held.without(gone);
        }
        self.columns.retain(|_, column| column.held != Privileges::NONE);
    }

    /// Takes privileges on all of it away, and those on its columns with them.
    pub fn revoke_whole(&mut self, gone: Privileges) {
        self.whole = self.whole.without(gone);
        self.columns.values_mut().for_each(|column| column.held = column.held.without(gone));
        self.columns.retain(|_, column| column.held != Privileges::NONE);
    }

    /// Adds what somebody else holds.
    pub(super) fn take_over(&mut self, other: &TableRights) {
        self.whole = self.whole.with(other.whole);
        other.columns().for_each(|column| self.grant_column(&column.name, column.held));
    }

    /// The list that GRANT would take.
    pub fn list(&self) -> String {
        if self.whole.has(Privileges::all_of_tables()) {
            return "ALL PRIVILEGES".into();
        }
        let mut parts = Vec::new();
        for (name, one, _) in super::privileges::PRIVILEGES_LIST {
            if *one == Privileges::GRANT_OPTION {
                continue;
            }
            if self.whole.has(*one) {
                parts.push((*name).to_string());
            }
            let names: Vec<String> = self
                .columns()
                .filter(|column| column.held.has(*one))
                .map(|column| turnstile_syntax::ast::quote_name(&column.name))
                .collect();
            if !names.is_empty() {
                parts.push(format!("{name} ({})", names.join(", ")));
            }
        }
        if parts.is_empty() { "USAGE".into() } else { parts.join(", ") }
    }

    /// Appends its bytes to a row.
    pub(super) fn encode(&self, row: &mut Writer) {
        row.u64(self.whole.0);
        row.text(&self.grantor);
        row.u64(self.granted);
        let columns: Vec<_> = self.columns.values().collect();
        row.list(&columns, |row, column| {
            row.text(&column.name);
            row.u64(column.held.0);
        });
    }

    /// From a row.
    pub(super) fn decode(row: &mut Reader<'_>) -> Result<TableRights, Damaged> {
        let mut rights = TableRights { whole: Privileges(row.u64()?), ..TableRights::default() };
        rights.grantor = row.text()?.to_string();
        rights.granted = row.u64()?;
        for (name, held) in row.list(|row| Ok((row.text()?.to_string(), Privileges(row.u64()?))))? {
            rights.grant_column(&name, held);
        }
        Ok(rights)
    }
}

#[cfg(test)]
mod tests;
