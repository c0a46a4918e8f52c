//! Start and stop: a second server on the same directory is refused, data survives a clean restart, a
//! vanished client releases its locks.

use std::process::Command;

use super::{Scratch, binary, connect, start};

#[test]
fn data_survives_and_a_second_server_is_refused() {
    let scratch = Scratch::new("restart");
    let (server, target) = start(&scratch, &[]);
    let mut client = connect(&target);
    client.query("CREATE DATABASE d").unwrap();
    client
        .query("CREATE TABLE d.t (id INT PRIMARY KEY AUTO_INCREMENT, v MEDIUMTEXT, UNIQUE KEY (v(20)))")
        .unwrap();
    client.query("INSERT INTO d.t (v) VALUES ('one'), (REPEAT('long ', 20000))").unwrap();
    let output = Command::new(binary())
        .args(["serve", "--no-defaults", "--port=0"])
        .arg(format!("--datadir={}", scratch.data().display()))
        .output()
        .unwrap();
    assert!(!output.status.success(), "a second server opened the same data directory");
    server.terminate().unwrap();

    let (server, target) = start(&scratch, &[]);
    let mut client = connect(&target);
    assert_eq!(client.number("SELECT COUNT(*) FROM d.t").unwrap(), 2);
    assert_eq!(client.number("SELECT LENGTH(v) FROM d.t WHERE id = 2").unwrap(), 100_000);
    client.query("INSERT INTO d.t (v) VALUES ('three')").unwrap();
    assert_eq!(client.number("SELECT MAX(id) FROM d.t").unwrap(), 3);
    server.terminate().unwrap();
}

#[test]
fn a_client_that_vanishes_releases_its_locks() {
    let scratch = Scratch::new("vanish");
    let (server, target) = start(&scratch, &["--innodb-lock-wait-timeout=30"]);
    let mut client = connect(&target);
    client.query("CREATE DATABASE d").unwrap();
    client.query("CREATE TABLE d.t (id INT PRIMARY KEY, v INT)").unwrap();
    client.query("INSERT INTO d.t VALUES (1, 1)").unwrap();
    let mut vanishing = connect(&target);
    vanishing.query("BEGIN").unwrap();
    vanishing.query("UPDATE d.t SET v = 2 WHERE id = 1").unwrap();
    drop(vanishing);
    let begin = std::time::Instant::now();
    client.query("UPDATE d.t SET v = v + 10 WHERE id = 1").unwrap();
    assert!(begin.elapsed().as_secs() < 5, "the lock was released after {:?}", begin.elapsed());
    assert_eq!(client.number("SELECT v FROM d.t").unwrap(), 11);
    server.terminate().unwrap();
}
