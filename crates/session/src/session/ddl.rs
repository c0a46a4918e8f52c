//! Statements that define: databases, tables, indexes. Each commits the open transaction before and is
//! durable after.

mod alter;
mod alter_columns;
mod alteration;
mod auto_increment;
mod claim;
mod columns_read;
mod copy;
mod create_select;
mod create_table;
mod database;
mod drop_table;
mod foreign_key;
mod foreign_key_alter;
mod online;
mod rename;
mod temporary;
mod verify;
mod view;

use super::Session;
use super::statement::Outcome;
use crate::ast::{self, Statement, TableName};
use crate::dictionary::Table;
use crate::dictionary::table::Definition;
use crate::error::{SqlError, SqlResult};
use crate::expr::WarningLevel;
use crate::mdl::{Hold, Mode};
use crate::session::transaction;
use crate::value::Value;
use crate::virtual_table::VirtualTable;
use create_table::create_table;
pub(super) use create_table::{check_has_primary, check_is_identified};
pub(super) use database::check_names;
use database::{alter_database, create_database, drop_database};
use drop_table::{drop_tables, truncate};
pub(super) use foreign_key::parents_named;
use std::collections::HashSet;
use std::sync::Arc;
pub(super) use temporary::{forget_all as forget_temporary, sweep as sweep_temporary};
use turnstile_engine::ids::IndexId;
use turnstile_engine::session_status::WaitingFor;
pub(super) use view::columns_now;

/// The table that a statement makes or fills.
fn defined_table(statement: &Statement) -> Option<&str> {
    match statement {
        Statement::CreateTable(create) => Some(&create.name.table),
        Statement::AlterTable(alter) => Some(&alter.name.table),
        Statement::CreateIndex(create) => Some(&create.table.table),
        Statement::DropIndex { table, .. } => Some(&table.table),
        Statement::Truncate(name) => Some(&name.table),
        _ => None,
    }
}

/// Runs a statement that defines.
pub(super) async fn definition_statement(
    session: &mut Session,
    statement: &Statement,
    params: &[Value],
) -> SqlResult<Outcome> {
    let outcome = define_alone(session, statement, params).await;
    outcome.map_err(|error| match defined_table(statement) {
        Some(table) => error.of_table(table),
        None => error,
    })
}

/// What everybody sees is defined with the pass of those who define.
async fn define_alone(session: &mut Session, statement: &Statement, params: &[Value]) -> SqlResult<Outcome> {
    if let Some(outcome) = temporary::in_transaction(session, statement, params).await? {
        return Ok(outcome);
    }
    commit_before(session).await?;
    if session.settings.read_only {
        return Err(SqlError::read_only_transaction());
    }
    if let Some(outcome) = temporary::define(session, statement).await? {
        return Ok(outcome);
    }
    let pass = pass_definitions(session).await?;
    session.defining.push(pass);
    let outcome = define(session, statement, params).await;
    session.defining.clear();
    if outcome.is_ok() {
        view::refresh(session, statement).await;
    }
    outcome
}

async fn define(session: &mut Session, statement: &Statement, params: &[Value]) -> SqlResult<Outcome> {
    match statement {
        Statement::CreateDatabase(create) => {
            create_database(session, create).await?;
            return Ok(Outcome { affected: 1, ..Outcome::default() });
        }
        Statement::AlterDatabase { name, options } => {
            alter_database(session, name.as_deref(), options).await?;
            return Ok(Outcome { affected: 1, ..Outcome::default() });
        }
        Statement::DropDatabase { name, if_exists } => return drop_database(session, name, *if_exists).await,
        Statement::CreateTable(create) => return create_table(session, create, params).await,
        Statement::DropTable(drop) => drop_tables(session, drop).await?,
        Statement::RenameTable(pairs) => {
            rename::rename_tables(session, pairs).await?;
        }
        Statement::Truncate(name) => truncate(session, name).await?,
        Statement::AlterTable(alter) => return alter::alter_table(session, alter).await,
        Statement::CreateIndex(_) | Statement::DropIndex { .. } => {
            let Some(alter) = as_alter(statement) else { return Ok(Outcome::default()) };
            return alter::alter_table(session, &alter).await;
        }
        Statement::CreateView(create) => view::create_view(session, create).await?,
        Statement::DropView { names, if_exists } => view::drop_views(session, names, *if_exists).await?,
        Statement::DropProgram { kind, name, if_exists } => drop_program(session, kind, name, *if_exists)?,
        _ => return Err(SqlError::not_supported_yet("this statement")),
    }
    Ok(Outcome::default())
}

/// What CREATE INDEX and DROP INDEX say, as ALTER TABLE.
fn as_alter(statement: &Statement) -> Option<ast::AlterTable> {
    let (name, action, online) = match statement {
        Statement::CreateIndex(create) => {
            (&create.table, ast::AlterAction::AddKey(create.key.clone()), &create.online)
        }
        Statement::DropIndex { name, table, online } => {
            let primary = name.eq_ignore_ascii_case("PRIMARY");
            let dropped = || ast::AlterAction::DropKey(name.clone());
            (table, if primary { ast::AlterAction::DropPrimaryKey } else { dropped() }, online)
        }
        _ => return None,
    };
    Some(ast::AlterTable { name: name.clone(), actions: vec![action], online: online.clone() })
}

