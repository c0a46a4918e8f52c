//! The whole answer to a statement as the protocol carries it: columns with their types, rows, counts,
//! warnings, errors with SQLSTATE. [`crate::client::Client::query`] keeps values only; who compares servers
//! wants all of it.

use crate::client::{Client, ClientError, lenenc};

/// A column as its definition packet describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The name of the column in the result.
    pub name: String,
    /// Number of the character set; 63 is binary.
    pub charset: u16,
    /// Display length in bytes.
    pub length: u32,
    /// The protocol's type byte.
    pub kind: u8,
    /// Bits of the column's flags.
    pub flags: u16,
    /// Digits behind the point; 31 where there is no fixed number of them.
    pub decimals: u8,
}

/// Rows of values; None is NULL.
pub type Rows = Vec<Vec<Option<Vec<u8>>>>;

/// The answer to one statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// A result with rows.
    Rows {
        /// The columns, in order.
        columns: Vec<Column>,
        /// The rows, in the order in which they came.
        rows: Rows,
        /// How many warnings the server counted.
        warnings: u16,
    },
    /// No result.
    Ok {
        /// Rows affected.
        affected: u64,
        /// The first number that AUTO_INCREMENT gave, or 0.
        id: u64,
        /// How many warnings the server counted.
        warnings: u16,
        /// Records, Duplicates and the like, as text.
        info: String,
    },
    /// The statement failed.
    Error {
        /// MySQL's number.
        code: u16,
        /// SQLSTATE.
        state: String,
        /// The message.
        message: String,
    },
}

const MALFORMED: ClientError = ClientError::Protocol("malformed answer");

impl Client {
    /// Runs one statement and gives its whole answer; an error packet is an answer too.
    ///
    /// # Errors
    /// When the connection fails or the server's bytes make no sense.
    pub fn ask(&mut self, text: &str) -> Result<Reply, ClientError> {
        self.send(text)?;
        let first = self.read_packet()?;
        match first.first() {
            Some(0) => ok(&first).ok_or(MALFORMED),
            Some(0xff) => error(&first).ok_or(MALFORMED),
            Some(0xfb) => Err(ClientError::Protocol("the server asks for a local file")),
            _ => {
                let count = lenenc(&first, 0).ok_or(MALFORMED)?.0;
                let mut columns = Vec::new();
                for _ in 0..count {
                    let packet = self.read_packet()?;
                    columns.push(column(&packet).ok_or(MALFORMED)?);
                }
                self.read_packet()?; // EOF behind the definitions
                self.result(columns)
            }
        }
    }

    fn result(&mut self, columns: Vec<Column>) -> Result<Reply, ClientError> {
        let mut rows = Vec::new();
        loop {
            let packet = self.read_packet()?;
            match packet.first() {
                Some(0xfe) if packet.len() < 9 => {
                    let warnings = packet.get(1..3).map_or(0, |b| u16::from_le_bytes([b[0], b[1]]));
                    return Ok(Reply::Rows { columns, rows, warnings });
                }
                Some(0xff) => return error(&packet).ok_or(MALFORMED),
                _ => rows.push(row(&packet, columns.len()).ok_or(MALFORMED)?),
            }
        }
    }
}

fn row(packet: &[u8], columns: usize) -> Option<Vec<Option<Vec<u8>>>> {
    let mut at = 0;
    let mut row = Vec::with_capacity(columns);
    for _ in 0..columns {
        if packet.get(at) == Some(&0xfb) {
            row.push(None);
            at += 1;
        } else {
            let (bytes, end) = string(packet, at)?;
            row.push(Some(bytes.to_vec()));
            at = end;
        }
    }
    Some(row)
}

fn string(packet: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let (len, start) = lenenc(packet, at)?;
    let end = start.checked_add(usize::try_from(len).ok()?)?;
    Some((packet.get(start..end)?, end))
}

fn column(packet: &[u8]) -> Option<Column> {
    let mut at = 0;
    let mut name = Vec::new();
    // Catalogue, schema, table, original table, name, original name.
    for part in 0..6 {
        let (bytes, end) = string(packet, at)?;
        if part == 4 {
            name = bytes.to_vec();
        }
        at = end;
    }
    let fixed = packet.get(at + 1..at + 11)?;
    Some(Column {
        name: String::from_utf8_lossy(&name).into_owned(),
        charset: u16::from_le_bytes([fixed[0], fixed[1]]),
        length: u32::from_le_bytes([fixed[2], fixed[3], fixed[4], fixed[5]]),
        kind: fixed[6],
        flags: u16::from_le_bytes([fixed[7], fixed[8]]),
        decimals: fixed[9],
    })
}

fn ok(packet: &[u8]) -> Option<Reply> {
    let (affected, at) = lenenc(packet, 1)?;
    let (id, at) = lenenc(packet, at)?;
    let warnings = packet.get(at + 2..at + 4).map_or(0, |b| u16::from_le_bytes([b[0], b[1]]));
    let info = packet.get(at + 4..).unwrap_or_default();
    Some(Reply::Ok { affected, id, warnings, info: String::from_utf8_lossy(info).into_owned() })
}

fn error(packet: &[u8]) -> Option<Reply> {
    let code = packet.get(1..3).map(|b| u16::from_le_bytes([b[0], b[1]]))?;
    let text = packet.get(3..)?;
    let (state, message) = match text.first() {
        Some(b'#') => (text.get(1..6)?, text.get(6..)?),
        _ => (&b"HY000"[..], text),
    };
    Some(Reply::Error {
        code,
        state: String::from_utf8_lossy(state).into_owned(),
        message: String::from_utf8_lossy(message).into_owned(),
    })
}
