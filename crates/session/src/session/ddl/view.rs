//! CREATE VIEW, ALTER VIEW, DROP VIEW.
//!
//! The query is planned as it is written, then brought into the form in which it is kept
//! (`plan/written.rs`), written as text, read back and planned again: what the dictionary gets is a text that
//! gives the same columns. Whoever makes the view must be allowed to read what it reads at that moment; who
//! reads it later, see `rights/viewed.rs`.

mod refresh;

use std::sync::Arc;

use super::super::Session;
use super::{claim, create_select, schema_of, unless};
use crate::accounts::AccountName;
use crate::ast::{CreateView, Name, Query, Statement, TableName, ViewAlgorithm, ViewChange};
use crate::definition::{limit, now_seconds};
use crate::dictionary::{Column, Definer, Named, TableName as FullName, View, ViewDefinition};
use crate::error::{SqlError, SqlResult};
use crate::expr::{EvalContext, WarningLevel};
use crate::expression_text::{parse_query, query_text};
use crate::mdl::Mode;
use crate::plan::change::check_option_holds;
use crate::plan::parameters::Parameters;
use crate::plan::uses::Uses;
use crate::plan::{PlanContext, QueryPlan, is_mergeable, is_updatable, plan_query, query_of_view};
use crate::pulse;
use crate::session::{rights, statement, transaction};
use crate::used_tables::of_statement;
use crate::value::Value;
use crate::virtual_table::VirtualTable;
pub(in crate::session) use refresh::{columns_now, refresh};
use turnstile_engine::ids::TxnId;
use turnstile_engine::session_status::WaitingFor;

/// Columns that a view may have, MySQL's limit.
const COLUMNS_MAX: usize = 4096;

/// CREATE VIEW and ALTER VIEW.
pub(super) async fn create_view(session: &mut Session, create: &CreateView) -> SqlResult<()> {
    let schema = schema_of(session, &create.name)?;
    let name = &create.name.table;
    if VirtualTable::is_schema(&schema) {
        return Err(rights::denied_database(session, &schema));
    }
    if !create.query.into.is_empty() {
        return Err(SqlError::view_into());
    }
    limit::table_name(name)?;
    super::no_tables_locked(session)?;
    claim::claim(session, claim::new_table(&schema, name), &[]).await?;
    let old = match look_at_name(session, create, &schema)? {
        Found::Stays => return Ok(()),
        Found::Free => None,
        Found::Replaced(view) => Some(view),
    };
    let definer = definer(session, create, old.as_deref())?;
    let selecting = Statement::Select(create.query.clone());
    let tables = of_statement(&selecting);
    let current = session.state.schema();
    if let Some(own) = tables.iter().find(|used| session.uses_own(used, current.as_deref())) {
        return Err(SqlError::view_reads_temporary(&own.name));
    }
    statement::enter_for(session, &tables).await?;
    let made = define(session, create, &schema, definer, old.as_deref());
    // As whoever reads it will: maybe it lies too deep for that.
    let made = made.and_then(|definition| {
        let view = View::new(definition, Arc::default(), TxnId::default());
        columns_now(session, &view)?;
        check_option(session, &view)?;
        Ok(view.definition)
    });
    let definition = match made {
        Ok(definition) => definition,
        Err(error) => return statement::abandon(session, error).await,
    };
    transaction::commit(session).await?;
    // Whoever reads the old one has planned by it.
    let mdl = old.map(|old| old.mdl.clone());
    let hold = match &mdl {
        Some(mdl) => {
            let _note = session.entry.status.waits(WaitingFor::Definition);
            Some(mdl.lock(Mode::Exclusive, &mut transaction::metadata_patience(session)).await?)
        }
        None => None,
    };
    let made_by = session.db.save_views(&[], &[&definition]).await?;
    let view = View::new(definition, mdl.unwrap_or_default(), made_by);
    session.db.dictionary().replace_views(&[], vec![Arc::new(view)]);
    drop(hold);
    Ok(())
}

/// What has the name.
enum Found {
    /// Nothing.
    Free,
    /// A view that is replaced.
    Replaced(Arc<View>),
    /// What is there stays, and the client has been told.
    Stays,
}

