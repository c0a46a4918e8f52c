//! AUTO_INCREMENT over restarts: after a clean stop, a killed process and a power cut the next value is the
//! one that MySQL 8 gives, whether the row with the greatest one is still there or not, and whether purge has
//! been there or not.

use turnstile_sys::fault_disk::{FaultDisk, FaultKind};

use super::*;

fn start(disk: &FaultDisk) -> (Arc<Database>, Session) {
    let config = Config { buffer_pool_bytes: 2 << 20, redo_capacity_bytes: 1 << 20, ..Config::default() };
    let engine = Engine::open_quiet(Arc::new(disk.clone()), config).unwrap();
    let db = block_on(Database::open(engine)).unwrap();
    let session = session(&db);
    (db, session)
}

fn all(session: &mut Session, statements: &str) {
    for statement in statements.split(';').map(str::trim).filter(|one| !one.is_empty()) {
        let outcome = run(session, statement);
        assert!(!outcome.starts_with("error"), "{statement}: {outcome}");
    }
}

#[derive(Clone, Copy, Debug)]
enum End {
    Clean,
    Killed,
    PowerCut,
}

/// Ends a life.
fn end(disk: &FaultDisk, (db, session): (Arc<Database>, Session), end: End, purge: bool) -> FaultDisk {
    drop(session);
    if purge {
        db.engine().purge_all().unwrap();
    }
    match end {
        End::Clean => {
            db.engine().close().unwrap();
            disk.crash()
        }
        End::Killed => disk.kill(),
        End::PowerCut => disk.crash(),
    }
}

/// What is done to `t (id INT AUTO_INCREMENT PRIMARY KEY, v INT)` with rows 1 to 3, and the value of the row
/// inserted after it. MySQL 9.7 has told these.
const CASES: &[(&str, u64)] = &[
    ("", 4),
    ("DELETE FROM t WHERE id = 3", 4),
    ("DELETE FROM t", 4),
    ("TRUNCATE t", 1),
    ("INSERT INTO t VALUES (100, 1); DELETE FROM t WHERE id = 100", 101),
    ("INSERT INTO t (v) VALUES (1), (2), (3), (4), (5); DELETE FROM t", 9),
    ("INSERT INTO t (v) SELECT v FROM t; DELETE FROM t", 7),
    ("BEGIN; INSERT INTO t (v) VALUES (1); DELETE FROM t WHERE id = 4; COMMIT", 5),
    ("BEGIN; INSERT INTO t VALUES (7, 1); DELETE FROM t; COMMIT; INSERT INTO t VALUES (5, 1)", 8),
    ("INSERT INTO t VALUES (20, 1); INSERT INTO t VALUES (10, 1); DELETE FROM t", 21),
    ("UPDATE t SET id = 100 WHERE id = 1; DELETE FROM t WHERE id = 100", 101),
    ("UPDATE t SET id = id + 10 WHERE id > 1 ORDER BY id DESC; DELETE FROM t", 14),
    ("UPDATE t SET v = 9; DELETE FROM t", 4),
    ("INSERT INTO t VALUES (3, 1) ON DUPLICATE KEY UPDATE id = 60; DELETE FROM t", 61),
    ("REPLACE INTO t VALUES (30, 1); DELETE FROM t", 31),
    ("DELETE FROM t; ALTER TABLE t AUTO_INCREMENT = 1", 1),
    ("DELETE FROM t WHERE id = 3; ALTER TABLE t AUTO_INCREMENT = 1", 3),
    ("DELETE FROM t WHERE id = 3; ALTER TABLE t AUTO_INCREMENT = 0", 3),
    ("ALTER TABLE t AUTO_INCREMENT = 50", 50),
    ("ALTER TABLE t AUTO_INCREMENT = 50; ALTER TABLE t AUTO_INCREMENT = 2", 4),
    (
        "ALTER TABLE t AUTO_INCREMENT = 500; INSERT INTO t (v) VALUES (1); DELETE FROM t; ALTER TABLE t AUTO_INCREMENT = 7",
        7,
    ),
    ("DELETE FROM t; ALTER TABLE t ADD COLUMN w INT FIRST", 4),
    ("DELETE FROM t; ALTER TABLE t FORCE", 4),
    ("DELETE FROM t; ALTER TABLE t MODIFY id BIGINT AUTO_INCREMENT", 4),
    ("DELETE FROM t; ALTER TABLE t MODIFY id BIGINT AUTO_INCREMENT, AUTO_INCREMENT = 1", 1),
    ("DELETE FROM t WHERE id = 3; ALTER TABLE t MODIFY id BIGINT AUTO_INCREMENT, AUTO_INCREMENT = 1", 3),
    ("DELETE FROM t; ALTER TABLE t ADD KEY (v); ALTER TABLE t DROP KEY v", 4),
    ("DELETE FROM t; RENAME TABLE t TO u; RENAME TABLE u TO t", 4),
    ("DROP TABLE t; CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v INT)", 1),
    ("DROP TABLE t; CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v INT) AUTO_INCREMENT = 30", 30),
    (
        "DROP TABLE t; CREATE TABLE t (v INT, id INT AUTO_INCREMENT, KEY (id)); INSERT INTO t (v) VALUES (1), (2); DELETE FROM t",
        3,
    ),
    (
        "DROP TABLE t; CREATE TABLE t (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, v INT); INSERT INTO t VALUES (18446744073709551610, 1); DELETE FROM t",
        18_446_744_073_709_551_611,
    ),
];

