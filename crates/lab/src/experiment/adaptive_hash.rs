//! Experiment E3: dbSTRESS with the adaptive hash index on and off, in turn at each number of sessions.
//!
//! Three mixes in memory: one object by key (the cheapest use of the shortcut, for CPU time per select), READ
//! only, READ and WRITE in turn. The selects of one object are compared slice by slice under one load
//! ([`crate::sliced`]): what the index saves of them is less than the machine's speed changes from cell to
//! cell. Then our own server starts again over the same data with a pool of a quarter of it, and the last two
//! run again. Published (MySQL 5.5.6): with the index on its one latch is the hottest point, more so when
//! pages must be read; with it off throughput is lower from 16 sessions and half from 32.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::dbstress::{self, LINES, Mix, ROWS_A_READ};
use crate::client::{Client, ClientError};
use crate::clients::Load;
use crate::contest::{Contestant, Kind, gather};
use crate::hot_row::DATABASE;
use crate::measure::{Measurement, Measurements, measure, merged};
use crate::options::{Options, largest};
use crate::report::{Report, Table, figure, ratio};
use crate::sliced::{Block, Compared, measure_sliced};
use crate::switch::{Switch, counter};

const SESSIONS: [usize; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];
/// The switch's positions.
const WORDS: [&str; 2] = ["ON", "OFF"];
/// Length of a slice of point selects: switched off, the index forgets everything, and must learn again while
/// the load settles.
const SLICE: Duration = Duration::from_millis(1200);
const PAGE: i64 = 16_384;
const LEAST_POOL: i64 = 8 << 20;

/// In memory or not, mix, sessions, switch; the floor has no switch.
type Key = (bool, Mix, usize, Option<bool>);

/// What all parts of a run share.
struct Run<'a> {
    options: &'a Options,
    objects: u64,
    sessions: Vec<usize>,
    cells: Measurements<Key>,
    /// Searches answered by the hash and by the tree, for the same keys.
    searches: Vec<(usize, Key, f64, f64)>,
    /// Server, sessions, and ON against OFF in one block of slices of point selects.
    blocks: Vec<(usize, usize, Block)>,
    report: Report,
}

/// Runs the experiment.
///
/// # Errors
/// When one of our own servers cannot be started or answers wrongly.
pub fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let sessions = options.connections(&SESSIONS, &[1, 8]);
    let mut contestants = gather(options, &["--innodb-buffer-pool-size=1G"], largest(&sessions))?;
    let objects = options.rows(40_000, 1000);
    let published =
        json!({ "note": "index on: its latch is the hottest point; off: lower from 16 users, half from 32" });
    let mut run = Run {
        options,
        objects,
        sessions,
        cells: Measurements::new(),
        searches: Vec::new(),
        blocks: Vec::new(),
        report: Report::new("E3 adaptive hash index: dbSTRESS, on and off", published),
    };
    let mut pools = Vec::new();
    for contestant in contestants.iter().filter(|contestant| contestant.has_tables()) {
        let mut client = contestant.client()?;
        dbstress::prepare(&mut client, objects, &contestant.label)?;
        let pages = counter(&mut client, "Innodb_buffer_pool_pages_data", "buffer_pool_pages_data")?;
        pools.push((pages.unwrap_or(0) * PAGE / 4).max(LEAST_POOL));
    }
    for round in 0..options.rounds(1) {
        for mix in [Mix::Point, Mix::ReadOnly, Mix::ReadWrite] {
            run.curve(&contestants, true, mix, round);
        }
    }
    print(&contestants, &mut run, true);
    print_slices(&contestants, &mut run);
    for (contestant, pool) in contestants.iter_mut().zip(&pools).filter(|(c, _)| c.kind == Kind::Own) {
        contestant.restart_with(&format!("--innodb-buffer-pool-size={pool}"))?;
    }
    let own: Vec<Contestant>;
    (own, contestants) = contestants.into_iter().partition(|contestant| contestant.kind == Kind::Own);
    if !own.is_empty() {
        for round in 0..options.rounds(1) {
            for mix in [Mix::ReadOnly, Mix::ReadWrite] {
                run.curve(&own, false, mix, round);
            }
        }
        print(&own, &mut run, false);
    }
    run.report.finish(options, own.into_iter().chain(contestants).collect())
}

