//! A plan is run, and what it did becomes what the client is told.

use super::super::time_limit::TimeLimit;
use super::{Info, Outcome, eval_settings};
use crate::ast;
use crate::error::{SqlError, SqlResult};
use crate::exec::change::{Changed, PointDraft};
use crate::exec::{ClientOut, Exec, access};
use crate::expr::{EvalSettings, VariableKind, WarningLevel};
use crate::plan::QueryPlan;
use crate::plan::change::{ChangePlan, InsertPlan, InsertSource};
use crate::row_plan::{PlanKind, RowPlan};
use crate::sink::ResultSink;

/// The settings of expressions in a plan that begins now.
pub(in crate::session) fn change_settings(
    plan: &RowPlan,
    settings: &crate::variables::SessionSettings,
) -> EvalSettings {
    let mut settings = eval_settings(settings);
    settings.strict_change = plan.changes_strictly() && settings.sql_mode.is_strict();
    settings
}

/// Runs a plan; result rows go out, what was changed comes back. The large futures are in boxes: awaiting a
/// future copies it into its place, at every level above, and a short query should not pay for what others
/// need.
pub(super) async fn run_plan(
    exec: &mut Exec<'_>,
    plan: &RowPlan,
    into: &[ast::Name],
    out: &mut dyn ResultSink,
    limit_ms: u64,
    draft: PointDraft,
) -> SqlResult<Outcome> {
    match &plan.kind {
        PlanKind::Query(plan) if limit_ms == 0 => run_query(exec, plan, into, out).await,
        PlanKind::Query(plan) => {
            let limit = TimeLimit::begin(limit_ms, exec.interrupt);
            limit.end(Box::pin(run_query(exec, plan, into, out)).await)
        }
        PlanKind::Insert(plan) => {
            Box::pin(exec.insert(plan)).await.map(|done| insert_outcome(plan, done, exec))
        }
        PlanKind::Change(plan, update) => {
            let done = exec.change(plan, draft).await?;
            Ok(change_outcome(plan, done, *update, exec))
        }
    }
}

async fn run_query(
    exec: &mut Exec<'_>,
    plan: &QueryPlan,
    into: &[ast::Name],
    out: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    access::count(&exec.session.entry.counts, plan);
    if !into.is_empty() {
        return Box::pin(select_into(exec, plan, into)).await;
    }
    exec.pin_snapshot(plan);
    out.columns(plan.columns())?;
    let mut out = ClientOut(out, exec.eval.warnings);
    let found = Box::pin(exec.query(plan, &[], &mut out)).await?;
    exec.session.set_found_rows(found);
    Ok(Outcome { rows: true, ..Outcome::default() })
}

async fn select_into(exec: &mut Exec<'_>, plan: &QueryPlan, into: &[ast::Name]) -> SqlResult<Outcome> {
    use crate::expr::SessionView;
    if plan.columns().len() != into.len() {
        return Err(SqlError::wrong_number_of_columns_in_select());
    }
    let mut kept = crate::exec::Kept::new(exec.eval, Some(2));
    exec.query(plan, &[], &mut kept).await?;
    if kept.rows.len() > 1 {
        return Err(SqlError::too_many_rows());
    }
    let affected = kept.rows.len() as u64;
    if affected == 0 {
        exec.session.warnings.push(WarningLevel::Warning, SqlError::no_data());
    }
    let connection = exec.eval.settings.connection_collation;
    for row in kept.rows {
        for ((name, value), column) in into.iter().zip(row).zip(plan.columns().iter()) {
            let kind = VariableKind::assigned(&column.column_type, connection);
            exec.session.set_user_variable(&name.to_lowercase(), value, kind)?;
        }
    }
    Ok(Outcome { affected, ..Outcome::default() })
}

fn insert_outcome(plan: &InsertPlan, done: Changed, exec: &Exec<'_>) -> Outcome {
    let several = !matches!(&plan.source, InsertSource::Rows(rows) if rows.len() == 1);
    let warnings = exec.session.warnings.count();
    let info = if several {
        let records = done.records.saturating_sub(done.left_out);
        Info::Text(format!("Records: {records}  Duplicates: {}  Warnings: {warnings}", done.duplicates))
    } else {
        Info::default()
    };
    let came = done.records.saturating_sub(done.left_out + done.duplicates);
    plan.table.counters.rows.fetch_add(came, std::sync::atomic::Ordering::Relaxed);
    exec.db.statistics().rows_changed(&plan.table, done.changed);
    let affected = if exec.session.found_rows_flag() { done.changed + done.kept } else { done.changed };
    Outcome { affected, changed: done.changed, insert_id: done.insert_id, info, ..Outcome::default() }
}

pub(super) fn change_outcome(plan: &ChangePlan, done: Changed, update: bool, exec: &Exec<'_>) -> Outcome {
    use std::sync::atomic::Ordering::Relaxed;
    let session = exec.session;
    for target in plan.targets.iter().filter(|target| target.moves_keys) {
        exec.db.statistics().rows_changed(&target.table, done.changed);
    }
    if !update && let [target] = plan.targets.as_slice() {
        let less = |rows: u64| Some(rows.saturating_sub(done.changed));
        let _ = target.table.counters.rows.fetch_update(Relaxed, Relaxed, less);
    }
    let affected = if update && session.found_rows_flag() { done.matched } else { done.changed };
    let warnings = session.warnings.count();
    let (matched, changed) = (done.matched, done.changed);
    let info = if update { Info::Update { matched, changed, warnings } } else { Info::default() };
    let insert_id = if update { session.told_id().unwrap_or(0) } else { 0 };
    Outcome { affected, changed: done.changed, insert_id, info, ..Outcome::default() }
}
