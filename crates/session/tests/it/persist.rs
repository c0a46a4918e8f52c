//! SET PERSIST and its relatives through SQL: what the next start finds, what is refused, and that a refusal
//! changes nothing.

use turnstile_session::variables::Globals;
use turnstile_sys::fault_disk::{FaultDisk, FaultKind};

use super::*;

/// A start of a server whose directory is this disk.
fn start(disk: &FaultDisk) -> Session {
    let globals = Globals::default();
    globals.configure("max_connections", "77").unwrap();
    globals.load_persisted(Arc::new(disk.clone())).unwrap();
    let engine = Engine::open_memory(Config::default()).unwrap();
    session(&block_on(Database::open_with(engine, globals)).unwrap())
}

/// Who may keep a value may forget it; nobody else.
#[test]
fn what_is_kept_is_forgotten_by_who_may_keep_it() {
    let globals = Globals::default();
    globals.load_persisted(Arc::new(FaultDisk::new(3))).unwrap();
    let engine = Engine::open_memory(Config::default()).unwrap();
    let db = block_on(Database::open_with(engine, globals)).unwrap();
    let mut root = session(&db);
    expect(
        &mut root,
        &[
            ("CREATE USER nobody, v, super", "ok"),
            ("GRANT SYSTEM_VARIABLES_ADMIN ON *.* TO v", "ok"),
            ("GRANT SUPER ON *.* TO super", "ok"),
            ("SET PERSIST net_write_timeout = 60, PERSIST_ONLY back_log = 100", "ok"),
        ],
    );
    let start_words = "SYSTEM_VARIABLES_ADMIN and PERSIST_RO_VARIABLES_ADMIN";
    let refused = |user: &str, statement: &str, code: u16, words: &str| {
        let told = run(&mut as_user(&db, user), statement);
        assert!(told.starts_with(&format!("error {code}")) && told.contains(words), "{statement}: {told}");
    };
    refused("nobody", "RESET PERSIST", 1227, "SUPER or SYSTEM_VARIABLES_ADMIN");
    refused("nobody", "RESET PERSIST IF EXISTS net_write_timeout", 1227, "SUPER or SYSTEM_VARIABLES_ADMIN");
    for user in ["nobody", "v", "super"] {
        refused(user, "RESET PERSIST back_log", 3630, start_words);
    }
    refused("v", "RESET PERSIST", 3630, start_words);
    expect(&mut root, &[(KEPT, "back_log | 100\nnet_write_timeout | 60")]);
    expect(
        &mut as_user(&db, "super"),
        &[("RESET PERSIST net_write_timeout", "ok"), (KEPT, "back_log | 100")],
    );
}

fn expect(session: &mut Session, cases: &[(&str, &str)]) {
    for (statement, wanted) in cases {
        assert_eq!(run(session, statement).trim_end(), *wanted, "{statement}");
    }
}

const KEPT: &str = "SELECT * FROM performance_schema.persisted_variables";

#[test]
fn what_is_persisted_is_there_after_the_next_start_and_wins_over_options() {
    let disk = FaultDisk::new(1);
    expect(
        &mut start(&disk),
        &[
            ("SELECT @@global.max_connections", "77"),
            ("SET PERSIST max_connections = 500, @@persist_only.innodb_purge_threads = 2", "ok"),
            ("SET PERSIST innodb_deadlock_detect = OFF", "ok"),
            ("SET PERSIST_ONLY tx_isolation = 'read-committed'", "ok"),
            (
                "SELECT @@global.max_connections, @@innodb_purge_threads, @@innodb_deadlock_detect",
                "500 | 1 | 0",
            ),
            ("SELECT @@global.transaction_isolation", "REPEATABLE-READ"),
            (
                KEPT,
                "innodb_deadlock_detect | OFF\ninnodb_purge_threads | 2\nmax_connections | 500\ntransaction_isolation | READ-COMMITTED",
            ),
        ],
    );
    let disk = disk.crash();
    expect(
        &mut start(&disk),
        &[
            (
                "SELECT @@global.max_connections, @@innodb_purge_threads, @@innodb_deadlock_detect",
                "500 | 2 | 0",
            ),
            ("SELECT @@transaction_isolation", "READ-COMMITTED"),
            ("RESET PERSIST max_connections", "ok"),
            ("SELECT @@global.max_connections", "500"),
            (
                "RESET PERSIST max_connections",
                "error 3615 Variable max_connections does not exist in persisted config file",
            ),
            ("RESET PERSIST IF EXISTS max_connections", "ok (1 warnings)"),
            (
                "RESET PERSIST no_such_thing",
                "error 3615 Variable no_such_thing does not exist in persisted config file",
            ),
            ("RESET PERSIST TX_ISOLATION", "ok"),
        ],
    );
    let disk = disk.crash();
    expect(
        &mut start(&disk),
        &[("SELECT @@global.max_connections", "77"), ("RESET PERSIST", "ok"), (KEPT, "")],
    );
    assert_eq!(run(&mut start(&disk.crash()), KEPT), "");
}

