//! UPDATE and DELETE.
//!
//! Rows are found by a locking scan and changed by primary key. If nothing that is changed belongs to the key
//! by which rows are found, every row is changed as soon as it is found; otherwise all are found first, so
//! that a changed row is not met again further on.

pub mod apply;
pub mod counters;
mod fill;
mod foreign_key;
mod insert;
mod point;

use turnstile_engine::Visit;

use apply::{Rewrite, Storing};
pub use point::PointDraft;

use super::Exec;
use super::key_index::{KEY_OVERHEAD, KeyIndex};
use super::scan::{Fields, TableScan};
use super::tail::{Kept, TupleRow, limits};
use crate::exec::{access, select, sort, subquery};
use turnstile_catalog::row_codec::RowView;
use turnstile_plan::plan::change::{ChangePlan, ChangeTarget};
use turnstile_plan::plan::point::is_independent;
use turnstile_plan::plan::query::{JoinStep, Source, TableSource};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::memory::{Blocks, Many, row_bytes};
use turnstile_values::value::Value;

/// What a change did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Changed {
    /// Rows that were meant.
    pub matched: u64,
    /// Rows that are different now.
    pub changed: u64,
    /// Rows given to INSERT.
    pub records: u64,
    /// Rows that were there already.
    pub duplicates: u64,
    /// Rows that ON DUPLICATE KEY UPDATE left as they were.
    pub kept: u64,
    /// Rows that IGNORE left out because they break a constraint.
    pub left_out: u64,
    /// For the client: the first generated AUTO_INCREMENT value, or else the last that was given.
    pub insert_id: u64,
    /// The AUTO_INCREMENT value of the row that was changed last, where it was looked at.
    pub number: Option<u64>,
}

/// A row that was found: its primary key, and the tuple.
type Found = (Vec<u8>, Vec<Value>);

impl Exec<'_> {
    /// Runs UPDATE and DELETE, from what [`Exec::change_now`] has worked out.
    pub async fn change(&mut self, plan: &ChangePlan, draft: PointDraft) -> SqlResult<Changed> {
        self.txn.wait_for_purge().await?;
        if let Some(done) = point::change_point(self, plan, draft).await? {
            return Ok(done);
        }
        // In a box: its future is kilobytes, and awaiting copies a future into its place.
        Box::pin(change_rows(self, plan)).await
    }
}

/// The general path.
async fn change_rows(exec: &mut Exec<'_>, plan: &ChangePlan) -> SqlResult<Changed> {
    access::count_change(&exec.session.entry.counts, &plan.select);
    let mut done = Changed::default();
    let mut tuple = vec![Value::Null; plan.select.width];
    for subquery in plan.select.subqueries.iter().filter(|one| !one.correlated) {
        subquery::run_subquery(exec, subquery, &mut tuple).await?;
    }
    if !conditions(exec, plan, &plan.select.preconditions, &mut tuple).await? {
        return Ok(done);
    }
    match (plan.select.steps.as_slice(), plan.targets.as_slice()) {
        ([step], [target]) => match &step.source {
            Source::Table(source) => change_one(exec, plan, step, source, target, tuple, &mut done).await?,
            _ => {
                return Err(SqlError::change_not_updatable());
            }
        },
        _ => change_joined(exec, plan, &mut done).await?,
    }
    Ok(done)
}

