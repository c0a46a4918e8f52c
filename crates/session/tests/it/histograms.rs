//! Histograms: what an order of tables reads with and without them, that they are there after a restart and
//! gone with what they are of, who makes them anew, and what making them takes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use turnstile_engine::{Config, Engine};
use turnstile_session::{Database, Session};

use super::{block_on, run, session};

/// 20,000 rows of each table. Of `a` ten have the flag, of `b` ten are of kind 1, and no key tells which.
const TABLES: [&str; 6] = [
    "SET GLOBAL innodb_stats_auto_recalc = OFF",
    "CREATE TABLE n (i INT)",
    "INSERT INTO n WITH RECURSIVE c AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM c WHERE i < 199) SELECT i FROM c",
    "CREATE TABLE a (id INT PRIMARY KEY, b INT NOT NULL, flag INT, note VARCHAR(200))",
    "CREATE TABLE b (id INT PRIMARY KEY, kind INT)",
    "INSERT INTO a SELECT x.i * 100 + y.i, x.i * 100 + y.i, x.i * 100 + y.i < 10, CONCAT('note', x.i * 100 + y.i) \
     FROM n AS x JOIN n AS y ON y.i < 100",
];

const JOIN: &str = "SELECT COUNT(*) FROM a JOIN b ON b.id = a.id WHERE a.flag = 0 AND b.kind = 1";
const KNOWN: &str = "SELECT table_name, column_name, histogram FROM information_schema.column_statistics \
                     WHERE schema_name = 'test' ORDER BY 1, 2";

fn shop() -> (Arc<Engine>, Arc<Database>, Session) {
    let engine = Engine::open_memory(Config::default()).unwrap();
    let db = block_on(Database::open(engine.clone())).unwrap();
    let mut shop = session(&db);
    for text in TABLES.iter().chain(&["INSERT INTO b SELECT id, id % 2000 = 99 FROM a"]) {
        assert!(run(&mut shop, text).starts_with("ok"), "{text}");
    }
    assert!(run(&mut shop, "ANALYZE TABLE a, b").contains("status | OK"));
    (engine, db, shop)
}

fn done(session: &mut Session, text: &str) -> String {
    let answer = run(session, text);
    assert!(!answer.contains("error ") && !answer.contains("| Error |"), "{text}: {answer}");
    answer
}

fn rows_read(shop: &mut Session, text: &str) -> u64 {
    let read = |shop: &mut Session| {
        let seen = run(shop, "SHOW STATUS LIKE 'Innodb_rows_read'");
        seen.trim().rsplit(' ').next().unwrap().parse::<u64>().unwrap()
    };
    let before = read(shop);
    done(shop, text);
    read(shop) - before
}

#[test]
fn a_rare_value_decides_how_tables_are_joined() {
    let (engine, _first, mut shop) = shop();
    let without = rows_read(&mut shop, JOIN);
    assert!(without > 39_000, "{without} rows read: the test has nothing to show");
    done(&mut shop, "ANALYZE TABLE b UPDATE HISTOGRAM ON kind");
    let with = rows_read(&mut shop, JOIN);
    assert!(with < 20_100, "{with} rows read");
    let explained = done(&mut shop, &format!("EXPLAIN {JOIN}"));
    assert!(explained.contains("| 0.10 | Using where"), "{explained}");
    let second = block_on(Database::open(engine)).unwrap();
    let after = rows_read(&mut session(&second), JOIN);
    assert!(after < 20_100, "{after} rows read after a restart");
    done(&mut shop, "ANALYZE TABLE b DROP HISTOGRAM ON kind");
    let again = rows_read(&mut shop, JOIN);
    assert!(again > 39_000, "{again} rows read");
}

