//! What `/metrics` tells: the server's counters under the names that mysqld_exporter gives them, so that
//! dashboards made for it work, and what MySQL has not under `turnstile_`.
//!
//! | family | kind |
//! |---|---|
//! | `commands`, `handlers`, `connection_errors`, `innodb_row_ops`, `buffer_pool_page_changes` (with `_total` and a label, as the exporter has them) | counter |
//! | a status that goes up and down (`status::GAUGES`), `buffer_pool_pages` by state | gauge |
//! | every other status | unknown: it is a counter, and OpenMetrics wants counters to be called `_total`, which these never were |
//!
//! No label has more values than a server has statements, states or, of tables and indexes,
//! [`HOT_INDEXES_MAX`], of digests [`statements::DIGESTS_MAX`].
//! Keys of rows are no labels: they may say whose row it is, and a time series keeps what it is told.

use std::collections::BTreeMap;

use turnstile_catalog::variables::{Kind as VariableKind, VARIABLES, find};
use turnstile_catalog::version::VERSION;
use turnstile_observe::picture::hot_rows::{HotRow, hot_rows};
use turnstile_observe::status;
use turnstile_observe::status::Observed;
use turnstile_values::value::Value;

use open_metrics::{Exposition, Kind};

mod open_metrics;
mod statements;

/// Tables' indexes that hot rows are told of.
pub const HOT_INDEXES_MAX: usize = 10;

/// Variables that are told, where they are numbers or switches: what dashboards divide by, and the switches
/// of experiments.
pub const VARIABLES_TOLD: &[&str] = &[
    "innodb_adaptive_hash_index",
    "innodb_buffer_pool_size",
    "innodb_commit_concurrency",
    "innodb_concurrency_tickets",
    "innodb_deadlock_detect",
    "innodb_flush_log_at_trx_commit",
    "innodb_lock_wait_timeout",
    "innodb_redo_log_capacity",
    "innodb_spin_wait_delay",
    "innodb_sync_spin_loops",
    "innodb_thread_concurrency",
    "innodb_thread_sleep_delay",
    "max_connections",
    "thread_pool_size",
    "turnstile_blind_wait_ms",
    "turnstile_hot_row_group_cap",
    "turnstile_hot_row_min_waiters",
    "turnstile_hot_row_patience_ms",
    "turnstile_hot_row_queue_cap",
    "turnstile_lock_queue_skips",
    "turnstile_statement_retries",
];

/// What who asks may know of besides the server's counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// Rows that are fought for.
    pub hot_rows: bool,
    /// Statements by digest.
    pub digests: bool,
}

/// The whole text; `(clients, watching)` of the console.
pub fn text(db: &Observed, (clients, watching): (usize, usize), told: Told) -> String {
    let mut out = Exposition::default();
    out.family("mysql_up", Kind::Gauge, "The server answers.").sample(&[], 1);
    let version = [("version", VERSION), ("version_comment", "Turnstile")];
    out.family("mysql_version", Kind::Info, "Which server it is.").sample(&version, 1);
    of_status(db, &mut out);
    of_variables(db, &mut out);
    of_engine(db, &mut out);
    statements::latencies(db, &mut out);
    if told.hot_rows {
        of_hot_rows(&hot_rows(db), &mut out);
    }
    if told.digests {
        statements::digests(db, &mut out);
    }
    out.family("turnstile_console_clients", Kind::Gauge, "Clients of the console.").sample(&[], clients);
    out.family("turnstile_console_streams", Kind::Gauge, "Of these, clients that watch.")
        .sample(&[], watching);
    out.end()
}

