//! What sessions share below their plans: engine, dictionary, metadata locks, accounts, global variables, the
//! list of sessions.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

use turnstile_engine::ids::{TableId, TxnId};
use turnstile_engine::tally::RowTotals;
use turnstile_engine::{DICTIONARY_INDEX, Engine};

use crate::accounts::{Account, AccountName, Accounts, Privileges};
use crate::dictionary::histogram::Histogram;
use crate::dictionary::statistics::TableStatistics;
use crate::dictionary::table::{Counters, Definition};
use crate::dictionary::{Dictionary, RowKind, Table, View, ViewDefinition, encoding, read_rows, write_rows};
use crate::mdl::MetadataLock;
use crate::mdl::deadlock::MetadataWaits;
use crate::mdl::names::NameLocks;
use crate::registry::Registry;
use crate::registry::counts::Totals;
use crate::statistics::StatisticsKeeper;
use crate::thread_pool::ThreadPoolView;
use crate::user_locks::UserLocks;
use crate::variables::Globals;
use turnstile_sys::temporary_file::TemporaryFolder;
use turnstile_values::collation::Collation;
use turnstile_values::error::{SqlError, SqlResult};
use turnstile_values::memory::ServerMemory;
use turnstile_values::value::{Value, to_text};

mod applied;
mod saved;

/// Whom `read_only` and `super_read_only` keep from writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Both are OFF.
    Nobody,
    /// `read_only`: accounts without CONNECTION_ADMIN and SUPER.
    Unprivileged,
    /// `super_read_only`.
    Everybody,
}

impl Refusal {
    /// The option, as error 1290 names it.
    pub fn option(self) -> &'static str {
        if self == Refusal::Everybody { "--super-read-only" } else { "--read-only" }
    }
}

/// The database of the server's own tables: it is always there.
pub const SERVERS_OWN: &str = "mysql";

/// What sessions share.
pub struct Catalog {
    engine: Arc<Engine>,
    dictionary: Dictionary,
    metadata_waits: MetadataWaits,
    definitions: Arc<MetadataLock>,
    names: NameLocks,
    user_locks: Arc<UserLocks>,
    accounts: Accounts,
    registry: Registry,
    globals: Globals,
    memory: Arc<ServerMemory>,
    /// `tmpdir`
    temporary: Arc<TemporaryFolder>,
    thread_pool: OnceLock<Arc<dyn ThreadPoolView>>,
    shutdown: OnceLock<Box<dyn Fn() + Send + Sync>>,
    statistics: StatisticsKeeper,
    /// One reference is its own, every other one a prepared statement's.
    prepared: Arc<()>,
    /// A [`Refusal`].
    refusal: AtomicU8,
}

fn put_schema(dictionary: &Dictionary, name: &[u8], row: &[u8]) -> Result<(), encoding::Damaged> {
    let name = std::str::from_utf8(name).map_err(|_| encoding::Damaged)?;
    dictionary.put_schema(name, encoding::Reader::new(row, 1)?.collation()?);
    Ok(())
}

fn temporary_folder(globals: &Globals) -> Arc<TemporaryFolder> {
    Arc::new(TemporaryFolder::new(&*to_text(&globals.named("tmpdir"))))
}

/// Gives a table what was known of it when it was last looked at; true if nobody can use that. What was
/// known of trees that it has no more is forgotten.
fn read_statistics(
    tables: &HashMap<TableId, Arc<Table>>,
    name: &[u8],
    row: &[u8],
) -> Result<bool, encoding::Damaged> {
    if TableStatistics::is_outdated(row) {
        return Ok(true);
    }
    let known = TableStatistics::decode(row)?;
    let id = <[u8; 4]>::try_from(name).map_err(|_| encoding::Damaged)?;
    let Some(table) = tables.get(&TableId(u32::from_be_bytes(id))) else { return Ok(true) };
    if known.tree == table.definition.clustered {
        table.counters.rows.store(known.rows, Ordering::Relaxed);
        table.counters.statistics.set(Arc::new(known));
    }
    Ok(false)
}

/// Gives a table what was known of its keys or its columns; true if nobody can use that.
fn read_known(
    tables: &HashMap<TableId, Arc<Table>>,
    kind: u8,
    name: &[u8],
    row: &[u8],
) -> Result<bool, encoding::Damaged> {
    let read = if kind == RowKind::STATISTICS { read_statistics } else { read_histogram };
    read(tables, name, row)
}

