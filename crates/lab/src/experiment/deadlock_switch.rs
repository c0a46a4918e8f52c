//! Experiments E1 and E2, the switch: the hot row with deadlock detection on and off, in turn.
//!
//! Two variants. *Plain* is E1's statement: a waiter holds nothing that anybody waits for, so a search for it
//! finds nothing at once. *Private row first* makes every waiter of the hot row a holder, so that a search
//! has something to follow. Published: 1,000,000 queries took 2,124 s with detection and 1,971 s without at
//! 16 connections, 33,569 s and 2,612 s at 700; E1's stock server did 30 transactions a second at 1,024
//! clients, 3,924 without detection. Then a real cycle among thousands of waiters: [`super::planted_cycle`].
//! The switch is flipped under the running load, so that ON and OFF are compared within the same half second:
//! [`crate::sliced`].

use std::error::Error;
use std::time::Duration;

use serde_json::json;

use super::flash_sale::cell;
use super::planted_cycle;
use crate::contest::{Contestant, gather};
use crate::hot_row::{self, PLENTY, Variant};
use crate::interval::Interval;
use crate::measure::{Measurement, Measurements, merged};
use crate::options::{Options, largest};
use crate::report::{Report, Table, figure};
use crate::sliced::{Block, Compared, measure_sliced};
use crate::switch::Switch;

const CONNECTIONS: [usize; 5] = [16, 128, 700, 1024, 4096];
const VARIANTS: [Variant; 2] = [Variant::Plain, Variant::Private];

/// Variant, connections, detection; the floor has no switch.
type Key = (Variant, usize, Option<bool>);

/// The switch's positions, in the order of [`crate::sliced::Sliced::cells`].
const WORDS: [&str; 2] = ["ON", "OFF"];
/// Length of a slice.
const SLICE: Duration = Duration::from_millis(100);
/// A cell gets no more rounds once half the width of its intervals is this: they say what they say. Nothing
/// else ends a cell early, so a result cannot be waited for.
const NARROW: f64 = 0.012;
/// At most so many rounds, which take a quarter of an hour.
const ROUNDS: usize = 6;
/// The claim: ON within so much of OFF.
const WITHIN: f64 = 0.03;
/// The floor needs no more.
const FLOOR_TIME: Duration = Duration::from_secs(2);

struct Results {
    cells: Measurements<Key>,
    /// Server, variant, connections, and ON against OFF in one block of slices.
    blocks: Vec<(usize, Variant, usize, Block)>,
}

impl Results {
    /// ON over OFF.
    fn on_over_off(&self, who: usize, variant: Variant, connections: usize) -> Compared {
        let of_cell = self.blocks.iter().filter(|(w, v, c, _)| (*w, *v, *c) == (who, variant, connections));
        Compared::of(&of_cell.map(|(.., block)| *block).collect::<Vec<_>>())
    }

    /// Whether more rounds would say nothing more; the floor needs one.
    fn is_known(&self, who: usize, variant: Variant, connections: usize) -> bool {
        let floor = self.cells.tps(who, (variant, connections, None)).is_some();
        floor || self.on_over_off(who, variant, connections).half_width() <= NARROW
    }
}

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
    let connections = options.connections(&CONNECTIONS, &[16, 128]);
    let contestants = gather(
        options,
        &["--innodb-lock-wait-timeout=300"],
        largest(&connections).max(planted_cycle::waiters(options)),
    )?;
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
    let mut results = Results { cells: Measurements::new(), blocks: Vec::new() };
    for round in 0..options.rounds(ROUNDS) {
        for &count in &connections {
            for variant in VARIANTS {
                for (who, contestant) in contestants.iter().enumerate() {
                    if round > 0 && results.is_known(who, variant, count) {
                        continue;
                    }
                    let done =
                        both(contestant, who, (variant, count, round), options, &mut results, &mut report);
                    if let Err(error) = done {
                        report.fault(contestant, format!("{count} connections: {error}"));
                    }
                }
            }
        }
    }
    print(&contestants, &connections, &results, &mut report);
    planted_cycle::run(options, &contestants, &mut report);
    report.finish(options, contestants)
}

