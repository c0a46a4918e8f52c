//! Histories over the wire, checked: transactions on a few hot rows that are handed on before commit, with
//! savepoints, rollbacks, clients that vanish and kill -9 in between. Each row has a counter, the transaction
//! that wrote it last and the one before, and each transaction logs what it has written; so the order of all
//! versions of a row is known, and what must hold can be computed:
//!
//! - no lost update: the versions of a row are 1, 2, 3 ..., each written once, each upon the one before;
//! - no dirty write or read: every predecessor has committed; who rolled back, or vanished, left nothing;
//! - no intermediate read, and what is read together belongs together;
//! - no cycle of writes: transactions have one order in which all rows were written;
//! - what was acknowledged is there after kill -9.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use turnstile_lab::client::{Client, ClientError, Target};
use turnstile_sys::rng::Rng;

use super::{Scratch, connect, start};

const ROWS: u64 = 6;
const WRITERS: u64 = 24;
const READERS: u64 = 2;
const LIVES: u64 = 4;
const LIFE: Duration = Duration::from_millis(1500);

/// A version that a transaction has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Write {
    row: u64,
    n: u64,
    before: u64,
}

/// How a transaction ended, as its client knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Committed,
    Gone,
    /// The server was killed, or ended, before it answered COMMIT.
    Unknown,
}

/// What the clients know.
#[derive(Default)]
struct Told {
    ends: Mutex<HashMap<u64, (End, Vec<Write>)>>,
    /// What was read in one statement: version and writer of each row.
    seen: Mutex<HashSet<Vec<(u64, u64)>>>,
    next: AtomicU64,
    stop: AtomicBool,
}

fn numbers(client: &mut Client, text: &str) -> Result<Vec<Vec<u64>>, ClientError> {
    let number = |value: Option<String>| value.and_then(|text| text.parse().ok()).unwrap_or(u64::MAX);
    let rows = client.query(text)?.rows;
    Ok(rows.into_iter().map(|row| row.into_iter().map(number).collect()).collect())
}

/// One update, and what it made.
fn write(client: &mut Client, id: u64, row: u64, looks: bool) -> Result<Write, ClientError> {
    let mut locked = None;
    if looks {
        locked = numbers(client, &format!("SELECT n, last FROM h.cells WHERE id = {row} FOR UPDATE"))?.pop();
    }
    client.query(&format!("UPDATE h.cells SET prev = last, last = {id}, n = n + 1 WHERE id = {row}"))?;
    let made = numbers(client, &format!("SELECT n, prev FROM h.cells WHERE id = {row}"))?;
    let [n, before] = made[0][..] else { return Err(ClientError::Protocol("two columns")) };
    if let Some(locked) = locked {
        assert_eq!([n - 1, before], locked[..], "transaction {id}: row {row} changed under its lock");
    }
    Ok(Write { row, n, before })
}

/// The statements of one transaction up to its COMMIT; false: it rolled back or is to vanish.
fn work(client: &mut Client, id: u64, rng: &mut Rng, made: &mut Vec<Write>) -> Result<bool, ClientError> {
    let level = if rng.chance(0.5) { "READ COMMITTED" } else { "REPEATABLE READ" };
    client.query(&format!("SET TRANSACTION ISOLATION LEVEL {level}"))?;
    client.query("BEGIN")?;
    if rng.chance(0.5) {
        client.query(&format!("INSERT INTO h.ends VALUES ({id})"))?;
    }
    for _ in 0..1 + rng.below(3) {
        // The first row is the hot one.
        let row = if rng.chance(0.6) { 1 } else { 1 + rng.below(ROWS) };
        if rng.chance(0.1) {
            client.query("SAVEPOINT a")?;
            write(client, id, row, false)?;
            client.query("ROLLBACK TO SAVEPOINT a")?;
            continue;
        }
        let write = write(client, id, row, rng.chance(0.1))?;
        client.query(&format!("INSERT INTO h.log VALUES ({id}, {row}, {}, {})", write.n, write.before))?;
        made.push(write);
    }
    match rng.below(20) {
        0 => client.query("ROLLBACK").map(|_| false),
        1 => Ok(false),
        _ => Ok(true),
    }
}

/// Whether a statement was ended because the server is: it has been told to, and says 1053 or 1317.
fn is_shutdown(told: &Told, code: u16) -> bool {
    matches!(code, 1053 | 1317) && told.stop.load(Ordering::SeqCst)
}

