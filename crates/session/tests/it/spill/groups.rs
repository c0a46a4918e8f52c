//! Groups and what aggregates have seen: too many for memory they go to files, and come out the same.

use super::*;

const KEYS: &[&str] = &[
    "i",
    "u",
    "d",
    "n",
    "s",
    "c",
    "b",
    "dt",
    "da",
    "ti",
    "ts",
    "e",
    "st",
    "bi",
    "y",
    "j",
    "x",
    "id",
    "id DIV 7",
    "s COLLATE utf8mb4_bin",
    "UPPER(c)",
    "i + d",
    "LENGTH(x)",
    "i % 3",
];

const AGGREGATES: &[&str] = &[
    "COUNT(*)",
    "SUM(i)",
    "SUM(n)",
    "SUM(d)",
    "AVG(n)",
    "AVG(d)",
    "MIN(s)",
    "MAX(x)",
    "MAX(e)",
    "MIN(j)",
    "MAX(dt)",
    "BIT_XOR(u)",
    "BIT_OR(b)",
    "STDDEV(d)",
    "VAR_SAMP(i)",
    "GROUP_CONCAT(s)",
    "GROUP_CONCAT(DISTINCT c)",
    "GROUP_CONCAT(x ORDER BY d DESC, id SEPARATOR '')",
    "GROUP_CONCAT(DISTINCT s ORDER BY s, id)",
    "JSON_ARRAYAGG(s)",
    "JSON_ARRAYAGG(j)",
    "JSON_OBJECTAGG(COALESCE(c, ''), id)",
    "COUNT(DISTINCT x)",
    "COUNT(DISTINCT s, e)",
    "COUNT(DISTINCT j)",
    "SUM(DISTINCT i)",
    "SUM(DISTINCT n)",
    "AVG(DISTINCT u)",
    "ANY_VALUE(ti)",
    "ANY_VALUE(y)",
];

fn some(of: &[&str], most: u64, rng: &mut Rng) -> Vec<String> {
    (0..1 + rng.below(most)).map(|_| of[rng.index(of.len())].to_string()).collect()
}

#[test]
fn groups_are_the_same_in_files() {
    let seed = 0x6a7;
    let mut rng = Rng::new(seed);
    let (db, _folder) = database("groups");
    let mut session = session(&db);
    fill(&mut session, 1500, &mut rng);
    run(&mut session, "SET sql_mode = ''");
    run(&mut session, "CREATE INDEX sc ON t (s, c)");
    run(&mut session, "CREATE INDEX ei ON t (e, i)");
    let mut spilled = 0;
    for round in 0..80 {
        let keys = some(KEYS, 3, &mut rng).join(", ");
        let items = some(AGGREGATES, 4, &mut rng).join(", ");
        let rollup = ["", "", " WITH ROLLUP"][rng.index(3)];
        let having = ["", "", " HAVING COUNT(*) > 1"][rng.index(3)];
        let from = ["t", "(SELECT * FROM t ORDER BY id LIMIT 100000) t"][rng.index(2)];
        let keys = if rng.below(6) == 0 { ["s, c", "e, i", "e", "id"][rng.index(4)].into() } else { keys };
        let statement = format!("SELECT {keys}, {items} FROM {from} GROUP BY {keys}{rollup}{having}");
        let files = compared_unordered(&db, &mut session, &statement).1;
        spilled += usize::from(files > 0);
        assert_eq!(db.memory().used(), 0, "seed {seed}, round {round}: {statement}");
    }
    assert!(spilled > 50, "{spilled} of 80 made files");
    for statement in [
        "SELECT s, COUNT(*) n FROM t GROUP BY s, x ORDER BY n DESC, s, MIN(id)",
        "SELECT id, COUNT(*), GROUP_CONCAT(x) FROM t GROUP BY id, c ORDER BY id DESC LIMIT 100",
        "SELECT x, (SELECT COUNT(DISTINCT a.i) FROM t a WHERE a.id < 9 * t.i) FROM t GROUP BY x, i ORDER BY x, i",
        "SELECT COUNT(*), SUM(k), MAX(m) FROM (SELECT s, COUNT(*) k, MAX(x) m FROM t GROUP BY s, dt) q",
        "SELECT s, e, COUNT(*) FROM t GROUP BY s, e WITH ROLLUP",
        "SELECT s, dt, ROW_NUMBER() OVER (ORDER BY s, dt, MIN(id)) FROM t GROUP BY s, dt ORDER BY 3",
    ] {
        compared(&db, &mut session, statement);
    }
    let tables = run(&mut session, "SHOW SESSION STATUS LIKE 'Created_tmp_disk_tables'");
    let tables: u64 = tables.trim().rsplit(' ').next().unwrap().parse().unwrap();
    assert!(tables > 50, "{tables}");
}

#[test]
fn different_values_of_one_group_are_the_same_in_files() {
    let (db, _folder) = database("different");
    let mut session = session(&db);
    fill(&mut session, 2500, &mut Rng::new(12));
    run(&mut session, "CREATE INDEX ei ON t (e, i)");
    for (items, rest) in [
        ("COUNT(DISTINCT x), COUNT(DISTINCT n), SUM(DISTINCT n), AVG(DISTINCT i), COUNT(*)", ""),
        ("COUNT(DISTINCT s, c), COUNT(DISTINCT s COLLATE utf8mb4_bin), SUM(DISTINCT u)", ""),
        ("COUNT(DISTINCT j), COUNT(DISTINCT dt), COUNT(DISTINCT b), MAX(DISTINCT x)", ""),
        ("e, COUNT(DISTINCT n), SUM(DISTINCT n), SUM(DISTINCT u)", " GROUP BY e"),
        ("e, i, COUNT(DISTINCT n), SUM(DISTINCT id)", " GROUP BY e, i WITH ROLLUP"),
        ("i % 2, COUNT(DISTINCT n), SUM(DISTINCT n), COUNT(DISTINCT x, id)", " GROUP BY i % 2"),
        ("GROUP_CONCAT(DISTINCT n), COUNT(DISTINCT n)", " WHERE id < 1000"),
    ] {
        let statement = format!("SELECT {items} FROM t{rest}");
        let (_, files) = compared_unordered(&db, &mut session, &statement);
        assert!(files > 0, "{statement} made no file");
    }
    assert_eq!(db.memory().used(), 0);
}

