//! Foreign keys in statements that define: which tables are held besides, what keeps a definition from
//! changing, what follows a change, and the look at rows that are there already.
//!
//! | statement | held alone besides its table | because |
//! |---|---|---|
//! | CREATE TABLE, ALTER ... ADD, with a foreign key | its parents | plans that change these do not know the
//! child |
//! | CREATE TABLE, RENAME to a name that is a parent already | its children | they have to fit it |
//! | RENAME TABLE, new names of columns | its children | their definitions name it |
//!
//! Metadata locks are taken in the order of the tables' names. All definitions that a statement changes
//! become durable in one transaction.

use std::collections::HashSet;
use std::ops::Bound;
use std::sync::Arc;

use turnstile_engine::session_status::WaitingFor;
use turnstile_engine::{ScanIndex, ScanSpec, Txn, Visit};

use super::super::Session;
use crate::ast::{KeyDef, KeyKind};
use crate::definition::foreign_key::{Rules, broken, check_fit, wrong_definition};
use crate::definition::generated;
use crate::dictionary::foreign_key::positions;
use crate::dictionary::table::Definition;
use crate::dictionary::{Dictionary, ForeignKey, Table, TableName};
use crate::error::{SqlError, SqlResult};
use crate::key_codec::after_prefix;
use crate::mdl::{Hold, Mode};
use crate::row_codec::RowView;
use crate::session::ddl::copy;
use crate::session::transaction;
use crate::value::Value;
use turnstile_engine::yield_now::Slice;

/// The parents that keys name.
pub(in crate::session) fn parents_named<'k>(
    keys: impl Iterator<Item = &'k KeyDef>,
    schema: &str,
) -> Vec<TableName> {
    let parent = |key: &KeyDef| match &key.kind {
        KeyKind::Foreign(references) => {
            let schema = references.table.schema.as_deref().unwrap_or(schema);
            Some((schema.into(), references.table.table.clone()))
        }
        _ => None,
    };
    keys.filter_map(parent).collect()
}

/// The names of a table's children.
pub(super) fn children_of(dictionary: &Dictionary, schema: &str, name: &str) -> Vec<TableName> {
    dictionary.children(schema, name).iter().map(|child| name_of(&child.definition)).collect()
}

pub(super) fn name_of(definition: &Definition) -> TableName {
    (definition.schema.clone(), definition.name.clone())
}

pub(super) fn foreign_rules(session: &Session) -> Rules {
    Rules { checks: session.settings.foreign_key_checks, standard: session.settings.standard_foreign_keys }
}

/// Takes those of the named tables that exist alone. What is found then is what stays until the holds
/// end. No holds if LOCK TABLES has them.
pub(super) async fn take_all_alone(
    session: &mut Session,
    wanted: &(dyn Fn(&Dictionary) -> Vec<TableName> + Send + Sync),
) -> SqlResult<Vec<Hold>> {
    let db = session.db.clone();
    let tables = || {
        let mut names = wanted(db.dictionary());
        names.sort();
        names.dedup();
        let find = |(schema, name): &TableName| db.dictionary().find(schema, name);
        names.iter().filter_map(find).collect::<Vec<Arc<Table>>>()
    };
    if let Some(locks) = &session.table_locks {
        locks.check_all_alone(&tables())?;
        return Ok(Vec::new());
    }
    loop {
        let mut holds: Vec<Hold> = Vec::new();
        let status = session.entry.status.clone();
        let _note = status.waits(WaitingFor::Definition);
        let mut patience = transaction::metadata_patience(session);
        let mut slice = Slice::default();
        for table in tables() {
            slice.breathe().await;
            holds.push(table.mdl.lock(Mode::Exclusive, &mut patience).await?);
        }
        drop(patience);
        let now = tables();
        let same = |(hold, table): (&Hold, &Arc<Table>)| Arc::ptr_eq(hold.mdl(), &table.mdl);
        if now.len() == holds.len() && holds.iter().zip(&now).all(same) {
            return Ok(holds);
        }
    }
}

/// Whether foreign keys of a definition, those behind the first `known`, have parents that fit, and names
/// that the table's foreign keys before the statement, `old`, have not. The parents are held.
pub(super) fn fit_parents(
    session: &Session,
    definition: &mut Definition,
    known: usize,
    old: &[ForeignKey],
) -> SqlResult<()> {
    let rules = foreign_rules(session);
    let mut keys = std::mem::take(&mut definition.foreign_keys);
    for key in keys.iter_mut().skip(known) {
        let same = |other: &ForeignKey| other.name.eq_ignore_ascii_case(&key.name);
        let again = old.iter().any(same).then(|| SqlError::duplicate_foreign_key_name(&key.name));
        generated::check_stored(definition, key)?;
        if key.refers_to(&definition.schema, &definition.name) {
            check_fit(key, definition, definition, rules)?;
            again.map_or(Ok(()), Err)?;
            continue;
        }
        match session.db.dictionary().find(&key.parent_schema, &key.parent) {
            Some(parent) => check_fit(key, definition, &parent.definition, rules)?,
            None if rules.checks => return Err(SqlError::cannot_open_parent(&key.parent)),
            None if key.parent_columns.is_empty() => return Err(wrong_definition(key, definition)),
            None => {}
        }
        again.map_or(Ok(()), Err)?;
    }
    definition.foreign_keys = keys;
    Ok(())
}

