//! A task's waker, and the inbox through which other threads reach a group.

use std::cell::RefCell;
use std::future::Future;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Wake, Waker};

use parking_lot::Mutex;

use super::Readiness;

/// What a worker runs.
pub type Session = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A session on its way to a group.
pub struct NewTask {
    /// Connection id, for INFORMATION_SCHEMA.THREAD_POOL_QUEUES.
    pub connection: u64,
    /// The socket to watch. The session holds its own handle of it.
    pub socket: Arc<OwnedFd>,
    /// Where events are noted.
    pub readiness: Arc<Readiness>,
    /// The session.
    pub session: Session,
}

/// The part of a task that a thread takes along while it polls it.
pub struct Work {
    /// The session.
    pub session: Session,
    /// Its waker.
    pub waker: Waker,
}

/// What lies in an inbox.
#[derive(Default)]
pub struct Mail {
    /// Tasks woken by other threads.
    pub ready: Vec<u32>,
    /// Sessions to adopt.
    pub new_tasks: Vec<NewTask>,
    /// Tasks whose poll outlasted the baton; None when the session has ended.
    pub returned: Vec<(u32, Option<Work>)>,
    /// The group has ended: whatever comes now is dropped by who brings it.
    pub closed: bool,
}

impl Mail {
    /// Nothing to do.
    pub fn is_empty(&self) -> bool {
        self.ready.is_empty() && self.new_tasks.is_empty() && self.returned.is_empty()
    }
}

/// What other threads hand to a group.
pub struct Inbox {
    /// Tells the group's own threads from others; never 0.
    pub group: usize,
    /// What was handed in.
    pub mail: Mutex<Mail>,
    /// True while the group's thread blocks, or is about to, in `epoll_wait`.
    pub asleep: AtomicBool,
    /// Ends the group after its current turn.
    pub stop: AtomicBool,
    /// Its doorbell.
    pub bell: OwnedFd,
}

impl Inbox {
    /// Rings the bell if the group sleeps. Call after the entry is in.
    pub fn ring(&self) {
        if self.asleep.swap(false, Ordering::SeqCst) {
            // The counter of an eventfd only overflows after 2^64 - 2 unread rings; nothing to handle.
            let _ = rustix::io::write(&self.bell, &1u64.to_ne_bytes());
        }
    }

    /// Hands a task back whose poll outlasted the baton.
    pub fn give_back(&self, index: u32, work: Option<Work>) {
        let mut mail = self.mail.lock();
        if mail.closed {
            drop(mail);
            drop(work);
            return;
        }
        mail.returned.push((index, work));
        drop(mail);
        self.ring();
    }
}

/// What a thread of a group has woken itself since it last looked.
struct Woken {
    /// The group this thread works for (0: none).
    group: usize,
    /// The task being polled.
    current: u32,
    others: Vec<u32>,
    /// Tasks that woke themselves while they were polled: long statements that give way.
    yielded: Vec<u32>,
}

/// No task.
pub const NOBODY: u32 = u32::MAX;

thread_local! {
    static WOKEN: RefCell<Woken> =
        const { RefCell::new(Woken { group: 0, current: NOBODY, others: Vec::new(), yielded: Vec::new() }) };
}

/// Makes the current thread one of this group's.
pub fn enter_group(group: usize) {
    WOKEN.with(|woken| woken.borrow_mut().group = group);
}

/// Moves what this thread has woken into `ready`, and what gave way into `yielded`; then says which task is polled next.
pub fn take_woken(ready: &mut Vec<u32>, yielded: &mut impl Extend<u32>, next: u32) {
    WOKEN.with(|woken| {
        let mut woken = woken.borrow_mut();
        woken.current = next;
        if !woken.others.is_empty() {
            ready.append(&mut woken.others);
        }
        if !woken.yielded.is_empty() {
            yielded.extend(woken.yielded.drain(..));
        }
    });
}

/// Puts a task on its group's ready list, once.
pub struct TaskWaker {
    /// Its place in the group's slab. May be reused after the task ends: a late wake then polls a stranger once
    /// too often, which is harmless.
    pub index: u32,
    /// On a ready list already.
    pub queued: AtomicBool,
    /// Its group.
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
        let local = WOKEN.with(|woken| {
            let mut woken = woken.borrow_mut();
            let mine = woken.group == self.inbox.group;
            if mine && woken.current == self.index {
                woken.yielded.push(self.index);
            } else if mine {
                woken.others.push(self.index);
            }
            mine
        });
        if !local {
            self.inbox.mail.lock().ready.push(self.index);
            self.inbox.ring();
        }
    }
}
