//! Statements that define: databases, tables, indexes. Each commits the open transaction before and is
//! durable after.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustc_hash::FxHashSet;
use turnstile_engine::ids::{IndexId, TableId};
use turnstile_engine::session_card::WaitingFor;

use super::Session;
use super::statement::Outcome;
use crate::ast::{self, Statement, TableName};
use crate::catalog::SERVERS_OWN;
use crate::collation::Collation;
use crate::definition;
use crate::definition::phase::{Faults, Phase};
use crate::dictionary::table::{Counters, Definition};
use crate::dictionary::{Dictionary, Table, TableName as FullName};
use crate::error::{SqlError, SqlResult};
use crate::expr::{EvalContext, WarningLevel, Warnings};
use crate::mdl::names::Name;
use crate::mdl::{Hold, Mode};
use crate::session::{rights, statement, transaction};
use crate::value::Value;
use crate::virtual_table::VirtualTable;
use turnstile_engine::yield_now::Slice;

pub(super) use foreign_key::parents_named;
use foreign_key::{children_of, name_of};

mod alter;
mod alter_columns;
mod alteration;
mod auto_increment;
mod claim;
mod columns_read;
mod copy;
mod create_select;
mod foreign_key;
mod foreign_key_alter;
mod online;
mod rename;
mod verify;

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
    // What is said of temporary tables is part of a transaction.
    match statement {
        Statement::CreateTable(create) if create.temporary => {
            return Err(SqlError::not_supported_yet("temporary tables"));
        }
        Statement::DropTable(drop) if drop.temporary => {
            drop_tables(session, drop).await?;
            return Ok(Outcome::default());
        }
        _ => {}
    }
    commit_before(session).await?;
    if session.settings.read_only {
        return Err(SqlError::read_only_transaction());
    }
    let pass = pass_definitions(session).await?;
    session.defining.push(pass);
    let outcome = define(session, statement, params).await;
    session.defining.clear();
    outcome.map_err(|error| match defined_table(statement) {
        Some(table) => error.of_table(table),
        None => error,
    })
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
        Statement::CreateIndex(create) => {
            let action = ast::AlterAction::AddKey(create.key.clone());
            let (name, online) = (create.table.clone(), create.online.clone());
            return alter::alter_table(session, &ast::AlterTable { name, actions: vec![action], online })
                .await;
        }
        Statement::DropIndex { name, table, online } => {
            let primary = name.eq_ignore_ascii_case("PRIMARY");
            let action = if primary {
                ast::AlterAction::DropPrimaryKey
            } else {
                ast::AlterAction::DropKey(name.clone())
            };
            let (name, online) = (table.clone(), online.clone());
            return alter::alter_table(session, &ast::AlterTable { name, actions: vec![action], online })
                .await;
        }
        Statement::DropView { names, if_exists } => {
            for name in names {
                let schema = schema_of(session, name)?;
                if is_taken(session, &schema, &name.table) {
                    return Err(SqlError::wrong_object(schema, &name.table, "VIEW"));
                }
            }
            if !if_exists && let Some(name) = names.first() {
                return Err(SqlError::bad_table(format!("{}.{}", schema_of(session, name)?, name.table)));
            }
        }
        Statement::DropProgram { kind, name, if_exists } => drop_program(session, kind, name, *if_exists)?,
        _ => return Err(SqlError::not_supported_yet("this statement")),
    }
    Ok(Outcome::default())
}

