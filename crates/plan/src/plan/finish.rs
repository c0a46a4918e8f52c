//! The last pass over a planned block: which columns every table must deliver, whether an index has them all,
//! and whether it can deliver the order.

mod entries;
pub(super) mod extremes;
mod grouped;
mod loose;
mod weights;

use std::collections::BTreeSet;

use turnstile_catalog::dictionary::Table;
use turnstile_expr::expr::Expr;
use turnstile_values::key_codec::KeyPart;

use super::block::PlanContext;
use super::query::{
    Access, Costed, Filter, JoinStep, KeyRange, OrderKey, SelectPlan, Source, Subquery, TableSource,
    each_table,
};
use super::stand_in;
use super::trace;
use super::windows::WindowPlan;

/// Completes a plan.
pub fn finish(plan: &mut SelectPlan, context: &PlanContext<'_>) {
    let used = used_columns(plan);
    let order = wanted_order(plan, context);
    let passes = plan.group.is_none() && plan.windows.is_empty();
    let limited = plan.limit.count.is_some() && passes && !plan.distinct;
    let wanted = limited.then(|| plan.limit.rows(context.eval));
    let competes = context.ways.reads_in_order;
    if let Some(first) = plan.steps.first_mut()
        && let Source::Table(source) = &mut first.source
    {
        let before = source.access.key;
        if let Some(order) = order
            && use_order(source, first.base, &order, (wanted, competes), &used)
        {
            plan.order.clear();
            plan.in_order = true;
            if let Some(trace) = context.trace {
                trace::ordered(trace, source, &first.alias, before);
            }
        }
        if source.locking.is_none() {
            read_entries(source, first.base, &used);
        }
    }
    loose::jump(plan);
    grouped::arrange(plan, &used, context);
    deliver(&mut plan.steps, &used);
    entries::push(&mut plan.steps);
    each_table(&mut plan.steps, &mut |source, _| weights::note(source));
}

/// ORDER BY as it must come out of the first table: (tuple position, descending).
fn wanted_order(plan: &SelectPlan, context: &PlanContext<'_>) -> Option<Vec<(usize, bool)>> {
    if plan.order.is_empty() || plan.group.is_some() || !plan.windows.is_empty() {
        return None;
    }
    let first = plan.steps.first().and_then(|step| match &step.source {
        Source::Table(source) => Some((&source.table, step.base)),
        _ => None,
    });
    let column = |key: &OrderKey| match &key.expr {
        Expr::Column(at) | Expr::TimestampColumn(at) => Some((*at, key.descending)),
        expr => {
            let (table, base) = first?;
            let column = stand_in::column_for(table, base, expr, context.parameters)?;
            let own = table.columns()[column].kind.collation();
            let same = own.is_none_or(|collation| collation == key.collation);
            same.then_some((base + column, key.descending))
        }
    };
    plan.order.iter().map(column).collect()
}

fn note(expr: &Expr, into: &mut BTreeSet<usize>) {
    into.extend(expr.columns());
}

fn note_filters(filters: &[Filter], into: &mut BTreeSet<usize>) {
    filters.iter().for_each(|one| note(&one.expr, into));
}

/// Tuple positions that anything reads.
fn used_columns(plan: &SelectPlan) -> BTreeSet<usize> {
    let mut used = used_behind(plan);
    note_filters(&plan.preconditions, &mut used);
    note_steps(&plan.steps, &mut used);
    used
}

/// Tuple positions that are read once the steps have run.
fn used_behind(plan: &SelectPlan) -> BTreeSet<usize> {
    let mut used = BTreeSet::new();
    plan.items.iter().for_each(|one| note(&one.expr, &mut used));
    plan.order.iter().for_each(|one| note(&one.expr, &mut used));
    note_filters(&plan.having, &mut used);
    plan.subqueries.iter().for_each(|one| note_subquery(one, &mut used));
    if let Some(group) = &plan.group {
        group.keys.iter().for_each(|(expr, _)| note(expr, &mut used));
        for aggregate in &group.aggregates {
            aggregate.arguments.iter().for_each(|one| note(&one.expr, &mut used));
            aggregate.order.iter().for_each(|one| note(&one.expr, &mut used));
        }
    }
    plan.windows.iter().flat_map(WindowPlan::exprs).for_each(|one| note(one, &mut used));
    used
}

/// Tuple positions that conditions and access paths read.
pub fn tested_columns(plan: &SelectPlan) -> BTreeSet<usize> {
    let mut tested = BTreeSet::new();
    note_filters(&plan.preconditions, &mut tested);
    note_filters(&plan.having, &mut tested);
    note_steps(&plan.steps, &mut tested);
    tested
}

