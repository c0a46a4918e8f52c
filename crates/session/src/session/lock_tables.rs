//! LOCK TABLES, UNLOCK TABLES, FLUSH TABLES.
//!
//! A locked table is a metadata lock ([`crate::mdl`]) that the session holds beyond its transactions:
//! `ReadLock` for READ, `Exclusive` for WRITE. As long as the session has any, its statements use no other
//! tables, each under the name by which it was locked, and take no metadata locks of their own.
//!
//! The locks end with UNLOCK TABLES, another LOCK TABLES, START TRANSACTION, the end or a reset of the
//! connection. COMMIT and ROLLBACK leave them. LOCK TABLES commits first, UNLOCK TABLES only if there was
//! something to unlock.
//!
//! Tables at the other end of a WRITE-locked table's foreign keys are locked with it, without a name for
//! statements: READ if their rows are looked at, WRITE if a cascade may change them.
//!
//! Metadata locks are taken in the order of their tables' names, so two LOCK TABLES never wait for each other
//! in a cycle.
//!
//! **FLUSH TABLES WITH READ LOCK** closes the metadata lock of definitions, then takes the `ReadLock` of
//! every table. It waits for the transactions that have written to end, where MySQL waits only for their
//! statements and holds up their COMMIT instead; what it then keeps still is the same. A transaction that has
//! written and waits for it is rolled back with 1213, because they wait for each other. It ends with UNLOCK
//! TABLES, not with START TRANSACTION, so a snapshot of the moment can be opened under it.

use std::collections::HashSet;
use std::sync::Arc;

use super::Session;
use crate::ast::{FlushTarget, LockedTable, TableName};
use crate::dictionary::{Table, TableName as FullName};
use crate::error::{SqlError, SqlResult};
use crate::mdl::{Hold, Mode};
use crate::plan::foreign_key;
use crate::session::{ddl, rights, transaction};
use crate::used_tables::Used;
use crate::virtual_table::VirtualTable;
use turnstile_engine::session_status::WaitingFor;
use turnstile_engine::yield_now::Slice;

/// The tables a session has locked.
pub struct TableLocks {
    entries: Vec<Entry>,
    /// Tables at the other ends of foreign keys, which are locked besides and may be read under their names.
    besides: Vec<(Box<str>, Box<str>)>,
    /// One per table, however many names it is locked under.
    holds: Vec<Hold>,
}

struct Entry {
    schema: Box<str>,
    table: Box<str>,
    /// The name that statements must use.
    shown: Box<str>,
    write: bool,
}

impl TableLocks {
    /// The metadata locks it holds.
    pub fn holds(&self) -> &[Hold] {
        &self.holds
    }

    /// Whether a statement may use these tables: each was locked under the name it is used by, strongly
    /// enough, and is used once under that name.
    pub fn check(&self, tables: &[Used], current: Option<&str>) -> SqlResult<()> {
        let mut seen: Vec<*const Entry> = Vec::new();
        for used in tables {
            let schema = used.schema_in(current).ok_or_else(SqlError::no_database_selected)?;
            if VirtualTable::is_computed(schema, &used.name) {
                continue;
            }
            let entry = self.entries.iter().find(|entry| {
                (&*entry.schema, &*entry.table, &*entry.shown) == (schema, &*used.name, used.shown())
            });
            let entry = entry.filter(|entry| used.times == 1 && !seen.contains(&std::ptr::from_ref(*entry)));
            let besides = |(other, table): &(Box<str>, Box<str>)| {
                (&**other, &**table) == (schema, &*used.name) && used.shown() == &**table
            };
            if entry.is_none() && self.besides.iter().any(besides) {
                if used.mode() == Mode::Write {
                    return Err(SqlError::table_not_locked_for_write(used.shown()));
                }
                continue;
            }
            let entry = entry.ok_or_else(|| SqlError::table_not_locked(used.shown()))?;
            if used.mode() == Mode::Write && !entry.write {
                return Err(SqlError::table_not_locked_for_write(used.shown()));
            }
            seen.push(entry);
        }
        Ok(())
    }

    /// Whether DDL may change a table.
    pub fn check_alone(&self, schema: &str, table: &str) -> SqlResult<()> {
        let mut known = self.entries.iter().filter(|one| (&*one.schema, &*one.table) == (schema, table));
        match known.clone().next() {
            None => Err(SqlError::table_not_locked(table)),
            Some(_) if known.any(|one| one.write) => Ok(()),
            Some(_) => Err(SqlError::table_not_locked_for_write(table)),
        }
    }

