//! Sessions that insert, move and delete children while others delete parents, bring them back and change
//! their keys: in the end there is no orphan. Real threads, at both isolation levels that matter, with
//! parents found by the primary key and by another, with and without cascades. A version that reads parents
//! without a lock fails within seconds.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use turnstile_session::{Database, Session};
use turnstile_sys::rng::Rng;

use super::{database, run, session};

const SESSIONS: u64 = 4;
/// Short rounds with a look after each: a parent that comes back hides an orphan.
const ROUNDS: u64 = 40;
const STATEMENTS: u64 = 16;
/// Few, so that they meet.
const KEYS: u64 = 6;

fn tables(session: &mut Session, actions: &str) {
    for text in [
        "CREATE TABLE p (id INT PRIMARY KEY, code INT NOT NULL, UNIQUE KEY (code))".to_string(),
        format!(
            "CREATE TABLE c (id INT PRIMARY KEY AUTO_INCREMENT, pid INT, FOREIGN KEY (pid) REFERENCES p (id) {actions})"
        ),
        format!(
            "CREATE TABLE k (id INT PRIMARY KEY AUTO_INCREMENT, code INT, FOREIGN KEY (code) REFERENCES p (code) {actions})"
        ),
    ] {
        assert_eq!(run(session, &text), "ok\n", "{text}");
    }
}

/// One random statement.
fn statement(random: &mut Rng) -> String {
    let (key, other) = (random.below(KEYS), random.below(KEYS));
    match random.below(12) {
        0 => format!("INSERT INTO p VALUES ({key}, {})", key + 100),
        1 | 2 => format!("DELETE FROM p WHERE id = {key}"),
        3 => format!("UPDATE p SET id = {other} WHERE id = {key}"),
        4 => format!("UPDATE p SET code = {} WHERE id = {key}", other + 100),
        5 | 6 => format!("INSERT INTO c (pid) VALUES ({key}), ({other})"),
        7 => format!("INSERT INTO k (code) VALUES ({})", key + 100),
        8 => format!("UPDATE c SET pid = {other} WHERE pid = {key} LIMIT 2"),
        9 => format!("UPDATE k SET code = {} WHERE code = {}", other + 100, key + 100),
        10 => format!("DELETE FROM c WHERE pid = {key} LIMIT 3"),
        _ => format!("REPLACE INTO p VALUES ({key}, {})", other + 100),
    }
}

/// Errors that a session may meet: duplicates, locks, foreign keys.
const EXPECTED: [&str; 6] =
    ["error 1062", "error 1205", "error 1213", "error 1451", "error 1452", "error 1761"];

fn live(db: &Arc<Database>, seed: u64, level: &str, done: &[AtomicU64; 3]) {
    let mut random = Rng::new(seed);
    let mut session = session(db);
    run(&mut session, &format!("SET transaction_isolation = '{level}', innodb_lock_wait_timeout = 2"));
    let mut open = false;
    for _ in 0..STATEMENTS {
        if random.below(if open { 8 } else { 2 }) == 0 {
            let text = match (open, random.below(4)) {
                (false, _) => "BEGIN",
                (true, 0) => "ROLLBACK",
                (true, _) => "COMMIT",
            };
            open = !open;
            run(&mut session, text);
        }
        let text = statement(&mut random);
        let said = run(&mut session, &text);
        let nth = if said.starts_with("error 1451") {
            1
        } else if said.starts_with("error 1452") {
            2
        } else {
            assert!(
                said.starts_with("ok") || EXPECTED.iter().any(|error| said.starts_with(error)),
                "{text}: {said}"
            );
            0
        };
        done[nth].fetch_add(u64::from(nth > 0 || said.starts_with("ok ")), Ordering::Relaxed);
        if said.starts_with("error 1213") {
            open = false;
        }
    }
    run(&mut session, "COMMIT");
}

const ORPHANS: [&str; 2] = [
    "SELECT c.id, c.pid FROM c LEFT JOIN p ON p.id = c.pid WHERE c.pid IS NOT NULL AND p.id IS NULL",
    "SELECT k.id, k.code FROM k LEFT JOIN p ON p.code = k.code WHERE k.code IS NOT NULL AND p.code IS NULL",
];

fn storm(seed: u64, level: &str, actions: &str) {
    let db = database();
    let mut first = session(&db);
    tables(&mut first, actions);
    let done: [AtomicU64; 3] = Default::default();
    for round in 0..ROUNDS {
        std::thread::scope(|scope| {
            for nth in 0..SESSIONS {
                let (db, done) = (&db, &done);
                let seed = seed * 10_000 + round * 100 + nth;
                scope.spawn(move || live(db, seed, level, done));
            }
        });
        for orphans in ORPHANS {
            assert_eq!(
                run(&mut first, orphans),
                "",
                "orphans; seed {seed}, round {round}, {level}, {actions}"
            );
        }
    }
    for table in ["p", "c", "k"] {
        let said = run(&mut first, &format!("CHECK TABLE {table}"));
        assert!(said.contains("status | OK"), "{said} seed {seed}, {level}, {actions}");
    }
    let done = done.map(AtomicU64::into_inner);
    // A test in which nothing was changed, or nothing refused, has seen nothing.
    assert!(done[0] > 20 && done[2] > 3, "{done:?}");
    assert!(done[1] > 3 || actions.contains("CASCADE") || actions.contains("NULL"), "{done:?}");
}

#[test]
fn no_orphan_is_left_behind() {
    for (nth, actions) in ["", "ON DELETE CASCADE ON UPDATE CASCADE", "ON DELETE SET NULL ON UPDATE SET NULL"]
        .iter()
        .enumerate()
    {
        for level in ["READ-COMMITTED", "REPEATABLE-READ"] {
            storm(1 + nth as u64, level, actions);
        }
    }
}

/// The storm must be able to fail: without checks it leaves orphans.
#[test]
fn the_storm_would_notice() {
    let db = database();
    let mut one = session(&db);
    tables(&mut one, "");
    run(&mut one, "SET foreign_key_checks = 0");
    run(&mut one, "INSERT INTO c (pid) VALUES (1)");
    assert_eq!(run(&mut one, ORPHANS[0]), "1 | 1\n");
}

/// A definition with foreign keys is the same after a restart.
#[test]
fn foreign_keys_are_kept() {
    let db = database();
    let mut one = session(&db);
    tables(&mut one, "ON DELETE SET NULL ON UPDATE CASCADE");
    let shown = run(&mut one, "SHOW CREATE TABLE c");
    assert!(shown.contains("ON DELETE SET NULL ON UPDATE CASCADE"), "{shown}");
    drop(one);
    let engine = db.engine().clone();
    drop(db);
    let db = super::block_on(Database::open(engine)).unwrap();
    let mut one = session(&db);
    assert_eq!(run(&mut one, "SHOW CREATE TABLE c"), shown);
    assert!(run(&mut one, "INSERT INTO c (pid) VALUES (7)").starts_with("error 1452"));
    assert!(run(&mut one, "DROP TABLE p").starts_with("error 3730"));
}
