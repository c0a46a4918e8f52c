//! The tables a statement uses, found in its syntax tree: whose gates to hold and whose privileges to check.

use crate::accounts::Privileges;
use crate::ast::{
    Expr, InsertSource, JoinCondition, Query, QueryBody, SelectItem, Statement, TableName, TableRef,
};
use crate::plan::walk;

/// A table that is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Used {
    /// Its database, when written.
    pub schema: Option<Box<str>>,
    /// Its name.
    pub name: Box<str>,
    /// Privileges needed to change it; none if it is read.
    pub written: Privileges,
}

#[derive(Default)]
struct Finder {
    found: Vec<Used>,
}

/// The tables of a statement that reads or changes rows, each once per use.
pub fn of_statement(statement: &Statement) -> Vec<Used> {
    let mut finder = Finder::default();
    match statement {
        Statement::Select(query) => finder.query(query),
        Statement::Insert(insert) => {
            let replaced = if insert.replace { Privileges::DELETE } else { Privileges::NONE };
            let updated = if insert.on_duplicate.is_empty() { Privileges::NONE } else { Privileges::UPDATE };
            finder.table(&insert.table, Privileges::INSERT.with(replaced).with(updated));
            match &insert.source {
                InsertSource::Rows(rows) => rows.iter().flatten().for_each(|expr| finder.expr(expr)),
                InsertSource::Query(query) => finder.query(query),
            }
            insert.on_duplicate.iter().for_each(|one| finder.expr(&one.value));
        }
        Statement::Update(update) => {
            update.tables.iter().for_each(|one| finder.table_ref(one, Privileges::UPDATE));
            update.assignments.iter().for_each(|one| finder.expr(&one.value));
            update.condition.iter().for_each(|one| finder.expr(one));
        }
        Statement::Delete(delete) => {
            delete.from.iter().for_each(|one| finder.table_ref(one, Privileges::DELETE));
            delete.condition.iter().for_each(|one| finder.expr(one));
        }
        _ => {}
    }
    finder.found
}

impl Finder {
    fn table(&mut self, name: &TableName, written: Privileges) {
        let used = Used { schema: name.schema.clone(), name: name.table.clone(), written };
        if !self.found.contains(&used) {
            self.found.push(used);
        }
    }

    fn query(&mut self, query: &Query) {
        match &query.body {
            QueryBody::Select(select) => {
                select.from.iter().for_each(|one| self.table_ref(one, Privileges::NONE));
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
            QueryBody::Table(name) => self.table(name, Privileges::NONE),
        }
        query.order_by.iter().for_each(|item| self.expr(&item.expr));
    }

    fn table_ref(&mut self, one: &TableRef, written: Privileges) {
        match one {
            TableRef::Table(factor) => self.table(&factor.name, written),
            TableRef::Derived { query, .. } => self.query(query),
            TableRef::Join(join) => {
                self.table_ref(&join.left, written);
                self.table_ref(&join.right, written);
                if let JoinCondition::On(condition) = &join.condition {
                    self.expr(condition);
                }
            }
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Subquery(query) | Expr::Exists(query) => self.query(query),
            Expr::InSubquery { query, .. } | Expr::Quantified { query, .. } => self.query(query),
            _ => {}
        }
        let mut children: Vec<&Expr> = Vec::new();
        collect(expr, &mut children);
        children.into_iter().for_each(|child| self.expr(child));
    }
}

/// Direct operands of an expression.
fn collect<'e>(expr: &'e Expr, into: &mut Vec<&'e Expr>) {
    walk::children(expr, &mut |child| into.push(child));
}
