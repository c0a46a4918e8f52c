//! A session: what one connection means to SQL. It is a plain value driven by its owner (the server, a test,
//! an embedding program) one call at a time; a call is a future that waits only where the engine waits, for a
//! metadata lock, for a slow client ([`crate::sink`]) or in SLEEP.
//!
//! Errors: a method that returns one has already rolled back what MySQL rolls back (the statement, or with
//! 1213 the transaction) and the session can go on, except after error 1317/1053 with [`Session::is_killed`].

mod accounts;
mod aside;
mod begin;
mod check;
mod ddl;
mod explain;
mod explain_forms;
mod finish;
mod foreign_key;
mod histogram;
mod known;
mod lock_tables;
mod log;
mod maintain;
mod measured;
mod needs;
mod persist;
mod preparable;
mod prepared;
mod read_only;
mod reads;
mod retry;
mod rewrite;
mod rights;
mod set;
mod show;
mod show_absent;
mod show_live;
mod show_mutex;
mod statement;
mod text;
mod time_limit;
mod transaction;

use crate::accounts::{AccountName, KnownRights};
use crate::database::Database;
use crate::dictionary::{Named, TemporaryTables};
use crate::error::{SqlError, SqlResult};
pub use crate::kept_statement::Statement as CachedStatement;
use crate::mdl::Hold;
use crate::parser::ParseOptions;
use crate::registry::{Command, Entry};
pub use crate::session_state::{Identity, SessionState};
use crate::sink::{ColumnMeta, KeptPacket, ResultSink, status_flag};
use crate::template::Scan;
use crate::variables::{Priority, SessionSettings};
pub use begin::SessionInit;
use rustc_hash::FxHashMap;
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use turnstile_engine::Parked;
use turnstile_engine::ids::IndexId;
use turnstile_engine::interrupt::Interrupt;
use turnstile_sys::block_on::block_on;

/// What an answer waits for.
type BeforeAnswer<'a> = Pin<Box<dyn Future<Output = SqlResult<()>> + Send + 'a>>;

/// A statement that is prepared.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// Names it in [`Session::execute`]; unique in its session.
    pub id: u32,
    /// Its `?`, in order; for the protocol's parameter definitions.
    pub params: Vec<ColumnMeta>,
    /// Columns of its result; empty when it has none or they are only known when it runs.
    pub columns: Arc<[ColumnMeta]>,
    /// Warnings of preparing it.
    pub warnings: u16,
}

/// What one connection means to SQL.
pub struct Session {
    db: Arc<Database>,
    state: Arc<SessionState>,
    entry: Arc<Entry>,
    interrupt: Arc<Interrupt>,
    settings: Arc<SessionSettings>,
    open: Option<transaction::OpenTxn>,
    /// The last one, which has ended: the next begins with what it knows of the engine.
    parked: Option<Parked>,
    /// LOCK TABLES.
    table_locks: Option<Box<lock_tables::TableLocks>>,
    /// FLUSH TABLES WITH READ LOCK: every table's metadata lock.
    global_read_lock: Option<Vec<Hold>>,
    /// What a statement that defines holds besides tables: its pass, and the names that it gives.
    defining: Vec<Hold>,
    /// Its own tables, which hide those of everybody.
    temporary: TemporaryTables,
    /// Trees of temporary tables that are gone, while the open transaction may still undo changes of them.
    gone_trees: Vec<IndexId>,
    next_txn: transaction::NextTxn,
    /// By ids that are given one after the other: nobody else chooses the keys.
    prepared: FxHashMap<u32, Arc<CachedStatement>>,
    named: HashMap<Box<str>, Arc<CachedStatement>>,
    next_prepared: u32,
    multi_statements: bool,
    /// Its transaction was rolled back while the client said nothing, who is to be told.
    gave_up: bool,
    /// What the statement that runs says about its transaction's end.
    finishing: finish::Finish,
    /// Kept for its memory: see [`statement::Info`].
    info_buffer: String,
    /// Memory for taking texts apart.
    scan: Scan,
    /// What its account may do.
    rights: KnownRights,
    /// What it has found last of what all sessions share.
    known: known::KnownThings,
    /// Where its statements are counted by digest.
    measured: measured::Measured,
}