/// The next value as SHOW CREATE TABLE tells it; it leaves 1 out.
fn shown_next(session: &mut Session) -> u64 {
    let text = run(session, "SHOW CREATE TABLE t");
    let number = text.split(") ENGINE=InnoDB AUTO_INCREMENT=").nth(1);
    number.map_or(1, |text| text.split(' ').next().unwrap().parse().unwrap())
}

#[test]
fn a_counter_outlives_every_end_of_a_life() {
    for (nth, &(statements, wanted)) in CASES.iter().enumerate() {
        for ended in [End::Clean, End::Killed, End::PowerCut] {
            for purge in [true, false] {
                let mut disk = FaultDisk::new(nth as u64);
                let mut life = start(&disk);
                all(
                    &mut life.1,
                    "CREATE DATABASE IF NOT EXISTS test; CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v INT)",
                );
                all(
                    &mut life.1,
                    "INSERT INTO t (v) VALUES (1); INSERT INTO t (v) VALUES (2); INSERT INTO t (v) VALUES (3)",
                );
                // A life that only deletes must hand on what the one before it has found.
                for (life_nth, statements) in
                    [statements, "DELETE FROM t WHERE v = 77", ""].into_iter().enumerate()
                {
                    all(&mut life.1, statements);
                    if life_nth > 0 && purge {
                        life.0.engine().purge_all().unwrap();
                    }
                    disk = end(&disk, life, ended, purge);
                    life = start(&disk);
                    let place = format!("{statements:?} of {:?}, {ended:?}, purged {purge}", CASES[nth].0);
                    if !statements.contains("DROP TABLE") || wanted != 30 {
                        assert_eq!(shown_next(&mut life.1), wanted, "shown after {place}");
                    }
                }
                let id = run(&mut life.1, "INSERT INTO t (v) VALUES (77)");
                assert_eq!(
                    id,
                    format!("ok 1 id={wanted}\n"),
                    "{:?}, {ended:?}, purged {purge}",
                    CASES[nth].0
                );
                disk = end(&disk, life, ended, purge);
                let (_, mut session) = start(&disk);
                let next = run(&mut session, "INSERT INTO t (v) VALUES (78)");
                assert_eq!(next, format!("ok 1 id={}\n", wanted + 1), "{:?}, and again", CASES[nth].0);
            }
        }
    }
}

