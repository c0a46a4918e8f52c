//! One connection's life: greeting, TLS, authentication, then commands until the client leaves.
//!
//! This is the code every `thread_handling` runs: a future that waits for its client (or, inside the session,
//! where the engine waits) and owns no thread. Every answer goes through the stream's output buffer and is
//! sent once, when the command is done.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use rustc_hash::FxHashMap;
use turnstile_engine::interrupt::Interrupt;
use turnstile_session::collation::Collation;
use turnstile_session::error::SqlError;
use turnstile_session::memory::Charge;
use turnstile_session::session::{Session, SessionInit};
use turnstile_session::sink::{ColumnMeta, ResultSink};
use turnstile_session::value::Value;
use turnstile_session::variables::SessionSettings;
use turnstile_sys::relief;

use crate::auth;
use crate::cursor::{self, CursorSink, OpenCursor};
use crate::deadline::within;
use crate::log;
use crate::peer::Peer;
use crate::shared::Shared;
use crate::sink::WireSink;
use crate::stream::{LONG_COPY_BYTES, ReadError, Stream};
use turnstile_scheduler::{Interruptible, Readiness};
use turnstile_wire::capability::{client, status};
use turnstile_wire::command::{Command, parse};
use turnstile_wire::handshake::{self, First, OFFERED, Response};
use turnstile_wire::result::{
    ParameterType, WrongParameter, decode_parameters, message_bytes, parse_parameters, put_column,
};
use turnstile_wire::write::{put_eof, put_err, put_ok};

/// Longest message before authentication: nobody needs more to log in.
const LOGIN_BYTES_MAX: usize = 64 << 10;
/// Default authentication plugin of new accounts, named in the greeting.
const DEFAULT_PLUGIN: &str = "caching_sha2_password";

/// What the connection remembers of a prepared statement.
#[derive(Default)]
struct StatementState {
    types: Vec<ParameterType>,
    long_data: Vec<Option<Vec<u8>>>,
    long_bytes: usize,
    /// What the long data holds of the session's memory.
    charge: Charge,
    /// Long data that could not be kept: told at the next execution, since COM_STMT_SEND_LONG_DATA has no
    /// answer.
    failed: Option<SqlError>,
    cursor: Option<OpenCursor>,
}

/// How long a client may take to read the error that ends its connection.
const FAREWELL: Duration = Duration::from_secs(5);

/// How a connection came to its end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// The client said so.
    Quit,
    /// It went away, or somebody ended it.
    Gone,
    /// It was told why, and may still be sending.
    Told,
}

/// A connection's number, and the door it came in by.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Connection id.
    pub id: u64,
    /// It came through `extra_port`.
    pub extra: bool,
}

/// Whether the connection goes on after a command.
#[derive(PartialEq, Eq)]
enum Next {
    Command,
    Close,
}

/// A client that has been let in.
struct Connection {
    stream: Stream,
    readiness: Arc<Readiness>,
    shared: Arc<Shared>,
    session: Session,
    /// The variables that the stream's patience was taken from.
    settings: Option<Arc<SessionSettings>>,
    peer: Peer,
    capabilities: u32,
    scramble: [u8; handshake::SCRAMBLE_BYTES],
    /// By the ids that the session gave them, so nobody else chooses the keys.
    statements: FxHashMap<u32, StatementState>,
    /// `max_allowed_packet` as it stood when the client came: SET GLOBAL is for connections to come.
    packet_bytes_max: usize,
}

/// Serves one client until it leaves. Errors of the socket end it silently: there is nobody to tell.
pub async fn serve(
    stream: Stream,
    readiness: Arc<Readiness>,
    shared: Arc<Shared>,
    peer: Peer,
    arrival: Arrival,
) {
    // In a box: a session lives for hours with the room that its login took for milliseconds.
    let entered = Box::pin(enter(stream, readiness, shared, peer, arrival)).await;
    if let Some(connection) = entered {
        connection.live().await;
    }
}

/// A session whose client has gone is ended, whatever it waits for.
#[derive(Debug)]
struct KillWhenGone(Arc<Interrupt>);

impl Interruptible for KillWhenGone {
    fn client_gone(&self) {
        self.0.kill_connection();
    }
}

