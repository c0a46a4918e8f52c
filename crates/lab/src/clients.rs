//! Many connections, few threads.
//!
//! Each connection sends its script's statements one after another, each as soon as the previous one is
//! answered. In the *closed loop* it begins the script again at once; with a [`Load::rate`] transactions come
//! due by the clock, whether or not earlier ones are answered ([`pace`]). A thread owns its share of the
//! connections and an epoll instance ([`mod@drive`]). With a [`Load::rtt`] statements go out late, as over a
//! network ([`delay`]).
//!
//! A wait is measured twice. *Latency* is the time from sending the first statement of a script (paced: from
//! when it was due) to the answer of the last. *Passed* is how many transactions of others were acknowledged
//! meanwhile: taken from the count of all, which is kept anyway, so it costs one load. A machine that stops
//! for 20 ms stops everybody's count; a server that leaves one connection behind does not.

pub mod answer;
pub mod connection;
pub mod delay;
pub mod drive;
pub mod pace;
pub mod steps;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

use crate::client::{Client, ClientError, Target};
use connection::Connection;
use drive::drive;
pub use steps::{Parameter, Steps};

/// Makes the statements of a transaction: fills the steps for the given connection and turn.
pub type Script = Arc<dyn Fn(usize, u64, &mut Steps) + Send + Sync>;

/// The transaction was chosen to end a deadlock, or to follow one that was rolled back: it is undone.
pub const DEADLOCK: u16 = 1213;
/// A lock was not given in time: the statement is undone, its transaction is not.
pub const LOCK_WAIT_TIMEOUT: u16 = 1205;

/// What to run.
#[derive(Clone)]
pub struct Load {
    /// Where.
    pub target: Target,
    /// Statements every connection runs first.
    pub set_up: Vec<String>,
    /// Statements every connection prepares; the script executes them by their index.
    pub prepared: Vec<String>,
    /// The transaction.
    pub script: Script,
    /// How many connections.
    pub connections: usize,
    /// Driver threads.
    pub threads: usize,
    /// Longest time to run.
    pub duration: Duration,
    /// A connection leaves once its transaction affected no row: the shop is sold out.
    pub until_sold_out: bool,
    /// Transactions a second that come due, over all connections; None: a connection begins its next one as
    /// soon as it can.
    pub rate: Option<f64>,
    /// Every statement goes out so much later than it could: a network's round trip.
    pub rtt: Duration,
    /// [`DEADLOCK`] and [`LOCK_WAIT_TIMEOUT`] are counted and no errors: the transaction begins again, as
    /// clients are told to do, behind a ROLLBACK where the server has not done that. Its latency counts from
    /// its first beginning. After the end it does not begin again.
    pub begins_again: bool,
}

/// Counters that a progress line reads while the load runs, and the switch that ends it early.
#[derive(Debug, Default)]
pub struct Live {
    /// Transactions acknowledged, every statement of them without an error, those withdrawn left out.
    pub transactions: AtomicU64,
    /// Rows acknowledged as affected, summed over all statements of those transactions.
    pub affected: AtomicU64,
    /// Rows that came in results.
    pub rows: AtomicU64,
    /// Transactions that their script ended without an effect ([`Steps::withdraw`]).
    pub withdrawn: AtomicU64,
    /// Answers [`DEADLOCK`] to transactions that begin again.
    pub deadlocks: AtomicU64,
    /// Answers [`LOCK_WAIT_TIMEOUT`] to transactions that begin again.
    pub timeouts: AtomicU64,
    /// Error packets that are none of those.
    pub errors: AtomicU64,
    /// Connections that broke, or never came back.
    pub broken: AtomicU64,
    /// All connections are open and the clock runs.
    pub started: AtomicBool,
    /// Set by whoever has seen enough: no transaction begins after it.
    pub stop: AtomicBool,
    /// Which of the outcome's phases a transaction that ends now belongs to.
    pub phase: AtomicUsize,
}

/// What a run brought.
#[derive(Debug)]
pub struct Outcome {
    /// Wall time from the first statement to the last answer.
    pub elapsed: Duration,
    /// Transactions acknowledged.
    pub transactions: u64,
    /// Rows acknowledged as affected.
    pub affected: u64,
    /// Rows that came in results.
    pub rows: u64,
    /// Transactions that their script ended without an effect; they are not among the others.
    pub withdrawn: u64,
    /// Answers [`DEADLOCK`] to transactions that begin again.
    pub deadlocks: u64,
    /// Answers [`LOCK_WAIT_TIMEOUT`] to transactions that begin again.
    pub timeouts: u64,
    /// Transactions whose last statement went out and was never answered: they may have been applied.
    pub in_doubt: u64,
    /// Error packets that are none of those.
    pub errors: u64,
    /// The first error's text.
    pub first_error: Option<String>,
    /// Connections that broke before the end, or were still waiting a minute after it.
    pub broken: u64,
    /// Transactions per connection.
    pub progress: PerConnection,
    /// Transactions that were due before the end and never begun, because no connection was free: 0 in a
    /// closed loop.
    pub unsent: u64,
    /// Latency in microseconds.
    pub latency_us: Histogram<u64>,
    /// Transactions of others that were acknowledged while one waited.
    pub overtaken: Histogram<u64>,
    /// The same, one for each phase that [`Live::phase`] went through.
    pub phases: Vec<Histogram<u64>>,
}

