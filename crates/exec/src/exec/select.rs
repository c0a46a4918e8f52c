//! Running queries.
//!
//! A SELECT block reads its first table batch by batch; each row becomes a tuple, runs through the other
//! steps (a nested loop, with index look-ups, or with a table kept in memory and hashed), and ends in the
//! [`Tail`]. When nothing on the way has to wait, rows go into the tail straight from under the page latch,
//! without a copy.

use std::future::Future;
use std::pin::Pin;

use turnstile_engine::Visit;
use turnstile_plan::plan::query::{Filter, GroupPlan, JoinStep, QueryPlan, SelectPlan, Source};
use turnstile_values::error::SqlResult;
use turnstile_values::value::Rows;
use turnstile_values::value::Value;

use super::failed::refuse_failed_conditions;
use super::join::{End, apart, emit, flush, holds, passes, project, run_step, run_subqueries};
use super::measure::{self, Part, Timed, Untimed, Watch};
use super::order::directions;
use super::scan::{Fields, TableScan};
use super::sort::external::External;
use super::spill::limits::kept_bytes_max;
use super::tail::{Kept, RowOut, Tail, TupleRow};
use super::values::values;
use super::{Exec, blank, extremes};
use crate::exec::{sort, subquery, union, virtual_scan, windows};

/// A boxed future, for recursion.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = SqlResult<T>> + Send + 'a>>;

impl Exec<'_> {
    /// Runs a query. `outer` is the tuple around it, for a sub-query.
    pub fn query<'a>(
        &'a mut self,
        plan: &'a QueryPlan,
        outer: &'a [Value],
        out: &'a mut dyn RowOut,
    ) -> Boxed<'a, u64> {
        if self.measures() {
            Box::pin(measure::query(self, plan, outer, out))
        } else {
            self.run(plan, outer, out)
        }
    }

    pub(super) fn run<'a>(
        &'a mut self,
        plan: &'a QueryPlan,
        outer: &'a [Value],
        out: &'a mut dyn RowOut,
    ) -> Boxed<'a, u64> {
        match plan {
            QueryPlan::Select(plan) => Box::pin(select(self, plan, outer, out)),
            QueryPlan::Set(plan) => Box::pin(union::set_operation(self, plan, outer, out)),
            QueryPlan::Values(plan) => Box::pin(values(self, plan, out)),
        }
    }

    /// Everything the statement reads is of one moment. One look at one row needs no view for that.
    pub fn pin_snapshot(&mut self, plan: &QueryPlan) {
        let single = |plan: &SelectPlan| {
            let [JoinStep { source: Source::Table(source), .. }] = plan.steps.as_slice() else {
                return plan.steps.is_empty() && plan.subqueries.is_empty();
            };
            source.access.unique && source.access.ranges.len() == 1 && plan.subqueries.is_empty()
        };
        if !matches!(plan, QueryPlan::Select(plan) if single(plan)) {
            self.txn.pin_snapshot();
        }
    }
}