    /// Whether DDL may change all of these.
    pub fn check_all_alone(&self, tables: &[Arc<Table>]) -> SqlResult<()> {
        let written = self.entries.iter().filter(|one| one.write);
        let written: HashSet<_> = written.map(|one| (&*one.schema, &*one.table)).collect();
        let free =
            |table: &&Arc<Table>| !written.contains(&(&*table.definition.schema, &*table.definition.name));
        let refused = tables.iter().find(free);
        refused.map_or(Ok(()), |table| self.check_alone(&table.definition.schema, table.name()))
    }

    /// Nothing is left: all that was locked has been dropped.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Tables were dropped.
    pub fn forget(&mut self, tables: &[Arc<Table>]) {
        let names: HashSet<_> =
            tables.iter().map(|table| (&*table.definition.schema, &*table.definition.name)).collect();
        let metadata_locks: HashSet<_> = tables.iter().map(|table| Arc::as_ptr(&table.mdl)).collect();
        self.entries.retain(|one| !names.contains(&(&*one.schema, &*one.table)));
        self.besides.retain(|(schema, name)| !names.contains(&(&**schema, &**name)));
        self.holds.retain(|hold| !metadata_locks.contains(&Arc::as_ptr(hold.mdl())));
    }

    /// Tables have new names: what `now` says for a database and a name.
    pub fn rename(&mut self, now: impl Fn(&str, &str) -> Option<FullName>) {
        for one in &mut self.entries {
            let Some((schema, name)) = now(&one.schema, &one.table) else { continue };
            if one.shown == one.table {
                one.shown = name.clone();
            }
            (one.schema, one.table) = (schema, name);
        }
    }
}

/// LOCK TABLES
pub(super) async fn lock_tables(session: &mut Session, tables: &[LockedTable]) -> SqlResult<()> {
    let mut entries = Vec::new();
    // Nobody else can be kept from a temporary table.
    for one in tables.iter().filter(|one| !session.is_temporary(&one.name)) {
        let shown = one.alias.as_ref().unwrap_or(&one.name.table);
        entries.push(entry(session, &one.name, shown, one.write)?);
    }
    lock_entries(session, entries).await
}

/// A table to be locked.
fn entry(session: &Session, name: &TableName, shown: &str, write: bool) -> SqlResult<Entry> {
    let schema = ddl::schema_of(session, name)?;
    if VirtualTable::is_schema(&schema) {
        return Err(rights::denied_database(session, &schema));
    }
    if write && session.global_read_lock.is_some() {
        return Err(SqlError::conflicting_read_lock());
    }
    Ok(Entry { schema, table: name.table.clone(), shown: shown.into(), write })
}

async fn lock_entries(session: &mut Session, entries: Vec<Entry>) -> SqlResult<()> {
    ddl::commit_before(session).await?;
    session.table_locks = None;
    if session.settings.read_only && entries.iter().any(|one| one.write) {
        return Err(SqlError::read_only_transaction());
    }
    let mut seen = HashSet::with_capacity(entries.len());
    if let Some(again) = entries.iter().find(|one| !seen.insert((&one.schema, &one.shown))) {
        return Err(SqlError::non_unique_table(&again.shown));
    }
    let mut order: Vec<(Box<str>, Box<str>, bool)> = Vec::new();
    let mut slice = Slice::default();
    for one in &entries {
        slice.breathe().await;
        order.push((one.schema.clone(), one.table.clone(), !one.write));
        read_by_view(session, (&one.schema, &one.table), !one.write, &mut order);
        if one.write && session.settings.foreign_key_checks {
            related_by_foreign_keys(session, &one.schema, &one.table, &mut order);
        }
    }
    // Of one table WRITE comes first, and is enough.
    order.sort();
    order.dedup_by(|one, before| (&one.0, &one.1) == (&before.0, &before.1));
    let named: HashSet<_> = entries.iter().map(|one| (&one.schema, &one.table)).collect();
    let besides = order.iter().filter(|(schema, name, _)| !named.contains(&(schema, name)));
    let besides = besides.map(|(schema, name, _)| (schema.clone(), name.clone())).collect();
    let mut holds = Vec::new();
    let mut patience = transaction::metadata_patience(session);
    let status = session.entry.status.clone();
    let _note = status.waits(WaitingFor::Definition);
    for (schema, name, reads) in order {
        slice.breathe().await;
        let mode = if reads { Mode::ReadLock } else { Mode::Exclusive };
        loop {
            let named = session.db.dictionary().named(&schema, &name)?;
            let hold = named.mdl().lock(mode, &mut patience).await?;
            let now = session.db.dictionary().named(&schema, &name)?;
            if Arc::ptr_eq(now.mdl(), hold.mdl()) {
                holds.push(hold);
                break;
            }
        }
    }
    drop(patience);
    session.table_locks = Some(Box::new(TableLocks { entries, besides, holds }));
    Ok(())
}

