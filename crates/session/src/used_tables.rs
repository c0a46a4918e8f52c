//! The tables a statement uses, found in its syntax tree: whose metadata locks to hold and whose privileges
//! to check.

use crate::accounts::Privileges;
use crate::ast::{
    Expr, InsertSource, JoinCondition, LockStrength, Name, Query, QueryBody, SelectItem, Statement,
    TableFactor, TableName, TableRef, Update, With,
};
use crate::mdl::Mode;
use crate::walk;

/// Which privileges a use of a table needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// All of these.
    All(Privileges),
    /// One of these; the rest is known with the columns.
    SomeOf(Privileges),
    /// SELECT, and these after it: a table of several that rows are deleted from.
    ReadAnd(Privileges),
}

/// A table that is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Used {
    /// Its database, when written.
    pub schema: Option<Box<str>>,
    /// Its name.
    pub name: Box<str>,
    /// The other name the statement gives it.
    pub alias: Option<Box<str>>,
    /// Its rows are changed, or may be.
    pub written: bool,
    /// Privileges needed to use it so.
    pub asked: Asked,
    /// Its rows are locked FOR UPDATE.
    pub for_update: bool,
    /// How often the statement names it so.
    pub times: u32,
}

impl Used {
    /// How its metadata lock is held.
    pub fn mode(&self) -> Mode {
        if self.written || self.for_update { Mode::Write } else { Mode::Read }
    }

    /// What the statement calls it.
    pub fn shown(&self) -> &str {
        self.alias.as_deref().unwrap_or(&self.name)
    }

    /// The database it is in, `current` if none is written.
    pub fn schema_in<'a>(&'a self, current: Option<&'a str>) -> Option<&'a str> {
        self.schema.as_deref().or(current)
    }
}

/// Whether a table's rows may be changed, and what that needs.
type How = (bool, Asked);

const READ: How = (false, Asked::All(Privileges::SELECT));

#[derive(Default)]
struct Finder<'s> {
    found: Vec<Used>,
    /// FOR UPDATE of the query under way.
    for_update: Option<&'s [TableName]>,
    /// Names that mean queries of WITH here, not tables.
    common: Vec<Common<'s>>,
}

/// A query of WITH. Its tables are used if it is named by what is: MySQL looks at no other.
struct Common<'s> {
    name: &'s str,
    query: &'s Query,
    recursive: bool,
    named: bool,
}

/// The tables of a statement that reads or changes rows, each once per name and use.
pub fn of_statement(statement: &Statement) -> Vec<Used> {
    let mut finder = Finder::default();
    match statement {
        Statement::Select(query) => finder.query(query),
        Statement::Insert(insert) => {
            let replaced = if insert.replace { Privileges::DELETE } else { Privileges::NONE };
            let updated = if insert.on_duplicate.is_empty() { Privileges::NONE } else { Privileges::UPDATE };
            let asked = Privileges::INSERT.with(replaced).with(updated);
            finder.table(&insert.table, None, (true, Asked::All(asked)));
            match &insert.source {
                InsertSource::Rows(rows) => rows.iter().flatten().for_each(|expr| finder.expr(expr)),
                InsertSource::Literals(_) => {}
                InsertSource::Query(query) => finder.query(query),
            }
            insert.on_duplicate.iter().for_each(|one| finder.expr(&one.value));
        }
        Statement::Update(update) => {
            update.with.iter().for_each(|with| finder.with(with));
            let asked = match update.tables.as_slice() {
                [TableRef::Table(_)] => Asked::All(Privileges::UPDATE),
                _ => Asked::SomeOf(Privileges::SELECT.with(Privileges::UPDATE)),
            };
            let how = |factor: &TableFactor| (changes(update, factor), asked);
            update.tables.iter().for_each(|one| finder.table_ref(one, &how));
            update.assignments.iter().for_each(|one| finder.expr(&one.value));
            update.condition.iter().for_each(|one| finder.expr(one));
            update.order_by.iter().for_each(|item| finder.expr(&item.expr));
            finder.leave(0);
        }
        Statement::Delete(delete) => {
            delete.with.iter().for_each(|with| finder.with(with));
            let changed = |factor: &TableFactor| {
                delete.targets.is_empty() || delete.targets.iter().any(|target| names(target, factor))
            };
            let several = !delete.targets.is_empty();
            let how = |factor: &TableFactor| match changed(factor) {
                true if several => (true, Asked::ReadAnd(Privileges::DELETE)),
                true => (true, Asked::All(Privileges::DELETE)),
                false => READ,
            };
            delete.from.iter().for_each(|one| finder.table_ref(one, &how));
            delete.condition.iter().for_each(|one| finder.expr(one));
            delete.order_by.iter().for_each(|item| finder.expr(&item.expr));
            finder.leave(0);
        }
        _ => {}
    }
    finder.found
}