async fn conditions(
    exec: &mut Exec<'_>,
    plan: &ChangePlan,
    filters: &[turnstile_plan::plan::query::Filter],
    tuple: &mut [Value],
) -> SqlResult<bool> {
    for filter in filters {
        for nth in &filter.subqueries {
            subquery::run_subquery(exec, &plan.select.subqueries[*nth], tuple).await?;
        }
        if filter.expr.eval_truth(&TupleRow(tuple), exec.eval)? != Some(true) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Counts a sort as MySQL does, where DELETE sorts all that it finds.
fn count_sorted(exec: &Exec<'_>, target: &ChangeTarget, rows: usize, limit: u64) {
    let wanted = if target.assignments.is_some() { limit } else { u64::MAX };
    exec.session.entry.counts.sorted(rows, wanted);
}

async fn change_one(
    exec: &mut Exec<'_>,
    plan: &ChangePlan,
    step: &JoinStep,
    source: &TableSource,
    target: &ChangeTarget,
    tuple: Vec<Value>,
    done: &mut Changed,
) -> SqlResult<()> {
    let (count, _) = limits(&plan.select.limit, exec.eval)?;
    if count == 0 {
        return Ok(());
    }
    let sorts = !plan.select.order.is_empty();
    let at_once = !sorts && is_independent(source, target);
    let mut waiting: Many<Found> = Many::new();
    let mut charge = exec.eval.charge();
    let mut scan = TableScan::open(source, &TupleRow(&tuple), exec.eval)?
        .for_update_statement(target.assignments.is_some());
    loop {
        let (mut found, more) = find(exec, &mut scan, step, source, &tuple).await?;
        for (pk, mut tuple) in found.drain(..) {
            if !conditions(exec, plan, &step.matching, &mut tuple).await?
                || !conditions(exec, plan, &step.filters, &mut tuple).await?
            {
                continue;
            }
            if at_once {
                apply(exec, plan, target, &pk, &mut tuple, done).await?;
            } else {
                charge.add(row_bytes(&tuple) + pk.len() + size_of::<Found>())?;
                waiting.push((pk, tuple));
            }
            let met = if at_once { done.matched } else { waiting.len() as u64 };
            if !sorts && met >= count {
                scan.stop();
            }
        }
        if !more || scan.is_stopped() {
            break;
        }
        exec.breathe().await;
    }
    if sorts {
        let mut keyed = Blocks::new();
        for (nth, (_, tuple)) in waiting.iter_mut().enumerate() {
            exec.pace().await?;
            for subquery in &plan.select.item_subqueries {
                subquery::run_subquery(exec, &plan.select.subqueries[*subquery], tuple).await?;
            }
            let tuple = &*tuple;
            let keys = plan.select.order.iter().map(|key| key.expr.eval(&TupleRow(tuple), exec.eval));
            keyed.push((keys.collect::<SqlResult<Vec<_>>>()?, vec![Value::UInt(nth as u64)]));
        }
        count_sorted(exec, target, keyed.len(), count);
        let keyed = sort::sorted(exec, keyed, &super::order::directions(&plan.select.order)).await?;
        for (_, row) in keyed.take(usize::try_from(count).unwrap_or(usize::MAX)) {
            let Some(Value::UInt(nth)) = row.first() else { continue };
            exec.pace().await?;
            let (pk, mut tuple) = std::mem::take(&mut waiting[*nth as usize]);
            apply(exec, plan, target, &pk, &mut tuple, done).await?;
        }
        return Ok(());
    }
    for (pk, mut tuple) in waiting {
        exec.pace().await?;
        apply(exec, plan, target, &pk, &mut tuple, done).await?;
    }
    Ok(())
}

/// The next rows, locked; those whose plain conditions fail are left out.
async fn find(
    exec: &mut Exec<'_>,
    scan: &mut TableScan<'_>,
    step: &JoinStep,
    source: &TableSource,
    tuple: &[Value],
) -> SqlResult<(Vec<Found>, bool)> {
    let context = exec.eval;
    let columns = step.base..step.base + step.columns;
    let plain = |view: &RowView<'_>| {
        let row = StoredRow { view, base: step.base, rest: tuple };
        let mut filters = step.matching.iter().chain(&step.filters).filter(|one| one.subqueries.is_empty());
        // An error comes up again when the row is looked at for good.
        filters.all(|one| !matches!(one.expr.eval_truth(&row, context), Ok(Some(false) | None)))
    };
    let mut found = Vec::new();
    let mut accept = |view: &RowView<'_>| plain(view);
    let mut visit = |fields: Fields<'_>| {
        let mut row = tuple.to_vec();
        fields.fill(&source.needed, &mut row[columns.clone()]);
        found.push((fields.primary_key().to_vec(), row));
        Ok(Visit::Continue)
    };
    let more = scan.batch(exec.txn, (exec.interrupt, context), &mut accept, &mut visit).await?;
    Ok((found, more))
}

/// Changes the row of one target that a tuple speaks of.
async fn apply(
    exec: &mut Exec<'_>,
    plan: &ChangePlan,
    target: &ChangeTarget,
    pk: &[u8],
    tuple: &mut [Value],
    done: &mut Changed,
) -> SqlResult<()> {
    run_assigned_subqueries(exec, plan, target, tuple, done.matched + 1).await?;
    apply_computed(exec, plan, target, pk, tuple, done).await
}

/// The same where the sub-queries have run.
async fn apply_computed(
    exec: &mut Exec<'_>,
    plan: &ChangePlan,
    target: &ChangeTarget,
    pk: &[u8],
    tuple: &[Value],
    done: &mut Changed,
) -> SqlResult<()> {
    match &target.assignments {
        None => {
            done.matched += 1;
            let table = &target.table;
            let deleted = match target.foreign.as_deref() {
                None => exec.txn.delete(&table.engine, pk).await?,
                Some(foreign) => {
                    Box::pin(foreign_key::delete_parent(exec, table, foreign, pk, plan.ignore)).await?
                }
            };
            done.changed += u64::from(deleted);
            Ok(())
        }
        Some(assignments) => {
            let rewrite = Rewrite {
                table: &target.table,
                base: target.base,
                assignments,
                foreign: target.foreign.as_deref(),
                ignore: plan.ignore,
                light: target.light,
            };
            apply::update_row(exec, rewrite, pk, tuple, done).await
        }
    }
}

