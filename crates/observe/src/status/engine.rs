//! The engine's counters under InnoDB's names, as monitoring tools ask for them. Times are milliseconds, as
//! there. Names that stand for a mechanism that does not exist here are shown with 0, because dashboards
//! divide by them or draw them.

use turnstile_engine::Engine;
use turnstile_engine::tally::RowTotals;

use super::sample::Sample;

/// What exists in InnoDB only, or cannot be counted here.
const NOT_HERE: &[&str] = &[
    "Innodb_buffer_pool_pages_misc",
    "Innodb_data_pending_fsyncs",
    "Innodb_data_pending_reads",
    "Innodb_data_pending_writes",
    "Innodb_os_log_pending_fsyncs",
    "Innodb_os_log_pending_writes",
    "Innodb_undo_truncations",
];

/// Adds name and value of each counter; `rows`: what the sessions have done.
pub fn list(engine: &Engine, rows: &RowTotals, all: &mut Vec<(&'static str, u64)>) {
    let sample = Sample::take(engine, *rows);
    let (pool, log, locks) = (&sample.pool, &sample.log, &sample.locks);
    let synced = log.syncs + pool.batches + pool.checkpoints;
    let hash = sample.hash;
    let numbers = [
        ("Innodb_adaptive_hash_hash_searches", hash.searches),
        ("Innodb_adaptive_hash_non_hash_searches", hash.tree_searches),
        ("Innodb_buffer_pool_pages_data", pool.frames - pool.free_frames),
        ("Innodb_buffer_pool_pages_dirty", pool.dirty_frames),
        ("Innodb_buffer_pool_pages_flushed", pool.writes),
        ("Innodb_buffer_pool_pages_free", pool.free_frames),
        ("Innodb_buffer_pool_pages_total", pool.frames),
        ("Innodb_buffer_pool_read_requests", pool.lookups),
        ("Innodb_buffer_pool_reads", pool.reads),
        ("Innodb_buffer_pool_wait_free", pool.clean_waits),
        (
            "Innodb_buffer_pool_write_requests",
            sample.rows.inserted + sample.rows.updated + sample.rows.deleted,
        ),
        ("Innodb_checkpoint_age", log.current_lsn.0 - log.checkpoint_lsn.0),
        ("Innodb_data_fsyncs", synced),
        ("Innodb_data_reads", pool.reads),
        ("Innodb_data_writes", pool.writes + log.writes),
        ("Innodb_deadlocks", locks.deadlocks),
        ("Innodb_history_list_length", sample.history),
        ("Innodb_log_waits", log.waits_for_room),
        ("Innodb_log_writes", log.writes),
        ("Innodb_lsn_current", log.current_lsn.0),
        ("Innodb_lsn_flushed", log.flushed_lsn.0),
        ("Innodb_lsn_last_checkpoint", log.checkpoint_lsn.0),
        ("Innodb_os_log_fsyncs", log.syncs),
        ("Innodb_os_log_written", log.written_bytes),
        ("Innodb_page_size", 16384),
        ("Innodb_pages_read", pool.reads),
        ("Innodb_pages_written", pool.writes),
        ("Innodb_row_lock_current_waits", locks.current_waits),
        ("Innodb_row_lock_time", sample.lock_wait_ms()),
        ("Innodb_row_lock_time_avg", sample.lock_wait_ms_average()),
        ("Innodb_row_lock_time_max", locks.wait_us_max / 1000),
        ("Innodb_row_lock_waits", locks.row_waits),
        ("Innodb_rows_deleted", sample.rows.deleted),
        ("Innodb_rows_inserted", sample.rows.inserted),
        ("Innodb_rows_read", sample.rows.read),
        ("Innodb_rows_updated", sample.rows.updated),
        ("Turnstile_blind_wait_rollbacks", locks.gave_way),
        ("Turnstile_hot_row_followed", locks.followed),
        ("Turnstile_hot_row_following", locks.following),
        ("Turnstile_hot_row_handed_on", locks.handed_on),
        ("Turnstile_hot_row_impatience", locks.impatience),
        ("Turnstile_hot_row_queue_refusals", locks.refused),
        ("Turnstile_hot_row_told_to_roll_back", locks.doomed),
    ];
    all.extend(numbers);
    all.extend(NOT_HERE.iter().map(|name| (*name, 0)));
}
