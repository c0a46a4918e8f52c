//! Expressions of definitions over a restart: what the dictionary keeps means the same to who reads it.

use turnstile_engine::{Config, Engine};
use turnstile_session::Database;

use super::{block_on, run, session};

#[test]
fn constraints_and_defaults_are_there_after_the_next_start() {
    let engine = Engine::open_memory(Config::default()).unwrap();
    let (before, after) = {
        let mut first = session(&block_on(Database::open(engine.clone())).unwrap());
        run(&mut first, "SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT'");
        let text = "CREATE TABLE kept (a INT CHECK (a > 3 AND a <> 7), s VARCHAR(99) DEFAULT ('x\\' || UUID()), \
                    CONSTRAINT \"odd `name\" CHECK (s NOT LIKE '%''bad'), CONSTRAINT off CHECK (a < 5) NOT ENFORCED)";
        assert_eq!(run(&mut first, text), "ok\n");
        run(&mut first, "CREATE TABLE plain (a INT)");
        let shown = "SHOW CREATE TABLE kept";
        let before = run(&mut first, shown);
        let mut second = session(&block_on(Database::open(engine)).unwrap());
        assert_eq!(run(&mut second, "INSERT INTO kept (a) VALUES (9), (10)").lines().count(), 1);
        assert_eq!(
            run(&mut second, "INSERT INTO kept (a) VALUES (7)"),
            "error 3819 Check constraint 'kept_chk_1' is violated.\n"
        );
        assert_eq!(
            run(&mut second, "UPDATE kept SET s = 'very ''bad'"),
            "error 3819 Check constraint 'odd `name' is violated.\n"
        );
        let distinct = "SELECT COUNT(DISTINCT s), MIN(LENGTH(s)), MIN(LEFT(s, 2)) FROM kept";
        assert_eq!(run(&mut second, distinct), "2 | 38 | x\\\n");
        assert_eq!(run(&mut second, "INSERT INTO plain VALUES (1)"), "ok 1\n");
        (before, run(&mut second, shown))
    };
    assert_eq!(before, after);
    assert!(before.contains("CONSTRAINT `off` CHECK ((`a` < 5)) /*!80016 NOT ENFORCED */"), "{before}");
}

/// JSON_VALUE and MEMBER OF in a CHECK are read again as they were written, and documents keep their kinds.
#[test]
fn documents_and_their_checks_are_there_after_the_next_start() {
    let engine = Engine::open_memory(Config::default()).unwrap();
    let mut first = session(&block_on(Database::open(engine.clone())).unwrap());
    let text = "CREATE TABLE d (id INT PRIMARY KEY, j JSON DEFAULT (JSON_ARRAY(1.50, DATE'2020-01-02')), \
                CHECK (JSON_VALUE(j, '$.\"it''s\"' RETURNING DECIMAL(5,2) DEFAULT -1.5 ON EMPTY ERROR ON ERROR) < 9), \
                CHECK (JSON_VALUE(j, '$.s' DEFAULT 'it''s' ON EMPTY) MEMBER OF ('[\"a\", \"it''s\"]')))";
    assert_eq!(run(&mut first, text), "ok\n");
    assert_eq!(run(&mut first, "INSERT INTO d (id) VALUES (1)"), "ok 1\n");
    let shown = run(&mut first, "SHOW CREATE TABLE d");
    let kinds = "SELECT id, j, JSON_TYPE(j->'$[0]'), JSON_TYPE(j->'$[1]') FROM d";
    let before = run(&mut first, kinds);
    assert_eq!(before, "1 | [1.50, \"2020-01-02\"] | DECIMAL | DATE\n");
    let mut second = session(&block_on(Database::open(engine)).unwrap());
    assert_eq!(run(&mut second, "SHOW CREATE TABLE d"), shown);
    assert_eq!(run(&mut second, kinds), before);
    assert_eq!(
        run(&mut second, "INSERT INTO d VALUES (2, '{\"it''s\": 9.25}')"),
        "error 3819 Check constraint 'd_chk_1' is violated.\n"
    );
    assert_eq!(
        run(&mut second, "INSERT INTO d VALUES (2, '{\"s\": \"b\"}')"),
        "error 3819 Check constraint 'd_chk_2' is violated.\n"
    );
    assert_eq!(run(&mut second, "INSERT INTO d VALUES (2, '{\"s\": \"a\"}')"), "ok 1\n");
}