fn writes(target: &Target, told: &Told, mut rng: Rng) {
    let mut client = connect(target);
    while !told.stop.load(Ordering::SeqCst) {
        let id = 1 + told.next.fetch_add(1, Ordering::SeqCst);
        let mut made = Vec::new();
        let mut end = End::Gone;
        let outcome = match work(&mut client, id, &mut rng, &mut made) {
            Ok(true) => {
                let committed = client.query("COMMIT");
                end = match &committed {
                    Ok(_) => End::Committed,
                    Err(ClientError::Server { code, .. }) if !is_shutdown(told, *code) => End::Gone,
                    Err(_) => End::Unknown,
                };
                committed.map(|_| true)
            }
            other => other.map(|_| false),
        };
        told.ends.lock().unwrap().insert(id, (end, made));
        let again = match outcome {
            Ok(true) => Ok(()),
            Ok(false) if rng.chance(0.5) => client.query("ROLLBACK").map(|_| ()),
            // It vanishes.
            Ok(false) => Client::connect(target).map(|other| client = other),
            Err(ClientError::Server { code: 1213 | 1205, .. }) => client.query("ROLLBACK").map(|_| ()),
            Err(ClientError::Server { code, .. }) if is_shutdown(told, code) => return,
            Err(ClientError::Server { code, message }) => panic!("error {code}: {message}"),
            Err(_) => return,
        };
        match again {
            Err(ClientError::Server { code, .. }) if is_shutdown(told, code) => return,
            Err(ClientError::Server { code, message }) if code != 1213 => panic!("error {code}: {message}"),
            Err(ClientError::Io(_) | ClientError::Protocol(_)) => return,
            _ => {}
        }
    }
}

fn reads(target: &Target, told: &Told) {
    let mut client = connect(target);
    let all = "SELECT n, last FROM h.cells ORDER BY id";
    let look = |client: &mut Client| -> Result<(), ClientError> {
        // What it sees is durable, so that a kill takes none of it back.
        client.query("SET turnstile_read_durable = ON")?;
        loop {
            client.query("START TRANSACTION WITH CONSISTENT SNAPSHOT")?;
            let one = numbers(client, all)?;
            thread::sleep(Duration::from_millis(2));
            assert_eq!(numbers(client, all)?, one, "a snapshot moves");
            client.query("COMMIT")?;
            let seen = one.iter().map(|row| (row[0], row[1])).collect();
            told.seen.lock().unwrap().insert(seen);
            if told.stop.load(Ordering::SeqCst) {
                return Ok(());
            }
        }
    };
    match look(&mut client) {
        Err(ClientError::Server { code, message }) if !is_shutdown(told, code) => {
            panic!("error {code}: {message}")
        }
        _ => {}
    }
}

/// Rows and log when all is over, against what the clients know.
fn check(client: &mut Client, told: &Told, place: &str) {
    let log = numbers(client, "SELECT txn, id, n, prev FROM h.log ORDER BY id, n").unwrap();
    let cells = numbers(client, "SELECT n, last FROM h.cells ORDER BY id").unwrap();
    let ends: HashSet<u64> =
        numbers(client, "SELECT txn FROM h.ends").unwrap().iter().map(|row| row[0]).collect();
    let mut by_row: BTreeMap<u64, Vec<(u64, u64)>> = BTreeMap::new();
    let mut by_txn: HashMap<u64, Vec<Write>> = HashMap::new();
    for entry in &log {
        let [txn, row, n, before] = entry[..] else { panic!("{place}: four columns") };
        by_row.entry(row).or_default().push((txn, before));
        by_txn.entry(txn).or_default().push(Write { row, n, before });
        assert_eq!(n as usize, by_row[&row].len(), "{place}: row {row}, version {n} by {txn}: a lost update");
    }
    for (row, versions) in &by_row {
        let writers = [0].into_iter().chain(versions.iter().map(|(txn, _)| *txn));
        for (writer, (txn, before)) in writers.zip(versions) {
            assert_eq!(writer, *before, "{place}: {txn} wrote row {row} upon a version that is not there");
        }
        let newest = versions.last().map(|(txn, _)| *txn).unwrap();
        assert_eq!(cells[*row as usize - 1], [versions.len() as u64, newest], "{place}: row {row}");
    }
    let known = told.ends.lock().unwrap();
    for (txn, (end, made)) in known.iter() {
        let found = by_txn.get(txn).map(|found| found.iter().copied().collect::<HashSet<_>>());
        let whole: HashSet<_> = made.iter().copied().collect();
        match (end, &found) {
            (End::Gone, Some(_)) => panic!("{place}: {txn} was taken back and is there"),
            (End::Committed, None) => assert!(made.is_empty(), "{place}: {txn} was acknowledged and is lost"),
            (_, Some(found)) => assert_eq!(*found, whole, "{place}: {txn} is half there"),
            (_, None) => assert!(*end == End::Unknown || !ends.contains(txn), "{place}: {txn} is half there"),
        }
    }
    check_order(&by_row, place);
    let read = told.seen.lock().unwrap();
    read.iter().for_each(|seen| check_seen(seen, &by_row, &by_txn, place));
}

