//! What monitoring costs: the hot row with and without somebody who asks for every view ten times a second.
//!
//! 1,024 clients by default. The watchers are the switch of [`crate::sliced`]: they look in one position and
//! rest in the other, under one and the same load, so that their cost is known better than two runs could
//! tell. There is a session for each view, because a statement waits its turn among those of the clients: one
//! session could not ask for all of them ten times a second. Their statements are part of the server's CPU
//! and of the ratio; the answers are read and thrown away ([`crate::skim`]), because what a tool makes of
//! them is its own affair. Nothing was published; wanted is under 2 %.
//!
//! Two hundredths are less than a noisy machine's intervals are wide. So the same is done with more watchers
//! too: what forty looks a second cost is known four times as well, in parts of it, as what ten do. *Ten
//! looks* is that part: the change divided by the looks a second, times ten. Looks share nothing that would
//! make the fortieth cheaper than the first, and the two lines show whether it is so.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::client::{Client, ClientError};
use crate::contest::{Contestant, gather};
use crate::hot_row::{self, PLENTY, Variant};
use crate::interval::Interval;
use crate::measure::{median, merged};
use crate::options::{Options, largest};
use crate::report::{Report, Table, figure};
use crate::sliced::{Block, Compared, SETTLING_SHARE, measure_sliced};

/// Everything that tools look at.
const VIEWS: [&str; 17] = [
    "SHOW ENGINE INNODB STATUS",
    "SHOW ENGINE INNODB MUTEX",
    "SHOW GLOBAL STATUS",
    "SHOW FULL PROCESSLIST",
    "SELECT * FROM information_schema.INNODB_TRX",
    "SELECT * FROM information_schema.INNODB_METRICS",
    "SELECT * FROM information_schema.INNODB_LOCKS",
    "SELECT * FROM information_schema.INNODB_LOCK_WAITS",
    "SELECT * FROM information_schema.THREAD_POOL_GROUPS",
    "SELECT * FROM information_schema.THREAD_POOL_QUEUES",
    "SELECT * FROM information_schema.THREAD_POOL_STATS",
    "SELECT * FROM information_schema.THREAD_POOL_WAITS",
    "SELECT * FROM performance_schema.data_locks",
    "SELECT * FROM performance_schema.data_lock_waits",
    "SELECT * FROM sys.innodb_lock_waits",
    "SELECT * FROM information_schema.TURNSTILE_HOT_ROWS",
    "SELECT * FROM sys.hot_rows",
];
const PERIOD: Duration = Duration::from_millis(100);
/// Looks a second of one watcher; a multiple of it takes as many watchers of each view.
const RATE: f64 = 10.0;
/// The looks a second that are asked about, and enough of them to know what each costs.
const RATES: [f64; 2] = [RATE, 4.0 * RATE];
/// A slice holds this many looks.
const SLICE: Duration = Duration::from_millis(500);
/// What a watcher takes at once: most answers are one read.
const READ_BYTES: usize = 256 << 10;
const CONNECTIONS: [usize; 1] = [1024];

/// The watchers' switch.
#[derive(Default)]
struct WatchSwitch {
    open: Mutex<bool>,
    changed: Condvar,
    ended: AtomicBool,
    looks: AtomicU64,
}

impl WatchSwitch {
    fn set(&self, open: bool) {
        *self.open.lock().unwrap_or_else(|broken| broken.into_inner()) = open;
        self.changed.notify_all();
    }

    fn end(&self) {
        self.ended.store(true, Ordering::SeqCst);
        self.set(true);
    }

    fn wait(&self) {
        let mut open = self.open.lock().unwrap_or_else(|broken| broken.into_inner());
        while !*open {
            open = self.changed.wait(open).unwrap_or_else(|broken| broken.into_inner());
        }
    }
}

/// Looks at a view each period while the switch is on; gives the time of each look in milliseconds. A server
/// that lacks the view answers with an error, which is an answer like another.
fn watch(mut client: Client, view: &str, switch: &WatchSwitch) -> Result<Vec<f64>, ClientError> {
    let mut times = Vec::new();
    let mut buffer = vec![0; READ_BYTES];
    loop {
        switch.wait();
        if switch.ended.load(Ordering::SeqCst) {
            return Ok(times);
        }
        let began = Instant::now();
        client.skim(view, &mut buffer)?;
        times.push(began.elapsed().as_secs_f64() * 1000.0);
        switch.looks.fetch_add(1, Ordering::SeqCst);
        thread::sleep(PERIOD.saturating_sub(began.elapsed()));
    }
}

/// A watcher's thread.
type Watcher = thread::JoinHandle<Result<Vec<f64>, ClientError>>;

