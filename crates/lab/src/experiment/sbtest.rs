//! The table of sysbench's OLTP scripts: id, an indexed number, two texts of digits.

use crate::client::{Client, ClientError};
use crate::dice::dice;
use crate::hot_row::use_database;

/// The table's name, apart from sysbench's own.
pub const TABLE: &str = "lab_sbtest";

const CREATE: &str = "CREATE TABLE lab_sbtest (
  id int NOT NULL AUTO_INCREMENT,
  k int NOT NULL DEFAULT 0,
  c char(120) NOT NULL DEFAULT '',
  pad char(60) NOT NULL DEFAULT '',
  PRIMARY KEY (id),
  KEY k_1 (k)
) ENGINE=InnoDB";
const BATCH: u64 = 1000;

/// Makes the table with rows 1 to `rows`, unless it is there with as many.
///
/// # Errors
/// Any [`ClientError`].
pub fn prepare(client: &mut Client, rows: u64, label: &str) -> Result<(), ClientError> {
    use_database(client)?;
    // A server without the table answers with an error: then it is made.
    if client.number(&format!("SELECT COUNT(*) FROM {TABLE}")).is_ok_and(|there| there == rows as i64) {
        return Ok(());
    }
    client.query(&format!("DROP TABLE IF EXISTS {TABLE}"))?;
    client.query(CREATE)?;
    let mut text = String::new();
    for from in (1..=rows).step_by(BATCH as usize) {
        if from % 200_000 == 1 {
            eprintln!("{label}: loading, {from} of {rows} rows");
        }
        text.clear();
        text.push_str("INSERT INTO lab_sbtest (id, k, c, pad) VALUES ");
        for id in from..(from + BATCH).min(rows + 1) {
            let k = dice(0, id, 1) % rows + 1;
            text.push_str(if id == from { "(" } else { ",(" });
            text.push_str(&format!("{id},{k},'{}','{}')", digits(id, 10), digits(id + 1, 5)));
        }
        client.query(&text)?;
    }
    Ok(())
}

/// Groups of eleven digits, as sysbench fills its texts.
fn digits(seed: u64, groups: u64) -> String {
    let groups: Vec<String> =
        (0..groups).map(|group| format!("{:011}", dice(1, seed, group) % 100_000_000_000)).collect();
    groups.join("-")
}
