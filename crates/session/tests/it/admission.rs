//! Admission through SQL: who waits for its client or sleeps has no slot, a tired scan lets a point statement
//! in, and the switches can be flipped under load.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

/// A client that takes nothing until it is told to.
struct Slow {
    asleep: Arc<AtomicBool>,
    rows: u64,
}

impl ResultSink for Slow {
    fn columns(&mut self, _: &[ColumnMeta]) -> Result<(), SqlError> {
        Ok(())
    }
    fn row(&mut self, _: &[Value]) -> Result<(), SqlError> {
        self.rows += 1;
        Ok(())
    }
    fn end(&mut self, _: u16, _: u16) {}
    fn ok(&mut self, _: u64, _: u64, _: u16, _: &str, _: u16) {}
    fn should_flush(&self) -> bool {
        true
    }
    fn poll_flush(&mut self, _: &mut Context<'_>) -> Poll<Result<(), SqlError>> {
        if self.asleep.load(Ordering::SeqCst) { Poll::Pending } else { Poll::Ready(Ok(())) }
    }
}

/// A table of `rows` rows in a database with this limit and so many tickets.
fn stage(rows: u32, limit: u32, tickets: u32) -> (Arc<Database>, Session) {
    let db = database();
    let mut session = session(&db);
    run(&mut session, "CREATE TABLE t (id INT PRIMARY KEY, a INT)");
    let values: Vec<String> = (1..=rows).map(|id| format!("({id}, 1)")).collect();
    assert!(run(&mut session, &format!("INSERT INTO t VALUES {}", values.join(","))).starts_with("ok"));
    run(&mut session, &format!("SET GLOBAL innodb_concurrency_tickets = {tickets}"));
    run(&mut session, &format!("SET GLOBAL innodb_thread_concurrency = {limit}"));
    (db, session)
}

fn inside(db: &Database) -> (u64, u64) {
    let counts = db.engine().gate().counts();
    (counts.inside, counts.queued)
}

#[test]
fn a_slow_client_has_no_slot() {
    let (db, mut other) = stage(2000, 1, 500);
    let mut session = session(&db);
    let asleep = Arc::new(AtomicBool::new(true));
    let mut slow = Slow { asleep: asleep.clone(), rows: 0 };
    let mut reading = Box::pin(session.query(b"SELECT * FROM t", &mut slow));
    let mut once = || reading.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(once().is_pending());
    assert_eq!(inside(&db), (0, 0), "it waits for its client, outside");
    assert_eq!(run(&mut other, "SELECT COUNT(*) FROM t"), "2000\n");
    asleep.store(false, Ordering::SeqCst);
    block_on(poll_fn(|context| {
        context.waker().wake_by_ref();
        reading.as_mut().poll(context)
    }))
    .unwrap();
    drop(reading);
    assert_eq!((slow.rows, inside(&db)), (2000, (0, 0)));
}

