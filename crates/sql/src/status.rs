//! Counters for SHOW STATUS, under the names MySQL users know, and the reports that are made from the engine's numbers.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::ast::Statement;
use crate::database::Database;
use commands::Command;

pub mod access;
pub mod commands;
pub mod deadlock;
mod engine;
pub mod foreign_key;
pub mod intentions;
pub mod lock_text;
pub mod metrics;
pub mod monitor;
pub mod sample;

/// Counters by [`Command`].
#[derive(Debug)]
struct Commands([AtomicU64; commands::NAMES.len()]);

impl Default for Commands {
    fn default() -> Self {
        Commands(std::array::from_fn(|_| AtomicU64::new(0)))
    }
}

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
    /// `Select_scan`, `Select_full_join`.
    scans: [AtomicU64; 2],
    /// `Select_range`, `Select_full_range_join`.
    ranges: [AtomicU64; 2],
    /// `Sort_scan`, `Sort_range`.
    sorts: [AtomicU64; 2],
    sort_rows: AtomicU64,
    commands: Commands,
    public_key: OnceLock<Box<str>>,
}

impl Status {
    /// The key that passwords are encrypted with; known from the start on.
    pub fn set_public_key(&self, key: &str) {
        self.public_key.get_or_init(|| key.into());
    }

    /// The key that passwords are encrypted with; empty if there is none.
    pub fn public_key(&self) -> &str {
        self.public_key.get().map_or("", |key| key)
    }

    /// A statement has come.
    pub fn questions(&self) {
        self.questions.fetch_add(1, Ordering::Relaxed);
    }

    /// A statement begins.
    pub fn command(&self, statement: &Statement) {
        self.count(Command::of(statement));
    }

    /// A command begins.
    pub fn count(&self, command: Command) {
        if let Some(counter) = self.commands.0.get(command as usize) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A query reads all of a table, its first or one that is joined.
    pub fn scans(&self, first: bool) {
        self.scans[usize::from(!first)].fetch_add(1, Ordering::Relaxed);
    }

    /// A query reads ranges of a key, of its first table or of one that is joined.
    pub fn reads_ranges(&self, first: bool) {
        self.ranges[usize::from(!first)].fetch_add(1, Ordering::Relaxed);
    }

    /// A query sorts what it found by ranges of a key, or otherwise.
    pub fn sorts(&self, ranges: bool) {
        self.sorts[usize::from(ranges)].fetch_add(1, Ordering::Relaxed);
    }

    /// So many rows were sorted.
    pub fn sorted(&self, rows: usize) {
        self.sort_rows.fetch_add(rows as u64, Ordering::Relaxed);
    }

    /// A client has connected; so many are connected now. None: it is one too many and will be refused.
    pub fn connected(&self, now: Option<u64>) {
        self.connections.fetch_add(1, Ordering::Relaxed);
        if let Some(now) = now {
            self.max_used_connections.fetch_max(now, Ordering::Relaxed);
        }
    }

    /// FLUSH STATUS: the most connections at once are counted anew, from those there are now.
    pub fn forget_most_connections(&self, now: u64) {
        self.max_used_connections.store(now, Ordering::Relaxed);
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
    "Select_range_check",
    "Sort_merge_passes",
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
        ("Prepared_stmt_count", db.prepared_count()),
        ("Queries", number(&status.questions)),
        ("Questions", number(&status.questions)),
        ("Slow_queries", number(&status.slow_queries)),
        ("Select_full_join", number(&status.scans[1])),
        ("Select_full_range_join", number(&status.ranges[1])),
        ("Select_range", number(&status.ranges[0])),
        ("Select_scan", number(&status.scans[0])),
        ("Sort_range", number(&status.sorts[1])),
        ("Sort_rows", number(&status.sort_rows)),
        ("Sort_scan", number(&status.sorts[0])),
        ("Threadpool_idle_threads", threads.idle),
        ("Threadpool_threads", threads.pool),
        ("Threads_cached", 0),
        ("Threads_created", threads.created),
        ("Threads_connected", db.registry().len() as u64),
        ("Threads_running", running as u64),
        ("Uptime", db.registry().now_us() / 1_000_000),
    ]);
    all.extend(NOT_HERE.iter().map(|name| (*name, 0)));
    let commands = commands::NAMES.iter().zip(&status.commands.0);
    all.extend(commands.map(|(name, counter)| (*name, number(counter))));
    engine::list(db.engine(), &mut all);
    all.sort_unstable();
    all
}

/// Room for all counters.
const COUNTERS_EXPECTED: usize = 208;
