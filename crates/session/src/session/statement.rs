//! One parsed statement: which of the session's parts runs it, and what the client is told.
//!
//! Life of a statement that reads or changes rows:
//! 1. its tables' metadata locks are taken (`hold`), a transaction opened if none is open (`enter`);
//! 2. it is planned ([`crate::plan`]) and run ([`crate::exec`]) by `run`;
//! 3. the statement's transaction is committed and the commit made durable, or what it did undone (`leave`);
//! 4. the client gets its terminator.

mod evaluate;
mod info;
mod now;
mod run;
mod trace;

use super::Session;
use super::time_limit::TimeLimit;
use crate::ast::{self, Statement};
use crate::error::{ErrorKind, SqlError, SqlResult};
use crate::exec::Exec;
use crate::exec::change::PointDraft;
use crate::expr::{EvalContext, EvalSettings, Warnings};
use crate::parser::Aside;
use crate::plan::change::{plan_delete, plan_insert, plan_update};
use crate::plan::parameters::{Parameters, actual};
use crate::plan::uses::Uses;
use crate::plan::{PlanContext, plan_shown};
use crate::pulse;
use crate::reads_lock::ReadsLock;
use crate::row_plan::{PlanKind, RowPlan};
use crate::session::retry::Tries;
use crate::session::{
    accounts, aside, ddl, explain, foreign_key, lock_tables, maintain, persist, prepared, read_only, reads,
    rewrite, rights, set, show, transaction,
};
use crate::sink::ResultSink;
use crate::used_tables::{Used, of_statement};
use crate::value::Value;
use evaluate::evaluate_only;
pub(super) use evaluate::{evaluate, evaluate_typed, selecting, with_eval};
pub use info::Info;
use now::{Attempt, begin_rows};
pub(super) use run::change_settings;
use run::run_plan;

/// What a statement told the client so far, and what its terminator says.
#[derive(Debug, Default)]
pub struct Outcome {
    /// A result set was written; its end is still to come.
    pub rows: bool,
    /// Affected rows.
    pub affected: u64,
    /// The same, whether the client counts changed rows or, with CLIENT_FOUND_ROWS, those that were meant.
    pub changed: u64,
    /// AUTO_INCREMENT value for the client.
    pub insert_id: u64,
    /// Text of the OK packet.
    pub info: Info,
    /// It shows the warnings of the statement before and has none of its own.
    pub shows_warnings: bool,
}

/// Settings of expressions for the statement that begins now.
pub fn eval_settings(settings: &crate::variables::SessionSettings) -> EvalSettings {
    let now_us = settings.fixed_now_us.unwrap_or_else(|| {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        since.as_micros() as i64
    });
    EvalSettings {
        client_set: settings.client_set,
        sql_mode: settings.sql_mode,
        time_zone: settings.time_zone,
        statement_start_us: now_us,
        connection_collation: settings.collation_connection,
        result_bytes_max: settings.max_allowed_packet,
        group_concat_bytes_max: settings.group_concat_max_len,
        recursion_rounds_max: settings.cte_max_recursion_depth,
        default_week_format: settings.default_week_format,
        division_digits: settings.division_digits,
        strict_change: false,
        null_finds_last: settings.auto_is_null,
    }
}

/// Runs a statement and writes its whole result. `more`: another result follows.
pub(super) async fn run_statement(
    session: &mut Session,
    (statement, aside): (&Statement, Option<&Aside>),
    params: &[Value],
    out: &mut dyn ResultSink,
    more: bool,
) -> SqlResult<()> {
    if !keeps_warnings(statement) {
        session.state.warnings.clear();
    }
    session.state.begin_sequences();
    session.entry.counts.command(statement);
    if !matches!(statement, Statement::Shutdown) {
        session.check_engine()?;
    }
    let mut tries = Tries::begin(session);
    let outcome = loop {
        let saved = aside.map(|aside| aside::begin_aside(session, aside, statement));
        let outcome = dispatch(session, statement, params, out).await;
        let outcome = match saved {
            Some(saved) => aside::end_aside(session, saved, outcome).await,
            None => outcome,
        };
        match outcome {
            Err(error) if let Some(pause) = tries.again(session, statement, &error) => pause.await,
            outcome => break outcome,
        };
    };
    if !session.gone_trees.is_empty() {
        ddl::sweep_temporary(session)?;
    }
    let mut outcome = outcome?;
    if !matches!(statement, Statement::Shutdown)
        && let Some(wait) = session.before_answer()?
    {
        wait.await?;
    }
    outcome.shows_warnings = keeps_warnings(statement);
    finish_result(session, &outcome, out, more);
    Ok(())
}

