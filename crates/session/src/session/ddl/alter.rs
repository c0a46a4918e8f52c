//! ALTER TABLE, CREATE INDEX, DROP INDEX.
//!
//! The new definition is worked out first. If the rows themselves stay as they are (names, defaults, dropped
//! indexes), only the dictionary changes, after new indexes were filled from the rows; otherwise all rows are
//! copied into new trees.

mod rebuild;

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::super::Session;
use super::super::statement::{Info, Outcome};
use super::alter_columns::ColumnPlan;
use super::alteration::{Alteration, NO_TREE};
use super::claim::{self, new_constraints, new_table};
use super::create_table::names_of_checks;
use super::foreign_key::{children_of, parents_named};
use super::foreign_key_alter::{check_copy, keep_columns, settle, settle_parents};
use super::online::{self, Needs};
use super::rename::Move;
use crate::ast::{AlterAction, AlterTable, Name, TableName};
use crate::collation::Collation;
use crate::definition;
use crate::definition::phase::{Faults, Phase};
use crate::dictionary::{Dictionary, Key, Named, Table, TableName as FullName};
use crate::error::{SqlError, SqlResult};
use crate::expr::{EvalContext, Warnings};
use crate::mdl::Hold;
use crate::session::ddl::{foreign_key, rename, verify};
use crate::session::{ddl, statement};

pub(super) use rebuild::changed_tables;
use rebuild::{rebuild, redefine};

/// ALTER TABLE
pub(super) async fn alter_table(session: &mut Session, alter: &AlterTable) -> SqlResult<Outcome> {
    let schema = ddl::schema_of(session, &alter.name)?;
    online::check_words(&alter.online)?;
    look_at_text_of_alter(session, alter)?;
    let own = session.is_temporary(&alter.name);
    if let Named::View(_) = session.names().named(&schema, &alter.name.table)? {
        return Err(SqlError::wrong_object(&schema, &alter.name.table, "BASE TABLE"));
    }
    let moves = moves_of(session, alter, &schema)?;
    let holds = match own {
        true => take_own(alter, &schema)?,
        false => take_for_alter(session, alter, &schema, &moves).await?,
    };
    let table = session.names().table(&schema, &alter.name.table)?;
    check_new_name(session, alter, &schema)?;
    if alter.actions.iter().all(|action| renamed(action).is_some()) && !alter.actions.is_empty() {
        match own {
            true => online::check(&alter.online, &Needs::Copy)?,
            false => online::check_rename(&alter.online)?,
        }
    }
    let mut work = Alteration::of(&table);
    check_validation(&alter.actions)?;
    work_out(session, alter, &schema, &table, &mut work)?;
    work.moves = moves;
    work.forgotten = forgotten(&table, &work, &alter.actions);
    // As MySQL does it, whatever the change is; it tells so.
    work.rebuild |= own;
    work.copies |= own;
    if !own {
        claim_for_alter(session, &table, &work, &holds).await?;
    }
    let affected = if work.rebuild {
        rebuild(session, &table, &mut work).await?
    } else {
        let met = if work.verify { verify::verify_rows(session, &table, &work.definition).await? } else { 0 };
        met.max(redefine(session, &table, &mut work).await?)
    };
    drop(holds);
    let affected = if work.copies { affected } else { 0 };
    // What touches no row at all says nothing.
    let quiet = |one: &AlterAction| matches!(one, AlterAction::Rename(_) | AlterAction::EnableKeys(_));
    if alter.actions.iter().all(quiet) && !own {
        return Ok(Outcome::default());
    }
    let info = format!("Records: {affected}  Duplicates: 0  Warnings: {}", session.state.warnings.count());
    Ok(Outcome { affected, info: Info::Text(info), ..Outcome::default() })
}

