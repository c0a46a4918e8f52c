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
use turnstile_scheduler::Readiness;
use turnstile_session::collation::Collation;
use turnstile_session::error::SqlError;
use turnstile_session::session::Session;
use turnstile_session::sink::ResultSink;
use turnstile_session::variables::SessionSettings;
use turnstile_sys::relief;
use turnstile_wire::capability::client;
use turnstile_wire::command::{Command, parse};
use turnstile_wire::handshake;
use turnstile_wire::result::message_bytes;
use turnstile_wire::write::{put_err, put_ok};

use crate::log;
use crate::peer::Peer;
use crate::shared::Shared;
use crate::sink::WireSink;
use crate::stream::{LONG_COPY_BYTES, ReadError, Stream};

mod login;
mod prepared;
mod rare;

use login::enter;
use prepared::StatementState;

/// Longest message before authentication: nobody needs more to log in.
const LOGIN_BYTES_MAX: usize = 64 << 10;

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
                    return self.part(&SqlError::packet_too_large()).await;
                }
                Err(ReadError::TooMuch(error)) => return self.part(&error).await,
                Err(ReadError::TooSlow) => return self.part(&SqlError::net_read_interrupted()).await,
                Err(ReadError::OutOfOrder) => {
                    return self.part(&SqlError::packets_out_of_order()).await;
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
                    self.write_error(&SqlError::malformed_packet());
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

    /// The client's next message, unless somebody ends the connection first. A transaction that must not wait
    /// for it any longer is rolled back meanwhile.
    async fn next_message(&mut self, message: &mut Vec<u8>) -> Result<(), ReadError> {
        while !self.message_or_alarm(message).await? {
            Box::pin(self.session.give_up()).await;
        }
        Ok(())
    }

    /// Waits for the client's next message. False: nothing of it has come, and the open transaction must be
    /// rolled back now.
    async fn message_or_alarm(&mut self, message: &mut Vec<u8>) -> Result<bool, ReadError> {
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
                return Poll::Ready(done.map(|()| true));
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
            if !within && session.must_give_up() {
                return Poll::Ready(Ok(false));
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
