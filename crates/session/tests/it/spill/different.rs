//! DISTINCT, set operations and recursive queries of WITH: too many rows for memory go to files, and come out
//! the same.

use super::*;

#[test]
fn different_rows_are_the_same_in_files() {
    let seed = 0xd1f;
    let mut rng = Rng::new(seed);
    let (db, _folder) = database("distinct");
    let mut session = session(&db);
    fill(&mut session, 1500, &mut rng);
    run(&mut session, "SET sql_mode = ''");
    let mut spilled = 0;
    for _ in 0..40 {
        let columns: Vec<&str> = (0..1 + rng.below(3)).map(|_| COLUMNS[rng.index(COLUMNS.len())]).collect();
        let columns = columns.join(", ");
        let order = ["", " ORDER BY 1"][rng.index(2)];
        let from = ["t", "(SELECT * FROM t UNION ALL SELECT * FROM t) t"][rng.index(2)];
        let statement = format!("SELECT DISTINCT {columns} FROM {from}{order}");
        spilled += usize::from(compared_unordered(&db, &mut session, &statement).1 > 0);
        assert_eq!(db.memory().used(), 0, "seed {seed}: {statement}");
    }
    assert!(spilled > 25, "{spilled} of 40 made files");
    run(&mut session, "CREATE INDEX si ON t (s, i)");
    for statement in [
        "SELECT DISTINCT s, i, e FROM t ORDER BY s, i, e",
        "SELECT DISTINCT id, x FROM t ORDER BY id DESC",
        "SELECT DISTINCT s, i FROM t ORDER BY s DESC, i DESC",
        "SELECT DISTINCT s, i FROM t ORDER BY s DESC, i DESC LIMIT 300, 20",
        "SELECT DISTINCT s, i, COUNT(*) FROM t GROUP BY s, i ORDER BY s, i",
        "SELECT DISTINCT id % 1000, x FROM t ORDER BY x, id % 1000 LIMIT 400",
        "SELECT SQL_CALC_FOUND_ROWS DISTINCT dt, n FROM t ORDER BY dt, n LIMIT 3",
        "SELECT COUNT(*) FROM (SELECT DISTINCT n, dt FROM t) q",
        "SELECT id FROM t WHERE (i, e) IN (SELECT DISTINCT i, e FROM t a WHERE a.id > 20) ORDER BY id",
    ] {
        compared(&db, &mut session, statement);
    }
    let all = run(&mut session, "SELECT SQL_CALC_FOUND_ROWS DISTINCT n, dt FROM t LIMIT 2");
    assert!(all.lines().count() >= 2, "{all}");
    let all =
        run(&mut session, "SELECT FOUND_ROWS() = (SELECT COUNT(*) FROM (SELECT DISTINCT n, dt FROM t) q)");
    assert!(all.starts_with("1\n"), "{all}");
    let limited = run(&mut session, "SELECT DISTINCT n, dt FROM t LIMIT 1000");
    assert_eq!(limited.lines().count(), 1000);
}

#[test]
fn set_operations_are_the_same_in_files() {
    let seed = 0x5e7;
    let mut rng = Rng::new(seed);
    let (db, _folder) = database("sets");
    let mut session = session(&db);
    fill(&mut session, 1200, &mut rng);
    let columns = ["s, i", "x", "e, st, y", "n, dt, ti", "c, j", "id % 400, i", "UPPER(s), d"];
    let operators = ["UNION", "UNION ALL", "EXCEPT", "EXCEPT ALL", "INTERSECT", "INTERSECT ALL"];
    let mut spilled = 0;
    for round in 0..50 {
        let columns = columns[rng.index(columns.len())];
        let mut statement = format!("SELECT {columns} FROM t");
        for _ in 0..1 + rng.below(3) {
            let operator = operators[rng.index(operators.len())];
            let (low, high) = (rng.below(900), 300 + rng.below(900));
            statement += &format!(" {operator} SELECT {columns} FROM t WHERE id BETWEEN {low} AND {high}");
        }
        if rng.below(3) == 0 {
            statement += " ORDER BY 1";
        }
        spilled += usize::from(compared_unordered(&db, &mut session, &statement).1 > 0);
        assert_eq!(db.memory().used(), 0, "seed {seed}, round {round}: {statement}");
    }
    assert!(spilled > 40, "{spilled} of 50 made files");
    for statement in [
        "SELECT id, s FROM t UNION SELECT id + 600, s FROM t ORDER BY id, s",
        "SELECT id, x FROM t UNION ALL SELECT id, x FROM t ORDER BY x, id LIMIT 500, 600",
        "SELECT id, x FROM t EXCEPT SELECT id, x FROM t WHERE id % 3 = 0 ORDER BY id DESC",
        "(SELECT id FROM t) INTERSECT ALL (SELECT id FROM t WHERE id > 100) ORDER BY id LIMIT 3",
        "SELECT COUNT(*), SUM(id) FROM (SELECT id, x FROM t UNION SELECT id, x FROM t WHERE id < 700) q",
        "SELECT (SELECT COUNT(*) FROM (SELECT id, s FROM t UNION SELECT i, s FROM t) q WHERE q.id < a.id) \
         FROM t a WHERE id < 9 ORDER BY a.id",
        "VALUES ROW(3, REPEAT('x', 9000)), ROW(1, REPEAT('y', 40000)), ROW(2, 'z') ORDER BY column_0",
    ] {
        compared(&db, &mut session, statement);
    }
    let limited = run(&mut session, "SELECT n FROM t UNION SELECT n + 1 FROM t LIMIT 1500");
    assert_eq!(limited.lines().count(), 1500);
}

