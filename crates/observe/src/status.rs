//! Counters for SHOW STATUS, under the names MySQL users know, and the reports that are made from the
//! engine's numbers.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use turnstile_catalog::registry::commands;
use turnstile_catalog::registry::counts::Totals;

pub mod deadlock;
mod engine;
pub mod foreign_key;
pub mod metrics;
pub mod monitor;
mod observed;
pub mod sample;

pub use observed::Observed;

/// Counters of the SQL layer that belong to no session; those of sessions are `catalog::registry::counts`.
#[derive(Debug, Default)]
pub struct Status {
    connections: AtomicU64,
    aborted_connects: AtomicU64,
    aborted_clients: AtomicU64,
    refused_for_limit: AtomicU64,
    metadata_waits: AtomicU64,
    sleeps: AtomicU64,
    max_used_connections: AtomicU64,
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

    /// A session waits for a table's metadata lock.
    pub fn metadata_wait(&self) {
        self.metadata_waits.fetch_add(1, Ordering::Relaxed);
    }

    /// How often sessions waited for a metadata lock.
    pub fn metadata_waits(&self) -> u64 {
        self.metadata_waits.load(Ordering::Relaxed)
    }

    /// A session waits in SLEEP.
    pub fn sleep(&self) {
        self.sleeps.fetch_add(1, Ordering::Relaxed);
    }

    /// How often sessions waited in SLEEP.
    pub fn sleeps(&self) -> u64 {
        self.sleeps.load(Ordering::Relaxed)
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
];

/// Which of the statuses go up and down: numbers of the moment, averages and extremes. All others only grow,
/// until the server ends.
pub const GAUGES: &[&str] = &[
    "Innodb_buffer_pool_pages_data",
    "Innodb_buffer_pool_pages_dirty",
    "Innodb_buffer_pool_pages_free",
    "Innodb_buffer_pool_pages_misc",
    "Innodb_buffer_pool_pages_total",
    "Innodb_checkpoint_age",
    "Innodb_data_pending_fsyncs",
    "Innodb_data_pending_reads",
    "Innodb_data_pending_writes",
    "Innodb_history_list_length",
    "Innodb_os_log_pending_fsyncs",
    "Innodb_os_log_pending_writes",
    "Innodb_page_size",
    "Innodb_row_lock_current_waits",
    "Innodb_row_lock_time_avg",
    "Innodb_row_lock_time_max",
    "Max_used_connections",
    "Prepared_stmt_count",
    "Threadpool_idle_threads",
    "Threadpool_threads",
    "Threads_cached",
    "Threads_connected",
    "Threads_running",
    "Turnstile_hot_row_following",
    "Uptime",
];

/// All counters, by name; of those that sessions have, the values of `session`, or else the server's.
pub fn list(db: &Observed, session: Option<Totals>) -> Vec<(&'static str, u64)> {
    let status = db.status();
    let number = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let running = db
        .registry()
        .list()
        .iter()
        .filter(|one| one.command() != turnstile_catalog::registry::Command::Sleep)
        .count();
    let threads = db.thread_pool().map(|pool| pool.threads()).unwrap_or_default();
    let server = db.totals();
    let mut all = Vec::with_capacity(COUNTERS_EXPECTED);
    all.extend([
        ("Aborted_clients", number(&status.aborted_clients)),
        ("Aborted_connects", number(&status.aborted_connects)),
        ("Connection_errors_max_connections", number(&status.refused_for_limit)),
        ("Connections", number(&status.connections)),
        ("Max_used_connections", number(&status.max_used_connections)),
        ("Created_tmp_files", db.temporary().made()),
        ("Prepared_stmt_count", db.prepared_count()),
        ("Queries", server.questions),
        ("Threadpool_idle_threads", threads.idle),
        ("Threadpool_threads", threads.pool),
        ("Threads_cached", 0),
        ("Threads_created", threads.created),
        ("Threads_connected", db.registry().len() as u64),
        ("Threads_running", running as u64),
        ("Uptime", db.registry().now_us() / 1_000_000),
    ]);
    all.extend(NOT_HERE.iter().map(|name| (*name, 0)));
    engine::list(db.engine(), &server.rows, &mut all);
    of_sessions(&session.unwrap_or(server), &mut all);
    all.sort_unstable();
    all
}

/// The counters that sessions have.
fn of_sessions(counts: &Totals, all: &mut Vec<(&'static str, u64)>) {
    all.extend([
        ("Bytes_received", counts.bytes_received),
        ("Bytes_sent", counts.bytes_sent),
        ("Created_tmp_disk_tables", counts.disk_tables),
        ("Handler_commit", counts.commits),
        ("Handler_delete", counts.rows.deleted),
        ("Handler_rollback", counts.rollbacks),
        ("Handler_savepoint", counts.savepoints),
        ("Handler_savepoint_rollback", counts.savepoint_rollbacks),
        ("Handler_update", counts.rows.updated),
        ("Handler_write", counts.rows.inserted),
        ("Questions", counts.questions),
        ("Select_full_join", counts.full_joins),
        ("Select_full_range_join", counts.range_joins),
        ("Select_range", counts.ranges),
        ("Select_scan", counts.scans),
        ("Slow_queries", counts.slow_queries),
        ("Sort_merge_passes", counts.sort_merges),
        ("Sort_range", counts.range_sorts),
        ("Sort_rows", counts.sorted_rows),
        ("Sort_scan", counts.scan_sorts),
        ("Turnstile_statement_retries", counts.retries),
    ]);
    all.extend(commands::NAMES.iter().copied().zip(counts.commands));
}

/// Room for all counters.
const COUNTERS_EXPECTED: usize = 216;
