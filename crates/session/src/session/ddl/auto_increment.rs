//! Where a table's AUTO_INCREMENT counter goes on after ALTER TABLE, and making that durable.
//!
//! `AUTO_INCREMENT = n` sets the counter, to a smaller number too, but never to one that a row has or that is
//! below one. Without it the counter stays what it was, also when the rows are copied into new trees, whose
//! counter is another one.

use std::sync::atomic::Ordering;

use super::super::Session;
use super::alteration::Alteration;
use crate::dictionary::Table;
use crate::error::SqlResult;
use crate::exec::change::counters::largest_there;
use crate::session::ddl::copy;

/// The rows were copied from `old` into the trees of `new`: the counter of these, durable before anybody
/// can see them.
pub(super) async fn move_counter(
    session: &Session,
    old: &Table,
    new: &Table,
    work: &Alteration,
) -> SqlResult<()> {
    let Some(column) = new.auto_column else { return Ok(()) };
    let there = above_all(session, new, column).await?;
    let before = match (old.auto_column, old.counters.auto_increment.load(Ordering::Acquire)) {
        _ if work.sets_counter => 0,
        (Some(_), before) => before,
        (None, _) => 0,
    };
    let next = there.max(before).max(work.definition.auto_increment);
    let slot = session.db.engine().make_counter(new.definition.clustered, next)?;
    new.counters.found_at(slot, next);
    Ok(())
}

/// The rows stay where they are and the statement sets the counter. Durable when this returns.
pub(super) async fn set_counter(session: &Session, table: &Table, work: &Alteration) -> SqlResult<()> {
    let (true, Some(column)) = (work.sets_counter, table.auto_column) else { return Ok(()) };
    let next = above_all(session, table, column).await?.max(work.definition.auto_increment);
    let slot = session.db.engine().set_counter(table.definition.clustered, next)?;
    table.counters.found_at(slot, next);
    Ok(())
}

async fn above_all(session: &Session, table: &Table, column: usize) -> SqlResult<u64> {
    let options = copy::copy_txn(session).options().clone();
    let largest = largest_there(session.db.engine(), table, column, options).await?;
    Ok(largest.saturating_add(1).min(table.columns()[column].kind.largest_counted()))
}
