//! Every switch of the contention mechanisms, flipped a thousand times at random under full load: nothing
//! hangs, nothing is lost, no reader sees half a transfer. The switches are whatever SHOW GLOBAL VARIABLES
//! lists and SET GLOBAL accepts, so a new one is in the test from its first day.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use turnstile_lab::client::{Client, ClientError, Target};
use turnstile_sys::rng::Rng;

use super::{Scratch, connect, start};

const FLIPS: usize = 1000;
const SESSIONS: u64 = 64;
/// What the load does between two flips at least.
const STATEMENTS_PER_FLIP: u64 = 24;
const ACCOUNTS: i64 = 12;
const BALANCE: i64 = 1000;
const STOCK: i64 = 1_000_000_000;
/// Longest time the load may stand still behind one flip.
const STILL_MAX: Duration = Duration::from_secs(60);

/// What the load has been told it did.
#[derive(Default)]
struct Told {
    stop: AtomicBool,
    done: AtomicU64,
    sold: AtomicI64,
    orders: AtomicI64,
    deadlocks: AtomicU64,
    timeouts: AtomicU64,
}

impl Told {
    /// True if the statement was done; false if it lost a deadlock or its patience. Anything else is a
    /// failure.
    fn accept<T>(&self, result: Result<T, ClientError>, statement: &str) -> bool {
        match result {
            Ok(_) => true,
            Err(ClientError::Server { code: 1213, .. }) => {
                self.deadlocks.fetch_add(1, Ordering::Relaxed);
                false
            }
            Err(ClientError::Server { code: 1205, .. }) => {
                self.timeouts.fetch_add(1, Ordering::Relaxed);
                false
            }
            Err(error) => panic!("{statement}: {error}"),
        }
    }
}

fn buy(client: &mut Client, told: &Told) {
    let text = "UPDATE stock SET left_over = left_over - 1 WHERE id = 1 AND left_over > 0";
    if told.accept(client.query(text), text) {
        told.sold.fetch_add(1, Ordering::Relaxed);
    }
}

/// Two rows in any order: deadlocks are meant to happen. After a failed statement everything is rolled back.
fn transfer(client: &mut Client, told: &Told, rng: &mut Rng) {
    let (from, to) = (rng.below(ACCOUNTS as u64), rng.below(ACCOUNTS as u64));
    let amount = 1 + rng.below(9);
    let texts = [
        "BEGIN".to_owned(),
        format!("UPDATE account SET balance = balance - {amount} WHERE id = {from}"),
        format!("UPDATE account SET balance = balance + {amount} WHERE id = {to}"),
        "COMMIT".to_owned(),
    ];
    if !texts.iter().all(|text| told.accept(client.query(text), text)) {
        client.query("ROLLBACK").unwrap();
    }
}

fn order(client: &mut Client, told: &Told, rng: &mut Rng, session: u64) {
    if rng.chance(0.6) {
        let text =
            format!("INSERT INTO orders (buyer, note) VALUES ({session}, REPEAT('x', {}))", rng.below(300));
        if told.accept(client.query(&text), &text) {
            told.orders.fetch_add(1, Ordering::Relaxed);
        }
        return;
    }
    let text = format!("DELETE FROM orders WHERE buyer = {session} LIMIT 1");
    match client.query(&text) {
        Ok(answer) => drop(told.orders.fetch_sub(answer.affected as i64, Ordering::Relaxed)),
        Err(error) => drop(told.accept::<()>(Err(error), &text)),
    }
}

fn look(client: &mut Client, rng: &mut Rng) {
    if rng.chance(0.3) {
        let row = &client.query("SELECT COUNT(*), SUM(balance) FROM account").unwrap().rows[0];
        let wanted = [ACCOUNTS.to_string(), (ACCOUNTS * BALANCE).to_string()];
        assert_eq!(row.iter().flatten().cloned().collect::<Vec<_>>(), wanted, "a reader saw half a transfer");
    } else {
        let id = rng.below(ACCOUNTS as u64);
        let text = format!("SELECT id FROM account WHERE id = {id}");
        assert_eq!(client.number(&text).unwrap(), id as i64);
    }
}

fn load(target: &Target, told: &Told, session: u64, seed: u64) {
    let mut client = connect(target);
    let mut rng = Rng::new(seed + session);
    client.query("USE shop").unwrap();
    client.query("SET innodb_lock_wait_timeout = 1").unwrap();
    while !told.stop.load(Ordering::Relaxed) {
        match session % 4 {
            0 => buy(&mut client, told),
            1 => transfer(&mut client, told, &mut rng),
            2 => order(&mut client, told, &mut rng, session),
            _ => look(&mut client, &mut rng),
        }
        told.done.fetch_add(1, Ordering::Relaxed);
    }
}

/// A switch and the values it is flipped between.
struct Switch {
    name: String,
    values: Vec<String>,
}

/// The global variables of the engine and of the thread pool that can be SET, as the server itself tells.
fn switches(client: &mut Client) -> Vec<Switch> {
    let mut found = Vec::new();
    for pattern in ["innodb%", "thread%"] {
        let answer = client.query(&format!("SHOW GLOBAL VARIABLES LIKE '{pattern}'")).unwrap();
        for row in answer.rows {
            let (name, value) = (row[0].clone().unwrap(), row[1].clone().unwrap_or_default());
            let number = value.parse::<u64>().ok();
            let values: Vec<String> = match (value.as_str(), number) {
                ("ON" | "OFF", _) => vec!["ON".into(), "OFF".into()],
                // A delay of hours is what one asks for then; it is not a fault of the switch.
                (_, Some(number)) if name.contains("delay") => ["0", "1", "100", "2000"]
                    .into_iter()
                    .map(String::from)
                    .chain([number.min(2000).to_string()])
                    .collect(),
                (_, Some(number)) => {
                    let around = [0, 1, 2, 3, 8, 100, 5000, number, number / 2, number.saturating_mul(2)];
                    around.iter().map(u64::to_string).collect()
                }
                _ => vec![format!("'{value}'")],
            };
            let same = if number.is_some() { value } else { format!("'{value}'") };
            match client.query(&format!("SET GLOBAL {name} = {same}")) {
                Ok(_) => found.push(Switch { name, values }),
                Err(ClientError::Server { code: 1238, .. }) => {} // fixed at the start
                Err(error) => panic!("{name} refuses its own value {same}: {error}"),
            }
        }
    }
    found
}

