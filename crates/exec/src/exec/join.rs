//! The steps of a SELECT block for one row: a nested loop over the sources, the conditions, the sub-queries
//! that a row needs, and where joined rows go.

use turnstile_engine::Visit;
use turnstile_expr::expr::EvalContext;
use turnstile_plan::plan::query::{Filter, SelectPlan, Step};
use turnstile_values::error::SqlResult;
use turnstile_values::value::Value;

use super::Exec;
use super::failed::{refuse_failed, refuse_failed_groups, refuse_failed_items};
use super::select::{Boxed, trim};
use super::source::{next_rows, open_source};
use super::tail::{FrameRow, Kept, RowOut, Tail};
use crate::exec::subquery;

/// Where joined frames go.
pub(super) enum End<'t, 'p, 'o> {
    Tail(&'t mut Tail<'p, 'o>),
    Keep(&'t mut Kept),
}

/// Whether the conditions that need no sub-query hold.
pub(super) fn passes(filters: &[Filter], frame: &[Value], context: &EvalContext<'_>) -> SqlResult<bool> {
    for filter in filters.iter().filter(|one| one.subqueries.is_empty()) {
        if filter.expr.eval_truth(&FrameRow(frame), context)? != Some(true) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Runs step number `nth` and those behind it for one frame.
pub(super) fn run_step<'a>(
    exec: &'a mut Exec<'_>,
    plan: &'a SelectPlan,
    steps: &'a [Step],
    nth: usize,
    frame: &'a mut Vec<Value>,
    end: &'a mut End<'_, '_, '_>,
) -> Boxed<'a, Visit> {
    Box::pin(async move {
        let Some(step) = steps.get(nth) else { return emit(exec, plan, frame, end).await };
        let columns = step.base..step.base + step.columns;
        let mut matched = false;
        let mut source = open_source(exec, plan, step, frame, nth == 0).await?;
        loop {
            let (rows, more) = next_rows(exec, step, &mut source, frame).await?;
            for at in 0..rows.len() {
                exec.pace().await?;
                frame[columns.clone()].clone_from_slice(rows.row(at));
                if !holds(exec, plan, &step.matching, frame).await? {
                    continue;
                }
                matched = true;
                if !holds(exec, plan, &step.filters, frame).await? {
                    continue;
                }
                if run_step(exec, plan, steps, nth + 1, frame, end).await? == Visit::Stop {
                    return Ok(Visit::Stop);
                }
            }
            if !more {
                break;
            }
            if let End::Tail(tail) = end {
                flush(exec, tail).await?;
                trim(exec, tail).await?;
            }
        }
        if step.left_join && !matched {
            frame[columns.clone()].fill(Value::Null);
            if holds(exec, plan, &step.filters, frame).await? {
                return run_step(exec, plan, steps, nth + 1, frame, end).await;
            }
        }
        Ok(Visit::Continue)
    })
}

pub(super) async fn emit(
    exec: &mut Exec<'_>,
    plan: &SelectPlan,
    frame: &mut [Value],
    end: &mut End<'_, '_, '_>,
) -> SqlResult<Visit> {
    match end {
        End::Keep(kept) => kept.row(frame),
        End::Tail(tail) if tail.groups() => {
            if let Some(group) = &plan.group {
                run_subqueries(exec, plan, &group.subqueries, frame).await?;
            }
            refuse_failed_groups(exec, plan, frame)?;
            tail.push(frame, exec.eval)
        }
        End::Tail(tail) => {
            flush(exec, tail).await?;
            run_subqueries(exec, plan, &plan.item_subqueries, frame).await?;
            if !holds(exec, plan, &plan.having, frame).await? {
                return Ok(Visit::Continue);
            }
            project(exec, frame, tail)
        }
    }
}

/// Waits for a client that is behind, outside the engine.
pub(super) async fn flush(exec: &mut Exec<'_>, tail: &mut Tail<'_, '_>) -> SqlResult<()> {
    if tail.should_flush() { exec.txn.outside(tail.flush()).await } else { Ok(()) }
}

pub(super) fn project(exec: &mut Exec<'_>, frame: &mut [Value], tail: &mut Tail<'_, '_>) -> SqlResult<Visit> {
    refuse_failed_items(exec, tail.plan, frame)?;
    tail.project(frame, exec.eval)
}

/// Whether conditions hold, those with sub-queries included.
pub(super) async fn holds(
    exec: &mut Exec<'_>,
    plan: &SelectPlan,
    filters: &[Filter],
    frame: &mut [Value],
) -> SqlResult<bool> {
    if !passes(filters, frame, exec.eval)? {
        return Ok(false);
    }
    for filter in filters.iter().filter(|one| !one.subqueries.is_empty()) {
        run_subqueries(exec, plan, &filter.subqueries, frame).await?;
        refuse_failed(exec, &plan.subqueries, std::iter::once(&filter.expr), frame)?;
        if filter.expr.eval_truth(&FrameRow(frame), exec.eval)? != Some(true) {
            return Ok(false);
        }
    }
    Ok(true)
}

pub(super) async fn run_subqueries(
    exec: &mut Exec<'_>,
    plan: &SelectPlan,
    which: &[usize],
    frame: &mut [Value],
) -> SqlResult<()> {
    for nth in which {
        let operands = plan.subqueries[*nth].kind.operands();
        refuse_failed(exec, &plan.subqueries, operands.into_iter(), frame)?;
        subquery::try_subquery(exec, &plan.subqueries[*nth], frame).await?;
    }
    Ok(())
}