/// Writes a statement's terminator.
pub(super) fn finish_result(session: &mut Session, outcome: &Outcome, out: &mut dyn ResultSink, more: bool) {
    let status = session.status_flags() | if more { crate::sink::status_flag::MORE_RESULTS } else { 0 };
    let warnings = if outcome.shows_warnings { 0 } else { session.state.warnings.count() };
    if outcome.rows {
        session.state.set_row_count(-1);
        out.end(warnings, status);
    } else {
        session.state.set_row_count(outcome.affected as i64);
        let mut buffer = std::mem::take(&mut session.info_buffer);
        outcome.info.with_text(&mut buffer, |info| {
            out.ok(outcome.affected, outcome.insert_id, warnings, info, status);
        });
        session.info_buffer = buffer;
    }
}

pub(super) async fn dispatch(
    session: &mut Session,
    statement: &Statement,
    params: &[Value],
    out: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    // Whether an account may manage accounts is asked before whether anybody may now, as in MySQL.
    if let Statement::User(_) | Statement::DropUser { .. } | Statement::RenameUser(_) = statement {
        rights::ask_for_statement(session, statement)?;
        read_only::check_writable(session, statement)?;
    } else {
        read_only::check_writable(session, statement)?;
        rights::ask_for_statement(session, statement)?;
    }
    match statement {
        Statement::Select(_) | Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_) => {
            row_statement(session, (statement, ReadsLock::of(statement)), params, out).await
        }
        Statement::Nothing => Ok(Outcome::default()),
        Statement::Do(exprs) => evaluate_only(session, exprs, params).await,
        Statement::Begin(begin) => {
            transaction::begin(session, begin.clone()).await.map(|()| Outcome::default())
        }
        Statement::Commit(tail) => {
            transaction::complete(session, true, *tail).await.map(|()| Outcome::default())
        }
        Statement::Rollback(tail) => {
            transaction::complete(session, false, *tail).await.map(|()| Outcome::default())
        }
        Statement::Savepoint(name) => {
            transaction::savepoint(session, name)?;
            Ok(Outcome::default())
        }
        Statement::RollbackTo(name) => {
            transaction::rollback_to(session, name).await.map(|()| Outcome::default())
        }
        Statement::ReleaseSavepoint(name) => {
            transaction::release_savepoint(session, name).map(|()| Outcome::default())
        }
        Statement::Set(items) => set::set(session, items, params).await.map(|()| Outcome::default()),
        Statement::Use(name) => session.use_schema(name).map(|()| Outcome::default()),
        Statement::Show(show) => show::show(session, show, params, out).await,
        Statement::Explain(explain) => explain::explain(session, explain, params, out).await,
        Statement::Kill(kill) => set::kill(session, kill, params),
        Statement::Prepare { .. } | Statement::Execute { .. } | Statement::Deallocate(_) => {
            prepared::text_prepared(session, statement, out).await
        }
        Statement::User(_)
        | Statement::DropUser { .. }
        | Statement::RenameUser(_)
        | Statement::Grant(_)
        | Statement::Revoke(_)
        | Statement::Role(_) => {
            accounts::account_statement(session, statement).await.map(|()| Outcome::default())
        }
        Statement::Flush(targets) => lock_tables::flush(session, targets).await.map(|()| Outcome::default()),
        Statement::LockTables(tables) => {
            lock_tables::lock_tables(session, tables).await.map(|()| Outcome::default())
        }
        Statement::UnlockTables => lock_tables::unlock_tables(session).await.map(|()| Outcome::default()),
        Statement::TableMaintenance(work) => maintain::maintain(session, work, out).await,
        Statement::Shutdown => maintain::shut_down(session).map(|()| Outcome::default()),
        Statement::ResetPersist { if_exists, name } => {
            persist::reset_persist(session, name.as_deref(), *if_exists).map(|()| Outcome::default())
        }
        Statement::Reset(what) => Err(SqlError::not_supported_yet(format!("RESET {what}"))),
        _ => ddl::definition_statement(session, statement, params).await,
    }
}

