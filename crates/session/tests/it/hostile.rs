//! Statements that ask for more memory or time than anybody should have: each ends with an error, yields
//! meanwhile, and leaves a server behind that goes on.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Waker;

use super::depth::on_a_workers_stack;
use super::yields::worked;
use super::*;

/// A table `n` of 3,000 rows and an empty one.
fn stage() -> (Arc<Database>, Session) {
    let db = database();
    let mut session = session(&db);
    run(&mut session, "CREATE TABLE n (i INT PRIMARY KEY, k INT)");
    let rows: Vec<String> = (0..3000).map(|i| format!("({i}, {})", i * 7919 % 3000)).collect();
    assert!(run(&mut session, &format!("INSERT INTO n VALUES {}", rows.join(","))).starts_with("ok 3000"));
    run(&mut session, "CREATE TABLE copy (t LONGTEXT)");
    (db, session)
}

#[test]
fn what_takes_too_much_memory_ends_and_gives_it_back() {
    let (db, mut session) = stage();
    run(&mut session, "SET SESSION connection_memory_limit = 4194304, group_concat_max_len = 100000000");
    let statements = [
        "SELECT LENGTH(CONCAT(REPEAT('a', 3000000), REPEAT('b', 3000000)))",
        "SELECT REPEAT('a', 3000000), REPEAT('b', 3000000)",
        "SELECT REPEAT('a', 3000000) = (REPEAT('b', 3000000) = REPEAT('c', 3000000))",
        "SELECT JSON_ARRAY(REPEAT('a', 3000000), REPEAT('b', 3000000))",
        "SELECT JSON_LENGTH(CONCAT('[', REPEAT('0,', 200000), '0]'))",
        "SELECT GROUP_CONCAT(REPEAT(i, 2000) ORDER BY i) FROM n",
        "WITH RECURSIVE r AS (SELECT 1 AS a, CAST('' AS CHAR(8000)) AS s UNION SELECT a + 1, REPEAT(a, 2000) FROM r \
         WHERE a < 999) SELECT COUNT(*) FROM r",
        "SELECT MAX(r) FROM (SELECT LAG(REPEAT(i, 2000)) OVER (ORDER BY i) AS r FROM n) t",
        "SELECT ROW_NUMBER() OVER (ORDER BY REPEAT(i, 2000)) FROM n",
        "SELECT COUNT(*) FROM n WHERE 'q' IN (SELECT REPEAT(i, 2000) FROM n)",
        "SET @a = CONCAT(REPEAT('a', 3000000)), @b = CONCAT(REPEAT('a', 3000000))",
    ];
    for statement in statements {
        let given = run(&mut session, statement);
        let last = given.lines().last().unwrap_or_default();
        assert!(
            last.starts_with("error 4082 Connection memory limit 4194304 bytes exceeded."),
            "{statement}: {last:.200}"
        );
        assert_eq!(run(&mut session, "SET @a = NULL, @b = NULL"), "ok\n");
        assert_eq!(db.memory().used(), 0, "{statement} keeps memory");
        assert_eq!(run(&mut session, "SELECT COUNT(*) FROM n"), "3000\n");
    }
    let fails = "INSERT INTO copy SELECT GROUP_CONCAT(REPEAT(i, 2000) ORDER BY i) FROM n";
    assert!(run(&mut session, fails).starts_with("error 4082 "));
    assert_eq!(run(&mut session, "SELECT COUNT(*) FROM copy"), "0\n", "what was begun is undone");
    // These put their rows into files.
    for (statement, end) in [
        ("SELECT REPEAT(i, 2000) AS x FROM n ORDER BY x", "999\n"),
        ("SELECT REPEAT(i, 2000) AS x, COUNT(*) FROM n GROUP BY x ORDER BY x", "999 | 1\n"),
        ("SELECT MAX(REPEAT(i, 2000)), i FROM n GROUP BY i", "2999 | 2999\n"),
        ("SELECT COUNT(*) FROM (SELECT DISTINCT REPEAT(i, 2000) FROM n) d", "3000\n"),
        ("SELECT REPEAT(i, 2000) FROM n UNION SELECT REPEAT(i, 2000) FROM n ORDER BY 1", "999\n"),
        ("SELECT REPEAT(i, 2000) FROM n EXCEPT SELECT REPEAT(i, 2000) FROM n", ""),
        (
            "SELECT COUNT(*) FROM (SELECT REPEAT(i, 2000) FROM n INTERSECT SELECT REPEAT(i, 2000) FROM n) q",
            "3000\n",
        ),
        ("SELECT COUNT(DISTINCT REPEAT(i, 2000)) FROM n", "3000\n"),
        (
            "SELECT COUNT(*), MAX(LENGTH(x)) FROM n AS b JOIN (SELECT k, REPEAT(i, 2000) AS x FROM n) AS a ON a.k = b.k",
            "3000 | 8000\n",
        ),
        (
            "WITH w AS (SELECT k, REPEAT(i, 2000) AS x FROM n LIMIT 3000) \
             SELECT COUNT(*) FROM w AS a JOIN w AS b ON a.k = b.k",
            "3000\n",
        ),
        (
            "INSERT INTO copy SELECT REPEAT(i, 2000) FROM n",
            "ok 3000 (Records: 3000  Duplicates: 0  Warnings: 0)\n",
        ),
    ] {
        let given = run(&mut session, statement);
        let last = given.lines().last().unwrap_or_default();
        assert!(given.ends_with(end), "{statement}: {last:.200}");
        assert_eq!(db.memory().used(), 0, "{statement} keeps memory");
    }
    run(&mut session, "SET SESSION connection_memory_limit = DEFAULT");
    assert_eq!(run(&mut session, "SELECT COUNT(DISTINCT REPEAT(i, 2000)) FROM n"), "3000\n");
}