/// Families that hold several statuses, by the beginning of the status: the family's name, the label, what
/// it is.
const GROUPS: &[(&str, &str, &str, &str)] = &[
    ("Com_", "commands", "command", "Statements by kind."),
    ("Handler_", "handlers", "handler", "Calls of the storage engine by kind."),
    ("Connection_errors_", "connection_errors", "error", "Connections that failed, by reason."),
    ("Innodb_rows_", "innodb_row_ops", "operation", "Rows by what was done with them."),
];
/// Statuses of pages: some are states, and some count changes.
const PAGES: &str = "Innodb_buffer_pool_pages_";
const PAGE_STATES: [&str; 3] = ["data", "free", "misc"];

/// A family of statuses.
struct Family {
    kind: Kind,
    label: &'static str,
    help: &'static str,
    samples: Vec<(String, u64)>,
}

/// Where a status belongs: the family's name behind `mysql_global_status_`, its kind, label and help, and the
/// label's value. None for what others add up to.
fn family_of(name: &str) -> Option<(String, Kind, &'static str, &'static str, String)> {
    for (begin, family, label, help) in GROUPS {
        if let Some(rest) = name.strip_prefix(begin) {
            return Some((family.to_string(), Kind::Counter, label, help, rest.to_lowercase()));
        }
    }
    match name.strip_prefix(PAGES) {
        Some("total") => None,
        Some("dirty") => {
            let family = "buffer_pool_dirty_pages".to_string();
            Some((family, Kind::Gauge, "", "Pages that are newer than on disk.", String::new()))
        }
        Some(state) if PAGE_STATES.contains(&state) => {
            Some(("buffer_pool_pages".into(), Kind::Gauge, "state", "Pages by state.", state.into()))
        }
        Some(change) => {
            let family = "buffer_pool_page_changes".to_string();
            Some((family, Kind::Counter, "operation", "Changes of pages' states.", change.into()))
        }
        None => {
            let (kind, help) = match status::GAUGES.contains(&name) {
                true => (Kind::Gauge, "As in SHOW GLOBAL STATUS."),
                false => (Kind::Unknown, "As in SHOW GLOBAL STATUS: a counter."),
            };
            Some((name.to_lowercase(), kind, "", help, String::new()))
        }
    }
}

/// SHOW GLOBAL STATUS.
fn of_status(db: &Observed, out: &mut Exposition) {
    let mut families: BTreeMap<String, Family> = BTreeMap::new();
    for (name, value) in status::list(db, None) {
        let Some((family, kind, label, help, of)) = family_of(name) else { continue };
        let family =
            families.entry(family).or_insert_with(|| Family { kind, label, help, samples: Vec::new() });
        family.samples.push((of, value));
    }
    for (name, Family { kind, label, help, samples }) in families {
        out.family(&format!("mysql_global_status_{name}"), kind, help);
        for (of, value) in samples {
            let labels = [(label, of.as_str())];
            out.sample(if label.is_empty() { &[] } else { &labels }, value);
        }
    }
}

/// A variable as a number; None for texts and words.
pub fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(number) => Some(*number as f64),
        Value::UInt(number) => Some(*number as f64),
        Value::Double(number) => Some(*number),
        _ => None,
    }
}

fn of_variables(db: &Observed, out: &mut Exposition) {
    for name in VARIABLES_TOLD {
        let Some(value) = number(&db.globals().named(name)) else { continue };
        out.family(&format!("mysql_global_variables_{name}"), Kind::Gauge, "As in SHOW GLOBAL VARIABLES.");
        out.sample(&[], value);
    }
    let name = "turnstile_hot_row";
    let Some(at) = find(name) else { return };
    let VariableKind::Enum(words) = &VARIABLES[at].kind else { return };
    let now = VARIABLES[at].show(&db.globals().get(at));
    out.family(name, Kind::StateSet, "Whether hot rows are handed on before commit.");
    for word in words.iter() {
        out.sample(&[(name, word)], u8::from(*word == now.as_str()));
    }
}

