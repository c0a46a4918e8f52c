//! Prepared statements, of the protocol and of PREPARE ... FROM.
//!
//! A prepared statement keeps its syntax tree. Its plan is made when it is first run and kept for as long as
//! the dictionary, the current database and the settings that plans depend on stay the same.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::statement::{Outcome, selecting};
use super::{Prepared, Session, preparable};
use crate::ast::{self, PrepareSource};
use crate::error::{SqlError, SqlResult};
use crate::expr::{ParameterKind, SessionView, VariableKind};
use crate::kept_statement::{Kept, PlanKey, Statement};
use crate::memory::Announced;
use crate::parser::Aside;
use crate::plan::derived::{Deriving, Kinds, TEXT_COMMAND, check_counts, expected, given};
use crate::plan::parameters::{Parameters, serves};
use crate::registry::Command;
use crate::registry::commands::Command as Com;
use crate::row_plan::{PlanKind, RowPlan};
use crate::sink::{ColumnMeta, ResultSink};
use crate::value::{Value, to_bytes};

/// A plan, and the values to run it with where these are not those that came.
type Planned = (Arc<RowPlan>, Option<Vec<Value>>);

/// How often a statement is planned at most until it is known what its parameters are: what one is may follow
/// from what another is.
const DERIVATIONS_MAX: usize = 4;

/// Plans that a statement keeps at most: callers that send a parameter now as one kind, now as another are
/// few.
const PLANS_MAX: usize = 4;

/// How often a text is in memory while a prepared statement is kept: itself, its literals in the tree and in
/// the plan, and the names of columns that are not named, in both as well.
const TEXT_COPIES: usize = 5;

impl Session {
    /// Prepares a statement.
    pub async fn prepare(&mut self, text: &[u8]) -> Result<Prepared, SqlError> {
        self.interrupt.clear_query();
        self.entry.set_command(Command::Prepare, self.db.registry().now_us());
        super::text::announce(text);
        self.log_command("Prepare", text);
        self.entry.counts.count(Com::StmtPrepare);
        let result = self.prepare_text(text).await;
        self.after_statement(&result);
        result
    }

    async fn prepare_text(&mut self, text: &[u8]) -> SqlResult<Prepared> {
        self.state.warnings.clear();
        self.check_engine()?;
        let statement = self.parse_one(text)?;
        let columns = self.describe(&statement).await?;
        let connection = self.settings.collation_connection;
        let announced = |at: usize| {
            let kind =
                statement.plans.lock().derived.get(at).map(|one| one.kind).unwrap_or(ParameterKind::Text);
            ColumnMeta::computed("?", kind.announced(connection), true)
        };
        let params = (0..statement.params).map(announced).collect();
        let id = self.next_prepared;
        self.next_prepared = self.next_prepared.wrapping_add(1).max(1);
        self.prepared.insert(id, Arc::new(statement));
        Ok(Prepared { id, params, columns, warnings: self.state.warnings.count() })
    }

    /// Parses a text to prepare. MySQL warns of old names here and not when the statement runs.
    fn parse_one(&mut self, text: &[u8]) -> SqlResult<Statement> {
        let place = self.db.prepared_place()?;
        let mut charge = self.charge();
        charge.add(size_of::<Statement>() + text.len().saturating_mul(TEXT_COPIES))?;
        let parsed = self.parse_charged(text, 0, true, &mut charge);
        let parsed = parsed.map_err(|error| preparable::refused_first(text, error))?;
        charge.settle()?;
        self.ask_for_one(text, parsed.next, true)?;
        let params = parsed.parameter_count as usize;
        preparable::check(&parsed.statement, params)?;
        if params > usize::from(u16::MAX) {
            return Err(SqlError::prepared_too_many_parameters());
        }
        let mut aside = parsed.aside;
        if let Some(said) = &mut aside {
            self.warn_of(&std::mem::take(&mut said.deprecated));
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
    async fn describe(&mut self, statement: &Statement) -> SqlResult<Arc<[ColumnMeta]>> {
        if !is_row_statement(&statement.statement) {
            if let Some(inner) = rows_inside(&statement.statement) {
                let inner = Statement::new(inner, statement.params);
                Box::pin(self.describe(&inner)).await?;
            }
            let ast::Statement::Show(show) = &statement.statement else { return Ok(Arc::from([])) };
            self.ask_for_statement(&statement.statement)?;
            return self.show_columns(show, statement.params).map(Arc::from);
        }
        self.enter_for(&statement.tables).await?;
        let plan = match self.derive(statement) {
            Ok(plan) => plan,
            Err(error) => return self.abandon(error).await,
        };
        if let Err(error) = self.ask_for_columns(&plan.uses) {
            return self.abandon(error).await;
        }
        if self.open.as_ref().is_some_and(|open| open.autocommit) {
            self.rollback().await?;
        }
        let keeps = matches!(&statement.statement, ast::Statement::Select(query) if !query.into.is_empty());
        Ok(match plan.kind {
            PlanKind::Query(plan) if !keeps => plan.columns().clone(),
            _ => Arc::from([]),
        })
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
                self.log_command("Execute", statement.text.as_deref().unwrap_or_default());
                self.execute_statement(&statement, params, out).await
            }
            None => Err(SqlError::unknown_statement_handler(id, "mysqld_stmt_execute")),
        };
        self.after_statement(&result);
        result
    }

