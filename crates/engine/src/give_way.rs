//! Giving way: a long loop that never has to wait lets the other sessions of its worker run now and then.

use std::future::poll_fn;
use std::task::Poll;

/// Pending once, woken at once.
pub async fn give_way() {
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
