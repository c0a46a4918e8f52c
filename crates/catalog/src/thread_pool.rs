//! What SQL may ask about the threads that run the sessions. The server answers; without one there are none.

/// A group of the pool.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs, reason = "the fields are the columns of the same names")]
pub struct PoolGroup {
    pub id: u64,
    pub connections: u64,
    pub threads: u64,
    pub active_threads: u64,
    pub standby_threads: u64,
    pub is_stalled: bool,
    pub thread_creations: u64,
    pub thread_creations_due_to_stall: u64,
    pub wakes: u64,
    pub throttles: u64,
    pub stalls: u64,
    pub polls: u64,
}

/// A session that is ready and not being polled.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs, reason = "the fields are the columns of the same names")]
pub struct QueuedSession {
    pub group: u64,
    /// From 0 on in its group.
    pub position: u64,
    /// 0 goes before 1.
    pub priority: u64,
    pub connection: u64,
    /// How long its group is known to be held up; 0 while it is not.
    pub queueing_us: u64,
}

/// Threads that serve connections.
#[derive(Clone, Copy, Debug, Default)]
pub struct ServingThreads {
    /// Threads of the pool.
    pub pool: u64,
    /// Of these, threads with nothing to do.
    pub idle: u64,
    /// Threads ever started to serve connections.
    pub created: u64,
}

/// The server's threads as SQL sees them. Reading costs short mutexes that no statement takes.
pub trait ThreadPoolView: Send + Sync {
    /// The groups, in order.
    fn groups(&self) -> Vec<PoolGroup>;
    /// Of each group, how many sessions are ready and not being polled. All sessions are looked at.
    fn queue_lengths(&self) -> Vec<u64>;
    /// What is queued in them.
    fn queued(&self) -> Vec<QueuedSession>;
    /// How many threads there are.
    fn threads(&self) -> ServingThreads;
}
