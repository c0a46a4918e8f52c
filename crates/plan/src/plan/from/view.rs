//! Views in FROM: a view is read as a derived table is, merged into who reads it where that can be. What its
//! query names was settled when it was made, so it sees no name of the block around and no query of WITH; its
//! own database is the current one there.
//!
//! Whose rights are asked for what the query reads is the view's to say (`uses.rs`); what goes wrong with its
//! names is told as the view being invalid (1356), and no more: who reads it need not know what is in it.

use std::sync::Arc;

use turnstile_catalog::accounts::Privileges;
use turnstile_catalog::dictionary::{Definer, TableName, View};
use turnstile_expr::expr::EvalSettings;
use turnstile_syntax::ast::{
    Expr, JoinKind, Query, QueryBody, SelectItem, TableFactor, TableRef, ViewAlgorithm,
};
use turnstile_syntax::walk;
use turnstile_values::error::{ErrorKind, SqlError, SqlResult};

use super::super::block::{Block, PlanContext};
use super::super::pushed::whole;
use super::super::scope::Reach;
use super::super::uses::Uses;
use super::{Joined, from_plan, merged};
use crate::plan::with;

/// Levels that the queries of views within each other have together. What stands around them may have as many
/// as a text may have, and planning takes its stack for both.
const DEPTH_MAX: u32 = 100;

/// Levels that a view takes besides those of its query.
const DEPTH_OF_VIEW: u32 = 4;

/// A view whose query is being planned.
#[derive(Clone, Copy)]
pub struct Viewing<'a> {
    view: &'a View,
    /// The view that reads it.
    around: Option<&'a Viewing<'a>>,
    /// Levels so far.
    depth: u32,
    /// Whose rights are asked; None for those of who runs the statement.
    asker: Option<&'a Definer>,
}

impl<'a> Viewing<'a> {
    /// The view in the place of `around`. Fails if it reads itself, or lies too deep.
    fn enter(view: &'a View, around: Option<&'a Viewing<'a>>, levels: u32) -> SqlResult<Viewing<'a>> {
        let mut known = around;
        while let Some(one) = known {
            if std::ptr::eq(one.view, view) {
                let definition = &view.definition;
                return Err(SqlError::view_recursion(&definition.schema, &definition.name));
            }
            known = one.around;
        }
        let depth = around.map_or(0, |one| one.depth) + levels + DEPTH_OF_VIEW;
        if depth > DEPTH_MAX {
            return Err(SqlError::views_nested_too_deeply(DEPTH_MAX));
        }
        let definition = &view.definition;
        let outer = around.and_then(|one| one.asker);
        let asker = if definition.invoker { outer } else { Some(&definition.definer) };
        Ok(Viewing { view, around, depth, asker })
    }

    /// The view that the statement itself names.
    pub fn named(&self) -> &'a View {
        let mut found = self;
        while let Some(around) = found.around {
            found = around;
        }
        found.view
    }

    /// An error of the view's query, as who reads the view is told of it.
    pub fn told(&self, error: SqlError) -> SqlError {
        let of_names = matches!(
            error.kind(),
            ErrorKind::UnknownColumn
                | ErrorKind::UnknownFunction
                | ErrorKind::UnknownTable
                | ErrorKind::NoRight
        );
        if of_names { invalid(self.named()) } else { error }
    }
}

/// Error 1356
pub fn invalid(view: &View) -> SqlError {
    SqlError::view_invalid(&view.definition.schema, &view.definition.name)
}

