//! A small blocking client: set-up, checks and questions of the laboratory. Loads are driven by
//! [`crate::clients`], which opens its connections through this one.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use crate::skim::Skim;

/// Where a server is and who we are there.
#[derive(Clone, PartialEq, Eq)]
pub struct Target {
    /// Host name or address.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// Account.
    pub user: String,
    /// Its password; only `mysql_native_password` accounts may have one.
    pub password: String,
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

impl std::fmt::Debug for Target {
    /// Without the password, wherever it is printed.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let secret = if self.password.is_empty() { "" } else { ":***" };
        write!(f, "mysql://{}{secret}@{self}", self.user)
    }
}

impl Target {
    /// Parses `mysql://user[:password]@host:port`.
    pub fn parse(text: &str) -> Option<Target> {
        let rest = text.strip_prefix("mysql://")?;
        let (account, place) = rest.rsplit_once('@').unwrap_or(("root", rest));
        let (user, password) = account.split_once(':').unwrap_or((account, ""));
        let place = place.trim_end_matches('/');
        let (host, port) = place.rsplit_once(':').unwrap_or((place, "3306"));
        Some(Target {
            host: host.into(),
            port: port.parse().ok()?,
            user: user.into(),
            password: password.into(),
        })
    }

    /// The account `root` without a password on this machine.
    pub fn local(port: u16) -> Target {
        Target { host: "127.0.0.1".into(), port, user: "root".into(), password: String::new() }
    }
}

/// An error packet, or trouble on the way.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The server said no.
    #[error("error {code}: {message}")]
    Server {
        /// MySQL's number.
        code: u16,
        /// Its text.
        message: String,
    },
    /// The connection failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The server's bytes make no sense, or it asks for something this client does not have.
    #[error("protocol: {0}")]
    Protocol(&'static str),
}

/// Answer to one statement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Affected rows, for statements without a result.
    pub affected: u64,
    /// Rows as text; NULL is None.
    pub rows: Vec<Vec<Option<String>>>,
}

/// A connection.
pub struct Client {
    socket: TcpStream,
    sequence: u8,
    target: Target,
}

const CAPABILITIES: u32 = 1 | 1 << 9 | 1 << 13 | 1 << 15 | 1 << 19;

impl ClientError {
    /// MySQL's number, if the server sent one.
    pub fn code(&self) -> Option<u16> {
        match self {
            ClientError::Server { code, .. } => Some(*code),
            _ => None,
        }
    }
}

