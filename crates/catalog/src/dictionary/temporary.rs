//! The temporary tables of a session, and what the names of tables mean to it: they hide tables and views of
//! their names.
//!
//! A temporary table is one of the engine's like any other, but the dictionary has no row for it. So nobody
//! else finds it, its name is free for others, and its trees are known to the session alone: it drops them
//! when the table goes or the session ends, and the next start drops those of a server that was killed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::memory::Charge;

use super::{Dictionary, Named, Table, View};

/// Those of one database by name.
type OfSchema = BTreeMap<Box<str>, (Arc<Table>, Charge)>;

/// The temporary tables of a session.
#[derive(Default)]
pub struct TemporaryTables {
    /// By database and name, each with what the session is charged for it.
    tables: BTreeMap<Box<str>, OfSchema>,
    number: u64,
}

impl TemporaryTables {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    /// Whether one has this name.
    pub fn has(&self, schema: &str, name: &str) -> bool {
        self.find(schema, name).is_some()
    }

    /// One of them.
    pub fn find(&self, schema: &str, name: &str) -> Option<&Arc<Table>> {
        self.tables.get(schema)?.get(name).map(|(table, _)| table)
    }

    /// Tells these tables from those of every other session and of every other moment; 0 if there are none.
    /// A plan holds for the tables that it was made with.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Adds or replaces a table under the name in its definition, with what the session is charged for it.
    pub fn put(&mut self, table: Arc<Table>, charge: Charge) {
        let (schema, name) = (table.definition.schema.clone(), table.definition.name.clone());
        self.tables.entry(schema).or_default().insert(name, (table, charge));
        self.changed();
    }

    /// Takes one away.
    pub fn remove(&mut self, schema: &str, name: &str) -> Option<Arc<Table>> {
        let of_schema = self.tables.get_mut(schema)?;
        let (gone, _) = of_schema.remove(name)?;
        if of_schema.is_empty() {
            self.tables.remove(schema);
        }
        self.changed();
        Some(gone)
    }

    /// Takes all away.
    pub fn take(&mut self) -> Vec<Arc<Table>> {
        let gone = std::mem::take(&mut self.tables).into_values().flat_map(BTreeMap::into_values);
        let gone = gone.map(|(table, _)| table).collect();
        self.changed();
        gone
    }

    fn changed(&mut self) {
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        self.number = if self.tables.is_empty() { 0 } else { NUMBERS.fetch_add(1, Ordering::Relaxed) };
    }
}

/// What the names of tables mean.
#[derive(Clone, Copy)]
pub struct TableNames<'a> {
    dictionary: &'a Dictionary,
    temporary: Option<&'a TemporaryTables>,
}

impl<'a> TableNames<'a> {
    /// What they mean to a session with these temporary tables.
    pub fn new(dictionary: &'a Dictionary, temporary: &'a TemporaryTables) -> TableNames<'a> {
        TableNames { dictionary, temporary: Some(temporary).filter(|tables| !tables.is_empty()) }
    }

    /// What they mean to everybody: queries of views never read a temporary table.
    pub fn of_everybody(self) -> TableNames<'a> {
        TableNames { temporary: None, ..self }
    }

    /// The tables of everybody.
    pub fn dictionary(self) -> &'a Dictionary {
        self.dictionary
    }

    /// A temporary table.
    pub fn temporary(self, schema: &str, name: &str) -> Option<Arc<Table>> {
        self.temporary?.find(schema, name).cloned()
    }

    /// One table.
    pub fn find(self, schema: &str, name: &str) -> Option<Arc<Table>> {
        self.temporary(schema, name).or_else(|| self.dictionary.find(schema, name))
    }

    /// One table, or the error MySQL gives.
    ///
    /// # Errors
    /// 1146 and 1049.
    pub fn table(self, schema: &str, name: &str) -> SqlResult<Arc<Table>> {
        self.temporary(schema, name).map_or_else(|| self.dictionary.table(schema, name), Ok)
    }

    /// One table, for who changes or looks at the table itself.
    ///
    /// # Errors
    /// 1146 and 1049; 1347 for a view.
    pub fn base_table(self, schema: &str, name: &str) -> SqlResult<Arc<Table>> {
        self.temporary(schema, name).map_or_else(|| self.dictionary.base_table(schema, name), Ok)
    }

    /// One view.
    pub fn view(self, schema: &str, name: &str) -> Option<Arc<View>> {
        match self.temporary(schema, name) {
            Some(_) => None,
            None => self.dictionary.view(schema, name),
        }
    }

    /// What a name means.
    ///
    /// # Errors
    /// 1146 and 1049.
    pub fn named(self, schema: &str, name: &str) -> SqlResult<Named> {
        match self.temporary(schema, name) {
            Some(table) => Ok(Named::Table(table)),
            None => self.dictionary.named(schema, name),
        }
    }

    /// The error for a name that neither a table nor a view has.
    #[cold]
    pub fn missing(self, schema: &str, name: &str) -> SqlError {
        self.dictionary.missing(schema, name)
    }
}
