//! The lines and columns that monitoring tools parse: SHOW ENGINE INNODB STATUS line by line, INNODB_METRICS
//! as mysqld_exporter reads it, SHOW STATUS, and who may look.

use turnstile_session::accounts::AccountName;
use turnstile_session::{Session, SessionInit};
use turnstile_sys::latch::{Latch, LatchClass, waiting_now};

use super::{database, run, session};

/// Whether a text is as a pattern says: `{n}` is a number, `{x}` one with decimals, `{*}` anything.
fn fits(pattern: &str, text: &str) -> bool {
    let Some(open) = pattern.find('{') else { return pattern == text };
    let Some(rest) = text.strip_prefix(&pattern[..open]) else { return false };
    let (kind, behind) = (&pattern[open..open + 3], &pattern[open + 3..]);
    let allowed = |letter: char| match kind {
        "{n}" => letter.is_ascii_digit(),
        "{x}" => letter.is_ascii_digit() || letter == '.',
        _ => true,
    };
    let longest = rest.find(|letter| !allowed(letter)).unwrap_or(rest.len());
    let least = usize::from(kind != "{*}");
    (least..=longest).rev().any(|length| rest.is_char_boundary(length) && fits(behind, &rest[length..]))
}

#[test]
fn patterns() {
    assert!(fits("{n} row lock(s)", "12 row lock(s)"));
    assert!(!fits("{n} row lock(s)", " row lock(s)"));
    assert!(fits("{x} reads/s, {x} creates/s", "0.00 reads/s, 1.50 creates/s"));
    assert!(fits("a {*} z", "a b c z"));
    assert!(!fits("a {*} z", "a b c"));
}

const SECTIONS: [&str; 10] = [
    "BACKGROUND THREAD",
    "SEMAPHORES",
    "TRANSACTIONS",
    "HOT ROWS",
    "FILE I/O",
    "INSERT BUFFER AND ADAPTIVE HASH INDEX",
    "LOG",
    "BUFFER POOL AND MEMORY",
    "ROW OPERATIONS",
    "END OF INNODB MONITOR OUTPUT",
];

const LINES: &[&str] = &[
    "{n}-{n}-{n} {n}:{n}:{n} 0x{*} INNODB MONITOR OUTPUT",
    "Per second averages calculated from the last {n} seconds",
    "OS WAIT ARRAY INFO: reservation count {n}, signal count {n}",
    "Mutex spin waits {n}, rounds {n}, OS waits {n}",
    "RW-shared spins {n}, rounds {n}, OS waits {n}",
    "RW-excl spins {n}, rounds {n}, OS waits {n}",
    "RW-sx spins {n}, rounds {n}, OS waits {n}",
    "Trx id counter {n}",
    "Purge done for trx's n:o < {n} undo n:o < {n} state: {*}",
    "History list length {n}",
    "Total number of lock structs in row lock hash table {n}",
    "LIST OF TRANSACTIONS FOR EACH SESSION:",
    "---TRANSACTION {n}, not started",
    "---TRANSACTION {n}, ACTIVE {n} sec",
    "{n} lock struct(s), heap size {n}, {n} row lock(s), undo log entries {n}",
    "MySQL thread id {n}, OS thread handle {n}, query id {n} localhost root {*}",
    "Trx read view will not see trx with id >= {n}, sees < {n}",
    "Hand-on before commit OFF, rows handed on {n}, {x} handed on/s",
    "Commits that followed {n}, following now {n}, told to roll back {n}, out of patience {n}",
    "I/O thread {n} state: {*} (read thread)",
    "I/O thread {n} state: {*} (write thread)",
    "I/O thread {n} state: {*} (log thread)",
    "Pending normal aio reads:{*}",
    "{n} OS file reads, {n} OS file writes, {n} OS fsyncs",
    "{x} reads/s, {n} avg bytes/read, {x} writes/s, {x} fsyncs/s",
    "Hash table size {n}, node heap has {n} buffer(s)",
    "{x} hash searches/s, {x} non-hash searches/s",
    "Log sequence number {*}",
    "Log flushed up to {*}",
    "Last checkpoint at {*}",
    "{n} pending log flushes, {n} pending chkp writes",
    "{n} log i/o's done, {x} log i/o's/second",
    "Total large memory allocated {n}",
    "Dictionary memory allocated {n}",
    "Buffer pool size   {n}",
    "Free buffers       {n}",
    "Database pages     {n}",
    "Modified db pages  {n}",
    "Pending reads      {n}",
    "Pages read {n}, created {n}, written {n}",
    "{x} reads/s, {x} creates/s, {x} writes/s",
    "Buffer pool hit rate {n} / {n}{*}",
    "{n} queries inside InnoDB, {n} queries in queue",
    "{n} read views open inside InnoDB",
    "Process ID={n}, Main thread ID={n} , state={*}",
    "Number of rows inserted {n}, updated {n}, deleted {n}, read {n}",
    "{x} inserts/s, {x} updates/s, {x} deletes/s, {x} reads/s",
];

