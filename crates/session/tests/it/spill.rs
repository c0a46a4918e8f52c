//! Rows that go to a file in `tmpdir`: with buffers of the least size every statement gives what it gives in
//! memory, and takes no more memory than buffers do.

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
    let (sort, join, table) = if least { (32768, 128, 1024) } else { (1 << 30, 1 << 30, 1 << 30) };
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

/// What a statement gives in memory and with the least buffers; with these it has made so many files.
fn compared(db: &Arc<Database>, session: &mut Session, statement: &str) -> (String, u64) {
    set_buffers(db, session, false);
    let before = db.temporary().made();
    let in_memory = run(session, statement);
    assert_eq!(db.temporary().made(), before, "{statement}: not in memory");
    set_buffers(db, session, true);
    let spilled = run(session, statement);
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

/// A statement that is polled so many times and then dropped or killed.
#[test]
fn a_kill_or_a_lost_client_leaves_nothing() {
    let (db, folder) = database("kill");
    let mut session = session(&db);
    fill(&mut session, 3000, &mut Rng::new(7));
    set_buffers(&db, &mut session, true);
    let statement = b"SELECT * FROM t ORDER BY x, s DESC";
    let interrupt = session.interrupt().clone();
    let mut polls_max = usize::MAX;
    let mut round = 1;
    while round < polls_max {
        for kills in [true, false] {
            let mut out = Text::default();
            let mut polls = 0;
            {
                let mut query = pin!(session.query(statement, &mut out));
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
