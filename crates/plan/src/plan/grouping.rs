//! ONLY_FULL_GROUP_BY: what a grouped block selects must be the same for all rows of a group.
//!
//! A column is determined if it is grouped by, or if the grouped columns (with those that WHERE sets equal to
//! a constant) contain a whole primary or unique NOT NULL key of its table.

mod equality;

use std::collections::HashSet;

use turnstile_catalog::dictionary::Table;
use turnstile_expr::expr::Expr;
use turnstile_syntax::{ast, walk};
use turnstile_values::error::{SqlError, SqlResult};

use super::block::Block;
use super::query::{GroupPlan, QueryPlan, SelectPlan, Source};
use super::same::Alike;
use super::scope::ScopeTable;
use super::select::Item;
use super::{aggregate, names};
use equality::{Equality, collect_joins, collect_optional, sides, varies};

/// What of a grouped block is checked.
pub struct Clauses<'c> {
    /// The select list.
    pub items: &'c [Item],
    /// HAVING, names replaced.
    pub having: Option<&'c ast::Expr>,
    /// ORDER BY, names replaced.
    pub order_by: &'c [ast::Expr],
}

/// What is the same for all rows of a group.
struct Fixed {
    /// Whole expressions; for what stands behind the select list its entries too, which are checked
    /// themselves.
    exprs: Alike,
    /// Columns, by tuple position.
    columns: HashSet<usize>,
    /// The keys of GROUP BY, for parts of window functions: each is an entry of its own.
    keys: Alike,
}

/// Checks the select list, HAVING and ORDER BY of a grouped block.
pub fn check(
    block: &Block<'_, '_>,
    select: &ast::Select,
    clauses: &Clauses<'_>,
    has_keys: bool,
) -> SqlResult<()> {
    let mut exprs = Vec::with_capacity(select.group_by.len());
    for key in &select.group_by {
        exprs.push(names::group_key(block, &key.expr, clauses.items)?);
    }
    let columns = determined(block, select, &exprs);
    let mut keys = Alike::of(block, &exprs);
    let mut fixed = Fixed { exprs: Alike::default(), columns, keys: Alike::of(block, &exprs) };
    for (nth, item) in clauses.items.iter().enumerate() {
        let free = if keys.have(block, &item.expr) { None } else { free_column(block, &item.expr, &fixed) };
        let Some(column) = free else { continue };
        return Err(if has_keys {
            SqlError::mixed_with_group(nth + 1, "SELECT list", &column)
        } else {
            SqlError::mixed_group_column(nth + 1, column)
        });
    }
    if !has_keys {
        return Ok(());
    }
    keys.extend(block, clauses.items.iter().map(|item| &item.expr));
    fixed.exprs = keys;
    let having = clauses.having.map(|condition| ("HAVING clause", 1, condition));
    let order = clauses.order_by.iter().enumerate().map(|(nth, key)| ("ORDER BY clause", nth + 1, key));
    for (place, nth, expr) in having.into_iter().chain(order) {
        if let Some(column) = free_column(block, expr, &fixed) {
            return Err(SqlError::mixed_with_group(nth, place, &column));
        }
    }
    Ok(())
}

/// What is known of the rows of a query's result, by positions of its columns.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// Sets of columns of which no two rows have the same values.
    pub unique: Vec<Vec<usize>>,
    /// What columns depend on others.
    pub dependences: Vec<Dependence>,
}

/// Rows with the same values in some columns have the same values in others.
#[derive(Debug, Clone)]
pub struct Dependence {
    /// These; none if the others have always the same values.
    pub from: Vec<usize>,
    /// The others.
    pub to: Vec<usize>,
    /// The others are expressions without columns.
    pub constant: bool,
}

/// What is known of the rows of a query.
pub fn facts(plan: &QueryPlan) -> Facts {
    match plan {
        QueryPlan::Select(select) => {
            Facts { unique: unique_columns(select), dependences: select.dependences.clone() }
        }
        _ => Facts::default(),
    }
}

/// Columns looked at one by one for others that depend on them; a wider result has keys.
const COLUMNS_ALONE: usize = 64;

