//! What DROP costs, and what nobody drops or changes: the tables that are computed.

use turnstile_engine::{Config, Engine};
use turnstile_session::{Database, Session};

use super::{block_on, run, session};

const TABLES: u64 = 100;

fn syncs(session: &mut Session) -> u64 {
    let shown = run(session, "SHOW GLOBAL STATUS LIKE 'Innodb_os_log_fsyncs'");
    shown.trim().rsplit(" | ").next().unwrap().parse().unwrap()
}

/// Trees that are dropped together wait for one sync, not for one each.
#[test]
fn a_database_of_many_tables_is_dropped_with_few_syncs() {
    let engine = Engine::open_memory(Config::default()).unwrap();
    let database = block_on(Database::open(engine)).unwrap();
    let mut root = session(&database);
    assert!(run(&mut root, "CREATE DATABASE shops").starts_with("ok"));
    for nth in 0..TABLES {
        let made = run(&mut root, &format!("CREATE TABLE shops.t{nth} (id INT PRIMARY KEY, a INT, KEY (a))"));
        assert!(made.starts_with("ok"), "{made}");
    }
    let before = syncs(&mut root);
    assert!(run(&mut root, "DROP DATABASE shops").starts_with("ok"));
    let took = syncs(&mut root) - before;
    assert!(took < TABLES / 4, "{took} syncs for {TABLES} tables");
}

/// Whoever asks, and whatever it holds: 1142, as for the tables of performance_schema in MySQL.
#[test]
fn nobody_changes_what_is_computed() {
    let engine = Engine::open_memory(Config::default()).unwrap();
    let database = block_on(Database::open(engine)).unwrap();
    let mut root = session(&database);
    for text in [
        "INSERT INTO sys.innodb_lock_waits VALUES (1)",
        "DELETE FROM sys.innodb_lock_waits",
        "TRUNCATE TABLE sys.innodb_lock_waits",
        "INSERT INTO performance_schema.data_locks VALUES (1)",
        "UPDATE performance_schema.data_locks SET ENGINE = 'x'",
        "DELETE FROM performance_schema.data_locks",
        "DROP TABLE performance_schema.threads",
        "ALTER TABLE performance_schema.threads ADD a INT",
        "CREATE TABLE performance_schema.x (a INT)",
        "INSERT INTO mysql.user (user) VALUES ('x')",
        "DELETE FROM mysql.user",
    ] {
        let told = run(&mut root, text);
        assert!(told.contains("1142"), "{text}: {told}");
    }
}
