//! What a person or a monitoring tool sees of two sessions of which one waits, with the statements such tools
//! send.

use std::sync::Arc;
use std::thread::JoinHandle;

use turnstile_session::{Database, Session};

use super::{block_on, database, run, session};

/// Two sessions on one row: `holder` has changed it, `waiter` wants to. A third looks.
struct Scene {
    holder: Session,
    waiting: JoinHandle<(Session, String)>,
    watcher: Session,
}

const WAITING_STATEMENT: &str = "UPDATE t SET v = v + 10 WHERE id = 1";

fn table(db: &Arc<Database>) -> Session {
    let mut holder = session(db);
    run(&mut holder, "CREATE TABLE t (id INT PRIMARY KEY, v INT, w VARCHAR(20), KEY by_v (v))");
    run(&mut holder, "INSERT INTO t VALUES (1, 10, 'a'), (2, 20, 'b'), (3, 30, 'c')");
    holder
}

/// Runs a statement on a thread of its own.
fn in_background(mut session: Session, statement: &'static str) -> JoinHandle<(Session, String)> {
    std::thread::spawn(move || {
        let given = run(&mut session, statement);
        (session, given)
    })
}

/// Returns when so many requests wait.
fn until_waiting(watcher: &mut Session, count: usize) {
    let waiting = "SELECT COUNT(*) FROM performance_schema.data_locks WHERE LOCK_STATUS = 'WAITING'";
    let wanted = format!("{count}\n");
    for _ in 0..100_000 {
        if run(watcher, waiting) == wanted {
            return;
        }
        std::thread::yield_now();
    }
    panic!("nobody waits: {}", run(watcher, "SELECT * FROM performance_schema.data_locks"));
}

fn scene() -> Scene {
    let db = database();
    let mut holder = table(&db);
    run(&mut holder, "BEGIN");
    assert_eq!(
        run(&mut holder, "UPDATE t SET v = 11 WHERE id = 1"),
        "ok 1 (Rows matched: 1  Changed: 1  Warnings: 0)\n"
    );
    let waiting = in_background(session(&db), WAITING_STATEMENT);
    let mut watcher = session(&db);
    until_waiting(&mut watcher, 1);
    Scene { holder, waiting, watcher }
}

impl Scene {
    fn sees(&mut self, statement: &str, expected: &str) {
        assert_eq!(run(&mut self.watcher, statement), expected, "{statement}");
    }

    /// The holder commits; the waiter gets the row.
    fn ends(mut self) {
        run(&mut self.holder, "COMMIT");
        let (_waiter, given) = self.waiting.join().unwrap();
        assert_eq!(given, "ok 1 (Rows matched: 1  Changed: 1  Warnings: 0)\n");
        let left = "SELECT COUNT(*) FROM performance_schema.data_locks";
        assert_eq!(run(&mut self.watcher, left), "0\n");
        assert_eq!(run(&mut self.watcher, "SELECT COUNT(*) FROM information_schema.innodb_trx"), "0\n");
    }
}

#[test]
fn transactions_and_locks_of_a_wait() {
    let mut scene = scene();
    scene.sees(
        "SELECT trx_mysql_thread_id, trx_state, trx_query, trx_rows_modified, trx_rows_locked, trx_isolation_level,
         trx_is_read_only, trx_tables_in_use, trx_requested_lock_id IS NULL, trx_wait_started IS NULL
         FROM information_schema.INNODB_TRX ORDER BY trx_mysql_thread_id",
        "1 | RUNNING | NULL | 3 | 1 | REPEATABLE READ | 0 | 0 | 1 | 1\n\
         2 | LOCK WAIT | UPDATE t SET v = v + 10 WHERE id = 1 | 0 | 0 | REPEATABLE READ | 0 | 1 | 0 | 0\n",
    );
    scene.sees(
        "SELECT ENGINE, THREAD_ID, OBJECT_SCHEMA, OBJECT_NAME, INDEX_NAME, LOCK_TYPE, LOCK_MODE, LOCK_STATUS, LOCK_DATA
         FROM performance_schema.data_locks WHERE LOCK_TYPE = 'RECORD' ORDER BY THREAD_ID",
        "INNODB | 1 | test | t | PRIMARY | RECORD | X,REC_NOT_GAP | GRANTED | 1\n\
         INNODB | 2 | test | t | PRIMARY | RECORD | X,REC_NOT_GAP | WAITING | 1\n",
    );
    // The change of one row and of its key by_v (one entry leaves, one comes) makes three undo records.
    // The join of the reference manual.
    scene.sees(
        "SELECT r.trx_mysql_thread_id waiting_thread, r.trx_query waiting_query, b.trx_mysql_thread_id blocking_thread,
         b.trx_query blocking_query FROM performance_schema.data_lock_waits w
         INNER JOIN information_schema.innodb_trx b ON b.trx_id = w.blocking_engine_transaction_id
         INNER JOIN information_schema.innodb_trx r ON r.trx_id = w.requesting_engine_transaction_id",
        "2 | UPDATE t SET v = v + 10 WHERE id = 1 | 1 | NULL\n",
    );
    scene.sees(
        "SELECT w.REQUESTING_THREAD_ID, w.BLOCKING_THREAD_ID, r.LOCK_STATUS, b.LOCK_STATUS, t.PROCESSLIST_ID,
         t.PROCESSLIST_STATE FROM performance_schema.data_lock_waits w
         JOIN performance_schema.data_locks r ON r.ENGINE_LOCK_ID = w.REQUESTING_ENGINE_LOCK_ID
         JOIN performance_schema.data_locks b ON b.ENGINE_LOCK_ID = w.BLOCKING_ENGINE_LOCK_ID
         JOIN performance_schema.threads t ON t.THREAD_ID = w.REQUESTING_THREAD_ID",
        "2 | 1 | WAITING | GRANTED | 2 | Waiting for row lock\n",
    );
    // As innotop asks servers of 5.5 to 5.7.
    scene.sees(
        "SELECT r.trx_mysql_thread_id AS waiting_thread, b.trx_mysql_thread_id AS blocking_thread, l.lock_mode,
         l.lock_type, l.lock_table, l.lock_index, l.lock_data FROM INFORMATION_SCHEMA.INNODB_LOCK_WAITS AS w
         INNER JOIN INFORMATION_SCHEMA.INNODB_TRX AS b ON b.trx_id = w.blocking_trx_id
         INNER JOIN INFORMATION_SCHEMA.INNODB_TRX AS r ON r.trx_id = w.requesting_trx_id
         INNER JOIN INFORMATION_SCHEMA.INNODB_LOCKS AS l ON w.requested_lock_id = l.lock_id",
        "2 | 1 | X | RECORD | `test`.`t` | PRIMARY | 1\n",
    );
    let ids = "SELECT ENGINE_LOCK_ID FROM performance_schema.data_locks ORDER BY 1";
    let before = run(&mut scene.watcher, ids);
    assert_eq!(run(&mut scene.watcher, ids), before, "a lock keeps its id");
    scene.ends();
}