/// Whether a name in a list of targets may mean this table. Databases are not looked at: rather one too many
/// is written.
fn names(target: &TableName, factor: &TableFactor) -> bool {
    target.table == *factor.alias.as_ref().unwrap_or(&factor.name.table)
}

/// Whether an UPDATE may change a table: one of its columns is assigned, or one that is nobody's by its name.
fn changes(update: &Update, factor: &TableFactor) -> bool {
    let known = factor.alias.as_ref().unwrap_or(&factor.name.table);
    update.assignments.iter().any(|one| one.column.table.as_ref().is_none_or(|table| table == known))
}

impl<'s> Finder<'s> {
    fn table(&mut self, name: &TableName, alias: Option<&Name>, (written, asked): How) {
        let common = self.common.iter_mut().rev().filter(|_| name.schema.is_none());
        if let Some(common) = common.into_iter().find(|one| *one.name == *name.table) {
            common.named = true;
            return;
        }
        let known = alias.unwrap_or(&name.table);
        let for_update =
            self.for_update.is_some_and(|of| of.is_empty() || of.iter().any(|one| one.table == *known));
        let same = |used: &&mut Used| {
            used.schema == name.schema
                && used.name == name.table
                && used.alias.as_ref() == alias
                && (used.written, used.asked, used.for_update) == (written, asked, for_update)
        };
        if let Some(used) = self.found.iter_mut().find(same) {
            used.times += 1;
            return;
        }
        let (schema, alias) = (name.schema.clone(), alias.cloned());
        let name = name.table.clone();
        self.found.push(Used { schema, name, alias, written, asked, for_update, times: 1 });
    }

    fn query(&mut self, query: &'s Query) {
        let (outer, around) = (self.for_update, self.common.len());
        query.with.iter().for_each(|with| self.with(with));
        let clause = query.locking.iter().find(|clause| clause.strength == LockStrength::Update);
        self.for_update = clause.map(|clause| &*clause.tables);
        match &query.body {
            QueryBody::Select(select) => {
                select.from.iter().for_each(|one| self.table_ref(one, &|_| READ));
                // FOR UPDATE does not reach into sub-queries.
                self.for_update = None;
                for item in &select.items {
                    if let SelectItem::Expr { expr, .. } = item {
                        self.expr(expr);
                    }
                }
                select.condition.iter().chain(&select.having).for_each(|one| self.expr(one));
                select.group_by.iter().for_each(|item| self.expr(&item.expr));
            }
            QueryBody::SetOperation { first, rest } => {
                self.query(first);
                rest.iter().for_each(|(_, one)| self.query(one));
            }
            QueryBody::Values(rows) => rows.iter().flatten().for_each(|expr| self.expr(expr)),
            QueryBody::Table(name) => self.table(name, None, READ),
        }
        query.order_by.iter().for_each(|item| self.expr(&item.expr));
        self.leave(around);
        self.for_update = outer;
    }

    /// The queries of a WITH; their names mean them from here on.
    fn with(&mut self, with: &'s With) {
        self.common.extend(with.tables.iter().map(|table| Common {
            name: &table.name,
            query: &table.query,
            recursive: with.recursive,
            named: false,
        }));
    }

    /// Looks at the queries of WITH behind the first `known` that were named, the last first: each is named
    /// by later ones and by what stands behind the WITH.
    fn leave(&mut self, known: usize) {
        while self.common.len() > known {
            let Some(common) = self.common.pop().filter(|one| one.named) else { continue };
            let before = self.common.len();
            let query = common.query;
            if common.recursive {
                self.common.push(common);
            }
            self.query(query);
            self.common.truncate(before);
        }
    }

    /// `how` says it of each of the tables.
    fn table_ref(&mut self, one: &'s TableRef, how: &dyn Fn(&TableFactor) -> How) {
        match one {
            TableRef::Table(factor) => self.table(&factor.name, factor.alias.as_ref(), how(factor)),
            TableRef::Derived { query, .. } => self.query(query),
            TableRef::Join(join) => {
                self.table_ref(&join.left, how);
                self.table_ref(&join.right, how);
                if let JoinCondition::On(condition) = &join.condition {
                    self.expr(condition);
                }
            }
        }
    }

    fn expr(&mut self, expr: &'s Expr) {
        match expr {
            Expr::Subquery(query) | Expr::Exists(query) => self.query(query),
            Expr::InSubquery { query, .. } | Expr::Quantified { query, .. } => self.query(query),
            _ => {}
        }
        let mut children: Vec<&'s Expr> = Vec::new();
        collect(expr, &mut children);
        children.into_iter().for_each(|child| self.expr(child));
    }
}

/// Direct operands of an expression.
fn collect<'e>(expr: &'e Expr, into: &mut Vec<&'e Expr>) {
    walk::children(expr, &mut |child| into.push(child));
}
