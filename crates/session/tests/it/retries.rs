//! `turnstile_statement_retries`: a change that is a deadlock's victim is begun again, unless somebody could
//! tell.

use std::sync::Arc;
use std::thread::{JoinHandle, spawn, yield_now};

use turnstile_session::{Database, Session};

use super::{database, run, session};

const CHANGE: &str = "UPDATE t SET c = c + 1 WHERE id IN (1, 2)";

fn stock() -> Arc<Database> {
    let db = database();
    let mut setting_up = session(&db);
    run(&mut setting_up, "CREATE TABLE t (id INT PRIMARY KEY, c INT)");
    run(&mut setting_up, "INSERT INTO t VALUES (1, 0), (2, 0), (3, 0), (4, 0), (5, 0)");
    db
}

fn until_waits(db: &Database, number: u64) {
    while db.engine().locks().statistics().current_waits != number {
        yield_now();
    }
}

/// Has `text` of a session be the victim of a deadlock with the session that is given back, which waits for
/// nobody and holds rows that the text needs.
fn collide(db: &Arc<Database>, mut victim: Session, text: &str) -> (Session, JoinHandle<(String, Session)>) {
    let mut other = session(db);
    run(&mut other, "BEGIN");
    assert!(run(&mut other, "UPDATE t SET c = c + 10 WHERE id > 1").starts_with("ok 4"));
    let text = text.to_owned();
    let running = spawn(move || (run(&mut victim, &text), victim));
    until_waits(db, 1);
    assert!(run(&mut other, "UPDATE t SET c = c + 10 WHERE id = 1").starts_with("ok 1"));
    (other, running)
}

fn outcome(db: &Arc<Database>, victim: Session, text: &str) -> (String, Session) {
    let (mut other, running) = collide(db, victim, text);
    run(&mut other, "COMMIT");
    running.join().unwrap()
}

fn retries(session: &mut Session) -> String {
    run(session, "SHOW SESSION STATUS LIKE 'Turnstile_statement_retries'")
}

#[test]
fn a_victim_is_begun_again_and_its_client_sees_one_statement() {
    let db = stock();
    let mut victim = session(&db);
    run(&mut victim, "PREPARE p FROM 'UPDATE t SET c = c + 1 WHERE id IN (1, 2)'");
    run(&mut victim, "SET TRANSACTION ISOLATION LEVEL READ COMMITTED");
    let hinted =
        "UPDATE /*+ TARGET_AFFECT_ROW(2) SET_VAR(sql_safe_updates = 0) */ t SET c = c + 1 WHERE id IN (1, 2)";
    let told = "ok 2 (Rows matched: 2  Changed: 2  Warnings: 0)\n";
    for (round, text) in [CHANGE, CHANGE, CHANGE, "EXECUTE p", hinted].into_iter().enumerate() {
        let (result, session) = outcome(&db, victim, text);
        victim = session;
        assert_eq!(result, told, "{text}");
        assert_eq!(retries(&mut victim), format!("Turnstile_statement_retries | {}\n", round + 1));
    }
    assert_eq!(run(&mut victim, "SELECT c FROM t WHERE id < 4"), "55\n55\n50\n");
}

#[test]
fn what_would_be_seen_twice_is_not_begun_again() {
    let db = stock();
    let mut victim = session(&db);
    run(&mut victim, "SET @n = 0");
    for text in [
        "UPDATE t SET c = c + (@n := @n + 1) WHERE id IN (1, 2)",
        "UPDATE t SET c = LAST_INSERT_ID(c + 1) WHERE id IN (1, 2)",
        "UPDATE t SET c = c + SLEEP(0) WHERE id IN (1, 2)",
        "UPDATE t SET c = c + GET_LOCK('l', 0) WHERE id IN (1, 2)",
        "UPDATE t SET c = c + COALESCE(RELEASE_LOCK('l'), 0) WHERE id IN (1, 2)",
    ] {
        let (result, session) = outcome(&db, victim, text);
        victim = session;
        assert!(result.starts_with("error 1213"), "{text}: {result}");
    }
    run(&mut victim, "BEGIN");
    let (result, mut victim) = outcome(&db, victim, CHANGE);
    assert!(result.starts_with("error 1213"), "{result}");
    run(&mut victim, "SET autocommit = 0");
    let (result, mut victim) = outcome(&db, victim, CHANGE);
    assert!(result.starts_with("error 1213"), "{result}");
    run(&mut victim, "SET autocommit = 1, turnstile_statement_retries = 0");
    let (result, mut victim) = outcome(&db, victim, CHANGE);
    assert!(result.starts_with("error 1213"), "{result}");
    assert_eq!(retries(&mut victim), "Turnstile_statement_retries | 0\n");
}

#[test]
fn a_kill_ends_the_tries() {
    let db = stock();
    let victim = session(&db);
    let id = victim.id();
    let (mut other, running) = collide(&db, victim, CHANGE);
    // Begun again it waits for the same row.
    until_waits(&db, 1);
    run(&mut session(&db), &format!("KILL QUERY {id}"));
    let (result, mut victim) = running.join().unwrap();
    assert!(result.starts_with("error 1317"), "{result}");
    run(&mut other, "ROLLBACK");
    assert_eq!(retries(&mut victim), "Turnstile_statement_retries | 1\n");
    assert_eq!(run(&mut victim, "SELECT SUM(c) FROM t"), "0\n");
}

#[test]
fn who_is_rolled_back_with_its_group_is_begun_again() {
    let db = stock();
    let mut first = session(&db);
    run(&mut first, "SET GLOBAL turnstile_hot_row = ON");
    run(&mut first, "BEGIN");
    run(&mut first, "UPDATE t SET c = 100 WHERE id = 1");
    let mut second = session(&db);
    let running = spawn(move || (run(&mut second, "UPDATE t SET c = c + 1 WHERE id = 1"), second));
    while db.engine().locks().statistics().following == 0 {
        yield_now();
    }
    run(&mut first, "ROLLBACK");
    let (result, mut second) = running.join().unwrap();
    assert!(result.starts_with("ok 1"), "{result}");
    assert_eq!(run(&mut second, "SELECT c FROM t WHERE id = 1"), "1\n");
    assert_eq!(retries(&mut second), "Turnstile_statement_retries | 1\n");
}
