//! Names in a query block, and the tuple they point into.
//!
//! Every query block computes with one *tuple*: a flat row of values. The tables of FROM have their columns
//! there, side by side; behind them come places for what is computed along the way, given out as the planner
//! meets it:
//!
//! ```text
//! | t1.a t1.b | t2.x t2.y z | SUM(x) | (SELECT ..) | outer.a |
//!   table       table         aggregate  sub-query    column of the query around this one
//! ```
//!
//! A name that is not found in the block is looked up in the block around it; if it is there, the tuple gets
//! a place for it that is filled before the inner block runs. Which names of the block around are seen is its
//! [`Reach`]: a derived table does not see its neighbours.
//!
//! An inner block may need something of an outer one that is not computed yet: an aggregate over the outer
//! block's rows, or an alias of its select list. It then notes what it wants and gives up; the outer block
//! makes a place for it and plans the inner one again (`Block::plan_inner`).

mod outside;
mod table;

use std::cell::{Cell, RefCell};

use turnstile_catalog::accounts::Privileges;
use turnstile_expr::expr::Typed;
use turnstile_syntax::ast::{self, ColumnName, FunctionCall, quote_name};
use turnstile_values::error::{ErrorKind, SqlError, SqlResult};
use turnstile_values::types::ExprType;

use super::uses::Uses;

pub use outside::Outside;
pub use table::{NO_NAME, ScopeColumn, ScopeTable, column_flags};

/// What a name means.
#[derive(Debug, Clone)]
pub struct Resolved {
    /// Tuple position.
    pub position: usize,
    /// Type.
    pub kind: ExprType,
}

/// Which names of the blocks around are seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// All: a sub-query.
    Inside,
    /// Those of the blocks around the next one: a derived table.
    Beyond,
    /// Those of blocks of this level and further out: a query of WITH, which is read somewhere below the
    /// block it stands in.
    From(usize),
    /// None: a view.
    Nothing,
}

/// Whether the clause that is being bound may have aggregates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AggregateUse {
    /// It comes before grouping.
    #[default]
    Refused,
    /// It comes behind grouping.
    Allowed,
    /// It is an aggregate's argument.
    Nested,
}

/// An entry of the select list that has a name of its own.
pub struct Alias {
    /// The name.
    pub name: Box<str>,
    /// What it stands for.
    pub expr: ast::Expr,
    /// Its place in the tuple, once an inner block has asked for it.
    pub place: Option<Resolved>,
    /// Position in the select list.
    pub nth: usize,
}

/// What an inner block wants of an outer one.
pub enum Wanted {
    /// An aggregate over its rows.
    Aggregate(FunctionCall),
    /// An alias of its select list, by position in [`Scope::aliases`].
    Alias(usize),
}

/// A table that a block reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableId {
    /// One of FROM, by position in [`Scope::tables`].
    Named(usize),
    /// One that a derived table merged into the block reads, by position in [`Scope::behind`].
    Behind(usize),
}

/// The names of one block.
#[derive(Default)]
pub struct Scope<'p> {
    /// Tables in order of FROM.
    pub tables: Vec<ScopeTable>,
    /// Tables that derived tables of FROM read which were merged into the block: no name means them.
    pub behind: Vec<ScopeTable>,
    /// The block is one that is merged into its parent, whose tuple it computes with.
    pub is_spliced: bool,
    /// Columns joined by USING or NATURAL: (hidden right column, its left twin), as tuple positions.
    pub merged: Vec<(usize, usize)>,
    /// If there are any such: what a bare `*` stands for, as tuple positions.
    pub star: Vec<usize>,
    /// The block around this one.
    pub parent: Option<Outside<'p>>,
    /// Blocks around.
    pub level: usize,
    /// For error messages: which clause is being bound.
    pub clause: Cell<&'static str>,
    /// Tables (from, to) that are seen, where not all are: ON sees the operands of its join.
    pub sight: Cell<Option<(usize, usize)>>,
    /// Whether aggregates are allowed now.
    pub aggregates: Cell<AggregateUse>,
    /// While an aggregate's arguments are bound: the level of the innermost block whose columns they have
    /// been seen to read.
    pub arguments: Cell<Option<Option<usize>>>,
    /// Aliases that inner blocks may read.
    pub aliases: RefCell<Vec<Alias>>,
    /// Entries of the select list that are bound.
    pub items_bound: Cell<usize>,
    /// Aggregates that have a place, for inner blocks.
    pub known_aggregates: RefCell<Vec<(FunctionCall, Resolved)>>,
    /// Columns that an aggregating sub-query of the select list reads beside its aggregates: their tables'
    /// columns are announced as nullable.
    pub loosened: RefCell<Vec<usize>>,
    wanted: RefCell<Option<Wanted>>,
    width: Cell<usize>,
    outer: RefCell<Vec<(usize, usize)>>,
    /// Where it is noted which columns are used.
    uses: Option<&'p Uses>,
}

