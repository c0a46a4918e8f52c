//! A task's waker and the inbox through which other threads reach a worker.

use std::cell::RefCell;
use std::future::Future;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Wake;

use parking_lot::Mutex;

use super::Readiness;

/// What a worker runs.
pub type Session = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A session on its way to a worker.
pub struct NewTask {
    /// The socket to watch. The session holds its own handle of it.
    pub socket: Arc<OwnedFd>,
    /// Where events are noted.
    pub readiness: Arc<Readiness>,
    /// The session.
    pub session: Session,
}

/// What other threads hand to a worker.
pub struct Inbox {
    /// Tells the worker's own thread from others; never 0.
    pub worker: usize,
    /// Tasks woken by other threads.
    pub ready: Mutex<Vec<u32>>,
    /// Sessions to adopt.
    pub new_tasks: Mutex<Vec<NewTask>>,
    /// True while the worker blocks, or is about to, in `epoll_wait`.
    pub asleep: AtomicBool,
    /// Ends the worker after its current turn.
    pub stop: AtomicBool,
    /// Its doorbell.
    pub bell: OwnedFd,
}

impl Inbox {
    /// Rings the bell if the worker sleeps. Call after the entry is in.
    pub fn ring(&self) {
        if self.asleep.swap(false, Ordering::SeqCst) {
            // The counter of an eventfd only overflows after 2^64 - 2 unread rings; nothing to handle.
            let _ = rustix::io::write(&self.bell, &1u64.to_ne_bytes());
        }
    }
}

thread_local! {
    /// The worker this thread is (0: none) and the tasks it has woken itself during this turn.
    static LOCAL: RefCell<(usize, Vec<u32>)> = const { RefCell::new((0, Vec::new())) };
}

/// Makes the current thread the worker with this number.
pub fn enter_worker(worker: usize) {
    LOCAL.with(|local| local.borrow_mut().0 = worker);
}

/// Moves the locally woken tasks into `ready`.
pub fn take_local(ready: &mut Vec<u32>) {
    LOCAL.with(|local| ready.append(&mut local.borrow_mut().1));
}

/// Puts a task on its worker's ready list, once.
pub struct TaskWaker {
    /// Its place in the worker's slab. May be reused after the task ends: a late wake then polls a stranger once
    /// too often, which is harmless.
    pub index: u32,
    /// On a ready list already.
    pub queued: AtomicBool,
    /// Its worker.
    pub inbox: Arc<Inbox>,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.queued.swap(true, Ordering::SeqCst) {
            return;
        }
        let local = LOCAL.with(|local| {
            let mut local = local.borrow_mut();
            let mine = local.0 == self.inbox.worker;
            if mine {
                local.1.push(self.index);
            }
            mine
        });
        if !local {
            self.inbox.ready.lock().push(self.index);
            self.inbox.ring();
        }
    }
}
