//! A table of FROM as names see it.

use std::sync::Arc;

use turnstile_catalog::dictionary::Table;
use turnstile_expr::expr::Typed;
use turnstile_syntax::ast::ColumnName;
use turnstile_values::mixing::Traits;
use turnstile_values::types::{ColumnType, column_flag};

use super::super::grouping::Facts;

/// A column that names can mean.
#[derive(Debug, Clone)]
pub struct ScopeColumn {
    /// Its name.
    pub name: Box<str>,
    /// Its type.
    pub kind: ColumnType,
    /// It can be NULL.
    pub nullable: bool,
    /// What it has besides its collation where it meets other texts.
    pub traits: Traits,
    /// Flags for the client.
    pub flags: u16,
    /// Left out of `*`.
    pub hidden: bool,
}

/// A table of FROM.
#[derive(Clone, Default)]
pub struct ScopeTable {
    /// Its database; empty for a derived table.
    pub schema: Box<str>,
    /// Its alias, else its name.
    pub alias: Box<str>,
    /// Its name; empty for a derived table.
    pub name: Box<str>,
    /// The stored table that it is, under the names of its own columns: by its name alone it would be another
    /// one where a temporary table hides it.
    pub stored: Option<Arc<Table>>,
    /// Its columns.
    pub columns: Vec<ScopeColumn>,
    /// Tuple position of its first column.
    pub base: usize,
    /// The column that `_rowid` means.
    pub row_id: Option<usize>,
    /// A table without a primary key has a place behind its columns, for the number that the engine knows its
    /// row by.
    pub numbered: bool,
    /// Of a derived table that is merged into the block: the place of the tuple that each of its columns
    /// stands for. Its own places are filled by no row; those of columns that are computed hold their values.
    pub stands_for: Vec<usize>,
    /// Those of them that are computed by little: what stands for their names in the block's own expressions.
    pub computed: Vec<Option<Typed>>,
    /// And the tables that it reads, by position in [`Scope::behind`](super::Scope::behind): from, to.
    pub behind: (usize, usize),
    /// What is known of the rows of a derived table.
    pub facts: Facts,
    /// Its columns' own names, where they go by others: the new row of INSERT under an alias.
    pub own_names: Vec<Box<str>>,
    /// Its columns go by these names in a result, however a statement spells them: a view, or a derived table
    /// that is one.
    pub keeps_names: bool,
    /// It is a view, whose name is not that of a table.
    pub is_view: bool,
    /// An outer join may fill its columns with NULL, as the query is written.
    pub optional: bool,
}

/// What a column is called that no name means: none has this character, for a text ends there.
pub const NO_NAME: &str = "\0";

/// The column that `_rowid` means: the integer that is alone in the primary key, or without one in a unique
/// key.
fn row_id(table: &Table) -> Option<usize> {
    let alone = |key: &turnstile_catalog::dictionary::Key| match key.parts.as_slice() {
        [part] => {
            let column = &table.columns()[part.column];
            (column.kind.is_integer() && !column.is_hidden()).then_some(part.column)
        }
        _ => None,
    };
    match table.primary() {
        Some(primary) => alone(&table.keys()[primary]),
        None => {
            let sure = |key: &&turnstile_catalog::dictionary::Key| {
                key.unique && key.parts.iter().all(|part| !table.columns()[part.column].nullable)
            };
            table.keys().iter().find(sure).and_then(alone)
        }
    }
}

impl ScopeTable {
    /// A base table at a tuple position.
    pub fn of(table: &Arc<Table>, alias: &str, base: usize) -> ScopeTable {
        let columns = table.columns().iter().enumerate().map(|(at, column)| ScopeColumn {
            name: if column.is_hidden() { NO_NAME.into() } else { column.name.clone() },
            kind: column.kind.clone(),
            nullable: column.nullable,
            traits: Traits::of(&column.kind),
            flags: column_flags(table, at),
            hidden: column.invisible,
        });
        ScopeTable {
            schema: table.definition.schema.clone(),
            alias: alias.into(),
            name: table.definition.name.clone(),
            stored: Some(table.clone()),
            columns: columns.collect(),
            base,
            row_id: row_id(table),
            numbered: table.primary().is_none(),
            stands_for: Vec::new(),
            computed: Vec::new(),
            behind: (0, 0),
            facts: Facts::default(),
            own_names: Vec::new(),
            keeps_names: false,
            is_view: false,
            optional: false,
        }
    }

    /// Values in a tuple.
    pub fn places(&self) -> std::ops::Range<usize> {
        self.base..self.base + self.columns.len() + usize::from(self.numbered)
    }

    /// The name of a column with all that a definition keeps of it: its table, and the database of a table
    /// that goes by its own name.
    pub fn written(&self, column: usize) -> ColumnName {
        let own_name = !self.schema.is_empty() && self.alias == self.name;
        ColumnName {
            schema: own_name.then(|| self.schema.clone()),
            table: Some(self.alias.clone()),
            column: self.columns[column].name.clone(),
        }
    }

    /// Whether a place of the tuple is one of its columns.
    pub(super) fn holds(&self, position: usize) -> bool {
        (self.base..self.base + self.columns.len()).contains(&position)
    }

    pub(super) fn goes_by(&self, schema: Option<&str>, table: &str) -> bool {
        *self.alias == *table && schema.is_none_or(|schema| *self.schema == *schema)
    }

    pub(super) fn find(&self, column: &str) -> Option<usize> {
        let named = self.columns.iter().position(|one| one.name.eq_ignore_ascii_case(column));
        named.or_else(|| self.row_id.filter(|_| column.eq_ignore_ascii_case("_rowid")))
    }
}

/// What the definition of a table adds to a column's flags.
pub fn column_flags(table: &Table, at: usize) -> u16 {
    let column = &table.columns()[at];
    let mut flags = 0;
    if !column.nullable {
        flags |= column_flag::NOT_NULL;
        if column.default == turnstile_catalog::dictionary::DefaultValue::None && !column.auto_increment {
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