/// Lets a client in, if it proves who it is in time.
async fn enter(
    mut stream: Stream,
    readiness: Arc<Readiness>,
    shared: Arc<Shared>,
    peer: Peer,
    arrival: Arrival,
) -> Option<Box<Connection>> {
    let mut scramble = [0; handshake::SCRAMBLE_BYTES];
    auth::fill_scramble(&mut scramble);
    let patience = Duration::from_secs(shared.limit("connect_timeout"));
    match within(patience, log_in(&mut stream, &shared, &peer, arrival, &mut scramble)).await {
        Some(Ok(Some((session, capabilities)))) => {
            stream.interrupt = Some(session.interrupt().clone());
            stream.keep_account(&session);
            readiness.interrupt_on_hangup(Arc::new(KillWhenGone(session.interrupt().clone())));
            let packet_bytes_max = shared.limit("max_allowed_packet") as usize;
            Some(Box::new(Connection {
                stream,
                readiness,
                shared,
                session,
                settings: None,
                peer,
                capabilities,
                scramble,
                statements: FxHashMap::default(),
                packet_bytes_max,
            }))
        }
        None => {
            shared.database.status().refused();
            None
        }
        Some(_) => {
            shared.database.status().refused();
            let _ = stream.flush().await;
            None
        }
    }
}

async fn log_in(
    stream: &mut Stream,
    shared: &Arc<Shared>,
    peer: &Peer,
    arrival: Arrival,
    scramble: &mut [u8; handshake::SCRAMBLE_BYTES],
) -> Result<Option<(Session, u32)>, ReadError> {
    if let Some(error) = shared.refusal(arrival.extra, true) {
        write_error(stream, &error);
        return Ok(None);
    }
    let offered = OFFERED | if shared.keys.tls.is_some() { client::SSL } else { 0 };
    let greeting = handshake::Greeting {
        version: turnstile_session::version::VERSION,
        connection_id: arrival.id as u32,
        scramble,
        capabilities: offered,
        collation: 255,
        status: status::AUTOCOMMIT,
        plugin: DEFAULT_PLUGIN,
    };
    handshake::put_greeting(stream.writer.begin(), &greeting);
    stream.writer.end();
    stream.flush().await?;
    let mut message = Vec::new();
    stream.read_packet(&mut message, LOGIN_BYTES_MAX).await?;
    let mut first = handshake::parse_first(&message);
    if let (Ok(First::Tls), Some(config)) = (&first, &shared.keys.tls) {
        stream.start_tls(config.clone())?;
        stream.read_packet(&mut message, LOGIN_BYTES_MAX).await?;
        first = handshake::parse_first(&message);
    }
    let Ok(First::Response(response)) = first else {
        write_error(stream, &SqlError::new(1043, b"08S01", "Bad handshake"));
        return Ok(None);
    };
    let capabilities = response.capabilities & offered;
    if shared.limit("require_secure_transport") != 0 && !stream.is_tls() && !peer.is_local_socket {
        write_error(stream, &SqlError::insecure_transport());
        return Ok(None);
    }
    let opened = match auth::authenticate(stream, shared, peer, &response, scramble).await? {
        Ok(account) => open_session(shared, peer, &response, account, arrival),
        Err(error) => Err(error),
    };
    match opened {
        Ok(session) => {
            put_ok(stream.writer.begin(), 0, 0, 0, session.status_flags(), 0, "");
            stream.writer.end();
            stream.flush().await?;
            Ok(Some((session, capabilities)))
        }
        Err(error) => {
            write_error_in(stream, &error, Collation::by_id(u16::from(response.collation)));
            Ok(None)
        }
    }
}

/// Begins the session of a client that has proved who it is, if there is room for it.
fn open_session(
    shared: &Arc<Shared>,
    peer: &Peer,
    response: &Response,
    account: turnstile_session::accounts::AccountName,
    arrival: Arrival,
) -> Result<Session, SqlError> {
    let init = session_init(arrival.id, peer, response, account);
    let mut session = Session::new(shared.database.clone(), init)?;
    if !session.may_exceed_connections()
        && let Some(error) = shared.refusal(arrival.extra, false)
    {
        return Err(error);
    }
    check_sessions_of_account(shared, &session, &response.user)?;
    if response.capabilities & client::INTERACTIVE != 0 {
        session.set_interactive();
    }
    Ok(session)
}

