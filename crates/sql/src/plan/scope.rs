//! Names in a query block, and the frame they point into.
//!
//! Every query block computes with one *frame*: a flat row of values. The tables of FROM have their columns there, side
//! by side; behind them come places for what is computed along the way, given out as the planner meets it:
//!
//! ```text
//! | t1.a t1.b | t2.x t2.y z | SUM(x) | (SELECT ..) | outer.a |
//!   table       table         aggregate  sub-query    column of the query around this one
//! ```
//!
//! A name that is not found in the block is looked up in the block around it; if it is there, the frame gets a place for
//! it that is filled before the inner block runs.

use std::cell::{Cell, RefCell};

use crate::ast::ColumnName;
use crate::dictionary::Table;
use crate::error::{SqlError, SqlResult};
use crate::types::{ColumnType, ExprType, column_flag};

/// A column that names can mean.
#[derive(Debug, Clone)]
pub struct ScopeColumn {
    /// Its name.
    pub name: Box<str>,
    /// Its type.
    pub kind: ColumnType,
    /// It can be NULL.
    pub nullable: bool,
    /// Flags for the client.
    pub flags: u16,
    /// Left out of `*`.
    pub hidden: bool,
}

/// A table of FROM.
#[derive(Debug, Clone)]
pub struct ScopeTable {
    /// Its database; empty for a derived table.
    pub schema: Box<str>,
    /// Its alias, else its name.
    pub alias: Box<str>,
    /// Its name; empty for a derived table.
    pub name: Box<str>,
    /// Its columns.
    pub columns: Vec<ScopeColumn>,
    /// Frame position of its first column.
    pub base: usize,
}

impl ScopeTable {
    /// A base table at a frame position.
    pub fn of(table: &Table, alias: &str, base: usize) -> ScopeTable {
        let columns = table.columns().iter().enumerate().map(|(at, column)| ScopeColumn {
            name: column.name.clone(),
            kind: column.kind.clone(),
            nullable: column.nullable,
            flags: column_flags(table, at),
            hidden: column.invisible,
        });
        ScopeTable {
            schema: table.definition.schema.clone(),
            alias: alias.into(),
            name: table.definition.name.clone(),
            columns: columns.collect(),
            base,
        }
    }

    fn goes_by(&self, schema: Option<&str>, table: &str) -> bool {
        *self.alias == *table && schema.is_none_or(|schema| *self.schema == *schema)
    }

    fn find(&self, column: &str) -> Option<usize> {
        self.columns.iter().position(|one| one.name.eq_ignore_ascii_case(column))
    }
}

/// What the definition of a table adds to a column's flags.
pub fn column_flags(table: &Table, at: usize) -> u16 {
    let column = &table.columns()[at];
    let mut flags = 0;
    if !column.nullable {
        flags |= column_flag::NOT_NULL;
        if column.default == crate::dictionary::DefaultValue::None && !column.auto_increment {
            flags |= column_flag::NO_DEFAULT_VALUE;
        }
    }
    if column.auto_increment {
        flags |= column_flag::AUTO_INCREMENT;
    }
    if column.on_update.is_some() {
        flags |= column_flag::ON_UPDATE_NOW;
    }
    for key in table.keys() {
        let first = key.parts.first().is_some_and(|part| part.column == at);
        if key.primary && key.parts.iter().any(|part| part.column == at) {
            flags |= column_flag::PRIMARY_KEY;
        } else if key.unique && key.parts.len() == 1 && first {
            flags |= column_flag::UNIQUE_KEY;
        } else if first {
            flags |= column_flag::MULTIPLE_KEY;
        }
    }
    flags
}

/// What a name means.
#[derive(Debug, Clone)]
pub struct Resolved {
    /// Frame position.
    pub position: usize,
    /// Type.
    pub kind: ExprType,
}

/// The names of one block.
#[derive(Default)]
pub struct Scope<'p> {
    /// Tables in order of FROM.
    pub tables: Vec<ScopeTable>,
    /// Columns joined by USING or NATURAL: (hidden right column, its left twin), as frame positions.
    pub merged: Vec<(usize, usize)>,
    /// If there are any such: what a bare `*` stands for, as frame positions.
    pub star: Vec<usize>,
    /// The block around this one.
    pub parent: Option<&'p Scope<'p>>,
    /// For error messages: which clause is being bound.
    pub clause: Cell<&'static str>,
    width: Cell<usize>,
    outer: RefCell<Vec<(usize, usize)>>,
    outer_names: RefCell<Vec<(ColumnName, Resolved)>>,
}

