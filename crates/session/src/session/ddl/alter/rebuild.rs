//! An altered definition is put into effect: kept in the dictionary alone, with new indexes filled, or with
//! all rows copied.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use turnstile_engine::ids::{IndexId, TxnId};
use turnstile_engine::{Error as EngineError, Read};

use super::super::super::Session;
use super::super::alteration::{Alteration, NO_TREE};
use super::super::copy::Origin;
use super::super::rename::Way;
use super::check_new_foreign_keys;
use crate::definition;
use crate::dictionary::table::Definition;
use crate::dictionary::{Column, Key, Table};
use crate::error::{SqlError, SqlResult};
use crate::exec::change::apply::duplicate_entry;
use crate::row_codec::RowView;
use crate::session::ddl;
use crate::session::ddl::{auto_increment, copy, rename};

/// Makes the new definitions durable, under the new name: the table's, and those of children that change
/// with it. Histograms of columns that become others go.
async fn save_altered(session: &mut Session, table: &Table, work: &mut Alteration) -> SqlResult<TxnId> {
    if table.temporary {
        rename_temporary(session, work)?;
        return Ok(table.made_by);
    }
    if !work.moves.is_empty() {
        let (moved, children) =
            rename::renamed(session, &work.moves, Some((&work.definition, &work.others)))?;
        work.others.retain(|one| !children.iter().any(|child| child.id == one.id));
        work.others.extend(children);
        for (_, new) in moved {
            work.definition = new;
        }
    }
    let all: Vec<_> = std::iter::once(&work.definition).chain(&work.others).collect();
    let known = table.counters.histograms.remove(&work.forgotten);
    let gone = Some((table.definition.id, work.forgotten.as_slice()));
    let made_by = match session.db.save_altered(&all, gone).await {
        Ok(made_by) => made_by,
        Err(error) => {
            known.into_iter().for_each(|one| table.counters.histograms.put(one));
            return Err(error);
        }
    };
    for one in &work.moves {
        session.db.dictionary().remove_table(&one.was.0, &one.was.1);
    }
    if let Some(locks) = &mut session.table_locks {
        let way = Way::of(&work.moves);
        locks.rename(|schema, name| way.follow(schema, name));
    }
    Ok(made_by)
}

/// A temporary table's definition, under its new name if it gets one.
fn rename_temporary(session: &mut Session, work: &mut Alteration) -> SqlResult<()> {
    for one in &work.moves {
        (work.definition.schema, work.definition.name) = one.now.clone();
        definition::check::rename(&mut work.definition, &one.was.1, false, &|_| false)?;
        session.temporary.remove(&one.was.0, &one.was.1);
    }
    Ok(())
}

/// Drops trees of a table, old or new.
fn drop_all(session: &Session, table: &Table, trees: Vec<IndexId>) -> SqlResult<()> {
    match table.temporary {
        true => ddl::temporary::drop_trees(session, trees),
        false => ddl::drop_trees(session, trees),
    }
}

/// Shows new definitions of children to everybody.
pub fn put_others(session: &Session, others: &[Definition]) {
    session.db.dictionary().replace_tables(&[], changed_tables(session, others));
}

/// Tables that stay what they are, with other definitions.
pub fn changed_tables(session: &Session, definitions: &[Definition]) -> Vec<Arc<Table>> {
    let changed = |definition: &Definition| {
        let old = session.db.dictionary().find(&definition.schema, &definition.name)?;
        let new = Table::new(definition.clone(), old.mdl.clone(), old.counters.clone());
        Some(Arc::new(new.made_by(old.made_by)))
    };
    definitions.iter().filter_map(changed).collect()
}

