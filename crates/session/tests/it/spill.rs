//! Rows that go to a file in `tmpdir`: with buffers of the least size every statement gives what it gives in
//! memory, and takes no more memory than buffers do.

mod different;
mod groups;
mod windows;

use std::path::PathBuf;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use turnstile_session::variables::{Globals, find};
use turnstile_sys::rng::Rng;

use super::*;

/// A database with a folder for temporary files of its own.
fn database(name: &str) -> (Arc<Database>, Folder) {
    let path = std::env::temp_dir().join(format!("turnstile-spill-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&path).unwrap();
    let globals = Globals::default();
    globals.set(find("tmpdir").unwrap(), Value::text(path.to_str().unwrap()));
    let engine = Engine::open_memory(Config::default()).unwrap();
    (block_on(Database::open_with(engine, globals)).unwrap(), Folder(path))
}

struct Folder(PathBuf);

impl Folder {
    /// Files without a name that this process has open here.
    fn open_files(&self) -> usize {
        let links = std::fs::read_dir("/proc/self/fd").unwrap();
        let targets = links.filter_map(|link| std::fs::read_link(link.ok()?.path()).ok());
        targets.filter(|target| target.starts_with(&self.0)).count()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert_eq!(self.open_files(), 0, "a file is open");
            std::fs::remove_dir(&self.0).unwrap();
        }
    }
}

/// Sets the least that every buffer may have, or enough for all rows.
fn set_buffers(db: &Arc<Database>, session: &mut Session, least: bool) {
    db.temporary().set_kept_bytes_min(if least { 0 } else { 1 << 40 });
    let (sort, join, table) = if least { (32768, 8192, 4096) } else { (1 << 30, 1 << 30, 1 << 30) };
    let set =
        format!("SET SESSION sort_buffer_size = {sort}, join_buffer_size = {join}, tmp_table_size = {table}");
    assert!(run(session, &set).starts_with("ok"));
}

/// Runs a statement; what it gave, and the most memory that its session held when it gave way.
fn run_watched(db: &Database, session: &mut Session, statement: &str) -> (String, u64) {
    let mut out = Text::default();
    let mut most = 0;
    {
        let mut query = pin!(session.query(statement.as_bytes(), &mut out));
        let mut context = Context::from_waker(Waker::noop());
        loop {
            match query.as_mut().poll(&mut context) {
                Poll::Ready(Ok(())) => break,
                Poll::Ready(Err(error)) => panic!("{statement}: {error}"),
                Poll::Pending => most = most.max(db.memory().used()),
            }
        }
    }
    (out.text, most)
}

/// The same where SQL leaves the order of rows open.
fn compared_unordered(db: &Arc<Database>, session: &mut Session, statement: &str) -> (String, u64) {
    compared_as(db, session, statement, &|text| {
        let mut lines: Vec<&str> = text.lines().collect();
        lines.sort_unstable();
        lines.join("\n")
    })
}

/// What a statement gives in memory and with the least buffers; with these it has made so many files.
fn compared(db: &Arc<Database>, session: &mut Session, statement: &str) -> (String, u64) {
    compared_as(db, session, statement, &|text| text)
}

fn compared_as(
    db: &Arc<Database>,
    session: &mut Session,
    statement: &str,
    form: &dyn Fn(String) -> String,
) -> (String, u64) {
    set_buffers(db, session, false);
    let before = db.temporary().made();
    let in_memory = form(run(session, statement));
    assert_eq!(db.temporary().made(), before, "{statement}: not in memory");
    set_buffers(db, session, true);
    let spilled = form(run(session, statement));
    assert!(spilled == in_memory, "{statement}:\n{}", first_difference(&in_memory, &spilled));
    (spilled, db.temporary().made() - before)
}

fn first_difference(one: &str, other: &str) -> String {
    let (left, right) = (one.lines().count(), other.lines().count());
    let differing = one.lines().zip(other.lines()).enumerate().find(|(_, (a, b))| a != b);
    format!("{left} and {right} lines, {differing:?}")
}

/// Values of every type, ties and NULLs, in a table `t` of so many rows.
fn fill(session: &mut Session, rows: usize, rng: &mut Rng) {
    run(
        session,
        "CREATE TABLE t (id INT PRIMARY KEY, i INT, u BIGINT UNSIGNED, d DOUBLE, n DECIMAL(30,6), \
         s VARCHAR(60), c VARCHAR(20) COLLATE utf8mb4_bin, b VARBINARY(30), dt DATETIME(6), da DATE, ti TIME(3), \
         ts TIMESTAMP, e ENUM('z','b','y'), st SET('q','w','e'), bi BIT(9), y YEAR, j JSON, x LONGTEXT)",
    );
    let words = ["a", "A", "ä", "b ", "b", "B", "zz", "ß", "ss", "", "日本", "ZZ"];
    let mut id = 0;
    while id < rows {
        let some: Vec<String> = (id..(id + 500).min(rows))
            .map(|id| {
                let or_null =
                    |text: String, rng: &mut Rng| if rng.below(9) == 0 { "NULL".into() } else { text };
                let word = |rng: &mut Rng| words[rng.index(words.len())];
                let cells = [
                    format!("{}", rng.below(200) as i64 - 100),
                    format!("{}", rng.next_u64() >> rng.below(60)),
                    format!("{:e}", (rng.unit() - 0.5) * 10f64.powi(rng.below(20) as i32 - 10)),
                    format!("{}.{:06}", rng.below(1 << 40) as i64 - (1 << 39), rng.below(1_000_000)),
                    format!("'{}{}'", word(rng), word(rng)),
                    format!("'{}{}'", word(rng), rng.below(4)),
                    format!("x'{:04x}'", rng.below(1 << 16)),
                    format!(
                        "'20{:02}-0{}-1{} 0{}:11:12.{:06}'",
                        rng.below(30),
                        1 + rng.below(9),
                        rng.below(9),
                        rng.below(9),
                        rng.below(1_000_000)
                    ),
                    format!("'19{:02}-0{}-1{}'", rng.below(100), 1 + rng.below(9), rng.below(9)),
                    format!("'-{}:00:0{}.{:03}'", rng.below(200), rng.below(9), rng.below(1000)),
                    format!("'2001-02-0{} 0{}:00:00'", 1 + rng.below(9), rng.below(9)),
                    format!("'{}'", ["z", "b", "y"][rng.index(3)]),
                    format!("'{}'", ["q", "w,e", "", "q,w,e"][rng.index(4)]),
                    format!("{}", rng.below(512)),
                    format!("{}", 1990 + rng.below(30)),
                    format!("'{{\"k\": {}, \"l\": [1, \"{}\"]}}'", rng.below(30), word(rng).trim()),
                    format!(
                        "REPEAT('{}', {})",
                        word(rng),
                        if rng.below(60) == 0 { 3000 } else { rng.below(20) }
                    ),
                ];
                let cells: Vec<String> = cells.into_iter().map(|cell| or_null(cell, rng)).collect();
                format!("({id}, {})", cells.join(", "))
            })
            .collect();
        let given = run(session, &format!("INSERT INTO t VALUES {}", some.join(", ")));
        assert!(given.starts_with("ok"), "{given}");
        id += 500;
    }
}

const COLUMNS: &[&str] = &[
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
    "s COLLATE utf8mb4_bin",
    "UPPER(c)",
    "i + d",
    "-n",
    "LENGTH(x)",
    "s = 'ab'",
];

#[test]
fn a_sort_is_the_same_in_a_file() {
    let seed = 0x50a7;
    let mut rng = Rng::new(seed);
    let (db, _folder) = database("sort");
    let mut session = session(&db);
    fill(&mut session, 3000, &mut rng);
    let mut files = 0;
    for round in 0..40 {
        let keys: Vec<String> = (0..1 + rng.below(3))
            .map(|_| format!("{}{}", COLUMNS[rng.index(COLUMNS.len())], ["", " DESC"][rng.index(2)]))
            .collect();
        // Without the id among the keys the order of ties shows.
        let limit = ["", "", " LIMIT 7", " LIMIT 1200", " LIMIT 900, 100", " LIMIT 2990, 50"][rng.index(6)];
        let columns = ["id", "*", "id, e, st, j, ti, dt, n, d"][rng.index(3)];
        let from = ["t", "t", "(SELECT * FROM t LIMIT 100000) t"][rng.index(3)];
        let statement = format!("SELECT {columns} FROM {from} ORDER BY {}{limit}", keys.join(", "));
        let before = files;
        files += compared(&db, &mut session, &statement).1;
        assert!(
            limit == " LIMIT 7" || files > before,
            "seed {seed}, round {round}: {statement} made no file"
        );
    }
    let merged = run(&mut session, "SHOW SESSION STATUS LIKE 'Sort_merge_passes'");
    let merged: u64 = merged.trim().rsplit(' ').next().unwrap().parse().unwrap();
    assert!(merged > 100, "several passes: {merged}");
    for statement in [
        "SELECT SQL_CALC_FOUND_ROWS id FROM t ORDER BY s LIMIT 5",
        "SELECT DISTINCT s, i FROM t ORDER BY i, s",
        "SELECT s, COUNT(*), MAX(d) FROM t GROUP BY s ORDER BY MAX(d), s",
        "SELECT id, (SELECT COUNT(*) FROM t a WHERE a.id < t.i) FROM t ORDER BY c, id",
        "SELECT id, ROW_NUMBER() OVER (ORDER BY d) FROM t ORDER BY x DESC, id",
        "SELECT t.id, a.s FROM t JOIN t a ON a.id = t.i ORDER BY a.s, t.b DESC, t.id",
        "SELECT id, CAST(s AS SIGNED) FROM t WHERE id < 2000 ORDER BY x, id",
        "SELECT id FROM t ORDER BY RAND(4)",
    ] {
        compared(&db, &mut session, statement);
    }
    assert!(run(&mut session, "SELECT FOUND_ROWS()").starts_with("3000\n"));
    assert_eq!(db.memory().used(), 0);
}

#[test]
fn a_sort_takes_the_memory_of_its_buffer() {
    let (db, _folder) = database("memory");
    let mut session = session(&db);
    set_buffers(&db, &mut session, true);
    run(&mut session, "CREATE TABLE n (i INT PRIMARY KEY, k INT, s VARCHAR(100))");
    for thousand in 0..20 {
        let rows: Vec<String> = (0..1000)
            .map(|i| thousand * 1000 + i)
            .map(|i| format!("({i}, {}, REPEAT('x', 60))", i * 7919 % 20000))
            .collect();
        run(&mut session, &format!("INSERT INTO n VALUES {}", rows.join(",")));
    }
    db.temporary().set_kept_bytes_min(0);
    let (all, most) = run_watched(&db, &mut session, "SELECT k, s FROM n ORDER BY k DESC");
    assert_eq!((all.lines().count(), all.lines().next().unwrap().split(' ').next()), (20_000, Some("19999")));
    assert!(most <= 1 << 20, "{most} bytes were held");
    // All rows in memory would be 20,000 times 200 bytes.
    run(&mut session, "SET SESSION connection_memory_limit = 2097152, sort_buffer_size = DEFAULT");
    let given = run(&mut session, "SELECT k, s FROM n ORDER BY s, k");
    assert_eq!(given.lines().count(), 20_000, "{:.200}", given);
    assert_eq!(db.memory().used(), 0);
}

/// Tables `l` and `r` whose columns have many equal values, one of which is most, and NULLs.
fn fill_pair(session: &mut Session, rows: usize, rng: &mut Rng) {
    for table in ["l", "r"] {
        run(
            session,
            &format!(
                "CREATE TABLE {table} (id INT PRIMARY KEY, a INT, b VARCHAR(20), c DECIMAL(8,2), d DATETIME, \
                 e ENUM('x','y','z'), f DOUBLE, h INT, w VARCHAR(300))"
            ),
        );
        let some: Vec<String> = (0..rows)
            .map(|id| {
                let mut cells = vec![format!("{id}")];
                let words = ["a", "A", "b", "ä", "cc", "CC "];
                for column in 0..7 {
                    cells.push(match (rng.below(12), column) {
                        (0, _) => "NULL".into(),
                        (_, 0) => format!("{}", rng.below(rows as u64)),
                        (_, 1) => format!("'{}{}'", words[rng.index(6)], rng.below(60)),
                        (_, 2) => format!("{}.{}", rng.below(200), [0, 10, 5][rng.index(3)]),
                        (_, 3) => format!("'2020-01-{:02} 00:00:00'", 1 + rng.below(28)),
                        (_, 4) => format!("'{}'", ["x", "y", "z"][rng.index(3)]),
                        (_, 5) => format!("{}", rng.below(300) as f64 / 2.0),
                        // One key has nearly all rows.
                        (one, _) => format!("{}", if one < 11 { 7 } else { rng.below(5) }),
                    });
                }
                cells.push(format!("REPEAT('w{id}', {})", rng.below(30)));
                format!("({})", cells.join(", "))
            })
            .collect();
        let given = run(session, &format!("INSERT INTO {table} VALUES {}", some.join(", ")));
        assert!(given.starts_with("ok"), "{given}");
    }
}

#[test]
fn a_join_is_the_same_in_files() {
    let seed = 0x10a7;
    let mut rng = Rng::new(seed);
    let (db, _folder) = database("join");
    let mut session = session(&db);
    fill_pair(&mut session, 400, &mut rng);
    let pairs = [
        "l.a = r.a",
        "l.b = r.b",
        "l.c = r.c",
        "l.f = r.f",
        "l.c = r.a",
        "l.a = r.b",
        "l.d = r.d",
        "l.id = r.a",
        "l.b = r.b AND l.d = r.d",
        "l.a + 1 = r.a",
    ];
    let skewed = ["l.h = r.h", "l.e = r.e", "l.h = r.h AND l.e = r.e"];
    let others =
        ["1", "l.f < r.f", "r.b LIKE 'a%'", "l.h + r.h > 7", "r.a IS NOT NULL", "l.w < r.w", "l.e <=> r.e"];
    let mut spilled = 0;
    for round in 0..40 {
        let is_skewed = rng.below(5) == 0;
        let on = if is_skewed { skewed[rng.index(3)] } else { pairs[rng.index(pairs.len())] };
        let kind = ["JOIN", "LEFT JOIN", "RIGHT JOIN", "STRAIGHT_JOIN"][rng.index(4)];
        let right = ["r", "(SELECT * FROM r LIMIT 10000) r", "(SELECT DISTINCT * FROM r) r"][rng.index(3)];
        let (more, condition) = (others[rng.index(others.len())], others[rng.index(others.len())]);
        let condition = if kind == "JOIN" { condition } else { "1" };
        let statement = match rng.below(5) {
            0 => format!(
                "SELECT l.*, r.* FROM l {kind} {right} ON {on} AND {more} WHERE {condition} AND l.id < 200"
            ),
            1 => format!(
                "SELECT COUNT(*), SUM(l.id), SUM(r.id), MAX(r.w) FROM l {kind} {right} ON {on} AND {more}"
            ),
            2 => format!(
                "SELECT l.id, r.id, x.id FROM l {kind} {right} ON {on} LEFT JOIN (SELECT * FROM r LIMIT 9999) x \
                 ON x.a = r.id AND x.f < 100 WHERE l.id % 3 = 0 AND {more}"
            ),
            3 => format!(
                "SELECT l.id, r.id, x.w FROM l LEFT JOIN ({right} JOIN l x ON r.a = x.a) ON {on} \
                 WHERE l.id % 5 = 0 ORDER BY x.w, l.id, r.id, x.id"
            ),
            _ => "SELECT l.id, (SELECT COUNT(*) FROM r x JOIN r y ON x.a = y.a + 1 AND y.id > l.id) FROM l \
                 WHERE l.id IN (SELECT r.a FROM r) AND l.id < 12 OR l.id = 5"
                .into(),
        };
        let files = compared_unordered(&db, &mut session, &statement).1;
        spilled += usize::from(files > 0);
        assert!(!statement.contains("l.a = r.a AND") || files > 0, "seed {seed}, round {round}: {statement}");
    }
    assert!(spilled > 30, "{spilled} of 40 made files");
    for statement in [
        "SELECT l.id, r.id FROM l, r WHERE l.id < 20 AND l.f > r.f",
        "SELECT l.id, r.id FROM l LEFT JOIN r ON l.f > r.f + 140",
        "WITH w AS (SELECT a, MAX(w) w FROM r GROUP BY a) SELECT x.a, y.w FROM w x JOIN w y ON x.a = y.a + 1",
        "SELECT COUNT(*) FROM l JOIN r ON l.h = r.h JOIN l x ON x.a = r.a AND x.b = l.b",
        "SELECT COUNT(*) FROM l WHERE EXISTS (SELECT 1 FROM r WHERE r.b = l.b)",
        "SELECT COUNT(*) FROM l WHERE l.b NOT IN (SELECT r.b FROM r WHERE r.b IS NOT NULL)",
        "SELECT COUNT(*) FROM (SELECT w FROM l UNION ALL SELECT w FROM r) u JOIN r ON r.w = u.w",
    ] {
        compared_unordered(&db, &mut session, statement);
    }
    // Here the order of rows is that of a key.
    compared(&db, &mut session, "SELECT l.id, r.id FROM l JOIN r ON l.b = r.b ORDER BY l.id");
    compared(
        &db,
        &mut session,
        "SELECT l.id, r.id FROM l LEFT JOIN r ON l.b = r.b ORDER BY l.id DESC LIMIT 1000",
    );
    let limited = run(&mut session, "SELECT l.id FROM l JOIN r ON l.b = r.b LIMIT 10");
    assert_eq!(limited.lines().count(), 10);
    assert_eq!(db.memory().used(), 0);
}

#[test]
fn kept_rows_are_the_same_in_a_file() {
    let (db, _folder) = database("kept");
    let mut session = session(&db);
    fill(&mut session, 1500, &mut Rng::new(9));
    let before = run(&mut session, "SHOW SESSION STATUS LIKE 'Created_tmp_disk_tables'");
    assert_eq!(before, "Created_tmp_disk_tables | 0\n");
    for (statement, files) in [
        ("SELECT COUNT(*), MAX(x), SUM(n) FROM (SELECT * FROM t ORDER BY i LIMIT 1400) a", true),
        ("SELECT * FROM (SELECT DISTINCT * FROM t) a", true),
        (
            "WITH w AS (SELECT *, i + 1 AS more FROM t LIMIT 10000) SELECT COUNT(*), SUM(more) FROM w UNION ALL SELECT COUNT(*), MAX(e) FROM w",
            true,
        ),
        (
            "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r JOIN (SELECT x FROM t LIMIT 1000) a WHERE n < 2) SELECT COUNT(*) FROM r",
            true,
        ),
        (
            "SELECT (SELECT COUNT(*) FROM (SELECT * FROM t LIMIT 1000) a WHERE a.i > b.i) FROM (SELECT 1 AS i UNION SELECT 50) b",
            true,
        ),
        ("SELECT COUNT(*) FROM t WHERE i IN (SELECT i FROM t WHERE id < 100)", false),
    ] {
        let made = compared_unordered(&db, &mut session, statement).1;
        assert!(made > 0 || !files, "{statement} made no file");
    }
    for (nth, least) in [false, true].into_iter().enumerate() {
        set_buffers(&db, &mut session, least);
        run(&mut session, &format!("CREATE TABLE c{nth} LIKE t"));
        run(&mut session, &format!("ALTER TABLE c{nth} MODIFY id INT AUTO_INCREMENT"));
        let given = run(&mut session, &format!("INSERT INTO c{nth} SELECT * FROM t WHERE id > 0"));
        assert!(given.starts_with("ok 1499"), "{given}");
        let given = run(&mut session, &format!("CREATE TABLE d{nth} SELECT * FROM c{nth} ORDER BY x, id"));
        assert!(given.starts_with("ok 1499"), "{given}");
    }
    for pair in ["SELECT * FROM c0 EXCEPT SELECT * FROM c1", "SELECT * FROM d0 EXCEPT SELECT * FROM d1"] {
        set_buffers(&db, &mut session, false);
        assert_eq!(run(&mut session, pair), "");
    }
    let after = run(&mut session, "SHOW SESSION STATUS LIKE 'Created_tmp_disk_tables'");
    assert!(after.len() > before.len() || after > before, "{after}");
    assert_eq!(db.memory().used(), 0);
}

/// A statement that is polled so many times and then dropped or killed.
#[test]
fn a_kill_or_a_lost_client_leaves_nothing() {
    let (db, folder) = database("kill");
    let mut session = session(&db);
    fill(&mut session, 3000, &mut Rng::new(7));
    set_buffers(&db, &mut session, true);
    for statement in [
        "SELECT * FROM t ORDER BY x, s DESC",
        "SELECT COUNT(*) FROM t a LEFT JOIN t b ON a.i = b.i AND a.u = b.u",
        "SELECT COUNT(*) FROM (SELECT DISTINCT x, id FROM t) a JOIN (SELECT * FROM t LIMIT 2000) b ON a.id = b.i",
    ] {
        end_everywhere(&db, &folder, &mut session, statement);
    }
}

/// Ends a statement after each of its polls, by a kill and by dropping it.
fn end_everywhere(db: &Arc<Database>, folder: &Folder, session: &mut Session, statement: &str) {
    let interrupt = session.interrupt().clone();
    let mut polls_max = usize::MAX;
    let mut round = 1;
    while round < polls_max {
        for kills in [true, false] {
            let mut out = Text::default();
            let mut polls = 0;
            {
                let mut query = pin!(session.query(statement.as_bytes(), &mut out));
                let mut context = Context::from_waker(Waker::noop());
                loop {
                    if polls == round && kills {
                        interrupt.kill_query();
                    }
                    if polls == round && !kills {
                        break;
                    }
                    match query.as_mut().poll(&mut context) {
                        Poll::Ready(Err(error)) => {
                            assert_eq!((error.code, kills), (1317, true));
                            break;
                        }
                        Poll::Ready(Ok(())) => {
                            polls_max = polls_max.min(round);
                            break;
                        }
                        Poll::Pending => polls += 1,
                    }
                }
            }
            interrupt.clear_query();
            assert_eq!(db.memory().used(), 0, "round {round}");
            assert_eq!(folder.open_files(), 0, "round {round}: a file is left");
        }
        round += 1 + round / 4;
    }
    assert!(round > 5, "it gave way {round} times");
}

#[test]
fn a_full_folder_ends_the_statement() {
    let (db, folder) = database("full");
    let mut session = session(&db);
    fill(&mut session, 2000, &mut Rng::new(8));
    set_buffers(&db, &mut session, true);
    run(&mut session, "CREATE TABLE kept (id INT PRIMARY KEY AUTO_INCREMENT, s VARCHAR(100))");
    for bytes in [0, 1000, 100_000] {
        db.temporary().set_file_bytes_max(bytes);
        for statement in
            ["SELECT * FROM t ORDER BY x, s", "INSERT INTO kept (s) SELECT s FROM t ORDER BY s, x"]
        {
            let given = run(&mut session, statement);
            let error = given.lines().last().unwrap();
            assert!(
                error.starts_with(&format!("error 3 Error writing file '{}/MYfd=", folder.0.display()))
                    && error.ends_with("(OS errno 28 - No space left on device)"),
                "{statement}: {error:.200}"
            );
            assert_eq!(run(&mut session, "SELECT COUNT(*) FROM kept"), "0\n");
            assert_eq!(db.memory().used(), 0);
        }
    }
    db.temporary().set_file_bytes_max(u64::MAX);
    assert!(run(&mut session, "INSERT INTO kept (s) SELECT s FROM t ORDER BY s, x").starts_with("ok 2000"));
}
