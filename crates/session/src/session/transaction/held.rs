//! The metadata locks of a transaction: taken before a statement looks at a table, kept until the
//! transaction ends.

use std::sync::Arc;
use std::time::Duration;

use turnstile_engine::session_status::WaitingFor;

use super::super::Session;
use super::enter_quietly;
use crate::dictionary::Table;
use crate::error::{SqlError, SqlResult};
use crate::mdl::{Hold, Mode, Patience};
use crate::timeout::Deadline;
use crate::used_tables::Used;

/// A metadata lock at which a statement must wait.
pub struct BlockedMetadataLock {
    table: Arc<Table>,
    mode: Mode,
    /// The transaction holds it to read.
    reads: bool,
    /// The table will be read through the transaction's view.
    views: bool,
}

/// Takes the metadata locks of tables, to be held until the transaction ends, as far as that needs no wait:
/// the first that does.
pub fn try_metadata_locks(session: &mut Session, tables: &[Used]) -> SqlResult<Option<BlockedMetadataLock>> {
    if session.table_locks.is_some() {
        // LOCK TABLES holds them.
        return Ok(None);
    }
    for used in tables {
        let current = if used.schema.is_none() { session.state.schema() } else { None };
        let schema = used.schema_in(current.as_deref()).ok_or_else(SqlError::no_database_selected)?;
        if !crate::virtual_table::VirtualTable::is_computed(schema, &used.name)
            && let Some(closed) = try_hold(session, schema, used)?
        {
            return Ok(Some(closed));
        }
    }
    Ok(None)
}

fn try_hold(session: &mut Session, schema: &str, used: &Used) -> SqlResult<Option<BlockedMetadataLock>> {
    let mode = used.mode();
    loop {
        let version = session.db.dictionary().version();
        let table = session.db.dictionary().table(schema, &used.name)?;
        let held = session.open.as_ref().and_then(|open| open.held(&table.mdl));
        if held.is_some_and(|held| held == Mode::Write || mode == Mode::Read) {
            return Ok(None);
        }
        let (reads, views) = (held.is_some(), !used.written);
        let Some(hold) = table.mdl.try_enter(mode, reads) else {
            return Ok(Some(BlockedMetadataLock { table, mode, reads, views }));
        };
        // Who replaced the table noted that before it released the metadata lock.
        let known = session.db.dictionary().version() == version;
        if keep_hold(session, &table, hold, views, known)? {
            return Ok(None);
        }
    }
}

/// Waits at a metadata lock and takes it.
pub async fn wait_at(session: &mut Session, closed: &BlockedMetadataLock) -> SqlResult<()> {
    if closed.mode == Mode::Write && session.global_read_lock.is_some() {
        return Err(SqlError::conflicting_read_lock());
    }
    session.db.status().metadata_wait();
    let note = session.entry.status.waits(WaitingFor::Definition);
    let mdl = &closed.table.mdl;
    let hold = mdl.enter(closed.mode, closed.reads, &mut metadata_patience(session)).await?;
    drop(note);
    keep_hold(session, &closed.table, hold, closed.views, false).map(|_| ())
}

/// Keeps a hold, if what was found by the table's name is still what its metadata lock protects; else it has
/// to be looked up again. Who reads it through a view older than its trees gets error 1412, as in MySQL:
/// those trees hold nothing for that view. `known`: no definition has changed since it was found.
fn keep_hold(session: &mut Session, table: &Table, hold: Hold, views: bool, known: bool) -> SqlResult<bool> {
    let found;
    let now = if known {
        table
    } else {
        found = session.db.dictionary().table(&table.definition.schema, table.name())?;
        &found
    };
    if !Arc::ptr_eq(&now.mdl, hold.mdl()) {
        return Ok(false);
    }
    let open = enter_quietly(session);
    if views && !open.txn.sees_changes_of(now.made_by) {
        return Err(SqlError::table_definition_changed());
    }
    open.holds.push(hold);
    Ok(true)
}

/// How many metadata locks the open transaction holds.
pub fn metadata_locks_held(session: &Session) -> usize {
    session.open.as_ref().map_or(0, |open| open.holds.len())
}

/// Gives the metadata locks back that the open transaction holds. Only if it has done nothing behind them.
pub fn release_metadata_locks(session: &mut Session) {
    if let Some(open) = &mut session.open {
        open.holds.clear();
    }
}

/// How long to wait for a metadata lock, and what the session holds meanwhile.
pub(crate) fn metadata_patience(session: &Session) -> Patience<'_> {
    let of_txn = session.open.iter().flat_map(|open| &open.holds);
    let locked = session.table_locks.iter().flat_map(|locks| locks.holds());
    let global = session.global_read_lock.iter().flatten().chain(&session.defining);
    let user_locks = session.state.user_locks().lock();
    let after = Duration::from_secs(session.settings.metadata_wait_s);
    let deadline = Deadline::after(after, session.interrupt.clone());
    let holds = of_txn.chain(locked).chain(global).chain(user_locks.holds());
    Patience::new(session.db.metadata_waits(), holds, deadline)
}
