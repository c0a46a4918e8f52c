//! A wait costs nothing: thousands of sessions that wait for one row hold no thread, and others answer at
//! once.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use turnstile_lab::client::packet;
use turnstile_lab::process::{raise_descriptor_limit, thread_count};

use super::{Scratch, connect, start};

const WAITERS: usize = 4000;

#[test]
fn four_thousand_waiters_hold_no_thread() {
    raise_descriptor_limit();
    let scratch = Scratch::new("waiters");
    let (server, target) = start(&scratch, &["--innodb-lock-wait-timeout=300"]);
    let mut holder = connect(&target);
    holder.query("CREATE DATABASE shop").unwrap();
    holder.query("CREATE TABLE shop.stock (id INT PRIMARY KEY, left_over INT NOT NULL)").unwrap();
    holder.query("INSERT INTO shop.stock VALUES (1, 1000000), (2, 7)").unwrap();
    holder.query("BEGIN").unwrap();
    holder.query("SELECT * FROM shop.stock WHERE id = 1 FOR UPDATE").unwrap();
    let mut statement = vec![3];
    statement.extend_from_slice(b"UPDATE shop.stock SET left_over = left_over - 1 WHERE id = 1");
    let before = thread_count(server.id()).unwrap();
    let mut waiters = Vec::new();
    for _ in 0..WAITERS {
        let mut socket = connect(&target).into_socket();
        socket.write_all(&packet(&statement, 0)).unwrap();
        waiters.push(socket);
    }
    let mut other = connect(&target);
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let answer = other.query("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'").unwrap();
        if answer.rows[0][1].as_deref() == Some("4000") {
            break;
        }
        assert!(Instant::now() < deadline, "not all sessions came to wait: {answer:?}");
    }
    let threads = thread_count(server.id()).unwrap();
    assert!(threads <= before + 2, "{before} threads, {threads} with {WAITERS} waiters");
    let mut slowest = Duration::ZERO;
    for _ in 0..200 {
        let begin = Instant::now();
        assert_eq!(other.number("SELECT left_over FROM shop.stock WHERE id = 2").unwrap(), 7);
        slowest = slowest.max(begin.elapsed());
    }
    // Far below any queueing behind 4,000 waiters, far above a noisy neighbour.
    assert!(slowest < Duration::from_millis(500), "a point select took {slowest:?}");
    holder.query("COMMIT").unwrap();
    for socket in &mut waiters {
        let mut header = [0; 5];
        socket.read_exact(&mut header).unwrap();
        assert_eq!(header[4], 0, "a waiter was answered by something else than OK");
    }
    assert_eq!(
        other.number("SELECT left_over FROM shop.stock WHERE id = 1").unwrap(),
        1_000_000 - WAITERS as i64
    );
    server.terminate().unwrap();
}
