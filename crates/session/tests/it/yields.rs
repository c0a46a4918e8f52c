//! Long statements yield: each of these runs for many milliseconds without ever having to wait, and must
//! let its worker's other sessions in meanwhile. The same statements show that working in pieces gives the
//! right result.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use rustix::time::{ClockId, clock_gettime};

use super::{Text, database, run, session};

/// Milliseconds that the work between two pauses may take on an average. Without optimization a step that is
/// not divided (a role that is granted to twenty accounts) takes longer than the slice of half a millisecond.
const EVERY_MS: i64 = 20;

/// Processor time of this thread, in milliseconds: what other processes do does not count.
pub fn worked() -> i64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec * 1000 + time.tv_nsec / 1_000_000
}

/// Runs a statement that has to yield at least once, and once in [`EVERY_MS`] of its work on an average:
/// neither a fast machine, which ends it in fewer slices, nor a slow one changes the verdict. What it gave.
fn run_in_slices(session: &mut turnstile_session::Session, statement: &str) -> String {
    let mut out = Text::default();
    let (mut pauses, begun) = (0, worked());
    {
        let mut query = pin!(session.query(statement.as_bytes(), &mut out));
        let mut context = Context::from_waker(Waker::noop());
        loop {
            match query.as_mut().poll(&mut context) {
                Poll::Ready(done) => break done.unwrap(),
                Poll::Pending => pauses += 1,
            }
        }
    }
    let took = worked() - begun;
    let enough = pauses > 0 && pauses + 1 >= took / EVERY_MS;
    assert!(enough, "{statement:.60} yielded {pauses} times only in {took} ms");
    out.text
}

#[test]
fn long_statements_give_way() {
    let db = database();
    let mut session = session(&db);
    run(&mut session, "CREATE TABLE n (i INT PRIMARY KEY, k INT)");
    for thousand in 0..6 {
        let rows: Vec<String> =
            (0..1000).map(|i| thousand * 1000 + i).map(|i| format!("({i}, {})", i * 7919 % 6000)).collect();
        run(&mut session, &format!("INSERT INTO n VALUES {}", rows.join(",")));
    }
    run(&mut session, "CREATE TABLE copy (i INT PRIMARY KEY, k INT)");
    // Statement, how it must end.
    let statements = [
        ("SELECT k, i FROM n ORDER BY k % 10, k DESC", "9 | 3111\n"),
        ("SELECT k, i FROM n ORDER BY k DESC LIMIT 1500", "4500 | 1500\n"),
        ("SELECT k DIV 4 AS g, COUNT(*), SUM(i) FROM n GROUP BY g ORDER BY g", "1499 | 4 | 13210\n"),
        ("SELECT COUNT(*) FROM n a JOIN n b ON a.k = b.i JOIN n c ON c.k = b.k", "6000\n"),
        ("SELECT COUNT(*) FROM n a, n b WHERE a.i < 20 AND a.k + b.k = 6000", ""),
        ("SELECT DISTINCT k FROM n UNION SELECT i + 3000 FROM n ORDER BY 1 DESC LIMIT 1", "8999\n"),
        (
            "WITH RECURSIVE r AS (SELECT i FROM n WHERE i = 0 UNION ALL SELECT r.i + 1 FROM r WHERE r.i < 999) \
             SELECT COUNT(*) FROM r a JOIN r b ON a.i <= b.i",
            "500500\n",
        ),
        ("INSERT INTO copy SELECT i, k FROM n", "ok 6000 (Records: 6000  Duplicates: 0  Warnings: 0)\n"),
        (
            "UPDATE copy SET k = k + 1 ORDER BY k",
            "ok 6000 (Rows matched: 6000  Changed: 6000  Warnings: 0)\n",
        ),
        ("ALTER TABLE copy ADD COLUMN more INT, ADD KEY (k)", ""),
        ("DELETE FROM copy", "ok 6000\n"),
    ];
    for (statement, end) in statements {
        let text = run_in_slices(&mut session, statement);
        assert!(text.ends_with(end), "{statement}: {}", text.lines().last().unwrap_or_default());
    }
    let items = |item: fn(usize) -> String| (0..8000).map(item).collect::<Vec<_>>().join(",");
    let many = [
        format!("SET {}", items(|nth| format!("@a{nth} = {nth}"))),
        format!("DO {}", items(|nth| format!("GET_LOCK('k{nth}', 0)"))),
        "DO 1;".repeat(8000),
    ];
    for statement in many {
        run_in_slices(&mut session, &statement);
    }
    assert_eq!(
        run(&mut session, "SELECT @a7999, IS_USED_LOCK('k7999') = CONNECTION_ID(), RELEASE_ALL_LOCKS()"),
        "7999 | 1 | 8000\n"
    );
    // Few rows, each of which is much work.
    let terms = |count: usize| (0..count).map(|nth| format!("i + {nth}")).collect::<Vec<_>>().join(",");
    let heavy = [
        format!("SELECT i FROM n WHERE i < 300 ORDER BY {}", terms(3000)),
        format!("SELECT COUNT(*) FROM n WHERE i < 300 AND GREATEST({}) > 0", terms(3000)),
        format!("SELECT COUNT(*) FROM n WHERE i < 300 GROUP BY {}", terms(3000)),
        format!("SELECT MAX(GREATEST({})) FROM n WHERE i < 300", terms(3000)),
        format!("UPDATE n SET k = LEAST(k, {}) WHERE i < 300", terms(3000)),
        format!("INSERT INTO copy SELECT i, LEAST({}), 0 FROM n WHERE i < 300", terms(3000)),
    ];
    for statement in heavy {
        run_in_slices(&mut session, &statement);
    }
    run(&mut session, "BEGIN");
    run(&mut session, "UPDATE n SET k = -k");
    run_in_slices(&mut session, "ROLLBACK");
    assert_eq!(run(&mut session, "SELECT SUM(k) FROM n WHERE i >= 300"), "17093850\n");
}

