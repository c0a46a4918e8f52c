//! Row locks take memory to the end of their transaction, however many statements it has: they are charged to
//! the session.

use super::*;

const LIMIT: &str = "SET SESSION connection_memory_limit = 2097152";

/// Tables of 9000 rows, whose locks take more than the limit.
fn stage() -> (Arc<Database>, Session) {
    let db = database();
    let mut session = session(&db);
    let texts = [
        "CREATE TABLE big (i INT PRIMARY KEY, k INT, KEY (k))",
        "CREATE TABLE one (i INT PRIMARY KEY)",
        "CREATE TABLE child (i INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES one (i) ON DELETE CASCADE)",
        "CREATE TABLE few (i INT PRIMARY KEY, b INT, FOREIGN KEY (b) REFERENCES big (i))",
        "CREATE TABLE copy (i INT PRIMARY KEY, k INT)",
        "CREATE TABLE heap (i INT)",
        "CREATE TABLE wide (t VARCHAR(700) CHARACTER SET latin1 PRIMARY KEY)",
        "INSERT INTO one VALUES (1)",
    ];
    texts.iter().for_each(|text| assert!(run(&mut session, text).starts_with("ok"), "{text}"));
    let rows: Vec<String> = (0..9000).map(|i| format!("({i}, {i})")).collect();
    let rows = rows.join(",");
    assert!(run(&mut session, &format!("INSERT INTO big VALUES {rows}")).starts_with("ok 9000"));
    assert!(run(&mut session, "INSERT INTO child SELECT i, 1 FROM big").starts_with("ok 9000"));
    let wide = "INSERT INTO wide SELECT CONCAT(REPEAT('a', 690), i) FROM big WHERE i < 1800";
    assert!(run(&mut session, wide).starts_with("ok 1800"));
    (db, session)
}

fn is_refused(given: &str) -> bool {
    given.lines().last().is_some_and(|last| last.starts_with("error 4082 Connection memory limit 2097152"))
}

#[test]
fn a_statement_that_locks_too_many_rows_is_undone() {
    let (db, mut session) = stage();
    let mut other = super::session(&db);
    assert_eq!(run(&mut session, LIMIT), "ok\n");
    let statements = [
        "INSERT INTO heap SELECT i FROM big",
        "INSERT INTO copy SELECT i, k FROM big",
        "REPLACE INTO copy SELECT i, k FROM big",
        "INSERT INTO copy SELECT i, k FROM big ON DUPLICATE KEY UPDATE k = 1",
        "INSERT INTO few SELECT i, i FROM big",
        "UPDATE big SET k = k + 1",
        "UPDATE big SET i = i + 10000",
        "UPDATE big JOIN one ON one.i = 1 SET k = k + 1",
        "DELETE FROM child",
        "DELETE FROM one",
        "SELECT COUNT(*) FROM big FOR UPDATE",
        "SELECT COUNT(*) FROM big WHERE k >= 0 FOR SHARE",
        "SELECT COUNT(*) FROM wide FOR UPDATE",
    ];
    for statement in statements {
        let given = run(&mut session, statement);
        assert!(is_refused(&given), "{statement}: {given:.200}");
        assert_eq!(db.memory().used(), 0, "{statement} keeps memory");
        assert!(
            run(&mut other, "UPDATE big SET k = -1 - k WHERE i = 8999").starts_with("ok 1"),
            "{statement}"
        );
    }
    let left = "SELECT (SELECT COUNT(*) FROM heap), (SELECT COUNT(*) FROM copy), (SELECT COUNT(*) FROM few), \
                (SELECT SUM(k) FROM big WHERE i < 8999), (SELECT COUNT(*) FROM child), (SELECT COUNT(*) FROM one)";
    assert_eq!(run(&mut session, left), "0 | 0 | 0 | 40486501 | 9000 | 1\n", "what was begun is undone");
    run(&mut session, "SET SESSION connection_memory_limit = DEFAULT");
    assert!(run(&mut session, "UPDATE big SET k = k + 1").starts_with("ok 9000"));
    assert_eq!(db.memory().used(), 0);
}

#[test]
fn locks_of_earlier_statements_count_until_the_transaction_ends() {
    let (db, mut session) = stage();
    let mut other = super::session(&db);
    assert_eq!(run(&mut session, LIMIT), "ok\n");
    for end in ["COMMIT", "ROLLBACK"] {
        assert_eq!(run(&mut session, "BEGIN"), "ok\n");
        assert!(
            run(&mut session, "INSERT INTO copy SELECT i, k FROM big WHERE i < 3300").starts_with("ok 3300")
        );
        assert!(run(&mut session, "SAVEPOINT s").starts_with("ok"));
        let second = "INSERT INTO copy SELECT i, k FROM big WHERE i >= 3300 AND i < 6600";
        assert!(is_refused(&run(&mut session, second)), "it would have room alone");
        assert_eq!(run(&mut session, "SELECT COUNT(*) FROM copy"), "3300\n", "the statement alone is undone");
        assert!(run(&mut session, "ROLLBACK TO s").starts_with("ok"));
        assert!(is_refused(&run(&mut session, second)), "a savepoint keeps locks");
        assert!(run(&mut other, "INSERT INTO heap VALUES (1)").starts_with("ok 1"));
        assert_eq!(run(&mut session, end), "ok\n");
        assert_eq!(db.memory().used(), 0, "{end}");
        assert!(run(&mut session, second).starts_with("ok 3300"), "{end}");
        run(&mut session, "DELETE FROM copy WHERE i < 3300");
        run(&mut session, "DELETE FROM copy WHERE i >= 3300");
    }
    assert_eq!(run(&mut session, "BEGIN"), "ok\n");
    run(&mut session, "SET SESSION connection_memory_limit = DEFAULT");
    assert_eq!(run(&mut session, "SELECT COUNT(*) FROM big FOR UPDATE"), "9000\n");
    assert!(db.memory().used() > 0);
    drop(session);
    assert_eq!(db.memory().used(), 0, "who leaves takes nothing along");
}

