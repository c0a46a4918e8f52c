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

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use turnstile_syntax::ast::{self, JoinKind, QueryBody, SetOperator, TableRef};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::sink::ColumnMeta;
use turnstile_values::types::{ColumnType, column_flag};

use super::block::{Block, PlanContext, settled};
use super::grouping::{self, Facts};
use super::query::{CommonBody, CommonPlan, CommonRows, QueryPlan, RecursivePlan, Round, Source, Step};
use super::scope::{Outside, Reach, ScopeColumn};
use super::select::{Around, limit_plan};
use super::union;

/// Errors that end a statement whatever of it is looked at: killed, out of time, of memory or of the stack,
/// nested too deeply.
const ENDS_ALL: [u16; 7] = [1037, 1038, 1041, 1317, 1436, 3024, 1473];

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
    reading: Reading,
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
    /// The query planned for the block that reads it, if it has to be.
    pub fn plan_again(&self, block: &mut Block<'_, '_>) -> SqlResult<Option<QueryPlan>> {
        if let Reading::Failed(error) = &self.reading {
            return Err((**error).clone());
        }
        let Reading::Again { query, level, known } = &self.reading else { return Ok(None) };
        let context = PlanContext { common: &block.context.common[..*known], ..*block.context };
        block.plan_inner_in(&context, query, Reach::From(*level)).map(Some)
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
            Err(error) if ENDS_ALL.contains(&error.code) => return Err(error),
            Err(error) => {
                let reading = Reading::Failed(Box::new(error));
                let (name, facts) = (table.name.clone(), Facts::default());
                known.push(Named { name, columns: Vec::new(), facts, keeps_names: false, reading });
                continue;
            }
        };
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
            known.push(Named { name: table.name.clone(), columns, facts, keeps_names, reading });
            continue;
        }
        let mut reads = reads.into_inner();
        reads.sort_by_key(Arc::as_ptr);
        reads.dedup_by_key(|plan| Arc::as_ptr(plan));
        let plan = CommonPlan { locks_exclusively: body.locks_exclusively(), body, reads };
        let reading = Reading::Rows(Arc::new(plan));
        known.push(Named { name: table.name.clone(), columns, facts, keeps_names, reading });
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
    let result = plan.columns();
    let united = !matches!(query.body, QueryBody::Select(_));
    let in_table = || (super::kept::types_in_table(plan, united), super::kept::traits_in_table(plan));
    let kept = (!super::from::is_plain_view(query)).then(in_table);
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