/// What planning needs to know.
pub(super) fn plan_context<'a>(
    session: &'a Session,
    schema: Option<&'a str>,
    eval: &'a EvalContext<'a>,
    uses: &'a Uses,
    parameters: &'a Parameters,
    locks_reads: bool,
) -> PlanContext<'a> {
    PlanContext {
        names: session.names(),
        engine: session.db.engine(),
        dive_limit: session.settings.dive_limit,
        ways: session.settings.ways,
        trace: None,
        schema,
        collation: session.settings.collation_connection,
        full_group_by: session.settings.sql_mode.has(crate::expr::SqlMode::ONLY_FULL_GROUP_BY),
        eval,
        locks_reads,
        parameters,
        common: &[],
        reads: None,
        uses,
        depth: 0,
        changes: false,
        viewing: None,
        as_written: false,
    }
}

/// SELECT, INSERT, UPDATE, DELETE from the syntax tree.
pub(super) async fn row_statement(
    session: &mut Session,
    (statement, reads): (&Statement, ReadsLock),
    params: &[Value],
    out: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    enter_for(session, &of_statement(statement)).await?;
    let make = |session: &Session| {
        let parameters = Parameters::of_kinds(actual(params));
        plan_rows(session, (statement, reads), params, &parameters)
    };
    let plan = plan_and_hold(session, make, |plan| plan).await?;
    let into = match statement {
        Statement::Select(query) => query.into.clone(),
        _ => Vec::new(),
    };
    run_rows(session, &plan, params, &into, out).await
}

/// The tables that are not the session's own. What it may do with those is not asked, and nobody locks them.
#[cold]
fn others_than_own(session: &Session, tables: &[Used]) -> Vec<Used> {
    let current = session.state.schema();
    tables.iter().filter(|used| !session.uses_own(used, current.as_deref())).cloned().collect()
}

/// Takes the metadata locks of a statement's tables and opens its transaction.
pub(super) async fn enter_for(session: &mut Session, tables: &[Used]) -> SqlResult<()> {
    let uses_some = !tables.is_empty();
    let others;
    let tables = match session.temporary.is_empty() {
        true => tables,
        false => {
            others = others_than_own(session, tables);
            &others[..]
        }
    };
    rights::ask_for_tables(session, tables)?;
    if let Some(locks) = &session.table_locks {
        locks.check(tables, session.state.schema().as_deref())?;
    }
    if !uses_some && session.open.is_none() && !session.settings.autocommit {
        // A statement without tables does not begin a transaction.
        transaction::enter(session).autocommit = true;
        session.entry.status.set_tables(0, 0);
        return Ok(());
    }
    transaction::enter(session);
    let locked = tables.iter().filter(|table| table.written).count();
    session.entry.status.set_tables(tables.len(), locked);
    let begins = transaction::metadata_locks_held(session) == 0;
    loop {
        let closed = match transaction::try_metadata_locks(session, tables) {
            Ok(None) => return Ok(()),
            Ok(Some(closed)) => closed,
            Err(error) => return Box::pin(abandon(session, error)).await,
        };
        match Box::pin(transaction::wait_at(session, &closed)).await {
            Ok(()) => {}
            // It has done nothing yet: it lets the others of the cycle go on and comes after them.
            Err(error) if begins && error.kind() == ErrorKind::Deadlock => {
                transaction::release_metadata_locks(session)
            }
            Err(error) => return Box::pin(abandon(session, error)).await,
        }
    }
}