#[test]
fn rounds_are_the_same_in_files() {
    let (db, _folder) = database("rounds");
    let mut session = session(&db);
    fill(&mut session, 600, &mut Rng::new(4));
    run(&mut session, "SET cte_max_recursion_depth = 100000");
    for (statement, files) in [
        (
            "WITH RECURSIVE r AS (SELECT 1 AS n, CAST('' AS CHAR(200)) AS s UNION ALL \
             SELECT n + 1, REPEAT('x', n % 200) FROM r WHERE n < 3000) SELECT * FROM r",
            true,
        ),
        (
            "WITH RECURSIVE r AS (SELECT id, i, 0 AS deep FROM t UNION ALL SELECT t.id, t.i, deep + 1 FROM r JOIN t \
             ON t.i = r.i AND deep < 2 AND t.id > r.id) SELECT COUNT(*), SUM(id), MAX(deep) FROM r",
            true,
        ),
        (
            "WITH RECURSIVE r AS (SELECT id AS n FROM t UNION SELECT (n * 7 + 3) % 2000 FROM r) \
             SELECT COUNT(*), SUM(n) FROM r",
            true,
        ),
        (
            "WITH RECURSIVE r AS (SELECT id AS n FROM t UNION ALL SELECT n + 1 FROM r LIMIT 2500 OFFSET 300) \
             SELECT COUNT(*) FROM r",
            true,
        ),
        (
            "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 9) SELECT * FROM r",
            false,
        ),
    ] {
        let made = compared(&db, &mut session, statement).1;
        assert_eq!(made > 0, files, "{statement}");
        assert!(!run(&mut session, statement).contains("error"), "{statement}");
        assert_eq!(db.memory().used(), 0, "{statement}");
    }
}

#[test]
fn different_rows_take_the_memory_of_their_buffers() {
    let (db, _folder) = database("different-memory");
    let mut session = session(&db);
    groups::fill_numbers(&mut session, 20);
    set_buffers(&db, &mut session, true);
    run(&mut session, "SET cte_max_recursion_depth = 100000");
    for (statement, rows) in [
        ("SELECT DISTINCT k, s FROM n", 20_000),
        ("SELECT DISTINCT k, s FROM n ORDER BY s, k DESC", 20_000),
        ("SELECT k, s FROM n UNION SELECT k + 1, s FROM n", 20_001),
        ("SELECT k, s FROM n UNION ALL SELECT k, s FROM n ORDER BY k", 40_000),
        ("SELECT k, s FROM n EXCEPT SELECT k, s FROM n WHERE k > 100", 101),
        ("SELECT k, s FROM n INTERSECT ALL SELECT k, s FROM n WHERE k > 100 ORDER BY k", 19_899),
        (
            "WITH RECURSIVE r AS (SELECT k, s, 0 AS d FROM n UNION ALL SELECT k, s, d + 1 FROM r WHERE d < 1) \
             SELECT k, s FROM r",
            40_000,
        ),
    ] {
        let (all, most) = run_watched(&db, &mut session, statement);
        assert_eq!(all.lines().count(), rows, "{statement}");
        assert!(most <= 1 << 20, "{statement}: {most} bytes were held");
        assert_eq!(db.memory().used(), 0, "{statement}");
    }
}

#[test]
fn a_kill_while_different_rows_are_in_files_leaves_nothing() {
    let (db, folder) = database("different-kill");
    let mut session = session(&db);
    fill(&mut session, 800, &mut Rng::new(7));
    set_buffers(&db, &mut session, true);
    for statement in [
        "SELECT DISTINCT s, x, n FROM t ORDER BY n",
        "SELECT s, x, n FROM t EXCEPT SELECT s, x, n FROM t WHERE id < 300",
        "WITH RECURSIVE r AS (SELECT id, x FROM t UNION ALL SELECT id - 300, x FROM r WHERE id > 300) SELECT * FROM r",
    ] {
        end_everywhere(&db, &folder, &mut session, statement);
    }
}