impl Client {
    /// Connects and logs in.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub fn connect(target: &Target) -> Result<Client, ClientError> {
        let address = (target.host.as_str(), target.port).to_socket_addrs()?.next();
        let address = address.ok_or(ClientError::Protocol("the host has no address"))?;
        let socket = TcpStream::connect_timeout(&address, Duration::from_secs(30))?;
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(Duration::from_secs(120)))?;
        let mut client = Client { socket, sequence: 0, target: target.clone() };
        let greeting = client.read_packet()?;
        let (scramble, plugin) = parse_greeting(&greeting)?;
        let mut packet = CAPABILITIES.to_le_bytes().to_vec();
        packet.extend_from_slice(&(16u32 << 20).to_le_bytes());
        packet.push(45);
        packet.extend_from_slice(&[0; 23]);
        packet.extend_from_slice(target.user.as_bytes());
        packet.push(0);
        let answer = native_answer(&target.password, &scramble);
        packet.push(answer.len() as u8);
        packet.extend_from_slice(&answer);
        let plugin = if target.password.is_empty() { plugin } else { "mysql_native_password".into() };
        packet.extend_from_slice(plugin.as_bytes());
        packet.push(0);
        client.write_packet(&packet)?;
        loop {
            let reply = client.read_packet()?;
            match reply.first() {
                Some(0) => return Ok(client),
                Some(0xff) => return Err(server_error(&reply)),
                Some(0xfe) => {
                    // Another plugin and a new scramble; with an empty password the answer is empty for all
                    // of them.
                    let scramble: Vec<u8> = reply.iter().rev().skip(1).take(20).rev().copied().collect();
                    let answer = native_answer(&target.password, &scramble);
                    client.write_packet(&answer)?;
                }
                _ => return Err(ClientError::Protocol("unknown authentication step")),
            }
        }
    }

    /// Runs one statement.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub fn query(&mut self, text: &str) -> Result<Answer, ClientError> {
        self.send(text)?;
        self.receive()
    }

    /// Runs one statement and throws its answer away, whatever it is; it is read in pieces of `buffer`.
    ///
    /// # Errors
    /// When the connection fails.
    pub fn skim(&mut self, text: &str, buffer: &mut [u8]) -> Result<(), ClientError> {
        self.send(text)?;
        let mut skim = Skim::default();
        loop {
            match self.socket.read(buffer) {
                Ok(0) => return Err(ClientError::Protocol("the server closed the connection")),
                Ok(len) if skim.take(&buffer[..len]) => return Ok(()),
                Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error.into()),
                _ => {}
            }
        }
    }

    /// Sends one statement and does not wait for its answer.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub fn send(&mut self, text: &str) -> Result<(), ClientError> {
        self.command(3, text)
    }

    /// Sends several statements in one write, each a packet of its own, without waiting for an answer.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub fn send_at_once(&mut self, texts: &[&str]) -> Result<(), ClientError> {
        let message = |text: &&str| packet(&[&[3], text.as_bytes()].concat(), 0);
        Ok(self.socket.write_all(&texts.iter().flat_map(message).collect::<Vec<u8>>())?)
    }

    fn command(&mut self, command: u8, text: &str) -> Result<(), ClientError> {
        self.sequence = 0;
        let mut packet = vec![command];
        packet.extend_from_slice(text.as_bytes());
        Ok(self.write_packet(&packet)?)
    }

    /// Prepares a statement; the answer is its number on this connection.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub fn prepare(&mut self, text: &str) -> Result<u32, ClientError> {
        self.command(0x16, text)?;
        let reply = self.read_packet()?;
        if reply.first() == Some(&0xff) {
            return Err(server_error(&reply));
        }
        let bad = || ClientError::Protocol("answer to a prepare");
        let number = reply.get(1..5).and_then(|b| b.first_chunk::<4>()).ok_or_else(bad)?;
        let count = |at: usize| reply.get(at..at + 2).map(|b| u16::from_le_bytes([b[0], b[1]]));
        // Definitions of the columns, then of the parameters, an EOF behind each list that is not empty.
        for at in [7, 5] {
            let definitions = count(at).ok_or_else(bad)?;
            for _ in 0..definitions + u16::from(definitions > 0) {
                self.read_packet()?;
            }
        }
        Ok(u32::from_le_bytes(*number))
    }

    /// The answer to a statement that was sent.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub fn receive(&mut self) -> Result<Answer, ClientError> {
        let first = self.read_packet()?;
        match first.first() {
            Some(0) => Ok(Answer { affected: lenenc(&first, 1).map_or(0, |(n, _)| n), rows: Vec::new() }),
            Some(0xff) => Err(server_error(&first)),
            _ => {
                let columns = lenenc(&first, 0).ok_or(ClientError::Protocol("column count"))?.0 as usize;
                for _ in 0..=columns {
                    self.read_packet()?; // definitions and the EOF behind them
                }
                self.rows(columns)
            }
        }
    }

    fn rows(&mut self, columns: usize) -> Result<Answer, ClientError> {
        let mut rows = Vec::new();
        loop {
            let packet = self.read_packet()?;
            match packet.first() {
                Some(0xfe) if packet.len() < 9 => return Ok(Answer { affected: 0, rows }),
                Some(0xff) => return Err(server_error(&packet)),
                _ => {}
            }
            let mut at = 0;
            let mut row = Vec::with_capacity(columns);
            for _ in 0..columns {
                if packet.get(at) == Some(&0xfb) {
                    row.push(None);
                    at += 1;
                    continue;
                }
                let (len, start) = lenenc(&packet, at).ok_or(ClientError::Protocol("row"))?;
                let end = start + len as usize;
                let bytes = packet.get(start..end).ok_or(ClientError::Protocol("row"))?;
                row.push(Some(String::from_utf8_lossy(bytes).into_owned()));
                at = end;
            }
            rows.push(row);
        }
    }

    /// The first value of the first row as a number.
    ///
    /// # Errors
    /// Any [`ClientError`]; `Protocol` if there is no such number.
    pub fn number(&mut self, text: &str) -> Result<i64, ClientError> {
        let value = self.value(text, 0)?;
        value.and_then(|text| text.parse().ok()).ok_or(ClientError::Protocol("a number was expected"))
    }

    /// One column of the first row; None if there is no row or the value is NULL.
    ///
    /// # Errors
    /// Any [`ClientError`].
    pub fn value(&mut self, text: &str, column: usize) -> Result<Option<String>, ClientError> {
        let answer = self.query(text)?;
        Ok(answer.rows.first().and_then(|row| row.get(column)).cloned().flatten())
    }

    /// Where it is connected to.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Gives up the socket, for the clients.
    pub fn into_socket(self) -> TcpStream {
        self.socket
    }

    pub(crate) fn read_packet(&mut self) -> Result<Vec<u8>, ClientError> {
        let mut header = [0; 4];
        self.socket.read_exact(&mut header)?;
        let mut payload = vec![0; u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize];
        self.sequence = header[3].wrapping_add(1);
        self.socket.read_exact(&mut payload)?;
        Ok(payload)
    }

    fn write_packet(&mut self, payload: &[u8]) -> io::Result<()> {
        self.socket.write_all(&packet(payload, self.sequence))
    }
}