/// Ends a statement that failed before it did anything. As the victim of a cycle it takes its
/// transaction with it.
pub(super) async fn abandon<T>(session: &mut Session, error: SqlError) -> SqlResult<T> {
    let ends = error.kind() == ErrorKind::Deadlock;
    if session.open.as_ref().is_some_and(|open| open.autocommit || ends) {
        transaction::rollback(session).await?;
    }
    Err(error)
}

/// A plan for a statement whose metadata locks are held, with those of the tables that its foreign keys lead
/// to. It is made again if it is out of date when these are held.
#[inline]
pub(super) async fn plan_and_hold<P>(
    session: &mut Session,
    make: impl Fn(&Session) -> SqlResult<P>,
    rows: impl Fn(&P) -> &RowPlan,
) -> SqlResult<P> {
    loop {
        let plan = match make(session) {
            Ok(plan) => plan,
            Err(error) => return Box::pin(abandon(session, error)).await,
        };
        if !rows(&plan).has_foreign() || Box::pin(foreign_key::hold_related(session, rows(&plan))).await? {
            return Ok(plan);
        }
    }
}

/// Plans a statement whose metadata locks are held.
pub(super) fn plan_rows(
    session: &Session,
    (statement, reads): (&Statement, ReadsLock),
    params: &[Value],
    parameters: &Parameters,
) -> SqlResult<RowPlan> {
    let schema = session.state.schema();
    let uses = Uses::default();
    let locks_reads = reads::locks_reads(session, reads);
    let trace = trace::begin(session);
    let plan = |eval: &EvalContext<'_>| {
        let context = plan_context(session, schema.as_deref(), eval, &uses, parameters, locks_reads);
        let context = PlanContext { trace: trace.as_ref(), ..context };
        if context.trace.is_some() {
            trace::prepare(&context, statement);
        }
        Ok(match statement {
            Statement::Select(query) => match rewrite::rewritten(session, query) {
                Some(query) => PlanKind::Query(plan_shown(&context, &query)?),
                None => PlanKind::Query(plan_shown(&context, query)?),
            },
            Statement::Insert(insert) => PlanKind::Insert(Box::new(plan_insert(&context, insert)?)),
            Statement::Update(update) => PlanKind::Change(Box::new(plan_update(&context, update)?), true),
            Statement::Delete(delete) => PlanKind::Change(Box::new(plan_delete(&context, delete)?), false),
            _ => return Err(SqlError::unsupported_in_prepared()),
        })
    };
    // A statement of a million constants takes long here already.
    let limit_ms =
        if matches!(statement, Statement::Select(_)) { session.settings.max_execution_ms } else { 0 };
    let limit = (limit_ms > 0).then(|| TimeLimit::begin(limit_ms, &session.interrupt));
    let watched = || pulse::watched(session.interrupt.clone(), || with_eval(session, params, plan));
    let (steps, planned) = pulse::steps_of(watched);
    let planned = planned.and_then(|planned| planned);
    let planned = match limit {
        Some(limit) => limit.end(planned),
        None => planned,
    };
    match planned {
        Ok(kind) => {
            let uses = uses.list();
            if let Some(trace) = trace {
                trace::keep(session, trace, &uses);
            }
            Ok(RowPlan::new(kind, uses, parameters.take_constants(), steps))
        }
        Err(error) => Err(rights::denied_before(session, &uses).unwrap_or(error)),
    }
}

