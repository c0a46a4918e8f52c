//! Experiment E2 by the clock: the same updates and the same snapshot as in [`super::purge_lag`], but so many
//! updates a second as the server can easily do (half of what the closed loop made without a snapshot, or
//! `--rate`).
//!
//! In the closed loop a second in which the machine was elsewhere for 100 ms has a tenth fewer transactions,
//! whoever answers. Here an update is due when it is due: a pause makes answers late and is caught up within
//! the second, as there is room for it, but a server that has too much to do for longer than that is behind
//! in the second and in those after it. So a second under 0.9 is the server's, unless the floor has such
//! seconds at the same rate; and a stall that is caught up stands in the latencies, which count from the time
//! at which the update was due. Updates that were due and never sent are *unsent*.

use std::error::Error;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde_json::json;

use super::purge_lag::{SLOW, checked};
use super::purge_watch::{CLOSED, OPEN, Second, Watched, watch};
use crate::clients::Load;
use crate::contest::Contestant;
use crate::hot_row::{self, PLENTY, Variant};
use crate::measure::median;
use crate::options::Options;
use crate::report::{Report, Table, figure, ratio};

/// The rate, as a share of the closed loop's without a snapshot.
pub const SHARE: f64 = 0.5;
/// A part without a snapshot is shorter than a run by this; there is one before it and one behind it.
const FOURTH: u32 = 4;

/// Stands above the table.
pub const LEGEND: &str = "By the clock: updates come due at a fixed rate, latency counts from then. /none: over the median without a snapshot. Open, \
     after: while the snapshot was open, and when it was closed.";

/// The empty table.
pub fn table() -> Table {
    Table::new(&[
        "server",
        "snapshot",
        "rate",
        "median TPS",
        "min TPS",
        "/none",
        "under 0.9",
        "p50 ms",
        "p99 ms open",
        "after",
        "longest",
        "cpu us/tx",
        "highest/none",
        "max history",
        "exact",
        "its read ms",
        "longest",
        "fresh read ms",
        "longest",
        "unsent",
    ])
}

/// One line of the table.
struct Part {
    snapshot: String,
    seconds: Vec<Second>,
    phases: Vec<Histogram<u64>>,
    unsent: u64,
    /// Whether the snapshot saw its row, and its last read.
    snapshot_read: Option<(bool, Option<f64>)>,
    lost: Option<i64>,
}

impl Part {
    fn of(snapshot: Option<String>, watched: Watched, lost: Option<i64>) -> Part {
        let snapshot_read = snapshot.is_some().then_some((watched.exact, watched.last_snapshot_ms));
        Part {
            snapshot: snapshot.unwrap_or_else(|| "none".into()),
            seconds: watched.seconds,
            phases: watched.outcome.phases,
            unsent: watched.outcome.unsent,
            snapshot_read,
            lost,
        }
    }

    /// Puts the second of two parts behind the first.
    fn append(&mut self, other: Part) -> Result<(), Box<dyn Error>> {
        self.seconds.extend(other.seconds);
        for (mine, more) in self.phases.iter_mut().zip(&other.phases) {
            mine.add(more)?;
        }
        self.unsent += other.unsent;
        self.lost = self.lost.zip(other.lost).map(|(one, two)| one + two);
        Ok(())
    }

    fn at(&self, phase: usize, share: f64) -> Option<f64> {
        let latency = self.phases.get(phase).filter(|latency| !latency.is_empty())?;
        Some(latency.value_at_quantile(share) as f64 / 1000.0)
    }
}

