//! A line of live progress while a load runs: what was done in the last second, on standard error.

use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::clients::Live;

/// Prints until it is dropped.
pub struct Progress {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Begins to print about `live`; `total` affected rows are the goal, 0 if there is none.
    pub fn start(label: String, live: Arc<Live>, total: u64) -> Progress {
        let stop = Arc::new(AtomicBool::new(false));
        let stopping = stop.clone();
        let thread = thread::spawn(move || {
            let terminal = std::io::stderr().is_terminal();
            let (mut before, mut since) = (0, Instant::now());
            while !stopping.load(Ordering::SeqCst) {
                thread::park_timeout(Duration::from_millis(if terminal { 250 } else { 1000 }));
                if stopping.load(Ordering::SeqCst) {
                    break;
                }
                let now = done(&live, total);
                let rate = (now - before) as f64 / since.elapsed().as_secs_f64().max(0.001);
                (before, since) = (now, Instant::now());
                // The last seconds only wait for stragglers.
                if !live.started.load(Ordering::SeqCst) || rate == 0.0 {
                    continue;
                }
                let line = line(&label, now, total, rate);
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

/// How much is done, in what the goal is counted in: a transaction that found nothing left to take is done,
/// but is no part of a stock that was sold.
fn done(live: &Live, total: u64) -> u64 {
    if total > 0 { live.affected.load(Ordering::Relaxed) } else { live.transactions.load(Ordering::Relaxed) }
}

/// What is printed. Once the goal is reached only the last stragglers are awaited, and no rate means
/// anything.
fn line(label: &str, done: u64, total: u64, rate: f64) -> String {
    match total {
        0 => format!("{label}: {done} done, {rate:.0} per second"),
        _ if done >= total => format!("{label}: all {total} done"),
        _ => format!("{label}: {done} of {total} done, {rate:.0} per second"),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_counted_in_what_it_is_and_has_no_rate_once_it_is_reached() {
        let live = Live::default();
        live.transactions.store(501_021, Ordering::Relaxed);
        live.affected.store(499_997, Ordering::Relaxed);
        assert_eq!((done(&live, 499_997), done(&live, 0)), (499_997, 501_021));
        assert_eq!(line("sold", 499_997, 499_997, 0.0), "sold: all 499997 done");
        assert_eq!(line("sold", 400_000, 499_997, 5.0), "sold: 400000 of 499997 done, 5 per second");
        assert_eq!(line("x", 7, 0, 3.0), "x: 7 done, 3 per second");
    }
}