#[test]
fn the_view_people_read() {
    let mut scene = scene();
    scene.sees(
        "SELECT locked_table, locked_table_schema, locked_table_name, locked_index, locked_type, waiting_pid,
         waiting_query, waiting_lock_mode, blocking_pid, blocking_query, blocking_lock_mode, blocking_trx_rows_modified,
         wait_age_secs < 60, sql_kill_blocking_query, sql_kill_blocking_connection FROM sys.innodb_lock_waits",
        "`test`.`t` | test | t | PRIMARY | RECORD | 2 | UPDATE t SET v = v + 10 WHERE id = 1 | X,REC_NOT_GAP | 1 | NULL | \
         X,REC_NOT_GAP | 3 | 1 | KILL QUERY 1 | KILL 1\n",
    );
    scene.sees(
        "SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = 'sys' AND table_name = 'innodb_lock_waits'",
        "30\n",
    );
    scene.ends();
}

#[test]
fn the_process_list_of_a_wait() {
    let mut scene = scene();
    scene.sees(
        "SHOW PROCESSLIST",
        "1 | root | localhost | test | Sleep | 0 |  | NULL\n\
         2 | root | localhost | test | Query | 0 | Waiting for row lock | UPDATE t SET v = v + 10 WHERE id = 1\n\
         3 | root | localhost | test | Query | 0 | executing | SHOW PROCESSLIST\n",
    );
    scene.sees(
        "SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'",
        "Innodb_row_lock_current_waits | 1\n",
    );
    scene.sees(
        "SHOW GLOBAL STATUS WHERE Variable_name = 'Threads_running' AND Value > 1",
        "Threads_running | 2\n",
    );
    scene.ends();
}

#[test]
fn a_query_is_killed_by_the_text_of_the_view() {
    let db = database();
    let mut first = table(&db);
    run(&mut first, "BEGIN");
    run(&mut first, "UPDATE t SET v = 1 WHERE id = 1");
    let mut second = session(&db);
    run(&mut second, "BEGIN");
    run(&mut second, "UPDATE t SET v = 2 WHERE id = 2");
    let mut watcher = session(&db);
    let second = in_background(second, "UPDATE t SET v = 2 WHERE id = 1");
    until_waiting(&mut watcher, 1);
    let third = in_background(session(&db), "UPDATE t SET v = 3 WHERE id = 2");
    until_waiting(&mut watcher, 2);
    let of_third = "SELECT sql_kill_blocking_query FROM sys.innodb_lock_waits WHERE waiting_pid = 4";
    let kill = run(&mut watcher, of_third);
    assert_eq!(kill, "KILL QUERY 2\n");
    assert_eq!(run(&mut watcher, kill.trim()), "ok\n");
    let (mut second, given) = second.join().unwrap();
    assert_eq!(given, "error 1317 Query execution was interrupted\n");
    // Its statement is gone, its transaction stands, and with it the third one's wait.
    until_waiting(&mut watcher, 1);
    run(&mut second, "ROLLBACK");
    assert_eq!(third.join().unwrap().1, "ok 1 (Rows matched: 1  Changed: 1  Warnings: 0)\n");
}

