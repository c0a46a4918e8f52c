//! Commands that are neither a statement nor an execution. Many of them are statements in few bytes.

use turnstile_session::error::SqlError;
use turnstile_wire::command::Command;
use turnstile_wire::handshake;
use turnstile_wire::result::put_column;

use super::Connection;
use super::login::{check_sessions_of_account, session_init};
use super::prepared::unknown_statement;
use crate::auth;
use crate::sink::WireSink;

impl Connection {
    pub(super) async fn rare_command(&mut self, command: Command<'_>) -> Result<(), SqlError> {
        match command {
            // A server that runs no statement is not alive to who asks that.
            Command::Ping => {
                self.session.check_engine()?;
                self.ok();
            }
            Command::Debug => {
                self.session.may_debug()?;
                self.end_of_data();
            }
            Command::InitDb(name) => {
                let name = std::str::from_utf8(name).map_err(|_| SqlError::malformed_packet())?;
                self.session.use_db(name).await?;
                self.ok();
            }
            Command::Prepare(text) => self.prepare(text).await?,
            Command::Reset(statement) => {
                let known = self.session.param_count(statement).is_some();
                let state = self.statements.get_mut(&statement).filter(|_| known);
                let state = state.ok_or_else(|| unknown_statement(statement))?;
                state.reset();
                self.ok();
            }
            Command::SetOption(option @ (0 | 1)) => {
                self.session.set_multi_statements(option == 0);
                self.end_of_data();
            }
            Command::FieldList { table, .. } => self.field_list(table).await?,
            Command::Statistics => {
                let text = self.shared.statistics_line();
                self.stream.writer.begin().extend_from_slice(text.as_bytes());
                self.stream.writer.end();
            }
            Command::ProcessKill(id) => self.in_words(&format!("KILL {id}")).await?,
            Command::Refresh(bits) => self.in_words(&refresh_statement(bits)).await?,
            Command::Shutdown => self.in_words("SHUTDOWN").await?,
            Command::ResetConnection => {
                self.session.reset().await?;
                self.statements.clear();
                self.ok();
            }
            Command::ChangeUser(payload) => self.change_user(payload).await?,
            Command::Fetch { statement, rows } => self.fetch(statement, rows)?,
            _ => return Err(SqlError::unknown_command()),
        }
        Ok(())
    }

    /// A command that is a statement in few bytes.
    async fn in_words(&mut self, statement: &str) -> Result<(), SqlError> {
        let status = self.session.status_flags();
        let mut sink = WireSink::new(&mut self.stream, false, false, status, self.session.settings().results);
        self.session.query(statement.as_bytes(), &mut sink).await
    }

    async fn field_list(&mut self, table: &[u8]) -> Result<(), SqlError> {
        let table = std::str::from_utf8(table).map_err(|_| SqlError::malformed_packet())?;
        for column in self.session.field_list(table).await? {
            let out = self.stream.writer.begin();
            put_column(out, &column, self.session.settings().results);
            // COM_FIELD_LIST appends each column's default; unknown here, so NULL.
            out.push(0xfb);
            self.stream.writer.end();
        }
        self.end_of_data();
        Ok(())
    }

    async fn change_user(&mut self, payload: &[u8]) -> Result<(), SqlError> {
        let mut response = handshake::parse_change_user(payload, self.capabilities)
            .map_err(|_| SqlError::malformed_packet())?;
        response.capabilities = self.capabilities;
        let decided =
            auth::authenticate(&mut self.stream, &self.shared, &self.peer, &response, &mut self.scramble)
                .await;
        let account = match decided {
            Ok(Ok(account)) => account,
            Ok(Err(error)) => {
                // A failed change ends the connection, as in MySQL: the old identity is gone.
                self.session.interrupt().kill_connection();
                return Err(error);
            }
            Err(_) => {
                self.session.interrupt().kill_connection();
                return Err(SqlError::malformed_packet());
            }
        };
        self.statements.clear();
        let init = session_init(self.session.id(), &self.peer, &response, account);
        self.session.change_user(init).await?;
        if let Err(error) = check_sessions_of_account(&self.shared, &self.session, &response.user) {
            self.session.interrupt().kill_connection();
            return Err(error);
        }
        self.ok();
        Ok(())
    }
}

/// The statement COM_REFRESH stands for. Bits of what this server does not have (threads' cache, replication)
/// ask for nothing.
fn refresh_statement(bits: u8) -> String {
    let names = [(1, "PRIVILEGES"), (2, "LOGS"), (4, "TABLES"), (8, "HOSTS"), (16, "STATUS")];
    let asked: Vec<&str> = names.iter().filter(|(bit, _)| bits & bit != 0).map(|(_, name)| *name).collect();
    if asked.is_empty() { "DO 0".into() } else { format!("FLUSH {}", asked.join(", ")) }
}
