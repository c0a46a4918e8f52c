//! One parsed statement: which of the session's parts runs it, and what the client is told.
//!
//! Life of a statement that reads or changes rows:
//! 1. its tables' metadata gates are taken (`hold`), a transaction opened if none is open (`enter`);
//! 2. it is planned ([`crate::plan`]) and run ([`crate::exec`]) by `run`;
//! 3. the statement's transaction is committed and the commit made durable, or what it did undone (`leave`);
//! 4. the client gets its terminator.

use turnstile_engine::Savepoint;
use turnstile_engine::ids::Lsn;

use super::Session;
use super::time_limit::TimeLimit;
use crate::ast::{self, Statement};
use crate::error::{SqlError, SqlResult};
use crate::exec::access;
use crate::exec::change::{Changed, PointDraft};
use crate::exec::{ClientOut, Exec};
use crate::expr::{EvalContext, EvalSettings, NoRow, VariableKind, WarningLevel, Warnings, with_own_digits};
use crate::parser::Aside;
use crate::plan::change::{ChangePlan, InsertPlan, InsertSource, plan_delete, plan_insert, plan_update};
use crate::plan::parameters::{Parameters, actual};
use crate::plan::uses::Uses;
use crate::plan::{PlanContext, QueryPlan, plan_shown};
use crate::pulse;
use crate::reads_lock::ReadsLock;
use crate::row_plan::{PlanKind, RowPlan};
use crate::session::{
    accounts, aside, ddl, explain, foreign_key, lock_tables, maintain, persist, prepared, read_only, reads,
    rewrite, rights, set, show, transaction,
};
use crate::session_state::SessionState;
use crate::sink::ResultSink;
use crate::types::ColumnType;
use crate::used_tables::{Used, of_statement};
use crate::value::Value;

