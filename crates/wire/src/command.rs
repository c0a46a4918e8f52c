//! What a client sends after the handshake: one command a message.

use super::capability::com;
use super::read::{Cursor, Malformed};

/// A decoded command. Borrowed from the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command<'a> {
    /// Goodbye.
    Quit,
    /// Use this database.
    InitDb(&'a [u8]),
    /// One or more statements as text.
    Query(&'a [u8]),
    /// Columns of a table that match a pattern.
    FieldList {
        /// Table name.
        table: &'a [u8],
        /// Column name pattern.
        wildcard: &'a [u8],
    },
    /// FLUSH, by bits.
    Refresh(u8),
    /// End the server.
    Shutdown,
    /// A line of statistics.
    Statistics,
    /// Kill a connection.
    ProcessKill(u32),
    /// Debug information to the log.
    Debug,
    /// Are you there?
    Ping,
    /// Become another user; see `handshake::parse_change_user`.
    ChangeUser(&'a [u8]),
    /// Prepare a statement.
    Prepare(&'a [u8]),
    /// Execute a prepared statement.
    Execute {
        /// Its number.
        statement: u32,
        /// Cursor flags.
        flags: u8,
        /// Null bitmap, types and values: decoded when the number of parameters is known.
        parameters: &'a [u8],
    },
    /// A piece of a long parameter.
    LongData {
        /// Statement number.
        statement: u32,
        /// Which parameter.
        parameter: u16,
        /// The piece.
        data: &'a [u8],
    },
    /// Forget a prepared statement. Not answered.
    Close(u32),
    /// Forget its long data and cursor.
    Reset(u32),
    /// Multi-statements on (0) or off (1).
    SetOption(u16),
    /// Rows of a cursor.
    Fetch {
        /// Statement number.
        statement: u32,
        /// How many rows.
        rows: u32,
    },
    /// Session as new.
    ResetConnection,
    /// A command this server does not have.
    Unknown(u8),
}

/// Decodes one message.
///
/// # Errors
/// [`Malformed`] when it is empty or too short for its command.
pub fn parse(message: &[u8]) -> Result<Command<'_>, Malformed> {
    let mut cursor = Cursor::new(message);
    let number = cursor.u8()?;
    Ok(match number {
        com::QUIT => Command::Quit,
        com::INIT_DB => Command::InitDb(cursor.rest()),
        com::QUERY => Command::Query(cursor.rest()),
        com::FIELD_LIST => Command::FieldList { table: cursor.nul_bytes()?, wildcard: cursor.rest() },
        com::REFRESH => Command::Refresh(cursor.u8()?),
        com::SHUTDOWN => Command::Shutdown,
        com::STATISTICS => Command::Statistics,
        com::PROCESS_KILL => Command::ProcessKill(cursor.u32()?),
        com::DEBUG => Command::Debug,
        com::PING => Command::Ping,
        com::CHANGE_USER => Command::ChangeUser(cursor.rest()),
        com::STMT_PREPARE => Command::Prepare(cursor.rest()),
        com::STMT_EXECUTE => {
            let statement = cursor.u32()?;
            let flags = cursor.u8()?;
            cursor.u32()?; // iteration count, always 1
            Command::Execute { statement, flags, parameters: cursor.rest() }
        }
        com::STMT_SEND_LONG_DATA => {
            Command::LongData { statement: cursor.u32()?, parameter: cursor.u16()?, data: cursor.rest() }
        }
        com::STMT_CLOSE => Command::Close(cursor.u32()?),
        com::STMT_RESET => Command::Reset(cursor.u32()?),
        com::SET_OPTION => Command::SetOption(cursor.u16()?),
        com::STMT_FETCH => Command::Fetch { statement: cursor.u32()?, rows: cursor.u32()? },
        com::RESET_CONNECTION => Command::ResetConnection,
        other => Command::Unknown(other),
    })
}
