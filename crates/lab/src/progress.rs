//! A line of live progress while a load runs: what was done in the last second, on standard error.

use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::fleet::Live;

/// Prints until it is dropped.
pub struct Progress {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Begins to print about `live`; `total` transactions are the goal, 0 if there is none.
    pub fn start(label: String, live: Arc<Live>, total: u64) -> Progress {
        let stop = Arc::new(AtomicBool::new(false));
        let stopping = stop.clone();
        let thread = thread::spawn(move || {
            let terminal = std::io::stderr().is_terminal();
            let (mut before, mut since) = (0, Instant::now());
            while !stopping.load(Ordering::SeqCst) {
                thread::park_timeout(Duration::from_millis(if terminal { 250 } else { 1000 }));
                let now = live.transactions.load(Ordering::Relaxed);
                let rate = (now - before) as f64 / since.elapsed().as_secs_f64().max(0.001);
                (before, since) = (now, Instant::now());
                if !live.started.load(Ordering::SeqCst) {
                    continue;
                }
                let share = if total > 0 { format!(" of {total}") } else { String::new() };
                let line = format!("{label}: {now}{share} done, {rate:.0} per second");
                let mut out = std::io::stderr().lock();
                // Progress is a courtesy: a closed terminal must not end the run.
                let _ = if terminal { write!(out, "\r{line}\x1b[K") } else { writeln!(out, "{line}") };
                let _ = out.flush();
            }
            if terminal {
                let _ = write!(std::io::stderr().lock(), "\r\x1b[K");
            }
        });
        Progress { stop, thread: Some(thread) }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // Nothing to report from a progress line.
            let _ = thread.join();
        }
    }
}
