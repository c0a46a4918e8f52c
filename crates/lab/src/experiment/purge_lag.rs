//! Experiment E2, the history: hot-row updates while one REPEATABLE READ snapshot stays open.
//!
//! A run lasts 60 s, its snapshot is open for the first 40 s. Servers that have `innodb_max_purge_size` run
//! with 0 and with 500. Before the runs and behind them 20 s pass without any snapshot: the median of those
//! seconds is what a second of a run is compared with, and their own spread is what the machine does by
//! itself. In the published case the history list passed 300,000 entries and a purge round took seconds to
//! minutes; here old servers need tens of milliseconds for the snapshot's one row, because they walk every
//! version made since.
//!
//! The load is a closed loop: as fast as it goes. Then the same again by the clock, at half of that rate
//! ([`super::purge_paced`]), where a second has room for the machine's pauses.
//!
//! *Whose doing is a slow second?* On a shared machine a second is slow for reasons outside. So each second
//! has its CPU per transaction: if the server had more to do in it (versions to walk, purge rounds, pages to
//! write), that figure rises as the rate falls. Seconds in which others used the processors are counted
//! apart, by what they used and not by what came out.

use std::error::Error;
use std::time::Duration;

use serde_json::json;

use super::purge_paced;
use super::purge_watch::{Second, Watched, watch};
use crate::client::Client;
use crate::clients::Load;
use crate::contest::{Contestant, gather};
use crate::hot_row::{self, PLENTY, Variant};
use crate::measure::median;
use crate::options::{Options, largest};
use crate::report::{Report, Table, figure, ratio};
use crate::switch::Switch;

const HEAD: [&str; 19] = [
    "server",
    "snapshot",
    "max_purge_size",
    "median TPS",
    "/none",
    "min TPS",
    "/none",
    "calm seconds",
    "min of them/none",
    "under 0.9",
    "cpu us/tx",
    "highest/none",
    "max history",
    "exact",
    "its read ms",
    "longest",
    "fresh read ms",
    "longest",
    "flushed",
];
/// A second under this share of the median without a snapshot is slow.
pub const SLOW: f64 = 0.9;
/// A part without a snapshot is shorter than a run by this.
const THIRD: u32 = 3;

/// Runs the experiment, one server after another.
///
/// # Errors
/// When one of our own servers cannot be started, loses something or shows the snapshot another row.
pub fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let contestants = gather(options, &[], largest(&options.connections(&[64], &[16])))?;
    let published = json!({ "history_list": 300_000, "note": "after 30 minutes; one purge round took seconds to minutes" });
    let mut report = Report::new("E2 purge lag: hot-row updates under an open snapshot", published);
    let (mut table, mut paced) = (Table::new(&HEAD), purge_paced::table());
    let mut rate = options.rate;
    for contestant in &contestants {
        if let Err(error) = both_loops(contestant, options, &mut rate, [&mut table, &mut paced], &mut report)
        {
            report.fault(contestant, error.to_string());
        }
    }
    table.print(
        "/none: over the median without a snapshot. Calm: others used less than a tenth of the processors. CPU: the server's per \
         transaction, the median of the seconds and the highest one. Published: history list over 300,000, throughput falls while a \
         purge round runs.",
    );
    paced.print(purge_paced::LEGEND);
    report.finish(options, contestants)
}

/// The closed loop, then the clock's. A rate that the caller did not give is a share of what the first server
/// made without a snapshot; the floor comes last and runs at the same.
fn both_loops(
    contestant: &Contestant,
    options: &Options,
    rate: &mut Option<f64>,
    [closed, paced]: [&mut Table; 2],
    report: &mut Report,
) -> Result<(), Box<dyn Error>> {
    let usual = server(contestant, options, closed, report)?;
    let own = options.rate.or(usual.filter(|_| contestant.has_tables()).map(|tps| tps * purge_paced::SHARE));
    if rate.is_none() {
        *rate = own;
    }
    match own.or(*rate) {
        Some(rate) => purge_paced::server(contestant, options, rate, paced, report),
        None => Ok(()),
    }
}

