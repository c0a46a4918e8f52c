//! Giving way: a long loop that never has to wait lets the other sessions of its worker run now and then.

use std::future::poll_fn;
use std::task::Poll;
use std::time::{Duration, Instant};

/// Pending once, woken at once.
pub async fn yield_now() {
    let mut waited = false;
    poll_fn(|context| {
        if std::mem::replace(&mut waited, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// A statement yields after this long: a point statement waits for half of it (`./x bench beside-scans`).
/// The bench also prints what one scan alone takes.
pub const SLICE: Duration = Duration::from_micros(500);

/// When a statement last yielded, as far as it has looked; None: it has not looked yet.
#[derive(Default)]
pub struct Slice(Option<Instant>);

impl Slice {
    /// Lets other sessions of the same worker run if the slice is over. How long it has lasted.
    pub async fn breathe(&mut self) -> Duration {
        let elapsed = self.0.get_or_insert_with(Instant::now).elapsed();
        if elapsed >= SLICE {
            yield_now().await;
            self.0 = Some(Instant::now());
        }
        elapsed
    }
}
