//! A switch in two positions under one and the same load: many short slices in turn, with the connections
//! kept open.
//!
//! On a noisy machine two cells that are seconds apart differ by more than most switches do. Here neighbours
//! are compared: a *block* is four slices in a row, A B B A or B A A B as a die says, so that a machine which
//! grows slower all the while favours nobody and a load that comes in waves cannot keep step. Each block
//! gives a ratio of transactions a second and one of server CPU per transaction, which noise moves less.
//! Their trimmed mean is the figure, and its bootstrap interval says how well it is known
//! ([`crate::interval`]).
//!
//! *Adjusted.* A hypervisor that takes a processor away does not say so: the guest's clocks count that time
//! as CPU time of whoever had the processor. The laboratory's own CPU per transaction tells of it, because
//! the driver does the same work whichever position the switch is in. So what of a block's ratio goes along
//! with the driver's is taken off (a control variate: the slope is fitted, robustly, to the blocks). The
//! driver's own ratio stands beside the figures; were it far from 1, the switch would change the driver's
//! work and the adjustment would hide something.
//!
//! *Disturbed blocks are left out by what others did*, never by what came out: a block during which processes
//! other than server and laboratory used more than [`OUTSIDE_MAX`] of the machine's processors does not
//! count. Where too few are left all of them count, and the report says so. After a flip the load settles
//! before the clock runs; transactions that end meanwhile belong to nobody.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::ClientError;
use crate::clients::{Clients, Live, Load, Outcome, new_histogram};
use crate::contest::Contestant;
use crate::dice::dice;
use crate::interval::Interval;
use crate::measure::Measurement;
use crate::process::{cpu_us, fine_cpu_us, machine_cpu_us, thread_count};
use crate::progress::Progress;
use crate::report::figure;

/// A block during which others used more than this share of the processors does not count.
pub const OUTSIDE_MAX: f64 = 0.1;
/// Where fewer blocks are left than this, all of them count.
const LEAST_BLOCKS: usize = 8;
/// The load settles for a slice's length divided by this.
pub const SETTLING_SHARE: u32 = 4;
/// The phase of transactions that belong to no position.
const SETTLING: usize = 2;

/// Four neighbouring slices.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// Natural logarithm of position 0's transactions a second over position 1's.
    pub rate: f64,
    /// The same of the server's CPU per transaction, if its process is ours to see.
    pub cpu: Option<f64>,
    /// The same of the laboratory's own CPU per transaction.
    pub client: Option<f64>,
    /// Share of the machine's processors that neither the server nor the laboratory used, while it lasted.
    pub outside: Option<f64>,
}

impl Block {
    /// As it stands in the JSON file.
    pub fn json(&self) -> Value {
        json!({ "rate": self.rate.exp(), "cpu": self.cpu.map(f64::exp), "client_cpu": self.client.map(f64::exp),
            "outside": self.outside })
    }

    fn is_calm(&self) -> bool {
        self.outside.is_none_or(|share| share <= OUTSIDE_MAX)
    }
}

/// What the blocks say together: position 0 over position 1.
#[derive(Clone, Copy, Debug)]
pub struct Compared {
    /// Transactions a second.
    pub rate: Option<Interval>,
    /// Server CPU per transaction.
    pub cpu: Option<Interval>,
    /// Transactions a second, less what goes along with the laboratory's CPU per transaction.
    pub rate_adjusted: Option<Interval>,
    /// Server CPU per transaction, less the same.
    pub cpu_adjusted: Option<Interval>,
    /// The laboratory's own CPU per transaction.
    pub client: Option<Interval>,
    /// Blocks in which nobody else used the machine.
    pub calm: usize,
    /// All of them.
    pub blocks: usize,
}

impl Compared {
    /// Puts blocks of the same cell, of one or more rounds, together.
    pub fn of(blocks: &[Block]) -> Compared {
        let calm: Vec<Block> = blocks.iter().copied().filter(Block::is_calm).collect();
        let counted = if calm.len() < LEAST_BLOCKS { blocks } else { &calm };
        let exp = |known: Interval| known.map(f64::exp);
        let ratio = |of: &dyn Fn(&Block) -> Option<f64>| {
            Interval::of(&counted.iter().filter_map(of).collect::<Vec<_>>()).map(exp)
        };
        let adjusted = |of: &dyn Fn(&Block) -> Option<f64>| {
            let pairs = counted.iter().filter_map(|block| of(block).zip(block.client));
            Interval::adjusted(&pairs.collect::<Vec<_>>()).map(exp)
        };
        let (rate, cpu) = (|block: &Block| Some(block.rate), |block: &Block| block.cpu);
        Compared {
            rate: ratio(&rate),
            cpu: ratio(&cpu),
            rate_adjusted: adjusted(&rate),
            cpu_adjusted: adjusted(&cpu),
            client: ratio(&|block| block.client),
            calm: calm.len(),
            blocks: blocks.len(),
        }
    }