/// Gives a table what was known of the values of a column; true if nobody can use that: the table is gone,
/// or the column, or it has another type.
fn read_histogram(
    tables: &HashMap<TableId, Arc<Table>>,
    name: &[u8],
    row: &[u8],
) -> Result<bool, encoding::Damaged> {
    let id = name.first_chunk::<4>().ok_or(encoding::Damaged)?;
    let Some(table) = tables.get(&TableId(u32::from_be_bytes(*id))) else { return Ok(true) };
    let known = Histogram::decode(row)?;
    let column = table.columns().iter().find(|one| one.name == known.column);
    if column.is_none_or(|one| one.kind != known.kind) {
        return Ok(true);
    }
    table.counters.histograms.put(Arc::new(known));
    Ok(false)
}

/// How many kinds of statements are counted.
fn digests_max(globals: &Globals) -> usize {
    match globals.named("performance_schema_digests_size") {
        Value::UInt(most) => most as usize,
        _ => 0,
    }
}

impl Catalog {
    /// Opens what the engine holds: loads dictionary and accounts (making the first account in a fresh one),
    /// drops indexes that the dictionary does not know.
    pub async fn open(engine: Arc<Engine>, globals: Globals) -> SqlResult<Arc<Catalog>> {
        let dictionary = Dictionary::default();
        let accounts = Accounts::default();
        let mut known = HashSet::from([DICTIONARY_INDEX]);
        let (mut tables, mut unknown) = (HashMap::new(), Vec::new());
        let rows = read_rows(&engine).await?;
        let fresh = rows.is_empty();
        let damaged = || SqlError::unknown_error("the data dictionary has a row that cannot be read");
        for (kind, name, row) in &rows {
            match *kind {
                kind if kind == RowKind::Schema as u8 => {
                    put_schema(&dictionary, name, row).map_err(|_| damaged())?;
                }
                kind if kind == RowKind::Table as u8 => {
                    let definition = Definition::decode(row).map_err(|_| damaged())?;
                    known.insert(definition.clustered);
                    known.extend(definition.keys.iter().map(|key| key.index));
                    dictionary.reserve_table_id(definition.id);
                    let counters = Counters::found(&engine, &definition)?;
                    let table = Table::new(definition, Arc::default(), counters);
                    let table = Arc::new(table);
                    tables.insert(table.definition.id, table.clone());
                    dictionary.put_table(table);
                }
                kind if kind == RowKind::View as u8 => {
                    let definition = ViewDefinition::decode(row).map_err(|_| damaged())?;
                    let view = View::new(definition, Arc::default(), TxnId::default());
                    dictionary.replace_views(&[], vec![Arc::new(view)]);
                }
                kind if kind == RowKind::Account as u8 => {
                    accounts.put(Account::decode(row).map_err(|_| damaged())?);
                }
                RowKind::STATISTICS | RowKind::HISTOGRAM => {
                    let of_nobody = read_known(&tables, *kind, name, row).map_err(|_| damaged())?;
                    unknown.extend(of_nobody.then(|| ([&[*kind], name.as_slice()].concat(), None)));
                }
                _ => return Err(damaged()),
            }
        }
        if !unknown.is_empty() {
            write_rows(&engine, &unknown).await?;
        }
        let unknown: Vec<_> = engine.indexes().into_iter().filter(|index| !known.contains(index)).collect();
        engine.drop_indexes(&unknown)?;
        let statistics = StatisticsKeeper::new(engine.clone(), dictionary.version_counter());
        let catalog = Arc::new(Catalog {
            engine,
            dictionary,
            metadata_waits: MetadataWaits::default(),
            definitions: Arc::default(),
            names: NameLocks::default(),
            user_locks: Arc::default(),
            accounts,
            registry: Registry::new(digests_max(&globals)),
            temporary: temporary_folder(&globals),
            globals,
            memory: Arc::default(),
            thread_pool: OnceLock::new(),
            shutdown: OnceLock::new(),
            statistics,
            prepared: Arc::new(()),
            refusal: AtomicU8::new(0),
        });
        catalog.install(fresh).await?;
        catalog.apply_globals();
        Ok(catalog)
    }

    /// The first contents of a fresh data directory: root without password, from the same machine only. The
    /// server's own database is also put into a directory of a version that let it be dropped.
    async fn install(&self, fresh: bool) -> SqlResult<()> {
        if self.dictionary.schema_collation(SERVERS_OWN).is_none() {
            self.add_schema(SERVERS_OWN).await?;
        }
        if !fresh {
            return Ok(());
        }
        let mut root = Account::new(AccountName::new("root", "localhost"));
        root.global = Privileges::everything();
        self.save_account(&root).await?;
        self.accounts.put(root);
        self.add_schema("test").await
    }