/// A program that is not there: nothing makes one.
fn drop_program(session: &mut Session, kind: &str, name: &ast::TableName, if_exists: bool) -> SqlResult<()> {
    let missing = match kind {
        "TRIGGER" => SqlError::new(1360, b"HY000", "Trigger does not exist"),
        "EVENT" if if_exists => SqlError::savepoint_does_not_exist("Event", &name.table),
        "EVENT" => SqlError::new(1539, b"HY000", format!("Unknown event '{}'", name.table)),
        kind => {
            let full = format!("{}.{}", schema_of(session, name)?, name.table);
            SqlError::savepoint_does_not_exist(kind, full)
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
    let gate = session.db.definitions();
    if let Some(hold) = gate.try_enter(Mode::Write, false) {
        return Ok(hold);
    }
    let _note = session.entry.card.waits(WaitingFor::Definition);
    gate.enter(Mode::Write, false, &mut transaction::gate_patience(session)).await
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

fn database_collation(session: &Session, options: &ast::DatabaseOptions) -> SqlResult<Collation> {
    if let Some(encryption) = &options.encryption {
        definition::check_encryption(encryption)?;
    }
    let charset = options
        .charset
        .as_deref()
        .map(|name| Collation::default_of_charset(name).ok_or_else(|| SqlError::unknown_character_set(name)));
    let charset = charset.transpose()?;
    let Some(name) = &options.collation else {
        return Ok(charset.unwrap_or_else(|| session.state.collation_named("collation_server")));
    };
    let collation = Collation::by_name(name).ok_or_else(|| SqlError::unknown_collation(name))?;
    charset.map_or(Ok(()), |charset| definition::column::same_charset(collation, charset))?;
    Ok(collation)
}

async fn create_database(session: &mut Session, create: &ast::CreateDatabase) -> SqlResult<()> {
    no_tables_locked(session)?;
    definition::limit::database_name(&create.name)?;
    // Nobody may create these two, whatever they hold; `sys` exists as any other.
    if VirtualTable::is_schema(&create.name) && !create.name.eq_ignore_ascii_case("sys") {
        return Err(rights::denied_database(session, &create.name));
    }
    if &*create.name == SERVERS_OWN && !create.if_not_exists {
        return Err(SqlError::system_schema_rejected(&create.name));
    }
    claim::claim(session, vec![(Name::Schema(create.name.clone()), Mode::Exclusive)], &[]).await?;
    let virtual_one = VirtualTable::is_schema(&create.name);
    if virtual_one || session.db.dictionary().schema_collation(&create.name).is_some() {
        let error = SqlError::database_exists(&create.name);
        return unless(session, create.if_not_exists, error);
    }
    let collation = database_collation(session, &create.options)?;
    session.db.save_schema(&create.name, collation).await?;
    session.db.dictionary().put_schema(&create.name, collation);
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

/// Fails for a database that is the server's own.
fn not_the_servers(session: &Session, name: &str) -> SqlResult<()> {
    if VirtualTable::is_schema(name) {
        return Err(rights::denied_database(session, name));
    }
    if name == SERVERS_OWN { Err(SqlError::system_schema_rejected(name)) } else { Ok(()) }
}

async fn alter_database(
    session: &mut Session,
    name: Option<&str>,
    options: &ast::DatabaseOptions,
) -> SqlResult<()> {
    let current = session.state.schema();
    let name = name.or(current.as_deref()).ok_or_else(SqlError::no_database_selected)?;
    no_tables_locked(session)?;
    not_the_servers(session, name)?;
    let collation = database_collation(session, options)?;
    claim::claim(session, vec![(Name::Schema(name.into()), Mode::Exclusive)], &[]).await?;
    let known = session.db.dictionary().schema_collation(name);
    known.ok_or_else(|| SqlError::no_such_database(name))?;
    session.db.save_schema(name, collation).await?;
    session.db.dictionary().put_schema(name, collation);
    Ok(())
}

async fn drop_database(session: &mut Session, name: &str, if_exists: bool) -> SqlResult<Outcome> {
    no_tables_locked(session)?;
    not_the_servers(session, name)?;
    claim::claim(session, vec![(Name::Schema(name.into()), Mode::Exclusive)], &[]).await?;
    if session.db.dictionary().schema_collation(name).is_none() {
        let error = SqlError::cannot_drop_missing_database(name);
        return unless(session, if_exists, error).map(|()| Outcome::default());
    }
    let tables = session.db.dictionary().tables(name);
    let going: Vec<_> = tables.iter().map(|table| name_of(&table.definition)).collect();
    let affected = drop_together(session, &going, Some(name)).await?;
    if session.state.schema().as_deref() == Some(name) {
        session.state.set_schema(None);
    }
    Ok(Outcome { affected, ..Outcome::default() })
}

/// Tells of a name whether a table of a database, but for `except`, has a CHECK constraint that is called
/// so. The tables are looked at once, when the first name is asked for.
pub(super) fn check_names(session: &Session, schema: &str, except: &str) -> impl Fn(&str) -> bool {
    let names = OnceCell::new();
    move |name| {
        let all = || {
            let tables = session.db.dictionary().tables(schema);
            let others = tables.iter().filter(|table| table.name() != except);
            let names = others.flat_map(|table| &table.definition.checks).map(|check| &check.name);
            names.map(|name| name.to_ascii_lowercase()).collect::<FxHashSet<String>>()
        };
        names.get_or_init(all).contains(&name.to_ascii_lowercase())
    }
}

/// Makes the trees of a definition.
pub(super) fn make_trees(session: &Session, definition: &mut Definition) -> SqlResult<()> {
    let engine = session.db.engine();
    definition.clustered = engine.create_index()?;
    for key in &mut definition.keys {
        key.index = if key.primary { definition.clustered } else { engine.create_index()? };
    }
    Ok(())
}

/// Drops trees that no definition names any more.
pub(super) fn drop_trees(session: &Session, trees: impl IntoIterator<Item = IndexId>) -> SqlResult<()> {
    trees.into_iter().try_for_each(|tree| session.db.engine().drop_index(tree).map_err(SqlError::from))
}

/// Whether a new table cannot have this name.
pub(super) fn is_taken(session: &Session, schema: &str, name: &str) -> bool {
    VirtualTable::is_computed(schema, name) || session.db.dictionary().find(schema, name).is_some()
}

async fn create_table(
    session: &mut Session,
    create: &ast::CreateTable,
    params: &[Value],
) -> SqlResult<Outcome> {
    let schema = schema_of(session, &create.name)?;
    look_at_text(session, create, &schema)?;
    look_at_like(session, create, &schema)?;
    if look_at_new_name(session, create, &schema)?.is_none() {
        return Ok(Outcome::default());
    }
    let mut claims = claim::new_table(&schema, &create.name.table);
    claims.extend(claim::parents(&parents_named(create.keys.iter(), &schema)));
    claim::claim(session, claims, &[]).await?;
    // Somebody may have been faster.
    let Some(default) = look_at_new_name(session, create, &schema)? else { return Ok(Outcome::default()) };
    let holds = take_for_create(session, create, &schema).await?;
    let id = session.db.dictionary().next_table_id();
    let place = definition::Place { schema: &schema, id, default };
    let mut faults = Faults::default();
    let mut definition = match (&create.like, &create.query) {
        (Some(like), _) => {
            let other = session.db.dictionary().table(&schema_of(session, like)?, &like.table)?;
            let (here, name) = (schema.clone(), create.name.table.clone());
            let mut definition = Definition {
                id,
                schema: here,
                name,
                auto_increment: 0,
                foreign_keys: Vec::new(),
                ..other.definition.clone()
            };
            let taken = check_names(session, &schema, "");
            definition::check::rename(&mut definition, "", true, &taken)?;
            create_select::warn_of_types(session, definition.columns.iter());
            definition
        }
        (None, Some(query)) => {
            return Box::pin(create_select::create_from_query(session, create, (query, params), place)).await;
        }
        (None, None) => {
            let mut definition = statement::with_eval(session, &[], |eval| {
                definition::build(create, Vec::new(), place, &mut faults, eval)
            })?;
            let taken = check_names(session, &schema, "");
            definition::check::add(&mut definition, &create.checks, &taken, &mut faults);
            definition
        }
    };
    // Without keys and columns that are sound there is nothing that a parent could fit.
    faults.before(Phase::ForeignKeys)?;
    if create.like.is_some() {
        check_has_primary(session, &definition)?;
    } else {
        check_is_identified(session, &definition)?;
    }
    claim::claim_constraints(session, &definition, &holds).await?;
    let fits = foreign_key::fit_parents(session, &mut definition, 0, &[]);
    faults.take(Phase::ForeignKeys, fits);
    faults.end()?;
    foreign_key::fit_children(session, &definition)?;
    make_trees(session, &mut definition)?;
    let made_by = session.db.save_tables(&[&definition]).await?;
    let table = Table::new(definition, Arc::default(), Counters::fresh()).made_by(made_by);
    session.db.dictionary().put_table(Arc::new(table));
    Ok(Outcome::default())
}

/// `sql_require_primary_key` for a new table with keys of its own: one that stands for the primary key
/// will do.
pub(super) fn check_is_identified(session: &Session, definition: &Definition) -> SqlResult<()> {
    match definition::primary_key(definition) {
        Some(_) => Ok(()),
        None => check_has_primary(session, definition),
    }
}

/// `sql_require_primary_key` for a table that is changed, or made as another one is.
pub(super) fn check_has_primary(session: &Session, definition: &Definition) -> SqlResult<()> {
    if session.settings.require_primary_key && !definition.keys.iter().any(|key| key.primary) {
        return Err(SqlError::table_without_primary_key());
    }
    Ok(())
}

/// What is wrong with the text of a new table alone is told before its name is looked at.
fn look_at_text(session: &Session, create: &ast::CreateTable, schema: &str) -> SqlResult<()> {
    let place = definition::Place { schema, id: TableId(0), default: Collation::DEFAULT };
    if create.columns.is_empty() && (create.query.is_some() || create.like.is_some()) {
        return Ok(());
    }
    let quiet = Warnings::default();
    let mut faults = Faults::default();
    statement::with_eval(session, &[], |eval| {
        let eval = EvalContext { settings: eval.settings, warnings: &quiet, ..*eval };
        let mut definition = definition::build(create, Vec::new(), place, &mut faults, &eval)?;
        definition::check::add(&mut definition, &create.checks, &|_| false, &mut faults);
        // What a query selects is not known yet: conditions may be over its columns.
        faults.before(if create.query.is_some() { Phase::Conditions } else { Phase::Comment })
    })
}

/// What is wrong with the table that a new one is to be like is told before what is wrong with its name.
fn look_at_like(session: &Session, create: &ast::CreateTable, schema: &str) -> SqlResult<()> {
    let Some(like) = &create.like else { return Ok(()) };
    let of = schema_of(session, like)?;
    let same = *of == *schema && like.table == create.name.table;
    if same {
        return Err(SqlError::non_unique_table(&like.table));
    }
    if let Some(computed) = VirtualTable::find(&of, &like.table)? {
        return Err(match computed.table_type() {
            "BASE TABLE" => SqlError::not_supported_yet("CREATE TABLE LIKE of a computed table"),
            _ => SqlError::wrong_object(computed.schema(), computed.name(), "BASE TABLE"),
        });
    }
    session.db.dictionary().table(&of, &like.table).map(drop)
}

/// The collation of the database that a new table comes into; None, with a note, if the table is there
/// and may be.
fn look_at_new_name(
    session: &mut Session,
    create: &ast::CreateTable,
    schema: &str,
) -> SqlResult<Option<Collation>> {
    let default = session.db.dictionary().schema_collation(schema);
    let default = default.ok_or_else(|| SqlError::unknown_database(schema))?;
    definition::limit::table_name(&create.name.table)?;
    let names = create.checks.iter().filter_map(|check| check.name.as_deref());
    names.into_iter().try_for_each(definition::limit::name_length)?;
    if is_taken(session, schema, &create.name.table) {
        let error = SqlError::table_exists(&create.name.table);
        return unless(session, create.if_not_exists, error).map(|()| None);
    }
    if session.table_locks.is_some() {
        return Err(SqlError::table_not_locked(&create.name.table));
    }
    Ok(Some(default))
}

/// Takes the tables at the other end of a new table's foreign keys: its parents, and children that wait
/// for a table of its name.
async fn take_for_create(
    session: &mut Session,
    create: &ast::CreateTable,
    schema: &str,
) -> SqlResult<Vec<Hold>> {
    let parents = parents_named(create.keys.iter(), schema);
    if create.query.is_some() && !parents.is_empty() {
        return Err(SqlError::not_supported_yet("foreign keys in CREATE TABLE ... SELECT"));
    }
    let name = &create.name.table;
    let wanted = |dictionary: &Dictionary| [parents.clone(), children_of(dictionary, schema, name)].concat();
    foreign_key::take_all_alone(session, &wanted).await
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
        let _note = session.entry.card.waits(WaitingFor::Definition);
        let hold = table.gate.lock(Mode::Exclusive, &mut transaction::gate_patience(session)).await?;
        if let Some(now) = session.db.dictionary().find(schema, name)
            && Arc::ptr_eq(&now.gate, &table.gate)
        {
            return Ok((now, Some(hold)));
        }
    }
}

/// Drops tables that are there, and their database with them: all of it, or nothing. How many tables.
async fn drop_together(session: &mut Session, going: &[FullName], schema: Option<&str>) -> SqlResult<u64> {
    let (mut slice, going_names) = (Slice::default(), going.iter().collect());
    for (schema, name) in going {
        slice.breathe().await;
        foreign_key::check_no_children(session, schema, name, &going_names)?;
    }
    let holds = foreign_key::take_all_alone(session, &|_: &Dictionary| going.to_vec()).await?;
    let mut tables = Vec::with_capacity(going.len());
    for (of, name) in going {
        slice.breathe().await;
        // Of a database that goes, others may have dropped or renamed tables meanwhile.
        match session.db.dictionary().find(of, name) {
            Some(table) => tables.push(table),
            None if schema.is_some() => {}
            None => return Err(SqlError::bad_table(format!("{of}.{name}"))),
        }
        foreign_key::check_no_children(session, of, name, &going_names)?;
    }
    session.db.save_dropped(tables.iter().map(|table| &table.definition), schema).await?;
    let gone: Vec<FullName> = tables.iter().map(|table| name_of(&table.definition)).collect();
    session.db.dictionary().replace_tables(&gone, Vec::new());
    if let Some(locks) = &mut session.table_locks {
        locks.forget(&tables);
    }
    if let Some(schema) = schema {
        session.db.dictionary().remove_schema(schema);
    }
    drop(holds);
    session.table_locks.take_if(|locks| locks.is_empty());
    for table in &tables {
        slice.breathe().await;
        let secondary = table.keys().iter().filter(|key| !key.primary).map(|key| key.index);
        drop_trees(session, secondary.chain([table.definition.clustered]))?;
    }
    Ok(tables.len() as u64)
}

async fn drop_tables(session: &mut Session, drop: &ast::DropTable) -> SqlResult<()> {
    let mut missing = Vec::new();
    each_once(session, &drop.names)?;
    for name in &drop.names {
        let schema = schema_of(session, name)?;
        if session.db.dictionary().find(&schema, &name.table).is_none() || drop.temporary {
            missing.push(format!("{schema}.{}", name.table));
        }
    }
    if !missing.is_empty() && !drop.if_exists {
        return Err(SqlError::bad_table(missing.join(",")));
    }
    for name in missing {
        session.state.warnings.push(WarningLevel::Note, SqlError::bad_table(name));
    }
    let mut going = Vec::new();
    for name in &drop.names {
        going.push((schema_of(session, name)?, name.table.clone()));
    }
    going.retain(|(schema, name)| session.db.dictionary().find(schema, name).is_some() && !drop.temporary);
    if !going.is_empty() {
        drop_together(session, &going, None).await?;
    }
    Ok(())
}

/// TRUNCATE: new, empty trees in place of the old ones.
async fn truncate(session: &mut Session, name: &TableName) -> SqlResult<()> {
    let schema = schema_of(session, name)?;
    let (table, hold) = take_alone(session, &schema, &name.table).await?;
    foreign_key::check_may_truncate(session, &schema, &name.table)?;
    let mut definition = Definition { auto_increment: 0, ..table.definition.clone() };
    make_trees(session, &mut definition)?;
    let made_by = session.db.save_tables(&[&definition]).await?;
    let counters = Counters::fresh();
    counters.rows.store(0, Ordering::Relaxed);
    let empty = Table::new(definition, table.gate.clone(), counters).made_by(made_by);
    session.db.dictionary().put_table(Arc::new(empty));
    drop(hold);
    let secondary = table.keys().iter().filter(|key| !key.primary).map(|key| key.index);
    drop_trees(session, secondary.chain([table.definition.clustered]))
}
