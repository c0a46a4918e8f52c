//! One cell of a table: a load against one server, with the CPU time of both sides, and the medians over its
//! rounds.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::client::ClientError;
use crate::clients::{Clients, Live, Load, Outcome, longest_over_median};
use crate::contest::{Contestant, Kind};
use crate::process::{cpu_us, thread_count};
use crate::progress::Progress;
use crate::switch;

/// What one load against one server brought.
#[derive(Debug)]
pub struct Measurement {
    /// Connections.
    pub connections: usize,
    /// The run.
    pub outcome: Outcome,
    /// CPU the server used while the load ran, in microseconds; None if its process is not ours to see.
    pub server_cpu_us: Option<u64>,
    /// CPU the laboratory used, in microseconds.
    pub client_cpu_us: Option<u64>,
    /// Threads of the server at the end of the run.
    pub server_threads: Option<usize>,
    /// `Threads_running` in the middle of the run.
    pub threads_running: Option<i64>,
    /// Acknowledged minus applied changes, where the experiment can tell: must be 0.
    pub lost: Option<i64>,
}

impl Measurement {
    /// Transactions a second.
    pub fn tps(&self) -> f64 {
        self.outcome.transactions as f64 / self.outcome.elapsed.as_secs_f64().max(0.001)
    }
    /// Server CPU microseconds per transaction.
    pub fn cpu_per_transaction_us(&self) -> Option<f64> {
        self.server_cpu_us.map(|used| used as f64 / self.outcome.transactions.max(1) as f64)
    }
    /// The laboratory's own CPU microseconds per transaction.
    pub fn client_cpu_per_transaction_us(&self) -> Option<f64> {
        self.client_cpu_us.map(|used| used as f64 / self.outcome.transactions.max(1) as f64)
    }
    /// Mean latency.
    pub fn average_ms(&self) -> f64 {
        self.outcome.latency_us.mean() / 1000.0
    }
    /// 99th percentile of the latency.
    pub fn p99_ms(&self) -> f64 {
        self.outcome.latency_us.value_at_quantile(0.99) as f64 / 1000.0
    }
    /// Longest latency over the median: large when somebody was left behind.
    pub fn longest_over_median(&self) -> f64 {
        longest_over_median(&self.outcome.latency_us)
    }
    /// The most transactions of others that any wait was overtaken by, over the median.
    pub fn most_overtaken_over_median(&self) -> f64 {
        longest_over_median(&self.outcome.overtaken)
    }
    /// What is wrong with it, if anything.
    pub fn fault(&self) -> Option<String> {
        let outcome = &self.outcome;
        if let Some(text) = &outcome.first_error {
            return Some(format!("{} statements failed, the first with {text}", outcome.errors));
        }
        if outcome.broken > 0 {
            return Some(format!("{} connections broke", outcome.broken));
        }
        match self.lost {
            Some(lost) if lost != 0 => Some(format!("{lost} acknowledged changes are missing")),
            _ => None,
        }
    }
    /// As it stands in the JSON file, behind the members of `head`.
    pub fn json(&self, head: Value) -> Value {
        let (outcome, latency, overtaken) =
            (&self.outcome, &self.outcome.latency_us, &self.outcome.overtaken);
        let figures = json!({
            "connections": self.connections,
            "tps": self.tps().round(),
            "transactions": outcome.transactions,
            "seconds": outcome.elapsed.as_secs_f64(),
            "avg_ms": self.average_ms(),
            "p50_ms": latency.value_at_quantile(0.5) as f64 / 1000.0,
            "p99_ms": self.p99_ms(),
            "max_ms": latency.max() as f64 / 1000.0,
            "max_over_median": self.longest_over_median(),
            "server_cpu_us_per_tx": self.cpu_per_transaction_us(),
            "client_cpu_us_per_tx": self.client_cpu_per_transaction_us(),
            "server_threads": self.server_threads,
            "threads_running": self.threads_running,
            "overtaken_by": {
                "median": overtaken.value_at_quantile(0.5),
                "p99": overtaken.value_at_quantile(0.99),
                "most": overtaken.max(),
                "most_over_median": self.most_overtaken_over_median(),
            },
            "per_connection": {
                "least": outcome.progress.least,
                "median": outcome.progress.median,
                "most": outcome.progress.most,
            },
            "rows": outcome.rows,
            "withdrawn": outcome.withdrawn,
            "deadlocks": outcome.deadlocks,
            "lock_wait_timeouts": outcome.timeouts,
            "in_doubt": outcome.in_doubt,
            "errors": outcome.errors,
            "broken": outcome.broken,
            "lost": self.lost,
        });
        merged(head, figures)
    }
}

/// The members of one JSON object behind those of another.
pub fn merged(head: Value, tail: Value) -> Value {
    match (head, tail) {
        (Value::Object(mut head), Value::Object(tail)) => {
            head.extend(tail);
            Value::Object(head)
        }
        (head, _) => head,
    }
}

