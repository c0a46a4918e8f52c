//! Experiment E2, the history: hot-row updates while one REPEATABLE READ snapshot stays open.
//!
//! A run lasts 60 s, its snapshot is open for the first 40 s. Ten seconds without any snapshot come first: their median
//! is what a second of the run is compared with. Servers that have `innodb_max_purge_size` run with 0 and with 500. In
//! the published case the history list passed 300,000 entries and a purge round took seconds to minutes; here old
//! servers need tens of milliseconds for the snapshot's one row, because they walk every version made since.

use std::error::Error;
use std::time::Duration;

use serde_json::json;

use super::purge_watch::{Watched, watch};
use crate::bench::Options;
use crate::contest::{Contestant, gather};
use crate::hot_row::{self, PLENTY, Variant};
use crate::measure::{measure, median};
use crate::process::cpu_us;
use crate::report::{Report, Table, figure, ratio};
use crate::switch::Switch;

const HEAD: [&str; 13] = [
    "server",
    "max_purge_size",
    "median TPS before",
    "min TPS",
    "min/median",
    "end TPS",
    "max history",
    "snapshot exact",
    "its read ms",
    "longest",
    "fresh read ms",
    "longest",
    "cpu us/tx",
];

/// Runs the experiment, one server after another.
///
/// # Errors
/// When one of our own servers cannot be started, loses something or shows the snapshot another row.
pub fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let contestants = gather(options, &[])?;
    let published = json!({ "history_list": 300_000, "note": "after 30 minutes; one purge round took seconds to minutes" });
    let mut report = Report::new("E2 purge lag: hot-row updates under an open snapshot", published);
    let mut table = Table::new(&HEAD);
    for contestant in &contestants {
        if let Err(error) = server(contestant, options, &mut table, &mut report) {
            report.fault(contestant, error.to_string());
        }
    }
    table.print("Published: history list over 300,000, throughput falls while a purge round runs.");
    report.finish(options, contestants)
}

fn server(
    contestant: &Contestant,
    options: &Options,
    table: &mut Table,
    report: &mut Report,
) -> Result<(), Box<dyn Error>> {
    let duration = options.duration(60.0, 5.0);
    let before = Duration::from_secs((duration.as_secs() / 6).max(1));
    let connections = options.connections(&[64], &[16])[0];
    let load = |duration| hot_row::load(&contestant.target, Variant::Plain, connections, duration);
    if !contestant.has_tables() {
        let cell = measure(contestant, &load(before), "floor")?;
        report.cell(contestant, &cell, json!({ "server": contestant.label, "cell": "floor" }));
        let mut row = vec![contestant.label.clone(), "n/a".into(), figure(Some(cell.tps()), 0)];
        row.resize(HEAD.len(), "-".into());
        table.row(row);
        return Ok(());
    }
    let mut admin = contestant.client()?;
    hot_row::prepare(&mut admin, PLENTY)?;
    let alone = watch(contestant, &load(before), Duration::ZERO, "no snapshot")?;
    let median_before = median(alone.seconds.iter().map(|second| second.tps).collect());
    let cap = Switch::find(&mut admin, "innodb_max_purge_size")?;
    let mut caps = Vec::new();
    for value in ["0", "500"] {
        if cap.set(&mut admin, value)? {
            caps.push(value);
        }
    }
    if caps.is_empty() {
        caps.push("n/a");
    }
    for value in caps {
        if value != "n/a" {
            cap.set(&mut admin, value)?;
        }
        let stock = hot_row::stock(&mut admin)?;
        let cpu = contestant.pid.and_then(cpu_us);
        let watched = watch(contestant, &load(duration), duration * 2 / 3, "snapshot open, then closed")?;
        let used = contestant.pid.and_then(cpu_us).zip(cpu).map(|(after, before)| (after - before) as f64);
        let lost = watched.outcome.affected as i64 - (stock - hot_row::stock(&mut admin)?);
        let cpu_per_transaction = ratio(used, Some(watched.outcome.transactions as f64));
        if lost != 0 || watched.outcome.errors + watched.outcome.broken != 0 || !watched.exact {
            let error = watched.outcome.first_error.as_deref().unwrap_or("none");
            let text = format!("lost {lost}, snapshot exact {}, first error {error}", watched.exact);
            report.fault(contestant, text);
        }
        let row = summarise(contestant, value, median_before, &watched, cpu_per_transaction, lost, report);
        table.row(row);
    }
    cap.restore(&mut admin)?;
    Ok(())
}

fn summarise(
    contestant: &Contestant,
    cap: &str,
    median_before: Option<f64>,
    watched: &Watched,
    cpu_per_transaction: Option<f64>,
    lost: i64,
    report: &mut Report,
) -> Vec<String> {
    let seconds = &watched.seconds;
    let longest = |values: &mut dyn Iterator<Item = f64>| values.reduce(f64::max);
    let least = seconds.iter().map(|second| second.tps).reduce(f64::min);
    let tail = &seconds[seconds.len() * 5 / 6..];
    let at_end = median(tail.iter().map(|second| second.tps).collect());
    let history = seconds.iter().filter_map(|second| second.history).max();
    let snapshot_longest = longest(&mut seconds.iter().filter_map(|second| second.snapshot_ms));
    let fresh = median(seconds.iter().filter_map(|second| second.fresh_ms).collect());
    let fresh_longest = longest(&mut seconds.iter().map(|second| second.fresh_longest_ms));
    let share = ratio(least, median_before);
    let figures = json!({
        "server": contestant.label,
        "max_purge_size": cap,
        "median_tps_before": median_before,
        "min_tps": least,
        "min_over_median": share,
        "tps_at_end": at_end,
        "max_history": history,
        "snapshot_exact": watched.exact,
        "snapshot_last_read_ms": watched.last_snapshot_ms,
        "snapshot_longest_read_ms": snapshot_longest,
        "fresh_read_ms": fresh,
        "fresh_longest_read_ms": fresh_longest,
        "server_cpu_us_per_tx": cpu_per_transaction,
        "transactions": watched.outcome.transactions,
        "errors": watched.outcome.errors,
        "lost": lost,
        "seconds": seconds.iter().map(|second| second.json()).collect::<Vec<_>>(),
    });
    report.value(figures);
    report.sum(
        &format!("{}, max_purge_size {cap}", contestant.label),
        json!({ "min_over_median": share, "max_history": history, "snapshot_last_read_ms": watched.last_snapshot_ms }),
    );
    vec![
        contestant.label.clone(),
        cap.into(),
        figure(median_before, 0),
        figure(least, 0),
        figure(share, 2),
        figure(at_end, 0),
        history.map_or("n/a".into(), |history| history.to_string()),
        if watched.exact { "yes" } else { "NO" }.into(),
        figure(watched.last_snapshot_ms, 2),
        figure(snapshot_longest, 2),
        figure(fresh, 2),
        figure(fresh_longest, 2),
        figure(cpu_per_transaction, 1),
    ]
}