/// One line of the table.
struct Part {
    /// Seconds for which a snapshot was open, in words.
    snapshot: String,
    cap: &'static str,
    seconds: Vec<Second>,
    exact: Option<bool>,
    last_snapshot_ms: Option<f64>,
    /// Acknowledged minus applied; None where there are no tables.
    lost: Option<i64>,
}

/// The closed loop; with its median rate without a snapshot.
fn server(
    contestant: &Contestant,
    options: &Options,
    table: &mut Table,
    report: &mut Report,
) -> Result<Option<f64>, Box<dyn Error>> {
    let duration = options.duration(60.0, 5.0);
    let connections = options.connections(&[64], &[16])[0];
    let load = |duration| hot_row::load(&contestant.target, Variant::Plain, connections, duration);
    let none = load((duration / THIRD).max(Duration::from_secs(1)));
    let part = |cap, seconds, lost| Part {
        snapshot: "none".into(),
        cap,
        seconds,
        exact: None,
        last_snapshot_ms: None,
        lost,
    };
    if !contestant.has_tables() {
        let seconds = watch(contestant, &none, Duration::ZERO, "floor")?.seconds;
        table.row(summarise(contestant, &part("n/a", seconds, None), None, report));
        return Ok(None);
    }
    let mut admin = contestant.client()?;
    hot_row::prepare(&mut admin, PLENTY)?;
    let cap = Switch::find(&mut admin, "innodb_max_purge_size")?;
    let (first, mut lost) = checked(contestant, &mut admin, &none, Duration::ZERO, report)?;
    let mut without = first.seconds;
    let mut caps = Vec::new();
    for value in ["0", "500"] {
        if cap.set(&mut admin, value)? {
            caps.push(value);
        }
    }
    if caps.is_empty() {
        caps.push("n/a");
    }
    let open_for = duration * 2 / 3;
    let mut parts = Vec::new();
    for value in caps {
        if value != "n/a" {
            cap.set(&mut admin, value)?;
        }
        let (Watched { seconds, exact, last_snapshot_ms, .. }, lost) =
            checked(contestant, &mut admin, &load(duration), open_for, report)?;
        let snapshot = format!("{} s of {}", open_for.as_secs(), duration.as_secs());
        parts.push(Part {
            snapshot,
            cap: value,
            seconds,
            exact: Some(exact),
            last_snapshot_ms,
            lost: Some(lost),
        });
    }
    cap.restore(&mut admin)?;
    let (last, lost_at_last) = checked(contestant, &mut admin, &none, Duration::ZERO, report)?;
    without.extend(last.seconds);
    lost += lost_at_last;
    parts.insert(0, part("-", without, Some(lost)));
    let usual = Usual::of(&parts[0].seconds);
    for part in &parts {
        table.row(summarise(contestant, part, Some(&usual), report));
    }
    Ok(usual.tps)
}

/// Runs the load under the watcher's eyes, and sees that nothing was lost and the snapshot saw its row. With
/// what was lost.
///
/// # Errors
/// When a connection fails or a question is refused.
pub fn checked(
    contestant: &Contestant,
    admin: &mut Client,
    load: &Load,
    snapshot_for: Duration,
    report: &mut Report,
) -> Result<(Watched, i64), Box<dyn Error>> {
    let stock = hot_row::stock(admin)?;
    let label = if snapshot_for.is_zero() { "no snapshot" } else { "snapshot open, then closed" };
    let watched = watch(contestant, load, snapshot_for, label)?;
    let lost = watched.outcome.affected as i64 - (stock - hot_row::stock(admin)?);
    if lost != 0 || watched.outcome.errors + watched.outcome.broken != 0 || !watched.exact {
        let error = watched.outcome.first_error.as_deref().unwrap_or("none");
        report
            .fault(contestant, format!("lost {lost}, snapshot exact {}, first error {error}", watched.exact));
    }
    Ok((watched, lost))
}

