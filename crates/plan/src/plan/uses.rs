//! Which columns of which tables a statement uses, and what for: noted whenever a name is resolved, judged
//! before the plan runs (`session/rights.rs`). Every [`Scope`](super::scope::Scope) writes into the one
//! [`Uses`] of its statement, so that no clause can read a column unnoticed.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};

use turnstile_catalog::accounts::Privileges;
use turnstile_catalog::dictionary::Definer;

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

/// What the query of a view uses.
#[derive(Debug, Clone)]
pub struct ViewUse {
    /// The view that the statement names: it reads this one, or is it.
    pub named: (Box<str>, Box<str>),
    /// Whose rights are asked; None for those of who runs the statement.
    pub asker: Option<Definer>,
    /// The tables, and what of them. One whose columns are not used is read nevertheless.
    pub tables: Vec<TableUse>,
}

impl ViewUse {
    /// Notes what the same view uses for the same rights in another place.
    fn add(&mut self, tables: Vec<TableUse>) {
        for table in tables {
            let of = (&*table.schema, &*table.table);
            let at = entry(&mut self.tables, of);
            self.tables[at].wanted = self.tables[at].wanted.with(table.wanted);
            for ColumnUse { name, wanted, unnamed } in &table.columns {
                note(&mut self.tables, of, name, *wanted, *unnamed);
            }
        }
    }

    fn settled(&self) -> ViewUse {
        ViewUse {
            named: self.named.clone(),
            asker: self.asker.clone(),
            tables: self.tables.iter().map(TableUse::settled).collect(),
        }
    }
}

/// What a statement uses.
#[derive(Debug, Default)]
pub struct Uses {
    found: RefCell<Vec<TableUse>>,
    /// What views use, each with its asker once.
    views: RefCell<Vec<ViewUse>>,
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

    /// Notes a use of a table that may be of none of its columns.
    pub fn note_table(&self, (schema, table): (&str, &str), wanted: Privileges) {
        let tables = &mut self.found.borrow_mut();
        let at = entry(tables, (schema, table));
        tables[at].wanted = tables[at].wanted.with(wanted);
    }

    /// Notes what a view uses, and what the views that it reads do.
    pub fn note_view(&self, named: (Box<str>, Box<str>), asker: Option<Definer>, inside: Uses) {
        let mut views = self.views.borrow_mut();
        let own = ViewUse { named, asker, tables: inside.found.into_inner() };
        for one in std::iter::once(own).chain(inside.views.into_inner()) {
            match views.iter_mut().find(|known| known.named == one.named && known.asker == one.asker) {
                Some(known) => known.add(one.tables),
                None => views.push(one),
            }
        }
    }

    /// All that was noted.
    pub fn list(&self) -> UseList {
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        UseList {
            tables: self.found.borrow().iter().map(TableUse::settled).collect(),
            views: self.views.borrow().iter().map(ViewUse::settled).collect(),
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
    /// What views among them use.
    pub views: Box<[ViewUse]>,
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
    let at = entry(tables, (schema, table));
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

/// The place of a table's entry.
fn entry(tables: &mut Vec<TableUse>, (schema, table): (&str, &str)) -> usize {
    let known = tables.iter().position(|one| *one.schema == *schema && *one.table == *table);
    known.unwrap_or_else(|| {
        tables.push(TableUse {
            schema: schema.into(),
            table: table.into(),
            wanted: Privileges::NONE,
            columns: Vec::new(),
            seen: HashMap::new(),
        });
        tables.len() - 1
    })
}
