//! A kill, or a client that vanishes, in each of the four waits: row lock, admission queue, page read, log
//! sync. The server runs in this process over a disk whose reads, or syncs, stand until the test lets them
//! go. A statement ends with its error within a second although the disk stands on; but who waits for the log
//! has committed, and is told so, not otherwise and not before it is durable.

use std::future::Future;
use std::io::ErrorKind;
use std::net::TcpStream;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};

use turnstile_engine::{Config, Engine};
use turnstile_lab::client::{Client, Target};
use turnstile_lab::process::free_port;
use turnstile_server::hosts::ThreadHandling;
use turnstile_server::server::{Keys, Options, Server};
use turnstile_session::database::Database;
use turnstile_sys::fault_disk::FaultDisk;
use turnstile_sys::pausing_disk::{Paused, PausingDisk};

use super::connect;

/// The promise is one second; the rest is for a machine that has other things to do.
const RELEASED_WITHIN: Duration = Duration::from_secs(2);

/// How a wait is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    KillQuery,
    KillConnection,
    Vanish,
}

const WAYS: [Way; 3] = [Way::KillQuery, Way::KillConnection, Way::Vanish];

fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let (mut future, mut context) = (pin!(future), Context::from_waker(&waker));
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park_timeout(Duration::from_secs(1)),
        }
    }
}

/// A server in this process.
pub struct House {
    memory: FaultDisk,
    disk: PausingDisk,
    engine: Arc<Engine>,
    server: Option<Server>,
    pub target: Target,
}

impl House {
    pub fn open(memory: &FaultDisk) -> House {
        let disk = PausingDisk::new(Arc::new(memory.clone()));
        let config = Config { buffer_pool_bytes: 8 << 20, redo_capacity_bytes: 8 << 20, ..Config::default() };
        let engine = Engine::open(Arc::new(disk.clone()), config).unwrap();
        let database = block_on(Database::open(engine.clone())).unwrap();
        let port = free_port().unwrap();
        let options = Options {
            tcp: Some(("127.0.0.1".into(), port)),
            socket: None,
            extra_port: None,
            thread_handling: ThreadHandling::Pool,
            thread_pool_size: 1,
        };
        let server = Server::start(database, options, Keys::default()).unwrap();
        House { memory: memory.clone(), disk, engine, server: Some(server), target: Target::local(port) }
    }

    pub fn close(mut self) {
        self.disk.resume();
        self.server.take().unwrap().stop();
        self.engine.close().unwrap();
    }
}

/// A cold house: `hot` has one small row, `big` has rows of 4,000 bytes of which none but the first is in
/// memory.
fn cold_house() -> House {
    let memory = FaultDisk::new(7);
    let house = House::open(&memory);
    let mut client = connect(&house.target);
    for statement in [
        "CREATE DATABASE d",
        "CREATE TABLE d.hot (id INT PRIMARY KEY, v INT)",
        "INSERT INTO d.hot VALUES (1, 0), (2, 0)",
        "CREATE TABLE d.big (id INT PRIMARY KEY, t TEXT)",
    ] {
        client.query(statement).unwrap();
    }
    for first in (0..400).step_by(20) {
        let rows: Vec<String> = (first..first + 20).map(|id| format!("({id}, REPEAT('x', 3000))")).collect();
        client.query(&format!("INSERT INTO d.big VALUES {}", rows.join(","))).unwrap();
    }
    drop(client);
    house.close();
    let house = House::open(&memory);
    let mut client = connect(&house.target);
    client.query("UPDATE d.hot SET v = v + 1").unwrap();
    client.query("UPDATE d.hot SET v = 0").unwrap();
    assert_eq!(client.number("SELECT LENGTH(t) FROM d.big WHERE id = 0").unwrap(), 3000);
    until(&mut client, "SELECT COUNT(*) FROM information_schema.processlist", 1);
    house
}

fn until(client: &mut Client, question: &str, answer: i64) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while client.number(question).unwrap() != answer {
        assert!(Instant::now() < deadline, "never {answer}: {question}");
    }
}

const SESSIONS: &str = "SELECT COUNT(*) FROM information_schema.processlist";

/// A session and its number, so that others can kill it.
fn session(house: &House) -> (Client, i64) {
    let mut client = connect(&house.target);
    let id = client.number("SELECT CONNECTION_ID()").unwrap();
    (client, id)
}

/// Ends a session's wait in one of the ways. Who has not vanished is still there.
fn end(way: Way, (client, id): (Client, i64), by: &mut Client) -> Option<Client> {
    match way {
        Way::KillQuery => _ = by.query(&format!("KILL QUERY {id}")).unwrap(),
        Way::KillConnection => _ = by.query(&format!("KILL {id}")).unwrap(),
        Way::Vanish => return None,
    }
    Some(client)
}