/// Runs the sub-queries of SET. As everything in SET they see what is assigned before them.
async fn run_assigned_subqueries(
    exec: &mut Exec<'_>,
    plan: &ChangePlan,
    target: &ChangeTarget,
    tuple: &mut [Value],
    number: u64,
) -> SqlResult<()> {
    let Some((last, _)) = target.subqueries.last() else { return Ok(()) };
    let columns = target.base..target.base + target.table.columns().len();
    let before = tuple[columns.clone()].to_vec();
    for (nth, (column, value)) in target.assignments.iter().flatten().enumerate().take(last + 1) {
        for (_, subqueries) in target.subqueries.iter().filter(|(at, _)| *at == nth) {
            for subquery in subqueries {
                subquery::run_subquery(exec, &plan.select.subqueries[*subquery], tuple).await?;
            }
        }
        let position = target.base + column;
        let behind = target.subqueries.iter().filter(|(at, _)| *at > nth).flat_map(|(_, all)| all);
        let mut behind = behind.map(|subquery| &plan.select.subqueries[*subquery]);
        if !behind.any(|subquery| subquery.reads.contains(&position)) {
            continue;
        }
        let storing =
            Storing { eval: exec.eval, strict: apply::is_strict(exec) && !plan.ignore, row: number };
        tuple[position] = match value {
            Some(value) => {
                let value = value.eval(&TupleRow(tuple), exec.eval)?;
                storing.store(&target.table, *column, &value)?
            }
            None => storing.default_in(&target.table, *column, &TupleRow(&before))?,
        };
    }
    tuple[columns].clone_from_slice(&before);
    Ok(())
}

/// Several tables: all tuples first, with what sub-queries say before anything is changed; then every
/// target row once.
async fn change_joined(exec: &mut Exec<'_>, plan: &ChangePlan, done: &mut Changed) -> SqlResult<()> {
    let mut kept = Kept::new(exec.eval, None);
    tuples(exec, &plan.select, &mut kept).await?;
    for tuple in &mut kept.rows {
        exec.pace().await?;
        for target in &plan.targets {
            run_assigned_subqueries(exec, plan, target, tuple, done.matched + 1).await?;
        }
    }
    let (mut seen, mut key) = (KeyIndex::default(), Vec::new());
    for tuple in std::mem::take(&mut kept.rows) {
        exec.pace().await?;
        for (nth, target) in plan.targets.iter().enumerate() {
            let columns = &tuple[target.base..target.base + target.table.columns().len()];
            // A row that an outer join filled with NULLs is none.
            let Some(pk) = row_key(target, columns, &tuple) else { continue };
            kept.charge.add(pk.len() + KEY_OVERHEAD)?;
            key.clear();
            key.extend_from_slice(&(nth as u32).to_le_bytes());
            key.extend_from_slice(&pk);
            if seen.insert(&key) {
                apply_computed(exec, plan, target, &pk, &tuple, done).await?;
            }
        }
    }
    Ok(())
}

/// Runs a block and keeps its whole tuples.
async fn tuples(
    exec: &mut Exec<'_>,
    select: &turnstile_plan::plan::query::SelectPlan,
    kept: &mut Kept,
) -> SqlResult<()> {
    select::select_tuples(exec, select, kept).await
}

/// The key of a target's row; None if the tuple has none.
fn row_key(target: &ChangeTarget, columns: &[Value], tuple: &[Value]) -> Option<Vec<u8>> {
    if target.table.primary().is_none() {
        return match tuple.get(target.base + columns.len()) {
            Some(Value::Bytes(key)) => Some(key.to_vec()),
            _ => None,
        };
    }
    let mut pk = Vec::new();
    let found = target.table.primary_key(columns, &mut pk) && !columns.iter().all(Value::is_null);
    found.then_some(pk)
}

/// A row in the engine's bytes, at its place in a tuple.
pub struct StoredRow<'r> {
    /// The row.
    pub view: &'r RowView<'r>,
    /// Tuple position of its first column.
    pub base: usize,
    /// The tuple around it.
    pub rest: &'r [Value],
}

impl turnstile_expr::expr::Row for StoredRow<'_> {
    fn value(&self, position: usize) -> Value {
        match position.checked_sub(self.base) {
            Some(column) if column < self.view.layout_columns() => self.view.get(column),
            _ => self.rest.get(position).cloned().unwrap_or_default(),
        }
    }
}
