//! A worker thread and the pool of them: the loop of the README.

use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::thread::JoinHandle;
use std::{io, thread};

use parking_lot::Mutex;
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{EventfdFlags, eventfd};

use super::Readiness;
use super::task::{Inbox, NewTask, Session, TaskWaker, enter_worker, take_local};

/// Token of the bell; tasks have their slab index.
const BELL: u64 = u64::MAX;
/// Events taken from the kernel in one turn.
const EVENTS_PER_TURN_MAX: usize = 1024;

/// What the workers' host does for them between polls.
pub trait Host: Send + Sync {
    /// Called when every ready task of a turn has run: the place for one sync on behalf of all of them.
    fn turn_end(&self);
}

struct Task {
    session: Session,
    waker: Waker,
    handle: Arc<TaskWaker>,
    socket: Arc<OwnedFd>,
    readiness: Arc<Readiness>,
}

struct Worker {
    epoll: OwnedFd,
    inbox: Arc<Inbox>,
    tasks: Vec<Option<Task>>,
    free: Vec<u32>,
    ready: Vec<u32>,
    host: Arc<dyn Host>,
    count: Arc<AtomicUsize>,
}

/// The way to hand sessions to one worker.
#[derive(Clone)]
pub struct WorkerHandle {
    inbox: Arc<Inbox>,
    count: Arc<AtomicUsize>,
}

impl WorkerHandle {
    /// Gives the worker a session. Runs until the session's future ends.
    pub fn spawn(&self, socket: Arc<OwnedFd>, readiness: Arc<Readiness>, session: Session) {
        self.count.fetch_add(1, Ordering::Relaxed);
        self.inbox.new_tasks.lock().push(NewTask { socket, readiness, session });
        self.inbox.ring();
    }
    /// Sessions it has.
    pub fn session_count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }
}

/// The workers.
pub struct Pool {
    workers: Vec<WorkerHandle>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Pool {
    /// Starts `size` workers.
    ///
    /// # Errors
    /// When the kernel refuses an epoll instance, an eventfd or a thread.
    pub fn start(size: usize, host: Arc<dyn Host>) -> io::Result<Pool> {
        let mut workers = Vec::new();
        let mut threads = Vec::new();
        for number in 1..=size.max(1) {
            let inbox = Arc::new(Inbox {
                worker: number,
                ready: Mutex::default(),
                new_tasks: Mutex::default(),
                asleep: AtomicBool::new(false),
                stop: AtomicBool::new(false),
                bell: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
            });
            let epoll = epoll::create(CreateFlags::CLOEXEC)?;
            epoll::add(&epoll, &inbox.bell, EventData::new_u64(BELL), EventFlags::IN)?;
            let count = Arc::new(AtomicUsize::new(0));
            workers.push(WorkerHandle { inbox: inbox.clone(), count: count.clone() });
            let mut worker = Worker {
                epoll,
                inbox,
                tasks: Vec::new(),
                free: Vec::new(),
                ready: Vec::new(),
                host: host.clone(),
                count,
            };
            let thread = thread::Builder::new().name(format!("worker-{number}")).stack_size(4 << 20);
            threads.push(thread.spawn(move || worker.run())?);
        }
        Ok(Pool { workers, threads: Mutex::new(threads) })
    }

    /// The worker with the fewest sessions.
    pub fn least_loaded(&self) -> &WorkerHandle {
        self.workers.iter().min_by_key(|w| w.session_count()).expect("a pool has at least one worker")
    }

    /// Sessions of all workers.
    pub fn session_count(&self) -> usize {
        self.workers.iter().map(WorkerHandle::session_count).sum()
    }

    /// Workers of the pool.
    pub fn size(&self) -> usize {
        self.workers.len()
    }

    /// Drops every session where it stands and ends the threads.
    pub fn stop(&self) {
        for worker in &self.workers {
            worker.inbox.stop.store(true, Ordering::SeqCst);
            worker.inbox.asleep.store(true, Ordering::SeqCst);
            worker.inbox.ring();
        }
        for thread in self.threads.lock().drain(..) {
            // A worker contains its sessions' panics; one of its own has been reported by the panic hook.
            let _ = thread.join();
        }
    }
}

impl Worker {
    fn run(&mut self) {
        enter_worker(self.inbox.worker);
        let mut events: Vec<Event> = Vec::with_capacity(EVENTS_PER_TURN_MAX);
        let mut turn: Vec<u32> = Vec::new();
        while !self.inbox.stop.load(Ordering::SeqCst) {
            self.collect(&mut events);
            self.adopt();
            self.inbox_to_ready();
            self.run_ready(&mut turn);
            self.host.turn_end();
            take_local(&mut self.ready);
            self.run_ready(&mut turn);
        }
        // Sessions are dropped here, on their own thread.
        self.tasks.clear();
    }

