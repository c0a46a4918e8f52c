//! MIN and MAX that lie at the ends of keys: `SELECT MIN(a), MAX(b) FROM t` reads one entry for each.
//!
//! Each of them gets a place of its own in the tuple, which is filled by a look at one end of a key, and its
//! argument becomes that place; then the one tuple goes into the group as any other. It is done where nothing
//! of the table is wanted besides, and where the range of the key is all that the conditions say, so that the
//! first entry which has a value is the one.

use std::ops::Range;

use turnstile_expr::expr::{AggregateKind, CompareOp, Expr};
use turnstile_syntax::ast::IsTest;
use turnstile_values::types::ColumnType;

use super::super::block::Block;
use super::super::query::{
    Access, Aggregate, Extreme, Filter, JoinStep, KeyRange, SelectPlan, Source, TableSource,
};
use super::{readable_columns, used_behind};

/// Lets a block of MIN and MAX read the ends of keys, if all of them lie there.
pub(in super::super) fn read_ends(block: &Block<'_, '_>, plan: &mut SelectPlan) {
    let Some(mut extremes) = ends(plan) else { return };
    let Some(group) = plan.group.as_mut() else { return };
    let mut before = Vec::with_capacity(extremes.len());
    for (aggregate, extreme) in group.aggregates.iter_mut().zip(&mut extremes) {
        extreme.place = block.scope.reserve(1);
        let argument = &mut aggregate.arguments[0].expr;
        let at = match argument {
            Expr::TimestampColumn(_) => Expr::TimestampColumn(extreme.place),
            _ => Expr::Column(extreme.place),
        };
        before.push(std::mem::replace(argument, at));
    }
    let own = plan.steps.first().map_or(0..0, |step| step.base..step.base + step.columns);
    if used_behind(plan).range(own).next().is_some() {
        // Something else of the table is wanted.
        let aggregates = plan.group.iter_mut().flat_map(|group| &mut group.aggregates);
        for (aggregate, argument) in aggregates.zip(before) {
            aggregate.arguments[0].expr = argument;
        }
        return;
    }
    plan.extremes = extremes;
    if let Some(JoinStep { source: Source::Table(source), .. }) = plan.steps.first_mut() {
        // Nothing is left to choose between, for whatever values.
        (source.access, source.counted) = (Access::full(), false);
        source.also.clear();
        source.within.clear();
        source.offers.clear();
    }
}

/// Where the values of all aggregates lie, if each lies at the end of a key.
fn ends(plan: &SelectPlan) -> Option<Vec<Extreme>> {
    let [step] = plan.steps.as_slice() else { return None };
    let Source::Table(source) = &step.source else { return None };
    let group = plan.group.as_ref().filter(|group| group.implicit && plan.windows.is_empty())?;
    if group.aggregates.is_empty() || !step.light || !is_simple_step(step) {
        return None;
    }
    group.aggregates.iter().map(|aggregate| end_of(source, step, aggregate)).collect()
}

/// Its conditions are comparisons of single columns with what is known before.
fn is_simple_step(step: &JoinStep) -> bool {
    let own = step.base..step.base + step.columns;
    !step.left_join && each_filter(step).all(|one| one.subqueries.is_empty() && is_simple(&one.expr, &own))
}

fn each_filter(step: &JoinStep) -> impl Iterator<Item = &Filter> {
    step.matching.iter().chain(&step.filters)
}

fn is_simple(expr: &Expr, own: &Range<usize>) -> bool {
    let column = |one: &Expr| matches!(one, Expr::Column(at) | Expr::TimestampColumn(at) if own.contains(at));
    let known = |one: &Expr| !one.varies() && !one.columns().iter().any(|at| own.contains(at));
    match expr {
        Expr::And(list) => list.iter().all(|one| is_simple(one, own)),
        Expr::Compare { op, left, right, .. } => {
            *op != CompareOp::NotEqual && (column(left) && known(right) || column(right) && known(left))
        }
        Expr::Between { operand, low, high, negated: false, .. } => {
            column(operand) && known(low) && known(high)
        }
        Expr::Is { operand, test: IsTest::Null, .. } => column(operand),
        _ => false,
    }
}

/// The end of a key where an aggregate's value lies.
fn end_of(source: &TableSource, step: &JoinStep, aggregate: &Aggregate) -> Option<Extreme> {
    let largest = match aggregate.kind {
        AggregateKind::Min => false,
        AggregateKind::Max => true,
        _ => return None,
    };
    let (Expr::Column(at) | Expr::TimestampColumn(at)) = aggregate.arguments.first()?.expr else {
        return None;
    };
    let column = at.checked_sub(step.base)?;
    let of = source.table.columns().get(column)?;
    // A key has members of an ENUM in the order of their numbers, MIN and MAX go by their texts.
    if matches!(of.kind, ColumnType::Enum { .. } | ColumnType::Set { .. })
        || of.kind.collation().is_some_and(|own| own != aggregate.collation)
    {
        return None;
    }
    let keys = (0..source.table.keys().len()).filter(|nth| source.may_use(*nth));
    let (key, range) = keys.into_iter().find_map(|key| Some((key, range(source, step, key, column)?)))?;
    let parts = &source.table.keys()[key].parts;
    let part = parts.iter().find(|part| part.column == column)?;
    let access =
        Access { key: Some(key), ranges: vec![range], reverse: largest != part.descending, unique: false };
    let mut needed: Vec<usize> = each_filter(step)
        .flat_map(|one| one.expr.columns())
        .filter_map(|at| at.checked_sub(step.base).filter(|column| *column < step.columns))
        .chain([column])
        .collect();
    needed.sort_unstable();
    needed.dedup();
    let readable = readable_columns(&source.table, key);
    let primary = source.table.keys()[key].primary;
    let covering = !primary && source.locking.is_none() && needed.iter().all(|at| readable.contains(at));
    let reads = TableSource::reading(source, access, needed, covering);
    Some(Extreme { place: 0, column, source: Box::new(reads) })
}

/// The range of a key at one end of which the smallest or the largest value of a column lies, under the
/// conditions of the step.
fn range(source: &TableSource, step: &JoinStep, key: usize, column: usize) -> Option<KeyRange> {
    let parts = &source.table.keys()[key].parts;
    let offer = source.offers.iter().find(|offer| offer.access.key == Some(key));
    let range = match offer.map(|offer| offer.access.ranges.as_slice()) {
        Some([range]) if range.like.is_none() => range.clone(),
        Some(_) => return None,
        None => KeyRange::default(),
    };
    let equal = range.equal.len();
    let reached = &parts[..(equal + 1).min(parts.len())];
    let nth = reached.iter().position(|part| part.column == column)?;
    // NULL is no value: rows that have it would be gone through.
    if reached.iter().any(|part| part.prefix.is_some()) || nth < equal && range.equal[nth].null_safe {
        return None;
    }
    let within = |at: usize| reached.iter().any(|part| step.base + part.column == at);
    let own = step.base..step.base + step.columns;
    let all = each_filter(step).flat_map(|one| one.expr.columns()).filter(|at| own.contains(at)).all(within);
    all.then_some(KeyRange { present: nth == equal, ..range })
}