#[test]
fn statements_of_many_names_give_way() {
    let db = database();
    let mut session = session(&db);
    let names = |count: usize, name: fn(usize) -> String| (0..count).map(name).collect::<Vec<_>>().join(",");
    let tables = 600;
    for nth in 0..tables {
        run(&mut session, &format!("CREATE TABLE t{nth} (a INT, CHECK (a > 0))"));
    }
    let statements = [
        format!("CREATE ROLE {}", names(1000, |nth| format!("r{nth}"))),
        format!("CREATE USER {}", names(2000, |nth| format!("u{nth}"))),
        format!("GRANT SELECT ON *.* TO {}", names(2000, |nth| format!("u{nth}"))),
        format!("GRANT {} TO {}", names(1000, |nth| format!("r{nth}")), names(20, |nth| format!("u{nth}"))),
        format!("GRANT r0 TO {}", names(2000, |nth| format!("u{nth}"))),
        format!("SET DEFAULT ROLE r0 TO {}", names(2000, |nth| format!("u{nth}"))),
        format!("REVOKE ALL PRIVILEGES, GRANT OPTION FROM {}", names(2000, |nth| format!("u{nth}"))),
        format!("RENAME USER {}", names(2000, |nth| format!("u{nth} TO v{nth}"))),
        format!("DROP ROLE {}", names(1000, |nth| format!("r{nth}"))),
        format!("RENAME TABLE {}", names(tables, |nth| format!("t{nth} TO x{nth}, x{nth} TO y{nth}"))),
        format!("RENAME TABLE {}", names(tables, |nth| format!("y{nth} TO z{nth}"))),
        format!("DROP TABLE {}", names(tables, |nth| format!("z{nth}"))),
        format!("DROP USER {}", names(1999, |nth| format!("v{nth}"))),
    ];
    for statement in statements {
        run_in_slices(&mut session, &statement);
    }
    for nth in 0..tables {
        run(&mut session, &format!("CREATE TABLE t{nth} (a INT)"));
    }
    run(&mut session, &format!("LOCK TABLES {}", names(tables, |nth| format!("t{nth} WRITE"))));
    run(&mut session, &format!("RENAME TABLE {}", names(tables, |nth| format!("t{nth} TO s{nth}"))));
    assert_eq!(run(&mut session, "SELECT COUNT(*) FROM s599"), "0\n");
    run(&mut session, &format!("DROP TABLE {}", names(tables, |nth| format!("s{nth}"))));
    assert_eq!(run(&mut session, "SHOW GRANTS FOR v1999"), "GRANT USAGE ON *.* TO `v1999`@`%`\n");
    assert_eq!(run(&mut session, "SHOW TABLES"), "");
}

/// Milliseconds of a worker that one poll may take among many rows, without optimization, in one of these
/// statements. A sort, a join or a grouping that works on all rows at one go takes seconds. (What works for
/// long within one row is another matter: another thread goes on with the group, `sys::relief`.)
const STRETCH_MS_MAX: i64 = 250;

/// Runs a statement; the longest poll in milliseconds of processor time, and what it gave.
fn longest_stretch(session: &mut turnstile_session::Session, statement: &str) -> (i64, String) {
    let mut out = Text::default();
    let mut longest = 0;
    {
        let mut query = pin!(session.query(statement.as_bytes(), &mut out));
        let mut context = Context::from_waker(Waker::noop());
        loop {
            let begun = worked();
            let polled = query.as_mut().poll(&mut context);
            longest = longest.max(worked() - begun);
            if let Poll::Ready(done) = polled {
                done.unwrap();
                break;
            }
        }
    }
    (longest, out.text)
}

#[test]
fn no_stretch_of_many_rows_is_long() {
    let db = database();
    let mut session = session(&db);
    run(&mut session, "CREATE TABLE n (i INT PRIMARY KEY)");
    let rows: Vec<String> = (0..600).map(|i| format!("({i})")).collect();
    run(&mut session, &format!("INSERT INTO n VALUES {}", rows.join(",")));
    let many = "(SELECT a.i * 600 + b.i AS v FROM n a, n b) d";
    let statements = [
        (format!("SELECT v FROM {many} ORDER BY v * 7919 % 360007 DESC LIMIT 200000, 1"), "148360\n"),
        (format!("SELECT COUNT(*) FROM (SELECT v * 7919 % 360007 AS g, COUNT(*) FROM {many} GROUP BY g) e"), "360000\n"),
        (format!("SELECT COUNT(DISTINCT v * 7919 % 360007) FROM {many}"), "360000\n"),
        (
            format!(
                "SELECT MAX(r) FROM (SELECT SUM(v) OVER (ORDER BY v DIV 90000 ROWS 5 PRECEDING) + \
                 RANK() OVER (ORDER BY v DIV 90000) AS r FROM {many}) e"
            ),
            "2429980\n",
        ),
        (
            "WITH RECURSIVE r AS (SELECT 0 AS v UNION ALL SELECT v + 1 FROM r WHERE v < 300000) SELECT MAX(v) FROM r"
                .to_string(),
            "300000\n",
        ),
    ];
    run(&mut session, "SET cte_max_recursion_depth = 1000000");
    for (statement, expected) in statements {
        let (longest, text) = longest_stretch(&mut session, &statement);
        assert!(longest <= STRETCH_MS_MAX, "{statement}: {longest} ms at one go");
        assert!(text.ends_with(expected), "{statement}: {text}");
    }
}
