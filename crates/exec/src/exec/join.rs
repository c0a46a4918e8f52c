//! The steps of a SELECT block for one row: a nested loop over the sources, the conditions, the sub-queries
//! that a row needs, and where joined rows go.

pub(super) mod apart;
mod asked;

use turnstile_engine::Visit;
use turnstile_expr::expr::EvalContext;
use turnstile_plan::plan::query::{Filter, JoinStep, Partners, SelectPlan};
use turnstile_values::error::SqlResult;
use turnstile_values::value::Value;

use super::Exec;
use super::failed::{refuse_failed, refuse_failed_groups, refuse_failed_items};
use super::measure::{Timed, Untimed, Watch};
use super::select::{Boxed, deliver_done, spill_held, trim};
use super::source::{Opened, next_rows, open_source};
use super::tail::{Kept, RowOut, Tail, TupleRow};
use crate::exec::subquery;

/// Where joined tuples go.
pub(super) enum End<'t, 'p, 'o> {
    Tail(&'t mut Tail<'p, 'o>),
    Keep(&'t mut Kept),
}

impl End<'_, '_, '_> {
    /// How many tuples may be enough.
    fn few(&self) -> Option<usize> {
        match self {
            End::Tail(tail) => tail.few(),
            End::Keep(_) => None,
        }
    }
}

/// Whether the conditions that need no sub-query hold.
pub(super) fn passes(filters: &[Filter], tuple: &[Value], context: &EvalContext<'_>) -> SqlResult<bool> {
    for filter in filters.iter().filter(|one| one.subqueries.is_empty()) {
        if filter.expr.eval_truth(&TupleRow(tuple), context)? != Some(true) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Runs step number `nth` and those behind it for one tuple.
pub(super) fn run_step<'a>(
    exec: &'a mut Exec<'_>,
    plan: &'a SelectPlan,
    steps: &'a [JoinStep],
    nth: usize,
    tuple: &'a mut Vec<Value>,
    end: &'a mut End<'_, '_, '_>,
) -> Boxed<'a, Visit> {
    if exec.measures() && nth < steps.len() {
        return Box::pin(async move {
            exec.note_steps(steps, nth);
            let mut watch = Timed::begin();
            let result = step_of(exec, plan, steps, nth, tuple, end, &mut watch).await;
            exec.note_step(steps, nth, &watch);
            result
        });
    }
    step_of(exec, plan, steps, nth, tuple, end, Untimed)
}

fn step_of<'a, W: Watch + 'a>(
    exec: &'a mut Exec<'_>,
    plan: &'a SelectPlan,
    steps: &'a [JoinStep],
    nth: usize,
    tuple: &'a mut Vec<Value>,
    end: &'a mut End<'_, '_, '_>,
    mut watch: W,
) -> Boxed<'a, Visit> {
    if steps.get(nth).is_some_and(|step| step.partners != Partners::All) {
        return asked::ask(exec, plan, steps, nth, tuple, end, watch);
    }
    Box::pin(async move {
        let Some(step) = steps.get(nth) else { return emit(exec, plan, tuple, end).await };
        let columns = step.base..step.base + step.columns;
        let mut matched = false;
        let mut source = open_source(exec, plan, step, tuple, end.few()).await?;
        if let Opened::Apart = source {
            watch.waits();
            return apart::wait(exec, plan, steps, nth, tuple, end).await;
        }
        loop {
            let (mut rows, more) = next_rows(exec, step, &mut source, tuple, &mut watch).await?;
            let counts = W::MEASURES && !matches!(source, Opened::Scan(..));
            for at in 0..rows.len() {
                exec.pace().await?;
                rows.put(at, &mut tuple[columns.clone()]);
                if counts {
                    watch.shown();
                }
                if !holds(exec, plan, &step.matching, tuple).await? {
                    watch.tested();
                    continue;
                }
                matched = true;
                watch.matched();
                watch.joined();
                if !holds(exec, plan, &step.filters, tuple).await? {
                    watch.tested();
                    continue;
                }
                watch.passed();
                if run_step(exec, plan, steps, nth + 1, tuple, end).await? == Visit::Stop {
                    return Ok(Visit::Stop);
                }
                watch.returned();
            }
            if !more {
                break;
            }
            if let End::Tail(tail) = end {
                flush(exec, tail).await?;
                trim(exec, tail).await?;
                watch.returned();
            }
        }
        if step.left_join && source.is_alone(matched) {
            tuple[columns.clone()].fill(Value::Null);
            watch.joined();
            if holds(exec, plan, &step.filters, tuple).await? {
                watch.passed();
                return run_step(exec, plan, steps, nth + 1, tuple, end).await;
            }
        }
        Ok(Visit::Continue)
    })
}

pub(super) async fn emit(
    exec: &mut Exec<'_>,
    plan: &SelectPlan,
    tuple: &mut [Value],
    end: &mut End<'_, '_, '_>,
) -> SqlResult<Visit> {
    match end {
        End::Keep(kept) => kept.row(tuple),
        End::Tail(tail) if tail.groups() => {
            if let Some(group) = &plan.group {
                run_subqueries(exec, plan, &group.subqueries, tuple).await?;
            }
            refuse_failed_groups(exec, plan, tuple)?;
            if tail.is_over() {
                spill_held(exec, tail).await?;
            }
            let visit = tail.push(tuple, exec.eval)?;
            if tail.has_done() { deliver_done(exec, plan, tail).await } else { Ok(visit) }
        }
        End::Tail(tail) => {
            flush(exec, tail).await?;
            if tail.is_over() {
                spill_held(exec, tail).await?;
            }
            run_subqueries(exec, plan, &plan.item_subqueries, tuple).await?;
            if !holds(exec, plan, &plan.having, tuple).await? {
                return Ok(Visit::Continue);
            }
            project(exec, tuple, tail)
        }
    }
}

/// Waits for a client that is behind, outside the engine.
pub(super) async fn flush(exec: &mut Exec<'_>, tail: &mut Tail<'_, '_>) -> SqlResult<()> {
    if tail.should_flush() { exec.txn.outside(tail.flush()).await } else { Ok(()) }
}

pub(super) fn project(exec: &mut Exec<'_>, tuple: &mut [Value], tail: &mut Tail<'_, '_>) -> SqlResult<Visit> {
    refuse_failed_items(exec, tail.plan, tuple)?;
    tail.project(tuple, exec.eval)
}

/// Whether conditions hold, those with sub-queries included.
pub(super) async fn holds(
    exec: &mut Exec<'_>,
    plan: &SelectPlan,
    filters: &[Filter],
    tuple: &mut [Value],
) -> SqlResult<bool> {
    if !passes(filters, tuple, exec.eval)? {
        return Ok(false);
    }
    for filter in filters.iter().filter(|one| !one.subqueries.is_empty()) {
        run_subqueries(exec, plan, &filter.subqueries, tuple).await?;
        refuse_failed(exec, &plan.subqueries, std::iter::once(&filter.expr), tuple)?;
        if filter.expr.eval_truth(&TupleRow(tuple), exec.eval)? != Some(true) {
            return Ok(false);
        }
    }
    Ok(true)
}

pub(super) async fn run_subqueries(
    exec: &mut Exec<'_>,
    plan: &SelectPlan,
    which: &[usize],
    tuple: &mut [Value],
) -> SqlResult<()> {
    for nth in which {
        let operands = plan.subqueries[*nth].kind.operands();
        refuse_failed(exec, &plan.subqueries, operands.into_iter(), tuple)?;
        subquery::try_subquery(exec, &plan.subqueries[*nth], tuple).await?;
    }
    Ok(())
}
