//! [`TaskCell`]: where a task's future lies while no thread polls it, and whether the task is on a list of
//! those to be polled.
//!
//! ```text
//!   anybody                      a thread that polls                 somebody else who wants to poll
//!   write what it waits for
//!   queue(): true -> onto a list
//!                                take(): the future
//!                                unqueue()
//!                                poll: sees what was written         take(): nothing, noted as missed
//!                                put_back(): missed -> poll once more
//! ```
//! Laws:
//! 1. The future is in the cell or in one thread's hands; after `close` it is in nobody's, as soon as that
//!    thread brings it back.
//! 2. Who queued a task, or found it queued, before `unqueue` has what it wrote before that seen by the poll
//!    that follows `unqueue`; who comes later finds it not queued and has to put it on a list.
//! 3. Who found the cell empty is not forgotten: whoever puts the future back is told, and sees to it that
//!    the task is polled again.

use crate::sync::Mutex;
use crate::sync::atomic::{AtomicBool, Ordering};

#[derive(Debug)]
struct Place<W> {
    work: Option<W>,
    /// Somebody wanted to poll it and found it away.
    missed: bool,
    /// The task has ended.
    closed: bool,
}

/// A task's cell.
#[derive(Debug)]
pub struct TaskCell<W> {
    /// On a list already.
    queued: AtomicBool,
    place: Mutex<Place<W>>,
}

impl<W> TaskCell<W> {
    /// Nobody sits here yet; queued, because whoever makes a task puts it on a list.
    pub fn new_queued() -> Self {
        TaskCell {
            queued: AtomicBool::new(true),
            place: Mutex::new(Place { work: None, missed: false, closed: false }),
        }
    }

    /// What the task waits for is there: true if the caller has to put it on a list, false if it is on one.
    #[must_use]
    pub fn queue(&self) -> bool {
        !self.queued.swap(true, Ordering::SeqCst)
    }

    /// As [`TaskCell::queue`], without the exchange: only for the thread that keeps the list. A call of
    /// `queue` that comes in between puts the task on a list once more, which is harmless.
    #[must_use]
    pub fn queue_here(&self) -> bool {
        let waits = !self.queued.load(Ordering::Relaxed);
        if waits {
            self.queued.store(true, Ordering::Relaxed);
        }
        waits
    }

    /// Before a poll of a task from a list. An exchange: whoever found the task queued before it has its
    /// condition seen by this poll.
    pub fn unqueue(&self) {
        self.queued.swap(false, Ordering::AcqRel);
    }

    /// Whether it is on a list, as far as one can tell.
    pub fn is_queued(&self) -> bool {
        self.queued.load(Ordering::Relaxed)
    }

    /// Takes the future in order to poll it. None: another thread has it, which will see to it that the task
    /// is polled once more, or the task has ended.
    pub fn take(&self) -> Option<W> {
        let mut place = self.place.lock();
        let work = place.work.take();
        place.missed |= work.is_none();
        work
    }

    /// Brings it back; true if somebody wanted it meanwhile.
    ///
    /// # Errors
    /// The task has ended: the future, for the caller to drop.
    pub fn put_back(&self, work: W) -> Result<bool, W> {
        let mut place = self.place.lock();
        if place.closed {
            return Err(work);
        }
        debug_assert!(place.work.is_none(), "a future was brought back twice");
        place.work = Some(work);
        Ok(std::mem::take(&mut place.missed))
    }

    /// The task has ended: its future, for the caller to drop, unless a thread has it, which will drop it.
    pub fn close(&self) -> Option<W> {
        let mut place = self.place.lock();
        place.closed = true;
        place.work.take()
    }
}

#[cfg(test)]
mod tests;