#[test]
fn what_cannot_be_persisted_is_refused_as_mysql_does_it() {
    let mut session = start(&FaultDisk::new(1));
    expect(
        &mut session,
        &[
            ("SET PERSIST no_such_thing = 1", "error 1193 Unknown system variable 'no_such_thing'"),
            (
                "SET PERSIST_ONLY datadir = '/'",
                "error 1238 Variable 'datadir' is a non persistent read only variable",
            ),
            (
                "SET PERSIST_ONLY init_file = '/tmp/turnstile.log'",
                "error 1238 Variable 'init_file' is a non persistent read only variable",
            ),
            (
                "SET PERSIST_ONLY port = 1",
                "error 1238 Variable 'port' is a non persistent read only variable",
            ),
            (
                "SET PERSIST innodb_purge_threads = 1",
                "error 1238 Variable 'innodb_purge_threads' is a read only variable",
            ),
            (
                "SET PERSIST timestamp = 1",
                "error 1228 Variable 'timestamp' is a SESSION variable and can't be used with SET GLOBAL",
            ),
            (
                "SET PERSIST max_connections = 'x'",
                "error 1232 Incorrect argument type to variable 'max_connections'",
            ),
            (
                "SET PERSIST_ONLY thread_handling = 'x'",
                "error 1231 Variable 'thread_handling' can't be set to the value of 'x'",
            ),
            (
                "SET PERSIST max_connections = 9, PERSIST innodb_deadlock_detect = 2",
                "error 1231 Variable 'innodb_deadlock_detect' can't be set to the value of '2'",
            ),
            ("SELECT @@global.max_connections", "77"),
            (KEPT, ""),
        ],
    );
    let mut without_a_place = super::session(&database());
    expect(
        &mut without_a_place,
        &[("SET PERSIST max_connections = 5", "error 3549 Variables cannot be persisted. Please retry.")],
    );
}

#[test]
fn a_file_that_cannot_be_written_leaves_everything_as_it_was() {
    let disk = FaultDisk::new(1);
    let mut session = start(&disk);
    disk.fail_at(1, FaultKind::NoSpace);
    expect(
        &mut session,
        &[
            ("SET PERSIST max_connections = 500", "error 3549 Variables cannot be persisted. Please retry."),
            ("SELECT @@global.max_connections", "77"),
            (KEPT, ""),
            ("SET PERSIST max_connections = 500", "ok"),
            ("SELECT @@global.max_connections", "500"),
        ],
    );
}

#[test]
fn a_select_ends_when_its_time_is_over_and_the_next_one_has_its_own() {
    let db = database();
    let mut session = session(&db);
    expect(
        &mut session,
        &[
            ("SET max_execution_time = 20", "ok"),
            (
                "SELECT SLEEP(1000)",
                "error 3024 Query execution was interrupted, maximum statement execution time exceeded",
            ),
            ("SELECT 1", "1"),
            ("SET max_execution_time = 0", "ok"),
            ("SELECT SLEEP(0.05)", "0"),
        ],
    );
}
