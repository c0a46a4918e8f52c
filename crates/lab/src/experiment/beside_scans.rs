//! Point selects beside long statements, two workers: a statement that burns CPU for as long as it likes must
//! not hold up others.
//!
//! Ours runs with `thread_pool_size=2`. Point selects from 1 to 64 sessions, alone and while four sessions
//! count two million rows again and again. Wanted: p99 under 5 ms beside the scans, and scans that pay next
//! to nothing for yielding: *scan CPU* is the server's CPU for one scan that runs alone. A worker thread
//! per statement would leave the sharing to the kernel; here it is the scheduler's own work.

use std::error::Error;
use std::time::Instant;

use serde_json::json;

use super::point_selects::{Beside, Selected, scan, select_beside};
use super::sbtest;
use crate::contest::{Contestant, gather};
use crate::measure::{Measurement, Measurements, median};
use crate::options::{Options, largest};
use crate::process::fine_cpu_us;
use crate::report::{Report, Table, figure};

const SESSIONS: [usize; 4] = [1, 4, 16, 64];
const SCANS: [usize; 2] = [0, 4];
/// What the 99th percentile must stay under, in milliseconds.
const P99_WANTED_MS: f64 = 5.0;
/// Scans that run alone.
const ALONE: usize = 9;

/// Sessions and scans.
type Key = (usize, usize);

struct Results {
    cells: Measurements<Key>,
    /// Server, key, scans a second, share of the processors that others used.
    beside: Vec<(usize, Key, f64, Option<f64>)>,
}

impl Results {
    fn scans_a_second(&self, who: usize, key: Key) -> Option<f64> {
        median(self.of(who, key).map(|(.., rate, _)| *rate).collect())
    }
    fn outside(&self, who: usize, key: Key) -> Option<f64> {
        self.of(who, key).filter_map(|(.., outside)| *outside).reduce(f64::max)
    }
    fn of(&self, who: usize, key: Key) -> impl Iterator<Item = &(usize, Key, f64, Option<f64>)> {
        self.beside.iter().filter(move |(whose, which, ..)| (*whose, *which) == (who, key))
    }
}

/// Runs the experiment.
///
/// # Errors
/// When one of our own servers cannot be started or miscounts.
pub fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let sessions = options.connections(&SESSIONS, &[4]);
    let contestants =
        gather(options, &["--innodb-buffer-pool-size=2G", "--thread-pool-size=2"], largest(&sessions))?;
    let rows = options.rows(2_000_000, 20_000);
    let published = json!({ "wanted_p99_ms": P99_WANTED_MS });
    let mut report = Report::new("Point selects beside four scans, two workers", published);
    for contestant in contestants.iter().filter(|contestant| contestant.has_tables()) {
        sbtest::prepare(&mut contestant.client()?, rows, &contestant.label)?;
        alone(contestant, rows, &mut report)?;
    }
    let keys: Vec<Key> = sessions.iter().flat_map(|&count| SCANS.map(|scans| (count, scans))).collect();
    let mut results = Results { cells: Measurements::new(), beside: Vec::new() };
    for round in 0..options.rounds(2) {
        for &(count, scans) in &keys {
            for (who, contestant) in contestants.iter().enumerate() {
                let duration = options.duration(4.0, 0.7);
                let beside = Beside { sessions: count, scans, rows, duration };
                let label = format!("point selects from {count} sessions beside {scans} scans");
                match select_beside(contestant, beside, &label) {
                    Ok(Selected { cell, scans_done, outside }) => {
                        report.cell(
                            contestant,
                            &cell,
                            json!({ "server": contestant.label, "scans": scans,
                            "scans_done": scans_done, "outside": outside, "round": round }),
                        );
                        let rate = scans_done as f64 / cell.outcome.elapsed.as_secs_f64();
                        results.beside.push((who, (count, scans), rate, outside));
                        results.cells.add(who, (count, scans), cell);
                    }
                    Err(error) => report.fault(contestant, format!("{label}: {error}")),
                }
            }
        }
    }
    print(&contestants, &keys, &results, &mut report);
    report.finish(options, contestants)
}

/// One scan after another with nothing beside them: what it takes and what it costs.
fn alone(contestant: &Contestant, rows: u64, report: &mut Report) -> Result<(), Box<dyn Error>> {
    let mut session = contestant.client()?;
    scan(&mut session, rows)?; // warm
    let (mut seconds, mut cpu_ms) = (Vec::new(), Vec::new());
    for _ in 0..ALONE {
        let (began, before) = (Instant::now(), contestant.pid.and_then(fine_cpu_us));
        scan(&mut session, rows)?;
        seconds.push(began.elapsed().as_secs_f64());
        let used =
            contestant.pid.and_then(fine_cpu_us).zip(before).map(|(now, then)| now.saturating_sub(then));
        cpu_ms.extend(used.map(|used| used as f64 / 1000.0));
    }
    let (time, cpu) = (median(seconds), median(cpu_ms));
    println!(
        "{}: one COUNT(*) of {rows} rows alone {} s, {} ms of CPU",
        contestant.label,
        figure(time, 3),
        figure(cpu, 1)
    );
    report.sum(&format!("{}, one scan alone", contestant.label), json!({ "seconds": time, "cpu_ms": cpu }));
    Ok(())
}

fn print(contestants: &[Contestant], keys: &[Key], results: &Results, report: &mut Report) {
    let cells = &results.cells;
    let mut table = Table::new(&[
        "sessions",
        "scans beside",
        "server",
        "TPS",
        "avg ms",
        "p50 ms",
        "p99 ms",
        "under 5 ms",
        "max ms",
        "scans/s",
        "others used",
    ]);
    for &key in keys {
        for (who, contestant) in contestants.iter().enumerate() {
            let latency = |cell: &Measurement, share: f64| {
                cell.outcome.latency_us.value_at_quantile(share) as f64 / 1000.0
            };
            let at = |share: f64| cells.median(who, key, |cell| Some(latency(cell, share)));
            let (p99, outside) = (at(0.99), results.outside(who, key));
            table.row(vec![
                key.0.to_string(),
                key.1.to_string(),
                contestant.label.clone(),
                figure(cells.tps(who, key), 0),
                figure(cells.median(who, key, |cell| Some(cell.average_ms())), 2),
                figure(at(0.5), 2),
                figure(p99, 2),
                p99.map_or("n/a", |p99| if p99 < P99_WANTED_MS { "yes" } else { "NO" }).into(),
                figure(at(1.0), 1),
                figure(results.scans_a_second(who, key), 1),
                outside.map_or("n/a".into(), |share| format!("{:.0} %", share * 100.0)),
            ]);
            report.sum(
                &format!("{}, {} sessions, {} scans", contestant.label, key.0, key.1),
                json!({ "tps": cells.tps(who, key), "p99_ms": p99, "outside": outside }),
            );
        }
    }
    table.print(
        "Medians of the rounds. Others used: largest share of the processors that went to neither server nor laboratory; a cell with \
         more than a few percent says what the machine's other work did to it.",
    );
}