fn note_subquery(subquery: &Subquery, used: &mut BTreeSet<usize>) {
    used.extend(&subquery.reads);
    subquery.kind.operands().iter().for_each(|operand| note(operand, used));
}

fn note_steps(steps: &[JoinStep], used: &mut BTreeSet<usize>) {
    for step in steps {
        note_filters(&step.matching, used);
        note_filters(&step.filters, used);
        step.hash.iter().for_each(|(expr, at, _)| {
            note(expr, used);
            used.insert(step.base + at);
        });
        match &step.source {
            Source::Group(inner) => note_steps(inner, used),
            Source::Table(source) => {
                for range in source.also.iter().chain([&source.access]).flat_map(|access| &access.ranges) {
                    range.operands().for_each(|operand| note(&operand.expr, used));
                }
            }
            Source::Lateral(plan) | Source::Expanded(plan, _) => {
                used.extend(plan.outer().iter().map(|(there, _)| there))
            }
            Source::Derived(_) | Source::Distinct(_) | Source::Common(_) | Source::Virtual(_) => {}
        }
    }
}

fn deliver(steps: &mut [JoinStep], used: &BTreeSet<usize>) {
    each_table(steps, &mut |source, places| {
        source.needed = used.range(places.clone()).map(|at| at - places.start).collect();
        if source.locking.is_none() {
            cover(source);
        }
    });
}

/// Which columns entries of a key hold in a form that can be read back.
pub fn readable_columns(table: &Table, key: usize) -> Vec<usize> {
    let columns = |nth: usize| {
        let parts = table.keys()[nth].parts.iter().zip(&table.key_parts[nth]);
        // What lies behind an undecodable part cannot be reached.
        parts.take_while(|(_, codec)| codec.is_decodable()).map(|(part, _)| part.column)
    };
    let whole = |nth: usize| table.key_parts[nth].iter().all(KeyPart::is_decodable);
    let mut found: Vec<usize> = columns(key).collect();
    if let Some(primary) = table.primary()
        && primary != key
        && whole(key)
    {
        found.extend(columns(primary));
    }
    found
}

fn cover(source: &mut TableSource) {
    if !source.also.is_empty() {
        return;
    }
    let table = &source.table;
    let covers = |key: usize| {
        let readable = readable_columns(table, key);
        source.needed.iter().all(|column| readable.contains(column))
    };
    match source.access.key {
        Some(key) if !table.keys()[key].primary => source.covering = covers(key),
        Some(_) => {}
        None => {
            // The whole table is wanted: the smallest tree that has the columns will do.
            let secondary =
                (0..table.keys().len()).filter(|nth| !table.keys()[*nth].primary && source.may_use(*nth));
            let smallest =
                secondary.filter(|nth| covers(*nth)).min_by_key(|nth| table.keys()[*nth].parts.len());
            if let Some(key) = smallest
                && source.access.ranges.len() == 1
                && !source.access.reverse
            {
                source.access.key = Some(key);
                source.covering = true;
            }
        }
    }
}

/// Tries to read a table in an order; false leaves it as it was.
fn use_order(
    source: &mut TableSource,
    base: usize,
    order: &[(usize, bool)],
    (wanted, competes): (Option<f64>, bool),
    used: &BTreeSet<usize>,
) -> bool {
    let columns = base..base + source.table.columns().len();
    if !order.iter().all(|(at, _)| columns.contains(at)) {
        return false;
    }
    let order: Vec<(usize, bool)> = order.iter().map(|(at, descending)| (at - base, *descending)).collect();
    let table = source.table.clone();
    if !source.also.is_empty() {
        return false;
    }
    if let Some(key) = source.access.key {
        let own = if source.forbidden_order.contains(&key) {
            None
        } else {
            delivers(&table, key, &source.access.ranges, &order)
        };
        return match own {
            Some(reverse) => {
                source.access.reverse = reverse;
                true
            }
            None => wanted.filter(|_| competes).is_some_and(|wanted| read_fewer(source, &order, wanted)),
        };
    }
    let needed: Vec<usize> = used.range(columns).map(|at| at - base).collect();
    let mut best: Option<(f64, bool, Access)> = None;
    for key in (0..table.keys().len()).filter(|key| source.may_order(*key)) {
        let (ranges, rows, counted) = ranges_of(source, key);
        let Some(reverse) = delivers(&table, key, &ranges, &order) else { continue };
        let readable = readable_columns(&table, key);
        let cheap = table.keys()[key].primary || needed.iter().all(|column| readable.contains(column));
        if (cheap || wanted.is_some()) && best.as_ref().is_none_or(|(least, ..)| rows < *least) {
            best = Some((rows, counted, Access { key: Some(key), ranges, reverse, unique: false }));
        }
    }
    let Some((rows, counted, access)) = best else { return false };
    (source.access, source.rows, source.counted) = (access, rows, counted);
    true
}

