//! Changes and selects of one row that need no wait: a plain call, and a future only if a step has to wait.

use turnstile_engine::Savepoint;
use turnstile_engine::ids::Lsn;

use super::super::Session;
use super::Outcome;
use super::run::{change_outcome, change_settings};
use crate::ast;
use crate::error::{SqlError, SqlResult};
use crate::exec::Exec;
use crate::exec::change::PointDraft;
use crate::plan::QueryPlan;
use crate::plan::change::ChangePlan;
use crate::row_plan::{PlanKind, RowPlan};
use crate::session::transaction;
use crate::sink::ResultSink;
use crate::value::Value;

/// As far as a plan can be run without a wait: a statement about one row to its end, and nothing of the
/// others. What waits becomes a future in a box, so that a small one is all that the levels above copy
/// and keep.
pub(super) fn begin_rows(
    session: &mut Session,
    plan: &RowPlan,
    params: &[Value],
    into: &[ast::Name],
    out: &mut dyn ResultSink,
) -> Attempt {
    match &plan.kind {
        PlanKind::Query(query) if query.is_point() && into.is_empty() => {
            begin_select(session, plan, query, params, out)
        }
        PlanKind::Change(change, update) if change.point.is_some() => {
            begin_change(session, plan, change, *update, params)
        }
        _ => Attempt::Waits(None),
    }
}

fn begin_change(
    session: &mut Session,
    plan: &RowPlan,
    change: &ChangePlan,
    update: bool,
    params: &[Value],
) -> Attempt {
    let open = transaction::enter_quietly(session);
    if open.read_only {
        return Attempt::Waits(None);
    }
    let (savepoint, autocommit) = (open.txn.savepoint(), open.autocommit);
    let ends = autocommit && !session.finishing.may_refuse() && transaction::commits_at_once(session);
    let mut draft = PointDraft::that_ends(ends);
    match change_now(session, plan, change, update, params, &mut draft) {
        Ok(None) if draft.is_empty() => Attempt::Waits(None),
        Ok(None) => Attempt::Waits(Some(Box::new(draft))),
        result => end_now(session, savepoint, result.map(Option::unwrap_or_default)),
    }
}

fn begin_select(
    session: &mut Session,
    plan: &RowPlan,
    query: &QueryPlan,
    params: &[Value],
    out: &mut dyn ResultSink,
) -> Attempt {
    // A statement that may be ended by the clock waits for its end in a future.
    if session.settings.max_execution_ms != 0 {
        return Attempt::Waits(None);
    }
    let savepoint = transaction::enter_quietly(session).txn.savepoint();
    match select_now(session, plan, query, params, out).transpose() {
        None => Attempt::Waits(None),
        Some(result) => end_now(session, savepoint, result),
    }
}

/// Ends a statement that has not waited, as far as that needs no wait either.
fn end_now(session: &mut Session, savepoint: Savepoint, result: SqlResult<Outcome>) -> Attempt {
    let autocommit = session.open.as_ref().is_some_and(|open| open.autocommit);
    let has_ended = session.open.as_ref().is_some_and(|open| open.txn.has_ended());
    match result.and_then(|outcome| session.finishing.check(outcome)) {
        Ok(outcome) if !autocommit => {
            transaction::count_statement(session);
            Attempt::Done(outcome)
        }
        Ok(outcome) if has_ended || transaction::commits_at_once(session) => {
            match transaction::commit_now(session) {
                Ok(lsn) => Attempt::Committed(outcome, lsn),
                Err(error) => Attempt::Failed(error),
            }
        }
        result => Attempt::Ran(savepoint, result),
    }
}

/// A point SELECT, if no step of it has to wait.
fn select_now(
    session: &mut Session,
    plan: &RowPlan,
    query: &QueryPlan,
    params: &[Value],
    out: &mut dyn ResultSink,
) -> SqlResult<Option<Outcome>> {
    let settings = change_settings(plan, &session.settings);
    let Session { db, state, interrupt, open, .. } = session;
    let Some(open) = open else { return Ok(None) };
    let context = state.eval(settings, params);
    let mut exec = Exec::new(db, state, &mut open.txn, &context, interrupt, plan.operation());
    let Some(found) = exec.query_now(query, out)? else { return Ok(None) };
    exec.session.set_found_rows(found);
    Ok(Some(Outcome { rows: true, ..Outcome::default() }))
}

/// A point change, if no step of it has to wait.
fn change_now(
    session: &mut Session,
    plan: &RowPlan,
    change: &ChangePlan,
    update: bool,
    params: &[Value],
    draft: &mut PointDraft,
) -> SqlResult<Option<Outcome>> {
    let settings = change_settings(plan, &session.settings);
    let Session { db, state, interrupt, open, .. } = session;
    let Some(open) = open else { return Ok(None) };
    let context = state.eval(settings, params);
    let mut exec = Exec::new(db, state, &mut open.txn, &context, interrupt, plan.operation());
    let done = exec.change_now(change, draft)?;
    Ok(done.map(|done| change_outcome(change, done, update, &exec)))
}

/// How far a plan came without a wait.
pub(super) enum Attempt {
    /// To the end of the statement; the transaction goes on.
    Done(Outcome),
    /// To the end of its transaction, whose commit is still to become durable.
    Committed(Outcome, Option<Lsn>),
    /// The commit failed.
    Failed(SqlError),
    /// To its end, and the end of the statement is still to come.
    Ran(Savepoint, SqlResult<Outcome>),
    /// Not to its end; a point change has worked this out.
    Waits(Option<Box<PointDraft>>),
}
