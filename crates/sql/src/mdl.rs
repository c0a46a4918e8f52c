//! The metadata gate of a table: statements and transactions hold it shared, DDL exclusively.
//!
//! One atomic word: the low 32 bits count shared holders, bit 63 says that somebody holds it or wants it exclusively.
//! Taking it shared is one `fetch_add` when no DDL is about. DDL sets the bit, which turns newcomers away, and waits for
//! the count to fall to zero; those turned away wait for the bit to go. Whoever waits has registered its waker before it
//! looks at the word for the last time, so no wake-up is lost.
//!
//! A transaction keeps its shared hold until it ends and never takes the same gate twice (the session remembers), so it
//! cannot block itself behind a waiting DDL. Two DDL statements and two transactions can still block each other in a
//! ring; `lock_wait_timeout` ends that.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

use turnstile_sys::ranked::RankedMutex;

use crate::error::SqlError;
use crate::rank;
use crate::timeout::Deadline;

const EXCLUSIVE: u64 = 1 << 63;

/// A table's gate.
#[derive(Debug)]
pub struct Gate {
    word: AtomicU64,
    waiters: RankedMutex<Vec<Waker>>,
}

/// A shared hold; ends when dropped.
#[derive(Debug)]
pub struct SharedHold(Arc<Gate>);

/// An exclusive hold; ends when dropped.
#[derive(Debug)]
pub struct ExclusiveHold(Arc<Gate>);

impl Default for Gate {
    fn default() -> Self {
        let waiters = RankedMutex::new(rank::SHORT, &rank::METADATA, Vec::new());
        Gate { word: AtomicU64::new(0), waiters }
    }
}

impl Gate {
    /// Takes the gate shared without waiting.
    pub fn try_shared(self: &Arc<Gate>) -> Option<SharedHold> {
        // Whoever waits looks without touching: backing out of the count wakes all who wait, and so would wake itself for ever.
        if self.word.load(Ordering::Acquire) & EXCLUSIVE != 0 {
            return None;
        }
        if self.word.fetch_add(1, Ordering::Acquire) & EXCLUSIVE == 0 {
            return Some(SharedHold(self.clone()));
        }
        self.release_shared();
        None
    }

    /// Takes the gate shared.
    pub async fn shared(self: &Arc<Gate>, deadline: &mut Deadline) -> Result<SharedHold, SqlError> {
        poll_fn(|context| self.poll(context, deadline, Gate::try_shared)).await
    }

    /// Takes the gate exclusively, alone among those who want that.
    pub async fn exclusive(self: &Arc<Gate>, deadline: &mut Deadline) -> Result<ExclusiveHold, SqlError> {
        let hold = poll_fn(|context| self.poll(context, deadline, Gate::try_announce)).await?;
        poll_fn(|context| self.poll(context, deadline, |gate| gate.is_quiet().then_some(()))).await?;
        Ok(hold)
    }

    fn try_announce(self: &Arc<Gate>) -> Option<ExclusiveHold> {
        let before = self.word.fetch_or(EXCLUSIVE, Ordering::AcqRel);
        (before & EXCLUSIVE == 0).then(|| ExclusiveHold(self.clone()))
    }

    fn is_quiet(&self) -> bool {
        self.word.load(Ordering::Acquire) & !EXCLUSIVE == 0
    }

    fn poll<T>(
        self: &Arc<Gate>,
        context: &mut Context<'_>,
        deadline: &mut Deadline,
        attempt: impl Fn(&Arc<Gate>) -> Option<T>,
    ) -> Poll<Result<T, SqlError>> {
        if let Some(done) = attempt(self) {
            return Poll::Ready(Ok(done));
        }
        self.waiters.lock().push(context.waker().clone());
        if let Some(done) = attempt(self) {
            return Poll::Ready(Ok(done));
        }
        deadline.poll(context).map(Err)
    }

    fn release_shared(&self) {
        let before = self.word.fetch_sub(1, Ordering::AcqRel);
        if before & EXCLUSIVE != 0 {
            self.wake();
        }
    }

    fn wake(&self) {
        for waker in std::mem::take(&mut *self.waiters.lock()) {
            waker.wake();
        }
    }
}

impl Drop for SharedHold {
    fn drop(&mut self) {
        self.0.release_shared();
    }
}

impl Drop for ExclusiveHold {
    fn drop(&mut self) {
        self.0.word.fetch_and(!EXCLUSIVE, Ordering::AcqRel);
        self.0.wake();
    }
}

#[cfg(test)]
mod tests;