/// A program that is not there: nothing makes one.
fn drop_program(session: &mut Session, kind: &str, name: &ast::TableName, if_exists: bool) -> SqlResult<()> {
    let missing = match kind {
        "TRIGGER" => SqlError::no_such_trigger(),
        "EVENT" if if_exists => SqlError::does_not_exist("Event", &name.table),
        "EVENT" => SqlError::unknown_event(&name.table),
        kind => {
            let full = format!("{}.{}", schema_of(session, name)?, name.table);
            SqlError::does_not_exist(kind, full)
        }
    };
    if !if_exists {
        return Err(missing);
    }
    session.state.warnings.push(WarningLevel::Note, missing);
    Ok(())
}

/// The commit before a statement that is no part of a transaction. What SET TRANSACTION said of the next
/// one is spent with it.
pub(crate) async fn commit_before(session: &mut Session) -> SqlResult<()> {
    transaction::commit(session).await?;
    session.next_txn = super::transaction::NextTxn::default();
    Ok(())
}

/// Keeps FLUSH TABLES WITH READ LOCK waiting, or waits for it.
async fn pass_definitions(session: &mut Session) -> SqlResult<Hold> {
    if session.global_read_lock.is_some() {
        return Err(SqlError::conflicting_read_lock());
    }
    let mdl = session.db.definitions();
    if let Some(hold) = mdl.try_enter(Mode::Write, false) {
        return Ok(hold);
    }
    let _note = session.entry.status.waits(WaitingFor::Definition);
    mdl.enter(Mode::Write, false, &mut transaction::metadata_patience(session)).await
}

/// Whole databases cannot be defined while tables are locked.
fn no_tables_locked(session: &Session) -> SqlResult<()> {
    if session.table_locks.is_some() { Err(SqlError::lock_or_active_transaction()) } else { Ok(()) }
}

/// The database a table name means.
pub(super) fn schema_of(session: &Session, name: &TableName) -> SqlResult<Box<str>> {
    let current = || session.state.schema().map(|schema| (&*schema).into());
    name.schema.clone().or_else(current).ok_or_else(SqlError::no_database_selected)
}

/// Error 1066 if a list names a table twice.
pub(super) fn each_once(session: &Session, names: &[TableName]) -> SqlResult<()> {
    let mut seen = HashSet::with_capacity(names.len());
    for name in names {
        if !seen.insert((schema_of(session, name)?, &name.table)) {
            return Err(SqlError::non_unique_table(&name.table));
        }
    }
    Ok(())
}

/// An error, or a note if the statement said IF \[NOT\] EXISTS.
fn unless(session: &Session, forgiven: bool, error: SqlError) -> SqlResult<()> {
    if !forgiven {
        return Err(error);
    }
    session.state.warnings.push(WarningLevel::Note, error);
    Ok(())
}

/// Makes the trees of a definition. Nobody looks for those of a temporary table after a restart, so nothing
/// is synced for them.
pub(super) fn make_trees(session: &Session, definition: &mut Definition, temporary: bool) -> SqlResult<()> {
    let engine = session.db.engine();
    let make = || if temporary { engine.create_passing_index() } else { engine.create_index() };
    definition.clustered = make()?;
    for key in &mut definition.keys {
        key.index = if key.primary { definition.clustered } else { make()? };
    }
    Ok(())
}

/// Drops trees that no definition names any more.
pub(super) fn drop_trees(session: &Session, trees: impl IntoIterator<Item = IndexId>) -> SqlResult<()> {
    let trees: Vec<IndexId> = trees.into_iter().collect();
    session.db.engine().drop_indexes(&trees).map_err(SqlError::from)
}

/// Whether a new table cannot have this name.
pub(super) fn is_taken(session: &Session, schema: &str, name: &str) -> bool {
    VirtualTable::is_computed(schema, name) || session.db.dictionary().has(schema, name)
}

/// Takes a table alone. What is found then is what stays until the hold ends. No hold if LOCK TABLES has
/// it.
pub(super) async fn take_alone(
    session: &mut Session,
    schema: &str,
    name: &str,
) -> SqlResult<(Arc<Table>, Option<Hold>)> {
    if let Some(locks) = &session.table_locks {
        let table = session.db.dictionary().table(schema, name)?;
        locks.check_alone(schema, name)?;
        return Ok((table, None));
    }
    loop {
        let table = session.db.dictionary().table(schema, name)?;
        let _note = session.entry.status.waits(WaitingFor::Definition);
        let hold = table.mdl.lock(Mode::Exclusive, &mut transaction::metadata_patience(session)).await?;
        if let Some(now) = session.db.dictionary().find(schema, name)
            && Arc::ptr_eq(&now.mdl, &table.mdl)
        {
            return Ok((now, Some(hold)));
        }
    }
}
