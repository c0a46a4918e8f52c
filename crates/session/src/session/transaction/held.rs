//! The metadata locks of a transaction: taken before a statement looks at a table, kept until the
//! transaction ends.

use std::sync::Arc;
use std::time::Duration;

use turnstile_engine::session_status::WaitingFor;

use super::super::Session;
use super::enter_quietly;
use crate::dictionary::{Named, TableName as FullName, View};
use crate::error::{SqlError, SqlResult};
use crate::mdl::{Hold, MetadataLock, Mode, Patience};
use crate::timeout::Deadline;
use crate::used_tables::Used;
use crate::virtual_table::VirtualTable;

/// A metadata lock at which a statement must wait.
pub struct BlockedMetadataLock {
    named: Named,
    mode: Mode,
    /// The transaction holds it to read.
    reads: bool,
    /// The table will be read through the transaction's view.
    views: bool,
}

/// What came of looking at a metadata lock.
enum Look {
    /// It is held. Of a view: those of what its query reads are to be held too.
    Held(Option<Arc<View>>),
    /// It is closed.
    Blocked(Box<BlockedMetadataLock>),
}

/// How a statement uses a table.
#[derive(Clone, Copy)]
struct Use {
    mode: Mode,
    /// It is read through the transaction's view.
    views: bool,
}

/// Takes the metadata locks of tables, to be held until the transaction ends, as far as that needs no wait:
/// the first that does. The definition of a view stays as it is while its metadata lock is held, and with it
/// the list of tables that the query reads.
pub fn try_metadata_locks(
    session: &mut Session,
    tables: &[Used],
) -> SqlResult<Option<Box<BlockedMetadataLock>>> {
    if session.table_locks.is_some() {
        // LOCK TABLES holds them.
        return Ok(None);
    }
    for used in tables {
        let current = if used.schema.is_none() { session.state.schema() } else { None };
        let schema = used.schema_in(current.as_deref()).ok_or_else(SqlError::no_database_selected)?;
        if VirtualTable::is_computed(schema, &used.name) {
            continue;
        }
        let how = Use { mode: used.mode(), views: !used.written };
        match try_hold(session, (schema, &used.name), how)? {
            Look::Held(None) => {}
            Look::Held(Some(view)) => {
                if let Some(closed) = try_view(session, &view, how, &mut Vec::new())? {
                    return Ok(Some(closed));
                }
            }
            Look::Blocked(closed) => return Ok(Some(closed)),
        }
    }
    Ok(None)
}

/// The same for what a view's query reads. What is not there any more is left out: planning tells of it.
#[cold]
fn try_view(
    session: &mut Session,
    view: &View,
    how: Use,
    seen: &mut Vec<FullName>,
) -> SqlResult<Option<Box<BlockedMetadataLock>>> {
    for name in &view.definition.reads {
        let (schema, table) = (&*name.0, &*name.1);
        let known = session.db.dictionary().has(schema, table);
        if !known || VirtualTable::is_computed(schema, table) || seen.contains(name) {
            continue;
        }
        seen.push(name.clone());
        match try_hold(session, (schema, table), how)? {
            Look::Held(None) => {}
            Look::Held(Some(inner)) => {
                if let Some(closed) = try_view(session, &inner, how, seen)? {
                    return Ok(Some(closed));
                }
            }
            Look::Blocked(closed) => return Ok(Some(closed)),
        }
    }
    Ok(None)
}

/// Takes the metadata lock of a table that the session knows, if that needs no wait and the table is still
/// what it was. None: [`try_hold`] looks for it, and says what is wrong.
#[inline]
fn try_known(session: &mut Session, (schema, name): (&str, &str), how: Use) -> Option<()> {
    let Session { known, open: Some(open), db, .. } = session else { return None };
    let version = db.dictionary().version();
    let (table, mdl) = known.table(schema, name, version)?;
    let held = open.held(mdl);
    if held.is_some_and(|held| held == Mode::Write || how.mode == Mode::Read) {
        return Some(());
    }
    let hold = MetadataLock::try_enter_known(mdl, how.mode, held.is_some())?;
    // Who replaced the table noted that before it released the metadata lock.
    let same = db.dictionary().version() == version;
    let hidden = how.views && !open.txn.sees_changes_of(table.made_by);
    (same && !hidden).then(|| open.holds.push(hold))
}

#[inline]
fn try_hold(session: &mut Session, (schema, name): (&str, &str), how: Use) -> SqlResult<Look> {
    if try_known(session, (schema, name), how).is_some() {
        return Ok(Look::Held(None));
    }
    let Use { mode, views } = how;
    loop {
        let version = session.db.dictionary().version();
        let named = session.db.dictionary().named(schema, name)?;
        let view = match &named {
            Named::Table(_) => None,
            Named::View(view) => Some(view.clone()),
        };
        let held = session.open.as_ref().and_then(|open| open.held(named.mdl()));
        if held.is_some_and(|held| held == Mode::Write || mode == Mode::Read) {
            return Ok(Look::Held(view));
        }
        let reads = held.is_some();
        let Some(hold) = named.mdl().try_enter(mode, reads) else {
            return Ok(Look::Blocked(Box::new(BlockedMetadataLock { named, mode, reads, views })));
        };
        // Who replaced the table noted that before it released the metadata lock.
        let known = session.db.dictionary().version() == version;
        if keep_hold(session, &named, hold, views, known)? {
            if let Named::Table(table) = &named
                && known
            {
                session.known.keep_table((schema, name), version, table);
            }
            return Ok(Look::Held(view));
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
    let mdl = closed.named.mdl();
    let hold = mdl.enter(closed.mode, closed.reads, &mut metadata_patience(session)).await?;
    drop(note);
    keep_hold(session, &closed.named, hold, closed.views, false).map(|_| ())
}

/// Keeps a hold, if what was found by the table's name is still what its metadata lock protects; else it has
/// to be looked up again. Who reads it through a view older than its trees gets error 1412, as in MySQL:
/// those trees hold nothing for that view. `known`: no definition has changed since it was found.
fn keep_hold(session: &mut Session, named: &Named, hold: Hold, views: bool, known: bool) -> SqlResult<bool> {
    let found;
    let now = if known {
        named
    } else {
        let (schema, name) = named.name();
        found = session.db.dictionary().named(schema, name)?;
        &found
    };
    if !Arc::ptr_eq(now.mdl(), hold.mdl()) {
        return Ok(false);
    }
    let open = enter_quietly(session);
    if let Named::Table(table) = now
        && views
        && !open.txn.sees_changes_of(table.made_by)
    {
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