fn status(session: &mut Session) -> Vec<String> {
    let given = run(session, "SHOW ENGINE INNODB STATUS");
    let report = given.strip_prefix("InnoDB |  | ").expect("type, name, status");
    report.replace("\\n", "\n").trim_end().lines().map(String::from).collect()
}

#[test]
fn every_line_tools_parse() {
    let db = database();
    let mut one = session(&db);
    run(&mut one, "CREATE TABLE t (id INT PRIMARY KEY, v INT)");
    run(&mut one, "INSERT INTO t VALUES (1, 10)");
    run(&mut one, "BEGIN");
    run(&mut one, "SELECT * FROM t");
    run(&mut one, "UPDATE t SET v = 11 WHERE id = 1");
    let mut watcher = session(&db);
    let lines = status(&mut watcher);
    for pattern in LINES {
        assert!(lines.iter().any(|line| fits(pattern, line)), "{pattern}\n{}", lines.join("\n"));
    }
    let mut at = 0;
    for section in SECTIONS {
        let found = lines[at..].iter().position(|line| line == section);
        at += found.unwrap_or_else(|| panic!("{section} is missing or out of order"));
        let rule = if at + 2 == lines.len() { "=" } else { "-" };
        assert_eq!(lines[at - 1], "-".repeat(section.len()), "above {section}");
        assert_eq!(lines[at + 1], rule.repeat(section.len()), "below {section}");
    }
    assert_eq!(lines[1], "=".repeat(37));
    assert_eq!(lines[3], "=".repeat(37));
}

#[test]
fn rates_come_from_the_sample_before() {
    let db = database();
    let mut one = session(&db);
    run(&mut one, "CREATE TABLE t (id INT PRIMARY KEY)");
    status(&mut one);
    run(&mut one, "INSERT INTO t VALUES (1), (2), (3)");
    let inserts = |lines: &[String]| {
        let line = lines.iter().find(|line| fits("{x} inserts/s, {*}", line)).expect("the line of rates");
        line.split(' ').next().unwrap().parse::<f64>().unwrap()
    };
    assert!(inserts(&status(&mut one)) > 0.0);
    assert_eq!(inserts(&status(&mut one)), 0.0, "nothing was inserted since the report before");
}

#[test]
fn metrics_as_the_exporter_reads_them() {
    let db = database();
    let mut one = session(&db);
    let column =
        "SELECT column_name FROM information_schema.columns WHERE table_schema = 'information_schema'
                  AND table_name = 'INNODB_METRICS' AND column_name IN ('status', 'enabled') LIMIT 1";
    assert_eq!(run(&mut one, column), "STATUS\n");
    let all = run(
        &mut one,
        "SELECT name, subsystem, type, comment, count FROM information_schema.innodb_metrics WHERE `status` = 'enabled'",
    );
    for name in [
        "lock_deadlocks",
        "lock_timeouts",
        "lock_rec_lock_waits",
        "lock_table_lock_waits",
        "lock_rec_lock_requests",
        "lock_rec_lock_created",
        "lock_rec_lock_removed",
        "lock_rec_locks",
        "lock_table_lock_created",
        "lock_table_lock_removed",
        "lock_table_locks",
        "lock_row_lock_current_waits",
        "lock_row_lock_time",
        "lock_row_lock_time_max",
        "lock_row_lock_waits",
        "lock_row_lock_time_avg",
        "trx_rw_commits",
        "trx_ro_commits",
        "trx_nl_ro_commits",
        "trx_commits_insert_update",
        "trx_rollbacks",
        "trx_rollbacks_savepoint",
        "trx_rseg_history_len",
        "trx_undo_slots_used",
        "trx_undo_slots_cached",
        "trx_rseg_current_size",
        "purge_del_mark_records",
        "purge_upd_exist_or_extern_records",
        "purge_invoked",
        "purge_undo_log_pages",
        "purge_dml_delay_usec",
        "purge_stop_count",
        "purge_resume_count",
        "lock_rec_release_attempts",
        "lock_rec_grant_attempts",
        "lock_schedule_refreshes",
        "lock_deadlock_false_positives",
        "lock_deadlock_rounds",
        "lock_threads_waiting",
        "adaptive_hash_searches",
        "adaptive_hash_searches_btree",
        "adaptive_hash_pages_added",
        "adaptive_hash_pages_removed",
        "adaptive_hash_rows_added",
        "adaptive_hash_rows_removed",
        "adaptive_hash_rows_deleted_no_hash_entry",
        "adaptive_hash_rows_updated",
    ] {
        assert!(all.lines().any(|line| line.starts_with(&format!("{name} | "))), "{name}");
    }
    assert!(all.lines().all(|line| fits("{*} | {*} | {*} | {*} | {n}", line)), "{all}");
}