/// Which columns of a block's result depend on others: what its keys and conditions tell of its tables holds
/// for its rows.
pub fn dependences(block: &Block<'_, '_>, select: &ast::Select, items: &[Item]) -> Vec<Dependence> {
    if select.with_rollup {
        return Vec::new();
    }
    let alone = items.iter().enumerate().filter(|(_, item)| position(block, &item.expr).is_some());
    let alone: Vec<Vec<usize>> = alone.map(|(nth, _)| vec![nth]).take(COLUMNS_ALONE).collect();
    let without_columns =
        |item: &Item| !walk::any(&item.expr, &|part| matches!(part, ast::Expr::Column(_)) || part.is_query());
    let constants = items
        .iter()
        .enumerate()
        .filter(|(_, item)| without_columns(item) && !walk::any(&item.expr, &is_of_group));
    let constants = constants.map(|(nth, _)| nth).collect();
    let mut found = vec![Dependence { from: Vec::new(), to: constants, constant: true }];
    for from in std::iter::once(Vec::new()).chain(alone) {
        let keys: Vec<ast::Expr> = from.iter().map(|nth| items[*nth].expr.clone()).collect();
        let columns = determined(block, select, &keys);
        let fixed = Fixed { exprs: Alike::default(), columns, keys: Alike::default() };
        let depends = |(nth, item): (usize, &Item)| {
            let same = !from.contains(&nth)
                && !walk::any(&item.expr, &is_of_group)
                && free_column(block, &item.expr, &fixed).is_none();
            same.then_some(nth)
        };
        let to: Vec<usize> = items.iter().enumerate().filter_map(depends).collect();
        if !to.is_empty() {
            found.push(Dependence { from, to, constant: false });
        }
    }
    found
}

/// Whether a part of an expression has a value of its own for each group.
fn is_of_group(expr: &ast::Expr) -> bool {
    matches!(expr, ast::Expr::Function(call) if aggregate::is_aggregate(call) || aggregate::takes_any(call))
}

/// Sets of columns of a query's result of which no two rows have the same values: the keys of its GROUP BY,
/// all columns of a DISTINCT, a unique key of its only table.
fn unique_columns(plan: &SelectPlan) -> Vec<Vec<usize>> {
    let mut found = Vec::new();
    if plan.distinct {
        found.push((0..plan.items.len()).collect());
    }
    match &plan.group {
        Some(group) if !group.rollup.is_empty() => {}
        Some(group) => found.extend(group_columns(plan, group)),
        None => {
            let [step] = plan.steps.as_slice() else { return found };
            let Source::Table(source) = &step.source else { return found };
            let exprs: Vec<&Expr> = plan.items.iter().map(|item| &item.expr).collect();
            found.extend(unique_keys(&exprs, &source.table, step.base));
        }
    }
    found
}

/// Where a select list has all parts of a unique key of its only table, whose columns lie from `base` on.
pub fn unique_keys(items: &[&Expr], table: &Table, base: usize) -> Vec<Vec<usize>> {
    let item_of = |position: usize| {
        let is =
            |item: &&Expr| matches!(item, Expr::Column(at) | Expr::TimestampColumn(at) if *at == position);
        items.iter().position(is)
    };
    let mut found = Vec::new();
    for key in table.keys().iter().filter(|key| key.unique) {
        let mut parts = key.parts.iter();
        let sure = parts.all(|part| part.prefix.is_none() && !table.columns()[part.column].nullable);
        let columns: Option<Vec<usize>> = key.parts.iter().map(|part| item_of(base + part.column)).collect();
        found.extend(columns.filter(|_| sure));
    }
    found
}

/// Where the select list has the keys of GROUP BY, if it has them all.
fn group_columns(plan: &SelectPlan, group: &GroupPlan) -> Option<Vec<usize>> {
    let item = |key: &Expr| {
        let text = format!("{key:?}");
        plan.items.iter().position(|item| format!("{:?}", item.expr) == text)
    };
    group.keys.iter().map(|(key, _)| item(key)).collect()
}

fn position(block: &Block<'_, '_>, expr: &ast::Expr) -> Option<usize> {
    let ast::Expr::Column(name) = expr else { return None };
    block.scope.find_here(name).ok().flatten().map(|found| found.position)
}

