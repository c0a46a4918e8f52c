//! Runs one future on the thread that asks: for start and stop, and for tests. Whatever else sleeps on the
//! thread while the future is polled, its wake-up stays: it is a flag of its own.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use crate::sync::Sleeper;

#[derive(Default)]
struct Rouse(Sleeper);

impl Wake for Rouse {
    fn wake(self: Arc<Self>) {
        self.0.rouse();
    }
}

/// Polls until the future is ready, asleep in between.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let rouse = Arc::new(Rouse::default());
    let waker = Waker::from(rouse.clone());
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => rouse.0.sleep(),
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use std::time::Duration;

    /// Wakes itself, then uses up the thread's token, as anything may that sleeps in a poll.
    #[test]
    fn a_sleep_within_the_poll_swallows_no_wake_up() {
        let mut polled = 0;
        let wakes_itself = poll_fn(|context| {
            polled += 1;
            if polled == 3 {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            std::thread::park_timeout(Duration::from_millis(1));
            Poll::Pending
        });
        block_on(wakes_itself);
        assert_eq!(polled, 3);
    }
}
