//! Experiment E6, the order: what a shop sends for one piece of the article that everybody wants.
//!
//! BEGIN, a line in the log of orders, one piece off the stock, COMMIT: four statements, each sent when the
//! one before is answered, at READ COMMITTED. The hot row is the last thing a transaction asks for, and still
//! it is held while an answer travels to the client, COMMIT travels back and the log is synced: with
//! `--rtt` a network's time comes on top of that, and however fast the server is, so many orders a second
//! are all that a row's lock lets through. A server that hands a hot row on before its holder has committed
//! (`turnstile_hot_row`) is measured with that off and on. It must roll back whoever took the row from one
//! that rolls back, so `--rollbacks` lets a share of the buyers change their mind.
//!
//! Whoever gets error 1213 or 1205 begins again, as clients are told to; that is counted, and the order's
//! latency counts from its first BEGIN. Each cell begins with empty tables and is audited: pieces sold, lines
//! in the log and acknowledged orders are the same number.

use std::error::Error;
use std::sync::Arc;

use serde_json::json;

use super::in_turn::{Checked, InTurn, Results, word};
use crate::client::{Client, ClientError};
use crate::clients::{Load, Steps};
use crate::contest::{Contestant, gather};
use crate::dice::dice;
use crate::hot_row::{DATABASE, PLENTY, use_database};
use crate::measure::{Measurement, lost, measure};
use crate::options::{Options, largest};
use crate::report::{Report, Table, figure};

const CONNECTIONS: [usize; 6] = [8, 32, 128, 512, 1024, 4096];
/// Hands a hot row on before its holder has committed.
const SWITCH: &str = "turnstile_hot_row";
/// The dice of who changes his mind.
const SALT: u64 = 21;

const CREATE_STOCK: &str =
    "CREATE TABLE inventory (id int NOT NULL PRIMARY KEY, stock int NOT NULL) ENGINE=InnoDB";
const CREATE_LOG: &str = "CREATE TABLE inventory_log (id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY, \
    item int NOT NULL, buyer int NOT NULL) ENGINE=InnoDB";
const UPDATE: &str = "UPDATE inventory SET stock = stock - 1 WHERE id = 1 AND stock > 0";

/// Runs the curve.
///
/// # Errors
/// When one of our own servers cannot be started, loses something or has wrong books.
pub fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let connections = options.connections(&CONNECTIONS, &[8, 128]);
    let contestants = gather(options, &[], largest(&connections))?;
    let mut report = Report::new(
        "E6 stock order: a line in the log and the one hot row, four statements an order",
        json!(null),
    );
    let cell = |contestant: &Contestant, count: usize, _: Option<bool>| cell(contestant, count, options);
    let in_turn = InTurn { switch: SWITCH, member: "hot_row", cell: &cell };
    let results = in_turn.run(&contestants, &connections, options.rounds(2), &mut report);
    results.sum_up(&contestants, &connections, &mut report);
    table(&contestants, &connections, &results).print(&format!(
        "Added round trip {:?}, {} % of the orders taken back by the buyer. Medians of the rounds, counts of all of them; ON/OFF: of neighbouring \
         cells. Latency is an order's, from its first BEGIN. 1213, 1205: answers to buyers, who begin again.",
        options.rtt, options.rollbacks
    ));
    report.finish(options, contestants)
}

/// The statements of one order.
fn order(connection: usize, turn: u64, rollbacks: f64, steps: &mut Steps) {
    steps.say("BEGIN");
    steps.push(format!("INSERT INTO inventory_log (item, buyer) VALUES (1, {connection})"));
    steps.say(UPDATE);
    if changes_mind(connection, turn, rollbacks) {
        steps.say("ROLLBACK");
        steps.withdraw();
    } else {
        steps.say("COMMIT");
    }
}

/// Whether this buyer takes this order back: a share in per cent, by dice that fall alike in every run.
fn changes_mind(connection: usize, turn: u64, rollbacks: f64) -> bool {
    ((dice(connection, turn, SALT) % 1_000_000) as f64) < rollbacks * 10_000.0
}

fn cell(contestant: &Contestant, count: usize, options: &Options) -> Result<Checked, ClientError> {
    let rollbacks = options.rollbacks;
    let load = Load {
        target: contestant.target.clone(),
        set_up: vec![
            format!("USE {DATABASE}"),
            "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED".into(),
        ],
        prepared: Vec::new(),
        script: Arc::new(move |connection, turn, steps| order(connection, turn, rollbacks, steps)),
        connections: count,
        threads: 1,
        duration: options.duration(3.0, 0.7),
        until_sold_out: false,
        rate: None,
        rtt: options.rtt,
        begins_again: true,
    };
    let label = format!("{count} buyers");
    if !contestant.has_tables() {
        return Ok((measure(contestant, &load, &label)?, None));
    }
    let mut client = contestant.client()?;
    open_shop(&mut client)?;
    let mut cell = measure(contestant, &load, &label)?;
    let books = Books::read(&mut client)?;
    cell.lost = Some(lost(cell.outcome.transactions, cell.outcome.in_doubt, books.sold));
    Ok((cell, books.fault()))
}