/// Runs the experiment.
///
/// # Errors
/// When one of our own servers cannot be started or loses something.
pub fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let contestants = gather(options, &[], largest(&options.connections(&CONNECTIONS, &[16])))?;
    let mut report = Report::new("What monitoring costs: every view ten times a second", json!(null));
    let mut table = Table::new(&[
        "connections",
        "server",
        "watched TPS",
        "alone TPS",
        "watched/alone",
        "95 %",
        "watched cpu us",
        "alone cpu us",
        "watched/alone",
        "95 %",
        "blocks",
        "looks/s",
        "ten looks: TPS %",
        "CPU %",
        "ms a look",
        "lost",
    ]);
    for contestant in contestants.iter().filter(|contestant| contestant.has_tables()) {
        let rates = options.rate.map_or(RATES.to_vec(), |rate| vec![rate]);
        for (count, rate) in options
            .connections(&CONNECTIONS, &[16])
            .into_iter()
            .flat_map(|count| rates.iter().map(move |rate| (count, *rate)))
        {
            match watched(contestant, count, rate, options, &mut report) {
                Ok(row) => table.row(row),
                Err(error) => report.fault(contestant, format!("{count} connections: {error}")),
            }
        }
    }
    table.print(
        "E1 with every view read ten times a second, and without, slice by slice. CPU is the server's per transaction, with what the \
         watchers' statements use; looks/s: of each view. Ten looks: what ten of them a second change, in parts of what these did.",
    );
    report.finish(options, contestants)
}

/// One watcher of each view for every ten looks a second.
fn post_watchers(
    contestant: &Contestant,
    rate: f64,
    switch: &Arc<WatchSwitch>,
) -> Result<Vec<Watcher>, ClientError> {
    let sets = (rate / RATE).round().max(1.0) as usize;
    let posted = (0..sets).flat_map(|_| VIEWS).map(|view| {
        let (client, shared) = (contestant.client()?, switch.clone());
        Ok(thread::spawn(move || watch(client, view, &shared)))
    });
    posted.collect()
}

fn watched(
    contestant: &Contestant,
    count: usize,
    rate: f64,
    options: &Options,
    report: &mut Report,
) -> Result<Vec<String>, Box<dyn Error>> {
    let mut admin = contestant.client()?;
    hot_row::prepare(&mut admin, PLENTY)?;
    let duration = options.duration(60.0, 3.0);
    let load = hot_row::load(&contestant.target, Variant::Plain, count, duration);
    let switch = Arc::new(WatchSwitch::default());
    let watchers = post_watchers(contestant, rate, &switch)?;
    let mut flip = |position| {
        switch.set(position == 0);
        Ok(())
    };
    let label = format!("{count} clients, {rate:.0} looks a second and none");
    let measured = measure_sliced(contestant, &load, (duration, SLICE), &label, &mut flip);
    switch.end();
    let mut times = Vec::new();
    for watcher in watchers {
        times.extend(watcher.join().map_err(|_| "a watcher failed")??);
    }
    let measured = measured?;
    let lost = measured.affected as i64 - (PLENTY - hot_row::stock(&mut admin)?);
    let compared = Compared::of(&measured.blocks);
    let [mut with, mut alone] = measured.cells;
    (with.lost, alone.lost) = (Some(lost), Some(lost));
    let blocks = measured.blocks.iter().map(Block::json).collect::<Vec<_>>();
    let (looks, look_ms) = (switch.looks.load(Ordering::SeqCst), median(times));
    // The switch is on while the load settles, too.
    let watched_for = with.outcome.elapsed.as_secs_f64() * (1.0 + 1.0 / f64::from(SETTLING_SHARE));
    let looks_a_second = looks as f64 / VIEWS.len() as f64 / watched_for;
    let ten = [compared.rate, compared.cpu].map(|known| of_ten(known, looks_a_second));
    for (word, cell) in [("watched", &with), ("alone", &alone)] {
        let head = json!({ "server": contestant.label, "cell": word });
        report.cell(
            contestant,
            cell,
            merged(head, json!({ "looks_a_second": looks_a_second, "blocks": blocks })),
        );
    }
    report.sum(
        &format!("{}, {count}, {rate:.0} a second", contestant.label),
        json!({ "watched_over_alone": compared.json(), "look_ms": look_ms, "looks_a_second": looks_a_second,
            "ten_looks_percent": ten.map(|known| known.map(|one| [one.middle, one.low, one.high])) }),
    );
    let ([rate, rate_within], [cpu, cpu_within]) =
        (Compared::words(compared.rate), Compared::words(compared.cpu));
    Ok(vec![
        count.to_string(),
        contestant.label.clone(),
        figure(Some(with.tps()), 0),
        figure(Some(alone.tps()), 0),
        rate,
        rate_within,
        figure(with.cpu_per_transaction_us(), 1),
        figure(alone.cpu_per_transaction_us(), 1),
        cpu,
        cpu_within,
        compared.counted(),
        figure(Some(looks_a_second), 1),
        per_cent(ten[0]),
        per_cent(ten[1]),
        figure(look_ms, 1),
        lost.to_string(),
    ])
}

/// What ten looks a second change, in per cent, if so many changed so much.
fn of_ten(known: Option<Interval>, looks_a_second: f64) -> Option<Interval> {
    known.map(|ratio| ratio.map(|ratio| 100.0 * (ratio - 1.0) * RATE / looks_a_second.max(1.0)))
}

/// For a table: a change and its interval.
fn per_cent(known: Option<Interval>) -> String {
    known.map_or("n/a".into(), |one| format!("{:+.1} ({:+.1} to {:+.1})", one.middle, one.low, one.high))
}
