//! A client that vanishes, whatever its session waits for and however it goes, releases everything.

use std::io::Write;
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use turnstile_lab::client::{Client, Target, packet};

use super::{Scratch, connect, start};

/// The promise is one second; the rest is for a machine that has other things to do.
const RELEASED_WITHIN: Duration = Duration::from_secs(2);

/// How a client goes.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// Its process was killed: the kernel closes the socket.
    Killed,
    /// It says that it will send no more and listens on.
    HalfClosed,
    /// The connection is reset.
    Reset,
}

impl Way {
    /// What must stay alive for the way to be this one.
    fn go(self, socket: TcpStream) -> Option<TcpStream> {
        match self {
            Way::Killed => {}
            Way::HalfClosed => {
                socket.shutdown(Shutdown::Write).unwrap();
                return Some(socket);
            }
            Way::Reset => {
                let at_once = Some(Duration::ZERO);
                rustix::net::sockopt::set_socket_linger(&socket, at_once).unwrap();
            }
        }
        None
    }
}

/// What its session waits for: a statement, and a statement of another session that tells when it does.
const WAITS: [(&str, &str); 5] = [
    (
        "UPDATE d.t SET v = 2 WHERE id = 1",
        "SELECT COUNT(*) FROM information_schema.global_status \
         WHERE variable_name = 'Innodb_row_lock_current_waits' AND variable_value = '1'",
    ),
    (
        "ALTER TABLE d.gate ADD COLUMN w INT",
        "SELECT COUNT(*) FROM information_schema.processlist WHERE info = 'ALTER TABLE d.gate ADD COLUMN w INT'",
    ),
    (
        "SELECT GET_LOCK('held', -1)",
        "SELECT COUNT(*) FROM information_schema.processlist WHERE state = 'User lock'",
    ),
    (
        "SELECT SLEEP(300)",
        "SELECT COUNT(*) FROM information_schema.processlist WHERE info = 'SELECT SLEEP(300)'",
    ),
    (
        "SELECT COUNT(*) FROM d.n a, d.n b, d.n c, d.n e, d.n f WHERE a.i + b.i + c.i + e.i + f.i = 0",
        "SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE 'SELECT COUNT(*) FROM d.n a%'",
    ),
];

fn until(client: &mut Client, question: &str, answer: i64) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while client.number(question).unwrap() != answer {
        assert!(Instant::now() < deadline, "never {answer}: {question}");
    }
}

fn vanish(target: &Target, other: &mut Client, wait: (&str, &str), way: Way) {
    let sessions = "SELECT COUNT(*) FROM information_schema.processlist";
    until(other, sessions, 1);
    let is_alter = wait.0.starts_with("ALTER");
    let mut leaving = connect(target);
    leaving.query("DO GET_LOCK('leaving', 0)").unwrap();
    if !is_alter {
        leaving.query("BEGIN").unwrap();
        leaving.query("UPDATE d.t SET v = v + 1 WHERE id = 2").unwrap();
    }
    let mut holder = connect(target);
    holder.query("BEGIN").unwrap();
    holder.query("SELECT * FROM d.t WHERE id = 1 FOR UPDATE").unwrap();
    holder.query("SELECT * FROM d.gate").unwrap();
    holder.query("DO GET_LOCK('held', 0)").unwrap();
    let mut socket = leaving.into_socket();
    socket.write_all(&packet(&[&[3], wait.0.as_bytes()].concat(), 0)).unwrap();
    until(other, wait.1, 1);
    let begin = Instant::now();
    let _kept = way.go(socket);
    if is_alter {
        // Those who come while it waits stand behind it.
        other.query("SELECT * FROM d.gate").unwrap();
    } else {
        other.query("UPDATE d.t SET v = v + 1 WHERE id = 2").unwrap();
    }
    assert_eq!(other.number("SELECT GET_LOCK('leaving', 300) + RELEASE_LOCK('leaving')").unwrap(), 2);
    // The session is gone, the holder is there.
    until(other, sessions, 2);
    let took = begin.elapsed();
    assert!(took < RELEASED_WITHIN, "{way:?} in {}: released after {took:?}", wait.0);
}

#[test]
fn whatever_it_waits_for_and_however_it_goes() {
    let scratch = Scratch::new("vanishing");
    let (server, target) = start(&scratch, &["--innodb-lock-wait-timeout=300", "--thread-pool-size=1"]);
    let mut other = connect(&target);
    for statement in [
        "CREATE DATABASE d",
        "CREATE TABLE d.t (id INT PRIMARY KEY, v INT)",
        "INSERT INTO d.t VALUES (1, 1), (2, 2)",
        "CREATE TABLE d.n (i INT PRIMARY KEY)",
    ] {
        other.query(statement).unwrap();
    }
    let numbers: Vec<String> = (1..=100).map(|number| format!("({number})")).collect();
    other.query(&format!("INSERT INTO d.n VALUES {}", numbers.join(","))).unwrap();
    for wait in WAITS {
        for (nth, way) in [Way::Killed, Way::HalfClosed, Way::Reset].into_iter().enumerate() {
            if nth > 0 {
                other.query("DROP TABLE d.gate").unwrap();
            }
            other.query("CREATE TABLE d.gate (i INT)").unwrap();
            vanish(&target, &mut other, wait, way);
        }
        other.query("DROP TABLE d.gate").unwrap();
    }
    let aborted = other.query("SHOW GLOBAL STATUS LIKE 'Aborted_clients'").unwrap();
    assert!(aborted.rows[0][1].as_deref().unwrap().parse::<u32>().unwrap() >= 15, "{aborted:?}");
    server.terminate().unwrap();
}
