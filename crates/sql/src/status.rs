//! Counters for SHOW STATUS, under the names MySQL users know, and the reports that are made from the engine's numbers.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::ast::Statement;
use crate::database::Database;

pub mod deadlock;
mod engine;
pub mod foreign_key;
pub mod intentions;
pub mod lock_text;
pub mod metrics;
pub mod monitor;
pub mod sample;

/// Counters of the SQL layer.
#[derive(Debug, Default)]
pub struct Status {
    questions: AtomicU64,
    connections: AtomicU64,
    bytes_received: AtomicU64,
    bytes_sent: AtomicU64,
    aborted_connects: AtomicU64,
    aborted_clients: AtomicU64,
    refused_for_limit: AtomicU64,
    gate_waits: AtomicU64,
    sleeps: AtomicU64,
    slow_queries: AtomicU64,
    max_used_connections: AtomicU64,
    commands: [AtomicU64; COMMANDS.len()],
}

/// Statements that are counted one by one.
pub const COMMANDS: [&str; 8] =
    ["select", "insert", "update", "delete", "begin", "commit", "rollback", "replace"];

impl Status {
    /// A statement has come.
    pub fn questions(&self) {
        self.questions.fetch_add(1, Ordering::Relaxed);
    }

    /// A statement begins.
    pub fn command(&self, statement: &Statement) {
        let name = match statement {
            Statement::Select(_) => "select",
            Statement::Insert(insert) if insert.replace => "replace",
            Statement::Insert(_) => "insert",
            Statement::Update(_) => "update",
            Statement::Delete(_) => "delete",
            Statement::Begin(_) => "begin",
            Statement::Commit(_) => "commit",
            Statement::Rollback(_) => "rollback",
            _ => return,
        };
        if let Some(kind) = COMMANDS.iter().position(|one| *one == name) {
            self.commands[kind].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A client has connected; so many are connected now. None: it is one too many and will be refused.
    pub fn connected(&self, now: Option<u64>) {
        self.connections.fetch_add(1, Ordering::Relaxed);
        if let Some(now) = now {
            self.max_used_connections.fetch_max(now, Ordering::Relaxed);
        }
    }

    /// A client was refused.
    pub fn refused(&self) {
        self.aborted_connects.fetch_add(1, Ordering::Relaxed);
    }

    /// A client that was let in went away without saying so, or was sent away.
    pub fn client_aborted(&self) {
        self.aborted_clients.fetch_add(1, Ordering::Relaxed);
    }

    /// A client was refused because of `max_connections`.
    pub fn refused_for_limit(&self) {
        self.refused_for_limit.fetch_add(1, Ordering::Relaxed);
    }

    /// A session waits for a table's metadata gate.
    pub fn gate_wait(&self) {
        self.gate_waits.fetch_add(1, Ordering::Relaxed);
    }

    /// How often sessions waited for a metadata gate.
    pub fn gate_waits(&self) -> u64 {
        self.gate_waits.load(Ordering::Relaxed)
    }

    /// A session waits in SLEEP.
    pub fn sleep(&self) {
        self.sleeps.fetch_add(1, Ordering::Relaxed);
    }

    /// A statement took longer than `long_query_time`.
    pub fn slow_query(&self) {
        self.slow_queries.fetch_add(1, Ordering::Relaxed);
    }

    /// How often sessions waited in SLEEP.
    pub fn sleeps(&self) -> u64 {
        self.sleeps.load(Ordering::Relaxed)
    }

    /// Bytes went over the network.
    pub fn transferred(&self, received: u64, sent: u64) {
        self.bytes_received.fetch_add(received, Ordering::Relaxed);
        self.bytes_sent.fetch_add(sent, Ordering::Relaxed);
    }
}

/// What tools ask for and what cannot happen here, or is not counted.
const NOT_HERE: &[&str] = &[
    "Connection_errors_accept",
    "Connection_errors_internal",
    "Connection_errors_peer_address",
    "Connection_errors_select",
    "Connection_errors_tcpwrap",
];

/// As SHOW STATUS calls [`COMMANDS`].
const COMMAND_COUNTERS: [&str; COMMANDS.len()] = [
    "Com_select",
    "Com_insert",
    "Com_update",
    "Com_delete",
    "Com_begin",
    "Com_commit",
    "Com_rollback",
    "Com_replace",
];

/// All counters, by name.
pub fn list(db: &Database) -> Vec<(&'static str, u64)> {
    let status = db.status();
    let number = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let running =
        db.registry().list().iter().filter(|one| one.command() != crate::registry::Command::Sleep).count();
    let threads = db.thread_pool().map(|pool| pool.threads()).unwrap_or_default();
    let mut all = Vec::with_capacity(COUNTERS_EXPECTED);
    all.extend([
        ("Aborted_clients", number(&status.aborted_clients)),
        ("Aborted_connects", number(&status.aborted_connects)),
        ("Bytes_received", number(&status.bytes_received)),
        ("Bytes_sent", number(&status.bytes_sent)),
        ("Connection_errors_max_connections", number(&status.refused_for_limit)),
        ("Connections", number(&status.connections)),
        ("Max_used_connections", number(&status.max_used_connections)),
        ("Queries", number(&status.questions)),
        ("Questions", number(&status.questions)),
        ("Slow_queries", number(&status.slow_queries)),
        ("Threadpool_idle_threads", threads.idle),
        ("Threadpool_threads", threads.pool),
        ("Threads_cached", 0),
        ("Threads_created", threads.created),
        ("Threads_connected", db.registry().len() as u64),
        ("Threads_running", running as u64),
        ("Uptime", db.registry().now_us() / 1_000_000),
    ]);
    all.extend(NOT_HERE.iter().map(|name| (*name, 0)));
    let commands = COMMAND_COUNTERS.iter().zip(&status.commands);
    all.extend(commands.map(|(name, counter)| (*name, number(counter))));
    engine::list(db.engine(), &mut all);
    all.sort_unstable();
    all
}

/// Room for all counters.
const COUNTERS_EXPECTED: usize = 96;
