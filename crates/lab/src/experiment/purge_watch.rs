//! The watcher of the purge experiment: once a second it notes what was done, how long the history list is,
//! how long the old snapshot's read takes, and how long sessions that were opened just now need for the same
//! row. Beside it stands what the second was like for the server and the machine: CPU per transaction, log
//! syncs, pages flushed, idle processors, and those that others used. A second with few transactions, at the
//! usual CPU for each, in which the processors idled or others had them, is not the server's doing.

use std::error::Error;
use std::sync::atomic::Ordering;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{Client, ClientError};
use crate::clients::{Clients, Live, Load, Outcome};
use crate::contest::Contestant;
use crate::hot_row::DATABASE;
use crate::measure::median;
use crate::process::{fine_cpu_us, machine_cpu_us};
use crate::progress::Progress;
use crate::sliced::{OUTSIDE_MAX, Others};
use crate::switch::{counter, history_length};

/// The phase of transactions that end while the snapshot is open, or in a run without one.
pub const OPEN: usize = 0;
/// The phase of those that end after it was closed.
pub const CLOSED: usize = 1;
/// Sessions opened a second for one read each.
const FRESH_A_SECOND: u32 = 5;

/// What one second was like.
#[derive(Clone, Debug)]
pub struct Second {
    /// Transactions acknowledged in it.
    pub tps: f64,
    /// The server's CPU per transaction, in microseconds.
    pub cpu_us: Option<f64>,
    /// Share of the processors that neither the server nor the laboratory used.
    pub outside: Option<f64>,
    /// Share of the processors that nobody used.
    pub idle: Option<f64>,
    /// Log syncs in it.
    pub log_syncs: Option<i64>,
    /// Pages written from the pool.
    pub pages_flushed: Option<i64>,
    /// History list length at its end.
    pub history: Option<i64>,
    /// Median read of the hot row by new sessions, in milliseconds.
    pub fresh_ms: Option<f64>,
    /// Longest such read.
    pub fresh_longest_ms: f64,
    /// The open snapshot's read of the hot row; None when it is closed.
    pub snapshot_ms: Option<f64>,
}

impl Second {
    /// Whether the machine worked for the server and the laboratory alone.
    pub fn is_calm(&self) -> bool {
        self.outside.is_none_or(|share| share <= OUTSIDE_MAX)
    }
    /// As it stands in the JSON file.
    pub fn json(&self) -> Value {
        json!({ "tps": self.tps.round(), "history": self.history, "fresh_ms": self.fresh_ms,
            "fresh_longest_ms": self.fresh_longest_ms, "snapshot_ms": self.snapshot_ms, "server_cpu_us_per_tx": self.cpu_us,
            "outside": self.outside, "idle": self.idle, "log_syncs": self.log_syncs,
            "pages_flushed": self.pages_flushed })
    }
}

/// What a watched run brought.
pub struct Watched {
    /// Its seconds.
    pub seconds: Vec<Second>,
    /// The load's own account.
    pub outcome: Outcome,
    /// Whether every read of the snapshot gave the row of its beginning.
    pub exact: bool,
    /// The last read before the snapshot was closed, in milliseconds.
    pub last_snapshot_ms: Option<f64>,
}

struct Snapshot {
    client: Client,
    expected: i64,
}

impl Snapshot {
    fn open(contestant: &Contestant) -> Result<Snapshot, ClientError> {
        let mut client = contestant.client()?;
        client.query("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")?;
        client.query("START TRANSACTION WITH CONSISTENT SNAPSHOT")?;
        let expected = client.number(&read())?;
        Ok(Snapshot { client, expected })
    }
}

fn read() -> String {
    format!("SELECT stock FROM {DATABASE}.test_update WHERE id = 1")
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1000.0
}

/// Clocks and counters as they stand at the end of a second.
struct Clocks {
    at: Instant,
    done: u64,
    server_us: Option<u64>,
    others: Option<Others>,
    machine_us: Option<u64>,
    log_syncs: Option<i64>,
    pages_flushed: Option<i64>,
}

impl Clocks {
    fn now(contestant: &Contestant, live: &Live, admin: &mut Option<Client>) -> Result<Clocks, ClientError> {
        let (at, done) = (Instant::now(), live.transactions.load(Ordering::Relaxed));
        let server_us = contestant.pid.and_then(fine_cpu_us);
        let (others, machine_us) = (Others::now(contestant), machine_cpu_us());
        let mut ask = |name| admin.as_mut().map_or(Ok(None), |admin| counter(admin, name, ""));
        let log_syncs = ask("Innodb_os_log_fsyncs")?;
        let pages_flushed = ask("Innodb_buffer_pool_pages_flushed")?;
        Ok(Clocks { at, done, server_us, others, machine_us, log_syncs, pages_flushed })
    }