/// Columns whose histograms go: those that are dropped, changed or renamed, whatever becomes of them, those
/// that get another type with the table's character set, and those that get a unique key of their own.
fn forgotten(table: &Table, work: &Alteration, actions: &[AlterAction]) -> Vec<Box<str>> {
    let known = table.counters.histograms.all();
    if known.is_empty() {
        return Vec::new();
    }
    let is_named = |name: &str| {
        actions.iter().any(|action| match action {
            AlterAction::ChangeColumn { old_name, .. } => old_name.eq_ignore_ascii_case(name),
            AlterAction::RenameColumn { old_name, .. } => old_name.eq_ignore_ascii_case(name),
            _ => false,
        })
    };
    let stays = |name: &str| {
        let Some(was) = table.column_position(name) else { return false };
        let Some(now) = work.origins.iter().position(|origin| *origin == Some(was)) else { return false };
        let unique = |key: &Key| key.unique && key.parts.len() == 1 && key.parts[0].column == now;
        work.definition.columns[now].kind == table.columns()[was].kind
            && !work.definition.keys.iter().any(unique)
    };
    let gone = known.iter().filter(|one| is_named(&one.column) || !stays(&one.column));
    gone.map(|one| one.column.clone()).collect()
}

/// What is wrong with the columns and options written is told before the table is looked for.
fn look_at_text_of_alter(session: &Session, alter: &AlterTable) -> SqlResult<()> {
    let quiet = Warnings::default();
    let mut faults = Faults::default();
    let before =
        || definition::Options { collation: Collation::DEFAULT, auto_increment: 0, comment: "".into() };
    statement::with_eval(session, &[], |eval| {
        let eval = EvalContext { settings: eval.settings, warnings: &quiet, ..*eval };
        for action in &alter.actions {
            match action {
                AlterAction::AddColumn { column, .. } | AlterAction::ChangeColumn { column, .. } => {
                    definition::look_at_column(column, &mut faults, &eval);
                }
                AlterAction::Option(option) => {
                    let option = std::slice::from_ref(option);
                    let place = (&*alter.name.table, false);
                    definition::options(option, before(), place, &mut faults, &eval);
                }
                AlterAction::ConvertCharset { charset, collation } => {
                    let known = definition::column::names_known(charset.as_deref(), collation.as_deref());
                    faults.take(Phase::Names, known);
                }
                _ => {}
            }
        }
    });
    faults.take(Phase::Options, check_charsets(&alter.actions));
    faults.before(Phase::Conditions)
}

/// The tables that new foreign keys name.
fn new_parents(alter: &AlterTable, schema: &str) -> Vec<FullName> {
    let keys = alter.actions.iter().filter_map(|action| match action {
        AlterAction::AddKey(key) => Some(key),
        _ => None,
    });
    parents_named(keys, schema)
}

/// Nobody else has a temporary table, and it cannot be a child.
fn take_own(alter: &AlterTable, schema: &str) -> SqlResult<Vec<Hold>> {
    match new_parents(alter, schema).is_empty() {
        true => Ok(Vec::new()),
        false => Err(SqlError::cannot_add_foreign_key()),
    }
}

/// Takes the table alone, and those that the change concerns besides.
async fn take_for_alter(
    session: &mut Session,
    alter: &AlterTable,
    schema: &str,
    moves: &[Move],
) -> SqlResult<Vec<Hold>> {
    let parents = new_parents(alter, schema);
    let renames = alter.actions.iter().any(|action| match action {
        AlterAction::ChangeColumn { old_name, column, .. } => *old_name != column.name,
        AlterAction::RenameColumn { .. } => true,
        _ => false,
    });
    let itself = (Box::from(schema), alter.name.table.clone());
    let wanted = |dictionary: &Dictionary| {
        let renames = renames || !moves.is_empty();
        let children = if renames { children_of(dictionary, &itself.0, &itself.1) } else { Vec::new() };
        let waiting = moves.iter().flat_map(|one| children_of(dictionary, &one.now.0, &one.now.1));
        [std::slice::from_ref(&itself), &parents, &children, &waiting.collect::<Vec<_>>()].concat()
    };
    let new_names = moves.iter().flat_map(|one| new_table(&one.now.0, &one.now.1));
    claim::claim(session, new_names.chain(claim::parents(&parents)).collect(), &[]).await?;
    foreign_key::take_all_alone(session, &wanted).await
}

