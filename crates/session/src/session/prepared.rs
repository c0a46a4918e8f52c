//! Prepared statements, of the protocol and of PREPARE ... FROM.
//!
//! A prepared statement keeps its syntax tree. Its plan is made when it is first run and kept for as long as
//! the dictionary, the current database and the settings that plans depend on stay the same.

mod plan;

use std::sync::Arc;

use super::statement::{Info, Outcome, selecting};
use super::{Prepared, Session, preparable};
use crate::ast::{self, PrepareSource};
use crate::error::{SqlError, SqlResult};
use crate::expr::{ParameterKind, SessionView};
use crate::kept_statement::Statement;
use crate::memory::Announced;
use crate::parser::Aside;
use crate::plan::derived::TEXT_COMMAND;
use crate::registry::Command;
use crate::registry::commands::Command as Com;
use crate::row_plan::PlanKind;
use crate::session::retry::Tries;
use crate::session::{aside, log, measured, read_only, rights, show, statement, text, transaction};
use crate::sink::{ColumnMeta, ResultSink};
use crate::value::{Value, to_bytes};

pub(super) use plan::taken;
use plan::{Planned, derive, kept_plan};

/// How often a text is in memory while a prepared statement is kept: itself, its literals in the tree and in
/// the plan, and the names of columns that are not named, in both as well.
const TEXT_COPIES: usize = 5;

impl Session {
    /// Prepares a statement.
    pub async fn prepare(&mut self, text: &[u8]) -> Result<Prepared, SqlError> {
        self.interrupt.clear_query();
        self.entry.set_command(Command::Prepare, self.db.registry().now_us());
        super::text::announce(text);
        log::log_command(self, "Prepare", text);
        self.entry.counts.count(Com::StmtPrepare);
        let result = prepare_text(self, text).await;
        self.after_statement(result).await
    }

    /// Runs a prepared statement; as many `params` as it has `?`.
    pub async fn execute(
        &mut self,
        id: u32,
        params: &[Value],
        out: &mut dyn ResultSink,
    ) -> Result<(), SqlError> {
        self.interrupt.clear_query();
        self.entry.set_command(Command::Execute, self.db.registry().now_us());
        let found = self.prepared.get(&id).cloned();
        let result = match found {
            Some(statement) => {
                self.entry.show(|shown| shown.text = statement.text.clone());
                let text = statement.text.as_deref().unwrap_or_default();
                measured::begin_prepared(self, id, &statement);
                log::log_command(self, "Execute", text);
                let told = if self.owes_bad_news() { Box::pin(self.tell(text)).await } else { Ok(()) };
                match told {
                    Ok(()) => execute_statement(self, &statement, params, out).await,
                    told => told,
                }
            }
            None => Err(SqlError::unknown_statement_handler(id, "mysqld_stmt_execute")),
        };
        self.after_statement(result).await
    }

    /// How many parameters a prepared statement has; None if there is no such statement.
    pub fn param_count(&self, id: u32) -> Option<usize> {
        self.prepared.get(&id).map(|statement| statement.params)
    }

    /// Rows of a statement's cursor are about to be fetched.
    ///
    /// # Errors
    /// The storage has failed.
    pub fn begin_fetch(&mut self, id: u32, rows: u32) -> SqlResult<()> {
        self.entry.counts.count(Com::StmtFetch);
        log::log_command(self, "Fetch", format!("statement {id}, {rows} rows").as_bytes());
        self.check_engine()
    }

    /// Forgets a prepared statement.
    pub fn close(&mut self, id: u32) {
        self.entry.counts.count(Com::StmtClose);
        self.prepared.remove(&id);
    }
}

async fn prepare_text(session: &mut Session, text: &[u8]) -> SqlResult<Prepared> {
    session.state.warnings.clear();
    session.check_engine()?;
    let statement = parse_one(session, text)?;
    let columns = describe(session, &statement).await?;
    let connection = session.settings.collation_connection;
    let announced = |at: usize| {
        let kind = statement.plans.lock().derived.get(at).map(|one| one.kind).unwrap_or(ParameterKind::Text);
        ColumnMeta::computed("?", kind.announced(connection), true)
    };
    let params = (0..statement.params).map(announced).collect();
    let id = session.next_prepared;
    session.next_prepared = session.next_prepared.wrapping_add(1).max(1);
    session.prepared.insert(id, Arc::new(statement));
    Ok(Prepared { id, params, columns, warnings: session.state.warnings.count() })
}

