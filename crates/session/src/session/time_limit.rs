//! `max_execution_time`: a SELECT that takes longer ends with error 3024, wherever it waits or computes.
//!
//! The limit is a timer whose waker is not the task's but ends the statement as KILL QUERY would. A timer may
//! fire a moment after it was taken back, and the next statement must not be hit: firing and ending meet
//! under one mutex, and whoever comes second does nothing. A session without a limit pays one comparison.

use std::sync::Arc;
use std::task::{Wake, Waker};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use turnstile_engine::interrupt::Interrupt;
use turnstile_sys::timer::{Timer, TimerGuard};

use crate::error::{ErrorKind, SqlError, SqlResult};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Running,
    Fired,
    Over,
}

struct Watch {
    interrupt: Arc<Interrupt>,
    state: Mutex<State>,
}

impl Wake for Watch {
    fn wake(self: Arc<Self>) {
        let mut state = self.state.lock();
        if *state == State::Running {
            *state = State::Fired;
            self.interrupt.kill_query();
        }
    }
}

/// The limit of a running statement.
pub(super) struct TimeLimit {
    watch: Arc<Watch>,
    _timer: TimerGuard,
}

impl TimeLimit {
    /// A statement with so many milliseconds begins.
    pub(super) fn begin(milliseconds: u64, interrupt: &Arc<Interrupt>) -> TimeLimit {
        let watch = Arc::new(Watch { interrupt: interrupt.clone(), state: Mutex::new(State::Running) });
        let deadline = Instant::now() + Duration::from_millis(milliseconds.min(u64::from(u32::MAX)));
        let timer = Timer::global().wake_at(deadline, Waker::from(watch.clone()));
        TimeLimit { watch, _timer: timer }
    }

    /// The statement is over: what it gave, or that its time was.
    pub(super) fn end<T>(self, result: SqlResult<T>) -> SqlResult<T> {
        let fired = std::mem::replace(&mut *self.watch.state.lock(), State::Over) == State::Fired;
        if fired {
            // What follows, the end of the transaction or the next statement, is not meant.
            self.watch.interrupt.clear_query();
        }
        match result {
            Err(error) if fired && error.kind() == ErrorKind::Interrupted => Err(SqlError::query_timeout()),
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]
    use super::*;

    #[test]
    fn a_timer_that_fires_late_does_not_hit_the_next_statement() {
        let interrupt = Arc::new(Interrupt::new());
        let limit = TimeLimit::begin(1_000_000, &interrupt);
        let late = limit.watch.clone();
        assert_eq!(limit.end(Ok(1)).unwrap(), 1);
        late.wake();
        assert!(!interrupt.is_killed());
    }

    #[test]
    fn a_timer_that_fires_ends_the_statement_and_nothing_else() {
        let interrupt = Arc::new(Interrupt::new());
        let limit = TimeLimit::begin(1_000_000, &interrupt);
        limit.watch.clone().wake();
        assert!(interrupt.is_killed());
        assert_eq!(limit.end::<()>(Err(SqlError::query_interrupted())).unwrap_err().code, 3024);
        assert!(!interrupt.is_killed());
        let limit = TimeLimit::begin(1_000_000, &interrupt);
        interrupt.kill_query();
        assert_eq!(limit.end::<()>(Err(SqlError::query_interrupted())).unwrap_err().code, 1317);
    }
}