/// The table's new name, if it gets one.
fn moves_of(session: &Session, alter: &AlterTable, schema: &str) -> SqlResult<Vec<Move>> {
    let Some(new) = alter.actions.iter().rev().find_map(renamed) else { return Ok(Vec::new()) };
    let was = (Box::from(schema), alter.name.table.clone());
    let now = (ddl::schema_of(session, new)?, new.table.clone());
    Ok(if was == now { Vec::new() } else { vec![Move { was, now }] })
}

/// Holds the names of new constraints, and finds that they, and the table's new name, can be given.
async fn claim_for_alter(
    session: &mut Session,
    table: &Table,
    work: &Alteration,
    holds: &[Hold],
) -> SqlResult<()> {
    let mut claims = new_constraints(&work.definition, Some(&table.definition));
    for (old, new) in rename::renamed(session, &work.moves, Some((&work.definition, &work.others)))?.0 {
        claims.extend(new_constraints(&new, Some(&old.definition)));
    }
    claim::claim(session, claims, holds).await?;
    // Somebody may have been faster.
    let (schema, name) = (&table.definition.schema, table.name());
    let old: FxHashSet<&str> = table.definition.checks.iter().map(|known| &*known.name).collect();
    let taken = ddl::check_names(session, schema, name);
    for check in &work.definition.checks {
        if !old.contains(&*check.name) && taken(&check.name) {
            return Err(SqlError::duplicate_check_name(&check.name));
        }
    }
    check_foreign_names(session, table, work)?;
    rename::renamed(session, &work.moves, Some((&work.definition, &work.others))).map(drop)
}

/// Errors 1049 and 1050 for the name that the table is to get.
fn check_new_name(session: &Session, alter: &AlterTable, schema: &str) -> SqlResult<()> {
    for new in alter.actions.iter().filter_map(renamed) {
        let to = ddl::schema_of(session, new)?;
        definition::limit::table_name(&new.table)?;
        if session.db.dictionary().schema_collation(&to).is_none() {
            return Err(SqlError::unknown_database(&to));
        }
        let taken = match session.is_temporary(&alter.name) {
            true => session.temporary.has(&to, &new.table),
            false => ddl::is_taken(session, &to, &new.table),
        };
        if (&*to, &*new.table) != (schema, &*alter.name.table) && taken {
            return Err(SqlError::table_exists(&new.table));
        }
    }
    Ok(())
}

