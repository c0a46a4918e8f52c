//! Metadata locks of the tables at the other end of foreign keys.
//!
//! A statement takes the metadata locks of the tables it names, is planned, and then takes those that its
//! plan asks for besides: parents and children that are read `Read`, children that a cascade may change
//! `Write`. If a definition has changed meanwhile it is planned again. So when it runs, what the plan says of
//! all these tables is true, as rule 1 of this crate asks.
//!
//! Whoever gives a table a new child (CREATE TABLE, ALTER TABLE ... ADD) holds the parent's metadata lock
//! exclusively. So the children that a plan has found are all there are for as long as it holds the parent's
//! metadata lock.

use turnstile_engine::session_status::WaitingFor;

use super::Session;
use crate::error::{SqlError, SqlResult};
use crate::mdl::Mode;
use crate::plan::foreign_key::ForeignPlan;
use crate::row_plan::{PlanKind, RowPlan};
use crate::session::{statement, transaction};

impl RowPlan {
    /// Whether foreign keys take part.
    pub(super) fn has_foreign(&self) -> bool {
        match &self.kind {
            PlanKind::Query(_) => false,
            PlanKind::Insert(plan) => plan.foreign.is_some(),
            PlanKind::Change(plan, _) => plan.has_foreign,
        }
    }

    fn foreign(&self) -> Vec<&ForeignPlan> {
        match &self.kind {
            PlanKind::Query(_) => Vec::new(),
            PlanKind::Insert(plan) => plan.foreign.iter().map(|one| &**one).collect(),
            PlanKind::Change(plan, _) => {
                plan.targets.iter().filter_map(|target| target.foreign.as_deref()).collect()
            }
        }
    }
}

/// Takes the metadata locks that a plan asks for besides those of its statement's tables. False: the plan is
/// out of date.
pub(super) async fn hold_related(session: &mut Session, plan: &RowPlan) -> SqlResult<bool> {
    if !session.settings.foreign_key_checks {
        return Ok(true);
    }
    let wanted = plan.foreign();
    if session.table_locks.is_none() {
        for (table, mode) in wanted.iter().flat_map(|foreign| &foreign.metadata_locks) {
            let mdl = &table.mdl;
            let held = session.open.as_ref().and_then(|open| open.held(mdl));
            if held.is_some_and(|held| held == Mode::Write || *mode == Mode::Read) {
                continue;
            }
            let hold = match mdl.try_enter(*mode, held.is_some()) {
                Some(hold) => hold,
                None if *mode == Mode::Write && session.global_read_lock.is_some() => {
                    return statement::abandon(session, SqlError::conflicting_read_lock()).await;
                }
                None => {
                    session.db.status().metadata_wait();
                    let status = session.entry.status.clone();
                    let _note = status.waits(WaitingFor::Definition);
                    let entered =
                        mdl.enter(*mode, held.is_some(), &mut transaction::metadata_patience(session)).await;
                    match entered {
                        Ok(hold) => hold,
                        Err(error) => return statement::abandon(session, error).await,
                    }
                }
            };
            transaction::enter_quietly(session).holds.push(hold);
        }
    }
    let version = session.db.dictionary().version();
    Ok(wanted.iter().all(|foreign| foreign.version == version))
}