/// What the query of a view reads, if the name is that of one: locked with it.
fn read_by_view(
    session: &Session,
    (schema, name): (&str, &str),
    reads: bool,
    order: &mut Vec<(Box<str>, Box<str>, bool)>,
) {
    let dictionary = session.db.dictionary();
    let Some(view) = dictionary.view(schema, name) else { return };
    for (schema, name) in &view.definition.reads {
        let one = (schema.clone(), name.clone(), reads);
        if dictionary.has(schema, name) && !order.contains(&one) {
            order.push(one);
            read_by_view(session, (schema, name), reads, order);
        }
    }
}

/// What changes of a table's rows may ask for at the other ends of foreign keys: locked with it, to be
/// read or to be changed.
fn related_by_foreign_keys(
    session: &Session,
    schema: &str,
    name: &str,
    order: &mut Vec<(Box<str>, Box<str>, bool)>,
) {
    let dictionary = session.db.dictionary();
    let Some(table) = dictionary.find(schema, name) else { return };
    let all: Vec<usize> = (0..table.columns().len()).collect();
    let plans = [
        foreign_key::of_insert(dictionary, &table, true, &[]),
        foreign_key::of_update(dictionary, &table, &all),
    ];
    for (table, mode) in plans.iter().flatten().flat_map(|plan| &plan.metadata_locks) {
        let definition = &table.definition;
        order.push((definition.schema.clone(), definition.name.clone(), *mode == Mode::Read));
    }
}

/// UNLOCK TABLES
pub(super) async fn unlock_tables(session: &mut Session) -> SqlResult<()> {
    if session.table_locks.is_some() {
        transaction::commit(session).await?;
    }
    (session.table_locks, session.global_read_lock) = (None, None);
    Ok(())
}

/// FLUSH. What others of it would write or read again is never out of date here.
pub(super) async fn flush(session: &mut Session, targets: &[FlushTarget]) -> SqlResult<()> {
    ddl::commit_before(session).await?;
    for target in targets {
        let (names, read_lock, export) = match target {
            FlushTarget::Tables { names, read_lock, export } => {
                ddl::each_once(session, names)?;
                (names, read_lock, export)
            }
            FlushTarget::Logs => {
                session
                    .db
                    .query_log()
                    .reopen()
                    .map_err(|error| SqlError::unknown_error(error.to_string()))?;
                continue;
            }
            FlushTarget::Status => {
                let now = session.db.registry().len() as u64;
                session.db.status().forget_most_connections(now);
                session.state.flush_counted();
                continue;
            }
            // What is flushed is never out of date: accounts, and costs, of which there are no tables.
            FlushTarget::Privileges | FlushTarget::Other(_) => continue,
        };
        if *export {
            return Err(SqlError::not_supported_yet("FLUSH TABLES ... FOR EXPORT"));
        }
        if !*read_lock {
            let read = session.table_locks.iter().flat_map(|locks| &locks.entries).find(|one| !one.write);
            match read {
                Some(one) => return Err(SqlError::table_not_locked_for_write(&one.shown)),
                None => continue,
            }
        }
        if session.table_locks.is_some() {
            return Err(SqlError::lock_or_active_transaction());
        }
        if names.is_empty() {
            lock_everything(session).await?;
        } else {
            for name in names {
                session.db.dictionary().base_table(&ddl::schema_of(session, name)?, &name.table)?;
            }
            let entry = |name: &TableName| entry(session, name, &name.table, false);
            let entries = names.iter().map(entry).collect::<SqlResult<_>>()?;
            lock_entries(session, entries).await?;
        }
    }
    Ok(())
}

/// FLUSH TABLES WITH READ LOCK
async fn lock_everything(session: &mut Session) -> SqlResult<()> {
    transaction::commit(session).await?;
    if session.global_read_lock.is_some() {
        return Ok(());
    }
    let mut patience = transaction::metadata_patience(session);
    let status = session.entry.status.clone();
    let _note = status.waits(WaitingFor::Definition);
    let mut slice = Slice::default();
    let mut holds = vec![session.db.definitions().lock(Mode::ReadLock, &mut patience).await?];
    for schema in session.db.dictionary().schema_names() {
        for table in session.db.dictionary().tables(&schema) {
            slice.breathe().await;
            holds.push(table.mdl.lock(Mode::ReadLock, &mut patience).await?);
        }
    }
    drop(patience);
    session.global_read_lock = Some(holds);
    Ok(())
}