    /// For a table: the ratio, its interval.
    pub fn words(known: Option<Interval>) -> [String; 2] {
        let end = |pick: fn(Interval) -> f64| figure(known.map(pick), 3);
        [end(|one| one.middle), format!("{} to {}", end(|one| one.low), end(|one| one.high))]
    }

    /// Half the width of the widest of the adjusted intervals: how well the figures are known, whatever they
    /// are.
    pub fn half_width(&self) -> f64 {
        let half = |known: Option<Interval>| known.map_or(f64::INFINITY, |one| (one.high - one.low) / 2.0);
        half(self.rate_adjusted).max(if self.cpu.is_some() { half(self.cpu_adjusted) } else { 0.0 })
    }

    /// For a table: how many blocks counted, and whether that was all there is although others used the
    /// machine.
    pub fn counted(&self) -> String {
        let word = if self.calm < LEAST_BLOCKS.min(self.blocks) { "DISTURBED, calm " } else { "" };
        format!("{word}{} of {}", self.calm, self.blocks)
    }

    /// As it stands in the JSON file.
    pub fn json(&self) -> Value {
        let of = |known: Option<Interval>| known.map(|one| [one.middle, one.low, one.high]);
        json!({ "rate": of(self.rate), "cpu": of(self.cpu), "rate_adjusted": of(self.rate_adjusted),
            "cpu_adjusted": of(self.cpu_adjusted), "client_cpu": of(self.client), "calm_blocks": self.calm, "blocks": self.blocks })
    }
}

/// What both positions brought.
pub struct Sliced {
    /// A cell for each position; errors and broken connections are those of the whole run.
    pub cells: [Measurement; 2],
    /// Position 0 against position 1, block by block.
    pub blocks: Vec<Block>,
    /// Rows acknowledged as affected in the whole run, settling included.
    pub affected: u64,
    /// Transactions of the whole run.
    pub transactions: u64,
    /// Rows that came in the whole run.
    pub rows: u64,
}

#[derive(Clone, Copy, Default)]
struct Sum {
    transactions: u64,
    time: Duration,
    cpu_us: Option<u64>,
    client_us: Option<u64>,
}

impl Sum {
    fn add(&mut self, one: Sum) {
        self.transactions += one.transactions;
        self.time += one.time;
        self.cpu_us = one.cpu_us.map(|used| used + self.cpu_us.unwrap_or(0));
        self.client_us = one.client_us.map(|used| used + self.client_us.unwrap_or(0));
    }
    fn rate(&self) -> f64 {
        self.transactions.max(1) as f64 / self.time.as_secs_f64().max(0.001)
    }
    fn cpu(&self) -> Option<f64> {
        self.per_transaction(self.cpu_us)
    }
    fn client(&self) -> Option<f64> {
        self.per_transaction(self.client_us)
    }
    fn per_transaction(&self, used: Option<u64>) -> Option<f64> {
        used.filter(|used| *used > 0).map(|used| used as f64 / self.transactions.max(1) as f64)
    }
}