/// Record locks now and ever; no statement locks a table in the lock table; undo space in pages.
#[test]
fn what_the_metrics_count() {
    let db = database();
    let mut one = session(&db);
    run(&mut one, "CREATE TABLE t (id INT PRIMARY KEY, v INT)");
    run(&mut one, "INSERT INTO t VALUES (1, 1), (2, 2)");
    let count = |session: &mut Session, name: &str| -> u64 {
        let ask = format!("SELECT count FROM information_schema.innodb_metrics WHERE name = '{name}'");
        run(session, &ask).trim().parse().unwrap()
    };
    let before = count(&mut one, "lock_rec_lock_created");
    let mut holder = session(&db);
    run(&mut holder, "BEGIN");
    run(&mut holder, "SELECT * FROM t WHERE id <= 2 FOR UPDATE");
    let rows = count(&mut one, "lock_rec_locks");
    assert!(rows >= 2, "{rows} record locks");
    assert_eq!(count(&mut one, "lock_rec_lock_created") - before, rows);
    let listed =
        run(&mut one, "SELECT COUNT(*) FROM performance_schema.data_locks WHERE LOCK_TYPE = 'RECORD'");
    assert_eq!(format!("{rows}\n"), listed);
    run(&mut holder, "COMMIT");
    assert_eq!((count(&mut one, "lock_rec_locks"), count(&mut one, "lock_table_locks")), (0, 0));
    assert!(count(&mut one, "trx_rseg_current_size") > 0, "the insertion has an undo page");
}

/// A thread that slept once for a latch: one wait, whose time is the sum, the least, the average and the
/// most.
#[test]
fn waits_for_latches_by_name() {
    static CLASS: LatchClass = LatchClass::new("test_of_the_summary");
    let latch = Latch::of_class(&CLASS);
    std::thread::scope(|scope| {
        let writing = latch.write();
        scope.spawn(|| drop(latch.write()));
        while !waiting_now().iter().any(|one| one.class == CLASS.name()) {
            std::thread::yield_now();
        }
        drop(writing);
    });
    let db = database();
    let mut one = session(&db);
    run(&mut one, "CREATE TABLE t (id INT PRIMARY KEY)");
    let all = run(&mut one, "SELECT * FROM performance_schema.events_waits_summary_global_by_event_name");
    for line in all.lines() {
        assert!(fits("wait/synch/{*}/innodb/{*} | {n} | {n} | {n} | {n} | {n}", line), "{line}");
    }
    assert!(all.contains("wait/synch/mutex/innodb/trx_sys_mutex | "), "{all}");
    let own =
        all.lines().find_map(|line| line.strip_prefix("wait/synch/sxlock/innodb/test_of_the_summary | "));
    let numbers: Vec<u64> =
        own.expect("it is listed").split(" | ").map(|number| number.parse().unwrap()).collect();
    let slept = numbers[1];
    assert!(slept > 0);
    assert_eq!(numbers, [1, slept, slept, slept, slept]);
}

#[test]
fn counters_stop_go_on_and_begin_again() {
    let db = database();
    let mut one = session(&db);
    run(&mut one, "CREATE TABLE t (id INT PRIMARY KEY)");
    run(&mut one, "INSERT INTO t VALUES (1), (2)");
    let inserts =
        "SELECT count, count_reset, status FROM information_schema.innodb_metrics WHERE name = 'dml_inserts'";
    let seen = run(&mut one, inserts);
    let count: u64 = seen.split(' ').next().unwrap().parse().unwrap();
    assert_eq!(run(&mut one, "SET GLOBAL innodb_monitor_disable = 'module_dml'"), "ok\n");
    run(&mut one, "INSERT INTO t VALUES (3)");
    assert_eq!(run(&mut one, inserts), format!("{count} | {count} | disabled\n"));
    run(&mut one, "SET GLOBAL innodb_monitor_enable = 'dml_%'");
    run(&mut one, "INSERT INTO t VALUES (4)");
    assert_eq!(run(&mut one, inserts), format!("{} | {} | enabled\n", count + 1, count + 1));
    run(&mut one, "SET GLOBAL innodb_monitor_reset = dml_inserts");
    run(&mut one, "INSERT INTO t VALUES (5)");
    assert_eq!(run(&mut one, inserts), format!("{} | 1 | enabled\n", count + 2));
    run(&mut one, "SET GLOBAL innodb_monitor_disable = 'all'");
    run(&mut one, "SET GLOBAL innodb_monitor_reset_all = 'all'");
    assert_eq!(run(&mut one, inserts), "0 | 0 | disabled\n");
    assert_eq!(
        run(&mut one, "SET GLOBAL innodb_monitor_enable = 'no_such_counter'"),
        "error 1231 Variable 'innodb_monitor_enable' can't be set to the value of 'no_such_counter'\n"
    );
}