impl Session {
    /// The database it belongs to.
    pub fn database(&self) -> &Arc<Database> {
        &self.db
    }

    /// The user name as the client sent it.
    pub fn user_name(&self) -> String {
        String::from_utf8_lossy(self.entry.shown().names.user()).into_owned()
    }

    /// Kills reach the session through it.
    pub fn interrupt(&self) -> &Arc<Interrupt> {
        &self.interrupt
    }

    /// Connection id.
    pub fn id(&self) -> u64 {
        self.entry.id
    }

    /// Somebody ended the connection with KILL.
    pub fn is_killed(&self) -> bool {
        self.interrupt.is_connection_killed()
    }

    /// The client is a person at a terminal: `interactive_timeout` is its `wait_timeout`.
    pub fn set_interactive(&mut self) {
        let (from, to) =
            (crate::variables::find("interactive_timeout"), crate::variables::find("wait_timeout"));
        if let (Some(from), Some(to)) = (from, to) {
            let patience = self.db.globals().get(from);
            self.state.set_variable(to, patience);
            self.settings_changed();
        }
    }

    /// Whether the session waits for its client from now on, for `wait_timeout`; statements say so by
    /// themselves.
    pub fn set_idle(&self, idle: bool) {
        self.entry.set_idle_max_s(if idle { self.settings.wait_timeout_s } else { u64::MAX });
        self.entry.set_command(Command::Sleep, self.db.registry().now_us());
    }

    /// Whether it may be one more than `max_connections`.
    pub fn may_exceed_connections(&self) -> bool {
        use crate::accounts::Privileges as P;
        self.state.rights().may_any(&[P::CONNECTION_ADMIN, P::SUPER])
    }

    /// The limit of sessions of its account; 0 if it has none of its own.
    pub fn own_connections_max(&self) -> u64 {
        let account = self.db.accounts().find(&self.own_account());
        account.map_or(0, |account| account.user_connections_max.into())
    }

    /// Sessions of its account, itself among them.
    pub fn sessions_of_account(&self) -> u64 {
        let account = self.own_account();
        self.db.registry().list().iter().filter(|one| one.look(|shown| shown.account == account)).count()
            as u64
    }

    /// Decodes the variables anew.
    pub(crate) fn settings_changed(&mut self) {
        self.settings = self.state.settings();
        let settings = self.settings.clone();
        self.entry.show(|shown| shown.settings = Some(settings));
        self.entry.set_idle_max_s(self.settings.wait_timeout_s);
    }

    /// Decoded variables.
    pub fn settings(&self) -> &Arc<SessionSettings> {
        &self.settings
    }

    /// Whether its worker should run it before others, by `thread_pool_priority`.
    pub fn goes_first(&self) -> bool {
        match self.settings.priority {
            Priority::Auto => self.holds_others_up(),
            Priority::High => true,
            Priority::Low => false,
        }
    }

    /// Somebody ended the connection because its client was silent for too long.
    pub fn was_ended_for_idleness(&self) -> bool {
        self.entry.was_ended_for_idleness()
    }

    /// [`status_flag`] bits as they stand.
    pub fn status_flags(&self) -> u16 {
        let mut flags = if self.settings.autocommit { status_flag::AUTOCOMMIT } else { 0 };
        if let Some(open) = self.open.as_ref().filter(|open| !open.autocommit) {
            flags |= status_flag::IN_TRANSACTION;
            if open.read_only {
                flags |= status_flag::IN_TRANSACTION_READ_ONLY;
            }
        }
        if self.settings.sql_mode.has(crate::expr::SqlMode::NO_BACKSLASH_ESCAPES) {
            flags |= status_flag::NO_BACKSLASH_ESCAPES;
        }
        flags
    }

