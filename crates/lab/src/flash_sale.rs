//! Experiment E1, the flash sale: one row, thousands of buyers.
//!
//! The table, the row and the UPDATE are those of the published measurement (MySQL 5.6.19 and Percona 5.6.25, 32 cores):
//! every buyer takes one piece of the same stock in an autocommitted statement. There stock MySQL fell to about 30
//! transactions a second at 1,024 buyers and 3,924 with deadlock detection off.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::client::{Client, ClientError, Target};
use crate::fleet::{self, Live, Load, Outcome};
use crate::process::{cpu_us, thread_count};
use crate::progress::Progress;

/// Numbers of buyers of the published curve.
pub const CONNECTIONS: [usize; 10] = [8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096];
/// The shop's stock in the published measurement.
pub const ITEMS: i64 = 500_000;
/// The database the laboratory works in.
pub const DATABASE: &str = "bench";

const CREATE: &str = "CREATE TABLE `test_update` (
  `id` int(11) NOT NULL AUTO_INCREMENT,
  `stock` int(11) DEFAULT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB AUTO_INCREMENT=2 DEFAULT CHARSET=utf8";
const UPDATE: &str = "UPDATE test_update SET stock = stock - 1 WHERE id = 1 AND stock > 3";

/// Makes the table with `stock` pieces of the one item.
///
/// # Errors
/// Any [`ClientError`].
pub fn prepare(client: &mut Client, stock: i64) -> Result<(), ClientError> {
    client.query(&format!("CREATE DATABASE IF NOT EXISTS {DATABASE}"))?;
    client.query(&format!("USE {DATABASE}"))?;
    client.query("DROP TABLE IF EXISTS test_update")?;
    client.query(CREATE)?;
    client.query(&format!("INSERT INTO test_update (id, stock) VALUES (1,{stock})"))?;
    Ok(())
}

/// Pieces left.
///
/// # Errors
/// Any [`ClientError`].
pub fn stock(client: &mut Client) -> Result<i64, ClientError> {
    client.number(&format!("SELECT stock FROM {DATABASE}.test_update WHERE id = 1"))
}

/// The load of E1.
pub fn load(target: &Target, connections: usize, duration: Duration, until_sold_out: bool) -> Load {
    Load {
        target: target.clone(),
        set_up: vec![
            format!("USE {DATABASE}"),
            "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED".into(),
        ],
        script: Arc::new(|_, _, texts| texts.push(UPDATE.to_string())),
        connections,
        threads: 1,
        duration,
        until_sold_out,
    }
}

/// One cell of the table.
#[derive(Debug)]
pub struct Cell {
    /// Buyers.
    pub connections: usize,
    /// The run.
    pub outcome: Outcome,
    /// CPU the server used, in microseconds; None if its process is not ours to see.
    pub server_cpu_us: Option<u64>,
    /// Most threads seen at the end of the run.
    pub server_threads: Option<usize>,
    /// Acknowledged minus applied decrements: must be 0.
    pub lost: i64,
}

impl Cell {
    /// Transactions a second.
    pub fn tps(&self) -> f64 {
        self.outcome.transactions as f64 / self.outcome.elapsed.as_secs_f64().max(0.001)
    }
    /// Server CPU microseconds per transaction.
    pub fn cpu_per_transaction_us(&self) -> Option<f64> {
        self.server_cpu_us.map(|used| used as f64 / self.outcome.transactions.max(1) as f64)
    }
    /// As it stands in the JSON file.
    pub fn json(&self) -> Value {
        let latency = &self.outcome.latency_us;
        json!({
            "connections": self.connections,
            "tps": self.tps().round(),
            "transactions": self.outcome.transactions,
            "seconds": self.outcome.elapsed.as_secs_f64(),
            "avg_ms": latency.mean() / 1000.0,
            "p50_ms": latency.value_at_quantile(0.5) as f64 / 1000.0,
            "p99_ms": latency.value_at_quantile(0.99) as f64 / 1000.0,
            "max_ms": latency.max() as f64 / 1000.0,
            "server_cpu_us_per_tx": self.cpu_per_transaction_us(),
            "server_threads": self.server_threads,
            "fewest_per_connection": self.outcome.fewest,
            "errors": self.outcome.errors,
            "broken": self.outcome.broken,
            "lost": self.lost,
        })
    }
}

/// Runs one cell against a prepared table that cannot sell out in time.
///
/// # Errors
/// Any [`ClientError`].
pub fn cell(
    target: &Target,
    pid: Option<u32>,
    connections: usize,
    seconds: u64,
) -> Result<Cell, ClientError> {
    let mut client = Client::connect(target)?;
    let before = stock(&mut client)?;
    let live = Arc::new(Live::default());
    let progress = Progress::start(format!("{connections} buyers"), live.clone(), 0);
    let cpu_before = pid.and_then(cpu_us);
    let outcome = fleet::run(&load(target, connections, Duration::from_secs(seconds), false), &live)?;
    let server_cpu_us = pid.and_then(cpu_us).zip(cpu_before).map(|(after, before)| after - before);
    drop(progress);
    let lost = outcome.affected as i64 - (before - stock(&mut client)?);
    Ok(Cell { connections, outcome, server_cpu_us, server_threads: pid.and_then(thread_count), lost })
}

/// The table's head and one line a cell, as the published article lays it out.
pub fn print_table(cells: &[Cell]) {
    println!(
        "{:>11} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>5}",
        "connections", "TPS", "avg ms", "p99 ms", "max ms", "cpu us/tx", "threads", "lost"
    );
    for cell in cells {
        let latency = &cell.outcome.latency_us;
        println!(
            "{:>11} {:>9.0} {:>9.2} {:>9.2} {:>9.2} {:>9} {:>9} {:>5}",
            cell.connections,
            cell.tps(),
            latency.mean() / 1000.0,
            latency.value_at_quantile(0.99) as f64 / 1000.0,
            latency.max() as f64 / 1000.0,
            cell.cpu_per_transaction_us().map_or("-".into(), |us| format!("{us:.1}")),
            cell.server_threads.map_or("-".into(), |threads| threads.to_string()),
            cell.lost,
        );
    }
    println!(
        "published, 32 cores, MySQL 5.6 at 1,024 connections: about 30 TPS; deadlock detection off: 3,924 TPS"
    );
}
