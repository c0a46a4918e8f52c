//! `one-thread-per-connection`: a group of its own for each connection, driven by one thread that ends with
//! it. Also the host of `extra_port`, whatever the others run on.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize};

use turnstile_sys::sync::Mutex;
use turnstile_sys::sync::atomic::Ordering;
use turnstile_sys::sync::thread::{self, JoinHandle};

use super::events::Socket;
use super::group::Group;
use super::pool::STACK_BYTES;
use super::task::Session;
use super::{Host, Readiness, Settings};

/// Numbers of solo groups begin here, above those of any pool.
const FIRST_NUMBER: usize = 1 << 32;

/// A connection's group and thread.
type Running = (Arc<Group>, JoinHandle<()>);

/// The connections that have a thread each.
pub struct Solo {
    host: Arc<dyn Host>,
    settings: Arc<Settings>,
    running: Mutex<HashMap<usize, Running>>,
    next: AtomicUsize,
    created: AtomicU64,
}

impl Solo {
    /// None yet.
    pub fn new(host: Arc<dyn Host>) -> Arc<Solo> {
        Arc::new(Solo {
            host,
            settings: Arc::new(Settings::default()),
            running: Mutex::default(),
            next: AtomicUsize::new(FIRST_NUMBER),
            created: AtomicU64::new(0),
        })
    }

    /// Runs a session on a thread of its own.
    ///
    /// # Errors
    /// When the kernel refuses a thread or its descriptors; the session is dropped.
    pub fn spawn(
        self: &Arc<Self>,
        connection: u64,
        socket: Socket,
        readiness: Arc<Readiness>,
        session: Session,
    ) -> io::Result<()> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let group = Group::new(number, self.host.clone(), self.settings.clone(), true, None)?;
        group.spawn(connection, socket, readiness, session);
        group.threads.store(1, Ordering::Relaxed);
        group.coming.store(1, Ordering::Relaxed);
        let (solo, mine) = (self.clone(), group.clone());
        // The entry is in before the thread can take it out.
        let mut running = self.running.lock();
        let thread = thread::Builder::new()
            .name(format!("connection-{connection}"))
            .stack_size(STACK_BYTES)
            .spawn(move || {
                mine.live();
                drop(mine);
                solo.running.lock().remove(&number);
            })?;
        running.insert(number, (group, thread));
        self.created.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Connections that run.
    pub fn session_count(&self) -> usize {
        self.running.lock().len()
    }

    /// Threads started so far.
    pub fn created(&self) -> u64 {
        self.created.load(Ordering::Relaxed)
    }

    /// Drops every session where it stands and ends the threads.
    pub fn stop(&self) {
        let running = std::mem::take(&mut *self.running.lock());
        for (group, _) in running.values() {
            group.stop();
        }
        for (_, thread) in running.into_values() {
            // As in the pool: a panic has been reported already.
            let _ = thread.join();
        }
    }
}
