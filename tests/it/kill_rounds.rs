//! SIGKILL under load, again and again on one data directory: after each restart every acknowledged
//! transaction is there, whole, and at most the ones under way besides.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use turnstile_lab::clients::{self, Live, Load};
use turnstile_sys::rng::Rng;

use super::{Scratch, connect, start};

const ROUNDS: u64 = 20;
const CONNECTIONS: usize = 48;
const STOCK: i64 = 2_000_000_000;

#[test]
fn nothing_acknowledged_is_lost_in_twenty_kills() {
    let seed = std::env::var("KILL_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(20_260_101);
    println!("KILL_SEED={seed}");
    let mut rng = Rng::new(seed);
    let scratch = Scratch::new("kill-rounds");
    let mut acknowledged = 0;
    let mut uncertain = 0;
    for round in 0..=ROUNDS {
        // A small pool and a small log: pages are evicted and the log wraps while the kill strikes.
        // From one worker to four: they hand rows and log waiters to each other.
        let workers = format!("--thread-pool-size={}", 1 + round % 4);
        // And the stock's row handed on before commit.
        let hot_row = format!("--turnstile-hot-row={}", if round % 3 == 0 { "OFF" } else { "ON" });
        let options = ["--innodb-buffer-pool-size=8M", "--innodb-redo-log-capacity=16M", &workers, &hot_row];
        let (server, target) = start(&scratch, &options);
        let mut client = connect(&target);
        if round == 0 {
            client.query("CREATE DATABASE shop").unwrap();
            client.query("CREATE TABLE shop.stock (id INT PRIMARY KEY, left_over INT NOT NULL)").unwrap();
            client.query(
                "CREATE TABLE shop.orders (id BIGINT AUTO_INCREMENT PRIMARY KEY, buyer INT NOT NULL, note VARCHAR(200), KEY by_buyer (buyer))",
            ).unwrap();
            client.query(&format!("INSERT INTO shop.stock VALUES (1, {STOCK})")).unwrap();
        }
        let sold = STOCK - client.number("SELECT left_over FROM shop.stock WHERE id = 1").unwrap();
        let orders = client.number("SELECT COUNT(*) FROM shop.orders").unwrap();
        let by_index = client.number("SELECT COUNT(*) FROM shop.orders WHERE buyer >= 0").unwrap();
        assert_eq!(sold, orders, "round {round}, seed {seed}: a transaction is half there");
        assert_eq!(orders, by_index, "round {round}, seed {seed}: the index disagrees with the table");
        assert!(
            orders >= acknowledged,
            "round {round}, seed {seed}: {orders} orders, {acknowledged} acknowledged"
        );
        assert!(
            orders <= acknowledged + uncertain,
            "round {round}, seed {seed}: {orders} orders, {acknowledged} acknowledged"
        );
        if round == ROUNDS {
            assert!(orders > ROUNDS as i64 * 10, "only {orders} orders: the load did nothing");
            server.terminate().unwrap();
            return;
        }
        acknowledged = orders;
        let live = Arc::new(Live::default());
        let load = Load {
            target: target.clone(),
            set_up: vec!["USE shop".into()],
            prepared: Vec::new(),
            script: Arc::new(|buyer, turn, texts| {
                texts.push("BEGIN".into());
                texts.push(format!(
                    "INSERT INTO orders (buyer, note) VALUES ({buyer}, REPEAT('{}', {}))",
                    turn % 10,
                    turn % 200
                ));
                texts.push("UPDATE stock SET left_over = left_over - 1 WHERE id = 1".into());
                texts.push("COMMIT".into());
            }),
            connections: CONNECTIONS,
            threads: 1,
            duration: Duration::from_secs(60),
            until_sold_out: false,
            rate: None,
            rtt: Duration::ZERO,
            begins_again: false,
        };
        let shared = live.clone();
        let running = thread::spawn(move || clients::run(&load, &shared).map_err(|error| error.to_string()));
        while !live.started.load(Ordering::SeqCst) {
            assert!(!running.is_finished(), "the load ended before it began");
            thread::yield_now();
        }
        // The moment of the kill is the point of the test, not a wait for something.
        thread::sleep(Duration::from_millis(50 + rng.below(300)));
        server.kill().unwrap();
        let outcome = running.join().unwrap().unwrap();
        assert_eq!(outcome.errors, 0, "round {round}, seed {seed}: {:?}", outcome.first_error);
        acknowledged += outcome.transactions as i64;
        uncertain = CONNECTIONS as i64;
    }
}
