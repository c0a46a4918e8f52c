//! Authentication: who the client is, proved by its answer to the scramble.
//!
//! Two plugins. `mysql_native_password` proves knowledge of a SHA-1 double hash. `caching_sha2_password` has
//! a fast path against a hash that is in memory since the account's last full login, and a full path in which
//! the client sends the password itself: over TLS or the Unix socket as it is, else encrypted for the
//! server's key ([`PasswordKey`](crate::password_key::PasswordKey)).
//!
//! Who guesses names learns nothing: for a name without an account a stand-in goes through the same exchange,
//! with the same work, to the same error.

use std::sync::Arc;

use turnstile_session::accounts::{Account, AccountName, Plugin};
use turnstile_session::error::SqlError;

use crate::peer::Peer;
use crate::shared::Shared;
use crate::stream::{ReadError, Stream};
use turnstile_wire::handshake::{Response, SCRAMBLE_BYTES};

/// Longest answer of a client while it authenticates.
const ANSWER_BYTES_MAX: usize = 4096;
/// First byte of a request to use another plugin.
const SWITCH: u8 = 0xfe;
/// First byte of a plugin's own message.
const MORE_DATA: u8 = 0x01;
/// `caching_sha2_password`: the fast path was enough.
const FAST_OK: u8 = 0x03;
/// `caching_sha2_password`: send the password.
const FULL: u8 = 0x04;
/// `caching_sha2_password`: the client's whole message when it asks for the public key.
const WANTS_KEY: u8 = 0x02;

/// Fills the scramble with random bytes from 1 to 127: clients treat it as text.
pub fn fill_scramble(scramble: &mut [u8; SCRAMBLE_BYTES]) {
    // The kernel's generator only fails for flags it does not know.
    let _ = rustix::rand::getrandom(&mut scramble[..], rustix::rand::GetRandomFlags::empty());
    for byte in scramble {
        *byte = *byte % 127 + 1;
    }
}

/// Decides whether the client may enter. The outer error is the socket's, the inner one the client's.
///
/// # Errors
/// [`ReadError`] when the client vanishes or breaks the protocol in between.
pub async fn authenticate(
    stream: &mut Stream,
    shared: &Arc<Shared>,
    peer: &Peer,
    response: &Response,
    scramble: &mut [u8; SCRAMBLE_BYTES],
) -> Result<Result<AccountName, SqlError>, ReadError> {
    let accounts = shared.database.accounts();
    let account = accounts.authenticate(&response.user, &peer.host);
    // Loopback is `localhost` too, for accounts that are named so.
    let account = account
        .or_else(|| if peer.is_loopback { accounts.authenticate(&response.user, "localhost") } else { None });
    let is_known = account.is_some();
    let account = account.unwrap_or_else(|| accounts.stand_in(&response.user));
    let plugin = account.plugin;
    let mut answer = response.auth.clone();
    if response.plugin.as_deref() != Some(plugin.name()) {
        fill_scramble(scramble);
        let out = stream.writer.begin();
        out.push(SWITCH);
        out.extend_from_slice(plugin.name().as_bytes());
        out.push(0);
        out.extend_from_slice(&scramble[..]);
        out.push(0);
        stream.writer.end();
        stream.flush().await?;
        stream.read_packet(&mut answer, ANSWER_BYTES_MAX).await?;
    }
    // An empty password is answered by nothing, or by a lone zero byte.
    let is_empty = answer.is_empty() || answer == [0];
    let safe = stream.is_tls() || peer.is_local_socket;
    let verdict = match plugin {
        _ if is_empty => account.is_open(),
        Plugin::Native => account.check_native(&scramble[..], &answer),
        Plugin::CachingSha2 => sha2(stream, shared, &account, &answer, scramble, safe).await?,
    };
    // As it is now: while the client thought about its answer it may have been locked, or dropped and made
    // again.
    let account = accounts.find(&account.name).filter(|now| is_known && now.id == account.id);
    let verdict = account.filter(|_| verdict);
    let denied = || {
        let used = if is_empty { "NO" } else { "YES" };
        SqlError::access_denied(&response.user, &peer.host, used)
    };
    let Some(account) = verdict else { return Ok(Err(denied())) };
    Ok(if account.locked {
        Err(SqlError::account_locked(&response.user, &peer.host))
    } else if account.expired {
        Err(SqlError::password_expired())
    } else if safe || !account.require_tls {
        Ok(account.name.clone())
    } else {
        Err(denied())
    })
}

async fn sha2(
    stream: &mut Stream,
    shared: &Shared,
    account: &Account,
    answer: &[u8],
    scramble: &[u8; SCRAMBLE_BYTES],
    safe: bool,
) -> Result<bool, ReadError> {
    // Another password than the cached one is no verdict: the full path decides, in case it was changed
    // meanwhile.
    if account.check_sha2_fast(&scramble[..], answer) == Some(true) {
        plugin_message(stream, FAST_OK);
        return Ok(true);
    }
    plugin_message(stream, FULL);
    stream.flush().await?;
    let mut message = Vec::new();
    stream.read_packet(&mut message, ANSWER_BYTES_MAX).await?;
    let password = if safe {
        if message.last() == Some(&0) {
            message.pop();
        }
        Some(message)
    } else {
        encrypted_password(stream, shared, message, scramble).await?
    };
    // What cannot be read takes as long as a wrong password, and so does one for an account that has none.
    let accounts = shared.database.accounts();
    Ok(match password {
        Some(password) if !account.is_open() => account.check_clear(&password),
        other => {
            let guess = other.filter(|password| !password.is_empty());
            accounts.waste_time_on(guess.as_deref().unwrap_or(b"nothing"));
            false
        }
    })
}

/// The password of a client without TLS; None if it cannot be read. What comes here in clear is never taken
/// for one.
async fn encrypted_password(
    stream: &mut Stream,
    shared: &Shared,
    mut message: Vec<u8>,
    scramble: &[u8; SCRAMBLE_BYTES],
) -> Result<Option<Vec<u8>>, ReadError> {
    let Some(key) = &shared.keys.password else { return Ok(None) };
    if message == [WANTS_KEY] {
        let out = stream.writer.begin();
        out.push(MORE_DATA);
        out.extend_from_slice(key.public().as_bytes());
        stream.writer.end();
        stream.flush().await?;
        stream.read_packet(&mut message, ANSWER_BYTES_MAX).await?;
    }
    Ok(key.password(&message, scramble))
}

fn plugin_message(stream: &mut Stream, message: u8) {
    stream.writer.begin().extend_from_slice(&[MORE_DATA, message]);
    stream.writer.end();
}