/// One packet with its header.
pub fn packet(payload: &[u8], sequence: u8) -> Vec<u8> {
    let mut bytes = (payload.len() as u32).to_le_bytes().to_vec();
    bytes[3] = sequence;
    bytes.extend_from_slice(payload);
    bytes
}

/// A length-encoded integer at `at`, and where it ends.
pub fn lenenc(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let little = |from: usize, len: usize| {
        let mut number = [0u8; 8];
        number[..len].copy_from_slice(bytes.get(from..from + len)?);
        Some(u64::from_le_bytes(number))
    };
    match *bytes.get(at)? {
        first @ 0..=0xfa => Some((u64::from(first), at + 1)),
        0xfc => Some((little(at + 1, 2)?, at + 3)),
        0xfd => Some((little(at + 1, 3)?, at + 4)),
        0xfe => Some((little(at + 1, 8)?, at + 9)),
        _ => None,
    }
}

/// An error packet's number and text.
pub fn server_error(packet: &[u8]) -> ClientError {
    let code = packet.get(1..3).map_or(0, |b| u16::from_le_bytes([b[0], b[1]]));
    let text = packet.get(3..).unwrap_or_default();
    let text = if text.first() == Some(&b'#') { text.get(6..).unwrap_or_default() } else { text };
    ClientError::Server { code, message: String::from_utf8_lossy(text).into_owned() }
}

fn parse_greeting(greeting: &[u8]) -> Result<(Vec<u8>, String), ClientError> {
    if greeting.first() == Some(&0xff) {
        return Err(server_error(greeting));
    }
    let bad = || ClientError::Protocol("greeting");
    let version_end = greeting.iter().position(|&b| b == 0).ok_or_else(bad)?;
    let rest = greeting.get(version_end + 5..).ok_or_else(bad)?;
    let mut scramble = rest.get(..8).ok_or_else(bad)?.to_vec();
    let tail = rest.get(27..).ok_or_else(bad)?;
    let tail_end = tail.iter().position(|&b| b == 0).ok_or_else(bad)?;
    scramble.extend_from_slice(&tail[..tail_end]);
    let plugin = tail.get(tail_end + 1..).unwrap_or_default();
    let plugin = String::from_utf8_lossy(plugin.split(|&b| b == 0).next().unwrap_or_default()).into_owned();
    Ok((scramble, plugin))
}

/// `SHA1(password) XOR SHA1(scramble ++ SHA1(SHA1(password)))`; nothing for an empty password.
fn native_answer(password: &str, scramble: &[u8]) -> Vec<u8> {
    use sha1::{Digest, Sha1};
    if password.is_empty() {
        return Vec::new();
    }
    let once = Sha1::digest(password.as_bytes());
    let twice = Sha1::digest(once);
    let mut mixed = Sha1::new();
    mixed.update(scramble);
    mixed.update(twice);
    once.iter().zip(mixed.finalize()).map(|(a, b)| a ^ b).collect()
}
