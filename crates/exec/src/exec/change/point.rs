//! UPDATE and DELETE of one row by its whole primary key: the flash sale's path.
//!
//! The general path finds rows by a locking scan and changes them afterwards. Here the key is known, so the
//! row is visited once: the engine locks it, shows its current version, and conditions, assignments and the
//! new row's bytes are worked out in the engine's closure.
//!
//! It is tried first without a wait ([`Exec::change_now`]), as a plain call: a future costs its size in
//! copies at every level that awaits it, and most point changes need none. Only if a step has to wait, the
//! draft goes on in a future of its own.

use turnstile_engine::{Change, UpdateDraft, Updated};

use super::apply::{Storing, changed_columns};
use super::{Changed, StoredRow};
use crate::exec::change::apply;
use crate::exec::point::PointKey;
use crate::exec::tail::limits;
use crate::exec::{Exec, point};
use turnstile_catalog::dictionary::check::is_broken_check;
use turnstile_catalog::row_codec::RowView;
use turnstile_expr::expr::WarningLevel;
use turnstile_plan::plan::change::{ChangePlan, ChangeTarget};
use turnstile_plan::plan::integer_change::{IntegerChange, IntegerOutcome};
use turnstile_plan::plan::point::{PointShape, conditions};
use turnstile_plan::plan::query::{JoinStep, Source, TableSource};
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::key_codec::ShortKey;

/// The parts of a change of this kind; `None` if it is of another.
fn target(plan: &ChangePlan) -> Option<(PointShape, &JoinStep, &TableSource, &ChangeTarget)> {
    let shape = plan.point?;
    let (step, target) = (plan.select.steps.first()?, plan.targets.first()?);
    let Source::Table(source) = &step.source else { return None };
    Some((shape, step, source, target))
}

/// What a point change that has to wait has worked out so far.
#[derive(Default)]
pub struct PointDraft {
    /// Its row's key: worked out once, since what it comes from may be different by now (a user variable).
    key: Option<ShortKey>,
    /// The row met the conditions.
    met: bool,
    update: UpdateDraft,
}

impl PointDraft {
    /// A draft; `ends`: its change, if it comes to one, is to commit its transaction too.
    pub fn that_ends(ends: bool) -> Self {
        PointDraft { update: UpdateDraft::that_ends(ends), ..PointDraft::default() }
    }

    /// Nothing has been worked out.
    pub fn is_empty(&self) -> bool {
        self.key.is_none()
    }
}

/// How a row is changed, for the engine's closure.
struct Decision<'d> {
    step: &'d JoinStep,
    target: &'d ChangeTarget,
    storing: Storing<'d>,
    /// The change as steps over the row's bytes.
    integer: Option<&'d IntegerChange>,
    /// IGNORE
    ignore: bool,
    /// Which condition is met by the row's key.
    implied: Option<usize>,
    met: bool,
    failed: Option<SqlError>,
}

impl Decision<'_> {
    fn decide(&mut self, old: &[u8], new: &mut Vec<u8>) -> Change {
        self.change(old, new).unwrap_or_else(|error| {
            self.failed = Some(error);
            Change::Abort
        })
    }

    fn change(&mut self, old: &[u8], new: &mut Vec<u8>) -> SqlResult<Change> {
        if let Some(outcome) = self.integer.and_then(|steps| steps.run(old, new, self.storing.eval)) {
            self.met = outcome != IntegerOutcome::Refused;
            return Ok(match outcome {
                IntegerOutcome::Refused => Change::Refuse,
                IntegerOutcome::Kept => Change::Keep,
                IntegerOutcome::Replaced => Change::Replace,
            });
        }
        let Decision { step, target, storing, implied, .. } = *self;
        let table = &target.table;
        let view = RowView::new(&table.layout, old).map_err(|_| SqlError::crashed_table(table.name()))?;
        let row = StoredRow { view: &view, base: step.base, rest: &[] };
        for (at, filter) in conditions(step).enumerate() {
            if implied != Some(at) && filter.expr.eval_truth(&row, storing.eval)? != Some(true) {
                return Ok(Change::Refuse);
            }
        }
        self.met = true;
        let Some(assignments) = &target.assignments else { return Ok(Change::Delete) };
        let changes = changed_columns(table, target.base, assignments, &view, &[], storing)?;
        if changes.is_empty() {
            return Ok(Change::Keep);
        }
        let encoded = table.layout.encode_changed(old, &changes, new);
        encoded.map_err(|_| SqlError::crashed_table(table.name()))?;
        Ok(Change::Replace)
    }

    fn outcome(self, updated: Updated) -> SqlResult<Changed> {
        match self.failed {
            Some(error) if self.ignore && is_broken_check(&error) => {
                self.storing.eval.warnings.push(WarningLevel::Warning, error);
                Ok(Changed { matched: 1, ..Changed::default() })
            }
            Some(error) => Err(error),
            None => Ok(Changed {
                matched: u64::from(self.met),
                changed: u64::from(matches!(updated, Updated::Changed | Updated::Deleted)),
                ..Changed::default()
            }),
        }
    }
}