impl<'p> Scope<'p> {
    /// An empty scope inside `parent`.
    pub fn new(parent: Option<Outside<'p>>, uses: &'p Uses) -> Scope<'p> {
        let level = parent.map_or(0, |outside| outside.scope.level + 1);
        let scope = Scope { parent, level, uses: Some(uses), ..Scope::default() };
        scope.clause.set("field list");
        scope
    }

    /// Values in a tuple so far.
    pub fn width(&self) -> usize {
        match self.spliced_into() {
            Some(around) => around.width(),
            None => self.width.get(),
        }
    }

    /// The block whose tuple it computes with, if that is not its own.
    fn spliced_into(&self) -> Option<&Scope<'p>> {
        self.parent.filter(|_| self.is_spliced).map(|outside| outside.scope)
    }

    /// Room for `count` values; returns the first position.
    pub fn reserve(&self, count: usize) -> usize {
        if let Some(around) = self.spliced_into() {
            return around.reserve(count);
        }
        let base = self.width.get();
        self.width.set(base + count);
        base
    }

    /// Places to be filled from the tuple around: (position there, position here).
    pub fn outer_places(&self) -> Vec<(usize, usize)> {
        self.outer.borrow().clone()
    }

    /// Takes back all places for columns of the block around but the first `count`.
    pub fn forget_outer(&self, count: usize) {
        self.outer.borrow_mut().truncate(count);
    }

    /// An error here may only mean that a block around has to make a place first.
    pub fn is_awaited(&self) -> bool {
        self.wanted.borrow().is_some() || self.parent.is_some_and(|outside| outside.scope.is_awaited())
    }

    /// What an inner block has given up for.
    pub fn take_wanted(&self) -> Option<Wanted> {
        self.wanted.borrow_mut().take()
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
        let found = match self.read_here(name)? {
            Some(found) => found,
            None => self.resolve_outside(name, None).inspect_err(|error| self.note_unknown(name, error))?,
        };
        self.note_argument(found.position);
        Ok(found)
    }

    /// Tells the aggregate around, if there is one, of a column that it reads. Columns of blocks inside it
    /// are not its own.
    fn note_argument(&self, position: usize) {
        let mut scope = self;
        while scope.arguments.get().is_none() {
            let Some(outside) = scope.parent else { return };
            scope = outside.scope;
        }
        let level = self.level_of_place(position).map(|out| self.level - out);
        if let (Some(level), Some(known)) = (level, scope.arguments.get())
            && level <= scope.level
        {
            scope.arguments.set(Some(known.max(Some(level))));
        }
    }

    /// An alias of the select list, as a sub-query in the list, GROUP BY, HAVING or ORDER BY sees it.
    fn find_alias(&self, name: &ColumnName) -> SqlResult<Option<Resolved>> {
        let clause = self.clause.get();
        let sees = matches!(clause, "field list" | "group statement" | "having clause" | "order clause");
        if !sees || name.table.is_some() {
            return Ok(None);
        }
        let aliases = self.aliases.borrow();
        let Some(at) = aliases.iter().position(|one| one.name.eq_ignore_ascii_case(&name.column)) else {
            return Ok(None);
        };
        let alias = &aliases[at];
        if is_aggregated(&alias.expr) {
            return Err(SqlError::reference_not_supported(&alias.name, "reference to group function"));
        }
        if clause == "field list" && alias.nth >= self.items_bound.get() {
            return Err(SqlError::reference_not_supported(&alias.name, "forward reference in item list"));
        }
        match &alias.place {
            Some(place) => Ok(Some(place.clone())),
            None => {
                *self.wanted.borrow_mut() = Some(Wanted::Alias(at));
                Err(self.unknown(name))
            }
        }
    }

    fn unknown(&self, name: &ColumnName) -> SqlError {
        let table = name.table.as_deref();
        let parts = [name.schema.as_deref(), table, Some(&*name.column)];
        let text = parts.into_iter().flatten().collect::<Vec<_>>().join(".");
        SqlError::unknown_column(text, self.clause.get())
    }

    /// What the name of a column means that is assigned to, which is no reading of it.
    pub fn resolve_assigned(&self, name: &ColumnName) -> SqlResult<Resolved> {
        let (nth, at) = self.look_here(name)?.ok_or_else(|| self.unknown(name))?;
        self.note_use(nth, at, Privileges::UPDATE, false);
        Ok(resolved(&self.tables[nth], at))
    }

    /// A column of a table is used.
    pub fn note_use(&self, nth: usize, column: usize, wanted: Privileges, unnamed: bool) {
        let (table, Some(uses)) = (&self.tables[nth], self.uses) else { return };
        let name = table.own_names.get(column).unwrap_or(&table.columns[column].name);
        uses.note((&table.schema, &table.name), name, wanted, unnamed);
    }

    /// A name that means nothing: who may read some columns of a table only is not told that it has none of
    /// this name.
    fn note_unknown(&self, name: &ColumnName, error: &SqlError) {
        let meant = name.table.as_deref().is_none_or(|wanted| {
            self.tables.iter().any(|table| table.goes_by(name.schema.as_deref(), wanted))
        });
        if let (Some(first), Some(uses), true) =
            (self.tables.first(), self.uses, error.kind() == ErrorKind::UnknownColumn && meant)
            && self.parent.is_none()
            && self.clause.get() != "having clause"
        {
            uses.note_sought((&first.schema, &first.name), &name.column);
        }
    }

    /// What a column name means among the tables of this block, for who does not read it.
    pub fn find_here(&self, name: &ColumnName) -> SqlResult<Option<Resolved>> {
        Ok(self.look_here(name)?.map(|(nth, at)| resolved(&self.tables[nth], at)))
    }

    /// The same for who reads it.
    fn read_here(&self, name: &ColumnName) -> SqlResult<Option<Resolved>> {
        let found = self.look_here(name)?;
        Ok(found.map(|(nth, at)| {
            self.note_use(nth, at, Privileges::SELECT, false);
            let table = &self.tables[nth];
            let found = resolved(table, at);
            match table.stands_for.get(at) {
                Some(place) => Resolved { position: *place, ..found },
                None => found,
            }
        }))
    }

    /// What a name stands for that means a computed column of a derived table merged into the block.
    pub fn computed(&self, name: &ColumnName) -> Option<Typed> {
        if self.tables.iter().all(|table| table.computed.is_empty()) {
            return None;
        }
        let (nth, at) = self.look_here(name).ok().flatten()?;
        self.tables[nth].computed.get(at).cloned().flatten()
    }

    /// A column as messages write it. A name that is no column of a table stands for itself.
    pub fn named(&self, name: &ColumnName) -> String {
        match self.look_here(name) {
            Ok(Some((nth, at))) => {
                let table = &self.tables[nth];
                if let Some(own) = table.own_names.get(at) {
                    let parts = [&table.schema, &table.name, own].map(|part| quote_name(part));
                    return format!("values({})", parts.join("."));
                }
                let parts = [&table.schema, &table.alias, &table.columns[at].name];
                let parts = parts.into_iter().filter(|part| !part.is_empty());
                parts.map(|part| quote_name(part)).collect::<Vec<_>>().join(".")
            }
            Err(_) => quote_name(&name.column),
            Ok(None) => match self.parent {
                Some(outside) => outside.scope.named(name),
                None => quote_name(&name.column),
            },
        }
    }

    fn look_here(&self, name: &ColumnName) -> SqlResult<Option<(usize, usize)>> {
        let mut found = None;
        let (from, to) = self.sight.get().unwrap_or((0, self.tables.len()));
        for (nth, table) in self.tables.iter().enumerate().take(to).skip(from) {
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
            found = Some((nth, at));
        }
        Ok(found)
    }

    /// Table and column of a tuple position.
    pub fn column_at(&self, position: usize) -> Option<(&ScopeTable, &ScopeColumn)> {
        let table = self.tables.iter().chain(&self.behind).find(|table| table.holds(position))?;
        Some((table, &table.columns[position - table.base]))
    }

    /// Whether a tuple position is filled by a row of a table of the block.
    pub fn is_of_row(&self, position: usize) -> bool {
        self.column_at(position).is_some_and(|(table, _)| table.stands_for.is_empty())
    }

    /// A table that the block reads.
    pub fn table(&self, id: TableId) -> &ScopeTable {
        match id {
            TableId::Named(nth) => &self.tables[nth],
            TableId::Behind(nth) => &self.behind[nth],
        }
    }

    fn place_of(&self, position: usize) -> Option<(usize, usize)> {
        let nth = self.tables.iter().position(|table| table.holds(position))?;
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

/// Whether an expression has an aggregate of its own.
pub fn is_aggregated(expr: &ast::Expr) -> bool {
    turnstile_syntax::walk::any(
        expr,
        &|one| matches!(one, ast::Expr::Function(call) if super::aggregate::is_aggregate(call)),
    )
}

fn resolved(table: &ScopeTable, at: usize) -> Resolved {
    let column = &table.columns[at];
    Resolved {
        position: table.base + at,
        kind: ExprType {
            column: column.kind.clone(),
            nullable: column.nullable || table.optional,
            traits: column.traits,
        },
    }
}

impl Scope<'_> {
    /// Makes the columns of a result visible as a nameless table at the next position.
    pub fn add_columns(&mut self, columns: &[turnstile_values::sink::ColumnMeta]) {
        let base = self.reserve(columns.len());
        let shown = columns.iter().map(|column| ScopeColumn {
            name: column.name.clone(),
            kind: column.column_type.clone(),
            nullable: true,
            traits: column.traits,
            flags: 0,
            hidden: false,
        });
        let columns = shown.collect();
        self.tables.push(ScopeTable {
            schema: "".into(),
            alias: "".into(),
            name: "".into(),
            columns,
            base,
            ..ScopeTable::default()
        });
    }
}