/// Rounds go to a file, however many they are.
#[test]
fn rounds_of_with_recursive_take_little_memory() {
    let (db, mut session) = stage();
    run(&mut session, "SET SESSION connection_memory_limit = 2097152, cte_max_recursion_depth = 1000000");
    let count = |rows: usize| {
        format!(
            "WITH RECURSIVE r AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM r WHERE a < {rows}) SELECT COUNT(*) FROM r"
        )
    };
    assert_eq!(run(&mut session, &count(4000)), "4000\n");
    assert_eq!(run(&mut session, &count(30_000)), "30000\n");
    assert_eq!(db.memory().used(), 0);
}

/// JSON_ARRAYAGG and JSON_OBJECTAGG keep nothing of a document that has become too long.
#[test]
fn documents_of_groups_end_at_the_longest_packet() {
    let (db, mut first) = stage();
    run(&mut first, "SET GLOBAL max_allowed_packet = 100352");
    let mut session = session(&db);
    run(&mut session, "SET SESSION connection_memory_limit = 2097152");
    for call in ["JSON_ARRAYAGG(REPEAT(i, 2000))", "JSON_OBJECTAGG(i, REPEAT(k, 2000))"] {
        let few = run(&mut session, &format!("SELECT LENGTH({call}) > 20000 FROM n WHERE i < 10"));
        assert_eq!(few, "1\n", "{call}");
        assert_eq!(run(&mut session, &format!("SELECT {call} FROM n")), "NULL\n(1 warnings)\n", "{call}");
        let warned = run(&mut session, "SHOW WARNINGS");
        assert!(
            warned.contains("1301") && warned.contains("larger than max_allowed_packet (100352)"),
            "{warned}"
        );
    }
    // What a later member replaces counts no more.
    assert_eq!(run(&mut session, "SELECT LENGTH(JSON_OBJECTAGG(1, REPEAT(i % 10, 2000))) FROM n"), "2009\n");
    assert_eq!(db.memory().used(), 0);
}