fn of_engine(db: &Observed, out: &mut Exposition) {
    let engine = db.engine();
    let gauges = [
        (
            "active_transactions",
            "Transactions that have written and not ended.",
            engine.active_transactions() as u64,
        ),
        ("read_views", "Read views that are open.", engine.read_views() as u64),
        (
            "abandoned_transactions",
            "Transactions that wait to be rolled back.",
            engine.abandoned_transactions().len() as u64,
        ),
    ];
    for (name, help, value) in gauges {
        out.family(&format!("turnstile_{name}"), Kind::Gauge, help).sample(&[], value);
    }
    out.family("turnstile_commits", Kind::Counter, "Transactions that had written and have committed.");
    out.sample(&[], db.totals().rows.commits);
    let gate = engine.gate().counts();
    out.family("turnstile_admission", Kind::Gauge, "Statements at the gate, where there is a limit.");
    for (state, count) in [("inside", gate.inside), ("queued", gate.queued), ("sleeping", gate.sleeping)] {
        out.sample(&[("state", state)], count);
    }
    let queued = db.thread_pool().map_or(0, |pool| pool.queue_lengths().iter().sum());
    out.family("turnstile_thread_pool_queued", Kind::Gauge, "Sessions that are ready and wait for a worker.");
    out.sample(&[], queued);
    let running = u8::from(engine.check_running().is_ok());
    out.family("turnstile_engine_running", Kind::Gauge, "0 once a write or sync of the log has failed.");
    out.sample(&[], running);
}

/// What the hot rows of one index come to.
#[derive(Clone, Copy, Debug, Default)]
pub struct HotIndex {
    /// Hot rows.
    pub rows: u64,
    /// Sessions that wait for one of them.
    pub waiting: u64,
    /// Changes of them a second.
    pub changes: f64,
    /// Waits that begin a second.
    pub waits: f64,
    /// Transactions that have handed one on and not ended.
    pub handed_on: u64,
}

/// Schema, table and index of hot rows with their sums, the most waited for first: no more than
/// [`HOT_INDEXES_MAX`].
pub fn hot_indexes(rows: &[HotRow]) -> Vec<([&str; 3], HotIndex)> {
    let mut sums: BTreeMap<[&str; 3], HotIndex> = BTreeMap::new();
    for row in rows {
        let table = &row.table.definition;
        let sum = sums.entry([&table.schema, &table.name, &row.index]).or_default();
        sum.rows += 1;
        sum.waiting += u64::from(row.seen.waiting);
        sum.changes += row.seen.grants_per_second;
        sum.waits += row.seen.waits_per_second;
        sum.handed_on += u64::from(row.seen.handed_on);
    }
    let mut indexes: Vec<_> = sums.into_iter().collect();
    indexes.sort_by(|(_, a), (_, b)| {
        b.waiting.cmp(&a.waiting).then(b.waits.total_cmp(&a.waits)).then(b.changes.total_cmp(&a.changes))
    });
    indexes.truncate(HOT_INDEXES_MAX);
    indexes
}

fn of_hot_rows(rows: &[HotRow], out: &mut Exposition) {
    let indexes = hot_indexes(rows);
    type Read = fn(&HotIndex) -> f64;
    let families: [(&str, &str, Read); 5] = [
        ("rows", "Rows that are fought for.", |index| index.rows as f64),
        ("waiting", "Sessions that wait for one of them.", |index| index.waiting as f64),
        ("changes_per_second", "Exclusive locks granted on them, estimated.", |index| index.changes),
        ("waits_per_second", "Waits for them that begin, estimated.", |index| index.waits),
        ("handed_on_now", "Transactions that have handed one on and not ended.", |index| {
            index.handed_on as f64
        }),
    ];
    for (name, help, read) in families {
        out.family(&format!("turnstile_hot_index_{name}"), Kind::Gauge, help);
        for ([schema, table, index], sums) in &indexes {
            out.sample(&[("schema", schema), ("table", table), ("index", index)], read(sums));
        }
    }
}

#[cfg(test)]
mod tests;
