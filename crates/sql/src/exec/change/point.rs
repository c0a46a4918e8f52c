//! UPDATE and DELETE of one row by its whole primary key: the flash sale's path.
//!
//! The general path finds rows by a locking scan and changes them afterwards. Here the key is known, so the row is visited
//! once: the engine locks it, shows its current version, and conditions, assignments and the new row's bytes are worked out
//! in the engine's closure.

use turnstile_engine::{Change, Updated};

use super::apply::{Storing, changed_columns};
use super::{Changed, StoredRow, is_independent};
use crate::error::{SqlError, SqlResult};
use crate::exec::tail::FrameRow;
use crate::exec::{Exec, range};
use crate::plan::change::{ChangePlan, ChangeTarget};
use crate::plan::query::{Source, Step, TableSource};
use crate::row_codec::RowView;
use crate::value::Value;

/// The parts of a change of this kind; `None` if it is of another.
pub fn target(plan: &ChangePlan) -> Option<(&Step, &TableSource, &ChangeTarget)> {
    let ([step], [target]) = (plan.select.steps.as_slice(), plan.targets.as_slice()) else { return None };
    let Source::Table(source) = &step.source else { return None };
    let plain = plan.select.preconditions.is_empty();
    (plain && is_point(plan, step, source, target)).then_some((step, source, target))
}

/// Whether a change is of this kind: one range, equal in every part of the primary key, nothing but plain conditions, and
/// neither the primary key nor a unique key among what is assigned.
fn is_point(plan: &ChangePlan, step: &Step, source: &TableSource, target: &ChangeTarget) -> bool {
    let access = &source.access;
    let table = &target.table;
    let assigned = |column: &usize| target.assignments.iter().flatten().any(|(at, _)| at == column);
    let unique = table.keys().iter().filter(|key| key.unique);
    access.unique
        && access.ranges.len() == 1
        && access.key.is_some()
        && access.key == table.primary()
        && plan.select.subqueries.is_empty()
        && plan.select.item_subqueries.is_empty()
        && step.matching.iter().chain(&step.filters).all(|filter| filter.subqueries.is_empty())
        && is_independent(source, target)
        && !unique.flat_map(|key| &key.parts).any(|part| assigned(&part.column))
}

impl Exec<'_> {
    /// Changes the row, if it is there and meets the conditions. False: the key is not one whole key after all (a value
    /// that the column cannot hold); take the general path.
    pub(super) async fn change_point(
        &mut self,
        plan: &ChangePlan,
        step: &Step,
        source: &TableSource,
        target: &ChangeTarget,
        frame: &[Value],
        done: &mut Changed,
    ) -> SqlResult<bool> {
        let ranges = range::ranges(&source.table, &source.access, &FrameRow(frame), self.eval)?;
        let Some(range) = ranges.first() else { return Ok(true) };
        if !range.point {
            return Ok(false);
        }
        let key = range.lower.as_deref().unwrap_or_default();
        let table = &target.table;
        let storing =
            Storing { eval: self.eval, strict: self.is_strict() && !plan.ignore, row: done.matched + 1 };
        let (mut failed, mut met) = (None, false);
        let mut change = |old: &[u8], new: &mut Vec<u8>| {
            let outcome = (|| {
                let view =
                    RowView::new(&table.layout, old).map_err(|_| SqlError::crashed_table(table.name()))?;
                let row = StoredRow { view: &view, base: step.base, rest: frame };
                for filter in step.matching.iter().chain(&step.filters) {
                    if filter.expr.eval_truth(&row, storing.eval)? != Some(true) {
                        return Ok(Change::Keep);
                    }
                }
                met = true;
                let Some(assignments) = &target.assignments else { return Ok(Change::Delete) };
                let changes = changed_columns(table, target.base, assignments, &view, frame, storing)?;
                if changes.is_empty() {
                    return Ok(Change::Keep);
                }
                let encoded = table.layout.encode_changed(old, &changes, new);
                encoded.map_err(|_| SqlError::crashed_table(table.name()))?;
                Ok(Change::Replace)
            })();
            outcome.unwrap_or_else(|error| {
                failed = Some(error);
                Change::Abort
            })
        };
        let updated = self.txn.update(&table.engine, key, &mut change).await?;
        if let Some(error) = failed {
            return Err(error);
        }
        done.matched += u64::from(met);
        done.changed += u64::from(matches!(updated, Updated::Changed | Updated::Deleted));
        Ok(true)
    }
}