fn set_up(client: &mut Client) {
    for text in [
        "CREATE DATABASE shop",
        "USE shop",
        "CREATE TABLE stock (id INT PRIMARY KEY, left_over INT NOT NULL)",
        "CREATE TABLE account (id INT PRIMARY KEY, balance INT NOT NULL, KEY by_balance (balance))",
        "CREATE TABLE orders (id BIGINT AUTO_INCREMENT PRIMARY KEY, buyer INT NOT NULL, note VARCHAR(300), KEY by_buyer (buyer))",
    ] {
        client.query(text).unwrap();
    }
    client.query(&format!("INSERT INTO stock VALUES (1, {STOCK})")).unwrap();
    let rows: Vec<String> = (0..ACCOUNTS).map(|id| format!("({id}, {BALANCE})")).collect();
    client.query(&format!("INSERT INTO account VALUES {}", rows.join(", "))).unwrap();
}

/// Waits until the load has done a little more; a load that stands still is a hang.
fn expect_progress(told: &Told, after: &str) {
    let (seen, begin) = (told.done.load(Ordering::Relaxed), Instant::now());
    while told.done.load(Ordering::Relaxed) < seen + STATEMENTS_PER_FLIP {
        assert!(begin.elapsed() < STILL_MAX, "the load stands still after {after}");
        thread::yield_now();
    }
}

fn check(client: &mut Client, told: &Told) {
    let mut number = |text: &str| client.number(text).unwrap();
    assert_eq!(number("SELECT left_over FROM stock"), STOCK - told.sold.load(Ordering::Relaxed));
    assert_eq!(number("SELECT SUM(balance) FROM account"), ACCOUNTS * BALANCE);
    assert_eq!(number("SELECT SUM(balance) FROM account WHERE balance > -1000000000"), ACCOUNTS * BALANCE);
    let orders = told.orders.load(Ordering::Relaxed);
    assert_eq!(number("SELECT COUNT(*) FROM orders"), orders);
    assert_eq!(number("SELECT COUNT(*) FROM orders WHERE buyer >= 0"), orders, "index and table disagree");
    let by_one =
        (0..SESSIONS).map(|buyer| number(&format!("SELECT COUNT(*) FROM orders WHERE buyer = {buyer}")));
    assert_eq!(by_one.sum::<i64>(), orders, "index and table disagree");
}

#[test]
fn a_thousand_flips_under_load_lose_nothing() {
    let seed = std::env::var("FLIP_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(20_260_301);
    println!("FLIP_SEED={seed}");
    let scratch = Scratch::new("flip-switches");
    let (server, target) = start(
        &scratch,
        &["--innodb-buffer-pool-size=8M", "--innodb-redo-log-capacity=16M", "--thread-pool-size=3"],
    );
    let mut client = connect(&target);
    set_up(&mut client);
    let switches = switches(&mut client);
    for name in ["innodb_deadlock_detect", "innodb_lock_wait_timeout", "innodb_flush_log_at_trx_commit"] {
        assert!(switches.iter().any(|switch| switch.name == name), "{name} cannot be flipped");
    }
    let told = Arc::new(Told::default());
    let sessions: Vec<_> = (0..SESSIONS)
        .map(|session| {
            let (told, target) = (told.clone(), target.clone());
            thread::spawn(move || load(&target, &told, session, seed))
        })
        .collect();
    expect_progress(&told, "the start");
    let mut rng = Rng::new(seed);
    let mut refused = 0;
    for nth in 0..FLIPS {
        let switch = &switches[rng.below(switches.len() as u64) as usize];
        let value = &switch.values[rng.below(switch.values.len() as u64) as usize];
        let text = format!("SET GLOBAL {} = {value}", switch.name);
        match client.query(&text) {
            Ok(_) => {}
            Err(ClientError::Server { code: 1231, .. }) => refused += 1,
            Err(error) => panic!("flip {nth}: {text}: {error}"),
        }
        expect_progress(&told, &text);
        let dead = sessions.iter().filter(|session| session.is_finished()).count();
        assert_eq!(dead, 0, "seed {seed}, flip {nth}: {text}");
    }
    assert!(refused < FLIPS / 4, "{refused} of {FLIPS} flips were refused");
    told.stop.store(true, Ordering::Relaxed);
    sessions.into_iter().for_each(|session| session.join().unwrap());
    check(&mut client, &told);
    println!(
        "{} switches, {} statements, {} deadlocks, {} timeouts, {refused} flips refused",
        switches.len(),
        told.done.load(Ordering::Relaxed),
        told.deadlocks.load(Ordering::Relaxed),
        told.timeouts.load(Ordering::Relaxed)
    );
    drop(client);
    server.terminate().unwrap();
    // What is on disk is what was told.
    let (server, target) =
        start(&scratch, &["--innodb-buffer-pool-size=8M", "--innodb-redo-log-capacity=16M"]);
    let mut client = connect(&target);
    client.query("USE shop").unwrap();
    check(&mut client, &told);
    server.terminate().unwrap();
}