/// What is kept for values that one table hardly has is not run for values that the other hardly has.
#[test]
fn a_kept_plan_is_made_anew_for_a_rare_value() {
    let (_engine, _db, mut shop) = shop();
    done(&mut shop, "ANALYZE TABLE a UPDATE HISTOGRAM ON flag");
    done(&mut shop, "ANALYZE TABLE b UPDATE HISTOGRAM ON kind");
    let text = "SELECT COUNT(*) FROM a JOIN b ON b.id = a.id WHERE a.flag = ? AND b.kind = ?";
    done(&mut shop, &format!("PREPARE j FROM '{text}'"));
    done(&mut shop, "SET @no = 0, @yes = 1");
    for _ in 0..2 {
        for given in ["@no, @yes", "@yes, @no"] {
            let read = rows_read(&mut shop, &format!("EXECUTE j USING {given}"));
            assert!(read < 20_100, "{read} rows read for {given}");
        }
    }
}

#[test]
fn histograms_are_there_after_a_restart_and_go_with_their_columns() {
    let (engine, first, mut shop) = shop();
    done(&mut shop, "ANALYZE TABLE a UPDATE HISTOGRAM ON flag, note, b WITH 7 BUCKETS AUTO UPDATE");
    done(&mut shop, "ANALYZE TABLE b UPDATE HISTOGRAM ON kind");
    let known = run(&mut shop, KNOWN);
    assert_eq!(known.lines().count(), 4, "{known}");
    drop((shop, first));
    let second = block_on(Database::open(engine.clone())).unwrap();
    let mut shop = session(&second);
    assert_eq!(run(&mut shop, KNOWN), known);
    // The column that comes has the name and the type of the one that goes.
    done(&mut shop, "ALTER TABLE a DROP COLUMN note, ADD COLUMN note VARCHAR(200), RENAME TO z");
    done(&mut shop, "TRUNCATE TABLE z");
    done(&mut shop, "DROP TABLE b");
    let now = run(&mut shop, KNOWN);
    assert_eq!(now.lines().map(|line| &line[..8]).collect::<Vec<_>>(), ["z | b | ", "z | flag"]);
    drop((shop, second));
    let third = block_on(Database::open(engine.clone())).unwrap();
    let mut shop = session(&third);
    assert_eq!(run(&mut shop, KNOWN), now);
    done(&mut shop, "CREATE DATABASE other");
    done(&mut shop, "RENAME TABLE z TO other.z");
    let count = "SELECT COUNT(*) FROM information_schema.column_statistics";
    assert_eq!(run(&mut shop, count), "2\n");
    done(&mut shop, "DROP DATABASE other");
    drop((shop, third));
    let fourth = block_on(Database::open(engine)).unwrap();
    assert_eq!(run(&mut session(&fourth), count), "0\n");
}

/// A tenth of a table has come: its histograms are made anew if they say so.
#[test]
fn a_histogram_is_made_anew_by_itself_if_it_says_so() {
    let (_engine, _db, mut shop) = shop();
    done(&mut shop, "SET GLOBAL innodb_stats_auto_recalc = ON");
    done(&mut shop, "ANALYZE TABLE b UPDATE HISTOGRAM ON kind AUTO UPDATE");
    done(&mut shop, "ANALYZE TABLE a UPDATE HISTOGRAM ON flag MANUAL UPDATE");
    done(&mut shop, "INSERT INTO b SELECT id + 100000, 5 FROM a");
    done(&mut shop, "INSERT INTO a SELECT id + 100000, 0, 5, '' FROM a");
    let buckets = |table: &str| {
        format!(
            "SELECT JSON_LENGTH(histogram, '$.buckets') FROM information_schema.column_statistics \
             WHERE table_name = '{table}'"
        )
    };
    let until = Instant::now() + Duration::from_secs(60);
    while run(&mut shop, &buckets("b")) != "3\n" && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(run(&mut shop, &buckets("b")), "3\n");
    done(&mut shop, "ANALYZE TABLE a");
    assert_eq!(run(&mut shop, &buckets("a")), "2\n");
    done(&mut shop, "ANALYZE TABLE a UPDATE HISTOGRAM ON flag");
    assert_eq!(run(&mut shop, &buckets("a")), "3\n");
}

