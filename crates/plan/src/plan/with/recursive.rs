//! WITH RECURSIVE: which query is recursive, its first rows and its rounds.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use turnstile_syntax::ast::{self, JoinKind, QueryBody, SetOperator, TableRef};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::types::ColumnType;

use super::super::block::{Block, PlanContext};
use super::super::query::{CommonBody, CommonRows, JoinStep, QueryPlan, RecursivePlan, Round, Source};
use super::super::scope::Outside;
use super::super::select::{Around, limit_plan};
use super::super::union;
use super::{Named, Planned, Reading, alias_of, columns, defines, plain, plan};

pub(super) fn maybe_recursive(
    context: &PlanContext<'_>,
    table: &ast::CommonTable,
    parent: Option<Outside<'_>>,
) -> SqlResult<Planned> {
    let itself = Named::new(&table.name, Reading::Never);
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

/// Whether a block names a table in its own FROM.
pub(super) fn reads(query: &ast::Query, name: &str) -> bool {
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
pub(super) fn recursive(
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
        first.push((operator, crate::plan::plan_query(&context, member, None)?));
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
    let plan = crate::plan::plan_query(context, member, None)?;
    if plan.columns().len() != width {
        return Err(SqlError::wrong_number_of_columns_in_select());
    }
    if let QueryPlan::Select(select) = &plan {
        if select.group.is_some() || !select.windows.is_empty() {
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
fn is_optional(steps: &[JoinStep], inside: bool) -> bool {
    steps.iter().any(|step| match &step.source {
        Source::Common(CommonRows::Previous(_)) => inside || step.left_join,
        Source::Group(members) => is_optional(members, true),
        _ => false,
    })
}
