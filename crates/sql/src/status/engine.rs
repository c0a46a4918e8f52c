//! The engine's counters under InnoDB's names, as monitoring tools ask for them. Times are milliseconds, as there.

use std::sync::atomic::Ordering;

use turnstile_engine::Engine;

/// Name and value of each counter.
pub fn list(engine: &Engine) -> Vec<(String, String)> {
    let (rows, locks) = (engine.stats(), engine.locks().statistics());
    let (pool, log) = (engine.storage().pool.counters(), engine.storage().wal.stats());
    let read = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    let wait_ms = locks.wait_us_total / 1000;
    let hash = engine.adaptive_hash().counts();
    let numbers: [(&str, u64); 29] = [
        ("Innodb_adaptive_hash_hash_searches", hash.hash_searches),
        ("Innodb_adaptive_hash_non_hash_searches", hash.non_hash_searches),
        ("Innodb_buffer_pool_pages_data", pool.frames - pool.free_frames),
        ("Innodb_buffer_pool_pages_dirty", pool.dirty_frames),
        ("Innodb_buffer_pool_pages_free", pool.free_frames),
        ("Innodb_buffer_pool_pages_flushed", pool.writes),
        ("Innodb_buffer_pool_pages_total", pool.frames),
        ("Innodb_buffer_pool_read_requests", pool.lookups),
        ("Innodb_buffer_pool_reads", pool.reads),
        ("Innodb_buffer_pool_wait_free", pool.clean_waits),
        ("Innodb_checkpoint_age", log.current_lsn.0 - log.checkpoint_lsn.0),
        ("Innodb_data_reads", pool.reads),
        ("Innodb_data_writes", pool.writes + log.writes),
        ("Innodb_deadlocks", locks.deadlocks),
        ("Innodb_history_list_length", engine.history_list_length()),
        ("Innodb_log_waits", log.waits_for_room),
        ("Innodb_lsn_current", log.current_lsn.0),
        ("Innodb_lsn_flushed", log.flushed_lsn.0),
        ("Innodb_lsn_last_checkpoint", log.checkpoint_lsn.0),
        ("Innodb_os_log_fsyncs", log.syncs),
        ("Innodb_os_log_written", log.written_bytes),
        ("Innodb_row_lock_current_waits", locks.current_waits),
        ("Innodb_row_lock_time", wait_ms),
        ("Innodb_row_lock_time_avg", wait_ms / locks.row_waits.max(1)),
        ("Innodb_row_lock_time_max", locks.wait_us_max / 1000),
        ("Innodb_row_lock_waits", locks.row_waits),
        ("Innodb_rows_deleted", read(&rows.rows_deleted)),
        ("Innodb_rows_inserted", read(&rows.rows_inserted)),
        ("Innodb_rows_updated", read(&rows.rows_updated)),
    ];
    let mut all: Vec<_> = numbers.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    all.push(("Innodb_page_size".into(), "16384".into()));
    all.push(("Innodb_rows_read".into(), read(&rows.rows_read).to_string()));
    all
}
