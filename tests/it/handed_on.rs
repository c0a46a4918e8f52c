//! Hot rows handed on before commit, over the wire: what the scenarios (`tests/scripts/lock/hand_on.play`)
//! cannot show because nobody's client is there: a session that is rolled back while its client says nothing,
//! clients that vanish, and a thousand orders with rollbacks among them.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use turnstile_lab::client::{Client, Target};
use turnstile_lab::clients::{self, Live, Load};

use super::{Scratch, connect, start};

const STOCK: i64 = 1_000_000;
/// Long enough for a busy machine, and far below the patience of a minute.
const SOON: Duration = Duration::from_secs(20);

fn shop(scratch: &Scratch) -> (turnstile_lab::process::ServerProcess, Target) {
    let (server, target) =
        start(scratch, &["--turnstile-hot-row=ON", "--turnstile-hot-row-patience-ms=60000"]);
    let mut client = connect(&target);
    client.query("CREATE DATABASE shop").unwrap();
    client.query("CREATE TABLE shop.stock (id INT PRIMARY KEY, left_over INT NOT NULL)").unwrap();
    client.query(&format!("INSERT INTO shop.stock VALUES (1, {STOCK})")).unwrap();
    client
        .query("CREATE TABLE shop.orders (id BIGINT AUTO_INCREMENT PRIMARY KEY, buyer INT NOT NULL)")
        .unwrap();
    (server, target)
}

/// A client that has bought one and not committed.
fn buyer(target: &Target) -> Client {
    let mut client = connect(target);
    client.query("BEGIN").unwrap();
    client.query("UPDATE shop.stock SET left_over = left_over - 1 WHERE id = 1").unwrap();
    client
}

fn code(outcome: Result<impl Sized, impl std::fmt::Display>) -> String {
    outcome.map_or_else(|error| error.to_string(), |_| "no error".to_owned())
}

#[test]
fn who_is_silent_is_rolled_back_with_those_before_it() {
    let scratch = Scratch::new("handed-on-silent");
    let (server, target) = shop(&scratch);
    let mut one = buyer(&target);
    let mut two = buyer(&target);
    let begun = Instant::now();
    // It waits for the rollback of the other, whose client says nothing.
    one.query("ROLLBACK").unwrap();
    assert!(begun.elapsed() < SOON);
    let told = code(two.query("SELECT 1"));
    assert!(told.contains("1213"), "{told}");
    assert_eq!(two.number("SELECT left_over FROM shop.stock WHERE id = 1").unwrap(), STOCK);
    server.terminate().unwrap();
}

#[test]
fn a_client_that_vanishes_takes_along_who_waits_to_commit() {
    let scratch = Scratch::new("handed-on-vanish");
    let (server, target) = shop(&scratch);
    let one = buyer(&target);
    let mut two = buyer(&target);
    let waiting = thread::spawn(move || code(two.query("COMMIT")));
    let mut watcher = connect(&target);
    let begun = Instant::now();
    let follows = "SELECT COUNT(*) FROM information_schema.processlist \
                   WHERE state = 'Waiting for a predecessor''s commit'";
    while watcher.number(follows).unwrap() == 0 {
        assert!(begun.elapsed() < SOON, "nobody waits to commit");
        thread::yield_now();
    }
    drop(one);
    let told = waiting.join().unwrap();
    assert!(told.contains("1213"), "{told}");
    assert_eq!(watcher.number("SELECT left_over FROM shop.stock WHERE id = 1").unwrap(), STOCK);
    server.terminate().unwrap();
}

#[test]
fn orders_are_what_was_sold_with_rollbacks_among_them() {
    let scratch = Scratch::new("handed-on-orders");
    let (server, target) = shop(&scratch);
    let load = Load {
        target: target.clone(),
        set_up: vec!["USE shop".into()],
        prepared: Vec::new(),
        script: Arc::new(|buyer, turn, texts| {
            texts.push("BEGIN".into());
            texts.push(format!("INSERT INTO orders (buyer) VALUES ({buyer})"));
            texts.push("UPDATE stock SET left_over = left_over - 1 WHERE id = 1 AND left_over > 0".into());
            texts.push(if (buyer as u64 + turn).is_multiple_of(7) {
                "ROLLBACK".into()
            } else {
                "COMMIT".into()
            });
        }),
        connections: 40,
        threads: 1,
        duration: Duration::from_secs(2),
        until_sold_out: false,
        rate: None,
        rtt: Duration::ZERO,
        begins_again: false,
    };
    // Who is rolled back with others is told 1213, which the load counts as an error.
    clients::run(&load, &Arc::new(Live::default())).unwrap();
    let mut client = connect(&target);
    let sold = STOCK - client.number("SELECT left_over FROM shop.stock WHERE id = 1").unwrap();
    assert_eq!(sold, client.number("SELECT COUNT(*) FROM shop.orders").unwrap());
    assert!(sold > 40, "{sold} orders: the load did nothing");
    let count = |name: &str, client: &mut Client| {
        let text = format!(
            "SELECT variable_value FROM performance_schema.global_status WHERE variable_name = '{name}'"
        );
        client.number(&text).unwrap()
    };
    assert!(count("Turnstile_hot_row_handed_on", &mut client) > 40);
    assert!(count("Turnstile_hot_row_told_to_roll_back", &mut client) > 0);
    assert_eq!(count("Turnstile_hot_row_following", &mut client), 0);
    server.terminate().unwrap();
}
