//! The thread pool's tables, with MariaDB's columns. A group is a worker with its standby threads; a group
//! has no listener thread, the thread that holds the leader lock looks for events itself.

use crate::status::Observed;
use turnstile_catalog::catalog::Catalog;
use turnstile_catalog::thread_pool::PoolGroup;
use turnstile_values::error::SqlResult;
use turnstile_values::field::{FieldRef, RowWriter};

fn groups_of(db: &Catalog) -> Vec<PoolGroup> {
    db.thread_pool().map_or(Vec::new(), |pool| pool.groups())
}

/// THREAD_POOL_GROUPS
pub fn groups(db: &Catalog, out: &mut RowWriter<'_>) -> SqlResult<()> {
    let n = FieldRef::UInt;
    let lengths = db.thread_pool().map_or(Vec::new(), |pool| pool.queue_lengths());
    groups_of(db).into_iter().zip(lengths).try_for_each(|(one, length)| {
        out(&[
            n(one.id),
            n(one.connections),
            n(one.threads),
            n(one.active_threads),
            n(one.standby_threads),
            n(length),
            n(0),
            n(u64::from(one.is_stalled)),
        ])
    })
}

/// THREAD_POOL_QUEUES
pub fn queues(db: &Catalog, out: &mut RowWriter<'_>) -> SqlResult<()> {
    let n = FieldRef::UInt;
    let queued = db.thread_pool().map_or(Vec::new(), |pool| pool.queued());
    queued.into_iter().try_for_each(|one| {
        out(&[n(one.group), n(one.position), n(one.priority), n(one.connection), n(one.queueing_us)])
    })
}

/// THREAD_POOL_STATS
pub fn stats(db: &Catalog, out: &mut RowWriter<'_>) -> SqlResult<()> {
    let n = FieldRef::UInt;
    groups_of(db).into_iter().try_for_each(|one| {
        out(&[
            n(one.id),
            n(one.thread_creations),
            n(one.thread_creations_due_to_stall),
            n(one.wakes),
            n(one.wakes),
            n(one.throttles),
            n(one.stalls),
            n(0),
            n(one.polls),
            n(0),
            n(one.polls),
        ])
    })
}

/// THREAD_POOL_WAITS: sessions that waited, by reason. None of these waits holds a thread here.
pub fn waits(db: &Observed, out: &mut RowWriter<'_>) -> SqlResult<()> {
    let (engine, status) = (db.engine(), db.status());
    let counts = [
        ("DISKIO", engine.storage().pool.counters().reads),
        ("ROW_LOCK", engine.locks().waits_for_rows()),
        ("META_DATA_LOCK", status.metadata_waits()),
        ("SLEEP", status.sleeps()),
    ];
    counts.into_iter().try_for_each(|(reason, count)| out(&[FieldRef::Text(reason), FieldRef::UInt(count)]))
}
