//! A session: what one connection means to SQL. It is a plain value driven by its owner (the server, a test, an embedding
//! program) one call at a time; a call is a future that waits only where the engine waits, for a metadata gate, for a
//! slow client ([`crate::sink`]) or in SLEEP.
//!
//! Errors: a method that returns one has already rolled back what MySQL rolls back (the statement, or with 1213 the
//! transaction) and the session can go on, except after error 1317/1053 with [`Session::is_killed`].

use std::sync::Arc;

use turnstile_engine::interrupt::Interrupt;

use crate::accounts::AccountName;
use crate::database::Database;
use crate::error::SqlError;
use crate::registry::{Entry, Shown};
use crate::sink::{ColumnMeta, ResultSink, status_flag};
use crate::value::Value;

/// How a session begins; all of it known after authentication.
#[derive(Clone, Debug)]
pub struct SessionInit {
    /// From [`crate::registry::Registry::next_id`].
    pub connection_id: u64,
    /// The user name as the client sent it.
    pub user: String,
    /// Client's host, with port if it has one: what SHOW PROCESSLIST shows.
    pub host: String,
    /// The account that matched.
    pub account: AccountName,
    /// Database to begin in.
    pub database: Option<String>,
    /// Collation id the client asked for in its handshake.
    pub collation: u16,
    /// CLIENT_FOUND_ROWS: UPDATE reports matched rows in place of changed ones.
    pub found_rows: bool,
    /// CLIENT_MULTI_STATEMENTS: a text may hold several statements.
    pub multi_statements: bool,
}

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
    entry: Arc<Entry>,
    interrupt: Arc<Interrupt>,
    init: SessionInit,
}

impl Session {
    /// Begins a session. Fails if its database does not exist or its account may not use it.
    pub fn new(db: Arc<Database>, init: SessionInit) -> Result<Session, SqlError> {
        let interrupt = Arc::new(Interrupt::new());
        let shown = Shown {
            user: init.user.clone(),
            host: init.host.clone(),
            database: init.database.clone(),
            text: None,
        };
        let entry = db.registry().enter(init.connection_id, interrupt.clone(), shown);
        Ok(Session { db, entry, interrupt, init })
    }

    /// The database it belongs to.
    pub fn database(&self) -> &Arc<Database> {
        &self.db
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

    /// [`status_flag`] bits as they stand.
    pub fn status_flags(&self) -> u16 {
        status_flag::AUTOCOMMIT
    }

    /// Warnings of the last statement, for terminators the server writes itself.
    pub fn warning_count(&self) -> u16 {
        0
    }

    /// Runs a text: one statement, or several if the client may send several; each gives one result in `out`.
    pub async fn query(&mut self, text: &[u8], out: &mut dyn ResultSink) -> Result<(), SqlError> {
        let _ = (text, out, &self.init);
        Err(SqlError::not_supported_yet("statements"))
    }

    /// Prepares a statement.
    pub async fn prepare(&mut self, text: &[u8]) -> Result<Prepared, SqlError> {
        let _ = text;
        Err(SqlError::not_supported_yet("prepared statements"))
    }

    /// Runs a prepared statement; as many `params` as it has `?`.
    pub async fn execute(
        &mut self,
        id: u32,
        params: &[Value],
        out: &mut dyn ResultSink,
    ) -> Result<(), SqlError> {
        let _ = (id, params, out);
        Err(SqlError::not_supported_yet("prepared statements"))
    }

    /// How many parameters a prepared statement has; None if there is no such statement.
    pub fn param_count(&self, id: u32) -> Option<usize> {
        let _ = id;
        None
    }

    /// Forgets a prepared statement.
    pub fn close(&mut self, id: u32) {
        let _ = id;
    }

    /// COM_INIT_DB.
    pub async fn use_db(&mut self, name: &str) -> Result<(), SqlError> {
        let _ = name;
        Err(SqlError::not_supported_yet("USE"))
    }

    /// COM_FIELD_LIST: the columns of a table of the current database.
    pub async fn field_list(&mut self, table: &str) -> Result<Vec<ColumnMeta>, SqlError> {
        let _ = table;
        Err(SqlError::not_supported_yet("field list"))
    }

    /// COM_RESET_CONNECTION: rolls back and forgets everything but the connection.
    pub async fn reset(&mut self) -> Result<(), SqlError> {
        Ok(())
    }

    /// COM_CHANGE_USER, after the server has authenticated the new user: as [`Session::reset`], under a new name.
    pub async fn change_user(&mut self, init: SessionInit) -> Result<(), SqlError> {
        self.reset().await?;
        self.init = init;
        Ok(())
    }

    /// Whether several statements in one text are allowed (COM_SET_OPTION).
    pub fn set_multi_statements(&mut self, allowed: bool) {
        self.init.multi_statements = allowed;
    }

    /// Rolls back the open transaction. The owner calls it before it drops the session; dropping alone hands the
    /// transaction to the engine's background rollback.
    pub async fn finish(&mut self) {}
}

impl Drop for Session {
    fn drop(&mut self) {
        self.db.registry().leave(self.entry.id);
    }
}
