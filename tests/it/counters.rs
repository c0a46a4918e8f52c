//! SHOW STATUS tells what has happened: every counter moves when that happens to it which it counts, and is
//! among those that stand still with a reason; a session sees what it has done itself, the server what all
//! have done, those that have gone too.

use std::collections::BTreeMap;

use turnstile_lab::client::Client;

use super::{Scratch, connect, start};

/// What cannot happen here, or only to a server that is in trouble. None of these may move in the test, so
/// that what comes to be counted leaves the list.
const STILL: &[&str] = &[
    // Connections that the operating system refuses, or nobody looks up by name.
    "Connection_errors_accept",
    "Connection_errors_internal",
    "Connection_errors_peer_address",
    "Connection_errors_select",
    "Connection_errors_tcpwrap",
    // Neither is done here.
    "Select_range_check",
    "Threads_cached",
    // Mechanisms of InnoDB's only.
    "Innodb_buffer_pool_pages_misc",
    "Innodb_data_pending_fsyncs",
    "Innodb_data_pending_reads",
    "Innodb_data_pending_writes",
    "Innodb_os_log_pending_fsyncs",
    "Innodb_os_log_pending_writes",
    "Innodb_undo_truncations",
    // True by nature.
    "Innodb_page_size",
    "Innodb_buffer_pool_pages_total",
    "Caching_sha2_password_rsa_public_key",
];

/// What a quiet server of a test cannot be made to do for sure: pages that do not fit the pool, a full log,
/// a checkpoint now or not now, waits, deadlocks, the adaptive hash index and the hand-on of hot rows, which
/// are off, threads of the pool.
const UNSURE: &[&str] = &[
    "Aborted_clients",
    "Innodb_adaptive_hash_hash_searches",
    "Innodb_adaptive_hash_non_hash_searches",
    "Innodb_buffer_pool_pages_dirty",
    "Innodb_buffer_pool_pages_flushed",
    "Innodb_buffer_pool_reads",
    "Innodb_buffer_pool_wait_free",
    "Innodb_checkpoint_age",
    "Innodb_data_reads",
    "Innodb_history_list_length",
    "Innodb_log_waits",
    "Innodb_lsn_last_checkpoint",
    "Innodb_pages_read",
    "Innodb_pages_written",
    "Innodb_row_lock_current_waits",
    "Innodb_deadlocks",
    "Turnstile_blind_wait_rollbacks",
    "Turnstile_statement_retries",
    "Turnstile_hot_row_followed",
    "Turnstile_hot_row_following",
    "Turnstile_hot_row_handed_on",
    "Turnstile_hot_row_impatience",
    "Turnstile_hot_row_queue_refusals",
    "Turnstile_hot_row_told_to_roll_back",
    "Threadpool_idle_threads",
    "Threadpool_threads",
    "Threads_created",
    "Threads_running",
    "Uptime",
];

