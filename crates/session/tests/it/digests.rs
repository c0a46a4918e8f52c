//! Statements by digest, as far as a script cannot say it: prepared statements, several in one text, KILL,
//! sessions that end, a table that is full or off, and many sessions at once.

use std::sync::Arc;

use turnstile_engine::{Config, Engine};
use turnstile_session::variables::Globals;
use turnstile_session::{Database, Session, Value};

use super::{Text, block_on, database, run, session};

const COUNTED: &str = "SELECT DIGEST_TEXT, COUNT_STAR, SUM_ERRORS, SUM_ROWS_SENT \
     FROM performance_schema.events_statements_summary_by_digest WHERE DIGEST_TEXT LIKE";

fn counted(db: &Arc<Database>, pattern: &str) -> String {
    run(&mut session(db), &format!("{COUNTED} '{pattern}' ORDER BY DIGEST_TEXT"))
}

fn database_of(digests: &str) -> Arc<Database> {
    let globals = Globals::default();
    globals.configure("performance_schema_digests_size", digests).unwrap();
    let engine = Engine::open_memory(Config::default()).unwrap();
    block_on(Database::open_with(engine, globals)).unwrap()
}

fn execute(session: &mut Session, id: u32, params: &[Value]) -> String {
    let mut out = Text::default();
    block_on(session.execute(id, params, &mut out)).unwrap();
    out.text
}

#[test]
fn a_prepared_statement_is_counted_as_its_text() {
    let db = database();
    let mut one = session(&db);
    run(&mut one, "CREATE TABLE t (id INT PRIMARY KEY)");
    run(&mut one, "INSERT INTO t VALUES (1)");
    let read = block_on(one.prepare(b"SELECT id FROM t WHERE id = ?")).unwrap().id;
    // More than there are places: of two that have the same one each is counted as itself.
    let others: Vec<u32> =
        (0..70).map(|nth| block_on(one.prepare(format!("DO {nth}, 'x'").as_bytes())).unwrap().id).collect();
    for _ in 0..10 {
        assert_eq!(execute(&mut one, read, &[Value::Int(1)]), "1\n");
        others.iter().for_each(|&id| _ = execute(&mut one, id, &[]));
    }
    assert_eq!(counted(&db, "SELECT `id` FROM `t` %"), "SELECT `id` FROM `t` WHERE `id` = ? | 10 | 0 | 10\n");
    assert_eq!(counted(&db, "DO %"), "DO ?, ... | 700 | 0 | 0\n");
}

#[test]
fn statements_of_one_text_are_counted_one_by_one() {
    let db = database();
    let mut one = session(&db);
    one.set_multi_statements(true);
    run(&mut one, "DO 1; SELECT 2; SELECT nothing; DO 3");
    assert_eq!(counted(&db, "DO _"), "DO ? | 1 | 0 | 0\n");
    assert_eq!(counted(&db, "SELECT _"), "SELECT ? | 1 | 0 | 1\n");
    assert_eq!(counted(&db, "SELECT `nothing`"), "SELECT `nothing` | 1 | 1 | 0\n");
}

#[test]
fn a_session_that_ends_leaves_what_it_counted() {
    let db = database();
    let mut one = session(&db);
    (0..100).for_each(|_| _ = run(&mut one, "SELECT 1"));
    drop(one);
    assert_eq!(counted(&db, "SELECT _"), "SELECT ? | 100 | 0 | 100\n");
}

#[test]
fn a_statement_that_was_ended_with_kill_has_failed() {
    let db = database();
    let mut one = session(&db);
    let id = one.id();
    let db_there = db.clone();
    let killer = std::thread::spawn(move || {
        let mut two = session(&db_there);
        let sleeps = format!(
            "SELECT COUNT(*) FROM information_schema.processlist WHERE ID = {id} AND INFO LIKE 'DO %'"
        );
        while run(&mut two, &sleeps) != "1\n" {
            std::thread::yield_now();
        }
        run(&mut two, &format!("KILL {id}"))
    });
    let given = run(&mut one, "DO SLEEP(100)");
    assert!(given.starts_with("error 1317 "), "{given}");
    killer.join().unwrap();
    drop(one);
    assert_eq!(counted(&db, "DO `SLEEP`%"), "DO `SLEEP` (?) | 1 | 1 | 0\n");
}