/// Whether a table fits the foreign keys that name it already. The children are held.
pub(super) fn fit_children(session: &Session, definition: &Definition) -> SqlResult<()> {
    for child in session.db.dictionary().children(&definition.schema, &definition.name) {
        for key in &child.definition.foreign_keys {
            if key.refers_to(&definition.schema, &definition.name) {
                check_fit(&mut key.clone(), &child.definition, definition, foreign_rules(session))?;
            }
        }
    }
    Ok(())
}

/// A foreign key's name is one of its kind in its database.
pub(super) fn check_name_is_free(session: &Session, schema: &str, table: &str, name: &str) -> SqlResult<()> {
    let tables = session.db.dictionary().tables(schema);
    let others = tables.iter().filter(|other| other.name() != table);
    let mut keys = others.flat_map(|other| &other.definition.foreign_keys);
    if keys.any(|key| key.name.eq_ignore_ascii_case(name)) {
        return Err(SqlError::duplicate_foreign_key_name(name));
    }
    Ok(())
}

/// Whether a table may go, as `going` do with it: no other table refers to it.
pub(super) fn check_no_children(
    session: &Session,
    schema: &str,
    name: &str,
    going: &HashSet<&TableName>,
) -> SqlResult<()> {
    match other_child(session, schema, name, going) {
        Some((child, key)) => Err(SqlError::cannot_drop_parent(name, &key.name, child.name())),
        None => Ok(()),
    }
}

/// Whether a table may be emptied without a look at its rows.
pub(super) fn check_may_truncate(session: &Session, schema: &str, name: &str) -> SqlResult<()> {
    let Some((child, key)) = other_child(session, schema, name, &HashSet::new()) else { return Ok(()) };
    let quote = crate::ast::quote_name;
    let (child_schema, child) = (quote(&child.definition.schema), quote(child.name()));
    Err(SqlError::truncate_referenced(format!("{child_schema}.{child}, CONSTRAINT {}", quote(&key.name))))
}

fn other_child(
    session: &Session,
    schema: &str,
    name: &str,
    going: &HashSet<&TableName>,
) -> Option<(Arc<Table>, ForeignKey)> {
    if !session.settings.foreign_key_checks {
        return None;
    }
    let stays = |child: &Arc<Table>| {
        let child = name_of(&child.definition);
        (&*child.0, &*child.1) != (schema, name) && !going.contains(&child)
    };
    let child = session.db.dictionary().children(schema, name).into_iter().find(stays)?;
    let key = child.definition.foreign_keys.iter().find(|key| key.refers_to(schema, name))?.clone();
    Some((child, key))
}

/// Error 1452 if a row of a table that is being made has no parent by one of these keys; how many rows
/// there are.
pub(super) async fn check_rows_have_parents(
    session: &mut Session,
    table: &Table,
    keys: &[ForeignKey],
) -> SqlResult<u64> {
    let mut links = Vec::with_capacity(keys.len());
    for key in keys {
        let itself = key.refers_to(&table.definition.schema, table.name());
        let parent = session.db.dictionary().find(&key.parent_schema, &key.parent).filter(|_| !itself);
        let missing = || SqlError::no_referenced_row_for(broken(key, &table.definition));
        let columns = positions(&table.definition, &key.columns).ok_or_else(missing)?;
        let index = key.parent_key(parent.as_ref().map_or(&table.definition, |parent| &parent.definition));
        links.push((key, columns, index.ok_or_else(missing)?, parent));
    }
    let mut reader = copy::copy_txn(session);
    let spec = scan_of(ScanIndex::Clustered, None);
    let mut scan = reader.scan(&table.engine, spec);
    let (mut slice, mut count) = (Slice::default(), 0u64);
    let mut rows: Vec<Vec<u8>> = Vec::new();
    let mut more = true;
    while more {
        let mut visit = |_: &[u8], _: &[u8], row: &[u8]| {
            rows.push(row.to_vec());
            Visit::Continue
        };
        more = reader.scan_batch(&mut scan, &mut visit).await?;
        for row in rows.drain(..) {
            slice.breathe().await;
            session.interrupt.check()?;
            count += 1;
            let damaged = |_| SqlError::crashed_table(table.name());
            let values = RowView::new(&table.layout, &row).map_err(damaged)?.values();
            for (key, columns, index, parent) in &links {
                let parent = parent.as_deref().unwrap_or(table);
                if !has_parent(&mut reader, parent, *index, columns, &values).await? {
                    return Err(SqlError::no_referenced_row_for(broken(key, &table.definition)));
                }
            }
        }
    }
    reader.rollback().await?;
    Ok(count)
}

fn scan_of(index: ScanIndex, prefix: Option<Vec<u8>>) -> ScanSpec {
    let upper = prefix.as_deref().and_then(after_prefix).map_or(Bound::Unbounded, Bound::Excluded);
    let lower = prefix.map_or(Bound::Unbounded, Bound::Included);
    ScanSpec { lower, upper, ..ScanSpec::all(index) }
}

async fn has_parent(
    reader: &mut Txn,
    parent: &Table,
    index: usize,
    columns: &[usize],
    row: &[Value],
) -> SqlResult<bool> {
    let mut key = Vec::new();
    let parts = parent.key_parts[index].iter().zip(columns);
    if !parts.fold(true, |full, (part, column)| part.append(&row[*column], &mut key) & full) {
        return Ok(true);
    }
    let mut found = false;
    let mut visit = |_: &[u8], _: &[u8], _: &[u8]| {
        found = true;
        Visit::Stop
    };
    let mut scan = reader.scan(&parent.engine, scan_of(parent.scan_index(index), Some(key)));
    while reader.scan_batch(&mut scan, &mut visit).await? {}
    Ok(found)
}
