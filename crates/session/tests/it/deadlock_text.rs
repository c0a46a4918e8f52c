//! LATEST DETECTED DEADLOCK: both sides, their locks and their statements, word for word but for times.

use std::sync::{Arc, Mutex};

use turnstile_session::{Database, Session};

use super::{database, run, session};

/// Runs two statements that deadlock: the first waits on its own thread, the second closes the cycle.
fn collide(
    db: &Arc<Database>,
    mut first: Session,
    one: &'static str,
    second: &mut Session,
    two: &str,
) -> String {
    let waits = db.engine().locks().statistics().current_waits;
    let waiting = std::thread::spawn(move || {
        let result = run(&mut first, one);
        run(&mut first, "COMMIT");
        result
    });
    while db.engine().locks().statistics().current_waits == waits {
        std::thread::yield_now();
    }
    let result = run(second, two);
    run(second, "ROLLBACK");
    let waited = waiting.join().unwrap();
    assert!(waited.starts_with("ok 1"), "{waited}");
    result
}

/// The first has written two rows, the second one: it is the cheaper to roll back.
fn two_in_transactions(db: &Arc<Database>) -> (Session, Session) {
    let (mut first, mut second) = (session(db), session(db));
    for text in [
        "BEGIN",
        "UPDATE account SET balance = balance + 1 WHERE id = 1",
        "UPDATE account SET balance = balance + 1 WHERE id = 3",
    ] {
        assert!(run(&mut first, text).starts_with("ok"), "{text}");
    }
    for text in ["BEGIN", "UPDATE account SET balance = balance + 1 WHERE id = 2"] {
        assert!(run(&mut second, text).starts_with("ok"), "{text}");
    }
    (first, second)
}

#[test]
fn both_sides_are_shown_and_logged_if_asked() {
    let db = database();
    let mut setting_up = session(&db);
    run(&mut setting_up, "CREATE TABLE account (id INT PRIMARY KEY, balance INT)");
    run(&mut setting_up, "INSERT INTO account VALUES (1, 0), (2, 0), (3, 0)");
    assert_eq!(db.latest_deadlock_text(), None);
    let logged: Arc<Mutex<Vec<String>>> = Arc::default();
    let sink = logged.clone();
    assert!(db.deadlocks().set_log(Box::new(move |text| sink.lock().unwrap().push(text.into()))));

    let (first, mut second) = two_in_transactions(&db);
    let (one, two) = (first.id(), second.id());
    let result = collide(
        &db,
        first,
        "UPDATE account SET balance = 1 WHERE id = 2",
        &mut second,
        "UPDATE account SET balance = 2 WHERE id = 1",
    );
    assert_eq!(result, "error 1213 Deadlock found when trying to get lock; try restarting transaction\n");
    let text = db.latest_deadlock_text().unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines[0].as_bytes()[4], lines[0].as_bytes()[13]), (b'-', b':'), "{text}");
    let wanted = [
        "*** (1) TRANSACTION:",
        "sec starting index read\nmysql tables in use 1, locked 1\nLOCK WAIT 2 lock struct(s), heap size 272, 1 row lock(s), undo log entries 1\n",
        &format!("MySQL thread id {two}, OS thread handle {two}, query id "),
        " localhost root updating\nUPDATE account SET balance = 2 WHERE id = 1\n",
        "*** (1) HOLDS THE LOCK(S):\nRECORD LOCKS space id ",
        " n bits 1 index `PRIMARY` of table `test`.`account` trx id ",
        " lock_mode X locks rec but not gap\n",
        "*** (1) WAITING FOR THIS LOCK TO BE GRANTED:\nRECORD LOCKS space id ",
        " lock_mode X locks rec but not gap waiting\n",
        "*** (2) TRANSACTION:",
        "LOCK WAIT 3 lock struct(s), heap size 408, 2 row lock(s), undo log entries 2\n",
        &format!("MySQL thread id {one}, OS thread handle {one}, query id "),
        "UPDATE account SET balance = 1 WHERE id = 2\n",
        "*** (2) HOLDS THE LOCK(S):\n",
        "*** (2) WAITING FOR THIS LOCK TO BE GRANTED:\n",
        "*** WE ROLL BACK TRANSACTION (1)\n",
    ];
    let mut rest = text.as_str();
    for part in wanted {
        let at = rest.find(part).unwrap_or_else(|| panic!("{part:?} is missing in\n{rest}\nof\n{text}"));
        rest = &rest[at + part.len()..];
    }
    assert_eq!(rest, "");
    assert!(logged.lock().unwrap().is_empty(), "nobody asked for the log");

    run(&mut setting_up, "SET GLOBAL innodb_print_all_deadlocks = ON");
    for _ in 0..2 {
        let (first, mut second) = two_in_transactions(&db);
        let change = "UPDATE account SET balance = balance + 1 WHERE id = 1";
        collide(
            &db,
            first,
            "DELETE FROM account WHERE id = 2 AND balance < 0 OR id = 2",
            &mut second,
            change,
        );
        run(&mut setting_up, "INSERT INTO account VALUES (2, 0)");
    }
    let logged = logged.lock().unwrap();
    assert_eq!(logged.len(), 2);
    assert_eq!(Some(&logged[1]), db.latest_deadlock_text().as_ref());
    assert!(run(&mut setting_up, "SHOW GLOBAL STATUS LIKE 'Innodb_deadlocks'").contains("| 3"));
}