impl<'p> Scope<'p> {
    /// An empty scope inside `parent`.
    pub fn new(parent: Option<&'p Scope<'p>>) -> Scope<'p> {
        let scope = Scope { parent, ..Scope::default() };
        scope.clause.set("field list");
        scope
    }

    /// Values in a frame so far.
    pub fn width(&self) -> usize {
        self.width.get()
    }

    /// Room for `count` values; returns the first position.
    pub fn reserve(&self, count: usize) -> usize {
        let base = self.width.get();
        self.width.set(base + count);
        base
    }

    /// Places to be filled from the frame around: (position there, position here).
    pub fn outer_places(&self) -> Vec<(usize, usize)> {
        self.outer.borrow().clone()
    }

    /// Adds a table; fails if its alias is taken.
    pub fn add(&mut self, table: ScopeTable) -> SqlResult<()> {
        if self.tables.iter().any(|one| one.alias == table.alias && one.schema == table.schema) {
            return Err(SqlError::non_unique_table(&table.alias));
        }
        self.tables.push(table);
        Ok(())
    }

    /// What a column name means.
    pub fn resolve(&self, name: &ColumnName) -> SqlResult<Resolved> {
        if let Some(found) = self.find_here(name)? {
            return Ok(found);
        }
        if let Some((_, found)) = self.outer_names.borrow().iter().find(|(known, _)| known == name) {
            return Ok(found.clone());
        }
        let Some(parent) = self.parent else { return Err(self.unknown(name)) };
        let outside = parent
            .resolve(name)
            .map_err(|error| if error.code == 1054 { self.unknown(name) } else { error })?;
        let here = Resolved { position: self.reserve(1), ..outside.clone() };
        self.outer.borrow_mut().push((outside.position, here.position));
        self.outer_names.borrow_mut().push((name.clone(), here.clone()));
        Ok(here)
    }

    fn unknown(&self, name: &ColumnName) -> SqlError {
        let table = name.table.as_deref();
        let parts = [name.schema.as_deref(), table, Some(&*name.column)];
        let text = parts.into_iter().flatten().collect::<Vec<_>>().join(".");
        SqlError::unknown_column(text, self.clause.get())
    }

    /// What a column name means among the tables of this block.
    pub fn find_here(&self, name: &ColumnName) -> SqlResult<Option<Resolved>> {
        let mut found: Option<Resolved> = None;
        for table in &self.tables {
            if name.table.as_deref().is_some_and(|wanted| !table.goes_by(name.schema.as_deref(), wanted)) {
                continue;
            }
            let Some(at) = table.find(&name.column) else { continue };
            let position = table.base + at;
            if name.table.is_none() && self.merged.iter().any(|(hidden, _)| *hidden == position) {
                continue;
            }
            if found.is_some() {
                return Err(SqlError::ambiguous_column(&name.column, self.clause.get()));
            }
            found = Some(resolved(table, at));
        }
        Ok(found)
    }

    /// Table and column of a frame position.
    pub fn column_at(&self, position: usize) -> Option<(&ScopeTable, &ScopeColumn)> {
        let (nth, at) = self.place_of(position)?;
        Some((&self.tables[nth], &self.tables[nth].columns[at]))
    }

    fn place_of(&self, position: usize) -> Option<(usize, usize)> {
        let holds = |t: &ScopeTable| (t.base..t.base + t.columns.len()).contains(&position);
        let nth = self.tables.iter().position(holds)?;
        Some((nth, position - self.tables[nth].base))
    }

    /// The columns `*` (or `t.*`) stands for, as (table, column) positions.
    pub fn wildcard(&self, schema: Option<&str>, table: Option<&str>) -> SqlResult<Vec<(usize, usize)>> {
        if table.is_none() && !self.star.is_empty() {
            return Ok(self.star.iter().filter_map(|position| self.place_of(*position)).collect());
        }
        let mut found = Vec::new();
        let mut any = false;
        for (nth, one) in self.tables.iter().enumerate() {
            if table.is_some_and(|wanted| !one.goes_by(schema, wanted)) {
                continue;
            }
            any = true;
            let shown = (0..one.columns.len()).filter(|at| !one.columns[*at].hidden);
            found.extend(shown.map(|at| (nth, at)));
        }
        match (any, table) {
            (true, _) => Ok(found),
            (false, Some(table)) => Err(SqlError::bad_table(table)),
            (false, None) => Err(SqlError::no_tables_used()),
        }
    }
}

fn resolved(table: &ScopeTable, at: usize) -> Resolved {
    let column = &table.columns[at];
    Resolved {
        position: table.base + at,
        kind: ExprType { column: column.kind.clone(), nullable: column.nullable },
    }
}

impl Scope<'_> {
    /// Makes the columns of a result visible as a nameless table at the next position.
    pub fn add_columns(&mut self, columns: &[crate::sink::ColumnMeta]) {
        let base = self.reserve(columns.len());
        let shown = columns.iter().map(|column| ScopeColumn {
            name: column.name.clone(),
            kind: column.column_type.clone(),
            nullable: true,
            flags: 0,
            hidden: false,
        });
        let columns = shown.collect();
        self.tables.push(ScopeTable { schema: "".into(), alias: "".into(), name: "".into(), columns, base });
    }
}
