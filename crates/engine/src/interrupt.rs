//! A session's interrupt: a kill reaches the session wherever it waits.

use std::sync::atomic::{AtomicU8, Ordering};

/// Set by KILL, checked by long statements. Stand-in until the lock room brings the one that wakes waiters.
#[derive(Debug, Default)]
pub struct Interrupt {
    state: AtomicU8,
}

impl Interrupt {
    /// A new, quiet interrupt.
    pub fn new() -> Self {
        Self::default()
    }
    /// Ends the running statement.
    pub fn kill_query(&self) {
        self.state.fetch_or(1, Ordering::SeqCst);
    }
    /// Ends the running statement and the connection.
    pub fn kill_connection(&self) {
        self.state.fetch_or(3, Ordering::SeqCst);
    }
    /// Forgets a killed statement (not a killed connection).
    pub fn clear_query(&self) {
        self.state.fetch_and(2, Ordering::SeqCst);
    }
    /// Whether the statement is to end.
    pub fn is_killed(&self) -> bool {
        self.state.load(Ordering::SeqCst) != 0
    }
    /// Whether the connection is to end.
    pub fn is_connection_killed(&self) -> bool {
        self.state.load(Ordering::SeqCst) & 2 != 0
    }
}
