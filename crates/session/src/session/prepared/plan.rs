//! Plans of prepared statements: made when one is first run, kept as long as they hold, again for values of
//! other types.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use turnstile_sys::known::Known;

use super::super::Session;
use super::running_command;
use crate::ast;
use crate::error::{ErrorKind, SqlResult};
use crate::expr::{EvalContext, SessionView, VariableKind};
use crate::kept_statement::{Kept, PlanKey, Statement, Version};
use crate::plan::derived::{Deriving, Kinds, check_counts, expected, given};
use crate::plan::estimate::Dives;
use crate::plan::parameters::{Parameters, serves};
use crate::row_plan::RowPlan;
use crate::session::statement::with_eval;
use crate::session::{reads, statement};
use crate::value::Value;

/// A plan to run.
pub(super) struct Planned {
    pub plan: Known<RowPlan>,
    /// The values to run it with, where these are not those that came.
    pub values: Option<Vec<Value>>,
    /// Where it was found, if the session may keep it closer.
    pub kept: Option<Arc<Kept>>,
}

/// How often a statement is planned at most until it is known what its parameters are: what one is may follow
/// from what another is.
const DERIVATIONS_MAX: usize = 4;

/// Plans that a statement keeps at most: callers that send a parameter now as one kind, now as another are
/// few.
const PLANS_MAX: usize = 4;

/// What names mean to the session now.
#[inline]
fn version(session: &Session) -> Version {
    (session.db.dictionary().version(), session.temporary.number())
}

/// What the values are to a statement on rows that keeps no plan: their kinds, and they themselves where
/// they are converted. The metadata locks must be held.
pub fn taken(
    session: &Session,
    statement: &ast::Statement,
    params: &[Value],
) -> SqlResult<(Kinds, Option<Vec<Value>>)> {
    if params.is_empty() {
        return Ok((Kinds::new(), None));
    }
    let prepared = Statement::new(statement.clone(), params.len());
    derive(session, &prepared)?;
    let derived = &prepared.plans.lock().derived;
    check_counts(derived, params, running_command(session))?;
    Ok(match given(derived, params) {
        Some(given) => (given.kinds, given.values),
        None => (expected(derived, params), None),
    })
}

/// What the parameters of a statement are by where they stand, and its plan with them. The metadata locks
/// must be held.
#[cold]
pub(super) fn derive(session: &Session, statement: &Statement) -> SqlResult<RowPlan> {
    let nulls = vec![Value::Null; statement.params];
    let version = version(session);
    let warned = session.state.warnings.count();
    let mut known = Deriving::of(statement.params).found();
    for _ in 1..DERIVATIONS_MAX {
        let parameters = Parameters::deriving(&known);
        let plan =
            statement::plan_rows(session, (&statement.statement, statement.reads), &nulls, &parameters)?;
        let found = parameters.derivation().map(Deriving::found).unwrap_or_default();
        if found == known {
            let mut plans = statement.plans.lock();
            (plans.version, plans.derived) = (Some(version), found);
            return Ok(plan);
        }
        known = found;
        if warned == 0 {
            session.state.warnings.clear();
        }
    }
    let parameters = Parameters::deriving(&known);
    let plan = statement::plan_rows(session, (&statement.statement, statement.reads), &nulls, &parameters)?;
    let mut plans = statement.plans.lock();
    (plans.version, plans.derived) = (Some(version), known);
    Ok(plan)
}

