//! What a statement leaves in memory is let go of when others have been let in: dropping a million rows takes
//! long, and yields nowhere.

use std::cell::Cell;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use turnstile_sys::relief;

use super::*;

/// Does something in one poll; whether another thread was asked for meanwhile.
fn is_relieved<T>(work: impl FnOnce() -> T) -> (bool, T) {
    let asked = Rc::new(Cell::new(false));
    let noted = asked.clone();
    relief::serve(Some(Box::new(move || {
        noted.set(true);
        true
    })));
    relief::begin();
    let done = work();
    relief::end();
    relief::serve(None);
    (asked.get(), done)
}

/// Runs a statement; whether its end, in which it lets go of everything, was relieved: its last poll, or the
/// one before, if its time was over just behind that.
fn ends_relieved(session: &mut Session, statement: &str) -> (bool, String) {
    let mut out = Text::default();
    let relieved = {
        let mut query = pin!(session.query(statement.as_bytes(), &mut out));
        let mut context = Context::from_waker(Waker::noop());
        let mut before = false;
        loop {
            match is_relieved(|| query.as_mut().poll(&mut context)) {
                (relieved, Poll::Ready(done)) => {
                    done.unwrap_or_else(|error| panic!("{statement}: {error}"));
                    break relieved || before;
                }
                (relieved, Poll::Pending) => before = relieved,
            }
        }
    };
    (relieved, out.text)
}

fn stage() -> Session {
    let db = database();
    let mut session = session(&db);
    run(&mut session, "CREATE TABLE n (i INT PRIMARY KEY)");
    let rows: Vec<String> = (0..300).map(|i| format!("({i})")).collect();
    run(&mut session, &format!("INSERT INTO n VALUES {}", rows.join(",")));
    run(&mut session, "SET cte_max_recursion_depth = 1000000");
    session
}

/// 90,000 different numbers, and one row of them.
const MANY: &str = "SELECT a.i * 300 + b.i AS k FROM n a, n b";

#[test]
fn many_rows_are_let_go_of_when_others_are_let_in() {
    let mut session = stage();
    for statement in [
        format!(
            "WITH RECURSIVE r AS ({MANY} UNION ALL SELECT k + 1000000 FROM r WHERE k < 0) SELECT COUNT(*) FROM r"
        ),
        format!(
            "WITH RECURSIVE r AS ({MANY} UNION SELECT k + 1000000 FROM r WHERE k < 0) SELECT COUNT(*) FROM r"
        ),
        format!("WITH w AS ({MANY} LIMIT 90000) SELECT COUNT(*) FROM w, (SELECT 1) o"),
        format!("SELECT COUNT(*) FROM ({MANY} LIMIT 90000) t"),
        format!("SELECT COUNT(*) FROM ({MANY} UNION ALL SELECT 1) t"),
        format!("SELECT 5 IN ({MANY})"),
        format!("SELECT 0 > ALL ({MANY})"),
        "SELECT COUNT(DISTINCT a.i * 300 + b.i) FROM n a, n b".to_owned(),
        format!("SELECT COUNT(*) FROM n c JOIN ({MANY} LIMIT 90000) t ON t.k = c.i"),
        format!(
            "SELECT 1 FROM n WHERE i = 1 AND i + 1 IN ({})",
            (0..70_000).map(|i| i.to_string()).collect::<Vec<_>>().join(",")
        ),
    ] {
        let (relieved, answer) = ends_relieved(&mut session, &statement);
        assert!(!answer.is_empty() && relieved, "{}: {answer}", &statement[..statement.len().min(200)]);
    }
    let (relieved, _) = ends_relieved(&mut session, "SELECT COUNT(*) FROM n");
    assert!(!relieved, "a short statement needs nobody");
}

#[test]
fn what_a_session_keeps_is_let_go_of_when_others_are_let_in() {
    let mut session = stage();
    let parts: Vec<String> = (0..30_000).map(|i| i.to_string()).collect();
    let text = format!("SELECT 1 IN ({})", parts.join(","));
    let prepared = block_on(session.prepare(text.as_bytes())).unwrap();
    assert!(is_relieved(|| session.close(prepared.id)).0, "a prepared statement is closed");
    let sets: Vec<String> = (0..70_000).map(|i| format!("@v{i} = {i}")).collect();
    run(&mut session, &format!("SET {}", sets.join(",")));
    assert!(is_relieved(|| drop(session)).0, "user variables end with their session");
}

/// A text of a megabyte is copied, read and told of in its error: there is no step in between at which a
/// statement could yield.
#[test]
fn long_texts_are_read_when_others_are_let_in() {
    let mut session = stage();
    let long = "x".repeat(1 << 20);
    let texts = [
        format!("SELECT 1 /* {long} */"),
        format!("SELECT 1 -- {long}"),
        format!("SELECT 1 {}", " ".repeat(1 << 20)),
        format!("SELECT 1 FROM {long}"),
        format!("SELECT 1 FROM '{long}"),
        format!("SELECT 1 /* {long} */ FROM FROM"),
        format!("PREPARE p FROM 'SELECT 1 /* {long} */'"),
    ];
    for text in texts {
        let relieved = is_relieved(|| drop(run(&mut session, &text))).0;
        assert!(relieved, "{}", &text[..20]);
    }
    let (relieved, _) =
        is_relieved(|| block_on(session.prepare(format!("SELECT 1 /* {long} */").as_bytes())));
    assert!(relieved, "a client prepares it");
}