/// What a session keeps from one statement to the next: prepared statements, savepoints, named locks.
#[test]
fn what_a_session_keeps_is_counted() {
    let (db, mut session) = stage();
    run(&mut session, "SET SESSION connection_memory_limit = 4194304");
    let is_full = |given: &str| given.starts_with("error 4082");
    run(&mut session, "SET @text = CONCAT('SELECT 1 IN (', REPEAT('1,', 2000), '1)')");
    let refused = (0..1000).find(|nth| is_full(&run(&mut session, &format!("PREPARE p{nth} FROM @text"))));
    assert!(refused.is_some_and(|nth| nth > 1), "prepared statements: {refused:?}");
    for nth in 0..refused.unwrap_or_default() {
        assert_eq!(run(&mut session, &format!("DEALLOCATE PREPARE p{nth}")), "ok\n");
    }
    let piece = "a".repeat(60_000);
    (0..65).for_each(|nth| assert_eq!(run(&mut session, &format!("SET @fill{nth} = '{piece}'")), "ok\n"));
    run(&mut session, "BEGIN");
    let name = "s".repeat(60);
    let refused = (0..9000).find(|nth| is_full(&run(&mut session, &format!("SAVEPOINT {name}{nth}"))));
    assert!(refused.is_some_and(|nth| nth > 100), "savepoints: {refused:?}");
    run(&mut session, "ROLLBACK");
    let locks = "SELECT COUNT(GET_LOCK(CONCAT(a.i, '-', b.i), 0)) FROM n a, n b";
    assert!(is_full(&run(&mut session, locks)), "named locks");
    assert!(run(&mut session, "SELECT RELEASE_ALL_LOCKS() > 10").ends_with("1\n"));
    (0..65).for_each(|nth| assert_eq!(run(&mut session, &format!("SET @fill{nth} = NULL")), "ok\n"));
    let wide = format!("SELECT {}1", "1,".repeat(200_000));
    assert!(is_full(&run(&mut session, &wide)), "a wide statement");
    let list: Vec<String> = (0..40_000).map(|i| format!("'{i}'")).collect();
    let lookup = format!("SELECT COUNT(*) FROM n WHERE CONCAT(i) IN ({})", list.join(","));
    assert!(is_full(&run(&mut session, &lookup)), "a list");
    run(&mut session, "SET @text = NULL");
    assert_eq!(db.memory().used(), 0);
    assert_eq!(run(&mut session, "SELECT 1"), "1\n");
}

#[test]
fn all_sessions_together_have_a_limit() {
    let (db, mut one) = stage();
    let mut other = session(&db);
    run(&mut one, "SET GLOBAL global_connection_memory_limit = 16777216");
    // A value is in memory twice while it is made.
    assert_eq!(run(&mut one, "SET @a = REPEAT('a', 7000000)"), "ok\n");
    let given = run(&mut other, "SET @a = REPEAT('a', 7000000)");
    assert!(
        given.starts_with("error 4081 Global connection memory limit 16777216 bytes exceeded."),
        "{given}"
    );
    drop(one);
    assert_eq!(db.memory().used(), 0, "who leaves takes nothing along");
    assert_eq!(run(&mut other, "SET @a = REPEAT('a', 7000000)"), "ok\n");
}

#[test]
fn limits_that_nobody_sets_follow_from_the_machine() {
    let (_db, mut session) = stage();
    let sane = "SELECT @@global.global_connection_memory_limit < 1 << 50, @@connection_memory_limit * 2 <= @@global.global_connection_memory_limit";
    assert_eq!(run(&mut session, sane), "1 | 1\n");
}

/// Each would run for long. They yield, so the other session is answered in between; KILL QUERY then ends
/// them.
#[test]
fn what_takes_long_lets_others_in_and_can_be_ended() {
    let (db, mut hostile) = stage();
    let mut other = session(&db);
    let long = "CONCAT(REPEAT('a', 200000), a.i)";
    let statements = [
        format!("SELECT COUNT(*) FROM n a, n b WHERE INSTR({long}, CONCAT(REPEAT('a', 100000), 'b')) > 0"),
        format!("SELECT COUNT(*) FROM n a, n b WHERE LOCATE(CONCAT(REPEAT('a', 100000), 'b'), {long}) > 0"),
        format!(
            "SELECT COUNT(*) FROM n a, n b WHERE POSITION(CONCAT(REPEAT('A', 100000), 'b') IN {long}) > 0"
        ),
        format!("SELECT COUNT(*) FROM n a, n b WHERE REPLACE({long}, REPEAT('a', 100000), 'b') = 'c'"),
        format!(
            "SELECT COUNT(*) FROM n a, n b WHERE SUBSTRING_INDEX({long}, CONCAT(REPEAT('a', 1000), 'b'), -1) = 'c'"
        ),
        format!("SELECT COUNT(*) FROM n a, n b WHERE {long} LIKE CONCAT('%', REPEAT('a', 100000), 'b%')"),
        format!("SELECT COUNT(*) FROM n a, n b WHERE REGEXP_REPLACE({long}, 'a', 'b') = 'c'"),
        format!("SELECT COUNT(*) FROM n a WHERE LENGTH(HEX(REVERSE({long}))) = 1"),
        "SELECT COUNT(*) FROM n a, n b WHERE JSON_CONTAINS(CONCAT('[', REPEAT('0,', 5000), a.i, ']'), '-1')"
            .to_string(),
        "SELECT COUNT(*) FROM (SELECT a.i * 3000 + b.i AS g, COUNT(*) FROM n a, n b GROUP BY g) AS t"
            .to_string(),
        "SELECT a.i * 3000 + b.i FROM n a, n b EXCEPT SELECT i FROM n".to_string(),
    ];
    for statement in statements {
        let kill = hostile.interrupt().clone();
        let mut out = Text::default();
        let mut query = pin!(hostile.query(statement.as_bytes(), &mut out));
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..3 {
            assert!(query.as_mut().poll(&mut context).is_pending(), "{statement} does not yield");
            assert_eq!(run(&mut other, "SELECT k FROM n WHERE i = 1"), "1919\n");
        }
        kill.kill_query();
        let ended = loop {
            if let Poll::Ready(result) = query.as_mut().poll(&mut context) {
                break result;
            }
        };
        assert_eq!(ended.unwrap_err().code, 1317, "{statement}");
    }
}