/// The plan of a statement for these values, made anew if what it depends on has changed. The metadata locks
/// must be held.
pub(super) fn kept_plan(session: &Session, prepared: &Statement, params: &[Value]) -> SqlResult<Planned> {
    let version = version(session);
    let locks_reads = reads::locks_reads(session, prepared.reads);
    let holds = |kept: &Kept, given: Option<&[Value]>| {
        !session.settings.plans_anew
            && is_planned_for(session, &kept.key, version, locks_reads)
            && has_kinds(session, &kept.variables)
            && is_good_for(session, &kept.plan, given, params)
    };
    if (prepared.literals || prepared.params == 0)
        && let Some(plan) = session.known.plan(prepared, |kept| holds(kept, None))
    {
        return Ok(Planned { plan, values: None, kept: None });
    }
    let mut plans = prepared.plans.lock();
    if !prepared.literals && prepared.params > 0 && plans.version != Some(version) {
        drop(plans);
        derive(session, prepared)?;
        plans = prepared.plans.lock();
    }
    let given = match prepared.literals || prepared.params == 0 {
        true => None,
        false => {
            check_counts(&plans.derived, params, running_command(session))?;
            given(&plans.derived, params)
        }
    };
    for kept in plans.kept.iter().rev() {
        let serves = match &given {
            None => prepared.literals || serves(&kept.kinds, &plans.derived, params),
            Some(given) => kept.kinds == given.kinds,
        };
        if serves && holds(kept, given.as_ref().and_then(|given| given.values.as_deref())) {
            let shared = prepared.text.is_none().then(|| kept.clone());
            let values = given.and_then(|given| given.values);
            return Ok(Planned { plan: kept.plan.clone(), values, kept: shared });
        }
    }
    let (kinds, values) = match given {
        Some(given) => (given.kinds, given.values),
        None => (expected(&plans.derived, params), None),
    };
    drop(plans);
    let plan = plan_to_keep(session, prepared, values.as_deref().unwrap_or(params), kinds)?;
    Ok(Planned { plan, values, kept: None })
}

/// Whether a plan reads as few rows for these values as it did for those it was made for.
#[inline]
fn is_good_for(session: &Session, plan: &RowPlan, given: Option<&[Value]>, params: &[Value]) -> bool {
    let (engine, limit) = (session.db.engine(), session.settings.dive_limit);
    let dives = |eval: &EvalContext<'_>| plan.fits(Dives { engine, eval, limit });
    !plan.weighed || with_eval(session, given.unwrap_or(params), dives)
}

/// Whether user variables hold values of these kinds.
#[inline]
fn has_kinds(session: &Session, variables: &[(Box<str>, VariableKind)]) -> bool {
    variables.iter().all(|(name, kind)| session.state.user_variable_kind(name) == *kind)
}

/// Whether a kept plan was made for this version of the dictionary and for the settings of now.
#[inline]
fn is_planned_for(session: &Session, key: &PlanKey, version: Version, locks_reads: bool) -> bool {
    let settings = &session.settings;
    key.version == version
        && key.mode == settings.sql_mode
        && key.collation == settings.collation_connection
        && key.locks_reads == locks_reads
        && key.time_zone == settings.time_zone
        && session.state.is_schema(key.schema.as_ref())
}

/// Makes a plan for these values and keeps it.
#[cold]
fn plan_to_keep(
    session: &Session,
    prepared: &Statement,
    params: &[Value],
    kinds: Kinds,
) -> SqlResult<Known<RowPlan>> {
    let parameters = prepared.parameters(&kinds);
    if session.settings.plans_anew {
        return plan_for(session, prepared, params, &parameters);
    }
    let key = PlanKey {
        version: version(session),
        schema: session.state.schema(),
        mode: session.settings.sql_mode,
        collation: session.settings.collation_connection,
        time_zone: session.settings.time_zone,
        locks_reads: reads::locks_reads(session, prepared.reads),
    };
    let warned = session.state.warnings.count();
    let plan = plan_for(session, prepared, params, &parameters)?;
    if !prepared.literals && session.state.warnings.count() > warned {
        session.state.warnings.take_back(warned, ErrorKind::Unsupported);
    }
    if parameters.decide_by_value() && !prepared.by_value.swap(true, Ordering::Relaxed) {
        if warned == 0 {
            session.state.warnings.clear();
        }
        return plan_for(session, prepared, params, &Parameters::values());
    }
    // A statement that sessions share keeps plans that any of them can use.
    let shared = prepared.text.is_none() && key.version.1 != 0;
    if shared || prepared.by_value.load(Ordering::Relaxed) {
        return Ok(plan);
    }
    // What planning tells of is told again when the statement comes again.
    if session.state.warnings.count() > warned {
        return Ok(plan);
    }
    let kept = &mut prepared.plans.lock().kept;
    kept.retain(|kept| kept.key == key);
    if kept.len() == PLANS_MAX {
        kept.remove(0);
    }
    let one = Kept { key, kinds, variables: parameters.variables(), plan: plan.clone() };
    kept.push(Arc::new(one));
    Ok(plan)
}

fn plan_for(
    session: &Session,
    prepared: &Statement,
    params: &[Value],
    parameters: &Parameters,
) -> SqlResult<Known<RowPlan>> {
    let plan = statement::plan_rows(session, (&prepared.statement, prepared.reads), params, parameters)?;
    Ok(Arc::new(Arc::new(plan)))
}