/// Runs a SELECT block; returns the rows found, LIMIT aside when the plan asks for that.
async fn select(
    exec: &mut Exec<'_>,
    plan: &SelectPlan,
    outer: &[Value],
    out: &mut dyn RowOut,
) -> SqlResult<u64> {
    if !exec.measures()
        && let Some(found) = virtual_scan::virtual_scan(exec, plan, out).await?
    {
        return Ok(found);
    }
    let mut tuple = vec![Value::Null; plan.width];
    for (there, here) in &plan.outer {
        tuple[*here] = outer.get(*there).cloned().unwrap_or_default();
    }
    for nth in 0..plan.subqueries.len() {
        if !plan.subqueries[nth].correlated {
            subquery::try_subquery(exec, &plan.subqueries[nth], &mut tuple).await?;
        }
    }
    refuse_failed_conditions(exec, plan)?;
    let context = exec.eval;
    let sums_nothing = |group: &&GroupPlan| group.implicit || !group.rollup.is_empty();
    let blank = plan.group.as_ref().filter(sums_nothing).map(|_| tuple.clone());
    let mut tail = Tail::new(plan, out, context, blank)?;
    if tail.is_full() {
        return Ok(0);
    }
    if holds(exec, plan, &plan.preconditions, &mut tuple).await? {
        match plan.steps.first() {
            None => {
                emit(exec, plan, &mut tuple, &mut End::Tail(&mut tail)).await?;
            }
            Some(first) if !plan.extremes.is_empty() => {
                extremes::read(exec, plan, first, &mut tuple, &mut tail).await?;
            }
            Some(first) if can_stream(exec, plan, first) => {
                if exec.measures() {
                    stream_measured(exec, plan, first, &mut tuple, &mut tail).await?
                } else {
                    stream(exec, plan, first, &mut tuple, &mut tail, Untimed).await?
                }
            }
            Some(_) => {
                let (steps, end) = (&plan.steps, &mut End::Tail(&mut tail));
                apart::begin(exec, steps);
                let visit = run_step(exec, plan, steps, 0, &mut tuple, end).await?;
                if apart::has_waiting(exec) {
                    apart::end(exec, plan, steps, &mut tuple, end, visit).await?;
                }
            }
        }
    }
    if tail.groups() {
        while let Some(tuples) = tail.close_groups(exec).await? {
            deliver_groups(exec, plan, tuples, &mut tail).await?;
        }
    }
    if !plan.windows.is_empty() {
        Box::pin(windows::run(exec, plan, &mut tail)).await?;
    }
    if tail.has_more_different() {
        deliver_different(exec, &mut tail).await?;
    }
    finish(exec, &mut tail).await?;
    exec.note_tail(plan, &tail);
    Ok(tail.found)
}

/// Passes groups on that are done before all rows have come.
pub(super) fn deliver_done<'a>(
    exec: &'a mut Exec<'_>,
    plan: &'a SelectPlan,
    tail: &'a mut Tail<'_, '_>,
) -> Boxed<'a, Visit> {
    Box::pin(async move {
        while let Some(tuples) = tail.take_done(exec).await? {
            if deliver_groups(exec, plan, tuples, tail).await? == Visit::Stop {
                return Ok(Visit::Stop);
            }
            flush(exec, tail).await?;
        }
        Ok(Visit::Continue)
    })
}

/// Passes some groups on.
async fn deliver_groups(
    exec: &mut Exec<'_>,
    plan: &SelectPlan,
    tuples: Rows,
    tail: &mut Tail<'_, '_>,
) -> SqlResult<Visit> {
    exec.note_rows(plan, Part::Groups, tuples.len());
    let mut passed = 0;
    for mut tuple in tuples {
        exec.pace().await?;
        match tail.is_blank() {
            true => run_subqueries(exec, plan, &blank::still_read(plan), &mut tuple).await?,
            false => run_subqueries(exec, plan, &plan.item_subqueries, &mut tuple).await?,
        }
        if holds(exec, plan, &plan.having, &mut tuple).await? {
            passed += 1;
            if tail.is_over() {
                spill_held(exec, tail).await?;
            }
            if project(exec, &mut tuple, tail)? == Visit::Stop {
                exec.note_rows(plan, Part::Having, passed);
                tail.end_groups();
                return Ok(Visit::Stop);
            }
        }
    }
    exec.note_rows(plan, Part::Having, passed);
    trim(exec, tail).await?;
    Ok(Visit::Continue)
}

/// With ORDER BY and LIMIT only the first rows matter.
pub(super) async fn trim(exec: &mut Exec<'_>, tail: &mut Tail<'_, '_>) -> SqlResult<()> {
    if let Some(wanted) = tail.wants_trim() {
        let held = tail.take_held();
        for (nth, row) in sort::sorted(exec, held, &directions(&tail.plan.order)).await?.enumerate() {
            exec.pace().await?;
            if nth < wanted { tail.put_held(row) } else { tail.forget_held(row) }
        }
    }
    if tail.is_over() { spill_held(exec, tail).await } else { Ok(()) }
}

/// What is held back goes to a file if it is more than a sort may have in memory, and so do groups.
pub(super) fn spill_held<'a>(exec: &'a mut Exec<'_>, tail: &'a mut Tail<'_, '_>) -> Boxed<'a, ()> {
    Box::pin(put_held(exec, tail))
}