fn look_at_name(session: &Session, create: &CreateView, schema: &str) -> SqlResult<Found> {
    let (dictionary, name) = (session.db.dictionary(), &create.name.table);
    if dictionary.schema_collation(schema).is_none() {
        return Err(SqlError::unknown_database(schema));
    }
    match (dictionary.named(schema, name), create.change) {
        (Err(missing), ViewChange::Alter) => Err(missing),
        (Err(_), _) if VirtualTable::is_computed(schema, name) => Err(SqlError::table_exists(name)),
        (Err(_), _) => Ok(Found::Free),
        (Ok(_), ViewChange::Create) => Err(SqlError::table_exists(name)),
        (Ok(_), ViewChange::Keep) => {
            unless(session, true, SqlError::table_exists(name))?;
            Ok(Found::Stays)
        }
        (Ok(Named::View(view)), _) => Ok(Found::Replaced(view)),
        (Ok(Named::Table(_)), _) => Err(SqlError::wrong_object(schema, name, "VIEW")),
    }
}

/// Whose rights its readers read with. Another than the one who makes it takes SUPER.
fn definer(session: &mut Session, create: &CreateView, old: Option<&View>) -> SqlResult<AccountName> {
    let own = session.own_account();
    let written = create.definer.as_ref().filter(|user| !user.is_current());
    let definer = match written {
        Some(user) => AccountName::new(&user.user, &user.host),
        None if create.definer.is_some() || create.change != ViewChange::Alter => own.clone(),
        None => old.map_or(own.clone(), |old| {
            let Definer { user, host } = &old.definition.definer;
            AccountName::new(user, host)
        }),
    };
    if definer != own {
        rights::ask_to_define_for(session, &definer)?;
        if session.db.accounts().find(&definer).is_none() {
            rights::note(session, SqlError::no_such_definer(&definer.user, &definer.host));
        }
    }
    Ok(definer)
}

/// The new definition.
fn define(
    session: &Session,
    create: &CreateView,
    schema: &str,
    definer: AccountName,
    old: Option<&View>,
) -> SqlResult<ViewDefinition> {
    let uses = Uses::default();
    let kept = || statement::with_eval(session, &[], |eval| keep(session, create, (schema, eval), &uses));
    let Kept { text, query, columns, updatable } = pulse::watched(session.interrupt.clone(), kept)??;
    if let Some(denied) = rights::denied_of(session, &uses.list()) {
        return Err(denied);
    }
    let name = &create.name.table;
    let reads = reads_of(&query);
    if reads_itself(session, &reads, (schema, name)) {
        return Err(SqlError::no_such_table(schema, name));
    }
    let old = old.map(|old| &old.definition).filter(|_| create.change == ViewChange::Alter);
    let mut algorithm = create.algorithm.or(old.map(|old| old.algorithm)).unwrap_or_default();
    if algorithm == ViewAlgorithm::Merge && !is_mergeable(&query) {
        session.state.warnings.push(WarningLevel::Warning, SqlError::view_not_merged());
        algorithm = ViewAlgorithm::Undefined;
    }
    let updatable = updatable && algorithm != ViewAlgorithm::Temptable;
    if create.check.is_some() && !updatable {
        return Err(SqlError::check_option_on_fixed_view(schema, name));
    }
    let client = session.state.variables.lock().named("character_set_client");
    Ok(ViewDefinition {
        schema: schema.into(),
        name: name.clone(),
        text,
        columns,
        has_names: !create.columns.is_empty(),
        reads,
        algorithm,
        definer: Definer { user: definer.user.into(), host: definer.host.into() },
        invoker: create.invoker.or(old.map(|old| old.invoker)).unwrap_or(false),
        check: create.check,
        updatable,
        client: match client {
            Value::Str(text) => (&*text).into(),
            _ => "utf8mb4".into(),
        },
        collation: session.settings.collation_connection,
        created: now_seconds(),
    })
}

/// Fails unless the view's CHECK OPTION can be held.
fn check_option(session: &Session, view: &View) -> SqlResult<()> {
    statement::with_eval(session, &[], |eval| {
        let (uses, parameters) = (Uses::default(), Parameters::literals());
        let context = statement::plan_context(session, None, eval, &uses, &parameters, false);
        check_option_holds(&context, view)
    })
}