    async fn execute_statement(
        &mut self,
        prepared: &Statement,
        params: &[Value],
        out: &mut dyn ResultSink,
    ) -> SqlResult<()> {
        self.entry.counts.questions.add(1);
        self.entry.counts.count(Com::StmtExecute);
        if params.len() != prepared.params {
            return Err(SqlError::wrong_arguments("EXECUTE"));
        }
        if !is_row_statement(&prepared.statement) {
            let aside = prepared.aside.as_deref();
            return Box::pin(self.run_statement((&prepared.statement, aside), params, out, false)).await;
        }
        self.run_kept(prepared, params, out).await
    }

    /// Runs a statement on rows with the plan that is kept for it.
    pub(super) async fn run_kept(
        &mut self,
        prepared: &Statement,
        params: &[Value],
        out: &mut dyn ResultSink,
    ) -> SqlResult<()> {
        self.state.warnings.clear();
        self.state.begin_sequences();
        self.entry.counts.command(&prepared.statement);
        self.check_engine()?;
        let outcome = match &prepared.aside {
            None => self.execute_rows(prepared, params, out).await,
            Some(aside) => Box::pin(self.execute_with_aside(prepared, aside, params, out)).await,
        };
        let outcome = outcome?;
        if let Some(wait) = self.before_answer()? {
            wait.await?;
        }
        self.finish_result(&outcome, out, false);
        Ok(())
    }

    async fn execute_with_aside(
        &mut self,
        prepared: &Statement,
        aside: &Aside,
        params: &[Value],
        out: &mut dyn ResultSink,
    ) -> SqlResult<Outcome> {
        let saved = self.begin_aside(aside, &prepared.statement);
        let outcome = self.execute_rows(prepared, params, out).await;
        self.end_aside(saved);
        outcome
    }

    async fn execute_rows(
        &mut self,
        prepared: &Statement,
        params: &[Value],
        out: &mut dyn ResultSink,
    ) -> SqlResult<Outcome> {
        self.check_writable(&prepared.statement)?;
        self.enter_for(&prepared.tables).await?;
        let (plan, converted) = loop {
            let (plan, converted) = match self.kept_plan(prepared, params) {
                Ok(planned) => planned,
                Err(error) => return Box::pin(self.abandon(error)).await,
            };
            if !plan.has_foreign() || Box::pin(self.hold_related(&plan)).await? {
                break (plan, converted);
            }
        };
        let into = match &prepared.statement {
            ast::Statement::Select(query) => &query.into[..],
            _ => &[],
        };
        self.run_rows(&plan, converted.as_deref().unwrap_or(params), into, out).await
    }

    /// What the values are to a statement on rows that keeps no plan: their kinds, and they themselves where
    /// they are converted. The gates must be held.
    pub(super) fn taken(
        &self,
        statement: &ast::Statement,
        params: &[Value],
    ) -> SqlResult<(Kinds, Option<Vec<Value>>)> {
        if params.is_empty() {
            return Ok((Kinds::new(), None));
        }
        let prepared = Statement::new(statement.clone(), params.len());
        self.derive(&prepared)?;
        let derived = &prepared.plans.lock().derived;
        check_counts(derived, params, self.running_command())?;
        Ok(match given(derived, params) {
            Some(given) => (given.kinds, given.values),
            None => (expected(derived, params), None),
        })
    }

