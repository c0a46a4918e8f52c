//! Experiment E1, the flash sale: one row, thousands of clients.
//!
//! Every buyer takes one piece of the same stock in an autocommitted statement, at READ COMMITTED. In the
//! published measurement (MySQL 5.6.19 and Percona 5.6.25, 32 cores) stock MySQL fell to about 30
//! transactions a second at 1,024 clients, and did 3,924 with deadlock detection off.

use std::error::Error;
use std::time::Duration;

use serde_json::json;

use crate::client::ClientError;
use crate::contest::{Contestant, gather};
use crate::hot_row::{self, ITEMS, PLENTY, Variant};
use crate::measure::{Measurement, Measurements, measure};
use crate::options::{Options, largest};
use crate::report::{Report, Table, figure, ratio};

/// Numbers of clients of the published curve.
pub const CONNECTIONS: [usize; 10] = [8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096];
/// A buyer may wait this many times the median before we call it starved; in time, and in sales of others.
const STARVED: f64 = 5.0;

const HEAD: [&str; 15] = [
    "connections",
    "server",
    "TPS",
    "of floor",
    "sell 500,000 s",
    "avg_rt ms",
    "p99 ms",
    "max/median",
    "threads_running",
    "threads",
    "cpu us/tx",
    "client us/tx",
    "lost",
    "published TPS",
    "detection off",
];

/// The published figures at so many clients: stock MySQL, detection off.
fn published(clients: usize) -> (Option<f64>, Option<f64>) {
    if clients == 1024 { (Some(30.0), Some(3924.0)) } else { (None, None) }
}

/// Runs one cell against a prepared table.
///
/// # Errors
/// Any [`ClientError`].
pub fn cell(
    contestant: &Contestant,
    variant: Variant,
    connections: usize,
    duration: Duration,
) -> Result<Measurement, ClientError> {
    let mut client = contestant.client()?;
    let load = hot_row::load(&contestant.target, variant, connections, duration);
    let label = format!("{connections} clients, {}", variant.name());
    if !contestant.has_tables() {
        return measure(contestant, &load, &label);
    }
    let with_private = variant == Variant::Private;
    let before = hot_row::stock(&mut client)?;
    let private_before = if with_private { hot_row::private_sum(&mut client)? } else { 0 };
    let mut cell = measure(contestant, &load, &label)?;
    let sold = before - hot_row::stock(&mut client)?;
    let private = if with_private { hot_row::private_sum(&mut client)? - private_before } else { 0 };
    cell.lost = Some(cell.outcome.affected as i64 - sold - private);
    Ok(cell)
}

/// Runs the curve.
///
/// # Errors
/// When one of our own servers cannot be started or loses something.
pub fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let connections = options.connections(&CONNECTIONS, &[8, 64, 512]);
    let contestants = gather(options, &[], largest(&connections))?;
    let duration = options.duration(3.0, 0.7);
    let figures = json!({ "1024": { "stock_tps": 30, "detection_off_tps": 3924 } });
    let mut report =
        Report::new("E1 flash sale: one row, one autocommitted UPDATE a buyer, READ COMMITTED", figures);
    for contestant in contestants.iter().filter(|contestant| contestant.has_tables()) {
        hot_row::prepare(&mut contestant.client()?, PLENTY)?;
    }
    let mut cells = Measurements::new();
    for round in 0..options.rounds(2) {
        for &count in &connections {
            for (who, contestant) in contestants.iter().enumerate() {
                let cell = match cell(contestant, Variant::Plain, count, duration) {
                    Ok(cell) => cell,
                    Err(error) => {
                        report.fault(contestant, format!("{count} clients: {error}"));
                        continue;
                    }
                };
                report.cell(contestant, &cell, json!({ "server": contestant.label, "round": round }));
                cells.add(who, count, cell);
            }
        }
    }
    for &count in &connections {
        for (who, contestant) in contestants.iter().enumerate() {
            let worst = cells.median(who, count, |cell| Some(cell.longest_over_median()));
            let overtaken = cells.worst(who, count, Measurement::most_overtaken_over_median);
            report.sum(
                &format!("{} at {count}", contestant.label),
                json!({
                    "tps": cells.tps(who, count),
                    "max_over_median": worst,
                    "most_overtaken_over_median": overtaken,
                    "nobody_starved": overtaken.map(|overtaken| overtaken < STARVED),
                }),
            );
        }
    }
    table(&contestants, &connections, &cells).print(LEGEND);
    fairness(&contestants, &connections, &cells).print(FAIRNESS);
    report.finish(options, contestants)
}