#[test]
fn a_sleeper_has_no_slot() {
    let (db, mut other) = stage(3, 1, 500);
    let mut session = session(&db);
    let mut out = Text::default();
    let mut sleeping = Box::pin(session.query(b"SELECT SLEEP(1000) FROM t", &mut out));
    assert!(sleeping.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    assert_eq!(inside(&db), (0, 0));
    assert_eq!(
        run(&mut other, "UPDATE t SET a = 2 WHERE id = 1"),
        "ok 1 (Rows matched: 1  Changed: 1  Warnings: 0)\n"
    );
}

#[test]
fn a_statement_that_is_dropped_half_way_leaves() {
    let (db, _) = stage(50_000, 1, 500);
    let mut session = session(&db);
    let mut out = Text::default();
    let mut counting = Box::pin(session.query(b"SELECT COUNT(*) FROM t WHERE a = 1", &mut out));
    assert!(counting.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending(), "it breathes");
    assert_eq!(inside(&db), (1, 0), "inside: breathing is not leaving");
    let activity = db.registry().list().last().unwrap().status.activity();
    assert!(activity.starts_with("fetching rows, thread declared inside InnoDB "), "{activity}");
    drop(counting);
    assert_eq!(inside(&db), (0, 0), "the session is still there, its slot is not");
}

#[test]
fn a_point_statement_gets_in_between_two_batches_of_a_scan() {
    let (db, mut point) = stage(50_000, 1, 500);
    let mut session = session(&db);
    let mut out = Text::default();
    let mut scan = Box::pin(session.query(b"SELECT COUNT(*) FROM t WHERE a = 1", &mut out));
    let waker = Waker::noop();
    assert!(scan.as_mut().poll(&mut Context::from_waker(waker)).is_pending());
    let mut answer = Text::default();
    let mut reading = Box::pin(point.query(b"SELECT a FROM t WHERE id = 7", &mut answer));
    assert!(reading.as_mut().poll(&mut Context::from_waker(waker)).is_pending());
    assert_eq!(inside(&db), (1, 1));
    while reading.as_mut().poll(&mut Context::from_waker(waker)).is_pending() {
        let polled = scan.as_mut().poll(&mut Context::from_waker(waker));
        assert!(polled.is_pending(), "out of tickets, it makes way before its end");
    }
    drop(reading);
    block_on(scan).unwrap();
    assert_eq!((answer.text.as_str(), out.text.as_str()), ("1\n", "50000\n"));
}

/// The three states of a statement that meets the gate, in the report and in INNODB_TRX; looking needs no
/// slot.
#[test]
fn the_report_says_who_is_inside_and_who_waits() {
    let (db, mut watcher) = stage(50_000, 1, 5000);
    let (mut first, mut second, mut third) = (session(&db), session(&db), session(&db));
    let (mut out, mut point_out, mut late_out) = (Text::default(), Text::default(), Text::default());
    let mut context = Context::from_waker(Waker::noop());
    let mut scan = Box::pin(first.query(b"SELECT COUNT(*) FROM t WHERE a = 1", &mut out));
    run(&mut watcher, "SET GLOBAL innodb_thread_sleep_delay = 0");
    assert!(scan.as_mut().poll(&mut context).is_pending());
    let mut point = Box::pin(second.query(b"SELECT a FROM t WHERE id = 7", &mut point_out));
    assert!(point.as_mut().poll(&mut context).is_pending());
    run(&mut watcher, "SET GLOBAL innodb_adaptive_max_sleep_delay = 0");
    run(&mut watcher, "SET GLOBAL innodb_thread_sleep_delay = 1000000");
    let mut late = Box::pin(third.query(b"UPDATE t SET a = 2 WHERE id = 9", &mut late_out));
    assert!(late.as_mut().poll(&mut context).is_pending());
    let report = run(&mut watcher, "SHOW ENGINE INNODB STATUS");
    for words in [
        " sec fetching rows, thread declared inside InnoDB ",
        " sec waiting in InnoDB queue\\n",
        " sec sleeping before joining InnoDB queue\\n",
        "1 queries inside InnoDB, 2 queries in queue\\n",
    ] {
        assert!(report.contains(words), "{words}: {report}");
    }
    assert_eq!(
        run(
            &mut watcher,
            "SELECT trx_operation_state, trx_concurrency_tickets <= IF(trx_operation_state = 'fetching rows', 5000, 0), trx_query
             FROM information_schema.innodb_trx ORDER BY trx_mysql_thread_id"
        ),
        "fetching rows | 1 | SELECT COUNT(*) FROM t WHERE a = 1\n\
         waiting in InnoDB queue | 1 | SELECT a FROM t WHERE id = 7\n\
         sleeping before joining InnoDB queue | 1 | UPDATE t SET a = 2 WHERE id = 9\n"
    );
    drop((point, late));
    block_on(scan).unwrap();
}

#[test]
fn every_switch_flipped_under_load() {
    let (db, mut switch) = stage(1000, 2, 5);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..3u64)
            .map(|nth| {
                let (db, done) = (&db, &done);
                scope.spawn(move || {
                    let mut session = session(db);
                    let mut updates = 0;
                    while !done.load(Ordering::Relaxed) || updates == 0 {
                        let result = run(&mut session, "UPDATE t SET a = a + 1 WHERE id = 1");
                        assert!(result.starts_with("ok 1 "), "{result}");
                        updates += 1;
                        if updates % 8 == nth {
                            assert_eq!(run(&mut session, "SELECT COUNT(*) FROM t"), "1000\n");
                        }
                    }
                    updates
                })
            })
            .collect();
        let switches = [
            "innodb_thread_concurrency = 1",
            "innodb_concurrency_tickets = 1",
            "innodb_thread_sleep_delay = 200",
            "innodb_thread_concurrency = 3",
            "innodb_adaptive_max_sleep_delay = 0",
            "innodb_thread_concurrency = 0",
            "innodb_concurrency_tickets = 5000",
            "innodb_adaptive_max_sleep_delay = 1000",
            "innodb_thread_concurrency = 2",
            "innodb_thread_sleep_delay = 0",
        ];
        for round in 0..1000 {
            let text = format!("SET GLOBAL {}", switches[round % switches.len()]);
            assert_eq!(run(&mut switch, &text), "ok\n");
        }
        done.store(true, Ordering::Relaxed);
        let updates: u64 = workers.into_iter().map(|worker| worker.join().unwrap()).sum();
        assert_eq!(run(&mut switch, "SELECT a FROM t WHERE id = 1"), format!("{}\n", updates + 1));
    });
    assert_eq!(inside(&db), (0, 0));
}

#[test]
fn commits_are_limited_too() {
    let db = database();
    db.globals().configure("innodb_commit_concurrency", "1").unwrap();
    db.apply_globals();
    let mut session = session(&db);
    run(&mut session, "CREATE TABLE t (id INT PRIMARY KEY)");
    let turn = db.engine().commit_gate().ticket(&Default::default()).map(|mut ticket| {
        block_on(ticket.come_in(&Default::default())).unwrap();
        ticket
    });
    let mut out = Text::default();
    let mut inserting = Box::pin(session.query(b"INSERT INTO t VALUES (1)", &mut out));
    assert!(inserting.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    assert_eq!(db.engine().commit_gate().counts().queued, 1);
    drop(turn);
    block_on(inserting).unwrap();
    assert_eq!(out.text, "ok 1\n");
    assert_eq!(run(&mut session, "SET GLOBAL innodb_commit_concurrency = 7"), "ok\n");
    let refused = run(&mut session, "SET GLOBAL innodb_commit_concurrency = 0");
    assert_eq!(refused, "error 1231 Variable 'innodb_commit_concurrency' can't be set to the value of '0'\n");
    assert_eq!(run(&mut session, "SELECT @@innodb_commit_concurrency"), "7\n");
}