/// What is kept of a query.
struct Kept {
    text: Box<str>,
    /// As it comes from the text.
    query: Query,
    columns: Vec<Column>,
    updatable: bool,
}

fn keep(
    session: &Session,
    create: &CreateView,
    (schema, eval): (&str, &EvalContext<'_>),
    uses: &Uses,
) -> SqlResult<Kept> {
    let (current, parameters) = (session.state.schema(), Parameters::literals());
    let context = statement::plan_context(session, current.as_deref(), eval, uses, &parameters, false);
    let planned = plan_query(&context, &create.query, None)
        .map_err(|error| rights::denied_before(session, uses).unwrap_or(error))?;
    if !create.columns.is_empty() && create.columns.len() != planned.columns().len() {
        return Err(SqlError::view_columns_mismatch());
    }
    if planned.columns().len() > COLUMNS_MAX {
        return Err(SqlError::too_many_columns());
    }
    // What is planned and written again reads nothing more.
    let noted = Uses::default();
    let context = PlanContext { uses: &noted, ..context };
    let kept = query_of_view(&context, &create.query)?;
    let text = query_text(&kept, false);
    let again = parse_query(&text).map(|(query, _)| query).filter(|again| query_text(again, false) == text);
    let query = again.ok_or_else(cannot_be_kept)?;
    let context = PlanContext { schema: Some(schema), ..context };
    let second = plan_query(&context, &query, None).map_err(|_| cannot_be_kept())?;
    if !same_columns(&planned, &second) {
        return Err(cannot_be_kept());
    }
    let columns = columns_of(session, (&second, &query), &create.columns, (Some(schema), eval))?;
    for (nth, column) in columns.iter().enumerate() {
        limit::new_column_name(&column.name)?;
        if columns[..nth].iter().any(|one| one.name.eq_ignore_ascii_case(&column.name)) {
            return Err(SqlError::duplicate_column(&column.name));
        }
    }
    let updatable = is_updatable(&context, &query);
    Ok(Kept { text: text.into(), query, columns, updatable })
}

/// The columns that a view of a query has, under the names that it gives them or else the query's.
fn columns_of(
    session: &Session,
    (plan, query): (&QueryPlan, &Query),
    names: &[Name],
    within: (Option<&str>, &EvalContext<'_>),
) -> SqlResult<Vec<Column>> {
    let mut columns =
        create_select::selected_columns(plan, query, (session.names().of_everybody(), within.0, within.1))?;
    for (nth, (column, meta)) in columns.iter_mut().zip(plan.columns().iter()).enumerate() {
        column.name = names.get(nth).unwrap_or(&meta.name).clone();
    }
    Ok(columns)
}

fn cannot_be_kept() -> SqlError {
    SqlError::not_supported_yet("a view of this query")
}

/// Whether both plans give columns of the same types.
fn same_columns(one: &QueryPlan, other: &QueryPlan) -> bool {
    let (one, other) = (one.columns(), other.columns());
    one.len() == other.len()
        && one.iter().zip(other.iter()).all(|(one, other)| one.column_type == other.column_type)
}

/// The tables and views that a query names, each once.
fn reads_of(query: &Query) -> Vec<FullName> {
    let mut reads: Vec<FullName> = Vec::new();
    for used in of_statement(&Statement::Select(Box::new(query.clone()))) {
        let Some(schema) = used.schema else { continue };
        let name = (schema, used.name);
        if !reads.contains(&name) {
            reads.push(name);
        }
    }
    reads
}

/// Whether one of these is a view, or reads it.
fn reads_itself(session: &Session, reads: &[FullName], (schema, name): (&str, &str)) -> bool {
    let mut waiting = reads.to_vec();
    let mut seen: Vec<FullName> = Vec::new();
    while let Some(one) = waiting.pop() {
        if (&*one.0, &*one.1) == (schema, name) {
            return true;
        }
        if seen.contains(&one) {
            continue;
        }
        if let Some(view) = session.db.dictionary().view(&one.0, &one.1) {
            waiting.extend(view.definition.reads.iter().cloned());
        }
        seen.push(one);
    }
    false
}

/// DROP VIEW: all of them, or none.
pub(super) async fn drop_views(session: &mut Session, names: &[TableName], if_exists: bool) -> SqlResult<()> {
    super::no_tables_locked(session)?;
    super::each_once(session, names)?;
    let mut full: Vec<FullName> = Vec::with_capacity(names.len());
    for name in names {
        full.push((schema_of(session, name)?, name.table.clone()));
    }
    let claims = full.iter().flat_map(|(schema, name)| claim::new_table(schema, name)).collect();
    claim::claim(session, claims, &[]).await?;
    let (mut missing, mut going) = (Vec::new(), Vec::new());
    for (schema, name) in &full {
        match session.db.dictionary().named(schema, name) {
            Ok(Named::View(view)) => going.push(view),
            Ok(Named::Table(_)) => return Err(SqlError::wrong_object(schema, name, "VIEW")),
            Err(_) => missing.push(format!("{schema}.{name}")),
        }
    }
    if !missing.is_empty() && !if_exists {
        return Err(SqlError::bad_table(missing.join(",")));
    }
    for name in missing {
        session.state.warnings.push(WarningLevel::Note, SqlError::bad_table(name));
    }
    let holds = take_views_alone(session, &going).await?;
    let gone: Vec<FullName> = going.iter().map(|view| name_of(view)).collect();
    session.db.save_views(&gone, &[]).await?;
    session.db.dictionary().replace_views(&gone, Vec::new());
    drop(holds);
    Ok(())
}

/// RENAME TABLE of views, each once and within its database.
pub(super) async fn rename_views(session: &mut Session, steps: Vec<(FullName, FullName)>) -> SqlResult<()> {
    super::no_tables_locked(session)?;
    let claims = steps.iter().flat_map(|(from, to)| [from, to]);
    let claims = claims.flat_map(|(schema, name)| claim::new_table(schema, name)).collect();
    claim::claim(session, claims, &[]).await?;
    let (mut going, mut definitions) = (Vec::new(), Vec::<ViewDefinition>::new());
    for (from, to) in &steps {
        let Named::View(view) = session.db.dictionary().named(&from.0, &from.1)? else {
            return Err(SqlError::not_supported_yet("RENAME TABLE of tables and views together"));
        };
        if from.0 != to.0 {
            return Err(SqlError::view_changes_schema(&from.0, &to.0));
        }
        let given = definitions.iter().any(|one| (&one.schema, &one.name) == (&to.0, &to.1));
        if given || super::is_taken(session, &to.0, &to.1) {
            return Err(SqlError::table_exists(&to.1));
        }
        definitions.push(ViewDefinition { name: to.1.clone(), ..view.definition.clone() });
        going.push(view);
    }
    super::each_once(session, &going.iter().map(|view| table_name(view)).collect::<Vec<_>>())?;
    let holds = take_views_alone(session, &going).await?;
    let gone: Vec<FullName> = going.iter().map(|view| name_of(view)).collect();
    let made_by = session.db.save_views(&gone, &definitions.iter().collect::<Vec<_>>()).await?;
    let now = definitions.into_iter().zip(&going);
    let now = now.map(|(definition, old)| Arc::new(View::new(definition, old.mdl.clone(), made_by)));
    session.db.dictionary().replace_views(&gone, now.collect());
    drop(holds);
    Ok(())
}

fn table_name(view: &View) -> TableName {
    let (schema, table) = name_of(view);
    TableName { schema: Some(schema), table }
}

/// Waits until nobody reads these views.
pub(super) async fn take_views_alone(
    session: &Session,
    views: &[Arc<View>],
) -> SqlResult<Vec<crate::mdl::Hold>> {
    let _note = session.entry.status.waits(WaitingFor::Definition);
    let mut patience = transaction::metadata_patience(session);
    let mut holds = Vec::with_capacity(views.len());
    for view in views {
        let hold = view.mdl.lock(Mode::Exclusive, &mut patience).await?;
        patience.also_holds(&hold);
        holds.push(hold);
    }
    Ok(holds)
}

/// A view's database and name.
pub(super) fn name_of(view: &View) -> FullName {
    (view.definition.schema.clone(), view.definition.name.clone())
}
