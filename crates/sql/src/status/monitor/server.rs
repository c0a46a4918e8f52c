//! The sections about the server itself: its own work, its latches, its rows.

use std::fmt::Write;

use super::{Span, heading};
use crate::database::Database;

/// BACKGROUND THREAD: rounds of purge that found work count as active loops of the master thread.
pub fn background_thread(out: &mut String, span: &Span) {
    heading(out, "BACKGROUND THREAD");
    let (rounds, syncs) = (span.now.purge_rounds, span.now.log.syncs);
    let _ = writeln!(out, "srv_master_thread loops: {rounds} srv_active, 0 srv_shutdown, 0 srv_idle");
    let _ = writeln!(out, "srv_master_thread log flush and writes: {syncs}");
}

/// SEMAPHORES
pub fn semaphores(out: &mut String, _db: &Database) {
    heading(out, "SEMAPHORES");
    out.push_str("OS WAIT ARRAY INFO: reservation count 0, signal count 0\n");
    out.push_str("Mutex spin waits 0, rounds 0, OS waits 0\n");
    for class in ["RW-shared", "RW-excl", "RW-sx"] {
        let _ = writeln!(out, "{class} spins 0, rounds 0, OS waits 0");
    }
    out.push_str("Spin rounds per wait: 0.00 mutex, 0.00 RW-shared, 0.00 RW-excl, 0.00 RW-sx\n");
}

/// ROW OPERATIONS
pub fn row_operations(out: &mut String, _db: &Database, span: &Span) {
    heading(out, "ROW OPERATIONS");
    let now = &span.now;
    out.push_str("0 queries inside InnoDB, 0 queries in queue\n");
    let _ = writeln!(out, "{} read views open inside InnoDB", now.views);
    let _ = writeln!(out, "Process ID={}, Main thread ID=0 , state=sleeping", std::process::id());
    let _ = writeln!(
        out,
        "Number of rows inserted {}, updated {}, deleted {}, read {}",
        now.inserted, now.updated, now.deleted, now.read
    );
    let _ = writeln!(
        out,
        "{:.2} inserts/s, {:.2} updates/s, {:.2} deletes/s, {:.2} reads/s",
        span.rate(|one| one.inserted),
        span.rate(|one| one.updated),
        span.rate(|one| one.deleted),
        span.rate(|one| one.read)
    );
}
