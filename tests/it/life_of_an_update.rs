//! "Life of an UPDATE" in ARCHITECTURE names nine files in the order in which a statement passes through
//! them. A server in this process runs that statement, and the marks it leaves on its way are that list.

use std::thread::ThreadId;

use turnstile_sys::fault_disk::FaultDisk;
use turnstile_sys::trail::follow;

use super::connect;
use super::four_waits::House;

/// The files of the table, in order, as paths from the repository's root.
fn files_told() -> Vec<String> {
    let text = include_str!("../../ARCHITECTURE.md");
    let table = text.split("## Life of an UPDATE").nth(1).unwrap().split("\n## ").next().unwrap();
    let rows = table.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| #"));
    rows.map(|line| format!("crates/{}", line.split('`').nth(1).unwrap())).collect()
}

#[test]
fn an_update_passes_through_the_nine_files() {
    if !cfg!(debug_assertions) {
        // Only such builds leave marks; `cargo test` makes one.
        return;
    }
    let house = House::open(&FaultDisk::new(11));
    let mut client = connect(&house.target);
    let sale = "UPDATE test_update SET stock = stock - 1 WHERE id = 1 AND stock > 3";
    for statement in [
        "CREATE DATABASE d",
        "USE d",
        "CREATE TABLE test_update (id INT PRIMARY KEY, stock INT)",
        "INSERT INTO test_update VALUES (1, 100)",
        sale,
        sale,
    ] {
        client.query(statement).unwrap();
    }
    let marks = follow(|| {
        client.query(sale).unwrap();
    });
    drop(client);
    house.close();
    // What other threads do meanwhile (purge, the page flusher, other tests' servers) is another life.
    let mut lives: Vec<(ThreadId, Vec<&str>)> = Vec::new();
    for (thread, file) in marks {
        let known = lives.iter().position(|(known, _)| *known == thread);
        let at = known.unwrap_or_else(|| {
            lives.push((thread, Vec::new()));
            lives.len() - 1
        });
        let files = &mut lives[at].1;
        if !files.contains(&file) {
            files.push(file);
        }
    }
    let told = files_told();
    assert!(lives.iter().any(|(_, files)| *files == told), "told {told:#?}, seen {lives:#?}");
}
