//! `SELECT DISTINCT a FROM t`, `SELECT a, MIN(b) FROM t GROUP BY a` and `SELECT COUNT(DISTINCT a) FROM t` by
//! a key `(a, b, ...)`: one entry of each group is read, or the two where b is smallest and largest, and a
//! new descent finds the next group.
//!
//! What is left out are entries that would change nothing: DISTINCT, aggregates of different values and
//! groups themselves ask only whether a value is there. So the rows that are read go the way of all rows. A
//! condition may speak of what a group has in common only, and only where equal means the same bytes.

use std::collections::BTreeSet;

use turnstile_catalog::dictionary::Table;
use turnstile_expr::expr::{AggregateKind, Expr};
use turnstile_values::types::ColumnType;

use super::super::query::{
    Access, Aggregate, Candidate, GroupPlan, JoinStep, KeyRange, Loose, SelectPlan, Source, TableSource,
};

/// A descent to the next group costs so many entries read one after another.
const JUMP: f64 = 6.0;

/// What of a table a block wants, where one row of each group will do.
struct Wanted {
    /// Columns that a group has in common.
    common: BTreeSet<usize>,
    /// The column whose smallest or largest value is wanted.
    extreme: Option<usize>,
    smallest: bool,
    largest: bool,
}

/// Reads the only table of a block from group to group, where that is cheaper.
pub(super) fn jump(plan: &mut SelectPlan) {
    let [step] = plan.steps.as_slice() else { return };
    let Source::Table(source) = &step.source else { return };
    let plain = source.locking.is_none()
        && source.also.is_empty()
        && source.within.is_empty()
        && plan.extremes.is_empty();
    if !plain || !plan.windows.is_empty() {
        return;
    }
    let Some(wanted) = wanted(plan, step) else { return };
    let Some(tested) = tested(step) else { return };
    let keys = (0..source.table.keys().len())
        .filter(|nth| source.may_use(*nth) && !source.forbidden_groups.contains(nth));
    let ways = keys.filter_map(|key| by_key(plan, source, key, &wanted, &tested));
    let Some((cost, found)) = ways.min_by(|a, b| a.0.total_cmp(&b.0)) else { return };
    if cost >= source.rows {
        return;
    }
    if let Some(JoinStep { source: Source::Table(source), .. }) = plan.steps.first_mut() {
        (source.access, source.loose, source.rows) = (found.access, Some(found.loose), found.rows);
        source.counted = false;
    }
}

struct Found {
    access: Access,
    loose: Loose,
    rows: f64,
}

/// The column of the step's table that an expression is.
fn column(step: &JoinStep, expr: &Expr) -> Option<usize> {
    match expr {
        Expr::Column(at) | Expr::TimestampColumn(at) => {
            at.checked_sub(step.base).filter(|column| *column < step.columns)
        }
        _ => None,
    }
}

/// An expression that reads nothing of the table and is the same for all its rows.
fn is_constant(step: &JoinStep, expr: &Expr) -> bool {
    let own = step.base..step.base + step.columns;
    !expr.varies() && !expr.columns().iter().any(|at| own.contains(at))
}

fn wanted(plan: &SelectPlan, step: &JoinStep) -> Option<Wanted> {
    let mut wanted = Wanted { common: BTreeSet::new(), extreme: None, smallest: false, largest: false };
    match &plan.group {
        None if plan.distinct => {
            let sorted = plan.order.iter().map(|key| &key.expr);
            for expr in plan.items.iter().map(|item| &item.expr).chain(sorted) {
                match column(step, expr) {
                    Some(column) => _ = wanted.common.insert(column),
                    None if is_constant(step, expr) => {}
                    None => return None,
                }
            }
        }
        None => return None,
        Some(group) => of_groups(plan, step, group, &mut wanted)?,
    }
    // Whatever else is read is of the group, too.
    let own = step.base..step.base + step.columns;
    let mut behind: BTreeSet<usize> = super::used_behind(plan).range(own).map(|at| at - step.base).collect();
    behind.retain(|column| !wanted.common.contains(column) && wanted.extreme != Some(*column));
    (behind.is_empty() && !wanted.common.is_empty()).then_some(wanted)
}

fn of_groups(plan: &SelectPlan, step: &JoinStep, group: &GroupPlan, wanted: &mut Wanted) -> Option<()> {
    if !group.rollup.is_empty() || !group.subqueries.is_empty() {
        return None;
    }
    for (key, _) in &group.keys {
        match column(step, key) {
            Some(column) => _ = wanted.common.insert(column),
            None if is_constant(step, key) => {}
            None => return None,
        }
    }
    let keys = wanted.common.clone();
    let mut extremes = Vec::new();
    for aggregate in &group.aggregates {
        match aggregate.kind {
            AggregateKind::Min | AggregateKind::Max => extremes.push(aggregate),
            AggregateKind::Count | AggregateKind::Sum | AggregateKind::Average if aggregate.distinct => {
                for argument in &aggregate.arguments {
                    wanted.common.insert(column(step, &argument.expr)?);
                }
            }
            _ => return None,
        }
    }
    let counts = wanted.common.len() > keys.len();
    for aggregate in extremes {
        end(step, aggregate, wanted, counts)?;
    }
    // Behind the groups there is nothing but their keys: any row's value of another column would be another
    // row's.
    let own = step.base..step.base + step.columns;
    let shown = plan.items.iter().map(|item| &item.expr).chain(plan.order.iter().map(|key| &key.expr));
    let shown = shown.chain(plan.having.iter().map(|one| &one.expr)).flat_map(Expr::columns);
    let asked = plan.subqueries.iter().flat_map(|one| one.reads.iter().copied());
    let mut read = shown.chain(asked).filter(|at| own.contains(at)).map(|at| at - step.base);
    read.all(|column| keys.contains(&column)).then_some(())
}

