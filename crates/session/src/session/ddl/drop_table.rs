//! DROP TABLE and TRUNCATE.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use turnstile_engine::yield_now::Slice;

use super::super::Session;
use super::foreign_key::name_of;
use super::{drop_trees, each_once, foreign_key, make_trees, schema_of, take_alone, temporary, view};
use crate::ast::{self, TableName};
use crate::dictionary::table::Definition;
use crate::dictionary::{Dictionary, Table, TableName as FullName};
use crate::error::{SqlError, SqlResult};
use crate::expr::WarningLevel;
use crate::virtual_table::VirtualTable;

/// How many trees wait for one sync: enough that it costs each little, few enough to give way between.
const DROPPED_TOGETHER: usize = 32;

/// Drops tables that are there, and their database with them: all of it, or nothing. How many tables.
pub(super) async fn drop_together(
    session: &mut Session,
    going: &[FullName],
    schema: Option<&str>,
) -> SqlResult<u64> {
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
    // Of a database that goes nobody makes a view any more: its name is held.
    let views = schema.map_or(Vec::new(), |schema| session.db.dictionary().views(schema));
    let view_holds = view::take_views_alone(session, &views).await?;
    let gone_views: Vec<FullName> = views.iter().map(|view| view::name_of(view)).collect();
    let gone = tables.iter().map(|table| &table.definition);
    session.db.save_dropped(gone, &gone_views, schema).await?;
    let gone: Vec<FullName> = tables.iter().map(|table| name_of(&table.definition)).collect();
    session.db.dictionary().replace_tables(&gone, Vec::new());
    if let Some(locks) = &mut session.table_locks {
        locks.forget(&tables);
    }
    if let Some(schema) = schema {
        session.db.dictionary().remove_schema(schema);
    }
    drop((holds, view_holds));
    session.table_locks.take_if(|locks| locks.is_empty());
    let trees: Vec<_> = tables.iter().flat_map(|table| table.trees()).collect();
    for together in trees.chunks(DROPPED_TOGETHER) {
        slice.breathe().await;
        drop_trees(session, together.iter().copied())?;
    }
    Ok(tables.len() as u64)
}

/// DROP TABLE: of tables that a temporary one hides, this one goes.
pub(super) async fn drop_tables(session: &mut Session, drop: &ast::DropTable) -> SqlResult<()> {
    let (mut missing, mut going, mut own) = (Vec::new(), Vec::new(), Vec::new());
    each_once(session, &drop.names)?;
    for name in &drop.names {
        let full = (schema_of(session, name)?, name.table.clone());
        if session.temporary.has(&full.0, &full.1) {
            own.push(full);
        } else if session.db.dictionary().find(&full.0, &full.1).is_some() {
            going.push(full);
        } else {
            missing.push(format!("{}.{}", full.0, full.1));
        }
    }
    if !missing.is_empty() && !drop.if_exists {
        return Err(SqlError::bad_table(missing.join(",")));
    }
    for name in missing {
        session.state.warnings.push(WarningLevel::Note, SqlError::bad_table(name));
    }
    if !going.is_empty() {
        drop_together(session, &going, None).await?;
    }
    temporary::forget(session, &own)
}

/// TRUNCATE: new, empty trees in place of the old ones.
pub(super) async fn truncate(session: &mut Session, name: &TableName) -> SqlResult<()> {
    let schema = schema_of(session, name)?;
    if begin_counting_anew(session, &schema, &name.table) {
        return Ok(());
    }
    let (table, hold) = take_alone(session, &schema, &name.table).await?;
    foreign_key::check_may_truncate(session, &schema, &name.table)?;
    let mut definition = Definition { auto_increment: 0, ..table.definition.clone() };
    make_trees(session, &mut definition, false)?;
    let made_by = session.db.save_tables(&[&definition]).await?;
    let counters = table.counters.of_new_trees();
    counters.rows.store(0, Ordering::Relaxed);
    let empty = Table::new(definition, table.mdl.clone(), counters).made_by(made_by);
    session.db.dictionary().put_table(Arc::new(empty));
    drop(hold);
    drop_trees(session, table.trees())
}

/// TRUNCATE of a table of performance_schema that counts: its numbers begin anew. False for any other table.
fn begin_counting_anew(session: &Session, schema: &str, name: &str) -> bool {
    let registry = session.db.registry();
    match VirtualTable::find(schema, name) {
        Ok(Some(VirtualTable::DigestSummary)) => registry.truncate_digests(),
        Ok(Some(VirtualTable::DigestHistogram)) => registry.folded_digests().truncate_histograms(),
        Ok(Some(VirtualTable::StatementHistogram)) => registry.folded_digests().truncate_all(),
        _ => return false,
    }
    true
}
