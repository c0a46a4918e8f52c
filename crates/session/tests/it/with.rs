//! WITH under load: long chains of names on a small stack, a statement that makes rounds for ever and is
//! killed.

use super::{database, run, session};

/// Threads of the server have at least this much.
const STACK_BYTES: usize = 2 << 20;

/// Each of so many names reads the one before it; the last is read.
fn chain(count: usize) -> String {
    let first = "a0 AS (SELECT 1 AS n)".to_string();
    let others = (1..count).map(|nth| format!("a{nth} AS (SELECT n + 1 AS n FROM a{})", nth - 1));
    let names: Vec<String> = std::iter::once(first).chain(others).collect();
    format!("WITH {} SELECT n FROM a{}", names.join(", "), count - 1)
}

#[test]
fn long_chains_of_names_end() {
    let test = || {
        let db = database();
        let mut session = session(&db);
        for count in [1, 2, 60, 190] {
            assert_eq!(run(&mut session, &chain(count)), format!("{count}\n"));
        }
        for count in [201, 5_000] {
            let answer = run(&mut session, &chain(count));
            assert!(answer.starts_with("error 1436") || answer.starts_with("error 1235"), "{answer}");
        }
        // A name that is read twice by the next one is planned, explained and looked through once.
        let twice =
            |nth: usize| format!("a{} AS (SELECT a.n FROM a{nth} a JOIN a{nth} b ON a.n = b.n)", nth + 1);
        let names: Vec<String> = (0..60).map(twice).collect();
        let text = format!("WITH a0 AS (SELECT 1 AS n), {} SELECT COUNT(*) FROM a60", names.join(", "));
        assert_eq!(run(&mut session, &text), "1\n");
        run(&mut session, "SET optimizer_switch = 'derived_merge=off'");
        assert_eq!(run(&mut session, &text), "1\n");
        assert_eq!(run(&mut session, &format!("EXPLAIN {text}")).lines().count(), 122);
    };
    std::thread::Builder::new().stack_size(STACK_BYTES).spawn(test).unwrap().join().unwrap();
}

#[test]
fn rounds_without_end_are_killed() {
    let db = database();
    let mut looping = session(&db);
    run(&mut looping, "SET cte_max_recursion_depth = 4294967295");
    let id = run(&mut looping, "SELECT CONNECTION_ID()").trim().to_string();
    let mut other = session(&db);
    let killer = std::thread::spawn(move || {
        while !run(&mut other, "SHOW PROCESSLIST").contains("WITH RECURSIVE") {
            std::thread::yield_now();
        }
        run(&mut other, &format!("KILL QUERY {id}"))
    });
    let text = "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i % 2 FROM n) SELECT COUNT(*) FROM n";
    assert_eq!(run(&mut looping, text), "error 1317 Query execution was interrupted\n");
    assert_eq!(killer.join().unwrap(), "ok\n");
    assert_eq!(run(&mut looping, "SELECT 1"), "1\n");
}