/// Statements after which every other counter has moved. Those that are refused are counted as well.
const STATEMENTS: &[&str] = &[
    // More rows than are sorted, or kept, in memory.
    "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 900) \
     SELECT a.n FROM r AS a, r AS b WHERE b.n < 60 ORDER BY REPEAT('x', 400), a.n DESC",
    "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 900) SELECT COUNT(d.x) \
     FROM (SELECT REPEAT('x', 400) AS x FROM r AS a, r AS b WHERE b.n < 60 LIMIT 100000) AS d",
    "CREATE DATABASE d",
    "ALTER DATABASE d CHARACTER SET utf8mb4",
    "USE d",
    "CREATE TABLE t (id INT PRIMARY KEY, v INT, w INT, KEY v (v))",
    "INSERT INTO t VALUES (1, 1, 1), (2, 2, 2), (3, 3, 3), (4, 4, 4)",
    "INSERT INTO t SELECT id + 10, v + 10, w FROM t",
    "REPLACE INTO t VALUES (1, 1, 1)",
    "REPLACE INTO t SELECT id, v, w FROM t WHERE id = 2",
    "SELECT * FROM t a JOIN t b ON a.w = b.w ORDER BY a.w",
    "SELECT * FROM t WHERE v > 12 ORDER BY w",
    "SELECT COUNT(*) FROM t a JOIN t b ON a.v < b.v AND b.v > 12 AND b.v < 14",
    "UPDATE t SET w = 2 WHERE id = 1",
    "UPDATE t a, t b SET a.w = 3 WHERE a.id = b.id",
    "DELETE FROM t WHERE id = 1",
    "DELETE a FROM t a JOIN t b ON a.id = b.id WHERE a.id = 2",
    "BEGIN",
    "UPDATE t SET w = 9 WHERE id = 3",
    "SAVEPOINT s",
    "UPDATE t SET w = 8 WHERE id = 3",
    "ROLLBACK TO s",
    "RELEASE SAVEPOINT s",
    "ROLLBACK",
    "COMMIT",
    "DO 1",
    "SET @a = 1",
    "SET long_query_time = 0",
    "SELECT 1",
    "SET long_query_time = 10",
    "PREPARE p FROM 'SELECT 1'",
    "EXECUTE p",
    "DEALLOCATE PREPARE p",
    "PREPARE kept FROM 'SELECT 1'",
    "CREATE INDEX w ON t (w)",
    "DROP INDEX w ON t",
    "ALTER TABLE t ADD x INT",
    "ANALYZE TABLE t",
    "CHECK TABLE t",
    "CHECKSUM TABLE t",
    "OPTIMIZE TABLE t",
    "REPAIR TABLE t",
    "LOCK TABLES t READ",
    "UNLOCK TABLES",
    "RENAME TABLE t TO u",
    "TRUNCATE u",
    "DROP TABLE u",
    "CREATE VIEW v AS SELECT 1",
    "DROP VIEW IF EXISTS v",
    "DROP TRIGGER IF EXISTS g",
    "DROP EVENT IF EXISTS e",
    "DROP FUNCTION IF EXISTS f",
    "DROP PROCEDURE IF EXISTS p",
    "CREATE USER a, b",
    "ALTER USER a ACCOUNT UNLOCK",
    "SET PASSWORD FOR a = 'x'",
    "RENAME USER b TO c",
    "CREATE ROLE r",
    "GRANT SELECT ON d.* TO a",
    "GRANT r TO a",
    "SET DEFAULT ROLE r TO a",
    "SET ROLE NONE",
    "REVOKE r FROM a",
    "REVOKE SELECT ON d.* FROM a",
    "DROP ROLE r",
    "DROP USER a, c",
    "EXPLAIN FOR CONNECTION 1",
    "FLUSH TABLES",
    "RESET PERSIST",
    "KILL QUERY 999999",
    "DROP DATABASE d",
    "CREATE DATABASE d",
    "SHOW CHARSET",
    "SHOW COLLATION",
    "SHOW CREATE DATABASE d",
    "SHOW CREATE TABLE d.t",
    "SHOW CREATE USER root@localhost",
    "SHOW DATABASES",
    "SHOW ENGINE INNODB MUTEX",
    "SHOW ENGINE INNODB STATUS",
    "SHOW ENGINE INNODB LOGS",
    "SHOW ERRORS",
    "SHOW COLUMNS FROM d.t",
    "SHOW GRANTS",
    "SHOW INDEX FROM d.t",
    "SHOW BINLOG EVENTS",
    "SHOW BINARY LOGS",
    "SHOW BINARY LOG STATUS",
    "SHOW CREATE EVENT d.e",
    "SHOW CREATE FUNCTION d.f",
    "SHOW CREATE PROCEDURE d.p",
    "SHOW CREATE TRIGGER d.g",
    "SHOW EVENTS FROM d",
    "SHOW FUNCTION STATUS",
    "SHOW OPEN TABLES",
    "SHOW PRIVILEGES",
    "SHOW PROCEDURE STATUS",
    "SHOW PROCEDURE CODE p",
    "SHOW PROFILE",
    "SHOW PROFILES",
    "SHOW RELAYLOG EVENTS",
    "SHOW REPLICA STATUS",
    "SHOW REPLICAS",
    "SHOW TRIGGERS FROM d",
    "SHOW PLUGINS",
    "SHOW PROCESSLIST",
    "SHOW STATUS LIKE 'x'",
    "SHOW ENGINES",
    "SHOW TABLE STATUS FROM d",
    "SHOW TABLES FROM d",
    "SHOW VARIABLES LIKE 'x'",
    "SHOW WARNINGS",
];

/// What no statement of the list counts: commands of the protocol that the client here does not send, and the
/// end of the server.
const BY_OTHERS: &[&str] = &["Com_empty_query", "Com_shutdown", "Com_stmt_fetch", "Com_stmt_reset"];

type Counters = BTreeMap<String, String>;

