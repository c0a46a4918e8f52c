//! What runs the sessions: each `thread_handling`, the second door, stalls, and the tables that show it.

use std::io::{Read, Write};
use std::net::TcpStream;

use turnstile_lab::client::{Client, ClientError, Target, packet};
use turnstile_lab::process::{free_port, thread_count};

use super::{Scratch, connect, start};

fn code<T>(answer: Result<T, ClientError>) -> u16 {
    match answer {
        Err(ClientError::Server { code, .. }) => code,
        Err(other) => panic!("an error of the server was expected, not {other}"),
        Ok(_) => 0,
    }
}

fn status(client: &mut Client, name: &str) -> i64 {
    let answer = client.query(&format!("SHOW GLOBAL STATUS LIKE '{name}'")).unwrap();
    answer.rows[0][1].as_deref().unwrap().parse().unwrap()
}

fn send(socket: &mut TcpStream, statement: &str) {
    socket.write_all(&packet(&[&[3], statement.as_bytes()].concat(), 0)).unwrap();
}

/// The code of the error packet that comes next; 0 for anything else.
fn next_code(socket: &mut TcpStream) -> u16 {
    let mut header = [0; 4];
    socket.read_exact(&mut header).unwrap();
    let mut payload = vec![0; u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize];
    socket.read_exact(&mut payload).unwrap();
    if payload[0] == 0xff { u16::from_le_bytes([payload[1], payload[2]]) } else { 0 }
}

fn fill(client: &mut Client) {
    client.query("CREATE DATABASE d").unwrap();
    client.query("CREATE TABLE d.t (id INT PRIMARY KEY, v INT)").unwrap();
    client.query("INSERT INTO d.t VALUES (1, 1), (2, 2)").unwrap();
}

/// A lock wait runs out, and a waiter is killed from another connection.
fn waits_end(first: &mut Client, second: &mut Client, third: Client) {
    fill(first);
    first.query("BEGIN").unwrap();
    first.query("UPDATE d.t SET v = 7 WHERE id = 1").unwrap();
    second.query("SET SESSION innodb_lock_wait_timeout = 1").unwrap();
    assert_eq!(code(second.query("UPDATE d.t SET v = 8 WHERE id = 1")), 1205);
    let mut third = third;
    let id = third.number("SELECT CONNECTION_ID()").unwrap();
    let mut waiter = third.into_socket();
    send(&mut waiter, "UPDATE d.t SET v = 9 WHERE id = 1");
    while status(second, "Innodb_row_lock_current_waits") != 1 {}
    second.query(&format!("KILL QUERY {id}")).unwrap();
    assert_eq!(next_code(&mut waiter), 1317);
    send(&mut waiter, "UPDATE d.t SET v = 9 WHERE id = 1");
    while status(second, "Innodb_row_lock_current_waits") != 1 {}
    second.query(&format!("KILL {id}")).unwrap();
    assert_eq!(next_code(&mut waiter), 1317);
    assert_eq!(waiter.read(&mut [0]).unwrap(), 0, "the connection was not closed");
    first.query("COMMIT").unwrap();
    assert_eq!(second.number("SELECT v FROM d.t WHERE id = 1").unwrap(), 7);
}

#[test]
fn waits_end_in_a_pool_of_one() {
    let scratch = Scratch::new("pool");
    // No other thread may be hired, for a slow sync or by the watch: the one there is has to serve everybody,
    // and a wait that held it would leave the clients without an answer.
    let options = ["--thread-pool-size=1", "--thread-pool-max-threads=1"];
    let (server, target) = start(&scratch, &options);
    let (mut first, mut second) = (connect(&target), connect(&target));
    waits_end(&mut first, &mut second, connect(&target));
    // The killed session closes its socket first and leaves the counts a moment later.
    while status(&mut first, "Threads_connected") != 2 {}
    let in_the_group = "SELECT CONNECTIONS FROM information_schema.thread_pool_groups";
    while first.number(in_the_group).unwrap() != 2 {}
    assert_eq!(status(&mut first, "Threadpool_threads"), 1);
    server.terminate().unwrap();
}

#[test]
fn waits_end_with_a_thread_for_each_connection() {
    let scratch = Scratch::new("solo");
    let (server, target) = start(&scratch, &["--thread-handling=one-thread-per-connection"]);
    let (mut first, mut second) = (connect(&target), connect(&target));
    waits_end(&mut first, &mut second, connect(&target));
    let before = thread_count(server.id()).unwrap();
    let more: Vec<Client> = (0..10).map(|_| connect(&target)).collect();
    // A thread of a connection that has ended may have been among those before.
    assert!(thread_count(server.id()).unwrap() >= before + 9);
    drop(more);
    while status(&mut first, "Threads_connected") != 2 {}
    assert!(status(&mut first, "Threads_created") >= 13);
    assert!(first.query("SELECT * FROM information_schema.thread_pool_groups").unwrap().rows.is_empty());
    server.terminate().unwrap();
}

