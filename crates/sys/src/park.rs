//! The wait cell: one waiter sleeps as a value (a future, no thread), and is completed once, for one reason.
//!
//! ```text
//!      waiter (its future)                      completer, any thread
//!      poll_wait ── reason there? ── Ready       complete(reason) ── already? ── false
//!          │ no: leave the waker                     │ no: leave the reason, take the waker
//!          └── Pending                               └── wake outside the mutex, true
//! ```
//! Both sides meet under one short mutex, so there is no moment at which the waiter has looked and the
//! completer has not seen its waker. The first reason wins; later ones are refused, which is how two
//! completers learn who decided.

use crate::sync::Mutex;
use std::future::poll_fn;
use std::task::{Context, Poll, Waker};

/// A value that one waiter awaits and that anybody may complete, once.
#[derive(Debug)]
pub struct WaitCell<R> {
    inner: Mutex<Inner<R>>,
}

#[derive(Debug)]
struct Inner<R> {
    reason: Option<R>,
    waker: Option<Waker>,
}

impl<R: Copy> WaitCell<R> {
    /// A cell nobody has completed.
    pub fn new() -> Self {
        WaitCell { inner: Mutex::new(Inner { reason: None, waker: None }) }
    }

    /// Ends the wait with this reason and wakes the waiter. False if it had ended already; then nothing
    /// happens.
    pub fn complete(&self, reason: R) -> bool {
        let waker = {
            let mut inner = self.inner.lock();
            if inner.reason.is_some() {
                return false;
            }
            inner.reason = Some(reason);
            inner.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
        true
    }

    /// Has the waiter polled again although nothing is decided, so that it looks at something outside the
    /// cell.
    pub fn nudge(&self) {
        let waker = self.inner.lock().waker.take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// The reason, if the wait has ended.
    pub fn reason(&self) -> Option<R> {
        self.inner.lock().reason
    }

    /// The reason, or leaves the waker. Whatever the waiter looks at besides the cell it must look at *after*
    /// this call: then a nudge is never lost.
    pub fn poll_wait(&self, context: &mut Context<'_>) -> Poll<R> {
        let mut inner = self.inner.lock();
        if let Some(reason) = inner.reason {
            return Poll::Ready(reason);
        }
        match &mut inner.waker {
            Some(waker) if waker.will_wake(context.waker()) => {}
            other => *other = Some(context.waker().clone()),
        }
        Poll::Pending
    }

    /// Waits for the reason.
    pub async fn wait(&self) -> R {
        poll_fn(|context| self.poll_wait(context)).await
    }
}

impl<R: Copy> Default for WaitCell<R> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests;