/// Changes the dictionary, of which a temporary table is no part; the rows stay where they are. New indexes
/// are filled from them first. Returns how many rows were looked at.
pub(super) async fn redefine(session: &mut Session, table: &Table, work: &mut Alteration) -> SqlResult<u64> {
    let built = build_indexes(session, table, work).await?;
    let looked = match check_new_foreign_keys(session, work).await {
        Ok(looked) => looked,
        Err(error) => {
            let new = |key: &&Key| !table.keys().iter().any(|old| old.index == key.index);
            ddl::drop_trees(session, work.definition.keys.iter().filter(new).map(|key| key.index))?;
            return Err(error);
        }
    };
    let made_by = save_altered(session, table, work).await?;
    auto_increment::set_counter(session, table, work).await?;
    let counters = table.counters.clone();
    let changed = Table::new(work.definition.clone(), table.mdl.clone(), counters);
    let changed = changed.made_by(if built { made_by } else { table.made_by });
    session.db.dictionary().put_table(Arc::new(changed));
    put_others(session, &work.others);
    let kept = |key: &&Key| !work.definition.keys.iter().any(|new| new.index == key.index);
    ddl::drop_trees(
        session,
        table.keys().iter().filter(|key| !key.primary).filter(kept).map(|key| key.index),
    )?;
    Ok(looked)
}

/// Makes and fills the trees of keys that are new. Whether there were any.
async fn build_indexes(session: &mut Session, table: &Table, work: &mut Alteration) -> SqlResult<bool> {
    let mut made = Vec::new();
    for key in work.definition.keys.iter_mut().filter(|key| key.index == NO_TREE) {
        key.index = session.db.engine().create_index()?;
        made.push(key.index);
    }
    let new = Table::new(work.definition.clone(), table.mdl.clone(), table.counters.clone());
    for &tree in &made {
        let Some(nth) = new.engine.secondaries.iter().position(|one| one.id == tree) else { continue };
        if let Err(error) = session.db.engine().clone().build_secondary(&new.engine, nth).await {
            let error = explain_build(session, &new, error).await;
            ddl::drop_trees(session, made)?;
            return Err(error);
        }
    }
    Ok(!made.is_empty())
}

/// A duplicate in the words of error 1062, which shows the key's values: those of the row that has them.
async fn explain_build(session: &Session, new: &Table, error: EngineError) -> SqlError {
    let EngineError::DuplicateKey { pk, .. } = &error else { return error.into() };
    let mut txn = copy::copy_txn(session);
    let row = txn.get(&new.engine, pk, Read::Consistent).await;
    let Ok(Some(row)) = row else { return SqlError::duplicate_key_write(new.name()) };
    let Ok(view) = RowView::new(&new.layout, &row) else { return SqlError::crashed_table(new.name()) };
    let values: Vec<_> = (0..new.columns().len()).map(|at| view.get(at)).collect();
    duplicate_entry(new, &error, &values)
}

/// Copies the rows into new trees.
pub(super) async fn rebuild(session: &mut Session, table: &Table, work: &mut Alteration) -> SqlResult<u64> {
    let charge = if table.temporary { Some(session.charge_own(&work.definition)?) } else { None };
    ddl::make_trees(session, &mut work.definition, table.temporary)?;
    let counters = table.counters.of_new_trees();
    if work.definition.keys.first().is_none_or(|key| !key.primary) && table.primary().is_some() {
        counters.row_id.store(1, Ordering::Relaxed);
    }
    let new = Table::new(work.definition.clone(), table.mdl.clone(), counters.clone());
    let origin = |(column, old): (&Column, &Option<usize>)| match old {
        Some(at)
            if table.columns()[*at].kind == column.kind
                && (column.nullable || !table.columns()[*at].nullable) =>
        {
            Origin::Same(*at)
        }
        Some(at) => Origin::Converted(*at),
        None => Origin::Default,
    };
    let origins: Vec<Origin> = work.definition.columns.iter().zip(&work.origins).map(origin).collect();
    let copied = match copy::copy_rows(session, table, &new, &origins).await {
        Ok(copied) => check_new_foreign_keys(session, work).await.map(|_| copied),
        failed => failed,
    };
    let copied = match copied {
        Ok(copied) => copied,
        Err(error) => {
            drop_all(session, table, new.trees())?;
            return Err(error);
        }
    };
    auto_increment::move_counter(session, table, &new, work).await?;
    let made_by = save_altered(session, table, work).await?;
    // Under its new name, if it gets one.
    let new = Table::new(work.definition.clone(), table.mdl.clone(), counters.clone()).made_by(made_by);
    counters.rows.store(copied, Ordering::Relaxed);
    match charge {
        Some(charge) => session.temporary.put(Arc::new(new.temporary()), charge),
        None => session.db.dictionary().put_table(Arc::new(new)),
    }
    put_others(session, &work.others);
    drop_all(session, table, table.trees())?;
    Ok(copied)
}