/// Runs a plan in the open transaction and ends the statement.
pub(super) async fn run_rows(
    session: &mut Session,
    plan: &RowPlan,
    params: &[Value],
    into: &[ast::Name],
    out: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    if let Err(error) = rights::ask_for_columns(session, &plan.uses) {
        return Box::pin(abandon(session, error)).await;
    }
    if !session.temporary.is_empty() {
        note_own(session, plan);
    }
    if !plan.constants.is_empty()
        && let Err(error) = check_constants(session, plan, params)
    {
        return Box::pin(abandon(session, error)).await;
    }
    match begin_rows(session, plan, params, into, out) {
        Attempt::Done(outcome) => Ok(outcome),
        Attempt::Committed(outcome, lsn) => {
            transaction::await_commit(session, lsn).await?;
            Ok(outcome)
        }
        Attempt::Failed(error) => Err(error),
        Attempt::Ran(savepoint, result) => {
            Box::pin(transaction::leave(session, savepoint, plan.naming_table(result))).await
        }
        Attempt::Waits(draft) => {
            Box::pin(run_rows_waiting(session, plan, params, into, out, *draft.unwrap_or_default())).await
        }
    }
}

/// Notes whether the open transaction changes anything but the session's own tables.
#[cold]
fn note_own(session: &mut Session, plan: &RowPlan) {
    let open = transaction::enter_quietly(session);
    if plan.changes_for_others() {
        open.own.changes = false;
    } else if open.txn.id().is_none() {
        open.own.changes = true;
    }
}

/// The constants that are compared with columns, checked before any row is looked at: those that do not
/// fit are told of, and a strict change is refused for them.
pub(super) fn check_constants(session: &Session, plan: &RowPlan, params: &[Value]) -> SqlResult<()> {
    let settings = change_settings(plan, &session.settings);
    if !settings.strict_change {
        let context = session.state.eval(settings, params);
        return plan.constants.iter().try_for_each(|one| one.tell(&context));
    }
    let warnings = Warnings::new();
    let told = session.state.eval(settings, params);
    let context = EvalContext { warnings: &warnings, ..told };
    plan.constants.iter().try_for_each(|one| one.check(&context))?;
    plan.constants.iter().for_each(|one| one.note_day(&told));
    Ok(())
}

/// Runs a plan that may wait, from what was worked out without.
async fn run_rows_waiting(
    session: &mut Session,
    plan: &RowPlan,
    params: &[Value],
    into: &[ast::Name],
    out: &mut dyn ResultSink,
    draft: PointDraft,
) -> SqlResult<Outcome> {
    let settings = change_settings(plan, &session.settings);
    let state = session.state.clone();
    let context = state.eval(settings, params);
    let (db, interrupt) = (session.db.clone(), session.interrupt.clone());
    let limit_ms = session.settings.max_execution_ms;
    let unsafely = session.settings.sql_safe_updates && plan.changes_without_key();
    let open = transaction::enter_quietly(session);
    if open.read_only && plan.changes_for_others() {
        return abandon(session, SqlError::read_only_transaction()).await;
    }
    if unsafely {
        return abandon(session, SqlError::safe_update_mode()).await;
    }
    let savepoint = open.txn.savepoint();
    let Session { open: Some(open), table_locks, global_read_lock, .. } = session else {
        unreachable!("a transaction was opened above")
    };
    let mut exec = Exec::new(&db, &state, &mut open.txn, &context, &interrupt, plan.operation());
    let locked = table_locks.as_ref().map_or(&[][..], |locks| locks.holds());
    state.set_row_steps(plan.row_steps);
    exec.metadata_locks = [&open.holds, locked, global_read_lock.as_deref().unwrap_or_default()];
    let result = run_plan(&mut exec, plan, into, out, limit_ms, draft).await;
    drop(exec);
    let result = result.and_then(|outcome| session.finishing.check(outcome));
    transaction::leave(session, savepoint, plan.naming_table(result)).await
}

/// SHOW WARNINGS and the like look at what the statement before left.
pub(super) fn keeps_warnings(statement: &Statement) -> bool {
    let Statement::Show(show) = statement else { return false };
    use ast::ShowWhat as W;
    matches!(show.what, W::Warnings(_) | W::Errors(_) | W::WarningCount | W::ErrorCount)
}