fn determined(block: &Block<'_, '_>, select: &ast::Select, keys: &[ast::Expr]) -> HashSet<usize> {
    let mut known: HashSet<usize> = keys.iter().filter_map(|key| position(block, key)).collect();
    if select.with_rollup {
        // A row that sums over a key has no value of it to determine others by.
        return known;
    }
    let mut equalities = Vec::new();
    let mut list = Vec::new();
    select.condition.iter().for_each(|one| walk::conjuncts(one.clone(), &mut list));
    equalities.extend(list.into_iter().map(|condition| Equality { condition, optional: None }));
    let mut seen = 0;
    select.from.iter().for_each(|one| collect_joins(one, &mut seen, None, &mut equalities));
    let mut optional = Vec::new();
    select.from.iter().for_each(|one| collect_optional(one, false, &mut optional));
    for (hidden, shown) in &block.scope.merged {
        if known.contains(shown) {
            known.insert(*hidden);
        }
    }
    loop {
        let before = known.len();
        for Equality { condition, optional } in &equalities {
            let Some((left, right)) = sides(condition) else { continue };
            for (one, other) in [(left, right), (right, left)] {
                let Some(told) = position(block, one) else { continue };
                let is_told = optional.is_none_or(|(from, to)| {
                    block.scope.tables[from..to]
                        .iter()
                        .any(|table| (table.base..table.base + table.columns.len()).contains(&told))
                });
                let fixed = match position(block, other) {
                    Some(at) => known.contains(&at),
                    None => optional.is_none() && !walk::any(other, &varies),
                };
                if fixed && is_told {
                    known.insert(told);
                }
            }
        }
        for (nth, table) in block.scope.tables.iter().enumerate() {
            // What is merged into the block that reads it; rows that are kept have their keys.
            let told = table.facts.dependences.iter().filter(|_| table.keeps_names);
            for Dependence { from, to, constant } in told {
                // An outer join puts NULL for what is always the same otherwise, also for constants, which
                // MySQL takes for such all the same.
                let filled = !constant
                    && optional.get(nth) == Some(&true)
                    && from.iter().all(|column| table.columns[*column].nullable);
                if !filled && from.iter().all(|column| known.contains(&(table.base + column))) {
                    known.extend(to.iter().map(|column| table.base + column));
                }
            }
            if has_whole_key(table, &known) {
                known.extend(table.base..table.base + table.columns.len());
            }
        }
        if known.len() == before {
            return known;
        }
    }
}

fn has_whole_key(table: &ScopeTable, known: &HashSet<usize>) -> bool {
    let holds = |columns: &Vec<usize>| columns.iter().all(|column| known.contains(&(table.base + column)));
    if table.facts.unique.iter().any(holds) {
        return true;
    }
    let Some(found) = &table.stored else { return false };
    let sure = |column: usize| known.contains(&(table.base + column)) && !found.columns()[column].nullable;
    found
        .keys()
        .iter()
        .any(|key| key.unique && key.parts.iter().all(|part| part.prefix.is_none() && sure(part.column)))
}

/// A column that rows of one group may differ in, as `schema.table.column`.
fn free_column(block: &Block<'_, '_>, expr: &ast::Expr, fixed: &Fixed) -> Option<String> {
    if fixed.exprs.have(block, expr) {
        return None;
    }
    if let ast::Expr::Function(call) = expr
        && (aggregate::is_aggregate(call) || aggregate::takes_any(call) || &*call.name == "grouping")
    {
        return None;
    }
    let named = |at: usize| {
        let (table, column) = block.scope.column_at(at)?;
        let schema = if table.schema.is_empty() { String::new() } else { format!("{}.", table.schema) };
        (!fixed.columns.contains(&at)).then(|| format!("{schema}{}.{}", table.alias, column.name))
    };
    if let Some(at) = position(block, expr) {
        return named(at);
    }
    if let Some(read) = reads_of_subquery(block, expr) {
        return read.into_iter().find_map(named);
    }
    let in_window = matches!(expr, ast::Expr::Function(call) if call.over.is_some());
    let mut found = None;
    walk::children(expr, &mut |child| {
        if found.is_none() && !(in_window && fixed.keys.have(block, child)) {
            found = free_column(block, child, fixed);
        }
    });
    found
}

/// Tuple positions that a sub-query reads, its operand's included.
fn reads_of_subquery(block: &Block<'_, '_>, expr: &ast::Expr) -> Option<Vec<usize>> {
    let (_, places) = block.seen_subqueries.alike(expr).next_back()?;
    let place = places.first()?;
    Some(block.reads(&place.expr))
}
