//! Computed tables go to the client by a short way (`exec/whole.rs`) when a SELECT shows them as they are,
//! and through tuples and values otherwise. Both ways show the same.

use turnstile_session::virtual_table::VirtualTable;

use super::*;

/// What every look changes: counters, clocks, and the text of the statement that looks.
const RESTLESS: [&str; 11] = [
    "PROCESSLIST",
    "GLOBAL_STATUS",
    "SESSION_STATUS",
    "INNODB_METRICS",
    "INNODB_TRX",
    "threads",
    "processlist",
    "global_status",
    "session_status",
    "events_waits_summary_global_by_event_name",
    "events_statements_histogram_global",
];
/// Those that have more rows with each statement that looks.
const GROWING: [&str; 4] = [
    "events_statements_summary_by_digest",
    "events_statements_histogram_by_digest",
    "statement_analysis",
    "x$statement_analysis",
];

/// A shop with a sale under way: locks are held, and a second session is connected.
fn stage() -> (Session, Session) {
    let db = database();
    let (mut buyer, mut looker) = (session(&db), session(&db));
    for statement in [
        "CREATE TABLE t (id INT PRIMARY KEY, a INT, KEY (a))",
        "INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)",
        "BEGIN",
        "UPDATE t SET a = a + 1 WHERE id = 2",
        "SELECT * FROM t WHERE a > 1 FOR UPDATE",
    ] {
        assert!(!run(&mut buyer, statement).starts_with("error"), "{statement}");
    }
    assert_eq!(run(&mut looker, "SELECT 1"), "1\n");
    (buyer, looker)
}

fn first_column(rows: &str) -> Vec<&str> {
    rows.lines().map(|line| line.split(" | ").next().unwrap()).collect()
}

#[test]
fn the_short_way_shows_what_the_long_way_shows() {
    let (_buyer, mut looker) = stage();
    let mut filled = 0;
    for table in VirtualTable::all() {
        let whole = format!("SELECT * FROM {}.{}", table.schema(), table.name());
        let (short, long) = (run(&mut looker, &whole), run(&mut looker, &format!("{whole} LIMIT 1000000")));
        if GROWING.contains(&table.name()) {
            assert!(!short.is_empty() && short.lines().count() < long.lines().count(), "{whole}");
            continue;
        }
        match RESTLESS.contains(&table.name()) {
            true => assert_eq!(first_column(&short), first_column(&long), "{whole}"),
            false => assert_eq!(short, long, "{whole}"),
        }
        filled += usize::from(!short.is_empty());
    }
    assert!(filled > 25, "only {filled} tables have rows");
}

#[test]
fn columns_may_be_chosen_turned_round_and_repeated() {
    let (_buyer, mut looker) = stage();
    let columns = "LOCK_MODE, OBJECT_NAME, LOCK_TYPE, OBJECT_NAME, LOCK_DATA";
    let select = format!("SELECT {columns} FROM performance_schema.data_locks");
    let short = run(&mut looker, &select);
    assert_eq!(short, run(&mut looker, &format!("{select} LIMIT 100")));
    assert!(short.lines().any(|line| line == "IX | t | TABLE | t | NULL"), "{short}");
    // What is not a column, and what is tested, goes the long way.
    assert_eq!(run(&mut looker, "SELECT 1 + 1, ENGINE FROM information_schema.engines"), "2 | InnoDB\n");
    let none = "SELECT ENGINE FROM information_schema.engines WHERE ENGINE = 'MyISAM'";
    assert_eq!(run(&mut looker, none), "");
    assert_eq!(run(&mut looker, "SELECT FOUND_ROWS()"), "0\n(1 warnings)\n");
    assert_eq!(run(&mut looker, "SELECT ENGINE FROM information_schema.engines"), "InnoDB\n");
    assert_eq!(run(&mut looker, "SELECT FOUND_ROWS()"), "1\n(1 warnings)\n");
}

#[test]
fn a_long_statement_is_cut_unless_the_list_is_full() {
    let (_buyer, mut looker) = stage();
    let long = format!("SHOW PROCESSLIST /* {} */", "ä".repeat(200));
    let shown = |text: &str| text.lines().last().unwrap().split(" | ").last().unwrap().to_owned();
    assert_eq!(shown(&run(&mut looker, &long)), long.chars().take(100).collect::<String>());
    let full = long.replace("SHOW", "SHOW FULL");
    assert_eq!(shown(&run(&mut looker, &full)), full);
    let like = run(&mut looker, "SHOW GLOBAL STATUS LIKE 'Threads_conn%'");
    assert_eq!(like, "Threads_connected | 2\n");
    assert_eq!(
        run(&mut looker, "SHOW STATUS WHERE Variable_name = 'Threads_running'"),
        "Threads_running | 1\n"
    );
}
