//! Stepping aside: work that takes long and that nobody else waits for leaves a busy thread to those who are
//! many.
//!
//! ```text
//!   host's thread                           somewhere below, same thread        another thread of the host's
//!   offer(true) ── poll a task ──────────── step().await: Pending, once
//!   take_request()? ── hand the task on ──────────────────────────────────────── poll it: step() is over
//! ```
//! The host knows whether others wait for this thread; who is below knows whether what comes next is long (a
//! report on a thousand sessions takes as long as twenty statements). Neither knows the other. The offer is
//! state of one thread, so there is no race in it, and where nobody offers, a step is nothing. A host that
//! offers must poll a task that took the offer once more without being woken for it: elsewhere, or here if
//! there is no room.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Offer {
    None,
    Open,
    Taken,
}

crate::sync::thread_local! {
    static OFFER: Cell<Offer> = const { Cell::new(Offer::None) };
}

/// Before a poll: whether the task may ask to go on elsewhere.
pub fn offer(open: bool) {
    let offer = if open { Offer::Open } else { Offer::None };
    OFFER.with(|cell| cell.set(offer));
}

/// After the poll: whether it asked. The offer is over.
pub fn take_request() -> bool {
    OFFER.with(|cell| cell.replace(Offer::None)) == Offer::Taken
}

/// What comes next is long and can be done anywhere.
pub fn step() -> StepAside {
    StepAside { asked: false }
}

/// See [`step`].
#[derive(Debug)]
pub struct StepAside {
    asked: bool,
}

impl Future for StepAside {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if self.asked || OFFER.with(Cell::get) != Offer::Open {
            return Poll::Ready(());
        }
        self.asked = true;
        OFFER.with(|cell| cell.set(Offer::Taken));
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::Waker;

    use super::*;

    #[test]
    fn a_step_is_taken_once_and_only_where_it_is_offered() {
        let mut context = Context::from_waker(Waker::noop());
        let mut two = pin!(async {
            step().await;
            step().await;
        });
        assert!(pin!(step()).poll(&mut context).is_ready(), "nobody offers");
        assert!(!take_request());
        offer(true);
        assert!(two.as_mut().poll(&mut context).is_pending());
        assert!(take_request());
        assert!(!take_request(), "the offer is over");
        offer(true);
        // The first step is over wherever it is polled again; the second takes the new offer.
        assert!(two.as_mut().poll(&mut context).is_pending());
        assert!(take_request());
        offer(false);
        assert!(two.as_mut().poll(&mut context).is_ready());
        assert!(!take_request());
    }
}