/// What a statement told the client so far, and what its terminator says.
#[derive(Debug, Default)]
pub struct Outcome {
    /// A result set was written; its end is still to come.
    pub rows: bool,
    /// Affected rows.
    pub affected: u64,
    /// AUTO_INCREMENT value for the client.
    pub insert_id: u64,
    /// Text of the OK packet.
    pub info: String,
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
    let saved = aside.map(|aside| aside::begin_aside(session, aside, statement));
    let outcome = dispatch(session, statement, params, out).await;
    if let Some(saved) = saved {
        aside::end_aside(session, saved);
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
        out.ok(outcome.affected, outcome.insert_id, warnings, &outcome.info, status);
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

/// A context for expressions outside plans.
pub(super) fn with_eval<T>(
    session: &Session,
    params: &[Value],
    use_it: impl FnOnce(&EvalContext<'_>) -> T,
) -> T {
    let context = EvalContext {
        settings: eval_settings(&session.settings),
        parameters: params,
        session: &*session.state,
        warnings: &session.state.warnings,
    };
    use_it(&context)
}

/// Evaluates an expression that reads no table.
pub(super) fn evaluate(session: &Session, expr: &ast::Expr, params: &[Value]) -> SqlResult<Value> {
    evaluate_typed(session, expr, params).map(|(value, _)| value)
}

/// The value of an expression, and the type it is bound with.
pub(super) fn evaluate_typed(
    session: &Session,
    expr: &ast::Expr,
    params: &[Value],
) -> SqlResult<(Value, ColumnType)> {
    with_eval(session, params, |eval| {
        let schema = session.state.schema();
        // It reads no table.
        let uses = Uses::default();
        let parameters = Parameters::of_kinds(actual(params));
        let context = plan_context(session, schema.as_deref(), eval, &uses, &parameters, false);
        let mut block = crate::plan::block::Block::new(&context, None);
        let typed = with_own_digits(block.bind(expr, "field list")?);
        if !block.subqueries.is_empty() {
            return Err(SqlError::not_supported_yet("a sub-query in this place"));
        }
        Ok((typed.expr.eval(&NoRow, eval)?, typed.kind.column))
    })
}

/// DO is a SELECT whose row nobody sees.
async fn evaluate_only(session: &mut Session, exprs: &[ast::Expr], params: &[Value]) -> SqlResult<Outcome> {
    let mut unseen = super::show::Collected::default();
    if params.is_empty() {
        row_statement(session, (&selecting(exprs), ReadsLock::Always), params, &mut unseen).await?;
    } else {
        prepared::execute_once(session, selecting(exprs), params, &mut unseen).await?;
    }
    Ok(Outcome::default())
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
        dictionary: session.db.dictionary(),
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
    let plan = loop {
        let parameters = Parameters::of_kinds(actual(params));
        let plan = match plan_rows(session, (statement, reads), params, &parameters) {
            Ok(plan) => plan,
            Err(error) => return abandon(session, error).await,
        };
        if !plan.has_foreign() || Box::pin(foreign_key::hold_related(session, &plan)).await? {
            break plan;
        }
    };
    let into = match statement {
        Statement::Select(query) => query.into.clone(),
        _ => Vec::new(),
    };
    run_rows(session, &plan, params, &into, out).await
}

/// Takes the gates of a statement's tables and opens its transaction.
pub(super) async fn enter_for(session: &mut Session, tables: &[Used]) -> SqlResult<()> {
    rights::ask_for_tables(session, tables)?;
    if let Some(locks) = &session.table_locks {
        locks.check(tables, session.state.schema().as_deref())?;
    }
    if tables.is_empty() && session.open.is_none() && !session.settings.autocommit {
        // A statement without tables does not begin a transaction.
        transaction::enter(session).autocommit = true;
        session.entry.card.set_tables(0, 0);
        return Ok(());
    }
    transaction::enter(session);
    let locked = tables.iter().filter(|table| table.written).count();
    session.entry.card.set_tables(tables.len(), locked);
    let begins = transaction::gates_held(session) == 0;
    loop {
        let closed = match transaction::try_gates(session, tables) {
            Ok(None) => return Ok(()),
            Ok(Some(closed)) => closed,
            Err(error) => return Box::pin(abandon(session, error)).await,
        };
        match Box::pin(transaction::wait_at(session, &closed)).await {
            Ok(()) => {}
            // It has done nothing yet: it lets the others of the circle go on and comes after them.
            Err(error) if begins && error.code == SqlError::deadlock().code => {
                transaction::give_gates_back(session)
            }
            Err(error) => return Box::pin(abandon(session, error)).await,
        }
    }
}

/// Ends a statement that failed before it did anything. As the victim of a circle it takes its
/// transaction with it.
pub(super) async fn abandon<T>(session: &mut Session, error: SqlError) -> SqlResult<T> {
    let ends = error.code == SqlError::deadlock().code;
    if session.open.as_ref().is_some_and(|open| open.autocommit || ends) {
        transaction::rollback(session).await?;
    }
    Err(error)
}

/// Plans a statement whose gates are held.
pub(super) fn plan_rows(
    session: &Session,
    (statement, reads): (&Statement, ReadsLock),
    params: &[Value],
    parameters: &Parameters,
) -> SqlResult<RowPlan> {
    let schema = session.state.schema();
    let uses = Uses::default();
    let locks_reads = reads::locks_reads(session, reads);
    let plan = |eval: &EvalContext<'_>| {
        let context = plan_context(session, schema.as_deref(), eval, &uses, parameters, locks_reads);
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
        Ok(kind) => Ok(RowPlan::new(kind, uses.list(), parameters.take_constants(), steps)),
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

/// The constants that are compared with columns, checked before any row is looked at: those that do not
/// fit are told of, and a strict change is refused for them.
fn check_constants(session: &Session, plan: &RowPlan, params: &[Value]) -> SqlResult<()> {
    let settings = change_settings(plan, &session.settings);
    if !settings.strict_change {
        let warnings = &session.state.warnings;
        let context = EvalContext { settings, parameters: params, session: &*session.state, warnings };
        return plan.constants.iter().try_for_each(|one| one.tell(&context));
    }
    let warnings = Warnings::new();
    let context = EvalContext { settings, parameters: params, session: &*session.state, warnings: &warnings };
    plan.constants.iter().try_for_each(|one| one.check(&context))?;
    let context = EvalContext { warnings: &session.state.warnings, ..context };
    plan.constants.iter().for_each(|one| one.note_day(&context));
    Ok(())
}

/// As far as a plan can be run without a wait: a statement about one row to its end, and nothing of the
/// others. What waits becomes a future in a box, so that a small one is all that the levels above copy
/// and keep.
fn begin_rows(
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
    let savepoint = open.txn.savepoint();
    let mut draft = PointDraft::default();
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
    match result {
        Ok(outcome) if !autocommit => {
            transaction::count_statement(session);
            Attempt::Done(outcome)
        }
        Ok(outcome) if transaction::commits_at_once(session) => match transaction::commit_now(session) {
            Ok(lsn) => Attempt::Committed(outcome, lsn),
            Err(error) => Attempt::Failed(error),
        },
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
    let context = EvalContext { settings, parameters: params, session: &**state, warnings: &state.warnings };
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
    let context = EvalContext { settings, parameters: params, session: &**state, warnings: &state.warnings };
    let mut exec = Exec::new(db, state, &mut open.txn, &context, interrupt, plan.operation());
    let done = exec.change_now(change, draft)?;
    Ok(done.map(|done| change_outcome(change, done, update, exec.session)))
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
    let context = EvalContext { settings, parameters: params, session: &*state, warnings: &state.warnings };
    let (db, interrupt) = (session.db.clone(), session.interrupt.clone());
    let limit_ms = session.settings.max_execution_ms;
    let unsafely = session.settings.sql_safe_updates && plan.changes_without_key();
    let open = transaction::enter_quietly(session);
    if open.read_only && plan.changes_or_may() {
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
    exec.gates = [&open.holds, locked, global_read_lock.as_deref().unwrap_or_default()];
    let result = run_plan(&mut exec, plan, into, out, limit_ms, draft).await;
    drop(exec);
    transaction::leave(session, savepoint, plan.naming_table(result)).await
}

/// How far a plan came without a wait.
enum Attempt {
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

/// SELECT of expressions that read no table.
pub(super) fn selecting(exprs: &[ast::Expr]) -> Statement {
    let item =
        |expr: &ast::Expr| ast::SelectItem::Expr { expr: expr.clone(), name: "".into(), aliased: false };
    let select = ast::Select {
        distinct: false,
        straight_join: false,
        calc_found_rows: false,
        items: exprs.iter().map(item).collect(),
        from: Vec::new(),
        condition: None,
        group_by: Vec::new(),
        with_rollup: false,
        having: None,
    };
    let query = ast::Query {
        with: None,
        body: ast::QueryBody::Select(Box::new(select)),
        order_by: Vec::new(),
        // It gives one row; that of `sql_select_limit` is not for it.
        limit: Some(ast::Limit { count: ast::Expr::Literal(ast::Literal::Int(1)), offset: None }),
        locking: Vec::new(),
        into: Vec::new(),
    };
    Statement::Select(Box::new(query))
}

/// The settings of expressions in a plan that begins now.
fn change_settings(plan: &RowPlan, settings: &crate::variables::SessionSettings) -> EvalSettings {
    let mut settings = eval_settings(settings);
    settings.strict_change = plan.changes_strictly() && settings.sql_mode.is_strict();
    settings
}

/// Runs a plan; result rows go out, what was changed comes back. The large futures are in boxes: awaiting a
/// future copies it into its place, at every level above, and a short query should not pay for what others
/// need.
async fn run_plan(
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
            Ok(change_outcome(plan, done, *update, exec.session))
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
        return Err(SqlError::new(
            1222,
            b"21000",
            "The used SELECT statements have a different number of columns",
        ));
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
        format!("Records: {records}  Duplicates: {}  Warnings: {warnings}", done.duplicates)
    } else {
        String::new()
    };
    let came = done.records.saturating_sub(done.left_out + done.duplicates);
    plan.table.counters.rows.fetch_add(came, std::sync::atomic::Ordering::Relaxed);
    Outcome { affected: done.changed, insert_id: done.insert_id, info, ..Outcome::default() }
}

fn change_outcome(plan: &ChangePlan, done: Changed, update: bool, session: &SessionState) -> Outcome {
    use std::sync::atomic::Ordering::Relaxed;
    if !update && let [target] = plan.targets.as_slice() {
        let less = |rows: u64| Some(rows.saturating_sub(done.changed));
        let _ = target.table.counters.rows.fetch_update(Relaxed, Relaxed, less);
    }
    let affected = if update && session.found_rows_flag() { done.matched } else { done.changed };
    let warnings = session.warnings.count();
    let info = if update { info_of_update(done, u64::from(warnings)) } else { String::new() };
    let insert_id = if update { session.told_id().unwrap_or(0) } else { 0 };
    Outcome { affected, insert_id, info, ..Outcome::default() }
}

/// The text that every UPDATE sends; put together by hand because a hot row's buyers wait for it.
fn info_of_update(done: Changed, warnings: u64) -> String {
    let mut info = String::with_capacity(48);
    for (label, number) in
        [("Rows matched: ", done.matched), ("  Changed: ", done.changed), ("  Warnings: ", warnings)]
    {
        info.push_str(label);
        match u8::try_from(number) {
            Ok(digit @ 0..=9) => info.push(char::from(b'0' + digit)),
            _ => info.push_str(&number.to_string()),
        }
    }
    info
}

/// SHOW WARNINGS and the like look at what the statement before left.
fn keeps_warnings(statement: &Statement) -> bool {
    let Statement::Show(show) = statement else { return false };
    use ast::ShowWhat as W;
    matches!(show.what, W::Warnings(_) | W::Errors(_) | W::WarningCount | W::ErrorCount)
}
