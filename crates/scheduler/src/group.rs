//! A group: an epoll instance, the sessions pinned to it, and the threads that may drive it, one at a time.
//!
//! The right to touch the sessions is the lock of [`Group::core`], called the leader lock. Its holder runs
//! the loop of the README and lets go of it only while it polls one session (or syncs the log), taking just
//! that session along. If the poll does not end, [`super::watch`] sends another thread, which finds the
//! leader lock free and goes on with everybody else.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::time::{Duration, Instant};

use turnstile_sys::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use turnstile_sys::sync::{Condvar, Mutex, wait_on_until};

use super::aside::Aside;
use super::core::Core;
use super::events::{Events, Socket};
use super::readiness::Readiness;
use super::task::{Inbox, Mail, NewTask, Session, TaskWaker};
use super::{Host, Settings};

/// What INFORMATION_SCHEMA.THREAD_POOL_STATS counts.
#[derive(Debug, Default)]
pub struct Counters {
    /// Threads started for the group.
    pub creations: AtomicU64,
    /// Of these, because a statement held the group up.
    pub stall_creations: AtomicU64,
    /// Standby threads sent.
    pub wakes: AtomicU64,
    /// Times a stall was seen and the limits forbade another thread.
    pub throttles: AtomicU64,
    /// Stalls seen.
    pub stalls: AtomicU64,
    /// Sessions polled (by the thread that holds the leader lock; there is no listener in a group). Written
    /// by the holder only.
    pub polls: AtomicU64,
}

/// Threads that wait for work.
#[derive(Debug, Default)]
pub struct Standby {
    /// How many wait.
    pub waiting: usize,
    /// How many have been sent and not yet woken.
    pub permits: usize,
}

/// A session as THREAD_POOL_QUEUES sees it.
pub struct Member {
    /// Connection id.
    pub connection: u64,
    /// Tells whether it is queued.
    pub handle: Arc<TaskWaker>,
    /// Tells its priority.
    pub readiness: Arc<Readiness>,
}

/// A group and everything its threads share.
pub struct Group {
    /// What other threads hand in.
    pub inbox: Arc<Inbox>,
    /// Events of its sessions' sockets.
    pub events: Events,
    /// The leader lock.
    pub core: Mutex<Core>,
    /// What the host does between polls.
    pub host: Arc<dyn Host>,
    /// Limits, live.
    pub settings: Arc<Settings>,
    /// Sessions it has, on their way to it or inserted.
    pub sessions: AtomicUsize,
    /// Threads that exist.
    pub threads: AtomicUsize,
    /// Threads that drive it or are inside a poll.
    pub active: AtomicUsize,
    /// Of these, threads inside a poll that has asked for another thread to go on with the rest.
    pub relieved: AtomicUsize,
    /// Threads sent or started that have not tried to take the leader lock yet.
    pub coming: AtomicUsize,
    /// Threads that wait to be sent.
    pub standby: Mutex<Standby>,
    /// Wakes them.
    pub sent: Condvar,
    /// Counters.
    pub counters: Counters,
    /// A poll has outlasted `thread_pool_stall_limit`.
    pub is_stalled: AtomicBool,
    /// Ticks of the watch for which the stall has lasted, in milliseconds.
    pub stalled_ms: AtomicU32,
    /// Its sessions, for the queue's table; touched when one comes or goes and when somebody looks.
    pub roster: Mutex<BTreeMap<u32, Member>>,
    /// It serves one connection and ends with it.
    pub ends_when_empty: bool,
    /// Where its tasks may step aside.
    pub aside: Option<Arc<Aside>>,
}