/// Transactions of single connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerConnection {
    /// Of the one with the fewest: 0 means that it starved.
    pub least: u64,
    /// Of the one in the middle.
    pub median: u64,
    /// Of the one with the most.
    pub most: u64,
}

impl PerConnection {
    fn of(mut turns: Vec<u64>) -> PerConnection {
        turns.sort_unstable();
        let at = |place: usize| turns.get(place).copied().unwrap_or(0);
        PerConnection { least: at(0), median: at(turns.len() / 2), most: at(turns.len().saturating_sub(1)) }
    }
}

/// Open connections that have run their set-up statements and wait for the start.
pub struct Clients {
    load: Load,
    shares: Vec<Vec<Connection>>,
}

/// Opens the connections, runs the load, closes them.
///
/// # Errors
/// When a connection cannot be opened or a set-up statement fails. Later trouble is counted in the outcome.
pub fn run(load: &Load, live: &Arc<Live>) -> Result<Outcome, ClientError> {
    Clients::open(load)?.run(live)
}

impl Clients {
    /// Opens the connections.
    ///
    /// # Errors
    /// When a connection cannot be opened or a set-up statement fails.
    pub fn open(load: &Load) -> Result<Clients, ClientError> {
        let threads = load.threads.clamp(1, load.connections.max(1));
        Ok(Clients { load: load.clone(), shares: open_all(load, threads)? })
    }

    /// Runs the load.
    ///
    /// # Errors
    /// When a driver fails; trouble with a server is counted in the outcome.
    pub fn run(self, live: &Arc<Live>) -> Result<Outcome, ClientError> {
        let load = self.load;
        live.started.store(true, Ordering::SeqCst);
        let begin = Instant::now();
        let threads = self.shares.len();
        let drivers: Vec<_> = self
            .shares
            .into_iter()
            .map(|connections| {
                let (load, live) = (load.clone(), live.clone());
                thread::spawn(move || drive(connections, threads, &load, &live, begin))
            })
            .collect();
        let (mut latency_us, mut phases, mut overtaken) = (new_histogram(), Vec::new(), new_histogram());
        let (mut turns, mut unsent, mut in_doubt, mut first_error) = (Vec::new(), 0, 0, None);
        for driver in drivers {
            let share = driver.join().map_err(|_| ClientError::Protocol("a driver thread failed"))??;
            for (phase, latency) in share.phases.iter().enumerate() {
                if phases.len() == phase {
                    phases.push(new_histogram());
                }
                let added = latency_us.add(latency).and_then(|()| phases[phase].add(latency));
                added.map_err(|_| ClientError::Protocol("histogram"))?;
            }
            overtaken.add(&share.overtaken).map_err(|_| ClientError::Protocol("histogram"))?;
            turns.extend(share.turns);
            unsent += share.unsent;
            in_doubt += share.in_doubt;
            first_error = first_error.or(share.first_error);
        }
        Ok(Outcome {
            elapsed: begin.elapsed(),
            transactions: live.transactions.load(Ordering::SeqCst),
            affected: live.affected.load(Ordering::SeqCst),
            rows: live.rows.load(Ordering::SeqCst),
            withdrawn: live.withdrawn.load(Ordering::SeqCst),
            deadlocks: live.deadlocks.load(Ordering::SeqCst),
            timeouts: live.timeouts.load(Ordering::SeqCst),
            in_doubt,
            errors: live.errors.load(Ordering::SeqCst),
            first_error,
            broken: live.broken.load(Ordering::SeqCst),
            progress: PerConnection::of(turns),
            unsent,
            latency_us,
            overtaken,
            phases,
        })
    }
}

/// An empty histogram: microseconds up to ten minutes, or that many of anything else.
pub fn new_histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 600_000_000, 3).expect("the bounds are constants that fit")
}

/// The longest over the median: from 5 on, somebody was left behind.
pub fn longest_over_median(waits: &Histogram<u64>) -> f64 {
    waits.max() as f64 / waits.value_at_quantile(0.5).max(1) as f64
}

fn open_all(load: &Load, threads: usize) -> Result<Vec<Vec<Connection>>, ClientError> {
    let openers: Vec<_> = (0..threads)
        .map(|thread| {
            let load = load.clone();
            thread::spawn(move || {
                (thread..load.connections).step_by(threads).map(|number| open_one(&load, number)).collect()
            })
        })
        .collect();
    openers
        .into_iter()
        .map(|opener| opener.join().map_err(|_| ClientError::Protocol("a driver thread failed"))?)
        .collect()
}

fn open_one(load: &Load, number: usize) -> Result<Connection, ClientError> {
    let mut client = Client::connect(&load.target)?;
    for text in &load.set_up {
        client.query(text)?;
    }
    let statements = load.prepared.iter().map(|text| client.prepare(text)).collect::<Result<_, _>>()?;
    Ok(Connection::new(client.into_socket(), number, Steps::new(statements))?)
}

#[cfg(test)]
mod tests;
