//! A deadline for the waits of a connection that are not idle ones: a login, the rest of a message, a full
//! socket.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use turnstile_sys::timer::{Timer, TimerGuard};

/// When a wait ends.
#[derive(Debug)]
pub struct Deadline {
    at: Instant,
    guard: Option<TimerGuard>,
}

impl Deadline {
    /// `patience` from now.
    pub fn after(patience: Duration) -> Deadline {
        let now = Instant::now();
        Deadline { at: now.checked_add(patience).unwrap_or(now + Duration::from_secs(1 << 30)), guard: None }
    }

    /// Ready when the time is over; else the task is woken then.
    pub fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if Instant::now() >= self.at {
            return Poll::Ready(());
        }
        if self.guard.is_none() {
            self.guard = Some(Timer::global().wake_at(self.at, context.waker().clone()));
        }
        Poll::Pending
    }
}

/// What `work` comes to, unless it takes longer than `patience`.
pub async fn within<F: Future>(patience: Duration, work: F) -> Option<F::Output> {
    let mut deadline = Deadline::after(patience);
    let mut work = pin!(work);
    poll_fn(|context| match work.as_mut().poll(context) {
        Poll::Ready(done) => Poll::Ready(Some(done)),
        Poll::Pending => deadline.poll(context).map(|()| None),
    })
    .await
}