/// On and off under the same load.
fn both(
    contestant: &Contestant,
    who: usize,
    (variant, count, round): (Variant, usize, usize),
    options: &Options,
    results: &mut Results,
    report: &mut Report,
) -> Result<(), Box<dyn Error>> {
    let duration = options.duration(11.0, 0.7);
    let head = |detect: &str| json!({ "server": contestant.label, "variant": variant.name(), "detect": detect, "round": round });
    if !contestant.has_tables() {
        let floor = cell(contestant, variant, count, duration.min(FLOOR_TIME))?;
        report.cell(contestant, &floor, head("n/a"));
        results.cells.add(who, (variant, count, None), floor);
        return Ok(());
    }
    let mut client = contestant.side_client()?;
    let detection = Switch::find(&mut client, "innodb_deadlock_detect")?;
    if !(detection.set(&mut client, "OFF")? && detection.set(&mut client, "ON")?) {
        println!("{}: innodb_deadlock_detect is n/a", contestant.label);
        let only = cell(contestant, variant, count, duration)?;
        report.cell(contestant, &only, head("n/a"));
        return Ok(());
    }
    let before = hot_row::stock(&mut client)?;
    let private_before = hot_row::private_sum(&mut client)?;
    let load = hot_row::load(&contestant.target, variant, count, duration);
    let label = format!("{count} clients, {}, ON and OFF", variant.name());
    let mut flip = |position| detection.set(&mut client, WORDS[position]).map(|_| ());
    let measured = measure_sliced(contestant, &load, (duration, SLICE), &label, &mut flip);
    detection.restore(&mut client)?;
    let measured = measured?;
    let sold = before - hot_row::stock(&mut client)?;
    let private = hot_row::private_sum(&mut client)? - private_before;
    let lost = measured.affected as i64 - sold - private;
    results.blocks.extend(measured.blocks.iter().map(|&block| (who, variant, count, block)));
    for ((word, mut cell), on) in WORDS.into_iter().zip(measured.cells).zip([true, false]) {
        cell.lost = Some(lost);
        let blocks = measured.blocks.iter().map(Block::json).collect::<Vec<_>>();
        report.cell(contestant, &cell, merged(head(word), json!({ "on_over_off_blocks": blocks })));
        results.cells.add(who, (variant, count, Some(on)), cell);
    }
    Ok(())
}

fn print(contestants: &[Contestant], connections: &[usize], results: &Results, report: &mut Report) {
    let cells = &results.cells;
    let mut table = Table::new(&[
        "variant",
        "connections",
        "server",
        "ON TPS",
        "OFF TPS",
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
                let cpu = |key| figure(cells.median(who, key, Measurement::cpu_per_transaction_us), 1);
                let p99 = |key| figure(cells.median(who, key, |cell| Some(cell.p99_ms())), 1);
                let known = published(variant, count);
                let lost = cells.lost(who, on);
                table.row(vec![
                    variant.name().into(),
                    count.to_string(),
                    contestant.label.clone(),
                    figure(cells.tps(who, on), 0),
                    figure(cells.tps(who, off), 0),
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
            }
        }
    }
    table
        .print("Transactions a second, medians of the rounds. Published: MySQL and Percona, other machines.");
    against(contestants, connections, results, report).print(
        "ON over OFF, from neighbouring slices: trimmed mean and its 95 % interval, over the blocks in which nobody else used the \
         machine. Adjusted: less what goes along with the driver's own CPU per transaction. Inside 3 %: the interval, plain or adjusted.",
    );
}

/// ON over OFF in every cell, and how well it is known.
fn against(
    contestants: &[Contestant],
    connections: &[usize],
    results: &Results,
    report: &mut Report,
) -> Table {
    let mut table = Table::new(&[
        "variant",
        "connections",
        "server",
        "TPS",
        "95 %",
        "adjusted",
        "95 %",
        "inside 3 %",
        "server CPU",
        "95 %",
        "adjusted",
        "95 %",
        "inside 3 %",
        "driver CPU",
        "95 %",
        "blocks",
    ]);
    for variant in VARIANTS {
        for &count in connections {
            for (who, contestant) in contestants.iter().enumerate().filter(|(_, one)| one.has_tables()) {
                let compared = results.on_over_off(who, variant, count);
                let verdict = |plain, adjusted| verdict(inside(plain), inside(adjusted));
                let mut row = vec![variant.name().into(), count.to_string(), contestant.label.clone()];
                row.extend(Compared::words(compared.rate));
                row.extend(Compared::words(compared.rate_adjusted));
                row.push(verdict(compared.rate, compared.rate_adjusted).into());
                row.extend(Compared::words(compared.cpu));
                row.extend(Compared::words(compared.cpu_adjusted));
                row.push(verdict(compared.cpu, compared.cpu_adjusted).into());
                row.extend(Compared::words(compared.client));
                row.push(compared.counted());
                table.row(row);
                report.sum(
                    &format!("{}, {}, {count}", contestant.label, variant.name()),
                    json!({ "on_over_off": compared.json() }),
                );
            }
        }
    }
    table
}

/// Whether a quotient is known to be within the promise; None if it is not known.
fn inside(known: Option<Interval>) -> Option<bool> {
    known.map(|one| one.low >= 1.0 - WITHIN && one.high <= 1.0 + WITHIN)
}

/// What the table says of a quotient and of the adjusted one.
fn verdict(plain: Option<bool>, adjusted: Option<bool>) -> &'static str {
    match (plain, adjusted) {
        (Some(true), _) => "yes",
        (_, Some(true)) => "adjusted",
        (None, None) => "unknown",
        _ => "NO",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_not_called_a_failure() {
        let (near, far) =
            (Interval { low: 0.99, middle: 1.0, high: 1.01 }, Interval { low: 0.5, middle: 0.6, high: 0.7 });
        assert_eq!(verdict(inside(None), inside(None)), "unknown");
        assert_eq!(verdict(inside(Some(far)), inside(None)), "NO");
        assert_eq!(verdict(inside(Some(far)), inside(Some(near))), "adjusted");
        assert_eq!(verdict(inside(Some(near)), inside(None)), "yes");
    }
}
