//! WITH: queries with names.
//!
//! ```text
//! WITH a AS (..), b AS (.. FROM a ..) SELECT .. FROM a, b, b
//!          │              └─ reads a          │  └──┴─ one plan, run once a statement: both see the same rows
//!          └─ CommonPlan <────────────────────┘
//! ```
//!
//! A name means the nearest query of this name around, else a table. Each query is planned once, where it is
//! defined, and names share its plan. The queries that names can mean are a list in the [`PlanContext`];
//! whoever plans a block with a WITH makes a longer one.
//!
//! With RECURSIVE a query may read itself: its body is a UNION of blocks that do not (the seed) and, behind
//! them, blocks that do, each once and in its own FROM. The seed is planned first, since its columns give the
//! result's types; there a name that means the query itself is an error. Then each of the others is planned
//! with the name meaning the rows of the round before.

mod recursive;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use turnstile_syntax::ast::{self, QueryBody, TableRef};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::mixing::Traits;
use turnstile_values::sink::ColumnMeta;
use turnstile_values::types::{ColumnType, column_flag};

use super::block::{Block, PlanContext, settled};
use super::from::{Joined, merged};
use super::grouping::{self, Facts};
use super::query::{CommonBody, CommonPlan, CommonRows, QueryPlan, Round};
use super::scope::{Outside, Reach, ScopeColumn};
use recursive::maybe_recursive;

/// A query that a name can mean.
#[derive(Clone)]
pub struct Named {
    /// Its name.
    pub name: ast::Name,
    /// Its columns.
    pub columns: Vec<ScopeColumn>,
    /// See [`ScopeTable::facts`](super::scope::ScopeTable::facts).
    pub facts: Facts,
    /// See [`ScopeTable::keeps_names`](super::scope::ScopeTable::keeps_names).
    pub keeps_names: bool,
    /// How many tables it reads, merged into a block.
    pub tables: usize,
    reading: Reading,
    /// Its text, if it can be merged into who reads it.
    view: Option<Rc<Text>>,
}

/// A query that is bound where it is read.
struct Text {
    query: ast::Query,
    /// Other names of its columns.
    names: Vec<ast::Name>,
    /// It sees blocks from this level on.
    level: usize,
    /// So many of the queries with names are known to it.
    known: usize,
}

/// What reading it means.
#[derive(Clone)]
enum Reading {
    /// Its rows.
    Rows(Arc<CommonPlan>),
    /// It reads columns of blocks around the WITH, so that it is planned where it is read, like a derived
    /// table. It sees blocks from this level on, and so many of the queries with names.
    Again { query: Rc<ast::Query>, level: usize, known: usize },
    /// It has a fault, which is told to whom reads it: MySQL looks at no query that nobody names.
    Failed(Box<SqlError>),
    /// It is being planned, and this is no place for it to read itself.
    Never,
    /// It is being planned, and a block that is this deep reads the round before, once.
    Previous { round: Arc<Round>, depth: u32, free: Rc<Cell<bool>> },
}

impl Named {
    /// A name of which nothing more is known.
    fn new(name: &ast::Name, reading: Reading) -> Named {
        Named {
            name: name.clone(),
            columns: Vec::new(),
            facts: Facts::default(),
            keeps_names: false,
            tables: 1,
            reading,
            view: None,
        }
    }

    /// The query planned for the block that reads it, if it has to be.
    pub fn plan_again(&self, block: &mut Block<'_, '_>) -> SqlResult<Option<QueryPlan>> {
        if let Reading::Failed(error) = &self.reading {
            return Err((**error).clone());
        }
        let Reading::Again { query, level, known } = &self.reading else { return Ok(None) };
        let context = PlanContext { common: &block.context.common[..*known], ..*block.context };
        block.plan_inner_in(&context, query, Reach::From(*level)).map(Some)
    }

    /// Its tables and conditions joined with those of the block that reads it under a name, if they can be.
    pub fn merge(&self, block: &mut Block<'_, '_>, alias: &str) -> SqlResult<Option<Joined>> {
        let Some(text) = &self.view else { return Ok(None) };
        let context = PlanContext { common: &block.context.common[..text.known], ..*block.context };
        let (reach, names) = (Reach::From(text.level), text.names.as_slice());
        merged::merge(block, &context, &merged::Merging { query: &text.query, alias, names, reach })
    }

    /// What a block reads that names it.
    pub fn rows(&self, context: &PlanContext<'_>) -> SqlResult<CommonRows> {
        match &self.reading {
            Reading::Rows(plan) => {
                if let Some(reads) = context.reads {
                    reads.borrow_mut().push(plan.clone());
                }
                Ok(CommonRows::Of(plan.clone()))
            }
            Reading::Previous { round, depth, free } if context.depth == *depth && free.replace(false) => {
                Ok(CommonRows::Previous(round.clone()))
            }
            Reading::Failed(error) => Err((**error).clone()),
            Reading::Never | Reading::Again { .. } | Reading::Previous { .. } => {
                Err(SqlError::recursion_not_single(&self.name))
            }
        }
    }
}

impl<'a> PlanContext<'a> {
    /// The query that a name means.
    pub fn named(&self, name: &str) -> Option<&'a Named> {
        self.common.iter().rev().find(|one| *one.name == *name)
    }
}

