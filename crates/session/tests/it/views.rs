//! Views: made and dropped by halves under a failing disk, read by others meanwhile, within each other,
//! nested as deeply as they may be.

use turnstile_sys::fault_disk::{FaultDisk, FaultKind};

use super::definitions_crash::start;
use super::depth::on_a_workers_stack;
use super::*;

/// What is seen of a view: its definition and its rows, or that it is not there.
fn seen(session: &mut Session, view: &str) -> String {
    let definition = run(session, &format!("SHOW CREATE VIEW {view}"));
    if definition.starts_with("error 1146") {
        return "none".into();
    }
    definition + &run(session, &format!("SELECT * FROM {view}"))
}

fn prepared(seed: u64) -> FaultDisk {
    let disk = FaultDisk::new(seed);
    let (_, mut session) = start(&disk);
    for statement in [
        "CREATE TABLE t (a INT PRIMARY KEY, b INT)",
        "INSERT INTO t VALUES (1, 2), (3, 4)",
        "CREATE VIEW old AS SELECT a FROM t",
        "CREATE VIEW upon AS SELECT a + 1 AS c FROM old",
    ] {
        assert!(run(&mut session, statement).starts_with("ok"), "{statement}");
    }
    disk.crash()
}

fn cut_everywhere(statement: &str, views: &[&str]) {
    let all = |session: &mut Session| views.iter().map(|view| seen(session, view)).collect::<Vec<_>>();
    let (old, wanted) = {
        let (_, mut session) = start(&prepared(1));
        let old = all(&mut session);
        assert!(run(&mut session, statement).starts_with("ok"), "{statement}");
        (old, all(&mut session))
    };
    let (mut before, mut after, mut nth) = (0, 0, 1);
    loop {
        let disk = prepared(nth);
        let (_, mut session) = start(&disk);
        disk.fail_from(nth, FaultKind::InputOutput);
        let done = run(&mut session, statement).starts_with("ok");
        drop(session);
        let (_, mut session) = start(&disk.crash());
        let now = all(&mut session);
        *(if now == old { &mut before } else { &mut after }) += 1;
        assert!(now == wanted || now == old && !done, "{statement}: cut at operation {nth}: {now:?}");
        if done {
            break;
        }
        nth += 1;
    }
    assert!(before > 0 && after > 0, "{statement}: {before} cuts took it back, {after} did not");
}

#[test]
fn a_view_is_made_changed_and_dropped_whole() {
    cut_everywhere("CREATE VIEW made AS SELECT * FROM t WHERE b > 2", &["made"]);
    cut_everywhere("CREATE OR REPLACE VIEW old AS SELECT b AS a FROM t", &["old", "upon"]);
    cut_everywhere("RENAME TABLE old TO new", &["old", "new"]);
    cut_everywhere("DROP VIEW old, upon", &["old", "upon"]);
}

#[test]
fn a_database_goes_with_its_views() {
    let disk = prepared(1);
    let (_, mut session) = start(&disk);
    run(&mut session, "CREATE DATABASE other");
    run(&mut session, "CREATE VIEW other.v AS SELECT a FROM test.t");
    assert_eq!(run(&mut session, "SELECT * FROM other.v"), "1\n3\n");
    assert!(run(&mut session, "DROP DATABASE other").starts_with("ok"));
    let (_, mut session) = start(&disk.crash());
    run(&mut session, "CREATE DATABASE other");
    assert_eq!(run(&mut session, "SHOW TABLES FROM other"), "");
    assert!(run(&mut session, "SELECT * FROM other.v").starts_with("error 1146"));
}

#[test]
fn who_reads_a_view_keeps_it_and_its_tables_as_they_are() {
    let db = database();
    let (mut reader, mut other) = (session(&db), session(&db));
    for statement in ["CREATE TABLE t (a INT PRIMARY KEY)", "CREATE VIEW v AS SELECT a FROM t"] {
        assert!(run(&mut reader, statement).starts_with("ok"));
    }
    run(&mut reader, "BEGIN");
    assert_eq!(run(&mut reader, "SELECT * FROM v"), "");
    run(&mut other, "SET lock_wait_timeout = 1");
    for statement in [
        "DROP VIEW v",
        "ALTER VIEW v AS SELECT 1 AS a",
        "DROP TABLE t",
        "ALTER TABLE t ADD COLUMN b INT",
        "RENAME TABLE v TO w",
    ] {
        assert!(run(&mut other, statement).starts_with("error 1205"), "{statement}");
    }
    assert_eq!(run(&mut reader, "SELECT * FROM v"), "");
    run(&mut reader, "COMMIT");
    assert!(run(&mut other, "ALTER VIEW v AS SELECT 5 AS a").starts_with("ok"));
    assert_eq!(run(&mut reader, "SELECT * FROM v"), "5\n");
    assert!(run(&mut other, "DROP TABLE t").starts_with("ok"));
}

