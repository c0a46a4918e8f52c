//! How long the server waits for its client, and how much it takes from it.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;

use turnstile_lab::client::{Client, packet, server_error};

use super::{Scratch, connect, start};

/// The next packet; None at the end of the stream.
fn next(socket: &mut TcpStream) -> Option<Vec<u8>> {
    let mut header = [0; 4];
    match socket.read_exact(&mut header) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return None,
        Err(error) => panic!("the stream broke: {error}"),
    }
    let mut payload = vec![0; u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize];
    socket.read_exact(&mut payload).unwrap();
    Some(payload)
}

/// A message in as many packets as it needs.
fn send(socket: &mut TcpStream, message: &[u8]) {
    for (nth, piece) in message.chunks(0xff_ffff).enumerate() {
        socket.write_all(&packet(piece, nth as u8)).unwrap();
    }
}

fn code(payload: &[u8]) -> u16 {
    assert_eq!(payload[0], 0xff, "an error was expected: {}", server_error(payload));
    u16::from_le_bytes([payload[1], payload[2]])
}

fn set_up(client: &mut Client) {
    client.query("CREATE DATABASE d").unwrap();
    client.query("CREATE TABLE d.t (id INT PRIMARY KEY, v INT)").unwrap();
    client.query("INSERT INTO d.t VALUES (1, 1)").unwrap();
}

#[test]
fn a_silent_client_is_told_and_its_locks_are_released() {
    let scratch = Scratch::new("silent");
    let (server, target) = start(&scratch, &[]);
    let mut other = connect(&target);
    set_up(&mut other);
    let mut silent = connect(&target);
    silent.query("SET SESSION wait_timeout = 1").unwrap();
    silent.query("BEGIN").unwrap();
    silent.query("UPDATE d.t SET v = 5 WHERE id = 1").unwrap();
    other.query("UPDATE d.t SET v = v + 1 WHERE id = 1").unwrap();
    let mut socket = silent.into_socket();
    assert_eq!(next(&mut socket).map(|packet| code(&packet)), Some(4031));
    assert_eq!(next(&mut socket), None);
    assert_eq!(other.number("SELECT v FROM d.t").unwrap(), 2);
    server.terminate().unwrap();
}

#[test]
fn a_client_that_stops_within_a_message_is_told() {
    let scratch = Scratch::new("halfway");
    let (server, target) = start(&scratch, &[]);
    let mut client = connect(&target);
    // Idleness is something else: it does not end this connection in the middle of its message.
    client.query("SET SESSION net_read_timeout = 3, SESSION wait_timeout = 1").unwrap();
    let mut socket = client.into_socket();
    let whole = packet(b"\x03SELECT 1", 0);
    socket.write_all(&whole[..7]).unwrap();
    assert_eq!(next(&mut socket).map(|packet| code(&packet)), Some(1159));
    assert_eq!(next(&mut socket), None);
    server.terminate().unwrap();
}

#[test]
fn a_client_that_does_not_log_in_is_sent_away() {
    let scratch = Scratch::new("login");
    let (server, target) = start(&scratch, &["--connect-timeout=2"]);
    let mut socket = TcpStream::connect(("127.0.0.1", target.port)).unwrap();
    assert!(next(&mut socket).is_some_and(|greeting| greeting[0] == 10));
    assert_eq!(next(&mut socket), None);
    let mut other = connect(&target);
    let aborted = other.query("SHOW GLOBAL STATUS LIKE 'Aborted_connects'").unwrap();
    assert_eq!(aborted.rows[0][1].as_deref(), Some("1"));
    server.terminate().unwrap();
}

#[test]
fn a_client_that_takes_nothing_is_sent_away() {
    let scratch = Scratch::new("full");
    let (server, target) = start(&scratch, &[]);
    let mut other = connect(&target);
    set_up(&mut other);
    let mut client = connect(&target);
    client.query("SET SESSION net_write_timeout = 1").unwrap();
    client.query("BEGIN").unwrap();
    client.query("UPDATE d.t SET v = 5 WHERE id = 1").unwrap();
    let mut socket = client.into_socket();
    let large = "SELECT REPEAT('x', 30000000), REPEAT('y', 30000000)";
    socket.write_all(&packet(&[&[3], large.as_bytes()].concat(), 0)).unwrap();
    other.query("UPDATE d.t SET v = v + 1 WHERE id = 1").unwrap();
    assert_eq!(other.number("SELECT v FROM d.t").unwrap(), 2);
    server.terminate().unwrap();
}

#[test]
fn a_message_that_is_too_long_is_refused_in_words() {
    let scratch = Scratch::new("large");
    let (server, target) = start(&scratch, &["--max-allowed-packet=17M"]);
    // In one packet, and in several.
    for len in [17 << 20, 40 << 20] {
        let len = len + 1;
        let mut socket = connect(&target).into_socket();
        let mut message = vec![b' '; len];
        message[0] = 3;
        send(&mut socket, &message);
        let refused = next(&mut socket).unwrap();
        assert_eq!((code(&refused), &refused[3..9]), (1153, &b"#08S01"[..]));
        assert_eq!(next(&mut socket), None);
    }
    let mut socket = connect(&target).into_socket();
    send(&mut socket, format!("\x03SELECT LENGTH('{}')", "x".repeat(16_800_000)).as_bytes());
    assert_eq!(next(&mut socket), Some(vec![1]), "in two packets, and within the limit: one column");
    server.terminate().unwrap();
}
