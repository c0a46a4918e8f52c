//! From the greeting to a session: TLS, authentication, and whether there is room for one more.

use std::sync::Arc;
use std::time::Duration;

use rustc_hash::FxHashMap;
use turnstile_engine::interrupt::Interrupt;
use turnstile_scheduler::{Interruptible, Readiness};
use turnstile_session::accounts::AccountName;
use turnstile_session::collation::Collation;
use turnstile_session::error::SqlError;
use turnstile_session::session::{Session, SessionInit};
use turnstile_wire::capability::{client, status};
use turnstile_wire::handshake::{self, First, OFFERED, Response};
use turnstile_wire::write::put_ok;

use super::{Arrival, Connection, LOGIN_BYTES_MAX, write_error, write_error_in};
use crate::auth;
use crate::deadline::within;
use crate::peer::Peer;
use crate::shared::Shared;
use crate::stream::{ReadError, Stream};

/// Default authentication plugin of new accounts, named in the greeting.
const DEFAULT_PLUGIN: &str = "caching_sha2_password";

/// A session whose client has gone is ended, whatever it waits for.
#[derive(Debug)]
struct KillWhenGone(Arc<Interrupt>);

impl Interruptible for KillWhenGone {
    fn client_gone(&self) {
        self.0.kill_connection();
    }
}

/// Lets a client in, if it proves who it is in time.
pub(super) async fn enter(
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
        write_error(stream, &SqlError::handshake_error());
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
    account: AccountName,
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
pub(super) fn check_sessions_of_account(
    shared: &Shared,
    session: &Session,
    user: &str,
) -> Result<(), SqlError> {
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

pub(super) fn session_init(id: u64, peer: &Peer, response: &Response, account: AccountName) -> SessionInit {
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