/// One evaluation that would take hours and never yields still sees KILL QUERY.
#[test]
fn one_long_evaluation_can_be_ended() {
    let (_db, mut session) = stage();
    let statements = [
        "SELECT REPEAT('a', 4000000) LIKE CONCAT('%', REPEAT('a_', 200000), 'b%')",
        "SELECT JSON_CONTAINS(CONCAT('[', REPEAT('[1],', 100000), '1]'), CONCAT('[', REPEAT('[1],', 100000), '[2]]'))",
    ];
    for statement in statements {
        let done = Arc::new(AtomicBool::new(false));
        let (kill, ended) = (session.interrupt().clone(), done.clone());
        let killer = std::thread::spawn(move || {
            while !ended.load(Ordering::SeqCst) {
                kill.kill_query();
                std::thread::yield_now();
            }
        });
        let given = run(&mut session, statement);
        done.store(true, Ordering::SeqCst);
        killer.join().unwrap();
        session.interrupt().clear_query();
        assert!(given.starts_with("error 1317"), "{statement}: {given}");
    }
}

/// Planning that looks at an operand twice takes twice as long at each level: these would never end.
#[test]
fn calls_and_queries_within_each_other_end() {
    on_a_workers_stack(|| {
        let (_db, mut session) = stage();
        let nested = |inner: &str, around: fn(&str) -> String| {
            (0..40).fold(inner.to_string(), |text, _| around(&text))
        };
        let exists = nested("SELECT 1", |text| format!("SELECT RAND() FROM n WHERE EXISTS ({text})"));
        assert_eq!(run(&mut session, &format!("SELECT EXISTS ({exists})")), "1\n");
        let listed = nested("1", |text| format!("EXISTS (SELECT {text}, RAND() FROM n)"));
        assert_eq!(run(&mut session, &format!("SELECT {listed}")), "1\n");
        let field = nested("1", |text| format!("FIELD({text}, 1)"));
        assert_eq!(run(&mut session, &format!("SELECT {field}")), "1\n");
        // What holds hex literals is a text or a number: that is settled before it is bound.
        for around in [
            |text: &str| format!("FIELD(IF(1, {text}, 0x31), 1)"),
            |text: &str| format!("FIELD(1, CASE WHEN 1 THEN {text} ELSE 0x31 END)"),
            |text: &str| format!("IF(1 = {text}, 1, 0x31)"),
            |text: &str| format!("CASE 1 WHEN {text} THEN 1 ELSE 0x31 END"),
        ] {
            assert_eq!(run(&mut session, &format!("SELECT 1 = {}", nested("1", around))), "1\n");
        }
    });
}