/// Whether there is room for one more session of its account, itself counted already.
fn check_sessions_of_account(shared: &Shared, session: &Session, user: &str) -> Result<(), SqlError> {
    let own = session.own_connections_max();
    if own > 0 && session.sessions_of_account() > own {
        return Err(SqlError::user_limit_reached(user, "max_user_connections", own));
    }
    let most = shared.limit("max_user_connections");
    if own == 0 && most > 0 && session.sessions_of_account() > most {
        return Err(SqlError::too_many_user_connections(user));
    }
    Ok(())
}

fn session_init(
    id: u64,
    peer: &Peer,
    response: &Response,
    account: turnstile_session::accounts::AccountName,
) -> SessionInit {
    SessionInit {
        connection_id: id,
        user: response.user.clone(),
        host: peer.shown.clone(),
        account,
        database: response.database.clone(),
        collation: u16::from(response.collation),
        found_rows: response.capabilities & client::FOUND_ROWS != 0,
        multi_statements: response.capabilities & client::MULTI_STATEMENTS != 0,
    }
}

/// Writes an error packet for a client that has not said in which character set it reads texts.
pub fn write_error(stream: &mut Stream, error: &SqlError) {
    write_error_in(stream, error, None);
}

/// Writes an error packet with its text in the set of `results`.
fn write_error_in(stream: &mut Stream, error: &SqlError, results: Option<Collation>) {
    let message = message_bytes(&error.message, results);
    put_err(stream.writer.begin(), error.code, &error.sqlstate, &message);
    stream.writer.end();
}

impl Connection {
    /// From login to the end. The client may vanish at any point; the session is finished all the same.
    async fn live(mut self: Box<Self>) {
        let end = match Box::pin(self.run_init_connect()).await {
            Ok(()) => {
                self.follow_settings();
                self.run().await.unwrap_or(End::Gone)
            }
            Err(error) => self.part(&error).await.unwrap_or(End::Gone),
        };
        self.publish_traffic();
        if end != End::Quit {
            self.shared.database.status().client_aborted();
        }
        self.session.finish().await;
        if end == End::Told {
            self.stream.close_gently(FAREWELL).await;
        }
    }

    /// Runs `init_connect`, for all but administrators. If it fails the client is told so in answer to its
    /// first command.
    async fn run_init_connect(&mut self) -> Result<(), SqlError> {
        let turnstile_session::value::Value::Str(text) = self.shared.database.globals().named("init_connect")
        else {
            return Ok(());
        };
        if text.trim().is_empty() || self.session.may_exceed_connections() {
            return Ok(());
        }
        let Err(error) = self.session.run_script(text.as_bytes()).await else { return Ok(()) };
        let (id, user) = (self.session.id(), self.session.user_name());
        let place = format!("connection {id} user: '{user}' host: '{}'", self.peer.host);
        log::warning(&format!("init_connect failed for {place}: {} {}", error.code, error.message));
        // Whatever the first command is, this is its answer.
        let _ = self.next_message(&mut Vec::new()).await;
        Err(SqlError::new_aborting_connection(id, user, &self.peer.host, "init_connect command failed"))
    }

    async fn run(&mut self) -> io::Result<End> {
        let mut message = Vec::new();
        loop {
            match self.next_message(&mut message).await {
                Ok(()) => {}
                Err(ReadError::TooLarge) => {
                    let text = "Got a packet bigger than 'max_allowed_packet' bytes";
                    return self.part(&SqlError::new(1153, b"08S01", text)).await;
                }
                Err(ReadError::TooMuch(error)) => return self.part(&error).await,
                Err(ReadError::TooSlow) => return self.part(&SqlError::net_read_interrupted()).await,
                Err(ReadError::OutOfOrder) => {
                    return self.part(&SqlError::new(1156, b"08S01", "Got packets out of order")).await;
                }
                Err(ReadError::Closed) if self.session.was_ended_for_idleness() => {
                    self.stream.writer.sequence = 0;
                    self.part(&SqlError::client_interaction_timeout()).await?;
                    // It has sent nothing, so there is nothing to wait for.
                    return Ok(End::Gone);
                }
                Err(ReadError::Closed) => return Ok(End::Gone),
                Err(ReadError::Io(error)) => return Err(error),
            }
            self.publish_traffic();
            let next = match parse(&message) {
                Ok(command) => self.command(command).await,
                Err(_) => {
                    self.write_error(&malformed());
                    Next::Command
                }
            };
            self.stream.flush().await?;
            self.readiness.go_first(self.session.goes_first());
            self.follow_settings();
            if next == Next::Close {
                return Ok(End::Quit);
            }
            if self.session.is_killed() {
                return Ok(End::Gone);
            }
            if message.capacity() > LOGIN_BYTES_MAX {
                if message.capacity() >= LONG_COPY_BYTES {
                    relief::ahead();
                }
                message = Vec::new();
            }
        }
    }