/// Parses a text to prepare. MySQL warns of old names here and not when the statement runs.
fn parse_one(session: &mut Session, text: &[u8]) -> SqlResult<Statement> {
    let place = session.db.prepared_place()?;
    let mut charge = session.charge();
    charge.add(size_of::<Statement>() + text.len().saturating_mul(TEXT_COPIES))?;
    let parsed = text::parse_charged(session, text, 0, true, &mut charge);
    let parsed = parsed.map_err(|error| preparable::refused_first(text, error))?;
    charge.settle()?;
    text::ask_for_one(session, text, parsed.next, true)?;
    let params = parsed.parameter_count as usize;
    preparable::check(&parsed.statement, params)?;
    if params > usize::from(u16::MAX) {
        return Err(SqlError::prepared_too_many_parameters());
    }
    let mut aside = parsed.aside;
    if let Some(said) = &mut aside {
        aside::warn_of(session, &std::mem::take(&mut said.deprecated));
    }
    let aside = aside.filter(|said| **said != Aside::default());
    let statement = Statement::new(parsed.statement, params);
    Ok(Statement {
        text: Some(text.into()),
        aside,
        _place: Some(place),
        _charge: Announced(charge),
        ..statement
    })
}

/// The columns a statement will return, and whether its names can be found at all.
async fn describe(session: &mut Session, statement: &Statement) -> SqlResult<Arc<[ColumnMeta]>> {
    if !is_row_statement(&statement.statement) {
        if let Some(inner) = rows_inside(&statement.statement) {
            let inner = Statement::new(inner, statement.params);
            Box::pin(describe(session, &inner)).await?;
        }
        let ast::Statement::Show(show) = &statement.statement else { return Ok(Arc::from([])) };
        rights::ask_for_statement(session, &statement.statement)?;
        return show::show_columns(session, show, statement.params).map(Arc::from);
    }
    statement::enter_for(session, &statement.tables).await?;
    let plan = match derive(session, statement) {
        Ok(plan) => plan,
        Err(error) => return statement::abandon(session, error).await,
    };
    if let Err(error) = rights::ask_for_columns(session, &plan.uses) {
        return statement::abandon(session, error).await;
    }
    if session.open.as_ref().is_some_and(|open| open.autocommit) {
        transaction::rollback(session).await?;
    }
    let keeps = matches!(&statement.statement, ast::Statement::Select(query) if !query.into.is_empty());
    Ok(match plan.kind {
        PlanKind::Query(plan) if !keeps => plan.columns().clone(),
        _ => Arc::from([]),
    })
}

async fn execute_statement(
    session: &mut Session,
    prepared: &Statement,
    params: &[Value],
    out: &mut dyn ResultSink,
) -> SqlResult<()> {
    session.entry.counts.questions.add(1);
    session.entry.counts.count(Com::StmtExecute);
    if params.len() != prepared.params {
        return Err(SqlError::wrong_arguments("EXECUTE"));
    }
    if !is_row_statement(&prepared.statement) {
        let aside = prepared.aside.as_deref();
        return Box::pin(statement::run_statement(session, (&prepared.statement, aside), params, out, false))
            .await;
    }
    run_kept(session, prepared, params, out).await
}

/// Runs a statement on rows with the plan that is kept for it.
pub(super) async fn run_kept(
    session: &mut Session,
    prepared: &Statement,
    params: &[Value],
    out: &mut dyn ResultSink,
) -> SqlResult<()> {
    session.state.warnings.clear();
    session.state.begin_sequences();
    session.entry.counts.command(&prepared.statement);
    session.check_engine()?;
    let mut tries = Tries::begin(session);
    let mut outcome = match &prepared.aside {
        None => execute_rows(session, prepared, params, out).await,
        Some(aside) => Box::pin(execute_with_aside(session, prepared, aside, params, out)).await,
    };
    while let Err(error) = &outcome
        && let Some(pause) = tries.again(session, &prepared.statement, error)
    {
        pause.await;
        outcome = Box::pin(execute_again(session, prepared, params, out)).await;
    }
    let outcome = outcome?;
    if let Some(wait) = session.before_answer()? {
        wait.await?;
    }
    statement::finish_result(session, &outcome, out, false);
    Ok(())
}

/// Runs it as if it had not run before.
async fn execute_again(
    session: &mut Session,
    prepared: &Statement,
    params: &[Value],
    out: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    match &prepared.aside {
        None => execute_rows(session, prepared, params, out).await,
        Some(aside) => execute_with_aside(session, prepared, aside, params, out).await,
    }
}

async fn execute_with_aside(
    session: &mut Session,
    prepared: &Statement,
    aside: &Aside,
    params: &[Value],
    out: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    let saved = aside::begin_aside(session, aside, &prepared.statement);
    let outcome = execute_rows(session, prepared, params, out).await;
    aside::end_aside(session, saved, outcome).await
}