/// Runs the load, with a line of progress.
///
/// # Errors
/// When the connections cannot be opened.
pub fn measure(contestant: &Contestant, load: &Load, label: &str) -> Result<Measurement, ClientError> {
    let clients = Clients::open(load)?;
    let live = Arc::new(Live::default());
    let over = Arc::new(AtomicBool::new(false));
    let watcher = watch_running(contestant, load.duration / 2, over.clone())?;
    let progress = Progress::start(format!("{}: {label}", contestant.label), live.clone(), 0);
    let own = std::process::id();
    let before = (contestant.pid.and_then(cpu_us), cpu_us(own));
    let outcome = clients.run(&live)?;
    let after = (contestant.pid.and_then(cpu_us), cpu_us(own));
    drop(progress);
    over.store(true, Ordering::SeqCst);
    let threads_running = watcher.and_then(|watcher| {
        watcher.thread().unpark();
        watcher.join().ok().flatten()
    });
    let used = |after: Option<u64>, before: Option<u64>| Some(after?.saturating_sub(before?));
    Ok(Measurement {
        connections: load.connections,
        outcome,
        server_cpu_us: used(after.0, before.0),
        client_cpu_us: used(after.1, before.1),
        server_threads: contestant.pid.and_then(thread_count),
        threads_running,
        lost: None,
    })
}

/// Asks for `Threads_running` once, in the middle of the run.
fn watch_running(
    contestant: &Contestant,
    when: Duration,
    over: Arc<AtomicBool>,
) -> Result<Option<thread::JoinHandle<Option<i64>>>, ClientError> {
    if contestant.kind == Kind::Floor {
        return Ok(None);
    }
    let mut client = contestant.client()?;
    Ok(Some(thread::spawn(move || {
        let begin = std::time::Instant::now();
        while begin.elapsed() < when && !over.load(Ordering::SeqCst) {
            thread::park_timeout(when.saturating_sub(begin.elapsed()));
        }
        switch::counter(&mut client, "Threads_running", "").ok().flatten()
    })))
}

/// The cells of an experiment: who, which setting, and what came of it; figures are medians over the rounds.
pub struct Measurements<K> {
    all: Vec<(usize, K, Measurement)>,
}

impl<K: Copy + PartialEq> Measurements<K> {
    /// None yet.
    pub fn new() -> Measurements<K> {
        Measurements { all: Vec::new() }
    }

    /// Keeps a cell.
    pub fn add(&mut self, contestant: usize, key: K, cell: Measurement) {
        self.all.push((contestant, key, cell));
    }

    /// The median over the rounds of a figure; None if it was never measured.
    pub fn median(
        &self,
        contestant: usize,
        key: K,
        figure: impl Fn(&Measurement) -> Option<f64>,
    ) -> Option<f64> {
        let cells = self.all.iter().filter(|(who, which, _)| *who == contestant && *which == key);
        median(cells.filter_map(|(.., cell)| figure(cell)).collect())
    }

    /// The largest of a figure over the rounds; None if it was never measured.
    pub fn worst(&self, contestant: usize, key: K, figure: impl Fn(&Measurement) -> f64) -> Option<f64> {
        let cells = self.all.iter().filter(|(who, which, _)| *who == contestant && *which == key);
        cells.map(|(.., cell)| figure(cell)).reduce(f64::max)
    }

    /// Transactions a second.
    pub fn tps(&self, contestant: usize, key: K) -> Option<f64> {
        self.median(contestant, key, |cell| Some(cell.tps()))
    }

    /// Acknowledged minus applied changes, summed over the rounds.
    pub fn lost(&self, contestant: usize, key: K) -> Option<i64> {
        self.sum(contestant, key, |cell| cell.lost)
    }

    /// A count, summed over the rounds; None where a round does not know it.
    pub fn sum(&self, contestant: usize, key: K, count: impl Fn(&Measurement) -> Option<i64>) -> Option<i64> {
        let cells = self.all.iter().filter(|(who, which, _)| *who == contestant && *which == key);
        cells.map(|(.., cell)| count(cell)).sum()
    }
}

impl<K: Copy + PartialEq> Default for Measurements<K> {
    fn default() -> Self {
        Measurements::new()
    }
}

/// Acknowledged minus applied changes. `in_doubt` of them were asked for and never answered: applied or not,
/// they are in order.
pub fn lost(acknowledged: u64, in_doubt: u64, applied: i64) -> i64 {
    let (least, most) = (acknowledged as i64, (acknowledged + in_doubt) as i64);
    if applied < least { least - applied } else { (most - applied).min(0) }
}

/// The middle value; of two middle ones their mean.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        count if count % 2 == 1 => Some(values[middle]),
        _ => Some((values[middle - 1] + values[middle]) / 2.0),
    }
}

#[cfg(test)]
mod tests {
    use super::{lost, median};

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(vec![]), None);
        assert_eq!(median(vec![3.0]), Some(3.0));
        assert_eq!(median(vec![9.0, 1.0, 4.0]), Some(4.0));
        assert_eq!(median(vec![9.0, 1.0, 4.0, 2.0]), Some(3.0));
    }

    #[test]
    fn what_was_never_answered_may_be_there_or_not() {
        assert_eq!((lost(100, 0, 100), lost(100, 0, 99), lost(100, 0, 101)), (0, 1, -1));
        assert_eq!((lost(100, 3, 100), lost(100, 3, 103)), (0, 0));
        assert_eq!((lost(100, 3, 99), lost(100, 3, 104)), (1, -1));
    }
}
