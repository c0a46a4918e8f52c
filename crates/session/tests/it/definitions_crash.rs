//! The power is cut at every operation of a disk in turn, while a statement makes, fills, changes or drops a
//! table. After the restart the table is as it was before or as it should be after, whole; a statement that
//! was acknowledged is not lost; and no tree is left that the dictionary does not name.

use turnstile_engine::ids::IndexId;
use turnstile_sys::fault_disk::{FaultDisk, FaultKind};

use super::*;

pub(super) fn start(disk: &FaultDisk) -> (Arc<Database>, Session) {
    let config = Config { buffer_pool_bytes: 1 << 20, redo_capacity_bytes: 1 << 20, ..Config::default() };
    let engine = Engine::open_quiet(Arc::new(disk.clone()), config).unwrap();
    let db = block_on(Database::open(engine)).unwrap();
    let session = session(&db);
    (db, session)
}

/// What is seen of a table: its definition and its rows by each of its keys, or that it is not there.
fn seen(session: &mut Session, table: &str) -> String {
    let definition = run(session, &format!("SHOW CREATE TABLE {table}"));
    if definition.starts_with("error 1146") {
        return "none".into();
    }
    let check = run(session, &format!("CHECK TABLE {table}"));
    assert!(check.trim_end().ends_with("status | OK"), "{check}");
    definition + &run(session, &format!("SELECT COUNT(*), MIN(id), MAX(n), SUM(LENGTH(x)) FROM {table}"))
}

/// Trees that exist, and those that the dictionary names besides its own.
pub(super) fn trees(db: &Database) -> (Vec<IndexId>, Vec<IndexId>) {
    let mut named = vec![turnstile_engine::DICTIONARY_INDEX];
    for schema in db.dictionary().schema_names() {
        for table in db.dictionary().tables(&schema) {
            named.push(table.definition.clustered);
            named.extend(table.definition.keys.iter().map(|key| key.index));
        }
    }
    named.sort_unstable();
    named.dedup();
    let mut there = db.engine().indexes();
    there.sort_unstable();
    (there, named)
}

/// A database with a table `t` of some pages, long values among them.
fn filled(seed: u64) -> FaultDisk {
    let disk = FaultDisk::new(seed);
    let (_, mut session) = start(&disk);
    assert_eq!(run(&mut session, "CREATE DATABASE IF NOT EXISTS test").split(' ').next(), Some("ok"));
    assert_eq!(run(&mut session, "CREATE TABLE t (id INT PRIMARY KEY, n INT, x TEXT, KEY (n))"), "ok\n");
    for from in [0, 30, 60] {
        let rows: Vec<_> =
            (from..from + 30).map(|id| format!("({id}, {}, REPEAT('x', {}))", id % 7, id * 97)).collect();
        assert!(run(&mut session, &format!("INSERT INTO t VALUES {}", rows.join(", "))).starts_with("ok"));
    }
    disk.crash()
}

fn cut_everywhere(statement: &str, table: &str) {
    let wanted = wanted(statement, table);
    let mut nth = 1;
    let (mut before, mut after) = (0, 0);
    loop {
        let disk = filled(nth);
        let (_, mut session) = start(&disk);
        let old = seen(&mut session, table);
        disk.fail_from(nth, FaultKind::InputOutput);
        let outcome = run(&mut session, statement);
        drop(session);
        let done = outcome.starts_with("ok");
        let (db, mut session) = start(&disk.crash());
        let now = seen(&mut session, table);
        if now == old {
            before += 1;
            assert!(!done, "{statement}: acknowledged, and lost by a cut at operation {nth}");
        } else {
            after += 1;
        }
        let (there, named) = trees(&db);
        assert_eq!(there, named, "{statement}: trees that nobody names, after a cut at operation {nth}");
        // Whatever came of it, it can be done now, or was.
        if !done && now == old {
            let again = run(&mut session, statement);
            assert!(again.starts_with("ok"), "{statement} after a cut at operation {nth}: {again}");
        }
        let whole = seen(&mut session, table);
        if now != old {
            assert_eq!(whole, now);
        }
        assert_eq!(whole, wanted, "{statement}: half done by a cut at operation {nth}");
        if done {
            break;
        }
        nth += 1 + nth / 8;
    }
    assert!(before > 0 && after > 0, "{statement}: {before} cuts took it back, {after} did not");
}

/// What the statement does where nothing fails.
fn wanted(statement: &str, table: &str) -> String {
    let (_, mut session) = start(&filled(1));
    assert!(run(&mut session, statement).starts_with("ok"));
    seen(&mut session, table)
}

#[test]
fn create_table_select_is_whole_or_not_there() {
    cut_everywhere("CREATE TABLE made (KEY (n), PRIMARY KEY (id)) SELECT id, n, x FROM t", "made");
}

#[test]
fn create_table_with_keys_leaves_no_tree() {
    cut_everywhere("CREATE TABLE made (id INT PRIMARY KEY, n INT, x TEXT, KEY (n), UNIQUE (n, id))", "made");
}

#[test]
fn a_rebuilt_table_is_the_old_one_or_the_new_one() {
    cut_everywhere("ALTER TABLE t ADD COLUMN extra INT NOT NULL DEFAULT 5 FIRST", "t");
}

#[test]
fn a_new_index_is_whole_or_not_there() {
    cut_everywhere("CREATE UNIQUE INDEX two ON t (n, id)", "t");
}

#[test]
fn a_dropped_table_is_gone_with_its_trees_or_there() {
    cut_everywhere("DROP TABLE t", "t");
}