/// Plans the queries of a WITH: all that names can mean behind it.
pub fn plan(
    context: &PlanContext<'_>,
    with: &ast::With,
    parent: Option<Outside<'_>>,
) -> SqlResult<Vec<Named>> {
    let mut known = context.common.to_vec();
    for (nth, table) in with.tables.iter().enumerate() {
        if with.tables[..nth].iter().any(|one| one.name == table.name) {
            return Err(SqlError::non_unique_table(&table.name));
        }
        let reads = RefCell::default();
        let context = PlanContext { common: &known, reads: Some(&reads), ..*context };
        let planned = match with.recursive {
            true => maybe_recursive(&context, table, parent),
            false => plain(&context, table, parent),
        };
        let (columns, body) = match planned {
            Ok(planned) => planned,
            Err(error) if error.ends_statement() => return Err(error),
            Err(error) => {
                let reading = Reading::Failed(Box::new(error));
                known.push(Named::new(&table.name, reading));
                continue;
            }
        };
        let level = parent.map_or(0, |outside| outside.level());
        let merges = context.ways.merges_derived && !context.changes && !with.recursive;
        let block = merged::block_of(&table.query).filter(|_| merges);
        let view = block.map(|_| {
            let query = (*table.query).clone();
            Rc::new(Text { query, names: table.columns.clone(), level, known: known.len() })
        });
        let tables = view.as_ref().map_or(1, |view| merged::tables_of(&context, &view.query));
        let keeps_names = super::from::is_plain_view(&table.query);
        let facts = match &body {
            CommonBody::Query(plan) => grouping::facts(plan),
            CommonBody::Recursive(_) => Facts::default(),
        };
        if let (CommonBody::Query(plan), Some(outside)) = (&body, parent)
            && !plan.outer().is_empty()
        {
            let query = Rc::new((*table.query).clone());
            let reading = Reading::Again { query, level: outside.level(), known: known.len() };
            let named = Named::new(&table.name, reading);
            known.push(Named { columns, facts, keeps_names, tables, view, ..named });
            continue;
        }
        let mut reads = reads.into_inner();
        reads.sort_by_key(Arc::as_ptr);
        reads.dedup_by_key(|plan| Arc::as_ptr(plan));
        let name = table.name.clone();
        let plan = CommonPlan { name, locks_exclusively: body.locks_exclusively(), body, reads };
        let reading = Reading::Rows(Arc::new(plan));
        let named = Named::new(&table.name, reading);
        known.push(Named { columns, facts, keeps_names, tables, view, ..named });
    }
    Ok(known)
}

/// Columns, and how the rows are made.
type Planned = (Vec<ScopeColumn>, CommonBody);

fn plain(
    context: &PlanContext<'_>,
    table: &ast::CommonTable,
    parent: Option<Outside<'_>>,
) -> SqlResult<Planned> {
    let mut plan = super::plan_query(context, &table.query, parent)?;
    if !super::from::is_plain_view(&table.query) {
        plan.keep_all_digits();
    }
    Ok((columns(&table.query, &plan, &table.columns)?, CommonBody::Query(plan)))
}

/// The columns of a query's result as a table of FROM; `names`: other names for all of them.
pub fn columns(query: &ast::Query, plan: &QueryPlan, names: &[ast::Name]) -> SqlResult<Vec<ScopeColumn>> {
    let united = !matches!(query.body, QueryBody::Select(_));
    let in_table = || (super::kept::types_in_table(plan, united), super::kept::traits_in_table(plan));
    let kept = (!super::from::is_plain_view(query)).then(in_table);
    named_columns(plan.columns(), kept, names)
}

/// The columns of a result under these names. `kept`: their types and traits in a table that has all rows.
pub fn named_columns(
    result: &[ColumnMeta],
    kept: Option<(Vec<ColumnType>, Vec<Traits>)>,
    names: &[ast::Name],
) -> SqlResult<Vec<ScopeColumn>> {
    if !names.is_empty() && names.len() != result.len() {
        return Err(SqlError::view_columns_mismatch());
    }
    let column = |(nth, meta): (usize, &ColumnMeta)| ScopeColumn {
        name: names.get(nth).cloned().unwrap_or_else(|| meta.name.clone()),
        kind: settled(kept.as_ref().map_or(&meta.column_type, |(kinds, _)| &kinds[nth])),
        traits: kept.as_ref().map_or(meta.traits, |(_, traits)| traits[nth]),
        nullable: meta.flags & column_flag::NOT_NULL == 0,
        flags: meta.flags & (column_flag::NOT_NULL | column_flag::NO_DEFAULT_VALUE),
        hidden: false,
    };
    let columns: Vec<ScopeColumn> = result.iter().enumerate().map(column).collect();
    let mut seen = HashMap::with_capacity(columns.len());
    for column in &columns {
        if let Some(first) = seen.insert(column.name.to_lowercase(), column) {
            // Of names that were written the first is shown, of a query's own the second.
            let shown = if names.is_empty() { column } else { first };
            return Err(SqlError::duplicate_column(&shown.name));
        }
    }
    Ok(columns)
}

fn defines(with: &ast::With, name: &str) -> bool {
    with.tables.iter().any(|one| *one.name == *name)
}

/// What a table goes by in a part of FROM that names it.
fn alias_of<'q>(one: &'q TableRef, name: &str) -> Option<&'q ast::Name> {
    match one {
        TableRef::Table(factor) if factor.name.schema.is_none() && *factor.name.table == *name => {
            Some(factor.alias.as_ref().unwrap_or(&factor.name.table))
        }
        TableRef::Table(_) | TableRef::Derived { .. } => None,
        TableRef::Join(join) => alias_of(&join.left, name).or_else(|| alias_of(&join.right, name)),
    }
}
