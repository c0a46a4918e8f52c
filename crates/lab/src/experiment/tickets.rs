//! Experiment E4, tickets: long scans and point selects when one statement at a time may be inside the
//! engine.
//!
//! `innodb_thread_concurrency=1`. One `SELECT COUNT(*)` alone; two in parallel with 500 and with 10,000,000
//! `innodb_concurrency_tickets`; then point selects while two scans go on and on, with both settings.
//! Published (MySQL 5.5.18, 9,028,285 rows): 16.23 s alone, 95.5 and 92.9 s for two with 500 tickets, 16.1
//! and 30.6 s with ten million: the cliff is a scan that leaves and queues again 18,056 times. Last, without
//! a limit, point selects beside four scans.

use std::error::Error;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::point_selects::{Beside, Selected, scan, select_beside};
use super::sbtest;
use crate::client::{Client, ClientError};
use crate::contest::{Contestant, gather};
use crate::measure::{Measurement, Measurements, median};
use crate::options::{Options, largest};
use crate::report::{Report, Table, figure, ratio};
use crate::switch::Switch;

/// Scans are repeated until so much time has gone into them, and at least so many times, for a median.
const SCAN_TIME: Duration = Duration::from_secs(3);
const LEAST_SCANS: usize = 3;
const MOST_SCANS: usize = 15;
const POINT_SESSIONS: usize = 16;

/// Tickets, and what is going on beside the point selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Setting {
    concurrency: &'static str,
    tickets: &'static str,
    scans: usize,
}

const SETTINGS: [Setting; 5] = [
    Setting { concurrency: "1", tickets: "500", scans: 0 },
    Setting { concurrency: "1", tickets: "500", scans: 2 },
    Setting { concurrency: "1", tickets: "10000000", scans: 2 },
    Setting { concurrency: "0", tickets: "500", scans: 0 },
    Setting { concurrency: "0", tickets: "500", scans: 4 },
];

struct Switches {
    concurrency: Switch,
    tickets: Switch,
}

impl Switches {
    fn find(client: &mut Client) -> Result<Switches, ClientError> {
        Ok(Switches {
            concurrency: Switch::find(client, "innodb_thread_concurrency")?,
            tickets: Switch::find(client, "innodb_concurrency_tickets")?,
        })
    }
    /// False where the server has no such limit.
    fn set(&self, client: &mut Client, concurrency: &str, tickets: &str) -> Result<bool, ClientError> {
        Ok(self.concurrency.set(client, concurrency)? & self.tickets.set(client, tickets)?)
    }
    fn restore(&self, client: &mut Client) -> Result<(), ClientError> {
        self.concurrency.restore(client)?;
        self.tickets.restore(client)
    }
}

/// Runs the experiment.
///
/// # Errors
/// When one of our own servers cannot be started or miscounts.
pub fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let contestants = gather(
        options,
        &["--innodb-buffer-pool-size=3G"],
        largest(&options.connections(&[POINT_SESSIONS], &[4])),
    )?;
    let rows = options.rows(2_000_000, 20_000);
    let published = json!({ "rows": 9_028_285, "alone_s": 16.23, "two_500_s": [95.5, 92.9], "two_10000000_s": [16.1, 30.6] });
    let mut report = Report::new("E4 tickets: two scans and point selects, one slot", published);
    for contestant in contestants.iter().filter(|contestant| contestant.has_tables()) {
        sbtest::prepare(&mut contestant.client()?, rows, &contestant.label)?;
    }
    scans(&contestants, options, rows, &mut report);
    points(&contestants, options, rows, &mut report);
    report.finish(options, contestants)
}

/// The scans' part: one alone, two with few and two with many tickets, in turn.
fn scans(contestants: &[Contestant], options: &Options, rows: u64, report: &mut Report) {
    let mut table = Table::new(&[
        "server",
        "limit",
        "one alone s",
        "two, 500: first",
        "second",
        "two, 10000000: first",
        "second",
        "500/10000000",
    ]);
    for contestant in contestants.iter().filter(|contestant| contestant.has_tables()) {
        let limit = if options.quick { Duration::from_millis(300) } else { SCAN_TIME };
        match scan_times(contestant, rows, limit * options.rounds.unwrap_or(1) as u32) {
            Ok((limited, [alone, few, many])) => {
                let middle = |times: &[(f64, f64)], second: bool| {
                    median(times.iter().map(|&(a, b)| if second { b } else { a }).collect())
                };
                let cliff = ratio(middle(&few, true), middle(&many, true));
                table.row(vec![
                    contestant.label.clone(),
                    if limited { "1" } else { "n/a" }.into(),
                    figure(middle(&alone, true), 3),
                    figure(middle(&few, false), 3),
                    figure(middle(&few, true), 3),
                    figure(middle(&many, false), 3),
                    figure(middle(&many, true), 3),
                    figure(cliff, 2),
                ]);
                for (name, times) in [("one alone", &alone), ("two, 500", &few), ("two, 10000000", &many)] {
                    report.value(json!({ "server": contestant.label, "cell": name, "limited": limited, "seconds": times }));
                }
                report.sum(
                    &format!("{}, scans", contestant.label),
                    json!({ "limited": limited, "two_500_over_two_10000000": cliff }),
                );
            }
            Err(error) => report.fault(contestant, format!("scans: {error}")),
        }
    }
    table.row(
        ["published, 9,028,285 rows", "1", "16.23", "92.9", "95.5", "16.1", "30.6", "3.12"]
            .map(String::from)
            .to_vec(),
    );
    table.print(&format!("SELECT COUNT(*) of {rows} rows, seconds, medians; first and second to finish."));
}

