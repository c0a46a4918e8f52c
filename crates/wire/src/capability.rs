//! Capability and status flags, command numbers and column types of the protocol.

/// Capabilities that client and server agree on in the handshake.
pub mod client {
    /// Long passwords; always set.
    pub const LONG_PASSWORD: u32 = 1;
    /// Affected rows are the rows found, not the rows changed.
    pub const FOUND_ROWS: u32 = 1 << 1;
    /// All column flags.
    pub const LONG_FLAG: u32 = 1 << 2;
    /// The handshake names a database.
    pub const CONNECT_WITH_DB: u32 = 1 << 3;
    /// LOAD DATA LOCAL.
    pub const LOCAL_FILES: u32 = 1 << 7;
    /// Spaces after function names.
    pub const IGNORE_SPACE: u32 = 1 << 8;
    /// The 4.1 protocol; required.
    pub const PROTOCOL_41: u32 = 1 << 9;
    /// The client is a person at a terminal.
    pub const INTERACTIVE: u32 = 1 << 10;
    /// TLS follows.
    pub const SSL: u32 = 1 << 11;
    /// Status flags know transactions.
    pub const TRANSACTIONS: u32 = 1 << 13;
    /// The 4.1 scramble; required.
    pub const SECURE_CONNECTION: u32 = 1 << 15;
    /// Several statements in one COM_QUERY.
    pub const MULTI_STATEMENTS: u32 = 1 << 16;
    /// Several results of one COM_QUERY.
    pub const MULTI_RESULTS: u32 = 1 << 17;
    /// Several results of one COM_STMT_EXECUTE.
    pub const PS_MULTI_RESULTS: u32 = 1 << 18;
    /// Authentication plugins by name.
    pub const PLUGIN_AUTH: u32 = 1 << 19;
    /// Connection attributes follow.
    pub const CONNECT_ATTRS: u32 = 1 << 20;
    /// The scramble's length is length-encoded.
    pub const PLUGIN_AUTH_LENENC: u32 = 1 << 21;
    /// The client understands expired passwords.
    pub const CAN_HANDLE_EXPIRED_PASSWORDS: u32 = 1 << 22;
    /// OK packets carry session state changes.
    pub const SESSION_TRACK: u32 = 1 << 23;
    /// OK in place of EOF.
    pub const DEPRECATE_EOF: u32 = 1 << 24;
}

/// Status flags of OK and EOF packets.
pub mod status {
    /// A transaction is open.
    pub const IN_TRANS: u16 = 1;
    /// Autocommit is on.
    pub const AUTOCOMMIT: u16 = 2;
    /// Another result follows.
    pub const MORE_RESULTS: u16 = 8;
    /// A cursor is open: rows are fetched.
    pub const CURSOR_EXISTS: u16 = 1 << 6;
    /// The cursor has no more rows, and is closed.
    pub const LAST_ROW_SENT: u16 = 1 << 7;
    /// The open transaction is read only.
    pub const IN_TRANS_READONLY: u16 = 1 << 13;
}

/// Commands: the first byte of what a client sends.
pub mod com {
    /// Goodbye.
    pub const QUIT: u8 = 0x01;
    /// Use a database.
    pub const INIT_DB: u8 = 0x02;
    /// A statement as text.
    pub const QUERY: u8 = 0x03;
    /// Columns of a table.
    pub const FIELD_LIST: u8 = 0x04;
    /// FLUSH, by bits.
    pub const REFRESH: u8 = 0x07;
    /// End the server.
    pub const SHUTDOWN: u8 = 0x08;
    /// A line of statistics.
    pub const STATISTICS: u8 = 0x09;
    /// Kill a connection.
    pub const PROCESS_KILL: u8 = 0x0c;
    /// Write debug information to the log.
    pub const DEBUG: u8 = 0x0d;
    /// Are you there?
    pub const PING: u8 = 0x0e;
    /// Become another user.
    pub const CHANGE_USER: u8 = 0x11;
    /// Prepare a statement.
    pub const STMT_PREPARE: u8 = 0x16;
    /// Execute a prepared statement.
    pub const STMT_EXECUTE: u8 = 0x17;
    /// A piece of a long parameter.
    pub const STMT_SEND_LONG_DATA: u8 = 0x18;
    /// Forget a prepared statement.
    pub const STMT_CLOSE: u8 = 0x19;
    /// Forget its long data.
    pub const STMT_RESET: u8 = 0x1a;
    /// Multi-statements on or off.
    pub const SET_OPTION: u8 = 0x1b;
    /// Rows of a cursor.
    pub const STMT_FETCH: u8 = 0x1c;
    /// Session as new.
    pub const RESET_CONNECTION: u8 = 0x1f;
}
