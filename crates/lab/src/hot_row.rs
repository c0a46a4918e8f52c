//! The hot row of E1 and E2: the table, the row and the UPDATE of the published measurements, and a variant
//! whose transactions hold a row of their own before they ask for the hot one.
//!
//! Every buyer takes one piece of the same stock. What was acknowledged must be gone from stock, and nothing
//! else: each run is checked by the difference.

use std::sync::Arc;
use std::time::Duration;

use crate::client::{Client, ClientError, Target};
use crate::clients::Load;
use crate::house;

/// The shop's stock in the published measurement.
pub const ITEMS: i64 = 500_000;
/// A stock that cannot sell out while a cell is measured.
pub const PLENTY: i64 = 2_000_000_000;
/// The database the laboratory works in.
pub const DATABASE: &str = "bench";
/// Rows of the private table: one for each connection, and some for planted cycles.
pub const PRIVATE_ROWS: usize = 8192;

const CREATE: &str = "CREATE TABLE `test_update` (
  `id` int(11) NOT NULL AUTO_INCREMENT,
  `stock` int(11) DEFAULT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB AUTO_INCREMENT=2 DEFAULT CHARSET=utf8";
/// The statement that everybody runs.
pub const UPDATE: &str = "UPDATE test_update SET stock = stock - 1 WHERE id = 1 AND stock > 3";

/// What a transaction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// The UPDATE alone, autocommitted: E1.
    Plain,
    /// A transaction that first updates the connection's own row: every waiter of the hot row holds
    /// something.
    Private,
}

impl Variant {
    /// Its name in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Variant::Plain => "plain",
            Variant::Private => "private row first",
        }
    }
}

/// Makes the table with `stock` pieces of the one item.
///
/// # Errors
/// Any [`ClientError`].
pub fn prepare(client: &mut Client, stock: i64) -> Result<(), ClientError> {
    use_database(client)?;
    client.query("DROP TABLE IF EXISTS test_update")?;
    client.query(CREATE)?;
    client.query(&format!("INSERT INTO test_update (id, stock) VALUES (1,{stock})"))?;
    Ok(())
}

/// Makes the laboratory's database, if the server has none of that name, and enters it. One that was made
/// here is dropped when the run ends.
///
/// # Errors
/// Any [`ClientError`].
pub fn use_database(client: &mut Client) -> Result<(), ClientError> {
    let known = client.query(&format!("SHOW DATABASES LIKE '{DATABASE}'"))?;
    if known.rows.is_empty() {
        house::keep_database(client.target(), DATABASE);
        client.query(&format!("CREATE DATABASE IF NOT EXISTS {DATABASE}"))?;
    }
    client.query(&format!("USE {DATABASE}"))?;
    Ok(())
}

/// Makes the table of private rows.
///
/// # Errors
/// Any [`ClientError`].
pub fn prepare_private(client: &mut Client) -> Result<(), ClientError> {
    client.query("DROP TABLE IF EXISTS test_private")?;
    client.query("CREATE TABLE test_private (id int NOT NULL PRIMARY KEY, v int NOT NULL) ENGINE=InnoDB")?;
    for from in (0..PRIVATE_ROWS).step_by(1024) {
        let rows: Vec<String> = (from..from + 1024).map(|id| format!("({id},0)")).collect();
        client.query(&format!("INSERT INTO test_private VALUES {}", rows.join(",")))?;
    }
    Ok(())
}

/// Pieces left.
///
/// # Errors
/// Any [`ClientError`].
pub fn stock(client: &mut Client) -> Result<i64, ClientError> {
    client.number(&format!("SELECT stock FROM {DATABASE}.test_update WHERE id = 1"))
}

/// Transactions that the private rows remember.
///
/// # Errors
/// Any [`ClientError`].
pub fn private_sum(client: &mut Client) -> Result<i64, ClientError> {
    client.number(&format!("SELECT SUM(v) FROM {DATABASE}.test_private"))
}

/// The load of E1, or of its variant.
pub fn load(target: &Target, variant: Variant, connections: usize, duration: Duration) -> Load {
    Load {
        target: target.clone(),
        set_up: vec![
            format!("USE {DATABASE}"),
            "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED".into(),
        ],
        prepared: Vec::new(),
        script: match variant {
            Variant::Plain => Arc::new(|_, _, steps| steps.say(UPDATE)),
            Variant::Private => Arc::new(|connection, _, steps| {
                steps.say("BEGIN");
                steps.push(format!("UPDATE test_private SET v = v + 1 WHERE id = {connection}"));
                steps.say(UPDATE);
                steps.say("COMMIT");
            }),
        },
        connections,
        threads: 1,
        duration,
        until_sold_out: false,
        rate: None,
        rtt: Duration::ZERO,
        begins_again: false,
    }
}