    /// Tells the client why the connection ends.
    async fn part(&mut self, error: &SqlError) -> io::Result<End> {
        self.write_error(error);
        self.stream.flush().await?;
        Ok(End::Told)
    }

    /// Takes the stream's patience from the session's variables when these have changed.
    fn follow_settings(&mut self) {
        let settings = self.session.settings();
        if self.settings.as_ref().is_some_and(|known| Arc::ptr_eq(known, settings)) {
            return;
        }
        self.stream.read_patience = Duration::from_secs(settings.net_read_timeout_s);
        self.stream.write_patience = Duration::from_secs(settings.net_write_timeout_s);
        self.settings = Some(settings.clone());
    }

    /// Has what went over the socket counted.
    fn publish_traffic(&mut self) {
        let (received, sent) = self.stream.take_traffic();
        self.session.transferred(received, sent);
    }

    /// The client's next message, unless somebody ends the connection first.
    async fn next_message(&mut self, message: &mut Vec<u8>) -> Result<(), ReadError> {
        let len_max = self.packet_bytes_max;
        let (session, readiness) = (&self.session, &self.readiness);
        let interrupt = session.interrupt();
        let mut read = pin!(self.stream.read_packet(message, len_max));
        let mut within = false;
        let done = poll_fn(|context| {
            if interrupt.is_connection_killed() {
                return Poll::Ready(Err(ReadError::Closed));
            }
            if let Poll::Ready(done) = read.as_mut().poll(context) {
                return Poll::Ready(done);
            }
            if readiness.is_within_message() && !within {
                within = true;
                session.set_idle(false);
            }
            while interrupt.poll_killed(context).is_ready() {
                if interrupt.is_connection_killed() {
                    return Poll::Ready(Err(ReadError::Closed));
                }
                // KILL QUERY of a session that runs none has no effect.
                interrupt.clear_query();
            }
            Poll::Pending
        })
        .await;
        if within {
            session.set_idle(true);
        }
        done
    }

    async fn command(&mut self, command: Command<'_>) -> Next {
        let done = match command {
            Command::Query(text) if self.session.settings().client_set.is_some() => {
                Box::pin(self.in_own_words(text)).await
            }
            Command::Query(text) => {
                turnstile_sys::trail!();
                let mut sink = WireSink::new(
                    &mut self.stream,
                    false,
                    self.capabilities & client::DEPRECATE_EOF != 0,
                    self.session.status_flags(),
                    self.session.settings().results,
                );
                self.session.query(text, &mut sink).await
            }
            Command::Execute { statement, flags, parameters } => {
                self.execute(statement, flags, parameters).await
            }
            Command::Quit => return Next::Close,
            Command::Close(statement) => {
                self.statements.remove(&statement);
                self.session.close(statement);
                return Next::Command;
            }
            Command::LongData { statement, parameter, data } => {
                self.keep_long_data(statement, parameter, data);
                return Next::Command;
            }
            // The rare ones live in a box so that an idle session's future stays small.
            other => {
                let done = Box::pin(self.rare_command(other)).await;
                self.session.set_idle(true);
                done
            }
        };
        if let Err(error) = done {
            self.write_error(&error);
        }
        Next::Command
    }

    /// Writes an error packet with its text in `character_set_results`.
    fn write_error(&mut self, error: &SqlError) {
        write_error_in(&mut self.stream, error, self.session.settings().results);
    }

