//! A switch in two positions under one and the same load: slices of a second or less, in turn (A B B A), with the
//! connections kept open.
//!
//! On a noisy machine two cells that are seconds apart differ by more than most switches do. Here neighbours are compared:
//! each pair of slices gives a ratio, and the median of the ratios is the figure. After a flip the load settles before
//! the clock runs; transactions that end meanwhile belong to nobody.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use crate::client::ClientError;
use crate::contest::Contestant;
use crate::fleet::{Fleet, Live, Load, Outcome, new_histogram};
use crate::measure::Cell;
use crate::process::{cpu_us, thread_count};
use crate::progress::Progress;

/// What both positions brought.
pub struct Sliced {
    /// A cell for each position; errors and broken connections are those of the whole run.
    pub cells: [Cell; 2],
    /// Transactions a second in position 0 over those in position 1, one for each pair.
    pub ratios: Vec<f64>,
    /// Rows acknowledged as affected in the whole run, settling included.
    pub affected: u64,
}

#[derive(Clone, Copy, Default)]
struct Sum {
    transactions: u64,
    time: Duration,
    cpu_us: Option<u64>,
}

const SETTLING: usize = 2;

/// Runs the load until `pairs` pairs of slices are measured; `flip` puts the switch into position 0 or 1.
///
/// # Errors
/// When a connection fails or the switch cannot be set.
pub fn measure_sliced(
    contestant: &Contestant,
    load: &Load,
    (pairs, slice): (usize, Duration),
    label: &str,
    flip: &mut dyn FnMut(usize) -> Result<(), ClientError>,
) -> Result<Sliced, ClientError> {
    let load = Load { duration: Duration::from_secs(3600), ..load.clone() };
    let fleet = Fleet::open(&load)?;
    let live = Arc::new(Live::default());
    let progress = Progress::start(format!("{}: {label}", contestant.label), live.clone(), 0);
    let client_before = cpu_us(std::process::id());
    live.phase.store(SETTLING, Ordering::SeqCst);
    let shared = live.clone();
    let running = thread::spawn(move || fleet.run(&shared));
    let (mut sums, mut ratios) = ([Sum::default(); 2], Vec::new());
    let mut pace = || -> Result<(), ClientError> {
        for pair in 0..pairs {
            let mut rates = [0.0; 2];
            for position in if pair % 2 == 0 { [0, 1] } else { [1, 0] } {
                flip(position)?;
                let one = slice_of(contestant, &live, position, slice);
                rates[position] = one.transactions as f64 / one.time.as_secs_f64().max(0.001);
                let sum = &mut sums[position];
                sum.transactions += one.transactions;
                sum.time += one.time;
                sum.cpu_us = one.cpu_us.map(|used| used + sum.cpu_us.unwrap_or(0));
            }
            if rates[1] > 0.0 {
                ratios.push(rates[0] / rates[1]);
            }
        }
        Ok(())
    };
    let paced = pace();
    live.stop.store(true, Ordering::SeqCst);
    let outcome = running.join().map_err(|_| ClientError::Protocol("a driver thread failed"))??;
    drop(progress);
    paced?;
    let client = cpu_us(std::process::id()).zip(client_before).map(|(after, before)| after - before);
    let share = |sum: Sum| {
        client.map(|used| (used as f64 * sum.transactions as f64 / outcome.transactions.max(1) as f64) as u64)
    };
    let cells = [0, 1].map(|position| Cell {
        connections: load.connections,
        outcome: Outcome {
            elapsed: sums[position].time,
            transactions: sums[position].transactions,
            first_error: outcome.first_error.clone(),
            latency_us: outcome.phases.get(position).cloned().unwrap_or_else(new_histogram),
            phases: Vec::new(),
            ..outcome
        },
        server_cpu_us: sums[position].cpu_us,
        client_cpu_us: share(sums[position]),
        server_threads: contestant.pid.and_then(thread_count),
        threads_running: None,
        lost: None,
    });
    Ok(Sliced { cells, ratios, affected: outcome.affected })
}

/// Lets the load settle in the new position, then counts for the length of a slice.
fn slice_of(contestant: &Contestant, live: &Live, position: usize, slice: Duration) -> Sum {
    thread::sleep(slice / 4);
    let cpu = contestant.pid.and_then(cpu_us);
    let (done, begin) = (live.transactions.load(Ordering::SeqCst), Instant::now());
    live.phase.store(position, Ordering::SeqCst);
    thread::sleep(slice);
    live.phase.store(SETTLING, Ordering::SeqCst);
    let (time, now) = (begin.elapsed(), live.transactions.load(Ordering::SeqCst));
    let cpu_us = contestant.pid.and_then(cpu_us).zip(cpu).map(|(after, before)| after.saturating_sub(before));
    Sum { transactions: now - done, time, cpu_us }
}