/// Runs the load for `duration` in blocks of slices of length `slice`; `flip` puts the switch into position 0
/// or 1.
///
/// # Errors
/// When a connection fails or the switch cannot be set.
pub fn measure_sliced(
    contestant: &Contestant,
    load: &Load,
    (duration, slice): (Duration, Duration),
    label: &str,
    flip: &mut dyn FnMut(usize) -> Result<(), ClientError>,
) -> Result<Sliced, ClientError> {
    let load = Load { duration: Duration::from_secs(3600), ..load.clone() };
    let clients = Clients::open(&load)?;
    let live = Arc::new(Live::default());
    let progress = Progress::start(format!("{}: {label}", contestant.label), live.clone(), 0);
    let client_before = cpu_us(std::process::id());
    live.phase.store(SETTLING, Ordering::SeqCst);
    let shared = live.clone();
    let running = thread::spawn(move || clients.run(&shared));
    let (mut sums, mut blocks) = ([Sum::default(); 2], Vec::new());
    let mut pace = || -> Result<(), ClientError> {
        let begin = Instant::now();
        while blocks.is_empty() || begin.elapsed() < duration {
            let order = if dice(blocks.len(), 0, 11).is_multiple_of(2) { [0, 1, 1, 0] } else { [1, 0, 0, 1] };
            let (mut halves, others) = ([Sum::default(); 2], Others::now(contestant));
            for position in order {
                flip(position)?;
                halves[position].add(slice_of(contestant, &live, position, slice));
            }
            let [first, second] = &halves;
            let over = |of: fn(&Sum) -> Option<f64>| {
                of(first).zip(of(second)).map(|(first, second)| (first / second).ln())
            };
            blocks.push(Block {
                rate: (first.rate() / second.rate()).ln(),
                cpu: over(Sum::cpu),
                client: over(Sum::client),
                outside: others.and_then(|others| others.share(contestant)),
            });
            sums.iter_mut().zip(halves).for_each(|(sum, half)| sum.add(half));
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
    let cells = [0, 1].map(|position| Measurement {
        connections: load.connections,
        outcome: Outcome {
            elapsed: sums[position].time,
            transactions: sums[position].transactions,
            first_error: outcome.first_error.clone(),
            latency_us: outcome.phases.get(position).cloned().unwrap_or_else(new_histogram),
            overtaken: outcome.overtaken.clone(),
            phases: Vec::new(),
            ..outcome
        },
        server_cpu_us: sums[position].cpu_us,
        client_cpu_us: share(sums[position]),
        server_threads: contestant.pid.and_then(thread_count),
        threads_running: None,
        lost: None,
    });
    let Outcome { affected, transactions, rows, .. } = outcome;
    Ok(Sliced { cells, blocks, affected, transactions, rows })
}

/// Lets the load settle in the new position, then counts for the length of a slice.
fn slice_of(contestant: &Contestant, live: &Live, position: usize, slice: Duration) -> Sum {
    thread::sleep(slice / SETTLING_SHARE);
    let clocks = || [contestant.pid.and_then(fine_cpu_us), fine_cpu_us(std::process::id())];
    let before = clocks();
    let (done, begin) = (live.transactions.load(Ordering::SeqCst), Instant::now());
    live.phase.store(position, Ordering::SeqCst);
    thread::sleep(slice);
    live.phase.store(SETTLING, Ordering::SeqCst);
    let (time, now) = (begin.elapsed(), live.transactions.load(Ordering::SeqCst));
    let after = clocks();
    let used = |who: usize| after[who].zip(before[who]).map(|(after, before)| after.saturating_sub(before));
    Sum { transactions: now - done, time, cpu_us: used(0), client_us: used(1) }
}

/// CPU time of the machine and of those who are measured.
pub struct Others {
    began: Instant,
    machine_us: u64,
    measured_us: u64,
}

impl Others {
    /// As it is now; None where it cannot be seen.
    pub fn now(contestant: &Contestant) -> Option<Others> {
        let measured_us = cpu_us(contestant.pid?)? + cpu_us(std::process::id())?;
        Some(Others { began: Instant::now(), machine_us: machine_cpu_us()?, measured_us })
    }

    /// Share of the processors that others have used since.
    pub fn share(&self, contestant: &Contestant) -> Option<f64> {
        let now = Others::now(contestant)?;
        let spent = now.machine_us.saturating_sub(self.machine_us) as f64;
        let measured = now.measured_us.saturating_sub(self.measured_us) as f64;
        let processors = thread::available_parallelism().ok()?.get() as f64;
        let room = (now.began - self.began).as_micros() as f64 * processors;
        Some(((spent - measured) / room.max(1.0)).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::{Block, Compared};

    fn block(ratio: f64, outside: f64) -> Block {
        Block {
            client: Some(0.0),
            rate: f64::ln(ratio),
            cpu: Some(f64::ln(1.0 / ratio)),
            outside: Some(outside),
        }
    }

    #[test]
    fn blocks_that_others_disturbed_do_not_count() {
        let mut blocks = vec![block(1.0, 0.01); 10];
        blocks.extend(vec![block(3.0, 0.5); 10]);
        let compared = Compared::of(&blocks);
        assert_eq!(compared.rate.map(|known| known.middle), Some(1.0));
        assert_eq!(compared.counted(), "10 of 20");
    }

    #[test]
    fn what_came_out_never_decides_whether_a_block_counts() {
        let mut blocks = vec![block(1.0, 0.01); 5];
        blocks.extend(vec![block(0.5, 0.01); 5]);
        let known = Compared::of(&blocks).rate.expect("ten calm blocks");
        assert!(known.low < 0.6 && known.high > 0.9, "{known:?}");
    }

    #[test]
    fn too_few_calm_ones_are_said() {
        let mut blocks = vec![block(1.0, 0.01); 3];
        blocks.extend(vec![block(3.0, 0.5); 10]);
        let compared = Compared::of(&blocks);
        assert_eq!(compared.counted(), "DISTURBED, calm 3 of 13");
        assert!(compared.rate.is_some_and(|known| known.middle > 2.0), "all of them count");
    }
}
