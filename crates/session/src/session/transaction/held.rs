//! The metadata locks of a transaction: taken before a statement looks at a table, kept until the
//! transaction ends.

use std::sync::Arc;
use std::time::Duration;

use turnstile_engine::session_card::WaitingFor;

use super::super::Session;
use super::enter_quietly;
use crate::dictionary::Table;
use crate::error::{SqlError, SqlResult};
use crate::mdl::{Hold, Mode, Patience};
use crate::timeout::Deadline;
use crate::used_tables::Used;

/// A gate at which a statement must wait.
pub struct ClosedGate {
    table: Arc<Table>,
    mode: Mode,
    /// The transaction holds it to read.
    reads: bool,
    /// The table will be read through the transaction's view.
    views: bool,
}

/// Takes the gates of tables, to be held until the transaction ends, as far as that needs no wait: the
/// first that does.
pub fn try_gates(session: &mut Session, tables: &[Used]) -> SqlResult<Option<ClosedGate>> {
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

fn try_hold(session: &mut Session, schema: &str, used: &Used) -> SqlResult<Option<ClosedGate>> {
    let mode = used.mode();
    loop {
        let version = session.db.dictionary().version();
        let table = session.db.dictionary().table(schema, &used.name)?;
        let held = session.open.as_ref().and_then(|open| open.held(&table.gate));
        if held.is_some_and(|held| held == Mode::Write || mode == Mode::Read) {
            return Ok(None);
        }
        let (reads, views) = (held.is_some(), !used.written);
        let Some(hold) = table.gate.try_enter(mode, reads) else {
            return Ok(Some(ClosedGate { table, mode, reads, views }));
        };
        // Who replaced the table noted that before it opened the gate.
        let known = session.db.dictionary().version() == version;
        if keep_hold(session, &table, hold, views, known)? {
            return Ok(None);
        }
    }
}

/// Waits at a gate and takes it.
pub async fn wait_at(session: &mut Session, closed: &ClosedGate) -> SqlResult<()> {
    if closed.mode == Mode::Write && session.global_read_lock.is_some() {
        return Err(SqlError::conflicting_read_lock());
    }
    session.db.status().gate_wait();
    let note = session.entry.card.waits(WaitingFor::Definition);
    let gate = &closed.table.gate;
    let hold = gate.enter(closed.mode, closed.reads, &mut gate_patience(session)).await?;
    drop(note);
    keep_hold(session, &closed.table, hold, closed.views, false).map(|_| ())
}

/// Keeps a hold, if what was found by the table's name is still what is behind its gate; else it has to
/// be looked up again. Who reads it through a view older than its trees gets error 1412, as in MySQL:
/// those trees hold nothing for that view. `known`: no definition has changed since it was found.
fn keep_hold(session: &mut Session, table: &Table, hold: Hold, views: bool, known: bool) -> SqlResult<bool> {
    let found;
    let now = if known {
        table
    } else {
        found = session.db.dictionary().table(&table.definition.schema, table.name())?;
        &found
    };
    if !Arc::ptr_eq(&now.gate, hold.gate()) {
        return Ok(false);
    }
    let open = enter_quietly(session);
    if views && !open.txn.sees_changes_of(now.made_by) {
        return Err(SqlError::table_definition_changed());
    }
    open.holds.push(hold);
    Ok(true)
}

/// How many gates the open transaction holds.
pub fn gates_held(session: &Session) -> usize {
    session.open.as_ref().map_or(0, |open| open.holds.len())
}

/// Gives the gates back that the open transaction holds. Only if it has done nothing behind them.
pub fn give_gates_back(session: &mut Session) {
    if let Some(open) = &mut session.open {
        open.holds.clear();
    }
}

/// How long to wait for a gate, and what the session holds meanwhile.
pub(crate) fn gate_patience(session: &Session) -> Patience<'_> {
    let of_txn = session.open.iter().flat_map(|open| &open.holds);
    let locked = session.table_locks.iter().flat_map(|locks| locks.holds());
    let global = session.global_read_lock.iter().flatten().chain(&session.defining);
    let user_locks = session.state.user_locks().lock();
    let after = Duration::from_secs(session.settings.gate_wait_s);
    let deadline = Deadline::after(after, session.interrupt.clone());
    let holds = of_txn.chain(locked).chain(global).chain(user_locks.holds());
    Patience::new(session.db.gate_waits(), holds, deadline)
}
