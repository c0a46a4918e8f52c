//! The hot row has a name: what a second connection sees while many buy one thing. With transactions they
//! wait for the row; with statements that commit themselves they wait for their worker, and no lock tells.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use turnstile_lab::client::{Client, Target};
use turnstile_lab::clients::{self, Live, Load, Outcome, Script};

use super::{Scratch, connect, start};

/// Long enough for a busy machine.
const SOON: Duration = Duration::from_secs(60);

const FIRST: &str = "SELECT CONCAT_WS(' ', hot_table, hot_index, hot_key) FROM sys.hot_rows LIMIT 1";
const STOCK: &str = "`shop`.`stock` PRIMARY 3, 8";

fn shop(client: &mut Client) {
    client.query("CREATE DATABASE shop").unwrap();
    client
        .query("CREATE TABLE shop.stock (store INT, id INT, left_over INT NOT NULL, PRIMARY KEY (store, id))")
        .unwrap();
    client.query("INSERT INTO shop.stock VALUES (1, 1, 5), (3, 8, 1000000), (3, 9, 5)").unwrap();
}

fn buyers(target: &Target, connections: usize, script: Script) -> Load {
    Load {
        target: target.clone(),
        set_up: vec!["USE shop".into()],
        prepared: Vec::new(),
        script,
        connections,
        threads: 1,
        duration: SOON * 2,
        until_sold_out: false,
        rate: None,
        rtt: Duration::ZERO,
        begins_again: false,
    }
}

fn status(client: &mut Client, name: &str) -> i64 {
    let text =
        format!("SELECT variable_value FROM performance_schema.global_status WHERE variable_name = '{name}'");
    client.number(&text).unwrap()
}

fn text(client: &mut Client, query: &str) -> Option<String> {
    client.query(query).unwrap().rows.first().and_then(|row| row[0].clone())
}

/// Runs the load while `look` looks, until it has seen what it wants or it is late.
fn watched(load: &Load, mut look: impl FnMut() -> bool) -> Outcome {
    let live = Arc::new(Live::default());
    let run = {
        let (load, live) = (load.clone(), live.clone());
        thread::spawn(move || clients::run(&load, &live).unwrap())
    };
    let begun = Instant::now();
    while !look() {
        assert!(begun.elapsed() < SOON, "not seen");
        thread::yield_now();
    }
    live.stop.store(true, Ordering::Relaxed);
    run.join().unwrap()
}

#[test]
fn buyers_with_transactions_wait_for_a_row_that_has_a_name() {
    let scratch = Scratch::new("hot-rows-transactions");
    let (server, target) = start(&scratch, &[]);
    let mut client = connect(&target);
    shop(&mut client);
    let load = buyers(
        &target,
        300,
        Arc::new(|_, _, texts| {
            texts.push("BEGIN".into());
            texts.push("UPDATE stock SET left_over = left_over - 1 WHERE store = 3 AND id = 8".into());
            texts.push("COMMIT".into());
        }),
    );
    let before = status(&mut client, "Innodb_row_lock_waits");
    let wanted = [
        "SELECT COUNT(*) FROM sys.hot_rows WHERE hot_key = '3, 8' AND waiting > 100 AND queue_p99 > 100".into(),
        "SELECT COUNT(*) FROM sys.hot_rows WHERE wait_p50 IS NOT NULL AND holder_pid > 0 \
         AND sql_kill_holder_connection = CONCAT('KILL ', holder_pid)"
            .into(),
        "SELECT COUNT(*) FROM sys.hot_rows WHERE holder_query LIKE 'COMMIT' OR holder_trx_age IS NOT NULL".into(),
        "SELECT COUNT(*) FROM information_schema.turnstile_hot_rows WHERE table_schema = 'shop' \
         AND table_name = 'stock' AND lock_data = '3, 8' AND changes_per_second > 20 \
         AND waits_per_second > 10 AND wait_ms_p50 <= wait_ms_p99"
            .into(),
        "SELECT COUNT(*) FROM sys.innodb_lock_waits WHERE locked_table_name = 'stock'".into(),
        "SELECT COUNT(*) FROM performance_schema.data_lock_waits".into(),
        "SELECT COUNT(*) FROM performance_schema.data_locks WHERE lock_status = 'WAITING' AND lock_data = '3, 8'"
            .into(),
        "SELECT COUNT(*) FROM information_schema.processlist WHERE state = 'Waiting for row lock'".into(),
        "SELECT variable_value FROM performance_schema.global_status \
         WHERE variable_name = 'Innodb_row_lock_current_waits'"
            .into(),
    ];
    let mut left: Vec<String> = wanted.into();
    let line = "row 3, 8 of index PRIMARY of table `shop`.`stock`: ";
    let mut reported = false;
    let outcome = watched(&load, || {
        let report = client.query("SHOW ENGINE INNODB STATUS").unwrap().rows[0][2].clone().unwrap();
        let section = report.split_once("\nHOT ROWS\n--------\n").unwrap().1;
        let first = section.lines().nth(2).unwrap();
        let parts = ["changes/s", "waits/s", "waiting ", "waited p50 ", "held by TRX "];
        reported |= first.starts_with(line) && parts.iter().all(|part| first.contains(part));
        left.retain(|query| client.number(query).unwrap() == 0);
        text(&mut client, FIRST).as_deref() == Some(STOCK) && left.is_empty() && reported
    });
    assert_eq!((outcome.errors, outcome.broken), (0, 0), "{:?}", outcome.first_error);
    let waits = (status(&mut client, "Innodb_row_lock_waits") - before) as u64;
    let sales = outcome.transactions;
    assert!(waits <= sales + 300 && waits * 10 >= sales * 8, "{waits} waits, {sales} sales");
    assert!(status(&mut client, "Innodb_row_lock_time") > 0);
    assert_eq!(status(&mut client, "Innodb_row_lock_current_waits"), 0);
    // Whose table is gone is not shown.
    client.query("DROP TABLE shop.stock").unwrap();
    assert_eq!(text(&mut client, FIRST), None);
    server.terminate().unwrap();
}

#[test]
fn buyers_who_commit_by_themselves_wait_for_the_worker_and_the_row_has_a_name() {
    let scratch = Scratch::new("hot-rows-statements");
    let (server, target) = start(&scratch, &["--thread-pool-size=1"]);
    let mut client = connect(&target);
    shop(&mut client);
    let load = buyers(
        &target,
        300,
        Arc::new(|_, _, texts| {
            texts.push("UPDATE stock SET left_over = left_over - 1 WHERE store = 3 AND id = 8".into());
        }),
    );
    let outcome = watched(&load, || text(&mut client, FIRST).as_deref() == Some(STOCK));
    assert_eq!((outcome.errors, outcome.broken), (0, 0), "{:?}", outcome.first_error);
    // What the lock room's README says of waits: whoever changes that rewrites it.
    let waits = status(&mut client, "Innodb_row_lock_waits") as u64;
    assert!(waits * 10 <= outcome.transactions, "{waits} waits, {} sales", outcome.transactions);
    server.terminate().unwrap();
}
