//! `pool-of-threads`: a fixed number of groups, and the watch that sends another thread where one is held up.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use turnstile_sys::relief;
use turnstile_sys::sync::atomic::{AtomicUsize, Ordering};
use turnstile_sys::sync::thread::{self, JoinHandle};
use turnstile_sys::sync::{Condvar, Mutex, has_ended, wait_on_until};

use super::aside::Aside;
use super::events::Socket;
use super::group::Group;
use super::task::Session;
use super::{Host, Readiness, Settings};

/// Longest time between two looks of the watch: a changed limit holds after that.
const TICK_MS_MAX: u64 = 1000;
/// A worker's stack: the parser and the expression evaluator recurse.
pub const STACK_BYTES: usize = if cfg!(debug_assertions) { 16 << 20 } else { 4 << 20 };

/// The groups and their threads.
pub struct Pool {
    groups: Vec<Arc<Group>>,
    settings: Arc<Settings>,
    host: Arc<dyn Host>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// Threads of all groups.
    thread_count: AtomicUsize,
    stopping: Mutex<bool>,
    stopped: Condvar,
    aside: Option<Arc<Aside>>,
}

impl Pool {
    /// Starts `size` groups with one thread each, the watch, and the thread for those who step aside.
    ///
    /// # Errors
    /// When the kernel refuses an epoll instance, an eventfd or a thread.
    pub fn start(size: usize, host: Arc<dyn Host>) -> io::Result<Arc<Pool>> {
        let pool = Self::start_unwatched(size, host)?;
        let watched = pool.clone();
        let watch = thread::Builder::new().name("pool-watch".into()).spawn(move || watched.watch())?;
        pool.threads.lock().push(watch);
        Ok(pool)
    }

    /// As [`Pool::start`], without the watch: the model looks at the groups itself, whenever it likes.
    pub(super) fn start_unwatched(size: usize, host: Arc<dyn Host>) -> io::Result<Arc<Pool>> {
        let settings = Arc::new(Settings::default());
        host.refresh(&settings);
        let aside = host.has_aside().then(|| Aside::new(host.clone()));
        let groups = (1..=size.max(1))
            .map(|number| Group::new(number, host.clone(), settings.clone(), false, aside.clone()))
            .collect::<io::Result<Vec<_>>>()?;
        let pool = Arc::new(Pool {
            groups,
            settings,
            host,
            threads: Mutex::default(),
            thread_count: AtomicUsize::new(0),
            stopping: Mutex::new(false),
            stopped: Condvar::new(),
            aside: aside.clone(),
        });
        for group in &pool.groups {
            pool.add_thread(group)?;
        }
        if let Some(aside) = aside {
            pool.add_aside(&aside)?;
        }
        Ok(pool)
    }

    /// Whether there are fewer threads than `thread_pool_max_threads`, those aside among them.
    fn has_room(&self) -> bool {
        let threads = self.threads.lock().iter().filter(|thread| !has_ended(thread)).count();
        threads < self.settings.threads_max.load(Ordering::Relaxed)
    }

    /// Starts a thread aside; where one works for long inside a poll, the next takes over from it.
    fn add_aside(self: &Arc<Self>, aside: &Arc<Aside>) -> io::Result<()> {
        let (pool, aside) = (self.clone(), aside.clone());
        let builder = thread::Builder::new().name("aside".into()).stack_size(STACK_BYTES);
        let mut threads = self.threads.lock();
        threads.retain(|thread| !has_ended(thread));
        threads.push(builder.spawn(move || {
            let (hiring, held_up) = (pool, aside.clone());
            relief::serve(Some(Box::new(move || hiring.has_room() && hiring.add_aside(&held_up).is_ok())));
            aside.live();
            relief::serve(None);
        })?);
        Ok(())
    }

    fn add_thread(self: &Arc<Self>, group: &Arc<Group>) -> io::Result<()> {
        let mut threads = self.threads.lock();
        threads.retain(|thread| !has_ended(thread));
        let (pool, mine) = (self.clone(), group.clone());
        let builder = thread::Builder::new().name(format!("worker-{}", group.inbox.group));
        group.threads.fetch_add(1, Ordering::Relaxed);
        group.coming.fetch_add(1, Ordering::Relaxed);
        self.thread_count.fetch_add(1, Ordering::Relaxed);
        let started = builder.stack_size(STACK_BYTES).spawn(move || {
            let (hiring, held_up) = (pool.clone(), mine.clone());
            relief::serve(Some(Box::new(move || hiring.relieve(&held_up))));
            mine.live();
            relief::serve(None);
            pool.thread_count.fetch_sub(1, Ordering::Relaxed);
        });
        match started {
            Ok(thread) => {
                threads.push(thread);
                group.counters.creations.fetch_add(1, Ordering::Relaxed);
                Ok(())
            }
            Err(error) => {
                group.threads.fetch_sub(1, Ordering::Relaxed);
                group.coming.fetch_sub(1, Ordering::Relaxed);
                self.thread_count.fetch_sub(1, Ordering::Relaxed);
                Err(error)
            }
        }
    }