/// The answer of a statement whose wait was ended is the error for that; afterwards the connection lives, or
/// not, as the way has it.
fn was_interrupted(way: Way, client: Option<Client>) {
    let Some(mut client) = client else { return };
    match (way, client.receive()) {
        (_, Err(error)) if error.code() == Some(1317) => {}
        (Way::KillConnection, Err(error)) if error.code().is_none() => return,
        (_, other) => panic!("{way:?}: {other:?}"),
    }
    let alive = client.query("ROLLBACK").is_ok();
    assert_eq!(alive, way == Way::KillQuery, "{way:?}");
}

fn in_time(begin: Instant, way: Way, what: &str) {
    let took = begin.elapsed();
    assert!(took < RELEASED_WITHIN, "{way:?} in {what}: released after {took:?}");
}

#[test]
fn in_a_page_read() {
    let house = cold_house();
    let mut other = connect(&house.target);
    for (nth, way) in WAYS.into_iter().enumerate() {
        let id = 100 * (nth + 1);
        until(&mut other, SESSIONS, 1);
        let mut leaving = session(&house);
        let mut staying = connect(&house.target);
        leaving.0.query("BEGIN").unwrap();
        leaving.0.query("UPDATE d.hot SET v = v + 100 WHERE id = 1").unwrap();
        house.disk.pause(Paused::Reads, "data");
        leaving.0.send(&format!("UPDATE d.big SET t = 'changed' WHERE id = {id}")).unwrap();
        house.disk.wait_until_paused(1);
        // Another one waits for the same page.
        staying.send(&format!("SELECT LENGTH(t) FROM d.big WHERE id = {id}")).unwrap();
        let asked = "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'SELECT LENGTH(t)%'";
        until(&mut other, asked, 1);
        let begin = Instant::now();
        let left = end(way, leaving, &mut other);
        was_interrupted(way, left);
        other.query("UPDATE d.hot SET v = v + 1 WHERE id = 1").unwrap();
        until(&mut other, "SELECT COUNT(*) FROM performance_schema.data_locks", 0);
        until(&mut other, SESSIONS, 2);
        in_time(begin, way, "a page read");
        assert!(house.disk.paused() > 0, "{way:?}: the disk went on by itself");
        house.disk.resume();
        let answer = staying.receive().unwrap();
        assert_eq!(answer.rows[0][0].as_deref(), Some("3000"), "{way:?}");
        assert_eq!(other.number(&format!("SELECT LENGTH(t) FROM d.big WHERE id = {id}")).unwrap(), 3000);
    }
    assert_eq!(other.number("SELECT v FROM d.hot WHERE id = 1").unwrap(), WAYS.len() as i64);
    drop(other);
    house.close();
}

#[test]
fn in_the_admission_queue_behind_one_who_reads_a_page() {
    let house = cold_house();
    let mut other = connect(&house.target);
    for (nth, way) in WAYS.into_iter().enumerate() {
        let id = 100 * (nth + 1) + 50;
        until(&mut other, SESSIONS, 1);
        let mut leaving = session(&house);
        let mut inside = connect(&house.target);
        leaving.0.query("BEGIN").unwrap();
        leaving.0.query("UPDATE d.hot SET v = v + 100 WHERE id = 1").unwrap();
        other.query("SET GLOBAL innodb_thread_concurrency = 1").unwrap();
        house.disk.pause(Paused::Reads, "data");
        inside.send(&format!("SELECT LENGTH(t) FROM d.big WHERE id = {id}")).unwrap();
        house.disk.wait_until_paused(1);
        leaving.0.send("UPDATE d.hot SET v = v + 100 WHERE id = 2").unwrap();
        let queued = "SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_operation_state LIKE '%InnoDB queue'";
        until(&mut other, queued, 1);
        let begin = Instant::now();
        let left = end(way, leaving, &mut other);
        was_interrupted(way, left);
        until(&mut other, "SELECT COUNT(*) FROM performance_schema.data_locks", 0);
        until(&mut other, SESSIONS, 2);
        in_time(begin, way, "the admission queue");
        assert!(house.disk.paused() > 0, "{way:?}: the disk went on by itself");
        house.disk.resume();
        assert_eq!(inside.receive().unwrap().rows[0][0].as_deref(), Some("3000"), "{way:?}");
        other.query("SET GLOBAL innodb_thread_concurrency = 0").unwrap();
        other.query("UPDATE d.hot SET v = v + 1").unwrap();
    }
    assert_eq!(other.number("SELECT SUM(v) FROM d.hot").unwrap(), 2 * WAYS.len() as i64);
    drop(other);
    house.close();
}

