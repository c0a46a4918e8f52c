//! A session's card: what its transactions write about themselves while they run, for people who look. It outlives each
//! transaction, so that beginning one costs no entry in a shared list: whoever looks walks the sessions and reads
//! their cards. Everything in it is written by the session alone, relaxed; a reader sees a picture that may be a moment old.

use crate::admission::Standing;
use std::sync::Arc;

/// One per session; handed to the engine with the options of each transaction.
#[derive(Debug, Default)]
pub struct SessionCard {
    connection: u64,
    standing: Arc<Standing>,
}

impl SessionCard {
    /// The card of a connection. Number 0 is nobody's: an embedding program, or work of the server's own.
    pub fn new(connection: u64) -> Self {
        SessionCard { connection, standing: Standing::new() }
    }

    /// The connection's number (the thread id of InnoDB's views).
    pub fn connection(&self) -> u64 {
        self.connection
    }

    /// Where the session stands with the admission gate.
    pub fn standing(&self) -> &Arc<Standing> {
        &self.standing
    }
}
