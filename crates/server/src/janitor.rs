//! The janitor: a thread that ends connections whose clients have been silent for longer than their `wait_timeout`.
//!
//! A session notes when it begins to wait for its client anyway (for SHOW PROCESSLIST), so idleness costs a statement
//! nothing: the janitor looks at those notes once a second. With `innodb_status_output` it also writes the report of
//! SHOW ENGINE INNODB STATUS into the log, four times a minute.
//! It writes into the log once that the engine has stopped.
//! Every ten seconds, if the process has much more memory than its buffer pool, what was freed goes back to the
//! machine. Timeouts within a message, an answer or a login are deadlines
//! set where the wait is, since these waits are rare.

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
/// Resident memory beside the buffer pool from which on freed memory goes back.
const MEMORY_KEPT_BYTES: u64 = 128 << 20;

/// The thread.
pub struct Janitor {
    stopping: Arc<(Mutex<bool>, Condvar)>,
    thread: JoinHandle<()>,
}

/// Without this the memory of one huge answer or transaction would stay with the allocator for good.
fn give_back_memory(database: &Database) {
    let pool = match database.globals().named("innodb_buffer_pool_size") {
        Value::Int(bytes) => u64::try_from(bytes).unwrap_or(0),
        Value::UInt(bytes) => bytes,
        _ => 0,
    };
    if heap::resident_bytes() > pool.saturating_add(MEMORY_KEPT_BYTES) {
        heap::give_back();
    }
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
            let (stopping, bell) = &*seen;
            let mut stop = stopping.lock();
            let mut rounds = 0;
            let mut memory_rounds = 0;
            let mut told = false;
            while !*stop {
                bell.wait_for(&mut stop, ROUND);
                if !told && let Err(stopped) = database.engine().check_running() {
                    log::error(&format!("{stopped}. Every statement is refused; start the server again"));
                    told = true;
                }
                database.registry().end_idle();
                memory_rounds = (memory_rounds + 1) % MEMORY_ROUNDS;
                if memory_rounds == 0 {
                    give_back_memory(&database);
                }
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