#[test]
fn tools_ask_like_this() {
    let db = database();
    let mut one = session(&db);
    for statement in [
        "SHOW GLOBAL STATUS",
        "SHOW /*!40003 GLOBAL*/ STATUS",
        "SHOW /*!40003 GLOBAL*/ VARIABLES",
        "SHOW GLOBAL VARIABLES",
        "SHOW SESSION STATUS LIKE 'Innodb%'",
        "SHOW FULL PROCESSLIST",
        "SHOW ENGINE INNODB STATUS",
        "SELECT user, SUBSTRING_INDEX(host, ':', 1) AS host, COALESCE(command, '') AS command, COALESCE(state, '') AS state,
         COUNT(*) AS processes, SUM(time) AS seconds FROM information_schema.processlist WHERE ID != connection_id() + 1
         AND TIME >= 0 GROUP BY user, host, command, state",
        "SELECT * FROM performance_schema.global_status WHERE VARIABLE_NAME LIKE 'Threads%'",
        "SELECT VARIABLE_VALUE FROM performance_schema.session_variables WHERE VARIABLE_NAME = 'autocommit'",
        "SELECT VARIABLE_VALUE FROM performance_schema.global_variables WHERE VARIABLE_NAME = 'version'",
        "SELECT VARIABLE_VALUE FROM performance_schema.session_status WHERE VARIABLE_NAME = 'Uptime'",
        "SELECT EVENT_NAME, COUNT_STAR, SUM_TIMER_WAIT FROM performance_schema.events_waits_summary_global_by_event_name",
        "SELECT @@version",
        "SELECT @@log_bin",
        "SELECT @@max_allowed_packet",
        "SET lock_wait_timeout=2",
        "SHOW TABLES FROM sys",
        "SHOW TABLES FROM performance_schema LIKE 'data%'",
    ] {
        let given = run(&mut one, statement);
        assert!(!given.is_empty() && !given.starts_with("error"), "{statement}: {given}");
    }
    assert_eq!(run(&mut one, "USE sys"), "ok\n");
    assert_eq!(run(&mut one, "SELECT * FROM innodb_lock_waits"), "");
    assert_eq!(run(&mut one, "SELECT * FROM nope"), "error 1146 Table 'sys.nope' doesn't exist\n");
    assert_eq!(run(&mut one, "SHOW ENGINE archive STATUS"), "error 1286 Unknown storage engine 'archive'\n");
}

/// What mysqld_exporter asks a server with the collectors it has on by default, and what it takes for "not
/// here".
#[test]
fn the_exporter_with_its_defaults() {
    let db = database();
    let mut one = session(&db);
    for statement in [
        "SET lock_wait_timeout=2",
        "SELECT @@version",
        "SHOW GLOBAL STATUS",
        "SHOW GLOBAL VARIABLES",
        "SHOW ENGINE INNODB STATUS",
        "SELECT EVENT_NAME, COUNT_STAR, SUM_TIMER_WAIT FROM performance_schema.events_waits_summary_global_by_event_name",
        "SELECT COALESCE(command,''),COALESCE(state,''),count(*),sum(time) FROM information_schema.processlist
         WHERE ID != connection_id() + 1 AND TIME >= 0 GROUP BY command,state ORDER BY null",
    ] {
        let given = run(&mut one, statement);
        assert!(!given.is_empty() && !given.starts_with("error"), "{statement}: {given}");
    }
    // No page is compressed here, and files are not instrumented.
    for statement in [
        "SELECT page_size, compress_ops, compress_ops_ok, compress_time, uncompress_ops, uncompress_time
         FROM information_schema.innodb_cmp",
        "SELECT page_size, buffer_pool_instance, pages_used, pages_free, relocation_ops, relocation_time
         FROM information_schema.innodb_cmpmem",
        "SELECT * FROM performance_schema.file_summary_by_event_name",
        "SHOW REPLICA STATUS",
        // Files and tables are not instrumented.
        "SELECT EVENT_NAME, COUNT_READ, SUM_TIMER_READ, SUM_NUMBER_OF_BYTES_READ, COUNT_MISC, SUM_TIMER_MISC
         FROM performance_schema.file_summary_by_event_name",
        "SELECT OBJECT_NAME, COUNT_FETCH, SUM_TIMER_DELETE FROM performance_schema.table_io_waits_summary_by_table",
    ] {
        assert_eq!(run(&mut one, statement), "", "{statement}");
    }
    // A server that is not MariaDB answers the first of the two ways to ask for replicas with a syntax error.
    for (statement, code) in [
        ("SHOW ALL SLAVES STATUS", 1064),
        ("SELECT @@query_response_time_stats", 1193),
        ("SELECT * FROM performance_schema.accounts", 1146),
        ("SELECT * FROM information_schema.query_response_time", 1109),
    ] {
        let given = run(&mut one, statement);
        assert!(given.starts_with(&format!("error {code} ")), "{statement}: {given}");
    }
}