/// What is compared with all others of its list takes sixteen times as long in a list of four times the
/// length.
#[test]
fn long_lists_take_their_length() {
    let (_db, mut session) = stage();
    let list = |count: usize, between: &str, item: fn(usize) -> String| {
        (0..count).map(item).collect::<Vec<_>>().join(between)
    };
    type Statement<'s> = &'s dyn Fn(usize) -> String;
    let statements: [Statement<'_>; 12] = [
        &|count| format!("DO {}", list(count, ",", |nth| format!("(SELECT {nth})"))),
        &|count| format!("DO {}", list(count, ",", |nth| format!("(SELECT RAND({nth}))"))),
        &|count| {
            format!("DO {}", list(count, ",", |nth| format!("EXISTS (SELECT 1 FROM n WHERE i = {nth})")))
        },
        &|count| format!("DO {}", list(count, ",", |_| "SLEEP(0)".into())),
        &|count| format!("DO {}", list(count, ",", |nth| format!("@v{nth}"))),
        &|count| {
            format!(
                "SELECT i FROM n WHERE i < 9 AND {}",
                list(count, " AND ", |nth| format!("i <> (SELECT {nth})"))
            )
        },
        &|count| {
            format!(
                "SELECT 1 FROM n WHERE i < 9 HAVING {}",
                list(count, " AND ", |nth| format!("SUM(k + {nth}) > 0"))
            )
        },
        &|count| {
            format!(
                "SELECT CONCAT({}) FROM n WHERE i < 9",
                list(count, ",", |nth| format!("SUM((SELECT {nth}))"))
            )
        },
        &|count| {
            let items = list(count, ",", |nth| format!("i + {nth}"));
            format!("SELECT {items} FROM n WHERE i < 0 GROUP BY {items}")
        },
        &|count| format!("SELECT /*+ {} */ 1 FROM n", list(count, " ", |nth| format!("INDEX(t{nth} a)"))),
        &|count| {
            let member = |nth| format!("SELECT /*+ QB_NAME(q{nth}) NO_MERGE(@b{nth} t) */ 1");
            format!("SELECT 1 WHERE 1 IN ({})", list(count / 8, " UNION ", member))
        },
        &|count| {
            let checks = list(count, ",", |nth| format!("CHECK (i <> {nth})"));
            format!("CREATE TABLE constrained (i INT, {checks})")
        },
    ];
    for statement in statements {
        let mut took = |count| {
            let begun = worked();
            let given = run(&mut session, &statement(count));
            assert!(!given.starts_with("error"), "{:.60}: {given:.200}", statement(count));
            run(&mut session, "DROP TABLE IF EXISTS constrained");
            worked() - begun
        };
        let (few, many) = (took(1000), took(4000));
        assert!(many <= 10 * few.max(10), "{few} ms, then {many} ms: {:.60}", statement(1));
    }
}

/// Lists, chains and unions of any length end, or are refused at once.
#[test]
fn long_texts_end() {
    let (_db, mut session) = stage();
    let list: Vec<String> = (0..300_000).map(|i| format!("'{i}'")).collect();
    let strings = format!("SELECT COUNT(*) FROM n WHERE CONCAT(i) IN ({})", list[..100_000].join(","));
    assert_eq!(run(&mut session, &strings), "3000\n");
    let numbers: Vec<String> = (2990..302_990).map(|i| i.to_string()).collect();
    assert_eq!(
        run(&mut session, &format!("SELECT COUNT(*) FROM n WHERE k IN ({})", numbers.join(","))),
        "10\n"
    );
    assert_eq!(
        run(&mut session, &format!("SELECT COUNT(*) FROM n WHERE i IN ({})", numbers.join(","))),
        "10\n"
    );
    let pairs: Vec<String> = (0..20_000).map(|i| format!("({i},{})", i * 7919 % 3000)).collect();
    assert_eq!(
        run(&mut session, &format!("SELECT COUNT(*) FROM n WHERE (i, k) IN ({})", pairs.join(","))),
        "3000\n"
    );
    let among = "SELECT COUNT(*) FROM n WHERE CONCAT(i) IN (SELECT CONCAT(k) FROM n)";
    assert_eq!(run(&mut session, among), "3000\n");
    let union = |word: &str, count: u32| {
        let parts: Vec<String> = (0..count).map(|i| format!("SELECT {i}")).collect();
        format!("SELECT COUNT(*) FROM ({}) AS t", parts.join(word))
    };
    assert_eq!(run(&mut session, &union(" UNION ", 10_000)), "10000\n");
    assert_eq!(run(&mut session, &union(" UNION ALL ", 10_000)), "10000\n");
    let given = run(&mut session, &format!("SELECT {}", vec!["1"; 10_000].join(" + ")));
    assert!(given == "10000\n" || given.starts_with("error 1436"), "{given:.100}");
    let given = run(&mut session, &format!("SELECT {}", vec!["1"; 10_000].join(" AND ")));
    assert_eq!(given, "1\n");
}