impl Run<'_> {
    fn curve(&mut self, contestants: &[Contestant], in_memory: bool, mix: Mix, round: usize) {
        for count in self.sessions.clone() {
            for (who, contestant) in contestants.iter().enumerate() {
                if let Err(error) = self.both(contestant, who, (in_memory, mix, count), round) {
                    self.report.fault(contestant, format!("{count} sessions: {error}"));
                }
            }
        }
    }

    /// On and off, or off and on: numbers of sessions and rounds alternate.
    fn both(
        &mut self,
        contestant: &Contestant,
        who: usize,
        (in_memory, mix, count): (bool, Mix, usize),
        round: usize,
    ) -> Result<(), Box<dyn Error>> {
        let duration = self.options.duration(1.5, 0.3);
        let head = |word: &str| {
            json!({ "server": contestant.label, "mix": mix.name(), "pool": if in_memory { "memory" } else { "quarter" },
                "adaptive_hash": word, "round": round })
        };
        let objects = self.objects;
        let load = |duration| load(contestant, mix, count, objects, duration);
        if !contestant.has_tables() {
            let cell = measure(contestant, &load(duration), mix.name())?;
            self.report.cell(contestant, &cell, head("n/a"));
            self.cells.add(who, (in_memory, mix, count, None), cell);
            return Ok(());
        }
        let mut client = contestant.client()?;
        let switch = Switch::find(&mut client, "innodb_adaptive_hash_index")?;
        let both = switch.set(&mut client, "OFF")? && switch.set(&mut client, "ON")?;
        if in_memory && mix == Mix::Point && both {
            let done = self.in_slices(contestant, who, count, (&mut client, &switch), &head);
            switch.restore(&mut client)?;
            return done;
        }
        let on_first = (count.ilog2() as usize + round).is_multiple_of(2);
        for on in [on_first, !on_first] {
            let word = if on { "ON" } else { "OFF" };
            if !switch.set(&mut client, word)? {
                continue;
            }
            // The index learns, and pages come in, before the clock runs.
            let warm = Duration::from_secs_f64(if on { 1.0 } else { 0.2 });
            measure(contestant, &load(duration.min(warm)), "warming up")?;
            let before = searches(&mut client)?;
            let label = format!("{}, {count} sessions, hash {word}", mix.name());
            let mut cell = measure(contestant, &load(duration), &label)?;
            let after = searches(&mut client)?;
            cell.lost = Some(missing_rows(mix, &cell));
            let key = (in_memory, mix, count, Some(on));
            let (hash, tree) = (difference(after.0, before.0), difference(after.1, before.1));
            let mut head = head(word);
            head["hash_searches"] = json!(hash);
            head["tree_searches"] = json!(tree);
            self.report.cell(contestant, &cell, head);
            if let (Some(hash), Some(tree)) = (hash, tree) {
                self.searches.push((who, key, hash as f64, tree as f64));
            }
            self.cells.add(who, key, cell);
        }
        switch.restore(&mut client)?;
        Ok(())
    }

    /// Point selects in memory, on and off under the same load.
    fn in_slices(
        &mut self,
        contestant: &Contestant,
        who: usize,
        count: usize,
        (client, switch): (&mut Client, &Switch),
        head: &dyn Fn(&str) -> Value,
    ) -> Result<(), Box<dyn Error>> {
        let duration = self.options.duration(48.0, 0.6);
        let slice = SLICE.min(duration / 4);
        let load = load(contestant, Mix::Point, count, self.objects, duration);
        let label = format!("{}, {count} sessions, hash ON and OFF", Mix::Point.name());
        let before = searches(client)?;
        let mut flip = |position: usize| switch.set(client, WORDS[position]).map(|_| ());
        let measured = measure_sliced(contestant, &load, (duration, slice), &label, &mut flip)?;
        let after = searches(client)?;
        // Off, nothing is counted.
        let (hash, tree) = (difference(after.0, before.0), difference(after.1, before.1));
        if let (Some(hash), Some(tree)) = (hash, tree) {
            self.searches.push((who, (true, Mix::Point, count, Some(true)), hash as f64, tree as f64));
        }
        let lost = measured.transactions as i64 - measured.rows as i64;
        let blocks = measured.blocks.iter().map(Block::json).collect::<Vec<_>>();
        let of_cell = json!({ "hash_searches": hash, "tree_searches": tree, "on_over_off_blocks": blocks });
        self.blocks.extend(measured.blocks.iter().map(|&block| (who, count, block)));
        for ((word, mut cell), on) in WORDS.into_iter().zip(measured.cells).zip([true, false]) {
            cell.lost = Some(lost);
            self.report.cell(contestant, &cell, merged(head(word), of_cell.clone()));
            self.cells.add(who, (true, Mix::Point, count, Some(on)), cell);
        }
        Ok(())
    }

    /// The share of searches that the hash answered.
    fn hits(&self, who: usize, key: Key) -> Option<f64> {
        let of_key = self.searches.iter().filter(|(w, k, ..)| *w == who && *k == key);
        let (hash, tree) = of_key.fold((0.0, 0.0), |sum, (.., hash, tree)| (sum.0 + hash, sum.1 + tree));
        ratio(Some(hash), Some(hash + tree))
    }
}

fn load(contestant: &Contestant, mix: Mix, count: usize, objects: u64, duration: Duration) -> Load {
    let era = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    Load {
        target: contestant.target.clone(),
        set_up: vec![format!("USE {DATABASE}")],
        prepared: dbstress::prepared(),
        script: Arc::new(move |connection, turn, steps| mix.script(connection, turn, objects, era, steps)),
        connections: count,
        threads: 1,
        duration,
        until_sold_out: false,
        rate: None,
        rtt: Duration::ZERO,
        begins_again: false,
    }
}

fn searches(client: &mut Client) -> Result<(Option<i64>, Option<i64>), ClientError> {
    Ok((
        counter(client, "Innodb_adaptive_hash_hash_searches", "adaptive_hash_searches")?,
        counter(client, "Innodb_adaptive_hash_non_hash_searches", "adaptive_hash_searches_btree")?,
    ))
}

