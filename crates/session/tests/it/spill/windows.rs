//! Window functions over rows that are too many for memory.

use super::*;

#[test]
fn windows_are_the_same_in_files() {
    let seed = 0x317d;
    let mut rng = Rng::new(seed);
    let (db, _folder) = database("windows");
    let mut session = session(&db);
    fill(&mut session, 900, &mut rng);
    let functions = [
        "ROW_NUMBER() OVER w",
        "RANK() OVER w",
        "NTILE(7) OVER w",
        "LAG(x, 2, 'none') OVER w",
        "LEAD(n) OVER w",
        "FIRST_VALUE(s) OVER w",
        "NTH_VALUE(dt, 3) OVER w",
        "SUM(n) OVER w",
        "AVG(d) OVER w",
        "COUNT(*) OVER (w ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING)",
        "MAX(j) OVER (w ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)",
        "PERCENT_RANK() OVER (PARTITION BY e ORDER BY id)",
        "SUM(i) OVER (PARTITION BY s)",
        "JSON_ARRAYAGG(e) OVER (PARTITION BY y ORDER BY id)",
    ];
    let windows = [
        "PARTITION BY i ORDER BY id",
        "PARTITION BY s, e ORDER BY d, id",
        "PARTITION BY y ORDER BY x DESC, id",
    ];
    let mut spilled = 0;
    for round in 0..30 {
        let some: Vec<&str> = (0..1 + rng.below(3)).map(|_| functions[rng.index(functions.len())]).collect();
        let from = ["t", "(SELECT * FROM t LIMIT 100000) t"][rng.index(2)];
        let order = [" ORDER BY id", " ORDER BY id LIMIT 50", " ORDER BY 2, id", ""][rng.index(4)];
        let window = windows[rng.index(windows.len())];
        let statement = format!("SELECT id, {} FROM {from} WINDOW w AS ({window}){order}", some.join(", "));
        let files = compared_unordered(&db, &mut session, &statement).1;
        spilled += usize::from(files > 0);
        assert_eq!(db.memory().used(), 0, "seed {seed}, round {round}: {statement}");
    }
    assert!(spilled == 30, "{spilled} of 30 made files");
    for statement in [
        "SELECT DISTINCT i, SUM(n) OVER (PARTITION BY i) FROM t ORDER BY i",
        "SELECT s, COUNT(*), RANK() OVER (PARTITION BY s ORDER BY COUNT(*), dt) FROM t GROUP BY s, dt ORDER BY s, dt",
        "SELECT id, LAG(id) OVER (PARTITION BY i ORDER BY id), SUM(i) OVER (PARTITION BY y ORDER BY id) FROM t LIMIT 300",
        "SELECT COUNT(*) FROM (SELECT ROW_NUMBER() OVER (PARTITION BY e ORDER BY x, id) r FROM t) q WHERE r < 20",
    ] {
        compared(&db, &mut session, statement);
    }
}

#[test]
fn windows_take_the_memory_of_their_buffers() {
    let (db, folder) = database("windows-memory");
    let mut session = session(&db);
    groups::fill_numbers(&mut session, 20);
    set_buffers(&db, &mut session, true);
    for statement in [
        "SELECT k, SUM(i) OVER (PARTITION BY k % 500 ORDER BY k), s FROM n",
        "SELECT k, RANK() OVER (PARTITION BY k % 500 ORDER BY k), SUM(k) OVER (PARTITION BY i % 999), s FROM n",
    ] {
        let (all, most) = run_watched(&db, &mut session, statement);
        assert_eq!(all.lines().count(), 20_000, "{statement}");
        // All rows in memory would be 20,000 times 300 bytes.
        assert!(most <= 1 << 20, "{statement}: {most} bytes were held");
        assert_eq!(db.memory().used(), 0, "{statement}");
    }
    run(&mut session, "DELETE FROM n WHERE i > 2000");
    set_buffers(&db, &mut session, true);
    let statement = "SELECT k, SUM(i) OVER (PARTITION BY g ORDER BY k), LEAD(k) OVER (ORDER BY i), s FROM n";
    end_everywhere(&db, &folder, &mut session, statement);
}