#[test]
fn in_a_row_lock_wait() {
    let house = cold_house();
    let mut other = connect(&house.target);
    for way in WAYS {
        until(&mut other, SESSIONS, 1);
        let mut leaving = session(&house);
        let mut holder = connect(&house.target);
        leaving.0.query("BEGIN").unwrap();
        leaving.0.query("UPDATE d.hot SET v = v + 100 WHERE id = 1").unwrap();
        holder.query("BEGIN").unwrap();
        holder.query("UPDATE d.hot SET v = v + 1 WHERE id = 2").unwrap();
        leaving.0.send("UPDATE d.hot SET v = v + 100 WHERE id = 2").unwrap();
        until(&mut other, "SELECT COUNT(*) FROM performance_schema.data_lock_waits", 1);
        let begin = Instant::now();
        let left = end(way, leaving, &mut other);
        was_interrupted(way, left);
        other.query("UPDATE d.hot SET v = v + 1 WHERE id = 1").unwrap();
        until(&mut other, SESSIONS, 2);
        in_time(begin, way, "a row lock wait");
        holder.query("COMMIT").unwrap();
    }
    assert_eq!(other.number("SELECT SUM(v) FROM d.hot").unwrap(), 2 * WAYS.len() as i64);
    drop(other);
    house.close();
}

/// Nothing has come for this client so far.
fn nothing_has_come(client: Client) -> TcpStream {
    let socket = client.into_socket();
    socket.set_nonblocking(true).unwrap();
    assert_eq!(socket.peek(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock, "an answer before the sync");
    socket.set_nonblocking(false).unwrap();
    socket
}

/// The next packet's first byte; None at the end of the stream.
fn first_byte(socket: &mut TcpStream) -> Option<u8> {
    use std::io::Read;
    let mut header = [0; 4];
    socket.read_exact(&mut header).ok()?;
    let mut payload = vec![0; u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize];
    socket.read_exact(&mut payload).ok()?;
    payload.first().copied()
}

#[test]
fn in_a_log_sync_which_is_past_the_point_of_no_return() {
    let house = cold_house();
    let mut other = connect(&house.target);
    let mut acknowledged = 0;
    // Autocommitted, and by COMMIT.
    for (autocommit, way) in [true, false].into_iter().flat_map(|mode| WAYS.map(|way| (mode, way))) {
        until(&mut other, SESSIONS, 1);
        let mut leaving = session(&house);
        if !autocommit {
            leaving.0.query("BEGIN").unwrap();
            leaving.0.query("UPDATE d.hot SET v = v + 1 WHERE id = 1").unwrap();
        }
        house.disk.pause(Paused::Syncs, "redo");
        let last = if autocommit { "UPDATE d.hot SET v = v + 1 WHERE id = 1" } else { "COMMIT" };
        leaving.0.send(last).unwrap();
        house.disk.wait_until_paused(1);
        let begin = Instant::now();
        let left = end(way, leaving, &mut other);
        // Its locks are free, its change is seen, and readers do not wait for the log.
        assert_eq!(other.number("SELECT v FROM d.hot WHERE id = 1").unwrap(), acknowledged + 1);
        other.query("BEGIN").unwrap();
        other.query("UPDATE d.hot SET v = v + 1 WHERE id = 1").unwrap();
        other.query("ROLLBACK").unwrap();
        in_time(begin, way, "a log sync");
        assert!(house.disk.paused() > 0, "{way:?}: the disk went on by itself");
        let socket = left.map(nothing_has_come);
        house.disk.resume();
        acknowledged += 1;
        if let Some(mut socket) = socket {
            assert_eq!(first_byte(&mut socket), Some(0), "{way:?}: what is durable is acknowledged");
            if way == Way::KillConnection {
                assert_eq!(first_byte(&mut socket), None, "the connection was killed");
            } else {
                use std::io::Write;
                socket.write_all(&turnstile_lab::client::packet(b"\x03DO 1", 0)).unwrap();
                assert_eq!(first_byte(&mut socket), Some(0), "the kill hit the statement after the commit");
            }
        }
        // What has vanished goes too, as soon as the log does.
        until(&mut other, SESSIONS, 1);
        assert_eq!(other.number("SELECT v FROM d.hot WHERE id = 1").unwrap(), acknowledged);
    }
    // The power goes while one more sync stands: all that was acknowledged is there.
    house.disk.pause(Paused::Syncs, "redo");
    other.send("UPDATE d.hot SET v = v + 1 WHERE id = 1").unwrap();
    house.disk.wait_until_paused(1);
    let after = house.memory.crash();
    house.disk.resume();
    assert!(other.receive().is_err(), "acknowledged by a dead disk");
    let house = House::open(&after);
    let found = connect(&house.target).number("SELECT v FROM d.hot WHERE id = 1").unwrap();
    assert!((acknowledged..=acknowledged + 1).contains(&found), "{found} of {acknowledged}");
    house.close();
}
