//! A session begins, becomes another account's, and ends.

use std::collections::HashMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use turnstile_engine::interrupt::Interrupt;

use super::{Identity, Session, SessionState, ddl, finish, log, set, transaction};
use crate::accounts::{AccountName, Accounts, KnownRights};
use crate::database::Database;
use crate::dictionary::TemporaryTables;
use crate::error::{SqlError, SqlResult};
use crate::registry::{Names, Shown};
use crate::session::accounts::role_statements;
use crate::session::known::KnownThings;
use crate::session::measured::Measured;
use crate::template::Scan;

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

impl Session {
    /// Begins a session. Fails if its database does not exist or its account may not use it.
    pub fn new(db: Arc<Database>, init: SessionInit) -> Result<Session, SqlError> {
        let interrupt = Arc::new(Interrupt::new());
        let names = Names::new(&init.user, &init.host, None);
        let shown = Shown { names, account: init.account.clone(), ..Shown::default() };
        let entry = db.registry().enter(init.connection_id, interrupt.clone(), shown);
        let who = identity(&init, db.accounts());
        let state =
            SessionState::new(db.catalog().clone(), entry.clone(), who, init.found_rows, interrupt.clone());
        let state = Arc::new(state);
        let mut session = Session {
            settings: state.settings(),
            measured: Measured::new(db.registry().digests().is_on()),
            db,
            state,
            entry,
            interrupt,
            open: None,
            table_locks: None,
            global_read_lock: None,
            defining: Vec::new(),
            temporary: TemporaryTables::default(),
            gone_trees: Vec::new(),
            next_txn: transaction::NextTxn::default(),
            prepared: FxHashMap::default(),
            named: HashMap::new(),
            next_prepared: 1,
            multi_statements: init.multi_statements,
            gave_up: false,
            parked: None,
            finishing: finish::Finish::default(),
            info_buffer: String::new(),
            scan: Scan::default(),
            rights: KnownRights::default(),
            known: KnownThings::default(),
        };
        session.begin_as(&init)?;
        log::log_connect(&session);
        Ok(session)
    }

    pub(super) fn begin_as(&mut self, init: &SessionInit) -> SqlResult<()> {
        set::set_collation(self, init.collation);
        self.multi_statements = init.multi_statements;
        self.state.set_found_rows_flag(init.found_rows);
        self.state.set_schema(None);
        self.settings_changed();
        role_statements::activate_at_login(self);
        match &init.database {
            Some(name) if !name.is_empty() => self.use_schema(name),
            _ => Ok(()),
        }
    }

    /// COM_RESET_CONNECTION: rolls back and forgets everything but the connection.
    pub async fn reset(&mut self) -> Result<(), SqlError> {
        transaction::rollback(self).await?;
        (self.table_locks, self.global_read_lock) = (None, None);
        ddl::forget_temporary(self);
        self.state.user_locks().lock().release_all();
        self.state.reset();
        self.settings_changed();
        self.next_txn = transaction::NextTxn::default();
        self.gave_up = false;
        self.prepared.clear();
        self.named.clear();
        Ok(())
    }

    /// COM_CHANGE_USER, after the server has authenticated the new user: as [`Session::reset`], under a new
    /// name.
    pub async fn change_user(&mut self, init: SessionInit) -> Result<(), SqlError> {
        self.reset().await?;
        *self.state.identity.lock() = identity(&init, self.db.accounts());
        self.rights = KnownRights::default();
        self.entry.show(|shown| {
            shown.names = Names::new(&init.user, &init.host, None);
            shown.account = init.account.clone();
        });
        self.db.registry().renamed();
        self.begin_as(&init)?;
        log::log_connect(self);
        Ok(())
    }

    /// Bytes went over the network.
    pub fn transferred(&self, received: u64, sent: u64) {
        self.entry.counts.bytes_received.add(received);
        self.entry.counts.bytes_sent.add(sent);
    }
}

pub(super) fn identity(init: &SessionInit, accounts: &Accounts) -> Identity {
    let host = init.host.rsplit_once(':').map_or(&*init.host, |(host, _)| host);
    let account = init.account.clone();
    let account_id = accounts.find(&account).map(|account| account.id).unwrap_or_default();
    Identity { user: format!("{}@{host}", init.user), account, account_id, ..Identity::default() }
}