    /// What happened since `self`, without the history and the reads.
    fn until(&self, now: &Clocks, contestant: &Contestant) -> Second {
        let seconds = (now.at - self.at).as_secs_f64().max(0.001);
        let done = (now.done - self.done) as f64;
        let processors = thread::available_parallelism().map_or(1.0, |count| count.get() as f64);
        let spent = now.machine_us.zip(self.machine_us).map(|(now, then)| now.saturating_sub(then) as f64);
        let change = |now: Option<i64>, then: Option<i64>| Some(now? - then?);
        let used = now.server_us.zip(self.server_us).map(|(now, then)| now.saturating_sub(then) as f64);
        Second {
            tps: done / seconds,
            cpu_us: used.map(|used| used / done.max(1.0)),
            outside: self.others.as_ref().and_then(|others| others.share(contestant)),
            idle: spent.map(|spent| (1.0 - spent / (seconds * 1e6 * processors)).max(0.0)),
            log_syncs: change(now.log_syncs, self.log_syncs),
            pages_flushed: change(now.pages_flushed, self.pages_flushed),
            history: None,
            fresh_ms: None,
            fresh_longest_ms: 0.0,
            snapshot_ms: None,
        }
    }
}

/// Runs the load for its duration; a snapshot is open for the first `snapshot_for` of it.
///
/// # Errors
/// When a connection fails or a question is refused.
pub fn watch(
    contestant: &Contestant,
    load: &Load,
    snapshot_for: Duration,
    label: &str,
) -> Result<Watched, Box<dyn Error>> {
    let clients = Clients::open(load)?;
    let mut admin = if contestant.has_tables() { Some(contestant.client()?) } else { None };
    let mut snapshot = if snapshot_for.is_zero() { None } else { Some(Snapshot::open(contestant)?) };
    let live = Arc::new(Live::default());
    let progress = Progress::start(format!("{}: {label}", contestant.label), live.clone(), 0);
    let (sender, ended) = mpsc::channel();
    let shared = live.clone();
    let running = thread::spawn(move || {
        let outcome = clients.run(&shared).map_err(|error| error.to_string());
        // Nobody listens when the watcher has failed; then its error is the one to tell.
        let _ = sender.send(());
        outcome
    });
    let begin = Instant::now();
    let (mut exact, mut last_snapshot_ms, mut seconds) = (true, None, Vec::new());
    let mut before = Clocks::now(contestant, &live, &mut admin)?;
    for tick in 1..=load.duration.as_secs().max(1) as u32 {
        let mut fresh = Vec::new();
        for part in 0..FRESH_A_SECOND {
            let when =
                begin + Duration::from_secs(1) * (tick - 1) + Duration::from_secs(1) * part / FRESH_A_SECOND;
            thread::sleep(when.saturating_duration_since(Instant::now()));
            if !contestant.has_tables() {
                continue;
            }
            let mut session = contestant.client()?;
            let asked = Instant::now();
            session.number(&read())?;
            fresh.push(milliseconds(asked));
        }
        thread::sleep((begin + Duration::from_secs(1) * tick).saturating_duration_since(Instant::now()));
        let now = Clocks::now(contestant, &live, &mut admin)?;
        let mut second = before.until(&now, contestant);
        before = now;
        if let Some(open) = &mut snapshot {
            let asked = Instant::now();
            exact &= open.client.number(&read())? == open.expected;
            second.snapshot_ms = Some(milliseconds(asked));
            last_snapshot_ms = second.snapshot_ms;
        }
        if begin.elapsed() >= snapshot_for
            && let Some(mut open) = snapshot.take()
        {
            open.client.query("COMMIT")?;
            live.phase.store(CLOSED, Ordering::Relaxed);
        }
        if let Some(admin) = &mut admin {
            second.history = history_length(admin)?;
        }
        second.fresh_longest_ms = fresh.iter().copied().fold(0.0, f64::max);
        second.fresh_ms = median(fresh);
        seconds.push(second);
    }
    ended.recv_timeout(Duration::from_secs(90))?;
    drop(progress);
    let outcome = running.join().map_err(|_| "the clients failed")??;
    Ok(Watched { seconds, outcome, exact, last_snapshot_ms })
}