/// MIN or MAX of a column: of one that the group has in common, or of the one behind.
fn end(step: &JoinStep, aggregate: &Aggregate, wanted: &mut Wanted, counts: bool) -> Option<()> {
    let column = column(step, &aggregate.arguments.first()?.expr)?;
    if wanted.common.contains(&column) {
        return Some(());
    }
    if counts || wanted.extreme.is_some_and(|known| known != column) {
        return None;
    }
    wanted.extreme = Some(column);
    match aggregate.kind {
        AggregateKind::Min => wanted.smallest = true,
        _ => wanted.largest = true,
    }
    let Source::Table(source) = &step.source else { return None };
    let kind = &source.table.columns().get(column)?.kind;
    // A key has members of an ENUM in the order of their numbers, MIN and MAX go by their texts.
    let numbered = matches!(kind, ColumnType::Enum { .. } | ColumnType::Set { .. });
    let same = kind.collation().is_none_or(|own| own == aggregate.collation);
    (!numbered && same).then_some(())
}

/// Columns that conditions speak of; None if one could tell rows of a group apart by anything else.
fn tested(step: &JoinStep) -> Option<BTreeSet<usize>> {
    let mut tested = BTreeSet::new();
    for filter in step.matching.iter().chain(&step.filters) {
        if !filter.subqueries.is_empty() || filter.expr.varies() {
            return None;
        }
        let own = filter.expr.columns().into_iter().filter_map(|at| at.checked_sub(step.base));
        tested.extend(own.filter(|column| *column < step.columns));
    }
    Some(tested)
}

/// Whether equal values of a column are the same in everything.
fn is_exact(table: &Table, key: usize, nth: usize) -> bool {
    let codec = &table.key_parts[key][nth];
    codec.is_decodable() && !matches!(codec.kind, ColumnType::Float { .. } | ColumnType::Double { .. })
}

/// What reading by a key from group to group costs, in entries read one after another.
fn by_key(
    plan: &SelectPlan,
    source: &TableSource,
    key: usize,
    wanted: &Wanted,
    tested: &BTreeSet<usize>,
) -> Option<(f64, Found)> {
    let table = &source.table;
    let definition = &table.keys()[key];
    let offer: Option<&Candidate> = source.offers.iter().find(|offer| offer.access.key == Some(key));
    let ranges = offer.map_or_else(|| vec![KeyRange::default()], |offer| offer.access.ranges.clone());
    let rows = offer.map_or(source.table_rows, |offer| offer.rows);
    let equal = if let [range] = ranges.as_slice() { range.equal.len() } else { 0 };
    // The first parts that have all that is wanted.
    let place = |column: usize| definition.parts.iter().position(|part| part.column == column);
    let places = wanted.common.iter().map(|column| place(*column)).collect::<Option<Vec<usize>>>()?;
    let parts = places.iter().max()? + 1;
    let served = |nth: usize| nth < equal || wanted.common.contains(&definition.parts[nth].column);
    let in_prefix = |column: usize| place(column).is_some_and(|nth| nth < parts);
    let whole = |nth: usize| definition.parts[nth].prefix.is_none();
    let mut shared = (0..parts).all(|nth| served(nth) && whole(nth));
    shared &= tested.iter().all(|column| in_prefix(*column));
    shared &= tested.is_empty() || (0..parts).all(|nth| is_exact(table, key, nth));
    let reach = |range: &KeyRange| range.equal.len() + usize::from(range.is_bounded());
    shared &= ranges.iter().all(|range| reach(range) <= parts);
    if let Some(column) = wanted.extreme {
        shared &= place(column) == Some(parts) && whole(parts);
    }
    // In order of the rows, or backwards.
    let same = source.access.key == Some(key);
    shared &= !plan.in_order || same;
    if !shared {
        return None;
    }
    let known = table.counters.statistics.known()?;
    let each = known.rows_per_value(definition.index, parts, source.table_rows)?;
    let groups = (rows / each).max(1.0);
    let ends = 1.0 + f64::from(u8::from(wanted.smallest)) + f64::from(u8::from(wanted.largest));
    let reverse = plan.in_order && source.access.reverse;
    let access = Access { key: Some(key), ranges, reverse, unique: false };
    let loose = Loose { parts, smallest: wanted.smallest, largest: wanted.largest };
    Some((groups * ends * JUMP, Found { access, loose, rows: groups }))
}