async fn execute_rows(
    session: &mut Session,
    prepared: &Statement,
    params: &[Value],
    out: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    read_only::check_writable(session, &prepared.statement)?;
    statement::enter_for(session, &prepared.tables).await?;
    let make = |session: &Session| kept_plan(session, prepared, params);
    let Planned { plan, values: converted, kept } =
        statement::plan_and_hold(session, make, |planned| &**planned.plan).await?;
    if let Some(kept) = &kept {
        session.known.keep_plan(prepared, kept);
    }
    let into = match &prepared.statement {
        ast::Statement::Select(query) => &query.into[..],
        _ => &[],
    };
    statement::run_rows(session, &plan, converted.as_deref().unwrap_or(params), into, out).await
}

/// Runs a statement on rows that comes once.
pub(super) async fn execute_once(
    session: &mut Session,
    statement: ast::Statement,
    params: &[Value],
    out: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    let prepared = Statement::new(statement, params.len());
    execute_rows(session, &prepared, params, out).await
}

/// What runs a prepared statement, as errors name it.
fn running_command(session: &Session) -> &'static str {
    match session.entry.command() {
        Command::Execute => "mysqld_stmt_execute",
        _ => TEXT_COMMAND,
    }
}

/// PREPARE, EXECUTE, DEALLOCATE.
pub(super) async fn text_prepared(
    session: &mut Session,
    statement: &ast::Statement,
    out: &mut dyn ResultSink,
) -> SqlResult<Outcome> {
    let unknown = |name: &str, what: &str| SqlError::unknown_statement_handler(name, what);
    match statement {
        ast::Statement::Prepare { name, source } => {
            let text = match source {
                PrepareSource::Text(text) => text.to_vec(),
                PrepareSource::Variable(name) => {
                    let value = session.state.user_variable(&name.to_lowercase());
                    // As MySQL: the word, which begins no statement.
                    if value == Value::Null { b"NULL".to_vec() } else { to_bytes(&value).into_owned() }
                }
            };
            session.named.remove(&*name.to_lowercase());
            session.entry.counts.count(Com::StmtPrepare);
            let statement = parse_one(session, &text)?;
            describe(session, &statement).await?;
            session.named.insert(name.to_lowercase().into(), Arc::new(statement));
            Ok(Outcome { info: Info::Text("Statement prepared".into()), ..Outcome::default() })
        }
        ast::Statement::Execute { name, variables } => {
            let found = session.named.get(&*name.to_lowercase()).cloned();
            let found = found.ok_or_else(|| unknown(name, "EXECUTE"))?;
            session.entry.counts.count(Com::StmtExecute);
            session.entry.counts.count(Com::of(&found.statement));
            let params: Vec<Value> =
                variables.iter().map(|one| session.state.user_variable(&one.to_lowercase())).collect();
            if params.len() != found.params {
                return Err(SqlError::wrong_arguments("EXECUTE"));
            }
            if is_row_statement(&found.statement) {
                let mut tries = Tries::begin(session);
                loop {
                    match execute_again(session, &found, &params, out).await {
                        Err(error) if let Some(pause) = tries.again(session, &found.statement, &error) => {
                            pause.await
                        }
                        outcome => return outcome,
                    };
                }
            }
            let aside = found.aside.as_ref();
            let saved = aside.map(|aside| aside::begin_aside(session, aside, &found.statement));
            let outcome = Box::pin(statement::dispatch(session, &found.statement, &params, out)).await;
            match saved {
                Some(saved) => aside::end_aside(session, saved, outcome).await,
                None => outcome,
            }
        }
        ast::Statement::Deallocate(name) => {
            session.entry.counts.count(Com::StmtClose);
            let gone = session.named.remove(&*name.to_lowercase());
            gone.map(|_| Outcome::default()).ok_or_else(|| unknown(name, "DEALLOCATE PREPARE"))
        }
        _ => Err(SqlError::unsupported_in_prepared()),
    }
}

/// The statement on rows inside another, whose names are looked for when that is prepared.
fn rows_inside(statement: &ast::Statement) -> Option<ast::Statement> {
    match statement {
        ast::Statement::Do(exprs) => Some(selecting(exprs)),
        ast::Statement::CreateTable(create) => create.query.clone().map(ast::Statement::Select),
        ast::Statement::Explain(explain) => match &explain.target {
            ast::ExplainTarget::Statement(statement) => Some(statement.clone()),
            ast::ExplainTarget::Connection(_) => None,
        },
        _ => None,
    }
}

pub(super) fn is_row_statement(statement: &ast::Statement) -> bool {
    matches!(
        statement,
        ast::Statement::Select(_)
            | ast::Statement::Insert(_)
            | ast::Statement::Update(_)
            | ast::Statement::Delete(_)
    )
}
