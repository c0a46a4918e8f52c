//! Temporary tables: made, changed and dropped. They are the session's own
//! ([`turnstile_catalog::dictionary::temporary`]), so nobody has to be kept away from them and nothing is
//! written to the dictionary. What is said of them is part of the open transaction, unless it commits by
//! itself (TRUNCATE, ALTER, DROP without TEMPORARY), as in MySQL.
//!
//! The trees of a table that is dropped may still be in the undo of the open transaction: they are dropped
//! when none is open.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use turnstile_engine::ids::IndexId;

use super::super::Session;
use super::super::statement::Outcome;
use super::{alter, as_alter, create_table, each_once, make_trees, online, schema_of};
use crate::ast::{self, Statement, TableName};
use crate::dictionary::table::{Counters, Definition};
use crate::dictionary::{Table, TableName as FullName};
use crate::error::{SqlError, SqlResult};
use crate::expr::WarningLevel;
use crate::memory::Charge;
use crate::session::transaction;
use crate::used_tables::Used;
use crate::value::Value;

impl Session {
    /// What the names of tables mean to its statements.
    pub(in crate::session) fn names(&self) -> crate::dictionary::TableNames<'_> {
        crate::dictionary::TableNames::new(self.db.dictionary(), &self.temporary)
    }

    /// Whether what a statement uses is a temporary table.
    pub(in crate::session) fn uses_own(&self, used: &Used, current: Option<&str>) -> bool {
        used.schema_in(current).is_some_and(|schema| self.temporary.has(schema, &used.name))
    }

    /// What the session is charged for a temporary table as long as it is there.
    pub(super) fn charge_own(&self, definition: &Definition) -> SqlResult<Charge> {
        let mut charge = self.charge();
        charge.add(definition.table_bytes())?;
        charge.settle()?;
        Ok(charge)
    }

    /// Whether a name, in the current database if none is written, is a temporary table's.
    pub(in crate::session) fn is_temporary(&self, name: &TableName) -> bool {
        !self.temporary.is_empty()
            && schema_of(self, name).is_ok_and(|schema| self.temporary.has(&schema, &name.table))
    }
}

/// CREATE TEMPORARY TABLE and DROP TEMPORARY TABLE. None: the statement is another one.
pub(super) async fn in_transaction(
    session: &mut Session,
    statement: &Statement,
    params: &[Value],
) -> SqlResult<Option<Outcome>> {
    let temporary = match statement {
        Statement::CreateTable(create) => create.temporary,
        Statement::DropTable(drop) => drop.temporary,
        _ => false,
    };
    if !temporary {
        return Ok(None);
    }
    if session.open.as_ref().map_or(session.settings.read_only, |open| open.read_only) {
        return Err(SqlError::read_only_transaction());
    }
    sweep(session)?;
    if !session.settings.autocommit {
        transaction::enter(session);
    }
    match statement {
        Statement::CreateTable(create) => create_table::create_table(session, create, params).await.map(Some),
        Statement::DropTable(drop) => drop_temporary(session, drop).map(|()| Some(Outcome::default())),
        _ => Ok(None),
    }
}

/// TRUNCATE, ALTER TABLE, CREATE INDEX and DROP INDEX of a temporary table. The transaction before has been
/// committed. None: the table is another one.
pub(super) async fn define(session: &mut Session, statement: &Statement) -> SqlResult<Option<Outcome>> {
    match statement {
        Statement::Truncate(name) if session.is_temporary(name) => {
            truncate(session, name).map(|()| Some(Outcome::default()))
        }
        Statement::AlterTable(said) if session.is_temporary(&said.name) => {
            alter_own(session, (**said).clone()).await.map(Some)
        }
        _ => match as_alter(statement).filter(|said| session.is_temporary(&said.name)) {
            Some(said) => alter_own(session, said).await.map(Some),
            None => Ok(None),
        },
    }
}

/// Nobody has to be kept away from the table: any LOCK will do.
async fn alter_own(session: &mut Session, mut said: ast::AlterTable) -> SqlResult<Outcome> {
    online::check_words(&said.online)?;
    said.online.lock = None;
    alter::alter_table(session, &said).await
}

/// A new table, with its trees, is known to the session from now on.
pub(super) fn publish(
    session: &mut Session,
    definition: Definition,
    counters: Arc<Counters>,
    charge: Charge,
) {
    let table = Table::new(definition, Arc::default(), counters).temporary();
    session.temporary.put(Arc::new(table), charge);
    if let Some(open) = &mut session.open {
        open.own.made = true;
    }
}

/// DROP TEMPORARY TABLE: all of the tables or none.
fn drop_temporary(session: &mut Session, drop: &ast::DropTable) -> SqlResult<()> {
    each_once(session, &drop.names)?;
    let mut full = Vec::with_capacity(drop.names.len());
    for name in &drop.names {
        full.push((schema_of(session, name)?, name.table.clone()));
    }
    let (going, missing): (Vec<FullName>, Vec<FullName>) =
        full.into_iter().partition(|(schema, name)| session.temporary.has(schema, name));
    let missing: Vec<String> = missing.iter().map(|(schema, name)| format!("{schema}.{name}")).collect();
    if !missing.is_empty() && !drop.if_exists {
        return Err(SqlError::bad_table(missing.join(",")));
    }
    for name in missing {
        session.state.warnings.push(WarningLevel::Note, SqlError::bad_table(name));
    }
    forget(session, &going)
}

/// Drops tables that are there.
pub(super) fn forget(session: &mut Session, going: &[FullName]) -> SqlResult<()> {
    for (schema, name) in going {
        let Some(table) = session.temporary.remove(schema, name) else { continue };
        session.gone_trees.extend(table.trees());
    }
    if let Some(open) = &mut session.open {
        (open.own.changes, open.own.dropped) = (false, true);
    }
    sweep(session)
}

/// Drops the trees of tables that are gone, unless the open transaction may still have to undo changes of
/// them.
pub(in crate::session) fn sweep(session: &mut Session) -> SqlResult<()> {
    if session.gone_trees.is_empty() || session.open.is_some() {
        return Ok(());
    }
    let trees = std::mem::take(&mut session.gone_trees);
    drop_trees(session, trees)
}

/// Drops all temporary tables of a session, when it ends or begins anew.
pub(in crate::session) fn forget_all(session: &mut Session) {
    let tables = session.temporary.take();
    session.gone_trees.extend(tables.iter().flat_map(|table| table.trees()));
    // What cannot be dropped now is dropped at the next start.
    let _ = sweep(session);
}

/// Drops trees of temporary tables.
pub(super) fn drop_trees(session: &Session, trees: impl IntoIterator<Item = IndexId>) -> SqlResult<()> {
    let engine = session.db.engine();
    trees.into_iter().try_for_each(|tree| engine.drop_passing_index(tree).map_err(SqlError::from))
}

/// TRUNCATE: new, empty trees in place of the old ones.
fn truncate(session: &mut Session, name: &TableName) -> SqlResult<()> {
    let schema = schema_of(session, name)?;
    let table = session.names().table(&schema, &name.table)?;
    let mut definition = Definition { auto_increment: 0, ..table.definition.clone() };
    let charge = session.charge_own(&definition)?;
    make_trees(session, &mut definition, true)?;
    let counters = Counters::fresh();
    counters.rows.store(0, Ordering::Relaxed);
    publish(session, definition, counters, charge);
    drop_trees(session, table.trees())
}
