//! A deadline for the waits of this layer: metadata locks, SLEEP, GET_LOCK. Cold path only.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use turnstile_engine::interrupt::Interrupt;
use turnstile_sys::timer::{Timer, TimerGuard};

use turnstile_values::error::SqlError;

/// When a wait ends, and who may end it earlier.
#[derive(Debug)]
pub struct Deadline {
    at: Instant,
    interrupt: Arc<Interrupt>,
    guard: Option<TimerGuard>,
}

impl Deadline {
    /// `after` from now, or when the session is killed.
    pub fn after(after: Duration, interrupt: Arc<Interrupt>) -> Deadline {
        let now = Instant::now();
        Deadline {
            at: now.checked_add(after).unwrap_or(now + Duration::from_secs(1 << 30)),
            interrupt,
            guard: None,
        }
    }

    /// Ready with the error when the time is over or the session was killed; else the task is woken when that
    /// happens.
    pub fn poll(&mut self, context: &mut Context<'_>) -> Poll<SqlError> {
        if self.interrupt.poll_killed(context).is_ready() {
            return Poll::Ready(self.interrupt.reason().into());
        }
        if Instant::now() >= self.at {
            return Poll::Ready(SqlError::lock_wait_timeout());
        }
        self.guard = Some(Timer::global().wake_at(self.at, context.waker().clone()));
        Poll::Pending
    }
}

/// Waits for `duration`; false if the session was killed meanwhile.
pub async fn sleep(duration: Duration, interrupt: Arc<Interrupt>) -> bool {
    let mut deadline = Deadline::after(duration, interrupt);
    poll_fn(|context| deadline.poll(context)).await;
    !deadline.interrupt.is_killed()
}