    /// Warnings of the last statement, for terminators the server writes itself.
    pub fn warning_count(&self) -> u16 {
        self.state.warnings.count()
    }

    /// How texts are to be read.
    fn parse_options(&self, parameters: bool) -> ParseOptions {
        use crate::expr::SqlMode as M;
        let mode = self.settings.sql_mode;
        ParseOptions {
            ansi_quotes: mode.has(M::ANSI_QUOTES),
            pipes_as_concat: mode.has(M::PIPES_AS_CONCAT),
            no_backslash_escapes: mode.has(M::NO_BACKSLASH_ESCAPES),
            high_not_precedence: mode.has(M::HIGH_NOT_PRECEDENCE),
            real_as_float: mode.has(M::REAL_AS_FLOAT),
            ignore_space: mode.has(M::IGNORE_SPACE),
            parameters,
            client_set: self.settings.client_set,
        }
    }

    /// Runs a text: one statement, or several if the client may send several; each gives one result in `out`.
    pub async fn query(&mut self, text: &[u8], out: &mut dyn ResultSink) -> Result<(), SqlError> {
        self.interrupt.clear_query();
        self.entry.set_command(Command::Query, self.db.registry().now_us());
        text::announce(text);
        log::log_command(self, "Query", text);
        let result = match self.owes_bad_news() {
            true => Box::pin(self.tell(text)).await,
            false => Ok(()),
        };
        let result = match result {
            Ok(()) => text::query_text(self, text, out).await,
            told => told,
        };
        self.after_statement(result).await
    }

    /// [`Session::query`] for who has a thread to wait on: it comes back when the statement is done. That it
    /// is here has the code of statements compiled with this crate; every crate that polls them would else
    /// have it made anew.
    ///
    /// # Errors
    /// The statement's.
    pub fn query_and_wait(&mut self, text: &[u8], out: &mut dyn ResultSink) -> Result<(), SqlError> {
        block_on(self.query(text, out))
    }

    /// An error once the engine has stopped: then nothing is read any more either, because memory holds
    /// commits that were refused as not durable.
    pub fn check_engine(&self) -> SqlResult<()> {
        Ok(self.db.engine().check_running()?)
    }

