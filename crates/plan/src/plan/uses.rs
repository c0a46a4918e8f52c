//! Which columns of which tables a statement uses, and what for: noted whenever a name is resolved, judged
//! before the plan runs (`session/rights.rs`). Every [`Scope`](super::scope::Scope) writes into the one
//! [`Uses`] of its statement, so that no clause can read a column unnoticed.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};

use turnstile_catalog::accounts::Privileges;

/// A column that is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnUse {
    /// Its name.
    pub name: Box<str>,
    /// What for.
    pub wanted: Privileges,
    /// It was not named: `*`, or INSERT without a list of columns.
    pub unnamed: bool,
}

/// A table whose columns are used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableUse {
    /// Its database.
    pub schema: Box<str>,
    /// Its name.
    pub table: Box<str>,
    /// All that its columns are used for.
    pub wanted: Privileges,
    /// The columns, each once for each privilege, in the order of their first use.
    pub columns: Vec<ColumnUse>,
    /// Columns that have their entries.
    seen: HashMap<Box<str>, Privileges>,
}

/// What a statement uses.
#[derive(Debug, Default)]
pub struct Uses {
    found: RefCell<Vec<TableUse>>,
    /// Whether names that mean nothing were looked for: that counts only if the statement cannot be planned.
    sought: RefCell<Vec<TableUse>>,
}

impl Uses {
    /// Notes a use; what has no name of its own, a derived table, needs no privilege.
    pub fn note(&self, (schema, table): (&str, &str), column: &str, wanted: Privileges, unnamed: bool) {
        if !schema.is_empty() && !table.is_empty() {
            note(&mut self.found.borrow_mut(), (schema, table), column, wanted, unnamed);
        }
    }

    /// Notes that a column was read which is not there.
    pub fn note_sought(&self, (schema, table): (&str, &str), column: &str) {
        if !schema.is_empty() && !table.is_empty() {
            note(&mut self.sought.borrow_mut(), (schema, table), column, Privileges::SELECT, false);
        }
    }

    /// All that was noted.
    pub fn list(&self) -> UseList {
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        UseList {
            tables: self.found.borrow().iter().map(TableUse::settled).collect(),
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// That, and what was looked for in vain.
    pub fn list_sought(&self) -> Vec<TableUse> {
        self.found.borrow().iter().chain(&*self.sought.borrow()).map(TableUse::settled).collect()
    }
}

/// What a plan uses. It never changes, and its number is no other's: who was asked about it once need not be
/// asked again while what he may do stays the same.
#[derive(Debug)]
pub struct UseList {
    tables: Box<[TableUse]>,
    /// From 1 on.
    pub number: u64,
}

impl Deref for UseList {
    type Target = [TableUse];

    fn deref(&self) -> &[TableUse] {
        &self.tables
    }
}

impl TableUse {
    fn settled(&self) -> TableUse {
        TableUse { seen: HashMap::new(), ..self.clone() }
    }
}

fn note(
    tables: &mut Vec<TableUse>,
    (schema, table): (&str, &str),
    column: &str,
    wanted: Privileges,
    unnamed: bool,
) {
    let known = tables.iter().position(|one| *one.schema == *schema && *one.table == *table);
    let at = known.unwrap_or(tables.len());
    if at == tables.len() {
        tables.push(TableUse {
            schema: schema.into(),
            table: table.into(),
            wanted: Privileges::NONE,
            columns: Vec::new(),
            seen: HashMap::new(),
        });
    }
    let one = &mut tables[at];
    one.wanted = one.wanted.with(wanted);
    match one.seen.get_mut(column) {
        Some(known) if known.has(wanted) => return,
        Some(known) => *known = known.with(wanted),
        None => {
            one.seen.insert(column.into(), wanted);
        }
    }
    one.columns.push(ColumnUse { name: column.into(), wanted, unnamed });
}
