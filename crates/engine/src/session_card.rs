//! A session's card: what its transactions write about themselves while they run, for people who look. It outlives each
//! transaction, so that beginning one costs no entry in a shared list: whoever looks walks the sessions and reads
//! their cards. Everything in it is written by the session alone, relaxed; a reader sees a picture that may be a moment old.

use crate::admission::Standing;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// One per session; handed to the engine with the options of each transaction.
#[derive(Debug, Default)]
pub struct SessionCard {
    connection: u64,
    standing: Arc<Standing>,
    began_us: AtomicU64,
}

impl SessionCard {
    /// The card of a connection. Number 0 is nobody's: an embedding program, or work of the server's own.
    pub fn new(connection: u64) -> Self {
        SessionCard { connection, standing: Standing::new(), began_us: AtomicU64::new(0) }
    }

    /// The connection's number (the thread id of InnoDB's views).
    pub fn connection(&self) -> u64 {
        self.connection
    }

    /// Where the session stands with the admission gate.
    pub fn standing(&self) -> &Arc<Standing> {
        &self.standing
    }

    /// Notes when the session's transaction began, on the clock of whoever runs sessions, in microseconds.
    pub fn note_begin(&self, now_us: u64) {
        self.began_us.store(now_us, Ordering::Relaxed);
    }

    /// When its present or last transaction began.
    pub fn began_us(&self) -> u64 {
        self.began_us.load(Ordering::Relaxed)
    }
}