impl<'e> Exec<'e> {
    /// Changes the row, if it is there and meets the conditions, and if no step of that has to wait. `None`:
    /// it is another kind of change, or has to wait; [`Exec::change`] does it with the draft.
    pub fn change_now(&mut self, plan: &ChangePlan, draft: &mut PointDraft) -> SqlResult<Option<Changed>> {
        let Some((shape, step, source, target)) = target(plan) else { return Ok(None) };
        turnstile_sys::trail!();
        if self.txn.purge_delay_us() > 0 {
            return Ok(None);
        }
        if limits(&plan.select.limit, self.eval)?.0 == 0 {
            return Ok(Some(Changed::default()));
        }
        let (key, implied) = match point::point_key(self, shape, source)? {
            PointKey::Nowhere => return Ok(Some(Changed::default())),
            PointKey::Many => return Ok(None),
            PointKey::One(key, implied) => (draft.key.insert(key), implied),
        };
        let mut decision = decision(self, plan, step, target, implied);
        let mut change = |old: &[u8], new: &mut Vec<u8>| decision.decide(old, new);
        let updated = self.txn.update_now(&target.table.engine, key, &mut change, &mut draft.update)?;
        draft.met = decision.met;
        updated.into_iter().for_each(|updated| count_read(self, updated));
        updated.map(|updated| decision.outcome(updated)).transpose()
    }
}

/// Goes on with a point change that has to wait, or begins it. `None`: it is another kind of change.
pub(super) async fn change_point(
    exec: &mut Exec<'_>,
    plan: &ChangePlan,
    draft: PointDraft,
) -> SqlResult<Option<Changed>> {
    let Some((shape, step, source, target)) = target(plan) else { return Ok(None) };
    if limits(&plan.select.limit, exec.eval)?.0 == 0 {
        return Ok(Some(Changed::default()));
    }
    let key = match draft.key {
        Some(key) => key,
        None => match point::point_key(exec, shape, source)? {
            PointKey::Nowhere => return Ok(Some(Changed::default())),
            PointKey::Many => return Ok(None),
            PointKey::One(key, _) => key,
        },
    };
    let mut decision = decision(exec, plan, step, target, None);
    decision.met = draft.met;
    let mut change = |old: &[u8], new: &mut Vec<u8>| decision.decide(old, new);
    let updated = exec.txn.update_waiting(&target.table.engine, &key, &mut change, draft.update).await?;
    count_read(exec, updated);
    decision.outcome(updated).map(Some)
}

/// The row was read to be changed. One that a scan has found is counted there.
fn count_read(exec: &Exec<'_>, updated: Updated) {
    if updated != Updated::Missing {
        exec.session.entry.status.rows().read.add(1);
    }
}

fn decision<'e: 'd, 'd>(
    exec: &Exec<'e>,
    plan: &'d ChangePlan,
    step: &'d JoinStep,
    target: &'d ChangeTarget,
    implied: Option<usize>,
) -> Decision<'d> {
    let storing = Storing { eval: exec.eval, strict: apply::is_strict(exec) && !plan.ignore, row: 1 };
    let integer = plan.integer.as_ref();
    Decision { step, target, storing, integer, ignore: plan.ignore, implied, met: false, failed: None }
}