/// The power is cut at every operation of a disk in turn, while rows come and go at once: what was
/// acknowledged is not given again.
#[test]
fn no_value_of_a_committed_row_is_given_twice() {
    let mut most = 0;
    for nth in 1.. {
        let disk = FaultDisk::new(nth);
        let (_, mut session) = start(&disk);
        all(
            &mut session,
            "CREATE DATABASE IF NOT EXISTS test; CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v INT)",
        );
        disk.fail_from(nth, FaultKind::InputOutput);
        let mut committed = 0;
        for _ in 0..12 {
            let outcome = run(&mut session, "INSERT INTO t (v) VALUES (1)");
            let Some(id) = outcome.trim_end().split("id=").nth(1) else { break };
            committed = id.parse().unwrap();
            run(&mut session, "DELETE FROM t");
        }
        drop(session);
        let (_, mut session) = start(&disk.crash());
        let outcome = run(&mut session, "INSERT INTO t (v) VALUES (1)");
        let next: u64 = outcome.trim_end().split("id=").nth(1).unwrap().parse().unwrap();
        assert!(next > committed, "{next} after {committed}, cut at operation {nth}");
        assert!(next <= committed + 2, "{next} after {committed}: numbers were skipped");
        most = most.max(committed);
        if committed == 12 {
            break;
        }
    }
    assert_eq!(most, 12);
}

/// Hidden row numbers of a life begin behind every row there is, also behind one whose deletion may be taken
/// back.
#[test]
fn a_hidden_number_is_not_that_of_a_row_that_comes_back() {
    let disk = FaultDisk::new(3);
    let mut life = start(&disk);
    all(
        &mut life.1,
        "CREATE DATABASE IF NOT EXISTS test; CREATE TABLE h (a INT); INSERT INTO h VALUES (1), (2)",
    );
    let disk = end(&disk, life, End::Clean, true);
    let (db, mut deleting) = start(&disk);
    let mut inserting = session(&db);
    // No gap is locked, so nobody has to wait for anybody.
    for session in [&mut deleting, &mut inserting] {
        all(
            session,
            "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED; SET innodb_lock_wait_timeout = 1",
        );
    }
    all(&mut deleting, "BEGIN; DELETE FROM h WHERE a = 2");
    all(&mut inserting, "INSERT INTO h VALUES (3)");
    all(&mut deleting, "ROLLBACK");
    assert_eq!(run(&mut inserting, "SELECT a FROM h ORDER BY a"), "1\n2\n3\n");
}

/// Statements that leave no row, or not the one they meant, on
/// `t (id INT AUTO_INCREMENT PRIMARY KEY, v INT, UNIQUE (v))` with rows 1 to 3, and the value of the row
/// inserted in the next life. MySQL 9.7 has told these over a clean restart.
const REFUSED: &[(&str, u64)] = &[
    ("INSERT INTO t (v) VALUES (3)", 5),
    ("INSERT INTO t (v) VALUES (8), (3)", 6),
    ("INSERT INTO t (v) VALUES (8), (9), (3), (10)", 7),
    ("INSERT INTO t VALUES (50, 3)", 51),
    ("INSERT INTO t (v) SELECT v FROM t AS o", 5),
    ("BEGIN; INSERT INTO t (v) VALUES (9); ROLLBACK", 5),
    ("BEGIN; INSERT INTO t VALUES (60, 9); ROLLBACK", 61),
    ("INSERT IGNORE INTO t (v) VALUES (3)", 5),
    ("INSERT INTO t (v) VALUES (3) ON DUPLICATE KEY UPDATE v = 3", 5),
    ("REPLACE INTO t (v) VALUES (3)", 5),
];

/// A number that was given to a row is not given again, whatever became of the row and whatever ended the
/// life.
#[test]
fn the_number_of_a_row_that_was_refused_is_not_given_again() {
    for &(statements, wanted) in REFUSED {
        for ended in [End::Clean, End::Killed, End::PowerCut] {
            let disk = FaultDisk::new(wanted);
            let mut life = start(&disk);
            all(
                &mut life.1,
                "CREATE DATABASE IF NOT EXISTS test; CREATE TABLE other (a INT);
                 CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v INT, UNIQUE KEY (v))",
            );
            for row in 1..=3 {
                all(&mut life.1, &format!("INSERT INTO t (v) VALUES ({row})"));
            }
            for statement in statements.split("; ") {
                run(&mut life.1, statement);
            }
            // What comes before a commit is as durable as that.
            all(&mut life.1, "INSERT INTO other VALUES (1)");
            let disk = end(&disk, life, ended, false);
            let (_, mut session) = start(&disk);
            let next = run(&mut session, "INSERT INTO t (v) VALUES (77)");
            assert_eq!(next, format!("ok 1 id={wanted}\n"), "{statements}, {ended:?}");
        }
    }
}
