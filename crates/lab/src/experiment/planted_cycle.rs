//! A real cycle planted among thousands of waiters, and the time until its victim is told.
//!
//! A holds the hot row and has changed many rows, so that it is never the cheaper one to roll back. Thousands
//! of sessions wait for the hot row, each holding a row of its own. Then, several times: B changes a row of
//! its own and waits for the hot row too, at the end of the queue; A asks for B's row, which closes the
//! cycle. The clock runs from A's statement to the moment B gets error 1213. B's row is another one each
//! time, because A now has the last one.

use std::error::Error;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::client::{Client, ClientError};
use crate::contest::Contestant;
use crate::hot_row::{self, DATABASE, PRIVATE_ROWS, UPDATE};
use crate::measure::median;
use crate::options::Options;
use crate::report::{Report, Table, figure};
use crate::switch::{Switch, counter};

const WAITERS: usize = 4000;
const TRIALS: usize = 11;
const DEADLOCK: u16 = 1213;

/// How many wait for the row.
pub fn waiters(options: &Options) -> usize {
    if options.quick { 200 } else { WAITERS }
}

/// Plants cycles in every server and prints when they were broken.
pub fn run(options: &Options, contestants: &[Contestant], report: &mut Report) {
    let waiters = waiters(options);
    let mut table = Table::new(&["server", "waiters", "trials", "median ms", "longest ms", "wrong victims"]);
    for contestant in contestants.iter().filter(|contestant| contestant.has_tables()) {
        match plant(contestant, waiters) {
            Ok(times) => {
                let middle = median(times.clone());
                let longest = times.iter().copied().fold(0.0, f64::max);
                let wrong = TRIALS - times.len();
                table.row(vec![
                    contestant.label.clone(),
                    waiters.to_string(),
                    TRIALS.to_string(),
                    figure(middle, 2),
                    figure(Some(longest), 2),
                    wrong.to_string(),
                ]);
                let result = json!({ "server": contestant.label, "cell": "planted cycle", "waiters": waiters,
                    "victim_ms": times, "median_ms": middle, "wrong_victims": wrong });
                report.value(result);
                report.sum(&format!("{}, planted cycle", contestant.label), json!({ "median_ms": middle }));
            }
            Err(error) => report.fault(contestant, format!("planted cycle: {error}")),
        }
    }
    table.print("A cycle of two among waiters for the same row: time until the victim gets error 1213.");
}

fn session(contestant: &Contestant) -> Result<Client, ClientError> {
    let mut client = contestant.client()?;
    client.query(&format!("USE {DATABASE}"))?;
    client.query("SET SESSION innodb_lock_wait_timeout = 300")?;
    client.query("BEGIN")?;
    Ok(client)
}

fn plant(contestant: &Contestant, waiters: usize) -> Result<Vec<f64>, Box<dyn Error>> {
    let mut admin = contestant.client()?;
    let detection = Switch::find(&mut admin, "innodb_deadlock_detect")?;
    detection.set(&mut admin, "ON")?;
    let stock = hot_row::stock(&mut admin)?;
    let mut holder = session(contestant)?;
    holder.query("UPDATE test_private SET v = v + 1 WHERE id >= 8000")?;
    holder.query(UPDATE)?;
    eprintln!("{}: {waiters} sessions come to wait", contestant.label);
    let mut crowd = Vec::with_capacity(waiters);
    for number in 0..waiters {
        let mut waiter = session(contestant)?;
        waiter.query(&format!("UPDATE test_private SET v = v + 1 WHERE id = {number}"))?;
        waiter.send(UPDATE)?;
        crowd.push(waiter);
    }
    wait_for_waiters(&mut admin, waiters as i64)?;
    let mut times = Vec::new();
    for trial in 0..TRIALS {
        let row = waiters.max(PRIVATE_ROWS / 2) + 100 + trial;
        if let Some(time) = one(contestant, &mut admin, holder, waiters, row, &mut times)? {
            holder = time;
        } else {
            // The holder was rolled back: the queue has dissolved, and there is nothing more to plant in.
            return Ok(times);
        }
    }
    holder.query("ROLLBACK")?;
    // Whoever is still waiting is cut off; what they did is rolled back, and the stock is what it was.
    drop(crowd);
    wait_for_waiters(&mut admin, 0)?;
    detection.restore(&mut admin)?;
    let left = hot_row::stock(&mut admin)?;
    if left != stock {
        return Err(format!("stock {left} after everything was rolled back, {stock} before").into());
    }
    Ok(times)
}

/// One cycle. Gives the holder back, or None when it was the victim.
fn one(
    contestant: &Contestant,
    admin: &mut Client,
    mut holder: Client,
    waiters: usize,
    row: usize,
    times: &mut Vec<f64>,
) -> Result<Option<Client>, Box<dyn Error>> {
    let ask = format!("UPDATE test_private SET v = v + 1 WHERE id = {row}");
    let mut victim = session(contestant)?;
    victim.query(&ask)?;
    victim.send(UPDATE)?;
    wait_for_waiters(admin, waiters as i64 + 1)?;
    let (sender, told) = mpsc::channel();
    let listener = thread::spawn(move || {
        let answer = victim.receive();
        // The receiver is there until both have answered.
        let _ = sender.send(Instant::now());
        answer.map(|_| victim)
    });
    let begin = Instant::now();
    holder.send(&ask)?;
    let held = holder.receive();
    if held.as_ref().is_err_and(|error| error.code() == Some(DEADLOCK)) {
        drop(listener);
        return Ok(None);
    }
    held?;
    let when = told.recv_timeout(Duration::from_secs(60))?;
    match listener.join().map_err(|_| "the victim's thread failed")? {
        Err(error) if error.code() == Some(DEADLOCK) => {
            times.push(when.duration_since(begin).as_secs_f64() * 1000.0);
            Ok(Some(holder))
        }
        Err(error) => Err(error.into()),
        Ok(_) => Err("both sides of a cycle were answered with OK".into()),
    }
}

fn wait_for_waiters(admin: &mut Client, wanted: i64) -> Result<(), Box<dyn Error>> {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let now = counter(admin, "Innodb_row_lock_current_waits", "lock_row_lock_current_waits")?;
        match now {
            Some(now) if now == wanted => return Ok(()),
            Some(_) if Instant::now() < deadline => thread::sleep(Duration::from_millis(1)),
            other => return Err(format!("{wanted} waiters were expected, there are {other:?}").into()),
        }
    }
}