/// Makes the tables: plenty of the article, nothing sold.
fn open_shop(client: &mut Client) -> Result<(), ClientError> {
    use_database(client)?;
    for statement in
        ["DROP TABLE IF EXISTS inventory_log", "DROP TABLE IF EXISTS inventory", CREATE_STOCK, CREATE_LOG]
    {
        client.query(statement)?;
    }
    client.query(&format!("INSERT INTO inventory (id, stock) VALUES (1, {PLENTY})"))?;
    Ok(())
}

/// What the tables say after a cell, in one snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Books {
    /// Pieces gone from stock.
    sold: i64,
    /// Lines in the log.
    logged: i64,
    /// Articles of which there are fewer than none.
    below_zero: i64,
}

impl Books {
    fn read(client: &mut Client) -> Result<Books, ClientError> {
        let text = format!(
            "SELECT (SELECT {PLENTY} - stock FROM {DATABASE}.inventory WHERE id = 1), \
             (SELECT COUNT(*) FROM {DATABASE}.inventory_log WHERE item = 1), \
             (SELECT COUNT(*) FROM {DATABASE}.inventory WHERE stock < 0)"
        );
        let answer = client.query(&text)?;
        let number = |column: usize| {
            let value = answer.rows.first().and_then(|row| row.get(column)?.as_deref()?.parse().ok());
            value.ok_or(ClientError::Protocol("the books have no numbers"))
        };
        Ok(Books { sold: number(0)?, logged: number(1)?, below_zero: number(2)? })
    }

    /// What is wrong with them, whatever was acknowledged.
    fn fault(&self) -> Option<String> {
        if self.sold != self.logged {
            return Some(format!(
                "{} pieces are gone from stock, {} orders are in the log",
                self.sold, self.logged
            ));
        }
        (self.below_zero != 0).then(|| format!("{} articles have a stock below zero", self.below_zero))
    }
}

fn table(contestants: &[Contestant], connections: &[usize], results: &Results) -> Table {
    let cells = &results.cells;
    let mut table = Table::new(&[
        "connections",
        "server",
        "hot row",
        "orders/s",
        "ON/OFF",
        "of floor",
        "avg ms",
        "p99 ms",
        "max/median",
        "cpu us/order",
        "cpu ON/OFF",
        "client us",
        "orders",
        "taken back",
        "1213",
        "1205",
        "lost",
    ]);
    for line in results.lines(connections, contestants.len()) {
        let (count, who, position) = line;
        let key = (count, position);
        let middle = |figure: &dyn Fn(&Measurement) -> Option<f64>| cells.median(who, key, figure);
        let all = |of: fn(&Measurement) -> u64| {
            cells.sum(who, key, |cell| Some(of(cell) as i64)).map_or("n/a".into(), |sum| sum.to_string())
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
            figure(middle(&|cell| Some(cell.average_ms())), 2),
            figure(middle(&|cell| Some(cell.p99_ms())), 2),
            figure(middle(&|cell| Some(cell.longest_over_median())), 1),
            figure(middle(&Measurement::cpu_per_transaction_us), 1),
            on(quotient.cpu),
            figure(middle(&Measurement::client_cpu_per_transaction_us), 1),
            all(|cell| cell.outcome.transactions),
            all(|cell| cell.outcome.withdrawn),
            all(|cell| cell.outcome.deadlocks),
            all(|cell| cell.outcome.timeouts),
            cells.lost(who, key).map_or("n/a".into(), |lost| lost.to_string()),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::{Books, Steps, changes_mind, order};

    #[test]
    fn the_books_agree_or_say_what_is_wrong() {
        let books = Books { sold: 7, logged: 7, below_zero: 0 };
        assert_eq!(books.fault(), None);
        let text = Books { logged: 8, ..books }.fault();
        assert_eq!(text.as_deref(), Some("7 pieces are gone from stock, 8 orders are in the log"));
        assert!(Books { below_zero: 1, ..books }.fault().is_some_and(|text| text.contains("below zero")));
    }

    #[test]
    fn the_asked_share_changes_its_mind_and_always_the_same() {
        let count = |rollbacks: f64| {
            let all = (0..100).flat_map(|connection| (0..1000).map(move |turn| (connection, turn)));
            all.filter(|&(connection, turn)| changes_mind(connection, turn, rollbacks)).count()
        };
        assert_eq!((count(0.0), count(10.0)), (0, count(10.0)));
        assert!((9_500..10_500).contains(&count(10.0)), "{}", count(10.0));
        assert!((50..150).contains(&count(0.1)), "{}", count(0.1));
    }

    #[test]
    fn an_order_is_four_statements_whatever_its_end() {
        let (mut kept, mut taken_back) = (Steps::default(), Steps::default());
        order(5, 0, 0.0, &mut kept);
        let turn = (0..).find(|&turn| changes_mind(5, turn, 50.0)).unwrap_or(0);
        order(5, turn, 50.0, &mut taken_back);
        assert_eq!((kept.count(), kept.withdraws(), &kept.packet(3)[5..]), (4, false, &b"COMMIT"[..]));
        assert_eq!((taken_back.count(), taken_back.withdraws()), (4, true));
        assert_eq!(&taken_back.packet(3)[5..], b"ROLLBACK");
        assert_eq!(&kept.packet(1)[5..], b"INSERT INTO inventory_log (item, buyer) VALUES (1, 5)");
    }
}