#[test]
fn locks_of_all_sessions_together_have_a_limit() {
    let (db, mut one) = stage();
    let (mut two, mut reader) = (session(&db), session(&db));
    assert_eq!(run(&mut one, "SET GLOBAL global_connection_memory_limit = 16777216"), "ok\n");
    assert_eq!(run(&mut one, "SET @a = REPEAT('a', 7000000)"), "ok\n");
    assert_eq!(run(&mut one, "SET @b = REPEAT('a', 3000000)"), "ok\n");
    assert_eq!(run(&mut two, "BEGIN"), "ok\n");
    let locking = [
        "SELECT COUNT(*) FROM big FOR UPDATE",
        "SELECT COUNT(*) FROM child FOR UPDATE",
        "SELECT COUNT(k) FROM big WHERE k >= 0 FOR UPDATE",
    ];
    let given: Vec<String> = locking.iter().map(|statement| run(&mut two, statement)).collect();
    assert_eq!(given[0], "9000\n");
    let refusal = "error 4081 Global connection memory limit 16777216";
    assert!(given.iter().any(|given| given.starts_with(refusal)), "{given:?}");
    assert_eq!(run(&mut reader, "SELECT COUNT(*) FROM big"), "9000\n");
    assert_eq!(run(&mut one, "SET @a = NULL, @b = NULL"), "ok\n");
    for statement in locking {
        assert_eq!(run(&mut two, statement), "9000\n");
    }
}

/// The lists of locks copy them all: that is memory too, of whoever looks.
#[test]
fn who_looks_at_many_locks_is_charged() {
    let (db, mut one) = stage();
    let mut two = session(&db);
    assert_eq!(run(&mut one, "BEGIN"), "ok\n");
    assert_eq!(run(&mut one, "SELECT COUNT(*) FROM big FOR UPDATE"), "9000\n");
    let lists = ["data_locks", "data_lock_waits"];
    for list in lists {
        let text = format!("SELECT COUNT(*) >= 0 FROM performance_schema.{list}");
        assert_eq!(run(&mut two, &text), "1\n");
    }
    let held = db.memory().used();
    assert_eq!(run(&mut two, LIMIT), "ok\n");
    assert!(is_refused(&run(&mut two, "SELECT COUNT(*) FROM performance_schema.data_locks")), "its rows");
    assert_eq!(run(&mut two, "SET GLOBAL global_connection_memory_limit = 16777216"), "ok\n");
    run(&mut two, "SET SESSION connection_memory_limit = DEFAULT");
    let is_full =
        |nth: u32| run(&mut two, &format!("SET @fill{nth} = REPEAT('a', 200000)")).starts_with("error 4081");
    assert!((0..100).any(is_full));
    for list in [
        "performance_schema.data_locks",
        "performance_schema.data_lock_waits",
        "information_schema.innodb_trx",
    ] {
        let given = run(&mut two, &format!("SELECT COUNT(*) FROM {list}"));
        assert!(given.starts_with("error 4081"), "{list}: {given:.200}");
    }
    assert!(run(&mut two, "SHOW ENGINE INNODB STATUS").starts_with("error 4081"));
    drop(two);
    assert!(db.memory().used() <= held, "{} bytes of {held}", db.memory().used());
}

/// ALTER TABLE copies rows some at a time, however long they are.
#[test]
fn a_copy_of_long_rows_fits_the_limit() {
    let (db, mut session) = stage();
    run(&mut session, "CREATE TABLE long_rows (i INT PRIMARY KEY, t LONGTEXT)");
    run(&mut session, "INSERT INTO long_rows SELECT i, REPEAT('a', 100000) FROM big WHERE i < 100");
    assert_eq!(run(&mut session, "SET SESSION connection_memory_limit = 8388608"), "ok\n");
    let copied = run(&mut session, "ALTER TABLE long_rows MODIFY i BIGINT");
    assert!(copied.starts_with("ok 100"), "{copied}");
    run(&mut session, "INSERT INTO long_rows VALUES (100, REPEAT('a', 1500000))");
    run(&mut session, "SET SESSION connection_memory_limit = 2097152");
    assert!(is_refused(&run(&mut session, "ALTER TABLE long_rows MODIFY i INT")));
    assert_eq!(run(&mut session, "SELECT COUNT(*) FROM long_rows"), "101\n");
    assert_eq!(db.memory().used(), 0);
}