impl Group {
    /// A group without threads.
    ///
    /// # Errors
    /// When the kernel refuses an epoll instance or an eventfd.
    pub fn new(
        number: usize,
        host: Arc<dyn Host>,
        settings: Arc<Settings>,
        ends_when_empty: bool,
        aside: Option<Arc<Aside>>,
    ) -> io::Result<Arc<Group>> {
        let (events, wake_fd) = Events::new()?;
        let inbox = Arc::new(Inbox {
            group: number,
            mail: Mutex::new(Mail::default()),
            asleep: AtomicBool::new(false),
            stop: AtomicBool::new(false),
            wake_fd,
        });
        Ok(Arc::new(Group {
            inbox,
            events,
            core: Mutex::new(Core::default()),
            host,
            settings,
            sessions: AtomicUsize::new(0),
            threads: AtomicUsize::new(0),
            active: AtomicUsize::new(0),
            relieved: AtomicUsize::new(0),
            coming: AtomicUsize::new(0),
            standby: Mutex::new(Standby::default()),
            sent: Condvar::new(),
            counters: Counters::default(),
            is_stalled: AtomicBool::new(false),
            stalled_ms: AtomicU32::new(0),
            roster: Mutex::new(BTreeMap::new()),
            ends_when_empty,
            aside,
        }))
    }

    /// Gives the group a session. Runs until the session's future ends.
    pub fn spawn(&self, connection: u64, socket: Socket, readiness: Arc<Readiness>, session: Session) {
        self.sessions.fetch_add(1, Ordering::Relaxed);
        self.inbox.mail.lock().new_tasks.push(NewTask { connection, socket, readiness, session });
        self.inbox.wake();
    }

    /// Sessions it has.
    pub fn session_count(&self) -> usize {
        self.sessions.load(Ordering::Relaxed)
    }

    /// Tasks that are ready and not being polled.
    pub fn queue_length(&self) -> usize {
        self.roster.lock().values().filter(|one| one.handle.task_cell.is_queued()).count()
    }

    /// Ends it: the thread with the leader lock drops the sessions, the others go home.
    pub fn stop(&self) {
        let standby = self.standby.lock();
        self.inbox.stop.store(true, Ordering::SeqCst);
        drop(standby);
        self.sent.notify_all();
        self.inbox.asleep.store(true, Ordering::SeqCst);
        self.inbox.wake();
    }

    /// Whether [`Group::stop`] was called.
    pub fn is_stopping(&self) -> bool {
        self.inbox.stop.load(Ordering::SeqCst)
    }

    /// What a thread of the group does until it is not needed any more.
    pub fn live(self: &Arc<Self>) {
        super::task::enter_group(self.inbox.group);
        loop {
            let core = self.core.try_lock();
            self.active.fetch_add(usize::from(core.is_some()), Ordering::Relaxed);
            self.coming.fetch_sub(1, Ordering::Release);
            if let Some(core) = core {
                let ended = self.drive(core);
                self.active.fetch_sub(1, Ordering::Relaxed);
                if ended || self.ends_when_empty {
                    break;
                }
            }
            if !self.wait_to_be_sent() {
                break;
            }
        }
        super::task::enter_group(0);
        self.threads.fetch_sub(1, Ordering::Relaxed);
    }

    /// Waits until the watch sends this thread; false when it may go.
    fn wait_to_be_sent(&self) -> bool {
        let mut standby = self.standby.lock();
        standby.waiting += 1;
        let idle = Duration::from_secs(self.settings.idle_timeout_s.load(Ordering::Relaxed));
        let until = Instant::now() + idle;
        while standby.permits == 0 && !self.is_stopping() && Instant::now() < until {
            standby = wait_on_until(&self.sent, standby, until);
        }
        standby.waiting -= 1;
        let sent = standby.permits > 0;
        standby.permits -= usize::from(sent);
        sent && !self.is_stopping()
    }

    /// Sends a thread that waits; false if none does.
    pub fn send_standby(&self) -> bool {
        let mut standby = self.standby.lock();
        if standby.waiting <= standby.permits {
            return false;
        }
        standby.permits += 1;
        self.coming.fetch_add(1, Ordering::Relaxed);
        drop(standby);
        self.sent.notify_one();
        true
    }
}