/// Stands above the table.
pub const LEGEND: &str = "Medians of the rounds. max/median: longest wait over the median, in time.";

/// Stands above the table of waits.
pub const FAIRNESS: &str = "Who waited how long: in time, which the machine's pauses are part of, and in sales of others that were acknowledged \
     meanwhile, which they are not. From 5 times the median on somebody was overtaken too often. Sales: of one buyer.";

/// The table as the published article lays it out: one line a number of clients and server.
pub fn table(contestants: &[Contestant], connections: &[usize], cells: &Measurements<usize>) -> Table {
    let floor = contestants.iter().position(|contestant| !contestant.has_tables());
    let mut table = Table::new(&HEAD);
    for &count in connections {
        for (who, contestant) in contestants.iter().enumerate() {
            let middle = |figure: &dyn Fn(&Measurement) -> Option<f64>| cells.median(who, count, figure);
            let tps = cells.tps(who, count);
            let share = ratio(tps, floor.and_then(|floor| cells.tps(floor, count)));
            let (stock, without) = published(count);
            table.row(vec![
                count.to_string(),
                contestant.label.clone(),
                figure(tps, 0),
                figure(share, 2),
                figure(ratio(Some(ITEMS as f64), tps), 1),
                figure(middle(&|cell| Some(cell.average_ms())), 2),
                figure(middle(&|cell| Some(cell.p99_ms())), 2),
                figure(middle(&|cell| Some(cell.longest_over_median())), 1),
                figure(middle(&|cell| cell.threads_running.map(|n| n as f64)), 0),
                figure(middle(&|cell| cell.server_threads.map(|n| n as f64)), 0),
                figure(middle(&Measurement::cpu_per_transaction_us), 1),
                figure(middle(&Measurement::client_cpu_per_transaction_us), 1),
                cells.lost(who, count).map_or("n/a".into(), |lost| lost.to_string()),
                figure(stock, 0),
                figure(without, 0),
            ]);
        }
    }
    table
}

/// Waits in time and in sales of others, and the sales of single clients.
pub fn fairness(contestants: &[Contestant], connections: &[usize], cells: &Measurements<usize>) -> Table {
    let mut table = Table::new(&[
        "connections",
        "server",
        "p50 ms",
        "p99",
        "longest",
        "/median",
        "overtaken p50",
        "p99",
        "most",
        "/median",
        "sales least",
        "median",
        "most",
    ]);
    for &count in connections {
        for (who, contestant) in contestants.iter().enumerate() {
            let middle =
                |figure: &dyn Fn(&Measurement) -> f64| cells.median(who, count, |cell| Some(figure(cell)));
            let ms = |cell: &Measurement, share: f64| {
                cell.outcome.latency_us.value_at_quantile(share) as f64 / 1000.0
            };
            let overtaken =
                |cell: &Measurement, share: f64| cell.outcome.overtaken.value_at_quantile(share) as f64;
            table.row(vec![
                count.to_string(),
                contestant.label.clone(),
                figure(middle(&|cell| ms(cell, 0.5)), 2),
                figure(middle(&|cell| ms(cell, 0.99)), 2),
                figure(cells.worst(who, count, |cell| ms(cell, 1.0)), 2),
                figure(cells.worst(who, count, Measurement::longest_over_median), 1),
                figure(middle(&|cell| overtaken(cell, 0.5)), 0),
                figure(middle(&|cell| overtaken(cell, 0.99)), 0),
                figure(cells.worst(who, count, |cell| overtaken(cell, 1.0)), 0),
                figure(cells.worst(who, count, Measurement::most_overtaken_over_median), 1),
                figure(middle(&|cell| cell.outcome.progress.least as f64), 0),
                figure(middle(&|cell| cell.outcome.progress.median as f64), 0),
                figure(middle(&|cell| cell.outcome.progress.most as f64), 0),
            ]);
        }
    }
    table
}
