//! What a sample tells, as JSON: to everybody who may see `/metrics` the same as that; to who is logged in
//! also rows, waits and statements, as far as the account's rights go.

use serde_json::{Map, Value as Json, json};
use turnstile_catalog::digests::Histogram;
use turnstile_observe::picture::hot_rows::hot_rows;
use turnstile_observe::status;
use turnstile_observe::status::Observed;

use crate::metrics::{HotIndex, hot_indexes, number};
use crate::switches;
use crate::visitor::{Visitor, in_words};

/// Statuses that the page reads.
const STATUSES: &[&str] = &[
    "Innodb_adaptive_hash_hash_searches",
    "Innodb_adaptive_hash_non_hash_searches",
    "Innodb_buffer_pool_pages_dirty",
    "Innodb_buffer_pool_pages_total",
    "Innodb_checkpoint_age",
    "Innodb_deadlocks",
    "Innodb_history_list_length",
    "Innodb_os_log_fsyncs",
    "Innodb_os_log_written",
    "Innodb_row_lock_current_waits",
    "Innodb_row_lock_time",
    "Innodb_row_lock_waits",
    "Innodb_rows_deleted",
    "Innodb_rows_inserted",
    "Innodb_rows_updated",
    "Queries",
    "Slow_queries",
    "Threads_connected",
    "Threads_running",
    "Turnstile_hot_row_following",
    "Turnstile_hot_row_handed_on",
    "Uptime",
];

/// What is read for who is logged in: the member of the sample, and the statement.
const STATEMENTS: &[(&str, &str)] = &[
    (
        "hot_rows",
        "SELECT TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, LOCK_DATA, CHANGES_PER_SECOND, WAITS_PER_SECOND, WAITING, \
         QUEUE_P99, WAIT_MS_P50, WAIT_MS_P99, HANDED_ON, HOLDER_CONNECTION_ID \
         FROM information_schema.TURNSTILE_HOT_ROWS LIMIT 12",
    ),
    (
        "waits",
        "SELECT REQUESTING_THREAD_ID AS waiting_pid, BLOCKING_THREAD_ID AS blocking_pid \
         FROM performance_schema.data_lock_waits LIMIT 200",
    ),
    // The same with words. At a row that changes hands a thousand times a second it knows some only: it drops
    // a wait whose blocker has ended while it looked.
    (
        "lock_waits",
        "SELECT wait_age_secs, CONCAT(locked_table_schema, '.', locked_table_name) AS locked_table, locked_index, waiting_pid, waiting_query, waiting_lock_mode, \
         blocking_pid, blocking_query, blocking_lock_mode \
         FROM sys.innodb_lock_waits ORDER BY wait_age_secs DESC LIMIT 200",
    ),
    (
        "digests",
        "SELECT SCHEMA_NAME, LEFT(DIGEST_TEXT, 300) AS DIGEST_TEXT, COUNT_STAR, SUM_TIMER_WAIT, AVG_TIMER_WAIT, \
         QUANTILE_99, QUANTILE_999, SUM_ROWS_EXAMINED \
         FROM performance_schema.events_statements_summary_by_digest ORDER BY SUM_TIMER_WAIT DESC LIMIT 10",
    ),
];

/// How long the statements took that have ended since the sample before, in seconds: quantiles, and how many
/// there were. Nothing without a sample before, or where none has ended.
fn latency(db: &Observed, before: &mut Option<Histogram>) -> Json {
    let (now, _) = db.registry().folded_digests().all();
    let Some(before) = before.replace(now.clone()) else { return Json::Null };
    let since = now.since(&before);
    if since.total() == 0 {
        return Json::Null;
    }
    let [p50, p99, p999] = [500, 990, 999].map(|thousandths| since.quantile_ps(thousandths) as f64 / 1e12);
    json!({ "statements": since.total(), "p50": p50, "p99": p99, "p999": p999 })
}

/// What everybody sees who sees `/metrics`; `waits`: how long statements took until the sample before.
pub fn open(db: &Observed, waits: &mut Option<Histogram>) -> Map<String, Json> {
    let told = status::list(db, None);
    let told = told.into_iter().filter(|(name, _)| STATUSES.contains(name));
    let statuses: Map<String, Json> = told.map(|(name, value)| (name.to_string(), value.into())).collect();
    let rows = hot_rows(db);
    let in_words = |([schema, table, index], of): &([&str; 3], HotIndex)| {
        json!({
            "schema": schema, "table": table, "index": index, "rows": of.rows, "waiting": of.waiting,
            "changes": of.changes, "waits": of.waits, "handed_on": of.handed_on,
        })
    };
    let engine = db.engine();
    let gate = engine.gate().counts();
    let queued: u64 = db.thread_pool().map_or(0, |pool| pool.queue_lengths().iter().sum());
    let registry = db.registry();
    let sample = json!({
        "at_us": registry.unix_us(registry.now_us()),
        "status": statuses,
        "hot_indexes": hot_indexes(&rows).iter().map(in_words).collect::<Vec<_>>(),
        "commits": db.totals().rows.commits,
        "active_transactions": engine.active_transactions(),
        "read_views": engine.read_views(),
        "admission": { "inside": gate.inside, "queued": gate.queued, "sleeping": gate.sleeping },
        "pool_queued": queued,
        "redo_capacity": number(&db.globals().named("innodb_redo_log_capacity")),
        "latency": latency(db, waits),
        "running": engine.check_running().is_ok(),
        "switches": switches::told(db),
    });
    match sample {
        Json::Object(members) => members,
        _ => Map::new(),
    }
}

/// What an account sees besides; what it may not see says so.
pub fn for_account(visitor: &mut Visitor) -> Map<String, Json> {
    let read = |(name, text): &(&str, &str)| {
        let seen = match visitor.rows(text) {
            Ok(rows) => Json::Array(rows),
            Err(error) => json!({ "error": in_words(&error) }),
        };
        (name.to_string(), seen)
    };
    STATEMENTS.iter().map(read).collect()
}