/// Calls `with` with what planning a view's query needs to know, and notes for the statement what the query
/// uses.
pub fn within<T>(
    context: &PlanContext<'_>,
    view: &View,
    with: impl FnOnce(&PlanContext<'_>, &Query) -> SqlResult<T>,
) -> SqlResult<T> {
    let Some((query, levels)) = &view.query else {
        return Err(invalid(context.viewing.map_or(view, |around| around.named())));
    };
    let viewing = Viewing::enter(view, context.viewing, *levels)?;
    let uses = Uses::default();
    let collation = view.definition.collation;
    let settings = EvalSettings { connection_collation: collation, ..context.eval.settings };
    let eval = context.eval.under(settings);
    let inside = PlanContext {
        names: context.names.of_everybody(),
        schema: Some(&view.definition.schema),
        collation,
        eval: &eval,
        common: &[],
        uses: &uses,
        viewing: Some(&viewing),
        ..*context
    };
    let made = with(&inside, query).map_err(|error| viewing.told(error))?;
    let definition = &viewing.named().definition;
    let named = (definition.schema.clone(), definition.name.clone());
    context.uses.note_view(named, viewing.asker.cloned(), uses);
    Ok(made)
}

/// Reads a view into the block's scope.
pub fn read(block: &mut Block<'_, '_>, factor: &TableFactor, view: &Arc<View>) -> SqlResult<Joined> {
    if let Some(index) = factor.hints.iter().flat_map(|hint| &hint.indexes).next() {
        return Err(SqlError::key_does_not_exist(index, &view.definition.name));
    }
    let alias = factor.alias.as_deref().unwrap_or(&factor.name.table);
    let outer = block.context;
    within(outer, view, |context, query| {
        let names = &*view.names;
        let wanted = merged::Merging { query, alias, names, reach: Reach::Nothing };
        let whole = view.definition.algorithm == ViewAlgorithm::Temptable;
        let merged = if whole { None } else { merged::merge(block, context, &wanted)? };
        let joined = match merged {
            Some(joined) => joined,
            None => {
                let query = &*whole::narrowed(block, query, alias, names);
                let mut plan = super::super::plan_query(context, query, None)?;
                if !super::is_plain_view(query) {
                    plan.keep_all_digits();
                }
                let columns = with::columns(query, &plan, names)?;
                from_plan(block, alias, columns, plan)?
            }
        };
        if let Some(table) = block.scope.tables.last_mut() {
            table.schema = view.definition.schema.clone();
            table.name = view.definition.name.clone();
            table.keeps_names = true;
            table.is_view = true;
        }
        Ok(joined)
    })
}

/// Notes that the query of a view reads a table, whichever of its columns.
pub fn note_table(context: &PlanContext<'_>, schema: &str, table: &str) {
    if context.viewing.is_some() {
        context.uses.note_table((schema, table), Privileges::SELECT);
    }
}

/// Whether rows may be changed through a view of this query: it passes rows on of a table that is one, and
/// that it asks no query of, and joins no table whose rows may be missing.
pub fn is_updatable(context: &PlanContext<'_>, query: &Query) -> bool {
    let Some(select) = merged::block_of(query) else { return false };
    let column = |item: &SelectItem| matches!(item, SelectItem::Expr { expr: Expr::Column(_), .. });
    let mut asked = Vec::new();
    if let Some(condition) = &select.condition {
        add_asked(context, condition, &mut asked);
    }
    let mut found = false;
    let mut look = |table: &TableRef| {
        let TableRef::Table(factor) = table else { return };
        let schema = factor.name.schema.as_deref().or(context.schema);
        let changes = schema.is_some_and(|schema| changes(context, schema, &factor.name.table));
        let mut tables = Vec::new();
        add_tables(context, table, &mut tables);
        found |= changes && !tables.iter().any(|one| asked.contains(one));
    };
    select.from.iter().for_each(|table| merged::each(table, &mut look));
    found && !select.from.iter().any(is_outer) && select.items.iter().any(column)
}

fn is_outer(table: &TableRef) -> bool {
    let TableRef::Join(join) = table else { return false };
    matches!(join.kind, JoinKind::Left | JoinKind::Right) || is_outer(&join.left) || is_outer(&join.right)
}

/// Adds the tables that a table of FROM comes to, through views.
fn add_tables(context: &PlanContext<'_>, table: &TableRef, into: &mut Vec<TableName>) {
    match table {
        TableRef::Table(factor) => {
            let Some(schema) = factor.name.schema.as_deref().or(context.schema) else { return };
            let mut waiting: Vec<TableName> = vec![(schema.into(), factor.name.table.clone())];
            let mut names = context.names;
            while let Some(one) = waiting.pop() {
                let view = names.view(&one.0, &one.1);
                names = names.of_everybody();
                if let Some(view) = view
                    && !into.contains(&one)
                {
                    waiting.extend(view.definition.reads.iter().cloned());
                }
                into.push(one);
            }
        }
        TableRef::Derived { query, .. } => add_read(context, query, into),
        TableRef::Join(join) => {
            add_tables(context, &join.left, into);
            add_tables(context, &join.right, into);
        }
    }
}

/// Those of a query.
fn add_read(context: &PlanContext<'_>, query: &Query, into: &mut Vec<TableName>) {
    match &query.body {
        QueryBody::Select(select) => {
            select.from.iter().for_each(|table| add_tables(context, table, into));
            select.condition.iter().for_each(|one| add_asked(context, one, into));
        }
        QueryBody::SetOperation { first, rest } => {
            add_read(context, first, into);
            rest.iter().for_each(|(_, one)| add_read(context, one, into));
        }
        QueryBody::Values(_) | QueryBody::Table(_) => {}
    }
}

/// Those of the queries that an expression asks.
fn add_asked(context: &PlanContext<'_>, expr: &Expr, into: &mut Vec<TableName>) {
    walk::each(expr, &mut |one| match one {
        Expr::Subquery(query) | Expr::Exists(query) => add_read(context, query, into),
        Expr::InSubquery { query, .. } | Expr::Quantified { query, .. } => add_read(context, query, into),
        _ => {}
    });
}

fn changes(context: &PlanContext<'_>, schema: &str, name: &str) -> bool {
    let view = context.names.view(schema, name);
    view.map_or(context.names.find(schema, name).is_some(), |view| view.definition.updatable)
}

/// Whether a query of a view is one that can be merged into who reads it.
pub fn is_mergeable(query: &Query) -> bool {
    merged::block_of(query).is_some()
}