#[test]
fn memory_is_bounded_by_looking_at_some_rows() {
    let (_engine, _db, mut shop) = shop();
    done(&mut shop, "SET SESSION histogram_generation_max_mem_size = 1000000");
    done(&mut shop, "ANALYZE TABLE a UPDATE HISTOGRAM ON note");
    let shown = "SELECT JSON_VALUE(histogram, '$.\"sampling-rate\"' RETURNING DOUBLE), \
                 JSON_EXTRACT(histogram, '$.buckets[50][3]') > 150 FROM information_schema.column_statistics";
    let seen = run(&mut shop, shown);
    let (rate, distinct) = seen.trim().split_once(" | ").unwrap();
    assert!((0.02..0.3).contains(&rate.parse::<f64>().unwrap()), "{seen}");
    assert_eq!(distinct, "1", "twenty thousand values in a hundred buckets");
    // What is held is the session's: beyond its limit the statement ends, and what was known stays.
    let known = run(&mut shop, KNOWN);
    done(&mut shop, "SET SESSION histogram_generation_max_mem_size = DEFAULT");
    done(&mut shop, "SET SESSION connection_memory_limit = 2097152");
    let answer = run(&mut shop, "ANALYZE TABLE a UPDATE HISTOGRAM ON note, id, b");
    assert!(answer.contains("4082"), "{answer}");
    assert_eq!(run(&mut shop, KNOWN), known);
    done(&mut shop, "SELECT 1");
}

/// The row of a histogram may be far longer than a page.
#[test]
fn the_largest_histogram_is_kept() {
    let (engine, db, mut shop) = shop();
    done(&mut shop, "UPDATE a SET note = CONCAT(id, REPEAT('\u{20ac}', 60))");
    done(&mut shop, "ANALYZE TABLE a UPDATE HISTOGRAM ON note WITH 1024 BUCKETS AUTO UPDATE");
    let known = run(&mut shop, KNOWN);
    assert!(known.len() > 300_000, "{} bytes", known.len());
    done(&mut shop, "ANALYZE TABLE a");
    let last = |known: &str| known.split("last-updated").next().unwrap().to_string();
    assert_eq!(last(&run(&mut shop, KNOWN)), last(&known));
    drop((shop, db));
    let second = block_on(Database::open(engine)).unwrap();
    assert_eq!(last(&run(&mut session(&second), KNOWN)), last(&known));
    done(&mut session(&second), "DROP TABLE a");
    assert_eq!(run(&mut session(&second), KNOWN), "");
}

#[test]
fn making_one_is_killed() {
    let (_engine, _db, mut shop) = shop();
    let ended = Arc::new(AtomicBool::new(false));
    let (kill, until) = (shop.interrupt().clone(), ended.clone());
    let killer = std::thread::spawn(move || {
        while !until.load(Ordering::Relaxed) {
            kill.kill_query();
            std::thread::yield_now();
        }
    });
    let answer = run(&mut shop, "ANALYZE TABLE a UPDATE HISTOGRAM ON note");
    ended.store(true, Ordering::Relaxed);
    killer.join().unwrap();
    shop.interrupt().clear_query();
    assert!(answer.contains("error 1317"), "{answer}");
    assert_eq!(run(&mut shop, KNOWN), "");
}

#[test]
fn who_may_see_a_column_sees_its_histogram() {
    let (_engine, db, mut root) = shop();
    done(&mut root, "ANALYZE TABLE a UPDATE HISTOGRAM ON flag, note");
    done(&mut root, "CREATE USER reader");
    done(&mut root, "GRANT SELECT (flag) ON test.a TO reader");
    let mut reader = super::rights::as_user(&db, "reader");
    let seen = run(&mut reader, "SELECT column_name FROM information_schema.column_statistics");
    assert_eq!(seen, "flag\n");
    for text in
        ["ANALYZE TABLE test.a UPDATE HISTOGRAM ON flag", "ANALYZE TABLE test.a DROP HISTOGRAM ON flag"]
    {
        assert!(run(&mut reader, text).contains("1142"), "{text}");
    }
}