async fn put_held(exec: &mut Exec<'_>, tail: &mut Tail<'_, '_>) -> SqlResult<()> {
    if let Some(grouping) = tail.grouping().filter(|grouping| grouping.is_over()) {
        grouping.settle(exec).await?;
    }
    if let Some(seen) = tail.seen().filter(|seen| seen.is_over()) {
        seen.settle(exec).await?;
    }
    if let Some(windowed) = tail.windowed().filter(|windowed| windowed.is_over()) {
        windowed.settle(exec)?;
        exec.interrupt.check()?;
        exec.breathe().await;
    }
    let most = kept_bytes_max(exec, |settings| settings.buffers.sort);
    if !tail.may_hold(most) {
        return Ok(());
    }
    if tail.external().is_none() {
        let external = External::new(exec, &directions(&tail.plan.order), tail.wanted(), most)?;
        *tail.external() = Some(Box::new(external));
    }
    let held = tail.take_held();
    if let Some(external) = tail.external() {
        external.put(exec, held).await?;
    }
    tail.forget_all_held();
    Ok(())
}

/// Delivers what was held back for sorting.
async fn finish(exec: &mut Exec<'_>, tail: &mut Tail<'_, '_>) -> SqlResult<()> {
    if let Some(external) = tail.external().take() {
        return finish_spilled(exec, tail, external).await;
    }
    if tail.sorts() {
        let (held, wanted) = (tail.take_held(), tail.wanted());
        exec.session.entry.counts.sorted(held.len(), wanted);
        for (_, items) in sort::sorted(exec, held, &directions(&tail.plan.order)).await? {
            exec.pace().await?;
            if tail.deliver_sorted(items)? == Visit::Stop {
                break;
            }
            flush(exec, tail).await?;
        }
    }
    flush(exec, tail).await
}

/// Delivers what was held back where a part of it is in a file.
fn finish_spilled<'a>(
    exec: &'a mut Exec<'_>,
    tail: &'a mut Tail<'_, '_>,
    external: Box<External>,
) -> Boxed<'a, ()> {
    Box::pin(deliver_merged(exec, tail, external))
}

async fn deliver_merged(
    exec: &mut Exec<'_>,
    tail: &mut Tail<'_, '_>,
    mut external: Box<External>,
) -> SqlResult<()> {
    let (held, wanted) = (tail.take_held(), tail.wanted());
    external.put(exec, held).await?;
    tail.forget_all_held();
    let rows = usize::try_from(external.rows()).unwrap_or(usize::MAX);
    exec.session.entry.counts.sorted(rows, wanted);
    let mut merge = external.merge(exec).await?;
    while let Some((_, items)) = merge.next(exec.eval)? {
        exec.pace().await?;
        if tail.deliver_sorted(items)? == Visit::Stop {
            break;
        }
        flush(exec, tail).await?;
    }
    flush(exec, tail).await
}

/// Passes the rows on that DISTINCT had put away.
fn deliver_different<'a>(exec: &'a mut Exec<'_>, tail: &'a mut Tail<'_, '_>) -> Boxed<'a, ()> {
    Box::pin(async move {
        let Some(seen) = tail.seen() else { return Ok(()) };
        let Some(mut rest) = seen.rest(exec).await? else { return Ok(()) };
        while let Some(row) = rest.next(exec).await? {
            if tail.pass_different(row)? == Visit::Stop {
                break;
            }
            flush(exec, tail).await?;
            trim(exec, tail).await?;
        }
        Ok(())
    })
}

/// Runs a block's steps and keeps whole tuples.
pub(super) async fn select_tuples(exec: &mut Exec<'_>, plan: &SelectPlan, kept: &mut Kept) -> SqlResult<()> {
    let mut tuple = vec![Value::Null; plan.width];
    for subquery in plan.subqueries.iter().filter(|one| !one.correlated) {
        subquery::run_subquery(exec, subquery, &mut tuple).await?;
    }
    let (steps, end) = (&plan.steps, &mut End::Keep(kept));
    apart::begin(exec, steps);
    let visit = run_step(exec, plan, steps, 0, &mut tuple, end).await?;
    if apart::has_waiting(exec) {
        apart::end(exec, plan, steps, &mut tuple, end, visit).await?;
    }
    Ok(())
}