    /// What comes between a statement's work and its last packet: with `turnstile_read_durable` all it can
    /// have seen is on disk, and the engine still runs. A future only for who has set the variable: every
    /// statement comes by here.
    #[inline]
    fn before_answer(&self) -> SqlResult<Option<BeforeAnswer<'_>>> {
        if self.settings.read_durable {
            return Ok(Some(self.after_seen_is_durable()));
        }
        self.check_engine()?;
        Ok(None)
    }

    #[cold]
    fn after_seen_is_durable(&self) -> BeforeAnswer<'_> {
        Box::pin(async {
            self.db.engine().wait_seen_durable().await?;
            self.check_engine()
        })
    }

    /// Notes the end of a call for SHOW PROCESSLIST and SHOW WARNINGS.
    async fn after_statement<T>(&mut self, result: SqlResult<T>) -> SqlResult<T> {
        let result = match result {
            Err(error) => Err(Box::pin(self.failed(error)).await),
            done => done,
        };
        if let Err(error) = &result {
            self.state.warnings.push(crate::expr::WarningLevel::Error, error.clone());
            self.state.set_row_count(-1);
            if !self.interrupt.is_connection_killed() {
                self.interrupt.clear_query();
            }
        }
        let now_us = self.db.registry().now_us();
        measured::end(self, now_us, result.is_err());
        if now_us.saturating_sub(self.entry.since_us()) > self.settings.long_query_us {
            log::note_slow(self, now_us, result.is_ok());
        }
        self.entry.set_command(Command::Sleep, now_us);
        self.entry.show(|shown| shown.text = None);
        if let Some(open) = &mut self.open {
            open.txn.order().rest();
        }
        result
    }

    /// The account it runs under.
    pub(crate) fn own_account(&self) -> AccountName {
        self.state.identity.lock().account.clone()
    }

    /// The current database.
    pub(crate) fn current_schema(&self) -> Option<Arc<str>> {
        self.state.schema()
    }

    /// The implicit commit before statements that change definitions.
    pub(crate) async fn end_transaction(&mut self) -> SqlResult<()> {
        transaction::commit(self).await
    }

    /// Gives it all rights, whatever the accounts are: for statements of the server's own configuration
    /// (`init_file`).
    pub fn act_for_the_server(&mut self) {
        self.state.identity.lock().is_server = true;
        self.rights = KnownRights::default();
    }

    /// Runs the statements of a text, whatever the client may send, and shows nobody what they return
    /// (`init_connect`, `init_file`). The first that fails ends it.
    pub async fn run_script(&mut self, text: &[u8]) -> Result<(), SqlError> {
        let allowed = std::mem::replace(&mut self.multi_statements, true);
        let result = self.query(text, &mut crate::sink::Unseen).await;
        self.multi_statements = allowed;
        result
    }

    /// COM_INIT_DB.
    pub async fn use_db(&mut self, name: &str) -> Result<(), SqlError> {
        log::log_command(self, "Init DB", name.as_bytes());
        self.use_schema(name)
    }

    fn use_schema(&mut self, name: &str) -> SqlResult<()> {
        if name.is_empty() {
            return Err(SqlError::no_database_selected());
        }
        rights::ask_for_schema(self, name)?;
        let known = crate::virtual_table::VirtualTable::is_schema(name);
        if !known && self.db.dictionary().schema_collation(name).is_none() {
            return Err(SqlError::unknown_database(name));
        }
        self.state.set_schema(Some(name.into()));
        self.entry.show(|shown| shown.names.set_database(name));
        self.db.registry().renamed();
        Ok(())
    }

    /// COM_FIELD_LIST: the columns of a table of the current database.
    pub async fn field_list(&mut self, table: &str) -> Result<Vec<ColumnMeta>, SqlError> {
        let schema = self.state.schema().ok_or_else(SqlError::no_database_selected)?;
        rights::ask_for_fields(self, &schema, table)?;
        let table = match self.names().named(&schema, table)? {
            Named::Table(table) => table,
            Named::View(view) => return Ok(show::fields_of_view(&view)),
        };
        let column = |(at, column): (usize, &crate::dictionary::Column)| ColumnMeta {
            traits: crate::mixing::Traits::of(&column.kind),
            schema: table.definition.schema.clone(),
            table: table.definition.name.clone(),
            org_table: table.definition.name.clone(),
            name: column.name.clone(),
            org_name: column.name.clone(),
            origin: crate::sink::Origin::Column,
            column_type: column.kind.clone(),
            flags: crate::plan::column_flags(&table, at),
            packet: KeptPacket::default(),
        };
        Ok(table.named_columns().iter().enumerate().map(column).collect())
    }

    /// Whether several statements in one text are allowed (COM_SET_OPTION).
    pub fn set_multi_statements(&mut self, allowed: bool) {
        self.multi_statements = allowed;
    }

    /// Rolls back the open transaction. The owner calls it before it drops the session; dropping alone hands
    /// the transaction to the engine's background rollback.
    pub async fn finish(&mut self) {
        // A failed rollback is the engine's to repair at its next start; the session is gone either way.
        let _ = transaction::rollback(self).await;
        log::log_command(self, "Quit", b"");
        (self.table_locks, self.global_read_lock) = (None, None);
        ddl::forget_temporary(self);
        self.state.user_locks().lock().release_all();
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        ddl::forget_temporary(self);
        self.state.user_locks().lock().release_all();
        self.db.registry().leave(self.entry.id);
    }
}