/// The writes of all rows have one order.
fn check_order(by_row: &BTreeMap<u64, Vec<(u64, u64)>>, place: &str) {
    let mut after: HashMap<u64, HashSet<u64>> = HashMap::new();
    let mut before: HashMap<u64, usize> = HashMap::new();
    for versions in by_row.values() {
        for pair in versions.windows(2).filter(|pair| pair[0].0 != pair[1].0) {
            if after.entry(pair[0].0).or_default().insert(pair[1].0) {
                *before.entry(pair[1].0).or_default() += 1;
            }
        }
        versions.iter().for_each(|(txn, _)| {
            before.entry(*txn).or_default();
        });
    }
    let mut free: Vec<u64> = before.iter().filter(|(_, count)| **count == 0).map(|(txn, _)| *txn).collect();
    let mut ordered = 0;
    while let Some(txn) = free.pop() {
        ordered += 1;
        for next in after.remove(&txn).into_iter().flatten() {
            let count = before.get_mut(&next).unwrap();
            *count -= 1;
            if *count == 0 {
                free.push(next);
            }
        }
    }
    assert_eq!(ordered, before.len(), "{place}: a cycle of writes");
}

/// What was read together: last versions of transactions that committed, each of them seen whole or not.
fn check_seen(
    seen: &[(u64, u64)],
    by_row: &BTreeMap<u64, Vec<(u64, u64)>>,
    by_txn: &HashMap<u64, Vec<Write>>,
    place: &str,
) {
    for (row, (n, last)) in (1..).zip(seen) {
        if *n == 0 {
            continue;
        }
        let writer =
            by_row.get(&row).and_then(|versions| versions.get(*n as usize - 1)).map(|version| version.0);
        assert_eq!(writer, Some(*last), "{place}: {seen:?} shows a version of row {row} that is not there");
        for other in &by_txn[last] {
            let shown = seen[other.row as usize - 1].0;
            assert!(shown >= other.n, "{place}: {seen:?} shows a part of {last}: not {other:?}");
        }
    }
}

#[test]
fn histories_of_hot_rows_have_an_order() {
    let seed = std::env::var("HISTORY_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(20_261_129);
    println!("HISTORY_SEED={seed}");
    let mut rng = Rng::new(seed);
    let scratch = Scratch::new("history");
    let told = Told::default();
    for life in 0..=LIVES {
        let workers = format!("--thread-pool-size={}", 1 + life % 3);
        let options = ["--turnstile-hot-row=ON", "--innodb-buffer-pool-size=8M", &workers];
        let (server, target) = start(&scratch, &options);
        let mut client = connect(&target);
        if life == 0 {
            client.query("CREATE DATABASE h").unwrap();
            client.query("CREATE TABLE h.cells (id INT PRIMARY KEY, n BIGINT NOT NULL, last BIGINT NOT NULL, prev BIGINT NOT NULL)").unwrap();
            client.query("CREATE TABLE h.log (txn BIGINT, id INT, n BIGINT, prev BIGINT, PRIMARY KEY (txn, id, n))").unwrap();
            client.query("CREATE TABLE h.ends (txn BIGINT PRIMARY KEY)").unwrap();
            let rows: Vec<String> = (1..=ROWS).map(|row| format!("({row}, 0, 0, 0)")).collect();
            client.query(&format!("INSERT INTO h.cells VALUES {}", rows.join(", "))).unwrap();
        }
        check(&mut client, &told, &format!("life {life}, seed {seed}"));
        if life == LIVES {
            let committed =
                told.ends.lock().unwrap().values().filter(|(end, _)| *end == End::Committed).count();
            assert!(committed > 100, "only {committed} transactions: the load did nothing");
            server.terminate().unwrap();
            return;
        }
        told.stop.store(false, Ordering::SeqCst);
        thread::scope(|threads| {
            for _ in 0..WRITERS {
                let (target, told, rng) = (&target, &told, Rng::new(rng.next_u64()));
                threads.spawn(move || writes(target, told, rng));
            }
            (0..READERS).for_each(|_| drop(threads.spawn(|| reads(&target, &told))));
            let begun = Instant::now();
            while begun.elapsed() < LIFE {
                thread::sleep(Duration::from_millis(20));
            }
            let handed_on = client.value("SHOW GLOBAL STATUS LIKE 'Turnstile_hot_row_handed_on'", 1).unwrap();
            assert!(handed_on.is_some_and(|count| count != "0"), "nothing was handed on");
            // The last life ends in order, the others do not.
            told.stop.store(life + 1 == LIVES, Ordering::SeqCst);
            if life + 1 < LIVES {
                server.kill().unwrap();
            } else {
                // Some have come to their end by then, others have not.
                thread::sleep(Duration::from_millis(50));
                server.terminate().unwrap();
            }
        });
    }
}