fn difference(after: Option<i64>, before: Option<i64>) -> Option<i64> {
    Some(after? - before?)
}

/// Rows that should have come and did not, and changes that should have been made and were not.
fn missing_rows(mix: Mix, cell: &Measurement) -> i64 {
    let (transactions, rows) = (cell.outcome.transactions as i64, cell.outcome.rows as i64);
    match mix {
        Mix::Point => transactions - rows,
        Mix::ReadOnly => transactions * ROWS_A_READ as i64 - rows,
        // Every WRITE changes exactly one row; the rest were READs.
        Mix::ReadWrite => (transactions - cell.outcome.affected as i64) * ROWS_A_READ as i64 - rows,
    }
}

fn print(contestants: &[Contestant], run: &mut Run<'_>, in_memory: bool) {
    let mut table = Table::new(&[
        "mix",
        "sessions",
        "server",
        "ON TPS",
        "OFF TPS",
        "ON/OFF",
        "ON cpu us",
        "OFF cpu us",
        "ON/OFF",
        "ON avg ms",
        "OFF avg ms",
        "ON p99 ms",
        "OFF p99 ms",
        "hash hits",
        "floor TPS",
        "lost",
    ]);
    let floor = contestants.iter().position(|contestant| !contestant.has_tables());
    for mix in [Mix::Point, Mix::ReadOnly, Mix::ReadWrite] {
        for &count in &run.sessions.clone() {
            for (who, contestant) in contestants.iter().enumerate().filter(|(who, _)| Some(*who) != floor) {
                let (on, off) = ((in_memory, mix, count, Some(true)), (in_memory, mix, count, Some(false)));
                let cells = &run.cells;
                let share = ratio(cells.tps(who, on), cells.tps(who, off));
                let cpu = |key| cells.median(who, key, Measurement::cpu_per_transaction_us);
                let cpu_share = ratio(cpu(on), cpu(off));
                let average = |key| figure(cells.median(who, key, |cell| Some(cell.average_ms())), 2);
                let p99 = |key| figure(cells.median(who, key, |cell| Some(cell.p99_ms())), 2);
                if cells.tps(who, on).or(cells.tps(who, off)).is_none() {
                    continue;
                }
                let lost = cells.lost(who, on).zip(cells.lost(who, off)).map(|(on, off)| on + off);
                table.row(vec![
                    mix.name().into(),
                    count.to_string(),
                    contestant.label.clone(),
                    figure(cells.tps(who, on), 0),
                    figure(cells.tps(who, off), 0),
                    figure(share, 3),
                    figure(cpu(on), 1),
                    figure(cpu(off), 1),
                    figure(cpu_share, 3),
                    average(on),
                    average(off),
                    p99(on),
                    p99(off),
                    figure(run.hits(who, on), 2),
                    figure(floor.and_then(|floor| cells.tps(floor, (in_memory, mix, count, None))), 0),
                    lost.map_or("n/a".into(), |lost| lost.to_string()),
                ]);
                let place = if in_memory { "memory" } else { "quarter pool" };
                run.report.sum(
                    &format!("{}, {place}, {}, {count}", contestant.label, mix.name()),
                    json!({ "on_over_off": share, "cpu_on_over_off": cpu_share }),
                );
            }
        }
    }
    let place = if in_memory { "in memory" } else { "pool a quarter of the data" };
    table.print(&format!(
        "{} objects with {LINES} lines of history, {place}. Published: off is lower from 16 sessions, half from 32.",
        run.objects
    ));
}

/// Point selects: ON over OFF at each number of sessions, and how well it is known.
fn print_slices(contestants: &[Contestant], run: &mut Run<'_>) {
    let mut table = Table::new(&[
        "sessions",
        "server",
        "TPS",
        "95 %",
        "adjusted",
        "95 %",
        "server CPU",
        "95 %",
        "adjusted",
        "95 %",
        "driver CPU",
        "95 %",
        "blocks",
    ]);
    for &count in &run.sessions {
        for (who, contestant) in contestants.iter().enumerate() {
            let of_cell = run.blocks.iter().filter(|(w, c, _)| (*w, *c) == (who, count));
            let blocks = of_cell.map(|(.., block)| *block).collect::<Vec<_>>();
            if blocks.is_empty() {
                continue;
            }
            let compared = Compared::of(&blocks);
            let mut row = vec![count.to_string(), contestant.label.clone()];
            for known in
                [compared.rate, compared.rate_adjusted, compared.cpu, compared.cpu_adjusted, compared.client]
            {
                row.extend(Compared::words(known));
            }
            row.push(compared.counted());
            table.row(row);
            run.report.sum(
                &format!("{}, point select in slices, {count}", contestant.label),
                json!({ "on_over_off": compared.json() }),
            );
        }
    }
    table.print(
        "Point selects in memory, ON over OFF from neighbouring slices: trimmed mean and its 95 % interval. Adjusted: less what goes along \
         with the driver's own CPU per transaction.",
    );
}
