//! An engine whose disk has failed answers nothing any more, and readers that wait for what they saw.

use turnstile_sys::disk::Disk;
use turnstile_sys::fault_disk::{FaultDisk, FaultKind};
use turnstile_sys::pausing_disk::{Paused, PausingDisk};

use super::*;

const REFUSED: &str = "error 1105 The storage engine has stopped: redo sync failed: ";

fn open_on(disk: Arc<dyn Disk>) -> Arc<Database> {
    let engine = Engine::open(disk, Config::default()).unwrap();
    block_on(Database::open(engine)).unwrap()
}

#[test]
fn after_a_failed_sync_of_the_log_every_statement_is_refused() {
    for kind in [FaultKind::InputOutput, FaultKind::NoSpaceAtSync] {
        let disk = FaultDisk::new(1);
        let db = open_on(Arc::new(disk.clone()));
        let (mut one, mut other) = (session(&db), session(&db));
        run(&mut one, "CREATE TABLE t (id INT PRIMARY KEY, v INT)");
        run(&mut one, "INSERT INTO t VALUES (1, 10)");
        let prepared = block_on(other.prepare(b"SELECT v FROM t WHERE id = ?")).unwrap();
        assert_eq!(run(&mut other, "BEGIN"), "ok\n");
        assert_eq!(run(&mut other, "SELECT v FROM t"), "10\n");
        // The write of the log, then its sync.
        disk.fail_at(if kind == FaultKind::InputOutput { 2 } else { 1 }, kind);
        disk.fail_from(2, kind);
        let refused = run(&mut one, "UPDATE t SET v = 11");
        assert!(refused.starts_with(REFUSED), "{refused}");
        disk.heal();
        for statement in [
            "SELECT v FROM t",
            "SELECT 1",
            "COMMIT",
            "BEGIN",
            "SET @a = 1",
            "SHOW STATUS",
            "INSERT INTO t VALUES (2, 2)",
            "PREPARE p FROM 'SELECT 1'",
            "SELECT 1; SELECT 2",
        ] {
            for session in [&mut one, &mut other] {
                let answer = run(session, statement);
                assert!(answer.starts_with(REFUSED), "{statement}: {answer}");
            }
        }
        let mut out = Text::default();
        let error = block_on(other.execute(prepared.id, &[Value::Int(1)], &mut out)).unwrap_err();
        assert_eq!((error.code, &*out.text), (1105, ""));
        assert!(block_on(other.prepare(b"SELECT 1")).is_err() && one.check_engine().is_err());
        drop((one, other, db));
        // What was acknowledged is there, and one state or the other of what was not.
        let answer = run(&mut session(&open_on(Arc::new(disk.crash()))), "SELECT v FROM t");
        assert!(["10\n", "11\n"].contains(&&*answer), "{answer}");
    }
}

/// Has the log stop while rows are on their way.
struct StopsAtFirstRow(Arc<Database>, Text);

impl ResultSink for StopsAtFirstRow {
    fn columns(&mut self, columns: &[ColumnMeta]) -> Result<(), SqlError> {
        self.1.columns(columns)
    }
    fn row(&mut self, row: &[Value]) -> Result<(), SqlError> {
        self.0.engine().storage().wal.stop("planted");
        self.1.row(row)
    }
    fn end(&mut self, _: u16, _: u16) {
        self.1.text.push_str("the end");
    }
    fn ok(&mut self, _: u64, _: u64, _: u16, _: &str, _: u16) {}
}

#[test]
fn a_result_that_has_begun_when_the_engine_stops_ends_in_an_error() {
    for statement in ["SELECT * FROM t WHERE v > 0", "SELECT COUNT(*) FROM t UNION SELECT 7"] {
        let db = database();
        let mut session = session(&db);
        run(&mut session, "CREATE TABLE t (id INT PRIMARY KEY, v INT)");
        run(&mut session, "INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)");
        let mut sink = StopsAtFirstRow(db.clone(), Text::default());
        let error = block_on(session.query(statement.as_bytes(), &mut sink)).unwrap_err();
        assert_eq!(error.message, "The storage engine has stopped: planted");
        assert!(!sink.1.text.is_empty() && !sink.1.text.contains("the end"), "{}", sink.1.text);
    }
}

/// A commit stands in the sync of its log. A reader sees it; by itself it answers, with the variable it waits
/// for that sync.
#[test]
fn a_reader_may_wait_for_what_it_saw_to_be_durable() {
    let disk = PausingDisk::new(Arc::new(FaultDisk::new(1)));
    let db = open_on(Arc::new(disk.clone()));
    let (mut writer, mut reader, mut patient) = (session(&db), session(&db), session(&db));
    run(&mut writer, "CREATE TABLE t (id INT PRIMARY KEY, v INT)");
    run(&mut writer, "INSERT INTO t VALUES (1, 10)");
    assert_eq!(run(&mut reader, "SELECT @@turnstile_read_durable"), "0\n");
    assert_eq!(run(&mut patient, "SET turnstile_read_durable = ON; SELECT v FROM t"), "ok\n10\n");
    disk.pause(Paused::Syncs, "redo");
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| run(&mut writer, "UPDATE t SET v = 11"));
        disk.wait_until_paused(1);
        assert_eq!(run(&mut reader, "SELECT v FROM t"), "11\n", "a reader sees what is not durable");
        let mut out = Text::default();
        {
            let mut reading = pin!(patient.query(b"SELECT v FROM t", &mut out));
            let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
            for _ in 0..3 {
                let polled = reading.as_mut().poll(&mut Context::from_waker(&waker));
                assert!(polled.is_pending(), "it has answered before the sync: {polled:?}");
            }
            assert!(!writing.is_finished());
            disk.resume();
            block_on(reading).unwrap();
        }
        assert_eq!(out.text, "11\n");
        assert!(writing.join().unwrap().starts_with("ok 1"));
    });
}