#[test]
fn without_threads_one_connection_comes_after_another() {
    let scratch = Scratch::new("one");
    let extra = free_port().unwrap();
    let door = format!("--extra-port={extra}");
    let options = ["--thread-handling=no-threads", &door, "--extra-max-connections=5"];
    let (server, target) = start(&scratch, &options);
    let mut first = connect(&target);
    first.query("SELECT 1").unwrap();
    // The kernel takes the call, the server does not.
    let mut second = TcpStream::connect(("127.0.0.1", target.port)).unwrap();
    let side = Target::local(extra);
    let mut watcher = connect(&side);
    assert_eq!(status(&mut watcher, "Threads_connected"), 2, "the first and the watcher");
    second.set_nonblocking(true).unwrap();
    let early = second.peek(&mut [0]).map_err(|error| error.kind());
    assert_eq!(early, Err(std::io::ErrorKind::WouldBlock), "it was greeted before its turn");
    second.set_nonblocking(false).unwrap();
    drop(first);
    assert_eq!(second.read(&mut [0]).unwrap(), 1, "it was not greeted when its turn came");
    drop(second);
    waits_end(&mut watcher, &mut connect(&target), connect(&side));
    server.terminate().unwrap();
}

#[test]
fn the_second_door_is_open_when_the_first_is_full() {
    let scratch = Scratch::new("door");
    let extra = free_port().unwrap();
    let door = format!("--extra-port={extra}");
    let (server, target) = start(&scratch, &["--max-connections=2", &door]);
    // Two, and one more for an administrator.
    let mut in_use: Vec<Client> = Vec::new();
    while in_use.len() < 3 {
        // Whoever waited for the server to start may still be on its way out.
        in_use.extend(Client::connect(&target));
    }
    assert_eq!(code(Client::connect(&target)), 1040);
    let side = Target::local(extra);
    let mut administrator = connect(&side);
    assert!(status(&mut administrator, "Connection_errors_max_connections") >= 1);
    let _second = connect(&side);
    assert_eq!(code(Client::connect(&side)), 1040, "the second door has its own limit");
    // The limit is live, and a plain account gets none of the extra places.
    administrator.query("CREATE USER plain@'%'").unwrap();
    let plain = Target { user: "plain".into(), ..target.clone() };
    administrator.query("SET GLOBAL max_connections = 3").unwrap();
    assert_eq!(code(Client::connect(&plain)), 1040);
    administrator.query("SET GLOBAL max_connections = 20").unwrap();
    administrator.query("SET GLOBAL max_user_connections = 2").unwrap();
    in_use.push(connect(&plain));
    in_use.push(connect(&plain));
    assert_eq!(code(Client::connect(&plain)), 1203);
    administrator.query("SET GLOBAL max_user_connections = 0").unwrap();
    in_use.push(connect(&plain));
    server.terminate().unwrap();
}

/// Hashing a few hundred megabytes inside one expression is a poll that takes long: another thread goes on
/// with the group's sessions.
#[test]
fn a_worker_in_a_long_poll_is_relieved() {
    let scratch = Scratch::new("stall");
    let options = ["--thread-pool-size=1", "--thread-pool-stall-limit=5"];
    let (server, target) = start(&scratch, &options);
    let mut other = connect(&target);
    fill(&mut other);
    let mut busy = connect(&target).into_socket();
    let hashes: Vec<String> = (0..40).map(|nth| format!("SHA2(REPEAT('{nth:04}', 4000000), 512)")).collect();
    send(&mut busy, &format!("SELECT {}", hashes.join(", ")));
    for _ in 0..20 {
        assert_eq!(other.number("SELECT v FROM d.t WHERE id = 2").unwrap(), 2);
    }
    busy.set_nonblocking(true).unwrap();
    let early = busy.peek(&mut [0]).map_err(|error| error.kind());
    assert_eq!(early, Err(std::io::ErrorKind::WouldBlock), "the hashes were done too soon to prove anything");
    assert!(status(&mut other, "Threadpool_threads") >= 2);
    busy.set_nonblocking(false).unwrap();
    assert_eq!(next_code(&mut busy), 0);
    server.terminate().unwrap();
}
