//! Tables about the thread pool.

use super::Shape;

/// Columns of THREAD_POOL_GROUPS.
pub(super) const GROUPS: Shape = (
    "THREAD_POOL_GROUPS",
    &[
        ("GROUP_ID", 'n'),
        ("CONNECTIONS", 'n'),
        ("THREADS", 'n'),
        ("ACTIVE_THREADS", 'n'),
        ("STANDBY_THREADS", 'n'),
        ("QUEUE_LENGTH", 'n'),
        ("HAS_LISTENER", 'n'),
        ("IS_STALLED", 'n'),
    ],
);

/// Columns of THREAD_POOL_QUEUES.
pub(super) const QUEUES: Shape = (
    "THREAD_POOL_QUEUES",
    &[
        ("GROUP_ID", 'n'),
        ("POSITION", 'n'),
        ("PRIORITY", 'n'),
        ("CONNECTION_ID", 'n'),
        ("QUEUEING_TIME_MICROSECONDS", 'n'),
    ],
);

/// Columns of THREAD_POOL_STATS.
pub(super) const STATS: Shape = (
    "THREAD_POOL_STATS",
    &[
        ("GROUP_ID", 'n'),
        ("THREAD_CREATIONS", 'n'),
        ("THREAD_CREATIONS_DUE_TO_STALL", 'n'),
        ("WAKES", 'n'),
        ("WAKES_DUE_TO_STALL", 'n'),
        ("THROTTLES", 'n'),
        ("STALLS", 'n'),
        ("POLLS_BY_LISTENER", 'n'),
        ("POLLS_BY_WORKER", 'n'),
        ("DEQUEUES_BY_LISTENER", 'n'),
        ("DEQUEUES_BY_WORKER", 'n'),
    ],
);

/// Columns of THREAD_POOL_WAITS.
pub(super) const WAITS: Shape = ("THREAD_POOL_WAITS", &[("REASON", 's'), ("COUNT", 'n')]);