/// Rows of `n` numbers with a key that differs and one that is of a few.
pub(super) fn fill_numbers(session: &mut Session, thousands: usize) {
    run(session, "CREATE TABLE n (i INT PRIMARY KEY, k INT, g INT, s VARCHAR(100), KEY (k))");
    for thousand in 0..thousands {
        let rows: Vec<String> = (0..1000)
            .map(|i| thousand * 1000 + i)
            .map(|i| format!("({i}, {}, {}, REPEAT('x', 60))", i * 7919 % (thousands * 1000), i % 3))
            .collect();
        run(session, &format!("INSERT INTO n VALUES {}", rows.join(",")));
    }
}

#[test]
fn groups_take_the_memory_of_their_buffers() {
    let (db, _folder) = database("groups-memory");
    let mut session = session(&db);
    fill_numbers(&mut session, 20);
    set_buffers(&db, &mut session, true);
    for (statement, rows) in [
        ("SELECT k, COUNT(*), MAX(s) FROM n GROUP BY k", 20_000),
        ("SELECT k + 1, COUNT(*), MAX(s) FROM n GROUP BY k + 1", 20_000),
        ("SELECT g, COUNT(DISTINCT k), SUM(DISTINCT k) FROM n GROUP BY g", 3),
        ("SELECT COUNT(DISTINCT k, s), SUM(DISTINCT k) FROM n", 1),
        ("SELECT k % 5, g, COUNT(DISTINCT s, k) FROM n GROUP BY k % 5, g WITH ROLLUP", 21),
    ] {
        let (all, most) = run_watched(&db, &mut session, statement);
        assert_eq!(all.lines().count(), rows, "{statement}");
        // All groups in memory would be 20,000 times 300 bytes.
        assert!(most <= 1 << 20, "{statement}: {most} bytes were held");
    }
    // With the limit of the session alone.
    run(&mut session, "SET SESSION connection_memory_limit = 2097152, tmp_table_size = DEFAULT");
    run(&mut session, "SET SESSION sort_buffer_size = DEFAULT");
    let given = run(&mut session, "SELECT s, k, COUNT(*) FROM n GROUP BY s, k");
    assert_eq!(given.lines().count(), 20_000, "{given:.200}");
    assert_eq!(db.memory().used(), 0);
}

#[test]
fn ordered_groups_end_with_their_limit() {
    let (db, _folder) = database("groups-limit");
    let mut session = session(&db);
    fill_numbers(&mut session, 5);
    run(&mut session, "ANALYZE TABLE n");
    let reads = |session: &mut Session| -> u64 {
        let all = run(session, "SHOW SESSION STATUS LIKE 'Handler_read%'");
        all.lines().map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum()
    };
    for statement in [
        "SELECT k, COUNT(*) FROM n GROUP BY k ORDER BY k LIMIT 3",
        "SELECT k, COUNT(*) FROM n GROUP BY k ORDER BY k DESC LIMIT 3",
        "SELECT k, MAX(s) FROM n GROUP BY k LIMIT 3",
        "SELECT i, COUNT(*) FROM n GROUP BY i ORDER BY i LIMIT 2, 1",
        "SELECT n.i, COUNT(*) FROM n JOIN n m ON m.i = n.k GROUP BY n.i, n.g ORDER BY n.i LIMIT 3",
    ] {
        let before = reads(&mut session);
        let given = run(&mut session, statement);
        assert!((1..=3).contains(&given.lines().count()), "{statement}: {given}");
        let read = reads(&mut session) - before;
        assert!(read < 1500, "{statement} has read {read} rows");
    }
}

#[test]
fn a_kill_while_groups_are_in_files_leaves_nothing() {
    let (db, folder) = database("groups-kill");
    let mut session = session(&db);
    fill(&mut session, 1500, &mut Rng::new(7));
    set_buffers(&db, &mut session, true);
    for statement in [
        "SELECT s, x, COUNT(*), GROUP_CONCAT(x) FROM t GROUP BY s, x, n",
        "SELECT e, COUNT(DISTINCT x, id), SUM(DISTINCT n) FROM t GROUP BY e",
    ] {
        end_everywhere(&db, &folder, &mut session, statement);
    }
}

#[test]
fn a_full_folder_ends_groups() {
    let (db, _folder) = database("groups-full");
    let mut session = session(&db);
    fill(&mut session, 1500, &mut Rng::new(8));
    set_buffers(&db, &mut session, true);
    for bytes in [0, 1000, 60_000] {
        db.temporary().set_file_bytes_max(bytes);
        for statement in ["SELECT s, COUNT(*) FROM t GROUP BY s, dt", "SELECT COUNT(DISTINCT x, id) FROM t"] {
            let given = run(&mut session, statement);
            let error = given.lines().last().unwrap();
            assert!(error.starts_with("error 3 Error writing file '"), "{statement}: {error:.200}");
            assert_eq!(db.memory().used(), 0);
        }
    }
    db.temporary().set_file_bytes_max(u64::MAX);
    assert_eq!(run(&mut session, "SELECT COUNT(DISTINCT id) FROM t"), "1500\n");
}
