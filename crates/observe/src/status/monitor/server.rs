//! The sections about the server itself: its own work, its latches, its rows.

use std::fmt::Write;

use turnstile_sys::latch::{ClassKind, WaitStats, classes, wait_array, waiting_now};

use super::{Span, heading};
use turnstile_catalog::catalog::Catalog;

/// BACKGROUND THREAD: rounds of purge that found work count as active loops of the master thread.
pub fn background_thread(out: &mut String, span: &Span) {
    heading(out, "BACKGROUND THREAD");
    let (rounds, syncs) = (span.now.purge.rounds, span.now.log.syncs);
    let _ = writeln!(out, "srv_master_thread loops: {rounds} srv_active, 0 srv_shutdown, 0 srv_idle");
    let _ = writeln!(out, "srv_master_thread log flush and writes: {syncs}");
}

/// SEMAPHORES: threads that wait for a latch now, then all waits there were: of mutexes, and of latches by
/// what was wanted.
pub fn semaphores(out: &mut String) {
    heading(out, "SEMAPHORES");
    let (mut mutexes, mut shared, mut exclusive) =
        (WaitStats::default(), WaitStats::default(), WaitStats::default());
    for class in classes() {
        let stats = class.stats();
        match class.kind() {
            ClassKind::Mutex => mutexes += stats.total(),
            ClassKind::Latch => {
                shared += stats.shared;
                exclusive += stats.exclusive;
            }
        }
    }
    let (reservations, signals) = wait_array();
    let _ = writeln!(out, "OS WAIT ARRAY INFO: reservation count {reservations}, signal count {signals}");
    for one in waiting_now() {
        let file = one.place.file().rsplit('/').next().unwrap_or_default();
        let seconds = one.since.elapsed().as_secs_f64();
        let (thread, line, class) = (one.thread, one.place.line(), one.class);
        let _ = writeln!(
            out,
            "--Thread {thread} has waited at {file} line {line} for {seconds:.2} seconds the semaphore:\n{class}"
        );
    }
    let line = |name: &str, waits: &WaitStats| {
        format!("{name} {}, rounds {}, OS waits {}\n", waits.spins, waits.rounds, waits.parks)
    };
    out.push_str(&line("Mutex spin waits", &mutexes));
    out.push_str(&line("RW-shared spins", &shared));
    out.push_str(&line("RW-excl spins", &exclusive));
    out.push_str(&line("RW-sx spins", &WaitStats::default()));
    let per_wait = |waits: &WaitStats| waits.rounds as f64 / waits.spins.max(1) as f64;
    let _ = writeln!(
        out,
        "Spin rounds per wait: {:.2} mutex, {:.2} RW-shared, {:.2} RW-excl, 0.00 RW-sx",
        per_wait(&mutexes),
        per_wait(&shared),
        per_wait(&exclusive)
    );
}

/// ROW OPERATIONS
pub fn row_operations(out: &mut String, db: &Catalog, span: &Span) {
    heading(out, "ROW OPERATIONS");
    let now = &span.now;
    let mdl = db.engine().gate().counts();
    let waiting = mdl.queued + mdl.sleeping;
    let _ = writeln!(out, "{} queries inside InnoDB, {waiting} queries in queue", mdl.inside);
    let _ = writeln!(out, "{} read views open inside InnoDB", now.views);
    let _ = writeln!(out, "Process ID={}, Main thread ID=0 , state=sleeping", std::process::id());
    let _ = writeln!(
        out,
        "Number of rows inserted {}, updated {}, deleted {}, read {}",
        now.rows.inserted, now.rows.updated, now.rows.deleted, now.rows.read
    );
    let _ = writeln!(
        out,
        "{:.2} inserts/s, {:.2} updates/s, {:.2} deletes/s, {:.2} reads/s",
        span.rate(|one| one.rows.inserted),
        span.rate(|one| one.rows.updated),
        span.rate(|one| one.rows.deleted),
        span.rate(|one| one.rows.read)
    );
}
