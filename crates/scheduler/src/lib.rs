#![doc = include_str!("../README.md")]

use std::sync::atomic::{AtomicU64, AtomicUsize};

mod aside;
mod core;
mod drive;
#[cfg(not(shuttle))]
mod events;
#[cfg(shuttle)]
#[path = "events_shuttle.rs"]
mod events;
mod group;
mod pool;
mod readiness;
mod solo;
mod task;

pub use group::Group;
pub use pool::Pool;
pub use readiness::{Interruptible, Readiness};
pub use solo::Solo;
pub use task::Session;

/// What the server does for the groups.
pub trait Host: Send + Sync {
    /// Called when every ready task of a turn has run: the place for one sync on behalf of all of them.
    /// Threads of one group may be in it at once. True: it is to be called again before the thread sleeps.
    fn turn_end(&self) -> bool;
    /// Whether a pool has a thread for those who step aside.
    fn has_aside(&self) -> bool {
        true
    }
    /// Brings the limits up to date; asked once in a while.
    fn refresh(&self, settings: &Settings) {
        let _ = settings;
    }
}

/// Limits of a pool, live.
#[derive(Debug)]
pub struct Settings {
    /// `thread_pool_oversubscribe`: threads that may be active in a group besides the first.
    pub oversubscribe: AtomicUsize,
    /// `thread_pool_stall_limit`.
    pub stall_limit_ms: AtomicU64,
    /// `thread_pool_max_threads`.
    pub threads_max: AtomicUsize,
    /// `thread_pool_idle_timeout`.
    pub idle_timeout_s: AtomicU64,
    /// `thread_pool_prio_kickup_timer`.
    pub kickup_ms: AtomicU64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            oversubscribe: AtomicUsize::new(3),
            stall_limit_ms: AtomicU64::new(500),
            threads_max: AtomicUsize::new(65536),
            idle_timeout_s: AtomicU64::new(60),
            kickup_ms: AtomicU64::new(1000),
        }
    }
}

#[cfg(all(test, shuttle))]
mod leader_lock_shuttle;
#[cfg(all(test, not(shuttle)))]
mod tests;