    async fn add_schema(&self, name: &str) -> SqlResult<()> {
        self.save_schema(name, Collation::DEFAULT).await?;
        self.dictionary.put_schema(name, Collation::DEFAULT);
        Ok(())
    }

    /// The engine.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// What all sessions have counted, and whoever has none.
    pub fn totals(&self) -> Totals {
        let mut totals = self.registry.totals();
        totals.rows.add_totals(&self.engine.stats().rows.totals());
        totals
    }

    /// Of [`Catalog::totals`] what the engine has done.
    pub fn rows(&self) -> RowTotals {
        let mut rows = self.registry.rows();
        rows.add_totals(&self.engine.stats().rows.totals());
        rows
    }

    /// Databases and tables.
    pub fn dictionary(&self) -> &Dictionary {
        &self.dictionary
    }

    /// The collation of a database, the computed ones included.
    pub fn collation_of(&self, schema: &str) -> Collation {
        match schema.eq_ignore_ascii_case("information_schema") {
            true => Collation::Utf8mb3GeneralCi,
            false => self.dictionary.schema_collation(schema).unwrap_or(Collation::DEFAULT),
        }
    }

    /// Sessions that wait for metadata locks.
    pub fn metadata_waits(&self) -> &MetadataWaits {
        &self.metadata_waits
    }

    /// The metadata lock that DDL passes as a writer and FLUSH TABLES WITH READ LOCK closes, so that no table
    /// comes or goes meanwhile.
    pub fn definitions(&self) -> &Arc<MetadataLock> {
        &self.definitions
    }

    /// Names that statements are giving.
    pub fn names(&self) -> &NameLocks {
        &self.names
    }

    /// Where statements put rows that are too many for their memory.
    pub fn temporary(&self) -> &Arc<TemporaryFolder> {
        &self.temporary
    }

    /// Statistics of tables.
    pub fn statistics(&self) -> &StatisticsKeeper {
        &self.statistics
    }

    /// Locks that users have named.
    pub fn user_locks(&self) -> &Arc<UserLocks> {
        &self.user_locks
    }

    /// Accounts, for authentication.
    pub fn accounts(&self) -> &Accounts {
        &self.accounts
    }

    /// What statements hold in memory.
    pub fn memory(&self) -> &Arc<ServerMemory> {
        &self.memory
    }

    /// Sessions.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Global variables.
    pub fn globals(&self) -> &Globals {
        &self.globals
    }

    /// Whom `read_only` and `super_read_only` keep from writing, as they are now.
    pub fn refuses_writes(&self) -> Refusal {
        match self.refusal.load(Ordering::Relaxed) {
            0 => Refusal::Nobody,
            1 => Refusal::Unprivileged,
            _ => Refusal::Everybody,
        }
    }

    /// Takes over `read_only` and `super_read_only` from the globals.
    pub fn read_only_changed(&self) {
        let on = |name| self.globals.named(name) == Value::Int(1);
        let refusal = match (on("read_only"), on("super_read_only")) {
            (_, true) => 2,
            (true, false) => 1,
            (false, false) => 0,
        };
        self.refusal.store(refusal, Ordering::Relaxed);
    }

    /// Says who runs the sessions. The first to say so is believed.
    pub fn set_thread_pool(&self, pool: Arc<dyn ThreadPoolView>) {
        let _ = self.thread_pool.set(pool);
    }

    /// Who runs the sessions, if somebody has said so.
    pub fn thread_pool(&self) -> Option<&Arc<dyn ThreadPoolView>> {
        self.thread_pool.get()
    }

    /// Prepared statements of all sessions.
    pub fn prepared_count(&self) -> u64 {
        Arc::strong_count(&self.prepared) as u64 - 1
    }

    /// A place among the prepared statements of all sessions; given back when dropped. Error 1461 if there is
    /// none left.
    pub fn prepared_place(&self) -> SqlResult<Arc<()>> {
        let most = match self.globals.named("max_prepared_stmt_count") {
            Value::UInt(most) => most,
            Value::Int(most) => most.max(0) as u64,
            _ => 0,
        };
        if Arc::strong_count(&self.prepared) as u64 > most {
            return Err(SqlError::too_many_prepared_statements(most));
        }
        Ok(Arc::clone(&self.prepared))
    }

    /// Sets what SHUTDOWN does.
    pub fn set_shutdown(&self, shutdown: Box<dyn Fn() + Send + Sync>) {
        let _ = self.shutdown.set(shutdown);
    }

    /// Asks the process to end; false if nobody listens.
    pub fn ask_for_shutdown(&self) -> bool {
        self.shutdown.get().map(|shutdown| shutdown()).is_some()
    }
}
