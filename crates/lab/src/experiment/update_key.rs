//! Experiment E5: updates of an indexed column (sysbench's `update_key`, today `oltp_update_index`), 1 to 64
//! threads.
//!
//! Every transaction is one prepared, autocommitted `UPDATE ... SET k = k + 1 WHERE id = ?` of a random row,
//! so that the row moves in the index. The published curves, 8 cores, rise to 8 threads and lose 60 % by 64;
//! two attempts at better latches collapsed at 4. A server is judged by its whole curve: 64 threads over the
//! best count.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::sbtest;
use crate::client::ClientError;
use crate::clients::{Load, Parameter};
use crate::contest::{Contestant, gather};
use crate::dice::dice;
use crate::hot_row::DATABASE;
use crate::measure::{Measurement, Measurements, measure};
use crate::options::{Options, largest};
use crate::report::{Report, Table, figure, ratio};

const THREADS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];
/// Threads; standard, first "smpfix", first new rw-lock, second new rw-lock.
const PUBLISHED: [(usize, [u32; 4]); 7] = [
    (1, [9700, 10_602, 9432, 9812]),
    (2, [14_356, 16_673, 12_784, 14_602]),
    (4, [16_104, 2669, 6309, 18_726]),
    (8, [18_508, 780, 1854, 19_100]),
    (16, [16_178, 843, 1601, 17_470]),
    (32, [12_338, 2029, 3274, 12_407]),
    (64, [7801, 1912, 4044, 7670]),
];

/// Runs the curve.
///
/// # Errors
/// When one of our own servers cannot be started or loses something.
pub fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let threads = options.connections(&THREADS, &[1, 8]);
    let contestants = gather(options, &["--innodb-buffer-pool-size=2G"], largest(&threads))?;
    let rows = options.rows(1_000_000, 5000);
    let known: Vec<_> =
        PUBLISHED.iter().map(|(count, tps)| json!({ "threads": count, "tps": tps })).collect();
    let mut report = Report::new(
        "E5 update_key: updates of an indexed column",
        json!({ "curve": known, "columns": ["standard", "first smpfix", "first new rw-lock", "second new rw-lock"] }),
    );
    for contestant in contestants.iter().filter(|contestant| contestant.has_tables()) {
        sbtest::prepare(&mut contestant.client()?, rows, &contestant.label)?;
    }
    let mut cells = Measurements::new();
    for round in 0..options.rounds(2) {
        for &count in &threads {
            for (who, contestant) in contestants.iter().enumerate() {
                match cell(contestant, count, rows, round as u64, options) {
                    Ok(cell) => {
                        report.cell(contestant, &cell, json!({ "server": contestant.label, "round": round }));
                        cells.add(who, count, cell);
                    }
                    Err(error) => report.fault(contestant, format!("{count} threads: {error}")),
                }
            }
        }
    }
    print(&contestants, &threads, &cells, &mut report);
    report.finish(options, contestants)
}

fn cell(
    contestant: &Contestant,
    count: usize,
    rows: u64,
    round: u64,
    options: &Options,
) -> Result<Measurement, ClientError> {
    let load = Load {
        target: contestant.target.clone(),
        set_up: vec![format!("USE {DATABASE}")],
        prepared: vec![format!("UPDATE {} SET k = k + 1 WHERE id = ?", sbtest::TABLE)],
        script: Arc::new(move |connection, turn, steps| {
            let id = dice(connection, turn, 2 + round) % rows + 1;
            steps.execute(0, &[Parameter::Number(id as i64)]);
        }),
        connections: count,
        threads: 1,
        duration: options.duration(3.0, 0.7),
        until_sold_out: false,
        rate: None,
        rtt: Duration::ZERO,
        begins_again: false,
    };
    let label = format!("{count} threads");
    if !contestant.has_tables() {
        return measure(contestant, &load, &label);
    }
    let mut client = contestant.client()?;
    let total = format!("SELECT SUM(k) FROM {DATABASE}.{}", sbtest::TABLE);
    let before = client.number(&total)?;
    let mut cell = measure(contestant, &load, &label)?;
    cell.lost = Some(cell.outcome.affected as i64 - (client.number(&total)? - before));
    Ok(cell)
}

fn print(contestants: &[Contestant], threads: &[usize], cells: &Measurements<usize>, report: &mut Report) {
    let floor = contestants.iter().position(|contestant| !contestant.has_tables());
    let mut table = Table::new(&[
        "threads",
        "server",
        "TPS",
        "of best",
        "of floor",
        "p99 ms",
        "max/median",
        "cpu us/tx",
        "lost",
        "published standard",
        "smpfix",
        "1st rw-lock",
        "2nd rw-lock",
    ]);
    let best = |who: usize| threads.iter().filter_map(|&count| cells.tps(who, count)).reduce(f64::max);
    for &count in threads {
        for (who, contestant) in contestants.iter().enumerate() {
            let tps = cells.tps(who, count);
            let mut row = vec![
                count.to_string(),
                contestant.label.clone(),
                figure(tps, 0),
                figure(ratio(tps, best(who)), 2),
                figure(ratio(tps, floor.and_then(|floor| cells.tps(floor, count))), 2),
                figure(cells.median(who, count, |cell| Some(cell.p99_ms())), 2),
                figure(cells.median(who, count, |cell| Some(cell.longest_over_median())), 1),
                figure(cells.median(who, count, Measurement::cpu_per_transaction_us), 1),
                cells.lost(who, count).map_or("n/a".into(), |lost| lost.to_string()),
            ];
            let known = PUBLISHED.iter().find(|(threads, _)| *threads == count);
            row.extend((0..4).map(|column| figure(known.map(|(_, tps)| f64::from(tps[column])), 0)));
            table.row(row);
        }
    }
    for (who, contestant) in contestants.iter().enumerate() {
        let last = threads.last().and_then(|&count| cells.tps(who, count));
        report.sum(
            &contestant.label,
            json!({ "best_tps": best(who), "last_over_best": ratio(last, best(who)) }),
        );
    }
    table.print(
        "Transactions a second, medians of the rounds; the last line over the best one is the verdict.",
    );
}
