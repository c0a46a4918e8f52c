//! The thread beside the workers: it polls tasks that stepped aside, because what they do next takes long and
//! nobody waits for it but their own client. Reports on all sessions are of that kind.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Context;

use turnstile_sys::sync::{Condvar, Mutex, wait_on};
use turnstile_sys::{due, relief};

use super::Host;
use super::task::{TaskWaker, Work, drop_session};

/// Tasks that may queue here; more stay with their worker. A look takes some hundred microseconds, and there
/// is one thread.
const QUEUE_MAX: usize = 8;

#[derive(Default)]
struct Queue {
    tasks: VecDeque<(Arc<TaskWaker>, Work)>,
    /// The thread sleeps, or is about to.
    asleep: bool,
    stopping: bool,
}

/// Its queue.
pub struct Aside {
    queue: Mutex<Queue>,
    came: Condvar,
    host: Arc<dyn Host>,
}

impl Aside {
    /// Nothing queued; no thread yet.
    pub fn new(host: Arc<dyn Host>) -> Arc<Aside> {
        Arc::new(Aside { queue: Mutex::default(), came: Condvar::new(), host })
    }

    /// Takes a task with its future; gives the future back if there is no room.
    pub fn take_in(&self, task: &Arc<TaskWaker>, work: Work) -> Option<Work> {
        let mut queue = self.queue.lock();
        if queue.stopping || queue.tasks.len() >= QUEUE_MAX {
            return Some(work);
        }
        queue.tasks.push_back((task.clone(), work));
        let asleep = std::mem::take(&mut queue.asleep);
        drop(queue);
        if asleep {
            self.came.notify_one();
        }
        None
    }

    /// What the thread does until [`Aside::stop`], or until another has taken over from it.
    pub fn live(&self) {
        while let Some((task, work)) = self.next() {
            if self.run(&task, work) {
                return;
            }
        }
        let left = std::mem::take(&mut self.queue.lock().tasks);
        left.into_iter().for_each(|(_, work)| drop_session(work));
    }

    /// Ends it after the poll it is in; sessions that queue still are dropped.
    pub fn stop(&self) {
        self.queue.lock().stopping = true;
        self.came.notify_all();
    }

    fn next(&self) -> Option<(Arc<TaskWaker>, Work)> {
        let mut queue = self.queue.lock();
        loop {
            if queue.stopping {
                return None;
            }
            if let Some(task) = queue.tasks.pop_front() {
                return Some(task);
            }
            queue.asleep = true;
            queue = wait_on(&self.came, queue);
            queue.asleep = false;
        }
    }

    /// Polls a task once. What it waits for next wakes it at home. True: that took so long that another
    /// thread has taken over.
    fn run(&self, task: &Arc<TaskWaker>, work: Work) -> bool {
        let mut work = work;
        let mut context = Context::from_waker(&work.waker);
        relief::begin();
        let polled = catch_unwind(AssertUnwindSafe(|| work.session.as_mut().poll(&mut context)));
        let relieved = relief::end();
        if matches!(polled, Ok(std::task::Poll::Pending)) {
            if task.put_back(work) {
                task.inbox.send_home(task.index);
            }
        } else {
            drop_session(work);
            task.inbox.report_end(task.index);
        }
        // What it left behind the log, if its text had more statements: nobody else knows of it.
        if due::settle() {
            while self.host.turn_end() {}
        }
        relieved
    }
}
