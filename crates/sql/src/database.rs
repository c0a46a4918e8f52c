//! Everything that sessions share: engine, dictionary, accounts, global variables, session registry.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

use turnstile_engine::ids::{TableId, TxnId};
use turnstile_engine::tally::RowTotals;
use turnstile_engine::{DICTIONARY_INDEX, Engine};
use turnstile_sys::relief;

use crate::accounts::{Account, AccountName, Accounts, Privileges};
use crate::collation::Collation;
use crate::dictionary::table::{Counters, Definition};
use crate::dictionary::{Dictionary, RowKind, Table, encoding, read_rows, row_key, write_rows};
use crate::error::{SqlError, SqlResult};
use crate::mdl::Gate;
use crate::mdl::circle::GateWaits;
use crate::mdl::names::NameGates;
use crate::memory::ServerMemory;
use crate::query_log::QueryLog;
use crate::registry::Registry;
use crate::registry::counts::Totals;
use crate::statement_cache::StatementCache;
use crate::status::Status;
use crate::status::deadlock::Deadlocks;
use crate::status::foreign_key::ForeignKeyErrors;
use crate::status::metrics::Meters;
use crate::status::monitor::Monitor;
use crate::thread_pool::ThreadPoolView;
use crate::user_locks::UserLocks;
use crate::value::Value;
use crate::variables::Globals;

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
pub(crate) const SERVERS_OWN: &str = "mysql";

/// One open database server, without its sockets.
pub struct Database {
    engine: Arc<Engine>,
    dictionary: Dictionary,
    gate_waits: GateWaits,
    definitions: Arc<Gate>,
    names: NameGates,
    user_locks: Arc<UserLocks>,
    accounts: Accounts,
    registry: Registry,
    globals: Globals,
    status: Status,
    statements: StatementCache,
    memory: Arc<ServerMemory>,
    deadlocks: Deadlocks,
    foreign_key_errors: ForeignKeyErrors,
    meters: Meters,
    monitor: Monitor,
    thread_pool: OnceLock<Arc<dyn ThreadPoolView>>,
    shutdown: OnceLock<Box<dyn Fn() + Send + Sync>>,
    /// One reference is its own, every other one a prepared statement's.
    prepared: Arc<()>,
    query_log: QueryLog,
    /// A [`Refusal`].
    refusal: AtomicU8,
}

impl Database {
    /// Opens what the engine holds, with default settings.
    pub async fn open(engine: Arc<Engine>) -> Result<Arc<Database>, SqlError> {
        Database::open_with(engine, Globals::default()).await
    }

    /// Opens what the engine holds: loads dictionary and accounts (making the first account in a fresh one), drops
    /// indexes that the dictionary does not know.
    pub async fn open_with(engine: Arc<Engine>, globals: Globals) -> Result<Arc<Database>, SqlError> {
        let dictionary = Dictionary::default();
        let accounts = Accounts::default();
        let mut known = HashSet::from([DICTIONARY_INDEX]);
        let rows = read_rows(&engine).await?;
        let fresh = rows.is_empty();
        let damaged = || SqlError::unknown_error("the data dictionary has a row that cannot be read");
        for (kind, name, row) in &rows {
            match *kind {
                kind if kind == RowKind::Schema as u8 => {
                    let name = std::str::from_utf8(name).map_err(|_| damaged())?;
                    let collation = encoding::Reader::new(row, 1).and_then(|mut row| row.collation());
                    dictionary.put_schema(name, collation.map_err(|_| damaged())?);
                }
                kind if kind == RowKind::Table as u8 => {
                    let definition = Definition::decode(row).map_err(|_| damaged())?;
                    known.insert(definition.clustered);
                    known.extend(definition.keys.iter().map(|key| key.index));
                    dictionary.reserve_table_id(definition.id);
                    let counters = Counters::found(&engine, &definition)?;
                    let table = Table::new(definition, Arc::default(), counters);
                    dictionary.put_table(Arc::new(table));
                }
                kind if kind == RowKind::Account as u8 => {
                    accounts.put(Account::decode(row).map_err(|_| damaged())?);
                }
                _ => return Err(damaged()),
            }
        }
        for index in engine.indexes() {
            if !known.contains(&index) {
                engine.drop_index(index)?;
            }
        }
        let status = Status::default();
        let registry = Registry::default();
        let deadlocks = Deadlocks::default();
        let thread_pool = OnceLock::new();
        let meters = Meters::new(registry.unix_us(registry.now_us()));
        let monitor = Monitor::new(&engine);
        let db = Arc::new(Database {
            engine,
            dictionary,
            gate_waits: GateWaits::default(),
            definitions: Arc::default(),
            names: NameGates::default(),
            user_locks: Arc::default(),
            accounts,
            registry,
            globals,
            status,
            statements: StatementCache::default(),
            memory: Arc::default(),
            deadlocks,
            foreign_key_errors: ForeignKeyErrors::default(),
            meters,
            monitor,
            thread_pool,
            shutdown: OnceLock::new(),
            prepared: Arc::new(()),
            query_log: QueryLog::default(),
            refusal: AtomicU8::new(0),
        });
        Deadlocks::watch(&db);
        db.install(fresh).await?;
        crate::session::apply_globals(&db, &db.globals);
        db.query_log.follow(&db.globals).map_err(|error| SqlError::unknown_error(error.to_string()))?;
        Ok(db)
    }