type Times = Vec<(f64, f64)>;

fn scan_times(
    contestant: &Contestant,
    rows: u64,
    limit: Duration,
) -> Result<(bool, [Times; 3]), Box<dyn Error>> {
    let mut admin = contestant.client()?;
    let switches = Switches::find(&mut admin)?;
    let mut sessions = vec![contestant.client()?, contestant.client()?];
    let limited = switches.set(&mut admin, "1", "500")?;
    let mut all = [Vec::new(), Vec::new(), Vec::new()];
    let begin = Instant::now();
    pair(&mut sessions, rows)?; // warm
    for turn in 0..MOST_SCANS {
        if turn >= LEAST_SCANS && begin.elapsed() > limit {
            break;
        }
        all[0].push(pair(&mut sessions[..1], rows)?);
        for (place, tickets) in [(1, "500"), (2, "10000000")] {
            switches.set(&mut admin, "1", tickets)?;
            all[place].push(pair(&mut sessions, rows)?);
        }
    }
    switches.restore(&mut admin)?;
    Ok((limited, all))
}

/// Every session scans at once: seconds until the first and the last one has its answer.
fn pair(sessions: &mut [Client], rows: u64) -> Result<(f64, f64), ClientError> {
    let begin = Instant::now();
    let mut times = thread::scope(|scope| {
        let threads: Vec<_> = sessions
            .iter_mut()
            .map(|session| scope.spawn(move || scan(session, rows).map(|()| begin.elapsed().as_secs_f64())))
            .collect();
        let joined =
            threads.into_iter().map(|t| t.join().map_err(|_| ClientError::Protocol("a scan failed"))?);
        joined.collect::<Result<Vec<f64>, ClientError>>()
    })?;
    times.sort_by(f64::total_cmp);
    Ok((times[0], times[times.len() - 1]))
}

/// The point selects' part.
fn points(contestants: &[Contestant], options: &Options, rows: u64, report: &mut Report) {
    let mut cells = Measurements::new();
    let sessions = options.connections(&[POINT_SESSIONS], &[4])[0];
    for round in 0..options.rounds(2) {
        for (at, &setting) in SETTINGS.iter().enumerate() {
            for (who, contestant) in contestants.iter().enumerate() {
                match point_cell(contestant, setting, sessions, rows, options) {
                    Ok((limited, Selected { cell, scans_done, outside })) => {
                        report.cell(contestant, &cell, json!({ "server": contestant.label, "cell": "point selects",
                            "concurrency": setting.concurrency, "tickets": setting.tickets, "scans": setting.scans,
                            "scans_done": scans_done, "outside": outside, "limited": limited, "round": round }));
                        cells.add(who, at, cell);
                    }
                    Err(error) => report.fault(contestant, format!("point selects: {error}")),
                }
            }
        }
    }
    let mut table = Table::new(&[
        "thread_concurrency",
        "tickets",
        "scans beside",
        "server",
        "TPS",
        "avg ms",
        "p99 ms",
        "max ms",
        "cpu us/tx",
    ]);
    for (at, setting) in SETTINGS.iter().enumerate() {
        for (who, contestant) in contestants.iter().enumerate() {
            let p99 = cells.median(who, at, |cell| Some(cell.p99_ms()));
            table.row(vec![
                setting.concurrency.into(),
                setting.tickets.into(),
                setting.scans.to_string(),
                contestant.label.clone(),
                figure(cells.tps(who, at), 0),
                figure(cells.median(who, at, |cell| Some(cell.average_ms())), 2),
                figure(p99, 2),
                figure(cells.median(who, at, |cell| Some(cell.outcome.latency_us.max() as f64 / 1000.0)), 1),
                figure(cells.median(who, at, Measurement::cpu_per_transaction_us), 1),
            ]);
            report.sum(
                &format!(
                    "{}, concurrency {}, tickets {}, {} scans",
                    contestant.label, setting.concurrency, setting.tickets, setting.scans
                ),
                json!({ "tps": cells.tps(who, at), "p99_ms": p99 }),
            );
        }
    }
    table.print(&format!(
        "Point selects from {sessions} sessions. CPU includes the scans'. A server without the limit runs with its own."
    ));
}

fn point_cell(
    contestant: &Contestant,
    setting: Setting,
    sessions: usize,
    rows: u64,
    options: &Options,
) -> Result<(bool, Selected), Box<dyn Error>> {
    let label = format!(
        "point selects, limit {}, tickets {}, {} scans",
        setting.concurrency, setting.tickets, setting.scans
    );
    let duration = options.duration(4.0, 0.7);
    let beside = Beside { sessions, scans: setting.scans, rows, duration };
    if !contestant.has_tables() {
        return Ok((false, select_beside(contestant, beside, &label)?));
    }
    let mut admin = contestant.client()?;
    let switches = Switches::find(&mut admin)?;
    let limited = switches.set(&mut admin, setting.concurrency, setting.tickets)?;
    let selected = select_beside(contestant, beside, &label);
    switches.restore(&mut admin)?;
    Ok((limited, selected?))
}
