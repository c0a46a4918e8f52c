//! What the server needs beside its pool: idle connections are small, and data that does not fit the pool
//! stays on disk.

use turnstile_lab::client::Client;
use turnstile_lab::process::{raise_descriptor_limit, resident_bytes};

use super::{Scratch, connect, start};

const MIB: u64 = 1 << 20;

#[test]
fn four_thousand_idle_connections_take_a_hundred_megabytes_at_most() {
    raise_descriptor_limit();
    let scratch = Scratch::new("idle");
    let (server, target) = start(&scratch, &[]);
    // What the first connections of all need is not what each one needs.
    let mut clients: Vec<Client> = (0..32).map(|_| connect(&target)).collect();
    let before = resident_bytes(server.id()).unwrap();
    for _ in 0..4096 {
        let mut client = connect(&target);
        assert_eq!(client.number("SELECT 1").unwrap(), 1);
        clients.push(client);
    }
    let added = resident_bytes(server.id()).unwrap().saturating_sub(before);
    println!("4,096 idle connections: {} KiB", added / 1024);
    assert!(added <= 100 * MIB, "4,096 idle connections added {} MiB", added / MIB);
    drop(clients);
    server.terminate().unwrap();
}

/// Rows of about a kilobyte: with their index more than four times the pool.
const ROWS: i64 = 64_000;
const POOL: u64 = 16 * MIB;

#[test]
fn data_four_times_the_pool_stays_within_the_pool_and_three_hundred_megabytes() {
    let scratch = Scratch::new("four-times");
    let (server, target) =
        start(&scratch, &["--innodb-buffer-pool-size=16M", "--innodb-redo-log-capacity=32M"]);
    let mut client = connect(&target);
    client.query("CREATE DATABASE big").unwrap();
    client.query("CREATE TABLE big.t (id INT PRIMARY KEY, k INT, pad VARCHAR(1000))").unwrap();
    let pad = "x".repeat(1000);
    for start in (0..ROWS).step_by(500) {
        let rows = (start..start + 500).map(|id| format!("({id}, {}, '{pad}')", id * 7919 % ROWS));
        client.query(&format!("INSERT INTO big.t VALUES {}", rows.collect::<Vec<_>>().join(","))).unwrap();
    }
    client.query("CREATE INDEX k ON big.t (k)").unwrap();
    let mut most = resident_bytes(server.id()).unwrap();
    // A stride that meets no page twice in a row.
    for nth in 0..4000 {
        let id = nth * 4801 % ROWS;
        client.query(&format!("UPDATE big.t SET k = k + {ROWS} WHERE id = {id}")).unwrap();
        if nth % 100 == 0 {
            most = most.max(resident_bytes(server.id()).unwrap());
        }
    }
    assert_eq!(client.number("SELECT COUNT(*) FROM big.t WHERE LENGTH(pad) = 1000").unwrap(), ROWS);
    let by_index = format!("SELECT COUNT(*) FROM big.t FORCE INDEX (k) WHERE k >= {ROWS}");
    assert_eq!(client.number(&by_index).unwrap(), 4000);
    most = most.max(resident_bytes(server.id()).unwrap());
    println!("most resident: {} MiB with a pool of {} MiB", most / MIB, POOL / MIB);
    assert!(most <= POOL + 300 * MIB, "{} MiB", most / MIB);
    server.terminate().unwrap();
}
