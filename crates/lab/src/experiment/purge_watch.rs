//! The watcher of the purge experiment: once a second it notes what was done, how long the history list is, how long the
//! old snapshot's read takes, and how long sessions that were opened just now need for the same row.

use std::error::Error;
use std::sync::atomic::Ordering;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{Client, ClientError};
use crate::contest::Contestant;
use crate::fleet::{Fleet, Live, Load, Outcome};
use crate::hot_row::DATABASE;
use crate::measure::median;
use crate::progress::Progress;
use crate::switch::history_length;

/// Sessions opened a second for one read each.
const FRESH_A_SECOND: u32 = 5;

/// What one second was like.
#[derive(Clone, Debug)]
pub struct Second {
    /// Transactions acknowledged in it.
    pub tps: f64,
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
    /// As it stands in the JSON file.
    pub fn json(&self) -> Value {
        json!({ "tps": self.tps.round(), "history": self.history, "fresh_ms": self.fresh_ms,
            "fresh_longest_ms": self.fresh_longest_ms, "snapshot_ms": self.snapshot_ms })
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
    let fleet = Fleet::open(load)?;
    let mut admin = contestant.client()?;
    let mut snapshot = if snapshot_for.is_zero() { None } else { Some(Snapshot::open(contestant)?) };
    let live = Arc::new(Live::default());
    let progress = Progress::start(format!("{}: {label}", contestant.label), live.clone(), 0);
    let (sender, ended) = mpsc::channel();
    let shared = live.clone();
    let running = thread::spawn(move || {
        let outcome = fleet.run(&shared).map_err(|error| error.to_string());
        // Nobody listens when the watcher has failed; then its error is the one to tell.
        let _ = sender.send(());
        outcome
    });
    let begin = Instant::now();
    let (mut exact, mut last_snapshot_ms, mut seconds) = (true, None, Vec::new());
    let (mut done, mut since) = (0, begin);
    for tick in 1..=load.duration.as_secs().max(1) as u32 {
        let mut fresh = Vec::new();
        for part in 0..FRESH_A_SECOND {
            let when =
                begin + Duration::from_secs(1) * (tick - 1) + Duration::from_secs(1) * part / FRESH_A_SECOND;
            thread::sleep(when.saturating_duration_since(Instant::now()));
            let mut session = contestant.client()?;
            let asked = Instant::now();
            session.number(&read())?;
            fresh.push(milliseconds(asked));
        }
        thread::sleep((begin + Duration::from_secs(1) * tick).saturating_duration_since(Instant::now()));
        let (now, at) = (live.transactions.load(Ordering::Relaxed), Instant::now());
        let tps = (now - done) as f64 / (at - since).as_secs_f64().max(0.001);
        (done, since) = (now, at);
        let mut snapshot_ms = None;
        if let Some(open) = &mut snapshot {
            let asked = Instant::now();
            exact &= open.client.number(&read())? == open.expected;
            snapshot_ms = Some(milliseconds(asked));
            last_snapshot_ms = snapshot_ms;
        }
        if begin.elapsed() >= snapshot_for
            && let Some(mut open) = snapshot.take()
        {
            open.client.query("COMMIT")?;
        }
        let history = history_length(&mut admin)?;
        let fresh_longest_ms = fresh.iter().copied().fold(0.0, f64::max);
        seconds.push(Second { tps, history, fresh_ms: median(fresh), fresh_longest_ms, snapshot_ms });
    }
    ended.recv_timeout(Duration::from_secs(90))?;
    drop(progress);
    let outcome = running.join().map_err(|_| "the fleet failed")??;
    Ok(Watched { seconds, outcome, exact, last_snapshot_ms })
}
