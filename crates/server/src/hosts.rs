//! What runs the sessions, chosen by `thread_handling`: the same futures in each.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use turnstile_session::database::Database;
use turnstile_session::thread_pool::{PoolGroup, QueuedSession, ServingThreads, ThreadPoolView};
use turnstile_session::value::Value;

use turnstile_scheduler::{Host, Pool, Readiness, Session, Settings, Solo};

/// `thread_handling`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ThreadHandling {
    /// `pool-of-threads`
    #[default]
    Pool,
    /// `one-thread-per-connection`
    PerConnection,
    /// `no-threads`
    One,
}

impl ThreadHandling {
    /// By its name in the variable.
    pub fn named(name: &str) -> ThreadHandling {
        match name {
            "one-thread-per-connection" => ThreadHandling::PerConnection,
            "no-threads" => ThreadHandling::One,
            _ => ThreadHandling::Pool,
        }
    }
}

/// Ends the turns of every host with the log's sync, and brings the pool its limits.
struct EngineHost {
    database: Arc<Database>,
    /// `no-threads`: there is no other thread for a stall, or to step aside to.
    single: bool,
}

impl Host for EngineHost {
    fn turn_end(&self) -> bool {
        self.database.engine().turn_end()
    }

    fn has_aside(&self) -> bool {
        !self.single
    }

    fn refresh(&self, settings: &Settings) {
        let limit = |name: &str| match self.database.globals().named(name) {
            Value::Int(limit) => limit.max(0) as u64,
            Value::UInt(limit) => limit,
            _ => 0,
        };
        settings.oversubscribe.store(limit("thread_pool_oversubscribe") as usize, Ordering::Relaxed);
        settings.stall_limit_ms.store(limit("thread_pool_stall_limit"), Ordering::Relaxed);
        let threads_max = if self.single { 1 } else { limit("thread_pool_max_threads") };
        settings.threads_max.store(threads_max as usize, Ordering::Relaxed);
        settings.idle_timeout_s.store(limit("thread_pool_idle_timeout"), Ordering::Relaxed);
        settings.kickup_ms.store(limit("thread_pool_prio_kickup_timer"), Ordering::Relaxed);
    }
}

/// Whatever runs the sessions.
pub struct Hosts {
    handling: ThreadHandling,
    /// With `no-threads`: a single group.
    pool: Option<Arc<Pool>>,
    /// With `one-thread-per-connection` everybody, else the connections of `extra_port`.
    solo: Arc<Solo>,
    /// Connections that found no thread.
    refused: AtomicU64,
}

impl Hosts {
    /// Starts what the handling needs before the first connection.
    ///
    /// # Errors
    /// When the kernel refuses threads or descriptors.
    pub fn start(
        handling: ThreadHandling,
        pool_size: usize,
        database: &Arc<Database>,
    ) -> io::Result<Arc<Hosts>> {
        let host =
            Arc::new(EngineHost { database: database.clone(), single: handling == ThreadHandling::One });
        let solo = Solo::new(host.clone());
        let pool = match handling {
            ThreadHandling::Pool => Some(Pool::start(pool_size, host)?),
            ThreadHandling::One => Some(Pool::start(1, host)?),
            ThreadHandling::PerConnection => None,
        };
        Ok(Arc::new(Hosts { handling, pool, solo, refused: AtomicU64::new(0) }))
    }

    /// Whether a connection must end before the next is accepted; it waits in the kernel's backlog.
    pub fn takes_one_by_one(&self) -> bool {
        self.handling == ThreadHandling::One
    }

    /// Runs a session; `extra`: it came through `extra_port`.
    pub fn spawn(
        &self,
        extra: bool,
        connection: u64,
        socket: Arc<OwnedFd>,
        readiness: Arc<Readiness>,
        session: Session,
    ) {
        match &self.pool {
            Some(pool) if !extra => pool.spawn(connection, socket, readiness, session),
            _ => {
                if self.solo.spawn(connection, socket, readiness, session).is_err() {
                    self.refused.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
    }

    /// Drops every session where it stands and ends the threads.
    pub fn stop(&self) {
        self.solo.stop();
        if let Some(pool) = &self.pool {
            pool.stop();
        }
    }

    fn shown_pool(&self) -> Option<&Arc<Pool>> {
        self.pool.as_ref().filter(|_| self.handling == ThreadHandling::Pool)
    }
}

impl ThreadPoolView for Hosts {
    fn groups(&self) -> Vec<PoolGroup> {
        let Some(pool) = self.shown_pool() else { return Vec::new() };
        let groups = pool.groups().iter().enumerate();
        groups
            .map(|(id, group)| {
                let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
                let counters = &group.counters;
                PoolGroup {
                    id: id as u64,
                    connections: group.session_count() as u64,
                    threads: group.threads.load(Ordering::Relaxed) as u64,
                    active_threads: group.active.load(Ordering::Relaxed) as u64,
                    standby_threads: group.standby.lock().waiting as u64,
                    is_stalled: group.is_stalled.load(Ordering::Relaxed),
                    thread_creations: read(&counters.creations),
                    thread_creations_due_to_stall: read(&counters.stall_creations),
                    wakes: read(&counters.wakes),
                    throttles: read(&counters.throttles),
                    stalls: read(&counters.stalls),
                    polls: read(&counters.polls),
                }
            })
            .collect()
    }

    fn queue_lengths(&self) -> Vec<u64> {
        let Some(pool) = self.shown_pool() else { return Vec::new() };
        pool.groups().iter().map(|group| group.queue_length() as u64).collect()
    }

    fn queued(&self) -> Vec<QueuedSession> {
        let Some(pool) = self.shown_pool() else { return Vec::new() };
        let mut all = Vec::new();
        for (id, group) in pool.groups().iter().enumerate() {
            let queueing_us = u64::from(group.stalled_ms.load(Ordering::Relaxed)) * 1000;
            let roster = group.roster.lock();
            let mut queued: Vec<(bool, u64)> = roster
                .values()
                .filter(|one| one.handle.task_cell.is_queued())
                .map(|one| (!one.readiness.goes_first(), one.connection))
                .collect();
            drop(roster);
            queued.sort_unstable();
            all.extend(queued.iter().enumerate().map(|(position, (low, connection))| QueuedSession {
                group: id as u64,
                position: position as u64,
                priority: u64::from(*low),
                connection: *connection,
                queueing_us,
            }));
        }
        all
    }

    fn threads(&self) -> ServingThreads {
        let created = self.solo.created();
        let Some(pool) = &self.pool else { return ServingThreads { created, ..ServingThreads::default() } };
        let mut threads = ServingThreads { created, ..ServingThreads::default() };
        for group in pool.groups() {
            let resting =
                group.standby.lock().waiting + usize::from(group.inbox.asleep.load(Ordering::Relaxed));
            threads.created += group.counters.creations.load(Ordering::Relaxed);
            if self.handling == ThreadHandling::Pool {
                threads.pool += group.threads.load(Ordering::Relaxed) as u64;
                threads.idle += resting as u64;
            }
        }
        threads
    }
}
