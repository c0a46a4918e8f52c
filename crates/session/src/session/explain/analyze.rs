//! EXPLAIN ANALYZE: the statement's query is run and measured; its rows are thrown away, and nothing is
//! changed.

use super::super::Session;
use crate::error::{ErrorKind, SqlError, SqlResult};
use crate::exec::measure::Measure;
use crate::exec::tail::RowOut;
use crate::exec::{Exec, access};
use crate::expr::WarningLevel;
use crate::field::FieldRef;
use crate::plan::change::InsertSource;
use crate::plan::query::{QueryPlan, SelectPlan};
use crate::row_plan::{PlanKind, RowPlan};
use crate::session::time_limit::TimeLimit;
use crate::session::{statement, transaction};
use crate::value::Value;
use turnstile_engine::Visit;

/// Takes rows that nobody sees.
struct Nobody;

impl RowOut for Nobody {
    fn row(&mut self, _row: &[Value]) -> SqlResult<Visit> {
        Ok(Visit::Continue)
    }
    fn fields(&mut self, _row: &[FieldRef<'_>]) -> SqlResult<Visit> {
        Ok(Visit::Continue)
    }
}

/// What of a statement is run.
#[derive(Clone, Copy)]
enum Run<'p> {
    Query(&'p QueryPlan),
    /// The rows that a change of several tables is about.
    Rows(&'p SelectPlan),
}

/// The part of a plan that EXPLAIN ANALYZE runs; none of a change of one table, of which MySQL runs none.
fn part_of(plan: &RowPlan) -> Option<Run<'_>> {
    match &plan.kind {
        PlanKind::Query(query) => Some(Run::Query(query)),
        PlanKind::Insert(insert) => match &insert.source {
            InsertSource::Query(query) => Some(Run::Query(query)),
            InsertSource::Rows(_) | InsertSource::Literals(_) => None,
        },
        PlanKind::Change(change, _) => (change.select.steps.len() > 1).then_some(Run::Rows(&change.select)),
    }
}

/// Runs what there is to run of a plan and ends the statement. KILL and `max_execution_time` end the run:
/// what was done until then is the answer, with a warning.
pub(super) async fn run(session: &mut Session, plan: &RowPlan, params: &[Value]) -> SqlResult<Measure> {
    if !plan.constants.is_empty()
        && let Err(error) = statement::check_constants(session, plan, params)
    {
        return statement::abandon(session, error).await;
    }
    let state = session.state.clone();
    let context = state.eval(statement::change_settings(plan, &session.settings), params);
    let (db, interrupt) = (session.db.clone(), session.interrupt.clone());
    let limit_ms = session.settings.max_execution_ms;
    let open = transaction::enter_quietly(session);
    if open.read_only && plan.changes_for_others() {
        return statement::abandon(session, SqlError::read_only_transaction()).await;
    }
    let savepoint = open.txn.savepoint();
    let Session { open: Some(open), table_locks, global_read_lock, .. } = session else {
        unreachable!("a transaction was opened above")
    };
    let mut exec = Exec::new(&db, &state, &mut open.txn, &context, &interrupt, plan.operation());
    let locked = table_locks.as_ref().map_or(&[][..], |locks| locks.holds());
    state.set_row_steps(plan.row_steps);
    exec.metadata_locks = [&open.holds, locked, global_read_lock.as_deref().unwrap_or_default()];
    exec.measure();
    let limit = (limit_ms > 0 && matches!(plan.kind, PlanKind::Query(_)))
        .then(|| TimeLimit::begin(limit_ms, &interrupt));
    let result = match part_of(plan) {
        None => Ok(()),
        Some(Run::Query(query)) => {
            access::count(&exec.session.entry.counts, query);
            exec.pin_snapshot(query);
            Box::pin(exec.query(query, &[], &mut Nobody)).await.map(|_| ())
        }
        Some(Run::Rows(select)) => Box::pin(exec.find_rows(select)).await,
    };
    let stopped = matches!(&result, Err(error) if error.kind() == ErrorKind::Interrupted);
    let result = match limit {
        Some(limit) => limit.end(result),
        None => result,
    };
    let measure = exec.take_measured();
    drop(exec);
    let result = match result {
        Err(_) if stopped && !interrupt.is_connection_killed() => {
            interrupt.clear_query();
            session.state.warnings.push(WarningLevel::Warning, SqlError::query_interrupted());
            Ok(())
        }
        other => other,
    };
    transaction::leave(session, savepoint, result).await?;
    Ok(measure)
}