fn counters(client: &mut Client, scope: &str) -> Counters {
    let answer = client.query(&format!("SHOW {scope} STATUS")).unwrap();
    answer.rows.into_iter().map(|row| (row[0].clone().unwrap(), row[1].clone().unwrap())).collect()
}

fn of(counters: &Counters, name: &str) -> i64 {
    counters[name].parse().unwrap()
}

#[test]
fn every_counter_moves_or_is_known_to_stand_still() {
    let scratch = Scratch::new("counters");
    let (server, target) = start(&scratch, &["--max-connections=5"]);
    let mut client = connect(&target);
    let before = counters(&mut client, "GLOBAL");
    let mut other = connect(&target);
    // An administrator has a place beside the others; whoever comes then is one too many.
    let mut others: Vec<Client> = (0..4).map(|_| connect(&target)).collect();
    assert!(Client::connect(&target).is_err());
    for statement in STATEMENTS {
        let _ = other.query(statement);
    }
    other.query("CREATE TABLE d.held (id INT PRIMARY KEY)").unwrap();
    other.query("INSERT INTO d.held VALUES (1)").unwrap();
    other.query("BEGIN").unwrap();
    other.query("SELECT * FROM d.held FOR UPDATE").unwrap();
    others[0].query("SET innodb_lock_wait_timeout = 1").unwrap();
    assert!(others[0].query("UPDATE d.held SET id = 2").is_err());
    let after = counters(&mut client, "GLOBAL");
    let known = |name: &str| [STILL, UNSURE, BY_OTHERS].iter().any(|list| list.contains(&name));
    let pretended: Vec<&String> =
        before.keys().filter(|name| before[*name] == after[*name] && !known(name)).collect();
    assert!(pretended.is_empty(), "these have not moved: {pretended:?}");
    let moved: Vec<&&str> =
        STILL.iter().chain(BY_OTHERS).filter(|name| before.get(**name) != after.get(**name)).collect();
    assert!(moved.is_empty(), "these are said to stand still: {moved:?}");
    let absent: Vec<&&str> =
        STILL.iter().chain(UNSURE).chain(BY_OTHERS).filter(|name| !before.contains_key(**name)).collect();
    assert!(absent.is_empty(), "these are not there: {absent:?}");
    server.terminate().unwrap();
}

#[test]
fn a_session_sees_its_own_and_the_server_keeps_all() {
    const OWN: &[&str] = &["Com_insert", "Handler_write", "Handler_commit", "Bytes_received", "Questions"];
    let scratch = Scratch::new("counters-own");
    let (server, target) = start(&scratch, &[]);
    let mut client = connect(&target);
    client.query("CREATE DATABASE d").unwrap();
    client.query("CREATE TABLE d.t (id INT PRIMARY KEY)").unwrap();
    let before = counters(&mut client, "GLOBAL");
    let own = counters(&mut client, "SESSION");
    let mut other = connect(&target);
    for id in 0..10 {
        other.query(&format!("INSERT INTO d.t VALUES ({id})")).unwrap();
    }
    let others = counters(&mut other, "SESSION");
    assert_eq!((of(&others, "Com_insert"), of(&others, "Handler_write")), (10, 10));
    assert_eq!(of(&others, "Handler_commit"), 10);
    let after = counters(&mut client, "SESSION");
    for name in ["Com_insert", "Handler_write", "Handler_commit"] {
        assert_eq!(of(&own, name), of(&after, name), "{name} is the session's");
    }
    // Neither FLUSH STATUS nor the session's end takes anything from the server's.
    other.query("FLUSH STATUS").unwrap();
    let flushed = counters(&mut other, "SESSION");
    assert_eq!((of(&flushed, "Com_insert"), of(&flushed, "Com_flush"), of(&flushed, "Questions")), (0, 0, 1));
    let mut sum = counters(&mut client, "GLOBAL");
    for name in ["Com_insert", "Handler_write"] {
        assert_eq!(of(&sum, name) - of(&before, name), 10, "{name}");
    }
    drop(other);
    while client.number("SELECT COUNT(*) FROM information_schema.processlist").unwrap() > 1 {
        let next = counters(&mut client, "GLOBAL");
        for name in OWN {
            assert!(of(&next, name) >= of(&sum, name), "{name} has fallen");
        }
        sum = next;
    }
    let gone = counters(&mut client, "GLOBAL");
    for name in ["Com_insert", "Handler_write"] {
        assert_eq!(of(&gone, name) - of(&before, name), 10, "{name} of a session that has gone");
    }
    server.terminate().unwrap();
}