#[test]
fn views_within_views_are_read_or_refused() {
    on_a_workers_stack(|| {
        let db = database();
        let mut session = session(&db);
        run(&mut session, "CREATE TABLE n (i INT PRIMARY KEY)");
        run(&mut session, "INSERT INTO n VALUES (1)");
        // What a view of the next one is: merged, read as a whole, joined, asked, deep in itself.
        let shapes = [
            ("SELECT i FROM ", ""),
            ("SELECT DISTINCT i FROM ", ""),
            ("SELECT x.i FROM n AS x JOIN ", " AS y ON x.i = y.i"),
            ("SELECT i FROM n WHERE i IN (SELECT i FROM ", ")"),
            ("SELECT (SELECT MAX(i) FROM ", ") AS i"),
            ("SELECT i FROM (SELECT * FROM (SELECT i + 0 AS i FROM ", ") AS d) AS e"),
            ("SELECT ABS(ABS(ABS(ABS(ABS(ABS(ABS(ABS(ABS(ABS(ABS(ABS(i)))))))))))) AS i FROM ", ""),
        ];
        for (nth, (before, after)) in shapes.iter().enumerate() {
            let mut below = "n".to_string();
            let mut depth = 0;
            loop {
                let name = format!("v{nth}_{depth}");
                let made = run(&mut session, &format!("CREATE VIEW {name} AS {before}{below}{after}"));
                if !made.starts_with("ok") {
                    assert!(made.starts_with("error 1436") || made.starts_with("error 1116"), "{made}");
                    break;
                }
                (below, depth) = (name, depth + 1);
                assert!(depth < 100, "{before}: no end");
            }
            assert!(depth > 2, "{before}: {depth}");
            assert_eq!(run(&mut session, &format!("SELECT * FROM {below}")), "1\n", "{before}: {depth}");
            // The deepest of views in the deepest of statements.
            for around in ["(SELECT * FROM ", "(SELECT DISTINCT d.* FROM "] {
                let text = format!("SELECT * FROM {}{below} AS d{}", around.repeat(61), ") AS d".repeat(61));
                let given = run(&mut session, &text);
                assert!(given == "1\n" || given.starts_with("error"), "{before}: {given:.200}");
            }
            let text = format!("SELECT {}(SELECT MAX(i) FROM {below}){}", "ABS(".repeat(90), ")".repeat(90));
            assert_eq!(run(&mut session, &text), "1\n", "{before}: {depth}");
        }
    });
}

#[test]
fn a_view_over_itself_is_refused_however_it_came_to_be() {
    let db = database();
    let mut session = session(&db);
    for statement in [
        "CREATE TABLE t (a INT)",
        "CREATE VIEW v AS SELECT a FROM t",
        "CREATE VIEW w AS SELECT a FROM v",
        "DROP VIEW v",
        "RENAME TABLE w TO v",
    ] {
        assert!(run(&mut session, statement).starts_with("ok"), "{statement}");
    }
    assert!(run(&mut session, "SELECT * FROM v").starts_with("error 1462"), "it reads itself");
    assert!(run(&mut session, "UPDATE v SET a = 1").starts_with("error 1462"));
    assert!(run(&mut session, "INSERT INTO v VALUES (1)").starts_with("error 1462"));
    assert!(run(&mut session, "SHOW COLUMNS FROM v").starts_with("error 1462"));
    assert_eq!(run(&mut session, "LOCK TABLES v READ"), "ok\n");
    assert_eq!(run(&mut session, "UNLOCK TABLES"), "ok\n");
    assert!(run(&mut session, "DROP VIEW v").starts_with("ok"));
}
