//! Clients that do not wait: an order's statements in one write, as packets one behind the other or as one
//! text of several statements, run in one turn of a worker, so that no row is locked while a client is asked
//! for anything.

use std::thread;

use turnstile_lab::client::{Client, ClientError};

use super::{Scratch, connect, start};

const STOCK: i64 = 1_000_000;
const ORDERS: i64 = 40;

const ORDER: [&str; 4] = [
    "BEGIN",
    "INSERT INTO shop.orders (buyer) VALUES (7)",
    "UPDATE shop.stock SET left_over = left_over - 1 WHERE id = 1 AND left_over > 0",
    "COMMIT",
];

fn shop(client: &mut Client) {
    client.query("CREATE DATABASE shop").unwrap();
    client.query("CREATE TABLE shop.stock (id INT PRIMARY KEY, left_over INT NOT NULL)").unwrap();
    client.query(&format!("INSERT INTO shop.stock VALUES (1, {STOCK})")).unwrap();
    client
        .query("CREATE TABLE shop.orders (id BIGINT AUTO_INCREMENT PRIMARY KEY, buyer INT NOT NULL)")
        .unwrap();
}

/// Sends all in one write, and gives the answers.
fn at_once(client: &mut Client, texts: &[&str]) -> Vec<Result<(), ClientError>> {
    client.send_at_once(texts).unwrap();
    texts.iter().map(|_| client.receive().map(drop)).collect()
}

/// How often the pool has polled sessions and ended turns.
fn polls(client: &mut Client) -> i64 {
    client.number("SELECT SUM(dequeues_by_worker) FROM information_schema.thread_pool_stats").unwrap()
}

#[test]
fn an_order_in_one_write_is_one_turn() {
    let scratch = Scratch::new("pipelined-turns");
    let (server, target) = start(&scratch, &["--thread-pool-size=1"]);
    let mut watcher = connect(&target);
    shop(&mut watcher);
    let mut buyer = connect(&target);
    let begun = polls(&mut watcher);
    for _ in 0..ORDERS {
        for text in ORDER {
            buyer.query(text).unwrap();
        }
    }
    let between = polls(&mut watcher);
    for _ in 0..ORDERS {
        assert!(at_once(&mut buyer, &ORDER).iter().all(Result::is_ok));
    }
    let ended = polls(&mut watcher);
    let (waiting, pipelined) = (between - begun, ended - between);
    // Each turn is a poll of the session and one of the log; the commit's answer is a poll more.
    assert!(pipelined * 2 < waiting, "{pipelined} polls, and {waiting} of a client that waits");
    assert_eq!(watcher.number("SELECT COUNT(*) FROM shop.orders").unwrap(), 2 * ORDERS);
    server.terminate().unwrap();
}

#[test]
fn every_packet_has_its_own_answer() {
    let scratch = Scratch::new("pipelined-answers");
    let (server, target) = start(&scratch, &[]);
    let mut watcher = connect(&target);
    shop(&mut watcher);
    let mut buyer = connect(&target);
    // A statement that fails ends nothing: what comes behind it runs, as the client has asked.
    let texts = [ORDER[0], ORDER[1], "INSERT INTO shop.stock VALUES (1, 0)", ORDER[3], "SELECT 1"];
    let answers = at_once(&mut buyer, &texts);
    let failed: Vec<_> = answers.iter().map(Result::is_err).collect();
    assert_eq!(failed, [false, false, true, false, false]);
    assert_eq!(watcher.number("SELECT COUNT(*) FROM shop.orders").unwrap(), 1);
    // With ROLLBACK_ON_FAIL the COMMIT behind it finds nothing.
    let update =
        "UPDATE /*+ ROLLBACK_ON_FAIL TARGET_AFFECT_ROW(1) */ shop.stock SET left_over = 0 WHERE id = 9";
    let answers = at_once(&mut buyer, &[ORDER[0], ORDER[1], update, ORDER[3]]);
    assert_eq!(answers[2].as_ref().unwrap_err().code(), Some(7532));
    assert!(answers[3].is_ok());
    assert_eq!(watcher.number("SELECT COUNT(*) FROM shop.orders").unwrap(), 1);
    server.terminate().unwrap();
}

#[test]
fn many_who_pipeline_hold_nobody_up() {
    for hot in ["--turnstile-hot-row=OFF", "--turnstile-hot-row=ON"] {
        let scratch = Scratch::new(&format!("pipelined-many{hot}"));
        let (server, target) = start(&scratch, &[hot]);
        let mut watcher = connect(&target);
        shop(&mut watcher);
        let buyers: Vec<_> = (0..16)
            .map(|_| {
                let target = target.clone();
                thread::spawn(move || {
                    let mut buyer = connect(&target);
                    for _ in 0..ORDERS {
                        let answers = at_once(&mut buyer, &ORDER);
                        assert!(answers.iter().all(Result::is_ok), "{answers:?}");
                    }
                })
            })
            .collect();
        buyers.into_iter().for_each(|buyer| buyer.join().unwrap());
        let sold = STOCK - watcher.number("SELECT left_over FROM shop.stock").unwrap();
        assert_eq!(sold, 16 * ORDERS);
        assert_eq!(watcher.number("SELECT COUNT(*) FROM shop.orders").unwrap(), 16 * ORDERS);
        server.terminate().unwrap();
    }
}