    async fn rare_command(&mut self, command: Command<'_>) -> Result<(), SqlError> {
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
                let name = std::str::from_utf8(name).map_err(|_| malformed())?;
                self.session.use_db(name).await?;
                self.ok();
            }
            Command::Prepare(text) => self.prepare(text).await?,
            Command::Reset(statement) => {
                let known = self.session.param_count(statement).is_some();
                let state = self.statements.get_mut(&statement).filter(|_| known);
                let state = state.ok_or_else(|| unknown_statement(statement))?;
                state.long_data.clear();
                state.long_bytes = 0;
                state.charge.clear();
                state.failed = None;
                state.cursor = None;
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
            _ => return Err(SqlError::new(1047, b"08S01", "Unknown command")),
        }
        Ok(())
    }

    /// A command that is a statement in few bytes.
    async fn in_words(&mut self, statement: &str) -> Result<(), SqlError> {
        let status = self.session.status_flags();
        let mut sink = WireSink::new(&mut self.stream, false, false, status, self.session.settings().results);
        self.session.query(statement.as_bytes(), &mut sink).await
    }

    /// A statement of a client that speaks another character set than UTF-8.
    async fn in_own_words(&mut self, text: &[u8]) -> Result<(), SqlError> {
        let decoded = self.session.settings().client_set.map(|set| set.decode_statement(text));
        let text = decoded.as_ref().map_or(text, |text| text.as_bytes());
        let mut sink = WireSink::new(
            &mut self.stream,
            false,
            self.capabilities & client::DEPRECATE_EOF != 0,
            self.session.status_flags(),
            self.session.settings().results,
        );
        self.session.query(text, &mut sink).await
    }

    async fn prepare(&mut self, text: &[u8]) -> Result<(), SqlError> {
        let decoded = self.session.settings().client_set.map(|set| set.decode_statement(text));
        let text = decoded.as_ref().map_or(text, |text| text.as_bytes());
        let prepared = self.session.prepare(text).await?;
        let state = StatementState { charge: self.session.charge(), ..StatementState::default() };
        self.statements.insert(prepared.id, state);
        let out = self.stream.writer.begin();
        out.push(0);
        out.extend_from_slice(&prepared.id.to_le_bytes());
        out.extend_from_slice(&(prepared.columns.len() as u16).to_le_bytes());
        out.extend_from_slice(&(prepared.params.len() as u16).to_le_bytes());
        out.push(0);
        out.extend_from_slice(&prepared.warnings.to_le_bytes());
        self.stream.writer.end();
        self.definitions(&prepared.params);
        self.definitions(&prepared.columns);
        Ok(())
    }

    /// Column definitions and, for clients that expect it, the EOF behind them.
    fn definitions(&mut self, columns: &[ColumnMeta]) {
        if columns.is_empty() {
            return;
        }
        for column in columns {
            put_column(self.stream.writer.begin(), column, self.session.settings().results);
            self.stream.writer.end();
        }
        if self.capabilities & client::DEPRECATE_EOF == 0 {
            put_eof(self.stream.writer.begin(), self.session.status_flags(), 0);
            self.stream.writer.end();
        }
    }

    async fn execute(&mut self, id: u32, flags: u8, parameters: &[u8]) -> Result<(), SqlError> {
        let count = self.session.param_count(id);
        let (Some(count), Some(state)) = (count, self.statements.get_mut(&id)) else {
            return Err(unknown_statement(id));
        };
        if let Some(error) = state.failed.take() {
            return Err(error);
        }
        let mut values =
            parse_parameters(parameters, count, &mut state.types, &state.long_data).map_err(|wrong| {
                match wrong {
                    WrongParameter::Malformed => malformed(),
                    WrongParameter::OutOfRange(kind) => {
                        SqlError::value_out_of_range(kind, "set_parameter_value")
                    }
                }
            })?;
        if let Some(set) = self.session.settings().client_set {
            decode_parameters(&mut values, &state.types, set);
        }
        state.long_data.clear();
        state.long_bytes = 0;
        state.charge.clear();
        state.cursor = None;
        if cursor::is_asked_for(flags) {
            return Box::pin(self.execute_for_cursor(id, &values)).await;
        }
        let deprecate_eof = self.capabilities & client::DEPRECATE_EOF != 0;
        let mut sink = WireSink::new(
            &mut self.stream,
            true,
            deprecate_eof,
            self.session.status_flags(),
            self.session.settings().results,
        );
        self.session.execute(id, &values, &mut sink).await
    }

    async fn execute_for_cursor(&mut self, id: u32, values: &[Value]) -> Result<(), SqlError> {
        let deprecate_eof = self.capabilities & client::DEPRECATE_EOF != 0;
        let results = self.session.settings().results;
        let mut sink = CursorSink::new(&mut self.stream, deprecate_eof, results, self.session.charge());
        self.session.execute(id, values, &mut sink).await?;
        let opened = sink.opened();
        if let Some(state) = self.statements.get_mut(&id) {
            state.cursor = opened;
        }
        Ok(())
    }

    /// COM_STMT_FETCH. A cursor that has no more rows is closed.
    fn fetch(&mut self, id: u32, rows: u32) -> Result<(), SqlError> {
        self.session.begin_fetch(id, rows)?;
        let state = self.statements.get_mut(&id);
        let state = state.ok_or_else(|| unknown_statement(id))?;
        let no_cursor = || SqlError::new(1421, b"HY000", format!("The statement ({id}) has no open cursor."));
        let through = state.cursor.as_mut().ok_or_else(no_cursor)?.send(rows, &mut self.stream)?;
        let of_cursor = if through { status::LAST_ROW_SENT } else { status::CURSOR_EXISTS };
        if through {
            state.cursor = None;
        }
        let deprecate_eof = self.capabilities & client::DEPRECATE_EOF != 0;
        cursor::end(&mut self.stream, deprecate_eof, 0, self.session.status_flags() | of_cursor);
        Ok(())
    }

    fn keep_long_data(&mut self, id: u32, parameter: u16, data: &[u8]) {
        let (Some(count), Some(state)) = (self.session.param_count(id), self.statements.get_mut(&id)) else {
            return;
        };
        let nth = usize::from(parameter);
        if nth >= count {
            state.failed = Some(malformed());
        } else if state.long_bytes + data.len() > self.packet_bytes_max {
            let text = "Parameter of prepared statement which is set through mysql_send_long_data() is longer than \
                        'max_allowed_packet' bytes";
            state.failed = Some(SqlError::new(1105, b"HY000", text));
        } else if let Err(error) = state.charge.add(data.len()) {
            state.failed = Some(error);
        } else {
            state.long_data.resize(state.long_data.len().max(nth + 1), None);
            state.long_data[nth].get_or_insert_with(Vec::new).extend_from_slice(data);
            state.long_bytes += data.len();
        }
    }

    async fn field_list(&mut self, table: &[u8]) -> Result<(), SqlError> {
        let table = std::str::from_utf8(table).map_err(|_| malformed())?;
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
        let mut response =
            handshake::parse_change_user(payload, self.capabilities).map_err(|_| malformed())?;
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
                return Err(malformed());
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

    fn ok(&mut self) {
        put_ok(self.stream.writer.begin(), 0, 0, 0, self.session.status_flags(), 0, "");
        self.stream.writer.end();
    }

    fn end_of_data(&mut self) {
        let status = self.session.status_flags();
        let deprecate_eof = self.capabilities & client::DEPRECATE_EOF != 0;
        WireSink::new(&mut self.stream, false, deprecate_eof, status, None).end(0, status);
    }
}

fn malformed() -> SqlError {
    SqlError::new(1835, b"HY000", "Malformed communication packet.")
}

fn unknown_statement(id: u32) -> SqlError {
    let text = format!("Unknown prepared statement handler ({id}) given to mysql_stmt_precheck");
    SqlError::new(1243, b"HY000", text)
}

/// The statement COM_REFRESH stands for. Bits of what this server does not have (threads' cache, replication)
/// ask for nothing.
fn refresh_statement(bits: u8) -> String {
    let names = [(1, "PRIVILEGES"), (2, "LOGS"), (4, "TABLES"), (8, "HOSTS"), (16, "STATUS")];
    let asked: Vec<&str> = names.iter().filter(|(bit, _)| bits & bit != 0).map(|(_, name)| *name).collect();
    if asked.is_empty() { "DO 0".into() } else { format!("FLUSH {}", asked.join(", ")) }
}