#[test]
fn who_may_look() {
    let db = database();
    let mut root = session(&db);
    run(&mut root, "CREATE USER 'bob'@'%' IDENTIFIED BY 'secret'");
    run(&mut root, "GRANT SELECT ON test.* TO 'bob'@'%'");
    let init = SessionInit {
        connection_id: db.registry().next_id(),
        user: "bob".into(),
        host: "10.0.0.7:4000".into(),
        account: AccountName::new("bob", "%"),
        database: Some("test".into()),
        collation: 255,
        found_rows: false,
        multi_statements: false,
    };
    let mut bob = Session::new(db.clone(), init).unwrap();
    let denied =
        "error 1227 Access denied; you need (at least one of) the PROCESS privilege(s) for this operation\n";
    for statement in [
        "SHOW ENGINE INNODB STATUS",
        "SELECT * FROM information_schema.innodb_trx",
        "SELECT * FROM information_schema.innodb_metrics",
        "SELECT * FROM information_schema.innodb_locks",
        "SELECT * FROM information_schema.innodb_lock_waits",
    ] {
        assert_eq!(run(&mut bob, statement), denied, "{statement}");
    }
    assert_eq!(
        run(&mut bob, "SELECT * FROM performance_schema.data_locks"),
        "error 1142 SELECT command denied to user 'bob'@'10.0.0.7' for table 'data_locks'\n"
    );
    let own = "2 | bob | 10.0.0.7:4000 | test | Query | 0 | executing | SHOW PROCESSLIST\n";
    assert_eq!(run(&mut bob, "SHOW PROCESSLIST"), own);
    assert_eq!(run(&mut bob, "SHOW GLOBAL STATUS LIKE 'Threads_connected'"), "Threads_connected | 2\n");
    run(&mut root, "GRANT PROCESS ON *.* TO 'bob'@'%'");
    assert_eq!(run(&mut bob, "SELECT * FROM information_schema.innodb_trx"), "");
    assert_eq!(run(&mut bob, "SHOW PROCESSLIST").lines().count(), 2);
}

#[test]
fn the_latest_foreign_key_error_is_shown() {
    let db = super::database();
    let mut one = super::session(&db);
    assert!(!super::run(&mut one, "SHOW ENGINE INNODB STATUS").contains("LATEST FOREIGN KEY ERROR"));
    for text in [
        "CREATE TABLE p (id INT PRIMARY KEY)",
        "CREATE TABLE c (pid INT, FOREIGN KEY (pid) REFERENCES p (id))",
        "INSERT INTO c VALUES (7)",
    ] {
        super::run(&mut one, text);
    }
    let shown = super::run(&mut one, "SHOW ENGINE INNODB STATUS");
    for line in [
        "LATEST FOREIGN KEY ERROR",
        "Foreign key constraint fails for table `test`.`c`:",
        "  CONSTRAINT `c_ibfk_1` FOREIGN KEY (`pid`) REFERENCES `p` (`id`)",
        "Trying to add in child table, in index pid tuple: (7)",
        "But in parent table `test`.`p`, in index PRIMARY,",
    ] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    for text in ["INSERT INTO p VALUES (7)", "INSERT INTO c VALUES (7)", "DELETE FROM p"] {
        super::run(&mut one, text);
    }
    let shown = super::run(&mut one, "SHOW ENGINE INNODB STATUS");
    assert!(
        shown.contains("Trying to delete or update in parent table, in index PRIMARY tuple: (7)"),
        "{shown}"
    );
    assert!(shown.contains("But in child table `test`.`c`, in index pid, there is a record."), "{shown}");
}