#[test]
fn a_connection_is_killed_by_the_text_of_the_view() {
    let mut scene = scene();
    let kill = run(&mut scene.watcher, "SELECT sql_kill_blocking_connection FROM sys.innodb_lock_waits");
    assert_eq!(run(&mut scene.watcher, kill.trim()), "ok\n");
    assert!(scene.holder.is_killed());
    scene.sees("SELECT COMMAND FROM information_schema.processlist WHERE ID = 1", "Killed\n");
    // Its owner does this as soon as the interrupt wakes it.
    block_on(scene.holder.finish());
    drop(scene.holder);
    assert_eq!(scene.waiting.join().unwrap().1, "ok 1 (Rows matched: 1  Changed: 1  Warnings: 0)\n");
}

#[test]
fn keys_are_shown_as_values() {
    let db = database();
    let mut holder = table(&db);
    run(&mut holder, "CREATE TABLE d (k DECIMAL(6,2), s VARCHAR(9), n INT, PRIMARY KEY (k, n))");
    run(&mut holder, "INSERT INTO d VALUES (1.50, 'x', 7)");
    run(&mut holder, "CREATE TABLE h (a INT)");
    run(&mut holder, "BEGIN");
    run(&mut holder, "SELECT * FROM t WHERE v >= 30 FOR UPDATE");
    run(&mut holder, "SELECT * FROM d WHERE k = 1.5 AND n = 7 FOR SHARE");
    let locks = "SELECT OBJECT_NAME, INDEX_NAME, LOCK_MODE, LOCK_DATA FROM performance_schema.data_locks
                 WHERE LOCK_TYPE = 'RECORD' ORDER BY 1, 2, 4";
    assert_eq!(
        run(&mut holder, locks),
        "d | PRIMARY | S,REC_NOT_GAP | 1.50, 7\n\
         t | by_v | X | 30, 3\n\
         t | by_v | X | supremum pseudo-record\n\
         t | PRIMARY | X,REC_NOT_GAP | 3\n"
    );
}

#[test]
fn the_report_of_a_wait() {
    let mut scene = scene();
    let report = run(&mut scene.watcher, "SHOW ENGINE INNODB STATUS").replace("\\n", "\n");
    let lines: Vec<&str> = report.lines().collect();
    let at = lines.iter().position(|line| line.contains("TRX HAS BEEN WAITING")).expect("somebody waits");
    assert!(
        lines[at].starts_with("------- TRX HAS BEEN WAITING ")
            && lines[at].ends_with(" SEC FOR THIS LOCK TO BE GRANTED:")
    );
    assert!(lines[at + 1].starts_with("RECORD LOCKS space id "), "{}", lines[at + 1]);
    assert!(lines[at + 1].contains("index `PRIMARY` of table `test`.`t` trx id "), "{}", lines[at + 1]);
    assert!(lines[at + 1].ends_with(" lock_mode X locks rec but not gap waiting"), "{}", lines[at + 1]);
    assert_eq!(lines[at - 1], WAITING_STATEMENT);
    assert!(lines[at - 2].starts_with("MySQL thread id 2, OS thread handle "), "{}", lines[at - 2]);
    assert!(lines[at - 2].ends_with("localhost root Waiting for row lock"), "{}", lines[at - 2]);
    assert!(lines[at - 3].starts_with("LOCK WAIT "), "{}", lines[at - 3]);
    assert_eq!(lines[at - 4], "mysql tables in use 1, locked 1");
    assert!(lines[at - 5].ends_with(" sec starting index read"), "{}", lines[at - 5]);
    scene.ends();
}

#[test]
fn the_report_keeps_the_last_deadlock() {
    let db = database();
    let (mut one, mut two) = (table(&db), session(&db));
    run(&mut one, "BEGIN");
    run(&mut two, "BEGIN");
    run(&mut one, "UPDATE t SET v = 1 WHERE id = 1");
    run(&mut two, "UPDATE t SET v = 2 WHERE id = 2");
    let mut watcher = session(&db);
    let one = in_background(one, "UPDATE t SET v = 1 WHERE id = 2");
    until_waiting(&mut watcher, 1);
    let second = run(&mut two, "UPDATE t SET v = 2 WHERE id = 1");
    run(&mut two, "ROLLBACK");
    let first = one.join().unwrap().1;
    assert!(first.contains("error 1213") != second.contains("error 1213"), "{first}{second}");
    let report = run(&mut watcher, "SHOW ENGINE INNODB STATUS").replace("\\n", "\n");
    let part = report.split("LATEST DETECTED DEADLOCK\n").nth(1).expect("the section is there");
    let part = part.split("TRANSACTIONS\n").next().unwrap();
    for line in
        ["*** (1) TRANSACTION:", "*** (2) TRANSACTION:", "*** (1) WAITING FOR THIS LOCK TO BE GRANTED:"]
    {
        assert!(part.lines().any(|one| one == line), "{line}\n{part}");
    }
    assert!(part.contains("\n*** WE ROLL BACK TRANSACTION ("), "{part}");
}