/// Nothing on the way of a row has to wait.
fn can_stream(exec: &Exec<'_>, plan: &SelectPlan, first: &JoinStep) -> bool {
    let plain = |filters: &[Filter]| filters.iter().all(|one| one.subqueries.is_empty());
    plan.steps.len() == 1
        && !exec.has_failures()
        && matches!(&first.source, Source::Table(source) if source.locking.is_none())
        && plain(&first.matching)
        && plain(&first.filters)
        && (plan.item_subqueries.is_empty() || plan.group.is_some())
        && plan.group.as_ref().is_none_or(|group| group.subqueries.is_empty())
        && (plan.having.is_empty() || plan.group.is_some())
}

/// Not a part of the block's own future, and made in a frame of its own: queries within each other take their
/// stack at each level.
fn stream_measured<'a>(
    exec: &'a mut Exec<'_>,
    plan: &'a SelectPlan,
    first: &'a JoinStep,
    tuple: &'a mut [Value],
    tail: &'a mut Tail<'_, '_>,
) -> Boxed<'a, ()> {
    Box::pin(async move {
        exec.note_steps(&plan.steps, 0);
        let mut watch = Timed::begin();
        let result = stream(exec, plan, first, tuple, tail, &mut watch).await;
        exec.note_step(&plan.steps, 0, &watch);
        result
    })
}

async fn stream<W: Watch>(
    exec: &mut Exec<'_>,
    plan: &SelectPlan,
    first: &JoinStep,
    tuple: &mut [Value],
    tail: &mut Tail<'_, '_>,
    mut watch: W,
) -> SqlResult<()> {
    let Source::Table(source) = &first.source else { return Ok(()) };
    let context = exec.eval;
    // Rows that are put aside are read before it is known whether they are wanted.
    let few = tail.few().filter(|_| !plan.light);
    let mut scan = TableScan::open(source, &TupleRow(tuple), context)?.of_few(few);
    let columns = first.base..first.base + first.columns;
    let counts_only = counts_only(plan, first);
    let session = exec.session;
    loop {
        let mut counted = 0u64;
        // Work that takes long is not done under the page's latch: such rows, and once there was much the
        // rest of the batch, wait for its end.
        let mut aside = Vec::new();
        let mut visit = |fields: Fields<'_>| {
            if counts_only {
                counted += 1;
                return Ok(Visit::Continue);
            }
            fields.fill(&source.needed, &mut tuple[columns.clone()]);
            watch.shown();
            if !plan.light || session.has_worked() || tail.is_over() {
                aside.push(tuple[columns.clone()].to_vec());
                return Ok(Visit::Continue);
            }
            if passes(&first.matching, tuple, context)? && passes(&first.filters, tuple, context)? {
                went_through(&mut watch);
                let visit = tail.push(tuple, context);
                watch.returned();
                return visit;
            }
            watch.tested();
            Ok(Visit::Continue)
        };
        let more = scan.batch(exec.txn, (exec.interrupt, context), &mut |_| true, &mut visit).await?;
        watch.read();
        if counts_only {
            watch.counted(counted);
            tail.push_counted(tuple, counted, context)?;
        }
        for row in aside {
            exec.pace().await?;
            flush(exec, tail).await?;
            if tail.is_over() {
                spill_held(exec, tail).await?;
            }
            tuple[columns.clone()].clone_from_slice(&row);
            if passes(&first.matching, tuple, context)? && passes(&first.filters, tuple, context)? {
                went_through(&mut watch);
                if tail.push(tuple, context)? == Visit::Stop {
                    return Ok(());
                }
                watch.returned();
            }
            watch.tested();
        }
        if tail.has_done() && deliver_done(exec, plan, tail).await? == Visit::Stop || !more {
            return Ok(());
        }
        flush(exec, tail).await?;
        trim(exec, tail).await?;
        exec.breathe().await;
        watch.returned();
    }
}

/// A row has met all conditions of the only step.
fn went_through(watch: &mut impl Watch) {
    watch.matched();
    watch.joined();
    watch.passed();
}

/// `SELECT COUNT(*) FROM t`: rows need not even be looked at.
fn counts_only(plan: &SelectPlan, first: &JoinStep) -> bool {
    let counts = |group: &GroupPlan| {
        group.keys.is_empty()
            && group.aggregates.len() == 1
            && group.aggregates[0].kind == turnstile_expr::expr::AggregateKind::CountRows
    };
    plan.group.as_ref().is_some_and(counts) && first.matching.is_empty() && first.filters.is_empty()
}