    /// The first contents of a fresh data directory: root without password, from the same machine only. The server's
    /// own database is also put into a directory of a version that let it be dropped.
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

    /// Of [`Database::totals`] what the engine has done.
    pub fn rows(&self) -> RowTotals {
        let mut rows = self.registry.rows();
        rows.add_totals(&self.engine.stats().rows.totals());
        rows
    }

    /// Databases and tables.
    pub fn dictionary(&self) -> &Dictionary {
        &self.dictionary
    }

    /// Sessions that wait at metadata gates.
    pub(crate) fn gate_waits(&self) -> &GateWaits {
        &self.gate_waits
    }

    /// The gate that DDL passes as a writer and FLUSH TABLES WITH READ LOCK closes, so that no table comes or goes
    /// meanwhile.
    pub(crate) fn definitions(&self) -> &Arc<Gate> {
        &self.definitions
    }

    /// Names that statements are giving.
    pub(crate) fn names(&self) -> &NameGates {
        &self.names
    }

    /// Locks that users have named.
    pub(crate) fn user_locks(&self) -> &Arc<UserLocks> {
        &self.user_locks
    }

    /// Accounts, for authentication.
    pub fn accounts(&self) -> &Accounts {
        &self.accounts
    }

    /// Statements that come again.
    pub fn statements(&self) -> &StatementCache {
        &self.statements
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

    /// What is known of deadlocks.
    pub fn deadlocks(&self) -> &Deadlocks {
        &self.deadlocks
    }

    /// The body of LATEST DETECTED DEADLOCK; None if there was none.
    pub fn latest_deadlock_text(&self) -> Option<String> {
        self.deadlocks.latest().map(|report| report.text(self))
    }

    /// The last foreign key that stood against a change.
    pub fn foreign_key_errors(&self) -> &ForeignKeyErrors {
        &self.foreign_key_errors
    }

    /// The general log and the slow query log.
    pub fn query_log(&self) -> &QueryLog {
        &self.query_log
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
    pub(crate) fn read_only_changed(&self) {
        let on = |name| self.globals.named(name) == Value::Int(1);
        let refusal = match (on("read_only"), on("super_read_only")) {
            (_, true) => 2,
            (true, false) => 1,
            (false, false) => 0,
        };
        self.refusal.store(refusal, Ordering::Relaxed);
    }

    /// Counters.
    pub fn status(&self) -> &Status {
        &self.status
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

    /// A place among the prepared statements of all sessions; given back when dropped. Error 1461 if there is none
    /// left.
    pub(crate) fn prepared_place(&self) -> SqlResult<Arc<()>> {
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
    pub(crate) fn ask_for_shutdown(&self) -> bool {
        self.shutdown.get().map(|shutdown| shutdown()).is_some()
    }

    /// Switches of the counters in INNODB_METRICS.
    pub fn meters(&self) -> &Meters {
        &self.meters
    }

    /// The writer of SHOW ENGINE INNODB STATUS.
    pub fn monitor(&self) -> &Monitor {
        &self.monitor
    }

    /// Makes a database durable.
    pub(crate) async fn save_schema(&self, name: &str, collation: Collation) -> SqlResult<()> {
        let mut row = encoding::Writer::new(1);
        row.collation(collation);
        write_rows(&self.engine, &[(row_key(RowKind::Schema, name.as_bytes()), Some(row.0))]).await.map(drop)
    }

    /// Makes an account durable.
    pub(crate) async fn save_account(&self, account: &Account) -> SqlResult<()> {
        let key = row_key(RowKind::Account, &Account::row_name(&account.name));
        write_rows(&self.engine, &[(key, Some(account.encode()))]).await.map(drop)
    }

    /// Makes the end of tables durable, and of their database, in one transaction.
    pub(crate) async fn save_dropped(
        &self,
        tables: impl Iterator<Item = &Definition>,
        schema: Option<&str>,
    ) -> SqlResult<()> {
        let tables = tables.map(|definition| row_key(RowKind::Table, &definition.id.0.to_be_bytes()));
        let schema = schema.map(|name| row_key(RowKind::Schema, name.as_bytes()));
        let rows: Vec<_> = tables.chain(schema).map(|key| (key, None)).collect();
        write_rows(&self.engine, &rows).await.map(drop)
    }

    /// Makes definitions of tables durable, in one transaction. Error 1050 if a table that stays as it is has the name
    /// of one of them: whoever gives a name holds it ([`crate::mdl::names`]), so that this is never so.
    pub(crate) async fn save_tables(&self, definitions: &[&Definition]) -> SqlResult<TxnId> {
        let changed: HashSet<TableId> = definitions.iter().map(|one| one.id).collect();
        for one in definitions {
            relief::worked();
            let there = self.dictionary.find(&one.schema, &one.name);
            if there.is_some_and(|there| !changed.contains(&there.definition.id)) {
                return Err(SqlError::table_exists(&one.name));
            }
        }
        let row = |definition: &&Definition| {
            relief::worked();
            (row_key(RowKind::Table, &definition.id.0.to_be_bytes()), Some(definition.encode()))
        };
        write_rows(&self.engine, &definitions.iter().map(row).collect::<Vec<_>>()).await
    }
}