/// Runs one server at `rate` updates a second: without a snapshot, with one, without; the floor only without.
///
/// # Errors
/// When a connection fails or a question is refused.
pub fn server(
    contestant: &Contestant,
    options: &Options,
    rate: f64,
    table: &mut Table,
    report: &mut Report,
) -> Result<(), Box<dyn Error>> {
    let duration = options.duration(60.0, 5.0);
    let connections = options.connections(&[64], &[16])[0];
    let load = |duration| {
        let load = hot_row::load(&contestant.target, Variant::Plain, connections, duration);
        Load { rate: Some(rate), ..load }
    };
    let none = load((duration / FOURTH).max(Duration::from_secs(1)));
    if !contestant.has_tables() {
        let part = Part::of(None, watch(contestant, &none, Duration::ZERO, "by the clock")?, None);
        table.row(summarise(contestant, rate, &part, &part, report));
        return Ok(());
    }
    let mut admin = contestant.client()?;
    hot_row::prepare(&mut admin, PLENTY)?;
    let mut run = |load: &Load, open_for: Duration| -> Result<Part, Box<dyn Error>> {
        let (watched, lost) = checked(contestant, &mut admin, load, open_for, report)?;
        let snapshot = format!("{} s of {}", open_for.as_secs(), duration.as_secs());
        Ok(Part::of((!open_for.is_zero()).then_some(snapshot), watched, Some(lost)))
    };
    let mut without = run(&none, Duration::ZERO)?;
    let with = run(&load(duration), duration * 2 / 3)?;
    without.append(run(&none, Duration::ZERO)?)?;
    for part in [&without, &with] {
        table.row(summarise(contestant, rate, part, &without, report));
    }
    Ok(())
}

fn summarise(
    contestant: &Contestant,
    rate: f64,
    part: &Part,
    without: &Part,
    report: &mut Report,
) -> Vec<String> {
    let middle =
        |part: &Part, of: fn(&Second) -> Option<f64>| median(part.seconds.iter().filter_map(of).collect());
    let longest = |of: fn(&Second) -> Option<f64>| part.seconds.iter().filter_map(of).reduce(f64::max);
    let tps = |second: &Second| Some(second.tps);
    let (usual, usual_cpu) = (middle(without, tps), middle(without, |second| second.cpu_us));
    let least = part.seconds.iter().map(|second| second.tps).reduce(f64::min);
    let slow =
        part.seconds.iter().filter(|second| usual.is_some_and(|usual| second.tps < SLOW * usual)).count();
    let history = part.seconds.iter().filter_map(|second| second.history).max();
    let longest_ms = [OPEN, CLOSED].iter().filter_map(|&phase| part.at(phase, 1.0)).reduce(f64::max);
    let (exact, last_read_ms) = part.snapshot_read.unzip();
    let figures = json!({
        "rate": rate,
        "median_tps": middle(part, tps),
        "min_tps": least,
        "min_over_none": ratio(least, usual),
        "slow_seconds": slow,
        "p50_ms": part.at(OPEN, 0.5),
        "p99_open_ms": part.at(OPEN, 0.99),
        "p99_after_ms": part.at(CLOSED, 0.99),
        "longest_ms": longest_ms,
        "server_cpu_us_per_tx": middle(part, |second| second.cpu_us),
        "highest_cpu_over_none": ratio(longest(|second| second.cpu_us), usual_cpu),
        "max_history": history,
        "snapshot_exact": exact,
        "snapshot_last_read_ms": last_read_ms.flatten(),
        "snapshot_longest_read_ms": longest(|second| second.snapshot_ms),
        "fresh_read_ms": middle(part, |second| second.fresh_ms),
        "fresh_longest_read_ms": longest(|second| Some(second.fresh_longest_ms)),
        "unsent": part.unsent,
    });
    report.sum(&format!("{}, by the clock, snapshot {}", contestant.label, part.snapshot), figures.clone());
    report.value(json!({ "server": contestant.label, "by_the_clock": true, "snapshot": part.snapshot, "lost": part.lost,
        "figures": figures, "seconds": part.seconds.iter().map(Second::json).collect::<Vec<_>>() }));
    let shown = |name: &str, digits: usize| figure(figures[name].as_f64(), digits);
    vec![
        contestant.label.clone(),
        part.snapshot.clone(),
        shown("rate", 0),
        shown("median_tps", 0),
        shown("min_tps", 0),
        shown("min_over_none", 2),
        format!("{slow} of {}", part.seconds.len()),
        shown("p50_ms", 2),
        shown("p99_open_ms", 2),
        shown("p99_after_ms", 2),
        shown("longest_ms", 1),
        shown("server_cpu_us_per_tx", 1),
        shown("highest_cpu_over_none", 2),
        figures["max_history"].as_i64().map_or("n/a".into(), |history| history.to_string()),
        exact.map_or("-", |exact| if exact { "yes" } else { "NO" }).into(),
        shown("snapshot_last_read_ms", 2),
        shown("snapshot_longest_read_ms", 2),
        shown("fresh_read_ms", 2),
        shown("fresh_longest_read_ms", 2),
        part.unsent.to_string(),
    ]
}
