//! `innodb_max_purge_lag`: while purge is behind, statements that change rows wait a moment before they
//! begin.
//!
//! Purge works the delay out once a round; a statement reads one number. The wait is part of the admission
//! wait: it comes before the statement has latched, locked or written anything, and it is a deadline at the
//! timer, so it holds no thread. A transaction that has written, or holds a lock, is let through: others
//! would have to wait with it.

use std::future::poll_fn;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::time::{Duration, Instant};

use turnstile_sys::timer::Timer;

use super::Txn;
use crate::error::Result;
use crate::settings::Settings;

/// The longest delay, where `innodb_max_purge_lag_delay` sets no other: 10 seconds.
const DELAY_US_MAX: u64 = 10_000_000;

/// How long a statement is to wait while the history list has this length. InnoDB's formula (MySQL reference
/// manual, "Purge Configuration"): ten milliseconds for each multiple of the lag that is allowed, less five.
pub fn dml_delay_us(settings: &Settings, history: u64) -> u64 {
    let lag = settings.max_purge_lag.load(Ordering::Relaxed);
    if lag == 0 || history <= lag {
        return 0;
    }
    let most = match settings.max_purge_lag_delay.load(Ordering::Relaxed) {
        0 => DELAY_US_MAX,
        most => most.min(DELAY_US_MAX),
    };
    let delay = history.saturating_mul(10_000) / lag - 5_000;
    delay.min(most)
}

impl Txn {
    /// A statement that changes rows is about to begin: waits if purge is too far behind. KILL ends the wait.
    #[inline]
    pub async fn wait_for_purge(&mut self) -> Result<()> {
        match self.purge_delay_us() {
            0 => Ok(()),
            // In a box, so that statements do not carry room for it.
            micros => Box::pin(delay(self, Duration::from_micros(micros))).await,
        }
    }

    /// For how many microseconds [`Txn::wait_for_purge`] would wait.
    #[inline]
    pub fn purge_delay_us(&self) -> u64 {
        let delay = self.kernel.purge.progress.dml_delay_us.load(Ordering::Relaxed);
        if delay == 0 || self.hold.is_some() || self.locks.holds_any() { 0 } else { delay }
    }
}

/// Waits for so long, or until KILL.
async fn delay(txn: &mut Txn, delay: Duration) -> Result<()> {
    let begun = Instant::now();
    let deadline = begun + delay;
    let mut alarm = None;
    let wait = poll_fn(|context| {
        if Instant::now() >= deadline {
            return Poll::Ready(());
        }
        alarm = Some(Timer::global().wake_at(deadline, context.waker().clone()));
        Poll::Pending
    });
    let outcome = txn.options.interrupt.clone().interruptible(wait).await;
    let waited = begun.elapsed().as_micros() as u64;
    txn.kernel.purge.progress.dml_delayed_us.fetch_add(waited, Ordering::Relaxed);
    outcome
}

#[cfg(all(test, not(shuttle)))]
mod tests;