#[test]
fn more_digests_than_places_share_a_row() {
    let db = database_of("3");
    let mut one = session(&db);
    for text in ["SELECT 1", "SELECT 1, 'a'", "DO 1", "SELECT 1 + 1", "SELECT 1 AS a", "SELECT 1 AS a"] {
        run(&mut one, text);
    }
    let all = "SELECT SCHEMA_NAME, DIGEST_TEXT, COUNT_STAR FROM performance_schema.events_statements_summary_by_digest \
               WHERE DIGEST IS NULL OR DIGEST_TEXT LIKE 'DO%'";
    // Three of its own, and this session's own USE or the like has no place either.
    let given = run(&mut one, all);
    assert!(given.contains("NULL | NULL | "), "{given}");
    run(&mut one, "TRUNCATE TABLE performance_schema.events_statements_summary_by_digest");
    assert_eq!(run(&mut one, "SELECT 1 AS a"), "1\n");
    assert_eq!(counted(&db, "SELECT ? AS %"), "SELECT ? AS `a` | 1 | 0 | 1\n", "a place is free again");
}

#[test]
fn without_places_nothing_is_counted() {
    let db = database_of("0");
    let mut one = session(&db);
    (0..3).for_each(|_| _ = run(&mut one, "SELECT 1"));
    assert_eq!(counted(&db, "%"), "");
    let sum = "SELECT SUM(COUNT_BUCKET) FROM performance_schema.events_statements_histogram_global";
    assert_eq!(run(&mut one, sum), "0\n");
}

#[test]
fn many_sessions_count_every_statement_while_others_look() {
    let db = database();
    run(&mut session(&db), "CREATE TABLE t (id INT PRIMARY KEY, v INT)");
    run(&mut session(&db), "INSERT INTO t VALUES (1, 0)");
    let work = |nth: i32| {
        let db = db.clone();
        std::thread::spawn(move || {
            let mut one = session(&db);
            for _ in 0..200 {
                run(&mut one, "UPDATE t SET v = v + 1 WHERE id = 1");
                run(&mut one, &format!("SELECT {nth} FROM t WHERE id = {nth}"));
            }
        })
    };
    let threads: Vec<_> = (0..4).map(work).collect();
    while !threads.iter().all(|one| one.is_finished()) {
        counted(&db, "UPDATE%");
    }
    threads.into_iter().for_each(|one| one.join().unwrap());
    assert_eq!(counted(&db, "UPDATE%"), "UPDATE `t` SET `v` = `v` + ? WHERE `id` = ? | 800 | 0 | 0\n");
    assert_eq!(counted(&db, "SELECT ? FROM%"), "SELECT ? FROM `t` WHERE `id` = ? | 800 | 0 | 200\n");
}

/// A sample is kept for as long as nothing takes longer: what it shows must be what the logs show.
#[test]
fn passwords_are_in_no_sample() {
    let db = database_of("100");
    let mut one = session(&db);
    for text in [
        "CREATE USER a IDENTIFIED BY 'opensesame'",
        "ALTER USER a IDENTIFIED BY 'opensesame'",
        "SET PASSWORD FOR a = 'opensesame'",
        "PREPARE p FROM 'CREATE USER b IDENTIFIED BY ''opensesame'''",
    ] {
        let given = run(&mut one, text);
        assert!(!given.starts_with("error"), "{text}: {given}");
    }
    let samples = "SELECT COUNT(*), SUM(CONCAT(QUERY_SAMPLE_TEXT, DIGEST_TEXT) LIKE '%opensesame%') \
                   FROM performance_schema.events_statements_summary_by_digest WHERE DIGEST_TEXT NOT LIKE 'SELECT%'";
    assert_eq!(run(&mut one, samples), "4 | 0\n");
}