    /// Gives a session to the group with the fewest, held-up groups last.
    pub fn spawn(&self, connection: u64, socket: Socket, readiness: Arc<Readiness>, session: Session) {
        let burden = |group: &&Arc<Group>| (group.is_stalled.load(Ordering::Relaxed), group.session_count());
        let group = self.groups.iter().min_by_key(burden).expect("a pool has at least one group");
        group.spawn(connection, socket, readiness, session);
    }

    /// Sessions of all groups.
    pub fn session_count(&self) -> usize {
        self.groups.iter().map(|group| group.session_count()).sum()
    }

    /// The groups.
    pub fn groups(&self) -> &[Arc<Group>] {
        &self.groups
    }

    /// Drops every session where it stands and ends the threads.
    pub fn stop(&self) {
        *self.stopping.lock() = true;
        self.stopped.notify_all();
        for group in &self.groups {
            group.stop();
        }
        self.aside.iter().for_each(|aside| aside.stop());
        let threads = std::mem::take(&mut *self.threads.lock());
        for thread in threads {
            // A thread contains its sessions' panics; one of its own has been reported by the panic hook.
            let _ = thread.join();
        }
    }

    /// Looks at every group each `thread_pool_stall_limit`.
    fn watch(self: &Arc<Self>) {
        let mut polls: Vec<u64> = vec![0; self.groups.len()];
        let mut waited_ms = 0;
        loop {
            self.host.refresh(&self.settings);
            let limit_ms = self.settings.stall_limit_ms.load(Ordering::Relaxed).max(1);
            let tick_ms = limit_ms.saturating_sub(waited_ms).clamp(1, TICK_MS_MAX);
            let mut stopping = self.stopping.lock();
            if !*stopping {
                let until = Instant::now() + Duration::from_millis(tick_ms);
                stopping = wait_on_until(&self.stopped, stopping, until);
            }
            if *stopping {
                return;
            }
            drop(stopping);
            waited_ms += tick_ms;
            if waited_ms >= limit_ms {
                for (group, before) in self.groups.iter().zip(&mut polls) {
                    self.look_at(group, before, waited_ms);
                }
                waited_ms = 0;
            }
        }
    }

    /// A thread of the group works for long inside a poll and says so: another goes on with the group's other
    /// sessions at once. False: there are `thread_pool_max_threads` already.
    pub(super) fn relieve(self: &Arc<Self>, group: &Arc<Group>) -> bool {
        group.relieved.fetch_add(1, Ordering::Relaxed);
        if group.core.is_locked() || group.coming.load(Ordering::Acquire) > 0 {
            // Somebody goes on already, or is about to.
            return true;
        }
        if group.send_standby() {
            group.counters.wakes.fetch_add(1, Ordering::Relaxed);
            return true;
        }
        let total = self.thread_count.load(Ordering::Relaxed);
        let most = self.settings.threads_max.load(Ordering::Relaxed);
        if total >= most || self.add_thread(group).is_err() {
            group.relieved.fetch_sub(1, Ordering::Relaxed);
            group.counters.throttles.fetch_add(1, Ordering::Relaxed);
            return false;
        }
        true
    }

    /// A group that lends its leader lock to the very poll of the last look is held up.
    pub(super) fn look_at(self: &Arc<Self>, group: &Arc<Group>, before: &mut u64, waited_ms: u64) {
        let polls = group.counters.polls.load(Ordering::Relaxed);
        let held_up = polls == *before && polls > 0 && !group.core.is_locked();
        *before = polls;
        group.is_stalled.store(held_up, Ordering::Relaxed);
        if !held_up {
            group.stalled_ms.store(0, Ordering::Relaxed);
            return;
        }
        group.stalled_ms.fetch_add(waited_ms as u32, Ordering::Relaxed);
        group.counters.stalls.fetch_add(1, Ordering::Relaxed);
        // In this order: a thread that arrives in between counts among the active before it no longer counts
        // as coming.
        let coming = group.coming.load(Ordering::Acquire);
        let relieved = group.relieved.load(Ordering::Relaxed);
        let active = coming + group.active.load(Ordering::Relaxed).saturating_sub(relieved);
        let allowed = 1 + self.settings.oversubscribe.load(Ordering::Relaxed);
        let total = self.thread_count.load(Ordering::Relaxed);
        if active >= allowed {
            group.counters.throttles.fetch_add(1, Ordering::Relaxed);
        } else if group.send_standby() {
            group.counters.wakes.fetch_add(1, Ordering::Relaxed);
        } else if total >= self.settings.threads_max.load(Ordering::Relaxed)
            || self.add_thread(group).is_err()
        {
            group.counters.throttles.fetch_add(1, Ordering::Relaxed);
        } else {
            group.counters.stall_creations.fetch_add(1, Ordering::Relaxed);
        }
    }
}
