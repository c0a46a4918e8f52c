//! A task's waker, and the inbox through which other threads reach a group.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Wake, Waker};

use turnstile_sys::handoff;
use turnstile_sys::sync::Mutex;
use turnstile_sys::sync::atomic::{AtomicBool, Ordering};
use turnstile_sys::task_cell::TaskCell;

use super::Readiness;
use super::events::{Socket, WakeFd};

/// What a worker runs.
pub type Session = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A session on its way to a group.
pub struct NewTask {
    /// Connection id, for INFORMATION_SCHEMA.THREAD_POOL_QUEUES.
    pub connection: u64,
    /// The socket to watch. The session holds its own handle of it.
    pub socket: Socket,
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
    /// Sessions to insert.
    pub new_tasks: Vec<NewTask>,
    /// Tasks that ended in the hands of a thread without the leader lock.
    pub ended: Vec<u32>,
}

impl Mail {
    /// Nothing to do.
    pub fn is_empty(&self) -> bool {
        self.ready.is_empty() && self.new_tasks.is_empty() && self.ended.is_empty()
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
    pub wake_fd: WakeFd,
}

impl Inbox {
    /// Wakes a thread of the group if the group sleeps. Call after the entry is in.
    pub fn wake(&self) {
        if self.asleep.swap(false, Ordering::SeqCst) {
            self.wake_fd.wake();
        }
    }

    /// Has a task polled by its own group.
    pub fn send_home(&self, index: u32) {
        self.mail.lock().ready.push(index);
        self.wake();
    }

    /// Says that a task has ended elsewhere.
    pub fn report_end(&self, index: u32) {
        self.mail.lock().ended.push(index);
        self.wake();
    }
}

/// What a thread of a group has woken itself since it last looked.
struct Woken {
    /// The group this thread works for (0: none).
    group: usize,
    /// The task being polled.
    current: u32,
    others: Vec<u32>,
    /// Tasks that woke themselves while they were polled: long statements that yield.
    yielded: Vec<u32>,
    /// Tasks of any group that hold a lock now and are to run on this thread next.
    handed: VecDeque<Arc<TaskWaker>>,
}

/// No task.
pub const NOBODY: u32 = u32::MAX;

turnstile_sys::sync::thread_local! {
    static WOKEN: RefCell<Woken> =
        const { RefCell::new(Woken {
            group: 0,
            current: NOBODY,
            others: Vec::new(),
            yielded: Vec::new(),
            handed: VecDeque::new(),
        }) };
}

/// Makes the current thread one of this group's.
pub fn enter_group(group: usize) {
    WOKEN.with(|woken| woken.borrow_mut().group = group);
}

/// Moves what this thread has woken into `ready`, and what yielded into `yielded`; then says which task is
/// polled next.
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

/// The next task that this thread is to run for another.
pub fn next_handed() -> Option<Arc<TaskWaker>> {
    WOKEN.with(|woken| woken.borrow_mut().handed.pop_front())
}

/// A task: its future, and how it gets on its group's ready list, once.
pub struct TaskWaker {
    /// Its place in the group's slab. May be reused after the task ends: a late wake then polls a stranger
    /// once too often, which is harmless.
    pub index: u32,
    /// Its group.
    pub inbox: Arc<Inbox>,
    /// Its future, and whether it is on a ready list.
    pub task_cell: TaskCell<Work>,
}

impl TaskWaker {
    /// A task with a place in a slab, queued.
    pub fn new(index: u32, inbox: Arc<Inbox>, session: Session) -> Arc<TaskWaker> {
        let task = Arc::new(TaskWaker { index, inbox, task_cell: TaskCell::new_queued() });
        let waker = Waker::from(task.clone());
        task.put_back(Work { session, waker });
        task
    }

    /// Brings the future back; true if somebody wanted it meanwhile.
    pub fn put_back(&self, work: Work) -> bool {
        self.task_cell.put_back(work).unwrap_or_else(|work| {
            drop_session(work);
            false
        })
    }

    /// The task has ended: drops its future, now or when it comes back. It also breaks the cycle of the
    /// task, its future and the future's waker.
    pub fn close(&self) {
        if let Some(work) = self.task_cell.close() {
            drop_session(work);
        }
    }
}

/// Drops a session; a panic in a destructor must not take the thread along.
pub fn drop_session(work: Work) {
    let _ = catch_unwind(AssertUnwindSafe(move || drop(work)));
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if handoff::is_handed() {
            WOKEN.with(|woken| woken.borrow_mut().handed.push_back(self.clone()));
            return;
        }
        if !self.task_cell.queue() {
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
            self.inbox.send_home(self.index);
        }
    }
}