#[test]
fn a_foreign_key_comes_whole() {
    cut_everywhere(
        "ALTER TABLE t ADD CONSTRAINT one FOREIGN KEY (n) REFERENCES t (id) ON DELETE CASCADE",
        "t",
    );
}

#[test]
fn a_parent_is_renamed_with_its_children_or_not_at_all() {
    let mut nth = 1;
    let (mut before, mut after) = (0, 0);
    loop {
        let disk = filled(nth);
        let (_, mut session) = start(&disk);
        let child = "CREATE TABLE child (id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES t (id))";
        assert_eq!(run(&mut session, child), "ok\n");
        assert_eq!(run(&mut session, "INSERT INTO child VALUES (7)"), "ok 1\n");
        disk.fail_from(nth, FaultKind::InputOutput);
        let done = run(&mut session, "RENAME TABLE t TO u").starts_with("ok");
        drop(session);
        let (_, mut session) = start(&disk.crash());
        let renamed = run(&mut session, "SELECT COUNT(*) FROM u") == "90\n";
        assert!(renamed || !done, "acknowledged, and lost by a cut at operation {nth}");
        *(if renamed { &mut after } else { &mut before }) += 1;
        let parent = if renamed { "u" } else { "t" };
        let shown = run(&mut session, "SHOW CREATE TABLE child");
        assert!(shown.contains(&format!("REFERENCES `{parent}` (`id`)")), "cut at operation {nth}: {shown}");
        let deleted = run(&mut session, &format!("DELETE FROM {parent} WHERE id = 7"));
        assert!(deleted.starts_with("error 1451"), "cut at operation {nth}: {deleted}");
        assert!(run(&mut session, "INSERT INTO child VALUES (700)").starts_with("error 1452"));
        if done {
            break;
        }
        nth += 1;
    }
    assert!(before > 0 && after > 0, "{before} cuts took it back, {after} did not");
}

#[test]
fn a_table_is_altered_and_renamed_or_neither() {
    for change in [
        "ADD COLUMN extra INT NOT NULL DEFAULT 5 FIRST",
        "ADD KEY two (n, id), ALTER n SET DEFAULT 4",
        "COMMENT = 'c'",
    ] {
        let statement = format!("ALTER TABLE t {change}, RENAME TO u");
        let both = |session: &mut Session| (seen(session, "t"), seen(session, "u"));
        let wanted = {
            let (_, mut session) = start(&filled(1));
            assert!(run(&mut session, &statement).starts_with("ok"));
            both(&mut session)
        };
        assert_eq!(wanted.0, "none");
        let mut nth = 1;
        let (mut before, mut after) = (0, 0);
        loop {
            let disk = filled(nth);
            let (_, mut session) = start(&disk);
            let old = both(&mut session);
            disk.fail_from(nth, FaultKind::InputOutput);
            let done = run(&mut session, &statement).starts_with("ok");
            drop(session);
            let (db, mut session) = start(&disk.crash());
            let now = both(&mut session);
            *(if now == old { &mut before } else { &mut after }) += 1;
            assert!(now == wanted || now == old && !done, "{statement}: cut at operation {nth}: {now:?}");
            let (there, named) = trees(&db);
            assert_eq!(there, named, "{statement}: trees that nobody names, after a cut at operation {nth}");
            if done {
                break;
            }
            nth += 1 + nth / 8;
        }
        assert!(before > 0 && after > 0, "{statement}: {before} cuts took it back, {after} did not");
    }
}

#[test]
fn what_keeps_a_table_from_its_new_name_keeps_it_as_it_was() {
    let (_, mut session) = start(&filled(1));
    assert_eq!(run(&mut session, "SET foreign_key_checks = 0"), "ok\n");
    assert_eq!(
        run(&mut session, "CREATE TABLE waits (a VARCHAR(9), FOREIGN KEY (a) REFERENCES u (id))"),
        "ok\n"
    );
    let old = seen(&mut session, "t");
    // The child's column does not fit.
    let refused = run(&mut session, "ALTER TABLE t ADD COLUMN extra INT, RENAME TO u");
    assert!(refused.starts_with("error"), "{refused}");
    assert_eq!(seen(&mut session, "t"), old);
}

#[test]
fn several_tables_go_together_or_stay() {
    for statement in ["DROP TABLE d.t, d.t2, d.t3", "DROP DATABASE d"] {
        let mut nth = 1;
        let (mut before, mut after) = (0, 0);
        loop {
            let disk = filled(nth);
            let (_, mut session) = start(&disk);
            assert_eq!(run(&mut session, "CREATE DATABASE d"), "ok 1\n");
            for name in ["t", "t2", "t3"] {
                assert_eq!(run(&mut session, &format!("CREATE TABLE d.{name} (id INT PRIMARY KEY)")), "ok\n");
            }
            disk.fail_from(nth, FaultKind::InputOutput);
            let done = run(&mut session, statement).starts_with("ok");
            drop(session);
            let (db, mut session) = start(&disk.crash());
            let all = "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'd'";
            let left = run(&mut session, all);
            assert!(left == "0\n" || left == "3\n" && !done, "{statement}: cut at operation {nth}: {left}");
            *(if left == "3\n" { &mut before } else { &mut after }) += 1;
            let there = run(&mut session, "SHOW DATABASES LIKE 'd'");
            assert_eq!(there == "d\n", left == "3\n" || statement.starts_with("DROP TABLE"), "{statement}");
            let (there, named) = trees(&db);
            assert_eq!(there, named, "{statement}: trees that nobody names, after a cut at operation {nth}");
            if done {
                break;
            }
            nth += 1 + nth / 8;
        }
        assert!(before > 0 && after > 0, "{statement}: {before} cuts took it back, {after} did not");
    }
}