/// What conditions leave of a key, how many rows that has, and whether they were counted: however many these
/// are, those outside need not be read.
fn ranges_of(source: &TableSource, key: usize) -> (Vec<KeyRange>, f64, bool) {
    match source.offers.iter().find(|offer| offer.access.key == Some(key)) {
        Some(offer) => (offer.access.ranges.clone(), offer.rows.min(source.table_rows), offer.counted),
        None => (vec![KeyRange::default()], source.table_rows, false),
    }
}

/// Part of a key that has all that is wanted, rather than the whole of it or of the table.
fn read_entries(source: &mut TableSource, base: usize, used: &BTreeSet<usize>) {
    if source.access.key.is_some() {
        return;
    }
    let wanted: Vec<usize> =
        used.range(base..base + source.table.columns().len()).map(|at| at - base).collect();
    let covers = |key: usize| {
        let readable = readable_columns(&source.table, key);
        wanted.iter().all(|column| readable.contains(column))
    };
    let offers = source.offers.iter().filter(|offer| offer.access.key.is_some_and(covers));
    if let Some(best) = offers.min_by(|a, b| a.rows.total_cmp(&b.rows)).cloned() {
        (source.access, source.rows, source.counted) = (best.access, best.rows, best.counted);
    }
}

/// A key in order reads rows that are not wanted, and may meet them where they lie close together: it is
/// taken only if it is to read so many times fewer.
const ORDER_GAIN: f64 = 4.0;

/// Where rows are locked the wanted ones may all lie at the end, and those before them would be locked too:
/// the better key must find at least one of so many rows of the table.
const LOCKED_SHARE: f64 = 8.0;

/// With a LIMIT, reading in order until there are enough rows, if that is to end much earlier than reading
/// all that the better key finds: a queue's `WHERE state = 0 ORDER BY created LIMIT 1`, most of which is
/// waiting.
fn read_fewer(source: &mut TableSource, order: &[(usize, bool)], wanted: f64) -> bool {
    let table = source.table.clone();
    if source.access.unique || !(source.counted || table.counters.statistics.known().is_some()) {
        return false;
    }
    // Rows between two that the filter lets through.
    let apart = source.table_rows / source.rows.max(1.0);
    let mut best: Option<(f64, Access)> = None;
    for key in 0..table.keys().len() {
        if !source.may_order(key) {
            continue;
        }
        let (ranges, rows, _) = ranges_of(source, key);
        let Some(reverse) = delivers(&table, key, &ranges, order) else { continue };
        let read = (wanted * apart).min(rows);
        if best.as_ref().is_none_or(|(least, _)| read < *least) {
            best = Some((read, Access { key: Some(key), ranges, reverse, unique: false }));
        }
    }
    let Some((read, access)) = best else { return false };
    source.wanted = Some(wanted / ORDER_GAIN..=wanted * ORDER_GAIN);
    let most = if source.locking.is_some() { source.rows * LOCKED_SHARE } else { f64::INFINITY };
    if source.rows < 1.0 || read * ORDER_GAIN > source.rows || source.table_rows > most {
        return false;
    }
    source.within.clear();
    let sorted = std::mem::replace(&mut source.access, access);
    if source.counted {
        source.costed.push(Costed { access: sorted, rows: source.rows / ORDER_GAIN..=f64::INFINITY });
    }
    (source.rows, source.counted) = (read, false);
    true
}

/// Whether reading a key's ranges one after another gives the order; Some(true) if read backwards. Behind a
/// key's own parts its entries have the primary key's: a queue is read by
/// `WHERE state = 0 ORDER BY id LIMIT 1 FOR UPDATE` with a key on `state`, and locks one row.
fn delivers(table: &Table, key: usize, ranges: &[KeyRange], order: &[(usize, bool)]) -> Option<bool> {
    let fixed = if ranges.len() == 1 { ranges[0].equal.len() } else { 0 };
    let parts = &table.keys()[key].parts;
    let is_fixed =
        |column: usize| parts[..fixed].iter().any(|part| part.column == column && part.prefix.is_none());
    let primary = table.primary().filter(|primary| *primary != key);
    let behind = primary.map_or(&[][..], |primary| &table.keys()[primary].parts);
    let mut rest = parts[fixed..].iter().chain(behind);
    let mut direction = None;
    for (column, descending) in order.iter().filter(|(column, _)| !is_fixed(*column)) {
        let part = rest.next()?;
        if part.column != *column || part.prefix.is_some() {
            return None;
        }
        let reverse = part.descending != *descending;
        if *direction.get_or_insert(reverse) != reverse {
            return None;
        }
    }
    Some(direction.unwrap_or(false))
}
