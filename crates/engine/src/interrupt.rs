//! A session's interrupt: a kill reaches the session wherever it waits.
//!
//! A kill first sets the state, then takes and wakes the waker; a wait first leaves its waker, then looks at
//! the state. So either the wait sees the kill or the kill sees the waker. A session waits in one place at a
//! time, so there is one waker.

use crate::error::{Error, Result};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use turnstile_sys::sync::Mutex;
use turnstile_sys::sync::atomic::{AtomicU8, Ordering};

const QUERY: u8 = 1;
const CONNECTION: u8 = 2;
const ROLLED_BACK: u8 = 4;

/// Set by KILL, checked by long statements, awaited by every wait.
#[derive(Debug, Default)]
pub struct Interrupt {
    state: AtomicU8,
    waker: Mutex<Option<Waker>>,
}

impl Interrupt {
    /// A new, quiet interrupt.
    pub fn new() -> Self {
        Self::default()
    }
    /// Ends the running statement.
    pub fn kill_query(&self) {
        self.kill(QUERY);
    }
    /// Ends the running statement and the connection.
    pub fn kill_connection(&self) {
        self.kill(QUERY | CONNECTION);
    }
    fn kill(&self, bits: u8) {
        self.state.fetch_or(bits, Ordering::SeqCst);
        self.wake();
    }
    /// Ends the running statement because its transaction is to be rolled back: allowed under a mutex;
    /// [`Interrupt::wake`] must follow.
    pub fn note_kill(&self) {
        self.state.fetch_or(ROLLED_BACK, Ordering::SeqCst);
    }
    /// Has whoever waits look at what was noted.
    pub fn wake(&self) {
        let waker = self.waker.lock().take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
    /// Forgets a killed statement (not a killed connection).
    pub fn clear_query(&self) {
        // Every statement begins with it, and hardly any was killed: a load then, no exchange. A kill that
        // comes just now is one that comes a moment later.
        if self.state.load(Ordering::Relaxed) & !CONNECTION != 0 {
            self.state.fetch_and(CONNECTION, Ordering::SeqCst);
        }
    }
    /// Whether the statement is to end.
    pub fn is_killed(&self) -> bool {
        self.state.load(Ordering::SeqCst) != 0
    }
    /// Forgets that the transaction was to be rolled back, which it is; a kill that comes meanwhile stays.
    pub fn clear_rolled_back(&self) {
        // Whoever noted it did so before the transaction ended, under its mutex.
        if self.state.load(Ordering::Relaxed) & ROLLED_BACK != 0 {
            self.state.fetch_and(!ROLLED_BACK, Ordering::SeqCst);
        }
    }
    /// Whether somebody ended the statement, and not only its transaction.
    pub fn is_query_killed(&self) -> bool {
        self.state.load(Ordering::SeqCst) & (QUERY | CONNECTION) != 0
    }
    /// Whether the connection is to end.
    #[inline]
    pub fn is_connection_killed(&self) -> bool {
        self.state.load(Ordering::SeqCst) & CONNECTION != 0
    }
    /// An error once the statement is to end: [`Interrupt::reason`]; long loops ask now and then. One relaxed
    /// load while nobody kills.
    pub fn check(&self) -> Result<()> {
        if self.state.load(Ordering::Relaxed) == 0 { Ok(()) } else { Err(self.reason()) }
    }
    /// Why a statement ends that was interrupted: `Killed` by somebody, or else `GroupRolledBack`, since its
    /// transaction is to be. Nobody was killed who is told so.
    #[cold]
    pub fn reason(&self) -> Error {
        if self.is_query_killed() { Error::Killed } else { Error::GroupRolledBack }
    }
    /// Whether the statement is to end; if not, the task is woken when it is.
    pub fn poll_killed(&self, context: &mut Context<'_>) -> Poll<()> {
        {
            let mut waker = self.waker.lock();
            match &mut *waker {
                Some(waker) if waker.will_wake(context.waker()) => {}
                other => *other = Some(context.waker().clone()),
            }
        }
        if self.is_killed() { Poll::Ready(()) } else { Poll::Pending }
    }
    /// Runs a wait that a kill ends: [`Interrupt::reason`] drops the wait, so its drop must take it back.
    pub async fn interruptible<F: Future>(&self, wait: F) -> Result<F::Output> {
        let mut wait = pin!(wait);
        poll_fn(|context| {
            if let Poll::Ready(output) = wait.as_mut().poll(context) {
                return Poll::Ready(Ok(output));
            }
            self.poll_killed(context).map(|()| Err(self.reason()))
        })
        .await
    }
}

#[cfg(test)]
mod tests;
