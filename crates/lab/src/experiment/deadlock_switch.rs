//! Experiments E1 and E2, the switch: the hot row with deadlock detection on and off, in turn.
//!
//! Two variants. *Plain* is E1's statement: a waiter holds nothing that anybody waits for, so a search for it finds
//! nothing at once. *Private row first* makes every waiter of the hot row a holder, so that a search has something to
//! follow. Published: 1,000,000 queries took 2,124 s with detection and 1,971 s without at 16 connections, 33,569 s and
//! 2,612 s at 700; E1's stock server did 30 transactions a second at 1,024 buyers, 3,924 without detection. Then a real
//! cycle among thousands of waiters: [`super::planted_cycle`].

use std::error::Error;

use serde_json::json;

use super::flash_sale::cell;
use super::planted_cycle;
use crate::bench::Options;
use crate::contest::{Contestant, gather};
use crate::hot_row::{self, PLENTY, Variant};
use crate::measure::{Cell, Cells};
use crate::report::{Report, Table, figure, ratio};
use crate::switch::Switch;

const CONNECTIONS: [usize; 5] = [16, 128, 700, 1024, 4096];
const VARIANTS: [Variant; 2] = [Variant::Plain, Variant::Private];

/// Variant, connections, detection; the floor has no switch.
type Key = (Variant, usize, Option<bool>);

/// Published transactions a second with detection on and off.
fn published(variant: Variant, connections: usize) -> Option<(f64, f64)> {
    match (variant, connections) {
        (Variant::Plain, 16) => Some((1e6 / 2124.0, 1e6 / 1971.0)),
        (Variant::Plain, 700) => Some((1e6 / 33_569.0, 1e6 / 2612.0)),
        (Variant::Plain, 1024) => Some((30.0, 3924.0)),
        _ => None,
    }
}

/// Runs the comparison and the planted cycle.
///
/// # Errors
/// When one of our own servers cannot be started or loses something.
pub fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let contestants = gather(options, &["--innodb-lock-wait-timeout=300"])?;
    let connections = options.connections(&CONNECTIONS, &[16, 128]);
    let figures = json!({
        "16": { "on_tps": 470.8, "off_tps": 507.4 },
        "700": { "on_tps": 29.8, "off_tps": 382.8 },
        "1024": { "on_tps": 30, "off_tps": 3924 },
    });
    let mut report = Report::new("E1/E2 the deadlock switch: detection on and off, one hot row", figures);
    for contestant in contestants.iter().filter(|contestant| contestant.has_tables()) {
        let mut client = contestant.client()?;
        hot_row::prepare(&mut client, PLENTY)?;
        hot_row::prepare_private(&mut client)?;
    }
    let mut cells = Cells::new();
    for round in 0..options.rounds(2) {
        for &count in &connections {
            for variant in VARIANTS {
                for (who, contestant) in contestants.iter().enumerate() {
                    let done =
                        both(contestant, who, (variant, count, round), options, &mut cells, &mut report);
                    if let Err(error) = done {
                        report.fault(contestant, format!("{count} connections: {error}"));
                    }
                }
            }
        }
    }
    print(&contestants, &connections, &cells, &mut report);
    planted_cycle::run(options, &contestants, &mut report);
    report.finish(options, contestants)
}

/// On and off, or off and on: rounds alternate.
fn both(
    contestant: &Contestant,
    who: usize,
    (variant, count, round): (Variant, usize, usize),
    options: &Options,
    cells: &mut Cells<Key>,
    report: &mut Report,
) -> Result<(), Box<dyn Error>> {
    let duration = options.duration(3.0, 0.7);
    let head = |detect: &str| json!({ "server": contestant.label, "variant": variant.name(), "detect": detect, "round": round });
    if !contestant.has_tables() {
        let floor = cell(contestant, variant, count, duration)?;
        report.cell(contestant, &floor, head("n/a"));
        cells.add(who, (variant, count, None), floor);
        return Ok(());
    }
    let mut client = contestant.client()?;
    let detection = Switch::find(&mut client, "innodb_deadlock_detect")?;
    let order = if round % 2 == 0 { [true, false] } else { [false, true] };
    for on in order {
        let word = if on { "ON" } else { "OFF" };
        if !detection.set(&mut client, word)? {
            println!("{}: innodb_deadlock_detect={word} is n/a", contestant.label);
            continue;
        }
        let measured = cell(contestant, variant, count, duration);
        detection.restore(&mut client)?;
        let measured = measured?;
        report.cell(contestant, &measured, head(word));
        cells.add(who, (variant, count, Some(on)), measured);
    }
    Ok(())
}

fn print(contestants: &[Contestant], connections: &[usize], cells: &Cells<Key>, report: &mut Report) {
    let mut table = Table::new(&[
        "variant",
        "connections",
        "server",
        "ON TPS",
        "OFF TPS",
        "ON/OFF",
        "ON cpu us",
        "OFF cpu us",
        "ON p99 ms",
        "OFF p99 ms",
        "ON max/median",
        "floor TPS",
        "lost",
        "published ON",
        "OFF",
        "ON/OFF",
    ]);
    let floor = contestants.iter().position(|contestant| !contestant.has_tables());
    for variant in VARIANTS {
        for &count in connections {
            for (who, contestant) in contestants.iter().enumerate().filter(|(who, _)| Some(*who) != floor) {
                let (on, off) = ((variant, count, Some(true)), (variant, count, Some(false)));
                let share = ratio(cells.tps(who, on), cells.tps(who, off));
                let cpu = |key| figure(cells.median(who, key, Cell::cpu_per_transaction_us), 1);
                let p99 = |key| figure(cells.median(who, key, |cell| Some(cell.p99_ms())), 1);
                let known = published(variant, count);
                let lost = cells.lost(who, on).zip(cells.lost(who, off)).map(|(on, off)| on + off);
                table.row(vec![
                    variant.name().into(),
                    count.to_string(),
                    contestant.label.clone(),
                    figure(cells.tps(who, on), 0),
                    figure(cells.tps(who, off), 0),
                    figure(share, 3),
                    cpu(on),
                    cpu(off),
                    p99(on),
                    p99(off),
                    figure(cells.median(who, on, |cell| Some(cell.longest_over_median())), 1),
                    figure(floor.and_then(|floor| cells.tps(floor, (variant, count, None))), 0),
                    lost.map_or("n/a".into(), |lost| lost.to_string()),
                    figure(known.map(|known| known.0), 0),
                    figure(known.map(|known| known.1), 0),
                    figure(known.map(|known| known.0 / known.1), 3),
                ]);
                report.sum(
                    &format!("{}, {}, {count}", contestant.label, variant.name()),
                    json!({ "on_over_off": share }),
                );
            }
        }
    }
    table
        .print("Transactions a second, medians of the rounds; published: MySQL and Percona, other machines.");
}