/// What a second is like without a snapshot.
struct Usual {
    tps: Option<f64>,
    cpu_us: Option<f64>,
}

impl Usual {
    fn of(seconds: &[Second]) -> Usual {
        Usual {
            tps: median(seconds.iter().map(|second| second.tps).collect()),
            cpu_us: median(seconds.iter().filter_map(|second| second.cpu_us).collect()),
        }
    }
}

fn summarise(
    contestant: &Contestant,
    part: &Part,
    usual: Option<&Usual>,
    report: &mut Report,
) -> Vec<String> {
    let seconds = &part.seconds;
    let own = Usual::of(seconds);
    let usual = usual.unwrap_or(&own);
    let longest = |values: &mut dyn Iterator<Item = f64>| values.reduce(f64::max);
    let least = seconds.iter().map(|second| second.tps).reduce(f64::min);
    let calm: Vec<f64> = seconds.iter().filter(|second| second.is_calm()).map(|second| second.tps).collect();
    let least_calm = calm.iter().copied().reduce(f64::min);
    let is_slow = |tps: &f64| usual.tps.is_some_and(|usual| *tps < SLOW * usual);
    let slow = seconds.iter().filter(|second| is_slow(&second.tps)).count();
    let slow_calm = calm.iter().filter(|tps| is_slow(tps)).count();
    let highest = longest(&mut seconds.iter().filter_map(|second| second.cpu_us));
    let history = seconds.iter().filter_map(|second| second.history).max();
    let snapshot_longest = longest(&mut seconds.iter().filter_map(|second| second.snapshot_ms));
    let fresh = median(seconds.iter().filter_map(|second| second.fresh_ms).collect());
    let fresh_longest = longest(&mut seconds.iter().map(|second| second.fresh_longest_ms));
    let flushed: i64 = seconds.iter().filter_map(|second| second.pages_flushed).sum();
    let shares = [ratio(own.tps, usual.tps), ratio(least, usual.tps), ratio(least_calm, usual.tps)];
    let cpu_share = ratio(highest, usual.cpu_us);
    let sums = json!({
        "median_tps": own.tps,
        "median_over_none": shares[0],
        "min_over_none": shares[1],
        "calm_seconds": calm.len(),
        "min_calm_over_none": shares[2],
        "slow_seconds": slow,
        "slow_calm_seconds": slow_calm,
        "server_cpu_us_per_tx": own.cpu_us,
        "highest_cpu_over_none": cpu_share,
        "max_history": history,
        "snapshot_exact": part.exact,
        "snapshot_last_read_ms": part.last_snapshot_ms,
        "snapshot_longest_read_ms": snapshot_longest,
        "fresh_read_ms": fresh,
        "fresh_longest_read_ms": fresh_longest,
    });
    report.sum(
        &format!("{}, snapshot {}, max_purge_size {}", contestant.label, part.snapshot, part.cap),
        sums.clone(),
    );
    report.value(json!({ "server": contestant.label, "snapshot": part.snapshot, "max_purge_size": part.cap,
        "snapshot_exact": part.exact, "lost": part.lost, "figures": sums, "seconds": seconds.iter().map(Second::json).collect::<Vec<_>>() }));
    vec![
        contestant.label.clone(),
        part.snapshot.clone(),
        part.cap.into(),
        figure(own.tps, 0),
        figure(shares[0], 2),
        figure(least, 0),
        figure(shares[1], 2),
        format!("{} of {}", calm.len(), seconds.len()),
        figure(shares[2], 2),
        format!("{slow}, calm {slow_calm}"),
        figure(own.cpu_us, 1),
        figure(cpu_share, 2),
        history.map_or("n/a".into(), |history| history.to_string()),
        part.exact.map_or("-", |exact| if exact { "yes" } else { "NO" }).into(),
        figure(part.last_snapshot_ms, 2),
        figure(snapshot_longest, 2),
        figure(fresh, 2),
        figure(fresh_longest, 2),
        flushed.to_string(),
    ]
}
