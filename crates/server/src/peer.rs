//! Who is at the other end of a connection.

/// Where a client comes from.
#[derive(Clone, Debug)]
pub struct Peer {
    /// Host for accounts: an address, or `localhost` for the Unix socket.
    pub host: String,
    /// What SHOW PROCESSLIST shows.
    pub shown: String,
    /// Through the loopback interface.
    pub is_loopback: bool,
    /// Over the Unix socket: as safe as TLS.
    pub is_local_socket: bool,
}
