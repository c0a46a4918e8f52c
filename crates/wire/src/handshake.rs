//! The first packets of a connection: the server's greeting, the client's response, a TLS request before it.

use super::capability::client;
use super::read::{Cursor, Malformed};

/// Bytes of the scramble both sides mix into the password.
pub const SCRAMBLE_BYTES: usize = 20;

/// What the server offers; TLS is added when there is a certificate.
pub const OFFERED: u32 = client::LONG_PASSWORD
    | client::FOUND_ROWS
    | client::LONG_FLAG
    | client::CONNECT_WITH_DB
    | client::IGNORE_SPACE
    | client::PROTOCOL_41
    | client::INTERACTIVE
    | client::TRANSACTIONS
    | client::SECURE_CONNECTION
    | client::MULTI_STATEMENTS
    | client::MULTI_RESULTS
    | client::PS_MULTI_RESULTS
    | client::PLUGIN_AUTH
    | client::CONNECT_ATTRS
    | client::PLUGIN_AUTH_LENENC
    | client::DEPRECATE_EOF;

/// What the server says first.
#[derive(Clone, Copy, Debug)]
pub struct Greeting<'a> {
    /// Version of the server.
    pub version: &'a str,
    /// Number of the connection.
    pub connection_id: u32,
    /// Random bytes for the password's proof.
    pub scramble: &'a [u8; SCRAMBLE_BYTES],
    /// What is offered.
    pub capabilities: u32,
    /// Number of the server's collation.
    pub collation: u8,
    /// Status flags.
    pub status: u16,
    /// Authentication plugin of new accounts.
    pub plugin: &'a str,
}

/// Appends the greeting (protocol 10).
pub fn put_greeting(out: &mut Vec<u8>, greeting: &Greeting<'_>) {
    let Greeting { version, connection_id, scramble, capabilities, collation, status, plugin } = *greeting;
    out.push(10);
    out.extend_from_slice(version.as_bytes());
    out.push(0);
    out.extend_from_slice(&connection_id.to_le_bytes());
    out.extend_from_slice(&scramble[..8]);
    out.push(0);
    out.extend_from_slice(&(capabilities as u16).to_le_bytes());
    out.push(collation);
    out.extend_from_slice(&status.to_le_bytes());
    out.extend_from_slice(&((capabilities >> 16) as u16).to_le_bytes());
    out.push(SCRAMBLE_BYTES as u8 + 1);
    out.extend_from_slice(&[0; 10]);
    out.extend_from_slice(&scramble[8..]);
    out.push(0);
    out.extend_from_slice(plugin.as_bytes());
    out.push(0);
}

/// What the client answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Response {
    /// Its capabilities.
    pub capabilities: u32,
    /// Largest packet it wants to get; informative.
    pub packet_len_max: u32,
    /// Its character set, as a collation number.
    pub collation: u8,
    /// Account name.
    pub user: String,
    /// Answer to the scramble.
    pub auth: Vec<u8>,
    /// Database to use.
    pub database: Option<String>,
    /// Plugin its answer is for.
    pub plugin: Option<String>,
    /// Connection attributes.
    pub attributes: Vec<(String, String)>,
}

/// The client's first packet: a request for TLS, or the response itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum First {
    /// Continue under TLS; the response follows there.
    Tls,
    /// The response.
    Response(Response),
}

/// Decodes the client's first packet.
///
/// # Errors
/// [`Malformed`] also for clients older than protocol 4.1.
pub fn parse_first(payload: &[u8]) -> Result<First, Malformed> {
    let mut cursor = Cursor::new(payload);
    let capabilities = cursor.u32()?;
    if capabilities & client::PROTOCOL_41 == 0 {
        return Err(Malformed);
    }
    let packet_len_max = cursor.u32()?;
    let collation = cursor.u8()?;
    cursor.bytes(23)?;
    if capabilities & client::SSL != 0 && cursor.is_empty() {
        return Ok(First::Tls);
    }
    let user = text(cursor.nul_bytes()?)?;
    let auth = auth_bytes(&mut cursor, capabilities)?;
    let mut response =
        Response { capabilities, packet_len_max, collation, user, auth, ..Response::default() };
    if capabilities & client::CONNECT_WITH_DB != 0 && !cursor.is_empty() {
        let name = text(until_nul_or_end(&mut cursor)?)?;
        response.database = (!name.is_empty()).then_some(name);
    }
    if capabilities & client::PLUGIN_AUTH != 0 && !cursor.is_empty() {
        response.plugin = Some(text(until_nul_or_end(&mut cursor)?)?);
    }
    if capabilities & client::CONNECT_ATTRS != 0 && !cursor.is_empty() {
        response.attributes = attributes(&mut cursor)?;
    }
    Ok(First::Response(response))
}

/// A COM_CHANGE_USER payload after its command byte.
///
/// # Errors
/// [`Malformed`].
pub fn parse_change_user(payload: &[u8], capabilities: u32) -> Result<Response, Malformed> {
    let mut cursor = Cursor::new(payload);
    let user = text(cursor.nul_bytes()?)?;
    let len = usize::from(cursor.u8()?);
    let auth = cursor.bytes(len)?.to_vec();
    let database = text(until_nul_or_end(&mut cursor)?)?;
    let mut response = Response { capabilities, user, auth, ..Response::default() };
    response.database = (!database.is_empty()).then_some(database);
    if !cursor.is_empty() {
        response.collation = cursor.u16()? as u8;
    }
    if capabilities & client::PLUGIN_AUTH != 0 && !cursor.is_empty() {
        response.plugin = Some(text(until_nul_or_end(&mut cursor)?)?);
    }
    if capabilities & client::CONNECT_ATTRS != 0 && !cursor.is_empty() {
        response.attributes = attributes(&mut cursor)?;
    }
    Ok(response)
}

fn auth_bytes(cursor: &mut Cursor<'_>, capabilities: u32) -> Result<Vec<u8>, Malformed> {
    if capabilities & client::PLUGIN_AUTH_LENENC != 0 {
        return Ok(cursor.lenenc_bytes()?.to_vec());
    }
    if capabilities & client::SECURE_CONNECTION != 0 {
        let len = usize::from(cursor.u8()?);
        return Ok(cursor.bytes(len)?.to_vec());
    }
    Ok(cursor.nul_bytes()?.to_vec())
}

/// Some clients leave out the last zero byte.
fn until_nul_or_end<'a>(cursor: &mut Cursor<'a>) -> Result<&'a [u8], Malformed> {
    if cursor.rest().contains(&0) { cursor.nul_bytes() } else { cursor.bytes(cursor.rest().len()) }
}

fn attributes(cursor: &mut Cursor<'_>) -> Result<Vec<(String, String)>, Malformed> {
    let mut inner = Cursor::new(cursor.lenenc_bytes()?);
    let mut found = Vec::new();
    while !inner.is_empty() {
        let key = String::from_utf8_lossy(inner.lenenc_bytes()?).into_owned();
        let value = String::from_utf8_lossy(inner.lenenc_bytes()?).into_owned();
        found.push((key, value));
    }
    Ok(found)
}

fn text(bytes: &[u8]) -> Result<String, Malformed> {
    String::from_utf8(bytes.to_vec()).map_err(|_| Malformed)
}