    /// Runs a statement on rows that comes once.
    pub(super) async fn execute_once(
        &mut self,
        statement: ast::Statement,
        params: &[Value],
        out: &mut dyn ResultSink,
    ) -> SqlResult<Outcome> {
        let prepared = Statement::new(statement, params.len());
        self.execute_rows(&prepared, params, out).await
    }

    /// What the parameters of a statement are by where they stand, and its plan with them. The gates must be
    /// held.
    #[cold]
    fn derive(&self, statement: &Statement) -> SqlResult<RowPlan> {
        let nulls = vec![Value::Null; statement.params];
        let version = self.db.dictionary().version();
        let warned = self.state.warnings.count();
        let mut known = Deriving::of(statement.params).found();
        for _ in 1..DERIVATIONS_MAX {
            let parameters = Parameters::deriving(&known);
            let plan = self.plan_rows((&statement.statement, statement.reads), &nulls, &parameters)?;
            let found = parameters.derivation().map(Deriving::found).unwrap_or_default();
            if found == known {
                let mut plans = statement.plans.lock();
                (plans.version, plans.derived) = (Some(version), found);
                return Ok(plan);
            }
            known = found;
            if warned == 0 {
                self.state.warnings.clear();
            }
        }
        let parameters = Parameters::deriving(&known);
        let plan = self.plan_rows((&statement.statement, statement.reads), &nulls, &parameters)?;
        let mut plans = statement.plans.lock();
        (plans.version, plans.derived) = (Some(version), known);
        Ok(plan)
    }

    /// The plan of a statement for these values, made anew if what it depends on has changed. The gates must
    /// be held.
    fn kept_plan(&self, prepared: &Statement, params: &[Value]) -> SqlResult<Planned> {
        let version = self.db.dictionary().version();
        let locks_reads = self.locks_reads(prepared.reads);
        let mut plans = prepared.plans.lock();
        if !prepared.literals && prepared.params > 0 && plans.version != Some(version) {
            drop(plans);
            self.derive(prepared)?;
            plans = prepared.plans.lock();
        }
        let given = match prepared.literals || prepared.params == 0 {
            true => None,
            false => {
                check_counts(&plans.derived, params, self.running_command())?;
                given(&plans.derived, params)
            }
        };
        for kept in plans.kept.iter().rev() {
            let serves = match &given {
                None => prepared.literals || serves(&kept.kinds, &plans.derived, params),
                Some(given) => kept.kinds == given.kinds,
            };
            if serves
                && !self.settings.plans_anew
                && self.is_planned_for(&kept.key, version, locks_reads)
                && self.has_kinds(&kept.variables)
            {
                return Ok((kept.plan.clone(), given.and_then(|given| given.values)));
            }
        }
        let (kinds, values) = match given {
            Some(given) => (given.kinds, given.values),
            None => (expected(&plans.derived, params), None),
        };
        drop(plans);
        let plan = self.plan_to_keep(prepared, values.as_deref().unwrap_or(params), kinds)?;
        Ok((plan, values))
    }