fn maybe_recursive(
    context: &PlanContext<'_>,
    table: &ast::CommonTable,
    parent: Option<Outside<'_>>,
) -> SqlResult<Planned> {
    let (name, reading) = (table.name.clone(), Reading::Never);
    let itself = Named { name, columns: Vec::new(), facts: Facts::default(), keeps_names: false, reading };
    let known = [context.common, &[itself]].concat();
    let context = PlanContext { common: &known, ..*context };
    let body = &*table.query;
    let hidden = body.with.iter().any(|with| defines(with, &table.name));
    match &body.body {
        QueryBody::SetOperation { first, rest } if !hidden => {
            let members: Vec<&ast::Query> =
                std::iter::once(&**first).chain(rest.iter().map(|(_, member)| member)).collect();
            match members.iter().position(|member| reads(member, &table.name)) {
                None => plain(&context, table, parent),
                Some(0) => Err(SqlError::recursion_without_seed(&table.name)),
                Some(seeds) => recursive(&context, table, &members, seeds),
            }
        }
        _ if !hidden && reads(body, &table.name) => Err(SqlError::recursion_without_union(&table.name)),
        _ => plain(&context, table, parent),
    }
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

/// Whether a block names a table in its own FROM.
fn reads(query: &ast::Query, name: &str) -> bool {
    if query.with.iter().any(|with| defines(with, name)) {
        return false;
    }
    match &query.body {
        QueryBody::Select(select) => select.from.iter().any(|one| alias_of(one, name).is_some()),
        QueryBody::Table(table) => table.schema.is_none() && *table.table == *name,
        QueryBody::SetOperation { .. } | QueryBody::Values(_) => false,
    }
}

/// `context` knows the query as one that cannot be read; `members[..seeds]` do not read it in their FROM.
fn recursive(
    context: &PlanContext<'_>,
    table: &ast::CommonTable,
    members: &[&ast::Query],
    seeds: usize,
) -> SqlResult<Planned> {
    let body = &*table.query;
    let QueryBody::SetOperation { rest, .. } = &body.body else {
        return Err(SqlError::recursion_without_union(&table.name));
    };
    let distinct = is_distinct(&table.name, rest, seeds)?;
    if !body.order_by.is_empty() {
        return Err(SqlError::not_supported_by_mysql(
            "ORDER BY over UNION in recursive Common Table Expression",
        ));
    }
    // A WITH of the body's own comes behind the query itself, and may not read it.
    let at = context.common.len() - 1;
    let deeper = PlanContext { depth: context.depth + 1, ..*context };
    let mut known = match &body.with {
        Some(with) => plan(&deeper, with, None)?,
        None => context.common.to_vec(),
    };
    let context = PlanContext { common: &known, ..deeper };
    let mut first = Vec::with_capacity(seeds);
    for (nth, member) in members[..seeds].iter().enumerate() {
        let operator = if nth == 0 { SetOperator::UnionAll } else { rest[nth - 1].0 };
        first.push((operator, super::plan_query(&context, member, None)?));
    }
    let seed = match first.len() {
        1 => first.remove(0).1,
        _ => union::assemble(&context, first, Around { order_by: &[], limit: None, locking: &[] }, None)?,
    };
    let mut columns = columns(&table.query, &seed, &table.columns)?;
    for column in &mut columns {
        (column.nullable, column.flags) = (true, 0);
        if column.kind == ColumnType::Null {
            column.kind = ColumnType::Varbinary { length: 0 };
        }
    }
    let round = Arc::new(Round);
    let free = Rc::new(Cell::new(true));
    let depth = context.depth + 1;
    known[at].columns.clone_from(&columns);
    known[at].reading = Reading::Previous { round: round.clone(), depth, free: free.clone() };
    let context = PlanContext { common: &known, ..deeper };
    let mut blocks = Vec::with_capacity(members.len() - seeds);
    for member in &members[seeds..] {
        free.set(true);
        blocks.push(recursive_block(&context, table, member, columns.len())?);
    }
    let limit = limit_plan(&mut Block::new(&context, None), body.limit.as_ref())?;
    let plan = RecursivePlan {
        round,
        seed,
        blocks,
        columns: columns.iter().map(|column| (column.name.clone(), column.kind.clone())).collect(),
        distinct,
        limit,
    };
    Ok((columns, CommonBody::Recursive(Box::new(plan))))
}

/// Whether a recursive query throws rows away that it has already. What stands before its first recursive
/// block, the `seeds` blocks, has its own UNION DISTINCT.
fn is_distinct(name: &str, rest: &[(SetOperator, ast::Query)], seeds: usize) -> SqlResult<bool> {
    let mut distinct = false;
    for (nth, (operator, _)) in rest.iter().enumerate() {
        match operator {
            SetOperator::UnionDistinct => distinct |= nth + 1 >= seeds,
            SetOperator::UnionAll if distinct => {
                return Err(SqlError::not_supported_yet(
                    "recursive query blocks with UNION DISTINCT then UNION ALL, in recursive Common Table Expression",
                ));
            }
            SetOperator::UnionAll => {}
            _ => {
                return Err(SqlError::recursion_without_union(name));
            }
        }
    }
    Ok(distinct)
}

fn recursive_block(
    context: &PlanContext<'_>,
    table: &ast::CommonTable,
    member: &ast::Query,
    width: usize,
) -> SqlResult<QueryPlan> {
    if !reads(member, &table.name) {
        return Err(SqlError::recursion_without_seed(&table.name));
    }
    let sorted = match &member.body {
        QueryBody::Select(select) => select.distinct,
        _ => false,
    };
    if sorted || !member.order_by.is_empty() || member.limit.is_some() {
        return Err(SqlError::not_supported_by_mysql(
            "ORDER BY / LIMIT / SELECT DISTINCT in recursive query block of Common Table Expression",
        ));
    }
    if let QueryBody::Select(select) = &member.body
        && let Some(alias) = select.from.iter().find_map(|one| forced_behind(one, &table.name))
    {
        return Err(SqlError::recursion_join_order(alias));
    }
    let plan = super::plan_query(context, member, None)?;
    if plan.columns().len() != width {
        return Err(SqlError::wrong_number_of_columns_in_select());
    }
    if let QueryPlan::Select(select) = &plan {
        if select.group.is_some() {
            return Err(SqlError::recursion_with_aggregate(&table.name));
        }
        if is_optional(&select.steps, false) {
            return Err(SqlError::recursion_join_order(&table.name));
        }
    }
    Ok(plan)
}

/// The alias of a table that STRAIGHT_JOIN puts behind another.
fn forced_behind<'q>(one: &'q TableRef, name: &str) -> Option<&'q ast::Name> {
    let TableRef::Join(join) = one else { return None };
    let behind = if join.kind == JoinKind::Straight { alias_of(&join.right, name) } else { None };
    behind.or_else(|| forced_behind(&join.left, name)).or_else(|| forced_behind(&join.right, name))
}

/// Whether the round before is on the optional side of an outer join.
fn is_optional(steps: &[Step], inside: bool) -> bool {
    steps.iter().any(|step| match &step.source {
        Source::Common(CommonRows::Previous(_)) => inside || step.left_join,
        Source::Group(members) => is_optional(members, true),
        _ => false,
    })
}