/// The new definition. What is wrong with the statement is found in the order in which MySQL finds it.
fn work_out(
    session: &Session,
    alter: &AlterTable,
    schema: &str,
    table: &Table,
    work: &mut Alteration,
) -> SqlResult<()> {
    let rules = foreign_key::foreign_rules(session);
    let mut faults = Faults::default();
    let actions = statement::with_eval(session, &[], |eval| work.begin(&alter.actions, &mut faults, eval))?;
    let plan = statement::with_eval(session, &[], |eval| {
        faults.take(Phase::Comment, definition::limit::table_comment(&work.definition, eval));
        ColumnPlan::of(work, &actions, &mut faults, eval)
    })?;
    let taken = names_of_checks(session, table.temporary, (schema, &alter.name.table));
    let new_checks = work.change_checks(&actions, &plan.gone(&actions), &taken)?;
    work.drop_keys(&actions);
    let placed = statement::with_eval(session, &[], |eval| plan.place(work, eval))?;
    work.set_columns(placed);
    keep_columns(table, work)?;
    work.change_keys(&actions)?;
    work.check_columns(&mut faults);
    faults.before(Phase::Engine)?;
    statement::with_eval(session, &[], |eval| work.fit_keys(eval))?;
    statement::with_eval(session, &[], |eval| work.add_keys(&actions, eval))?;
    definition::functional::settle(&mut work.definition)?;
    definition::check_automatic(&work.definition)?;
    let written = work.foreign.clone();
    work.known = work.definition.foreign_keys.len();
    settle(table, work, &written, rules)?;
    definition::check::against_actions(&work.definition)?;
    foreign_key::fit_parents(session, &mut work.definition, work.known, &table.definition.foreign_keys)?;
    definition::generated::check_keys(&work.definition)?;
    definition::limit::row_width(work.definition.named_columns())?;
    std::mem::take(&mut work.late).first(&work.definition.columns).map_or(Ok(()), Err)?;
    let children = match table.temporary {
        true => Vec::new(),
        false => session.db.dictionary().children(schema, table.name()),
    };
    work.others = settle_parents(table, &children, work, rules)?;
    work.compare(alter, rules.checks);
    let needs = if table.temporary { Needs::Copy } else { work.needs(alter, rules.checks) };
    definition::check_expressions(&work.definition)?;
    if needs == Needs::Copy {
        online::check(&alter.online, &needs)?;
    }
    check_copy(table, &children, work, (rules, &alter.online))?;
    new_checks.iter().try_for_each(|check| definition::check::resolve(&work.definition, check, missing))?;
    definition::check::distinct(&new_checks)?;
    online::check(&alter.online, &needs)?;
    check_foreign_names(session, table, work)?;
    definition::column_count(&work.definition)?;
    faults.end()?;
    statement::with_eval(session, &[], |eval| definition::limit::comments(&mut work.definition, eval))?;
    definition::check_whole(&work.definition)?;
    let is_new = |key: &Key| key.index == NO_TREE;
    statement::with_eval(session, &[], |eval| definition::warn_of_duplicates(&work.definition, is_new, eval));
    if !matches!(&*alter.actions, [AlterAction::Rename(_)]) {
        ddl::check_has_primary(session, &work.definition)?;
    }
    definition::key::sort(&mut work.definition.keys, &work.definition.columns);
    Ok(())
}

/// Error 1826 for names of new foreign keys that other tables' have.
fn check_foreign_names(session: &Session, table: &Table, work: &Alteration) -> SqlResult<()> {
    let old = &table.definition;
    let mut new = work.definition.foreign_keys[work.known..].iter();
    new.try_for_each(|key| foreign_key::check_name_is_free(session, &old.schema, &old.name, &key.name))
}

/// Whether the rows have parents by the foreign keys that are new; how many rows were looked at.
async fn check_new_foreign_keys(session: &mut Session, work: &Alteration) -> SqlResult<u64> {
    let keys = &work.definition.foreign_keys[work.known..];
    if keys.is_empty() || !session.settings.foreign_key_checks {
        return Ok(0);
    }
    let new = Table::new(work.definition.clone(), Arc::default(), Arc::default());
    Box::pin(foreign_key::check_rows_have_parents(session, &new, keys)).await
}

/// The name that an action gives the table.
fn renamed(action: &AlterAction) -> Option<&TableName> {
    match action {
        AlterAction::Rename(name) => Some(name),
        _ => None,
    }
}

/// What is said of a constraint that reads a column that is not there.
fn missing(check: &str, column: &Name) -> SqlError {
    SqlError::unknown_column(column, format!("check constraint {check} expression"))
}

/// Error 1253 for a default collation that is not one of the character set given with it.
fn check_charsets(actions: &[AlterAction]) -> SqlResult<()> {
    definition::check_charset(actions.iter().filter_map(|action| match action {
        AlterAction::Option(option) => Some(option),
        _ => None,
    }))
}

/// Error 1221 for WITH VALIDATION and WITHOUT VALIDATION where no VIRTUAL column is added or changed.
fn check_validation(actions: &[AlterAction]) -> SqlResult<()> {
    let makes_virtual = |action: &AlterAction| match action {
        AlterAction::AddColumn { column, .. } | AlterAction::ChangeColumn { column, .. } => {
            column.generated.as_ref().is_some_and(|generated| !generated.stored)
        }
        _ => false,
    };
    let validates = actions.iter().any(|action| matches!(action, AlterAction::Validation(_)));
    if validates && !actions.iter().any(makes_virtual) {
        return Err(SqlError::wrong_usage("ALTER", "WITH VALIDATION"));
    }
    Ok(())
}
