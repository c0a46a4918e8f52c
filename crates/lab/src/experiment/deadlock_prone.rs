//! Transactions that fall into deadlocks: two of ten rows, in any order, by everybody at once.
//!
//! 64 clients by default. With `innodb_deadlock_detect` ON a cycle is broken at once and its victim begins
//! again; with OFF whoever stands in one waits until `innodb_lock_wait_timeout`, a second here, is over, and
//! with him everybody who waits for what he holds. Counted are commits, and rollbacks a commit, by error 1213
//! and by 1205. Each cell begins with rows of zeros and is checked: their sum is twice what was committed.

use std::error::Error;
use std::sync::Arc;

use serde_json::json;

use super::in_turn::{Checked, InTurn, Results, word};
use crate::client::{Client, ClientError};
use crate::clients::Load;
use crate::contest::{Contestant, gather};
use crate::dice::dice;
use crate::hot_row::{DATABASE, use_database};
use crate::measure::{Measurement, lost, measure};
use crate::options::{Options, largest};
use crate::report::{Report, Table, figure};

const CONNECTIONS: [usize; 1] = [64];
/// Rows that everybody updates.
const ROWS: u64 = 10;
/// Rows that a transaction updates.
const A_TRANSACTION: i64 = 2;
const SALT: u64 = 22;

const CREATE: &str =
    "CREATE TABLE test_crossing (id int NOT NULL PRIMARY KEY, v bigint NOT NULL) ENGINE=InnoDB";

/// Runs the comparison.
///
/// # Errors
/// When one of our own servers cannot be started or loses something.
pub fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let connections = options.connections(&CONNECTIONS, &[16]);
    let contestants = gather(options, &[], largest(&connections))?;
    let mut report =
        Report::new("Deadlock-prone: two of ten rows in random order, detection on and off", json!(null));
    let cell = |contestant: &Contestant, count: usize, detects: Option<bool>| {
        cell(contestant, count, detects, options)
    };
    let in_turn = InTurn { switch: "innodb_deadlock_detect", member: "detect", cell: &cell };
    let results = in_turn.run(&contestants, &connections, options.rounds(3), &mut report);
    results.sum_up(&contestants, &connections, &mut report);
    table(&contestants, &connections, &results).print(&format!(
        "Added round trip {:?}. Medians of the rounds. 1213, 1205: rollbacks a commit. Without detection a wait for a lock ends after a second. \
         Latency is a transaction's, from its first BEGIN.",
        options.rtt
    ));
    report.finish(options, contestants)
}

/// Two different rows, the first of them first.
fn pair(connection: usize, turn: u64) -> (u64, u64) {
    let dice = dice(connection, turn, SALT);
    let first = dice % ROWS;
    (first, (first + 1 + dice / ROWS % (ROWS - 1)) % ROWS)
}

fn cell(
    contestant: &Contestant,
    count: usize,
    detects: Option<bool>,
    options: &Options,
) -> Result<Checked, ClientError> {
    let mut set_up = vec![format!("USE {DATABASE}")];
    if detects == Some(false) {
        set_up.push("SET SESSION innodb_lock_wait_timeout = 1".into());
    }
    let load = Load {
        target: contestant.target.clone(),
        set_up,
        prepared: Vec::new(),
        script: Arc::new(|connection, turn, steps| {
            let (first, second) = pair(connection, turn);
            steps.say("BEGIN");
            steps.push(format!("UPDATE test_crossing SET v = v + 1 WHERE id = {first}"));
            steps.push(format!("UPDATE test_crossing SET v = v + 1 WHERE id = {second}"));
            steps.say("COMMIT");
        }),
        connections: count,
        threads: 1,
        duration: options.duration(5.0, 1.5),
        until_sold_out: false,
        rate: None,
        rtt: options.rtt,
        begins_again: true,
    };
    let label = format!("{count} clients, detection {}", word(detects));
    if !contestant.has_tables() {
        return Ok((measure(contestant, &load, &label)?, None));
    }
    let mut client = contestant.client()?;
    prepare(&mut client)?;
    let mut cell = measure(contestant, &load, &label)?;
    let sum = client.number(&format!("SELECT SUM(v) FROM {DATABASE}.test_crossing"))?;
    let (applied, fault) = applied(sum);
    cell.lost = Some(lost(cell.outcome.transactions, cell.outcome.in_doubt, applied));
    Ok((cell, fault))
}

fn prepare(client: &mut Client) -> Result<(), ClientError> {
    use_database(client)?;
    client.query("DROP TABLE IF EXISTS test_crossing")?;
    client.query(CREATE)?;
    let rows: Vec<String> = (0..ROWS).map(|id| format!("({id},0)")).collect();
    client.query(&format!("INSERT INTO test_crossing VALUES {}", rows.join(",")))?;
    Ok(())
}

/// Whole transactions that the rows remember, and what is wrong if one of them is there in part.
fn applied(sum: i64) -> (i64, Option<String>) {
    let half = sum % A_TRANSACTION != 0;
    (sum / A_TRANSACTION, half.then(|| format!("the sum {sum} holds half a transaction")))
}

fn table(contestants: &[Contestant], connections: &[usize], results: &Results) -> Table {
    let cells = &results.cells;
    let mut table = Table::new(&[
        "connections",
        "server",
        "detection",
        "commits/s",
        "ON/OFF",
        "of floor",
        "1213",
        "1205",
        "avg ms",
        "p99 ms",
        "longest ms",
        "cpu us/commit",
        "cpu ON/OFF",
        "client us",
        "lost",
    ]);
    for line in results.lines(connections, contestants.len()) {
        let (count, who, position) = line;
        let key = (count, position);
        let middle = |figure: &dyn Fn(&Measurement) -> Option<f64>| cells.median(who, key, figure);
        let a_commit = |of: fn(&Measurement) -> u64| {
            let share = |cell: &Measurement| of(cell) as f64 / cell.outcome.transactions.max(1) as f64;
            figure(middle(&|cell| Some(share(cell))), 3)
        };
        let quotient = results.on_over_off(who, count);
        let on = |value: Option<f64>| figure(value.filter(|_| position == Some(true)), 2);
        table.row(vec![
            count.to_string(),
            contestants[who].label.clone(),
            word(position).into(),
            figure(cells.tps(who, key), 0),
            on(quotient.rate),
            figure(results.of_floor(contestants, line), 2),
            a_commit(|cell| cell.outcome.deadlocks),
            a_commit(|cell| cell.outcome.timeouts),
            figure(middle(&|cell| Some(cell.average_ms())), 2),
            figure(middle(&|cell| Some(cell.p99_ms())), 2),
            figure(cells.worst(who, key, |cell| cell.outcome.latency_us.max() as f64 / 1000.0), 1),
            figure(middle(&Measurement::cpu_per_transaction_us), 1),
            on(quotient.cpu),
            figure(middle(&Measurement::client_cpu_per_transaction_us), 1),
            cells.lost(who, key).map_or("n/a".into(), |lost| lost.to_string()),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{ROWS, applied, pair};

    #[test]
    fn rows_are_two_and_every_pair_comes_in_both_orders() {
        let pairs: HashSet<_> = (0..64).flat_map(|one| (0..64).map(move |turn| pair(one, turn))).collect();
        assert_eq!(pairs.len() as u64, ROWS * (ROWS - 1));
        assert!(pairs.iter().all(|(first, second)| first != second && *first.max(second) < ROWS));
    }

    #[test]
    fn half_a_transaction_is_found() {
        assert_eq!(applied(40), (20, None));
        assert_eq!(applied(41).1.as_deref(), Some("the sum 41 holds half a transaction"));
    }
}