    /// Waits for events, unless there is something to do already, and marks their tasks ready.
    fn collect(&mut self, events: &mut Vec<Event>) {
        take_local(&mut self.ready);
        let mut timeout = Some(rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 });
        if self.ready.is_empty() {
            self.inbox.asleep.store(true, Ordering::SeqCst);
            let waiting = !self.inbox.ready.lock().is_empty() || !self.inbox.new_tasks.lock().is_empty();
            if !waiting && !self.inbox.stop.load(Ordering::SeqCst) {
                timeout = None;
            }
        }
        events.clear();
        // EINTR is an empty turn.
        let _ = epoll::wait(&self.epoll, spare_capacity(events), timeout.as_ref());
        self.inbox.asleep.store(false, Ordering::SeqCst);
        for event in events.iter() {
            let token = event.data.u64();
            if token == BELL {
                let _ = rustix::io::read(&self.inbox.bell, &mut [0u8; 8]);
                continue;
            }
            let flags = event.flags;
            let readable =
                flags.intersects(EventFlags::IN | EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR);
            let writable = flags.intersects(EventFlags::OUT | EventFlags::HUP | EventFlags::ERR);
            let index = token as u32;
            if let Some(Some(task)) = self.tasks.get(index as usize) {
                task.readiness.note(readable, writable);
                if flags.intersects(EventFlags::RDHUP | EventFlags::HUP) {
                    task.readiness.hang_up();
                }
                if !task.handle.queued.swap(true, Ordering::SeqCst) {
                    self.ready.push(index);
                }
            }
        }
    }

    fn adopt(&mut self) {
        if self.inbox.new_tasks.lock().is_empty() {
            return;
        }
        let new_tasks = std::mem::take(&mut *self.inbox.new_tasks.lock());
        for NewTask { socket, readiness, session } in new_tasks {
            let index = self.free.pop().unwrap_or_else(|| {
                self.tasks.push(None);
                (self.tasks.len() - 1) as u32
            });
            let interest = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
            if epoll::add(&self.epoll, &*socket, EventData::new_u64(u64::from(index)), interest).is_err() {
                self.free.push(index);
                self.count.fetch_sub(1, Ordering::Relaxed);
                continue;
            }
            let handle =
                Arc::new(TaskWaker { index, queued: AtomicBool::new(true), inbox: self.inbox.clone() });
            let waker = Waker::from(handle.clone());
            self.tasks[index as usize] = Some(Task { session, waker, handle, socket, readiness });
            self.ready.push(index);
        }
    }

    fn inbox_to_ready(&mut self) {
        let mut ready = self.inbox.ready.lock();
        self.ready.append(&mut ready);
    }

    /// Polls every task that is ready now, once.
    fn run_ready(&mut self, turn: &mut Vec<u32>) {
        std::mem::swap(turn, &mut self.ready);
        for index in turn.drain(..) {
            let Some(Some(task)) = self.tasks.get_mut(index as usize) else { continue };
            task.handle.queued.store(false, Ordering::SeqCst);
            let mut context = Context::from_waker(&task.waker);
            let polled = catch_unwind(AssertUnwindSafe(|| task.session.as_mut().poll(&mut context)));
            if matches!(polled, Ok(Poll::Pending)) {
                continue;
            }
            if let Some(task) = self.tasks[index as usize].take() {
                // The kernel forgets the socket when its last handle closes, but the session may share it.
                let _ = epoll::delete(&self.epoll, &*task.socket);
                // A panic in a destructor must not take the worker along.
                let _ = catch_unwind(AssertUnwindSafe(move || drop(task)));
                self.free.push(index);
                self.count.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }
}

#[cfg(test)]
mod tests;
