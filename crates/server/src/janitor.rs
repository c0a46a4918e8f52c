//! The janitor: a thread that ends connections whose clients have been silent for longer than their
//! `wait_timeout`.
//!
//! A session notes when it begins to wait for its client anyway (for SHOW PROCESSLIST), so idleness costs a
//! statement nothing: the janitor looks at those notes once a second. With `innodb_status_output` it also
//! writes the report of SHOW ENGINE INNODB STATUS into the log, four times a minute. It writes into the log
//! once that the engine has stopped. Every ten seconds, if the process has much more memory than its buffer
//! pool and its statements account for, what was freed goes back to the machine. Threads that allocate wait
//! meanwhile, so it is not tried again soon if little went back. Timeouts within a message, an answer or a
//! login are deadlines set where the wait is, since these waits are rare.

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use turnstile_session::database::Database;
use turnstile_session::value::Value;
use turnstile_sys::heap;

use crate::log;

/// Time between two rounds.
const ROUND: Duration = Duration::from_secs(1);
/// Rounds between two reports of `innodb_status_output`.
const REPORT_ROUNDS: u32 = 15;

/// Rounds between two looks at the memory.
const MEMORY_ROUNDS: u32 = 10;
/// The same after several looks that were for nothing.
const MEMORY_ROUNDS_MAX: u32 = 160;
/// Resident memory beside the buffer pool from which on freed memory goes back. If less than half of it does,
/// the look was for nothing.
const MEMORY_KEPT_BYTES: u64 = 128 << 20;
/// What is accounted for takes so many times its bytes at most, with what the allocator needs for small
/// pieces.
const MEMORY_PER_ACCOUNTED: u64 = 2;

/// When freed memory goes back to the machine. Without that the memory of one huge answer or transaction
/// would stay with the allocator for good.
struct GivingBack {
    pause: u32,
    rounds_left: u32,
}

impl GivingBack {
    fn new() -> GivingBack {
        GivingBack { pause: MEMORY_ROUNDS, rounds_left: MEMORY_ROUNDS }
    }

    /// Once a round; `resident` and `give_back` are the heap's.
    fn round(&mut self, accounted: impl Fn() -> u64, resident: impl Fn() -> u64, give_back: impl Fn()) {
        self.rounds_left -= 1;
        if self.rounds_left > 0 {
            return;
        }
        let before = resident();
        if before > accounted().saturating_add(MEMORY_KEPT_BYTES) {
            give_back();
            let gone = before.saturating_sub(resident());
            let was_worth_it = gone >= MEMORY_KEPT_BYTES / 2;
            self.pause = if was_worth_it { MEMORY_ROUNDS } else { (self.pause * 2).min(MEMORY_ROUNDS_MAX) };
        } else {
            self.pause = MEMORY_ROUNDS;
        }
        self.rounds_left = self.pause;
    }
}

/// What the buffer pool and the statements of all sessions account for.
fn accounted_bytes(database: &Database) -> u64 {
    let pool = match database.globals().named("innodb_buffer_pool_size") {
        Value::Int(bytes) => u64::try_from(bytes).unwrap_or(0),
        Value::UInt(bytes) => bytes,
        _ => 0,
    };
    pool.saturating_add(database.memory().used().saturating_mul(MEMORY_PER_ACCOUNTED))
}

/// The thread.
pub struct Janitor {
    stopping: Arc<(Mutex<bool>, Condvar)>,
    thread: JoinHandle<()>,
}

impl Janitor {
    /// Starts it.
    ///
    /// # Errors
    /// When the kernel refuses a thread.
    pub fn start(database: Arc<Database>) -> io::Result<Janitor> {
        let stopping = Arc::new((Mutex::new(false), Condvar::new()));
        let seen = stopping.clone();
        let thread = thread::Builder::new().name("janitor".into()).spawn(move || {
            let (stopping, changed) = &*seen;
            let mut stop = stopping.lock();
            let mut rounds = 0;
            let mut giving_back = GivingBack::new();
            let mut told = false;
            while !*stop {
                changed.wait_for(&mut stop, ROUND);
                if !told && let Err(stopped) = database.engine().check_running() {
                    log::error(&format!("{stopped}. Every statement is refused; start the server again"));
                    told = true;
                }
                database.registry().end_idle();
                giving_back.round(|| accounted_bytes(&database), heap::resident_bytes, heap::give_back);
                let reports = database.globals().named("innodb_status_output") == Value::Int(1);
                rounds = if reports { rounds + 1 } else { 0 };
                if rounds == REPORT_ROUNDS {
                    rounds = 0;
                    match database.monitor().report(&database) {
                        Ok(report) => log::monitor(&report),
                        Err(error) => log::monitor(&error.to_string()),
                    }
                }
            }
        })?;
        Ok(Janitor { stopping, thread })
    }

    /// Ends it.
    pub fn stop(self) {
        *self.stopping.0.lock() = true;
        self.stopping.1.notify_all();
        // The thread has no failure of its own to report.
        let _ = self.thread.join();
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn memory_is_given_back_where_it_is_worth_it() {
        const MIB: u64 = 1 << 20;
        let (accounted, resident, kept) = (Cell::new(0), Cell::new(0), Cell::new(0));
        let given = Cell::new(0);
        let mut giving_back = GivingBack::new();
        // Times it was tried in so many rounds, while so much is accounted for, resident, and cannot go back.
        let mut tried = |rounds: u32, state: [u64; 3]| {
            given.set(0);
            for _ in 0..rounds {
                accounted.set(state[0] * MIB);
                resident.set(state[1] * MIB);
                kept.set(state[2] * MIB);
                let give_back = || {
                    given.set(given.get() + 1);
                    resident.set(kept.get());
                };
                giving_back.round(|| accounted.get(), || resident.get(), give_back);
            }
            given.get()
        };
        assert_eq!(tried(40, [1000, 1100, 0]), 0, "a statement has it");
        assert_eq!(tried(40, [100, 1100, 200]), 4, "it ended");
        assert_eq!(tried(630, [100, 1100, 1090]), 7, "it does not go back: after 10, 20, 40, 80, 160 rounds");
        assert_eq!(tried(1600, [100, 1100, 1090]), 10);
        assert_eq!(tried(200, [100, 1100, 200]), 5, "then it does");
    }
}
