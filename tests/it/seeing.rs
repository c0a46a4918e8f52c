//! Everything there is to see, looked at ten times a second while 64 connections change one row: no view
//! fails, none is missing, and nobody's statement fails for being looked at. Not timed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use turnstile_lab::client::Client;

use super::{Scratch, connect, start};

const CONNECTIONS: usize = 64;
const LOOKS: u32 = 30;
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

const SECTIONS: [&str; 9] = [
    "\nBACKGROUND THREAD\n",
    "\nSEMAPHORES\n",
    "\nTRANSACTIONS\n",
    "\nFILE I/O\n",
    "\nINSERT BUFFER AND ADAPTIVE HASH INDEX\n",
    "\nLOG\n",
    "\nBUFFER POOL AND MEMORY\n",
    "\nROW OPERATIONS\n",
    "\nEND OF INNODB MONITOR OUTPUT\n",
];

/// Every table that is computed, by the server's own list.
fn views(watcher: &mut Client) -> Vec<String> {
    let ask = "SELECT table_schema, table_name FROM information_schema.tables
               WHERE table_schema IN ('information_schema', 'performance_schema', 'sys')";
    let name = |column: &Option<String>| column.clone().unwrap();
    let answer = watcher.query(ask).unwrap();
    answer.rows.iter().map(|row| format!("{}.`{}`", name(&row[0]), name(&row[1]))).collect()
}

/// Looks at everything once; how many pairs of a waiter and somebody in its way were seen.
fn look(watcher: &mut Client, views: &[String]) -> usize {
    let mut waits = 0;
    for view in views {
        let seen = watcher.query(&format!("SELECT * FROM {view}"));
        let seen = seen.unwrap_or_else(|error| panic!("{view}: {error}"));
        if view.ends_with("`data_lock_waits`") {
            waits = seen.rows.len();
        }
    }
    for statement in
        ["SHOW FULL PROCESSLIST", "SHOW GLOBAL STATUS", "SHOW GLOBAL VARIABLES", "SHOW ENGINE INNODB MUTEX"]
    {
        assert!(!watcher.query(statement).unwrap().rows.is_empty(), "{statement}");
    }
    let report = watcher.query("SHOW ENGINE INNODB STATUS").unwrap().rows[0][2].clone().unwrap();
    for section in SECTIONS {
        assert!(report.contains(section), "{section} is missing: {report}");
    }
    waits
}

/// Returns when a worker has come to the row that is held, however little of the processor it is given.
fn somebody_waits(watcher: &mut Client) {
    let start = Instant::now();
    while watcher.number("SELECT COUNT(*) FROM performance_schema.data_lock_waits").unwrap() == 0 {
        assert!(start.elapsed() < Duration::from_secs(40), "nobody came to the row that is held");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn every_view_under_a_hot_row() {
    let scratch = Scratch::new("seeing");
    let (server, target) = start(&scratch, &[]);
    let mut watcher = connect(&target);
    watcher.query("CREATE DATABASE d").unwrap();
    watcher.query("CREATE TABLE d.t (id INT PRIMARY KEY, v INT)").unwrap();
    watcher.query("INSERT INTO d.t VALUES (1, 0)").unwrap();
    let views = views(&mut watcher);
    assert!(views.len() > 40, "{views:?}");
    let done = AtomicBool::new(false);
    let (updates, waits) = std::thread::scope(|scope| {
        let worker = || {
            let mut client = connect(&target);
            let mut updates = 0;
            while !done.load(Ordering::Relaxed) {
                client.query("UPDATE d.t SET v = v + 1 WHERE id = 1").unwrap();
                updates += 1;
            }
            updates
        };
        let workers: Vec<_> = (0..CONNECTIONS).map(|_| scope.spawn(worker)).collect();
        let watching = scope.spawn(|| {
            let (start, mut waits) = (Instant::now(), 0);
            // One worker serves the updates without a wait: for a few looks somebody holds the row over round
            // trips.
            let mut holder = connect(&target);
            for number in 0..LOOKS {
                match number {
                    3 => {
                        holder.query("BEGIN").unwrap();
                        holder.query("SELECT v FROM d.t WHERE id = 1 FOR UPDATE").unwrap();
                        somebody_waits(&mut watcher);
                    }
                    6 => drop(holder.query("COMMIT").unwrap()),
                    _ => {}
                }
                if number == LOOKS / 2 {
                    // From here on most of them also queue at the gate.
                    watcher.query("SET GLOBAL innodb_thread_concurrency = 2").unwrap();
                }
                waits += look(&mut watcher, &views);
                std::thread::sleep((BETWEEN_LOOKS * (number + 1)).saturating_sub(start.elapsed()));
            }
            waits
        });
        // Whatever came of the looking, the workers are told to stop.
        let waits = watching.join();
        done.store(true, Ordering::Relaxed);
        let updates: i64 = workers.into_iter().map(|worker| worker.join().unwrap()).sum();
        (updates, waits.unwrap())
    });
    assert!(waits > 0, "64 connections on one row, and nobody was ever seen waiting");
    assert_eq!(connect(&target).number("SELECT v FROM d.t WHERE id = 1").unwrap(), updates);
    server.terminate().unwrap();
}