    /// What runs a prepared statement, as errors name it.
    fn running_command(&self) -> &'static str {
        match self.entry.command() {
            Command::Execute => "mysqld_stmt_execute",
            _ => TEXT_COMMAND,
        }
    }

    /// Whether user variables hold values of these kinds.
    #[inline]
    fn has_kinds(&self, variables: &[(Box<str>, VariableKind)]) -> bool {
        variables.iter().all(|(name, kind)| self.state.user_variable_kind(name) == *kind)
    }

    /// Whether a kept plan was made for this version of the dictionary and for the settings of now.
    #[inline]
    fn is_planned_for(&self, key: &PlanKey, version: u64, locks_reads: bool) -> bool {
        let settings = &self.settings;
        key.version == version
            && key.mode == settings.sql_mode
            && key.collation == settings.collation_connection
            && key.locks_reads == locks_reads
            && key.time_zone == settings.time_zone
            && self.state.is_schema(key.schema.as_ref())
    }

    /// Makes a plan for these values and keeps it.
    #[cold]
    fn plan_to_keep(&self, prepared: &Statement, params: &[Value], kinds: Kinds) -> SqlResult<Arc<RowPlan>> {
        let parameters = prepared.parameters(&kinds);
        if self.settings.plans_anew {
            return self.plan_for(prepared, params, &parameters);
        }
        let key = PlanKey {
            version: self.db.dictionary().version(),
            schema: self.state.schema(),
            mode: self.settings.sql_mode,
            collation: self.settings.collation_connection,
            time_zone: self.settings.time_zone,
            locks_reads: self.locks_reads(prepared.reads),
        };
        let warned = self.state.warnings.count();
        let plan = self.plan_for(prepared, params, &parameters)?;
        if !prepared.literals && self.state.warnings.count() > warned {
            self.state.warnings.take_back(warned, SqlError::extreme_documents().code);
        }
        if parameters.decide_by_value() && !prepared.by_value.swap(true, Ordering::Relaxed) {
            if warned == 0 {
                self.state.warnings.clear();
            }
            return self.plan_for(prepared, params, &Parameters::values());
        }
        if prepared.by_value.load(Ordering::Relaxed) {
            return Ok(plan);
        }
        // What planning tells of is told again when the statement comes again.
        if self.state.warnings.count() > warned {
            return Ok(plan);
        }
        let kept = &mut prepared.plans.lock().kept;
        kept.retain(|kept| kept.key == key);
        if kept.len() == PLANS_MAX {
            kept.remove(0);
        }
        kept.push(Kept { key, kinds, variables: parameters.variables(), plan: plan.clone() });
        Ok(plan)
    }

    fn plan_for(
        &self,
        prepared: &Statement,
        params: &[Value],
        parameters: &Parameters,
    ) -> SqlResult<Arc<RowPlan>> {
        let plan = self.plan_rows((&prepared.statement, prepared.reads), params, parameters)?;
        Ok(Arc::new(plan))
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
        self.log_command("Fetch", format!("statement {id}, {rows} rows").as_bytes());
        self.check_engine()
    }

    /// Forgets a prepared statement.
    pub fn close(&mut self, id: u32) {
        self.entry.counts.count(Com::StmtClose);
        self.prepared.remove(&id);
    }

    /// PREPARE, EXECUTE, DEALLOCATE.
    pub(super) async fn text_prepared(
        &mut self,
        statement: &ast::Statement,
        out: &mut dyn ResultSink,
    ) -> SqlResult<Outcome> {
        let unknown = |name: &str, what: &str| SqlError::unknown_statement_handler(name, what);
        match statement {
            ast::Statement::Prepare { name, source } => {
                let text = match source {
                    PrepareSource::Text(text) => text.to_vec(),
                    PrepareSource::Variable(name) => {
                        let value = self.state.user_variable(&name.to_lowercase());
                        // As MySQL: the word, which begins no statement.
                        if value == Value::Null { b"NULL".to_vec() } else { to_bytes(&value).into_owned() }
                    }
                };
                self.named.remove(&*name.to_lowercase());
                self.entry.counts.count(Com::StmtPrepare);
                let statement = self.parse_one(&text)?;
                self.describe(&statement).await?;
                self.named.insert(name.to_lowercase().into(), Arc::new(statement));
                Ok(Outcome { info: "Statement prepared".into(), ..Outcome::default() })
            }
            ast::Statement::Execute { name, variables } => {
                let found = self.named.get(&*name.to_lowercase()).cloned();
                let found = found.ok_or_else(|| unknown(name, "EXECUTE"))?;
                self.entry.counts.count(Com::StmtExecute);
                self.entry.counts.count(Com::of(&found.statement));
                let params: Vec<Value> =
                    variables.iter().map(|one| self.state.user_variable(&one.to_lowercase())).collect();
                if params.len() != found.params {
                    return Err(SqlError::wrong_arguments("EXECUTE"));
                }
                let saved = found.aside.as_ref().map(|aside| self.begin_aside(aside, &found.statement));
                let outcome = if is_row_statement(&found.statement) {
                    self.execute_rows(&found, &params, out).await
                } else {
                    Box::pin(self.dispatch(&found.statement, &params, out)).await
                };
                if let Some(saved) = saved {
                    self.end_aside(saved);
                }
                outcome
            }
            ast::Statement::Deallocate(name) => {
                self.entry.counts.count(Com::StmtClose);
                let gone = self.named.remove(&*name.to_lowercase());
                gone.map(|_| Outcome::default()).ok_or_else(|| unknown(name, "DEALLOCATE PREPARE"))
            }
            _ => Err(SqlError::unsupported_in_prepared()),
        }
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
